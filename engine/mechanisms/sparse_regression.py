"""Sparse regression over machines by private hard thresholding (arXiv 2404.16287, Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import (
    Budget,
    Caution,
    Data,
    Fit,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
    Sizes,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.guesses import LargestNoise, PublicGuesses, with_responses
from engine.mechanisms.families.sparse.inference import Columns, row_norm
from engine.mechanisms.families.sparse.left_out import with_left_out
from engine.mechanisms.families.sparse.pilot import STANDS_FOR_ANOTHER, RowClips, Thresholding
from engine.mechanisms.families.sparse.thresholding import (
    LONGEST_STEP,
    CentreSees,
    DescentSettings,
    MachineRows,
    descend,
    fewest_rounds,
    is_standard,
    largest_residual,
    ledger,
    rows_of,
    sensitivity,
)
from engine.noise.selection import LAWS, Scales, SelectionLaw, printed_scale
from engine.numerics.coordinates import Coordinates
from engine.privacy import accounting

STATED_ROUNDS = (
    "Rounds suffice for features that spread at least 0.6 times as wide as that; the coefficient "
    "of one that spreads less is too small. *Features, then a Newton step* needs no rounds."
)
_CLIP = 4.0  # of residuals, in standard deviations of the noise
_LARGEST_EIGENVALUE = 3.0  # L of the paper: eigenvalues of the covariance lie in [1/L, L]


@dataclass(frozen=True)
class ThresholdingPlan(Plan):
    """All that is fixed before any row is looked at."""

    descent: DescentSettings
    feature_clip: float
    residual_clip: float
    response_clip: float
    step_sensitivity: float
    scales: Scales
    pace_sensitivity: float | None
    pace_noise_sd: float
    # none where features are measured from the middle of these
    centre_noise_sd: float | None = None

    @property
    def tuning(self) -> dict[str, Any]:
        return {
            "rounds": self.descent.rounds,
            "step_size": self.descent.learning_rate,
            "feature_clip": self.feature_clip,
            "residual_clip": self.residual_clip,
            "sensitivity": self.step_sensitivity,
            "choice_scale": self.scales.choice,
        }

    @property
    def thresholding(self) -> Thresholding:
        return Thresholding(
            self.descent,
            self.step_sensitivity,
            self.scales,
            self.pace_sensitivity,
            self.pace_noise_sd,
        )


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseRegression(PublicGuesses[ThresholdingPlan]):
    """β ← ball(top_s(β − (η/N) Σ [x'β − y]_R x)), where the s largest are chosen with noise.

    Machines send exact averages to a trusted centre, or masked ones whose sum alone it can read;
    noise is added once, by the centre, to what it publishes.
    `engine.mechanisms.families.sparse.thresholding` proves that a row moves a step by at most λ = η
    2Rc/N per entry, and `engine.noise.selection` what the choice and the values of each round then
    cost.

    Notes
    -----
    *Tight.* c is 4 standard deviations of a feature and R is 4 public guesses of the noise's; y is
    not clipped, because the residual is: a clip of y at 4 would bias the fit. Steps are 0.7, or
    1.9 over a bound of the largest variance of x'v over unit vectors with 2s entries, where that is
    less: one number is released for it, with 2 % of ρ, because longer steps diverge where features
    are correlated (`engine.mechanisms.families.sparse.eigenvalues`). The rest of the budget's
    largest ρ is divided evenly over the rounds. Different budgets: the smallest ρ of all machines,
    since one noise serves all.

    *Published.* c = 3(2Lκ² log d)^{1/2} with κ = 1, y clipped at R' = σ(2 log N)^{1/2}, residuals
    not clipped, so that λ = ηB₀/N with B₀ = 2(R' + √s c c₀)c; η = 1/(6L), because the printed
    s/(6L) diverges; T = L² log(8c₀²LN), its absolute constant taken as 1; noise as printed for
    (ε/T, δ/T) in each round. The printed bounds hold with high probability for normal features;
    here features are clipped at c, and the projection is Euclidean, so that λ always holds. The
    ledger says what this noise is worth, which is more protection than was asked for.

    *Units.* Features are standardised by public constants: as they stand where they are of size
    one, otherwise their stated range is ± `reach` standard deviations, and c is `reach` where that
    is less. Coefficients are in response units for one standard deviation of a feature.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 1 and 2, Theorem 3.
    """

    key = "sparse_regression"
    label = "Private hard thresholding"
    order = 10
    dash, marker = "2px,2px", "cross-open"
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithms 1 and 2"
    formula = (
        r"\beta_{t+1} = \Pi_{c_0}\Big(\mathrm{top}_s\big(\beta_t - \tfrac{\eta}{N}"
        r"\sum_{i,j}[x_{ij}'\beta_t - y_{ij}]_R\,x_{ij}\big) + w_t\Big)"
    )

    constants: str = param(
        "tight",
        "Constants",
        "Tight: residuals are clipped, and the noise is the least that is proved to do. "
        "Published: what the paper prints.",
        choices=("tight", "published"),
    )
    selection: str = param(
        "gumbel",
        "Choice of features",
        "Gumbel: all at once, values with Gaussian noise. Peeling: one after another, as "
        "published. Permute and flip: one after another, with exponential noise. One shot: all at "
        "once with Laplace noise.",
        choices=tuple(LAWS),
        when={"constants=published": "peeling"},
    )
    trust: CentreSees = param(
        CentreSees.AVERAGES,
        "What the centre sees",
        "Trusted: every machine’s exact averages. Masked sum: machines mask what they send, so "
        "that only the sum can be read. Noise and error are the same.",
    )
    sparsity: int = param(
        5,
        "Features kept",
        "How many coefficients are not zero. A public guess: more needs more noise on each.",
        low=1,
        high=500,
        symbol="s",
    )
    rounds: int | None = param(
        None,
        "Rounds",
        "Default: until at most a twentieth of the distance is left, if "
        "eigenvalues are at least ⅓: 12 for a step of 0.7.",
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
        "In response units. Default: four times the spread of the "
        "noise; none with published constants.",
        low=1e-9,
        high=1e9,
        symbol="R",
    )
    response_clip: float | None = param(
        None,
        "Clip of responses",
        "In response units, from the middle of their range. Default: "
        "none; with published constants σ(2 log N)^½.",
        low=1e-9,
        high=1e9,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constants == "published" and not self.law.has_one_scale:
            raise InputError(
                "There are published constants for peeling and one shot only.",
                field="selection",
                hint="Choose one of them, or tight constants.",
            )
        if self.constants == "published" and self.centre == "released":
            raise InputError(
                "The published constants leave no budget for means.",
                field="centre",
                hint="Choose tight constants, or leave the centre as stated.",
            )

    def has_centre(self, facts: PublicFacts) -> bool:
        """Never as published: nothing of the budget is left for it."""
        return self.constants != "published" and super().has_centre(facts)

    def unsuited_because(self, facts: PublicFacts) -> str:
        """Extend `PublicGuesses`: rounds are counted for features that vary as stated."""
        text = super().unsuited_because(facts)
        return text if is_standard(facts) else f"{text} {STATED_ROUNDS}"

    @property
    def is_secure(self) -> bool:
        return self.trust is CentreSees.MASKED_SUM

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            Trial({"sparsity": 2, "rounds": 3}),
            Trial({"sparsity": 2, "rounds": 3, "centre": "released"}),
            Trial(budget=Budget(1.0, 1e-6), chunk=120),
        )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (cls.label, {}),
            ("Private hard thresholding, peeling", {"selection": "peeling"}),
            ("Private hard thresholding, as published", {"constants": "published"}),
        )

    @property
    def law(self) -> SelectionLaw:
        """Law by which features are chosen."""
        return LAWS[self.selection]

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: Data, plans: Sequence[ThresholdingPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """All rounds of hard thresholding; see `Mechanism.fitted`."""
        fit = self.from_centre(data, plans, draws, rng, self._fit_rows)
        sampling = self.spread(data.facts) / math.sqrt(data.sizes.n_curves)
        sparsity = plans[0].descent.sparsity
        deviations = [
            math.hypot(sampling, plan.scales.choice, math.sqrt(self._noise_energy(plan) / sparsity))
            for plan in plans
        ]
        return with_left_out(fit, deviations, sparsity)

    def _fit_rows(
        self,
        data: SampleData,
        plans: Sequence[ThresholdingPlan],
        draws: int,
        rng: np.random.Generator,
    ) -> Fit:
        rows, plan = self._rows(data, plans[0]), plans[0]
        columns = Columns(data.n_repeats, len(plans), draws)
        pace = plan.thresholding.pace(
            RowAverages(rows),
            row_norm(rows.n_features, plan.feature_clip),
            [each.thresholding for each in plans],
            columns,
            rng,
        )
        vectors = descend(
            partial(rows.gradient, clip=plan.residual_clip),
            (data.n_repeats, draws, rows.n_features),
            plan.descent,
            self.law,
            [each.scales for each in plans],
            rng,
            pace=pace,
        )
        doubted = columns.released(plan.thresholding.is_correlated(pace, vectors.shape[:2]))
        return Fit(
            basis=Coordinates(rows.n_features),
            coefficients=columns.released(vectors),
            unprotected=columns.quiet(vectors),
            cautions=(Caution(STANDS_FOR_ANOTHER, doubted, SaidIn.LINE),) if doubted.any() else (),
        )

    def exact_fit(self, data: Data) -> Fit:
        """Least squares on the best features of all rows, neither clipped nor noised."""
        return self.least_squares(data, self.sparsity)

    def _rows(self, data: Data, plan: ThresholdingPlan) -> MachineRows:
        """Read the machines' rows; nothing else reads rows."""
        return rows_of(
            with_responses(data),
            self.reach_of(data.facts),
            plan.feature_clip,
            plan.response_clip,
            self.is_secure,
        )

    # -- fixed before any row is looked at ------------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> ThresholdingPlan:
        """Clips, steps, noise and ledger."""
        sizes, facts = public.sizes, public.facts
        radius = self.largest_norm(facts)
        descent = DescentSettings(
            min(self.sparsity, sizes.n_covariates),
            self._rounds(sizes, radius),
            self.learning_rate,
            radius,
        )
        feature, residual, response = self._clips(sizes, facts)
        residual_bound = min(
            residual, largest_residual(response, descent.sparsity, feature, radius)
        )
        if self.constants == "published":
            step_sensitivity = sensitivity(
                descent.learning_rate, residual_bound, feature, sizes.n_curves
            )
            scales = self._printed(descent, step_sensitivity, budgets, sizes.n_covariates)
            return ThresholdingPlan(
                descent,
                feature,
                residual,
                response,
                step_sensitivity,
                scales,
                None,
                0.0,
                spends=ledger(self.law, descent, step_sensitivity, scales, budgets),
            )
        centre = self.planned_centre(public, budgets, accounting.smallest_rho(budgets))
        rounds = Thresholding.planned(
            descent,
            self.step_size is not None,
            self.law,
            RowClips(residual_bound, feature, row_norm(sizes.n_covariates, feature)),
            sizes.n_curves,
            sizes.n_covariates,
            centre.rest,
        )
        return ThresholdingPlan(
            descent,
            feature,
            residual,
            response,
            rounds.step_sensitivity,
            rounds.scales,
            rounds.pace_sensitivity,
            rounds.pace_noise_sd,
            centre.deviation,
            spends=(*centre.spends, *rounds.lines(self.law, budgets)),
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Squared error that privacy adds if features are uncorrelated and the right ones chosen.

        A round's noise on s values shrinks by 1 − η in each later round: sv/(1 − (1 − η)²) in
        all, v being the variance of the noise in one.
        """
        return self._noise_energy(self.plan(Public(sizes, facts), budgets))

    def _noise_energy(self, plan: ThresholdingPlan) -> float:
        each = (self.law.value_deviation * plan.scales.values) ** 2
        left = (1 - plan.descent.learning_rate) ** (2 * np.arange(plan.descent.rounds))
        return float(plan.descent.sparsity * each * left.sum())

    @property
    def learning_rate(self) -> float:
        """η."""
        if self.step_size is not None:
            return self.step_size
        if self.constants == "published":
            return 1 / (6 * _LARGEST_EIGENVALUE)
        return LONGEST_STEP

    def _rounds(self, sizes: Sizes, radius: float) -> int:
        if self.rounds is not None:
            return self.rounds
        if self.constants == "published":
            log = math.log(8 * radius**2 * _LARGEST_EIGENVALUE * sizes.n_curves)
            return max(1, math.ceil(_LARGEST_EIGENVALUE**2 * log))
        return fewest_rounds(self.learning_rate, 1 / _LARGEST_EIGENVALUE)

    def _clips(self, sizes: Sizes, facts: PublicFacts) -> tuple[float, float, float]:
        """Choose the clips of features, residuals and responses; infinite if there is none."""
        feature, residual, response = self.feature_clip, self.residual_clip, self.response_clip
        if self.constants == "published":
            if feature is None:
                feature = 3 * math.sqrt(2 * _LARGEST_EIGENVALUE * math.log(sizes.n_covariates))
            if response is None:
                response = self.spread(facts) * math.sqrt(2 * math.log(sizes.n_curves))
        elif residual is None:
            residual = _CLIP * self.spread(facts)
        if feature is None:
            feature = self.clip_of_features(facts)
        return (
            feature,
            math.inf if residual is None else residual,
            math.inf if response is None else response,
        )

    def _printed(
        self,
        descent: DescentSettings,
        step_sensitivity: float,
        budgets: tuple[Budget, ...],
        size: int,
    ) -> Scales:
        """The noise of one round as published."""
        printed = max(
            printed_scale(
                self.law,
                descent.sparsity,
                step_sensitivity,
                budget.epsilon / descent.rounds,
                budget.delta / descent.rounds,
                size,
            )
            for budget in budgets
        )
        return Scales(printed, printed)

    def largest_noise(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> LargestNoise:
        """The noise in every choice, whose largest of d is about log d times its scale."""
        plan: ThresholdingPlan = self.plan(Public(sizes, facts), budgets)
        return LargestNoise(
            plan.step_sensitivity,
            plan.scales.choice,
            plan.scales.values,
            plan.scales.choice * math.log(sizes.n_covariates),
        )
