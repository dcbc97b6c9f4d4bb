"""What is summed up in floating point, once more in fractions and in fifty digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from engine import accounting, audit
from engine.audit import neighbours
from engine.experiments import generator
from engine.mechanisms import mechanisms
from engine.types import Budget, Spend

GRID = [(epsilon, delta) for epsilon in (1e-3, 0.05, 0.5, 1.0, 4.0, 40.0, 400.0)
        for delta in (0.1, 1e-3, 1e-6, 1e-12)]
CASES = [case for cls in mechanisms.all() for case in audit.cases_of(cls)]


def delta_of(mu, epsilon):
    """δ(ε) of a release with this μ: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), in fifty digits."""
    with mpmath.workdps(50):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
            -mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_calibrated_noise_is_never_too_small_and_wastes_less_than_a_billionth(epsilon, delta):
    mu = accounting.exact_mu(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta
    assert delta_of(mu * (1 + 1e-9), epsilon) > delta


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("mu", [0.01, 0.2, 1.0, 5.0, 20.0])
def test_reported_epsilon_agrees_with_fifty_digits_to_a_billionth(mu, delta):
    epsilon = accounting.exact_epsilon(mu, delta)
    if epsilon == 0:
        assert delta_of(mu, 0) <= delta
        return
    assert delta_of(mu, epsilon * (1 + 1e-9)) <= delta <= delta_of(mu, epsilon * (1 - 1e-9))


def test_sums_of_many_lines_are_those_of_fractions():
    """1000 lines of μ and of ε; a sum of floats is within 1000 roundings of the fraction."""
    rng = np.random.default_rng(1)
    each, asked = rng.uniform(1e-3, 1, 1000), Budget(1.0, 1e-6)
    pure = [Spend("x", 0, None, (1.0,), (1.0,), 3, "sequential", asked, "", epsilon=e)
            for e in each]
    normal = [Spend("x", 0, mu, (1.0,), (1.0,), 3, "sequential", asked, "") for mu in each]
    total = 3 * sum(Fraction(e) for e in each)
    squares = 3 * sum(Fraction(mu) ** 2 for mu in each)
    assert abs(accounting.total_epsilon(pure) / total - 1) < 1000 * 2**-53
    assert abs(Fraction(accounting.total_mu(normal)) ** 2 / squares - 1) < 2000 * 2**-53


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.mechanism.key} "
                         f"{case.mechanism.changed()} {case.budget.delta:g}")
def test_every_ledger_is_worth_what_was_asked_in_fifty_digits_too(case):
    """Where all is pure or all Gaussian; lines that share out ρ are tested with the accountant."""
    data = neighbours.family_of(case.mechanism).usual(case.mechanism)
    spends = case.mechanism.release(data, (case.budget,), generator(1, 1, 0)).spends[0]
    for own in accounting.by_server(spends).values():
        times = [line.count if line.composition == "sequential" else 1 for line in own]
        if all(line.epsilon is not None for line in own):
            total = sum(k * Fraction(line.epsilon) for k, line in zip(times, own, strict=True))
            assert total <= Fraction(case.budget.epsilon) * (1 + Fraction(1, 10**12))
        elif all(line.mu is not None for line in own):
            with mpmath.workdps(50):
                mu = mpmath.sqrt(sum(k * mpmath.mpf(line.mu) ** 2
                                     for k, line in zip(times, own, strict=True)))
                assert delta_of(mu, case.budget.epsilon) <= case.budget.delta
        else:
            most = accounting.rho_of(case.budget.epsilon, case.budget.delta)
            assert accounting.total_rho(own) <= most * (1 + 1e-12)
