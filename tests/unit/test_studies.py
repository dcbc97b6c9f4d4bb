"""The one study behind every error: which data sets, and errors by function beside their total."""

import numpy as np
import pytest

from engine.core.types import Budget
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.study import Study
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.running import executors
from engine.simulation import studies
from engine.simulation.experiments import Cell, Outcome, Run, run_cells
from engine.simulation.metrics import totals
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.event_times import EventTimes
from engine.sources.numbers import Numbers
from engine.sources.population_readings import PopulationReadings

CURVES = CoefficientCurves(n_curves=300, n_observations_per_curve=4)
EFFECTS = AdaptiveCoefficients()
BUDGETS = [(Budget(epsilon, 1e-5),) for epsilon in (0.05, 2.0)]
STUDY = Study(source=CURVES, mechanism=EFFECTS, budgets=BUDGETS[1])


@pytest.fixture(autouse=True)
def _few(few_data_sets):
    """Few data sets."""


def test_errors_by_function_and_their_baseline_add_up_to_those_of_all():
    errors, baseline = studies.errors_and_baseline(STUDY)
    together = studies.errors(STUDY, studies.data(STUDY), BUDGETS)
    assert errors.shape[-1] == 1 + CURVES.n_covariates == len(baseline)
    assert totals(errors) == pytest.approx(together[1])
    assert totals(baseline) == pytest.approx(studies.baseline(STUDY))


def test_errors_at_a_budget_do_not_depend_on_those_beside_it():
    beside = studies.errors_by_function(STUDY, BUDGETS)
    assert beside[1:] == pytest.approx(studies.errors_by_function(STUDY, BUDGETS[1:]))


def test_the_error_without_privacy_depends_on_delta_and_on_no_epsilon():
    assert studies.baseline(STUDY.at(0.3)) == studies.baseline(STUDY)
    assert STUDY.at(0.3).budgets == (Budget(0.3, 1e-5),)


def test_where_nothing_is_published_there_is_no_error():
    errors = studies.errors_by_function(STUDY, BUDGETS)
    assert np.isnan(errors[0]).all() and np.isfinite(errors[1]).all()


def test_a_source_may_limit_its_data_sets_and_is_released_more_often_instead():
    growth = PopulationReadings(population="growth", n_curves=200, n_observations_per_curve=2)

    class Fewer(PopulationReadings):
        most_data_sets = 3

    fewer = Fewer(**growth.values())
    assert studies.data_sets(fewer) == 3 < studies.data_sets(growth)
    assert studies.draws(fewer) >= studies.draws(growth)
    assert studies.data_sets(fewer) * studies.draws(fewer) >= 20


def test_a_share_of_95_percent_rests_on_a_hundred_releases_up_to_many_observations(
    enough_data_sets,
):
    for people in (20, 2_000, 40_000):
        source = CoefficientCurves(n_curves=people, n_observations_per_curve=5)
        assert studies.data_sets(source) * studies.draws(source) >= 100


def outcome_of(source, mechanism, budget) -> Outcome:
    (outcome,) = run_cells(
        [Cell({}, source, mechanism, (budget,))], Run(is_study=True), executors.make("serial")
    )
    return outcome


def test_a_study_has_the_error_that_a_formula_gives():
    source, mechanism = Numbers(), UnivariateMean()
    exact = mechanism.exact_risk(source, (Budget(1.0),))
    assert outcome_of(source, mechanism, Budget(1.0)).accuracy.error == pytest.approx(exact**0.5)


def test_what_the_ledger_calls_refused_has_no_error_in_a_run():
    groups = EventTimes(n_curves=150, comparison="hazard ratio")
    assert not NoisyCounts().plan(groups.public, (Budget(0.2),)).verdict.is_feasible
    assert np.isnan(outcome_of(groups, NoisyCounts(), Budget(0.2)).accuracy.error)
