"""A published protocol on one data set: a third of the curves judges releases of the others.

Nothing here is a release. Every number compares with curves that are not protected, and the same
curves are used again and again, so all of it stays on the curator's screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.grids import drawing_grid, quadrature
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, Estimate
from engine.mechanisms import Mechanism
from engine.sources import Source

PAPER_EPSILONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
ITERATIONS = RUNS = 100
_SPLIT_STREAM = 2  # beside those of data and noise
_ALL, _HALVES = 0, 1  # block numbers of the noise stream

Index = NDArray[np.int64]


@dataclass(frozen=True)
class HoldoutStudy:
    """Squared L2 distances (budgets, iterations) of releases from the training curves' average.

    Averaged over the time range, in squared response units; NaN where nothing would be published.
    `n_training` curves are not protected, `n_protected` are.
    """

    budgets: tuple[Budget, ...]
    squared_distances: Array
    n_training: int
    n_protected: int

    @property
    def n_iterations(self) -> int:
        return int(self.squared_distances.shape[1])

    @property
    def mean(self) -> Array:
        """The mean over iterations: (budgets,)."""
        return np.asarray(self.squared_distances.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """Standard error of the mean, over random splits of the same data: (budgets,)."""
        spread = self.squared_distances.std(axis=1, ddof=1)
        return np.asarray(spread / math.sqrt(self.n_iterations))


@dataclass(frozen=True)
class ReleaseRange:
    """`n_runs` runs on all curves: their pointwise mean and middle 90 %.

    `mean`, `low` and `high` (budgets, GRID_SIZE), NaN where nothing would be published, and
    `ordinary` (GRID_SIZE,), the curve without protection, are in response units at `times`
    (GRID_SIZE,), in their own unit.
    """

    budgets: tuple[Budget, ...]
    times: Array
    mean: Array
    low: Array
    high: Array
    ordinary: Array
    n_runs: int


def holdout_study(
    source: Source[CurveData],
    mechanism: Mechanism,
    budgets: Sequence[Budget],
    seed: int,
    iterations: int = ITERATIONS,
) -> HoldoutStudy:
    """Split one data set again and again; compare a third, unprotected, with the rest, protected.

    In each iteration a random third of every site's curves gives the average without protection,
    and the others go through the mechanism once at every budget, with the same noise. Simulated
    curves are drawn once, too: as in the paper, all iterations split the same data. Distances are
    squared, (budgets, iterations), NaN where nothing would be published. Distances are squared,
    (budgets, iterations), NaN where nothing would be published.

    Notes
    -----
    An illustration that must not be released: it takes in every curve many times, and those that
    train without any noise.

    References
    ----------
    Xue, Lin and Yu (2024), arXiv 2412.06582, section 6.
    """
    if iterations < 2:
        raise InputError(
            f"A standard error needs at least 2 iterations; got {iterations}.", field="iterations"
        )
    data = source.draw(1, generator(seed, DATA_STREAM, 0))
    splits = _splits(data, iterations, generator(seed, _SPLIT_STREAM, 0))
    rng, distances = generator(seed, NOISE_STREAM, _HALVES), np.empty((len(budgets), iterations))
    for members, training, protected in _alike(data, *splits):
        target = mechanism.without_protection(_taken(data, training))
        rest = _taken(data, protected)
        released = mechanism.release_many(rest, [(b,) for b in budgets], 1, rng)
        distances[:, members] = _squared_distances(released, target)
    published = _published(mechanism, rest, budgets)
    return HoldoutStudy(
        tuple(budgets),
        np.where(published[:, None], distances, np.nan),
        splits[0].shape[1],
        splits[1].shape[1],
    )


def release_range(
    source: Source[CurveData],
    mechanism: Mechanism,
    budgets: Sequence[Budget],
    seed: int,
    runs: int = RUNS,
) -> ReleaseRange:
    """Measure the range of `runs` releases of all curves of one data set, at every budget.

    Notes
    -----
    An illustration that must not be released: squares of μ add over runs on the same curves, so
    100 runs together cost 10 times the μ of one.
    """
    data, grid = source.draw(1, generator(seed, DATA_STREAM, 0)), drawing_grid()
    released = mechanism.release_many(
        data, [(b,) for b in budgets], runs, generator(seed, NOISE_STREAM, _ALL)
    )
    published = _published(mechanism, data, budgets)
    curves = np.where(published[:, None, None], released.values(grid)[:, 0], np.nan)
    low, high = np.quantile(curves, [0.05, 0.95], axis=1)
    return ReleaseRange(
        tuple(budgets),
        data.facts.from_unit_time(grid),
        curves.mean(axis=1),
        low,
        high,
        mechanism.without_protection(data).values(grid)[0, 0, 0],
        runs,
    )


def _published(mechanism: Mechanism, data: CurveData, budgets: Sequence[Budget]) -> Array:
    """True for each budget at which anything would be published: (budgets,)."""
    verdicts = [mechanism.feasibility(data.sizes, (budget,)) for budget in budgets]
    return np.array([verdict is None or verdict.is_feasible for verdict in verdicts])


def _splits(data: CurveData, iterations: int, rng: np.random.Generator) -> tuple[Index, Index]:
    """Draw training and protected curves, (iterations, …) each, by site and then by length.

    A third of each site's curves trains, rounded, so that the sizes of sites stay public.
    """
    n_curves = np.bincount(data.server)
    order = np.lexsort(
        (
            rng.random((iterations, data.n_curves)),
            np.broadcast_to(data.server, (iterations, data.n_curves)),
        )
    )
    rank = np.arange(data.n_curves) - np.repeat(np.cumsum(n_curves) - n_curves, n_curves)
    trains = rank < np.repeat(np.round(n_curves / 3), n_curves)
    if trains.all() or not trains.any():
        raise InputError(
            f"Splitting needs more curves; got {data.n_curves}.",
            field="n_curves",
            hint="Take at least two on some site.",
        )
    return _sorted(data, order[:, trains]), _sorted(data, order[:, ~trains])


def _sorted(data: CurveData, curves: Index) -> Index:
    order = np.lexsort((data.counts[curves], data.server[curves]))
    return np.take_along_axis(curves, order, axis=1)


def _alike(
    data: CurveData, training: Index, protected: Index
) -> Iterator[tuple[Index, Index, Index]]:
    """Group iterations whose curves have the same lengths as repeats: usually all of them.

    Equal lengths of the training curves make those of the others equal.
    """
    _, group = np.unique(data.counts[training], axis=0, return_inverse=True)
    for label in range(group.max() + 1):
        members = np.flatnonzero(group == label)
        yield members, training[members], protected[members]


def _taken(data: CurveData, curves: Index) -> CurveData:
    """Take some curves of one data set, in so many ways: `curves` (repeats, n), alike in length."""
    counts = data.counts[curves[0]]
    starts = (np.cumsum(data.counts) - data.counts)[curves]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    readings = np.repeat(starts, counts, axis=1) + within
    return replace(
        data,
        times=data.times[0, readings],
        values=data.values[0, readings],
        counts=counts,
        server=data.server[curves[0]],
    )


def _squared_distances(released: Estimate, target: Estimate) -> Array:
    """Compute ∫ (release − target)² over [0, 1]: (budgets, repeats)."""
    nodes, weights = quadrature()
    gap = released.values(nodes)[:, :, 0] - target.values(nodes)[0, :, 0]
    return np.asarray(gap**2 @ weights)
