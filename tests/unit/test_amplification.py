"""A secret sample: the theorem, what it must not be used for, and that nothing is free."""

import math

import mpmath
import pytest

from engine.core.errors import InputError
from engine.core.types import Budget, Sizes, Spend, Step
from engine.privacy import accounting, amplification, risk
from engine.privacy.amplification import SecretSample

ASKED = Budget(1.0, 1e-5)
LINES = [
    Spend(
        Step("x"),
        0,
        accounting.exact_mu(1.0, 1e-5),
        (1.0,),
        (1.0,),
        1,
        "sequential",
        ASKED,
        "",
        unit="curve",
        noise="gaussian",
    )
]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 600.0])
@pytest.mark.parametrize(("people", "population"), [(1, 3), (200, 2000), (7, 10**9)])
def test_the_budget_is_that_of_the_theorem_in_fifty_digits_rounded_up(epsilon, people, population):
    budget = SecretSample(people, population, True).budget(Budget(epsilon, 1e-6))
    with mpmath.workdps(50):
        q = mpmath.mpf(people) / population
        truth = mpmath.log(1 + q * (mpmath.exp(mpmath.mpf(epsilon)) - 1))
        assert truth <= budget.epsilon <= truth * (1 + 1e-9)
        assert q * mpmath.mpf(1e-6) * (1 - mpmath.mpf(2) ** -53) <= budget.delta <= q * 1.0001e-6


def test_a_sample_helps_and_the_less_of_the_group_the_more():
    full = risk.of_ledger(LINES)
    rights = [SecretSample(200, n, True).odds(LINES).right for n in (201, 400, 2000, 10**6)]
    assert full.right >= rights[0] > rights[1] > rights[2] > rights[3] > 0.5
    assert SecretSample(200, 2000, True).odds(LINES).right == pytest.approx(
        0.5 + 0.1 * (full.right - 0.5), rel=1e-9
    )


def test_odds_of_a_sample_never_exceed_what_its_budget_allows():
    for population in (201, 1000, 10**5):
        odds = SecretSample(200, population, True).odds(LINES)
        assert odds.right <= odds.right_cap and odds.power <= odds.power_cap + 1e-12


def test_records_of_one_person_are_drawn_together_so_they_count_before_the_draw():
    drawn = SecretSample(200, 2000, True)
    assert drawn.odds(LINES, 1).right < drawn.odds(LINES, 5).right < risk.of_ledger(LINES, 5).right
    group = risk.of_ledger(LINES, 5)
    assert drawn.odds(LINES, 5).right == pytest.approx(0.5 + 0.1 * (group.right - 0.5), rel=1e-9)


def test_without_a_declaration_there_is_no_sample():
    with pytest.raises(InputError) as caught:
        SecretSample(200, 2000, False)
    assert caught.value.field == "declared"


@pytest.mark.parametrize("population", [0, 199, 200, 10**11])
def test_a_group_that_is_not_larger_is_refused_by_name(population):
    with pytest.raises(InputError) as caught:
        SecretSample(200, population, True)
    assert caught.value.field == "population"


def test_sites_that_know_their_people_gain_nothing():
    assert "each site knows" in amplification.reason_against(Sizes((50, 50), 1000, 10, 0))
    assert amplification.reason_against(Sizes((100,), 1000, 10, 0)) == ""


def test_the_ledger_and_its_guarantee_stay_as_they_are():
    before = accounting.guarantee(LINES, 0)
    SecretSample(200, 2000, True).odds(LINES)
    assert accounting.guarantee(LINES, 0) == before == ASKED


def test_no_protection_stays_none():
    open_lines = [Spend(Step("x"), 0, math.inf, (1.0,), (0.0,), 1, "sequential", ASKED, "")]
    odds = SecretSample(100, 1000, True).odds(open_lines)
    assert math.isinf(odds.budget.epsilon) and odds.right == pytest.approx(0.55)


def test_a_limit_below_what_a_budget_can_state_is_rounded_up():
    assert SecretSample(1, 10**10, True).budget(Budget(1e-6)).epsilon == 1e-12
