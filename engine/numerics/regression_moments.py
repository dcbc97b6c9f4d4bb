"""Per-curve moments and deviations of a varying-coefficient model, whose curves have regressors.

The gradient of curve i with regressors G_i at coefficients b_0 … b_d is G_i ⊗ (M_i Σ_h G_ih b_h −
v_i), with M_i and v_i as in `moments`. It is linear in the products of regressors and wave means,
so the same matrix products do all the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.core.arrays import Array
from engine.core.types import CurveData
from engine.numerics.deviations import AffineDeviations, Deviations, blocks_of
from engine.numerics.moments import Moments, beside_minus_one, product_table, wave_map
from engine.numerics.regressor_maps import RegressorMap


@dataclass(frozen=True)
class RegressionMoments:
    """Moments of curves and their regressors.

    Coefficients run function after function: entry k·r + l belongs to regressor k and wave l.
    """

    moments: Moments  # of the curves, for r basis functions
    regressors: Array  # (repeats, K, curves): the first is 1
    # (repeats, K · waves + r, curves): the products of regressors and wave means, then v
    features: Array

    @property
    def n_functions(self) -> int:
        return int(self.regressors.shape[1])

    @property
    def size(self) -> int:
        return self.n_functions * self.moments.size

    @property
    def n_curves(self) -> int:
        return self.moments.n_curves

    def curves(self, part: slice) -> RegressionMoments:
        """The moments of some of the curves; a view."""
        return RegressionMoments(
            self.moments.curves(part), self.regressors[:, :, part], self.features[:, :, part]
        )

    def repeats(self, part: slice) -> RegressionMoments:
        """The moments of some of the data sets; a view."""
        return RegressionMoments(
            self.moments.repeats(part), self.regressors[part], self.features[part]
        )

    def first(self, size: int) -> RegressionMoments:
        """The moments of the first basis functions of each coefficient function."""
        if size == self.moments.size:
            return self
        return _with_features(self.moments.first(size), self.regressors)

    def average(self) -> tuple[Array, Array]:
        """Averages over curves of GG' ⊗ M and G ⊗ v: (repeats, p, p) and (repeats, p)."""
        repeats, k, n = self.regressors.shape
        pairs = (self.regressors[:, :, None] * self.regressors[:, None]).reshape(repeats, k * k, n)
        waves = pairs @ self.moments.waves.swapaxes(1, 2) / n  # (repeats, K · K, waves)
        table = product_table(self.moments.basis)
        blocks = np.tensordot(waves, table, axes=1).reshape(repeats, k, k, *table.shape[1:])
        # (repeats, K, K, r, r) to function after function on both sides
        gram = blocks.swapaxes(2, 3).reshape(repeats, self.size, self.size)
        cross = self.regressors @ self.moments.cross.swapaxes(1, 2) / n
        return gram, cross.reshape(repeats, self.size)

    def gradients(self, iterates: Array, linear: Array | None = None) -> Callable[[slice], Array]:
        """Compute gradients at (repeats, columns, p = K r), as a function of a slice of curves.

        The function returns (repeats, columns, p, curves).
        """
        residuals = self.residuals(iterates, linear)

        def of(curves: slice) -> Array:
            return _outer(self.regressors[:, None, :, curves], residuals(curves))

        return of

    def residuals(self, iterates: Array, linear: Array | None = None) -> Callable[[slice], Array]:
        """M Σ_h G_h b_h − v at b (repeats, columns, p = K r), as a function of a slice of curves.

        The function returns (repeats, columns, r, curves).
        """
        repeats, columns, _ = iterates.shape
        linear = self.linear_map(iterates) if linear is None else linear

        def of(curves: slice) -> Array:
            return np.asarray(
                (linear @ self.features[:, :, curves]).reshape(
                    repeats, columns, self.moments.size, -1
                )
            )

        return of

    def linear_map(self, iterates: Array) -> Array:
        """Map `features` to residuals linearly: (repeats, columns · r, K · waves + r).

        Iterates are (repeats, columns, p), p = K · r.
        """
        repeats, columns, _ = iterates.shape
        k, r = self.n_functions, self.moments.size
        waves = (iterates.reshape(-1, r) @ wave_map(self.moments.basis)).reshape(
            repeats, columns, k, r, -1
        )
        return beside_minus_one(waves.swapaxes(2, 3).reshape(repeats, columns * r, -1), r)


def _outer(directions: Array, residuals: Array) -> Array:
    """Directions ⊗ residuals of every curve: (repeats, columns, K · r, curves).

    Directions (repeats, columns or 1, K, curves) are in the space of the regressors, residuals
    (repeats, columns, r, curves) in the basis.
    """
    repeats, columns, _, n = residuals.shape
    return np.asarray(
        (directions[:, :, :, None] * residuals[:, :, None]).reshape(repeats, columns, -1, n)
    )


def regression_moments(moments: Moments, data: CurveData) -> RegressionMoments:
    """Join the moments of curves and their regressors, which are 1 alone without covariates.

    A curve with a covariate that is no number gets moments of zero, as one with such a reading
    has: it counts, and adds nothing.
    """
    if data.covariates is not None and not np.isfinite(data.covariates).all():
        known = np.asarray(np.isfinite(data.covariates).all(axis=2))[:, None]
        moments = Moments(np.where(known, moments.features, 0.0), moments.basis)
    return _with_features(moments, data.regressors)


def _with_features(moments: Moments, regressors: Array) -> RegressionMoments:
    """`features` of the products of regressors (repeats, K, curves) and wave means, then v."""
    waves, (repeats, k, n) = moments.waves, regressors.shape
    width = k * waves.shape[1]
    features = np.empty((repeats, width + moments.size, n))
    products = features[:, :width].reshape(repeats, k, -1, n)
    products[:, 0] = waves  # of the regressor 1
    np.multiply(regressors[:, 1:, None], waves[:, None], out=products[:, 1:])
    features[:, width:] = moments.cross
    return RegressionMoments(moments, regressors, features)


@dataclass(frozen=True)
class RegressionDeviations(Deviations):
    """Deviations of the coefficient functions from a centre, by each curve with covariates.

    h_i(b) = w_iF_i ⊗ (T_i Σ_h G_ih a_h − t_i) with F = W G and a = W'b: on average b − W⁻'β.
    It is the Newton direction of weighted least squares in coordinates where the average of
    w F F' is about the identity. T_i and t_i weight the observations of a curve as those of a mean
    do (`engine.numerics.deviations`): S_i and s_i in their place would let a centre that is still
    far off, as the middle of wide bounds is, show as differences between people, and be clipped.
    """

    curves: AffineDeviations  # T_i and t_i of n curves
    regressors: Array  # (repeats, K, curves): G_i, of which the first is 1
    map: RegressorMap  # W and the weights w; may differ by column, as it is released
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.curves.n_curves

    @property
    def entries(self) -> int:
        return self.curves.entries

    def blocks(self, most: int) -> list[RegressionDeviations]:
        """The curves in blocks of so many at most; views."""
        return [
            RegressionDeviations(self.curves.among(part), self.regressors[..., part], self.map)
            for part in blocks_of(self.n_curves, most)
        ]

    def of_repeats(self, repeats: slice) -> RegressionDeviations:
        """Those of some of the data sets; a view."""
        return RegressionDeviations(
            self.curves.of_repeats(repeats), self.regressors[repeats], self.map.repeats(repeats)
        )

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Compute the deviation of a centre from the coefficients, as every curve measures it."""
        regressor_map, regressors = self.map.repeats(repeats), self.regressors[repeats]
        coefficients = regressor_map.coefficients(
            centres.reshape(*centres.shape[:2], regressors.shape[1], -1)
        )  # (…, columns, K, r)
        shares = np.zeros((*coefficients.shape[:-1], 1))
        shares[:, :, 0] = 1.0  # t_i once, with the regressor 1
        n_repeats, size = len(centres), coefficients.shape[-1]
        products = self.curves.products(
            coefficients.reshape(n_repeats, -1, size), shares.reshape(n_repeats, -1, 1), repeats
        )
        products = products.reshape(*coefficients.shape, -1)  # (…, columns, K, r, curves)
        residuals = products[:, :, 0]
        for h in range(1, regressors.shape[1]):
            residuals += regressors[:, None, None, h] * products[:, :, h]
        return _outer(regressor_map.directions(regressors[:, None]), residuals)
