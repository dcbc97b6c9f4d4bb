"""Federated privacy drawn: people, sites and centre, what is sent, and where noise enters."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.palette import translucent
from engine.figures.theme import Chart, Spec, axis, layout
from engine.language.grammar import escape
from engine.topics.sites.site_table import SiteRow

SHOWN = 6  # sites that are drawn; the others are counted
_HALF = 0.36  # of the height of a box, in rows
_PEOPLE, _SITE, _CENTRE, _READER = (0.0, 1.7), (2.7, 5.3), (6.9, 8.5), (9.4, 10.6)  # left and right
_TRUSTED, _OTHER = translucent("functional", 0.22), translucent("quiet", 0.08)
# By who adds the noise: whether site and centre are trusted, and what goes to the centre and on.
_PARTIES = {
    "sites": (True, False, "{} noisy messages", "curve"),
    "sums": (True, False, "{} masked messages", "curve"),
    "centre": (True, True, "all curves", "noisy curve"),
}
_NOISE = {"sites": "each site", "sums": "sites together, in shares", "centre": "the centre"}
_TITLES = {
    "sites": "FDP: noise enters at each site, before anything leaves",
    "sums": "Masked sums: each site adds a share of the noise",
    "centre": "CDP: noise enters once, at the trusted centre",
}


def federation(rows: Sequence[SiteRow], way: str, messages: int) -> Chart:
    """Draw who holds and who sees what, at the sizes and budgets of a table of sites."""
    included = [row for row in rows if row.included]
    shown, more = included[:SHOWN], len(included) - SHOWN
    site_trusted, centre_trusted, sent, published = _PARTIES[way]
    middle = (len(shown) - 1) / 2
    shapes, notes = [_box(_CENTRE, middle, centre_trusted)], [_text(_CENTRE, middle, "Centre")]
    for k, row in enumerate(shown):
        y = len(shown) - 1.0 - k
        shapes += [_box(_PEOPLE, y, True), _box(_SITE, y, site_trusted)]
        notes += [
            _text(_PEOPLE, y, f"{_count(row.n_curves)} people"),
            _text(_SITE, y, f"{escape(row.name)}, ε = {row.epsilon:.3g}"),
            _arrow(_PEOPLE[1], y, _SITE[0], y),
            _arrow(_SITE[1], y, _CENTRE[0], middle),
        ]
    notes += [
        _text((_SITE[1], _CENTRE[0]), len(shown) - 0.5, sent.format(messages)),
        _arrow(_CENTRE[1], middle, _READER[0], middle),
        _text(_READER, middle, published),
    ]
    if more > 0:
        notes.append(_text(_SITE, -0.62, f"and {more} more"))
    layers = layout(
        title=_TITLES[way],
        shapes=shapes,
        annotations=notes,
        xaxis=axis(visible=False, range=[-0.2, _READER[1] + 0.2]),
        yaxis=axis(visible=False, range=[-0.9 if more > 0 else -0.6, len(shown) - 0.1]),
    )
    names = [row.name for row in included]
    return Chart(
        {"data": [_ground()], "layout": layers},
        f"{len(included)} sites with {_count(sum(row.n_curves for row in included))} people send "
        f"{sent.format(messages)} each to the centre. Noise is added by {_NOISE[way]}. Green: trusted "
        f"with data as they are; grey: sees only what is protected.",
        {
            "site": names,
            "people": [row.n_curves for row in included],
            "ε": [row.epsilon for row in included],
            "sends": [sent.format(messages)] * len(names),
            "noise by": [_NOISE[way]] * len(names),
        },
    )


_LEVELS = (
    ("Item level", "one observation"),
    ("User level", "all observations of a person"),
    ("Central (CDP)", "all people of a site, who trust it"),
    ("Federated (FDP)", "all sites, which send noisy messages alone"),
)


def hierarchy() -> Chart:
    """Draw the levels of protection, each inside the next, and where local privacy stands."""
    shapes, notes = [], []
    for k, (name, what) in enumerate(_LEVELS):
        inset = len(_LEVELS) - 1 - k
        shapes.append(
            {
                "type": "rect",
                "x0": 0.45 * inset,
                "x1": 10 - 0.45 * inset,
                "y0": 0.15 * inset,
                "y1": 1.0 + 0.8 * k,
                "line": {"color": "functional", "width": 1.4},
                "fillcolor": translucent("functional", 0.08),
            }
        )
        notes.append(_text((0.45 * inset, 10 - 0.45 * inset), 0.62 + 0.8 * k, f"{name}: {what}"))
    layers = layout(
        title="Local privacy (LDP) puts the noise inside, at each person",
        shapes=shapes,
        annotations=notes,
        xaxis=axis(visible=False, range=[-0.1, 10.1]),
        yaxis=axis(visible=False, range=[-0.1, 1.1 + 0.8 * (len(_LEVELS) - 1)]),
    )
    words = "; ".join(f"{name}: {what}" for name, what in _LEVELS)
    return Chart(
        {"data": [_ground()], "layout": layers},
        f"Levels of protection, {len(_LEVELS)} from inside out. {words}. With local privacy noise is "
        "added by each person, so that nobody outside is trusted.",
        {"level": [name for name, _ in _LEVELS], "protects": [what for _, what in _LEVELS]},
    )


def _count(people: int) -> str:
    return f"{people:,}".replace(",", "\u202f")


def _ground() -> Spec:
    """A trace without points: a figure needs one."""
    return {"type": "scatter", "x": [None], "y": [None], "hoverinfo": "skip", "showlegend": False}


def _box(ends: tuple[float, float], y: float, trusted: bool) -> Spec:
    return {
        "type": "rect",
        "x0": ends[0],
        "x1": ends[1],
        "y0": y - _HALF,
        "y1": y + _HALF,
        "line": {"color": "functional" if trusted else "quiet", "width": 1.6},
        "fillcolor": _TRUSTED if trusted else _OTHER,
    }


def _text(ends: tuple[float, float], y: float, text: str) -> Spec:
    return {
        "x": (ends[0] + ends[1]) / 2,
        "y": y,
        "text": text,
        "showarrow": False,
        "font": {"size": 13, "color": "text"},
    }


def _arrow(x0: float, y0: float, x1: float, y1: float) -> Spec:
    look = {"showarrow": True, "arrowhead": 2, "arrowwidth": 1.4, "arrowcolor": "quiet", "text": ""}
    return {"x": x1, "y": y1, "ax": x0, "ay": y0, "axref": "x", "ayref": "y", **look}
