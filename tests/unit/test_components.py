"""Directions in which people differ, by a release, and what is said of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage.components import KnownPeople, components_of_people, measured, settings
from engine.answers import ReleasedCurve, card
from engine.answers.components import components_of
from engine.answers.modes import Modes
from engine.answers.reply import Verdict
from engine.answers.spread import standard_deviation
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.topics.components.charts import directions
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("summaries")

EVERY = list(settings())


def released(n=2000, epsilon=1.0, repeat=0, shape="polynomials", **source):
    people = KnownPeople(mean="flat", shape=shape, n_curves=n, **source)
    estimate = AdaptiveMean().release(
        people.draw(1, generator(4, 0, repeat)),
        (Budget(epsilon, n**-2.0),),
        generator(4, 1, repeat),
    )
    return ReleasedCurve.of(estimate, people.facts)


@pytest.fixture(scope="module")
def many():
    return released(n_observations_per_curve=24, times="common")


def test_a_level_a_trend_and_a_bend_are_told_with_their_shares(many):
    components = many.components()
    assert components.n_shown >= 3
    shares, directions = components_of_people("polynomials")
    found = components.directions[:, :3]
    turned = np.degrees(np.arccos(np.abs((found * directions[: len(found), :3]).sum(axis=0))))
    assert (turned < [6, 8, 12]).all()
    for share, (low, high) in zip(shares, components.limits, strict=False):
        assert low <= share <= high


def test_a_function_is_positive_where_it_is_largest_and_has_the_spread_of_its_direction(many):
    components, times = many.components(), np.linspace(0, 1, 101)
    curves = components.curves(times)
    assert (np.take_along_axis(curves, np.abs(curves).argmax(axis=1)[:, None], axis=1) > 0).all()
    whole = replace(many.spread).estimate  # all directions together are how people spread
    assert ((curves**2).sum(axis=0) <= standard_deviation(whole, times) ** 2 * (1 + 1e-9)).all()


def test_few_people_tell_no_direction_or_are_refused():
    small = released(60)
    assert Modes().answer(small).verdict is Verdict.REFUSED
    with pytest.raises(InputError):
        small.components()
    vague = released(200, 0.8, n_observations_per_curve=2)
    assert vague.components().n_shown == 0
    answer = Modes().answer(vague)
    assert answer.verdict is Verdict.OPEN and answer.value is None


def test_the_answer_gives_shares_intervals_and_angles_in_words(many):
    answer = Modes().answer(many)
    assert answer.verdict is Verdict.TOLD
    assert answer.values == tuple(many.components().shares.tolist())
    percent = [f"{100 * share:.0f}" for share in (answer.value, *answer.interval)]
    wording.found("directions of people", answer.text, *percent)


def test_the_card_tells_the_components_of_its_release(many):
    written = {"kind": "differential privacy guarantee", "answers": card.written(many)}
    again = card.read(json.loads(json.dumps(written)))
    assert Modes().answer(again).plain() == Modes().answer(many).plain()


def test_finer_detail_than_the_functions_draw_is_seen_in_the_fit(many):
    """An oscillation of people that no polynomial of six draws, added to the released moments."""
    spread = many.spread
    finer = np.zeros(len(spread.moments))
    finer[10] = 1.0
    beyond = replace(spread, moments=spread.moments + 0.5 * np.outer(finer, finer))
    assert components_of(beyond).has_finer_detail
    assert not components_of(spread).has_finer_detail


def test_people_who_are_symmetric_in_time_have_equal_spread_at_both_ends():
    """Read in the wrong functions, σ(.05)/σ(.95) is 1.21 at three observations each."""
    ratios = []
    for repeat in range(8):
        curve = released(2000, 3.0, repeat, n_observations_per_curve=3)
        first, last = standard_deviation(curve.spread.estimate, np.array([0.05, 0.95]))
        ratios.append(first / last)
    assert np.mean(ratios) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("setting", few(EVERY, 4))
def test_directions_that_are_told_are_right_and_their_shares_covered(setting):
    assert measured(setting, 12, seed=7).holds


def test_a_covariance_that_takes_the_whole_budget_tells_less():
    """Directions of the free moments are at most 4, 6 and 10° away in the median."""
    setting = next(
        each
        for each in EVERY
        if each.label == "kernel, normal, 24 common times" and each.study.source.n_curves == 2000
    )
    assert (measured(setting, 5, seed=2).angle <= [4, 6, 10]).all()


def test_the_picture_has_a_panel_for_each_direction_and_none_without_one(many):
    chart = directions(many)
    assert len([key for key in chart.spec["layout"] if key.startswith("xaxis")]) == 3
    above, mean, below = (
        np.array(chart.table[name]) for name in ("level, above", "private mean", "level, below")
    )
    assert above + below == pytest.approx(2 * mean, abs=1e-3) and (above > below).all()
    assert directions(released(60)) is None
    assert directions(released(200, 0.8, n_observations_per_curve=2)) is None
