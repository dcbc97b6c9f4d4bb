"""Curves of many groups, from one release of several sites.

Groups are given as sites: membership is public and nobody is in two, so budgets do not add. In the
last step of the adaptive mean each site sends a clipped average about the common centre, with noise
of its own. That message tells the mean of the site's people (`core.bands.SiteLocations`), and all
that follows is computed from messages and public numbers: it sends nothing and costs nothing. With
masked sums only the total of all sites leaves them, and nothing of any group can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.answers.reply import Interval
from engine.answers.shrinkage import shrunk
from engine.core.bands import NORMAL, SiteLocations, outermost, standard_errors
from engine.core.errors import InputError
from engine.core.types import Array

if TYPE_CHECKING:
    from engine.answers.released_curve import ReleasedCurve

MIN_SHRUNK, MAX_GROUPS = 4, 500
_NOT_SITES = (
    "This release tells nothing of single groups: that needs a release of several sites, each group "
    "a site, with noise added at the sites. With masked sums only the total of all sites leaves them."
)
_TOO_SELDOM = (
    "This release tells nothing of single groups: people are observed too seldom for one group’s "
    "message to tell its curve."
)
ON_AVERAGE = (
    "Intervals hold for 95 of 100 groups on average. A group that is far from all others is drawn "
    "towards them and is covered less often."
)


@dataclass(frozen=True, eq=False)
class ReleasedGroups:
    """The means of the people of each site, by its message in the last step, with its name."""

    names: tuple[str, ...]
    centres: Array  # (groups, r), in response units
    variances: Array  # (groups, r)

    def __post_init__(self) -> None:
        fits = self.centres.shape == self.variances.shape == (len(self.names), self.size)
        is_number = np.isfinite(self.centres).all() and (self.variances > 0).all()
        if not (fits and is_number and 2 <= len(self.names) <= MAX_GROUPS):
            raise InputError("Groups of the card cannot be what was released.", field="sites")

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return int(self.centres.shape[-1])

    @classmethod
    def of(
        cls, sites: SiteLocations | None, size: int, names: tuple[str, ...]
    ) -> ReleasedGroups | None:
        """Keep the sites of one release; None if there is one, too many, or nothing is told."""
        if sites is None or len(sites.centres) > MAX_GROUPS:
            return None
        centres, variances = sites.centres[:, :size], sites.variances[:, :size]
        if not (np.isfinite(centres).all() and (variances > 0).all()):
            return None
        names = names or tuple(f"site {k}" for k in range(1, len(centres) + 1))
        return cls(names, centres, variances)


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """Mean curves of groups with pointwise limits."""

    curve: ReleasedCurve  # of all groups together
    names: tuple[str, ...]
    centres: Array  # (groups, r)
    variances: Array  # (groups, r)
    between: Array | None  # (r,): the variance between groups; None for groups as sent

    def curves(self, times: Array) -> Array:
        """Curves at times on [0, 1], in response units: (groups, times)."""
        rows = self.curve.row_maps[0](times, 0)
        return np.asarray(self.centres @ rows.T + self.curve.public(times))

    def limits(self, times: Array) -> tuple[Array, Array]:
        """Pointwise 95 % limits: (groups, times) each."""
        middles, half_widths = [], []
        for read in self.curve.row_maps:
            rows = read(times, 0)
            middles.append(self.centres @ rows.T + self.curve.public(times))
            half_widths.append(NORMAL * np.sqrt(self.variances @ (rows**2).T))
        low, high = outermost(np.array(middles), np.array(half_widths), self.curve.outwards)
        return np.asarray(low), np.asarray(high)

    def interval(self, group: int, time: float) -> Interval:
        """Limits of one group at one time on [0, 1]."""
        low, high = self.limits(np.array([time]))
        return float(low[group, 0]), float(high[group, 0])

    def deviation(self, time: float) -> float:
        """Standard deviation between groups at a time on [0, 1], in response units."""
        assert self.between is not None
        return float(standard_errors(np.diag(self.between), self._row(time))[0])

    def _row(self, time: float) -> Array:
        return self.curve.row_maps[0](np.array([time]), 0)


def refusal_of_groups(curve: ReleasedCurve, is_shrunk: bool = True) -> str:
    """Say why a release tells nothing of single groups, or ""."""
    if curve.refusal:
        return curve.refusal
    if curve.groups_sent is None:
        return _NOT_SITES if not curve.has_sites else _TOO_SELDOM
    if curve.is_pure:
        return "The noise of this release is not normal (δ = 0), so groups have no confidence interval."
    if is_shrunk and len(curve.groups_sent.names) < MIN_SHRUNK:
        return f"Groups are drawn towards each other from {MIN_SHRUNK} groups on."
    return ""


def group_curves(curve: ReleasedCurve, is_shrunk: bool) -> GroupCurves:
    """Read the curves of all groups off a release, as sent or drawn towards each other."""
    reason = refusal_of_groups(curve, is_shrunk)
    sent = curve.groups_sent
    if reason or sent is None:
        raise InputError(reason, field="groups", hint="Release with each group as a site.")
    if not is_shrunk:
        return GroupCurves(curve, sent.names, sent.centres, sent.variances, None)
    found = shrunk(sent.centres, sent.variances)
    return GroupCurves(curve, sent.names, found.centres, found.variances, found.between)
