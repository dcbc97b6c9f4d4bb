"""What is released of the records: one summary for each task, the same for every mechanism."""

from __future__ import annotations

from typing import Any

from engine.summaries.coefficients import CoefficientSummary
from engine.summaries.covariance import CovarianceSummary
from engine.summaries.density import DensitySummary
from engine.summaries.mean import MeanSummary
from engine.summaries.risk import RiskSummary
from engine.tasks import (
    COVARIANCE,
    DENSITY,
    MEAN_FUNCTION,
    RISK_MINIMISATION,
    VARYING_COEFFICIENTS,
)

summaries: dict[str, Any] = {
    MEAN_FUNCTION.key: MeanSummary,
    VARYING_COEFFICIENTS.key: CoefficientSummary,
    DENSITY.key: DensitySummary,
    COVARIANCE.key: CovarianceSummary,
    RISK_MINIMISATION.key: RiskSummary,
}
