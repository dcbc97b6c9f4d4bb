"""Coverage of intervals of sparse coefficients, over designs, numbers of rows and budgets.

Plain numbers in, a small table out. Data sets are simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.table import (
    POINTWISE,
    SIMULTANEOUS,
    notes_table,
    share_text,
    standard_error,
)
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, Estimate
from engine.language.numbers import number
from engine.mechanisms.families.sparse.averages import sample_moments
from engine.mechanisms.families.sparse.corrections import two_sided_p_values
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.sources.sparse_rows import SparseRows

DESIGNS = {
    "identity": "independent",
    "equicorrelated": "equicorrelated ½",
    "ar1_strong": "autoregressive .8",
}
ROWS, EPSILONS = (5000, 20_000, 100_000), (1.0, 4.0)
_DRAWS, _LEVEL = 1, 0.05
_MOST_BELOW = 0.07  # p-values below .05 among features that do not matter


@dataclass(frozen=True)
class SparseSetting:
    """One design, number of rows and budget."""

    design: str
    n_rows: int
    epsilon: float
    delta: float = 1e-6
    # n_features, n_nonzero: d, and how many of them matter, with coefficients ±1/√n_nonzero
    n_features: int = 40
    n_nonzero: int = 5
    sparsity: int | None = None  # features that the methods keep. Default: those that matter.
    # the public guess of the standard deviation of the noise, over the true `noise_sd`
    guess: float = 1.0
    noise_sd: float = 0.5
    # whether rows are drawn, which are clipped, instead of their moments, which are not; slower
    has_rows: bool = False

    @property
    def label(self) -> str:
        return DESIGNS.get(self.design, self.design)

    @property
    def source(self) -> SparseRows:
        return SparseRows(
            design=self.design,
            n_curves=self.n_rows,
            n_servers=1,
            n_features=self.n_features,
            n_shared=self.n_nonzero,
            noise_sd=self.noise_sd,
        )

    @property
    def mechanisms(self) -> tuple[SparseNewton, SparseInference, SparseInference]:
        """The mechanisms of estimates, intervals and bands."""
        public: dict[str, Any] = {
            "sparsity": self.sparsity or self.n_nonzero,
            "noise_sd": self.guess * self.noise_sd,
        }
        return (
            SparseNewton(**public),
            SparseInference(**public),
            SparseInference(target="band", **public),
        )


@dataclass(frozen=True)
class SparseCoverage:
    """Measurements of one setting, over data sets.

    `error` and `least_squares` are mean squared distances from the true coefficients: of the
    default estimate, and of least squares on the features that matter, without privacy. `warned` is
    the share of those estimates with a warning. `refused` is the share of data sets without limits;
    the rest is about those with limits, and not a number if there are none: pointwise coverage `on`
    and `off` the features that matter, `joint` coverage of the band, and `below`, the share of
    p-values below .05 among features that do not matter. The uncertainties are standard errors
    over data sets.
    """

    setting: SparseSetting
    error: float
    least_squares: float
    warned: float
    refused: float
    on: float
    off: float
    joint: float
    below: float
    on_uncertainty: float
    off_uncertainty: float
    joint_uncertainty: float

    @property
    def n_rows(self) -> int:
        return self.setting.n_rows

    @property
    def holds(self) -> bool:
        """True if the given limits cover enough, up to two standard errors of chance."""
        if math.isnan(self.on):
            return True
        return (
            self.on >= POINTWISE[0] - 2 * self.on_uncertainty
            and self.off >= POINTWISE[0] - 2 * self.off_uncertainty
            and self.below <= _MOST_BELOW + 2 * self.off_uncertainty
            and not self.joint < SIMULTANEOUS - 2 * self.joint_uncertainty
        )


def settings() -> Iterator[SparseSetting]:
    """List all rows: designs, numbers of rows and ε."""
    for design in DESIGNS:
        for n_rows in ROWS:
            for epsilon in EPSILONS:
                yield SparseSetting(design, n_rows, epsilon)


def sparse_coverage(
    designs: Sequence[str] = tuple(DESIGNS),
    rows: Sequence[int] = ROWS,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = 200,
    seed: int = 1,
    **public: Any,
) -> list[SparseCoverage]:
    """Release estimates, intervals and bands again and again, each time from fresh data.

    A row for each combination of designs, rows and epsilons; further fields of `SparseSetting` are
    the same for all.
    """
    return [
        measured(SparseSetting(design, n_rows, epsilon, **public), repeats, seed)
        for design in designs
        for n_rows in rows
        for epsilon in epsilons
    ]


def measured(setting: SparseSetting, repeats: int, seed: int) -> SparseCoverage:
    """Measure the row of a setting over `repeats` data sets."""
    source = setting.source
    points, intervals, bands = (
        _estimates(mechanism, setting, repeats, seed) for mechanism in setting.mechanisms
    )
    truth = source.truth.node_values
    support, matters = np.flatnonzero(truth), truth != 0
    estimates = _joined([estimate.coefficients for estimate in points])
    off, half, error = (
        _joined([getattr(estimate.intervals, name) for estimate in intervals])
        for name in ("centre", "half_width", "error")
    )
    off = off - truth
    has_limits, inside = np.isfinite(half[:, 0]), np.asarray(np.abs(off) <= half)
    below = np.asarray(two_sided_p_values(off, error) < _LEVEL)
    centre, wide = (
        _joined([getattr(estimate.intervals, name) for estimate in bands])
        for name in ("centre", "half_width")
    )
    covered = np.asarray((np.abs(centre - truth) <= wide).all(axis=1))[np.isfinite(wide[:, 0])]
    on, off_it = (inside[has_limits][:, columns].mean(axis=1) for columns in (matters, ~matters))
    inner = source.covariance[np.ix_(support, support)]
    return SparseCoverage(
        setting,
        _share(((estimates - truth) ** 2).sum(axis=1)),
        float(source.noise_sd**2 * np.trace(np.linalg.inv(inner)) / source.n_curves),
        _share(_joined([estimate.is_doubted for estimate in points])),
        1 - _share(has_limits),
        _share(on),
        _share(off_it),
        _share(covered),
        _share(below[has_limits][:, ~matters]),
        *map(standard_error, (on, off_it, covered)),
    )


def _estimates(mechanism: Any, setting: SparseSetting, repeats: int, seed: int) -> list[Estimate]:
    """Compute estimates of all data sets: in one batch from moments, one by one from rows."""
    source, budget = setting.source, (Budget(setting.epsilon, setting.delta),)
    if setting.has_rows:
        return [
            mechanism.release_many(
                source.draw(1, generator(seed, DATA_STREAM, k)),
                [budget],
                _DRAWS,
                generator(seed, NOISE_STREAM, k),
            )
            for k in range(repeats)
        ]
    moments = sample_moments(
        source.covariance,
        source.truth.node_values,
        source.noise_sd,
        source.n_curves,
        repeats,
        generator(seed, DATA_STREAM, 0),
    )
    return [
        mechanism.estimate(
            moments,
            [mechanism.plan(source.public, budget)],
            repeats,
            _DRAWS,
            generator(seed, NOISE_STREAM, 0),
        )
    ]


def _joined(values: Sequence[Any]) -> NDArray[Any]:
    """Join values (budgets, repeats, 1, …) of the only budget and its only draw."""
    return np.concatenate([array[0, :, 0] for array in values])


def _share(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")


def as_markdown(rows: list[SparseCoverage]) -> str:
    """Write the table for the notes on sparse regression."""
    names = (
        "Features",
        "Rows",
        "ε",
        "Error",
        "Warned",
        "Refused",
        "On the support",
        "Off it",
        "Band",
        "p < .05",
    )
    return notes_table(names, map(_cells, rows))


def _cells(row: SparseCoverage) -> Sequence[str]:
    setting = row.setting
    return (
        setting.label,
        f"{setting.n_rows}",
        f"{setting.epsilon:g}",
        number(row.error / row.least_squares),
        *map(share_text, (row.warned, row.refused, row.on, row.off, row.joint, row.below)),
    )
