"""What all sparse regressions ask a person to guess from outside the data."""

from __future__ import annotations

from dataclasses import dataclass

from engine.families.sparse import is_standard, stated_reach
from engine.mechanisms import Mechanism
from engine.registry import param
from engine.tasks import SPARSE_REGRESSION
from engine.types import PublicFacts


@dataclass(frozen=True, kw_only=True)
class PublicGuesses(Mechanism):
    """Scales that clips and steps follow from; a wrong guess costs accuracy, never protection."""

    tasks = frozenset({SPARSE_REGRESSION.key})
    guarantee = "approximate"
    family = "sparse"

    noise_sd: float | None = param(
        None, "Spread of the noise", "A public guess of the standard deviation of a response "
        "around what its features say. Usual: as stated with the data.", low=1e-9, high=1e9,
        symbol="σ")
    radius: float | None = param(
        None, "Largest norm", "Coefficients are drawn back to this Euclidean norm. Usual: 1 where "
        "values are of size one, otherwise half the width of the range of responses.", low=1e-9,
        high=1e9, symbol="c_0")
    step_size: float | None = param(
        None, "Step size", "Usual: 0.7 up to 7 features, 0.5 for more, where 0.7 could oscillate.",
        low=1e-3, high=2.0, symbol="η")
    reach: float | None = param(
        None, "Reach of the ranges", "How many standard deviations of a feature its stated range "
        "reaches to each side; 1.7 for even spread. Usual: as stated with the data, else 4. Not "
        "used where values are of size one.", low=1.0, high=100.0)

    def reach_of(self, facts: PublicFacts) -> float:
        """How many standard deviations the stated ranges of features reach."""
        return stated_reach(self.reach, facts)

    def caution(self, facts: PublicFacts) -> str:
        """Ranges that say nothing of standard deviations make steps too long or too short."""
        if is_standard(facts):
            return ""
        return (f"**Ranges of features are taken to reach {self.reach_of(facts):g} standard "
                "deviations to each side of their middle.** Where features spread wider, steps can "
                "overshoot: state fewer.")
