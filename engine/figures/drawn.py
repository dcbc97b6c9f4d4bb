"""A picture of a lesson as data, and its drawing as SVG: one drawing for screen, class and paper.

Colours are names of roles, `var(--pc-role)`, which whoever shows the drawing sets for its theme.
Marks with `after` are in groups of that class, to be hidden until a guess is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from engine.core.palette import Theme, colour
from engine.core.types import Array

ROLES = ("text", "quiet", "raw", "truth", "without", "bias", "page", "gradient", "functional")
GUESS = "Your guess"
_LETTER = 0.48  # width of an average letter, as a share of the size of the text


@dataclass(frozen=True)
class Axis:
    """One axis of a picture."""

    title: str  # what it shows, with its unit
    low: float
    high: float
    # tuple of (float, str): where they are, and what is written there
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False  # whether it is logarithmic; then both ends are positive

    def share(self, values: Array) -> Array:
        """Compute the positions of values between the ends, as shares of the axis."""
        low, high, points = self.low, self.high, np.asarray(values, dtype=float)
        if self.is_log:
            low, high, points = math.log(low), math.log(high), np.log(points)
        return (points - low) / (high - low)


def plain_ticks(*values: float) -> tuple[tuple[float, str], ...]:
    """Make ticks with nothing but their numbers, in the unit of the axis.

    Examples
    --------
    >>> plain_ticks(-1, 0.5)
    ((-1, '−1'), (0.5, '0.5'))
    """
    return tuple((value, f"{value:g}".replace("-", "−")) for value in values)


@dataclass(frozen=True)
class Mark:
    """Lines or dots of one kind."""

    # x, y, each (points,): in the units of the axes; NaN where a line is interrupted
    x: Array
    y: Array
    role: str
    label: str = ""  # the entry of the legend, none if empty; of a note its lines
    # {"line", "area", "dot", "ring", "cross", "square", "note"}: what is drawn. An area is what a
    # closed line encloses; a note is words that end at its first point.
    shape: str = "line"
    dash: str = ""
    # width, opacity: of a line, in pixels, and from 0 to 1
    width: float = 2.2
    opacity: float = 1.0
    after: bool = False  # whether it is shown only once a guess was made


@dataclass(frozen=True)
class Picture:
    """Two axes with marks."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    # alt, alt_after: a sentence that says what is seen before and after a guess
    alt: str
    alt_after: str
    # whether a guess is drawn into it, which then has an entry in the legend
    asks: bool = field(default=True, kw_only=True)
    table: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class DrawingSize:
    """Size of a drawing."""

    width: int
    height: int
    # text, dot: sizes of letters and dots, in pixels
    text: float = 13.0
    thick: float = 1.0  # how many times as wide lines are as usual
    dot: float = 3.4


WIDE, NARROW = DrawingSize(860, 380), DrawingSize(350, 330, dot=2.4)
PRESENTED, PRESENTED_NARROW = (
    DrawingSize(720, 430, 17, 1.36, 4.2),
    DrawingSize(350, 340, 15, 1.36, 2.6),
)
PRESENTED_HIGH = DrawingSize(720, 560, 17, 1.36, 4.2)
PRINTED = DrawingSize(700, 370, dot=3)
TILE = DrawingSize(280, 120, dot=2.4)
_HANDLE = 11  # pixels of a side


@dataclass(frozen=True)
class PlotArea:
    """Place of the plot in a drawing."""

    # left, right, top, bottom: in pixels, from the upper left corner
    left: float
    right: float
    top: float
    bottom: float

    def x(self, axis: Axis, values: Array) -> Array:
        """Convert values in the axis's unit to pixels from the left."""
        return self.left + axis.share(values) * (self.right - self.left)

    def y(self, axis: Axis, values: Array) -> Array:
        """Convert values in the axis's unit to pixels from the top."""
        return self.bottom - axis.share(values) * (self.bottom - self.top)


def palette(theme: Theme) -> dict[str, str]:
    """The colour of every role."""
    return {role: colour(role, theme) for role in ROLES}


def frame(picture: Picture, look: DrawingSize) -> PlotArea:
    """Room for ticks and titles around the plot, and above it for the legend."""
    widest = max(len(text) for _, text in picture.y.ticks)
    left = look.text * (2.2 + _LETTER * widest) + 6
    rows = 1 + max((row for row, _, _, _ in _entries(picture, look, left)), default=0)
    return PlotArea(
        left,
        look.width - 14,
        BELOW_LEGEND + rows * ROW * look.text,
        look.height - 3.4 * look.text - 4,
    )


def svg(picture: Picture, look: DrawingSize, name: str) -> str:
    """Draw a picture as SVG, with colours `var(--pc-role)`.

    `name` makes what the drawing defines its own where several are on one page.
    """
    box = frame(picture, look)
    parts = [*_grid(picture, look, box), f'<g clip-path="url(#clip-{name})">']
    parts += [_mark(mark, picture, box, look) for mark in picture.marks]
    parts += ["</g>", *_legend(picture, look, box)]
    clip = (
        f'<clipPath id="clip-{name}"><rect x="{box.left - 8:.1f}" y="{box.top - 8:.1f}" '
        f'width="{box.right - box.left + 16:.1f}" height="{box.bottom - box.top + 16:.1f}"/>'
        "</clipPath>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {look.width} {look.height}" '
        f'font-size="{look.text:g}" fill="none"><defs>{clip}</defs>{"".join(parts)}</svg>'
    )


def still(picture: Picture, handles: Sequence[tuple[float, float]] = ()) -> str:
    """Draw lines and dots as they are before a guess, and its handles, without axes and words."""
    look = TILE
    box = PlotArea(8, look.width - 8, 8, look.height - 8)
    marks = [mark for mark in picture.marks if not mark.after and mark.shape != "note"]
    parts = [_mark(mark, picture, box, look) for mark in marks]
    for x, y in handles:
        across, down = (
            float(box.x(picture.x, np.array(x))) - _HANDLE / 2,
            float(box.y(picture.y, np.array(y))) - _HANDLE / 2,
        )
        parts.append(
            f'<rect x="{across:.1f}" y="{down:.1f}" width="{_HANDLE}" height="{_HANDLE}" '
            'style="fill:var(--pc-room)"/>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {look.width} {look.height}" '
        f'fill="none">{"".join(parts)}</svg>'
    )


# -- axes ---------------------------------------------------------------------------------------


def _grid(picture: Picture, look: DrawingSize, box: PlotArea) -> Iterator[str]:
    yield _stroke(box.left, box.bottom, box.right, box.bottom, "raw")
    for value, text in picture.x.ticks:
        x = float(box.x(picture.x, np.array(value)))
        yield _stroke(x, box.bottom, x, box.bottom + 4, "raw")
        yield _text(x, box.bottom + 1.4 * look.text, text, "middle")
    for value, text in picture.y.ticks:
        y = float(box.y(picture.y, np.array(value)))
        yield _stroke(box.left, y, box.right, y, "raw", 0.28)
        yield _text(box.left - 8, y + 0.35 * look.text, text, "end")
    across = (box.left + box.right) / 2
    yield _text(across, look.height - 0.5 * look.text, picture.x.title, "middle")
    middle = (box.top + box.bottom) / 2
    yield _text(
        0,
        0,
        picture.y.title,
        "middle",
        f' transform="translate({look.text:g} {middle:.1f}) rotate(-90)"',
    )


def _stroke(x1: float, y1: float, x2: float, y2: float, role: str, opacity: float = 1.0) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke-opacity="{opacity:g}" style="stroke:var(--pc-{role})"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, more: str = "", role: str = "quiet") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more} '
        f'style="fill:var(--pc-{role})">{escape(text)}</text>'
    )


# -- marks --------------------------------------------------------------------------------------


def _mark(mark: Mark, picture: Picture, box: PlotArea, look: DrawingSize) -> str:
    x, y = box.x(picture.x, mark.x), box.y(picture.y, mark.y)
    if mark.shape in ("line", "area"):
        drawn = _path(x, y, mark, look)
    elif mark.shape == "note":
        drawn = _note(float(x[0]), float(y[0]), mark, look)
    else:
        drawn = "".join(_dot(a, b, mark, look.dot) for a, b in zip(x, y, strict=True))
    return f'<g class="after">{drawn}</g>' if mark.after else drawn


def _note(x: float, y: float, mark: Mark, look: DrawingSize) -> str:
    plate = ' paint-order="stroke" stroke="var(--pc-page)" stroke-width="4"'  # over any line
    return "".join(
        _text(x, y + (1 + 1.25 * row) * look.text, line, "end", plate, mark.role)
        for row, line in enumerate(mark.label.splitlines())
    )


def _path(x: Array, y: Array, mark: Mark, look: DrawingSize) -> str:
    steps, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if not (math.isfinite(a) and math.isfinite(b)):
            pen = "M"
            continue
        steps.append(f"{pen}{a:.1f} {b:.1f}")
        pen = "L"
    if mark.shape == "area":
        return (
            f'<path d="{"".join(steps)}z" fill-opacity="{mark.opacity:g}" '
            f'style="fill:var(--pc-{mark.role})"/>'
        )
    dash = f'stroke-dasharray="{mark.dash}" ' if mark.dash else ""
    return (
        f'<path d="{"".join(steps)}" stroke-opacity="{mark.opacity:g}" '
        f'{dash}stroke-linejoin="round" '
        f'style="stroke:var(--pc-{mark.role});stroke-width:{mark.width * look.thick:.2f}"/>'
    )


def _dot(x: float, y: float, mark: Mark, size: float) -> str:
    colour_of = f"var(--pc-{mark.role})"
    line = f"stroke:{colour_of};stroke-width:{0.45 * size:.2f}"
    if mark.shape == "cross":
        r, line = 1.6 * size, f"stroke:{colour_of};stroke-width:{0.6 * size:.2f}"
        return (
            f'<path d="M{x - r:.1f} {y - r:.1f}l{2 * r:.1f} {2 * r:.1f}m0 {-2 * r:.1f}'
            f'l{-2 * r:.1f} {2 * r:.1f}" style="{line}"/>'
        )
    if mark.shape == "square":
        return (
            f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}" '
            f'height="{2 * size:.1f}" style="{line};fill:var(--pc-page)"/>'
        )
    inside = "var(--pc-page)" if mark.shape == "ring" else colour_of
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" opacity="{mark.opacity:g}" '
        f'style="{line};fill:{inside}"/>'
    )


# -- legend -------------------------------------------------------------------------------------

_GUESS_MARK = Mark(np.zeros(1), np.zeros(1), "text", GUESS, dash="2,4")
_SAMPLE = 26.0  # pixels of a line in the legend
BELOW_LEGEND = 12  # pixels, down to the plot
FIRST, ROW = 0.9, 1.6  # of the legend: its first row and from row to row, in letters
BETWEEN, MARGIN = 14, 6  # pixels between its entries, and to its right


def _entries(
    picture: Picture, look: DrawingSize, left: float
) -> Iterator[tuple[int, float, Mark, float]]:
    """Row, start, mark and width of each entry; as many in a row as there is room for."""
    row, x = 0, left
    named = [mark for mark in picture.marks if mark.label and mark.shape != "note"]
    for mark in (
        *[m for m in named if not m.after],
        *[_GUESS_MARK] * picture.asks,
        *[m for m in named if m.after],
    ):
        width = _SAMPLE + 6 + _LETTER * look.text * len(mark.label)
        if x > left and x + width > look.width - MARGIN:
            row, x = row + 1, left
        yield row, x, mark, width
        x += width + BETWEEN


def _legend(picture: Picture, look: DrawingSize, box: PlotArea) -> Iterator[str]:
    """Each entry in a group of its own, with its width: what shows the drawing closes up gaps."""
    for row, x, mark, width in _entries(picture, look, box.left):
        y, end, zero = (FIRST + row * ROW) * look.text, np.array([0.0, _SAMPLE]), np.zeros(2)
        solid = Mark(
            mark.x,
            mark.y,
            mark.role,
            shape=mark.shape,
            dash=mark.dash,
            width=max(mark.width, 1.6),
            opacity=max(mark.opacity, 0.8),
        )
        drawn = (
            _path(end, zero, solid, look)
            if mark.shape == "line"
            else _dot(_SAMPLE / 2, 0.0, solid, look.dot)
        )
        if mark is _GUESS_MARK:
            drawn += _dot(_SAMPLE / 2, 0.0, Mark(end, end, "text", shape="square"), 4.5)
        drawn += _text(_SAMPLE + 6, 0.35 * look.text, mark.label, "start", role="text")
        part = " after" if mark.after else " mine" if mark is _GUESS_MARK else ""
        yield (
            f'<g class="entry{part}" transform="translate({x:.1f} {y:.1f})" '
            f'data-width="{width:.1f}">{drawn}</g>'
        )


def gaps(lines: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Several lines as one mark, with a gap after each."""
    nothing = [math.nan]
    return (
        np.concatenate([part for x, _ in lines for part in (x, nothing)]),
        np.concatenate([part for _, y in lines for part in (y, nothing)]),
    )
