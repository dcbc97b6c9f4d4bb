"""Share of bands that miss the truth, for Audit and Rates: one question, two charts, words."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from engine.figures.theme import Chart
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import charts, words
from pages.shared.state import settings

Draw = Callable[[str, Chart, str], None]  # title, chart and key


def question(kind: str, current: settings.Settings) -> coverage_topic.Experiment:
    """Ask for limits of one kind, by the method and on the data of their own page."""
    task = coverage_topic.KINDS[kind].task
    source = current.studied(task)
    mechanism = coverage_topic.mechanism_for(
        kind, current.mechanism_of(task), current.evaluation_point
    )
    return coverage_topic.Experiment(
        kind,
        source,
        mechanism,
        current.budget_on(source, mechanism),
        current.seed,
        current.evaluation_point,
    )


def misses(
    experiment: coverage_topic.Experiment, batch: coverage_topic.CoverageAnswer, draw: Draw
) -> None:
    """Show limits as given beside naive ones, and what the count of misses means."""
    kind, unit = experiment.kind, experiment.source.facts.value_unit
    covered = words.what_is_covered(kind)
    if covered:
        st.markdown(covered)
    half = charts.common_half([batch.proper, batch.naive])
    for column, limits, title, key in zip(
        st.columns(2, gap="medium"),
        (batch.proper, batch.naive),
        words.titles(kind),
        ("proper", "naive"),
        strict=True,
    ):
        with column:
            st.subheader(title, anchor=False)
            draw(title, charts.repetitions(limits, half, kind, unit), key)
            st.markdown(words.misses(limits, kind, key == "naive"))
    st.markdown(words.widths(batch, kind))
    st.markdown(f":small[{words.legend(kind)}]")
