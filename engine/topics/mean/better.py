"""Changes that make the error of a mean curve smaller."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

from engine.core.errors import InputError
from engine.core.types import Budget, CurveData, PublicFacts
from engine.language.grammar import escape
from engine.mechanisms import Mechanism
from engine.privacy.failure import usual_delta
from engine.simulation.metrics import root_mean_square
from engine.sources import Source
from engine.sources.twin import Twin, studied
from engine.topics.better import Change, more_budget, other_method, statements
from engine.topics.mean.answer import errors_and_shares

_QUICK = 200_000  # observations of one data set, up to which larger sizes are simulated


def changes(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, delta: float | None = None
) -> list[Change]:
    """List what could be stated of a file, larger simulated data, another method, and ε.

    `delta` is δ as it was chosen, or None for the rule of all pages.
    """
    return [
        *_stated(source),
        *_larger(source, budget),
        *other_method(source.facts, source.sizes.n_curves, mechanism, budget, delta),
        *more_budget(budget),
    ]


def error_after(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> float:
    """Measure the error that every page shows for this scenario; NaN if it is refused."""
    curves = studied(source)
    verdict = mechanism.feasibility(curves.sizes, (budget,))
    if verdict is not None and not verdict.is_feasible:
        return math.nan
    with suppress(InputError):
        errors, _ = errors_and_shares(curves, mechanism, (budget,), seed)
        return float(root_mean_square(errors[0].ravel()[None])[0])
    return math.nan


def _stated(source: Source[CurveData]) -> list[Change]:
    """State more of a file: the twin of its facts after it."""
    return [
        Change(change.do, {"source": Twin.of(facts, source.sizes)}, change.only_if)
        for change in statements(source.facts)
        if isinstance(facts := change.apply["facts"], PublicFacts)
    ]


def _larger(source: Source[CurveData], budget: Budget) -> list[Change]:
    """Double the people or the observations of simulated curves, if that is quick."""
    if not source.is_random or source.sizes.n_observations > _QUICK / 2:
        return []
    facts = source.facts
    names = {"n": facts.people, "m": "observations each"}
    found = []
    for symbol, name in names.items():
        parameter = next((p.name for p in source.parameters() if p.symbol == symbol), None)
        if parameter is None:
            continue
        number = 2 * getattr(source, parameter)
        with suppress(InputError):  # beyond what can be simulated
            larger = replace(source, **{parameter: number})
            after = {"source": larger, "budget": _by_rule(budget, source, larger)}
            found.append(Change(f"Take {number} {escape(name)}", after))
    return found


def _by_rule(budget: Budget, before: Source[CurveData], after: Source[CurveData]) -> Budget:
    """Return the budget with the usual δ of other sizes, if it had the usual one of these."""
    if budget.delta != usual_delta(before.sizes.n_curves):
        return budget
    return replace(budget, delta=usual_delta(after.sizes.n_curves))
