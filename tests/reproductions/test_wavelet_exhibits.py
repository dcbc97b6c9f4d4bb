"""Experiments on federated wavelet regression: what is drawn, and claims that can fail."""

import math

import pytest

from reproductions.drawing import Scale, Series, lines
from reproductions.evidence import agrees, share_limits, slope
from reproductions.exhibits import frame
from reproductions.federated_wavelets import PAPER, constants, errors, planning, repairs, slopes
from tests.sentences import of_topic

wording = of_topic("learn")


def changed(table, at, **values):
    return [{**row, **values} if k == at else row for k, row in enumerate(table)]


def findings(exhibit, table):
    return {claim.says: claim.check(table).holds for claim in exhibit.claims}


CELL = {
    "network": "dominant",
    "curve": "smooth",
    "way": errors.TUNED,
    "error": 0.011,
    "se": 0.001,
    "exact": 0.01,
    "zero": 1.0,
    "apart": 1.0,
    "repeats": 30,
}


def test_a_simulated_error_that_is_four_standard_errors_off_is_told():
    check = errors.POINT.claims[0].check
    assert check([CELL] * 4).holds
    assert not check(changed([CELL] * 4, 2, error=0.006)).holds


def test_an_error_above_that_of_the_zero_curve_is_told():
    check = errors.POINT.claims[2].check
    assert check([CELL]).holds
    result = check([CELL, {**CELL, "exact": 1.5}])
    assert not result.holds
    wording.found("worse", result.measured, 1, 2)


def test_networks_have_the_resolution_and_regime_that_were_worked_out():
    table = [row for call in planning.NETWORKS.work("quick").calls for row in call()]
    result = findings(planning.NETWORKS, table)
    assert list(result.values()) == [True] * 5
    wrong = [{**row, "resolution": 1.001 * row["resolution"]} for row in table]
    assert not planning.NETWORKS.claims[0].check(wrong).holds


def test_the_haar_wavelet_has_the_exact_sensitivity_of_a_curve_and_half_that_of_a_point():
    first, second, *_ = constants.constant_rows()
    assert first[constants._CURVE] == pytest.approx(1.0, rel=1e-12)
    assert first[constants._POINT] == pytest.approx(0.5, rel=1e-12)
    assert second[constants._POINT] == pytest.approx(2.25, abs=0.01)  # db2


def test_pairs_of_readings_move_a_haar_message_by_the_exact_sensitivity_and_no_more():
    curve, point = constants.haar_pairs()
    assert curve["moved"] == pytest.approx(2 * math.sqrt(64)) == pytest.approx(curve["exact"])
    assert point["moved"] == pytest.approx(2 * 64) == pytest.approx(2 * point["printed"])


def test_the_printed_noise_is_always_enough_and_the_classical_one_is_not():
    rows = {row["epsilon"]: row for row in constants.noise_rows()}
    assert all(row["printed"] > row["exact"] for row in rows.values())
    assert [epsilon for epsilon, row in rows.items() if row["classical"] < row["exact"]] == [12, 20]
    assert (rows[1.0]["printed"] / rows[1.0]["exact"]) ** 2 == pytest.approx(3.508, abs=0.001)


def test_the_line_of_a_rate_has_its_slope_and_runs_through_the_middle_of_the_points():
    x, y = [1.0, 4.0, 16.0], [8.0, 2.0, 0.5]
    assert slopes._rate(x, y, -1.0) == pytest.approx(y)
    assert slope(x, slopes._rate(x, y, -0.5)) == pytest.approx(-0.5)


def test_edges_that_are_no_better_than_periodic_ones_are_told():
    rows = [
        {"error": error, "exact": error, "se": 1e-3, "repeats": 10}
        for error in (0.0313203, 0.00606597, 0.00382)
    ]
    known, pays, _ = repairs.BASES.claims
    assert known.check(rows).holds and pays.check(rows).holds
    assert not pays.check(changed(rows, 1, exact=0.02)).holds


def test_the_quick_form_has_fewer_repeats_of_the_same_experiments():
    for exhibit in PAPER.exhibits:
        quick, full = exhibit.work("quick"), exhibit.work("full")
        assert quick.run.repeats <= full.run.repeats
        assert len(quick.cells) + len(quick.calls) <= len(full.cells) + len(full.calls)


# -- what papers share -----------------------------------------------------------------------------


def test_limits_of_a_share_are_exact_ones():
    low, high = share_limits(0, 100)
    assert low == 0 and high == pytest.approx(1 - 0.00005 ** (1 / 100))
    assert share_limits(100, 100) == pytest.approx((1 - high, 1.0))
    assert share_limits(380, 400)[0] < 0.95 < share_limits(380, 400)[1] < 1.0
    assert share_limits(340, 400)[1] < 0.93


def test_agreement_is_relative_to_what_is_stated():
    check = agrees("value", [1.0, 100.0], 0.01)
    assert check(frame([{"value": 1.009}, {"value": 100.5}])).holds
    assert not check(frame([{"value": 1.02}, {"value": 100.0}])).holds


def test_places_with_names_are_named_on_the_axis_and_in_the_table():
    chart = lines(
        [Series("a", [0.2, 0.9], [1.0, 2.0], "gradient", half=[0.5, 0.25])],
        Scale("", names=("A long name of a place", "B")),
        Scale("y"),
        "",
    )
    assert chart.spec["layout"]["xaxis"]["ticktext"] == ["A long name of<br>a place", "B"]
    assert chart.table == {
        "line": ["a", "a"],
        "at": ["A long name of a place", "B"],
        "y": [1.0, 2.0],
        "half width": [0.5, 0.25],
    }
    assert chart.spec["data"][0]["error_y"]["array"] == [0.5, 0.25]


def test_a_log_axis_holds_its_bars_but_not_ends_that_it_could_not_show():
    one = Series("a", [1.0, 2.0], [1.0, 10.0], "gradient", se=[0.45, 5.0])
    low, high = lines([one], Scale("x"), Scale("y", log=True), "").spec["layout"]["yaxis"]["range"]
    assert high > math.log10(20) and math.log10(0.8) < low < 0
