"""Cost and replay look at sizes: two people of a site who count as all of it show what is sent."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from engine.core.types import (
    Budget,
    Covariate,
    CurveData,
    Design,
    EventData,
    EventFacts,
    PublicFacts,
)
from engine.mechanisms import mechanisms
from engine.release import certified

PEOPLE, OBSERVATIONS = (600, 400), 6
FACTS = PublicFacts(
    kind="upload",
    value_low=-1.0,
    value_high=1.0,
    origin="a manual",
    norm_bound=1.0,
    observations_per_curve=OBSERVATIONS,
)
COMMON = replace(FACTS, design=Design.common([0.1, 0.3, 0.5, 0.6, 0.8, 0.9]))
COVARIATES = replace(FACTS, covariates=(Covariate("age", 0.0, 100.0),))
UNKNOWN = replace(FACTS, design=Design(law="unknown"))
CERTIFIED = [
    ("adaptive_mean", {}, FACTS),
    ("adaptive_mean", {}, COMMON),
    ("adaptive_mean", {}, UNKNOWN),
    ("adaptive_mean", {"band": "none"}, FACTS),
    ("adaptive_mean", {"design": "unknown"}, FACTS),
    ("adaptive_coefficients", {}, COVARIATES),
    ("percentile_curves", {}, FACTS),
    ("percentile_curves", {"limits": "0.2"}, COMMON),
    ("iclp", {}, FACTS),
    ("frl", {}, COMMON),
    ("bernstein", {}, FACTS),
    ("gaussian_process", {}, FACTS),
    ("iclp", {"task": "covariance", "grid_size": 8}, FACTS),
    ("frl", {"task": "covariance", "grid_size": 8, "centre": "nothing"}, FACTS),
    ("iclp", {"task": "varying_coefficients", "grid_size": 20}, COVARIATES),
]


def curves(facts, seed=0):
    rng, n = np.random.default_rng(seed), sum(PEOPLE)
    times = np.tile(facts.design.times, n) if facts.design.times else rng.random(n * OBSERVATIONS)
    return CurveData(
        times=times[None],
        values=rng.uniform(-1, 1, (1, n * OBSERVATIONS)),
        counts=np.full(n, OBSERVATIONS),
        server=np.repeat([0, 1], PEOPLE),
        facts=facts,
        covariates=rng.uniform(0, 100, (1, n, 1)) if facts.covariates else None,
    )


OUTCOMES = EventFacts(kind="upload", time_high=10.0, origin="a protocol")
COUNTED = [
    ("survival", OUTCOMES),
    ("survival", replace(OUTCOMES, late_entry=True)),
    ("survival", replace(OUTCOMES, groups=("a", "b"))),
    ("survival", replace(OUTCOMES, groups=("a", "b"), group_sizes=(700, 300))),
    ("cumulative_incidence", replace(OUTCOMES, causes=("death", "relapse"))),
    ("distribution", OUTCOMES),
    ("roc", OUTCOMES),
]


def outcomes(facts, seed=0):
    rng, n = np.random.default_rng(seed), sum(PEOPLE)
    return EventData(
        time=rng.uniform(0, 12, (1, n)),
        status=rng.integers(0, 3, (1, n)),
        server=np.repeat([0, 1], PEOPLE),
        facts=facts,
        group=rng.permutation(np.repeat([0, 1], [700, 300]))[None] if facts.groups else None,
        entry=rng.uniform(0, 5, (1, n)) if facts.late_entry else None,
    )


def rehearsed_by_all(data, mechanism, budget):
    """The cost by as many stand-ins as there are people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(mechanism), "averages_all", False)
        return certified.release_cost(data, mechanism, budget)


CASES = [
    *((mechanisms.build(key, chosen), curves(facts)) for key, chosen, facts in CERTIFIED),
    *(
        (mechanisms.build("noisy_counts", {"task": task}), outcomes(facts))
        for task, facts in COUNTED
    ),
]


@pytest.mark.parametrize("mechanism, data", CASES)
def test_two_people_who_count_as_all_cost_what_all_cost(mechanism, data):
    budget = mechanism.suited(Budget(2.0, 1e-5))
    cost = certified.release_cost(data, mechanism, budget)
    of_all = rehearsed_by_all(data, mechanism, budget)
    assert certified.rehearsal_data(data, mechanism).n_curves == 4
    assert cost.certified == of_all.certified
    assert cost.messages == of_all.messages
    assert cost.spends == of_all.spends
    assert cost.inner_budgets == of_all.inner_budgets
    assert cost.steps == of_all.steps


@pytest.mark.parametrize("mechanism, data", CASES)
def test_two_people_replay_what_all_people_sent(mechanism, data):
    """Messages of the data give the released numbers, to the last bit, whoever stands in."""
    cost = certified.release_cost(data, mechanism, mechanism.suited(Budget(2.0, 1e-5)))
    estimate, stored = certified.hardened(data, mechanism, cost)
    for stand_in in (certified.rehearsal_data(data, mechanism), data.stand_in()):
        again = certified.replayed(stand_in, mechanism, cost, stored)
        assert np.array_equal(again.coefficients, estimate.coefficients)


def test_two_people_count_as_all_at_one_server_as_well():
    few = curves(COMMON).few()
    assert few.sizes == curves(COMMON).sizes
    assert few.pooled().sizes == curves(COMMON).pooled().sizes


def highest_of_counts(n):
    """The most memory that cost, counting and replay of n people take beside their data."""
    mechanism = mechanisms.build("noisy_counts", {})
    data = EventData(np.zeros((1, n)), np.zeros((1, n), int), np.zeros(n, int), OUTCOMES)
    tracemalloc.start()
    try:
        cost = certified.release_cost(data, mechanism, Budget(1.0))
        _, stored = certified.hardened(data, mechanism, cost)
        certified.replayed(certified.rehearsal_data(data, mechanism), mechanism, cost, stored)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_cost_counting_and_replay_take_no_memory_that_grows_with_the_people():
    highest_of_counts(200_000)  # what is kept once
    few, many = highest_of_counts(500_000), highest_of_counts(1_500_000)
    assert many - few < 1_500_000  # one column of the further people has 8 MB
