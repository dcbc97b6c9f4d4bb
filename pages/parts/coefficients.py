"""The parts of the page on varying coefficients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from engine.core.tasks import VARYING_COEFFICIENTS
from engine.language import glossary, quality
from engine.simulation.metrics import totals
from engine.simulation.studies import BUDGET_STEPS, errors_over_budgets, with_present
from engine.topics.coefficients import charts, words
from engine.topics.coefficients.answer import (
    CoefficientsAnswer,
    coefficients_answer,
    cost_of_covariates,
)
from engine.topics.mean.answer import other_methods
from pages.parts.explore import budgets as budget_cards
from pages.shared.cards import rates as rate_cards
from pages.shared.frame import controls, layout
from pages.shared.frame.page import AnsweredView
from pages.shared.state import run, session
from pages.shared.state.settings import Settings
from pages.shared.uploads import panel

TASK = VARYING_COEFFICIENTS.key
_IN_A_ROW = 3
_RELEASES, _ONE, _DIFFERENCE = "Possible releases", "One release", "Difference"


class Effects(AnsweredView):
    """Coefficient functions at the chosen budget."""

    page, fold_prefix, task = "coefficients", "coefficients_", TASK
    asks = coefficients_answer
    answer: CoefficientsAnswer

    def __init__(self, chosen: Settings | None = None) -> None:
        if chosen is None and session.uploaded(TASK):
            st.session_state.upload.check_regressors()
        super().__init__(chosen)
        self.sizes = self.answer.data.sizes

    @property
    def cautions(self) -> list[str]:
        return [
            *super().cautions,
            quality.few_in_a_round(self.mechanism.fewest_in_a_round(self.sizes)),
            *words.warned(self.answer),
        ]

    def formula(self) -> None:
        super().formula()
        st.markdown(
            "Covariates are moved into their stated ranges and mapped to −1 … 1. Errors "
            f"are summed over {np.size(self.answer.error_by_function)} functions."
        )


def own_data() -> None:
    """Show the visitor's own curves, and notes on them."""
    panel.draw("Show the protected effects", TASK)
    state = st.session_state
    if "upload" not in state or not state.get("show_upload"):
        return
    if not session.uploaded(TASK):
        st.info(
            "Your curves have no columns that may explain them. Choose some under *Use my "
            "curves* to see effects; simulated curves are shown until then.",
            icon=":material/info:",
        )
    elif state.upload.n_without_covariates:
        st.warning(
            f"**{state.upload.n_without_covariates} curves lack a number that may explain "
            "them.** They are counted and add nothing. This count is for you only.",
            icon=":material/info:",
        )


def functions(view: Effects) -> None:
    """Draw one panel for each function; effects share their height."""
    answer, facts = view.answer, view.facts
    if answer.is_refused and answer.verdict is not None:
        st.error(
            words.refused(facts, answer.verdict, view.budget, answer.people),
            icon=":material/block:",
        )
        return
    mode = controls.look(
        "Show",
        (_RELEASES, _ONE, _DIFFERENCE),
        "coefficients_show",
        label_visibility="collapsed",
        help="Difference: releases less the functions without privacy.",
    )
    displayed = answer.difference() if mode == _DIFFERENCE else answer
    order = list(range(len(answer.names)))
    for row in (order[k : k + _IN_A_ROW] for k in range(0, len(order), _IN_A_ROW)):
        for column, k in zip(st.columns(_IN_A_ROW, gap="medium"), row, strict=False):
            with column:
                title = words.panel_title(answer.names[k], k)
                st.subheader(title, anchor=False)
                st.markdown(f":small[{words.panel_range(facts, k)}]")
                view.draw(
                    title, charts.panel(displayed, k, mode == _ONE), f"function_{k}", 280, 240
                )
    _legend(view, mode == _ONE)
    layout.prose(words.meaning(facts))
    if answer.verdict is not None:
        st.markdown(f":small[{words.from_sizes(facts)}]")


def _legend(view: Effects, is_single: bool) -> None:
    """Explain the lines once for all panels."""
    blue = (
        "Blue: one release, as the public would see it"
        + (", with its 95 % confidence band." if view.answer.low is not None else ".")
        if is_single
        else f"Each blue line: one of {len(view.answer.releases)} equally likely releases."
    )
    solid = " Solid: the true function." if view.answer.truth is not None else ""
    st.markdown(f":small[{blue} Dashed: without privacy.{solid}]")
    limit = "" if view.answer.low is None else view.mechanism.limit_of_band(view.facts)
    layout.small(f"{limit} {view.answer.not_shown}".strip())


def errors(view: Effects) -> None:
    """Show the error of every function."""
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    if view.answer.is_refused:
        st.markdown("Nothing would be published at this ε, so there is no error to state.")
        return
    names = view.answer.names
    view.draw(
        "Errors",
        charts.errors(view.answer),
        "errors",
        90 + 44 * len(names),
        below="Line: 95 % of releases.",
    )
    st.markdown(words.accuracy(view.answer))
    st.markdown(words.visible(view.answer))


def over_budgets(view: Effects) -> None:
    """Show the errors at other budgets, and those of other methods at this one."""
    st.header("What each budget would buy", anchor=False)
    source, current = view.source, view.settings
    steps, errors_by_step = with_present(
        BUDGET_STEPS,
        run.answer(errors_over_budgets, source, view.mechanism, view.budget.delta, current.seed),
        view.budget.epsilon,
        view.answer.error_by_function,
    )
    left, right = st.columns([7, 3], gap="medium")
    with left:
        beside = (
            None
            if not source.is_random
            else rate_cards.beside(
                TASK, source, view.mechanism, view.budget.delta, steps, totals(errors_by_step)
            )
        )
        view.draw(
            "Errors over ε",
            charts.over_budgets(
                steps,
                errors_by_step,
                view.answer.names,
                view.budget.epsilon,
                view.facts,
                None if beside is None else beside.lines,
            ),
            "over_budgets",
            340,
            320,
            below="Upright: you are here. Gaps: nothing would be released.",
        )
        if beside is not None:
            rate_cards.note(beside, source, view.mechanism, view.budget.delta, view.budget.epsilon)
    with right:
        budget = replace(view.budget, delta=view.settings.delta_on(source).value)
        others = run.answer(other_methods, TASK, source, view.mechanism, (budget,), current.seed)
        if not view.answer.is_refused:
            errors = {label: float(errors[0]) for label, (_, errors) in others.items()}
            ranked = sorted(errors, key=lambda label: np.nan_to_num(errors[label], nan=np.inf))
            few = {label: errors[label] for label in ranked[: budget_cards.FEW]}
            st.markdown(quality.compared(view.answer.error, few))


def cost(view: Effects) -> None:
    """Show the cost of each further covariate; for simulated curves only."""
    if not view.source.is_random:
        return
    st.header("Cost of each covariate", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    costs = run.answer(cost_of_covariates, view.study)
    with left:
        view.draw(
            "Total errors over covariates",
            charts.cost(costs, view.mechanism.key, view.mechanism.family, view.facts),
            "cost",
            320,
            300,
            below="Total: the root of the sum of all squared errors. ◇ you are here.",
        )
    with right:
        st.markdown(words.cost(costs, view.budget))
