"""The chart of noise that was used twice."""

from __future__ import annotations

import numpy as np

from engine.core.palette import translucent
from engine.figures import labels, traces
from engine.figures.theme import Chart, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.grammar import uncapital
from engine.language.numbers import in_unit, number
from engine.topics.reuse.answer import FACTS, ReuseAnswer


def reused(answer: ReuseAnswer) -> Chart:
    """Draw two releases, the average they protect, and what the formula makes of them."""
    first, second = (f"Release at ε = {budget.epsilon:g}" for budget in answer.budgets)
    times, columns = (
        plain(answer.times),
        {
            first: plain(answer.first),
            second: plain(answer.second),
            "Non-private": plain(answer.exact),
            "What the formula gives": plain(answer.recovered),
        },
    )
    looks = (
        (translucent("functional", 0.9), 1.8, "2px,2px"),
        ("functional", 1.8, "solid"),
        (translucent("raw", 0.55), 5, "solid"),
        ("bias", 2.2, "6px,4px"),
    )
    data = [
        traces.line(name, times, values, *look, hovertemplate=labels.hover())
        for (name, values), look in zip(columns.items(), looks, strict=True)
    ]
    heights = np.concatenate([answer.first, answer.second, answer.exact])
    low, high = float(heights.min()), float(heights.max())
    margin = 0.05 * (high - low)
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            title=_finding(answer),
            xaxis=time_axis(FACTS),
            yaxis=axis(
                f"Mean {uncapital(FACTS.value_name)} ({FACTS.value_unit})",
                grid=True,
                range=[low - margin, high + margin],
            ),
        ),
    }
    return Chart(
        spec,
        f"Two releases of one average; what the formula gives is off by up to "
        f"{number(answer.largest_error) if answer.largest_error > 1e-9 else '0'}.",
        {"time": times, **columns},
    )


def _finding(answer: ReuseAnswer) -> str:
    if answer.largest_error < 1e-6 * float(np.abs(answer.exact).max()):
        return "Reused noise gives the mean away exactly"
    error = in_unit(answer.largest_error, FACTS.value_unit)
    return f"The formula misses the mean by up to {error}"
