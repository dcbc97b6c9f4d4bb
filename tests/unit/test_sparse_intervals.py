"""What all methods with limits for sparse coefficients do, for machines alike and different."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from engine.core.identity import digest
from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms import mechanisms
from engine.mechanisms.families.sparse.inference import gaussian_rho
from engine.privacy import accounting
from tests.heavy import few
from tests.unit import test_sparse_heterogeneous as different
from tests.unit import test_sparse_inference as alike
from tests.unit.test_sparse_inference import release

SOURCES = {"sparse_inference": alike.SOURCE, "sparse_heterogeneous": different.SOURCE}
every_variant = pytest.mark.parametrize(
    "mechanism", [*few(alike.VARIANTS, 2), *few(different.VARIANTS)], ids=repr
)


def draw(mechanism, seed=1, repeats=2):
    return alike.draw(seed, repeats, SOURCES[mechanism.key])


def test_they_serve_sparse_regression():
    assert set(SOURCES) <= {cls.key for cls in mechanisms.for_task("sparse_regression")}


@every_variant
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0, 10.0])
def test_the_ledger_of_every_machine_adds_up_to_the_budget(mechanism, epsilon):
    source = SOURCES[mechanism.key]
    spends = mechanism.plan(source.public, (Budget(epsilon, 1e-5),)).spends
    for proved in accounting.guarantees(spends):
        assert epsilon * (1 - 1e-6) <= proved.epsilon <= epsilon
    for own in accounting.by_server(spends).values():
        rho = (
            gaussian_rho((Budget(epsilon, 1e-5),))
            if all(line.mu for line in own)
            else accounting.rho_of(epsilon, 1e-5)
        )
        assert accounting.total_rho(own) == pytest.approx(rho, rel=1e-9)


@every_variant
def test_the_same_seed_gives_the_same_release_and_data_stay_as_they_are(mechanism):
    data = draw(mechanism)
    before = digest(data)
    one, again, other = (release(mechanism, data, seed=s) for s in (1, 1, 2))
    assert (one.coefficients == again.coefficients).all()
    assert (one.coefficients != other.coefficients).any()
    assert digest(one.intervals) == digest(again.intervals)
    assert digest(data) == before and pickle.loads(pickle.dumps(mechanism)) == mechanism


@every_variant
def test_without_a_limit_no_noise_is_added(mechanism):
    estimate = release(mechanism, draw(mechanism), [(NON_PRIVATE,)])
    assert np.allclose(estimate.coefficients[0], estimate.unprotected[0][:, None], atol=1e-12)


@every_variant
def test_tuning_and_ledger_do_not_follow_the_rows(mechanism):
    one, other = (release(mechanism, draw(mechanism, seed)) for seed in (1, 2))
    assert one.tuning == other.tuning and one.spends == other.spends


@every_variant
@pytest.mark.parametrize("bad", few([np.nan, np.inf, -np.inf, 1e308], 2))
def test_a_bad_number_leaves_the_release_finite(mechanism, bad):
    data = draw(mechanism, repeats=1)
    x, y = data.x.copy(), data.y.copy()
    x[0, :30], y[0, 20:50] = bad, bad
    assert np.isfinite(release(mechanism, replace(data, x=x, y=y)).coefficients).all()
