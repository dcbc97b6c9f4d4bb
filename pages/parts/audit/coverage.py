"""Repeated releases, and how many of their bands miss the truth."""

from __future__ import annotations

import streamlit as st

from engine.core.identity import digest
from engine.core.tasks import TASKS, Argument
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from pages.parts.audit.view import (
    Audited,
    coverage_experiment,
    kind_of_limits,
    slider,
    start,
    started_job,
)
from pages.shared.cards import limits as limit_cards
from pages.shared.frame import controls, layout
from pages.shared.frame.timed import progress
from pages.shared.server.jobs import Job
from pages.shared.state import allowed, session


def section(view: Audited) -> None:
    """Repeat releases, and show how many bands miss the truth."""
    layout.prose(coverage_words.INTRO)
    _limits(view)
    experiment = coverage_experiment(view)
    repeats = coverage_topic.REPEATS
    st.button(
        f"Repeat {repeats} times",
        icon=":material/play_arrow:",
        key="audit_repeat",
        on_click=begin,
        args=(view,),
    )
    controls.show_problem("audit")
    job = started_job(_repetitions_key(experiment))
    if job is None:
        layout.empty(
            f"How many of {repeats} bands miss the truth. Press *Repeat {repeats} "
            "times*: it takes some seconds."
        )
        return
    progress(job, lambda result: _misses(view, result), "Repetitions, ten at a time")


def _repetitions_key(experiment: coverage_topic.Experiment) -> str:
    return digest(("coverage", experiment))


def begin(view: Audited) -> None:
    experiment = coverage_experiment(view)
    total = coverage_topic.REPEATS // coverage_topic.EACH
    start(_repetitions_key(experiment), coverage_topic.repetitions, experiment, total=total)


def _limits(view: Audited) -> None:
    """Choose the limits, ε and, for limits at one place, the time."""
    chosen_kind = kind_of_limits(view.settings)
    names = {
        key: kind.label
        for key, kind in coverage_topic.KINDS.items()
        if kind.task == coverage_topic.KINDS[chosen_kind].task
    }
    kind = coverage_topic.KINDS[chosen_kind]
    left, right = st.columns(2, gap="medium")
    with left:
        controls.bound(
            st.selectbox,
            "Band or interval of",
            chosen_kind,
            lambda chosen: session.change(coverage_limits=chosen),
            "audit_limits",
            options=list(names),
            format_func=names.__getitem__,
            help="By the method and on simulated data of the estimand.",
        )
    with right:
        if not kind.is_joint and TASKS[kind.task].argument is Argument.TIME:
            controls.bound(
                st.slider,
                "At which time, from start (0) to end (1)",
                session.current().evaluation_point,
                lambda chosen: session.change(evaluation_point=allowed.point(chosen)),
                "audit_point",
                min_value=0.0,
                max_value=1.0,
                step=0.01,
            )
    if view.asks_for_budget:
        slider("Privacy budget ε")


def _misses(view: Audited, job: Job) -> None:
    batches = list(job.parts)
    if not batches:
        return
    batch = coverage_topic.CoverageAnswer.joined(batches)
    limit_cards.misses(
        coverage_experiment(view),
        batch,
        lambda title, chart, key: view.draw(title, chart, key, 320, 280),
    )
