"""The question when people were measured: the file proposes a plan, its holder states one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.tasks import TASKS, DataType
from engine.language.numbers import whole
from engine.uploads.bounds_library import public_bounds
from engine.uploads.design import StatedLaw, laws_for
from pages.shared.frame.controls import plain
from pages.shared.uploads import draft, fields, questions
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.questions import Alternative, AnswerRows
from pages.shared.uploads.statements import (
    design_of,
    fitting,
    list_of,
    sizes_of,
    text_of,
    without_range,
    words_of,
)

_USUAL = (StatedLaw.COMMON, StatedLaw.EVEN, StatedLaw.VISITS, StatedLaw.UNKNOWN)


def when(current: Draft) -> bool:
    """Ask when people were measured; True once the answer is whole."""
    st.session_state[fields.REFUSED] = False
    curves = current.curves
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
        AnswerRows("upload_law", {str(law): _label(law) for law in laws}),
        prices,
    )
    is_proposed = bool(draft.suggested("upload_time_low"))
    words = words_of(current)
    time, unit = uncapital(plain(words["time_name"] or "time")), plain(words["time_unit"])
    with st.popover("Range, number and more") if is_proposed else st.container():
        fields.pair(
            (f"Range of {time}: from", "e.g. 2", "time_low"),
            (f"Range of {time}: to", "e.g. 18", "time_high"),
        )
        if not is_single:
            fields.number(
                "Observations planned for each curve",
                "as many as common times" if law == StatedLaw.COMMON else "e.g. 8",
                "observations",
                "A public number, from the protocol or the device: every five minutes of a day "
                "are 288. Single curves may have more or fewer: how many they have stays private.",
                is_whole=True,
            )
        if law == suggested:
            _design(law, time, unit)
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
    if law != suggested:
        _design(law, time, unit)
    fields.units(curves.time_column, "time", words["time_unit"])
    questions.evidence(
        f"{whole(len(curves.times))} observations, by {time}.",
        curves.times,
        *fields.ends("time", curves.times),
    )
    wait()
    return law is not None and fields.is_whole(lambda: without_range(current), law, "time_low")


def _laws_priced(current: Draft, laws: Sequence[StatedLaw]) -> dict[str, Alternative]:
    """Return the release under each answer, as far as its parameters are stated."""
    found = {}
    bounds = fitting(current)
    for law in laws:
        try:
            facts = without_range(current, design_of(str(law)))
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


def _design(law: str | None, time: str, unit: str) -> None:
    """Ask for the parameters of the law, in the unit of the times."""
    of_unit, why = (f", {unit}", f"In {unit}.") if unit else ("", "In the unit of the file.")
    if law == StatedLaw.COMMON:
        fields.numbers(
            f"The common times ({time})",
            "times",
            "e.g. 2, 6, 10, 14 or 0 to 24 by 0.5",
            f"{why} Planned for everybody, and public. Each observation is moved to the nearest "
            "of them.",
        )
    elif law == StatedLaw.VISITS:
        fields.number(
            f"Interval between observations{of_unit}",
            "e.g. 0.5",
            "gap",
            f"From a device or a plan of visits. {why}",
        )
    elif law == StatedLaw.WINDOWS:
        fields.number(f"Length of the stretch of one person{of_unit}", "e.g. 0.5", "window", why)
    elif law == StatedLaw.DENSITY:
        fields.numbers(
            f"How often times occur, from first to last {time}",
            "heights",
            "e.g. 1, 2, 1",
            "Relative heights at equally spaced times, joined by straight lines.",
        )
