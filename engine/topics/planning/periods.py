"""Releases over time: what each of several periods may spend, and what its curve is then worth.

A person who is in s periods spends the composition of s releases. With μ of Gaussian differential
privacy for all of them, each may spend μ/√s: far more than ε/s. No mechanism does better for every
period's own curve of people who are always there. For T periods the total squared error of any
matrix mechanism A = BC is at least the squared nuclear norm of A X^½ for every X ⪰ 0 with
diag X = 1; with A = X = I that is T², what independent noise has. Trees and Toeplitz factors are
for streams in which a person appears once; here a person adds to all nodes.

Levels or changes, by what is asked. A change from one period to the next is a curve of its own
(`engine.uploads.changes`) with bounds of a change; T − 1 of them get μ/√(T − 1) each. The
difference of two released levels has the noise of both. A chain of a first level and changes adds
up its errors, and is worse than levels.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.types import Budget, PublicFacts
from engine.language.numbers import digits_down, in_unit, number
from engine.privacy import accounting, risk
from engine.topics.planning.answer import Measured, PlannedStudy, measure

MAX_PERIODS = 1000
_DOWN = 1 + 1e-11  # each ε is rounded down, so that the total is never passed
CHANGE_WIDTH = 0.5  # bounds of a change, as a share of those of a level
FOR_CURVE, FOR_SPREAD = 35, 150  # effective sizes nμ of a curve, and of how people differ


LEVELS_OR_CHANGES = (
    "Release levels or changes, by what is asked: levels added up from changes are worse than "
    "released levels."
)


@dataclass(frozen=True)
class Periods:
    """A number of releases over time, and what that leaves for each."""

    total: Budget  # of a person over all periods
    n_periods: int
    stays: int  # periods that nobody is in more of
    each: Budget  # of one period, with the same δ

    @property
    def mu(self) -> float:
        """μ of one period."""
        return accounting.exact_mu(self.each.epsilon, self.each.delta)

    def people_for(self, effective_size: float) -> int:
        """Count the people of a period who make up an effective size."""
        return math.ceil(effective_size / self.mu)

    @property
    def even_share(self) -> float:
        """ε/s, which budgets that simply add would leave."""
        return self.total.epsilon / self.stays


def periods(total: Budget, n_periods: int, stays: int | None = None) -> Periods:
    """Split a budget with δ > 0 over up to 1000 periods, evenly by Gaussian differential privacy.

    A person is in at most `stays` of them, which the ledger holds; in all if left out.

    Examples
    --------
    >>> plan = periods(Budget(3, 1e-6), 36)
    >>> round(plan.each.epsilon, 2), plan.people_for(35)
    (0.43, 325)
    """
    if not 1 <= n_periods <= MAX_PERIODS:
        raise InputError(
            f"“periods” must lie between 1 and {MAX_PERIODS}; got {n_periods}.", field="periods"
        )
    stays = n_periods if stays is None else stays
    if not 1 <= stays <= n_periods:
        raise InputError(
            f"“stays” must lie between 1 and the {n_periods} periods; got {stays}.", field="stays"
        )
    if total.is_pure:
        raise InputError(
            "A plan over time needs δ above 0: with δ = 0 budgets add up.",
            field="delta",
            hint="State δ, such as 1e-6.",
        )
    mu = accounting.exact_mu(total.epsilon, total.delta) / math.sqrt(stays)
    epsilon = accounting.exact_epsilon(mu, total.delta) / _DOWN
    return Periods(total, n_periods, stays, Budget(epsilon, total.delta))


def changes(levels: Periods) -> Periods | None:
    """Split the same total over the changes between neighbouring periods; None if there is none.

    Examples
    --------
    >>> monthly = periods(Budget(3, 1e-6), 12)
    >>> round(changes(monthly).each.epsilon, 2), changes(monthly).n_periods
    (0.81, 11)
    """
    if levels.stays < 2:
        return None
    return periods(levels.total, levels.n_periods - 1, levels.stays - 1)


@dataclass(frozen=True)
class PlannedChanges:
    """Releases of the changes between neighbouring periods, in place of levels."""

    periods: Periods
    noise: float  # privacy noise of a change, its bounds `CHANGE_WIDTH` as wide; response units
    noise_of_levels: float  # that of the difference of two released levels


@dataclass(frozen=True)
class PlannedPeriods:
    """Releases over time with the error of one, and of fewer releases at the same total."""

    periods: Periods
    error: Measured  # of each period
    fewer: tuple[tuple[Periods, Measured], ...]  # the most releases first
    changes: PlannedChanges | None  # None if nobody is in two periods

    @property
    def attacker_accuracy(self) -> float:
        """The most that an attacker who sees all periods is right about one person."""
        total = self.periods.total
        return risk.odds(accounting.exact_mu(total.epsilon, total.delta), total).right


def planned(
    setting: PlannedStudy, n_periods: int, stays: int | None = None, seed: int = 1
) -> Generator[Measured, None, PlannedPeriods]:
    """Measure the error of each period, and of every third, every twelfth and two periods.

    The budget of `setting` is that of a person over all periods; sizes are those of one period.
    """
    asked = periods(setting.budget, n_periods, stays)
    choices = [asked, *(_thinned(asked, step) for step in _steps(n_periods))]
    measured = []
    for choice in choices:
        at = replace(setting, epsilon=choice.each.epsilon, delta=choice.each.delta)
        measured.append(measure(at, seed))
        yield measured[-1]
    fewer = tuple(zip(choices[1:], measured[1:], strict=True))
    return PlannedPeriods(asked, measured[0], fewer, _planned_changes(setting, asked))


def _planned_changes(setting: PlannedStudy, asked: Periods) -> PlannedChanges | None:
    split = changes(asked)
    if split is None:
        return None
    facts = setting.source.facts
    of_change = replace(
        facts,
        value_low=-CHANGE_WIDTH * facts.value_half_width,
        value_high=CHANGE_WIDTH * facts.value_half_width,
        guessed_spread=CHANGE_WIDTH * facts.guessed_spread,
    )
    level = _noise(setting, asked.each, facts)
    return PlannedChanges(split, _noise(setting, split.each, of_change), math.sqrt(2) * level)


def _noise(setting: PlannedStudy, each: Budget, facts: PublicFacts) -> float:
    """Plan the distance that privacy noise adds; NaN if the method has no rule for it."""
    square = setting.mechanism.expected_error(setting.curves.sizes, (each,) * setting.sites, facts)
    return math.nan if square is None else math.sqrt(square)


def _steps(n_periods: int) -> list[int]:
    """Every which period is released instead: third, twelfth, and the first and last alone."""
    return [step for step in (3, 12) if n_periods > step] + [n_periods - 1] * (n_periods > 2)


def _thinned(asked: Periods, step: int) -> Periods:
    """Release every so many periods only."""
    count = math.ceil(asked.n_periods / step) if step < asked.n_periods - 1 else 2
    return periods(asked.total, count, min(count, math.ceil(asked.stays / step)))


def plain(plan: PlannedPeriods) -> dict[str, Any]:
    """Convert a plan to plain values, for JSON; an infinite error becomes None."""

    def row(choice: Periods, measured: Measured) -> dict[str, Any]:
        error = measured.error if math.isfinite(measured.error) else None
        return {
            "periods": choice.n_periods,
            "stays": choice.stays,
            "epsilon": choice.each.epsilon,
            "delta": choice.each.delta,
            "error": error,
        }

    return {
        **row(plan.periods, plan.error),
        "total_epsilon": plan.periods.total.epsilon,
        "attacker_accuracy": plan.attacker_accuracy,
        "people_for_curve": plan.periods.people_for(FOR_CURVE),
        "people_for_spread": plan.periods.people_for(FOR_SPREAD),
        "fewer": [row(*each) for each in plan.fewer],
        "changes": None if plan.changes is None else _plain_changes(plan.changes),
    }


def _plain_changes(planned: PlannedChanges) -> dict[str, Any]:
    noises = {"noise": planned.noise, "noise_of_levels": planned.noise_of_levels}
    return {
        "releases": planned.periods.n_periods,
        "epsilon": planned.periods.each.epsilon,
        "delta": planned.periods.each.delta,
        **{name: value if math.isfinite(value) else None for name, value in noises.items()},
    }


def sentences(plan: PlannedPeriods, facts: PublicFacts) -> list[str]:
    """Say what each release gets, what it is worth and what fewer would be worth."""
    asked = plan.periods
    total = f"ε = {asked.total.epsilon:g}"
    why = (
        f"because the same {facts.people} are in all of them"
        if asked.stays == asked.n_periods
        else f"because nobody is in more than {asked.stays} of them"
    )
    return [
        f"ε = {digits_down(asked.each.epsilon, 2)} for each of {asked.n_periods} releases. They add up "
        f"to {total}, {why}.",
        f"Splitting ε itself would leave {number(asked.even_share)} for each.",
        f"Expected error of each curve: {error_in_words(plan.error, facts.value_unit)}.",
        f"A curve needs about {asked.people_for(FOR_CURVE):,} {facts.people} in a period; "
        f"how they differ needs about {asked.people_for(FOR_SPREAD):,}.".replace(",", "\u202f"),
        *(
            f"With {choice.n_periods} releases: ε = {digits_down(choice.each.epsilon, 2)} each, "
            f"error {error_in_words(error, facts.value_unit)}."
            for choice, error in plan.fewer
        ),
        *_of_changes(plan.changes, facts),
    ]


def _of_changes(planned: PlannedChanges | None, facts: PublicFacts) -> list[str]:
    """Say what changes would get in place of levels, and how their noise compares."""
    if planned is None:
        return []
    split = planned.periods
    each = f"ε = {digits_down(split.each.epsilon, 2)} each"
    texts = [f"Changes in place of levels: {split.n_periods} releases with {each}."]
    if math.isfinite(planned.noise):
        noise, of_levels = (
            in_unit(value, facts.value_unit) for value in (planned.noise, planned.noise_of_levels)
        )
        texts.append(
            f"With bounds half as wide, a change has noise of about {noise}; the difference of two "
            f"released levels has {of_levels}."
        )
    return [*texts, LEVELS_OR_CHANGES]


def error_in_words(measured: Measured, unit: str) -> str:
    """Write an error with its unit, or that nothing would be released."""
    if not math.isfinite(measured.error):
        return "nothing would be released"
    return in_unit(measured.error, unit)
