"""One private number for all features: how wide they spread, where stated ranges may be too wide.

Clips and noise of a sparse regression are for features of standard deviation one, by the stated
ranges and their reach. If features spread a third of that, noise in their second moments is nine
times too large. So the mean squared length of rows is released first, and features are divided by
its root over √d before anything else is done with them.

*Privacy.* Rows are clipped to norm B on their own, so that ‖x‖² lies in [0, B²] and replacing one
of N rows moves the average by at most B²/N, which a row of zeros and one of norm B attain. Gaussian
noise of deviation B²/(N√(2ρ)) costs ρ. All that follows clips the rows, divided by the released
scale, to the same B: each message has the sensitivity that it has without this one, because the
scale is a constant then.

The scale is the same for all features, is rounded to quarters of a doubling, so that releases which
differ by noise alone are mostly computed together, and is never above one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from engine.core.types import Array, Caution, Fit, Step
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.inference import Columns, gaussian, joined, published

SHARE = 0.01  # of ρ
SCALE = Step("scale of features")
_MAX_NOISE = 0.1  # in the mean square of a feature, as stated, from which on nothing is learned
_ABOVE_NOISE = 2.0  # a mean squared length is taken to be at least so many deviations of its noise
_QUARTERS = 4
_MIN = 1e-12


def scale_noise(row: float, n: int, rho: float) -> float:
    """B²/(N√(2ρ)), the deviation of the noise in the mean squared length."""
    return gaussian(row**2 / n, rho)


def is_told(noise: float, size: int) -> bool:
    """True if the noise leaves anything to learn about the scale; public numbers decide."""
    return noise <= _MAX_NOISE * size


def released_scales(
    averages: RowAverages,
    noise: Sequence[float],
    size: int,
    columns: Columns,
    rng: np.random.Generator,
) -> Array:
    """Release the scale of features: (repeats, columns); the last column shares the first one's.

    Rows are clipped to B.
    """
    deviation = columns.per_budget(noise)
    squared = published(
        SCALE, averages.squared_lengths()[..., None], deviation, columns.normals((1,), rng)
    )[..., 0]
    floor = np.maximum(_ABOVE_NOISE * deviation, _MIN)
    doublings = np.log2(np.maximum(squared, floor) / size) / 2
    scales = np.minimum(2 ** (np.round(_QUARTERS * doublings) / _QUARTERS), 1.0)
    scales[:, -1] = scales[:, 0]
    return np.asarray(scales)


def by_scale(
    scales: Array,
    columns: Columns,
    rng: np.random.Generator,
    fit: Callable[[slice, float, np.random.Generator], Fit],
) -> Fit:
    """Fit once for every released scale, with the same noise; each column is of its own fit.

    Neighbouring data sets of the same scales are fitted together. `fit` takes data sets, a scale
    and a generator, for features divided by the scale; coefficients are of features as they were
    before.
    """
    changes = np.flatnonzero((scales[1:] != scales[:-1]).any(axis=1)) + 1
    bounds = [0, *changes.tolist(), len(scales)]
    parts = [
        _alike(slice(first, stop), scales[first], replace(columns, repeats=stop - first), rng, fit)
        for first, stop in pairwise(bounds)
    ]
    return joined(parts, axis=1)


def _alike(
    part: slice,
    scales: Array,
    columns: Columns,
    rng: np.random.Generator,
    fit: Callable[[slice, float, np.random.Generator], Fit],
) -> Fit:
    """Data sets of which each has these scales: (columns,)."""
    distinct = np.unique(scales).tolist()
    streams = [*(copy.deepcopy(rng) for _ in distinct[1:]), rng]
    fits = [fit(part, scale, stream) for scale, stream in zip(distinct, streams, strict=True)]
    every = np.broadcast_to(scales, (columns.repeats, len(scales)))
    released, quiet = columns.released(every), columns.quiet(every)
    coefficients = sum(
        np.where((released == scale)[..., None], each.coefficients / scale, 0.0)
        for scale, each in zip(distinct, fits, strict=True)
    )
    unprotected = sum(
        np.where((quiet == scale)[..., None], each.unprotected / scale, 0.0)
        for scale, each in zip(distinct, fits, strict=True)
    )
    joined: dict[str, Caution] = {}
    for scale, each in zip(distinct, fits, strict=True):
        for caution in each.cautions:
            where = caution.applies & (released == scale)
            if (before := joined.get(caution.text)) is not None:
                where = where | before.applies
            joined[caution.text] = replace(caution, applies=where)
    cautions = tuple(caution for caution in joined.values() if caution.applies.any())
    return Fit(
        basis=fits[0].basis,
        coefficients=np.asarray(coefficients),
        unprotected=np.asarray(unprotected),
        cautions=cautions,
    )
