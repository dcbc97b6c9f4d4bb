"""Dates, clock times and percentages in cells, as numbers.

A date is a number of years (1 July 2024 is 2024.497), of days since a day that is stated, or of
days, weeks or years since the first observation of the same person; a clock time is hours since
midnight; of a percentage the sign goes. None of it depends on the rows of other people, but for one
thing: whether 3/4/2024 is a day in March or in April. Where every date of a column can be either,
the column is not read before somebody has said which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.types import Array

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_CLOCK = (r"(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])"
          r"(?::(?P<second>[0-5][0-9](?:\.[0-9]{1,9})?))?(?:\s*(?P<half>am|pm))?")
_TAIL = rf"(?:[t ]\s*{_CLOCK}z?)?$"
_ISO = rf"^(?P<year>[0-9]{{4}})-(?P<month>[0-9]{{1,2}})-(?P<day>[0-9]{{1,2}}){_TAIL}"
_DOTTED = rf"^(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.(?P<year>[0-9]{{4}}){_TAIL}"
_SLASHED = (r"^(?P<first>[0-9]{1,2})[/-](?P<other>[0-9]{1,2})[/-](?P<year>[0-9]{4})" + _TAIL)
_IN_NAMES = re.compile(r"[0-9]{4}-[0-9]|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}|[0-9]{1,2}:[0-9]{2}")

ASK = ("They may be day/month/year or month/day/year: say which, or write them as 2024-03-31.")
UNITS = {"days": 1.0, "weeks": 7.0, "years": 365.25}  # in days
_SAMPLE = 2000  # cells from which the kind is told
PERCENT = "percent signs left out: 12 % is 12"
CLOCK = "clock times read as hours since midnight: 13:30 is 13.5"


@dataclass(frozen=True)
class Dates:
    """How dates of a file are read.

    Parameters
    ----------
    day_first : bool or None
        Whether 3/4/2024 is a day of April; None where nobody has said.
    since : str
        A day such as "2024-01-01" from which days are counted; "" for calendar years.
    from_first : str
        One of `UNITS` where time is counted from each person's first observation. Until then dates
        are counted from one day for all (`engine.uploads.curves` takes the first ones off).

    Raises
    ------
    InputError
        If `since` is no day, `from_first` no unit, or both are given.
    """

    day_first: bool | None = None
    since: str = ""
    from_first: str = ""

    def __post_init__(self) -> None:
        if self.from_first and (self.from_first not in UNITS or self.since):
            raise InputError(f"Time from the first observation is in {', '.join(UNITS)}, and from "
                             "no other day.", field="from_first")
        if self.since and not (re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", self.since)
                               and np.isfinite(_read(_ISO, pa.array([self.since]), Dates())[0])):
            raise InputError("Days must be counted from a date such as 2024-01-31.",
                             field="since", hint="Leave it empty for calendar years.")

    @property
    def words(self) -> str:
        """What a date becomes."""
        if self.from_first:
            return f"dates read as {self.from_first} since each person’s first observation"
        return (f"dates read as days since {self.since}" if self.since else
                "dates read as calendar years: 1 July 2024 is 2024.497")


CALENDAR = Dates()  # years, and nobody has said whether days come first


class Converted(NamedTuple):
    """Cells as numbers (rows,), NaN where a cell is of another kind; how, and what to ask."""

    values: Array
    words: str
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
    """The number of a date or clock time that a column is called by; None of any other name.

    Parameters
    ----------
    name : str
    """
    if not _IN_NAMES.match(name.strip()):
        return None
    read = converted(pa.array([name.strip().lower()]), dates)
    return None if read is None else float(read.values[0])


def _percentages(text: pa.Array, dates: Dates) -> Converted:
    plain = pc.replace_substring_regex(text, rf"^({_NUMBER})\s*%$", r"\1")
    is_one = pc.and_(pc.match_substring(text, "%"), pc.invert(pc.match_substring(plain, "%")))
    return Converted(_floats(pc.if_else(is_one, plain, None)), PERCENT)


def _clock_times(text: pa.Array, dates: Dates) -> Converted:
    return Converted(_read(rf"^{_CLOCK}$", text, dates), CLOCK)


def _iso(text: pa.Array, dates: Dates) -> Converted:
    return Converted(_read(_ISO, text, dates), dates.words)


def _dotted(text: pa.Array, dates: Dates) -> Converted:
    return Converted(_read(_DOTTED, text, dates), f"day.month.year: {dates.words}")


def _slashed(text: pa.Array, dates: Dates) -> Converted:
    """Dates whose first number is the day or the month, as was said or as only one order allows."""
    orders = {order: _read(_SLASHED, text, dates, order) for order in (True, False)}
    words = {True: f"day/month/year: {dates.words}", False: f"month/day/year: {dates.words}"}
    if dates.day_first is not None:
        return Converted(orders[dates.day_first], words[dates.day_first])
    by_day, by_month = (np.isfinite(orders[order]) for order in (True, False))
    if (by_day == by_month).all():  # each of them can be either
        return Converted(orders[True], "", ASK if by_day.any() else "")
    order = bool(by_day.sum() > by_month.sum())
    return Converted(orders[order], words[order])


_KINDS = (_percentages, _clock_times, _iso, _dotted, _slashed)


def _read(pattern: str, text: pa.Array, dates: Dates, day_first: bool = True) -> Array:
    """Times of the cells that a pattern fits (rows,); NaN of the others, and of no real day."""
    groups = pc.extract_regex(text, pattern)
    fits = np.asarray(groups.is_valid())
    parts = {name.name: _whole(groups, name.name) for name in groups.type}
    half = np.asarray(pc.struct_field(groups, "half").fill_null("")) if len(fits) else np.array([])
    hour = parts["hour"]
    wrong = (half != "") & ((hour < 1) | (hour > 12))
    hour = np.where(half == "pm", hour % 12 + 12, np.where(half == "am", hour % 12, hour))
    hours = hour + parts["minute"] / 60 + parts["second"] / 3600
    fits &= ~wrong & (hours <= 24)
    if "year" not in parts:
        return np.where(fits, hours, np.nan)
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
    if dates.from_first:
        return np.where(is_real, (date + hours / 24) / UNITS[dates.from_first], np.nan)
    if dates.since:
        days = date - _days(np.datetime64(dates.since)) + hours / 24
        return np.where(is_real, days, np.nan)
    years = (year - 1970).astype("datetime64[Y]")
    begin = _days(years)
    share = (date - begin + hours / 24) / (_days(years + 1) - begin)
    return np.where(is_real, year + share, np.nan)


def _days(moments: NDArray[np.datetime64] | np.datetime64) -> NDArray[np.int64]:
    return np.asarray(moments).astype("datetime64[D]").astype(np.int64)


def _whole(groups: pa.Array, name: str) -> Array:
    """One part of every cell as a number; 0 where there is none."""
    if name == "half":
        return np.zeros(len(groups))
    part = pc.struct_field(groups, name).fill_null("0")
    return _floats(pc.if_else(pc.equal(part, ""), "0", part))


def _floats(text: pa.Array) -> Array:
    return np.asarray(pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
