"""Drawings as a page for a browser that needs no network: a script file lies beside it."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.io
import plotly.offline

from engine.figures.theme import Chart
from engine.templates import render

SCRIPT = "plotly.min.js"  # the name that plotly's own "directory" form asks for


def script() -> str:
    """The text of the script file."""
    text: str = plotly.offline.get_plotlyjs()
    return text


def page(title: str, about: str, panels: Sequence[tuple[str, Chart]], lines: Sequence[str]) -> str:
    """A page with the drawings, each with its words and its text alternative, and some lines.

    Parameters
    ----------
    title, about : str
        Above the drawings.
    panels : sequence of (str, Chart)
        Each with its words.
    lines : sequence of str
        Below the drawings.

    Returns
    -------
    str
        HTML that asks for `SCRIPT` beside it and for nothing else.
    """
    drawings = [(name, _drawn(chart), chart.alt) for name, chart in panels]
    return render("exhibit", title=title, about=about, panels=drawings, lines=lines)


def _drawn(chart: Chart) -> str:
    text: str = plotly.io.to_html(chart.spec, include_plotlyjs="directory", full_html=False,
                                  validate=False, config={"displayModeBar": False},
                                  default_height="430px")
    return text
