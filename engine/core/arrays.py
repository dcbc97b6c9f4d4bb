"""Types of numbers everywhere, and the largest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


def unboxed(value: Any) -> Any:
    """Give a numpy scalar as a number of Python, and an array or a column of a table as lists."""
    column = value.to_numpy() if hasattr(value, "to_numpy") else value
    return (
        column.tolist()
        if (isinstance(column, np.generic | np.ndarray) and column.dtype.kind not in "mMV")
        else value
    )


def all_finite(values: Array) -> bool:
    """True if every number is finite, mostly in one pass.

    A sum is finite only if all that it adds is; if it overflows, each is looked at.

    Examples
    --------
    >>> all_finite(np.array([1e308, 1e308])), all_finite(np.array([np.inf, -np.inf]))
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def largest(keys: Array, s: int) -> Indices:
    """The places of the s largest keys, the largest first: (…, s) of int.

    Examples
    --------
    >>> largest(np.array([3.0, 5.0, 1.0]), 2).tolist()
    [1, 0]
    """
    some = np.argpartition(keys, -s, axis=-1)[..., -s:]  # (…, s), in no order
    order = np.argsort(-np.take_along_axis(keys, some, axis=-1), axis=-1, kind="stable")
    return np.asarray(np.take_along_axis(some, order, axis=-1))


def hard_threshold(values: Array, s: int) -> Array:
    """The s largest entries in size as they are, zero elsewhere; nothing is private here.

    Examples
    --------
    >>> hard_threshold(np.array([3.0, -5.0, 1.0]), 2).tolist()
    [3.0, -5.0, 0.0]
    """
    return only_at(values, largest(np.abs(values), s))


def only_at(values: Array, where: Indices) -> Array:
    """Entries at some places as they are, zero elsewhere: (…, d)."""
    out = np.zeros_like(values)
    np.put_along_axis(out, where, np.take_along_axis(values, where, axis=-1), axis=-1)
    return out
