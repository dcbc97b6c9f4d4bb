"""Private mean function by noisy gradient descent (Xue, Lin and Yu, arXiv 2412.06582)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.mechanisms import mechanisms
from engine.mechanisms.base import Trial
from engine.mechanisms.families.descent import Participation
from engine.mechanisms.families.descent_choice import ChosenCount


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class NoisyGradientMean(ChosenCount):
    """The mean of the curves; the gradient of curve i at a is M_i a − v_i.

    See `engine.mechanisms.families.descent` for the steps and for the proof of what they protect.

    References
    ----------
    Xue, Lin and Yu (2024), arXiv 2412.06582: Lemma 1, Algorithms 1 and 2, section 5.
    """

    key = "noisy_gradient_mean"
    label = "Noisy gradient descent"
    order = 20
    dash, marker = "8px,3px", "diamond-open"
    measured = "Several sites"
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Xue, Lin and Yu (2024), arXiv 2412.06582, Algorithms 1 and 2"
    formula = (
        r"a_{t+1} = a_t - \rho\Big(\tfrac1b\sum_i \mathrm{clip}_R(M_i a_t - v_i) + w_t\Big),"
        r"\qquad w_t \sim N\big(0, \mathrm{diag}(\sigma_l^2)\big)"
    )

    log_power: int = param(
        1,
        "Power of the log in the radius",
        "1 reproduces the paper's figures, 2 its formula.",
        low=1,
        high=2,
    )

    @classmethod
    def trials(cls) -> tuple[Trial, ...]:
        return tuple(
            Trial({"truncation": 3, "n_iterations": 3, **scheme})
            for scheme in ({}, {"scheme": Participation.SPLIT})
        )
