"""Errors of released curves: always the same three, exact in coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.types import Array, Estimate, Truth


@dataclass(frozen=True)
class Errors:
    """Integrated squared errors of every release, each (budgets, repeats, draws).

    `privacy` is the distance of the release from the estimate without noise on the same data,
    `estimation` that of the estimate without noise from the truth, `total` that of the release
    from the truth. Without a known truth the last two are None.
    """

    privacy: Array
    estimation: Array | None
    total: Array | None


def integrated_squared_errors(estimate: Estimate, truth: Truth | None) -> Errors:
    """The three errors; the part of the truth outside the basis is added as its energy."""
    basis, released = estimate.basis, estimate.coefficients
    unprotected = estimate.unprotected[:, :, None]
    privacy = basis.squared_distance(released - unprotected)
    if truth is None:
        return Errors(privacy, None, None)
    best, tail = basis.project(truth)
    estimation = basis.squared_distance(unprotected - best) + tail
    return Errors(privacy, np.broadcast_to(estimation, privacy.shape),
                  basis.squared_distance(released - best) + tail)


def typical_distance(squared_errors: Array) -> Array:
    """Root of integrated squared errors: a distance in response units, averaged over the curve."""
    return np.asarray(np.sqrt(squared_errors))
