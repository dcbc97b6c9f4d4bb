"""How many people are needed to see a difference of two groups at one time.

Two groups of equal size are released apart, each at the stated budget. The difference of their
curves at time t is w(t)'(a₁ − a₂) with variance w'(C₁ + C₂)w, which releases tell themselves. A
two-sided test at 5 % rejects with probability Φ(Δ/s − 1.96) + Φ(−Δ/s − 1.96) where the difference
is Δ and its standard error s. The standard errors here are those of simulated releases of so many
people, so that privacy noise, chance in who took part and errors of observations are all in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from engine.answers import ReleasedCurve, can_be_asked
from engine.answers.released_curve import NORMAL, Status
from engine.core.bands import standard_errors
from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, CurveData
from engine.language.numbers import number, with_unit
from engine.mechanisms import Mechanism
from engine.sources import Source

LEAST_PEOPLE, MOST_PEOPLE = 20, 50_000  # of one group
USUAL_POWER = 0.8
_RELEASES = 8
_RATIO = 1.02  # of two sizes between which the answer is not told apart


@dataclass(frozen=True)
class PowerAtSize:
    """What a comparison of two groups of one size can see.

    Parameters
    ----------
    people : int
        In each group.
    error : float
        Standard error of the difference, in response units; infinite where a release says nothing.
    power : float
        Probability that the test rejects.
    """

    people: int
    error: float
    power: float


@dataclass(frozen=True)
class PowerPlan:
    """How many people each of two groups needs.

    Parameters
    ----------
    difference : float
        In response units.
    time : float
        In the unit of times.
    power : float
        That is wanted.
    people : int or None
        In each group; None where more than `MOST_PEOPLE` are needed.
    sizes : tuple of PowerAtSize
        All that were simulated, by size.
    """

    difference: float
    time: float
    power: float
    people: int | None
    sizes: tuple[PowerAtSize, ...]


def power_of(difference: float, error: float) -> float:
    """The probability that a two-sided normal test at 5 % rejects.

    Parameters
    ----------
    difference : float
        In response units.
    error : float
        Its standard error.

    Returns
    -------
    float

    Examples
    --------
    >>> round(power_of(2.8016, 1.0), 3), round(power_of(0.0, 1.0), 3)
    (0.8, 0.05)
    """
    if not math.isfinite(error) or error <= 0:
        return 0.0
    ratio = abs(difference) / error
    return float(ndtr(ratio - NORMAL) + ndtr(-ratio - NORMAL))


def people_for_difference(source: Source[CurveData], mechanism: Mechanism, budget: Budget,
                          difference: float, time: float, power: float = USUAL_POWER,
                          seed: int = 1) -> PowerPlan:
    """The fewest people in each group with which a difference at one time is seen so often.

    Parameters
    ----------
    source : Source
        Simulated curves whose sizes can be changed: how one group's people look.
    mechanism : Mechanism
        With its settings; its releases need a covariance.
    budget : Budget
        Of each group's release; budgets of disjoint groups do not add.
    difference : float
        Of the two mean curves at that time, in response units.
    time : float
        In the unit of times.
    power : float
        Probability that the test at 5 % rejects.
    seed : int
        Of the simulation.

    Returns
    -------
    PowerPlan

    Raises
    ------
    InputError
        If the difference is 0 or no number, the time outside its range, the power not between .1
        and .999, the sizes cannot be changed, or releases have no covariance.
    """
    facts = source.facts
    if not math.isfinite(difference) or difference == 0:
        raise InputError("The difference must be a number other than 0.", field="difference",
                         hint="State the smallest difference that would matter.")
    if not facts.time_low <= time <= facts.time_high:
        raise InputError(f"The time must lie between {facts.time_low:g} and {facts.time_high:g}; "
                         f"got {time:g}.", field="at")
    if not 0.1 <= power <= 0.999:
        raise InputError(f"The power must lie between 0.1 and 0.999; got {power:g}.",
                         field="power", hint="0.8 is usual.")
    unit_time = float(facts.to_unit_time(np.array(time)))
    sizes = dict[int, PowerAtSize]()

    def tried(people: int) -> PowerAtSize:
        if people not in sizes:
            error = difference_error(source, mechanism, budget, people, unit_time, seed)
            sizes[people] = PowerAtSize(people, error, power_of(difference, error))
        return sizes[people]

    enough = _fewest(lambda people: tried(people).power >= power)
    return PowerPlan(difference, time, power, enough,
                     tuple(sizes[people] for people in sorted(sizes)))


def difference_error(source: Source[CurveData], mechanism: Mechanism, budget: Budget, people: int,
                     unit_time: float, seed: int = 1) -> float:
    """The standard error of the difference of two groups at one time.

    Parameters
    ----------
    source : Source
        How one group's people look.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        Of each group's release.
    people : int
        In each group.
    unit_time : float
        On [0, 1].
    seed : int
        Of the simulation.

    Returns
    -------
    float
        In response units, the root of the mean square over simulated releases; infinite where
        most of them say nothing.

    Raises
    ------
    InputError
        If sizes cannot be changed, or releases have no covariance.
    """
    sizes = source.sizes
    sites = sizes.n_servers
    group = source.resized(max(1, people // sites), sizes.fewest_per_curve, sites)
    data = group.draw(1, generator(seed, DATA_STREAM, people))
    estimate = mechanism.release_many(data, [(budget,) * sites], _RELEASES,
                                      generator(seed, NOISE_STREAM, people))
    curves = [ReleasedCurve.of(estimate, data.facts, draw=draw) for draw in range(_RELEASES)
              if can_be_asked(estimate, 0, 0, draw)]
    if not curves:
        raise InputError("Releases of this method have no covariance.", field="mechanism",
                         hint="Choose the adaptive mean, with δ above 0.")
    told = [_error(curve, unit_time) for curve in curves if curve.status is not Status.NONE]
    return math.sqrt(2 * float(np.mean(np.square(told)))) if 2 * len(told) > _RELEASES else math.inf


def _error(curve: ReleasedCurve, unit_time: float) -> float:
    """Of the widest way to read a release."""
    errors = [standard_errors(curve.covariance, rows(np.array([unit_time]), 0))
                           for rows in curve.readings]
    return float(max(error[0] for error in errors))


def _fewest(suffices: Callable[[int], bool]) -> int | None:
    """The smallest size that suffices, to two parts in a hundred; None beyond the largest."""
    low, high = LEAST_PEOPLE, LEAST_PEOPLE
    while not suffices(high):
        if high >= MOST_PEOPLE:
            return None
        low, high = high, min(2 * high, MOST_PEOPLE)
    while high > max(low + 1, low * _RATIO):
        middle = round(math.sqrt(low * high))
        if middle in (low, high):
            break
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def sentences(plan: PowerPlan, source: Source[CurveData], budget: Budget) -> Sequence[str]:
    """The plan in words.

    Parameters
    ----------
    plan : PowerPlan
    source : Source
        With names and units.
    budget : Budget
        Of each release.

    Returns
    -------
    sequence of str
    """
    facts = source.facts
    what = (f"a difference of {with_unit(number(abs(plan.difference)), facts.value_unit)} at "
            f"{facts.time_name.lower()} {with_unit(f'{plan.time:g}', facts.time_unit)}")
    chance = f"{100 * plan.power:.3g} %"
    if plan.people is None:
        last = plan.sizes[-1]
        return [f"No: with {last.people:,} {facts.people} in each group {what} would be seen with "
                f"{100 * last.power:.0f} % probability only (ε = {number(budget.epsilon)})."]
    return [
        f"{plan.people:,} {facts.people} in each of two groups: {what} is then seen with {chance} "
        f"probability (two-sided test at 5 %, ε = {number(budget.epsilon)} for everybody: budgets "
        "of disjoint groups do not add).",
        *(f"  {size.people:,} {facts.people} in each group: "
          + (f"standard error {with_unit(number(size.error), facts.value_unit)}, power "
             f"{100 * size.power:.0f} %" if math.isfinite(size.error) else "too few")
          for size in plan.sizes)]
