"""The map of a plan: error over people and ε, with the line of the target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, layout, log_axis, log_ticks
from engine.language.grammar import capital
from engine.language.numbers import number, whole, with_unit


def error_map(people: Sequence[int], epsilons: Sequence[float], errors: Array, target: float,
              here: tuple[float, float], noun: str, unit: str, finding: str) -> Chart:
    """Contours of the error, stronger where it is larger; a line where it is the target.

    Parameters
    ----------
    people, epsilons : sequence
        Up and across, increasing.
    errors : (people, epsilons)
        In response units, NaN where nothing would be published.
    target : float
        The error that is asked for.
    here : (ε, people)
        Of the diamond.
    noun, unit : str
        The noun for several persons, and the unit of values.
    finding : str
        Above the map.
    """
    known = errors[np.isfinite(errors)]
    data: list[Spec] = []
    notes: list[Spec] = []
    if len(known):
        levels = _levels(float(known.min()), float(known.max()))
        data += _shades(people, epsilons, errors, levels, target, noun, unit)
        notes = [note for level in levels if level != target
                 for note in _name(level, people, epsilons, errors)]
    data.append(traces.diamond(*here, cliponaxis=False))
    spec = {"data": data, "layout": layout(
        hovermode="closest", annotations=notes, title=finding,
        xaxis=log_axis("Privacy budget ε (log scale)", min(epsilons), max(epsilons)),
        yaxis=log_axis(f"{capital(noun)} (log scale)", min(people), max(people))
        | {"tickvals": list(people), "ticktext": [whole(n) for n in people]})}
    return Chart(spec, f"Map of the error over ε and {noun}, with a line where it is "
                 f"{with_unit(number(target), unit)}. {finding}.",
                 {noun: [n for n in people for _ in epsilons], "ε": list(epsilons) * len(people),
                  "error": traces.plain(errors.ravel(), 4)})


def _levels(low: float, high: float) -> list[float]:
    """Steps of 1–2–5, one below the smallest error and one above the largest."""
    return log_ticks(low / 2.6, high * 2.6)


def _shades(people: Sequence[int], epsilons: Sequence[float], errors: Array,
            levels: Sequence[float], target: float, noun: str, unit: str) -> list[Spec]:
    """A shade between every two levels, and the line of the target."""
    def height(error: Array) -> Array:  # levels are whole numbers, so that they can be contours
        return np.interp(np.log(error), np.log(levels), np.arange(len(levels)))

    z = [[None if math.isnan(v) else round(float(v), 4) for v in row]
         for row in height(np.where(np.isfinite(errors), errors, np.nan))]
    common = {"type": "contour", "x": list(epsilons), "y": list(people), "z": z,
              "showscale": False, "connectgaps": False}
    wanted = float(height(np.array(target)))
    return [{**common, "colorscale": [[0, translucent("gradient", 0.04)],
                                      [1, translucent("gradient", 0.55)]],
             "contours": {"start": 0, "end": len(levels) - 1, "size": 1},
             "line": {"width": 1, "color": translucent("page", 0.6)},
             "text": [[_error_text(v, unit) for v in row] for row in errors],
             "hovertemplate": f"%{{y}} {noun}, ε = %{{x}}: %{{text}}<extra></extra>"},
            {**common, "contours": {"start": wanted, "end": wanted, "size": 1,
                                    "coloring": "lines"},
             "line": {"width": 3, "dash": "solid"}, "colorscale": [[0, "text"], [1, "text"]],
             "hoverinfo": "skip"}]


def _name(level: float, people: Sequence[int], epsilons: Sequence[float], errors: Array
          ) -> list[Spec]:
    """The number of a level, where it crosses the uppermost row inside the map that it crosses."""
    logs = np.log(np.where(np.isfinite(errors), errors, np.nan)) - math.log(level)
    for row in [*range(len(people) - 2, 0, -1)]:
        for k in np.flatnonzero(logs[row, :-1] * logs[row, 1:] < 0)[:1]:
            share = logs[row, k] / (logs[row, k] - logs[row, k + 1])
            ends = np.log10(epsilons[k]), np.log10(epsilons[k + 1])
            return [{"x": float(ends[0] + share * (ends[1] - ends[0])),
                     "y": math.log10(people[row]), "text": f"{level:g}", "showarrow": False,
                     "font": {"size": 12, "color": "text"}}]
    return []


def _error_text(error: float, unit: str) -> str:
    return with_unit(number(error), unit) if math.isfinite(error) else "nothing published"
