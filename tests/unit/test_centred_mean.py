"""A mean of curves in three messages: a coarse mean, the size of deviations, and their mean."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms.frl import CENTRE_NOT_MEAN, Frl
from engine.mechanisms.summaries.mean import REST, SIZE, clip_of
from engine.privacy import accounting
from engine.privacy.transcript import recorded
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.dense_curves import DenseCurves

BUDGET = (Budget(1.0),)
LAWS = ("laplace", "norm")


def too_wide(factor, **sizes):
    source = DenseCurves(n_observations_per_curve=50, **sizes)
    return replace(
        source, norm_bound=factor * source.norm_bound, value_bound=factor * source.value_bound
    )


def error(method, source, budget=BUDGET, repeats=6):
    data = source.draw(repeats, generator(1, 0, 0))
    estimate = method.release_many(data, [budget], 4, generator(2, 0, 0))
    return float(integrated_squared_errors(estimate, data.truth).total.mean())


@pytest.mark.parametrize("noise", LAWS)
def test_with_wide_bounds_and_many_people_three_messages_save_most_of_the_error(noise):
    source = too_wide(10.0, n_curves=1000)
    one, planned = (
        error(Frl(noise=noise, messages=messages), source) for messages in ("one", "planned")
    )
    assert planned < 0.4 * one


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize(("people", "epsilon"), [(200, 0.25), (200, 4.0), (1000, 1.0)])
def test_with_tight_bounds_what_is_planned_is_no_worse_than_one_message(noise, people, epsilon):
    source, budget = too_wide(1.0, n_curves=people), (Budget(epsilon),)
    one, planned = (
        error(Frl(noise=noise, messages=messages), source, budget)
        for messages in ("one", "planned")
    )
    assert planned < 1.1 * one


def test_public_sizes_decide_and_few_people_send_one_message_as_ever():
    few, many = too_wide(1.0, n_curves=200), too_wide(1.0, n_curves=5000)
    lines = [
        len(Frl(messages="planned").plan(source.public, (Budget(0.5),)).spends)
        for source in (few, many)
    ]
    assert lines == [1, 3]
    data = few.draw(1, generator(1, 0, 0))
    chosen, one = (
        Frl(messages=messages).release(data, (Budget(0.5),), generator(2, 0, 0))
        for messages in ("planned", "one")
    )
    assert (chosen.coefficients == one.coefficients).all() and chosen.spends == one.spends


@pytest.mark.parametrize("noise", LAWS)
def test_the_shares_of_three_messages_add_up_at_every_site(noise):
    source = replace(too_wide(1.0, n_curves=900), n_servers=3)
    spends = Frl(messages="three", noise=noise).plan(source.public, BUDGET).spends
    assert len(spends) == 9 and accounting.keeps_promise(spends)
    for site in range(3):
        assert sum(line.epsilon for line in spends if line.server == site) == pytest.approx(1.0)


def test_without_noise_the_mean_is_followed_whatever_the_bounds():
    narrow, wide = (too_wide(factor, n_curves=400) for factor in (1.0, 20.0))
    once = error(Frl(), narrow, (NON_PRIVATE,), 2)
    for source in (narrow, wide):
        assert error(Frl(messages="three"), source, (NON_PRIVATE,), 2) == pytest.approx(
            once, rel=0.2
        )


def test_deviations_are_drawn_back_to_the_clip_that_was_released():
    """No curve, however far off, moves the last message by more than 2/n in units of the clip."""
    data = too_wide(1.0, n_curves=50).draw(1, generator(1, 0, 0))
    method = Frl(messages="three", noise="norm", n_functions=3)
    source = method.summary(data.sizes, data.facts)
    earlier = [np.array([[[0.2, -0.1, 0.0]]]), np.array([[[0.1]]])]
    largest = 0.0
    rng = np.random.default_rng(1)
    for kind in range(60):
        moved = []
        for sign in (1, -1):
            values = np.array(data.values).reshape(1, 50, -1)
            shape = rng.standard_normal(3) if kind % 2 else np.eye(3)[kind // 2 % 3]
            values[0, 0] = (
                sign
                * rng.choice([1.0, 5.0])
                * (shape @ source.basis(np.array(data.facts.common_times)).T)
            )
            spoilt = replace(data, values=values.reshape(1, -1))
            moved.append(source.values(2, source.records(spoilt), None, earlier))
        largest = max(largest, float(np.linalg.norm(moved[0] - moved[1])))
        assert largest <= 2 / 50 * (1 + 1e-9)
    assert largest >= 0.9 * 2 / 50
    assert clip_of(0.1) == pytest.approx(0.2) and clip_of(9.0) == 1.0


def test_budgets_of_both_kinds_stand_side_by_side_in_their_order():
    source = too_wide(3.0, n_curves=500)
    data, budgets = source.draw(2, generator(1, 0, 0)), [(Budget(e),) for e in (4.0, 0.1, 1.0)]
    estimate = Frl(messages="planned").release_many(data, budgets, 3, generator(2, 0, 0))
    assert [len(lines) for lines in estimate.spends] == [3, 1, 3]
    alone = Frl(messages="one").release_many(data, budgets[1:2], 3, generator(2, 0, 0))
    assert np.allclose(estimate.coefficients[1], alone.coefficients[0])


def test_a_caution_says_where_the_centre_is_not_the_mean():
    data = too_wide(1.0, n_curves=500).draw(1, generator(1, 0, 0))
    texts = [
        [
            caution.text
            for caution in Frl(messages="three")
            .release(
                replace(data, facts=replace(data.facts, symmetric=is_stated)),
                BUDGET,
                generator(2, 0, 0),
            )
            .cautions
        ]
        for is_stated in (True, False)
    ]
    assert [CENTRE_NOT_MEAN in each for each in texts] == [False, True]


def test_messages_are_three_and_the_second_is_one_number():
    data = too_wide(1.0, n_curves=500).draw(1, generator(1, 0, 0))
    with recorded() as messages:
        Frl(messages="three").release(data, BUDGET, generator(2, 0, 0))
    assert [message.step for message in messages][1:] == [SIZE, REST]
    assert messages[1].values.size == 1


@pytest.mark.parametrize(
    "chosen",
    [{"task": "covariance"}, {"constants": "published"}, {"selection_rule": "paid"}],
    ids=str,
)
def test_what_needs_one_message_is_refused_with_several(chosen):
    with pytest.raises(InputError, match="message"):
        Frl(messages="three", **chosen)
