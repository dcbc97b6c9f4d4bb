"""The sweep of a page: what is varied, what it would take, the points as they come, the files.

Any page can show it for its own task with `panel(task)`.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine.errors import InputError
from engine.experiments import Outcome, blocks, gather
from engine.exports import code_for, outcome_rows
from engine.exports import files as export
from engine.figures import sweeps as figures
from engine.identity import digest
from engine.rates import Rate, rates
from engine.running import effort
from engine.running.effort import Limits
from engine.running.sweep_jobs import Foreseen
from engine.scenario import Scenario
from engine.tasks import TASKS
from engine.types import Budget, PublicFacts
from engine.views import sweep_design
from engine.views.sweep_design import EPSILON, Axis
from engine.views.sweeps import PRIVACY, sweep_view
from engine.words import glossary, tags
from engine.words.grammar import escape, uncapital
from engine.words.numbers import number, with_unit
from pages.shared import (
    code_fold,
    controls,
    guarantee_cards,
    layout,
    session,
    settings,
    strips,
    timed,
)
from pages.shared import components as pieces
from pages.shared.jobs import Job
from pages.shared.progress import begin, duration, progress, visitor, warm_up
from pages.shared.sweep_choice import MOST_REPEATS, checked_repeats

LIMITS = Limits(minutes=3, gigabytes=0.5)
_NONE = ""
_POLL_SECONDS = 0.5
_FILE = "privacy-curves-sweep"


def problem() -> None:
    """Which problem is swept."""
    tasks = list(settings.MEMBERS)
    controls.bound(st.selectbox, "Problem", session.current().sweep.task,
                   lambda task: _choose(task=task, along=EPSILON, values=(), across=_NONE,
                                        levels=()),
                   "sweep_task", options=tasks, format_func=lambda task: TASKS[task].label,
                   help="What is estimated. Each problem has its own curves and methods.")


def strip(task: str) -> None:
    """The facts, the budgets of the sweep, and the errors of one that is done."""
    source = session.source(task)
    delta = session.delta(source, task)
    epsilons = _epsilons(task)
    highest = Budget(max(epsilons), delta)
    chip = tags.budget_chip(highest) if len(epsilons) == 1 else \
        f"ε from {min(epsilons):g} to {highest.epsilon:g}"
    strips.fixed(source.facts, chip, "sweeps_strip", strips.by_budget_alone(highest),
                 _errors(task), strips.unit_of(task, source.facts), strips.held_in(task),
                 highest.epsilon)


def _epsilons(task: str) -> tuple[float, ...]:
    """The ε of all cells: one unless ε is varied."""
    now = session.current()
    choice, of_axis = now.sweep, {now.sweep.across: now.sweep.levels, now.sweep.along:
                                  now.sweep.values}
    if EPSILON not in (choice.along, choice.across):
        return (now.epsilon,)
    axis = sweep_design.axes(session.source(task), now.mechanism_of(task), now.epsilon)[EPSILON]
    return of_axis[EPSILON] or (axis.usual() if choice.along == EPSILON else axis.usual()[::3])


def _errors(task: str) -> str:
    """Roots of the smallest and the largest mean squared error of a sweep that is done."""
    ran = st.session_state.get("sweep_ran")
    if ran is None or ran.task != task or ran.job.state != "done":
        return ""
    means = [point.mean for line in sweep_view(ran.outcomes(ran.job)).lines
             for point in line.points if point.mean > 0]
    if not means:
        return ""
    ends = " to ".join(number(math.sqrt(end)) for end in (min(means), max(means)))
    return f"{with_unit(ends, ran.facts.value_unit)} (root mean square)"


def formula(task: str) -> None:
    """What the method computes, and the error that is drawn."""
    guarantee_cards.formula(session.current().mechanism_of(task), {})
    st.markdown("Drawn is the mean over repeats of the squared distance from the truth:")
    st.latex(glossary.find("Integrated squared error").formula)


def code(task: str, chosen: Scenario | None) -> None:
    if chosen is not None:
        code_fold.show("sweeps", lambda own: code_for.sweep(chosen, own), task)


def panel(task: str) -> Scenario | None:
    """Axes, values and repeats; what that would take; the sweep itself; what is now chosen."""
    warm_up()
    chosen = _design(task)
    if chosen is not None:
        _offer(task, chosen)
    ran = st.session_state.get("sweep_ran")
    if ran is None or ran.task != task:
        layout.empty("The error at these values, and its table. Press *Run* to measure it.")
        return chosen
    if chosen is None or _key(ran.chosen) != _key(chosen):
        st.warning("These points are of earlier settings. Press *Run* for the present ones.",
                   icon=":material/history:")
    progress(ran.job, ran.draw, "Steps")
    with layout.user_errors():
        ran.files()
    return chosen


# -- what is varied -----------------------------------------------------------------------------


def _design(task: str) -> Scenario | None:
    """The controls and the scenario they make; None if it cannot be, with the reason shown."""
    now, source = session.current(), session.source(task)
    mechanism, choice = now.mechanism_of(task), now.sweep
    axes = sweep_design.axes(source, mechanism, now.epsilon)
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
    chosen = [(along, first), *([] if across is None else [(across, second)])]
    try:
        budget = Budget(now.epsilon, session.delta(source, task))
        return sweep_design.design(source, mechanism, budget, choice.repeats, now.seed, chosen)
    except InputError as reason:
        st.error(controls.message(reason), icon=":material/error:")
        return None


def _choose(**values: Any) -> None:
    session.change(sweep=replace(session.current().sweep, **values))


def _axis_choice(label: str, field: str, axis: Axis | None, axes: dict[str, Axis]) -> None:
    """Which axis; the values start again from usual ones."""
    of_axis = {"along": "values", "across": "levels"}[field]
    options = [*axes] if field == "along" else [_NONE, *axes]
    controls.bound(
        st.selectbox, label, axis.path if axis else _NONE,
        lambda path: _choose(**{field: path, of_axis: ()}), f"sweep_{field}", options=options,
        format_func=lambda path: _labelled(axes[path]) if path else "nothing: one line",
        help="Any number of the curves or the method, or ε.")


def _labelled(axis: Axis) -> str:
    group = axis.path.partition(".")[0]
    return axis.label if group == "budgets" else \
        f"{axis.label} · {'method' if group == 'mechanism' else 'curves'}"


def _values(axis: Axis, chosen: tuple[float, ...], field: str) -> tuple[float, ...]:
    """The values of an axis, which can be typed."""
    usual = axis.usual() if field == "values" else axis.usual()[::3]
    values = chosen or usual

    def write(text: str) -> None:
        typed = axis.read(text) if text.strip() else ()
        path = {"values": "along", "levels": "across"}[field]
        _choose(**{path: axis.path, field: () if typed == usual else typed})

    controls.bound(st.text_input, f"Values of {axis.label[0].lower()}{axis.label[1:]}",
                   ", ".join(f"{value:.6g}" for value in values), write,
                   f"sweep_{field}", max_chars=settings.LONGEST_TEXT,
                   help=f"Up to {sweep_design.MOST_VALUES} numbers; empty for the usual ones.")
    return values


# -- what it would take -------------------------------------------------------------------------


def _offer(task: str, chosen: Scenario) -> None:
    """Repeats, what the sweep would take, and the button that starts it."""
    is_random = chosen.source.is_random
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.number_input, "Fresh data sets each" if is_random else "Releases each",
            session.current().sweep.repeats,
            lambda repeats: _choose(repeats=checked_repeats(repeats)), "sweep_repeats", step=10,
            min_value=1, max_value=MOST_REPEATS, width=180,
            help="More repeats, smaller standard errors." if is_random else
                 "Real curves are the same every time; the noise is drawn afresh.")
        refusal = _refused(chosen)
        if st.button("Run", icon=":material/play_arrow:", key="sweep_run",
                     disabled=refusal is not None):
            st.session_state.sweep_ran = _started(task, chosen)
    if refusal is not None:
        st.error(controls.message(refusal), icon=":material/error:")
    else:
        _foreseen(chosen)


def _work(chosen: Scenario) -> list[Any]:
    return blocks(chosen.cells(), chosen.run)


def _refused(chosen: Scenario) -> InputError | None:
    """Why the sweep is not begun: too much memory, or too much time as last measured."""
    work, seen = _work(chosen), st.session_state.get("sweep_foreseen")
    try:
        effort.refuse_memory(work, work, 1, LIMITS)
    except InputError as reason:
        return reason
    if seen is None or seen.key != _estimate_key(chosen) or not seen.parts:
        return None
    minutes = seen.parts[0].seconds / 60
    if minutes <= LIMITS.minutes:
        return None
    return InputError(f"This would take about {minutes:.2g} minutes; the limit is "
                      f"{LIMITS.minutes:g}.", field="repeats",
                      hint="Take fewer repeats or values, or run the scenario on the command line.")


def _estimate_key(chosen: Scenario) -> str:
    return f"foresee {_key(chosen)} {visitor()}"


def _foreseen(chosen: Scenario) -> None:
    """Time and memory, timed in a worker meanwhile; a busy server gives none."""
    old = st.session_state.get("sweep_foreseen")
    if old is None or old.key != _estimate_key(chosen):
        if old is not None:
            old.stop()
        job = None
        with suppress(InputError):
            job = begin(f"foresee {_key(chosen)}", "engine.running.sweep_jobs:foresee", chosen,
                        total=1, is_shared=False)
        st.session_state.sweep_foreseen = job
    _estimate(chosen, st.session_state.sweep_foreseen)


def _estimate(chosen: Scenario, job: Job | None) -> None:
    live = job is not None and job.live
    points = f"{len(chosen.cells())} points"

    def said() -> None:
        if live and job is not None and not job.live:
            st.rerun()
        if job is not None and job.parts:
            st.markdown(f":small[{points}: {_takes(job.parts[0])}]")
        else:
            st.markdown(f":small[{points}. {'Timing a part of it…' if live else ''}]")

    timed.run(said, _POLL_SECONDS if live else None)


def _takes(foreseen: Foreseen) -> str:
    megabytes = max(1, round(foreseen.bytes / 1e6))
    return (f"about {duration(max(1.0, foreseen.seconds))} and at most about {megabytes} MB of "
            "memory, from timing a part of it.")


# -- the sweep ----------------------------------------------------------------------------------


def _key(chosen: Scenario) -> str:
    return digest((chosen.source, chosen.mechanism, chosen.budgets, chosen.run, dict(chosen.axes)))


def _started(task: str, chosen: Scenario) -> Ran | None:
    with layout.user_errors():
        is_own = chosen.source.facts.kind == "upload"
        job = begin(f"sweep {_key(chosen)}", "engine.running.sweep_jobs:run", chosen, LIMITS,
                    total=len(_work(chosen)), is_shared=not is_own)
        axes = sweep_design.axes(chosen.source, chosen.mechanism, chosen.budgets[0].epsilon)
        return Ran(job, task, chosen, {path: axes[path].label for path in chosen.axes},
                   _rate(task), chosen.source.facts)
    return st.session_state.get("sweep_ran")


def _rate(task: str) -> Rate | None:
    """The rate of Rates if it is about this problem, else the first that is."""
    chosen = session.current().rate
    if task in chosen.tasks:
        return chosen
    found = rates.for_task(task)
    return found[0]() if found else None


@dataclass(frozen=True)
class Ran:
    """A sweep that was asked for; it stays when the controls move."""

    job: Job
    task: str
    chosen: Scenario
    labels: dict[str, str]
    rate: Rate | None
    facts: PublicFacts

    @property
    def is_own(self) -> bool:
        return self.facts.kind == "upload"

    def outcomes(self, job: Job) -> list[Outcome]:
        return gather(self.chosen.cells(), list(job.parts))

    def draw(self, job: Job) -> None:
        """The points that are there, and their table."""
        if not job.parts:
            return
        view = sweep_view(self.outcomes(job), self.rate)
        chart = figures.along_axis(view, self.labels, self.facts.value_unit, layout.theme())
        pieces.chart(chart.spec, chart.alt, "chart_sweep", 400, 340)
        st.markdown(f":small[{self._caption(view)}]")
        failed = view.failures
        if failed:
            points = f"{len(failed)} of {len(self.chosen.cells())} points"
            st.warning(f"**{points} could not be run; the others went on.** " + " ".join(
                escape(text) for text in dict.fromkeys(failed)), icon=":material/warning:")
        layout.table(chart.table, self.is_own)

    def _caption(self, view: Any) -> str:
        run = self.chosen.run
        each = f"{run.repeats} fresh data sets each" if self.chosen.source.is_random else \
            f"{run.draws} releases of the same curves each"
        method = uncapital(self.chosen.mechanism.label)
        text = f"{each}, by {method}; bars: two standard errors. "
        if view.kind == PRIVACY:
            text += "The truth is not known: only the error from privacy noise is shown. "
        if any(line.theory is not None for line in view.lines):
            text += ("Dotted: the theory’s rate with two constants fitted to all points, one for "
                     "privacy and one for all else; compare slopes. ")
        if not all(p.is_published for line in view.lines for p in line.points):
            text += "Hollow: nothing useful would be published there."
        return text.strip()

    def files(self) -> None:
        """The results with their provenance, and the scenario that gives them again."""
        if self.is_own:
            st.markdown(":small[Results of your own curves stay in this session; there are no "
                        "files of them.]")
            return
        done = self.job.state == "done"
        why = None if done else "When the sweep is done."
        origin = outcome_rows.provenance(self.chosen, "serial")
        outcomes = self.outcomes(self.job) if done else []
        with st.container(horizontal=True):
            st.download_button(
                "Results (CSV)", (lambda: outcome_rows.as_csv(outcomes, origin)) if done else "",
                f"{_FILE}.csv", "text/csv", on_click="ignore", disabled=not done, help=why,
                icon=":material/table:", key="sweep_csv")
            st.download_button(
                "Results (JSON)",
                (lambda: outcome_rows.as_json(outcomes, origin, round(self.job.seconds, 3)))
                if done else "", f"{_FILE}-results.json", "application/json", on_click="ignore",
                disabled=not done, help=why, icon=":material/data_object:", key="sweep_json")
            st.download_button(
                "Scenario", export.scenario_json(dict(self.chosen.plain)), f"{_FILE}.json",
                "application/json", on_click="ignore", icon=":material/description:",
                key="sweep_scenario", help="A file for the command line.")
        st.markdown(":small[The same numbers, to the last bit, on the command line:]")
        st.code(f"python -m engine run {_FILE}.json --csv", language="bash")
