"""Dependence of curves on covariates: a regression of functions on numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.core.errors import InputError
from engine.core.tasks import INTERCEPT, VARYING_COEFFICIENTS
from engine.core.types import Array, CurveData, Fit, PublicFacts, Sizes, Step
from engine.mechanisms.summaries.mean import ClippedCurves, clipped_curves
from engine.mechanisms.summaries.parts import Linear, ReleasedBlock, Smoothing, Summary
from engine.numerics.difference_sets import BoxMoments, Ellipsoid
from engine.numerics.tabulated import Tabulated

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.release import FunctionalRelease


class CoefficientSummary(Summary[CurveData, tuple[ClippedCurves, Array], Smoothing]):
    """β = T₁⁻¹T₂ from two vectors: T₁ = mean of xx' and T₂ = mean of x ⊗ curve, smoothed.

    x = (1, z) with z on [−1, 1]^d, so ‖x‖² ≤ p = d + 1.

    *Differences.* The first entry of T₁ is 1 and never moves; how far all others do together is
    `BoxMoments`, exactly. ‖x ⊗ c‖ ≤ √p for a held curve c, so T₂ moves by at most 2√p/n, jointly
    over all p functions: they share one budget. Its changes lie in a ball, after a filter.

    T₁ is made symmetric and its eigenvalues are raised to a public floor before it is inverted.

    References
    ----------
    Lin and Reimherr (2023), arXiv 2309.00125, appendix C.2, with the bounds that it leaves out.
    """

    task = VARYING_COEFFICIENTS.key
    pairs = 200
    is_inverted = True

    @classmethod
    def first_step(cls, release: FunctionalRelease) -> str:
        return "the covariates’ own second moments"

    @classmethod
    def n_columns(cls, dimension: int) -> int:
        return dimension

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        if not facts.covariates:
            raise InputError(
                "These curves have no covariates.",
                field="covariates",
                hint="Declare a column that may explain the curves, or choose the mean.",
            )
        self.release, self.facts = release, facts
        self.grid = release.grid(facts)
        self.space = release.space(self.grid, sizes)
        self.basis, self.scale = self.space.basis, release.norm_bound(facts)
        self.functions = (INTERCEPT, *(covariate.name for covariate in facts.covariates))
        self.offset = OnIntercept(facts.value_middle, self.p)

    @property
    def p(self) -> int:
        return len(self.facts.covariates) + 1

    def records(self, data: CurveData) -> tuple[ClippedCurves, Array]:
        return clipped_curves(data, self.space, self.grid, self.scale), data.regressors

    def smoothings(self, n: float, effective: float) -> tuple[Smoothing, ...]:
        return self.release.smoothings(
            self.space.eigenvalues, n, effective * (1 - self.release.share)
        )

    def blocks(self, smoothing: Smoothing) -> tuple[ReleasedBlock, ...]:
        assert isinstance(smoothing, Linear)
        moments = len(self._triangle[0])
        wide, gain = np.tile(smoothing.shrink, self.p), 2 * math.sqrt(self.p) * self.space.gain
        return (
            ReleasedBlock(
                Step("noisy second moments of the covariates"),
                lambda n: BoxMoments(self.p - 1, n),
                np.ones(moments),
                np.ones(moments),
                self.release.share,
            ),
            ReleasedBlock(
                Step("noisy products of covariates and curves"),
                lambda n: Ellipsoid(wide, gain / n),
                np.tile(self.release.shape(self.space.eigenvalues), self.p),
                np.tile(self.space.norms, self.p),
                1 - self.release.share,
            ),
        )

    @property
    def _triangle(self) -> tuple[np.ndarray, np.ndarray]:
        """Entries of T₁ that can move: the upper triangle but for the first."""
        j, k = np.triu_indices(self.p)
        return j[1:], k[1:]

    def values(
        self,
        block: int,
        records: tuple[ClippedCurves, Array],
        smoothing: Smoothing,
        earlier: Sequence[Array],
    ) -> Array:
        curves, x = records
        if block == 0:
            j, k = self._triangle
            moments = (x @ x.swapaxes(1, 2) / curves.n)[:, j, k]
            return np.asarray(moments * np.where(j == k, 1.0, math.sqrt(2)))[:, None]
        return smoothing(curves.averaged(x)).reshape(len(x), 1, -1)

    def finished(self, averages: Sequence[Array], smoothing: Smoothing) -> Array:
        gram = self._gram(averages[0])
        products = averages[1].reshape(*averages[1].shape[:2], self.p, -1)
        wide = np.broadcast_to(products, (*gram.shape[:2], *products.shape[2:]))
        return np.asarray(np.linalg.solve(gram, wide))

    def _gram(self, moments: Array) -> Array:
        """T₁ from its coordinates, with eigenvalues from the floor up: (…, p, p)."""
        j, k = self._triangle
        gram = np.zeros((*moments.shape[:-1], self.p, self.p))
        gram[..., 0, 0] = 1.0
        gram[..., j, k] = moments / np.where(j == k, 1.0, math.sqrt(2))
        gram[..., k, j] = gram[..., j, k]
        values, vectors = np.linalg.eigh(gram)
        raised = np.maximum(values, self.release.floor)  # the largest mean eigenvalue is p/p = 1
        return np.asarray((vectors * raised[..., None, :]) @ vectors.swapaxes(-1, -2))

    def reference(self, data: CurveData) -> Fit:
        """Least squares at every point of the grid, with its sampling range."""
        curves, x = data.on_grid(self.grid.times), data.regressors
        inverse = np.linalg.pinv(x @ x.swapaxes(1, 2), hermitian=True)  # a covariate may not vary
        fit = inverse @ (x @ curves)  # (repeats, p, K)
        errors = curves - x.swapaxes(1, 2) @ fit
        spread = errors.swapaxes(1, 2) @ errors / max(data.n_curves - self.p, 1)
        each = np.diagonal(inverse, axis1=1, axis2=2)[..., None, None] * spread[:, None]
        return Fit.exact(
            Tabulated(self.grid),
            fit,
            each,
            "simultaneous",
            offset=self.offset,
            functions=self.functions,
        )


@dataclass(frozen=True)
class OnIntercept:
    """A constant that is added to the first of several functions."""

    height: float
    n_functions: int

    def __call__(self, times: Array) -> Array:
        """(n_functions, len(times))."""
        out = np.zeros((self.n_functions, len(times)))
        out[0] = self.height
        return out
