"""A total is split by weights around locks, and never overrun."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.core.errors import InputError
from engine.privacy import accounting
from engine.topics.planning.budget_split import (
    RULES,
    OutputShare,
    Split,
    cost,
    of_word,
    shares,
    word,
)
from tests.heavy import few

DELTA = 1e-5
PARTS = some.lists(some.builds(OutputShare, some.floats(0.1, 10)), min_size=1, max_size=6).map(
    tuple
)


def test_epsilons_add_up_to_the_total_by_weight():
    result = shares(Split(3.0, "sum", (OutputShare(), OutputShare(2.0), OutputShare(3.0))), DELTA)
    assert [budget.epsilon for budget in result] == [0.5, 1.0, 1.5]
    assert [budget.delta for budget in result] == [DELTA / 3] * 3


def test_a_locked_output_keeps_its_epsilon_and_the_others_share_the_rest():
    result = shares(
        Split(3.0, "sum", (OutputShare(locked=2.0), OutputShare(), OutputShare(3.0))), DELTA
    )
    assert [budget.epsilon for budget in result] == [2.0, 0.25, 0.75]


def test_tight_shares_are_squares_of_mu_and_allow_each_output_more():
    """Four equal outputs of μ have 2μ together."""
    total = accounting.exact_epsilon(1.0, DELTA)
    result = shares(Split(total, "tight", (OutputShare(),) * 4), DELTA)
    exact = accounting.exact_epsilon(0.5, DELTA)
    assert all(0.99 * exact < budget.epsilon <= exact for budget in result)
    assert result[0].epsilon > 1.5 * total / 4


@pytest.mark.parametrize("way", few(RULES))
@given(total=some.floats(0.5, 20), parts=PARTS)
def test_no_split_costs_more_than_its_total(way, total, parts):
    result = shares(Split(total, way, parts), DELTA)
    assert cost(result, way) <= total * (1 + 1e-9)
    assert cost(result, way) >= 0.97 * total
    assert math.fsum(b.delta for b in result) <= (DELTA * (1 + 1e-9) if way == "sum" else math.inf)


@pytest.mark.parametrize("way", RULES)
@pytest.mark.parametrize("locks", [(3.5, None), (2.9, 1.5), (3.0, None)])
def test_locks_that_leave_nothing_are_refused(way, locks):
    with pytest.raises(InputError, match="leave nothing"):
        shares(Split(3.0, way, tuple(OutputShare(locked=lock) for lock in locks)), DELTA)


def test_locks_that_spend_all_and_leave_nobody_without_are_fine():
    result = shares(Split(3.0, "sum", (OutputShare(locked=1.0), OutputShare(locked=2.0))), DELTA)
    assert [budget.epsilon for budget in result] == [1.0, 2.0]


def test_a_pure_total_has_pure_parts_and_no_tight_way():
    assert all(budget.is_pure for budget in shares(Split(), 0.0))
    with pytest.raises(InputError, match="δ"):
        shares(Split(rule="tight"), 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "3_sum",
        "x_sum_w1",
        "3_loose_w1",
        "3_sum_w0",
        "3_sum_l0",
        "3_sum_" + "_".join(["w1"] * 7),
        "0_sum_w1",
        "3_sum_wnan",
    ],
)
def test_words_that_are_no_split_are_refused(text):
    with pytest.raises(ValueError):
        of_word(text)


@given(PARTS)
def test_a_split_comes_back_from_its_word(parts):
    rounded = tuple(OutputShare(round(part.weight, 6)) for part in parts)
    assert of_word(word(Split(2.5, "tight", rounded))) == Split(2.5, "tight", rounded)
