"""Plain charts of a few lines, for a notebook that goes on from there."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from engine.figures import compare, rates, traces
from engine.theme import Chart, axis, colour, layout
from engine.types import Budget
from engine.views.planner import Answer
from engine.views.preview import Preview
from engine.views.rate_check import Terms
from engine.views.side_by_side import Refused, Way, published, step


def releases(view: Preview, budget: Budget) -> Chart:
    """Possible releases of an average curve at one budget, and the average without protection."""
    facts = view.data.facts
    curves = [*view.releases[view.budgets.index(budget)], view.without]
    names = [*(f"release {k}" for k in range(1, len(curves))), "without protection"]
    columns = zip((facts.time_name, *names), (view.times, *curves), strict=True)
    return table({name: traces.plain(values) for name, values in columns})


def tried(answer: Answer) -> Chart:
    """The errors that were simulated for a plan, by the dial that was left open."""
    dial = "epsilon" if answer.unknown == "error" else answer.unknown
    steps = sorted((*answer.steps, answer.reached), key=lambda one: getattr(one.setting, dial))
    return table({dial: [getattr(one.setting, dial) for one in steps],
                  "error": [one.error for one in steps]})


def methods(ways: Sequence[Way | Refused], epsilons: Sequence[float]) -> Chart:
    """Errors of methods against right guesses, with markers at some budgets."""
    known = published(ways)
    keys = [way.mechanism.key for way in known]
    lines = [compare.Line(way.label, way.mechanism.key, way.mechanism.family, keys[:k].count(
        way.mechanism.key), way.error, way.right) for k, way in enumerate(known)]
    facts = known[0].shown.data.facts
    return compare.against_risk(lines, [*map(step, epsilons)], facts.value_unit, "light",
                                2 * facts.value_half_width)


def regimes(terms: Terms) -> Chart:
    """The map of ruling terms, along the symbol that was asked for, or the first two."""
    usual = {symbol.name: symbol.usual for symbol in terms.weighted.rate.symbols}
    names = list(dict.fromkeys([*filter(None, [terms.asked.symbol]), *usual]))
    return rates.regimes(terms.weighted, names[0], names[1], {**usual, **terms.point}, "light")


def table(columns: Mapping[str, Sequence[Any]]) -> Chart:
    """A line for each column but the first, over which they are drawn."""
    (title, across), *each = columns.items()
    looks = itertools.cycle(itertools.product(("text", "bias"), traces.DASHES))
    data = [traces.line(name, across, y, colour(shade, "light"), 1.8, dash)
            for (name, y), (shade, dash) in zip(each, looks, strict=False)]
    spec = {"data": data, "layout": layout("light", legend=True, xaxis=axis("light", title),
                                           yaxis=axis("light", grid=True))}
    return Chart(spec, f"{', '.join(name for name, _ in each)} against {title}.")
