"""A release as files: its numbers, its guarantee card, its picture and a report.

The picture is plain SVG and the report one HTML file that asks nothing of any network.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from engine import __version__
from engine.exports.files import safe_cell
from engine.figures.theme import colour
from engine.release import stated
from engine.release.published import Published
from engine.types import Array, Budget
from engine.words.grammar import capital
from engine.words.numbers import number, small
from engine.words.release import odds, tighter

_WIDTH, _HEIGHT = 720, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 52
_DASHES = ("", "8 4", "2 3", "10 3 2 3")
_STYLE = ("body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;"
          "color:#182033}h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}"
          "table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;"
          "padding:.3rem 1rem .3rem 0;border-bottom:1px solid #e3e7ee}"
          "pre{white-space:pre-wrap;background:#f4f6fa;padding:1rem}svg{max-width:100%;height:auto}")


def all_files(one: Published) -> dict[str, bytes]:
    """File name to content."""
    return {"release.csv": numbers_csv(one), "release.svg": picture(one).encode(),
            "release.html": report(one), "guarantee.json": card(one)}


def card(one: Published) -> bytes:
    """The guarantee for machines."""
    return json.dumps(one.card, ensure_ascii=False, indent=2, allow_nan=False).encode()


def request(one: Published) -> bytes:
    """The same settings as a file for `python -m engine release`."""
    return json.dumps(one.request, ensure_ascii=False, indent=2).encode()


def numbers_csv(one: Published) -> bytes:
    """A row for each place; lines that begin with # say what the file is."""
    out = io.StringIO()
    out.write(f"# Privacy Curves {__version__}: released {one.at}, “{one.name}”\n")
    out.write(f"# protects {one.card['unit_of_protection']}; {budget_words(one.quote.certified)}, "
              "certified; no seed exists\n")
    columns = _columns(one)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in columns])
    writer.writerows([f"{value:.10g}" for value in row]
                     for row in zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def _columns(one: Published) -> dict[str, Array]:
    columns = {one.axis: one.x} if one.axis else {}
    for name, values in one.columns.items():
        columns[name] = values
        if name in one.ranges:
            columns[f"{name}, plausible from"], columns[f"{name}, plausible to"] = one.ranges[name]
    return columns


def budget_words(budget: Budget) -> str:
    """ε and δ in words; "ε = 1, δ = 2.5×10⁻⁵"."""
    return f"ε = {budget.epsilon:g}" + ("" if budget.is_pure else f", δ = {small(budget.delta)}")


# -- the picture ----------------------------------------------------------------------------------


def picture(one: Published) -> str:
    """Released functions with their plausible ranges, as SVG; a single number as text."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(alt(one), quote=True)}" font-family="system-ui,sans-serif" '
            f'font-size="13" fill="{colour("quiet", "light")}">')
    return head + ("".join(_drawn(one)) if one.axis else _single(one)) + "</svg>"


def alt(one: Published) -> str:
    """What the picture shows, in words."""
    values = np.concatenate(list(one.columns.values()))
    if not one.axis:
        return f"{one.value}: {number(float(values[0]), 4)}."
    return (f"{one.title}: {one.value} from {number(float(values.min()))} to "
            f"{number(float(values.max()))} over {one.axis}.")


def _single(one: Published) -> str:
    value = float(next(iter(one.columns.values()))[0])
    return (f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2}" text-anchor="middle" font-size="40" '
            f'fill="{colour("gradient", "light")}">{number(value, 4)}</text>'
            f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2 + 36}" text-anchor="middle">'
            f"{escape(one.value)}</text>")


def _drawn(one: Published) -> list[str]:
    every = [*one.columns.values(), *(end for pair in one.ranges.values() for end in pair)]
    low, high = min(float(v.min()) for v in every), max(float(v.max()) for v in every)
    room = 0.06 * ((high - low) or 1.0)
    ends = (float(one.x[0]), float(one.x[-1])), (low - room, high + room)
    out = _axes(one, *ends)
    shade = colour("gradient", "light")
    for pair in one.ranges.values():
        outline = _points(np.r_[one.x, one.x[::-1]], np.r_[pair[0], pair[1][::-1]], *ends)
        out.append(f'<polygon points="{outline}" fill="{shade}" fill-opacity="0.14"/>')
    for k, (name, values) in enumerate(one.columns.items()):
        out.append(f'<polyline points="{_points(one.x, values, *ends)}" fill="none" '
                   f'stroke="{shade}" stroke-width="2.4" stroke-dasharray="'
                   f'{_DASHES[k % len(_DASHES)]}"><title>{escape(name)}</title></polyline>')
    if len(one.columns) > 1:
        out += [_key(k, name, shade) for k, name in enumerate(one.columns)]
    return out


def _axes(one: Published, across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    raw, out = colour("raw", "light"), []
    for tick in ticks(*up):
        y = _y(tick, up)
        out.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                   f'stroke="{raw}" stroke-opacity="0.28"/><text x="{_LEFT - 8}" y="{y + 4:.1f}" '
                   f'text-anchor="end">{_tick(tick)}</text>')
    for tick in ticks(*across):
        x, foot = _x(tick, across), _HEIGHT - _BOTTOM
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{foot}" y2="{foot + 5}" stroke="{raw}"/>'
                   f'<text x="{x:.1f}" y="{foot + 20}" text-anchor="middle">{_tick(tick)}</text>')
    foot, middle = _HEIGHT - _BOTTOM, (_HEIGHT - _BOTTOM + _TOP) / 2
    out.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{foot}" y2="{foot}" '
               f'stroke="{raw}"/><text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 10}" '
               f'text-anchor="middle">{escape(one.axis)}</text><text x="14" y="{middle}" '
               f'text-anchor="middle" transform="rotate(-90 14 {middle})">'
               f"{escape(one.value)}</text>")
    return out


def _tick(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")


def _key(k: int, name: str, shade: str) -> str:
    y = _TOP + 14 + 18 * k
    return (f'<line x1="{_WIDTH - 210}" x2="{_WIDTH - 180}" y1="{y - 4}" y2="{y - 4}" '
            f'stroke="{shade}" stroke-width="2.4" stroke-dasharray="{_DASHES[k % len(_DASHES)]}"/>'
            f'<text x="{_WIDTH - 172}" y="{y}">{escape(name[:24])}</text>')


def _points(x: Array, y: Array, across: tuple[float, float], up: tuple[float, float]) -> str:
    return " ".join(f"{_x(a, across):.1f},{_y(b, up):.1f}" for a, b in zip(x, y, strict=True))


def _x(value: float, across: tuple[float, float]) -> float:
    share = (value - across[0]) / (across[1] - across[0])
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float, up: tuple[float, float]) -> float:
    share = (value - up[0]) / (up[1] - up[0])
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about five."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(k * step) for k in range(first, last + 1)]


# -- the report -----------------------------------------------------------------------------------


def report(one: Published) -> bytes:
    """The picture, the guarantee and what it does not cover, in one file without requests."""
    about = one.card["release"]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\"><meta name='viewport' content='width=device-width'>"
        f"<title>{escape(one.name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(one.name)}</h1>",
        f"<p>{escape(about['what'])} of “{escape(about['of'])}”, released {escape(one.at[:10])} "
        f"with protection for {escape(one.card['unit_of_protection'])}.</p>",
        picture(one), _band_words(one),
        "<h2>The guarantee</h2>", _table(guarantee_rows(one)),
        "<h2>What is not covered</h2>",
        "<ul>" + "".join(f"<li>{escape(capital(line))}.</li>" for line in one.card["not_covered"])
        + "</ul>",
        "<h2>A new release like this one</h2>",
        "<p>There is no seed, so this release cannot be drawn again. The settings below make a new "
        "one, with new noise, and it is charged as well: <code>python -m engine release "
        "FILE.json --yes</code></p>", f"<pre>{escape(request(one).decode())}</pre>",
        "<h2>The guarantee for machines</h2>", f"<pre>{escape(card(one).decode())}</pre>",
        "</body></html>"]
    return "\n".join(parts).encode()


def _band_words(one: Published) -> str:
    if not one.ranges:
        return ""
    return ("<p>Shaded: where the true function plausibly lies, worked out from the release "
            "alone.</p>")


def guarantee_rows(one: Published) -> Mapping[str, str]:
    """The guarantee in a few rows of words."""
    card, quote = one.card, one.quote
    return {
        "Protects": f"{card['unit_of_protection']}; compared are {card['neighbours']}",
        "Certified": f"{budget_words(quote.certified)} by OpenDP’s privacy maps",
        "Ideal": f"{budget_words(_short(quote.ideal))}: continuous noise of the same size",
        "Odds": odds(one.facts, quote).replace("**", ""),
        "Bounds": f"{_bounds(card['bounds'])}; from {card['bounds']['source']}",
        **stated.report_rows(one.facts, card),
        "Method": f"{card['mechanism']['label']} ({card['mechanism']['reference']})",
        "Noise": f"{quote.numbers} numbers by {card['noise']['sampler']}, with entropy of the "
                 "operating system, on a power-of-two lattice; no seed",
        "Ledger": f"{card['release']['data_set']}: release {card['release']['number']}; total so "
                  f"far ε = {one.odometer.spent_epsilon:g} of {one.odometer.total.epsilon:g}, "
                  f"δ = {small(one.odometer.spent_delta)}. {tighter(one.odometer)}".replace(
                      "**", "").strip(),
    }


def _short(budget: Budget) -> Budget:
    return Budget(float(f"{budget.epsilon:.3g}"), budget.delta)


def _bounds(bounds: Mapping[str, Any]) -> str:
    ranges = [bounds[key] for key in ("value", "time") if key in bounds]
    ranges += bounds.get("columns", [])
    return "; ".join(_range(one) for one in ranges)


def _range(one: Mapping[str, Any]) -> str:
    ends = f"{one['low']:g} to {one['high']:g}".replace("-", "−")
    return f"{one['name']} {ends} {one['unit']}".strip()


def _table(rows: Mapping[str, str]) -> str:
    cells: Sequence[str] = [f"<tr><th>{escape(key)}</th><td>{escape(text)}</td></tr>"
                            for key, text in rows.items()]
    return f"<table>{''.join(cells)}</table>"
