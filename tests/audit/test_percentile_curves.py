"""No person, however strange or talkative, moves a release of percentile curves beyond its claim."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from engine.audit.losses import compare
from engine.audit.neighbours import Pairs
from engine.core.types import Budget, CurveData, PublicFacts
from engine.mechanisms.families.adaptive.percentile_stages import CENTRE, PercentileFit
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.numerics.curve_deviations import in_lanes
from engine.numerics.share_deviations import ShareBlock, ShareDeviations

BUDGET = Budget(60.0, 1e-3)  # large, because a small budget over 24 people releases nothing
READINGS = (12, 4, 1, 4, 0, 1, 4, 4) * 3
LOW, HIGH = -1.0, 1.0
ROUNDING = 1 + 1e-9
PEOPLE = {
    "at the lower bound": lambda m, rng: (rng.random(m), np.full(m, LOW)),
    "at the upper bound": lambda m, rng: (rng.random(m), np.full(m, HIGH)),
    "at one time": lambda m, rng: (np.full(m, rng.random()), np.full(m, HIGH)),
    "low, then high": lambda m, rng: _by_time(rng.random(m), rng.random()),
    "low at the start, high at the end": lambda m, rng: _by_time(np.arange(m) * 2 // m, 0.5),
    "no number": lambda m, rng: (rng.random(m), np.full(m, np.nan)),
    "one that is no number": lambda m, rng: (rng.random(m), np.r_[np.nan, np.full(m - 1, HIGH)]),
    "infinite": lambda m, rng: (rng.random(m), rng.choice([-np.inf, np.inf], m)),
    "huge": lambda m, rng: (rng.random(m), rng.choice([-1e300, 1e300], m)),
    "at no time": lambda m, rng: (np.full(m, np.nan), np.full(m, LOW)),
    "outside the time range": lambda m, rng: (rng.choice([-5.0, 7.0], m), np.full(m, LOW)),
}
SWAPS = list(permutations(PEOPLE, 2))


def _by_time(times, turn):
    return times.astype(float), np.where(times <= turn, LOW, HIGH)


def people(n_servers=1):
    """Ordinary people with 0 to 12 readings, on unit scale."""
    rng, total = np.random.default_rng(1), sum(READINGS)
    return CurveData(
        rng.random((1, total)),
        rng.normal(0, 0.3, (1, total)),
        np.array(READINGS),
        np.arange(len(READINGS)) * n_servers // len(READINGS),
        PublicFacts(unit_scale=True, periodic=True),
    )


def pairs(usual, swaps, seed=2):
    """In each pair somebody with readings is one of the strange people, then another."""
    rng = np.random.default_rng(seed)
    ends, some = np.cumsum(usual.counts), np.flatnonzero(usual.counts)
    batches = [
        {name: np.repeat(getattr(usual, name), len(swaps), axis=0) for name in ("times", "values")}
        for _ in range(2)
    ]
    persons = some[rng.integers(len(some), size=len(swaps))]
    for k, (person, swap) in enumerate(zip(persons, swaps, strict=True)):
        m = int(usual.counts[person])
        readings = slice(int(ends[person]) - m, int(ends[person]))
        for batch, kind in zip(batches, swap, strict=True):
            batch["times"][k, readings], batch["values"][k, readings] = PEOPLE[kind](m, rng)
    return Pairs(*(replace(usual, **batch) for batch in batches), usual.server[persons])


@pytest.mark.parametrize(
    ("n_servers", "swaps"),
    [
        (1, SWAPS[::8]),
        pytest.param(1, SWAPS * 4, marks=pytest.mark.slow),
        pytest.param(3, SWAPS, marks=pytest.mark.slow),
    ],
)
def test_no_strange_person_moves_a_release_beyond_its_share(n_servers, swaps):
    """All swaps of strange people in the slow tests, whoever is swapped and by every site."""
    usual, budget = people(n_servers), replace(BUDGET, epsilon=60.0 if n_servers == 1 else 150.0)
    losses = compare(PercentileCurves(), pairs(usual, swaps), budget, 7, np.random.default_rng(7))
    print(losses.lines.round(4), round(losses.worst, 4), losses.reason)
    assert not losses.reason and len(losses.lines) == 17
    assert 0.5 < losses.lines.max() <= ROUNDING and losses.worst <= ROUNDING


class _ReadingByReading(PercentileFit):
    """Averages over readings in place of people, with the noise for people."""

    def _site(self, s, stage, *others):
        honest = super()._site(s, stage, *others)
        if stage == CENTRE:
            return honest
        counts = self.data.counts[self.servers[s]]
        readings = [
            m
            for m in np.unique(counts[counts > 0])
            for _ in in_lanes(np.flatnonzero(counts == m), m)
        ]
        parts = [
            ShareBlock(*(np.repeat(each, m, -1) for each in (part.slopes, part.targets)))
            for part, m in zip(honest.deviations.parts, readings, strict=True)
        ]
        return replace(honest, deviations=ShareDeviations(tuple(parts), int(counts.sum())))


class DividedByReadings(PercentileCurves):
    fit_class = _ReadingByReading


def test_averages_over_readings_in_place_of_people_are_caught():
    losses = compare(
        DividedByReadings(), pairs(people(), SWAPS[:9]), BUDGET, 7, np.random.default_rng(7)
    )
    assert losses.worst > 1.3
