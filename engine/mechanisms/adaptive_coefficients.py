"""Private varying coefficients in eight small releases, with a band for each: our own estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.families.adaptive import (
    SHARES,
    SHARES_NO_BAND,
    SHRINK_FROM,
    Fitted,
    Scale,
    basis_size,
    effective_size,
    in_response_units,
    ledger,
    nothing_spent,
    shrunk,
)
from engine.families.coefficient_fit import (
    CoefficientFit,
    Plan,
    Streams,
    in_unit_scale,
    unit_scale,
)
from engine.families.covariate_moments import MOST_DOUBT
from engine.families.covariate_moments import steps as covariate_steps
from engine.families.location import STEPS
from engine.feasibility import Feasibility
from engine.mechanism import Trial
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.public_curves import PublicCurve
from engine.privacy import accounting
from engine.registry import param
from engine.tasks import INTERCEPT, VARYING_COEFFICIENTS
from engine.types import (
    Array,
    Band,
    Budget,
    Caution,
    CurveData,
    Design,
    Estimate,
    Public,
    PublicFacts,
    Sizes,
    Spend,
    Step,
    TimeLaw,
)

_COVARIATE_SHARES = (0.1, 0.1)  # of μ²
_EVENLY_SPREAD = 1 / 3  # mean square of a covariate that is spread evenly over [−1, 1]
_MOST_FUNCTIONS = 21  # basis functions of each coefficient function
_DENSE = 3  # common times for each basis function, from which they act like evenly spread ones


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class AdaptiveCoefficients(Mechanism):
    """The adaptive mean's releases, applied to how far curves are from the present coefficients.

    With regressors G_i = (1, g_i), covariates on [−1, 1], curve i deviates from coefficients b by
    w_iF_i ⊗ (S_i Σ_h G_ih a_h − s_i), the Newton direction of least squares with weights w_i, where
    a = W'b and F_i = W G_i. W and the weights come from two private releases of the covariates
    (`engine.families.covariate_moments`), after which all effects are equally hard to tell. Then
    locations and scales and the second moments for the bands follow, as in
    `engine.families.location`.

    Notes
    -----
    *Privacy.* Replacing a curve replaces its covariates, too. Both releases of the covariates move
    by at most √2(d + 1)/n in Frobenius norm, whatever the curve, and cost a tenth of μ² each. They
    are fixed when the later releases are made; each of those clips whole curves, so the proofs of
    `engine.families.location` hold for them word by word, and their squares add up to 0.8 μ². A
    curve with a number missing deviates by 0 and stays in the count.

    *Rules.* From public facts: nothing is released unless N ≥ 35(d + 1). That can only be a promise
    for covariates that are spread evenly over their ranges. How they are spread is seen in what is
    released of them: where noise is more than 0.15 of what is left of a covariate's variance when
    the others explain theirs, the release carries a caution.

    Coefficient functions belong to covariates on [−1, 1]: the intercept is the curve of a person
    in the middle of all ranges, an effect what going from there to the upper end adds.

    References
    ----------
    Derived in this project; model of Xue, Lin and Yu (2024), arXiv 2412.06582, section 6.
    """

    key = "adaptive_coefficients"
    label = "Adaptive coefficients"
    order = 10
    measured = "Varying coefficients"
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    guarantee = "approximate"
    family = "gradient"
    reference = "derived in this project: eight releases with adaptive clipping, exact composition"
    formula = (r"x_k = \tfrac1n\sum_i \psi\big(w_i W G_i\otimes(S_i A_k'G_i - s_i)\big) + g_k Z_k,"
               r"\qquad W\Big(\tfrac1n\sum_i w_i G_iG_i' + \text{noise}\Big)W' = 1")

    basis: str | None = param(
        None, "Basis functions",
        "Cosine: for curves of any kind. Fourier: only for curves that end where they began. "
        "Usual: Fourier where that is stated, cosine elsewhere.", choices=("cosine", "fourier"))
    truncation: int | None = param(
        None, "Basis functions kept",
        "How much detail of each function is kept. More: finer curve, more noise. Usual: from the "
        "public sizes.", low=1, high=33, symbol="r")
    band: str = param(
        "simultaneous", "Confidence band",
        "Simultaneous: 95 in 100 bands hold the whole function. Pointwise: 95 in 100 at each time. "
        "None: its share of the budget goes to the functions.",
        choices=("simultaneous", "pointwise", "none"))
    shrink: str | None = param(
        None, "Shrink small waves",
        "Pull waves that noise could have made towards zero. Usual: where the sizes say it helps.",
        choices=("always", "never"))
    gram: str = param(
        "private", "Second moments of the covariates",
        "Private: released twice, at a tenth of the budget each. Declared: known from how the "
        "study was designed, so that one release is enough; it also corrects a wrong declaration, "
        "less accurately.", choices=("private", "declared"))
    declared_gram: str | None = param(
        None, "Declared mean squares",
        "Mean square of each covariate on its range mapped to −1 … 1, such as 0.33, 0.5, for "
        "covariates that vary on their own around the middle. Empty: spread evenly, one third.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.declared_gram is not None:
            self._stated_squares()

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (Trial({"truncation": 2}, Budget(400.0, 1e-3)),)

    # -- releases ---------------------------------------------------------------------------

    def release_many(
        self,
        data: CurveData,
        budgets: Sequence[tuple[Budget, ...]],
        draws: int,
        rng: np.random.Generator,
    ) -> Estimate:
        """Release at each budget; see `Mechanism.release_many`.

        Raises
        ------
        InputError
            If δ = 0, if the number of budgets does not fit the servers, or if the declared mean
            squares do not fit the covariates, or if each person is observed in a short part of the
            time range only.
        """
        sizes, names = data.sizes, self.names(data.facts)
        _check_times(data.facts.design)
        plans = [self.plan(data.public, given) for given in budgets]
        size = max(plan.size for plan in plans)
        streams = [Streams.draw(own, data.n_repeats, draws, len(names), size)
                   for own in rng.spawn(sizes.n_servers)]
        basis = self.functions(size, data.facts)
        fit = self._fit(data, basis, plans, draws, streams,
                        self.declared(len(names)) if self.gram == "declared" else None)
        estimate = self._estimate(data.facts, plans, basis, fit.fitted())
        return replace(estimate, cautions=(*_cautions(names, fit.doubt),
                                           *self._cautions_of_times(data, estimate, plans)))

    def _cautions_of_times(self, data: CurveData, estimate: Estimate, plans: Sequence[Plan]
                           ) -> tuple[Caution, ...]:
        """What the stated design says against a release."""
        released = np.zeros(estimate.coefficients.shape[:3], dtype=bool)
        released[[plan.feasible for plan in plans]] = True
        design = data.facts.design
        if not design.is_known:
            return (Caution(TIMES_UNKNOWN, released),)
        few = np.array([0 < len(design.times) < _DENSE * plan.size for plan in plans])
        if design.density or few.any():
            uneven = released if design.density else released & few[:, None, None]
            return (Caution(TIMES_UNEVEN, uneven),)
        return ()

    def _fit(self, *args: Any) -> CoefficientFit:
        return CoefficientFit(*args)

    def without_protection(self, data: CurveData) -> Estimate:
        """Least squares on all curves with the basis size of an unlimited budget, and its bands."""
        names, scale = self.names(data.facts), unit_scale(data.facts)
        basis = self.functions(self.size(data.sizes, math.inf, data.facts), data.facts)
        curves = in_unit_scale(data, basis)
        fit = least_squares.fit(curves)
        covariance = least_squares.covariance(curves, fit)
        shape = (len(fit), len(names), basis.size)
        shown = _shown(fit.reshape(1, *shape), scale)
        own = scale.half**2 * least_squares.within_functions(covariance.reshape(*shape, *shape[1:]))
        kind = "pointwise" if self.band == "none" else self.band
        return Estimate(task=VARYING_COEFFICIENTS.key, basis=basis, functions=names,
                        coefficients=shown[:, :, None], unprotected=shown, spends=((),),
                        kept=(basis.size,), band=Band(shown[:, :, None], own[None, :, None], kind))

    def _estimate(self, facts: PublicFacts, plans: list[Plan], basis: Basis, fit: Fitted
                  ) -> Estimate:
        scale = unit_scale(facts)
        shrinks = np.array([plan.shrinks for plan in plans])
        band = None if self.band == "none" else Band(
            _shown(fit.centre, scale), scale.half**2 * fit.covariance, self.band)
        return Estimate(
            task=VARYING_COEFFICIENTS.key, basis=basis, functions=self.names(facts), band=band,
            coefficients=_shown(shrunk(fit.centre, fit.covariance, shrinks), scale),
            unprotected=_shown(shrunk(fit.quiet, fit.quiet_covariance, shrinks), scale),
            spends=tuple(plan.spends for plan in plans), kept=tuple(plan.size for plan in plans),
            parts=in_response_units(fit.parts, scale),
            tuning=tuple({"truncation": plan.size, "shrunk": plan.shrinks,
                          "effective_size": plan.verdict.effective_size} for plan in plans))

    # -- fixed before any reading is looked at ---------------------------------------------

    def names(self, facts: PublicFacts) -> tuple[str, ...]:
        return (INTERCEPT, *[covariate.name for covariate in facts.covariates])

    def plan(self, public: Public, budgets: tuple[Budget, ...]) -> Plan:
        """Basis size, shares and ledger from public facts alone."""
        sizes, facts = public.sizes, public.facts
        budgets = one_per_server(budgets, sizes.n_servers)
        verdict = self.feasibility(sizes, budgets)
        first = self._covariate_shares(len(facts.covariates))
        shares = SHARES_NO_BAND if self.band == "none" else SHARES
        then = tuple(share * (1 - sum(first)) for share in shares)
        by_rule = verdict.effective_size >= SHRINK_FROM
        return Plan(self.size(sizes, verdict.effective_size, facts), budgets, then, first, verdict,
                    by_rule if self.shrink is None else self.shrink == "always",
                    self._ledger(sizes, budgets, verdict, [
                        *zip(covariate_steps(verdict.n_functions), first, strict=True),
                        *zip(STEPS, then, strict=False)]))

    def _covariate_shares(self, n_covariates: int) -> tuple[float, ...]:
        """Shares of μ² of both releases of the covariates; 0 for one that is not needed."""
        if n_covariates == 0:
            return (0.0, 0.0)
        return _COVARIATE_SHARES if self.gram == "private" else (0.0, _COVARIATE_SHARES[1])

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts) -> int:
        """r: the rule of the adaptive mean, for the share of N that each function has."""
        if self.truncation is not None:
            return self.truncation
        own = min(effective, 1e6) / (len(facts.covariates) + 1)
        size = basis_size(sizes, own, _MOST_FUNCTIONS, facts)
        return size | 1 if self.functions(1, facts).family == "fourier" else size

    def functions(self, size: int, facts: PublicFacts) -> Basis:
        usual = "fourier" if facts.periodic else "cosine"
        return Basis(size, family=usual if self.basis is None else self.basis)

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> Feasibility:
        """Whether these public sizes and budgets can give anything useful."""
        effective = effective_size(sizes, one_per_server(budgets, sizes.n_servers))
        return Feasibility(effective, sizes.n_covariates + 1)

    def why_not_published(self, budget: Budget) -> str:
        return ""

    def caution(self, facts: PublicFacts) -> str:
        if facts.periodic or self.basis != "fourier":
            return ""
        return ("**Fourier waves end where they began; these curves are not stated to.** Near both "
                "ends the published functions would be wrong. Choose cosine.")

    def declared(self, n_functions: int) -> Array:
        """E GG' as stated: (K, K), diagonal.

        Raises
        ------
        InputError
            If there is not one declared mean square for each covariate.
        """
        squares = ((_EVENLY_SPREAD,) * (n_functions - 1) if self.declared_gram is None
                   else self._stated_squares())
        if len(squares) != n_functions - 1:
            raise InputError(f"There are {len(squares)} declared mean squares for "
                             f"{n_functions - 1} covariates.", field="declared_gram",
                             hint="Give one for each covariate.")
        return np.diag([1.0, *squares])

    def _stated_squares(self) -> tuple[float, ...]:
        stated = self.declared_gram or ""
        heights = PublicCurve.stated(stated if "," in stated else f"{stated}, {stated}",
                                     "declared_gram").heights
        squares = heights if "," in stated else heights[:1]
        if not all(0 < square <= 1 for square in squares):
            raise InputError("Declared mean squares must lie above 0 and at most at 1.",
                             field="declared_gram",
                             hint="A covariate on −1 … 1 that is spread evenly has one third.")
        return squares

    def _ledger(self, sizes: Sizes, budgets: tuple[Budget, ...], verdict: Feasibility,
                releases: Sequence[tuple[Step, float]]) -> tuple[Spend, ...]:
        """One spend for each site and release with a share of the budget, or none at all."""
        for budget in budgets:
            accounting.exact_mu(budget.epsilon, budget.delta)  # refuses δ = 0
        if not verdict.is_feasible:
            return nothing_spent(budgets)
        return ledger(sizes, budgets, [(step, share) for step, share in releases if share > 0])


TIMES_UNKNOWN = (
    "How observation times come about is unknown. Effects are estimated as if they were spread "
    "evenly; where they are not, the confidence bands cannot be relied on.")
TIMES_UNEVEN = (
    "Observation times are uneven or few. The estimated effects allow for that, but their "
    "confidence bands do not count all of what such times leave undetermined.")


def _check_times(design: Design) -> None:
    if design.law in (TimeLaw.VISITS, TimeLaw.WINDOWS):
        raise InputError("Effects of covariates cannot be estimated from observations that cover a "
                         "short part of the time range for each person.", field="design",
                         hint="Estimate the mean curve, which allows for visits and windows.")


def _cautions(names: tuple[str, ...], doubt: Array) -> tuple[Caution, ...]:
    """What the released covariates say against single functions; `doubt` (…, K)."""
    doubted = doubt > MOST_DOUBT
    return tuple(Caution(_caution(name, k), doubted[..., k])
                 for k, name in enumerate(names) if doubted[..., k].any())


def _caution(name: str, k: int) -> str:
    if k == 0:
        return ("The average curve is that of a person in the middle of all ranges, and too few "
                "people have covariates near there at this budget. It may be farther off than its "
                "confidence band says.")
    return (f"The covariate {name} varies too little at this budget, by itself or beside the other "
            "covariates. Its effect may be farther off than its confidence band says.")


def _shown(coefficients: Array, scale: Scale) -> Array:
    """Undo the map to [−1, 1]; the intercept carries the middle of the bounds."""
    out = coefficients * scale.half
    out[..., 0, 0] += scale.middle.heights[0]
    return np.asarray(out)
