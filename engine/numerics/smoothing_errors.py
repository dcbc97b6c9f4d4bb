"""Distance by which a smoothing moved a released curve, as far as the release itself shows.

A release is S f + noise, where S is linear and public: averages through a filter, a few functions
of a kernel, polynomials on a lattice. Written in cosines φ_k, S is a matrix T. Up to the order at
which less than `_FOLLOWED` of a cosine is left, the released cosines tell those of f, a = T⁻¹ã, and
with them (I − S)f: much of it where f lies far from 0, which few functions of a kernel cannot draw
up to the ends, or changes faster than S lets through. Beyond that order nothing is told; but where
the last cosines are not what slopes at both ends make of them, they have not become small
(`engine.numerics.end_slopes`), and there is more that S took away.

A step leaves its trace in all cosines, falling like 1/k with the signs of its place; smooth curves
do not have it, so that steps are told that are too small to be seen in the last cosines alone.

Where so few cosines are followed that none can be spared for a comparison, a release still says
whether it is more than S makes of the simplest curves, such as straight lines. What is more can be
a smooth bend or the trace of a step, of which S leaves about as much as it takes away: the few
numbers of a release are the same for both.

Everything here is computed from what was released and from public facts. Derived in this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import chdtrc, ndtr

from engine.core.arrays import Array
from engine.core.grids import read_only
from engine.numerics.end_slopes import CHECKED_FROM, cosine_rows, detail, end_tails

COSINES = 60  # in which smoothings are written
POINTS = np.round((np.arange(200) + 0.5) / 200, 4)  # where curves are compared
_COSINES = read_only(cosine_rows(COSINES, POINTS))
_FOLLOWED = 0.3  # of a cosine, that a smoothing leaves
_MIN, _SMALLEST = 1e-12, 1e-300  # of the trace, and at all: a ridge where there is no noise
_SURE = 3.0  # standard deviations of noise by which an error must stand out
_SMOOTH, _SPARED = 7, 5  # cosines of a smooth curve at most; and beside them, two for slopes
_JUMPS = np.arange(0.05, 0.951, 0.025)  # where a step is looked for


@lru_cache(maxsize=64)
def _cosines_of_steps(size: int) -> Array:
    """The first cosine coefficients of steps by 1 at `_JUMPS`: (jumps, order)."""
    frequency = np.pi * np.arange(1, size)
    rising = -np.sqrt(2) * np.sin(frequency * _JUMPS[:, None]) / frequency
    return read_only(np.concatenate([1 - _JUMPS[:, None], rising], axis=1))


@dataclass(frozen=True, eq=False)
class SmoothingErrors:
    """Effect of a linear smoothing on curves, and the noise it got."""

    images: Array  # (K, G): S of every cosine, at `POINTS`
    rows: Array  # (G, r): the released functions there
    covariance: Array  # (r, r): of the noise in their coefficients

    @cached_property
    def _matrix(self) -> Array:
        """T: (K, K)."""
        return np.asarray(_COSINES.T @ self.images.T / len(POINTS))

    @cached_property
    def order(self) -> int:
        """Number of cosines that are followed."""
        is_lost = np.diagonal(self._matrix) < _FOLLOWED
        return int(np.argmax(is_lost)) if is_lost.any() else COSINES

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.pinv(self._matrix[: self.order, : self.order]))

    @cached_property
    def _left(self) -> Array:
        """I − T on the cosines that are followed: (K, order)."""
        return np.asarray(np.eye(COSINES)[:, : self.order] - self._matrix[:, : self.order])

    @cached_property
    def _covariance(self) -> Array:
        """Covariance of the noise in the cosines that are followed."""
        to_cosines = self._inverse @ (_COSINES.T @ self.rows / len(POINTS))[: self.order]
        return np.asarray(to_cosines @ self.covariance @ to_cosines.T)

    @property
    def noise(self) -> float:
        """Root mean squared noise of the released curve."""
        gram = self.rows.T @ self.rows / len(POINTS)
        return float(np.sqrt((gram * self.covariance).sum()))

    def of_known(self, curve: Array) -> float:
        """Measure how far a known curve is moved, root mean squared."""
        return float(np.sqrt(((curve - self.smoothed(curve)) ** 2).mean()))

    def smoothed(self, curve: Array) -> Array:
        """S of a known curve at `POINTS`; both (G,)."""
        return np.asarray(_COSINES.T @ curve / len(POINTS) @ self.images)

    def followed(self, curves: Array) -> Array:
        """Estimate the followed cosines (…, order) behind curves (…, G) released at `POINTS`."""
        return np.asarray((curves @ _COSINES[:, : self.order] / len(POINTS)) @ self._inverse.T)

    def moved(self, cosines: Array) -> Array:
        """Bound from below the distance by which such a curve was moved, root mean squared: (…).

        The cosines (…, order) are those of `followed`.
        """
        noise = self._left.T @ self._left @ self._covariance
        by_noise = np.trace(noise) + _SURE * np.sqrt(2 * np.trace(noise @ noise))
        squares = ((cosines @ self._left.T) ** 2).sum(axis=-1)
        return np.asarray(np.sqrt(np.maximum(squares - by_noise, 0.0)))

    def short_features(self, cosines: Array, sampling: float) -> tuple[Array, Array]:
        """Test if the last cosines that are followed have become small: p-values and sizes.

        Sampling variability adds this standard deviation to the first of them, to others less, like
        1/k. See `engine.numerics.end_slopes.detail`; 1 and 0 if too few are followed.
        """
        if self.order < CHECKED_FROM:
            return np.ones(cosines.shape[:-1]), np.zeros(cosines.shape[:-1])
        return detail(cosines, self._with_chance(sampling))

    def jumps(self, cosines: Array, sampling: float) -> tuple[Array, Array, Array]:
        """Test if one jump explains what a smooth curve with two slopes does not.

        Smooth is what up to seven cosines draw, so that a curve with three turns still is. All
        cosines beyond them tell of a jump, and not the last four alone.

        The cosines (…, order) are those of `followed`. P-values are of a jump as large by chance,
        at any of `_JUMPS`; 1 if too few are followed. Fits are probabilities of what the jump
        leaves, if the rest is smooth, and sizes what the cosines that are followed leave of it,
        root mean squared.
        """
        size = self.order
        smooth = min(_SMOOTH, size - _SPARED)
        if smooth < _SMOOTH - 1:
            return np.ones(cosines.shape[:-1]), *np.zeros((2, *cosines.shape[:-1]))
        covariance = self._with_chance(sampling)
        ridge = _MIN * np.trace(covariance) / size + _SMALLEST
        white = np.linalg.inv(np.linalg.cholesky(covariance + ridge * np.eye(size)))
        model = np.concatenate([np.eye(size)[:, :smooth], end_tails(size)], axis=1)
        directions, _ = np.linalg.qr(white @ model)
        apart = np.eye(size) - directions @ directions.T
        steps = _cosines_of_steps(size)  # (jumps, order)
        left, of_steps = cosines @ (apart @ white).T, steps @ (apart @ white).T
        lengths = np.linalg.norm(of_steps, axis=-1)
        scores = np.abs(left @ (of_steps / lengths[:, None]).T)  # (…, jumps), of unit variance
        best = scores.argmax(axis=-1)
        score = scores.max(axis=-1)
        beyond = np.sqrt(np.maximum(_JUMPS * (1 - _JUMPS) - (steps[:, 1:] ** 2).sum(axis=-1), 0.0))
        misfit = np.maximum((left**2).sum(axis=-1) - score**2, 0.0)
        return (
            np.minimum(len(_JUMPS) * ndtr(-score), 1.0),
            np.asarray(chdtrc(size - smooth - 3, misfit)),
            np.asarray(score / lengths[best] * beyond[best]),
        )

    def _with_chance(self, sampling: float) -> Array:
        """Covariance of the followed cosines by noise and by sampling variability."""
        return self._covariance + np.diag((sampling / (1.0 + np.arange(self.order))) ** 2)

    def bends(self, curves: Array, simple: Array, sampling: float) -> tuple[Array, Array]:
        """Extract the released part beyond the image of simple curves.

        Curves (…, G) are at `POINTS`; `simple` (G, k) are functions such as 1 and t. P-values are
        of a misfit as large, if the curve is simple: χ² of the generalised least-squares fit with r
        − k degrees of freedom; 1 if there are none. Sizes are of the misfit, root mean squared over
        the range.
        """
        size, n_simple = self.rows.shape[1], simple.shape[1]
        if size <= n_simple:
            return np.ones(curves.shape[:-1]), np.zeros(curves.shape[:-1])
        of_curves = np.linalg.pinv(self.rows)
        of_cosines = of_curves @ self.images.T  # (r, K)
        by_chance = of_cosines * (sampling / (1.0 + np.arange(COSINES)))
        covariance = self.covariance + by_chance @ by_chance.T
        ridge = _MIN * np.trace(covariance) / size + _SMALLEST
        white = np.linalg.inv(np.linalg.cholesky(covariance + ridge * np.eye(size)))
        model = of_cosines @ (_COSINES.T @ simple / len(POINTS))
        coefficients = curves @ of_curves.T
        left = coefficients - coefficients @ (model @ np.linalg.pinv(white @ model) @ white).T
        misfit = ((left @ white.T) ** 2).sum(axis=-1)
        return (
            np.asarray(chdtrc(size - n_simple, misfit)),
            np.sqrt(((left @ self.rows.T) ** 2).mean(axis=-1)),
        )
