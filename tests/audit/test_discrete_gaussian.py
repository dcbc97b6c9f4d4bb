"""The Gaussian curve of discrete noise: attacked by counting on small lattices, step by step."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp, ndtri
from scipy.stats import norm

from engine.noise.hardened import ROOM, LatticeNoise
from engine.numerics import gaussian_privacy
from engine.privacy import accounting
from tests.heavy import few

EPSILONS = np.linspace(-3, 6, 181)


def masses(scale, reach=9):
    """Whole numbers and the logarithms of their chances under discrete Gaussian noise."""
    z = np.arange(-math.ceil(reach * scale), math.ceil(reach * scale) + 1)
    log = -(z.astype(float) ** 2) / (2 * scale**2)
    return z, log - logsumexp(log)


def exact_delta(shift, scale, epsilon):
    """Σ max(P − e^ε P', 0) over all points of the lattice, coordinate by coordinate.

    The loss is a sum over coordinates; the law of that sum is counted point by point.
    """
    z, log = masses(scale)
    losses, logs = np.zeros(1), np.zeros(1)
    for d in shift:
        one = (2 * z * d + d * d) / (2 * scale**2)
        losses = (losses[:, None] + one).ravel()
        logs = (logs[:, None] + log).ravel()
    above = losses > epsilon
    return float((np.exp(logs[above]) * -np.expm1(epsilon - losses[above])).sum())


def gaussian_delta(mu, epsilon):
    """The Gaussian curve, for every real ε."""
    return float(norm.sf(epsilon / mu - mu / 2) - np.exp(epsilon) * norm.sf(epsilon / mu + mu / 2))


def proved_mu(shift, scale):
    """μ = (Δ + 4√p)/σ of the proof."""
    return (math.hypot(*shift) + 4 * math.sqrt(len(shift))) / scale


ONE = [
    ((d,), scale) for scale in (1.0, 1.7, 4.0, 16.0, 200.0) for d in (1, 2, 7, 40) if d <= 4 * scale
]
TWO = [
    (shift, scale)
    for scale in (1.0, 3.0, 12.0)
    for shift in ((1, 0), (1, 1), (3, 4), (5, -2), (8, 8))
    if math.hypot(*shift) <= 4 * scale
]


@pytest.mark.parametrize(
    ("shift", "scale"), few(ONE[::2] + TWO[::2], 99) + few(ONE[1::2] + TWO[1::2], 0), ids=str
)
def test_no_delta_of_discrete_noise_is_above_the_curve_that_is_charged(shift, scale):
    """All thresholds of a fine grid, negative ones too: the whole trade-off is dominated."""
    mu = proved_mu(shift, scale)
    for epsilon in EPSILONS:
        assert exact_delta(shift, scale, epsilon) <= gaussian_delta(mu, epsilon) + 1e-14


def test_the_curve_of_continuous_noise_alone_would_be_too_small():
    """Without the margin of the proof some δ is above the charge: the attack would notice."""
    excess = max(
        exact_delta((1,), 1.0, epsilon) - gaussian_delta(1.0, epsilon) for epsilon in EPSILONS
    )
    assert excess > 0.01


def test_on_a_fine_lattice_the_charge_is_close_to_the_truth():
    scale, d = 4000.0, 2000
    for epsilon in (0.5, 1.0, 2.0):
        true, charged = (
            exact_delta((d,), scale, epsilon),
            gaussian_delta(proved_mu((d,), scale), epsilon),
        )
        assert true <= charged <= 1.05 * true


@pytest.mark.parametrize("scale", [1.0, 1.3, 2.0, 8.0, 100.0])
def test_the_same_quantiles_of_discrete_and_continuous_noise_differ_by_two_at_most(scale):
    z, log = masses(scale)
    below = np.cumsum(np.exp(log))
    inside = (below > 1e-14) & (below < 0.6)  # the rest by symmetry, without cancellation
    for level in (below * (1 - 1e-10), below * (1 + 1e-10)):  # next to every jump, on both sides
        quantile = z[np.searchsorted(below, level[inside])]
        assert np.abs(quantile - scale * ndtri(level[inside])).max() <= 2
    low, high = norm.sf((z + 2) / scale), norm.sf((z - 1) / scale)
    tail = np.exp(log)[::-1].cumsum()[::-1] - np.exp(log)
    assert (low - 1e-12 <= tail).all() and (tail <= high + 1e-12).all()  # sums of rounded numbers


def test_two_messages_compose_as_their_squares_of_mu_add():
    """Two messages at different scales, as one vector in units of its noise."""
    first, second = (((3,), 6.0), ((2,), 9.0))
    total = math.hypot(proved_mu(*first), proved_mu(*second))
    losses, logs = [], []
    for shift, scale in (first, second):
        z, log = masses(scale)
        losses.append((2 * z * shift[0] + shift[0] ** 2) / (2 * scale**2))
        logs.append(log)
    together = np.add.outer(*losses).ravel()
    log = np.add.outer(*logs).ravel()
    for epsilon in EPSILONS:
        above = together > epsilon
        delta = (np.exp(log[above]) * -np.expm1(epsilon - together[above])).sum()
        assert delta <= gaussian_delta(total, epsilon) + 1e-14


@pytest.mark.parametrize(("most", "size"), list(itertools.product([0.01, 0.3, 2.0], [1, 21, 900])))
def test_the_mu_of_a_message_covers_its_move_on_the_lattice_and_little_more(most, size):
    measured = LatticeNoise("gaussian", most, size)
    moved = most + 2 * math.sqrt(size) * 2.0**-measured.bits  # rounding on both sides
    needed = moved + 4 * math.sqrt(size) * 2.0**-measured.bits
    assert needed < measured.mu <= most * (1 + 3.01 * ROOM)


# -- ε of the curve, rounded up ---------------------------------------------------------------------


def true_delta(mu, epsilon):
    """With fifty digits."""
    with mpmath.workdps(50):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
            -mu / 2 - epsilon / mu
        )


MUS = [1e-3, 0.01, 0.05, 0.13, 0.4, 1.0, 2.7, 6.0]
DELTAS = [1e-12, 1e-8, 1e-6, 1e-4, 1e-2]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", MUS)
def test_a_certified_epsilon_is_never_below_the_truth_and_hardly_above(mu, delta):
    epsilon = accounting.certified_epsilon(mu, delta)
    assert true_delta(mu, epsilon) <= delta
    assert epsilon == 0 or true_delta(mu, epsilon * (1 - 1e-6) - 1e-9) > delta


def test_a_certified_epsilon_rises_with_mu_and_falls_with_delta():
    table = np.array([[accounting.certified_epsilon(mu, delta) for delta in DELTAS] for mu in MUS])
    assert (np.diff(table, axis=0) >= 0).all() and (np.diff(table, axis=1) <= 0).all()
    assert accounting.certified_epsilon(0.0, 0.0) == 0
    assert math.isinf(accounting.certified_epsilon(1.0, 0.0))


def test_the_curve_is_the_integral_of_the_positive_part():
    """Quadrature of max(density − e^ε density', 0) on a fine grid."""
    x = np.linspace(-12, 14, 400_001)
    for mu, epsilon in ((0.4, 0.7), (1.0, 2.0), (2.0, 0.5)):
        gap = norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x)
        integral = np.trapezoid(np.maximum(gap, 0), x)
        assert math.exp(gaussian_privacy.log_delta(1 / mu, epsilon)) == pytest.approx(
            integral, rel=1e-6
        )


def test_a_library_for_losses_of_discrete_noise_gives_no_larger_epsilon():
    """Its pessimistic ε of the same noise is above the truth, and ours is above that of σ → ∞."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    scale, d, delta = 64.0, 32, 1e-5
    theirs = pld.from_discrete_gaussian_mechanism(
        scale, sensitivity=d, value_discretization_interval=1e-4
    ).get_epsilon_for_delta(delta)
    ours = accounting.certified_epsilon(proved_mu((d,), scale), delta)
    plain = accounting.exact_epsilon(d / scale, delta)
    assert plain * 0.99 < theirs < ours < 1.25 * plain


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-6), (4.0, 1e-8)])
def test_the_exact_curve_asks_for_a_tenth_less_variance_than_rho(epsilon, delta):
    exact = accounting.exact_mu(epsilon, delta) / (1 + 3 * ROOM)
    by_rho = math.sqrt(2 * accounting.rho_of(epsilon, delta))
    assert 1.1 < (exact / by_rho) ** 2 < 1.25
