"""Whole functions with a Gaussian process as noise (Mirshani, Reimherr and Slavković 2019)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.families.kernel_release import PenalisedRelease
from engine.mechanisms import mechanisms
from engine.noise import NoiseLaw
from engine.privacy import accounting
from engine.summaries.parts import ROUND_UP, Block, Calibrated
from engine.tasks import COVARIANCE, RISK_MINIMISATION
from engine.types import Array, Budget


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class GaussianProcess(PenalisedRelease):
    """θ̃ = θ + σZ, Z a path of the kernel's Gaussian process: (ε, δ)-privacy.

    With Δ = sup (Σ (θ_j − θ'_j)²/λ_j)^{1/2} the release is exactly Δ/σ-Gaussian-DP, because a
    shift of a Gaussian process matters in one direction only. "published" takes
    σ = Δ √(2 log(2/δ))/ε, proved for ε ≤ 1; "optimal" noise has standard deviations ∝ s_j, white
    noise passed through the filter.

    References
    ----------
    Mirshani, Reimherr and Slavković (2019), ICML; the exact multiplier is that of the analytic
    Gaussian mechanism.
    """

    key = "gaussian_process"
    label = "Gaussian process"
    order = 90
    dash, marker = "12px,3px,2px,3px", "cross"
    attains: ClassVar[Mapping[str, float]] = {COVARIANCE.key: 0.94, RISK_MINIMISATION.key: 0.9}
    guarantee = "approximate"
    reference = "Mirshani, Reimherr and Slavković (2019), Formal privacy for functional data"
    formula = (r"\tilde f = \sum_j \big(s_j c_j + \sigma\sqrt{\lambda_j}\,Z_j\big)\phi_j,\qquad "
               r"Z_j \sim N(0, 1)")

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return rng.standard_normal(shape)

    def calibrated(self, block: Block, n: float, budget: Budget) -> Calibrated:
        """σ = Δ/μ; a vector with a share of the budget gets that share of μ²."""
        differences = block.differences(n)
        shape = differences.gaussian_spectrum if self.constants == "optimal" else block.shape
        exact, share = ROUND_UP * differences.l2(shape), math.sqrt(block.share)
        mu = share * accounting.exact_mu(budget.epsilon, budget.delta)
        sigma = exact / mu
        if self.constants == "published" and budget.is_private:
            sigma = exact * math.sqrt(2 * math.log(2 / budget.delta)) / budget.epsilon / share
            mu = exact / sigma if sigma else 0.0
        return Calibrated(sigma * shape * differences.moving, block.norms, exact, sigma, None, mu,
                          variance=1.0, norm="weighted ℓ2", law=NoiseLaw.GAUSSIAN)
