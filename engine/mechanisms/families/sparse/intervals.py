"""Parameters and plans shared by the mechanisms with intervals for sparse coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from engine.core.arrays import Indices
from engine.core.errors import InputError
from engine.core.lists import whole_numbers
from engine.core.registry import param
from engine.core.types import Array, Caution, Data, Intervals, PublicFacts, SaidIn, Sizes
from engine.mechanisms.base import P
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.centre import MeanConstants
from engine.mechanisms.families.sparse.corrections import (
    Corrected,
    pointwise_half_widths,
    simultaneous_half_width,
)
from engine.mechanisms.families.sparse.guesses import PublicGuesses, with_responses
from engine.mechanisms.families.sparse.inference import (
    LARGEST_PRECISION,
    MIN_WITHIN,
    NARROW,
    ONE,
    SEVERAL,
    Columns,
    InferenceShares,
    IntervalConstants,
    NoiseDeviations,
    noise,
    row_norm,
)
from engine.mechanisms.families.sparse.thresholding import (
    CLIP,
    LONGEST_STEP,
    MIN_EIGENVALUE,
    DescentSettings,
    fewest_rounds,
    is_standard,
    rows_of,
)
from engine.noise.selection import GUMBEL

LAW = GUMBEL  # of the choice of entries in every round
NOT_DISTINCT = (
    "No confidence intervals: the smallest eigenvalue of the released Gram matrix is not clearly "
    "above its privacy noise, so their coverage could not be guaranteed. More rows, a larger ε or "
    "fewer features would help."
)
NOT_ENOUGH = (
    f"No confidence intervals: by what was released, fewer than {100 * MIN_WITHIN:.0f} % of the "
    "residuals lie within their clip. State a larger standard deviation of the noise."
)
ASSUMED = (
    "These intervals rest on the assumption that a column of the inverse covariance of the "
    "features has few entries. Nothing that was released can check it."
)
Shown = Callable[[Array], Array]


@dataclass(frozen=True, kw_only=True)
class SparseIntervals(PublicGuesses[P]):
    """Parameters that say for which coefficients, and how, intervals are wanted.

    `residual_sds` is the clip of residuals in public guesses of σ.
    """

    residual_sds: ClassVar[float] = 3.0

    target: str = param(
        "coordinates",
        "Confidence intervals",
        "Coordinates: one 95 % interval for each "
        "coefficient. Band: simultaneous intervals, which cover all coefficients in 95 % of cases.",
        choices=("coordinates", "band"),
    )
    features: str | None = param(
        None,
        "Which features",
        "Their numbers, counted from 1, with commas. Fewer need less noise. Empty: all.",
    )
    directions: str = param(
        "gram",
        "Inverse covariance",
        "Gram: from a noisy Gram matrix of all features, which "
        "serves any correlation and shows where it does not. Column: for a single feature, by "
        "hard thresholding, as published; assumes that few others depend on it.",
        choices=("gram", "column"),
    )
    rounds: int | None = param(
        None,
        "Rounds",
        "For hard thresholding. Default: until at most a twentieth of the distance "
        "is left, if eigenvalues are at least ⅓.",
        low=1,
        high=1000,
        symbol="T",
    )
    feature_clip: float | None = param(
        None,
        "Clip of features",
        "In standard deviations. Default: 4, or the reach of the ranges where that is less.",
        low=0.1,
        high=1e3,
        symbol="c_x",
    )
    residual_clip: float | None = param(
        None,
        "Clip of residuals",
        "In response units. Default: three times the standard "
        "deviation of the noise, four times where machines differ.",
        low=1e-9,
        high=1e9,
        symbol="R",
    )
    precision_kept: int = param(
        3,
        "Features in a correction",
        "How many entries a column of the inverse covariance "
        "keeps, if it is had without the Gram matrix: 3 where features depend on their two "
        "neighbours.",
        low=1,
        high=50,
    )
    product_clip: float = param(
        5.0,
        "Clip of products",
        "For a feature less its part that the others explain, without the "
        "Gram matrix. Four of its standard deviations.",
        low=0.1,
        high=1e3,
        symbol="τ",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        features = whole_numbers("features", self.features)
        if self.directions == "column" and (self.target == "band" or len(set(features)) != 1):
            raise InputError(
                "Without the Gram matrix there is an interval for one feature only.",
                field="directions",
                hint="Name one feature, or choose “gram”.",
            )

    @property
    def learning_rate(self) -> float:
        """η."""
        return self.step_size or LONGEST_STEP

    def places(self, sizes: Sizes) -> Indices:
        """The features that limits are asked for, counted from 0: (g,)."""
        size, features = sizes.n_covariates, set(whole_numbers("features", self.features))
        if features and max(features) > size:
            raise InputError(
                f"There are {size} features; number {max(features)} was asked for.",
                field="features",
                hint="Features are counted from 1.",
            )
        return np.array(sorted(k - 1 for k in features)) if features else np.arange(size)

    def is_one(self, sizes: Sizes) -> bool:
        """True if one coefficient is asked for without a Gram matrix."""
        return self.directions == "column"

    def shares(self, sizes: Sizes) -> InferenceShares:
        """Divide the budget."""
        return ONE if self.is_one(sizes) else SEVERAL

    def descent(self, sizes: Sizes, facts: PublicFacts, sparsity: int) -> DescentSettings:
        """Constants of rounds of hard thresholding."""
        return DescentSettings(
            min(sparsity, sizes.n_covariates),
            self.n_rounds(self.learning_rate),
            self.learning_rate,
            self.largest_norm(facts),
        )

    def n_rounds(self, learning_rate: float) -> int:
        """T."""
        return self.rounds or fewest_rounds(learning_rate, MIN_EIGENVALUE)

    def constants(self, sizes: Sizes, facts: PublicFacts) -> IntervalConstants:
        """Clips, and the steps for a column of the inverse covariance."""
        guess, size = self.spread(facts), sizes.n_covariates
        column = DescentSettings(
            min(self.precision_kept, size), self.n_rounds(0.7), 0.7, LARGEST_PRECISION
        )
        feature = self.feature_clip or self.clip_of_features(facts)
        return IntervalConstants(
            LAW,
            feature,
            self.residual_clip or self.residual_sds * guess,
            row_norm(size, feature),
            guess,
            self.clip_of_responses(facts),
            self.largest_norm(facts),
            column,
            self.product_clip,
            self.has_centre(facts),
        )

    def noises(
        self,
        facts: PublicFacts,
        c: IntervalConstants,
        rho: float,
        sizes: tuple[int, int],
        shares: InferenceShares,
        centre: MeanConstants,
    ) -> NoiseDeviations:
        """Plan the noise that costs its shares of ρ, beside that in released means.

        `sizes` are the rows of all machines, and those that the coefficients belong to.
        """
        deviations = noise(c, shares, rho, *sizes)
        if centre.deviation is None:
            return deviations
        half = CLIP if is_standard(facts) else self.reach_of(facts)
        return replace(deviations, centre=half * centre.deviation)

    def averages(self, data: Data, c: IntervalConstants | None = None) -> RowAverages:
        """Read the machines' rows, clipped; nothing else reads rows.

        Without clips `c` nothing is clipped, and rows are less their exact means where a release
        has them less released ones.
        """
        rows = self.without_constant(data) if c is None else with_responses(data)
        clip, norm = (math.inf, None) if c is None else (c.feature, c.row)
        return RowAverages(rows_of(rows, self.reach_of(rows.facts), clip, norm=norm))

    def limits_around(
        self, corrected: Corrected, places: Indices, size: int, released: Shown
    ) -> Intervals:
        """Limits of the entries that were asked for; half widths and errors are NaN if refused."""
        refused = corrected.is_refused[..., None]
        half, errors = (
            np.where(refused, np.nan, entries)
            for entries in (self.half_widths(corrected), corrected.errors)
        )
        centre, half, error = (
            released(placed(entries, places, size)) for entries in (corrected.values, half, errors)
        )
        return Intervals(
            centre, half, error, "simultaneous" if self.target == "band" else "pointwise"
        )

    def cautions(
        self, each: Sequence[Corrected], columns: Columns, has_centre: bool
    ) -> tuple[Caution, ...]:
        """Why limits are refused, or what they rest on, at any machine, from what was released.

        With a centre, features are measured from their means: one may be said to vary little.
        """
        distinct, enough = (
            columns.released(np.all([getattr(entries, name) for entries in each], axis=0))
            for name in ("is_distinct", "is_enough")
        )
        out = [
            Caution(text, ~fine, SaidIn.LINE)
            for text, fine in ((NOT_DISTINCT, distinct), (NOT_ENOUGH, enough))
            if not fine.all()
        ]
        narrow = columns.released(
            np.any(
                [np.broadcast_to(entries.is_narrow, entries.is_distinct.shape) for entries in each],
                axis=0,
            )
        )
        if has_centre and narrow.any():
            out.append(Caution(NARROW, narrow, SaidIn.LINE))
        if self.directions == "column":
            out.append(Caution(ASSUMED, np.ones_like(distinct), SaidIn.STATED))
        return tuple(out)

    def half_widths(self, corrected: Corrected) -> Array:
        """Half widths of intervals, or of the band around g coefficients: (repeats, columns, g)."""
        if self.target == "coordinates":
            return pointwise_half_widths(corrected.errors)
        width = simultaneous_half_width(corrected.covariance)
        return np.asarray(np.broadcast_to(width[..., None], corrected.values.shape))


def placed(values: Array, places: Indices, size: int, around: Array | None = None) -> Array:
    """Values (…, g) put at their places among all entries: (…, d); NaN, or `around`, elsewhere."""
    out = np.full((*values.shape[:-1], size), np.nan) if around is None else around.copy()
    out[..., places] = values
    return out
