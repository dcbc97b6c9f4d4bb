"""Errors taken apart: the parts add up, and each step is where the method says it is."""

import itertools
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from engine.core.types import Budget
from engine.figures.theme import in_theme
from engine.language.error_words import steps_done
from engine.language.numbers import number
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.study import Study
from engine.sources.bundled import SeaTemperature
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import studied
from engine.topics.mean import answer as mean_topic
from engine.topics.mean import charts as mean_charts
from engine.topics.mean.charts import Method
from engine.topics.mean.error_parts import error_parts

BUDGET = Budget(1.0, 2.5e-5)
SIMULATED = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=12)
OURS, ALL = AdaptiveMean(), (True, True, True)


@cache
def found(source=SIMULATED, mechanism=OURS, budget=BUDGET):
    return error_parts(Study(source=source, mechanism=mechanism, budgets=(budget,)))


@pytest.mark.slow
def test_all_parts_together_are_the_errors_of_the_picture():
    parts = found()
    study = mean_topic.mean_over_budgets(SIMULATED, AdaptiveMean(), BUDGET.delta, 1).study
    here = mean_topic.EPSILON_STEPS.index(1.0)
    assert parts.error[ALL] == pytest.approx(study.error[here])
    assert parts.lines(ALL).shape == (20, 101)


@pytest.mark.slow
def test_parts_of_real_curves_make_up_the_forecast_error_of_their_twin():
    source, budget = SeaTemperature(), Budget(1.0, 1e-4)
    parts = found(source, budget=budget)
    study = mean_topic.simulated_study(studied(source), AdaptiveMean(), (budget,), 1)
    assert parts.sampling.any()
    assert parts.error[ALL] == pytest.approx(study.error[0], rel=1e-9)


def test_squares_of_the_parts_make_up_the_square_of_the_whole():
    """Noise is independent of the curves: 100 data sets leave about a tenth of chance."""
    typical = found().error
    alone = [typical[tuple(k == j for j in range(3))] for k in range(3)]
    assert typical[ALL] ** 2 == pytest.approx(sum(part**2 for part in alone), rel=0.3)
    assert typical[False, False, False] == 0


@pytest.mark.slow
def test_steps_start_at_the_average_without_protection_and_end_at_the_first_release():
    steps, shown = (
        found().steps,
        mean_topic.mean_over_budgets(SIMULATED, AdaptiveMean(), BUDGET.delta, 1),
    )
    here = mean_topic.EPSILON_STEPS.index(1.0)
    assert np.allclose(steps.ordinary, shown.ordinary)
    assert np.allclose(steps.released, shown.releases[here, 0])
    away = [steps.ordinary, steps.fewer, steps.noise_free, steps.released]
    assert steps.moves == pytest.approx(
        [np.sqrt(((b - a) ** 2).mean()) for a, b in itertools.pairwise(away)]
    )


def test_a_method_that_keeps_every_coefficient_says_so():
    steps = found(mechanism=Iclp(), budget=Budget(1.0)).steps
    assert steps.moves[0] < 1e-6 * steps.moves[1]
    assert f"All {steps.n_coefficients} coefficients are kept" in steps_done(
        SIMULATED.facts, steps.n_coefficients, steps.moves
    )


@pytest.mark.slow
def test_no_budget_at_all_would_leave_only_what_noise_does_not_touch():
    little, much = found(budget=Budget(0.5, 2.5e-5)), found(budget=Budget(5.0, 2.5e-5))
    assert little.error[True, False, False] > 2 * much.error[True, False, False]
    assert little.error[False, True, False] < 2 * much.error[False, True, False]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_charts_are_valid_and_show_the_numbers_of_their_sentences(theme):
    parts, method = found(), Method("Ours", "adaptive_mean", "gradient", np.empty(0))
    charts = (
        mean_charts.steps(parts.steps, parts.times, method, SIMULATED.facts),
        mean_charts.left(parts, (True, False, False), method, SIMULATED.facts),
    )
    for chart in charts:
        go.Figure(in_theme(chart.spec, theme))
        assert chart.alt.endswith(".") and len({len(c) for c in chart.table.values()}) == 1
    assert number(parts.error[True, False, False]) in charts[1].alt
