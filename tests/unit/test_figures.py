"""Figures are valid Plotly specifications that show the numbers of the sentences beside them."""

from __future__ import annotations

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.core.types import Budget, PublicFacts
from engine.figures import small_charts, theme, traces
from engine.language import odds_words
from engine.privacy import risk
from engine.privacy.accounting import exact_mu
from engine.topics.mean import charts
from tests.sentences import of_topic

wording = of_topic("mean")

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
MEDIAN = 3 / np.array(EPSILONS) + 0.8
ERRORS = np.random.default_rng(1).gamma(9, 0.43, 400)
THEMES = ("light", "dark")
COLOUR = r"#[0-9A-F]{6}|rgba\([0-9,]+"


def method(errors: np.ndarray = MEDIAN, label: str = "Ours", variant: int = 0):
    return charts.Method(label, "adaptive_mean", "gradient", errors, variant)


def all_charts() -> dict[str, theme.Chart]:
    return {
        "odds": small_charts.odds(0.556, "child"),
        "dots": small_charts.error_dots(ERRORS, 0.82, "cm"),
        "split": small_charts.split_bar([0.79, 0.01, 0.2], ["noise", "sampling", "smoothing"]),
        "trade-off": small_charts.trade_off(risk.odds(exact_mu(2.0, 1e-5), Budget(2.0, 1e-5))),
    }


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("which", ["odds", "dots", "split", "trade-off"])
def test_every_figure_is_valid_and_plain(which, name):
    chart = all_charts()[which]
    figure = go.Figure(theme.in_theme(chart.spec, name))  # refuses unknown properties and values
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    json.dumps(chart.spec["data"], allow_nan=False)


@pytest.mark.parametrize("which", ["odds", "dots", "split", "trade-off"])
def test_every_figure_has_one_sentence_and_a_table(which):
    chart = all_charts()[which]
    assert chart.alt.endswith(".") and any(c.isdigit() for c in chart.alt)
    assert len({len(column) for column in chart.table.values()}) == 1


@pytest.mark.parametrize("which", ["odds", "dots", "split", "trade-off"])
def test_themes_differ_in_colours_alone(which):
    light, dark = (theme.in_theme(all_charts()[which].spec, name) for name in THEMES)
    assert light != dark
    assert re.sub(COLOUR, "", json.dumps(light)) == re.sub(COLOUR, "", json.dumps(dark))


def test_a_chart_is_drawn_in_another_theme_without_being_changed():
    spec = {
        "data": [
            {
                "x": [1.0, 2.0],
                "name": "gradient",
                "marker": {
                    "color": ["gradient", "raw / 0.5"],
                    "colorscale": [[0, "page"], [1, "page to text at 1"]],
                },
            }
        ],
        "layout": {"annotations": [{"text": "text", "font": {"color": "quiet"}}]},
    }
    drawn = theme.in_theme(spec, "dark")
    marker = drawn["data"][0]["marker"]
    assert marker["color"] == ["#7A92FF", "rgba(120,131,154,0.5)"]
    assert marker["colorscale"] == [[0, "#10141E"], [1, "#E9ECF3"]]
    assert (
        drawn["data"][0]["name"] == "gradient"
        and drawn["layout"]["annotations"][0]["text"] == "text"
    )
    assert drawn["layout"]["annotations"][0]["font"]["color"] == "#B4BCCB"
    assert spec["data"][0]["marker"]["color"] == ["gradient", "raw / 0.5"]


def test_a_page_gets_the_colours_of_both_themes_to_choose_from():
    spec = {
        "data": [
            {
                "x": [1.0],
                "line": {"color": "raw / 0.5"},
                "marker": {"color": [0.1, 0.9], "colorscale": [[0, "page"]]},
            }
        ]
    }
    assert theme.in_both_themes(spec) == {
        "data": [
            {
                "x": [1.0],
                "line": {"color": {name: theme.colour("raw / 0.5", name) for name in THEMES}},
                "marker": {
                    "color": [0.1, 0.9],
                    "colorscale": [[0, {name: theme.colour("page", name) for name in THEMES}]],
                },
            }
        ]
    }


@pytest.mark.parametrize("shade", ["grdient", "grdient / 0.5", "page to ink at 0.5", "#FFFFFF", ""])
def test_a_chart_with_a_colour_of_its_own_or_a_role_that_there_is_not_is_refused(shade):
    with pytest.raises(KeyError):
        theme.in_theme({"line": {"color": shade}}, "light")


@pytest.mark.parametrize("right, more", [(0.5017, 1), (0.556, 6), (0.731, 24), (0.85, 35)])
def test_the_hundred_dots_agree_with_the_sentence(right, more):
    chart = small_charts.odds(right, "child")
    dots = {trace["name"]: len(trace["x"]) for trace in chart.spec["data"]}
    assert dots == {"right by chance": 50, "more": more, "wrong": 50 - more}
    odds = risk.Odds(Budget(1.0), right, 0.1, 0.1, 1.0, 1.0)
    assert f"at most {more} more" in odds_words.odds_key(odds)


def test_the_trade_off_lies_between_a_blind_guess_and_what_the_budget_allows():
    odds = risk.odds(exact_mu(2.0, 1e-5), Budget(2.0, 1e-5))
    blind, cap, own, marks = small_charts.trade_off(odds).spec["data"]
    assert all(b <= o <= c + 1e-9 for b, o, c in zip(blind["y"], own["y"], cap["y"], strict=True))
    assert marks["x"] == [0.01, 0.05] and marks["y"] == pytest.approx(
        [odds.power_at_1_percent, odds.power]
    )


def test_the_dots_stand_in_five_rows_of_twenty():
    data = small_charts.odds(0.556, "child").spec["data"]
    places = {(x, y) for trace in data for x, y in zip(trace["x"], trace["y"], strict=True)}
    assert len(places) == 100
    assert {x for x, _ in places} == set(range(20)) and len({y for _, y in places}) == 5


def test_twenty_dots_stand_near_the_quantiles_of_the_error():
    dots = small_charts.error_dots(ERRORS, 0.82, "cm").spec["data"][0]
    expected = np.quantile(ERRORS, (np.arange(20) + 0.5) / 20)
    assert np.abs(np.sort(dots["x"]) - expected).max() <= expected.max() * 1.08 / 28 / 2 + 1e-9
    assert len(set(zip(dots["x"], dots["y"], strict=True))) == 20


def test_real_curves_have_no_line_for_the_error_without_protection():
    assert len(small_charts.error_dots(ERRORS, None, "cm").spec["data"]) == 1


def test_the_split_bar_differs_by_pattern_and_not_by_colour_alone():
    data = small_charts.split_bar([0.5, 0.2, 0.3], ["a", "b", "c"]).spec["data"]
    shapes = [trace["marker"].get("pattern", {}).get("shape", "") for trace in data]
    assert shapes == ["", "/", "x"]
    assert sum(trace["x"][0] for trace in data) == pytest.approx(1)


def test_a_method_of_an_unknown_key_takes_the_hue_of_its_family():
    assert theme.method_style("wavelet_global", "wavelet")[0] == "wavelet"


def test_members_of_a_family_differ_by_dash_and_marker():
    one = theme.method_style("adaptive_mean", "gradient")
    other = theme.method_style("noisy_gradient_mean", "gradient")
    assert one[0] == other[0] and one[1] != other[1] and one[2] != other[2]


def test_large_ticks_between_powers_of_ten_keep_their_leading_digit():
    texts = theme.log_axis("error", 4e4, 6e5)["ticktext"]
    assert texts == ["50\u202f000", "10<sup>5</sup>", "2×10<sup>5</sup>", "5×10<sup>5</sup>"]


@pytest.mark.parametrize(("low", "high"), [(0.095, 0.17), (0.11, 0.19), (2.1, 2.2), (1.01, 1.013)])
def test_a_log_axis_over_little_has_at_least_two_ticks_inside(low, high):
    axis = theme.log_axis("error", low, high)
    assert 2 <= len(axis["tickvals"]) <= 9
    assert all(low <= value <= high for value in axis["tickvals"])


@pytest.mark.parametrize(("low", "high", "step"), [(2, 18, 4), (0, 1, 0.2), (0, 24, 5)])
def test_both_ends_of_a_time_axis_have_a_tick(low, high, step):
    axis = theme.time_axis(PublicFacts(time_low=low, time_high=high))
    steps = (high - low) / axis["dtick"]
    assert axis["tick0"] == low and axis["range"] == [low, high]
    assert steps == pytest.approx(round(steps)) and 2 <= round(steps) <= 5
    assert axis["dtick"] >= step


def test_a_time_axis_of_no_round_length_gets_a_few_ticks():
    assert theme.time_axis(PublicFacts(time_low=1, time_high=93.7))["nticks"] == 6


def test_a_number_that_there_is_not_leaves_a_gap_in_its_line():
    assert traces.plain([0.1234567, np.nan, np.inf, 2e-7]) == [0.12346, None, None, 2e-7]


def test_curves_in_one_line_are_kept_apart_by_gaps():
    x, y = traces.joined([0.0, 1.0], [[2.0, 3.0], [4.0, 5.0]])
    assert x == [0.0, 1.0, None, 0.0, 1.0, None]
    assert y == [2.0, 3.0, None, 4.0, 5.0, None]


def test_a_range_goes_out_along_its_upper_limit_and_back_along_the_lower_one():
    trace = traces.filled("Range", [0.0, 1.0], [2.0, 3.0], [4.0, 5.0], "text")
    assert trace["x"] == [0.0, 1.0, 1.0, 0.0]
    assert trace["y"] == [4.0, 5.0, 3.0, 2.0]


def test_a_function_without_any_error_is_named_where_a_log_axis_has_no_place_for_it():
    """As the 5 % curve of an activity that is 0 at all times."""
    errors = np.array([[np.nan, np.nan, np.nan], [0.0, 5.0, 10.0], [0.0, 3.0, 8.0]])
    chart = small_charts.errors_over_budgets(
        (0.5, 1.0, 2.0),
        errors,
        ("5 %", "50 %", "95 %"),
        1.0,
        "steps",
        together={"All": np.sqrt((errors**2).sum(axis=1))},
    )
    drawn = {trace.name: trace.y for trace in go.Figure(theme.in_theme(chart.spec, "light")).data}
    assert set(drawn["5 %: 0"]) == {None} and drawn["50 %"][1:] == (5.0, 3.0)
    assert 10 ** chart.spec["layout"]["yaxis"]["range"][0] < 3.0
    assert chart.table["5 %"] == [None, 0.0, 0.0]
