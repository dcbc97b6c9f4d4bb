"""Search over neighbouring data sets with the noise frozen.

A mechanism's noise has a scale fixed by public facts, so its privacy loss is a closed form of how
far one curve can move what is noised. The search therefore needs no sampling: it replaces one
curve by hundreds of extreme ones, at ordinary and extreme iterates, and measures the shift in
units of the noise actually declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.descent import NoisyGradient
from engine.experiments import generator
from engine.types import Budget, Covariate, CurveData, PublicFacts

BUDGET = Budget(1.0, 1e-3)
N_CURVES, M = 24, 4


@dataclass(frozen=True)
class Finding:
    """The largest shift found, over the claimed μ: 1 when the claim is attained, never more."""

    worst: float
    tried: int


def data_set(seed: int, unequal: bool = False, n_covariates: int = 0, n_servers: int = 1
             ) -> CurveData:
    rng = np.random.default_rng(seed)
    counts = np.full(N_CURVES, M)
    if unequal:
        counts[::3] = 2
    total = int(counts.sum())
    facts = PublicFacts(unit_scale=True, periodic=True, covariates=tuple(
        Covariate(f"G{k}", -2.0, 6.0) for k in range(n_covariates)))
    data = CurveData(rng.random((1, total)), rng.normal(size=(1, total)), counts,
                     np.arange(N_CURVES) * n_servers // N_CURVES, facts)
    return replace(data, covariates=rng.uniform(-2.0, 6.0, (1, N_CURVES, n_covariates))
                   if n_covariates else None)


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


def extreme_covariates(n_covariates: int, rng: np.random.Generator) -> np.ndarray:
    """At the ends of the stated ranges, −2 and 6, far outside, inside, or no number at all."""
    if not n_covariates:
        return np.empty(0)
    if rng.random() < 0.7:
        return rng.choice([-2.0, 6.0], size=n_covariates)
    return rng.choice([-2.0, 6.0, 2.0, -1e9, 1e300, np.nan, np.inf], size=n_covariates)


def replaced(data: CurveData, curve: int, times: np.ndarray, values: np.ndarray,
             covariates: np.ndarray | None = None) -> CurveData:
    stop = int(np.cumsum(data.counts)[curve])
    own = slice(stop - len(times), stop)
    new_times, new_values = data.times.copy(), data.values.copy()
    new_times[0, own], new_values[0, own] = times, values
    changed = replace(data, times=new_times, values=new_values)
    if data.covariates is None:
        return changed
    new_covariates = data.covariates.copy()
    new_covariates[0, curve] = covariates
    return replace(changed, covariates=new_covariates)


def transcript(mechanism: NoisyGradient, data: CurveData, iterates: np.ndarray) -> np.ndarray:
    """What servers send in every round, without noise, at frozen iterates: (servers, rounds, p)."""
    plan = mechanism.plan(data, (BUDGET,) * data.sizes.n_servers)
    servers = mechanism._servers(data, mechanism.basis(plan.size, data.facts), plan.rounds, 1,
                                 generator(1, 1, 0))
    quiet = np.zeros((1, iterates.shape[1]))
    return np.stack([[mechanism.server_update(
        server, t, plan.batch_sizes[s], iterates[t][None, None], quiet)[0, 0]
        for t in range(plan.rounds)] for s, server in enumerate(servers)])


def search(mechanism: NoisyGradient, tries: int = 400, unequal: bool = False,
           n_covariates: int = 0, n_servers: int = 1) -> Finding:
    """The largest privacy loss found over neighbours, as a share of the claim of their server.

    It is infinite if one curve moves what another server sends.
    """
    rng = np.random.default_rng(7)
    data = data_set(1, unequal, n_covariates, n_servers)
    plan, worst = mechanism.plan(data, (BUDGET,) * n_servers), 0.0
    for _ in range(tries):
        iterates = rng.normal(size=(plan.rounds, plan.scales.shape[1])) * rng.choice(
            [0.0, 1.0, 10.0])
        curve = int(rng.integers(N_CURVES))
        one, other = (transcript(mechanism, replaced(data, curve, *ends), iterates)
                      for ends in _opposite_ends(int(data.counts[curve]), n_covariates, rng))
        own = data.server[curve]
        if (np.delete(one, own, axis=0) != np.delete(other, own, axis=0)).any():
            return Finding(np.inf, tries)
        worst = max(worst, _loss((one - other)[own], plan.scales[own], plan.spends[own]))
    return Finding(worst, tries)


def _opposite_ends(count: int, n_covariates: int, rng: np.random.Generator
                   ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Two extreme curves; half of the time mirror images, which saturate opposite clips."""
    first, second = next(extreme_curves(count, rng)), next(extreme_curves(count, rng))
    known = [extreme_covariates(n_covariates, rng) for _ in range(2)]
    if rng.random() < 0.5:
        return [(*first, known[0]), (first[0], -first[1], known[0])]
    return [(*first, known[0]), (*second, known[1])]


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
