"""What Lab can estimate: one record for each, and nothing else to change for another.

An estimand offers

* `see()`: a `View` (see `pages/shared/frame/page.py`) of what is on screen, or None where it has
  said why there is none. It is called in the open tab *Estimate* alone, and may raise an
  `InputError`.
* `choices()`: its part of the scenario panel, at most four controls that are stacked: data, method
  and what no other estimand asks. It is drawn on every tab, without a view; a file of the
  visitor's own is brought by the chip of the data, or in the drawer.
* `budget()`: the control of ε below them.
* `cards`: the blocks of *Estimate*, functions of the view, from top to bottom in the order of all
  estimands: estimate, (error, attacker), budget curve, then what it alone has. Two in a
  tuple stand side by side.
* `own_data()`: the visitor's own data, above the blocks.
* `in_brief()`: sizes and δ in a line, where those of the source are not all.
* `options()`: every parameter, for the drawer, in one column.
* `details`: further contents of the drawer, beside those that every view has.

A block begins with a header of at most six words and draws its charts by `view.draw`; the attacker
is `attacker` for all. There are no folds: what is longer goes into `details`.

Its tasks, by which source and method are found among the settings, are those whose lines in
`pages/shared/state/lab_tasks.py` name the estimand; so links, pins and sweeps know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.language import glossary
from pages.parts import (
    coefficients,
    counting,
    percentiles,
    sparse,
    summaries,
)
from pages.parts.explore import budgets, steps
from pages.parts.lab import mean
from pages.parts.regression import cards as regression_cards
from pages.parts.regression import network
from pages.shared.cards import odds as odds_card
from pages.shared.cards import rules, shape
from pages.shared.frame.page import ReleaseView, View
from pages.shared.state import session

Block = Callable[[Any], None]


def _nothing() -> None:
    """Where an estimand has nothing to draw."""


def attacker(view: ReleaseView) -> None:
    """How well an attacker can tell who is in the data; what stands behind it is in the drawer."""
    if view.spends:
        st.header("Attacker", anchor=False, help=glossary.explain("Odds"))
        view.charts["Attacker"] = odds_card.face(view.facts, view.spends, "attacker_face")


@dataclass(frozen=True)
class More:
    """Something of one estimand alone that the drawer holds.

    Parameters
    ----------
    key : str
        In links.
    title : str
        In the choice of details.
    draw : callable
        Draws it, given the view.
    """

    key: str
    title: str
    draw: Block


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """One thing that Lab can estimate.

    Parameters
    ----------
    key : str
        In links; the `estimand` of its tasks.
    title : str
        In the selector.
    see, choices, budget, own_data, options, in_brief : callable
        As the module says.
    cards : tuple
        Blocks of *Estimate*.
    details : tuple of More
        Of the drawer.
    """

    key: str
    title: str
    see: Callable[[], View | None]
    choices: Callable[[], None]
    cards: tuple[Block | tuple[Block, Block], ...]
    options: Callable[[], None]
    budget: Callable[[], None] = _nothing
    own_data: Callable[[], None] = _nothing
    in_brief: Callable[[], str] | None = None
    details: tuple[More, ...] = ()

    @property
    def has_budget(self) -> bool:
        """Whether its part of the scenario panel asks for one ε."""
        return self.budget is not _nothing

    @property
    def task(self) -> str:
        """The task on screen while this estimand is chosen."""
        return session.current().estimated


def _network() -> None:
    network.choices()
    network.rows()


def _budget_of_steps() -> None:
    summaries.budget()
    summaries.split()


ESTIMANDS = {estimand.key: estimand for estimand in (
    Estimand(
        key="mean", title="Mean curve", see=mean.MeanCurve.see, choices=mean.choices,
        budget=mean.budget, own_data=mean.own_data, options=mean.options,
        cards=(mean.estimate, (mean.error, attacker), budgets.budgets),
        details=(More("shape", "Ask the curve", shape.section),
                 More("steps", "What each step does", steps.section),
                 More("rule", "Rules and precedents", lambda _: rules.rule_and_precedents()))),
    Estimand(
        key="coefficients", title="Varying coefficients", see=coefficients.Effects,
        choices=coefficients.choices, budget=coefficients.budget, own_data=coefficients.own_data,
        options=coefficients.options,
        cards=(coefficients.functions, (coefficients.errors, attacker),
               coefficients.over_budgets, coefficients.cost)),
    Estimand(
        key="regression", title="Regression (wavelets)", see=regression_cards.Regression,
        choices=_network, own_data=network.own_readings, options=regression_cards.options,
        in_brief=str,
        cards=(regression_cards.curve, (regression_cards.accuracy, attacker),
               regression_cards.cost, regression_cards.levels, regression_cards.point,
               regression_cards.assumptions),
        details=(More("regression_messages", "What each site sent", regression_cards.messages),
                 More("regression_worst", "What one observation can change",
                      regression_cards.worst),
                 More("regression_slopes", "Slopes: theory and exact",
                      lambda _: regression_cards.slopes()))),
    Estimand(
        key="summaries", title="Density, covariance and other functions", see=summaries.Summary,
        choices=summaries.choices, budget=_budget_of_steps, own_data=summaries.own_data,
        options=summaries.options,
        cards=(summaries.ways, (summaries.accuracy, attacker), summaries.components,
               summaries.noise)),
    Estimand(
        key="sparse", title="Sparse regression", see=sparse.look, choices=sparse.choices,
        budget=sparse.budget, own_data=sparse.own_rows, options=sparse.options,
        cards=((sparse.coefficients, attacker), sparse.over_budgets, sparse.calculator,
               sparse.intervals, sparse.machines, sparse.trust),
        details=(More("sparse_paper", "What the paper reports beside its noise", sparse.paper),)),
    Estimand(
        key="survival", title="Survival and other counts", see=counting.Counts,
        choices=counting.choices, budget=counting.budget, own_data=counting.own_people,
        options=counting.options,
        cards=(counting.curve, (counting.error, attacker), counting.comparison,
               counting.agreement, counting.over_budgets),
        details=(More("counting_table", "The noised counts", counting.table),
                 More("counting_coverage", "Coverage and test by simulation", counting.coverage),
                 More("counting_power", "How many people a test needs", counting.planner))),
    Estimand(
        key="percentiles", title="Percentile curves", see=percentiles.Percentiles,
        choices=percentiles.choices, budget=percentiles.budget, own_data=percentiles.own_data,
        options=percentiles.options,
        cards=(percentiles.curves, (percentiles.errors, attacker), percentiles.ranges,
               percentiles.over_budgets),
        details=(More("percentile_plan", "How many people a curve needs",
                      percentiles.planner_of),)),
)}


def chosen() -> Estimand:
    """The estimand on screen."""
    return ESTIMANDS[session.current().estimand]
