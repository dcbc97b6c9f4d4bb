"""Studies of sparse regression for the exhibits: data sets drawn as moments, fitted and compared.

Rows are normal, so that the moments of any number of them can be drawn as such; clips are then left
out, which changes nothing to speak of (see `engine.mechanisms.families.sparse.averages`). Data sets
are drawn one by one, each with own coefficients, where machines differ, and all at once where they
are alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, Estimate
from engine.mechanisms.families.sparse import averages as sparse_averages
from engine.mechanisms.families.sparse.averages import RowMoments
from engine.mechanisms.families.sparse.corrections import Corrected, pointwise_half_widths
from engine.mechanisms.families.sparse.inference import Columns
from engine.mechanisms.families.sparse.printed import (
    half_width_without_privacy,
    scaled_errors,
    wrong_sign,
)
from engine.mechanisms.families.sparse.thresholding import noise_over_signal
from engine.mechanisms.sparse_heterogeneous import SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.sources.sparse_rows import SparseRows

_SEED = 16287


@dataclass(frozen=True)
class FederationSetting:
    """m machines with n rows of d features; s of them matter, s₀ on all machines."""

    n: int = 4000
    m: int = 15
    d: int = 800
    s: int = 15
    s0: int = 8

    def source(self, pattern: int = 1) -> SparseRows:
        """Set up the paper's rows: the first s₀, and others at random places, all 1/√s; σ = ½."""
        return SparseRows(
            n_curves=self.n * self.m,
            n_servers=self.m,
            n_features=self.d,
            n_shared=self.s0,
            n_own=self.s - self.s0,
            positions="first",
            signs="equal",
            pattern=pattern,
        )

    def budgets(self, epsilons: Sequence[float]) -> list[tuple[Budget, ...]]:
        """List budgets with δ = 1/(2mn), as in the paper."""
        return [(Budget(epsilon, 1 / (2 * self.m * self.n)),) for epsilon in epsilons]


# -- machines that differ --------------------------------------------------------------------------


def differing(
    mechanism: SparseHeterogeneous,
    setting: FederationSetting,
    epsilons: Sequence[float],
    pattern: int,
) -> tuple[Estimate, SparseRows]:
    """Fit one data set with coefficients of its own at each ε; return the fit and its source.

    `pattern` tells data sets with places of their own apart.
    """
    source, rng = setting.source(pattern), generator(_SEED, DATA_STREAM, pattern)
    vectors = np.broadcast_to(source.truth.node_values, (setting.m, setting.d))
    machines = [
        sparse_averages.sample_moments(
            source.covariance, vector, source.noise_sd, setting.n, 1, rng
        )
        for vector in vectors
    ]
    plans = [mechanism.plan(source.public, budgets) for budgets in setting.budgets(epsilons)]
    estimate = mechanism.estimate(
        sparse_averages.pooled(machines),
        machines,
        plans,
        1,
        1,
        generator(_SEED, NOISE_STREAM, pattern),
    )
    return estimate, source


@dataclass(frozen=True)
class MachineErrors:
    """Squared errors averaged over machines: (data sets, budgets), and (data sets,) without noise.

    `near` (data sets,): whether a feature of some machine's own lies within three of shared ones.
    """

    released: Array
    noise_free: Array
    near: NDArray[np.bool_]


def errors(
    setting: FederationSetting, epsilons: Sequence[float], repeats: int, fit: str = "two_stage"
) -> MachineErrors:
    """Compute estimation errors of fresh data sets, the whole budget spent on estimation."""
    mechanism = SparseHeterogeneous(fit=fit, n_shared=setting.s0, n_own=setting.s - setting.s0)
    released, noise_free, near = [], [], []
    for pattern in range(repeats):
        estimate, source = differing(mechanism, setting, epsilons, pattern)
        truth = source.truth.node_values
        released.append(((estimate.coefficients - truth) ** 2).sum(-1).mean(axis=(1, 2, 3)))
        noise_free.append(((estimate.unprotected[0] - truth) ** 2).sum(-1).mean())
        near.append((truth[:, setting.s0 : setting.s0 + 3] != 0).any())
    return MachineErrors(np.array(released), np.array(noise_free), np.array(near))


def least_noise(setting: FederationSetting, epsilon: float) -> float:
    """Divide the largest of d noises of a round on one machine by the smallest coefficient."""
    mechanism = SparseHeterogeneous(n_shared=setting.s0, n_own=setting.s - setting.s0)
    source = setting.source()
    plan = mechanism.plan(source.public, setting.budgets((epsilon,))[0])
    choice = plan.machine_stages[0].rounds.scales.choice
    return noise_over_signal(choice, setting.d, 1 / math.sqrt(setting.s))


@dataclass(frozen=True)
class MachineLimits:
    """Averages over data sets for some features of machine 1, (budgets, features) each."""

    truth: Array  # (features,)
    centre: Array  # (budgets, features): of all data sets; where no interval is given, of estimates
    # length, coverage, each (budgets, features): of the intervals that are given, and how many of
    # these hold; NaN where none is
    length: Array
    coverage: Array
    # (budgets, features): in how many data sets an interval is given
    n_intervals: NDArray[np.int64]


def limits(
    setting: FederationSetting, epsilons: Sequence[float], repeats: int, features: Sequence[int]
) -> MachineLimits:
    """Compute intervals of some coefficients of one machine from one budget, over data sets.

    Coefficients are those of one pattern, so that averages over data sets make sense.
    """
    mechanism = SparseHeterogeneous(
        target="coordinates",
        features=", ".join(str(k + 1) for k in features),
        n_shared=setting.s0,
        n_own=setting.s - setting.s0,
    )
    source = setting.source()
    truth = source.truth.node_values[0, list(features)]
    vectors, covariance = source.truth.node_values, source.covariance
    plans = [mechanism.plan(source.public, budgets) for budgets in setting.budgets(epsilons)]
    centres, lengths = [], []
    for k in range(repeats):
        rng = generator(_SEED, DATA_STREAM, k)
        machines = [
            sparse_averages.sample_moments(covariance, vector, source.noise_sd, setting.n, 1, rng)
            for vector in vectors
        ]
        intervals = mechanism.estimate(
            sparse_averages.pooled(machines),
            machines,
            plans,
            1,
            1,
            generator(_SEED, NOISE_STREAM, k),
        ).intervals
        assert intervals is not None
        centres.append(intervals.centre[:, 0, 0, 0][:, list(features)])
        lengths.append(2 * intervals.half_width[:, 0, 0, 0][:, list(features)])
    centre, length = np.array(centres), np.array(lengths)  # (data sets, budgets, features)
    is_given = np.isfinite(length)
    n_intervals = is_given.sum(axis=0)
    covered = (2 * np.abs(centre - truth) <= length).sum(axis=0)
    divisor = np.where(n_intervals > 0, n_intervals, np.nan)
    return MachineLimits(
        truth,
        centre.mean(axis=0),
        np.where(is_given, length, 0).sum(axis=0) / divisor,
        covered / divisor,
        n_intervals,
    )


# -- machines that are alike -----------------------------------------------------------------------


def moments(source: SparseRows, repeats: int) -> RowMoments:
    """Draw the moments of all rows of data sets with the same coefficients."""
    return sparse_averages.sample_moments(
        source.covariance,
        source.truth.node_values,
        source.noise_sd,
        source.n_curves,
        repeats,
        generator(_SEED, DATA_STREAM, 0),
    )


@dataclass(frozen=True)
class Corrections:
    """β̂ and β̃ of releases at the asked places, the truth there, and columns of budgets."""

    mechanism: SparseInference
    vectors: Array
    corrected: Corrected
    truth: Array
    columns: Columns

    @property
    def n_repeats(self) -> int:
        return len(self.vectors)

    def released(self, values: Array | NDArray[np.bool_]) -> Array:
        """Average (repeats, columns, …) over data sets, for each budget."""
        averages = self.columns.released(np.asarray(values, dtype=float))
        return np.asarray(averages.reshape(len(averages), -1).mean(axis=1))

    def coverage(self) -> dict[str, Array]:
        """Count how often intervals hold their coefficient, at each budget, in four ways."""
        off = np.abs(self.corrected.values - self.truth)
        sampling = np.sqrt(np.diagonal(self.corrected.sampling, axis1=-2, axis2=-1))
        proper = pointwise_half_widths(self.corrected.errors)
        flipped = np.abs(wrong_sign(self.vectors, self.corrected) - self.truth)
        return {
            name: self.released(inside)
            for name, inside in (
                ("proper", off <= proper),
                ("sign", flipped <= proper),
                ("scaled", off <= pointwise_half_widths(scaled_errors(self.corrected))),
                ("naive", off <= pointwise_half_widths(sampling)),
            )
        }

    def lengths(self) -> Array:
        """Compute the lengths of intervals or of the band, at each budget."""
        return 2 * self.released(self.mechanism.half_widths(self.corrected))

    def band_coverage(self) -> dict[str, Array]:
        """Count how often a band holds all coefficients, with privacy noise in it and without."""
        largest = np.abs(self.corrected.values - self.truth).max(axis=-1)
        half = self.mechanism.half_widths(self.corrected)[..., 0]
        share = (np.abs(self.corrected.values - self.truth) <= half[..., None]).mean(axis=-1)
        return {
            "joint": self.released(largest <= half),
            "average": self.released(share),
            "naive": self.released(largest <= half_width_without_privacy(self.corrected)),
        }


def corrections(
    mechanism: SparseInference,
    source: SparseRows,
    epsilons: Sequence[float],
    delta: float,
    repeats: int,
) -> Corrections:
    """Correct the coefficients of fresh data sets with the same true coefficients, at each ε."""
    plans = [mechanism.plan(source.public, (Budget(epsilon, delta),)) for epsilon in epsilons]
    columns, places = Columns(repeats, len(plans), 1), plans[0].places
    vectors, _, corrected = mechanism.parts(
        moments(source, repeats), plans, columns, generator(_SEED, NOISE_STREAM, 0)
    )
    return Corrections(
        mechanism, vectors[..., places], corrected, source.truth.node_values[places], columns
    )


def mean_and_error(values: Array) -> tuple[float, float]:
    """Average values (repeats,) over data sets; return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
