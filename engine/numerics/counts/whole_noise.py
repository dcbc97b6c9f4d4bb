"""Discrete Laplace noise: whole numbers made of Laplace variables, and their variance."""

from __future__ import annotations

import math

import numpy as np

from engine.core.arrays import Array

_SILENT = 1e-3  # discrete noise of a smaller scale is 0 but once in e^1000 draws


def discretised(standard: Array, scale: float) -> Array:
    """Whole numbers with P(k) ∝ exp(−|k|/b), from Laplace variables of scale 1.

    With a = e^{−1/b}, the size of such a number is at least k ≥ 1 with chance 2a^k/(1 + a). As the
    size of a standard Laplace variable L is exponential, sign(L) ⌊|L| b + c⌋ has just this law for
    c = b log(2/(1 + a)), which is at most ½ because (1 + a)/2 ≥ √a. The same L at several scales
    gives numbers that move together.

    Parameters
    ----------
    standard : array
        Laplace variables of scale 1.
    scale : float
        b ≥ 0; at 0 there is no noise.

    Returns
    -------
    array
        Whole numbers, in the same shape.

    Examples
    --------
    >>> discretised(np.array([-1.2, 0.0, 0.1, 3.0]), 2.0).tolist()
    [-2.0, 0.0, 0.0, 6.0]
    """
    if scale == 0:
        return np.zeros_like(standard)
    begin = scale * math.log(2 / (1 + math.exp(-1 / scale)))
    return np.asarray(np.copysign(np.floor(np.abs(standard) * scale + begin), standard) + 0.0)


def variance_of_discrete(scale: float) -> float:
    """The variance of `discretised` noise: 2a/(1 − a)², a = e^{−1/b}.

    Parameters
    ----------
    scale : float
        b ≥ 0.

    Examples
    --------
    >>> round(variance_of_discrete(2.0), 4)
    7.8354
    """
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > _SILENT else 0.0
