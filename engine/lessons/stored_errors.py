"""Simulated errors that lessons show, kept for the seed with which every lesson opens.

They are of simulated curves, so they are public; `engine.lessons.store` makes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.types import Array

STORED = Path(__file__).parents[2] / "data" / "lessons.json"
TILES = STORED.with_name("lesson_tiles.json")
SEED = 1
Make = Callable[[int], Sequence[Any]]  # numbers of a seed, as arrays or alone


def numbers_of(name: str, seed: int, make: Make) -> list[Array]:
    """The numbers of a seed: those of the file for `SEED`, else made now; NaN for none."""
    numbers = _stored().get(name) if seed == SEED else None
    return [
        np.array(values, dtype=float) for values in (make(seed) if numbers is None else numbers)
    ]


@cache
def _stored() -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    return numbers


@cache
def tiles() -> dict[str, str]:
    """Return the small picture of every lesson, as SVG with colours `var(--pc-role)`."""
    pictures: dict[str, str] = json.loads(TILES.read_text("utf-8"))
    return pictures
