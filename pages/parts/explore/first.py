"""The figure of the front page as a bare address shows it, without a visitor."""

from __future__ import annotations

from typing import Any

from engine.privacy import risk
from pages.parts.explore import scene
from pages.shared import components
from pages.shared.cards import rules
from pages.shared.state import run
from pages.shared.state.settings import FRONT_PAGE, steps_of


def figure() -> dict[str, Any]:
    """What the figure of the first visit of anybody is sent."""
    front, shown = FRONT_PAGE, run.front_picture()
    facts, step = front.source.facts, steps_of(front.epsilon).index(front.epsilon)
    odds = [risk.of_ledger(spends, front.group) for spends in shown.spends]
    payload = components.figure_payload(facts, shown, scene.at_budgets(facts, shown, odds))
    return components.figure_message(
        payload, components.Picked(step, front.view), rev=1, new_noise=facts.is_simulated,
        with_truth="truth" in front.shown, anchors=rules.anchors(front.rule))
