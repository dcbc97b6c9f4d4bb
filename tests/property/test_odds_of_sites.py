"""Odds shown for several sites hold for every person at every site, whatever noise each site adds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from engine.core.types import Budget, Spend, Step
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting, risk
from engine.privacy.amplification import SecretSample
from engine.privacy.tradeoff import Approximate
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

CHANCES = (
    "right",
    "power",
    "power_at_1_percent",
    "precision",
    "right_with_prior",
    "right_cap",
    "power_cap",
)
ALARMS, EPSILONS = np.geomspace(1e-4, 1, 60), np.linspace(-3, 6, 60)
ROUNDING = 1e-9


def line(rng, server):
    """One release with noise of any kind that a ledger can state."""
    size, count = float(rng.uniform(0.05, 2)), int(rng.integers(1, 4))
    budget = Budget(2.0, float(rng.choice([0.0, 1e-8, 1e-5])))
    plain = Spend(Step("x"), server, None, (1.0,), (1.0,), count, "sequential", budget, "")
    kinds = [
        replace(plain, mu=size, noise="gaussian"),
        replace(plain, epsilon=size, noise="laplace"),
        replace(plain, epsilon=size, noise="bits"),
        replace(plain, rho=size / 20, noise="choice"),
        replace(plain, epsilon=size, count=1, noise="discrete laplace"),
    ]
    if budget.is_pure:
        kinds = [kind for kind in kinds if kind.epsilon is not None]
    return kinds[rng.integers(len(kinds))]


def random_ledger(seed):
    rng = np.random.default_rng(seed)
    lines = []
    for server in range(int(rng.integers(2, 5))):
        first, *more = [line(rng, server) for _ in range(int(rng.integers(1, 3)))]
        lines += [
            first,
            *(
                replace(each, budget=first.budget)
                for each in more
                if first.budget.delta or each.epsilon is not None
            ),
        ]
    return lines


def at_each_site(lines):
    return accounting.by_server(lines).values()


@pytest.mark.parametrize("seed", few(range(40), 4))
def test_odds_of_a_ledger_are_none_below_those_of_any_site(seed):
    lines = random_ledger(seed)
    for group, prior in ((1, 0.5), (3, 0.1)):
        shown = risk.of_ledger(lines, group, prior)
        for own in (risk.of_ledger(each, group, prior) for each in at_each_site(lines)):
            for chance in CHANCES:
                assert getattr(shown, chance) >= getattr(own, chance) - ROUNDING, chance
            assert (
                shown.budget.epsilon >= own.budget.epsilon
                and shown.budget.delta >= own.budget.delta
            )
            assert (shown.curve.detection(ALARMS) >= own.curve.detection(ALARMS) - ROUNDING).all()
            assert (shown.curve.delta(EPSILONS) >= own.curve.delta(EPSILONS) - ROUNDING).all()
            assert (
                shown.curve.right([0.1, 0.5, 0.9]) >= own.curve.right([0.1, 0.5, 0.9]) - ROUNDING
            ).all()


@pytest.mark.parametrize("seed", few(range(40), 4))
def test_odds_of_a_ledger_are_no_larger_than_some_site_needs(seed):
    """Each is that of a person at one of the sites, and the caps are those of the budget beside it."""
    lines = random_ledger(seed)
    shown, owns = risk.of_ledger(lines), [risk.of_ledger(each) for each in at_each_site(lines)]
    for chance in CHANCES[:5]:
        assert getattr(shown, chance) == max(getattr(own, chance) for own in owns)
    cap = Approximate(shown.budget)
    assert (shown.right_cap, shown.power_cap) == (float(cap.right()), float(cap.detection(0.05)))
    assert shown.budget.epsilon == max(own.budget.epsilon for own in owns)
    assert shown.budget.delta == max(own.budget.delta for own in owns)


@pytest.mark.parametrize("seed", few(range(20), 5))
def test_no_attack_on_gaussian_noise_at_one_site_and_laplace_noise_at_another_beats_them(seed):
    """Best tests in closed form: the Neyman and Pearson test of each, and the rule of Bayes."""
    rng = np.random.default_rng(seed)
    mu, theta = rng.uniform(0.2, 3), rng.uniform(0.2, 3)
    one = Spend(
        Step("x"), 0, mu, (1.0,), (1.0,), 1, "sequential", Budget(1.0, 1e-6), "", noise="gaussian"
    )
    other = Spend(
        Step("x"),
        1,
        None,
        (1.0,),
        (1.0,),
        1,
        "sequential",
        Budget(theta),
        "",
        epsilon=theta,
        noise="laplace",
    )
    shown = risk.of_ledger([one, other], prior=0.5)
    gaussian = ndtr(ndtri(ALARMS) + mu)
    # |x| against |x − θ|: alarms beyond t, which 1 − F(t) of the first and 1 − F(t − θ) see
    reach = np.where(ALARMS <= 0.5, -np.log(2 * ALARMS), np.log(2 * np.maximum(1 - ALARMS, 1e-300)))
    laplace = np.where(reach < theta, 1 - np.exp(reach - theta) / 2, np.exp(theta - reach) / 2)
    for power in (gaussian, laplace):
        assert (shown.curve.detection(ALARMS) >= power - ROUNDING).all()
    assert shown.right >= max(ndtr(mu / 2), 1 - math.exp(-theta / 2) / 2) - ROUNDING
    assert shown.power >= max(ndtr(ndtri(0.05) + mu), np.interp(0.05, ALARMS, laplace)) - 1e-3


@pytest.mark.parametrize("seed", few(range(10), 3))
def test_a_secret_sample_is_worth_no_more_than_at_the_site_where_it_is_worth_least(seed):
    lines, drawn = random_ledger(seed), SecretSample(100, 400, True)
    shown = drawn.odds(lines)
    for own in (drawn.odds(each) for each in at_each_site(lines)):
        assert all(getattr(shown, chance) >= getattr(own, chance) - ROUNDING for chance in CHANCES)
        assert shown.budget.epsilon >= own.budget.epsilon and shown.budget.delta >= own.budget.delta


def test_a_site_without_delta_does_not_hide_what_another_site_gives_away():
    """ε = 1.1 by Laplace noise allows more right guesses, (2.2, 1e-5) by Gaussian more power at 1 %."""
    source = SparseCurves(mean="growth", n_curves=600, n_servers=2)
    data = source.draw(1, np.random.default_rng(1))
    budgets = (Budget(1.1), Budget(2.2, 1e-5))
    lines = AdaptiveMean().release(data, budgets, np.random.default_rng(1)).spends[0]
    first, second = (risk.of_ledger(each) for each in at_each_site(lines))
    assert first.right > second.right and first.power_at_1_percent < second.power_at_1_percent
    shown = risk.of_ledger(lines)
    assert shown.right == first.right and shown.power_at_1_percent == second.power_at_1_percent
    assert shown.budget == Budget(2.2, 1e-5)
