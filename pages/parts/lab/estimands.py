"""Estimands of Lab: one record for each, and nothing else to change for another.

An estimand offers

* `view()`: a `View` (see `pages/shared/frame/page.py`) of what is on screen, or of the settings of
  a pin. It may raise an `InputError`.
* `see()`: the view on screen, or None where it has said why there is none. It is called in the open
  tab *Estimate* alone.
* `choices()`: its part of the scenario's line, at most four controls: data, method and what no
  other estimand asks; data and method where nothing else is said. It is drawn on every tab,
  without a view; a file of the visitor's own is brought by the chip of the data, or in the
  drawer.
* `budget()`: the control of ε beside them.
* `cards`: the blocks of *Estimate*, functions of the view, from top to bottom in the order of all
  estimands: estimate, (error, attacker), budget curve, then what it alone has. Two in a
  tuple stand side by side.
* `own_data()`: the visitor's own data, above the blocks.
* `in_brief()`: sizes and δ in a line, where those of the source are not all.
* `options()`: every parameter, for the drawer, in one column; those of data and method where
  nothing else is said.
* `details`: further contents of the drawer, beside those that every view has.

A block begins with a header of at most six words and draws its charts by `view.draw`; the attacker
is `attacker` for all. There are no folds: what is longer goes into `details`.

Its tasks, by which source and method are found among the settings, are those whose lines in
`pages/shared/state/lab_tasks.py` name the estimand; so links, pins and sweeps know it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.enumerations import NoisePlace
from engine.language import glossary
from engine.language.numbers import small
from engine.topics.decision.words import WHO, site_noun, spread
from pages.parts import (
    coefficients,
    components,
    counting,
    percentiles,
    regression,
    regression_sites,
    sparse,
    summaries,
)
from pages.parts.explore import cards
from pages.parts.lab import mean
from pages.shared.cards import guarantees, shape
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls, layout, parameters
from pages.shared.frame.page import ReleaseView, View
from pages.shared.state import session, settings
from pages.shared.uploads import panel

Block = Callable[[Any], None]


def _nothing() -> None:
    """Draw nothing."""


def _data_and_method() -> None:
    """Draw a choice of data and of method for the task on screen."""
    controls.source_choice(session.current().estimated)
    controls.mechanism_choice(session.current().estimated)


def attacker(view: ReleaseView) -> None:
    """Show how well an attacker can tell who is in the data; the drawer explains it."""
    if view.spends:
        st.header("Attacker", anchor=False, help=glossary.explain("Odds"))
        view.charts["Attacker"] = odds_card.face(view.facts, view.spends, "attacker_face")


@dataclass(frozen=True)
class More:
    """Something of one estimand alone that the drawer holds."""

    key: str
    title: str
    draw: Block


@dataclass(frozen=True, kw_only=True)
class Estimand:
    """One thing that Lab can estimate."""

    key: str  # in links; the `estimand` of its tasks
    title: str
    view: Callable[..., ReleaseView]  # of settings, or without them of what is on screen
    cards: tuple[Block | tuple[Block, Block], ...]
    choices: Callable[[], None] = _data_and_method
    options: Callable[[], None] = lambda: parameters.more_options(session.current().estimated)
    budget: Callable[[], None] = _nothing
    own_data: Callable[[], None] = _nothing
    in_brief: Callable[[], str] | None = None
    details: tuple[More, ...] = ()
    look: Callable[[], View | None] | None = None  # where there may be no view

    def see(self) -> View | None:
        """Return the view on screen; None where it has said why there is none."""
        return self.view() if self.look is None else self.look()

    @property
    def has_budget(self) -> bool:
        """True if its part of the scenario's line asks for one ε."""
        return self.budget is not _nothing

    @property
    def task(self) -> str:
        """The task on screen while this estimand is chosen."""
        return session.current().estimated


_OF_A_MEAN = partial(
    controls.epsilon_slider,
    "mean_epsilon",
    "Smaller: everybody is better protected, and the curve is noisier. Larger: the opposite.",
)  # its budget, also for what follows from it
ESTIMANDS = {
    estimand.key: estimand
    for estimand in (
        Estimand(
            key="mean",
            title="Mean curve",
            view=mean.MeanCurve,
            budget=_OF_A_MEAN,
            own_data=panel.draw,
            cards=((mean.estimate, mean.beside), mean.methods, (mean.error, attacker)),
            details=(
                More("shape", "Ask the curve", shape.section),
                More("steps", "What each step does", cards.effect_of_steps),
                More("rule", "Rules and precedents", lambda _: guarantees.rule_fold()),
            ),
        ),
        Estimand(
            key="components",
            title="How people differ",
            view=components.ReleasedDirections,
            budget=_OF_A_MEAN,
            own_data=panel.draw,
            cards=(components.directions, (components.closeness, attacker)),
        ),
        Estimand(
            key="coefficients",
            title="Varying coefficients",
            view=coefficients.Effects,
            budget=partial(
                controls.epsilon_slider,
                "coefficients_epsilon",
                "Lower ε: everybody is better protected and the functions are noisier. Higher ε: "
                "the opposite.",
            ),
            own_data=coefficients.own_data,
            cards=(
                coefficients.functions,
                (coefficients.errors, attacker),
                coefficients.over_budgets,
                coefficients.cost,
            ),
        ),
        Estimand(
            key="regression",
            title="Regression (wavelets)",
            view=regression.Regression,
            choices=regression_sites.choices,
            own_data=partial(
                panel.draw,
                "Show the protected curve",
                regression_sites.TASK,
                regression_sites.start_own,
            ),
            options=lambda: parameters.more_options(
                regression_sites.TASK, epsilon=False, delta=session.uploaded(regression_sites.TASK)
            ),  # sites have their own ε
            in_brief=str,
            cards=(
                regression.curve,
                (regression.accuracy, attacker),
                regression.cost,
                regression.levels,
                regression.point,
                regression.assumptions,
            ),
            details=(
                More("regression_messages", "What each site sent", regression.messages),
                More("regression_worst", "What one observation can change", regression.worst),
                More(
                    "regression_slopes", "Slopes: theory and exact", lambda _: regression.slopes()
                ),
            ),
        ),
        Estimand(
            key="summaries",
            title="Density, covariance and other functions",
            view=summaries.Summary,
            choices=summaries.choices,
            budget=summaries.budget,
            own_data=lambda: panel.draw("Show the protected functions", summaries.task()),
            cards=(
                summaries.methods_side_by_side,
                (summaries.accuracy, attacker),
                summaries.components,
                summaries.noise,
            ),
        ),
        Estimand(
            key="sparse",
            title="Sparse regression",
            view=sparse.Coefficients,
            look=sparse.current_view,
            choices=sparse.choices,
            budget=partial(
                controls.epsilon_slider,
                "sparse_epsilon",
                "Lower ε: every row is better protected and coefficients are noisier. Higher ε: "
                "the opposite.",
            ),
            own_data=partial(panel.draw, "Show the protected coefficients", sparse.TASK),
            cards=(
                (sparse.coefficients, attacker),
                sparse.over_budgets,
                sparse.calculator,
                sparse.intervals,
                sparse.machines,
                sparse.trust,
            ),
            details=(
                More("sparse_paper", "What the paper reports beside its noise", sparse.paper),
            ),
        ),
        Estimand(
            key="survival",
            title="Survival and other counts",
            view=counting.Counts,
            choices=counting.choices,
            budget=counting.budget,
            own_data=counting.own_people,
            cards=(
                counting.curve,
                (counting.error, attacker),
                counting.comparison,
                counting.agreement,
                counting.over_budgets,
            ),
            details=(
                More("counting_table", "The noised counts", counting.table),
                More("counting_coverage", "Coverage and test by simulation", counting.coverage),
                More("counting_power", "How many people a test needs", counting.planner),
            ),
        ),
        Estimand(
            key="percentiles",
            title="Percentile curves",
            view=percentiles.Percentiles,
            choices=percentiles.choices,
            budget=partial(
                controls.live_epsilon_slider,
                "percentiles_epsilon",
                "Lower ε: everybody is better protected and the curves are noisier. Higher ε: the "
                "opposite.",
            ),
            own_data=partial(panel.draw, "Show the protected curves", percentiles.TASK),
            cards=(
                percentiles.curves,
                (percentiles.errors, attacker),
                percentiles.ranges,
                percentiles.over_budgets,
            ),
            details=(
                More("percentile_plan", "How many people a curve needs", percentiles.planner_of),
            ),
        ),
    )
}


def chosen() -> Estimand:
    """Return the estimand on screen."""
    return ESTIMANDS[session.current().estimand]


# -- the scenario in one line ----------------------------------------------------------------------


def line(estimand: Estimand) -> DeltaGenerator:
    """Draw the scenario in one line, the same on all tabs, and return a place below it.

    It computes nothing.
    """
    with st.container(key="scenario"):
        with st.container(horizontal=True, key="scenario_line"):
            controls.bound(
                st.selectbox,
                "Estimand",
                estimand.key,
                _estimate,
                "estimand",
                options=list(ESTIMANDS),
                format_func=lambda key: ESTIMANDS[key].title,
                help="What is estimated with differential privacy.",
            )
            estimand.choices()
            estimand.budget()
        layout.chips(parameters.all_changed(estimand.task))
    with st.container(horizontal=True, vertical_alignment="center", key="scenario_foot"):
        brief = estimand.in_brief() if estimand.in_brief else _in_brief(estimand.task)
        layout.small(
            " ".join(filter(None, (brief, _beside_decide(estimand.task)))), width="content"
        )
        foot = st.container(width="content")
    return foot


def brought() -> None:
    """Say that *Decide* chose this ε, and offer the one before."""
    before = session.epsilon_before()
    if before is None:
        return
    st.markdown(f"ε = {session.current().epsilon:g} from *Decide*", width="content")
    st.button(
        f"Back to {before:g}",
        key="epsilon_before",
        icon=":material/undo:",
        on_click=session.set_epsilon,
        args=(before,),
    )


def _estimate(key: str) -> None:
    """Change the estimand; whatever depended on the former one starts again."""
    default = settings.FRONT_PAGE
    session.change(
        estimand=key,
        sweep=default.sweep,
        rate=default.rate,
        rate_preset="",
        audited_method=default.audited_method,
        planted_fault="",
        coverage_limits=default.coverage_limits,
    )


def _beside_decide(task: str) -> str:
    """Compare this scenario with the study on Decide."""
    current = session.current()
    if task != current.decided_task or session.uploaded(task):
        return ""
    site, _ = site_noun(session.source(task).facts)
    sentences = (
        [f"Sizes as in the table on *Decide*: {spread(current.sites)} at each {site}."]
        if current.has_table(task)
        else []
    )
    same = {NoisePlace.SITES}
    if session.source(task).sizes.n_servers == 1:  # one site is its own centre
        same.add(NoisePlace.CENTRE)
    if current.noise_place not in same:
        who = WHO[NoisePlace(current.noise_place)].format(site=site)
        sentences.append(
            f"Here each {site} adds noise; on *Decide* “{who}” is chosen, so its numbers differ."
        )
    return " ".join(sentences)


def _in_brief(task: str) -> str:
    """Write sizes and δ in a line."""
    source = session.source(task)
    sizes, delta = source.sizes, session.delta(source, task).value
    each, sites = sizes.n_observations_per_curve, sizes.n_servers
    parts = [
        f"{sizes.n_curves:,} {source.facts.people}".replace(",", "\u202f"),
        f"{each:.3g} observations each" if each > 1 else "",
        f"{sites:,} sites".replace(",", "\u202f") if sites > 1 else "",
        f"δ = {small(delta)}" if delta else "δ = 0",
    ]
    return " · ".join(filter(None, parts))
