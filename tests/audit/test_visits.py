"""Neighbours who differ in their last visit without the event, their first with it, or in both."""

import numpy as np
import pytest

from engine.audit.neighbours import PairRequest, family_of, usual_visits
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts

EPSILON = 1.5


@pytest.fixture(scope="module")
def pairs():
    mechanism, usual = NoisyCounts(), usual_visits()
    request = PairRequest(mechanism, usual, Budget(EPSILON))
    return family_of(mechanism).pairs(request, 900, np.random.default_rng(1))


def losses(pairs, count):
    """The largest privacy loss over all outputs, if counts get the noise of the plan: (pairs,)."""
    mechanism = NoisyCounts()
    usual = usual_visits()
    plan = mechanism.plan(usual.public, (Budget(EPSILON),) * usual.sizes.n_servers)
    moved = np.abs(count(mechanism, pairs.usual, plan) - count(mechanism, pairs.neighbour, plan))
    return moved.sum(axis=(1, 2, 3)) / plan.scales[0]


def test_a_person_has_one_cell_whatever_the_two_visits_hold(pairs):
    found = losses(pairs, lambda mechanism, data, plan: mechanism.counts(data, plan))
    assert found.max() == pytest.approx(EPSILON) and (found <= EPSILON * (1 + 1e-12)).all()
    for data in (pairs.usual, pairs.neighbour):
        plan = NoisyCounts().plan(data.public, (Budget(EPSILON),) * 2)
        assert (NoisyCounts().counts(data, plan).sum(axis=(1, 2, 3)) == data.n_curves).all()


def test_the_attack_finds_a_table_of_each_visit_with_the_noise_of_one(pairs):
    """Numbers seen without the event at each visit move at many visits at once."""

    def by_visit(mechanism, data, plan):
        counts = mechanism.counts(data, plan)
        is_later = plan.cells.visits[:, 0] >= np.arange(1, plan.cells.n_intervals + 1)[:, None]
        return counts @ is_later.T

    assert losses(pairs, by_visit).max() > 1.5 * EPSILON
