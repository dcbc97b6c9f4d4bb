"""One question on a screen: heading, proposal, a few answers with prices, evidence, reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import streamlit as st

from engine.core.arrays import Array
from engine.core.errors import InputError
from engine.core.types import Budget, PublicFacts, Sizes
from engine.language.grammar import escape
from engine.language.numbers import in_unit, percent
from engine.topics.release.prices import Price, essential, price
from pages.shared.frame import timed
from pages.shared.state import run, session
from pages.shared.uploads import draft

UNKNOWN_YET = "–"  # in place of a price until it is computed
_BARS = 48


@dataclass(frozen=True)
class QuestionWords:
    """The words of a question that never change."""

    heading: str
    why: str


@dataclass(frozen=True)
class AnswerRows:
    """The answers to a question: two to four rows, the proposed one first."""

    key: str  # of the field
    labels: Mapping[str, str] = field(hash=False)  # by answer
    proposed: str | None = None  # None: a person must choose


WORDS = {
    "who": QuestionWords(
        "Who is one person?", "One person is protected. Somebody with two ids is protected as two."
    ),
    "when": QuestionWords(
        "When were they measured?",
        "A true answer narrows the band, a wrong one can move it off the truth.",
    ),
    "between": QuestionWords(
        "Between which values can they lie?",
        "It must come from outside the file. A narrower range needs less noise.",
    ),
    "trust": QuestionWords(
        "Who is trusted with the data?",
        "Each trusted party adds noise once, so trusting fewer costs accuracy.",
    ),
    "kind": QuestionWords(
        "What do you want to publish?",
        "Each row of this file seems to hold what the first answer needs.",
    ),
    "budget": QuestionWords(
        "Which budget?", "A larger ε shows smaller changes and protects each person less."
    ),
}


def question(
    name: str,
    proposal: str,
    answers: AnswerRows,
    prices: Mapping[str, str],
    write: Callable[[], None] | None = None,
    words: QuestionWords | None = None,
) -> str | None:
    """Draw a question with the price at the right of each answer; return the chosen answer."""
    words = words or WORDS[name]
    st.session_state.question_why = words.why
    with st.container(key=f"question_{name}"):
        st.header(words.heading, anchor=False)
        st.markdown(f":small[{proposal}]")
        if st.session_state.get(answers.key) not in answers.labels:
            st.session_state[answers.key] = answers.proposed
        chosen: str | None = st.radio(
            words.heading,
            [*answers.labels],
            key=answers.key,
            format_func=answers.labels.__getitem__,
            captions=[prices.get(answer, "") for answer in answers.labels],
            label_visibility="collapsed",
            width="stretch",
            on_change=write,
        )
    return chosen


def evidence(text: str, values: Array | None = None, low: float = 0.0, high: float = 0.0) -> None:
    """Show what the file says to the question, for its holder, with a histogram of numbers."""
    known = None if values is None else values[np.isfinite(values)]
    if known is not None and low < high and len(known):
        counts = np.histogram(known, _BARS, (low, high))[0]
        most = max(int(counts.max()), 1)
        bars = "".join(f'<i style="height:{100 * int(count) / most:.0f}%"></i>' for count in counts)
        st.html(f'<div class="pc-bars" aria-hidden="true">{bars}</div>')
    st.markdown(f":small[Only you see this: {text}]")


def share_outside(values: Array, low: float, high: float) -> str:
    """Say which share of the numbers lies outside a range."""
    known = values[np.isfinite(values)]
    outside = float(np.mean((known < low) | (known > high))) if len(known) else 0.0
    if not outside:
        return "none lies outside the range."
    return f"{percent(outside) if outside >= 0.01 else 'less than 1 %'} lie outside the range."


# -- prices ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alternative:
    """The facts, sizes and ε of a release under one answer."""

    facts: PublicFacts
    sizes: Sizes
    epsilon: float | None = None  # that on screen


def priced(
    task: str, alternatives: Mapping[str, Alternative]
) -> tuple[dict[str, Price | None], Callable[[], None]]:
    """Return the prices that are known, and the part of the page that waits for the next one."""
    settings = session.current()
    mechanism = settings.mechanism_of(task)
    known: dict[str, Price | None] = {}
    missing: list[tuple[PublicFacts, Sizes, Budget]] = []
    refused: set[tuple[PublicFacts, Sizes, Budget]] = st.session_state.setdefault(
        "prices_refused", set()
    )
    for answer, each in alternatives.items():
        epsilon = settings.epsilon if each.epsilon is None else each.epsilon
        delta = mechanism.delta(each.sizes.n_curves, settings.delta).value
        call = essential(each.facts), each.sizes, Budget(epsilon, delta)
        if run.knows(price, *call[:2], mechanism, call[2], settings.seed):
            known[answer] = run.answer(price, *call[:2], mechanism, call[2], settings.seed)
        elif call not in refused:
            missing.append(call)

    def compute() -> None:
        facts, sizes, budget = missing[0]
        try:
            run.answer(price, facts, sizes, mechanism, budget, settings.seed)
        except InputError:  # this answer has no price
            refused.add(missing[0])

    def wait() -> None:
        if missing:
            timed.afterwards("", compute)

    return known, wait


def half_widths(
    known: Mapping[str, Price | None], labels: Sequence[str], facts: PublicFacts
) -> dict[str, str]:
    """Write the band of each answer, in its unit or as a share of a range that is not stated."""
    return {
        answer: _band(known[answer], facts) if answer in known else UNKNOWN_YET for answer in labels
    }


def _band(found: Price | None, facts: PublicFacts) -> str:
    if found is None:
        return "nothing released"
    half = found.error if math.isnan(found.half_width) else found.half_width
    of = "error" if math.isnan(found.half_width) else "band ±"
    if facts.value_unit or facts.origin:
        written = in_unit(half, escape(facts.value_unit), 2)
    else:
        written = f"{percent(half / (2 * facts.value_half_width))} of the range"
    return f"{of} {written}{', no shape left' if found.is_flat else ''}".replace("± ", "±")


# -- the way from one question to the next --------------------------------------------------------


def buttons(
    at: int,
    of: int,
    label: str,
    forward: Callable[[], None],
    back: Callable[[], None] | None,
    is_open: bool,
) -> None:
    """Say why the question on screen matters, and draw Next and Back; Enter is Next."""
    st.markdown(f":small[{st.session_state.pop('question_why', '')}]")
    with st.container(horizontal=True, vertical_alignment="center", key="question_way"):
        st.button(
            label,
            key="question_next",
            type="primary",
            shortcut="Enter",
            disabled=not is_open,
            on_click=partial(_held, forward),
        )
        if back is not None:
            st.button("Back", key="question_back", on_click=partial(_held, back))
        if of:
            st.markdown(f":small[{at} of {of}]", width="content")


def _held(go: Callable[[], None]) -> None:
    """Keep what was answered before another question takes the screen."""
    draft.hold_answers()
    go()
