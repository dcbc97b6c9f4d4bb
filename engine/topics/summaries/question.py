"""Summaries: every way to publish one, and the protection of the chosen one."""

from __future__ import annotations

from engine.asking import WITHIN, Asked, Kind, Numbers, as_floats, protection
from engine.tasks import SUMMARIES
from engine.theme import Chart
from engine.topics.summaries import charts
from engine.topics.summaries.answer import SummaryView, summary_view


def numbers(view: SummaryView, asked: Asked) -> Numbers:
    """Errors of every way, and the protection of the chosen one, which is the first."""
    errors = as_floats({f"{name}, {way.label}": value for way in view.ways
                        for name, value in (("error", way.error), (WITHIN, way.within))})
    spends = view.ways[0].spends
    return errors | protection(spends, asked.person) if spends else errors


def chart(view: SummaryView, _: Asked) -> Chart:
    """Errors of all ways."""
    return charts.errors(view, "light")


KIND = Kind("summary", "Summaries", summary_view, numbers, chart, SUMMARIES)
