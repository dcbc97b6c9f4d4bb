"""Guesses from outside the data that all sparse regressions ask a person for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import SPARSE_REGRESSION
from engine.core.types import (
    Array,
    Budget,
    Caution,
    Data,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
)
from engine.mechanisms.base import Mechanism, P
from engine.mechanisms.families.sparse.centre import (
    MeanConstants,
    by_centre,
    exact_means,
    measured_from,
)
from engine.mechanisms.families.sparse.thresholding import CLIP, is_standard, rows_of, settled
from engine.numerics.coordinates import Coordinates


@dataclass(frozen=True)
class LargestNoise:
    """Scales of the noise, fixed before any row is read."""

    sensitivity: float
    # choice, values: scales of the noise in a choice and in a published value
    choice: float
    values: float
    largest: float  # of all noises among which features are chosen


_REACH = 4.0  # of ranges of which nothing else is stated
NO_CONSTANT = (
    "There is no constant in this fit: features and response are measured from the middle of their "
    "stated ranges. Where means lie elsewhere, as they mostly do, coefficients and intervals are "
    "wrong at any number of rows, and nothing that is released shows it."
)
_MATRIX = 4  # dimensions of messages that are matrices: repeats, columns, and two


@dataclass(frozen=True, kw_only=True)
class PublicGuesses(Mechanism[Data, P]):
    """Scales that clips and steps follow from; a wrong guess costs accuracy, never protection.

    How much is clipped is released with every estimate and interval, so that a guess that is far
    too small is seen, and said.
    """

    tasks = frozenset({SPARSE_REGRESSION.key})
    guarantee = Guarantee.APPROXIMATE
    family = "sparse"
    measured = "Sparse regression over machines"

    noise_sd: float | None = param(
        None,
        "Spread of the noise",
        "A public guess of the standard deviation of a response "
        "around what its features say. Default: as stated with the data.",
        low=1e-9,
        high=1e9,
        symbol="σ",
    )
    radius: float | None = param(
        None,
        "Largest norm",
        "A public guess of the Euclidean norm of all coefficients; hard "
        "thresholding draws them back to it. Default: 1 where values are of size one, otherwise "
        "half the width of the range of responses.",
        low=1e-9,
        high=1e9,
        symbol="c_0",
    )
    step_size: float | None = param(
        None,
        "Step size",
        "For hard thresholding. Default: at most 0.7, and so short that it "
        "converges, by a released bound of the largest sparse eigenvalue of the features.",
        low=1e-3,
        high=2.0,
        symbol="η",
    )
    reach: float | None = param(
        None,
        "Reach of the ranges",
        "How many standard deviations of a feature its stated range "
        "reaches to each side; 1.7 for even spread. Default: as stated with the data, else 4. Not "
        "used where values are of size one.",
        low=1.0,
        high=100.0,
    )

    centre: str | None = param(
        None,
        "Centre of features",
        "Stated: the middle of the ranges of features and response. "
        "Released: 5 % of the budget tells their means, from which everything is measured, as with "
        "a constant in the model. Default: released, unless values are of size one.",
        choices=("stated", "released"),
    )

    def has_centre(self, facts: PublicFacts) -> bool:
        """True if the means of features and response are released first."""
        return self.centre == "released" if self.centre else not is_standard(facts)

    def planned_centre(
        self, public: Public, budgets: Sequence[Budget], rho: float
    ) -> MeanConstants:
        """Plan the release of these means, and the ρ that is left."""
        if not self.has_centre(public.facts):
            return MeanConstants(None, rho)
        return MeanConstants.planned(public.sizes, budgets, rho)

    def from_centre(
        self,
        data: Data,
        plans: Sequence[Any],
        draws: int,
        rng: np.random.Generator,
        fit: Callable[[SampleData, Sequence[Any], int, np.random.Generator], Fit],
    ) -> Fit:
        """Fit rows less their released means, or as they are if these are not released.

        The fit has a caution if the middle of stated ranges stands in for means.
        """
        rows, deviations = with_responses(data), [plan.centre_noise_sd for plan in plans]
        if None in deviations:
            without = fit(rows, plans, draws, rng)
            if is_standard(rows.facts):
                return without
            every = np.ones(without.coefficients.shape[:3], dtype=bool)
            return replace(
                without, cautions=(Caution(NO_CONSTANT, every, SaidIn.LINE), *without.cautions)
            )
        return by_centre(
            rows,
            self.is_secure,
            deviations,
            draws,
            rng,
            lambda moved, k, stream: fit(moved, plans[k : k + 1], 1, stream),
        )

    def without_constant(self, data: Data) -> SampleData:
        """Rows less their means, without noise, where a release has them less released ones."""
        rows = with_responses(data)
        if not self.has_centre(rows.facts):
            return rows
        return measured_from(rows, exact_means(rows, is_clipped=False))

    @property
    def is_secure(self) -> bool:
        """True if machines mask what they send."""
        return False

    def reach_of(self, facts: PublicFacts) -> float:
        """Count the standard deviations that the stated ranges of features reach to each side."""
        return self.reach or facts.reach or _REACH

    def spread(self, facts: PublicFacts) -> float:
        """σ, the standard deviation of a response around what its features say."""
        stated = facts.reading_sd if self.noise_sd is None else self.noise_sd
        if stated <= 0:
            raise InputError(
                "The standard deviation of a response around what its features say must be stated.",
                field="noise_sd",
                hint="A public guess is enough; a wrong one costs accuracy only.",
            )
        return stated

    def largest_norm(self, facts: PublicFacts) -> float:
        """c₀, a guess of the norm of all coefficients."""
        usual = 1.0 if is_standard(facts) else facts.value_half_width
        return usual if self.radius is None else self.radius

    def clip_of_features(self, facts: PublicFacts) -> float:
        """Four standard deviations, or if less the reach of the stated ranges, in these."""
        return CLIP if is_standard(facts) else min(CLIP, self.reach_of(facts))

    def clip_of_responses(self, facts: PublicFacts) -> float:
        """3 (c₀² + σ²)^½, or half the width of their range: for averages at β = 0."""
        by_scales = 3 * math.hypot(self.largest_norm(facts), self.spread(facts))
        return by_scales if is_standard(facts) else min(by_scales, facts.value_half_width)

    def least_squares(self, data: Data, sparsity: int) -> Fit:
        """Fit the best `sparsity` features of all rows by least squares, unclipped, no noise."""
        rows = rows_of(self.without_constant(data), self.reach_of(data.facts), math.inf)
        return Fit.exact(
            Coordinates(rows.n_features), settled(rows, min(sparsity, rows.n_features))
        )

    def in_units_of_noise(self, shift: Array, noise: Array) -> Array:
        """Noise of a Gram matrix is independent on and above the diagonal, and mirrored."""
        units = super().in_units_of_noise(shift, noise)
        is_matrix = units.ndim == _MATRIX and units.shape[-1] == units.shape[-2]
        return np.triu(units) if is_matrix else units

    def unsuited_because(self, facts: PublicFacts) -> str:
        """Ranges that say nothing of standard deviations make steps too long or too short.

        And where nothing else tells means, the middle of ranges stands in for them.
        """
        if is_standard(facts):
            return ""
        text = (
            f"**Ranges of features are taken to reach {self.reach_of(facts):g} standard "
            "deviations to each side of their middle.** Where features spread wider, more of "
            "them is clipped: state fewer."
        )
        return text if self.has_centre(facts) else f"{text} **{NO_CONSTANT}**"


def with_responses(data: Data) -> SampleData:
    """The same data, if they are rows of features with a response."""
    if not isinstance(data, SampleData) or data.y is None:
        raise InputError(
            "Sparse regression needs rows of features and a response.",
            field="source",
            hint="Choose data with many numbers in each row.",
        )
    return data
