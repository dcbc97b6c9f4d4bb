"""What the mechanisms that give intervals for sparse coefficients share: parameters and plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.families.sparse import Steps, fewest_rounds, rows_of
from engine.families.sparse_averages import RowAverages
from engine.families.sparse_guesses import PublicGuesses, with_responses
from engine.families.sparse_inference import (
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
from engine.lists import whole_numbers
from engine.noise.selection import GUMBEL, Indices
from engine.registry import param
from engine.types import Array, Data, Intervals, PublicFacts, Sizes

LAW = GUMBEL  # of the choice of entries in every round
CLIP = 4.0  # of features, in standard deviations, and of residuals, in those of the noise
Shown = Callable[[Array], Array]
_LEAST_EIGENVALUE = 1 / 3  # public, of the features' covariance
_FEW = 7  # entries kept up to which the longer step is safe
_MATRIX = 4  # dimensions of messages that are matrices: repeats, columns, and two


@dataclass(frozen=True, kw_only=True)
class SparseIntervals(PublicGuesses):
    """Parameters that say for which coefficients, and how, intervals are wanted.

    A subclass says in `n_kept` how many coefficients are not zero.
    """

    target: str = param(
        "coordinates", "Limits", "Coordinates: an interval for each coefficient on its own. Band: "
        "limits that hold all of them together, in 95 of 100 cases.",
        choices=("coordinates", "band"))
    features: str | None = param(
        None, "Which features", "Their numbers, counted from 1, with commas. Fewer need less "
        "noise. Empty: all.")
    rounds: int | None = param(
        None, "Rounds", "Usual: until at most a twentieth of the distance is left, if eigenvalues "
        "are at least ⅓. What is left shifts intervals: better more than fewer.", low=1, high=1000,
        symbol="T")
    precision_kept: int = param(
        3, "Features in a correction", "How many entries a column of the inverse covariance "
        "keeps: 3 where features depend on their two neighbours.", low=1, high=50)
    product_clip: float = param(
        5.0, "Clip of products", "Of a feature less what the others say of it, in its "
        "corrections. Four of its standard deviations.", low=0.1, high=1e3, symbol="τ")

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
        """The features that are asked for, counted from 0.

        Raises
        ------
        InputError
            If there is no feature of a number that was asked for.
        """
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
        return Steps(min(kept, sizes.n_covariates), self.n_rounds(self.step), self.step,
                     self.largest_norm(facts))

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

    def averages(self, data: Data, clip: float = CLIP) -> RowAverages:
        """What machines hold, features held to ±clip; the only place at which rows are read."""
        rows = with_responses(data)
        return RowAverages(rows_of(rows, self.reach_of(rows.facts), clip))

    def in_units_of_noise(self, shift: Array, noise: Array) -> Array:
        """Noise of the Gram matrix is independent on and above the diagonal, and mirrored."""
        units = super().in_units_of_noise(shift, noise)
        is_matrix = units.ndim == _MATRIX and units.shape[-1] == units.shape[-2]
        return np.triu(units) if is_matrix else units

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

def placed(values: Array, places: Indices, size: int, around: Array | None = None) -> Array:
    """Values (…, g) put at their places among `size` entries; elsewhere `around`, or NaN."""
    out = np.full((*values.shape[:-1], size), np.nan) if around is None else around.copy()
    out[..., places] = values
    return out
