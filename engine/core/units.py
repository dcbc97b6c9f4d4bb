"""Units in which one quantity is given, and how much of each is the same amount.

A quantity is a mapping from its units to how many of each make up one of its first.
"""

from __future__ import annotations

from collections.abc import Mapping

GLUCOSE: Mapping[str, float] = {"mmol/L": 1.0, "mg/dL": 18.0156}  # its molar mass: 180.156 g/mol


def converted(value: float, units: Mapping[str, float], given: str, target: str) -> float:
    """Convert a quantity from the unit `given` to another, with three digits.

    Examples
    --------
    >>> converted(0.5, GLUCOSE, "mmol/L", "mg/dL")
    9.01
    """
    return float(f"{value * units[target] / units[given]:.3g}")
