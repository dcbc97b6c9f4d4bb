"""Percentile curves, bands and time in range from released shares below threshold curves.

A release tells, at every time, which share F of readings lies below each of K threshold curves.
Between them the share is interpolated on the probit scale: q = Φ⁻¹(F) is a broken line in the
threshold, which is exact for normal readings and keeps the tails. One increasing function of the
threshold at every time gives all percentiles, so that percentile curves never cross, and the share
inside any range. Nothing here sees data: it is all post-processing of the release.

Arrays are (…, G) over a grid of G times and (…, K, G) over thresholds, on the scale of the release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from engine.core.arrays import Array
from engine.core.bands import NORMAL
from engine.numerics.clipping.normal_readings import normal_density
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.symmetric_matrices import matrix_root

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
MIN_SHARE = 0.002  # shares of thresholds are held between it and one less it
_TIE = 1e-7  # between equal probits, so that they can be inverted
_DRAWS, _SEED, _HEAD_ROOM = 1000, 20_261_123, 1.05  # of critical values
_MIN_DENSITY = 0.02
_DETAILS = 0.02  # probits that details finer than the waves, and lines between thresholds, may miss
_MIN_VARIANCE = 1e-12  # of a share


@dataclass(frozen=True)
class ShareSurface:
    """Released shares of readings below threshold curves, with all that their errors
    follow from.
    """

    thresholds: Array  # (…, K, G): c_k(t), in any order
    expected: Array  # (…, K, G): p_k(t), the shares that the stages before expected
    rotation: Array  # (…, K, K): Q, orthogonal: column j belongs to row j of the coefficients
    # coefficients, unshrunk, each (…, K, r): a, of Q'(F − p) in the waves φ; the percentiles follow
    # from the first and bands from the second
    coefficients: Array
    unshrunk: Array
    covariance: Array  # (…, K r, K r): of the unshrunk ones, row after row
    waves: Array  # (G, r): φ on the grid
    spread: Array  # (…, G): s(t), the released spread of readings
    finer: Array  # (F, G): the waves of the centre that are too fine for shares to correct
    centre_variance: Array  # (…, F): released variances of their coefficients
    # centre, of_centre, each (…, R), (…, R, R): all released coefficients of the centre, unshrunk,
    # and their covariance; None where a surface was not released by stages
    centre: Array | None = None
    of_centre: Array | None = None

    # -- shares on the probit scale -----------------------------------------------------------

    @cached_property
    def standard_error(self) -> Array:
        """Standard error of the shares: (…, K, G)."""
        variance = np.diagonal(self.covariance_of_shares, axis1=-2, axis2=-1)
        return np.asarray(np.sqrt(np.maximum(variance, _MIN_VARIANCE)).swapaxes(-1, -2))

    @cached_property
    def covariance_of_shares(self) -> Array:
        """Covariance of errors of the unshrunk shares at each time: (…, G, K, K)."""
        size, r = self.rotation.shape[-1], self.waves.shape[1]
        blocks = self.covariance.reshape(*self.covariance.shape[:-2], size, r, size, r)
        at_times = np.einsum("gl,...jlkm,gm->...gjk", self.waves, blocks, self.waves, optimize=True)
        turn = self.rotation[..., None, :, :]
        return np.asarray(turn @ at_times @ turn.swapaxes(-1, -2))

    @cached_property
    def _order(self) -> Index:
        """Thresholds from low to high at every time: (…, G, K)."""
        return np.asarray(np.argsort(self.thresholds, axis=-2, kind="stable").swapaxes(-1, -2))

    def _sorted(self, values: Array) -> Array:
        """(…, K, G) as (…, G, K), in the order of the thresholds."""
        return np.take_along_axis(values.swapaxes(-1, -2), self._order, axis=-1)

    @cached_property
    def heights(self) -> Array:
        """The thresholds from low to high: (…, G, K)."""
        return self._sorted(self.thresholds)

    @cached_property
    def probits(self) -> Array:
        """Φ⁻¹ of the shares of the estimate, increasing: (…, G, K)."""
        return self._probits(self.coefficients)

    @cached_property
    def unshrunk_probits(self) -> Array:
        """Φ⁻¹ of the shares that bands are around: (…, G, K)."""
        return self._probits(self.unshrunk)

    def shares(self, coefficients: Array) -> Array:
        """F = p + Q a φ, (…, K, G), at thresholds in their own order, for a (…, K, r)."""
        return np.asarray(self.expected + self.rotation @ (coefficients @ self.waves.T))

    def _probits(self, coefficients: Array) -> Array:
        shares = self.shares(coefficients)
        weights = 1 / self._sorted(self.standard_error) ** 2
        rising = -non_increasing_fit(-self._sorted(shares), weights)
        inside = np.clip(rising, MIN_SHARE, 1 - MIN_SHARE)
        return np.asarray(ndtri(inside) + _TIE * np.arange(inside.shape[-1]))

    @cached_property
    def _probit_error(self) -> Array:
        """se(F)/φ(q): (…, G, K)."""
        return np.asarray(self._sorted(self.standard_error) / normal_density(self.unshrunk_probits))

    # -- percentiles --------------------------------------------------------------------------

    def percentiles(self, levels: Array) -> Array:
        """Find the heights, (…, T, G) on [−1, 1], below which shares (T,) of readings lie.

        They rise in the level at every time.
        """
        at = np.broadcast_to(ndtri(levels)[:, None], (len(levels), self.spread.shape[-1]))
        return self._inverted(self.probits, at)

    def _inverted(self, probits: Array, at: Array) -> Array:
        """Find the threshold, on [−1, 1], where q reaches `at` (…, T, G)."""
        height = _broken_line(
            at, probits[..., None, :, :], self.heights[..., None, :, :], self.spread[..., None, :]
        )
        return np.asarray(np.clip(height, -1.0, 1.0))

    def band(self, levels: Array, is_simultaneous: bool) -> tuple[Array, Array]:
        """Limits of percentile curves: the surface is inverted at Φ⁻¹(τ) ± a multiple of its error.

        A fiftieth of the spread is added to the error in squares, for what the surface cannot show
        however many people there are. It matters from N = 5000 on.

        Where all of that lies beyond the outermost threshold, nothing was released of how far: the
        band then reaches from that threshold to the bound of readings. Both limits are (…, T, G),
        on [−1, 1]; a simultaneous band is for a whole curve, 95 in 100.
        """
        at = ndtri(levels)[:, None]
        error = self._error(at)
        times = self._critical_values(at, error)[..., None] if is_simultaneous else NORMAL
        width = times * np.hypot(error, _DETAILS)
        low, high = at - width, at + width
        below, above = self._outside(low, high)
        lower, upper = (self._inverted(self.unshrunk_probits, each) for each in (low, high))
        first, last = (np.clip(self.heights[..., None, :, k], -1.0, 1.0) for k in (0, -1))
        return (
            np.where(below, -1.0, np.where(above, last, lower)),
            np.where(above, 1.0, np.where(below, first, upper)),
        )

    def _outside(self, low: Array, high: Array) -> tuple[Flags, Flags]:
        """True where q from low to high lies below the first threshold, or above the last one."""
        probits = self.unshrunk_probits[..., None, :, :]
        return np.asarray(high < probits[..., 0]), np.asarray(low > probits[..., -1])

    # -- what the release shows against it -------------------------------------------------------

    def time_beyond(self, levels: Array) -> Array:
        """Measure the share of time (…, T) at which a percentile surely lies beyond all thresholds.

        There it is extended by a normal law, of which nothing was released.
        """
        at = ndtri(levels)[:, None]
        error = NORMAL * self._error(at)
        below, above = self._outside(at - error, at + error)
        return np.asarray((below | above).mean(axis=-1))

    def _error(self, at: Array) -> Array:
        """Standard error of q where it is `at` (T, 1): (…, T, G)."""
        of_shares = _broken_line(
            np.broadcast_to(at, (*at.shape[:-1], self.spread.shape[-1])),
            self.unshrunk_probits[..., None, :, :],
            self._probit_error[..., None, :, :],
            0.0,
        )
        centre = np.einsum("lg,...l->...g", self.finer**2, self.centre_variance) / self.spread**2
        return np.asarray(np.sqrt(of_shares**2 + centre[..., None, :]))

    def _critical_values(self, at: Array, error: Array) -> Array:
        """95 % quantiles of the largest |error|/se over time: (…, T).

        Of simulated errors with a fixed seed, which follow from the release alone.
        """
        rng = np.random.default_rng(_SEED)
        p, n_finer = self.covariance.shape[-1], len(self.finer)
        normals, finer = rng.standard_normal((p, _DRAWS)), rng.standard_normal((n_finer, _DRAWS))
        shift = matrix_root(self.covariance) @ normals  # (…, p, draws)
        level = (np.sqrt(self.centre_variance)[..., None] * finer).swapaxes(-1, -2) @ self.finer
        level = level.swapaxes(-1, -2) / self.spread[..., None]  # (…, G, draws)
        values = []
        for k in range(len(at)):
            share, low = _place(
                np.broadcast_to(at[k], error[..., k, :].shape), self.unshrunk_probits
            )
            gradient = self._in_coefficients(self._neighbours(low, share))
            size = np.abs(gradient @ shift + level) / error[..., k, :, None]
            values.append(np.quantile(size.max(axis=-2), 0.95, axis=-1))
        return np.asarray(_HEAD_ROOM * np.stack(values, axis=-1))

    def _neighbours(self, low: Index, share: Array) -> Array:
        """Weights of the errors of F in q between two thresholds: (…, G, K), in order."""
        size = self.heights.shape[-1]
        indices = np.arange(size)
        inside = np.clip(share, 0.0, 1.0)[..., None]
        is_low, is_high = indices == low[..., None], indices == low[..., None] + 1
        weights = (1 - inside) * is_low + inside * is_high
        return np.asarray(weights / np.maximum(normal_density(self.unshrunk_probits), _MIN_DENSITY))

    def _in_coefficients(self, weights: Array) -> Array:
        """Σ_k γ_k Q_kj φ_l(t) of weights (…, G, K) in the order of thresholds: (…, G, K r)."""
        unsorted = np.zeros_like(weights)
        np.put_along_axis(unsorted, self._order, weights, axis=-1)
        by_row = unsorted @ self.rotation  # (…, G, j)
        product = by_row[..., None] * self.waves[:, None, :]
        return np.asarray(product.reshape(*product.shape[:-2], -1))

    # -- shares in ranges ---------------------------------------------------------------------

    def shares_below(self, limits: Array) -> Array:
        """Compute shares of readings at or below limits (L,) on thresholds' scale: (…, L, G)."""
        return np.asarray(ndtr(self._at_limits(limits, self.probits)))

    def _at_limits(self, limits: Array, probits: Array) -> Array:
        at = np.broadcast_to(limits[:, None], (len(limits), self.spread.shape[-1]))
        return _broken_line(
            at,
            self.heights[..., None, :, :],
            probits[..., None, :, :],
            (1 / self.spread)[..., None, :],
        )

    def shares_in_ranges(self, limits: Array) -> tuple[Array, Array, Array, Array]:
        """Shares of readings between limits: below the first, between any two, above the last.

        Of unshrunk coefficients: what shrinking takes away adds up over time, and no error counts
        it. Shares and errors are (…, L + 1, G), at every time, then (…, L + 1) over the whole
        range.
        """
        below = ndtr(self._at_limits(limits, self.unshrunk_probits))
        ends = [np.zeros_like(below[..., :1, :]), below, np.ones_like(below[..., :1, :])]
        shares = np.diff(np.concatenate(ends, axis=-2), axis=-2)
        gradients, levels = self._gradients_of_ranges(limits)
        variance = self._variance(gradients, levels)
        of_average = self._variance(gradients.mean(axis=-2), levels.mean(axis=-1))
        return shares, np.sqrt(variance), shares.mean(axis=-1), np.sqrt(of_average)

    def _gradients_of_ranges(self, limits: Array) -> tuple[Array, Array]:
        """Differentiate shares in ranges: by coefficients (…, L + 1, G, K r), waves (…, F, G)."""
        probit = self._at_limits(limits, self.unshrunk_probits)
        densities = normal_density(probit)
        of_limits = []
        for k, limit in enumerate(limits):
            share, low = _place(np.full(self.spread.shape, limit), self.heights)
            of_limits.append(
                densities[..., k, :, None] * self._in_coefficients(self._neighbours(low, share))
            )
        gradients, slope = np.stack(of_limits, axis=-3), densities / self.spread[..., None, :]
        zero = np.zeros_like(gradients[..., :1, :, :])
        between = np.diff(np.concatenate([zero, gradients, zero], axis=-3), axis=-3)
        none = np.zeros_like(slope[..., :1, :])
        level = np.diff(np.concatenate([none, slope, none], axis=-2), axis=-2)
        return between, np.asarray(level[..., None, :] * self.finer)

    def _variance(self, gradients: Array, levels: Array) -> Array:
        """Compute the variance of a linear function of coefficients and finer waves."""
        is_average = gradients.ndim == self.covariance.ndim
        covariance = self.covariance if is_average else self.covariance[..., None, :, :]
        of_shares = ((gradients @ covariance) * gradients).sum(axis=-1)
        squares = levels**2 if is_average else (levels**2).swapaxes(-1, -2)
        variance = (
            self.centre_variance[..., None, :]
            if is_average
            else (self.centre_variance[..., None, None, :])
        )
        return np.asarray(of_shares + (squares * variance).sum(axis=-1))


def _place(at: Array, knots: Array) -> tuple[Array, Index]:
    """Locate `at` (…, G) among rising knots (…, G, K): share between two, and the lower.

    Outside, the share is below 0 or above 1.
    """
    low = np.clip((knots <= at[..., None]).sum(axis=-1) - 1, 0, knots.shape[-1] - 2)
    left = np.take_along_axis(knots, low[..., None], axis=-1)[..., 0]
    right = np.take_along_axis(knots, low[..., None] + 1, axis=-1)[..., 0]
    return (at - left) / np.maximum(right - left, 1e-300), low


def _broken_line(at: Array, knots: Array, values: Array, slope: Array | float) -> Array:
    """The broken line through (knots, values) at `at` (…, G), with a slope of its own beyond them.

    Knots and values are (…, G, K), knots rising.
    """
    shape = np.broadcast_shapes(at.shape, knots.shape[:-1])
    at, knots = np.broadcast_to(at, shape), np.broadcast_to(knots, (*shape, knots.shape[-1]))
    values = np.broadcast_to(values, knots.shape)
    share, low = _place(at, knots)
    left = np.take_along_axis(values, low[..., None], axis=-1)[..., 0]
    right = np.take_along_axis(values, low[..., None] + 1, axis=-1)[..., 0]
    inside = left + np.clip(share, 0.0, 1.0) * (right - left)
    beyond = np.minimum(at - knots[..., 0], 0.0) + np.maximum(at - knots[..., -1], 0.0)
    return np.asarray(inside + slope * beyond)
