"""Fields shared by answers about one budget: a data set, its possible releases and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.core.types import Array, Budget, PublicFacts, Spend
from engine.mechanisms.study import Study
from engine.privacy.feasibility import Feasibility
from engine.simulation import studies
from engine.simulation.metrics import root_mean_square, totals, within


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """One data set with its possible releases at one budget, and their errors."""

    facts: PublicFacts  # names, units and ranges of the data
    people: int  # over all sites
    budget: Budget  # of every site
    releases: Array  # (draws, …): possible outcomes, in the unit of the result
    ordinary: Array  # the estimate without privacy, in the shape of one release
    truth: Array | None  # of simulated data, in the shape of one release
    # (functions, releases): distances from the truth, else from `ordinary`; NaN if nothing is
    # published
    errors: Array
    baseline_by_function: Array | None  # (functions,): errors without privacy, if there is a truth
    spends: tuple[Spend, ...]
    tuning: dict[str, Any]
    verdict: Feasibility | None  # None if the method has no rule

    @property
    def is_refused(self) -> bool:
        """True if nothing would be published, because nothing useful could be."""
        return self.verdict is not None and not self.verdict.is_feasible

    @property
    def error_by_function(self) -> Array:
        """The root mean squared distance of each function: (functions,)."""
        return root_mean_square(self.errors)

    @property
    def error(self) -> float:
        """The root mean squared distance of all functions together."""
        return float(totals(self.error_by_function))

    @property
    def within(self) -> float:
        """The distance of all functions together that 95 % of the releases stay within."""
        return float(within(totals(self.errors, axis=0)))

    @property
    def baseline(self) -> float | None:
        """The error of all functions together without privacy; None without a truth."""
        if self.baseline_by_function is None:
            return None
        return float(totals(self.baseline_by_function))


def errors_and_baseline(study: Study[Any]) -> tuple[Array, Array | None]:
    """Measure `Simulated.errors` and `baseline_by_function`."""
    errors, baseline = studies.errors_and_baseline(study)
    return errors.reshape(-1, errors.shape[-1]).T, baseline
