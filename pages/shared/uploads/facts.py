"""A person's statements about their own file: words, bounds, origin and their source.

Everything is empty at first, and nothing is filled from the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.names import uncapital
from engine.core.tasks import TASKS, DataType
from engine.core.types import PublicFacts
from engine.numerics.counts.cells import Counted
from engine.release.request import StatedFacts, stated_in
from engine.sources.twin import guessed_spread
from engine.uploads.bounds_library import public_bounds
from engine.uploads.curves import CurveTable
from engine.uploads.design import StatedDesign, StatedLaw, laws_for, numbers_in
from engine.uploads.events import EventColumns, EventTable, declare_events
from engine.uploads.facts import REACHES, StatedCovariate, declare, declare_rows
from engine.uploads.records import event_columns
from engine.uploads.rows import RowTable
from engine.uploads.units import in_words, same_unit, unit_in_name
from pages.shared.frame.controls import entered, message, plain, written
from pages.shared.uploads import columns, draft, frozen
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of

Bound = float | None
Fields = tuple[tuple[str, str, str], ...]  # field of `PublicFacts`, label, example
_OF_CURVES: Fields = (
    ("value_name", "What is measured", "Height"),
    ("value_unit", "Unit", "cm"),
    ("time_name", "Horizontal axis", "Age"),
    ("time_unit", "Unit of the axis", "years"),
)
_OF_PEOPLE: Fields = (("person", "Unit of protection", "child"), ("people", "Plural", "children"))
_OF_ROWS: Fields = (("person", "Unit of protection (a row)", "scan"), ("people", "Plural", "scans"))
_FROM_OUTSIDE = (
    "These come from outside the file: {}, a law. Taken from the file, "
    "they would reveal something about it.{}"
)
_LEADS = {
    DataType.CURVES: _FROM_OUTSIDE.format("a growth chart, a manual", ""),
    DataType.READINGS: _FROM_OUTSIDE.format(
        "a growth chart, a manual",
        " The bounds are those of the curve; single observations may lie beyond.",
    ),
    DataType.RECORDS: _FROM_OUTSIDE.format(
        "a manual, an earlier study",
        " **One row is one record, and one record is protected: "
        "somebody with several rows is protected less.**",
    ),
}
_LEADS_OF_EVENTS = {
    Counted.OUTCOMES: "These come from outside the file: the protocol says how long people are "
    "followed. The longest time in the file would reveal somebody.",
    Counted.VALUES: _FROM_OUTSIDE.format("a manual", ""),
    Counted.LABELS: _FROM_OUTSIDE.format("the definition of the score", ""),
}
_OF_EXAMPLE = (
    "**Filled in for you:** the public facts by which this example was simulated. For "
    "a file of your own they come from outside it; taken from the file, they would "
    "reveal something about it."
)
_OF_TIMES: Fields = (
    ("time_name", "What is measured", "Time since surgery"),
    ("time_unit", "Unit", "days"),
)
_LONGEST = 40  # characters of a word or unit
_REFUSED = "number_of_form_refused"  # session key: True if a field holds no number
_MAX_LISTED = 3  # more columns get a choice between one range and several
_SPREAD = {False: "Not known, or with skew, groups or outliers", True: "Symmetric about their mean"}


def bounds_step(task: str) -> bool:
    """Ask for the public bounds of a file whose reading is confirmed; True once they are whole.

    The file says nothing to them before they are frozen: see `frozen.freeze`.
    """
    current, data = draft.of(task), TASKS[task].data
    if current is None:
        return False
    st.session_state[_REFUSED] = False
    frozen.say_answer()
    counted = columns.kind_of(task)
    lead = _LEADS_OF_EVENTS[counted] if isinstance(counted, Counted) else _LEADS[data]
    st.markdown(_OF_EXAMPLE if draft.is_example() else lead)
    if isinstance(counted, Counted):
        declared, numbers = _of_events(
            event_columns(current.reading, counted), "start" in current.reading.columns
        )
    else:
        declared, numbers = (
            _of_rows(current.observations, task)
            if data is DataType.RECORDS
            else _of_curves(current)
        )
    draft.declare(None)
    if st.session_state[_REFUSED]:  # its field shows the error
        return False
    is_begun = any(number is not None for number in numbers)
    try:
        facts = declared()
    except InputError as first:
        is_open = (
            first.field == "observations_per_curve"  # the only number in no library
            and not st.session_state.get("upload_observations")
        )
        if not is_open and (is_begun or st.session_state.get("upload_origin")):
            raise
        st.info(message(first), icon=":material/edit:")
        return False
    draft.declare(facts)
    if (answer := draft.answer_of_file()) is not None:
        now = frozen.stated(task, current.reading, facts)
        frozen.say_changed(
            {
                *answer.frozen.changed,
                *(
                    name
                    for name in {*now, *answer.stated}
                    if now.get(name) != answer.stated.get(name)
                ),
            }
        )
    return True


# -- of curves and of records ---------------------------------------------------------------------

Stated = tuple[Callable[[], PublicFacts], Sequence[Bound]]  # its declaration, and its numbers


def _of_events(columns: EventColumns, of_dates: bool) -> Stated:
    """Ask for planned follow-up, or range; intervals, and sizes of groups if they are public."""
    outcomes = columns.counted is Counted.OUTCOMES
    words = {**_words(_OF_TIMES), **_words(_OF_PEOPLE)}
    if outcomes:
        if of_dates and not words["time_unit"]:
            words["time_unit"] = "days"
        low: Bound = 0.0
        high = _number(
            "Planned follow-up",
            "e.g. 1095",
            "time_high",
            "From the protocol, in the "
            "unit of the times. People who are followed longer count as event-free "
            "until then.",
        )
    else:
        low, high = _pair(
            ("Range: from", "e.g. 0", "time_low"), ("Range: to", "e.g. 1", "time_high")
        )
    edges = _numbers(
        "Edges of intervals (optional)",
        "event_edges",
        "e.g. 0, 90, 180, 365",
        "From the plan of the study. Left empty, there are as many equally wide "
        "intervals as people and ε allow.",
    )
    step = (
        _number(
            "Times are recorded in steps of (optional)",
            "e.g. 1",
            "time_step",
            "In the unit of the times: 1 for whole days if the unit is days. Left empty, "
            "the confidence interval of a median ends at edges of intervals, since times "
            "may be heaped on months or years.",
        )
        if outcomes
        else None
    )
    origin = _origin("protocol of the study" if outcomes else "manual of the device")
    sizes = _group_sizes(columns.groups) if columns.groups else ()
    return (
        partial(declare_events, low, high, origin, columns, edges, sizes, step, **words),
        (high,) if outcomes else (low, high),
    )


def _group_sizes(groups: Sequence[str]) -> tuple[int, ...]:
    """Ask for the public number of people in each group."""
    if not st.toggle(
        "The sizes of the groups are public",
        key="upload_event_sizes_public",
        help="In a trial they are, in a registry usually not. Public sizes make the "
        "comparison more accurate.",
    ):
        return ()
    sizes = [
        _number(f"People in {plain(shortened(name))}", "e.g. 120", f"event_size_{k}", is_whole=True)
        for k, name in enumerate(groups)
    ]
    return tuple(0 if size is None or math.isnan(size) else int(size) for size in sizes)


def _of_curves(current: Draft) -> Stated:
    curves, reading = current.observations, current.reading
    assert isinstance(curves, CurveTable) and reading.person is not None
    is_of_rows = reading.person.rows
    is_single = TASKS[current.task].data is DataType.READINGS
    _library()
    words = {**_words(_OF_CURVES), **_words(_OF_ROWS if is_of_rows else _OF_PEOPLE)}
    if is_of_rows and not words["person"]:  # a protected row is no person
        words |= {"person": "row", "people": "rows"}
    _units(curves, words)
    if not words["time_unit"] and curves.time_unit != "years":
        words["time_unit"] = curves.time_unit
    value = uncapital(plain(words["value_name"] or "value"))
    time = uncapital(plain(words["time_name"] or "time"))
    of_curve = " of the curve" if is_single else ""
    left, right = st.columns(2)
    with left:
        values = _pair(
            (f"Range of {value}{of_curve}: from", "e.g. 60", "value_low"),
            (f"Range of {value}{of_curve}: to", "e.g. 210", "value_high"),
        )
    with right:
        times = _pair(
            (f"Range of {time}: from", "e.g. 2", "time_low"),
            (f"Range of {time}: to", "e.g. 18", "time_high"),
        )
    spread = (
        _spread(
            f"How far one {value} typically lies from the curve (σ)",
            "Standard deviation of single "
            "observations around the curve at the same time: about two in three lie within σ. From a "
            "manual of the device or an earlier study. Too small: large ones are cut and the curve "
            "is pulled to the middle. Too large: more noise.",
        )
        if is_single
        else None
    )
    plan = _plan(curves, time, words["time_unit"] or curves.time_unit, is_single)
    if not is_single:
        plan["guessed_spread"] = _guess(values, words)
    covariates = [_covariate(name) for name in curves.covariate_names]
    origin = _origin("national growth chart")
    periodic = st.toggle(
        "The curve ends where it began (a day, a year)",
        key="upload_periodic",
        help="Both ends of the released curve are then the same, and each helps "
        "the other. Both would be wrong for a curve that ends elsewhere.",
    )
    others = {**plan, **words, "periodic": periodic}
    return partial(declare, *values, *times, origin, covariates, is_single, spread, **others), (
        *values,
        *times,
    )


def _guess(ends: tuple[Bound, Bound], words: dict[str, Any]) -> Bound:
    """Ask how far most people are from the average; without a guess bounds propose one."""
    low, high = ends
    proposed = ""
    if low is not None and high is not None and low < high:
        proposed = f"{guessed_spread(PublicFacts(value_low=low, value_high=high)):.2g} if empty"
    of_unit = f", {plain(words['value_unit'])}" if words["value_unit"] else ""
    people = plain(words["people"] or "people")
    return _number(
        f"Most {people} are within … of the average{of_unit}",
        proposed or "e.g. 10",
        "guessed_spread",
        "About two in three observations at "
        "the same time. A guess from earlier studies, never from this file: only the "
        "forecast of the error uses it, and nothing that is released.",
    )


def _units(curves: CurveTable, words: dict[str, Any]) -> None:
    """Point out column names with another unit than the stated one."""
    for role, name, stated in (
        ("value", curves.value_column, words["value_unit"]),
        ("time", curves.time_column, words["time_unit"]),
    ):
        unit = unit_in_name(name, of_time=role == "time") if name else ""
        if not stated or not unit or same_unit(unit, stated):
            continue
        slot = st.container()
        if st.checkbox(
            f"The {role}s of the file are in {plain(stated)}, as stated",
            key=key_of(f"upload_unit_of_{role}_{stated}"),
        ):
            continue
        st.session_state[_REFUSED] = True
        problem = InputError(
            f"The column “{shortened(str(name))}” is in {in_words(unit)} by its name, and {stated} "
            "is stated.",
            hint=f"State unit and range in {in_words(unit)}, or tick what holds.",
        )
        slot.error(message(problem), icon=":material/error:")


def _library() -> None:
    """Choose publicly known bounds, which fill the fields; these stay free to change."""
    library = public_bounds()
    with st.container(horizontal=True, vertical_alignment="bottom", key="start_of_bounds"):
        st.selectbox(
            "Start from public bounds (optional)",
            list(library),
            index=None,
            format_func=lambda key: library[key].label,
            key="upload_library",
            placeholder="Height, glucose, temperature …",
            on_change=_fill,
            help="Each comes with its source. Check that it suits your study.",
        )
        _earlier_release()


def _earlier_release() -> None:
    """Take statements over from the saved settings of an earlier release."""
    with st.popover("From an earlier release", icon=":material/replay:"):
        st.file_uploader(
            "Its settings: again.json",
            "json",
            key="upload_settings",
            on_change=_restore,
            max_upload_size=1,
        )
    problem: InputError | None = st.session_state.pop("upload_settings_problem", None)
    if problem is not None:
        st.error(message(problem), icon=":material/error:")


def _restore() -> None:
    """Fill the fields with what the settings of an earlier release state; they stay free."""
    file = st.session_state.upload_settings
    if file is None:
        return
    try:
        stated = stated_in(file.getvalue().decode("utf-8", "replace"))
    except InputError as problem:
        st.session_state.upload_settings_problem = problem
        return
    for name, value in _fields(stated).items():
        st.session_state[name] = value


def _fields(stated: StatedFacts) -> dict[str, Any]:
    """Return the fields of the form, by key, as that file states them."""
    design = stated.design
    fields: dict[str, Any] = {
        **{name: word[:_LONGEST] for name, word in stated.words.items()},
        **{name: _written(number) for name, number in stated.numbers.items()},
        **stated.flags,
        "law": design.law,
        "gap": _written(design.gap),
        "window": _written(design.window),
        "times": _typed(design.times),
        "heights": _typed(design.heights),
        "event_edges": _typed(stated.edges),
        "origin": stated.words.get("origin"),
    }
    if planned := fields.pop("observations_per_curve", None):
        fields["observations"] = planned
    for covariate in stated.covariates:
        key = f"covariate_{covariate.name}"
        fields |= {
            f"{key}_low": _written(covariate.low),
            f"{key}_high": _written(covariate.high),
            f"{key}_unit": covariate.unit[:_LONGEST],
        }
    of_rows = {
        "rows_two_classes": fields.pop("two_classes", None),
        key_of("rows_others"): [covariate.name for covariate in stated.features]
        if len(stated.features) > _MAX_LISTED
        else None,
    }
    by_key = {f"upload_{name}": value for name, value in fields.items()} | of_rows
    return {key: value for key, value in by_key.items() if value is not None}


def _typed(numbers: Sequence[float]) -> str | None:
    return ", ".join(map(written, numbers)) or None


def _written(number: Bound) -> str | None:
    return None if number is None else written(number)


def _fill() -> None:
    bounds = public_bounds().get(st.session_state.upload_library or "")
    if bounds is not None:
        stated = {**vars(bounds), "origin": bounds.source}
        for name in (
            "value_name",
            "value_unit",
            "value_low",
            "value_high",
            "time_name",
            "time_unit",
            "time_low",
            "time_high",
            "person",
            "people",
            "periodic",
            "origin",
        ):
            value = stated[name]
            st.session_state[f"upload_{name}"] = (
                written(value) if isinstance(value, float) else value
            )


def _of_rows(rows: CurveTable | RowTable | EventTable | None, task: str) -> Stated:
    assert not isinstance(rows, CurveTable | EventTable)
    words = _words(_OF_PEOPLE)
    covariates = _ranges(rows.covariate_names) if rows is not None else []
    response = _response(rows.value_name, task) if rows is not None and rows.value_name else {}
    origin = _origin("manual of the device")
    ranges = [*covariates, *([response["value"]] if response else [])]
    return (
        partial(declare_rows, task, covariates, origin, **response, **words),
        [end for stated in ranges for end in (stated.low, stated.high)],
    )


def _origin(example: str) -> str:
    return st.text_input(
        "Source of these bounds",
        key="upload_origin",
        placeholder=f"e.g. {example}, 2019",
        max_chars=200,
    )


def _words(question: Fields) -> dict[str, Any]:
    """Ask for the nouns, two in a row on a phone; empty if nothing was stated."""
    words = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label, example in question:
            words[name] = st.text_input(
                label, key=f"upload_{name}", placeholder=f"e.g. {example}", max_chars=_LONGEST
            ).strip()
    if words.get("person") and not words["people"]:
        words["people"] = f"{words['person']}s"
    return words


# -- numbers --------------------------------------------------------------------------------------


def _number(
    label: str, example: str, key: str, why: str | None = None, is_whole: bool = False
) -> Bound:
    """Read a typed number; None if empty, and NaN, with a message, if it is none."""
    number = entered(label, f"upload_{key}", is_whole, placeholder=example, help=why)
    if number is not None and math.isnan(number):
        st.session_state[_REFUSED] = True
    return number


def _pair(low: tuple[str, str, str], high: tuple[str, str, str]) -> tuple[Bound, Bound]:
    """Draw two numbers side by side."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        return _number(*low), _number(*high)


def _covariate(name: str) -> StatedCovariate:
    """Ask for facts about one column; they stay with that column when another is chosen."""
    label, key = plain(shortened(name)), f"covariate_{name}"
    low, high, unit = st.columns([2, 2, 1], vertical_alignment="bottom")
    with low:
        lowest = _number(f"Range of {label}: from", "e.g. 0", f"{key}_low")
    with high:
        highest = _number(f"Range of {label}: to", "e.g. 1", f"{key}_high")
    with unit:
        its_unit = st.text_input(
            "Its unit", key=f"upload_{key}_unit", placeholder="e.g. cm", max_chars=_LONGEST
        )
    return StatedCovariate(name, lowest, highest, its_unit.strip())


def _ranges(names: tuple[str, ...]) -> list[StatedCovariate]:
    """Ask one by one if they are few; else one pair for all, and own pairs if they differ."""
    if len(names) <= _MAX_LISTED:
        return [_covariate(name) for name in names]
    ends = _pair(
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
    differing = {name: _covariate(name) for name in others}
    return [differing.get(name, StatedCovariate(name, *ends)) for name in names]


def _spread(label: str, why: str) -> Bound:
    """Ask for σ, which changes the bias and the noise, never the protection."""
    return _number(label, "e.g. 6", "reading_sd", f"{why} The protection holds in any case.")


def _response(name: str, task: str) -> dict[str, Any]:
    """Ask for the range of the response and the task's other facts: arguments of `declare_rows`."""
    states = TASKS[task].states
    response: dict[str, Any] = {}
    if "two_classes" in states:
        response["two_classes"] = st.toggle(
            "It has only two values (yes or no)",
            key="rows_two_classes",
            help="State the numbers "
            "of both below, such as 0 and 1. What lies above their middle is the second class; "
            "all else, and what is missing, the first.",
        )
    response["value"] = _covariate(name)
    if "spread" in states:
        response["spread"] = _spread(
            f"How far {plain(shortened(name))} typically lies from what the features say (σ)",
            "A standard deviation, from an earlier study: about two in three lie within σ. Too "
            "small: what lies far off is cut, which pulls coefficients to zero. Too large: more "
            "noise.",
        )
    if "reach" in states:
        reach = st.selectbox(
            "How features lie in their ranges",
            [*REACHES],
            index=None,
            key="rows_reach",
            placeholder="Choose",
            help="Says how many standard deviations a range reaches to each "
            "side. Features and response are measured from the middle of their ranges, so choose "
            "bounds whose middle is typical. A wrong guess costs accuracy, never protection.",
        )
        response["reach"] = None if reach is None else REACHES[reach]
    return response


# -- how curves were observed ---------------------------------------------------------------------


def _plan(curves: CurveTable, time: str, unit: str, is_single: bool) -> dict[str, Any]:
    """Ask for design, number of observations and spread of people: arguments of `declare`."""
    laws = laws_for(is_single)
    law = st.selectbox(
        "Distribution of observation times",
        [law.value for law in laws],
        index=laws.index(StatedLaw.UNKNOWN),
        format_func=lambda law: StatedLaw(law).label,
        key="upload_law",
        help="From the plan of the study, not from the file. Times on their own are the most "
        "accurate to estimate with, if they are so. “Not known” is always possible: methods then "
        "rely on nothing but what they release, with more noise.",
    )
    design = _design(law, curves, time, unit)
    if is_single:
        return {"design": design}
    observations = _number(
        "Observations planned for each curve",
        "as many as common times" if law == StatedLaw.COMMON else "e.g. 8",
        "observations",
        "A public number, from the protocol or the device: every five minutes of a day are 288. "
        "Single curves may have more or fewer: how many they have stays private.",
        is_whole=True,
    )
    symmetric = st.selectbox(
        "Distribution of people about their mean",
        tuple(_SPREAD),
        format_func=_SPREAD.__getitem__,
        key="upload_symmetric",
        help="If you declare symmetry, extreme people are clipped harder and the error falls. "
        "If that is wrong, the band can miss the truth. In doubt leave it at not known.",
    )
    return {"design": design, "observations": observations, "symmetric": bool(symmetric)}


def _design(law: str | None, curves: CurveTable, time: str, unit: str) -> StatedDesign:
    """Ask for the parameters of the law, in the unit of the times."""
    of_unit, why = (
        (f", {plain(unit)}", f"In {plain(unit)}.") if unit else ("", "In the unit of the file.")
    )
    details: dict[str, Any] = {}
    if law == StatedLaw.COMMON:
        details["times"] = _common(curves, time, why)
    elif law == StatedLaw.VISITS:
        details["gap"] = _number(
            f"Interval between observations{of_unit}",
            "e.g. 0.5",
            "gap",
            f"From a device or a plan of visits. {why}",
        )
    elif law == StatedLaw.WINDOWS:
        details["window"] = _number(
            f"Length of the stretch of one person{of_unit}", "e.g. 0.5", "window", why
        )
    elif law == StatedLaw.DENSITY:
        details["heights"] = _numbers(
            f"How often times occur, from first to last {time}",
            "heights",
            "e.g. 1, 2, 1",
            "Relative heights at equally spaced times, joined by straight lines.",
        )
    return StatedDesign(law=law, **details)


def _common(curves: CurveTable, time: str, why: str) -> tuple[float, ...]:
    """Return the times in the header, once confirmed, or those typed in."""
    header = curves.header_times
    if header and st.checkbox(
        f"The {counted(len(header), 'time')} in the header of the file were planned for "
        "everybody and may be published",
        key=key_of("upload_header_public"),
        help="Not if the file was spread out by another program: then a column may be the own "
        "visit of one person.",
    ):
        return header
    return _numbers(
        f"The common times ({time})",
        "times",
        "e.g. 2, 6, 10, 14 or 0 to 24 by 0.5",
        f"{why} Each observation is moved to the nearest of them.",
    )


def _numbers(label: str, name: str, example: str, why: str) -> tuple[float, ...]:
    text = st.text_input(
        label, key=f"upload_{name}", placeholder=example, help=why, max_chars=20_000
    )
    try:
        return numbers_in(text, name)
    except InputError:
        return (math.nan,)  # `declare` refuses it in its place, so that the form stays whole
