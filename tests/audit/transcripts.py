"""Search over neighbouring data sets for mechanisms that release through `location.Site.send`.

Every release has noise of a scale fixed by earlier releases and public facts. So the releases are
replaced by values an adversary chooses, the same for two neighbours; what is recorded is how far
one curve moves the statistic behind each release, in units of its noise. Pairs are repeats of one
batch, so that hundreds are tried in one run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from engine import accounting
from engine.experiments import generator
from engine.location import Site
from engine.mechanisms import adaptive_coefficients, adaptive_mean
from engine.types import Array, Budget, CurveData, Spend
from tests.audit.neighbours import data_set, extreme_covariates, extreme_curves

BUDGET = Budget(40.0, 1e-3)  # large, because a small budget over 24 curves releases nothing
GRAM, SECOND_MOMENTS = -1, 5  # steps whose releases are symmetric matrices


@dataclass(frozen=True)
class Finding:
    """The largest shift of each release over its claimed μ, and of all over the budget's μ."""

    each: Array
    total: float


def pairs(tries: int, unequal: bool = False, n_covariates: int = 0, n_servers: int = 1
          ) -> CurveData:
    """Data sets 2k and 2k + 1 differ in one curve, which is extreme in at least one of them."""
    rng, usual = np.random.default_rng(5), data_set(1, unequal, n_covariates, n_servers)
    times, values = (np.repeat(a, 2 * tries, axis=0) for a in (usual.times, usual.values))
    covariates = None if usual.covariates is None else np.repeat(usual.covariates, 2 * tries, 0)
    ends = np.cumsum(usual.counts)
    for k in range(tries):
        curve = int(rng.integers(usual.n_curves))
        count = int(usual.counts[curve])
        own = slice(int(ends[curve]) - count, int(ends[curve]))
        first, second = next(extreme_curves(count, rng)), next(extreme_curves(count, rng))
        known = [extreme_covariates(n_covariates, rng) for _ in range(2)]
        if k % 2:
            second = (first[0], -first[1])  # opposite ends of the same clip
        if k % 4 == 1:
            known[1] = known[0]
        for row, (t, y), g in ((2 * k, first, known[0]), (2 * k + 1, second, known[1])):
            times[row, own], values[row, own] = t, y
            if covariates is not None:
                covariates[row, curve] = g
    return replace(usual, times=times, values=values, covariates=covariates)


def search(mechanism, tries: int = 300, unequal: bool = False, n_covariates: int = 0,
           n_servers: int = 1, budget: Budget = BUDGET) -> Finding:
    """Run the mechanism once on all pairs, with every release replaced by an adversary's.

    A pair's shift counts against the site it happens at; the largest over sites is kept.
    """
    rng, shifts, said = np.random.default_rng(9), {}, {}

    def note(server: int, step: int, statistic: Array, scale: Array) -> Array:
        moved = _shift(statistic, np.broadcast_to(scale, statistic.shape))
        shifts.setdefault(step, {})[server] = moved
        if (step, server) not in said:
            said[step, server] = _chosen(step, statistic[::2].shape, rng)
        return np.repeat(said[step, server], 2, axis=0)

    def send(site: Site, step: int, statistic: Array, scale: Array) -> Array:
        return note(site.index, step, statistic, scale)

    def send_gram(fit, s, curves, scale, n_plans, repeats):
        average = curves.regressors @ curves.regressors.swapaxes(1, 2) / curves.n_curves
        statistic = np.repeat(average[:, None], n_plans + 1, axis=1)
        released = note(s, GRAM, statistic, scale[:, None, None])
        released[..., 0, 0] = 1.0
        return released

    data = pairs(tries, unequal, n_covariates, n_servers)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Site, "send", send)
        patched.setattr(adaptive_coefficients._Fit, "_sent_gram", send_gram)
        for module in (adaptive_mean, adaptive_coefficients):
            patched.setattr(module, "_BLOCK", 10**9)  # all pairs in one piece
        estimate = mechanism.release_many(data, [(budget,)], 1, generator(1, 1, 0))
    return _finding(shifts, [s for s in estimate.spends[0] if s.server == 0], budget)


def _finding(shifts: dict[int, dict[int, Array]], spends: list[Spend], budget: Budget) -> Finding:
    """Shifts of every pair by step and server, against the claims of one server's ledger."""
    steps = sorted(shifts)
    every = np.stack([np.stack([shifts[step][s] for s in sorted(shifts[step])]) for step in steps])
    claimed = np.array([spend.mu for spend in spends])
    asked = accounting.exact_mu(budget.epsilon, budget.delta)
    return Finding(every.max(axis=(1, 2)) / claimed,
                   float(np.sqrt((every.max(axis=(1, 2)) ** 2).sum()) / asked))


def _shift(statistic: Array, scale: Array) -> Array:
    """μ of every pair at one release: (pairs,); infinite if its noise is not the same for both.

    The first column is the private one. Symmetric noise is quieter by √2 beside the diagonal, so
    there the Frobenius norm counts.
    """
    moved = statistic[::2, 0] - statistic[1::2, 0]
    if not (scale[::2, 0] == scale[1::2, 0]).all() or not np.isfinite(moved).all():
        return np.full(len(moved), np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        units = np.where(moved == 0, 0.0, moved / scale[::2, 0])
    return np.asarray(np.sqrt((units**2).reshape(len(units), -1).sum(axis=1)))


def _chosen(step: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Earlier outputs as an adversary might like them: ordinary, zero, tiny, huge, or negative."""
    size = rng.choice([0.0, 1e-6, 0.01, 0.3, 3.0, 1e3], size=(len(shape) and shape[0],))
    said = rng.standard_normal(shape) * size.reshape(-1, *[1] * (len(shape) - 1))
    return (said + said.swapaxes(-1, -2)) / 2 if step in (SECOND_MOMENTS, GRAM) else said
