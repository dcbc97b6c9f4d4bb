"""Curves of many small groups out of one release: close to the truth, and covered as stated."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage.components import KnownPeople, components_of_people
from engine.answers import ReleasedCurve
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.legendre import polynomial_rows

GROUPS, EACH, TIMES = 50, 40, np.linspace(0.0, 1.0, 41)
PEOPLE = KnownPeople(
    mean="flat",
    shape="kernel",
    times="common",
    n_curves=GROUPS * EACH,
    n_servers=GROUPS,
    n_observations_per_curve=24,
)


def differences(sd, rng):
    """Curves of groups about a common one, of the same kernel as people's: functions of time."""
    shares, directions = components_of_people("kernel")
    scores = rng.standard_normal((GROUPS, len(shares)))
    coefficients = sd * (np.sqrt(shares) * scores) @ directions.T
    return lambda times: polynomial_rows(coefficients.shape[1], times) @ coefficients.T


def released(epsilon, sd, seed):
    """One release of grouped people, and the true curves of the groups: (groups, times)."""
    data = PEOPLE.draw(1, generator(seed, 0, 0))
    added = differences(sd, generator(seed, 2, 0))
    server = np.repeat(data.server, data.counts)
    of_times = added(data.times[0])  # (observations, groups)
    data = replace(data, values=data.values + of_times[np.arange(len(server)), server])
    estimate = AdaptiveMean().release(data, (Budget(epsilon, 1e-5),), generator(seed, 1, 0))
    return ReleasedCurve.of(estimate, PEOPLE.facts, n_people=data.n_curves), added(TIMES).T


def measured(epsilon, sd, seeds):
    """Root mean square errors as sent and shrunk, and the share of covered points."""
    sent, drawn, covered = [], [], []
    for seed in seeds:
        curve, truth = released(epsilon, sd, seed)
        groups = curve.groups()
        low, high = groups.limits(TIMES)
        sent.append(((curve.groups(shrink=False).curves(TIMES) - truth) ** 2).mean())
        drawn.append(((groups.curves(TIMES) - truth) ** 2).mean())
        covered.append(((low <= truth) & (truth <= high)).mean())
    return np.sqrt(np.mean(sent)), np.sqrt(np.mean(drawn)), np.mean(covered)


@pytest.mark.parametrize(
    ("epsilon", "sd", "largest", "least_covered"),
    [
        (2.0, 0.1, 0.125, 0.93),
        pytest.param(2.0, 0.0, 0.06, 0.97, marks=pytest.mark.slow),
        pytest.param(1.0, 0.1, 0.18, 0.93, marks=pytest.mark.slow),
        pytest.param(2.0, 0.3, 0.22, 0.9, marks=pytest.mark.slow),
    ],
)
def test_shrunk_groups_are_as_close_and_as_covered_as_stated(epsilon, sd, largest, least_covered):
    sent, drawn, covered = measured(epsilon, sd, range(1, 5))
    assert drawn <= largest and covered >= least_covered
    assert drawn < 0.8 * sent
