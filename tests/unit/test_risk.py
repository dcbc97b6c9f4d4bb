"""Chances follow from the noise that was added, and no mechanism of the same budget beats a cap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import gaussian_mechanism

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy import risk
from engine.privacy.tradeoff import Approximate, Gaussian

DELTA = 2.5e-5
EPSILONS = (0.1, 0.5, 1, 2, 4, 10)


@pytest.fixture(scope="module")
def mus() -> np.ndarray:
    return np.array([1 / gaussian_mechanism.get_sigma_gaussian(e, DELTA) for e in EPSILONS])


def test_chances_have_the_reference_values_at_a_first_guess_of_1_in_100(mus):
    found = [
        risk.odds(float(mu), Budget(epsilon, DELTA), prior=0.01)
        for mu, epsilon in zip(mus, EPSILONS, strict=True)
    ]
    for name, expected in (
        ("right", [50.7, 53.0, 55.6, 60.4, 68.6, 85.0]),
        ("power", [5.4, 6.8, 8.7, 13.2, 24.9, 66.5]),
        ("precision", [1.1, 1.3, 1.7, 2.6, 4.8, 11.8]),
    ):
        values = np.array([getattr(odds, name) for odds in found])
        assert np.abs(100 * values - expected).max() < 0.0501, name


def test_pure_budgets_allow_the_reference_values():
    caps = [risk.odds(None, Budget(epsilon)) for epsilon in EPSILONS]
    right, caught = (
        100 * np.array([getattr(odds, name) for odds in caps])
        for name in ("right_cap", "power_cap")
    )
    assert np.abs(right[:5] - [52.5, 62.2, 73.1, 88.1, 98.2]).max() < 0.0501
    assert np.abs(caught[:5] - [5.5, 8.2, 13.6, 36.9, 98.3]).max() < 0.0501
    assert right[5] > 99 and caught[5] > 99


def test_gaussian_noise_never_exceeds_what_its_budget_allows(mus):
    alarms = np.linspace(0.001, 0.999, 199)
    for mu, epsilon in zip(mus, EPSILONS, strict=True):
        curve, cap = Gaussian(float(mu)), Approximate(Budget(epsilon, DELTA))
        assert float(curve.right()) <= float(cap.right())
        assert (curve.detection(alarms) <= cap.detection(alarms) + 1e-9).all()


def test_the_share_of_right_flags_agrees_with_counting_people():
    people, held = 1_000_000, 10_000
    odds = risk.odds(0.7, Budget(10.0, DELTA), prior=0.01)
    caught, false = odds.power * held, 0.05 * (people - held)
    assert odds.precision == pytest.approx(caught / (caught + false))


def test_who_learns_nothing_accuses_as_blindly_as_before():
    assert risk.odds(0.0, Budget(1.0, DELTA), prior=0.1).precision == pytest.approx(0.1)


def test_odds_of_a_mechanism_without_gaussian_noise_are_the_caps():
    odds = risk.odds(None, Budget(1.0))
    assert (odds.right, odds.power) == (odds.right_cap, odds.power_cap)
    assert not odds.from_noise
    result = float(Approximate(Budget(1.0)).detection(risk.FALSE_POSITIVE_RATE))
    assert odds.precision == pytest.approx(result / (result + risk.FALSE_POSITIVE_RATE))


def test_odds_take_the_noise_where_it_is_known(mus):
    odds = risk.odds(float(mus[2]), Budget(1.0, DELTA), prior=0.01)
    assert odds.from_noise
    assert odds.right < odds.right_cap


@pytest.mark.parametrize("wrong", [-0.1, math.nan])
def test_a_negative_or_missing_mu_is_refused_by_name(wrong):
    with pytest.raises(InputError) as caught:
        risk.odds(wrong, Budget(1.0, DELTA))
    assert caught.value.field == "mu"


@pytest.mark.parametrize("wrong", [0, 1, 5, math.nan])
def test_a_first_guess_outside_0_to_1_is_refused_by_name(wrong):
    with pytest.raises(InputError) as caught:
        risk.odds(1.0, Budget(1.0, DELTA), prior=wrong)
    assert caught.value.field == "prior"
