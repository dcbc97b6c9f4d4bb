"""Sums over people of clipped deviations, as whole numbers: exact in any order and in any parts.

A deviation h (p entries), a shape d and a radius c give z = h/(c d), clipped to ‖z‖ ≤ 1, and

    u = trunc(2⁴⁰ z),  U = Σ u,  V = Σ |u|;    v = trunc(2²⁰ z_m),  Q = Σ vv',

where z_m is h/(m d), clipped to ‖z_m‖ ≤ 1, for a radius m of its own.

*Norms.* ‖u‖ ≤ 2⁴⁰ and ‖v‖ ≤ 2²⁰ hold exactly, whatever h is. In floating point with unit roundoff
2⁻⁵³ the sum of p squares is at least (1 − p 2⁻⁵³) times the exact one up to underflow, which is
below 2⁻¹⁰⁰⁰ and matters only where ‖z‖ < 1; the root, the quotient 1/max(‖z‖, 1) and two products
add one rounding each. The factor 1 − (p + 8) 2⁻⁵³ pays for all of them. Scaling by 2⁴⁰ is exact,
and truncation moves each entry towards 0. A deviation with an entry that is no finite number is 0.

*Sensitivity.* Replacing one person's deviation by any other moves U by at most 2·2⁴⁰; the pair
(U, V) by at most 2·2⁴⁰, because |x|'|y| ≥ |x'y| holds for the whole points of a ball as for any;
V alone by at most √2·2⁴⁰, because no entry is negative; Q alone by at most √2·2⁴⁰ in Frobenius
norm, because ‖xx' − yy'‖² = |x|⁴ + |y|⁴ − 2(x'y)².

*Location and moments together.* Their joint bound uses that both are made of parallel vectors,
which u and v are no longer. So z and z_m are first multiplied by 1 − a for a = √(2p) 2⁻¹⁹. Without
truncation the pair then moves by at most 2(1 − a), in units of 2⁴⁰ for U and of √2·2⁴⁰ for Q. By
the triangle inequality truncation adds at most 2√p 2⁻⁴⁰ by u and, since ‖vv' 2⁻⁴⁰ − z_m z_m'‖ ≤
2√p 2⁻²⁰ for each of two people, 2√2 √p 2⁻²⁰ by v: together less than 2a, so the pair moves by at
most 2.

*Exactness.* In a block of at most 8192 people all partial sums of u, |u| and vv' are whole numbers
of at most 2⁵³, so floating point adds and multiplies them without rounding, in any order, with or
without fused operations. Blocks are added in two words of 64 bits, exact for 2⁴³ people. A mean is
a function of the total, so it is the same for every split of people into blocks and every order;
its few roundings move it by less than 2⁻⁵⁰ of its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array

LARGEST_BLOCK = 8192  # people
_BITS, _MOMENT_BITS = 40, 20
_LOW_BITS, _WORDS = 20, ("high", "low")  # of a total


class Kind(Enum):
    """What is averaged of the clipped deviations of all people."""

    LOCATION = "location"  # ψ
    SIZE = "size"  # |ψ|, entry by entry
    MOMENTS = "moments"  # (ψ/d)(ψ/d)'
    BEYOND = "beyond"  # shares of people with 1 < ‖h/d‖/c ≤ 2, and with more


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
    h: Array, shape: Array, radius: Array, kinds: tuple[Kind, ...], moments_radius: Array
) -> list[ExactSum]:
    """Sum whole numbers of a block of people, of each kind.

    Parameters
    ----------
    h : (repeats, columns, p, people)
        Deviations, at most `LARGEST_BLOCK` of them; used up.
    shape : (repeats, columns, p)
        d > 0.
    radius, moments_radius : (repeats, columns)
        c and m, above 0.

    Returns
    -------
    list of ExactSum
        (repeats, columns, …) each.
    """
    with np.errstate(all="ignore"):  # what is no finite number is seen to by `_norms`
        h /= (radius[..., None] * shape)[..., None]
    norms = _norms(h)
    if kinds == (Kind.BEYOND,):
        return [ExactSum.of(_beyond(norms))]
    reach = reach_of(kinds, h.shape[2])
    own = Kind.MOMENTS in kinds and bool((moments_radius != radius).any())
    of_moments = [h * (radius / moments_radius)[..., None, None]] if own else []
    u = truncated(h, norms, reach, _BITS)
    sums = []
    for kind in kinds:
        if kind is Kind.LOCATION:
            sums.append(u.sum(axis=-1))
        elif kind is Kind.SIZE:
            sums.append(np.abs(u).sum(axis=-1))
        else:
            for z in of_moments:
                u = truncated(z, _norms(z), reach, _BITS)
            v = np.trunc(u * 2.0 ** (_MOMENT_BITS - _BITS))  # trunc(2²⁰ z_m)
            sums.append(v @ v.swapaxes(-1, -2))
    return list(map(ExactSum.of, sums))


def mean_of(total: ExactSum, n: int, kind: Kind, shape: Array, radius: Array) -> Array:
    """The mean over n people in the unit of the deviations; of moments in units of the shape."""
    mean = total.mean(n)
    if kind is Kind.BEYOND:
        return mean
    mean = np.ldexp(mean, -_BITS)
    if kind is Kind.MOMENTS:
        return np.asarray(mean * (radius**2)[..., None, None])
    return np.asarray(mean * (radius[..., None] * shape))


def reach_of(kinds: tuple[Kind, ...], p: int) -> float:
    """How long clipped deviations of p entries may be: 1, or 1 − a as shown above."""
    is_joint = Kind.LOCATION in kinds and Kind.MOMENTS in kinds
    return 1.0 - is_joint * math.sqrt(2 * p) * 2.0**-19


def _norms(z: Array) -> Array:
    """‖z‖ of each person, (repeats, columns, people); z is 0 where that is no finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(np.einsum("...pk,...pk->...k", z, z))
    if not np.isfinite(norms).all():
        z[:] = np.where(np.isfinite(norms)[..., None, :], z, 0.0)
        norms[np.isnan(norms)] = 0.0
    return norms


def truncated(z: Array, norms: Array, reach: float, bits: int) -> Array:
    """trunc(2^bits z), z clipped to the reach; in its place."""
    most = np.ldexp(reach * (1 - (z.shape[-2] + 8) * 2.0**-53), bits)
    z *= (most / np.maximum(norms, 1.0))[..., None, :]
    return np.trunc(z, out=z)


def _beyond(norms: Array) -> Array:
    is_far = norms > 2.0
    return np.stack([((norms > 1.0) & ~is_far).sum(axis=-1), is_far.sum(axis=-1)], axis=-1) * 1.0
