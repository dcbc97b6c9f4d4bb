"""The parts of the page on sparse regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from engine.core.tasks import SPARSE_REGRESSION
from engine.core.types import Budget
from engine.language.numbers import number, whole
from engine.mechanisms.families.sparse import printed as sparse_printed
from engine.topics.brief import Brief
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse import charts, published, words
from engine.topics.sparse.answer import Rows, SparseEstimator
from engine.topics.sparse.intervals import (
    IntervalMethod,
    IntervalsAnswer,
    coverage_study,
    interval_mechanism,
    intervals_answer,
)
from engine.topics.sparse.intervals import machines as sparse_machines
from engine.topics.sparse.means import SparseMeanSetting
from engine.topics.sparse.means import trust as sparse_trust
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import rates as rate_cards
from pages.shared.frame import controls, layout
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import AnsweredView
from pages.shared.state import run, session
from pages.shared.state.settings import Settings

TASK = SPARSE_REGRESSION.key
_BASE_EPSILON = 0.8  # ε at the base point of the paper's tables
_AS_THEY_ARE, _DIFFERENCE = "Coefficients", "Difference"
_LIGHTS = {"green": st.success, "amber": st.warning, "red": st.error}
_ICONS = {
    "green": ":material/check_circle:",
    "amber": ":material/warning:",
    "red": ":material/block:",
}
_TARGETS = {"coordinates": "Each coefficient on its own", "band": "All of them together"}
_ALONG = {
    "epsilon": ("Privacy budget ε", (0.1, 0.3, 1.0, 3.0, 10.0)),
    "machines": ("Machines", (500, 1000, 2000, 8000, 32_000)),
    "rows": ("Rows on each machine", (100, 1000, 10_000, 100_000)),
    "size": ("Numbers in a row", (20, 50, 200, 800, 2000)),
}


class Coefficients(AnsweredView):
    """The coefficients of one regression on all machines."""

    page, fold_prefix, chart_prefix, task = "sparse", "sparse_", "sparse_", TASK
    asks = sparse_topic.sparse_answer
    answer: sparse_topic.SparseAnswer
    mechanism: SparseEstimator
    stated_delta = None  # the strip has the δ of every machine

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.sizes, self.tuning = self.answer.sizes, {}

    def brief(self) -> Brief:
        return self.brief_with(
            self.answer.error,
            self.answer.within,
            budgets=words.budget_line(self.budget, self.sizes.n_servers),
        )

    @property
    def cautions(self) -> list[str]:
        return [*super().cautions, *(words.warned(*each) for each in self.answer.warnings)]

    def details(self) -> list[Detail]:
        return [*_interval_details(self), *super().details()]


def _mechanism() -> SparseEstimator:
    mechanism = session.current().mechanism_of(TASK)
    assert isinstance(mechanism, SparseEstimator)
    return mechanism


def current_view() -> Coefficients | None:
    """Return the coefficients on screen; None, with the reason, if machines differ."""
    source = session.source(TASK)
    if isinstance(source, Rows) and source.n_own:
        st.info(
            "Machines differ here; see *When machines differ* below. Choose alike machines to "
            "see one set of coefficients.",
            icon=":material/info:",
        )
        machines(None)
        return None
    return Coefficients()


def choices() -> None:
    controls.source_choice(TASK)
    presets = sparse_topic.presets()
    controls.bound(
        st.selectbox,
        "Method",
        _mechanism().nearest_preset()[0],
        lambda label: session.change_mechanism(TASK, presets[label]),
        "sparse_method",
        options=[*presets],
        help="How features are chosen and coefficients estimated.",
    )


def coefficients(view: Coefficients) -> None:
    mode = controls.look(
        "Show",
        (_AS_THEY_ARE, _DIFFERENCE),
        "sparse_show",
        _DIFFERENCE,
        label_visibility="collapsed",
        help="Difference: coefficients less the true ones.",
    )
    view.draw(
        "Coefficients",
        charts.coefficients(view.answer, mode == _DIFFERENCE),
        "coefficients",
        360,
        320,
        below=words.legend(view.answer),
    )
    st.markdown(words.accuracy(view.answer))
    st.markdown(words.support(view.answer))
    layout.small(words.held_back(view.answer))
    if view.is_own:
        has_centre = view.mechanism.has_centre(view.facts)
        st.markdown(f":small[{controls.plain(words.units(view.facts, has_centre))}]")


def calculator(view: Coefficients) -> None:
    """Compare noise with signal, from public numbers alone."""
    st.header("Feasibility of selection", anchor=False)
    answer, smallest = view.answer, _smallest(view)
    outlook = sparse_topic.feasibility(
        view.mechanism, answer.sizes, view.facts, answer.budget, smallest
    )
    _LIGHTS[outlook.light](words.light(outlook), icon=_ICONS[outlook.light])
    st.markdown(f":small[{words.noise(outlook)} Known before any row is looked at.]")


def _smallest(view: Coefficients) -> float:
    """Return the smallest coefficient that matters: true for simulated rows, stated for own."""
    if not view.is_own:
        return float(np.abs(view.answer.target[view.answer.support]).min())
    unit = controls.plain(view.facts.value_unit or "response units")
    stated = controls.entered(
        f"The smallest coefficient that would matter ({unit})",
        "sparse_smallest",
        placeholder="σ",
        help="For one standard deviation of a feature. "
        "Yours to say, never read off the rows; σ unless you say.",
    )
    return stated if stated is not None and stated > 0 else view.facts.reading_sd


def over_budgets(view: Coefficients) -> None:
    st.header("What each budget would buy", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    lines = run.answer(
        sparse_topic.over_budgets,
        view.source,
        view.mechanism,
        view.budget.delta,
        view.settings.seed,
    )
    scenario = view.source, view.mechanism, view.budget.delta
    beside = (
        None
        if view.answer.truth is None or not view.source.is_random
        else rate_cards.beside(TASK, *scenario, lines.epsilons, next(iter(lines.private.values())))
    )
    with left:
        view.draw(
            "Errors over ε",
            charts.over_budgets(
                lines, view.budget.epsilon, None if beside is None else beside.lines
            ),
            "over_budgets",
            340,
            340,
            below=words.distance(view.answer),
        )
        if beside is not None:
            rate_cards.note(beside, *scenario, view.budget.epsilon)
    with right:
        st.markdown(words.over_budgets(lines))


def intervals(view: Coefficients) -> None:
    """Show confidence intervals of coefficients, at their full privacy cost."""
    st.header("Confidence intervals", anchor=False)
    controls.look(
        "Confidence level for", list(_TARGETS), "sparse_target", format_func=_TARGETS.__getitem__
    )
    answer = _intervals_on_screen(view)
    layout.caution(answer.warnings)
    if not answer.is_refused:
        is_error = False
        if answer.truth is not None:
            is_error = controls.look(
                "Draw",
                (True, False),
                "sparse_less",
                label_visibility="collapsed",
                format_func={True: "Error", False: "Estimate"}.get,
            )
        view.draw("Confidence intervals", charts.intervals(answer, is_error), "intervals", 360, 320)
        st.markdown(words.intervals(answer))
        st.markdown(f":small[{words.tests_of_zero(answer)}]")


def _interval_method(view: Coefficients) -> IntervalMethod:
    """Return the method of the intervals, at the confidence level on screen."""
    return interval_mechanism(view.mechanism, session.looked_at("sparse_target", list(_TARGETS)))


def _intervals_on_screen(view: Coefficients) -> IntervalsAnswer:
    return run.answer(intervals_answer, replace(view.study, mechanism=_interval_method(view)))


def _interval_details(view: Coefficients) -> list[Detail]:
    """List the details behind the intervals, for the drawer."""
    coverage = Detail(
        "interval_coverage",
        "Coverage of the intervals",
        lambda: _coverage(view),
        ("sparse_coverage",),
    )
    spent = Detail(
        "interval_ledger",
        "Privacy ledger of the intervals",
        lambda: guarantee_cards.ledger(_intervals_on_screen(view).spends, view.budget),
        ("sparse_interval_ledger",),
    )
    return [coverage, spent] if isinstance(view.source, Rows) else [spent]


def _coverage(view: Coefficients) -> None:
    """Show how often the intervals on screen contain the true coefficients, over 200 data sets."""
    assert isinstance(view.source, Rows)
    study = run.answer(coverage_study, replace(view.study, mechanism=_interval_method(view)))
    st.markdown(words.coverage(study, _intervals_on_screen(view).kind))


def machines(view: Coefficients | None) -> None:
    """Show machines that differ: a shared part and parts of their own."""
    source = session.source(TASK)
    if not isinstance(source, Rows) or source.n_servers == 1:
        return
    st.header("When machines differ", anchor=False)
    n_machine_specific = controls.look(
        "Features that matter on one machine only", range(1, 6), "sparse_own", max(source.n_own, 2)
    )
    budget = Budget(session.current().epsilon, session.delta(source, TASK).value)
    errors = run.answer(
        sparse_machines, replace(source, n_own=n_machine_specific), budget, session.current().seed
    )
    left, right = st.columns([7, 3], gap="medium")
    with left:
        chart = charts.machines(errors)
        layout.draw(chart, "sparse_machines", 320, 340)
        if view is not None:
            view.charts["Errors on every machine"] = chart
    with right:
        st.markdown(words.machines(errors))
        st.markdown(
            ":small[Besides those that matter everywhere. Every row is protected with the "
            "same budget in all three ways.]"
        )


def trust(view: Coefficients) -> None:
    """Compare trusted with untrusted servers, for sparse means of any size."""
    st.header("Trusted and untrusted servers", anchor=False)
    usual = SparseMeanSetting()
    layout.prose(
        f"A mean with few entries that are not zero: {usual.n_nonzero} of {usual.size}, "
        f"on {whole(usual.machines)} machines with {whole(usual.rows)} rows each, at "
        f"ε = {usual.epsilon:g}, but for what is moved."
    )
    name = controls.look(
        "Move", list(_ALONG), "sparse_along", format_func=lambda key: _ALONG[key][0]
    )
    label, values = _ALONG[name]
    errors, here, rates = run.answer(sparse_trust, name, values)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw(
            "Errors by who is trusted", charts.trust(errors, values, label, here), "trust", 380, 420
        )
    with right:
        st.markdown(words.trust(here, rates))
        st.markdown(
            ":small[One bit for a machine cannot tell means apart that are many standard "
            "errors from zero, as here: its error stays near that of always estimating 0.]"
        )


def paper(view: Coefficients) -> None:
    """Show the printed table with the printed noise beside ours, at the same sizes."""
    rows = sparse_topic.reported(published.table_2())
    st.markdown(words.paper(rows))
    layout.table(
        [
            {
                "rows each": int(line.row["n"]),
                "machines": int(line.row["m"]),
                "d": int(line.row["d"]),
                "s": int(line.row["s_star"]),
                "ε": line.row["eps"],
                "squared error, as published": line.row["err"],
                "noise/signal, printed constants": number(line.published.ratio),
                "noise/signal, ours": number(line.tight.ratio),
            }
            for line in rows
        ]
    )
    st.markdown(words.PAPER_BANDS)
    layout.table(
        [
            {
                "rows each": int(row["n"]),
                "machines": int(row["m"]),
                "d": int(row["d"]),
                "s": int(row["s_star"]),
                "ε": row["eps"],
                "length, as published": row["len"],
                "coverage, as published": row["cov"],
            }
            for row in published.table_5()
        ]
    )
    st.markdown(
        "What the printed pipelines would spend at the base point, each of their releases "
        f"taken at ε = {_BASE_EPSILON:g}, as it stands there:"
    )
    costs = sparse_printed.published_costs(
        _BASE_EPSILON, machines=15, per_machine=4000, size=800, rounds=10, draws=500
    )
    layout.table(
        [
            {
                "task": cost.task,
                "releases": f"{cost.releases:,}",
                "ε added up": f"{cost.added:,.1f}",
                "ε, tightly": number(cost.total),
            }
            for cost in costs
        ]
    )
