"""What is summed up in floating point, once more in fractions and in fifty digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from engine import audit
from engine.audit import neighbours
from engine.core.random_streams import generator
from engine.core.types import Budget, Spend, Step
from engine.mechanisms import mechanisms
from engine.privacy import accounting, risk

GRID = [
    (epsilon, delta)
    for epsilon in (1e-3, 0.05, 0.5, 1.0, 4.0, 40.0, 400.0)
    for delta in (0.1, 1e-3, 1e-6, 1e-12)
]
CASES = [case for cls in mechanisms.all() for case in audit.cases_of(cls)]


def delta_of(mu, epsilon):
    """δ(ε) of a release with this μ: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), in fifty digits."""
    with mpmath.workdps(50):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
            -mu / 2 - epsilon / mu
        )


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_calibrated_noise_is_never_too_small_and_wastes_less_than_a_billionth(epsilon, delta):
    mu = accounting.exact_mu(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta
    assert delta_of(mu * (1 + 1e-9), epsilon) > delta


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("mu", [0.01, 0.2, 1.0, 5.0, 20.0])
def test_reported_epsilon_is_never_below_fifty_digits_and_within_a_billionth(mu, delta):
    epsilon = accounting.exact_epsilon(mu, delta)
    if epsilon == 0:
        assert delta_of(mu, 0) <= delta
        return
    assert delta_of(mu, epsilon) <= delta <= delta_of(mu, epsilon * (1 - 1e-9))


def test_sums_of_many_lines_are_those_of_fractions():
    """1000 lines of μ and of ε: never below the fraction, and within one rounding of it."""
    rng = np.random.default_rng(1)
    each, asked = rng.uniform(1e-3, 1, 1000), Budget(1.0, 1e-6)
    pure = [
        Spend(Step("x"), 0, None, (1.0,), (1.0,), 3, "sequential", asked, "", epsilon=e)
        for e in each
    ]
    normal = [Spend(Step("x"), 0, mu, (1.0,), (1.0,), 3, "sequential", asked, "") for mu in each]
    total = 3 * sum(Fraction(e) for e in each)
    squares = 3 * sum(Fraction(mu) ** 2 for mu in each)
    rhos = sum(3 * Fraction(mu) ** 2 / 2 for mu in each)
    assert 0 <= Fraction(accounting.total_epsilon(pure)) / total - 1 < Fraction(1, 2**51)
    assert 0 <= Fraction(accounting.total_mu(normal)) ** 2 / squares - 1 < Fraction(1, 2**50)
    assert 0 <= Fraction(accounting.total_rho(normal)) / rhos - 1 < 1001 * Fraction(1, 2**52)


@pytest.fixture(scope="module")
def ledgers():
    """The ledger of every registered mechanism, at every budget and setting that is audited."""

    def ledger(case):
        data = neighbours.family_of(case.mechanism).usual(case.mechanism)
        return case.mechanism.release(data, (case.budget,), generator(1, 1, 0)).spends[0]

    return [ledger(case) for case in CASES]


every_case = pytest.mark.parametrize(
    "at",
    range(len(CASES)),
    ids=[
        f"{case.mechanism.key} {case.mechanism.changed()} {case.budget.delta:g}" for case in CASES
    ],
)


@every_case
def test_every_spend_names_its_unit_norm_and_noise(ledgers, at):
    assert ledgers[at]
    for line in ledgers[at]:
        assert line.unit in {"curve", "reading", "row", "record", "person", "number", "machine"}
        assert line.norm and line.what and line.why
        assert line.noise in {
            "gaussian",
            "laplace",
            "norm",
            "bits",
            "choice",
            "none",
            "discrete laplace",
        }
        assert line.composition in {"sequential", "parallel"} and line.count >= 1
        assert all(np.isfinite(line.sensitivity)) and all(np.isfinite(line.noise_scale))
        assert (line.noise == "gaussian") == (line.mu is not None and line.noise != "none")


@every_case
def test_odds_grow_with_the_group_and_never_exceed_what_the_budget_allows(ledgers, at):
    one, three, many = (risk.of_ledger(ledgers[at], k) for k in (1, 3, 30))
    for name in ("right", "power", "power_at_1_percent", "precision"):
        assert getattr(one, name) <= getattr(three, name) + 1e-12 <= getattr(many, name) + 1e-9
    assert one.budget.epsilon <= three.budget.epsilon <= many.budget.epsilon
    for odds in (one, three, many):
        assert 0.5 <= odds.right <= odds.right_cap + 1e-9
        assert odds.false_positive_rate <= odds.power <= odds.power_cap + 1e-6
        assert odds.power_at_1_percent <= odds.power


@every_case
def test_odds_with_a_first_guess_are_no_worse_than_without_taking_part(ledgers, at):
    for guess in (0.01, 0.1, 0.5):
        odds = risk.of_ledger(ledgers[at], 1, guess)
        assert odds.right_with_prior >= max(guess, 1 - guess) - 1e-12
        assert odds.precision >= guess - 1e-12
    assert odds.right_with_prior == pytest.approx(odds.right)


@every_case
def test_every_ledger_is_worth_what_was_asked_in_fifty_digits_too(ledgers, at):
    """Where all is pure or all Gaussian; lines that share out ρ are tested with the accountant."""
    case, spends = CASES[at], ledgers[at]
    for own in accounting.by_server(spends).values():
        times = [line.count if line.composition == "sequential" else 1 for line in own]
        if all(line.epsilon is not None for line in own):
            total = sum(k * Fraction(line.epsilon) for k, line in zip(times, own, strict=True))
            assert total <= Fraction(case.budget.epsilon) * (1 + Fraction(1, 10**12))
        elif all(line.mu is not None for line in own):
            with mpmath.workdps(50):
                mu = mpmath.sqrt(
                    sum(k * mpmath.mpf(line.mu) ** 2 for k, line in zip(times, own, strict=True))
                )
                assert delta_of(mu, case.budget.epsilon) <= case.budget.delta
        else:
            most = accounting.rho_of(case.budget.epsilon, case.budget.delta)
            assert accounting.total_rho(own) <= most * (1 + 1e-12)
