"""When a row of the table of coverage counts as one whose band does not hold."""

import math

import pytest

from engine.topics.coverage import table as coverage_table

SETTING = next(coverage_table.settings())


@pytest.mark.parametrize(("pointwise", "simultaneous", "holds"), [
    ((0.95, 0.01), (0.96, 0.03), True),
    ((0.995, 0.004), (1.0, 0.0), True),  # by chance
    ((0.995, 0.001), (1.0, 0.0), False),  # too wide
    ((0.89, 0.004), (0.95, 0.02), False),  # too narrow
    ((0.93, 0.004), (0.86, 0.03), True),
    ((0.93, 0.004), (0.86, 0.01), False),
    ((math.nan, math.inf), (math.nan, math.inf), True)])  # always warned of
def test_a_band_fails_where_it_misses_what_is_asked_beyond_chance(pointwise, simultaneous, holds):
    row = coverage_table.Row(SETTING, 100.0, 0.1, 0.1, pointwise[0], simultaneous[0], 0.0, 0.0,
                             pointwise[1], simultaneous[1])
    assert row.holds is holds


def test_a_row_measures_its_own_chance():
    row = coverage_table.measured(SETTING, 3, seed=1)
    assert 0 < row.pointwise_error < 0.5 and row.holds
    assert coverage_table.measured(SETTING, 1, seed=1).pointwise_error == math.inf
