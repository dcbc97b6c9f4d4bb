"""Dates, clock times and percentages in cells, as numbers.

A date is a number of years (1 July 2024 is 2024.497), of days since a day that is stated, the time
of day alone, or time since the first observation of the same person; a clock time is a time of day
or an elapsed time, in hours unless stated otherwise; of a percentage the sign goes. None of it
depends on the rows of other people, but for one thing: whether 3/4/2024 is a day in March or in
April. Where every date of a column can be either, the column is not read before somebody has said
which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.types import Array

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_CLOCK = (r"(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])"
          r"(?::(?P<second>[0-5][0-9](?:\.[0-9]{1,9})?))?(?:\s*(?P<half>am|pm))?")
_ELAPSED = (r"(?P<hour>[0-9]{1,4}):(?P<minute>[0-5][0-9])"
            r"(?::(?P<second>[0-5][0-9](?:\.[0-9]{1,9})?))?")
_TAIL = rf"(?:[t ]\s*{_CLOCK}z?)?$"
_ISO = rf"^(?P<year>[0-9]{{4}})[-/](?P<month>[0-9]{{1,2}})[-/](?P<day>[0-9]{{1,2}}){_TAIL}"
_DOTTED = rf"^(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.(?P<year>[0-9]{{4}}){_TAIL}"
_SLASHED = (r"^(?P<first>[0-9]{1,2})[/-](?P<other>[0-9]{1,2})[/-](?P<year>[0-9]{4})" + _TAIL)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = (rf"^(?P<day>[0-9]{{1,2}})[ -]?(?P<word>{'|'.join(_MONTHS)})"
          r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?[ -]?(?P<year>[0-9]{4})"
          rf"(?:[t :]\s*{_CLOCK})?$")
_IN_NAMES = re.compile(r"[0-9]{4}[-/][0-9]|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}|[0-9]{1,2}:[0-9]{2}")

ASK = ("They may be day/month/year or month/day/year: say which, or write them as 2024-03-31.")
HOURS_IN = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0, "days": 24.0, "weeks": 168.0,
            "years": 24 * 365.25}
"""Units of time since a first observation, in hours."""
ZERO_ONE = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "m"), ("female", "male"),
            ("control", "treated"))
"""Words for 0 and 1, the same whatever a file holds."""
UNITS_OF_DAY = ("hours", "minutes", "seconds")
COMPACT_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3])[0-5][0-9]")
"""A clock time without a colon; other numbers have four digits, too."""
_LEAST_STEP = 5  # minutes between clock times without a colon, which might be ids otherwise
_FEW_TIMES = 4  # from which equal distances are no chance
_MANY_TIMES, _MANY_HOURS = 30, 10  # of which none has minutes beyond 59
_SAMPLE = 2000  # cells from which the kind is told
PERCENT = "percent signs left out: 12 % is 12"
_HALF_PAST_ONE = {"hours": "13.5", "minutes": "810", "seconds": "48600"}
_HOUR_FORTY = {"hours": "1.667", "minutes": "100", "seconds": "6000"}


class Kind(Enumeration):
    """What cells that become numbers hold."""

    DATES = "dates"
    CLOCK = "clock"
    PERCENTAGES = "percentages"


@dataclass(frozen=True)
class Dates:
    """How dates and clock times of a file are read.

    Dates are calendar years and clock times are hours since midnight, unless one of `since`,
    `from_first`, `of_day` and `elapsed` is given.

    Parameters
    ----------
    day_first : bool or None
        Whether 3/4/2024 is a day of April; None where nobody has said.
    since : str
        A day such as "2024-01-01" from which days are counted.
    from_first : str
        One of `HOURS_IN` where time is counted from each person's first observation. Until then
        times are counted from one moment for all; `engine.uploads.curves` takes the first ones off.
    of_day : str
        One of `UNITS_OF_DAY` where the time of day counts alone, whatever the date.
    elapsed : str
        One of `UNITS_OF_DAY` where cells such as 1:40:00 are elapsed times; they may pass 24 hours.

    Raises
    ------
    InputError
        If `since` is no day, a unit is none of those, or two are given.
    """

    day_first: bool | None = None
    since: str = ""
    from_first: str = ""
    of_day: str = ""
    elapsed: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.since, self.from_first, self.of_day, self.elapsed))) > 1:
            raise InputError("Time is counted from one beginning: a day, each person’s first "
                             "observation, midnight, or the start of elapsed times.",
                             field="from_first")
        for name, unit, units in (("from_first", self.from_first, tuple(HOURS_IN)),
                                  ("of_day", self.of_day, UNITS_OF_DAY),
                                  ("elapsed", self.elapsed, UNITS_OF_DAY)):
            if unit and unit not in units:
                raise InputError(f"{_MEASURED[name]} is in {', '.join(units)}.", field=name)
        if self.since and not (re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", self.since)
                               and np.isfinite(_read(_ISO, pa.array([self.since]), Dates())[0])):
            raise InputError("Days must be counted from a date such as 2024-01-31.",
                             field="since", hint="Leave it empty for calendar years.")

    @property
    def words(self) -> str:
        """What a date becomes."""
        if self.from_first:
            return f"dates read as {self.from_first} since each person’s first observation"
        if self.of_day:
            return (f"dates read as the time of day, in {self.of_day}: 2024-03-11 13:30 is "
                    f"{_HALF_PAST_ONE[self.of_day]}")
        return (f"dates read as days since {self.since}" if self.since else
                "dates read as calendar years: 1 July 2024 is 2024.497")

    @property
    def clock_words(self) -> str:
        """What a clock time becomes."""
        if self.from_first:
            return f"clock times read as {self.from_first} since each person’s first observation"
        if self.elapsed:
            return (f"elapsed times read as {self.elapsed}: 1:40:00 and 1:40 are "
                    f"{_HOUR_FORTY[self.elapsed]}")
        unit = self.unit_of(Kind.CLOCK)
        return f"clock times read as {unit} since midnight: 13:30 is {_HALF_PAST_ONE[unit]}"

    @property
    def is_calendar(self) -> bool:
        """Whether dates are those of the calendar, or nobody said anything else."""
        return not (self.since or self.from_first or self.of_day or self.elapsed)

    @property
    def of_other_columns(self) -> Dates:
        """How dates are read in columns that do not say when an observation was made."""
        return Dates(self.day_first, self.since)

    def unit_of(self, kind: str) -> str:
        """The unit of the numbers that times become: one of `HOURS_IN`, or "" of plain numbers.

        Parameters
        ----------
        kind : str
            One of `Kind`.
        """
        if kind not in (Kind.DATES, Kind.CLOCK):
            return ""
        default = "hours" if kind == Kind.CLOCK else "days" if self.since else "years"
        return self.from_first or self.of_day or (
            self.elapsed if kind == Kind.CLOCK else "") or default


_MEASURED = {"from_first": "Time from the first observation", "of_day": "The time of day",
             "elapsed": "Elapsed time"}
CALENDAR = Dates()  # years, and nobody has said whether days come first


def with_colons(names: Sequence[str]) -> dict[str, str]:
    """Names of columns that are clock times without a colon, such as 0830, with one: 08:30.

    They are no numbers if one begins with 0 and they are equally far apart as clock times.

    Parameters
    ----------
    names : sequence of str
        Of all columns.
    """
    clock = [name for name in names if COMPACT_CLOCK.fullmatch(name)]
    minutes = np.array([60 * int(name[:2]) + int(name[2:]) for name in clock])
    steps = np.diff(minutes)
    if len(clock) < 3 or not any(name[0] == "0" for name in clock) or (
            steps.min() != steps.max() or steps[0] < _LEAST_STEP):
        return {}
    return {name: f"{name[:2]}:{name[2:]}" for name in clock}


def _are_compact_clock_times(known: Array) -> bool:
    """Whether whole numbers are clock times: equally far apart as such alone, or many of them."""
    if known.min() < 0 or known.max() > 2400 or (known % 100 >= 60).any():
        return False
    distinct = np.unique(known)
    if len(distinct) < _FEW_TIMES:
        return False
    hours, minutes = np.divmod(distinct, 100)
    steps, as_numbers = np.diff(60 * hours + minutes), np.diff(distinct)
    n_hours = len(np.unique(hours))
    is_regular = steps.min() == steps.max() and as_numbers.min() != as_numbers.max() and (
        n_hours > 2 or distinct[0] >= 100)  # 0, 10, …, 50, 100 may be minutes
    return bool(is_regular or (len(distinct) >= _MANY_TIMES and (minutes % 50 != 0).any()
                               and n_hours >= _MANY_HOURS))


def check_not_compact(numbers: Array, column: str) -> None:
    """Refuse dates without dashes, such as 20240131, and clock times without a colon: 0830.

    As numbers their distances mean nothing.

    Parameters
    ----------
    numbers : (N,)
        Times; what is no number is NaN.
    column : str
        Which holds them.

    Raises
    ------
    InputError
        If every number is such a date, or they look like such clock times.
    """
    known = numbers[np.isfinite(numbers)]
    if not len(known) or not (known == np.floor(known)).all():
        return
    if _are_compact_clock_times(known):
        raise InputError(f"The times of column “{shortened(column)}” look like clock times without "
                         "a colon.", field="time", hint="Write 0830 as 08:30: read as numbers, one "
                         "o’clock would be 41 away from a minute before.")
    if not ((known >= 19000101) & (known <= 21001231)).all():
        return
    month, day = known // 100 % 100, known % 100
    if ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
        raise InputError(f"The times of column “{shortened(column)}” look like dates without "
                         "dashes.", field="dates", hint="Write 19990131 as 1999-01-31: read as "
                         "numbers, the last day of a month would be 70 away from the next one.")


class Converted(NamedTuple):
    """Cells as numbers (rows,), NaN where a cell is of another kind; how, and what to ask."""

    values: Array
    words: str
    kind: Kind
    advice: str = ""


def converted(text: pa.Array, dates: Dates) -> Converted | None:
    """Read cells that hold dates, clock times or percentages; None if most hold none of them.

    Parameters
    ----------
    text : (rows,)
        In lower case, without blanks at the ends, with points in its decimals; null where a cell
        is missing.

    Returns
    -------
    Converted or None
        Of the kind that most cells are of.
    """
    start = pc.drop_null(text).slice(0, _SAMPLE)  # a pass over all cells takes a second
    fitting = [int(np.isfinite(kind(start, dates).values).sum()) for kind in _KINDS]
    best = int(np.argmax(fitting))
    return _KINDS[best](text, dates) if 2 * fitting[best] > len(start) else None


def time_in_name(name: str, dates: Dates) -> float | None:
    """The number of a date or clock time that a column is called by; None of any other name."""
    read = _of_name(name, dates)
    return None if read is None else float(read.values[0])


def kind_of_name(name: str) -> str:
    """One of `Kind` for a column that is called by a date or clock time, "" for any other name."""
    read = _of_name(name, CALENDAR)
    return "" if read is None else read.kind


def _of_name(name: str, dates: Dates) -> Converted | None:
    return (converted(pa.array([name.strip().lower()]), dates)
            if _IN_NAMES.match(name.strip()) else None)


def _percentages(text: pa.Array, dates: Dates) -> Converted:
    plain = pc.replace_substring_regex(text, rf"^({_NUMBER})\s*%$", r"\1")
    is_one = pc.and_(pc.match_substring(text, "%"), pc.invert(pc.match_substring(plain, "%")))
    return Converted(_floats(pc.if_else(is_one, plain, None)), PERCENT, Kind.PERCENTAGES)


def _clock_times(text: pa.Array, dates: Dates) -> Converted:
    pattern = _ELAPSED if dates.elapsed else _CLOCK
    return Converted(_read(f"^{pattern}$", text, dates), dates.clock_words, Kind.CLOCK)


def _iso(text: pa.Array, dates: Dates) -> Converted:
    in_utc = pc.any(pc.match_substring_regex(text, "[0-9]z$")).as_py()
    return Converted(_read(_ISO, text, dates), dates.words + bool(in_utc) * (
        "; where Z stands behind them they stay in UTC"), Kind.DATES)


def _dotted(text: pa.Array, dates: Dates) -> Converted:
    return Converted(_read(_DOTTED, text, dates), f"day.month.year: {dates.words}", Kind.DATES)


def _named(text: pa.Array, dates: Dates) -> Converted:
    """Dates with the English name of a month, as SAS writes them: 01JAN2020, 1 March 2024."""
    return Converted(_read(_NAMED, text, dates), f"day, month, year: {dates.words}", Kind.DATES)


def _slashed(text: pa.Array, dates: Dates) -> Converted:
    """Dates whose first number is the day or the month, as was said or as only one order allows."""
    orders = {order: _read(_SLASHED, text, dates, order) for order in (True, False)}
    words = {True: f"day/month/year: {dates.words}", False: f"month/day/year: {dates.words}"}
    if dates.day_first is not None:
        return Converted(orders[dates.day_first], words[dates.day_first], Kind.DATES)
    by_day, by_month = (np.isfinite(orders[order]) for order in (True, False))
    if (by_day == by_month).all():  # each of them can be either
        return Converted(orders[True], "", Kind.DATES, ASK if by_day.any() else "")
    order = bool(by_day.sum() > by_month.sum())
    return Converted(orders[order], words[order], Kind.DATES)


_KINDS = (_percentages, _clock_times, _iso, _dotted, _slashed, _named)


def _read(pattern: str, text: pa.Array, dates: Dates, day_first: bool = True) -> Array:
    """Times of the cells that a pattern fits (rows,); NaN of the others, and of no real day."""
    groups = pc.extract_regex(text, pattern)
    fits = np.asarray(groups.is_valid())
    parts = {name.name: _whole(groups, name.name) for name in groups.type}
    half = _halves(groups)
    hour = parts["hour"]
    wrong = (half != "") & ((hour < 1) | (hour > 12))
    hour = np.where(half == "pm", hour % 12 + 12, np.where(half == "am", hour % 12, hour))
    hours = hour + parts["minute"] / 60 + parts["second"] / 3600
    fits &= ~wrong & ((hours <= 24) | bool(dates.elapsed))
    if "year" not in parts:
        return np.where(fits, hours / HOURS_IN[dates.unit_of(Kind.CLOCK)], np.nan)
    if "word" in parts:
        months = pc.index_in(pc.struct_field(groups, "word"), value_set=pa.array(_MONTHS))
        parts["month"] = _floats(months.fill_null(0)) + 1
    if "first" in parts:
        names = ("first", "other") if day_first else ("other", "first")
        parts["day"], parts["month"] = (parts[name] for name in names)
    return np.where(fits, _of_calendar(parts, hours, dates), np.nan)


def _of_calendar(parts: dict[str, Array], hours: Array, dates: Dates) -> Array:
    """Years, or time since a day that is the same for all; NaN where a month has no such day."""
    year, month, day = (parts[name].astype(np.int64) for name in ("year", "month", "day"))
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    first, following = _days(months), _days(months + 1)
    date = first + day - 1
    is_real = (month >= 1) & (month <= 12) & (day >= 1) & (date < following)
    if dates.of_day:
        return np.where(is_real, hours / HOURS_IN[dates.of_day], np.nan)
    if dates.from_first:
        return np.where(is_real, (24 * date + hours) / HOURS_IN[dates.from_first], np.nan)
    if dates.since:
        days = date - _days(np.datetime64(dates.since)) + hours / 24
        return np.where(is_real, days, np.nan)
    years = (year - 1970).astype("datetime64[Y]")
    begin = _days(years)
    share = (date - begin + hours / 24) / (_days(years + 1) - begin)
    return np.where(is_real, year + share, np.nan)


def _days(moments: NDArray[np.datetime64] | np.datetime64) -> NDArray[np.int64]:
    return np.asarray(moments).astype("datetime64[D]").astype(np.int64)


def _halves(groups: pa.Array) -> NDArray[np.object_]:
    """“am” or “pm” of every cell; "" where neither stands, or can stand."""
    if not len(groups) or groups.type.get_field_index("half") < 0:
        return np.full(len(groups), "", dtype=object)
    return np.asarray(pc.struct_field(groups, "half").fill_null(""))


def _whole(groups: pa.Array, name: str) -> Array:
    """One part of every cell as a number; 0 where there is none."""
    if name in ("half", "word"):
        return np.zeros(len(groups))
    part = pc.struct_field(groups, name).fill_null("0")
    return _floats(pc.if_else(pc.equal(part, ""), "0", part))


def _floats(text: pa.Array) -> Array:
    return np.asarray(pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
