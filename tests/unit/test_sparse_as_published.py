"""Printed sparse inference: rows that are worst for it, what it gives, and that it runs."""

import dataclasses
import math

import numpy as np
import pytest

from engine.mechanisms import mechanisms
from engine.mechanisms.families.sparse.as_published import (
    PublishedConstants,
    bias_of_interval,
    bootstrap,
    guarantees,
    interval,
    pooled_coefficients,
    precision_column,
    private_max,
    restricted_eigenvalue,
    two_stages,
)
from engine.mechanisms.families.sparse.averages import pooled, sample_moments
from engine.numerics.correlated import covariance
from engine.privacy import accounting
from tests.sentences import of_topic

wording = of_topic("sparse")

C = PublishedConstants(machines=4, rows=50, size=12, sparsity=3, sd=0.5, epsilon=1.0, delta=1e-6)


def sparse_unit(rng, s=C.sparsity):
    vector = np.zeros(C.size)
    vector[rng.choice(C.size, s, replace=False)] = rng.standard_normal(s)
    return vector / np.linalg.norm(vector)


def any_row(rng):
    """A row of held features, at the ends of their range as often as not."""
    inner = rng.uniform(-1, 1, C.size)
    return C.feature * np.where(rng.random(C.size) < 0.5, np.sign(inner), inner)


def worst_row():
    vector = np.zeros(C.size)
    vector[: C.sparsity] = 1 / math.sqrt(C.sparsity)
    return C.feature * np.sign(vector), vector


def test_no_row_moves_squared_residuals_by_more_than_stated_and_one_attains_it():
    rng = np.random.default_rng(1)

    def square(x, y, vector):
        return (y - C.radius * vector @ x) ** 2 / C.pooled

    moves = []
    for _ in range(3000):
        vector = sparse_unit(rng)
        pair = [square(any_row(rng), rng.uniform(-1, 1) * C.response, vector) for _ in range(2)]
        moves.append(abs(pair[0] - pair[1]))
    assert max(moves) <= C.variance_sensitivity <= C.variance_bound / 2
    x, vector = worst_row()
    assert square(-x, C.response, vector) - square(0 * x, 0, vector) == pytest.approx(
        C.variance_sensitivity
    )


def test_no_row_moves_a_restricted_eigenvalue_by_more_than_stated_and_one_attains_it():
    rng = np.random.default_rng(2)
    moves = [
        abs((any_row(rng) @ v) ** 2 - (any_row(rng) @ v) ** 2) / C.pooled
        for v in (sparse_unit(rng) for _ in range(3000))
    ]
    x, vector = worst_row()
    assert max(moves) <= C.eigenvalue_sensitivity
    assert (x @ vector) ** 2 / C.pooled == pytest.approx(C.eigenvalue_sensitivity)
    assert C.eigenvalue_bound == pytest.approx(2 * C.machines * C.eigenvalue_sensitivity)


def test_no_row_moves_an_entry_of_a_bootstrap_draw_by_more_than_stated_and_one_attains_it():
    rng = np.random.default_rng(3)
    a = C.largest_multiplier
    moves = [
        abs((any_row(rng) - any_row(rng)) @ (C.column_radius * sparse_unit(rng)))
        * rng.uniform(0, a)
        / math.sqrt(C.pooled)
        for _ in range(3000)
    ]
    x, vector = worst_row()
    assert max(moves) <= C.draw_sensitivity(C.pooled)
    attained = 2 * a * C.column_radius * vector @ x / math.sqrt(C.pooled)
    assert attained == pytest.approx(C.draw_sensitivity(C.pooled))


def test_multipliers_of_a_row_exceed_their_bound_with_half_of_delta():
    from scipy.stats import norm

    assert 2 * C.draws * norm.sf(C.largest_multiplier) == pytest.approx(C.delta / 2)


def test_odds_of_a_private_maximum_stay_below_what_its_choice_and_value_cost():
    """Neighbours whose entries all move by λ; the choice may cost 2λ/b and the value λ/b."""
    rng, sensitivity, epsilon, delta = np.random.default_rng(4), 1.0, 4.0, 0.01
    scale = 2 * sensitivity * math.sqrt(3 * math.log(1 / delta)) / epsilon
    values = np.array([np.full(2, 10 * scale), np.full(2, 10 * scale + sensitivity)])[:, None]
    released = private_max(
        np.broadcast_to(values, (2, 400_000, 2)), sensitivity, epsilon, delta, rng
    )
    bins = np.linspace(8 * scale, 12 * scale, 9)
    counts = np.array([np.histogram(each, bins)[0] for each in released])
    losses = np.abs(np.log(counts[0] / counts[1]))
    assert 0.8 * sensitivity / scale < losses.max() < 3 * sensitivity / scale < epsilon
    spread = private_max(np.zeros((200_000, 1)), sensitivity, epsilon, delta, rng)
    assert spread.mean() == pytest.approx(scale, rel=0.02)  # |Lap(b)| has mean b


def test_algorithm_5_without_noise_lies_within_the_eigenvalues_and_with_it_is_mostly_noise():
    rng = np.random.default_rng(5)
    root = rng.standard_normal((C.size, 4 * C.size))
    second = root @ root.T / (4 * C.size)
    low, high = np.linalg.eigvalsh(second)[[0, -1]]
    exact = dataclasses.replace(C, epsilon=math.inf)
    ends = [
        restricted_eigenvalue(second, exact, 200, is_largest, rng) for is_largest in (False, True)
    ]
    assert low <= ends[0] < ends[1] <= high
    noisy = [restricted_eigenvalue(second, C, 200, True, rng) for _ in range(200)]
    assert np.std(noisy) > 2 * C.eigenvalue_bound  # Laplace noise of that scale


def test_a_bootstrap_with_noise_for_its_bound_is_wider_and_without_it_that_of_a_normal_maximum():
    rng, c = np.random.default_rng(6), dataclasses.replace(C, draws=4000)
    exact, noisy = (
        bootstrap(np.eye(C.size), c, bound, rng) for bound in (None, C.pooled_draw_bound)
    )
    maxima = np.abs(rng.standard_normal((20_000, C.size))).max(axis=1)
    assert np.quantile(exact, 0.95) == pytest.approx(np.quantile(maxima, 0.95), rel=0.03)
    assert np.quantile(noisy, 0.95) > 10 * np.quantile(exact, 0.95)


def test_bands_spend_more_than_stated_intervals_have_no_guarantee_and_single_parts_spend_less():
    by = {each.algorithm: each for each in guarantees(C)}
    assert sorted(by) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert all(by[k].epsilon < C.epsilon for k in (3, 4, 5, 8))
    assert all(math.isinf(by[k].epsilon) for k in (6, 9))
    assert all(C.epsilon < by[k].epsilon < math.inf for k in (7, 10))
    assert by[5].epsilon == pytest.approx(0.75 * C.epsilon / C.machines) and by[5].delta == 0


def test_what_a_band_gives_is_the_sum_of_its_parts():
    """Columns, corrections, variance and draws, each as its own noise proves it."""
    normal = accounting.printed_mu(C.epsilon, C.delta, "isotropic") ** 2 / 2
    rounds = C.rounds
    descent = 5 / 24 * C.epsilon**2 / rounds / math.log(rounds / C.delta)
    one_draw = 5 / 24 * C.epsilon**2 / math.log(1 / C.delta)
    ratio = C.draw_sensitivity(C.pooled) / C.pooled_draw_bound
    rho = (
        descent * (1 + C.size)
        + normal * C.size
        + C.draws * one_draw * ratio**2
        + normal * (C.variance_sensitivity / C.variance_bound) ** 2
    )
    band = next(each for each in guarantees(C) if each.algorithm == 7)
    assert band.epsilon == pytest.approx(accounting.epsilon_of_rho(rho, C.delta / 2))


def test_every_algorithm_says_that_it_is_not_released_and_what_it_gives():
    for each in guarantees(C):
        wording.found("algorithm printed released", each.sentence, each.algorithm)
        assert "no finite ε" in each.sentence and each.sentence.endswith(".")
    assert not {"bootstrap", "as_published"} & {cls.key for cls in mechanisms.all()}


def test_no_row_moves_a_step_of_the_loops_by_more_than_their_bounds():
    rng = np.random.default_rng(7)
    moves: dict[str, list[float]] = {"shared": [], "column": [], "difference": []}
    for _ in range(3000):
        vector, pair = sparse_unit(rng), [any_row(rng) for _ in range(2)]
        responses = rng.uniform(-1, 1, 2) * C.response
        column, shared, local = (
            [row * product for row, product in zip(pair, products, strict=True)]
            for products in (
                [C.column_radius * vector @ x for x in pair],
                [C.radius * vector @ x - y for x, y in zip(pair, responses, strict=True)],
                [
                    C.radius / 2 * vector @ x
                    - np.clip(y - C.radius / 2 * sparse_unit(rng) @ x, -C.response, C.response)
                    for x, y in zip(pair, responses, strict=True)
                ],
            )
        )
        for name, steps in (("column", column), ("shared", shared), ("difference", local)):
            moves[name].append(np.abs(steps[0] - steps[1]).max())
    assert max(moves["column"]) <= C.column_bound
    assert max(moves["shared"]) <= C.gradient_bound
    assert max(moves["difference"]) <= C.difference_bound
    x, vector = worst_row()
    assert 2 * (x * (C.column_radius * vector @ x)).max() == pytest.approx(C.column_bound)


@pytest.fixture(scope="module")
def machines():
    """Coefficients, and moments of a machine and of all, for 60 data sets without differences."""
    rng = np.random.default_rng(8)
    sigma, beta = covariance("ar1", C.size), np.zeros(C.size)
    beta[: C.sparsity] = 0.25
    machine, others = (sample_moments(sigma, beta, C.sd, n, 60, rng) for n in (20_000, 60_000))
    return sigma, beta, machine, pooled([machine, others])


def test_without_noise_the_loops_find_what_they_are_for(machines):
    sigma, beta, machine, together = machines
    # As many rows as make enough rounds: after few of them the loops still lean towards 0.
    exact = dataclasses.replace(C, epsilon=math.inf, rows=10**12)
    rng = np.random.default_rng(9)
    tolerance = 5 / math.sqrt(machine.n)
    column = precision_column(together, 0, exact, rng)
    assert np.abs(column - np.linalg.inv(sigma)[0]).max() < 2 * tolerance
    assert np.abs(pooled_coefficients(together, exact, 1.0, rng) - beta).max() < tolerance
    assert np.abs(two_stages(together, machine, exact, rng) - beta).max() < tolerance


def test_printed_intervals_hold_without_noise_and_with_it_are_as_wide_as_their_formula(machines):
    sigma, beta, machine, together = machines
    rng = np.random.default_rng(10)
    column = np.broadcast_to(np.linalg.inv(sigma)[0], (60, C.size))
    spread, variances = np.full(60, column[0, 0]), np.full(60, C.sd**2)
    exact = dataclasses.replace(C, epsilon=math.inf)
    truth = np.broadcast_to(beta, (60, C.size))
    centres, half = interval(machine, truth, column, spread, variances, 0, exact, rng)
    assert half == pytest.approx(1.96 * C.sd * math.sqrt(column[0, 0] / machine.n), rel=1e-3)
    assert (np.abs(centres - beta[0]) <= half).mean() > 0.95 - 5 * math.sqrt(0.95 * 0.05 / 60)
    _, noisy = interval(machine, truth, column, spread, variances, 0, C, rng)
    noise = 8 * C.correction_bound**2 * math.log(1 / C.delta) / (machine.n * C.epsilon**2)
    assert noisy == pytest.approx(
        1.96 * C.sd * math.sqrt((column[0, 0] + noise) / machine.n), rel=1e-3
    )


def test_the_sign_of_equation_4_1_doubles_a_bias_that_the_right_one_takes_away(machines):
    sigma, beta, machine, _ = machines
    rng, exact = np.random.default_rng(11), dataclasses.replace(C, epsilon=math.inf)
    column = np.broadcast_to(np.linalg.inv(sigma)[0], (60, C.size))
    biased = np.broadcast_to(beta + 0.1 * np.eye(C.size)[0], (60, C.size))
    right, wrong = (
        interval(machine, biased, column, np.ones(60), np.ones(60), 0, exact, rng, sign=sign)[
            0
        ].mean()
        - beta[0]
        for sign in (1, -1)
    )
    assert abs(right) < 5 * 2 * C.sd / math.sqrt(60 * machine.n)
    assert wrong == pytest.approx(0.2, abs=0.01)


def test_the_bias_term_falls_with_the_square_of_rows_and_budget():
    large = bias_of_interval(C, 2.0, 0.5, 10_000)
    twice = bias_of_interval(dataclasses.replace(C, epsilon=2.0), 2.0, 0.5, 10_000)
    assert twice == pytest.approx(large / 4)
    assert bias_of_interval(C, 2.0, 0.5, 100_000) == pytest.approx(
        large / 100 * (math.log(100_000) / math.log(10_000)) ** 3
    )
