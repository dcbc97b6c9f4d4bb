"""Facts as they are stated about a file: read from the answers, whether on screen or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.tasks import TASKS, DataType
from engine.core.types import PublicFacts, Sizes
from engine.numerics.counts.cells import Counted
from engine.uploads.bounds_library import PublicBounds, public_bounds
from engine.uploads.curves import CurveTable
from engine.uploads.design import StatedDesign, StatedLaw, numbers_in
from engine.uploads.events import EventColumns, EventTable, declare_events
from engine.uploads.facts import REACHES, StatedCovariate, declare, declare_rows
from engine.uploads.looking import proposed, sequence
from engine.uploads.reading_of_files import Kind, Reading
from engine.uploads.records import event_columns
from engine.uploads.rows import RowTable
from engine.uploads.units import same_unit, unit_in_name
from pages.shared.frame.controls import number_in, written
from pages.shared.uploads import columns, draft
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

Bound = float | None
Fields = tuple[tuple[str, str, str], ...]  # field of `PublicFacts`, label, example
OF_CURVES: Fields = (
    ("value_name", "What is measured", "Height"),
    ("value_unit", "Unit", "cm"),
    ("time_name", "Horizontal axis", "Age"),
    ("time_unit", "Unit of the axis", "years"),
)
OF_PEOPLE: Fields = (("person", "Unit of protection", "child"), ("people", "Plural", "children"))
OF_TIMES: Fields = (
    ("time_name", "What is measured", "Time since surgery"),
    ("time_unit", "Unit", "days"),
)
MAX_LISTED = 3  # more columns get a choice between one range and several
OTHER, OF_FILE = "other", "file"  # bounds with a source, and those of the file
_ANY_SPREAD = 0.1  # of values from 0 to 1, before σ is stated


# -- what is stated, from the answers that are kept ------------------------------------------------


def declared(current: Draft) -> PublicFacts:
    """Return the facts as they are stated so far; refuse a missing or contradicted one."""
    if draft.answered(key_of("upload_bounds")) == OF_FILE:
        raise InputError(
            "A range from this file is for exploring only.",
            field="value_low",
            hint="State bounds from outside the file, and their source.",
        )
    counted = columns.kind_of(current.task)
    if isinstance(counted, Counted):
        return _of_events(event_columns(current.reading, counted), current.reading)
    if TASKS[current.task].data is DataType.RECORDS:
        return _of_rows(current.observations, current.task)
    return _of_curves(
        current,
        (number_of("value_low"), number_of("value_high")),
        origin=text_of("origin"),
        covariates=[_range_of(name) for name in current.curves.covariate_names],
        reading_sd=number_of("reading_sd"),
    )


def without_range(current: Draft, design: StatedDesign | None = None) -> PublicFacts:
    """Return facts before ranges are stated: values from 0 to 1, so that a band is a share."""
    return _of_curves(
        current, (0.0, 1.0), design, origin="a share of the range", reading_sd=_ANY_SPREAD
    )


def text_of(name: str) -> str:
    return str(draft.answered(f"upload_{name}") or "").strip()


def number_of(name: str, is_whole: bool = False) -> Bound:
    """Return a typed number: None if nothing is typed, NaN for what is no number."""
    text = text_of(name)
    if not text:
        return None
    try:
        return number_in(text, is_whole)
    except InputError:
        return math.nan


def list_of(name: str) -> tuple[float, ...]:
    try:
        return numbers_in(text_of(name), name)
    except InputError:
        return (math.nan,)  # refused in its place where facts are declared


def _nouns(question: Fields) -> dict[str, Any]:
    words: dict[str, Any] = {name: text_of(name) for name, *_ in question}
    if words.get("person") and not words["people"]:
        words["people"] = f"{words['person']}s"
    return words


def _of_curves(
    current: Draft,
    values: tuple[Bound, Bound],
    design: StatedDesign | None = None,
    reading_sd: Bound = None,
    **others: Any,
) -> PublicFacts:
    is_single = TASKS[current.task].data is DataType.READINGS
    words = words_of(current)
    low, high = values
    return declare(
        value_low=low,
        value_high=high,
        time_low=number_of("time_low"),
        time_high=number_of("time_high"),
        single=is_single,
        reading_sd=reading_sd if is_single else None,
        design=design or design_of(draft.answered("upload_law")),
        observations=number_of("observations", is_whole=True),
        symmetric=bool(draft.answered("upload_symmetric")),
        guessed_spread=number_of("guessed_spread"),
        periodic=bool(draft.answered("upload_periodic")),
        **words,
        **others,
    )


def design_of(law: str | None) -> StatedDesign:
    """Return how observation times come about by a law, with its typed parameters alone."""
    return StatedDesign(
        law=law,
        times=list_of("times") if law == StatedLaw.COMMON else (),
        gap=number_of("gap") if law == StatedLaw.VISITS else None,
        window=number_of("window") if law == StatedLaw.WINDOWS else None,
        heights=list_of("heights") if law == StatedLaw.DENSITY else (),
    )


def words_of(current: Draft) -> dict[str, Any]:
    """Return the nouns that are stated of curves."""
    curves, person = current.curves, current.reading.person
    assert person is not None
    words = {**_nouns(OF_CURVES), **_nouns(OF_PEOPLE)}
    if person.rows and not words["person"]:  # a protected row is no person
        words |= {"person": "row", "people": "rows"}
    if not words["time_unit"] and curves.time_unit != "years":
        words["time_unit"] = curves.time_unit
    return words


def _of_events(columns: EventColumns, reading: Reading) -> PublicFacts:
    outcomes = columns.counted is Counted.OUTCOMES
    words = {**_nouns(OF_TIMES), **_nouns(OF_PEOPLE)}
    is_of_dates = outcomes and reading.columns["time"].kind is Kind.DATE
    if is_of_dates and "start" in reading.columns and not words["time_unit"]:
        words["time_unit"] = "days"
    sizes: tuple[int, ...] = ()
    if columns.groups and draft.answered("upload_event_sizes_public"):
        stated = [number_of(f"event_size_{k}", True) for k in range(len(columns.groups))]
        sizes = tuple(0 if size is None or math.isnan(size) else int(size) for size in stated)
    weights: tuple[float, ...] = ()
    if columns.groups and draft.answered("upload_event_adjusted"):
        typed = [number_of(f"event_weight_{k}") for k in range(len(columns.groups))]
        weights = tuple(math.nan if weight is None else weight for weight in typed)
    return declare_events(
        0.0 if outcomes else number_of("time_low"),
        number_of("time_high"),
        text_of("origin"),
        columns,
        list_of("event_edges"),
        sizes,
        number_of("time_step") if outcomes else None,
        weights,
        **words,
    )


def _of_rows(rows: CurveTable | RowTable | EventTable, task: str) -> PublicFacts:
    assert isinstance(rows, RowTable)
    states = TASKS[task].states
    response: dict[str, Any] = {}
    if rows.value_name:
        response["value"] = _range_of(rows.value_name)
        if "two_classes" in states:
            response["two_classes"] = bool(draft.answered("rows_two_classes"))
        if "spread" in states:
            response["spread"] = number_of("reading_sd")
        if "reach" in states:
            reach = draft.answered("rows_reach")
            response["reach"] = None if reach is None else REACHES[reach]
    ranges = [_range_of(name) for name in rows.covariate_names]
    if len(ranges) > MAX_LISTED:
        ends = number_of("rows_all_low"), number_of("rows_all_high")
        others = draft.answered(key_of("rows_others")) or ()
        ranges = [
            each if each.name in others else StatedCovariate(each.name, *ends) for each in ranges
        ]
    return declare_rows(task, ranges, text_of("origin"), **response, **_nouns(OF_PEOPLE))


def _range_of(name: str) -> StatedCovariate:
    key = f"covariate_{name}"
    return StatedCovariate(
        name, number_of(f"{key}_low"), number_of(f"{key}_high"), text_of(f"{key}_unit")
    )


def sizes_of(current: Draft, facts: PublicFacts, by_site: Sequence[int] = ()) -> Sizes:
    """Return the sizes of a release by one centre, or by sites that add noise each."""
    people = tuple(by_site) or (len(current.observations.server),)
    each = facts.observations_per_curve or 1
    return Sizes(people, sum(people) * each, each, len(facts.covariates))


# -- what the file itself proposes -----------------------------------------------------------------


def suggest(current: Draft) -> None:
    """Propose when people were measured and what things are called; never a range of values."""
    curves, person = current.observations, current.reading.person
    if not isinstance(curves, CurveTable):
        return
    try:
        found = proposed(curves, current.task, person="" if person is None else person.column)
    except InputError:
        return
    words = {name: getattr(found, name) for name, *_ in OF_CURVES}
    if found.person != PublicFacts().person:
        words |= {"person": found.person, "people": found.people}
    design = StatedDesign.of(found)
    times = sequence(design.times) or (", ".join(map(written, curves.header_times)))
    gap = design.gap or _step(times)
    is_law = design.law not in (None, StatedLaw.UNKNOWN)
    is_stated = design.law != StatedLaw.COMMON or bool(times)
    draft.suggest(
        {
            f"upload_{name}": value
            for name, value in {
                **words,
                "time_low": written(found.time_low),
                "time_high": written(found.time_high),
                "observations": written(found.observations_per_curve),
                "law": str(design.law) if is_law and is_stated else "",
                "times": times,
                "gap": written(gap) if gap else "",
            }.items()
            if value
        }
    )
    if matched := fitting(current):
        take_over(public_bounds()[matched[0]], draft.suggest)


def _step(times: str) -> float:
    """Return the step of times that are written as a sequence; 0 for others."""
    return float(times.rpartition(" by ")[2]) if " by " in times else 0.0


def fitting(current: Draft) -> list[str]:
    """Return at most two entries of the library that fit name and unit of the values, by key."""
    curves = current.observations
    if not isinstance(curves, CurveTable):
        return []
    name = curves.value_column.casefold().replace("_", " ")
    unit = unit_in_name(curves.value_column)
    return [
        key
        for key, entry in public_bounds().items()
        if entry.value_name.casefold().split()[-1] in name
        and (not unit or same_unit(unit, entry.value_unit))
        and np.mean((curves.values >= entry.value_low) & (curves.values <= entry.value_high)) > 0.9
    ][:2]


def take_over(entry: PublicBounds, take: Callable[[Mapping[str, Any]], None]) -> None:
    """State range, source and names of an entry; its times only where none are stated."""
    taken = {
        "value_name": entry.value_name,
        "value_unit": entry.value_unit,
        "value_low": written(entry.value_low),
        "value_high": written(entry.value_high),
        "person": entry.person,
        "people": entry.people,
        "origin": entry.source,
    }
    times = {
        "time_name": entry.time_name,
        "time_unit": entry.time_unit,
        "time_low": written(entry.time_low),
        "time_high": written(entry.time_high),
    }
    take({f"upload_{name}": value for name, value in taken.items()})
    take({f"upload_{name}": value for name, value in times.items() if not text_of(name)})
