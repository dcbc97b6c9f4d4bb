"""Private hard thresholding over machines: the rounds that all sparse releases share.

In every round each machine sends its average gradient to a trusted centre, which averages them,
takes a step, keeps the s largest entries by noisy choice and publishes those, with noise. That
short vector is all that leaves the circle of machines and centre; it goes to every machine, so all
rows take part in all rounds.

Privacy
-------
*One row.* A row is (x, y) with x clipped entry by entry to [−c, c]; its gradient at a vector b is
[x'b − y]_R x, the residual clipped to [−R, R]. Whatever the row holds, each entry lies in
[−Rc, Rc], so replacing it moves each entry of the average over N rows by at most 2Rc/N, and of the
step by λ = η 2Rc/N: the sensitivity that the noise of `engine.noise.selection` is made for. Numbers
that are not finite count as the middle of their range. Vectors of the same round are the same for
both neighbours, because they were published in the round before. Projecting onto the ball is
computed from what is published. ρ's of all rounds add.

*Without a clip of residuals* the bound needs more: |x'b| ≤ ‖x_S‖₂‖b‖₂ ≤ √s c c₀ for b with s
entries and ‖b‖₂ ≤ c₀, which is why the projection is onto the Euclidean ball: onto the cube of the
paper's notation it would be √s larger. With |y| ≤ R' the residual is at most R' + √s c c₀.

*Machines* of unequal public sizes n_i count n_i/N times, so that every row counts equally.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 1 to 3 and 8. Clipping of residuals
and the division of budgets were derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.core.arrays import Indices, all_finite, hard_threshold
from engine.core.enumerations import Enumeration, NoiseLaw
from engine.core.types import Array, Budget, Composition, PublicFacts, SampleData, Spend, Step, Unit
from engine.noise.selection import Draw, Scales, SelectionLaw, costs, draw, noisy_hard_threshold
from engine.numerics import sparse_fits
from engine.numerics.clipping.norms import norm_clip_factors
from engine.numerics.products import rows_times
from engine.privacy import transcript

LONGEST_STEP = 0.7  # of hard thresholding; a released bound shortens it
CLIP = 4.0  # of features, in standard deviations
MIN_EIGENVALUE = 1 / 3  # public, of the features' covariance, where rounds are counted
_BLOCK = 2**19  # numbers of rows worked on at once, to stay in cache
Gradient = Callable[[Array], Array]


# -- what the machines hold -----------------------------------------------------------------------
AVERAGE_GRADIENT = Step("average gradient")


AMPLE = Budget(2000.0, 1e-3)  # at which noise does not decide how averages are whitened
SEVERAL_STEPS = (
    "A row that is worst for the Gram matrix is not worst for averages, residuals, "
    "or the choice of features."
)


class CentreSees(Enumeration):
    """Messages that reach the trusted centre: each machine's averages, or only the sum of all."""

    AVERAGES = "trusted"
    MASKED_SUM = "masked_sum"


@dataclass(frozen=True, eq=False)
class MachineRows:
    """Rows of the machines, clipped to their range, machine after machine."""

    x: Array  # (repeats, N, d): features
    y: Array  # (repeats, N): responses
    per_machine: tuple[int, ...]
    # whether machines mask what they send, so that the centre sees sums alone
    is_secure: bool = False

    @property
    def n(self) -> int:
        return int(self.x.shape[1])

    @property
    def n_features(self) -> int:
        return int(self.x.shape[2])

    @cached_property
    def blocks(self) -> tuple[tuple[slice, ...], ...]:
        """The rows of every machine, cut into pieces that stay in cache."""
        return self.pieces(max(1, _BLOCK // self.n_features))

    def pieces(self, size: int) -> tuple[tuple[slice, ...], ...]:
        """Cut the rows of every machine into pieces of at most `size` rows."""
        stops = np.cumsum(self.per_machine).tolist()
        return tuple(
            tuple(slice(k, min(k + size, stop)) for k in range(stop - n, stop, size))
            for n, stop in zip(self.per_machine, stops, strict=True)
        )

    def gradient(
        self, vectors: Array, clip: float = math.inf, step: Step = AVERAGE_GRADIENT
    ) -> Array:
        """Averages over all rows of [x'b − y]_R x: (repeats, columns, d).

        The machines' averages go to the trusted centre as they are; nothing here is published.
        """
        total = np.zeros_like(vectors)
        for machine, pieces in enumerate(self.blocks):
            if pieces:
                average = self._sums(vectors, clip, pieces) / self.per_machine[machine]
                if not self.is_secure:
                    transcript.entrusted(machine, step, average)
                total += self.per_machine[machine] / self.n * average
        if self.is_secure:
            transcript.entrusted(transcript.CENTRE, step, total)
        return total

    def _sums(self, vectors: Array, clip: float, pieces: Sequence[slice]) -> Array:
        sums = np.zeros_like(vectors)
        for r, sparse in enumerate(vectors):
            used = np.flatnonzero(sparse.any(axis=0))  # few, because the vectors are sparse
            for piece in pieces:
                x = self.x[r, piece]
                residuals = _products(x, sparse, used) - self.y[r, piece, None]
                np.clip(residuals, -clip, clip, out=residuals)
                sums[r] += rows_times(residuals.T, x)
        return sums


def _products(x: Array, vectors: Array, used: Indices) -> Array:
    """Products x'b for vectors (columns, d) that are zero outside `used`: (rows, columns)."""
    if 2 * len(used) < x.shape[1]:
        return np.asarray(x[:, used] @ vectors[:, used].T)
    return np.asarray(x @ vectors.T)


def rows_of(
    data: SampleData,
    half_range: float,
    clip: float,
    response_clip: float = math.inf,
    is_secure: bool = False,
    norm: float | None = None,
    scale: float = 1.0,
) -> MachineRows:
    """Map rows to standard units, by public constants alone.

    Features are moved so that their stated range is ±`half_range` and clipped to ±`clip`; responses
    lose the middle of their stated range and are clipped to ±`response_clip`. Values of size one
    are taken as they stand. What is not finite counts as 0, the middle.

    With `norm`, a row (x, y) beyond ±`clip` in an entry or `norm` in length is clipped as a
    whole, response included: (wx, wy) with w ≤ 1 a function of x. Both sides of y = x'β + noise are
    then multiplied by w, so that no coefficient is biased, whatever the law of x.

    `scale` is that of features, in standard deviations as stated; they are divided by it before
    clipping.
    """
    facts, x = data.facts, np.array(data.x)
    y = np.zeros(x.shape[:2]) if data.y is None else data.y - facts.value_middle
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_standard(facts):
            low, high = (
                np.array([getattr(c, end) for c in facts.covariates]) for end in ("low", "high")
            )
            x -= (low + high) / 2
            x *= 2 * half_range / (high - low)
        if scale != 1:
            x /= scale
        for block in (x, y):
            if not all_finite(block):
                block[~np.isfinite(block)] = 0.0
    if norm is not None:
        _clip_rows(x, y, clip, norm)
    np.clip(x, -clip, clip, out=x)
    return MachineRows(
        x, np.clip(y, -response_clip, response_clip), data.sizes.n_curves_per_server, is_secure
    )


def _clip_rows(x: Array, y: Array, clip: float, norm: float) -> None:
    """Multiply rows (x, y) by the largest w ≤ 1 that holds entries of x to ±clip, x to `norm`."""
    largest = np.maximum(np.abs(x).max(axis=-1) / clip, 1.0)
    x /= largest[..., None]
    length = np.maximum(np.linalg.norm(x, axis=-1) / norm, 1.0)
    x /= length[..., None]
    y /= largest * length


def is_standard(facts: PublicFacts) -> bool:
    """True if features and responses are of size one as they stand; never for uploads."""
    return facts.unit_scale and facts.is_simulated


# -- what is fixed before any row is looked at ----------------------------------------------------


@dataclass(frozen=True)
class DescentSettings:
    """The public constants of the rounds, the settings of a descent."""

    sparsity: int  # s, how many entries are kept
    rounds: int
    learning_rate: float
    radius: float  # c₀, the largest norm of a vector


def sensitivity(learning_rate: float, residual: float, feature: float, n: int) -> float:
    """λ = η 2Rc/N, the most by which one row moves an entry of a step; R and c are the clips.

    Examples
    --------
    >>> sensitivity(learning_rate=0.5, residual=4.0, feature=4.0, n=1000)
    0.016
    """
    return 2 * learning_rate * residual * feature / n


def largest_residual(response: float, sparsity: int, feature: float, radius: float) -> float:
    """R' + √s c c₀: what a residual can be without a clip, for vectors in the Euclidean ball."""
    return response + math.sqrt(sparsity) * feature * radius


def noise_over_signal(scale: float, n_features: int, smallest: float) -> float:
    """The largest of d noises, about scale · log d, over the smallest coefficient that matters.

    Far below 1 the right features are found; above 1 they are not.
    """
    return scale * math.log(n_features) / smallest


def fewest_rounds(learning_rate: float, least_eigenvalue: float) -> int:
    """Find the least T with (1 − ην)^T ≤ 1/20, the share of the distance left after T rounds.

    ν is the least eigenvalue of the covariance of the features.

    Examples
    --------
    >>> fewest_rounds(0.7, 1 / 3)
    12
    """
    return max(1, math.ceil(math.log(20) / -math.log1p(-learning_rate * least_eigenvalue) - 1e-9))


@dataclass(frozen=True)
class Subject:
    """Subject of rounds: the names of their messages and of their lines in the ledger."""

    noun: str = "coefficients"  # in the lines, which cover all rounds
    part: str = ""  # before what is sent in each round

    @property
    def choice(self) -> Step:
        return Step(f"choice of {self.noun}")

    @property
    def values(self) -> Step:
        return Step(f"chosen {self.noun}")

    @property
    def eigenvalue(self) -> Step:
        return Step(f"largest eigenvalue for {self.noun}")

    @property
    def pace(self) -> Step:
        """The message that sets how long steps are."""
        return Step(f"{self.part}largest eigenvalue", charged_to=(self.eigenvalue.key,))

    def round(self, t: int) -> Step:
        """The message of one round."""
        return Step(f"{self.part}round {t + 1}", charged_to=(self.choice.key, self.values.key))


COEFFICIENTS = Subject()


def ledger(
    law: SelectionLaw,
    descent: DescentSettings,
    step_sensitivity: float,
    scales: Scales,
    budgets: Sequence[Budget],
    subject: Subject = COEFFICIENTS,
) -> tuple[Spend, ...]:
    """Write two lines for every machine: choices of all rounds, and values published with them.

    The centre's noise is the same for all rows, whatever budget was asked for them.

    `step_sensitivity` is λ.
    """
    choice, values = costs(law, descent.sparsity, step_sensitivity, scales)
    why = (
        f"All rows take part in each of {descent.rounds} rounds, whose costs ρ add. Noise is "
        "added once, by the trusted centre, and protects the rows of every machine alike."
    )
    lines = []
    for s, budget in enumerate(budgets):
        line = Spend(
            step=subject.choice,
            server=s,
            mu=None,
            rho=choice,
            budget=budget,
            why=why,
            sensitivity=(step_sensitivity,),
            noise_scale=(scales.choice,),
            count=descent.rounds,
            composition=Composition.SEQUENTIAL,
            unit=Unit.ROW,
            norm="ℓ∞",
            noise=NoiseLaw.CHOICE,
        )
        lines += [
            line,
            replace(line, step=subject.values, rho=values, noise_scale=(scales.values,)),
        ]
        if law.is_gaussian:  # all values at once
            lines[-1] = replace(
                lines[-1],
                rho=None,
                mu=math.sqrt(2 * values),
                norm="ℓ2",
                sensitivity=(step_sensitivity * math.sqrt(descent.sparsity),),
                noise=NoiseLaw.GAUSSIAN,
            )
    return tuple(lines)


# -- the rounds -----------------------------------------------------------------------------------


def descend(
    gradient: Gradient,
    shape: tuple[int, int, int],
    descent: DescentSettings,
    law: SelectionLaw,
    scales: Sequence[Scales],
    rng: np.random.Generator,
    subject: Subject = COEFFICIENTS,
    pace: Array | float = 1.0,
) -> Array:
    """Take all rounds from 0, at each of several scales; draws share their noise across scales.

    Steps are η·pace. What is published is v/pace − η·gradient, which one row moves by λ = η 2Rc/N
    whatever the pace, so that noise and ledger do not depend on it. Vectors are (repeats, budgets ×
    draws + 1, d); the last column took the same steps without noise and is not published.
    """
    repeats, draws, size = shape
    vectors = np.zeros((repeats, len(scales) * draws + 1, size))
    for t in range(descent.rounds):
        moved = vectors / pace - descent.learning_rate * gradient(vectors)
        noise = draw(law, descent.sparsity, (repeats, 1, draws, size), rng)
        sent = _published(subject.round(t), moved, descent, law, scales, noise)
        vectors = in_ball(pace * sent, descent.radius)
    return vectors


def _published(
    step: Step,
    moved: Array,
    descent: DescentSettings,
    law: SelectionLaw,
    scales: Sequence[Scales],
    noise: Draw,
) -> Array:
    """Publish the centre's values of a round; the last column, without noise, is not published."""
    choice, values = (
        np.array([getattr(pair, name) for pair in scales])[:, None, None]
        for name in ("choice", "values")
    )
    transcript.weighed(transcript.CENTRE, step, moved, law, descent.sparsity, scales[0])
    by_budget = moved[:, :-1].reshape(len(moved), len(scales), -1, moved.shape[-1])
    private = noisy_hard_threshold(by_budget, descent.sparsity, choice, values, noise).reshape(
        len(moved), -1, moved.shape[-1]
    )
    quiet = hard_threshold(moved[:, -1:], descent.sparsity)
    spread = law.value_deviation * values[0, 0, 0] * (private[:, :1] != 0)
    return transcript.sent(
        transcript.CENTRE, step, np.concatenate([private, quiet], axis=1), spread
    )


def in_ball(vectors: Array, radius: float) -> Array:
    """Clip vectors (…, d) in norm."""
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors * norm_clip_factors(norm, radius))


# -- without protection ---------------------------------------------------------------------------


def settled(rows: MachineRows, sparsity: int) -> Array:
    """Least squares on the best features, neither clipped nor noised: (repeats, d).

    The features are those of `sparse_fits.best_subset`, which hard thresholding finds, too, where
    its steps settle; this settles for correlated features as well.
    """
    out = np.zeros((len(rows.x), rows.n_features))
    for x, y, end in zip(rows.x, rows.y, out, strict=True):
        gram, cross = sparse_fits.moments(x, y)
        size = np.maximum(np.diagonal(gram).mean(), 1e-300)
        start = sparse_fits.best_subset(gram, cross, sparsity, 1e-9 * size)
        where = np.flatnonzero(start)
        end[where] = np.linalg.lstsq(x[:, where], y, rcond=None)[0]
    return out
