"""The fit behind the adaptive mean: how curves deviate, whatever is known of observation times."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array, CurveData, Design, Step
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.fits import (
    NOISE_FREE,
    AdaptiveFit,
    AdaptivePlan,
    Evidence,
    Piece,
    Streams,
    UnitFit,
    columns,
    spherical,
    symmetric,
)
from engine.mechanisms.families.adaptive.location import SiteDeviations
from engine.mechanisms.families.adaptive.rules import mu_of, public_scale
from engine.numerics.bases import Basis
from engine.numerics.deviations import (
    AffineDeviations,
    are_told_apart,
    plain,
    weighted_within_curves,
)
from engine.numerics.moments import curve_moments
from engine.numerics.reference_law import ReferenceLaw, heavy_tailed, of_observed_curves
from engine.numerics.time_histograms import (
    SENSITIVITY,
    are_rough,
    leave_a_gap,
    mixing_of_shares,
    n_bins,
    tells_gaps,
    time_shares,
)
from engine.privacy import transcript

TIMES_SHARE = 0.1  # of the budget, where the distribution of observation times is unknown
TIMES = Step("distribution of observation times", sensitivity=float(SENSITIVITY))
_PRIOR = 0.4  # prior of coefficients, in units of u_l; of l^-1.5 where times do not tell them apart
_DENSE = 3  # observations for each basis function, from which curves tell of all of them
_BLOCK = 600_000  # entries of T of the repeats worked on together, to stay in cache
_MAX_LENGTHS = 100  # different numbers of observations, for which designs are simulated
_SHORT_GAP = 0.1  # of the range; noise may hide it where a gap of usual length is told
_MAX = 4_000_000  # where sites take turns, and only one of them has to stay there


@dataclass(frozen=True)
class MeanPlan(AdaptivePlan):
    """The plan of a mean.

    Parameters
    ----------
    learns_times : bool
        Whether observation times are released first.
    constants : Constants
        Of the clips.
    """

    learns_times: bool
    constants: Constants

    @property
    def kind(self) -> Hashable:
        return (super().kind, self.learns_times, self.constants.final_width)


@dataclass(frozen=True)
class MeanStreams(Streams):
    """With the noise of the distribution of observation times, (repeats, draws, bins) each."""

    times: Array
    times_gaps: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, repeats: int, draws: int, size: int, pure: bool
             ) -> MeanStreams:
        """Draw the standard noise of one site.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where noise comes from.
        repeats, draws : int
        size : int
            Of the largest basis.
        pure : bool
            Whether δ = 0 at any budget.
        """
        normals = rng.standard_normal((5, repeats, draws, size))
        square = rng.standard_normal((repeats, draws, size, size))
        times = rng.standard_normal((repeats, draws, n_bins(size)))
        gaps, times_gaps = (rng.standard_exponential(each.shape) if pure else
                            np.empty((*each.shape[:-1], 0)) for each in (normals, times))
        normals = np.concatenate([normals, rng.standard_normal((1, *normals.shape[1:]))])
        return cls(normals[..., None, :], gaps[..., None, :],
                   symmetric(square)[..., None, :, None, :], times, times_gaps)


@dataclass(frozen=True)
class MeanEvidence(Evidence):
    """With what released distributions of observation times tell.

    Parameters
    ----------
    clustered, with_gap, hides_gaps, hides_short_gaps : (plans, repeats, draws) array of bool
        Whether times are clustered, leave a gap, or could leave one that noise hides, of a fifth of
        the range or of a tenth.
    """

    clustered: NDArray[np.bool_]
    with_gap: NDArray[np.bool_]
    hides_gaps: NDArray[np.bool_]
    hides_short_gaps: NDArray[np.bool_]


class MeanFit(AdaptiveFit[MeanEvidence]):
    """The model without covariates, with every design of observation times.

    Parameters
    ----------
    values : (repeats, N)
        Readings in unit scale.
    rng : numpy.random.Generator
        Spawns the noise of every site.
    """

    def __init__(self, data: CurveData, basis: Basis, plans: Sequence[MeanPlan], draws: int,
                 design: Design, values: Array, rng: np.random.Generator) -> None:
        pure = any(any(plan.pure) for plan in plans)
        self.noise = [MeanStreams.draw(stream, data.n_repeats, draws, basis.size, pure)
                      for stream in rng.spawn(data.sizes.n_servers)]
        super().__init__(data, basis, plans, draws, self.noise, design, (basis.size,))
        self.mean_plans, self.data, self.values = plans, data, values
        self.clustered, self.with_gap, self.hides_gaps, self.hides_short_gaps = np.zeros(
            (4, len(plans), data.n_repeats, draws), dtype=bool)

    @property
    def readings(self) -> tuple[tuple[int, int], ...]:
        counts, people = np.unique(self.data.counts, return_counts=True)
        if len(counts) > _MAX_LENGTHS or any(plan.learns_times for plan in self.mean_plans):
            return ()
        return tuple(zip(counts.tolist(), people.tolist(), strict=True))

    def evidence(self, fit: UnitFit) -> MeanEvidence:
        return MeanEvidence(**vars(self.evidence_of_steps(fit)),
                            clustered=self.clustered, with_gap=self.with_gap,
                            hides_gaps=self.hides_gaps, hides_short_gaps=self.hides_short_gaps)

    def pieces(self) -> Iterator[Piece]:
        stated: list[list[int]] = []
        for members in self.kinds.values():
            if self.mean_plans[members[0]].learns_times:
                yield from self._with_learned_times(members)
            else:
                stated.append(members)
        if stated:
            yield from self._with_stated_times(stated)

    def _with_stated_times(self, kinds: list[list[int]]) -> Iterator[Piece]:
        """All plans whose law of the times is declared; `kinds` are the members of each."""
        data, sizes = self.data, [self.plans[members[0]].size for members in kinds]
        basis = self.basis.first(max(sizes))
        moments = curve_moments(data.times, self.values, data.counts, basis)
        for repeats in self._blocks(basis.size):
            for of_parts in zip(*(
                    weighted_within_curves(moments.repeats(part), data.counts, set(sizes),
                                           self.design)
                    for part in self._within(repeats, basis.size)), strict=True):
                size = of_parts[0][0]
                by_site = [AffineDeviations.joined([each.among(curves) for _, each in of_parts])
                           for curves in self.servers]
                for members in (members for members, of_kind in zip(kinds, sizes, strict=True)
                                if of_kind == size):
                    yield self._piece(members, repeats, [
                        self.site(s, each, members, repeats) for s, each in enumerate(by_site)])

    def _with_learned_times(self, members: list[int]) -> Iterator[Piece]:
        """Plans of one kind that first spend a tenth of their budgets on observation times."""
        data, size = self.data, self.plans[members[0]].size
        moments = curve_moments(data.times, self.values, data.counts, self.basis.first(size))
        shares = time_shares(data.times, self.values, data.counts, n_bins(size))
        for repeats in self._blocks(size):
            deviations, of_block = plain(moments.repeats(repeats)), shares[repeats]
            learned = [self._learned(s, of_block[..., curves], members, repeats)
                       for s, curves in enumerate(self.servers)]
            self._doubt(learned, members, repeats)
            yield self._piece(members, repeats, [
                self.site(s, deviations.among(curves), members, repeats,
                          mixing_of_shares(*learned[s], size))
                for s, curves in enumerate(self.servers)])

    def _blocks(self, size: int) -> Iterator[slice]:
        """Repeats that are located together: each site's curves stay in cache by themselves."""
        largest = max(self.sizes.n_curves_per_server)
        tall = max(1, min(_BLOCK // (size**2 * largest), _MAX // (size**2 * self.data.n_curves)))
        for first in range(0, self.n_repeats, tall):
            yield slice(first, min(first + tall, self.n_repeats))

    def _within(self, repeats: slice, size: int) -> Iterator[slice]:
        """A block in parts of which the curves of all sites stay in cache together."""
        tall = max(1, _BLOCK // (size**2 * self.data.n_curves))
        for first in range(repeats.start, repeats.stop, tall):
            yield slice(first, min(first + tall, repeats.stop))

    def _piece(self, members: list[int], repeats: slice, sites: Sequence[SiteDeviations]) -> Piece:
        plan = self.mean_plans[members[0]]
        return Piece(members, repeats, sites, public_scale(plan.size, self.sizes),
                     self._law(plan.size), plan.constants, prior=self._prior(plan.size))

    def _law(self, size: int) -> ReferenceLaw:
        """Of the deviations; where every curve tells of all coefficients they differ in nothing."""
        evenly = self.design == Design() and self.planned >= _DENSE * size
        if evenly or len(self.design.times) >= _DENSE * size:
            return heavy_tailed(size)
        return of_observed_curves(self.basis.first(size), self.planned, self.design)

    def _prior(self, size: int) -> Array:
        """Size of the coefficients before anything is measured: (size,).

        Where common times do not tell all of them apart, smoothness alone says how the curve runs
        between and beyond the times: no coefficient may be large only because few can be told.
        """
        if are_told_apart(self.basis.first(size), self.design):
            return np.asarray(_PRIOR * public_scale(size, self.sizes))
        return np.asarray(_PRIOR * np.arange(1.0, size + 1) ** -1.5)

    def _learned(self, s: int, shares: Array, members: list[int], repeats: slice
                 ) -> tuple[Array, Array]:
        """What one site releases of its observation times, and the scale of the noise in it.

        `shares` (repeats, bins, curves). The last column, without noise, is for looking at alone.
        """
        feasible, bins = self.feasible(members), shares.shape[1]
        plan, streams = self.plans[members[0]], self.noise[s]
        budgets = [self.plans[k].budgets[s] for k in feasible]
        noise = streams.times[repeats, :, :bins]
        if plan.pure[s]:
            noise = spherical(noise, streams.times_gaps[repeats, :, :bins])
            cost = [TIMES_SHARE * b.epsilon / math.sqrt(bins + 1) for b in budgets]
        else:
            cost = [math.sqrt(TIMES_SHARE) * min(mu_of(b), NOISE_FREE) for b in budgets]
        scale = SENSITIVITY / (shares.shape[2] * np.array([*np.repeat(cost, self.draws),
                                                           NOISE_FREE]))
        return transcript.sent(s, TIMES, shares.mean(axis=2)[:, None] + scale[:, None]
                               * columns(noise, len(feasible), 1), scale[:, None]), scale

    def _doubt(self, learned: Sequence[tuple[Array, Array]], members: list[int], repeats: slice
               ) -> None:
        """Note in which releases times are clustered at a site, or leave a gap at all of them.

        And in which noise hides whether they do.
        """
        feasible = self.feasible(members)
        weights = np.array(self.sizes.n_curves_per_server) / self.sizes.n_curves
        shares, noise = (np.array(of_sites) for of_sites in zip(*learned, strict=True))
        pooled = np.einsum("s,s...->...", weights, shares)
        pooled_noise = np.sqrt(np.einsum("s,sc->c", weights**2, noise**2))
        clustered = np.any([are_rough(*of_site) for of_site in learned], axis=0)
        tells, tells_short = (
            np.broadcast_to(tells_gaps(pooled_noise, shares.shape[-1], *length), clustered.shape)
            for length in ((), (_SHORT_GAP,)))
        for doubt, doubted in (
                (self.clustered, clustered), (self.hides_gaps, ~tells),
                (self.hides_short_gaps, ~tells_short),
                (self.with_gap, tells & leave_a_gap(pooled, pooled_noise))):
            of_plans = doubted[:, :-1].reshape(len(doubted), len(feasible), self.draws)
            doubt[feasible, repeats] |= of_plans.swapaxes(0, 1)
