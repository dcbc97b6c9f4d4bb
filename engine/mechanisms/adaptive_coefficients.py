"""Private varying coefficients in six small releases, with a band for each: our own estimator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from engine.core.bands import NORMAL, standard_errors
from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.registry import param
from engine.core.tasks import INTERCEPT, VARYING_COEFFICIENTS
from engine.core.types import (
    Array,
    Budget,
    Caution,
    CurveData,
    CurveStore,
    Design,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    TimeLaw,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.adaptive import constants
from engine.mechanisms.families.adaptive.check_words import TIMES_AND_LEVELS
from engine.mechanisms.families.adaptive.checked_facts import FACTS, FAR, FirstMessage
from engine.mechanisms.families.adaptive.coefficient_fit import (
    CoefficientEvidence,
    CoefficientFit,
    CoefficientPlan,
)
from engine.mechanisms.families.adaptive.covariate_moments import MAX_DOUBT
from engine.mechanisms.families.adaptive.covariate_moments import steps as covariate_steps
from engine.mechanisms.families.adaptive.location import release_steps
from engine.mechanisms.families.adaptive.release import AdaptiveRelease
from engine.mechanisms.families.adaptive.rules import basis_size, ledger
from engine.numerics.bases import Basis, with_whole_pairs
from engine.numerics.moments import Moments
from engine.numerics.public_curves import PublicCurve
from engine.numerics.regression_moments import RegressionMoments, regression_moments
from engine.privacy import accounting

_COVARIATE_SHARES = (0.1, 0.1)  # of μ²
_EVENLY_SPREAD = 1 / 3  # mean square of a covariate that is spread evenly over [−1, 1]
_DENSE = 3  # common times for each basis function, from which they act like evenly spread ones


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class AdaptiveCoefficients(AdaptiveRelease[CoefficientPlan, CoefficientEvidence]):
    """The adaptive mean's releases, applied to how far curves are from the present coefficients.

    With regressors G_i = (1, g_i), covariates on [−1, 1], curve i deviates from coefficients b by
    w_iF_i ⊗ (T_i Σ_h G_ih a_h − t_i), the Newton direction of least squares with weights w_i, where
    a = W'b and F_i = W G_i; T_i and t_i weight the observations of a curve as those of a mean do,
    so that a centre that is still far off moves all curves alike. W and the weights come from two
    private releases of the covariates (`engine.mechanisms.families.adaptive.covariate_moments`),
    after which all effects are equally hard to tell. Then locations and scales and the second
    moments for the bands follow, as in `engine.mechanisms.families.adaptive.location`.

    Notes
    -----
    *Privacy.* Replacing a curve replaces its covariates, too. The first and the last message are
    about stated facts (`engine.mechanisms.families.adaptive.checked_facts`); shares are of what
    these leave of μ². Both releases of the covariates move
    by at most √2(d + 1)/n in Frobenius norm, whatever the curve, and cost a tenth each. They
    are fixed when the later releases are made; each of those clips whole curves, so the proofs of
    `engine.mechanisms.families.adaptive.location` hold for them word by word, and their squares add
    up to 0.8 μ². A curve with a number missing deviates by 0 and stays in the count.

    *Rules.* From public facts: nothing is released unless N ≥ 35(d + 1). That can only be a promise
    for covariates that are spread evenly over their ranges. How they are spread is seen in what is
    released of them: where noise is more than 0.15 of what is left of a covariate's variance when
    the others explain theirs, the release carries a caution.

    Coefficient functions belong to covariates on [−1, 1]: the intercept is the curve of a person
    in the middle of all ranges, an effect what going from there to the upper end adds.

    References
    ----------
    Derived in this project; model of Xue, Lin and Yu (2024), arXiv 2412.06582, section 6.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.coefficient_curves import CoefficientCurves
    >>> data = CoefficientCurves(n_curves=500).draw(1, generator(1, 0, 0))
    >>> estimate = AdaptiveCoefficients().release(data, (Budget(5.0, 1e-3),), generator(1, 1, 0))
    >>> estimate.functions
    ('Intercept', 'G1', 'G2')
    """

    key = "adaptive_coefficients"
    read_since = "0.3.0"  # averages of weighted curves; before, of curves as they are
    label = "Adaptive coefficients"
    order = 10
    measured = "Varying coefficients"
    fit_class: ClassVar[type[CoefficientFit]] = CoefficientFit
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    sends_sums = True
    guarantee = Guarantee.APPROXIMATE
    reference = "derived in this project: six releases with adaptive clipping, exact composition"
    formula = (
        r"x_k = \tfrac1n\sum_i \psi\big(w_i W G_i\otimes(T_i A_k'G_i - t_i)\big) + g_k Z_k,"
        r"\qquad W\Big(\tfrac1n\sum_i w_i G_iG_i' + \text{noise}\Big)W' = 1"
    )

    basis: str | None = param(
        None,
        "Basis functions",
        "Cosine: for curves of any kind. Fourier: only for curves that end where they began. "
        "Default: Fourier where that is stated, cosine elsewhere.",
        choices=("cosine", "fourier"),
    )
    design: str = param(
        "checked",
        "Stated facts",
        "Checked: a small share of the budget tells whether stated facts are true. Stated: they "
        "are relied on without a check.",
        choices=("checked", "stated"),
        earlier="stated",
    )
    gram: str = param(
        "private",
        "Second moments of the covariates",
        "Private: released twice, at a tenth of the budget each. Declared: known from how the "
        "study was designed, so that one release is enough; it also corrects a wrong declaration, "
        "less accurately.",
        choices=("private", "declared"),
    )
    declared_gram: str | None = param(
        None,
        "Declared mean squares",
        "Mean square of each covariate on its range mapped to −1 … 1, such as 0.33, 0.5, for "
        "covariates that vary on their own around the middle. Empty: spread evenly, one third.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.declared_gram is not None:
            self._stated_squares()

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial({"truncation": 2, "releases": releases}, Budget(400.0, 1e-3))
            for releases in ("joint", "separate")
        )

    # -- releases ---------------------------------------------------------------------------

    def curves(self, data: CurveData, moments: Moments) -> RegressionMoments:
        return regression_moments(moments, data)

    def model_fit(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[CoefficientPlan],
        draws: int,
        rng: np.random.Generator,
    ) -> CoefficientFit:
        declared = self.declared(len(self.names(data.facts))) if self.gram == "declared" else None
        return self.fit_class(data, basis, plans, draws, declared, self.scale(data.facts), rng)

    def cautions(
        self,
        facts: PublicFacts,
        plans: Sequence[CoefficientPlan],
        fit: Fit,
        evidence: CoefficientEvidence,
    ) -> Iterator[Caution]:
        released, doubted = evidence.released, evidence.doubt > MAX_DOUBT
        design = facts.design
        for k, name in enumerate(fit.functions):
            if doubted[..., k].any():
                yield Caution(
                    _too_few(name) if k else TOO_FEW_IN_THE_MIDDLE, doubted[..., k], SaidIn.LINE
                )
        few = np.array([0 < len(design.times) < _DENSE * plan.size for plan in plans])
        if fit.band is not None:
            errors = standard_errors(fit.band.covariance, fit.basis(drawing_grid()))
            finer, steep = self.narrow_features(
                facts, plans, fit.band, NORMAL * errors.mean(axis=-1)
            )
            asked = released & ~few[:, None, None]
            yield Caution(FEATURES, asked & (finer | steep), SaidIn.LINE)
        if not design.is_known and self.design == "stated":
            yield Caution(TIMES_UNKNOWN, released, SaidIn.STATED)
        elif design.density:
            yield Caution(TIMES_UNEVEN, released, SaidIn.STATED)
        elif few.any() and not self.is_between_times(facts):
            yield Caution(TIMES_UNEVEN, released & few[:, None, None], SaidIn.STATED)

    # -- fixed before any reading is looked at ---------------------------------------------

    def names(self, facts: PublicFacts) -> tuple[str, ...]:
        return (INTERCEPT, *[covariate.name for covariate in facts.covariates])

    def n_functions(self, sizes: Sizes) -> int:
        return sizes.n_covariates + 1

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CoefficientPlan:
        """Basis size, shares and ledger; refused for δ = 0 or people seen briefly."""
        sizes, facts = public.sizes, public.facts
        _check_times(facts.design)
        for budget in budgets:
            accounting.exact_mu(budget.epsilon, budget.delta)  # refuses δ = 0
        verdict = self.feasibility(sizes, budgets)
        first = self._covariate_shares(len(facts.covariates))
        effective, is_joint = verdict.effective_size, self.releases != "separate"
        shares = constants.joint_shares(effective) if is_joint else self._usual_shares
        # each function has its share of N, and facts are tested function by function
        for_facts, far_share = self.shares_of_checks(effective / verdict.n_functions, pure=False)
        left = 1 - for_facts - far_share
        first = tuple(share * left for share in first)
        then = tuple(share * (left - sum(first)) for share in shares)
        size = self.size(sizes, effective, facts)
        self.check_edition(size, facts)
        k = verdict.n_functions
        message = FirstMessage(n_functions=k if k > 1 else 0) if for_facts else None
        releases = [
            (FACTS, for_facts),
            *zip(covariate_steps(verdict.n_functions), first, strict=True),
            # without a band the last of six steps has no share and is not released
            *zip(release_steps(is_joint)[: len(then)], then, strict=True),
            (FAR, far_share),
        ]
        return CoefficientPlan(
            size=size,
            budgets=budgets,
            shares=then,
            verdict=verdict,
            shrinks=self._shrinks(effective >= constants.SHRINK_FROM, size, facts),
            is_joint=is_joint,
            covariate_shares=first,
            constants=self._clipping_constants(effective, facts, is_joint),
            first=message,
            first_share=for_facts,
            far_share=far_share,
            counts_sides=facts.symmetric and far_share > 0,
            spends=ledger(
                sizes, budgets, verdict, [(step, share) for step, share in releases if share > 0]
            ),
        )

    def _clipping_constants(
        self, effective: float, facts: PublicFacts, is_joint: bool
    ) -> constants.Constants:
        """Choose the clipping constants, wider if people are not stated to be symmetric.

        A tightly clipped average of skewed people is not their mean. The width grows with the
        share of N that each function has, as that of the adaptive mean does with N.
        """
        start = constants.COVARIATES_TOGETHER if is_joint else constants.WITH_COVARIATES
        if facts.symmetric:
            return start
        per_function = effective / (len(facts.covariates) + 1)
        return replace(start, final_width=constants.MODERATE.at(per_function), **constants.FOR_SKEW)

    def _covariate_shares(self, n_covariates: int) -> tuple[float, ...]:
        """Shares of μ² of both releases of the covariates; 0 for one that is not needed."""
        if n_covariates == 0:
            return (0.0, 0.0)
        return _COVARIATE_SHARES if self.gram == "private" else (0.0, _COVARIATE_SHARES[1])

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts) -> int:
        """r: the rule of the adaptive mean, for the share of N that each function has."""
        if self.truncation is not None:
            return self.truncation
        per_function = min(effective, 1e6) / (len(facts.covariates) + 1)
        size = basis_size(sizes, per_function, constants.MAX_FUNCTIONS, facts)
        return with_whole_pairs(size) if self.functions(1, facts).family == "fourier" else size

    def functions(self, size: int, facts: PublicFacts) -> Basis:
        default = "fourier" if facts.periodic else "cosine"
        return Basis(size, family=default if self.basis is None else self.basis)

    def why_not_published(self, budget: Budget) -> str:
        return ""

    def used_facts(self, facts: PublicFacts) -> frozenset[str]:
        is_fourier = self.functions(1, facts).family == "fourier"
        return frozenset({"symmetric", *(("periodic",) if is_fourier else ())})

    def unsuited_because(self, facts: PublicFacts) -> str:
        if facts.periodic or self.basis != "fourier":
            return ""
        return (
            "**A Fourier basis is periodic, and you have not stated a curve that ends where it began.** "
            "Near both "
            "ends the published functions would be wrong. Choose cosine."
        )

    def limit_of_band(self, facts: PublicFacts) -> str:
        return f"{TIMES_AND_LEVELS} {RELIES_ON_SYMMETRY} {self.limit_between_times(facts)}".strip()

    def declared(self, n_functions: int) -> Array:
        """Second moments E GG' of the K regressors, as stated: diagonal, (K, K)."""
        squares = (
            (_EVENLY_SPREAD,) * (n_functions - 1)
            if self.declared_gram is None
            else self._stated_squares()
        )
        if len(squares) != n_functions - 1:
            raise InputError(
                f"There are {len(squares)} declared mean squares for {n_functions - 1} covariates.",
                field="declared_gram",
                hint="Give one for each covariate.",
            )
        return np.diag([1.0, *squares])

    def _stated_squares(self) -> tuple[float, ...]:
        stated = self.declared_gram or ""
        heights = PublicCurve.stated(
            stated if "," in stated else f"{stated}, {stated}", "declared_gram"
        ).heights
        squares = heights if "," in stated else heights[:1]
        if not all(0 < square <= 1 for square in squares):
            raise InputError(
                "Declared mean squares must lie above 0 and at most at 1.",
                field="declared_gram",
                hint="A covariate on −1 … 1 that is spread evenly has one third.",
            )
        return squares


RELIES_ON_SYMMETRY = (
    "The bands rely on people being spread evenly about the curve of their covariates. Outliers, "
    "small groups and slight skew do not show in a release; with them a band can miss."
)
FEATURES = (
    "One of the functions has features that are too short for this release to draw. Around "
    "them its band can miss."
)
TOO_FEW_IN_THE_MIDDLE = (
    "The average curve is that of a person in the middle of all ranges, and too few people have "
    "covariates near there at this budget. It may be farther off than its confidence band says."
)
TIMES_UNKNOWN = (
    "How observation times come about is unknown. Effects are estimated as if they were spread "
    "evenly; where they are not, the confidence bands cannot be relied on."
)
TIMES_UNEVEN = (
    "Observation times are uneven or few. The estimated effects allow for that, but their "
    "confidence bands do not count all of what such times leave undetermined."
)


def _check_times(design: Design) -> None:
    if design.law in (TimeLaw.VISITS, TimeLaw.WINDOWS):
        raise InputError(
            "Effects of covariates cannot be estimated from observations that cover a "
            "short part of the time range for each person.",
            field="design",
            hint="Estimate the mean curve, which allows for visits and windows.",
        )


def _too_few(name: str) -> str:
    return (
        f"The covariate {name} varies too little at this budget, by itself or beside the other "
        "covariates. Its effect may be farther off than its confidence band says."
    )
