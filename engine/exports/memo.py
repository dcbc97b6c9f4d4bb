"""A decision or a comparison on one page, to print or to pass on: HTML that stands alone."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.types import PublicFacts
from engine.language import chances, tags
from engine.language.grammar import uncapital
from engine.templates import render
from engine.topics.pins import answer as pinned
from engine.topics.pins.answer import Pinned
from engine.topics.planning import precedents
from engine.topics.planning import words as plan_words
from engine.topics.planning.answer import PlanningAnswer, Setting


def decision_memo(setting: Setting, answer: PlanningAnswer, facts: PublicFacts,
                  rule: float | None = None) -> bytes:
    """The answer, what it rests on, what is not covered, and one step either way.

    `rule` is the most ε by a rule of one's own, None where there is none.
    """
    return render(
        "decision_memo", title=tags.title(facts), facts=facts, is_possible=answer.is_possible,
        question=plan_words.question(setting, answer.unknown, answer.target, facts),
        verdict=plan_words.verdict(answer, facts), fixes=plan_words.fixes(answer, facts),
        broken=plan_words.broken_promise(answer), cost=_cost(answer, facts, rule),
        protected=tags.unit_tag(facts), not_covered=chances.not_covered(facts),
        delta=chances.delta_stated(answer.reached.setting.stated_delta),
        method=uncapital(setting.mechanism.label),
        span=f"{facts.value_low:g} to {facts.value_high:g}").encode()


def _cost(answer: PlanningAnswer, facts: PublicFacts, rule: float | None) -> dict[str, object]:
    """What an attacker could learn, how accurate it would be, and other choices."""
    if not answer.is_possible or answer.protection is None:
        return {}
    odds, epsilon = answer.protection.odds, answer.reached.setting.epsilon
    return {"odds": chances.odds_main(odds, facts.person), "careful": chances.odds_careful(odds),
            "accuracy": plan_words.accuracy(answer, facts), "steps": _steps(answer, facts),
            "rule": _by_rule(epsilon, rule), "caution": precedents.CAUTION,
            "precedents": [f"{precedent.name}: {tags.budget_chip(precedent.budget)}, protects "
                           f"{precedent.unit} ({precedent.source})."
                           for precedent in precedents.nearest(epsilon)]}


def _steps(answer: PlanningAnswer, facts: PublicFacts) -> list[list[str]]:
    """A table of one step either way, with its head; empty where the error was asked for."""
    if answer.unknown == "error":
        return []
    return [["With", "Error", *["Attacker’s accuracy"] * bool(answer.beside), ""],
            *([*plan_words.step(reached, answer.unknown, facts),
               *([] if given is None else [chances.odds_short(given.odds)]),
               "the answer" if reached is answer.reached else ""]
              for reached, given in answer.rows())]


def _by_rule(epsilon: float, rule: float | None) -> str:
    if rule is None:
        return "No rule of our own was stated."
    return precedents.beyond_rule(epsilon, rule) or f"Within our own rule, ε at most {rule:g}."


def comparison_memo(pins: Sequence[Pinned]) -> bytes:
    """Scenarios side by side on one page: the table, what cannot be compared, and each in words."""
    columns = pinned.table(pins)
    return render(
        "comparison_memo", title=f"Scenarios {', '.join(pin.name for pin in pins)} side by side",
        columns=columns, rows=zip(*columns.values(), strict=True), warnings=pinned.warnings(pins),
        pins=[(pin, _in_words(pin)) for pin in pins]).encode()


def _in_words(pin: Pinned) -> list[str]:
    return [chances.odds_main(pin.odds, pin.facts.person, pin.unit),
            chances.odds_careful(pin.odds), chances.delta_explained(pin.budget.delta),
            chances.not_covered(pin.facts)]
