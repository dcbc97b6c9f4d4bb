"""Maps of regimes, fitted constants, measured slopes, and the words and pictures about them."""

import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.figures.theme import in_theme
from engine.language import error_words
from engine.language.numbers import change, number
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates import rates
from engine.rates.density_release import DensityReleaseRate
from engine.rates.differing_sites import DifferingMeanRate, DifferingSites
from engine.rates.fitted import Weighted, beside, fit
from engine.rates.functional_mean import FunctionalMeanRate
from engine.rates.functional_release import FunctionalReleaseRate
from engine.rates.univariate_mean import UnivariateMeanRate
from engine.simulation.agreement import AgreementVerdict
from engine.sources.sparse_curves import SparseCurves
from engine.topics.decision import charts as decision_charts
from engine.topics.planning.answer import PlannedStudy
from engine.topics.rates import charts
from engine.topics.rates import words as rate_words
from engine.topics.rates.answer import (
    PRESETS,
    Comparison,
    MeasuredError,
    axis_values,
    border,
    compare,
    regime_map,
    sweep,
    sweep_values,
)
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("plan")

RATE = FunctionalMeanRate(smoothness=2.0)
POINT = {"n": 400.0, "m": 9.0, "S": 1.0, "epsilon": 0.05, "delta": 1e-6}
PLAIN = beside(Weighted.plain(RATE), {"n": np.array([1.0, 2.0])}, np.ones(2))
HERE = PlannedStudy(SparseCurves(mean="mu1"), NoisyGradientMean(truncation=3), 1.0, 200, 10)


# -- constants ------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.5, 0.84])
def test_fitted_constants_give_privacy_its_measured_share_and_leave_the_rest(share):
    weighted = Weighted.with_privacy_share(RATE, share, **POINT)
    private = [term.is_private for term in RATE.terms]
    assert weighted.shares(**POINT)[private].sum() == pytest.approx(share)
    assert weighted.statistical == 1


def test_without_a_share_or_without_private_terms_all_constants_stay_one():
    for share in (0.0, 1.0):
        assert Weighted.with_privacy_share(RATE, share, **POINT).is_plain
    free = FunctionalMeanRate(privacy="none")
    assert Weighted.with_privacy_share(free, 0.5, **POINT).is_plain


def test_doubling_people_in_the_private_regime_divides_the_rate_as_its_exponent_says():
    deep = {**POINT, "epsilon": 1e-5, "m": 1e4}
    assert Weighted.plain(RATE).if_doubled("n", **deep) == pytest.approx(1 / 4, rel=1e-3)
    assert Weighted.plain(RATE).if_doubled("epsilon", **deep) == pytest.approx(1 / 4, rel=1e-3)


# -- the map ----------------------------------------------------------------------------------


def test_the_map_shows_the_largest_term_everywhere():
    plain = regime_map(Weighted.plain(RATE), "epsilon", "m", POINT, 50)
    for row, column in ((0, 0), (10, 40), (49, 49), (25, 5)):
        at = {**POINT, "epsilon": plain.x[column], "m": plain.y[row]}
        assert plain.regimes[row, column] == int(RATE.dominant(**at))


@pytest.mark.parametrize("key", ["A", "B", "C", "D", "E"])
def test_borders_separate_the_regimes_they_name(key):
    """Just above and below a border on the map, its two terms rule; elsewhere it is not drawn."""
    rate = FunctionalMeanRate(privacy="central", smoothness=2.0)
    boundary = next(b for b in rate.boundaries if b.key == key)
    along, across = ("m", "epsilon") if boundary.symbol == "epsilon" else ("epsilon", "m")
    x = axis_values(rate, along, POINT, 300)
    y = border(rate, boundary, along, across, x, POINT)
    assert np.isfinite(y).any()
    names = [term.name for term in rate.terms]
    for k in np.flatnonzero(np.isfinite(y))[1:-1:20]:
        sides = {
            names[int(rate.dominant(**{**POINT, along: x[k], across: y[k] * factor}))]
            for factor in (0.98, 1.02)
        }
        assert sides == set(boundary.between)


def test_a_border_in_the_symbol_of_the_horizontal_axis_is_turned_round():
    rate = FunctionalMeanRate(privacy="central", smoothness=2.0)
    boundary = next(b for b in rate.boundaries if b.key == "C")  # given in ε
    x = axis_values(rate, "epsilon", POINT, 200)
    y = border(rate, boundary, "epsilon", "m", x, POINT)
    seen = np.flatnonzero(np.isfinite(y))
    assert seen.size
    for k in seen:
        assert boundary.value(rate.at(**{**POINT, "m": y[k]})) == pytest.approx(x[k], rel=1e-3)


def test_an_axis_always_holds_the_point_with_room_around_it():
    assert axis_values(RATE, "epsilon", {**POINT, "epsilon": 1e-4}, 5)[0] < 1e-4
    assert axis_values(RATE, "n", {**POINT, "n": 1e9}, 5)[-1] > 1e9


@pytest.mark.parametrize("preset", few(PRESETS.values(), 4), ids=lambda p: p.key)
def test_every_figure_and_table_of_the_paper_draws(preset):
    point = {s.name: float(s.default) for s in preset.rate.symbols} | preset.point
    weighted = Weighted.plain(preset.rate)
    chart = charts.regimes(weighted, preset.along, preset.across, point)
    go.Figure(in_theme(chart.spec, "light"))
    assert len(PRESETS) == 17
    wording.found("map limits error", chart.alt)


def test_the_panels_of_figure_1_show_the_three_orders_of_regimes():
    left, middle, right = (PRESETS[f"figure-1-{side}"] for side in ("left", "middle", "right"))
    seen = []
    for preset in (left, middle, right):
        point = {s.name: float(s.default) for s in preset.rate.symbols} | preset.point
        epsilons = np.geomspace(1e-4, 10, 300)
        order = preset.rate.dominant(**{**point, "epsilon": epsilons})
        seen.append(
            [preset.rate.terms[k].name for i, k in enumerate(order) if i == 0 or order[i - 1] != k]
        )
    assert [len(names) for names in seen] == [3, 3, 2]
    assert seen[0][-1] == "Sparse observations" and seen[1][-1] == seen[2][-1] == "Number of people"


# -- theory over practice -----------------------------------------------------------------------


def test_a_power_law_is_found_with_its_slope_and_its_constant():
    rng, x = np.random.default_rng(2), np.geomspace(0.1, 10, 12)
    points = [
        MeasuredError(
            float(v), float(3 * v**-1.5 * np.exp(0.05 * rng.normal())), float(0.05 * 3 * v**-1.5)
        )
        for v in x
    ]
    result = compare(points, RATE, "epsilon", {**POINT, "m": 1e9})
    assert result.slope == pytest.approx(-1.5, abs=2 * result.half_width)
    assert 0.01 < result.half_width < 0.1


def test_errors_that_are_the_rate_times_a_constant_agree_with_it():
    x = np.geomspace(0.02, 2, 6)
    sizes = 7 * RATE.total(**{**POINT, "epsilon": x})
    points = [
        MeasuredError(float(v), float(e), float(0.03 * e)) for v, e in zip(x, sizes, strict=True)
    ]
    result = compare(points, RATE, "epsilon", POINT)
    assert result.slope == pytest.approx(result.theory) and result.constant == pytest.approx(7)
    assert result.agreement.verdict == AgreementVerdict.AGREES
    assert compare(points[:2], RATE, "epsilon", POINT) is None


def test_a_rate_foretells_with_privacy_as_heavy_as_measured_at_the_middle_value():
    x = np.geomspace(100, 1600, 5)
    deep = {**POINT, "m": 1e9}  # the private term falls as n⁻², the other as n⁻¹
    slopes = {}
    for share in (0.05, 0.95):
        points = [MeasuredError(float(v), 1.0 / v, 0.01 / v, share) for v in x]
        result = compare(points, RATE, "n", deep)
        private = [term.is_private for term in RATE.terms]
        assert result.fitted.weighted.shares(**{**deep, "n": 400.0})[
            private
        ].sum() == pytest.approx(share)
        slopes[share] = result.theory
    assert slopes[0.95] == pytest.approx(-2, abs=0.15)
    assert slopes[0.05] == pytest.approx(-1, abs=0.15)


def test_another_rate_weighs_privacy_as_this_one_does():
    weighted = Weighted.with_privacy_share(RATE, 0.9, **POINT)
    local = weighted.over(FunctionalMeanRate(privacy="local"))
    assert (local.statistical, local.private) == (1.0, weighted.private) and weighted.private > 1
    assert (
        local.evaluate(**POINT)
        == local.rate.evaluate(**POINT) * [1.0, weighted.private, 1.0, weighted.private]
    ).all()
    free = Weighted.plain(FunctionalMeanRate(privacy="none"))
    assert free.over(RATE).is_plain


def test_a_sweep_moves_one_symbol_and_keeps_delta():
    points = list(sweep(HERE, "people", [100.0, 400.0], 1))
    assert [p.value for p in points] == [100.0, 400.0]
    assert points[0].mean > 5 * points[1].mean > 0 and points[0].se > 0
    refused = list(
        sweep(PlannedStudy(HERE.source, AdaptiveMean(), 0.05, 50, 10), "people", [50.0], 1)
    )
    assert math.isnan(refused[0].mean)


def test_values_of_a_sweep_lie_around_the_present_one_and_can_be_drawn():
    for dial, here in (("epsilon", 1.0), ("people", 200), ("readings", 10), ("sites", 1)):
        values = sweep_values(HERE, dial)
        assert values == sorted(set(values)) and len(values) >= 4
        assert values[0] <= here <= values[-1]
        if dial != "epsilon":
            assert all(value == round(value) for value in values)


# -- words and pictures -------------------------------------------------------------------------


def test_sentences_name_the_largest_term_and_what_doubling_buys():
    weighted = Weighted.plain(RATE)
    wording.found("largest term", rate_words.ruling(weighted, POINT))
    lines = rate_words.doubled_lines(weighted, POINT).splitlines()[2:]
    of_people = math.sqrt(weighted.if_doubled("n", **POINT))  # of errors, as on all pages
    assert lines[0] == f"- People on each site (n): {change(of_people - 1)}"
    assert [line.removeprefix("- ").split(" (")[0] for line in lines] == [
        "People on each site",
        "Observations per curve",
        "Sites",
        "Privacy budget",
    ]
    wording.found("basis functions kept", rate_words.tuning(weighted, POINT))


def test_terms_that_are_equal_everywhere_are_one_region_and_are_named_together():
    rate = DensityReleaseRate()  # the best bandwidth makes spread and smoothing equal
    point = {"n": 1000.0, "epsilon": 1.0}
    regions = regime_map(Weighted.plain(rate), "epsilon", "n", point, 60)
    assert (np.diff(regions.regimes, axis=1) != 0).sum(axis=1).max() <= 1  # no stripes
    said = rate_words.ruling(Weighted.plain(rate), point)
    assert "Largest terms" in said
    wording.found("number people smoothing", said)
    assert "50 %" in said


def test_a_condition_says_up_to_what_it_holds_or_that_it_does_whatever_the_symbol_is():
    (said,) = rate_words.conditions(Weighted.plain(RATE), POINT)
    wording.found("lower bound theorem", said, 5.2)
    rate = FunctionalReleaseRate()
    point = {s.name: float(s.default) for s in rate.symbols}
    lines = rate_words.conditions(Weighted.plain(rate), point)
    assert lines and all("holds**, whatever" in line or "up to" in line for line in lines)
    wording.missing("these parameters", lines)


def test_what_remarks_ask_for_is_looked_at_on_the_sites_of_the_scenario():
    """One large site of three: other sizes with the same average ask for other r."""
    rate, point = DifferingMeanRate(), {"S": 3.0, "n": 400.0, "m": 10.0, "epsilon": 0.5}
    limits = []
    for people in ((1000, 100, 100), (400, 400, 400)):
        sites = DifferingSites(np.array(people, float), np.full(3, 0.5), 10.0, rate.smoothness)
        together, heaviest = (float(most) for most in sites.most_functions())
        lines = rate_words.conditions(Weighted.plain(rate), point, people)
        needed = float(sites.heaviest_worth()) ** (1 / (2 * rate.smoothness + 1))
        for line, limit in zip(lines, (together, heaviest, needed), strict=True):
            assert number(limit, 2) in line and number(float(sites.size()), 2) in line
        limits.append(needed)
    assert limits[0] != pytest.approx(limits[1], rel=0.05)


def test_the_bound_that_is_chosen_leaves_the_sites_to_the_scenario_and_ratios_do_not():
    source = SparseCurves(n_curves=300, n_servers=3)
    lower, stated = (
        DifferingMeanRate(**chosen) for chosen in ({"bound": "lower"}, {"people_ratio": 50.0})
    )
    assert lower.of_scenario(source).people_ratio == 1.0
    assert stated.of_scenario(source) == stated


@pytest.mark.parametrize(
    ("private", "start"),
    [
        ((0.9, 0.5, 0.1, 0.02), "From about **ε = 2.0**"),
        ((0.1, 0.05, 0.01, 0.0), "From about **ε = 0.50**"),
        ((np.nan, 0.05, 0.2, 0.02), "From about **ε = 4.0**"),
        ((0.9, 0.5, 0.02, 0.11), "At no ε up to 4"),
        ((0.9, 0.05, 0.02, np.nan), "At no ε up to 4"),
    ],
)
def test_privacy_is_called_free_only_where_it_is_measured_for_every_larger_epsilon(private, start):
    assert error_words.when_free((0.5, 1.0, 2.0, 4.0), np.array(private)).startswith(start)


def test_without_a_measured_error_nothing_is_called_free():
    assert error_words.when_free((0.5, 1.0), np.empty(0)) == ""


@pytest.mark.parametrize(
    ("slope", "words"), [(-1.0, "They agree"), (-1.6, "falls faster"), (-0.3, "falls more slowly")]
)
def test_the_verdict_on_slopes_is_plain(slope, words):
    result = Comparison(slope, 0.1, -1.0, 2.0, PLAIN)
    assert words in rate_words.verdict(result, "n")
    assert "−1.00" in rate_words.verdict(result, "n")
    contradicts = rate_words.verdict(result, "n", is_proved=False)
    assert ("contradicts nothing" in contradicts) == (slope < -1.5)
    assert "Too few points" in rate_words.verdict(None, "n")


def test_an_interval_too_wide_to_tell_one_exponent_from_another_is_not_called_agreement():
    result = Comparison(-1.24, 0.55, -0.70, 2.0, PLAIN)
    said = rate_words.verdict(result, "n")
    wording.found("slope", said, "−1.24", 0.55)
    wording.found("too imprecise tell", said)
    assert "agree" not in said


@pytest.mark.slow
def test_the_interval_of_a_slope_covers_it_in_95_percent():
    """1000 noisy power laws; five standard errors of a share are 3.5 points, on the lower side."""
    rng, x = np.random.default_rng(8), np.geomspace(0.25, 4, 6)
    deep = {**POINT, "m": 1e9}
    held = 0
    for _ in range(1000):
        size = 0.14 * rng.uniform(0.8, 1.2, 6)
        y = x**-1.3 * np.exp(size * rng.normal(size=6))
        points = [
            MeasuredError(float(v), float(e), float(s * e))
            for v, e, s in zip(x, y, size, strict=True)
        ]
        result = compare(points, RATE, "epsilon", deep)
        held += abs(result.slope + 1.3) <= result.half_width
    assert 0.915 < held / 1000 < 0.999


@pytest.mark.parametrize("theme", few(["light", "dark"]))  # themes differ in colours alone
@pytest.mark.parametrize("cls", few(rates.all(), 3), ids=lambda cls: cls.key)
def test_every_rate_draws_its_map(cls, theme):
    rate = cls()
    point = {s.name: float(s.default) for s in rate.symbols}
    names = [s.name for s in rate.symbols if s.name != "delta"]
    weighted = Weighted.plain(rate)
    chart = charts.regimes(weighted, names[0], names[1], point)
    go.Figure(in_theme(chart.spec, theme))
    json.dumps(chart.spec["data"], allow_nan=False)
    assert chart.alt.endswith(".") and chart.table


def test_the_picture_of_measured_errors_shows_each_method_and_the_rate_through_it():
    points = list(sweep(HERE, "epsilon", [0.5, 1.0, 2.0, 4.0], 1))
    result = compare(points, RATE, "epsilon", POINT)
    along = next(s for s in RATE.symbols if s.name == "epsilon")
    each = [
        charts.MeasuredSeries("one", points, result, ("gradient", "solid", "circle")),
        charts.MeasuredSeries("other", points[:2], None, ("gradient", "solid", "x")),
    ]
    chart = charts.practice(each, along, POINT, "cm")
    go.Figure(in_theme(chart.spec, "light"))
    names = [trace["name"] for trace in chart.spec["data"]]
    assert len(names) == 3 and names[::2] == ["one", "other"]
    line = chart.spec["data"][1]
    assert line["y"][0] == pytest.approx(float(result.fitted.squares(**{**POINT, "epsilon": 0.5})))
    assert f"{result.slope:.2f}" in chart.alt
    wording.found("other measured errors", chart.alt, 2)
    assert chart.table["method"] == ["one"] * 4 + ["other"] * 2
    go.Figure(in_theme(charts.practice([], along, POINT, "").spec, "light"))


def test_rates_fitted_to_two_methods_are_told_apart_and_each_has_its_factor():
    points = list(sweep(HERE, "epsilon", [0.5, 1.0, 2.0, 4.0], 1))
    result = compare(points, RATE, "epsilon", POINT)
    along = next(s for s in RATE.symbols if s.name == "epsilon")
    each = [
        charts.MeasuredSeries(name, points, result, ("gradient", "solid", "circle"))
        for name in ("One method", "Another")
    ]
    lines = [
        trace
        for trace in charts.practice(each, along, POINT, "cm").spec["data"]
        if trace["mode"] == "lines"
    ]
    assert (
        len({line["name"] for line in lines}) == len({line["line"]["dash"] for line in lines}) == 2
    )
    said = rate_words.fitted_to_squares({one.name: one.compared.fitted for one in each})
    assert said.count(number((1 + result.fitted.largest_deviation) ** 2)) == 2


def test_beside_squared_errors_the_factor_is_that_of_squared_errors():
    errors = np.array([p.mean for p in sweep(HERE, "epsilon", [0.5, 1.0, 2.0, 4.0], 1)])
    fitted = fit(RATE, {**POINT, "epsilon": np.array([0.5, 1.0, 2.0, 4.0])}, errors)
    ratio = errors / fitted.squares(**{**POINT, "epsilon": np.array([0.5, 1.0, 2.0, 4.0])})
    most = number(float(max(ratio.max(), 1 / ratio.min())))
    wording.found("squared errors within", rate_words.fitted_to_squares({"one": fitted}), most)


def test_the_map_of_a_plan_has_a_line_at_the_target_and_gaps_where_nothing_is_published():
    errors = np.array([[np.nan, 4.0, 2.0], [3.0, 2.0, 0.5]])
    chart = decision_charts.map_of_errors(
        [50, 200],
        [0.1, 1.0, 8.0],
        errors,
        2.0,
        (1.0, 200),
        "children",
        "cm",
        "200 children: target met at ε = 1",
    )
    go.Figure(in_theme(chart.spec, "light"))
    json.dumps(chart.spec["data"], allow_nan=False)
    line = chart.spec["data"][1]["contours"]
    z = chart.spec["data"][0]["z"]
    assert line["start"] == line["end"] == z[0][2] == z[1][1]  # where the error is the target
    assert z[0][0] is None and z[1][2] < z[1][1] < z[1][0] < z[0][1]
    wording.found("line where cm", chart.alt, "2.00", 200, 1)
    empty = decision_charts.map_of_errors(
        [5, 6], [0.1, 1.0], np.full((2, 2), np.nan), 2.0, (1.0, 5), "children", "cm", "Nothing"
    )
    go.Figure(in_theme(empty.spec, "light"))


@pytest.mark.parametrize("setting", ["central_item", "site", "local_item"])
def test_errors_of_private_numbers_fall_with_people_as_the_rate_says(setting):
    """Five numbers of people, 50 data sets each."""
    rate = UnivariateMeanRate(setting=setting)
    source, method = rate.in_practice()
    here = PlannedStudy(source, method, 0.3, 1, 50, 60, 0.0)
    points = list(sweep(here, "sites", [30, 60, 120, 240, 480], 1))
    result = compare(points, rate, "S", {"S": 60.0, "n": 50.0, "epsilon": 0.3})
    print(setting, result)
    assert result.slope == pytest.approx(result.theory, abs=max(2.5 * result.half_width, 0.15))
