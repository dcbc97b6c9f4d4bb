"""Averages over curves of deviations that are first pulled into an ellipsoid.

ψ(h) = h · min(1, c/‖h/d‖₂) with a shape d (p entries) and a radius c: whatever a curve holds, its
ψ lies in {x : ‖x/d‖₂ ≤ c}. That is all the privacy of the releases built on these averages needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from engine.numerics.deviations import Deviations
from engine.types import Array

_BLOCK = 60_000  # entries of deviations worked on at once, to stay in cache
_TOGETHER, _MOST = 8, 1_000_000  # columns, and their entries, for which slopes are read only once


def average(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of ψ(h_i(a)).

    `centres` and `shape` are (repeats, columns, p), `radius` (repeats, columns). Returns
    (repeats, columns, p). Replacing one curve moves the mean by δ with ‖δ/d‖₂ ≤ 2c/n.
    """
    return _averaged(deviations, centres, shape, radius, _values)


def average_size(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of |ψ(h_i(a))|, entry by entry: (repeats, columns, p).

    |ψ|/d lies in the part of the ball where no entry is negative. Two such points are at most
    √2 c apart, so replacing one curve moves the mean by δ with ‖δ/d‖₂ ≤ √2 c/n.
    """
    return _averaged(deviations, centres, shape, radius, _sizes)


def average_products(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of (ψ/d)(ψ/d)': (repeats, columns, p, p).

    ‖xx' − yy'‖²_F = |x|⁴ + |y|⁴ − 2(x'y)² ≤ 2c⁴ for points of the ball of radius c, so replacing
    one curve moves the mean by at most √2 c²/n in Frobenius norm.
    """
    return _averaged(deviations, centres, shape, radius, _products)


def _averaged(deviations: Deviations, centres: Array, shape: Array, radius: Array,
              statistic: Callable[[Array, Array, Array], Array]) -> Array:
    def part(repeats: slice, columns: slice) -> Array:
        h = deviations.at(centres[repeats, columns], repeats, columns)
        factors = _factors(h, shape[repeats, columns], radius[repeats, columns])
        return statistic(h, factors, shape[repeats, columns])

    pieces = [np.concatenate([part(repeats, columns) for columns in across], axis=1)
              for repeats, across in _blocks(deviations, centres)]
    return np.concatenate(pieces) / deviations.n_curves


def _blocks(deviations: Deviations, centres: Array) -> Iterator[tuple[slice, list[slice]]]:
    """Cut repeats, or columns where one repeat is enough, into blocks that stay in cache.

    The slopes of many curves do not: then a few columns at a time share one pass over them.
    """
    repeats, columns, size = centres.shape
    entries = size * max(deviations.n_curves, 1)
    tall = max(1, _BLOCK // (entries * columns))
    wide = max(1, _BLOCK // entries, min(_TOGETHER, _MOST // entries))
    across = [slice(k, k + wide) for k in range(0, columns, wide)]
    for first in range(0, repeats, tall):
        yield slice(first, first + tall), across


def _factors(h: Array, shape: Array, radius: Array) -> Array:
    """min(1, c/‖h/d‖) for deviations (repeats, columns, p, curves): (repeats, columns, curves)."""
    with np.errstate(divide="ignore", over="ignore"):  # of 0: no clipping; of 1e300: clipped to 0
        squared = ((1 / shape**2)[..., None, :] @ (h * h))[..., 0, :]
        return np.minimum(1.0, radius[..., None] / np.sqrt(squared))


def _values(h: Array, factors: Array, shape: Array) -> Array:
    return np.asarray((h @ factors[..., None])[..., 0])


def _sizes(h: Array, factors: Array, shape: Array) -> Array:
    return _values(np.abs(h, out=h), factors, shape)


def _products(h: Array, factors: Array, shape: Array) -> Array:
    h *= factors[..., None, :]
    h /= shape[..., None]
    return np.asarray(h @ h.swapaxes(-1, -2))
