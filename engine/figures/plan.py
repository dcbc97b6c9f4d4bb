"""The map of a plan: typical error over people and ε, with the line of the target."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.figures.theme import Chart, Spec, Theme, colour, layout, log_axis, translucent
from engine.types import Array
from engine.words.wording import number, with_unit

_STEPS = 9  # shades between the smallest and the largest error


def error_map(people: Sequence[int], epsilons: Sequence[float], errors: Array, target: float,
              here: tuple[float, float], who: str, unit: str, theme: Theme) -> Chart:
    """Contours of the error, stronger where it is larger; a line where it is the target.

    `errors` (people, epsilons) in response units, NaN where nothing would be published; `here` is
    (ε, people) of the diamond.
    """
    known = errors[np.isfinite(errors)]
    logs = np.log10(np.where(np.isfinite(errors), errors, np.nan))
    z = [[None if math.isnan(v) else round(float(v), 4) for v in row] for row in logs]
    common = {"type": "contour", "x": list(epsilons), "y": list(people), "z": z,
              "showscale": False, "connectgaps": False}
    data: list[Spec] = []
    if len(known):
        low, high = float(np.log10(known.min())), float(np.log10(known.max()))
        step = max((high - low) / _STEPS, 1e-3)
        indigo = colour("gradient", theme)
        data.append({**common, "colorscale": [[0, translucent(indigo, 0.04)],
                                              [1, translucent(indigo, 0.55)]],
                     "contours": {"start": low, "end": high, "size": step}, "line": {"width": 0},
                     "text": [[_said(v, unit) for v in row] for row in errors],
                     "hovertemplate": f"%{{y}} {who}, ε = %{{x}}: %{{text}}<extra></extra>"})
        data.append({**common, "contours": {
            "start": math.log10(target), "end": math.log10(target), "size": 1,
            "coloring": "lines"}, "line": {"width": 3, "dash": "solid"},
            "colorscale": [[0, colour("text", theme)], [1, colour("text", theme)]],
            "hoverinfo": "skip"})
    data.append({"type": "scatter", "mode": "markers", "x": [here[0]], "y": [here[1]],
                 "hoverinfo": "skip", "showlegend": False, "name": "You are here",
                 "marker": {"symbol": "diamond", "size": 16, "color": colour("page", theme),
                            "line": {"color": colour("text", theme), "width": 2.4}}})
    spec = {"data": data, "layout": layout(
        theme, hovermode="closest",
        xaxis=log_axis(theme, "Protection ε (log scale)", min(epsilons), max(epsilons), room=.03),
        yaxis=log_axis(theme, f"{who[:1].upper()}{who[1:]} (log scale)", min(people), max(people),
                       room=0.03))}
    share = float((errors <= target).mean())
    return Chart(spec, f"Map of the typical error over ε and {who}. It is at most "
                 f"{with_unit(number(target), unit)} on {100 * share:.0f} % of the map.",
                 {who: [n for n in people for _ in epsilons], "ε": list(epsilons) * len(people),
                  "typical error": [None if math.isnan(v) else float(f"{v:.4g}")
                                    for v in errors.ravel()]})


def _said(error: float, unit: str) -> str:
    return with_unit(number(error), unit) if math.isfinite(error) else "nothing published"
