"""Test curves on [0, 1] for wavelet methods: with jumps, peaks, kinks, and exact roughness.

The first four are those of Donoho and Johnstone (1994), Biometrika 81, 425–455.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from engine.core.arrays import Array
from engine.numerics.wavelet_bases import WaveletBasis

Function = Callable[[Array], Array]
SUP_NORM = 2.0  # of every curve but the self-similar one; 0.003 more at kinks of "bumps"
SELF_SIMILAR_RADIUS = 5.576046  # ‖f_l‖₂ = R 2^{−l}, for every level l that it has

_PLACES = (0.1, 0.13, 0.15, 0.23, 0.25, 0.4, 0.44, 0.65, 0.76, 0.78, 0.81)
_STEPS = (4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2)
_PEAKS = (4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2)
_WIDTHS = (0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005)


def _blocks(x: Array) -> Array:
    return np.asarray(
        sum(h * (1 + np.sign(x - t)) / 2 for h, t in zip(_STEPS, _PLACES, strict=True))
    )


def _bumps(x: Array) -> Array:
    return np.asarray(
        sum(
            h / (1 + np.abs(x - t) / w) ** 4
            for h, t, w in zip(_PEAKS, _PLACES, _WIDTHS, strict=True)
        )
    )


def _heavisine(x: Array) -> Array:
    return 4 * np.sin(4 * np.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x)


def _doppler(x: Array) -> Array:
    return np.sqrt(x * (1 - x)) * np.sin(2.1 * np.pi / (x + 0.05))


def _smooth(x: Array) -> Array:
    return np.sin(2 * np.pi * x) + np.cos(6 * np.pi * x + 0.5) / 2


def _ramp(x: Array) -> Array:
    return np.exp(1.5 * x) * np.cos(4 * x)


def _cusp(x: Array) -> Array:
    """Evaluate a cusp of smoothness 3/4 at its kink, with sup norm 2."""
    return 2 - 4 * (np.abs(x - 0.37) / 0.63) ** 0.75


_SHAPES: dict[str, Function] = {
    "smooth": _smooth,
    "blocks": _blocks,
    "bumps": _bumps,
    "heavisine": _heavisine,
    "doppler": _doppler,
    "ramp": _ramp,
    "cusp": _cusp,
}
SIGNALS = (*_SHAPES, "self_similar")
PERIODIC = ("smooth", "blocks", "bumps", "heavisine", "doppler", "self_similar")


def signal(name: str) -> Function:
    """A test curve, scaled to sup norm 2 on 2^17 midpoints; self_similar to 1.9 on 2^15.

    Examples
    --------
    >>> round(float(signal("cusp")(np.array(0.37))), 3)  # its kink
    2.0
    """
    if name == "self_similar":
        return _self_similar
    factor, shape = _factor(name), _SHAPES[name]
    return lambda x: factor * shape(x)


@lru_cache
def _factor(name: str) -> float:
    return float(SUP_NORM / np.abs(_SHAPES[name](_midpoints(2**17))).max())


def _self_similar(x: Array) -> Array:
    """A curve whose approximation error is of exactly the order that smoothness 1 allows."""
    basis, scaling = _details()
    return basis.curve(scaling, x)


@lru_cache(maxsize=1)
def _details() -> tuple[WaveletBasis, Array]:
    """Periodic db4 up to level 14: details ±2^{−3l/2} for l = 3 … 13, fixed signs."""
    basis, rng = WaveletBasis(2**14), np.random.default_rng(7)
    coefficients = np.zeros(basis.size)
    for level, index in basis.levels[1:]:
        coefficients[index] = 2 ** (-1.5 * level) * rng.choice([-1.0, 1.0], 2**level)
    scaling = basis.from_levels(coefficients)
    return basis, scaling * 1.9 / np.abs(basis.curve(scaling, _midpoints(2**15))).max()


def _midpoints(count: int) -> Array:
    return (np.arange(count) + 0.5) / count
