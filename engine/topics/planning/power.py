"""Number of people needed to see a difference of two groups at one time.

Two groups of equal size are released apart, each at the stated budget. The difference of their
curves at time t is w(t)'(a₁ − a₂) with variance w'(C₁ + C₂)w, which releases tell themselves. A
two-sided test at 5 % rejects with probability Φ(Δ/s − 1.96) + Φ(−Δ/s − 1.96) where the difference
is Δ and its standard error s. The standard errors here are those of simulated releases of so many
people, so that privacy noise, sampling variability and errors of observations are all in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from engine.answers import ReleasedCurve, can_be_asked
from engine.answers.groups import GroupComparison
from engine.answers.released_curve import Status
from engine.core.bands import NORMAL
from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget, CurveData, PublicFacts
from engine.language.numbers import in_unit, number, with_unit
from engine.mechanisms import Mechanism
from engine.sources import Source

MIN_PEOPLE, MAX_PEOPLE = 20, 20_000  # of one group
DEFAULT_POWER = 0.8
_DATA_SETS, _RELEASES = 4, 3  # of each size; every two data sets are a pair of groups
_RATIO = 1.02  # of two sizes between which the answer is not told apart


@dataclass(frozen=True)
class PowerAtSize:
    """The power of a comparison of two groups of one size."""

    people: int
    # median standard error of the difference, in response units; infinite where most releases say
    # nothing
    error: float
    power: float


@dataclass(frozen=True)
class PowerPlan:
    """The number of people that each of two groups needs."""

    difference: float
    time: float
    power: float
    people: int | None  # in each group; None where more than were tried are needed
    sizes: tuple[PowerAtSize, ...]


def power_of(difference: float, error: float) -> float:
    """Compute the probability that a two-sided normal test at 5 % rejects.

    Examples
    --------
    >>> round(power_of(2.8016, 1.0), 3), round(power_of(0.0, 1.0), 3)
    (0.8, 0.05)
    """
    if not math.isfinite(error) or error <= 0:
        return 0.0
    ratio = abs(difference) / error
    return float(ndtr(ratio - NORMAL) + ndtr(-ratio - NORMAL))


def people_for_difference(
    source: Source[CurveData],
    mechanism: Mechanism,
    budget: Budget,
    difference: float,
    time: float,
    power: float = DEFAULT_POWER,
    seed: int = 1,
    max_people: int = MAX_PEOPLE,
) -> PowerPlan:
    """Find the fewest people in each group with which a difference at one time is seen so often.

    The test is at 5 %; the first group of a source shows how people look. Budgets of disjoint
    groups do not add.
    """
    facts = source.facts
    if not math.isfinite(difference) or difference == 0:
        raise InputError(
            "The difference must be a number other than 0.",
            field="difference",
            hint="State the smallest difference that would matter.",
        )
    if not facts.time_low <= time <= facts.time_high:
        raise InputError(
            f"The time must lie between {facts.time_low:g} and {facts.time_high:g}; got {time:g}.",
            field="at",
        )
    if not 0.1 <= power <= 0.999:
        raise InputError(
            f"The power must lie between 0.1 and 0.999; got {power:g}.",
            field="power",
            hint="0.8 is the default.",
        )
    unit_time = float(facts.to_unit_time(np.array(time)))
    sizes = dict[int, PowerAtSize]()

    def tried(people: int) -> PowerAtSize:
        if people not in sizes:
            errors = difference_errors(source, mechanism, budget, people, unit_time, seed)
            sizes[people] = PowerAtSize(
                people,
                float(np.median(errors)),
                float(np.mean([power_of(difference, error) for error in errors])),
            )
        return sizes[people]

    enough = _fewest(lambda people: tried(people).power >= power, max_people)
    return PowerPlan(
        difference, time, power, enough, tuple(sizes[people] for people in sorted(sizes))
    )


def difference_errors(
    source: Source[CurveData],
    mechanism: Mechanism,
    budget: Budget,
    people: int,
    unit_time: float,
    seed: int = 1,
) -> Array:
    """Estimate standard errors of the difference of two groups at one time: (pairs,) of releases.

    Half the width of the 95 % interval over 1.96; infinite if a release says nothing. All sizes
    share one seed, so that they are told apart more sharply.
    """
    if budget.is_pure:
        raise InputError(
            "A release with δ = 0 tells no standard error of a normal law.",
            field="delta",
            hint="State a δ above 0.",
        )
    source = source.of_group(source.group_names[0]) if source.group_names else source
    sizes = source.sizes
    sites = sizes.n_servers
    group = source.resized(max(1, people // sites), sizes.fewest_per_curve, sites)
    data = group.draw(_DATA_SETS, generator(seed, DATA_STREAM, 0))
    estimate = mechanism.release_many(
        data, [(budget,) * sites], _RELEASES, generator(seed, NOISE_STREAM, 0)
    )
    if estimate.band is None:
        raise InputError(
            "Releases of this method have no covariance.",
            field="mechanism",
            hint="Choose the adaptive mean, with a confidence band.",
        )
    curves = [
        [
            ReleasedCurve.of(estimate, data.facts, 0, repeat, draw)
            if can_be_asked(estimate, 0, repeat, draw)
            else None
            for draw in range(_RELEASES)
        ]
        for repeat in range(_DATA_SETS)
    ]
    return np.array(
        [
            _error(curves[first][draw], curves[second][draw], unit_time)
            for first, second in combinations(range(_DATA_SETS), 2)
            for draw in range(_RELEASES)
        ]
    )


def _error(first: ReleasedCurve | None, second: ReleasedCurve | None, unit_time: float) -> float:
    """Compute the standard error of a difference of releases; infinite if incomparable."""
    if first is None or second is None or Status.NONE in (first.status, second.status):
        return math.inf
    pair = GroupComparison(("first", "second"), (first, second), are_disjoint=True)
    _, (low, high) = pair.difference().linear(lambda f: f(unit_time))
    return (high - low) / (2 * NORMAL)


def _fewest(suffices: Callable[[int], bool], max_people: int) -> int | None:
    """Find the smallest size that suffices, to two parts in a hundred; None beyond the largest."""
    low, high = MIN_PEOPLE, MIN_PEOPLE
    while not suffices(high):
        if high >= max_people:
            return None
        low, high = high, min(2 * high, max_people)
    while high > max(low + 1, low * _RATIO):
        middle = round(math.sqrt(low * high))
        if middle in (low, high):
            break
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _what(plan: PowerPlan, facts: PublicFacts) -> str:
    return (
        f"a difference of {with_unit(f'{abs(plan.difference):g}', facts.value_unit)} at "
        f"{uncapital(facts.time_name)} {with_unit(f'{plan.time:g}', facts.time_unit)}"
    )


def verdict(plan: PowerPlan, facts: PublicFacts, budget: Budget) -> str:
    """Answer a plan in one sentence."""
    if plan.people is None:
        last = plan.sizes[-1]
        return (
            f"No: with {last.people:,} {facts.people} in each group {_what(plan, facts)} would "
            f"be seen with {100 * last.power:.0f} % probability only "
            f"(ε = {number(budget.epsilon)})."
        )
    return (
        f"{plan.people:,} {facts.people} in each of two groups: {_what(plan, facts)} is then "
        f"seen with {100 * plan.power:.3g} % probability (two-sided test at 5 %, "
        f"ε = {number(budget.epsilon)} for everybody: budgets of disjoint groups do not add)."
    )


def sentences(plan: PowerPlan, facts: PublicFacts, budget: Budget) -> Sequence[str]:
    """Put the plan into words, with every size that was simulated."""
    return [
        verdict(plan, facts, budget),
        *(
            f"  {size.people:,} {facts.people} in each group: "
            + (
                f"standard error {in_unit(size.error, facts.value_unit)}, power "
                f"{100 * size.power:.0f} %"
                if math.isfinite(size.error)
                else "too few"
            )
            for size in plan.sizes
        ),
    ]
