"""(ε, δ) of Gaussian noise, exactly: Balle and Wang 2018 (arXiv 1805.06530), Equation 6.

The same function and the same root as `dp_accounting.gaussian_mechanism`, to the last digit, which
a test holds it to. That package takes a second to import, and this is all the first picture needs.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from engine.numerics.roots import root

_TOLERANCE = 1e-12


def log_delta(sigma: float, epsilon: float) -> float:
    """Compute log δ, the smallest for Gaussian noise on a number that one person moves by 1.

    σ is the deviation of the noise, above 0. Returns −∞ where δ is below what floating point holds.
    """
    t = epsilon * sigma + 1 / (2 * sigma)
    x = log_ndtr(1 / sigma - t)
    y = epsilon + log_ndtr(-t)
    return float(x + np.log1p(-np.exp(y - x))) if y < x else -np.inf


def sigma_of(epsilon: float, delta: float) -> float:
    """Find the smallest noise, to 1e-12, that is (ε, δ)-private if one person moves a number by 1.

    Examples
    --------
    >>> round(sigma_of(1.0, 1e-5), 4)
    3.7306
    """
    low, high, target = 0.1, 1.0, np.log(delta)
    while log_delta(low, epsilon) < target:
        low, high = low / 10, low
    while log_delta(high, epsilon) > target:
        low, high = high, high * 10
    return root(lambda sigma: log_delta(sigma, epsilon) - target, low, high, _TOLERANCE)


def epsilon_of(sigma: float, delta: float) -> float:
    """Find the smallest ε, to 1e-12, for which this noise is (ε, δ)-private.

    σ, finite and above 0, is the deviation on a number that one person moves by 1.
    """
    low, high, target = 0.0, 1.0, np.log(delta)
    if log_delta(sigma, 0.0) < target:
        return 0.0
    while log_delta(sigma, high) > target:
        low, high = high, high * 10
    return root(lambda epsilon: log_delta(sigma, epsilon) - target, low, high, _TOLERANCE)
