"""Answers of released survival: survival at a time, mean times, medians, adjusted curves."""

from __future__ import annotations

import streamlit as st

from engine.answers.survival import ReleasedSurvival, SurvivalQuestion, survival_questions
from engine.core.errors import InputError
from engine.language.grammar import escape
from engine.topics.mean.words import ASKING
from pages.shared.frame import controls, parameters

_ASKED = "asked_of_counts"  # session key of the visitor's question


def table(released: ReleasedSurvival) -> None:
    """Answer the visitor's question, and all questions with their default times."""
    one_question(released)
    answers = {cls.label: cls().answer(released) for cls in survival_questions.all()}
    st.dataframe(
        [{"Question": label, "Answer": answer.text} for label, answer in answers.items()],
        hide_index=True,
    )
    st.markdown(f":small[{ASKING}]")


def one_question(released: ReleasedSurvival) -> None:
    """Answer any question with any time, in a sentence."""
    question: SurvivalQuestion = st.session_state.get(_ASKED) or survival_questions.all()[0]()
    labels = {cls.label: cls for cls in survival_questions.all()}
    controls.bound(
        st.selectbox,
        "Ask",
        question.label,
        lambda label: _keep(labels[label]()),
        "asked_survival",
        options=list(labels),
    )
    parameters.parameter_form(question, f"asked_{question.key}", _keep, n_columns=2)
    try:
        answer = question.answer(released)
    except InputError as problem:
        st.error(controls.message(problem), icon=":material/error:")
        return
    st.markdown(f"**{escape(answer.text)}**")
    for note in answer.notes:
        st.markdown(f":small[{escape(note)}]")


def _keep(question: SurvivalQuestion) -> None:
    st.session_state[_ASKED] = question
