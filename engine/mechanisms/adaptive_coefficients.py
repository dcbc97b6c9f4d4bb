"""Private varying coefficients in seven small releases, with a band for each: our own estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from engine.errors import InputError
from engine.families.adaptive import (
    QUIET,
    SHARES,
    SHARES_NO_BAND,
    SHRINK_FROM,
    Fitted,
    Scale,
    basis_size,
    columns,
    effective_size,
    in_response_units,
    ledger,
    nothing_spent,
    public_scale,
    shrunk,
)
from engine.families.covariate_moments import STEPS as COVARIATE_STEPS
from engine.families.covariate_moments import CovariateMoments, CovariateSite, learned, shift
from engine.families.location import STEPS, WITH_COVARIATES, Located, Site, locate
from engine.feasibility import Feasibility
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.moments import curve_moments
from engine.numerics.public_curves import PublicCurve
from engine.numerics.reference_law import of_regressors
from engine.numerics.regression_deviations import RegressionDeviations
from engine.numerics.regression_moments import RegressionMoments, regression_moments
from engine.numerics.regressor_maps import RegressorMap
from engine.privacy import accounting
from engine.registry import param
from engine.tasks import INTERCEPT, VARYING_COEFFICIENTS
from engine.types import (
    Array,
    Band,
    Budget,
    CurveData,
    Estimate,
    PublicFacts,
    Sizes,
    Spend,
)

_GRAM_SHARES = (0.1, 0.1)  # of μ²
_EVENLY_SPREAD = 1 / 3  # mean square of a covariate that is spread evenly over [−1, 1]
_MOST_FUNCTIONS = 21  # basis functions of each coefficient function
_BLOCK = 2_000_000  # entries of the reference law of the repeats worked on together


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at: public sizes and one budget per site."""

    size: int
    budgets: tuple[Budget, ...]
    shares: tuple[float, ...]  # of the releases after that of the covariates' second moments
    gram_shares: tuple[float, ...]
    verdict: Feasibility
    shrinks: bool
    spends: tuple[Spend, ...]

    @property
    def feasible(self) -> bool:
        return self.verdict.is_feasible


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own."""

    normals: Array  # (5, repeats, draws, K, r)
    symmetric: Array  # (repeats, draws, K, r, K, r)
    gram: Array  # (2, repeats, draws, K, K)

    @classmethod
    def draw(cls, rng: np.random.Generator, repeats: int, draws: int, n_functions: int, size: int
             ) -> Streams:
        shape = (n_functions, size)
        square = rng.standard_normal((repeats, draws, n_functions * size, n_functions * size))
        gram = rng.standard_normal((2, repeats, draws, n_functions, n_functions))
        return cls(rng.standard_normal((5, repeats, draws, *shape)),
                   ((square + square.swapaxes(-1, -2)) / 2).reshape(repeats, draws, *shape, *shape),
                   (gram + gram.swapaxes(-1, -2)) / 2)


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class AdaptiveCoefficients(Mechanism):
    """The adaptive mean's releases, applied to how far curves are from the present coefficients.

    With regressors G_i = (1, g_i), covariates on [−1, 1], curve i deviates from coefficients a by
    (Γ̂⁻¹G_i) ⊗ (S_i Σ_h G_ih a_h − s_i), the Newton direction of least squares. Γ̂ is a private
    release of E GG', or declared. Then five locations and scales and the second moments for the
    bands follow, as in `engine.families.location`.

    Notes
    -----
    *Privacy.* Replacing a curve replaces its covariates, too. Γ̂ is the average of G_iG_i': with
    |G_i|² ≤ d + 1 by the public ranges, ‖GG' − HH'‖²_F = |G|⁴ + |H|⁴ − 2(G'H)² ≤ 2(d + 1)², so it
    moves by at most √2(d + 1)/n in Frobenius norm, whatever the curve. Symmetric noise of standard
    deviation √2(d + 1)/(n μ₀) on the diagonal and that over √2 beside it is isotropic for that
    norm: μ₀-GDP with μ₀² = 0.2 μ². The entry of the intercept with itself is the constant 1 and
    gets none. Γ̂ is fixed when the later releases are made; each clips whole curves, so the proofs
    of `engine.families.location` hold for them word by word, and their squares add up to 0.8 μ². A
    curve with a number missing deviates by 0 and stays in the count.

    *Rules.* From public facts: nothing is released unless N ≥ 35(d + 1) and noise moves an entry
    of Γ̂ by at most 0.25 (three standard deviations). Eigenvalues of Γ̂ are raised to at least three
    standard deviations of its noise, and to 0.05.

    Coefficient functions belong to covariates on [−1, 1]: the intercept is the curve of a person
    in the middle of all ranges, an effect what going from there to the upper end adds.

    References
    ----------
    Derived in this project; model of Xue, Lin and Yu (2024), arXiv 2412.06582, section 6.
    """

    key = "adaptive_coefficients"
    label = "Adaptive coefficients"
    order = 10
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    guarantee = "approximate"
    family = "gradient"
    reference = "derived in this project: seven releases with adaptive clipping, exact composition"
    formula = (r"x_k = \tfrac1n\sum_i \psi\big((\hat\Gamma^{-1}G_i)\otimes(S_i A_k'G_i - s_i)\big)"
               r" + g_k Z_k,\qquad \hat\Gamma = \tfrac1n\sum_i G_iG_i' + \text{noise}")

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
        "Private: a fifth of the budget is spent on them. Declared: they are known from how the "
        "study was designed, and cost nothing.", choices=("private", "declared"))
    declared_gram: str | None = param(
        None, "Declared mean squares",
        "Mean square of each covariate on its range mapped to −1 … 1, such as 0.33, 0.5, for "
        "covariates that vary on their own around the middle. Empty: spread evenly, one third.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.declared_gram is not None:
            self._stated_squares()

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
            squares do not fit the covariates.
        """
        sizes, names = data.sizes, self.names(data.facts)
        plans = [self.plan(data, given) for given in budgets]
        size = max(plan.size for plan in plans)
        streams = [Streams.draw(own, data.n_repeats, draws, len(names), size)
                   for own in rng.spawn(sizes.n_servers)]
        fit = self._fit(data, plans, draws, streams).fitted()
        return self._estimate(data.facts, plans, self.functions(size, data.facts), fit)

    def _fit(self, data: CurveData, plans: list[Plan], draws: int, streams: list[Streams]) -> _Fit:
        return _Fit(self, data, plans, draws, streams)

    def without_protection(self, data: CurveData) -> Estimate:
        """Least squares on all curves with the basis size of an unlimited budget, and its bands."""
        names, scale = self.names(data.facts), _scale(data.facts)
        basis = self.functions(self.size(data.sizes, math.inf, data.facts), data.facts)
        curves = _curves(data, basis)
        fit = least_squares.fit(curves)
        covariance = least_squares.covariance(curves, fit)
        shape = (len(fit), len(names), basis.size)
        shown = _shown(fit.reshape(1, *shape), scale)
        own = scale.half**2 * _own_blocks(covariance.reshape(*shape, *shape[1:]))
        kind = "pointwise" if self.band == "none" else self.band
        return Estimate(task=VARYING_COEFFICIENTS.key, basis=basis, functions=names,
                        coefficients=shown[:, :, None], unprotected=shown, spends=((),),
                        kept=(basis.size,), band=Band(shown[:, :, None], own[None, :, None], kind))

    def _estimate(self, facts: PublicFacts, plans: list[Plan], basis: Basis, fit: Fitted
                  ) -> Estimate:
        scale = _scale(facts)
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

    def plan(self, data: CurveData, budgets: tuple[Budget, ...]) -> Plan:
        """Basis size, shares and ledger from public facts alone."""
        sizes, facts = data.sizes, data.facts
        budgets = one_per_server(budgets, sizes.n_servers)
        verdict = self.feasibility(sizes, budgets)
        gram_shares = _GRAM_SHARES if self.gram == "private" else (0.0, _GRAM_SHARES[1])
        shares = SHARES_NO_BAND if self.band == "none" else SHARES
        used = tuple(share * (1 - sum(gram_shares)) for share in shares)
        by_rule = verdict.effective_size >= SHRINK_FROM
        return Plan(self.size(sizes, verdict.effective_size, facts), budgets, used, gram_shares,
                    verdict, by_rule if self.shrink is None else self.shrink == "always",
                    self._ledger(sizes, budgets, verdict, used, gram_shares))

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
        n_functions = sizes.n_covariates + 1
        noise = shift(1, n_functions) / (math.sqrt(_GRAM_SHARES[1]) * effective)
        return Feasibility(effective, n_functions, noise if n_functions > 1 else 0.0)

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
                shares: tuple[float, ...], gram_shares: tuple[float, ...]) -> tuple[Spend, ...]:
        """Six spends for each site, seven with private second moments, or none at all."""
        for budget in budgets:
            accounting.exact_mu(budget.epsilon, budget.delta)  # refuses δ = 0
        if not verdict.is_feasible:
            return nothing_spent(budgets)
        gram = [(what, share, shift(step, verdict.n_functions)) for step, (what, share) in
                enumerate(zip(COVARIATE_STEPS, gram_shares, strict=True)) if share]
        return ledger(sizes, budgets, [*gram, *((what, share, None) for what, share in
                                                zip(STEPS, shares, strict=False))])


def _scale(facts: PublicFacts) -> Scale:
    return Scale(PublicCurve((facts.value_middle,) * 2), facts.value_half_width)


def _curves(data: CurveData, basis: Basis) -> RegressionMoments:
    values = _scale(data.facts)(data.times, data.values)
    return regression_moments(curve_moments(data.times, values, data.counts, basis), data)


def _own_blocks(covariance: Array) -> Array:
    """The covariance of each function with itself: (…, K, r, K, r) to (…, K, r, r)."""
    n_functions = covariance.shape[-2]
    return np.stack([covariance[..., k, :, k, :] for k in range(n_functions)], axis=-3)


def _shown(coefficients: Array, scale: Scale) -> Array:
    """Undo the map to [−1, 1]; the intercept carries the middle of the bounds."""
    out = coefficients * scale.half
    out[..., 0, 0] += scale.middle.heights[0]
    return np.asarray(out)


# -- fitting ----------------------------------------------------------------------------------


class _Fit:
    """Everything that fits the plans of one call: curves in unit scale, noise, and the sites."""

    def __init__(self, mechanism: AdaptiveCoefficients, data: CurveData, plans: list[Plan],
                 draws: int, streams: list[Streams]) -> None:
        self.mechanism, self.plans, self.draws, self.streams = mechanism, plans, draws, streams
        self.sizes, self.repeats = data.sizes, data.n_repeats
        self.n_functions = len(mechanism.names(data.facts))
        self.doubt = np.zeros((len(plans), data.n_repeats, draws, self.n_functions))
        self.basis = mechanism.functions(max(plan.size for plan in plans), data.facts)
        self.curves = _curves(data, self.basis)
        ends = np.cumsum([0, *self.sizes.n_curves_per_server])
        self.servers = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def fitted(self) -> Fitted:
        """Fit all plans, and put the pieces where they belong."""
        out = Fitted.empty(len(self.plans), self.repeats, self.draws,
                           (self.n_functions, self.basis.size), len(self.servers))
        for size in sorted({plan.size for plan in self.plans}):
            members = [k for k, plan in enumerate(self.plans) if plan.size == size]
            for repeats in self._blocks(len(members)):
                found = self._by_function(self._located(members, repeats), size)
                out.put(found, members, self._feasible(members), repeats)
        out.covariance[[not plan.feasible for plan in self.plans]] = np.nan
        return out

    def _by_function(self, found: Located, size: int) -> Located:
        """Coefficients (…, K r) as (…, K, r), and of their covariance that of each function."""
        shape = (*found.centre.shape[:2], self.n_functions, size)
        covariance = _own_blocks(found.covariance.reshape(*shape, *shape[2:]))
        return replace(found, centre=found.centre.reshape(shape), covariance=covariance)

    def _blocks(self, n_plans: int) -> Iterator[slice]:
        """Cut the repeats so that the arrays of one block stay small."""
        per_repeat = (n_plans * self.draws + 1) * 400 * self.n_functions
        step = max(1, _BLOCK // per_repeat)
        for first in range(0, self.repeats, step):
            yield slice(first, min(first + step, self.repeats))

    def _feasible(self, members: list[int]) -> list[int]:
        return [k for k in members if self.plans[k].feasible]

    def _located(self, members: list[int], repeats: slice) -> Located:
        """Fit plans of one size; those that are not feasible only without noise."""
        plan, feasible = self.plans[members[0]], self._feasible(members)
        curves = self.curves.repeats(repeats).first(plan.size)
        own = [curves.curves(chosen) for chosen in self.servers]
        covariates = self._covariates(own, feasible, repeats)
        sites = [self._site(s, RegressionDeviations(one, covariates.map), feasible, repeats)
                 for s, one in enumerate(own)]
        scale = np.tile(public_scale(plan.size, self.sizes), self.n_functions)
        found = locate(sites, scale, of_regressors(covariates.moments, covariates.map, plan.size),
                       widened(covariates.reach), self.n_functions)
        self._note(covariates, members, feasible, repeats)
        return _of_covariates(found, covariates.map)

    def _covariates(self, own: list[RegressionMoments], feasible: list[int], repeats: slice
                    ) -> CovariateMoments:
        """What both releases of the covariates, or one and what is declared, say of them."""
        plan, sites = self.plans[0], []
        shares = np.sqrt(np.array(plan.gram_shares))[:, None]
        for s, curves in enumerate(own):
            cost = self._cost(s, feasible)
            with np.errstate(divide="ignore"):
                unit = 1 / (curves.n_curves * shares * cost)
            sites.append(CovariateSite(curves.regressors, unit, columns(
                self.streams[s].gram[:, repeats], len(feasible), 2), s))
        declared = (self.mechanism.declared(self.n_functions)
                    if self.mechanism.gram == "declared" else None)
        return learned(sites, declared)

    def _note(self, covariates: CovariateMoments, members: list[int], feasible: list[int],
              repeats: slice) -> None:
        for row, k in enumerate(feasible):
            chosen = slice(row * self.draws, (row + 1) * self.draws)
            self.doubt[k, repeats] = covariates.doubt[:, chosen]

    def _cost(self, s: int, feasible: list[int]) -> Array:
        """μ of one site in every column, the last of which is without noise: (columns,)."""
        return np.append(np.repeat([_mu(self.plans[k].budgets[s]) for k in feasible], self.draws),
                         QUIET)

    def _site(self, s: int, deviations: RegressionDeviations, feasible: list[int], repeats: slice
              ) -> Site:
        """One site's curves with the noise of the feasible plans, and one column without."""
        plan, streams = self.plans[0], self.streams[s]
        size = deviations.curves.moments.size
        per_step = np.sqrt(np.array(plan.shares))[:, None] * self._cost(s, feasible)
        normals = streams.normals[:, repeats, ..., :size]
        symmetric = streams.symmetric[repeats, ..., :size, :, :size]
        p = self.n_functions * size
        return Site(deviations, 1 / (deviations.n_curves * per_step),
                    columns(normals.reshape(*normals.shape[:3], p), len(feasible), 2),
                    columns(symmetric.reshape(*symmetric.shape[:2], p, p), len(feasible), 1)
                    if len(plan.shares) == len(STEPS) else None, s)


def _of_covariates(found: Located, to_covariates: RegressorMap) -> Located:
    """What was located in coordinates F = W G, for the coefficients a = W'b of the covariates."""
    k = to_covariates.whole.shape[-1]
    shape = (*found.centre.shape[:2], k, found.centre.shape[2] // k)
    turn = to_covariates.whole.swapaxes(-1, -2)
    covariance = np.einsum("...ai,...irjs,...bj->...arbs", turn,
                           found.covariance.reshape(*shape, *shape[2:]), turn, optimize=True)
    covariance = covariance.reshape(found.covariance.shape)
    grown = (np.trace(covariance, axis1=-2, axis2=-1)
             / np.maximum(np.trace(found.covariance, axis1=-2, axis2=-1), 1e-300))
    centre = to_covariates.back(found.centre.reshape(shape)).reshape(found.centre.shape)
    return replace(found, centre=centre, covariance=covariance, noise=found.noise * grown,
                   sampling=found.sampling * grown)


def widened(reach):
    return replace(WITH_COVARIATES, middle_width=2 * reach, scale_width=2 * reach,
                   final_width=np.maximum(2.0, reach))


def _mu(budget: Budget) -> float:
    return min(accounting.exact_mu(budget.epsilon, budget.delta), QUIET)
