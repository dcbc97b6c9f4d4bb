"""What must hold for every registered mechanism, the moment it exists."""

import pickle

import numpy as np
import pytest

from engine import accounting
from engine.errors import InputError
from engine.experiments import generator
from engine.identity import digest
from engine.mechanisms import mechanisms
from engine.sources.sparse_curves import SparseCurves
from engine.types import NON_PRIVATE, Budget, CurveData, drawing_grid

CURVES = SparseCurves(n_curves=100, n_observations_per_curve=6, n_servers=2)
BUDGETS = [(Budget(0.5, 1e-3),), (Budget(2.0, 1e-3),)]
MEANS = mechanisms.for_task("mean_function")
every_mean = pytest.mark.parametrize("mechanism", [cls(**chosen) for cls in MEANS
                                                   for _, chosen in cls.presets()], ids=repr)


def draw(seed=1, repeats=2):
    return CURVES.draw(repeats, generator(seed, 0, 0))


def release(mechanism, data, budgets=BUDGETS, draws=3, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


@every_mean
def test_the_same_seed_gives_the_same_release_and_another_seed_another(mechanism):
    data = draw()
    first, again, other = (release(mechanism, data, seed=s).coefficients for s in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@every_mean
def test_data_are_read_only_and_unchanged(mechanism):
    data = draw()
    before = digest(data)
    release(mechanism, data)
    assert digest(data) == before
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0] = 1.0


@every_mean
def test_without_a_limit_no_noise_is_added(mechanism):
    estimate = release(mechanism, draw(), [(NON_PRIVATE,)])
    assert np.allclose(estimate.coefficients[0], estimate.unprotected[0][:, None], atol=1e-12)


@every_mean
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0, 10.0])
def test_tight_constants_never_spend_more_than_was_asked(mechanism, epsilon):
    if getattr(mechanism, "constants", "tight") != "tight":
        mechanism = type(mechanism)(**{**mechanism.values(), "constants": "tight"})
    asked, data = (Budget(epsilon, 1e-4),), draw()
    spends = release(mechanism, data, [asked]).spends[0]
    verdict = mechanism.feasibility(data.sizes, asked)
    least = epsilon * (1 - 1e-5) if verdict is None or verdict.is_feasible else 0.0
    assert len(accounting.guarantees(spends)) == 2
    for budget in accounting.guarantees(spends):
        assert least <= budget.epsilon <= epsilon


@every_mean
def test_what_is_judged_not_feasible_is_not_released_and_costs_nothing(mechanism):
    data, asked = draw(), (Budget(0.01, 1e-4),)
    verdict = mechanism.feasibility(data.sizes, asked)
    if verdict is None:
        return
    assert not verdict.is_feasible
    estimate = release(mechanism, data, [asked])
    assert [b.epsilon for b in accounting.guarantees(estimate.spends[0])] == [1e-12, 1e-12]
    assert (estimate.coefficients == release(mechanism, draw(2), [asked]).coefficients).all()


@every_mean
def test_noise_falls_with_the_budget_and_with_the_number_of_people(mechanism):
    def scale(n, epsilon):
        data = SparseCurves(n_curves=n, n_observations_per_curve=6).draw(1, generator(1, 0, 0))
        return np.array(release(mechanism, data, [(Budget(epsilon, 1e-3),)], 1).spends[0][0]
                        .noise_scale)[0]
    assert scale(200, 1.0) > scale(200, 2.0)
    assert scale(200, 1.0) > scale(400, 1.0)


@every_mean
def test_a_mechanism_that_needs_delta_refuses_zero_kindly(mechanism):
    if mechanism.guarantee != "approximate":
        spends = release(mechanism, draw(), [(Budget(1.0),)]).spends[0]
        assert accounting.guarantees(spends) == (Budget(1.0),) * 2
        return
    with pytest.raises(InputError, match="δ must be above 0"):
        release(mechanism, draw(), [(Budget(1.0),)])


@every_mean
def test_releases_have_the_declared_shape_and_are_finite(mechanism):
    estimate = release(mechanism, draw())
    assert estimate.coefficients.shape[:3] == (2, 2, 3)
    assert estimate.values(drawing_grid()).shape == (2, 2, 3, 101)
    assert np.isfinite(estimate.coefficients).all()
    assert len(estimate.spends) == 2


@every_mean
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_a_bad_number_in_one_curve_leaves_the_release_finite(mechanism, bad):
    data = draw(repeats=1)
    values = data.values.copy()
    values[0, :6] = bad
    broken = CurveData(data.times, values, data.counts, data.server, data.facts)
    assert np.isfinite(release(mechanism, broken).coefficients).all()


@every_mean
def test_it_pickles_and_its_name_is_stable(mechanism):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert digest(again) == digest(mechanism)


@every_mean
def test_usual_tuning_does_not_follow_the_readings(mechanism):
    one, other = release(mechanism, draw(1)), release(mechanism, draw(2))
    assert one.tuning == other.tuning
    assert one.spends == other.spends


@every_mean
def test_without_protection_is_close_to_the_truth(mechanism):
    """100 curves × 50 data sets: the mean error of least squares is near its variance."""
    data = draw(repeats=50)
    estimate = mechanism.without_protection(data)
    best, tail = estimate.basis.project(data.truth)
    error = estimate.basis.squared_distance(estimate.coefficients[0, :, 0] - best) + tail
    assert error.mean() < 0.02
    assert (estimate.lower <= estimate.upper).all()
