"""Federated wavelet regression: what the whole-curve and the pointwise estimator have in common.

Every site clips its readings to [−τ, τ], averages them against functions of V_J, the space of a
wavelet basis with 2^J functions, adds noise and sends the numbers once. The centre averages the
sites. Level J, clip τ and weights are functions of public numbers only: sizes and budgets of the
sites, a bound B ≥ sup|f|, the standard deviation σ of a reading and the stated smoothness. Planning
costs no budget.

References
----------
Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, sections 3.1 and 3.2. Sensitivities are the
exact ones; see `wavelet_global` and `wavelet_pointwise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from engine.core.arrays import all_finite
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import (
    MIN_EPSILON,
    Array,
    Band,
    Budget,
    Caution,
    Composition,
    CurveData,
    Data,
    PublicFacts,
    SaidIn,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms.base import Mechanism, P
from engine.mechanisms.families.wavelets.bias import CurveClass
from engine.mechanisms.families.wavelets.risk import RiskParts
from engine.mechanisms.families.wavelets.sites import WaveletSites
from engine.numerics.clipping.normal_readings import worst_bias
from engine.numerics.wavelet_bases import EDGES, WaveletBasis, allowed_levels
from engine.privacy import accounting
from engine.sources import Source

CLIPS = np.linspace(0.0, 6.0, 61)  # (τ − B)/σ among which the best is chosen
_TIE = 1e-9  # relative: D = 32 has the level 5
_MAX_CORRECTED = 8  # vanishing moments with corrected edges
EVEN_TIMES = (
    "This curve supposes that observation times are spread evenly over the stated range, which the "
    "release does not show. Where they gather, the curve is drawn to the middle of the bounds "
    "elsewhere and away from it there, and the error can be several times the forecast."
)


@dataclass(frozen=True)
class Sites:
    """Public numbers of all sites."""

    # n, epsilon, delta, each (sites,): readings and budget of each
    n: Array
    epsilon: Array
    delta: Array
    # bound, sigma: B and σ, in response units
    bound: float
    sigma: float
    unit: float = 1.0  # what the radius of a class of curves counts in
    # checked, left: shares of μ² for a first message about stated facts, and for the curve
    checked: float = 0.0
    left: float = 1.0

    @classmethod
    def of(
        cls,
        sizes: Sizes,
        budgets: tuple[Budget, ...],
        bound: float,
        sigma: float,
        unit: float = 1.0,
    ) -> Sites:
        """The table of sites with these sizes and budgets."""
        return cls(
            np.array(sizes.n_curves_per_server, dtype=float),
            np.array([budget.epsilon for budget in budgets]),
            np.array([budget.delta for budget in budgets]),
            bound,
            sigma,
            unit,
        )

    @property
    def square(self) -> float:
        """B² + σ², above the mean square of a clipped reading."""
        return self.bound**2 + self.sigma**2

    @property
    def clips(self) -> Array:
        return self.bound + self.sigma * CLIPS

    def bias_of_clipping(self, clips: Array) -> Array:
        """Bound how far clips move a mean, over all curves within their bound.

        Both are in response units: (clips,).
        """
        return worst_bias(clips, self.bound, self.sigma)

    @cached_property
    def exact_multiplier(self) -> Array:
        """Standard deviation of Gaussian noise over its sensitivity, the least there is."""
        return np.asarray(self.whole_multiplier / math.sqrt(self.left))

    @cached_property
    def whole_multiplier(self) -> Array:
        """The same, 1/μ, if the whole budget is spent on it."""
        return np.array(
            [
                1 / accounting.exact_mu(float(e), float(d))
                for e, d in zip(self.epsilon, self.delta, strict=True)
            ]
        )

    @cached_property
    def printed_multiplier(self) -> Array:
        """2 √log(2/δ)/ε, as printed."""
        self.exact_multiplier  # noqa: B018  (refuses δ = 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            printed = 2 * np.sqrt(np.log(2 / self.delta)) / self.epsilon
        return np.where(np.isfinite(self.epsilon), printed, 0.0)

    def published_weights(self, level: int) -> Array:
        """v_j = n²ε² ∧ n 2^L with L = J − 1, made to sum to one: (sites,)."""
        v = np.minimum((self.n * self.epsilon) ** 2, self.n * 2.0 ** (level - 1))
        return np.asarray(v / v.sum())

    def resolution(self, smoothness: float) -> float:
        """D of equations (14) and (17), for smoothness α or ν."""
        return WaveletSites(self.n, self.epsilon).resolution(smoothness)

    def printed_level(self, smoothness: float, lowest: int) -> int:
        """L = ⌈log₂ D⌉ for smoothness α or ν, at least the lowest level; it spans V_{L+1}."""
        return max(lowest, math.ceil(math.log2(self.resolution(smoothness)) - _TIE))


@dataclass(frozen=True)
class LevelChoice:
    """The level and the clip that were planned."""

    level: int
    clip: float
    weights: Array  # (sites,)
    criterion: float


def choose(
    levels: Sequence[int],
    clips: Array,
    bias: Array,
    data: Array,
    unit_noise: Array,
    sites: Sites,
    weights: str,
) -> LevelChoice:
    """The level and clip with the least bias + Σ_j u_j² V_j, V_j = data/n_j + τ² unit_noise_j.

    Arrays are (levels, clips) and `unit_noise` (levels, sites). With weights "variance" u_j ∝
    1/V_j, which minimises Σ u_j² V_j under Σ u_j = 1; with "published" they are v_j of each level.
    """
    variance = (
        data[..., None] / sites.n + clips[:, None] ** 2 * unit_noise[:, None]
    )  # (levels, clips, sites)
    if weights == "variance":
        shares = 1 / variance
        shares /= shares.sum(axis=-1, keepdims=True)
    else:
        published = np.stack([sites.published_weights(level) for level in levels])
        shares = np.broadcast_to(published[:, None], variance.shape)
    criterion = bias + (shares**2 * variance).sum(axis=-1)
    best = np.unravel_index(np.argmin(criterion), criterion.shape)
    return LevelChoice(
        levels[int(best[0])], float(clips[best[1]]), np.array(shares[best]), float(criterion[best])
    )


@dataclass(frozen=True, kw_only=True)
class WaveletRegression(Mechanism[CurveData, P]):
    """The parameters both estimators share.

    Paper symbol → name here: A `moments`, α or ν `smoothness`, R `radius`, C_{α,R} `bound` (the
    stated B takes its place everywhere), τ `clip`, J = L + 1 `level`.
    """

    family = "wavelet"
    measured = "Wavelet regression"

    plan_rule: str = param(
        "tuned",
        "Level and clip",
        "Tuned: the least computable error bound. Literal: the formulas as printed; they hold up "
        "to constants that matter at sizes like these.",
        choices=("tuned", "literal"),
    )
    constants: str = param(
        "tight",
        "Constants",
        "Tight: least noise that gives the stated protection. Published: what the paper prints.",
        choices=("tight", "published"),
        when={"plan_rule=literal": "published"},
    )
    weights: str = param(
        "variance",
        "Weights of the sites",
        "Variance: sites count by how exact they are. Published: the paper's, which trusts sites "
        "with small ε too much.",
        choices=("variance", "published"),
        symbol="u",
        when={"plan_rule=literal": "published"},
    )
    moments: int = param(
        4,
        "Wavelet",
        "Vanishing moments A of the Daubechies wavelet. 1 is the Haar wavelet, for "
        "curves with jumps; larger ones are smoother.",
        low=1,
        high=8,
        symbol="A",
    )
    edges: str = param(
        "periodic",
        "Ends of the range",
        "Periodic: for curves that end where they began. Corrected: for all others; needs more "
        "noise near the ends.",
        choices=EDGES,
    )
    level: int | None = param(
        None,
        "Level",
        "2^J basis functions. Default: by the rule above.",
        low=0,
        high=14,
        symbol="J",
    )
    clip: float | None = param(
        None,
        "Clip",
        "Observations are clipped to τ from the middle of their bounds. Default: "
        "by the rule above.",
        low=1e-6,
        high=1e9,
        symbol="τ",
    )
    bound: float | None = param(
        None,
        "Bound of the curve",
        "How far the curve may lie from the middle of its bounds. Default: the stated bounds.",
        low=1e-6,
        high=1e9,
        symbol="B",
    )
    noise_sd: float | None = param(
        None,
        "Standard deviation",
        "How far an observation lies from the curve. Default: as stated with the data.",
        low=1e-6,
        high=1e9,
        symbol="σ",
    )
    class_stated: bool = param(
        False,
        "Smoothness is a stated fact",
        "You know from outside the data that smoothness and "
        "radius hold for the curve. Only then is the bias bounded, and a confidence interval or "
        "band given; it includes that bound.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.edges == "corrected" and not 2 <= self.moments <= _MAX_CORRECTED:
            raise InputError(
                "Corrected edges are made for wavelets with 2 to 8 vanishing moments; "
                f"got {self.moments}.",
                field="moments",
            )
        if self.edges == "corrected" and "published" in self._printed:
            raise InputError(
                "The printed constants are proved for periodic wavelets only.",
                field="edges",
                hint="Choose periodic edges, or tight constants.",
            )
        allowed = allowed_levels(self.moments, self.edges)
        if self.level is not None and self.level not in allowed:
            raise InputError(
                f"This wavelet has the levels {allowed[0]} to {allowed[-1]}; got {self.level}.",
                field="level",
            )

    @property
    def _printed(self) -> tuple[str, ...]:
        """Names of the parts that follow the paper's print."""
        return (self.constants, "published" if self.plan_rule == "literal" else "tight")

    def wavelets(self, level: int) -> WaveletBasis:
        """V_J with its basis."""
        return WaveletBasis(2**level, self.moments, self.edges)

    @property
    def lowest_level(self) -> int:
        return allowed_levels(self.moments, self.edges)[0]

    @property
    def highest_level(self) -> int:
        return allowed_levels(self.moments, self.edges)[-1]

    def levels(self) -> tuple[int, ...]:
        """The levels to choose from."""
        allowed = tuple(allowed_levels(self.moments, self.edges))
        return allowed if self.level is None else (self.level,)

    def clips(self, sites: Sites) -> Array:
        """The clips to choose from: (clips,), in response units."""
        return sites.clips if self.clip is None else np.array([self.clip])

    def stated(self, facts: PublicFacts) -> tuple[float, float]:
        """B and σ, in response units."""
        return (
            facts.value_half_width if self.bound is None else self.bound,
            facts.reading_sd if self.noise_sd is None else self.noise_sd,
        )

    def sites(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts) -> Sites:
        """The public table that everything is planned from."""
        bound, sigma = self.stated(facts)
        if not sigma > 0:
            raise InputError(
                "The standard deviation of an observation about the curve must be stated.",
                field="noise_sd",
                hint="It is public, and no budget is spent on it.",
            )
        if min(sizes.n_curves_per_server) == 0:
            raise InputError(
                "Every site needs at least one observation.",
                field="counts",
                hint="Number sites without gaps.",
            )
        return Sites.of(sizes, budgets, bound, sigma, 1.0 if facts.unit_scale else bound / 2)

    def curve_class(self, facts: PublicFacts) -> CurveClass:
        """The class of curves over which the plan minimises the error."""
        estimator: Any = self  # smoothness and radius are declared by each estimator
        unit = 1.0 if facts.unit_scale else self.stated(facts)[0] / 2
        return CurveClass(estimator.smoothness, estimator.radius * unit)

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        """Follow the proposition of `engine.mechanisms.families.local_privacy`.

        The plan is the same as well: with equal weights both criteria are bias + (data +
        (2τ sup‖b‖/μ)²)/n, level by level and clip by clip.
        """
        if budget.is_pure or self._printed != ("tight", "tight"):
            return None
        centre = accounting.with_more_noise(budget, n_people)
        return centre if centre.epsilon > MIN_EPSILON else None

    def largest_bias(
        self, basis: WaveletBasis, clip: float, mass: float, sites: Sites, facts: PublicFacts
    ) -> float:
        """Bound what V_J leaves out and clipping shifts, in response units.

        `mass` bounds Λ(x) at the times that are asked about; see
        `engine.mechanisms.families.wavelets.bias`.
        """
        clipped = float(sites.bias_of_clipping(np.array([clip]))[0])
        return self.curve_class(facts).detail_bound(basis.level) + mass * clipped

    def risk_parts(self, source: Source[Data], budgets: tuple[Budget, ...]) -> RiskParts | None:
        """Exact mean squared error on simulated readings, part by part; None without a formula."""
        raise NotImplementedError

    def exact_risk(self, source: Source[Data], budgets: tuple[Budget, ...]) -> float | None:
        """`risk_parts`, summed; None where there is no formula."""
        parts = self.risk_parts(source, budgets)
        return None if parts is None else parts.total

    def unsuited_because(self, facts: PublicFacts) -> str:
        if facts.periodic or self.edges == "corrected" or self.moments == 1:
            return ""
        return (
            "**These wavelets are periodic, and you have not stated a curve that ends where it began.** "
            "Near both ends the estimate would be wrong. Choose corrected edges."
        )


def site_lines(
    step: Step,
    noise: NoiseLaw,
    norm: str,
    sensitivity: Array,
    scales: Array,
    budgets: tuple[Budget, ...],
    why: str,
) -> tuple[Spend, ...]:
    """Write a line for each site, with the ε of Laplace or the μ of Gaussian noise as it is.

    `sensitivity` and `scales` (sites,) are how far a reading moves the message, and the scale of
    its noise.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = np.where(scales > 0, sensitivity / scales, math.inf).tolist()
    is_pure = noise is NoiseLaw.LAPLACE
    return tuple(
        Spend(
            step=step,
            server=s,
            mu=None if is_pure else cost,
            epsilon=cost if is_pure else None,
            sensitivity=(site_sensitivity,),
            noise_scale=(scale,),
            count=1,
            composition=Composition.SEQUENTIAL,
            budget=budget,
            unit=Unit.READING,
            norm=norm,
            noise=noise,
            why=why,
        )
        for s, (site_sensitivity, scale, cost, budget) in enumerate(
            zip(sensitivity.tolist(), scales.tolist(), costs, budgets, strict=True)
        )
    )


def pointwise_band(centre: Array, covariance: Array, bias: Sequence[float]) -> Band:
    """A band that every repeat and draw of a plan shares, widened by the largest bias."""
    shape = (*centre.shape, centre.shape[-1])
    return Band(
        centre,
        np.broadcast_to(covariance[:, None, None], shape),
        "pointwise",
        np.broadcast_to(np.array(bias)[:, None, None], centre.shape[:-1]),
    )


def clipped_observations(data: CurveData, clip: float) -> Array:
    """Clipped readings [Y]_τ around the middle of the bounds, 0 for a missing number: (repeats, N).

    A reading that is no number, or has no time, stays in the public n.
    """
    if not (data.counts == 1).all():
        raise InputError(
            "Wavelet regression needs exactly one observation from every person.", field="counts"
        )
    centred = data.values - data.facts.value_middle
    if all_finite(centred) and all_finite(data.times):
        return np.clip(centred, -clip, clip, out=centred)
    missing = ~(np.isfinite(centred) & np.isfinite(data.times))
    np.clip(centred, -clip, clip, out=centred)
    centred[missing] = 0.0
    return np.asarray(centred)


def times_of(data: CurveData) -> Array:
    """Times with 0 for what is no finite number: (repeats, N)."""
    return data.times if all_finite(data.times) else np.nan_to_num(data.times)


def of_even_times(
    facts: PublicFacts, released: Sequence[bool], shape: tuple[int, ...]
) -> tuple[Caution, ...]:
    """State what releases of real data suppose if times are taken to be spread evenly.

    `released` is True at each budget at which anything is released.
    """
    if facts.is_simulated or not any(released):
        return ()
    applies = np.broadcast_to(np.array(released)[:, None, None], shape)
    return (Caution(EVEN_TIMES, applies, SaidIn.STATED, ("uneven times",)),)
