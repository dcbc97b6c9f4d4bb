"""Titles and tags: what is shown, what is protected and with which budget, in a few words."""

from __future__ import annotations

from engine.core.lists import shortened
from engine.core.types import Budget, DataKind, EventFacts, PublicFacts, Unit
from engine.language.grammar import a, capital, of, span
from engine.language.numbers import digits_up, small, whole

FOR_YOUR_EYES = "Not private: for your eyes"  # of what a file gave by itself


def title(facts: PublicFacts) -> str:
    """Write the heading of a page about an average curve."""
    curve = f"{facts.curve} curve" if facts.curve else "curve"
    return f"The mean {curve}, released with differential privacy for every {facts.person}"


def study_title(facts: PublicFacts, n_curves: int) -> str:
    """Write the heading of the figure: whose mean, of how many, and how it is released."""
    curve = f"{facts.curve} curve" if facts.curve else "curve"
    if facts.is_proposed:
        return f"A first look at the mean {curve} of {whole(n_curves)} {facts.people}"
    return (
        f"The mean {curve} of {whole(n_curves)} {facts.people}, released with differential privacy"
    )


def source_tag(facts: PublicFacts) -> tuple[str, str]:
    """Write the chip that says what kind of data is on screen, and its tooltip."""
    if facts.is_proposed:
        return (
            FOR_YOUR_EYES,
            "Ranges and grid come from this file, so this picture says "
            f"something about single {facts.people}. It cannot be published, linked or saved.",
        )
    if facts.is_upload:
        name = facts.name.removeprefix("Your ").lower()
        return (
            f"Your {name} · not private",
            f"Only you, the holder of these {name}, may look at this picture. It cannot be "
            f"linked or shared: it shows the {of(facts.people)} own {name}.",
        )
    if facts.kind is DataKind.TWIN:
        return (
            f"{facts.name}: simulated",
            "Made by the computer from the facts that you stated and the public sizes of your "
            f"file. No value of the file is in it. It cannot be linked: the {facts.people} "
            "stay on this machine.",
        )
    if facts.kind is DataKind.PUBLIC:
        return (
            f"Public data: {facts.name}",
            " ".join(["Real data that are already public.", *credited(facts)]),
        )
    return (
        "Simulated",
        " ".join(
            [
                "Curves simulated from a known mean; no person is behind them.",
                *credited(facts),
                "The noise on this page is for exploring, not for publishing.",
            ]
        ),
    )


def origin(facts: PublicFacts) -> str:
    """Whose data a picture shows, for the line below it: public data with their credit."""
    if facts.kind is DataKind.PUBLIC and facts.credit:
        return f"{facts.name} ({facts.credit.rstrip('.')})"
    return facts.name


def credited(facts: PublicFacts) -> list[str]:
    """Name who measured public data and under which licence, or what a simulation follows."""
    if not facts.credit:
        return []
    return [f"{capital(facts.credit).rstrip('.')}."]


def data_chip(facts: PublicFacts, n_curves: int) -> str:
    """Name the people on screen, and their number: "Simulated growth, 200 children"."""
    many = f"{whole(n_curves)} {facts.people}"
    if facts.is_proposed:
        return f"{FOR_YOUR_EYES} · {many}"
    if facts.is_upload:
        return f"Your data: {many} · not private"
    if facts.kind is DataKind.SIMULATED:
        return f"Simulated {facts.curve or 'data'}, {many}"
    return f"{source_tag(facts)[0]}, {many}"


def bounds_tag(facts: PublicFacts) -> str:
    """Say public bounds and their source in a line, as a person stated them."""
    if isinstance(facts, EventFacts):
        compared = f", {' against '.join(facts.groups)}" if facts.groups else ""
        if facts.group_weights:
            compared = f", adjusted for {', '.join(facts.groups)}"
        if facts.late_entry:
            compared += ", with late entry"
        if facts.at_visits:
            compared += ", seen at visits"
        return f"{span(facts)}{compared} · from {shortened(facts.origin)}"
    value = facts.value_name or "value"
    ranges = (
        ", ".join(
            f"{each.name} {each.low:g} to {each.high:g} {each.unit}".strip()
            for each in facts.covariates[:3]
        )
        if facts.covariates and not facts.time_high
        else f"{value} {facts.value_low:g} to {facts.value_high:g} {facts.value_unit}".strip()
        + f", {span(facts)}"
    )
    return f"{ranges} · from {shortened(facts.origin)}"


def published_chip(facts: PublicFacts, n_curves: int, is_released: bool) -> tuple[str, str]:
    """Write the chip, and its tooltip, of the visitor's own data if nothing of them is shown.

    `is_released`: a release of them is on screen.
    """
    many = f"{whole(n_curves)} {facts.people}"
    if is_released:
        return (
            f"Released from your data: {many}",
            "The release below has its noise, and may be shared. The data themselves are not "
            "on this page.",
        )
    return (
        f"Your data: {many} · not on this page",
        "Previews are simulated from what you stated and from public sizes: no value of the "
        "file is in them.",
    )


def unit_tag(facts: PublicFacts, unit: Unit = Unit.CURVE) -> tuple[str, str]:
    """Write the chip that says what is protected, and its tooltip."""
    match unit:
        case Unit.READING:
            return (
                "One person’s observation",
                "Unit of protection: replacing one observation, "
                "with its position, hardly changes what a site sends.",
            )
        case Unit.ROW:
            return (
                "One row",
                "Unit of protection: replacing one row, with all of its numbers, "
                "hardly changes what is published. A person with several rows is protected "
                "less.",
            )
        case Unit.PERSON:
            return (
                f"One {facts.person}",
                "Unit of protection: replacing all that is known of any "
                f"one {facts.person} hardly changes what is published.",
            )
        case Unit.RECORD:
            return (
                f"One {of(facts.person)} record",
                "Unit of protection: replacing one record, with all of its numbers, hardly "
                "changes what is published. A person with several records is protected less.",
            )
    return (
        f"One {of(facts.person)} whole curve",
        f"Unit of protection: replacing all observations of any one {facts.person} hardly "
        "changes what is published.",
    )


def group_tag(facts: PublicFacts, count: int, unit: str) -> tuple[str, str]:
    """Write the chip that says that odds are about several protected units of one person."""
    return (
        f"Odds for {count} {unit}s of one {facts.person}",
        f"One {unit} is protected. {capital(a(facts.person))} who has {count} of them in the "
        "data is protected less: the odds here are about all of them together.",
    )


def budget_chip(budget: Budget) -> str:
    """Write a budget in a few words: "ε = 1 · δ = 10⁻⁶", without δ if that is zero."""
    delta = "" if budget.is_pure else f" · δ = {small(budget.delta)}"
    return f"ε = {budget.epsilon:g}{delta}"


def proved_chip(budget: Budget) -> str:
    """Write a computed guarantee: ε rounded up to three digits."""
    return budget_chip(Budget(digits_up(budget.epsilon, 3), budget.delta))
