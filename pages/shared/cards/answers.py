"""What a released curve answers: one question with its numbers, or all with their default ones."""

from __future__ import annotations

import streamlit as st

from engine.answers import CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import DRAWN_OTHERWISE
from engine.core.errors import InputError
from engine.language.grammar import escape
from engine.topics.mean.shape_words import ASKING
from pages.shared.frame import controls

_ASKED = "asked_of_release"  # where the session keeps the question of the visitor


def table(curve: ReleasedCurve) -> None:
    """A question of the visitor's, and all questions with their default times and level.

    Parameters
    ----------
    curve : ReleasedCurve
        Of a release on screen, or of a guarantee card.
    """
    one_question(curve)
    answers = {cls.label: cls().answer(curve) for cls in curve_questions.all()}
    st.dataframe([{"Question": label, "Answer": answer.text} for label, answer in answers.items()],
                 hide_index=True)
    for note in dict.fromkeys(note for answer in answers.values() for note in answer.notes):
        st.markdown(f":small[{escape(note)}]")
    st.markdown(f":small[{DRAWN_OTHERWISE} {ASKING}]")


def one_question(curve: ReleasedCurve) -> None:
    """Any question with any times and level, answered in a sentence."""
    question: CurveQuestion = st.session_state.get(_ASKED) or curve_questions.all()[0]()
    labels = {cls.label: cls for cls in curve_questions.all()}
    controls.bound(st.selectbox, "Ask", question.label, lambda label: _keep(labels[label]()),
                   "asked_question", options=list(labels))
    controls.parameter_form(question, f"asked_{question.key}", _keep, n_columns=2)
    try:
        st.markdown(f"**{escape(question.answer(curve).text)}**")
    except InputError as problem:
        st.error(controls.message(problem), icon=":material/error:")


def _keep(question: CurveQuestion) -> None:
    st.session_state[_ASKED] = question
