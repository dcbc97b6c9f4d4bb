"""Regressors made comparable: centred, scaled, told apart, and none with too much influence.

Covariates that hardly vary, that lie far from the middle of their range, that go together, or that
few people have, make second moments nearly singular. What is released in units of the covariates'
own spread is not; and as least squares may weigh people by their covariates as it likes, people
far out count for less instead of being clipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.types import Array

WIDEST = 1.0  # how far out, in units of a typical person, influence still grows


@dataclass(frozen=True)
class RegressorMap:
    """Weights w(G) and coordinates F = W G in which the average of w F F' is about the identity.

    Parameters
    ----------
    standard : (repeats, columns, K, K)
        V, which centres and scales regressors: the average of (V G)(V G)' is about the identity.
    whole : (repeats, columns, K, K)
        W, what V leaves undone included.
    """

    standard: Array
    whole: Array

    def repeats(self, chosen: slice) -> RegressorMap:
        return RegressorMap(self.standard[chosen], self.whole[chosen])

    def directions(self, regressors: Array) -> Array:
        """w(G) W G for regressors (repeats or 1, columns or 1, K, people)."""
        return np.asarray(weights(self.standard @ regressors) * (self.whole @ regressors))

    def back(self, coefficients: Array) -> Array:
        """Coefficients (repeats, columns, K, r) that belong to F as those that belong to G."""
        return np.asarray(self.whole.swapaxes(-1, -2) @ coefficients)


def weights(standard: Array) -> Array:
    """√K/|x|, and less where |x| is above 1.5 √K, so that w x x' has a trace of at most 1.5 K.

    `standard` (…, K, people); returns (…, 1, people). It depends on covariates alone, so weighted
    least squares has the same target, and all people move a location by equally much.
    """
    n_functions = standard.shape[-2]
    length = np.sqrt((standard**2).sum(axis=-2, keepdims=True) / n_functions)
    return np.asarray(length**-2)


def largest_trace(n_functions: int) -> float:
    """The most that w x x' can have as its trace: 1.5 K."""
    return WIDEST * n_functions


def floored(moments: Array, least: Array) -> Array:
    """Second moments (repeats, columns, K, K) with eigenvalues of at least `least` (columns,)."""
    values, vectors = np.linalg.eigh(moments)
    raised = np.maximum(values, least[:, None])[..., None, :]
    return np.asarray((vectors * raised) @ vectors.swapaxes(-1, -2))


def standardising(moments: Array) -> Array:
    """V with V Γ V' = 1, lower triangular: covariate after covariate, less what those before say."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(moments)))


def mixed(maps: Array) -> Array:
    """The same coordinates turned so that the intercept has an equal part in all of them.

    A rare answer would otherwise stand alone in a coordinate, where deviations are 0 for nearly
    everybody and their typical size says little of those who gave it.
    """
    n_functions = maps.shape[-1]
    axis = np.full(n_functions, 1 / np.sqrt(n_functions))
    axis[0] -= 1.0
    size = axis @ axis
    if size < 1e-12:
        return maps
    return np.asarray(maps - (2 / size) * axis[:, None] * (axis @ maps)[..., None, :])
