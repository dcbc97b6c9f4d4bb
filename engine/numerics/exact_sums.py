"""Sums over people of clipped deviations, as whole numbers: exact in any order and in any parts.

A deviation h (p entries), a shape d and a radius c give z = h/(c d), clipped to ‖z‖ ≤ 1, and

    u = trunc(2⁴⁰ z),  U = Σ u,  V = Σ |u|,  Q = Σ uu',

where Q may have a radius m ≤ c of its own.

*Norms.* ‖u‖ ≤ 2⁴⁰ holds exactly, whatever h is. In floating point with unit roundoff 2⁻⁵³ the sum
of p squares is at least 1 − p 2⁻⁵³ times the exact one up to underflow, which is below 2⁻¹⁰⁰⁰ and
matters only where ‖z‖ < 1; the root, the quotient 1/max(‖z‖, 1) and two products add one rounding
each. The factor 1 − (p + 8) 2⁻⁵³ pays for all of them. Scaling by 2⁴⁰ is exact, and truncation
moves each entry towards 0. A deviation with an entry that is no finite number is 0.

*Sensitivity.* So each person adds functions of a point of the ball of radius 2⁴⁰, and replacing one
person moves U by at most 2·2⁴⁰, V by at most √2·2⁴⁰, because no entry is negative, and Q by at most
√2·2⁸⁰ in Frobenius norm, because ‖xx' − yy'‖² = |x|⁴ + |y|⁴ − 2(x'y)². The proofs of
`engine.mechanisms.families.adaptive.location` for U with V, and for U with Q, hold for any two
points of a ball, so for whole ones. With a radius m < c truncation leaves the points of U and Q
parallel up to √p 2⁻⁴⁰ of their largest lengths, which moves the pair by less than √p 2⁻³⁷ in units
of its bound 2: far less than the rounding that `engine.noise.hardened` allows for.

*Exactness.* With u = 2²⁰ v + w, v = trunc(2⁻²⁰ u), is uu' = 2⁴⁰ vv' + 2²⁰ (vw' + wv') + ww'. In a
block of at most 8192 people all partial sums of u, |u|, vv', vw' and ww' are whole numbers of at
most 2⁵³, so floating point adds and multiplies them without rounding, in any order, with or without
fused operations. Blocks are added in two words of 64 bits, exact for 2⁴³ people. A mean is a
function of the totals, so it is the same for every split of people into blocks and every order;
its few roundings move it by less than 2⁻⁵⁰ of the largest one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array

LARGEST_BLOCK = 8192  # people
_BITS = 40
_LOW_BITS, _WORDS = 20, ("high", "low")  # of a total


class Statistic(Enum):
    """A statistic of clipped deviations that is averaged over people."""

    LOCATION = "location"  # ψ
    SIZE = "size"  # |ψ|, entry by entry
    MOMENTS = "moments"  # (ψ/d)(ψ/d)'
    BEYOND = "beyond"  # shares of people with 1 < ‖h/d‖/c ≤ 2, and with more
    # of people with ‖h/d‖/c ≤ 1, those above the centre less those below, by the first entry
    SIDES = "sides"


@dataclass
class ExactSum:
    """A total of whole numbers; those of parts merge to that of all."""

    high: NDArray[np.int64]
    low: NDArray[np.int64]

    @classmethod
    def of(cls, whole: Array) -> ExactSum:
        """Take whole numbers of at most 2⁵³, as a block sums them."""
        numbers = whole.astype(np.int64)
        return cls(numbers >> _LOW_BITS, numbers & (1 << _LOW_BITS) - 1)

    @classmethod
    def joined(cls, parts: Sequence[ExactSum]) -> ExactSum:
        """Put the totals of some repeats after those of others."""
        return cls(*(np.concatenate([getattr(each, word) for each in parts]) for word in _WORDS))

    def merge(self, other: ExactSum) -> None:
        """Add another total."""
        self.high += other.high
        self.low += other.low
        self.high += self.low >> _LOW_BITS
        self.low &= (1 << _LOW_BITS) - 1

    def mean(self, n: int) -> Array:
        """The total over n."""
        return np.asarray((np.ldexp(self.high.astype(float), _LOW_BITS) + self.low) / n)


def whole_sums(
    h: Array, shape: Array, radius: Array, kinds: tuple[Statistic, ...], moments_radius: Array
) -> list[ExactSum]:
    """Sum whole numbers of a block of people, (repeats, columns, …) of each kind; `h` is used up.

    A block has at most `LARGEST_BLOCK` people; d is `shape`, c and m are the radii, all above 0.
    """
    with np.errstate(all="ignore"):  # `_norms` sees to what is no finite number
        h /= (radius[..., None] * shape)[..., None]
        norms = _norms(h)
    if Statistic.BEYOND in kinds:
        return [ExactSum.of(_COUNTS[kind](h, norms)) for kind in kinds]
    own = Statistic.MOMENTS in kinds and bool((moments_radius != radius).any())
    of_moments = [h * (radius / moments_radius)[..., None, None]] if own else []
    u = truncated(h, norms)
    sums = []
    for kind in kinds:
        if kind is Statistic.LOCATION:
            sums.append(u.sum(axis=-1))
        elif kind is Statistic.SIZE:
            sums.append(np.abs(u).sum(axis=-1))
        else:
            for z in of_moments:
                with np.errstate(over="ignore", invalid="ignore"):
                    u = truncated(z, _norms(z))
            sums.append(_products(u))
    return list(map(ExactSum.of, sums))


def mean_of_numbers(blocks: Iterable[Array]) -> Array:
    """Average people's numbers within [−1, 1], (…, people) of each block, at least one."""
    return mean_of_parts([sum_of_numbers(blocks)])


def sum_of_numbers(blocks: Iterable[Array]) -> tuple[ExactSum | None, int]:
    """Sum people's numbers within [−1, 1], (…, people) of each block, and count the people.

    They are truncated to multiples of 2⁻⁴⁰. For one of n people replaced that moves no entry of
    their mean by more than 2⁻³⁹/n: far less than the rounding that `engine.noise.hardened` allows
    for.
    """
    total, n = None, 0
    for block in blocks:
        for first in range(0, block.shape[-1], LARGEST_BLOCK):
            numbers = block[..., first : first + LARGEST_BLOCK]
            sums = np.trunc(numbers * 2.0**_BITS).sum(axis=-1)
            if not np.isfinite(sums).all():  # what is no finite number adds nothing
                known = np.where(np.isfinite(numbers), numbers, 0.0)
                sums = np.trunc(known * 2.0**_BITS).sum(axis=-1)
            part = ExactSum.of(sums)
            if total is None:
                total = part
            else:
                total.merge(part)
        n += block.shape[-1]
    return total, n


def mean_of_parts(parts: Iterable[tuple[ExactSum | None, int]]) -> Array:
    """Average numbers of which `sum_of_numbers` summed parts, one at least with a block."""
    sums, people = zip(*parts, strict=True)
    total = merged([total for total in sums if total is not None])
    return np.asarray(np.ldexp(total.mean(sum(people)), -_BITS))


def merged(parts: Sequence[ExactSum]) -> ExactSum:
    """Add up the totals of parts."""
    total = ExactSum(parts[0].high.copy(), parts[0].low.copy())
    for part in parts[1:]:
        total.merge(part)
    return total


def mean_of_products(left: Array, right: Array, most: float) -> Array:
    """Average symmetric products x_j y_k of people, none above `most` in size: (…, K, K)."""
    k = left.shape[-2]
    out = np.empty((*np.broadcast_shapes(left.shape, right.shape)[:-1], k))
    for row in range(k):
        for column in range(row + 1):
            products = left[..., row, :] * right[..., column, :] / most
            out[..., row, column] = out[..., column, row] = most * mean_of_numbers([products])
    return out


def mean_of(total: ExactSum, n: int, kind: Statistic, shape: Array, radius: Array) -> Array:
    """The mean over n people in the unit of the deviations; of moments in units of the shape."""
    mean = total.mean(n)
    if kind in _COUNTS:
        return mean
    if kind is not Statistic.MOMENTS:
        return np.asarray(np.ldexp(mean, -_BITS) * (radius[..., None] * shape))
    high, cross, low = np.moveaxis(mean, 2, 0)
    cross = cross + cross.swapaxes(-1, -2)
    moments = (
        np.ldexp(high, -_BITS) + np.ldexp(cross, -_BITS - _LOW_BITS) + np.ldexp(low, -2 * _BITS)
    )
    return np.asarray(moments * (radius**2)[..., None, None])


def _norms(z: Array) -> Array:
    """‖z‖ of each person, (repeats, columns, people); z is 0 where that is no finite number."""
    norms: Array = np.sqrt(np.einsum("...pk,...pk->...k", z, z))
    if not np.isfinite(norms).all():
        z[:] = np.where(np.isfinite(norms)[..., None, :], z, 0.0)
        norms[np.isnan(norms)] = 0.0
    return norms


def truncated(z: Array, norms: Array) -> Array:
    """trunc(2⁴⁰ z), z clipped to the unit ball; in its place."""
    most = np.ldexp(1 - (z.shape[-2] + 8) * 2.0**-53, _BITS)
    z *= (most / np.maximum(norms, 1.0))[..., None, :]
    return np.trunc(z, out=z)


def _products(u: Array) -> Array:
    """Σ vv', Σ vw' and Σ ww': (repeats, columns, 3, p, p)."""
    high = np.trunc(u * 2.0**-_LOW_BITS)
    low = u - high * 2.0**_LOW_BITS
    transposed = low.swapaxes(-1, -2)
    return np.stack([high @ high.swapaxes(-1, -2), high @ transposed, low @ transposed], axis=-3)


def _beyond(h: Array, norms: Array) -> Array:
    is_far = norms > 2.0
    return np.stack([((norms > 1.0) & ~is_far).sum(axis=-1), is_far.sum(axis=-1)], axis=-1) * 1.0


def _sides(h: Array, norms: Array) -> Array:
    return np.asarray(-np.where(norms > 1.0, 0.0, np.sign(h[..., 0, :])).sum(axis=-1)[..., None])


_COUNTS = {
    Statistic.BEYOND: _beyond,
    Statistic.SIDES: _sides,
}  # of people, instead of their deviations
