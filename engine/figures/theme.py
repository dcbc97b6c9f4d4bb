"""One place for fonts, colours, dashes and axes: a role looks the same in every chart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.palette import THEMES, Theme, colour, translucent
from engine.core.types import PublicFacts
from engine.language.numbers import named
from engine.mechanisms import mechanisms

Spec = dict[str, Any]

_REGIMES = {False: ("free", "free_strong"), True: ("bound", "bound_strong")}
_ROOM = 0.06  # share of the range of an axis of its own that is left at each end
_VARIANTS = (("2px,4px", "x-thin-open"), ("6px,2px,2px,2px", "hash-open"))
_COLOURS = ("color", "colors", "colorscale", "colorway")  # how plotly's names of colours end


@dataclass(frozen=True)
class Chart:
    """A figure with its text alternative and the table of its numbers."""

    # a plotly figure: "data" and "layout", with shades (`core.palette`) in place of colours
    spec: Spec
    alt: str  # what the picture shows, for those who hear it
    # columns by their titles, all of one length
    table: dict[str, list[Any]] = field(default_factory=dict)


def in_theme(part: Any, theme: Theme) -> Any:
    """Give a figure, or a part of one, the colours that a theme has for its shades.

    Numbers are shared with the result, not copied.

    Examples
    --------
    >>> in_theme({"line": {"color": "gradient", "width": 2}}, "light")
    {'line': {'color': '#3D57D6', 'width': 2}}
    """
    return _painted(part, lambda shade: colour(shade, theme))


def in_both_themes(part: Any) -> Any:
    """A figure with both colours of each shade by theme, for a page that chooses when it draws.

    Examples
    --------
    >>> in_both_themes({"color": "gradient"})
    {'color': {'light': '#3D57D6', 'dark': '#7A92FF'}}
    """
    return _painted(part, lambda shade: {theme: colour(shade, theme) for theme in THEMES})


def _painted(part: Any, paint: Callable[[str], Any]) -> Any:
    if isinstance(part, dict):
        return {
            name: _coloured(value, paint) if name.endswith(_COLOURS) else _painted(value, paint)
            for name, value in part.items()
        }
    if isinstance(part, list) and part and isinstance(part[0], dict):
        return [_painted(each, paint) for each in part]
    return part


def _coloured(value: Any, paint: Callable[[str], Any]) -> Any:
    """A shade, a list or a scale of them; numbers, which a scale gives colours to, stay."""
    if isinstance(value, list):
        return [_coloured(each, paint) for each in value]
    return paint(value) if isinstance(value, str) else value


def method_style(key: str, family: str, variant: int = 0) -> tuple[str, str, str]:
    """Choose the shade, dash and marker of a mechanism: its family gives the hue.

    `variant` counts the named settings of one mechanism, which share all but dash and marker.
    """
    cls = mechanisms.get(key)
    dash, marker = cls.dash, cls.marker
    if variant:
        dash, marker = _VARIANTS[(variant - 1) % len(_VARIANTS)]
    return family, dash, marker


def regime_shades(private: Sequence[bool]) -> list[str]:
    """Choose a shade for each term of a rate, gray where it is no cost of privacy.

    Terms of one kind alternate between two shades.
    """
    shades = {is_private: itertools.cycle(pair) for is_private, pair in _REGIMES.items()}
    return [next(shades[is_private]) for is_private in private]


def heading(title: str) -> Spec:
    """Put the finding of a chart, without a full stop, over the left end of the plot."""
    return {
        "text": title,
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 8},
        "font": {"size": 15},
    }


def layout(*, legend: bool = False, title: str = "", **changes: Any) -> Spec:
    """The common layout: transparent, horizontal grid only, title and legend above the plot."""
    return {
        "paper_bgcolor": "transparent",
        "plot_bgcolor": "transparent",
        "font": {"family": '"Source Sans", sans-serif', "size": 14, "color": "text"},
        "margin": {"l": 8, "r": 12, "b": 8, "t": (34 if legend else 12) + (26 if title else 0)},
        **({"title": heading(title)} if title else {}),
        "showlegend": legend,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "xanchor": "left",
            "yanchor": "bottom",
            "traceorder": "normal",
            "font": {"size": 13},
        },
        "dragmode": False,
        "hovermode": "x unified",
        **changes,
    }


def axis(title: str = "", *, grid: bool = False, **changes: Any) -> Spec:
    """An axis without zoom; every other axis of the project is made of it.

    A grid is drawn from its ticks, in place of the line of the axis.
    """
    return {
        "title": {"text": title, "font": {"size": 13, "color": "quiet"}},
        "showgrid": grid,
        "gridcolor": translucent("raw", 0.28),
        "zeroline": False,
        "linecolor": "raw",
        "showline": not grid,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": "raw",
        "automargin": True,
        "fixedrange": True,
        "tickfont": {"size": 13, "color": "quiet"},
        **changes,
    }


def on_log_scale(name: str, unit: str) -> str:
    """Write the title of a logarithmic axis.

    Examples
    --------
    >>> on_log_scale("Height", "cm")
    'Height (cm, log scale)'
    """
    return named(name, f"{unit}, log scale" if unit else "log scale")


def free_range(values: Sequence[float]) -> list[float]:
    """Return the range of an axis of its own, for a chart that a shared one would flatten.

    Values that are not finite are left out.

    Examples
    --------
    >>> free_range([1.0, 3.0])
    [0.88, 3.12]
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    margin = _ROOM * (high - low) or abs(high) * _ROOM or 1.0
    return [low - margin, high + margin]


def time_axis(facts: PublicFacts) -> Spec:
    """Make the axis on which the curves were watched; both its ends have a tick where steps fit."""
    low, high = facts.time_low, facts.time_high
    step = _even_step(high - low)
    ticks = {"nticks": 6} if step is None else {"tick0": low, "dtick": step}
    return axis(named(facts.time_name, facts.time_unit), range=[low, high], **ticks)


def _even_step(length: float) -> float | None:
    """The smallest round step that divides a length into at most five parts."""
    for exponent in range(-6, 9):
        for mantissa in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8):
            parts = length / (mantissa * 10.0**exponent)
            if parts < 5.5 and abs(parts - round(parts)) < 1e-9 * max(parts, 1):
                return mantissa * 10.0**exponent if round(parts) > 1 else None
    return None


def log_axis(title: str, low: float, high: float, *, grid: bool = False, room: float = 0.0) -> Spec:
    """A log axis; few decades get 1–2–5 ticks or finer ones, many get powers of ten.

    Equal ends are widened; `room` is the share of its length left at each end.
    """
    if high <= low:
        low, high = low / 1.3, high * 1.3
    decades = math.log10(high / low)
    ticks = log_ticks(low, high) if decades < 3 else _powers(low, high, decades)
    if len(ticks) < 2:
        ticks = _fine(low, high)
    margin = room * max(decades, 0.3)
    return axis(
        title,
        grid=grid,
        type="log",
        tickvals=ticks,
        ticktext=[_tick(value) for value in ticks],
        range=[math.log10(low) - margin, math.log10(high) + margin],
    )


def log_ticks(low: float, high: float) -> list[float]:
    """1–2–5 per decade between two positive numbers.

    Examples
    --------
    >>> log_ticks(0.5, 10)
    [0.5, 1.0, 2.0, 5.0, 10.0]
    """
    return [m * 10.0**e for e in range(-6, 9) for m in (1, 2, 5) if low <= m * 10.0**e <= high]


def _fine(low: float, high: float) -> list[float]:
    """Three to about six round numbers, equally spaced, between two that are close together."""
    for pieces in (4, 8, 16):  # steps of the raw size, halved until three are inside
        raw = (high - low) / pieces
        lead = 10.0 ** math.floor(math.log10(raw))
        step = next(m for m in (1, 2, 5, 10) if m * lead >= raw) * lead
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last > first + 1:
            break
    return [float(f"{k * step:.6g}") for k in range(first, last + 1)]


def _powers(low: float, high: float, decades: float) -> list[float]:
    """List at most about seven powers of ten between two positive numbers."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**k for k in range(first, last + 1, max(1, round(decades / 7)))]


def _tick(value: float) -> str:
    if 0.001 <= value < 1e5:
        return f"{value:,.10g}".replace(",", "\u202f")
    exponent = math.floor(math.log10(value) + 1e-9)
    lead = f"{value / 10.0**exponent:.3g}×".removeprefix("1×")
    return f"{lead}10<sup>{exponent}</sup>".replace("-", "−")
