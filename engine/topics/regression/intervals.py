"""Whether a wavelet estimate gets an interval, and how often such intervals cover the truth.

An interval is given where the class of curves that bounds the bias is a stated fact. Of simulated
observations everything is known, so there the curve itself is compared with the class: where it is
rougher, the interval is refused instead of shown to be wrong. Of other observations only the person
who asks can state it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.bands import limits
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, Data
from engine.mechanisms.families.wavelets.bias import left_out
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.signals import PERIODIC
from engine.sources import Source
from engine.sources.regression_points import RegressionPoints

Estimator = WaveletGlobal | WaveletPointwise

_NOT_STATED = ("nothing bounds the bias, because it has not been stated as a fact that the curve "
               "is as smooth as the plan takes it to be")
_ROUGHER = ("the simulated curve is rougher than the class that is stated: what {size} basis "
            "functions leave out is up to {off:.2g}, and the class allows {bound:.2g}")
_OTHER_TIMES = ("the simulated times rise, and the method takes them to be spread evenly: that "
                "bias has no bound")
_NOT_RELEASED = "at this budget nothing is released"


@dataclass(frozen=True)
class Stated:
    """An estimator whose class of curves is stated, or `refusal`: why there is no interval.

    `refusal` completes "No interval is given: …" and is "" where there is one.
    """

    mechanism: Estimator
    refusal: str


def stated(mechanism: Estimator, source: Source[Data], budgets: tuple[Budget, ...]) -> Stated:
    """The estimator with an interval where it can have one, else with the reason.

    Only public numbers decide, and for simulated observations the curve that is known.

    Parameters
    ----------
    mechanism : WaveletGlobal or WaveletPointwise
        An estimator.
    source : Source
        What is drawn from.
    budgets : sequence of Budget
        One for each site.
    """
    plan = mechanism.plan(source.public, budgets)
    refusal = mechanism.why_no_band if isinstance(mechanism, WaveletGlobal) else ""
    if not plan.released:
        refusal = _NOT_RELEASED
    elif not refusal and isinstance(source, RegressionPoints):
        refusal = _of_known_curve(mechanism, source, plan.basis.level)
    elif not refusal and not mechanism.class_stated:
        refusal = _NOT_STATED
    return Stated(replace(mechanism, class_stated=not refusal), refusal)


def _of_known_curve(mechanism: Estimator, source: RegressionPoints, level: int) -> str:
    is_even = isinstance(mechanism, WaveletPointwise) or mechanism.design == "even"
    if is_even and source.times != "even":
        return _OTHER_TIMES
    basis, curves = mechanism.wavelets(level), mechanism.curve_class(source.facts)
    off = left_out(source.truth, basis, np.array(mechanism.values_at.points) if isinstance(
        mechanism, WaveletPointwise) else drawing_grid())
    if curves.allows(off, level, source.bound):
        return ""
    return _ROUGHER.format(size=basis.size, off=float(np.abs(off).max()),
                           bound=curves.detail_bound(level))


# -- coverage ---------------------------------------------------------------------------------

SIGNALS = ("smooth", "cusp", "doppler", "blocks")
SIZES = (2000, 16_000, 64_000)
BUDGET = Budget(1.0, 1e-5)  # of every site
_SITES, _EACH = 16, 10  # sites of every data set, and how many are made at once


@dataclass(frozen=True)
class Row:
    """Pointwise coverage of 95 % intervals of one estimator on one simulated curve.

    `coverage` is the share of data sets whose interval covers the truth at the point; of a whole
    curve, the smallest share over the drawing grid. `without_bias` is the same for intervals of
    noise and sampling variability alone. `half_width` and `bias` (its part of it) are in response
    units. Where the interval is refused `refusal` says why, and `coverage` is NaN.
    """

    signal: str
    n: int
    estimator: str
    coverage: float
    without_bias: float
    half_width: float
    bias: float
    refusal: str


def coverage_table(signals: Sequence[str] = SIGNALS, sizes: Sequence[int] = SIZES,
                   point: float = 0.37, budget: Budget = BUDGET, repeats: int = 200,
                   seed: int = 1) -> list[Row]:
    """Coverage of the intervals of both wavelet estimators, by curve and number of observations.

    Parameters
    ----------
    signals : names of simulated curves, of `engine.numerics.signals.SIGNALS`.
    sizes : observations over 16 equal sites, each.
    point : where the pointwise estimator is asked, on [0, 1].
    budget : (ε, δ) of every site.
    repeats : data sets for each row, each released once; a multiple of ten.
    seed : of data and noise.

    Returns
    -------
    One row for every curve, size and estimator, refused ones included. Curves that do not end
    where they began get corrected edges.
    """
    rows = []
    for name in signals:
        edges = "periodic" if name in PERIODIC else "corrected"
        estimators: tuple[Estimator, ...] = (
            WaveletPointwise(points=f"{point:.6g}", edges=edges), WaveletGlobal(edges=edges))
        for n in sizes:
            source = RegressionPoints(signal=name, n_curves=n, n_servers=_SITES)
            rows += [_row(source, estimator, (budget,) * _SITES, repeats, seed)
                     for estimator in estimators]
    return rows


def _row(source: RegressionPoints, mechanism: Estimator, budgets: tuple[Budget, ...], repeats: int,
         seed: int) -> Row:
    checked = stated(mechanism, source, budgets)
    plan = mechanism.plan(source.public, budgets)
    times = (np.array(mechanism.values_at.points) if isinstance(mechanism, WaveletPointwise)
             else drawing_grid())
    off, half = _deviations(replace(mechanism, class_stated=True), source, budgets, repeats, seed,
                            times)
    with_bias, without_bias = (float((np.abs(off) <= width).mean(axis=0).min())
                               for width in (half, half - plan.bias))
    return Row(source.signal, source.n_curves, mechanism.label,
               math.nan if checked.refusal else with_bias,
               without_bias if plan.released else math.nan, float(half.mean()), plan.bias,
               checked.refusal)


def _deviations(mechanism: Estimator, source: RegressionPoints, budgets: tuple[Budget, ...],
                repeats: int, seed: int, times: Array) -> tuple[Array, Array]:
    """Released value less the truth, and half the width of its interval: (repeats, times) each."""
    grid = np.isin(drawing_grid(), times) if len(times) > 1 else slice(None, 1)
    parts = []
    for block in range(max(repeats // _EACH, 1)):
        data = source.draw(_EACH, generator(seed, DATA_STREAM, block))
        estimate = mechanism.release_many(data, [budgets], 1, generator(seed, NOISE_STREAM, block))
        assert estimate.band is not None
        low, high = (end[0, :, 0] for end in limits(estimate, estimate.band))
        value = estimate.values(times)[0, :, 0]
        parts.append((value - source.curve(times), ((high - low) / 2)[:, grid]))
    off, half = (np.concatenate(part) for part in zip(*parts, strict=True))
    return off, half
