"""Releasing a whole function at once: coefficients of a summary with noise on each of them.

ICLP and its competitors differ in three choices only: the functions a summary is expressed in
(`Space`), how averages are smoothed (`Smoothing`), and the shape and law of the noise. What is
summarised (a mean, coefficients of covariates, a covariance, a density, a regression function) is
said by a member of `engine.mechanisms.summaries`. All of them work on curves divided by τ, so that
a curve has norm at most one, and on a public grid.

Privacy
-------
Every record is brought onto the grid and held to the unit ball on its own, and n is public. A
summary knows the set of all changes that replacing one record can make to its coefficients
(`engine.numerics.difference_sets`, where each size is proved). Independent Lap(b_j) on coefficient
j costs sup Σ |d_j|/b_j over that set, whatever the shape of b; Gaussian noise of standard deviation
σ_j costs μ = sup (Σ d_j²/σ_j²)^{1/2}; noise with density ∝ exp(−‖z‖₂/s) costs sup ‖d‖₂/s. The
scales are made so large that this is the budget. Coefficients that cannot change get no noise.
Smoothing parameters are functions of n, ε and the decay of the kernel alone ("formula"); otherwise
see `engine.mechanisms.summaries.selection`. Sites share nobody, so each spends its own budget. What
happens at the centre uses messages only.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125: Algorithm 1, sections 5 and 6. The exact sensitivities
and best spectra were derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import (
    COVARIANCE,
    DENSITY,
    MEAN_FUNCTION,
    RISK_MINIMISATION,
    TASKS,
    VARYING_COEFFICIENTS,
    DataType,
)
from engine.core.types import (
    Array,
    Budget,
    Composition,
    Data,
    Fit,
    LateCautions,
    Public,
    PublicFacts,
    Sizes,
    Spend,
    Truth,
    Unit,
)
from engine.mechanisms.base import ATTAINED, Mechanism, Trial
from engine.mechanisms.families.functional.noise import FunctionNoise, LaplaceNoise
from engine.mechanisms.summaries import summaries
from engine.mechanisms.summaries.parts import (
    Calibrated,
    Features,
    FunctionPlan,
    Linear,
    ReleasedBlock,
    Smoothing,
    Space,
    Summary,
)
from engine.mechanisms.summaries.selection import choose
from engine.numerics.eigensystems import Grid, midpoints, of_times
from engine.numerics.kernel_densities import DensityAtoms
from engine.privacy import transcript

CURVES = tuple(task for task in summaries if TASKS[task].data is DataType.CURVES)
LOSSES = ("huber", "square", "logistic", "hinge")
_BANDWIDTH = {1: 0.12, 2: 0.2}
_MAX_IN_THE_PLANE = 40  # points on each axis; 1600 atoms have 1.3 million pairs


# -- the mechanism ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FunctionalRelease(Mechanism[Data, FunctionPlan]):
    """Base of all mechanisms of this family: grid, bounds, calibration and the release.

    Paper symbol → name here: τ `size`, K `grid_size`, h `bandwidth`.
    """

    family = "functional"
    averages_all = True
    attains: ClassVar[Mapping[str, float]] = {}  # shares of a claim by task, where below the usual
    measured = "Whole functions under pure privacy"
    guarantee = Guarantee.PURE
    tasks = frozenset(summaries)

    task: str = param(
        MEAN_FUNCTION.key, "Summary", "What is released of the records.", choices=tuple(summaries)
    )
    constants: str = param(
        "tight",
        "Constants",
        "Tight: exact sensitivity. Published: the bound the papers print. Optimal: exact, and the "
        "noise has the shape with the least total.",
        choices=("tight", "published", "optimal"),
    )
    size: float | None = param(
        None,
        "Largest size of a curve (τ)",
        "Curves further from the middle of their bounds than "
        "this, in root mean square, are drawn towards it. Default: what the bounds allow.",
        low=1e-9,
        high=1e9,
        symbol="τ",
        only_for=CURVES,
    )
    grid_size: int | None = param(
        None,
        "Points of the grid",
        "On each axis. Default: the common times of the curves, else "
        "100; 200 for a density, 28 on each of two axes, 50 for a covariance.",
        low=5,
        high=500,
        symbol="K",
    )

    share: float = param(
        0.5,
        "Share of the first step",
        "Part of ε for what comes first: the private mean of a covariance, or the covariates’ own "
        "second moments.",
        low=0.05,
        high=0.95,
        only_for=(COVARIANCE.key, VARYING_COEFFICIENTS.key),
    )
    centre: str = param(
        "private_mean",
        "Covariance about",
        "A private mean, paid for first; nothing; or the sample mean, at 2.8 times the noise.",
        choices=("private_mean", "nothing", "sample_mean"),
        only_for=(COVARIANCE.key,),
    )
    positive: bool = param(
        True,
        "Positive part",
        "Set negative eigenvalues of a released covariance to zero.",
        only_for=(COVARIANCE.key,),
    )
    floor: float = param(
        0.05,
        "Least eigenvalue",
        "For the released second moments of the covariates, as a share of "
        "the most it can be on average.",
        low=1e-4,
        high=1.0,
        only_for=(VARYING_COEFFICIENTS.key,),
    )
    bandwidth: float | None = param(
        None,
        "Bandwidth",
        "c in the width h = c n^(−1/(4 + d)) of a density’s atoms, as a share "
        "of the range; d is 1 or 2. Default: 0.12, and 0.2 in the plane.",
        low=0.005,
        high=5.0,
        symbol="c",
        only_for=(DENSITY.key,),
    )
    clean: bool = param(
        True,
        "A density again",
        "Replace what is released by the nearest function that is never "
        "negative and has mass one. Needs no budget and never adds an error.",
        only_for=(DENSITY.key,),
    )
    loss: str | None = param(
        None,
        "Loss",
        "Huber and square: for numbers; square needs far more noise. Logistic and "
        "hinge: for two classes, above the middle of the stated bounds or not. Default: Huber for "
        "numbers, logistic for classes.",
        choices=LOSSES,
        only_for=(RISK_MINIMISATION.key,),
    )
    huber_width: float = param(
        0.5,
        "Threshold of Huber’s loss",
        "As a share of half the stated range of numbers.",
        low=0.01,
        high=10.0,
        symbol="k",
        only_for=(RISK_MINIMISATION.key,),
    )
    risk_weight: float | None = param(
        None,
        "Weight of the penalty",
        "Smoothness against the mean loss. Default: one over the root of n.",
        low=1e-6,
        high=1e3,
        symbol="ψ",
        only_for=(RISK_MINIMISATION.key,),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_task()

    def truth_of(self, data: Data) -> Truth | None:
        """Return the truth of the data, or None if the summary aims at something else."""
        is_target = summaries[self.task].aims_at_the_truth(self, data.facts)
        return super().truth_of(data) if is_target else None

    def why_not_published(self, budget: Budget) -> str:
        return summaries[self.task].why_not_published

    def check_task(self) -> None:
        """Refuse what this mechanism cannot summarise, or what a printed constant gets wrong."""

    # -- what subclasses say -------------------------------------------------------------------

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        """Return the functions in which curves on a grid are expressed."""
        raise NotImplementedError

    def smoothings(
        self, eigenvalues: Array, n: float, effective: float, order: NDArray[np.int64] | None = None
    ) -> tuple[Smoothing, ...]:
        """List the candidate smoothings of averages.

        `order` (r,) has the number of each function, from 0; of a product that of its later factor.
        """
        return (Linear(np.ones(len(eigenvalues))),)

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """Compute what a record at each point of the grid adds to a density."""
        raise NotImplementedError

    def of_widths(self, dimension: int) -> tuple[FunctionalRelease, ...]:
        """List the method with each candidate width of a density's atoms, if no formula decides."""
        return (self,)

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """The functions by which records are predicted, and their penalty."""
        raise NotImplementedError

    def shape(self, variances: Array) -> Array:
        """Shape the noise, from the variances of its process; both (r,)."""
        return np.ones(len(variances))

    # -- releases ------------------------------------------------------------------------------

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial(
                {"task": task, **summaries[task].trial},
                Budget(0.8, 1e-3),
                cls.attains.get(task, ATTAINED),
                summaries[task].loose if task in cls.attains else "",
                summaries[task].pairs,
            )
            for task in sorted(cls.tasks & summaries.keys())
        )

    @classmethod
    def presets_for(cls, task: str) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The presets that serve a task, with the task in them."""
        if task == MEAN_FUNCTION.key:
            return cls.presets()
        return tuple(
            (label, {"task": task, **settings})
            for label, settings in cls.presets()
            if cls.serves(task, settings)
        )

    @property
    def served(self) -> frozenset[str]:
        return frozenset({self.task})

    def offered(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        return self.presets_for(self.task)

    @classmethod
    def serves(cls, task: str, settings: dict[str, Any]) -> bool:
        """True if a preset can be used for a task."""
        return task in cls.tasks

    @property
    def first_step(self) -> str:
        return summaries[self.task].first_step(self)

    def summary(self, sizes: Sizes, facts: PublicFacts) -> Summary[Any, Any, Any]:
        """The stated summary, from public facts."""
        return summaries[self.task](self, sizes, facts)

    def fitted(
        self, data: Data, plans: Sequence[FunctionPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """The summary of every site with noise, put together; see `Mechanism.fitted`."""
        summary = self.summary(data.sizes, data.facts)
        records = [summary.records(site_data) for site_data in _by_site(data)]
        chance, *streams = rng.spawn(1 + len(records))
        noise = [
            [
                self.process.standard((data.n_repeats, draws, max(plans[0].sizes(block))), stream)
                for block in range(len(plans[0].blocks[0]))
            ]
            for stream in streams
        ]
        releases = [
            _Release(
                summary,
                plan,
                records,
                noise,
                partial(choose, self, summary, plan, records, draws, chance),
            )
            for plan in plans
        ]
        released, noise_free = zip(*(each.coefficients() for each in releases), strict=True)
        coefficients = summary.scale * np.stack(released)
        judge = partial(summary.cautions, self, data.public, plans, coefficients)
        return Fit(
            basis=summary.basis,
            offset=summary.offset,
            functions=summary.functions,
            coefficients=coefficients,
            cautions=LateCautions(judge),
            unprotected=summary.scale * np.stack(noise_free),
            parts=summary.parts(plans, records),
        )

    def variances(self, public: Public, plan: FunctionPlan) -> Array:
        """Compute the noise variance of the centre's coefficients, over all sites: (r,)."""
        noise = plan.noise[0][0][-1]
        energy = self.expected_error(public.sizes, plan.budgets, public.facts) or 0.0
        return np.asarray(energy * noise.variance * noise.scales**2 / max(noise.energy, 1e-300))

    def exact_fit(self, data: Data) -> Fit:
        """The summary as it is, neither smoothed nor held: the same for all mechanisms."""
        return self.summary(data.sizes, data.facts).reference(data)

    # -- fixed before any record is looked at ----------------------------------------------------

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> FunctionPlan:
        """Smoothing, noise, weights and ledger."""
        sizes, facts = public.sizes, public.facts
        n = np.array(sizes.n_curves_per_server, dtype=float)
        if not n.all():
            raise InputError(
                "Every site needs at least one record.",
                field="counts",
                hint="Number sites without gaps.",
            )
        summary = self.summary(sizes, facts)
        effective = math.hypot(
            *(
                records * min(budget.epsilon, 1e12)
                for records, budget in zip(n, budgets, strict=True)
            )
        )
        smoothings = summary.smoothings(float(n.sum()), effective)
        blocks = tuple(summary.blocks(smoothing) for smoothing in smoothings)
        noise = tuple(
            tuple(
                tuple(
                    self.process.calibrated(block, people, self.left(budget)) for block in vectors
                )
                for people, budget in zip(n, budgets, strict=True)
            )
            for vectors in blocks
        )
        energies = np.array([[site[-1].energy for site in sites] for sites in noise])
        weights = 1 / (1 / n + energies)
        return FunctionPlan(
            smoothings,
            blocks,
            noise,
            weights / weights.sum(axis=1, keepdims=True),
            budgets,
            summary.usual_candidate(len(smoothings)),
            spends=self._ledger(blocks, noise, budgets),
        )

    def left(self, budget: Budget) -> Budget:
        """Return the budget left for the release after the smoothing has been chosen."""
        return budget

    def candidates(self, default: float) -> tuple[float, ...]:
        """Weights of the penalty to choose from; only the usual one where a formula decides."""
        return (default,)

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """E‖noise‖² in squared response units, exact; None where it passes through an inverse."""
        if summaries[self.task].is_inverted:
            return None
        plan: FunctionPlan = self.plan(Public(sizes, facts), budgets)
        return self.summary(sizes, facts).scale ** 2 * plan.energy(plan.default)

    def unsuited_because(self, facts: PublicFacts) -> str:
        if facts.common_times or self.task not in CURVES:
            return ""
        return (
            "**This method is for dense curves with common times.** Here the observations of "
            "each curve are joined by straight lines, which flattens peaks where there are "
            "few, and their errors are not smoothed. *Adaptive mean* has no such step."
        )

    def norm_bound(self, facts: PublicFacts) -> float:
        """τ in response units: the stated one, else what the bounds of the values allow."""
        return self.size or facts.largest_norm

    def grid(self, facts: PublicFacts, dimension: int = 1) -> Grid:
        """The public grid: common times where curves have them, else midpoints."""
        if facts.common_times and self.grid_size is None and dimension == 1:
            return of_times(facts.common_times)
        default = 28 if dimension == 2 else summaries[self.task].usual_grid
        if dimension == 2 and (self.grid_size or default) > _MAX_IN_THE_PLANE:
            raise InputError(
                f"In the plane a grid has at most {_MAX_IN_THE_PLANE} points on each "
                f"axis; got {self.grid_size}.",
                field="grid_size",
            )
        return midpoints(self.grid_size or default, dimension)

    def width(self, n: float, dimension: int) -> float:
        """Width h of a density's atoms, as a share of the range: c n^(−1/(4 + d))."""
        return float((self.bandwidth or _BANDWIDTH[dimension]) * n ** (-1 / (4 + dimension)))

    # -- noise ---------------------------------------------------------------------------------

    @property
    def process(self) -> FunctionNoise:
        """The law of the noise, and how large it must be."""
        return LaplaceNoise(self.constants)

    def _ledger(
        self,
        blocks: tuple[tuple[ReleasedBlock, ...], ...],
        noise: tuple[tuple[tuple[Calibrated, ...], ...], ...],
        budgets: tuple[Budget, ...],
    ) -> tuple[Spend, ...]:
        """One line for every site and vector: that of the candidate that costs most."""
        lines: list[Spend] = []
        for s, budget in enumerate(budgets):
            lines += self.selection(s, budget)
            for k, block in enumerate(blocks[0]):
                each = [candidate[s][k] for candidate in noise]
                lines.append(
                    _line(
                        block, max(each, key=lambda law: law.cost), s, budget, TASKS[self.task].unit
                    )
                )
        return tuple(lines)

    def selection(self, server: int, budget: Budget) -> tuple[Spend, ...]:
        """List the spending at one site on the choice of smoothing."""
        return ()


def _line(
    block: ReleasedBlock, noise: Calibrated, server: int, budget: Budget, unit: Unit
) -> Spend:
    return Spend(
        step=block.step,
        server=server,
        mu=noise.mu,
        epsilon=noise.epsilon,
        count=1,
        sensitivity=(noise.sensitivity,),
        noise_scale=(noise.multiplier,),
        composition=Composition.SEQUENTIAL,
        budget=budget,
        unit=unit,
        norm=noise.norm,
        noise=noise.law,
        why=f"{len(block.shape)} coefficients, each with noise in proportion to a "
        "public shape; sensitivity and scale are in units of that shape.",
    )


def _by_site(data: Data) -> list[Data]:
    """The records of every site as data of their own."""
    if data.sizes.n_servers == 1:
        return [data]
    return [data.of_servers([s]) for s in range(data.sizes.n_servers)]


@dataclass(frozen=True, eq=False)
class _Release:
    """A summary of the records of all sites with the noise of a plan."""

    summary: Summary[Any, Any, Any]
    plan: FunctionPlan
    records: Sequence[Any]
    # standard noise of every site and vector, (repeats, draws, r) each.
    noise: Sequence[Sequence[Array]]
    # (repeats, draws), or None where there is one. A site sends the coefficients of its choice and
    # nothing of the others: they carry the same noise. Only the last vector is chosen.
    choose: Callable[[Sequence[Array]], NDArray[np.int64] | None]

    def coefficients(self) -> tuple[Array, Array]:
        """Compute coefficients from noisy messages (repeats, draws, …), and from the exact ones."""
        averages, choice = self._averages(self._sent, self.choose)
        noise_free, _ = self._averages(
            self._values, lambda _: None if choice is None else choice[:, :1]
        )
        return (
            self._finished(averages, choice),
            self._finished(noise_free, None if choice is None else choice[:, :1])[:, 0],
        )

    def _averages(
        self,
        message: Callable[..., Array],
        choose: Callable[[Sequence[Array]], NDArray[np.int64] | None],
    ) -> tuple[list[Array], NDArray[np.int64] | None]:
        """The centre's averages of all messages; with a choice there is one site, of weight 1."""
        averages: list[Array] = []
        choice = None
        for block in range(len(self.plan.blocks[0])):
            if block == len(self.plan.blocks[0]) - 1:
                choice = choose(averages)
            averages.append(
                sum(
                    weight * message(block, site, averages, choice)
                    for site, weight in enumerate(self.plan.weights[0])
                )
            )
        return averages, choice

    def _finished(self, averages: Sequence[Array], choice: NDArray[np.int64] | None) -> Array:
        """Compute the centre's estimate by the candidate of every repeat and draw."""
        finished, smoothings = self.summary.finished, self.plan.smoothings
        if choice is None:
            return finished(averages, smoothings[0])
        each = {
            g: finished(
                [*averages[:-1], averages[-1][..., : self.plan.sizes(-1)[g]]], smoothings[g]
            )
            for g in np.unique(choice).tolist()
        }
        out = np.zeros_like(next(iter(each.values())))
        for g, values in each.items():
            out[choice == g] = values[choice == g]
        return out

    def _sent(
        self, block: int, site: int, earlier: Sequence[Array], choice: NDArray[np.int64] | None
    ) -> Array:
        """Everything one site does with its records for one vector; only the result leaves it."""
        noise = [candidate[site][block] for candidate in self.plan.noise]
        standard = self.noise[site][block]
        scales = (
            noise[0].scales
            if choice is None
            else np.stack([_filled(calibrated.scales, standard.shape[-1]) for calibrated in noise])[
                choice
            ]
        )
        noisy = self._values(block, site, earlier, choice) + scales * standard
        spread = np.broadcast_to(math.sqrt(noise[0].variance) * scales, noisy.shape)
        return transcript.sent(site, self.plan.blocks[0][block].step, noisy, spread)

    def _values(
        self, block: int, site: int, earlier: Sequence[Array], choice: NDArray[np.int64] | None
    ) -> Array:
        """One vector of one site without noise: (repeats, 1 or draws, r)."""
        used = [0] if choice is None else np.unique(choice).tolist()
        values = {
            g: self.summary.values(block, self.records[site], self.plan.smoothings[g], earlier)
            for g in used
        }
        if choice is None:
            return values[0]
        out = np.zeros((*choice.shape, max(self.plan.sizes(block))))
        for g, each in values.items():
            where = choice == g
            filled = np.broadcast_to(_filled(each, out.shape[-1]), out.shape)
            out[where] = filled[where]
        return out


def _filled(numbers: Array, size: int) -> Array:
    """Pad with zeros to a size: candidates may have fewer numbers than others."""
    missing = size - numbers.shape[-1]
    return np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, missing)]) if missing else numbers
