"""Dots of estimates of a mean: their spread is that of the rates, and too many numbers are refused."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.core.errors import InputError
from engine.figures.theme import in_theme
from engine.rates.univariate_mean import UnivariateMeanRate, largest_exponent
from engine.topics.rates import charts, words
from engine.topics.rates.check import by_eye


def squares(shown, setting):
    """Mean squared error and its standard error."""
    off = (shown.estimates[setting] - shown.truth) ** 2
    return off.mean(), off.std(ddof=1) / len(off) ** 0.5


@pytest.mark.parametrize(
    ("setting", "noise"),
    [
        ("none", 0.0),
        ("central_item", 2 / (100 * 40 * 0.5) ** 2),
        ("site", 2 / (100 * (40 * 0.5) ** 2)),
        ("local_item", 2 / (100 * 40 * 0.5**2)),
    ],
)
def test_dots_scatter_by_sampling_and_the_noise_of_their_setting(setting, noise):
    mean, se = squares(by_eye(100, 40, 0.5, 3), setting)
    assert abs(mean - (0.2**2 * 0.95 / (100 * 40) + noise)) < 5 * se


def test_all_settings_see_the_same_data():
    result = by_eye(60, 30, 1e3, 2)
    for setting in ("central_item", "site"):  # nearly no noise
        np.testing.assert_allclose(result.estimates[setting], result.estimates["none"], atol=1e-3)


def test_fewer_dots_are_drawn_of_many_numbers_and_none_of_too_many():
    assert len(by_eye(400, 500, 1.0, 1).estimates["none"]) == 20
    with pytest.raises(InputError, match="at most"):
        by_eye(1000, 20_000, 1.0, 1)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_picture_has_a_row_for_each_kind_of_trust_and_names_the_farthest(name):
    result = by_eye(50, 20, 0.2, 1)
    chart = charts.by_eye(result)
    go.Figure(in_theme(chart.spec, name))
    json.dumps(chart.spec["data"], allow_nan=False)
    assert len(chart.spec["data"]) == len(result.estimates) + 1 == 7
    errors = dict(zip(*chart.table.values(), strict=True))
    farthest = max(errors, key=errors.get)
    assert farthest.lower() in chart.spec["layout"]["title"]["text"].lower().replace("<br>", " ")


def test_the_effect_of_people_on_lost_votes_is_said_and_ends_where_noise_takes_over():
    rate = UnivariateMeanRate(setting="local_user_large_n")
    here = {"S": 200.0, "n": 4000.0, "epsilon": 0.2}
    assert f"{np.exp(-8):.2g}"[:4] in words.lost(rate, here).replace("0.", ".").replace(".", "0.")
    people = float(largest_exponent(np.array(4000.0))) / 0.2**2
    other = UnivariateMeanRate(setting="local_user_small_n")
    at = {**here, "S": people}
    assert rate.total(**at) == pytest.approx(other.total(**at), rel=1e-9)
    assert words.lost(other, here) == ""
