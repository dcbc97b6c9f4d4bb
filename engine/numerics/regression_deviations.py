"""How far each curve with covariates says the coefficient functions are from a centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.numerics.regression_moments import RegressionMoments, outer
from engine.types import Array

_LEAST_EIGENVALUE = 0.05


@dataclass(frozen=True)
class RegressionDeviations:
    """h_i(a) = (Γ⁻¹G_i) ⊗ (S_i Σ_h G_ih a_h − s_i), which averages to a − β where Γ = E GG'.

    `inverse` (repeats, columns, K, K) is Γ⁻¹, released or declared, so it may differ by column.
    """

    curves: RegressionMoments
    inverse: Array
    is_common: ClassVar[bool] = False

    @property
    def n_curves(self) -> int:
        return self.curves.n_curves

    def among(self, chosen: slice) -> RegressionDeviations:
        """Those of some of the curves."""
        return RegressionDeviations(self.curves.curves(chosen), self.inverse)

    def at(self, centres: Array, repeats: slice) -> Array:
        """Deviations from centres (repeats, columns, p): (repeats, columns, p, curves)."""
        own = self.curves.repeats(repeats)
        directions = self.inverse[repeats] @ own.regressors[:, None]
        return outer(directions, own.residuals(centres)(slice(None)))


def floored(grams: Array, least: Array) -> tuple[Array, Array]:
    """Γ with eigenvalues of at least 0.05 and `least` (columns,), and its inverse.

    `grams` are symmetric, (repeats, columns, K, K), as noise has left them.
    """
    values, vectors = np.linalg.eigh(grams)
    raised = np.maximum(values, np.maximum(least, _LEAST_EIGENVALUE)[:, None])[..., None, :]
    turned = vectors.swapaxes(-1, -2)
    return np.asarray((vectors * raised) @ turned), np.asarray((vectors / raised) @ turned)
