"""Signs in a released covariance that it is further off than was forecast, or may be.

What is told follows from released coefficients, public sizes and stated facts. The forecast is for
people who differ smoothly by about a quarter of half the stated range; other people are simulated
from public facts, and their releases are put to the same question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array, CurveData, Public
from engine.mechanisms.summaries.parts import FunctionPlan
from engine.sources.twin import DEFAULT_SPREAD, Twin

if TYPE_CHECKING:
    from engine.mechanisms.summaries.covariance import CovarianceSmoothing, CovarianceSummary

FADED = (
    "With so few curves and this ε the smoothing of this method leaves less than half of a "
    "covariance, whatever the curves are. What is released is mostly noise about something far too "
    "small. More curves or a larger ε help."
)
SHRUNK = (
    "The released covariance is larger or less smooth than the one behind the forecast. Smoothing "
    "takes away more than the forecast error."
)
_USUAL = (
    "the error of the variance is more than 1.5 times the forecast, which is for curves that "
    "differ smoothly by a quarter of half the stated range."
)
WIDE = (
    "This release could not reliably show a difference between curves of half of half the stated "
    "range. "
    "Then " + _USUAL
)
ROUGH = (
    "Errors of single observations, and what curves do within short times, are smoothed away "
    "here, and this release does not show how large they are. With errors of three tenths of "
    "half the stated range " + _USUAL
)
NARROW = (
    "This release could not reliably show that curves hardly differ. Then privacy noise is "
    "most of it, and " + _USUAL
)
_SHRUNK, _FADED, _SOME = 1.5, 0.6, 0.1  # forecast errors; lost share; least share of a coefficient
# Curves behind a covariance that is simulated; spreads and errors in half-ranges; and in how many
# of so many releases it is to be told where the error is so many times the forecast.
_CURVES, _SEED = 2000, 20_270
_WIDE, _ROUGH, _NARROW = 0.5, 0.3, 0.02
_TOLD, _RELEASES, _BEYOND = 0.9, 40, 1.5


@dataclass(frozen=True, eq=False)
class SimulatedPeople:
    """Releases of people who are simulated from public facts."""

    coefficients: Array  # (releases, r): in response units
    errors: Array  # (releases, K): of the variance at the times of the grid

    @property
    def error(self) -> float:
        """Root mean squared."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def bias(self) -> Array:
        """Mean error at each time: (K,)."""
        return np.asarray(self.errors.mean(axis=0))


@dataclass(frozen=True, eq=False)
class CovarianceJudgement:
    """Comparison of released covariances with their smoothing, beside the forecast."""

    summary: CovarianceSummary
    smoothing: CovarianceSmoothing
    variances: Array  # (r,): of the noise in its coefficients
    plan: FunctionPlan
    public: Public

    def told(self, coefficients: Array) -> dict[str, NDArray[np.bool_]]:
        """Mark the releases (…) to which each sentence applies."""
        every = np.ones(coefficients.shape[:-1], dtype=bool)
        if self._leaves_little:
            return {FADED: every}
        told = self._is_shrunk(coefficients)
        others = {ROUGH: self._rough, NARROW: self._narrow}
        if (self._shrink < 1).any():
            others[WIDE] = self._wide
        return {
            SHRUNK: told,
            **{text: every & ~told for text, people in others.items() if self._is_hidden(people)},
        }

    def _is_hidden(self, people: SimulatedPeople) -> bool:
        """True if the error for such people exceeds the forecast and releases do not show it."""
        return (
            people.error > _BEYOND * self._usual.error
            and self._is_shrunk(people.coefficients).mean() < _TOLD
        )

    # -- by what is released -----------------------------------------------------------------------

    @property
    def _shrink(self) -> Array:
        return np.asarray(self.smoothing.pairs.shrink)

    @cached_property
    def _known(self) -> Array:
        """Coefficients of the covariance behind the forecast, not smoothed: (r,)."""
        return self.summary.scale * self.summary.second_moments(
            self.summary.records(self._people())
        )

    @property
    def _leaves_little(self) -> bool:
        """True if smoothing leaves little of any covariance."""
        lost, all_of_it = ((1 - self._shrink) * self._known) ** 2, self._known**2
        return bool(lost.sum() > _FADED**2 * all_of_it.sum())

    def _is_shrunk(self, coefficients: Array) -> NDArray[np.bool_]:
        """True if smoothing has taken away more of released covariances than was forecast.

        Coefficients (…, r) of which at least a tenth is left tell what was there. All of them
        together tell how many times the covariance behind the forecast is there, less a standard
        deviation.
        """
        shrink, noise = self._shrink, float(self.variances.sum())
        forecast = float((((1 - shrink) * self._known) ** 2).sum())
        taken = np.where(shrink > _SOME, 1 / np.maximum(shrink, _SOME) - 1, 0.0)
        lost = (coefficients**2 - self.variances) @ taken**2
        times = self._times(coefficients) - self._times(self._usual.coefficients).std()
        bias = self._usual.bias - np.maximum(times - 1, 0.0)[..., None] * self._taken
        random = self._usual.error**2 - (self._usual.bias**2).mean()
        return np.asarray(
            (lost + noise > _SHRUNK**2 * (forecast + noise))
            | ((bias**2).mean(axis=-1) + random > (_SHRUNK * self._usual.error) ** 2)
        )

    @cached_property
    def _taken(self) -> Array:
        """Share of the variance behind the forecast that the filter removes: (K,)."""
        return self._on_diagonal((1 - self._shrink) * self._known)

    def _on_diagonal(self, coefficients: Array) -> Array:
        """Variances at the times of the grid: (…, K)."""
        times = np.array(self.summary.grid.times)
        return np.asarray(coefficients @ self.summary.basis(np.stack([times, times], axis=1)).T)

    def _times(self, coefficients: Array) -> Array:
        """Measure a release (…, r) as a multiple of the covariance behind the forecast: (…)."""
        nothing, once = (people.coefficients.mean(axis=0) for people in (self._narrow, self._usual))
        weights = (once - nothing) / np.maximum(self.variances, 1e-300)
        return np.asarray((coefficients - nothing) @ weights / ((once - nothing) @ weights))

    # -- by public facts ---------------------------------------------------------------------------

    @cached_property
    def _usual(self) -> SimulatedPeople:
        return self._simulated(self._people())

    @cached_property
    def _wide(self) -> SimulatedPeople:
        return self._simulated(self._people(_WIDE))

    @cached_property
    def _narrow(self) -> SimulatedPeople:
        return self._simulated(self._people(_NARROW))

    @cached_property
    def _rough(self) -> SimulatedPeople:
        facts, people = self.public.facts, self._people()
        errors = (
            _ROUGH
            * facts.value_half_width
            * np.random.default_rng(_SEED).standard_normal(people.values.shape)
        )
        return self._simulated(
            replace(
                people, values=np.clip(people.values + errors, facts.value_low, facts.value_high)
            )
        )

    def _people(self, spread: float = DEFAULT_SPREAD) -> CurveData:
        """Many curves of a twin with a spread in half-ranges."""
        facts = self.public.facts
        twin = Twin.of(facts, self.public.sizes, spread * facts.value_half_width)
        return replace(twin, people=(_CURVES,)).draw(1, np.random.default_rng(_SEED))

    def _simulated(self, people: CurveData) -> SimulatedPeople:
        """Releases of the covariance of these curves, always with the same noise.

        A private mean is off by its noise, whose square counts as covariance.
        """
        summary, rng = self.summary, np.random.default_rng(1)
        pairs = summary.basis
        moments = pairs.matrices(summary.second_moments(summary.records(people)))
        if len(self.plan.blocks[0]) > 1:
            off = self._noise_of_means * rng.standard_normal((_RELEASES, len(moments)))
            moments = moments + off[:, :, None] * off[:, None, :]
        smoothing, scale = self.smoothing, summary.scale
        noise = np.sqrt(self.variances) / scale * rng.standard_normal((_RELEASES, pairs.size))
        coefficients = scale * summary.finished(
            [smoothing(pairs.coordinates(moments)) + noise], smoothing
        )
        variance = people.on_grid(summary.grid.times)[0].var(axis=0)
        return SimulatedPeople(coefficients, self._on_diagonal(coefficients) - variance)

    @property
    def _noise_of_means(self) -> Array:
        """Standard deviations of the noise in the private mean, over τ: (k,)."""
        of_sites = zip(self.plan.weights[0], self.plan.noise[0], strict=True)
        return np.asarray(
            np.sqrt(
                sum(weight**2 * site[0].variance * site[0].scales ** 2 for weight, site in of_sites)
            )
        )
