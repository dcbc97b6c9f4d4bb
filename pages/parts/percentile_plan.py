"""How many people a percentile curve needs, in the drawer of Lab."""

from __future__ import annotations

import streamlit as st

from engine.core.errors import InputError
from engine.topics.percentiles import words
from engine.topics.planning import answer as planning_topic
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import PlanningAnswer, Setting, usual_target
from pages.parts.percentiles import Percentiles
from pages.shared.frame import controls, layout
from pages.shared.state import run, session, settings

_STEPS = 12  # measurements of most plans


def planner_of(view: Percentiles) -> None:
    """The question with its two choices, and its answer by simulation.

    Parameters
    ----------
    view : Percentiles
        Whose population, method, ε and δ the plan is for.
    """
    if not view.source.is_random:
        st.markdown("A plan simulates its data, and nothing stands in for your own. Choose a "
                    "simulated population with values like theirs.")
        return
    percentile, target = _percentile(view), _target(view)
    unit = f" ({view.facts.value_unit})" if view.facts.value_unit else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.selectbox, "Curve", percentile,
            lambda chosen: session.change(planned_percentile=chosen), "planned_percentile",
            options=_percentiles(view), format_func=_name)
        controls.bound(st.number_input, f"Error of at most{unit}", target, _aim,
                       "percentile_target", format="%g", step=None)
    answer = _solved(view, percentile, target)
    if answer is not None:
        _say(view, answer, _name(percentile))


def _percentiles(view: Percentiles) -> list[float]:
    return [round(100 * float(level), 6) for level in view.answer.levels]


def _percentile(view: Percentiles) -> float:
    """The one that was chosen; of other percentiles the highest."""
    chosen, offered = view.now.planned_percentile, _percentiles(view)
    return chosen if chosen in offered else offered[-1]


def _target(view: Percentiles) -> float:
    return view.now.percentile_target or usual_target(view.facts)


def _name(percentile: float) -> str:
    return f"{percentile:g} %"


def _aim(target: float | None) -> None:
    if target is None:
        raise InputError("A number is needed here.", field="percentile_target")
    session.change(percentile_target=settings.checked_target(target))


def _solved(view: Percentiles, percentile: float, target: float) -> PlanningAnswer | None:
    """The answer, with progress while it is simulated; None where the method refuses."""
    bar = st.empty()

    def tell(done: int) -> None:
        bar.progress(min(done / _STEPS, 0.95), text=f"Simulating: {done} numbers of people tried")

    try:
        setting = Setting.of(view.source, view.mechanism, view.now.epsilon, view.now.delta,
                             _name(percentile))
        return run.answer(planning_topic.plan, setting, "people", target, view.now.seed,
                          progress=tell)
    except InputError as problem:
        st.error(controls.message(problem), icon=":material/block:")
        return None
    finally:
        bar.empty()


def _say(view: Percentiles, answer: PlanningAnswer, name: str) -> None:
    box = st.success if answer.is_possible else st.error
    box("  \n".join([planning_words.verdict(answer, view.facts),
                     *planning_words.fixes(answer, view.facts)]),
        icon=":material/check:" if answer.is_possible else ":material/block:")
    st.markdown(words.planned(name, answer.reached.error, answer.reached.within, answer.baseline,
                              view.facts))
    if answer.steps:
        steps = [planning_words.step(row, answer.unknown, view.facts) for row, _ in answer.rows()]
        layout.table([dict(zip(("with", "error"), step, strict=True)) for step in steps])
