"""Principal components of people's curves, from one release, at no further cost.

Eigenvectors of Σ, the covariance of people's curves in q polynomials (`answers.spread`), are the
directions in which people differ, and its eigenvalues their shares. What is not known of them is in
the same draws of a fixed public sample that serve all answers about people. Directions are given
from the first on, up to the first that is not within 30° of its own draws in nine of ten: a small
gap between eigenvalues, or one below the noise, gives wide angles, so no rule about gaps is needed.

Clipping holds back curves that deviate much. It moves up to .04 of a share to another and does not
fall with the number of people, hence the allowance; it leaves directions as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.answers.reply import Interval
from engine.answers.spread import ReleasedSpread
from engine.core.bands import LEVEL
from engine.core.types import Array
from engine.numerics.curve_covariances import moments_drawn, people_spread
from engine.numerics.legendre import polynomial_rows

WIDEST, _OF_DRAWS = 30.0, 0.9  # degrees that this share of the draws may turn away
ALIKE = 15.0  # degrees from which neighbours with overlapping shares turn into each other
_ALLOWANCE, _OF_FEW, _FEW = 0.02, 0.05, 10  # of a share; below so many observations of a person
_FITS, _MISFIT = 60, 0.05  # draws about the fit, and the p-value from which it is doubted
_GRID = 201


@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Directions in which people's curves differ, the widest first."""

    # eigenvectors of Σ, columns: (q, shown); positive where the function is largest in size
    directions: Array
    deviations: Array  # √λ, in response units: (shown,)
    shares: Array  # λ/Σλ: (shown,)
    limits: tuple[Interval, ...]  # of the shares, 95 %
    angles: Array  # median degrees between a direction and its draws: (shown,)
    p_detail: float  # p-value of the fit of q polynomials to the second moments

    @property
    def n_shown(self) -> int:
        """Directions that are told."""
        return len(self.shares)

    @property
    def has_finer_detail(self) -> bool:
        """True if people also differ in detail that the polynomials do not draw."""
        return self.p_detail <= _MISFIT

    def curves(self, times: Array) -> Array:
        """Functions √λ_k φ_k at times on [0, 1], in response units: (shown, times)."""
        rows = polynomial_rows(len(self.directions), times)
        return np.asarray(self.deviations[:, None] * (rows @ self.directions).T)

    @cached_property
    def alike(self) -> tuple[tuple[int, int], ...]:
        """Neighbours whose shares overlap and whose directions turn into each other."""
        return tuple(
            (k, k + 1)
            for k in range(self.n_shown - 1)
            if self.limits[k][0] < self.limits[k + 1][1]
            and min(self.angles[k], self.angles[k + 1]) > ALIKE
        )


def components_of(spread: ReleasedSpread) -> PrincipalComponents:
    """Compute the components that a release tells; none where the first is not told."""
    values, vectors = eigenvectors(spread.estimate.covariance)
    drawn_values, drawn_vectors = eigenvectors(spread.drawn.covariance)
    turned = np.abs(np.einsum("jk,bjk->bk", vectors, drawn_vectors))
    angles = np.degrees(np.arccos(np.minimum(turned, 1.0)))
    is_told = (np.quantile(angles, _OF_DRAWS, axis=0) <= WIDEST) & (values > 0)
    shown = int(np.argmin(np.append(is_told, False)))
    shares = drawn_values[:, :shown] / np.maximum(
        drawn_values.sum(axis=1, keepdims=True), np.finfo(float).tiny
    )
    tails = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    limits = np.clip(tails + np.array([[-1.0], [1.0]]) * _allowance(spread), 0.0, 1.0)
    return PrincipalComponents(
        _upwards(vectors[:, :shown]),
        np.sqrt(values[:shown]),
        values[:shown] / values.sum() if shown else values[:0],
        tuple((float(low), float(high)) for low, high in limits.T),
        np.median(angles[:, :shown], axis=0),
        _p_detail(spread),
    )


def eigenvectors(covariances: Array) -> tuple[Array, Array]:
    """Compute eigenvalues, the largest first and none negative, and eigenvectors as columns."""
    values, vectors = np.linalg.eigh(covariances)
    return np.maximum(values[..., ::-1], 0.0), vectors[..., ::-1]


def _upwards(directions: Array) -> Array:
    """Turn directions so that each function is positive where it is largest in size."""
    curves = polynomial_rows(len(directions), np.linspace(0, 1, _GRID)) @ directions
    largest = np.take_along_axis(curves, np.abs(curves).argmax(axis=0)[None], axis=0)[0]
    return np.asarray(directions * np.where(largest < 0, -1.0, 1.0))


def _allowance(spread: ReleasedSpread) -> float:
    """The share that clipping may take; more where most people have few observations."""
    usual = max(spread.observation_counts, key=lambda pair: pair[1])[0]
    return _ALLOWANCE if usual >= _FEW else _OF_FEW


def _p_detail(spread: ReleasedSpread) -> float:
    """Compare the misfit of the released moments with that of draws about the fit."""
    fitted = spread.maps.moments_of(spread.estimate, spread.stretch)
    drawn = moments_drawn(fitted, spread.noise, spread.n_people)[:_FITS]
    again = people_spread(drawn, spread.stretch, spread.maps, spread.stated_error)
    misfits = _squares(drawn - spread.maps.moments_of(again, spread.stretch))
    misfit = float(_squares(spread.moments - fitted))
    return float((1 + (misfits >= misfit).sum()) / (1 + _FITS)) if math.isfinite(misfit) else 0.0


def _squares(matrices: Array) -> Array:
    return np.asarray((matrices**2).sum(axis=(-2, -1)))
