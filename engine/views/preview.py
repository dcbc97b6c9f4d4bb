"""Everything one picture shows: what would be published, at every budget of the slider.

A preview is for looking. It is simulated with a known seed, shares its noise across budgets so
that the slider moves smoothly, and shows the curator's own curves: never a release.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bands import limits
from engine.errors import InputError
from engine.experiments import DATA_STREAM, NOISE_STREAM, generator
from engine.feasibility import Feasibility
from engine.mechanisms import Mechanism, mechanisms
from engine.metrics import integrated_squared_errors, typical_distance
from engine.numerics.grids import drawing_grid
from engine.sources import Source
from engine.types import Array, Budget, CurveData, Estimate, Spend

EPSILON_STEPS = (0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2,
                 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
SHOWN_DRAWS = 20
_DRAWS = 100  # releases of the shown curves behind the noise range
REPEATS = 100  # fresh data sets behind the errors, where curves are simulated
_REPEATS_QUICK = 60  # behind comparisons
_EVERY = 3  # of the budgets, where doubling is simulated
MOST_READINGS = 2_000_000  # of one data set on screen
_STUDY_READINGS = 1_000_000  # of all data sets of a study
_FEWEST_RELEASES = 20
_MOST_WORK = 2e8  # gradient entries one preview may cost; fewer draws are made beyond
_SHOWN, _STUDY = 0, 1  # block numbers of the two random streams


@dataclass(frozen=True)
class Study:
    """Errors at every budget, as distances in response units, and what they are made of.

    `errors` (budgets, releases): from the truth where it is known, else from the average without
    protection. `floor`: the median error without protection, where the truth is known. `shares`
    (budgets, 3): privacy noise, sampling, smoothing and clipping, as shares of squared error.
    """

    errors: Array
    floor: float | None
    shares: Array

    @property
    def typical(self) -> Array:
        """The median error at each budget: half of the releases are closer."""
        return np.asarray(np.median(self.errors, axis=1))

    def quantile(self, level: float) -> Array:
        return np.asarray(np.quantile(self.errors, level, axis=1))


@dataclass(frozen=True)
class PlausibleBand:
    """Limits that come with every release, `low` and `high` (budgets, SHOWN_DRAWS, GRID_SIZE).

    `without` (GRID_SIZE,) is the half-width of the same band around the average without protection;
    `kind` is "pointwise" or "simultaneous", `waves` (budgets,) how many functions are kept. NaN
    where nothing is published.
    """

    low: Array
    high: Array
    without: Array
    kind: str
    waves: tuple[int, ...]


@dataclass(frozen=True, eq=False)  # known by itself: what was made of it is kept beside it
class Preview:
    """One data set with its possible releases at every budget.

    `releases` (budgets, SHOWN_DRAWS, GRID_SIZE), `noise_low` and `noise_high` (budgets,
    GRID_SIZE): the middle 95 of 100 simulated releases; `without` and `sampling` (GRID_SIZE,): the
    average without protection and the half-width of its sampling range; all in response units on
    `times` (GRID_SIZE,) in their own unit.

    `band` is where each release itself says that the true curve plausibly lies; `planned`
    (budgets,) the error that privacy was expected to add, a distance, NaN where there is no rule.
    """

    data: CurveData
    budgets: tuple[Budget, ...]
    times: Array
    releases: Array
    noise_low: Array
    noise_high: Array
    without: Array
    sampling: Array
    truth: Array | None
    spends: tuple[tuple[Spend, ...], ...]
    tuning: tuple[dict[str, object], ...]
    study: Study
    feasibility: tuple[Feasibility | None, ...]
    planned: Array
    band: PlausibleBand | None = None

    def is_refused(self, budget: int) -> bool:
        """Whether nothing would be published at this budget, because nothing useful could be."""
        verdict = self.feasibility[budget]
        return verdict is not None and not verdict.is_feasible

    @property
    def published(self) -> NDArray[np.bool_]:
        """The budgets at which something would be published: (budgets,)."""
        return np.array([not self.is_refused(k) for k in range(len(self.budgets))])


@dataclass(frozen=True)
class Draws:
    """The releases behind typical errors, as curves on the drawing grid, in response units.

    `curves` (budgets, draws, GRID_SIZE), `without` (data sets, GRID_SIZE) and `reference`
    (GRID_SIZE,), which they are compared with: the truth, or where there is none the average
    without protection. `times` (GRID_SIZE,) are in their own unit.
    """

    times: Array
    curves: NDArray[np.float32]
    without: Array
    reference: Array
    is_truth: bool


def preview(source: Source, mechanism: Mechanism, delta: float, seed: int,
            epsilons: Sequence[float] = EPSILON_STEPS) -> Preview:
    """Draw, release at every ε, and measure.

    Raises
    ------
    InputError
        Whatever the mechanism refuses: δ = 0, too few curves for the rounds, and so on.
    """
    budgets = tuple(Budget(epsilon, delta) for epsilon in epsilons)
    if source.sizes.n_observations > MOST_READINGS:
        raise InputError(
            f"These sizes make {source.sizes.n_observations:,} readings; a picture is drawn of at "
            f"most {MOST_READINGS:,}.", field="n_curves",
            hint="Take fewer people or readings here, or run it on the command line.")
    data, estimate = on_screen(source, mechanism, budgets, seed)
    without = mechanism.without_protection(data)
    grid = drawing_grid()
    curves = estimate.values(grid)[:, 0]
    return Preview(
        data=data, budgets=budgets, times=data.facts.from_unit_time(grid),
        releases=curves[:, :SHOWN_DRAWS], without=without.values(grid)[0, 0, 0],
        sampling=_half_width(without, "pointwise"), band=_plausible(estimate, without),
        noise_low=np.quantile(curves, 0.025, axis=1), noise_high=np.quantile(curves, 0.975, axis=1),
        truth=None if data.truth is None else data.truth.grid_values, spends=estimate.spends,
        tuning=estimate.tuning or ({},) * len(budgets),  # a method may have none
        feasibility=tuple(mechanism.feasibility(data.sizes, (b,)) for b in budgets),
        planned=np.array([_planned(mechanism, data, b) for b in budgets]),
        study=(simulated_study(source, mechanism, budgets, seed) if source.is_random
               else _study_of_real_curves(estimate, without)))


def with_own_budget(steps: Preview, source: Source, mechanism: Mechanism, seed: int,
                    epsilon: float) -> Preview:
    """The same picture with one more budget put in, of which only that one is computed.

    It is computed beside the last step, which draws the same noise for both as all steps have.
    """
    last = steps.budgets[-1]
    own = preview(source, mechanism, last.delta, seed, (epsilon, last.epsilon))
    k = int(np.searchsorted([budget.epsilon for budget in steps.budgets], epsilon))

    def put(field: str, into: Any, of: Any) -> Any:
        values, one = getattr(into, field), getattr(of, field)
        if isinstance(values, tuple):
            return (*values[:k], one[0], *values[k:])
        return np.insert(values, k, one[0], axis=0)

    def all_put(into: Any, of: Any, *names: str) -> Any:
        return replace(into, **{name: put(name, into, of) for name in names})

    band = None if steps.band is None else all_put(steps.band, own.band, "low", "high", "waves")
    study = all_put(steps.study, own.study, "errors", "shares")
    return replace(all_put(steps, own, "budgets", "releases", "noise_low", "noise_high", "spends",
                           "tuning", "feasibility", "planned"), band=band, study=study)


def at_budget(source: Source, mechanism: Mechanism, budget: Budget, seed: int) -> Preview:
    """The picture with all steps of the slider, and with this budget if it is none of them."""
    steps = preview(source, mechanism, budget.delta, seed)
    if budget.epsilon in EPSILON_STEPS:
        return steps
    return with_own_budget(steps, source, mechanism, seed, budget.epsilon)


def _half_width(without: Estimate, kind: str) -> Array:
    """Of a band around the average without protection: (GRID_SIZE,)."""
    assert without.band is not None
    low, high = limits(without, replace(without.band, kind=kind))
    return np.asarray((high - low)[0, 0, 0] / 2)


def _plausible(estimate: Estimate, without: Estimate) -> PlausibleBand | None:
    """The bands of the releases that are shown."""
    if estimate.band is None:
        return None
    low, high = limits(estimate, estimate.band.of(slice(None), 0, slice(SHOWN_DRAWS)))
    kind = estimate.band.kind
    return PlausibleBand(low, high, _half_width(without, kind), kind, estimate.kept)


def _planned(mechanism: Mechanism, data: CurveData, budget: Budget) -> float:
    """The distance from the true curve that privacy is expected to add."""
    squared = mechanism.expected_error(data.sizes, (budget,), data.facts)
    return math.nan if squared is None else math.sqrt(squared)


def _affordable(data: CurveData, budgets: Sequence[Budget]) -> int:
    """Draws per budget: fewer for very many curves, so that the picture stays prompt."""
    rounds_times_size = 50
    return int(np.clip(_MOST_WORK / (data.n_curves * rounds_times_size * len(budgets)),
                       SHOWN_DRAWS, _DRAWS))


def simulated_study(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int,
                    repeats: int = REPEATS) -> Study:
    """Errors from the truth over fresh data sets, usually one release of each."""
    data, estimate = simulated(source, mechanism, budgets, seed, repeats)
    without = integrated_squared_errors(mechanism.without_protection(data), data.truth).total
    total = integrated_squared_errors(estimate, data.truth).total
    assert without is not None and total is not None and data.truth is not None
    return Study(typical_distance(total.reshape(len(budgets), -1)),
                 float(np.median(typical_distance(without))),
                 _shares(estimate, *estimate.project(data.truth)))


def typical_errors(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int,
                   repeats: int) -> Array:
    """Distances of releases from the truth: (budgets, data sets, releases of each)."""
    data, estimate = simulated(source, mechanism, budgets, seed, repeats)
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None
    return typical_distance(total)


def errors_and_shares(source: Source, mechanism: Mechanism, budget: Budget, seed: int,
                      repeats: int) -> tuple[Array, Array]:
    """Distances from the truth at one budget, (data sets, releases of each), and their `shares`.

    Shares (3,) are those of `Study`.
    """
    data, estimate = simulated(source, mechanism, [budget], seed, repeats)
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None and data.truth is not None
    return typical_distance(total)[0], _shares(estimate, *estimate.project(data.truth))[0]


def squared_parts(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int,
                  repeats: int) -> Array:
    """Mean squared error split into privacy noise, sampling, and bias: (budgets, 3)."""
    data, estimate = simulated(source, mechanism, budgets, seed, repeats)
    total = integrated_squared_errors(estimate, data.truth).total
    assert total is not None and data.truth is not None
    shares = _shares(estimate, *estimate.project(data.truth))
    return np.asarray(shares * total.mean(axis=(1, 2))[:, None])


def simulated(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int,
              repeats: int) -> tuple[CurveData, Estimate]:
    """Fresh data sets and their releases; very large ones are drawn less and released more."""
    data = _fresh(source, seed, repeats)
    return data, _released(data, mechanism, budgets, seed)


def _fresh(source: Source, seed: int, repeats: int) -> CurveData:
    """Data sets of a study."""
    repeats = int(np.clip(_STUDY_READINGS // source.sizes.n_observations, 2, repeats))
    data = source.draw(repeats, generator(seed, DATA_STREAM, _STUDY))
    if data.truth is None:
        raise ValueError("a simulated source must know its truth")
    return data


def _released(data: CurveData, mechanism: Mechanism, budgets: Sequence[Budget], seed: int
              ) -> Estimate:
    """Their releases, at least twenty over all data sets."""
    draws = -(-_FEWEST_RELEASES // data.n_repeats)
    return mechanism.release_many(data, [(b,) for b in budgets], draws,
                                  generator(seed, NOISE_STREAM, _STUDY))


def _shares(estimate: Estimate, best: Array, tail: Array) -> Array:
    """Squared error split by the noise-free steps: noise, spread over data sets, and bias."""
    distance, quiet = estimate.squared_distance, estimate.unprotected
    repeats = quiet.shape[1]
    centre = quiet.mean(axis=1, keepdims=True)
    sampling = distance(quiet - centre).sum(axis=1) / max(repeats - 1, 1)
    bias = np.maximum(distance(centre[:, 0] - best) - sampling / repeats, 0) + tail.sum()
    privacy = distance(estimate.coefficients - quiet[:, :, None]).mean(axis=(1, 2))
    parts = np.stack([privacy, sampling, bias], axis=1)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _study_of_real_curves(estimate: Estimate, without: Estimate) -> Study:
    """Errors from the average without protection, over releases of the same curves."""
    target = without.values(drawing_grid())[0, 0, 0]
    quiet = estimate.on_grid(estimate.unprotected[:, 0], drawing_grid())
    bias = ((quiet - target) ** 2).mean(axis=-1)
    privacy = estimate.basis.squared_distance(
        estimate.coefficients[:, 0] - estimate.unprotected[:, 0][:, None]).mean(axis=1)
    parts = np.stack([privacy, np.zeros_like(bias), bias], axis=1)
    return Study(_distances(estimate, target), None, parts / parts.sum(axis=1, keepdims=True))


def _distances(estimate: Estimate, target: Array) -> Array:
    """From a curve (GRID_SIZE,), or one for each function, for every budget and draw.

    Of the first data set; squares are summed over functions.
    """
    squared = ((estimate.values(drawing_grid())[:, 0] - target) ** 2).mean(axis=-1)
    return typical_distance(squared.sum(axis=-1) if estimate.functions else squared)


def drawn(source: Source, mechanism: Mechanism, beside: Mechanism, budgets: Sequence[Budget],
          seed: int) -> Draws:
    """The same releases that `Study.errors` measures, one of each fresh data set or many of one.

    Real curves are compared with what `beside` makes of them without protection.
    """
    grid = drawing_grid()
    if source.is_random:
        data, estimate = simulated(source, mechanism, budgets, seed, REPEATS)
        assert data.truth is not None
        reference = data.truth.grid_values
        without = mechanism.without_protection(data).values(grid)[0, :, 0]
    else:
        data, estimate = on_screen(source, mechanism, budgets, seed)
        without = beside.without_protection(data).values(grid)[0, :, 0]
        reference = without[0]
    curves = estimate.values(grid).reshape(len(budgets), -1, len(grid)).astype(np.float32)
    return Draws(data.facts.from_unit_time(grid), curves, without, reference,
                 data.truth is not None)


def study_beside(source: Source, mechanism: Mechanism, beside: Mechanism,
                 budgets: Sequence[Budget], seed: int) -> Study:
    """Errors from what another method would make of the same real curves without protection.

    So that methods side by side have one aim: each one's own would hide what its fit leaves out.
    """
    data, estimate = on_screen(source, mechanism, budgets, seed)
    return _study_of_real_curves(estimate, beside.without_protection(data))


def on_screen(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int
               ) -> tuple[CurveData, Estimate]:
    """The curves that are shown and their releases."""
    data = source.draw(1, generator(seed, DATA_STREAM, _SHOWN))
    return data, mechanism.release_many(data, [(b,) for b in budgets], _affordable(data, budgets),
                                        generator(seed, NOISE_STREAM, _SHOWN))


def other_methods(task: str, source: Source, mechanism: Mechanism, budgets: Sequence[Budget],
                  seed: int) -> dict[str, tuple[Mechanism, Array]]:
    """The typical error of every other method of the same task at the same budgets, by its label.

    Errors (budgets,) are those of `Study.typical`, on the same curves; NaN where a method publishes
    nothing. Methods that refuse these sizes or this δ are left out.
    """
    own, found = mechanism.nearest_preset()[0], {}
    data = (_fresh(source, seed, _REPEATS_QUICK) if source.is_random else
            source.draw(1, generator(seed, DATA_STREAM, _SHOWN)))
    for cls in mechanisms.for_task(task):
        for label, chosen in cls.presets_for(task):
            other = cls(**chosen).comparable(source.facts)
            if type(mechanism) is cls and own == label:
                continue
            with contextlib.suppress(InputError):
                found[label] = (other, _typical(data, other, mechanism, budgets, seed))
    return found


def _typical(data: CurveData, other: Mechanism, asked: Mechanism, budgets: Sequence[Budget],
             seed: int) -> Array:
    """Typical errors of another method, where it publishes anything."""
    if data.truth is not None:
        estimate = _released(data, other, budgets, seed)
        total = integrated_squared_errors(estimate, data.truth).total
        assert total is not None
        typical = np.median(typical_distance(total.reshape(len(budgets), -1)), axis=1)
    else:
        target = asked.without_protection(data).values(drawing_grid())[0, 0, 0]
        estimate = other.release_many(data, [(b,) for b in budgets], _FEWEST_RELEASES,
                                      generator(seed, NOISE_STREAM, _SHOWN))
        typical = np.median(_distances(estimate, target), axis=1)
    verdicts = [other.feasibility(data.sizes, (budget,)) for budget in budgets]
    return np.where([v is None or v.is_feasible for v in verdicts], typical, np.nan)


def if_doubled(source: Source, mechanism: Mechanism, budgets: Sequence[Budget], seed: int
               ) -> dict[str, Array]:
    """Relative change of the typical error at every budget if people, readings or ε were doubled.

    Only for simulated curves, whose sizes can be changed; the same seed keeps chance common. It is
    simulated at every third budget and read off between them.
    """
    some = [*budgets[::_EVERY], *budgets[len(budgets) - 1:]]

    def typical(changed: Source, at: Sequence[Budget]) -> Array:
        once = list(dict.fromkeys(at))  # many steps of the slider are twice another one
        errors = typical_errors(changed, mechanism, once, seed, _REPEATS_QUICK)
        medians = np.median(errors.reshape(len(once), -1), axis=1)
        return medians[[once.index(budget) for budget in at]]

    def with_twice(symbol: str) -> Source:
        name = next(p.name for p in source.parameters() if p.symbol == symbol)
        return replace(source, **{name: 2 * getattr(source, name)})

    now, twice = np.split(typical(source, [*some, *(replace(b, epsilon=2 * b.epsilon)
                                                    for b in some)]), 2)
    changes = {"epsilon": twice / now - 1}
    for what, symbol in (("people", "n"), ("readings", "m")):
        with contextlib.suppress(InputError):  # beyond what can be simulated
            changes[what] = typical(with_twice(symbol), some) / now - 1
    return {what: _between(budgets, some, relative) for what, relative in changes.items()}


def _between(budgets: Sequence[Budget], some: Sequence[Budget], values: Array) -> Array:
    """Values known at some budgets, on straight lines between them over log ε."""
    return np.interp([math.log(b.epsilon) for b in budgets], [math.log(b.epsilon) for b in some],
                     values)
