"""A run of the whole mechanism from outside: lower bounds from outputs stay below the claim.

Limits hold with confidence 0.9998 each (Clopper–Pearson), so that none of these tests can fail by
chance more than once in thousands of seeds; seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest

from engine.audit import Case, audit_case, black_box
from engine.audit.neighbours import usual_curves
from engine.audit.replay import released
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.privacy import accounting
from engine.types import Budget

BUDGET = Budget(1.0, 1e-3)


def bound_of(noise, shift, unit, delta=0.0, runs=200_000):
    """The bound from outputs of a known law, one number each."""
    rng = np.random.default_rng(5)
    one, other = (noise(rng, (runs, 1)) + at for at in (0.0, shift))
    return black_box._epsilon(one, other, unit, delta)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_nine_tenths_of_laplace_noise_are_seen_and_never_more_than_all_of_it(epsilon):
    """200 000 releases of each."""
    bound = bound_of(lambda rng, shape: rng.laplace(size=shape), epsilon, "epsilon")
    assert 0.9 * epsilon <= bound <= epsilon


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_nine_tenths_of_gaussian_noise_are_seen_where_the_direct_route_is_blind(epsilon):
    """A million releases of each at δ = 10⁻⁵."""
    mu = accounting.exact_mu(epsilon, 1e-5)
    bound = bound_of(lambda rng, shape: rng.standard_normal(shape), mu, "mu", 1e-5, 1_000_000)
    direct = bound_of(lambda rng, shape: rng.standard_normal(shape), mu, "rho", 1e-5, 200_000)
    assert 0.9 * epsilon <= bound <= epsilon
    assert direct < 0.8 * bound


@pytest.mark.parametrize("unit", ["mu", "epsilon"])
def test_noise_a_fifth_too_small_is_exposed_from_outputs(unit):
    """200 000 releases of each."""
    shift = 1.25 * (accounting.exact_mu(1.0, 1e-5) if unit == "mu" else 1.0)
    draw = (lambda rng, shape: rng.standard_normal(shape)) if unit == "mu" else (
        lambda rng, shape: rng.laplace(size=shape))
    assert bound_of(draw, shift, unit, 1e-5 if unit == "mu" else 0.0) > 1.0


def test_limits_of_a_chance_are_those_of_clopper_and_pearson():
    """For 0 and n of n they are closed forms: 1 − α^(1/n), and α^(1/n)."""
    n, alpha = 500, black_box.CERTAINTY
    assert black_box._limit(0, n, low=False) == pytest.approx(1 - alpha ** (1 / n))
    assert black_box._limit(n, n, low=True) == pytest.approx(alpha ** (1 / n))
    assert black_box._limit(0, n, low=True) == 0 and black_box._limit(n, n, low=False) == 1


@pytest.mark.parametrize("low", [True, False])
def test_limits_are_wrong_no_more_often_than_is_said(monkeypatch, low):
    """At 5 % instead: 4000 counts of 200 with chance 0.3; five standard errors of the share."""
    monkeypatch.setattr(black_box, "CERTAINTY", 0.05)
    counts = np.random.default_rng(1).binomial(200, 0.3, 4000).tolist()
    limits = {count: black_box._limit(count, 200, low) for count in set(counts)}
    wrong = np.mean([limits[count] > 0.3 if low else limits[count] < 0.3 for count in counts])
    assert 0.02 < wrong <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / 4000)


def test_equal_data_sets_give_no_bound():
    assert bound_of(lambda rng, shape: rng.laplace(size=shape), 0.0, "epsilon") == 0


def test_outputs_that_are_no_numbers_give_a_record_away():
    one, other = np.zeros((2000, 1)), np.full((2000, 1), np.nan)
    assert black_box._epsilon(one, other, "epsilon", 0.0) > 4


def test_the_last_bits_of_outputs_are_left_aside():
    """Beyond both means the likelihood ratio of Laplace noise is flat but for rounding errors.

    Those depend on the exact sums behind an output: a test that sees them beats every claim, which
    is why simulations are no releases.
    """
    claimed, mechanism = 0.8, UnivariateMean()
    case = Case(mechanism, Budget(claimed))
    report = audit_case(case, tries=200, runs=100_000)
    assert 0.9 * claimed <= report.bound <= claimed


# -- whole mechanisms ---------------------------------------------------------------------------


def audited(mechanism, budget=BUDGET, runs=200_000):
    return audit_case(Case(mechanism, budget, attains=0.0), tries=400, runs=runs)


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
def test_outputs_of_noisy_gradients_give_away_most_of_the_claim_and_no_more(scheme):
    """200 000 releases of each side; with one round the released number is all there is."""
    report = audited(NoisyGradientMean(scheme=scheme, truncation=1, n_iterations=1))
    assert 0.85 * report.claimed_epsilon <= report.bound <= report.claimed_epsilon


@pytest.mark.parametrize("mechanism", [SparseMeanLaplace(), SparseMeanSigns()], ids=lambda m: m.key)
def test_outputs_of_machines_give_away_most_of_the_claim_and_no_more(mechanism):
    """200 000 releases of each side at δ = 0."""
    report = audited(mechanism, Budget(1.0))
    assert 0.85 <= report.bound <= 1.0


def test_noise_a_fifth_too_small_is_exposed_in_a_whole_mechanism():
    """The ledger counts on all of it; 200 000 releases of each side."""
    class TooQuiet(NoisyGradientMean):
        def _servers(self, *args):
            return [replace(one, normals=0.8 * one.normals) for one in super()._servers(*args)]

    report = audited(TooQuiet(truncation=1, n_iterations=1))
    assert report.bound > report.claimed_epsilon
    assert report.verdict == "broken"


@pytest.mark.parametrize("chosen", [{"truncation": 1, "band": "none"},
                                    pytest.param({"truncation": 3, "shrink": "always"},
                                                 marks=pytest.mark.slow)], ids=str)
def test_outputs_of_the_adaptive_mean_give_away_no_more_than_the_claim(chosen):
    """40 000 releases of each side, at an ε that 24 curves can afford."""
    report = audited(AdaptiveMean(**chosen), Budget(4.0, 1e-3), 40_000)
    assert 0.3 <= report.bound <= report.claimed_epsilon


def test_an_adaptive_mean_that_calibrates_to_half_the_shift_is_exposed():
    """40 000 releases of the worst known pair; all noise is half of what it must be."""
    class TooQuiet(AdaptiveMean):
        def shares(self, pure):
            return tuple(4 * share for share in super().shares(pure))

    budget, mechanism = Budget(4.0, 1e-3), TooQuiet(truncation=1, band="none")
    usual = usual_curves(mechanism)
    values = [usual.values.copy() for _ in range(2)]
    for side, end in zip(values, (1e6, -1e6), strict=True):
        side[0, :4] = end
    pair = tuple(replace(usual, values=side) for side in values)
    *_, found = black_box.bounds(mechanism, pair, budget, "mu", 40_000, 1)
    assert found.runs == 40_000
    assert found.epsilon > budget.epsilon
    assert np.isfinite(released(mechanism, pair[0], budget, 5, (1,)).coefficients).all()
