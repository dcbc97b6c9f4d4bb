"""Private percentile curves of readings, with bands and time in range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from engine.core.bands import NORMAL, standard_errors
from engine.core.enumerations import Guarantee
from engine.core.errors import InputError, brief
from engine.core.grids import PERCENTAGES, drawing_grid
from engine.core.registry import param
from engine.core.tasks import PERCENTILE_CURVES
from engine.core.types import (
    Array,
    Budget,
    Caution,
    CurveData,
    Design,
    Fit,
    Intervals,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
    TimeLaw,
    Truth,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Mechanism, Trial, one_per_server
from engine.mechanisms.families.adaptive import band_checks, check_words
from engine.mechanisms.families.adaptive.checked_facts import FirstMessage, first_share
from engine.mechanisms.families.adaptive.percentile_stages import (
    LEVELS,
    PercentileFit,
    PercentilePlan,
    releases,
)
from engine.mechanisms.families.adaptive.rules import effective_size, ledger
from engine.mechanisms.families.adaptive.scales import bounds_of
from engine.numerics.bases import Basis
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.observation_times import stated_density
from engine.numerics.percentile_shape import log_spread, shape_of_shares
from engine.numerics.percentile_surface import MIN_SHARE, ShareSurface
from engine.numerics.point_values import PointValues
from engine.privacy.feasibility import Feasibility

_MIN, _MIN_COARSE = 110.0, 60.0  # N for a release, and for a coarse one
_MIN_LEVEL = PERCENTAGES[0] / 100
_READINGS_BELOW = 6.0  # τ is at least this over N
_RELIABLE = 250.0  # N from which bands held in all cells that were measured
_MAX_WAVES, _MAX_OF_MANY = 15, 21  # of the centre
_SKEWED_FROM = 5.0  # highest over lowest value, from which readings are put on a logarithmic scale
_MAX_LIMITS = 6
_WIDTH, _WIDEST, _WIDTH_FROM = 6.0, 24.0, 45.0  # κ₀ = N/45 between 6 and 24
# Departures from a normal law that a release says: about a parabola, and the parabola itself,
# which must be sure and, as a skewness of about a half, large enough to matter.
_NOT_NORMAL, _CURVED, _ASYMMETRIC = 1.6, 0.08, 2.3
_MATERIAL = {"cosine": 0.2, "fourier": 0.4}  # half widths that the last waves of the centre make up
# Of the spread there is one check, with fewer functions than for the centre. Chosen on spreads that
# double, have a narrow peak, rise or bend: at N = 1300 and more no smooth one of 50 each was told.
_MATERIAL_OF_SPREAD, _MISFIT_OF_SPREAD = 0.3, 1e-3
_BEYOND = 0.05  # of the time range, beyond all thresholds
_HARDLY, _IN_A_PART = 0.25, 0.05  # of the density of even times; of the time range
_MANY = 2500.0  # N from which finer details than these are measured well, and missed otherwise
_SHAPES = ((60.0, 1), (250.0, 3), (1000.0, 5), (_MANY, 7), (math.inf, 9))  # waves of shares below N
_BASELINE = {"fourier": 15, "cosine": 12}  # waves without protection
_BASELINE_LEVELS = ndtr(np.linspace(-2.5, 2.5, 25))

COARSE = (
    "At this number of people and this budget bands of percentile curves can be too narrow: in "
    "simulations of growth they covered the true curve at .85 to .97 of times instead of .95, "
    "and least where it changes fast. Read the 25, 50 and 75 % curves as coarse, and do not rely "
    "on the outer ones."
)
ONE_READING = (
    "Where everybody is observed once or twice, errors of percentile curves were up to 2.8 times "
    "those without protection in simulations."
)
NOT_NORMAL = (
    "Observations do not follow a normal law on this scale: they are skewed, fall into groups or "
    "pile up at a value. Between the measured thresholds percentile "
    "curves follow a normal law, so they can be farther off than their bands say."
)
FINER_DETAIL = (
    "The middle of the observations has details finer than the kept basis functions can draw. All "
    "percentile curves smooth them away, and can lie outside their bands there."
)
SPREAD_DETAIL = (
    "The spread of observations has details in time finer than the kept basis functions can draw. "
    "Outer percentile curves smooth them away, and can lie outside their bands there."
)
BEYOND = (
    "At some times an outer percentile lies beyond all measured thresholds. There it is extended "
    "by a normal law, and its band reaches from the last threshold to the stated bound."
)
HARDLY_OBSERVED = (
    "The stated density puts almost no observation times into a part of the time range. "
    "Do not trust percentile curves or bands there."
)
FEW_COMMON_TIMES = (
    "Between the common times, percentile curves and bands assume smooth percentiles."
)
SITES_BY_PRECISION = (
    "Sites have weight by precision. If their people differ, the percentiles are those of a "
    "population in which precise sites weigh more."
)


@dataclass(frozen=True)
class ValueScale:
    """The public map from readings to [−1, 1]: z = (g(y) − mid)/half, held to that range."""

    # low, high: of readings, in their unit
    low: float
    high: float
    kind: str = "linear"  # {"linear", "log", "log1p"}: g: y, log y or log(1 + y/offset)
    offset: float = 1.0

    @cached_property
    def ends(self) -> tuple[float, float]:
        """(mid, half) of g over the range."""
        low, high = self._forward(np.array([self.low, self.high]))
        return float(low + high) / 2, float(high - low) / 2

    def __call__(self, values: Array) -> Array:
        mid, half = self.ends
        return np.asarray((self._forward(np.clip(values, self.low, self.high)) - mid) / half)

    def back(self, unit: Array) -> Array:
        """Response units of what lies on [−1, 1]."""
        mid, half = self.ends
        mapped = mid + half * unit
        if self.kind == "log":
            mapped = np.exp(mapped)
        elif self.kind == "log1p":
            mapped = self.offset * np.expm1(mapped)
        return np.asarray(np.clip(mapped, self.low, self.high))

    def _forward(self, values: Array) -> Array:
        if self.kind == "log":
            return np.asarray(np.log(values))
        return np.asarray(np.log1p(values / self.offset) if self.kind == "log1p" else values)


@dataclass(frozen=True)
class PercentileFeasibility(Feasibility):
    """Percentile curves need more people than a mean curve does."""

    needed: float = _MIN  # N from which anything is released

    @property
    def min_per_function(self) -> float:
        return self.needed


@dataclass(frozen=True)
class TimeInRanges:
    """Shares of readings below the first limit, between any two, and above the last."""

    limits: tuple[float, ...]  # in response units, rising
    # shares, errors, each (…, L + 1, G): at every time of the drawing grid, with standard errors;
    # shares sum to 1
    shares: Array
    errors: Array
    # average, error, each (…, L + 1): over the whole time range
    average: Array
    error: Array


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class PercentileCurves(Mechanism[CurveData, PercentilePlan]):
    """Percentile curves of the readings of a population, by shares below placed thresholds.

    At every time: the heights below which 5, 25, 50, 75 and 95 % of readings lie, where a person is
    drawn at random and then one of that person's readings. Every person counts the same, however
    many readings there are. A release learns the centre and the spread of readings, places nine
    threshold curves by them, and measures the shares below all of them together; percentiles, bands
    and time in range follow from that at no further cost. Percentile curves never cross.

    Notes
    -----
    *Privacy.* A first message tells whether stated facts are true
    (`engine.mechanisms.families.adaptive.checked_facts`). Then 16 releases of averages over a
    public number of people, each of deviations clipped to an ellipsoid that earlier releases fix;
    proof in `engine.mechanisms.families.adaptive.percentile_stages`. A person with a reading or
    time that is no number deviates by 0 and stays in the count.

    *Bands* are Woodruff's: the surface of shares is inverted at Φ⁻¹(τ) ± 1.96 standard errors, so
    they are asymmetric where the law is. They cover sampling variability and privacy noise, not
    details of shape finer than the released waves.

    *Cautions* follow from what is released. Between thresholds, and beyond the outermost ones, a
    percentile follows a normal law on the chosen scale. A release says where its shares are far
    from such a law, and where a percentile surely lies beyond all thresholds: there the band
    reaches to the stated bound. A group at the very share of a percentile, such as 5 % of outliers
    at the 95 % curve, does not show in a release.

    *Bounds* only need to hold the percentiles that are asked for: a reading outside is held to the
    bound and still counts as above or below.

    References
    ----------
    Derived in this project; bands after Woodruff (1952), composition after Dong, Roth and Su
    (2022).

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.population_readings import PopulationReadings
    >>> data = PopulationReadings(n_curves=1500, n_observations_per_curve=8).draw(
    ...     1, generator(1, 0, 0))
    >>> estimate = PercentileCurves().release(data, (Budget(2.0, 1e-6),), generator(1, 1, 0))
    >>> estimate.functions[2], bool((np.diff(estimate.coefficients[0, 0, 0], axis=0) >= 0).all())
    ('50 %', True)
    """

    key = "percentile_curves"
    label = "Percentile curves"
    order = 10
    tasks = frozenset({PERCENTILE_CURVES.key})
    guarantee = Guarantee.APPROXIMATE
    family = "gradient"
    averages_all = True
    read_since = "0.5.0"  # before, bands and times in ranges were those of shrunk coefficients
    reference = "Derived in this project"
    fit_class: ClassVar[type[PercentileFit]] = PercentileFit
    formula = r"\hat q_\tau(t) = \{c : \hat F(t, c) = \tau\},\quad \hat F = p + Q\,\hat a\,\varphi"

    percentiles: str = param(
        "5, 25, 50, 75, 95", "Percentiles", "Shares of observations below each curve, in percent."
    )
    limits: str = param(
        "",
        "Cut-offs of ranges",
        "Time in range: cut-offs in the unit of observations, with "
        "commas between them, such as 70, 180. Each is a threshold of its own; with two or four of "
        "them the range in the middle is marked as the target. An observation equal to a cut-off "
        "counts as below it.",
    )
    value_scale: str | None = param(
        None,
        "Scale of values",
        "Logarithms suit values that are skewed to the right: "
        "glucose, counts of activity. Default: log where the highest stated value is five times "
        "the lowest or more, and that is above zero.",
        choices=("linear", "log", "log1p"),
    )
    log_offset: float = param(
        1.0,
        "Offset of the logarithm",
        "For log(1 + y/offset), in the unit of values.",
        low=1e-9,
        high=1e9,
    )
    point_mass: float | None = param(
        None,
        "Value with a share of its own",
        "Where values pile up, such as 0 for activity: a percentile below its share is that value.",
        low=-1e9,
        high=1e9,
    )
    basis: str | None = param(
        None,
        "Basis",
        "Fourier for curves that repeat, such as days. Default: as is stated of them.",
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
    band: str = param(
        "pointwise",
        "Confidence band",
        "Pointwise: covers the curve in 95 % of releases at each time. Simultaneous: the whole "
        "of a percentile curve.",
        choices=("pointwise", "simultaneous"),
    )
    coarse: str = param(
        "refuse",
        "Where people are few",
        "Refuse, or show coarse curves where their bands may be too narrow.",
        choices=("refuse", "show"),
    )

    def ignores_order(self, facts: PublicFacts) -> bool:
        return True

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Percentile curves", {}),
            ("Ambulatory glucose profile", {"limits": "54, 70, 180, 250"}),
            ("Growth chart", {"percentiles": "3, 10, 25, 50, 75, 90, 97"}),
            ("Activity norm", {"value_scale": "log1p", "log_offset": 20.0, "point_mass": 0.0}),
        )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            Trial(
                budget=Budget(60.0, 1e-3),
                attains=0.9,
                why="Each stage has its own worst "
                "person; no single one is worst for all 16 releases at once.",
            ),
        )

    # -- stated settings --------------------------------------------------------------------

    @cached_property
    def levels(self) -> Array:
        """The shares below each curve, rising: (T,)."""
        levels = np.unique(_numbers(self.percentiles, "percentiles", "5, 25, 50, 75, 95")) / 100
        if not len(levels) or levels[0] < _MIN_LEVEL or levels[-1] > 1 - _MIN_LEVEL:
            raise InputError(
                "Percentiles must lie from 2 to 98.",
                field="percentiles",
                hint="Nearer to 0 and 100 too few observations tell of them.",
            )
        return levels

    def stated_limits(self, facts: PublicFacts) -> tuple[float, ...]:
        """Limits inside the bounds, and a value with its own share: rising, in response units."""
        limits = set(_numbers(self.limits, "limits", "70, 180").tolist())
        if len(limits) > _MAX_LIMITS:
            raise InputError(
                f"There may be at most {_MAX_LIMITS} cut-offs; got {len(limits)}.",
                field="limits",
                hint="Leave some out.",
            )
        if self.point_mass is not None:
            limits.add(self.point_mass)
        return tuple(
            sorted(limit for limit in limits if facts.value_low <= limit < facts.value_high)
        )

    def piled_up(self, facts: PublicFacts) -> float | None:
        """The value with a share of its own, where it lies within the bounds below the highest."""
        value = self.point_mass
        return value if value is not None and facts.value_low <= value < facts.value_high else None

    def target(self, facts: PublicFacts) -> tuple[float, ...]:
        """The two cut-offs around the range in the middle; none where no range is."""
        stated = [limit for limit in self.stated_limits(facts) if limit != self.point_mass]
        half = len(stated) // 2
        return () if len(stated) % 2 or not stated else (stated[half - 1], stated[half])

    def scale(self, facts: PublicFacts) -> ValueScale:
        """Place [−1, 1] in response units."""
        low, high = facts.value_low, facts.value_high
        by_rule = "log" if low > 0 and high >= _SKEWED_FROM * low else "linear"
        kind = self.value_scale or by_rule
        lower_limit = {"linear": -math.inf, "log": 0.0, "log1p": -self.log_offset}[kind]
        if low <= lower_limit:
            raise InputError(
                f"A logarithm needs a lowest value above {lower_limit:g}; it is "
                "stated to "
                f"be {low:g}.",
                field="value_scale",
                hint="Choose the linear scale, or state a higher lower bound.",
            )
        return ValueScale(low, high, kind, self.log_offset)

    def family_of_waves(self, facts: PublicFacts) -> str:
        """The family of the basis: "cosine" or "fourier", chosen or by what is stated of curves."""
        return self.basis or ("fourier" if facts.periodic else "cosine")

    def used_facts(self, facts: PublicFacts) -> frozenset[str]:
        return frozenset({"periodic"} if self.family_of_waves(facts) == "fourier" else ())

    # -- fixed before any reading is looked at ------------------------------------------------

    def why_not_published(self, budget: Budget) -> str:
        """Nothing: all 16 releases are Gaussian and pass through the transcript."""
        return ""

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> PercentileFeasibility:
        """N against what percentile curves need: more for outer percentiles."""
        min_size = _MIN_COARSE if self.coarse == "show" else _MIN
        outer = float(min(self.levels[0], 1 - self.levels[-1]))
        effective = effective_size(sizes, one_per_server(budgets, sizes.n_servers))
        return PercentileFeasibility(effective, needed=max(min_size, _READINGS_BELOW / outer))

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> PercentilePlan:
        """Waves, width of clipping and ledger, from sizes and budgets alone."""
        if not public.facts.design.is_known:
            raise InputError(
                "Percentile curves need a statement of how observation times come about; they are "
                "stated to be unknown.",
                field="design",
                hint="From how the study was planned: times spread evenly or by a density, common "
                "times, visits a fixed gap apart, or windows.",
            )
        if any(budget.is_private and budget.is_pure for budget in budgets):
            raise InputError(
                "δ must be above 0 for percentile curves.",
                field="delta",
                hint="With δ = 0 the noise of 16 releases would be about ten times as "
                "large: take a small δ, or the mean curve.",
            )
        sizes, facts = public.sizes, public.facts
        verdict = self.feasibility(sizes, budgets)
        effective, scale = min(verdict.effective_size, 1e6), self.scale(facts)
        shape = next(waves for limit, waves in _SHAPES if effective < limit)
        by_sampling = math.ceil(1.25 * (sizes.n_curves * max(sizes.fewest_per_curve, 1)) ** 0.25)
        max_waves = _MAX_WAVES if effective < _MANY else _MAX_OF_MANY
        centre = max(1, min(max_waves, by_sampling + 3, round(0.75 * math.sqrt(effective))))
        if self.family_of_waves(facts) == "fourier":
            centre |= 1
        limits = np.array(self.stated_limits(facts))
        share = 0.0 if self.design == "stated" else first_share(verdict.effective_size, pure=False)
        first = FirstMessage.planned(facts.design, effective, share, pure=False) if share else None
        of_facts = [] if first is None else [(first.step, share)]
        return PercentilePlan(
            budgets,
            verdict,
            max(centre, shape),
            min(shape, 5),
            shape,
            min(max(effective / _WIDTH_FROM, _WIDTH), _WIDEST),
            tuple(scale(limits).tolist()),
            first,
            share,
            spends=ledger(sizes, budgets, verdict, [*of_facts, *releases(1 - share)]),
        )

    # -- releases -----------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[PercentilePlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Percentile curves on the drawing grid, with their bands; see `Mechanism.fitted`."""
        scale, levels, grid = self.scale(data.facts), self.levels, drawing_grid()
        shape = (len(plans), data.n_repeats, draws, len(levels), len(grid))
        released = np.full(shape, scale.back(np.zeros(())))
        lower, upper = np.full((2, *shape), np.nan)
        beyond = np.zeros(shape[:3])
        not_normal, has_details, spread_has_details = np.zeros((3, *shape[:3]), dtype=bool)
        noise_free = np.zeros((len(plans), data.n_repeats, len(levels), len(grid)))
        shares: dict[int, list[tuple[Array, ...]]] = {}
        fit = self.fit(data, plans, draws, rng)
        for k, repeats, surface in fit.surfaces(plans):
            curves = self._percentiles(surface, data.facts)
            noise_free[k, repeats] = curves[:, -1]
            if plans[k].verdict.is_feasible:
                released[k, repeats] = curves[:, :-1]
                limits = self._to_the_ends(
                    plans[k], surface, data.facts, surface.band(levels, self.band == "simultaneous")
                )
                lower[k, repeats], upper[k, repeats] = (scale.back(end[:, :-1]) for end in limits)
                has_details[k, repeats] = self._has_details(
                    plans[k], surface, limits[1] - limits[0], data.facts
                )[:, :-1]
                spread_has_details[k, repeats] = self._spread_has_details(
                    plans[k], surface, data.facts
                )[:, :-1]
                if plans[k].limits:
                    shares.setdefault(k, []).append(
                        tuple(
                            part[:, :-1]
                            for part in surface.shares_in_ranges(np.array(plans[k].limits))
                        )
                    )
                of_shares = shape_of_shares(surface, len(LEVELS))
                is_skewed = (np.abs(of_shares.asymmetry) > _ASYMMETRIC) & (
                    np.abs(of_shares.curvature) > _CURVED
                )
                not_normal[k, repeats] = ((of_shares.departure > _NOT_NORMAL) | is_skewed)[:, :-1]
                beyond[k, repeats] = surface.time_beyond(levels).max(axis=-1)[:, :-1]
        half = (upper - lower) / 2
        return Fit(
            basis=PointValues(tuple(grid.tolist())),
            coefficients=released,
            unprotected=noise_free,
            functions=tuple(f"{100 * level:g} %" for level in levels),
            intervals=Intervals((lower + upper) / 2, half, half / -ndtri(0.025), self.band),
            cautions=(
                *check_words.cautions(data.facts, bounds_of(data.facts), fit.heard),
                Caution(NOT_NORMAL, not_normal, SaidIn.LINE),
                Caution(BEYOND, beyond > _BEYOND, SaidIn.LINE),
                Caution(FINER_DETAIL, has_details, SaidIn.LINE),
                Caution(SPREAD_DETAIL, spread_has_details, SaidIn.LINE),
                *self._cautions(data, plans, released.shape[:3]),
            ),
            checks=fit.heard.checks(),
            released=tuple(self._in_ranges(data.facts, shares.get(k)) for k in range(len(plans))),
        )

    def _in_ranges(
        self, facts: PublicFacts, shares: Sequence[tuple[Array, ...]] | None
    ) -> TimeInRanges | None:
        """The time in ranges of all data sets; None where no limit is stated, or no release."""
        return (
            None
            if shares is None
            else TimeInRanges(
                self.stated_limits(facts),
                *(np.concatenate(part) for part in zip(*shares, strict=True)),
            )
        )

    def fit(
        self, data: CurveData, plans: Sequence[PercentilePlan], draws: int, rng: np.random.Generator
    ) -> PercentileFit:
        facts = data.facts
        return self.fit_class(
            data,
            self.scale(facts)(data.values),
            self.family_of_waves(facts),
            facts.design,
            plans,
            draws,
            bounds_of(facts),
            rng,
        )

    def _to_the_ends(
        self,
        plan: PercentilePlan,
        surface: ShareSurface,
        facts: PublicFacts,
        limits: tuple[Array, Array],
    ) -> tuple[Array, Array]:
        """Bands (repeats, columns, T, G) that reach to where slopes at the ends take the centre.

        Cosines are flat at both ends. What they leave out of a centre with slopes follows from its
        released coefficients, and counts where it is twice its standard error.
        """
        assert surface.centre is not None and surface.of_centre is not None
        size = surface.centre.shape[-1]
        tails = Basis(size, family=self.family_of_waves(facts)).end_tails(size, drawing_grid())
        if tails is None:
            return limits
        rows = tails[:, :size]
        shift = surface.centre @ rows.T
        shift = np.where(np.abs(shift) > 2 * standard_errors(surface.of_centre, rows), shift, 0.0)
        lower, upper = limits
        return (
            np.clip(lower + np.minimum(shift, 0.0)[..., None, :], -1.0, 1.0),
            np.clip(upper + np.maximum(shift, 0.0)[..., None, :], -1.0, 1.0),
        )

    def _has_details(
        self, plan: PercentilePlan, surface: ShareSurface, widths: Array, facts: PublicFacts
    ) -> NDArray[np.bool_]:
        """True if the released centre shows that there are too few functions: (repeats, columns).

        `widths` (repeats, columns, T, G) are those of the bands of all percentiles, on [−1, 1].
        """
        assert surface.centre is not None and surface.of_centre is not None
        basis = Basis(plan.centre_size, family=self.family_of_waves(facts))
        half_width = np.median(widths.mean(axis=-1), axis=-1) / 2
        check = (basis, surface.centre, surface.of_centre, half_width)
        return np.asarray(
            band_checks.have_finer_detail(*check, _MATERIAL[basis.family])
            | band_checks.have_steep_ends(*check)
        )

    def _spread_has_details(
        self, plan: PercentilePlan, surface: ShareSurface, facts: PublicFacts
    ) -> NDArray[np.bool_]:
        """True if shares show too few functions for the spread: (repeats, columns)."""
        basis = Basis(plan.shape_size, family=self.family_of_waves(facts))
        coefficients, covariance = log_spread(surface, len(LEVELS))
        half_width = NORMAL * standard_errors(covariance, surface.waves).mean(axis=-1)
        return band_checks.have_finer_detail(
            basis, coefficients, covariance, half_width, _MATERIAL_OF_SPREAD, _MISFIT_OF_SPREAD
        )

    def _percentiles(self, surface: ShareSurface, facts: PublicFacts) -> Array:
        """Percentile curves in response units: (…, T, G)."""
        scale = self.scale(facts)
        curves = scale.back(surface.percentiles(self.levels))
        piled_up = self.piled_up(facts)
        if piled_up is None:
            return curves
        below = surface.shares_below(scale(np.array([piled_up])))
        return np.where(self.levels[:, None] <= below, piled_up, curves)

    def _cautions(
        self, data: CurveData, plans: Sequence[PercentilePlan], shape: tuple[int, ...]
    ) -> Iterator[Caution]:
        def at(chosen: Sequence[bool]) -> NDArray[np.bool_]:
            return np.broadcast_to(np.array(chosen)[:, None, None], shape).copy()

        released = [plan.verdict.is_feasible for plan in plans]
        yield Caution(
            COARSE,
            at(
                [
                    is_released and plan.verdict.effective_size < _RELIABLE
                    for is_released, plan in zip(released, plans, strict=True)
                ]
            ),
            SaidIn.LINE,
        )
        if _is_hardly_observed(data.facts.design):
            yield Caution(HARDLY_OBSERVED, at(released), SaidIn.HEADING)
        if data.facts.design.law is TimeLaw.COMMON:
            n_times = len(data.facts.design.times)
            yield Caution(
                FEW_COMMON_TIMES,
                at(
                    [
                        is_released and n_times < plan.centre_size
                        for is_released, plan in zip(released, plans, strict=True)
                    ]
                ),
                SaidIn.STATED,
            )
        if data.sizes.fewest_per_curve <= 2:
            yield Caution(ONE_READING, at(released), SaidIn.STATED)
        if data.sizes.n_servers > 1:
            yield Caution(SITES_BY_PRECISION, at(released), SaidIn.STATED)

    def limit_of_band(self, facts: PublicFacts) -> str:
        return (
            "The bands cover sampling variability and privacy noise, not details finer than "
            "the released basis functions. Groups or outliers of about the share of a "
            "percentile, such as 5 % of people at the 95 % curve, do not show in a release and "
            "can make them miss."
        )

    def truth_of(self, data: CurveData) -> Truth | None:
        """The percentile curves that are asked for, read between those that the population states.

        None where what is known of the data is one curve, such as a mean.
        """
        truth = data.truth
        if truth is None or truth.node_values.shape[:-1] != (len(PERCENTAGES),):
            return None
        position = 100 * self.levels - PERCENTAGES[0]
        below = np.minimum(position.astype(int), len(PERCENTAGES) - 2)
        weight = (position - below)[:, None]

        def between(rows: Array) -> Array:
            return np.asarray((1 - weight) * rows[below] + weight * rows[below + 1])

        return replace(
            truth, grid_values=between(truth.grid_values), node_values=between(truth.node_values)
        )

    # -- without protection ---------------------------------------------------------------------

    def exact_fit(self, data: CurveData) -> Fit:
        """Least squares of indicators of 25 thresholds, every person with the same weight."""
        curves = np.stack([self._exact(data, k) for k in range(data.n_repeats)])
        return Fit.exact(
            PointValues(tuple(drawing_grid().tolist())),
            curves,
            functions=tuple(f"{100 * level:g} %" for level in self.levels),
        )

    def _exact(self, data: CurveData, repeat: int) -> Array:
        """Percentile curves of one data set: (T, G)."""
        scale = self.scale(data.facts)
        values, times = scale(data.values[repeat]), data.times[repeat]
        weights = np.repeat(1.0 / np.maximum(data.counts, 1), data.counts)
        weights = np.where(np.isfinite(values) & np.isfinite(times), weights, 0.0)
        values, times = np.nan_to_num(values), np.nan_to_num(times)
        order = np.argsort(values)
        position = np.cumsum(weights[order]) / max(weights.sum(), 1e-300)
        heights = np.unique(
            values[order][np.minimum(np.searchsorted(position, _BASELINE_LEVELS), len(values) - 1)]
        )
        family = self.family_of_waves(data.facts)
        basis = Basis(_BASELINE[family], family=family)
        waves = basis(times) * np.sqrt(weights)[:, None]
        below = (values[:, None] <= heights) * np.sqrt(weights)[:, None]
        fit = np.linalg.lstsq(waves.T @ waves, waves.T @ below, rcond=1e-12)[0]
        shares = -non_increasing_fit(-(basis(drawing_grid()) @ fit))  # (G, heights)
        probits = ndtri(np.clip(shares, MIN_SHARE, 1 - MIN_SHARE))
        probits = probits + 1e-7 * np.arange(len(heights))
        at = ndtri(self.levels)
        curves = np.stack([np.interp(at, row, heights) for row in probits], axis=-1)
        return scale.back(curves)


def _is_hardly_observed(design: Design) -> bool:
    """True if the stated density of times leaves a part of the time range nearly empty."""
    density = stated_density(design)
    if density is None:
        return False
    return bool((density(drawing_grid()) < _HARDLY).mean() > _IN_A_PART)


def _numbers(text: str, field: str, example: str) -> Array:
    """Finite numbers with commas between them; anything else is refused."""
    try:
        numbers = np.array([float(part) for part in text.split(",") if part.strip()])
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(
            f"{brief(text)} are no numbers with commas between them.",
            field=field,
            hint=f"For example {example}.",
        )
    return numbers
