"""Changes that narrow the band of a release, or lower its error if it has none."""

from __future__ import annotations

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget, PublicFacts
from engine.mechanisms import Mechanism
from engine.topics.better import Change, Quantity, more_budget, other_method, statements
from engine.topics.release.preview import ReleasePreview


def changes(
    facts: PublicFacts, people: int, mechanism: Mechanism, budget: Budget, delta: float | None
) -> list[Change]:
    """List what the holder could state, another method of a mean curve, and ε.

    `delta` is δ as it was chosen, or None for the rule of all pages.
    """
    is_of_mean = mechanism.main_task is MEAN_FUNCTION
    method = other_method(facts, people, mechanism, budget, delta) if is_of_mean else []
    return [*statements(facts), *method, *more_budget(budget)]


def quantity(preview: ReleasePreview) -> Quantity:
    return Quantity.ERROR if preview.half_width is None else Quantity.BAND


def value(preview: ReleasePreview) -> float:
    """Half the width of the bands of a preview on average, or their error without bands."""
    return preview.error if preview.half_width is None else preview.half_width
