"""Numbers of people and observations: with the stated facts, all that tuning may see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.types.facts import PublicFacts


@dataclass(frozen=True)
class Sizes:
    """The public sizes of a data set: all that tuning by formula may look at."""

    n_curves_per_server: tuple[int, ...]
    n_observations: int
    fewest_per_curve: int  # among curves with at least one reading
    n_covariates: int = 0

    @classmethod
    def public(
        cls, server: NDArray[np.int64], counts: NDArray[np.int64], facts: PublicFacts
    ) -> Sizes:
        """The sizes of curves.

        Where a number per curve is stated it counts for all of them: then those of single curves
        are private.
        """
        curves, d = tuple(int(k) for k in np.bincount(server)), len(facts.covariates)
        if stated := facts.observations_per_curve:
            return cls(curves, stated * len(counts), stated, d)
        used = counts[counts > 0]
        return cls(curves, int(counts.sum()), int(used.min()) if len(used) else 0, d)

    @property
    def n_servers(self) -> int:
        return len(self.n_curves_per_server)

    @property
    def n_curves(self) -> int:
        return sum(self.n_curves_per_server)

    @property
    def n_observations_per_curve(self) -> float:
        return self.n_observations / self.n_curves


@dataclass(frozen=True)
class Public:
    """All that tuning may see of data: how many they are, and what is stated of them.

    It holds no reading, no time and no covariate, so that a plan made from it cannot depend on any.
    """

    sizes: Sizes
    facts: PublicFacts
    # the different numbers of observations that curves have at each server, increasing, where those
    # of single curves are public. Empty: every curve counts as the shortest.
    lengths: tuple[tuple[int, ...], ...] = ()
    # how many observations there are at each server. Empty: as many as there are curves, times the
    # average.
    observations: tuple[int, ...] = ()

    @property
    def lengths_per_server(self) -> tuple[tuple[int, ...], ...]:
        """`lengths`, or that of the shortest curve for every server."""
        shortest = (max(self.sizes.fewest_per_curve, 1),)
        return self.lengths or (shortest,) * self.sizes.n_servers

    @property
    def observations_per_server(self) -> Array:
        """`observations`, or their average for every curve: (servers,)."""
        if self.observations:
            return np.array(self.observations, dtype=float)
        curves = np.array(self.sizes.n_curves_per_server)
        return np.asarray(curves * self.sizes.n_observations_per_curve)
