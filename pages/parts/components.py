"""Directions in which people differ, as an estimand of Lab, from the release of the mean."""

from __future__ import annotations

import streamlit as st

from engine.core.tasks import MEAN_FUNCTION
from engine.language import glossary
from engine.topics.components import charts, words
from engine.topics.components.answer import ComponentsAnswer, components_answer
from pages.shared.frame import layout
from pages.shared.frame.page import AnsweredView

TASK = MEAN_FUNCTION.key


class ReleasedDirections(AnsweredView):
    """Directions in which people differ, from a release of their mean at the chosen budget."""

    page, fold_prefix, chart_prefix, task = "components", "components_", "components_", TASK
    asks = components_answer
    answer: ComponentsAnswer

    @property
    def finding(self) -> str:
        return words.finding(self.answer) or super().finding


def directions(view: ReleasedDirections) -> None:
    """Draw the directions that the first release tells, with their shares in words."""
    st.markdown(words.told(view.answer))
    curve = view.answer.curve
    chart = None if curve is None else charts.directions(curve)
    if chart is not None:
        view.draw("Directions", chart, "directions", 320, 300)
    for note in words.notes(view.answer):
        st.markdown(f":small[{note}]")


def closeness(view: ReleasedDirections) -> None:
    """Show how close releases come to the true directions, beside a covariance alone."""
    st.header("Beside a covariance alone", anchor=False, help=glossary.explain("Component"))
    if view.answer.known is not None and view.answer.found is not None:
        view.draw("Degrees off", charts.angles(view.answer), "angles", 260, 260)
    st.markdown(words.beside(view.answer))
    layout.table(words.table(view.answer), view.is_own, "content")
    st.markdown(f":small[{words.how_often(view.answer)}]")
