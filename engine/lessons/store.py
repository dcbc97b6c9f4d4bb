"""Makes anew the errors and small pictures of lessons, and writes them: a test compares the two.

``python -c "from engine.lessons.store import store; store()"`` writes the file.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from engine.figures import drawn
from engine.lessons import Worked, lessons, many_sites, when_privacy_is_free
from engine.lessons.stored_errors import SEED, STORED, TILES, Make


def makers() -> dict[str, Make]:
    """Return the makers of what can be kept, by name."""
    return {**when_privacy_is_free.MAKERS, **many_sites.MAKERS}


def store() -> None:
    """Make everything anew and write it, one line for each name."""
    lines = [
        f"{json.dumps(name)}: {json.dumps([_plain(value) for value in make(SEED)])}"
        for name, make in makers().items()
    ]
    STORED.write_text("{" + ",\n ".join(lines) + "}\n", "utf-8")
    TILES.write_text(json.dumps(tiles(), indent=0) + "\n", "utf-8")


def tiles() -> dict[str, str]:
    """Draw the small picture of every lesson."""
    return {lesson.key: tile(lesson.work(SEED)) for lesson in lessons.all()}


def tile(worked: Worked) -> str:
    """Draw the picture of a lesson as it is before the guess."""
    guess, bottom = worked.guess, worked.picture.y.low
    handles = zip(guess.places, guess.start, strict=True) if guess.is_curve else ()
    return drawn.still(worked.picture, [*handles] or [(guess.start[0], bottom)])


def _plain(values: Any) -> Any:
    """Numbers as JSON has them, null for NaN."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    return None if np.isnan(values) else float(values)
