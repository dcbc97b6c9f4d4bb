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
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.types import Budget
from tests.audit.neighbours import data_set, replaced

BUDGET = Budget(1.0, 1e-3)
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


def scores(mechanism, data, runs, seed):
    """Released first coefficients; one round makes them the best test statistic there is."""
    estimate = mechanism.release_many(data, [(BUDGET,)], runs, generator(seed, 1, 0))
    return -estimate.coefficients[0, 0, :, 0]


def found(mechanism, runs):
    data = data_set(1)
    low = replaced(data, 0, np.full(4, 0.3), np.full(4, 1e6))
    high = replaced(data, 0, np.full(4, 0.3), np.full(4, -1e6))
    return certified_mu(scores(mechanism, low, runs, 1), scores(mechanism, high, runs, 2))


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
