"""Errors of other methods at each budget of the slider."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.topics.mean import answer as mean_topic
from engine.topics.mean import charts
from pages.parts.explore.scene import Scene
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session, settings

FEW = 3  # other methods on the chart of budgets; more lines cannot be told apart


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
