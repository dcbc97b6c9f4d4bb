"""Neighbours who differ in their entry alone, in their exit alone, or in both, and what each costs."""

import numpy as np
import pytest

from engine.audit.neighbours import PairRequest, family_of
from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts

EPSILON = 1.5


@pytest.fixture(scope="module")
def losses():
    """Privacy losses by exits and by entries, largest over all outputs: (pairs,) each."""
    mechanism = NoisyCounts()
    family = family_of(mechanism)
    usual, budget = family.usual(mechanism), Budget(EPSILON)
    pairs = family.pairs(PairRequest(mechanism, usual, budget), 900, np.random.default_rng(1))
    plan = mechanism.plan(usual.public, (budget,) * usual.sizes.n_servers)
    return tuple(
        np.abs(count(pairs.usual, plan) - count(pairs.neighbour, plan)).sum(axis=(1, 2, 3)) / scale
        for count, scale in (
            (mechanism.counts, plan.scales[0]),
            (mechanism.entries, plan.entry_scales[0]),
        )
    )


def test_no_pair_costs_more_than_epsilon_and_some_cost_all_of_it(losses):
    total = np.add(*losses)
    assert total.max() == pytest.approx(EPSILON) and total.max() <= EPSILON * (1 + 1e-12)


@pytest.mark.parametrize(("changed", "kept", "share"), [(0, 1, 0.65), (1, 0, 0.35)])
def test_who_differs_in_one_table_alone_costs_the_share_of_that_table(losses, changed, kept, share):
    alone = losses[changed][losses[kept] == 0]
    assert alone.max() == pytest.approx(share * EPSILON)
