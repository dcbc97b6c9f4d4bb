"""Information of one curve about its mean if people are normal: Fisher information and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.core.arrays import Array
from engine.core.types import Design
from engine.numerics.bases import Basis
from engine.numerics.kernels import path_polynomials
from engine.numerics.observation_times import Stratified, draw_times

_SEED = 20_241_206
_SCORES = 6000
_CURVES, _FEWEST_CURVES = 600, 100  # simulated curves; fewer of those that are alike anyway
_ENTRIES = 20_000  # observations of simulated curves, unless there are the fewest
_MAX_OBSERVATIONS = 200  # of a simulated curve; more are so many of a smaller error
_SINGULAR = 1e-9  # of the largest eigenvalue: no curve tells anything of such a direction
_RIDGE = 1e-12


@dataclass(frozen=True)
class NormalPeople:
    """People whose curves are normal about the mean: a Matérn process, and errors of
    observation.
    """

    # smoothness, length, sd: of the Matérn covariance of a person's deviation; see
    # `engine.numerics.kernels.matern`
    smoothness: float
    length: float
    sd: float
    # of the independent error of one observation, above 0, in squared response units
    error_variance: float


@dataclass(frozen=True, eq=False)
class Information:
    """The information of one curve about the coefficients of the first r functions of a basis."""

    # (r, r): J = E Φ'Σ⁻¹Φ over the times of a curve, where Φ are the functions at these times and Σ
    # is the covariance of the observations
    matrix: Array
    scores: Array  # (simulated curves, r): s = Φ'Σ⁻¹(y − mean); E ss' = J

    def first(self, size: int) -> Information:
        """Return the information about fewer coefficients, the others being known."""
        return Information(self.matrix[:size, :size], self.scores[:, :size])


def mixed(parts: Sequence[tuple[Information, float]]) -> Information:
    """Average the information of a curve which is one of several kinds."""
    if len(parts) == 1:
        return parts[0][0]
    matrix = np.sum([share * kind.matrix for kind, share in parts], axis=0)
    scores = np.concatenate(
        [kind.scores[: max(1, round(share * len(kind.scores)))] for kind, share in parts]
    )
    order = np.random.default_rng(_SEED).permutation(len(scores))  # first ones are of all kinds
    return Information(matrix, scores[order])


def inverse_trace(matrix: Array) -> float:
    """Compute tr J⁻¹: n times the least total variance of an unbiased estimate from n curves.

    It is infinite where J is singular: then nothing is unbiased in some direction.
    """
    return _trace_of_power(matrix, -1.0)


def root_trace(matrix: Array) -> float:
    """Compute the trace of J^{−1/2}: the sum of standard deviations where curves are seen exactly.

    It is infinite where J is singular.

    Examples
    --------
    >>> root_trace(np.diag([4.0, 1.0]))
    1.5
    """
    return _trace_of_power(matrix, -0.5)


def _trace_of_power(matrix: Array, power: float) -> float:
    values = np.linalg.eigvalsh(matrix)
    return np.inf if is_singular(np.asarray(values)) else float((values**power).sum())


def is_singular(eigenvalues: Array) -> bool:
    """True if no curve determines some direction."""
    return bool(eigenvalues[0] <= _SINGULAR * eigenvalues[-1])


@lru_cache(maxsize=64)
def of_one_curve(
    people: NormalPeople, design: Design, observations: int, basis: Basis
) -> Information:
    """The information of a curve that is observed so often, by simulation with a fixed seed.

    With Σ = VV' + σ²I, V the Karhunen–Loève functions at the times of a curve, all follows from
    products of V and Φ: Φ'Σ⁻¹Φ = (Φ'Φ − Φ'V(σ²I + V'V)⁻¹V'Φ)/σ². Very many observations of a
    smooth curve tell as much as fewer with a smaller error.
    """
    max_observations = max(_MAX_OBSERVATIONS, len(design.times))
    if observations > max_observations:
        error_variance = people.error_variance * max_observations / observations
        return of_one_curve(
            replace(people, error_variance=error_variance), design, max_observations, basis
        )
    rng = np.random.default_rng(_SEED)
    curves = int(np.clip(_ENTRIES // observations, _FEWEST_CURVES, _CURVES))
    of_each = _SCORES // curves
    times = draw_times(design, curves, observations, Stratified(rng))
    paths = path_polynomials(people.smoothness, people.length, 1.0) * people.sd
    deviations = np.polynomial.polynomial.polyvander(2 * times - 1, len(paths) - 1) @ paths
    functions = basis(times)  # (curves, observations, r), as deviations are (…, terms)
    across, along = deviations.swapaxes(1, 2), functions.swapaxes(1, 2)
    variance = people.error_variance
    inner = across @ deviations + variance * np.eye(paths.shape[1])
    crossed = across @ functions
    matrix = (along @ functions - crossed.swapaxes(1, 2) @ np.linalg.solve(inner, crossed)).mean(
        axis=0
    ) / variance
    errors = rng.standard_normal((curves, observations, of_each)) * np.sqrt(variance)
    weights = rng.standard_normal((curves, paths.shape[1], of_each))
    values = deviations @ weights + errors
    scores = (
        along @ values - crossed.swapaxes(1, 2) @ np.linalg.solve(inner, across @ values)
    ) / variance
    return Information(
        np.asarray(matrix),
        _matched(np.moveaxis(scores, 1, 2).reshape(-1, basis.size), np.asarray(matrix)),
    )


def _matched(scores: Array, matrix: Array) -> Array:
    """Scores that are turned a little, so that their second moments are exactly J."""
    ridge = _RIDGE * np.trace(matrix) * np.eye(len(matrix))  # of directions that no curve tells of
    present, target = (
        np.linalg.cholesky(moments + ridge) for moments in (scores.T @ scores / len(scores), matrix)
    )
    return np.asarray(scores @ np.linalg.solve(present, np.eye(len(matrix))).T @ target.T)
