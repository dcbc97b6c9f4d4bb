"""Two small private releases after which covariates of any kind can be told apart.

The first is of the second moments of the regressors as they stand, G = (1, g) with covariates on
[−1, 1]. Its noise is as large for a covariate that hardly varies as for one that fills its range.
So the second is of regressors that the first has centred and scaled, where people far out count
for less: its noise is relative to the spread that the covariates have.

Privacy
-------
Replace one person, covariates and all. Everything that the second release uses beside the people
is public or was released by the first.

* *First.* Each person adds GG'/n with |G|² ≤ K by the public ranges. ‖GG' − HH'‖²_F = |G|⁴ + |H|⁴ −
  2(G'H)² ≤ 2K², so the average moves by at most √2 K/n in Frobenius norm. Its entry of the
  intercept with itself is the constant 1 and gets no noise.
* *Second.* Each person adds xx'/n with x = √w V G, and |x|² = w |V G|² = K by the weights, whatever
  V and G are: the average moves by at most √2 K/n again.

Symmetric noise of standard deviation √2 K/(n μ_k) on the diagonal and that over √2 beside it is
isotropic for the Frobenius norm: μ_k-GDP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.types import Array, Step
from engine.numerics import regressor_maps
from engine.numerics.exact_sums import mean_of_products
from engine.numerics.regressor_maps import RegressorMap
from engine.privacy import transcript

IN_RANGES = Step("covariates in their ranges")
SCALED = Step("covariates centred and scaled")
STEPS = (IN_RANGES, SCALED)
MAX_DOUBT = 0.15  # noise over what it is in, up to which bands were measured to hold
_MIN = 1e-6  # eigenvalue, where nothing varies
_SURE_FIRST, _SURE = 1.0, 3.0  # least eigenvalues of the releases, in standard deviations
_WIDEST, _BY_LEVERAGE = 25.0, 60.0


def shift(n_functions: int) -> float:
    """Bound the move of either release by one of n people, in Frobenius norm, times n: √2 K."""
    return float(np.sqrt(2) * n_functions)


def steps(n_functions: int) -> tuple[Step, Step]:
    """Both releases with their sensitivity, which grows with the number of covariates."""
    return (
        replace(IN_RANGES, sensitivity=shift(n_functions)),
        replace(SCALED, sensitivity=shift(n_functions)),
    )


@dataclass(frozen=True)
class CovariateSite:
    """One site's regressors and its noise."""

    regressors: Array  # (repeats, K, people)
    unit: Array  # (2, columns): 1/(n μ_k), infinite for a release that is not made
    # (2, repeats, columns, K, K): symmetric, of variance 1 on the diagonal and ½ beside it
    noise: Array
    index: int = 0

    @property
    def n_functions(self) -> int:
        return int(self.regressors.shape[1])

    def noise_scale(self, step: Step) -> Array:
        """Standard deviation of the noise on the diagonal: (columns,)."""
        return np.asarray(shift(self.n_functions) * self.unit[STEPS.index(step)])

    def first(self) -> Array:
        """Second moments of the regressors in their ranges: (repeats, columns, K, K)."""
        average = mean_of_products(self.regressors, self.regressors, 1.0)
        return self.send(IN_RANGES, average[:, None])

    def second(self, standard: Array) -> Array:
        """Release second moments of the weighted V G: (repeats, columns, K, K), like V."""
        scaled = standard @ self.regressors[:, None]
        weighted = regressor_maps.weights(scaled) * scaled
        return self.send(SCALED, mean_of_products(weighted, scaled, float(self.n_functions)))

    def send(self, step: Step, average: Array) -> Array:
        """Average over a site's people with noise, (repeats, columns, K, K): all that leaves it."""
        scale = np.broadcast_to(self.noise_scale(step)[:, None, None], self.noise.shape[2:]).copy()
        if step == IN_RANGES:
            scale[..., 0, 0] = 0.0  # the mean of 1 is known
        return transcript.sent(
            self.index, step, average + scale * self.noise[STEPS.index(step)], scale
        )


@dataclass(frozen=True)
class CovariateMoments:
    """Moments of the covariates, all released or public."""

    map: RegressorMap
    moments: Array  # (repeats, columns, K, K): those of G as they stand
    # (repeats, columns, K): how much of every regressor's variance is left when the others explain
    # theirs: standard deviation of the noise in it, over its released value
    doubt: Array
    # (repeats, columns): by how much radii² must grow so that the few who tell an effect are not
    # clipped away
    widening: Array


def learned(sites: Sequence[CovariateSite], declared: Array | None = None) -> CovariateMoments:
    """Combine both releases of all sites; declared second moments (K, K) replace the first.

    Sites count with (n_s μ_s)², the inverse of their noise variance. A wrong declaration makes the
    second release a coarser one, and no more, as that measures what is left.
    """
    if declared is None:
        rough, noise = _combined(
            [site.first() for site in sites], [site.noise_scale(IN_RANGES) for site in sites]
        )
        moments = regressor_maps.floored(rough, np.maximum(_SURE_FIRST * noise, _MIN))
    else:
        shape = (*sites[0].noise.shape[1:3], *declared.shape)
        moments = np.broadcast_to(declared, shape).astype(float)
    standard = regressor_maps.whitening(moments)
    fine, noise = _combined(
        [site.second(standard) for site in sites], [site.noise_scale(SCALED) for site in sites]
    )
    sure = regressor_maps.floored(fine, np.maximum(_SURE * noise, _MIN))
    full = regressor_maps.reflected(regressor_maps.whitening(sure) @ standard)
    return CovariateMoments(
        RegressorMap(standard, full), moments, _doubt(fine, standard, noise), _widening(fine, noise)
    )


def _combined(sent: Sequence[Array], scales: Sequence[Array]) -> tuple[Array, Array]:
    """The average of what sites sent, and the standard deviation of its noise (columns,)."""
    mass = np.stack([1 / scale**2 for scale in scales])
    total = sum(each * precision[:, None, None] for each, precision in zip(sent, mass, strict=True))
    return np.asarray(total / mass.sum(axis=0)[:, None, None]), 1 / np.sqrt(mass.sum(axis=0))


def _doubt(fine: Array, standard: Array, noise: Array) -> Array:
    """Test what is left of the variance of regressor k: c'Γc = 1/(Γ⁻¹)_kk for c = Γ⁻¹e_k/(Γ⁻¹)_kk.

    With x = V⁻ᵀc noise E in the release of V Γ V' moves it by x'Ex, of standard deviation σ|x|².
    """
    tenth = regressor_maps.floored(fine, np.maximum(0.1 * noise, _MIN))
    inverse = standard.swapaxes(-1, -2) @ np.linalg.inv(tenth) @ standard
    left = 1 / np.diagonal(inverse, axis1=-2, axis2=-1)
    x = np.linalg.inv(standard).swapaxes(-1, -2) @ (inverse * left[..., None, :])
    return np.asarray(noise[:, None] * (x**2).sum(axis=-2) / left)


def _widening(fine: Array, noise: Array) -> Array:
    """1 + (60 σ (1/λ − 1))², at most 25, for the least eigenvalue λ of the second release, + 2σ.

    Where all people tell as much of every effect, the weights make λ 1. Where few tell one of them,
    the error of a centre is 1/λ times as large for those few, so that their deviations from it may
    exceed a radius that fits all others. That error is in proportion to σ; the factor is measured.
    """
    smallest_eigenvalue = np.maximum(np.linalg.eigvalsh(fine)[..., 0], 0.0) + 2 * noise
    excess = np.maximum(0.0, 1 / np.maximum(smallest_eigenvalue, _MIN) - 1)
    return np.asarray(np.minimum(_WIDEST, 1 + (_BY_LEVERAGE * noise * excess) ** 2))
