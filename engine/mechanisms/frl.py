"""A few coefficients with equal noise: the finite-dimensional competitor of ICLP."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.registry import Parameter, param
from engine.core.tasks import DENSITY, MEAN_FUNCTION
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Data,
    Fit,
    LateCautions,
    Public,
    PublicFacts,
    SaidIn,
    Sizes,
)
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.functional.kernel_release import KernelRelease
from engine.mechanisms.families.functional.noise import FunctionNoise, NormNoise
from engine.mechanisms.summaries.mean import CentredMean, clip_of
from engine.mechanisms.summaries.parts import (
    Features,
    FunctionPlan,
    Linear,
    Smoothing,
    Space,
    Summary,
    penalised,
    usual_power,
)
from engine.mechanisms.summaries.selection import Selection
from engine.numerics.eigensystems import Eigenbasis, Grid
from engine.numerics.kernel_densities import DensityAtoms, cosine_atoms

_TYPICAL_SPREAD = 0.24  # of curves about their mean, over τ: as planned for the adaptive mean
_MAX_NOISE = 0.35  # in the released size of deviations, over that size as planned
_WORTHWHILE = 0.9  # planned noise of three messages, over that of one

CENTRE_NOT_MEAN = (
    "This is a robust centre of the curves. It differs from their mean where people are skewed, "
    "fall into groups or have outliers."
)


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class Frl(Selection, KernelRelease):
    """The first M coefficients, each with Lap(Δ₁/ε); or all with one draw ∝ exp(−ε‖z‖₂/Δ₂).

    For a mean Δ₁ = 2τ√M/n, the exact supremum; the published 2Mτ/n takes every coefficient at its
    largest at once. Δ₂ = 2τ/n. The squared noise is 2M²(Δ₂/ε)² for Laplace coordinates and
    M(M + 1)(Δ₂/ε)² by norm.

    *Three messages* about the same curves, with 20, 5 and 75 % of ε, in place of one: a coarse
    mean, the size of deviations from it, and their mean, clipped accordingly
    (`engine.mechanisms.summaries.mean`, with the proof). Planned for deviations of .24 τ
    beside the noise of the coarse mean, three are sent where they have at most nine tenths of the
    noise; if bounds are wider than that, more is saved.
    """

    key = "frl"
    label = "A few coefficients (FRL)"
    order = 70
    dash, marker = "5px,3px", "square-open"
    reference = "Lin and Reimherr (2023), arXiv 2309.00125, section 5, finite-dimensional release"
    formula = (
        r"\tilde f = \sum_{j\le M}\Big(c_j + \tfrac{\Delta_1}{\varepsilon}L_j\Big)\phi_j,"
        r"\qquad L_j \sim \mathrm{Lap}(1)"
    )

    n_functions: int | None = param(
        None,
        "Functions kept",
        "Default: the whole part of the cube root of n; of its square root "
        "for a density in the plane.",
        low=1,
        high=200,
        symbol="M",
    )
    noise: NoiseLaw = param(
        NoiseLaw.LAPLACE,
        "Law of the noise",
        "Laplace: independent in each coefficient. Norm: one draw with a random length and "
        "direction, somewhat less in total.",
        choices=(NoiseLaw.LAPLACE, NoiseLaw.NORM),
    )
    messages: str = param(
        "one",
        "Messages",
        "One: all coefficients at once, with noise for curves as large as the bounds allow. Three: "
        "a coarse mean, the size of deviations from it, and their mean; for many people, or bounds "
        "that may be wide. Planned: three where public sizes say that they have less noise.",
        choices=("one", "three", "planned"),
        only_for=(MEAN_FUNCTION.key,),
        earlier="one",
    )

    def check_task(self) -> None:
        """Refuse what is not proved for noise by norm."""
        super().check_task()
        if self.noise is NoiseLaw.NORM and self.constants == "published":
            raise InputError(
                "Nothing is published for noise by norm.",
                field="constants",
                hint="Choose tight constants.",
            )
        if self.noise is NoiseLaw.NORM and self.selection_rule != "formula":
            raise InputError(
                "Noise by norm needs a number of functions that is fixed by formula.",
                field="noise",
                hint="Choose Laplace noise.",
            )
        if self.messages == "one":
            return
        if self.task != MEAN_FUNCTION.key:
            raise InputError(
                "Only the mean of curves can be sent in several messages.",
                field="messages",
                hint="Choose one message.",
            )
        if self.constants == "published" or self.selection_rule != "formula":
            raise InputError(
                "Several messages need exact constants and a number of functions that "
                "is fixed by formula.",
                field="messages",
                hint="Choose one message.",
            )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (
            *super().trials(),
            *(
                Trial(
                    {"messages": "three", "n_functions": 3, "noise": noise},
                    Budget(40.0),
                    0.9,
                    "Each message has its own worst curve; a few come near all of them.",
                )
                for noise in (NoiseLaw.LAPLACE, NoiseLaw.NORM)
            ),
        )

    # -- one message or three -----------------------------------------------------------------

    def summary(self, sizes: Sizes, facts: PublicFacts) -> Summary[Any, Any, Any]:
        if self.messages == "three":
            return CentredMean(self, sizes, facts)
        return super().summary(sizes, facts)

    def planned(self, public: Public, budgets: tuple[Budget, ...]) -> FunctionPlan:
        """One message or three, whichever was chosen or has the smaller planned noise."""
        if self.messages != "planned":
            return super().planned(public, budgets)
        once, staged = (
            replace(self, messages=messages).planned(public, budgets)
            for messages in ("one", "three")
        )
        return staged if _staged_noise(staged) <= _WORTHWHILE * once.energy(0) else once

    def fitted(
        self, data: Data, plans: Sequence[FunctionPlan], draws: int, rng: np.random.Generator
    ) -> Fit:
        """Plans of one message and plans of three, side by side; see `Mechanism.fitted`."""
        if self.messages != "planned":
            fit = super().fitted(data, plans, draws, rng)
            is_skewed = self.messages == "three" and not data.facts.symmetric
            every = np.ones(fit.coefficients.shape[:3], dtype=bool)
            skewed = (Caution(CENTRE_NOT_MEAN, every, SaidIn.STATED),) if is_skewed else ()
            return replace(fit, cautions=LateCautions(lambda: (*skewed, *fit.cautions)))
        indices: dict[str, list[int]] = {"one": [], "three": []}
        for k, plan in enumerate(plans):
            indices["three" if len(plan.blocks[0]) > 1 else "one"].append(k)
        used = [(messages, where) for messages, where in indices.items() if where]
        streams = [*(copy.deepcopy(rng) for _ in used[1:]), rng]
        fits = [
            replace(self, messages=messages).fitted(data, [plans[k] for k in where], draws, stream)
            for (messages, where), stream in zip(used, streams, strict=True)
        ]
        return fits[0] if len(fits) == 1 else _side_by_side(fits, [where for _, where in used])

    def expected_error(
        self, sizes: Sizes, budgets: tuple[Budget, ...], facts: PublicFacts
    ) -> float | None:
        """E‖noise‖²: exact of one message, as planned of three."""
        if self.messages == "one":
            return super().expected_error(sizes, budgets, facts)
        plan: FunctionPlan = self.plan(Public(sizes, facts), budgets)
        noise = _staged_noise(plan) if len(plan.blocks[0]) > 1 else plan.energy(0)
        return self.norm_bound(facts) ** 2 * noise

    def why_not_published(self, budget: Budget) -> str:
        if self.noise is not NoiseLaw.NORM:
            return super().why_not_published(budget)
        return "There is no hardened sampler of noise by norm. Choose Laplace noise."

    def relevant_parameters(self) -> tuple[Parameter, ...]:
        """A density is released in cosines, where the kernel plays no part."""
        hidden = ("kernel", "smoothness") if self.task == DENSITY.key else ()
        return tuple(p for p in super().relevant_parameters() if p.name not in hidden)

    def default(self, n: float) -> int:
        """M: the stated number of functions, else the cube root of n."""
        return self.n_functions or max(1, math.floor(n ** (1 / 3) + 1e-9))

    def space(self, grid: Grid, sizes: Sizes) -> Space:
        """The first functions of the kernel, as many as the largest candidate needs."""
        every = Eigenbasis.whole(self.covariance, grid)
        size = min(max(self.counts(sizes.n_curves)), every.size)
        basis = every.first(size)
        return Space(basis, grid, (grid.weights * basis.functions).T, np.ones(size))

    def atoms(self, grid: Grid, n: float) -> DensityAtoms:
        """Gaussian atoms in the first n^{d/(2 + d)} cosines, or as many as the grid tells apart."""
        default = math.floor(n ** (grid.dimension / (2 + grid.dimension)) + 1e-9)
        size = min(self.n_functions or max(1, default), grid.size // grid.dimension)
        return cosine_atoms(self.width(n, grid.dimension), size, grid)

    def features(self, grid: Grid, sizes: Sizes) -> Features:
        """The first functions of the kernel, with the penalty that the other releases have."""
        every = Eigenbasis.whole(self.covariance, grid)
        return penalised(
            every.first(min(self.default(sizes.n_curves), every.size)),
            usual_power(self.covariance, grid.dimension),
        )

    def counts(self, n: float) -> tuple[int, ...]:
        """The numbers of functions among which a rule chooses.

        Three more on each side than Corollary 15 admits, from n^{1/(ηβ)} to n^{1/3} with the η of
        the quadratic penalty.
        """
        default, beta = self.default(n), self.covariance.decay(1)
        if self.selection_rule == "formula":
            return (default,)
        fewest = math.ceil(n ** (1 / (usual_power(self.covariance, 1) * beta)) - 1e-9)
        return tuple(range(max(1, min(fewest, default) - 3), default + 4))

    def smoothings(
        self, eigenvalues: Array, n: float, effective: float, order: NDArray[np.int64] | None = None
    ) -> tuple[Smoothing, ...]:
        if self.selection_rule == "formula":
            return (Linear(np.ones(len(eigenvalues))),)
        order = np.arange(len(eigenvalues)) if order is None else order
        return tuple(Linear((order < count).astype(float)) for count in self.counts(n))

    def shape(self, variances: Array) -> Array:
        """Equal noise on all coefficients."""
        return np.ones(len(variances))

    @property
    def process(self) -> FunctionNoise:
        return NormNoise() if self.noise is NoiseLaw.NORM else super().process


def _staged_noise(plan: FunctionPlan) -> float:
    """E‖noise‖² of three messages as planned, in units of τ²; infinite where clips were noise."""
    coarse, size, rest = (
        sum(
            weight**2 * site[block].energy
            for weight, site in zip(plan.weights[0], plan.noise[0], strict=True)
        )
        for block in range(3)
    )
    spread = math.sqrt(_TYPICAL_SPREAD**2 + float(coarse))
    if math.sqrt(float(size)) > _MAX_NOISE * spread:
        return math.inf
    return float(clip_of(spread)) ** 2 * float(rest)


def _side_by_side(fits: Sequence[Fit], indices: Sequence[Sequence[int]]) -> Fit:
    """Fits of some of the budgets each, at their places among all."""
    order = np.argsort(np.concatenate(indices))

    def cautions() -> tuple[Caution, ...]:
        first = {caution.text: caution for fit in reversed(fits) for caution in fit.cautions}
        return tuple(
            replace(
                caution,
                applies=np.concatenate(
                    [
                        next(
                            (caution.applies for caution in fit.cautions if caution.text == text),
                            np.zeros(fit.coefficients.shape[:3], dtype=bool),
                        )
                        for fit in fits
                    ]
                )[order],
            )
            for text, caution in first.items()
        )

    return replace(
        fits[0],
        parts=None,
        cautions=LateCautions(cautions),
        coefficients=np.concatenate([fit.coefficients for fit in fits])[order],
        unprotected=np.concatenate([fit.unprotected for fit in fits])[order],
    )
