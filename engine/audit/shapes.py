"""Curves on a grid that may be the worst for a release of a whole function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.audit.laws import audited
from engine.core.tasks import COVARIANCE
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms.summaries.covariance import CovarianceSmoothing, CovarianceSummary
from engine.mechanisms.summaries.parts import Linear, Smoothing

_CLIMBS, _STEPS, _KEPT = 60, 25, 8  # of the search for couples
_SIZES = (1.0, 1.0, 1 + 1e-9, 0.2, 5.0, 1e5, 1e150)  # in units of the bound


@dataclass(frozen=True)
class Shapes:
    """Curves on a grid of K points that may be the worst."""

    some: Array  # (shapes, K): of any size
    # (K,): what other curves must be to lift means above thresholds, at its own size
    lifting: Array
    bound: float
    # (couples, 2, K): two curves each that move second moments far when they change places
    couples: Array

    def random_shape(self, rng: np.random.Generator) -> Array:
        return np.asarray(self.some[rng.integers(len(self.some))] * rng.choice([-1, 1]))

    def at_bound(self, shape: Array) -> Array:
        """Scale a shape to the bound; both (K,)."""
        return _sized(shape, self.bound)


def curves_of_pairs(
    mechanism: Any, usual: CurveData, budget: Budget, count: int, rng: np.random.Generator
) -> tuple[list[Array], NDArray[np.int64]]:
    """Values (count, n K) of both data sets of each pair, and which curve was replaced."""
    shapes = shapes_of(mechanism, usual, budget)
    n, size = usual.n_curves, shapes.some.shape[1]
    values = rng.normal(size=(2, count, n, size))
    values[1] = values[0]
    curve = rng.integers(n, size=count)
    for k in range(count):
        others, *ends = _ends(shapes, k, rng)
        if others is not None:
            values[:, k] = others
        values[:, k, curve[k]] = ends
    values += usual.facts.value_middle
    return [side.reshape(count, -1) for side in values], curve


def shapes_of(mechanism: Any, usual: CurveData, budget: Budget) -> Shapes:
    """Along s/b, where sums are largest; constant, a spike, jagged; along single functions."""
    n, grid = usual.n_curves, mechanism.grid(usual.facts)
    space = mechanism.space(grid, usual.sizes)
    smoothing = mechanism.smoothings(space.eigenvalues, n, n * budget.epsilon)[0]
    changes, shape = smoothing.differences(2 / n, 2 / n, n), mechanism.shape(space.eigenvalues)
    filtered = changes.moving * getattr(smoothing, "shrink", 1.0)
    worst = [filtered / scale for scale in (shape, np.maximum(changes.spectrum, 1e-12))]
    functions = space.basis(grid.points[:, 0]).T
    flat, places = np.ones(grid.size), np.arange(grid.size)
    some = [
        *(scale @ functions for scale in worst),
        space.analysis.sum(axis=1),
        flat,
        flat * (places == grid.size // 4),
        flat - 2 * (places % 2),
        *functions[:6],
        functions[-1],
    ]
    bound, used = mechanism.norm_bound(usual.facts), worst[mechanism.constants == "optimal"]
    return Shapes(
        np.array(some),
        bound * _lifting(smoothing, used, n) @ functions,
        bound,
        _couples_of(mechanism, usual, budget),
    )


def _couples_of(mechanism: Any, usual: CurveData, budget: Budget) -> Array:
    """Curves x and y for which the noise hides xx' − yy' least, by a climb: (couples, 2, K).

    Σ W_jk |xx' − yy'|_jk is the largest inner product of xx' − yy' with W under any signs. With
    the signs of a step fixed, the best x and y are the top and the bottom eigenvector, so that no
    step leads down. With Gaussian noise the sum is of squares, which is convex as well.
    """
    if mechanism.task != COVARIANCE.key:
        return np.empty((0, 2, 1))
    analysis, weights, is_euclidean = _in_noise(mechanism, usual, budget)
    reachable, stretch, _ = np.linalg.svd(analysis.T, full_matrices=False)
    reachable = reachable[:, stretch > 1e-9 * stretch[0]]
    back, rng = np.linalg.pinv(analysis.T), np.random.default_rng(1)
    climbs = [_climbed(weights, is_euclidean, reachable, rng) for _ in range(_CLIMBS)]
    best = sorted(climbs, key=lambda climb: -climb[0])[:_KEPT]
    return np.array([[back @ x, back @ y] for _, x, y in best])


def _in_noise(mechanism: Any, usual: CurveData, budget: Budget) -> tuple[Array, Array, bool]:
    """Map from curves to coefficients, and W: the filter over the noise, for full matrices."""
    summary = CovarianceSummary(mechanism, usual.sizes, usual.facts)
    plan = mechanism.plan(usual.public, (budget,))
    noise, smoothing = plan.noise[0][0][-1], plan.smoothings[0]
    assert isinstance(smoothing, CovarianceSmoothing)
    per_pair = smoothing.pairs.shrink / np.maximum(noise.scales, 1e-300)
    weights = summary.basis.matrices(per_pair * np.sqrt(summary.basis.multiplicity))
    is_euclidean = audited(noise.law).is_euclidean
    sides = np.where(np.eye(len(weights)), 1.0, 1.0 if is_euclidean else math.sqrt(0.5))
    return summary.space.analysis, weights * sides, is_euclidean


def _climbed(
    weights: Array, is_euclidean: bool, reachable: Array, rng: np.random.Generator
) -> tuple[float, Array, Array]:
    """The sum that a climb from anywhere reaches, and its x and y."""
    x, y = (reachable @ rng.standard_normal((2, reachable.shape[1], 1)))[..., 0]
    for _ in range(_STEPS):
        moved = np.outer(x, x) - np.outer(y, y)
        uphill = weights**2 * moved if is_euclidean else weights * np.sign(moved)
        vectors = reachable @ np.linalg.eigh(reachable.T @ uphill @ reachable)[1]
        x, y = vectors[:, -1], vectors[:, 0]
    moved = np.abs(np.outer(x, x) - np.outer(y, y))
    total = np.linalg.norm(weights * moved) if is_euclidean else (weights * moved).sum()
    return float(total), x, y


def _lifting(smoothing: Smoothing, worst: Array, n: int) -> Array:
    """Make curves n − 1 that lift two opposite means above all thresholds at once."""
    if isinstance(smoothing, Linear):
        return 0 * worst
    unit = worst / np.linalg.norm(worst)
    thresholds = getattr(smoothing, "thresholds", 0.0)
    return np.where(unit > 0, (n * thresholds + unit) / (n - 1) * (1 + 1e-9), 0.0)


def _sized(shape: Array, size: float) -> Array:
    """The shape (K,) with this root mean square."""
    return np.asarray(shape * (size / np.sqrt(np.mean(shape**2))))


def _extreme(shapes: Shapes, rng: np.random.Generator) -> Array:
    """A worst shape at the bound or far beyond it, wild numbers, or none in places."""
    curve: Array = shapes.at_bound(shapes.random_shape(rng)) * rng.choice(_SIZES)
    kind = rng.integers(8)
    if kind == 0:
        curve[rng.integers(len(curve), size=5)] = rng.choice([np.nan, np.inf, -np.inf, 1e308])
    if kind == 1:
        curve = rng.standard_normal(len(curve)) * 10.0 ** rng.integers(-3, 9)
    if kind == 2:
        curve = np.full(len(curve), rng.choice([0.0, 5e-324, np.nan, np.inf]))
    return curve


def _ends(shapes: Shapes, k: int, rng: np.random.Generator) -> tuple[Array | None, Array, Array]:
    """The curve of all others (None: ordinary ones), and two curves that replace each other."""
    count = len(shapes.some)
    if k % 3 == 1 and len(shapes.couples):
        x, y = shapes.couples[k // 3 % len(shapes.couples)]
        return None, shapes.at_bound(x), shapes.at_bound(y)
    if k < 3 * count:
        shape = shapes.at_bound(shapes.some[k % count])
        return (None, shape, shapes.lifting)[k // count], shape, -shape
    if k < 4 * count:
        before, after = shapes.some[k - 3 * count], shapes.some[k - 3 * count - 1]
        return None, shapes.at_bound(before), shapes.at_bound(after)
    first = _extreme(shapes, rng)
    second = (-first, first, _extreme(shapes, rng), shapes.at_bound(shapes.random_shape(rng)))[
        k % 4
    ]
    others = (None, shapes.at_bound(shapes.random_shape(rng)), _extreme(shapes, rng))[k % 3]
    return others, first, second
