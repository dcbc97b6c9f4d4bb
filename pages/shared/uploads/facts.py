"""A person's statements about their own file: when people were measured, ranges and their source.

The file proposes when people were measured and what things are called, for its holder to state.
It never proposes a range of values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.names import uncapital
from engine.core.tasks import TASKS, DataType
from engine.core.types import PublicFacts
from engine.language.numbers import whole
from engine.numerics.counts.cells import Counted
from engine.release.request import StatedFacts, stated_in
from engine.sources.twin import guessed_spread
from engine.uploads.bounds_library import PublicBounds, public_bounds
from engine.uploads.curves import CurveTable
from engine.uploads.design import StatedDesign, StatedLaw, laws_for
from engine.uploads.events import EventColumns, EventTable
from engine.uploads.facts import REACHES
from engine.uploads.records import event_columns
from engine.uploads.rows import RowTable
from engine.uploads.units import in_words, same_unit, unit_in_name
from pages.shared.frame.controls import entered, message, plain, written
from pages.shared.uploads import columns, draft, frozen, questions
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of
from pages.shared.uploads.questions import Alternative, Answers, QuestionWords
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
    list_of,
    number_of,
    of_law,
    sizes_of,
    take_over,
    text_of,
    without_range,
    words_of,
)

_OF_ROWS: Fields = (("person", "Unit of protection (a row)", "scan"), ("people", "Plural", "scans"))
_LONGEST = 40  # characters of a word or unit
_REFUSED = "number_of_form_refused"  # session key: True if a field holds no number
_SPREAD = {False: "Not known, or with skew, groups or outliers", True: "Symmetric about their mean"}


# -- when were they measured -----------------------------------------------------------------------

_USUAL = (StatedLaw.COMMON, StatedLaw.EVEN, StatedLaw.VISITS, StatedLaw.UNKNOWN)


def when(current: Draft) -> bool:
    """Ask when people were measured; True once the answer is whole."""
    st.session_state[_REFUSED] = False
    curves = current.observations
    assert isinstance(curves, CurveTable)
    is_single = TASKS[current.task].data is DataType.READINGS
    able = laws_for(is_single)
    others = [law for law in able if law not in _USUAL]
    now = draft.answered("upload_law")
    laws = [law for law in able if law in _USUAL or (law in others and now == law)]
    suggested = draft.suggested("upload_law")
    laws.sort(key=lambda law: law != suggested)
    alternatives = _laws_priced(current, laws) if not is_single else {}
    known, wait = questions.priced(current.task, alternatives)
    facts = next((each.facts for each in alternatives.values()), None)
    prices = {} if facts is None else questions.half_widths(known, [*alternatives], facts)
    law = questions.question(
        "when",
        f"Proposed: {_plan_in_words()}." if suggested else "The file does not tell.",
        Answers("upload_law", {str(law): _label(law) for law in laws}),
        prices,
    )
    is_proposed = bool(draft.suggested("upload_time_low"))
    words = words_of(current)
    time, unit = uncapital(plain(words["time_name"] or "time")), plain(words["time_unit"])
    with st.popover("Range, number and more") if is_proposed else st.container():
        _pair(
            (f"Range of {time}: from", "e.g. 2", "time_low"),
            (f"Range of {time}: to", "e.g. 18", "time_high"),
        )
        if not is_single:
            _number(
                "Observations planned for each curve",
                "as many as common times" if law == StatedLaw.COMMON else "e.g. 8",
                "observations",
                "A public number, from the protocol or the device: every five minutes of a day "
                "are 288. Single curves may have more or fewer: how many they have stays private.",
                is_whole=True,
            )
        _design(law, time, unit)
        _units(curves, words, "time")
        st.toggle(
            "The curve ends where it began (a day, a year)",
            key="upload_periodic",
            help="Both ends of the released curve are then the same, and each helps "
            "the other. Both would be wrong for a curve that ends elsewhere.",
        )
        for other in others:
            st.button(
                other.label,
                key=f"law_{other}",
                type="tertiary",
                on_click=draft.put,
                kwargs={"upload_law": str(other)},
            )
    questions.evidence(
        f"{whole(len(curves.times))} observations, by {time}.",
        curves.times,
        *_ends("time", curves.times),
    )
    wait()
    return law is not None and _is_whole(lambda: without_range(current), law, "time_low")


def _laws_priced(current: Draft, laws: Sequence[StatedLaw]) -> dict[str, Alternative]:
    """Return the release under each answer, as far as its parameters are stated."""
    found = {}
    bounds = fitting(current)
    for law in laws:
        try:
            facts = without_range(current, of_law(replace(_typed_design(), law=str(law))))
        except InputError:
            continue
        if bounds:
            entry = public_bounds()[bounds[0]]
            facts = replace(
                facts,
                value_low=entry.value_low,
                value_high=entry.value_high,
                value_unit=entry.value_unit,
            )
        found[str(law)] = Alternative(facts, sizes_of(current, facts))
    return found


def _typed_design() -> StatedDesign:
    return StatedDesign(
        times=list_of("times"),
        gap=number_of("gap"),
        window=number_of("window"),
        heights=list_of("heights"),
    )


def _label(law: StatedLaw) -> str:
    if law is StatedLaw.UNKNOWN:
        return "I do not know"
    if law is StatedLaw.COMMON and (times := list_of("times")) and not math.isnan(times[0]):
        return f"Everybody at the same {len(times)} times"
    return law.label


def _plan_in_words() -> str:
    """Write the proposed times."""
    unit = plain(text_of("time_unit"))
    times = text_of("times") if draft.answered("upload_law") == StatedLaw.COMMON else ""
    spanned = times if " to " in times else f"{text_of('time_low')} to {text_of('time_high')}"
    return f"{spanned} {unit}".strip()


def _ends(name: str, values: Array) -> tuple[float, float]:
    """Return the stated ends of a range, else those of the numbers."""
    low, high = number_of(f"{name}_low"), number_of(f"{name}_high")
    if low is None or high is None or not low < high:
        return float(np.nanmin(values)), float(np.nanmax(values))
    return low, high


def _is_whole(state: Callable[[], PublicFacts], *begun: Any) -> bool:
    """True if all is stated; else say what is missing, as an error once something was typed."""
    if st.session_state[_REFUSED]:  # its field shows the error
        return False
    try:
        state()
    except InputError as problem:
        is_begun = any(begun) and any(
            text_of(name) for name in ("value_low", "value_high", "origin")
        )
        is_times = problem.field in ("times", "gap", "window", "heights", "design")
        if is_begun or is_times:
            st.error(message(problem), icon=":material/error:")
        else:
            st.info(message(problem), icon=":material/edit:")
        return False
    return True


# -- between which values --------------------------------------------------------------------------

_BETWEEN = {
    Counted.OUTCOMES: QuestionWords(
        "How long were they followed?",
        "The protocol says so. The longest time in the file would reveal somebody.",
    )
}


def between(current: Draft) -> bool:
    """Ask for ranges and their source; True once all facts are whole."""
    st.session_state[_REFUSED] = False
    kind = columns.kind_of(current.task)
    matched, library = fitting(current), public_bounds()
    labels = {
        **{key: f"{_span(library[key])}, {_short(library[key].source)}" for key in matched},
        OTHER: "Other limits, with their source" if matched else "These limits, with their source",
        OF_FILE: "From this file",
    }
    alternatives = _ranges_priced(current, matched)
    known, wait = questions.priced(current.task, alternatives)
    prices = {OF_FILE: "exploring only"}
    for key, each in alternatives.items():
        prices |= questions.half_widths(known, [key], each.facts)
    chosen = questions.question(
        "between",
        "Proposed: public limits." if matched else "Nothing is proposed.",
        Answers(key_of("upload_bounds"), labels, matched[0] if matched else OTHER),
        prices,
        _fill_chosen,
        _BETWEEN.get(kind),
    )
    if isinstance(kind, Counted):
        _ask_events(event_columns(current.reading, kind))
    elif TASKS[current.task].data is DataType.RECORDS:
        _ask_rows(current.observations, current.task)
    else:
        _ask_curves(current, chosen == OTHER)
    values = _evidence_of(current)
    if values is not None:
        low, high = _ends("time" if isinstance(kind, Counted) else "value", values)
        questions.evidence(
            f"{whole(len(values))} numbers; {questions.share_outside(values, low, high)}",
            values,
            low,
            high,
        )
    wait()
    is_whole = _is_whole(lambda: declared(current), *_begun(current))
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
    ranges = {key: _ends_of(public_bounds()[key]) for key in matched}
    typed = number_of("value_low"), number_of("value_high")
    if typed not in ranges.values() and None not in typed and typed[0] < typed[1]:  # type: ignore[operator]
        ranges[OTHER] = typed  # type: ignore[assignment]
    found = {}
    for key, (low, high) in ranges.items():
        stated = replace(facts, value_low=low, value_high=high)
        if key in matched:
            stated = replace(stated, value_unit=public_bounds()[key].value_unit)
        found[key] = Alternative(stated, sizes_of(current, stated))
    return found


def _ends_of(entry: PublicBounds) -> tuple[float, float]:
    return entry.value_low, entry.value_high


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
        _number(
            "Planned follow-up",
            "e.g. 1095",
            "time_high",
            "From the protocol, in the unit of the times. People who are followed longer count "
            "as event-free until then.",
        )
    else:
        _pair(("Range: from", "e.g. 0", "time_low"), ("Range: to", "e.g. 1", "time_high"))
    _origin("protocol of the study" if outcomes else "manual of the device")
    with st.popover("Names, intervals and more"):
        _ask_words(OF_TIMES)
        _ask_words(OF_PEOPLE)
        _numbers(
            "Edges of intervals (optional)",
            "event_edges",
            "e.g. 0, 90, 180, 365",
            "From the plan of the study. Left empty, there are as many equally wide "
            "intervals as people and ε allow.",
        )
        if outcomes:
            _number(
                "Times are recorded in steps of (optional)",
                "e.g. 1",
                "time_step",
                "In the unit of the times: 1 for whole days if the unit is days. Left empty, "
                "the confidence interval of a median ends at edges of intervals, since times "
                "may be heaped on months or years.",
            )
        if columns.groups:
            _group_sizes(columns.groups)


def _group_sizes(groups: Sequence[str]) -> None:
    """Ask for the public number of people in each group."""
    if st.toggle(
        "The sizes of the groups are public",
        key="upload_event_sizes_public",
        help="In a trial they are, in a registry usually not. Public sizes make the "
        "comparison more accurate.",
    ):
        for k, name in enumerate(groups):
            _number(
                f"People in {plain(shortened(name))}", "e.g. 120", f"event_size_{k}", is_whole=True
            )


def _ask_curves(current: Draft, is_typed: bool) -> None:
    """Ask for the range of curves, and for what else is known of them."""
    curves = current.observations
    assert isinstance(curves, CurveTable)
    is_single = TASKS[current.task].data is DataType.READINGS
    words = words_of(current)
    value = uncapital(plain(words["value_name"] or "value"))
    if is_typed:
        of_curve = " of the curve" if is_single else ""
        _pair(
            (f"Range of {value}{of_curve}: from", "e.g. 60", "value_low"),
            (f"Range of {value}{of_curve}: to", "e.g. 210", "value_high"),
        )
        _origin("national growth chart")
        _library()
    if is_single:
        _spread(
            f"How far one {value} typically lies from the curve (σ)",
            "Standard deviation of single "
            "observations around the curve at the same time: about two in three lie within σ. From a "
            "manual of the device or an earlier study. Too small: large ones are cut and the curve "
            "is pulled to the middle. Too large: more noise.",
        )
    for name in curves.covariate_names:
        _covariate(name)
    _units(curves, words, "value")
    with st.popover("Names, units and more"):
        _ask_words(OF_CURVES)
        is_of_rows = current.reading.person is not None and current.reading.person.rows
        _ask_words(_OF_ROWS if is_of_rows else OF_PEOPLE)
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
        _earlier_release()


def _guess(ends: tuple[Bound, Bound], words: dict[str, Any]) -> None:
    """Ask how far most people are from the average; without a guess bounds propose one."""
    low, high = ends
    proposed = ""
    if low is not None and high is not None and low < high:
        proposed = f"{guessed_spread(PublicFacts(value_low=low, value_high=high)):.2g} if empty"
    of_unit = f", {plain(words['value_unit'])}" if words["value_unit"] else ""
    people = plain(words["people"] or "people")
    _number(
        f"Most {people} are within … of the average{of_unit}",
        proposed or "e.g. 10",
        "guessed_spread",
        "About two in three observations at "
        "the same time. A guess from earlier studies, never from this file: only the "
        "forecast of the error uses it, and nothing that is released.",
    )


def _units(curves: CurveTable, words: dict[str, Any], of: str) -> None:
    """Point out column names with another unit than the stated one."""
    for role, name, stated in (
        ("value", curves.value_column, words["value_unit"]),
        ("time", curves.time_column, words["time_unit"]),
    ):
        unit = unit_in_name(name, of_time=role == "time") if name else ""
        if role != of or not stated or not unit or same_unit(unit, stated):
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
        if len(stated.features) > MAX_LISTED
        else None,
    }
    by_key = {f"upload_{name}": value for name, value in fields.items()} | of_rows
    return {key: value for key, value in by_key.items() if value is not None}


def _typed(numbers: Sequence[float]) -> str | None:
    return ", ".join(map(written, numbers)) or None


def _written(number: Bound) -> str | None:
    return None if number is None else written(number)


def _fill() -> None:
    entry = public_bounds().get(st.session_state.upload_library or "")
    if entry is not None:
        take_over(entry, _put)


def _fill_chosen() -> None:
    entry = public_bounds().get(st.session_state[key_of("upload_bounds")])
    if entry is not None:
        take_over(entry, _put)


def _put(fields: Mapping[str, Any]) -> None:
    for key, value in fields.items():
        st.session_state[key] = value


def _ask_rows(rows: CurveTable | RowTable | EventTable, task: str) -> None:
    assert isinstance(rows, RowTable)
    _ranges(rows.covariate_names)
    if rows.value_name:
        _response(rows.value_name, task)
    _origin("manual of the device")
    with st.popover("Names"):
        _ask_words(OF_PEOPLE)


def _origin(example: str) -> None:
    st.text_input(
        "Source of these bounds",
        key="upload_origin",
        placeholder=f"e.g. {example}, 2019",
        max_chars=200,
    )


def _ask_words(question: Fields) -> None:
    """Ask for nouns, two in a row on a phone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label, example in question:
            st.text_input(
                label, key=f"upload_{name}", placeholder=f"e.g. {example}", max_chars=_LONGEST
            )


# -- numbers --------------------------------------------------------------------------------------


def _number(
    label: str, example: str, key: str, why: str | None = None, is_whole: bool = False
) -> None:
    """Draw a field for a number, with a message if its text is none."""
    number = entered(label, f"upload_{key}", is_whole, placeholder=example, help=why)
    if number is not None and math.isnan(number):
        st.session_state[_REFUSED] = True


def _pair(low: tuple[str, str, str], high: tuple[str, str, str]) -> None:
    """Draw two numbers side by side."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _number(*low)
        _number(*high)


def _covariate(name: str) -> None:
    """Ask for facts about one column; they stay with that column when another is chosen."""
    label, key = plain(shortened(name)), f"covariate_{name}"
    low, high, unit = st.columns([2, 2, 1], vertical_alignment="bottom")
    with low:
        _number(f"Range of {label}: from", "e.g. 0", f"{key}_low")
    with high:
        _number(f"Range of {label}: to", "e.g. 1", f"{key}_high")
    with unit:
        st.text_input(
            "Its unit", key=f"upload_{key}_unit", placeholder="e.g. cm", max_chars=_LONGEST
        )


def _ranges(names: tuple[str, ...]) -> None:
    """Ask one by one if they are few; else one pair for all, and own pairs if they differ."""
    if len(names) <= MAX_LISTED:
        for name in names:
            _covariate(name)
        return
    _pair(
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
        _covariate(name)


def _spread(label: str, why: str) -> None:
    """Ask for σ, which changes the bias and the noise, never the protection."""
    _number(label, "e.g. 6", "reading_sd", f"{why} The protection holds in any case.")


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
    _covariate(name)
    if "spread" in states:
        _spread(
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


# -- how curves were observed ---------------------------------------------------------------------


def _design(law: str | None, time: str, unit: str) -> None:
    """Ask for the parameters of the law, in the unit of the times."""
    of_unit, why = (f", {unit}", f"In {unit}.") if unit else ("", "In the unit of the file.")
    if law == StatedLaw.COMMON:
        _numbers(
            f"The common times ({time})",
            "times",
            "e.g. 2, 6, 10, 14 or 0 to 24 by 0.5",
            f"{why} Planned for everybody, and public. Each observation is moved to the nearest "
            "of them.",
        )
    elif law == StatedLaw.VISITS:
        _number(
            f"Interval between observations{of_unit}",
            "e.g. 0.5",
            "gap",
            f"From a device or a plan of visits. {why}",
        )
    elif law == StatedLaw.WINDOWS:
        _number(f"Length of the stretch of one person{of_unit}", "e.g. 0.5", "window", why)
    elif law == StatedLaw.DENSITY:
        _numbers(
            f"How often times occur, from first to last {time}",
            "heights",
            "e.g. 1, 2, 1",
            "Relative heights at equally spaced times, joined by straight lines.",
        )


def _numbers(label: str, name: str, example: str, why: str) -> None:
    st.text_input(label, key=f"upload_{name}", placeholder=example, help=why, max_chars=20_000)
