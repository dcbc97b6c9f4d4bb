"""A release as a measurement of OpenDP: its map is what the ledger charges."""

import math

import opendp.prelude as dp
import pytest

from engine import api as pc
from engine.core.errors import InputError
from engine.privacy import accounting

SEA, AGES = pc.source("sea_temperature"), pc.source("ages_at_death")
MEAN, DENSITY = pc.mechanism("adaptive_mean"), pc.mechanism("iclp", task="density")
BUDGET = pc.Budget(1.0, 1e-6)


@pytest.fixture(scope="module", autouse=True)
def trusted():
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("honest-but-curious")


@pytest.fixture(scope="module")
def mean(trusted):
    return pc.opendp_measurement(SEA, MEAN, BUDGET)


def test_its_map_is_the_cost_that_the_ledger_of_a_release_writes(mean, tmp_path):
    cost = pc.quote(SEA, MEAN, BUDGET)
    assert mean.map(1) == max(
        map(accounting.total_rho, accounting.by_server(cost.certified_spends).values())
    )
    ledger = pc.Ledger(tmp_path / "ledger.sqlite3")
    release = pc.release(SEA, MEAN, BUDGET, "sea", ledger)
    assert release.cost.rho == mean.map(1)
    converted = dp.c.make_zCDP_to_approxDP(mean).map(1).epsilon(BUDGET.delta)
    assert converted == pytest.approx(cost.by_rho.epsilon, rel=1e-6)


def test_groups_cost_the_square_of_their_size_and_nothing_costs_nothing(mean):
    assert mean.map(0) == 0
    for k in (2, 3, 10):
        assert k * k * mean.map(1) <= mean.map(k) <= math.nextafter(k * k * mean.map(1), math.inf)


def test_without_delta_costs_are_epsilons_and_add_over_a_group():
    density = pc.opendp_measurement(AGES, DENSITY, pc.Budget(1.0))
    assert [density.map(k) for k in (0, 1, 3)] == [0.0, 1.0, 3.0]
    assert density(pc.simulate(AGES)).shape == (101,)


def test_it_releases_the_function_with_new_noise_each_time():
    mean = pc.opendp_measurement(
        SEA, MEAN, pc.Budget(4.0, 1e-6)
    )  # at ε = 1 a third are one constant
    data = pc.simulate(SEA)
    first, second = mean(data), mean(data)
    assert first.shape == (101,) and not (first == second).all()
    assert abs(first - second).max() < 2 * SEA.facts.value_half_width


def test_two_of_them_are_composed_by_opendp(mean):
    both = dp.c.make_composition([mean, mean])
    assert both.map(1) == pytest.approx(2 * mean.map(1))
    assert len(both(pc.simulate(SEA))) == 2


def test_data_of_other_sizes_are_refused(mean):
    with pytest.raises(dp.OpenDPException, match="other sizes or facts"):
        mean(pc.simulate(pc.source("airport_temperature")))


def test_what_cannot_be_published_is_no_measurement():
    with pytest.raises(InputError):
        pc.opendp_measurement(pc.source("sparse_curves"), MEAN, BUDGET)
    with pytest.raises(InputError, match="events"):
        pc.opendp_measurement(pc.source("heart_failure"), pc.mechanism("noisy_counts"), BUDGET)
