"""A decision or a comparison on one page, to print or to pass on: HTML that stands alone."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.types import PublicFacts
from engine.figures import drawn
from engine.language import odds_words, tags
from engine.language.grammar import uncapital
from engine.language.numbers import unbroken
from engine.privacy.failure import Delta
from engine.templates import render
from engine.topics.decision import charts, trust
from engine.topics.decision import words as decision_words
from engine.topics.decision.answer import Decision, Profile
from engine.topics.decision.trust import TrustPrice
from engine.topics.pins import answer as pins_topic
from engine.topics.pins.answer import Pinned
from engine.topics.planning import precedents
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import PlannedStudy, PlanningAnswer


def decision_memo(
    setting: PlannedStudy, answer: PlanningAnswer, facts: PublicFacts, rule: float | None = None
) -> bytes:
    """Write the answer as HTML: its basis, what is not covered, and one step either way.

    `rule` is the most ε by a rule of one's own.
    """
    return render(
        "decision_memo",
        title=tags.title(facts),
        facts=facts,
        is_possible=answer.is_possible,
        question=planning_words.question(setting, answer.unknown, answer.target, facts),
        verdict=planning_words.verdict(answer, facts),
        fixes=planning_words.fixes(answer, facts),
        broken=planning_words.broken_promise(answer),
        cost=_cost(answer, facts, rule),
        protected=tags.unit_tag(facts),
        not_covered=odds_words.not_covered(facts),
        delta=odds_words.delta_stated(answer.reached.setting.stated_delta),
        method=uncapital(setting.mechanism.label),
        span=f"{facts.value_low:g} to {facts.value_high:g}",
    ).encode()


def _cost(answer: PlanningAnswer, facts: PublicFacts, rule: float | None) -> dict[str, object]:
    """Write the rows of an attacker's gain, the accuracy, and other choices."""
    if not answer.is_possible or answer.protection is None:
        return {}
    odds, epsilon = answer.protection.odds, answer.reached.setting.epsilon
    return {
        "odds": odds_words.odds_main(odds, facts.person),
        "careful": odds_words.odds_careful(odds),
        "accuracy": planning_words.accuracy(answer, facts),
        "steps": _steps(answer, facts),
        "rule": _by_rule(epsilon, rule),
        "caution": precedents.CAUTION,
        "precedents": [
            f"{precedent.name}: {tags.budget_chip(precedent.budget)}, protects "
            f"{precedent.unit} ({precedent.source})."
            for precedent in precedents.nearest(epsilon)
        ],
    }


def _steps(answer: PlanningAnswer, facts: PublicFacts) -> list[list[str]]:
    """A table of one step either way, with its head; empty where the error was asked for."""
    if answer.unknown == "error":
        return []
    return [
        ["With", "Error", *["Attacker’s accuracy"] * bool(answer.beside), ""],
        *(
            [
                *planning_words.step(reached, answer.unknown, facts),
                *([] if protection is None else [odds_words.odds_short(protection.odds)]),
                "the answer" if reached is answer.reached else "",
            ]
            for reached, protection in answer.rows()
        ),
    ]


def _by_rule(epsilon: float, rule: float | None) -> str:
    if rule is None:
        return "No rule of yours was stated."
    return precedents.beyond_rule(epsilon, rule) or f"Within your rule, ε at most {rule:g}."


def study_memo(
    answer: Decision,
    *,
    prices: Sequence[TrustPrice] = (),
    author: str = "",
    date: str = "",
    link: str = "",
    rule: float | None = None,
) -> str:
    """A decision about a study with sites, on one printed page of HTML that stands alone.

    What is empty is left out; `rule` is the most ε by a rule of one's own.
    """
    profile, chosen = answer.profile, answer.chosen
    chart_title, picture = charts.on_paper(answer)
    head = [
        "",
        "ε",
        f"Attacker’s accuracy ({decision_words.GUESSING})",
        "Error",
        f"{answer.confidence} of 20 releases within",
    ]
    rows = [
        [
            decision_words.option_name(answer, name, option),
            f"{option.budget.epsilon:g}",
            odds_words.odds_short(option.odds),
            unbroken(decision_words.typical_error(option, profile)),
            unbroken(decision_words.within(answer, option)),
        ]
        for name, option in answer.options
    ]
    return render(
        "study_memo",
        title=decision_words.memo_title(profile),
        author=author,
        date=date,
        link=link,
        colours=drawn.palette("light"),
        question=unbroken(decision_words.question(answer)),
        is_reached=chosen is not None,
        verdict=unbroken(decision_words.verdict(answer)),
        at_one_point=unbroken(decision_words.at_one_point(answer)),
        no_margin=unbroken(decision_words.no_margin(answer)),
        sites=decision_words.table_of_sites(profile),
        contributions=unbroken(decision_words.contributions(answer)),
        rule="" if rule is None or chosen is None else _by_rule(chosen.budget.epsilon, rule),
        head=head,
        rows=rows,
        chart_title=chart_title,
        chart=drawn.svg(picture, charts.PRINTED, "memo"),
        trusted=_trusted(profile, prices),
        precedents=[] if chosen is None else _spent_by_others(chosen.budget.epsilon),
        protection=_protection(answer),
        delta=odds_words.delta_stated(profile.delta),
        assumptions=[unbroken(text) for text in decision_words.assumptions(answer)],
    )


def _trusted(profile: Profile, prices: Sequence[TrustPrice]) -> list[list[str]]:
    """A table of the budget under each kind of trust, with its head; empty without any."""
    if not prices:
        return []
    return [
        ["Who is trusted", "ε", "Attacker’s accuracy"],
        *(
            [
                f"{trust.KINDS[price.place]}: {trust.gloss(price.place, profile.facts)}",
                price.epsilon,
                price.attacker or price.reason or "not simulated yet",
            ]
            for price in prices
        ),
    ]


def _spent_by_others(epsilon: float) -> list[str]:
    """List the nearest published budgets, each with what it protects."""
    return [
        f"{precedent.name}: {tags.budget_chip(precedent.budget)}, protects {precedent.unit}."
        for precedent in precedents.nearest(epsilon)
    ]


def _protection(answer: Decision) -> dict[str, str]:
    """Sentences by their headings; a unit that is all of a person is said with who is protected."""
    records = max((option.odds.group for _, option in answer.options), default=1)
    sentences = decision_words.protection(answer.profile, records)
    return {
        heading: sentence
        for heading, sentence in sentences.items()
        if records > 1 or heading != decision_words.UNIT
    }


def comparison_memo(pins: Sequence[Pinned]) -> bytes:
    """Scenarios side by side on one page: the table, what cannot be compared, and each in words."""
    columns = pins_topic.table(pins)
    return render(
        "comparison_memo",
        title=f"Scenarios {', '.join(pin.name for pin in pins)} side by side",
        columns=columns,
        rows=zip(*columns.values(), strict=True),
        warnings=pins_topic.warnings(pins),
        pins=[(pin, _in_words(pin)) for pin in pins],
    ).encode()


def _in_words(pin: Pinned) -> list[str]:
    return [
        odds_words.odds_main(pin.odds, pin.brief.facts.person, pin.unit),
        odds_words.odds_careful(pin.odds),
        odds_words.delta_stated(Delta.of(pin.brief.budget.delta, pin.brief.people)),
        odds_words.not_covered(pin.brief.facts),
    ]
