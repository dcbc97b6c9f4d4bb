"""The live figure of a published curve, from its guarantee card and its table alone.

The dashed line is the published curve with its published band. The moving line shows true means
that fit the release: draws of the normal law of the card's coefficients, with a fixed seed, since
all of it is public. A release without such coefficients has its curves and bands alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.answers import card as answers_card
from engine.core import entrance
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.tasks import DENSITY, TASKS
from engine.core.types import Array, Budget, PublicFacts
from engine.language import odds_words
from engine.language.grammar import uncapital
from engine.language.numbers import named, number, percent_up, small, whole, with_unit
from engine.numerics.counts.estimands import ESTIMANDS
from engine.release import tables
from engine.release.tables import ReleasedTable
from engine.topics.mean import live

_DRAWS, _SEED, _STREAM = 20, 1, 1
_LONGEST, _MOST_LINES = 600, 40  # characters of a sentence of a card, and lines of a list
_MOST_CURVES = 100
NO_CURVE = "The card has no curve to draw; give release.csv, too."


class ReleasedCurvePage(NamedTuple):
    """One published curve as a figure and as a table."""

    name: str  # empty where there is only one
    payload: dict[str, Any]
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


class ReleasedPage(NamedTuple):
    """The published curves of one card, and what the card says."""

    title: str
    what: str
    group: str  # of a public group its name, else that of the release
    method: str
    curves: list[ReleasedCurvePage]
    statements: list[str]
    limits: list[str]


def read(card: bytes, table: bytes) -> ReleasedPage:
    """Read the two published files of a release: a guarantee card and a table of curves."""
    stated = entrance.json_of(card.decode("utf-8", "replace"), "a guarantee card")
    if not isinstance(stated, Mapping) or stated.get("kind") != "differential privacy guarantee":
        raise InputError(
            "This is no guarantee card.",
            field="card",
            hint="It is the file guarantee.json of a release.",
        )
    curves = tables.read(table)[:_MOST_CURVES]
    if any(len(curve.x) < 2 or np.any(np.diff(curve.x) <= 0) for curve in curves):
        raise InputError(
            "This release is no curve, so there is no figure to send.",
            field="table",
            hint="Send its report instead: release.html.",
        )
    try:
        return _page(stated, curves)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise InputError(
            "The guarantee card lacks what every card of a curve has.",
            field="card",
            hint="Write the files of the release again with this version, at no charge.",
        ) from None


def _page(card: Mapping[str, Any], curves: Sequence[ReleasedTable]) -> ReleasedPage:
    budget = Budget(*map(float, _guarantee(card)))
    people = sum(int(size) for size in card["public"]["people_per_site"])
    what = f"{_text(card['release']['what'])} of {whole(people)} {_units(card)[1]}"
    groups = card.get("answers", {}).get("groups")
    return ReleasedPage(
        title=f"{what}, published with differential privacy",
        what=_text(card["release"]["what"]),
        group=_text(groups["name"]) if groups else _text(card["release"]["name"]),
        method=_text(card["mechanism"]["label"]),
        curves=[_curve_page(card, curve, budget, people, what) for curve in curves],
        statements=_statements(card, budget),
        limits=[_text(line) for line in _lines(card["accuracy"]["explained"])],
    )


def _curve_page(
    card: Mapping[str, Any], curve: ReleasedTable, budget: Budget, people: int, what: str
) -> ReleasedCurvePage:
    facts = _facts(card, curve)
    title = f"{what}, {_text(curve.name)}" if curve.name else what
    return ReleasedCurvePage(
        name=_text(curve.name),
        payload=_payload(card, curve, facts, budget, people, title),
        columns=(
            named(facts.time_name, facts.time_unit),
            named(facts.value_name, facts.value_unit),
            *(("95 % band from", "95 % band to") if curve.band else ()),
        ),
        rows=[
            tuple(f"{value:.6g}" for value in row)
            for row in zip(curve.x, curve.value, *(curve.band or ()), strict=True)
        ][::5],
    )


def _guarantee(card: Mapping[str, Any]) -> tuple[Any, Any]:
    return card["guarantee"]["epsilon"], card["guarantee"]["delta"]


def _units(card: Mapping[str, Any]) -> tuple[str, str]:
    """Return the words for one person and for several."""
    units = card.get("answers", {}).get("units", {})
    return _text(units.get("person", "person")), _text(units.get("people", "people"))


def _facts(card: Mapping[str, Any], curve: ReleasedTable) -> PublicFacts:
    """Return names, units and ranges of both axes, wide enough for what is drawn."""
    drawn = np.concatenate([curve.value, *(curve.band or ())])
    low, high = float(drawn.min()), float(drawn.max())
    value, time = _axes(card, curve)
    low, high = min(low, float(value.get("low", low))), max(high, float(value.get("high", high)))
    person, people = _units(card)
    return PublicFacts(
        name=_text(card["release"]["of"]),
        person=person,
        people=people,
        value_name=_text(value.get("name", "Value")),
        value_unit=_text(value.get("unit", "")),
        time_name=_text(time.get("name", "Place")),
        time_unit=_text(time.get("unit", "")),
        time_low=float(curve.x[0]),
        time_high=float(curve.x[-1]),
        value_low=low,
        value_high=high if high > low else low + 1.0,
    )


def _axes(
    card: Mapping[str, Any], curve: ReleasedTable
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return what the card says of values and of places; ranges of a coefficient are its own.

    A card names the axes of its data. What follows from them, such as the shares of a ROC curve,
    has its names from the task.
    """
    bounds, what = card["bounds"], card["release"]["what"]
    value, time = bounds.get("value", {}), bounds.get("time", {})
    columns = [column for column in bounds.get("columns", ()) if column["name"] == curve.name]
    if columns:
        per = _text(columns[0]["unit"]) or "unit"
        changed = uncapital(_text(value.get("name", "value")))
        name = f"Change of {changed} per {per} of {curve.name}"
        return {"name": name, "unit": value.get("unit", "")}, time
    task = next((task for task in TASKS.values() if task.label == what), None)
    if task is DENSITY:
        feature = bounds["columns"][0]
        unit = f"per {_text(feature['unit'])}" if feature["unit"] else ""
        return {"name": "Density", "unit": unit}, feature
    if task and task.key in ESTIMANDS:
        estimand = ESTIMANDS[task.key]
        return {"name": estimand.quantity}, {
            "name": estimand.argument
        } if estimand.argument else time
    if not time and bounds.get("columns"):
        return value, bounds["columns"][0]
    return value, time


def _payload(
    card: Mapping[str, Any],
    curve: ReleasedTable,
    facts: PublicFacts,
    budget: Budget,
    people: int,
    title: str,
) -> dict[str, Any]:
    """Collect what the browser draws: one ε, nobody’s curve, and means that fit the release."""
    fitting = _fitting(card, curve)
    lines = curve.value[None] if fitting is None else fitting
    right = float(card["odds"]["right_guess_at_most"])
    if not 0.5 <= right <= 1:
        raise ValueError
    half = None if curve.band is None else float((curve.band[1] - curve.band[0]).mean() / 2)
    width = "" if half is None else with_unit(number(half), facts.value_unit)
    share = percent_up(right).replace("more than", ">")
    words = live.figure_words(facts, people) | live.words_without_people(
        "published curve", "published curve" if fitting is None else "a mean that fits it"
    )
    return live.tagged(
        {
            "title": title,
            "epsilons": [f"{budget.epsilon:g}"],
            "n": people,
            "attacker": [share if share[0] == ">" else f"≤ {share}"],
            "bound": [right],
            "weak": [budget.epsilon >= odds_words.WEAK_FROM],
            "notes": [_invitation(fitting is not None)],
            "errors": [
                [width, "(on average)", f"band ± {width}"] if width else ["", "", "no band"]
            ],
            "refused": [None],
            "alone": half is None and fitting is None,
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
    """Say what the card says: accuracy, guarantee, warnings, and what is not covered."""
    accuracy = card["accuracy"]
    return [
        _text(accuracy["headline"]),
        f"Protects {_text(card['unit_of_protection'])}: ε = {budget.epsilon:g}, "
        f"δ = {small(budget.delta)}, certified.",
        *(f"Warning: {_text(line)}" for line in _lines(accuracy["warnings"])),
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
