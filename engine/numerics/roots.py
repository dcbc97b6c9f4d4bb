"""Roots of functions of one number, by the method of Brent (1973)."""

from __future__ import annotations

from collections.abc import Callable

_RELATIVE = 4 * 2.0**-52
_MOST_STEPS = 100


def root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Find where a function whose signs differ at both ends is 0.

    A secant, or a parabola through three points, is tried from the best point; where it leaves the
    half that holds the root, or shrinks steps by too little, the interval is halved.
    """
    last, best = low, high
    f_last, f_best = float(function(low)), float(function(high))
    if 0.0 in (f_last, f_best):
        return low if f_last == 0 else high
    across, f_across = last, f_last  # on the other side of the root than the best point
    before = step = best - last
    for _ in range(_MOST_STEPS):
        if (f_last > 0) != (f_best > 0):
            across, f_across, before, step = last, f_last, best - last, best - last
        if abs(f_across) < abs(f_best):
            last, best, across = best, across, best
            f_last, f_best, f_across = f_best, f_across, f_best
        least, half = (tolerance + _RELATIVE * abs(best)) / 2, (across - best) / 2
        if f_best == 0 or abs(half) < least:
            return best
        tried = None
        if abs(before) > least and abs(f_best) < abs(f_last):
            if last == across:
                tried = -f_best * (best - last) / (f_best - f_last)
            else:
                to_last = (f_last - f_best) / (last - best)
                to_across = (f_across - f_best) / (across - best)
                rise = to_across * to_last * (f_across - f_last)
                if rise != 0:
                    tried = -f_best * (f_across * to_across - f_last * to_last) / rise
        if tried is not None and 2 * abs(tried) < min(abs(before), 3 * abs(half) - least):
            before, step = step, tried
        else:
            before = step = half
        last, f_last = best, f_best
        best += step if abs(step) > least else (least if half > 0 else -least)
        f_best = float(function(best))
    return best
