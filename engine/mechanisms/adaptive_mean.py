"""Private mean function in six small releases, with a confidence band: our own estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.families.adaptive import (
    QUIET,
    SHARES,
    SHARES_NO_BAND,
    SHRINK_FROM,
    Fitted,
    Scale,
    basis_size,
    columns,
    effective_size,
    in_response_units,
    ledger,
    mu_of,
    nothing_spent,
    public_scale,
    shrunk,
)
from engine.families.location import STEPS, Constants, Located, Site, locate
from engine.feasibility import NOT_FEASIBLE, Feasibility
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.densities import (
    N_COSINES,
    Reweighted,
    density_features,
    larger_basis,
    private_density,
)
from engine.numerics.deviations import Deviations, weighted_within_curves
from engine.numerics.moments import Moments, curve_moments
from engine.numerics.observation_times import observation_weights
from engine.numerics.public_curves import PublicCurve
from engine.numerics.reference_law import heavy_tailed
from engine.privacy import transcript
from engine.registry import param
from engine.tasks import MEAN_FUNCTION
from engine.types import (
    Array,
    Band,
    Budget,
    CurveData,
    Design,
    Estimate,
    PublicFacts,
    Sizes,
    Spend,
)

_SHARES_PURE = (0.20, 0.08, 0.14, 0.08, 0.50)  # of ε, where δ = 0
_DENSITY_SHARE, _DENSITY_FROM = 0.1, 150.0  # of an undeclared design
_MOST_FUNCTIONS, _MOST_FUNCTIONS_PURE = 21, 15
_TYPICAL_RADIUS = 0.17  # b of the planned error: what sd .24 half-ranges about the mean make of it
_TIGHT = Constants()
_WIDE_FROM, _MOST_DOUBLINGS = 22.0, 7  # N up to which wide clipping is as tight as the usual one
_ALLOWANCE = 0.2
_BLOCK = 600_000  # entries of T of the repeats worked on together


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at: public sizes and one budget per site."""

    size: int
    budgets: tuple[Budget, ...]
    effective_size: float  # N = √Σ (n_s μ_s)²
    shares: tuple[float, ...]
    with_density: bool
    shrinks: bool
    constants: Constants
    spends: tuple[Spend, ...]

    @property
    def feasible(self) -> bool:
        return self.effective_size >= NOT_FEASIBLE

    @property
    def pure(self) -> tuple[bool, ...]:
        """For each site, whether its guarantee is to hold with δ = 0."""
        return tuple(budget.is_private and budget.is_pure for budget in self.budgets)

    @property
    def kind(self) -> tuple[Any, ...]:
        """Plans of one kind are fitted together, as columns of the same arrays."""
        return (self.size, self.pure, self.shares, self.with_density, self.constants.final_width)


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own."""

    normals: Array  # (5, repeats, draws, p)
    gaps: Array  # (5, repeats, draws, p): standard exponentials, for δ = 0
    symmetric: Array  # (repeats, draws, p, p)
    density: Array  # (repeats, draws, N_COSINES)
    density_gaps: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, repeats: int, draws: int, size: int, pure: bool
             ) -> Streams:
        shape = (5, repeats, draws, size)
        normals, square = rng.standard_normal(shape), rng.standard_normal((*shape[1:], size))
        density = rng.standard_normal((repeats, draws, N_COSINES))
        gaps = [rng.standard_exponential(z.shape) if pure else np.empty(0)
                for z in (normals, density)]
        return cls(normals, gaps[0], (square + square.swapaxes(-1, -2)) / 2, density, gaps[1])


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class AdaptiveMean(Mechanism):
    """Find the neighbourhood, learn the size of the deviations there, tighten, and measure.

    Five small releases of clipped averages over all curves, and a sixth of their second moments
    for the band; see `engine.families.location` for each and for its proof. Below N = 12
    (`effective_size`, the number of curves times μ) nothing useful can be released: nothing is, and
    the estimate is the public prior curve.

    Notes
    -----
    *Privacy.* Every release clips whole curves, h_i = T_i a − t_i with T_i and t_i functions of
    curve i alone, into an ellipsoid fixed by earlier releases; `engine.families.location` proves
    each sensitivity, for any curve whatever. The k-th release has μ_k = √w_k μ with shares w that
    sum to one; all use the same curves, so squares add to μ². A curve with a reading or time that
    is no number has T_i = 0 and t_i = 0 and stays in the count. All that follows the releases, the
    band too, is computed from them.

    *Undeclared times.* From N = 150 a tenth of μ² is spent on the law of the times: the mean over
    curves of (mean_j √2 cos(πk t_ij)), k = 1 … 6, each curve clipped to norm 1, so replacing one
    moves it by at most 2/n in norm.

    *Visits.* Curves that are each seen in a short window deviate in few directions, and farther
    than the reference law thinks; and tightly clipped averages of skewed readings are not their
    mean. There the last radius is wider, the more so the larger N is, and the centre of the
    early steps counts for less; both follow from public numbers.

    *δ = 0.* K-norm noise instead of Gaussian, ε adds, no sixth release.

    Units: coefficients are found on the scale where the stated bounds are ±1, and mapped back.

    References
    ----------
    Derived in this project; filter and clipping after Huber (1964) and Kalman (1960), composition
    after Dong, Roth and Su (2022).
    """

    key = "adaptive_mean"
    label = "Adaptive mean"
    order = 10
    tasks = frozenset({MEAN_FUNCTION.key})
    guarantee = "either"
    family = "gradient"
    reference = "derived in this project: six releases with adaptive clipping, exact composition"
    formula = (r"x_k = \tfrac1n\sum_i \psi\big(T_i a_k - t_i\big) + g_k Z_k,\qquad "
               r"\psi(h) = h\,\min\Big(1, \frac{c}{\lVert h/d\rVert}\Big),\qquad "
               r"g_{kl} = \frac{2\,c\,d_l}{n\,\mu_k},\qquad a_{k+1} = a_k - G_k x_k")

    basis: str = param(
        "cosine", "Basis functions",
        "Cosine: for curves of any kind. Fourier: only for curves that end where they began.",
        choices=("cosine", "fourier"))
    truncation: int | None = param(
        None, "Basis functions kept",
        "How much detail is kept. More: finer curve, more noise. Usual: from the public sizes.",
        low=1, high=33, symbol="r")
    band: str = param(
        "simultaneous", "Confidence band",
        "Simultaneous: 95 in 100 bands hold the whole curve. Pointwise: 95 in 100 at each time. "
        "None: its share of the budget goes to the curve.",
        choices=("simultaneous", "pointwise", "none"))
    shrink: str | None = param(
        None, "Shrink small waves",
        "Pull waves that noise could have made towards zero. Usual: where the sizes say it helps.",
        choices=("always", "never"))
    clipping: str | None = param(
        None, "Clipping of the last step",
        "Tight: least noise, for readings spread evenly about their average. Wide: more noise and "
        "less bias, for skewed readings. Usual: wide only where readings are stated to be visits "
        "in a short window.", choices=("tight", "wide"))
    design: str = param(
        "stated", "Distribution of observation times",
        "Stated: as the facts about the data say. Unknown: a tenth of the budget is spent to learn "
        "it.", choices=("stated", "unknown"))
    prior: str | None = param(
        None, "Known curve",
        "A public curve to start from, as values at equally spaced times. Only the difference "
        "from it is estimated. Empty: the middle of the bounds.")
    prior_room: float | None = param(
        None, "Largest distance from it",
        "How far a reading can lie from the known curve, in response units. Empty: as far as the "
        "bounds allow.", low=1e-9, high=1e12)
    split: str | None = param(
        None, "Split of the budget",
        "Shares of the releases, in order, that sum to 1: six of μ² with a band, five without "
        "one or where δ = 0 (of ε there). Empty: the usual ones.")
    guessed_spread: float | None = param(
        None, "Guessed spread of readings",
        "For the planned error only: a guess, not from the data, of the standard deviation of "
        "readings about the average curve.", low=1e-9, high=1e12)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prior is not None:
            PublicCurve.stated(self.prior, "prior")
        if self.split is not None:
            self._stated_shares()

    @property
    def noise_law(self) -> str:
        return "norm"

    def why_not_published(self, budget: Budget) -> str:
        if not budget.is_pure:
            return ""
        return ("With δ = 0 this method’s noise falls with the norm of all coefficients together; "
                "there is no hardened sampler of that law.")

    # -- releases ---------------------------------------------------------------------------

    def release_many(
        self,
        data: CurveData,
        budgets: Sequence[tuple[Budget, ...]],
        draws: int,
        rng: np.random.Generator,
    ) -> Estimate:
        """Release at each budget; see `Mechanism.release_many`.

        Raises
        ------
        InputError
            If the split does not fit the releases, the number of budgets not the servers, or an
            undeclared design comes with a Fourier basis.
        """
        sizes = data.sizes
        plans = [self.plan(data, given) for given in budgets]
        size = max(plan.size for plan in plans)
        pure = any(any(plan.pure) for plan in plans)
        streams = [Streams.draw(own, data.n_repeats, draws, size, pure)
                   for own in rng.spawn(sizes.n_servers)]
        fit = self._fit(data, plans, draws, streams)
        return self._estimate(data.facts, plans, fit.basis, fit.fitted())

    def _fit(self, data: CurveData, plans: list[Plan], draws: int, streams: list[Streams]) -> _Fit:
        return _Fit(self, data, plans, draws, streams)

    def without_protection(self, data: CurveData) -> Estimate:
        """Least squares on all curves with the basis size of an unlimited budget, and its band."""
        basis = self.functions(self.size(data.sizes, math.inf, data.facts))
        scale = self.scale(data.facts)
        moments = curve_moments(data.times, scale(data.times, data.values), data.counts, basis)
        fit = least_squares.fit(moments)
        covariance = scale.half**2 * least_squares.covariance(moments, fit)
        fit = _to_response_units(fit[None], scale)
        kind = "pointwise" if self.band == "none" else self.band
        return Estimate(task=MEAN_FUNCTION.key, basis=basis, coefficients=fit[:, :, None],
                        unprotected=fit, spends=((),), kept=(basis.size,),
                        offset=None if scale.is_flat else scale.middle,
                        band=Band(fit[:, :, None], covariance[None, :, None], kind))

    def _estimate(self, facts: PublicFacts, plans: list[Plan], basis: Basis, fit: Fitted
                  ) -> Estimate:
        scale = self.scale(facts)
        band = None if self.band == "none" else Band(
            _to_response_units(fit.centre, scale), scale.half**2 * fit.covariance, self.band)
        shrinks = np.array([plan.shrinks for plan in plans])
        released = shrunk(fit.centre, fit.covariance, shrinks)
        quiet = shrunk(fit.quiet, fit.quiet_covariance, shrinks)
        return Estimate(
            task=MEAN_FUNCTION.key, basis=basis, band=band,
            coefficients=_to_response_units(released, scale),
            unprotected=_to_response_units(quiet, scale),
            spends=tuple(plan.spends for plan in plans), kept=tuple(plan.size for plan in plans),
            parts=in_response_units(fit.parts, scale),
            offset=None if scale.is_flat else scale.middle,
            tuning=tuple({"truncation": plan.size, "effective_size": plan.effective_size,
                          "shrunk": plan.shrinks} for plan in plans))

    # -- fixed before any reading is looked at ---------------------------------------------

    def plan(self, data: CurveData, budgets: tuple[Budget, ...]) -> Plan:
        """Basis size, shares and ledger from public facts alone.

        Raises
        ------
        InputError
            If an undeclared design comes with a Fourier basis.
        """
        sizes, budgets = data.sizes, one_per_server(budgets, data.sizes.n_servers)
        effective = effective_size(sizes, budgets)
        is_unknown = not self.law_of_times(data.facts).is_known
        density = is_unknown and effective >= _DENSITY_FROM
        if is_unknown and self.basis != "cosine":
            raise InputError("An unknown distribution of observation times needs the cosine basis.",
                             field="design", hint="Choose cosine, or state how times are spread.")
        pure = any(budget.is_private and budget.is_pure for budget in budgets)
        shares = self.shares(pure)
        used = tuple(share * (1 - _DENSITY_SHARE * density) for share in shares)
        by_rule = effective >= SHRINK_FROM or effective < NOT_FEASIBLE
        return Plan(self.size(sizes, effective, data.facts, pure), budgets, effective, used,
                    density, by_rule if self.shrink is None else self.shrink == "always",
                    self.clipping_constants(effective, data.facts),
                    self._ledger(sizes, budgets, effective, used, density))

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts, pure: bool = False) -> int:
        """r: as chosen, or by the rule of `engine.families.adaptive.basis_size`."""
        if self.truncation is not None:
            return self.truncation
        most = _MOST_FUNCTIONS_PURE if pure else _MOST_FUNCTIONS
        size = basis_size(sizes, effective, most, facts)
        return size | 1 if self.basis == "fourier" else size

    def clipping_constants(self, effective: float, facts: PublicFacts) -> Constants:
        """How tightly the last step clips: κ = 1.5; wide: about N/15, in doublings of it."""
        by_rule = "wide" if facts.visit_gap > 0 else "tight"
        if (self.clipping or by_rule) == "tight":
            return _TIGHT
        doublings = round(math.log2(min(max(effective / _WIDE_FROM, 1.0), 2.0**_MOST_DOUBLINGS)))
        return Constants(final_width=_TIGHT.final_width * 2**doublings, bias_allowance=_ALLOWANCE)

    def functions(self, size: int) -> Basis:
        return Basis(size, family=self.basis)

    def shares(self, pure: bool) -> tuple[float, ...]:
        """Shares of μ², or of ε where δ = 0, of the releases in order."""
        if self.split is not None:
            return self._stated_shares(pure)
        if pure:
            return _SHARES_PURE
        return SHARES_NO_BAND if self.band == "none" else SHARES

    def scale(self, facts: PublicFacts) -> Scale:
        """Where [−1, 1] lies in response units: the bounds, or room around the known curve."""
        if self.prior is None:
            return Scale(PublicCurve((facts.value_middle,) * 2), facts.value_half_width)
        curve = PublicCurve.stated(self.prior, "prior")
        room = max(facts.value_high - min(curve.heights), max(curve.heights) - facts.value_low)
        return Scale(curve, room if self.prior_room is None else self.prior_room)

    def law_of_times(self, facts: PublicFacts) -> Design:
        return Design(law="unknown") if self.design == "unknown" else facts.design

    def feasibility(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> Feasibility:
        """Whether these public sizes and budgets can give anything useful."""
        return Feasibility(effective_size(sizes, one_per_server(budgets, sizes.n_servers)))

    def expected_error(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
                       ) -> float:
        """Planned integrated squared error that privacy adds, in squared response units.

        half-range² · 4κb²(Σu_l)²/(.6 N²), from public facts alone: the noise of the final release
        at the radius that typical deviations give it. NaN where nothing is released. Of a wider κ
        only the geometric mean with the tight one counts: the early steps take off the rest.
        """
        budgets = one_per_server(budgets, sizes.n_servers)
        effective = effective_size(sizes, budgets)
        if effective < NOT_FEASIBLE:
            return math.nan
        pure = any(budget.is_private and budget.is_pure for budget in budgets)
        half, shares = self.scale(facts).half, self.shares(pure)
        radius = (_TYPICAL_RADIUS if self.guessed_spread is None
                  else 0.7 * self.guessed_spread / half)
        scales = public_scale(self.size(sizes, effective, facts, pure), sizes)
        widest = self.clipping_constants(effective, facts).final_width
        width = math.sqrt(_TIGHT.final_width * widest)
        return float(half**2 * 4 * width * (radius * scales.sum() / effective)**2 / shares[4])

    def caution(self, facts: PublicFacts) -> str:
        if self.basis == "cosine" or facts.periodic:
            return ""
        return ("**Fourier waves end where they began; these curves are not stated to.** Near both "
                "ends the published curve would be wrong, and its band would miss the truth there "
                "in about 8 of 10 releases. Choose cosine.")

    def _stated_shares(self, pure: bool = False) -> tuple[float, ...]:
        """The shares in `split`; they must be positive, sum to one, and be as many as needed."""
        shares = PublicCurve.stated(self.split or "", "split").heights
        if min(shares) <= 0 or abs(sum(shares) - 1) > 1e-9:
            raise InputError("“split” must be positive shares that sum to 1.", field="split",
                             hint="For example " + ", ".join(f"{w:g}" for w in SHARES) + ".")
        wanted = len(SHARES) if self.band != "none" else len(SHARES_NO_BAND)
        if len(shares) != wanted:
            raise InputError(f"“split” must have {wanted} shares here; got {len(shares)}.",
                             field="split", hint="Six with a band, five without one.")
        if pure and wanted == len(SHARES):  # no sixth release: its share goes to the others
            return tuple(share / sum(shares[:5]) for share in shares[:5])
        return shares

    def _ledger(self, sizes: Sizes, budgets: tuple[Budget, ...], effective: float,
                shares: tuple[float, ...], density: bool) -> tuple[Spend, ...]:
        """Six spends for each site, seven with an undeclared design, or none at all."""
        if effective < NOT_FEASIBLE:
            return nothing_spent(budgets)
        named: list[tuple[str, float, float | None]] = [
            (what, share, None) for what, share in zip(STEPS, shares, strict=False)]
        if density:
            named = [("law of the times", _DENSITY_SHARE, 2.0), *named]
        return ledger(sizes, budgets, named)


# -- fitting ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Piece:
    """What `locate` found for some plans of one kind and some repeats; the last column is quiet."""

    members: list[int]
    repeats: slice
    found: Located


class _Fit:
    """Everything that fits the plans of one call: data in unit scale, noise, and the sites."""

    def __init__(self, mechanism: AdaptiveMean, data: CurveData, plans: list[Plan], draws: int,
                 streams: list[Streams]) -> None:
        self.data, self.plans, self.draws, self.streams = data, plans, draws, streams
        self.members: dict[tuple[Any, ...], list[int]] = {}  # the plans of each kind
        for k, plan in enumerate(plans):
            self.members.setdefault(plan.kind, []).append(k)
        self.basis = mechanism.functions(max(plan.size for plan in plans))
        self.design = mechanism.law_of_times(data.facts)
        self.values = mechanism.scale(data.facts)(data.times, data.values)
        ends = np.cumsum([0, *data.sizes.n_curves_per_server])
        self.servers = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def fitted(self) -> Fitted:
        """Fit all plans, and put the pieces where they belong."""
        out = Fitted.empty(len(self.plans), self.data.n_repeats, self.draws, (self.basis.size,),
                           len(self.servers))
        for piece in self._pieces():
            out.put(piece.found, piece.members, self._feasible(piece.members), piece.repeats)
        out.covariance[[not plan.feasible for plan in self.plans]] = np.nan
        return out

    def _pieces(self) -> Iterator[_Piece]:
        declared = []
        for members in self.members.values():
            if self.plans[members[0]].with_density:
                yield self._with_private_density(members)
            else:
                declared.append(members)
        if declared:
            yield from self._weighted_within_curves(declared)

    def _feasible(self, members: list[int]) -> list[int]:
        return [k for k in members if self.plans[k].feasible]

    def _weighted_within_curves(self, kinds: list[list[int]]) -> Iterator[_Piece]:
        """All plans whose law of the times is declared, in blocks of repeats that stay in cache.

        `kinds` are the members of each.
        """
        data, sizes = self.data, [self.plans[members[0]].size for members in kinds]
        basis = self.basis.first(max(sizes))
        moments = curve_moments(data.times, self.values, data.counts, basis,
                                observation_weights(self.design, data.times))
        tall = max(1, _BLOCK // (basis.size**2 * data.n_curves))
        for first in range(0, data.n_repeats, tall):
            repeats = slice(first, first + tall)
            for size, deviations in weighted_within_curves(
                    moments.repeats(repeats), data.counts, set(sizes), self.design):
                sites = [deviations.among(own) for own in self.servers]
                for members in (kind for kind, own in zip(kinds, sizes, strict=True)
                                if own == size):
                    yield self._located(members, repeats, sites)

    def _located(self, members: list[int], repeats: slice, deviations: Sequence[Deviations]
                 ) -> _Piece:
        """Fit plans of one kind; those that are not feasible only without noise."""
        plan, feasible = self.plans[members[0]], self._feasible(members)
        sites = [self._site(s, own, feasible, plan, repeats) for s, own in enumerate(deviations)]
        return _Piece(members, repeats, locate(sites, public_scale(plan.size, self.data.sizes),
                                               heavy_tailed(plan.size), plan.constants))

    def _site(self, s: int, deviations: Deviations, feasible: list[int], plan: Plan,
              repeats: slice) -> Site:
        """One site's curves with the noise of the feasible plans, and one column without."""
        size, streams, pure = plan.size, self.streams[s], plan.pure[s]
        budgets = [self.plans[k].budgets[s] for k in feasible]
        cost = np.repeat([b.epsilon if pure else min(mu_of(b), QUIET) for b in budgets], self.draws)
        shares = np.array(plan.shares)[:, None]
        per_step = (shares if pure else np.sqrt(shares)) * np.append(cost, QUIET)
        growth = math.sqrt(size + 1) if pure else 1.0
        unit = growth / (deviations.n_curves * per_step)
        noise = streams.normals[:, repeats, :, :size]
        if pure:
            noise = _spherical(noise, streams.gaps[:, repeats, :, :size])
        has_sixth = len(plan.shares) == len(STEPS) and not pure
        return Site(deviations, unit, columns(noise, len(feasible), 2),
                    columns(streams.symmetric[repeats, :, :size, :size], len(feasible), 1)
                    if has_sixth else None, s)

    def _with_private_density(self, members: list[int]) -> _Piece:
        """Plans of one kind that first spend a tenth of their budgets on the law of the times."""
        data, size = self.data, self.plans[members[0]].size
        moments = curve_moments(data.times, self.values, data.counts, larger_basis(size))
        own = [moments.curves(curves) for curves in self.servers]
        weights = self._one_over_density(own, members)
        return self._located(members, slice(None),
                             [Reweighted(one, size, weights) for one in own])

    def _one_over_density(self, own: list[Moments], members: list[int]) -> Array:
        """Weights of the readings, (repeats, columns, terms), from one release of each site.

        Sites count with (n_s μ_s)², the inverse of their noise variance.
        """
        total, mass = np.zeros(()), np.zeros(())
        for s, moments in enumerate(own):
            noise, scale = self._density_noise(s, moments.n_curves, members)
            mean = density_features(moments).mean(axis=2)
            sent = transcript.sent(s, "law of the times", mean[:, None] + scale[:, None] * noise,
                                   scale[:, None])
            total = total + sent / scale[:, None] ** 2
            mass = mass + 1 / scale**2
        measured = np.asarray(total) / np.asarray(mass)[:, None]
        return private_density(measured, np.broadcast_to(1 / np.asarray(mass), measured.shape[:2]))

    def _density_noise(self, s: int, n_curves: int, members: list[int]) -> tuple[Array, Array]:
        """Unit noise (repeats, columns, 6) and its scale (columns,); none in the last column."""
        plan, streams = self.plans[members[0]], self.streams[s]
        budgets = [self.plans[k].budgets[s] for k in members]
        noise = streams.density
        if plan.pure[s]:
            noise = _spherical(noise, streams.density_gaps)
            cost = [_DENSITY_SHARE * b.epsilon / math.sqrt(N_COSINES + 1) for b in budgets]
        else:
            cost = [math.sqrt(_DENSITY_SHARE) * min(mu_of(b), QUIET) for b in budgets]
        scale = 2 / (n_curves * np.array([*np.repeat(cost, self.draws), QUIET]))
        return columns(noise, len(members), 1), scale


def _spherical(normals: Array, gaps: Array) -> Array:
    """R·U/√(p + 1): R ~ Gamma(p), U uniform on the sphere; unit variance in every entry."""
    radius = gaps.sum(axis=-1, keepdims=True)
    norm = np.sqrt((normals**2).sum(axis=-1, keepdims=True))
    return np.asarray(normals / norm * radius / math.sqrt(normals.shape[-1] + 1))


def _to_response_units(coefficients: Array, scale: Scale) -> Array:
    """Undo the map to [−1, 1]; a flat middle goes into the constant basis function."""
    out = coefficients * scale.half
    if scale.is_flat:
        out[..., 0] += scale.middle.heights[0]
    return np.asarray(out)
