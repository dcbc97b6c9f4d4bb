"""The records of one site, in an order that stays, among stand-ins for everybody else's.

A site answers several times, with hours between. Every time its records must be in the same random
order, or one person could take part in two rounds that are charged as one. So the order is drawn
once and kept in the ledger. As rows of a file may come in another order tomorrow, records are first
sorted by what they hold; equal ones cannot be told apart. An order that is drawn uniformly and
without looking at them puts sorted records in a uniformly random order, which is what the proof in
`engine.release.random_order` asks for.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.types import CurveData, Data, EventData, SampleData
from engine.release.plan import records_of

_T = TypeVar("_T", np.float64, np.int64)


def new_order(n: int) -> bytes:
    """A uniformly random order of n records, from the operating system's entropy.

    Parameters
    ----------
    n : int
        How many.

    Returns
    -------
    bytes
        Eight for each.
    """
    keys = np.frombuffer(secrets.token_bytes(16 * n), dtype=np.uint64).reshape(-1, 2)
    return np.lexsort((keys[:, 1], keys[:, 0])).astype("<i8").tobytes()


def ordered(data: Data, order: bytes) -> Data:
    """The records of one site, sorted by what they hold and then put in a stored order.

    Parameters
    ----------
    data : Data
        Of one site, in the order of its file.
    order : bytes
        From `new_order`.
    """
    contents = records_of(data)
    by_content = np.array(sorted(range(len(contents)), key=contents.__getitem__), dtype=np.int64)
    return data.in_order(by_content[np.frombuffer(order, dtype="<i8")])


def among(standin: Data, real: Data, site: int) -> Data:
    """Data of all sites in which the records of one are real.

    Parameters
    ----------
    standin : Data
        Of the public sizes.
    real : Data
        The records of the site, as many as it has in the plan.
    site : int
        From 0.
    """
    here = standin.server == site
    if isinstance(standin, CurveData) and isinstance(real, CurveData):
        return _curves_among(standin, real, here)
    if isinstance(standin, EventData) and isinstance(real, EventData):
        return replace(standin, time=_placed(standin.time, real.time, here),
                       status=_placed(standin.status, real.status, here),
                       group=None if standin.group is None or real.group is None else
                       _placed(standin.group, real.group, here))
    assert isinstance(standin, SampleData) and isinstance(real, SampleData)
    return replace(standin, x=_placed(standin.x, real.x, here))


def _curves_among(standin: CurveData, real: CurveData, here: NDArray[np.bool_]) -> CurveData:
    # Observations lie curve after curve along the last axis, and the curves of a site are together.
    counts = standin.counts.copy()
    first, last = np.flatnonzero(here)[[0, -1]]
    start, end = standin.counts[:first].sum(), standin.counts[:last + 1].sum()
    counts[here] = real.counts
    covariates = None if standin.covariates is None or real.covariates is None else (
        _placed(standin.covariates, real.covariates, here))
    times, values = (np.concatenate([theirs[:, :start], own, theirs[:, end:]], axis=1)
                     for theirs, own in ((standin.times, real.times),
                                         (standin.values, real.values)))
    return replace(standin, times=times, values=values, counts=counts, covariates=covariates)


def _placed(standins: NDArray[_T], real: NDArray[_T], here: NDArray[np.bool_]) -> NDArray[_T]:
    """An array (1, n, …) with the real entries of one site."""
    out = np.array(standins)
    out[:, here] = real
    return out
