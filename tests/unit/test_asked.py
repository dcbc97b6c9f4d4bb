"""Questions asked of the releases on screen: the engine's own answers, drawn as they are."""

import dataclasses
import json
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from engine.answers import ReleasedCurve
from engine.answers.people import NextPersonAt
from engine.core.errors import InputError
from engine.core.types import Budget, Caution, SaidIn
from engine.language.numbers import unbroken
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.study import Study
from engine.sources.grouped_curves import GroupedCurves
from engine.sources.growth_curves import GrowthCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean import shape, words
from engine.topics.mean.answer import on_screen
from engine.topics.mean.asked import (
    ASKED_DRAWS,
    asked,
    asked_groups,
    asked_next,
    curve_question,
    first_release,
)
from engine.topics.mean.live_asked import asked_payload, groups_payload
from tests.sentences import of_topic
from tests.unit.test_figure_payload import numbers

wording = of_topic("odds")

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=10)
BUDGETS = (Budget(0.05, 1e-5), Budget(2.0, 1e-5), Budget(10.0, 1e-5))
DEFAULT = {kind: shape.default(kind, SOURCE.facts) for kind in shape.KINDS}


@cache
def asked_of_all(kind):
    return asked(SOURCE, AdaptiveMean(), BUDGETS, 1, DEFAULT[kind])


@pytest.fixture(scope="module")
def releases():
    return on_screen(SOURCE, AdaptiveMean(), BUDGETS, 1)


@pytest.mark.parametrize("kind", shape.KINDS)
def test_every_release_on_screen_says_what_the_engine_answers_of_the_same_release(kind, releases):
    data, estimate = releases
    result = asked_of_all(kind)
    for budget in (1, 2):
        for draw in range(ASKED_DRAWS):
            curve = ReleasedCurve.of(estimate, data.facts, budget, draw=draw)
            answer = curve_question(DEFAULT[kind]).answer(curve)
            assert result.marks[budget][draw].text.startswith(answer.text)
            np.testing.assert_array_equal(result.curves[0, budget, draw], curve.band.middle[::2])
            np.testing.assert_array_equal(result.curves[1, budget, draw], curve.band.low[::2])
            drawn = [bar[:2] for bar in result.marks[budget][draw].bars]
            assert kind in ("sign", "above") or drawn == list(answer.pieces)


def test_marks_lie_on_the_curve_that_answers(releases):
    times = np.linspace(2, 18, 101)
    for kind in ("peak", "sign", "fastest"):
        result = asked_of_all(kind)
        for time, height in result.marks[2][0].dots:
            assert np.interp(time, times, result.curves[0, 2, 0]) == pytest.approx(height, abs=0.2)


def test_releases_on_screen_say_where_new_people_lie_and_simulated_ones_do():
    source = SparseCurves(mean="growth", n_curves=300)
    budgets = [Budget(0.1, 1e-5), Budget(3.0, 1e-5)]
    answers = asked_next(source, AdaptiveMean(), budgets, 1)
    below, above = answers.people
    assert np.isnan(below[0]).all() and np.isnan(answers.right[0]).all()
    assert (below[1] < answers.curves[0, 1]).all() and (answers.curves[0, 1] < above[1]).all()
    assert ((answers.right[1] > 0.9) & (answers.right[1] < 0.995)).all()
    data, estimate = on_screen(source, AdaptiveMean(), budgets, 1)
    curve = ReleasedCurve.of(estimate, data.facts, 1, draw=2)
    assert answers.marks[1][2].text == NextPersonAt().answer(curve).text


def test_velocities_are_per_unit_of_time_and_only_where_they_can_be_told():
    result = asked_of_all("fastest")
    middle, low, high = result.speeds
    assert np.isnan(middle[0]).all()
    rises = (result.curves[0, 2, :, -1] - result.curves[0, 2, :, 0]) / 16
    np.testing.assert_allclose(middle[2].mean(axis=1), rises, rtol=0.02)
    assert ((low <= middle) & (middle <= high))[2].all()


def test_a_method_without_a_covariance_is_not_asked():
    with pytest.raises(InputError):
        asked(SOURCE, NoisyGradientMean(), BUDGETS, 1, DEFAULT["peak"])


def test_the_first_release_is_that_of_the_picture(releases):
    data, estimate = releases
    curve = first_release(Study(source=SOURCE, mechanism=AdaptiveMean(), budgets=(BUDGETS[1],)))
    np.testing.assert_array_equal(curve.centre, ReleasedCurve.of(estimate, data.facts, 1).centre)


@pytest.mark.parametrize("kind", ["peak", "fastest", "above"])
def test_the_browser_is_sent_the_curves_that_answer_within_one_step_of_their_range(kind):
    ordinary = 80 + 6 * np.linspace(0, 16, 101)
    view = SimpleNamespace(releases=np.broadcast_to(ordinary, (3, 20, 101)), ordinary=ordinary)
    result = asked_of_all(kind)
    sent = json.loads(json.dumps(asked_payload(SOURCE.facts, view, result), allow_nan=False))
    parts = [(sent["curves"], result.curves[0] - view.ordinary)]
    parts += [(sent["speed"], result.speeds[0])] if kind == "fastest" else []
    for part, values in parts:
        low, high = part["scales"][2]
        rows = numbers(part["middle"][2], low, high).reshape(ASKED_DRAWS, -1)
        np.testing.assert_allclose(rows, values[2], atol=(high - low) / 65535)
    assert [mark["text"] for mark in sent["marks"][2]] == [
        unbroken(m.text) for m in result.marks[2]
    ]


# -- the simulated counterpart --------------------------------------------------------------------


def test_the_fastest_rise_is_looked_for_in_its_window_alone():
    times = np.linspace(2, 18, 161)
    curve = np.tanh(3 * (times - 5)) + 2 * np.tanh(3 * (times - 12))
    question = dataclasses.replace(DEFAULT["fastest"])
    assert shape.answers(question, curve, times) == pytest.approx(12, abs=0.051)
    early = dataclasses.replace(question, second=8.0)
    assert shape.answers(early, curve, times) == pytest.approx(5, abs=0.051)
    with pytest.raises(InputError, match="after the start"):
        shape.checked(dataclasses.replace(question, first=8.0, second=8.1), SOURCE.facts)


def test_the_time_above_a_level_is_that_of_the_line_joining_the_points():
    times = np.linspace(2, 18, 161)
    question = dataclasses.replace(DEFAULT["above"], level=130.0)
    lines = np.stack([100 + 5 * (times - 2), np.full(161, 150.0), np.full(161, 90.0)])
    assert shape.answers(question, lines, times).tolist() == pytest.approx([10.0, 16.0, 0.0])


# -- two groups -----------------------------------------------------------------------------------

GROWTH = GrowthCurves(n_curves=300, n_observations_per_curve=10)


@pytest.mark.parametrize(
    "source",
    [
        GROWTH,
        GrowthCurves(n_curves=90, n_servers=3),
        GroupedCurves(n_curves=200, difference=2.0, n_servers=2),
    ],
)
def test_groups_on_screen_are_the_people_of_the_picture(source):
    data = source.draw(1, np.random.default_rng(3))
    group = source.groups_drawn(np.random.default_rng(3))
    assert set(group) == {0, 1} and len(group) == data.n_curves
    people = [data.of_people(group == place) for place in (0, 1)]
    assert sum(each.n_curves for each in people) == data.n_curves
    difference = (
        source.of_group(source.group_names[1]).truth.grid_values
        - source.of_group(source.group_names[0]).truth.grid_values
    )
    # Late values are higher in the second group: who is in which is told right.
    late = [np.mean(each.values[0][each.times[0] > 0.6]) for each in people]
    assert (late[1] - late[0]) * difference[70:].mean() > 0


def test_releases_of_groups_on_screen_are_compared_as_the_engine_compares_them():
    groups = asked_groups(GROWTH, AdaptiveMean(), BUDGETS[1:], 1)
    assert sum(groups.sizes) == 300 and groups.names == ("girls", "boys")
    np.testing.assert_allclose(
        groups.difference[0][1], groups.first[0][1] - groups.second[0][1], atol=4.0
    )  # end slopes of a shorter release differ from its parts
    assert groups.detected(1) == ASKED_DRAWS  # heights at eighteen are 13 cm apart
    for text in groups.texts[1]:
        wording.found("girls boys differ", text)
    again = asked_groups(GROWTH, AdaptiveMean(), BUDGETS[1:], 1)
    np.testing.assert_array_equal(groups.difference, again.difference)


def test_void_releases_of_groups_are_counted_and_not_tested():
    class WithTwoVoid(AdaptiveMean):
        def release_many(self, *args):
            estimate = super().release_many(*args)
            applies = np.zeros(estimate.coefficients.shape[:3], dtype=bool)
            applies[1, 0, :2] = True
            caution = Caution("Void.", applies, SaidIn.HEADING)
            return dataclasses.replace(estimate, cautions=(caution,))

    groups = asked_groups(GROWTH, WithTwoVoid(), BUDGETS[1:], 1)
    assert [groups.void(k) for k in range(2)] == [0, 2]
    assert np.isnan(groups.p[1, :2]).all() and not any("p " in text for text in groups.texts[1][:2])
    assert groups.detected(1) == ASKED_DRAWS - 2
    told = words.groups_told(groups.detected(1), ASKED_DRAWS, groups.void(1))
    assert "**3 of 3**" in told and "2 releases" in told
    assert "**" not in words.groups_told(0, ASKED_DRAWS, ASKED_DRAWS)


def test_the_browser_is_sent_both_groups_and_their_difference():
    groups = asked_groups(GROWTH, AdaptiveMean(), BUDGETS[1:], 1)
    ordinary = 80 + 6 * np.linspace(0, 16, 101)
    view = SimpleNamespace(releases=np.broadcast_to(ordinary, (2, 20, 101)), ordinary=ordinary)
    sent = json.loads(json.dumps(groups_payload(GROWTH.facts, view, groups), allow_nan=False))
    for part, values in (
        (sent["curves"], groups.first[0] - ordinary),
        (sent["other"], groups.second[0] - ordinary),
        (sent["speed"], groups.difference[0]),
    ):
        low, high = part["scales"][1]
        rows = numbers(part["middle"][1], low, high).reshape(ASKED_DRAWS, -1)
        np.testing.assert_allclose(rows, values[1], atol=(high - low) / 65535)
    assert sent["told"][1] == [True] * ASKED_DRAWS


def test_without_groups_there_is_nothing_to_compare():
    with pytest.raises(InputError, match="no groups"):
        asked_groups(SOURCE, AdaptiveMean(), BUDGETS, 1)
