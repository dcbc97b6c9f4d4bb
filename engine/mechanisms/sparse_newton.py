"""Sparse regression over machines: features first, then one noisy Newton step on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Indices
from engine.core.registry import param
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Data,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
    Sizes,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.sparse import inference
from engine.mechanisms.families.sparse.averages import Averages, RowAverages
from engine.mechanisms.families.sparse.corrections import (
    Corrected,
    CorrectionNoise,
    FittedRows,
    newton,
)
from engine.mechanisms.families.sparse.directions import on_support, several_directions, with_noise
from engine.mechanisms.families.sparse.guesses import LargestNoise, PublicGuesses, with_responses
from engine.mechanisms.families.sparse.left_out import with_left_out
from engine.mechanisms.families.sparse.pilot import (
    PILOTS,
    STANDS_FOR_ANOTHER,
    PilotStage,
    RowClips,
    Thresholding,
    from_moments,
    stage_noise,
    suits_moments,
)
from engine.mechanisms.families.sparse.scale import (
    SCALE,
    SHARE,
    by_scale,
    is_told,
    released_scales,
    scale_noise,
)
from engine.mechanisms.families.sparse.thresholding import (
    AMPLE,
    CLIP,
    LONGEST_STEP,
    MIN_EIGENVALUE,
    SEVERAL_STEPS,
    CentreSees,
    DescentSettings,
    descend,
    fewest_rounds,
    is_standard,
    rows_of,
)
from engine.noise.selection import GUMBEL
from engine.numerics.coordinates import Coordinates
from engine.privacy import accounting

_LAW = GUMBEL
_SECOND, _LAST = 3.5, 2.5  # clips of residuals, in public guesses of the noise
_CLIP_OF_ROUNDS = 4.0  # in rounds of hard thresholding
NOT_DISTINCT = (
    "The features that were kept are so correlated that privacy noise hides the difference "
    "between their coefficients; these are the first, coarser estimates."
)
NOT_ENOUGH = (
    f"By what was released, fewer than {100 * inference.MIN_WITHIN:.0f} % of the residuals lie "
    "within their clip, so coefficients may be far off. State a larger standard deviation of the "
    "noise."
)
UNSURE = (
    "At least one of the kept coefficients lies within two standard errors of zero: privacy noise "
    "may have chosen its feature in place of one that matters."
)


@dataclass(frozen=True)
class BudgetShares:
    """Division of the budget, as ρ; all shares sum to 1."""

    # gram, stages: for the Gram matrix and the averages of a first estimate from moments
    gram: float
    stages: tuple[float, ...]
    rounds: float
    chosen: float  # for the Gram matrix of the chosen features
    residuals: float  # for their mean square, and the share within their clip
    last: float  # for the average of the Newton step


MOMENTS = BudgetShares(
    gram=0.28, stages=(0.15, 0.24), rounds=0.0, chosen=0.05, residuals=0.03, last=0.25
)
ROUNDS = BudgetShares(gram=0.0, stages=(), rounds=0.5, chosen=0.08, residuals=0.03, last=0.39)


@dataclass(frozen=True)
class NewtonPlan(inference.AveragesPlan):
    """All that is fixed before any row is looked at."""

    sparsity: int
    size: int
    feature_clip: float
    response_clip: float
    residual_clip: float
    row: float  # B, the norm that rows are held to
    guess: float  # the public guess of σ
    gram: float
    stages: tuple[
        PilotStage, ...
    ]  # clip and noise of each average of a first estimate from moments
    thresholding: Thresholding | None  # rounds of one by hard thresholding; None with moments
    chosen: float
    residuals: float
    last: float
    # deviation of the noise in the mean squared length of rows; None where their scale is as stated
    scale: float | None = None
    centre_noise_sd: float | None = None

    @property
    def chooses_first(self) -> bool:
        return self.thresholding is not None

    @property
    def tuning(self) -> dict[str, Any]:
        clips = {"feature_clip": self.feature_clip, "residual_clip": self.residual_clip}
        if self.thresholding is None:
            return {**clips, "response_clip": self.response_clip}
        return {**clips, **self.thresholding.tuning}


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseNewton(inference.FromAverages[NewtonPlan], PublicGuesses[NewtonPlan]):
    """β̂_S = β̂⁰_S + Θ̂_S^½ (average of [Θ̂_S^½ x_S]_W [y − x'β̂⁰]_R + noise)/P on s features S.

    Machines send exact averages to a trusted centre, or masked ones whose sum alone it can read;
    noise is added once, by the centre, to what it publishes. First a noisy Gram matrix Â and noisy
    averages of Â^{−½}x [y − x'β]_R, at 0 and once more, give the best s features at no further
    cost, whatever their correlation (`engine.mechanisms.families.sparse.pilot`). Then only these
    count: their own Gram matrix Â_S, Θ̂_S = Â_S⁻¹, and one average of s numbers instead of d, whose
    rows are so much shorter, are published with little noise, and one Newton step is all that is
    needed.

    Notes
    -----
    *One row.* Rows are clipped as a whole, (wx, wy), to entries within ±c and norm B, which
    biases no coefficient. Replacing one moves a Gram matrix by at most √2 B²/N in the Frobenius
    norm; an average of products held to norm W and residuals to R by 2WR/N in the Euclidean norm;
    and the average squared residual in units of R² with the share within R by √2/N. What directions
    and clips depend on has been published before. Shares of ρ: Gram matrix 28 %, averages 15 % and
    24 %, Gram matrix of the chosen 5 %, residuals 3 %, last average 25 %. With hard thresholding in
    place of moments: 50 % for its rounds, then 8, 3 and 39 %. Different budgets: the smallest ρ of
    all machines, since one noise serves all.

    *Scale.* Where it is not stated how far ranges reach, 1 % of ρ goes to one number that says how
    wide features spread (`engine.mechanisms.families.sparse.scale`, with its proof); the shares
    above are of the rest.

    *Centre.* Where values are not of size one, 5 % of ρ first goes to the means of features and
    response, from which everything is measured (`engine.mechanisms.families.sparse.centre`).

    *P* is the released share of residuals within R: clipping multiplies the average by it where
    residuals are normal (Stein's identity), so that a guess of σ that is too small costs accuracy.

    *Cautions* follow from what was released, and go with the estimate: features that noise cannot
    tell apart, residuals most of which are clipped, and coefficients near zero.

    References
    ----------
    Derived for this project. Choice by hard thresholding: Zhang, Nakada and Zhang (2024), arXiv
    2404.16287, Algorithm 2. One Newton step after a first estimate: Le Cam (1956).

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.sparse_rows import SparseRows
    >>> data = SparseRows(n_curves=2000).draw(1, generator(1, 0, 0))
    >>> method = SparseNewton(sparsity=3)
    >>> estimate = method.release(data, (Budget(2.0, 1e-6),), generator(1, 1, 0))
    >>> int((estimate.coefficients != 0).sum())
    3
    """

    key = "sparse_newton"
    label = "Features, then a Newton step"
    order = 5
    dash, marker = "solid", "cross"
    reference = "Derived here; choice of features as in Zhang, Nakada and Zhang (2024)"
    formula = (
        r"\hat\beta_S = \hat\beta^0_S + \tfrac1{\hat P}\hat\Theta_S^{1/2}\Big(\tfrac1N"
        r"\sum_{i,j}\big[\hat\Theta_S^{1/2}x_{ij,S}\big]_W\,[y_{ij}-x_{ij}'\hat\beta^0]_R"
        r" + sZ\Big)"
    )

    sparsity: int = param(
        5,
        "Features kept",
        "How many coefficients are not zero. A public guess: more needs more noise on each.",
        low=1,
        high=500,
        symbol="s",
    )
    pilot: str = param(
        "auto",
        "Choice of features",
        "Moments: the best ones by noisy moments, whatever their "
        "correlation. Thresholding: private hard thresholding. Auto: moments where their noise "
        "allows it, which public sizes decide.",
        choices=PILOTS,
    )
    trust: CentreSees = param(
        CentreSees.AVERAGES,
        "What the centre sees",
        "Trusted: every machine’s exact averages. Masked sum: machines mask what they send, so "
        "that only the sum can be read. Noise and error are the same.",
    )
    rounds: int | None = param(
        None,
        "Rounds",
        "For hard thresholding. Default: until at most a twentieth of the distance "
        "is left, if eigenvalues are at least ⅓.",
        low=1,
        high=1000,
        symbol="T",
    )
    feature_clip: float | None = param(
        None,
        "Clip of features",
        "In standard deviations. Default: 4, or the reach of the ranges where that is less.",
        low=0.1,
        high=1e3,
        symbol="c_x",
    )
    residual_clip: float | None = param(
        None,
        "Clip of residuals",
        "In response units, in the last average. Default: 2½ times the "
        "standard deviation of the noise.",
        low=1e-9,
        high=1e9,
        symbol="R",
    )
    response_clip: float | None = param(
        None,
        "Clip of responses",
        "In response units, in the first average. Default: 3 (c₀² + σ²)^½.",
        low=1e-9,
        high=1e9,
    )
    feature_scale: str | None = param(
        None,
        "Scale of features",
        "Stated: by their ranges and how far these reach. Released: 1 % of the budget tells how "
        "wide features spread, which costs about 1 % of accuracy where ranges are tight, and saves "
        "most of the error where they are twice too wide. Default: stated, if the reach is.",
        choices=("stated", "released"),
        earlier="stated",
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial(settings, AMPLE, 0.6, SEVERAL_STEPS)
            for settings in (
                {"sparsity": 2, "pilot": "moments"},
                {"pilot": "thresholding", "rounds": 3},
                {"sparsity": 2, "pilot": "moments", "feature_scale": "released"},
                {"sparsity": 2, "pilot": "moments", "centre": "released"},
            )
        )

    @property
    def is_secure(self) -> bool:
        return self.trust is CentreSees.MASKED_SUM

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: Data, plans: Sequence[NewtonPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Features, then one Newton step on them; see `Mechanism.fitted`."""
        fit = self.from_centre(data, plans, draws, rng, self._fit_centred)
        sampling = self.spread(data.facts) / math.sqrt(data.sizes.n_curves)
        noise = [_largest_noise(plan, data.sizes.n_curves) for plan in plans]
        deviations = [math.hypot(sampling, each.choice, each.values) for each in noise]
        return with_left_out(fit, deviations, plans[0].sparsity)

    def _fit_centred(
        self, data: SampleData, plans: Sequence[NewtonPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        return inference.by_kind(
            plans,
            lambda plan: plan.scale is None,
            lambda alike: self._fit_rows(data, alike, draws, rng),
        )

    def _fit_rows(
        self, data: Data, plans: Sequence[NewtonPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Fit plans all of which release the scale of features, or none of which does."""
        repeats = data.n_repeats
        noise = [plan.scale for plan in plans if plan.scale is not None]
        if not noise:
            return self.fit_averages(self.averages(data, plans[0]), plans, repeats, draws, rng)
        columns = inference.Columns(repeats, len(plans), draws)
        scales = released_scales(self.averages(data, plans[0]), noise, plans[0].size, columns, rng)
        rows = with_responses(data)

        def fit(part: slice, scale: float, stream: np.random.Generator) -> Fit:
            y = None if rows.y is None else rows.y[part]
            some = replace(rows, x=rows.x[part], y=y, truth=None)
            averages = self.averages(some, plans[0], scale)
            return self.fit_averages(averages, plans, len(some.x), draws, stream)

        return by_scale(scales, columns, rng, fit)

    def averages(self, data: Data, plan: NewtonPlan, scale: float = 1.0) -> RowAverages:
        """Read the machines' rows; nothing else reads rows.

        `scale` of features is in standard deviations as stated.
        """
        rows = with_responses(data)
        return RowAverages(
            rows_of(
                rows,
                self.reach_of(rows.facts),
                plan.feature_clip,
                is_secure=self.is_secure,
                norm=plan.row,
                scale=scale,
            )
        )

    def fit_alike(
        self,
        averages: Averages,
        plans: Sequence[NewtonPlan],
        repeats: int,
        draws: int,
        rng: np.random.Generator,
    ) -> Fit:
        """Fit plans that choose features in the same way."""
        columns, size = inference.Columns(repeats, len(plans), draws), plans[0].size
        first, is_distinct, is_narrow = self._features(averages, plans, columns, size, rng)
        where, corrected = self._step(averages, first, plans, columns, rng)
        is_narrow = (is_narrow | corrected.is_narrow) & (plans[0].centre_noise_sd is not None)
        end = first.copy()
        selected = np.take_along_axis(first, where, axis=-1)
        np.put_along_axis(
            end,
            where,
            np.where(corrected.is_distinct[..., None], corrected.values, selected),
            axis=-1,
        )
        return Fit(
            basis=Coordinates(size),
            coefficients=columns.released(end),
            unprotected=columns.quiet(end),
            cautions=_cautions(corrected, is_distinct, is_narrow, columns),
        )

    def _features(
        self,
        averages: Averages,
        plans: Sequence[NewtonPlan],
        columns: inference.Columns,
        size: int,
        rng: np.random.Generator,
    ) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """The first estimate, whose entries that are not zero are the features: (…, d).

        And whether noise lets correlated features be told apart, by what was released: (…,).
        """
        plan = plans[0]
        if plan.thresholding is not None:
            rounds = [each.thresholding for each in plans if each.thresholding]
            pace = plan.thresholding.pace(averages, plan.row, rounds, columns, rng)
            vectors = descend(
                partial(averages.gradient, clip=_CLIP_OF_ROUNDS * plan.guess),
                (columns.repeats, columns.draws, size),
                plan.thresholding.descent,
                _LAW,
                [each.scales for each in rounds],
                rng,
                pace=pace,
            )
            distinct = ~plan.thresholding.is_correlated(pace, vectors.shape[:2])
            return vectors, distinct, np.zeros_like(distinct)
        deviation = columns.per_budget([each.gram for each in plans])
        gram = with_noise(inference.GRAM, averages.gram(plan.row)[:, None], deviation, columns, rng)
        stages = [
            replace(stage, deviations=tuple(each.stages[k].deviations[0] for each in plans))
            for k, stage in enumerate(plan.stages)
        ]
        directions = several_directions(gram, np.arange(size), deviation)
        return (
            from_moments(averages, directions, plan.sparsity, stages, columns, rng).vectors,
            directions.is_distinct,
            directions.is_narrow,
        )

    def _step(
        self,
        averages: Averages,
        first: Array,
        plans: Sequence[NewtonPlan],
        columns: inference.Columns,
        rng: np.random.Generator,
    ) -> tuple[Indices, Corrected]:
        """Places of the chosen features, and the Newton step there."""
        plan = plans[0]
        deviation = columns.per_budget([each.chosen for each in plans])
        where, directions = on_support(averages, first, plan.sparsity, deviation, columns, rng)
        noise = CorrectionNoise(
            columns.per_budget([each.residuals for each in plans]),
            columns.per_budget([each.last for each in plans]),
        )
        rows = FittedRows(averages, first, plan.residual_clip, plan.guess)
        return where, newton(
            rows, np.take_along_axis(first, where, axis=-1), directions, noise, columns, rng
        )

    def exact_fit(self, data: Data) -> Fit:
        """Least squares on the best features of all rows, neither clipped nor noised."""
        return self.least_squares(data, self.sparsity)

    # -- fixed before any row is looked at ------------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> NewtonPlan:
        """Clips, steps, noise and ledger."""
        sizes, facts = public.sizes, public.facts
        n, d = sizes.n_curves, sizes.n_covariates
        s, guess, rho = min(self.sparsity, d), self.spread(facts), inference.gaussian_rho(budgets)
        may_be_wide = self._may_be_wide(facts)
        feature = self.feature_clip or (CLIP if may_be_wide else self.clip_of_features(facts))
        row = inference.row_norm(d, feature)
        response = self.response_clip or self.clip_of_responses(facts)
        clip = self.residual_clip or _LAST * guess
        shares = MOMENTS
        if not self._takes_moments(row, n, d, rho):
            shares, rho = ROUNDS, accounting.smallest_rho(budgets)
        centre = self.planned_centre(public, budgets, rho)
        rho = centre.rest
        scale = scale_noise(row, n, SHARE * rho) if may_be_wide else None
        if scale is not None and self.feature_scale is None and not is_told(scale, d):
            scale = None
        of_scale = 0.0 if scale is None else SHARE * rho
        rho -= of_scale if scale is not None and math.isfinite(rho) else 0.0
        clips = (response, max(clip, _SECOND * guess))
        stages = tuple(
            PilotStage(clip_of_stage, (stage_noise(clip_of_stage, n, share * rho),))
            for clip_of_stage, share in zip(clips, shares.stages, strict=False)
        )
        step = self.step_size or LONGEST_STEP
        rounds = (
            None
            if stages
            else Thresholding.planned(
                DescentSettings(
                    s,
                    self.rounds or fewest_rounds(step, MIN_EIGENVALUE),
                    step,
                    self.largest_norm(facts),
                ),
                self.step_size is not None,
                _LAW,
                RowClips(_CLIP_OF_ROUNDS * guess, feature, row),
                n,
                d,
                shares.rounds * rho,
            )
        )
        messages = [
            *([(inference.GRAM, math.sqrt(2) * row**2, shares.gram)] if stages else []),
            *(
                (inference.stage_average(k), 2 * inference.ball(d) * stage.clip, share)
                for k, (stage, share) in enumerate(zip(stages, shares.stages, strict=True))
            ),
            (inference.GRAM_OF_CHOSEN, math.sqrt(2) * inference.ball(s) ** 2, shares.chosen),
            (inference.RESIDUALS, math.sqrt(2), shares.residuals),
            (inference.CORRECTIONS, 2 * inference.ball(s) * clip, shares.last),
        ]
        spends = [*centre.spends, *([] if rounds is None else rounds.lines(_LAW, budgets))]
        costs = [
            *([(SCALE, row**2, of_scale)] if scale is not None else []),
            *((step, sensitivity, share * rho) for step, sensitivity, share in messages),
        ]
        spends += [
            inference.line(step, sensitivity / n, cost, server, budget, inference.WHY)
            for server, budget in enumerate(budgets)
            for step, sensitivity, cost in costs
        ]
        return NewtonPlan(
            s,
            d,
            feature,
            response,
            clip,
            row,
            guess,
            inference.gram_noise(row, n, shares.gram * rho),
            stages,
            rounds,
            inference.gram_noise(inference.ball(s), n, shares.chosen * rho),
            inference.gaussian(math.sqrt(2) / n, shares.residuals * rho),
            stage_noise(clip, n, shares.last * rho),
            scale,
            centre.deviation,
            spends=tuple(spends),
        )

    def _may_be_wide(self, facts: PublicFacts) -> bool:
        """True if the scale of features is to be learned, noise permitting."""
        is_stated = is_standard(facts) or bool(self.reach or facts.reach)
        return self.feature_scale == "released" if self.feature_scale else not is_stated

    def _takes_moments(self, row: float, n: int, size: int, rho: float) -> bool:
        if self.pilot == "auto":
            return suits_moments(inference.gram_noise(row, n, MOMENTS.gram * rho), size)
        return self.pilot == "moments"

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Squared error that privacy adds if features are uncorrelated and the right ones chosen:
        that of the last average, in s entries.
        """
        plan: NewtonPlan = self.plan(Public(sizes, facts), budgets)
        return plan.sparsity * (inference.ball(plan.sparsity) * plan.last) ** 2

    def largest_noise(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> LargestNoise:
        """The noise among which features are chosen, if they are uncorrelated.

        Of d normal noises the largest is about (2 log d)^½ times their deviation.
        """
        return _largest_noise(self.plan(Public(sizes, facts), budgets), sizes.n_curves)


def _largest_noise(plan: NewtonPlan, n_rows: int) -> LargestNoise:
    values = inference.ball(plan.sparsity) * plan.last
    if plan.thresholding is not None:
        scale = plan.thresholding.scales.choice
        return LargestNoise(
            plan.thresholding.step_sensitivity, scale, values, scale * math.log(plan.size)
        )
    each = [inference.ball(plan.size) * stage.deviations[0] for stage in plan.stages]
    both = 1 / math.hypot(*(1 / deviation for deviation in each)) if all(each) else 0.0
    sum_sensitivity = 2 * inference.ball(plan.size) * plan.stages[-1].clip
    return LargestNoise(
        sum_sensitivity / n_rows, both, values, both * math.sqrt(2 * math.log(plan.size))
    )


def _cautions(
    corrected: Corrected,
    is_distinct: NDArray[np.bool_],
    is_narrow: NDArray[np.bool_],
    columns: inference.Columns,
) -> tuple[Caution, ...]:
    near_zero = np.asarray((np.abs(corrected.values) < 2 * corrected.errors).any(axis=-1))
    each = (
        (NOT_DISTINCT, ~corrected.is_distinct & ~is_narrow),
        (NOT_ENOUGH, ~corrected.is_enough),
        (STANDS_FOR_ANOTHER, ~is_distinct & ~is_narrow),
        (inference.NARROW, is_narrow),
        (UNSURE, near_zero),
    )
    return tuple(
        Caution(text, columns.released(applies), SaidIn.LINE)
        for text, applies in each
        if columns.released(applies).any()
    )
