"""The grid on which places are looked for, and sets of times on it: pieces, lengths, crossings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.answers.reply import Interval
from engine.core.types import Array

POINTS = 201  # of the grid on which places are looked for
STEP = 1 / (POINTS - 1)


def grid() -> Array:
    """Times on [0, 1] at which places are looked for: (201,)."""
    return np.linspace(0.0, 1.0, POINTS)


@dataclass(frozen=True)
class GridBand:
    """A curve with its simultaneous band on the grid; of several readings the hull."""

    # middle, low, high, each (201,): in response units per power of unit time
    middle: Array
    low: Array
    high: Array
    error: Array  # (201,): standard errors, of the first reading


def pieces_of(
    among: NDArray[np.bool_], wider: float, window: Interval = (0.0, 1.0)
) -> list[Interval]:
    """Stretches of neighbouring grid points, widened on both sides and joined where they meet.

    Examples
    --------
    >>> among = np.zeros(201, dtype=bool)
    >>> among[[40, 41, 100]] = True
    >>> [(round(a, 4), round(b, 4)) for a, b in pieces_of(among, 0.0025)]
    [(0.1975, 0.2075), (0.4975, 0.5025)]
    """
    pieces: list[Interval] = []
    for point in map(int, np.flatnonzero(among)):
        low = max(point * STEP - wider, window[0])
        high = min(point * STEP + wider, window[1])
        if pieces and low <= pieces[-1][1] + 1e-12:
            pieces[-1] = (pieces[-1][0], high)
        else:
            pieces.append((low, high))
    return pieces


def pieces_between(low: Array, high: Array, level: float) -> list[Interval]:
    """Stretches in which a level lies between two broken lines on the grid, ends interpolated.

    Examples
    --------
    >>> line = 10 * grid()
    >>> [(round(a, 4), round(b, 4)) for a, b in pieces_between(line - 0.01, line + 0.01, 5.003)]
    [(0.4993, 0.5013)]
    """
    starts, ends = np.zeros(POINTS - 1), np.ones(POINTS - 1)  # within each step
    for line in (level - low, high - level):  # both are at least 0 inside
        before, after = line[:-1], line[1:]
        apart = np.where(before == after, 1.0, before - after)
        turn = np.where(before == after, np.where(before >= 0, -1.0, 2.0), before / apart)
        rises = np.where(before == after, True, after > before)
        starts = np.where(rises, np.maximum(starts, turn), starts)
        ends = np.where(rises, ends, np.minimum(ends, turn))
    pieces: list[Interval] = []
    for k in np.flatnonzero(starts <= ends):
        first, last = float((k + starts[k]) * STEP), float((k + ends[k]) * STEP)
        if pieces and first <= pieces[-1][1] + 1e-9:
            pieces[-1] = (pieces[-1][0], last)
        else:
            pieces.append((first, last))
    return pieces


def total(pieces: list[Interval]) -> float:
    """Length of a set in unit time."""
    return float(sum(high - low for low, high in pieces))


def inside(window: Interval) -> NDArray[np.bool_]:
    """True at grid points in a window: (201,)."""
    return np.asarray((grid() >= window[0] - 1e-9) & (grid() <= window[1] + 1e-9))


def crossings(heights: Array) -> list[float]:
    """Find the places where a broken line on the grid changes sign, in unit time."""
    before, after = heights[:-1], heights[1:]
    at = np.flatnonzero((before == 0) | (before * after < 0))
    return [
        float((k + (before[k] / (before[k] - after[k]) if before[k] != after[k] else 0.0)) * STEP)
        for k in at
    ]


def length_above(heights: Array) -> Array:
    """Measure the time that broken lines (…, points) on equally spaced points are above zero: (…).

    It is in unit time.
    """
    before, after = heights[..., :-1], heights[..., 1:]
    larger, smaller = np.maximum(before, after), np.minimum(before, after)
    apart = np.where(larger > smaller, larger - smaller, 1.0)
    share = np.where(smaller >= 0, 1.0, np.clip(larger / apart, 0.0, 1.0))
    share = np.where((larger <= 0), 0.0, share)
    return np.asarray(share.mean(axis=-1))
