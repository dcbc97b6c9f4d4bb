"""Search over neighbouring data sets with the noise frozen.

A mechanism's noise has a scale fixed by public facts, so its privacy loss is a closed form of how
far one curve can move what is noised. The search therefore needs no sampling: it replaces one
curve by hundreds of extreme ones, at ordinary and extreme iterates, and measures the shift in
units of the noise actually declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.experiments import generator
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.types import Budget, CurveData, PublicFacts

BUDGET = Budget(1.0, 1e-3)
N_CURVES, M = 24, 4


@dataclass(frozen=True)
class Finding:
    """The largest shift found, over the claimed μ: 1 when the claim is attained, never more."""

    worst: float
    tried: int


def data_set(seed: int, unequal: bool = False) -> CurveData:
    rng = np.random.default_rng(seed)
    counts = np.full(N_CURVES, M)
    if unequal:
        counts[::3] = 2
    total = int(counts.sum())
    return CurveData(rng.random((1, total)), rng.normal(size=(1, total)), counts,
                     np.zeros(N_CURVES, int), PublicFacts(unit_scale=True, periodic=True))


def extreme_curves(count: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Worst-case curves: all points where a wave peaks, or anywhere; readings of any size."""
    peaks = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
    while True:
        times = rng.random(count) if rng.random() < 0.3 else np.full(count, rng.choice(peaks))
        kind = rng.integers(6)
        size = 10.0 ** rng.integers(0, 9)
        signs = rng.choice([-1.0, 1.0], size=count) if kind == 1 else rng.choice([-1.0, 1.0])
        values = np.full(count, size) * signs
        if kind == 2:
            values[rng.integers(count)] = rng.choice([np.nan, np.inf, -np.inf, 1e308])
        if kind == 3:
            times = times.copy()
            times[rng.integers(count)] = rng.choice([np.nan, np.inf, -1.0, 2.0])
        if kind == 4:
            values = np.full(count, rng.choice([0.0, -0.0, 5e-324]))
        yield times, values


def replaced(data: CurveData, curve: int, times: np.ndarray, values: np.ndarray) -> CurveData:
    stop = int(np.cumsum(data.counts)[curve])
    own = slice(stop - len(times), stop)
    new_times, new_values = data.times.copy(), data.values.copy()
    new_times[0, own], new_values[0, own] = times, values
    return CurveData(new_times, new_values, data.counts, data.server, data.facts)


def transcript(mechanism: NoisyGradientMean, data: CurveData, iterates: np.ndarray) -> np.ndarray:
    """What the server sends in every round, without noise, at frozen iterates: (rounds, r)."""
    plan = mechanism.plan(data, (BUDGET,))
    servers = mechanism._servers(data, mechanism.basis(plan.size, data.facts), plan.rounds, 1,
                                 generator(1, 1, 0))
    quiet = np.zeros((1, plan.size))
    return np.stack([
        mechanism.server_update(servers[0], t, plan.batch_sizes[0], iterates[t][None, None], quiet)
        [0, 0] for t in range(plan.rounds)])


def search(mechanism: NoisyGradientMean, tries: int = 400, unequal: bool = False) -> Finding:
    """The largest privacy loss found over neighbours, as a share of the claim."""
    rng = np.random.default_rng(7)
    data = data_set(1, unequal)
    plan = mechanism.plan(data, (BUDGET,))
    spend, = plan.spends
    worst = 0.0
    for _ in range(tries):
        iterates = rng.normal(size=(plan.rounds, plan.size)) * rng.choice([0.0, 1.0, 10.0])
        curve = int(rng.integers(N_CURVES))
        pair = [transcript(mechanism, replaced(data, curve, *ends), iterates)
                for ends in _opposite_ends(int(data.counts[curve]), rng)]
        worst = max(worst, _loss(pair[0] - pair[1], plan.scales[0], spend))
    return Finding(worst, tries)


def _opposite_ends(count: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two extreme curves; half of the time mirror images, which saturate opposite clips."""
    first, second = next(extreme_curves(count, rng)), next(extreme_curves(count, rng))
    return [first, (first[0], -first[1])] if rng.random() < 0.5 else [first, second]


def _loss(shift: np.ndarray, scales: np.ndarray, spend) -> float:
    """μ of the pair over the μ claimed for one person.

    Rounds that a person really takes part in add in squares, whatever the ledger believes.
    """
    if not np.isfinite(shift).all():
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        per_round = np.nansum((shift / scales) ** 2, axis=1)
    claimed = spend.mu**2 * (spend.count if spend.composition == "sequential" else 1)
    return float(np.sqrt(per_round.sum() / claimed))
