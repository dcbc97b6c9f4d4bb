"""Means over sites whose people differ: whose mean is released, and what is said where it is not all."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.bands import limits
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, Sizes
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive.release import SITES_DIFFER, SITES_MAY_DIFFER
from engine.mechanisms.families.adaptive.rules import effective_size
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

PEOPLE, SHIFTS = (1000, 200, 200), (0.0, 0.5, 0.4)
UNEQUAL = tuple(Budget(epsilon, 1e-6) for epsilon in (0.5, 5.0, 5.0))
GRID = drawing_grid()


def people_at(sizes, shifts, repeats=10):
    """The same curves at every site, moved by a shift of its own, in half-ranges."""
    data = SparseCurves(n_curves=sum(sizes), n_observations_per_curve=6).draw(
        repeats, generator(3, 0, 0)
    )
    site = np.repeat(np.arange(len(sizes)), sizes)
    shift = data.facts.value_half_width * np.array(shifts)[site]
    return replace(data, server=site, values=data.values + np.repeat(shift, data.counts))


def release(data, budgets, weights="precision", draws=4):
    return AdaptiveMean(weights=weights).release_many(data, [budgets], draws, generator(5, 1, 0))


def of_all_people(data, sizes, shifts):
    shift = np.average(shifts, weights=sizes) * data.facts.value_half_width
    return data.truth.at(GRID) + shift


def is_covered(estimate, truth):
    low, high = limits(estimate, estimate.band)
    return ((low <= truth) & (truth <= high)).mean(axis=-1)


def carried(estimate, text):
    nowhere = np.zeros(estimate.coefficients.shape[:3], dtype=bool)
    return next((caution.applies for caution in estimate.cautions if caution.text == text), nowhere)


def test_weighted_by_people_the_band_is_for_the_mean_of_all_people():
    """40 releases of ten data sets: at least 0.9 of the times, and no bias beyond five errors."""
    data = people_at(PEOPLE, SHIFTS)
    truth = of_all_people(data, PEOPLE, SHIFTS)
    estimate = release(data, UNEQUAL, "people")
    assert is_covered(estimate, truth).mean() > 0.9
    off = (estimate.values(GRID)[0] - truth).mean(axis=(-1, -2))  # of every data set
    assert abs(off.mean()) < 5 * off.std() / math.sqrt(len(off))
    assert not carried(estimate, SITES_DIFFER).any()
    assert not carried(estimate, SITES_MAY_DIFFER).any()


def test_weighted_by_precision_a_release_that_misses_all_people_says_so():
    data = people_at(PEOPLE, SHIFTS)
    estimate = release(data, UNEQUAL)
    misses = is_covered(estimate, of_all_people(data, PEOPLE, SHIFTS))[0] < 0.9
    told = carried(estimate, SITES_DIFFER)[0]
    assert misses.any()
    assert (told | carried(estimate, SITES_MAY_DIFFER)[0])[misses].all()
    assert told.mean() > 0.5


@pytest.mark.parametrize(
    ("sizes", "epsilons"),
    few([(PEOPLE, (2.0,) * 3), (PEOPLE, (0.5, 5.0, 5.0)), ((1000, 60, 30), (1.0,) * 3)]),
)
def test_sites_that_are_alike_are_hardly_ever_told_to_differ(sizes, epsilons):
    """100 releases of 20 data sets; a level of 1 %, and five standard errors of 20 data sets."""
    data = people_at(sizes, (0.0,) * 3, repeats=20)
    budgets = tuple(Budget(epsilon, 1e-6) for epsilon in epsilons)
    told = carried(release(data, budgets, draws=5), SITES_DIFFER)
    assert told.mean() < 0.01 + 5 * math.sqrt(0.01 / 20)


def test_sites_of_equal_sizes_and_budgets_are_weighted_by_people_either_way():
    data, budgets = people_at((300,) * 3, SHIFTS, repeats=2), (Budget(1.0, 1e-6),) * 3
    by_precision, by_people = (
        release(data, budgets, weights) for weights in ("precision", "people")
    )
    assert np.allclose(by_precision.coefficients, by_people.coefficients, atol=1e-9)
    assert not any(
        caution.applies.any()
        for caution in by_precision.cautions
        if caution.text in (SITES_DIFFER, SITES_MAY_DIFFER)
    )


def test_one_site_is_weighted_in_one_way():
    data, budget = people_at((400,), (0.0,), repeats=2), (Budget(1.0, 1e-6),)
    assert np.array_equal(
        release(data, budget).coefficients, release(data, budget, "people").coefficients
    )


def test_by_people_the_strictest_site_decides_what_all_are_worth():
    """n/√Σ μ⁻² against √Σ (nμ)²: equal for equal sites, and never more."""
    equal = Sizes((100, 100), 2000, 10), (Budget(1.0, 1e-3),) * 2
    assert effective_size(*equal, by_people=True) == pytest.approx(effective_size(*equal))
    unequal = Sizes((100, 100), 2000, 10), (Budget(0.1, 1e-3), Budget(3.0, 1e-3))
    assert effective_size(*unequal, by_people=True) < 0.2 * effective_size(*unequal)
