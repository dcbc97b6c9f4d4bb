"""Simulated sparse curves of two groups whose mean curves differ for a part of the time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.grids import quadrature
from engine.core.registry import param
from engine.core.types import Array, PublicFacts, PublicGroup, Truth
from engine.numerics.information import NormalPeople
from engine.sources import sources
from engine.sources.sparse_curves import SparseCurves

_GROUPS = ("controls", "treated")
_MIDDLE, _WIDTH = 0.7, 0.2  # of the bump, as shares of the time range
_SHARES = {"both": 0.5, "controls": 0.0, "treated": 1.0}  # of people in the second group


def bump(t: Array) -> Array:
    """exp(−((t − 0.7)/0.2)²), on [0, 1]."""
    return np.asarray(np.exp(-(((t - _MIDDLE) / _WIDTH) ** 2)))


@sources.register
@dataclass(frozen=True, kw_only=True)
class GroupedCurves(SparseCurves):
    """Curves as of `SparseCurves`, of which half have a bump of known height on their mean.

    Together each person is in either group with equal chance, so that the mean has half the bump;
    apart the groups are equally large.
    """

    key = "grouped_curves"
    label = "Two groups, simulated"
    order = 12

    difference: float = param(
        0.3,
        "Difference of the groups",
        "How far the mean of the treated is above that of the "
        "controls, where it is furthest: at seven tenths of the time range.",
        low=-1e4,
        high=1e4,
        when={"mean=growth": 3.0},
    )
    taking_part: str = param(
        "both", "Who takes part", "One of the groups, or both.", choices=tuple(_SHARES)
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {"n_curves": 1000}),)

    @property
    def facts(self) -> PublicFacts:
        others = tuple(name for name in _GROUPS if name != self.taking_part)
        group = (
            None
            if self.taking_part == "both"
            else PublicGroup(self.label, self.taking_part, others)
        )
        return replace(super().facts, name=self.label, group=group, periodic=False)

    @property
    def truth(self) -> Truth:
        base, height = super().truth, self.difference * _SHARES[self.taking_part]
        added = Truth.of(bump)
        return Truth(
            base.grid_values + height * added.grid_values,
            base.node_values + height * added.node_values,
            base.rule,
        )

    @property
    def covariance_of_people(self) -> Truth:
        people, share = super().covariance_of_people, _SHARES[self.taking_part]
        if share in (0.0, 1.0):
            return people
        points = quadrature("square")[0]
        bumps = self.difference**2 * share * (1 - share) * bump(points).prod(axis=-1)
        return Truth(people.grid_values + bumps, people.node_values + bumps, "square")

    @property
    def normal_people(self) -> NormalPeople | None:
        """None for both groups together: levels of two groups are not normal."""
        return None if self.taking_part == "both" and self.difference else super().normal_people

    @property
    def group_names(self) -> tuple[str, ...]:
        return _GROUPS if self.taking_part == "both" else ()

    def of_group(self, name: str) -> GroupedCurves:
        """One group alone, half of the people; see `Source.of_group`."""
        if name not in self.group_names:
            raise InputError(
                "There is no such group.", field="group", hint=f"One of: {', '.join(_GROUPS)}."
            )
        return self._shared_out(_GROUPS.index(name), len(_GROUPS), taking_part=name)

    def groups_at(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Controls or treated; see `SitedCurves.groups_at`."""
        return (rng.random(people) < _SHARES[self.taking_part]).astype(np.int64)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Observations of new people; see `SitedCurves.values_at`."""
        treated = self.groups_at(len(times), rng) == 1
        values = super().values_at(times, rng)
        values[treated] += self.difference * bump(times[treated])
        return values
