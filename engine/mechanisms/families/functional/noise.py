"""Noise for vectors of coefficients: its law, what it costs, and how large it must be.

A summary knows the set of all changes that one record can make to its coefficients
(`ReleasedBlock`); each law of noise has a size of that set of its own, and is made so large that
this size costs the budget. `engine.mechanisms.families.functional.release` says why that is
private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.types import Array, Budget
from engine.mechanisms.summaries.parts import ROUND_UP, Calibrated, ReleasedBlock
from engine.noise.laplace import by_norm, laplace
from engine.privacy import accounting


class FunctionNoise(Protocol):
    """Noise that a release of a function may have."""

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Noise of scale one; the same for all budgets: (…, r)."""
        ...

    def calibrated(self, block: ReleasedBlock, n: float, budget: Budget) -> Calibrated:
        """The noise of one vector, averaged over n records, that costs its share of a budget."""
        ...


@dataclass(frozen=True)
class LaplaceNoise:
    """Independent Laplace noise: scales b = Δ·shape/ε, Δ the weighted ℓ1 size of the changes."""

    # "tight" takes the exact size, "published" the printed one, and "optimal" the shape of the
    # least total noise in place of the block's own
    constants: str = "tight"

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return laplace(shape, rng)

    def calibrated(self, block: ReleasedBlock, n: float, budget: Budget) -> Calibrated:
        """The noise that costs ε."""
        differences, epsilon = block.differences(n), block.share * budget.epsilon
        shape = block.shape
        if self.constants == "optimal":  # the spectrum may be off where functions differ in norm
            shape = min(
                differences.spectrum,
                shape,
                key=lambda scales: (
                    differences.l1(scales) ** 2
                    * float((block.norms * scales**2) @ differences.moving)
                ),
            )
        exact = ROUND_UP * differences.l1(shape)
        used = exact
        if self.constants == "published":
            used = ROUND_UP * differences.published(shape)
        if used < exact:
            raise InputError(
                f"The published constant is too small here: at ε = {epsilon:.3g} it "
                f"would spend {epsilon * exact / used:.3g}.",
                field="constants",
                hint="Choose tight constants.",
            )
        scales = used / epsilon * shape * differences.moving
        return Calibrated(
            scales,
            block.norms,
            exact,
            used / epsilon,
            epsilon=epsilon * (exact / used if used else 0.0),
        )


@dataclass(frozen=True)
class NormNoise:
    """One draw for all coefficients with density ∝ exp(−ε‖z‖₂/Δ), Δ the ℓ2 size of the changes."""

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return by_norm(shape, rng)

    def calibrated(self, block: ReleasedBlock, n: float, budget: Budget) -> Calibrated:
        differences, r = block.differences(n), len(block.shape)
        exact, epsilon = ROUND_UP * differences.l2(np.ones(r)), block.share * budget.epsilon
        return Calibrated(
            np.full(r, exact / epsilon),
            block.norms,
            exact,
            exact / epsilon,
            epsilon=epsilon,
            variance=r + 1.0,
            norm="ℓ2",
            law=NoiseLaw.NORM,
        )


@dataclass(frozen=True)
class GaussianNoise:
    """Independent Gaussian noise: standard deviations σ·shape, σ = Δ/μ, Δ the weighted ℓ2 size.

    A vector with a share of the budget gets that share of μ².
    """

    constants: str = "tight"  # as in `LaplaceNoise`; the printed multiplier is √(2 log(2/δ))/ε

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return rng.standard_normal(shape)

    def calibrated(self, block: ReleasedBlock, n: float, budget: Budget) -> Calibrated:
        """The noise that costs μ."""
        differences = block.differences(n)
        shape = differences.gaussian_spectrum if self.constants == "optimal" else block.shape
        exact, share = ROUND_UP * differences.l2(shape), math.sqrt(block.share)
        mu = share * accounting.exact_mu(budget.epsilon, budget.delta)
        sigma = exact / mu
        if self.constants == "published" and budget.is_private:
            sigma = exact * math.sqrt(2 * math.log(2 / budget.delta)) / budget.epsilon / share
            mu = exact / sigma if sigma else 0.0
        return Calibrated(
            sigma * shape * differences.moving,
            block.norms,
            exact,
            sigma,
            mu=mu,
            variance=1.0,
            norm="weighted ℓ2",
            law=NoiseLaw.GAUSSIAN,
        )
