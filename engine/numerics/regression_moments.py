"""Per-curve moments of a varying-coefficient model, whose curves come with regressors.

The gradient of curve i with regressors G_i at coefficients b_0 … b_d is G_i ⊗ (M_i Σ_h G_ih b_h −
v_i), with M_i and v_i as in `moments`. It is linear in the products of regressors and wave means,
so the same matrix products do all the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.numerics.moments import Moments, product_table
from engine.types import Array


@dataclass(frozen=True)
class RegressionMoments:
    """Moments of curves and their regressors (repeats, K, curves), the first of which is 1.

    Coefficients run function after function: entry k·r + l belongs to regressor k and wave l.
    """

    moments: Moments
    regressors: Array

    @property
    def n_functions(self) -> int:
        return self.regressors.shape[1]

    @property
    def size(self) -> int:
        return self.n_functions * self.moments.size

    @property
    def n_curves(self) -> int:
        return self.moments.n_curves

    def curves(self, chosen: slice) -> RegressionMoments:
        return RegressionMoments(self.moments.curves(chosen), self.regressors[:, :, chosen])

    def first(self, size: int) -> RegressionMoments:
        """The moments of the first `size` basis functions of each coefficient function."""
        return RegressionMoments(self.moments.first(size), self.regressors)

    def average(self) -> tuple[Array, Array]:
        """Averages over curves of GG' ⊗ M and G ⊗ v: (repeats, p, p) and (repeats, p)."""
        repeats, k, n = self.regressors.shape
        pairs = (self.regressors[:, :, None] * self.regressors[:, None]).reshape(repeats, k * k, n)
        waves = pairs @ self.moments.waves.swapaxes(1, 2) / n
        table = product_table(self.moments.basis)
        blocks = np.tensordot(waves, table, axes=1).reshape(repeats, k, k, *table.shape[1:])
        gram = blocks.swapaxes(2, 3).reshape(repeats, self.size, self.size)
        cross = self.regressors @ self.moments.cross.swapaxes(1, 2) / n
        return gram, cross.reshape(repeats, self.size)

    def gradients(self, iterates: Array) -> Callable[[slice], Array]:
        """Gradients at iterates (repeats, columns, p), as a function of which curves.

        It returns (repeats, columns, p, curves).
        """
        repeats, columns, p = iterates.shape
        linear = self._residual_map(iterates)

        def of(curves: slice) -> Array:
            regressors = self.regressors[:, :, curves]
            residuals = (linear @ self._features(curves)).reshape(repeats, columns, 1, -1,
                                                                  regressors.shape[2])
            return np.asarray((regressors[:, None, :, None] * residuals).reshape(
                repeats, columns, p, -1))

        return of

    def _features(self, curves: slice) -> Array:
        """Products of regressors and wave means, then v: (repeats, K · waves + r, curves)."""
        regressors, waves = self.regressors[:, :, curves], self.moments.waves[:, :, curves]
        products = (regressors[:, :, None] * waves[:, None]).reshape(
            len(waves), -1, waves.shape[2])
        return np.concatenate([products, self.moments.cross[:, :, curves]], axis=1)

    def _residual_map(self, iterates: Array) -> Array:
        """The linear map from `_features` to M Σ_h G_h b_h − v: (repeats, columns · r, …)."""
        repeats, columns, _ = iterates.shape
        k, r = self.n_functions, self.moments.size
        table = product_table(self.moments.basis).transpose(2, 1, 0).reshape(r, -1)
        waves = (iterates.reshape(-1, r) @ table).reshape(repeats, columns, k, r, -1)
        waves = waves.swapaxes(2, 3).reshape(repeats, columns * r, -1)
        cross = np.broadcast_to(np.tile(-np.eye(r), (columns, 1)), (repeats, columns * r, r))
        return np.concatenate([waves, cross], axis=2)


def regression_moments(moments: Moments, regressors: Array, known: Array) -> RegressionMoments:
    """Put moments and regressors together.

    `known` (repeats, curves) says whose covariates are all numbers. Curves of the others get
    moments of zero, as curves with missing readings have: they count, and add nothing.
    """
    if not known.all():
        moments = Moments(np.where(known[:, None], moments.features, 0.0), moments.basis)
    return RegressionMoments(moments, regressors)
