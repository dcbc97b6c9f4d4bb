"""The curve at one point or a few, from one noisy message of every site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import Guarantee, NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import WAVELET_REGRESSION
from engine.core.types import (
    Array,
    Band,
    Budget,
    CurveData,
    Data,
    Fit,
    Plan,
    Public,
    PublicFacts,
    ServerParts,
    Sizes,
    Step,
    Unit,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.adaptive.rules import nothing_spent
from engine.mechanisms.families.wavelets.regression import (
    LevelChoice,
    Sites,
    WaveletRegression,
    choose,
    clipped_observations,
    of_even_times,
    pointwise_band,
    site_lines,
    times_of,
)
from engine.mechanisms.families.wavelets.risk import CentreAverage, RiskParts, point_risk
from engine.numerics.designs import KnownDesign
from engine.numerics.point_values import PointValues
from engine.numerics.signals import Function
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import printed_point_constant
from engine.privacy import transcript
from engine.sources import Source
from engine.sources.regression_points import PointsOfCurve

KINDS = ("laplace", "gaussian", "curve")
_HIGHEST = 13  # level
_BESOV_INDEX, _MIN_SMOOTH = 4, 0.51
_WHY = {
    "laplace": "Laplace noise on the values needs no δ, and the least noise.",
    "gaussian": "Gaussian noise on the values is less than Laplace noise at these ε and δ.",
    "curve": "For so many points one message about the whole curve needs less noise.",
}

LINE = Step("noisy values at the points")
VALUES = Step("values", charged_to=(LINE.key,))


@dataclass(frozen=True)
class PointsPlan(Plan):
    """All that is fixed before any reading is looked at."""

    kind: str
    basis: WaveletBasis
    clip: float
    weights: Array  # (sites,): share of each site
    scales: Array  # (sites,): Laplace scale, or standard deviation of the noise, of one number
    values: Array  # (points, size): b(x) of every point in scaling coordinates
    criterion: float  # the bound on the mean squared error; NaN where it was not minimised
    released: bool  # false where the budget allows no estimate
    bias: float  # over the stated class, the most that the mean is off at any of the points

    @property
    def tuning(self) -> dict[str, Any]:
        return {
            "level": self.basis.level,
            "clip": self.clip,
            "released": self.released,
            "bound": self.criterion,
            "noise": self.kind,
            "why": _WHY[self.kind],
            "bias": self.bias,
        }

    @property
    def width(self) -> int:
        """Numbers that a site sends."""
        return self.values.shape[1] if self.kind == "curve" else len(self.values)

    @property
    def noise_deviation(self) -> Array:
        """Standard deviation of the noise in each number: (sites,)."""
        return self.scales * math.sqrt(2) if self.kind == "laplace" else self.scales

    @property
    def kernel(self) -> Array:
        """K(x, x) at every point: (points,)."""
        return np.asarray((self.values**2).sum(axis=1))

    @property
    def point_noise(self) -> Array:
        """Variance of the noise of every site at every point: (sites, points)."""
        share = self.kernel if self.kind == "curve" else np.ones(len(self.values))
        return np.asarray(self.noise_deviation[:, None] ** 2 * share)


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class WaveletPointwise(WaveletRegression[PointsPlan]):
    """f̂(x0) = Σ_j u_j (1/n_j Σ_i [Y_i]_τ K_J(x0, X_i) + noise), K_J the projection kernel of V_J.

    Notes
    -----
    *Privacy.* With points x_1 … x_k and k(x) = (K_J(x_1, x), …, K_J(x_k, x)), replacing a reading
    moves the averages of a site by (y k(x) − y' k(x'))/n, |y|, |y'| ≤ τ: in either norm at most
    (2τ/n) sup_x ‖k(x)‖, and by exactly that where the label of a reading at the maximiser is
    flipped. The entries of k are straight lines between nodes of the table, norms of k convex, so
    the supremum is a maximum over nodes. For one point it is M_J(x0) = sup_x |K_J(x0, x)|. Laplace
    noise of scale Δ₁/ε gives (ε, 0), Gaussian noise of standard deviation Δ₂/μ is μ-Gaussian-DP.
    Points far from each other share no reading, so that several cost hardly more than one: the
    joint sensitivity is never larger than what composing them one by one would ask for. "curve"
    sends all coefficients of V_J and reads the points off them; see `WaveletGlobal`.

    *The printed constant.* Lemma 3.3 gives 2 c_A ‖ψ‖²_∞ τ 2^L/n. For the Haar wavelet the exact
    sensitivity is 4τ 2^L/n, twice as much: noise of that size is 2ε-private only. Next to 0 it
    fails for corrected edges, too. It is refused for both; for periodic wavelets with A ≥ 2 it is
    larger than the exact one.

    *Times that are not even.* With a stated density of the times, times and points are replaced by
    their ranks G(x), which are spread evenly. Neither sensitivity nor noise changes, as no more is
    used of G than public numbers; smoothness and radius are then those of f∘G⁻¹.

    *Rules.* "tuned" minimises (R 2^{−νJ}/(1 − 2^{−ν}))² + Λ² b(τ)² + Σ_j u_j² ((B² + σ²)
    K(x0, x0)/n_j + noise_j) over J, τ and the kind of noise, Λ = ∫|K(x0, ·)|; a rigorous bound has
    the square of the sum of the first two roots. Over several points it is averaged. Where it is B²
    or more nothing is released. "literal" takes L = ⌈log₂ D⌉ and τ = B + σ√(2(2ν + 1)L).

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.regression_points import RegressionPoints
    >>> data = RegressionPoints(n_curves=4000).draw(1, generator(1, 0, 0))
    >>> method = WaveletPointwise(points="0.25, 0.5")
    >>> estimate = method.release(data, (Budget(2.0),), generator(1, 1, 0))
    >>> estimate.coefficients.shape  # budgets, repeats, draws, points
    (1, 1, 1, 2)
    """

    key = "wavelet_pointwise"
    label = "Wavelets, at single points"
    order = 20
    dash, marker = "1px,3px", "triangle-down-open"
    stands_beside = True
    tasks = frozenset({WAVELET_REGRESSION.key})
    guarantee = Guarantee.EITHER
    reference = "Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, section 3.2, Theorem 3.4"
    formula = (
        r"\hat f(x_0) = \sum_j u_j\Big(\tfrac1{n_j}\sum_i [Y_i]_\tau K_J(x_0, X_i)"
        r" + \mathrm{Lap}\big(\tfrac{2\tau}{n_j\varepsilon_j}\sup_x|K_J(x_0,x)|\big)\Big)"
    )

    points: str = param(
        "0.5",
        "Points",
        "Where the curve is estimated, on the range mapped to "
        "0 … 1, both ends included, such as 0.2, 0.37.",
        symbol="x_0",
    )
    smoothness: float = param(
        0.75,
        "Smoothness at a point",
        "ν = α − 1/p. Larger: fewer functions.",
        low=0.51,
        high=10.0,
        symbol="ν",
    )
    radius: float = param(
        1.0,
        "Radius",
        "Bound of one level of details, over 2^{−νl}: in response units where "
        "values are of size one, otherwise in halves of the bound B.",
        low=1e-3,
        high=1e6,
        symbol="R",
    )
    noise: str | None = param(
        None,
        "Kind of noise",
        "Laplace or Gaussian noise on the values, or a noisy curve that the "
        "values are read off. Default: whichever has the smallest forecast error.",
        choices=KINDS,
    )

    density: str | None = param(
        None,
        "Known density of the times",
        "Heights at equally spaced times, such as 0.5, 1.5. Default: times are spread evenly.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.density and "published" in self._printed:
            raise InputError(
                "The printed constants are for times that are spread evenly.",
                field="density",
                hint="Choose tight constants.",
            )
        if self.moments == 1 and "published" in self._printed:
            raise InputError(
                "The printed constant is half of what the Haar wavelet needs: noise "
                "of that size would protect by 2ε.",
                field="constants",
                hint="Choose tight constants, or a wavelet with A ≥ 2.",
            )
        if self.constants == "published" and self.noise not in (None, "laplace"):
            raise InputError("The printed constant is for Laplace noise.", field="noise")
        self.ranks  # noqa: B018  (checks points and heights)

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial({"level": 4, "clip": 3.0, "radius": 1e-3, **noise}, Budget(200.0, 1e-5))
            for noise in ({}, {"noise": "curve"})
        )

    @property
    def values_at(self) -> PointValues:
        return PointValues.stated(self.points, "points")

    @property
    def known_design(self) -> KnownDesign | None:
        """The stated density of the times."""
        return KnownDesign.stated(self.density, "density") if self.density else None

    @property
    def ranks(self) -> tuple[float, ...]:
        """Ranks of the points among evenly spread times."""
        points = self.values_at.points
        return (
            points
            if self.known_design is None
            else tuple(self.known_design.rank(np.array(points)).tolist())
        )

    @classmethod
    def like(cls, other: WaveletRegression, points: str) -> WaveletPointwise:
        """Build the estimator for points with every option of another wavelet estimator.

        Options that the two have in common are carried over, the chosen level as far as there is
        one. Smoothness α and radius R of a whole curve become α − 1/p and R/2 with the Besov index
        p = 4, so that the defaults of both belong together.
        """
        if isinstance(other, cls):
            return replace(other, points=points)
        names = [parameter.name for parameter in WaveletRegression.parameters()]
        shared = {name: getattr(other, name) for name in names}
        if other.level is not None:
            shared["level"] = min(other.level, _HIGHEST)
        regression: Any = other
        if regression.known_design is not None:
            shared["density"] = regression.density
        smoothness = max(regression.smoothness - 1 / _BESOV_INDEX, _MIN_SMOOTH)
        return cls(points=points, smoothness=smoothness, radius=regression.radius / 2, **shared)

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        """The same of Gaussian noise alone: averages of Laplace noise are no Laplace noise."""
        is_gaussian = self.noise in ("gaussian", "curve")
        return super().as_one_centre(n_people, budget, facts) if is_gaussian else None

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[PointsPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """One message of every site, and the values that follow; see `Mechanism.fitted`."""
        averages = [self._averages(data, plan) for plan in plans]
        noise_free = np.stack(
            [
                _at_points(np.einsum("s,rsk->rk", plan.weights, average), plan)
                for plan, average in zip(plans, averages, strict=True)
            ]
        )
        released = self._released(plans, averages, draws, rng) + data.facts.value_middle
        return Fit(
            basis=self.values_at,
            coefficients=released,
            unprotected=noise_free + data.facts.value_middle,
            band=self._band(plans, data, released),
            parts=self._parts(plans, data),
            cautions=of_even_times(
                data.facts, [plan.released for plan in plans], released.shape[:3]
            ),
        )

    def exact_fit(self, data: CurveData) -> Fit:
        """Averages of all readings, with the level of an unlimited budget."""
        plan: PointsPlan = self.plan(data.public, (Budget(math.inf),))
        average = np.einsum("s,rsk->rk", plan.weights, self._averages(data, plan))
        exact = Fit.exact(self.values_at, _at_points(average, plan) + data.facts.value_middle)
        return replace(exact, band=self._band([plan], data, exact.coefficients))

    # -- fixed before any reading is looked at ---------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> PointsPlan:
        """Level, clip, weights, kind of noise and ledger."""
        sizes, facts = public.sizes, public.facts
        sites = self.sites(sizes, budgets, facts)
        if self.plan_rule == "literal":
            kind, choice = "laplace", self._literal(sites)
            released = sites.resolution(self.smoothness) > 1
        else:
            kind, choice = min(
                ((kind, self._tuned(kind, sites)) for kind in self._kinds(sites)),
                key=lambda pair: pair[1].criterion,
            )
            released = choice.criterion < sites.bound**2
        basis = self.wavelets(choice.level)
        scales = choice.clip * self._unit_scales(kind, basis, sites)
        exact = 2 * choice.clip * self._kernel_bound(kind, basis) / sites.n
        values = basis.scaling(np.array(self.ranks))
        mass = max(basis.absolute_kernel(point) for point in self.ranks)
        is_pure = kind == "laplace"
        spends = (
            nothing_spent(budgets, Unit.READING)
            if not released
            else site_lines(
                LINE,
                NoiseLaw.LAPLACE if is_pure else NoiseLaw.GAUSSIAN,
                "ℓ1" if is_pure else "ℓ2",
                exact,
                scales,
                budgets,
                f"One message; every observation is in it once. {_WHY[kind]}",
            )
        )
        return PointsPlan(
            kind,
            basis,
            choice.clip,
            choice.weights,
            scales,
            values,
            choice.criterion,
            released,
            self.largest_bias(basis, choice.clip, mass, sites, facts),
            spends=spends,
        )

    def sensitivity_constants(self, level: int) -> tuple[float, float]:
        """Return the factors of τ/n in the sensitivity: as printed for one point, and exactly."""
        printed = printed_point_constant(self.moments) * 2.0 ** (level - 1)
        return printed, 2 * self._kernel_bound("laplace", self.wavelets(level))

    def why_not_published(self, budget: Budget) -> str:
        """A release is drawn over a range of times, so single points are not one."""
        return "It estimates single points. Choose a method for the whole curve."

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Σ_j u_j² noise_j, averaged over the points; NaN if nothing would be released."""
        plan: PointsPlan = self.plan(Public(sizes, facts), budgets)
        added = float((plan.weights**2 * plan.point_noise.mean(axis=1)).sum())
        return added if plan.released else math.nan

    def risk_parts(self, source: Source[Data], budgets: tuple[Budget, ...]) -> RiskParts | None:
        """Exact mean squared error on simulated readings, averaged over the points."""
        if not isinstance(source, PointsOfCurve) or source.times != "even" or self.density:
            return None
        return self.risk_of(source.curve, source.sizes, budgets, source.facts)

    def risk_of(
        self, curve: Function, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> RiskParts:
        """Exact mean squared error, averaged over the points, for any curve and any public
        sizes.
        """
        plan: PointsPlan = self.plan(Public(sizes, facts), budgets)
        points = self.ranks
        if not plan.released:
            return RiskParts(float((curve(np.array(points)) ** 2).mean()), 0.0, 0.0, 0.0)
        n = np.array(sizes.n_curves_per_server, dtype=float)
        sigma = self.stated(facts)[1]
        each = [
            point_risk(
                curve, point, CentreAverage(plan.basis, plan.clip, sigma, n, plan.weights, noise)
            )
            for point, noise in zip(points, plan.point_noise.T, strict=True)
        ]
        return RiskParts(
            *(
                float(np.mean([getattr(risk, part) for risk in each]))
                for part in ("projection", "clip", "data", "privacy")
            )
        )

    def levels(self) -> tuple[int, ...]:
        return tuple(level for level in super().levels() if level <= _HIGHEST)

    def _kinds(self, sites: Sites) -> tuple[str, ...]:
        """The kinds of noise to choose from; Gaussian ones need δ > 0 wherever ε is finite."""
        if self.constants == "published":
            return ("laplace",)
        if self.noise is not None:
            return (self.noise,)
        pure = ((sites.delta == 0) & np.isfinite(sites.epsilon)).any()
        return ("laplace",) if pure else KINDS

    def _tuned(self, kind: str, sites: Sites) -> LevelChoice:
        levels, clips, points = self.levels(), self.clips(sites), self.ranks
        bases = [self.wavelets(level) for level in levels]
        kernel, spread = np.array([_averages_of(basis, points) for basis in bases]).T
        shrink = 2.0 ** (-self.smoothness * np.array(levels)) / (1 - 2**-self.smoothness)
        radius = self.radius * sites.unit
        bias = ((radius * shrink) ** 2)[:, None] + spread[:, None] * sites.bias_of_clipping(
            clips
        ) ** 2
        unit = np.stack([self._unit_scales(kind, basis, sites) for basis in bases]) ** 2
        if kind == "curve":
            unit *= kernel[:, None]
        elif kind == "laplace":
            unit *= 2
        return choose(
            levels, clips, bias, sites.square * kernel[:, None], unit, sites, self.weights
        )

    def _literal(self, sites: Sites) -> LevelChoice:
        """L = ⌈log₂ D⌉, J = L + 1, τ = B + σ√(2(2ν + 1)L), with B for the paper's C_{ν,R}."""
        printed = sites.printed_level(self.smoothness, self.lowest_level)
        level = min(printed + 1, _HIGHEST) if self.level is None else self.level
        clip = sites.bound + sites.sigma * math.sqrt(2 * (2 * self.smoothness + 1) * (level - 1))
        clip = clip if self.clip is None else self.clip
        basis = self.wavelets(level)
        kernel = basis.diagonal(np.array(self.ranks)).mean(keepdims=True)
        unit = 2 * self._unit_scales("laplace", basis, sites)[None] ** 2
        only = choose(
            (level,),
            np.array([clip]),
            np.zeros((1, 1)),
            sites.square * kernel[:, None],
            unit,
            sites,
            self.weights,
        )
        return LevelChoice(level, clip, only.weights, math.nan)

    def _unit_scales(self, kind: str, basis: WaveletBasis, sites: Sites) -> Array:
        """Scales of the noise of every site at τ = 1: (sites,)."""
        if self.constants == "published":  # each of k points with ε/k
            constant = printed_point_constant(self.moments) * basis.size / 2
            return np.asarray(constant * self.values_at.size / (sites.n * sites.epsilon))
        multiplier = 1 / sites.epsilon if kind == "laplace" else sites.exact_multiplier
        return np.asarray(2 * self._kernel_bound(kind, basis) * multiplier / sites.n)

    def _kernel_bound(self, kind: str, basis: WaveletBasis) -> float:
        """sup_x ‖k(x)‖ in the norm of the noise, or sup_x ‖b(x)‖ for a curve."""
        if kind == "curve":
            return basis.sup_norm
        return _largest(basis, self.ranks, 1 if kind == "laplace" else 2)

    # -- on the sites, and at the centre ----------------------------------------------------

    def _averages(self, data: CurveData, plan: PointsPlan) -> Array:
        """Compute the averages that every site sends, without noise: (repeats, sites, width)."""
        per_site = np.array(data.sizes.n_curves_per_server)
        times, clipped = times_of(data), clipped_observations(data, plan.clip)
        if self.known_design is not None:
            times = self.known_design.rank(times)
        if plan.kind == "curve":
            sums = plan.basis.sums(times, clipped, tuple(per_site.tolist()))
            return np.asarray(sums / per_site[:, None])
        site = np.repeat(np.arange(len(per_site)), per_site)
        sums = np.stack(
            [_kernel_sums(times, clipped, site, point, plan.basis) for point in self.ranks], axis=-1
        )
        return np.asarray(sums / per_site[:, None])

    def _released(
        self,
        plans: Sequence[PointsPlan],
        averages: list[Array],
        draws: int,
        rng: np.random.Generator,
    ) -> Array:
        """The centre's values: (plans, repeats, draws, points)."""
        n_sites, repeats = averages[0].shape[1], len(averages[0])
        width = max(plan.width for plan in plans)
        out = np.zeros((len(plans), repeats, draws, self.values_at.size))
        for site, stream in enumerate(rng.spawn(n_sites)):
            shape = (repeats, draws, width)
            noise = {"laplace": stream.laplace(size=shape), "normal": stream.standard_normal(shape)}
            sent = self._site_update(site, plans, [average[:, site] for average in averages], noise)
            sent = sent.reshape(repeats, len(plans), draws, width)
            for k, plan in enumerate(plans):
                out[k] += plan.weights[site] * _at_points(sent[:, k, :, : plan.width], plan)
        return out

    def _site_update(
        self, site: int, plans: Sequence[PointsPlan], averages: list[Array], noise: dict[str, Array]
    ) -> Array:
        """Everything a site does with its averages: (repeats, plans × draws, width).

        Only the result leaves it, with zeros where a plan sends less. `averages` of each plan are
        (repeats, its own width), `noise` of both kinds, "laplace" and "normal", is standard noise
        (repeats, draws, width).
        """
        first = next(iter(noise.values()))
        messages, spread = [], []
        for plan, average in zip(plans, averages, strict=True):
            message, deviation = np.zeros_like(first), np.zeros(first.shape[1:])
            if plan.released:
                drawn = noise["laplace" if plan.kind == "laplace" else "normal"]
                added = plan.scales[site] * drawn[..., : plan.width]
                message[..., : plan.width] = average[:, None] + added
                deviation[..., : plan.width] = plan.noise_deviation[site]
            messages.append(message)
            spread.append(deviation)
        return transcript.sent(
            site, VALUES, np.concatenate(messages, axis=1), np.concatenate(spread)
        )

    # -- beside the values --------------------------------------------------------------------

    def _band(self, plans: Sequence[PointsPlan], data: CurveData, centre: Array) -> Band | None:
        """Intervals at the points from public numbers, as if the sum of all noise were normal.

        They count noise, sampling variability and the largest bias over the stated class of curves;
        None where that class is not stated.
        """
        if not self.class_stated:
            return None
        chance = np.stack([self._chance(plan, data, of_each=True) for plan in plans])
        variance = chance + np.stack(
            [
                plan.weights**2 @ plan.point_noise
                if plan.released
                else np.full(len(plan.values), np.nan)
                for plan in plans
            ]
        )
        covariance = variance[:, :, None] * np.eye(variance.shape[1])
        return pointwise_band(centre, covariance, [plan.bias for plan in plans])

    def _parts(self, plans: Sequence[PointsPlan], data: CurveData) -> ServerParts:
        noise = np.stack(
            [plan.weights**2 * plan.point_noise.mean(axis=1) * plan.released for plan in plans]
        )
        return ServerParts(
            np.stack([plan.weights for plan in plans]),
            noise,
            np.stack([self._chance(plan, data) for plan in plans]),
        )

    def _chance(self, plan: PointsPlan, data: CurveData, of_each: bool = False) -> Array:
        """Σ_j u_j² (B² + σ²)K(x, x)/n_j of every point, or each site's, averaged over points."""
        sites = self.sites(data.sizes, (Budget(1.0),) * len(plan.weights), data.facts)
        share = plan.weights**2 * sites.square / sites.n
        return np.asarray(share.sum() * plan.kernel if of_each else share * plan.kernel.mean())


@lru_cache(maxsize=256)
def _averages_of(basis: WaveletBasis, points: tuple[float, ...]) -> tuple[float, float]:
    """Averages over the points of K(x, x) and Λ²."""
    return (
        float(basis.diagonal(np.array(points)).mean()),
        float(np.mean([basis.absolute_kernel(point) ** 2 for point in points])),
    )


@lru_cache(maxsize=256)
def _largest(basis: WaveletBasis, points: tuple[float, ...], order: int) -> float:
    return basis.largest_kernels(points, order)


def _kernel_sums(
    times: Array, clipped: Array, site: NDArray[np.int64], point: float, basis: WaveletBasis
) -> Array:
    """Σ_i y_i K(x0, x_i) over the readings of every site: (repeats, sites)."""
    near = np.zeros(basis.size + 1, dtype=bool)
    near[basis.kernel_on_cells(point)[0]] = True
    near[-1] = near[-2]  # times at the right end belong to the last cell
    repeat, index = np.nonzero(near[(np.clip(times, 0.0, 1.0) * basis.size).astype(np.int64)])
    kernel = basis.curve(basis.scaling(np.array([point]))[0], times[repeat, index])
    n_sites = int(site[-1]) + 1
    sums = np.bincount(
        repeat * n_sites + site[index],
        clipped[repeat, index] * kernel,
        minlength=len(times) * n_sites,
    )
    return np.asarray(sums.reshape(len(times), n_sites), dtype=float)


def _at_points(sent: Array, plan: PointsPlan) -> Array:
    """Values at the points from what a site sends: (…, width) to (…, points)."""
    return np.asarray(sent @ plan.values.T) if plan.kind == "curve" else sent
