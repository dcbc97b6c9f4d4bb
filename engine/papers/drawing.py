"""Drawings of frames: a line from two columns, a family of lines, and the panel they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.papers.charts import Scale, Series, lines, styles
from engine.papers.evidence import ERROR, SE, Line
from engine.papers.exhibits import Panel

Numbers = Iterable[Any]  # a column, an array or a list; None and NaN are gaps
Look = tuple[str, str, str]  # shade, dash and marker


def plain(column: Numbers) -> list[Any]:
    """Values of a column as plain numbers, None where there is none."""
    every = column if isinstance(column, np.ndarray | pd.Series) else list(column)
    return [None if value is None or value != value else value
            for value in (every if isinstance(every, list) else every.tolist())]


def look(role: str, dash: str = "solid", marker: str = "circle") -> Look:
    """A role with a dash and a marker.

    Parameters
    ----------
    role : str
        See `core.palette`.
    dash, marker : str
        As plotly names them.
    """
    return role, dash, marker


def curve(name: str, x: Numbers, y: Numbers, style: Look | str, se: Numbers | None = None,
          **options: Any) -> Series:
    """A named line or cloud of points.

    Parameters
    ----------
    name : str
        In the legend.
    x, y : numbers
        As many of one as of the other.
    style : tuple of str, or str
        Shade, dash and marker, or a shade alone.
    se : numbers, optional
        Standard errors of y.
    **options
        Further fields of `Series`, such as `mode` and `width`.
    """
    shade, dash, marker = (style, "solid", "circle") if isinstance(style, str) else style
    bars = None if se is None else plain(se)
    return Series(name, plain(x), plain(y), shade, **{"dash": dash, "marker": marker, **options},
                  se=bars)


def means(name: str, line: Line, style: Look, **options: Any) -> Series:
    """Means with their standard errors."""
    return curve(name, line.x, line.y, style, line.se, **options)


def family(members: Mapping[str, pd.DataFrame], x: str, y: str, se: str | None = None
           ) -> list[Series]:
    """A line for each member of an ordered family, from pale to strong.

    Parameters
    ----------
    members : mapping
        Rows by the names of lines.
    x, y, se : str
        Columns; without `se` there are no bars.
    """
    return [curve(name, rows[x], rows[y], style, None if se is None else rows[se])
            for (name, rows), style in zip(members.items(), styles(len(members)), strict=True)]


def over_epsilon(table: pd.DataFrame, along: str) -> list[Series]:
    """Mean errors over one column, a line for each ε, stronger for larger ones.

    Parameters
    ----------
    table : DataFrame
        With columns `epsilon`, `error` and `se`.
    along : str
        The column of x.
    """
    return family({f"ε = {epsilon:g}": rows.sort_values(along)
                   for epsilon, rows in table.groupby("epsilon")}, along, ERROR, SE)


def level(name: str, ends: Numbers, heights: Numbers) -> Series:
    """A dotted line to compare with, such as what is promised."""
    return curve(name, ends, heights, look("without", "2px,3px"), mode="lines")


def panel(title: str, series: Sequence[Series], x: Scale | str, y: Scale | str, alt: str) -> Panel:
    """A picture of lines with its title.

    Parameters
    ----------
    title : str
    x, y : Scale or str
        A title alone makes an axis without logarithm.
    alt : str
        What the picture shows, a sentence.
    """
    across, up = (Scale(axis) if isinstance(axis, str) else axis for axis in (x, y))
    return Panel(title, lines(series, across, up, alt))


def log(title: str) -> Scale:
    """A logarithmic axis.

    Parameters
    ----------
    title : str
        With the unit.
    """
    return Scale(title, log=True)


def ends(series: Sequence[Series], spec: str = ".3g") -> str:
    """First and last value of each line, in words."""
    return "; ".join(f"{line.name}: {line.y[0]:{spec}} to {line.y[-1]:{spec}}" for line in series)
