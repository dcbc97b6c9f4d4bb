"""The public side of adaptive estimators: parameters, the frame of a release, its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import WIDER, WIDER_BEFORE, SiteLocations
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import (
    Array,
    Band,
    Budget,
    Caution,
    CurveData,
    CurveStore,
    Design,
    Fit,
    Late,
    LateCautions,
    PublicFacts,
    SaidIn,
    ServerParts,
    Sizes,
)
from engine.mechanisms.base import Mechanism, one_per_server
from engine.mechanisms.families.adaptive import band_checks, check_words
from engine.mechanisms.families.adaptive.checked_facts import FAR_SHARE, first_share
from engine.mechanisms.families.adaptive.constants import (
    MAX_FUNCTIONS,
    SHARES,
    SHARES_NO_BAND,
    most_innovation,
)
from engine.mechanisms.families.adaptive.fits import AdaptiveFit, AdaptivePlan, Evidence
from engine.mechanisms.families.adaptive.rules import effective_size
from engine.mechanisms.families.adaptive.scales import ObservationScale, bounds_of
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.between_times import BetweenTimes, are_few
from engine.numerics.deviations import are_told_apart
from engine.numerics.moments import Moments, curve_moments
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.regression_moments import RegressionMoments
from engine.privacy.feasibility import Feasibility

STEPS_DISAGREE = (
    "The last step of this release moved the curve by more than noise explains. Observation times "
    "may differ from your statement, for example where people drop out. Do not rely on the band."
)
FEATURES = (
    "The curve has details finer than this release can draw. The band can miss the truth there."
)
GAPS = "Between the common times, the curve and band assume a smooth mean."
SITES_DIFFER = (
    "People differ between sites, as their messages show. Sites have weight by precision and not "
    "by people. So this is not the average of all people, nor is the band for it."
)
SITES_MAY_DIFFER = (
    "Sites have weight by precision and not by people. If sites differ, this is not the average "
    "of all people. The noise here is too large to show it."
)


_NO_ZERO, _NEGLIGIBLE = 1e-300, 1e-12

A = TypeVar("A", bound=AdaptivePlan)
E = TypeVar("E", bound=Evidence)


@dataclass(frozen=True, kw_only=True)
class AdaptiveRelease(Mechanism[CurveData, A], Generic[A, E]):
    """The adaptive mean and the adaptive coefficients: a mean is the model without covariates.

    A model says its size (`size`), its functions (`names`), what is kept of its curves (`curves`),
    the fit of its plans (`model_fit`) and what is known against a release (`cautions`).
    """

    family = "gradient"
    averages_all = True
    reads_blocks = True
    reads_any_size = True

    basis: str | None  # each model says what it may be
    design: str
    truncation: int | None = param(
        None,
        "Number of basis functions",
        "More: less bias, more noise. Default: from the public sizes.",
        low=1,
        high=33,
        symbol="r",
    )
    band: str = param(
        "simultaneous",
        "Confidence band",
        "Simultaneous: covers the whole curve in 95 % of releases. Pointwise: covers it in 95 % at "
        "each time. None: its share of the budget goes to the curve.",
        choices=("simultaneous", "pointwise", "none"),
    )
    shrink: str | None = param(
        None,
        "Shrink small coefficients",
        "Shrink coefficients no larger than their noise towards zero. Default: where it helps.",
        choices=("always", "never"),
    )
    releases: str | None = param(
        None,
        "Joint releases",
        "Joint: sizes and second moments are sent together with the location, at no cost of their "
        "own. Separate: in releases of their own. Default: joint where that was measured to be "
        "more accurate.",
        choices=("joint", "separate"),
        earlier="separate",
    )
    edition: str = param(
        "current",
        "Edition",
        "0.6: as up to that version, so that stored releases are made again. Simultaneous bands "
        "are then wider by 1.1 in place of 1.05, and coefficients are shrunk each on its own.",
        choices=("current", "0.6"),
        earlier="0.6",
    )

    checks: float | None = param(
        None,
        "Share of the budget for checks",
        "The first message, about the stated facts. Default: 2 to 10 %, less for large studies.",
        low=0.001,
        high=0.2,
    )

    def ignores_order(self, facts: PublicFacts) -> bool:
        return facts.design.is_known and self.law_of_times(facts).is_known

    # -- what a model says ------------------------------------------------------------------

    def names(self, facts: PublicFacts) -> tuple[str, ...]:
        """The names of the functions of a model with several; none for a single one."""
        return ()

    def n_functions(self, sizes: Sizes) -> int:
        """Count the functions that are estimated together."""
        return 1

    def functions(self, size: int, facts: PublicFacts) -> Basis:
        """The first waves."""
        raise NotImplementedError

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts) -> int:
        """Choose the number r of functions at effective size N, infinite without a budget."""
        raise NotImplementedError

    def scale(self, facts: PublicFacts) -> ObservationScale:
        """Map [−1, 1] to response units: the bounds."""
        return bounds_of(facts)

    def law_of_times(self, facts: PublicFacts) -> Design:
        """Return the law of observation times, as far as this release relies on it."""
        return facts.design

    def is_between_times(self, facts: PublicFacts) -> bool:
        """True where common times are too few to tell apart all functions that may be kept."""
        most = max(MAX_FUNCTIONS, self.truncation or 0)
        return self._is_current and are_few(self.functions(most, facts), self.law_of_times(facts))

    def drawn(self, basis: Basis, facts: PublicFacts) -> Basis:
        """Draw between few common times through the values there; elsewhere as functions are."""
        if not self.is_between_times(facts):
            return basis
        return BetweenTimes.of(basis, self.law_of_times(facts).times)

    def limit_between_times(self, facts: PublicFacts) -> str:
        """Say what a band cannot hold between few common times; nothing where times are not few."""
        return GAPS if self.is_between_times(facts) else ""

    def curves(self, data: CurveData, moments: Moments) -> Moments | RegressionMoments:
        """Keep what is needed of the curves beside their moments."""
        return moments

    def model_fit(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[A],
        draws: int,
        rng: np.random.Generator,
    ) -> AdaptiveFit[E]:
        """Make what fits these plans."""
        raise NotImplementedError

    def cautions(
        self, facts: PublicFacts, plans: Sequence[A], fit: Fit, evidence: E
    ) -> Iterator[Caution]:
        """Yield reasons, from releases or stated facts, against taking a release as it is."""
        raise NotImplementedError

    def narrow_features(
        self, facts: PublicFacts, plans: Sequence[A], band: Band, half_width: Array
    ) -> tuple[NDArray[np.bool_], ...]:
        """Ask releases for details or ends that are too fine or steep for their functions.

        Not where common times do not tell these apart: nothing is known of details between few.

        `half_width` (plans, repeats, draws[, functions]) is that of pointwise bands, averaged over
        the time range. Returns two flags (plans, repeats, draws), True if this holds for some
        function.
        """
        told = np.zeros((2, *half_width.shape), dtype=bool)
        for k, plan in enumerate(plans):
            functions, part = self.functions(plan.size, facts), slice(plan.size)
            if plan.feasible and are_told_apart(functions, self.law_of_times(facts)):
                covariance = band.covariance[k, ..., part, part]
                check = (functions, band.centre[k, ..., part], covariance, half_width[k])
                told[:, k] = (
                    band_checks.have_finer_detail(*check),
                    band_checks.have_steep_ends(*check),
                )
        return tuple(np.asarray(told.reshape(*told.shape[:4], -1).any(axis=-1)))

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[A], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Locations, and second moments for the band; see `Mechanism.fitted`."""
        facts, scale = data.facts, self.scale(data.facts)
        names = self.names(facts)
        basis = self.functions(max(plan.size for plan in plans), facts)
        model = self.model_fit(data, basis, plans, draws, rng)
        unit = model.fitted()
        shrinks = np.array([plan.shrinks for plan in plans])
        square = scale.half**2
        shrink = shrunk if self._is_current else shrunk_each
        fit = Fit(
            basis=self.drawn(basis, facts),
            functions=names,
            basis_sizes=tuple(plan.size for plan in plans),
            coefficients=_in_response_units(
                shrink(unit.centre, unit.covariance, shrinks), scale, names
            ),
            unprotected=_in_response_units(
                shrink(unit.noise_free, unit.noise_free_covariance, shrinks), scale, names
            ),
            band=None
            if self.band == "none"
            else Band(
                _in_response_units(unit.centre, scale, names),
                square * model.heard.widened(unit.covariance),
                self.band,
                people=None
                if unit.people is None
                else replace(
                    unit.people,
                    stretch=scale.half * unit.people.stretch,
                    privacy=square * unit.people.privacy,
                ),
                wider=WIDER if self._is_current else WIDER_BEFORE,
                sites=None
                if unit.sites is None
                else SiteLocations(
                    _in_response_units(unit.sites.centres, scale, names),
                    square * unit.sites.variances,
                ),
            ),
            parts=ServerParts(
                unit.parts.weight, square * unit.parts.noise, square * unit.parts.sampling
            ),
            offset=None if scale.is_flat else scale.middle,
        )
        evidence = model.evidence(unit)
        return replace(
            fit,
            checks=Late(evidence.heard.checks),
            cautions=LateCautions(partial(self._judged, facts, plans, fit, evidence)),
        )

    def _judged(
        self, facts: PublicFacts, plans: Sequence[A], fit: Fit, evidence: E
    ) -> tuple[Caution, ...]:
        """Collect cautions from the steps of every model, and those of this one."""
        n_functions = max(len(fit.functions), 1)
        largest_innovation = np.array([most_innovation(plan.size * n_functions) for plan in plans])
        of_steps = [
            Caution(text, evidence.released & applies, said)
            for text, said, applies in (
                (
                    STEPS_DISAGREE,
                    SaidIn.HEADING,
                    evidence.innovations > largest_innovation[:, None, None],
                ),
                (SITES_DIFFER, SaidIn.LINE, evidence.sites_differ),
                (SITES_MAY_DIFFER, SaidIn.STATED, evidence.hides_sites & ~evidence.sites_differ),
            )
        ]
        return tuple(
            caution
            for caution in (
                *check_words.cautions(facts, self.scale(facts), evidence.heard),
                *of_steps,
                *self.cautions(facts, plans, fit, evidence),
            )
            if caution.applies.any()
        )

    def shares_of_checks(self, effective: float, pure: bool) -> tuple[float, float]:
        """Shares of the first and of the last message, both about stated facts."""
        if self.design == "stated":
            return 0.0, 0.0
        first = first_share(effective, pure) if self.checks is None else self.checks
        return first, 0.0 if pure else FAR_SHARE

    def exact_fit(self, data: CurveData) -> Fit:
        """Least squares on all curves with the basis size of an unlimited budget, and its band.

        Where common times do not tell that many functions apart, a curve through what they tell.
        """
        facts = data.facts
        names, scale = self.names(facts), self.scale(facts)
        basis, ridge = least_squares.shown_by(
            self.functions(self.size(data.sizes, math.inf, facts), facts),
            self.law_of_times(facts).times,
        )
        curves, ridges = self.in_unit_scale(data, basis), np.tile(ridge, max(len(names), 1))
        values = least_squares.fit(curves, ridges)
        covariance = scale.half**2 * least_squares.covariance(curves, values, ridges)
        if names:
            values = values.reshape(len(values), len(names), basis.size)
            covariance = least_squares.within_functions(
                covariance.reshape(*values.shape, *values.shape[1:])
            )
        return Fit.exact(
            self.drawn(basis, facts),
            _in_response_units(values, scale, names),
            covariance,
            "pointwise" if self.band == "none" else self.band,
            functions=names,
            offset=None if scale.is_flat else scale.middle,
        )

    def in_unit_scale(self, data: CurveData, basis: Basis) -> Any:
        """Keep what is needed of all curves, responses mapped to [−1, 1]."""
        values = self.scale(data.facts)(data.times, data.values)
        return self.curves(data, curve_moments(data.times, values, data.counts, basis))

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> Feasibility:
        """Judge if these public sizes and budgets can give anything useful."""
        effective = effective_size(sizes, one_per_server(budgets, sizes.n_servers))
        return Feasibility(effective, self.n_functions(sizes))

    def _shrinks(self, is_large: bool, size: int, facts: PublicFacts) -> bool:
        """True where coefficients are shrunk; by rule only if common times tell them apart.

        Elsewhere each is uncertain, although together they are not. Up to version 0.6 the sizes had
        to be large as well.
        """
        if self.shrink is not None:
            return self.shrink == "always"
        by_rule = is_large or self._is_current
        return by_rule and are_told_apart(self.functions(size, facts), self.law_of_times(facts))

    @property
    def _is_current(self) -> bool:
        return self.edition == "current"

    def check_edition(self, size: int, facts: PublicFacts) -> None:
        """Refuse few common times in the edition that drew between them in another way."""
        if not self._is_current and are_few(self.functions(size, facts), self.law_of_times(facts)):
            raise InputError(
                "This version draws curves between few common times in another way "
                "than version 0.6.",
                field="edition",
                hint="Use version 0.6 to make its releases again.",
            )

    @property
    def _usual_shares(self) -> tuple[float, ...]:
        return SHARES_NO_BAND if self.band == "none" else SHARES


def shrunk(centre: Array, covariance: Array, shrinks: Array) -> Array:
    """Shrink coefficients (plans, …, r) by factors that fall with frequency, where a plan does so.

    Of all factors f_1 ≥ … ≥ f_r within [0, 1] these have the least estimated squared error
    Σ (1 − f_l)²(a_l² − C_ll) + f_l² C_ll: the isotonic fit of 1 − C_ll/a_l² with weights a_l²
    (Beran and Dümbgen 1998, Annals of Statistics 26, 1826–1856). Neighbours decide together, so
    that no coefficient is put to zero for its own noise. On seven mean curves (3 to 30
    observations, 250 and 1000 people, ε = .5 to 8) root mean squared errors are .18 to 1.09 of
    those of the coefficients as they are, .83 on average. Shrunk one by one they were .23 to 1.36,
    and growth had a larger error at ε = 2 than at 1.75, as shrinking began there.
    """
    out = centre.copy()
    for k in np.flatnonzero(shrinks):
        variance = np.nan_to_num(np.diagonal(covariance[k], axis1=-2, axis2=-1))
        squares = centre[k] ** 2
        squares = squares + _NEGLIGIBLE * squares.sum(axis=-1, keepdims=True) + _NO_ZERO
        factors = non_increasing_fit(1 - variance / squares, squares)
        out[k] = centre[k] * np.clip(factors, 0.0, 1.0)
    return out


def shrunk_each(centre: Array, covariance: Array, shrinks: Array) -> Array:
    """Shrink as up to version 0.6: a_l · max(0, 1 − 2C_ll/a_l²), each coefficient on its own."""
    variance = np.nan_to_num(np.diagonal(covariance, axis1=-2, axis2=-1))
    left = np.maximum(0.0, 1 - 2 * variance / np.maximum(centre**2, _NO_ZERO))
    return np.where(shrinks.reshape(-1, *[1] * (centre.ndim - 1)), centre * left, centre)


def _in_response_units(
    coefficients: Array, scale: ObservationScale, names: tuple[str, ...]
) -> Array:
    """Undo the map to [−1, 1]: (…, r), or (…, K, r) where functions have names.

    A flat middle goes into the constant wave, that of the intercept where there are several.
    """
    out = np.asarray(coefficients * scale.half)
    if scale.is_flat:
        curve = out[..., 0, :] if names else out
        curve[..., 0] += scale.middle.heights[0]
    return out
