"""Bands and warnings are right from both sides: on ordinary data, and on data that fail a release.

The default tier has a few settings and five standard errors; the slow one is what `python -m
scripts.measure_panels` prints, with all that is accepted.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.panels import failures, ordinary, others, tables
from tests.panels.cells import Cell, measured

FEW = 20


def most(share, releases=FEW):
    """The largest share that chance gives so many releases."""
    return share + 5 * np.sqrt(share * (1 - share) / releases)


def named(cells, *names):
    found = [cell for cell in cells if cell.name.startswith(names)]
    assert len(found) == len(names)
    return found


@pytest.mark.parametrize(
    "cell",
    named(
        ordinary.CELLS,
        "growth, 9 ages, n = 300",
        "growth, 9 ages, n = 1,000",
        "glucose, 24 hours, n = 1,000",
        "blood pressure, 2–7 visits, n = 1,000",
        "electricity, 48 half hours, n = 300",
        "activity, 24 hours, n = 300",
        "weight, 5 visits, n = 1,000",
    ),
    ids=lambda cell: cell.name,
)
def test_a_release_of_ordinary_data_is_silent_and_covered(cell):
    found = measured(cell, FEW)
    assert found.warned.mean() <= most(0.10)
    assert found.covers.mean() >= 1 - most(0.12)


@pytest.mark.parametrize("late", [0.0, pytest.param(2.0, marks=pytest.mark.slow)])
def test_visits_are_covered_whether_they_are_prompt_or_late(late):
    """A straight line: its bands held in a quarter of releases where visits came on their planned days."""
    cell = Cell(
        "weight", partial(ordinary.weight, 3000, late=late, mean=lambda week: 95 - 0.2 * week), 3.0
    )
    assert measured(cell, FEW).covers.mean() >= 1 - most(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [ordinary.glucose, ordinary.growth])
def test_a_band_that_relies_on_evenly_spread_people_holds_for_slight_skew_and_for_levels(draw):
    def stated(repeats, rng):
        data = draw(3000, repeats, rng)
        return replace(data, facts=replace(data.facts, symmetric=True))

    found = measured(Cell("spread evenly, as stated", stated, 3.0), FEW)
    assert found.covers.mean() >= 1 - most(0.05) and found.warned.mean() <= most(0.10)


@pytest.mark.parametrize(
    "cell",
    named(
        failures.CELLS,
        "times Beta(2.5, 1)",
        "lower bound 8",
        "lognormal levels, sd of log 1.2, stated",
        ".08 observed",
        "growth at 9 ages",
        "peak of sd .03",
        "12 common times",
        "seven oscillations",
    ),
    ids=lambda cell: cell.name,
)
def test_a_release_that_misses_says_so_where_the_failure_is_above_the_limits(cell):
    found = measured(cell, FEW)
    missed = ~found.covers
    assert (found.warned | found.void)[missed].sum() >= missed.sum() - most(0.10) * FEW


@pytest.mark.parametrize(
    "cell", named(failures.CELLS, "lognormal levels, sd of log 1.5"), ids=lambda cell: cell.name
)
def test_a_release_names_the_size_of_what_it_would_not_show(cell):
    assert measured(cell, 5).names_size.all()


@pytest.mark.parametrize(
    "cell",
    named(others.ORDINARY, "survival, lung", "median, lung, times in days"),
    ids=lambda cell: cell.name,
)
def test_counted_curves_of_ordinary_data_are_covered(cell):
    assert measured(cell, FEW).covers.mean() >= 1 - most(0.05)


@pytest.mark.slow
def test_all_that_is_accepted_of_the_panels_is_found():
    alike, failing, of_others, failing_others = (
        [measured(cell, 40) for cell in cells]
        for cells in (ordinary.CELLS, failures.CELLS, others.ORDINARY, others.FAILURES)
    )
    lines = [
        *tables.of_ordinary(alike),
        *tables.of_failures(failing),
        *tables.of_others(of_others, failing_others),
    ]
    assert not [line for line in lines if not line[-1]]
