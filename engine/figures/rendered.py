"""Charts as plotly renders them: an object for a notebook, a page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.io
import plotly.offline
from plotly.graph_objects import Figure as Figure

from engine.core.palette import Theme
from engine.figures.theme import Chart, in_theme
from engine.templates import render


def figure_of(chart: Chart, theme: Theme = "light") -> Figure:
    """The figure, which a notebook draws and other programs may change."""
    return Figure(in_theme(chart.spec, theme), skip_invalid=True)


SCRIPT = "plotly.min.js"  # the name that plotly's own "directory" form asks for


def script() -> str:
    """The text of the script file."""
    text: str = plotly.offline.get_plotlyjs()
    return text


def page(title: str, about: str, panels: Sequence[tuple[str, Chart]], lines: Sequence[str]) -> str:
    """A page with the drawings, each with its words and its text alternative, and some lines.

    Its HTML asks for `SCRIPT` beside it and for nothing else.
    """
    drawings = [(name, _drawn(chart), chart.alt) for name, chart in panels]
    return render("exhibit", title=title, about=about, panels=drawings, lines=lines)


def _drawn(chart: Chart) -> str:
    text: str = plotly.io.to_html(
        in_theme(chart.spec, "light"),
        include_plotlyjs="directory",
        full_html=False,
        validate=False,
        config={"displayModeBar": False},
        default_height="430px",
    )
    return text
