"""AnswerRows of a released curve, and synthetic people drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from engine.answers import CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.many_groups import SHRUNK, ManyGroups
from engine.answers.modes import Modes
from engine.answers.reply import DRAWN_OTHERWISE
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
from engine.topics.components import charts as charts_of_components
from engine.topics.components.words import COSTS_NOTHING
from engine.topics.mean import charts
from engine.topics.mean.group_charts import many_groups
from engine.topics.mean.words import ASKING, watermark
from pages.shared.frame import controls, layout, parameters


def table(curve: ReleasedCurve) -> None:
    """Answer the visitor's question, and all questions with their default times and level.

    `curve` comes from a release on screen, or from a guarantee card.
    """
    question: CurveQuestion = ask(curve_questions.all(), "question")
    with controls.refusals():
        st.markdown(f"**{escape(question.answer(curve).text)}**")
        if isinstance(question, Modes):
            _draw_directions(curve)
        if isinstance(question, ManyGroups):
            _draw_groups(curve, question.drawn == SHRUNK)
    answers = all_answers(curve_questions.all(), curve)
    for note in dict.fromkeys(note for answer in answers for note in answer.notes):
        st.markdown(f":small[{escape(note)}]")
    st.markdown(f":small[{DRAWN_OTHERWISE} {ASKING}]")


def ask(questions: Sequence[type[Any]], key: str) -> Any:
    """Let the visitor choose a question with its times and level; return it."""
    asked, labels = f"asked_of_{key}", {cls.label: cls for cls in questions}

    def keep(question: Any) -> None:
        st.session_state[asked] = question

    question = st.session_state.get(asked) or questions[0]()
    controls.bound(
        st.selectbox,
        "Ask",
        question.label,
        lambda label: keep(labels[label]()),
        f"asked_{key}",
        options=list(labels),
    )
    parameters.parameter_form(question, f"asked_{question.key}", keep, n_columns=2)
    return question


def all_answers(questions: Sequence[type[Any]], released: Any) -> list[Any]:
    """Show the answers to all questions as they are at first; return them."""
    answers = {cls.label: cls().answer(released) for cls in questions}
    st.dataframe(
        [{"Question": label, "Answer": answer.text} for label, answer in answers.items()],
        hide_index=True,
    )
    return list(answers.values())


def directions(curve: ReleasedCurve) -> None:
    """Show how people differ, as far as a release tells it."""
    answer = Modes().answer(curve)
    st.markdown(escape(answer.text))
    _draw_directions(curve)
    for note in (*answer.notes, COSTS_NOTHING):
        st.markdown(f":small[{escape(note)}]")


def _draw_directions(curve: ReleasedCurve) -> None:
    picture = charts_of_components.directions(curve)
    if picture is not None:
        layout.draw(picture, "directions", 300, 300)


def _draw_groups(curve: ReleasedCurve, is_shrunk: bool) -> None:
    picture = many_groups(curve, is_shrunk)
    if picture is not None:
        layout.draw(picture, "many_groups", 320, 300)


# -- synthetic people, drawn from one release ------------------------------------------------------


PEOPLE = 1000
_NOT_PRIVATE = "Your own curves are not private: nothing of them can be downloaded."


def synthetic_section(
    curve: ReleasedCurve, name: str, budget: Budget, seed: int, key: str, is_own: bool = False
) -> None:
    """Show a picture and a file of synthetic people, or why there are none.

    `curve` is the release to draw them from. If `is_own`, it is a preview of unpublished data,
    without a file.
    """
    reason = refusal_of_synthetic(curve)
    if reason:
        st.info(escape(reason), icon=":material/block:")
        return
    people = synthetic_people(curve, PEOPLE, np.random.default_rng(seed))
    mark = f"{watermark(name, budget)} Seed {seed}."
    layout.draw(charts.synthetic_curves(people, curve, mark), key, 420, 420)
    for heading, lines in (("They keep", KEPT), ("They do not keep", LOST)):
        st.markdown(f"{heading}\n" + "\n".join(f"* {escape(line)}" for line in lines))
    st.markdown(escape(OWN_UNCERTAINTY))
    st.download_button(
        f"Get {PEOPLE:,} synthetic people",
        b"" if is_own else as_csv(people, curve, mark).encode(),
        "privacy-curves-synthetic-people.csv",
        "text/csv",
        on_click="ignore",
        disabled=is_own,
        key=f"get_{key}",
        icon=":material/table:",
        help=_NOT_PRIVATE
        if is_own
        else "Any number from a guarantee card: python -m engine synthetic CARD --people N",
    )
