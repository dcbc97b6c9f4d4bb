"""Results of each budget of the slider on Explore, by this method and by others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from engine.figures.theme import Chart
from engine.language import error_words, odds_words, quality
from engine.mechanisms import Mechanism, mechanisms
from engine.sources import Source
from engine.topics.mean import answer as mean_topic
from engine.topics.mean import charts
from engine.topics.rates.beside import Beside
from pages.parts.explore.scene import Scene
from pages.shared.cards import rates as rate_cards
from pages.shared.frame import timed
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session, settings

FEW = 3  # other methods on the chart of budgets; more lines cannot be told apart


def budgets(scene: Scene) -> None:
    """Show the error at every budget of the slider, beside that of other methods."""
    delta = session.current().delta_on(scene.source).value
    is_known = knows_methods(scene)
    has_rate = rate_cards.is_known(*_scenario(scene))
    chart, sentences = scene.made_once(
        f"bought {scene.step} {delta} {is_known} {has_rate}", lambda: _chart_and_sentences(scene)
    )
    st.subheader("Error at every budget", anchor=False)
    scene.draw("Errors at every budget", chart, "budgets", 340, 360)
    st.markdown("\n\n".join(sentences))
    if not is_known:
        timed.afterwards(
            "Other methods at the same budgets are being simulated.",
            lambda: run.answer(mean_topic.other_methods, *_arguments(scene)),
        )
    rate_cards.note(_beside(scene), *_scenario(scene), scene.budget.epsilon)
    st.markdown(
        ":small[Band: 95 % of releases. ◇ this budget. Dash-dotted: no unbiased method "
        "with Gaussian noise is below; biased ones can be. Gaps: nothing would be released. "
        f"Drawn: the {FEW} other methods with the smallest errors at this ε; *Numbers* has "
        "all of them.]"
    )


def _chart_and_sentences(scene: Scene) -> tuple[Chart, list[str]]:
    """Return the chart at one step of the slider, and the sentences beside it."""
    study, facts, here = scene.answer.study, scene.facts, scene.budget.epsilon
    chosen_method, every = methods(scene)
    others, beside = _least_errors(every, scene.step, 2 * facts.value_half_width), _beside(scene)
    drawn = {other.label for other in others}
    chart = charts.against_budget(
        scene.answer,
        scene.step,
        chosen_method,
        odds=scene.odds,
        others=others,
        floor=scene.floor if np.isfinite(scene.floor).any() else None,
        in_table=[m for m in every if m.label not in drawn],
        theory=None if beside is None else beside.lines,
    )
    when_free = error_words.when_free(scene.epsilons, scene.private_shares)
    if scene.is_refused:
        return chart, [when_free]
    typical = float(scene.error[scene.step])
    errors = {other.label: float(other.errors[scene.step]) for other in others}
    return chart, [
        quality.budget_ratio(
            facts,
            here,
            typical,
            study.baseline,
            scene.answer.error_at(here / 2),
            scene.answer.error_at(2 * here),
        ),
        when_free,
        quality.compared(typical, errors),
        odds_words.two_kinds(_deltas(scene, chosen_method, others)),
    ]


def _least_errors(
    methods: Sequence[charts.Method], step: int, useless_error: float
) -> list[charts.Method]:
    """Choose the few methods with the smallest errors at the present budget.

    An error of `useless_error` makes a method useless. If few methods are useful at that budget,
    the mean of their log errors over all budgets ranks those of equal rank.
    """

    def rank(method: charts.Method) -> tuple[float, float]:
        errors = np.where(
            np.isfinite(method.errors), np.minimum(method.errors, useless_error), useless_error
        )
        return float(errors[step]), float(np.log(errors).mean())

    few = {method.label for method in sorted(methods, key=rank)[:FEW]}
    return [method for method in methods if method.label in few]


def knows_methods(scene: Scene) -> bool:
    """True if the errors of other methods are ready."""
    return not uses_workers() or run.knows(mean_topic.other_methods, *_arguments(scene))


def _arguments(scene: Scene) -> tuple[Any, ...]:
    current = session.current()
    delta = current.delta_on(scene.source).value
    budgets = tuple(replace(budget, delta=delta) for budget in scene.answer.budgets)
    return settings.TASK, scene.source, current.mechanism, budgets, current.seed


def methods(scene: Scene) -> tuple[charts.Method, list[charts.Method]]:
    """Return the chosen method and the known others of the same task, as lines of the chart."""
    current = session.current()
    by_label = (
        run.answer(mean_topic.other_methods, *_arguments(scene)) if knows_methods(scene) else {}
    )
    others = [charts.Method.of(other, errors, label) for label, (other, errors) in by_label.items()]
    return charts.Method.of(current.mechanism, scene.error), others


def _deltas(
    scene: Scene, chosen_method: charts.Method, others: Sequence[charts.Method]
) -> dict[str, float]:
    """Return the δ of every method of the chart; the others use the default if they need one."""
    default = session.current().delta_on(scene.source).value
    return {chosen_method.label: scene.budget.delta} | {
        other.label: 0.0 if mechanisms.get(other.key).guarantee.is_pure else default
        for other in others
        if np.isfinite(other.errors[scene.step])
    }


def _scenario(scene: Scene) -> tuple[Source, Mechanism, float]:
    return scene.source, session.current().mechanism, scene.budget.delta


def _beside(scene: Scene) -> Beside | None:
    """Return the rate with fitted constants; values of a visitor's own curves never enter it."""
    source, mechanism, delta = _scenario(scene)
    has_rate = rate_cards.is_known(source, mechanism, delta)
    return scene.made_once(
        f"rate {delta} {has_rate}",
        lambda: rate_cards.beside(
            settings.TASK,
            source,
            mechanism,
            delta,
            scene.epsilons,
            scene.where_published(scene.error),
        ),
    )
