"""The error under CDP, FDP, LDP and no privacy, over ε or people: measured, and by the rates.

Sizes are those of the rate's example. Data, seed and budgets are shared by all kinds of trust, so
that who holds the people, and what follows from it, is all that differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, Budget, PublicFacts
from engine.mechanisms.study import Study
from engine.rates import Rate, Symbol
from engine.rates.fitted import FEWEST_POINTS, Weighted, fit
from engine.rates.trusted import ByTrust, Custody, Trust, TrustedRate
from engine.simulation import metrics, studies
from engine.simulation.experiments import mean_and_se
from engine.topics.rates.answer import MeasuredError, compare_lines

SYMBOLS = ("epsilon", "n")  # that can be moved
_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # times the people, or what each of them has
_DATA_SETS = 8  # at least
_ANY_DELTA = 1e-6
BENDS = 0.1  # local slopes of a rate that differ by more are no straight line


@dataclass(frozen=True)
class TrustCheck:
    """A question about a rate under every kind of trust, along ε or n."""

    rate: Rate
    symbol: str
    seed: int = 1

    @cached_property
    def example(self) -> ByTrust:
        example = self.rate.by_trust()
        assert example is not None and self.symbol in SYMBOLS
        return example

    @property
    def kinds(self) -> tuple[TrustedRate, ...]:
        return self.example.kinds

    @property
    def facts(self) -> PublicFacts:
        return self.example.source.facts

    @property
    def values(self) -> tuple[float, ...]:
        """The values of the symbol at which errors are measured."""
        if self.symbol == "epsilon":
            return tuple(e for e in _EPSILONS if e >= self.example.lowest_epsilon)
        return tuple(float(round(factor * self.sizes["n"])) for factor in _FACTORS)

    @property
    def sizes(self) -> dict[str, float]:
        """The public sizes of the example, by the names of symbols."""
        sizes = self.example.source.sizes
        n = (
            sizes.n_observations_per_curve
            if self.moves_observations
            else min(sizes.n_curves_per_server)
        )
        return {
            "n": float(n),
            "S": float(sizes.n_servers),
            "m": float(sizes.n_observations_per_curve),
            "d": float(sizes.n_covariates),
            "s": 5.0,
        }

    @property
    def moves_observations(self) -> bool:
        return self.rate.dials.get("n") == "readings"

    @property
    def steps(self) -> int:
        """The number of parts of a run."""
        measured = sum(kind.mechanism is not None for kind in self.kinds)
        return measured * (1 if self.symbol == "epsilon" else len(self.values))

    def at(self, value: Any) -> dict[str, Any]:
        """Return the point of the problem at a value of the symbol."""
        return {**self.sizes, "epsilon": self.example.epsilon, self.symbol: value}


Part = tuple[int, tuple[MeasuredError, ...]]  # and to which kind of trust the errors belong


def check_by_trust(request: TrustCheck) -> Iterator[Part]:
    """Measure errors kind by kind; all values of ε at once, on the same data."""
    for k, kind in enumerate(request.kinds):
        if kind.mechanism is None:
            continue
        if request.symbol == "epsilon":
            yield k, _measured(request, kind, request.at(1.0), request.values)
            continue
        for value in request.values:
            (error,) = _measured(request, kind, request.at(value), [request.example.epsilon])
            yield k, (MeasuredError(value, error.mean, error.se),)


def _measured(
    request: TrustCheck, kind: TrustedRate, point: Mapping[str, float], epsilons: Sequence[float]
) -> tuple[MeasuredError, ...]:
    """Measure the squared error at every ε; NaN where nothing is published."""
    mechanism, n, sites = kind.mechanism, round(point["n"]), round(point["S"])
    assert mechanism is not None
    source = request.example.source
    people = n * sites
    if request.moves_observations:
        of_kind = source.resized(1, n, sites)
    else:
        per_site, number = kind.custody.sizes(n, sites)
        if kind.custody is Custody.DEVICES and mechanism.as_one_centre(
            people, Budget(1.0, _ANY_DELTA), source.facts
        ):
            per_site, number = people, 1
        try:
            of_kind = source.resized(per_site, round(point["m"]), number)
        except InputError:  # more devices than can be simulated
            return tuple(MeasuredError(epsilon, math.nan, math.nan) for epsilon in epsilons)
    delta = mechanism.delta(people, request.example.delta).value
    budgets = [Budget(epsilon, delta) for epsilon in epsilons]
    if kind.custody is Custody.DEVICES:
        budgets = [mechanism.as_one_centre(people, b, source.facts) or b for b in budgets]
    several = range(1 if studies.data_sets(of_kind) >= _DATA_SETS else _DATA_SETS)
    each = [
        Study(source=of_kind, mechanism=mechanism, budgets=(budgets[-1],), seed=request.seed + k)
        for k in several
    ]
    squares = [
        _without_privacy(study, len(epsilons))
        if kind.trust is Trust.NONE
        else _squares(study, budgets)
        for study in each
    ]
    return tuple(
        _summary(epsilon, np.concatenate(of_budget))
        for epsilon, *of_budget in zip(epsilons, *squares, strict=True)
    )


def _squares(study: Study[Any], budgets: Sequence[Budget]) -> list[Array]:
    """Squared errors (data sets, releases) at every budget, on the same data."""
    drawn = studies.data(study)
    errors = studies.errors(study, drawn, [(budget,) for budget in budgets])
    return [np.asarray(each**2) for each in errors]


def _without_privacy(study: Study[Any], count: int) -> list[Array]:
    """Squared errors (data sets, 1) of the method's own estimate without noise, at any ε."""
    drawn = studies.data(study)
    truth = study.mechanism.truth_of(drawn)
    assert truth is not None  # examples are simulated
    estimate = study.mechanism.without_protection(drawn)
    squares = metrics.errors_by_function(estimate, truth)[0].sum(axis=-1)
    return [np.asarray(squares)] * count


def _summary(value: float, squares: Array) -> MeasuredError:
    if not np.isfinite(squares).all():
        return MeasuredError(value, math.nan, math.nan)
    summary = mean_and_se(squares)
    return MeasuredError(value, float(summary["mean"] or 0.0), float(summary["se"] or 0.0))


# -- beside the rates -----------------------------------------------------------------------------


@dataclass(frozen=True)
class TrustLine:
    """One kind of trust: its measured errors, its rate with fitted constants, and both slopes."""

    kind: TrustedRate
    points: tuple[MeasuredError, ...]
    grid: Array  # values of the symbol at which the rate is drawn
    line: Array | None  # the rate there; None without enough measured errors
    is_private: Array | None  # (grid,): whether a term of privacy is the largest
    elbows: tuple[tuple[float, float], ...]  # where the largest term changes
    slope: tuple[float, float] | None  # measured, with the half width of its 95 % interval
    theory: float  # the slope of the rate over the same values
    local: tuple[float, float]  # slopes of the rate at the first and at the last of them

    @property
    def known(self) -> list[MeasuredError]:
        return [p for p in self.points if math.isfinite(p.mean) and p.mean > 0]

    @property
    def is_bent(self) -> bool:
        """True if no one slope stands for the rate over the measured values."""
        return abs(self.local[1] - self.local[0]) > BENDS

    @property
    def ends(self) -> tuple[float, float]:
        """Measured slopes between the first and between the last two values."""
        x, y = np.log([(p.value, p.mean) for p in self.known]).T
        steps = np.diff(y) / np.diff(x)
        return float(steps[0]), float(steps[-1])


def lines(request: TrustCheck, parts: Sequence[Part]) -> list[TrustLine]:
    """Put the parts of a run beside the rates, kind by kind."""
    return [
        _line(request, kind, tuple(error for of, some in parts if of == k for error in some))
        for k, kind in enumerate(request.kinds)
    ]


def _line(request: TrustCheck, kind: TrustedRate, points: tuple[MeasuredError, ...]) -> TrustLine:
    known = [p for p in points if math.isfinite(p.mean) and p.mean > 0]
    grid = np.geomspace(min(request.values), max(request.values), 121)
    if len(known) < FEWEST_POINTS:
        nothing = (math.nan, math.nan)
        return TrustLine(kind, points, grid, None, None, (), None, math.nan, nothing)
    x = np.array([p.value for p in known])
    weighted = _weighted(request, kind, x, np.array([p.mean for p in known]))

    def rate(values: Array) -> Array:
        point = _symbols(kind, request.at(values))
        return np.broadcast_to(weighted.evaluate(**point).sum(axis=0), np.shape(values))

    of_privacy = np.array([term.is_private for term in kind.rate.terms])
    ruling = np.broadcast_to(weighted.dominant(**_symbols(kind, request.at(grid))), grid.shape)
    changes = np.flatnonzero(ruling[1:] != ruling[:-1])
    middles = np.sqrt(grid[changes] * grid[changes + 1])
    slope, theory = compare_lines(known, np.log(rate(x)))
    return TrustLine(
        kind,
        points,
        grid,
        rate(grid),
        of_privacy[ruling] & (kind.trust is not Trust.NONE),
        tuple((float(at), float(rate(np.array([at]))[0])) for at in middles),
        slope,
        theory,
        (_local(rate, x[0]), _local(rate, x[-1])),
    )


def _local(rate: Any, x: float) -> float:
    """Slope of a rate at one value, on log scales."""
    step = 1e-3
    low, high = rate(np.array([x * math.exp(-step), x * math.exp(step)]))
    return float(math.log(high / low) / (2 * step))


def _symbols(kind: TrustedRate, point: Mapping[str, Any]) -> dict[str, Any]:
    names = {symbol.name for symbol in kind.rate.symbols}
    return {name: value for name, value in kind.point(point).items() if name in names}


def _weighted(request: TrustCheck, kind: TrustedRate, x: Array, squares: Array) -> Weighted:
    """Fit the constants of a rate; one where it hardly moves over the values."""
    point = _symbols(kind, request.at(x))
    fitted = fit(kind.rate, point, squares)
    if fitted is not None:
        return fitted.weighted
    plain = kind.rate.evaluate(**point).sum(axis=0)
    constant = float(np.exp(np.log(squares / plain).mean()))
    return Weighted(kind.rate, constant, constant)


def symbol_of(request: TrustCheck) -> Symbol:
    """Return the moved symbol, as the rate writes it."""
    return next(symbol for symbol in request.rate.symbols if symbol.name == request.symbol)
