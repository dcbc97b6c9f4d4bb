"""Predict, then reveal: the visitor draws a guess into a picture, and only then sees the rest.

The guess and how far off it was stay in the browser; the server learns that it was revealed.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from engine.core.identity import digest
from engine.figures import drawn
from engine.lessons import Guess

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "privacy_curves_guess",
    html=(_HERE / "guess.html").read_text("utf-8"),
    css=(_HERE / "guess.css").read_text("utf-8"),
    js=(_HERE / "guess.js").read_text("utf-8"),
)
VERDICTS = ("close", "not far", "far off")  # up to `close`, up to three times that, beyond


def payload(lesson: str, picture: drawn.Picture, guess: Guess, ask: str, is_large: bool
            ) -> dict[str, Any]:
    """The message of one picture; `tag` tells it from all others."""
    looks = ((drawn.PRESENTED, drawn.PRESENTED_NARROW) if is_large else
             (drawn.WIDE, drawn.NARROW))
    data = {"lesson": lesson, "guess": {**asdict(guess), "is_curve": guess.is_curve},
            "ask": ask, "alt": picture.alt, "alt_after": picture.alt_after,
            "axis": asdict(_ends(picture, guess)), "verdicts": VERDICTS,
            "off": "Your guess was typically off by" if len(guess.truth) > 1 else
                   "Your guess was off by",
            "colours": {theme: drawn.palette(theme) for theme in ("light", "dark")}}
    tag = digest((lesson, guess, picture.marks))
    return {**data, "tag": tag, "looks": [_look(picture, guess, look, name) for look, name in
                                          zip(looks, ("wide", "narrow"), strict=True)]}


def _ends(picture: drawn.Picture, guess: Guess) -> drawn.Axis:
    """The axis on which is guessed."""
    return picture.y if guess.is_curve else picture.x


def _look(picture: drawn.Picture, guess: Guess, look: drawn.Look, name: str) -> dict[str, Any]:
    """A drawing, and where in it handles stand and move."""
    box = drawn.frame(picture, look)
    places = box.x(picture.x, np.array(guess.places)).tolist() if guess.is_curve else []
    return {"svg": drawn.svg(picture, look, name), "box": asdict(box), "places": places,
            "thick": look.thick}


def guess(key: str, message: dict[str, Any]) -> bool:
    """Draw the picture; whether the guess was made and the rest is shown."""
    is_revealed = revealed(key, message)
    result = _component(key=key, data={**message, "is_revealed": is_revealed},
                        on_revealed_change=_nothing)
    return bool(result.get("revealed") == message["tag"])


def revealed(key: str, message: dict[str, Any]) -> bool:
    """The same answer before the picture is drawn."""
    state = st.session_state.get(key)
    return state is not None and state.get("revealed") == message["tag"]


def _nothing() -> None:
    """Stands for "no callback": the value is read from the result."""
