"""Percentile curves as an estimand of Lab, and how many people one of them needs."""

from __future__ import annotations

import math

import streamlit as st

from engine.core.tasks import PERCENTILE_CURVES
from engine.language import glossary
from engine.language.grammar import escape
from engine.language.numbers import named
from engine.simulation.studies import BUDGET_STEPS, errors_over_budgets, with_present
from engine.topics.brief import Brief
from engine.topics.percentiles import answer, charts, words
from engine.topics.percentiles.answer import (
    PercentilesAnswer,
    percentiles_answer,
    percentiles_over_budgets,
)
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import PlannedStudy, PlanningAnswer, usual_target
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.frame.live import LiveView
from pages.shared.state import allowed, run, session
from pages.shared.state.settings import Settings

TASK = PERCENTILE_CURVES.key
_SHADES, _BANDS = "Percentiles", "Confidence bands"
_OTHER = "Other"
_STEPS = 12  # measurements of most plans


class Percentiles(LiveView):
    """Percentile curves at the chosen budget."""

    page, fold_prefix, task = "percentiles", "percentiles_", TASK
    asks = percentiles_answer

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.source, self.mechanism = self.source_of(TASK), self.settings.mechanism_of(TASK)
        self.budget = self.settings.budget_on(self.source, self.mechanism)
        self.follow(
            percentiles_over_budgets,
            self.source,
            self.mechanism,
            self.budget.delta,
            self.settings.seed,
        )
        self.answer: PercentilesAnswer = self.later(percentiles_answer, *self.arguments)
        self.facts, self.sizes = self.answer.facts, self.source.sizes
        self.spends, self.tuning = self.answer.spends, self.answer.tuning
        if not self.answer.is_refused:
            self.error_awaited = "" if self.answer.errors.size else "being simulated"

    @property
    def cautions(self) -> list[str]:
        own = [] if self.answer.is_refused else [*map(escape, self.answer.warnings)]
        return [*super().cautions, *own]

    def brief(self) -> Brief:
        answer, unit = self.answer, self.facts.value_unit
        if not answer.errors.size:
            return self.brief_with(math.nan, math.nan, unit)
        return self.brief_with(answer.error, answer.within, unit)


# -- the scenario ---------------------------------------------------------------------------


def choices() -> None:
    """Draw the choice of a usual chart, which sets data and method together, or of each alone."""
    chart = answer.chart_of(session.source(TASK), session.current().mechanism_of(TASK)) or _OTHER
    options = list(answer.CHARTS)
    if chart == _OTHER:
        options.append(_OTHER)
    controls.bound(
        st.selectbox,
        "Chart",
        chart,
        _take,
        "percentile_chart",
        options=options,
        help="Sets data, percentiles and cut-offs as such charts have them.",
    )
    controls.source_choice(TASK)
    controls.mechanism_choice(TASK)


def _take(chart: str) -> None:
    if chart in answer.CHARTS:
        before = session.current().source_of(TASK)
        session.show_own(TASK, False)
        session.change_study(TASK, answer.chart_people(chart, before), answer.chart_method(chart))


# -- the blocks -----------------------------------------------------------------------------


def curves(view: Percentiles) -> None:
    """Draw nested shades of one release over the curves without protection."""
    answer = view.answer
    if answer.is_refused:
        st.error(
            words.refused(answer.facts, answer.verdict, view.budget, answer.people),
            icon=":material/block:",
        )
    look = controls.look(
        "Show", (_SHADES, _BANDS), "percentiles_show", label_visibility="collapsed"
    )
    view.draw_steps(
        "Percentile curves",
        "percentiles",
        460,
        320,
        look,
        lambda answer: charts.curves(answer, look == _BANDS),
    )
    solid = " Thin solid: true." if answer.truth is not None else ""
    st.markdown(
        f":small[Blue: one release, the middle curve bold. Dashed: without privacy.{solid}]"
    )
    view.say_steps("meaning", lambda answer: [components.Said(words.meaning(answer))])
    st.markdown(f":small[{view.mechanism.limit_of_band(view.facts)}]")
    view.complete()


def errors(view: Percentiles) -> None:
    """Show the error of every curve."""
    if view.answer.is_refused:
        return
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    if not view.answer.errors.size:
        st.markdown(":small[Errors are being simulated.]")
        return
    view.draw(
        "Errors",
        charts.errors(view.answer),
        "percentile_errors",
        90 + 44 * len(view.answer.names),
        below="Line: 95 % of releases.",
    )
    st.markdown(words.accuracy(view.answer))


def ranges(view: Percentiles) -> None:
    """Show the time in stated ranges, if limits are stated."""
    st.header("Time in range", anchor=False)
    if view.answer.is_refused:
        st.markdown("Nothing would be published at this ε.")
        return
    if view.answer.ranges is None:
        st.markdown(
            "State cut-offs such as 70, 180 under *All settings*: the share of "
            "observations in each range then follows from the same release, at no further "
            "cost."
        )
        return
    view.draw("Time in range", charts.ranges(view.answer), "ranges", 180, 160)
    for line in words.in_ranges(view.answer):
        st.markdown(f"- {line}")


def over_budgets(view: Percentiles) -> None:
    """Show the errors at other budgets."""
    st.header("What each budget would buy", anchor=False)
    if not view.answer.errors.size:
        st.markdown(":small[Errors are being simulated.]")
        return
    errors = view.awaited(
        "Errors at other budgets are being simulated.",
        errors_over_budgets,
        view.source,
        view.mechanism,
        view.budget.delta,
        view.settings.seed,
    )
    if errors is None:
        return
    steps, by_curve = with_present(
        BUDGET_STEPS, errors, view.budget.epsilon, view.answer.error_by_function
    )
    view.draw(
        "Errors over ε",
        charts.over_budgets(steps, by_curve, view.answer),
        "percentiles_over_budgets",
        340,
        320,
        below="Upright: you are here. Gaps: nothing would be released.",
    )


def planner_of(view: Percentiles) -> None:
    """Plan with the population, method, ε and δ of `view`: two choices, answered by simulation."""
    if not view.source.is_random:
        st.markdown(
            "A plan simulates its data, and nothing stands in for your own. Choose a "
            "simulated population with values like theirs."
        )
        return
    offered = [round(100 * float(level), 6) for level in view.answer.levels]
    percentile = view.settings.planned_percentile
    if percentile not in offered:
        percentile = offered[-1]
    target = view.settings.percentile_target or usual_target(view.facts)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.selectbox,
            "Curve",
            percentile,
            lambda chosen: session.change(planned_percentile=chosen),
            "planned_percentile",
            options=offered,
            format_func=_name,
        )
        controls.number(
            named("Error of at most", view.facts.value_unit),
            target,
            lambda error: session.change(percentile_target=allowed.target(error)),
            "percentile_target",
        )
    answer = _solved(view, percentile, target)
    if answer is not None:
        _say(view, answer, _name(percentile))


def _name(percentile: float) -> str:
    return f"{percentile:g} %"


def _solved(view: Percentiles, percentile: float, target: float) -> PlanningAnswer | None:
    """Simulate the answer; None if the method refuses."""
    with controls.refusals(":material/block:"):
        setting = PlannedStudy.of(
            view.source,
            view.mechanism,
            view.settings.epsilon,
            view.settings.delta,
            _name(percentile),
        )
        return run.answer(
            planning_topic.plan, setting, "people", target, view.settings.seed, steps=_STEPS
        )
    return None


def _say(view: Percentiles, answer: PlanningAnswer, name: str) -> None:
    box = st.success if answer.is_possible else st.error
    box(
        "  \n".join(
            [planning_words.verdict(answer, view.facts), *planning_words.fixes(answer, view.facts)]
        ),
        icon=":material/check:" if answer.is_possible else ":material/block:",
    )
    st.markdown(
        words.planned(
            name, answer.reached.error, answer.reached.within, answer.baseline, view.facts
        )
    )
    if answer.steps:
        steps = [planning_words.step(row, answer.unknown, view.facts) for row, _ in answer.rows()]
        layout.table([dict(zip(("with", "error"), step, strict=True)) for step in steps])
