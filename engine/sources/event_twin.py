"""A twin of people with one time each: simulated from what is publicly stated, and nothing else.

Given public facts and public sizes, two types that hold no observation, so that no value of a file
can reach it. Half of the people have an event by the end of the follow-up, values lie as
concentrations do, and a score tells labels apart about as well as risk scores of medicine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit, ndtr, ndtri

from engine.core.grids import drawing_grid
from engine.core.types import Array, DataKind, EventData, EventFacts, Sizes
from engine.numerics.counts.cells import Counted
from engine.numerics.counts.estimands import CountedEstimand
from engine.sources.twin import SimulatedTwin

Codes = NDArray[np.int64]

_EVENT_FREE = 0.5  # share of the first group at the end
_RATIO = 1.5  # hazard of the first group over that of the second
_BETA = (2.0, 4.0)  # of values, over the stated range
_GAP = 1.0  # of scores, in standard deviations: an area of 0.76


@dataclass(frozen=True)
class EventTwin(SimulatedTwin):
    """People simulated from stated facts.

    Parameters
    ----------
    stated : EventFacts
    people : tuple of int
        On each site.
    estimand : CountedEstimand
        Whose truth is asked for: whether outcomes, values or scores are drawn follows from it.
    """

    stated: EventFacts
    people: tuple[int, ...]
    estimand: CountedEstimand

    @classmethod
    def of(cls, facts: EventFacts, sizes: Sizes, estimand: CountedEstimand) -> EventTwin:
        """The twin of people of whom facts and sizes are public."""
        return cls(facts, sizes.n_curves_per_server, estimand)

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[EventData, Array]:
        truth = self.truth(drawing_grid())
        return self.draw(n_repeats, rng), np.broadcast_to(truth, (n_repeats, *truth.shape))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Draw data sets of equal sizes.

        Parameters
        ----------
        n_repeats : int
        rng : numpy.random.Generator
        """
        size = (n_repeats, sum(self.people))
        server = np.repeat(np.arange(len(self.people)), self.people)
        group = self._groups(size) if self.estimand.is_followed else None
        if group is not None:
            time, status = self._outcomes(size, group, rng)
        elif self.estimand.counted is Counted.VALUES:
            time, status = rng.beta(*_BETA, size), np.ones(size, dtype=np.int64)
        else:
            status = rng.integers(2, size=size)
            marker = rng.standard_normal(size) + _GAP * status
            time = expit(_GAP * marker - _GAP**2 / 2)
        facts = replace(self.stated, kind=DataKind.TWIN)
        return EventData(self.stated.from_unit_time(time), status, server, facts, group)

    def _groups(self, size: tuple[int, int]) -> Codes:
        """The group of everybody: of public sizes where those are stated, else in turn."""
        index = np.arange(size[1])
        sizes = self.stated.group_sizes
        group = index >= sizes[0] if sizes else index % 2 == 1
        is_second = group & bool(self.stated.groups)
        return np.broadcast_to(is_second.astype(np.int64), size)

    def _outcomes(self, size: tuple[int, int], group: Codes, rng: np.random.Generator
                  ) -> tuple[Array, Codes]:
        """Shares of the follow-up, and codes of events, all causes alike."""
        event = rng.standard_exponential(size) / -math.log(_EVENT_FREE)
        event = event * np.where(group == 1, _RATIO, 1.0)
        censored = 0.5 + rng.random(size)
        cause = 1 + rng.integers(len(self.stated.causes), size=size)
        return np.minimum(event, censored), np.where(event <= censored, cause, 0)

    def truth(self, grid: Array) -> Array:
        """The true functions: group after group, and in each of them cause after cause.

        Parameters
        ----------
        grid : (n,)
            Shares of the stated range; of an ROC curve false-positive shares.

        Returns
        -------
        (n,) or (functions, n)
        """
        if self.estimand.counted is Counted.VALUES:
            return np.asarray(betainc(*_BETA, grid))
        if self.estimand.counted is Counted.LABELS:
            return np.asarray(ndtr(ndtri(grid) + _GAP))
        hazards = (1.0, 1 / _RATIO) if self.stated.groups else (1.0,)
        free = np.stack([_EVENT_FREE ** (grid * hazard) for hazard in hazards])
        if self.estimand.tells_causes:
            free = np.repeat((1 - free) / len(self.stated.causes), len(self.stated.causes), axis=0)
        return free if len(free) > 1 else free[0]
