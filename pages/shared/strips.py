"""The strip above every page: data, unit of protection, budget, odds, error, link and pin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.language import chances, stated, tags
from engine.privacy import risk
from engine.privacy.failure import Delta
from engine.sources.upload_rows import UploadRows
from engine.tasks import SPARSE_MEAN, SPARSE_REGRESSION, UNIVARIATE_MEAN, WAVELET_REGRESSION
from engine.types import Budget, DataKind, PublicFacts
from engine.words import regression as regression_words
from pages.shared import address, odds_card, pins, session, settings
from pages.shared import components as pieces


def pinnable(chips: Sequence[pieces.Chip], budgets: Sequence[pieces.Budgeted], at: int,
             facts: PublicFacts, *, key: str = "strip", pins_here: bool = True,
             reason: str = "", **options: Any) -> None:
    """The strip, whose scenario is kept when the visitor asks for it.

    `pins_here` says whether there is a scenario, and `reason` why this one cannot be pinned.
    """
    own, page = facts.kind in (DataKind.UPLOAD, DataKind.TWIN), pins.page()
    pins_here = pins_here and page in pins.PAGES
    token = address.encode(replace(session.current(), folds=()))
    name = "" if own else pins.name_of(page, token)
    reason = "Your own curves cannot be pinned: a pin is a link." if own else (
        reason or pins.reason_against(token))
    if pins_here and not name and not reason and pieces.pin_pressed(key):
        name = pins.keep(page, token)
    pieces.strip(chips, budgets, at, person=facts.person, link=not own,
                 pin=pieces.Pinning(name, reason) if pins_here else None, key=key, **options)


def fixed(facts: PublicFacts, budget: str, key: str, odds: str = "", error: str = "",
          unit: tuple[str, str] | None = None, held: str = "curve", highest: float = 0.0,
          pins_here: bool = True, stated: Delta | None = None, warning: str = "") -> None:
    """The same facts with one budget, for pages without a slider in the picture.

    `unit` is what is protected and its tooltip, where it is not a whole curve, and `held` its noun;
    `highest` is the largest ε, from 4 on called weak; `pins_here` as in `pinnable`; `stated` is δ,
    which is marked where it is large; `warning` is what releases say against themselves.
    """
    chips = fact_chips(facts)
    if unit is not None:
        chips[1] = pieces.Chip(*unit, "blue", "shield")
    if stated is not None:
        chips += delta_chips(stated)
    if odds:
        chips += odds_card.chips(facts, held)
    if warning:
        chips.append(pieces.Chip("Release with a warning", warning, "orange", "warning"))
    shown = pieces.Budgeted(budget, odds, error, highest >= odds_card.WEAK_FROM)
    pinnable(chips, [shown], 0, facts, pins_here=pins_here, key=key)


def fact_chips(facts: PublicFacts) -> list[pieces.Chip]:
    """What kind of data is on screen and what is protected; the same on every page."""
    icon = {DataKind.SIMULATED: "flask", DataKind.TWIN: "flask", DataKind.PUBLIC: "globe",
            DataKind.UPLOAD: "warning"}[facts.kind]
    kind = "orange" if facts.is_upload else "gray"
    return [pieces.Chip(*tags.source_tag(facts), kind, icon),
            pieces.Chip(*tags.unit_tag(facts), "blue", "shield"), *_trust(facts)]


def _trust(facts: PublicFacts) -> list[pieces.Chip]:
    """Who is trusted with the visitor's own data; on other data the page itself says it."""
    own = session.own_with(facts)
    if own is None:
        return []
    held = "record" if isinstance(own, UploadRows) else "curve"
    return [pieces.Chip(*stated.trust_tag(own.sizes, held), "gray", "person")]


def unit_of(task: str, facts: PublicFacts) -> tuple[str, str]:
    """What is protected in a task, with its tooltip: a curve, a reading, a row or a record."""
    if task == WAVELET_REGRESSION.key:
        return regression_words.UNIT
    if task in (SPARSE_REGRESSION.key, SPARSE_MEAN.key):
        from engine.words.sparse import UNIT  # on first use: one page alone needs it

        return UNIT
    if task in (*settings.OF_ROWS, UNIVARIATE_MEAN.key):
        return tags.record_tag(facts)
    return tags.unit_tag(facts)


def held_in(task: str) -> str:
    """The noun of what one person has in a task."""
    if task == WAVELET_REGRESSION.key:
        return "reading"
    if task in (SPARSE_REGRESSION.key, SPARSE_MEAN.key):
        return "row"
    return "record" if task in (*settings.OF_ROWS, UNIVARIATE_MEAN.key) else "curve"


def delta_chips(stated: Delta) -> list[pieces.Chip]:
    """δ where it is larger than it should be, with the reason; the same on every page."""
    tag = chances.delta_tag(stated)
    return [pieces.Chip(tag, chances.delta_stated(stated).replace("**", ""), "orange",
                        "warning")] if tag else []


def by_budget_alone(budget: Budget) -> str:
    """The odds that a budget allows, whatever the noise; for pages without one release."""
    return f"{chances.odds_short(risk.odds(None, budget))} by ε alone"
