"""Method notes: what each method guarantees, why its noise is enough, what papers misprint."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from engine import handbook
from engine.core.enumerations import Guarantee
from engine.mechanisms import mechanisms
from pages.shared.frame import controls
from pages.shared.frame.drawer import Detail
from pages.shared.state import session

_LAB = Path(__file__).parents[2] / "lab.py"
_GUARANTEES = {Guarantee.PURE: "δ = 0", Guarantee.APPROXIMATE: "δ above 0",
               Guarantee.EITHER: "δ = 0 or above"}
_UNDER = ("Errata", "Source", "Where to see it")  # beside the other parts, in the narrow column


def method_choice() -> str:
    """The method to read about; an address brings it back."""
    current = session.current().about
    controls.bound(st.selectbox, "Method", current, lambda key: session.change(about=key), "about",
                   options=list(handbook.method_keys()), format_func=handbook.method_label,
                   width=640)
    return current


def method(key: str) -> None:
    """Notes on one method."""
    notes = handbook.method(key)
    st.header(notes.title, anchor=False)
    st.markdown(notes.opening)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        for part in handbook.PARTS:
            if part not in _UNDER:
                _part(notes, part)
    with right:
        for part in _UNDER:
            _part(notes, part)


def details(key: str) -> list[Detail]:
    """Its formula, the exhibits it is in, what was measured, and all methods."""
    measured = handbook.measured(key)
    return [Detail("method_formula", "Formula", lambda: st.latex(mechanisms.get(key).formula)),
            Detail("method_exhibits", "Figures and tables of papers", lambda: exhibits(key)),
            *([Detail("method_measured", "What was measured", lambda: st.markdown(measured))]
              if measured else []),
            Detail("all_methods", "All methods", all_methods)]


def exhibits(key: str) -> None:
    """Links to the figures and tables of papers that this method is in."""
    titles = handbook.exhibits(key)
    for name, title in titles:
        st.page_link(_LAB, label=title, icon=":material/arrow_forward:",
                     query_params={"s": f"tab-papers~exhibit-{name}"})
    if not titles:
        st.markdown("None: this method was derived here, and no paper has figures of it.")


def _part(notes: handbook.Chapter, title: str) -> None:
    st.subheader(title, anchor=False)
    st.markdown(notes.part(title))


def all_methods() -> None:
    """What each is for and promises, as the registry says."""
    st.dataframe(pd.DataFrame([
        {"Method": cls.label, "What it gives": handbook.method(cls.key).opening,
         "Guarantee": _GUARANTEES[cls.guarantee], "Paper": cls.reference}
        for cls in mechanisms.all()]), hide_index=True)
