"""Averages over curves of deviations that are first clipped to an ellipsoid.

ψ(h) = h · min(1, c/‖h/d‖₂) with a shape d (p entries) and a radius c: whatever a curve holds, its
ψ lies in {x : ‖x/d‖₂ ≤ c}. That is all the privacy of the releases built on these averages needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from engine.core.arrays import Array
from engine.numerics.clipping.norms import norm_clip_factors
from engine.numerics.deviations import Deviations

_BLOCK = 60_000  # entries of curves, or of deviations, worked on at once, to stay in cache
_MAX = 400_000  # entries of deviations, where a few curves have more than that in all columns
_LARGE = 3e7  # entries of deviations, from which two threads share them
_FEW = 16  # curves at least: fewer are mostly calls


def average(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of clipped deviations ψ(h_i(a)).

    Replacing one curve moves the mean by δ with ‖δ/d‖₂ ≤ 2c/n, because ψ lies in the ellipsoid
    whatever the curve holds.

    Parameters
    ----------
    centres : (repeats, columns, p)
        a, a column for every budget and draw.
    shape : (repeats, columns, p)
        d > 0, in the units of the deviations.
    radius : (repeats, columns)
        c > 0, in units of the shape.

    Returns
    -------
    (repeats, columns, p)
    """
    return _averaged(deviations, centres, shape, radius, _values)


def average_size(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of |ψ(h_i(a))|, entry by entry.

    |ψ|/d lies in the part of the ball where no entry is negative. Two such points are at most
    √2 c apart, so replacing one curve moves the mean by δ with ‖δ/d‖₂ ≤ √2 c/n.

    Returns
    -------
    (repeats, columns, p)
    """
    return _averaged(deviations, centres, shape, radius, _sizes)


def average_products(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Means over curves of (ψ/d)(ψ/d)'.

    ‖xx' − yy'‖²_F = |x|⁴ + |y|⁴ − 2(x'y)² ≤ 2c⁴ for points of the ball of radius c, so replacing
    one curve moves the mean by at most √2 c²/n in Frobenius norm.

    Returns
    -------
    (repeats, columns, p, p)
        In units of the shape, so without a unit.
    """
    return _averaged(deviations, centres, shape, radius, _products)


def average_with_size(
    deviations: Deviations, centres: Array, shape: Array, radius: Array
) -> tuple[Array, Array]:
    """`average` and `average_size` in one pass over the curves.

    Returns
    -------
    (repeats, columns, p), twice
    """
    p = centres.shape[-1]
    both = _averaged(deviations, centres, shape, radius, _values_and_sizes)
    return both[..., :p], both[..., p:]


def average_with_products(
    deviations: Deviations, centres: Array, shape: Array, radius: Array
) -> tuple[Array, Array]:
    """`average` and `average_products` in one pass over the curves.

    Returns
    -------
    (repeats, columns, p) and (repeats, columns, p, p)
    """
    both = _averaged(deviations, centres, shape, radius, _values_and_products)
    return both[..., 0], both[..., 1:]


def share_beyond(deviations: Deviations, centres: Array, shape: Array, radius: Array) -> Array:
    """Shares of curves with 1 < ‖h/d‖/c ≤ 2, and with more: (repeats, columns, 2).

    Each curve adds (0, 0), (1, 0) or (0, 1), two of which are at most √2 apart.
    """
    return _averaged(deviations, centres, shape, radius, _beyond)


def share_beyond_and_side(
    deviations: Deviations, centres: Array, shape: Array, radius: Array
) -> Array:
    """`share_beyond`, and of curves within the radius those above less those below the centre.

    Returns
    -------
    (repeats, columns, 3)
        By the sign of the first coefficient. Each curve adds ±1 at most to the third number, and
        nothing where it adds to one of the others.
    """
    return _averaged(deviations, centres, shape, radius, _beyond_and_side)


def _averaged(
    deviations: Deviations,
    centres: Array,
    shape: Array,
    radius: Array,
    statistic: Callable[[Array, Array, Array], Array],
) -> Array:
    arguments = (centres, shape, radius)
    if deviations.is_common and all((each == each[:, :1]).all() for each in arguments):
        centres, shape, radius = (each[:, :1] for each in arguments)  # one answer for all columns

    def part(repeats: slice, curves: Deviations) -> Array:
        h = curves.from_centres(centres[repeats], repeats)
        factors = _factors(h, shape[repeats], radius[repeats])
        return statistic(h, factors, shape[repeats])

    is_large = deviations.n_curves * centres[:1].size > _LARGE
    pieces = [
        _summed(partial(part, repeats), among, is_large)
        for repeats, among in _blocks(deviations, centres)
    ]
    mean = np.concatenate(pieces) / deviations.n_curves
    return np.broadcast_to(mean, (len(mean), arguments[0].shape[1], *mean.shape[2:]))


def _summed(
    part: Callable[[Deviations], Array], among: Sequence[Deviations], is_large: bool
) -> Array:
    """The parts of all blocks of curves, added in an order that does not hang on threads."""

    def half(first: int) -> Array:
        return np.asarray(sum(map(part, among[first::2])))

    if not is_large or len(among) == 1:
        return half(0) + half(1)
    with ThreadPoolExecutor(2) as pool:  # numpy computes without the interpreter's lock
        return np.asarray(sum(pool.map(half, (0, 1))))


def _blocks(deviations: Deviations, centres: Array) -> Iterator[tuple[slice, list[Deviations]]]:
    """Cut repeats, or the curves where one repeat has many, into blocks that stay in cache.

    All columns share one pass over the curves, whose entries are the largest array.
    """
    repeats, columns, size = centres.shape
    n, entries = deviations.n_curves, size * columns
    tall = max(1, _BLOCK // (entries * max(n, 1)))
    few = max(_FEW, min(_BLOCK // deviations.entries, _MAX // entries))
    among = (
        [deviations]
        if tall > 1 or n <= few
        else [deviations.among(slice(k, k + few)) for k in range(0, n, few)]
    )
    for first in range(0, repeats, tall):
        yield slice(first, first + tall), among


def _factors(h: Array, shape: Array, radius: Array) -> Array:
    """min(1, c/‖h/d‖) for deviations (repeats, columns, p, curves): (repeats, columns, curves)."""
    with np.errstate(over="ignore"):  # of 1e300: clipped to 0
        squared = ((1 / shape**2)[..., None, :] @ (h * h))[..., 0, :]
        return norm_clip_factors(np.sqrt(squared), radius[..., None])


def _values(h: Array, factors: Array, shape: Array) -> Array:
    return np.asarray((h @ factors[..., None])[..., 0])


def _beyond(h: Array, factors: Array, shape: Array) -> Array:
    is_far = factors < 0.5
    return np.stack([((factors < 1.0) & ~is_far).sum(axis=-1), is_far.sum(axis=-1)], axis=-1) * 1.0


def _beyond_and_side(h: Array, factors: Array, shape: Array) -> Array:
    side = np.where(factors < 1.0, 0.0, -np.sign(h[..., 0, :])).sum(axis=-1)
    return np.concatenate([_beyond(h, factors, shape), side[..., None]], axis=-1)


def _sizes(h: Array, factors: Array, shape: Array) -> Array:
    return _values(np.abs(h, out=h), factors, shape)


def _values_and_sizes(h: Array, factors: Array, shape: Array) -> Array:
    values = _values(h, factors, shape)
    return np.concatenate([values, _sizes(h, factors, shape)], axis=-1)


def _values_and_products(h: Array, factors: Array, shape: Array) -> Array:
    """Values in front, as a first column: (repeats, columns, p, 1 + p)."""
    values = _values(h, factors, shape)
    return np.concatenate([values[..., None], _products(h, factors, shape)], axis=-1)


def _products(h: Array, factors: Array, shape: Array) -> Array:
    h *= factors[..., None, :]
    return np.asarray(h @ h.swapaxes(-1, -2) / (shape[..., None] * shape[..., None, :]))
