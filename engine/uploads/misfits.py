"""Refuses a file that cannot be what was stated of it: another unit of time, or mostly outside.

A few observations beyond the stated ranges are moved to the nearest end. Where most of them are,
of most people, the numbers have another unit than the ranges, or were read in another way than
meant, and a release would be of something else. People are counted, so that one of them with many
observations does not decide. Nor is a code for missing numbers, such as −999, an observation: moved
to the nearest end it would count as the lowest there is. Whether a file is refused depends on
private observations all the same: that is for its holder alone, as all errors of a file are, and no
share is in the message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.names import uncapital
from engine.core.types import Array, PublicFacts
from engine.uploads.columns import Integers
from engine.uploads.units import known_unit, same_unit, unit_that_differs

MAX_OUTSIDE = 0.5  # a share of the observations of a person, and of the people
_NEARLY_ALL = 0.95
_CODES = tuple(1 - 10.0**digits for digits in (2, 3, 4, 5, 6))
"""−99, −999, …: usual codes for missing numbers, of which a single one tells."""
_REPEATED_CODES = (
    99.9,
    999.9,
    *(sign * float(digit * n) for sign in (1, -1) for digit in "789" for n in range(1, 7)),
)
"""Those that may have been observed as well, so that they tell only by how they occur."""
_AS_LARGE = 0.5  # of a code, from which another number below shows that it may be none
_NEAR = 0.4  # of a code, within which another number shows that it may be none
_GAP, _MANY = 0.1, 20  # of a range beside 0, and other numbers: kinds and counts are no such ones
LEAST_OF_TIMES = 100.0  # a visit of many people may well be at 9 or 99, beyond what was planned
_MOST_OF_A_SHARE = 10.0  # percent, up to which numbers may all be below 1
_SEVERAL = 2  # cells with exactly the same code
_OTHER_COLUMN = (
    "Check the unit: state bounds in the unit of the file, or choose the column that was meant."
)
_SERIAL = (
    "They look like dates of a spreadsheet program that are shown as numbers: format their "
    "column as dates, and save the file again."
)
_AS_NUMBERS = (
    "Leave those cells empty in the file: as numbers they would be moved to the bound, "
    "and count as if they had been observed there."
)
_EMPTY = "If so, leave those cells empty in the file."
OF_OUTCOMES = (
    "If so, fill in those times from their source: a person without a time would count "
    "as censored at once."
)
"""Advice on codes among times to an event, which nobody may leave out by how they ended."""
READ_AGAIN = (
    "Say what time is counted from: as “from” of the time in the reading, such as hours of day"
)


class _Range(NamedTuple):
    """A stated range: of what, in which unit, the field that an error names, and least code."""

    name: str
    low: float
    high: float
    unit: str
    field: str
    least_code: float = 0.0


def check_named_units(columns: Iterable[tuple[str, str]]) -> None:
    """Refuse columns whose names say another unit than is stated, where nobody is asked."""
    for name, stated in columns:
        if named := unit_that_differs(name, stated):
            raise InputError(
                f"The column “{shortened(name)}” is called as if it were in {named}, "
                f"and {stated} are stated.",
                field="layout",
                hint="State unit and range as they are in the file, or rename the column.",
            )


def check_fit(
    times: Array,
    values: Array,
    counts: Integers,
    time_unit: str,
    facts: PublicFacts,
    is_single: bool = False,
) -> None:
    """Refuse another unit of time than stated, and observations that mostly lie outside.

    `time_unit` is empty unless times were dates or clock times. Single observations may lie beyond
    the bounds of their curve.
    """
    _check_unit(time_unit, facts)
    time = _Range(
        uncapital(facts.time_name) or "time",
        facts.time_low,
        facts.time_high,
        facts.time_unit or time_unit,
        "time_low",
        LEAST_OF_TIMES,
    )
    again = (
        f"{READ_AGAIN}. Or state a range in {time_unit}."
        if time_unit
        else ("State a range in the unit of the file.")
    )
    if not time_unit and _are_serial(times):
        again = _SERIAL
    _check_share(
        times, counts, time, f"Times are read in {time_unit}. {again}" if time_unit else again
    )
    value = _Range(
        uncapital(facts.value_name) or "values",
        facts.value_low,
        facts.value_high,
        facts.value_unit,
        "value_low",
    )
    if is_single:
        _refuse_codes(values, value)
    else:
        _check_share(values, counts, value, _OTHER_COLUMN)


def _are_serial(times: Array) -> bool:
    """True if times look like a spreadsheet program's dates between 1982 and 2064."""
    known = times[np.isfinite(times)]
    return bool(len(known) and ((known >= 30_000) & (known < 60_000)).all())


def check_covariates(covariates: Array, facts: PublicFacts) -> None:
    """Refuse another unit and missing-value codes in covariates (n_curves, d).

    Columns are in the order of the covariates of `facts`; NaN where missing.
    """
    check_named_units((each.name, each.unit) for each in facts.covariates)
    for column, stated in zip(covariates.T, facts.covariates, strict=True):
        _refuse_codes(
            column, _Range(stated.name, stated.low, stated.high, stated.unit, "covariates")
        )


def check_records(features: Array, responses: Array | None, facts: PublicFacts) -> None:
    """Refuse records of which a column has another unit, or mostly lies outside its range."""
    check_named_units((each.name, each.unit) for each in facts.covariates)
    for column, stated in zip(features.T, facts.covariates, strict=True):
        _check_share(
            column,
            None,
            _Range(stated.name, stated.low, stated.high, stated.unit, "covariates"),
            _OTHER_COLUMN,
        )
    if responses is not None:
        check_named_units([(facts.value_name, facts.value_unit)])
        _check_share(
            responses,
            None,
            _Range(
                uncapital(facts.value_name) or "the response",
                facts.value_low,
                facts.value_high,
                facts.value_unit,
                "value_low",
            ),
            _OTHER_COLUMN,
        )
        is_class = np.isin(responses, (facts.value_low, facts.value_high))
        if facts.two_classes and (n_others := int((~is_class & np.isfinite(responses)).sum())):
            raise InputError(
                f"{n_others:,} of {len(responses):,} responses are neither {facts.value_low:g} nor "
                f"{facts.value_high:g}, which are stated to be the two classes.",
                field="value_low",
                hint="State the two classes of the codebook, or that the response is a number.",
            )


def check_numbers(numbers: Array, facts: PublicFacts) -> None:
    """Refuse single values or scores that mostly lie outside the stated range."""
    _check_share(
        numbers,
        None,
        _Range(
            uncapital(facts.time_name) or "values",
            facts.time_low,
            facts.time_high,
            facts.time_unit,
            "time_low",
        ),
        _OTHER_COLUMN,
    )


def check_follow_up(
    times: Array, has_event: NDArray[np.bool_], facts: PublicFacts, time_unit: str = ""
) -> None:
    """Refuse times to events that are mostly missing, before their start, or beyond follow-up.

    Many may be followed for longer than is published, but not without any event until then: times
    then have another unit than the planned follow-up.
    """
    _check_unit(time_unit, facts)
    known = np.isfinite(times)
    if float(np.isnan(times).mean()) > MAX_OUTSIDE:
        raise InputError(
            "More than half of the people have no time.",
            field="time",
            hint="Whoever has no event needs the end of observation as time, and a "
            "status that says so.",
        )
    if not known.any():
        return
    _refuse_codes(
        times,
        _Range(
            uncapital(facts.time_name) or "times",
            facts.time_low,
            facts.time_high,
            facts.time_unit,
            "time_high",
            LEAST_OF_TIMES,
        ),
        OF_OUTCOMES,
    )
    if float((times[known] < facts.time_low).mean()) > MAX_OUTSIDE:
        raise InputError(
            "More than half of the times lie before their start.",
            field="start",
            hint="Check which column is the start, and which the end.",
        )
    beyond = times > facts.time_high
    if float(beyond[known].mean()) > _NEARLY_ALL and not (has_event & known & ~beyond).any():
        raise InputError(
            "Nearly all times lie beyond the planned follow-up of "
            f"{f'{facts.time_high:g} {facts.time_unit}'.strip()}, and no event before it.",
            field="time_high",
            hint="Check the unit: state the follow-up in the unit of the times.",
        )


def _check_unit(time_unit: str, facts: PublicFacts) -> None:
    """Refuse a stated unit of time that is known to be another than that of the times."""
    if time_unit and known_unit(facts.time_unit) and not same_unit(time_unit, facts.time_unit):
        raise InputError(
            f"The times of this file are in {time_unit}, and your range is in {facts.time_unit}.",
            field="time_unit",
            hint=f"{READ_AGAIN}. Or state range and unit in {time_unit}.",
        )


def _share_outside(numbers: Array, counts: Integers, stated: _Range) -> float:
    """Compute the share of people with an observation for whom most lie outside a range."""
    person, known = np.repeat(np.arange(len(counts)), counts), np.isfinite(numbers)
    outside = known & ((numbers < stated.low) | (numbers > stated.high))
    n_known, n_outside = (
        np.bincount(person[which], minlength=len(counts)) for which in (known, outside)
    )
    some = n_known > 0
    return float((n_outside > MAX_OUTSIDE * n_known)[some].mean()) if some.any() else 0.0


def _check_share(numbers: Array, counts: Integers | None, stated: _Range, hint: str) -> None:
    """Refuse numbers of people, `counts` of each or one of each, of whom most lie outside."""
    _refuse_codes(numbers, stated)
    _refuse_shares(numbers, stated)
    each = np.ones(len(numbers), dtype=np.int64) if counts is None else counts
    outside = _share_outside(numbers, each, stated)
    if outside > MAX_OUTSIDE:
        bounds = f"{stated.low:g} to {stated.high:g} {stated.unit}".strip()
        share = "nearly all" if outside > _NEARLY_ALL else "more than half of the"
        whose = (
            f"Of {share} people most" if counts is not None else f"{share[0].upper()}{share[1:]}"
        )
        raise InputError(
            f"{whose} observations lie outside the stated range of {stated.name}, {bounds}.",
            field=stated.field,
            hint=hint,
        )


def _refuse_shares(numbers: Array, stated: _Range) -> None:
    """Refuse shares (N,) where percent are stated: workbooks keep 12 % as 0.12."""
    known = numbers[np.isfinite(numbers)]
    if (
        known_unit(stated.unit) == "%"
        and stated.high > _MOST_OF_A_SHARE
        and len(known)
        and np.abs(known).max() <= 1
        and (known != np.floor(known)).any()
    ):
        raise InputError(
            f"The numbers of {stated.name} look like shares, and the stated range is "
            f"{stated.low:g} to {stated.high:g} %.",
            field=stated.field,
            hint="State the range in the unit of the file, or write percent in the file. If they "
            "are small percentages, state a narrower range.",
        )


def _refuse_codes(numbers: Array, stated: _Range, advice: str = _AS_NUMBERS) -> None:
    """Refuse codes for missing numbers (N,) where the stated range leaves little doubt about them.

    A negative code counts where nothing can be negative, or it lies farther below than the range is
    wide, and no other number below is half as large: where there are some, it may have been
    observed. Others count where they lie outside, in several cells, and all that is no code is at
    least as far away as the range is wide: a largest number that a device shows has neighbours.
    """
    is_outside = (numbers < stated.low) | (numbers > stated.high)
    outside = numbers[is_outside]
    if not len(outside):
        return
    below = outside[outside < stated.low]
    is_code = np.isin(below, _CODES)
    others = below[~is_code].min(initial=0.0)
    codes = [
        code
        for code in np.unique(below[is_code]).tolist()
        if others > _AS_LARGE * code
        and (stated.low >= 0 or stated.low - code > stated.high - stated.low)
    ]
    codes += [
        code
        for code in lonely_codes(numbers, stated.high - stated.low)
        if not stated.low <= code <= stated.high and abs(code) >= stated.least_code
    ]
    if codes:
        where, end, verb = (
            ("below", stated.low, "begins")
            if min(codes) < stated.low
            else ("above", stated.high, "ends")
        )
        example = "−999" if where == "below" else "999"
        raise InputError(
            f"Among the numbers of {stated.name} are codes for missing ones, such as {example}, "
            f"far {where} the stated range, which {verb} at {f'{end:g} {stated.unit}'.strip()}.",
            field=stated.field,
            hint=f"{advice} If they were observed, state a range that holds them.",
        )


def remarks_on_codes(
    numbers: Array, low: float, high: float, name: str, advice: str = _EMPTY
) -> list[str]:
    """Return a sentence where codes for missing numbers seem to stand within a stated range.

    `advice` says what to do if they are codes.
    """
    codes = [f"{code:g}" for code in lonely_codes(numbers) if low <= code <= high]
    if low <= 0 and _is_lonely_zero(numbers, _GAP * (high - low)):
        codes.append("0")
    stands = "stands" if len(codes) == 1 else "stand"
    return [
        f"{' and '.join(codes)} {stands} in several cells of {name or 'values'}, far from all "
        f"other numbers, and may mean that a number is missing. {advice}"
    ] * bool(codes)


def remarks_on_covariates(covariates: Array, facts: PublicFacts) -> list[str]:
    """List remarks on covariates, or features, (n, d).

    Columns are in the order of the covariates of `facts`; NaN where missing.
    """
    return [
        remark
        for column, stated in zip(covariates.T, facts.covariates, strict=True)
        for remark in remarks_on_codes(column, stated.low, stated.high, stated.name)
    ]


def _is_lonely_zero(numbers: Array, distance: float) -> bool:
    """True if several cells hold 0 and no other of many numbers lies within a distance of it."""
    if np.count_nonzero(numbers == 0) < _SEVERAL:
        return False
    others = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    return bool(len(others) and others.min() > distance and len(np.unique(others)) >= _MANY)


def lonely_codes(numbers: Array, distance: float | None = None) -> list[float]:
    """Return codes for missing numbers that occur several times, beyond and far from all others.

    A code is beyond them if it is smaller or larger than every other number, and far if it is a
    distance away, such as the width of a stated range; by default as far as the others spread. A
    value with neighbours on both sides may have been observed.
    """
    is_code = np.isin(numbers, _REPEATED_CODES)
    codes, counts = np.unique(numbers[is_code], return_counts=True)
    repeated = codes[counts >= _SEVERAL].tolist()
    others = numbers[~is_code & np.isfinite(numbers)] if repeated else numbers[:0]
    if not len(others):
        return []
    low, high = float(others.min()), float(others.max())
    least = high - low if distance is None else distance
    return [
        code for code in repeated if max(low - code, code - high) >= max(least, _NEAR * abs(code))
    ]
