"""What tables say on slopes and falls."""

import math

import numpy as np
import pytest
from pandas import col

from reproductions.evidence import (
    Line,
    Number,
    as_exact,
    average,
    change,
    covers,
    fall,
    falls,
    grows,
    lines,
    log_slope,
    values,
    where,
    within,
)
from reproductions.exhibits import Claim, Finding, frame
from tests.sentences import of_topic

wording = of_topic("learn")

TABLE = [
    {"n": n, "m": m, "error": m * n**-1.5, "se": 0.1 * m * n**-1.5}
    for m in (1, 3)
    for n in (8, 2, 4)
]


def test_rows_are_chosen_by_the_values_of_columns():
    assert where(TABLE, m=3)["n"].tolist() == [8, 2, 4]
    assert where(TABLE, m=3, unknown=1).empty
    assert values(where(TABLE, m=1), "n") == [2, 4, 8]


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
    result = change(Line.of(TABLE, "n", m=3), 2, 8)
    assert result.value == pytest.approx(-1.5 * math.log(4))
    assert result.se == pytest.approx(0.1 * math.sqrt(2))


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
    assert fall([line(4, 2, 1), line(9, 3, 2)]).largest_ratio == pytest.approx(4.5)


def test_numbers_and_falls_are_told_in_words():
    assert str(Number(-1.234, 0.056)) == "−1.23 ± 0.11"
    steps = Line(np.array([1.0, 2]), np.array([4.0, 2]), np.array([0.1, 0.1]))
    wording.found("errors fall fold", str(fall([steps])), 2, alone=True)


# -- claims as data -----------------------------------------------------------------------------

RESULTS = [
    {"error": 4.0, "bound": 8.0, "repeats": 20, "se": 1.0, "exact": 3.0},
    {"error": 3.0, "bound": 4.0, "repeats": 20, "se": 1.0, "exact": 5.0},
    {"error": 9.0},
]


@pytest.mark.parametrize(
    ("limits", "holds"),
    [({"low": 0.5, "high": 0.75}, True), ({"high": 0.74}, False), ({"low": 0.51}, False)],
)
def test_limits_hold_for_every_row_that_has_the_columns_of_the_expression(limits, holds):
    claim = Claim(
        "Errors are below the bound.",
        within(
            col("error") / col("bound"), **limits, text="{0.count} errors, {0:.2f} of the bound"
        ),
    )
    assert claim.check(RESULTS) == Finding(holds, "2 errors, 0.50 to 0.75 of the bound")


def test_of_several_numbers_those_that_are_named_are_tested_and_all_can_be_told():
    check = within(
        {"ratio": col("error") / col("bound"), "error": "error"},
        high=1,
        of="ratio",
        text="{ratio.last:.2f} of the bound, errors {error.each:g}",
    )
    assert check(frame(RESULTS)) == Finding(True, "0.75 of the bound, errors 4, 3")


def test_a_claim_may_be_on_some_of_the_rows():
    assert not within("error", high=4, text="")(frame(RESULTS)).holds
    assert within("error", high=4, on={"repeats": 20}, text="")(frame(RESULTS)).holds


@pytest.mark.parametrize(
    ("numbers", "up", "down"),
    [([1, 2, 3], True, False), ([3, 2, 1], False, True), ([1, 1, 2], False, False)],
)
def test_growth_and_fall_are_from_each_number_to_the_next(numbers, up, down):
    table = frame([{"x": x} for x in numbers])
    assert grows("x", "")(table).holds is up
    assert falls("x", "")(table).holds is down


def test_simulated_errors_are_held_against_exact_ones_in_standard_errors():
    simulated = frame(RESULTS[:2])
    assert as_exact(lambda t: t)(simulated) == Finding(
        True, "2 cells of 20 data sets, at most 2.0 standard errors apart"
    )
    assert not as_exact(lambda t: t, limit=1.9)(simulated).holds


def test_coverage_is_about_what_is_promised_as_far_as_its_data_sets_can_tell():
    def check(share, repeats):
        rows = frame([{"held": share, "repeats": repeats}])
        return covers(lambda t: t, "held", "{share:.2f} of {repeats}")(rows)

    assert check(0.95, 400) == Finding(True, "0.95 of 400")
    assert not check(0.85, 400).holds
    assert check(0.85, 20).holds  # so few data sets cannot tell
    assert not check(1.0, 4000).holds
