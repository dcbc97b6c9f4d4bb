"""Planning: solve for the one size or budget that is left open, by simulation.

A plan is a question with five dials, ε, people on each site, observations, sites and the error, of
which four are given. The error is that of the study of each setting (`engine.simulation.studies`),
the number that every other page shows for it; it is measured at a few values of the open dial and
joined by straight lines over log scales, and the answer carries the error bar of what was measured.
Nothing here has seen anybody's data.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import InputError, brief
from engine.core.tasks import MEAN_FUNCTION, UNIVARIATE_MEAN
from engine.core.types import Array, Budget, EventFacts, PublicFacts, Spend
from engine.language.numbers import two_digits_up
from engine.mechanisms import Mechanism
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.study import Study
from engine.privacy import accounting, risk
from engine.privacy.failure import Delta
from engine.simulation import studies
from engine.simulation.metrics import Accuracy, distances, totals
from engine.sources import Source
from engine.sources.twin import Twin
from engine.sources.twins import EventStandIn, EventTwin
from engine.topics.mean.answer import MAX_READINGS
from engine.topics.planning.beyond import Beyond, beyond

DIALS = ("epsilon", "people", "readings", "sites", "error")
HIGHEST_EPSILON = 10.0
_DEFAULT_SHARE = 70  # of the range of the values, for a first target
_LOWEST = {"epsilon": 0.01, "people": 2.0, "readings": 1.0, "sites": 1.0}
_HIGHEST = {"epsilon": HIGHEST_EPSILON, "people": 20_000.0, "readings": 1000.0, "sites": 1000.0}
_MAX_READINGS = 1_000_000  # of one data set
_MAX_PEOPLE = 20_000  # in all, with a curve each
_MAX_RECORDS = 200_000  # in all, where everybody has a number or two
_CORRECTIONS = 4
_MIN_TARGET = 1e-12  # and its inverse the most: beyond, squares leave floating point
_MET = 0.005  # of log error: the target is met
_NEAR = 0.03  # of log error: the search is over
_MAX_STEPS = 12
_HAVE_LAWS = {MEAN_FUNCTION.key, UNIVARIATE_MEAN.key}  # by which their errors go on beyond
_CERTAIN = 2.58  # standard errors: 99 times in 100


@dataclass(frozen=True)
class PlannedStudy:
    """A study whose sizes and budget are dials, with its kind of curves and its method.

    `delta` None means the usual one for so many people in all, 0 where the method needs none.
    `function` names the one function of several whose error counts, such as "95 %" of percentile
    curves; empty for the error of all together.
    """

    source: Source[Any]
    mechanism: Mechanism
    epsilon: float = 1.0
    people: int = 200
    readings: int = 30
    sites: int = 1
    delta: float | None = None
    function: str = ""

    @classmethod
    def of(
        cls,
        source: Source[Any],
        mechanism: Mechanism,
        epsilon: float,
        delta: float | None = None,
        function: str = "",
    ) -> PlannedStudy:
        """Take the sizes of a source; people on each site are those of the smallest one.

        Of real curves only the facts and the sizes are used, which are public: by their twin. δ is
        that of all pages if it is left out.
        """
        if not source.is_random:
            source = _stand_in(source, mechanism)
        sizes = source.sizes
        return cls(
            source,
            mechanism,
            epsilon,
            min(sizes.n_curves_per_server),
            round(sizes.n_observations_per_curve),
            sizes.n_servers,
            delta,
            function,
        )

    @property
    def stated_delta(self) -> Delta:
        """δ by the rule of all pages."""
        return self.mechanism.delta(self.people * self.sites, self.delta)

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.stated_delta.value)

    @property
    def curves(self) -> Source[Any]:
        """The kind of curves, with these sizes."""
        return self.source.resized(self.people, self.readings, self.sites)

    def study(self, seed: int) -> Study[Any]:
        """Return the simulated study of this point."""
        return Study(
            source=self.curves, mechanism=self.mechanism, budgets=(self.budget,), seed=seed
        )

    def moved(self, dial: str, value: float) -> PlannedStudy:
        """Set one dial to another value; counts are rounded."""
        if dial == "epsilon":
            return replace(self, epsilon=float(f"{value:.6g}"))
        changed: dict[str, Any] = {dial: round(value)}
        return replace(self, **changed)

    @property
    def is_exact(self) -> bool:
        """True if a formula gives the error."""
        return self.mechanism.exact_risk(self.curves, (self.budget,)) is not None

    @property
    def n_readings(self) -> int:
        return self.people * self.sites * self.readings


def _stand_in(source: Source[Any], mechanism: Mechanism) -> Source[Any]:
    """Return a twin of people who are real."""
    facts = source.facts
    facts.check_stated()
    if isinstance(facts, EventFacts) and isinstance(mechanism, NoisyCounts):
        twin_of_events = EventTwin.of(facts, source.sizes, mechanism.estimand)
        return EventStandIn(twin=twin_of_events)
    twin = Twin.of(source.facts, source.sizes)
    if not mechanism.tasks & twin.tasks:
        raise InputError(
            "A plan simulates its data, and nothing stands in for these real ones.",
            field="source",
            hint="Choose simulated data with sizes like theirs.",
        )
    return twin


@dataclass(frozen=True)
class Measured:
    """The error at one setting, its 95 % value and its error bar.

    `log_se` is the standard error of the logarithm of `error`, `within` the distance that 95 % of
    releases stay within, NaN where a formula gives the error. Both distances are infinite where the
    method publishes nothing because nothing useful could be.
    """

    setting: PlannedStudy
    error: float
    log_se: float
    within: float = math.nan


@dataclass(frozen=True)
class Protection:
    """The budget asked for, the one proved, and what an attacker could gain, at the worst site."""

    budget: Budget
    proved: Budget
    odds: risk.Odds
    spends: tuple[Spend, ...] = ()

    def for_group(self, records: int) -> Protection:
        """Return the protection of a person with so many curves."""
        return replace(self, odds=risk.of_ledger(self.spends, records))

    @property
    def keeps_promise(self) -> bool:
        return self.proved.epsilon <= self.budget.epsilon


@dataclass(frozen=True)
class PlanningAnswer:
    """Answer to a question of planning.

    `value` is the dial's answer and `low` to `high` hold it 99 times in 100; all None where no
    allowed value will do. `reached` is the error at the answer (or at the most favourable value),
    `steps` the settings one step either way, and `fixes` which value of each other dial would do.
    `too_easy` says that even the least favourable value does; `protection` is that of the answer,
    `beside` that of each step where steps differ in ε, else empty. `baseline` is the error without
    privacy at the answer, None where it is unknown. `beyond` says what lies beyond the simulated
    values of every dial of which all are too few.
    """

    unknown: str
    target: float
    value: float | None
    low: float | None
    high: float | None
    reached: Measured
    steps: tuple[Measured, ...] = ()
    fixes: dict[str, float | None] | None = None
    too_easy: bool = False
    protection: Protection | None = None
    beside: tuple[Protection, ...] = ()
    baseline: float | None = None
    beyond: dict[str, Beyond] | None = None

    @property
    def is_extrapolated(self) -> bool:
        """True if only a value beyond the simulated ones reaches the target, by a scaling law."""
        extrapolation = (self.beyond or {}).get(self.unknown)
        return self.value is None and extrapolation is not None and extrapolation.value is not None

    @property
    def is_possible(self) -> bool:
        return self.value is not None

    def for_group(self, records: int) -> PlanningAnswer:
        """Return the answer for a person with so many curves."""
        protection = None if self.protection is None else self.protection.for_group(records)
        return replace(
            self,
            protection=protection,
            beside=tuple(step.for_group(records) for step in self.beside),
        )

    def rows(self) -> list[tuple[Measured, Protection | None]]:
        """List the answer and one step either way, in order; protections where they differ."""
        pairs = [
            (self.reached, self.protection if self.beside else None),
            *zip(self.steps, self.beside or [None] * len(self.steps), strict=True),
        ]
        return sorted(pairs, key=lambda row: float(getattr(row[0].setting, self.unknown, 0.0)))


def usual_target(facts: PublicFacts) -> float:
    """Propose a first error to ask for: a share of the stated range of values, with one digit."""
    return float(f"{(facts.value_high - facts.value_low) / _DEFAULT_SHARE:.1g}")


def plain(answer: PlanningAnswer) -> dict[str, Any]:
    """Convert an answer to plain values, for JSON; infinite errors become None."""

    def row(measured: Measured) -> dict[str, Any]:
        at = measured.setting
        return {
            "epsilon": at.epsilon,
            "people": at.people,
            "readings": at.readings,
            "sites": at.sites,
            "delta": at.budget.delta,
            "error": known(measured.error),
            "within_95": known(measured.within),
        }

    def known(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    return {
        "unknown": answer.unknown,
        "target": answer.target,
        "possible": answer.is_possible,
        "value": answer.value,
        "low": answer.low,
        "high": answer.high,
        "reached": row(answer.reached),
        "without_privacy": known(answer.baseline),
        "attacker_accuracy": None if answer.protection is None else answer.protection.odds.right,
        "steps": [row(step) for step in answer.steps],
        "fixes": answer.fixes,
        "beyond": {
            dial: asdict(extrapolation) for dial, extrapolation in (answer.beyond or {}).items()
        },
    }


def protection(setting: PlannedStudy, seed: int = 1) -> Protection:
    """Compute what one release at this setting proves, from its ledger, whatever the seed."""
    data = setting.curves.draw(1, np.random.default_rng(seed))
    estimate = setting.mechanism.release(data, (setting.budget,), np.random.default_rng(seed))
    spends = estimate.spends[0]
    proved = accounting.least_guarantee(spends)
    return Protection(setting.budget, proved, risk.of_ledger(spends), spends)


def plan(
    setting: PlannedStudy, unknown: str, target: float, seed: int = 1, with_fixes: bool = True
) -> Generator[Measured, None, PlanningAnswer]:
    """Answer one question; yields every measurement on the way and returns the answer.

    The search begins at the value of the unknown dial in `setting`.
    """
    _check(unknown, target)
    answer = yield from _solved(setting, unknown, target, seed, with_fixes)
    steps = answer.steps if unknown == "epsilon" else ()
    here = answer.reached.setting
    return replace(
        answer,
        protection=protection(here),
        beside=tuple(protection(step.setting) for step in steps),
        baseline=_baseline(here, seed),
    )


def plan_of(
    source: Source[Any],
    mechanism: Mechanism,
    epsilon: float,
    delta: float | None,
    unknown: str,
    target: float,
    seed: int = 1,
    function: str = "",
) -> Generator[Measured, None, PlanningAnswer]:
    """Find what an accuracy needs, with everything but one dial as in a source.

    Parameters
    ----------
    source : Source
        Curves whose sizes can be changed, or one's own.
    delta : float or None
        δ of every site; None for the rule of thumb, one over ten times the number of people.
    unknown : str
        What is solved for: one of `DIALS`, or "error".
    target : float
        The error to reach, in the unit of the values.
    function : str
        The one of several functions whose error counts, such as "95 %" of percentile curves; of
        all together if it is empty.

    Returns
    -------
    generator
        Of every measurement on the way; it returns the `PlanningAnswer`.
    """
    return plan(PlannedStudy.of(source, mechanism, epsilon, delta, function), unknown, target, seed)


def _solved(
    setting: PlannedStudy, unknown: str, target: float, seed: int, with_fixes: bool
) -> Generator[Measured, None, PlanningAnswer]:
    if unknown == "error":
        measured = measure(setting, seed)
        yield measured
        spread = math.exp(_CERTAIN * measured.log_se)
        known = math.isfinite(measured.error)
        return PlanningAnswer(
            unknown,
            measured.error,
            measured.error if known else None,
            measured.error / spread if known else None,
            measured.error * spread if known else None,
            measured,
        )
    searched = yield from _search(setting, unknown, target, seed)
    answer = yield from _answer(searched, unknown, target, seed)
    if not answer.is_possible:
        answer = _with_beyond(answer, seed)
    if with_fixes and not answer.is_possible:
        answer = yield from _with_fixes(answer, setting, seed)
    return answer


def _with_beyond(answer: PlanningAnswer, seed: int) -> PlanningAnswer:
    """Add what lies beyond the best value that was measured; nothing if nothing is published."""
    best = answer.reached
    if not math.isfinite(best.error):
        return answer
    if not best.setting.mechanism.tasks & _HAVE_LAWS:
        here = float(getattr(best.setting, answer.unknown))
        return replace(answer, beyond={answer.unknown: Beyond(here, here)})
    return replace(
        answer,
        beyond={
            answer.unknown: beyond(
                best.setting, answer.unknown, answer.target, best.error, seed + 2
            )
        },
    )


def _check(unknown: str, target: float) -> None:
    if unknown not in DIALS:
        raise InputError(
            f"There is no dial {brief(unknown)}.",
            field="unknown",
            hint=f"Ask for one of {', '.join(DIALS)}.",
        )
    if unknown != "error" and not _MIN_TARGET <= target <= 1 / _MIN_TARGET:
        raise InputError(
            f"The error to reach must be above zero, and no more than 1e+12; got {target:g}.",
            field="target",
            hint="Give it in the unit of the values.",
        )


# -- measuring --------------------------------------------------------------------------------


def measure(setting: PlannedStudy, seed: int) -> Measured:
    """Measure the error at one setting: exact if a formula is known, else that of its study.

    Errors are in response units.
    """
    if setting.n_readings > MAX_READINGS:
        raise InputError(
            f"These sizes make {setting.n_readings:,} observations; a plan simulates "
            f"at most {MAX_READINGS:,}.",
            field="readings",
            hint="Plan with fewer observations of each person: the error will be at "
            "most that large.",
        )
    return _measured(setting, [setting.budget], seed)[0]


def _measured(setting: PlannedStudy, budgets: Sequence[Budget], seed: int) -> list[Measured]:
    """Measure several budgets of one setting on the same data and noise."""
    curves, method = setting.curves, setting.mechanism
    squares = [method.exact_risk(curves, (budget,)) for budget in budgets]
    if any(squared is None for squared in squares):
        measured = [Accuracy.of(errors) for errors in _distances(setting, budgets, seed)]
    else:
        measured = [Accuracy.exact(squared or 0.0) for squared in squares]
    return [
        _summary(replace(setting, epsilon=budget.epsilon), budget, accuracy)
        for budget, accuracy in zip(budgets, measured, strict=True)
    ]


def _distances(setting: PlannedStudy, budgets: Sequence[Budget], seed: int) -> Array:
    """Measure distances in a study (budgets, data sets, releases), of all functions or one."""
    study, site_budgets = setting.study(seed), [(budget,) for budget in budgets]
    data = studies.data(study)
    estimate = studies.released(study, data, site_budgets)
    by_function = distances(studies.squared_errors(study, data, estimate, site_budgets))
    if not setting.function:
        return totals(by_function)
    return np.asarray(by_function[..., _place(setting.function, estimate.functions)])


def _place(function: str, functions: tuple[str, ...]) -> int:
    """Find the position of a function in a release."""
    if function not in functions:
        raise InputError(
            f"There is no function {brief(function)}.",
            field="function",
            hint=f"Take one of {', '.join(functions)}."
            if functions
            else "Leave it empty: there is one.",
        )
    return functions.index(function)


def _baseline(setting: PlannedStudy, seed: int) -> float | None:
    """Return the error without privacy if it is known; of the named function alone."""
    if setting.is_exact:
        return None
    by_function = studies.baseline_by_function(setting.study(seed))
    if by_function is None:
        return None
    if not setting.function:
        return float(totals(by_function))
    data = setting.curves.draw(1, np.random.default_rng(seed))
    return float(
        by_function[_place(setting.function, setting.mechanism.without_protection(data).functions)]
    )


def _summary(setting: PlannedStudy, budget: Budget, accuracy: Accuracy) -> Measured:
    """Return the accuracy as measured, or an infinite error if nothing would be published."""
    verdict = setting.mechanism.feasibility(setting.curves.sizes, (budget,))
    if verdict is not None and not verdict.is_feasible:
        return Measured(setting, math.inf, 0.0, math.inf)
    return Measured(setting, accuracy.error, accuracy.log_se, accuracy.within)


# -- the search -------------------------------------------------------------------------------


def bounds(setting: PlannedStudy, unknown: str) -> tuple[float, float]:
    """Return the lowest and highest value of a dial; sizes end where data sets get too large."""
    low, high = _LOWEST[unknown], _HIGHEST[unknown]
    most_people = _MAX_PEOPLE if setting.source.holds_curves else _MAX_RECORDS
    if unknown != "epsilon":
        others = setting.n_readings / getattr(setting, unknown)
        high = min(high, max(low, _MAX_READINGS // others))
        if unknown == "people":
            low = max(low, math.ceil(2 / setting.sites))
            high = min(high, most_people // setting.sites)
        if unknown == "sites":
            high = min(high, most_people // setting.people)
    return low, high


def _search(
    setting: PlannedStudy, unknown: str, target: float, seed: int
) -> Generator[Measured, None, dict[float, Measured]]:
    """Close in on the target from above and below; the error falls along every dial."""
    low, high = bounds(setting, unknown)
    measured: dict[float, Measured] = {}
    value: float | None = min(max(float(getattr(setting, unknown)), low), high)
    while value is not None and value not in measured and len(measured) < _MAX_STEPS:
        measured[value] = measure(setting.moved(unknown, value), seed)
        yield measured[value]
        if abs(_gap(measured[value], target)) < _NEAR:
            break
        value = _next(measured, target, low, high, whole=unknown != "epsilon")
    return measured


def _gap(measured: Measured, target: float) -> float:
    """Return the distance of the error above the target, on the log scale."""
    return math.log(measured.error / target) if math.isfinite(measured.error) else math.inf


def _next(
    measured: dict[float, Measured], target: float, low: float, high: float, whole: bool
) -> float | None:
    """Choose the next value to try; None if both sides touch or the allowed end is reached."""
    gaps = {value: _gap(step, target) for value, step in measured.items()}
    below = max((v for v, gap in gaps.items() if gap > 0), default=None)
    above = min((v for v, gap in gaps.items() if gap <= 0), default=None)
    if below is None or above is None:
        value = (
            min(measured) * math.exp(max(gaps[min(measured)], -1.4))
            if below is None
            else max(measured) * math.exp(min(gaps[max(measured)], 1.4))
        )
        value = min(max(value, low), high)
    elif math.isinf(gaps[below]):
        value = math.sqrt(below * above)
    else:
        share = min(max(gaps[below] / (gaps[below] - gaps[above]), 0.1), 0.9)
        value = below * (above / below) ** share
    value = float(round(value)) if whole else float(f"{value:.3g}")
    return None if value in measured else value


def _answer(
    measured: dict[float, Measured], unknown: str, target: float, seed: int
) -> Generator[Measured, None, PlanningAnswer]:
    """Find the least favourable value that does, with the range that holds it."""
    low, high = bounds(measured[min(measured)].setting, unknown)
    nearest = min(measured, key=lambda value: abs(_gap(measured[value], target)))
    slope = _slope(measured, nearest)
    sure = yield from _at_the_crossing(measured, nearest, slope, unknown, target, seed)
    best = _least_that_does(sure, target)
    step = sure[best]
    gap, bar = _gap(step, target), _CERTAIN * step.log_se
    if gap > bar:
        return PlanningAnswer(unknown, target, None, None, None, sure[max(sure)])
    if gap < -bar and best <= low * (1 + 1e-9):
        return PlanningAnswer(unknown, target, low, low, low, step, too_easy=True)
    spread = math.exp(min(bar / slope, 3.0))
    steps = yield from _either_side(step.setting, unknown, best, low, high, seed)
    return PlanningAnswer(
        unknown, target, best, max(best / spread, low), min(best * spread, high), step, steps
    )


def _at_the_crossing(
    measured: dict[float, Measured],
    nearest: float,
    slope: float,
    unknown: str,
    target: float,
    seed: int,
) -> Generator[Measured, None, dict[float, Measured]]:
    """Go along the slope until the target is met, not more."""
    start = measured[nearest].setting
    low, high = bounds(start, unknown)
    sure: dict[float, Measured] = {}
    value = _corrected(nearest, _gap(measured[nearest], target), slope, unknown, low, high)
    while value not in sure and len(sure) < _CORRECTIONS:
        sure[value] = measured.get(value) or measure(start.moved(unknown, value), seed)
        yield sure[value]
        gap = _gap(sure[value], target)
        if gap > _MET or gap < -_CERTAIN * sure[value].log_se / 2:
            value = _corrected(value, max(gap, -0.5) + _MET, slope, unknown, low, high)
    return sure


def _corrected(
    value: float, gap: float, slope: float, unknown: str, low: float, high: float
) -> float:
    """Find where the line through a measurement meets the target, within the dial."""
    return _rounded(value * math.exp(min(gap / slope, 6.0)), unknown, low, high)


def _least_that_does(sure: dict[float, Measured], target: float) -> float:
    """Find the smallest value that was seen to meet the target; else the one nearest to it."""
    does = [v for v, step in sure.items() if _gap(step, target) <= _MET]
    return min(does) if does else min(sure, key=lambda v: _gap(sure[v], target))


def _either_side(
    setting: PlannedStudy, unknown: str, value: float, low: float, high: float, seed: int
) -> Generator[Measured, None, tuple[Measured, ...]]:
    """Measure a fifth less and a quarter more, and at least one where the dial counts."""
    min_distance = 0.0 if unknown == "epsilon" else 1.0
    steps = []
    for near in (min(0.8 * value, value - min_distance), max(1.25 * value, value + min_distance)):
        near = float(f"{near:.2g}") if unknown == "epsilon" else near
        if low <= near <= high and near != value:
            steps.append(measure(setting.moved(unknown, near), seed))
            yield steps[-1]
    return tuple(steps)


def _slope(measured: dict[float, Measured], nearest: float) -> float:
    """Estimate −∂ log error / ∂ log dial near the answer, from points within a factor of three."""
    near = [
        (math.log(value), math.log(slope.error))
        for value, slope in measured.items()
        if math.isfinite(slope.error) and abs(math.log(value / nearest)) < math.log(3.01)
    ]
    if len(near) < 2:
        return 1.0
    x, y = np.array(near).T
    return float(np.clip(-np.polyfit(x, y, 1)[0], 0.1, 3.0))


def _rounded(value: float, unknown: str, low: float, high: float) -> float:
    """Round up: counts to whole ones, ε to two digits."""
    if unknown == "epsilon":
        value = two_digits_up(value)
    else:
        value = float(math.ceil(value - 1e-9))
    return min(max(value, low), high)


def _with_fixes(
    answer: PlanningAnswer, setting: PlannedStudy, seed: int
) -> Generator[Measured, None, PlanningAnswer]:
    """Add the value of each other dial that would make an impossible question possible.

    If ε was the open dial, the others are solved at its highest value.

    Where ε was asked for, at the highest one there is.
    """
    at = answer.reached.setting if answer.unknown == "epsilon" else setting
    fixes: dict[str, float | None] = {}
    further = dict(answer.beyond or {})
    for dial in ("people", "readings", "epsilon"):
        if dial != answer.unknown:
            other = yield from _solved(at, dial, answer.target, seed, with_fixes=False)
            fixes[dial] = other.value
            further |= other.beyond or {}
    return replace(answer, fixes=fixes, beyond=further)


# -- the map ----------------------------------------------------------------------------------


def error_map(
    setting: PlannedStudy, people: Sequence[int], epsilons: Sequence[float], seed: int = 1
) -> Iterator[Array]:
    """Yield errors over people on each site and ε: a row (epsilons,) in response units per size.

    NaN where nothing would be published. δ follows the people by its rule unless it was chosen;
    other dials stay as in `setting`.
    """
    for count in people:
        here = setting.moved("people", count)
        rows = _measured(here, [replace(here.budget, epsilon=e) for e in epsilons], seed)
        yield np.array([m.error if math.isfinite(m.error) else math.nan for m in rows])
