"""Releasing a whole function at once: coefficients of a summary with noise on each of them.

ICLP and its competitors differ in three choices only: the functions a summary is expressed in
(`Space`), how averages are smoothed (`Smoothing`), and the shape and law of the noise. What is
summarised (a mean, coefficients of covariates, a covariance, a density, a regression function) is
said by a member of `engine.summaries`. All of them work on curves divided by τ, so that a curve
has norm at most one, and on a public grid.

Privacy
-------
Every record is brought onto the grid and held to the unit ball on its own, and n is public. A
summary knows the set of all changes that replacing one record can make to its coefficients
(`engine.numerics.difference_sets`, where each size is proved). Independent Lap(b_j) on coefficient
j costs sup Σ |d_j|/b_j over that set, whatever the shape of b; Gaussian noise of standard deviation
σ_j costs μ = sup (Σ d_j²/σ_j²)^{1/2}; noise with density ∝ exp(−‖z‖₂/s) costs sup ‖d‖₂/s. The
scales are made so large that this is the budget. Coefficients that cannot change get no noise.
Smoothing parameters are functions of n, ε and the decay of the kernel alone ("formula"); otherwise
see `engine.summaries.selection`. Sites share nobody, so each spends its own budget. What happens at
the centre uses messages only.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125: Algorithm 1, sections 5 and 6. The exact sensitivities
and best spectra were derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.mechanism import ATTAINED, Mechanism, Trial, one_per_server
from engine.noise.laplace import laplace
from engine.numerics.eigensystems import Grid, midpoints, of_times
from engine.numerics.kernel_densities import DensityAtoms
from engine.privacy import transcript
from engine.registry import param
from engine.summaries import summaries
from engine.summaries.parts import (
    ROUND_UP,
    Block,
    Calibrated,
    Features,
    Linear,
    Plan,
    Smoothing,
    Space,
    Summary,
)
from engine.summaries.selection import choose
from engine.tasks import (
    COVARIANCE,
    DENSITY,
    FUNCTIONAL_SUMMARY,
    MEAN_FUNCTION,
    RISK_MINIMISATION,
    TASKS,
    VARYING_COEFFICIENTS,
    DataType,
)
from engine.types import (
    Array,
    Budget,
    Composition,
    Data,
    Estimate,
    Public,
    PublicFacts,
    ServerParts,
    Sizes,
    Spend,
    Unit,
)

CURVES = tuple(task for task in summaries if TASKS[task].data is DataType.CURVES)
LOSSES = ("huber", "square", "logistic", "hinge")
_BANDWIDTH = {1: 0.12, 2: 0.2}
_MOST_IN_THE_PLANE = 40  # points on each axis; 1600 atoms have 1.3 million pairs


# -- the mechanism ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FunctionalRelease(Mechanism):
    """What all mechanisms of this family share: grid, bounds, calibration and the release.

    Paper symbol → name here: τ `size`, K `grid_size`, h `bandwidth`.
    """

    family = "functional"
    attains: ClassVar[Mapping[str, float]] = {}  # shares of a claim by task, where below the usual
    measured = "Whole functions under pure privacy"
    guarantee = "pure"
    tasks = frozenset({*summaries, FUNCTIONAL_SUMMARY.key})

    task: str = param(
        MEAN_FUNCTION.key, "Summary", "What is released of the records.",
        choices=tuple(summaries))
    constants: str = param(
        "tight", "Constants",
        "Tight: exact sensitivity. Published: the bound the papers print. Optimal: exact, and the "
        "noise has the shape with the least total.", choices=("tight", "published", "optimal"))
    size: float | None = param(
        None, "Largest size of a curve (τ)", "Curves further from the middle of their bounds than "
        "this, in root mean square, are drawn towards it. Usual: what the bounds allow.",
        low=1e-9, high=1e9, symbol="τ", only_for=CURVES)
    grid_size: int | None = param(
        None, "Points of the grid", "On each axis. Usual: the common times of the curves, else "
        "100; 200 for a density, 28 on each of two axes, 50 for a covariance.",
        low=5, high=500, symbol="K")

    share: float = param(
        0.5, "Share of the first step",
        "Part of ε for what comes first: the private mean of a covariance, or the covariates’ own "
        "second moments.", low=0.05, high=0.95,
        only_for=(COVARIANCE.key, VARYING_COEFFICIENTS.key))
    centre: str = param(
        "private_mean", "Covariance about", "A private mean, paid for first; nothing; or the "
        "sample mean, at 2.8 times the noise.", choices=("private_mean", "nothing", "sample_mean"),
        only_for=(COVARIANCE.key,))
    positive: bool = param(
        True, "Positive part", "Set negative eigenvalues of a released covariance to zero.",
        only_for=(COVARIANCE.key,))
    floor: float = param(
        0.05, "Least eigenvalue", "Of the released second moments of the covariates, as a share of "
        "the most it can be on average.", low=1e-4, high=1.0,
        only_for=(VARYING_COEFFICIENTS.key,))
    bandwidth: float | None = param(
        None, "Bandwidth", "c in the width h = c n^(−1/(4 + d)) of a density’s atoms, as a share "
        "of the range; d is 1 or 2. Usual: 0.12, and 0.2 in the plane.", low=0.005, high=5.0,
        symbol="c", only_for=(DENSITY.key,))
    clean: bool = param(
        True, "A density again", "Replace what is released by the nearest function that is never "
        "negative and has mass one. Needs no budget and never adds an error.",
        only_for=(DENSITY.key,))
    loss: str | None = param(
        None, "Loss", "Huber and square: for numbers; square needs far more noise. Logistic and "
        "hinge: for two classes, above the middle of the stated bounds or not. Usual: Huber for "
        "numbers, logistic for classes.", choices=LOSSES, only_for=(RISK_MINIMISATION.key,))
    huber_width: float = param(
        0.5, "Where Huber’s loss turns straight", "As a share of half the stated range of numbers.",
        low=0.01, high=10.0, symbol="k", only_for=(RISK_MINIMISATION.key,))
    risk_weight: float | None = param(
        None, "Weight of the penalty", "Of smoothness against the mean loss. Usual: one over the "
        "root of n.", low=1e-6, high=1e3, symbol="ψ", only_for=(RISK_MINIMISATION.key,))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_task()

    def why_not_published(self, budget: Budget) -> str:
        if self.task != RISK_MINIMISATION.key:
            return ""
        return ("Its coefficients are found by iteration, to a tolerance that is no part of the "
                "proof, so it can be looked at, not published.")

    def check_task(self) -> None:
        """Refuse what this mechanism cannot summarise, or what a printed constant gets wrong."""

    # -- what subclasses say -------------------------------------------------------------------

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        """The functions in which curves on this grid are expressed."""
        raise NotImplementedError

    def smoothings(self, eigenvalues: Array, n: float, effective: float) -> tuple[Smoothing, ...]:
        """How averages of n records are smoothed; `effective` is nε, over all sites."""
        return (Linear(np.ones(len(eigenvalues))),)

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """What a record at each point of the grid adds to a density of n records."""
        raise NotImplementedError

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """The functions by which records on this grid are predicted, and their penalty."""
        raise NotImplementedError

    def shape(self, variances: Array) -> Array:
        """The mechanism's own shape of the noise, given the variances of its process: (r,)."""
        return np.ones(len(variances))

    # -- releases ------------------------------------------------------------------------------

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial({"task": task, **summaries[task].trial}, Budget(0.8, 1e-3),
                  cls.attains.get(task, ATTAINED),
                  summaries[task].loose if task in cls.attains else "", summaries[task].pairs)
            for task in sorted(cls.tasks & summaries.keys()))

    @classmethod
    def presets_for(cls, task: str) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The presets that serve a task, with the task in them."""
        if task in (MEAN_FUNCTION.key, FUNCTIONAL_SUMMARY.key):
            return cls.presets()
        return tuple((label, {"task": task, **chosen}) for label, chosen in cls.presets()
                     if cls.serves(task, chosen))

    @property
    def served(self) -> frozenset[str]:
        return frozenset({self.task})

    def offered(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        return self.presets_for(self.task)

    @classmethod
    def serves(cls, task: str, chosen: dict[str, Any]) -> bool:
        """Whether a preset can be used for a task."""
        return task in cls.tasks

    @property
    def first_step(self) -> str:
        if self.task == COVARIANCE.key and self.centre != "private_mean":
            return ""
        text: str = summaries[self.task].first_step
        return text

    def summary(self, sizes: Sizes, facts: PublicFacts) -> Summary:
        """The chosen summary, from public facts."""
        found: Summary = summaries[self.task](self, sizes, facts)
        return found

    def release_many(
        self,
        data: Data,
        budgets: Sequence[tuple[Budget, ...]],
        draws: int,
        rng: np.random.Generator,
    ) -> Estimate:
        """Release at each budget; see `Mechanism.release_many`.

        Raises
        ------
        InputError
            If the data do not fit the task, or a budget the noise: Gaussian noise needs δ > 0.
        """
        summary = self.summary(data.sizes, data.facts)
        plans = [self.plan(data.public, given) for given in budgets]
        run = _Run(summary, [summary.records(one) for one in _by_site(data)])
        chance, *streams = rng.spawn(1 + data.sizes.n_servers)
        chosen = [choose(self, plan, run.records, draws, chance) for plan in plans]
        noise = [[self.draw((data.n_repeats, draws, len(block.shape)), stream)
                  for block in plans[0].blocks[0]] for stream in streams]
        return Estimate(
            task=self.task, basis=summary.basis, offset=summary.offset,
            functions=summary.functions, spends=tuple(plan.spends for plan in plans),
            coefficients=summary.scale * np.stack([
                run.released(*way, noise) for way in zip(plans, chosen, strict=True)]),
            unprotected=summary.scale * np.stack([
                run.quiet(*way) for way in zip(plans, chosen, strict=True)]),
            kept=(summary.basis.size,) * len(plans), parts=self._parts(summary, plans, run))

    def _parts(self, summary: Summary, plans: Sequence[Plan], run: _Run) -> ServerParts | None:
        """What every site brings to a mean with one smoothing; None for other summaries."""
        if self.task != MEAN_FUNCTION.key or any(len(plan.smoothings) > 1 for plan in plans):
            return None
        square = summary.scale**2
        weights = np.stack([plan.weights[0] for plan in plans])
        noise = np.array([[site[-1].energy for site in plan.noise[0]] for plan in plans])
        chance = np.array([[records.chance(plan.smoothings[0]) for records in run.records]
                           for plan in plans])
        return ServerParts(weights, square * weights**2 * noise, square * weights**2 * chance)

    def without_protection(self, data: Data) -> Estimate:
        """The summary as it is, neither smoothed nor held: the same for all mechanisms."""
        return self.summary(data.sizes, data.facts).reference(data)

    # -- fixed before any record is looked at ----------------------------------------------------

    def plan(self, public: Public, budgets: tuple[Budget, ...]) -> Plan:
        """Smoothing, noise, weights and ledger from public facts alone.

        Raises
        ------
        InputError
            If a site has no records, or `calibrated` refuses.
        """
        sizes, facts = public.sizes, public.facts
        budgets = one_per_server(budgets, sizes.n_servers)
        n = np.array(sizes.n_curves_per_server, dtype=float)
        if not n.all():
            raise InputError("Every site needs at least one record.", field="counts",
                             hint="Number sites without gaps.")
        summary = self.summary(sizes, facts)
        effective = math.hypot(*(one * min(budget.epsilon, 1e12)
                                 for one, budget in zip(n, budgets, strict=True)))
        smoothings = summary.smoothings(float(n.sum()), effective)
        blocks = tuple(summary.blocks(smoothing) for smoothing in smoothings)
        noise = tuple(tuple(tuple(self.calibrated(block, one, self.left(budget))
                                  for block in vectors)
                            for one, budget in zip(n, budgets, strict=True)) for vectors in blocks)
        energies = np.array([[site[-1].energy for site in sites] for sites in noise])
        weights = 1 / (1 / n + energies)
        return Plan(smoothings, blocks, noise, weights / weights.sum(axis=1, keepdims=True),
                    self._ledger(blocks, noise, budgets), budgets)

    def left(self, budget: Budget) -> Budget:
        """What is left for the release when the smoothing has been chosen."""
        return budget

    def candidates(self, usual: float) -> tuple[float, ...]:
        """Weights of the penalty to choose from; only the usual one where a formula decides."""
        return (usual,)

    def expected_error(self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
                       ) -> float | None:
        """E‖noise‖² in squared response units, exact; None where it passes through an inverse."""
        if self.task == VARYING_COEFFICIENTS.key:
            return None
        plan = self.plan(Public(sizes, facts), budgets)
        return self.summary(sizes, facts).scale ** 2 * plan.energy(len(plan.smoothings) // 2)

    def caution(self, facts: PublicFacts) -> str:
        if facts.common_times or self.task not in CURVES:
            return ""
        return ("**This method is made for curves that are read densely, at common times.** Here "
                "the readings of each curve are joined by straight lines: few readings flatten "
                "peaks, and the errors of readings stay in. *Adaptive mean* has no such step.")

    def reach(self, facts: PublicFacts) -> float:
        """τ in response units: the stated one, else what the bounds of the values allow."""
        return self.size or facts.largest_norm

    def grid(self, facts: PublicFacts, dimension: int = 1) -> Grid:
        """The public grid: common times where curves have them, else midpoints.

        Raises
        ------
        InputError
            If a grid in the plane has too many points.
        """
        if facts.common_times and self.grid_size is None and dimension == 1:
            return of_times(facts.common_times)
        usual = 28 if dimension == 2 else summaries[self.task].usual_grid
        if dimension == 2 and (self.grid_size or usual) > _MOST_IN_THE_PLANE:
            raise InputError(f"In the plane a grid has at most {_MOST_IN_THE_PLANE} points on each "
                             f"axis; got {self.grid_size}.", field="grid_size")
        return midpoints(self.grid_size or usual, dimension)

    def width(self, n: float, dimension: int) -> float:
        """Width h of a density's atoms, as a share of the range: c n^(−1/(4 + d))."""
        return float((self.bandwidth or _BANDWIDTH[dimension]) * n ** (-1 / (4 + dimension)))

    # -- noise ---------------------------------------------------------------------------------

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Standard noise: Laplace of scale 1 in each coordinate."""
        return laplace(shape, rng)

    def calibrated(self, block: Block, n: float, budget: Budget) -> Calibrated:
        """Laplace noise for n records: b = Δ shape/ε, Δ the size of the set of changes.

        Raises
        ------
        InputError
            If a printed Δ is too small: the release would spend more than it says.
        """
        differences, epsilon = block.differences(n), block.share * budget.epsilon
        shape = block.shape
        if self.constants == "optimal":  # the spectrum may be off where functions differ in norm
            shape = min(differences.spectrum, shape, key=lambda own: (
                differences.l1(own) ** 2 * float((block.norms * own**2) @ differences.moving)))
        exact = ROUND_UP * differences.l1(shape)
        used = exact
        if self.constants == "published":
            used = ROUND_UP * differences.published(shape)
        if used < exact:
            raise InputError(f"The published constant is too small here: at ε = {epsilon:.3g} it "
                             f"would spend {epsilon * exact / used:.3g}.", field="constants",
                             hint="Choose tight constants.")
        scales = used / epsilon * shape * differences.moving
        return Calibrated(scales, block.norms, exact, used / epsilon,
                          epsilon * (exact / used if used else 0.0))

    def _ledger(self, blocks: tuple[tuple[Block, ...], ...],
                noise: tuple[tuple[tuple[Calibrated, ...], ...], ...], budgets: tuple[Budget, ...]
                ) -> tuple[Spend, ...]:
        """One line for every site and vector: that of the candidate that costs most."""
        lines: list[Spend] = []
        for s, budget in enumerate(budgets):
            lines += self.selection(s, budget)
            for k, block in enumerate(blocks[0]):
                each = [candidate[s][k] for candidate in noise]
                lines.append(_line(block, max(each, key=lambda own: own.cost), s, budget,
                                   TASKS[self.task].unit))
        return tuple(lines)

    def selection(self, server: int, budget: Budget) -> tuple[Spend, ...]:
        """What choosing the smoothing costs at one site."""
        return ()


def _line(block: Block, own: Calibrated, server: int, budget: Budget, unit: Unit) -> Spend:
    return Spend(
        step=block.step, server=server, mu=own.mu, epsilon=own.epsilon, count=1,
        sensitivity=(own.sensitivity,), noise_scale=(own.multiplier,),
        composition=Composition.SEQUENTIAL, asked=budget, unit=unit, norm=own.norm, noise=own.law,
        why=(f"{len(block.shape)} coefficients, each with noise in proportion to a "
                           "public shape; sensitivity and scale are in units of that shape."))


def _by_site(data: Data) -> list[Data]:
    """The records of every site as data of their own."""
    if data.sizes.n_servers == 1:
        return [data]
    return [data.of_servers([s]) for s in range(data.sizes.n_servers)]


@dataclass(frozen=True, eq=False)
class _Run:
    """One data set at its sites, and the release of it by a plan.

    Where a site has chosen among candidates, `chosen` (repeats, draws), it sends the coefficients
    of its choice and nothing of the others: they carry the same noise.
    """

    summary: Summary
    records: list[Any]

    def released(self, plan: Plan, chosen: NDArray[np.int64] | None, noise: list[list[Array]]
                 ) -> Array:
        """Coefficients from noisy messages: (repeats, draws, r)."""
        return self._finished(plan, chosen, noise)

    def quiet(self, plan: Plan, chosen: NDArray[np.int64] | None) -> Array:
        """The same without noise, for comparison: (repeats, r). Nothing is sent."""
        return self._finished(plan, None if chosen is None else chosen[:, :1], None)[:, 0]

    def _finished(self, plan: Plan, chosen: NDArray[np.int64] | None,
                  noise: list[list[Array]] | None) -> Array:
        """What the centre makes of its messages; with a choice there is one site, of weight 1."""
        averages: list[Array] = []
        for block in range(len(plan.blocks[0])):
            averages.append(sum(
                plan.weights[0, s] * self._sent(plan, chosen, block, s, averages, noise)
                for s in range(len(self.records))))
        return self.summary.finished(averages, plan.smoothings[0])

    def _sent(self, plan: Plan, chosen: NDArray[np.int64] | None, block: int, site: int,
              earlier: Sequence[Array], noise: list[list[Array]] | None) -> Array:
        """Everything one site does with its records for one vector; only the result leaves it."""
        each = [self.summary.values(block, self.records[site], smoothing, earlier)
                for smoothing in plan.smoothings]
        quiet = each[0] if chosen is None else _picked(np.stack(each), chosen)
        if noise is None:
            return quiet
        own = [candidate[site][block] for candidate in plan.noise]
        scales = own[0].scales if chosen is None else np.stack([c.scales for c in own])[chosen]
        noisy = quiet + scales * noise[site][block]
        spread = np.broadcast_to(math.sqrt(own[0].variance) * scales, noisy.shape)
        return transcript.sent(site, plan.blocks[0][block].step, noisy, spread)


def _picked(each: Array, chosen: NDArray[np.int64]) -> Array:
    """Of candidates (candidates, repeats, 1, r) the chosen one of every draw."""
    repeats = np.arange(len(chosen))[:, None]
    return np.asarray(each[chosen, repeats, 0])
