"""Charts of the Audit page: bounds that climb under a claim, limits that miss, noise used twice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.audit import CountedStatistic, Progress
from engine.core.palette import translucent
from engine.figures.theme import Chart, Spec, axis, layout, log_axis
from engine.language.numbers import number
from engine.topics.audit.words import down

_MAX_SHOWN = 3.0  # times the claim; what is beyond is drawn at the edge
_SPLIT = (0.4, 0.46)  # where the left part ends and the right one begins


@dataclass(frozen=True)
class AttackProgress:
    """One attack on the chart."""

    name: str
    steps: Sequence[Progress]
    is_planted: bool


def climbing(lines: Sequence[AttackProgress], claim: float) -> Chart:
    """Draw the worst pair against pairs tried, and the bound against releases, below the claim."""
    known = [
        value
        for line in lines
        for step in line.steps
        for value in (step.worst_epsilon, step.bound)
        if math.isfinite(value)
    ]
    top = min(max([1.25 * claim, *(1.1 * value for value in known)]), _MAX_SHOWN * claim)
    data: list[Spec] = []
    for line in lines:
        data += [_worst(line, top), _bound(line, top)]
    tried = [step.tried for line in lines for step in line.steps] or [100]
    runs = [step.runs for line in lines for step in line.steps if step.runs] or [1000]
    lines_at = [_claimed(xref=f"{x} domain", x0=0, x1=1, y0=claim, y1=claim) for x in ("x", "x2")]
    note = {
        "text": f"claimed ε = {claim:.4g}",
        "showarrow": False,
        "xref": "x domain",
        "x": 0,
        "y": claim,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 13},
    }
    left = axis("Pairs tried", domain=[0, _SPLIT[0]], range=[0, 1.08 * max(tried)], nticks=4)
    right = log_axis("Releases of each", min([1000, *runs]), max([40_000, *runs]), room=0.06)
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=_finding(lines, claim),
            shapes=lines_at,
            annotations=[note],
            xaxis=left,
            xaxis2={**right, "domain": [_SPLIT[1], 1], "anchor": "y"},
            yaxis=axis("Privacy budget ε that is shown", grid=True, range=[-0.03 * top, top]),
        ),
    }
    return Chart(spec, _alt(lines, claim), _table(lines))


def statistic(counted: CountedStatistic, is_planted: bool) -> Chart:
    """Draw how often the attacker's statistic falls where, for either of two neighbours."""
    low, high = counted.edges[0], counted.edges[-1]
    centres = [(a + b) / 2 for a, b in itertools.pairwise(counted.edges)]
    percent = {
        name: [100 * count / sum(counts) for count in counts]
        for name, counts in (("One data set", counted.first), ("Its neighbour", counted.second))
    }
    highest = max(map(max, percent.values()))
    data: list[Spec] = [
        {
            "type": "bar",
            "name": name,
            "x": centres,
            "y": shares,
            "width": (high - low) / len(centres),
            "marker": {"color": translucent(role, 0.5), "line": {"width": 0}},
            "hovertemplate": f"{name}: %{{y:.2g}} %<extra></extra>",
        }
        for role, (name, shares) in zip(
            ("without", "bias" if is_planted else "gradient"), percent.items(), strict=True
        )
    ]
    threshold = _claimed(yref="y domain", x0=counted.threshold, x1=counted.threshold, y0=0, y1=1)
    right = f"{100 * counted.right:.3g} %"
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            barmode="overlay",
            bargap=0,
            hovermode="closest",
            title=f"Right in {right} of releases",
            shapes=[threshold],
            xaxis=axis("Attacker’s statistic", range=[low, high], nticks=5),
            yaxis=axis("% of releases", grid=True, range=[0, 1.08 * highest], nticks=4),
        ),
    }
    alt = (
        f"The attacker’s statistic under two neighbouring data sets, from {number(low)} to "
        f"{number(high)}. Above {number(counted.threshold)} the attacker names the neighbour, and "
        f"is right in {right} of releases."
    )
    columns = {"statistic from": list(counted.edges[:-1]), "to": list(counted.edges[1:])}
    return Chart(
        spec,
        alt,
        columns | {f"% of releases, {name.lower()}": shares for name, shares in percent.items()},
    )


def _finding(lines: Sequence[AttackProgress], claim: float) -> str:
    """Say how many claims are broken, or how near the best attack came."""
    ends = [line.steps[-1] for line in lines if line.steps]
    n_broken = sum(end.is_broken for end in ends)
    if n_broken:
        return f"{n_broken} of {len(lines)} attacks break the claim of ε = {claim:.3g}"
    highest_bound = max((end.bound for end in ends if math.isfinite(end.bound)), default=0.0)
    return f"Attacks show ε ≥ {down(highest_bound)}, below the claimed {claim:.3g}"


def _claimed(**ends: Any) -> Spec:
    """Draw the dashed line of the claim."""
    return {"type": "line", **ends, "line": {"color": "text", "width": 2, "dash": "6px,4px"}}


def _worst(line: AttackProgress, top: float) -> Spec:
    steps = [step for step in line.steps if not step.runs or step is line.steps[-1]]
    heights = [step.worst_epsilon for step in steps]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": line.name,
        "showlegend": False,
        "x": [step.tried for step in steps],
        "y": _clamped(heights, top),
        "customdata": [down(value) for value in heights],
        **_look(line),
        "hovertemplate": "%{x} pairs: ε = %{customdata}<extra></extra>",
    }


def _bound(line: AttackProgress, top: float) -> Spec:
    steps = [step for step in line.steps if step.runs]
    heights = [step.bound for step in steps]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": line.name,
        "xaxis": "x2",
        "x": [step.runs for step in steps],
        "y": _clamped(heights, top),
        "customdata": [down(value) for value in heights],
        **_look(line),
        "hovertemplate": "%{x} releases: ε ≥ %{customdata}<extra></extra>",
    }


def _look(line: AttackProgress) -> Spec:
    """Style a line: a planted fault has its own colour and cross, the mechanism has dots."""
    role, symbol = ("bias", "x") if line.is_planted else ("gradient", "circle")
    return {
        "line": {"width": 2.2, "color": role},
        "marker": {"size": 10 if line.is_planted else 8, "symbol": symbol, "color": role},
    }


def _clamped(heights: Sequence[float], top: float) -> list[float]:
    return [min(value, 0.97 * top) for value in heights]


def _alt(lines: Sequence[AttackProgress], claim: float) -> str:
    bounds = [
        f"{line.name}: at least {down(line.steps[-1].bound)} from releases, "
        f"{down(line.steps[-1].worst_epsilon)} for the worst pair"
        for line in lines
        if line.steps
    ]
    return f"The ε that attacks show against a claim of {number(claim)}. {'; '.join(bounds)}."


def _table(lines: Sequence[AttackProgress]) -> dict[str, list[Any]]:
    rows = [
        (line.name, step.tried, down(step.worst_epsilon), step.runs, down(step.bound))
        for line in lines
        for step in line.steps
    ]
    names = ("what", "pairs", "ε of the worst pair", "releases of each", "ε from releases")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}
