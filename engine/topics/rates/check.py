"""Does a rate hold at these sizes, and do limits hold the truth? Both questions in one run.

Errors are measured along one symbol of the rate, by every method that is asked about; then limits
are given again and again on fresh data, and misses counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.core.errors import InputError, brief
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.univariate_mean import Setting as Trusted
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.rates import Rate
from engine.rates.fitted import Weighted
from engine.rates.univariate_mean import RateSetting
from engine.simulation import studies
from engine.simulation.studies import FRESH
from engine.sources.numbers import Numbers
from engine.topics.coverage.answer import EACH, REPEATS, CoverageAnswer, Experiment, repetitions
from engine.topics.planning.answer import PlannedStudy
from engine.topics.rates.answer import Comparison, MeasuredError, compare, sweep

DATA_SETS = studies.MAX_DATA_SETS  # at every value of the symbol, of few observations

Part = tuple[int, MeasuredError | CoverageAnswer]  # and to which method a measured error belongs


@dataclass(frozen=True)
class RateCheck:
    """A question about a rate at a `point`.

    Each of `settings` is one method, on the same data; `values` are those of the `symbol`. Without
    `values` no slope is measured, without `limits` no misses are counted.
    """

    rate: Rate
    point: Mapping[str, float]
    symbol: str
    settings: tuple[PlannedStudy, ...] = ()
    values: tuple[float, ...] = ()
    limits: Experiment | None = None
    seed: int = 1

    @property
    def steps(self) -> int:
        """The number of parts of a run."""
        counted = 0 if self.limits is None else REPEATS // EACH
        return len(self.settings) * len(self.values) + counted

    @property
    def simulated(self) -> tuple[object, ...]:
        """All that numbers depend on: the rate itself is only compared with them."""
        return self.settings, self.symbol, self.values, self.limits, self.seed


@dataclass(frozen=True)
class Measurements:
    """Results of a run so far: measured errors of each method, and the limits."""

    points: tuple[tuple[MeasuredError, ...], ...]
    limits: CoverageAnswer | None

    def compared(self, request: RateCheck) -> list[Comparison | None]:
        """Compare the slope of each method with that of the rate."""
        return [
            compare(errors, request.rate, request.symbol, request.point) for errors in self.points
        ]


def check(request: RateCheck) -> Iterator[Part]:
    """Measure all errors, method by method, then the limits, some at a time."""
    for k, setting in enumerate(request.settings):
        dial = request.rate.dials[request.symbol]
        for measured in sweep(setting, dial, request.values, request.seed):
            yield k, measured
    if request.limits is not None:
        for batch in repetitions(request.limits):
            yield -1, batch


class RatesAnswer(NamedTuple):
    """The terms of a rate at a point, and what was measured of it, if anything was asked."""

    weighted: Weighted
    point: Mapping[str, float]
    request: RateCheck
    measured: Measurements | None


def terms(
    rate: Rate,
    point: Mapping[str, float],
    privacy_share: float | None = None,
    symbol: str = "",
    settings: Sequence[PlannedStudy] = (),
    values: Sequence[float] = (),
    limits: Experiment | None = None,
    seed: int = 1,
) -> RatesAnswer:
    """The terms of a rate, so weighted that privacy has its measured share of the squared error.

    Parameters
    ----------
    point : mapping of str to float
        Sizes and budgets by the names of symbols; those left out take their usual values.
    privacy_share : float, optional
        Share of the squared error that is due to privacy; without it all constants are one.
    settings : sequence of PlannedStudy
        The methods whose errors are measured, which takes some seconds.
    limits : Experiment, optional
        Limits whose misses are counted as well.
    """
    names = [known.name for known in rate.symbols]
    for name, value in {**point, **({symbol: 1.0} if settings else {})}.items():
        if name not in names or not 0 <= value < math.inf:
            raise InputError(
                f"This rate takes no {brief(name)} of {value:g}.",
                field="point",
                hint=f"It has {', '.join(names)}, none of them below 0.",
            )
    weighted = (
        Weighted.plain(rate)
        if privacy_share is None
        else Weighted.with_privacy_share(rate, privacy_share, **point)
    )
    request = RateCheck(rate, point, symbol, tuple(settings), tuple(values), limits, seed)
    measured = joined(request, list(check(request))) if request.steps else None
    return RatesAnswer(weighted, point, request, measured)


def joined(request: RateCheck, parts: Sequence[Part]) -> Measurements:
    """Join the parts of a run."""
    batches = [part for _, part in parts if isinstance(part, CoverageAnswer)]
    points = tuple(
        tuple(part for of, part in parts if of == k and isinstance(part, MeasuredError))
        for k in range(len(request.settings))
    )
    return Measurements(points, CoverageAnswer.joined(batches) if batches else None)


# -- estimates of a simulated mean of numbers, one dot each, under every kind of trust -------------


_MAX_DOTS = 40
_FEWEST_DOTS = 8
_MAX_NUMBERS = 4_000_000  # of all data sets


@dataclass(frozen=True)
class ByEye:
    """Estimates of a mean that is known, each from a data set of its own."""

    truth: float  # the mean, in a range of length one
    estimates: Mapping[Trusted, Array]  # mapping of Setting to (dots,): in the order of the slides


def by_eye(people: int, numbers: int, epsilon: float, seed: int) -> ByEye:
    """Draw n numbers of each of S people or sites; estimate their mean under every kind of trust.

    At most 40 dots for each setting, fewer of many numbers; δ = 0, and all see the same data sets.

    Examples
    --------
    >>> shown = by_eye(50, 20, 1.0, 1)
    >>> shown.estimates["none"].shape
    (40,)
    """
    dots = min(_MAX_DOTS, _MAX_NUMBERS // (people * numbers))
    if dots < _FEWEST_DOTS:
        raise InputError(
            f"Dots are drawn of at most {_MAX_NUMBERS // _FEWEST_DOTS:,} numbers; "
            f"these sizes make {people * numbers:,}.",
            field="n",
            hint="Take fewer people or fewer numbers each.",
        )
    source = Numbers(n_servers=people, n_items=numbers)
    data = source.draw(dots, generator(seed, DATA_STREAM, FRESH))
    estimates = {}
    for setting in dict.fromkeys(setting.mechanism for setting in RateSetting):
        released = UnivariateMean.independent(setting).release_many(
            data, [(Budget(epsilon),)], 1, generator(seed, NOISE_STREAM, FRESH)
        )
        estimates[setting] = np.asarray(released.values(np.zeros(1))[0]).reshape(dots)
    return ByEye(source.true_mean, estimates)
