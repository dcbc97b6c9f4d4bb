"""Private mean function by noisy gradient descent (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import accounting
from engine.errors import InputError
from engine.mechanisms import Mechanism, mechanisms, one_per_server
from engine.noise.gaussian import anisotropic_scales, isotropic_scales
from engine.numerics import least_squares
from engine.numerics.bases import Basis
from engine.numerics.gradients import mean_clipped_gradient, project_on_ellipsoid
from engine.numerics.moments import Moments, curve_moments
from engine.registry import param
from engine.tasks import MEAN_FUNCTION
from engine.types import (
    Array,
    Band,
    Budget,
    CurveData,
    Estimate,
    PublicFacts,
    Sizes,
    Spend,
)

Index = NDArray[np.int64]
_USUAL_EXTENSION = 0.25  # Fourier extension of curves that are not declared periodic
_MORE_THAN_ENOUGH_ROUNDS = 2000


@dataclass(frozen=True)
class Plan:
    """All that is fixed before any reading is looked at: public sizes and one budget in."""

    size: int
    rounds: int
    batch_sizes: tuple[int, ...]
    scales: Array  # (servers, size): standard deviation of the noise each server adds each round
    weights: Array  # (servers,): share of each server in the combined gradient
    schedule: Index  # (rounds, servers): which of its batches a server uses; −1 where it rests
    spends: tuple[Spend, ...]


@dataclass(frozen=True)
class Server:
    """What one server holds: moments of its own curves and their public clipping radii."""

    moments: Moments
    radii: Array  # (curves or 1, size)
    normals: Array  # (rounds, repeats, draws, size): its own standard noise

    def first(self, size: int) -> Server:
        return Server(self.moments.first(size), self.radii[:, :size], self.normals[..., :size])


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class NoisyGradientMean(Mechanism):
    """Gradient descent on basis coefficients, with clipped curves and Gaussian noise each round.

    Every round, each server averages the clipped gradients of its curves, adds noise and sends the
    r numbers; the centre averages the servers, takes a step and sends the new coefficients back.

    Paper symbol → name here: r `truncation`, T `n_iterations`, ρ `step_size`, C_R
    `radius_constant`, η `failure_probability`, α `smoothness`, C_α `ellipsoid_radius`.

    Notes
    -----
    *Sensitivity.* The gradient of curve i is g_i = M_i a − v_i, clipped entry by entry to
    [−R_l, R_l]; a curve with a non-finite number contributes zero and stays in the count.
    Whatever a curve holds, its contribution lies in that box, so replacing it moves entry l of the
    average over b curves by at most Δ_l = 2 R_l / b. With noise N(0, σ_l²) a round is exactly
    μ-Gaussian-DP with μ² = Σ_l Δ_l²/σ_l². The iterate it starts from is an earlier output, hence
    free. With curves of unequal (public) lengths R_l depends on the length and Δ_l takes its
    largest value.

    *Composition.* "split" uses fresh curves in each round, fixed by their position: rounds are
    parallel and together cost one round. A server with fewer curves than rounds joins as many
    rounds as it has curves, one curve each, in a public rotation; where every curve is a server
    of its own this is local privacy. "full_batch" uses all curves in all T rounds: squares of
    μ add, so each round gets μ/√T.

    *Basis.* Curves that are not periodic are expanded over a longer period (Fourier extension) or
    in cosines; |φ_l| ≤ √2 holds for all of them and clipping does not see the basis, so nothing
    above changes.

    References
    ----------
    Xue, Lin and Yu (2024), arXiv 2412.06582: Lemma 1, Algorithms 1 and 2, section 5.
    """

    key = "noisy_gradient_mean"
    label = "Noisy gradient descent"
    order = 20
    tasks = frozenset({MEAN_FUNCTION.key})
    guarantee = "approximate"
    family = "gradient"
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Algorithms 1 and 2"
    formula = (r"a_{t+1} = a_t - \rho\Big(\tfrac1b\sum_i \mathrm{clip}_R(M_i a_t - v_i) + w_t\Big),"
               r"\qquad w_t \sim N\big(0, \mathrm{diag}(\sigma_l^2)\big)")

    scheme: str = param(
        "full_batch", "Who takes part in a round",
        "All curves in every round, composed exactly; or fresh curves each round, as published.",
        choices=("full_batch", "split"))
    constants: str = param(
        "tight", "Constants",
        "Tight: least noise that gives the stated protection. Published: what the paper prints.",
        choices=("tight", "published"))
    noise: str = param(
        "anisotropic", "Shape of the noise",
        "Anisotropic: less noise on coefficients that are clipped harder. Isotropic: equal noise.",
        choices=("anisotropic", "isotropic"))
    functions: str = param(
        "fourier", "Basis functions",
        "Fourier: waves of whole turns, as published. Cosine: half turns too, for curves that do "
        "not end where they began.", choices=("fourier", "cosine"))
    truncation: int | None = param(
        None, "Basis functions kept",
        "How much detail is kept. More: finer curve, more noise. Usual: from the public sizes.",
        low=1, high=33, symbol="r")
    n_iterations: int | None = param(
        10, "Rounds", "Gradient steps. None: the paper's rule, a constant times log n.",
        low=1, high=_MORE_THAN_ENOUGH_ROUNDS, symbol="T", when={"scheme=split": None})
    step_size: float = param(
        0.3, "Step size", "How far each round moves. Larger: fewer rounds, more noise kept.",
        low=0.01, high=2.0, symbol="ρ", when={"scheme=split": 0.1})
    smoothness: float = param(
        3.0, "Smoothness", "How smooth you state the curve to be. Larger: fewer basis functions.",
        low=1.0, high=10.0, symbol="α")
    radius_constant: float = param(
        0.75, "Clipping",
        "Gradients are held within this multiple of the theory's radius so that none counts too "
        "much.", low=0.01, high=100.0, symbol="C_R")
    log_power: int = param(
        1, "Power of the log in the radius", "1 reproduces the paper's figures, 2 its formula.",
        low=1, high=2)
    failure_probability: float = param(
        0.05, "Failure probability in the radius", "Smaller: larger radii, less clipping.",
        low=1e-6, high=1.0, symbol="η")
    truncation_constant: float = param(
        1.25, "Constant of the basis rule", "Multiplies the paper's rule for the basis size.",
        low=0.1, high=10.0, symbol="C_r")
    iterations_constant: float = param(
        4.0, "Constant of the rounds rule", "Multiplies log n in the paper's rule for the rounds.",
        low=0.1, high=50.0, symbol="C_T")
    ellipsoid_radius: float | None = param(
        None, "Sobolev radius",
        "Pulls each step back to curves of at most this roughness. None: no such step.",
        low=1e-3, high=1e6, symbol="C_α")
    extension: float | None = param(
        None, "Fourier extension",
        "Extra period at each end for curves that do not end where they began. None: 0.25 for "
        "such curves, 0 for periodic ones.", low=0.0, high=1.0, symbol="ζ")
    value_scale: str | None = param(
        None, "Scale of the readings",
        "Raw: as they are. Bounds: mapped to −1 … 1 by the stated bounds. None: raw for curves "
        "simulated on unit scale, bounds for all others.", choices=("raw", "bounds"))
    weights: str = param(
        "inverse_variance", "Weights of the sites",
        "How sites are averaged: by noise and sizes, by the paper's rate, by size, or equally.",
        choices=("inverse_variance", "rate", "size", "uniform"), symbol="ν")
    baseline: str = param(
        "same_steps", "Compared with",
        "The estimate without noise that privacy error is measured against: the same clipped "
        "steps, least squares, or unclipped gradient descent on all curves.",
        choices=("same_steps", "least_squares", "gradient_descent"))

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}),
                (f"{cls.label}, as published", {"scheme": "split", "constants": "published"}))

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
            If δ = 0, if a server has fewer curves than rounds in "split", or if the number of
            budgets does not fit the servers.
        """
        plans = [self.plan(data, one_per_server(given, data.sizes.n_servers)) for given in budgets]
        basis = self.basis(max(plan.size for plan in plans), data.facts)
        servers = self._servers(data, basis, plans[0].rounds, draws, rng)
        released = np.zeros((len(plans), data.n_repeats, draws, basis.size))
        unprotected = np.zeros((len(plans), data.n_repeats, basis.size))
        for size, members in _grouped_by_size(plans):
            ours = [server.first(size) for server in servers]
            released[members, ..., :size], unprotected[members, :, :size] = self._descend(
                ours, [plans[k] for k in members], draws)
        scale = self._value_scale(data.facts)
        return Estimate(
            task=MEAN_FUNCTION.key, basis=basis,
            coefficients=_to_response_units(released, data.facts, scale),
            unprotected=_to_response_units(unprotected, data.facts, scale),
            spends=tuple(plan.spends for plan in plans),
            kept=tuple(plan.size for plan in plans),
            tuning=tuple(self._tuning(plan) for plan in plans))

    def without_protection(self, data: CurveData) -> Estimate:
        """Least squares on all curves, with the basis size of an unlimited budget.

        Its band encloses, at each time, the middle 95 % of where chance in who took part moves it.
        """
        budget = one_per_server((Budget(math.inf),), data.sizes.n_servers)
        basis = self.basis(self._size(data.sizes, budget), data.facts)
        moments, scale = self._moments(data, basis), self._value_scale(data.facts)
        fit = least_squares.fit(moments)
        unit = data.facts.value_half_width if scale == "bounds" else 1.0
        covariance = unit**2 * least_squares.covariance(moments, fit)
        fit = _to_response_units(fit[None], data.facts, scale)
        return Estimate(task=MEAN_FUNCTION.key, basis=basis, coefficients=fit[:, :, None],
                        unprotected=fit, spends=((),), kept=(basis.size,),
                        band=Band(fit[:, :, None], covariance[None, :, None], "pointwise"))

    # -- fixed before any reading is looked at ---------------------------------------------

    def comparable(self, facts: PublicFacts) -> NoisyGradientMean:
        """With cosines where curves need not end where they began, as other methods have."""
        return self if facts.periodic else replace(self, functions="cosine")

    def plan(self, data: CurveData, budgets: tuple[Budget, ...]) -> Plan:
        """Basis size, rounds, noise scales, weights and ledger from public facts alone."""
        sizes = data.sizes
        size, rounds = self._size(sizes, budgets), self._rounds(sizes)
        batches, schedule = self._batch_sizes(sizes, rounds), self._schedule(sizes, rounds)
        largest = [self._radii(own, sizes.n_curves, size).max(axis=0)
                   for own in _counts_per_server(data)]
        sensitivity = np.stack([2 * r / b for r, b in zip(largest, batches, strict=True)])
        mus = [self._round_mu(budget, rounds) for budget in budgets]
        shape = anisotropic_scales if self.noise == "anisotropic" else isotropic_scales
        scales = np.stack([shape(d, mu) for d, mu in zip(sensitivity, mus, strict=True)])
        bounds = np.array([(r**2).sum() / b for r, b in zip(largest, batches, strict=True)])
        return Plan(size, rounds, batches, scales,
                    self._weights(sizes, budgets, size, scales, bounds), schedule,
                    tuple(self._spend(s, budgets[s], mus[s], rounds, batches[s], sizes,
                                      sensitivity[s], scales[s]) for s in range(len(budgets))))

    def basis(self, size: int, facts: PublicFacts) -> Basis:
        if self.functions == "cosine":
            return Basis(size, family="cosine")
        if self.extension is not None:
            return Basis(size, self.extension)
        return Basis(size, 0.0 if _is_periodic(facts) else _USUAL_EXTENSION)

    def _value_scale(self, facts: PublicFacts) -> str:
        """Uploads are always mapped by their stated bounds."""
        if facts.kind == "upload" or self.value_scale is None:
            return "raw" if facts.unit_scale and facts.kind == "simulated" else "bounds"
        return self.value_scale

    def _size(self, sizes: Sizes, budgets: tuple[Budget, ...]) -> int:
        """The paper's rule: C_r times the smallest of the four optimal sizes, rounded up.

        With all curves in each round and a Fourier basis it is made odd, so that no cosine lacks
        its sine.
        """
        if self.truncation is not None:
            return self.truncation
        n, m, a = sizes.n_curves, sizes.n_observations_per_curve, self.smoothness
        private = sum((k * budget.epsilon) ** 2 for k, budget in
                      zip(sizes.n_curves_per_server, budgets, strict=True))
        optimal = min(n ** (1 / (2 * a)), (n * m) ** (1 / (2 * a + 1)),
                      private ** (1 / (2 * a)), (private * m) ** (1 / (2 * a + 2)))
        size = max(1, math.ceil(self.truncation_constant * optimal))
        paired = self.scheme == "full_batch" and self.functions == "fourier"
        return min(size | 1 if paired else size, 33)

    def _rounds(self, sizes: Sizes) -> int:
        if self.n_iterations is not None:
            return self.n_iterations
        return max(1, math.ceil(self.iterations_constant * math.log(sizes.n_curves)))

    def _batch_sizes(self, sizes: Sizes, rounds: int) -> tuple[int, ...]:
        """Curves per round on each server; "split" leaves out the few that do not fill a round."""
        if self.scheme == "full_batch":
            return sizes.n_curves_per_server
        return tuple(max(k // rounds, 1) for k in sizes.n_curves_per_server)

    def _schedule(self, sizes: Sizes, rounds: int) -> Index:
        """Who takes part in which round, and with which of its batches; from public sizes.

        Servers that are too small for all rounds take turns: each next one begins a round later.
        """
        schedule = np.full((rounds, sizes.n_servers), -1)
        small = 0
        for s, k in enumerate(sizes.n_curves_per_server):
            if self.scheme == "full_batch" or k >= rounds:
                schedule[:, s] = np.arange(rounds)
            else:
                schedule[(small + np.arange(k) * rounds // max(k, 1)) % rounds, s] = np.arange(k)
                small += 1
        if (schedule.max(axis=1) < 0).any():
            raise InputError(
                f"Fresh curves in each of {rounds} rounds need at least {rounds} curves, and one "
                f"for each round; there are {sizes.n_curves} on {sizes.n_servers} servers.",
                field="n_iterations",
                hint="Take fewer rounds, more curves, or all curves in every round.")
        return schedule

    def _radii(self, counts: Array, n_curves: int, size: int) -> Array:
        """R_l = C_R (√(log^p(N/η) / m_i) + l^−α): (curves, size), one row if lengths are equal."""
        counts = counts[:1] if len(counts) and (counts == counts[0]).all() else counts
        log = math.log(n_curves / self.failure_probability) ** self.log_power
        sampling = np.sqrt(log / np.maximum(counts, 1))[:, None]
        radii = self.radius_constant * (sampling + np.arange(1.0, size + 1) ** -self.smoothness)
        return np.where(counts[:, None] > 0, radii, 0.0)

    def _round_mu(self, budget: Budget, rounds: int) -> float:
        """The Gaussian-DP parameter of one round."""
        if self.constants == "tight":
            total = accounting.exact_mu(budget.epsilon, budget.delta)
        else:
            total = accounting.printed_mu(budget.epsilon, budget.delta, self.noise)
        if self.scheme == "split":
            return total
        return accounting.per_round_mu(total, rounds)

    def _weights(self, sizes: Sizes, budgets: tuple[Budget, ...], size: int,
                 scales: Array, spread: Array) -> Array:
        """Shares ν_s of the servers, from public numbers; they sum to one."""
        n = np.array(sizes.n_curves_per_server, dtype=float)
        if self.weights == "inverse_variance":
            raw = 1 / ((scales**2).sum(axis=1) + spread)
        elif self.weights == "rate":
            raw = _rate_weights(n, sizes.n_observations_per_curve, budgets, size)
        else:
            raw = n if self.weights == "size" else np.ones_like(n)
        return np.asarray(raw / raw.sum())

    def _spend(self, server: int, asked: Budget, mu: float, rounds: int, batch: int, sizes: Sizes,
               sensitivity: Array, scales: Array) -> Spend:
        n = sizes.n_curves_per_server[server]
        if self.scheme == "split":
            rounds = min(rounds, n)
            why = (f"Each curve takes part in one of {rounds} rounds ({batch * rounds} of {n} "
                   "curves are used), so all rounds together cost as much as one.")
        else:
            why = (f"All {n} curves take part in each of {rounds} rounds; squares of μ add, so "
                   f"each round has the total divided by √{rounds}.")
        return Spend(what="average clipped gradient", server=server, mu=mu,
                     sensitivity=tuple(sensitivity.tolist()), noise_scale=tuple(scales.tolist()),
                     count=rounds, asked=asked, why=why,
                     composition="parallel" if self.scheme == "split" else "sequential")

    def _tuning(self, plan: Plan) -> dict[str, Any]:
        return {"truncation": plan.size, "n_iterations": plan.rounds,
                "batch_size": plan.batch_sizes[0]}

    # -- on the servers ---------------------------------------------------------------------

    def _moments(self, data: CurveData, basis: Basis) -> Moments:
        values = data.values
        if self._value_scale(data.facts) == "bounds":
            values = np.clip(values, data.facts.value_low, data.facts.value_high)
            values = (values - data.facts.value_middle) / data.facts.value_half_width
        return curve_moments(data.times, values, data.counts, basis)

    def _servers(self, data: CurveData, basis: Basis, rounds: int, draws: int,
                 rng: np.random.Generator) -> list[Server]:
        """Split data and noise by server, each with a random stream of its own."""
        moments, n = self._moments(data, basis), data.n_curves
        ends = np.cumsum(data.sizes.n_curves_per_server)
        streams = rng.spawn(len(ends))
        shape = (data.n_repeats, draws, basis.size)
        return [Server(moments.curves(slice(stop - len(own), stop)),
                       self._radii(own, n, basis.size),
                       stream.standard_normal((self._rounds_of(len(own), rounds), *shape)))
                for stop, own, stream in zip(ends, _counts_per_server(data), streams, strict=True)]

    def _rounds_of(self, n_curves: int, rounds: int) -> int:
        """How many rounds a server takes part in."""
        return rounds if self.scheme == "full_batch" else min(n_curves, rounds)

    def _descend(self, servers: list[Server], plans: list[Plan], draws: int
                 ) -> tuple[Array, Array]:
        """Run all rounds for plans of one basis size.

        The columns of `iterates` are (plan, draw) pairs followed by noise-free ones, one for each
        different set of weights. Returns (plans, repeats, draws, r) and (plans, repeats, r).
        """
        plan, repeats, size = plans[0], len(servers[0].moments.features), servers[0].moments.size
        weights, like = np.unique(np.stack([p.weights for p in plans]), axis=0, return_inverse=True)
        quiet = weights if self.baseline == "same_steps" else weights[:0]
        shares = np.concatenate([np.repeat([p.weights for p in plans], draws, axis=0), quiet])
        iterates = np.zeros((repeats, len(shares), size))
        for t in range(plan.rounds):
            active = np.flatnonzero(plan.schedule[t] >= 0)
            sent = [self.server_update(servers[s], int(plan.schedule[t, s]), plan.batch_sizes[s],
                                       iterates, np.stack([p.scales[s] for p in plans]))
                    for s in active]
            iterates = self.combine(sent, _of_those(shares, active), iterates)
        private = len(plans) * draws
        released = iterates[:, :private].reshape(repeats, len(plans), draws, size)
        if self.baseline == "same_steps":
            unprotected = iterates[:, private:][:, like]
        else:
            unprotected = np.repeat(self._baseline(servers, plan.rounds)[:, None], len(plans), 1)
        return released.swapaxes(0, 1), unprotected.swapaxes(0, 1)

    def server_update(self, server: Server, batch: int, batch_size: int, iterates: Array,
                      scales: Array) -> Array:
        """Everything a server does with its curves in one round; only the result leaves it.

        `batch` counts the rounds this server takes part in.

        `iterates` (repeats, columns, r) came from the centre; `scales` (plans, r). Returns the
        averaged clipped gradients, noised in the private columns: (repeats, columns, r).
        """
        start = batch * batch_size if self.scheme == "split" else 0
        used = slice(start, start + batch_size)
        radii = server.radii if len(server.radii) == 1 else server.radii[used]
        sent = mean_clipped_gradient(server.moments.curves(used), iterates, radii)
        noise = scales[:, None] * server.normals[batch][:, None]
        noise = noise.reshape(len(sent), -1, sent.shape[2])
        sent[:, :noise.shape[1]] += noise
        return sent

    def combine(self, sent: list[Array], shares: Array, iterates: Array) -> Array:
        """The centre's step: it sees what the servers sent and no data."""
        gradient = sum(shares[:, s, None] * one for s, one in enumerate(sent))
        moved = np.asarray(iterates - self.step_size * gradient)
        if self.ellipsoid_radius is None:
            return moved
        smooth = np.arange(1.0, moved.shape[2] + 1) ** (2 * self.smoothness)
        bound = (self.ellipsoid_radius / math.pi**self.smoothness) ** 2
        return project_on_ellipsoid(moved, smooth, bound)

    def _baseline(self, servers: list[Server], rounds: int) -> Array:
        """Least squares or plain gradient descent on the curves of all servers: (repeats, r)."""
        pooled = Moments(np.concatenate([s.moments.features for s in servers], axis=2),
                         servers[0].moments.basis)
        if self.baseline == "least_squares":
            return least_squares.fit(pooled)
        gram, cross = pooled.average()
        fit = np.zeros_like(cross[..., None])
        for _ in range(rounds):
            fit = fit - self.step_size * (gram @ fit - cross[..., None])
        return np.asarray(fit[..., 0])


def _is_periodic(facts: PublicFacts) -> bool:
    """Declared so, or a design of the paper, which takes its curves for periodic."""
    return facts.periodic or (facts.kind == "simulated" and facts.unit_scale)


def _of_those(shares: Array, active: Index) -> Array:
    """Shares of the servers that take part in a round, made to sum to one again."""
    if len(active) == shares.shape[1]:
        return shares
    taking_part = shares[:, active]
    return np.asarray(taking_part / taking_part.sum(axis=1, keepdims=True))


def _rate_weights(n: Array, m: float, budgets: tuple[Budget, ...], size: int) -> Array:
    """The paper's u_s = 1 / max(r/(n m), r²/(n² m ε²), 1/n, 1/(n² ε²)), below Algorithm 2."""
    private = (n * np.array([budget.epsilon for budget in budgets])) ** 2
    return np.asarray(1 / np.max([size / (n * m), size**2 / (private * m), 1 / n, 1 / private], 0))


def _counts_per_server(data: CurveData) -> list[Array]:
    return np.split(data.counts, np.cumsum(data.sizes.n_curves_per_server)[:-1])


def _grouped_by_size(plans: list[Plan]) -> list[tuple[int, list[int]]]:
    """Indices of the plans that keep the same number of basis functions."""
    def size(k: int) -> int:
        return plans[k].size
    return [(key, list(members)) for key, members in groupby(sorted(range(len(plans)), key=size),
                                                             key=size)]


def _to_response_units(coefficients: Array, facts: PublicFacts, scale: str) -> Array:
    """Undo the map to [−1, 1]; the constant basis function carries the middle of the bounds."""
    if scale == "raw":
        return coefficients
    out = coefficients * facts.value_half_width
    out[..., 0] += facts.value_middle
    return np.asarray(out)


