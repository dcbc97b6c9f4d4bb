"""How observation times come about and how people are spread: what the holder of a file states."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

import streamlit as st

from engine.errors import InputError
from engine.language.grammar import capital
from engine.sources.table_words import counted
from engine.sources.upload_curves import CurveTable
from engine.sources.upload_design import LAWS, SINGLE_LAWS, StatedDesign, StatedLaw, numbers_in
from pages.shared import file_form

if TYPE_CHECKING:
    from engine.sources.upload import Upload

_SPREAD = {False: "Not known, or with skew, groups or outliers",
           True: "Symmetric about their mean"}


class StatedPlan(TypedDict, total=False):
    """What `declare` needs to know of design, number of observations and spread of people."""

    design: StatedDesign
    observations: int | None
    symmetric: bool


def asked(curves: CurveTable | None, time: str, single: bool) -> StatedPlan:
    """How the curves were observed, and how people are spread, as the holder states it.

    Parameters
    ----------
    curves : CurveTable or None
        What was read of the file, where one was.
    time : str
        What the time is called.
    single : bool
        Whether every person has one observation.
    """
    laws = [law.value for law in (SINGLE_LAWS if single else LAWS)]
    law = st.selectbox(
        "How observation times come about", laws, index=None,
        format_func=_law_words, placeholder="Choose", key="upload_law",
        help="From the plan of the study, not from the file. Times on their own are the most "
        "accurate to estimate with, if they are so. “Not known” is always possible: methods then "
        "rely on nothing but what they release, with more noise.")
    design = _design(law, curves, time)
    if single:
        return {"design": design}
    return {"design": design, "observations": _observations(law), "symmetric": _symmetric()}


def _law_words(law: str) -> str:
    return LAWS[StatedLaw(law)]


def _design(law: str | None, curves: CurveTable | None, time: str) -> StatedDesign:
    if law == StatedLaw.COMMON:
        return StatedDesign(law=law, times=_common(curves, time))
    if law == StatedLaw.VISITS:
        return StatedDesign(law=law, gap=_length(f"Distance between visits ({time})", "gap"))
    if law == StatedLaw.WINDOWS:
        return StatedDesign(law=law, window=_length(
            f"Length of the stretch of one person ({time})", "window"))
    if law == StatedLaw.DENSITY:
        return StatedDesign(law=law, heights=_listed(
            f"How often times occur, from first to last {time}", "heights", "e.g. 1, 2, 1",
            "Relative heights at equally spaced times, joined by straight lines."))
    return StatedDesign(law=law)


def _common(curves: CurveTable | None, time: str) -> tuple[float, ...]:
    """The times in the header, once they are confirmed, or those that are typed in."""
    header = curves.header_times if curves is not None else ()
    if header and st.checkbox(
            f"The {counted(len(header), 'time')} in the header of the file were planned for "
            "everybody and may be published", key=file_form.key_of("upload_header_public"),
            help="Not if the file was spread out by another program: then a column may be the own "
            "visit of one person."):
        return header
    return _listed(f"The common times ({time})", "times", "e.g. 2, 6, 10, 14 or 0 to 24 by 0.5",
                   "In the unit of the file. Each observation is moved to the nearest of them.")


def _length(label: str, name: str) -> float | None:
    return st.number_input(label, value=None, step=None, format="%g", placeholder="e.g. 0.5",
                           key=f"upload_{name}", help="In the unit of the file.")


def _listed(label: str, name: str, example: str, what: str) -> tuple[float, ...]:
    text = st.text_input(label, key=f"upload_{name}", placeholder=example, help=what,
                         max_chars=20_000)
    try:
        return numbers_in(text, name)
    except InputError:
        return (math.nan,)  # refused in its place by `declare`, so that the form stays whole


def _observations(law: str | None) -> int | None:
    example = "as many as common times" if law == StatedLaw.COMMON else "e.g. 8"
    found = st.number_input(
        "Observations planned for each curve", value=None, step=1, min_value=1,
        placeholder=example, key="upload_observations",
        help="A public number. Single curves may have more or fewer: how many they have stays "
        "private.")
    return None if found is None else int(found)


def _symmetric() -> bool:
    chosen = st.selectbox(
        "How people are spread about their mean", tuple(_SPREAD),
        format_func=_SPREAD.__getitem__,
        key="upload_symmetric", help="Stated as symmetric, the few farthest people are held back "
        "more, which is more accurate. If that is wrong, the result can be farther off than its "
        "band says. In doubt leave it at not known.")
    return bool(chosen)


def doubts(own: Upload) -> None:
    """Where the file does not look as stated; only ever shown to its holder."""
    if own.doubts:
        listed = "".join(f"\n- {capital(doubt)}." for doubt in own.doubts)
        st.warning("**The file does not look as stated.** This is for you only. Check the plan of "
                   f"the study; in doubt state “Not known”.\n{listed}",
                   icon=":material/rule:")
