"""The strip above every page: data, unit of protection, budget, odds, error, link and pin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.core.errors import InputError
from engine.core.types import Budget, DataKind, PublicFacts, Unit
from engine.language import error_words, odds_words, tags
from engine.language.grammar import capital, escape
from engine.mechanisms import Mechanism
from engine.privacy.failure import Delta
from engine.sources import Source
from engine.topics.asking import odds_of_method
from engine.uploads import stated
from pages.shared import components
from pages.shared.cards import odds as odds_card
from pages.shared.server import visitors
from pages.shared.state import links, pins, run, session, settings
from pages.shared.uploads import groups, panel

if TYPE_CHECKING:
    from engine.release.standing import Standing


def pinnable(
    chips: Sequence[components.Chip],
    budgets: Sequence[components.Budgeted],
    at: int,
    facts: PublicFacts,
    *,
    key: str = "strip",
    pins_here: bool = True,
    **options: Any,
) -> None:
    """Draw the strip, with a button to keep its scenario.

    `pins_here` says whether there is a scenario.
    """
    is_personal, page = facts.kind in (DataKind.UPLOAD, DataKind.TWIN), pins.page()
    pins_here = pins_here and page in pins.PAGES
    # a scenario has no open tab of Lab
    token = links.encode(replace(session.current(), open_folds=(), lab_tab=settings.TABS[0]))
    name = "" if is_personal else pins.name_of(page, token)
    reason = (
        "Your own curves cannot be pinned: a pin is a link."
        if is_personal
        else pins.reason_against(token)
    )
    if pins_here and not name and not reason and components.pin_pressed(key):
        name = pins.keep(page, token)
    is_of_mean = session.task_on_screen() == settings.TASK
    error = error_words.error_name(facts) if is_of_mean else error_words.distance(facts)
    components.strip(
        chips,
        budgets,
        at,
        person=facts.person,
        error=capital(error),
        link=not is_personal,
        pin=components.Pinning(name, reason) if pins_here else None,
        key=key,
        on_action=panel.open_dialog,
        **options,
    )


def fixed(
    facts: PublicFacts,
    budget: str,
    key: str,
    odds: str = "",
    error: str = "",
    unit: Unit = Unit.CURVE,
    highest: float = 0.0,
    pins_here: bool = True,
    stated: Delta | None = None,
    **more: Any,
) -> None:
    """Draw the same facts with one budget, for pages without a slider in the picture.

    `unit` is the unit of protection, `highest` is the largest ε, from 4 on called weak, `pins_here`
    as in `pinnable`; `stated` and `more` as in `by_step`.
    """
    budgeted = components.Budgeted(budget, odds, error, highest >= odds_words.WEAK_FROM)
    by_step(facts, [budgeted], 0, key, unit, pins_here, stated, **more)


def by_step(
    facts: PublicFacts,
    budgets: Sequence[components.Budgeted],
    at: int,
    key: str,
    unit: Unit = Unit.CURVE,
    pins_here: bool = True,
    stated: Delta | None = None,
    protected: tuple[str, str] | None = None,
    n_curves: int | None = None,
    is_forecast: bool = False,
    data: tuple[str, str] | None = None,
) -> None:
    """Draw the same with the words of every step of a slider, or of one budget.

    `at` is the present step; `stated` is δ, named if it is large; `protected` replaces the unit's
    default words and tooltip; `n_curves` is their number if it differs from that of the data on
    screen; `data` are words and tooltip about data that are not on screen; `is_forecast` as in
    `pieces.strip`; the others as in `fixed`.
    """
    chips = fact_chips(facts, protected or tags.unit_tag(facts, unit), n_curves)
    if data is not None:
        chips[0] = replace(chips[0], text=data[0], help=data[1], kind="gray", icon="person")
    if stated is not None:
        chips += delta_chips(stated)
    if any(budget.odds for budget in budgets):
        chips += odds_card.chips(facts, unit.noun)
    pinnable(chips, budgets, at, facts, pins_here=pins_here, key=key, is_forecast=is_forecast)


def fact_chips(
    facts: PublicFacts, protected: tuple[str, str] | None = None, n_curves: int | None = None
) -> list[components.Chip]:
    """Name the kind of data on screen and what is protected, usually a whole curve."""
    icon = {
        DataKind.SIMULATED: "flask",
        DataKind.TWIN: "flask",
        DataKind.PUBLIC: "globe",
        DataKind.UPLOAD: "warning",
    }[facts.kind]
    kind = "orange" if facts.is_upload else "gray"
    unit = components.Chip(*(protected or tags.unit_tag(facts)), "blue", "shield")
    return [_data_chip(facts, kind, icon, n_curves), unit, *_trust(facts)]


def _data_chip(facts: PublicFacts, kind: str, icon: str, n_curves: int | None) -> components.Chip:
    """Name the data; a click opens the dialog with other data, if they can change."""
    text, why = tags.source_tag(facts)
    source = session.source(session.task_on_screen())
    if source.facts != facts:
        return components.Chip(text, why, kind, icon)
    can_change = session.shows_own_data() and visitors.may_bring_files()
    return components.Chip(
        tags.data_chip(facts, n_curves or source.sizes.n_curves),
        why,
        kind,
        icon,
        "change" if can_change else "",
    )


def _trust(facts: PublicFacts) -> list[components.Chip]:
    """Say who is trusted with the visitor's own data; on other data the page itself says it."""
    upload = session.own_with(facts)
    if upload is None:
        return []
    noun = "curve" if upload.holds_curves else "record"
    return [components.Chip(*stated.trust_tag(upload.sizes, noun), "gray", "person")]


def delta_chips(stated: Delta) -> list[components.Chip]:
    """Show δ if it is too large, with the reason; the same on every page."""
    tag = odds_words.delta_tag(stated)
    return (
        [components.Chip(tag, odds_words.delta_stated(stated).replace("**", ""), "gray", "shield")]
        if tag
        else []
    )


def by_method(mechanism: Mechanism, source: Source, *budgets: Budget) -> str:
    """Return the odds of a method's releases at the given budgets, the same on every page.

    They are empty if the method has no plan: nothing would be released.
    """
    group = session.current().group_size
    try:
        return odds_words.odds_span(
            [run.answer(odds_of_method, mechanism, source, budget, group) for budget in budgets]
        )
    except InputError:
        return ""


# -- what is left of a data set’s total, wherever that data set is shown ---------------------------


def ledger_lines(source: Source) -> None:
    """Show the remaining budget, a line per separately published group, on every page alike.

    Nothing for simulated data, of which there is no ledger.
    """
    if not source.is_random:
        for part in groups.of(source):
            _line(part, groups.name(part))


def _line(source: Source, group: str) -> None:
    """Show the remaining budget of a group, or of everybody."""
    from engine.release.sentences import left  # imported late: most pages show simulated curves

    try:
        words = left(source.facts, standing(source))
    except InputError:
        words = "The ledger cannot be read, so nothing can be published."
    about = f"**{escape(group)}.** " if group else ""
    st.markdown(f":material/receipt_long: {about}{words}")


def standing(source: Source, same_people: bool | None = None) -> Standing:
    """Return the loss and remaining budget of the people of real data."""
    from engine.release.ledger import Ledger

    ledger = Ledger()
    stamps = [
        path.stat().st_mtime_ns if path.exists() else 0 for path in (ledger.path, ledger.witness)
    ]
    return run.at_once(_standing, source, same_people, str(ledger.path), tuple(stamps))


def _standing(
    source: Source, same_people: bool | None, path: str, stamps: tuple[int, ...]
) -> Standing:
    """Look up the standing again if `stamps` show that the ledger has changed."""
    from engine.release.ledger import Ledger

    return Ledger(path).standing_of(source, same_people)
