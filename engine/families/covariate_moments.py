"""Two small private releases after which covariates of any kind can be told apart.

The first is of the second moments of the regressors as they stand, G = (1, g) with covariates on
[−1, 1]. Its noise is as large for a covariate that hardly varies as for one that fills its range.
So the second is of regressors that the first has centred, scaled and told apart, weighted so that
nobody has more influence than one and a half typical people: its noise is relative to the
covariates' own spread, and small against it where the first was merely of the right size.

Privacy
-------
Replace one person, covariates and all. Everything that the second release uses beside the people
is public or was released by the first.

* *First.* Each person adds GG'/n with |G|² ≤ K by the public ranges. ‖GG' − HH'‖²_F = |G|⁴ + |H|⁴ −
  2(G'H)² ≤ 2K², so the average moves by at most √2 K/n in Frobenius norm. Its entry of the
  intercept with itself is the constant 1.
* *Second.* Each person adds xx'/n with x = √w(VG) · VG, and |x|² = w |VG|² ≤ 1.5 K by the weights,
  whatever V and G are: by the same computation the average moves by at most √2 · 1.5 K/n.

Symmetric noise of standard deviation shift/μ_k on the diagonal and that over √2 beside it is
isotropic for the Frobenius norm: μ_k-GDP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.numerics import regressor_maps
from engine.numerics.regressor_maps import RegressorMap
from engine.privacy import transcript
from engine.types import Array

STEPS = ("covariates as they are", "covariates centred and scaled")
MOST, CC = 10.0, 400.0
_LEAST = 1e-6  # eigenvalue of what was released without noise
_SURE_FIRST, _SURE = 2.0, 3.0  # least eigenvalues in standard deviations of the noise


def shift(step: int, n_functions: int) -> float:
    """By how much one of n people can move the release, times n: in Frobenius norm."""
    trace = n_functions if step == 0 else regressor_maps.largest_trace(n_functions)
    return float(np.sqrt(2) * trace)


@dataclass(frozen=True)
class CovariateSite:
    """One site's regressors (repeats, K, people) and its noise.

    `unit` (2, columns) is 1/(n μ_k); `noise` (2, repeats, columns, K, K) is symmetric, of variance
    1 on the diagonal and ½ beside it.
    """

    regressors: Array
    unit: Array
    noise: Array
    index: int = 0

    @property
    def n_functions(self) -> int:
        return self.regressors.shape[1]

    def scale(self, step: int) -> Array:
        """Standard deviation of the noise on the diagonal: (columns,)."""
        return np.asarray(shift(step, self.n_functions) * self.unit[step])

    def first(self) -> Array:
        """Second moments of the regressors as they stand: (repeats, columns, K, K)."""
        average = self.regressors @ self.regressors.swapaxes(1, 2) / self.regressors.shape[2]
        return self.send(0, average[:, None])

    def second(self, standard: Array) -> Array:
        """Those of the weighted regressors V G, for V (repeats, columns, K, K)."""
        scaled = standard @ self.regressors[:, None]
        weighted = regressor_maps.weights(scaled) * scaled
        return self.send(1, weighted @ scaled.swapaxes(-1, -2) / self.regressors.shape[2])

    def send(self, step: int, average: Array) -> Array:
        """All that leaves a site: an average of its people with noise of this scale."""
        size = np.broadcast_to(self.scale(step)[:, None, None], self.noise.shape[2:]).copy()
        if step == 0:
            size[..., 0, 0] = 0.0  # the mean of 1 is known
        return transcript.sent(self.index, STEPS[step], average + size * self.noise[step], size)


@dataclass(frozen=True)
class CovariateMoments:
    """What was learned of the covariates, all of it released or public.

    `map` makes them comparable; `moments` (repeats, columns, K, K) are those of G before weights;
    `doubt` (repeats, columns, K) is the standard deviation of the noise in what is left of the
    variance of every regressor after all others have explained theirs, over that variance.
    """

    map: RegressorMap
    moments: Array
    doubt: Array
    reach: Array


def learned(sites: Sequence[CovariateSite], declared: Array | None = None) -> CovariateMoments:
    """Both releases of all sites; the first is left out where second moments are declared.

    Sites count with (n_s μ_s)², the inverse of their noise variance.
    """
    n_functions = sites[0].n_functions
    repeats, columns = sites[0].noise.shape[1:3]
    if declared is None:
        rough, noise = _combined([site.first() for site in sites],
                                 [site.scale(0) for site in sites])
        moments = regressor_maps.floored(rough, np.maximum(_SURE_FIRST * noise, _LEAST))
    else:
        moments = np.broadcast_to(declared, (repeats, columns, *declared.shape)).astype(float)
    standard = regressor_maps.standardising(moments)
    fine, noise = _combined([site.second(standard) for site in sites],
                            [site.scale(1) for site in sites])
    doubt = _doubt(fine, standard, noise)
    fine = regressor_maps.floored(fine, np.maximum(_SURE * noise, _LEAST))
    least = np.linalg.eigvalsh(fine)[..., 0]
    size = shift(1, n_functions) / np.sqrt(0.1) / noise
    reach = np.minimum(MOST, 1 + (CC * np.maximum(0, 1 / np.minimum(1, least + noise) - 1) / size) ** 2)
    whole = regressor_maps.mixed(regressor_maps.standardising(fine) @ standard)
    assert whole.shape[-1] == n_functions
    return CovariateMoments(RegressorMap(standard, whole), moments, doubt, reach)


def _combined(sent: Sequence[Array], scales: Sequence[Array]) -> tuple[Array, Array]:
    """The average of what sites sent, and the standard deviation of its noise (columns,)."""
    mass = np.stack([1 / scale**2 for scale in scales])
    total = sum(each * one[:, None, None] for each, one in zip(sent, mass, strict=True))
    return np.asarray(total / mass.sum(axis=0)[:, None, None]), 1 / np.sqrt(mass.sum(axis=0))


def _doubt(fine: Array, standard: Array, noise: Array) -> Array:
    """Noise over what is left of every regressor's variance when the others explain theirs.

    What is left is c'Γc for the c = Γ⁻¹e_k/(Γ⁻¹)_kk; in coordinates V G with c = V'c̃ the noise E
    of the release moves it by c̃'Ec̃, whose standard deviation is σ |c̃|².
    """
    fine = regressor_maps.floored(fine, np.maximum(0.1 * noise, _LEAST))
    inverse = standard.swapaxes(-1, -2) @ np.linalg.inv(fine) @ standard
    own = np.diagonal(inverse, axis1=-2, axis2=-1)
    c = np.linalg.inv(standard).swapaxes(-1, -2) @ (inverse / own[..., None, :])
    return np.asarray(noise[:, None] * (c**2).sum(axis=-2) * own)
