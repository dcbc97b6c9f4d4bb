"""Effects of covariates that are narrow, off centre, rare or alike: bands hold, or a warning."""

import numpy as np
import pytest

from engine.core.types import Budget
from engine.topics.coefficients.coverage import DESIGNS, covariate_coverage

REPEATS = 16
TABLE_DESIGNS = {name: changes for name, changes in DESIGNS.items()
                 if name in ("spread evenly", "narrow, sd 0.15 of the half-range",
                             "off centre, mean 0.7, sd 0.15", "correlated 0.9")}


@pytest.fixture(scope="module")
def table():
    budgets = (Budget(1.0, 1e-3), Budget(4.0, 1e-3))
    return covariate_coverage(TABLE_DESIGNS, budgets, repeats=REPEATS)


@pytest.mark.slow
def test_bands_of_common_designs_hold_without_a_warning(table):
    """About .96 of the times, whose standard deviation over data sets is at most .15."""
    assert len(table) == 2 * len(TABLE_DESIGNS)
    for row in table:
        assert row.warned == 0
        assert row.pointwise > 0.95 - 5 * 0.15 / np.sqrt(REPEATS), row
        assert row.simultaneous > 0.95 - 5 * np.sqrt(0.95 * 0.05 / REPEATS), row


@pytest.mark.slow
def test_errors_of_common_designs_are_near_those_of_least_squares(table):
    """They were 7 to 21 times as large when covariates were taken as they stand."""
    assert max(row.error_ratio for row in table) < 3


def test_a_rare_answer_is_told_from_few_people_with_a_band_that_holds():
    rare = {"rare answer, 5 %": DESIGNS["rare answer, 5 %"]}
    (row,) = covariate_coverage(rare, (Budget(4.0, 1e-3),), repeats=REPEATS)
    assert row.warned < 0.5
    assert row.pointwise > 0.95 - 5 * 0.15 / np.sqrt(REPEATS)


def test_what_noise_would_hide_is_warned_of_or_refused():
    hopeless = {name: DESIGNS[name] for name in ("narrow, sd 0.02", "rare answer, 1 %")}
    for row in covariate_coverage(hopeless, (Budget(1.0, 2000**-2.0),), repeats=REPEATS):
        assert row.warned == 1
    (few,) = covariate_coverage({"spread evenly": {}}, (Budget(1.0, 1e-3),), people=100)
    assert few.refused and np.isnan(few.pointwise)
