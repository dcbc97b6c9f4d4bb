"""What the mechanisms that give intervals for sparse coefficients share: parameters and plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import accounting
from engine.errors import InputError
from engine.lists import whole_numbers
from engine.mechanisms import Mechanism
from engine.noise.selection import GUMBEL, Indices
from engine.registry import param
from engine.sparse import Steps, fewest_rounds, is_standard, rows_of, stated_reach
from engine.sparse_averages import RowAverages
from engine.sparse_inference import (
    LARGEST_PRECISION,
    ONE,
    SEVERAL,
    Constants,
    Corrected,
    Shares,
    ball,
    pointwise_half_widths,
    simultaneous_half_width,
)
from engine.tasks import SPARSE_REGRESSION
from engine.types import Array, Budget, Data, Intervals, PublicFacts, SampleData, Sizes

LAW = GUMBEL  # of the choice of entries in every round
CLIP = 4.0  # of features, in standard deviations, and of residuals, in those of the noise
Shown = Callable[[Array], Array]
_LEAST_EIGENVALUE = 1 / 3  # public, of the features' covariance
_FEW = 7  # entries kept up to which the longer step is safe


@dataclass(frozen=True, kw_only=True)
class SparseIntervals(Mechanism):
    """Parameters that say for which coefficients, and how, intervals are wanted.

    A subclass says in `n_kept` how many coefficients are not zero.
    """

    tasks = frozenset({SPARSE_REGRESSION.key})
    guarantee = "approximate"
    family = "sparse"

    target: str = param(
        "coordinates", "Limits", "Coordinates: an interval for each coefficient on its own. Band: "
        "limits that hold all of them together, in 95 of 100 cases.",
        choices=("coordinates", "band"))
    features: str | None = param(
        None, "Which features", "Their numbers, counted from 1, with commas. Fewer need less "
        "noise. Empty: all.")
    noise_sd: float | None = param(
        None, "Spread of the noise", "A public guess of the standard deviation of a response "
        "around what its features say. Usual: as stated with the data.", low=1e-9, high=1e9,
        symbol="σ")
    radius: float | None = param(
        None, "Largest norm", "Coefficients are drawn back to this Euclidean norm. Usual: 1 where "
        "values are of size one, otherwise half the width of the range of responses.", low=1e-9,
        high=1e9, symbol="c_0")
    rounds: int | None = param(
        None, "Rounds", "Usual: until at most a twentieth of the distance is left, if eigenvalues "
        "are at least ⅓. What is left shifts intervals: better more than fewer.", low=1, high=1000,
        symbol="T")
    step_size: float | None = param(
        None, "Step size", "Usual: 0.7 up to 7 features, 0.5 for more, where 0.7 could oscillate.",
        low=1e-3, high=2.0, symbol="η")
    precision_kept: int = param(
        3, "Features in a correction", "How many entries a column of the inverse covariance "
        "keeps: 3 where features depend on their two neighbours.", low=1, high=50)
    product_clip: float = param(
        5.0, "Clip of products", "Of a feature less what the others say of it, in its "
        "corrections. Four of its standard deviations.", low=0.1, high=1e3, symbol="τ")
    reach: float | None = param(
        None, "Reach of the ranges", "How many standard deviations of a feature its stated range "
        "reaches to each side; 1.7 for even spread. Usual: as stated with the data, else 4. Not "
        "used where values are of size one.", low=1.0, high=100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_numbers("features", self.features)

    @property
    def n_kept(self) -> int:
        """S."""
        raise NotImplementedError

    @property
    def step(self) -> float:
        """η."""
        return self.step_size or (0.7 if self.n_kept <= _FEW else 0.5)

    def places(self, sizes: Sizes) -> Indices:
        """The features that are asked for, counted from 0."""
        size, asked = sizes.n_covariates, set(whole_numbers("features", self.features))
        if asked and max(asked) > size:
            raise InputError(f"There are {size} features; number {max(asked)} was asked for.",
                             field="features", hint="Features are counted from 1.")
        return np.array(sorted(k - 1 for k in asked)) if asked else np.arange(size)

    def is_one(self, sizes: Sizes) -> bool:
        """Whether one coefficient on its own is asked for, which needs no Gram matrix."""
        return self.target == "coordinates" and len(self.places(sizes)) == 1

    def shares(self, sizes: Sizes) -> Shares:
        return ONE if self.is_one(sizes) else SEVERAL

    def steps(self, sizes: Sizes, facts: PublicFacts, kept: int) -> Steps:
        """Rounds that keep `kept` entries."""
        largest = (1.0 if is_standard(facts) else facts.value_half_width
                   ) if self.radius is None else self.radius
        return Steps(min(kept, sizes.n_covariates), self.n_rounds(self.step), self.step,
                     largest)

    def n_rounds(self, step: float) -> int:
        """T."""
        return self.rounds or fewest_rounds(step, _LEAST_EIGENVALUE)

    def constants(self, sizes: Sizes, facts: PublicFacts) -> Constants:
        """Clips, and the steps for a column of the inverse covariance."""
        guess = self.spread(facts)
        column = Steps(min(self.precision_kept, sizes.n_covariates), self.n_rounds(0.7), 0.7,
                       LARGEST_PRECISION)
        return Constants(LAW, column, CLIP, CLIP * guess, self.product_clip,
                         ball(sizes.n_covariates), guess)

    def spread(self, facts: PublicFacts) -> float:
        """σ."""
        stated = facts.reading_sd if self.noise_sd is None else self.noise_sd
        if stated <= 0:
            raise InputError("The standard deviation of a response around what its features say "
                             "must be stated.", field="noise_sd",
                             hint="A public guess is enough; a wrong one costs accuracy only.")
        return stated

    def averages(self, data: Data, clip: float = CLIP) -> RowAverages:
        """What machines hold, features held to ±clip; the only place at which rows are read."""
        if not isinstance(data, SampleData) or data.y is None:
            raise InputError("Sparse regression needs rows of features and a response.",
                             field="source", hint="Choose data with many numbers in each row.")
        return RowAverages(rows_of(data, stated_reach(self.reach, data.facts), clip))

    def limits_around(self, found: Corrected, places: Indices, size: int, shown: Shown
                      ) -> Intervals:
        """Limits of the entries at `places`; `shown` takes columns to what may be seen of them."""
        centre, half, error = (shown(placed(own, places, size)) for own in (
            found.values, self.half_widths(found), found.errors))
        return Intervals(centre, half, error,
                         "simultaneous" if self.target == "band" else "pointwise")

    def half_widths(self, found: Corrected) -> Array:
        """Of intervals or of the band around g coefficients: (repeats, columns, g)."""
        if self.target == "coordinates":
            return pointwise_half_widths(found.errors)
        width = simultaneous_half_width(found.covariance)
        return np.asarray(np.broadcast_to(width[..., None], found.values.shape))

    def caution(self, facts: PublicFacts) -> str:
        """Ranges that say nothing of standard deviations make steps too long or too short."""
        if is_standard(facts):
            return ""
        reach = stated_reach(self.reach, facts)
        return (f"**Ranges of features are taken to reach {reach:g} standard deviations to each "
                "side.** Where features spread wider, steps can overshoot: state fewer.")


def smallest_rho(budgets: Sequence[Budget]) -> float:
    """ρ of the strictest budget: the centre's noise is the same for all machines."""
    return min(accounting.rho_of(one.epsilon, one.delta) for one in budgets)


def placed(values: Array, places: Indices, size: int, around: Array | None = None) -> Array:
    """Values (…, g) put at their places among `size` entries; elsewhere `around`, or NaN."""
    out = np.full((*values.shape[:-1], size), np.nan) if around is None else around.copy()
    out[..., places] = values
    return out
