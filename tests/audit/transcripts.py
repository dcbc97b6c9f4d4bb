"""Search over neighbouring data sets for mechanisms that release through `location.Site.send`.

Every release has noise of a scale fixed by earlier releases and public facts. So the releases are
replaced by values an adversary chooses, the same for two neighbours; what is recorded is how far
one curve moves the statistic behind each release, in units of its noise. Pairs are repeats of one
batch, so that hundreds are tried in one run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from engine import accounting
from engine.experiments import generator
from engine.location import Site
from engine.mechanisms import adaptive_mean
from engine.types import Array, Budget, CurveData
from tests.audit.neighbours import data_set, extreme_curves

BUDGET = Budget(40.0, 1e-3)  # large, because a small budget over 24 curves releases nothing
FIRST_FIVE, SECOND_MOMENTS = range(5), 5


@dataclass(frozen=True)
class Finding:
    """The largest shift of each release over its claimed μ, and of all over the budget's μ."""

    each: Array
    total: float


def pairs(tries: int, unequal: bool = False) -> CurveData:
    """Data sets 2k and 2k + 1 differ in one curve, which is extreme in at least one of them."""
    rng, usual = np.random.default_rng(5), data_set(1, unequal)
    times, values = (np.repeat(a, 2 * tries, axis=0) for a in (usual.times, usual.values))
    ends = np.cumsum(usual.counts)
    for k in range(tries):
        curve = int(rng.integers(usual.n_curves))
        count = int(usual.counts[curve])
        own = slice(int(ends[curve]) - count, int(ends[curve]))
        first, second = next(extreme_curves(count, rng)), next(extreme_curves(count, rng))
        if k % 2:
            second = (first[0], -first[1])  # opposite ends of the same clip
        for row, (t, y) in ((2 * k, first), (2 * k + 1, second)):
            times[row, own], values[row, own] = t, y
    return CurveData(times, values, usual.counts, usual.server, usual.facts)


def search(mechanism, tries: int = 300, unequal: bool = False) -> Finding:
    """Run the mechanism once on all pairs, with every release replaced by an adversary's."""
    rng, shifts = np.random.default_rng(9), {}

    def send(site: Site, step: int, statistic: Array, scale: Array) -> Array:
        scale = np.broadcast_to(scale, statistic.shape)
        shifts[step] = np.maximum(shifts.get(step, 0.0), _shift(step, statistic, scale))
        said = _chosen(step, statistic[::2].shape, rng)
        return np.repeat(said, 2, axis=0)

    data = pairs(tries, unequal)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Site, "send", send)
        patched.setattr(adaptive_mean, "_BLOCK", 10**9)  # all pairs in one piece
        estimate = mechanism.release_many(data, [(BUDGET,)], 1, generator(1, 1, 0))
    claimed = np.array([spend.mu for spend in estimate.spends[0]])
    worst = np.array([shifts[step] for step in sorted(shifts)])
    asked = accounting.exact_mu(BUDGET.epsilon, BUDGET.delta)
    return Finding(worst / claimed, float(np.sqrt((worst**2).sum()) / asked))


def _shift(step: int, statistic: Array, scale: Array) -> float:
    """The largest μ of a pair at one release; infinite if its noise is not the same for both.

    The first column is the private one. Symmetric noise is quieter by √2 beside the diagonal, so
    there the Frobenius norm counts.
    """
    moved = statistic[::2, 0] - statistic[1::2, 0]
    if not (scale[::2, 0] == scale[1::2, 0]).all() or not np.isfinite(moved).all():
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        units = np.where(moved == 0, 0.0, moved / scale[::2, 0])
    return float(np.sqrt((units**2).reshape(len(units), -1).sum(axis=1).max()))


def _chosen(step: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Earlier outputs as an adversary might like them: ordinary, zero, tiny, huge, or negative."""
    size = rng.choice([0.0, 1e-6, 0.01, 0.3, 3.0, 1e3], size=(len(shape) and shape[0],))
    said = rng.standard_normal(shape) * size.reshape(-1, *[1] * (len(shape) - 1))
    return (said + said.swapaxes(-1, -2)) / 2 if step == SECOND_MOMENTS else said
