"""The live figure of a published curve, from its guarantee card and its table alone.

The dashed line is the published curve with its published band. The moving line shows true means
that fit the release: draws of the normal law of the card's coefficients, with a fixed seed, since
all of it is public. A release without such coefficients has its curve and band alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.answers import card as answers_card
from engine.core import entrance
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Array, Budget, PublicFacts
from engine.language import odds_words
from engine.language.numbers import named, number, percent_up, small, whole, with_unit
from engine.release import tables
from engine.release.tables import ReleasedTable
from engine.topics.mean import live

_DRAWS, _SEED, _STREAM = 20, 1, 1
_LONGEST, _MOST_LINES = 600, 40  # characters of a sentence of a card, and lines of a list
NO_CURVE = "The card has no curve to draw; give release.csv, too."


class ReleasedPage(NamedTuple):
    """A published curve as a figure, and what its card says."""

    title: str
    method: str
    payload: dict[str, Any]
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    statements: list[str]


def read(card: bytes, table: bytes) -> ReleasedPage:
    """Read the two published files of a release: a guarantee card and a table of a curve."""
    stated = entrance.json_of(card.decode("utf-8", "replace"), "a guarantee card")
    if not isinstance(stated, Mapping) or stated.get("kind") != "differential privacy guarantee":
        raise InputError(
            "This is no guarantee card.",
            field="card",
            hint="It is the file guarantee.json of a release.",
        )
    curve = tables.read(table)[0]
    if len(curve.x) < 2 or np.any(np.diff(curve.x) <= 0):
        raise InputError(NO_CURVE, field="table")
    try:
        return _page(stated, curve)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise InputError(
            "The guarantee card lacks what every card of a curve has.",
            field="card",
            hint="Write the files of the release again with this version, at no charge.",
        ) from None


def _page(card: Mapping[str, Any], curve: ReleasedTable) -> ReleasedPage:
    facts, budget = _facts(card, curve), Budget(*map(float, _guarantee(card)))
    people = sum(int(size) for size in card["public"]["people_per_site"])
    what = f"{_text(card['release']['what'])} of {whole(people)} {facts.people}"
    group = f", {curve.name}" if curve.name else ""
    return ReleasedPage(
        title=f"{what}{group}, published with differential privacy",
        method=_text(card["mechanism"]["label"]),
        payload=_payload(card, curve, facts, budget, people, what),
        columns=(
            named(facts.time_name, facts.time_unit),
            named(facts.value_name, facts.value_unit),
            *(("95 % band from", "95 % band to") if curve.band else ()),
        ),
        rows=[
            tuple(f"{value:.6g}" for value in row)
            for row in zip(curve.x, curve.value, *(curve.band or ()), strict=True)
        ][::5],
        statements=_statements(card, budget),
    )


def _guarantee(card: Mapping[str, Any]) -> tuple[Any, Any]:
    return card["guarantee"]["epsilon"], card["guarantee"]["delta"]


def _facts(card: Mapping[str, Any], curve: ReleasedTable) -> PublicFacts:
    """Return names, units and ranges of both axes, wide enough for what is drawn."""
    bounds, units = card["bounds"], card.get("answers", {}).get("units", {})
    value, time = bounds.get("value", {}), bounds.get("time", {})
    drawn = np.concatenate([curve.value, *(curve.band or ())])
    low, high = float(value.get("low", drawn.min())), float(value.get("high", drawn.max()))
    low, high = min(low, float(drawn.min())), max(high, float(drawn.max()))
    return PublicFacts(
        name=_text(card["release"]["of"]),
        person=_text(units.get("person", "person")),
        people=_text(units.get("people", "people")),
        value_name=_text(value.get("name", "Value")),
        value_unit=_text(value.get("unit", "")),
        time_name=_text(time.get("name", "Place")),
        time_unit=_text(time.get("unit", "")),
        time_low=float(curve.x[0]),
        time_high=float(curve.x[-1]),
        value_low=low,
        value_high=high if high > low else low + 1.0,
    )


def _payload(
    card: Mapping[str, Any],
    curve: ReleasedTable,
    facts: PublicFacts,
    budget: Budget,
    people: int,
    what: str,
) -> dict[str, Any]:
    """Collect what the browser draws: one ε, nobody’s curve, and means that fit the release."""
    fitting = _fitting(card, curve)
    lines = curve.value[None] if fitting is None else fitting
    right = float(card["odds"]["right_guess_at_most"])
    if not 0.5 <= right <= 1:
        raise ValueError
    half = None if curve.band is None else float((curve.band[1] - curve.band[0]).mean() / 2)
    width = "–" if half is None else with_unit(number(half), facts.value_unit)
    share = percent_up(right).replace("more than", ">")
    words = live.figure_words(facts, people) | live.words_without_people(
        "published curve", "published curve" if fitting is None else "a mean that fits it"
    )
    return live.tagged(
        {
            "title": what,
            "epsilons": [f"{budget.epsilon:g}"],
            "n": people,
            "attacker": [share if share[0] == ">" else f"≤ {share}"],
            "bound": [right],
            "weak": [budget.epsilon >= odds_words.WEAK_FROM],
            "notes": [_invitation(fitting is not None)],
            "errors": [[width, "" if half is None else "(on average)", f"band ± {width}"]],
            "refused": [None],
            **live.axes(facts),
            **live.lines(facts, curve.x, curve.value, lines[None], curve.band),
            "words": words
            | {
                "guessing": f"(guessing: 50 %), ε = {budget.epsilon:g}",
                "error": _band_name(card) if half is not None else "No band",
                "next": "Next mean",
                "fog": "" if half is None else "published band",
                "panel": "Difference from the published curve, with its band. The axis reaches "
                "{limit}.",
            },
            "colours": live.COLOURS,
            "source": "Published with differential privacy",
            "downloads": True,
        }
    )


def _band_name(card: Mapping[str, Any]) -> str:
    level = float(card["accuracy"]["band"]["level"]) if card["accuracy"]["band"] else 0.95
    return f"Half-width of the {level:.0%} band".replace("%", " %")


def _invitation(moves: bool) -> str:
    moving = "The blue line shows true means that fit the release, one after another. "
    return f"{moving if moves else ''}Read values with the pointer or the arrow keys."


def _fitting(card: Mapping[str, Any], curve: ReleasedTable) -> Array | None:
    """Draw means that fit the release: (draws, points); None where the card has no coefficients."""
    if "answers" not in card:
        return None
    released = answers_card.read(card)
    low, high = released.facts.time_low, released.facts.time_high
    unit_times = (curve.x - low) / (high - low)
    draws = generator(_SEED, _STREAM, 0).multivariate_normal(
        released.centre, released.covariance, size=_DRAWS, method="eigh", check_valid="ignore"
    )
    return np.asarray(draws @ released.row_maps[-1](unit_times, 0).T + released.public(unit_times))


def _statements(card: Mapping[str, Any], budget: Budget) -> list[str]:
    """Say what the card says: accuracy, guarantee, its limits and warnings."""
    accuracy = card["accuracy"]
    return [
        _text(accuracy["headline"]),
        f"Protects {_text(card['unit_of_protection'])}: ε = {budget.epsilon:g}, "
        f"δ = {small(budget.delta)}, certified.",
        *(f"Warning: {_text(line)}" for line in _lines(accuracy["warnings"])),
        *(_text(line) for line in _lines(accuracy["explained"])),
        f"Not covered: {'; '.join(_text(line) for line in _lines(card['not_covered']))}.",
        *([_text(card["release"]["credit"])] if card["release"].get("credit") else []),
    ]


def _lines(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value[:_MOST_LINES]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value[:_LONGEST]
