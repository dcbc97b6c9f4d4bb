"""The price of an answer: the band of a release of a twin that is as the answer says.

A fact that is not stated costs accuracy: times that are not known are learned or checked, people
who may be skewed are clipped less tightly. How much follows from public facts and sizes alone, by
releases of a twin under each answer; no data are looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from engine.core.bands import holds_a_constant, least_change
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, PublicFacts, Sizes
from engine.mechanisms import Mechanism
from engine.privacy import accounting
from engine.sources.twin import Twin

MAX_PEOPLE = 2000  # of a rehearsal; more are stood for by a larger budget
_DATA_SETS, _DRAWS = 5, 4
_MAX_OBSERVATIONS = 100_000  # of one data set


@dataclass(frozen=True)
class Price:
    """The accuracy of a release under one answer, in response units."""

    error: float  # root mean square over releases and time
    half_width: float  # of the band, on average; NaN without one
    change: float  # the smallest rise or fall that the band shows; NaN without one
    is_flat: bool  # a constant curve fits into most of the bands


def price(
    facts: PublicFacts, sizes: Sizes, mechanism: Mechanism, budget: Budget, seed: int
) -> Price | None:
    """Rehearse a release of people as stated; None if nothing would be published.

    Raises
    ------
    InputError
        For curves too long to be rehearsed, and for facts that the method refuses.
    """
    facts.check_stated()
    essentials = essential(facts)
    rehearsed, matched = _rehearsed(sizes, budget)
    if rehearsed.n_observations > _MAX_OBSERVATIONS:
        raise InputError(
            f"A price is rehearsed for at most {_MAX_OBSERVATIONS:,} observations; these are "
            f"{rehearsed.n_observations:,}.",
            field="sizes",
            hint="The preview shows the band of this release.",
        )
    verdict = mechanism.feasibility(rehearsed, (matched,) * rehearsed.n_servers)
    if verdict and not verdict.is_feasible:
        return None
    twin = Twin.of(essentials, rehearsed)
    data = twin.draw(_DATA_SETS, generator(seed, DATA_STREAM, 0))
    noise = generator(seed, NOISE_STREAM, 0)
    estimate = mechanism.release_many(data, [(matched,) * rehearsed.n_servers], _DRAWS, noise)
    error = estimate.values(drawing_grid())[0] - twin.truth.grid_values
    typical = float(np.sqrt((error**2).mean()))
    if estimate.limits is None:
        return Price(typical, math.nan, math.nan, False)
    low, high = estimate.limits
    within = [np.clip(end, facts.value_low, facts.value_high) for end in (low, high)]
    flat = [
        holds_a_constant(*ends)
        for ends in zip(*(end.reshape(-1, end.shape[-1]) for end in within), strict=True)
    ]
    return Price(
        typical, float(np.mean(high - low)) / 2, least_change(*within), float(np.mean(flat)) > 0.5
    )


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


def _rehearsed(sizes: Sizes, budget: Budget) -> tuple[Sizes, Budget]:
    """Return at most `MAX_PEOPLE`, and the budget at which their N = nμ is that of all of them."""
    people, observations = sizes.n_curves, max(1, round(sizes.n_observations_per_curve))
    factor = max(1.0, people / MAX_PEOPLE)
    by_site = tuple(max(1, round(each / factor)) for each in sizes.n_curves_per_server)
    rehearsed = Sizes(by_site, sum(by_site) * observations, observations)
    if factor == 1:
        return rehearsed, budget
    if budget.is_pure:
        return rehearsed, replace(budget, epsilon=factor * budget.epsilon)
    mu = factor * accounting.exact_mu(budget.epsilon, budget.delta)
    return rehearsed, replace(budget, epsilon=accounting.exact_epsilon(mu, budget.delta))
