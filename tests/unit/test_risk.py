"""Chances follow from the noise that was added, and no mechanism of the same budget beats a cap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import gaussian_mechanism

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy import risk

DELTA = 2.5e-5
EPSILONS = (0.1, 0.5, 1, 2, 4, 10)


@pytest.fixture(scope="module")
def mus() -> np.ndarray:
    return np.array([1 / gaussian_mechanism.get_sigma_gaussian(e, DELTA) for e in EPSILONS])


def test_right_guesses_have_the_reference_values(mus):
    expected = [50.7, 53.0, 55.6, 60.4, 68.6, 85.0]
    assert np.abs(100 * risk.right_guess(mus) - expected).max() < 0.0501


def test_careful_attackers_have_the_reference_values(mus):
    expected = [5.4, 6.8, 8.7, 13.2, 24.9, 66.5]
    assert np.abs(100 * risk.detection(mus) - expected).max() < 0.0501


def test_flags_have_the_reference_values_at_a_first_guess_of_1_in_100(mus):
    expected = [1.1, 1.3, 1.7, 2.6, 4.8, 11.8]
    assert np.abs(100 * risk.precision(mus, 0.01) - expected).max() < 0.0501


def test_pure_budgets_allow_the_reference_values():
    right = 100 * risk.right_guess_cap(EPSILONS[:5])
    caught = 100 * risk.detection_cap(EPSILONS[:5])
    assert np.abs(right - [52.5, 62.2, 73.1, 88.1, 98.2]).max() < 0.0501
    assert np.abs(caught - [5.5, 8.2, 13.6, 36.9, 98.3]).max() < 0.0501


def test_a_budget_of_ten_allows_more_than_99_in_100():
    assert risk.right_guess_cap(10) > 0.99
    assert risk.detection_cap(10) > 0.99


def test_gaussian_noise_never_exceeds_what_its_budget_allows(mus):
    alarms = np.linspace(0.001, 0.999, 199)[:, None]
    epsilons = np.array(EPSILONS, dtype=float)
    assert (risk.right_guess(mus) <= risk.right_guess_cap(epsilons, DELTA)).all()
    assert (risk.detection(mus, alarms) <= risk.detection_cap(epsilons, DELTA, alarms) + 1e-9).all()


def test_without_noise_the_attacker_is_always_right_and_with_endless_noise_never_wiser():
    assert risk.right_guess(math.inf) == 1
    assert risk.detection(math.inf) == 1
    assert risk.right_guess(0) == 0.5
    assert risk.detection(0) == pytest.approx(0.05)
    assert risk.precision(0, 0.1) == pytest.approx(0.1)


def test_an_unlimited_budget_allows_everything():
    assert risk.right_guess_cap(math.inf) == 1
    assert risk.detection_cap(math.inf) == pytest.approx(1)


def test_more_false_alarms_never_catch_less():
    caught = risk.detection_cap(1.0, DELTA, np.linspace(0.001, 0.999, 500))
    assert (np.diff(caught) >= 0).all()
    assert caught.max() <= 1


def test_the_best_balance_of_the_cap_is_the_cap_on_a_right_guess():
    alarms = np.linspace(1e-4, 1 - 1e-4, 20001)
    balance = (1 + risk.detection_cap(1.0, 0.01, alarms) - alarms).max() / 2
    assert balance == pytest.approx(float(risk.right_guess_cap(1.0, 0.01)), abs=1e-4)


def test_the_share_of_right_flags_agrees_with_counting_people():
    people, held = 1_000_000, 10_000
    caught = float(risk.detection(0.7)) * held
    false = 0.05 * (people - held)
    assert float(risk.precision(0.7, 0.01)) == pytest.approx(caught / (caught + false))


def test_odds_of_a_mechanism_without_gaussian_noise_are_the_caps():
    odds = risk.odds(None, Budget(1.0))
    assert (odds.right, odds.power) == (odds.right_cap, odds.power_cap)
    assert not odds.from_noise
    result = float(risk.detection_cap(1, 0))
    assert odds.precision == pytest.approx(result / (result + risk.FALSE_POSITIVE_RATE))


def test_odds_take_the_noise_where_it_is_known(mus):
    odds = risk.odds(float(mus[2]), Budget(1.0, DELTA), prior=0.01)
    assert odds.from_noise
    assert odds.right < odds.right_cap
    assert odds.precision == pytest.approx(float(risk.precision(mus[2], 0.01)))


@pytest.mark.parametrize("wrong", [-0.1, math.nan])
def test_a_negative_or_missing_mu_is_refused_by_name(wrong):
    with pytest.raises(InputError) as caught:
        risk.right_guess(wrong)
    assert caught.value.field == "mu"


@pytest.mark.parametrize("wrong", [0, 1, 5, math.nan])
def test_false_alarms_outside_0_to_1_are_refused_by_name(wrong):
    with pytest.raises(InputError) as caught:
        risk.detection(1.0, wrong)
    assert caught.value.field == "false_positive_rate"


def test_a_delta_of_one_is_refused_by_name():
    with pytest.raises(InputError) as caught:
        risk.right_guess_cap(1.0, 1.0)
    assert caught.value.field == "delta"
