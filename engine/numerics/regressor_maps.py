"""Regressors made comparable: centred, scaled and told apart, with equal influence of all people.

Covariates that hardly vary, that lie far from the middle of their range, that go together, or that
few people have, make second moments nearly singular: noise that is small against their range is
large against their spread. Least squares may weigh people by their covariates as it likes, so
people far out count for less, and every person adds a matrix of the same trace.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.arrays import Array


@dataclass(frozen=True)
class RegressorMap:
    """Weights w(G) and coordinates F = W G in which the average of w F F' is about the identity.

    Parameters
    ----------
    standard : (repeats, columns, K, K)
        V, which centres and scales regressors: the average of (V G)(V G)' is about the identity.
    whole : (repeats, columns, K, K)
        W, which also undoes what weights and the noise in V have left.
    """

    standard: Array
    whole: Array

    def repeats(self, part: slice) -> RegressorMap:
        return RegressorMap(self.standard[part], self.whole[part])

    def directions(self, regressors: Array) -> Array:
        """w(G) W G for regressors (repeats or 1, columns or 1, K, people)."""
        return np.asarray(weights(self.standard @ regressors) * (self.whole @ regressors))

    def coefficients(self, located: Array) -> Array:
        """Coefficients (repeats, columns, K, r) of F as those of G: a'G = b'F for a = W'b."""
        return np.asarray(self.whole.swapaxes(-1, -2) @ located)

    def covariance(self, located: Array) -> Array:
        """Their covariance (repeats, columns, K, r, K, r), likewise."""
        turned = np.einsum("...ka,...krjs->...arjs", self.whole, located)
        return np.asarray(np.einsum("...arjs,...jb->...arbs", turned, self.whole))


def weights(standard: Array) -> Array:
    """K/|x|² for x = V G (…, K, people), so that w x x' has trace K whatever x is: (…, 1, people).

    They depend on covariates alone, so weighted least squares has the same target as least squares.
    """
    return np.asarray(standard.shape[-2] / (standard**2).sum(axis=-2, keepdims=True))


def floored(moments: Array, least: Array) -> Array:
    """Second moments (repeats, columns, K, K) with eigenvalues of at least `least` (columns,)."""
    values, vectors = np.linalg.eigh(moments)
    raised = np.maximum(values, least[:, None])[..., None, :]
    return np.asarray((vectors * raised) @ vectors.swapaxes(-1, -2))


def standardising(moments: Array) -> Array:
    """V with V Γ V' = 1, lower triangular: each covariate less what those before it explain."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(moments)))


def mixed(maps: Array) -> Array:
    """The same coordinates reflected so that the first has an equal part in all of them.

    A rare answer would otherwise stand alone in a coordinate in which nearly everybody deviates by
    0, so that the typical size of deviations there says nothing of those who gave it.
    """
    n_functions = maps.shape[-1]
    mirror = np.full(n_functions, 1 / np.sqrt(n_functions))
    mirror[0] -= 1.0
    if n_functions == 1:
        return maps
    along = mirror @ maps
    return np.asarray(maps - 2 / (mirror @ mirror) * mirror[:, None] * along[..., None, :])
