"""Releases of disjoint groups of people, compared: their difference, where it is, and one test.

Who belongs to which group, and how many they are, are public facts, and each group is released by
its own mechanism with its own (ε_g, δ_g). Neighbouring data sets replace one curve within its
group, so they differ in the input of one release alone; the others are the same mechanism on the
same input. All releases together are therefore (max ε_g, max δ_g)-differentially private, and in
terms of μ, max μ_g: budgets of disjoint groups do not add. Nothing here draws noise or sees data.

The comparison is valid only if nobody is in two groups: then the estimates are independent, and
the covariance of a difference is the sum of covariances. Where a label itself is to be protected,
two groups change at once and their sizes are data; that needs one release of varying coefficients
with the label as covariate, and is not done here. Derived in this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.special import gammaincc

from engine.answers.released_curve import ReleasedCurve, Status
from engine.answers.reply import Interval, span, stretches, when, with_unit, written
from engine.answers.spread import NUMBERS_FROM, refusal_of_spread, standard_deviation
from engine.answers.times import STEP, GridBand, grid, pieces_of
from engine.answers.value import average
from engine.core.bands import LEVEL, public_normals, simultaneous_factor, standard_errors
from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.types import Array
from engine.numerics.symmetric_matrices import matrix_root

SAMPLE = 2000  # simulated differences under equal means
_TESTED_WAVES = 4  # level, trend and two bends
_NEGLIGIBLE = 1e-9  # of the largest singular value of waves at few times
_MIN_P = 0.001  # what a test by simulation can tell
MAX_GROUPS = 12
WHAT_P_IS = (
    "the probability of differences at least as large, if the mean curves of all groups "
    "were the same."
)
SUPPOSES = (
    "The test assumes few extreme people, and observation times of each group as you stated them. "
    "Where a fifth lay 2.5 standard deviations above the rest, "
    "groups with the same mean had p < .05 in 7 to 17 of 100 comparisons; where one group was "
    "mostly observed in the first half of the range and even times were stated, in 38 to 80; and "
    "where all values were at one of the bounds, in 18 to 78."
)
DOUBTFUL = (
    "Doubtful: by its own warnings the release of {} cannot be relied on, nor can its "
    "differences from other groups."
)
NO_TEST = "No test of equal means is made of releases that cannot be relied on."
UNTESTED = (
    "The release of {} is too small to show whether its observation times are as stated. "
    "Where the times of groups differ, that can look like a difference of their means."
)
_SAME_UNITS = ("value_unit", "time_unit", "time_low", "time_high")


@dataclass(frozen=True)
class Differences:
    """Times at which one group is above or below another."""

    # above, below: stretches in the unit of times in which the first is so, with 95 % for all at
    # once
    above: tuple[Interval, ...]
    below: tuple[Interval, ...]
    # least, most: limits of the largest difference at any time, in response units
    least: float
    most: float
    average: float  # over the whole range, in response units
    average_limits: Interval


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Released mean curves of two or more disjoint groups."""

    names: Sequence[str]
    curves: Sequence[ReleasedCurve]
    are_disjoint: bool  # whether it is stated that nobody is in two groups
    doubtful: Sequence[str] = ()  # groups whose releases say that their bands cannot be relied on
    # groups whose releases were too small to test the stated observation times
    untested: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 2 <= len(self.curves) <= MAX_GROUPS or len(self.names) != len(self.curves):
            raise InputError(
                f"Compare 2 to {MAX_GROUPS} releases, each with a name.", field="groups"
            )
        if not self.are_disjoint:
            raise InputError(
                "Groups can be compared only if nobody is in two of them.",
                field="disjoint",
                hint="State it, if it is so. Releases of the same "
                "people are not independent, and their budgets add.",
            )
        for curve, other in combinations(self.curves, 2):
            _check_pair(curve, other)
        for name, curve in zip(self.names, self.curves, strict=True):
            if curve.is_pure or curve.status is Status.NONE:
                reason = (
                    "its noise is not normal (δ = 0)"
                    if curve.is_pure
                    else curve.refusal[0].lower() + curve.refusal[1:].rstrip(".")
                )
                raise InputError(f"{name} cannot be compared: {reason}.", field="groups")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the groups of each pair."""
        return list(combinations(range(len(self.curves)), 2))

    def waves(self, first: int, second: int) -> int:
        """Count the waves that both releases have."""
        return min(self.curves[first].size, self.curves[second].size)

    def difference(self, first: int = 0, second: int = 1) -> ReleasedCurve:
        """The first less the second, as a release that can be asked like any other.

        The longer one is cut to the waves that both have: coefficients of an orthonormal basis are
        nested, and to pad the shorter with zeros would show finer waves of the other as
        differences. At few common times waves are not nested: there the longer one is fitted anew,
        by least squares, to its values at the times.
        """
        a, b = self.curves[first], self.curves[second]
        (of_a, map_a), (of_b, map_b) = self._fewer(first, second), self._fewer(second, first)
        return ReleasedCurve(
            facts=replace(a.facts, value_name="Difference"),
            centre=of_a - of_b,
            covariance=map_a @ a.covariance @ map_a.T + map_b @ b.covariance @ map_b.T,
            family=a.family,
            times=a.times,
            wider=max(a.wider, b.wider),
            effective_size=min(a.effective_size, b.effective_size),
            passed=a.is_whole and b.is_whole,
        )

    def _fewer(self, group: int, other: int) -> tuple[Array, Array]:
        """The coefficients of a group in the waves that both have, and the map to them."""
        curve, size = self.curves[group], self.waves(group, other)
        shorten = np.eye(size, curve.size)
        if curve.times and size < curve.size:
            values = curve.waves(np.array(curve.times))
            shorten = np.linalg.pinv(values[:, :size], _NEGLIGIBLE) @ values
        return shorten @ curve.centre, shorten

    @cached_property
    def _largest(self) -> Array:
        """The largest |difference|/error of each simulated set of equal means: (SAMPLE,)."""
        if len(self.curves) == 2:  # the sum of two independent normals is one
            curve = self.difference()
            return _standardised(
                curve, matrix_root(curve.covariance) @ public_normals(curve.size, SAMPLE)
            )
        largest_size = max(curve.size for curve in self.curves)
        normals = public_normals(largest_size * len(self.curves), SAMPLE).reshape(
            -1, largest_size, SAMPLE
        )
        drawn = [
            matrix_root(curve.covariance) @ normals[k, : curve.size]
            for k, curve in enumerate(self.curves)
        ]
        return np.asarray(
            np.max(
                [
                    _standardised(
                        self.difference(g, h),
                        self._fewer(g, h)[1] @ drawn[g] - self._fewer(h, g)[1] @ drawn[h],
                    )
                    for g, h in self.pairs
                ],
                axis=0,
            )
        )

    @cached_property
    def p_anywhere(self) -> float:
        """P of the largest |difference|/error of all pairs and times, by a fixed public sample."""
        curves = (self.difference(g, h) for g, h in self.pairs)
        largest = max(float(_standardised(curve, curve.centre[:, None])[0]) for curve in curves)
        return (1 + int((self._largest >= largest).sum())) / (1 + SAMPLE)

    @cached_property
    def p_broad(self) -> float:
        """P of equal level, trend and two bends in all groups, by χ²."""
        waves = min(_TESTED_WAVES, *(curve.size for curve in self.curves))
        inverses = [np.linalg.inv(curve.covariance[:waves, :waves]) for curve in self.curves]
        centres = [curve.centre[:waves] for curve in self.curves]
        mean = np.linalg.solve(
            sum(inverses),
            sum(inverse @ centre for inverse, centre in zip(inverses, centres, strict=True)),
        )
        misfit = sum(
            float((centre - mean) @ inverse @ (centre - mean))
            for inverse, centre in zip(inverses, centres, strict=True)
        )
        return float(gammaincc((len(self.curves) - 1) * waves / 2, misfit / 2))

    @property
    def p(self) -> float:
        """One test of no difference anywhere: twice the smaller of both, at most 1."""
        return min(1.0, 2 * min(self.p_anywhere, self.p_broad))

    def band(self, first: int = 0, second: int = 1) -> GridBand:
        """The difference with a band that holds for all pairs together."""
        curve = self.difference(first, second)
        if len(self.curves) == 2:
            return curve.band
        followed = np.array(curve.times) if curve.times else grid()
        single_factor = float(
            simultaneous_factor(curve.covariance, curve.row_maps[0](followed, 0), curve.wider)
        )
        joint_factor = curve.wider * float(np.quantile(self._largest, LEVEL))
        middle, band = curve.band.middle, curve.band
        wider = max(joint_factor / single_factor, 1.0)
        return GridBand(
            middle,
            middle - (middle - band.low) * wider,
            middle + (band.high - middle) * wider,
            band.error,
        )

    def differences(self, first: int = 0, second: int = 1) -> Differences:
        """Find where two groups differ, and how much."""
        band, curve = self.band(first, second), self.difference(first, second)
        mean, limits = average(curve, (0.0, 1.0))
        return Differences(
            curve.in_time(pieces_of(band.low > 0, STEP / 2)),
            curve.in_time(pieces_of(band.high < 0, STEP / 2)),
            float(np.maximum(np.maximum(band.low, -band.high), 0.0).max()),
            float(np.maximum(np.abs(band.low), np.abs(band.high)).max()),
            mean,
            limits,
        )

    def standardised(
        self, first: int = 0, second: int = 1, unit_time: float = 0.5
    ) -> tuple[float, Interval] | None:
        """The difference at one time in standard deviations of people, with its 95 % limits.

        The limits divide those of the difference; the standard deviation, of both groups together,
        counts as known (measured coverage .95 to .98). None if a release does not tell how people
        differ.
        """
        time, variances = np.array([unit_time]), []
        for curve in (self.curves[first], self.curves[second]):
            if curve.spread is None or refusal_of_spread(curve, NUMBERS_FROM):
                return None
            variances.append(float(standard_deviation(curve.spread.estimate, time)[0]) ** 2)
        deviation = math.sqrt(sum(variances) / 2)
        if deviation == 0:
            return None
        value, (low, high) = self.difference(first, second).linear(lambda f: f(unit_time))
        return value / deviation, (low / deviation, high / deviation)

    def sentences(self) -> list[str]:
        """All results in words."""
        parts = [
            *map(DOUBTFUL.format, self.doubtful),
            *map(UNTESTED.format, self.untested),
            NO_TEST if self.doubtful else f"{self.p_written}: {WHAT_P_IS}",
        ]
        for first, second in self.pairs:
            parts += (
                self._doubted_pair_in_words(first, second)
                if self.is_doubted(first, second)
                else self._pair_in_words(first, second)
            )
        return [
            *parts,
            *([] if self.doubtful else [SUPPOSES]),
            "Each person’s data went into one group only: budgets do not add.",
        ]

    @property
    def p_written(self) -> str:
        """The test's p, such as "p = .012", never below what it can tell."""
        return "p < .001" if self.p <= _MIN_P else f"p = {self.p:.3f}".replace("0.", ".")

    def is_doubted(self, first: int = 0, second: int = 1) -> bool:
        """True if either release cannot be relied on, so that no level holds for the difference."""
        return not {self.names[first], self.names[second]}.isdisjoint(self.doubtful)

    def _doubted_pair_in_words(self, first: int, second: int) -> list[str]:
        facts = self.curves[first].facts
        mean, (low, high) = average(self.difference(first, second), (0.0, 1.0))
        (number,) = written([mean], high - low)
        return [
            f"Average of {self.names[first]} less {self.names[second]} as released, "
            f"{span(facts, facts.time_low, facts.time_high)}: "
            f"{with_unit(number, facts.value_unit)}. Nobody can tell from the releases how far off "
            "it is, or at which times the groups differ."
        ]

    def _pair_in_words(self, first: int, second: int) -> list[str]:
        result, facts = self.differences(first, second), self.curves[first].facts
        group, other_group = self.names[first], self.names[second]
        name, unit = uncapital(facts.time_name), facts.time_unit
        start = group[:1].upper() + group[1:]
        sides = [
            f"{side} at {name} {with_unit(stretches(pieces, 'and'), unit)}"
            for side, pieces in (("above", result.above), ("below", result.below))
            if pieces
        ]
        width = result.average_limits[1] - result.average_limits[0]
        number, low, high = written([result.average, *result.average_limits], width)
        smallest, largest = written([result.least, result.most], result.most - result.least)
        if sides:
            at_least = f"at least {smallest}, " if float(smallest) > 0 else ""
            where = (
                f"{start} and {other_group} differ: {group} {' and '.join(sides)} (95 % for "
                f"the whole curve at once); the largest difference is {at_least}at most "
                f"{with_unit(largest, facts.value_unit)}."
            )
        else:
            where = (
                f"{start} and {other_group}: no difference was found; differences up to "
                f"{with_unit(largest, facts.value_unit)} remain possible."
            )
        whole = span(facts, facts.time_low, facts.time_high)
        return [
            where,
            f"Average of {group} less {other_group}, {whole}"
            f": {with_unit(number, facts.value_unit)} (95 %: {low} to {high}).",
            *self._effect_in_words(first, second),
            f"They are compared on the {self.waves(first, second)} basis functions that both "
            "releases have.",
        ]

    def _effect_in_words(self, first: int, second: int) -> list[str]:
        size, facts = self.standardised(first, second), self.curves[first].facts
        if size is None:
            return []
        value, low, high = written([size[0], *size[1]], size[1][1] - size[1][0])
        middle = when(facts, (facts.time_low + facts.time_high) / 2)
        return [
            f"At {middle} the difference is {value} standard deviations of {facts.people} "
            f"(95 %: {low} to {high})."
        ]


def _check_pair(first: ReleasedCurve, second: ReleasedCurve) -> None:
    if np.array_equal(first.centre, second.centre):
        raise InputError(
            "One release is given twice.",
            field="groups",
            hint="Compare releases of different groups.",
        )
    for name in _SAME_UNITS:
        if getattr(first.facts, name) != getattr(second.facts, name):
            raise InputError(
                f"The releases differ in “{name}”.",
                field="groups",
                hint="Release all groups with the same units and time range.",
            )
    if first.times != second.times:
        raise InputError(
            "The releases have different common times.",
            field="groups",
            hint="Release all groups with the same settings.",
        )
    if first.family != second.family or first.offset != second.offset:
        raise InputError(
            "The releases have different bases or public prior curves.",
            field="groups",
            hint="Release all groups with the same settings.",
        )


def _standardised(curve: ReleasedCurve, coefficients: Array) -> Array:
    """The largest |f|/error of curves (r, k) of plain waves, at few common times alone: (k,)."""
    rows = curve.waves(np.array(curve.times) if curve.times else grid())
    errors = standard_errors(curve.covariance, rows)
    return np.asarray((np.abs(rows @ coefficients) / errors[:, None]).max(axis=0))
