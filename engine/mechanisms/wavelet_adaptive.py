"""The whole curve by wavelets, about a centre and with clips that sites learn first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.checks import Check
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import Parameter, param
from engine.core.types import (
    Array,
    Budget,
    Caution,
    CurveData,
    Data,
    Fit,
    Late,
    LateCautions,
    Public,
    PublicFacts,
    SaidIn,
    ServerParts,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.adaptive.checked_facts import FAR_SHARE
from engine.mechanisms.families.adaptive.rules import nothing_spent
from engine.mechanisms.families.wavelets import checked
from engine.mechanisms.families.wavelets.regression import Sites, choose, site_lines, times_of
from engine.mechanisms.families.wavelets.risk import RiskParts
from engine.mechanisms.wavelet_global import CurvePlan, WaveletGlobal
from engine.numerics.clipping.normal_readings import (
    clipped_variance,
    share_within,
    spread_of_clipped,
)
from engine.numerics.wavelet_bases import WaveletBasis
from engine.privacy import transcript
from engine.sources import Source

SHARES = (0.05, 0.10, 0.85)  # of μ²: for the level, a coarse curve, the curve
_FIRST_CLIP = 2.0  # (τ − B)/σ of the first message
_COARSE_WIDTHS, _WIDTHS = (1.5, 2.0), (1.0, 1.25, 1.5, 2.0)  # τ over the spread of residuals
_MAX_NOISE = 0.6  # in the first released spread, over that spread as planned
_MIN_SLOPE = 0.3  # clipping is never taken to leave less of a shift
_NO_ZERO = 1e-300
_TOGETHER = 4_000_000  # residuals that are worked on together

LEVEL = Step("level, with the spread")
COARSE = Step("coarse curve, with the spread")
CURVE = Step("curve, with the spread")
STEPS = (LEVEL, COARSE, CURVE)

SPREAD_LARGER = (
    "By their released size, residuals about the curve are larger than the stated spread explains: "
    "it is too small, or observations fall into groups, or times are not as stated. The centre "
    "then differs from the mean by more than was forecast."
)
_WIDER = 1.2  # released spread of residuals over the planned one


@dataclass(frozen=True)
class WaveletStage:
    """One message of every site, planned."""

    basis: WaveletBasis
    width: float  # κ: the clip over the spread of residuals that was released before
    weights: Array  # (sites,): share of each site
    # (sites,): standard deviation of the noise in an inner coordinate, for a clip of one
    unit: Array
    size_unit: Array  # (sites,): that in the average size of residuals
    edge_share: float  # variance of the noise in edge coordinates over that in inner ones
    spread: float  # of residuals, as planned over the class of curves; in response units

    @property
    def shape(self) -> Array:
        """Standard deviations of the noise over those of inner coordinates: (size,)."""
        return np.sqrt(self.basis.noise_shape(self.edge_share))

    @property
    def unit_noise(self) -> float:
        """Variance of the noise of the combined average in one coordinate, for a clip of one."""
        return float((self.weights**2 * self.unit**2).sum() * (self.shape**2).mean())

    def side_drift(self, n: Array) -> float:
        """Return how many more of normal residuals an error of the level puts on one side.

        In standard deviations of that error, of which 2φ(κ) residuals change side for each spread.
        """
        slope = float(share_within(self.width))
        variance = (
            self.unit_noise + float(clipped_variance(self.width)) * self.chance(n) / self.width**2
        )
        return (
            2
            * math.exp(-(self.width**2) / 2)
            / math.sqrt(2 * math.pi)
            * self.width
            * math.sqrt(variance)
            / slope
        )

    def chance(self, n: Array) -> float:
        """Σ u_j²/n_j, for n (sites,): the factor of the variance of one residual."""
        return float((self.weights**2 / n).sum())


@dataclass(frozen=True)
class StagedPlan(CurvePlan):
    """Three messages: `clip` and `scales` are those of the last one, as planned."""

    first_clip: float  # τ of the first message, in response units
    stages: tuple[WaveletStage, ...]
    # sigma, largest_spread: σ and (B² + σ²)^½ as stated: no spread is taken to be smaller, or
    # larger
    sigma: float
    largest_spread: float
    n: Array  # (sites,)

    @property
    def tuning(self) -> dict[str, Any]:
        return {
            **super().tuning,
            "messages": len(self.stages),
            "first_clip": self.first_clip,
            "coarse_level": self.stages[1].basis.level,
            "width": self.stages[2].width,
        }


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class WaveletAdaptive(WaveletGlobal):
    """ĉ ← a + (1/P) Σ_j u_j (1/n_j Σ_i [Y_i − a(X_i)]_τ b(X_i) + noise), three times.

    A site pays for τ, to which observations are clipped, and without a centre τ must reach over the
    stated bounds. So the first message is about the level alone, with a wide clip and little
    budget; the second about a coarse curve; and the third, with most of the budget, about what is
    left, clipped inside its bulk. P, the share of residuals that a clip leaves alone, is divided
    out, as in Huber's one-step estimator. Every message also has the average size of clipped
    residuals, from which the next clip follows. These are the steps of
    `engine.mechanisms.families.adaptive.location`, in one direction of shape instead of many: only
    a value is unbounded here, its time is not.

    Notes
    -----
    *Privacy.* Let ‖b(x)‖ ≤ S at all times x, in units of the shape of the noise. A reading adds
    v = r b(x), |r| ≤ τ, to a sum, and S|r| to a sum of sizes. For two readings

        ‖v − v'‖² + S²(|r| − |r'|)² = r²‖b‖² + r'²‖b'‖² + S²(r² + r'²) − 2rr' b·b' − 2S²|rr'|,

    and −rr' b·b' ≤ |rr'|S² by the inequality of Cauchy and Schwarz, so this is at most
    2S²(r² + r'²) ≤ (2τS)². Averages over n and sizes together move by at most 2τS/n, which is what
    the averages alone cost, and exactly so far where the label of a reading at the maximiser is
    flipped. Gaussian noise of standard deviation 2τS/(nμ_k) on the averages, and of 2τ/(nμ_k) on
    the size, is μ_k-GDP. Centre and clip are functions of earlier messages and public facts; all
    messages are about the same readings, so that squares add: Σ μ_k² = μ². A reading that is no
    number has residual zero, one of the values above. Sites share nobody.

    *Plan.* Level, widths and weights minimise the error over the stated class, from public facts:
    the spread of residuals is planned to be σ² + the planned error of the centre. The clips that
    are used follow from the released spreads. Where one message has the smaller bound, as with
    few observations and bounds that are tight, one is sent (`WaveletGlobal`).

    *After the noise* each level of details is shrunk by max(0, 1 − d v/‖·‖²), with d of them and v
    their noise and sampling variance (James and Stein): a level that is planned too high costs
    little.

    *Bias.* Clipping inside the bulk locates the centre of symmetry. Whether observations lie as
    often far above the curve as far below it is asked by a last message
    (`engine.mechanisms.families.wavelets.checked`). No bound of the bias is public, so there is no
    band.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.regression_points import RegressionPoints
    >>> data = RegressionPoints(n_curves=4000, bound=20.0).draw(1, generator(1, 0, 0))
    >>> estimate = WaveletAdaptive().release(data, (Budget(2.0, 1e-5),), generator(1, 1, 0))
    >>> [line.step.label for line in estimate.spends[0][::16]]
    ['level, with the spread', 'coarse curve, with the spread', 'curve, with the spread']
    """

    key = "wavelet_adaptive"
    label = "Wavelets, centred first"
    order = 15
    dash, marker = "solid", "triangle-up"
    reference = (
        "Derived for this project; whole curves as in Cai, Chakraborty and Vuursteen "
        "(2024), arXiv 2406.06755"
    )
    formula = (
        r"\hat c = a + \tfrac1P\sum_j u_j\Big(\tfrac1{n_j}\sum_i [Y_i - a(X_i)]_\tau\,"
        r"b(X_i) + s_j Z_j\Big),\qquad s_j = \tfrac{2\tau}{n_j\mu_j}\sup_x\|b(x)\|"
    )

    messages: str | None = param(
        None,
        "Messages",
        "Three: the level, a coarse curve, then the curve, each clipped about "
        "what came before. One: the curve at once, clipped to its bounds. Default: whichever has "
        "the smaller planned error.",
        choices=("three", "one"),
    )

    def as_one_centre(self, n_people: int, budget: Budget, facts: PublicFacts) -> Budget | None:
        return None  # what a later message holds hangs on earlier ones in ways not proved alike

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter in WaveletGlobal.parameters():
            is_usual = getattr(self, parameter.name) == parameter.default
            if parameter.name in _WITHOUT and not is_usual:
                raise InputError(
                    f"“{parameter.label}” cannot be chosen where the curve is centred first.",
                    field=parameter.name,
                    hint=f"Choose “{WaveletGlobal.label}”.",
                )
        if self.design not in ("even", "ranked"):
            raise InputError(
                "Times must be spread evenly, or ranked, where the curve is centred first.",
                field="design",
                hint=f"Choose “{WaveletGlobal.label}”.",
            )

    def relevant_parameters(self) -> tuple[Parameter, ...]:
        """Clips follow from what is released, and what needs one clip is not offered."""
        return tuple(p for p in super().relevant_parameters() if p.name not in _WITHOUT)

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial(
                {"level": 4, "messages": "three", "radius": 1e-3, **more},
                Budget(200.0, 1e-5),
                0.9,
                "Each message has its own worst case; a few come near all of them.",
            )
            for more in ({}, {"edges": "corrected"}, {"checks": "paid"})
        )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}),)

    @property
    def at_once(self) -> WaveletGlobal:
        """The same estimator with one message."""
        return WaveletGlobal(
            **{
                parameter.name: getattr(self, parameter.name)
                for parameter in WaveletGlobal.parameters()
            }
        )

    # -- fixed before any reading is looked at ---------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> CurvePlan:
        """Three messages, or one where its planned error is smaller."""
        if self.messages == "one":
            return super().planned(public, budgets)
        staged = self._staged(self.sites(public.sizes, budgets, public.facts), budgets)
        if self.messages == "three":
            return staged
        once = super().planned(public, budgets)
        return staged if staged.criterion < once.criterion else once

    def _staged(self, sites: Sites, budgets: tuple[Budget, ...]) -> StagedPlan:
        """All three messages, and the bound that they reach together."""
        if sites.checked:
            sites = replace(sites, left=sites.left - FAR_SHARE)
        radius = self.radius * sites.unit
        energy = min(sites.bound**2, self._left_out(radius, 1.0))
        first_clip, levels = sites.bound + _FIRST_CLIP * sites.sigma, self.levels()
        variance = sites.sigma**2 + energy
        constant = WaveletBasis(1, 1)
        first = self._stage(constant, math.inf, SHARES[0], sites, variance, first_clip**2)
        variance += first_clip**2 * first.unit_noise
        of_size = first_clip * float(np.linalg.norm(first.weights * first.size_unit))
        if of_size > _MAX_NOISE * first.spread:  # the clips that follow have the size of noise
            variance += of_size**2
        pilots = [level for level in self._every_level if level <= max(levels)]
        coarse, error = self._best(pilots, _COARSE_WIDTHS, SHARES[1], sites, variance, radius)
        variance = sites.sigma**2 + min(error, variance - sites.sigma**2)
        last, error = self._best(
            [level for level in levels if level >= coarse.basis.level],
            _WIDTHS,
            SHARES[2],
            sites,
            variance,
            radius,
        )
        released = error < sites.bound**2
        stages = (first, coarse, last)
        checks = self.messages_about_facts(sites, last.side_drift(sites.n)) if released else None
        before, after = ([], []) if checks is None else checks.lines(sites, budgets)
        spends = (
            nothing_spent(budgets, Unit.READING)
            if not released
            else (
                *before,
                *(
                    line
                    for step, stage, share in zip(STEPS, stages, SHARES, strict=True)
                    for line in self._lines(step, stage, share, sites, budgets)
                ),
                *after,
            )
        )
        clip = last.width * last.spread
        return StagedPlan(
            last.basis,
            clip,
            last.weights,
            clip / float(share_within(last.width)) * last.unit,
            last.edge_share,
            error,
            released,
            math.inf,
            first_clip=first_clip,
            stages=stages,
            sigma=sites.sigma,
            largest_spread=math.sqrt(sites.square),
            n=sites.n,
            spends=spends,
            checks=checks,
        )

    def _best(
        self,
        levels: Sequence[int],
        widths: Sequence[float],
        share: float,
        sites: Sites,
        variance: float,
        radius: float,
    ) -> tuple[WaveletStage, float]:
        """The message with the least planned error, and that error.

        Of residuals with this variance a clip at κ spreads leaves the share P within it: dividing
        by P makes κ/P of the noise and E[Z]_κ²/P² of the variance.
        """
        kappa = np.array(widths)
        left = share_within(kappa)
        bases = [self.wavelets(level) for level in levels]
        size = np.array([float(basis.size) for basis in bases])
        clips = kappa * math.sqrt(variance) / left
        unit = np.stack(
            [
                self._unit_scales(basis, sites) ** 2
                / share
                * basis.noise_shape(self._shape(basis)[0]).sum()
                for basis in bases
            ]
        )
        square = variance * clipped_variance(kappa) / left**2
        choice = choose(
            levels,
            clips,
            self._left_out(radius, size)[:, None] + 0 * clips,
            size[:, None] * square,
            unit,
            sites,
            self.weights,
        )
        width = float(kappa[np.argmin(np.abs(clips - choice.clip))])
        stage = self._stage(
            self.wavelets(choice.level),
            width,
            share,
            sites,
            variance,
            (width**2 * variance),
            choice.weights,
        )
        return stage, choice.criterion

    def _stage(
        self,
        basis: WaveletBasis,
        width: float,
        share: float,
        sites: Sites,
        variance: float,
        squared_clip: float,
        weights: Array | None = None,
    ) -> WaveletStage:
        edge_share, functions_norm = self._shape_of(basis)
        unit = 2 * sites.exact_multiplier / (math.sqrt(share) * sites.n)
        if weights is None:
            precision = 1 / (variance / sites.n + squared_clip * unit**2)
            weights = precision / precision.sum()
        return WaveletStage(
            basis, width, weights, functions_norm * unit, unit, edge_share, math.sqrt(variance)
        )

    def _shape_of(self, basis: WaveletBasis) -> tuple[float, float]:
        """ρ and S of a basis; those of the constant are one."""
        return (1.0, 1.0) if basis.size == 1 else self._shape(basis)

    def _left_out(self, radius: float, size: Array | float) -> Any:
        """R² 2^{−2αJ}/(1 − 2^{−2α}), the most energy outside V_J."""
        return radius**2 * size ** (-2 * self.smoothness) / (1 - 4**-self.smoothness)

    @property
    def _every_level(self) -> Sequence[int]:
        return range(self.lowest_level, self.highest_level + 1)

    def _lines(
        self,
        step: Step,
        stage: WaveletStage,
        share: float,
        sites: Sites,
        budgets: tuple[Budget, ...],
    ) -> tuple[Spend, ...]:
        return site_lines(
            step,
            NoiseLaw.GAUSSIAN,
            "weighted ℓ2",
            2 * self._shape_of(stage.basis)[1] / sites.n,
            stage.unit,
            budgets,
            f"{stage.basis.size} averages and the average size of what they "
            f"are of; {share * sites.left:.0%} of μ², as every observation is in each message. "
            "Shifts and noise are in units of the clip.",
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float:
        """Σ_j u_j² noise_j as planned over the class; NaN if nothing would be released."""
        return super().expected_error(sizes, budgets, facts)

    def risk_parts(self, source: Source[Data], budgets: tuple[Budget, ...]) -> RiskParts | None:
        """Exact where one message is sent; clips that follow from others leave no formula."""
        if isinstance(self.plan(source.public, budgets), StagedPlan):
            return None
        return self.at_once.risk_parts(source, budgets)

    @property
    def why_no_band(self) -> str:
        return "the bias of a curve that is centred first has no public bound"

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[CurvePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Plans of three messages and plans of one, side by side; see `Mechanism.fitted`."""
        staged_plans = [plan for plan in plans if isinstance(plan, StagedPlan)]
        if not staged_plans:
            return super().fitted(data, plans, draws, rng)
        staged = self._in_stages(data, staged_plans, draws, rng)
        if len(staged_plans) == len(plans):
            return staged
        single_plans = [plan for plan in plans if not isinstance(plan, StagedPlan)]
        single = super().fitted(data, single_plans, draws, rng)
        return _side_by_side([isinstance(plan, StagedPlan) for plan in plans], staged, single)

    def exact_fit(self, data: CurveData) -> Fit:
        """The averages of all readings as they are: the same as with one message."""
        return self.at_once.exact_fit(data)

    def _in_stages(
        self, data: CurveData, plans: Sequence[StagedPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        basis = max((plan.basis for plan in plans), key=lambda space: space.size)
        messages = _Messages(self, data, plans, draws, rng)
        released, spreads, clips = _learned(messages, plans, messages.noisy, draws)
        noise_free, _, _ = _learned(messages, plans, messages.noise_free, 1)
        told = self._told(data, plans, draws, messages.streams)
        told = replace(told, sides=messages.sides(released, clips))
        coefficients, final = self._finished(
            _padded(released, basis)[..., None, :], plans, basis, data.facts
        )
        unprotected, _ = self._finished(
            _padded(noise_free, basis)[..., None, :], plans, basis, data.facts
        )
        is_wide = np.stack(
            [
                plan.released & (spread > _WIDER * plan.stages[-1].spread)
                for plan, spread in zip(plans, spreads, strict=True)
            ]
        )
        facts = data.facts

        def judged() -> tuple[Caution, ...]:
            return (
                *told.cautions(facts),
                *((Caution(SPREAD_LARGER, is_wide, SaidIn.LINE),) if is_wide.any() else ()),
            )

        return Fit(
            basis=final,
            coefficients=coefficients,
            unprotected=unprotected[:, :, 0],
            basis_sizes=tuple(plan.basis.size for plan in plans),
            parts=_parts(plans),
            cautions=LateCautions(judged),
            checks=Late(told.checks),
        )


_WITHOUT = ("plan_rule", "constants", "clip", "invert_clip")


# -- on the sites ---------------------------------------------------------------------------


Received = tuple[Array, Array]  # averages (repeats, columns, size) and sizes (repeats, columns)


class _Messages:
    """Messages of all sites about the centres and clips given to them, at one plan a budget."""

    def __init__(
        self,
        method: WaveletAdaptive,
        data: CurveData,
        plans: Sequence[StagedPlan],
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        if not (data.counts == 1).all():
            raise InputError(
                "Wavelet regression needs exactly one observation from every person.",
                field="counts",
            )
        self.plans, self.draws = plans, draws
        self.per_site = data.sizes.n_curves_per_server
        self.missing = ~(np.isfinite(data.values) & np.isfinite(data.times))
        self.values = np.where(self.missing, 0.0, data.values - data.facts.value_middle)
        self.times, design = times_of(data), method.known_design
        if design is not None:
            self.times = design.rank(self.times)
        widths = [1 + max(plan.stages[k].basis.size for plan in plans) for k in range(len(STEPS))]
        shape = (data.n_repeats, draws)
        self.streams = rng.spawn(len(self.per_site))
        self.normals = [
            np.stack(each, axis=2)
            for each in zip(
                *(
                    [stream.standard_normal((*shape, width)) for width in widths]
                    for stream in self.streams
                ),
                strict=True,
            )
        ]

    def noisy(self, k: int, centres: Sequence[Array], clips: Sequence[Array]) -> list[Received]:
        """The centre's averages of the messages of stage k, for every plan, coarse first."""
        normals = self.normals[k][:, None]  # (repeats, 1, draws, sites, numbers)
        shape = (len(normals), len(self.plans), *normals.shape[2:])
        exact, noise = np.zeros(shape), np.zeros(shape)
        for p, (plan, clip) in enumerate(zip(self.plans, clips, strict=True)):
            stage, width = plan.stages[k], 1 + plan.stages[k].basis.size
            sizes, averages = self._statistics(stage.basis, plan.basis, centres[p], clip)
            exact[:, p, ..., 0], exact[:, p, ..., 1:width] = sizes, averages
            noise[:, p, ..., 0] = clip[..., None] * stage.size_unit
            noise[:, p, ..., 1:width] = (clip[..., None, None] * stage.unit[:, None]) * stage.shape
            exact[:, p] *= plan.released
            noise[:, p] *= plan.released
        flat = (len(normals), -1, *shape[3:])  # a column for every budget and draw
        messages, noise = (exact + noise * normals).reshape(flat), noise.reshape(flat)
        sent = np.stack(
            [
                transcript.sent(s, STEPS[k], messages[:, :, s], noise[:, :, s])
                for s in range(len(self.per_site))
            ],
            axis=2,
        ).reshape(shape)
        return [_combined(plan.stages[k], sent[:, p]) for p, plan in enumerate(self.plans)]

    def sides(
        self, centres: Sequence[Array], clips: Sequence[Array]
    ) -> list[tuple[Array, Array] | None]:
        """Send who is above and below the last clips about what was released.

        (repeats, draws, 2), and their noise (2,), for every plan; None where they are not asked.
        """
        if not any(plan.checks for plan in self.plans):
            return [None] * len(self.plans)
        normals = np.stack(
            [stream.standard_normal((len(self.values), self.draws, 2)) for stream in self.streams],
            axis=2,
        )
        return [
            None
            if plan.checks is None
            else checked.sent(
                plan.checks, checked.SIDES, self._beyond(plan.basis, centre, clip), normals
            )
            for plan, centre, clip in zip(self.plans, centres, clips, strict=True)
        ]

    def _beyond(self, finest: WaveletBasis, centre: Array, clip: Array) -> Array:
        """Average who is beyond a clip above and below: (repeats, draws, sites, 2)."""
        n, starts = np.array(self.per_site), np.cumsum((0, *self.per_site[:-1]))
        shares, scaling = np.empty((*clip.shape, len(n), 2)), finest.from_levels(centre)
        for r, times in enumerate(self.times):
            for draw in range(clip.shape[1]):
                residuals = self.values[r] - finest.curve(scaling[r, draw], times)
                residuals[self.missing[r]] = 0.0
                for side, sign in enumerate((1, -1)):
                    is_beyond = (sign * residuals > clip[r, draw]).astype(float)
                    shares[r, draw, :, side] = np.add.reduceat(is_beyond, starts) / n
        return shares

    def noise_free(
        self, k: int, centres: Sequence[Array], clips: Sequence[Array]
    ) -> list[Received]:
        """The same without noise, for comparison: it is never published."""
        received = []
        for plan, centre, clip in zip(self.plans, centres, clips, strict=True):
            stage = plan.stages[k]
            sizes, averages = self._statistics(stage.basis, plan.basis, centre, clip)
            received.append(_combined(stage, np.concatenate([sizes[..., None], averages], axis=-1)))
        return received

    def _statistics(
        self, basis: WaveletBasis, finest: WaveletBasis, centre: Array, clip: Array
    ) -> tuple[Array, Array]:
        """Average sizes (repeats, columns, sites) and averages (…, size) of clipped residuals."""
        n, starts = np.array(self.per_site), np.cumsum((0, *self.per_site[:-1]))
        sizes = np.empty((*clip.shape, len(n)))
        averages = np.empty((*sizes.shape, basis.size))
        together = max(1, _TOGETHER // self.times.shape[1])
        scaling = finest.from_levels(centre)
        for r, times in enumerate(self.times):
            for first in range(0, clip.shape[1], together):
                columns = slice(first, first + together)
                residuals = self.values[r] - np.stack(
                    [finest.curve(curve, times) for curve in scaling[r, columns]]
                )
                bound = clip[r, columns, None]
                np.clip(residuals, -bound, bound, out=residuals)
                residuals[:, self.missing[r]] = 0.0
                averages[r, columns] = basis.sums(
                    np.broadcast_to(times, residuals.shape), residuals, self.per_site
                )
                np.abs(residuals, out=residuals)
                sizes[r, columns] = np.add.reduceat(residuals, starts, axis=1)
        return sizes / n, averages / n[:, None]


def _combined(stage: WaveletStage, sent: Array) -> Received:
    """Weighted averages of messages (repeats, columns, sites, numbers), of which size is first."""
    size, basis = np.einsum("s,rcs->rc", stage.weights, sent[..., 0]), stage.basis.size
    return np.einsum("s,rcsk->rck", stage.weights, sent[..., 1 : 1 + basis]), size


# -- at the centre, from what was sent ------------------------------------------------------


def _learned(
    messages: _Messages, plans: Sequence[StagedPlan], send: Any, columns: int
) -> tuple[list[Array], list[Array], list[Array]]:
    """Coefficients of every plan, coarse functions first: (repeats, columns, 2^J) each.

    And the spread of residuals about the coarse curve, by the last message, and its clips:
    (repeats, columns) each.
    """
    shape = (len(messages.values), columns)
    centres = [np.zeros((*shape, plan.basis.size)) for plan in plans]
    clips = [np.full(shape, plan.first_clip) for plan in plans]
    spreads = [np.zeros(shape) for _ in plans]
    for k in range(len(STEPS)):
        for p, (plan, (average, size)) in enumerate(
            zip(plans, send(k, centres, clips), strict=True)
        ):
            spreads[p] = clips[p] * spread_of_clipped(size / clips[p])
            centres[p], clips[p] = _moved(plan, k, centres[p], clips[p], average, size)
    return (
        [plan.released * centre for plan, centre in zip(plans, centres, strict=True)],
        spreads,
        clips,
    )


def _moved(
    plan: StagedPlan, k: int, centre: Array, clip: Array, average: Array, size: Array
) -> tuple[Array, Array]:
    """The centre after a message, and the clip of the next one."""
    stage = plan.stages[k]
    spread = np.clip(
        clip * spread_of_clipped(size / clip),
        plan.sigma if k < 2 else _NO_ZERO,
        plan.largest_spread,
    )
    width = clip / spread
    slope = np.maximum(share_within(width), _MIN_SLOPE) if k else np.ones_like(width)
    noise = stage.unit_noise * (clip / slope) ** 2
    if k == 0:
        step = plan.basis.constant(1.0) * average
        left = spread**2 - average[..., 0] ** 2 + noise
        return step, _clip(plan, 1, left)
    chance = clipped_variance(width) * stage.chance(plan.n)
    variance = noise + (spread / slope) ** 2 * chance
    step = stage.basis.to_levels(average) / slope[..., None]
    if k == 1:
        step, explained = _shrunk(step, variance, stage.basis.levels)
        moved = np.zeros_like(centre)
        moved[..., : stage.basis.size] = step
        return centre + moved, _clip(plan, 2, spread**2 - explained)
    return _shrunk(centre + step, variance, stage.basis.levels[1:])[0], clip


def _clip(plan: StagedPlan, k: int, square: Array) -> Array:
    """κ times the spread that is left, which is no smaller than that of single observations.

    Nor is it larger than what they can be from any curve within the bounds.
    """
    spread = np.sqrt(np.clip(square, plan.sigma**2, plan.largest_spread**2))
    return np.minimum(plan.first_clip, plan.stages[k].width * spread)


def _shrunk(
    coefficients: Array, variance: Array, levels: Sequence[tuple[int, slice]]
) -> tuple[Array, Array]:
    """Levels drawn towards zero as far as noise may have made them, and the energy that is kept.

    Without noise the kept part takes 2fE − f²E off the energy of residuals, E that of the level and
    f its factor; the d v that noise is expected to add to E are taken off first.
    """
    out, explained = coefficients.copy(), np.zeros(coefficients.shape[:-1])
    for _, index in levels:
        energy = (coefficients[..., index] ** 2).sum(axis=-1)
        real = np.maximum(energy - (index.stop - index.start) * variance, 0.0)
        factor = real / np.maximum(energy, _NO_ZERO)
        out[..., index] *= factor[..., None]
        explained += 2 * factor * real - factor**2 * energy
    return out, explained


def _padded(coefficients: Sequence[Array], basis: WaveletBasis) -> Array:
    """Coefficients of all plans in the finest space: (plans, repeats, columns, size)."""
    out = np.zeros((len(coefficients), *coefficients[0].shape[:-1], basis.size))
    for k, values in enumerate(coefficients):
        out[k, ..., : values.shape[-1]] = values
    return out


def _parts(plans: Sequence[StagedPlan]) -> ServerParts:
    """Shares, noise and chance of every site in the last message, as planned over the class."""
    weights = np.stack([plan.weights for plan in plans])
    noise = np.stack([plan.weights**2 * plan.total_noise * plan.released for plan in plans])
    chance = []
    for plan in plans:
        last = plan.stages[-1]
        square = clipped_variance(last.width) / share_within(last.width) ** 2
        chance.append(plan.weights**2 * last.spread**2 * square * plan.basis.size / plan.n)
    return ServerParts(weights, noise, np.stack(chance))


def _side_by_side(is_staged: Sequence[bool], staged: Fit, single: Fit) -> Fit:
    """Two fits of the same readings as one, in the order of their plans."""
    assert staged.parts is not None
    assert single.parts is not None
    order = np.argsort(np.argsort(~np.array(is_staged), kind="stable"), kind="stable")
    size = max(staged.coefficients.shape[-1], single.coefficients.shape[-1])

    def both(name: str) -> Array:
        arrays = [getattr(fit, name) for fit in (staged, single)]
        return np.concatenate(
            [
                np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, size - array.shape[-1])])
                for array in arrays
            ]
        )[order]

    basis_sizes = (*staged.basis_sizes, *single.basis_sizes)
    parts = ServerParts(
        *(
            np.concatenate([getattr(staged.parts, name), getattr(single.parts, name)])[order]
            for name in ("weight", "noise", "sampling")
        )
    )

    def cautions() -> tuple[Caution, ...]:
        nowhere = [np.zeros(fit.coefficients.shape[:3], dtype=bool) for fit in (staged, single)]
        known = {each.text: each for fit in (staged, single) for each in fit.cautions}
        return tuple(
            replace(
                caution,
                applies=np.concatenate(
                    [
                        next((each.applies for each in fit.cautions if each.text == text), none)
                        for fit, none in zip((staged, single), nowhere, strict=True)
                    ]
                )[order],
            )
            for text, caution in known.items()
        )

    def checks() -> tuple[Check, ...]:
        facts = dict.fromkeys(check.fact for fit in (staged, single) for check in fit.checks)
        return tuple(
            checked.side_by_side(
                fact, [(fit.checks, fit.coefficients.shape[:3]) for fit in (staged, single)], order
            )
            for fact in facts
        )

    basis = max((staged.basis, single.basis), key=lambda space: space.size)
    return Fit(
        basis=basis,
        coefficients=both("coefficients"),
        unprotected=both("unprotected"),
        basis_sizes=tuple(basis_sizes[k] for k in order),
        parts=parts,
        cautions=LateCautions(cautions),
        checks=Late(checks),
    )
