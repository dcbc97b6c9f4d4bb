"""What claims of several papers have in common: rows chosen by their values, numbers compared."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import beta

from engine.exhibits import Finding, Row, Table, Value

CONFIDENCE = 0.9999  # of limits for a share: about four standard errors


def rows_with(table: Table, **values: Value) -> list[Row]:
    """The rows that have all of these values, in their order."""
    return [row for row in table if all(row.get(key) == value for key, value in values.items())]


def numbers(rows: Table, name: str) -> list[float]:
    """One column, all of whose entries must be numbers."""
    return [float(row[name] or 0.0) for row in rows]


def known(rows: Table, name: str) -> list[float | None]:
    """One column with None where there is no number, for a drawing."""
    return [None if (value := row.get(name)) is None or math.isnan(float(value)) else float(value)
            for row in rows]


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Least squares of log y on log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def agreement(found: Sequence[float], stated: Sequence[float], relative: float) -> Finding:
    """Whether numbers lie within a share of stated ones."""
    off = max(abs(a / b - 1) for a, b in zip(found, stated, strict=True))
    return Finding(off <= relative, f"{len(stated)} numbers, largest difference {100 * off:.2g} %")


def share_limits(held: float, count: int) -> tuple[float, float]:
    """Exact (Clopper–Pearson) limits for a share of which `held` in `count` were counted."""
    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, held, count - held + 1)) if held > 0 else 0.0
    high = float(beta.ppf(1 - tail, held + 1, count - held)) if held < count else 1.0
    return low, high
