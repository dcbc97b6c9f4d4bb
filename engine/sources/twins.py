"""The twin for each task: data simulated from stated facts, of which its truth is known.

Twins are given public facts and public sizes, two types that hold no observation, so that no value
of a file can reach them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from engine.core.grids import drawing_grid
from engine.core.tasks import RISK_MINIMISATION, Argument, DataType, Task
from engine.core.types import Array, CurveData, EventFacts, PublicFacts, SampleData, Sizes
from engine.numerics.counts.estimands import ESTIMANDS
from engine.sources.event_twin import EventTwin
from engine.sources.twin import SimulatedTwin, Twin

_FOR_TRUTH = 2000  # curves behind the variance of a twin
_BUMPS, _BUMP_SD = np.array([0.2, 0.5, 0.8]), 0.06  # as shares of the stated range
_ODDS, _SPREAD = 2.0, 0.17  # largest log-odds of classes; spread of responses, in half-ranges


def twin_of(task: Task, facts: PublicFacts, sizes: Sizes) -> SimulatedTwin:
    """The twin of data of which facts and sizes are public.

    Percentile curves have theirs in `engine.sources.reading_twin`: it depends on the scale on which
    the method estimates them.

    Parameters
    ----------
    task : Task
        Whose truth is asked for.
    """
    if isinstance(facts, EventFacts):
        return EventTwin.of(facts, sizes, ESTIMANDS[task.key])
    if task.data is DataType.RECORDS:
        kind = LabelledTwin if task is RISK_MINIMISATION else RecordTwin
        return kind(facts, sizes)
    twin = Twin.of(facts, sizes, facts.reading_sd or None)
    if task.argument is Argument.TWO_TIMES:
        return VaryingTwin(twin)
    if task.argument is Argument.NOTHING:
        return NumberTwin(twin)
    return CovariateTwin(twin, facts) if facts.covariates else twin


@dataclass(frozen=True)
class VaryingTwin(SimulatedTwin):
    """Curves of a twin, and their variance at each time, from many more of them."""

    curves: Twin

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        many = replace(self.curves, people=(_FOR_TRUTH,), stated=replace(
            self.curves.stated, observations_per_curve=self.curves.n_observations))
        times = tuple(drawing_grid().tolist())
        variance = many.draw(1, rng).on_grid(times).var(axis=1)[0]
        return (self.curves.draw(n_repeats, rng),
                np.broadcast_to(variance, (n_repeats, len(variance))))


@dataclass(frozen=True)
class NumberTwin(SimulatedTwin):
    """Numbers of people, and the mean over people of the means of their numbers: (repeats, 1)."""

    numbers: Twin

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        data = self.numbers.draw(n_repeats, rng)
        per_person = data.values.reshape(n_repeats, data.n_curves, -1).mean(axis=2)
        return data, np.asarray(per_person.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class CovariateTwin(SimulatedTwin):
    """Curves with covariates that are evenly spread over their stated ranges and have no effect.

    What a release shows of effects beside zero is noise.
    """

    curves: Twin
    stated: PublicFacts

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[CurveData, Array]:
        data = self.curves.draw(n_repeats, rng)
        low, high = np.array([(c.low, c.high) for c in self.stated.covariates]).T
        covariates = low + (high - low) * rng.random((n_repeats, data.n_curves, len(low)))
        facts = replace(data.facts, covariates=self.stated.covariates)
        baseline = self.curves.truth.grid_values
        truth = np.concatenate([baseline[None], np.zeros((len(low), len(baseline)))])
        return (replace(data, covariates=covariates, truth=None, facts=facts),
                np.broadcast_to(truth, (n_repeats, *truth.shape)))


@dataclass(frozen=True)
class RecordTwin(SimulatedTwin):
    """Records of one number that gather at three equal bumps; their density is known."""

    stated: PublicFacts
    sizes: Sizes

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        size = (n_repeats, self.sizes.n_curves)
        unit = _BUMPS[rng.integers(len(_BUMPS), size=size)]
        unit = np.clip(unit + _BUMP_SD * rng.standard_normal(size), 0, 1)
        z = (drawing_grid()[:, None] - _BUMPS) / _BUMP_SD
        density = (np.exp(-z * z / 2) / (_BUMP_SD * math.sqrt(2 * math.pi))).mean(axis=1)
        return self._records(unit), np.broadcast_to(density, (n_repeats, len(density)))

    def with_peaks(self, count: int) -> tuple[RecordTwin, Array]:
        """These records as they are: they have three peaks, however many are asked for."""
        return self, _BUMPS

    def _records(self, unit: Array, response: Array | None = None) -> SampleData:
        """Records of numbers (repeats, n) on [0, 1], in the unit of the stated range."""
        feature = self.stated.covariates[0]
        x = (feature.low + (feature.high - feature.low) * unit)[..., None]
        server = np.repeat(np.arange(self.sizes.n_servers), self.sizes.n_curves_per_server)
        return SampleData(x, response, server, replace(self.stated, covariates=(feature,)))


@dataclass(frozen=True)
class LabelledTwin(RecordTwin):
    """Records of one number and a response that follows three bumps; what predicts it is known.

    Responses spread about the bumps as a sixth of half their range; of two classes the odds follow
    them.
    """

    def simulated(self, n_repeats: int, rng: np.random.Generator) -> tuple[SampleData, Array]:
        stated, unit = self.stated, rng.random((n_repeats, self.sizes.n_curves))
        height, truth = _bumpy(unit), _bumpy(drawing_grid())
        if stated.two_classes:
            is_one = rng.random(unit.shape) < expit(_ODDS * (2 * height - 1))
            response = np.where(is_one, stated.value_high, stated.value_low)
            truth = _ODDS * (2 * truth - 1)
        else:
            middle, half = stated.value_middle, stated.value_half_width
            noise = _SPREAD * rng.standard_normal(unit.shape)
            response = np.clip(middle + half * ((height - 0.5) + noise), stated.value_low,
                               stated.value_high)
            truth = middle + half * (truth - 0.5)
        return self._records(unit, response), np.broadcast_to(truth, (n_repeats, len(truth)))


def _bumpy(unit: Array) -> Array:
    """Three bumps of height one, at places on [0, 1]."""
    z = (unit[..., None] - _BUMPS) / (2 * _BUMP_SD)
    return np.asarray(np.exp(-z * z / 2).sum(axis=-1))
