"""Numbers at risk below the axis of a survival curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.figures.theme import Spec

_MAX_MARKS = 7  # numbers side by side
_ROW = 20  # pixels of a row
SHADES = ("gradient", "bias", "functional", "wavelet")  # of groups, as their curves


def numbers_at_risk(table: Mapping[str, Sequence[Any]]) -> tuple[list[Spec], int]:
    """Annotations with the numbers at risk, a row for each group, and the room that they take.

    Parameters
    ----------
    table : mapping of str to sequence
        Times, and numbers by name of the group; columns with ± in their name are left out.
    """
    times, *_ = table.values()
    names = [name for name in list(table)[1:] if "±" not in name]
    step = max(1, -(-len(times) // _MAX_MARKS))
    notes = [_note(0.0, "At risk", 0, on_paper=True)]
    for row, name in enumerate(names):
        shade = SHADES[row % len(SHADES)]
        notes += [_note(float(time), f"{number:.0f}", row + 1, shade) for time, number in
                  list(zip(times, table[name], strict=True))[::step]]
    return notes, _ROW * (len(names) + 1) + 54


def _note(x: float, text: str, row: int, shade: str = "", on_paper: bool = False) -> Spec:
    return {"x": x, "y": 0, "xref": "paper" if on_paper else "x", "yref": "paper", "text": text,
            "showarrow": False, "yshift": -46 - _ROW * row, "yanchor": "top",
            "xanchor": "left" if on_paper or not x else "center",
            "font": {"size": 12, "color": shade or "quiet"}}
