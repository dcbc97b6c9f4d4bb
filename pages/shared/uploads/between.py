"""The question of ranges and their source, which no file ever answers by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.names import uncapital
from engine.core.tasks import TASKS, DataType
from engine.core.types import PublicFacts
from engine.language.numbers import whole
from engine.numerics.counts.cells import Counted
from engine.sources.twin import guessed_spread
from engine.uploads.bounds_library import PublicBounds, public_bounds
from engine.uploads.curves import CurveTable
from engine.uploads.events import EventColumns, EventTable
from engine.uploads.facts import REACHES
from engine.uploads.records import event_columns
from engine.uploads.rows import RowTable
from pages.shared.frame.controls import plain
from pages.shared.uploads import columns, draft, fields, frozen, questions
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of
from pages.shared.uploads.questions import Alternative, AnswerRows, QuestionWords
from pages.shared.uploads.statements import (
    MAX_LISTED,
    OF_CURVES,
    OF_FILE,
    OF_PEOPLE,
    OF_TIMES,
    OTHER,
    Bound,
    Fields,
    declared,
    fitting,
    number_of,
    sizes_of,
    take_over,
    text_of,
    without_range,
    words_of,
)

_OF_ROWS: Fields = (("person", "Unit of protection (a row)", "scan"), ("people", "Plural", "scans"))
OF_A_CHANGE = (
    "The range is that of a **change** from “{}” to “{}”: how far one person can fall and rise "
    "between the two. It lies on both sides of 0."
)
_SPREAD = {False: "Not known, or with skew, groups or outliers", True: "Symmetric about their mean"}
_BETWEEN: Mapping[Counted | DataType, QuestionWords] = {
    Counted.OUTCOMES: QuestionWords(
        "How long were they followed?",
        "The protocol says so. The longest time in the file would reveal somebody.",
    )
}


def between(current: Draft) -> bool:
    """Ask for ranges and their source; True once all facts are whole."""
    st.session_state[fields.REFUSED] = False
    kind = columns.kind_of(current.task)
    matched, library = fitting(current), public_bounds()
    labels = {
        **{key: f"{_span(library[key])}, {_short(library[key].source)}" for key in matched},
        OTHER: "Other bounds, with their source" if matched else "These bounds, with their source",
        OF_FILE: "From this file",
    }
    alternatives = _ranges_priced(current, matched)
    known, wait = questions.priced(current.task, alternatives)
    prices = {OF_FILE: "exploring only"}
    for key, each in alternatives.items():
        prices |= questions.half_widths(known, [key], each.facts)
    chosen = questions.question(
        "between",
        "Proposed: public bounds." if matched else "Nothing is proposed.",
        AnswerRows(key_of("upload_bounds"), labels, matched[0] if matched else OTHER),
        prices,
        partial(_fill, key_of("upload_bounds")),
        _BETWEEN.get(kind),
    )
    if current.reading.is_of_changes:
        st.markdown(OF_A_CHANGE.format(*map(plain, current.reading.periods)))
    if isinstance(kind, Counted):
        _ask_events(event_columns(current.reading, kind))
    elif TASKS[current.task].data is DataType.RECORDS:
        _ask_rows(current.observations, current.task)
    else:
        _ask_curves(current, chosen == OTHER)
    values = _evidence_of(current)
    if values is not None:
        low, high = fields.ends("time" if isinstance(kind, Counted) else "value", values)
        questions.evidence(
            f"{whole(len(values))} numbers; {questions.share_outside(values, low, high)}",
            values,
            low,
            high,
        )
    wait()
    is_whole = fields.is_whole(lambda: declared(current), *_begun(current))
    draft.declare(declared(current) if is_whole else None)
    stated = draft.of(current.task)
    if stated is not None and stated.declared is not None:
        _say_changed(stated, stated.declared)
    return is_whole


def _begun(current: Draft) -> list[str]:
    names = ["value_low", "value_high", "origin", "rows_all_low", "rows_all_high"]
    if isinstance(columns.kind_of(current.task), Counted):
        names += ["time_low", "time_high"]
    return [text_of(name) for name in names]


def _say_changed(current: Draft, facts: PublicFacts) -> None:
    answer = draft.answer_of_file()
    if answer is None:
        return
    now = frozen.stated(current.task, current.reading, facts)
    differing = {
        name for name in {*now, *answer.stated} if now.get(name) != answer.stated.get(name)
    }
    frozen.say_changed({*answer.frozen.changed, *differing})


def _ranges_priced(current: Draft, matched: Sequence[str]) -> dict[str, Alternative]:
    """Return the release under each range, once the plan of the study is stated."""
    if TASKS[current.task].data is not DataType.CURVES:
        return {}
    try:
        facts = without_range(current)
    except InputError:
        return {}
    library = public_bounds()
    ranges = {key: (library[key].value_low, library[key].value_high) for key in matched}
    typed = number_of("value_low"), number_of("value_high")
    if typed not in ranges.values() and None not in typed and typed[0] < typed[1]:  # type: ignore[operator]
        ranges[OTHER] = typed  # type: ignore[assignment]
    found = {}
    for key, (low, high) in ranges.items():
        stated = replace(facts, value_low=low, value_high=high)
        if key in matched:
            stated = replace(stated, value_unit=library[key].value_unit)
        found[key] = Alternative(stated, sizes_of(current, stated))
    return found


def _span(entry: PublicBounds) -> str:
    return f"{entry.value_low:g} to {entry.value_high:g} {entry.value_unit}".strip()


def _short(source: str) -> str:
    """Return the document that a source names, for a row: in brackets after numbers, else first."""
    in_brackets = re.search(r"\(([^()]*)\)", source) if source[0].isdigit() else None
    return plain(shortened(in_brackets[1] if in_brackets else source.partition(":")[0]))


def _evidence_of(current: Draft) -> Array | None:
    """Return the numbers whose range is asked for; None of several columns."""
    observations = current.observations
    if isinstance(observations, CurveTable):
        return observations.values
    return observations.time if isinstance(observations, EventTable) else None


def _ask_events(columns: EventColumns) -> None:
    """Ask for planned follow-up, or range; intervals, and sizes of groups if they are public."""
    outcomes = columns.counted is Counted.OUTCOMES
    if outcomes:
        fields.number(
            "Planned follow-up",
            "e.g. 1095",
            "time_high",
            "From the protocol, in the unit of the times. People who are followed longer count "
            "as event-free until then.",
        )
    else:
        fields.pair(("Range: from", "e.g. 0", "time_low"), ("Range: to", "e.g. 1", "time_high"))
    if columns.at_visits:
        _edges(columns)
    fields.origin("protocol of the study" if outcomes else "manual of the device")
    with st.popover("Names, intervals and more"):
        fields.nouns(OF_TIMES)
        fields.nouns(OF_PEOPLE)
        if not columns.at_visits:
            _edges(columns)
        if outcomes and not columns.at_visits:
            fields.number(
                "Times are recorded in steps of (optional)",
                "e.g. 1",
                "time_step",
                "In the unit of the times: 1 for whole days if the unit is days. Left empty, "
                "the confidence interval of a median ends at edges of intervals, since times "
                "may be heaped on months or years.",
            )
        if columns.groups:
            _group_sizes(columns.groups)
            _group_weights(columns.groups)


def _edges(columns: EventColumns) -> None:
    """Ask for edges of intervals, or for the public times of visits, which are needed."""
    label, why = (
        (
            "Start and planned visits",
            "From the plan of the study: the start, then the time of each visit, the last one at "
            "the end of the follow-up. At most ten visits.",
        )
        if columns.at_visits
        else (
            "Edges of intervals (optional)",
            "From the plan of the study. Left empty, there are as many equally wide "
            "intervals as people and ε allow.",
        )
    )
    fields.numbers(label, "event_edges", "e.g. 0, 90, 180, 365", why)


def _group_sizes(groups: Sequence[str]) -> None:
    """Ask for the public number of people in each group."""
    if st.toggle(
        "The sizes of the groups are public",
        key="upload_event_sizes_public",
        help="In a trial they are, in a registry usually not. Public sizes make the "
        "comparison more accurate.",
    ):
        for k, name in enumerate(groups):
            fields.number(
                f"People in {plain(shortened(name))}", "e.g. 120", f"event_size_{k}", is_whole=True
            )


def _group_weights(groups: Sequence[str]) -> None:
    """Ask for the weights of groups in one adjusted curve, if one is wanted."""
    if st.toggle(
        "One survival curve, adjusted for the groups",
        key="upload_event_adjusted",
        help="As if each group had a stated share, such as in a standard population. It ends with "
        "the group in which fewest people are left. Without it each group has a curve.",
    ):
        for k, name in enumerate(groups):
            fields.number(
                f"Weight of {plain(shortened(name))}",
                "e.g. 0.25",
                f"event_weight_{k}",
                "A share from outside the file. All together make 1.",
            )


def _ask_curves(current: Draft, is_typed: bool) -> None:
    """Ask for the range of curves, and for what else is known of them."""
    curves = current.curves
    is_single = TASKS[current.task].data is DataType.READINGS
    words = words_of(current)
    value = uncapital(plain(words["value_name"] or "value"))
    if is_typed:
        of_curve = " of the curve" if is_single else ""
        fields.pair(
            (f"Range of {value}{of_curve}: from", "e.g. 60", "value_low"),
            (f"Range of {value}{of_curve}: to", "e.g. 210", "value_high"),
        )
        fields.origin("national growth chart")
        _library()
    if is_single:
        fields.spread(
            f"How far one {value} typically lies from the curve (σ)",
            "Standard deviation of single "
            "observations around the curve at the same time: about two in three lie within σ. From a "
            "manual of the device or an earlier study. Too small: large ones are cut and the curve "
            "is pulled to the middle. Too large: more noise.",
        )
    for name in curves.covariate_names:
        fields.covariate(name)
    fields.units(curves.value_column, "value", words["value_unit"])
    with st.popover("Names, units and more"):
        fields.nouns(OF_CURVES)
        is_of_rows = current.reading.person is not None and current.reading.person.rows
        fields.nouns(_OF_ROWS if is_of_rows else OF_PEOPLE)
        if not is_single:
            _guess((number_of("value_low"), number_of("value_high")), words)
            st.selectbox(
                "Distribution of people about their mean",
                tuple(_SPREAD),
                format_func=_SPREAD.__getitem__,
                key="upload_symmetric",
                help="If you declare symmetry, extreme people are clipped harder and the error "
                "falls. If that is wrong, the band can miss the truth. In doubt leave it at not "
                "known.",
            )


def _guess(ends: tuple[Bound, Bound], words: dict[str, Any]) -> None:
    """Ask how far most people are from the average; without a guess bounds propose one."""
    low, high = ends
    proposed = ""
    if low is not None and high is not None and low < high:
        proposed = f"{guessed_spread(PublicFacts(value_low=low, value_high=high)):.2g} if empty"
    of_unit = f", {plain(words['value_unit'])}" if words["value_unit"] else ""
    people = plain(words["people"] or "people")
    fields.number(
        f"Most {people} are within … of the average{of_unit}",
        proposed or "e.g. 10",
        "guessed_spread",
        "About two in three observations at "
        "the same time. A guess from earlier studies, never from this file: only the "
        "forecast of the error uses it, and nothing that is released.",
    )


def _library() -> None:
    """Choose publicly known bounds, which fill the fields; these stay free to change."""
    library = public_bounds()
    st.selectbox(
        "Start from public bounds (optional)",
        list(library),
        index=None,
        format_func=lambda key: library[key].label,
        key="upload_library",
        placeholder="Height, glucose, temperature …",
        on_change=partial(_fill, "upload_library"),
        help="Each comes with its source. Check that it suits your study.",
    )


def _fill(field: str) -> None:
    """Take over the public bounds that a field names, if any."""
    entry = public_bounds().get(st.session_state[field] or "")
    if entry is not None:
        take_over(entry, st.session_state.update)


def _ask_rows(rows: CurveTable | RowTable | EventTable, task: str) -> None:
    assert isinstance(rows, RowTable)
    _ranges(rows.covariate_names)
    if rows.value_name:
        _response(rows.value_name, task)
    fields.origin("manual of the device")
    with st.popover("Names"):
        fields.nouns(OF_PEOPLE)


def _ranges(names: tuple[str, ...]) -> None:
    """Ask one by one if they are few; else one pair for all, and own pairs if they differ."""
    if len(names) <= MAX_LISTED:
        for name in names:
            fields.covariate(name)
        return
    fields.pair(
        ("Range of all features: from", "e.g. 0", "rows_all_low"),
        ("Range of all features: to", "e.g. 100", "rows_all_high"),
    )
    others = st.multiselect(
        "Features with bounds of their own",
        names,
        key=key_of("rows_others"),
        format_func=shortened,
        placeholder="None",
        help="Everything else has the bounds above.",
    )
    for name in others:
        fields.covariate(name)


def _response(name: str, task: str) -> None:
    """Ask for the range of the response and the task's other facts."""
    states = TASKS[task].states
    if "two_classes" in states:
        st.toggle(
            "It has only two values (yes or no)",
            key="rows_two_classes",
            help="State the numbers "
            "of both below, such as 0 and 1. What lies above their middle is the second class; "
            "all else, and what is missing, the first.",
        )
    fields.covariate(name)
    if "spread" in states:
        fields.spread(
            f"How far {plain(shortened(name))} typically lies from what the features say (σ)",
            "A standard deviation, from an earlier study: about two in three lie within σ. Too "
            "small: what lies far off is cut, which pulls coefficients to zero. Too large: more "
            "noise.",
        )
    if "reach" in states:
        st.selectbox(
            "How features lie in their ranges",
            [*REACHES],
            index=None,
            key="rows_reach",
            placeholder="Choose",
            help="Says how many standard deviations a range reaches to each "
            "side. Features and response are measured from the middle of their ranges, so choose "
            "bounds whose middle is typical. A wrong guess costs accuracy, never protection.",
        )
