"""Attacks on mechanisms of which nothing is known but what they release."""

import numpy as np
import pytest

from engine.audit.callables import attack
from engine.core.errors import InputError
from tests.sentences import of_topic

wording = of_topic("audit")

ONE, OTHER = np.zeros(100), np.append(np.zeros(99), 1.0)


def laplace_sum(scale):
    return lambda data, rng, runs: data.sum() + rng.laplace(scale=scale, size=runs)


def test_a_mechanism_that_keeps_its_claim_is_not_broken_and_most_of_it_is_found():
    report = attack(laplace_sum(1.0), ONE, OTHER, 1.0, runs=20_000, at_once=True)
    assert not report.is_broken
    assert report.bound > 0.8


def test_half_the_noise_is_caught():
    report = attack(laplace_sum(0.5), ONE, OTHER, 1.0, runs=20_000, at_once=True)
    assert report.is_broken and report.certain > 1
    wording.found("broken claims releases", str(report), 1, 0, "20,000")


@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_gaussian_noise_keeps_what_is_known_of_it(sigma):
    from engine.privacy.accounting import exact_epsilon

    def release(data, rng, runs):
        return data.sum() + rng.normal(scale=sigma, size=(runs, 1))

    assert not attack(
        release, ONE, OTHER, exact_epsilon(1 / sigma, 1e-3), 1e-3, runs=20_000, at_once=True
    ).is_broken


def test_a_mechanism_that_sometimes_gives_its_data_away_is_caught_beyond_its_delta():
    def release(data, rng, runs):
        gives_away = rng.random(runs) < 0.02
        return np.where(gives_away, 100 * data.sum(), rng.normal(scale=30.0, size=runs))

    assert attack(release, ONE, OTHER, 0.5, 1e-5, runs=20_000, at_once=True).is_broken


def test_missing_results_in_one_case_alone_give_it_away():
    def release(data, rng):
        return np.nan if data.sum() > 0.5 else 0.0

    assert attack(release, ONE, OTHER, 1.0, runs=1000).is_broken


def test_false_alarms_are_rarer_than_one_in_a_thousand():
    broken = [
        attack(laplace_sum(1.0), ONE, OTHER, 1.0, runs=500, seed=seed, at_once=True).is_broken
        for seed in range(60)
    ]
    assert not any(broken)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"runs": 3}, "runs"),
    ],
)
def test_claims_out_of_range_are_refused(changes, field):
    arguments = {"epsilon": 1.0, "delta": 0.0, "runs": 500} | changes
    with pytest.raises(InputError) as problem:
        attack(laplace_sum(1.0), ONE, OTHER, at_once=True, **arguments)
    assert problem.value.field == field


def test_numbers_of_different_count_are_refused_because_they_tell_the_data():
    with pytest.raises(InputError, match="different numbers"):
        attack(lambda data, rng: rng.normal(size=1 + int(data.sum())), ONE, OTHER, 1.0, runs=500)
