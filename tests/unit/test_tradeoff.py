"""Trade-off curves against closed forms, quadrature, counting and each other; never too low."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom, laplace, norm

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy import tradeoff
from engine.privacy.tradeoff import (
    Approximate,
    Gaussian,
    GaussianPart,
    Laplace,
    LaplacePart,
    Losses,
    PurePart,
    Subsampled,
    Zcdp,
)
from tests.heavy import few

ALARMS = np.concatenate([np.geomspace(1e-4, 0.01, 10), np.linspace(0.02, 0.98, 49)])
EPSILONS = np.linspace(-6, 6, 49)
THETAS = (0.05, 0.5, 1.0, 4.0, 12.0)
MIXED = (LaplacePart(0.4, 2), GaussianPart(0.3, 1), PurePart(0.2, 1))
CURVES = [
    Gaussian(0.4),
    Gaussian(3.0),
    Laplace(0.7),
    Laplace(5.0),
    Approximate(Budget(1.0, 1e-3)),
    Approximate(Budget(0.5)),
    Zcdp(0.02),
    Zcdp(1.5),
    Losses(MIXED),
    Losses((LaplacePart(0.5, 3),)),
    Subsampled(Laplace(1.0), 0.1),
    Subsampled(Gaussian(1.0), 0.3),
]
every_curve = pytest.mark.parametrize("curve", CURVES, ids=str)


def by_quadrature(one, other, epsilons):
    """∫ max(0, p − e^ε q) over a fine grid: δ(ε) of two densities, for each ε."""
    x = np.linspace(-60, 80, 280_001)
    p, q = one.pdf(x), other.pdf(x)
    return [np.trapezoid(np.maximum(0, p - math.exp(epsilon) * q), x) for epsilon in epsilons]


@every_curve
def test_detection_is_concave_grows_and_never_lies_below_a_blind_guess(curve):
    caught = curve.detection(np.linspace(0.001, 0.999, 400))
    assert (np.diff(caught) >= -1e-12).all() and (np.diff(caught, 2) <= 1e-7).all()
    assert (caught >= np.linspace(0.001, 0.999, 400) - 1e-12).all() and caught.max() <= 1


@every_curve
def test_both_views_of_a_curve_say_the_same(curve):
    """p(α) ≤ e^ε α + δ(ε) everywhere, with equality somewhere for every ε within 2 in 1000.

    Of a curve known through zCDP, δ(ε) is rounded up to its grid of false alarms.
    """
    alarms = np.concatenate([np.geomspace(1e-7, 0.01, 150), np.linspace(0.01, 1, 1000)[1:-1]])
    caught = curve.detection(alarms)
    for epsilon in (-1.0, 0.0, 0.3, 1.0):
        over = caught - math.exp(epsilon) * alarms
        delta = float(curve.delta(epsilon))
        assert over.max() <= delta + 1e-9
        coarse = 0.003 * math.exp(abs(epsilon)) if isinstance(curve, Zcdp) else 0.0
        assert max(over.max(), 0.0, -math.expm1(epsilon)) >= delta - 0.002 - coarse


@every_curve
def test_delta_is_that_of_neighbours_that_may_be_exchanged(curve):
    plus, minus = curve.delta(EPSILONS), curve.delta(-EPSILONS)
    assert np.allclose(minus, 1 - np.exp(-EPSILONS) + np.exp(-EPSILONS) * plus, atol=1e-9)


@every_curve
def test_the_best_guess_is_the_best_test_at_that_first_guess(curve):
    alarms = np.concatenate([np.geomspace(1e-8, 0.01, 150), np.linspace(0.01, 1, 800)[1:-1]])
    caught = curve.detection(alarms)
    for prior in (0.1, 0.5, 0.7):
        best = (prior * caught + (1 - prior) * (1 - alarms)).max()
        known = float(curve.right(prior))
        assert max(best, prior, 1 - prior) <= known + 1e-7 <= max(best, prior, 1 - prior) + 0.006


@pytest.mark.parametrize("theta", THETAS)
def test_the_laplace_curve_is_that_of_a_threshold_on_one_number(theta):
    """Alarm above a threshold is the best test: its chances are those of scipy."""
    thresholds = laplace.isf(ALARMS)
    assert np.allclose(Laplace(theta).detection(ALARMS), laplace.sf(thresholds - theta), rtol=1e-12)
    epsilons = [-0.5, 0.0, 0.3, 2.0]
    assert [float(Laplace(theta).delta(epsilon)) for epsilon in epsilons] == pytest.approx(
        by_quadrature(laplace(theta), laplace(0), epsilons), abs=1e-6
    )


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 6.0])
def test_the_gaussian_curve_is_that_of_two_normal_laws(mu):
    assert np.allclose(Gaussian(mu).detection(ALARMS), norm.sf(norm.isf(ALARMS) - mu), rtol=1e-10)
    epsilons = [-0.5, 0.0, 0.3, 2.0]
    assert [float(Gaussian(mu).delta(epsilon)) for epsilon in epsilons] == pytest.approx(
        by_quadrature(norm(mu), norm(0), epsilons), abs=1e-6
    )


@pytest.mark.parametrize("split", [(0.5, 0.5), (0.9, 0.1), (0.25, 0.25, 0.25, 0.25)])
@pytest.mark.parametrize("theta", [0.5, 2.0])
def test_no_split_over_several_numbers_is_told_apart_better_than_one(theta, split):
    """The likelihood-ratio test on 200 000 draws of each law; five standard errors are 0.006."""
    rng, n = np.random.default_rng(3), 200_000
    shift = theta * np.array(split)
    unshifted = rng.laplace(size=(n, len(split)))
    moved = rng.laplace(size=(n, len(split))) + shift
    score = [(np.abs(z) - np.abs(z - shift)).sum(axis=1) for z in (unshifted, moved)]
    for alpha in (0.01, 0.05, 0.2, 0.5):
        result = (score[1] > np.quantile(score[0], 1 - alpha)).mean()
        assert result <= float(Laplace(theta).detection(alpha)) + 0.006
    best = max(
        (score[1] > t).mean() - (score[0] > t).mean() for t in np.linspace(-theta, theta, 81)
    )
    assert (1 + best) / 2 <= float(Laplace(theta).right()) + 0.003


def test_noise_by_length_in_the_plane_is_told_apart_no_better_than_one_number():
    """Density exp(−‖z‖) in five numbers, moved by θ; counted as above."""
    from engine.noise.laplace import by_norm

    rng, theta = np.random.default_rng(4), 1.5
    unshifted, moved = by_norm((2, 200_000, 5), rng)
    shift = np.array([theta, 0, 0, 0, 0])
    score = [
        np.linalg.norm(z, axis=1) - np.linalg.norm(z - shift, axis=1)
        for z in (unshifted, moved + shift)
    ]
    for alpha in (0.01, 0.05, 0.2, 0.5):
        result = (score[1] > np.quantile(score[0], 1 - alpha)).mean()
        assert alpha < result <= float(Laplace(theta).detection(alpha)) + 0.006


def test_a_bit_that_is_turned_round_attains_all_that_epsilon_allows():
    """Right with chance e^ε/(1 + e^ε): alarms at one answer, at both, or at a share of one."""
    right = 1 / (1 + math.exp(-1.2))
    curve = Approximate(Budget(1.2))
    assert float(curve.detection(1 - right)) == pytest.approx(right)
    assert float(curve.detection((1 - right) / 3)) == pytest.approx(right / 3)
    assert float(curve.right()) == pytest.approx(right)


@pytest.mark.parametrize("theta", THETAS)
def test_pure_noise_never_exceeds_its_budget_and_a_moved_number_stays_below(theta):
    own, cap = Laplace(theta), Approximate(Budget(theta))
    assert (own.detection(ALARMS) <= cap.detection(ALARMS) + 1e-12).all()
    assert (own.delta(EPSILONS) <= cap.delta(EPSILONS) + 1e-12).all()
    assert float(own.right()) < float(cap.right())


# -- zCDP -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", few([1e-4, 2.0, 0.02, 0.3], 2))
def test_zcdp_allows_what_gaussian_noise_of_the_same_rho_does_and_no_less(rho):
    bound, attained = Zcdp(rho), Gaussian(math.sqrt(2 * rho))
    assert (bound.detection(ALARMS) >= attained.detection(ALARMS)).all()
    assert (bound.delta(EPSILONS) >= attained.delta(EPSILONS) - 1e-12).all()
    for prior in (0.01, 0.1, 0.5):
        assert float(bound.right(prior)) >= float(attained.right(prior)) - 1e-12
    assert float(bound.right()) <= 0.5 + math.sqrt(rho / 2) / 2 + 1e-4  # Pinsker’s inequality


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_zcdp_allows_what_a_turned_bit_of_the_same_rho_does(epsilon):
    """A pure ε has ρ at most ε²/2: a bound read off ρ must not lie below it."""
    bound, attained = Zcdp(epsilon**2 / 2), Approximate(Budget(epsilon))
    assert (bound.detection(ALARMS) >= attained.detection(ALARMS) - 1e-12).all()


@pytest.mark.parametrize("rho", [0.02, 0.3, 2.0])
def test_zcdp_is_read_off_tighter_than_by_way_of_epsilon_and_delta(rho):
    from engine.privacy.accounting import epsilon_of_rho

    result = Zcdp(rho).detection(np.array([0.01, 0.05, 0.3]))
    for delta in (1e-6, 1e-4, 1e-2):
        cap = Approximate(Budget(epsilon_of_rho(rho, delta), delta))
        assert (result <= cap.detection(np.array([0.01, 0.05, 0.3])) + 1e-9).all()


def test_without_noise_or_without_a_limit_everything_is_told_apart():
    for curve in (
        Gaussian(math.inf),
        Approximate(Budget(math.inf)),
        Zcdp(math.inf),
        Laplace(math.inf),
    ):
        assert float(curve.right()) == pytest.approx(1)
        assert float(curve.detection(0.05)) == pytest.approx(1)
    assert float(Gaussian(0.0).right()) == 0.5 and float(Zcdp(0.0).right()) <= 0.5 + 1e-6


# -- several kinds of noise together ------------------------------------------------------------------


def test_two_laplace_releases_have_the_curve_of_their_exact_law():
    """δ(ε) of two moved numbers by quadrature over the loss of the second, in closed form."""
    theta = 0.6
    exact = {}
    for epsilon in (0.0, 0.3, 0.9):
        x = np.linspace(-40, 40, 800_001)
        loss = np.abs(x) - np.abs(x - theta)
        inner = np.exp(0) * Laplace(theta).delta(epsilon - loss)
        exact[epsilon] = np.trapezoid(laplace.pdf(x - theta) * inner, x)
    result = Losses((LaplacePart(theta, 2),))
    for epsilon, delta in exact.items():
        assert delta - 1e-7 <= float(result.delta(epsilon)) <= delta + 2e-4


def test_gaussian_releases_added_by_their_losses_are_never_below_their_closed_form():
    for mu in (0.1, 0.5, 2.0):
        found, exact = Losses((GaussianPart(mu, 4), GaussianPart(mu, 5))), Gaussian(3 * mu)
        assert (found.detection(ALARMS) >= exact.detection(ALARMS) - 1e-12).all()
        assert np.allclose(found.detection(ALARMS), exact.detection(ALARMS), atol=0.004)
        epsilon = found.epsilon(1e-5)
        assert float(exact.delta(epsilon)) <= 1e-5
        assert float(exact.delta(epsilon * 0.998)) > 1e-5


def test_a_laplace_and_a_gaussian_release_are_never_below_fifty_digits():
    """δ(ε) of both together, the Gaussian loss integrated out in closed form, by mpmath."""
    theta, mu = 0.5, 0.4

    def gaussian_delta(epsilon):
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
            -mu / 2 - epsilon / mu
        )

    with mpmath.workdps(50):
        theta, mu = mpmath.mpf(theta), mpmath.mpf(mu)
        for epsilon in (mpmath.mpf("0.2"), mpmath.mpf("1.0"), mpmath.mpf("1.8")):
            middle = mpmath.quad(
                lambda x, e=epsilon: (
                    mpmath.exp(-(theta - x)) / 2 * gaussian_delta(e - (2 * x - theta))
                ),
                [0, theta],
            )
            truth = (
                gaussian_delta(epsilon - theta) / 2
                + mpmath.exp(-theta) / 2 * gaussian_delta(epsilon + theta)
                + middle
            )
            result = Losses((LaplacePart(0.5, 1), GaussianPart(0.4, 1)))
            assert truth <= mpmath.mpf(float(result.delta(float(epsilon)))) <= truth * 1.01 + 1e-7
            proved = result.epsilon(float(truth))
            assert float(epsilon) * (1 - 1e-9) <= proved <= float(epsilon) * 1.002 + 1e-3


def of_turned_bits(epsilon, *bits):
    """δ(ε) of bits turned round with odds e^ε, (ε, how many) each: who tells tells by their numbers."""
    one, loss = np.ones(1), np.zeros(1)
    for size, count in bits:
        right = np.arange(count + 1)
        chances = binom.pmf(right, count, 1 / (1 + math.exp(-size)))
        one = np.multiply.outer(one, chances).ravel()
        loss = np.add.outer(loss, (2 * right - count) * size).ravel()
    return float((one * np.maximum(0, -np.expm1(epsilon - loss))).sum())


@pytest.mark.parametrize(
    "bits",
    few(
        [
            [(0.01, 400)],
            [(0.013, 300), (0.37, 4)],
            [(3.0, 3), (0.021, 500)],
            [(0.02, 2000)],
            [(0.01, 10_000)],
            [(0.3, 20)],
            [(0.05, 12)],
            [(1e-3, 10_000)],
        ],
        3,
    ),
    ids=str,
)
def test_many_pure_releases_are_never_below_the_count_that_tells_most_and_hardly_above(bits):
    result = Losses(tuple(PurePart(*each) for each in bits))
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
        truth = of_turned_bits(epsilon, *bits)
        assert truth - 1e-12 <= float(result.delta(epsilon)) <= 1.02 * truth + 1e-3
    assert float(result.right()) <= float(Zcdp(sum(c * e**2 / 2 for e, c in bits)).right()) + 1e-6
    proved = result.epsilon(1e-6)
    assert of_turned_bits(proved, *bits) <= 1e-6 < of_turned_bits(0.99 * proved - 1e-3, *bits)


def test_a_delta_that_rounding_could_hide_is_not_proved():
    assert Losses(MIXED).epsilon(1e-14) == math.inf


# -- secret samples -----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", few([0.3, 0.02, 1.0]))
def test_a_sampled_release_is_never_told_apart_better_than_the_mixture_it_is(share):
    """Replaced with chance q: Laplace noise on q of the draws is moved, the rest is not."""
    theta = 1.0
    result = Subsampled(Laplace(theta), share)
    x = np.linspace(-60, 60, 1_200_001)
    still, moved = np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x - theta)) / 2
    mixed = share * moved + (1 - share) * still
    for epsilon in (-0.5, 0.0, 0.1, 0.5):
        one = np.trapezoid(np.maximum(0, mixed - math.exp(epsilon) * still), x)
        other = np.trapezoid(np.maximum(0, still - math.exp(epsilon) * mixed), x)
        assert max(one, other) <= float(result.delta(epsilon)) + 1e-7
        if epsilon >= 0:
            assert float(result.delta(epsilon)) == pytest.approx(one, abs=1e-6)


def test_wrong_sizes_are_refused_by_name():
    for wrong in (-0.1, math.nan):
        for make, field in ((Gaussian, "mu"), (Laplace, "epsilon"), (Zcdp, "rho")):
            with pytest.raises(InputError) as caught:
                make(wrong)
            assert caught.value.field == field


def test_the_law_of_losses_is_kept():
    assert tradeoff.loss_distribution(MIXED) is tradeoff.loss_distribution(MIXED)
