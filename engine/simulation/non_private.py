"""The mean of real curves without privacy: what every release of them is compared with.

It is one for all methods, so that whatever a method smooths away or cuts off at the stated bounds
is part of its error. Single values that the stated bounds say cannot be are no part of it: one slip
of the keyboard would move it farther than any noise. Nobody but the holder of the curves sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import CurveData, Estimate, Fit
from engine.mechanisms import Mechanism, mechanisms
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.sources import Source

_FOLDS = 5
_MAX_FUNCTIONS = 161
_AT_ONCE = 20_000  # observations whose basis functions are in memory together
_SPARE = 2  # distinct times, and curves' observations, for each basis function


def non_private_mean(source: Source[CurveData], servers: Sequence[int] = ()) -> Estimate:
    """Compute least squares on all observations, with as many cosines as they need.

    They are cosines of curves with a stated period, too: a wrong statement is then an error of
    releases, and not of what they are compared with. The default method takes at most 21 basis
    functions. Here their number is doubled for as long as that predicts the curves that were left
    out better in each of five folds, so that a narrow peak is drawn. Observations beyond the stated
    bounds count as they were recorded, unless they are so few (`PublicFacts.has_few_beyond`) that
    they are errors of recording: those are moved to the bound. The means at a few times that do not
    tell that many functions apart are joined by a smooth curve.

    Averages the curves of `servers`, all if empty; in response units, with a pointwise band over
    people.
    """
    data = _without_impossible(source.recorded())
    if servers:
        data = data.of_servers(servers)
    default: Mechanism = mechanisms.default(MEAN_FUNCTION.mechanism, MEAN_FUNCTION.key)
    size = _predicts_best(data, default.without_protection(data).basis.size)
    basis, ridge = least_squares.shown_by(Basis(size, family="cosine"), _few_times(data, size))
    return Estimate.of(MEAN_FUNCTION.key, _least_squares(data, basis, ridge), ((),))


def _without_impossible(data: CurveData) -> CurveData:
    """Few values beyond the bounds moved to them; many as they are, as single observations are."""
    facts = data.facts
    if facts.reading_sd > 0 or not facts.has_few_beyond(data.values):
        return data
    return replace(data, values=np.clip(data.values, facts.value_low, facts.value_high))


def _predicts_best(data: CurveData, size: int) -> int:
    """Number of cosines, doubled from `size` for as long as every fold is predicted better."""
    n_times = len(np.unique(data.times[0]))
    while True:
        larger = 2 * size - 1
        if larger > _MAX_FUNCTIONS or n_times < _SPARE * larger:
            return size
        losses = _losses(data, (size, larger))
        if not (losses[1] < losses[0]).all():
            return size
        size = larger


def _losses(data: CurveData, sizes: tuple[int, ...]) -> Array:
    """Mean squared errors of predicted curves, each left out with its fold: (sizes, folds)."""
    largest, fold = max(sizes), np.arange(data.n_curves) % _FOLDS
    gram, cross = np.zeros((_FOLDS, largest, largest)), np.zeros((_FOLDS, largest))
    for curves, rows, weights, values in _observations(data, largest):
        for f in range(_FOLDS):
            here = fold[curves] == f
            weighted = rows[here] * weights[here, None]
            gram[f] += weighted.T @ rows[here]
            cross[f] += weighted.T @ values[here]
    losses = np.empty((len(sizes), _FOLDS))
    for k, size in enumerate(sizes):
        products, responses = gram[:, :size, :size], cross[:, :size]
        fitted = least_squares.solve(products.sum(0) - products, responses.sum(0) - responses)
        # up to the mean square of the responses, which is the same for all sizes
        losses[k] = np.einsum("fr,frs,fs->f", fitted, products, fitted) - 2 * np.einsum(
            "fr,fr->f", fitted, responses
        )
    return losses


def _few_times(data: CurveData, size: int) -> tuple[float, ...]:
    """Return the times of all observations if they are few for so many functions; else none."""
    times = np.unique(data.times[0])
    return tuple(times.tolist()) if len(times) < _SPARE * size else ()


def _least_squares(data: CurveData, basis: Basis, ridge: Array) -> Fit:
    """Fit every curve with weight one, with the sandwich covariance over curves."""
    size = basis.size
    gram, cross = np.zeros((1, size, size)), np.zeros((1, size))
    for _, rows, weights, values in _observations(data, size):
        gram[0] += (rows * weights[:, None]).T @ rows / data.n_curves
        cross[0] += rows.T @ (weights * values) / data.n_curves
    fitted = least_squares.solve(gram, cross, ridge)
    scores = np.zeros((data.n_curves, size))  # of each curve: its gradient at the fit
    for curves, rows, weights, values in _observations(data, size):
        np.add.at(scores, curves, rows * (weights * (values - rows @ fitted[0]))[:, None])
    covariance = least_squares.sandwich(gram, scores.T[None], ridge)
    return Fit.exact(basis, fitted, covariance, "pointwise")


def _observations(
    data: CurveData, size: int
) -> Iterator[tuple[NDArray[np.int64], Array, Array, Array]]:
    """Numbers of curves, basis functions (observations, r), weights 1/m, and values, in blocks."""
    basis = Basis(size, family="cosine")
    curve = np.repeat(np.arange(data.n_curves), data.counts)
    times, values = data.times[0], data.values[0]
    for first in range(0, len(times), _AT_ONCE):
        block = slice(first, first + _AT_ONCE)
        yield curve[block], basis(times[block]), 1.0 / data.counts[curve[block]], values[block]
