"""Lab, *Verify*: an attack on what is claimed, coverage, and noise used twice."""

from __future__ import annotations

from pages.parts import audit
from pages.parts.lab.estimands import Estimand
from pages.shared.frame import page
from pages.shared.frame.drawer import Detail


def draw(estimand: Estimand) -> list[Detail]:
    """One of three checks; all are on simulated data."""
    view = page.look(audit.Audited)
    page.cards(view, audit.parts, *([] if view is None else [audit.SECTIONS[view.now.part]]))
    return page.details(view)
