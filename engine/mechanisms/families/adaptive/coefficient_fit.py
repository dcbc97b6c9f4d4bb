"""The fit behind adaptive coefficients: covariates first, then locations of their coefficients."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from engine.core.types import Array, CurveData, CurveStore, Design
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.covariate_moments import CovariateSite, learned
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
    symmetric,
)
from engine.mechanisms.families.adaptive.location import Located
from engine.mechanisms.families.adaptive.rules import public_scale
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.numerics.bases import Basis
from engine.numerics.curve_deviations import MOST_COLUMNS, RegressionCurves
from engine.numerics.deviations import AffineDeviations, Deviations, weighted_within_curves
from engine.numerics.least_squares import within_functions
from engine.numerics.moments import curve_moments
from engine.numerics.reference_law import of_regressors
from engine.numerics.regression_moments import RegressionDeviations
from engine.numerics.regressor_maps import RegressorMap

_WIDEST_START = 1.25  # of the first radius, where few tell an effect
_BLOCK = 2_000_000  # entries of the reference law of the repeats worked on together
_MAX = 4_000_000  # entries of T of all curves of these repeats


@dataclass(frozen=True)
class CoefficientPlan(AdaptivePlan):
    """The plan of coefficients."""

    # of μ², of both releases of the covariates; 0 for one that is not made
    covariate_shares: tuple[float, ...]
    constants: Constants

    @property
    def kind(self) -> Hashable:
        return (super().kind, self.constants.final_width)


@dataclass(frozen=True)
class CoefficientStreams(Streams):
    """Streams with noise for both releases of the covariates, (2, repeats, draws, K, K)."""

    gram: Array

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        repeats: int,
        draws: int,
        n_functions: int,
        size: int,
        n_facts: int,
        counts_sides: bool,
    ) -> CoefficientStreams:
        """Draw the standard noise of one site.

        That of the first message, of `n_facts` numbers (0 if facts are not checked), is drawn last,
        and that of sides after it.
        """
        shape, p = (repeats, draws, n_functions, size), n_functions * size
        square = symmetric(rng.standard_normal((repeats, draws, p, p)))
        gram = symmetric(rng.standard_normal((2, repeats, draws, n_functions, n_functions)))
        normals = rng.standard_normal((6, *shape))
        far, facts = (
            (rng.standard_normal((repeats, draws, n)) for n in (2, n_facts))
            if n_facts
            else (np.empty(0), np.empty(0))
        )
        if counts_sides:
            far = np.concatenate([far, rng.standard_normal((repeats, draws, 1))], axis=-1)
        return cls(
            normals,
            np.empty(0),
            square.reshape(*shape, n_functions, size),
            gram,
            far=far,
            facts=facts,
        )


@dataclass(frozen=True, kw_only=True)
class CoefficientPiece(Piece):
    """Piece with the map from coefficients to the coordinates in which they are located."""

    map: RegressorMap


@dataclass(frozen=True)
class CoefficientEvidence(Evidence):
    """Evidence with what the released covariates show."""

    doubt: Array  # (plans, repeats, draws, K): as `CovariateMoments` has it


class CoefficientFit(AdaptiveFit[CoefficientEvidence]):
    """The model with covariates; `declared` are stated second moments of regressors, (K, K)."""

    def __init__(
        self,
        data: CurveData | CurveStore,
        basis: Basis,
        plans: Sequence[CoefficientPlan],
        draws: int,
        declared: Array | None,
        scale: ObservationScale,
        rng: np.random.Generator,
    ) -> None:
        self.declared, self.covariate_plans = declared, plans
        known = (data.of_parts(site, _regressors) for site in range(data.sizes.n_servers))
        self.of_people = np.concatenate(
            [block for parts in known for part in parts for block in part], axis=2
        )
        self.n_functions = self.of_people.shape[1]
        n_facts = max((len(plan.first.weights) for plan in plans if plan.first), default=0)
        self.noise = [
            CoefficientStreams.draw(
                stream,
                data.n_repeats,
                draws,
                self.n_functions,
                basis.size,
                n_facts,
                any(plan.counts_sides for plan in plans),
            )
            for stream in rng.spawn(data.sizes.n_servers)
        ]
        super().__init__(
            data,
            basis,
            plans,
            draws,
            self.noise,
            data.facts.design,
            (self.n_functions, basis.size),
            scale,
        )
        self.doubt = np.zeros((len(plans), data.n_repeats, draws, self.n_functions))

    def evidence(self, fit: UnitFit) -> CoefficientEvidence:
        return CoefficientEvidence(**vars(self.evidence_of_steps(fit)), doubt=self.doubt)

    def pieces(self) -> Iterator[Piece]:
        sizes = {self.plans[members[0]].size for members in self.kinds.values()}
        design = self.design if self.design.is_known else Design()  # unknown: taken to be even
        kinds, data = self.kinds.values(), self.data
        if isinstance(data, CurveStore) or (
            self.n_repeats == 1
            and all(len(self.feasible(members)) * self.draws < MOST_COLUMNS for members in kinds)
        ):
            for members in kinds:
                self.decided(members, slice(0, 1))
                basis = self.basis.first(self.plans[members[0]].size)
                read_anew = partial(self._read_anew, basis, design)
                yield self._piece(members, slice(0, 1), basis, design, read_anew)
            return
        values = _in_unit_scale(self.scale, data)
        moments = curve_moments(data.times, values, data.counts, self.basis.first(max(sizes)))
        for repeats in self._blocks(max(map(len, kinds)), sizes):
            of_sizes = dict(
                weighted_within_curves(moments.repeats(repeats), data.counts, sizes, design)
            )
            for members in kinds:
                self.decided(members, repeats)
                size = self.plans[members[0]].size
                yield self._piece(
                    members,
                    repeats,
                    self.basis.first(size),
                    design,
                    partial(_kept, [of_sizes[size].among(people) for people in self.servers]),
                )

    def finished(self, piece: Piece, located: Located) -> Located:
        """Map to the covariates' own coefficients: (…, K, r).

        Includes the covariance of each function.
        """
        assert isinstance(piece, CoefficientPiece)
        located = _of_covariates(located, piece.map)
        centre = located.centre.reshape(*located.centre.shape[:2], self.n_functions, -1)
        covariance = located.covariance.reshape(*centre.shape, *centre.shape[2:])
        return replace(located, centre=centre, covariance=within_functions(covariance))

    @staticmethod
    def regressors(data: CurveData) -> Array:
        if data.covariates is None:
            return data.regressors
        known = np.asarray(np.isfinite(data.covariates).all(axis=2))[:, None]
        return np.where(known, data.regressors, 0.0)

    def _read_anew(
        self, basis: Basis, design: Design, s: int, regressors: Array, to: RegressorMap
    ) -> Deviations:
        """The deviations of a site whose curves are read in each pass."""
        scale = partial(_in_unit_scale, self.scale)
        curves = CurvesInScale(scale, basis, design, None, self.is_single)
        return deviations_of_site(self.data, s, _Regressed(curves, to), is_common=False)

    def _blocks(self, n_plans: int, sizes: Collection[int]) -> Iterator[slice]:
        """Cut the repeats so that the arrays of one block, of all sizes together, stay small."""
        of_law = (n_plans * self.draws + 1) * 400 * self.n_functions
        of_curves = sum(size**2 for size in sizes) * self.sizes.n_curves
        step = max(1, min(_BLOCK // of_law, _MAX // of_curves))
        for first in range(0, self.n_repeats, step):
            yield slice(first, min(first + step, self.n_repeats))

    def _piece(
        self,
        members: list[int],
        repeats: slice,
        basis: Basis,
        design: Design,
        deviations: Callable[[int, Array, RegressorMap], Deviations],
    ) -> CoefficientPiece:
        """The covariates are released here, as the deviations of coefficients depend on them.

        `deviations` are those of a site, by its number, its regressors and the map of them.
        """
        regressors = self.of_people[repeats]
        covariates = learned(
            [
                self.covariate_site(s, regressors[..., people], members, repeats)
                for s, people in enumerate(self.servers)
            ],
            self.declared,
        )
        for row, k in enumerate(self.feasible(members)):
            of_plan = slice(row * self.draws, (row + 1) * self.draws)
            self.doubt[k, repeats] = covariates.doubt[:, of_plan]
        sites = [
            self.site(s, deviations(s, regressors[..., people], covariates.map), members, repeats)
            for s, people in enumerate(self.servers)
        ]
        scale = np.tile(public_scale(basis.size, self.sizes), self.n_functions)
        law = of_regressors(covariates.moments, covariates.map, basis, self.planned, design)
        plan = self.covariate_plans[members[0]]
        constants = _widened(plan.constants, covariates.widening, plan.is_joint)
        return CoefficientPiece(
            members, repeats, sites, scale, law, constants, self.n_functions, map=covariates.map
        )

    def covariate_site(
        self, s: int, regressors: Array, members: list[int], repeats: slice
    ) -> CovariateSite:
        """Give one site's regressors (repeats, K, people) the noise of both their releases."""
        shares = self.covariate_plans[members[0]].covariate_shares
        with np.errstate(divide="ignore"):  # a release that is not made has no share
            unit = 1 / (self.sizes.n_curves_per_server[s] * self.costs(shares, s, members))
        return CovariateSite(
            regressors,
            unit,
            columns(self.noise[s].gram[:, repeats], len(self.feasible(members)), 2),
            s,
        )


def _in_unit_scale(scale: ObservationScale, data: CurveData) -> Array:
    """Values (repeats, N); whoever has a covariate that is no number says nothing."""
    values = scale.of(data)
    if data.covariates is None:
        return values
    known = np.isfinite(data.covariates).all(axis=2)
    return np.where(np.repeat(known, data.counts, axis=1), values, np.nan)


def _regressors(blocks: Iterator[CurveData]) -> list[Array]:
    return [block.regressors for block in blocks]


@dataclass(frozen=True)
class _Regressed:
    """Makes deviations of coefficient functions of some curves."""

    curves: CurvesInScale
    to: RegressorMap

    def __call__(self, data: CurveData) -> RegressionCurves:
        return RegressionCurves(self.curves(data), data.regressors[0], self.to)


def _kept(
    by_site: Sequence[AffineDeviations], s: int, regressors: Array, to: RegressorMap
) -> Deviations:
    return RegressionDeviations(by_site[s], regressors, to)


def _of_covariates(located: Located, to_covariates: RegressorMap) -> Located:
    """Map estimates in coordinates F = W G to the coefficients a = W'b of the covariates.

    Parts of the variance are those of b, scaled to the variance of a.
    """
    n_functions = to_covariates.full.shape[-1]
    shape = (*located.centre.shape[:2], n_functions, -1)
    centre = to_covariates.coefficients(located.centre.reshape(shape))
    square = (*centre.shape, *centre.shape[2:])
    covariance = to_covariates.covariance(located.covariance.reshape(square))
    covariance = covariance.reshape(located.covariance.shape)
    before, after = (
        np.trace(each, axis1=-2, axis2=-1) for each in (located.covariance, covariance)
    )
    growth = after / np.maximum(before, 1e-300)
    return replace(
        located,
        centre=centre.reshape(located.centre.shape),
        covariance=covariance,
        noise=located.noise * growth,
        sampling=located.sampling * growth,
    )


def _widened(constants: Constants, widening: Array, is_joint: bool) -> Constants:
    """Constants of the engine with radii² by (repeats, columns), wider where few tell an effect."""
    widths: dict[str, Any] = {
        "middle_width": constants.middle_width * widening,
        "scale_width": constants.scale_width * widening,
        "final_width": np.maximum(constants.final_width, widening),
    }
    if is_joint:  # the second location is clipped as the sizes that come with it
        widths["first_radius"] = constants.first_radius * np.minimum(widening**0.25, _WIDEST_START)
        widths["first_scale"] = np.minimum(constants.first_scale * np.sqrt(widening), 1.0)
    return replace(constants, **widths)
