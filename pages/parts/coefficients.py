"""The parts of the page on varying coefficients."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import streamlit as st

from engine.errors import InputError
from engine.language import chances, numbers, quality, tags
from engine.questions import ask
from engine.tasks import VARYING_COEFFICIENTS
from engine.theme import Chart
from engine.topics.coefficients import charts as figures
from engine.topics.coefficients import words
from engine.topics.coefficients.answer import (
    BUDGET_STEPS,
    CoefficientsAnswer,
    coefficients_answer,
    cost_of_covariates,
    errors_over_budgets,
    total,
    with_present_budget,
)
from engine.topics.mean.answer import other_methods
from engine.types import Budget
from pages.parts.explore import budgets as budget_cards
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, layout, odometer, strips
from pages.shared.state import run, session

TASK = VARYING_COEFFICIENTS.key
_IN_A_ROW = 3
_RELEASES, _ONE, _DIFFERENCE = "Possible releases", "One release", "Difference"


class View:
    """Coefficient functions at the chosen budget, and the charts that are on screen."""

    def __init__(self, shown: CoefficientsAnswer) -> None:
        self.shown, self.now = shown, session.current()
        self.source, self.facts = session.source(TASK), shown.data.facts
        self.mechanism, self.budget = self.now.mechanism_of(TASK), shown.budget
        self.charts: dict[str, Chart] = {}

    @cached_property
    def own(self) -> bool:
        return self.facts.is_upload

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        layout.draw(chart, key, height, phone)


def budget() -> None:
    """The slider of this page, with the same steps as on Explore."""
    controls.epsilon_slider("coefficients_epsilon", "Lower ε: everybody is better protected and "
                            "the functions are noisier. Higher ε: the opposite.")


def look() -> View | None:
    """What is on screen; None with the reason where it cannot be had."""
    now, source = session.current(), session.source(TASK)
    try:
        if session.uploaded(TASK):
            st.session_state.upload.check_regressors()
        chosen = Budget(now.epsilon, session.delta(source, TASK))
        return View(run.answer(coefficients_answer, source, now.mechanism_of(TASK), chosen,
                               now.seed))
    except InputError as problem:  # the controls below stay usable
        st.error(controls.message(problem), icon=":material/block:")
        return None


def own_curves() -> None:
    """What the visitor should know of their own curves here."""
    state = st.session_state
    if "upload" not in state or not state.get("show_upload"):
        return
    if not session.uploaded(TASK):
        st.info("Your curves have no columns that may explain them. Choose some under *Use my "
                "curves* to see effects; simulated curves are shown until then.",
                icon=":material/info:")
    elif state.upload.n_without_covariates:
        st.warning(f"**{state.upload.n_without_covariates} curves lack a number that may explain "
                   "them.** They are counted and add nothing. This count is for you only.",
                   icon=":material/info:")


def strip(view: View) -> None:
    odds = odds_card.of(view.shown.spends)
    error = "" if view.shown.is_refused else numbers.error(
        total(view.shown.error), view.facts.value_unit, view.shown.within)
    strips.fixed(view.facts, tags.budget_chip(view.budget), "coefficients_strip",
                 chances.odds_short(odds), error, highest=view.budget.epsilon,
                 stated=session.stated_delta(session.source(TASK), TASK),
                 warning=" ".join(text for text, _ in view.shown.warnings))
    odometer.line(session.source(TASK))


def promise(view: View) -> None:
    """What is wrong with the promise or the basis, before anything is shown."""
    guarantee_cards.promise(view.shown.spends, view.budget)
    for caution in (view.mechanism.caution(view.facts), quality.few_in_a_round(
            view.mechanism.fewest_in_a_round(view.shown.data.sizes))):
        if caution:
            st.warning(caution, icon=":material/warning:")


def functions(view: View) -> None:
    """One panel for each function; effects share their height."""
    shown, facts = view.shown, view.facts
    if shown.is_refused and shown.feasibility is not None:
        st.error(words.refused(facts, shown.feasibility, view.budget, shown.data.n_curves),
                 icon=":material/block:")
        return
    way = controls.look("Show", (_RELEASES, _ONE, _DIFFERENCE), "coefficients_show",
                        label_visibility="collapsed",
                        help="Difference: releases less the functions without protection.")
    for text in words.warned(shown, way == _ONE):
        st.warning(text, icon=":material/warning:")
    drawn = shown.difference() if way == _DIFFERENCE else shown
    order = list(range(len(shown.names)))
    for row in (order[k:k + _IN_A_ROW] for k in range(0, len(order), _IN_A_ROW)):
        for column, k in zip(st.columns(_IN_A_ROW, gap="medium"), row, strict=False):
            with column:
                title = words.panel_title(shown.names[k], k)
                st.subheader(title, anchor=False)
                view.draw(title, figures.panel(drawn, k, layout.theme(), way == _ONE),
                          f"function_{k}", 280, 240)
    _legend(view, way == _ONE)
    layout.prose(words.meaning(facts))
    if shown.feasibility is not None:
        st.markdown(f":small[{words.from_sizes(facts)}]")


def _legend(view: View, one: bool) -> None:
    """What the lines are, once for all panels."""
    blue = ("Blue: one release, as the public would see it" + (
            ", and where the true function plausibly lies." if view.shown.low is not None else ".")
            if one else f"Each blue line: one of {len(view.shown.releases)} equally likely "
            "releases.")
    solid = " Solid: the true function." if view.shown.truth is not None else ""
    st.markdown(f":small[{blue} Dashed: without protection.{solid}]")


def errors(view: View) -> None:
    """What every function errs."""
    st.header("How far off each function is", anchor=False)
    if view.shown.is_refused:
        st.markdown("Nothing would be published at this ε, so there is no error to state.")
        return
    names = view.shown.names
    view.draw("Errors", figures.errors(view.shown, layout.theme()),
              "errors", 90 + 44 * len(names))
    st.markdown(":small[Line: 8 in 10 releases.]")
    st.markdown(words.accuracy(view.shown))
    st.markdown(words.visible(view.shown))


def odds(view: View) -> None:
    view.charts |= odds_card.card(view.facts, view.shown.spends, view.shown.data.sizes)
    st.markdown(words.protects(view.facts))


def over_budgets(view: View) -> None:
    """The errors at other budgets, and those of the other methods at this one."""
    st.header("What each budget would buy", anchor=False)
    source, now = view.source, view.now
    steps, found = with_present_budget(view.shown, BUDGET_STEPS, run.answer(
        errors_over_budgets, source, view.mechanism, view.budget.delta, now.seed))
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Errors over ε", figures.over_budgets(
            steps, found, view.shown.names, view.budget.epsilon, view.facts,
            layout.theme()), "over_budgets", 340, 320)
        st.markdown(":small[Dotted: you are here. No line: nothing would be published.]")
    with right:
        budget = replace(view.budget, delta=session.chosen_delta(source))
        others = run.answer(other_methods, TASK, source, view.mechanism, (budget,), now.seed)
        if not view.shown.is_refused:
            errors = {label: float(errors[0]) for label, (_, errors) in others.items()}
            ranked = sorted(errors, key=lambda label: np.nan_to_num(errors[label], nan=np.inf))
            few = {label: errors[label] for label in ranked[:budget_cards.FEW]}
            st.markdown(words.compared(total(view.shown.error), few))


def cost(view: View) -> None:
    """What each further covariate costs; for simulated curves only."""
    if not view.source.is_random:
        return
    st.header("What each covariate costs", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    found = run.answer(cost_of_covariates, view.source, view.mechanism, view.budget, view.now.seed)
    with left:
        view.draw("Total errors over covariates", figures.cost(
            found, view.mechanism.key, view.mechanism.family, view.facts, layout.theme()),
                  "cost", 320, 300)
        st.markdown(":small[Total: the root of the sum of all squared errors. ◇ you are here.]")
    with right:
        st.markdown(words.cost(found, view.budget))


def consequences(view: View) -> None:
    guarantee_cards.consequences(view.shown.spends, view.facts, "coefficients")


def ledger(view: View) -> None:
    guarantee_cards.ledger(view.shown.spends, view.budget)


def formula(view: View) -> None:
    guarantee_cards.formula(view.mechanism, view.shown.tuning)
    st.markdown("Covariates are moved into their stated ranges and mapped to −1 … 1. Errors are "
                f"summed over {np.size(view.shown.error)} functions.")


def code(view: View) -> None:
    code_fold.show("coefficients", lambda: ask(
        coefficients_answer, view.source, view.mechanism, view.budget, view.now.seed).about(
        odds_card.person(view.facts, view.shown.data.sizes)), TASK)
