"""Sweeps of the dashboard: any number is an axis, and the command line gives the same numbers."""

import dataclasses
import json
import math

import numpy as np
import pytest

from engine import __main__ as command_line
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.exports import outcome_rows
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.rates import rates
from engine.rates.fitted import public_point
from engine.rates.functional_mean import FunctionalMeanRate
from engine.simulation import sweeps
from engine.simulation.effort import EffortLimits
from engine.simulation.experiments import NOT_RUN, Cell, Outcome, gather
from engine.sources.bundled import AirportTemperature
from engine.sources.sparse_curves import SparseCurves
from engine.topics.sweeps import answer, charts
from engine.topics.sweeps.answer import EPSILON, axes, design, sweep_view
from tests.pages.test_explore import own_curves
from tests.sentences import of_topic

wording = of_topic("work")

CURVES, METHOD = SparseCurves(n_curves=60, n_observations_per_curve=5), NoisyGradientMean()
BUDGET = Budget(1.0, 1e-4)
AXES = axes(CURVES, METHOD, 1.0)
NO_LIMITS = EffortLimits()
LABELS = {path: axis.label for path, axis in AXES.items()}


def swept(*chosen, repeats=4, mechanism=METHOD):
    return design(CURVES, mechanism, BUDGET, repeats, 1, [(AXES[path], v) for path, v in chosen])


TWO = swept((EPSILON, (0.5, 2.0)), ("source.n_curves", (40.0, 80.0)))


# -- the command ----------------------------------------------------------------------------


def test_a_run_with_a_budget_for_each_site_shows_the_guarantees_of_all(tmp_path, capsys):
    file = tmp_path / "sites.json"
    source = {"key": CURVES.key, "parameters": {"n_curves": 60, "site_sizes": "30, 20, 10"}}
    budgets = [{"epsilon": epsilon, "delta": 1e-4} for epsilon in (4, 1, 0.5)]
    parts = {"source": source, "mechanism": {"key": METHOD.key}, "budgets": budgets}
    file.write_text(json.dumps({"version": 1, **parts, "repeats": 2}), "utf-8")
    assert not command_line.main(["run", str(file)])
    printed = capsys.readouterr().out
    places = [printed.index(f"ε = {epsilon}, δ = 0.0001") for epsilon in ("4", "1", "0.5")]
    assert places == sorted(places)


# -- axes -----------------------------------------------------------------------------------


def test_epsilon_and_every_number_of_the_curves_and_the_method_is_an_axis():
    numbers = {f"source.{p.name}" for p in CURVES.parameters() if p.kind in (int, float)}
    numbers |= {f"mechanism.{p.name}" for p in METHOD.parameters() if p.kind in (int, float)}
    assert set(AXES) == {EPSILON} | numbers and next(iter(AXES)) == EPSILON


def test_of_ones_own_curves_only_the_budget_and_the_method_can_be_varied():
    assert not [path for path in axes(own_curves(), METHOD, 1.0) if path.startswith("source.")]


@pytest.mark.parametrize("path", list(AXES))
def test_usual_values_rise_are_allowed_and_hold_the_present_one(path):
    axis = AXES[path]
    values = axis.default()
    assert 2 <= len(values) <= answer.MAX_VALUES and values == tuple(sorted(set(values)))
    assert [axis.parameter.check(value) for value in values]
    if path in (EPSILON, "source.n_curves"):
        assert axis.present in values


def test_typed_values_are_put_in_order_once_each():
    assert AXES[EPSILON].read("2, 0.5;2  1") == (0.5, 1.0, 2.0)
    assert AXES["source.n_curves"].plain((50.0,)) == [50]


@pytest.mark.parametrize(
    "path, text, said",
    [
        (EPSILON, "1, two", "“two” is not a number"),
        (EPSILON, "0", "between"),
        (EPSILON, "nan", "finite"),
        ("source.n_curves", "20.5", "whole number"),
        (EPSILON, " ".join(str(k) for k in range(1, 14)), "1 to 12 values; got 13"),
    ],
)
def test_values_that_cannot_be_are_refused_with_the_reason(path, text, said):
    with pytest.raises(InputError, match=said):
        AXES[path].read(text)


def test_more_runs_than_can_be_held_are_refused_with_the_figure():
    with pytest.raises(InputError, match="20,004 runs; a sweep here has at most 20,000"):
        swept((EPSILON, tuple(range(1, 7))), repeats=3334)


def test_real_curves_are_released_often_in_place_of_drawn_often():
    run = design(AirportTemperature(), AdaptiveMean(), BUDGET, 30, 1, []).run
    assert (run.repeats, run.draws) == (1, 30)


# -- the same numbers -----------------------------------------------------------------------


def test_the_command_line_gives_the_numbers_of_the_dashboard_to_the_last_bit(tmp_path, capsys):
    parts = list(sweeps.run_scenario(TWO, EffortLimits(3, 0.5)))
    outcomes = gather(TWO.cells(), parts)
    ours = json.loads(outcome_rows.as_json(outcomes, outcome_rows.provenance(TWO, "serial"), 0.0))
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(dict(TWO.plain)))
    assert command_line.main(["run", str(file), "--json"]) == 0
    theirs = json.loads(capsys.readouterr().out)
    assert theirs["cells"] == ours["cells"] and len(ours["cells"]) == 4
    assert theirs["provenance"] == ours["provenance"]
    assert command_line.main(["run", str(file), "--csv"]) == 0
    assert capsys.readouterr().out == outcome_rows.as_csv(
        outcomes, outcome_rows.provenance(TWO, "serial")
    )


def test_ones_own_curves_are_swept_without_being_written_down():
    result = own_curves()
    by = axes(result, METHOD, 1.0)[EPSILON]
    chosen = design(result, METHOD, Budget(1.0, 1e-6), 6, 1, [(by, (0.5, 8.0))])
    assert all(cell.source is result for cell in chosen.cells())
    low, high = gather(chosen.cells(), list(sweeps.run_scenario(chosen, NO_LIMITS)))
    assert low.summary("total_error") is None
    assert low.summary("privacy_error")["mean"] > high.summary("privacy_error")["mean"]


def test_time_and_memory_are_foreseen_from_a_part():
    (small,) = sweeps.foresee(TWO)
    (large,) = sweeps.foresee(
        dataclasses.replace(TWO, run=dataclasses.replace(TWO.run, repeats=4000))
    )
    assert 0 < small.seconds < large.seconds and 0 < small.bytes < large.bytes


def test_a_sweep_over_its_limits_ends_with_the_figure():
    with pytest.raises(InputError, match=r"GB of memory; the limit is 0\.001"):
        list(sweeps.run_scenario(TWO, EffortLimits(3, 0.001)))


# -- what is shown --------------------------------------------------------------------------


def outcome(at, error=None, failure="", epsilon=1.0):
    cell = Cell(at, CURVES, METHOD, (Budget(epsilon, 1e-4),))
    errors = {} if error is None else {"total_error": np.array(error)}
    return Outcome(cell, errors, (), failure)


def test_points_stand_on_their_line_with_mean_and_standard_error():
    view = sweep_view(gather(TWO.cells(), list(sweeps.run_scenario(TWO, NO_LIMITS))))
    assert (view.along, view.across) == (EPSILON, "source.n_curves")
    assert [line.name for line in view.lines] == ["40", "80"]
    assert [point.x for point in view.lines[0].points] == [0.5, 2.0]
    one = sweep_view([outcome({EPSILON: 1.0}, [[1.0], [3.0]])]).lines[0].points[0]
    assert (one.mean, one.se) == (2.0, 1.0)


def test_cells_that_failed_say_why_and_cells_to_come_do_not_count_as_failed():
    view = sweep_view(
        [
            outcome({EPSILON: 1.0}, failure="Too few."),
            outcome({EPSILON: 2.0}, failure=NOT_RUN),
            outcome({EPSILON: 3.0}, [[1.0]]),
        ]
    )
    assert view.failures == ["Too few."]
    chart = charts.along_axis(view, LABELS, "cm")
    assert chart.table["note"] == ["Too few.", NOT_RUN, ""]
    assert chart.spec["data"][0]["x"] == [3.0]
    wording.found("points", chart.alt, 1, 3)


def test_the_rest_of_a_sweep_goes_on_when_a_cell_fails():
    split = NoisyGradientMean(scheme="split")
    chosen = design(CURVES, split, BUDGET, 4, 1, [(AXES["mechanism.n_iterations"], (5.0, 500.0))])
    view = sweep_view(gather(chosen.cells(), list(sweeps.run_scenario(chosen, NO_LIMITS))))
    works, fails = view.lines[0].points
    assert math.isfinite(works.mean)
    wording.found("need least curves", fails.message, 500)


def test_errors_made_of_the_rate_give_its_two_constants_back():
    rate, cells = FunctionalMeanRate(), [0.25, 0.5, 1.0, 2.0, 8.0]
    points = [public_point(rate, CURVES, outcome({}, epsilon=e).cell.budgets[0]) for e in cells]
    made = [rate.weighed(0.25, 3.0, **point).sum() for point in points]
    view = sweep_view(
        [outcome({EPSILON: e}, [[error]], epsilon=e) for e, error in zip(cells, made, strict=True)],
        rate,
    )
    assert np.allclose(view.lines[0].theory, made, rtol=1e-6)
    assert view.fitted.weighted.statistical == pytest.approx(0.25, rel=1e-5)
    assert view.fitted.weighted.private == pytest.approx(3.0, rel=1e-5)


def test_no_rate_is_drawn_where_it_does_not_depend_on_what_is_varied():
    view = sweep_view(
        [outcome({"mechanism.n_iterations": k}, [[1.0 + k]]) for k in range(5)],
        FunctionalMeanRate(),
    )
    assert view.lines[0].theory is None


@pytest.mark.parametrize("cls", rates.all(), ids=lambda cls: cls.key)
def test_a_rate_of_another_problem_has_its_symbols_here_or_is_left_out(cls):
    cell, rate = outcome({}).cell, cls()
    point = public_point(rate, cell.source, cell.budgets[0])
    assert point is None or rate.total(**point) > 0
