"""A rate with fitted constants beside the errors of a simulated study, at several budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.types import Array, Budget, CurveData
from engine.mechanisms import Mechanism
from engine.rates import Rate
from engine.rates.differing_sites import Bound
from engine.rates.fitted import FittedRate, fit, of_problem, public_point
from engine.simulation import studies
from engine.simulation.metrics import root_mean_square
from engine.sources import Source
from engine.topics.mean.answer import errors_and_shares

FITTED, LOWER = "Rate, constants fitted", "Lower bound, same constants"
_STEPS = studies.EPSILON_STEPS[3::4]  # at which curves from stated facts are simulated


@dataclass(frozen=True)
class Beside:
    """A fitted rate at some budgets."""

    fitted: FittedRate  # with its constants, and how far measured errors are from it
    point: Mapping[str, float]  # symbols of the rate but for ε, which varies
    # mapping of str to (budgets,): by their names in legends: the rate, and for sites that differ
    # the lower bound, as distances in response units
    lines: Mapping[str, Array]


def beside_errors(
    task: str,
    source: Source[Any],
    mechanism: Mechanism,
    delta: float,
    epsilons: Sequence[float],
    errors: Array,
    rate_epsilons: Sequence[float] = (),
) -> Beside | None:
    """Fit the constants of a problem's rate to simulated errors (epsilons,), NaN if not published.

    None if the problem has no rate in public sizes, or too little is published.
    """
    smoothness = getattr(mechanism, "smoothness", None)
    rate = of_problem(task, source, **({} if smoothness is None else {"smoothness": smoothness}))
    point = None if rate is None else public_point(rate, source, Budget(1.0, delta))
    if rate is None or point is None:
        return None
    fitted = fit(
        rate, {**point, "epsilon": np.asarray(epsilons, dtype=float)}, np.asarray(errors) ** 2
    )
    if fitted is None:
        return None
    lines = _distances(fitted, point, np.asarray(rate_epsilons or epsilons, dtype=float))
    return Beside(fitted, point, lines)


def _distances(fitted: FittedRate, point: Mapping[str, float], epsilons: Array) -> dict[str, Array]:
    """Compute the rate and its lower bound over the fitted range; NaN beyond it."""
    low, high = fitted.ranges["epsilon"]
    is_inside = (low <= epsilons) & (epsilons <= high)
    at: dict[str, float | Array] = {**point, "epsilon": epsilons}

    def inside(squares: Array) -> Array:
        return np.where(is_inside, np.sqrt(squares), np.nan)

    lines = {FITTED: inside(fitted.squares(**at))}
    rate = fitted.weighted.rate
    if rate.has_differing_sites:
        changed: dict[str, Any] = {"bound": Bound.LOWER}
        below: Rate = replace(rate, **changed)
        lines[LOWER] = inside(fitted.bound(below, **at))
    return lines


def simulated_errors(
    source: Source[CurveData], mechanism: Mechanism, delta: float, seed: int
) -> tuple[tuple[float, ...], Array]:
    """Simulate a small study of a mean curve: some ε, and root mean squared distances there.

    For curves that are one's own, of which a twin is simulated from public sizes and stated facts:
    no constant is fitted to data.
    """
    budgets = [Budget(epsilon, delta) for epsilon in _STEPS]
    verdicts = [mechanism.feasibility(source.sizes, (budget,)) for budget in budgets]
    is_published = np.array([verdict is None or verdict.is_feasible for verdict in verdicts])
    errors = root_mean_square(
        errors_and_shares(source, mechanism, budgets, seed)[0].reshape(len(budgets), -1)
    )
    return _STEPS, np.where(is_published, errors, np.nan)
