"""How far each curve with covariates says the coefficient functions are from a centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.arrays import Array
from engine.numerics.regression_moments import RegressionMoments, outer
from engine.numerics.regressor_maps import RegressorMap


@dataclass(frozen=True)
class RegressionDeviations:
    """h_i(b) = w_iF_i ⊗ (S_i Σ_h G_ih a_h − s_i) with F = W G and a = W'b: on average b − W⁻'β.

    It is the Newton direction of weighted least squares in coordinates where the average of
    w F F' is about the identity. `map` may differ by column, as it is released. Where times are not
    spread evenly, `inverse` (r, r) makes the average of S_i the identity; it is public.
    """

    curves: RegressionMoments
    map: RegressorMap
    inverse: Array | None = None
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.curves.n_curves

    @property
    def entries(self) -> int:
        return int(self.curves.features.shape[1])

    def among(self, curves: slice) -> RegressionDeviations:
        """Those of some of the curves."""
        return RegressionDeviations(self.curves.curves(curves), self.map, self.inverse)

    def from_centres(self, centres: Array, repeats: slice) -> Array:
        """Deviations from centres (repeats, columns, p): (repeats, columns, p, curves)."""
        moments, regressor_map = self.curves.repeats(repeats), self.map.repeats(repeats)
        by_function = centres.reshape(*centres.shape[:2], moments.n_functions, -1)
        coefficients = regressor_map.coefficients(by_function).reshape(centres.shape)
        directions = regressor_map.directions(moments.regressors[:, None])
        residuals = moments.residuals(coefficients)(slice(None))
        return outer(directions, residuals if self.inverse is None else self.inverse @ residuals)
