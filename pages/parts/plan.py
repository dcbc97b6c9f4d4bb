"""The solver of Decide: a sentence with blanks, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.types import PublicFacts
from engine.exports import memo
from engine.language import glossary, odds_words, tags
from engine.language.numbers import named
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.sources import Source
from engine.sources.twin import Twin
from engine.topics.brief import Brief
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import (
    Measured,
    PlannedStudy,
    PlanningAnswer,
    Protection,
    bounds,
    usual_target,
)
from engine.topics.planning.risk import budget_for_risk
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.frame import controls, layout, strips
from pages.shared.frame.page import View
from pages.shared.state import allowed, run, session, settings
from pages.shared.state.settings import Settings

Number = TypeVar("Number", int, float)
_STEPS = 12  # settings that most plans try
_SIZES = ("people", "readings", "sites")


def setting_of(scenario: Settings, source: Source) -> PlannedStudy:
    """Return the sizes to plan for; for a table, those of as many equal sites.

    `source` holds data of the settings, or one's own.
    """
    setting = PlannedStudy.of(source, scenario.mechanism, scenario.epsilon, scenario.delta)
    rows = [row for row in scenario.sites if row.included]
    if source.facts.is_upload or not scenario.has_table(settings.TASK) or not rows:
        return setting
    people, each = (
        round(sum(sizes) / len(rows))
        for sizes in zip(
            *((row.n_curves, row.n_observations_per_curve) for row in rows), strict=True
        )
    )
    return replace(setting, people=people, readings=each, sites=len(rows))


class Planned(View):
    """The question on screen: everything but one dial is given.

    `recommended` is the typical error of the budget that the study needs, if any.
    """

    page, fold_prefix, task = "decide", "plan_", ""

    def __init__(self, recommended: float | None = None, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.recommended = recommended
        self.on_screen = session.source() if chosen is None else chosen.source
        is_random = self.on_screen.is_random
        self.source = self.on_screen if is_random else self.twin_of(self.on_screen)
        self.facts: PublicFacts = self.source.facts
        self.unknown = self.settings.unknown_quantity

    @cached_property
    def target(self) -> float:
        if self.settings.typical_error is not None:
            return self.settings.typical_error
        return self.recommended or usual_target(self.facts)

    @property
    def has_table(self) -> bool:
        """True if the sizes come from a table, which alone can change them."""
        return not self.facts.is_upload and self.settings.has_table(settings.TASK)

    @property
    def arguments(self) -> tuple[PlannedStudy, str, float, int]:
        """All that the answer depends on."""
        return self.setting, self.unknown, self.target, self.settings.seed

    @cached_property
    def setting(self) -> PlannedStudy:
        return setting_of(self.settings, self.source)

    def brief(self) -> Brief:
        """Return the facts of the answer: its ε and sizes, as an average curve."""
        answer = run.answer(planning_topic.plan, *self.arguments)
        if answer.protection is None:
            raise InputError(
                "This plan has no answer, so there is nothing to compare.",
                hint="Open it to see which blank would do.",
            )
        facts, reached, budget = (self.on_screen.facts, answer.reached, answer.protection.budget)
        return Brief(
            facts=facts,
            people=reached.setting.people * reached.setting.sites,
            protects=tags.unit_tag(facts)[0],
            method=self.settings.mechanism.nearest_preset()[0],
            budget=budget,
            budgets=tags.budget_chip(budget),
            spends=answer.protection.spends,
            error=reached.error,
            within=reached.within,
            error_unit=facts.value_unit,
        )

    def formula(self) -> None:
        """Show what the method computes, and how a blank is filled."""
        guarantee_cards.formula(self.settings.mechanism, {})
        st.markdown(planning_words.METHOD)

    def question(self) -> Question:
        setting = self.setting
        return ask(
            planning_topic.plan_of,
            setting.source,
            setting.mechanism,
            setting.epsilon,
            setting.delta,
            self.unknown,
            self.target,
            self.settings.seed,
        ).about(Person(self.settings.group_size))


# -- the question -------------------------------------------------------------------------------


def question(view: Planned) -> None:
    """Ask one question as a sentence with blanks; the open one is found."""
    strips.ledger_lines(view.on_screen)
    facts = view.facts
    labels = {
        "epsilon": "ε",
        "people": facts.people,
        "readings": "observations",
        "sites": "sites",
        "error": "error",
    }
    controls.bound(
        st.segmented_control,
        "Choose what to find; fill in the rest",
        view.unknown,
        lambda chosen: session.change(unknown_quantity=chosen or view.unknown),
        "unknown",
        options=list(labels),
        format_func=labels.get,
        help="The blank that is solved for; the others are given.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _blank(
            view,
            "error",
            named("Error of at most", facts.value_unit),
            view.target,
            lambda value: session.change(typical_error=allowed.target(value)),
        )
        _blank(
            view,
            "people",
            facts.people.capitalize() + (" at each site" if view.setting.sites > 1 else ""),
            view.setting.people,
            lambda value: _resize("people", value),
        )
        _blank(
            view,
            "readings",
            "Observations each",
            view.setting.readings,
            lambda value: _resize("readings", value),
        )
        _blank(
            view,
            "sites",
            "Number of sites",
            view.setting.sites,
            lambda value: _resize("sites", value),
        )
        _blank(view, "epsilon", "Privacy budget ε", view.setting.epsilon, session.set_epsilon)


def _blank(
    view: Planned, dial: str, label: str, value: Number, write: Callable[[Number], None]
) -> None:
    """Draw one blank of the sentence; the open one says that it is being found."""
    if dial == view.unknown:
        st.text_input(label, "to be found", disabled=True, key=f"found_{dial}")
        return
    is_whole = dial in _SIZES
    controls.number(
        label, value, write, f"plan_{dial}", is_whole=is_whole, disabled=is_whole and view.has_table
    )


def twin(view: Planned) -> None:
    """Describe the basis of a plan for real curves, and the one guess in it; nothing for others."""
    source = view.source
    if not isinstance(source, Twin):
        return
    st.markdown(f":small[{planning_words.about_twin(source)}]")
    with st.popover("Change the guessed standard deviation", icon=":material/edit:"):
        controls.number(
            named("Standard deviation of an observation", view.facts.value_unit),
            source.spread,
            lambda spread: session.change_twin(
                view.on_screen, replace(session.twin_of(view.on_screen), spread=spread)
            ),
            "twin_spread",
            help="How far observations typically lie from the mean curve. From an "
            "earlier study, never from this file.",
        )


def _resize(dial: str, value: Number) -> None:
    """Change a size of the curves as they are by then; Explore shows the same ones."""
    view = Planned()
    low, high = bounds(view.setting, dial)
    if not low <= value <= high:
        raise InputError(f"This must lie between {low:g} and {high:g}; got {value:g}.", field=dial)
    resized = view.setting.moved(dial, value).curves
    if isinstance(resized, Twin):
        session.change_twin(view.on_screen, resized)
    else:
        session.change_study(settings.TASK, resized)


# -- the answer ---------------------------------------------------------------------------------


def solve(view: Planned) -> PlanningAnswer | None:
    """Find the answer; None, with the reason under the blanks, if there is none."""
    with controls.refusals(":material/block:"):  # such as a method that refuses these sizes
        return run.answer(planning_topic.plan, *view.arguments, steps=_STEPS)
    return None


def verdict(view: Planned, answer: PlanningAnswer) -> None:
    """Answer the question, yes or no; after a no say which other dial would do."""
    box = st.success if answer.is_possible else st.warning if answer.is_extrapolated else st.error
    lines = [
        planning_words.verdict(answer, view.facts),
        f":small[{planning_words.question(*view.arguments[:3], view.facts)}]",
        *planning_words.fixes(answer, view.facts),
    ]
    box(
        "  \n".join(lines),
        icon=":material/check:"
        if answer.is_possible
        else ":material/trending_up:"
        if answer.is_extrapolated
        else ":material/block:",
    )
    if broken := planning_words.broken_promise(answer):
        st.error(broken, icon=":material/error:")


def beyond_rule(answer: PlanningAnswer) -> None:
    """Say whether the answer's budget is above the visitor's own rule."""
    if answer.is_possible:
        guarantee_cards.beyond_rule(answer.reached.setting.epsilon)


def answer(view: Planned, answer: PlanningAnswer) -> None:
    """Show the odds, one step either way, and the memo beside the verdict."""
    answer = answer.for_group(view.settings.group_size)
    if answer.is_possible and answer.protection is not None:
        with layout.card(f"Odds for one {view.facts.person}", glossary.explain("Odds")):
            st.markdown(odds_words.odds_main(answer.protection.odds, view.facts.person))
        with layout.card("Accuracy", glossary.explain("Error")):
            st.markdown(planning_words.accuracy(answer, view.facts))
    if answer.steps:
        with layout.card("One step either way"):
            layout.table([_step(view, answer, *row) for row in answer.rows()])
            st.markdown(":small[◇ the answer]")
    st.download_button(
        "Write the memo",
        lambda: memo.decision_memo(view.setting, answer, view.facts, view.settings.epsilon_limit),
        "privacy-curves-memo.html",
        "text/html",
        on_click="ignore",
        icon=":material/description:",
        key="memo",
        help="One page to print: the answer, what it rests on, what is not "
        "covered, and the alternatives.",
    )


def _step(
    view: Planned, answer: PlanningAnswer, row: Measured, protection: Protection | None
) -> dict[str, str]:
    size, error = planning_words.step(row, answer.unknown, view.facts)
    cells = {"with": f"{size} ◇" if row is answer.reached else size, "error": error}
    return (
        cells
        if protection is None
        else cells | {"attacker’s accuracy": odds_words.odds_short(protection.odds)}
    )


def risk(view: Planned) -> None:
    """Find the ε that a stated risk allows."""
    with layout.card("Or start from the risk"):
        controls.number(
            "Attacker’s accuracy, at most (%)",
            view.settings.attacker_accuracy,
            lambda value: session.change(attacker_accuracy=allowed.risk(value)),
            "plan_risk",
            help="By an attacker who knows every other curve and has narrowed one down "
            "to two. A coin toss is right 50 % of the time.",
        )
        allowed = run.answer(
            budget_for_risk,
            view.setting,
            view.settings.attacker_accuracy / 100,
            view.settings.group_size,
        )
        st.markdown(planning_words.risk_verdict(allowed, view.facts))
        if allowed.epsilon is not None and allowed.epsilon >= settings.LOWEST_EPSILON:
            st.button(
                f"Take ε = {allowed.epsilon:g} and find the error",
                key="take_risk",
                icon=":material/arrow_back:",
                on_click=_take,
                args=(allowed.epsilon,),
            )


def _take(epsilon: float) -> None:
    session.set_epsilon(epsilon)
    session.change(unknown_quantity="error")


def section(recommended: float | None = None, notes: Sequence[str] = ()) -> None:
    """Show all of the solver: the question with one blank, and its answer.

    Parameters
    ----------
    recommended : float, optional
        Typical error of the budget that the study on the page needs.
    notes : sequence of str
        Differences between this question and that of the page.
    """
    view = Planned(recommended)
    for note in notes:
        st.markdown(f":small[{note}]")
    question(view)
    twin(view)
    solved = solve(view)
    if solved is not None:
        verdict(view, solved)
        beyond_rule(solved)
        answer(view, solved)
