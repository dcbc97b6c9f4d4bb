"""Grids on [0, 1] and its square, to draw functions, integrate them and interpolate."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import NDArray

from engine.core.arrays import Array

GRID_SIZE = 101  # points at which curves are drawn and exported
_NODES = 200  # Gauss–Legendre nodes: exact to rounding for the smooth truths used here
_MIDPOINTS = 2**15  # for curves with jumps: cells of dyadic length hold whole numbers of them
_SIDE = 96  # midpoints along each side of the square
_BARS = 8  # bars along a curve
PERCENTAGES = tuple(range(2, 99))  # of the percentile curves that a known population states


def drawing_grid() -> Array:
    """The equally spaced points of [0, 1] on which curves are drawn, both ends included."""
    return np.linspace(0.0, 1.0, GRID_SIZE)


def bar_places(count: int) -> list[int]:
    """Choose the middles of equal parts among equally spaced points, for bands drawn as bars.

    Examples
    --------
    >>> bar_places(GRID_SIZE)
    [6, 18, 31, 43, 56, 68, 81, 93]
    """
    return [int((count - 1) * (k + 0.5) / _BARS) for k in range(_BARS)]


def nearest_to_median(levels: Array) -> int:
    """Find the place of the percentile curve nearest to the median.

    Examples
    --------
    >>> nearest_to_median(np.array([0.05, 0.25, 0.5, 0.75, 0.95]))
    2
    """
    return int(np.argmin(np.abs(levels - 0.5)))


def drawing_points(rule: str) -> Array:
    """Points at which functions of a rule are drawn: the drawing grid, or nodes of "square"."""
    return quadrature(rule)[0] if rule == "square" else drawing_grid()


@cache
def quadrature(rule: str = "gauss") -> tuple[Array, Array]:
    """Nodes and weights of a rule, read-only; weights sum to one.

    "gauss": 200 nodes of Gauss and Legendre on [0, 1]; "midpoints": 2^15 equal ones; "square":
    those of 96 × 96 equal cells of [0, 1]², the second coordinate fastest.

    Examples
    --------
    >>> nodes, weights = quadrature()
    >>> round(float(weights @ nodes**2), 12)  # ∫ t² dt
    0.333333333333
    """
    if rule == "square":
        side = _middles(_SIDE)
        pairs = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        return read_only(pairs), read_only(np.full(len(pairs), 1 / len(pairs)))
    if rule == "midpoints":
        return read_only(_middles(_MIDPOINTS)), read_only(np.full(_MIDPOINTS, 1 / _MIDPOINTS))
    nodes, weights = leggauss(_NODES)
    return read_only((nodes + 1) / 2), read_only(weights / 2)


def _middles(cells: int) -> Array:
    """The middles of equal cells of [0, 1]."""
    return (np.arange(cells) + 0.5) / cells


def interpolated(rule: str, rows: Array, points: Array) -> Array:
    """Functions (f, nodes) read off at points (d, n) between the nodes of a rule: (f, n).

    "gauss": the polynomial through the nodes. "midpoints": the broken line. "square": the bicubic
    spline.
    """
    if rule == "gauss":
        return np.asarray(legvander(2 * points[0] - 1, _NODES - 1) @ _to_legendre() @ rows.T).T
    if rule == "midpoints":
        nodes = quadrature(rule)[0]
        return np.stack([np.interp(points[0], nodes, row) for row in rows])
    return np.stack([_spline(row.reshape(_SIDE, _SIDE), points) for row in rows])


@cache
def _to_legendre() -> Array:
    """Legendre coefficients of the polynomial through values on the nodes: (200, 200)."""
    nodes, weights = quadrature()
    waves = legvander(2 * nodes - 1, _NODES - 1).T
    return read_only((2 * np.arange(_NODES) + 1)[:, None] * (waves * weights))


def _spline(heights: Array, points: Array) -> Array:
    """The bicubic spline through `heights` on the square, at points (2, n): (n,)."""
    from scipy.interpolate import RectBivariateSpline  # on first use: it takes a moment

    side = _middles(_SIDE)
    return np.asarray(RectBivariateSpline(side, side, heights, bbox=[0, 1, 0, 1]).ev(*points))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of the same numbers that nobody can write to."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
