"""Released summaries of the records: one for each task, the same for every mechanism."""

from __future__ import annotations

from typing import Any

from engine.mechanisms.summaries.coefficients import CoefficientSummary
from engine.mechanisms.summaries.covariance import CovarianceSummary
from engine.mechanisms.summaries.density import DensitySummary
from engine.mechanisms.summaries.mean import MeanSummary
from engine.mechanisms.summaries.parts import Summary
from engine.mechanisms.summaries.risk import RiskSummary

summaries: dict[str, type[Summary[Any, Any, Any]]] = {
    cls.task: cls
    for cls in (MeanSummary, CoefficientSummary, DensitySummary, CovarianceSummary, RiskSummary)
}
