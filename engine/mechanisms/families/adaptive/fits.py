"""The engine of the adaptive estimators: plans of one call, sites with their noise, and the fits.

A mean is the model without covariates. What a model adds is in `AdaptiveFit.pieces`: the deviations
of its curves, and what it releases before it locates their mean
(`engine.mechanisms.families.adaptive.location`). Coefficients run function after function, K
functions of r waves each. In all arrays the columns are (plan, draw) pairs, and a last one without
noise, which is never published.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import NORMAL, SecondMoments, SiteLocations
from engine.core.checks import Check, CheckOutcome, Fact, joined
from engine.core.types import (
    Array,
    Budget,
    CurveData,
    CurveStore,
    Design,
    Plan,
    ServerParts,
    Sizes,
    Step,
)
from engine.mechanisms.families.adaptive.checked_facts import (
    FactsDecision,
    FirstMessage,
    Question,
    decide,
    nearest,
    of_far_people,
    of_sides,
    sent_by_sites,
    site_averages,
)
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.location import (
    SECOND_MOMENTS,
    Located,
    SiteDeviations,
    locate,
    release_steps,
)
from engine.mechanisms.families.adaptive.rules import mu_of
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.numerics.bases import Basis
from engine.numerics.curve_deviations import CurveDeviations, StreamedDeviations
from engine.numerics.deviations import Deviations
from engine.numerics.reference_law import DeviationLaw
from engine.numerics.time_histograms import Mixing
from engine.privacy.feasibility import Feasibility

NOISE_FREE = 1e12  # a μ without noise
_MANY = (
    100_000  # observations: single precision moves messages by less than 10⁻⁴ of their noise there
)


def _none() -> Array:
    return np.empty(0)


@dataclass(frozen=True)
class AdaptivePlan(Plan):
    """All that is fixed before any reading is looked at: public sizes and one budget per site."""

    size: int  # R, how many waves are kept of each function
    budgets: tuple[Budget, ...]
    # of μ², or of ε where δ = 0, that the releases of
    # `engine.mechanisms.families.adaptive.location` have
    shares: tuple[float, ...]
    verdict: Feasibility  # whether these sizes and budgets can give anything
    shrinks: bool  # whether waves that noise could have made are shrunk
    is_joint: bool
    first: FirstMessage | None = field(default=None, kw_only=True)  # None: facts are not checked
    first_share: float = field(default=0.0, kw_only=True)  # of the first and of the last message
    far_share: float = field(default=0.0, kw_only=True)
    # whether the last message counts the sides of people who are stated to be spread evenly
    counts_sides: bool = field(default=False, kw_only=True)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Releases in order, as far as shares reach."""
        return release_steps(self.is_joint)[: len(self.shares)]

    @property
    def learns_times(self) -> bool:
        """True if the distribution of observation times is released."""
        return False

    @property
    def feasible(self) -> bool:
        return self.verdict.is_feasible

    @property
    def pure(self) -> tuple[bool, ...]:
        """Guarantees that must hold with δ = 0: one flag for each site."""
        return tuple(budget.is_private and budget.is_pure for budget in self.budgets)

    @property
    def kind(self) -> Hashable:
        """Plans of one kind are fitted together, as columns of the same arrays."""
        return (
            self.size,
            self.pure,
            self.shares,
            self.is_joint,
            self.first,
            self.first_share,
            self.far_share,
        )

    @property
    def tuning(self) -> dict[str, Any]:
        return {
            "truncation": self.size,
            "effective_size": self.verdict.effective_size,
            "shrunk": self.shrinks,
        }


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own."""

    normals: Array  # (6, repeats, draws, K, r): of locations and scales
    # (5, repeats, draws, K, r): standard exponentials of the first five, where δ = 0; else empty
    gaps: Array
    symmetric: Array  # (repeats, draws, K, r, K, r): of second moments
    # of the last message, (repeats, draws, 2 or 3), and of the first, (repeats, draws, numbers)
    far: Array = field(default_factory=_none, kw_only=True)
    facts: Array = field(default_factory=_none, kw_only=True)
    pure_facts: Array = field(default_factory=_none, kw_only=True)  # Laplace, of unit variance

    def of_steps(self, repeats: slice, size: int, pure: bool) -> Array:
        """Draw unit noise of the first waves, (6, repeats, draws, K × size); 5 if `pure`."""
        noise = _flat(self.normals[:, repeats, ..., :size])
        if not pure:
            return noise
        return spherical(noise[:-1], _flat(self.gaps[:, repeats, ..., :size]))

    def of_moments(self, repeats: slice, size: int) -> Array:
        """Symmetric noise of second moments: (repeats, draws, K × size, K × size)."""
        symmetric_noise = self.symmetric[repeats, ..., :size, :, :size]
        p = symmetric_noise.shape[-1] * symmetric_noise.shape[-2]
        return symmetric_noise.reshape(*symmetric_noise.shape[:2], p, p)


def _flat(noise: Array) -> Array:
    """(…, K, r) as (…, K r)."""
    return noise.reshape(*noise.shape[:-2], noise.shape[-2] * noise.shape[-1])


def symmetric(square: Array) -> Array:
    """Take the symmetric part of matrices: (…, p, p)."""
    return np.asarray((square + square.swapaxes(-1, -2)) / 2)


def spherical(normals: Array, gaps: Array) -> Array:
    """R·U/√(p + 1): R ~ Gamma(p), U uniform on the sphere; unit variance in every entry.

    Made of standard normals (…, p) and standard exponentials.
    """
    radius = gaps.sum(axis=-1, keepdims=True)
    norm = np.sqrt((normals**2).sum(axis=-1, keepdims=True))
    return np.asarray(normals / norm * radius / math.sqrt(normals.shape[-1] + 1))


def columns(noise: Array, plans: int, axis: int) -> Array:
    """Repeat (…, draws, …) for every plan, with a zero column last: (…, plans × draws + 1, …)."""
    shape = list(noise.shape)
    shape[axis] = 1
    return np.concatenate([noise] * plans + [np.zeros(shape)], axis=axis)


@dataclass(frozen=True)
class UnitFit:
    """The fits of all plans in unit scale; waves that a plan does not keep are zero."""

    # centre, covariance, each (plans, repeats, draws, …, r): and (…, r, r), where … stands for the
    # functions of a model with several
    centre: Array
    covariance: Array
    # noise_free, noise_free_covariance: the same without noise, (plans, repeats, …)
    noise_free: Array
    noise_free_covariance: Array
    parts: ServerParts  # what each site adds to the squared error, in unit scale, too
    # sites_differ, hides_sites, each (plans, repeats, draws) array of bool: as `Located` has them):
    sites_differ: NDArray[np.bool_]
    hides_sites: NDArray[np.bool_]
    # how people's curves deviate, for models in which that can be read; NaN where it was not
    # released
    people: SecondMoments | None = None
    sites: SiteLocations | None = None  # of models of one function with several sites

    @classmethod
    def empty(
        cls,
        plans: int,
        repeats: int,
        draws: int,
        shape: tuple[int, ...],
        servers: int,
        readings: tuple[tuple[int, int], ...] = (),
    ) -> UnitFit:
        """Start with nothing fitted; `readings` are pairs of `SecondMoments` to fill, or empty."""
        square = (*shape, shape[-1])
        each = (plans, repeats, draws)
        nothing: list[Array] = [
            np.full((*each, *more), np.nan) for more in (square, (), shape, shape)
        ]
        people = (
            SecondMoments(nothing[0], nothing[1], nothing[2], nothing[3], readings)
            if readings
            else None
        )
        return cls(
            np.zeros((plans, repeats, draws, *shape)),
            np.zeros((plans, repeats, draws, *square)),
            np.zeros((plans, repeats, *shape)),
            np.zeros((plans, repeats, *square)),
            ServerParts(*np.zeros((3, plans, servers))),
            np.zeros(each, dtype=bool),
            np.zeros(each, dtype=bool),
            people,
            SiteLocations(*np.full((2, *each, servers, *shape), np.nan))
            if servers > 1 and len(shape) == 1
            else None,
        )

    def put(self, piece: Piece, located: Located, feasible: Sequence[int]) -> None:
        """Put what was located for some plans and repeats where it belongs.

        The last column, without noise, is that of all its plans. Parts are averaged over repeats
        and draws. `feasible` has the plans with columns of their own.
        """
        repeats = piece.repeats
        size, draws = located.centre.shape[-1], self.centre.shape[2]
        for k, mine, of_plan in piece.places(feasible, draws):
            self.centre[k][repeats, mine, ..., :size] = located.centre[:, of_plan]
            self.covariance[k][repeats, mine, ..., :size, :size] = located.covariance[:, of_plan]
            if self.people is not None and located.people is not None:
                theirs = located.people.of(slice(None), of_plan)
                self.people.moments[k][repeats, mine, ..., :size, :size] = theirs.moments
                self.people.noise[k][repeats, mine] = theirs.noise
                self.people.stretch[k][repeats, mine, ..., :size] = theirs.stretch
                self.people.privacy[k][repeats, mine, ..., :size] = theirs.privacy
            if self.sites is not None and located.sites is not None and piece.left_out is None:
                each = located.sites.of(slice(None), of_plan)
                self.sites.centres[k][repeats, mine, ..., :size] = each.centres
                self.sites.variances[k][repeats, mine, ..., :size] = each.variances
            for name in ("sites_differ", "hides_sites"):
                getattr(self, name)[k][repeats, mine] = getattr(located, name)[:, of_plan]
            for name in ("weight", "noise", "sampling"):
                part = getattr(located, name)[..., of_plan].sum(axis=(1, 2))
                getattr(self.parts, name)[k] += part / (self.centre.shape[1] * draws)
        for k in piece.members:
            self.noise_free[k, repeats][..., :size] = located.centre[:, -1]
            self.noise_free_covariance[k, repeats][..., :size, :size] = located.covariance[:, -1]


@dataclass(frozen=True)
class Piece:
    """Some plans of one kind and some repeats, and what is needed to locate their mean."""

    members: list[int]
    repeats: slice
    sites: Sequence[SiteDeviations]
    public_scale: Array
    law: DeviationLaw
    constants: Constants
    n_functions: int = 1
    prior: Array | None = None
    columns: NDArray[np.int64] | None = None  # of all, those that are here; None: all of them
    left_out: NDArray[np.bool_] | None = None  # which common times are not read; None: none

    def places(
        self, feasible: Sequence[int], draws: int
    ) -> Iterator[tuple[int, NDArray[np.int64] | slice, NDArray[np.int64] | slice]]:
        """Yield for each plan its number, which of its draws are here, and in which columns."""
        for row, k in enumerate(feasible):
            first = row * draws
            if self.columns is None:
                yield k, slice(None), slice(first, first + draws)
                continue
            here = np.flatnonzero((self.columns >= first) & (self.columns < first + draws))
            if len(here):
                yield k, self.columns[here] - first, here


@dataclass(frozen=True, eq=False)
class Heard:
    """Messages about facts: NaN if none was sent; arrays (plans, repeats, draws)."""

    questions: list[Question | None]  # by plan
    facts: list[Array]  # by plan, (repeats, draws, numbers), with weights undone
    facts_noise: list[Array]  # by plan, (numbers,)
    learned_void: NDArray[np.bool_]  # where released times may leave a part of the range empty
    far: Array  # (…, 2), shares of people beyond one and beyond two radii
    side: Array  # people above less people below the centre; NaN where not counted
    side_error: Array  # of people who are spread evenly
    usual: Array  # (…, 2), the shares that clipping leaves there of people without outliers
    far_noise: Array
    reach: Array  # how far a person at one radius moves the level, in unit scale
    lean: Array  # how far skew may have moved it, by what is more on one side; NaN if not counted
    relies_on_law: bool  # whether times are learned only where they contradict a law

    def note(
        self, k: int, repeats: slice, question: Question, measured: Array, noise: Array
    ) -> None:
        """Keep what a plan's first messages (repeats, draws, numbers) said."""
        if self.questions[k] is None:
            self.questions[k], self.facts_noise[k] = question, noise
            self.facts[k] = np.zeros((*self.reach.shape[1:], measured.shape[-1]))
        self.facts[k][repeats] = measured

    def far_people(self, k: int) -> tuple[Check, Array]:
        """The check of the last message of a plan, and by how many radii its band is widened."""
        return of_far_people(self.far[k], self.usual[k], self.far_noise[k])

    def sides(self, k: int) -> Check:
        """The check of a plan on whether people are spread evenly about their mean."""
        return of_sides(self.side[k], self.side_error[k])

    def widened(self, covariance: Array) -> Array:
        """Covariances (plans, repeats, draws, …) with what far people and skew add to the level."""
        radii = np.stack([self.far_people(k)[1] for k in range(len(covariance))])
        wider, of_far = covariance.copy(), np.nan_to_num(radii * self.reach) / NORMAL
        wider.reshape(*radii.shape, -1)[..., 0] += of_far**2 + np.nan_to_num(self.lean) ** 2
        return wider

    def may_be_empty(self, k: int) -> NDArray[np.bool_]:
        """Releases of a plan that rely on learned times, which may leave a part empty."""
        question = self.questions[k]
        if question is None or not self.relies_on_law:
            return np.asarray(self.learned_void[k])
        decision = decide(question, self.facts[k], self.facts_noise[k])
        return np.asarray(self.learned_void[k] & decision.is_untrue)

    def checks(self) -> tuple[Check, ...]:
        """The checks of all releases, fact by fact; none where no message was sent."""
        of_plans = [
            []
            if question is None
            else [*decide(question, self.facts[k], self.facts_noise[k]).checks]
            for k, question in enumerate(self.questions)
        ]
        for k, of_plan in enumerate(of_plans):
            if np.isfinite(self.far_noise[k]).all() and of_plan:
                of_plan.append(self.far_people(k)[0])
            if np.isfinite(self.side_error[k]).all() and of_plan:
                of_plan.append(self.sides(k))
            if of_plan:  # a law that is learned may be known too little
                is_void = self.may_be_empty(k)
                of_plan[0] = replace(
                    of_plan[0],
                    outcome=np.where(is_void, CheckOutcome.VOID.value, of_plan[0].outcome),
                )
        facts = dict.fromkeys(check.fact for of_plan in of_plans for check in of_plan)
        return tuple(self._of_fact(fact, of_plans) for fact in facts)

    def _of_fact(self, fact: Fact, of_plans: list[list[Check]]) -> Check:
        """The check of one fact, empty for plans that do not ask for it."""
        found = [
            next((check for check in checks if check.fact == fact), None) for checks in of_plans
        ]
        shape = self.reach.shape[1:]
        nothing = np.full(shape, np.nan)
        unasked = Check(
            fact, nothing, nothing, nothing, nothing, np.full(shape, CheckOutcome.UNTESTED.value)
        )
        return joined([unasked if check is None else check for check in found])

    @classmethod
    def nothing(cls, plans: int, repeats: int, draws: int, relies_on_law: bool = True) -> Heard:
        shape = (plans, repeats, draws)
        far, usual = np.full((2, *shape, 2), np.nan)
        side, side_error, far_noise, reach, lean = np.full((5, *shape), np.nan)
        return cls(
            [None] * plans,
            [_none()] * plans,
            [_none()] * plans,
            np.zeros(shape, dtype=bool),
            far,
            side,
            side_error,
            usual,
            far_noise,
            reach,
            lean,
            relies_on_law,
        )


@dataclass(frozen=True)
class Evidence:
    """Statistics of released steps beside the estimates; each is released or public.

    Cautions are judged from it. What a release does not say is False or 0.
    """

    sizes: Sizes
    # (plans, repeats, draws) array of bool: the releases that say anything at all
    released: NDArray[np.bool_]
    innovations: Array  # (plans, repeats, draws): of final locations
    # sites_differ, hides_sites, each (plans, repeats, draws) array of bool: as `Located` has them):
    sites_differ: NDArray[np.bool_]
    hides_sites: NDArray[np.bool_]
    heard: Heard


R = TypeVar("R")
E = TypeVar("E", bound=Evidence)


def public_observations(data: CurveData | CurveStore) -> tuple[tuple[int, int], ...]:
    """Numbers of observations and how many people have so many, as far as that is public."""
    if planned := data.facts.observations_per_curve:
        return ((planned, data.sizes.n_curves),)
    assert isinstance(data, CurveData)  # a store has a stated number
    counts, people = np.unique(data.counts, return_counts=True)
    return tuple(zip(counts.tolist(), people.tolist(), strict=True))


def deviations_of_site(
    data: CurveData | CurveStore,
    site: int,
    of: Callable[[CurveData], Deviations],
    is_common: bool = True,
) -> Deviations:
    """The deviations of a site, of one data set: kept, or made anew of each block in each pass.

    `of` makes those of some curves, and can be sent to other processes; they are common if all
    columns share them.
    """
    if isinstance(data, CurveData):
        return of(next(data.blocks(site)))

    def of_parts(function: Callable[[Iterator[Deviations]], R]) -> Sequence[R]:
        return data.of_parts(site, _Made(of, function))

    return StreamedDeviations(of_parts, data.people[site], of(data.few()).entries, is_common)


@dataclass(frozen=True)
class _Made(Generic[R]):
    """A function of the deviations of blocks."""

    of: Callable[[CurveData], Deviations]
    function: Callable[[Iterator[Deviations]], R]

    def __call__(self, blocks: Iterator[CurveData]) -> R:
        return self.function(map(self.of, blocks))


@dataclass(frozen=True)
class CurvesInScale:
    """Makes deviations of the curves of one data set; see `curves_of`."""

    scale: Callable[[CurveData], Array]  # values (1, N) in unit scale
    basis: Basis
    design: Design | None
    left_out: NDArray[np.bool_] | None
    is_single: bool  # of very many people: what it changes is far below the noise

    def __call__(self, data: CurveData) -> CurveDeviations:
        values = self.scale(data)
        return curves_of(data, values, self.basis, self.design, self.left_out, self.is_single)


def curves_of(
    data: CurveData,
    values: Array,
    basis: Basis,
    design: Design | None,
    left_out: NDArray[np.bool_] | None = None,
    is_single: bool = False,
) -> CurveDeviations:
    """The deviations of curves of one data set, with values (1, N) in unit scale.

    Observations at common times that are left out are not read. Without a law of the times all
    observations count alike.
    """
    times, inside, counts = data.times[0], values[0], data.counts
    if left_out is not None:
        is_read = ~left_out[nearest(times, data.facts.design.times)]
        curve = np.repeat(np.arange(len(counts)), counts)
        counts = np.bincount(curve[is_read], minlength=len(counts))
        times, inside = times[is_read], inside[is_read]
    return CurveDeviations.of(times, inside, counts, basis, design, is_single)


class AdaptiveFit(Generic[E]):
    """Fits the plans of one call: a model adds its data in unit scale, its noise and its pieces.

    `shape` is (r,), or (K, r) for a model with several functions.
    """

    def __init__(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[AdaptivePlan],
        draws: int,
        streams: Sequence[Streams],
        design: Design,
        shape: tuple[int, ...],
        scale: ObservationScale,
    ) -> None:
        self.data, self.scale = data, scale
        self._averages: dict[FirstMessage, Array] = {}
        self.sizes, self.n_repeats, self.basis = data.sizes, data.n_repeats, basis
        self.plans, self.draws, self.streams = plans, draws, streams
        self.design, self.shape = design, shape
        self.planned = max(data.sizes.fewest_per_curve, 1)  # observations of a curve
        self.servers = data.parts
        self.innovations = np.zeros((len(plans), data.n_repeats, draws))
        self.heard = Heard.nothing(len(plans), data.n_repeats, draws, design.is_known)
        self.kinds: dict[Hashable, list[int]] = {}  # the plans of each kind, by their numbers
        for k, plan in enumerate(plans):
            self.kinds.setdefault(plan.kind, []).append(k)

    @property
    def readings(self) -> tuple[tuple[int, int], ...]:
        """Observations of a curve and how many people have so many; empty where the model does
        not tell how people's curves deviate.
        """
        return ()

    @property
    def is_single(self) -> bool:
        """True if deviations of one data set are solved for in single precision: it is large."""
        return self.sizes.n_observations >= _MANY

    def pieces(self) -> Iterator[Piece]:
        """All plans and repeats, cut so that the arrays of each piece stay small."""
        raise NotImplementedError

    def finished(self, piece: Piece, located: Located) -> Located:
        """Map from the coordinates in which deviations are clipped to the model's own coefficients.

        The results are (…, r), or (…, K, r).
        """
        return located

    def fitted(self) -> UnitFit:
        """Locate the means of all pieces, and put them where they belong."""
        fit = UnitFit.empty(
            len(self.plans),
            self.n_repeats,
            self.draws,
            self.shape,
            len(self.servers),
            self.readings,
        )
        for piece in self.pieces():
            located = locate(
                piece.sites,
                piece.public_scale,
                piece.law,
                piece.constants,
                piece.n_functions,
                piece.prior,
            )
            feasible = self.feasible(piece.members)
            fit.put(piece, self.finished(piece, located), feasible)
            for k, mine, of_plan in piece.places(feasible, self.draws):
                where = (piece.repeats, mine)
                self.innovations[k][where] = located.innovation[:, of_plan]
                if located.far is not None:
                    self.heard.far[k][where] = located.far.shares[:, of_plan]
                    self.heard.side[k][where] = located.far.side[:, of_plan]
                    self.heard.side_error[k][where] = located.far.side_error[:, of_plan]
                    self.heard.usual[k][where] = located.far.usual[:, of_plan]
                    self.heard.far_noise[k][where] = located.far.noise[of_plan]
                    self.heard.reach[k][where] = located.far.reach[:, of_plan]
                    self.heard.lean[k][where] = located.far.lean[:, of_plan]
        fit.covariance[[not plan.feasible for plan in self.plans]] = np.nan
        return fit

    # -- the first message ------------------------------------------------------------------

    def decided(self, members: list[int], repeats: slice) -> FactsDecision | None:
        """Judge the facts by the first messages of all sites; None if none are sent."""
        plan, feasible = self.plans[members[0]], self.feasible(members)
        message, people = plan.first, self.sizes.n_curves_per_server
        if message is None:
            return None
        deviations = [
            message.noise_of(self.costs((plan.first_share,), s, members)[0], is_pure)
            for s, is_pure in enumerate(plan.pure)
        ]
        noises = [
            columns(
                (streams.pure_facts if is_pure else streams.facts)[
                    repeats, :, : len(message.weights)
                ],
                len(feasible),
                1,
            )
            for streams, is_pure in zip(self.streams, plan.pure, strict=True)
        ]
        measured, noise = sent_by_sites(
            message, self.averages(message)[repeats], deviations, noises, people
        )
        question = Question(
            message,
            self._tested_law(plan),
            public_observations(self.data),
            sum(people),
            learns_times=plan.learns_times,
        )
        for row, k in enumerate(feasible):
            of_plan = slice(row * self.draws, (row + 1) * self.draws)
            self.heard.note(k, repeats, question, measured[:, of_plan], noise[of_plan][0])
        return decide(question, measured, noise)

    def _tested_law(self, plan: AdaptivePlan) -> Design:
        stated = self.data.facts.design
        return stated if stated.is_known and not plan.learns_times else Design()

    def averages(self, message: FirstMessage) -> Array:
        """Averages over the people of each site, without weights: (repeats, sites, numbers)."""
        if message not in self._averages:
            self._averages[message] = site_averages(
                message,
                self.data,
                self.scale,
                self.servers,
                self.regressors if message.n_functions else None,
            )
        return self._averages[message]

    @staticmethod
    def regressors(data: CurveData) -> Array:
        """Regressors of people, 0 of those with a number missing: (repeats, K, people)."""
        raise NotImplementedError

    # -- what was released --------------------------------------------------------------------

    def evidence(self, fit: UnitFit) -> E:
        """Collect what the steps of the releases showed, once they are fitted."""
        raise NotImplementedError

    def evidence_of_steps(self, fit: UnitFit) -> Evidence:
        """Collect what the steps of every model show."""
        released = np.zeros(self.innovations.shape, dtype=bool)
        released[[plan.feasible for plan in self.plans]] = True
        return Evidence(
            self.sizes, released, self.innovations, fit.sites_differ, fit.hides_sites, self.heard
        )

    def feasible(self, members: Sequence[int]) -> list[int]:
        """Those that release anything; the others are fitted without noise only."""
        return [k for k in members if self.plans[k].feasible]

    def costs(self, shares: Sequence[float], s: int, members: Sequence[int]) -> Array:
        """Compute μ_k, or ε_k if δ = 0, of each release of one site: (releases, columns).

        Shares are parts of μ², or of ε.
        """
        pure = self.plans[members[0]].pure[s]
        budgets = [self.plans[k].budgets[s] for k in self.feasible(members)]
        cost = np.repeat(
            [budget.epsilon if pure else min(mu_of(budget), NOISE_FREE) for budget in budgets],
            self.draws,
        )
        # a store of curves is only released: its last column does as the first, at no price
        last = cost[0] if isinstance(self.data, CurveStore) and len(cost) else NOISE_FREE
        of_total = np.array(shares)[:, None]
        return np.asarray((of_total if pure else np.sqrt(of_total)) * np.append(cost, last))

    def site(
        self,
        s: int,
        deviations: Deviations,
        members: Sequence[int],
        repeats: slice,
        mixing: Mixing | None = None,
    ) -> SiteDeviations:
        """Make one site's curves with the noise of the feasible plans, and one column without.

        `mixing` is E T_i if it was released.
        """
        plan, n_plans = self.plans[members[0]], len(self.feasible(members))
        size, pure, streams = plan.size, plan.pure[s], self.streams[s]
        noise = streams.of_steps(repeats, size, pure)
        growth = math.sqrt(noise.shape[-1] + 1) if pure else 1.0
        has_moments = not pure and (plan.is_joint or SECOND_MOMENTS in plan.steps)
        n = self.sizes.n_curves_per_server[s]
        site = SiteDeviations(
            deviations,
            n,
            growth / (n * self.costs(plan.shares, s, members)),
            columns(noise, n_plans, 2),
            columns(streams.of_moments(repeats, size), n_plans, 1) if has_moments else None,
            s,
            mixing,
            release_steps(plan.is_joint),
        )
        if not plan.far_share:
            return site
        return replace(
            site,
            far_unit=1 / (n * self.costs((plan.far_share,), s, members)[0]),
            far_noise=columns(streams.far[repeats], n_plans, 1),
        )
