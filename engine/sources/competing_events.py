"""Simulated times to the first of two causes, with censoring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.core.registry import param
from engine.core.tasks import INCIDENCE
from engine.core.types import Array, EventData, EventFacts, Truth
from engine.sources import DealtRecords, number_of, sites_with, sources

_SCALE, _SHAPE = 0.8, 1.5  # of the first cause, a Weibull law
_MEAN = 1.2  # of the second, an exponential one
_POINTS = 20_001


@sources.register
@dataclass(frozen=True, kw_only=True)
class CompetingEvents(DealtRecords[EventData]):
    """The first of a Weibull time, a second, exponential one, and censoring between .4 and 1.6.

    Times of both causes are independent, in units of the follow-up.
    """

    key = "competing_events"
    label = "Two competing causes"
    order = 20
    tasks = frozenset({INCIDENCE.key})

    n_curves: int = number_of("People")
    n_servers: int = sites_with("people")
    follow_up: float = param(
        5.0,
        "Follow-up",
        "The planned follow-up, in years: a public fact, not the longest time seen.",
        low=0.01,
        high=100.0,
        symbol="H",
    )

    @property
    def facts(self) -> EventFacts:
        return EventFacts(
            name=self.label,
            value_name="Cumulative incidence",
            value_low=0.0,
            value_high=1.0,
            time_name="Time",
            time_unit="years",
            time_high=self.follow_up,
            causes=("Relapse", "Death"),
        )

    @property
    def truth(self) -> Truth:
        """Cumulative incidence of both causes; a survival curve is what they leave of 1."""
        return _truth()

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Draw data sets: times of the first cause, of the second, and of censoring."""
        size = (n_repeats, self.n_curves)
        first = _SCALE * rng.standard_exponential(size) ** (1 / _SHAPE)
        second = _MEAN * rng.standard_exponential(size)
        censored = 0.4 + 1.2 * rng.random(size)
        time = np.minimum(np.minimum(first, second), censored)
        status = np.where(time == censored, 0, np.where(first < second, 1, 2))
        return EventData(self.follow_up * time, status, self.server, self.facts, None, self.truth)


def incidence(t: Array) -> Array:
    """Integrate the incidence of both causes, (2, n), at shares of follow-up: trapezoid rule."""
    times = np.linspace(0.0, 1.0, _POINTS)
    event_free = np.exp(-((times / _SCALE) ** _SHAPE) - times / _MEAN)
    hazards = (_SHAPE / _SCALE * (times / _SCALE) ** (_SHAPE - 1), np.full(_POINTS, 1 / _MEAN))
    rates = [event_free * hazard for hazard in hazards]
    steps = [
        np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2) * times[1]]) for rate in rates
    ]
    return np.stack([np.interp(t, times, each) for each in steps])


@lru_cache(maxsize=1)
def _truth() -> Truth:
    return Truth.of(incidence, "midpoints")
