"""Sentences about the time in ranges: names of ranges, and shares with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from engine.core.bands import ROUNDED_NORMAL
from engine.language.numbers import percent, with_unit

_MIN_SHARE = 0.02  # below which no number is given


def names_of_ranges(limits: Sequence[float], unit: str) -> list[str]:
    """Names of the ranges between cut-offs, from low to high.

    Examples
    --------
    >>> names_of_ranges((70.0, 180.0), "mg/dL")
    ['up to 70 mg/dL', '70 to 180 mg/dL', 'above 180 mg/dL']
    """
    each = [f"{limit:g}" for limit in limits]
    between = [f"{low} to {high}" for low, high in pairwise(each)]
    return [with_unit(name, unit) for name in (f"up to {each[0]}", *between, f"above {each[-1]}")]


def interval(share: float, error: float) -> tuple[float, float]:
    """Compute the 95 % confidence interval of a share, within 0 and 1.

    Examples
    --------
    >>> interval(0.01, 0.02)[0]
    0.0
    """
    return max(share - ROUNDED_NORMAL * error, 0.0), min(share + ROUNDED_NORMAL * error, 1.0)


def shares_in_words(
    limits: Sequence[float], unit: str, shares: Sequence[float], errors: Sequence[float]
) -> list[str]:
    """List the average share in every range with its interval, from high to low, as Markdown.

    Shares and standard errors are given from low to high.

    Examples
    --------
    >>> shares_in_words((180.0,), "mg/dL", (0.8, 0.2), (0.01, 0.01))[0]
    'above 180 mg/dL: **20 %** (95 % confidence interval 18 % to 22 %)'
    """
    lines = []
    for name, share, error in zip(names_of_ranges(limits, unit), shares, errors, strict=True):
        low, high = (percent(end) for end in interval(float(share), float(error)))
        value = percent(float(share)) if share >= _MIN_SHARE else f"below {percent(_MIN_SHARE)}"
        lines.append(f"{name}: **{value}** ({percent(0.95)} confidence interval {low} to {high})")
    return lines[::-1]
