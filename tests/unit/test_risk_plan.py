"""From a risk to a budget: closed forms, rounding to the safe side, and impossible wishes."""

import math
from dataclasses import replace

import pytest
from scipy.special import ndtri

from engine.core.errors import InputError
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.iclp import Iclp
from engine.privacy import accounting
from engine.sources.sparse_curves import SparseCurves
from engine.topics.planning import words as planning_words
from engine.topics.planning.answer import PlannedStudy, protection
from engine.topics.planning.risk import budget_for_risk
from tests.heavy import few

HERE = PlannedStudy(SparseCurves(mean="growth"), AdaptiveMean(), 1.0, 200, 10)
PURE = replace(HERE, mechanism=Iclp(), delta=0.0)


def test_gaussian_noise_allows_what_its_closed_form_says_rounded_down():
    """A right guess of Φ(μ/2) = 0.6 is μ = 0.507, and its ε at δ = 1/n² follows exactly."""
    result = budget_for_risk(HERE, 0.6)
    exact = accounting.exact_epsilon(2 * float(ndtri(0.6)), 1 / 200**2)
    assert result.epsilon is not None and exact - 0.1 < result.epsilon <= exact


@pytest.mark.parametrize("setting", [HERE, PURE], ids=["gaussian", "pure"])
@pytest.mark.parametrize("right", few([0.7, 0.55, 0.9]))
def test_the_answer_keeps_the_risk_and_a_little_more_does_not(setting, right):
    result = budget_for_risk(setting, right)
    assert result.epsilon is not None and result.protection is not None
    assert result.protection.odds.right <= right
    more = protection(setting.moved("epsilon", 1.12 * result.epsilon))
    assert more.odds.right > right or result.epsilon == 10


@pytest.mark.parametrize("right", [0.55, 0.7])
def test_epsilon_alone_allows_the_logit_of_the_chance(right):
    """(e^ε + δ)/(1 + e^ε) ≤ right."""
    result = budget_for_risk(PURE, right)
    exact = math.log(right / (1 - right))
    assert result.any_method is not None and result.epsilon is not None
    assert exact * 0.9 < result.any_method <= exact
    assert result.any_method <= result.epsilon


@pytest.mark.slow
def test_a_person_with_several_curves_may_be_given_less():
    one, four = (budget_for_risk(HERE, 0.6, records) for records in (1, 4))
    assert one.epsilon is not None and four.epsilon is not None
    assert four.epsilon < one.epsilon / 2


def test_few_people_and_a_low_risk_leave_nothing_to_publish_and_the_sentence_says_so():
    result = budget_for_risk(replace(HERE, people=30), 0.51)
    assert not result.is_published
    assert "nothing would be published" in planning_words.risk_verdict(result, HERE.source.facts)


@pytest.mark.parametrize("right", [0.5, 1.0, 0.2])
def test_a_chance_that_is_none_is_refused(right):
    with pytest.raises(InputError, match="above 50 % and below 100 %"):
        budget_for_risk(HERE, right)


def test_a_risk_that_every_budget_keeps_is_said_to_be_kept():
    assert "Every ε up to 10" in planning_words.risk_verdict(
        budget_for_risk(HERE, 0.99), HERE.source.facts
    )
