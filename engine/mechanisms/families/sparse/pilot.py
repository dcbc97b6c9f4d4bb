"""A first estimate of sparse coefficients: from noisy moments, or by private hard thresholding.

*Moments.* With the noisy Gram matrix Â released, the average of Mx [y − x'β]_R at a vector β,
M = Â^{−½}, gives M^{−1} of it + Âβ ≈ X'y/N. From both the best s features are computed at no cost,
whatever their correlation: there is no step that could be too long. The first average is at β = 0,
where residuals are large and so is the noise; further ones are at the estimate so far.

*Hard thresholding* (`engine.mechanisms.families.sparse.thresholding`) needs noise for s entries in
every round instead of d² entries once, and so serves where there are very many features for the
number of rows. Its step follows a released bound of the features' largest sparse eigenvalue.

Which of the two is better follows from public numbers: moments while t√d, of the noise t of an
entry of the Gram matrix, is at most 1.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array, Budget, Spend
from engine.mechanisms.families.sparse.averages import Averages
from engine.mechanisms.families.sparse.corrections import Directions, Distance, times
from engine.mechanisms.families.sparse.eigenvalues import row_sum, row_sum_sensitivity
from engine.mechanisms.families.sparse.inference import (
    WHY,
    Columns,
    ball,
    gaussian,
    line,
    published,
    stage_average,
)
from engine.mechanisms.families.sparse.thresholding import (
    COEFFICIENTS,
    DescentSettings,
    Subject,
    ledger,
    sensitivity,
)
from engine.noise.selection import Scales, SelectionLaw, scales_of
from engine.numerics.sparse_fits import best_subset

PILOTS = ("auto", "moments", "thresholding")
MAX_NOISE = 1.5  # t√d up to which moments serve
EIGENVALUE_SHARE = 0.02  # of what hard thresholding costs, for the bound that sets its step
_LONGEST = 1.9  # of a step times the bound; below 2 steps converge
_CORRELATED = 3.5  # bound above which hard thresholding may mistake features
STANDS_FOR_ANOTHER = (
    "By what was released, some features are strongly correlated for this method and this noise: "
    "a feature that was kept may stand for another one that matters."
)


# -- from moments ---------------------------------------------------------------------------------


def suits_moments(gram_noise: float, size: int) -> bool:
    """True if the best features can be computed from the Gram matrix at this noise.

    `gram_noise` is the deviation of an entry beside the diagonal.
    """
    return gram_noise * math.sqrt(size) <= MAX_NOISE


@dataclass(frozen=True)
class PilotStage:
    """One average of a first estimate from moments."""

    clip: float  # R, in response units
    deviations: tuple[float, ...]  # of its noise at each budget, for products of norm 1


def stage_noise(clip: float, n: int, rho: float) -> float:
    """2R/N over √(2ρ): products are clipped to norm 1 and residuals to R."""
    return gaussian(2 * clip / n, rho)


@dataclass(frozen=True)
class Pilot:
    """A first estimate."""

    vectors: Array  # (repeats, columns, d): β̂
    distance: Distance  # what the averages behind it say of β − β̂


def from_moments(
    pooled: Averages,
    directions: Directions,
    s: int,
    stages: Sequence[PilotStage],
    columns: Columns,
    rng: np.random.Generator,
) -> Pilot:
    """Select s features by averages whitened with a released Gram matrix, stage by stage.

    Averages of all stages are weighted by their precision.

    `directions` are those of all d coefficients, with the released matrix.
    """
    assert directions.gram is not None
    gram, root, size = directions.gram, directions.root, directions.gram.shape[-1]
    vectors: Array = np.zeros(gram.shape[:-1])
    total, weight, clips = np.zeros_like(vectors), np.zeros(len(directions.deviation)), 0.0
    for k, stage in enumerate(stages):
        exact = pooled.corrections(vectors, root, stage.clip, directions.norms)
        noise = columns.per_budget(stage.deviations)
        moved = published(
            stage_average(k), exact, directions.norms * noise, columns.normals((size,), rng)
        )
        precision = 1 / np.where(noise > 0, noise * ball(size), 1.0) ** 2
        whole = times(gram, times(root, moved) + vectors)
        total, weight = total + precision[:, None] * whole, weight + precision
        cross, clips = total / weight[:, None], max(clips, stage.clip)
        vectors = best_subset(gram, cross, s, directions.deviation)
    inverse = root @ root
    noise = np.where(columns.per_budget(stages[0].deviations) > 0, 1 / weight, 0.0)
    spread = (noise + clips**2 / pooled.n)[:, None, None] * inverse
    return Pilot(vectors, Distance(times(inverse, cross) - vectors, spread))


# -- the step of hard thresholding ----------------------------------------------------------------


@dataclass(frozen=True)
class RowClips:
    """Clips of residuals, features and whole rows: R, c and B."""

    residual: float
    feature: float
    norm: float


@dataclass(frozen=True)
class Thresholding:
    """Rounds of private hard thresholding, fixed before any row is looked at."""

    descent: DescentSettings
    step_sensitivity: float  # λ, by which a row moves an entry of a step at full pace at most
    scales: Scales
    # of the number that sets the pace; None where the learning rate is stated
    pace_sensitivity: float | None
    pace_noise_sd: float  # standard deviation of the noise in that number

    @classmethod
    def planned(
        cls,
        descent: DescentSettings,
        is_stated: bool,
        law: SelectionLaw,
        clips: RowClips,
        n: int,
        size: int,
        rho: float,
    ) -> Thresholding:
        """Plan rounds that cost ρ, with 2 % of it for the pace unless the step is stated."""
        share = 0.0 if is_stated else EIGENVALUE_SHARE
        step_sensitivity = sensitivity(descent.learning_rate, clips.residual, clips.feature, n)
        scales = scales_of(
            law, descent.sparsity, step_sensitivity, (1 - share) * rho / descent.rounds
        )
        if is_stated:
            return cls(descent, step_sensitivity, scales, None, 0.0)
        pace_sensitivity = row_sum_sensitivity(
            min(2 * descent.sparsity, size), clips.feature, clips.norm, n
        )
        return cls(
            descent,
            step_sensitivity,
            scales,
            pace_sensitivity,
            gaussian(pace_sensitivity, share * rho),
        )

    @property
    def tuning(self) -> dict[str, float]:
        return {
            "rounds": self.descent.rounds,
            "step_size": self.descent.learning_rate,
            "sensitivity": self.step_sensitivity,
            "choice_scale": self.scales.choice,
        }

    def pace(
        self,
        pooled: Averages,
        norm: float,
        each: Sequence[Thresholding],
        columns: Columns,
        rng: np.random.Generator,
        subject: Subject = COEFFICIENTS,
    ) -> Array | float:
        """Shares of the step at which it converges, by a released bound and one noise sd."""
        if self.pace_sensitivity is None:
            return 1.0
        gram = pooled.gram(norm)
        exact = row_sum(gram, min(2 * self.descent.sparsity, gram.shape[-1]))[:, None]
        deviations = columns.per_budget([rounds.pace_noise_sd for rounds in each])
        released = published(subject.pace, exact, deviations, columns.normals((), rng))
        eigenvalue = np.maximum(released + deviations, 1.0)  # variances are 1, as is stated
        convergent = _LONGEST / (self.descent.learning_rate * eigenvalue)
        return np.asarray(np.minimum(1.0, convergent))[..., None]

    def is_correlated(self, pace: Array | float, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """True where the released bound is so large that features may be mistaken.

        The bound `pace` is (repeats, columns, 1), the answer (repeats, columns).
        """
        if self.pace_sensitivity is None or not isinstance(pace, np.ndarray):
            return np.zeros(shape, dtype=bool)
        slowest = _LONGEST / (self.descent.learning_rate * _CORRELATED)
        return np.asarray(pace < slowest).reshape(shape)

    def lines(
        self, law: SelectionLaw, budgets: Sequence[Budget], subject: Subject = COEFFICIENTS
    ) -> tuple[Spend, ...]:
        """The ledger of every machine."""
        rounds = ledger(law, self.descent, self.step_sensitivity, self.scales, budgets, subject)
        if self.pace_sensitivity is None:
            return rounds
        rho = math.inf
        if self.pace_noise_sd:
            rho = (self.pace_sensitivity / self.pace_noise_sd) ** 2 / 2
        return (
            *(
                line(subject.eigenvalue, self.pace_sensitivity, rho, server, budget, WHY)
                for server, budget in enumerate(budgets)
            ),
            *rounds,
        )
