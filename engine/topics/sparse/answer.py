"""Releases of sparse regression over machines, and their noise beside the signal.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import hard_threshold
from engine.core.errors import InputError
from engine.core.types import Array, Budget, Public, PublicFacts, SampleData, Sizes
from engine.mechanisms.families.sparse.thresholding import rows_of
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.numerics import sparse_fits
from engine.privacy import accounting
from engine.simulation import studies
from engine.simulation.studies import SHOWN_DRAWS
from engine.sources import Source
from engine.sources.sparse_rows import SparseRows
from engine.topics.simulated import Simulated

BUDGET_STEPS = (0.2, 0.5, 1.0, 2.0, 4.0, 10.0)
MAX_NUMBERS = 12_000_000  # rows times features that are drawn for a picture
_LINE_DRAWS = 3  # releases behind every point of a line
Rows = SparseRows  # simulated ones
SparseEstimator = SparseNewton | SparseRegression  # presets are offered of both
GREEN, AMBER = 0.25, 1.0  # of noise over signal: below the first all is well, above the second not


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseAnswer(Simulated):
    """d coefficients of one data set with their possible releases.

    Releases are (SHOWN_DRAWS, d), in response units for one standard deviation of a feature, and
    errors (1, SHOWN_DRAWS) their Euclidean distances from the target.
    """

    sizes: Sizes
    lasso: Array | None  # (d,): the lasso of all rows, beside a known truth
    guarantee: Budget
    # share of rows that clips change; it is not protected, and None if rows are not simulated
    held_back: float | None
    warnings: tuple[tuple[str, float], ...] = ()  # cautions, with the share of releases

    @property
    def target(self) -> Array:
        """The truth, or what is estimated without protection."""
        return self.ordinary if self.truth is None else self.truth

    def distance(self, vector: Array) -> float:
        """Compute the distance of another estimate, (d,) in response units, from the target."""
        return float(np.linalg.norm(vector - self.target))

    @property
    def support(self) -> NDArray[np.intp]:
        """The features that matter: (s,)."""
        return np.flatnonzero(self.target)

    @property
    def selection_rates(self) -> Array:
        """Share of releases that choose each feature that matters: (s,)."""
        return np.asarray((self.releases[:, self.support] != 0).mean(axis=0))

    @property
    def false(self) -> float:
        """Average number of features per release that are chosen but do not matter."""
        return float((self.releases != 0).sum(axis=1).mean() - self.selection_rates.sum())


def sparse_answer(
    source: Source[SampleData], mechanism: SparseEstimator, budget: Budget, seed: int
) -> SparseAnswer:
    """Draw rows, release, and put what needs no protection beside it.

    Returns
    -------
    SparseAnswer
        One data set, possible releases of it, and their errors in response units.
    """
    data = _rows_shown(source, seed)
    draws = studies.draws(source) if source.is_random else SHOWN_DRAWS  # the study is of these rows
    estimate = studies.shown_releases(mechanism, data, [(budget,)], seed, draws)
    ordinary, releases = (
        mechanism.without_protection(data).coefficients[0, 0, 0],
        estimate.coefficients[0, 0],
    )
    truth = None if data.truth is None else data.truth.node_values
    target = ordinary if truth is None else truth
    return SparseAnswer(
        facts=data.facts,
        sizes=data.sizes,
        people=data.n_curves,
        budget=budget,
        truth=truth,
        releases=releases,
        ordinary=ordinary,
        lasso=None if truth is None else _lasso(data, mechanism),
        spends=estimate.spends[0],
        errors=np.linalg.norm(releases - target, axis=1)[None],
        baseline_by_function=None
        if truth is None
        else np.array([np.linalg.norm(ordinary - truth)]),
        tuning=estimate.tuning[0] if estimate.tuning else {},
        verdict=mechanism.feasibility(data.sizes, (budget,)),
        guarantee=accounting.least_guarantee(estimate.spends[0]),
        held_back=_held_back(data, mechanism, budget, target) if source.is_random else None,
        warnings=estimate.warning_shares(),
    )


def _held_back(
    data: SampleData, mechanism: SparseEstimator, budget: Budget, vector: Array
) -> float:
    """Compute the share of rows with a feature, response or residual of `vector` clipped."""
    plan = mechanism.plan(data.public, (budget,))
    rows = rows_of(data, mechanism.reach_of(data.facts), math.inf)
    residual = rows.y - rows.x @ vector
    largest = np.maximum(rows.x.max(axis=-1), -rows.x.min(axis=-1))
    beyond = (
        (largest > plan.feature_clip)
        | (np.abs(rows.y) > plan.response_clip)
        | (np.abs(residual) > plan.residual_clip)
    )
    return float(beyond.mean())


def check_size(source: Source[SampleData]) -> None:
    """Refuse rows that are too many for a picture."""
    sizes = source.sizes
    numbers = sizes.n_curves * sizes.n_covariates
    if numbers > MAX_NUMBERS:
        raise InputError(
            f"These rows hold {numbers:,} numbers; a picture is drawn of at most {MAX_NUMBERS:,}.",
            field="n_curves",
            hint="Take fewer rows or features, or run it on the command line.",
        )


def _rows_shown(source: Source[SampleData], seed: int) -> SampleData:
    """Draw the rows on screen; refuse too many rows, or machines that differ."""
    check_size(source)
    data: SampleData = studies.data_on_screen(source, seed)
    if data.truth is not None and data.truth.node_values.ndim > 1:
        raise InputError(
            "Machines that differ have coefficients of their own.",
            field="n_own",
            hint="Choose a source where all machines are alike.",
        )
    return data


def _lasso(data: SampleData, mechanism: SparseEstimator) -> Array:
    """Fit the lasso of all rows, without protection: (d,)."""
    assert data.y is not None
    gram, cross = sparse_fits.moments(data.x, data.y - data.facts.value_middle)
    sd = mechanism.noise_sd or data.facts.reading_sd or 1.0
    penalty = sparse_fits.usual_penalty(sd, data.x.shape[-1], data.n_curves)
    return np.asarray(sparse_fits.lasso(gram, cross, penalty)[0])


# -- before any row is looked at -----------------------------------------------------------------


@dataclass(frozen=True)
class Calculation:
    """Expected noise: λ, the scale of the choice, that of the values, and noise over signal.

    `ratio` is the largest of d noises over the smallest coefficient that matters.
    """

    sensitivity: float
    choice: float
    values: float
    ratio: float
    epsilon: float

    @property
    def light(self) -> str:
        """Traffic light: "green", "amber" or "red"."""
        return "green" if self.ratio < GREEN else "amber" if self.ratio < AMBER else "red"


def feasibility(
    mechanism: SparseEstimator, sizes: Sizes, facts: PublicFacts, budget: Budget, smallest: float
) -> Calculation:
    """Compute the noise at these public sizes beside a coefficient of the stated size."""
    budgets = (budget,) * sizes.n_servers
    noise = mechanism.largest_noise(sizes, budgets, facts)
    proved = accounting.least_guarantee(mechanism.plan(Public(sizes, facts), budgets).spends)
    return Calculation(
        noise.sensitivity, noise.choice, noise.values, noise.largest / smallest, proved.epsilon
    )


# -- over budgets ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorsByBudget:
    """Typical errors (budgets,) of every method by its label, and of estimates without protection.

    Where the truth is not known errors are distances from hard thresholding without protection, and
    `ordinary` is empty.
    """

    epsilons: tuple[float, ...]
    private: dict[str, Array]
    ordinary: dict[str, float]


def over_budgets(
    source: Source[SampleData], mechanism: SparseEstimator, delta: float, seed: int
) -> ErrorsByBudget:
    """Measure errors on the same rows at several budgets, by every method, the chosen one first.

    The other methods take over its sparsity.
    """
    data = _rows_shown(source, seed)
    budgets = [(Budget(epsilon, delta),) for epsilon in BUDGET_STEPS]
    plain = mechanism.without_protection(data).coefficients[0, 0, 0]
    target = plain if data.truth is None else data.truth.node_values
    private = {}
    for label, method in _estimators(mechanism):
        estimate = studies.shown_releases(method, data, budgets, seed, _LINE_DRAWS)
        squares = ((estimate.coefficients[:, 0] - target) ** 2).sum(axis=-1)
        private[label] = np.sqrt(squares.mean(axis=1))
    without = (
        {} if data.truth is None else {"Hard thresholding": plain, "Lasso": _lasso(data, mechanism)}
    )
    return ErrorsByBudget(
        BUDGET_STEPS,
        private,
        {label: float(np.linalg.norm(vector - target)) for label, vector in without.items()},
    )


def presets() -> dict[str, SparseEstimator]:
    """List methods of estimating by the names of their presets, the default first."""
    return {
        label: cls(**settings)
        for cls in (SparseNewton, SparseRegression)
        for label, settings in cls.presets()
    }


def _estimators(mechanism: SparseEstimator) -> list[tuple[str, SparseEstimator]]:
    """List the chosen method and the other presets, without the published one of 100 rounds."""
    present = mechanism.nearest_preset()[0]
    others = [
        (label, replace(method, sparsity=mechanism.sparsity))
        for label, method in presets().items()
        if label != present
        and not (isinstance(method, SparseRegression) and method.constants == "published")
    ]
    return [(present, mechanism), *others]


def largest(vector: Array, count: int) -> NDArray[np.intp]:
    """Find the places of the largest absolute values of a vector (d,), in falling order."""
    places = np.flatnonzero(hard_threshold(vector, min(count, len(vector))))
    return places[np.argsort(-np.abs(vector[places]), kind="stable")]


# -- what the paper reports -----------------------------------------------------------------------


@dataclass(frozen=True)
class Reported:
    """A row of the paper's table beside what the stated noise would be at its sizes."""

    row: dict[str, float]
    published: Calculation
    tight: Calculation


def reported(rows: Sequence[dict[str, Any]]) -> list[Reported]:
    """Compute noise over signal at the rows of Table 2, by the printed and our constants."""
    out = []
    for row in rows:
        m, n, d, s = (int(row[name]) for name in ("m", "n", "d", "s_star"))
        sizes, facts = Sizes((n,) * m, m * n, 1, d), PublicFacts(reading_sd=0.5, unit_scale=True)
        budget = Budget(row["eps"], 1 / (2 * m * n))
        each = []
        for kind in ("published", "tight"):
            settings: dict[str, Any] = {"sparsity": s, "constants": kind}
            each.append(
                feasibility(SparseRegression(**settings), sizes, facts, budget, 1 / math.sqrt(s))
            )
        out.append(Reported(dict(row), each[0], each[1]))
    return out
