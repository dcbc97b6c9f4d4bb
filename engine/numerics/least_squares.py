"""Least squares over all readings, every curve with weight one, and its errors over curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from engine.core.arrays import Array

_RIDGE = 1e-10  # keeps a design with too few points solvable


class Curves(Protocol):
    """Moments of curves, with regressors or without."""

    @property
    def size(self) -> int: ...

    @property
    def n_curves(self) -> int: ...

    def average(self) -> tuple[Array, Array]: ...

    def gradients(self, iterates: Array) -> Callable[[slice], Array]:
        """Gradients at iterates (repeats, columns, p), as a function of which curves.

        Parameters
        ----------
        iterates : (repeats, columns, p)
            The coefficients.

        Returns
        -------
        callable
            From a slice of the curves to (repeats, columns, p, curves).
        """
        ...


def fit(curves: Curves) -> Array:
    """Least squares over all readings, every curve with weight one.

    Parameters
    ----------
    curves : Curves
        Moments of (repeats, curves).

    Returns
    -------
    (repeats, p)
        Coefficients.
    """
    return solve(*curves.average())


def solve(gram: Array, cross: Array) -> Array:
    """Solve the normal equations; a ridge of 1e-10 keeps a design with too few points solvable.

    Parameters
    ----------
    gram : (repeats, p, p)
        Average products of the basis functions.
    cross : (repeats, p)
        Average products with the responses.

    Returns
    -------
    (repeats, p)
        Coefficients.
    """
    stable = gram + _RIDGE * np.eye(gram.shape[-1])
    return np.asarray(np.linalg.solve(stable, cross[..., None])[..., 0])


def covariance(curves: Curves, coefficients: Array) -> Array:
    """Covariance of the least-squares coefficients.

    Curves are independent, readings within one are not: the sandwich formula over curves.

    Parameters
    ----------
    curves : Curves
        Moments of (repeats, curves).
    coefficients : (repeats, p)
        Of `fit`.

    Returns
    -------
    (repeats, p, p)
    """
    return sandwich(curves.average()[0],
                    curves.gradients(coefficients[:, None])(slice(None))[:, 0])


def sandwich(gram: Array, scores: Array) -> Array:
    """Covariance of least-squares coefficients from what each curve adds to their gradient.

    Parameters
    ----------
    gram : (repeats, p, p)
        Average products of the basis functions.
    scores : (repeats, p, curves)
        Gradients at the fit.

    Returns
    -------
    (repeats, p, p)
    """
    stable = gram + _RIDGE * np.eye(gram.shape[-1])
    influence = np.linalg.solve(stable, scores) / scores.shape[-1]
    return np.asarray(influence @ influence.swapaxes(-1, -2))


def within_functions(covariance: Array) -> Array:
    """The covariance of each of K functions with itself: (…, K, r, K, r) to (…, K, r, r)."""
    n_functions = covariance.shape[-2]
    return np.stack([covariance[..., k, :, k, :] for k in range(n_functions)], axis=-3)
