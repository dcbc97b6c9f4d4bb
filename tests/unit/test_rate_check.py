"""Slopes and limits of one run: what is asked, what comes back, and whether the rate holds."""

import math

import pytest

from engine.core.tasks import DENSITY, MEAN_FUNCTION, SPARSE_REGRESSION
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates.functional_mean import FunctionalMeanRate
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage.answer import CoverageAnswer, Experiment
from engine.topics.planning.answer import PlannedStudy
from engine.topics.rates import question as rate_question
from engine.topics.rates import words
from engine.topics.rates.answer import sweep, sweep_values
from engine.topics.rates.check import RateCheck, check, joined
from tests.conftest import fewer_data_sets
from tests.sentences import of_topic

wording = of_topic("plan")

RATE = FunctionalMeanRate()
PROVED = RATE.attained_by()
SOURCE = SparseCurves(n_curves=60, n_observations_per_curve=6)
POINT = {"n": 60.0, "m": 6.0, "S": 1.0, "epsilon": 4.0, "delta": 1e-4}
BOTH = tuple(PlannedStudy(SOURCE, one, 4.0, 60, 6, 1, 1e-4) for one in (PROVED, AdaptiveMean()))
LIMITS = Experiment("point", SOURCE, AdaptiveMean(band="pointwise"), Budget(4.0, 1e-4))


@pytest.fixture
def few():
    """Twenty repetitions instead of two hundred."""
    names = ("topics.coverage.answer.REPEATS", "topics.rates.check.REPEATS")
    yield from fewer_data_sets(
        dict.fromkeys((f"engine.{name}" for name in names), 20)
        | {"engine.simulation.studies.MAX_DATA_SETS": 4}
    )


def test_one_run_gives_what_a_sweep_and_the_coverage_lab_give(few):
    result = RateCheck(RATE, POINT, "n", BOTH, (40.0, 60.0, 90.0), LIMITS, 3)
    parts = list(check(result))
    assert len(parts) == result.steps == 2 * 3 + 2
    both = joined(result, parts)
    for setting, points in zip(BOTH, both.points, strict=True):
        assert list(points) == list(sweep(setting, "people", result.values, 3))
    alone = CoverageAnswer.joined(list(coverage_topic.repetitions(LIMITS)))
    assert (both.limits.proper.off == alone.proper.off).all()
    told = rate_question.slopes(result, both)
    assert told["measured slope, Adaptive mean, along n"] == both.compared(result)[1].slope
    assert told["bands that miss, of 20"] == alone.proper.missed.sum()


def test_parts_that_are_missing_yet_are_left_open(few):
    result = RateCheck(RATE, POINT, "n", BOTH, (40.0, 60.0, 90.0), LIMITS)
    so_far = joined(result, list(check(result))[:4])
    assert [len(points) for points in so_far.points] == [3, 1] and so_far.limits is None
    assert so_far.compared(result)[1] is None
    only_limits = RateCheck(RATE, POINT, "n", limits=LIMITS)
    assert joined(only_limits, list(check(only_limits))).limits is not None
    assert RateCheck(RATE, POINT, "n").steps == 0


def test_numbers_do_not_depend_on_the_rate_they_are_compared_with():
    result = RateCheck(RATE, POINT, "n", BOTH, (40.0, 60.0, 90.0), LIMITS)
    smoother = RateCheck(
        FunctionalMeanRate(smoothness=2.0), POINT, "n", BOTH, result.values, LIMITS
    )
    assert result.simulated == smoother.simulated


def test_the_rate_is_proved_for_the_published_method_where_each_site_is_trusted():
    assert NoisyGradientMean(scheme="split", constants="published") == PROVED
    wording.found("noisy gradient", PROVED.nearest_preset()[0], alone=True)
    for other in ("central", "local", "none"):
        assert FunctionalMeanRate(privacy=other).attained_by() is None
    assert words.whose(PROVED, RATE) == words.PROVED
    assert words.whose(AdaptiveMean(), RATE) == words.YOURS
    assert words.whose(AdaptiveMean(), FunctionalMeanRate(privacy="none")) == ""


def test_limits_are_those_of_the_method_as_it_is_set_or_else_of_the_task():
    assert coverage_topic.usual_kind(MEAN_FUNCTION.key, AdaptiveMean(band="pointwise")) == "point"
    assert coverage_topic.usual_kind(MEAN_FUNCTION.key, AdaptiveMean()) == "curve"
    assert coverage_topic.usual_kind(MEAN_FUNCTION.key, Iclp()) == "curve"
    assert coverage_topic.usual_kind(SPARSE_REGRESSION.key, Iclp()) == "coefficients"
    assert coverage_topic.usual_kind(DENSITY.key, Iclp()) is None


def test_how_much_smaller_an_error_is_is_said_at_the_value_nearest_to_here():
    rows = [[(100.0, 2.0), (200.0, 1.0)], [(100.0, 8.0), (200.0, 3.0)]]
    own, other = ([words.MeasuredError(value, mean, 0.1) for value, mean in row] for row in rows)
    wording.found(
        "squared error times", words.smaller(own, other, 180.0, "n"), 200, 3.0, alone=True
    )
    assert "4.0 times larger" in words.smaller(other, own, 90.0, "n")
    nothing = [words.MeasuredError(100.0, math.nan, math.nan)]
    assert words.smaller(nothing, other, 90.0, "n") == ""


@pytest.mark.slow
def test_errors_of_the_published_method_fall_with_people_as_its_rate_says():
    """Simulated growth of 200 children at ε = 1, six numbers of people, 50 data sets each."""
    here = PlannedStudy(
        SparseCurves(mean="growth", n_curves=200), PROVED, 1.0, 200, 30, 1, 1 / 200**2
    )
    point = {"n": 200.0, "m": 30.0, "S": 1.0, "epsilon": 1.0, "delta": 1 / 200**2}
    for seed in (1, 2):
        result = RateCheck(
            RATE, point, "n", (here,), tuple(sweep_values(here, "people")), seed=seed
        )
        (line,) = joined(result, list(check(result))).compared(result)
        print(seed, line)
        assert line.slope == pytest.approx(line.theory, abs=2.5 * line.half_width)
        assert -1.9 < line.theory < -1.5 and line.half_width < 0.24
