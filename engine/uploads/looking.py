"""Ranges and a grid from the file itself, for a first look by its holder and for nothing else.

Facts that are found here are marked (`PublicFacts.is_proposed`), and whatever is published,
exported or simulated refuses them: they say something about single people of the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.tasks import DISTRIBUTION, MEAN_FUNCTION, ROC, SURVIVAL, TASKS, DataType
from engine.core.types import Array, EventFacts, PublicFacts, TimeLaw
from engine.numerics.counts.cells import Counted, equal_edges
from engine.numerics.counts.estimands import ESTIMANDS
from engine.uploads.columns import Integers, Observations
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.design import StatedDesign, StatedLaw
from engine.uploads.devices.archives import is_archive_of_tables
from engine.uploads.doubts import doubts
from engine.uploads.events import EventColumns, EventTable, UploadEvents, declare_events
from engine.uploads.facts import MAX_OBSERVATIONS, REACHES, StatedCovariate, declare, declare_rows
from engine.uploads.limits import LIMITS
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.proposing.framing import framed
from engine.uploads.proposing.roles import FileKind
from engine.uploads.reading_of_files import SINGLE, Reading
from engine.uploads.records import curves_of, event_columns, events_of, rows_of
from engine.uploads.rows import RowTable, UploadRows
from engine.uploads.units import unit_in_name
from engine.uploads.workbooks import is_workbook, sheet_cells, sheet_names

FEWEST_PEOPLE = 10
_NEARLY_ALL = 0.9  # of a column with one value: its range says nothing
_TAIL = 0.005  # of a column to each side, beyond the range where it lies far from all others
_STEPS = 10  # of a range, at least: its ends are multiples of 1, 2 or 5 times a power of ten
_MOST_TIMES = 300  # different ones that can be a grid of everybody
_VISITS = 6  # of a first look, where the times of visits are not stated
_ORIGIN = "this file"
_ALL_EQUAL = "One value fills nine tenths of “{}” or more: a range cannot be found in the file."
_NOUNS = {
    "child": "children",
    "patient": "patients",
    "participant": "participants",
    "household": "households",
    "subject": "subjects",
    "pupil": "pupils",
    "user": "users",
}


def proposed(
    observations: Observations, task: str, columns: EventColumns | None = None, person: str = ""
) -> PublicFacts:
    """Return facts for a first look: ranges rounded outward, and the grid that the file has.

    The name of the column `person` may say what one is called.
    """
    n = len(observations.server)
    if n < FEWEST_PEOPLE:
        raise InputError(
            f"{FEWEST_PEOPLE} people are the fewest for a picture; this file has {n}.",
            field="file",
            hint="Bring a file of more people.",
        )
    words = _called(person)
    if isinstance(observations, RowTable):
        facts = _of_rows(observations, task, words)
    elif isinstance(observations, EventTable):
        assert columns is not None
        facts = _of_events(observations, columns, words)
    else:
        assert isinstance(observations, CurveTable)
        facts = _of_curves(observations, "spread" in TASKS[task].states, words)
    return replace(facts, is_proposed=True)


def observations_of(
    content: bytes, reading: Reading, kind: DataType | Counted
) -> CurveTable | RowTable | EventTable:
    """Return what the bytes of a file say of everybody, by its reading alone."""
    people = read(content, reading)
    if isinstance(kind, Counted):
        return events_of(people, kind)
    if kind is DataType.RECORDS:
        return rows_of(people)
    return curves_of(people, single=kind is DataType.READINGS)


def first_look(
    content: bytes, task: str, encoding: str = "", sheet: str = ""
) -> Upload | UploadRows | UploadEvents:
    """Return a file as it most likely is read, with ranges of its own: for looking alone.

    It has no stated reading, and its facts are marked as proposed.
    """
    data = TASKS[task].data
    kind = ESTIMANDS[task].counted if data is DataType.EVENTS else data
    proposal = propose(content, data=kind, encoding=encoding, sheet=sheet)
    for question in proposal.gaps:  # a column that nothing speaks of
        role = question.field.removeprefix("columns.")
        if role in SINGLE and role not in proposal.likely.columns and not proposal.likely.is_wide:
            raise InputError(question.question, field="columns", hint="Choose the column.")
    reading = _of_task(proposal.likely, task)
    observations = observations_of(content, reading, kind)
    columns = event_columns(reading, kind) if isinstance(kind, Counted) else None
    person = reading.person.column if reading.person is not None else ""
    facts = proposed(observations, task, columns, person)
    if isinstance(observations, EventTable):
        assert isinstance(facts, EventFacts)
        return UploadEvents(events=observations, declared=facts)
    if isinstance(observations, RowTable):
        return UploadRows(rows=observations, declared=facts)
    return Upload(curves=observations, declared=facts)


def _of_task(reading: Reading, task: str) -> Reading:
    """The same with as many features as the task takes, and with what it predicts if it does."""
    features = TASKS[task].features
    if features is None:
        return reading
    columns = reading.columns
    if "value" in TASKS[task].roles and "value" not in columns:
        raise InputError(
            "No name of a column says what is predicted.",
            field="columns",
            hint="Choose what is predicted and from which columns.",
        )
    kept = (
        columns
        if "value" in TASKS[task].roles
        else {role: column for role, column in columns.items() if role != "value"}
    )
    return replace(reading, columns=kept, features=reading.features[: features.most])


_TASKS = {
    FileKind.CURVES: MEAN_FUNCTION.key,
    FileKind.OUTCOMES: SURVIVAL.key,
    FileKind.VALUES: DISTRIBUTION.key,
    FileKind.SCORES: ROC.key,
}


def likely_task(content: bytes, encoding: str = "", sheet: str = "") -> str:
    """Return the key of the task that the columns of a file suit; "" if none stands out."""
    return _TASKS.get(propose(content, encoding=encoding, sheet=sheet).kind, "")


def header_of(content: bytes, encoding: str = "", sheet: str = "") -> tuple[str, ...]:
    """Return the names of the columns of a file, whatever they mean."""
    return framed(content, encoding, sheet).frame.header


def sheets_of(content: bytes) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook; none of any other file."""
    if not is_workbook(content) or is_archive_of_tables(content):
        return ()
    sheet_cells(content, "", 0, LIMITS)  # which checks the archive
    return sheet_names(content)


def outward(low: float, high: float) -> tuple[float, float]:
    """Return a range around both ends, in steps of 1, 2 or 5 times a power of ten.

    >>> outward(3.2, 16.8), outward(61.3, 208.0), outward(0.0, 23.75)
    ((3.0, 17.0), (60.0, 210.0), (0.0, 24.0))
    """
    target = (high - low) / _STEPS
    power = 10.0 ** math.floor(math.log10(target))
    step = next(k * power for k in (5, 2, 1) if k * power <= target * (1 + 1e-9))
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")


def from_file(facts: PublicFacts) -> str:
    """Return the sentence on what of the facts comes from the file."""
    if facts.covariates and not facts.design.times and facts.time_high == 1.0:
        n = len(facts.covariates)
        return (
            f"The range{'s' * (n > 1)} of {counted(n, 'column')} come{'s' * (n == 1)} from "
            "this file"
        )
    time = _span(facts.time_low, facts.time_high, facts.time_unit)
    if isinstance(facts, EventFacts):
        return f"Range {time} comes from this file"
    grid = _grid(facts)
    value = _span(facts.value_low, facts.value_high, facts.value_unit)
    listed = f"{value}, {time} and {grid}" if grid else f"{value} and {time}"
    return f"Range {listed} come from this file"


# -- ranges ----------------------------------------------------------------------------------------


def _range(values: Array, name: str) -> tuple[float, float]:
    """Return the range of nearly all numbers of a column, rounded outward."""
    known = values[np.isfinite(values)]
    if not len(known):
        raise InputError(
            f"The column “{shortened(name)}” holds no number.",
            field="columns",
            hint="Choose another column.",
        )
    low, high = (float(end) for end in np.quantile(known, (_TAIL, 1 - _TAIL)))
    if np.unique(known, return_counts=True)[1].max() > _NEARLY_ALL * len(known) or low == high:
        raise InputError(
            _ALL_EQUAL.format(shortened(name)),
            field="columns",
            hint="Choose another column, or state a range and its source.",
        )
    least, largest = float(known.min()), float(known.max())
    return outward(
        least if low - least <= high - low else low,
        largest if largest - high <= high - low else high,
    )


def _called(person: str) -> dict[str, Any]:
    """Return the nouns in the name of a column of people."""
    name = person.casefold()
    noun = next((noun for noun in _NOUNS if noun in name), "")
    return {"person": noun, "people": _NOUNS[noun]} if noun else {}


def _of_rows(rows: RowTable, task: str, words: dict[str, Any]) -> PublicFacts:
    features, states = TASKS[task].features, TASKS[task].states
    assert features is not None
    columns = dict(zip(rows.covariate_names, rows.covariates.T, strict=True))
    names = [*columns][: features.most]
    covariates = [StatedCovariate(name, *_range_of_feature(columns[name], name)) for name in names]
    response, spread = None, None
    if rows.values is not None and "value" in TASKS[task].roles:
        response = StatedCovariate(
            rows.value_name or "value", *_range(rows.values, rows.value_name or "value")
        )
        spread = float(np.nanstd(rows.values))
    reach = _reach(columns[names[0]], covariates[0]) if "reach" in states and names else None
    return declare_rows(
        task, covariates, _ORIGIN, value=response, spread=spread, reach=reach, **words
    )


def _range_of_feature(values: Array, name: str) -> tuple[float, float]:
    """Return the range of a feature; of 0 and 1 it is both of them, whatever their shares."""
    known = np.unique(values[np.isfinite(values)])
    return (0.0, 1.0) if known.tolist() == [0.0, 1.0] else _range(values, name)


def _reach(values: Array, stated: StatedCovariate) -> float:
    """Return the reach of a range in standard deviations, as the nearest that can be stated."""
    assert stated.low is not None and stated.high is not None
    reach = (stated.high - stated.low) / 2 / float(np.nanstd(values))
    return min(REACHES.values(), key=lambda each: abs(each - reach))


def _of_events(events: EventTable, columns: EventColumns, words: dict[str, Any]) -> PublicFacts:
    low, high = _range(events.time, events.time_column or "time")
    edges: tuple[float, ...] = ()
    if columns.counted is Counted.OUTCOMES:
        low, high = 0.0, outward(0.0, float(np.nanmax(events.last_seen)))[1]
    if columns.at_visits:
        edges = equal_edges(low, high, _VISITS)
    unit = events.time_unit or unit_in_name(events.time_column, True)
    return declare_events(low, high, _ORIGIN, columns, edges, time_unit=unit, **words)


# -- curves ----------------------------------------------------------------------------------------


def _of_curves(curves: CurveTable, is_single: bool, words: dict[str, Any]) -> PublicFacts:
    values = _range(curves.values, curves.value_column or "value")
    times = _range_of_times(curves)
    covariates = [
        StatedCovariate(name, *_range_of_feature(column, name))
        for name, column in zip(curves.covariate_names, curves.covariates.T, strict=True)
    ]
    unit = curves.time_unit or unit_in_name(curves.time_column, True)
    others: dict[str, Any] = {
        "value_name": _plain_name(curves.value_column),
        "time_name": _plain_name(curves.time_column),
        "value_unit": unit_in_name(curves.value_column),
        "time_unit": unit,
        **words,
    }
    if is_single:
        spread = _spread(curves.times, curves.values)
        return declare(
            *values,
            *times,
            _ORIGIN,
            single=True,
            reading_sd=spread,
            design=StatedDesign(law=StatedLaw.UNKNOWN),
            **others,
        )
    used = curves.counts[curves.counts > 0]
    observations = min(int(np.median(used)), MAX_OBSERVATIONS)
    for design in _designs(curves, times):
        try:
            facts = declare(
                *values,
                *times,
                _ORIGIN,
                covariates,
                design=design,
                observations=len(design.times) or observations,
                **others,
            )
        except InputError:  # the design does not fit into the range
            continue
        unit_times = facts.to_unit_time(curves.times)
        if not doubts(unit_times, curves.counts, facts):
            return facts
    return facts


def _range_of_times(curves: CurveTable) -> tuple[float, float]:
    """Return the range of all times; those of a day are the whole day."""
    low, high = float(curves.times.min()), float(curves.times.max())
    if low == high:
        raise InputError(
            "All times are the same: there is no curve to draw.",
            field="columns",
            hint="Choose another column of times.",
        )
    distinct = np.unique(curves.times)
    is_grid = len(distinct) <= _MOST_TIMES and _is_even(distinct)
    return (low, high) if is_grid else outward(low, high)


def _designs(curves: CurveTable, times: tuple[float, float]) -> Iterator[StatedDesign]:
    """Yield designs that may fit the times, the most accurate first; the last always fits."""
    distinct = np.unique(curves.times)
    if len(distinct) <= min(_MOST_TIMES, 3 * np.median(curves.counts)):
        yield StatedDesign(law=StatedLaw.COMMON, times=tuple(distinct.tolist()))
    gap = _gap(curves.times, curves.counts)
    if 0 < gap < (times[1] - times[0]) / 2:
        yield StatedDesign(law=StatedLaw.VISITS, gap=float(f"{gap:.3g}"))
    yield StatedDesign(law=StatedLaw.EVEN)
    yield StatedDesign(law=StatedLaw.UNKNOWN)


def _gap(times: Array, counts: Integers) -> float:
    """Return the usual distance between observations of one person; 0 if nobody has two."""
    curve = np.repeat(np.arange(len(counts)), counts)
    gaps = np.diff(times)[curve[1:] == curve[:-1]]
    return float(np.median(gaps)) if len(gaps) else 0.0


def _spread(times: Array, values: Array) -> float:
    """Estimate the spread of single observations around their curve from neighbours in time."""
    known = np.isfinite(values)
    steps = np.diff(values[known][np.argsort(times[known], kind="stable")])
    return float(f"{np.std(steps) / math.sqrt(2):.2g}")


def _plain_name(column: str) -> str:
    """Return the name of a column without its unit, as a word."""
    unit = unit_in_name(column) or unit_in_name(column, True)
    words = column.replace("_", " ").split("(")[0].split("[")[0].split()
    while len(words) > 1 and unit and words[-1].casefold() in _spelt(unit):
        words.pop()
    name = "".join(letter for letter in " ".join(words)[:40] if letter not in "[]<>*`$~:|#\\{}")
    return name[:1].upper() + name[1:]


def _spelt(unit: str) -> set[str]:
    return {part.casefold() for part in (unit, *unit.split("/"))} | {"per"}


# -- words -----------------------------------------------------------------------------------------


def sequence(times: Sequence[float]) -> str:
    """Write equally spaced times as they are typed; "" for others.

    >>> sequence((0.0, 0.25, 0.5)), sequence((2.0, 6.0, 9.0))
    ('0 to 0.5 by 0.25', '')
    """
    if len(times) < 3 or not _is_even(np.array(times)):
        return ""
    step = (times[-1] - times[0]) / (len(times) - 1)
    return f"{times[0]:.9g} to {times[-1]:.9g} by {step:.9g}"


def _span(low: float, high: float, unit: str) -> str:
    return f"{low:g} to {high:g} {unit}".strip()


def _is_even(times: Array) -> bool:
    gaps = np.diff(times)
    return len(gaps) > 0 and float(np.ptp(gaps)) <= 1e-6 * float(gaps.max())


def _grid(facts: PublicFacts) -> str:
    """Describe the grid of times in words; "" without one."""
    length = facts.time_high - facts.time_low
    if facts.design.law is TimeLaw.VISITS:
        return f"the interval of {_length(facts.design.gap * length, facts.time_unit)}"
    if facts.design.law is not TimeLaw.COMMON:
        return ""
    times = np.array(facts.common_times)
    if len(times) > 2 and _is_even(times):
        return f"the grid of {_length((times[1] - times[0]) * length, facts.time_unit)}"
    return f"the {len(times)} common times"


def _length(gap: float, unit: str) -> str:
    """Write a distance between times, in minutes below an hour."""
    return f"{60 * gap:.3g} minutes" if unit == "hours" and gap < 1 else f"{gap:.3g} {unit}".strip()
