"""What must hold for every registered mechanism, the moment it exists."""

import gc
import pickle
import weakref
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from engine.core.enumerations import Guarantee
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.tasks import TASKS
from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.univariate_mean import Setting, UnivariateMean
from engine.privacy import accounting
from engine.simulation.experiments import Cell, Run, blocks, run_block
from engine.simulation.metrics import integrated_squared_errors
from engine.sources import sources
from engine.sources.bounded_values import BoundedValues
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.competing_events import CompetingEvents
from engine.sources.density_points import DensityPoints
from engine.sources.event_times import EventTimes
from engine.sources.labelled_points import LabelledPoints
from engine.sources.numbers import Numbers
from engine.sources.regression_points import RegressionPoints
from engine.sources.scored_people import ScoredPeople
from engine.sources.sparse_curves import SparseCurves
from engine.sources.sparse_means import SparseMeans
from engine.sources.sparse_rows import SparseRows
from tests.heavy import few, slow

SOURCES = {
    "mean_function": SparseCurves(n_curves=100, n_observations_per_curve=6, n_servers=2),
    "varying_coefficients": CoefficientCurves(
        n_curves=800, n_observations_per_curve=6, n_servers=2
    ),
    "percentile_curves": SparseCurves(n_curves=1600, n_observations_per_curve=4, n_servers=2),
    "wavelet_regression": RegressionPoints(n_curves=20_000, n_servers=2),
    "covariance": SparseCurves(n_curves=60, n_observations_per_curve=12, n_servers=2),
    "density": DensityPoints(n_curves=200, n_servers=2),
    "risk_minimisation": LabelledPoints(n_curves=200, n_servers=2),
    "univariate_mean": Numbers(n_servers=4, n_items=2000),
    "sparse_mean": SparseMeans(n_curves=960, n_servers=24, n_features=12),
    "sparse_regression": SparseRows(n_curves=4000, n_servers=2, n_features=12),
}
SOURCES |= {
    "survival": EventTimes(n_curves=400, n_servers=2, comparison="crossing"),
    "cumulative_incidence": CompetingEvents(n_curves=400, n_servers=2),
    "distribution": BoundedValues(n_curves=400, n_servers=2),
    "roc": ScoredPeople(n_curves=400, n_servers=2),
}
SOURCES |= {
    key: sources.default(task.source, key) for key, task in TASKS.items() if key not in SOURCES
}
OF_TWO_TIMES, OF_VECTORS = {"covariance"}, {"sparse_mean", "sparse_regression"}
BUDGETS = [(Budget(0.5, 1e-3),), (Budget(2.0, 1e-3),)]
EVERY = [
    cls(**chosen)
    for task in SOURCES
    for cls in mechanisms.for_task(task)
    for _, chosen in cls.presets_for(task)
]
# With votes, which are held where it is stated that people are alike.
EVERY += [
    UnivariateMean.independent(setting) for setting in (Setting.CENTRAL_USER, Setting.LOCAL_USER)
]
PROTECTING = [one for one in EVERY if one.values().get("setting") is not Setting.NONE]
# Noise that depends on nothing but how many people, or devices, send it.
ALONE = (
    SparseMeanSigns(),
    *(
        UnivariateMean(setting=setting)
        for setting in (
            Setting.LOCAL_ITEM,
            Setting.LOCAL_USER,
            Setting.CENTRAL_USER,
            Setting.SITE_USER,
        )
    ),
)


def test_no_registered_mechanism_is_missing_here():
    assert {type(one) for one in PROTECTING} == set(mechanisms.all())
    assert {task_of(one) for one in EVERY} == set(SOURCES) == set(TASKS)


def task_of(mechanism):
    """The task it is made for, or the only one it serves."""
    return getattr(mechanism, "task", None) or next(t for t in SOURCES if t in mechanism.tasks)


# The first variant of each mechanism, and of each setting of one mean, is in the default run.
USUAL = {
    (type(one), task_of(one), one.values().get("setting")): one for one in reversed(PROTECTING)
}.values()


def source_of(mechanism):
    return SOURCES[task_of(mechanism)]


def draw(mechanism, seed=1, repeats=2):
    """Data for its task; the truth of other tasks is not the truth of this one."""
    data = drawn(source_of(mechanism), seed, repeats)
    return data if task_of(mechanism) in source_of(mechanism).tasks else replace(data, truth=None)


@lru_cache(maxsize=4)  # mechanisms of one task stand beside each other, and data are read-only
def drawn(source, seed, repeats):
    return source.draw(repeats, generator(seed, 0, 0))


def larger(source, times):
    """The same data with so many times as many people, or numbers of each."""
    if isinstance(source, Numbers):
        return replace(source, n_items=times * source.n_items)
    return replace(source, n_curves=times * source.n_curves)


def readings(data):
    """The name of what was measured: readings of curves, or numbers of records."""
    return next(name for name in ("values", "x", "time") if hasattr(data, name))


def release(mechanism, data, budgets=BUDGETS, draws=3, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


@pytest.fixture(
    scope="module", ids=str, params=[one if one in USUAL else slow(one) for one in PROTECTING]
)
def mechanism(request):
    """All tests of one stand beside each other, and share what was released."""
    return request.param


@pytest.fixture(scope="module")
def data(mechanism):
    return draw(mechanism)


@pytest.fixture(scope="module")
def released(mechanism, data):
    return release(mechanism, data)


def test_what_a_block_gives_is_what_a_resumed_run_believes(mechanism):
    if task_of(mechanism) in source_of(mechanism).tasks:  # else it is released from what holds less
        source = source_of(mechanism)
        run = Run(2 if source.is_random else 1, 3)
        budgets = [tuple(map(mechanism.suited, site)) for site in BUDGETS]
        block = blocks([Cell({}, source, mechanism, each) for each in budgets], run)[0].recipe
        assert run_block(block).fits(block)


def test_the_same_seed_gives_the_same_release_and_another_seed_another(mechanism, data, released):
    again, other = release(mechanism, data), release(mechanism, data, draws=1, seed=2)
    assert (released.coefficients == again.coefficients).all()
    assert (released.coefficients[:, :, :1] != other.coefficients).any()


def test_data_are_read_only_and_unchanged(mechanism, data, released):
    drawn.cache_clear()
    assert digest(data) == digest(draw(mechanism))
    with pytest.raises(ValueError, match="read-only"):
        getattr(data, readings(data))[0, 0] = 1.0


def test_nothing_of_a_release_holds_on_to_the_data(mechanism, data):
    copied = pickle.loads(pickle.dumps(data))
    arrays = [value for value in vars(copied).values() if isinstance(value, np.ndarray)]
    alive = [weakref.ref(each) for each in (copied, *arrays)]
    estimate = release(mechanism, copied)
    del copied, arrays
    gc.collect()
    assert not any(reference() is not None for reference in alive)
    assert pickle.loads(pickle.dumps(estimate)).warning_shares() == estimate.warning_shares()


def test_without_a_limit_no_noise_is_added(mechanism, data):
    estimate = release(mechanism, data, [(NON_PRIVATE,)])
    assert np.allclose(estimate.coefficients[0], estimate.unprotected[0][:, None], atol=1e-12)


@pytest.mark.parametrize("epsilon", few([0.7, 0.05, 3.0, 10.0]))
def test_tight_constants_never_spend_more_than_was_asked(mechanism, data, epsilon):
    if mechanism.values().get("constants", "tight") != "tight":
        mechanism = type(mechanism)(**{**mechanism.values(), "constants": "tight"})
    asked = (Budget(epsilon, 1e-4),)
    spends = release(mechanism, data, [asked], draws=1).spends[0]
    verdict = mechanism.feasibility(data.sizes, asked)
    least = epsilon * (1 - 1e-5) if verdict is None or verdict.is_feasible else 0.0
    assert len(accounting.guarantees(spends)) == data.sizes.n_servers
    for budget in accounting.guarantees(spends):
        assert least <= budget.epsilon <= epsilon


def test_what_is_judged_not_feasible_is_not_released_and_costs_nothing(mechanism, data):
    asked = (Budget(0.01, 1e-4),)
    verdict = mechanism.feasibility(data.sizes, asked)
    if verdict is None:
        return
    assert not verdict.is_feasible
    estimate = release(mechanism, data, [asked])
    assert [b.epsilon for b in accounting.guarantees(estimate.spends[0])] == [1e-12, 1e-12]
    assert (
        estimate.coefficients == release(mechanism, draw(mechanism, 2), [asked]).coefficients
    ).all()


def test_noise_falls_with_the_budget_and_with_the_number_of_people(mechanism):
    """Of the last message, with the tuning fixed that lets more through where there is less noise."""
    # Noise on counts is that of one person, and falls with their number in shares alone.
    is_alone = mechanism in ALONE or mechanism.family == "counting"
    fixed = {"penalty_weight": 0.01, "per_machine": 1}
    mechanism = type(mechanism)(
        **{
            **mechanism.values(),
            **{name: value for name, value in fixed.items() if name in mechanism.values()},
        }
    )

    def scales(times, *epsilons):
        data = larger(source_of(mechanism), times).draw(1, generator(1, 0, 0))
        estimate = release(mechanism, data, [(Budget(epsilon, 1e-3),) for epsilon in epsilons], 1)
        return [np.array(spends[-1].noise_scale)[0] for spends in estimate.spends]

    at_one, at_two = scales(1, 1.0, 2.0)
    assert at_one > at_two
    assert is_alone or at_one > scales(2, 1.0)[0]


def test_a_mechanism_that_needs_delta_refuses_zero_kindly(mechanism, data):
    if mechanism.guarantee != "approximate":
        spends = release(mechanism, data, [(Budget(1.0),)], draws=1).spends[0]
        assert accounting.guarantees(spends) == (Budget(1.0),) * source_of(mechanism).n_servers
        return
    with pytest.raises(InputError, match="δ must be above 0"):
        release(mechanism, data, [(Budget(1.0),)])


def test_a_budget_keeps_its_epsilon_and_has_no_delta_only_where_none_is_ever_needed(mechanism):
    asked = Budget(1.0, 1e-3)
    never = mechanism.guarantee is Guarantee.PURE
    assert mechanism.suited(asked) == (Budget(1.0) if never else asked)
    assert mechanism.delta(200).value == (0.0 if never else 1 / 200**2)
    assert mechanism.delta(200, 1e-3).is_chosen is not never


def test_releases_have_the_declared_shape_and_are_finite(mechanism, released):
    assert released.coefficients.shape[:3] == (2, 2, 3)
    functions = (len(released.functions),) if released.functions else ()
    assert np.isfinite(released.coefficients).all()
    assert len(released.spends) == 2
    if task_of(mechanism) in OF_VECTORS:
        assert released.coefficients.shape[3:] == (*functions, source_of(mechanism).n_features)
        return
    points = drawing_grid()
    if task_of(mechanism) in OF_TWO_TIMES:
        points = np.stack([points, points[::-1]], axis=-1)
    assert released.values(points).shape == (2, 2, 3, *functions, 101)


@pytest.mark.parametrize("bad", few([1e308, np.nan, np.inf, -np.inf]))
def test_a_bad_number_in_one_curve_leaves_the_release_finite(mechanism, bad):
    data = draw(mechanism, repeats=1)
    values = getattr(data, readings(data)).copy()
    values[0, :6] = bad
    broken = replace(data, **{readings(data): values})
    assert np.isfinite(release(mechanism, broken, draws=1).coefficients).all()


def test_it_pickles_and_its_name_is_stable(mechanism):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert digest(again) == digest(mechanism)


def test_usual_tuning_does_not_follow_the_readings(mechanism, released):
    other = release(mechanism, draw(mechanism, 2), draws=1)
    assert released.tuning == other.tuning
    assert released.spends == other.spends


def test_without_protection_is_close_to_the_truth(mechanism):
    """20 data sets: near the variance of least squares; broken lines between readings add a bias."""
    data = draw(mechanism, repeats=20)
    estimate = mechanism.without_protection(data)
    assert np.isfinite(estimate.coefficients).all()
    if data.truth is not None:
        largest = 0.1 if mechanism.family == "functional" else 0.02
        assert integrated_squared_errors(estimate, data.truth).total.mean() < largest


def test_the_band_without_protection_has_its_lower_end_below(mechanism, data):
    estimate = mechanism.without_protection(data)
    if estimate.band is not None:
        assert (estimate.lower <= estimate.upper).all()
