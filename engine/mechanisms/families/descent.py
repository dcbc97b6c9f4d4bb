"""Noisy gradient descent over servers, for means and for varying coefficients.

Every round, each server averages the clipped gradients of its curves, adds noise and sends the
numbers; the centre averages the servers, takes a step and sends the new coefficients back. A model
says how many functions there are, what is kept of a curve and how far its gradient may go;
everything else is the same. Coefficients run function after function: entry k·r + l belongs to
function k and wave l.

Privacy
-------
*Sensitivity.* The gradient of a curve is clipped entry by entry to [−R_l, R_l]; a curve with a
number that is not finite contributes zero and stays in the count. Whatever a curve holds, its
contribution lies in that box, so replacing it moves entry l of the average over b curves by at most
Δ_l = 2 R_l / b. With noise N(0, σ_l²) a round is exactly μ-Gaussian-DP with μ² = Σ_l Δ_l²/σ_l².
The iterate it starts from is an earlier output, hence free. With curves of unequal (public) lengths
R_l depends on the length and Δ_l takes its largest value.

*Composition.* "split" uses fresh curves in each round, fixed by their position, which must not
follow from the data (`engine.release.random_order` sees to that in a release): rounds are
parallel and together cost one round. A server with fewer curves than rounds joins as many rounds as
it has curves, one curve each, in a public rotation; where every curve is a server of its own this
is local privacy. "full_batch" uses all curves in all T rounds: squares of μ add, so each round gets
μ/√T.

*Basis.* Curves that are not periodic are expanded over a longer period (Fourier extension) or in
cosines; |φ_l| ≤ √2 holds for all of them and clipping does not see the basis, so nothing above
changes.

References
----------
Xue, Lin and Yu (2024), arXiv 2412.06582: Lemma 1, Algorithms 1 to 4, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from engine.core.enumerations import Enumeration, Guarantee, NoiseLaw
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.registry import param
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Composition,
    CurveData,
    Fit,
    LateCautions,
    Plan,
    Public,
    PublicFacts,
    SaidIn,
    ServerParts,
    Sizes,
    Spend,
    Step,
    Unit,
)
from engine.mechanisms.base import Mechanism
from engine.mechanisms.summaries.smoothing_cautions import (
    BEND_OR_STEP,
    STEP_NOT_SEEN,
    TOLD_APART,
    Judgement,
)
from engine.noise.gaussian import anisotropic_scales, isotropic_scales
from engine.numerics import least_squares
from engine.numerics.bases import Basis, with_whole_pairs
from engine.numerics.end_slopes import cosine_rows
from engine.numerics.gradients import (
    clipped_variance,
    mean_clipped_gradient,
    project_on_ellipsoid,
    shared_map,
)
from engine.numerics.moments import Moments, curve_moments
from engine.numerics.observation_times import stated_density
from engine.numerics.regression_moments import RegressionMoments
from engine.numerics.smoothing_errors import COSINES, POINTS, SmoothingErrors
from engine.privacy import accounting, transcript
from engine.sources.twin import DEFAULT_SPREAD

Index = NDArray[np.int64]
Curves = Moments | RegressionMoments
_DEFAULT_EXTENSION = 0.25  # Fourier extension of curves that are not declared periodic
MAX_ROUNDS = 2000
GRADIENT = Step("average clipped gradient")
NOT_ARRIVED = (
    "Descent begins in the middle of the stated bounds, and its rounds end before it arrives: the "
    "curve is pulled to the middle by more than privacy noise and sampling variability move it. "
    "Narrower bounds around the observations, more rounds or a larger step help."
)


def _round(batch: int) -> Step:
    """The message of one round; all of them are charged to one line."""
    return Step(f"round {batch + 1}", charged_to=(GRADIENT.key,))


class Participation(Enumeration):
    """Curves that take part in a round: all curves in each, or fresh ones."""

    FULL_BATCH = "full_batch"
    SPLIT = "split"


@dataclass(frozen=True)
class DescentPlan(Plan):
    """All that is fixed before any reading is looked at."""

    # size, n_functions: so many basis functions of so many functions; p is their product
    size: int
    n_functions: int
    rounds: int
    batch_sizes: tuple[int, ...]  # curves of each server in a round
    scales: Array  # (servers, p): standard deviation of the noise each server adds each round
    weights: Array  # (servers,): share of each server in the combined gradient
    # (rounds, servers) array of int: which of its batches a server uses; −1 where it rests
    schedule: Index

    @property
    def tuning(self) -> dict[str, Any]:
        return {
            "truncation": self.size,
            "n_iterations": self.rounds,
            "batch_size": self.batch_sizes[0],
        }


@dataclass(frozen=True)
class Server:
    """One server's own curves, their public clipping radii and its noise."""

    index: int
    moments: Curves
    radii: Array  # (curves or 1, p)
    normals: Array  # (rounds, repeats, draws, p): its own standard noise

    def first(self, size: int) -> Server:
        """The same with the first basis functions of every function."""
        coefficients = _first_of_each(self.radii.shape[1], self.moments, size)
        return replace(
            self,
            moments=self.moments.first(size),
            radii=self.radii[:, coefficients],
            normals=self.normals[..., coefficients],
        )


def _first_of_each(p: int, moments: Curves, size: int) -> Index:
    """Indices of the first `size` coefficients of every function."""
    per_function = moments.size // _n_functions(moments)
    return np.flatnonzero(np.arange(p) % per_function < size)


def _n_functions(moments: Curves) -> int:
    return moments.n_functions if isinstance(moments, RegressionMoments) else 1


@lru_cache(maxsize=256)
def _left_of_a_constant(basis: Basis, step_size: float, rounds: int) -> tuple[float, float]:
    """Root mean square of 1 − f, and the average of f, where f is what descent makes of 1.

    Curves at even times move a to a − ρ(G a − ∫φ), for the inner products G of the basis. A longer
    period makes G nearly singular, and descent slow.
    """
    nodes = basis(drawing_grid())
    gram, target = nodes.T @ nodes / len(nodes), nodes.mean(axis=0)
    coefficients = np.zeros(basis.size)
    for _ in range(rounds):
        coefficients = coefficients - step_size * (gram @ coefficients - target)
    curve = nodes @ coefficients
    return float(np.sqrt(((1 - curve) ** 2).mean())), float(curve.mean())


@dataclass(frozen=True, kw_only=True)
class NoisyGradient(Mechanism[CurveData, DescentPlan]):
    """Gradient descent on basis coefficients, with clipped curves and Gaussian noise each round.

    Paper symbol → name here: r `truncation`, T `n_iterations`, ρ `step_size`, C_R
    `radius_constant`, η `failure_probability`, α `smoothness`, C_α `ellipsoid_radius`.
    """

    guarantee = Guarantee.APPROXIMATE
    family = "gradient"
    log_power: int  # each model says what it may be

    scheme: Participation = param(
        Participation.FULL_BATCH,
        "Curves in a round",
        "All curves in every round, composed exactly; or fresh curves each round, as published.",
    )
    constants: str = param(
        "tight",
        "Constants",
        "Tight: least noise that gives the stated protection. Published: what the paper prints.",
        choices=("tight", "published"),
    )
    noise: str = param(
        "anisotropic",
        "Shape of the noise",
        "Anisotropic: less noise on coefficients that are clipped harder. Isotropic: equal noise.",
        choices=("anisotropic", "isotropic"),
    )
    functions: str = param(
        "fourier",
        "Basis functions",
        "Fourier: periodic, as published. Cosine: for curves that do not end where they began.",
        choices=("fourier", "cosine"),
    )
    truncation: int | None = param(
        None,
        "Number of basis functions",
        "More: less bias, more noise. Default: from the public sizes.",
        low=1,
        high=33,
        symbol="r",
    )
    n_iterations: int | None = param(
        10,
        "Rounds",
        "Gradient steps. None: the paper's rule, a constant times log n.",
        low=1,
        high=MAX_ROUNDS,
        symbol="T",
        when={"scheme=split": None},
    )
    step_size: float = param(
        0.3,
        "Step size",
        "How far each round moves. Larger: fewer rounds, more noise kept.",
        low=0.01,
        high=2.0,
        symbol="ρ",
        when={"scheme=split": 0.1},
    )
    smoothness: float = param(
        3.0,
        "Smoothness",
        "How smooth you state the curve to be. Larger: fewer basis functions.",
        low=1.0,
        high=10.0,
        symbol="α",
    )
    radius_constant: float = param(
        0.75,
        "Clipping",
        "Gradients are clipped to this multiple of the radius in theory.",
        low=0.01,
        high=100.0,
        symbol="C_R",
    )
    failure_probability: float = param(
        0.05,
        "Failure probability in the radius",
        "Smaller: larger radii, less clipping.",
        low=1e-6,
        high=1.0,
        symbol="η",
    )
    truncation_constant: float = param(
        1.25,
        "Constant of the basis rule",
        "Multiplies the paper's rule for the basis size.",
        low=0.1,
        high=10.0,
        symbol="C_r",
    )
    iterations_constant: float = param(
        4.0,
        "Constant of the rounds rule",
        "Multiplies log n in the paper's rule for the rounds.",
        low=0.1,
        high=50.0,
        symbol="C_T",
    )
    ellipsoid_radius: float | None = param(
        None,
        "Sobolev radius",
        "Pulls each step back to curves of at most this roughness. None: no such step.",
        low=1e-3,
        high=1e6,
        symbol="C_α",
    )
    extension: float | None = param(
        None,
        "Fourier extension",
        "Extra period at each end for curves that do not end where they began. None: 0.25 for "
        "such curves, 0 for periodic ones.",
        low=0.0,
        high=1.0,
        symbol="ζ",
    )
    value_scale: str | None = param(
        None,
        "Scale of the observations",
        "Raw: as they are. Bounds: mapped to −1 … 1 by the stated bounds. None: raw for curves "
        "simulated on unit scale, bounds for all others.",
        choices=("raw", "bounds"),
    )
    weights: str = param(
        "inverse_variance",
        "Weights of the sites",
        "How sites are averaged: by noise and sizes, by the paper's rate, by size, or equally.",
        choices=("inverse_variance", "rate", "size", "uniform"),
        symbol="ν",
    )
    baseline: str = param(
        "same_steps",
        "Compared with",
        "The estimate without noise that privacy error is measured against: the same clipped "
        "steps, least squares, or unclipped gradient descent on all curves.",
        choices=("same_steps", "least_squares", "gradient_descent"),
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            (cls.label, {}),
            (f"{cls.label}, as published", {"scheme": "split", "constants": "published"}),
        )

    @property
    def uses_all_curves(self) -> bool:
        """True if all curves take part in every round; the rounds then compose sequentially."""
        return self.scheme is Participation.FULL_BATCH

    def why_not_published(self, budget: Budget) -> str:
        return ""

    # -- what a model says ------------------------------------------------------------------

    def names(self, facts: PublicFacts) -> tuple[str, ...]:
        """The names of the functions of a model with several; none for a single one."""
        return ()

    def curves(self, data: CurveData, moments: Moments) -> Curves:
        """Keep what is needed of the curves beside their moments."""
        return moments

    # -- releases ---------------------------------------------------------------------------

    def fitted(
        self, data: CurveData, plans: Sequence[DescentPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """All rounds of gradient descent; see `Mechanism.fitted`."""
        basis = self.basis(max(plan.size for plan in plans), data.facts)
        servers = self._servers(data, basis, plans[0].rounds, draws, rng)
        released, unprotected, sampling = self._descended(servers, plans, basis.size, draws)
        judge = partial(self._doubts, data.public, released, plans, basis)
        return Fit(
            basis=basis,
            functions=self.names(data.facts),
            cautions=LateCautions(judge),
            coefficients=self._in_response_units(released, data.facts),
            unprotected=self._in_response_units(unprotected, data.facts),
            basis_sizes=tuple(plan.size for plan in plans),
            parts=self._parts(plans, sampling, data),
        )

    def exact_fit(self, data: CurveData) -> Fit:
        """Least squares on all curves, with the basis size of an unlimited budget.

        Its band encloses, at each time, the middle 95 % of where sampling variability moves it.
        """
        budgets = (Budget(math.inf),) * data.sizes.n_servers
        basis = self.basis(self._size(data.sizes, budgets, data.facts), data.facts)
        curves, names = self._moments(data, basis), self.names(data.facts)
        values = least_squares.fit(curves)  # (repeats, functions × r)
        covariance = self._unit(data.facts) ** 2 * least_squares.covariance(curves, values)
        shape = (len(values), _n_functions(curves), basis.size)
        within = least_squares.within_functions(covariance.reshape(*shape, *shape[1:]))
        return Fit.exact(
            basis,
            self._in_response_units(values.reshape(shape), data.facts),
            within if names else within[:, 0],
            functions=names,
        )

    # -- fixed before any reading is looked at ---------------------------------------------

    def used_facts(self, facts: PublicFacts) -> frozenset[str]:
        return frozenset({"periodic"} if self.functions == "fourier" else ())

    def comparable(self, facts: PublicFacts) -> Self:
        """Switch to cosines, as other methods have, if curves need not end where they began."""
        return self if facts.periodic else replace(self, functions="cosine")

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> DescentPlan:
        """Basis size, rounds, noise scales, weights and ledger."""
        sizes, facts = public.sizes, public.facts
        n_functions = max(len(self.names(facts)), 1)
        size, rounds = self._size(sizes, budgets, facts), self._rounds(sizes)
        batches, schedule = self._batch_sizes(sizes, rounds), self._schedule(sizes, rounds)
        largest = [
            self._radii(np.array(lengths), sizes.n_curves, size, n_functions).max(axis=0)
            for lengths in public.lengths_per_server
        ]
        sensitivity = np.stack([2 * r / b for r, b in zip(largest, batches, strict=True)])
        mus = [self._round_mu(budget, rounds) for budget in budgets]
        shape = anisotropic_scales if self.noise == "anisotropic" else isotropic_scales
        scales = np.stack([shape(d, mu) for d, mu in zip(sensitivity, mus, strict=True)])
        bounds = np.array([(r**2).sum() / b for r, b in zip(largest, batches, strict=True)])
        return DescentPlan(
            size,
            n_functions,
            rounds,
            batches,
            scales,
            self._weights(sizes, budgets, size, n_functions, scales, bounds),
            schedule,
            spends=tuple(
                self._spend(
                    s, budgets[s], mus[s], rounds, batches[s], sizes, sensitivity[s], scales[s]
                )
                for s in range(len(budgets))
            ),
        )

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """Planned integrated squared error that privacy adds, in squared response units.

        The noise of all rounds that is left at the end, as if times were even and nothing clipped:
        where noise exceeds the curve, clipping slows the way back and more is left. Every curve
        counts as one of the shortest. None for several functions, whose way back depends on the
        covariates.
        """
        if self.names(facts):
            return None
        plan: DescentPlan = self.plan(Public(sizes, facts), budgets)
        return float(self._unit(facts) ** 2 * self._noise_left(plan).sum())

    def basis(self, size: int, facts: PublicFacts) -> Basis:
        """The functions in which curves are expressed."""
        if self.functions == "cosine":
            return Basis(size, family="cosine")
        if self.extension is not None:
            return Basis(size, self.extension, family="fourier")
        return Basis(size, 0.0 if _is_periodic(facts) else _DEFAULT_EXTENSION, family="fourier")

    def _value_scale(self, facts: PublicFacts) -> str:
        """Uploads are always mapped by their stated bounds."""
        if facts.is_upload or self.value_scale is None:
            return "raw" if facts.unit_scale and facts.is_simulated else "bounds"
        return self.value_scale

    def _unit(self, facts: PublicFacts) -> float:
        """Return the response units of one on the scale of the steps."""
        return facts.value_half_width if self._value_scale(facts) == "bounds" else 1.0

    def _size(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts) -> int:
        """The paper's rule: C_r times the smallest of the four optimal sizes, rounded up.

        With all curves in each round and a Fourier basis it is made odd, so that no cosine lacks
        its sine.
        """
        if self.truncation is not None:
            return self.truncation
        n, m, a = sizes.n_curves, sizes.n_observations_per_curve, self.smoothness
        private = sum(
            (k * budget.epsilon) ** 2
            for k, budget in zip(sizes.n_curves_per_server, budgets, strict=True)
        )
        private /= max(len(self.names(facts)) - 1, 1)  # d covariates
        optimal: float = min(
            n ** (1 / (2 * a)),
            (n * m) ** (1 / (2 * a + 1)),
            private ** (1 / (2 * a)),
            (private * m) ** (1 / (2 * a + 2)),
        )
        size = max(1, math.ceil(self.truncation_constant * optimal))
        paired = self.uses_all_curves and self.functions == "fourier"
        return min(with_whole_pairs(size) if paired else size, 33)

    def _rounds(self, sizes: Sizes) -> int:
        if self.n_iterations is not None:
            return self.n_iterations
        return max(1, math.ceil(self.iterations_constant * math.log(sizes.n_curves)))

    def _batch_sizes(self, sizes: Sizes, rounds: int) -> tuple[int, ...]:
        """Curves per round on each server; "split" leaves out the few that do not fill a round."""
        if self.uses_all_curves:
            return sizes.n_curves_per_server
        return tuple(max(k // rounds, 1) for k in sizes.n_curves_per_server)

    def _schedule(self, sizes: Sizes, rounds: int) -> Index:
        """Assign servers' batches to rounds, from public sizes.

        Servers that are too small for all rounds take turns: each next one begins a round later.
        """
        schedule = np.full((rounds, sizes.n_servers), -1)
        small = 0
        for s, k in enumerate(sizes.n_curves_per_server):
            if self.uses_all_curves or k >= rounds:
                schedule[:, s] = np.arange(rounds)
            else:
                schedule[(small + np.arange(k) * rounds // max(k, 1)) % rounds, s] = np.arange(k)
                small += 1
        if (schedule.max(axis=1) < 0).any():
            where = f" on {sizes.n_servers} servers" if sizes.n_servers > 1 else ""
            raise InputError(
                f"Fresh curves in each of {rounds} rounds need at least {rounds} curves, and one "
                f"for each round; there are {sizes.n_curves}{where}.",
                field="n_iterations",
                hint="Take fewer rounds, more curves, or all curves in every round.",
            )
        return schedule

    def fewest_in_a_round(self, sizes: Sizes) -> int | None:
        """Over all servers together, whose averages are averaged again."""
        if self.uses_all_curves:
            return None
        rounds = self._rounds(sizes)
        takes_part = self._schedule(sizes, rounds) >= 0
        return int((takes_part @ np.array(self._batch_sizes(sizes, rounds))).min())

    def _radii(self, counts: Array, n_curves: int, size: int, n_functions: int = 1) -> Array:
        """R_l = C_R (√(log^p(N/η) / m_i) + l^−α), the same for every function: (curves, p).

        One row if lengths are equal; zero for curves without readings.
        """
        counts = counts[:1] if len(counts) and (counts == counts[0]).all() else counts
        log = math.log(n_curves / self.failure_probability) ** self.log_power
        sampling = np.sqrt(log / np.maximum(counts, 1))[:, None]
        radii = self.radius_constant * (sampling + np.arange(1.0, size + 1) ** -self.smoothness)
        return np.tile(np.where(counts[:, None] > 0, radii, 0.0), n_functions)

    def _round_mu(self, budget: Budget, rounds: int) -> float:
        """The Gaussian-DP parameter of one round."""
        if self.constants == "tight":
            total = accounting.exact_mu(budget.epsilon, budget.delta)
        else:
            total = accounting.printed_mu(budget.epsilon, budget.delta, self.noise)
        if not self.uses_all_curves:
            return total
        return accounting.per_round_mu(total, rounds)

    def _weights(
        self,
        sizes: Sizes,
        budgets: tuple[Budget, ...],
        size: int,
        n_functions: int,
        scales: Array,
        spread: Array,
    ) -> Array:
        """Shares ν_s of the servers, from public numbers; they sum to one."""
        n = np.array(sizes.n_curves_per_server, dtype=float)
        if self.weights == "inverse_variance":
            raw = 1 / ((scales**2).sum(axis=1) + spread)
        elif self.weights == "rate":
            raw = _rate_weights(n, sizes.n_observations_per_curve, budgets, size, n_functions)
        else:
            raw = n if self.weights == "size" else np.ones_like(n)
        return np.asarray(raw / raw.sum())

    def _spend(
        self,
        server: int,
        budget: Budget,
        mu: float,
        rounds: int,
        batch: int,
        sizes: Sizes,
        sensitivity: Array,
        scales: Array,
    ) -> Spend:
        n = sizes.n_curves_per_server[server]
        if not self.uses_all_curves:
            rounds = min(rounds, n)
            why = (
                f"Each curve takes part in one of {rounds} rounds ({batch * rounds} of {n} "
                "curves are used), so all rounds together cost as much as one."
            )
        else:
            why = (
                f"All {n} curves take part in each of {rounds} rounds; squares of μ add, so "
                f"each round has the total divided by √{rounds}."
            )
        return Spend(
            step=GRADIENT,
            server=server,
            mu=mu,
            sensitivity=tuple(sensitivity.tolist()),
            noise_scale=tuple(scales.tolist()),
            count=rounds,
            budget=budget,
            why=why,
            composition=(Composition.SEQUENTIAL if self.uses_all_curves else Composition.PARALLEL),
            unit=Unit.CURVE,
            norm="weighted ℓ2",
            noise=NoiseLaw.GAUSSIAN,
        )

    # -- on the servers ---------------------------------------------------------------------

    def _moments(self, data: CurveData, basis: Basis) -> Curves:
        values = data.values
        if self._value_scale(data.facts) == "bounds":
            values = np.clip(values, data.facts.value_low, data.facts.value_high)
            values = (values - data.facts.value_middle) / data.facts.value_half_width
        return self.curves(data, curve_moments(data.times, values, data.counts, basis))

    def _servers(
        self, data: CurveData, basis: Basis, rounds: int, draws: int, rng: np.random.Generator
    ) -> list[Server]:
        """Split data and noise by server, each with a random stream of its own."""
        moments, n = self._moments(data, basis), data.n_curves
        ends = np.cumsum(data.sizes.n_curves_per_server)
        streams = rng.spawn(len(ends))
        shape = (data.n_repeats, draws, moments.size)
        return [
            Server(
                s,
                moments.curves(slice(stop - len(counts), stop)),
                self._radii(counts, n, basis.size, _n_functions(moments)),
                stream.standard_normal(
                    (  # one for each round that the server takes part in
                        rounds if self.uses_all_curves else min(len(counts), rounds),
                        *shape,
                    )
                ),
            )
            for s, (stop, counts, stream) in enumerate(
                zip(ends, _counts_per_server(data), streams, strict=True)
            )
        ]

    def _descended(
        self, servers: list[Server], plans: Sequence[DescentPlan], largest: int, draws: int
    ) -> tuple[Array, Array, Array]:
        """Fit plans of one basis size together; what a plan does not keep is zero.

        Returns the releases (plans, repeats, draws, functions, r), what they are compared with
        (plans, repeats, functions, r), and the `_sampling` of each plan.
        """
        shape = (len(plans), servers[0].normals.shape[1], draws, plans[0].n_functions, largest)
        released, unprotected = np.zeros(shape), np.zeros((*shape[:2], *shape[3:]))
        sampling = np.zeros((len(plans), len(servers)))
        for size, members in _grouped_by_size(plans):
            ours = [server.first(size) for server in servers]
            plans_of_size = [plans[k] for k in members]
            released[members, ..., :size], unprotected[members, ..., :size] = self._descend(
                ours, plans_of_size, draws
            )
            sampling[members] = self._sampling(
                ours, plans_of_size, unprotected[members[0], ..., :size]
            )
        return released, unprotected, sampling

    def _doubts(
        self, public: Public, released: Array, plans: Sequence[DescentPlan], basis: Basis
    ) -> tuple[Caution, ...]:
        """Compare a release with what its functions and rounds make of a curve.

        `released` (plans, repeats, draws, functions, r) in unit scale.
        """
        facts = public.facts
        bends, unseen = np.zeros((2, *released.shape[:3]), dtype=bool)
        is_linear = not self.names(facts) and self.ellipsoid_radius is None
        if is_linear and len(facts.design.times or POINTS) >= TOLD_APART:
            for k, plan in enumerate(plans):
                functions = basis.first(plan.size)
                curves = self._unit(facts) * released[k, ..., 0, : plan.size] @ functions(POINTS).T
                judgement = Judgement(self._smoothing(plan, functions, facts), facts, public.sizes)
                tells = partial(judgement.has_bends, simple=_simple(functions))
                bends[k], unseen[k] = tells(curves), judgement.hides_steps(tells)
        on_the_way = self._are_on_the_way(released, plans, basis, public.sizes)
        each = ((NOT_ARRIVED, on_the_way), (BEND_OR_STEP, bends), (STEP_NOT_SEEN, unseen & ~bends))
        return tuple(
            (
                Caution(text, applies, SaidIn.STATED, ("steps",))
                if text is STEP_NOT_SEEN
                else Caution(text, applies, SaidIn.LINE)
            )
            for text, applies in each
            if applies.any()
        )

    def _smoothing(
        self, plan: DescentPlan, functions: Basis, facts: PublicFacts
    ) -> SmoothingErrors:
        """Compute what all rounds make of the cosines and the noise left, in response units.

        As if nothing were clipped: curves with the inner products v move a to a − ρ(G a − v).
        """
        density = stated_density(facts.design)
        times = (
            np.array(facts.design.times)
            if facts.design.times
            else POINTS
            if density is None
            else density.quantile(POINTS)
        )
        at_times = functions(times)
        towards = self.step_size * at_times.T @ cosine_rows(COSINES, times) / len(times)
        left = np.eye(plan.size) - self.step_size * at_times.T @ at_times / len(times)
        reached, covariance = np.zeros_like(towards), np.zeros((plan.size, plan.size))
        for shares in _shares_of_rounds(plan):
            reached = left @ reached + towards
            noise = ((shares[:, None] * plan.scales[:, : plan.size]) ** 2).sum(axis=0)
            covariance = left @ covariance @ left.T + self.step_size**2 * np.diag(noise)
        rows = functions(POINTS)
        return SmoothingErrors(reached.T @ rows.T, rows, self._unit(facts) ** 2 * covariance)

    def _are_on_the_way(
        self, released: Array, plans: Sequence[DescentPlan], basis: Basis, sizes: Sizes
    ) -> NDArray[np.bool_]:
        """True if the released level shows that descent had not arrived.

        What T rounds leave of a constant curve follows from the basis, and so does by how much the
        released level is too near the middle, where no curve is clipped. It counts where it is
        larger than what noise and sampling variability add. Of several functions the first is the
        level.
        """
        levels = released[..., 0, :] @ basis(drawing_grid()).mean(axis=0)
        on_the_way = np.zeros(levels.shape, dtype=bool)
        for k, plan in enumerate(plans):
            noise = ((plan.weights[:, None] * plan.scales[:, : plan.size]) ** 2).sum()
            added = math.hypot(
                math.sqrt(self.step_size / (2 - self.step_size) * noise),
                DEFAULT_SPREAD / math.sqrt(sizes.n_curves),
            )
            left, reached = _left_of_a_constant(basis.first(plan.size), self.step_size, plan.rounds)
            on_the_way[k] = left / max(reached, left) * np.abs(levels[k]) > added
        return on_the_way

    def _descend(
        self, servers: list[Server], plans: Sequence[DescentPlan], draws: int
    ) -> tuple[Array, Array]:
        """All rounds for plans of one basis size, with noise and without.

        Columns are (plan, draw) pairs followed by noise-free ones, one for each different set of
        weights. Returns (plans, repeats, draws, functions, r) and (plans, repeats, functions, r).
        """
        plan, repeats = plans[0], servers[0].normals.shape[1]
        weights, like = np.unique(np.stack([p.weights for p in plans]), axis=0, return_inverse=True)
        quiet = weights if self.baseline == "same_steps" else weights[:0]
        shares = np.concatenate([np.repeat([p.weights for p in plans], draws, axis=0), quiet])
        iterates = self._after_all_rounds(servers, plans, shares)
        private, shape = len(plans) * draws, (plan.n_functions, plan.size)
        released = iterates[:, :private].reshape(repeats, len(plans), draws, *shape)
        if self.baseline == "same_steps":
            unprotected = iterates[:, private:][:, like].reshape(repeats, len(plans), *shape)
        else:
            baseline = self._baseline(servers, plan.rounds).reshape(repeats, 1, *shape)
            unprotected = np.repeat(baseline, len(plans), axis=1)
        return released.swapaxes(0, 1), unprotected.swapaxes(0, 1)

    def _after_all_rounds(
        self, servers: list[Server], plans: Sequence[DescentPlan], shares: Array
    ) -> Array:
        """The iterates (repeats, columns, p), a column for each row of `shares`."""
        plan = plans[0]
        scales = np.stack([p.scales for p in plans], axis=1)  # (servers, plans, p)
        iterates = np.zeros((servers[0].normals.shape[1], len(shares), servers[0].moments.size))
        for batches in plan.schedule:
            active = np.flatnonzero(batches >= 0)
            linear = shared_map(servers[0].moments, iterates)
            sent = [
                self.server_update(
                    servers[s], int(batches[s]), plan.batch_sizes[s], iterates, scales[s], linear
                )
                for s in active
            ]
            iterates = self._combine(sent, _of_those(shares, active), iterates, plan.n_functions)
        return iterates

    def server_update(
        self,
        server: Server,
        batch: int,
        batch_size: int,
        iterates: Array,
        scales: Array,
        linear: Array | None = None,
    ) -> Array:
        """Average clipped gradients, noised in private columns: all that leaves a server."""
        sent = self.clipped_average(server, batch, batch_size, iterates, linear)
        noise = scales[:, None] * server.normals[batch][:, None]
        noise = noise.reshape(len(sent), -1, sent.shape[2])
        sent[:, : noise.shape[1]] += noise
        return transcript.sent(server.index, _round(batch), sent, scales[0])

    def clipped_average(
        self, server: Server, batch: int, batch_size: int, iterates: Array, linear: Array | None
    ) -> Array:
        """The average of a batch's clipped gradients, before noise: (repeats, columns, p)."""
        start = batch * batch_size if not self.uses_all_curves else 0
        used = slice(start, start + batch_size)
        radii = server.radii if len(server.radii) == 1 else server.radii[used]
        return mean_clipped_gradient(server.moments.curves(used), iterates, radii, linear)

    def _combine(
        self, sent: list[Array], shares: Array, iterates: Array, n_functions: int = 1
    ) -> Array:
        """The centre's step, (repeats, columns, p): it sees what the servers sent and no data.

        `shares` (columns, servers) sum to one; each of the functions is projected apart.
        """
        gradient = sum(shares[:, s, None] * message for s, message in enumerate(sent))
        moved = np.asarray(iterates - self.step_size * gradient)
        if self.ellipsoid_radius is None:
            return moved
        each = moved.reshape(*moved.shape[:2], n_functions, -1)
        smooth = np.arange(1.0, each.shape[-1] + 1) ** (2 * self.smoothness)
        bound = (self.ellipsoid_radius / math.pi**self.smoothness) ** 2
        return project_on_ellipsoid(each, smooth, bound).reshape(moved.shape)

    def _baseline(self, servers: list[Server], rounds: int) -> Array:
        """Least squares or plain gradient descent on the curves of all servers: (repeats, p)."""
        n = np.array([server.moments.n_curves for server in servers])
        averages = [server.moments.average() for server in servers]
        gram, cross = (
            sum(share * moments[k] for share, moments in zip(n / n.sum(), averages, strict=True))
            for k in (0, 1)
        )
        if self.baseline == "least_squares":
            return least_squares.solve(np.asarray(gram), np.asarray(cross))
        fit = np.zeros((*np.shape(cross), 1))
        for _ in range(rounds):
            fit = fit - self.step_size * (gram @ fit - np.asarray(cross)[..., None])
        return np.asarray(fit[..., 0])

    # -- in response units, and who adds what -----------------------------------------------

    def _in_response_units(self, coefficients: Array, facts: PublicFacts) -> Array:
        """Undo the map to [−1, 1], where the first constant carries the middle of the bounds.

        `coefficients` end in (functions, r); a single function loses its axis.
        """
        if self._value_scale(facts) == "bounds":
            coefficients = coefficients * facts.value_half_width
            coefficients[..., 0, 0] += facts.value_middle
        return coefficients if self.names(facts) else coefficients[..., 0, :]

    def _sampling(self, servers: list[Server], plans: Sequence[DescentPlan], quiet: Array) -> Array:
        """Squared error that the sampling of people at each server adds: (plans, servers).

        From the spread of its clipped gradients at the estimate without noise.
        """
        if len(servers) == 1:
            return np.zeros((len(plans), 1))
        first = slice(0, 1)  # of the data sets: enough for a share
        estimate = quiet[first].reshape(1, 1, -1)
        spread = np.array(
            [
                clipped_variance(server.moments.repeats(first), estimate, server.radii)[0, 0]
                for server in servers
            ]
        )
        return np.stack(
            [self._scatter_kept(plan) * spread / np.array(plan.batch_sizes) for plan in plans]
        )

    def _parts(self, plans: Sequence[DescentPlan], sampling: Array, data: CurveData) -> ServerParts:
        square = self._unit(data.facts) ** 2
        return ServerParts(
            np.stack([plan.weights for plan in plans]),
            square * np.stack([self._noise_left(plan) for plan in plans]),
            square * sampling,
        )

    def _noise_left(self, plan: DescentPlan) -> Array:
        """Variance of every server's noise that is left at the end: (servers,)."""
        return np.asarray(self._noise_share(plan) * (plan.scales**2).sum(axis=1))

    def _noise_share(self, plan: DescentPlan) -> Array:
        """Compute the share that is left of the variance of one round of every server: (servers,).

        ρ² Σ_t ν_st² (1 − ρ)^{2(T − 1 − t)}, ν_st its share in round t, 0 where it rests.
        """
        shares = _shares_of_rounds(plan)
        left = (1 - self.step_size) ** np.arange(plan.rounds - 1, -1, -1)
        return np.asarray(self.step_size**2 * (left**2 @ shares**2))

    def _scatter_kept(self, plan: DescentPlan) -> Array:
        """The same of how curves scatter: with all of them in every round it does not change."""
        if self.uses_all_curves:
            return np.asarray((plan.weights * (1 - (1 - self.step_size) ** plan.rounds)) ** 2)
        return self._noise_share(plan)


def _is_periodic(facts: PublicFacts) -> bool:
    """Declared so, or a design of the paper, which takes its curves for periodic."""
    return facts.periodic or (facts.is_simulated and facts.unit_scale)


def _shares_of_rounds(plan: DescentPlan) -> Array:
    """Return the share of every server in each round, 0 if it rests: (rounds, servers)."""
    taking_part = (plan.schedule >= 0) * plan.weights
    return np.asarray(taking_part / taking_part.sum(axis=1, keepdims=True))


def _simple(functions: Basis) -> Array:
    """Return the functions at `POINTS` that are hardly mistaken for the trace of a step: (G, k).

    Straight lines, and polynomials of a higher degree the more functions there are, so that four
    are left to tell what is not simple; of periodic curves all but the last frequency.
    """
    if functions.is_periodic:
        return functions.first(max(functions.size - 2, 3))(POINTS)
    return np.asarray(legvander(2 * POINTS - 1, max(functions.size - 4, 2) - 1))


def _of_those(shares: Array, active: Index) -> Array:
    """Shares of the servers that take part in a round, made to sum to one again."""
    if len(active) == shares.shape[1]:
        return shares
    taking_part = shares[:, active]
    return np.asarray(taking_part / taking_part.sum(axis=1, keepdims=True))


def _rate_weights(
    n: Array, m: float, budgets: tuple[Budget, ...], size: int, n_functions: int
) -> Array:
    """The paper's weights: one over the largest of the four terms of the rate, without constants.

    Below Algorithm 2: r/(n m), r²/(n² m ε²), 1/n, 1/(n² ε²); below Algorithm 3 the terms without
    privacy are multiplied by d and the others by d².
    """
    private = (n * np.array([budget.epsilon for budget in budgets])) ** 2
    d = max(n_functions - 1, 1)
    terms = [d * size / (n * m), d**2 * size**2 / (private * m), d / n, d**2 / private]
    return np.asarray(1 / np.max(terms, axis=0))


def _counts_per_server(data: CurveData) -> list[Array]:
    stated = data.facts.observations_per_curve
    counts = np.full(data.n_curves, stated) if stated else data.counts
    return np.split(counts, np.cumsum(data.sizes.n_curves_per_server)[:-1])


def _grouped_by_size(plans: Sequence[DescentPlan]) -> list[tuple[int, list[int]]]:
    """Indices of the plans that keep the same number of basis functions."""

    def size(k: int) -> int:
        return plans[k].size

    return [
        (key, list(members))
        for key, members in groupby(sorted(range(len(plans)), key=size), key=size)
    ]
