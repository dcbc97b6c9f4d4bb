"""A run of the whole mechanism from outside: its empirical loss stays below the claim.

Two data sets that differ in one curve, many releases of each, and the best possible test, whose
threshold is chosen on one half of the runs and certified on the other (Clopper–Pearson).
"""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta

from engine import accounting
from engine.experiments import generator
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.types import Budget
from tests.audit.neighbours import data_set, replaced

BUDGET = Budget(1.0, 1e-3)
_PART = 10_000  # releases made at once
CERTAINTY = 1e-4  # one-sided level of each limit


def certified_mu(first, second):
    """Lower limit of μ from scores under two neighbours: Φ⁻¹(hits) − Φ⁻¹(false alarms)."""
    half = len(first) // 2
    threshold = np.median(np.concatenate([first[:half], second[:half]]))
    hits, alarms = (second[half:] > threshold).sum(), (first[half:] > threshold).sum()
    n = len(first) - half
    low = beta.ppf(CERTAINTY, hits, n - hits + 1)
    high = beta.ppf(1 - CERTAINTY, alarms + 1, n - alarms)
    return ndtri(low) - ndtri(high)


def scores(mechanism, data, runs, seed, budget):
    """Released first coefficients; where there is one round they are the best test there is."""
    parts = [mechanism.release_many(data, [(budget,)], _PART, generator(seed, 1, block))
             .coefficients[0, 0, :, 0] for block in range(runs // _PART)]
    return -np.concatenate(parts)


def found(mechanism, runs, budget=BUDGET):
    data = data_set(1)
    low = replaced(data, 0, np.full(4, 0.3), np.full(4, 1e6))
    high = replaced(data, 0, np.full(4, 0.3), np.full(4, -1e6))
    return certified_mu(scores(mechanism, low, runs, 1, budget),
                        scores(mechanism, high, runs, 2, budget))


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
def test_the_attack_finds_no_more_than_the_claim(scheme):
    """200 000 releases of each neighbour."""
    mechanism = NoisyGradientMean(scheme=scheme, truncation=1, n_iterations=1)
    mu = found(mechanism, 200_000)
    assert mu <= accounting.exact_mu(1.0, 1e-3)
    assert mu >= 0.85 * accounting.exact_mu(1.0, 1e-3)


def test_noise_a_fifth_too_small_is_exposed():
    """200 000 releases of each neighbour."""
    class TooQuiet(NoisyGradientMean):
        def _round_mu(self, budget, rounds):
            return super()._round_mu(budget, rounds) / 0.8

    mu = found(TooQuiet(truncation=1, n_iterations=1), 200_000)
    assert mu > accounting.exact_mu(1.0, 1e-3)


@pytest.mark.parametrize("chosen", [{"truncation": 1, "band": "none"},
                                    pytest.param({"truncation": 3, "shrink": "always"},
                                                 marks=pytest.mark.slow)],
                         ids=str)
def test_the_attack_on_the_adaptive_mean_finds_no_more_than_the_claim(chosen):
    """200 000 releases of each neighbour, at an ε that 24 curves can afford."""
    budget = Budget(4.0, 1e-3)
    mu = found(AdaptiveMean(**chosen), 200_000, budget)
    assert 0.3 * accounting.exact_mu(4.0, 1e-3) <= mu <= accounting.exact_mu(4.0, 1e-3)


def test_an_adaptive_mean_that_calibrates_to_half_the_shift_is_exposed():
    """200 000 releases of each neighbour; all noise is half of what it must be."""
    class TooQuiet(AdaptiveMean):
        def shares(self, pure):
            return tuple(4 * share for share in super().shares(pure))

    budget = Budget(4.0, 1e-3)
    assert found(TooQuiet(truncation=1, band="none"), 200_000, budget) > accounting.exact_mu(4.0, 1e-3)
