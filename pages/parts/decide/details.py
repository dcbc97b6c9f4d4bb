"""Contents of the drawer of Decide: one detail at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.tasks import MEAN_FUNCTION, WAVELET_REGRESSION
from engine.language import glossary
from engine.language.numbers import digits_up
from engine.topics.decision import words
from engine.topics.sites import diagram_charts
from pages.parts import over_time, plan, regression_sites, sites, split_total
from pages.parts.decide.view import DecideView, choose
from pages.shared.cards import guarantees
from pages.shared.frame import controls, parameters
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import cards
from pages.shared.state.lab_tasks import LAB_TASKS


def of(view: DecideView) -> list[Detail]:
    """List all details; those of an answer only if there is one."""
    details = (
        _of_means(view)
        if view.decided is MEAN_FUNCTION
        else [Detail("hospitals", "Sizes and single sites", _means_alone, _OF_MEANS)]
    )
    details += [
        Detail(
            "trust",
            "Who is trusted",
            partial(_trust, view),
            ("sites_label", "plan_label", "decide_label"),
        ),
        Detail("precedents", "Own rule and precedents", guarantees.rule_and_precedents, ("rule",)),
        Detail("more", "Method and options", partial(_options, view), ("plan_more", "sites_more")),
        Detail("decide_formula", "Formula and source", view.formula, ("plan_formula", "formula")),
    ]
    if view.answer is not None and view.answer.options:
        details += [
            Detail("ledger", "Privacy ledger", partial(_ledger, view)),
            Detail("numbers", "Numbers", view.tables),
            Detail(
                "code", "Code", view.code, ("decide_code", "plan_code", "sites_code"), is_fold=True
            ),
        ]
    return details


def _of_means(view: DecideView) -> list[Detail]:
    """List the details computed for mean curves alone."""
    return [
        Detail("planner", "Solve for a size", partial(_solver, view)),
        Detail("over_time", "Releases over time", lambda: over_time.section(plan.Planned())),
        Detail("risk", "Start from a risk", lambda: plan.risk(plan.Planned())),
        Detail(
            "hospitals",
            "A budget for each site",
            _sites(sites.table, sites.answer, sites.warnings, sites.guarantees),
            ("sites_table",),
        ),
        Detail("ways", "Together, central, or alone", _sites(sites.pictures)),
        Detail("shares", "Where the error comes from", _sites(sites.shares)),
        Detail("leaves", "If a site leaves", _sites(sites.what_if), ("what_if",)),
        Detail("centre_saw", "What the centre saw", _sites(sites.transcript), ("transcript",)),
        Detail(
            "study_holdout",
            "As in the published study",
            _sites(sites.published_study),
            ("holdout",),
            is_fold=True,
        ),
        Detail(
            "split_total",
            "Split a total",
            lambda: split_total.fold(plan.Planned()),
            ("split",),
            is_fold=True,
        ),
    ]


# Keys of links that open one of them.
_OF_MEANS = (
    "planner",
    "over_time",
    "risk",
    "ways",
    "shares",
    "leaves",
    "centre_saw",
    "study_holdout",
    "split_total",
    "sites_table",
    "what_if",
    "transcript",
    "holdout",
    "split",
)


def _means_alone() -> None:
    """Say why another estimand lacks these details, with the way to them."""
    st.markdown(words.MEANS_ALONE)
    st.button("Take the mean curve", key="take_mean", on_click=choose, args=(MEAN_FUNCTION.key,))


def _sites(*parts: Callable[[sites.SitesTable], None]) -> Callable[[], None]:
    """Return a function that draws cards about the table of sites, each with its own budget."""

    def draw() -> None:
        table = sites.solved()
        if table.answer is None:
            sites.table(table)
            return
        cards(table, *parts)

    return draw


def _solver(view: DecideView) -> None:
    """Ask for the typical error of the recommendation, and say for which sizes."""
    notes = words.of_the_solver(view.answer) if view.answer is not None else []
    if view.recommended is None:
        plan.section(notes=notes)
    else:
        plan.section(digits_up(view.recommended.accuracy.error, 3), notes)


def _trust(view: DecideView) -> None:
    """Explain the trust in the study, with a gloss of each term, and in sites that add noise."""
    if view.answer is not None:
        sentences = words.protection(view.answer.profile, view.settings.group_size)
        for heading, sentence in sentences.items():
            st.markdown(f"**{heading}:** {sentence}", help=glossary.of_label(heading))
        view.draw("Levels of protection", diagram_charts.hierarchy(), "hierarchy", 250)
    if view.settings.noise_place != NoisePlace.PERSON and view.decided is MEAN_FUNCTION:
        _sites(sites.trust, sites.protected)()


def _options(view: DecideView) -> None:
    task = view.decided
    if task is WAVELET_REGRESSION:  # its sites, and their δ, are those of the sentence
        regression_sites.method_choice()
        parameters.more_options(
            task.key, epsilon=False, delta=False, leave_out=regression_sites.SIZES
        )
        return
    if task.key in LAB_TASKS:
        controls.mechanism_choice(task.key)
    parameters.more_options(task.key, epsilon=task is MEAN_FUNCTION)


def _ledger(view: DecideView) -> None:
    assert view.answer is not None
    option = view.answer.chosen or view.answer.options[0][1]
    guarantees.ledger(option.spends, option.budget)
