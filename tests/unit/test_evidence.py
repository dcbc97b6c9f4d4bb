"""What tables say on slopes and falls."""

import math

import numpy as np
import pytest

from engine.papers.evidence import (
    Line,
    Number,
    average,
    change,
    fall,
    lines,
    log_slope,
    values,
    where,
)

TABLE = [{"n": n, "m": m, "error": m * n**-1.5, "se": 0.1 * m * n**-1.5}
         for m in (1, 3) for n in (8, 2, 4)]


def test_rows_are_chosen_by_the_values_of_columns():
    assert [row["n"] for row in where(TABLE, m=3)] == [8, 2, 4]
    assert values(TABLE, "n", m=1) == [2, 4, 8]


def test_a_line_runs_in_the_order_of_its_axis_and_there_is_one_for_each_group():
    line = Line.of(TABLE, "n", m=1)
    assert line.x.tolist() == [2, 4, 8]
    assert [one.y[0] for one in lines(TABLE, "n", ["m"])] == pytest.approx([2**-1.5, 3 * 2**-1.5])


def test_the_slope_of_a_power_is_its_exponent_with_the_error_that_follows_from_the_rows():
    slope = log_slope(Line.of(TABLE, "n", m=1))
    assert slope.value == pytest.approx(-1.5)
    assert slope.se == pytest.approx(0.1 / (math.log(2) * math.sqrt(2)))


def test_the_error_of_a_slope_is_how_far_slopes_scatter():
    """2000 lines with errors of a tenth: five standard errors of a standard deviation are 8 %."""
    x, rng = np.array([1.0, 2, 4, 8]), np.random.default_rng(1)
    y = np.exp(0.1 * rng.standard_normal((2000, 4)))
    slopes = [log_slope(Line(x, one, 0.1 * one)) for one in y]
    assert np.std([slope.value for slope in slopes]) == pytest.approx(slopes[0].se, rel=0.08)


def test_a_change_is_that_of_logarithms():
    found = change(Line.of(TABLE, "n", m=3), 2, 8)
    assert found.value == pytest.approx(-1.5 * math.log(4))
    assert found.se == pytest.approx(0.1 * math.sqrt(2))


def test_numbers_that_share_their_data_keep_their_standard_error_on_average():
    assert average([Number(1.0, 0.2), Number(3.0, 0.4)]) == Number(2.0, pytest.approx(0.3))


@pytest.mark.parametrize(("other", "is_near"), [(1.0, True), (1.29, True), (1.31, False)])
def test_a_number_is_near_another_within_the_margin_and_two_standard_errors(other, is_near):
    assert Number(1.0, 0.1).near(other, 0.1) is is_near


def test_a_fall_holds_only_where_no_step_goes_clearly_up_and_every_end_lies_clearly_below():
    def line(*y):
        return Line(np.arange(1.0, 1 + len(y)), np.array(y), 0.01 * np.array(y))

    assert fall([line(4, 2, 1), line(9, 3, 2)]).holds()
    assert not fall([line(4, 2, 1), line(4, 1, 2)]).holds()  # up again
    assert not fall([line(4, 2, 1), line(1, 1, 1)]).holds()  # flat
    assert fall([line(4, 2, 1), line(9, 3, 2)]).most == pytest.approx(4.5)


def test_numbers_and_falls_are_told_in_words():
    assert str(Number(-1.234, 0.056)) == "−1.23 ± 0.11"
    steps = Line(np.array([1.0, 2]), np.array([4.0, 2]), np.array([0.1, 0.1]))
    assert str(fall([steps])) == "errors fall 2-fold from end to end; no step goes up"
