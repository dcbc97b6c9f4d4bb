"""A chart as an object of plotly, for notebooks."""

from __future__ import annotations

from plotly.graph_objects import Figure as Figure

from engine.figures.theme import Chart


def figure_of(chart: Chart) -> Figure:
    """The figure, which a notebook draws and other programs may change.

    Parameters
    ----------
    chart : Chart

    Returns
    -------
    plotly.graph_objects.Figure
    """
    return Figure(chart.spec, skip_invalid=True)
