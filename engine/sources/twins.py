"""The twin for each task: data simulated from stated facts, of which its truth is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.tasks import RISK_MINIMISATION, Argument, DataType, Task
from engine.core.types import Array, CurveData, EventFacts, PublicFacts, Sizes
from engine.numerics.counts.estimands import ESTIMANDS
from engine.sources.event_twin import EventTwin
from engine.sources.record_twin import LabelledTwin, RecordTwin
from engine.sources.twin import SimulatedTwin, Twin

_FOR_TRUTH = 2000  # curves behind the variance of a twin


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
