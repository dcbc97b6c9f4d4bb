"""A twin of people with several readings, whose percentile curves are known.

Given public facts and public sizes, two types that hold no observation, so that no value of a file
can reach it: a `Twin` on the scale of the method, whose readings follow a normal law there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from engine.core.grids import drawing_grid
from engine.core.types import Array, CurveData, PublicFacts, Sizes
from engine.sources.twin import SimulatedTwin, Twin

PILED_UP = 0.3  # share of readings at a stated value
Back = Callable[[Array], Array]  # from [−1, 1] to response units


@dataclass(frozen=True)
class ReadingTwin(SimulatedTwin):
    """People simulated from stated facts, on the scale on which percentiles are estimated.

    Parameters
    ----------
    stated : PublicFacts
    twin : Twin
        On [−1, 1].
    back : callable
        To response units.
    levels : tuple of float
        Shares below each curve.
    point_mass : float or None
        A value at which readings pile up.
    """

    stated: PublicFacts
    twin: Twin
    back: Back
    levels: tuple[float, ...]
    point_mass: float | None = None

    @classmethod
    def of(cls, facts: PublicFacts, sizes: Sizes, back: Back, levels: Array,
           point_mass: float | None = None) -> ReadingTwin:
        """The twin of people of whom facts and sizes are public.

        Parameters
        ----------
        back : callable
            From [−1, 1] to response units.
        levels : (T,)
            Shares below each curve.
        point_mass : float, optional
            A value at which readings pile up.
        """
        on_unit = replace(facts, value_low=-1.0, value_high=1.0, covariates=())
        return cls(facts, Twin.of(on_unit, sizes), back, tuple(levels.tolist()), point_mass)

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        truth = self.truth(drawing_grid())
        return self.draw(n_repeats, rng), np.broadcast_to(truth, (n_repeats, *truth.shape))

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets of equal sizes.

        Parameters
        ----------
        n_repeats : int
        rng : numpy.random.Generator
        """
        data = self.twin.draw(n_repeats, rng)
        values = self.back(data.values)
        if self.point_mass is not None:
            values = np.where(rng.random(values.shape) < PILED_UP, self.point_mass, values)
        facts = replace(data.facts, value_low=self.stated.value_low,
                        value_high=self.stated.value_high)
        return replace(data, values=values, facts=facts, truth=None)

    def truth(self, grid: Array) -> Array:
        """The true percentile curves.

        Parameters
        ----------
        grid : (n,)
            Times on [0, 1].

        Returns
        -------
        (T, n)
            In response units.
        """
        mean, sd, levels = self.twin.mean(grid), self.twin.spread, np.array(self.levels)

        def at(shares: Array) -> Array:
            inside = np.clip(shares, 1e-9, 1 - 1e-9)[:, None]
            return self.back(np.clip(mean + sd * ndtri(inside), -1.0, 1.0))

        if self.point_mass is None:
            return at(levels)
        # of all readings a share is at the value; the rest lie as they would without it
        below, above = at(levels / (1 - PILED_UP)), at((levels - PILED_UP) / (1 - PILED_UP))
        return np.where(below < self.point_mass, below, np.maximum(above, self.point_mass))
