"""Curves from a person's own file, with the public facts they state about them, as a source.

Only plain arrays are kept of the file. What is wrong with it is said in names of columns and
counts, never with an observation, a row number or an id.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError, brief
from engine.core.identity import Traces, named_once
from engine.core.lists import counted
from engine.core.names import uncapital
from engine.core.tasks import (
    COVARIANCE,
    MEAN_FUNCTION,
    PERCENTILE_CURVES,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.core.types import Array, CurveData, PublicGroup, Sizes
from engine.core.types.data import order_in_time
from engine.uploads.columns import Integers, Observations
from engine.uploads.design import moved_to_common
from engine.uploads.doubts import doubts, doubts_of_bounds, doubts_of_people, doubts_of_period
from engine.uploads.misfits import (
    check_covariates,
    check_fit,
    remarks_on_codes,
    remarks_on_covariates,
)
from engine.uploads.regressors import check_regressors
from engine.uploads.source import UploadedData
from engine.uploads.spellings import check_spellings
from engine.uploads.traces import bits_of_shapes, pieces, shapes, traces_of

MAX_CURVES = 100_000
MAX_POINTS = 10_000
_RAGGED = 10  # longest over median number of observations from which a note is made
_TELLING_OBSERVATIONS = 3  # from which two people hardly have the same


# -- reading the file -----------------------------------------------------------------------------


@named_once
@dataclass(frozen=True, eq=False, kw_only=True)
class CurveTable(Observations):
    """Curves read from a table; `Observations` says what they have in common with records."""

    # times, values, each (N,): the observations, curve after curve and by time within each
    times: Array
    values: Array
    counts: Integers  # (n,): observations of each curve, 0 where it has none
    n_people: int = 0  # may be below the number of curves
    header_times: tuple[float, ...] = ()  # the times in the names of the columns, where they are
    # (n,), optional: the group of each curve, by its place among `group_names`
    group: Integers | None = None
    # the texts of the column of groups, sorted; a blank cell is a group without a name
    group_names: tuple[str, ...] = ()
    # of times that were dates or clock times in the file; "" where they were numbers
    time_unit: str = ""

    @property
    def n_curves(self) -> int:
        """The number of curves, including those without observations."""
        return len(self.counts)

    def of_group(self, name: str) -> CurveTable:
        """The curves of one group, whose membership and size are public; sites without any go."""
        members = (
            np.zeros(self.n_curves, dtype=bool)
            if self.group is None or name not in self.group_names
            else self.group == self.group_names.index(name)
        )
        if not members.any():
            raise InputError(
                f"Nobody is in the group {brief(name)}.",
                field="groups",
                hint="Groups are called as the words of their column say.",
            )
        return self.only(members)

    def only(self, members: NDArray[np.bool_]) -> CurveTable:
        """Keep these curves (n,) with their observations; sites without any go."""
        observed, kept = np.repeat(members, self.counts), super().only(members)
        n_people = (
            len({*zip(kept.server.tolist(), kept.ids, strict=True)})
            if kept.ids
            else (int(members.sum()))
        )
        return replace(
            kept, times=self.times[observed], values=self.values[observed], n_people=n_people
        )


class _AtOneTime(NamedTuple):
    """Numbers of observations that repeat a time of their curve: copies, and others."""

    copies: int
    others: int


def _at_one_time(curve: Integers, times: Array, values: Array) -> _AtOneTime:
    """Count them, of observations that are in order of curves and times (N,)."""
    is_again = (curve[1:] == curve[:-1]) & (times[1:] == times[:-1])
    repeated = int(is_again.sum())
    if not repeated:
        return _AtOneTime(0, 0)
    shared = np.flatnonzero(np.append(is_again, False) | np.append(False, is_again))  # mostly few
    moment, value = np.cumsum(np.append(False, ~is_again))[shared], values[shared]
    order = np.lexsort((value, moment))
    moment, value = moment[order], value[order]
    copies = int(((moment[1:] == moment[:-1]) & (value[1:] == value[:-1])).sum())
    return _AtOneTime(copies, repeated - copies)


def in_time_order(curve: Integers, times: Array, values: Array) -> tuple[Integers, Array, Array]:
    """Observations by curve, by time within each, and by value at one time.

    Curves go 16 bits at a time: numpy sorts such numbers by radix, several times faster.
    """
    order = np.argsort(times)
    for shift in range(0, int(curve.max(initial=1)).bit_length(), 16):
        digit = (curve[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    curve, times, values = curve[order], times[order], values[order]
    is_again = (curve[1:] == curve[:-1]) & (times[1:] == times[:-1])
    if is_again.any():
        tied = np.flatnonzero(np.append(is_again, False) | np.append(False, is_again))
        values[tied] = values[tied][np.lexsort((values[tied], times[tied], curve[tied]))]
    return curve, times, values


def _check_single(counts: Integers) -> None:
    """Refuse several observations of one person where everybody has one."""
    several = int((counts > 1).sum())
    if several:
        raise InputError(
            f"{several:,} of {len(counts):,} people have several observations.",
            field="id",
            hint="Here every person gives one. Keep one observation of each, by a rule that does "
            "not look at the values, such as the first visit; or show whole curves on Explore; or "
            "take every row for another person, and state beside the odds how many one person has.",
        )


# -- what the holder is told of it ----------------------------------------------------------------


def notes_on_curves(
    curves: CurveTable, notes: tuple[str, ...], n_missing: int, is_single: bool
) -> CurveTable:
    """Return curves with what their holder should know of them; counts of private data."""
    verb, effect = (
        ("missing", "their people count, with the middle of the stated bounds")
        if is_single
        else ("left out", "how many a curve has left stays private")
    )
    gaps = [
        f"{counted(n_missing, 'observation')} {verb}, because a time or a value is missing; "
        f"{effect}"
    ] * bool(n_missing)
    curve = np.repeat(np.arange(curves.n_curves), curves.counts)
    return replace(
        curves,
        notes=(
            *notes,
            *gaps,
            *_doubtful(curves, _at_one_time(curve, curves.times, curves.values), is_single),
        ),
    )


def _doubtful(curves: CurveTable, repeated: _AtOneTime, is_single: bool) -> list[str]:
    """List what a person should know before believing a picture; counts only."""
    used = curves.counts[curves.counts > 0]
    without = int(np.isnan(curves.covariates).any(axis=1).sum())
    one_time = "all observations at the same time: only that point can be estimated"
    has_one_time = curves.times.min() == curves.times.max()
    is_constant = curves.values.min() == curves.values.max()
    applies = (
        {
            "only one observation": len(curves.values) == 1,
            one_time: has_one_time,
            "all observations are equal": is_constant,
        }
        if is_single
        else {
            f"{counted(curves.n_curves - len(used), 'curve')} without an observation, still counted as "
            "people": len(used) < curves.n_curves,
            "exact copies of an observation, with the same person, time and value: "
            f"{repeated.copies:,}; all are used, and count more within their curve. Leave copied rows "
            "out of the file": repeated.copies,
            f"{counted(repeated.others, 'observation')} at the same time as another of the same curve, "
            "with another value: all are used": repeated.others,
            f"{counted(without, 'curve')} without a value of a covariate: still counted, left out of "
            "coefficients": without,
            "only one curve: nothing can be averaged": curves.n_curves == 1,
            "one observation per curve: the average can be estimated, "
            "spread within a curve cannot": used.max() == 1,
            one_time: has_one_time,
            "all observations are equal: the curves show no variation": is_constant,
            "some curves have over ten times as many observations as the median curve; each curve "
            "counts the same": used.max() > _RAGGED * np.median(used),
        }
    )
    return [note for note, holds in applies.items() if holds]


# -- as data --------------------------------------------------------------------------------------


class ClippedInCurves(NamedTuple):
    """Counts of numbers moved to a stated bound; for the holder of the curves alone."""

    times: int
    values: int
    covariates: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload(UploadedData[CurveData]):
    """A person's own curves with the facts they declared; the same in every draw.

    Sizes are those that are declared: how many observations single curves have is private, and so
    is how many there are in all.

    Where common times are declared each observation is moved to the nearest of them, so that a wide
    and a long table of the same numbers are the same data; why this keeps neighbouring files
    neighbouring stands with `engine.uploads.design.moved_to_common`.

    Where the standard deviation of an observation is declared these are single observations: one of
    each person, for one common curve. The bounds are then those of the curve, and an observation
    that is missing stays in the public number of people as no number, which counts as the middle of
    the bounds.

    Raises
    ------
    InputError
        If a declared covariate was not read from the file, somebody has several observations where
        they are declared to be single, what was declared cannot be (`engine.uploads.misfits`), or a
        stated group is in the file in another spelling.
    """

    key = "upload"
    label = "Your curves"
    tasks = frozenset(
        task.key
        for task in (
            MEAN_FUNCTION,
            VARYING_COEFFICIENTS,
            WAVELET_REGRESSION,
            COVARIANCE,
            PERCENTILE_CURVES,
        )
    )

    read_as = "curves"

    curves: CurveTable
    # texts of the column of groups that everybody may know; empty where none is stated
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_single:
            _check_single(self.curves.counts)
        self.facts  # noqa: B018  (checks the bounds of a change)
        if self.declared.group is None:  # a group is checked with the whole file that it is of
            check_fit(
                self.curves.times,
                self.curves.values,
                self.curves.counts,
                self.curves.time_unit,
                self.declared,
                self.is_single,
            )
            check_covariates(self.covariates, self.declared)
        check_spellings(self.curves.group_names, self.groups, "groups")

    @property
    def observations(self) -> CurveTable:
        return self.curves

    @property
    def group_names(self) -> tuple[str, ...]:
        return self.groups

    def of_group(self, name: str) -> Upload:
        """The people of one group; see `Source.of_group`."""
        return self.people_of(name, self.facts.name)

    def groups_drawn(self, rng: np.random.Generator) -> Integers:
        """The stated group of everybody in the file; see `Source.groups_drawn`."""
        if not self.groups or self.curves.group is None:
            return super().groups_drawn(rng)
        indices = [
            self.groups.index(name) if name in self.groups else -1
            for name in self.curves.group_names
        ]
        return np.array(indices, dtype=np.int64)[self.curves.group]

    def people_of(self, name: str, of: str) -> Upload:
        """Return the people of one group, as a data set of their own."""
        others = tuple(each for each in self.groups if each != name)
        return replace(
            self,
            curves=self.curves.of_group(name),
            groups=(),
            declared=replace(self.declared, group=PublicGroup(of, name, others)),
        )

    @property
    def is_single(self) -> bool:
        """True for observations around one common curve, one from each person."""
        return self.declared.reading_sd > 0

    @property
    def sizes(self) -> Sizes:
        counts = np.ones_like(self.curves.counts) if self.is_single else self.curves.counts
        return Sizes.public(self.curves.server, counts, self.declared)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Signs that the file differs from its declaration; for the holder of the curves alone."""
        times, counts = self.declared.to_unit_time(self.curves.times), self.curves.counts
        of_bounds = () if self.is_single else doubts_of_bounds(self.curves.values, self.declared)
        of_curves = (times, self.curves.values, counts, self.declared)
        return (
            *doubts(times, counts, self.declared),
            *of_bounds,
            *doubts_of_period(*of_curves),
            *doubts_of_people(*of_curves),
        )

    def remarks(self) -> list[str]:
        """Repeated curves, and what was moved to a bound; for their holder alone."""
        stated, (times, values, covariates) = self.declared, self.n_clipped
        value_range = f"{stated.value_low:g} to {stated.value_high:g} {stated.value_unit}".strip()
        time_range = f"{uncapital(stated.time_name)} {stated.time_low:g} to {stated.time_high:g}"
        applies = {
            f"Exact repetitions of earlier curves: {self.n_repeated:,}. If somebody is in the file "
            "twice, give both curves one id: the guarantee is for one id.": self.n_repeated,
            f"{counted(values, 'observation')} outside {value_range}: moved to the nearest bound.": values,
            f"{counted(times, 'observation')} outside {time_range}: moved to the nearest bound.": times,
            f"{counted(self.n_in_no_group, 'curve')} in none of the groups that you stated: left "
            "out where each group is published on its own.": self.n_in_no_group,
            f"{counted(covariates, 'number')} of columns that may explain the curves lay outside "
            "what you stated: moved to the nearest bound.": covariates,
        }
        return [
            *(remark for remark, count in applies.items() if count),
            *remarks_on_codes(
                self.curves.values,
                stated.value_low,
                stated.value_high,
                uncapital(stated.value_name),
            ),
            *remarks_on_covariates(self.covariates, stated),
        ]

    @property
    def n_clipped(self) -> ClippedInCurves:
        """Counts of numbers moved to a bound; single observations may lie beyond theirs."""
        facts, curves = self.declared, self.curves
        values = 0 if self.is_single else _outside(curves.values, facts.value_low, facts.value_high)
        return ClippedInCurves(
            _outside(curves.times, facts.time_low, facts.time_high),
            values,
            sum(
                _outside(column, covariate.low, covariate.high)
                for column, covariate in zip(self.covariates.T, facts.covariates, strict=True)
            ),
        )

    @cached_property
    def n_repeated(self) -> int:
        """Curves that repeat an earlier one, observation for observation; of three or more."""
        numbers = np.column_stack([self.curves.times, self.curves.values])
        ends = np.cumsum(self.curves.counts)
        curves = [
            numbers[end - n : end].tobytes()
            for end, n in zip(ends, self.curves.counts, strict=True)
            if n >= _TELLING_OBSERVATIONS
        ]
        return len(curves) - len(set(curves))

    @property
    def n_in_no_group(self) -> int:
        """Curves of people in none of the stated groups; 0 where none are stated."""
        if not self.groups or self.curves.group is None:
            return 0
        is_stated = np.isin(np.array(self.curves.group_names), self.groups)
        return int((~is_stated[self.curves.group]).sum())

    @property
    def n_without_covariates(self) -> int:
        """Curves that lack a covariate: they count, and add nothing to coefficients."""
        return int(np.isnan(self.covariates).any(axis=1).sum())

    def check_regressors(self) -> None:
        """Refuse covariates that explain nothing; see `engine.uploads.regressors.check_regressors`.

        For the coefficient model alone: an average does not look at covariates.
        """
        check_regressors(self.declared, self.covariates[self.curves.counts > 0])

    def contents(self) -> Iterable[bytes]:
        """Each curve, observations in order of time; see `Source.contents`."""
        times, values, ends = self._sorted
        return pieces(ends, times, values)

    def traces(self) -> Traces:
        """Ids and shapes of curves; see `Source.traces`."""
        _, values, ends = self._sorted
        return traces_of(
            self.curves,
            lambda: iter(self.contents()),
            tuple(pieces(*shapes(values, ends))),
            bits_of_shapes(values, ends),
            reading=self.reading,
        )

    @property
    def _sorted(self) -> tuple[Array, Array, Integers]:
        """Times and values (N,), curve after curve, by time and then by value; where each ends."""
        curves = self.curves
        times, values = curves.times + 0.0, curves.values + 0.0  # −0 is 0
        order = order_in_time(times, values, curves.counts)
        return times[order], values[order], np.cumsum(curves.counts)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Return the curves, times on [0, 1]; `rng` is not used, and one data set is all there is.

        Values beyond the stated bounds stay as they are, so that methods can count them before they
        are moved. Covariates stay in their own units: `PublicFacts.to_regressors` moves them.
        """
        self._only_once(n_repeats)
        facts, curves = self.facts, self.curves
        times = moved_to_common(facts.to_unit_time(curves.times), facts.design)
        if self.is_single:  # one reading of everybody, as it stands in the file; NaN where missing
            cells = np.full((2, 1, curves.n_curves), np.nan)
            cells[:, 0, curves.counts > 0] = times, curves.values
            return CurveData(cells[0], cells[1], np.ones_like(curves.counts), curves.server, facts)
        return CurveData(
            times=times[np.newaxis],
            values=curves.values[np.newaxis],
            counts=curves.counts,
            server=curves.server,
            facts=facts,
            covariates=self.covariates[np.newaxis] if facts.covariates else None,
        )


def _outside(numbers: Array, low: float, high: float) -> int:
    return int(((numbers < low) | (numbers > high)).sum())
