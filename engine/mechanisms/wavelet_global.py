"""The whole curve by wavelets, from one noisy message of every site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import transcript
from engine.mechanisms import mechanisms, one_per_server
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import printed_sensitivity_constant
from engine.registry import param
from engine.sources import Source
from engine.sources.regression_points import RegressionPoints
from engine.tasks import WAVELET_REGRESSION
from engine.types import (
    Array,
    Band,
    Budget,
    CurveData,
    Estimate,
    PublicFacts,
    ServerParts,
    Sizes,
    Spend,
    Truth,
)
from engine.wavelet_regression import (
    Choice,
    Sites,
    WaveletRegression,
    bias_of_clipping,
    choose,
    readings,
    times_of,
    unspent,
)
from engine.wavelet_risk import RiskParts, curve_risk

_MOST_BAND = 512  # functions; larger covariances are not worth their memory


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at."""

    basis: WaveletBasis
    clip: float
    weights: Array  # (sites,): share of each site
    scales: Array  # (sites,): standard deviation of the noise in an inner coordinate
    edge_share: float  # variance of the noise in edge coordinates over that in inner ones
    criterion: float  # the bound on the mean squared error; NaN where it was not minimised
    released: bool
    spends: tuple[Spend, ...]

    @property
    def total_noise(self) -> Array:
        """Variance of the noise of each site, summed over the coordinates: (sites,)."""
        return np.asarray(self.scales**2 * self.basis.noise_shape(self.edge_share).sum())

    @property
    def noise_deviation(self) -> Array:
        """Standard deviations in scaling coordinates: (sites, size)."""
        return np.asarray(self.scales[:, None] * np.sqrt(self.basis.noise_shape(self.edge_share)))


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class WaveletGlobal(WaveletRegression):
    """ĉ = Σ_j u_j (1/n_j Σ_i [Y_i]_τ b(X_i) + noise), b an orthonormal basis of V_J.

    Notes
    -----
    *Privacy.* Replacing a reading, time included, moves the average of a site by
    (y b(x) − y' b(x'))/n with |y|, |y'| ≤ τ: by the triangle inequality at most (2τ/n) S_J,
    S_J = sup_x ‖b(x)‖, and by exactly that where x = x' is the maximiser and y = −y' = τ. S_J is a
    maximum over the nodes of the table that b is computed from, between which ‖b‖² is convex: it
    is the supremum of what is computed, not of a limit. Gaussian noise of standard deviation
    (2τ/n) S_J/μ is exactly μ-Gaussian-DP. A reading that is no number counts as zero, which is one
    of the values above. Sites share nobody, so every person faces the message of one site alone.

    With corrected edges the 2A edge coordinates can get noise of variance ρs², the others s².
    Dividing each coordinate by its standard deviation turns this into white noise and b into
    (b_edge/√ρ, b_inner), so (2τ/n) sup(‖b_edge‖²/ρ + ‖b_inner‖²)^{1/2}/s ≤ μ is all that is asked;
    ρ makes the total noise least.

    *Rules.* "tuned" minimises over J and τ the bound R² 2^{−2αJ}/(1 − 2^{−2α}) + b(τ)²
    + Σ_j u_j²((B² + σ²) 2^J/n_j + noise_j) on the mean integrated squared error of every curve of
    the class with |f| ≤ B. Where it is B² or more the zero curve does as well: then nothing is
    released and nothing is spent. "literal" takes L = ⌈log₂ D⌉ and τ = B + σ√((2α + 1)L), and
    releases nothing where D ≤ 1.
    """

    key = "wavelet_global"
    label = "Wavelets, whole curve"
    order = 10
    tasks = frozenset({WAVELET_REGRESSION.key})
    guarantee = "approximate"
    reference = "Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, section 3.1, Theorem 3.2"
    formula = (r"\hat c = \sum_j u_j\Big(\tfrac1{n_j}\sum_i [Y_i]_\tau\, b(X_i) + s_j Z_j\Big),"
               r"\qquad s_j = \tfrac{2\tau}{n_j\mu_j}\sup_x\|b(x)\|")

    smoothness: float = param(
        1.0, "Smoothness", "How smooth you state the curve to be. Larger: fewer functions.",
        low=0.51, high=10.0, symbol="α")
    radius: float = param(
        2.0, "Radius", "Size of the class of curves, in response units.", low=1e-3, high=1e6,
        symbol="R")
    edge_noise: str = param(
        "weighted", "Noise at the ends",
        "Weighted: edge coordinates get more noise, so that all others need less. Equal: the same "
        "for all. Periodic wavelets have no edges.", choices=("weighted", "equal"))

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}), ("Wavelets with corrected edges", {"edges": "corrected"}),
                ("Wavelets, whole curve, as published", {"plan_rule": "literal"}))

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
            If δ = 0, if σ is not stated, if somebody has more than one reading, or if the number
            of budgets does not fit the sites.
        """
        plans = [self.plan(data.sizes, one_per_server(given, data.sizes.n_servers), data.facts)
                 for given in budgets]
        basis = max((plan.basis for plan in plans), key=lambda one: one.size)
        averages = self._averages(data, plans)
        unprotected = np.stack([_as_levels(np.einsum("s,rsk->rk", plan.weights, own), plan, basis)
                                for plan, own in zip(plans, averages, strict=True)])
        released = self._released(plans, averages, basis, draws, rng)
        middle = _constant(basis, data.facts.value_middle)
        return Estimate(
            task=WAVELET_REGRESSION.key, basis=basis, coefficients=released + middle,
            unprotected=unprotected + middle, spends=tuple(plan.spends for plan in plans),
            kept=tuple(plan.basis.size for plan in plans), band=self._band(plans, basis, data,
                                                                          released + middle),
            tuning=tuple(_tuning(plan) for plan in plans),
            parts=self._parts(plans, averages, data))

    def without_protection(self, data: CurveData) -> Estimate:
        """The averages of all readings as they are, with the level of an unlimited budget."""
        unlimited = one_per_server((Budget(math.inf),), data.sizes.n_servers)
        plan = self.plan(data.sizes, unlimited, data.facts)
        own = self._averages(data, [plan])[0]
        middle = _constant(plan.basis, data.facts.value_middle)
        fit = _as_levels(np.einsum("s,rsk->rk", plan.weights, own), plan, plan.basis)[None] + middle
        return Estimate(task=WAVELET_REGRESSION.key, basis=plan.basis, coefficients=fit[:, :, None],
                        unprotected=fit, spends=((),), kept=(plan.basis.size,),
                        band=self._band([plan], plan.basis, data, fit[:, :, None]))

    # -- fixed before any reading is looked at ---------------------------------------------

    def plan(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts) -> Plan:
        """Level, clip, weights, noise and ledger from public facts alone."""
        sites = self.sites(sizes, budgets, facts)
        choice = self._literal(sites) if self.plan_rule == "literal" else self._tuned(sites)
        basis = self.wavelets(choice.level)
        scales = choice.clip * self._unit_scales(basis, sites)
        if self.plan_rule == "literal":
            released = sites.resolution(self.smoothness) > 1
        else:
            released = choice.criterion < sites.bound**2
        share, reach = self._shape(basis)
        spends = _ledger(scales, 2 * choice.clip * reach / sites.n, budgets, basis)
        return Plan(basis, choice.clip, choice.weights, scales, share, choice.criterion, released,
                    spends if released else unspent(budgets))

    def expected_error(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
                       ) -> float:
        """Σ_j u_j² noise_j; NaN if nothing would be released."""
        plan = self.plan(sizes, one_per_server(budgets, sizes.n_servers), facts)
        return float((plan.weights**2 * plan.total_noise).sum()) if plan.released else math.nan

    def exact_risk(self, source: Source, budgets: tuple[Budget, ...]) -> float | None:
        """`risk_parts`, summed; None where there is no formula."""
        parts = self.risk_parts(source, budgets)
        return None if parts is None else parts.total

    def risk_parts(self, source: Source, budgets: tuple[Budget, ...]) -> RiskParts | None:
        """Exact mean integrated squared error on simulated readings, part by part."""
        if not isinstance(source, RegressionPoints):
            return None
        return self.risk_of(source.truth, source.sizes, budgets, source.facts)

    def risk_of(self, truth: Truth, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
                ) -> RiskParts:
        """The same for any curve around the middle of its bounds, and any public sizes."""
        plan = self.plan(sizes, one_per_server(budgets, sizes.n_servers), facts)
        if not plan.released:
            return RiskParts(float(truth.energy), 0.0, 0.0, 0.0)
        n = np.array(sizes.n_curves_per_server, dtype=float)
        sigma = facts.reading_sd if self.noise_sd is None else self.noise_sd
        return curve_risk(truth, plan.basis, plan.clip, sigma, n, plan.weights, plan.total_noise)

    def _tuned(self, sites: Sites) -> Choice:
        levels, clips = self.levels(), self.clips(sites)
        bases = [self.wavelets(level) for level in levels]
        size = np.array([float(basis.size) for basis in bases])
        tail = self.radius**2 * size ** (-2 * self.smoothness) / (1 - 4**-self.smoothness)
        unit = np.stack([self._unit_scales(basis, sites)**2
                         * basis.noise_shape(self._shape(basis)[0]).sum() for basis in bases])
        return choose(levels, clips, tail[:, None] + bias_of_clipping(clips, sites)**2,
                      sites.square * size, unit, sites, self.weights)

    def _literal(self, sites: Sites) -> Choice:
        """L = ⌈log₂ D⌉, J = L + 1, τ = B + σ√((2α + 1)L), with B for the paper's C_{α,R}."""
        printed = sites.printed_level(self.smoothness, self.lowest_level)
        level = min(printed + 1, self.highest_level) if self.level is None else self.level
        clip = sites.bound + sites.sigma * math.sqrt((2 * self.smoothness + 1) * (level - 1))
        clip = clip if self.clip is None else self.clip
        unit = self._unit_scales(self.wavelets(level), sites)[None] ** 2 * 2.0**level
        only = choose((level,), np.array([clip]), np.zeros((1, 1)),
                      np.array([sites.square * 2.0**level]), unit, sites, self.weights)
        return Choice(level, clip, only.weights, math.nan)

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        """ρ, and the largest norm of a reading's functions in units of the noise."""
        if self.edge_noise == "equal":
            return 1.0, basis.sup_norm
        return basis.edge_share, basis.weighted_sup_norm

    def _unit_scales(self, basis: WaveletBasis, sites: Sites) -> Array:
        """Standard deviations of the noise of every site at τ = 1: (sites,)."""
        if self.constants == "published":  # c_ψ 2^{L/2} at the level L = J − 1
            reach = printed_sensitivity_constant(self.moments) * math.sqrt(basis.size / 2)
            return reach * sites.printed_multiplier() / sites.n
        return 2 * self._shape(basis)[1] * sites.exact_multiplier() / sites.n

    # -- on the sites, and at the centre ----------------------------------------------------

    def _averages(self, data: CurveData, plans: list[Plan]) -> list[Array]:
        """Averages without noise for every plan: (repeats, sites, 2^J) each."""
        per_site = data.sizes.n_curves_per_server
        found: dict[tuple[int, float], Array] = {}
        for plan in plans:
            kind = (plan.basis.size, plan.clip)
            if kind not in found:
                sums = plan.basis.sums(times_of(data), readings(data, plan.clip), per_site)
                found[kind] = sums / np.array(per_site)[:, None]
        return [found[plan.basis.size, plan.clip] for plan in plans]

    def _released(self, plans: list[Plan], averages: list[Array], basis: WaveletBasis, draws: int,
                  rng: np.random.Generator) -> Array:
        """The centre's sum of what the sites send: (plans, repeats, draws, size)."""
        n_sites, repeats = averages[0].shape[1], len(averages[0])
        out = np.zeros((len(plans), repeats, draws, basis.size))
        for site, stream in enumerate(rng.spawn(n_sites)):
            normals = stream.standard_normal((repeats, draws, basis.size))
            sent = self.site_update(site, plans, [own[:, site] for own in averages], normals, basis)
            sent = sent.reshape(repeats, len(plans), draws, basis.size).swapaxes(0, 1)
            out += np.array([plan.weights[site] for plan in plans])[:, None, None, None] * sent
        return out

    def site_update(self, site: int, plans: list[Plan], averages: list[Array], normals: Array,
                    basis: WaveletBasis) -> Array:
        """Everything a site does with its averages; only the result leaves it.

        `averages` (repeats, 2^J) for each plan, `normals` (repeats, draws, size). Returns
        (repeats, plans × draws, size), coarse functions first; a plan that releases nothing sends
        zeros.
        """
        messages, spread = [], []
        for plan, own in zip(plans, averages, strict=True):
            noise = plan.noise_deviation[site] * plan.released
            noisy = plan.released * own[:, None] + noise * normals[..., :plan.basis.size]
            messages.append(_as_levels(noisy, plan, basis))
            spread.append(np.broadcast_to(_level_deviation(noise, plan, basis), normals.shape[1:]))
        return transcript.sent(site, "coefficients", np.concatenate(messages, axis=1),
                               np.concatenate(spread))

    # -- beside the curve -------------------------------------------------------------------

    def _band(self, plans: list[Plan], basis: WaveletBasis, data: CurveData, centre: Array
              ) -> Band | None:
        """Pointwise limits from public numbers: noise, and no less than the chance in readings.

        The variance of a site's average is at most (B² + σ²)/n in every direction when times are
        uniform, so limits are wider than 95 % asks for; they are about the curve's part in V_J.
        """
        if basis.size > _MOST_BAND:
            return None
        covariance = np.zeros((len(plans), basis.size, basis.size))
        for k, plan in enumerate(plans):
            sites = self.sites(data.sizes, one_per_server((Budget(1.0),), len(plan.weights)),
                               data.facts)
            chance = (plan.weights**2 * sites.square / sites.n).sum()
            noise = (plan.weights[:, None]**2 * plan.noise_deviation**2).sum(axis=0)
            size = plan.basis.size
            half = plan.basis.to_levels(np.diag(noise + chance))
            covariance[k, :size, :size] = plan.basis.to_levels(half.T)
            if not plan.released:
                covariance[k] = np.nan
        shape = (*centre.shape, basis.size)
        return Band(centre, np.broadcast_to(covariance[:, None, None], shape), "pointwise")

    def _parts(self, plans: list[Plan], averages: list[Array], data: CurveData) -> ServerParts:
        """Shares, noise and chance of every site; the last from its first data set."""
        weights = np.stack([plan.weights for plan in plans])
        noise = np.stack([plan.weights**2 * plan.total_noise * plan.released for plan in plans])
        return ServerParts(weights, noise, np.stack([
            plan.weights**2 * self._scatter(data, plan, own[0])
            for plan, own in zip(plans, averages, strict=True)]))

    def _scatter(self, data: CurveData, plan: Plan, averages: Array) -> Array:
        """Variance of each site's average, summed: mean y² 2^J − ‖average‖², over n: (sites,)."""
        n = np.array(data.sizes.n_curves_per_server, dtype=float)
        squares = readings(data.repeat(0), plan.clip)[0] ** 2
        mean = np.bincount(data.server, squares) / n
        return np.maximum(mean * plan.basis.size - (averages**2).sum(axis=1), 0.0) / n


def _as_levels(scaling: Array, plan: Plan, basis: WaveletBasis) -> Array:
    """Scaling coordinates of a plan's level in the largest basis: (…, size)."""
    own = plan.basis.to_levels(scaling)
    missing = basis.size - own.shape[-1]
    return np.pad(own, [(0, 0)] * (own.ndim - 1) + [(0, missing)])


def _level_deviation(noise: Array, plan: Plan, basis: WaveletBasis) -> Array:
    """Standard deviations of noise, given in scaling coordinates, in those of `basis`: (size,)."""
    if plan.edge_share == 1:
        return np.pad(noise, (0, basis.size - len(noise)))
    rows = plan.basis.to_levels(np.diag(noise))
    return np.pad(np.sqrt((rows**2).sum(axis=0)), (0, basis.size - len(noise)))


def _constant(basis: WaveletBasis, value: float) -> Array:
    """Coefficients of a constant curve: (size,)."""
    if value == 0:
        return np.zeros(basis.size)
    middles = (np.arange(64 * basis.size) + 0.5) / (64 * basis.size)
    return value * basis.to_levels(basis.inner_products(middles, np.full((1, len(middles)),
                                                                         1 / len(middles))))[0]


def _tuning(plan: Plan) -> dict[str, Any]:
    """The plan in plain numbers; "released" is False where the budget allows no estimate."""
    return {"level": plan.basis.level, "clip": plan.clip, "released": plan.released,
            "bound": plan.criterion, "edge_share": plan.edge_share}


def _ledger(scales: Array, exact: Array, budgets: tuple[Budget, ...], basis: WaveletBasis
            ) -> tuple[Spend, ...]:
    """One line for every site, with the μ that its noise really has."""
    return tuple(Spend(
        what="noisy wavelet coefficients", server=s, sensitivity=(float(exact[s]),),
        mu=float(exact[s] / scales[s]) if scales[s] > 0 else math.inf,
        noise_scale=(float(scales[s]),), count=1, composition="sequential", asked=budget,
        why=(f"One message of {basis.size} numbers; every reading is in it once, so the whole "
             "budget is spent on it."))
        for s, budget in enumerate(budgets))
