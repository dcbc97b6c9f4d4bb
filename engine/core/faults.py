"""Faults of the program by kind and place, without their messages, which may quote a datum."""

from __future__ import annotations

import traceback
from pathlib import Path

_ENGINE = Path(__file__).parents[1]


class WorkerFault(RuntimeError):
    """A fault in another process, by its kind and place."""


def placed(fault: BaseException) -> str:
    """Name the kind of a fault and its last place in the engine."""
    if isinstance(fault, WorkerFault):
        return str(fault)
    places = [
        frame
        for frame in traceback.extract_tb(fault.__traceback__)
        if Path(frame.filename).is_relative_to(_ENGINE)
    ]
    where = Path(places[-1].filename).relative_to(_ENGINE.parent) if places else "elsewhere"
    return f"{type(fault).__name__} in {where}" + (f", line {places[-1].lineno}" if places else "")
