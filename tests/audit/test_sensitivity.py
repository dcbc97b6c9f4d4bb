"""The claimed sensitivity of noisy gradients is attained and never exceeded."""

import pytest

from engine.audit.neighbours import usual_curves
from engine.core.types import Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from tests.audit.search import found

BUDGET = Budget(1.0, 1e-3)
SMALL = {"truncation": 3, "n_iterations": 3}


@pytest.mark.parametrize(
    "chosen",
    [
        {"scheme": "split"},
        {"scheme": "full_batch"},
        {"noise": "isotropic"},
        {"scheme": "split", "constants": "published"},
        {"value_scale": "bounds"},
        {"log_power": 2},
        {"extension": 0.25},
        {"ellipsoid_radius": 5.0},
    ],
    ids=str,
)
def test_no_neighbour_moves_a_round_further_than_claimed_and_some_reach_the_claim(chosen):
    """400 pairs; the claim is met from below to 1e-9 and attained within 5 %.

    The bounds scale cannot reach the claim: readings are held within their bounds first.
    """
    worst = found(NoisyGradientMean(**SMALL, **chosen), BUDGET).worst
    assert (0.3 if "value_scale" in chosen else 0.95) <= worst <= 1 + 1e-9


@pytest.mark.parametrize("scheme", ["split", "full_batch"])
def test_a_curve_moves_its_own_server_as_claimed_and_no_other_server_at_all(scheme):
    """400 pairs on three servers of eight curves."""
    mechanism = NoisyGradientMean(**SMALL, scheme=scheme)
    losses = found(mechanism, BUDGET, usual=usual_curves(mechanism, n_servers=3))
    assert 0.95 <= losses.worst <= 1 + 1e-9
    assert not losses.reason


def test_unequal_lengths_keep_the_claim():
    mechanism = NoisyGradientMean(**SMALL)
    worst = found(mechanism, BUDGET, usual=usual_curves(mechanism, unequal=True)).worst
    assert 0.95 <= worst <= 1 + 1e-9


def test_tuning_does_not_look_at_readings():
    mechanism = NoisyGradientMean()
    first, second = (
        mechanism.plan(usual_curves(mechanism, seed=seed).public, (BUDGET,)) for seed in (1, 2)
    )
    assert first.size == second.size
    assert first.rounds == second.rounds
    assert (first.scales == second.scales).all()
    assert first.spends == second.spends
