"""The attacker's game of Explore, in a lesson."""

from __future__ import annotations

from dataclasses import replace

from pages.parts.explore.scene import Scene
from pages.shared import components
from pages.shared.state import run, settings

_KEY = "lesson_game"
_REV = -1  # of no strip or figure of a page: where their sliders stand is not where this one begins


def show(seed: int) -> None:
    """The figure of Explore with the game open, at the curves and methods of the front page."""
    front = replace(settings.FRONT_PAGE, seed=seed, view="attack")
    delta = front.delta_on(front.source, front.mechanism).value
    preview = run.mean_at_every_step(front.source, front.mechanism, delta, seed)
    scene = Scene(preview, front.source, front)
    payload = scene.made_once("figure", lambda: components.figure_payload(
        scene.facts, scene.answer, scene.at_budgets))
    components.figure(_KEY, payload, components.Picked(scene.step, "attack"), _REV)
