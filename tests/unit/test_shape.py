"""Questions of shape: closed forms, any number of axes, counts with their range, and refusals."""

import dataclasses
import math

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget, PublicFacts
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.sources import sources
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean import shape, words
from engine.topics.mean.answer import drawn, mean_over_budgets, other_methods
from engine.topics.mean.shape import Agreeing, ShapeQuery
from tests.sentences import of_topic

wording = of_topic("mean")

TIMES = np.linspace(2.0, 18.0, 161)
FACTS = PublicFacts(
    time_low=2.0,
    time_high=18.0,
    value_low=60.0,
    value_high=200.0,
    value_unit="cm",
    time_name="Age",
    time_unit="years",
)
PEAK = ShapeQuery("peak", 0.8, 7.0, 13.0, 130.0)
SIGN, CROSSING = (dataclasses.replace(PEAK, kind=kind) for kind in ("sign", "crossing"))


def bump(place):
    return 100 - (TIMES - place) ** 2


# -- what a curve answers ---------------------------------------------------------------------


def test_the_peak_of_a_parabola_is_its_place_and_of_equal_ones_the_first():
    assert shape.peak_times(bump(7.3), TIMES) == pytest.approx(7.3)
    assert shape.peak_times(np.zeros(161), TIMES) == 2.0


def test_a_straight_line_reaches_a_level_where_algebra_says_between_the_points():
    line = 60 + 7 * (TIMES - 2)
    assert shape.crossing_times(line, TIMES, 123.45) == pytest.approx(2 + 63.45 / 7)
    assert shape.crossing_times(line, TIMES, 60) == 2.0
    assert shape.crossing_times(line, TIMES, line[-1]) == pytest.approx(18)
    assert math.isnan(shape.crossing_times(line, TIMES, 200))


def test_of_several_crossings_the_first_counts_whichever_way_it_goes():
    wave = np.cos(TIMES)
    assert shape.crossing_times(wave, TIMES, 0.0) == pytest.approx(1.5 * math.pi, abs=2e-3)
    assert shape.crossing_times(-wave, TIMES, 0.0) == pytest.approx(1.5 * math.pi, abs=2e-3)


def test_a_curve_that_rests_on_the_level_is_there_from_the_start():
    assert shape.crossing_times(np.full(161, 5.0), TIMES, 5.0) == 2.0


def test_the_difference_between_two_times_is_exact_on_a_line_between_its_points():
    line = 3 * TIMES
    assert shape.differences(line, TIMES, 4.03, 9.77) == pytest.approx(3 * 5.74)
    assert shape.differences(line, TIMES, 2.0, 18.0) == pytest.approx(48)
    assert shape.differences(line, TIMES, 9.0, 5.0) == pytest.approx(-12)


@pytest.mark.parametrize("question", [PEAK, SIGN, CROSSING], ids=lambda q: q.kind)
def test_any_axes_before_the_points_are_answered_one_by_one(question):
    curves = generator(3, DATA_STREAM, 0).normal(120, 20, (2, 3, 5, 161))
    together = shape.answers(question, curves, TIMES)
    assert together.shape == (2, 3, 5)
    one_by_one = [shape.answers(question, curve, TIMES) for curve in curves.reshape(-1, 161)]
    np.testing.assert_array_equal(together.ravel(), one_by_one)
    same = shape.how_often(question, curves, curves[0, 0, 0], TIMES)
    assert same.counts.shape == (2, 3) and same.draws == 5
    assert same.counts[0, 0] >= 1  # it agrees with itself


# -- what is kept -----------------------------------------------------------------------------


def test_a_peak_is_kept_up_to_the_tolerance_and_not_beyond():
    places = np.array([10.0, 10.8, 9.2, 10.9, 9.1])
    curves = np.stack([bump(place) for place in places])
    assert shape.agrees(PEAK, curves, bump(10.0), TIMES).tolist() == [True] * 3 + [False] * 2


def test_a_sign_is_kept_by_any_rise_and_lost_by_any_fall():
    curves = np.stack([TIMES, 1e-6 * TIMES, -1e-6 * TIMES, 0 * TIMES])
    assert shape.agrees(SIGN, curves, TIMES, TIMES).tolist() == [True, True, False, False]


def test_a_level_that_is_never_reached_is_kept_by_never_reaching_it():
    low, high = np.full(161, 100.0), 60 + 7 * (TIMES - 2)
    curves = np.stack([low, high])
    assert shape.agrees(CROSSING, curves, low, TIMES).tolist() == [True, False]
    assert shape.agrees(CROSSING, curves, high, TIMES).tolist() == [False, True]


def test_noise_of_known_size_keeps_a_sign_as_often_as_its_normal_law_says():
    """Φ(Δ / (σ√2)) = Φ(1/√2) for Δ = σ; 4 000 draws, five standard errors."""
    noise = generator(11, DATA_STREAM, 0).normal(size=(4000, 161))
    reference = np.where(TIMES > 10, 1.0, 0.0)
    result = shape.how_often(SIGN, reference + noise, reference, TIMES)
    exact = 0.5 * (1 + math.erf(1 / 2))
    assert abs(result.share - exact) < 5 * math.sqrt(exact * (1 - exact) / 4000)


def test_the_range_of_a_chance_is_that_of_wilson():
    result = Agreeing(np.array([83, 0, 100]), 100)
    np.testing.assert_allclose(result.low, [0.7445, 0.0, 0.9630], atol=1e-4)
    np.testing.assert_allclose(result.high, [0.8911, 0.0370, 1.0], atol=1e-4)


def test_the_range_holds_a_known_chance_95_times_in_100():
    """10 000 simulations of 100 draws at a chance of 0.9; five standard errors."""
    counts = generator(5, DATA_STREAM, 0).binomial(100, 0.9, 10_000)
    result = Agreeing(counts, 100)
    covered = np.mean((result.low <= 0.9) & (result.high >= 0.9))
    assert abs(covered - 0.936) < 5 * math.sqrt(0.05 * 0.95 / 10_000)  # 93.6 %: counts are whole


# -- what may be asked ------------------------------------------------------------------------


@pytest.mark.parametrize("cls", sources.for_task("mean_function"))
@pytest.mark.parametrize("kind", shape.KINDS)
def test_usual_numbers_suit_every_source(cls, kind):
    for _, chosen in cls.presets_for("mean_function"):
        facts = cls(**chosen).facts
        default = shape.default(kind, facts)
        assert shape.checked(default, facts) == default


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (dataclasses.replace(SIGN, first=1.0), "first"),
        (dataclasses.replace(SIGN, second=7.0), "second"),
        (dataclasses.replace(SIGN, second=math.nan), "first"),
        (dataclasses.replace(PEAK, tolerance=0.0), "tolerance"),
        (dataclasses.replace(PEAK, tolerance=math.inf), "tolerance"),
        (dataclasses.replace(CROSSING, level=300.0), "level"),
        (dataclasses.replace(PEAK, kind="valley"), "shape"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_by_name(question, field):
    with pytest.raises(InputError) as refused:
        shape.checked(question, FACTS)
    assert refused.value.field == field


def test_noise_as_large_as_half_the_range_of_values_drowns_every_answer():
    result = shape.is_drowned(np.array([1.0, 69.9, 70.0, np.nan, np.inf]), FACTS)
    assert result.tolist() == [False, False, True, True, True]


# -- of simulated releases --------------------------------------------------------------------


SOURCE, METHOD = SparseCurves(n_curves=120, n_observations_per_curve=8), AdaptiveMean()
BUDGETS = tuple(Budget(epsilon, 1e-5) for epsilon in (2.0, 10.0))


@pytest.mark.slow
def test_the_draws_are_those_behind_the_typical_error():
    draws = drawn(SOURCE, METHOD, BUDGETS, 1)
    result = mean_over_budgets(SOURCE, METHOD, 1e-5, 1, (2.0, 10.0))
    assert draws.is_truth and draws.curves.shape == (2, 100, len(drawing_grid()))
    distances = np.sqrt(((draws.curves - draws.reference) ** 2).mean(axis=-1))
    np.testing.assert_allclose(distances.mean(axis=1), result.study.errors.mean(axis=1), rtol=0.03)


def test_of_real_curves_all_methods_have_one_aim():
    source = sources.get("sea_temperature")()
    draws = drawn(source, NoisyGradientMean(), BUDGETS, 1)
    pictures = [
        mean_over_budgets(source, method, 1e-5, 1, (2.0, 10.0))
        for method in (METHOD, NoisyGradientMean())
    ]
    for picture in pictures:
        np.testing.assert_allclose(draws.reference, picture.ordinary)
    assert not draws.is_truth
    errors = other_methods(MEAN_FUNCTION.key, source, METHOD, BUDGETS, 1)
    np.testing.assert_allclose(errors[NoisyGradientMean().label][1], pictures[1].study.error)


# -- in words ---------------------------------------------------------------------------------


def test_the_sentence_states_count_range_and_comparison():
    found, ordinary = Agreeing(np.array(83), 100), Agreeing(np.array(97), 100)
    text = words.agreement(PEAK, found, ordinary, FACTS, False)
    wording.found("private release within", text, 0.8, 83, 100, 74, 90, 97, 100, alone=True)
    wording.found("guessing", words.agreement(SIGN, found, None, FACTS, False))


def test_what_the_average_says_is_said_in_the_units_of_the_source():
    wording.found(
        "true mean first", words.reference(CROSSING, 8.58, FACTS, True), 130, 8.58, alone=True
    )
    wording.found("never cm", words.reference(CROSSING, math.nan, FACTS, False), 130)
    wording.found("falls cm years", words.reference(SIGN, -12.5, FACTS, True), 12.5, 7, 13)
    wording.found("high both times", words.reference(SIGN, 0.0, FACTS, True))
    wording.found("end range", words.reference(PEAK, 18.0, FACTS, True))
    assert "an end" not in words.reference(PEAK, 14.0, FACTS, True)


def test_markup_in_a_unit_stays_text():
    evil = dataclasses.replace(FACTS, value_unit="$x$", time_unit="<b>")
    assert "\\$x\\$" in words.reference(CROSSING, 8.0, evil, True)
    assert "\\<b\\>" in words.reference(PEAK, 8.0, evil, True)
