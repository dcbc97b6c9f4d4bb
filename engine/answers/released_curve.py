"""A release as far as questions need it: coefficients, their covariance and public facts.

The curve is read off the unshrunk coefficients a, to which the covariance C belongs. Two readings
of the same numbers are possible: plain cosines, flat at both ends, and `numerics.end_slopes`, with
slopes in place of the last two waves. The second holds the true curve up to its ends, if no detail
beyond the kept waves is more than an end tail. The release itself is asked whether that is so:
fitted with two waves fewer, it must fit (χ² with two degrees of freedom, 5 %).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from engine.answers.components import PrincipalComponents, components_of
from engine.answers.group_curves import GroupCurves, ReleasedGroups, group_curves
from engine.answers.reply import Interval
from engine.answers.spread import PERSON_FROM, ReleasedSpread, refusal_of_spread, ten_digits
from engine.answers.times import POINTS, STEP, GridBand, grid
from engine.core.bands import (
    NORMAL,
    WIDER,
    SiteLocations,
    outermost,
    simultaneous_factor,
    standard_errors,
)
from engine.core.enumerations import Enumeration
from engine.core.errors import InputError, brief
from engine.core.types import Array, Design, Estimate, PublicFacts
from engine.numerics.bases import Basis
from engine.numerics.between_times import BetweenTimes
from engine.numerics.deviations import are_told_apart
from engine.numerics.end_slopes import CHECKED_FROM, MIN_WAVES, cosine_rows, detail, slope_rows
from engine.numerics.public_curves import PublicCurve
from engine.privacy import feasibility

_PASSED = 0.05  # least p of the check of details
_FEW_WAVES = 8  # below which a release with finer detail tells level and trend only

LEVEL_AND_TREND = "Level and trend only: too few people at this budget for more."
AS_FAR_AS_DRAWN = (
    "There may be finer detail than the release can draw; the interval holds both ways to draw it."
)
BETWEEN_TIMES = "Between and beyond the few common times, the answer assumes a smooth mean."
UNTESTED = "Coverage was not tested for releases of this kind."
_NOT_ASKED = (
    "Questions are about one mean curve with a covariance of its coefficients; this "
    "release is none, so that no interval can be given."
)
_TOO_FEW = "Too few people at this budget: the release shows nothing of the curve."
_TOO_FEW_WAVES = "The release has fewer than four basis functions: ask for its level only."


class Rows(Protocol):
    """The rows w(t) by which coefficients are read."""

    def __call__(self, times: Array | float, order: int) -> Array: ...


Curve = Callable[[Array | float], Array]
Functional = Callable[[Curve], Array]


class Status(Enumeration):
    """Readability of a release."""

    WHOLE = "whole"
    COARSE = "coarse"
    NONE = "none"


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasedCurve:
    """One released mean curve."""

    facts: PublicFacts
    centre: Array  # (r,): a, in response units
    covariance: Array  # (r, r): C, of privacy noise and of sampling variability
    family: str = "cosine"
    offset: PublicCurve | None = None
    effective_size: float = math.inf  # N = nμ
    n_people: int = 0
    is_pure: bool = False  # whether δ = 0, so that the noise is not normal
    # whether all answers are to hold together with 95 %: they are then read off the band
    jointly: bool = False
    # whether the check of details counts as passed; None: as the release itself says. For
    # differences, which are as fine as both of their parts.
    passed: bool | None = None
    spread: ReleasedSpread | None = None  # how people's curves differ, where the release tells it
    # common times, on [0, 1], where they are so few that the curve is drawn between them
    times: tuple[float, ...] = ()
    # by how much its simultaneous band is wider than normal deviations make it
    wider: float = WIDER
    # what each of several sites said of its own people; None where that is not told
    groups_sent: ReleasedGroups | None = None
    has_sites: bool = False  # whether several sites sent messages of their own

    def __post_init__(self) -> None:
        size = len(self.centre)
        if self.family not in ("cosine", "fourier"):
            raise InputError(
                f"There is no basis {brief(self.family)}.",
                field="basis",
                hint="Questions need cosine or fourier.",
            )
        if self.covariance.shape != (size, size):
            raise InputError("The covariance does not fit the coefficients.", field="covariance")
        if not (np.isfinite(self.centre).all() and np.isfinite(self.covariance).all()):
            raise InputError(_NOT_ASKED, field="covariance", hint="Release with a confidence band.")
        if (np.diagonal(self.covariance) < 0).any():
            raise InputError("The card has a negative variance.", field="covariance")
        if self.spread is not None and len(self.spread.stretch) != size:
            raise InputError(
                "The second moments do not fit the coefficients.", field="second_moments"
            )

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        facts: PublicFacts,
        budget: int = 0,
        repeat: int = 0,
        draw: int = 0,
        site_names: tuple[str, ...] = (),
        **other: Any,
    ) -> ReleasedCurve:
        """One release of an estimate.

        Numbers are kept to ten digits, as a guarantee card has them, so that a card and an
        estimate give equal answers.
        """
        band, where = estimate.band, (budget, repeat, draw)
        if band is None or not can_be_asked(estimate, *where):
            raise InputError(
                _NOT_ASKED,
                field="mechanism",
                hint="Choose the adaptive mean, with a confidence band.",
            )
        assert isinstance(estimate.basis, Basis)
        size = estimate.basis_sizes[budget]
        tuning = estimate.tuning[budget] if estimate.tuning else {}
        effective = float(ten_digits(np.array(tuning.get("effective_size", math.inf))))
        spends = estimate.spends[budget]
        return cls(
            facts=facts,
            centre=ten_digits(band.centre[where][:size]),
            covariance=ten_digits(band.covariance[where][:size, :size]),
            family=estimate.basis.family,
            offset=_public_curve(estimate),
            effective_size=effective,
            spread=None
            if band.people is None
            else ReleasedSpread.of(band.people.of(*where), size, facts, effective),
            times=estimate.basis.times if isinstance(estimate.basis, BetweenTimes) else (),
            wider=band.wider,
            groups_sent=None
            if band.sites is None
            else ReleasedGroups.of(_ten_digits_of(band.sites.of(*where)), size, site_names),
            has_sites=band.sites is not None,
            is_pure=any(line.budget.is_private and line.budget.is_pure for line in spends),
            **other,
        )

    def together(self) -> ReleasedCurve:
        """The same curve, of which all answers hold at once with 95 %."""
        return replace(self, jointly=True)

    # -- how it can be read -----------------------------------------------------------------

    @property
    def size(self) -> int:
        """r, how many coefficients."""
        return len(self.centre)

    @cached_property
    def p_detail(self) -> float:
        """P-value of the misfit, of r − 4 waves and two slopes, if they suffice."""
        if self.size < CHECKED_FROM:
            return math.nan
        return float(detail(self.centre, self.covariance)[0])

    @cached_property
    def status(self) -> Status:
        """Readability of the release."""
        if self.size < MIN_WAVES or self.effective_size < feasibility.NOT_FEASIBLE:
            return Status.NONE
        if self.is_pure or not are_told_apart(self.waves, Design.common(self.times)):
            return Status.COARSE
        if self.family == "fourier":
            return Status.WHOLE
        passed = self.size >= CHECKED_FROM and self.p_detail >= _PASSED
        return Status.WHOLE if (passed if self.passed is None else self.passed) else Status.COARSE

    @property
    def is_whole(self) -> bool:
        return self.status is Status.WHOLE

    @property
    def is_shown_raw(self) -> bool:
        """True if the curve is read as plain cosines or waves alone, untested."""
        return self.family == "fourier" or self.is_pure

    @property
    def refusal(self) -> str:
        """Why nothing can be answered; empty where something can."""
        if self.status is not Status.NONE:
            return ""
        return _TOO_FEW if self.effective_size < feasibility.NOT_FEASIBLE else _TOO_FEW_WAVES

    @property
    def has_flat_offset(self) -> bool:
        return self.offset is None or len(set(self.offset.heights)) == 1

    def refusal_of_derivative(self, order: int, min_size: int) -> str:
        """Why a derivative is not told; empty where it is."""
        what = "How fast it changes" if order == 1 else "How its speed changes"
        if self.refusal:
            return self.refusal
        if self.family == "fourier":
            return f"{what} was not tested with a Fourier basis."
        if not self.has_flat_offset:
            return f"{what} stays open: the public prior curve is a broken line."
        if not self.is_whole or self.size < min_size:
            return (
                f"{what} stays open: the curve may have finer detail than "
                f"{self.size} basis functions can draw."
            )
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for every answer."""
        rough = self.status is Status.COARSE and not self.is_pure and not self.times
        few = self.effective_size < feasibility.COARSE or (rough and self.size < _FEW_WAVES)
        return (
            (LEVEL_AND_TREND,) * few
            + (AS_FAR_AS_DRAWN,) * rough
            + (BETWEEN_TIMES,) * bool(self.times)
            + (UNTESTED,) * self.is_shown_raw
        )

    @property
    def waves(self) -> Basis:
        """The functions that coefficients belong to."""
        return Basis(self.size, family=self.family)

    @cached_property
    def row_maps(self) -> tuple[Rows, ...]:
        """The rows w(t) that can be meant; the first is drawn."""

        def plain(times: Array | float, order: int) -> Array:
            return (
                cosine_rows(self.size, times, order)
                if self.family == "cosine"
                else self.waves(np.asarray(times))
            )

        def sloped(times: Array | float, order: int) -> Array:
            return slope_rows(self.size, times, order)

        if self.times:
            ways = len(self._between_times(0.0))
            return tuple(partial(self._row_between_times, way) for way in range(ways))
        if self.is_shown_raw:
            return (plain,)
        return (sloped,) if self.is_whole else (plain, sloped)

    def _row_between_times(self, way: int, times: Array | float, order: int) -> Array:
        """One of the ways to draw a curve between few times; derivatives are of waves."""
        if order:
            return slope_rows(self.size, times, order)
        return self._between_times(times)[way].reshape(*np.shape(times), self.size)

    def _between_times(self, times: Array | float) -> tuple[Array, ...]:
        return self._drawn.readings(self.size, np.ravel(times)).rows

    @cached_property
    def _drawn(self) -> BetweenTimes:
        return BetweenTimes.of(self.waves, self.times)

    @property
    def outwards(self) -> float:
        """The share of the distance between `row_maps` by which limits go on outwards."""
        if not self.times:
            return 0.0
        return self._drawn.readings(self.size, np.zeros(1)).outwards

    # -- what it says -----------------------------------------------------------------------

    @cached_property
    def band(self) -> GridBand:
        """The curve and its simultaneous band."""
        return self._band(0)

    @cached_property
    def velocity(self) -> GridBand:
        """The first derivative, per unit time; see `refusal_of_derivative`."""
        return self._band(1)

    @cached_property
    def acceleration(self) -> GridBand:
        """The second derivative, per squared unit time; see `refusal_of_derivative`."""
        return self._band(2)

    def components(self) -> PrincipalComponents:
        """Principal components of people's curves, from the release and at no further cost.

        As many as the release tells, perhaps none; functions of time on [0, 1].

        Examples
        --------
        >>> from engine import api as pc
        >>> curves = pc.source("sparse_curves", mean="growth", n_curves=2000)
        >>> budget = pc.Budget(2, 1e-7)
        >>> done = pc.simulate_release(pc.simulate(curves), pc.mechanism("adaptive_mean"), [budget])
        >>> found = ReleasedCurve.of(done.estimate, curves.facts).components()
        >>> found.n_shown > 0, found.curves(np.array([0.0, 0.5])).shape[1]
        (True, 2)
        """
        reason = refusal_of_spread(self, PERSON_FROM)
        if reason or self.spread is None:
            raise InputError(
                reason, field="components", hint="Release with a larger budget or more people."
            )
        return components_of(self.spread)

    def groups(self, shrink: bool = True) -> GroupCurves:
        """Mean curves of the groups that were sites of the release, at no further cost.

        Drawn towards each other as far as their noise asks for it, or as sent.

        Examples
        --------
        >>> from engine import api as pc
        >>> curves = pc.source("sparse_curves", n_curves=2000, n_servers=20,
        ...                    n_observations_per_curve=24, times="common")
        >>> budget = pc.Budget(3, 1e-5)
        >>> done = pc.simulate_release(pc.simulate(curves), pc.mechanism("adaptive_mean"), [budget])
        >>> ReleasedCurve.of(done.estimate, curves.facts).groups().curves(np.array([0.5])).shape
        (20, 1)
        """
        return group_curves(self, shrink)

    def _band(self, order: int) -> GridBand:
        public = self.public(grid()) if order == 0 else np.zeros(POINTS)
        followed = np.array(self.times) if self.times and order == 0 else grid()
        middles, errors, factors = zip(
            *(
                (
                    rows(grid(), order) @ self.centre + public,
                    standard_errors(self.covariance, rows(grid(), order)),
                    float(simultaneous_factor(self.covariance, rows(followed, order), self.wider)),
                )
                for rows in self.row_maps
            ),
            strict=True,
        )
        half_widths = np.array(factors)[:, None] * np.array(errors)
        return GridBand(
            middles[0], *outermost(np.array(middles), half_widths, self.outwards), errors[0]
        )

    def public(self, times: Array | float) -> Array:
        """The public curve that is added, at times on [0, 1]: of their shape."""
        return np.zeros(np.shape(times)) if self.offset is None else self.offset(np.asarray(times))

    def linear(
        self, plus: Functional, minus: Functional | None = None, order: int = 0
    ) -> tuple[float, Interval]:
        """A linear function of the curve, or of its derivative of this order, with 95 % limits.

        `plus` takes a curve, a function of times, to its value, such as ``lambda f: f(t)``,
        increasing in the curve. Limits are the lower and the upper of all readings; together they
        are off the band.
        """

        def net(curve: Curve) -> Array:
            return np.asarray(plus(curve) if minus is None else plus(curve) - minus(curve))

        public = float(net(self.public)) if order == 0 else 0.0
        weights = np.array([net(partial(rows, order=order)) for rows in self.row_maps])
        values = weights @ self.centre + public
        if self.jointly:
            return float(values[0]), self._jointly(plus, minus, order)
        low, high = outermost(
            values, NORMAL * standard_errors(self.covariance, weights), self.outwards
        )
        return float(values[0]), (float(low), float(high))

    def _jointly(self, plus: Functional, minus: Functional | None, order: int) -> Interval:
        band = (self.band, self.velocity, self.acceleration)[order]

        def low(times: Array | float) -> Array:
            return np.asarray(np.interp(times, grid(), band.low))

        def high(times: Array | float) -> Array:
            return np.asarray(np.interp(times, grid(), band.high))

        less = (0.0, 0.0) if minus is None else (float(minus(high)), float(minus(low)))
        return float(plus(low)) - less[0], float(plus(high)) - less[1]

    # -- times ------------------------------------------------------------------------------

    def unit_time(self, time: float | None, field: str, default: float) -> float:
        """A time on [0, 1], from its own unit; without one the default, on [0, 1]."""
        if time is None:
            return default
        low, high = self.facts.time_low, self.facts.time_high
        if not low <= time <= high:
            raise InputError(
                f"“{field}” must lie between {low:g} and {high:g}; got {time:g}.",
                field=field,
                hint="The release says nothing outside its time range.",
            )
        return (time - low) / (high - low)

    def window(self, start: float | None, end: float | None) -> Interval:
        """Map a stretch of time to [0, 1], from ends in their own unit; by default all of it."""
        first, last = self.unit_time(start, "start", 0.0), self.unit_time(end, "end", 1.0)
        if last - first < 2 * STEP:
            raise InputError(
                "The end must be after the start, by a hundredth of the time range.",
                field="end",
                hint="Choose a longer stretch.",
            )
        return first, last

    def in_time(self, pieces: list[Interval]) -> tuple[Interval, ...]:
        """Stretches of unit time in the unit of times."""
        return tuple((self.time(low), self.time(high)) for low, high in pieces)

    def time(self, unit_time: float) -> float:
        """A time on [0, 1] in its own unit."""
        facts = self.facts
        return float(facts.time_low + unit_time * (facts.time_high - facts.time_low))


def can_be_asked(estimate: Estimate, budget: int = 0, repeat: int = 0, draw: int = 0) -> bool:
    """True if a release is one mean curve with the covariance of its coefficients."""
    band = estimate.band
    if band is None or band.bias is not None or estimate.functions:
        return False
    if not isinstance(estimate.basis, Basis) or estimate.basis.extension:
        return False
    is_known = bool(np.isfinite(band.covariance[budget, repeat, draw]).all())
    return is_known and (estimate.offset is None or _public_curve(estimate) is not None)


def _ten_digits_of(sites: SiteLocations) -> SiteLocations:
    return SiteLocations(ten_digits(sites.centres), ten_digits(sites.variances))


def _public_curve(estimate: Estimate) -> PublicCurve | None:
    """The public curve that is added to a release, if there is one."""
    return estimate.offset if isinstance(estimate.offset, PublicCurve) else None
