"""More people, a larger ε or a stated fact never widen a band or raise an error, as expected."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, CurveData, Design, PublicFacts, Truth
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.sources.growth_curves import GrowthCurves
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

TOLERANCE = 1.03
LADDER = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # of ε
AGES = np.linspace(2, 18, 9)


def height(age):
    spurt = 10 / (1 + np.exp(-1.1 * (age - 13)))
    return (
        86
        + 6.6 * (age - 2) * (1 - 0.012 * (age - 2))
        + spurt
        - 0.1 * np.maximum(age - 14.5, 0) ** 2
    )


def growth_at_ages(ages):
    """Children who are all measured at the same ages."""

    def draw(n, repeats):
        rng, times = generator(5, n, 0), (ages - 2) / 16
        level, wave = rng.standard_normal((2, repeats, n, 1))
        values = (
            height(ages)
            + level * (3.2 + 0.22 * ages)
            + 0.8 * wave * np.sin(ages / 3)
            + 0.5 * rng.standard_normal((repeats, n, len(ages)))
        )
        facts = PublicFacts(
            value_low=60,
            value_high=210,
            time_low=2,
            time_high=18,
            design=Design.common(times.tolist()),
        )
        return CurveData(
            np.broadcast_to(times, values.shape).reshape(repeats, -1).copy(),
            values.round(1).reshape(repeats, -1),
            np.full(n, len(ages)),
            np.zeros(n, int),
            facts,
            Truth.of(lambda t: height(2 + 16 * t)),
        )

    return draw


def simulated(source):
    return lambda n, repeats: replace(source, n_curves=n).draw(repeats, generator(5, n, 0))


KINDS = {
    "growth at nine ages": growth_at_ages(AGES),
    "growth at 13 ages": growth_at_ages(np.linspace(2, 18, 13)),
    "growth at random ages": simulated(GrowthCurves()),
    "growth at thirty common ages": simulated(GrowthCurves(times="common")),
    "smooth wave": simulated(SparseCurves(n_observations_per_curve=5)),
    "many turns": simulated(SparseCurves(mean="wiggly")),
    "many turns at twelve times": simulated(
        SparseCurves(mean="wiggly", times="common", n_observations_per_curve=12)
    ),
}


def measured(kind, n, epsilons, repeats=10, draws=2):
    """Root mean squared errors and average widths of bands, one for each ε, over 20 releases."""
    data = KINDS[kind](n, repeats)
    estimate = AdaptiveMean().release_many(
        data, [(Budget(epsilon, n**-2.0),) for epsilon in epsilons], draws, generator(6, n, 0)
    )
    off = estimate.values(drawing_grid()) - data.truth.grid_values
    low, high = estimate.limits
    return np.sqrt((off**2).mean(axis=(1, 2, 3))), (high - low).mean(axis=(1, 2, 3))


@pytest.mark.parametrize("n", few([200, 600, 1000, 3000], 1))
@pytest.mark.parametrize("kind", few([*KINDS], 4))
def test_a_larger_epsilon_neither_widens_a_band_nor_raises_an_error(kind, n):
    """The same people and the same standard noise throughout."""
    for figures in measured(kind, n, LADDER):
        assert all(more < TOLERANCE * less for less, more in pairwise(figures)), figures


@pytest.mark.parametrize("kind", few([*KINDS], 2))
def test_more_people_neither_widen_a_band_nor_raise_an_error(kind):
    for smaller, larger in pairwise(
        np.array([measured(kind, n, (1.0, 3.0)) for n in (200, 600, 1800)])
    ):
        assert (larger < TOLERANCE * smaller).all()


@pytest.mark.parametrize("epsilon", few([1.0, 0.5, 3.0], 1))
@pytest.mark.parametrize(("n", "observations"), [(600, 8), (2000, 8), (180, 96)])
def test_same_times_for_everybody_give_no_wider_a_band_than_times_of_their_own(
    n, observations, epsilon
):
    widths = {}
    for times in ("even", "common"):
        source = SparseCurves(n_curves=n, times=times, n_observations_per_curve=observations)
        estimate = AdaptiveMean().release_many(
            source.draw(10, generator(5, n, 0)),
            [(Budget(epsilon, n**-2.0),)],
            2,
            generator(6, n, 0),
        )
        widths[times] = np.subtract(*estimate.limits[::-1]).mean()
    assert widths["common"] < TOLERANCE * widths["even"]
