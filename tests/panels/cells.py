"""A setting of a panel, and what its releases come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Budget, CurveData, Data, Design, Estimate, PublicFacts, Truth
from engine.mechanisms import Mechanism
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive.rules import mu_of
from engine.simulation.metrics import coverage, errors_by_function
from engine.sources.twins import twin_of

SEED = 1
SIZES = ((300, 1.0), (1000, 1.0), (3000, 3.0))  # people and ε of ordinary settings
MEAN = AdaptiveMean()
_READINGS = 1_500_000  # worked on at once
_TWINS, _STUDY = (
    (20, 100),
    400_000,
)  # behind a forecast, as on pages: data sets, and readings in all


@dataclass(frozen=True)
class Cell:
    """One setting: a function from a generator to data with stated facts, and how they are released."""

    name: str
    draw: Callable[
        [int, np.random.Generator], Data
    ]  # data sets of equal public sizes, with their truth
    epsilon: float
    is_held_back: bool = False  # was not looked at when limits were chosen
    told_by: str = ""  # the check whose limit a failure lies above; empty below all thresholds, or where nothing fails
    mechanism: Mechanism[Any, Any] = MEAN
    holds: Callable[[Estimate, Any], Array] | None = (
        None  # which releases are right; by default whose band covers
    )

    def data(self, first: int, repeats: int, seed: int = SEED) -> Data:
        return self.draw(repeats, generator(seed, DATA_STREAM, first))

    @cached_property
    def one(self) -> Data:
        """A single file of the setting."""
        return self.data(0, 1)

    @cached_property
    def budget(self) -> Budget:
        n = self.one.n_curves
        return self.mechanism.suited(Budget(self.epsilon, float(n) ** -2))

    @property
    def effective_size(self) -> float:
        return self.one.n_curves * mu_of(self.budget)


@dataclass(frozen=True)
class Measured:
    """What the releases of one setting come to."""

    cell: Cell
    covers: Array  # (releases,) of bool: the whole curve lies inside the band, or the release is right otherwise
    warned: Array  # (releases,) of bool: something speaks against the release
    void: Array  # (releases,) of bool: the band is said not to hold
    half_width: float  # averaged over the curve and over releases
    error: float  # root of the mean squared distance from the truth
    plain: float  # the same of clipped column means with noise; NaN without common times
    names_size: Array  # (releases,) of bool: it is said what was not visible, and of which size
    said: tuple[
        tuple[str, float], ...
    ]  # kinds of warnings with the share of releases that carry them

    @property
    def told(self) -> float:
        """The share of missed releases that say so; NaN where none missed."""
        missed = ~self.covers
        return float((self.warned | self.void)[missed].mean()) if missed.any() else math.nan

    @cached_property
    def forecast(self) -> float:
        """The error that is shown before such a release, from stated facts alone."""
        return self._of_twins(self.cell.one.facts)

    @cached_property
    def forecast_unasked(self) -> float:
        """The same where nobody says how far most people are from the average."""
        return self._of_twins(replace(self.cell.one.facts, guessed_spread=0.0))

    def _of_twins(self, stated: PublicFacts) -> float:
        """The error of so many twins as pages simulate."""
        sizes = self.cell.one.sizes
        releases = int(np.clip(_STUDY // sizes.n_observations, *_TWINS))
        twin = twin_of(MEAN_FUNCTION, stated, sizes)
        together = max(1, min(releases, _READINGS // sizes.n_observations))
        squares = []
        for first in range(0, releases, together):
            data = twin.draw(
                min(together, releases - first), generator(SEED + 1, DATA_STREAM, first)
            )
            estimate = self.cell.mechanism.release_many(
                data, [(self.cell.budget,)], 1, generator(SEED + 1, NOISE_STREAM, first)
            )
            squares.append(errors_by_function(estimate, data.truth)[0, :, 0].sum(axis=-1))
        return float(np.sqrt(np.concatenate(squares).mean()))


def measured(cell: Cell, releases: int, seed: int = SEED) -> Measured:
    """Release `releases` data sets of a setting once each."""
    readings = max(cell.one.sizes.n_observations, 1)
    together = max(1, min(releases, _READINGS // readings))
    covers, warned, void, widths, squares, plain, named = [], [], [], [], [], [], []
    said: dict[str, list[Array]] = {}
    for first in range(0, releases, together):
        data = cell.data(first, min(together, releases - first), seed)
        estimate = cell.mechanism.release_many(
            data, [(cell.budget,)], 1, generator(seed, NOISE_STREAM, first)
        )
        truth = cell.mechanism.truth_of(data)
        covers.append(
            _covered(estimate, truth) if cell.holds is None else cell.holds(estimate, data)
        )
        warned.append(estimate.is_doubted[0, :, 0])
        void.append(estimate.is_unreliable[0, :, 0])
        widths.append(_half_widths(estimate))
        if truth is not None:
            squares.append(errors_by_function(estimate, truth)[0, :, 0].sum(axis=-1))
        if (
            isinstance(data, CurveData)
            and data.facts.common_times
            and not cell.one.facts.covariates
        ):
            plain.append(
                _plain_errors(data, cell.budget, generator(seed, NOISE_STREAM, 10_000 + first))
            )
        hidden = np.zeros(len(warned[-1]), dtype=bool)
        for caution in estimate.cautions:
            if caution.low_power_for:
                hidden |= caution.applies[0, :, 0]
            else:
                of_kind = said.setdefault(caution.kind, [np.zeros(releases, dtype=bool)])[0]
                of_kind[first : first + len(hidden)] |= caution.applies[0, :, 0]
        named.append(hidden | bool(estimate.checks))
    shares = {kind: float(applies[0].mean()) for kind, applies in said.items()}
    return Measured(
        cell,
        np.concatenate(covers),
        np.concatenate(warned),
        np.concatenate(void),
        float(np.mean(np.concatenate(widths))),
        float(np.sqrt(np.concatenate(squares).mean())) if squares else math.nan,
        float(np.sqrt(np.concatenate(plain).mean())) if plain else math.nan,
        np.concatenate(named),
        tuple(
            sorted(
                ((kind, share) for kind, share in shares.items() if share),
                key=lambda each: -each[1],
            )
        ),
    )


def _covered(estimate: Estimate, truth: Truth | None) -> Array:
    """True where all of the truth lies inside: of several functions, each inside its own band."""
    found = coverage(estimate, truth)
    assert found is not None
    return np.asarray(found.of_curve[0, :, 0] >= 1 - 1e-9)


def _half_widths(estimate: Estimate) -> Array:
    if estimate.limits is None:
        return np.full(estimate.coefficients.shape[1], np.nan)
    low, high = estimate.limits
    return np.asarray(((high - low) / 2)[0, :, 0].reshape(low.shape[1], -1).mean(axis=-1))


def _plain_errors(data: CurveData, budget: Budget, rng: np.random.Generator) -> Array:
    """Integrated squared errors of clipped means at each common time, joined by straight lines."""
    facts, assumed = data.facts, data.truth
    assert assumed is not None
    times = np.array(facts.common_times)
    columns = np.abs(data.times[..., None] - times).argmin(axis=-1)  # (repeats, N)
    values = np.clip(data.values, facts.value_low, facts.value_high)
    means = np.stack(
        [
            [of_set[where == j].mean() for j in range(len(times))]
            for of_set, where in zip(values, columns, strict=True)
        ]
    )
    scale = 2 * facts.value_half_width * math.sqrt(len(times)) / (data.n_curves * mu_of(budget))
    means = means + scale * rng.standard_normal(means.shape)
    points, weights = assumed.quadrature
    lines = np.stack([np.interp(points, times, row) for row in means])
    return np.asarray((lines - assumed.node_values) ** 2 @ weights)


def curves(
    times: Array,
    values: Array,
    facts: PublicFacts,
    mean: Callable[[Array], Array],
    rule: str = "gauss",
    counts: Sequence[int] | None = None,
) -> CurveData:
    """Curve data of times in their own unit, (repeats, n, m) or (repeats, N) with counts; `mean` is the truth.

    Values are as recorded, within the stated bounds or not.
    """
    repeats = len(times)
    observed = np.full(times.shape[1], times.shape[2]) if counts is None else np.asarray(counts)
    return CurveData(
        facts.to_unit_time(times).reshape(repeats, -1),
        values.reshape(repeats, -1),
        observed,
        np.zeros(len(observed), dtype=np.int64),
        facts,
        Truth.of(lambda t: mean(facts.from_unit_time(t)), rule),
    )


def at_common(facts_times: Sequence[float], low: float, high: float) -> Design:
    """Everybody is observed at these times, stated in their own unit."""
    return Design.common([(t - low) / (high - low) for t in facts_times])
