"""Synthetic people drawn from one release: picture, file, and what they keep."""

from __future__ import annotations

import numpy as np
import streamlit as st

from engine.answers import ReleasedCurve
from engine.answers.synthetic import (
    KEPT,
    LOST,
    OWN_UNCERTAINTY,
    as_csv,
    refusal_of_synthetic,
    synthetic_people,
)
from engine.core.types import Budget
from engine.language.grammar import escape
from engine.topics.mean import synthetic_charts
from engine.topics.mean.synthetic_words import watermark
from pages.shared.frame import layout

PEOPLE = 1000
_NOT_PRIVATE = "Your own curves are not private: nothing of them can be downloaded."


def section(curve: ReleasedCurve, name: str, budget: Budget, seed: int, key: str,
            is_own: bool = False) -> None:
    """Picture and file of synthetic people, or why there are none.

    Parameters
    ----------
    curve : ReleasedCurve
        They are drawn from this release.
    name : str
        Of the release, for the watermark.
    budget : Budget
        Its guarantee.
    seed : int
        Of chance; stands in the watermark.
    key : str
        Of the chart on its page.
    is_own : bool
        Whether the release is a preview of data that are not published: then there is no file.
    """
    reason = refusal_of_synthetic(curve)
    if reason:
        st.info(escape(reason), icon=":material/block:")
        return
    people = synthetic_people(curve, PEOPLE, np.random.default_rng(seed))
    mark = f"{watermark(name, budget)} Seed {seed}."
    layout.draw(synthetic_charts.curves(people, curve, mark), key, 420, 420)
    for heading, lines in (("They keep", KEPT), ("They do not keep", LOST)):
        st.markdown(f"{heading}\n" + "\n".join(f"* {escape(line)}" for line in lines))
    st.markdown(escape(OWN_UNCERTAINTY))
    st.download_button(
        f"Get {PEOPLE:,} synthetic people", b"" if is_own else as_csv(people, curve, mark).encode(),
        "privacy-curves-synthetic-people.csv", "text/csv", on_click="ignore", disabled=is_own,
        key=f"get_{key}", icon=":material/table:", help=_NOT_PRIVATE if is_own else
        "Any number from a guarantee card: python -m engine synthetic CARD --people N")
