"""A cell becomes a number, a moment or a word by the entry of its column and nothing else.

Each function takes the cells of one column and gives, for each by itself, its value, NaN where it
is missing, and if it is unreadable. Cells are read all at once for speed; that none changes another
is tested cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.types import Array
from engine.uploads.ids import IdForm, canonical_texts
from engine.uploads.reading_of_files import DAY, FIRST, Column, Kind, Offset, Order, Reading

HOURS_IN = {
    "seconds": 1 / 3600,
    "minutes": 1 / 60,
    "hours": 1.0,
    "days": 24.0,
    "weeks": 168.0,
    "years": 24 * 365.25,
}
"""Units of time, in hours."""

MINUS = "\N{MINUS SIGN}"
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_INFINITE = r"[+-]?inf(?:inity)?"
_CLOCK = (
    r"(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9](?:\.[0-9]{1,9})?))?(?:\s*(?P<half>[ap])\.?m\.?)?"
)
_ELAPSED = (
    r"(?P<hour>[0-9]{1,4}):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9](?:\.[0-9]{1,9})?))?"
)
_OFFSET = r"(?:\s*(?P<offset>z|utc|gmt|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}))?"
_TAIL = rf"(?:(?:t|:|,?\s)\s*{_CLOCK}{_OFFSET})?$"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    rf"(?P<word>{'|'.join(_MONTHS)})"
    r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
)
_YEAR = r"(?P<year>[0-9]{4})"
_YEAR_FIRST = rf"^{_YEAR}[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}}){_TAIL}"
_FORMS = {  # which dates each order reads; a year of four digits in front is the same in all
    Order.YMD: (_YEAR_FIRST,),
    Order.DMY: (
        rf"^(?P<day>[0-9]{{1,2}})[-/.](?P<month>[0-9]{{1,2}})[-/.]{_YEAR}{_TAIL}",
        _YEAR_FIRST,
        rf"^(?P<day>[0-9]{{1,2}})[- .]*{_MONTH}[- ,]*{_YEAR}{_TAIL}",
    ),
    Order.MDY: (
        rf"^(?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}})[-/.]{_YEAR}{_TAIL}",
        _YEAR_FIRST,
        rf"^{_MONTH}[- ]*(?P<day>[0-9]{{1,2}})[ ,]+{_YEAR}{_TAIL}",
    ),
}
_UNIX = {Order.UNIX: 3600.0, Order.UNIX_MILLISECONDS: 3.6e6}  # so many are an hour
_LAST_HOUR = 24.0 * 365.25 * 10_000  # of the year 11970: no date is beyond

Flags = NDArray[np.bool_]


class NumericCells(NamedTuple):
    """Cells as numbers (lines,): NaN where missing or unreadable."""

    values: Array
    unreadable: Flags


def read_cells(texts: Sequence[pa.Array], column: Column, reading: Reading) -> NumericCells:
    """Read the cells of a column, or of a date and its clock time, each by itself.

    Dates and clock times are in the unit of what they count; those since a first observation count
    from a moment that is the same for all, until records are made. Words are the places of their
    meanings among `meanings(column)`, −1 for other texts that are censored, NaN for those that are
    missing and −2 for those that are left out.
    """
    if not pa.types.is_string(texts[0].type):
        return _typed(texts[0], column, reading.missing)
    if column.kind is Kind.NUMBER and reading.decimal == ".":
        plain_numbers = _plain_numbers(texts[0], reading.missing)
        if plain_numbers is not None:
            return NumericCells(plain_numbers, np.zeros(len(plain_numbers), dtype=bool))
    joined, missing = _joined(texts, reading.missing)
    if column.kind is Kind.WORD:
        return _words(joined, missing, column)
    plain = pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(joined)), MINUS, "-")
    values = _VALUES[column.kind](pc.if_else(missing, None, plain), column, reading.decimal)
    return NumericCells(values, np.isnan(values) & ~np.asarray(missing))


def unit_of(column: Column) -> str:
    """Return the unit of the numbers that dates, clock and elapsed times become; "" of others."""
    if column.kind not in (Kind.DATE, Kind.CLOCK, Kind.ELAPSED):
        return ""
    first = column.counted.partition(" ")[0]
    return (
        "years"
        if first == "calendar"
        else first or ("years" if column.kind is Kind.DATE else "hours")
    )


def meanings(column: Column) -> tuple[str | float, ...]:
    """Return what the words of a column mean, each once, in the order in which they are stated."""
    return tuple(dict.fromkeys(column.words.values()))


def _joined(texts: Sequence[pa.Array], missing: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Return the text of each cell, both cells of a date and its time; and if one is missing."""
    known = pa.array([text.strip().lower() for text in missing], pa.string())
    absent = [
        pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(text)), value_set=known) for text in texts
    ]
    if len(texts) == 1:
        return texts[0], absent[0]
    return (pc.binary_join_element_wise(*map(pc.utf8_trim_whitespace, texts), " "), pc.or_(*absent))


def _typed(cells: pa.Array, column: Column, missing: Sequence[str]) -> NumericCells:
    """Take numbers and moments as they are, but for numbers that stand for a missing value."""
    if pa.types.is_timestamp(cells.type):
        if cells.type.tz:
            cells = pc.local_timestamp(cells.cast(pa.timestamp("us", column.zone or "UTC")))
        stamps = np.asarray(cells.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
        absent = np.isnat(stamps)
        if column.kind is not Kind.DATE:
            return NumericCells(np.full(len(stamps), np.nan), ~absent)
        days = stamps.astype("datetime64[D]")
        hours = (stamps - days).astype(np.int64) / 3.6e9
        moments = _Moments(
            np.where(absent, np.nan, days.astype(np.int64)), np.where(absent, np.nan, hours)
        )
        return NumericCells(_counted(moments, column.counted), np.zeros(len(stamps), dtype=bool))
    values = np.array(cells.to_numpy(zero_copy_only=False), dtype=np.float64)
    codes = [float(text) for text in map(str.strip, missing) if re.fullmatch(NUMBER, text.lower())]
    values[np.isin(values, codes)] = np.nan
    if column.kind is Kind.DATE and column.order in _UNIX:
        times = _placed(_of_unix(values, column.order), column)
        return NumericCells(times, np.isnan(times) & ~np.isnan(values))
    if column.kind is not Kind.NUMBER:
        return NumericCells(np.full(len(values), np.nan), ~np.isnan(values))
    return NumericCells(values, np.zeros(len(values), dtype=bool))


# -- words -----------------------------------------------------------------------------------------


def _words(text: pa.Array, missing: pa.Array, column: Column) -> NumericCells:
    """Return the place of each meaning; a stated word counts before a text that is missing."""
    coded = text.dictionary_encode()
    own = canonical_texts(coded.dictionary, IdForm.NUMBER)
    known = canonical_texts(pa.array(list(column.words), pa.string()), IdForm.NUMBER)
    places = {meaning: place for place, meaning in enumerate(meanings(column))}
    of_word = np.array([places[meaning] for meaning in column.words.values()], dtype=np.float64)
    place = pc.index_in(own, value_set=known)
    codes = np.asarray(coded.indices)
    is_word = np.asarray(place.is_valid())[codes]
    values = of_word[np.asarray(place.fill_null(0))][codes] if len(of_word) else np.zeros(len(text))
    absent = np.asarray(missing) & ~is_word
    other = ~is_word & ~absent
    stands_for = {"censored": -1.0, "left out": -2.0}.get(column.other, np.nan)
    values = np.where(is_word, values, np.where(other, stands_for, np.nan))
    return NumericCells(values, other & (not column.other))


# -- numbers ---------------------------------------------------------------------------------------


def _plain_numbers(text: pa.Array, missing: Sequence[str]) -> Array | None:
    """Return numbers where each cell is a plain one or a text that is missing as it stands.

    By far the fastest way; it reads each cell as `_numbers` does, or none.
    """
    if any(re.search("[0-9].*[eE]", each) for each in missing):
        return None
    absent = pc.is_in(
        text,
        value_set=pa.array(
            [form for each in missing for form in (each, each.strip().lower())], pa.string()
        ),
    )
    try:
        values = _floats(pc.if_else(absent, None, text))
    except pa.ArrowInvalid:
        return None
    return values if (np.isfinite(values) | np.asarray(absent)).all() else None


def _numbers(text: pa.Array, column: Column, decimal: str) -> Array:
    """Return numbers with the stated mark before decimals and none between thousands."""
    if decimal != ".":
        text = pc.if_else(
            pc.match_substring(text, "."), None, pc.replace_substring(text, decimal, ".")
        )
    fits = pc.match_substring_regex(text, rf"^(?:{NUMBER}|{_INFINITE})$")
    return _floats(pc.if_else(fits, text, None))


def _percentages(text: pa.Array, column: Column, decimal: str) -> Array:
    """Return the numbers before percent signs: 12 % is 12."""
    signed = pc.match_substring_regex(text, r"%$")
    return _numbers(
        pc.if_else(signed, pc.replace_substring_regex(text, r"\s*%$", ""), None), column, decimal
    )


def _floats(text: pa.Array) -> Array:
    return np.asarray(pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _valid(text: pa.Array) -> Flags:
    return np.asarray(text.is_valid())


# -- dates and times -------------------------------------------------------------------------------


class _Moments(NamedTuple):
    """Days since 1970, and the hours of each: NaN where a cell holds no moment."""

    days: Array
    hours: Array


def _dates(text: pa.Array, column: Column, decimal: str) -> Array:
    """Return dates, in the unit and from the beginning that are stated."""
    if column.order in _UNIX:
        return _placed(_of_unix(_numbers(text, column, decimal), column.order), column)
    days, hours = np.full(len(text), np.nan), np.full(len(text), np.nan)
    for form in _FORMS[column.order]:
        still = np.flatnonzero(np.isnan(days) & _valid(text))
        if not len(still):
            break
        days[still], hours[still] = _stamps(
            text if len(still) == len(text) else text.take(pa.array(still)), form, column.offset
        )
    return _placed(_Moments(days, hours), column)


def _placed(moments: _Moments, column: Column) -> Array:
    """Return moments as a column counts them, at its place if it names one."""
    return _counted(_in_zone(moments, column.zone) if column.zone else moments, column.counted)


def _in_zone(moments: _Moments, zone: str) -> _Moments:
    """Return moments in UTC as the clock and the calendar of a place show them."""
    known = np.isfinite(moments.days + moments.hours)
    since = np.where(known, 24 * moments.days + moments.hours, 0.0)
    stamps = pa.array(np.rint(3.6e9 * since).astype(np.int64)).cast(pa.timestamp("us", "UTC"))
    local = np.asarray(pc.local_timestamp(stamps.cast(pa.timestamp("us", zone))))
    days = local.astype("datetime64[D]")
    hours = (local - days).astype(np.int64) / 3.6e9
    return _Moments(np.where(known, _days(days), np.nan), np.where(known, hours, np.nan))


def _clock_times(text: pa.Array, column: Column, decimal: str) -> Array:
    hours = _hours(pc.extract_regex(text, f"^{_CLOCK}$"))
    return np.where(hours <= 24, hours, np.nan) / HOURS_IN[unit_of(column)]


def _elapsed_times(text: pa.Array, column: Column, decimal: str) -> Array:
    return _hours(pc.extract_regex(text, f"^{_ELAPSED}$")) / HOURS_IN[unit_of(column)]


_VALUES = {
    Kind.NUMBER: _numbers,
    Kind.PERCENTAGE: _percentages,
    Kind.DATE: _dates,
    Kind.CLOCK: _clock_times,
    Kind.ELAPSED: _elapsed_times,
}


def _of_unix(numbers: Array, order: Order) -> _Moments:
    hours = numbers / _UNIX[order]
    hours = np.where(np.abs(hours) < _LAST_HOUR, hours, np.nan)
    days = np.floor(hours / 24)
    return _Moments(days, hours - 24 * days)


def _stamps(text: pa.Array, form: str, offset: Offset) -> _Moments:
    """Return the moments in cells of one form; NaN of all others and of no real day."""
    parts = pc.extract_regex(text, form)
    year, day = (_whole(parts, name).astype(np.int64) for name in ("year", "day"))
    month = _months(parts).astype(np.int64)
    months = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    first, following = _days(months), _days(months + 1)
    date = first + day - 1
    hours = _hours(parts) - _offsets(parts, offset)
    is_real = (month >= 1) & (month <= 12) & (day >= 1) & (date < following) & ~np.isnan(hours)
    fits = _valid(parts) & is_real & (_hours(parts) <= 24)
    moved = np.where((hours < 0) | (hours > 24), np.floor(hours / 24), 0.0)
    return _Moments(
        np.where(fits, date + moved, np.nan), np.where(fits, hours - 24 * moved, np.nan)
    )


def _hours(parts: pa.Array) -> Array:
    """Return the clock time in hours, 0 where a date has none; NaN of 13 pm and of no match."""
    hour = _whole(parts, "hour")
    if parts.type.get_field_index("half") >= 0:
        half = pc.struct_field(parts, "half")
        is_am, is_pm = (np.asarray(pc.equal(half, letter).fill_null(False)) for letter in "ap")
        hour = np.where(
            is_am | is_pm, np.where((hour < 1) | (hour > 12), np.nan, hour % 12 + 12 * is_pm), hour
        )
    hours = hour + _whole(parts, "minute") / 60 + _whole(parts, "second") / 3600
    return np.where(_valid(parts), hours, np.nan)


def _months(parts: pa.Array) -> Array:
    """Return the number of each month, of which some forms have the name."""
    if parts.type.get_field_index("word") < 0:
        return _whole(parts, "month")
    return 1.0 + np.asarray(
        pc.index_in(pc.struct_field(parts, "word"), value_set=pa.array(_MONTHS)).fill_null(0)
    )


def _offsets(parts: pa.Array, offset: Offset) -> Array:
    """Return what is taken off to come to UTC, in hours; NaN where an offset must not be or be."""
    text = pc.struct_field(parts, "offset").fill_null("")
    has_offset = np.asarray(pc.not_equal(text, ""))
    if offset is Offset.KEPT:
        return np.zeros(len(text))
    if offset is Offset.NONE:
        return np.where(has_offset, np.nan, 0.0)
    of_place = pc.extract_regex(text, r"^(?P<sign>[+-])(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})?$")
    size = _whole(of_place, "hour") + _whole(of_place, "minute") / 60
    sign = np.where(np.asarray(pc.starts_with(text, "-")), -1.0, 1.0)
    return np.where(has_offset, np.where(size < 24, sign * size, np.nan), np.nan)


def _counted(moments: _Moments, counted: str) -> Array:
    """Return moments in the stated unit, from the stated beginning."""
    unit, _, beginning = counted.partition(" ")
    if unit in ("", "calendar"):
        return _calendar_years(moments)
    if beginning == DAY:
        return moments.hours / HOURS_IN[unit]
    day = beginning.removeprefix("since ")
    start = float(_days(np.datetime64(day))) if day not in ("", FIRST) else 0.0
    return (24 * (moments.days - start) + moments.hours) / HOURS_IN[unit]


def _calendar_years(moments: _Moments) -> Array:
    """Return calendar years: 1 July 2024 is 2024.497."""
    known = np.isfinite(moments.days)
    date = np.where(known, moments.days, 0.0).astype(np.int64)
    years = date.astype("datetime64[D]").astype("datetime64[Y]")
    begin = _days(years)
    share = (date - begin + moments.hours / 24) / (_days(years + 1) - begin)
    return np.where(known, years.astype(np.int64) + 1970 + share, np.nan)


def _days(moments: NDArray[np.datetime64] | np.datetime64) -> NDArray[np.int64]:
    return np.asarray(moments).astype("datetime64[D]").astype(np.int64)


def _whole(parts: pa.Array, name: str) -> Array:
    """Return one part of every cell as a number; 0 where there is none."""
    text = pc.struct_field(parts, name).fill_null("0")
    return _floats(pc.if_else(pc.equal(text, ""), "0", text))
