"""Predict, then reveal: the visitor draws a guess into a picture, and only then sees the rest.

The guess and its error stay in the browser; the server learns of the reveal. A teacher sees the
picture as a slide, and a pupil of a class sends the guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from engine.figures.live import part
from engine.lessons import Quiz

_component = st.components.v2.component(
    "privacy_curves_guess", html=part("guess.html"), css=part("guess.css"), js=part("guess.js")
)
LAST_STEP = 3  # the answer to the closing question


@dataclass(frozen=True)
class Slide:
    """Text beside the picture when a teacher shows it to a class."""

    # heading, ask: the lesson, and the quantity to guess
    heading: str
    ask: str
    # story, explains: paragraphs before and after the reveal; bold is the only markup
    story: Sequence[str]
    shows: str
    explains: Sequence[str]
    question: Quiz
    # True if a game, another slide, comes between the result and the question
    has_game: bool
    # has_previous, has_next: True if there are lessons before and after
    has_previous: bool
    has_next: bool
    # start of a reopened slide: "shows", "question" or "answer"; else the guess
    start: str = ""
    # when the plan of an hour began, in seconds since 1970, and its minutes; 0 without one
    began: float = 0.0
    minutes: int = 0


@dataclass(frozen=True)
class Room:
    """A class, as its teacher sees it."""

    # code, key: in the link of the pupils, and known to the teacher's browser alone
    code: str
    key: str
    # link, qr: the address for pupils, and its QR code as SVG; empty if they cannot reach the
    # server
    link: str
    qr: str
    note: str  # how to join without it; bold is the only markup
    count: int
    answers: Sequence[int]  # votes for each option of the closing question


@dataclass(frozen=True)
class BrowserReport:
    """The browser's report since the last run."""

    is_revealed: bool  # True if the rest of the picture is shown
    # "next", "previous", "game", "leave", "open", "end", "back:" with a teacher's key; or nothing
    request: str = ""
    # the values of a pupil's guess in this picture, unchecked, null for a handle that was not
    # moved; None if none came
    sent: object = None


def guess(
    key: str,
    message: Mapping[str, Any],
    is_shown: bool = False,
    is_sent: bool = False,
    guesses: Sequence[Sequence[float | None]] = (),
    slide: Slide | None = None,
    room: Room | None = None,
) -> BrowserReport:
    """Draw the picture, and return what the visitor did in it.

    Parameters
    ----------
    message : dict
        From `engine.lessons.live.guess_payload`.
    is_shown : bool
        True once the teacher of a class has revealed the rest.
    is_sent : bool
        True once the guess of this pupil is counted.
    guesses : sequence of sequence of float or None
        Those of a class that are drawn as dots; None where nothing was guessed.
    """
    is_revealed = is_shown or bool(step(key, message))
    result = _component(
        key=key,
        on_step_change=lambda: None,
        on_asked_change=lambda: None,
        on_sent_change=lambda: None,
        data={
            **message,
            "is_revealed": is_revealed,
            "is_sent": is_sent,
            "guesses": [list(values) for values in guesses],
            "slide": slide and asdict(slide),
            "room": room and asdict(room),
        },
    )
    sent, asked = result.get("sent"), result.get("asked")
    if not isinstance(sent, Mapping) or sent.get("tag") != message["tag"]:
        sent = {}  # nothing, or a guess in another picture
    return BrowserReport(
        bool(_step(result, message)), asked if isinstance(asked, str) else "", sent.get("values")
    )


def step(key: str, message: Mapping[str, Any]) -> int | None:
    """Return the picture's step before it is drawn; None before its browser reported.

    On a page 1 reveals the rest and 0 hides it; slides continue to the closing question and answer.
    """
    return _step(st.session_state.get(key) or {}, message)


def _step(state: Mapping[str, Any], message: Mapping[str, Any]) -> int | None:
    report = state.get("step")
    if not isinstance(report, Mapping) or report.get("tag") != message["tag"]:
        return None
    at = report.get("step")
    return at if isinstance(at, int) and 0 <= at <= LAST_STEP else None
