"""Fast evaluation of smooth functions at many points, from tables that are made once.

Trigonometric functions, not the algebra, are the bottleneck of a Monte-Carlo study over curves:
a table and a small correction cost a fifth of the library call. Curves are worked on in blocks, so
that passes over their readings stay in cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from engine.core.arrays import Array

_CELLS = 16384
_CELL = 2 * np.pi / _CELLS
_READINGS = 50_000  # in a block: enough for calls to cost little, few enough to cache
_CURVES = 5000  # along the fast axis: NumPy copies what it repeats over rows of up to 4096 numbers
_MAX_READINGS = 200_000


def cos_sin(turns: Array) -> tuple[Array, Array]:
    """Compute cos(2πx) and sin(2πx), to 3e-16, for x in [0, 1]; NaN where x is NaN.

    x is split into the nearest node of a table and a remainder h of at most 1/32768 turn; the angle
    sum formulas with cos h = 1 − h²/2 and sin h = h − h³/6, exact to rounding there, do the rest.
    """
    h = turns * _CELLS
    nearest = np.rint(h)
    h -= nearest
    with np.errstate(invalid="ignore"):  # anything where x is NaN, whose remainder stays NaN;
        node = nearest.astype(np.int32).astype(np.intp)  # by 32 bits, because that is vectorised
    cosine, sine = (wave.take(node, mode="clip") for wave in _circle())
    lost = np.multiply(h, h, out=nearest)
    lost *= _CELL**2 / 2  # 1 − cos h
    h *= _CELL
    sine_h = lost * (-1 / 3)
    sine_h += 1.0
    sine_h *= h
    sine_by_sine, cosine_by_sine = np.multiply(sine, sine_h, out=h), sine_h
    cosine_by_sine *= cosine
    cosine -= cosine * lost
    cosine -= sine_by_sine
    lost *= sine
    sine -= lost
    sine += cosine_by_sine
    return cosine, sine


@cache
def _circle() -> tuple[Array, Array]:
    angles = np.arange(_CELLS + 1) * (2 * np.pi / _CELLS)
    return np.cos(angles), np.sin(angles)


def horner(coefficients: Array, z: Array) -> Array:
    """Polynomials Σ_k coefficients[k] z^k, one for each curve: (points, curves).

    Examples
    --------
    >>> horner(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0]])).tolist()
    [[17.0]]
    """
    if len(coefficients) == 1:
        return np.broadcast_to(coefficients[0], z.shape).copy()
    total = coefficients[-1] * z
    for c in coefficients[-2:0:-1]:
        total += c
        total *= z
    total += coefficients[0]
    return np.asarray(total)


def as_polynomial(curve: Callable[[Array], Array]) -> Array:
    """A smooth curve on [0, 1] in powers of z = 2t − 1, to 1e-9 of its size; see `horner`."""
    series = np.polynomial.Chebyshev.interpolate(lambda z: curve((z + 1) / 2) + 0 * z, 40)
    trimmed = series.trim(1e-9 * max(np.abs(series.coef).max(), 1e-300))
    return np.asarray(np.polynomial.chebyshev.cheb2poly(trimmed.coef), dtype=float)


def curves_at_once(readings: int) -> int:
    """Choose how many curves, at least 1, of a block run along the fast axis.

    Each has `readings` of them, at least 1.

    Examples
    --------
    >>> [curves_at_once(readings) for readings in (5, 20, 100, 1_000_000)]
    [10000, 5000, 2000, 1]
    """
    target = max(_READINGS // readings, _CURVES)
    return max(1, min(target, _MAX_READINGS // readings))
