"""What a person states about their own file: words, bounds and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypedDict

import streamlit as st

from engine.errors import InputError
from engine.sources import Source
from engine.sources.table_words import shortened
from engine.sources.upload import Upload
from engine.sources.upload_curves import CurveTable
from engine.sources.upload_facts import StatedCovariate, declare
from engine.tasks import TASKS, DataType
from engine.types import PublicFacts
from pages.shared import components as pieces
from pages.shared import design_form, file_form
from pages.shared.frame import code_fold
from pages.shared.frame.controls import message, plain
from pages.shared.state import session

Word = Literal["value_name", "value_unit", "time_name", "time_unit", "person", "people"]
Bound = float | None


class Words(TypedDict, total=False):
    """What things are called: fields of `PublicFacts`, empty where nothing was said."""

    value_name: str
    value_unit: str
    time_name: str
    time_unit: str
    person: str
    people: str


_WORDS: tuple[tuple[Word, str, str], ...] = (
    ("value_name", "What is measured", "Height"), ("value_unit", "Its unit", "cm"),
    ("time_name", "What runs along the curve", "Age"), ("time_unit", "Its unit", "years"),
    ("person", "One of them is called", "child"), ("people", "Many are called", "children"))
PEOPLE = _WORDS[-2:]  # what a record belongs to
_OF_ROWS: tuple[tuple[Word, str, str], ...] = (
    ("person", "One row is called", "scan"), ("people", "Many are called", "scans"))


def facts(curves: CurveTable | None, show: str, task: str, shown: Callable[[], None]) -> None:
    """What the person states; empty at first, never filled from the file."""
    single = TASKS[task].data is DataType.READINGS
    st.subheader("2. Facts you state, not the data", anchor=False)
    st.markdown("These come from outside the file: a growth chart, a manual, a law. Reading them "
                "off the file would leak." + (" The bounds are those of the curve; single readings "
                                              "may lie beyond." if single else ""))
    words = _words(curves)
    bounds, reading_sd = _bounds(words, single)
    design = design_form.asked(curves, plain(words["time_name"] or "time").lower(), single)
    covariates = [covariate(name) for name in curves.covariate_names] if curves else []
    origin = st.text_input("Where do these bounds come from?", key="upload_origin",
                           placeholder="e.g. national growth chart, 2019", max_chars=200)
    periodic = st.toggle("The curve ends where it began (a day, a year)", key="upload_periodic")

    def declared() -> PublicFacts:
        return declare(*bounds, origin, covariates, single, reading_sd, **design,
                       periodic=periodic, **words)

    is_begun = bool(origin) or any(bound is not None for bound in bounds)
    if curves is None:
        st.markdown(":small[First step 1: a file that can be read.]")
    stated = None if curves is None else _stated(declared, is_begun)
    own = None if curves is None or stated is None else Upload(curves=curves, declared=stated)
    if own is not None:
        design_form.doubts(own)
    show_button(show, None if own is None else lambda: own, task, shown)


def _stated(declared: Callable[[], PublicFacts], is_begun: bool) -> PublicFacts | None:
    """The facts if all is stated; before anything is, what comes first and no error."""
    if is_begun:
        return declared()
    try:
        return declared()
    except InputError as first:
        st.info(message(first), icon=":material/edit:")
        return None


def _words(curves: CurveTable | None) -> Words:
    """What things are called; where rows are protected, one of them is no person."""
    of_rows = curves is not None and curves.is_of_rows
    words = words_of(_WORDS[:-2] + _OF_ROWS if of_rows else _WORDS)
    if of_rows and not words["person"]:
        words |= {"person": "row", "people": "rows"}
    return words


def _bounds(words: Words, single: bool
            ) -> tuple[tuple[Bound, Bound, Bound, Bound], float | None]:
    """Lowest and highest value, first and last time; and σ where everybody has one reading."""
    value = plain(words["value_name"] or "value").lower()
    time = plain(words["time_name"] or "time").lower()
    curve = " of the curve" if single else ""
    values = _pair((f"Lowest possible {value}{curve}", "e.g. 60", "value_low"),
                   (f"Highest possible {value}{curve}", "e.g. 210", "value_high"))
    reading_sd = _spread(value) if single else None
    times = _pair((f"First {time}", "e.g. 2", "time_low"), (f"Last {time}", "e.g. 18", "time_high"))
    return (*values, *times), reading_sd


def _pair(low: tuple[str, str, str], high: tuple[str, str, str]) -> tuple[Bound, Bound]:
    """Two numbers side by side."""
    left, right = st.columns(2)
    with left:
        lowest = number(*low)
    with right:
        highest = number(*high)
    return lowest, highest


def show_button(label: str, own: Callable[[], Source] | None, task: str,
                shown: Callable[[], None] = lambda: None) -> None:
    """Put what `own` gives on screen; δ goes back to the usual one for its number."""
    def show(make: Callable[[], Source]) -> None:
        st.session_state[session.own_key(task)] = make()
        code_fold.remember(task)
        session.show_own(task, True)
        st.session_state.upload_open = False
        file_form.forget()
        session.change(delta=None)
        pieces.arrive()
        shown()

    st.button(label, disabled=own is None, key="upload_show", icon=":material/visibility:",
              on_click=None if own is None else partial(show, own))


def _spread(value: str) -> float | None:
    """σ, with what it changes: the bias and the noise, never the protection."""
    return st.number_input(
        f"How far one {value} typically lies from the curve (σ)", value=None, step=None,
        format="%g", placeholder="e.g. 6", key="upload_reading_sd",
        help="Standard deviation of single readings around the curve at the same time: about two "
        "in three lie within σ. From a manual of the device or an earlier study. Too small: large "
        "readings are cut and the curve is pulled to the middle. Too large: more noise. The "
        "protection holds in any case.")


def words_of(asked: Sequence[tuple[Word, str, str]] = _WORDS) -> Words:
    """What things are called, two in a row."""
    words: Words = {}
    columns = [column for _ in range(len(asked) // 2) for column in st.columns(2)]  # by rows
    for column, (name, label, example) in zip(columns, asked, strict=True):
        with column:
            words[name] = st.text_input(label, key=f"upload_{name}", placeholder=f"e.g. {example}",
                                        max_chars=40).strip()
    if words["person"] and not words["people"]:
        words["people"] = f"{words['person']}s"
    return words


def covariate(name: str) -> StatedCovariate:
    """What is stated about one column; it stays with that column when another is chosen."""
    shown, key = plain(shortened(name)), f"covariate_{name}"
    low, high, unit = st.columns([2, 2, 1], vertical_alignment="bottom")
    with low:
        lowest = number(f"Lowest possible {shown}", "e.g. 140 or 0", f"{key}_low")
    with high:
        highest = number(f"Highest possible {shown}", "e.g. 200 or 1", f"{key}_high")
    with unit:
        its_unit = st.text_input("Its unit", key=f"upload_{key}_unit", placeholder="e.g. cm",
                                 max_chars=40)
    return StatedCovariate(name, lowest, highest, its_unit.strip())


def number(label: str, example: str, key: str) -> float | None:
    return st.number_input(label, value=None, placeholder=example, key=f"upload_{key}", step=None,
                           format="%g")
