"""The whole curve by wavelets, from one noisy message of every site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.core.enumerations import Guarantee, NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import WAVELET_REGRESSION
from engine.core.types import (
    Array,
    Band,
    Budget,
    Caution,
    CurveData,
    Data,
    Fit,
    FunctionBasis,
    Late,
    LateCautions,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    ServerParts,
    Sizes,
    Step,
    Truth,
    Unit,
)
from engine.core.types import Design as LawOfTimes
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.adaptive.checked_facts import FACTS
from engine.mechanisms.families.adaptive.rules import nothing_spent
from engine.mechanisms.families.wavelets import checked
from engine.mechanisms.families.wavelets.bias import largest_kernel_mass
from engine.mechanisms.families.wavelets.regression import (
    LevelChoice,
    Sites,
    WaveletRegression,
    choose,
    clipped_observations,
    pointwise_band,
    site_lines,
    times_of,
)
from engine.mechanisms.families.wavelets.risk import (
    UNIFORM,
    CentreAverage,
    DesignDensity,
    RiskParts,
    curve_risk,
)
from engine.numerics.clipping.normal_readings import unclipped
from engine.numerics.designs import KnownDesign, RankBasis
from engine.numerics.public_curves import PublicCurve
from engine.numerics.wavelet_bases import WaveletBasis
from engine.numerics.wavelets import printed_sensitivity_constant
from engine.privacy import transcript
from engine.sources import Source
from engine.sources.regression_points import PointsOfCurve
from engine.sources.twin import Twin

_MAX_BAND = 512  # functions; larger covariances are not worth their memory
_FINER = 2  # levels that are added for what is no longer in V_J after a pointwise step
_PER_FUNCTION = 16  # midpoints for each function of the finer space
_TOGETHER = 200_000  # numbers that sites send, worked on together
_MIN_DENSITY = 0.1  # a released density is not taken to be lower

OFF_MIDDLE = (
    "By what was released, the curve lies far from the middle of the stated bounds. Observations "
    "count with their distance from that middle, so that chance in their times adds more to the "
    "error than was forecast in all. Narrower bounds around the observations help, or *Wavelets, "
    "centred first*."
)
LINE = Step("noisy wavelet coefficients")
COEFFICIENTS = Step("coefficients", charged_to=(LINE.key,))


@dataclass(frozen=True)
class CurvePlan(Plan):
    """All that is fixed before any reading is looked at."""

    basis: WaveletBasis
    clip: float
    weights: Array  # (sites,): share of each site
    scales: Array  # (sites,): standard deviation of the noise in an inner coordinate
    edge_share: float  # variance of the noise in edge coordinates over that in inner ones
    criterion: float  # the bound on the mean squared error; NaN where it was not minimised
    released: bool  # false where the budget allows no estimate
    bias: float  # over the stated class, the most that the mean is off at any time
    checks: checked.FactMessages | None = field(default=None, kw_only=True)  # about stated facts

    @property
    def tuning(self) -> dict[str, Any]:
        """The plan in plain numbers; "released" is False where the budget allows no estimate.

        "bias" bounds the bias at any time over the class of curves, whether that is stated or not.
        """
        return {
            "level": self.basis.level,
            "clip": self.clip,
            "released": self.released,
            "bound": self.criterion,
            "edge_share": self.edge_share,
            "bias": self.bias,
        }

    @property
    def total_noise(self) -> Array:
        """Variance of the noise of each site, summed over the coordinates: (sites,)."""
        return np.asarray(self.scales**2 * self.basis.noise_shape(self.edge_share).sum())

    @cached_property
    def noise_deviation(self) -> Array:
        """Standard deviations in scaling coordinates: (sites, size)."""
        return np.asarray(self.scales[:, None] * np.sqrt(self.basis.noise_shape(self.edge_share)))


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class WaveletGlobal(WaveletRegression[CurvePlan]):
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

    *Times that are not even.* The average converges to the projection of f·g, whatever the sample
    size. With a known density g a reading can count 1/g(x) times: the sensitivity is then
    (2τ/n) sup‖b(x)‖/g(x) ≤ (2τ/n) S_J/min g. Or times are replaced by their ranks G(x), which are
    even; nothing else changes. With an unknown density a site also sends τ/n Σ b(X_i): the joint
    vector moves by (τ(b − b'), y b − y' b')/n, whose norm is convex in (y, y') and so largest at
    ±τ, where it is τ√2 ‖b − b'‖/n for equal signs and τ√2 (‖b‖² + ‖b'‖²)^{1/2}/n for opposite ones:
    the sensitivity is (τ/n) max(2S_J, √2 sup‖b(x) − b(x')‖).

    *Rules.* "tuned" minimises over J and τ the bound R² 2^{−2αJ}/(1 − 2^{−2α}) + b(τ)²
    + Σ_j u_j²((B² + σ²) 2^J/n_j + noise_j) on the mean integrated squared error of every curve of
    the class with |f| ≤ B. Where it is B² or more the zero curve does as well: then nothing is
    released and nothing is spent. "literal" takes L = ⌈log₂ D⌉ and τ = B + σ√((2α + 1)L), and
    releases nothing where D ≤ 1.

    *What is stated, not adapted to.* α and R are public: a level chosen by looking at observations
    would need budget of its own, and the paper leaves adaptation to an unknown α open. The third
    index of a Besov class, q, does not enter: levels, clip, weights and rate are the same for
    every q ≥ 1, and the bound above takes the supremum over levels, q = ∞, which holds for all.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.regression_points import RegressionPoints
    >>> data = RegressionPoints(n_curves=4000).draw(1, generator(1, 0, 0))
    >>> estimate = WaveletGlobal().release(data, (Budget(2.0, 1e-5),), generator(1, 1, 0))
    >>> estimate.tuning[0]["level"]
    4
    """

    key = "wavelet_global"
    label = "Wavelets, whole curve"
    order = 10
    dash, marker = "4px,2px", "triangle-up"
    tasks = frozenset({WAVELET_REGRESSION.key})
    guarantee = Guarantee.APPROXIMATE
    reference = "Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, section 3.1, Theorem 3.2"
    formula = (
        r"\hat c = \sum_j u_j\Big(\tfrac1{n_j}\sum_i [Y_i]_\tau\, b(X_i) + s_j Z_j\Big),"
        r"\qquad s_j = \tfrac{2\tau}{n_j\mu_j}\sup_x\|b(x)\|"
    )

    smoothness: float = param(
        1.0,
        "Smoothness",
        "How smooth you state the curve to be. Larger: fewer functions.",
        low=0.51,
        high=10.0,
        symbol="α",
    )
    radius: float = param(
        2.0,
        "Radius",
        "Size of the class of curves: in response units where values are of size "
        "one, otherwise in halves of the bound B.",
        low=1e-3,
        high=1e6,
        symbol="R",
    )
    edge_noise: str = param(
        "weighted",
        "Noise at the ends",
        "Weighted: edge coordinates get more noise, so that all others need less. Equal: the same "
        "for all. Periodic wavelets have no edges.",
        choices=("weighted", "equal"),
    )

    design: str = param(
        "even",
        "Distribution of observation times",
        "Even: uniform. Weighted, ranked: of a known density, by weights or by ranks. Released: "
        "unknown, and learned with the same message.",
        choices=("even", "weighted", "ranked", "released"),
    )
    density: str | None = param(
        None, "Known density of the times", "Heights at equally spaced times, such as 0.5, 1.5."
    )
    invert_clip: bool = param(
        False,
        "Undo the clip",
        "Corrects the bias from clipping. Right only if observations are normal about the curve.",
    )
    checks: str | None = param(
        None,
        "Checks of stated facts",
        "Paid: 2 to 10 % of the budget tell whether times are "
        "spread as stated and observations lie within reach of the bounds. None: both are relied "
        "on. Default: paid for real data with tight constants.",
        choices=("paid", "none"),
        earlier="none",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.design in ("weighted", "ranked") and not self.density:
            raise InputError(
                "A known density must be stated.", field="density", hint="For example 0.5, 1.5."
            )
        if self.design != "even" and "published" in self._printed:
            raise InputError(
                "The printed constants are for times that are spread evenly.",
                field="design",
                hint="Choose tight constants.",
            )
        if self.design == "released" and self.edges != "periodic":
            raise InputError(
                "Only periodic wavelets can release the density of the times.",
                field="design",
                hint="Choose periodic edges.",
            )
        self.known_design  # noqa: B018  (checks the heights)
        if self.checks == "paid" and not self._can_check:
            raise InputError(
                "Facts are checked with tight constants, where a law of times is stated.",
                field="checks",
                hint="Choose tight constants, or none.",
            )

    @property
    def _can_check(self) -> bool:
        return self.design != "released" and self._printed == ("tight", "tight")

    def is_checked(self, facts: PublicFacts) -> bool:
        """True if stated facts are checked by messages of their own."""
        by_rule = not facts.is_simulated and self._can_check
        return by_rule if self.checks is None else self.checks == "paid"

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        if self.is_checked(facts) or self.design == "released":
            return None
        return super().as_one_centre(n_people, budget, facts)

    def sites(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts) -> Sites:
        """The public table, with what checks leave of the budgets."""
        sites = super().sites(sizes, budgets, facts)
        if not self.is_checked(facts):
            return sites
        share = checked.share_of_checks(sites)
        return replace(sites, checked=share, left=1 - share)

    def messages_about_facts(
        self, sites: Sites, side_drift: float | None = None
    ) -> checked.FactMessages | None:
        """Plan the messages about the facts; None where they are not checked."""
        if not sites.checked:
            return None
        heights = (
            PublicCurve.stated(self.density, "density").heights
            if (self.known_design is not None and self.density)
            else ()
        )
        return checked.FactMessages.of(sites, LawOfTimes(density=tuple(heights)), side_drift)

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            *(
                Trial({"level": 4, "clip": 3.0, "radius": 1e-3, **edges}, Budget(200.0, 1e-5))
                for edges in ({}, {"edges": "corrected"})
            ),
            Trial(
                {"level": 4, "clip": 3.0, "radius": 1e-3, "checks": "paid"},
                Budget(200.0, 1e-5),
                0.9,
                "The message about facts has a worst case of its own; a few pairs come near both.",
            ),
        )

    @property
    def known_design(self) -> KnownDesign | None:
        """The stated density, where one is used."""
        if self.design not in ("weighted", "ranked") or self.density is None:
            return None
        return KnownDesign.stated(self.density, "density")

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (cls.label, {}),
            ("Wavelets with corrected edges", {"edges": "corrected"}),
            ("Wavelets, whole curve, as published", {"plan_rule": "literal"}),
        )

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[CurvePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """One message of every site, and the curve that follows; see `Mechanism.fitted`."""
        basis = max((plan.basis for plan in plans), key=lambda space: space.size)
        averages = self._averages(data, plans)
        noise_free = np.stack(
            [
                _as_levels(np.einsum("s,rspk->rpk", plan.weights, average), plan, basis)
                for plan, average in zip(plans, averages, strict=True)
            ]
        )
        streams = rng.spawn(data.sizes.n_servers)
        sent = self._combined(plans, averages, basis, draws, streams)
        told = self._told(data, plans, draws, streams)
        released, final = self._finished(sent, plans, basis, data.facts)
        unprotected, _ = self._finished(noise_free, plans, basis, data.facts)
        return Fit(
            basis=final,
            coefficients=released,
            unprotected=unprotected,
            basis_sizes=tuple(plan.basis.size * final.size // basis.size for plan in plans),
            band=self._band(plans, basis, data, released),
            cautions=LateCautions(partial(self._doubts, data.public, plans, final, released, told)),
            checks=Late(told.checks),
            parts=self._parts(plans, self._without_budgets(data)),
        )

    def _doubts(
        self,
        public: Public,
        plans: Sequence[CurvePlan],
        basis: FunctionBasis,
        released: Array,
        told: checked.FactsTold,
    ) -> tuple[Caution, ...]:
        """Say what checks of facts tell, and if the curve is too far from 0 for the forecast.

        An average of y b(x) over r functions has by chance in times a squared error of about
        (‖f‖² + σ²) r Σ u_j²/n_j. The forecast is for the curve of `Twin`. Of ranks, and where the
        density is released, times matter less: nothing is said.
        """
        untrue = tuple(told.cautions(public.facts))
        if self.design in ("ranked", "released") or not isinstance(basis, WaveletBasis):
            return untrue
        sizes, facts = public.sizes, public.facts
        n = np.array(sizes.n_curves_per_server, dtype=float)
        usual = Truth.of(lambda times: Twin.of(facts, sizes).mean(times) - facts.value_middle)
        sigma = self.stated(facts)[1]
        middle = basis.constant(facts.value_middle)
        off = np.zeros(released.shape[:3], dtype=bool)
        for k, plan in enumerate(plans):
            if plan.released:
                noise = float((plan.weights**2 * plan.total_noise).sum())
                by_chance = plan.basis.size * float((plan.weights**2 / n).sum())
                captured_energy = float((plan.basis.coefficients(usual) ** 2).sum())
                forecast = (
                    usual.energy - captured_energy + noise + by_chance * (usual.energy + sigma**2)
                )
                energy = ((released[k] - middle) ** 2).sum(axis=-1) - noise
                off[k] = by_chance * energy > forecast
        return (*untrue, *((Caution(OFF_MIDDLE, off, SaidIn.LINE),) if off.any() else ()))

    def _told(
        self,
        data: CurveData,
        plans: Sequence[CurvePlan],
        draws: int,
        streams: Sequence[np.random.Generator],
    ) -> checked.FactsTold:
        """Send the first messages of all sites about the facts, plan by plan."""
        shape = (len(plans), data.n_repeats, draws)
        first: list[tuple[Array, Array] | None] = [None] * len(plans)
        if any(plan.checks for plan in plans):
            beyond = checked.BEYOND_BOUNDS * self.stated(data.facts)[1]
            exact = checked.averages(data, beyond)[:, None]
            normals = np.stack(
                [stream.standard_normal((*shape[1:], exact.shape[-1])) for stream in streams],
                axis=2,
            )
            first = [
                None if plan.checks is None else checked.sent(plan.checks, FACTS, exact, normals)
                for plan in plans
            ]
        return checked.FactsTold([plan.checks for plan in plans], first, [None] * len(plans), shape)

    def exact_fit(self, data: CurveData) -> Fit:
        """The averages of all readings as they are, with the level of an unlimited budget."""
        plan: CurvePlan = self.plan(data.public, (Budget(math.inf),))
        average = np.einsum("s,rspk->rpk", plan.weights, self._averages(data, [plan])[0])
        values, basis = self._finished(
            plan.basis.to_levels(average)[None], [plan], plan.basis, data.facts
        )
        return replace(
            Fit.exact(basis, values[0]),
            band=self._band([plan], plan.basis, data, values[:, :, None]),
        )

    # -- fixed before any reading is looked at ---------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CurvePlan:
        """Level, clip, weights, noise and ledger."""
        sizes, facts = public.sizes, public.facts
        sites = self.sites(sizes, budgets, facts)
        choice = self._literal(sites) if self.plan_rule == "literal" else self._tuned(sites)
        basis = self.wavelets(choice.level)
        scales = choice.clip * self._unit_scales(basis, sites)
        if self.plan_rule == "literal":
            released = sites.resolution(self.smoothness) > 1
        else:
            released = choice.criterion < sites.bound**2
        share, functions_norm = self._shape(basis)
        mass = largest_kernel_mass(self.moments, self.edges)
        checks = self.messages_about_facts(sites) if released else None
        lines, _ = ([], []) if checks is None else checks.lines(sites, budgets)
        whole = (
            "the whole budget is spent on it."
            if not lines
            else f"all that is left, {sites.left:.0%} of μ², is spent on it."
        )
        spends = (
            nothing_spent(budgets, Unit.READING)
            if not released
            else (
                *lines,
                *site_lines(
                    LINE,
                    NoiseLaw.GAUSSIAN,
                    "weighted ℓ2",
                    2 * choice.clip * functions_norm / sites.n,
                    scales,
                    budgets,
                    f"One message of {basis.size} numbers; every observation is in it "
                    f"once, so {whole}",
                ),
            )
        )
        return CurvePlan(
            basis,
            choice.clip,
            choice.weights,
            scales,
            share,
            choice.criterion,
            released,
            self.largest_bias(basis, choice.clip, mass, sites, facts),
            spends=spends,
            checks=checks,
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Σ_j u_j² noise_j; NaN if nothing would be released."""
        plan: CurvePlan = self.plan(Public(sizes, facts), budgets)
        added = self._n_parts * float((plan.weights**2 * plan.total_noise).sum())
        return added if plan.released else math.nan

    def risk_parts(self, source: Source[Data], budgets: tuple[Budget, ...]) -> RiskParts | None:
        """Exact mean integrated squared error on simulated readings, part by part."""
        if not isinstance(source, PointsOfCurve) or self.invert_clip:
            return None
        if self.design in ("ranked", "released"):
            return None
        weight = np.ones_like if self.known_design is None else self.known_design.weight
        return self.risk_of(
            source.truth, source.sizes, budgets, source.facts, DesignDensity(source.density, weight)
        )

    def risk_of(
        self,
        truth: Truth,
        sizes: Sizes,
        budgets: tuple[Budget, ...],
        facts: PublicFacts,
        design: DesignDensity = UNIFORM,
    ) -> RiskParts:
        """Exact mean integrated squared error, part by part, for any curve and any public sizes."""
        plan: CurvePlan = self.plan(Public(sizes, facts), budgets)
        if not plan.released:
            return RiskParts(float(truth.energy), 0.0, 0.0, 0.0)
        n = np.array(sizes.n_curves_per_server, dtype=float)
        return curve_risk(
            truth,
            CentreAverage(
                plan.basis, plan.clip, self.stated(facts)[1], n, plan.weights, plan.total_noise
            ),
            design,
        )

    def _tuned(self, sites: Sites) -> LevelChoice:
        levels, clips = self.levels(), self.clips(sites)
        bases = [self.wavelets(level) for level in levels]
        size = np.array([float(basis.size) for basis in bases])
        radius = self.radius * sites.unit
        tail = radius**2 * size ** (-2 * self.smoothness) / (1 - 4**-self.smoothness)
        unit = np.stack(
            [
                self._unit_scales(basis, sites) ** 2
                * basis.noise_shape(self._shape(basis)[0]).sum()
                for basis in bases
            ]
        )
        # what is divided by a released density has its noise, too, times |f|/τ ≤ 1
        unit *= self._n_parts
        return choose(
            levels,
            clips,
            tail[:, None] + sites.bias_of_clipping(clips) ** 2,
            (sites.square * size * self._weight_square)[:, None],
            unit,
            sites,
            self.weights,
        )

    def _literal(self, sites: Sites) -> LevelChoice:
        """L = ⌈log₂ D⌉, J = L + 1, τ = B + σ√((2α + 1)L), with B for the paper's C_{α,R}."""
        printed = sites.printed_level(self.smoothness, self.lowest_level)
        level = min(printed + 1, self.highest_level) if self.level is None else self.level
        clip = sites.bound + sites.sigma * math.sqrt((2 * self.smoothness + 1) * (level - 1))
        clip = clip if self.clip is None else self.clip
        unit = self._unit_scales(self.wavelets(level), sites)[None] ** 2 * 2.0**level
        only = choose(
            (level,),
            np.array([clip]),
            np.zeros((1, 1)),
            np.array([[sites.square * 2.0**level]]),
            unit,
            sites,
            self.weights,
        )
        return LevelChoice(level, clip, only.weights, math.nan)

    @property
    def _n_parts(self) -> int:
        """Messages hold the readings, and their density where it is released."""
        return 2 if self.design == "released" else 1

    @property
    def _weight_square(self) -> float:
        """∫ w²g = ∫ 1/g, by which weights raise the variance of an average."""
        if self.design != "weighted" or self.known_design is None:
            return 1.0
        middles = (np.arange(4096) + 0.5) / 4096
        return float(self.known_design.weight(middles).mean())

    def _shape(self, basis: WaveletBasis) -> tuple[float, float]:
        """ρ, and the largest norm of a reading's functions in units of the noise."""
        if self.design == "released":
            return 1.0, max(basis.sup_norm, basis.widest_pair() / math.sqrt(2))
        lowest_density = 1.0
        if self.design == "weighted" and self.known_design is not None:
            lowest_density = self.known_design.lowest_density
        if self.edge_noise == "equal":
            return 1.0, basis.sup_norm / lowest_density
        return basis.edge_share, basis.weighted_sup_norm / lowest_density

    def _unit_scales(self, basis: WaveletBasis, sites: Sites) -> Array:
        """Standard deviations of the noise of every site at τ = 1: (sites,)."""
        if self.constants == "published":  # c_ψ 2^{L/2} at the level L = J − 1
            constant = printed_sensitivity_constant(self.moments) * math.sqrt(basis.size / 2)
            return constant * sites.printed_multiplier / sites.n
        return 2 * self._shape(basis)[1] * sites.exact_multiplier / sites.n

    # -- on the sites, and at the centre ----------------------------------------------------

    def _averages(self, data: CurveData, plans: Sequence[CurvePlan]) -> list[Array]:
        """Averages without noise for every plan: (repeats, sites, parts, 2^J) each."""
        averages: dict[tuple[int, float], Array] = {}
        for plan in plans:
            kind = (plan.basis.size, plan.clip)
            if kind not in averages:
                averages[kind] = self._average(data, plan)
        return [averages[plan.basis.size, plan.clip] for plan in plans]

    def _average(self, data: CurveData, plan: CurvePlan) -> Array:
        """One part, and with a released density another: (repeats, sites, parts, 2^J)."""
        per_site, times = data.sizes.n_curves_per_server, times_of(data)
        parts, design = [clipped_observations(data, plan.clip)], self.known_design
        if design is not None and self.design == "ranked":
            times = design.rank(times)
        elif design is not None:
            parts[0] = parts[0] * design.weight(times)
        elif self.design == "released":
            parts.append(plan.clip * np.isfinite(data.times))
        sums = np.stack([plan.basis.sums(times, part, per_site) for part in parts], axis=2)
        return np.asarray(sums / np.array(per_site)[:, None, None])

    def _combined(
        self,
        plans: Sequence[CurvePlan],
        averages: list[Array],
        basis: WaveletBasis,
        draws: int,
        streams: Sequence[np.random.Generator],
    ) -> Array:
        """The centre's sum of what the sites send: (plans, repeats, draws, parts, size)."""
        repeats, n_sites, parts = averages[0].shape[:3]
        out = np.zeros((len(plans), repeats, draws, parts, basis.size))
        weights = np.array([plan.weights for plan in plans])
        together = max(1, _TOGETHER // out.size)
        for first in range(0, n_sites, together):
            sites = slice(first, first + together)
            normals = np.stack(
                [stream.standard_normal(out.shape[1:]) for stream in streams[sites]], axis=2
            )
            sent = self._site_updates(
                sites, plans, [average[:, sites] for average in averages], normals, basis
            )
            sent = sent.reshape(repeats, len(plans), draws, *sent.shape[2:])
            out += np.einsum("ps,rpdskz->prdkz", weights[:, sites], sent)
        return out

    def _site_updates(
        self,
        sites: slice,
        plans: Sequence[CurvePlan],
        averages: list[Array],
        normals: Array,
        basis: WaveletBasis,
    ) -> Array:
        """Everything some sites do, each with its own averages; only the results leave them.

        Sent is (repeats, plans × draws, sites, parts, size), coarse functions first; a plan that
        releases nothing sends zeros. `averages` of each plan are (repeats, sites, parts, 2^J) and
        `normals`, their standard noise, (repeats, draws, sites, parts, size); `basis` is the
        largest of the plans.
        """
        # Messages are in the scaling coordinates of each plan, where noise is independent even if
        # that at the ends is larger; those of smaller bases are filled up with zeros.
        shape = (len(plans), *averages[0].shape[:1], *normals.shape[1:-1], basis.size)
        messages, spread = np.zeros(shape), np.zeros((len(plans), *shape[2:]))
        for p, (plan, average) in enumerate(zip(plans, averages, strict=True)):
            noise = plan.noise_deviation[sites, None] * plan.released
            noisy = messages[p, ..., : plan.basis.size]
            noisy[...] = noise * normals[..., : plan.basis.size]
            noisy += plan.released * average[:, None]
            spread[p, ..., : plan.basis.size] = noise
        messages = np.moveaxis(messages, 0, 1).reshape(shape[1], -1, *shape[3:])
        sent = transcript.sent_by_each(
            COEFFICIENTS, messages, spread.reshape(-1, *shape[3:]), sites.start
        )
        columns = [slice(p * shape[2], (p + 1) * shape[2]) for p in range(len(plans))]
        return np.concatenate(
            [
                _as_levels(sent[:, column, ..., : plan.basis.size], plan, basis)
                for column, plan in zip(columns, plans, strict=True)
            ],
            axis=1,
        )

    def why_not_published(self, budget: Budget) -> str:
        """Messages have independent Gaussian noise in scaling coordinates, so nothing."""
        return ""

    # -- at the centre, from what was sent ----------------------------------------------------

    def _finished(
        self, sent: Array, plans: Sequence[CurvePlan], basis: WaveletBasis, facts: PublicFacts
    ) -> tuple[Array, FunctionBasis]:
        """Coefficients of the curve from sums (plans, …, parts, size), and their basis."""
        coefficients, finer = sent[..., 0, :], basis
        if self.invert_clip or self.design == "released":
            finer = self.wavelets(min(basis.level + _FINER, self.highest_level))
            coefficients = np.stack(
                [
                    self._reshaped(sums, plan, basis, finer, facts)
                    for plan, sums in zip(plans, sent, strict=True)
                ]
            )
        coefficients = coefficients + finer.constant(facts.value_middle)
        if self.design == "ranked" and self.known_design is not None:
            return coefficients, RankBasis(finer, self.known_design)
        return coefficients, finer

    def _reshaped(
        self,
        sent: Array,
        plan: CurvePlan,
        basis: WaveletBasis,
        finer: WaveletBasis,
        facts: PublicFacts,
    ) -> Array:
        """Values of the curve on a fine grid, reshaped one by one: sums to (…, finer size)."""
        if not plan.released:
            return np.zeros((*sent.shape[:-2], finer.size))
        grid = (np.arange(_PER_FUNCTION * finer.size) + 0.5) / (_PER_FUNCTION * finer.size)
        values = sent @ basis(grid).T
        curve = values[..., 0, :]
        if self.design == "released":
            curve = curve / np.maximum(values[..., 1, :] / plan.clip, _MIN_DENSITY)
        bound, sigma = self.stated(facts)
        if self.invert_clip:
            curve = unclipped(curve, plan.clip, bound, sigma)
        return np.asarray(np.clip(curve, -bound, bound) @ finer(grid) / len(grid))

    # -- beside the curve -------------------------------------------------------------------

    def _band(
        self, plans: Sequence[CurvePlan], basis: WaveletBasis, data: CurveData, centre: Array
    ) -> Band | None:
        """A pointwise band from public numbers: noise, sampling variability and bias.

        The variance of a site's average is at most (B² + σ²)/n in every direction when times are
        uniform, and the bias at most `plan.bias` over the stated class, so the band is wider than
        95 % asks for. None where the class is not stated or the bias has no bound.
        """
        if basis.size > _MAX_BAND or not self.class_stated or self.why_no_band:
            return None
        covariance = np.zeros((len(plans), basis.size, basis.size))
        for k, plan in enumerate(plans):
            sites = self._without_budgets(data)
            chance = (plan.weights**2 * sites.square / sites.n).sum()
            noise = (plan.weights[:, None] ** 2 * plan.noise_deviation**2).sum(axis=0)
            size = plan.basis.size
            half = plan.basis.to_levels(np.diag(noise + chance))
            covariance[k, :size, :size] = plan.basis.to_levels(half.T)
            if not plan.released:
                covariance[k] = np.nan
        return pointwise_band(centre, covariance, [plan.bias for plan in plans])

    @property
    def at_once(self) -> WaveletGlobal:
        """The same estimator with one message."""
        return self

    @property
    def why_no_band(self) -> str:
        """Why these options allow no band, whatever is stated; "" where they allow one."""
        if self.invert_clip:
            return "the bias of a curve whose clipping is undone has no bound"
        if self.design in ("released", "weighted"):
            return "with times of this law the bias and the variance have no public bound"
        return ""

    def _without_budgets(self, data: CurveData) -> Sites:
        unlimited = (Budget(math.inf),) * data.sizes.n_servers
        return self.sites(data.sizes, unlimited, data.facts)

    def _parts(self, plans: Sequence[CurvePlan], sites: Sites) -> ServerParts:
        """Shares, noise, and the most that chance in readings can add, of every site."""
        weights = np.stack([plan.weights for plan in plans])
        noise = np.stack([plan.weights**2 * plan.total_noise * plan.released for plan in plans])
        chance = np.stack(
            [
                plan.weights**2 * sites.square * self._weight_square * plan.basis.size / sites.n
                for plan in plans
            ]
        )
        return ServerParts(weights, noise, chance)


def _as_levels(scaling: Array, plan: CurvePlan, basis: WaveletBasis) -> Array:
    """Scaling coordinates of a plan's level in the largest basis: (…, size)."""
    if plan.basis == basis:
        return basis.to_levels(scaling)
    out = np.zeros((*scaling.shape[:-1], basis.size))
    out[..., : plan.basis.size] = plan.basis.to_levels(scaling)
    return out
