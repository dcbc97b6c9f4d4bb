"""Words in charts: names at line ends, values beside the pointer, and where a picture is from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine import __version__
from engine.core.types import Budget
from engine.figures.theme import Chart, Spec, heading
from engine.language.numbers import number, small

_LINE = 17.0  # pixels of one label
FEW = 5  # lines, of which each may have its name at its end


@dataclass(frozen=True)
class LineEnd:
    """A line that is named where it ends."""

    name: str
    # the last value, in the unit of the axis; its logarithm to base 10 where that is logarithmic
    y: float
    shade: str


def apart(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions, in their order, as little as needed to be a gap apart inside a range.

    Neighbours that are too close form a block about their mean; where all do not fit, they share
    the range.

    Examples
    --------
    >>> apart([5.0, 5.0, 9.0], gap=1.0, low=0.0, high=10.0)
    [4.5, 5.5, 9.0]
    """
    if not positions:
        return []
    order = np.argsort(positions, kind="stable")
    gap = min(gap, (high - low) / max(len(positions) - 1, 1))
    highest = high - gap * (len(positions) - 1)
    # Less k gaps the positions only need to increase: the nearest such are means of blocks.
    blocks: list[tuple[float, int]] = []
    for k, place in enumerate(order):
        mean, size = positions[place] - k * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    levels = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    moved = np.clip(levels, low, highest) + gap * np.arange(len(order))
    out = np.empty(len(order))
    out[order] = moved
    return [float(value) for value in out]


def at_ends(ends: Sequence[LineEnd], low: float, high: float, height: int) -> list[Spec]:
    """Annotations that name at most five lines at their right ends, none above another.

    They take the place of a legend for up to five lines; the chart leaves room for them with
    `room_for` in its margin.
    """
    if len(ends) > FEW:
        raise ValueError(f"{len(ends)} lines cannot all be named at their ends")
    half = _LINE / 2 * (high - low) / height
    places = apart([end.y for end in ends], 2 * half, low + half, high - half)
    return [
        {
            "text": end.name,
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 6,
            "y": place,
            "yanchor": "middle",
            "showarrow": False,
            "align": "left",
            "font": {"size": 14, "color": end.shade},
        }
        for end, place in zip(ends, places, strict=True)
    ]


def room_for(names: Sequence[str]) -> int:
    """Pixels of the right margin in which names at the ends of lines fit."""
    return 16 + round(7.2 * max((len(name) for name in names), default=0))


def hover(unit: str = "", decimals: int | None = None) -> str:
    """Format the value of a line beside the pointer: number and unit, the name in its own colour.

    Numbers have three significant digits unless `decimals` are given.
    """
    digits = ".3~r" if decimals is None else f".{decimals}f"
    return f"%{{y:{digits}}}{chr(0xA0) + unit if unit else ''}"


def changed(name: str, first: float, last: float) -> str:
    """Title a chart by how a quantity changes from its left to its right end.

    `first` and `last` are NaN where nothing is known.

    Examples
    --------
    >>> changed("Error", 8.0, 2.0)
    'Error falls from 8.00 to 2.00'
    """
    if not (math.isfinite(first) and math.isfinite(last)):
        return f"{name} is not known at both ends"
    start, end = number(first), number(last)
    if start == end:
        return f"{name} stays at {start}"
    return f"{name} {'falls' if last < first else 'grows'} from {start} to {end}"


def smallest_error(errors: Mapping[str, float], where: str = "") -> str:
    """Title the chart of several methods by the one with the smallest error.

    Infinite errors are of refused methods; `where` is such as "ε = 1" and may be empty.

    Examples
    --------
    >>> smallest_error({"Adaptive mean": 1.2, "Bernstein": 3.4}, "ε = 1")
    'Adaptive mean has the smallest error at ε = 1'
    """
    known = {name: error for name, error in errors.items() if math.isfinite(error)}
    at = f" at {where}" if where else ""
    if not known:
        return f"Nothing would be published{at}"
    best = min(known, key=known.__getitem__)
    if len(known) == 1:
        return f"{best}: error {number(known[best])}{at}"
    return f"{best} has the smallest error{at or f' of {len(errors)} methods'}"


def spent(budgets: Sequence[Budget]) -> str:
    """Sum up the spending of the releases of a picture, for its foot.

    Examples
    --------
    >>> spent([Budget(0.5, 1e-6), Budget(4.0, 1e-6)])
    'ε = 0.5 to 4, δ = 1×10⁻⁶'
    """
    if not budgets:
        return "not released"
    epsilons = sorted({budget.epsilon for budget in budgets})
    delta = max(budget.delta for budget in budgets)
    ends = " to ".join(f"{epsilon:g}" for epsilon in dict.fromkeys((epsilons[0], epsilons[-1])))
    return f"ε = {ends}" + (f", δ = {small(delta)}" if delta else "")


def foot(source: str, budgets: Sequence[Budget], people: int | None = None) -> str:
    """Write the line under every picture that leaves: whose data, how many, cost, by whom.

    `people` is n, if the picture is about one number of people.
    """
    parts = [
        source,
        "" if people is None else f"n = {number(people, 12)}",
        spent(budgets),
        f"Privacy Curves {__version__}",
    ]
    return " · ".join(part for part in parts if part)


def with_foot(chart: Chart, text: str) -> Chart:
    """Put a line, such as that of `foot`, below the axes of a chart, with room for it."""
    layout = chart.spec["layout"]
    margin = layout.get("margin", {})
    marked = {
        **layout,
        "margin": {**margin, "b": margin.get("b", 8) + 76},
        "annotations": [*layout.get("annotations", ()), _foot_note(text)],
    }
    return replace(chart, spec={**chart.spec, "layout": marked}, alt=f"{chart.alt} {text}.")


def _foot_note(text: str) -> Spec:
    return {
        "name": "foot",
        "text": text,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "yshift": -52,
        "showarrow": False,
        "align": "left",
        "font": {"size": 12, "color": "quiet"},
    }


def leaving(title: str, text: str) -> Spec:
    """Add what a picture has beside its chart when it leaves the page: it names its origin.

    `title` stands above a chart without a finding; `text` is from `foot`. The page has a colour of
    its own, since nothing lies behind a picture that has left.

    Examples
    --------
    >>> leaving("Twenty releases", "Growth, simulated")["paper_bgcolor"]
    'page'
    """
    return {
        "title": heading(title),
        "paper_bgcolor": "page",
        "plot_bgcolor": "page",
        "annotations": [_foot_note(text)],
    }
