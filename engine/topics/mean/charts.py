"""The error that each budget buys, on log axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.figures import traces
from engine.figures.traces import UNPROTECTED
from engine.language.numbers import number, with_unit
from engine.privacy.risk import right_guess_cap
from engine.theme import (
    Chart,
    Spec,
    Theme,
    colour,
    layout,
    log_axis,
    method_style,
)
from engine.topics.mean.answer import MeanAnswer
from engine.types import Array

_BUDGETS = "Protection ε (log scale)<br>≤ right guesses in 100 by ε alone, whatever the method"


@dataclass(frozen=True)
class Method:
    """A line of the chart.

    Parameters
    ----------
    label : str
        In the legend.
    key, family : str
        Of its mechanism, for its look.
    errors : (budgets,)
        In response units, NaN where it gives nothing.
    variant : int
        Counts the named settings of one mechanism.
    """

    label: str
    key: str
    family: str
    errors: Array
    variant: int = 0


def against_budget(preview: MeanAnswer, here: int, method: Method, theme: Theme, *,
                   others: Sequence[Method] = (), theory: Array | None = None) -> Chart:
    """Median error and its 8-in-10 range against ε, with the floor, the theory and the present ε.

    Below every ε stands what it allows by itself, at the present δ: so it never stands alone. The
    axis ends at the range of the values, from where on an error says nothing.

    Parameters
    ----------
    preview : MeanAnswer
        Simulated releases at all budgets.
    here : int
        The place of the budget that is marked.
    method : Method
        The one of `preview`.
    theme : {"light", "dark"}
        Of the page.
    others : sequence of Method
        Drawn for comparison.
    theory : (budgets,), optional
        The rate, in response units.
    """
    study, facts = preview.study, preview.data.facts
    x, unit, median = [budget.epsilon
                       for budget in preview.budgets], facts.value_unit, method.errors
    low, high = (np.where(preview.published, study.quantile(q), np.nan) for q in (0.1, 0.9))
    data = [_range(x, low, high, method, theme)]
    data += [_line(x, line, unit, theme) for line in (method, *others)]
    if study.baseline is not None:
        data.append(traces.line("No protection", [x[0], x[-1]], [study.baseline, study.baseline],
                                colour("without", theme), 2.2, UNPROTECTED,
                                hovertemplate=f"%{{y:.3g}} {unit}"))
    if theory is not None:
        data.append(traces.line("Theory (slope)", x, _gaps(theory), colour("raw", theme), 1.6,
                                "dot", hoverinfo="skip"))
    if np.isfinite(median[here]):
        data.append(traces.diamond(x[here], float(median[here]), theme))
    heights = np.concatenate([low, high, *(line.errors for line in others),
                              [study.baseline or np.nan]])
    frame = layout(theme, legend=True, xaxis=_budgets(x, preview.budgets[here].delta, theme),
                   yaxis=_errors(heights, 2 * facts.value_half_width, unit, theme))
    return Chart({"data": data, "layout": frame},
                 _alt(x, median, here, unit), _table(x, median, low, high, study.baseline, others))


def _alt(x: list[float], median: Array, here: int, unit: str) -> str:
    known = np.flatnonzero(np.isfinite(median))
    if not len(known):
        return f"At no ε from {x[0]:g} to {x[-1]:g} would anything be published."

    def error_at(k: int) -> str:
        return f"{with_unit(number(float(median[k])), unit)} at ε = {x[k]:g}"

    present = (f"At ε = {x[here]:g} the error is "
               f"{with_unit(number(float(median[here])), unit)}" if here in known
               else f"At ε = {x[here]:g} nothing would be published")
    return f"{present}; it falls from {error_at(int(known[0]))} to {error_at(int(known[-1]))}."


def _range(x: list[float], low: Array, high: Array, method: Method, theme: Theme) -> Spec:
    """The middle 8 in 10 releases, where anything is published."""
    known = np.isfinite(method.errors)
    return traces.filled("8 in 10 releases", np.array(x)[known].tolist(), low[known].tolist(),
                         high[known].tolist(), method_style(method.key, method.family, theme)[0],
                         hoverinfo="skip", showlegend=False)


def _line(x: list[float], method: Method, unit: str, theme: Theme) -> Spec:
    shade, dash, symbol = method_style(method.key, method.family, theme, method.variant)
    marker = {"size": 7, "symbol": symbol, "line": {"width": 1.4, "color": shade}}
    return traces.line_with_points(method.label, x, _gaps(method.errors), shade, 2, dash, marker,
                                   hovertemplate=f"%{{y:.3g}} {unit}")


def _gaps(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values]


def _errors(heights: Array, most: float, unit: str, theme: Theme) -> Spec:
    """The axis of errors, over `heights` as far as `most`."""
    heights = heights[np.isfinite(heights) & (heights > 0)]
    bottom, top = (heights.min() * 0.85, heights.max() * 1.15) if len(heights) else (0.1, 1.0)
    quantity = f"Error ({unit}, log scale)" if unit else "Error (log scale)"
    return log_axis(theme, quantity, bottom, max(min(top, most), 2 * bottom), grid=True)


def _budgets(x: list[float], delta: float, theme: Theme) -> Spec:
    """The axis of budgets, with what each allows."""
    axis = log_axis(theme, _BUDGETS, x[0] * 0.93, x[-1] * 1.07)
    axis["ticktext"] = [f"{text}<br>{_allowed(epsilon, delta)}" for text, epsilon in
                        zip(axis["ticktext"], axis["tickvals"], strict=True)]
    return axis


def _allowed(epsilon: float, delta: float) -> str:
    """Right guesses in 100 that a budget allows by itself, rounded up."""
    chance = float(right_guess_cap(epsilon, delta))
    return ">99" if chance > 0.99 else f"≤{math.ceil(round(100 * chance, 6))}"


def _table(x: list[float], median: Array, low: Array, high: Array, baseline: float | None,
           others: Sequence[Method]) -> dict[str, list[Any]]:
    columns = {"error": median, "1 in 10 below": low, "1 in 10 above": high}
    if baseline is not None:
        columns["without protection"] = np.full(len(x), baseline)
    columns |= {other.label: other.errors for other in others}
    return {"ε": x, **{name: _gaps(values.round(4)) for name, values in columns.items()}}
