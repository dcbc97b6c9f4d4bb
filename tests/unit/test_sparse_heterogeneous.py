"""A shared part and machines' own parts: stages, ledgers, limits for every machine."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Public
from engine.mechanisms.sparse_heterogeneous import SHARED_SHARE, SparseHeterogeneous
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_regression import SparseRegression
from engine.privacy import accounting
from engine.privacy.transcript import recorded
from engine.simulation.metrics import coverage, errors_by_function, integrated_squared_errors
from engine.sources.sparse_rows import SparseRows

SOURCE = SparseRows(n_curves=30_000, n_servers=3, n_features=8, n_shared=2, n_own=1)
BUDGETS = [(Budget(2.0, 1e-5),), (Budget(8.0, 1e-5),)]
KEPT = {"n_shared": 2, "n_own": 1}
VARIANTS = [
    SparseHeterogeneous(**KEPT),
    SparseHeterogeneous(**KEPT, fit="local"),
    SparseHeterogeneous(**KEPT, fit="pooled"),
    SparseHeterogeneous(**KEPT, target="coordinates", features="1", directions="column"),
    SparseHeterogeneous(**KEPT, target="coordinates", features="1, 3", fit="local"),
    SparseHeterogeneous(**KEPT, target="band"),
]
every_variant = pytest.mark.parametrize("mechanism", VARIANTS, ids=repr)


def draw(seed=1, repeats=2, source=SOURCE):
    return source.draw(repeats, generator(seed, 0, 0))


def release(mechanism, data, budgets=BUDGETS, draws=3, seed=1):
    return mechanism.release_many(data, budgets, draws, generator(seed, 1, 0))


def by_what(spends, server):
    lines = accounting.by_server(spends)[server]
    return {line.step.key: accounting.total_rho([line]) for line in lines}


# -- ledgers --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_tenths_of_estimation_go_to_the_shared_stage():
    budget = (Budget(1.0, 1e-5),)
    spent = by_what(VARIANTS[0].plan(SOURCE.public, budget).spends, 1)
    shared = sum(rho for what, rho in spent.items() if "shared" in what)
    assert shared / sum(spent.values()) == pytest.approx(SHARED_SHARE)
    assert {
        "largest eigenvalue for shared coefficients",
        "largest eigenvalue for own coefficients",
    } < set(spent)


def test_an_interval_spends_what_one_for_machines_that_are_alike_does():
    """Its β̂ has 35 %, divided between the stages, and all else its usual share."""
    budget = (Budget(1.0, 1e-5),)
    plan = by_what(VARIANTS[3].plan(SOURCE.public, budget).spends, 1)
    alike = by_what(
        SparseInference(features="1", directions="column", residual_clip=2.0)
        .plan(SOURCE.public, budget)
        .spends,
        1,
    )
    same = {"residuals", "spread", "corrections"}
    assert {what: plan[what] for what in same} == pytest.approx(
        {what: alike[what] for what in same}
    )
    both = sum(rho for what, rho in plan.items() if "coefficients" in what)
    assert both / sum(plan.values()) == pytest.approx(0.35)


def test_noise_in_a_machines_own_stage_follows_its_own_rows():
    """Machines of 2000 and 500 rows: own noise is four times as large, shared noise the same."""
    sizes = replace(SOURCE.sizes, n_curves_per_server=(2000, 500, 500), n_observations=3000)
    plan = VARIANTS[5].plan(Public(sizes, SOURCE.facts), (Budget(1.0, 1e-5),))
    assert plan.machine_stages[1].rounds.scales.choice == pytest.approx(
        4 * plan.machine_stages[0].rounds.scales.choice
    )
    assert plan.noise[1].correction == pytest.approx(4 * plan.noise[0].correction)
    assert plan.noise[1].gram == plan.noise[0].gram


def test_the_shared_clip_leaves_room_for_own_parts():
    plan = VARIANTS[0].plan(SOURCE.public, (Budget(1.0, 1e-5),))
    assert plan.shared.clip == 3.0 and plan.machine_stages[0].clip == 2.0


def test_pooled_is_private_hard_thresholding_of_all_rows():
    """Rows with features inside their clips, which the two hold back in different ways."""
    data = draw()
    data = replace(data, x=np.clip(data.x, -2.0, 2.0))
    estimate = release(VARIANTS[2], data)
    alike = SparseRegression(sparsity=3, residual_clip=3.0).release_many(
        data, BUDGETS, 3, generator(1, 1, 0)
    )
    assert np.allclose(estimate.coefficients, alike.coefficients[:, :, :, None])


# -- releases -------------------------------------------------------------------------------------


@every_variant
def test_machines_are_functions_with_coefficients_and_limits_of_their_own(mechanism):
    estimate = release(mechanism, draw())
    assert estimate.functions == ("Machine 1", "Machine 2", "Machine 3")
    assert estimate.coefficients.shape == (2, 2, 3, 3, 8)
    assert estimate.unprotected.shape == (2, 2, 3, 8)
    assert np.isfinite(estimate.coefficients).all()
    assert (estimate.intervals is None) == (mechanism.target == "none")
    if estimate.intervals is not None:
        assert estimate.lower.shape == (2, 2, 3, 3, 8)
        assert coverage(estimate, SOURCE.truth).of_kept.shape == (2, 2, 3)
    assert errors_by_function(estimate, SOURCE.truth).shape == (2, 2, 3, 3)


def test_another_machines_rows_move_own_parts_through_the_shared_one_alone():
    """With its shared part the same, a machine alone does not see the others."""
    data = draw(repeats=1)
    y = data.y.copy()
    y[0, :10_000] += 1.0
    one, other = (release(VARIANTS[1], d, draws=1).coefficients for d in (data, replace(data, y=y)))
    assert (one[..., 0, :] != other[..., 0, :]).any()
    assert (one[..., 1:, :] == other[..., 1:, :]).all()


def test_two_stages_find_all_parts_when_there_is_enough_of_everything():
    data = draw(repeats=1)
    estimate = release(VARIANTS[0], data, [(Budget(20.0, 1e-5),)], 1)
    found, true = estimate.coefficients[0, 0, 0] != 0, SOURCE.truth.node_values != 0
    assert (found == true).all()
    assert integrated_squared_errors(estimate, SOURCE.truth).total.item() < 0.05


def test_every_published_message_has_noise():
    with recorded() as messages:
        release(VARIANTS[5], draw())
    published = [m for m in messages if not m.is_entrusted]
    assert sum(m.step.key == "corrections" for m in published) == 3
    assert all((m.noise[m.values != 0] > 0).all() for m in published)


def test_without_protection_is_near_the_truth():
    data = draw(repeats=3)
    for mechanism, most in ((VARIANTS[0], 0.01), (VARIANTS[1], 0.002)):
        total = integrated_squared_errors(mechanism.without_protection(data), data.truth).total
        assert total.mean() < most
    pooled = VARIANTS[2].without_protection(data)
    assert integrated_squared_errors(pooled, data.truth).total.mean() > 0.3


def test_what_cannot_be_asked_is_said_kindly():
    with pytest.raises(InputError, match="Intervals for a machine need"):
        SparseHeterogeneous(fit="pooled", target="band")
    with pytest.raises(InputError, match="at least one row"):
        sizes = replace(SOURCE.sizes, n_curves_per_server=(10, 0, 10))
        SparseHeterogeneous().plan(Public(sizes, SOURCE.facts), BUDGETS[0])
    with pytest.raises(InputError, match="There are 8 features; number 9"):
        release(SparseHeterogeneous(target="band", features="9"), draw())


@pytest.mark.slow
def test_intervals_of_machines_hold_with_clipped_rows_too():
    """20 data sets, three machines of 10 000 rows, two coefficients at ε = 6: five errors."""
    mechanism = SparseHeterogeneous(**KEPT, target="coordinates", features="2, 6")
    data = draw(7, 20)
    estimate = coverage(release(mechanism, data, [(Budget(6.0, 1e-5),)], 1), data.truth).of_kept
    assert abs(estimate.mean() - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 120)
