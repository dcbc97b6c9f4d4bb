"""The fold that repeats the protocol of a published study on its synthetic twin."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.core.types import Budget
from engine.figures.theme import Chart
from engine.sources import Source
from engine.topics.holdout import charts
from engine.topics.holdout import words as holdout_words
from engine.topics.holdout.answer import PAPER_EPSILONS, holdout_study, release_range
from engine.topics.mean.charts import Method
from pages.shared import components
from pages.shared.frame import layout
from pages.shared.state import run, session


def fold(source: Source, budget: Budget, is_refused: bool) -> None:
    """Draw two charts, one below the other, only if the study's twin is shown."""
    if not source.trains_on_a_third:
        return

    def draw() -> None:
        _distances(source, budget)
        _runs(source, budget, is_refused)
        st.markdown(holdout_words.LICENSED)

    layout.folded(
        "As in the published study: a third trains, the rest is protected", "holdout", draw
    )


def _distances(source: Source, budget: Budget) -> None:
    """Draw held-out women against protected ones, at the budgets of the paper."""
    current, facts = session.current(), source.facts
    budgets = tuple(Budget(epsilon, budget.delta) for epsilon in PAPER_EPSILONS)
    study = run.answer(holdout_study, source, current.mechanism, budgets, current.seed)
    chart = charts.distances(study, Method.of(current.mechanism), facts.value_unit)
    _show(
        chart,
        "distances",
        holdout_words.holdout(facts, study.n_training, study.n_protected, study.n_iterations),
    )


def _runs(source: Source, budget: Budget, is_refused: bool) -> None:
    """Draw many runs on all women at the chosen budget."""
    if is_refused:
        st.markdown("Nothing would be published at this ε, so there are no runs to show.")
        return
    current, facts = session.current(), source.facts
    preview = run.answer(release_range, source, current.mechanism, (budget,), current.seed)
    chart = charts.runs(preview, 0, preview.n_runs, Method.of(current.mechanism), facts)
    _show(chart, "runs", holdout_words.runs(facts, budget, preview.n_runs, source.sizes.n_curves))


def _show(chart: Chart, key: str, words: str) -> None:
    """Draw a chart with its sentence, and its numbers at hand."""
    components.chart(chart.spec, chart.alt, f"chart_{key}", 320, 300)
    st.markdown(f":small[{words}]")
    with st.popover("Numbers", icon=":material/table:", key=f"numbers_{key}"):
        st.dataframe(pd.DataFrame(chart.table), height=220, hide_index=True)
