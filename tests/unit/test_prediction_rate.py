"""The rate for prediction: its privacy term is what the mechanism plans to add."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import Budget, Public
from engine.rates import rates
from engine.rates.prediction import PEOPLE, PRIVACY, SMOOTHING, PredictionRate


def planned_noise(loss, n, epsilon):
    """Variance of the planned noise of the first coefficient."""
    source, mechanism = PredictionRate(loss=loss).in_practice()
    source = source.resized(n, 1, 1)
    mechanism = replace(mechanism, grid_size=40)
    plan = mechanism.plan(Public(source.sizes, source.facts), (Budget(epsilon),))
    return float(max(plan.spends[0].noise_scale)) ** 2


@pytest.mark.parametrize("loss", ["huber", "square"])
def test_planned_noise_grows_with_the_powers_of_the_privacy_term(loss):
    rate = PredictionRate(loss=loss)
    term = next(term for term in rate.terms if term.name == PRIVACY)
    for first, second in (((4e4, 1.0), (4e6, 1.0)), ((4e6, 0.5), (4e6, 2.0))):
        rows = [{"n": np.asarray(n), "epsilon": np.asarray(e)} for n, e in (first, second)]
        by_rate = term.value(rows[1]) / term.value(rows[0])
        by_plan = planned_noise(loss, int(second[0]), second[1]) / planned_noise(
            loss, int(first[0]), first[1]
        )
        assert np.log(by_plan) == pytest.approx(np.log(by_rate), abs=0.25)


def test_exponents_are_those_of_the_theorem_and_of_kernel_ridge_regression():
    rate = PredictionRate(decay=0.5, beta=4.0, eta=1.5)
    slopes = dict(zip([t.name for t in rate.terms], rate.slopes("n"), strict=True))
    assert slopes[PRIVACY] == pytest.approx(-1.0)
    assert slopes[PEOPLE] == pytest.approx(-1 + 0.5 / 6)
    assert slopes[SMOOTHING] == pytest.approx(-0.5)
    square = PredictionRate(loss="square", decay=0.5)
    assert square.slopes("n")[0] == pytest.approx(-0.5)


@pytest.mark.parametrize("loss", ["huber", "square"])
def test_printed_borders_are_where_two_terms_are_equal(loss):
    rate = PredictionRate(loss=loss, decay=0.4)
    point, k = rate.at(n=5000.0), rate.cost_power
    psi, eta_beta = 5000.0**-0.4, 6.0
    printed = (psi ** (-(k + 1) / 2) / 5000, 5000**-0.5 * psi ** (-k / 2 + 1 / (2 * eta_beta)))
    for boundary, value in zip(rate.boundaries, printed, strict=True):
        assert float(boundary.value(point)) == pytest.approx(value)


def test_prediction_has_a_rate():
    assert PredictionRate in rates.for_task(RISK_MINIMISATION.key)
