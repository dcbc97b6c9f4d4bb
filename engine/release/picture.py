"""A release as one drawing in SVG: functions with their bands, axes, a legend, and what is below.

Plain SVG without scripts, so that it can be put into any document; it says its budget and how far
off the release may be.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from engine.core.grids import bar_places, nearest_to_median
from engine.core.palette import colour, shades_of_pairs, shades_of_ranges
from engine.core.types import Array
from engine.language.numbers import number, percent
from engine.release.captions import alt, band_name, heading, is_staircase, statements
from engine.release.percentiles import TIME_IN_RANGE, ReleasedPercentiles
from engine.release.published import Published
from engine.release.sentences import budget_words
from engine.release.uncertainty import ReleasedBand

_WIDTH, _HEIGHT = 720, 430
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 76, 52
_SHADES = ("gradient", "bias", "functional", "wavelet")  # of curves with steps of their own
_DASHES = ("", "8 4", "2 3", "10 3 2 3")
_END_DASH = "3 4"
_ROW, _MAX_AT_RISK = 16, 9  # height of a row of numbers at risk, and how many stand in it
_NOTE, _WRAPPED = 15, 112  # height and letters of a line under the picture
_TITLE = 15.0  # its size, or less where it is long


def picture(release: Published, with_notes: bool = True) -> str:
    """Draw released functions with bands and a legend as SVG; write a single number as text.

    `with_notes` puts the statements of the release below, for places that do not show them anyway.
    """
    texts = statements(release) if with_notes else []
    notes = [line for text in texts for line in textwrap.wrap(text, _WRAPPED)]
    foot = (
        _HEIGHT
        + _ROW * len(_risk_rows(release))
        + (BAR_ROOM * (TIME_IN_RANGE in release.functions.tables))
    )
    height = foot + _NOTE * len(notes) + (_NOTE // 2 if notes else 0)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(alt(release), quote=True)}" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="{colour("quiet", "light")}">'
    )
    below = [
        f'<text x="{_LEFT}" y="{foot + _NOTE * (k + 1)}" font-size="11">{escape(line)}</text>'
        for k, line in enumerate(notes)
    ]
    marks = (
        _heat(release)
        if release.functions.is_surface
        else (_lines(release) if release.axis else [_single(release)])
    )
    return "".join([head, *_titles(release), *marks, *below, "</svg>"])


def _titles(release: Published) -> list[str]:
    """Write the titles inside the picture: the result, its budget and its error."""
    verdict = release.uncertainty.verdict
    told = f"{verdict} · " if verdict in ("doubtful", "coarse") else ""
    band = band_name(release) if release.ranges else "no confidence band"
    title = heading(release)
    size = min(_TITLE, (_WIDTH - _LEFT - _RIGHT) / (0.58 * len(title)))
    up = f"{escape(release.value)} · " if release.functions.is_surface else ""
    return [
        f'<text x="{_LEFT}" y="20" font-size="{size:.1f}" font-weight="600" fill="#182033">'
        f"{escape(title)}</text>",
        f'<text x="{_LEFT}" y="39">{up}{escape(budget_words(release.cost.certified))} · '
        f"{told}{escape(band)}</text>",
    ]


def _single(release: Published) -> str:
    value = float(next(iter(release.columns.values()))[0])
    return (
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2}" text-anchor="middle" font-size="40" '
        f'fill="{colour("gradient", "light")}">{number(value, 4)}</text>'
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2 + 36}" text-anchor="middle">'
        f"{escape(release.value)}</text>"
    )


def _lines(release: Published) -> list[str]:
    every = [*release.columns.values(), *(end for pair in release.ranges.values() for end in pair)]
    functions = release.functions
    if isinstance(functions, ReleasedPercentiles) and functions.target:
        every.append(np.array(functions.target))
    low, high = min(float(v.min()) for v in every), max(float(v.max()) for v in every)
    room = 0.06 * ((high - low) or 1.0)
    ends = (float(release.x[0]), float(release.x[-1])), (low - room, high + room)
    out = [*_axes(release, *ends), *_at_risk(release, ends[0]), *_common_times(release, ends[0])]
    if isinstance(functions, ReleasedPercentiles):
        return out + _nested(release, functions, *ends)
    stepped = is_staircase(release)
    shades = [
        colour(_SHADES[k % len(_SHADES)] if stepped else _SHADES[0], "light")
        for k in range(len(release.columns))
    ]
    band = release.uncertainty.band
    for pair, shade in zip(release.ranges.values(), shades, strict=bool(release.ranges)):
        out += (
            _steps(release.x, pair, shade, *ends)
            if stepped or band is None
            else _band(release.x, band, pair, shade, *ends)
        )
    for k, (name, values) in enumerate(release.columns.items()):
        shade = shades[k]
        out.append(
            f'<polyline points="{_points(release.x, values, *ends)}" fill="none" '
            f'stroke="{shade}" stroke-width="2.4" stroke-dasharray="'
            f'{_DASHES[k % len(_DASHES)]}"><title>{escape(name)}</title></polyline>'
        )
    return out + _legend(release, shades)


def _common_times(release: Published, across: tuple[float, float]) -> list[str]:
    """Dotted upright lines where everybody was observed, if the band is wide between them."""
    band, facts = release.uncertainty.band, release.facts
    if band is None or not band.at_times:
        return []
    return [
        f'<path d="M{_x(float(time), across):.1f} {_TOP}V{_HEIGHT - _BOTTOM}" fill="none" '
        f'stroke="{colour("quiet", "light")}" stroke-dasharray="2 3"/>'
        for time in facts.from_unit_time(np.array(facts.common_times))
    ]


def _heat(release: Published) -> list[str]:
    """Draw a function of two times as squares: white is zero, and both signs have a colour."""
    # values (places, second times); column after column of squares, from below
    values, x = np.stack(list(release.columns.values()), axis=1), release.x
    edge = float(np.abs(values).max()) or 1.0
    step = float(x[1] - x[0])
    ends = float(x[0]) - step / 2, float(x[-1]) + step / 2
    wide, high = (abs(at(step, ends) - at(0.0, ends)) + 0.3 for at in (_x, _y))
    out = [
        f'<rect x="{_x(float(a) - step / 2, ends):.1f}" y="{_y(float(b) + step / 2, ends):.1f}" '
        f'width="{wide:.1f}" height="{high:.1f}" fill="{_two_sided(values[j, k] / edge)}"/>'
        for j, a in enumerate(x)
        for k, b in enumerate(x)
    ]
    lowest, highest = (number(float(end)) for end in (values.min(), values.max()))
    key = f'<text x="{_LEFT}" y="64">from {lowest} to {highest}; white: 0</text>'
    return [*out, *_axes(release, ends, ends, release.axis), key]


def _two_sided(share: float) -> str:
    """Return a colour from one end over white to the other; `share` is −1 to 1."""
    end = colour("bias" if share < 0 else "functional", "light").lstrip("#")
    mixed = [round(255 + abs(share) * (int(end[k : k + 2], 16) - 255)) for k in (0, 2, 4)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _nested(
    release: Published,
    curves: ReleasedPercentiles,
    across: tuple[float, float],
    up: tuple[float, float],
) -> list[str]:
    """Percentile curves as nested shades, with the time in ranges below the axis."""
    out = _marks(curves, release.x, lambda time, value: (_x(time, across), _y(value, up)))
    if curves.limits:
        out += _bar_of_ranges(
            curves, release.facts.value_unit, _LEFT, _WIDTH - _LEFT - _RIGHT, _HEIGHT + 14
        )
    return out


def _band(
    x: Array,
    band: ReleasedBand,
    pair: tuple[Array, Array],
    shade: str,
    across: tuple[float, float],
    up: tuple[float, float],
) -> list[str]:
    """Draw the band, filled where it is meant to hold; dashed edges elsewhere."""
    inside = band.inside(x)
    low, high = pair[0][inside], pair[1][inside]
    outline = _points(np.r_[x[inside], x[inside][::-1]], np.r_[low, high[::-1]], across, up)
    out = [f'<polygon points="{outline}" fill="{shade}" fill-opacity="0.14"/>']
    for end in band.outside(x):
        out += [
            f'<path d="M{_points(x[end], edge[end], across, up).replace(" ", "L")}" '
            f'fill="none" stroke="{shade}" stroke-opacity="0.85" '
            f'stroke-dasharray="{_END_DASH}"/>'
            for edge in pair
        ]
    return out


def _steps(
    x: Array,
    pair: tuple[Array, Array],
    shade: str,
    across: tuple[float, float],
    up: tuple[float, float],
) -> list[str]:
    """Draw the band as steps: the value at a place holds back to the place before it."""
    sides = np.repeat(x, 2)[1:-1]
    low, high = (np.repeat(end[1:], 2) for end in pair)
    outline = _points(np.r_[sides, sides[::-1]], np.r_[low, high[::-1]], across, up)
    return [f'<polygon points="{outline}" fill="{shade}" fill-opacity="0.14"/>']


def _has_dashed_ends(release: Published) -> bool:
    band = release.uncertainty.band
    return not is_staircase(release) and (band is None or not band.counts_ends)


def _risk_rows(release: Published) -> list[str]:
    """Write the rows below the axis: a heading, and one for each group."""
    names = [name for name in list(release.at_risk)[1:] if "±" not in name]
    return ["At risk", *names] if names else []


def _at_risk(release: Published, across: tuple[float, float]) -> list[str]:
    """Numbers at risk below the axis, as survival curves have them."""
    rows = _risk_rows(release)
    if not rows:
        return []
    times, *_ = release.at_risk.values()
    step = max(1, -(-len(times) // _MAX_AT_RISK))
    out = [f'<text x="{_LEFT}" y="{_HEIGHT + 4}" font-size="11">{escape(rows[0])}</text>']
    for k, name in enumerate(rows[1:], start=1):
        y = _HEIGHT + 4 + _ROW * k
        if len(rows) > 2:
            out.append(f'<text x="4" y="{y}" font-size="11">{escape(name[:9])}</text>')
        out += [
            f'<text x="{_x(float(time), across):.1f}" y="{y}" font-size="11" '
            f'text-anchor="middle">{number}</text>'
            for time, number in list(zip(times, release.at_risk[name], strict=True))[::step]
        ]
    return out


def _legend(release: Published, shades: Sequence[str]) -> list[str]:
    """Draw a row under the titles: each function, the band and its dashed ends."""
    names = list(release.columns) if len(release.columns) > 1 else ["released"]
    shade = shades[0]
    keys = [
        (
            f'<line x1="0" x2="26" y1="-4" y2="-4" stroke="{shades[k]}" stroke-width="2.4" '
            f'stroke-dasharray="{_DASHES[k % len(_DASHES)]}"/>',
            name[:24],
        )
        for k, name in enumerate(names)
    ]
    if release.ranges:
        keys += [
            (f'<rect width="26" height="11" y="-10" fill="{shade}" fill-opacity="0.18"/>', "band")
        ]
    if release.ranges and _has_dashed_ends(release):
        keys += [
            (
                f'<line x1="0" x2="26" y1="-4" y2="-4" stroke="{shade}" stroke-opacity="0.85" '
                f'stroke-dasharray="{_END_DASH}"/>',
                "ends the band does not cover",
            )
        ]
    if release.uncertainty.band is not None and release.uncertainty.band.at_times:
        keys.append(
            (
                f'<path d="M13 -12V2" fill="none" stroke="{colour("quiet", "light")}" '
                'stroke-dasharray="2 3"/>',
                "common times",
            )
        )
    out, x = [], float(_LEFT)
    for mark, name in keys:
        out.append(
            f'<g transform="translate({x:.0f} 60)">{mark}<text x="32">{escape(name)}</text></g>'
        )
        x += 52 + 6.6 * len(name)
    return out


def _axes(
    release: Published, across: tuple[float, float], up: tuple[float, float], title: str = ""
) -> list[str]:
    """Lines and numbers of both axes; `title` is that of the upright one, if not the values."""
    raw, out = colour("raw", "light"), []
    for tick in ticks(*up):
        y = _y(tick, up)
        out.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{raw}" stroke-opacity="0.28"/><text x="{_LEFT - 8}" y="{y + 4:.1f}" '
            f'text-anchor="end">{_tick(tick)}</text>'
        )
    for tick in ticks(*across):
        x, foot = _x(tick, across), _HEIGHT - _BOTTOM
        out.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{foot}" y2="{foot + 5}" stroke="{raw}"/>'
            f'<text x="{x:.1f}" y="{foot + 20}" text-anchor="middle">{_tick(tick)}</text>'
        )
    foot, middle = _HEIGHT - _BOTTOM, (_HEIGHT - _BOTTOM + _TOP) / 2
    out.append(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{foot}" y2="{foot}" '
        f'stroke="{raw}"/><text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 10}" '
        f'text-anchor="middle">{escape(release.axis)}</text><text x="14" y="{middle}" '
        f'text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(title or release.value)}</text>"
    )
    return out


def _tick(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")


def _points(x: Array, y: Array, across: tuple[float, float], up: tuple[float, float]) -> str:
    return " ".join(f"{_x(a, across):.1f},{_y(b, up):.1f}" for a, b in zip(x, y, strict=True))


def _x(value: float, across: tuple[float, float]) -> float:
    share = (value - across[0]) / (across[1] - across[0])
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float, up: tuple[float, float]) -> float:
    share = (value - up[0]) / (up[1] - up[0])
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about five.

    Examples
    --------
    >>> ticks(60, 210)
    [100.0, 150.0, 200.0]
    """
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(k * step) for k in range(first, last + 1)]


# -- percentile curves, as nested shades -----------------------------------------------------------
# Laid out as such profiles are printed in clinics: shades between pairs of percentiles, the target
# range marked, and one stacked bar with the share of observations in every range.


Place = Callable[[float, float], tuple[float, float]]  # time and value to pixels
BAR_ROOM = 58  # pixels below the axis for the bar of ranges
_CAP = 3.5  # half-width of the ends of a bar, in pixels
_LABEL_LINE = 12.0  # pixels between labels
_LABELLED = 0.06  # share from which a range has its number inside
_BOLD, _THIN = 2.8, 1.3


def _marks(release: ReleasedPercentiles, x: Array, to_pixels: Place) -> list[str]:
    """Shades, target range, curves, bands and labels, at times x (k,) in their own unit."""
    shade, curves = colour("gradient", "light"), list(release.columns.values())
    n, middle = len(curves), nearest_to_median(release.levels)
    out = _target(release, x, to_pixels)
    pairs = [(k, n - 1 - k) for k in range(n // 2)]
    for (low, high), fill in zip(pairs, shades_of_pairs(len(pairs)), strict=True):
        outline = _nested_points(
            np.r_[x, x[::-1]], np.r_[curves[low], curves[high][::-1]], to_pixels
        )
        out.append(f'<polygon points="{outline}" fill="{colour(fill, "light")}"/>')
    for k, (name, curve) in enumerate(release.columns.items()):
        out.append(
            f'<polyline points="{_nested_points(x, curve, to_pixels)}" fill="none" '
            f'stroke="{shade}" stroke-width="{_BOLD if k == middle else _THIN}">'
            f"<title>{escape(name)}</title></polyline>"
        )
    return [*out, *_bars(release, x, to_pixels), *_labels(release, x, to_pixels)]


def _target(release: ReleasedPercentiles, x: Array, to_pixels: Place) -> list[str]:
    """Lines at all cut-offs, with a shade over the range in the middle."""
    green, out = colour("functional", "light"), []
    (left, _), (right, _) = (to_pixels(float(end), 0.0) for end in (x[0], x[-1]))
    if release.target:
        (_, top), (_, foot) = (to_pixels(float(x[0]), limit) for limit in release.target[::-1])
        out.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{foot - top:.1f}" fill="{green}" fill-opacity="0.10"/>'
        )
    for limit in release.limits:
        _, y = to_pixels(float(x[0]), limit)
        out.append(
            f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" '
            f'stroke="{green}" stroke-width="{1.4 if limit in release.target else 0.8}"/>'
            f'<text x="{left + 4:.1f}" y="{y - 4:.1f}" font-size="11" fill="{green}">'
            f"{limit:g}</text>"
        )
    return out


def _bars(release: ReleasedPercentiles, x: Array, to_pixels: Place) -> list[str]:
    """Draw the band of every curve as bars with ends, at a few times."""
    out = []
    for low, high in release.ranges.values():
        for k in bar_places(len(x)):
            (a, foot), (_, top) = (to_pixels(float(x[k]), float(end[k])) for end in (low, high))
            out.append(
                f'<path d="M{a - _CAP:.1f},{top:.1f}h{2 * _CAP}M{a:.1f},{top:.1f}'
                f'V{foot:.1f}M{a - _CAP:.1f},{foot:.1f}h{2 * _CAP}" fill="none" '
                f'stroke="{colour("text", "light")}" stroke-opacity="0.75"/>'
            )
    return out


def _labels(release: ReleasedPercentiles, x: Array, to_pixels: Place) -> list[str]:
    """Write the names of the curves at their right ends, the middle and the outer ones first."""
    names, curves, n = list(release.columns), list(release.columns.values()), len(release.levels)
    order = dict.fromkeys((nearest_to_median(release.levels), 0, n - 1, *range(n)))
    heights: list[float] = []
    out = []
    for k in order:
        a, b = to_pixels(float(x[-1]), float(curves[k][-1]))
        if any(abs(b - other) < _LABEL_LINE for other in heights):
            continue
        heights.append(b)
        out.append(
            f'<text x="{a - 4:.1f}" y="{b - 4:.1f}" font-size="11" text-anchor="end">'
            f"{escape(names[k])}</text>"
        )
    return out


def _bar_of_ranges(
    release: ReleasedPercentiles, unit: str, left: float, width: float, top: float
) -> list[str]:
    """Draw one stacked bar of the average share in every range, named if there is room."""
    names, target = release.names(unit), None
    if release.target:
        target = release.limits.index(release.target[1])
    shades = shades_of_ranges(len(names), target)
    out = [f'<text x="{left:.1f}" y="{top:.1f}" font-size="11">Share of observations</text>']
    at = left
    for name, share, shade in zip(names, release.average, shades, strict=True):
        size = width * float(share)
        out.append(
            f'<rect x="{at:.1f}" y="{top + 6:.1f}" width="{size:.1f}" height="18" '
            f'fill="{colour(shade, "light")}"><title>{escape(name)}</title></rect>'
        )
        if share >= _LABELLED:
            middle = at + size / 2
            out.append(
                f'<text x="{middle:.1f}" y="{top + 19:.1f}" font-size="11" '
                f'text-anchor="middle" fill="{colour("text", "light")}">'
                f"{percent(float(share))}</text>"
            )
        if size > 5.6 * len(name):
            out.append(
                f'<text x="{at + size / 2:.1f}" y="{top + 36:.1f}" font-size="10" '
                f'text-anchor="middle">{escape(name)}</text>'
            )
        at += size
    return out


def _nested_points(x: Array, y: Array, to_pixels: Place) -> str:
    return " ".join(
        "{:.1f},{:.1f}".format(*to_pixels(float(a), float(b))) for a, b in zip(x, y, strict=True)
    )
