"""The mean curve at one budget: one release with its band, possible ones, or their differences."""

from __future__ import annotations

from typing import Literal

import numpy as np

from engine.core.palette import Theme, colour, translucent
from engine.core.types import Array
from engine.figures import traces
from engine.figures.theme import Chart, Spec, axis, layout, time_axis
from engine.figures.traces import plain
from engine.language.numbers import digits_up, named, number, with_unit
from engine.topics.mean.answer import MeanAnswer

Shows = Literal["release", "releases", "difference"]


def curve(answer: MeanAnswer, budget: int, theme: Theme, shows: Shows = "release") -> Chart:
    """The private mean beside the non-private one, at one budget.

    Parameters
    ----------
    answer : MeanAnswer
        At all budgets.
    budget : int
        The place of the budget.
    theme : {"light", "dark"}
        Of the page.
    shows : {"release", "releases", "difference"}
        One release with its 95 % confidence band, equally likely ones, or these less the
        non-private mean.
    """
    facts, x = answer.facts, answer.times.round(4).tolist()
    less = answer.without if shows == "difference" else np.zeros_like(answer.without)
    shade = colour("gradient", theme)
    releases = answer.releases[budget] - less
    if shows == "release":
        data = [*_band(answer, budget, x, shade),
                traces.line("Private mean", x, plain(releases[0]), shade, 2.8)]
    else:
        data = [traces.releases(x, map(plain, releases), translucent(shade, 0.6))]
    data.append(traces.line("Non-private mean", x, plain(answer.without - less),
                            colour("without", theme), 2.2, traces.UNPROTECTED))
    if answer.truth is not None and shows != "difference":
        data.append(traces.line("True mean", x, plain(answer.truth), colour("truth", theme), 1.6))
    quantity = "Private less non-private mean" if shows == "difference" else facts.value_name
    finding = _finding(answer, budget, shows)
    spec = {"data": data, "layout": layout(
        theme, legend=True, title=finding,
        xaxis=time_axis(theme, facts),
        yaxis=axis(theme, named(quantity, facts.value_unit), grid=True))}
    return Chart(spec, f"{finding}.", _columns(answer, budget))


def _finding(answer: MeanAnswer, budget: int, shows: Shows) -> str:
    """How far what is drawn lies from the non-private mean: one release, or each of them."""
    facts, far = answer.facts, np.abs(answer.releases[budget] - answer.without).max(axis=-1)
    if shows == "release":
        within = number(digits_up(float(far[0]), 3))
        return f"Release within {with_unit(within, facts.value_unit)} of the non-private mean"
    least, most = number(float(far.min())), number(digits_up(float(far.max()), 3))
    return (f"Largest distance from the non-private mean: {least} to "
            f"{with_unit(most, facts.value_unit)}")


def _band(answer: MeanAnswer, budget: int, x: list[float], shade: str) -> list[Spec]:
    """Its confidence band, where the method gives one."""
    if answer.band is None:
        return []
    return [traces.filled("95 % confidence band", x, plain(answer.band.low[budget, 0]),
                          plain(answer.band.high[budget, 0]), shade, hoverinfo="skip")]


def _columns(answer: MeanAnswer, budget: int) -> dict[str, list[float]]:
    columns: dict[str, Array] = {
        answer.facts.time_name: answer.times, "private mean": answer.releases[budget, 0],
        "non-private mean": answer.without}
    if answer.band is not None:
        columns |= {"95 % band from": answer.band.low[budget, 0],
                    "95 % band to": answer.band.high[budget, 0]}
    if answer.truth is not None:
        columns["true mean"] = answer.truth
    return {name: plain(values) for name, values in columns.items()}
