"""The fit behind adaptive coefficients: covariates first, then locations of their coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from engine.families.adaptive import QUIET, Fitted, Scale, columns, public_scale
from engine.families.covariate_moments import CovariateSite, learned
from engine.families.location import (
    STEPS,
    WITH_COVARIATES,
    Constants,
    Located,
    Site,
    locate,
)
from engine.feasibility import Feasibility
from engine.numerics.bases import Basis
from engine.numerics.deviations import products_inverse
from engine.numerics.least_squares import within_functions
from engine.numerics.moments import curve_moments
from engine.numerics.public_curves import PublicCurve
from engine.numerics.reference_law import of_regressors
from engine.numerics.regression_deviations import RegressionDeviations
from engine.numerics.regression_moments import RegressionMoments, regression_moments
from engine.numerics.regressor_maps import RegressorMap
from engine.privacy import accounting
from engine.types import Array, Budget, CurveData, PublicFacts, Spend

_BLOCK = 2_000_000  # entries of the reference law of the repeats worked on together


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at: public sizes and one budget per site."""

    size: int
    budgets: tuple[Budget, ...]
    shares: tuple[float, ...]  # of the releases after those of the covariates
    covariate_shares: tuple[float, ...]  # of both of their releases
    verdict: Feasibility
    shrinks: bool
    spends: tuple[Spend, ...]

    @property
    def feasible(self) -> bool:
        return self.verdict.is_feasible


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own."""

    normals: Array  # (5, repeats, draws, K, r)
    symmetric: Array  # (repeats, draws, K, r, K, r)
    gram: Array  # (2, repeats, draws, K, K)

    @classmethod
    def draw(cls, rng: np.random.Generator, repeats: int, draws: int, n_functions: int, size: int
             ) -> Streams:
        shape = (n_functions, size)
        square = rng.standard_normal((repeats, draws, n_functions * size, n_functions * size))
        gram = rng.standard_normal((2, repeats, draws, n_functions, n_functions))
        return cls(rng.standard_normal((5, repeats, draws, *shape)),
                   ((square + square.swapaxes(-1, -2)) / 2).reshape(repeats, draws, *shape, *shape),
                   (gram + gram.swapaxes(-1, -2)) / 2)


def unit_scale(facts: PublicFacts) -> Scale:
    """The public map from responses to [−1, 1]."""
    return Scale(PublicCurve((facts.value_middle,) * 2), facts.value_half_width)


def in_unit_scale(data: CurveData, basis: Basis) -> RegressionMoments:
    """Moments of all curves with their regressors, responses mapped to [−1, 1]."""
    values = unit_scale(data.facts)(data.times, data.values)
    return regression_moments(curve_moments(data.times, values, data.counts, basis), data)


class CoefficientFit:
    """Everything that fits the plans of one call: curves in unit scale, noise, and the sites."""

    def __init__(self, data: CurveData, basis: Basis, plans: list[Plan], draws: int,
                 streams: list[Streams], declared: Array | None) -> None:
        self.plans, self.draws, self.streams, self.declared = plans, draws, streams, declared
        self.sizes, self.repeats, self.basis = data.sizes, data.n_repeats, basis
        self.planned = max(data.sizes.fewest_per_curve, 1)  # observations of a curve
        self.curves, self.design = in_unit_scale(data, basis), data.facts.design
        self.n_functions = self.curves.n_functions
        self.doubt = np.zeros((len(plans), data.n_repeats, draws, self.n_functions))
        ends = np.cumsum([0, *self.sizes.n_curves_per_server])
        self.servers = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def fitted(self) -> Fitted:
        """Fit all plans, and put the pieces where they belong."""
        out = Fitted.empty(len(self.plans), self.repeats, self.draws,
                           (self.n_functions, self.basis.size), len(self.servers))
        for size in sorted({plan.size for plan in self.plans}):
            members = [k for k, plan in enumerate(self.plans) if plan.size == size]
            for repeats in self._blocks(len(members)):
                found = self._by_function(self._located(members, repeats), size)
                out.put(found, members, self._feasible(members), repeats)
        out.covariance[[not plan.feasible for plan in self.plans]] = np.nan
        return out

    def _by_function(self, found: Located, size: int) -> Located:
        """Coefficients (…, K r) as (…, K, r), and of their covariance that of each function."""
        shape = (*found.centre.shape[:2], self.n_functions, size)
        covariance = within_functions(found.covariance.reshape(*shape, *shape[2:]))
        return replace(found, centre=found.centre.reshape(shape), covariance=covariance)

    def _blocks(self, n_plans: int) -> Iterator[slice]:
        """Cut the repeats so that the arrays of one block stay small."""
        per_repeat = (n_plans * self.draws + 1) * 400 * self.n_functions
        step = max(1, _BLOCK // per_repeat)
        for first in range(0, self.repeats, step):
            yield slice(first, min(first + step, self.repeats))

    def _feasible(self, members: list[int]) -> list[int]:
        return [k for k in members if self.plans[k].feasible]

    def _located(self, members: list[int], repeats: slice) -> Located:
        """Fit plans of one size; those that are not feasible only without noise."""
        plan, feasible = self.plans[members[0]], self._feasible(members)
        curves = self.curves.repeats(repeats).first(plan.size)
        by_site = [curves.curves(people) for people in self.servers]
        covariates = learned([self._covariate_site(s, each.regressors, feasible, repeats)
                              for s, each in enumerate(by_site)], self.declared)
        for row, k in enumerate(feasible):
            columns_of_plan = slice(row * self.draws, (row + 1) * self.draws)
            self.doubt[k, repeats] = covariates.doubt[:, columns_of_plan]
        inverse = products_inverse(self.basis.first(plan.size), self.planned, self.design)
        sites = [self._site(s, RegressionDeviations(each, covariates.map, inverse), feasible,
                            repeats) for s, each in enumerate(by_site)]
        scale = np.tile(public_scale(plan.size, self.sizes), self.n_functions)
        law = of_regressors(covariates.moments, covariates.map, self.basis.first(plan.size),
                            self.planned, self.design)
        return _of_covariates(locate(sites, scale, law, _widened(covariates.reach),
                                     self.n_functions), covariates.map)

    def _covariate_site(self, s: int, regressors: Array, feasible: list[int], repeats: slice
                        ) -> CovariateSite:
        """One site's regressors with the noise of both of their releases."""
        with np.errstate(divide="ignore"):  # a release that is not made has no share
            unit = 1 / (regressors.shape[2] * self._per_step(
                self.plans[0].covariate_shares, s, feasible))
        return CovariateSite(regressors, unit, columns(self.streams[s].gram[:, repeats],
                                                       len(feasible), 2), s)

    def _per_step(self, shares: tuple[float, ...], s: int, feasible: list[int]) -> Array:
        """μ_k of each release of one site; the last column is without noise: (steps, columns)."""
        mus = np.repeat([min(accounting.exact_mu(each.epsilon, each.delta), QUIET)
                         for each in (self.plans[k].budgets[s] for k in feasible)], self.draws)
        return np.asarray(np.sqrt(np.array(shares))[:, None] * np.append(mus, QUIET))

    def _site(self, s: int, deviations: RegressionDeviations, feasible: list[int], repeats: slice
              ) -> Site:
        """One site's curves with the noise of the feasible plans, and one column without."""
        plan, streams = self.plans[0], self.streams[s]
        size = deviations.curves.moments.size
        per_step = self._per_step(plan.shares, s, feasible)
        normals = streams.normals[:, repeats, ..., :size]
        symmetric = streams.symmetric[repeats, ..., :size, :, :size]
        p = self.n_functions * size
        return Site(deviations, 1 / (deviations.n_curves * per_step),
                    columns(normals.reshape(*normals.shape[:3], p), len(feasible), 2),
                    columns(symmetric.reshape(*symmetric.shape[:2], p, p), len(feasible), 1)
                    if len(plan.shares) == len(STEPS) else None, s)


def _of_covariates(located: Located, to_covariates: RegressorMap) -> Located:
    """What was located in coordinates F = W G, for the coefficients a = W'b of the covariates.

    Parts of the variance are those of b, scaled to the variance of a.
    """
    n_functions = to_covariates.whole.shape[-1]
    shape = (*located.centre.shape[:2], n_functions, -1)
    centre = to_covariates.coefficients(located.centre.reshape(shape))
    square = (*centre.shape, *centre.shape[2:])
    covariance = to_covariates.covariance(located.covariance.reshape(square))
    covariance = covariance.reshape(located.covariance.shape)
    before, after = (np.trace(each, axis1=-2, axis2=-1)
                     for each in (located.covariance, covariance))
    growth = after / np.maximum(before, 1e-300)
    return replace(located, centre=centre.reshape(located.centre.shape), covariance=covariance,
                   noise=located.noise * growth, sampling=located.sampling * growth)


def _widened(reach: Array) -> Constants:
    """Constants of the engine with radii² by (repeats, columns), wider where few tell an effect."""
    usual = WITH_COVARIATES
    widths: dict[str, Any] = {"middle_width": usual.middle_width * reach,
                              "scale_width": usual.scale_width * reach,
                              "final_width": np.maximum(usual.final_width, reach)}
    return replace(usual, **widths)
