"""Answers of released survival: survival at a time, mean times, medians, adjusted curves."""

from __future__ import annotations

import streamlit as st

from engine.answers.survival import ReleasedSurvival, SurvivalQuestion, survival_questions
from engine.language.grammar import escape
from engine.topics.mean.words import ASKING
from pages.shared.cards.answers import all_answers, ask
from pages.shared.frame import controls


def table(released: ReleasedSurvival) -> None:
    """Answer the visitor's question, and all questions with their default times."""
    question: SurvivalQuestion = ask(survival_questions.all(), "survival")
    with controls.refusals():
        answer = question.answer(released)
        st.markdown(f"**{escape(answer.text)}**")
        for note in answer.notes:
            st.markdown(f":small[{escape(note)}]")
    all_answers(survival_questions.all(), released)
    st.markdown(f":small[{ASKING}]")
