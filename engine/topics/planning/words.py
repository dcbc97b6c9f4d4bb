"""Sentences of a plan: the question with its blanks, the verdict, and one step either way."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.core.types import Budget, PublicFacts
from engine.language import quality, spending
from engine.language.grammar import capital, escape
from engine.language.numbers import digits_up, in_unit, small, times, with_unit
from engine.sources.twin import Twin
from engine.topics.planning.answer import HIGHEST_EPSILON, Measured, PlannedStudy, PlanningAnswer
from engine.topics.planning.beyond import Beyond
from engine.topics.planning.budget_split import Split, cost
from engine.topics.planning.risk import RiskAnswer

METHOD = (
    "The error is the root mean squared distance from the true mean over simulated curves "
    "of the stated sizes: the number that every page shows for them. It is measured at a few "
    "values of the blank and joined by straight lines over log scales; the interval of "
    "the answer is 2.58 standard errors to each side."
)


def question(setting: PlannedStudy, unknown: str, target: float, facts: PublicFacts) -> str:
    """Ask the question in one sentence, with the open dial as a blank."""
    parts = {
        "epsilon": f"{setting.epsilon:g}",
        "people": _count(setting.people),
        "readings": _count(setting.readings),
        "sites": _count(setting.sites),
    }
    if unknown in parts:
        parts[unknown] = "…"
    error = "…" if unknown == "error" else _target(target, facts)
    stated = setting.stated_delta
    delta = stated.rule if not stated.is_chosen and stated.value > 0 else small(stated.value)
    of_curve = f" of the {setting.function} curve" if setting.function else ""
    return (
        f"An error{of_curve} of at most {error} with {_people(parts, facts)}, "
        f"{parts['readings']} observations each, at ε = {parts['epsilon']} and "
        f"δ = {delta}."
    )


def about_twin(twin: Twin) -> str:
    """Describe the twin that replaces real curves, and what it is made of."""
    facts, unit = twin.facts, escape(twin.facts.value_unit)
    observations = "observation" if twin.n_observations == 1 else "observations"
    bounds = with_unit(f"{facts.value_low:g} to {facts.value_high:g}", unit)
    return (
        f"**Planned with a simulated twin:** {_count(sum(twin.people))} "
        f"{escape(facts.people)} with {_count(twin.n_observations)} {observations} each, "
        f"{_design(facts)}, values within {bounds}, and a guessed standard deviation of "
        f"{with_unit(f'{twin.spread:.3g}', unit)} about the mean. Only stated facts and public "
        "sizes are used, no value of the real curves; these may differ, so leave room."
    )


def _design(facts: PublicFacts) -> str:
    if facts.common_times:
        return "all at the same stated times"
    return (
        "at visits with the stated gap"
        if facts.visit_gap
        else "at independent times over the stated range"
    )


def verdict(answer: PlanningAnswer, facts: PublicFacts) -> str:
    """Write one bold sentence, then its reasons."""
    if answer.unknown == "error":
        return _found_error(answer, facts)
    if not answer.is_possible:
        return _not_possible(answer, facts)
    dial = _dial(answer.unknown, answer.value or 0.0, facts)
    if answer.too_easy:
        return f"**{dial} is already enough**, the least that can be asked for here."
    verb = "is" if answer.unknown == "epsilon" or answer.value == 1 else "are"
    return (
        f"**{dial} {verb} enough** for an error (root mean squared) of "
        f"{_target(answer.target, facts)}. {_certainty(answer)}"
    )


def fixes(answer: PlanningAnswer, facts: PublicFacts) -> list[str]:
    """Name the other dials that would make an impossible question possible, one per line."""
    condition = (
        f" (at ε = {answer.reached.setting.epsilon:g})" if answer.unknown == "epsilon" else ""
    )

    def line(dial: str, value: float | None) -> str:
        if value is not None:
            return f"With {_dial(dial, value, facts)}{condition} it would work."
        sentence = _beyond(dial, (answer.beyond or {}).get(dial), facts)
        return f"{sentence}{condition}."

    return [line(dial, value) for dial, value in (answer.fixes or {}).items()]


def broken_promise(answer: PlanningAnswer) -> str:
    """Say that the proved noise of the answer does not give the requested ε; empty elsewhere."""
    protection = answer.protection
    if protection is None or protection.keeps_promise:
        return ""
    return spending.broken_promise(protection.budget, protection.proved.epsilon)


def step(measured: Measured, unknown: str, facts: PublicFacts) -> tuple[str, str]:
    """Write a row of the table: the dial and the simulated error there."""
    value = getattr(measured.setting, unknown)
    error = (
        _error(measured.error, facts)
        if measured.error < float("inf")
        else "nothing would be published"
    )
    return _dial(unknown, float(value), facts), error


def risk_verdict(answer: RiskAnswer, facts: PublicFacts) -> str:
    """State the largest ε that keeps a stated risk, and what ε alone would allow."""
    chance = f"at most {100 * answer.right:g} %"
    who = f"An attacker who chooses between two curves of one {escape(facts.person)}"
    if answer.epsilon is None:
        return (
            f"**No ε does.** {who} is right more often than {100 * answer.right:g} % of the time."
        )
    if answer.epsilon >= HIGHEST_EPSILON:
        text = f"**Every ε up to {HIGHEST_EPSILON:g} keeps this.** {who} is right {chance}."
    else:
        text = f"**At most ε = {answer.epsilon:g}.** {who} is right {chance} then, by its noise."
    if answer.any_method is not None and answer.any_method < 0.99 * answer.epsilon:
        text += f" A method of which ε alone is known may spend ε = {answer.any_method:g}."
    if not answer.is_published:
        text += " With these sizes nothing would be published at it."
    return text


def split_lead(facts: PublicFacts) -> str:
    """Explain the split of a total among several outputs."""
    return (
        f"Several outputs about the same {escape(facts.people)} share one total: each is an "
        "average curve like the one above. What is locked keeps its ε; the others share what "
        "is left by their weights."
    )


SPLIT_RULES = (
    "The ledger of real releases adds ε and δ. Tight holds if all outputs have Gaussian "
    "noise and are planned together, as one release."
)


def split_total(split: Split, budgets: Sequence[Budget]) -> str:
    """State the total cost of all outputs for one person, by both ways to add costs."""
    total = cost(budgets, split.rule)
    text = f"Together for one person: **ε = {digits_up(total, 3):g} of {split.total:g}**."
    if split.rule == "tight" and len(budgets) > 1:
        text += (
            f" Added one by one they would be ε = {digits_up(cost(budgets, 'sum'), 3):g}: the "
            "ledger would charge that for separate releases."
        )
    return text


def _not_possible(answer: PlanningAnswer, facts: PublicFacts) -> str:
    """Explain why no possible value does, or which one would beyond those simulated."""
    dial = answer.unknown
    where = _dial(dial, float(getattr(answer.reached.setting, dial)), facts)
    if answer.reached.error == float("inf"):
        return f"**Not possible.** Even with {where} nothing useful could be published."
    short = (
        f"with {where} the error is {_error(answer.reached.error, facts)}, "
        f"{times(answer.reached.error / answer.target)} what you ask for."
    )
    beyond = (answer.beyond or {}).get(dial)
    if beyond is None or (dial == "epsilon" and beyond.floor is None):
        return f"**Not possible.** Even {short}"
    if beyond.floor is None:
        return f"**{_beyond(dial, beyond, facts)}.** {capital(short)}"
    return f"**Not possible.** {_beyond(dial, beyond, facts)}. {capital(short)}"


def _beyond(dial: str, beyond: Beyond | None, facts: PublicFacts) -> str:
    """Say what extending a dial beyond the simulation would do, without a full stop."""
    if beyond is None:
        return (
            f"No ε up to {HIGHEST_EPSILON:g} does"
            if dial == "epsilon"
            else f"However many {_plural(dial, facts)}, nothing useful could be published"
        )
    if beyond.floor is not None:
        return _never(dial, beyond, facts)
    if dial == "epsilon":
        return f"No ε up to {HIGHEST_EPSILON:g} does"
    if beyond.value is None and beyond.most <= beyond.simulated:
        return f"No number of {_plural(dial, facts)} up to {_count(beyond.simulated)} does"
    if beyond.value is None:
        return (
            f"More than {_dial(dial, beyond.most, facts)} would be needed (extrapolated from "
            f"the {_count(beyond.simulated)} that are simulated)"
        )
    return (
        f"About {_dial(dial, digits_up(beyond.value, 2), facts)} would be enough (extrapolated "
        f"beyond the {_count(beyond.simulated)} that are simulated)"
    )


def _never(dial: str, beyond: Beyond, facts: PublicFacts) -> str:
    """Explain why no value of a dial does, and what error stays."""
    left = _error(beyond.floor or 0.0, facts)
    if dial == "epsilon":
        return f"No ε does: without any noise the error would still be about {left}"
    none = f"No number of {_plural(dial, facts)} does"
    if beyond.cause == "bias":
        return (
            f"{none}: the basis functions that this method keeps leave out about {left}, "
            "whatever the number"
        )
    return (
        f"{none}: differences between {escape(facts.people)}, the noise that hides a whole "
        f"curve, and bias leave about {left}"
    )


def _found_error(answer: PlanningAnswer, facts: PublicFacts) -> str:
    if answer.value is None or answer.low is None or answer.high is None:
        return "**Nothing would be published:** too few people for this ε."
    if answer.reached.log_se == 0:
        return (
            f"**The error is {_error(answer.value, facts)}.** By formula, not by "
            "simulation: the root of the mean squared error."
        )
    return (
        f"**The error is {_error(answer.value, facts)}.** 99 % simulation interval: "
        f"{_error(answer.low, facts)} to {_error(answer.high, facts)}."
    )


def accuracy(answer: PlanningAnswer, facts: PublicFacts) -> str:
    """State the error at the answer as on every page; empty if nothing would be published."""
    there = answer.reached
    if not math.isfinite(there.error):
        return ""
    return quality.accuracy(facts, there.error, there.within, answer.baseline)


def _people(parts: dict[str, str], facts: PublicFacts) -> str:
    noun = facts.person if parts["people"] == "1" else facts.people
    people = f"{parts['people']} {escape(noun)}"
    return people if parts["sites"] == "1" else f"{people} at each of {parts['sites']} sites"


def _dial(dial: str, value: float, facts: PublicFacts) -> str:
    if dial == "epsilon":
        return f"ε = {value:g}"
    return f"{_count(value)} {_plural(dial, facts) if value != 1 else _singular(dial, facts)}"


def _certainty(answer: PlanningAnswer) -> str:
    """State the certainty of the simulated answer."""
    if answer.reached.log_se == 0:
        return "By formula, not by simulation: the root of the mean squared error."
    written = (lambda v: f"{v:.2g}") if answer.unknown == "epsilon" else _count
    low, high = written(answer.low or 0.0), written(answer.high or 0.0)
    if low == high:
        return "99 % simulation interval: this number alone."
    return f"99 % simulation interval: {low} to {high}."


def _plural(dial: str, facts: PublicFacts) -> str:
    return {
        "people": escape(facts.people),
        "readings": f"observations per {escape(facts.person)}",
        "sites": "sites",
        "epsilon": "ε",
    }[dial]


def _singular(dial: str, facts: PublicFacts) -> str:
    return {
        "people": escape(facts.person),
        "readings": f"observation per {escape(facts.person)}",
        "sites": "site",
    }[dial]


def _count(value: float) -> str:
    return f"{round(value):,}".replace(",", "\u202f")


def _error(value: float, facts: PublicFacts) -> str:
    return in_unit(value, escape(facts.value_unit))


def _target(value: float, facts: PublicFacts) -> str:
    return with_unit(f"{value:g}", escape(facts.value_unit))
