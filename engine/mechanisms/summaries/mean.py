"""The mean of curves, at once and about a coarse mean that is released first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import (
    Array,
    Caution,
    CurveData,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    ServerParts,
    Sizes,
    Step,
)
from engine.mechanisms.summaries.parts import (
    FunctionPlan,
    Linear,
    ReleasedBlock,
    Smoothing,
    Space,
    Summary,
)
from engine.mechanisms.summaries.smoothing_cautions import (
    BEND_OR_STEP,
    NOT_FOLLOWED,
    SHORT_FEATURES,
    STEP_NOT_SEEN,
    TOLD_APART,
    Judgement,
)
from engine.numerics.eigensystems import Grid
from engine.numerics.end_slopes import cosine_rows
from engine.numerics.public_curves import PublicCurve
from engine.numerics.smoothing_errors import COSINES, POINTS, SmoothingErrors
from engine.numerics.tabulated import Tabulated

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.release import FunctionalRelease


@dataclass(frozen=True, eq=False)
class ClippedCurves:
    """Curves of one site on the grid, in units of τ, each clipped to size one."""

    curves: Array  # (repeats, n, K): as they were read
    clip_factors: Array  # (repeats, n): what each is multiplied by
    space: Space

    @cached_property
    def mean(self) -> Array:
        """Average coefficients: (repeats, r)."""
        return self.averaged(np.ones((len(self.curves), 1, self.n)))[:, 0]

    def chance(self, smoothing: Smoothing) -> float:
        """Compute the squared error of sampling in the smoothed mean, in units of τ².

        Smoothing never enlarges a deviation, and a linear one shrinks it as it shrinks the mean.
        """
        spread = (self._squares - (self.mean**2)).mean(axis=0)
        shrink = smoothing.shrink**2 if isinstance(smoothing, Linear) else 1.0
        return float((shrink * spread * self.space.norms).sum() / self.n)

    @cached_property
    def _squares(self) -> Array:
        """Mean squared coefficients: (repeats, r)."""
        coefficients = self.coefficients
        return np.asarray(np.einsum("rnj,rnj->rj", coefficients, coefficients) / self.n)

    @property
    def n(self) -> int:
        return int(self.curves.shape[1])

    @property
    def coefficients(self) -> Array:
        """Coefficients of every curve: (repeats, n, r)."""
        coefficients = self.curves @ self.space.analysis
        coefficients *= self.clip_factors[..., None]
        return np.asarray(coefficients)

    def averaged(self, weights: Array) -> Array:
        """Average coefficients with weights (repeats, p, n): (repeats, p, r)."""
        sums = (weights * self.clip_factors[:, None]) @ self.curves
        return np.asarray(sums @ self.space.analysis / self.n)


class MeanSummary(Summary[CurveData, ClippedCurves, Smoothing]):
    """Averages of curves, each clipped to norm one, as coefficients.

    *Differences.* Coefficients of a curve have norm at most `gain` (Bessel's inequality, or n
    lattice values of root mean square one), so replacing one of n curves moves the average within
    a ball of radius 2 gain/n, and every vector of that ball can occur.
    """

    task = MEAN_FUNCTION.key

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        self.release, self.facts = release, facts
        self.grid = release.grid(facts)
        self.space = release.space(self.grid, sizes)
        self.basis, self.scale = self.space.basis, release.norm_bound(facts)
        self.offset = PublicCurve((facts.value_middle,) * 2) if facts.value_middle else None

    @cached_property
    def of_cosines(self) -> Array:
        """Coefficients of the cosines in which smoothings are judged: (K, r)."""
        return np.asarray(cosine_rows(COSINES, np.array(self.grid.times)).T @ self.space.analysis)

    def records(self, data: CurveData) -> ClippedCurves:
        return clipped_curves(data, self.space, self.grid, self.scale)

    def smoothings(self, n: float, effective: float) -> tuple[Smoothing, ...]:
        return self.release.smoothings(self.space.eigenvalues, n, effective)

    def blocks(self, smoothing: Smoothing) -> tuple[ReleasedBlock, ...]:
        gain, shape = self.space.gain, self.release.shape(self.space.eigenvalues)
        return (
            ReleasedBlock(
                Step("noisy coefficients of the mean"),
                lambda n: smoothing.differences(2 * gain / n, 2 * gain / n, n),
                shape,
                self.space.norms,
            ),
        )

    def values(
        self, block: int, records: ClippedCurves, smoothing: Smoothing, earlier: Sequence[Array]
    ) -> Array:
        return smoothing(records.mean)[:, None]

    def parts(
        self, plans: Sequence[FunctionPlan], records: Sequence[ClippedCurves]
    ) -> ServerParts | None:
        """Shares, noise and chance of every site, where there is one smoothing."""
        if any(len(plan.smoothings) > 1 for plan in plans):
            return None
        weights = np.stack([plan.weights[0] for plan in plans])
        noise = np.array([[noise[-1].energy for noise in plan.noise[0]] for plan in plans])
        chance = np.array(
            [
                [site_records.chance(plan.smoothings[0]) for site_records in records]
                for plan in plans
            ]
        )
        square = self.scale**2
        return ServerParts(weights, square * weights**2 * noise, square * weights**2 * chance)

    def cautions(
        self,
        release: FunctionalRelease,
        public: Public,
        plans: Sequence[FunctionPlan],
        coefficients: Array,
    ) -> tuple[Caution, ...]:
        """Warn if smoothing takes away more than was forecast, or may.

        Nothing is said of smoothings that are chosen from the data, or are not linear, nor where
        few common times tell cosines apart hardly better than the smoothing.
        """
        if self.grid.size < TOLD_APART:
            return ()
        moved, short, bends, unseen = np.zeros((4, *coefficients.shape[:3]), dtype=bool)
        rows = self.basis(POINTS)
        for k, plan in enumerate(plans):
            smoothing = plan.smoothings[0]
            if len(plan.smoothings) > 1 or not isinstance(smoothing, Linear):
                continue
            errors = SmoothingErrors(
                (self.of_cosines * smoothing.shrink) @ rows.T,
                rows,
                np.diag(release.variances(public, plan)),
            )
            judgement = Judgement(errors, public.facts, public.sizes)
            curves = coefficients[k] @ rows.T
            (bends if judgement.is_of_few else short)[k] = judgement.has_short_features(curves)
            moved[k] = judgement.is_moved(curves) & ~short[k]
            unseen[k] = judgement.hides_steps(judgement.has_short_features)
        told = moved | short | bends
        each = (
            (NOT_FOLLOWED, moved),
            (SHORT_FEATURES, short),
            (BEND_OR_STEP, bends & ~moved),
            (STEP_NOT_SEEN, unseen & ~told),
        )
        return tuple(
            (
                Caution(text, applies, SaidIn.STATED, ("steps",))
                if text is STEP_NOT_SEEN
                else Caution(text, applies, SaidIn.LINE)
            )
            for text, applies in each
            if applies.any()
        )

    def fold_means(
        self, records: ClippedCurves, fold: NDArray[np.int64], earlier: Sequence[Array]
    ) -> Array:
        curves = records.coefficients
        return np.stack([curves[:, fold == k].mean(axis=1) for k in range(fold.max() + 1)], axis=1)[
            :, None
        ]

    def most_move(self, smoothings: Sequence[Smoothing], n_in: int, n_out: int) -> float:
        return max(4 / n_out, 8 / n_in)

    def reference(self, data: CurveData) -> Fit:
        """The mean on the grid, of curves that are not clipped, with its sampling range."""
        curves = data.on_grid(self.grid.times)
        mean = curves.mean(axis=1)  # (repeats, K)
        spread = (curves - mean[:, None]) / np.sqrt(max(data.n_curves - 1, 1) * data.n_curves)
        return Fit.exact(
            Tabulated(self.grid),
            mean,
            spread.swapaxes(1, 2) @ spread,
            "simultaneous",
            offset=PublicCurve((data.facts.value_middle,) * 2),
        )


def clipped_curves(data: CurveData, space: Space, grid: Grid, norm_bound: float) -> ClippedCurves:
    """Every curve on the grid, within its stated bounds, and clipped to size one."""
    curves = data.on_grid(grid.times) / norm_bound
    return ClippedCurves(curves, space.clip_factors(curves), space)


# -- about a coarse mean ---------------------------------------------------------------------------

SHARES = (0.20, 0.05, 0.75)  # of the budget
WIDTH = 2.0  # the clip of what is left, over its released size
_COARSE = 4  # coefficients of the coarse mean
_MIN_SIZE = 0.02  # of what is left, over τ
COARSE, SIZE, REST = (
    Step("noisy coarse mean"),
    Step("noisy size of deviations"),
    Step("noisy coefficients about the coarse mean"),
)


def clip_of(size: Array | float) -> Array:
    """Choose the norm to which deviations of this mean norm are clipped; both over τ, at most 1."""
    return np.minimum(WIDTH * np.maximum(size, _MIN_SIZE), 1.0)


class CentredMean(MeanSummary):
    """Averages of curves about a coarse mean that is released first.

    With one message noise is for curves of norm τ, however small their deviations are. Here a few
    coefficients come first; then the mean norm s of the deviations from them, each clipped to τ;
    then the mean of deviations clipped to norm c = 2s, for which the noise is c/τ times as large.

    *Differences.* Coefficients of curves have norm at most 1, in units of τ. Replacing one of n
    curves moves the first message within a ball of radius 2/n, as in `MeanSummary`. The second is a
    mean of numbers in [0, 1] and moves by at most 1/n. The third is sent in units of c: every
    deviation over c, clipped, has norm at most 1 whatever centre and c are, so that it moves
    within a ball of radius 2/n. Centre and c are functions of the messages before it, the same for
    all curves. All three are about the same curves, so their shares of the budget add up.

    Clipping about a centre locates the middle of curves that are spread symmetrically about it.
    """

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        super().__init__(release, sizes, facts)
        self.coarse = min(_COARSE, self.space.size)

    def blocks(self, smoothing: Smoothing) -> tuple[ReleasedBlock, ...]:
        norms = self.space.norms

        def block(
            step: Step, size: int, radius: float, share: float, norms: Array
        ) -> ReleasedBlock:
            every = Linear(np.ones(size))
            return ReleasedBlock(
                step,
                lambda n: every.differences(radius / n, radius / n, n),
                np.ones(size),
                norms,
                share,
            )

        return (
            block(COARSE, self.coarse, 2.0, SHARES[0], norms[: self.coarse]),
            block(SIZE, 1, 1.0, SHARES[1], np.ones(1)),
            block(REST, self.space.size, 2.0, SHARES[2], norms),
        )

    def values(
        self, block: int, records: ClippedCurves, smoothing: Smoothing, earlier: Sequence[Array]
    ) -> Array:
        if block == 0:
            return records.mean[:, None, : self.coarse]
        curves, centre = records.coefficients, self._centre(earlier)
        squared = (
            (curves**2).sum(axis=2)[:, None]
            - 2 * centre @ curves.swapaxes(1, 2)
            + (centre**2).sum(axis=2)[..., None]
        )
        distances = np.sqrt(np.maximum(squared, 0.0))  # (repeats, draws, n)
        if block == 1:
            return np.asarray(np.minimum(distances, 1.0).mean(axis=2, keepdims=True))
        weights = 1 / np.maximum(distances, clip_of(earlier[1]))
        return np.asarray(
            weights @ curves / records.n - centre * weights.mean(axis=2, keepdims=True)
        )

    def finished(self, averages: Sequence[Array], smoothing: Smoothing) -> Array:
        return np.asarray(self._centre(averages) + clip_of(averages[1]) * averages[2])

    def parts(
        self, plans: Sequence[FunctionPlan], records: Sequence[ClippedCurves]
    ) -> ServerParts | None:
        """None: how much noise a site adds follows from what was released."""
        return None

    def _centre(self, averages: Sequence[Array]) -> Array:
        """The coarse mean among all coefficients: (repeats, draws, r)."""
        coarse = averages[0]
        return np.concatenate(
            [coarse, np.zeros((*coarse.shape[:2], self.space.size - self.coarse))], axis=2
        )
