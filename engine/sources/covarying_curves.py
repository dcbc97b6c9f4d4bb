"""Simulated dense curves whose covariance is to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.core.errors import InputError
from engine.core.tasks import COVARIANCE
from engine.core.types import Truth
from engine.sources import sources
from engine.sources.dense_curves import DenseCurves, gaussian_covariance


@sources.register
@dataclass(frozen=True, kw_only=True)
class CovaryingCurves(DenseCurves):
    """The same curves as `DenseCurves`, whose known covariance is v exp(−(s − t)²/(2 l²))."""

    key = "covarying_curves"
    label = "Curves with a known covariance, simulated"
    order = 41
    tasks = frozenset({COVARIANCE.key})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.errors == "t":
            raise InputError(
                "The covariance of t errors is not offered here.",
                field="errors",
                hint="Choose Gaussian-process errors.",
            )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        many = {"n_curves": 4000, "n_observations_per_curve": 50}
        return (
            (cls.label, many),
            ("Curves that vary quickly, simulated", {**many, "error_length": 0.08}),
        )

    @property
    def truth(self) -> Truth:
        return gaussian_covariance(self.error_variance, self.error_length)
