"""Calibration and composition against closed forms, always rounded to the private side."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from engine import accounting
from engine.errors import InputError
from engine.noise.gaussian import anisotropic_scales, isotropic_scales, mahalanobis
from engine.types import Budget, Spend


def delta_of(mu, epsilon):
    """The exact profile of a Gaussian mechanism, from the specification."""
    return ndtr(-epsilon / mu + mu / 2) - np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))


@pytest.mark.parametrize(("epsilon", "delta", "mu"), [
    (1, 1e-3, 0.3884), (1, 1e-5, 0.2681), (8, 1e-3, 2.083), (0.5, 1e-3, 0.2169)])
def test_the_exact_level_is_the_tabulated_one(epsilon, delta, mu):
    assert accounting.exact_mu(epsilon, delta) == pytest.approx(mu, abs=5e-4 * max(mu, 1))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 4, 10, 40])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_the_exact_level_keeps_the_budget_and_wastes_next_to_nothing(epsilon, delta):
    mu = accounting.exact_mu(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta
    assert delta_of(mu * (1 + 1e-6), epsilon) > delta


def test_no_gaussian_noise_gives_delta_zero():
    with pytest.raises(InputError, match="δ must be above 0"):
        accounting.exact_mu(1.0, 0.0)


def test_without_a_limit_there_is_no_noise():
    assert accounting.exact_mu(math.inf, 1e-3) == math.inf
    assert (anisotropic_scales(np.ones(3), math.inf) == 0).all()


def test_the_printed_level_delivers_the_stated_tiny_delta_at_epsilon_one():
    mu = accounting.printed_mu(1.0, 1e-3, "anisotropic")
    assert delta_of(mu, 1.0) == pytest.approx(8.94e-10, rel=0.01)


def spend(mu, count=1, composition="sequential", server=0, asked=None):
    return Spend("x", server, mu, (1.0,), (1.0,), count, composition, asked or Budget(1, 1e-3), "")


def test_rounds_about_the_same_people_add_in_squares_and_disjoint_ones_do_not_add():
    assert accounting.total_mu([spend(0.1, 25)]) == pytest.approx(0.5)
    assert accounting.total_mu([spend(0.1, 25, "parallel")]) == pytest.approx(0.1)
    assert accounting.total_mu([spend(0.3), spend(0.4)]) == pytest.approx(0.5)


@pytest.mark.parametrize(("epsilon", "holds"), [(1.0, True), (7.4, True), (7.6, False), (8.0, False)])
def test_the_classical_constant_breaks_its_promise_at_large_epsilon_and_the_ledger_says_so(
        epsilon, holds):
    mu = accounting.printed_mu(epsilon, 1e-3, "isotropic")
    ledger = [spend(mu, asked=Budget(epsilon, 1e-3))]
    assert accounting.keeps_promise(ledger) is holds
    assert (accounting.guarantee(ledger, 0).epsilon <= epsilon) is holds


def test_lemma_one_breaks_its_promise_beyond_its_stated_range():
    def keeps(epsilon):
        mu = accounting.printed_mu(epsilon, 1e-3, "anisotropic")
        return accounting.keeps_promise([spend(mu, asked=Budget(epsilon, 1e-3))])
    assert keeps(28.3)
    assert not keeps(28.5)


def test_tight_calibration_reports_exactly_what_was_asked():
    mu = accounting.exact_mu(0.7, 1e-4)
    assert accounting.guarantee([spend(mu, asked=Budget(0.7, 1e-4))], 0) == Budget(0.7, 1e-4)


def test_each_server_has_a_guarantee_of_its_own():
    ledger = [spend(accounting.exact_mu(e, 1e-3), server=s, asked=Budget(e, 1e-3))
              for s, e in enumerate((0.5, 2.0))]
    assert [b.epsilon for b in accounting.guarantees(ledger)] == [0.5, 2.0]


@pytest.mark.parametrize("shape", [anisotropic_scales, isotropic_scales])
def test_a_shift_by_the_sensitivity_costs_exactly_mu(shape):
    sensitivity = np.array([3.0, 1.0, 0.2])
    assert mahalanobis(sensitivity, shape(sensitivity, 0.4)) == pytest.approx(0.4)


def test_the_anisotropic_shape_has_the_least_total_variance():
    sensitivity = np.array([3.0, 1.0, 0.2])
    best = (anisotropic_scales(sensitivity, 1.0) ** 2).sum()
    assert best == pytest.approx(sensitivity.sum() ** 2)
    rng = np.random.default_rng(0)
    for _ in range(200):
        variances = rng.uniform(0.1, 5, 3)
        variances *= (sensitivity**2 / variances).sum()
        assert variances.sum() >= best * (1 - 1e-12)
