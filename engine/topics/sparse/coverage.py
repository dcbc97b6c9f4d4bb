"""Coverage of intervals of sparse coefficients, over designs, numbers of rows and budgets.

Plain numbers in, a small table out. Data sets are simulated with a known seed, never a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, Estimate
from engine.mechanisms.families.sparse.averages import sample_moments
from engine.mechanisms.families.sparse.corrections import two_sided_p_values
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.sources.sparse_rows import SparseRows

DESIGNS = ("identity", "equicorrelated", "ar1_strong")
ROWS, EPSILONS = (5000, 20_000, 100_000), (1.0, 4.0)
_DRAWS, _LEVEL = 1, 0.05


@dataclass(frozen=True)
class SparseCoverage:
    """What was measured for one design, number of rows and ε, over data sets.

    `error` and `least_squares` are mean squared distances from the true coefficients: of the
    default estimate, and of least squares on the features that matter, without privacy. `warned` is
    the share of those estimates with a warning. `refused` is the share of data sets without limits;
    the rest is about those with limits, and not a number if there are none: pointwise coverage `on`
    and `off` the features that matter, `joint` coverage of the band, and `below`, the share of
    p-values below .05 among features that do not matter.
    """

    design: str
    n_rows: int
    epsilon: float
    error: float
    least_squares: float
    warned: float
    refused: float
    on: float
    off: float
    joint: float
    below: float


def sparse_coverage(designs: Sequence[str] = DESIGNS, rows: Sequence[int] = ROWS,
                    epsilons: Sequence[float] = EPSILONS, n_features: int = 40, n_nonzero: int = 5,
                    sparsity: int | None = None, guess: float = 1.0, noise_sd: float = 0.5,
                    delta: float = 1e-6, repeats: int = 200, seed: int = 1, has_rows: bool = False
                   ) -> list[SparseCoverage]:
    """Release estimates, intervals and bands again and again, each time from fresh data.

    Parameters
    ----------
    designs : names of `engine.numerics.correlated.CORRELATIONS`
    rows : numbers of rows N
    epsilons, delta : budgets
    n_features, n_nonzero : d, and how many of them matter, with coefficients ±1/√n_nonzero
    sparsity : features kept by the methods; n_nonzero unless stated
    guess : the public guess of the standard deviation of the noise, over the true `noise_sd`
    repeats : data sets for each design and number of rows
    has_rows : draw rows, which are clipped, instead of their moments, which are not; slower

    Returns
    -------
    One `SparseCoverage` for each design, number of rows and ε.
    """
    out = []
    settings: dict[str, Any] = {"sparsity": sparsity or n_nonzero, "noise_sd": guess * noise_sd}
    for design in designs:
        for n in rows:
            source = SparseRows(design=design, n_curves=n, n_servers=1, n_features=n_features,
                                n_shared=n_nonzero, noise_sd=noise_sd)
            budgets = [(Budget(epsilon, delta),) for epsilon in epsilons]
            each = [_estimates(method, source, budgets, repeats, seed, has_rows) for method in (
                SparseNewton(**settings), SparseInference(**settings),
                SparseInference(target="band", **settings))]
            out += [_measured(source, epsilon, k, each) for k, epsilon in enumerate(epsilons)]
    return out


def _estimates(mechanism: Any, source: SparseRows, budgets: Sequence[tuple[Budget, ...]],
               repeats: int, seed: int, has_rows: bool) -> list[Estimate]:
    """Of all data sets: in one batch from moments, one by one from rows."""
    if has_rows:
        return [mechanism.release_many(source.draw(1, generator(seed, DATA_STREAM, k)), budgets,
                                       _DRAWS, generator(seed, NOISE_STREAM, k))
                for k in range(repeats)]
    moments = sample_moments(source.covariance, source.truth.node_values, source.noise_sd,
                             source.n_curves, repeats, generator(seed, DATA_STREAM, 0))
    plans = [mechanism.plan(source.public, budget) for budget in budgets]
    return [mechanism.estimate(moments, plans, repeats, _DRAWS, generator(seed, NOISE_STREAM, 0))]


def _measured(source: SparseRows, epsilon: float, k: int, each: Sequence[Sequence[Estimate]]
              ) -> SparseCoverage:
    """Of the k-th budget, from estimates, intervals and bands."""
    truth = source.truth.node_values
    support, matters = np.flatnonzero(truth), truth != 0
    points, intervals, bands = each
    estimates = _joined([estimate.coefficients for estimate in points], k)
    off, half, error = (_joined([getattr(estimate.intervals, name) for estimate in intervals], k)
                        for name in ("centre", "half_width", "error"))
    off = off - truth
    has_limits, inside = np.isfinite(half[:, 0]), np.asarray(np.abs(off) <= half)
    below = np.asarray(two_sided_p_values(off, error) < _LEVEL)
    centre, wide = (_joined([getattr(estimate.intervals, name) for estimate in bands], k)
                    for name in ("centre", "half_width"))
    covered = np.asarray((np.abs(centre - truth) <= wide).all(axis=1))
    inner = source.covariance[np.ix_(support, support)]
    return SparseCoverage(
        source.design, source.n_curves, epsilon, _share(((estimates - truth) ** 2).sum(axis=1)),
        float(source.noise_sd**2 * np.trace(np.linalg.inv(inner)) / source.n_curves),
        _share(_joined([estimate.is_doubted for estimate in points], k)), 1 - _share(has_limits),
        _share(inside[has_limits][:, matters]), _share(inside[has_limits][:, ~matters]),
        _share(covered[np.isfinite(wide[:, 0])]), _share(below[has_limits][:, ~matters]))


def _joined(values: Sequence[Any], k: int) -> NDArray[Any]:
    """The only draw at the k-th budget of values (budgets, repeats, 1, …), over all of them."""
    return np.concatenate([array[k, :, 0] for array in values])


def _share(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")
