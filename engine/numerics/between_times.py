"""Curves between a few common times: drawn from their values there, with a hull around the ways to.

Everybody was observed at the times s_1 … s_q, and these are too few to tell functions from each
other. What is released of the curve is then its values there, v = Φ(s) a with covariance V =
Φ(s) C Φ(s)'. Between and beyond the times four public maps, all linear in v, say what the curve
may be:

* the cubic spline through the values, without a knot at the second and the last but one; outside
  the times it goes on along its tangent. This one is drawn;
* the same with its cubic pieces carried on outside;
* the natural cubic spline, straight at both ends and outside;
* straight lines from value to value, carried on outside.

Straight lines and splines differ by about the curvature times an eighth of the squared gap. So the
curve itself measures what the times leave open, and where it bends little the four agree. Limits
are the outer ones of all four, and go outwards by a quarter of the distance between them
(`engine.core.bands`). At the times all four agree, and what everybody was asked is as certain as it
was released. Of three times the spline is the parabola, of two and of one there is one line. While
fewer functions are kept, which the times do tell apart, the first spline alone is drawn.

A feature shorter than the gap that it lies in leaves no trace, and the band misses it: that is said
beside every such band.

Curves of a period are joined at its ends: their times are repeated in periods before and after.

Everything here is computed from the release and from public facts. Tried on growth at nine ages
(300 to 3000 children, ε = 1 to 4): a prior for the size of unseen details gave half-widths of 4.7
to 14 cm, more for more children, and as many functions as times missed the curve in all releases,
as cosines overshoot between few times. Derived in this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import NORMAL, Readings
from engine.core.grids import quadrature, read_only
from engine.core.types import Design, Truth
from engine.numerics.bases import Basis
from engine.numerics.deviations import are_told_apart

_OUTWARDS = 0.25  # of the distance between the maps
_SPLINE_FROM = 4  # times; three have a parabola, two a line
_PERIODS = range(-4, 5)  # whose ends are too far to matter within the middle one
_SAME = 1e-9  # of the time range: times a period apart
_NEGLIGIBLE = 1e-9  # of the largest eigenvalue of a Gram matrix, or singular value


def interpolants(
    times: tuple[float, ...], places: Array, is_periodic: bool = False
) -> tuple[Array, ...]:
    """Evaluate the maps from values at few times to curves: (places, times) each, the drawn first.

    Examples
    --------
    >>> at = np.array([0.0, 0.5, 1.0])
    >>> [(rows @ np.array([0.0, 1.0, 0.0])).tolist() for rows in interpolants((0.0, 0.5, 1.0), at)]
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    """
    knots, values = np.array(times), np.eye(len(times))
    if is_periodic:
        knots, values = _repeated(knots, values)
    if len(knots) == 1:
        return (np.ones((len(places), 1)) @ values,)
    inside = np.clip(places, knots[0], knots[-1])
    beyond = (places - inside)[:, None]
    lines = _lines(knots, values, places)
    if len(knots) == 2:
        return (lines,)
    from scipy.interpolate import CubicSpline  # on first use: it takes a moment

    spline = CubicSpline(knots, values)
    drawn = spline(inside) + beyond * spline(inside, 1)
    maps = [drawn, lines]
    if len(knots) >= _SPLINE_FROM:
        natural = CubicSpline(knots, values, bc_type="natural")
        maps.append(natural(inside) + beyond * natural(inside, 1))
    if knots[0] > 0 or knots[-1] < 1:
        maps.append(spline(places))
    return tuple(maps)


def _repeated(knots: Array, values: Array) -> tuple[Array, Array]:
    """Repeat times and their values in the periods before and after; 0 and 1 are one time."""
    around = np.concatenate([knots + period for period in _PERIODS])
    order = np.argsort(around, kind="stable")
    apart = np.concatenate([[True], np.diff(around[order]) > _SAME])
    return around[order][apart], np.concatenate([values] * len(_PERIODS))[order][apart]


def _lines(knots: Array, values: Array, places: Array) -> Array:
    """Join values (q, k) by straight lines, the outer ones carried on: (places, k)."""
    left = np.clip(np.searchsorted(knots, places, side="right") - 1, 0, len(knots) - 2)
    share = ((places - knots[left]) / (knots[left + 1] - knots[left]))[:, None]
    return np.asarray((1 - share) * values[left] + share * values[left + 1])


def are_few(basis: Basis, design: Design) -> bool:
    """True where common times do not tell the functions from each other that a method may keep."""
    return bool(design.times) and not are_told_apart(basis, design)


@dataclass(frozen=True)
class BetweenTimes(Basis):
    """Functions of a basis at few common times, and the spline through their values elsewhere.

    Coefficients are those of the functions. Several of them may stand for one curve.

    Examples
    --------
    >>> basis = BetweenTimes(3, family="cosine", times=(0.0, 0.5, 1.0))
    >>> waves = Basis(3, family="cosine")
    >>> bool(np.allclose(basis(np.array(basis.times)), waves(np.array(basis.times))))
    True
    """

    times: tuple[float, ...] = ()  # s, on [0, 1]

    @classmethod
    def of(cls, basis: Basis, times: tuple[float, ...]) -> BetweenTimes:
        """Draw the curves of a basis between these times."""
        return cls(basis.size, basis.extension, times, family=basis.family)

    @property
    def kept(self) -> Basis:
        """The functions themselves."""
        return Basis(self.size, self.extension, family=self.family)

    @cached_property
    def at_times(self) -> Array:
        """Φ(s): (q, r)."""
        return self.kept(np.array(self.times))

    def __call__(self, times: Array) -> Array:
        """Values of the splines."""
        flat = np.ravel(times)
        rows = interpolants(self.times, flat, self.is_periodic)[0] @ self.at_times
        return np.asarray(rows.reshape(*np.shape(times), self.size))

    @property
    def gram(self) -> Array:
        return _gram(self)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The nearest spline, with the least coefficients that stand for it."""
        inner = self.coefficients(truth)
        best = inner @ np.linalg.pinv(self.gram, _NEGLIGIBLE, hermitian=True)
        return np.asarray(best), np.maximum(truth.energy - (inner * best).sum(axis=-1), 0.0)

    def squared_distance(self, difference: Array) -> Array:
        return np.asarray(((difference @ self.gram) * difference).sum(axis=-1))

    def readings(self, size: int, places: Array) -> Readings:
        """All ways to draw the curve; of functions that the times tell apart with end slopes.

        Fewer functions than times leave no more open between them, but they may smooth a slope away
        at the ends. The factor of a simultaneous band is found at the times: one for all ways of
        one reading.
        """
        kept, at = self.kept.first(size), np.array(self.times)
        values, tails = self.at_times[:, :size], kept.end_tails(size, at)
        ways = interpolants(self.times, places, self.is_periodic)
        are_apart = are_told_apart(kept, Design.common(self.times))
        are_open = size >= len(at) or not are_apart
        if not are_open and self._reaches_the_ends:
            ways = ways[:1]
        read = (values, values + tails) if are_apart and tails is not None else (values,)
        return Readings(
            tuple(way @ each for each in read for way in ways),
            tuple(each for each in read for _ in ways),
            _OUTWARDS if are_open else 0.0,
        )

    @property
    def _reaches_the_ends(self) -> bool:
        return self.is_periodic or (self.times[0] <= 0 and self.times[-1] >= 1)


def drawn_past(
    basis: Basis,
    times: tuple[float, ...],
    left_out: NDArray[np.bool_],
    centre: Array,
    covariance: Array,
) -> tuple[Array, Array]:
    """Put the curve at times that were left out where it is drawn between the others.

    Coefficients (…, r) and their covariance (…, r, r) were fitted at the other times alone, so that
    they say nothing at these. How far the ways to draw the curve lie from each other there, and
    outwards of them, counts as an error of 1.96 standard deviations. Where fewer functions than
    times are kept, or the other times tell them apart, functions themselves say how the curve runs,
    and nothing changes.
    """
    at, others = np.array(times), tuple(np.array(times)[~left_out].tolist())
    if basis.size < len(at) or are_told_apart(basis, Design.common(others)):
        return centre, covariance
    ways = np.array(interpolants(others, at, basis.is_periodic)) @ basis(np.array(others))
    to_coefficients = np.linalg.pinv(basis(at), _NEGLIGIBLE)
    redrawn = to_coefficients @ ways[0]
    spread = np.ptp(np.einsum("wqr,...r->w...q", ways, centre), axis=0)[..., left_out]
    doubt = to_coefficients[:, left_out] * ((0.5 + _OUTWARDS) / NORMAL * spread)[..., None, :]
    return (centre @ redrawn.T, redrawn @ covariance @ redrawn.T + doubt @ doubt.swapaxes(-1, -2))


@lru_cache(maxsize=64)
def _gram(basis: BetweenTimes) -> Array:
    nodes, weights = quadrature()
    values = basis(nodes)
    return read_only(values.T @ (weights[:, None] * values))
