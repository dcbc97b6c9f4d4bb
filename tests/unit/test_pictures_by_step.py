"""Pictures of all steps of the slider: each is that of its budget alone, so one scenario has one picture."""

import numpy as np
import pytest

from engine.core.types import Budget
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.sources.event_times import EventTimes
from engine.sources.population_readings import PopulationReadings
from engine.topics.counting.answer import counting_answer, counting_over_budgets
from engine.topics.percentiles.answer import percentiles_answer, percentiles_over_budgets

STEPS = (0.2, 1.0, 5.0)


@pytest.mark.slow
def test_percentile_curves_of_a_step_are_those_of_its_budget():
    source, method = (
        PopulationReadings(n_curves=400, n_observations_per_curve=5),
        PercentileCurves(),
    )
    steps = percentiles_over_budgets(source, method, 1e-6, 3, STEPS)
    whole = percentiles_answer(source, method, Budget(1.0, 1e-6), 3)
    assert [step.budget.epsilon for step in steps] == [*STEPS]
    np.testing.assert_array_equal(steps[1].releases, whole.releases)
    np.testing.assert_array_equal(steps[1].low, whole.low)
    assert not np.array_equal(steps[2].releases, whole.releases)
    assert steps[0].is_refused and not steps[1].errors.size and whole.errors.size


def test_counts_of_a_step_are_those_of_its_budget():
    source = EventTimes(n_curves=300)
    steps = counting_over_budgets(source, NoisyCounts(), 3, STEPS)
    whole = counting_answer(source, NoisyCounts(), Budget(1.0), 3)
    np.testing.assert_array_equal(steps[1].releases, whole.releases)
    np.testing.assert_array_equal(steps[1].table.noisy, whole.table.noisy)
    assert not np.array_equal(steps[2].releases, whole.releases)
