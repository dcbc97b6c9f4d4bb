"""The engine of the adaptive estimators: plans of one call, sites with their noise, and the fits.

A mean is the model without covariates. What a model adds is in `AdaptiveFit.pieces`: the deviations
of its curves, and what it releases before it locates their mean
(`engine.mechanisms.families.adaptive.location`). Coefficients run function after function, K
functions of r waves each. In all arrays the columns are (plan, draw) pairs, and a last one without
noise, which is never published.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.bands import SecondMoments
from engine.core.types import Array, Budget, CurveData, Design, Plan, ServerParts, Sizes, Step
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.location import (
    SECOND_MOMENTS,
    Located,
    SiteDeviations,
    locate,
    release_steps,
)
from engine.mechanisms.families.adaptive.rules import mu_of
from engine.numerics.bases import Basis
from engine.numerics.deviations import Deviations
from engine.numerics.reference_law import DeviationLaw
from engine.numerics.time_histograms import Mixing
from engine.privacy.feasibility import Feasibility

NOISE_FREE = 1e12  # a μ without noise


@dataclass(frozen=True)
class AdaptivePlan(Plan):
    """All that is fixed before any reading is looked at: public sizes and one budget per site.

    Parameters
    ----------
    size : int
        R, how many waves are kept of each function.
    budgets : tuple of Budget
        That of each site.
    shares : tuple of float
        Of μ², or of ε where δ = 0, that the releases of
        `engine.mechanisms.families.adaptive.location` have.
    verdict : Feasibility
        Whether these sizes and budgets can give anything.
    shrinks : bool
        Whether waves that noise could have made are shrunk.
    is_joint : bool
        Whether sizes and second moments are sent together with a location.
    """

    size: int
    budgets: tuple[Budget, ...]
    shares: tuple[float, ...]
    verdict: Feasibility
    shrinks: bool
    is_joint: bool

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is released, in order, as far as shares reach."""
        return release_steps(self.is_joint)[:len(self.shares)]

    @property
    def feasible(self) -> bool:
        return self.verdict.is_feasible

    @property
    def pure(self) -> tuple[bool, ...]:
        """For each site, whether its guarantee is to hold with δ = 0."""
        return tuple(budget.is_private and budget.is_pure for budget in self.budgets)

    @property
    def kind(self) -> Hashable:
        """Plans of one kind are fitted together, as columns of the same arrays."""
        return (self.size, self.pure, self.shares, self.is_joint)

    @property
    def tuning(self) -> dict[str, Any]:
        return {"truncation": self.size, "effective_size": self.verdict.effective_size,
                "shrunk": self.shrinks}


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own.

    Parameters
    ----------
    normals : (6, repeats, draws, K, r)
        Of locations and scales.
    gaps : (5, repeats, draws, K, r)
        Standard exponentials of the first five, where δ = 0; else empty.
    symmetric : (repeats, draws, K, r, K, r)
        Of second moments.
    """

    normals: Array
    gaps: Array
    symmetric: Array

    def of_steps(self, repeats: slice, size: int, pure: bool) -> Array:
        """Noise of the first waves, with unit variance.

        Parameters
        ----------
        repeats : slice
            Of the data.
        size : int
            How many waves.
        pure : bool
            Whether δ = 0.

        Returns
        -------
        (6, repeats, draws, K × size)
            Five where δ = 0, where nothing is joint.
        """
        noise = _flat(self.normals[:, repeats, ..., :size])
        if not pure:
            return noise
        return spherical(noise[:-1], _flat(self.gaps[:, repeats, ..., :size]))

    def of_moments(self, repeats: slice, size: int) -> Array:
        """Symmetric noise of second moments.

        Parameters
        ----------
        repeats : slice
            Of the data.
        size : int
            How many waves.

        Returns
        -------
        (repeats, draws, K × size, K × size)
        """
        symmetric_noise = self.symmetric[repeats, ..., :size, :, :size]
        p = symmetric_noise.shape[-1] * symmetric_noise.shape[-2]
        return symmetric_noise.reshape(*symmetric_noise.shape[:2], p, p)


def _flat(noise: Array) -> Array:
    """(…, K, r) as (…, K r)."""
    return noise.reshape(*noise.shape[:-2], noise.shape[-2] * noise.shape[-1])


def symmetric(square: Array) -> Array:
    """The symmetric part of matrices.

    Parameters
    ----------
    square : (…, p, p)

    Returns
    -------
    (…, p, p)
    """
    return np.asarray((square + square.swapaxes(-1, -2)) / 2)


def spherical(normals: Array, gaps: Array) -> Array:
    """R·U/√(p + 1): R ~ Gamma(p), U uniform on the sphere; unit variance in every entry.

    Parameters
    ----------
    normals : (…, p)
        Standard normals.
    gaps : (…, p)
        Standard exponentials.

    Returns
    -------
    (…, p)
    """
    radius = gaps.sum(axis=-1, keepdims=True)
    norm = np.sqrt((normals**2).sum(axis=-1, keepdims=True))
    return np.asarray(normals / norm * radius / math.sqrt(normals.shape[-1] + 1))


def columns(noise: Array, plans: int, axis: int) -> Array:
    """The same draws for every plan, and zeros for the column without noise.

    Parameters
    ----------
    noise : (…, draws, …)
    plans : int
        How many.
    axis : int
        That of the draws.

    Returns
    -------
    (…, plans × draws + 1, …)
    """
    shape = list(noise.shape)
    shape[axis] = 1
    return np.concatenate([noise] * plans + [np.zeros(shape)], axis=axis)


@dataclass(frozen=True)
class UnitFit:
    """The fits of all plans in unit scale; waves that a plan does not keep are zero.

    Parameters
    ----------
    centre, covariance : (plans, repeats, draws, …, r)
        And (…, r, r), where … stands for the functions of a model with several.
    noise_free, noise_free_covariance : Array
        The same without noise, (plans, repeats, …).
    parts : ServerParts
        What each site adds to the squared error, in unit scale, too.
    sites_differ, hides_sites : (plans, repeats, draws) array of bool
        As `Located` has them.
    people : SecondMoments or None
        How people's curves deviate, for models in which that can be read; NaN where it was not
        released.
    """

    centre: Array
    covariance: Array
    noise_free: Array
    noise_free_covariance: Array
    parts: ServerParts
    sites_differ: NDArray[np.bool_]
    hides_sites: NDArray[np.bool_]
    people: SecondMoments | None = None

    @classmethod
    def empty(cls, plans: int, repeats: int, draws: int, shape: tuple[int, ...], servers: int,
              readings: tuple[tuple[int, int], ...] = ()) -> UnitFit:
        """Nothing yet.

        Parameters
        ----------
        plans, repeats, draws : int
        shape : tuple of int
            (…, r), of one release.
        servers : int
            How many sites.
        readings : tuple of pairs of int
            Of `SecondMoments`, where those are to be put; else empty.
        """
        square = (*shape, shape[-1])
        each = (plans, repeats, draws)
        nothing: list[Array] = [np.full((*each, *more), np.nan)
                                for more in (square, (), shape, shape)]
        people = SecondMoments(nothing[0], nothing[1], nothing[2], nothing[3],
                               readings) if readings else None
        return cls(np.zeros((plans, repeats, draws, *shape)),
                   np.zeros((plans, repeats, draws, *square)),
                   np.zeros((plans, repeats, *shape)), np.zeros((plans, repeats, *square)),
                   ServerParts(*np.zeros((3, plans, servers))), np.zeros(each, dtype=bool),
                   np.zeros(each, dtype=bool), people)

    def put(self, piece: Piece, located: Located, feasible: Sequence[int]) -> None:
        """Put what was located for some plans and repeats where it belongs.

        The last column, without noise, is that of all its plans. Parts are averaged over repeats
        and draws.

        Parameters
        ----------
        piece : Piece
            What was located.
        located : Located
            Where it is.
        feasible : sequence of int
            The plans that have columns of their own, by their numbers.
        """
        repeats = piece.repeats
        size, draws = located.centre.shape[-1], self.centre.shape[2]
        share = len(located.centre) / self.centre.shape[1]
        for row, k in enumerate(feasible):
            of_plan = slice(row * draws, (row + 1) * draws)
            self.centre[k, repeats][..., :size] = located.centre[:, of_plan]
            self.covariance[k, repeats][..., :size, :size] = located.covariance[:, of_plan]
            if self.people is not None and located.people is not None:
                mine, theirs = self.people.of(k, repeats), located.people.of(slice(None), of_plan)
                mine.moments[..., :size, :size], mine.noise[...] = theirs.moments, theirs.noise
                mine.stretch[..., :size] = theirs.stretch
                mine.privacy[..., :size] = theirs.privacy
            for name in ("sites_differ", "hides_sites"):
                getattr(self, name)[k, repeats] = getattr(located, name)[:, of_plan]
            for name in ("weight", "noise", "sampling"):
                part = getattr(located, name)[..., of_plan].mean(axis=(1, 2))
                getattr(self.parts, name)[k] += share * part
        for k in piece.members:
            self.noise_free[k, repeats][..., :size] = located.centre[:, -1]
            self.noise_free_covariance[k, repeats][..., :size, :size] = located.covariance[:, -1]


@dataclass(frozen=True)
class Piece:
    """Some plans of one kind and some repeats, and what is needed to locate their mean.

    Parameters
    ----------
    members : sequence of int
        The plans, by their numbers.
    repeats : slice
        Of the data.
    sites : sequence of SiteDeviations
        Their curves with their noise.
    public_scale, law, constants, n_functions, prior : Array
        As in `engine.mechanisms.families.adaptive.location.locate`.
    """

    members: list[int]
    repeats: slice
    sites: Sequence[SiteDeviations]
    public_scale: Array
    law: DeviationLaw
    constants: Constants
    n_functions: int = 1
    prior: Array | None = None


@dataclass(frozen=True)
class Evidence:
    """What steps of releases tell of them beside their numbers: released or public, each of it.

    Cautions are judged from it. What a release does not say is False or 0.

    Parameters
    ----------
    sizes : Sizes
        Public sizes.
    released : (plans, repeats, draws) array of bool
        The releases that say anything at all.
    innovations : (plans, repeats, draws)
        Of final locations.
    excesses, excess_noise : (plans, repeats, draws)
        Of second moments over sizes, and its standard error by noise; infinite without moments.
    sites_differ, hides_sites : (plans, repeats, draws) array of bool
        As `Located` has them.
    """

    sizes: Sizes
    released: NDArray[np.bool_]
    innovations: Array
    excesses: Array
    excess_noise: Array
    sites_differ: NDArray[np.bool_]
    hides_sites: NDArray[np.bool_]


E = TypeVar("E", bound=Evidence)


class AdaptiveFit(Generic[E]):
    """Fits the plans of one call: a model adds its data in unit scale, its noise and its pieces.

    Parameters
    ----------
    data : CurveData
        CurveData.
    basis : Basis
        The waves of the largest plan.
    plans : sequence of AdaptivePlan
        One for each budget.
    draws : int
        How often noise is drawn.
    streams : sequence of Streams
        The noise of each site.
    design : Design
        How observation times come about.
    shape : tuple of int
        (r,), or (K, r) for a model with several functions.
    """

    def __init__(self, data: CurveData, basis: Basis, plans: Sequence[AdaptivePlan], draws: int,
                 streams: Sequence[Streams], design: Design, shape: tuple[int, ...]) -> None:
        self.sizes, self.n_repeats, self.basis = data.sizes, data.n_repeats, basis
        self.plans, self.draws, self.streams = plans, draws, streams
        self.design, self.shape = design, shape
        self.planned = max(data.sizes.fewest_per_curve, 1)  # observations of a curve
        ends = np.cumsum([0, *data.sizes.n_curves_per_server])
        self.servers = [slice(int(start), int(stop)) for start, stop in pairwise(ends)]
        self.innovations, self.excesses = np.zeros((2, len(plans), data.n_repeats, draws))
        self.excess_noise = np.full(self.excesses.shape, np.inf)
        self.kinds: dict[Hashable, list[int]] = {}  # the plans of each kind, by their numbers
        for k, plan in enumerate(plans):
            self.kinds.setdefault(plan.kind, []).append(k)

    @property
    def readings(self) -> tuple[tuple[int, int], ...]:
        """Observations of a curve and how many people have so many; empty where the model does
        not tell how people's curves deviate.
        """
        return ()

    def pieces(self) -> Iterator[Piece]:
        """All plans and repeats, cut so that the arrays of each piece stay small."""
        raise NotImplementedError

    def finished(self, piece: Piece, located: Located) -> Located:
        """What was located, in the coordinates of the model's own coefficients.

        Parameters
        ----------
        piece : Piece
            What was located.
        located : Located
            In the coordinates in which deviations are clipped.

        Returns
        -------
        Located
            Arrays (…, r), or (…, K, r).
        """
        return located

    def fitted(self) -> UnitFit:
        """Locate the means of all pieces, and put them where they belong."""
        fit = UnitFit.empty(len(self.plans), self.n_repeats, self.draws, self.shape,
                            len(self.servers), self.readings)
        for piece in self.pieces():
            located = locate(piece.sites, piece.public_scale, piece.law, piece.constants,
                             piece.n_functions, piece.prior)
            feasible = self.feasible(piece.members)
            fit.put(piece, self.finished(piece, located), feasible)
            for row, k in enumerate(feasible):
                of_plan = slice(row * self.draws, (row + 1) * self.draws)
                self.innovations[k, piece.repeats] = located.innovation[:, of_plan]
                if located.excess is not None and located.excess_noise is not None:
                    self.excesses[k, piece.repeats] = located.excess[:, of_plan]
                    self.excess_noise[k, piece.repeats] = located.excess_noise[:, of_plan]
        fit.covariance[[not plan.feasible for plan in self.plans]] = np.nan
        return fit

    def evidence(self, fit: UnitFit) -> E:
        """What the steps of the releases told, once they are fitted.

        Parameters
        ----------
        fit : UnitFit
            Of all plans.
        """
        raise NotImplementedError

    def evidence_of_steps(self, fit: UnitFit) -> Evidence:
        """What the steps of every model tell.

        Parameters
        ----------
        fit : UnitFit
            Of all plans.
        """
        released = np.zeros(self.innovations.shape, dtype=bool)
        released[[plan.feasible for plan in self.plans]] = True
        return Evidence(self.sizes, released, self.innovations, self.excesses, self.excess_noise,
                        fit.sites_differ, fit.hides_sites)

    def feasible(self, members: Sequence[int]) -> list[int]:
        """Those that release anything; the others are fitted without noise only.

        Parameters
        ----------
        members : sequence of int
            Plans, by their numbers.
        """
        return [k for k in members if self.plans[k].feasible]

    def costs(self, shares: Sequence[float], s: int, members: Sequence[int]) -> Array:
        """μ_k, or ε_k where δ = 0, of each release of one site.

        Parameters
        ----------
        shares : sequence of float
            Of μ², or of ε.
        s : int
            Number of the site.
        members : sequence of int
            Plans of one kind, by their numbers.

        Returns
        -------
        (releases, columns)
        """
        pure = self.plans[members[0]].pure[s]
        budgets = [self.plans[k].budgets[s] for k in self.feasible(members)]
        cost = np.repeat([budget.epsilon if pure else min(mu_of(budget), NOISE_FREE)
                          for budget in budgets], self.draws)
        of_total = np.array(shares)[:, None]
        return np.asarray((of_total if pure else np.sqrt(of_total)) * np.append(cost, NOISE_FREE))

    def site(self, s: int, deviations: Deviations, members: Sequence[int], repeats: slice,
             mixing: Mixing | None = None) -> SiteDeviations:
        """One site's curves with the noise of the feasible plans, and one column without.

        Parameters
        ----------
        s : int
            Number of the site.
        deviations : Deviations
            Of its curves.
        members : sequence of int
            Plans of one kind, by their numbers.
        repeats : slice
            Of the data.
        mixing : Mixing or None
            E T_i where it was released.
        """
        plan, n_plans = self.plans[members[0]], len(self.feasible(members))
        size, pure, streams = plan.size, plan.pure[s], self.streams[s]
        noise = streams.of_steps(repeats, size, pure)
        growth = math.sqrt(noise.shape[-1] + 1) if pure else 1.0
        has_moments = not pure and (plan.is_joint or SECOND_MOMENTS in plan.steps)
        return SiteDeviations(
            deviations, growth / (deviations.n_curves * self.costs(plan.shares, s, members)),
            columns(noise, n_plans, 2),
            columns(streams.of_moments(repeats, size), n_plans, 1) if has_moments else None, s,
            mixing, release_steps(plan.is_joint))
