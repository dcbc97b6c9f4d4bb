"""Coverage of intervals of wavelet regression: a table of curves and sizes.

Each row repeats one scenario with a known seed. Where the interval is refused, because the curve is
rougher than the class that bounds the bias, the row says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.coverage.table import POINTWISE, notes_table, share_text
from engine.core.bands import limits
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.signals import PERIODIC
from engine.sources.regression_points import RegressionPoints
from engine.topics.regression.intervals import Estimator, stated

SIGNALS = ("smooth", "cusp", "doppler", "blocks")
SIZES = (2000, 16_000, 64_000)
BUDGET = Budget(1.0, 1e-5)  # of every site
_SITES, _EACH = 16, 10  # sites of every data set, and how many are made at once
_POINT = 0.37


@dataclass(frozen=True)
class WaveletSetting:
    """One estimator on observations of one simulated curve over 16 equal sites."""

    signal: str
    n: int
    # whether the estimator is that at a point, instead of that of the whole curve
    is_pointwise: bool
    point: float = _POINT  # where the pointwise estimator is asked, on [0, 1]
    budget: Budget = BUDGET

    @property
    def label(self) -> str:
        return self.signal

    @property
    def source(self) -> RegressionPoints:
        return RegressionPoints(signal=self.signal, n_curves=self.n, n_servers=_SITES)

    @property
    def mechanism(self) -> Estimator:
        """Curves that do not end where they began get corrected edges."""
        edges = "periodic" if self.signal in PERIODIC else "corrected"
        if self.is_pointwise:
            return WaveletPointwise(points=f"{self.point:.6g}", edges=edges)
        return WaveletGlobal(edges=edges)


@dataclass(frozen=True)
class WaveletCoverage:
    """Pointwise coverage of 95 % intervals of one setting.

    `coverage` is the share of data sets whose interval covers the truth at the point; of a whole
    curve, the smallest share over the drawing grid; `uncertainty` is its standard error.
    `without_bias` is the same for intervals of noise and sampling variability alone. `half_width`
    and `bias` (its part of it) are in response units. Where the interval is refused `refusal` says
    why, and `coverage` is NaN.
    """

    setting: WaveletSetting
    coverage: float
    uncertainty: float
    without_bias: float
    half_width: float
    bias: float
    refusal: str

    @property
    def holds(self) -> bool:
        """True if a given interval covers enough, up to two standard errors."""
        return bool(self.refusal) or self.coverage >= POINTWISE[0] - 2 * self.uncertainty


def settings() -> Iterator[WaveletSetting]:
    """List all rows: curves, numbers of observations, and both estimators."""
    for signal in SIGNALS:
        for n in SIZES:
            for is_pointwise in (True, False):
                yield WaveletSetting(signal, n, is_pointwise)


def measured(setting: WaveletSetting, repeats: int, seed: int) -> WaveletCoverage:
    """Measure a setting; a refused one has a row too."""
    source, mechanism, budgets = setting.source, setting.mechanism, (setting.budget,) * _SITES
    checked = stated(mechanism, source, budgets)
    plan = mechanism.plan(source.public, budgets)
    times = np.array([setting.point]) if setting.is_pointwise else drawing_grid()
    off, half = _deviations(
        replace(mechanism, class_stated=True), source, budgets, repeats, seed, times
    )
    with_bias, without_bias = (
        float((np.abs(off) <= width).mean(axis=0).min()) for width in (half, half - plan.bias)
    )
    return WaveletCoverage(
        setting,
        math.nan if checked.refusal else with_bias,
        math.sqrt(with_bias * (1 - with_bias) / len(off)),
        without_bias if plan.released else math.nan,
        float(half.mean()),
        plan.bias,
        checked.refusal,
    )


def _deviations(
    mechanism: Estimator,
    source: RegressionPoints,
    budgets: tuple[Budget, ...],
    repeats: int,
    seed: int,
    times: Array,
) -> tuple[Array, Array]:
    """Return released values less the truth, and half widths of intervals: (repeats, times)."""
    grid = np.isin(drawing_grid(), times) if len(times) > 1 else slice(None, 1)
    parts = []
    for block, first in enumerate(range(0, repeats, _EACH)):
        data = source.draw(min(_EACH, repeats - first), generator(seed, DATA_STREAM, block))
        estimate = mechanism.release_many(data, [budgets], 1, generator(seed, NOISE_STREAM, block))
        assert estimate.band is not None
        low, high = (end[0, :, 0] for end in limits(estimate, estimate.band))
        value = estimate.values(times)[0, :, 0]
        parts.append((value - source.curve(times), ((high - low) / 2)[:, grid]))
    off, half = (np.concatenate(part) for part in zip(*parts, strict=True))
    return off, half


def as_markdown(rows: list[WaveletCoverage]) -> str:
    """Write the table for the notes on wavelet regression."""
    names = ("Curve", "N", "Estimator", "Coverage", "Without the bias", "Half-width", "of it bias")
    return notes_table(names, map(_cells, rows))


def _cells(row: WaveletCoverage) -> Sequence[str]:
    setting = row.setting
    estimator = f"at {setting.point:g}" if setting.is_pointwise else "whole curve"
    return (
        setting.signal,
        f"{setting.n}",
        estimator,
        "refused" if row.refusal else share_text(row.coverage),
        share_text(row.without_bias),
        f"{row.half_width:.2f}",
        f"{row.bias:.2f}",
    )
