"""How many curves are worked on at once, so that passes over their readings stay in cache."""

from __future__ import annotations

_READINGS = 50_000  # in a block: enough for calls to cost little, few enough to cache
_CURVES = 5000  # along the fast axis: NumPy copies what it repeats over rows of up to 4096 numbers
_MAX_READINGS = 200_000


def curves_at_once(readings: int) -> int:
    """Curves of a block in which they run along the fast axis.

    Parameters
    ----------
    readings : int
        Of each curve, at least 1.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> [curves_at_once(readings) for readings in (5, 20, 100, 1_000_000)]
    [10000, 5000, 2000, 1]
    """
    target = max(_READINGS // readings, _CURVES)
    return max(1, min(target, _MAX_READINGS // readings))
