"""Sweeps on Compare: what is varied, how long it takes, and the points as they come."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.exports import code_for
from engine.language import glossary, tags
from engine.language.grammar import uncapital
from engine.language.numbers import number, with_unit
from engine.rates import Rate, rates
from engine.simulation import effort, sweeps
from engine.simulation.effort import EffortLimits
from engine.simulation.experiments import blocks
from engine.simulation.scenario import Scenario
from engine.simulation.sweeps import Foreseen
from engine.topics.sweeps import answer as sweep_topic
from engine.topics.sweeps.answer import EPSILON, SweepAxis, sweep_view
from pages.parts.ran_sweep import Ran
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.frame import code_fold, controls, layout, strips, timed
from pages.shared.frame.page import View
from pages.shared.frame.timed import begin, duration, progress, visitor, warm_up
from pages.shared.server.jobs import Job
from pages.shared.state import session, settings
from pages.shared.state.sweep_choice import checked_repeats

LIMITS = EffortLimits(minutes=3, gigabytes=0.5)
_NONE = ""
_POLL_SECONDS = 0.5


def strip(task: str) -> None:
    """Show the facts, the budgets of the sweep, and the errors of a finished one."""
    source = session.source(task)
    delta = session.delta(source, task).value
    epsilons = _epsilons(task)
    highest = Budget(max(epsilons), delta)
    chip = (
        tags.budget_chip(highest)
        if len(epsilons) == 1
        else f"ε from {min(epsilons):g} to {highest.epsilon:g}"
    )
    method = session.current().mechanism_of(task)
    budgets = [Budget(epsilon, delta) for epsilon in {min(epsilons), highest.epsilon}]
    strips.fixed(
        source.facts,
        chip,
        "sweeps_strip",
        strips.by_method(method, source, *budgets),
        _errors(task),
        TASKS[task].unit,
        highest.epsilon,
        pins_here=False,
    )


def _epsilons(task: str) -> tuple[float, ...]:
    """Return the ε of all cells: one unless ε is varied."""
    current = session.current()
    choice = current.sweep
    of_axis = {choice.across: choice.levels, choice.along: choice.values}
    if EPSILON not in (choice.along, choice.across):
        return (current.epsilon,)
    axis = sweep_topic.axes(session.source(task), current.mechanism_of(task), current.epsilon)[
        EPSILON
    ]
    return of_axis[EPSILON] or (axis.default() if choice.along == EPSILON else axis.default()[::3])


def _errors(task: str) -> str:
    """Write the roots of the smallest and largest mean squared error of a finished sweep."""
    ran = st.session_state.get("sweep_ran")
    if ran is None or ran.task != task or ran.job.state != "done":
        return ""
    means = [
        point.mean
        for line in sweep_view(ran.outcomes(ran.job)).lines
        for point in line.points
        if point.mean > 0
    ]
    if not means:
        return ""
    ends = " to ".join(number(math.sqrt(end)) for end in (min(means), max(means)))
    return f"{with_unit(ends, ran.facts.value_unit)} (root mean square)"


class ShownSweep(View):
    """A sweep on a page, whose result shows its own numbers; `chosen` as in `panel`."""

    page, fold_prefix = "sweeps", "sweeps_"

    def __init__(self, task: str, scenario: Scenario | None) -> None:
        super().__init__()
        self.task, self.chosen = task, scenario

    def formula(self) -> None:
        """Show what the method computes, and the drawn error."""
        guarantee_cards.formula(self.settings.mechanism_of(self.task), {})
        st.markdown("Drawn is the mean over repeats of the squared distance from the truth:")
        st.latex(glossary.find("Integrated squared error").formula)

    def code(self) -> None:
        if scenario := self.chosen:
            code_fold.show(self.page, lambda: scenario, self.task, write=code_for.sweep)


def panel(task: str) -> Scenario | None:
    """Ask for axes, values and repeats; show their cost and the sweep; return the choice."""
    warm_up()
    scenario = _design(task)
    if scenario is not None:
        _offer(task, scenario)
    ran = st.session_state.get("sweep_ran")
    if ran is None or ran.task != task:
        layout.empty("The error at these values, and its table. Press *Run* to measure it.")
        return scenario
    if scenario is None or _key(ran.chosen) != _key(scenario):
        st.warning(
            "These points are of earlier settings. Press *Run* for the present ones.",
            icon=":material/history:",
        )
    progress(ran.job, ran.draw, "Steps")
    with layout.user_errors():
        ran.files()
    return scenario


# -- what is varied -----------------------------------------------------------------------------


def _design(task: str) -> Scenario | None:
    """Draw the controls and make their scenario; None, with the reason shown, if it is invalid."""
    current, source = session.current(), session.source(task)
    mechanism, choice = current.mechanism_of(task), current.sweep
    axes = sweep_topic.axes(source, mechanism, current.epsilon)
    along = axes.get(choice.along, axes[EPSILON])
    others = {path: axis for path, axis in axes.items() if path != along.path}
    across = others.get(choice.across)
    left, right = st.columns(2, gap="medium")
    with left:
        _axis_choice("Vary", "along", along, axes)
        first = _values(along, choice.values if along.path == choice.along else (), "values")
    with right:
        _axis_choice("A line for each", "across", across, others)
        second = () if across is None else _values(across, choice.levels, "levels")
    moved = [(along, first), *([] if across is None else [(across, second)])]
    with controls.refusals():
        budget = Budget(current.epsilon, session.delta(source, task).value)
        return sweep_topic.design(source, mechanism, budget, choice.repeats, current.seed, moved)
    return None


def _choose(**values: Any) -> None:
    session.change(sweep=replace(session.current().sweep, **values))


def _axis_choice(
    label: str, field: str, axis: SweepAxis | None, axes: dict[str, SweepAxis]
) -> None:
    """Choose the axis; the values start again from usual ones."""
    of_axis = {"along": "values", "across": "levels"}[field]
    options = [*axes] if field == "along" else [_NONE, *axes]
    controls.bound(
        st.selectbox,
        label,
        axis.path if axis else _NONE,
        lambda path: _choose(**{field: path, of_axis: ()}),
        f"sweep_{field}",
        options=options,
        format_func=lambda path: _labelled(axes[path]) if path else "nothing: one line",
        help="Any number of the curves or the method, or ε.",
    )


def _labelled(axis: SweepAxis) -> str:
    group = axis.path.partition(".")[0]
    return (
        axis.label
        if group == "budgets"
        else f"{axis.label} · {'method' if group == 'mechanism' else 'curves'}"
    )


def _values(axis: SweepAxis, entered: tuple[float, ...], field: str) -> tuple[float, ...]:
    """Draw the values of an axis, which can be typed."""
    default = axis.default() if field == "values" else axis.default()[::3]
    values = entered or default

    def write(text: str) -> None:
        typed = axis.read(text) if text.strip() else ()
        path = {"values": "along", "levels": "across"}[field]
        _choose(**{path: axis.path, field: () if typed == default else typed})

    name = "ε" if axis.path == EPSILON else uncapital(axis.label)
    controls.bound(
        st.text_input,
        f"Values of {name}",
        ", ".join(f"{value:.6g}" for value in values),
        write,
        f"sweep_{field}",
        max_chars=settings.LONGEST_TEXT,
        help=f"Up to {sweep_topic.MAX_VALUES} numbers; empty for the default ones.",
    )
    return values


# -- what it would take -------------------------------------------------------------------------


def _offer(task: str, scenario: Scenario) -> None:
    """Ask for repeats, show the cost of the sweep, and draw the button that starts it."""
    is_random = scenario.source.is_random
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.number(
            "Fresh data sets each" if is_random else "Releases each",
            session.current().sweep.repeats,
            lambda repeats: _choose(repeats=checked_repeats(repeats)),
            "sweep_repeats",
            is_whole=True,
            width=180,
            help="More repeats, smaller standard errors."
            if is_random
            else "Real curves are the same every time; the noise is drawn afresh.",
        )
        refusal = _refused(scenario)
        if st.button(
            "Run", icon=":material/play_arrow:", key="sweep_run", disabled=refusal is not None
        ):
            st.session_state.sweep_ran = _started(task, scenario)
    if refusal is not None:
        st.error(controls.message(refusal), icon=":material/error:")
    else:
        _foreseen(scenario)


def _work(scenario: Scenario) -> list[Any]:
    return blocks(scenario.cells(), scenario.run)


def _refused(scenario: Scenario) -> InputError | None:
    """Explain why the sweep cannot start: too much memory, or too much time as last measured."""
    work, estimate = _work(scenario), st.session_state.get("sweep_foreseen")
    try:
        effort.refuse_memory(work, work, 1, LIMITS)
    except InputError as reason:
        return reason
    if estimate is None or estimate.key != _estimate_key(scenario) or not estimate.parts:
        return None
    minutes = estimate.parts[0].seconds / 60
    if minutes <= LIMITS.minutes:
        return None
    return InputError(
        f"This would take about {minutes:.2g} minutes; the limit is {LIMITS.minutes:g}.",
        field="repeats",
        hint="Take fewer repeats or values, or run the scenario on the command line.",
    )


def _estimate_key(scenario: Scenario) -> str:
    return f"foresee {_key(scenario)} {visitor()}"


def _foreseen(scenario: Scenario) -> None:
    """Show time and memory, measured in a worker meanwhile; a busy server shows none."""
    old = st.session_state.get("sweep_foreseen")
    if old is None or old.key != _estimate_key(scenario):
        if old is not None:
            old.stop()
        job = None
        with suppress(InputError):
            job = begin(
                f"foresee {_key(scenario)}", sweeps.foresee, scenario, total=1, is_shared=False
            )
        st.session_state.sweep_foreseen = job
    _estimate(scenario, st.session_state.sweep_foreseen)


def _estimate(scenario: Scenario, job: Job | None) -> None:
    live = job is not None and job.live
    points = f"{len(scenario.cells())} points"

    def estimate() -> None:
        if live and job is not None and not job.live:
            st.rerun()
        if job is not None and job.parts:
            st.markdown(f":small[{points}: {_takes(job.parts[0])}]")
        else:
            st.markdown(f":small[{points}. {'Timing a part of it…' if live else ''}]")

    timed.run(estimate, _POLL_SECONDS if live else None)


def _takes(foreseen: Foreseen) -> str:
    megabytes = max(1, round(foreseen.bytes / 1e6))
    return (
        f"about {duration(max(1.0, foreseen.seconds))} and at most about {megabytes} MB of "
        "memory, from timing a part of it."
    )


# -- the sweep ----------------------------------------------------------------------------------


def _key(scenario: Scenario) -> str:
    return digest(
        (scenario.source, scenario.mechanism, scenario.budgets, scenario.run, dict(scenario.axes))
    )


def _started(task: str, scenario: Scenario) -> Ran | None:
    with layout.user_errors():
        is_own = scenario.source.facts.is_upload
        job = begin(
            f"sweep {_key(scenario)}",
            sweeps.run_scenario,
            scenario,
            LIMITS,
            total=len(_work(scenario)),
            is_shared=not is_own,
        )
        axes = sweep_topic.axes(scenario.source, scenario.mechanism, scenario.budgets[0].epsilon)
        return Ran(
            job,
            task,
            scenario,
            {path: axes[path].label for path in scenario.axes},
            _rate(task),
            scenario.source.facts,
        )
    return st.session_state.get("sweep_ran")


def _rate(task: str) -> Rate | None:
    """Return the rate on Rates if it is about this problem, else the first that is."""
    rate = session.current().rate
    if task in rate.tasks:
        return rate
    members = rates.for_task(task)
    return members[0]() if members else None
