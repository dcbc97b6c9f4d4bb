"""Records that are rows of numbers: shapes, sizes and how they are moved into their ranges."""

import pickle

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Covariate, PublicFacts, SampleData, Sizes
from engine.sources import sources

FACTS = PublicFacts(covariates=(Covariate("Age", 0, 100), Covariate("Score", -5, 5)))
TASKS = ("density", "risk_minimisation")


def samples(**changed):
    rng = np.random.default_rng(1)
    parts = {
        "x": rng.uniform(0, 5, (3, 4, 2)),
        "y": rng.uniform(-1, 1, (3, 4)),
        "server": np.array([0, 0, 1, 2]),
        "facts": FACTS,
    }
    return SampleData(**{**parts, **changed})


def test_sizes_count_each_record_as_one_reading():
    data = samples()
    assert (data.n_repeats, data.n_curves) == (3, 4)
    assert data.sizes == Sizes((2, 1, 1), n_observations=4, fewest_per_curve=1, n_covariates=2)


def test_pooled_records_stand_on_one_server():
    assert samples().pooled().sizes.n_curves_per_server == (4,)


def test_one_repeat_is_a_batch_of_one():
    data = samples()
    one = data.repeat(1)
    assert one.x.shape == (1, 4, 2)
    assert (one.x[0] == data.x[1]).all() and (one.y[0] == data.y[1]).all()
    assert samples(y=None).repeat(2).y is None


def test_ranges_become_the_unit_cube_and_what_lies_outside_is_moved_in():
    x = np.array([[[0.0, -5.0], [100.0, 5.0], [25.0, 0.0], [130.0, -9.0]]])
    data = samples(x=x, y=None)
    assert data.unit_x[0] == pytest.approx(np.array([[0, 0], [1, 1], [0.25, 0.5], [1, 0]]))


def test_what_is_no_number_stands_in_the_middle():
    x = np.array([[[np.nan, 1.0], [np.inf, -np.inf], [50.0, 0.0], [50.0, np.nan]]])
    middle = samples(x=x, y=None).unit_x[0]
    assert middle == pytest.approx(np.array([[0.5, 0.6], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]))


@pytest.mark.parametrize("name", ["x", "y", "server"])
def test_arrays_are_read_only(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(samples(), name)[0] = 1


def test_samples_pickle():
    again = pickle.loads(pickle.dumps(samples()))
    assert (again.x == samples().x).all() and again.facts == FACTS


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"x": np.zeros((3, 4))}, "x"),
        ({"x": np.zeros((3, 4, 1))}, "x"),
        ({"y": np.zeros((3, 5))}, "y"),
        ({"server": np.zeros(3, dtype=int)}, "server"),
        ({"server": np.array([0, 1, 0, 1])}, "server"),
    ],
)
def test_shapes_that_disagree_are_refused(changed, field):
    with pytest.raises(InputError) as refused:
        samples(**changed)
    assert refused.value.field == field


every_source = pytest.mark.parametrize(
    "source",
    [
        cls(**chosen)
        for task in TASKS
        for cls in sources.for_task(task)
        for _, chosen in cls.presets()
    ],
    ids=repr,
)


@every_source
def test_stated_facts_and_sizes_are_those_of_every_draw(source):
    data = source.draw(1, np.random.default_rng(3))
    assert isinstance(data, SampleData)
    assert (data.facts, data.sizes) == (source.facts, source.sizes)


@every_source
def test_no_record_leaves_its_stated_range(source):
    data = source.draw(1, np.random.default_rng(3))
    ranges = data.facts.covariates
    back = np.array([c.low for c in ranges]) + data.unit_x * [c.high - c.low for c in ranges]
    assert back == pytest.approx(data.x, abs=1e-12)
    if data.y is not None:
        assert np.abs(data.y - data.facts.value_middle).max() <= data.facts.value_half_width


@every_source
def test_records_are_dealt_evenly_to_sites(source):
    three = type(source)(**{**source.values(), "n_servers": 3})
    sizes = three.draw(1, np.random.default_rng(3)).sizes
    per_server = sizes.n_curves_per_server
    assert sizes == three.sizes
    assert sum(per_server) == source.sizes.n_curves and max(per_server) - min(per_server) <= 1


@every_source
def test_the_same_seed_gives_the_same_records(source):
    one, two = (source.draw(1, np.random.default_rng(5)) for _ in range(2))
    assert (one.x == two.x).all()


@pytest.mark.parametrize("key", ["density_points", "labelled_points"])
def test_more_sites_than_points_are_refused(key):
    with pytest.raises(InputError, match="Take fewer sites") as refused:
        sources.build(key, {"n_curves": 5, "n_servers": 6})
    assert refused.value.field == "n_servers"


@pytest.mark.parametrize("key", ["density_points", "labelled_points"])
def test_other_sizes_leave_the_recipe_as_it_is(key):
    resized = sources.build(key, {}).resized(people=20, readings=1, sites=3)
    assert resized.changed() == {"n_curves": 60, "n_servers": 3}
