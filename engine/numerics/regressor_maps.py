"""Regressors made comparable: centred, scaled and told apart, with equal influence of all people.

Covariates that hardly vary, that lie far from the middle of their range, that go together, or that
few people have, make second moments nearly singular: noise that is small against their range is
large against their spread. Least squares may weigh people by their covariates as it likes, so
people far out count for less, and every person adds a matrix of the same trace.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array


@dataclass(frozen=True)
class RegressorMap:
    """Weights w(G) and coordinates F = W G in which the average of w F F' is about the identity."""

    # (repeats, columns, K, K): V, which centres and scales regressors: the average of (V G)(V G)'
    # is about the identity
    standard: Array
    # (repeats, columns, K, K): W, which also undoes what weights and the noise in V have left
    full: Array

    def repeats(self, part: slice) -> RegressorMap:
        """The map of some of the data sets."""
        return RegressorMap(self.standard[part], self.full[part])

    def directions(self, regressors: Array) -> Array:
        """w(G) W G: weighted regressors in the new coordinates.

        From G (repeats or 1, columns or 1, K, people) to (repeats, columns, K, people).
        """
        return np.asarray(weights(self.standard @ regressors) * (self.full @ regressors))

    def coefficients(self, located: Array) -> Array:
        """Map coefficients b of F to those of G, (repeats, columns, K, r): a'G = b'F, a = W'b."""
        return np.asarray(self.full.swapaxes(-1, -2) @ located)

    def covariance(self, located: Array) -> Array:
        """Map the covariance of coefficients b of F to that of a = W'b of G.

        Both are (repeats, columns, K, r, K, r).
        """
        rotated = np.einsum("...ka,...krjs->...arjs", self.full, located)
        return np.asarray(np.einsum("...arjs,...jb->...arbs", rotated, self.full))


def weights(standard: Array) -> Array:
    """K/|x|² for x = V G, so that w x x' has trace K whatever x is.

    They depend on covariates alone, so weighted least squares has the same target as least squares.

    From centred and scaled regressors x (…, K, people) to (…, 1, people).
    """
    return np.asarray(standard.shape[-2] / (standard**2).sum(axis=-2, keepdims=True))


def floored(moments: Array, floor: Array) -> Array:
    """Second moments with eigenvalues raised to the floor of their column, to be inverted."""
    values, vectors = np.linalg.eigh(moments)
    raised = np.maximum(values, floor[:, None])[..., None, :]
    return np.asarray((vectors * raised) @ vectors.swapaxes(-1, -2))


def whitening(moments: Array) -> Array:
    """V with V Γ V' = 1, lower triangular: each covariate less what those before it explain.

    Γ is (…, K, K), positive definite.
    """
    return np.asarray(np.linalg.inv(np.linalg.cholesky(moments)))


def reflected(maps: Array) -> Array:
    """Reflect the coordinates so that the first has an equal part in all of them.

    By the Householder reflection that takes the first unit vector to (1, …, 1)/√K.

    A rare answer would otherwise stand alone in a coordinate in which nearly everybody deviates by
    0, so that the typical size of deviations there says nothing of those who gave it.

    Rows of the maps (…, K, K) are the coordinates.
    """
    n_functions = maps.shape[-1]
    if n_functions == 1:
        return maps
    normal = np.full(n_functions, 1 / np.sqrt(n_functions))  # to the mirror
    normal[0] -= 1.0
    along = normal @ maps  # (…, K)
    return np.asarray(maps - 2 / (normal @ normal) * normal[:, None] * along[..., None, :])
