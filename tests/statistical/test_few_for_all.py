"""Forecasts from few people who count as all are those from everybody."""

import numpy as np
import pytest

from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Budget, Covariate, DataKind, PublicFacts, Sizes
from engine.mechanisms import mechanisms
from engine.sources.twins import twin_of

PEOPLE, OBSERVATIONS, DATA_SETS = 12_000, 4, 16


def measured(twin, mechanism, budget):
    """Squared errors of releases, one of each data set, and half-widths of bands."""
    errors, widths = [], []
    for k in range(DATA_SETS):
        data, truths = twin.simulated(1, generator(3, DATA_STREAM, k))
        estimate = mechanism.release_many(data, [(budget,)], 1, generator(3, NOISE_STREAM, k))
        errors.append(((estimate.values(drawing_grid())[0, 0, 0] - truths[0]) ** 2).mean())
        if estimate.limits is not None:
            widths.append(np.mean(estimate.limits[1] - estimate.limits[0]) / 2)
    return np.array(errors), np.array(widths)


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", ["adaptive_mean", "adaptive_coefficients", "frl", "iclp", "bernstein"]
)
def test_few_people_have_the_errors_and_bands_of_all(key):
    mechanism = mechanisms.build(key, {})
    covariates = (Covariate("age", 0.0, 1.0),) if "coefficients" in key else ()
    facts = PublicFacts(
        kind=DataKind.UPLOAD,
        value_low=-60.0,
        value_high=60.0,
        observations_per_curve=OBSERVATIONS,
        covariates=covariates,
    )
    sizes = Sizes((PEOPLE,), PEOPLE * OBSERVATIONS, OBSERVATIONS, len(covariates))
    budget = mechanism.suited(Budget(4.0, 1e-9))
    twin = twin_of(mechanism.main_task, facts, sizes)
    few, everybody = (measured(each, mechanism, budget) for each in (twin.of_few(), twin))
    difference = few[0].mean() - everybody[0].mean()
    error = np.sqrt((few[0].var() + everybody[0].var()) / (DATA_SETS - 1))
    print(key, np.sqrt(few[0].mean()), np.sqrt(everybody[0].mean()), error)
    assert abs(difference) < 4 * error
    if len(everybody[1]):
        assert few[1].mean() == pytest.approx(everybody[1].mean(), rel=0.03)
