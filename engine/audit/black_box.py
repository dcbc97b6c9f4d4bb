"""A lower bound on ε from outputs alone.

Many releases of two neighbouring data sets are told apart by a test that knows nothing of the
mechanism: it is fitted on a fifth of the releases, and its errors are counted on the others. With
Clopper–Pearson limits on its hits and false alarms,

    Gaussian noise      μ ≥ Φ⁻¹(hits) − Φ⁻¹(false alarms), and ε follows exactly (f-DP)
    δ = 0               ε ≥ log(hits/false alarms)
    otherwise           ε ≥ log((hits − δ)/false alarms)

at the stated confidence, whatever the test. The direct route would need millions of runs for a
small δ, so it is taken only where nothing better is known.

Outputs are rounded to a millionth of their spread first. The last bits of floating-point noise give
away more than its law does (Mironov 2012), and a test would find that; releases here are
simulations, which do not hide it.

References
----------
Dong, Roth and Su (2022) for the first line; Nasr and others (2023) for its use in audits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from engine.audit.replay import released
from engine.privacy import accounting
from engine.types import Array, Data

CERTAINTY = 1e-4  # each of the two limits is wrong at most so often
CONFIDENCE = 1 - 2 * CERTAINTY
_FIRST = 1_000  # releases made at first; each later part doubles what there is
_PART, _FEWER = 10_000, 2_000  # and at most so many at once; of many numbers each
_MANY = 200
_FIT = 5  # every so many outputs are for the test alone
_SHARES = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99,
                    0.997, 0.999])  # of releases beyond the thresholds that are tried


@dataclass(frozen=True)
class Bound:
    """ε is at least this, after so many releases of each data set."""

    epsilon: float
    runs: int


def bounds(mechanism: Any, pair: tuple[Data, Data], budget: Any, unit: str, runs: int, seed: int
           ) -> Iterator[Bound]:
    """Lower bounds from more and more releases; `unit` is that of the claim."""
    outputs: list[list[Array]] = [[], []]
    size = released(mechanism, pair[0], budget, 1, (seed,)).coefficients[0, 0].size
    for block, part in enumerate(parts(runs, _PART if size <= _MANY else _FEWER)):
        for side, data in enumerate(pair):
            outputs[side].append(_outputs(mechanism, data, budget, part, (seed, side, block)))
        one, other = (np.concatenate(own) for own in outputs)
        yield Bound(_epsilon(one, other, unit, budget.delta), len(one))


def parts(runs: int, most: int = _PART) -> Iterator[int]:
    """How many releases to make at once: few at first, so that a bound is there soon."""
    done = 0
    while done < runs:
        part = min(max(done, _FIRST), most, runs - done)
        yield part
        done += part


def _outputs(mechanism: Any, data: Data, budget: Any, draws: int, seed: tuple[int, ...]) -> Array:
    coefficients = released(mechanism, data, budget, draws, seed).coefficients
    return np.asarray(coefficients[0, 0].reshape(draws, -1))


def _epsilon(one: Array, other: Array, unit: str, delta: float) -> float:
    """The bound from outputs (runs, numbers); of five releases one fits and four certify."""
    one, other = _rounded(one, other)
    fits = np.arange(len(one)) % _FIT == 0
    score = _test(one[fits], other[fits], unit)
    fitted, certain = ((score(one[own]), score(other[own])) for own in (fits, ~fits))
    best = max(_thresholds(*fitted), key=lambda at: _certified(*fitted, at, unit, delta))
    return _certified(*certain, best, unit, delta)


def _rounded(one: Array, other: Array) -> tuple[Array, Array]:
    """Both to whole millionths, about, of the spread of each number."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return one, other
    spread, size = (np.maximum(*each) for each in ((one.std(axis=0), other.std(axis=0)),
                                                   (abs(one).max(axis=0), abs(other).max(axis=0))))
    unit = np.maximum(np.maximum(2.0**-20 * spread, 2.0**-40 * size), 1e-300)
    return np.round(one / unit), np.round(other / unit)


def _thresholds(one: Array, other: Array) -> Array:
    return np.unique(np.quantile(np.concatenate([one, other]), _SHARES))


def _certified(one: Array, other: Array, threshold: float, unit: str, delta: float) -> float:
    """ε from the errors of a threshold on scores, which are higher for `other`; 0 at least."""
    hits, alarms = int((other > threshold).sum()), int((one > threshold).sum())
    n = len(one)
    ways = [(hits, alarms), (n - alarms, n - hits)]  # guilty beyond, or innocent below
    each = [_of_errors(_limit(caught, n, low=True), _limit(wrong, n, low=False), unit, delta)
            for caught, wrong in ways]
    return max(0.0, *each)


def _limit(count: int, n: int, low: bool) -> float:
    """The one-sided Clopper–Pearson limit of a chance from so many of n."""
    if low:
        return float(betaincinv(count, n - count + 1, CERTAINTY)) if count else 0.0
    return float(betaincinv(count + 1, n - count, 1 - CERTAINTY)) if count < n else 1.0


def _of_errors(hits: float, alarms: float, unit: str, delta: float) -> float:
    if unit == "mu":
        mu = float(ndtri(hits) - ndtri(alarms))
        return accounting.exact_epsilon(mu, delta) if mu > 0 else 0.0
    gained = hits - (0.0 if unit == "epsilon" else delta)
    return math.log(gained / alarms) if gained > 0 else 0.0


def _test(one: Array, other: Array, unit: str) -> Any:
    """A score that is higher for `other`: the likelihood ratio of the law that the unit suggests.

    Means and spreads come from the outputs. Outputs that are no numbers in one case alone give it
    away at once.
    """
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        sign = np.sign(np.isfinite(one).mean() - np.isfinite(other).mean())
        return lambda outputs: sign * (~np.isfinite(outputs).all(axis=1)).astype(float)
    first, second = np.round(one.mean(axis=0)), np.round(other.mean(axis=0))
    if unit == "epsilon":
        width = np.maximum(np.abs(one - first).mean(axis=0), 1.0)
        return lambda outputs: ((np.abs(outputs - first) - np.abs(outputs - second)) / width).sum(
            axis=1).round(6)
    covariance = np.atleast_2d(np.cov(one.T)) + np.atleast_2d(np.cov(other.T))
    direction = np.linalg.pinv(covariance, hermitian=True) @ (second - first)
    return lambda outputs: outputs @ direction
