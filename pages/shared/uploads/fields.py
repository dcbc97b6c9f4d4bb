"""Fields of the questions about a file: numbers, names and a source."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.core.types import PublicFacts
from engine.uploads.units import in_words, same_unit, unit_in_name
from pages.shared.frame.controls import entered, message, plain
from pages.shared.uploads.files import key_of
from pages.shared.uploads.statements import Fields, number_of

LONGEST = 40  # characters of a word or unit
REFUSED = "number_of_form_refused"  # session key: True if a field holds no number


def number(
    label: str, example: str, key: str, why: str | None = None, is_whole: bool = False
) -> None:
    """Draw a field for a number, with a message if its text is none."""
    number = entered(label, f"upload_{key}", is_whole, placeholder=example, help=why)
    if number is not None and math.isnan(number):
        st.session_state[REFUSED] = True


def pair(low: tuple[str, str, str], high: tuple[str, str, str]) -> None:
    """Draw two numbers side by side."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number(*low)
        number(*high)


def numbers(label: str, name: str, example: str, why: str) -> None:
    st.text_input(label, key=f"upload_{name}", placeholder=example, help=why, max_chars=20_000)


def nouns(question: Fields) -> None:
    """Ask for nouns, two in a row on a phone."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, label, example in question:
            st.text_input(
                label, key=f"upload_{name}", placeholder=f"e.g. {example}", max_chars=LONGEST
            )


def origin(example: str) -> None:
    st.text_input(
        "Source of these bounds",
        key="upload_origin",
        placeholder=f"e.g. {example}, 2019",
        max_chars=200,
    )


def units(column: str | None, role: str, stated: str) -> None:
    """Point out a column whose name has another unit than the stated one."""
    unit = unit_in_name(column, of_time=role == "time") if column else ""
    if not stated or not unit or same_unit(unit, stated):
        return
    slot = st.container()
    if st.checkbox(
        f"The {role}s of the file are in {plain(stated)}, as stated",
        key=key_of(f"upload_unit_of_{role}_{stated}"),
    ):
        return
    st.session_state[REFUSED] = True
    problem = InputError(
        f"The column “{shortened(str(column))}” is in {in_words(unit)} by its name, and {stated} "
        "is stated.",
        hint=f"State unit and range in {in_words(unit)}, or tick what holds.",
    )
    slot.error(message(problem), icon=":material/error:")


def covariate(name: str) -> None:
    """Ask for facts about one column; they stay with that column when another is chosen."""
    label, key = plain(shortened(name)), f"covariate_{name}"
    low, high, unit = st.columns([2, 2, 1], vertical_alignment="bottom")
    with low:
        number(f"Range of {label}: from", "e.g. 0", f"{key}_low")
    with high:
        number(f"Range of {label}: to", "e.g. 1", f"{key}_high")
    with unit:
        st.text_input(
            "Its unit", key=f"upload_{key}_unit", placeholder="e.g. cm", max_chars=LONGEST
        )


def spread(label: str, why: str) -> None:
    """Ask for σ, which changes the bias and the noise, never the protection."""
    number(label, "e.g. 6", "reading_sd", f"{why} The protection holds in any case.")


def ends(name: str, values: Array) -> tuple[float, float]:
    """Return the stated ends of a range, else those of the numbers."""
    low, high = number_of(f"{name}_low"), number_of(f"{name}_high")
    if low is None or high is None or not low < high:
        return float(np.nanmin(values)), float(np.nanmax(values))
    return low, high


def is_whole(state: Callable[[], PublicFacts], *begun: Any) -> bool:
    """True if all is stated; else say what is missing, as an error once something was typed."""
    if st.session_state[REFUSED]:  # its field shows the error
        return False
    try:
        state()
    except InputError as problem:
        is_times = problem.field in ("times", "gap", "window", "heights", "design")
        if any(begun) or is_times:
            st.error(message(problem), icon=":material/error:")
        else:
            st.info(message(problem), icon=":material/edit:")
        return False
    return True
