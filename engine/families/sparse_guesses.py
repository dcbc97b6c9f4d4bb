"""What all sparse regressions ask a person to guess from outside the data."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InputError
from engine.families.sparse import is_standard, stated_reach
from engine.mechanisms import Mechanism
from engine.registry import param
from engine.tasks import SPARSE_REGRESSION
from engine.types import Data, PublicFacts, SampleData


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

    def spread(self, facts: PublicFacts) -> float:
        """σ, the standard deviation of a response around what its features say.

        Raises
        ------
        InputError
            If it is stated neither here nor with the data.
        """
        stated = facts.reading_sd if self.noise_sd is None else self.noise_sd
        if stated <= 0:
            raise InputError("The standard deviation of a response around what its features say "
                             "must be stated.", field="noise_sd",
                             hint="A public guess is enough; a wrong one costs accuracy only.")
        return stated

    def largest_norm(self, facts: PublicFacts) -> float:
        """c₀."""
        usual = 1.0 if is_standard(facts) else facts.value_half_width
        return usual if self.radius is None else self.radius

    def caution(self, facts: PublicFacts) -> str:
        """Ranges that say nothing of standard deviations make steps too long or too short."""
        if is_standard(facts):
            return ""
        return (f"**Ranges of features are taken to reach {self.reach_of(facts):g} standard "
                "deviations to each side of their middle.** Where features spread wider, steps can "
                "overshoot: state fewer.")


def with_responses(data: Data) -> SampleData:
    """The same data, if they are rows of features with a response.

    Raises
    ------
    InputError
        If they are not.
    """
    if not isinstance(data, SampleData) or data.y is None:
        raise InputError("Sparse regression needs rows of features and a response.",
                         field="source", hint="Choose data with many numbers in each row.")
    return data
