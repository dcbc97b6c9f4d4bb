"""The chart of noise that was used twice."""

from __future__ import annotations

import numpy as np

from engine.core.palette import translucent
from engine.figures import labels, traces
from engine.figures.theme import Chart, axis, layout
from engine.figures.traces import plain
from engine.language.numbers import number
from engine.topics.reuse.answer import ReuseAnswer


def reused(answer: ReuseAnswer) -> Chart:
    """Two releases, the average they protect, and what the formula makes of them.

    Parameters
    ----------
    answer : ReuseAnswer
        Two releases of one average.
    """
    first, second = (f"Release at ε = {budget.epsilon:g}" for budget in answer.budgets)
    times, columns = plain(answer.times), {
        first: plain(answer.first), second: plain(answer.second),
        "Non-private": plain(answer.exact),
        "What the formula gives": plain(answer.recovered)}
    looks = ((translucent("functional", 0.9), 1.8, "2px,2px"), ("functional", 1.8, "solid"),
             (translucent("raw", 0.55), 5, "solid"), ("bias", 2.2, "6px,4px"))
    data = [traces.line(name, times, values, *look, hovertemplate=labels.hover())
            for (name, values), look in zip(columns.items(), looks, strict=True)]
    spread = np.abs(np.concatenate([answer.first, answer.second, answer.exact]))
    most = 1.15 * float(spread.max())
    low = 1.15 * min(0.0, float(min(answer.first.min(), answer.second.min())))
    spec = {"data": data, "layout": layout(
        legend=True, title=_finding(answer), xaxis=axis("Time (share of the range)"),
        yaxis=axis("Mean response (no unit)", grid=True, range=[low, most]))}
    return Chart(spec, f"Two releases of one average; what the formula gives is off by up to "
                 f"{number(answer.largest_error) if answer.largest_error > 1e-9 else '0'}.",
                 {"time": times, **columns})


def _finding(answer: ReuseAnswer) -> str:
    if answer.largest_error < 1e-6 * float(np.abs(answer.exact).max()):
        return "Reused noise gives the mean away exactly"
    return f"The formula misses the mean by up to {number(answer.largest_error)}"
