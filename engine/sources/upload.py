"""Curves from a person's own file, and the public facts they state about them.

Not a registered source: data must never travel in a link or a scenario file. Only plain arrays are
kept of the file. What bounds one person's effect (values, times) is declared, never read off the
curves, and no message holds a reading, a row number or an id: column names and counts only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.sources import Source
from engine.sources.regressors import MOST_COVARIATES, check_regressors
from engine.sources.tables import (
    MISSING,
    NUMBER,
    Numbers,
    Table,
    counted,
    listed,
    nearest,
    shortened,
)
from engine.tasks import (
    COVARIANCE,
    FUNCTIONAL_SUMMARY,
    MEAN_FUNCTION,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.types import Array, Covariate, CurveData, PublicFacts, Sizes

Integers = NDArray[np.int64]

MOST_CURVES = 100_000
MOST_POINTS = 10_000
KINDS = {"long": "one row per reading", "wide": "one row per curve"}
ROLES = ("id", "time", "value", "server")
_SYNONYMS = {  # the likeliest first; compared without case, units in brackets and punctuation
    "id": ("id", "child_id", "subject_id", "person_id", "patient_id", "participant_id", "subject",
           "person", "patient", "participant", "child", "household", "individual", "user",
           "curve_id", "curve", "scan", "unit_id", "unit", "name"),
    "time": ("time", "t", "age", "day", "days", "hour", "hours", "minute", "minutes", "week",
             "weeks", "month", "months", "year", "years", "position", "date", "x"),
    "value": ("value", "values", "y", "height", "reading", "readings", "measurement", "response",
              "result", "outcome", "weight", "level", "glucose", "demand"),
    "server": ("server", "site", "site_id", "hospital", "centre", "center", "clinic", "school",
               "institution", "location", "country", "region"),
}
_WHAT = {"id": "who a row belongs to", "time": "when a reading was taken",
         "value": "what was measured"}
_PUBLIC_SEED = 20_240_601  # of the order of curves: any fixed number that everybody knows
_LARGEST = 1e100  # so that a range, its square and sums of squares stay finite
_MARKS_OF_MARKUP = "[]<>*_`$~:|#\\{}"
_RAGGED = 10  # longest over median number of readings from which a note is made
_ZERO_ONE = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "m"), ("female", "male"),
             ("control", "treated"))  # words for 0 and 1, the same whatever a file holds
EXAMPLE_CSV = ("child_id,age,height,mother_height\n" + "".join(
    f"{child},{age},{height},{mother}\n" for child, mother, heights in (
        ("A-01", 168, (86, 115, 138, 161)), ("A-02", 163, (84, 112, 135, 164)),
        ("B-01", 172, (88, 118, 142, 158)))
    for age, height in zip((2, 6, 10, 14), heights, strict=True)))


EXAMPLE_READINGS_CSV = "person_id,hour,temperature,site\n" + "".join(
    f"{site[0]}-{k:02d},{hour},{36.2 + 0.1 * (5 * k % 8):.1f},{site}\n"
    for site, hours in (("North", (0.5, 4.25, 9, 13.75, 18.5)), ("South", (2, 7.5, 12.25, 21)))
    for k, hour in enumerate(hours, start=1))


@dataclass(frozen=True)
class Layout:
    """Which column plays which role.

    One row per reading: `id`, `time` and `value` name columns. One row per curve: `times` pairs
    each column of readings with its time, in the file's own unit, and `id` is optional. `server`
    and `covariates` are optional in both. `single` says that every person has one reading, one row
    per reading: then `id` is optional, and without it every row is another person.
    """

    id: str | None
    time: str | None = None
    value: str | None = None
    server: str | None = None
    covariates: tuple[str, ...] = ()
    times: tuple[tuple[str, float], ...] = ()
    single: bool = False

    @property
    def is_wide(self) -> bool:
        return bool(self.times)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        single = (self.id, self.time, self.value, self.server)
        return (*[name for name in single if name], *self.covariates,
                *[name for name, _ in self.times])


@dataclass(frozen=True, eq=False)
class CurveTable:
    """Curves read from a table, in the file's own units, ordered by server.

    `times` and `values` (N,) hold the readings, curve after curve and by time within each;
    `counts` and `server` (n_curves,) are as in `CurveData`; a curve without any reading has count
    0. `ids` (n_curves,) and `covariates` (n_curves, d) name and describe the curves; `n_people`
    may be below the number of curves. `header_times` are those in the names of the columns, where
    they are. `notes` say how the file was read and what to look at. They
    hold counts of private data: for the holder of the file alone.
    """

    times: Array
    values: Array
    counts: Integers
    server: Integers
    covariates: Array
    covariate_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    server_names: tuple[str, ...] = ()
    n_people: int = 0
    header_times: tuple[float, ...] = ()

    @property
    def n_curves(self) -> int:
        return len(self.counts)


class Clamped(NamedTuple):
    """How many numbers were moved to a stated bound; for the holder of the curves alone."""

    times: int
    values: int
    covariates: int


class StatedCovariate(NamedTuple):
    """A column that may explain the curves, and its range as far as a person has stated it."""

    name: str
    low: float | None
    high: float | None
    unit: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload(Source):
    """A person's own curves with the facts they declared; the same in every draw.

    Of the covariates of `curves`, those that are declared are used, in the order declared.

    Where the standard deviation of a reading is declared these are single readings: one of each
    person, for one common curve. The bounds are then those of the curve, and a reading that is
    missing stays in the public number of people as no number, which counts as the middle of the
    bounds.

    Raises
    ------
    InputError
        If a declared covariate was not read from the file, or somebody has several readings where
        they are declared to be single.
    """

    key = "upload"
    label = "Your curves"
    tasks = frozenset(task.key for task in (
        MEAN_FUNCTION, VARYING_COEFFICIENTS, WAVELET_REGRESSION, FUNCTIONAL_SUMMARY, COVARIANCE))
    is_random: ClassVar[bool] = False

    curves: CurveTable
    declared: PublicFacts = field(default_factory=lambda: PublicFacts(kind="upload"))

    def __post_init__(self) -> None:
        super().__post_init__()
        read = self.curves.covariate_names
        unread = [c.name for c in self.declared.covariates if c.name not in read]
        if unread:
            raise InputError(f"Not among the covariates that were read: {listed(unread)}.",
                             field="covariates", hint=f"Read: {listed(read)}." if read else
                             "Choose them when the file is read.")
        if self.is_single:
            _check_single(self.curves.counts)

    @property
    def is_single(self) -> bool:
        """Whether these are readings around one common curve, one of each person."""
        return self.declared.reading_sd > 0

    @property
    def facts(self) -> PublicFacts:
        """What was declared, with the times in the header of a table of one row per curve."""
        times = np.unique(self.declared.to_unit_time(np.array(self.curves.header_times)))
        return replace(self.declared, common_times=tuple(times.tolist()))

    @property
    def sizes(self) -> Sizes:
        counts = np.ones_like(self.curves.counts) if self.is_single else self.curves.counts
        return Sizes(tuple(np.bincount(self.curves.server).tolist()), int(counts.sum()),
                     int(counts[counts > 0].min()), len(self.declared.covariates))

    @property
    def clamped(self) -> Clamped:
        """How many numbers are moved to a stated bound; single readings may lie beyond theirs."""
        facts, curves = self.declared, self.curves
        values = 0 if self.is_single else _outside(curves.values, facts.value_low, facts.value_high)
        return Clamped(_outside(curves.times, facts.time_low, facts.time_high), values,
                       sum(_outside(column, covariate.low, covariate.high) for column, covariate
                           in zip(self.covariates.T, facts.covariates, strict=True)))

    @property
    def covariates(self) -> Array:
        """The declared covariates (n_curves, d) as they stand in the file; NaN where missing."""
        read = self.curves.covariate_names
        return self.curves.covariates[:, [read.index(c.name) for c in self.declared.covariates]]

    @property
    def n_without_covariates(self) -> int:
        """Curves that lack a covariate: they count, and add nothing to coefficients."""
        return int(np.isnan(self.covariates).any(axis=1).sum())

    def check_regressors(self) -> None:
        """Refuse covariates that explain nothing; see `engine.sources.regressors.check_regressors`.

        For the coefficient model alone: an average does not look at covariates.

        Raises
        ------
        InputError
            If one is constant or follows from others, among the curves that have readings.
        """
        check_regressors(self.declared, self.covariates[self.curves.counts > 0])

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Return the curves, times on [0, 1] and both within what was stated; `rng` is not used.

        Covariates stay in their own units: `PublicFacts.to_regressors` moves them.

        Raises
        ------
        InputError
            If more than one data set is asked for: there is only one.
        """
        self._only_once(n_repeats)
        facts, curves = self.declared, self.curves
        if self.is_single:
            return self._single_readings()
        return CurveData(
            times=facts.to_unit_time(curves.times)[np.newaxis],
            values=np.clip(curves.values, facts.value_low, facts.value_high)[np.newaxis],
            counts=curves.counts, server=curves.server, facts=self.facts,
            covariates=self.covariates[np.newaxis] if facts.covariates else None)

    def _single_readings(self) -> CurveData:
        """One reading of everybody, as it stands in the file; NaN where it is missing."""
        held = self.curves.counts > 0
        times, values = np.full((2, 1, len(held)), np.nan)
        times[0, held] = self.declared.to_unit_time(self.curves.times)
        values[0, held] = self.curves.values
        return CurveData(times, values, np.ones_like(self.curves.counts), self.curves.server,
                         self.facts)


def _check_single(counts: Integers) -> None:
    several = int((counts > 1).sum())
    if several:
        raise InputError(
            f"{several:,} of {len(counts):,} people have several readings.", field="id",
            hint="Here every person gives one. Keep one reading of each, by a rule that does not "
            "look at the values, such as the first visit; or show whole curves on Explore; or take "
            "every row for another person, and state beside the odds how many one person has.")


def _outside(numbers: Array, low: float, high: float) -> int:
    return int(((numbers < low) | (numbers > high)).sum())


def declare(value_low: float | None, value_high: float | None, time_low: float | None,
            time_high: float | None, origin: str,
            covariates: Sequence[StatedCovariate | Covariate] = (),
            single: bool = False, reading_sd: float | None = None, **words: Any) -> PublicFacts:
    """Return the facts a person states about their curves, from outside the data.

    Bounds are in the units of the file; `origin` says which public source they come from;
    `covariates` are the columns that may explain the curves, with their ranges, in the order in
    which coefficients are wanted; `words` are other fields of `PublicFacts`, of which empty ones
    are left as usual. Of `single` readings the bounds are those of the curve, and `reading_sd` is
    their standard deviation around it, in the same unit; otherwise it is not looked at.

    Raises
    ------
    InputError
        If a bound, the spread or the origin is not stated, the spread is no finite number above 0,
        a lowest bound is not below its highest, or there are more than `MOST_COVARIATES` covariates
        or one of them twice.
    """
    chosen = stated_words(words)
    value = chosen.get("value_name", "value").lower()
    time, person = chosen.get("time_name", "time").lower(), chosen.get("person", "person")
    lowest, highest = _stated(
        "value", (value_low, value_high), f"the lowest and highest possible {value}",
        f"Without them there is no limit on what one {person} can change. Any public source will "
        "do.")
    first, last = _stated("time", (time_low, time_high), f"the first and last possible {time}",
                          "They come from how the study was planned, not from the file.")
    spread = stated_spread(reading_sd) if single else 0.0
    ranges = _covariate_ranges(covariates, person)
    name = "Your readings" if single else "Your curves"
    return PublicFacts(kind="upload", name=name, origin=stated_origin(origin),
                       value_low=lowest, value_high=highest, time_low=first, time_high=last,
                       covariates=ranges, reading_sd=spread, **chosen)


def stated_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """What things are called, without those that were left empty.

    These words stand in sentences on every page, where some signs would act as markup.

    Raises
    ------
    InputError
        If a word holds one of them.
    """
    for name, word in words.items():
        if isinstance(word, str) and set(word) & set(_MARKS_OF_MARKUP):
            raise InputError(f"“{shortened(word)}” cannot be a name or a unit here.", field=name,
                             hint=f"Leave out the signs {' '.join(_MARKS_OF_MARKUP)}.")
    return {name: word for name, word in words.items() if word}


def stated_origin(origin: str) -> str:
    """Where bounds come from, in at most 200 characters.

    Raises
    ------
    InputError
        If nothing is said.
    """
    if not origin.strip():
        raise InputError("Say where these bounds come from.", field="origin",
                         hint="For example a growth chart, a manual or a law.")
    return origin.strip()[:200]


def stated_spread(reading_sd: float | None, one: str = "a reading", centre: str = "the curve"
                  ) -> float:
    """σ as stated: how far `one` lies from what is estimated.

    Raises
    ------
    InputError
        If it is missing, or no finite number above 0.
    """
    if reading_sd is None:
        raise InputError(f"State how far {one} typically lies from {centre} (σ) first.",
                         field="reading_sd", hint="From a manual or an earlier study, never from "
                         "this file.")
    if not 0 < reading_sd <= _LARGEST:
        raise InputError(f"σ must be above 0 and at most {_LARGEST:g}; got {reading_sd:g}.",
                         field="reading_sd", hint=f"It is the standard deviation of {one} around "
                         f"{centre}, in the unit of the file.")
    return reading_sd


def _covariate_ranges(covariates: Sequence[StatedCovariate | Covariate], person: str
                      ) -> tuple[Covariate, ...]:
    names = [covariate.name for covariate in covariates]
    if len(names) > MOST_COVARIATES:
        raise InputError(f"At most {MOST_COVARIATES} covariates can be used; got {len(names)}.",
                         field="covariates", hint="Each adds a whole curve, and its noise: keep "
                         "those that matter most.")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"Stated more than once: {listed(twice)}.", field="covariates",
                         hint="State each covariate once.")
    return tuple(stated_range(covariate, person) for covariate in covariates)


def stated_range(stated: StatedCovariate | Covariate, person: str) -> Covariate:
    """A column with its range.

    Raises
    ------
    InputError
        If an end is missing or not finite, or the lowest is not below the highest.
    """
    stated_words({"unit": stated.unit})
    low, high = _stated(
        "covariate", (stated.low, stated.high),
        f"the lowest and highest possible “{shortened(stated.name)}”",
        f"They limit what one {person} can change. Any public source will do.")
    return Covariate(stated.name, low, high, stated.unit)


def _stated(what: str, ends: tuple[float | None, float | None], bounds: str, why: str
            ) -> list[float]:
    stated = []
    for end, bound in zip(("low", "high"), ends, strict=True):
        if bound is None:
            raise InputError(f"State {bounds} first.", field=f"{what}_{end}", hint=why)
        if not abs(bound) <= _LARGEST:
            raise InputError(f"A bound must be a finite number between −{_LARGEST:g} and "
                             f"{_LARGEST:g}.", field=f"{what}_{end}",
                             hint="Choose a larger unit of measurement.")
        stated.append(float(bound))
    return stated


# -- which column is what -----------------------------------------------------------------------


def suggest_layout(table: Table, roles: Mapping[str, Any] | None = None, kind: str | None = None,
                   single: bool = False) -> Layout:
    """Find the roles of the columns from their names; a person's choices override.

    Parameters
    ----------
    table : Table
    roles : "id", "time", "value", "server" → a column name, or None for no column; "covariates" →
        column names.
    kind : "long" or "wide"; from the names if None.
    single : whether every person has one reading, which is one row; the id is then optional.

    Raises
    ------
    InputError
        If a column does not exist or has two roles, a needed role has no column, or the table
        looks long and wide at once.
    """
    chosen = {role: _find(table, named) for role, named in (roles or {}).items()}
    found = roles_by_name(table, chosen)
    series = _series(table, _taken(chosen))
    if single:
        layout = _long(table, chosen, found, single)
    else:
        kind = kind or _kind(chosen, found, series)
        layout = (_wide(table, chosen, found, series) if kind == "wide" else
                  _long(table, chosen, found))
    _check_one_role_each(layout)
    return layout


def _find(table: Table, named: Any) -> Any:
    """A person's choice in the table's own spelling."""
    if named is None or isinstance(named, str):
        return None if named is None else table.find(named)
    return tuple(table.find(name) for name in named)


def _taken(chosen: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for named in chosen.values():
        names.update((named,) if isinstance(named, str) else named or ())
    return names


def roles_by_name(table: Table, chosen: Mapping[str, Any]) -> dict[str, str]:
    """Role → column, for the roles whose usual names occur."""
    taken = _taken(chosen)
    free = {_plain(column): column for column in reversed(table.columns) if column not in taken}
    found: dict[str, str] = {}
    for role in ("server", "time", "value", "id"):  # site_id is a site before it is an id
        names = [name for name in _SYNONYMS[role] if name in free]
        if role == "id" and not names:
            names = [name for name in free if name.endswith("_id")]
        if role not in chosen and names:
            found[role] = free.pop(names[0])
    return found


def _plain(column: str) -> str:
    """A column name without case, a unit in brackets and punctuation: “Age (years)” is age."""
    name = re.sub(r"[(\[][^)\]]{0,50}[)\]]", "", column[:200]).casefold()
    return re.sub(r"[\W_]+", "_", name).strip("_")


def _series(table: Table, taken: set[str]) -> dict[str, float]:
    """Column → time for columns whose names are times (0, 0.5, 1) or numbered (x_01, X0.5).

    Numbers differ, and names that are plain numbers increase: other numbers in the first line are
    a row of data without a header. Of several numbered families the largest counts.
    """
    families: dict[str, dict[str, float]] = {}
    for column in table.columns:
        stem, time = _numbered(column, table.decimal)
        if time is not None and column not in taken:
            families.setdefault(stem, {})[column] = time
    usable = {stem: family for stem, family in families.items()
              if len(family) >= (2 if stem == "" else 3)
              and len(set(family.values())) == len(family)
              and (stem or list(family.values()) == sorted(family.values()))}
    return usable.get("") or max(usable.values(), key=len, default={})


def _numbered(column: str, decimal: str) -> tuple[str, float | None]:
    """Split a column name in stem and number; the stem of a plain number is empty."""
    name = column[:200].replace(decimal, ".")
    if re.fullmatch(NUMBER, name):
        return "", float(name) if math.isfinite(float(name)) else None
    end = re.search(r"[0-9]+(\.[0-9]+)?$", name[-30:])  # a longer number is no time
    if end is None:
        return name, None
    return _plain(name[:len(name) - len(end[0])]) or "_", float(end[0])


def _kind(chosen: Mapping[str, Any], found: Mapping[str, str], series: Mapping[str, float]) -> str:
    """Decide between long and wide, or say why the table looks like both."""
    if chosen.get("time") or chosen.get("value") or not series:
        return "long"
    if "time" not in found or "value" not in found:
        return "wide"
    raise InputError(
        f"The table looks both long and wide: {listed([found['time'], found['value']])} would be "
        f"one row per reading, {counted(len(series), 'numbered column')} such as "
        f"{listed(list(series)[:1])} one row per curve.", field="layout",
        hint="Keep one row per reading, or one row per curve, and leave the other columns out.")


def _long(table: Table, chosen: Mapping[str, Any], found: Mapping[str, str], single: bool = False
          ) -> Layout:
    roles: dict[str, str | None] = {role: chosen.get(role, found.get(role)) for role in ROLES}
    covariates = tuple(chosen.get("covariates") or ())
    left = [name for name in table.columns if name not in (*roles.values(), *covariates)]
    lacking = [role for role in _needed(single) if roles[role] is None]
    if len(lacking) == len(left) == 1 and lacking[0] not in chosen:
        roles[lacking[0]], lacking = left[0], []  # the only column left for the only role left
    if lacking:
        raise _lacking(lacking, left, table)
    return Layout(roles["id"], roles["time"], roles["value"], roles["server"], covariates,
                  single=single)


def _needed(single: bool) -> tuple[str, ...]:
    """The columns without which one row per reading cannot be read."""
    return ("time", "value") if single else ("id", "time", "value")


def _lacking(roles: list[str], left: list[str], table: Table) -> InputError:
    """No column plays a role; names that are numbers may be readings, and are not repeated."""
    named, free = ([name for name in names if _numbered(name, table.decimal)[0]]
                   for names in (table.columns, left))
    near = next(filter(None, (nearest(name, free) for name in _SYNONYMS[roles[0]])), "")
    found = f"Found {listed(named, 8)}. " if named else "The first line holds numbers, no names. "
    needed = " or ".join(_WHAT[role] for role in roles)
    return InputError(f"There is no column that says {needed}.", field="layout",
                      hint=f"{found}{near}Name the columns “id”, “time” and “value”, or choose "
                      "which is which.")


def _wide(table: Table, chosen: Mapping[str, Any], found: Mapping[str, str],
          series: Mapping[str, float]) -> Layout:
    if not series:
        raise InputError("No column names say when readings were taken.", field="layout",
                         hint="Name the columns of readings by their times, or number them as in "
                         "x_01, x_02, without repeats.")
    server = chosen.get("server", found.get("server"))
    covariates = tuple(chosen.get("covariates") or ())
    left = [name for name in table.columns if name not in (*series, server, *covariates)]
    usual = found.get("id", left[0] if len(left) == 1 else None)
    return Layout(chosen.get("id", usual), server=server, covariates=covariates,
                  times=tuple(series.items()))


def _check_one_role_each(layout: Layout) -> None:
    twice = next((name for name in layout.columns if layout.columns.count(name) > 1), None)
    if twice:
        raise InputError(f"The column “{shortened(twice)}” has two roles.", field="layout",
                         hint="Choose another column for one of them.")


# -- from rows to curves --------------------------------------------------------------------------


@dataclass
class _Readings:
    """All cells that should hold a reading, in the order of the file, and whose they are.

    `curve`, `times`, `values` (N,) with NaN for missing; `row_curve` (rows,) is the curve of each
    row; `server` and `ids` (n_curves,) describe the curves.
    """

    curve: Integers
    times: Array
    values: Array
    row_curve: Integers
    server: Integers
    ids: tuple[str, ...]
    n_people: int
    columns: dict[str, Numbers]
    notes: list[str]


def read_curves(table: Table, layout: Layout, several: str = "keep", missing: str = "drop"
                ) -> CurveTable:
    """Read the curves of a table.

    Parameters
    ----------
    table : Table
    layout : Layout
        From `suggest_layout`, or chosen by the person.
    several : Where rows of a wide table share an id, "average" makes one curve of each person, so
        that the person is protected; "keep" protects one row only, and notes it.
    missing : "drop" leaves missing readings out, "stop" refuses a table that has any.

    Raises
    ------
    InputError
        If a cell holds no number, a row has no id, somebody has several readings in a layout of
        single ones, or a limit is passed.
    """
    _check_option("several", several, ("keep", "average"))
    _check_option("missing", missing, ("drop", "stop"))
    _check_one_role_each(layout)
    found = _read_wide(table, layout, several) if layout.is_wide else _read_long(table, layout)
    _check_limits(found)
    if missing == "stop":
        _refuse_missing(found.columns)
    return _assembled(table, layout, found)


def _check_option(name: str, value: str, options: tuple[str, ...]) -> None:
    if value not in options:
        raise InputError(f"“{name}” must be one of {', '.join(options)}.", field=name)


def _read_long(table: Table, layout: Layout) -> _Readings:
    lacking = [role for role in _needed(layout.single) if getattr(layout, role) is None]
    if lacking:
        raise _lacking(lacking, [c for c in table.columns if c not in layout.columns], table)
    columns = _numbers(table, [str(layout.time), str(layout.value)])
    time, value = columns.values()
    notes: list[str] = []
    curve, server, ids = people_of(table, layout.id, layout.server, notes)
    return _Readings(curve, time.values, value.values, curve, server, ids, len(ids), columns, notes)


def _read_wide(table: Table, layout: Layout, several: str) -> _Readings:
    columns = _numbers(table, [name for name, _ in layout.times])
    cells = np.column_stack([column.values for column in columns.values()])
    notes: list[str] = []
    person, server, ids = people_of(table, layout.id, layout.server, notes)
    row_curve, n_people = person, len(ids)
    if n_people < len(cells):
        notes.append(_several_rows(np.bincount(person), several))
        if several == "average":
            cells = _averaged(cells, person, n_people)
        else:
            row_curve, server = np.arange(len(cells)), server[person]
            ids = tuple(ids[k] for k in person)
    n_curves, n_times = cells.shape
    return _Readings(np.repeat(np.arange(n_curves), n_times),
                     np.tile([time for _, time in layout.times], n_curves), cells.ravel(),
                     row_curve, server, ids, n_people, columns, notes)


def _several_rows(rows: Integers, several: str) -> str:
    start = f"{(rows > 1).sum():,} of {len(rows):,} people have several rows"
    if several == "average":
        return f"{start}: they were averaged, so that one person is protected"
    return f"{start}: one row is protected, not one person"


def _averaged(cells: Array, group: Integers, n_groups: int) -> Array:
    """The average of the rows of each group (n_groups, columns), of the readings there are."""
    known = np.isfinite(cells)
    number = np.zeros((n_groups, cells.shape[1]))
    np.add.at(number, group, known)
    shares = np.where(known, cells, 0.0) / np.maximum(number, 1)[group]  # a sum could overflow
    total = np.zeros_like(number)
    np.add.at(total, group, shares)
    return np.where(number > 0, total, np.nan)


def people_of(table: Table, id_column: str | None, site_column: str | None, notes: list[str]
              ) -> tuple[Integers, Integers, tuple[str, ...]]:
    """Person of each row (rows,), server and id of each person, in order of appearance.

    Without a column of ids every row is another person; without one of sites there is one site.
    Sites number their people independently: the same id at two sites is two people.
    """
    if id_column is None:
        person = np.arange(table.n_rows)
        ids = tuple(f"row {place}" for place in range(1, table.n_rows + 1))
        notes.append("no column names the people: every row is taken for another person")
    else:
        person, ids = named(table, id_column)
    if site_column is None:
        return person, np.zeros(len(ids), dtype=np.int64), ids
    site, sites = named(table, site_column)
    site = np.argsort(np.argsort(sites))[site]  # by name, whatever the order of rows
    keys, first, person = np.unique(person * len(sites) + site, return_index=True,
                                    return_inverse=True)
    order = np.argsort(first)
    at_sites = keys[order] // len(sites)
    if len(keys) > len(ids):
        notes.append(f"{counted(len(keys) - len(ids), 'id')} at more than one site: taken for "
                     "different people")
    return (np.argsort(order)[person], keys[order] % len(sites), tuple(ids[k] for k in at_sites))


def named(table: Table, column: str) -> tuple[Integers, tuple[str, ...]]:
    """Codes and texts of a column in which no cell may be blank."""
    codes, texts = table.codes(table.find(column))
    if "" in texts:
        blank = int((codes == texts.index("")).sum())
        raise InputError(f"{counted(blank, 'row')} of column “{shortened(column)}” "
                         f"{'is' if blank == 1 else 'are'} blank.", field=column,
                         hint="Fill them in or leave those rows out: rows that cannot be told "
                         "apart cannot be protected.")
    return codes, texts


def _numbers(table: Table, names: list[str]) -> dict[str, Numbers]:
    """Columns of numbers; other cells are refused with their count."""
    columns = {name: table.numbers(table.find(name)) for name in names}
    bad = {name: column.unreadable for name, column in columns.items() if column.unreadable}
    if bad:
        raise _no_number(bad, columns[next(iter(bad))].advice)
    return columns


def _no_number(bad: Mapping[str, int], hint: str) -> InputError:
    total, names = sum(bad.values()), list(bad)
    verb = "holds" if total == 1 else "hold"
    if len(names) == 1:
        message = f"{counted(total, 'row')} of column “{shortened(names[0])}” {verb} no number."
    else:
        message = f"{counted(total, 'cell')} of columns {listed(names)} {verb} no number."
    return InputError(message, field=names[0], hint=hint)


def _refuse_missing(columns: Mapping[str, Numbers]) -> None:
    bad = {name: c.missing + c.infinite for name, c in columns.items() if c.missing + c.infinite}
    if bad:
        raise _no_number(bad, "Fill them in, or choose to leave missing readings out.")


def _check_limits(found: _Readings) -> None:
    if len(found.server) > MOST_CURVES:
        raise InputError(f"There are {len(found.server):,} curves; at most {MOST_CURVES:,} are "
                         "read.", field="id", hint="Take a part of them, or check which column "
                         "says who a row belongs to.")
    if np.bincount(found.curve).max() > MOST_POINTS:
        raise InputError(f"A curve has more than {MOST_POINTS:,} readings.", field="time",
                         hint="Thin the readings of long curves, or check which column says who a "
                         "row belongs to.")


# -- curves in their public order -----------------------------------------------------------------


def _assembled(table: Table, layout: Layout, found: _Readings) -> CurveTable:
    """Leave missing readings out, put curves and readings in order, and note what was seen."""
    known = np.isfinite(found.times) & np.isfinite(found.values)
    if not known.any():
        raise InputError("No row has both a time and a value.", field="value",
                         hint="Check which columns hold them.")
    order = public_order(found.server)
    place = np.argsort(order)
    curve, times, values = _sorted(place[found.curve[known]], found.times[known],
                                   found.values[known])
    counts = np.bincount(curve, minlength=len(order)).astype(np.int64)
    if layout.single:
        _check_single(counts)
    covariates = _covariates(table, layout, found)[order]
    repeated = int(((np.diff(curve) == 0) & (np.diff(times) == 0)).sum())
    notes = (*table.notes, *_read_as(table, layout), *found.notes,
             *_left_out(found.columns, int((~known).sum()), layout.single),
             *(_seen_single(times, values) if layout.single else
               _seen(times, values, counts, covariates, repeated)))
    server = found.server[order]
    for array in (times, values, counts, server, covariates):
        array.flags.writeable = False
    return CurveTable(
        times, values, counts, server, covariates, layout.covariates, notes,
        ids=tuple(found.ids[k] for k in order), n_people=found.n_people,
        server_names=tuple(sorted(named(table, layout.server)[1])) if layout.server else (),
        header_times=tuple(time for _, time in layout.times))


def public_order(server: Integers) -> Integers:
    """The curves server by server, shuffled within each by a seed that everybody knows.

    The order decides who shares a round. File order may follow the data (sorted by age, say), and
    rounds would then see different kinds of people; an order that depends on the data would break
    the proof that a curve takes part in one round. This one depends on public sizes alone, and
    replacing a curve moves no other.
    """
    shuffled = np.random.default_rng(_PUBLIC_SEED).permutation(len(server))
    return shuffled[np.argsort(server[shuffled], kind="stable")]


def _sorted(curve: Integers, times: Array, values: Array) -> tuple[Integers, Array, Array]:
    """Readings by curve and by time within each."""
    by_time = np.argsort(times)
    small = curve.max(initial=0) < 2**16  # then numpy sorts by radix, several times faster
    by_curve = np.argsort(curve[by_time].astype(np.uint16 if small else np.int64), kind="stable")
    order = by_time[by_curve]
    return curve[order], times[order], values[order]


def _covariates(table: Table, layout: Layout, found: _Readings) -> Array:
    """One value for each curve and covariate (n_curves, d); NaN where a curve has none."""
    out = np.empty((len(found.server), len(layout.covariates)))
    for k, name in enumerate(layout.covariates):
        out[:, k] = _one_per_curve(name, numbers_or_words(table, name, found.notes), found)
    return out


def numbers_or_words(table: Table, name: str, notes: list[str], what: str = "the covariate"
                     ) -> Array:
    """A column (rows,): its numbers, or 0 and 1 for a known pair of words, which is noted.

    Raises
    ------
    InputError
        If it holds other text; `what` says there what the column is.
    """
    column = table.numbers(table.find(name))
    if not column.unreadable:
        return column.values
    codes, texts = table.codes(table.find(name))
    words = [text.casefold() for text in texts]
    pair = next((pair for pair in _ZERO_ONE if {*words} <= {*pair, *MISSING}), None)
    if pair is None:
        raise InputError(
            f"{counted(column.unreadable, 'row')} of {what} “{shortened(name)}” "
            f"{'holds' if column.unreadable == 1 else 'hold'} text.", field="covariates",
            hint=f"{column.advice} For kinds, make a column of 0 and 1 for each kind but one.")
    notes.append(f"“{shortened(name)}”: “{pair[0]}” is read as 0 and “{pair[1]}” as 1")
    numbers = dict(zip(pair, (0.0, 1.0), strict=True))
    return np.array([numbers.get(word, np.nan) for word in words])[codes]


def _one_per_curve(name: str, values: Array, found: _Readings) -> Array:
    known = np.isfinite(values)
    low, high = np.full(len(found.server), np.inf), np.full(len(found.server), -np.inf)
    np.minimum.at(low, found.row_curve[known], values[known])
    np.maximum.at(high, found.row_curve[known], values[known])
    changing = int((low < high).sum())
    if changing:
        raise InputError(f"The covariate “{shortened(name)}” changes within "
                         f"{counted(changing, 'curve')}.", field="covariates",
                         hint="A covariate has one value for each curve; choose another column.")
    return np.where(np.isfinite(low), low, np.nan)


def _read_as(table: Table, layout: Layout) -> list[str]:
    notes = [KINDS["wide" if layout.is_wide else "long"]]
    if layout.is_wide:
        notes.append(f"times are the numbers in the names of {len(layout.times)} columns such as "
                     f"{listed([layout.times[0][0]])}")
    unused = [column for column in table.columns if column not in layout.columns]
    return notes + ([f"not used: {listed(unused)}"] if unused else [])


def _left_out(columns: Mapping[str, Numbers], n_left_out: int, single: bool) -> list[str]:
    """What was missing; that a curve has fewer readings is public, single ones stay counted."""
    if not n_left_out:
        return []
    where = [name for name, column in columns.items() if column.missing + column.infinite]
    infinite = sum(column.infinite for column in columns.values())
    what, then = "left out", "how many readings a curve has is treated as public"
    if single:
        what, then = "missing", "their people count, with the middle of the stated bounds"
    return [f"{counted(n_left_out, 'reading')} {what}, because cells of {listed(where)} hold no "
            "number" + (f" ({infinite:,} infinite)" if infinite else "") + f"; {then}"]


def _seen(times: Array, values: Array, counts: Integers, covariates: Array, repeated: int
          ) -> list[str]:
    """What a person should know before they believe a picture; counts only."""
    used = counts[counts > 0]
    without = int(np.isnan(covariates).any(axis=1).sum())
    applies = {
        f"{counted(len(counts) - len(used), 'curve')} without a reading, still counted as people":
            len(used) < len(counts),
        f"{counted(repeated, 'reading')} at the same time as another of the same curve": repeated,
        f"{counted(without, 'curve')} without a value of a covariate: still counted, left out of "
        "coefficients": without,
        "only one curve: nothing can be averaged": len(counts) == 1,
        "one reading per curve: the average can be estimated, spread within a curve cannot":
            used.max() == 1,
        "all readings at the same time: only that point can be estimated": times.min() ==
            times.max(),
        "all readings are equal: the curves show no variation": values.min() == values.max(),
        "some curves have over ten times as many readings as the median curve; each curve counts "
        "the same": used.max() > _RAGGED * np.median(used),
    }
    return [note for note, holds in applies.items() if holds]


def _seen_single(times: Array, values: Array) -> list[str]:
    """The same of single readings."""
    applies = {
        "only one reading": len(values) == 1,
        "all readings at the same time: only that point can be estimated": times.min() ==
            times.max(),
        "all readings are equal": values.min() == values.max()}
    return [note for note, holds in applies.items() if holds]
