"""Percentile curves as such charts are drawn in their fields: nested shades, a bold median, names.

Bands of single curves are bars at a few times, since shades are ranges of observations; cut-offs
are lines across, with a shade over the target range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.grids import bar_places, nearest_to_median
from engine.core.palette import shades_of_pairs, shades_of_ranges, translucent
from engine.core.types import Array
from engine.figures import labels, traces
from engine.figures.theme import Chart, Spec, axis, free_range, layout
from engine.figures.traces import plain
from engine.language.numbers import percent
from engine.language.ranges import names_of_ranges

_BOLD, _THIN = 3.2, 1.4
_PLOT = 300  # pixels of the plot, about


@dataclass(frozen=True)
class Nested:
    """Percentile curves to be drawn."""

    names: Sequence[str]
    x: Array  # (n,): times in their own unit
    curves: Array  # (T, n): rising
    levels: Array  # (T,): shares of observations below each curve
    unit: str
    limits: Sequence[float] = ()
    # the two around the range that is aimed at; empty where there is none
    target: Sequence[float] = ()

    def spec(
        self,
        title: str,
        across: Spec,
        up: str,
        *,
        more: Sequence[Spec] = (),
        fill: Sequence[Spec] | None = None,
        in_view: Sequence[float] = (),
    ) -> Spec:
        """The figure; `fill` replaces the shades between curves, `in_view` is kept in view."""
        ends = free_range([*self.curves.ravel(), *self.limits, *self.target, *in_view])
        shapes, notes = self._cut_offs()
        names, margin = self._names(ends)
        data = [*(self._shades() if fill is None else fill), *self._lines(), *more]
        look = layout(
            title=title,
            xaxis=across,
            shapes=shapes,
            yaxis=axis(up, grid=True, range=ends),
            annotations=[*notes, *names],
        )
        look["margin"]["r"] = margin
        return {"data": data, "layout": look}

    def bars(self, low: Array, high: Array) -> Spec:
        """Draw the bands of all curves, with ends (T, n), as bars at a few times."""
        at = bar_places(len(self.x))
        middle, half = ((low + high)[:, at] / 2).ravel(), ((high - low)[:, at] / 2).ravel()
        ends = traces.off_by(plain(half), plain(half), translucent("text", 0.75), 1.2, 4)
        return traces.points(
            "95 % confidence band",
            plain(np.tile(self.x[at], len(low)), 6),
            plain(middle),
            {"size": 1, "opacity": 0},
            error_y=ends,
            hoverinfo="skip",
        )

    def _shades(self) -> list[Spec]:
        """The range between each pair of curves, outer pairs first."""
        n, x = len(self.curves), plain(self.x, 6)
        data = []
        for low, fill in enumerate(shades_of_pairs(n // 2)):
            high = n - 1 - low
            name = f"{percent(float(self.levels[high] - self.levels[low]))} of observations"
            filled = traces.filled(
                name,
                x,
                plain(self.curves[low]),
                plain(self.curves[high]),
                "gradient",
                hoverinfo="skip",
            )
            data.append({**filled, "fillcolor": fill})
        return data

    def _lines(self) -> list[Spec]:
        """All curves, the one nearest to the median bold."""
        middle = nearest_to_median(self.levels)
        return [
            traces.line(
                name,
                plain(self.x, 6),
                plain(curve),
                "gradient",
                _BOLD if k == middle else _THIN,
                hovertemplate=labels.hover(self.unit),
            )
            for k, (name, curve) in enumerate(zip(self.names, self.curves, strict=True))
        ]

    def _cut_offs(self) -> tuple[list[Spec], list[Spec]]:
        """Lines across at all cut-offs with their names, and a shade over the target range."""
        across = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
        shapes: list[Spec] = [
            {
                "type": "line",
                **across,
                "y0": limit,
                "y1": limit,
                "line": {"color": "functional", "width": 1.6 if limit in self.target else 0.8},
            }
            for limit in self.limits
        ]
        if self.target:
            shapes.append(
                {
                    "type": "rect",
                    **across,
                    "y0": self.target[0],
                    "y1": self.target[1],
                    "line": {"width": 0},
                    "fillcolor": translucent("functional", 0.10),
                }
            )
        notes = [
            {
                "x": 0,
                "xref": "paper",
                "xanchor": "left",
                "xshift": 4,
                "y": limit,
                "yanchor": "bottom",
                "text": f"{limit:g}",
                "showarrow": False,
                "font": {"size": 12, "color": "functional"},
            }
            for limit in self.limits
        ]
        return shapes, notes

    def _names(self, ends: Sequence[float]) -> tuple[list[Spec], int]:
        """The names of at most five curves where they end, and the room that they take."""
        n = len(self.names)
        few = np.unique(np.linspace(0, n - 1, min(n, labels.FEW)).round()).astype(int)
        marks = [labels.LineEnd(self.names[k], float(self.curves[k, -1]), "gradient") for k in few]
        return (
            labels.at_ends(marks, ends[0], ends[1], _PLOT),
            labels.room_for([mark.name for mark in marks]),
        )


def time_in_ranges(
    limits: Sequence[float], target: Sequence[float], shares: Array, errors: Array, unit: str
) -> Chart:
    """The share of observations in every range, from low to high, as one stacked bar.

    The target is the two limits of the range that is aimed at, or empty.
    """
    names = names_of_ranges(limits, unit)
    aim = list(limits).index(target[1]) if target else None
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [100 * float(share)],
            "y": [""],
            "text": [percent(float(share))],
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "insidetextfont": {"color": "text"},
            "marker": {"color": shade},
            "hoverinfo": "name+text",
        }
        for name, share, shade in zip(names, shares, shades_of_ranges(len(names), aim), strict=True)
    ]
    index = int(np.argmax(shares)) if aim is None else aim
    title = (
        f"{'Most observations' if aim is None else 'In the target range'}: {names[index]}, "
        f"{percent(float(shares[index]))}"
    )
    spec = {
        "data": data,
        "layout": layout(
            legend=True,
            barmode="stack",
            hovermode="closest",
            title=title,
            uniformtext={"minsize": 11, "mode": "hide"},  # small ones stand in lines below
            xaxis=axis("Share of observations", range=[0, 100], ticksuffix="\u202f%"),
            yaxis=axis(visible=False),
        ),
    }
    summary = "; ".join(
        f"{name} {percent(float(share))}" for name, share in zip(names, shares, strict=True)
    )
    return Chart(
        spec,
        f"Time in ranges of one release: {summary}.",
        {"range": list(names), "share": plain(shares), "standard error": plain(errors)},
    )
