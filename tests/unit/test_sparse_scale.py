"""Ranges of features that may be too wide: one private number says how wide features spread."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, Covariate, Public, SampleData
from engine.mechanisms.families.sparse.averages import RowAverages
from engine.mechanisms.families.sparse.centre import CENTRE
from engine.mechanisms.families.sparse.scale import SCALE
from engine.mechanisms.families.sparse.thresholding import rows_of
from engine.mechanisms.sparse_newton import SparseNewton
from engine.privacy import accounting
from engine.privacy.transcript import recorded
from engine.sources.sparse_rows import SparseRows

BUDGET = (Budget(1.0, 1e-6),)
RELEASED = SparseNewton(feature_scale="released")


def too_wide(factor, n=20_000, repeats=4, **stated):
    """Rows whose stated ranges reach `factor` times as far as four standard deviations do."""
    data = SparseRows(n_curves=n, n_features=20).draw(repeats, generator(1, 0, 0))
    facts = replace(
        data.facts,
        unit_scale=False,
        reach=0.0,
        **stated,
        covariates=tuple(Covariate(f"x{k}", -4.0 * factor, 4.0 * factor) for k in range(20)),
    )
    return replace(data, facts=facts)


def error(method, data, factor, budget=BUDGET):
    """Squared, in units of the features as they are."""
    coefficients = method.release_many(data, [budget], 2, generator(2, 0, 0)).coefficients[0]
    beta = np.asarray(data.truth.node_values).reshape(-1, 20)
    return float(
        (
            (
                coefficients / factor - beta[:, None]
                if len(beta) > 1
                else coefficients / factor - beta[0]
            )
            ** 2
        )
        .sum(axis=-1)
        .mean()
    )


def test_where_ranges_are_twice_too_wide_a_released_scale_saves_most_of_the_error():
    data = too_wide(2.0)
    assert error(RELEASED, data, 2.0) < 0.3 * error(SparseNewton(feature_scale="stated"), data, 2.0)


@pytest.mark.slow
def test_where_ranges_are_tight_it_costs_little():
    data = too_wide(1.0, repeats=10)
    assert error(replace(RELEASED, centre="stated"), data, 1.0) < 1.1 * error(
        SparseNewton(feature_scale="stated", centre="stated"), data, 1.0
    )


def test_the_scale_is_released_by_rule_where_nothing_is_stated_of_the_reach():
    loose = too_wide(2.0)
    keys = {
        chosen: SCALE.key in {line.step.key for line in method.plan(public, BUDGET).spends}
        for chosen, method, public in (
            ("not stated", SparseNewton(), loose.public),
            (
                "stated with the data",
                SparseNewton(),
                too_wide(2.0, n=20_000).public.__class__(
                    loose.sizes, replace(loose.facts, reach=4.0)
                ),
            ),
            ("stated here", SparseNewton(reach=8.0), loose.public),
            ("few rows", SparseNewton(), too_wide(2.0, n=600).public),
        )
    }
    assert keys == {
        "not stated": True,
        "stated with the data": False,
        "stated here": False,
        "few rows": False,
    }


def test_the_ledger_spends_what_was_asked_with_the_scale_in_it():
    spends = RELEASED.plan(too_wide(2.0).public, BUDGET).spends
    assert accounting.keeps_promise(spends)
    of_first = [line for line in spends if line.server == 0]
    assert sum(line.mu**2 for line in of_first) == pytest.approx(
        accounting.exact_mu(1.0, 1e-6) ** 2
    )
    assert [line.step.key for line in of_first[:2]] == [CENTRE.key, SCALE.key]


def test_a_row_moves_the_mean_squared_length_by_its_sensitivity_and_some_row_does():
    rng = np.random.default_rng(3)
    data = too_wide(1.0, n=600, repeats=1)
    plan, largest = RELEASED.plan(data.public, BUDGET), 0.0
    claimed = next(line.sensitivity[0] for line in plan.spends if line.step.key == SCALE.key)
    for kind in range(40):
        pair = [np.array(data.x), np.array(data.x)]
        pair[0][0, 0] = 0.0
        pair[1][0, 0] = rng.choice([-1, 1], 20) * rng.choice([0.3, 1.0, 3.0, 1e9])
        if kind % 3 == 0:
            pair[0][0, 0] = rng.choice([np.nan, np.inf, 1e300], 20)
        moved = [
            RowAverages(
                rows_of(
                    SampleData(x, data.y, data.server, data.facts),
                    4.0,
                    plan.feature_clip,
                    norm=plan.row,
                )
            ).squared_lengths()
            for x in pair
        ]
        largest = max(largest, abs(moved[0] - moved[1]).max())
        assert largest <= claimed * (1 + 1e-9)
    assert largest >= 0.99 * claimed


def test_every_budget_and_draw_has_the_scale_that_it_released():
    """What is released together is what each gives by the messages alone: none is lost."""
    data = too_wide(3.0, n=6000, repeats=2)
    budgets = [(Budget(e, 1e-6),) for e in (1.0, 4.0)]
    estimate = RELEASED.release_many(data, budgets, 3, generator(4, 0, 0))
    assert estimate.coefficients.shape == (2, 2, 3, 20)
    assert ((estimate.coefficients != 0).sum(axis=-1) == 5).all()


def test_without_noise_the_coefficients_are_those_of_tight_ranges():
    coefficients = [
        RELEASED.release(too_wide(factor), (NON_PRIVATE,), generator(5, 0, 0)).coefficients / factor
        for factor in (1.0, 4.0)
    ]
    assert np.allclose(*coefficients, atol=0.01)


def test_messages_of_one_release_are_the_means_one_scale_and_then_the_usual_ones():
    with recorded() as messages:
        RELEASED.release(too_wide(2.0, repeats=1), BUDGET, generator(6, 0, 0))
    published = [message.step.key for message in messages if not message.is_entrusted]
    assert published[:2] == [CENTRE.key, SCALE.key]
    assert len(published) == len(set(published))


def test_public_facts_alone_decide():
    data = too_wide(2.0)
    assert (
        SparseNewton().plan(Public(data.sizes, data.facts), BUDGET).spends
        == SparseNewton().plan(data.public, BUDGET).spends
    )
