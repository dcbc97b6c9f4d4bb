"""What a released curve answers: every question with its interval."""

from __future__ import annotations

import streamlit as st

from engine.answers import ReleasedCurve, curve_questions
from engine.language.grammar import escape
from engine.topics.mean.shape_words import ASKING


def table(curve: ReleasedCurve) -> None:
    """All questions with their default times and level, answered by one release.

    Parameters
    ----------
    curve : ReleasedCurve
        Of a release on screen, or of a guarantee card.
    """
    answers = {cls.label: cls().answer(curve) for cls in curve_questions.all()}
    st.dataframe([{"Question": label, "Answer": answer.text} for label, answer in answers.items()],
                 hide_index=True)
    for note in dict.fromkeys(note for answer in answers.values() for note in answer.notes):
        st.markdown(f":small[{escape(note)}]")
    st.markdown(f":small[{ASKING}]")
