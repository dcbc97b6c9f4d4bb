"""Facts stated from outside the data: units, bounds, origin of observation times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from engine.core.arrays import Array
from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.typed import check_fields, checked_record


@checked_record
@dataclass(frozen=True)
class Covariate:
    """A number known of every person, with the stated range it is moved into.

    Parameters
    ----------
    low, high : float
        The range, in its own unit.

    Raises
    ------
    InputError
        If the range is empty or not finite.
    """

    name: str
    low: float = -1.0
    high: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        _check_range("covariate", self.low, self.high, self.name[:40])


MAX_GROUPS = 12  # of people with one time each
MAX_VISITS = 10  # at which people are seen: there are cells for every two of them
_SUM_OF_WEIGHTS = 1e-9  # by which weights may miss 1
FEW_BEYOND = 0.02  # of all values: up to here those beyond a bound hardly move the mean


class TimeLaw(Enumeration):
    """Law of observation times; see `Design`."""

    INDEPENDENT = "independent"
    COMMON = "common"
    VISITS = "visits"
    WINDOWS = "windows"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Design:
    """Law of observation times, on [0, 1]: a public fact."""

    # "independent": each time on its own, evenly spread or by `density`. "common": everybody is
    # observed at `times`. "visits": observations of a curve are `gap` apart, from a random start.
    # "windows": observations of a curve are spread evenly over a stretch of length `window` with a
    # random start. "unknown": nothing is stated, so only released quantities may be relied on
    law: TimeLaw = TimeLaw.INDEPENDENT
    times: tuple[float, ...] = ()  # the common times, increasing
    # gap, window: shares of the time range
    gap: float = 0.0
    window: float = 0.0
    # relative heights at equally spaced times, joined by straight lines. Empty: evenly spread.
    density: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        pairs = zip(self.times, self.times[1:], strict=False)
        if self.times and not (
            self.times[0] >= 0 and self.times[-1] <= 1 and all(a < b for a, b in pairs)
        ):
            raise InputError(
                "Common times must rise from 0 at the least to 1 at the most.", field="times"
            )
        for name in ("gap", "window"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(
                    f"“{name}” must lie between 0 and 1, as a share of the time range.", field=name
                )
        if self.density and not (min(self.density) >= 0 and 0 < sum(self.density) < math.inf):
            raise InputError(
                "How often times occur must not go below zero and must be above it somewhere.",
                field="density",
            )

    @classmethod
    def common(cls, times: Sequence[float]) -> Design:
        """Everybody is observed at the same times; without any, nothing is stated."""
        return cls(law=TimeLaw.COMMON, times=tuple(times)) if len(times) else cls()

    @classmethod
    def visits(cls, gap: float) -> Design:
        """Observations of a curve are a fixed time apart, from a random start."""
        return cls(law=TimeLaw.VISITS, gap=gap)

    @property
    def is_known(self) -> bool:
        return self.law is not TimeLaw.UNKNOWN


class DataKind(Enumeration):
    """Whose data they are: the computer's, everybody's, a visitor's, or made like a visitor's."""

    SIMULATED = "simulated"
    PUBLIC = "public"
    UPLOAD = "upload"
    TWIN = "twin"


@dataclass(frozen=True)
class PublicGroup:
    """One of several groups of people; who belongs to which is public, and nobody is in two."""

    set: str  # what the groups are together, by which their releases are known to belong together
    name: str
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = (self.name, *self.others)
        if not all(names) or len({*names}) < len(names):
            raise InputError("Each group needs a name of its own.", field="groups")

    def is_apart_from(self, other: PublicGroup) -> bool:
        """True if both are stated to be different groups of one set."""
        return self.set == other.set and other.name in self.others and self.name in other.others


@checked_record
@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """Statements about curves from outside the data: words, units and bounds.

    Values outside the bounds are moved to the nearest bound.

    Parameters
    ----------
    kind : DataKind, or its name
        "simulated", "public", "upload", or "twin" for one that is simulated from what was stated of
        an upload.
    person, people : str
        The nouns for one and several of those who are protected.
    curve : str
        The noun for what each of them has; empty for the usual one.
    value_name, value_unit, time_name, time_unit : str
        How both axes are called, and their units.
    time_low, time_high : float
        The time range, in its unit; inside the engine times are on [0, 1].
    value_low, value_high : float
        The bounds of values, in response units.
    reading_sd : float
        The known standard deviation of a reading around its curve, in response units. Where it is
        above 0 the bounds are those of the curve, and single readings may lie beyond.
    unit_scale : bool
        Values are of size one as they stand, so that the papers' constants apply unchanged.
    periodic : bool
        A curve ends where it began.
    observations_per_curve : int
        How many observations a curve was planned to have; 0 takes the sizes of the data for public,
        as they are where data are simulated.
    symmetric : bool
        People are spread about their mean without skew, groups or outliers.
    guessed_spread : float
        A guess, not from the data, of how far about two in three observations lie from the mean
        curve at most, in response units; 0 where nobody has stated one. Forecasts alone use it.
    norm_bound : float
        The largest root mean square over time (L² norm on [0, 1]) that a curve less `value_middle`
        is stated to have, in response units; 0 means that only the bounds of values are known, so
        half their width.
    two_classes : bool
        Values only tell one class from another, above the middle of their bounds or not.
    covariates : tuple of Covariate
        The numbers known of every person, where there are any.
    reach : float
        How many of their standard deviations the stated ranges go to each side of the middle; 0
        where nothing is known of it.
    origin : str
        Where the bounds are from.
    credit : str
        Who measured the data and under which licence, or which publications a simulation follows.
    group : PublicGroup or None
        Which of several disjoint groups these people are, where they are one.
    is_proposed : bool
        Ranges and grid are from the file itself: for its holder's eyes only, and in nothing that
        is published, exported or simulated.

    Raises
    ------
    InputError
        If a range is empty or not finite, or a number that cannot be negative is.
    """

    name: str = "Curves"
    kind: DataKind = DataKind.SIMULATED
    person: str = "person"
    people: str = "people"
    curve: str = ""
    value_name: str = "Value"
    value_unit: str = ""
    time_name: str = "Time"
    time_unit: str = ""
    time_low: float = 0.0
    time_high: float = 1.0
    value_low: float = -1.0
    value_high: float = 1.0
    reading_sd: float = 0.0
    unit_scale: bool = False
    periodic: bool = False
    design: Design = Design()
    observations_per_curve: int = 0
    symmetric: bool = False
    guessed_spread: float = 0.0
    norm_bound: float = 0.0
    two_classes: bool = False
    covariates: tuple[Covariate, ...] = ()
    reach: float = 0.0
    origin: str = ""
    credit: str = ""
    group: PublicGroup | None = None
    is_proposed: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        _check_range("time", self.time_low, self.time_high, self.time_name)
        _check_range("value", self.value_low, self.value_high, self.value_name)
        for name in ("reading_sd", "observations_per_curve", "reach"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(
                    f"“{name}” must be 0 or a positive number.",
                    field=name,
                    hint="0 if nothing is stated.",
                )
        if not 0 <= self.norm_bound < math.inf:
            raise InputError(
                "The largest possible size of a curve must be 0 or a positive number; "
                f"got {self.norm_bound:g}.",
                field="norm_bound",
                hint="0 takes half the width of the stated range of values.",
            )
        if not 0 <= self.guessed_spread <= self.value_half_width:
            raise InputError(
                "The guess how far most people are from the average must be above 0 "
                f"and at most half the stated range, {self.value_half_width:g}; got "
                f"{self.guessed_spread:g}.",
                field="guessed_spread",
                hint="A guess from earlier studies; without one it is left out.",
            )

    def check_stated(self) -> None:
        """Refuse facts that are from the file itself."""
        if self.is_proposed:
            raise InputError(
                "The ranges come from this file: they are for your eyes only.",
                field="facts",
                hint="Confirm how the file is read, and state public bounds and their source.",
            )

    def to_plain(self) -> dict[str, Any]:
        """Convert to plain values; facts of later versions only where stated.

        So plans of earlier versions stay as they were.
        """
        self.check_stated()
        plain = asdict(self)
        del plain["is_proposed"]
        for name in (
            "group",
            "guessed_spread",
            "time_step",
            "group_weights",
            "late_entry",
            "at_visits",
        ):
            if not plain.get(name, True):
                del plain[name]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The facts that `to_plain` wrote.

        Parameters
        ----------
        plain : mapping
            Maybe read of JSON, in which tuples are lists.
        """
        group = plain.get("group")
        return cls(
            **{
                **_with_tuples(plain),
                "design": Design(**_with_tuples(plain["design"])),
                "covariates": tuple(Covariate(**each) for each in plain["covariates"]),
                "group": None if group is None else PublicGroup(**_with_tuples(group)),
            }
        )

    @property
    def is_simulated(self) -> bool:
        return self.kind is DataKind.SIMULATED

    @property
    def is_upload(self) -> bool:
        return self.kind is DataKind.UPLOAD

    @property
    def common_times(self) -> tuple[float, ...]:
        """The public grid at which everybody is observed, on [0, 1]; empty where there is none."""
        return self.design.times

    @property
    def visit_gap(self) -> float:
        """The public gap between observations of a curve; 0 where they are no visits."""
        return self.design.gap

    @property
    def value_middle(self) -> float:
        return (self.value_low + self.value_high) / 2

    @property
    def value_half_width(self) -> float:
        return (self.value_high - self.value_low) / 2

    @property
    def largest_norm(self) -> float:
        """τ: `norm_bound`, or what the bounds of values imply."""
        return self.norm_bound or self.value_half_width

    def has_few_beyond(self, values: Array) -> bool:
        """True if so few values lie beyond either bound that they are single errors, or nobody’s.

        Of more of them the bounds, and not the values, are to be doubted.

        Parameters
        ----------
        values : ndarray
            In response units; what is no number does not count.
        """
        known = values[np.isfinite(values)]
        beyond = (known < self.value_low, known > self.value_high)
        return all(float(side.mean()) <= FEW_BEYOND for side in beyond) if known.size else True

    def to_unit_time(self, times: Array) -> Array:
        """Times on [0, 1].

        Parameters
        ----------
        times : ndarray
            In their own unit; moved into the stated range.
        """
        inside = np.clip(times, self.time_low, self.time_high)
        return (inside - self.time_low) / (self.time_high - self.time_low)

    def from_unit_time(self, times: Array) -> Array:
        """Times in their own unit."""
        return self.time_low + times * (self.time_high - self.time_low)

    def to_regressors(self, covariates: Array) -> Array:
        """1 and the covariates on [−1, 1], moved into their stated ranges.

        Parameters
        ----------
        covariates : (…, d)
            In their own units. What is no number stands at the middle of its range.

        Returns
        -------
        (…, d + 1)
            The first column is 1.

        Examples
        --------
        >>> facts = PublicFacts(covariates=(Covariate("age", 0.0, 100.0),))
        >>> facts.to_regressors(np.array([[75.0], [120.0], [np.nan]])).tolist()
        [[1.0, 0.5], [1.0, 1.0], [1.0, 0.0]]
        """
        out = np.ones((*covariates.shape[:-1], 1 + len(self.covariates)))
        for k, stated in enumerate(self.covariates):
            middle, half = (stated.low + stated.high) / 2, (stated.high - stated.low) / 2
            unit = (np.clip(covariates[..., k], stated.low, stated.high) - middle) / half
            unit[~np.isfinite(covariates[..., k])] = 0.0
            out[..., k + 1] = unit
        return out


def _with_tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}


def _check_range(field: str, low: float, high: float, name: str) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(
            f"The lowest and highest possible {uncapital(name)} must be finite numbers.",
            field=f"{field}_low",
        )
    if high - low == math.inf:
        raise InputError(
            f"The range of {uncapital(name)} is too wide to compute with.",
            field=f"{field}_low",
            hint="State the range that is possible.",
        )
    if low >= high:
        raise InputError(
            f"The lowest {uncapital(name)} must be below the highest.",
            field=f"{field}_low",
            hint="Swap or widen them.",
        )


@dataclass(frozen=True, kw_only=True)
class EventFacts(PublicFacts):
    """Facts stated about people with one time each, from outside the data.

    The time range is public: it begins where people come under observation and ends at the planned
    follow-up, not at the longest time seen. For scores and values it is their stated range.
    """

    # what can happen, in the order of the codes 1, 2, …; all other codes are censored. Of labels
    # only the first is looked at.
    causes: tuple[str, ...] = ("Event",)
    # those of the intervals in which people are counted, in the unit of the times, from the lowest
    # to the highest. Empty: equally wide ones, as many as a method takes.
    edges: tuple[float, ...] = ()
    # names of up to `MAX_GROUPS` groups; two are compared. Empty where there is one.
    groups: tuple[str, ...] = ()
    # their sizes, where those are public as in a trial; empty where they are private
    group_sizes: tuple[int, ...] = ()
    # what each group counts in one adjusted curve, 1 together; empty: each group has a curve
    group_weights: tuple[float, ...] = ()
    late_entry: bool = False  # whether people come under observation after their time began
    # whether people are seen at the edges alone, as at visits, of which they may miss some
    at_visits: bool = False
    # by how much a recorded time may differ from when it happened, as by a day of dates or a month
    # of times that are told in months; 0 where nothing is stated
    time_step: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.time_step < self.time_high - self.time_low:
            raise InputError(
                "The step in which times are recorded must be 0 or more, and shorter "
                "than the range of times.",
                field="time_step",
                hint="1 for times in whole days, whose unit is days.",
            )
        if not self.causes:
            raise InputError("Name at least one event.", field="causes")
        if len({*self.groups}) < len(self.groups):
            raise InputError("Each group needs a name of its own.", field="groups")
        if len(self.groups) == 1 or len(self.groups) > MAX_GROUPS:
            raise InputError(
                f"There can be 2 to {MAX_GROUPS} groups; got {len(self.groups)}.",
                field="groups",
                hint="State the values of all groups, or none.",
            )
        if self.group_sizes and (
            len(self.group_sizes) != len(self.groups) or min(self.group_sizes) < 1
        ):
            raise InputError(
                "The size of each group must be stated, or none of them.", field="group_sizes"
            )
        if self.group_weights:
            self._check_weights()
        if self.late_entry and self.time_low != 0:
            raise InputError(
                "With late entry time counts from 0: whoever leaves before a later beginning would "
                "count as at risk after it.",
                field="time_low",
                hint="State edges instead, such as 0, 50, 55, 60: nothing is shown before enough "
                "people are observed.",
            )
        if self.at_visits:
            self._check_visits()
        rises = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if self.edges and not (
            rises and self.edges[0] == self.time_low and self.edges[-1] == self.time_high
        ):
            raise InputError(
                "The edges of intervals must rise from the beginning to the end of the follow-up.",
                field="edges",
                hint="Begin with the lowest time and end with the highest.",
            )

    def _check_visits(self) -> None:
        """Refuse visits whose times are not public, too many of them, and late entry."""
        if not self.edges:
            raise InputError(
                "People who are seen at visits need the public times of the visits.",
                field="edges",
                hint="State the start and the planned times, such as 0, 6, 12, 24. A recorded time "
                "counts as the nearest of them.",
            )
        if len(self.edges) - 1 > MAX_VISITS:
            raise InputError(
                f"There can be at most {MAX_VISITS} visits; got {len(self.edges) - 1}.",
                field="edges",
                hint="State fewer: what happens between two of them is still counted.",
            )
        if self.late_entry:
            raise InputError(
                "People are seen at visits, or enter late: errors are derived for one of the two.",
                field="entry",
                hint="Leave the column of entries out.",
            )

    def _check_weights(self) -> None:
        """Refuse weights that are not shares of one population."""
        weights = self.group_weights
        if len(weights) != len(self.groups):
            raise InputError(
                "An adjusted curve needs a weight of each group.",
                field="group_weights",
                hint="State those of all groups, or leave the weights out.",
            )
        if min(weights) < 0 or not abs(sum(weights) - 1) <= _SUM_OF_WEIGHTS:
            raise InputError(
                "The weights of groups must be 0 or more, and sum to 1.",
                field="group_weights",
                hint="For example the shares of a standard population.",
            )
