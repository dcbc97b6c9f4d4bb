"""Floors of unbiased methods: closed forms, reference numbers, sites, and an oracle at the floor."""

import math

import numpy as np
import pytest

from engine.core.types import Budget, Design
from engine.language import quality
from engine.mechanisms.families.adaptive.rules import effective_size
from engine.numerics.bases import Basis
from engine.numerics.information import (
    Information,
    NormalPeople,
    inverse_trace,
    of_one_curve,
    root_trace,
)
from engine.privacy.accounting import exact_mu
from engine.privacy.tradeoff import Gaussian
from engine.rates import rates
from engine.rates.floor import (
    GaussianNoiseFloor,
    UnbiasedFloor,
    best_spread,
    least_errors,
    least_noise,
    simple_least_noise,
)
from engine.sources import sources
from engine.sources.bundled import BundledCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.compare import answer as compared
from engine.topics.mean.answer import EPSILON_STEPS

STUDY = NormalPeople(4.0, 0.8, 0.5, 0.25)
# adaptive_mean_2, section 4.3, at half-range 3: tr J^{−1/2}, and F₂ (nμ)² over its square.
TABLE = {
    3: {4: (1.638, 5.0), 8: (3.035, 4.9), 12: (4.438, 4.8), 16: (5.818, 4.9), 20: (7.218, 4.9)},
    10: {4: (1.087, 4.7), 8: (1.775, 4.4), 12: (2.463, 4.4), 16: (3.151, 4.3), 20: (3.837, 4.3)},
    30: {4: (0.874, 4.8), 8: (1.254, 4.4), 12: (1.632, 4.3), 16: (2.010, 4.2), 20: (2.389, 4.2)},
}
BUDGETS = [(Budget(epsilon, 1e-5),) for epsilon in (0.1, 0.5, 1.0, 4.0)]


def curve(observations, size=8, design=None):
    """The information of one curve of the study."""
    return of_one_curve(STUDY, design or Design(), observations, Basis(20, family="cosine")).first(
        size
    )


def alike(information):
    return ((information, 1.0),)


def seen_exactly(deviations, seed=1, people=200_000):
    """Normal coefficients with these standard deviations, seen without error."""
    sd = np.asarray(deviations, dtype=float)
    scores = np.random.default_rng(seed).standard_normal((people, len(sd))) / sd
    return Information(np.diag(sd**-2.0), scores)


# -- closed forms and reference numbers -----------------------------------------------------------


@pytest.mark.parametrize("observations", TABLE)
@pytest.mark.parametrize("size", TABLE[3])
def test_information_and_least_noise_are_those_of_the_specification(observations, size):
    trace, ratio = TABLE[observations][size]
    information = curve(observations, size)
    assert root_trace(information.matrix) == pytest.approx(trace, rel=0.01)
    measured = least_noise(alike(information)) / root_trace(information.matrix) ** 2
    assert measured == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize("sd", [0.3, 2.0])
def test_one_normal_number_seen_exactly_needs_two_pi_times_its_variance(sd):
    # E|z| has relative standard error .76/√200 000; F₂ twice that.
    assert least_noise(alike(seen_exactly([sd]))) == pytest.approx(
        2 * math.pi * sd**2, rel=5 * 2 * 0.76 / math.sqrt(200_000)
    )


def test_for_curves_seen_exactly_the_trace_is_the_sum_of_standard_deviations():
    assert root_trace(np.diag([4.0, 1.0, 0.25])) == pytest.approx(0.5 + 1 + 2)
    assert inverse_trace(np.diag([4.0, 1.0, 0.25])) == pytest.approx(0.25 + 1 + 4)


@pytest.mark.parametrize("seed", range(6))
def test_the_sharp_floor_is_never_below_the_simple_one_nor_far_above_in_many_dimensions(seed):
    rng = np.random.default_rng(seed)
    information = seen_exactly(rng.uniform(0.1, 1.0, rng.integers(1, 12)), seed, 20_000)
    simple, sharp = (floor(alike(information)) for floor in (simple_least_noise, least_noise))
    assert simple <= sharp <= math.pi / 2 * simple * 1.05


def test_the_shape_of_the_noise_is_a_saddle_point():
    squares = seen_exactly([0.2, 0.5, 1.0, 1.5], people=20_000).scores ** 2
    spread = best_spread(squares)
    assert spread.sum() == pytest.approx(1.0)

    def gain(direction, shares):
        """(E‖K^{1/2}Bs‖/tr B)², which noise makes large and directions make small."""
        return (np.sqrt(squares @ (shares * direction**2)).mean() / direction.sum()) ** 2

    here = gain(spread, spread)
    for seed in range(20):
        other = spread * np.exp(0.3 * np.random.default_rng(seed).standard_normal(4))
        assert gain(spread, other / other.sum()) <= here * 1.002
        assert gain(other, spread) >= here * 0.998


def test_nothing_is_unbiased_where_no_curve_tells_of_a_direction():
    common = Design.common(np.linspace(0, 1, 4))
    assert np.isfinite(least_noise(alike(curve(4, 4, common))))
    assert least_noise(alike(curve(4, 6, common))) == np.inf
    assert inverse_trace(curve(4, 6, common).matrix) == np.inf


# -- an oracle attains it -------------------------------------------------------------------------


def oracle(information, worth, squeeze=0.1):
    """What a known centre and spread need: efficient scores in their own axes, clipped far inside.

    ψ = h min(1, c/‖h/d‖) of h = J⁻¹s with d² the standard deviations and c² = squeeze · Σ d² is
    unbiased once it is divided by A_l = E ψ_l s_l; the noise has 2 c d_l/(nμ) before that.
    """
    values, axes = np.linalg.eigh(information.matrix)
    scores = information.scores @ axes
    deviations, shape = scores / values, values**-0.25
    radius = math.sqrt(squeeze * (shape**2).sum())
    factors = np.minimum(1.0, radius / np.linalg.norm(deviations / shape, axis=1))
    slopes = (factors[:, None] * deviations * scores).mean(axis=0)
    return 4 * radius**2 * shape**2 / slopes**2 / worth**2


@pytest.mark.parametrize(("observations", "size"), [(30, 8), (10, 4), (3, 12)])
def test_an_oracle_attains_the_floor_and_is_not_below(observations, size):
    information = curve(observations, size)
    ratio = oracle(information, 50.0).sum() / (least_noise(alike(information)) / 50.0**2)
    assert 0.95 <= ratio <= 1.08


def test_sites_that_are_alike_are_one_with_the_root_of_their_squares():
    source = SparseCurves(site_sizes="100, 250, 40")
    budgets = (Budget(0.5, 1e-5), Budget(1.0, 1e-6), Budget(2.0, 1e-4))
    worth = effective_size(source.sizes, budgets)
    one = SparseCurves(n_curves=390)
    mu = worth / 390
    epsilon = next(e for e in np.geomspace(0.1, 3, 4000) if exact_mu(float(e), 1e-5) >= mu)
    together = least_errors(one, [(Budget(float(epsilon), 1e-5),)])
    apart = least_errors(source, [budgets])
    assert apart.errors == pytest.approx(together.errors, rel=2e-3)
    assert apart.sizes.tolist() == together.sizes.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_no_share_of_noise_among_sites_that_differ_is_below_their_floor(seed):
    """Oracles at sites with 3, 10 and 30 observations, weighted coordinate by coordinate."""
    rng = np.random.default_rng(seed)
    worths = rng.uniform(5.0, 100.0, 3)
    kinds = tuple(zip(map(curve, (3, 10, 30)), worths**2 / (worths**2).sum(), strict=True))
    axes = np.linalg.eigh(sum(share * kind.matrix for kind, share in kinds))[1]
    variances = np.stack(
        [
            oracle(Information(axes.T @ kind.matrix @ axes, kind.scores @ axes), worth)
            for (kind, _), worth in zip(kinds, worths, strict=True)
        ]
    )
    attained = (1 / (1 / variances).sum(axis=0)).sum()  # the best weights of public variances
    floor = least_noise(kinds) / (worths**2).sum()
    assert simple_least_noise(kinds) <= least_noise(kinds) * 1.02
    assert 0.97 * floor <= attained <= 1.5 * floor


def test_kinds_of_curves_that_are_one_kind_need_what_it_needs():
    information = curve(10)
    split = ((information, 0.3), (information, 0.7))
    assert least_noise(split) == pytest.approx(least_noise(alike(information)), rel=0.01)


# -- of a study -----------------------------------------------------------------------------------


def test_the_floor_falls_with_budget_people_and_observations():
    def floor(**changes):
        return least_errors(SparseCurves(**changes), BUDGETS).errors

    here = floor()
    assert (np.diff(here) < 0).all()
    assert (floor(n_curves=500) < here).all() and (floor(n_observations_per_curve=20) < here).all()
    assert (floor(n_servers=5) > here).all()
    assert (floor(more_observations=10) < here).all()


def test_one_centre_needs_no_more_noise_than_sites():
    source = SparseCurves(site_sizes="100, 250, 40", site_readings="5, 10, 20")
    apart, together = (least_errors(source, BUDGETS, pooled).errors for pooled in (False, True))
    assert (together < apart).all()


def test_there_is_no_floor_without_delta_nor_where_the_covariance_is_not_known():
    assert np.isnan(least_errors(SparseCurves(), [(Budget(1.0, 0.0),)]).errors).all()
    for tails in ("heavy", "groups", "outliers", "skewed"):
        assert least_errors(SparseCurves(deviation_tails=tails), BUDGETS) is None
    assert least_errors(SparseCurves(noise_variance=0.0), BUDGETS) is None
    assert least_errors(SparseCurves(times="common", n_observations_per_curve=3), BUDGETS) is None
    real = [cls() for cls in sources.all() if issubclass(cls, BundledCurves)]
    assert real and all(least_errors(source, BUDGETS) is None for source in real)


def test_people_who_are_alike_and_never_err_much_still_have_a_floor():
    for changes in (
        {"deviation_sd": 0.0},
        {"times": "common"},
        {"times": "visits", "time_span": 0.05},
        {"n_observations_per_curve": 1},
        {"n_observations_per_curve": 1000},
    ):
        errors = least_errors(SparseCurves(**changes), BUDGETS).errors
        assert np.isfinite(errors).all() and (errors > 0).all()


# -- as rates -------------------------------------------------------------------------------------


def test_both_floors_are_rates_with_constants_and_stated_assumptions():
    floors = [cls for cls in rates.for_task("mean_function") if cls.has_constants]
    assert set(floors) == {GaussianNoiseFloor, UnbiasedFloor}
    assert all(len(cls.assumptions) == 3 for cls in floors)
    assert any("only a guide" in text for text in GaussianNoiseFloor.assumptions)
    assert not rates.for_task("mean_function")[
        0
    ].has_constants  # the first is what pages begin with


@pytest.mark.slow
def test_the_rates_are_the_closed_forms_at_the_observations_of_their_table():
    n, sites, budget = 250.0, 4.0, Budget(1.0, 1e-5)
    mu = exact_mu(budget.epsilon, budget.delta)
    point = {"n": n, "m": 1.0, "S": sites, "epsilon": budget.epsilon, "delta": budget.delta}
    information = of_one_curve(STUDY, Design(), 1, Basis(33, family="cosine")).first(8)
    gaussian, unbiased = (cls().evaluate(**point) for cls in (GaussianNoiseFloor, UnbiasedFloor))
    trace = root_trace(information.matrix)
    assert gaussian[0] == pytest.approx(least_noise(alike(information)) / (sites * (n * mu) ** 2))
    assert unbiased[0] == pytest.approx(trace**2 / (sites * n**2 * math.expm1(mu**2)))
    assert (
        gaussian[1] == unbiased[1] == pytest.approx(inverse_trace(information.matrix) / (sites * n))
    )


def test_any_noise_may_add_less_than_gaussian_noise():
    points = {
        "n": 500.0,
        "m": np.array([2.0, 10.0, 200.0])[:, None],
        "epsilon": np.array([0.05, 0.5, 2.0]),
        "delta": 1e-6,
    }
    gaussian, unbiased = (
        cls().evaluate(**points)[0] for cls in (GaussianNoiseFloor, UnbiasedFloor)
    )
    assert (gaussian >= 3.8 * unbiased).all()  # 4, and e^{μ²} − 1 is more than μ²


def test_a_floor_is_about_the_people_of_the_scenario_unless_others_are_chosen():
    source = SparseCurves(mean="growth", noise_variance=0.04)
    people = GaussianNoiseFloor().of_scenario(source).people
    assert people.sd == 6.0 and people.error_variance == pytest.approx(0.04)
    chosen = GaussianNoiseFloor(deviation_sd=2.0)
    assert chosen.of_scenario(source) == chosen
    assert (
        GaussianNoiseFloor().of_scenario(SparseCurves(deviation_tails="heavy"))
        == GaussianNoiseFloor()
    )


# -- in words -------------------------------------------------------------------------------------


def test_sentences_say_the_floor_the_ratio_and_that_it_is_only_a_guide():
    facts = SparseCurves(mean="growth").facts
    above = quality.floor(facts, 0.5, 1.0)
    assert "0.5" in above and "cm" in above and "2.0 times" in above and "only a guide" in above
    assert "below" in quality.floor(facts, 0.5, 0.4) and "times" not in quality.floor(
        facts, 0.5, 0.4
    )
    assert quality.floor(facts, math.nan, 1.0) == ""


def test_the_floor_of_a_comparison_is_at_the_accuracy_of_gaussian_noise():
    source, step = SparseCurves(), EPSILON_STEPS.index(1.0)
    line = compared.floor(source, 1e-5, 2)
    assert line.errors[step] == least_errors(source, [(Budget(1.0, 1e-5),)]).errors[0]
    assert line.attacker_accuracy[step] == pytest.approx(
        float(Gaussian(2 * exact_mu(1.0, 1e-5)).right())
    )
    assert compared.floor(source, 0.0) is None
