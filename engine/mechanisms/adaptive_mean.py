"""Private mean function in six small releases, with a confidence band: our own estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bands import standard_errors
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
from engine.grids import drawing_grid
from engine.mechanism import Trial
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.noise import NoiseLaw
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.deviations import Deviations, plain, weighted_within_curves
from engine.numerics.moments import curve_moments
from engine.numerics.public_curves import PublicCurve
from engine.numerics.reference_law import ReferenceLaw, heavy_tailed, of_observed_curves
from engine.numerics.time_histograms import (
    SENSITIVITY,
    Mixing,
    are_rough,
    mixing_of_shares,
    n_bins,
    time_shares,
)
from engine.privacy import transcript
from engine.registry import param
from engine.tasks import MEAN_FUNCTION
from engine.types import (
    Array,
    Band,
    Budget,
    Caution,
    CurveData,
    Design,
    Estimate,
    Public,
    PublicFacts,
    Sizes,
    Spend,
    Step,
    TimeLaw,
)

_SHARES_PURE = (0.20, 0.08, 0.14, 0.08, 0.50)  # of ε, where δ = 0
_TIMES_SHARE = 0.1  # of the budget, where the distribution of observation times is unknown
_TIMES = Step("distribution of observation times", sensitivity=float(SENSITIVITY))
_DETAIL, _DETAIL_UNKNOWN = 0.55, 0.3  # of the rule for the basis size
_PRIOR, _UNSEEN = 0.4, 0.25  # prior of coefficients, in units of u_l; of unseen ones, of l^-1.5
_DENSE = 3  # observations for each basis function, from which curves tell of all of them
_UNDETERMINED, _SOMEWHERE = 0.5, 0.05  # of the half-range, for a band; of the time range
_MOST_FUNCTIONS, _MOST_FUNCTIONS_PURE = 21, 15
_TYPICAL_RADIUS = 0.17  # b of the planned error: what sd .24 half-ranges about the mean make of it
_TIGHT = Constants()
_WIDE, _WIDER_FROM = 12.0, 200.0  # κ of wide clipping, and the N up to which it stays so
_GROWTH, _MOST_DOUBLINGS = 1.0, 6
_MOMENTS = 3.0  # κ of the second moments of wide clipping
_TAILS = 1.5  # variance of skewed people over what their mean absolute deviation stands for
_ALLOWANCE = 0.2
_BLOCK = 600_000  # entries of T of the repeats worked on together


CENTRE_NOT_MEAN = (
    "This is a robust centre of the curves (a Huber location). It differs from their mean where "
    "people are skewed, fall into groups or have outliers, and the band is for the centre.")
FEW_TIMES = ("Everybody was observed at a few common times. Between them the curve and its band "
             "rest on the assumption that the mean is smooth.")
CLUSTERED_TIMES = (
    "The released distribution of observation times has clusters, as common times would make. The "
    "band cannot be relied on: state the common times.")
SKEWED_PARTS = (
    "Each person is observed in a part of the time range only, and people are not stated to be "
    "symmetric about their mean. Where few are observed, or people differ most, the confidence "
    "band may be too narrow.")
SKEWED_PARTS_UNKNOWN = (
    "How each person’s observation times are spread is not stated, nor that people are symmetric "
    "about their mean. If each person was observed in a part of the time range only, the "
    "confidence band may be too narrow.")
UNDETERMINED = ("In part of the time range the curve is hardly determined: its 95 % confidence "
                "band spans more than half of the stated range of values.")


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at: public sizes and one budget per site."""

    size: int
    budgets: tuple[Budget, ...]
    effective_size: float  # N = √Σ (n_s μ_s)²
    shares: tuple[float, ...]
    learns_times: bool
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
        return (self.size, self.pure, self.shares, self.learns_times, self.constants.final_width)


@dataclass(frozen=True)
class Streams:
    """The standard noise of one site, shared by all budgets: it only ever sees its own."""

    normals: Array  # (5, repeats, draws, p)
    gaps: Array  # (5, repeats, draws, p): standard exponentials, for δ = 0
    symmetric: Array  # (repeats, draws, p, p)
    times: Array  # (repeats, draws, bins)
    times_gaps: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, repeats: int, draws: int, size: int, pure: bool
             ) -> Streams:
        shape = (5, repeats, draws, size)
        normals, square = rng.standard_normal(shape), rng.standard_normal((*shape[1:], size))
        times = rng.standard_normal((repeats, draws, n_bins(size)))
        gaps = [rng.standard_exponential(z.shape) if pure else np.empty(0)
                for z in (normals, times)]
        return cls(normals, gaps[0], (square + square.swapaxes(-1, -2)) / 2, times, gaps[1])


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
    measured = "Adaptive mean"
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

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            Trial({"truncation": 3}, Budget(40.0, 1e-3)),
            Trial({"truncation": 3}, Budget(40.0), 0.9, "Each step has its own worst curve; a few "
                  "random ones come near all of them."))

    @property
    def noise_law(self) -> NoiseLaw:
        return NoiseLaw.NORM

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
        plans = [self.plan(data.public, given) for given in budgets]
        size = max(plan.size for plan in plans)
        pure = any(any(plan.pure) for plan in plans)
        streams = [Streams.draw(own, data.n_repeats, draws, size, pure)
                   for own in rng.spawn(sizes.n_servers)]
        fit = self._fit(data, plans, draws, streams)
        estimate = self._estimate(data.facts, plans, fit.basis, fit.fitted())
        return replace(estimate, cautions=tuple(self._cautions(data.facts, plans, estimate,
                                                               fit.clustered)))

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

    def _cautions(self, facts: PublicFacts, plans: list[Plan], estimate: Estimate,
                  clustered: NDArray[np.bool_]) -> Iterator[Caution]:
        """What is known, from released quantities or stated facts, against taking it as it is."""
        released = np.zeros(clustered.shape, dtype=bool)
        released[[plan.feasible for plan in plans]] = True
        if self.is_tight(facts) and not facts.symmetric:
            yield Caution(CENTRE_NOT_MEAN, released)
        if self.design != "unknown" and 0 < len(facts.common_times) < estimate.basis.size:
            few = np.array([plan.size > len(facts.common_times) for plan in plans])
            yield Caution(FEW_TIMES, released & few[:, None, None])
        yield Caution(CLUSTERED_TIMES, clustered)
        law = self.law_of_times(facts)
        if not facts.symmetric and law.law in (TimeLaw.VISITS, TimeLaw.WINDOWS):
            yield Caution(SKEWED_PARTS, released)
        if not facts.symmetric and not law.is_known:
            yield Caution(SKEWED_PARTS_UNKNOWN, released)
        if estimate.band is not None:
            errors = standard_errors(estimate.band.covariance, estimate.basis(drawing_grid()))
            wide = 1.96 * errors > _UNDETERMINED * self.scale(facts).half
            yield Caution(UNDETERMINED, released & (wide.mean(axis=-1) > _SOMEWHERE))

    # -- fixed before any reading is looked at ---------------------------------------------

    def plan(self, public: Public, budgets: tuple[Budget, ...]) -> Plan:
        """Basis size, shares and ledger from public facts alone.

        Raises
        ------
        InputError
            If an undeclared design comes with a Fourier basis.
        """
        sizes, facts = public.sizes, public.facts
        budgets = one_per_server(budgets, sizes.n_servers)
        effective = effective_size(sizes, budgets)
        learns_times = not self.law_of_times(facts).is_known
        if learns_times and self.basis != "cosine":
            raise InputError("An unknown distribution of observation times needs the cosine basis.",
                             field="design", hint="Choose cosine, or state how times are spread.")
        pure = any(budget.is_private and budget.is_pure for budget in budgets)
        shares = self.shares(pure)
        used = tuple(share * (1 - _TIMES_SHARE * learns_times) for share in shares)
        by_rule = effective >= SHRINK_FROM or effective < NOT_FEASIBLE
        return Plan(self.size(sizes, effective, facts, pure), budgets, effective, used,
                    learns_times, by_rule if self.shrink is None else self.shrink == "always",
                    self.clipping_constants(effective, facts),
                    self._ledger(sizes, budgets, effective, used, learns_times))

    def size(self, sizes: Sizes, effective: float, facts: PublicFacts, pure: bool = False) -> int:
        """r: as chosen, or by the rule of `engine.families.adaptive.basis_size`."""
        if self.truncation is not None:
            return self.truncation
        most = _MOST_FUNCTIONS_PURE if pure else _MOST_FUNCTIONS
        is_known = self.law_of_times(facts).is_known
        size = basis_size(sizes, effective, most, factor=_DETAIL if is_known else _DETAIL_UNKNOWN)
        return size | 1 if self.basis == "fourier" else size

    def clipping_constants(self, effective: float, facts: PublicFacts) -> Constants:
        """How tightly the last step clips: κ = 1.5; wide: 12, from N = 200 on like N."""
        if self.is_tight(facts):
            return _TIGHT
        wider = min(max(effective / _WIDER_FROM, 1.0) ** _GROWTH, 2.0**_MOST_DOUBLINGS)
        doublings = round(2 * math.log2(wider)) / 2
        return Constants(final_width=_WIDE * 2**doublings, bias_allowance=_ALLOWANCE,
                         tail_allowance=_TAILS, moments_width=_MOMENTS)

    def is_tight(self, facts: PublicFacts) -> bool:
        """Whether curves are clipped inside their bulk, as suits people who are spread evenly.

        By rule only where that is stated, and where every curve tells of most of the time range.
        """
        is_even = self.law_of_times(facts).law in (TimeLaw.INDEPENDENT, TimeLaw.COMMON)
        by_rule = facts.symmetric and is_even
        return by_rule if self.clipping is None else self.clipping == "tight"

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
        return Design(law=TimeLaw.UNKNOWN) if self.design == "unknown" else facts.design

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
                shares: tuple[float, ...], learns_times: bool) -> tuple[Spend, ...]:
        """Six spends for each site, seven with an undeclared design, or none at all."""
        if effective < NOT_FEASIBLE:
            return nothing_spent(budgets)
        releases = [(_TIMES, _TIMES_SHARE)] if learns_times else []
        return ledger(sizes, budgets, [*releases, *zip(STEPS, shares, strict=False)])


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
        self.clustered = np.zeros((len(plans), data.n_repeats, draws), dtype=bool)
        self.planned = max(data.sizes.fewest_per_curve, 1)  # observations of a curve
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
        stated = []
        for members in self.members.values():
            if self.plans[members[0]].learns_times:
                yield from self._with_learned_times(members)
            else:
                stated.append(members)
        if stated:
            yield from self._weighted_within_curves(stated)

    def _feasible(self, members: list[int]) -> list[int]:
        return [k for k in members if self.plans[k].feasible]

    def _weighted_within_curves(self, kinds: list[list[int]]) -> Iterator[_Piece]:
        """All plans whose law of the times is declared, in blocks of repeats that stay in cache.

        `kinds` are the members of each.
        """
        data, sizes = self.data, [self.plans[members[0]].size for members in kinds]
        basis = self.basis.first(max(sizes))
        moments = curve_moments(data.times, self.values, data.counts, basis)
        for repeats in self._blocks(basis.size):
            for size, deviations in weighted_within_curves(
                    moments.repeats(repeats), data.counts, set(sizes), self.design):
                sites = [(deviations.among(own), None) for own in self.servers]
                for members in (kind for kind, own in zip(kinds, sizes, strict=True)
                                if own == size):
                    yield self._located(members, repeats, sites)

    def _blocks(self, size: int) -> Iterator[slice]:
        """Repeats in blocks that stay in cache."""
        tall = max(1, _BLOCK // (size**2 * self.data.n_curves))
        for first in range(0, self.data.n_repeats, tall):
            yield slice(first, first + tall)

    def _located(self, members: list[int], repeats: slice,
                 observed: Sequence[tuple[Deviations, Mixing | None]]) -> _Piece:
        """Fit plans of one kind; those that are not feasible only without noise.

        `observed` are the deviations at each site, and what its design mixes.
        """
        plan, feasible = self.plans[members[0]], self._feasible(members)
        sites = [replace(self._site(s, deviations, feasible, plan, repeats), mixing=design)
                 for s, (deviations, design) in enumerate(observed)]
        law = self._law(plan.size)
        return _Piece(members, repeats, locate(sites, public_scale(plan.size, self.data.sizes),
                                               law, plan.constants,
                                               prior=self._prior(plan.size)))

    def _law(self, size: int) -> ReferenceLaw:
        """Of the deviations; where every curve tells of all coefficients they differ in nothing."""
        evenly = self.design == Design() and self.planned >= _DENSE * size
        if evenly or len(self.design.times) >= _DENSE * size:
            return heavy_tailed(size)
        return of_observed_curves(self.basis.first(size), self.planned, self.design)

    def _prior(self, size: int) -> Array:
        """Size of the coefficients before anything is measured: (size,).

        Those that common times cannot tell apart stay where smoothness alone puts them.
        """
        prior = _PRIOR * public_scale(size, self.data.sizes)
        seen = len(self.design.times) or size
        prior[seen:] = _UNSEEN * np.arange(seen + 1.0, size + 1) ** -1.5
        return prior

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

    def _with_learned_times(self, members: list[int]) -> Iterator[_Piece]:
        """Plans of one kind that first spend a tenth of their budgets on observation times."""
        data, size = self.data, self.plans[members[0]].size
        moments = curve_moments(data.times, self.values, data.counts, self.basis.first(size))
        shares = time_shares(data.times, self.values, data.counts, n_bins(size))
        for repeats in self._blocks(size):
            deviations, own = plain(moments.repeats(repeats)), shares[repeats]
            yield self._located(members, repeats, [
                (deviations.among(curves), self._learned(s, own[..., curves], members, repeats))
                for s, curves in enumerate(self.servers)])

    def _learned(self, s: int, shares: Array, members: list[int], repeats: slice) -> Mixing:
        """What one site releases of its observation times, and what follows from it.

        The last column, without noise, is for looking at alone.
        """
        feasible, bins = self._feasible(members), shares.shape[1]
        plan, streams = self.plans[members[0]], self.streams[s]
        budgets = [self.plans[k].budgets[s] for k in feasible]
        noise = streams.times[repeats, :, :bins]
        if plan.pure[s]:
            noise = _spherical(noise, streams.times_gaps[repeats, :, :bins])
            cost = [_TIMES_SHARE * b.epsilon / math.sqrt(bins + 1) for b in budgets]
        else:
            cost = [math.sqrt(_TIMES_SHARE) * min(mu_of(b), QUIET) for b in budgets]
        scale = SENSITIVITY / (shares.shape[2] * np.array([*np.repeat(cost, self.draws), QUIET]))
        sent = transcript.sent(s, _TIMES, shares.mean(axis=2)[:, None] + scale[:, None]
                               * columns(noise, len(feasible), 1), scale[:, None])
        rough = are_rough(sent, scale)[:, :-1].reshape(len(sent), len(feasible), self.draws)
        self.clustered[feasible, repeats] |= rough.swapaxes(0, 1)
        return mixing_of_shares(sent, scale, plan.size)


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
