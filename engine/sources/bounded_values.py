"""Simulated values within a public range, one for each person."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from engine.core.registry import param
from engine.core.tasks import DISTRIBUTION
from engine.core.types import EventData, EventFacts, Truth
from engine.sources import DealtRecords, number_of, sites_with, sources


@sources.register
@dataclass(frozen=True, kw_only=True)
class BoundedValues(DealtRecords[EventData]):
    """One value for each person, of a Beta law over the stated range."""

    key = "bounded_values"
    label = "Concentrations in a range"
    order = 10
    tasks = frozenset({DISTRIBUTION.key})

    n_curves: int = number_of("People")
    n_servers: int = sites_with("people")
    first: float = param(
        2.0, "First shape", "A parameter of the Beta law.", low=0.2, high=50.0, symbol="α"
    )
    second: float = param(
        4.0, "Second shape", "A parameter of the Beta law.", low=0.2, high=50.0, symbol="β"
    )

    @property
    def facts(self) -> EventFacts:
        return EventFacts(
            name=self.label,
            value_name="Share of people",
            value_low=0.0,
            value_high=1.0,
            time_name="Concentration",
            time_unit="mg/l",
        )

    @property
    def truth(self) -> Truth:
        return _truth(self.first, self.second)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        values = rng.beta(self.first, self.second, (n_repeats, self.n_curves))
        return EventData(
            values, np.ones(values.shape, dtype=np.int64), self.server, self.facts, None, self.truth
        )


@lru_cache(maxsize=16)
def _truth(first: float, second: float) -> Truth:
    return Truth.of(lambda t: betainc(first, second, t), "midpoints")
