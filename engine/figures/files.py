"""Drawings as a page for a browser that needs no network: a script file lies beside it."""

from __future__ import annotations

import html
from collections.abc import Sequence

import plotly.io
import plotly.offline

from engine.figures.theme import Chart

SCRIPT = "plotly.min.js"  # the name that plotly's own "directory" form asks for


def script() -> str:
    """The text of the script file."""
    text: str = plotly.offline.get_plotlyjs()
    return text


def page(title: str, about: str, panels: Sequence[tuple[str, Chart]], lines: Sequence[str]) -> str:
    """A page with the drawings, each with its words and its text alternative, and some lines."""
    drawn = "\n".join(f"<h2>{html.escape(name)}</h2>\n{_drawn(chart)}\n<p>{html.escape(chart.alt)}"
                      "</p>" for name, chart in panels)
    said = "\n".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return (f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{html.escape(title)}'
            f"</title>\n<style>body {{ font-family: sans-serif; max-width: 60rem; margin: 2rem "
            f"auto; padding: 0 1rem }}</style>\n<h1>{html.escape(title)}</h1>\n"
            f"<p>{html.escape(about)}</p>\n{drawn}\n<ul>\n{said}\n</ul>\n</html>\n")


def _drawn(chart: Chart) -> str:
    text: str = plotly.io.to_html(chart.spec, include_plotlyjs="directory", full_html=False,
                                  validate=False, config={"displayModeBar": False},
                                  default_height="430px")
    return text
