"""Percentile curves in SVG: nested shades, a bold median, bands as bars, and the time in ranges.

Laid out as such profiles are printed in clinics: shades between pairs of percentiles, the target
range marked, and one stacked bar with the share of observations in every range.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from engine.core.grids import bar_places, nearest_to_median
from engine.core.palette import colour, shades_of_pairs, shades_of_ranges
from engine.core.types import Array
from engine.language.numbers import percent
from engine.release.percentiles import ReleasedPercentiles

Place = Callable[[float, float], tuple[float, float]]  # time and value to pixels
BAR_ROOM = 58  # pixels below the axis for the bar of ranges
_CAP = 3.5  # half-width of the ends of a bar, in pixels
_LINE = 12.0  # pixels between labels
_LABELLED = 0.06  # share from which a range has its number inside
_BOLD, _THIN = 2.8, 1.3


def marks(release: ReleasedPercentiles, x: Array, place: Place) -> list[str]:
    """Shades, target range, curves, bands and labels.

    Parameters
    ----------
    x : (k,)
        Times in their own unit.
    place : callable
        From time and value to pixels.
    """
    shade, curves = colour("gradient", "light"), list(release.columns.values())
    n, middle = len(curves), nearest_to_median(release.levels)
    out = _target(release, x, place)
    pairs = [(k, n - 1 - k) for k in range(n // 2)]
    for (low, high), fill in zip(pairs, shades_of_pairs(len(pairs)), strict=True):
        outline = _points(np.r_[x, x[::-1]], np.r_[curves[low], curves[high][::-1]], place)
        out.append(f'<polygon points="{outline}" fill="{colour(fill, "light")}"/>')
    for k, (name, curve) in enumerate(release.columns.items()):
        out.append(f'<polyline points="{_points(x, curve, place)}" fill="none" stroke="{shade}" '
                   f'stroke-width="{_BOLD if k == middle else _THIN}"><title>{escape(name)}'
                   "</title></polyline>")
    return [*out, *_bars(release, x, place), *_labels(release, x, place)]


def _target(release: ReleasedPercentiles, x: Array, place: Place) -> list[str]:
    """Lines at all cut-offs, with a shade over the range in the middle."""
    green, out = colour("functional", "light"), []
    (left, _), (right, _) = (place(float(end), 0.0) for end in (x[0], x[-1]))
    if release.target:
        (_, top), (_, foot) = (place(float(x[0]), limit) for limit in release.target[::-1])
        out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
                   f'height="{foot - top:.1f}" fill="{green}" fill-opacity="0.10"/>')
    for limit in release.limits:
        _, y = place(float(x[0]), limit)
        out.append(f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
                   f'stroke="{green}" stroke-width="{1.4 if limit in release.target else 0.8}"/>'
                   f'<text x="{left + 4:.1f}" y="{y - 4:.1f}" font-size="11" fill="{green}">'
                   f"{limit:g}</text>")
    return out


def _bars(release: ReleasedPercentiles, x: Array, place: Place) -> list[str]:
    """The band of every curve as bars with ends, at a few times."""
    out = []
    for low, high in release.ranges.values():
        for k in bar_places(len(x)):
            (a, foot), (_, top) = (place(float(x[k]), float(end[k])) for end in (low, high))
            out.append(f'<path d="M{a - _CAP:.1f},{top:.1f}h{2 * _CAP}M{a:.1f},{top:.1f}'
                       f'V{foot:.1f}M{a - _CAP:.1f},{foot:.1f}h{2 * _CAP}" fill="none" '
                       f'stroke="{colour("text", "light")}" stroke-opacity="0.75"/>')
    return out


def _labels(release: ReleasedPercentiles, x: Array, place: Place) -> list[str]:
    """The names of the curves at their right ends, the middle and the outer ones first."""
    names, curves, n = list(release.columns), list(release.columns.values()), len(release.levels)
    order = dict.fromkeys((nearest_to_median(release.levels), 0, n - 1, *range(n)))
    heights: list[float] = []
    out = []
    for k in order:
        a, b = place(float(x[-1]), float(curves[k][-1]))
        if any(abs(b - other) < _LINE for other in heights):
            continue
        heights.append(b)
        out.append(f'<text x="{a - 4:.1f}" y="{b - 4:.1f}" font-size="11" text-anchor="end">'
                   f"{escape(names[k])}</text>")
    return out


def bar_of_ranges(release: ReleasedPercentiles, unit: str, left: float, width: float, top: float
                  ) -> list[str]:
    """One stacked bar of the average share in every range, with the names of those that have room.

    Parameters
    ----------
    release : ReleasedPercentiles
        With cut-offs.
    unit : str
        Of observations.
    left, width, top : float
        In pixels.
    """
    names, target = release.names(unit), None
    if release.target:
        target = release.limits.index(release.target[1])
    shades = shades_of_ranges(len(names), target)
    out = [f'<text x="{left:.1f}" y="{top:.1f}" font-size="11">Share of observations</text>']
    at = left
    for name, share, shade in zip(names, release.average, shades, strict=True):
        size = width * float(share)
        out.append(f'<rect x="{at:.1f}" y="{top + 6:.1f}" width="{size:.1f}" height="18" '
                   f'fill="{colour(shade, "light")}"><title>{escape(name)}</title></rect>')
        if share >= _LABELLED:
            middle = at + size / 2
            out.append(f'<text x="{middle:.1f}" y="{top + 19:.1f}" font-size="11" '
                       f'text-anchor="middle" fill="{colour("text", "light")}">'
                       f"{percent(float(share))}</text>")
        if size > 5.6 * len(name):
            out.append(f'<text x="{at + size / 2:.1f}" y="{top + 36:.1f}" font-size="10" '
                       f'text-anchor="middle">{escape(name)}</text>')
        at += size
    return out


def _points(x: Array, y: Array, place: Place) -> str:
    return " ".join("{:.1f},{:.1f}".format(*place(float(a), float(b)))
                    for a, b in zip(x, y, strict=True))
