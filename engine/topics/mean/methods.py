"""Possible releases of several methods on the same curves, for the view *Methods* of the figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget, CurveData
from engine.language import numbers
from engine.language.grammar import uncapital
from engine.language.quality import CHOOSE_BY_SIZES
from engine.mechanisms import Mechanism, mechanisms
from engine.privacy import risk
from engine.sources import Source
from engine.topics.mean.answer import MeanAnswer, mean_over_budgets
from engine.topics.mean.live import encoded, tagged

_DRAWS = 6  # of each method in its tile
_EVERY = 2  # of the points of a curve


@dataclass(frozen=True)
class Tile:
    """One method at every step of the slider."""

    label: str
    mechanism: Mechanism
    delta: float  # that of its own guarantee


def tiles(source: Source[CurveData], mechanism: Mechanism, delta: float) -> list[Tile]:
    """List the methods that serve the curves; the chosen one keeps its settings."""
    chosen, found = mechanism.nearest_preset()[0], []
    for cls in mechanisms.for_task(MEAN_FUNCTION.key):
        for label, settings in cls.presets_for(MEAN_FUNCTION.key):
            is_chosen = type(mechanism) is cls and label == chosen
            method = mechanism if is_chosen else cls(**settings).comparable(source.facts)
            found.append(Tile(label, method, method.suited(Budget(1.0, delta)).delta))
    return found


def released(
    source: Source[CurveData],
    mechanism: Mechanism,
    delta: float,
    seed: int,
    epsilons: Sequence[float],
) -> MeanAnswer | str:
    """Draw releases of one method as `mean_over_budgets` does; a refusal becomes its message."""
    try:
        return mean_over_budgets(source, mechanism, delta, seed, epsilons)
    except InputError as problem:
        return problem.message


def payload(
    shown: MeanAnswer, found: Mapping[Tile, MeanAnswer], chosen: str, group: int = 1
) -> dict[str, Any]:
    """Collect releases, errors and bounds of every method, as plain values.

    All methods have the curves and budgets of `shown`; a person has `group` curves.
    """
    facts = shown.facts
    return tagged(
        {
            "points": len(shown.times[::_EVERY]),
            "chosen": chosen,
            "note": CHOOSE_BY_SIZES if facts.is_upload else "",
            "headings": [heading(found, budget.epsilon) for budget in shown.budgets],
            "all": [_plain(tile, answer, shown, group) for tile, answer in found.items()],
        }
    )


def _plain(tile: Tile, answer: MeanAnswer, shown: MeanAnswer, group: int) -> dict[str, Any]:
    facts = shown.facts
    errors = np.where(answer.published, answer.study.error, np.nan).tolist()
    curves = (answer.releases[:, :_DRAWS] - shown.ordinary)[..., ::_EVERY]
    sent, scales = encoded(facts, curves)
    return {
        "label": tile.label,
        "family": "gradient" if tile.mechanism.family == "gradient" else "functional",
        "is_pure": tile.delta == 0,
        "errors": [error if math.isfinite(error) else None for error in errors],
        "texts": [
            numbers.in_unit(error, facts.value_unit) if math.isfinite(error) else ""
            for error in errors
        ],
        "bound": [risk.of_ledger(spends, group).right for spends in answer.spends],
        "curves": sent,
        "scales": scales,
    }


def heading(found: Mapping[Tile, MeanAnswer], epsilon: float) -> str:
    """State the smallest error at a budget, and whose it is; empty if nothing is published."""
    errors: dict[str, float] = {}
    for tile, answer in found.items():
        step = [budget.epsilon for budget in answer.budgets].index(epsilon)
        if answer.published[step]:
            errors[tile.label] = float(answer.study.error[step])
    if not errors:
        return ""
    facts = next(iter(found.values())).facts
    what = "distance from your own mean" if facts.is_upload else "error"
    best = min(errors, key=errors.__getitem__)
    least = numbers.in_unit(errors[best], facts.value_unit)
    return (
        f"At ε = {epsilon:g} the smallest {what} of {len(found)} methods is {least}: "
        f"{uncapital(best)}"
    )
