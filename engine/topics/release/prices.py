"""The value of each stated fact: the same study rehearsed under other answers.

A fact that is not stated costs accuracy: times that are not known are learned or checked, people
who may be skewed are clipped less tightly. How much follows from public facts and sizes alone, by
releases of a twin under each answer; no data are looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, PublicFacts, Sizes
from engine.mechanisms import Mechanism
from engine.privacy import accounting
from engine.sources.twin import Twin
from engine.topics.better import answers

MAX_PEOPLE = 2000  # of a rehearsal; more are stood for by a larger budget
_DATA_SETS, _DRAWS = 5, 4
_MAX_OBSERVATIONS = 100_000  # of one data set


@dataclass(frozen=True)
class Price:
    """The accuracy of a release under one answer, in response units."""

    answer: str  # one of those above
    error: float  # root mean square over releases and time
    half_width: float  # of the band, on average; NaN without one


def prices(
    facts: PublicFacts, sizes: Sizes, mechanism: Mechanism, budget: Budget, seed: int
) -> tuple[Price, ...]:
    """Rehearse a release as stated, and with one other answer about times, symmetry or period.

    Empty if nothing would be published, or for curves too long to be rehearsed.
    """
    people, matched = _rehearsed(sizes.n_curves, budget)
    observations = max(1, round(sizes.n_observations_per_curve))
    rehearsed = Sizes((people,), people * observations, observations)
    verdict = mechanism.feasibility(rehearsed, (matched,))
    if rehearsed.n_observations > _MAX_OBSERVATIONS or (verdict and not verdict.is_feasible):
        return ()
    rehearsals = (
        _price(answer, Twin.of(stated, rehearsed), mechanism, matched, seed)
        for answer, stated in answers(essential(facts), observations)
    )
    return tuple(price for price in rehearsals if price is not None)


def essential(facts: PublicFacts) -> PublicFacts:
    """Return the facts that a price depends on: no names, so that it stays while they are typed."""
    return PublicFacts(
        kind=facts.kind,
        value_low=facts.value_low,
        value_high=facts.value_high,
        design=facts.design,
        symmetric=facts.symmetric,
        periodic=facts.periodic,
        guessed_spread=facts.guessed_spread,
        reading_sd=facts.reading_sd,
    )


def _rehearsed(people: int, budget: Budget) -> tuple[int, Budget]:
    """Return at most `MAX_PEOPLE`, and the budget at which their N = nμ is that of all of them."""
    if people <= MAX_PEOPLE:
        return people, budget
    factor = people / MAX_PEOPLE
    if budget.is_pure:
        return MAX_PEOPLE, replace(budget, epsilon=factor * budget.epsilon)
    mu = factor * accounting.exact_mu(budget.epsilon, budget.delta)
    return MAX_PEOPLE, replace(budget, epsilon=accounting.exact_epsilon(mu, budget.delta))


def _price(
    answer: str, twin: Twin, mechanism: Mechanism, budget: Budget, seed: int
) -> Price | None:
    """Price an answer; None if the method refuses it."""
    data = twin.draw(_DATA_SETS, generator(seed, DATA_STREAM, 0))
    noise = generator(seed, NOISE_STREAM, 0)
    try:
        estimate = mechanism.release_many(data, [(budget,)], _DRAWS, noise)
    except InputError:
        return None
    error = estimate.values(drawing_grid())[0] - twin.truth.grid_values
    half_width = math.nan
    if estimate.limits is not None:
        low, high = estimate.limits
        half_width = float(np.mean(high - low)) / 2
    return Price(answer, float(np.sqrt((error**2).mean())), half_width)
