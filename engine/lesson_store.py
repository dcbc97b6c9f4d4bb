"""Simulated errors that lessons show, kept for the seed with which every lesson opens.

They are of simulated curves, so they are public, and a test makes them again. `store` writes the
file anew: ``python -c "from engine.lesson_store import store; store()"``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.types import Array

STORED = Path(__file__).parents[1] / "data" / "lessons.json"
SEED = 1
Make = Callable[[int], Sequence[Any]]  # numbers of a seed, as arrays or alone


def kept(name: str, seed: int, make: Make) -> list[Array]:
    """The numbers of a seed: those of the file for `SEED`, else made now; NaN for none."""
    found = _stored().get(name) if seed == SEED else None
    return [np.array(one, dtype=float) for one in (make(seed) if found is None else found)]


@cache
def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    return found


def makers() -> dict[str, Make]:
    """What can be kept, by name."""
    from engine.lessons import many_sites, when_privacy_is_free  # these ask for what is kept

    return {**when_privacy_is_free.MAKERS, **many_sites.MAKERS}


def store() -> None:
    """Make everything anew and write it, one line for each name."""
    lines = [f"{json.dumps(name)}: {json.dumps([_plain(one) for one in make(SEED)])}"
             for name, make in makers().items()]
    STORED.write_text("{" + ",\n ".join(lines) + "}\n", "utf-8")


def _plain(values: Any) -> Any:
    """Numbers as JSON has them, null for NaN."""
    if np.ndim(values):
        return [_plain(one) for one in values]
    return None if np.isnan(values) else float(values)
