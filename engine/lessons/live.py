"""The message of a lesson’s picture: the visitor guesses before the rest is shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from engine.core.identity import digest
from engine.core.palette import THEMES, colour
from engine.figures import drawn
from engine.lessons import Guess

VERDICTS = ("close", "not far", "far off")  # up to `close`, up to three times that, beyond


def guess_payload(
    lesson: str, picture: drawn.Picture, guess: Guess, ask: str, mode: str = "page", turn: int = 0
) -> dict[str, Any]:
    """Make the message of one picture; `tag` tells it from all others.

    A new `turn` shows the picture anew, with nothing revealed.
    """
    looks = (
        {"wide": drawn.WIDE, "narrow": drawn.NARROW}
        if mode != "slides"
        else {
            "wide": drawn.PRESENTED,
            "narrow": drawn.PRESENTED_NARROW,
            "high": drawn.PRESENTED_HIGH,
        }
    )
    data = {
        "lesson": lesson,
        "mode": mode,
        "guess": {**asdict(guess), "is_curve": guess.is_curve},
        "ask": ask,
        "alt": picture.alt,
        "alt_after": picture.alt_after,
        "axis": asdict(picture.y if guess.is_curve else picture.x),
        "verdicts": VERDICTS,
        "off": "Your guess was typically off by"
        if len(guess.truth) > 1
        else "Your guess was off by",
        "colours": {
            theme: {**drawn.palette(theme), "room": colour("visitor", theme)} for theme in THEMES
        },
    }
    tag = digest((lesson, guess, picture.marks, *((turn,) if turn else ())))
    return {
        **data,
        "tag": tag,
        "looks": [_look(picture, guess, look, name) for name, look in looks.items()],
    }


def _look(
    picture: drawn.Picture, guess: Guess, look: drawn.DrawingSize, name: str
) -> dict[str, Any]:
    """Return a drawing, with the places of its handles and their ranges."""
    box = drawn.frame(picture, look)
    places = box.x(picture.x, np.array(guess.places)).tolist() if guess.is_curve else []
    row = drawn.ROW * look.text
    return {
        "svg": drawn.svg(picture, look, name),
        "box": asdict(box),
        "places": places,
        "thick": look.thick,
        "width": look.width,
        "height": look.height,
        "legend": {
            "top": drawn.FIRST * look.text,
            "row": row,
            "rows": round((box.top - drawn.BELOW_LEGEND) / row),
            "between": drawn.BETWEEN,
            "right": look.width - drawn.MARGIN,
        },
    }
