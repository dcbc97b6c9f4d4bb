"""Curves that a person states: piecewise straight lines through equally spaced heights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.errors import InputError

_MAX_NUMBERS = 400
_FINE = 4001  # points on which a stated density is inverted


def stated_numbers(text: str, field: str) -> tuple[float, ...]:
    """Read numbers such as "1, 2.5, 2": at most 400, with commas between them.

    Examples
    --------
    >>> stated_numbers("0.25, 0.75", "split")
    (0.25, 0.75)
    """
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = (math.nan,)
    if not all(map(math.isfinite, numbers)) or len(numbers) > _MAX_NUMBERS:
        raise InputError(
            f"“{field}” must be at most {_MAX_NUMBERS} numbers with commas between them.",
            field=field,
            hint="For example 1, 2.5, 2.",
        )
    return numbers


@dataclass(frozen=True)
class PublicCurve:
    """The broken line through heights at equally spaced points of [0, 1], ends included.

    Examples
    --------
    >>> shape = PublicCurve.stated("0, 3", "density").as_density("density")
    >>> shape.heights, shape.quantile(np.array([0.25])).round(3).tolist()
    ((0.0, 2.0), [0.5])
    """

    heights: tuple[float, ...]

    def __call__(self, times: Array) -> Array:
        """Heights at times on [0, 1] of any shape; constant beyond the ends."""
        return np.interp(times, np.linspace(0, 1, len(self.heights)), self.heights)

    @classmethod
    def stated(cls, text: str, field: str) -> PublicCurve:
        """Read heights such as "1, 2.5, 2", at most 400: a single height stands for a constant."""
        heights = stated_numbers(text, field)
        return cls(heights * 2 if len(heights) == 1 else heights)

    def as_density(self, field: str) -> PublicCurve:
        """The same shape with integral one."""
        heights = np.array(self.heights)
        if (heights < 0).any() or not heights.any():
            raise InputError(
                f"“{field}” must not go below zero and must be above it somewhere.",
                field=field,
                hint="For example 1, 2.5, 2.",
            )
        with np.errstate(over="ignore"):
            area = (heights[:-1] + heights[1:]).mean() / 2
        if not np.isfinite(area):
            raise InputError(
                f"The numbers of “{field}” are too large to add up.",
                field=field,
                hint="Only their shape matters: divide them all by the largest.",
            )
        return PublicCurve(tuple((heights / area).tolist()))

    def quantile(self, shares: Array) -> Array:
        """Evaluate the quantile function of a density, times on [0, 1], at shares of its mass."""
        points = np.linspace(0, 1, _FINE)
        heights = self(points)
        mass = np.concatenate([[0.0], np.cumsum((heights[:-1] + heights[1:]) / 2)])
        return np.interp(shares, mass / mass[-1], points)
