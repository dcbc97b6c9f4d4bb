"""Least squares over all readings, every curve with weight one, and its errors over curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from engine.core.arrays import Array
from engine.core.types import Design, TimeLaw
from engine.numerics.bases import Basis
from engine.numerics.deviations import are_told_apart

_RIDGE = 1e-10  # keeps a design with too few points solvable
_SMOOTH_RIDGE, _SMOOTHEST = 1e-9, 41  # of the first of so many functions, through few times


class CurveMoments(Protocol):
    """Moments of curves, with regressors or without."""

    @property
    def size(self) -> int: ...

    @property
    def n_curves(self) -> int: ...

    def average(self) -> tuple[Array, Array]: ...

    def gradients(self, iterates: Array) -> Callable[[slice], Array]:
        """Compute gradients at iterates (repeats, columns, p), as a function of a slice of curves.

        The function returns (repeats, columns, p, curves).
        """
        ...


def shown_by(basis: Basis, times: Sequence[float]) -> tuple[Basis, Array]:
    """The functions to be fitted to curves with these common times, and the ridge for them, (r,).

    Few times may not tell functions apart: least squares would join them by spikes. Then more
    functions, with a ridge that grows like l³, draw a smooth curve through what the times tell.

    Examples
    --------
    >>> visits = (0.0, 0.04, 0.12, 0.25, 0.5, 1.0)
    >>> [shown_by(Basis(size, family="fourier"), visits)[0].size for size in (2, 12)]
    [2, 41]
    """
    if are_told_apart(basis, Design(law=TimeLaw.COMMON, times=tuple(times)) if times else Design()):
        return basis, np.full(basis.size, _RIDGE)
    order = np.arange(1.0, _SMOOTHEST + 1)
    return Basis(_SMOOTHEST, family=basis.family), _SMOOTH_RIDGE * order**3


def fit(curves: CurveMoments, ridge: Array | float = _RIDGE) -> Array:
    """Fit coefficients (repeats, p) by least squares over all readings, weighing curves alike.

    `ridge` is (p,) or a number, as for `solve`.
    """
    return solve(*curves.average(), ridge)


def solve(gram: Array, cross: Array, ridge: Array | float = _RIDGE) -> Array:
    """Solve the normal equations; a ridge keeps a design with too few points solvable."""
    stable = gram + ridge * np.eye(gram.shape[-1])
    return np.asarray(np.linalg.solve(stable, cross[..., None])[..., 0])


def covariance(curves: CurveMoments, coefficients: Array, ridge: Array | float = _RIDGE) -> Array:
    """Covariance of the least-squares coefficients: (repeats, p, p).

    Curves are independent, readings within one are not: the sandwich formula over curves.
    """
    return sandwich(
        curves.average()[0], curves.gradients(coefficients[:, None])(slice(None))[:, 0], ridge
    )


def sandwich(gram: Array, scores: Array, ridge: Array | float = _RIDGE) -> Array:
    """Covariance of least-squares coefficients from what each curve adds to their gradient."""
    stable = gram + ridge * np.eye(gram.shape[-1])
    influence = np.linalg.solve(stable, scores) / scores.shape[-1]
    return np.asarray(influence @ influence.swapaxes(-1, -2))


def within_functions(covariance: Array) -> Array:
    """The covariance of each of K functions with itself: (…, K, r, K, r) to (…, K, r, r)."""
    n_functions = covariance.shape[-2]
    return np.stack([covariance[..., k, :, k, :] for k in range(n_functions)], axis=-3)
