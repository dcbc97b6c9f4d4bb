"""Private varying coefficients by noisy gradient descent (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.registry import param
from engine.core.tasks import INTERCEPT, VARYING_COEFFICIENTS
from engine.core.types import CurveData, PublicFacts
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.descent import NoisyGradient
from engine.numerics.moments import Moments
from engine.numerics.regression_moments import RegressionMoments, regression_moments


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class NoisyGradientCoefficients(NoisyGradient):
    """Y_ij = G_i'β(X_ij) + noise: the intercept and the effect of each covariate, over time.

    The gradient of curve i at coefficients b_0 … b_d is G_i ⊗ (M_i Σ_h G_ih b_h − v_i), with
    covariates moved into their stated ranges and mapped to [−1, 1]. See
    `engine.mechanisms.families.descent` for the steps and the proof of what they protect: it does
    not look at what a gradient is made of, so replacing a curve together with its covariates is
    covered.

    Notes
    -----
    The projection is onto curves of bounded roughness, function by function: a public set. The
    paper's Remark 8 lets the set depend on every person's covariates, outside the noise; that gives
    no (ε, δ) at all and is not offered. The radii have one logarithm, as this model has no random
    function per person, and apply on [−1, 1], where covariates are at most 1.

    References
    ----------
    Xue, Lin and Yu (2024), arXiv 2412.06582: Algorithms 3 and 4.
    """

    key = "noisy_gradient_coefficients"
    label = "Noisy gradient descent"
    order = 20
    dash, marker = "2px,3px", "triangle-up-open"
    measured = "Varying coefficients"
    tasks = frozenset({VARYING_COEFFICIENTS.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Algorithms 3 and 4"
    formula = (
        r"b_{t+1} = b_t - \rho\Big(\tfrac1b\sum_i \mathrm{clip}_R\big(G_i \otimes "
        r"(M_i B_t'G_i - v_i)\big) + w_t\Big),\qquad w_t \sim N\big(0, "
        r"\mathrm{diag}(\sigma_h^2)\big)"
    )

    step_size: float = param(
        0.9,
        "Step size",
        "How far each round moves. Larger: fewer rounds, more noise kept. "
        "Covariates that vary little need large steps.",
        low=0.01,
        high=2.0,
        symbol="ρ",
        when={"scheme=split": 0.5},
    )
    log_power: int = param(
        1, "Power of the log in the radius", "The paper has 1 for this model.", low=1, high=2
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return (Trial({"truncation": 3, "n_iterations": 3}),)

    def names(self, facts: PublicFacts) -> tuple[str, ...]:
        return (INTERCEPT, *[covariate.name for covariate in facts.covariates])

    def curves(self, data: CurveData, moments: Moments) -> RegressionMoments:
        return regression_moments(moments, data)
