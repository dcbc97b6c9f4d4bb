"""Regression functions by regularised risk: records held, losses, sensitivities, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, Covariate, PublicFacts, SampleData
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.summaries.risk import Constant, RiskSummary
from engine.numerics.eigensystems import midpoints
from engine.numerics.risk_minimisation import kappa
from engine.simulation.experiments import mean_and_se
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.density_points import DensityPoints
from engine.sources.labelled_points import LabelledPoints

NUMBERS = LabelledPoints(n_curves=2000)
CLASSES = LabelledPoints(n_curves=2000, response="classes")
PURE, WITH_DELTA = (Budget(1.0, 0.0),), (Budget(1.0, 0.01),)
MECHANISMS = [Iclp, Frl, Bernstein, GaussianProcess]
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)
every_loss = pytest.mark.parametrize("loss", ["huber", "square", "logistic", "hinge"])


def regression(mechanism=Iclp, loss="huber", **chosen):
    return mechanism(task="risk_minimisation", loss=loss, **chosen)


def source_of(loss):
    return NUMBERS if loss in ("huber", "square") else CLASSES


def budget_of(mechanism):
    return WITH_DELTA if mechanism.guarantee == "approximate" else PURE


def summary_of(mechanism, source=NUMBERS):
    return RiskSummary(mechanism, source.sizes, source.facts)


def data_of(source=NUMBERS, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


# -- records -----------------------------------------------------------------------------------


def test_numbers_are_shares_of_half_their_range_and_held_within_it():
    facts = PublicFacts(value_low=10, value_high=30, covariates=(Covariate("x", 0, 1),))
    y = np.array([[10.0, 20.0, 25.0, 99.0, -np.inf, np.inf, np.nan]])
    data = SampleData(np.zeros((1, 7, 1)), y, np.zeros(7, dtype=np.int64), facts)
    numbers = RiskSummary(regression(), data.sizes, facts)
    assert numbers.labels(data).tolist() == [[-1, 0, 0.5, 1, -1, 1, 0]]
    assert (numbers.scale, numbers.offset) == (10, Constant(20))
    classes = RiskSummary(regression(loss="hinge"), data.sizes, facts)
    assert classes.labels(data).tolist() == [[-1, -1, 1, 1, -1, 1, -1]]
    assert (classes.scale, classes.offset) == (1, None)


@every_loss
def test_records_without_anything_to_predict_are_refused(loss):
    points = DensityPoints(n_curves=50)
    with pytest.raises(InputError, match="to predict") as caught:
        regression(loss=loss).release(data_of(points), PURE, generator(1, 1, 0))
    assert caught.value.field == "y"


def test_the_absolute_penalty_is_refused():
    with pytest.raises(InputError, match="absolute penalty"):
        Iclp(task="risk_minimisation", penalty="absolute")


# -- what is estimated -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["huber", "square", "logistic"])
@every_mechanism
def test_without_noise_and_with_a_small_penalty_the_truth_is_found(mechanism, loss):
    source = source_of(loss)
    exact = regression(mechanism, loss, risk_weight=1e-4).release(
        data_of(source, 2), (NON_PRIVATE,), generator(1, 1, 0)
    )
    error = integrated_squared_errors(exact, source.truth).total.max()
    assert error < 0.07 * source.truth.energy


def test_the_sign_of_the_hinge_tells_the_classes_apart():
    source = LabelledPoints(n_curves=2000, response="classes", strength=6.0)
    estimate = regression(loss="hinge").release(data_of(source), PURE, generator(1, 1, 0))
    x = np.linspace(0.02, 0.98, 97)
    clear = np.abs(source.target(x)) > 1.5
    signs = np.sign(estimate.values(x)[0, 0, 0])
    assert (signs == np.sign(source.target(x)))[clear].all()


def test_the_middle_of_the_range_and_its_width_change_nothing_but_units():
    data = data_of()
    moved = replace(data.facts, value_low=96, value_high=104)
    other = replace(data, y=100 + 2 * data.y, facts=moved)
    one, two = (regression().release(each, PURE, generator(1, 1, 0)) for each in (data, other))
    x = np.linspace(0, 1, 11)
    assert two.values(x) == pytest.approx(100 + 2 * one.values(x))


@every_mechanism
def test_points_of_the_plane_can_be_predicted_from(mechanism):
    facts = PublicFacts(covariates=(Covariate("x", 0, 1), Covariate("y", 0, 1)))
    x = generator(2, 0, 0).random((1, 3000, 2))
    data = SampleData(x, np.sin(6 * x[..., 0]) * x[..., 1], np.zeros(3000, dtype=np.int64), facts)
    estimate = regression(mechanism, risk_weight=1e-4, grid_size=12).release(
        data, (NON_PRIVATE,), generator(1, 1, 0)
    )
    at = np.array([[0.25, 0.75], [0.8, 0.5]])
    expected = np.sin(6 * at[:, 0]) * at[:, 1]
    assert estimate.values(at)[0, 0, 0] == pytest.approx(expected, abs=0.25)


# -- sensitivities and noise -------------------------------------------------------------------


def test_the_sensitivity_is_that_of_the_theorem_with_the_allowance():
    mechanism = regression(loss="logistic", risk_weight=0.01)
    plan = mechanism.plan(NUMBERS.public, PURE)
    features = mechanism.features(midpoints(100), NUMBERS.sizes)
    exact = kappa(features.table) / (0.01 * 2000) * np.sqrt((features.variances**0.5).sum())
    assert plan.noise[0][0][0].sensitivity == pytest.approx(exact, rel=1e-8)
    assert plan.noise[0][0][0].sensitivity > exact


@every_mechanism
@every_loss
def test_the_planned_noise_energy_is_the_measured_one(mechanism, loss):
    """400 draws; five standard errors."""
    release, source = regression(mechanism, loss), LabelledPoints(n_curves=200)
    estimate = release.release_many(
        data_of(source), [budget_of(mechanism)], 400, generator(2, 1, 0)
    )
    found = mean_and_se(integrated_squared_errors(estimate, None).privacy[0])
    planned = release.expected_error(source.sizes, budget_of(mechanism), source.facts)
    assert abs(found["mean"] - planned) < 5 * found["se"]


def test_what_is_printed_is_the_exact_size_and_spends_the_whole_budget():
    spent = [
        regression(constants=constants).plan(NUMBERS.public, PURE).spends[0]
        for constants in ("tight", "published")
    ]
    assert spent[0].epsilon == spent[1].epsilon == 1
    assert spent[0].noise_scale == pytest.approx(spent[1].noise_scale)


@every_mechanism
def test_the_best_shape_of_noise_is_never_worse_than_the_usual_one(mechanism):
    tight, best = (
        regression(mechanism, constants=constants).expected_error(
            NUMBERS.sizes, budget_of(mechanism), NUMBERS.facts
        )
        for constants in ("tight", "optimal")
    )
    assert best <= tight * (1 + 1e-9)


def test_a_heavier_penalty_needs_less_noise_and_a_smaller_site_more():
    light, heavy = (
        regression(risk_weight=psi).expected_error(NUMBERS.sizes, PURE, NUMBERS.facts)
        for psi in (0.01, 0.02)
    )
    assert light == pytest.approx(4 * heavy, rel=1e-6)
    source = LabelledPoints(n_curves=301, n_servers=3)
    plan = regression().plan(source.public, PURE)
    scales = np.stack([site[0].scales for site in plan.noise[0]])
    assert scales[0] * 101 == pytest.approx(scales[1] * 100, rel=1e-6)
    estimate = regression().release_many(data_of(source, 2), [PURE], 3, generator(1, 1, 0))
    assert estimate.coefficients.shape == (1, 2, 3, 100)


@every_loss
def test_the_reference_is_the_same_for_every_mechanism(loss):
    data = data_of(source_of(loss))
    values = [
        regression(mechanism, loss).without_protection(data).coefficients
        for mechanism in MECHANISMS
    ]
    assert all((one == values[0]).all() for one in values)
