"""Calibration and composition against closed forms, always rounded to the private side."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from engine.core.errors import InputError
from engine.core.types import Budget, Spend, Step
from engine.noise.gaussian import anisotropic_scales, isotropic_scales
from engine.numerics import gaussian_privacy
from engine.privacy import accounting
from tests.heavy import few


def delta_of(mu, epsilon):
    """The exact profile of a Gaussian mechanism, from the specification."""
    return ndtr(-epsilon / mu + mu / 2) - np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))


@pytest.mark.parametrize(
    ("epsilon", "delta", "mu"),
    [(1, 1e-3, 0.3884), (1, 1e-5, 0.2681), (8, 1e-3, 2.083), (0.5, 1e-3, 0.2169)],
)
def test_the_exact_level_is_the_tabulated_one(epsilon, delta, mu):
    assert accounting.exact_mu(epsilon, delta) == pytest.approx(mu, abs=5e-4 * max(mu, 1))


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 4, 10, 40])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_the_exact_level_keeps_the_budget_and_wastes_next_to_nothing(epsilon, delta):
    mu = accounting.exact_mu(epsilon, delta)
    assert delta_of(mu, epsilon) <= delta
    assert delta_of(mu * (1 + 1e-6), epsilon) > delta


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # within the peer
def test_noise_and_epsilon_are_those_of_dp_accounting_to_the_last_digit():
    from dp_accounting import gaussian_mechanism as peer

    for epsilon in (1e-3, 0.05, 0.3, 1.0, 2.5, 10.0, 60.0):
        for delta in (0.2, 1e-3, 2.5e-5, 1e-9, 1e-12):
            sigma = peer.get_sigma_gaussian(epsilon, delta)
            assert gaussian_privacy.sigma_of(epsilon, delta) == sigma
            for other in (sigma, 3.7 * sigma, 0.2 * sigma):
                assert gaussian_privacy.epsilon_of(other, delta) == peer.get_epsilon_gaussian(
                    other, delta
                )


def test_no_gaussian_noise_gives_delta_zero():
    with pytest.raises(InputError, match="δ must be above 0"):
        accounting.exact_mu(1.0, 0.0)


def test_without_a_limit_there_is_no_noise():
    assert accounting.exact_mu(math.inf, 1e-3) == math.inf
    assert (anisotropic_scales(np.ones(3), math.inf) == 0).all()


def test_the_printed_level_delivers_the_stated_tiny_delta_at_epsilon_one():
    mu = accounting.printed_mu(1.0, 1e-3, "anisotropic")
    assert delta_of(mu, 1.0) == pytest.approx(8.94e-10, rel=0.01)


def spend(mu, count=1, composition="sequential", server=0, budget=None):
    return Spend(
        Step("x"), server, mu, (1.0,), (1.0,), count, composition, budget or Budget(1, 1e-3), ""
    )


def test_rounds_about_the_same_people_add_in_squares_and_disjoint_ones_do_not_add():
    assert accounting.total_mu([spend(0.1, 25)]) == pytest.approx(0.5)
    assert accounting.total_mu([spend(0.1, 25, "parallel")]) == pytest.approx(0.1)
    assert accounting.total_mu([spend(0.3), spend(0.4)]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("epsilon", "holds"), [(1.0, True), (7.4, True), (7.6, False), (8.0, False)]
)
def test_the_classical_constant_breaks_its_promise_at_large_epsilon_and_the_ledger_says_so(
    epsilon, holds
):
    mu = accounting.printed_mu(epsilon, 1e-3, "isotropic")
    ledger = [spend(mu, budget=Budget(epsilon, 1e-3))]
    assert accounting.keeps_promise(ledger) is holds
    assert (accounting.guarantee(ledger, 0).epsilon <= epsilon) is holds


def test_lemma_one_breaks_its_promise_beyond_its_stated_range():
    def keeps(epsilon):
        mu = accounting.printed_mu(epsilon, 1e-3, "anisotropic")
        return accounting.keeps_promise([spend(mu, budget=Budget(epsilon, 1e-3))])

    assert keeps(28.3)
    assert not keeps(28.5)


def test_tight_calibration_reports_exactly_what_was_asked():
    mu = accounting.exact_mu(0.7, 1e-4)
    assert accounting.guarantee([spend(mu, budget=Budget(0.7, 1e-4))], 0) == Budget(0.7, 1e-4)


def test_each_server_has_a_guarantee_of_its_own():
    ledger = [
        spend(accounting.exact_mu(e, 1e-3), server=s, budget=Budget(e, 1e-3))
        for s, e in enumerate((0.5, 2.0))
    ]
    assert [b.epsilon for b in accounting.guarantees(ledger)] == [0.5, 2.0]


@pytest.mark.parametrize("shape", [anisotropic_scales, isotropic_scales])
def test_a_shift_by_the_sensitivity_costs_exactly_mu(shape):
    sensitivity = np.array([3.0, 1.0, 0.2])
    assert np.linalg.norm(sensitivity / shape(sensitivity, 0.4)) == pytest.approx(0.4)


def test_the_anisotropic_shape_has_the_least_total_variance():
    sensitivity = np.array([3.0, 1.0, 0.2])
    best = (anisotropic_scales(sensitivity, 1.0) ** 2).sum()
    assert best == pytest.approx(sensitivity.sum() ** 2)
    rng = np.random.default_rng(0)
    for _ in range(200):
        variances = rng.uniform(0.1, 5, 3)
        variances *= (sensitivity**2 / variances).sum()
        assert variances.sum() >= best * (1 - 1e-12)


# -- zCDP ----------------------------------------------------------------------------------------

BUDGETS = [
    (epsilon, delta)
    for epsilon in (1e-4, 0.05, 0.5, 2.0, 10.0, 60.0)
    for delta in (0.3, 1e-3, 1e-6, 1e-15)
]


def selection(rho, count=1, **kwargs):
    return Spend(
        Step("x"),
        kwargs.get("server", 0),
        None,
        (1.0,),
        (1.0,),
        count,
        "sequential",
        kwargs.get("budget", Budget(1, 1e-6)),
        "",
        rho=rho,
    )


def fifty_digits(rho, delta):
    """min over α of (ρα + log(1 − 1/α) − log(αδ)/(α − 1)), by golden section on log(α − 1)."""
    with mpmath.workdps(50):
        rho, delta = mpmath.mpf(rho), mpmath.mpf(delta)

        def epsilon(log_a):
            order = 1 + mpmath.exp(log_a)
            return rho * order + mpmath.log(1 - 1 / order) - mpmath.log(order * delta) / (order - 1)

        low, high, ratio = mpmath.mpf(-30), mpmath.mpf(60), (mpmath.sqrt(5) - 1) / 2
        for _ in range(140):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            low, high = (low, right) if epsilon(left) < epsilon(right) else (left, high)
        return epsilon((low + high) / 2)


@pytest.mark.parametrize(
    ("epsilon", "delta", "tight", "simple"),
    [
        (1, 1e-6, 0.02436, 0.01747),
        (2, 1e-6, 0.08815, 0.06757),
        (4, 1e-6, 0.31106, 0.25394),
        (0.8, 1e-5, 0.02026, 0.01343),
        (0.5, 1e-6, 0.00664, 0.00444),
        (0.3, 1e-6, 0.00254, 0.00161),
    ],
)
def test_rho_is_the_tabulated_one_and_beats_the_simple_conversion(epsilon, delta, tight, simple):
    log = math.log(1 / delta)
    printed = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    assert printed == pytest.approx(simple, abs=5.1e-6)
    assert accounting.rho_of(epsilon, delta) == pytest.approx(tight, abs=5.1e-6)
    assert accounting.epsilon_of_rho(printed, delta) < printed + 2 * math.sqrt(printed * log)


@pytest.mark.parametrize(
    ("delta", "noise"),
    [
        (1e-5, {0.3: 11.238, 0.5: 7.032, 0.8: 4.573, 1: 3.731, 2: 1.994, 4: 1.081}),
        (1e-6, {0.3: 12.992, 0.5: 8.058, 0.8: 5.198, 1: 4.225, 2: 2.230, 4: 1.194}),
    ],
)
def test_gaussian_noise_is_the_tabulated_one(delta, noise):
    for epsilon, sd in noise.items():
        assert 1 / accounting.exact_mu(epsilon, delta) == pytest.approx(sd, abs=6e-4)


@pytest.mark.parametrize(("epsilon", "delta"), few(BUDGETS, 10))
def test_the_conversion_never_falls_below_fifty_digits_and_wastes_next_to_nothing(epsilon, delta):
    rho = accounting.rho_of(epsilon, delta)
    truth = fifty_digits(rho, delta)
    assert truth <= epsilon
    assert fifty_digits(rho * (1 + 1e-6), delta) > epsilon
    assert truth <= accounting.epsilon_of_rho(rho, delta) <= float(truth) * (1 + 1e-6)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_the_conversion_agrees_with_the_accountant_on_the_same_orders(delta):
    """An accountant on a grid of orders is never below, and close where the grid is fine."""
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    for rho in (1e-3, 0.0244, 0.3, 2.0):
        accountant = RdpAccountant(orders=1 + np.exp(np.linspace(-3, 9, 4000)))
        accountant.compose(ZCDpEvent(rho))
        ours = accounting.epsilon_of_rho(rho, delta)
        assert ours == pytest.approx(accountant.get_epsilon(delta), rel=1e-5)
        assert ours <= accountant.get_epsilon(delta) * (1 + 1e-9)


def test_rho_grows_with_epsilon_and_delta():
    by_epsilon = [accounting.rho_of(e, 1e-6) for e in np.geomspace(1e-3, 100, 60)]
    by_delta = [accounting.rho_of(1.0, d) for d in np.geomspace(1e-15, 0.5, 60)]
    assert (np.diff(by_epsilon) > 0).all() and (np.diff(by_delta) > 0).all()


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("delta", [1e-100, 1e-300, 1e-310, 5e-324])
def test_rho_is_found_at_any_delta_that_can_be_written(epsilon, delta):
    log = -math.log(delta)
    simple = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2
    rho = accounting.rho_of(epsilon, delta)
    assert simple < rho < 1.1 * simple
    assert accounting.epsilon_of_rho(rho, delta) == pytest.approx(epsilon, rel=1e-6)


def test_rho_without_a_limit_is_infinite_and_delta_zero_is_refused():
    assert accounting.rho_of(math.inf, 1e-6) == math.inf
    assert accounting.epsilon_of_rho(math.inf, 1e-6) == math.inf
    assert accounting.epsilon_of_rho(0.0, 0.0) == 0.0
    assert accounting.epsilon_of_rho(0.1, 0.0) == math.inf
    with pytest.raises(InputError, match="δ must be above 0"):
        accounting.rho_of(1.0, 0.0)


def test_gaussian_pure_and_other_lines_add_up_in_rho():
    """ρ, count·μ²/2 and ε²/2, turned into ε once, at the end."""
    pure = Spend(
        Step("x"), 0, None, (1.0,), (1.0,), 1, "sequential", Budget(1, 1e-6), "", epsilon=0.1
    )
    lines = [selection(0.002, 3), spend(0.05, 4, budget=Budget(1, 1e-6)), pure]
    assert accounting.total_rho(lines) == pytest.approx(0.006 + 4 * 0.00125 + 0.005)
    assert accounting.guarantee(lines, 0).epsilon == accounting.epsilon_of_rho(
        accounting.total_rho(lines), 1e-6
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-6), (1.0, 1e-6), (4.0, 1e-3)])
def test_a_plan_that_shares_out_rho_reports_exactly_what_was_asked(epsilon, delta):
    asked, rho = Budget(epsilon, delta), accounting.rho_of(epsilon, delta)
    lines = [
        selection(0.5 * rho / 12, 12, budget=asked),
        spend(math.sqrt(rho / 12), 12, budget=asked),
    ]
    assert accounting.guarantee(lines, 0) == asked
    assert accounting.keeps_promise(lines)
    assert not accounting.keeps_promise([*lines, selection(1e-4 * rho, budget=asked)])


def test_ledgers_without_rho_are_worth_what_they_were():
    """Gaussian lines keep the exact curve, which is tighter than their ρ; pure lines keep δ = 0."""
    gaussian = [spend(0.3), spend(0.4)]
    assert accounting.guarantee(gaussian, 0).epsilon == accounting.exact_epsilon(
        accounting.total_mu(gaussian), 1e-3
    )
    assert accounting.exact_epsilon(0.5, 1e-3) < accounting.epsilon_of_rho(0.125, 1e-3)
    pure = [
        Spend(Step("x"), 0, None, (1.0,), (1.0,), 2, "sequential", Budget(1, 1e-3), "", epsilon=0.2)
    ]
    assert accounting.guarantee(pure, 0) == Budget(0.4)


# -- pure and Gaussian lines together, and several records of one person --------------------------

ASKED = Budget(1.0, 1e-6)


def pure(epsilon, count=1, noise="laplace", composition="sequential", server=0):
    return Spend(
        Step("x"),
        server,
        None,
        (1.0,),
        (1.0,),
        count,
        composition,
        ASKED,
        "",
        epsilon=epsilon,
        noise=noise,
    )


def normal(mu, count=1, server=0):
    return Spend(
        Step("x"), server, mu, (1.0,), (1.0,), count, "sequential", ASKED, "", noise="gaussian"
    )


@pytest.mark.parametrize(
    "lines",
    [
        [pure(0.4), normal(0.2)],
        [pure(0.1, 5), normal(0.1, 9)],
        [pure(0.3, noise="choice"), normal(0.3)],
    ],
    ids=str,
)
def test_pure_and_gaussian_lines_together_cost_more_than_either_and_less_than_by_rho(lines):
    together = accounting.guarantee(lines, 0)
    alone = accounting.exact_epsilon(accounting.total_mu(lines[1:]), 1e-6)
    assert together.delta == 1e-6
    assert max(alone, 0.9 * accounting.total_epsilon(lines[:1])) < together.epsilon
    assert together.epsilon < accounting.epsilon_of_rho(accounting.total_rho(lines), 1e-6)
    assert together.epsilon < alone + accounting.total_epsilon(lines[:1]) + 1e-3


def test_kinds_of_noise_are_read_off_the_curve_that_they_have():
    names = {
        name: accounting.trade_off(lines).name
        for name, lines in {
            "gaussian": [normal(0.1, 4), normal(0.2)],
            "laplace": [pure(0.5)],
            "budget": [pure(0.5, noise="bits")],
            "losses": [pure(0.2), pure(0.3, noise="bits")],
            "zcdp": [selection(0.01), pure(0.1)],
            "unlimited": [pure(math.inf, noise="none")],
        }.items()
    }
    assert names.pop("unlimited") == "budget"
    assert names == {name: name for name in names}


@pytest.mark.parametrize(
    "lines",
    [[pure(0.0), pure(0.0)], [pure(0.0), normal(0.0)], [pure(0.0, noise="bits"), pure(0.0)]],
    ids=str,
)
def test_releases_that_cost_nothing_tell_nothing(lines):
    assert float(accounting.trade_off(lines).right()) == pytest.approx(0.5, abs=1e-9)


def test_what_holds_for_everybody_has_the_largest_epsilon_and_the_largest_delta_of_all_servers():
    """Neither guarantee holds at the other server, nor does what was asked there."""
    lines = [replace(pure(0.9), budget=Budget(2.0)), normal(0.1, server=1)]
    few, many = accounting.guarantees(lines)
    assert few.epsilon > many.epsilon and few.delta < many.delta
    assert accounting.least_guarantee(lines) == Budget(0.9, 1e-6)
    assert accounting.requested(lines) == Budget(2.0, 1e-6)


def test_a_group_costs_k_times_mu_and_epsilon_and_k_squared_times_rho():
    lines = [normal(0.1, 4), pure(0.2), selection(0.01)]
    mu, epsilon, rho = (accounting.for_group(lines, 5)[k] for k in range(3))
    assert (mu.mu, epsilon.epsilon, rho.rho) == pytest.approx((0.5, 1.0, 0.25))
    assert accounting.for_group(lines, 1) == tuple(lines)
    assert mu.count == 4 and mu.sensitivity == lines[0].sensitivity


def test_a_group_of_a_sum_with_gaussian_noise_is_moved_exactly_k_times_as_far():
    """k values each moved from one bound to the other move their sum by k sensitivities."""
    own, k = [normal(0.3)], 7
    curve = accounting.trade_off(accounting.for_group(own, k))
    moved = k * own[0].mu
    assert float(curve.right()) == pytest.approx(float(ndtr(moved / 2)), rel=1e-12)


@pytest.mark.parametrize(
    "line",
    [normal(accounting.exact_mu(1e12, 1e-6)), pure(1e12), pure(1e12, noise="bits")],
    ids=["gaussian", "laplace", "bits"],
)
def test_a_group_whose_limit_no_budget_can_state_has_none(line):
    group = accounting.for_group([line], 3)
    assert accounting.guarantee(group, 0).epsilon == math.inf
    assert float(accounting.trade_off(group).right()) == 1


@pytest.mark.parametrize(
    "line",
    [normal(0.2, 3), pure(0.3), pure(0.3, noise="bits"), selection(0.02)],
    ids=lambda s: s.noise or "rho",
)
def test_a_larger_group_is_never_protected_better(line):
    """Nor by an attacker who goes from neighbour to neighbour: f(1 − f(…)), k times."""
    alarms = np.array([0.01, 0.05, 0.3])
    caught = [
        accounting.trade_off(accounting.for_group([line], k)).detection(alarms)
        for k in (1, 2, 3, 5, 30)
    ]
    assert (np.diff(caught, axis=0) >= -1e-12).all()
    one = accounting.trade_off([line])
    stepwise = one.detection(np.minimum(one.detection(alarms), 1 - 1e-12))
    assert (caught[1] <= stepwise + 0.12).all()  # of the same size, by another route
    epsilons = [
        accounting.guarantee(accounting.for_group([line], k), 0).epsilon for k in (1, 2, 3, 5, 30)
    ]
    assert (np.diff(epsilons) > 0).all()


def test_a_laplace_group_is_what_going_from_neighbour_to_neighbour_allows():
    """f(1 − f(…)) of Laplace noise is that of a move k times as far, to rounding."""
    alarms, one = np.linspace(0.01, 0.9, 30), accounting.trade_off([pure(0.4)])
    stepwise = one.detection(one.detection(one.detection(alarms)))
    group = accounting.trade_off(accounting.for_group([pure(0.4)], 3)).detection(alarms)
    assert np.allclose(stepwise, group, rtol=1e-12)


@pytest.mark.parametrize("records", [0, -3, 1.5])
def test_a_person_without_a_record_is_refused_by_name(records):
    with pytest.raises(InputError) as caught:
        accounting.for_group([normal(0.1)], records)
    assert caught.value.field == "group"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda lines: accounting.exact_epsilon(max(line.mu for line in lines), 1e-6),
        lambda lines: accounting.exact_epsilon(sum(line.mu for line in lines) / 2, 1e-6),
        lambda lines: round(accounting.exact_epsilon(accounting.total_mu(lines), 1e-6), 2) - 0.005,
    ],
    ids=["only the largest counts", "half the sum", "rounded down"],
)
def test_an_accountant_that_reports_too_little_is_caught_by_the_exact_profile(wrong):
    """What the true total is worth in fifty digits: δ at the reported ε is more than was asked."""
    lines = [normal(0.3), normal(0.4)]
    with mpmath.workdps(50):
        mu = mpmath.sqrt(mpmath.mpf(0.3) ** 2 + mpmath.mpf(0.4) ** 2)

        def delta(epsilon):
            epsilon = mpmath.mpf(epsilon)
            return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(
                -mu / 2 - epsilon / mu
            )

        assert delta(accounting.guarantee(lines, 0).epsilon) <= 1e-6 < delta(wrong(lines))
