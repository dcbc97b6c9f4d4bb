"""A release as files: its numbers, its guarantee card, its picture, a report and its settings.

Each says how far off the release may be. The picture is plain SVG; the report is one printable page
that asks nothing of any network. What programs read stands in files of its own.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from engine import __version__
from engine.core.palette import colour
from engine.core.types import Array, Budget
from engine.language.cells import safe_cell
from engine.language.grammar import capital, uncapital
from engine.language.numbers import number, percent, small, whole
from engine.release import sentences as words
from engine.release import stated
from engine.release.published import Published
from engine.release.uncertainty import STAIRCASE, covered_places
from engine.templates import render

_WIDTH, _HEIGHT = 720, 430
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 76, 52
_SHADES = ("gradient", "bias", "functional", "wavelet")  # of curves with steps of their own
_DASHES = ("", "8 4", "2 3", "10 3 2 3")
_END_DASH = "3 4"
_ROW, _MOST_AT_RISK = 16, 9  # height of a row of numbers at risk, and how many stand in it
_NOTE, _WRAPPED = 15, 112  # height and letters of a line under the picture
_TITLE = 15.0  # its size, or less where it is long


def all_files(release: Published) -> dict[str, bytes]:
    """All files of a release, to be given away together.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.

    Returns
    -------
    dict of str to bytes
        File name to content.
    """
    return {"release.csv": numbers_csv(release), "release.svg": picture(release).encode(),
            "release.html": report(release), "guarantee.json": card(release),
            "again.json": request(release),
            **({"counts.csv": counts_csv(release)} if release.table else {}),
            **({"at_risk.csv": at_risk_csv(release)} if release.at_risk else {})}


def card(release: Published) -> bytes:
    """The guarantee for machines, as JSON.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    return json.dumps(release.card, ensure_ascii=False, indent=2, allow_nan=False).encode()


def request(release: Published) -> bytes:
    """The same settings as a file for `python -m engine release`.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    return json.dumps(release.request, ensure_ascii=False, indent=2).encode()


def headline(release: Published) -> str:
    """The first line of whatever shows the release.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    return words.headline(release.uncertainty, release.facts, release.quote.budget,
                          release.sizes.n_curves)


def statements(release: Published) -> list[str]:
    """What stands beside the release wherever it is shown: warnings, and what its band means.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    return [*words.warnings(release.uncertainty),
            *words.band_explained(release.uncertainty, release.facts)]


def numbers_csv(release: Published) -> bytes:
    """A row for each place; lines that begin with # say what the file is.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.

    Returns
    -------
    bytes
        UTF-8, numbers with ten digits in the data's own unit.
    """
    out = io.StringIO()
    about = [f"Privacy Curves {__version__}: released {release.at}, “{release.name}”, id "
             f"{release.release_id}",
             headline(release),
             f"protects {release.card['unit_of_protection']}; "
             f"{budget_words(release.quote.certified)}, "
             "certified; no seed exists", *statements(release)]
    out.writelines(f"# {' '.join(line.split())}\n" for line in about)
    table = columns(release)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in table])
    writer.writerows([f"{value:.10g}" for value in row]
                     for row in zip(*table.values(), strict=True))
    return out.getvalue().encode()


def counts_csv(release: Published) -> bytes:
    """The noised counts themselves, from which anybody can compute all the rest.

    Parameters
    ----------
    release : Published
        Of noised counts.
    """
    line = (f"{release.name}: counts of {release.sizes.n_curves} people with discrete Laplace "
            f"noise of scale 2/ε on each; {budget_words(release.quote.certified)}, certified")
    return _table_csv(line, release.table)


def at_risk_csv(release: Published) -> bytes:
    """Estimated numbers at risk by time.

    Parameters
    ----------
    release : Published
        Of people who were followed.
    """
    return _table_csv(f"{release.name}: numbers at risk, estimated from the noised counts in "
                      "counts.csv", release.at_risk)


def _table_csv(line: str, table: Mapping[str, Sequence[Any]]) -> bytes:
    out = io.StringIO()
    out.write(f"# {' '.join(line.split())}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in table])
    writer.writerows([safe_cell(each) if isinstance(each, str) else f"{each:.10g}" for each in row]
                     for row in zip(*table.values(), strict=True))
    return out.getvalue().encode()


def columns(release: Published) -> dict[str, Array]:
    """The numbers of a release: places, functions, and the ends of their bands.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.

    Returns
    -------
    dict of str to (k,)
        By title, in the data's own units; a released number has no places.
    """
    table = {release.axis: release.x} if release.axis else {}
    for name, values in release.columns.items():
        table[name] = values
        if name in release.ranges:
            ends = release.ranges[name]
            table[f"{name}, {_band_name(release)} from"] = ends[0]
            table[f"{name}, {_band_name(release)} to"] = ends[1]
    return table


def _band_name(release: Published) -> str:
    """Level and kind: 95 % simultaneous confidence band."""
    band = release.uncertainty.band
    return "confidence band" if band is None else (
        f"{percent(band.level)} {band.kind} confidence band")


def budget_words(budget: Budget) -> str:
    """ε and δ in words; "ε = 1, δ = 2.5×10⁻⁵".

    Parameters
    ----------
    budget : Budget
        Without δ in words if that is 0.
    """
    return f"ε = {budget.epsilon:g}" + ("" if budget.is_pure else f", δ = {small(budget.delta)}")


# -- the picture ----------------------------------------------------------------------------------


def picture(release: Published, with_notes: bool = True) -> str:
    """Released functions with their bands and a legend, as SVG; a single number as text.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    with_notes : bool
        Whether what stands beside the release is put under it: not where a page says it anyway.
    """
    texts = statements(release) if with_notes else []
    notes = [line for text in texts for line in textwrap.wrap(text, _WRAPPED)]
    foot = _HEIGHT + _ROW * len(_risk_rows(release))
    height = foot + _NOTE * len(notes) + (_NOTE // 2 if notes else 0)
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-label="{escape(alt(release), quote=True)}" font-family="system-ui,sans-serif" '
            f'font-size="13" fill="{colour("quiet", "light")}">')
    below = [f'<text x="{_LEFT}" y="{foot + _NOTE * (k + 1)}" font-size="11">{escape(line)}'
             "</text>" for k, line in enumerate(notes)]
    drawn = _drawn(release) if release.axis else [_single(release)]
    return "".join([head, *_titles(release), *drawn, *below, "</svg>"])


def alt(release: Published) -> str:
    """What the picture shows, in words.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    values = np.concatenate(list(release.columns.values()))
    if not release.axis:
        return f"{release.value}: {number(float(values[0]), 4)}."
    return (f"{release.title}: {release.value} from {number(float(values.min()))} to "
            f"{number(float(values.max()))} over {release.axis}. {headline(release)}")


def heading(release: Published) -> str:
    """What was released, of how many: the title of the picture and of the report.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.
    """
    about, facts = release.card["release"], release.facts
    of = uncapital(facts.value_name) if facts.is_upload else about["of"]
    return f"{about['what']} of {whole(release.sizes.n_curves)} {facts.people}: {of}"


def _titles(release: Published) -> list[str]:
    """What, with which budget, and how far off, inside the picture."""
    coarse = "coarse · " if release.uncertainty.is_coarse else ""
    band = _band_name(release) if release.ranges else "no confidence band"
    title = heading(release)
    size = min(_TITLE, (_WIDTH - _LEFT - _RIGHT) / (0.58 * len(title)))
    return [f'<text x="{_LEFT}" y="20" font-size="{size:.1f}" font-weight="600" fill="#182033">'
            f"{escape(title)}</text>",
            f'<text x="{_LEFT}" y="39">{escape(budget_words(release.quote.certified))} · {coarse}'
            f"{escape(band)}</text>"]


def _single(release: Published) -> str:
    value = float(next(iter(release.columns.values()))[0])
    return (f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2}" text-anchor="middle" font-size="40" '
            f'fill="{colour("gradient", "light")}">{number(value, 4)}</text>'
            f'<text x="{_WIDTH / 2}" y="{_HEIGHT / 2 + 36}" text-anchor="middle">'
            f"{escape(release.value)}</text>")


def _drawn(release: Published) -> list[str]:
    every = [*release.columns.values(), *(end for pair in release.ranges.values() for end in pair)]
    low, high = min(float(v.min()) for v in every), max(float(v.max()) for v in every)
    room = 0.06 * ((high - low) or 1.0)
    ends = (float(release.x[0]), float(release.x[-1])), (low - room, high + room)
    out = [*_axes(release, *ends), *_at_risk(release, ends[0])]
    stepped = is_staircase(release)
    shades = [colour(_SHADES[k % len(_SHADES)] if stepped else _SHADES[0], "light")
              for k in range(len(release.columns))]
    for pair, shade in zip(release.ranges.values(), shades, strict=bool(release.ranges)):
        out += (_steps if stepped else _band)(release.x, pair, shade, *ends)
    for k, (name, values) in enumerate(release.columns.items()):
        shade = shades[k]
        out.append(f'<polyline points="{_points(release.x, values, *ends)}" fill="none" '
                   f'stroke="{shade}" stroke-width="2.4" stroke-dasharray="'
                   f'{_DASHES[k % len(_DASHES)]}"><title>{escape(name)}</title></polyline>')
    return out + _legend(release, shades)


def _band(x: Array, pair: tuple[Array, Array], shade: str, across: tuple[float, float],
          up: tuple[float, float]) -> list[str]:
    """The band, filled where it is meant to hold; dashed edges at both ends."""
    inside = covered_places(len(x))
    low, high = pair[0][inside], pair[1][inside]
    outline = _points(np.r_[x[inside], x[inside][::-1]], np.r_[low, high[::-1]], across, up)
    out = [f'<polygon points="{outline}" fill="{shade}" fill-opacity="0.14"/>']
    for end in (slice(None, inside.start + 1), slice(inside.stop - 1, None)):
        out += [f'<path d="M{_points(x[end], edge[end], across, up).replace(" ", "L")}" '
                f'fill="none" stroke="{shade}" stroke-opacity="0.85" '
                f'stroke-dasharray="{_END_DASH}"/>' for edge in pair]
    return out


def is_staircase(release: Published) -> bool:
    """Whether its band is steps between public edges, as for counted curves.

    Parameters
    ----------
    release : Published
    """
    band = release.uncertainty.band
    return band is not None and band.kind == STAIRCASE


def _steps(x: Array, pair: tuple[Array, Array], shade: str, across: tuple[float, float],
           up: tuple[float, float]) -> list[str]:
    """The band as steps: what is at a place holds back to the place before it."""
    sides = np.repeat(x, 2)[1:-1]
    low, high = (np.repeat(end[1:], 2) for end in pair)
    outline = _points(np.r_[sides, sides[::-1]], np.r_[low, high[::-1]], across, up)
    return [f'<polygon points="{outline}" fill="{shade}" fill-opacity="0.14"/>']


def _risk_rows(release: Published) -> list[str]:
    """The rows below the axis: a heading, and one for each group."""
    names = [name for name in list(release.at_risk)[1:] if "±" not in name]
    return ["At risk", *names] if names else []


def _at_risk(release: Published, across: tuple[float, float]) -> list[str]:
    """Numbers at risk below the axis, as survival curves have them."""
    rows = _risk_rows(release)
    if not rows:
        return []
    times, *_ = release.at_risk.values()
    step = max(1, -(-len(times) // _MOST_AT_RISK))
    out = [f'<text x="{_LEFT}" y="{_HEIGHT + 4}" font-size="11">{escape(rows[0])}</text>']
    for k, name in enumerate(rows[1:], start=1):
        y = _HEIGHT + 4 + _ROW * k
        if len(rows) > 2:
            out.append(f'<text x="4" y="{y}" font-size="11">{escape(name[:9])}</text>')
        out += [f'<text x="{_x(float(time), across):.1f}" y="{y}" font-size="11" '
                f'text-anchor="middle">{number}</text>'
                for time, number in list(zip(times, release.at_risk[name], strict=True))[::step]]
    return out


def _legend(release: Published, shades: Sequence[str]) -> list[str]:
    """A row under the titles: each function, the band and its dashed ends."""
    names = list(release.columns) if len(release.columns) > 1 else ["released"]
    shade = shades[0]
    keys = [(f'<line x1="0" x2="26" y1="-4" y2="-4" stroke="{shades[k]}" stroke-width="2.4" '
             f'stroke-dasharray="{_DASHES[k % len(_DASHES)]}"/>', name[:24])
            for k, name in enumerate(names)]
    if release.ranges:
        keys += [(f'<rect width="26" height="11" y="-10" fill="{shade}" fill-opacity="0.18"/>',
                  "band")]
    if release.ranges and not is_staircase(release):
        keys += [(f'<line x1="0" x2="26" y1="-4" y2="-4" stroke="{shade}" stroke-opacity="0.85" '
                  f'stroke-dasharray="{_END_DASH}"/>', "ends the band does not cover")]
    out, x = [], float(_LEFT)
    for mark, name in keys:
        out.append(f'<g transform="translate({x:.0f} 60)">{mark}<text x="32">{escape(name)}</text>'
                   "</g>")
        x += 52 + 6.6 * len(name)
    return out


def _axes(release: Published, across: tuple[float, float], up: tuple[float, float]) -> list[str]:
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
               f'text-anchor="middle">{escape(release.axis)}</text><text x="14" y="{middle}" '
               f'text-anchor="middle" transform="rotate(-90 14 {middle})">'
               f"{escape(release.value)}</text>")
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

    Parameters
    ----------
    low, high : float
        In any unit; `high` is larger.

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


# -- the report -----------------------------------------------------------------------------------


def report(release: Published) -> bytes:
    """One printable page without requests: verdict, picture, band, guarantee, its limits.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.

    Returns
    -------
    bytes
        HTML.
    """
    return render(
        "report", title=release.name, headline=headline(release), heading=heading(release),
        day=release.at[:10], warnings=words.warnings(release.uncertainty), card=release.card,
        picture=picture(release, with_notes=False), guarantee=guarantee_rows(release),
        band=words.band_explained(release.uncertainty, release.facts),
        not_covered=[f"{capital(line)}." for line in release.card["not_covered"]]).encode()


def guarantee_rows(release: Published) -> Mapping[str, str]:
    """The guarantee in a few rows of words.

    Parameters
    ----------
    release : Published
        From `engine.release.published`.

    Returns
    -------
    mapping of str to str
        Plain text by its title, in the order of the report.
    """
    card, quote = release.card, release.quote
    facts = release.facts
    return {
        **({"Data": f"{facts.name}: {facts.credit}"} if facts.credit else {}),
        "Protects": f"{card['unit_of_protection']}; compared are {card['neighbours']}",
        "Guarantee": f"{budget_words(quote.certified)}: certified, that is, proved for the noise "
                     "that was really drawn",
        "For comparison": f"ε = {quote.ideal.epsilon:.3g} is what textbook noise of the same size, "
                          "with endless digits, would cost. It is not the guarantee.",
        "Odds": words.odds(release.facts, quote).replace("**", ""),
        "Bounds": f"{_bounds(card['bounds'])}; from {card['bounds']['source']}",
        **stated.report_rows(release.facts, card),
        "Method": f"{card['mechanism']['label']} ({card['mechanism']['reference']})",
        "Noise": f"{quote.numbers} numbers by {card['noise']['sampler']}, with entropy of the "
                 "operating system, on a power-of-two lattice; no seed",
    }


def _bounds(bounds: Mapping[str, Any]) -> str:
    ranges = [bounds[key] for key in ("value", "time") if key in bounds]
    ranges += bounds.get("columns", [])
    return "; ".join(_range(bound) for bound in ranges)


def _range(bound: Mapping[str, Any]) -> str:
    ends = f"{bound['low']:g} to {bound['high']:g}".replace("-", "−")
    return f"{bound['name']} {ends} {bound['unit']}".strip()
