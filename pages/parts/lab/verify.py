"""Lab, *Verify*: an attack on what is claimed, coverage, and noise used twice."""

from __future__ import annotations

from pages.parts import audit as cards
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import page
from pages.shared.frame.drawer import Detail


def draw(estimand: Estimand) -> list[Detail]:
    """One of three checks; all are on simulated data."""
    view = page.look(cards.Audited)
    if view is not None:
        view.asks_for_budget = not estimand.has_budget
    page.cards(view, cards.parts, *([] if view is None else [cards.SECTIONS[view.now.part]]))
    return page.details(view)
