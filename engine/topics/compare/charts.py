"""Methods side by side: how large errors are, what protection does to a curve, error against risk.

Sizes and shapes are two pictures. Sizes stand on one logarithmic axis, since methods are compared
by the ratio of their errors, and those reach from 1 to 100. Releases less the mean are signed, so
no logarithmic axis can hold them, and one linear axis would draw the best method as a flat line:
each method has the axis that its own releases need, the same at all its budgets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.palette import translucent
from engine.core.types import Array, PublicFacts
from engine.figures import labels, traces
from engine.figures.theme import (
    Chart,
    Spec,
    axis,
    layout,
    log_axis,
    method_style,
    on_log_scale,
    time_axis,
)
from engine.figures.traces import plain
from engine.language.grammar import conjunction
from engine.language.numbers import in_unit, named, with_unit
from engine.topics.mean.shape import Agreeing

_EVERY = 2  # points of the drawing grid in a small picture


@dataclass(frozen=True)
class MethodErrors:
    """The errors of a method at several budgets, with all that a chart needs to draw them."""

    label: str
    # key, family: of its mechanism; they decide on colour, line and marker. Empty for the floor.
    key: str
    family: str
    variant: int  # tells apart the named settings of one mechanism, counted from 0
    # errors, attacker_accuracy, each (budgets,): errors in response units, NaN where nothing is
    # published, and upper bounds on the accuracy
    errors: Array
    attacker_accuracy: Array
    # (budgets, 2), optional: between which errors the middle 90 % of releases are
    within: Array | None = None


def sizes(
    lines: Sequence[MethodErrors],
    marked: Sequence[int],
    epsilons: Sequence[float],
    unit: str,
    floor: MethodErrors | None = None,
) -> Chart:
    """Draw errors of all methods on one logarithmic axis, a row for each, the smallest on top.

    A row has a point for every budget in `marked`, with the middle 90 % of its releases. `floor` is
    what no unbiased method with Gaussian noise is below.
    """
    rows = sorted(
        (line for line in lines if np.isfinite(line.errors[[*marked]]).any()),
        key=lambda line: float(np.nanmean(line.errors[[*marked]])),
    )
    rows += [] if floor is None else [floor]
    data, notes, ends = [], [], []
    for row, line in enumerate(rows):
        shade, symbol = _row_look(line)
        heights = [-row - _BELOW_NAME - k * _STEP for k in range(len(marked))]
        notes.append(_note(0, "paper", -row, line.label, "text", 14))
        for k, height, epsilon in zip(marked, heights, epsilons, strict=True):
            if not line.errors[k] > 0:  # no place on a log axis
                why = "no error" if line.errors[k] == 0 else "nothing published"
                notes.append(_note(0, "paper", height, f"ε = {epsilon:g}: {why}", "quiet", 12))
                continue
            low, high = (line.errors[k],) * 2 if line.within is None else line.within[k]
            ends += [end for end in (low, high, line.errors[k]) if end > 0]
            data += _sized(line, k, height, shade, symbol, unit)
            notes.append(
                _note(
                    math.log10(max(high, line.errors[k])),
                    "x",
                    height,
                    f"ε = {epsilon:g}",
                    "quiet",
                    12,
                    shift=8,
                )
            )
    low, high = (0.9 * float(min(ends)), 1.45 * float(max(ends))) if ends else (0.1, 1.0)
    spec = {
        "data": data,
        "layout": layout(
            title=_smallest(lines, marked, epsilons),
            hovermode="closest",
            annotations=notes,
            xaxis=log_axis(on_log_scale("Error", unit), low, high, grid=True),
            yaxis={
                "visible": False,
                "fixedrange": True,
                "range": [-len(rows) + 1 - _BELOW_NAME - len(marked) * _STEP, 0.3],
            },
        ),
    }
    picked = [[line.errors[k] for k in marked] for line in rows]
    return Chart(
        spec,
        f"{_smallest(lines, marked, epsilons)}.",
        {
            "method": [line.label for line in rows],
            **{
                f"error at ε = {epsilon:g}": plain([errors[k] for errors in picked], 4)
                for k, epsilon in enumerate(epsilons)
            },
        },
    )


_BELOW_NAME, _STEP = 0.3, 0.2  # shares of a row: from its name to its points, and between points


def _row_look(line: MethodErrors) -> tuple[str, str]:
    """Shade and marker of a method; the floor has none of its own."""
    if not line.key:
        return "text", "line-ns-open"
    shade, _, symbol = method_style(line.key, line.family, line.variant)
    return shade, symbol


def _note(x: float, xref: str, y: float, text: str, shade: str, size: int, shift: int = 0) -> Spec:
    """Write words that begin at a place of the plot."""
    return {
        "x": x,
        "xref": xref,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
        "xshift": shift,
        "font": {"size": size, "color": shade},
    }


def _sized(
    line: MethodErrors, k: int, height: float, shade: str, symbol: str, unit: str
) -> list[Spec]:
    """Draw the error at a budget, on the range of its releases where that is known."""
    error, name = float(line.errors[k]), line.label
    marker = {"size": 10, "symbol": symbol, "color": shade, "line": {"width": 1.6, "color": shade}}
    point = traces.points(
        name,
        plain([error], 4),
        [height],
        marker,
        showlegend=False,
        hovertemplate=with_unit("%{x:.3g}", unit) + "<extra></extra>",
    )
    if line.within is None:
        return [point]
    return [
        traces.line(
            name,
            plain(line.within[k], 4),
            [height] * 2,
            translucent(shade, 0.6),
            3,
            hoverinfo="skip",
            showlegend=False,
        ),
        point,
    ]


def _smallest(
    lines: Sequence[MethodErrors], marked: Sequence[int], epsilons: Sequence[float]
) -> str:
    """Say which method has the smallest error at most of the budgets."""
    best = {}
    for k, epsilon in zip(marked, epsilons, strict=True):
        known = {line.label: float(line.errors[k]) for line in lines if np.isfinite(line.errors[k])}
        if known:
            best[epsilon] = min(known, key=known.__getitem__)
    if not best:
        return "Nothing would be published"
    names = [*best.values()]
    best_often = max(dict.fromkeys(names), key=names.count)
    where = [f"{epsilon:g}" for epsilon, name in best.items() if name == best_often]
    return f"{best_often} has the smallest error at ε = {conjunction(where)}"


def difference(
    line: MethodErrors,
    times: Array,
    differences: Array,
    facts: PublicFacts,
    edge: float,
    caption: str,
) -> Chart:
    """Draw possible releases (draws, points) less the non-private mean, on ± `edge`."""
    shade, dash, _ = method_style(line.key, line.family, line.variant)
    x, y = traces.joined(
        plain(times[::_EVERY], 4), [plain(curve, 4) for curve in differences[:, ::_EVERY]]
    )
    data = [
        traces.line(
            "Possible releases", x, y, translucent(shade, 0.85), 1.1, dash, hoverinfo="skip"
        ),
        traces.zero(facts),
    ]
    spec = {
        "data": data,
        "layout": layout(
            hovermode=False,
            title=in_unit(float(np.sqrt((differences**2).mean())), facts.value_unit)
            + " from the non-private mean",
            xaxis=time_axis(facts),
            yaxis=axis(
                named("Difference", facts.value_unit), grid=True, nticks=5, range=[-edge, edge]
            ),
        ),
    }
    low, middle, high = np.quantile(differences[:, ::_EVERY], (0.05, 0.5, 0.95), axis=0)
    table = {
        named(facts.time_name, facts.time_unit): times[::_EVERY].round(3).tolist(),
        **{
            name: part.round(3).tolist()
            for name, part in (("5 % quantile", low), ("median", middle), ("95 % quantile", high))
        },
    }
    return Chart(
        spec,
        f"{line.label}, {caption}: {len(differences)} possible releases minus the "
        "non-private mean.",
        table,
    )


def edge_of(differences: Sequence[Array], facts: PublicFacts) -> float:
    """Choose one height for small pictures (draws, points) of a method: at most the stated range.

    It holds nearly all of every line.
    """
    far = max((float(np.quantile(np.abs(d), 0.99)) for d in differences), default=0.0)
    return min(1.1 * far, 2 * facts.value_half_width) or 1.0


def against_risk(
    lines: Sequence[MethodErrors],
    marked: Sequence[int],
    unit: str,
    highest_error: float,
    floor: MethodErrors | None = None,
) -> Chart:
    """Draw errors against the attacker’s accuracy, which means the same for all methods.

    Budgets in `marked` have a marker. Errors beyond `highest_error` say nothing and are left out.
    """
    visible = [(line, np.where(line.errors < highest_error, line.errors, np.nan)) for line in lines]
    visible = [(line, errors) for line, errors in visible if np.isfinite(errors).any()]
    data = [
        trace for line, errors in visible for trace in _against_risk(line, errors, marked, unit)
    ]
    if floor is not None:
        floor_errors = np.where(floor.errors < highest_error, floor.errors, np.nan)
        data.append(
            traces.floor(
                plain(100 * floor.attacker_accuracy, 4),
                plain(floor_errors, 4),
                hovertemplate=f"%{{y:.3g}} {unit} at %{{x:.0f}} %",
            )
        )
    quantity = f"Error ({unit}, log scale)" if unit else "Error (log scale)"
    known = [
        error for _, errors in visible for error in errors[errors > 0]
    ]  # of any on a log scale
    if known and floor is not None:
        known.append(np.nanmin(floor.errors))
    low, high = (0.85 * float(min(known)), 1.15 * float(max(known))) if known else (0.1, 1.0)
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            hovermode="closest",
            title=_finding([line for line, _ in visible]),
            xaxis=axis("Attacker’s accuracy, at most (%; guessing: 50)", range=[49, 101], nticks=7),
            yaxis=log_axis(quantity, low, high, grid=True),
        ),
    }
    return Chart(
        spec, _alt(lines, marked, unit), _table(lines if floor is None else [*lines, floor])
    )


def _finding(lines: Sequence[MethodErrors]) -> str:
    """Say which method has the smallest error at an attacker’s accuracy that all of them allow."""
    known = [np.isfinite(line.errors) & np.isfinite(line.attacker_accuracy) for line in lines]
    if not lines:
        return "No method publishes anything"
    accuracies = [line.attacker_accuracy[here] for line, here in zip(lines, known, strict=True)]
    low = max(float(values.min()) for values in accuracies)
    high = min(float(values.max()) for values in accuracies)
    if low > high:
        return f"{len(lines)} methods share no accuracy of the attacker"
    middle = (low + high) / 2
    errors = {
        line.label: float(np.interp(middle, values, line.errors[here]))
        for line, values, here in zip(lines, accuracies, known, strict=True)
    }
    return labels.smallest_error(errors, f"{100 * middle:.0f} % attacker’s accuracy")


def _against_risk(
    line: MethodErrors, errors: Array, marked: Sequence[int], unit: str
) -> list[Spec]:
    """Draw a line through all budgets, and its marks at those that are chosen."""
    shade, dash, symbol = method_style(line.key, line.family, line.variant)
    x, indices = 100 * line.attacker_accuracy, [*marked]
    marker = {"size": 10, "symbol": symbol, "color": shade, "line": {"width": 1.4, "color": shade}}
    return [
        traces.line(line.label, plain(x, 4), plain(errors, 4), shade, 2, dash, hoverinfo="skip"),
        traces.points(
            line.label,
            plain(x[indices], 4),
            plain(errors[indices], 4),
            marker,
            showlegend=False,
            hovertemplate=f"%{{y:.3g}} {unit} at %{{x:.0f}} %",
        ),
    ]


def _alt(lines: Sequence[MethodErrors], marked: Sequence[int], unit: str) -> str:
    summary = "; ".join(
        f"{line.label} {in_unit(float(line.errors[k]), unit)} at "
        f"{100 * line.attacker_accuracy[k]:.0f} %"
        for line in lines
        for k in marked[:1]
        if np.isfinite(line.errors[k])
    )
    return (
        f"Errors against the attacker’s accuracy: {summary}."
        if summary
        else "Nothing is published."
    )


def _table(lines: Sequence[MethodErrors]) -> dict[str, list[Any]]:
    return {
        "method": [line.label for line in lines for _ in line.errors],
        "attacker’s accuracy, at most": [
            float(np.ceil(1000 * v) / 1000) for line in lines for v in line.attacker_accuracy
        ],
        "error": [v for line in lines for v in plain(line.errors, 4)],
    }


def agreeing_share(
    epsilons: Sequence[float], answers: Sequence[tuple[MethodErrors, Agreeing]], here: float | None
) -> Chart:
    """Draw the share of releases that keep an answer by budget, with what simulation leaves open.

    The method on screen is first. Budgets at which a method's errors are NaN have no point.
    """
    data = [_kept_line(epsilons, line, share) for line, share in answers]
    index = [*epsilons].index(here) if here is not None else None
    if index is not None and np.isfinite(answers[0][0].errors[index]):
        data.append(traces.diamond(epsilons[index], 100 * float(answers[0][1].share[index])))
    spec = {
        "data": data,
        "layout": layout(
            legend=len(answers) > 1,
            title=_first_kept(epsilons, answers),
            xaxis=log_axis("Privacy budget ε (log scale)", epsilons[0] * 0.93, epsilons[-1] * 1.07),
            yaxis=axis("Releases that keep it (%)", grid=True, range=[-3, 103], nticks=6),
        ),
    }
    return Chart(spec, _kept_alt(epsilons, answers), _kept_table(epsilons, answers))


def _first_kept(epsilons: Sequence[float], answers: Sequence[tuple[MethodErrors, Agreeing]]) -> str:
    """Name the budget from which on the method on screen keeps the answer in 19 of 20 releases."""
    line, share = answers[0]
    often = np.where(np.isfinite(line.errors), share.share, 0.0) >= 0.95
    if not often[-1]:
        return "No budget keeps the answer in 19 of 20 releases"
    first = len(often) - int(np.argmin(often[::-1])) if not often.all() else 0
    return f"19 of 20 releases keep it from ε = {epsilons[first]:g}"


def _kept_line(epsilons: Sequence[float], line: MethodErrors, share: Agreeing) -> Spec:
    shade, dash, symbol = method_style(line.key, line.family, line.variant)
    known = np.isfinite(line.errors)
    y, up, down = (
        plain(np.where(known, 100 * values, np.nan), 4)
        for values in (share.share, share.high - share.share, share.share - share.low)
    )
    return traces.line_with_points(
        line.label,
        epsilons,
        y,
        shade,
        2,
        dash,
        {"size": 6, "symbol": symbol, "color": shade},
        error_y=traces.off_by(up, down, translucent(shade, 0.6), 1.2, 0),
        hovertemplate="%{y:.0f} %",
    )


def _kept_alt(epsilons: Sequence[float], answers: Sequence[tuple[MethodErrors, Agreeing]]) -> str:
    summary = "; ".join(
        f"{line.label} {100 * share.share[-1]:.0f} % at ε = {epsilons[-1]:g}"
        for line, share in answers
        if np.isfinite(line.errors[-1])
    )
    return f"Releases that keep the answer: {summary or 'none'}."


def _kept_table(
    epsilons: Sequence[float], answers: Sequence[tuple[MethodErrors, Agreeing]]
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"ε": list(epsilons)}
    for line, share in answers:
        for name, values in ((line.label, share.share), ("from", share.low), ("to", share.high)):
            title = name if name == line.label else f"{line.label}, {name}"
            columns[title] = plain(np.where(np.isfinite(line.errors), 100 * values, np.nan), 4)
    return columns
