"""Whole functions with a Gaussian process as noise (Mirshani, Reimherr and Slavković 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from engine.core.enumerations import Guarantee
from engine.core.tasks import COVARIANCE, RISK_MINIMISATION
from engine.mechanisms import mechanisms
from engine.mechanisms.families.functional.kernel_release import PenalisedRelease
from engine.mechanisms.families.functional.noise import FunctionNoise, GaussianNoise


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
    guarantee = Guarantee.APPROXIMATE
    reference = "Mirshani, Reimherr and Slavković (2019), Formal privacy for functional data"
    formula = (
        r"\tilde f = \sum_j \big(s_j c_j + \sigma\sqrt{\lambda_j}\,Z_j\big)\phi_j,\qquad "
        r"Z_j \sim N(0, 1)"
    )

    @property
    def process(self) -> FunctionNoise:
        return GaussianNoise(self.constants)
