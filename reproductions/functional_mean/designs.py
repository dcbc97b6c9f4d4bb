"""The simulations of section 5: mean curves, mechanisms and grids, and the row of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from engine.core.types import Budget
from engine.mechanisms import Mechanism
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.descent import Participation
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.simulation.experiments import Cell, Outcome
from engine.sources.sparse_curves import SparseCurves
from reproductions.drawing import Scale
from reproductions.evidence import digits
from reproductions.exhibits import Row

DELTA = 1e-3
LOW, HIGH = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), (3.0, 4.0, 5.0, 6.0, 7.0, 8.0)

# Algorithm 1 with the constants and the noise of the paper, three basis functions and one log in
# the radii.
PUBLISHED = NoisyGradientMean(scheme=Participation.SPLIT, constants="published", truncation=3)
AS_PRINTED = replace(PUBLISHED, log_power=2)  # the log is squared in the paper's formula
BY_RULE = replace(PUBLISHED, truncation=None)  # as many basis functions as the paper's formula says
STANDARD_NOISE = replace(PUBLISHED, noise="isotropic")  # the classical Gaussian mechanism
OURS = AdaptiveMean(basis="cosine")
ESTIMATORS: dict[str, Mechanism] = {
    "published": PUBLISHED,
    "printed": AS_PRINTED,
    "by_rule": BY_RULE,
    "standard_noise": STANDARD_NOISE,
    "ours": OURS,
}

ERROR = Scale("Mean squared error of the curve (log scale)", log=True)
PEOPLE = Scale("People n (log scale)", log=True)
READINGS = Scale("Observations per curve m")


def cells(
    estimator: str,
    epsilons: Iterable[float],
    people: int,
    readings: int,
    mean: str = "mu1",
    mechanism: Mechanism | None = None,
    **axes: Any,
) -> list[Cell]:
    """Make one cell for each ε, all on the same data.

    `mechanism` replaces that of the estimator's name; further arguments place the cells.
    """
    source = SparseCurves(mean=mean, n_curves=people, n_observations_per_curve=readings)
    return [
        Cell(
            {"estimator": estimator, **axes, "n": people, "m": readings, "epsilon": epsilon},
            source,
            mechanism or ESTIMATORS[estimator],
            (Budget(epsilon, DELTA),),
        )
        for epsilon in epsilons
    ]


def joined(groups: Iterable[Sequence[Cell]]) -> tuple[Cell, ...]:
    """Join all cells in one sequence."""
    return tuple(cell for group in groups for cell in group)


def row(outcome: Outcome) -> Row:
    """Return the cell's place, its mean squared error and standard error, and repeats."""
    return {**outcome.cell.at, **measured(outcome, "total_error"), "repeats": outcome.repeats}


def measured(outcome: Outcome, kind: str, name: str = "error", se: str = "se") -> dict[str, Any]:
    """Return mean and standard error of one kind of error, to five digits, or why it failed."""
    if outcome.failure:
        return {"failure": outcome.failure}
    summary = outcome.summary(kind) or {}
    return {name: digits(summary.get("mean")), se: digits(summary.get("se"))}
