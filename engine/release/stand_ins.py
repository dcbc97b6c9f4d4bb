"""Data of the same public sizes that hold nobody's numbers, on which a release is rehearsed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.core.types import CurveData, Data, EventData


def stand_in(data: Data) -> Data:
    """Data of the same public sizes that hold nobody's numbers: all in the middle of its range.

    Parameters
    ----------
    data : Data
        Of which sizes and facts alone are looked at; observations of single curves are counted only
        where it is not stated how many were planned.
    """
    if isinstance(data, EventData):  # everybody is still under observation at the end
        beyond = np.full(data.time.shape, np.nextafter(data.facts.time_high, np.inf))
        return replace(data, time=beyond, status=np.zeros(beyond.shape, dtype=np.int64),
                       group=_stand_in_groups(data), truth=None)
    middles = np.array([(c.low + c.high) / 2 for c in data.facts.covariates])
    if not isinstance(data, CurveData):
        x = np.broadcast_to(middles, data.x.shape)
        y = None if data.y is None else np.full(data.y.shape, data.facts.value_middle)
        return replace(data, x=x, y=y, truth=None)
    if data.covariates is not None:
        data = replace(data, covariates=np.broadcast_to(middles, data.covariates.shape))
    planned = data.facts.observations_per_curve
    return _with_counts(data, np.full(data.n_curves, planned) if planned else data.counts)


def _stand_in_groups(data: EventData) -> NDArray[np.int64] | None:
    """Groups of the stated sizes; everybody in the first where those are private."""
    if data.group is None:
        return None
    second = data.facts.group_sizes[1] if data.facts.group_sizes else 0
    groups: NDArray[np.int64] = (np.arange(data.n_curves) < second).astype(np.int64)[None]
    return groups


def _with_counts(data: CurveData, counts: NDArray[np.int64]) -> CurveData:
    """Stand-in curves with so many observations each, all in the middle of the public range.

    Times are the first of the common ones, again from the first where there are fewer, or else
    evenly spread.

    Parameters
    ----------
    data : CurveData
        Of which sizes and facts alone are looked at.
    counts : (n_curves,)
        Observations of each curve.
    """
    common = np.array(data.facts.design.times)
    times = np.concatenate([np.sort(np.resize(common, count)) if len(common) else
                            (np.arange(count) + 0.5) / count for count in counts] or [np.empty(0)])
    return replace(data, times=times[None], counts=counts, truth=None,
                   values=np.full((1, len(times)), data.facts.value_middle))
