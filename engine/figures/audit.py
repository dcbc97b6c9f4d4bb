"""Charts of the Audit page: bounds that climb under a claim, limits that miss, noise used twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.audit import Progress
from engine.figures import traces
from engine.figures.traces import plain
from engine.language.numbers import number
from engine.theme import Chart, Spec, Theme, axis, colour, layout, log_axis, translucent
from engine.views.coverage_lab import Limits
from engine.views.reuse import Reuse

_MOST_SHOWN = 3.0  # times the claim; what is beyond is drawn at the edge
_SPLIT = (0.4, 0.46)  # where the left part ends and the right one begins


@dataclass(frozen=True)
class Line:
    """One attack on the chart.

    Parameters
    ----------
    name : str
        In the legend.
    steps : sequence of Progress
        Its steps so far.
    is_planted : bool
        Whether a fault was planted.
    """

    name: str
    steps: Sequence[Progress]
    is_planted: bool


def climbing(lines: Sequence[Line], claim: float, theme: Theme) -> Chart:
    """The worst pair against pairs tried, and the bound against releases, below the claim.

    Parameters
    ----------
    lines : sequence of Line
        One for each attack.
    claim : float
        The claimed ε.
    theme : {"light", "dark"}
        Of the page.
    """
    known = [value for line in lines for step in line.steps
             for value in (step.worst_epsilon, step.bound) if math.isfinite(value)]
    top = min(max([1.25 * claim, *(1.1 * value for value in known)]), _MOST_SHOWN * claim)
    data: list[Spec] = []
    for line in lines:
        data += [_worst(line, top, theme), _bound(line, top, theme)]
    tried = [step.tried for line in lines for step in line.steps] or [100]
    runs = [step.runs for line in lines for step in line.steps if step.runs] or [1000]
    lines_at = [_claimed(theme, xref=f"{x} domain", x0=0, x1=1, y0=claim, y1=claim)
                for x in ("x", "x2")]
    note = {"text": f"claimed ε = {claim:.4g}", "showarrow": False, "xref": "x domain", "x": 0,
            "y": claim, "xanchor": "left", "yanchor": "bottom", "font": {"size": 13}}
    left = axis(theme, "Pairs tried", domain=[0, _SPLIT[0]], range=[0, 1.08 * max(tried)],
                nticks=4)
    right = log_axis(theme, "Releases of each", min([1000, *runs]), max([40_000, *runs]), room=0.06)
    spec = {"data": data, "layout": layout(
        theme, legend=True, hovermode="closest", shapes=lines_at, annotations=[note],
        xaxis=left, xaxis2={**right, "domain": [_SPLIT[1], 1], "anchor": "y"},
        yaxis=axis(theme, "ε that is shown", grid=True, range=[-0.03 * top, top]))}
    return Chart(spec, _alt(lines, claim), _table(lines))


def _claimed(theme: Theme, **ends: Any) -> Spec:
    """The dashed line of the claim."""
    return {"type": "line", **ends,
            "line": {"color": colour("text", theme), "width": 2, "dash": "6px,4px"}}


def _worst(line: Line, top: float, theme: Theme) -> Spec:
    steps = [step for step in line.steps if not step.runs or step is line.steps[-1]]
    heights = [step.worst_epsilon for step in steps]
    return {"type": "scatter", "mode": "lines+markers", "name": line.name, "showlegend": False,
            "x": [step.tried for step in steps], "y": _held(heights, top),
            "customdata": [_text(value) for value in heights], **_look(line, theme),
            "hovertemplate": "%{x} pairs: ε = %{customdata}<extra></extra>"}


def _bound(line: Line, top: float, theme: Theme) -> Spec:
    steps = [step for step in line.steps if step.runs]
    heights = [step.bound for step in steps]
    return {"type": "scatter", "mode": "lines+markers", "name": line.name, "xaxis": "x2",
            "x": [step.runs for step in steps], "y": _held(heights, top),
            "customdata": [_text(value) for value in heights], **_look(line, theme),
            "hovertemplate": "%{x} releases: ε ≥ %{customdata}<extra></extra>"}


def _look(line: Line, theme: Theme) -> Spec:
    """A planted fault has its own colour and cross; the mechanism a line with dots."""
    role, symbol = ("bias", "x") if line.is_planted else ("gradient", "circle")
    return {"line": {"width": 2.2, "color": colour(role, theme)},
            "marker": {"size": 10 if line.is_planted else 8, "symbol": symbol,
                       "color": colour(role, theme)}}


def _held(heights: Sequence[float], top: float) -> list[float]:
    return [min(value, 0.97 * top) for value in heights]


def _text(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "unlimited"


def _alt(lines: Sequence[Line], claim: float) -> str:
    bounds = [f"{line.name}: at least {_text(line.steps[-1].bound)} from releases, "
              f"{_text(line.steps[-1].worst_epsilon)} for the worst pair"
              for line in lines if line.steps]
    return f"The ε that attacks show against a claim of {number(claim)}. {'; '.join(bounds)}."


def _table(lines: Sequence[Line]) -> dict[str, list[Any]]:
    rows = [(line.name, step.tried, _text(step.worst_epsilon), step.runs, _text(step.bound))
            for line in lines for step in line.steps]
    names = ("what", "pairs", "ε of the worst pair", "releases of each", "ε from releases")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def verdicts(attacks: Mapping[str, Progress], claim: float, theme: Theme) -> Chart:
    """One row for each attack that has ended: a bar to what it shows, and the claim.

    Parameters
    ----------
    attacks : mapping of str to Progress
        By name, each at its last step.
    claim : float
        The claimed ε.
    theme : {"light", "dark"}
        Of the page.
    """
    epsilons = {name: max(progress.bound, progress.worst_epsilon if progress.is_broken else 0.0)
                for name, progress in attacks.items()}
    top = min(max([1.3 * claim, *(1.2 * v for v in epsilons.values() if math.isfinite(v))]),
              _MOST_SHOWN * claim)
    data = []
    for name, progress in attacks.items():
        role, symbol = ("bias", "x") if progress.is_broken else ("gradient", "circle")
        end = min(epsilons[name], 0.97 * top)
        data.append({"type": "scatter", "mode": "lines+markers+text", "x": [0, end],
                     "y": [name, name], "text": ["", _text(epsilons[name])], "hoverinfo": "skip",
                     "textposition": "top left" if end > 0.8 * top else "middle right",
                     "line": {"width": 2.4, "color": colour(role, theme)},
                     "marker": {"size": [0, 11], "symbol": symbol, "color": colour(role, theme)}})
    spec = {"data": data, "layout": layout(
        theme, hovermode=False, xaxis=axis(theme, "ε that is shown", range=[0, top]),
        yaxis=axis(theme, type="category", autorange="reversed", ticks=""),
        shapes=[_claimed(theme, yref="paper", y0=0, y1=1, x0=claim, x1=claim)])}
    return Chart(spec, f"ε that {len(attacks)} attacks show against a claim of {number(claim)}.",
                 {"what": list(attacks), "ε that is shown": [_text(v) for v in epsilons.values()],
                  "claim": [_text(progress.claimed_epsilon) for progress in attacks.values()],
                  "verdict": ["broken" if progress.is_broken else "no contradiction"
                              for progress in attacks.values()]})


# -- coverage -----------------------------------------------------------------------------------


def repetitions(limits: Limits, half: float, quantity: str, theme: Theme) -> Chart:
    """Limits of all repetitions around the truth at zero; misses stand out by colour and mark.

    Parameters
    ----------
    limits : coverage_lab.Limits
        How far off each repetition is, and half the width of its limits.
    half : float
        Half the height of the axis, to be shared by charts that are compared.
    quantity : str
        The title of that axis.
    theme : {"light", "dark"}
        Of the page.
    """
    missed, places = limits.missed, np.arange(1, len(limits.off) + 1)
    low, high = (np.clip(limits.off + sign * limits.half, -half, half) for sign in (-1, 1))
    data = []
    for is_miss, name, role in ((False, "Covers the truth", "raw"), (True, "Misses it", "bias")):
        rows = missed == is_miss
        data.append(traces.line(name, _gaps(places[rows], places[rows]),
                                _gaps(low[rows], high[rows]),
                                colour(role, theme), 2.4 if is_miss else 1.2, hoverinfo="skip"))
    if missed.any():
        data.append(traces.points(
            "Misses it", places[missed].tolist(), plain(np.clip(limits.off, -half, half)[missed]),
            {"symbol": "x", "size": 6, "color": colour("bias", theme)}, hoverinfo="skip",
            showlegend=False))
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=axis(theme, "Repetition", range=[0, max(len(places), 200) + 1]),
        yaxis=axis(theme, quantity, grid=True, range=[-half, half], zeroline=True,
                   zerolinecolor=colour("text", theme), zerolinewidth=2), hovermode=False)}
    return Chart(spec, f"{int(missed.sum())} of {len(missed)} limits miss the truth.",
                 {"repetition": places.tolist(), "off by": plain(limits.off),
                  "half the width": plain(limits.half), "misses": missed.tolist()})


def common_half(each: Sequence[Limits]) -> float:
    """Half of an axis that shows nearly all of several limits.

    Parameters
    ----------
    each : sequence of coverage_lab.Limits
        Of the charts that are compared.
    """
    reach = np.concatenate([np.abs(limits.off) + limits.half for limits in each])
    return float(1.1 * np.quantile(reach, 0.98))


def _gaps(first: Any, second: Any) -> list[Any]:
    """Two ends of each line and a gap, so that one trace draws all of them."""
    return [value for pair in zip(plain(first), plain(second), strict=True)
            for value in (*pair, None)]


# -- noise that is used twice ---------------------------------------------------------------------


def reused(reuse: Reuse, theme: Theme) -> Chart:
    """Two releases, the average they protect, and what the formula makes of them.

    Parameters
    ----------
    reuse : Reuse
        Two releases of one average.
    theme : {"light", "dark"}
        Of the page.
    """
    first, second = (f"Release at ε = {budget.epsilon:g}" for budget in reuse.budgets)
    private = colour("functional", theme)
    times, columns = plain(reuse.times), {
        first: plain(reuse.first), second: plain(reuse.second),
        "Without protection": plain(reuse.exact), "What the formula gives": plain(reuse.recovered)}
    looks = ((translucent(private, 0.9), 1.8, "2px,2px"), (private, 1.8, "solid"),
             (translucent(colour("raw", theme), 0.55), 5, "solid"),
             (colour("bias", theme), 2.2, "6px,4px"))
    data = [traces.line(name, times, values, *look, hovertemplate="%{y:.3f}")
            for (name, values), look in zip(columns.items(), looks, strict=True)]
    spread = np.abs(np.concatenate([reuse.first, reuse.second, reuse.exact]))
    most = 1.15 * float(spread.max())
    low = 1.15 * min(0.0, float(min(reuse.first.min(), reuse.second.min())))
    spec = {"data": data, "layout": layout(
        theme, legend=True, xaxis=axis(theme, "Time"),
        yaxis=axis(theme, "Average", grid=True, range=[low, most]))}
    return Chart(spec, f"Two releases of one average; what the formula gives is off by up to "
                 f"{number(reuse.largest_error) if reuse.largest_error > 1e-9 else '0'}.",
                 {"time": times, **columns})
