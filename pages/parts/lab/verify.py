"""Lab, *Verify*: an attack on what is claimed, coverage, and noise used twice."""

from __future__ import annotations

from pages.parts import audit as cards
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import layout, page


def draw(estimand: Estimand) -> None:
    """One of three checks; all are on simulated data."""
    view = page.look(cards.Audited)
    if view is not None:
        cards.parts(view)
        page.cards(view, cards.SECTIONS[view.now.part])
        layout.chips(view.changed, layout.reset)
        page.end(view)
