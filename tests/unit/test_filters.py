"""Either rule for a person's total: known numbers, monotone, and right at its edges."""

import numpy as np
import pytest
from scipy.stats import norm

from engine.core.types import Budget
from engine.privacy import accounting
from engine.privacy.filters import FINE, Filter, Loss, in_units

TOTAL = Budget(3.0, 1e-6)


def gaussian(epsilon, delta=TOTAL.delta / 20):
    return Loss.of(Budget(epsilon, delta), accounting.exact_mu(epsilon, delta))


def number_of(loss, total=TOTAL):
    lost, count = Loss(), 0
    while Filter(total).admits(lost + loss):
        lost, count = lost + loss, count + 1
    return count


@pytest.mark.parametrize("epsilon, count", [(1.0, 9), (0.5, 34)])
def test_many_gaussian_releases_fit_where_the_sum_takes_three_or_six(epsilon, count):
    assert number_of(gaussian(epsilon)) == count
    assert number_of(Loss.of(Budget(epsilon))) == round(3 / epsilon)  # pure ones add


def test_one_release_of_the_whole_total_fits_only_with_a_smaller_delta():
    assert not Filter(TOTAL).admits(gaussian(3.0, 1e-6))
    assert Filter(TOTAL).admits(gaussian(3.0))
    assert Filter(TOTAL).admits(Loss.of(Budget(3.0)))


def test_without_delta_only_pure_releases_fit():
    assert not Filter(Budget(3.0)).admits(gaussian(0.1))
    assert number_of(Loss.of(Budget(0.3)), Budget(3.0)) == 10


def test_noise_that_is_neither_pure_nor_gaussian_adds_by_the_sum_alone():
    mixed = Loss.of(Budget(0.4, 1e-9))
    assert mixed.mu_squared is None and number_of(mixed) == 7
    assert not Filter(TOTAL).admits(mixed + gaussian(3.0))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 20.0])
def test_pure_noise_is_never_easier_to_tell_than_gaussian_noise_of_its_mu(epsilon):
    """f of (ε, 0) lies on or above G_μ at every type I error, and touches it."""
    mu = accounting.mu_of_pure(epsilon)
    alpha = np.concatenate([np.geomspace(1e-12, 0.5, 4000), 1 - np.geomspace(1e-12, 0.5, 4000)])
    pure = np.maximum(np.maximum(1 - np.exp(epsilon) * alpha, np.exp(-epsilon) * (1 - alpha)), 0)
    gap = pure - norm.cdf(norm.isf(alpha) - mu)
    assert gap.min() > -1e-11
    fixed = 1 / (1 + np.exp(epsilon))
    assert norm.cdf(norm.isf(fixed) - mu) == pytest.approx(fixed, rel=1e-9)
    assert accounting.pure_of_mu(mu) == pytest.approx(epsilon, rel=1e-9)
    assert accounting.pure_of_mu(mu) <= epsilon


def test_what_is_left_can_be_spent_whatever_was_released_before():
    rng = np.random.default_rng(5)
    for _ in range(200):
        total = Budget(rng.uniform(0.5, 5), 10 ** rng.uniform(-9, -3))
        lost, rule = Loss(), Filter(total)
        for _ in range(8):
            epsilon, is_pure = rng.uniform(0.05, total.epsilon), rng.random() < 0.4
            more = Loss.of(Budget(epsilon)) if is_pure else gaussian(epsilon, total.delta / 20)
            lost = lost + more if rule.admits(lost + more) else lost
        assert rule.spent(lost) <= total.epsilon * (1 + 1e-9)
        if left := rule.left(lost, 0.0):
            assert rule.admits(lost + Loss.of(Budget(left)))
        if left := rule.left(lost):
            assert rule.admits(lost + gaussian(left, total.delta / 20))


def test_costs_are_rounded_up_and_decimals_stay_what_they_say():
    assert in_units(0.3, FINE) == 300_000_000_000
    assert in_units(1 / 3, FINE) == 333_333_333_334 and in_units(1 / 3, FINE, up=False) == (
        333_333_333_333
    )
    assert Loss.of(Budget(1.0, 0.0), 0.5).mu_squared == FINE // 4
