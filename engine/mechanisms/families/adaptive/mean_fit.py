"""The fit behind the adaptive mean: how curves deviate, whatever is known of observation times."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Indices
from engine.core.types import Array, CurveData, CurveStore, Design, Step, TimeLaw
from engine.mechanisms.families.adaptive.checked_facts import nearest, pooled
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.fits import (
    AdaptiveFit,
    AdaptivePlan,
    CurvesInScale,
    Evidence,
    Piece,
    Streams,
    UnitFit,
    columns,
    deviations_of_site,
    public_observations,
    spherical,
    symmetric,
)
from engine.mechanisms.families.adaptive.location import Located, SiteDeviations
from engine.mechanisms.families.adaptive.rules import public_scale
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.numerics.bases import Basis
from engine.numerics.between_times import drawn_past
from engine.numerics.curve_deviations import MOST_COLUMNS, CurveDeviations
from engine.numerics.deviations import (
    AffineDeviations,
    Deviations,
    are_told_apart,
    plain,
    weighted_within_curves,
)
from engine.numerics.exact_sums import ExactSum, mean_of_parts, sum_of_numbers
from engine.numerics.moments import Moments, curve_moments
from engine.numerics.reference_law import ReferenceLaw, heavy_tailed, of_observed_curves
from engine.numerics.time_histograms import (
    SENSITIVITY,
    Mixing,
    may_leave_a_part_empty,
    mixing_of_shares,
    n_bins,
    time_shares,
)
from engine.privacy import transcript

TIMES_SHARE = 0.1  # of the budget, where the distribution of observation times is unknown
TIMES = Step("distribution of observation times", sensitivity=float(SENSITIVITY))
_PRIOR = 0.4  # prior of coefficients, in units of u_l; of l^-1.5 where times do not tell them apart
_DENSE = 3  # observations for each basis function, from which curves tell of all of them
_BLOCK = 600_000  # entries of T of the repeats worked on together, to stay in cache
_MAX_LENGTHS = 100  # different numbers of observations, for which designs are simulated
_MAX = 4_000_000  # where sites take turns, and only one of them has to stay there


@dataclass(frozen=True)
class MeanPlan(AdaptivePlan):
    """The plan of a mean."""

    times_share: float  # of the released distribution of observation times; 0 where they are stated
    constants: Constants  # of the clips
    learned_constants: Constants  # where the first message contradicts what is relied on

    @property
    def learns_times(self) -> bool:
        return self.times_share > 0

    @property
    def kind(self) -> Hashable:
        return (super().kind, self.times_share, self.constants.final_width)


@dataclass(frozen=True)
class MeanStreams(Streams):
    """Streams with noise for the distribution of observation times, (repeats, draws, bins) each."""

    times: Array
    times_gaps: Array

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        repeats: int,
        draws: int,
        size: int,
        pure: bool,
        n_facts: int,
        counts_sides: bool,
    ) -> MeanStreams:
        """Draw the standard noise of one site.

        Noise of the first message comes last, so that stored releases without it keep theirs; but
        for that of sides.
        """
        normals = rng.standard_normal((5, repeats, draws, size))
        square = rng.standard_normal((repeats, draws, size, size))
        times = rng.standard_normal((repeats, draws, n_bins(size)))
        gaps, times_gaps = (
            rng.standard_exponential(each.shape) if pure else np.empty((*each.shape[:-1], 0))
            for each in (normals, times)
        )
        normals = np.concatenate([normals, rng.standard_normal((1, *normals.shape[1:]))])
        far = facts = pure_facts = np.empty(0)
        if n_facts:
            far, facts = (rng.standard_normal((repeats, draws, n)) for n in (2, n_facts))
        if n_facts and pure:
            pure_facts = rng.laplace(size=facts.shape) / math.sqrt(2)
        if counts_sides:
            far = np.concatenate([far, rng.standard_normal((repeats, draws, 1))], axis=-1)
        return cls(
            normals[..., None, :],
            gaps[..., None, :],
            symmetric(square)[..., None, :, None, :],
            times,
            times_gaps,
            far=far,
            facts=facts,
            pure_facts=pure_facts,
        )


class MeanFit(AdaptiveFit[Evidence]):
    """The model without covariates, with every design of observation times.

    It relies on the law `design` unless messages contradict it.
    """

    def __init__(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[MeanPlan],
        draws: int,
        design: Design,
        scale: ObservationScale,
        rng: np.random.Generator,
    ) -> None:
        pure = any(any(plan.pure) for plan in plans)
        n_facts = max((len(plan.first.weights) for plan in plans if plan.first), default=0)
        self.noise = [
            MeanStreams.draw(
                stream,
                data.n_repeats,
                draws,
                basis.size,
                pure,
                n_facts,
                any(plan.counts_sides for plan in plans),
            )
            for stream in rng.spawn(data.sizes.n_servers)
        ]
        super().__init__(data, basis, plans, draws, self.noise, design, (basis.size,), scale)
        self.mean_plans = plans

    @property
    def readings(self) -> tuple[tuple[int, int], ...]:
        observations = public_observations(self.data)
        if len(observations) > _MAX_LENGTHS or any(plan.times_share for plan in self.mean_plans):
            return ()
        return observations

    def evidence(self, fit: UnitFit) -> Evidence:
        return self.evidence_of_steps(fit)

    def pieces(self) -> Iterator[Piece]:
        if not self.design.is_known:
            for members in self.kinds.values():
                yield from self._with_learned_times(members)
        elif self._are_read_anew:
            for members in self.kinds.values():
                by_site = self._by_site(self.plans[members[0]].size, self.design)
                yield from self._as_decided(members, slice(0, 1), by_site)
        else:
            yield from self._with_stated_times(list(self.kinds.values()))

    @cached_property
    def _are_read_anew(self) -> bool:
        """True for one data set with few columns, as in a release: curves are read in each pass."""
        return isinstance(self.data, CurveStore) or (
            self.n_repeats == 1
            and all(
                len(self.feasible(members)) * self.draws < MOST_COLUMNS
                for members in self.kinds.values()
            )
        )

    def _by_site(
        self, size: int, design: Design | None, left_out: NDArray[np.bool_] | None = None
    ) -> list[Deviations]:
        """The curves of each site, of one data set; without a law of the times all count alike."""
        of = CurvesInScale(self.scale.of, self.basis.first(size), design, left_out, self.is_single)
        return [deviations_of_site(self.data, s, of) for s in range(len(self.servers))]

    def _with_stated_times(self, kinds: list[list[int]]) -> Iterator[Piece]:
        """All plans, where a law of the times is relied on; `kinds` are the members of each."""
        data, sizes = self.data, [self.plans[members[0]].size for members in kinds]
        assert isinstance(data, CurveData)
        moments = self._moments.first(max(sizes))
        for repeats in self._blocks(max(sizes)):
            for of_parts in zip(
                *(
                    weighted_within_curves(
                        moments.repeats(part), data.counts, set(sizes), self.design
                    )
                    for part in self._within(repeats, max(sizes))
                ),
                strict=True,
            ):
                size = of_parts[0][0]
                by_site = [
                    AffineDeviations.joined([each.among(curves) for _, each in of_parts])
                    for curves in self.servers
                ]
                for members in (
                    members
                    for members, of_kind in zip(kinds, sizes, strict=True)
                    if of_kind == size
                ):
                    yield from self._as_decided(members, repeats, by_site)

    @cached_property
    def _moments(self) -> Moments:
        """The moments of all curves, for the largest plan."""
        assert isinstance(self.data, CurveData)
        values = self.scale.of(self.data)
        return curve_moments(self.data.times, values, self.data.counts, self.basis)

    def _with_learned_times(self, members: list[int]) -> Iterator[Piece]:
        """Plans of one kind that rely on the released distribution of observation times."""
        for repeats in self._blocks(self.plans[members[0]].size):
            self.decided(members, repeats)
            mixings = self._mixings(members, repeats)
            yield self._learned_piece(members, repeats, mixings)

    def _as_decided(
        self, members: list[int], repeats: slice, by_site: Sequence[Deviations]
    ) -> Iterator[Piece]:
        """The releases of one kind, apart where the first message says that they differ."""
        decision = self.decided(members, repeats)
        mixings = self._mixings(members, repeats) if self.mean_plans[members[0]].times_share else []
        kinds, patterns = np.zeros((1, 1), dtype=np.intp), np.zeros((0, 0), dtype=bool)
        if decision is not None and mixings:
            kinds = decision.is_untrue.astype(np.intp)
        elif decision is not None and decision.left_out.any():
            of_release = decision.left_out.shape[:-1]
            patterns, which = np.unique(
                decision.left_out.reshape(np.prod(of_release), -1), axis=0, return_inverse=True
            )
            kinds = np.where(decision.left_out.any(axis=-1), which.reshape(of_release) + 1, 0)
        for rows, among, kind in _alike(kinds):
            where = (
                repeats
                if among is None
                else slice(repeats.start + rows.start, repeats.start + rows.stop)
            )
            if kind == 0:
                sites = [
                    self.site(s, each if among is None else each.of_repeats(rows), members, where)
                    for s, each in enumerate(by_site)
                ]
                yield self._piece(members, where, sites, self.design, among)
            elif mixings:
                yield self._learned_piece(
                    members,
                    where,
                    mixings
                    if among is None
                    else [mixing.of(rows, slice(None)) for mixing in mixings],
                    among,
                )
            else:
                yield from self._without_times(members, where, patterns[kind - 1], among)

    def _learned_piece(
        self,
        members: list[int],
        repeats: slice,
        mixings: Sequence[Mixing],
        columns: Indices | None = None,
    ) -> Piece:
        """Releases that rely on what was released of the observation times."""
        size = self.plans[members[0]].size
        if self._are_read_anew:
            by_site = self._by_site(size, None)
        else:
            deviations = plain(self._moments.repeats(repeats).first(size))
            by_site = [deviations.among(curves) for curves in self.servers]
        return self._piece(
            members,
            repeats,
            [
                self.site(s, curves, members, repeats, mixings[s])
                for s, curves in enumerate(by_site)
            ],
            Design(law=TimeLaw.UNKNOWN),
            columns,
        )

    def _without_times(
        self,
        members: list[int],
        repeats: slice,
        left_out: NDArray[np.bool_],
        columns: Indices | None,
    ) -> Iterator[Piece]:
        """Releases that do not read the observations at some of the common times.

        Sites are worked on one by one: what one reads changes not even the rounding of another.
        """
        size = self.plans[members[0]].size
        design = Design.common(tuple(np.array(self.design.times)[~left_out].tolist()))
        for k in range(repeats.start, repeats.stop):
            repeat = slice(k, k + 1)
            by_site = (
                self._by_site(size, design, left_out)
                if self._are_read_anew
                else [self._at_times(k, curves, left_out, size, design) for curves in self.servers]
            )
            sites = [self.site(s, each, members, repeat) for s, each in enumerate(by_site)]
            piece = self._piece(members, repeat, sites, design, columns)
            yield replace(piece, left_out=left_out)

    def finished(self, piece: Piece, located: Located) -> Located:
        """Drawn past common times that were left out."""
        if piece.left_out is None:
            return located
        basis = self.basis.first(self.plans[piece.members[0]].size)
        centre, covariance = drawn_past(
            basis, self.design.times, piece.left_out, located.centre, located.covariance
        )
        return replace(located, centre=centre, covariance=covariance)

    def _at_times(
        self, repeat: int, curves: slice, left_out: NDArray[np.bool_], size: int, design: Design
    ) -> Deviations:
        """The deviations of one site's curves, observed at the other common times alone."""
        data = self.data
        assert isinstance(data, CurveData)
        ends = np.cumsum([0, *data.counts])
        mine = slice(ends[curves.start], ends[curves.stop])
        times = data.times[repeat, mine]
        values = self.scale(times, data.values[repeat, mine])
        is_read = ~left_out[nearest(times, self.design.times)]
        curve = np.repeat(np.arange(curves.stop - curves.start), data.counts[curves])
        counts = np.bincount(curve[is_read], minlength=curves.stop - curves.start)
        basis = self.basis.first(size)
        if self.n_repeats == 1 and self.draws < MOST_COLUMNS:
            return CurveDeviations.of(times[is_read], values[is_read], counts, basis, design)
        moments = curve_moments(times[None, is_read], values[None, is_read], counts, basis)
        ((_, deviations),) = weighted_within_curves(moments, counts, {size}, design)
        return deviations

    # -- arrays that fit into a cache ---------------------------------------------------------

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

    def _piece(
        self,
        members: list[int],
        repeats: slice,
        sites: Sequence[SiteDeviations],
        design: Design,
        columns: Indices | None = None,
    ) -> Piece:
        """Gather what is located together: releases under one law of the times."""
        plan = self.mean_plans[members[0]]
        if columns is not None:
            sites, columns = [site.among_columns(columns) for site in sites], columns[:-1]
        law = self._law(plan.size, design)
        if not plan.first_share:  # earlier releases took all visits for late
            law = replace(law, doubt=None)
        clips = plan.constants if design.is_known else plan.learned_constants
        if design != self.design:  # the ball that clips nobody is that of all stated times
            clips = replace(clips, ball=math.inf)
        return Piece(
            members,
            repeats,
            sites,
            public_scale(plan.size, self.sizes),
            law,
            clips,
            prior=self._prior(plan.size, design),
            columns=columns,
        )

    def _law(self, size: int, design: Design) -> ReferenceLaw:
        """Choose the law of deviations; curves that determine all coefficients are alike in it."""
        planned = min(self.planned, len(design.times) or self.planned)
        evenly = design == Design() and planned >= _DENSE * size
        if evenly or len(design.times) >= _DENSE * size:
            return heavy_tailed(size)
        return of_observed_curves(self.basis.first(size), planned, design)

    def _prior(self, size: int, design: Design) -> Array:
        """Size of the coefficients before anything is measured: (size,).

        Where common times do not tell all of them apart, smoothness alone says how the curve runs
        between and beyond the times: no coefficient may be large only because few can be told.
        """
        if are_told_apart(self.basis.first(size), design):
            return np.asarray(_PRIOR * public_scale(size, self.sizes))
        return np.asarray(_PRIOR * np.arange(1.0, size + 1) ** -1.5)

    # -- released times -----------------------------------------------------------------------

    def _mixings(self, members: list[int], repeats: slice) -> list[Mixing]:
        """Release the observation times of all sites, as the mixing of each."""
        size = self.plans[members[0]].size
        learned = [
            self._learned(s, self._shares(s, repeats, n_bins(size)), members, repeats)
            for s in range(len(self.servers))
        ]
        together, noise = pooled(
            [values for values, _ in learned],
            [scale[:, None] for _, scale in learned],
            self.sizes.n_curves_per_server,
        )
        is_void = may_leave_a_part_empty(together, noise[:, 0])
        for row, k in enumerate(self.feasible(members)):
            self.heard.learned_void[k, repeats] = is_void[:, row * self.draws :][:, : self.draws]
        return [mixing_of_shares(*each, self.basis.first(size)) for each in learned]

    def _shares(self, s: int, repeats: slice, bins: int) -> Array:
        """Average the shares of observation times over the people of a site: (repeats, bins)."""
        return mean_of_parts(self.data.of_parts(s, _TimeShares(self.scale, repeats, bins)))

    def _learned(
        self, s: int, shares: Array, members: list[int], repeats: slice
    ) -> tuple[Array, Array]:
        """Release the observation times of one site, and return the scale of their noise.

        `shares` (repeats, bins). The last column, without noise, is for looking at alone.
        """
        n_plans, bins = len(self.feasible(members)), shares.shape[1]
        plan, streams = self.mean_plans[members[0]], self.noise[s]
        noise, growth = streams.times[repeats, :, :bins], 1.0
        if plan.pure[s]:
            noise = spherical(noise, streams.times_gaps[repeats, :, :bins])
            growth = math.sqrt(bins + 1)
        scale = (
            SENSITIVITY
            * growth
            / (self.sizes.n_curves_per_server[s] * self.costs((plan.times_share,), s, members)[0])
        )
        return transcript.sent(
            s, TIMES, shares[:, None] + scale[:, None] * columns(noise, n_plans, 1), scale[:, None]
        ), scale


@dataclass(frozen=True)
class _TimeShares:
    """Sums of the shares of observation times of people."""

    scale: ObservationScale
    repeats: slice
    bins: int

    def __call__(self, blocks: Iterator[CurveData]) -> tuple[ExactSum | None, int]:
        return sum_of_numbers(
            time_shares(
                block.times[self.repeats],
                self.scale.of(block)[self.repeats],
                block.counts,
                self.bins,
            )
            for block in blocks
        )


def _alike(kinds: Indices) -> Iterator[tuple[slice, Indices | None, int]]:
    """Neighbouring repeats whose columns are of the same kinds, and the columns of each kind.

    Of (repeats, columns); the last column, without noise, is with every kind. Columns are None
    where all are of one kind in all repeats.
    """
    released = kinds[:, :-1] if kinds.shape[1] > 1 else kinds
    if (released == released[0, 0]).all():
        yield slice(0, len(kinds)), None, int(released[0, 0])
        return
    starts = [
        0,
        *(np.flatnonzero((released[1:] != released[:-1]).any(axis=1)) + 1).tolist(),
        len(kinds),
    ]
    for start, stop in pairwise(starts):
        for kind in np.unique(released[start]).tolist():
            here = np.flatnonzero(released[start] == kind)
            yield slice(start, stop), np.append(here, kinds.shape[1] - 1), kind
