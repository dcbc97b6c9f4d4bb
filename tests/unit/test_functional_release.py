"""Releases of whole functions: noise in closed form, choices, sites, bad readings, and ledgers."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.resampling import on_grid
from engine.core.tasks import INTERCEPT
from engine.core.types import (
    NON_PRIVATE,
    Budget,
    Covariate,
    CurveData,
    Design,
    Public,
    PublicFacts,
    Sizes,
)
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import THEOREM_8_EXCESS, Iclp
from engine.mechanisms.summaries.covariance import second_moments
from engine.mechanisms.summaries.selection import choose, scores_of
from engine.noise.laplace import by_norm
from engine.numerics.eigensystems import Eigenbasis, Kernel, eigensystem, midpoints
from engine.privacy import accounting, transcript
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.density_points import DensityPoints
from tests.sentences import of_topic

wording = of_topic("density")

BUDGET, Z = (Budget(1.0, 1e-3),), 5
GRID = midpoints(40)
T = GRID.points[:, 0]
FACTS = PublicFacts(value_low=-4, value_high=6, norm_bound=2.0, design=Design.common(GRID.times))
MIDDLE = 1.0
KINDS = [
    Iclp(),
    Iclp(constants="optimal"),
    Iclp(constants="published"),
    Iclp(penalty="absolute"),
    Iclp(kernel="gaussian", length=0.2),
    Frl(),
    Frl(noise="norm"),
    Bernstein(degree=8),
    Bernstein(degree=6, iterations=3),
    GaussianProcess(),
    GaussianProcess(constants="published"),
    GaussianProcess(constants="optimal"),
]
every_kind = pytest.mark.parametrize(
    "mechanism", KINDS, ids=lambda one: f"{one.key} {one.changed()}"
)
of_covariances = pytest.mark.parametrize(
    "mechanism",
    [one for one in KINDS if one.values().get("penalty") != "absolute"],
    ids=lambda one: f"{one.key} {one.changed()}",
)


def data_of(values, facts=FACTS, server=None, covariates=None):
    """Curves (repeats, n, K) on the common times, or n curves (n, K)."""
    values = values.reshape(-1, *values.shape[-2:])
    repeats, n, k = values.shape
    return CurveData(
        np.broadcast_to(np.tile(np.array(facts.common_times), n), (repeats, n * k)),
        values.reshape(repeats, -1),
        np.full(n, k),
        np.zeros(n, int) if server is None else np.asarray(server),
        facts,
        covariates=covariates,
    )


@cache
def curves(n=60, repeats=1, seed=0):
    rng = np.random.default_rng(seed)
    return (
        np.sin(6 * T)
        + MIDDLE
        + 0.4 * rng.standard_normal((repeats, n, 1)) * np.cos(3 * T)
        + 0.2 * rng.standard_normal((repeats, n, len(T)))
    )


def with_task(mechanism, **chosen):
    return type(mechanism)(**{**mechanism.values(), **chosen})


def release(mechanism, data, budgets=BUDGET, draws=1, seed=3):
    return mechanism.release_many(data, [budgets], draws, generator(seed, 1, 0))


# -- curves on the grid --------------------------------------------------------------------------


def test_curves_between_their_readings_are_the_broken_lines_of_numpy():
    rng = np.random.default_rng(1)
    counts, grid = rng.integers(1, 9, 50), np.linspace(0, 1, 23)
    times = rng.choice([0.0, 1.0, *rng.random(60)], (2, counts.sum()))
    times += 1e-7 * rng.random(times.shape) * (times < 0.9)  # no two the same but at 1
    times, values = times.clip(0, 1), rng.normal(size=times.shape)
    result = on_grid(times, values, counts, grid)
    ends = np.cumsum(counts)
    for r in range(2):
        for i, (start, stop) in enumerate(zip(ends - counts, ends, strict=True)):
            t, first = np.unique(times[r, start:stop], return_index=True)
            expected = np.interp(grid, t, values[r, start:stop][first])
            inside = grid < 1  # where two readings share the time 1, either will do
            np.testing.assert_allclose(result[r, i][inside], expected[inside], atol=1e-7)


def test_readings_on_the_grid_stay_what_they_are():
    values = curves()
    data = data_of(values)
    assert (on_grid(data.times, data.values, data.counts, T) == values).all()


def test_missing_readings_are_passed_over_and_an_empty_curve_is_zero():
    grid, counts = np.array([0.0, 0.5, 1.0]), np.array([3, 2, 0, 1])
    times = np.array([[0.0, 0.5, 1.0, 0.2, np.nan, 0.7]])
    values = np.array([[1.0, np.nan, 3.0, np.inf, 5.0, 4.0]])
    assert on_grid(times, values, counts, grid).tolist() == [
        [[1, 2, 3], [0, 0, 0], [0, 0, 0], [4, 4, 4]]
    ]


def test_a_missing_reading_changes_no_other_curve():
    values = curves().copy()
    values[0, 7, 5] = np.nan
    found = data_of(values).on_grid(GRID.times) + MIDDLE
    others = np.arange(60) != 7
    np.testing.assert_allclose(found[0, others], curves()[0, others], atol=1e-14)
    assert found[0, 7, 5] == pytest.approx((values[0, 7, 4] + values[0, 7, 6]) / 2)


# -- the mean ------------------------------------------------------------------------------------


@every_kind
def test_without_a_limit_the_release_is_the_smoothed_mean(mechanism):
    estimate = release(mechanism, data_of(curves()), (NON_PRIVATE,))
    assert (estimate.coefficients[:, :, 0] == estimate.unprotected).all()
    plan = mechanism.plan(Public(data_of(curves()).sizes, FACTS), (NON_PRIVATE,))
    assert plan.energy(0) == 0
    assert accounting.guarantees(estimate.spends[0])[0].epsilon == np.inf


def test_the_quadratic_penalty_shrinks_coefficients_of_the_mean_about_the_middle():
    mechanism = Iclp(eta=1.5, penalty_weight=0.02)
    estimate = release(mechanism, data_of(curves()))
    basis = Eigenbasis.whole(Kernel(), GRID)
    powers = basis.eigenvalues**1.5
    expected = powers / (powers + 0.02) * basis.analyse(curves()[0].mean(axis=0) - MIDDLE)
    np.testing.assert_allclose(estimate.unprotected[0, 0], expected, atol=1e-12)
    assert estimate.offset(np.array([0.3])) == MIDDLE


def test_the_absolute_penalty_minimises_what_it_says():
    """Σ (c − θ)² + ψ Σ |θ_j|/λ_j^{η/2}: no step of one coordinate is better."""
    psi, eta = 0.02, 2.0
    data = data_of(curves())
    mechanism = Iclp(penalty="absolute", eta=eta, penalty_weight=psi)
    estimate = release(mechanism, data).unprotected[0, 0] / 2  # in units of τ
    basis = Eigenbasis.whole(Kernel(), GRID)
    c = basis.analyse(curves()[0].mean(axis=0) - MIDDLE) / 2
    weights = psi / basis.eigenvalues ** (eta / 2)
    for step in (-1e-5, 1e-5):
        gain = ((c - estimate) ** 2 + weights * np.abs(estimate)) - (
            (c - estimate - step) ** 2 + weights * np.abs(estimate + step)
        )
        assert (gain < 1e-14).all()
    assert 0 < (estimate != 0).sum() < 40


def test_curves_beyond_the_bound_are_drawn_towards_the_middle():
    """In root mean square; a curve within it stays as it is."""
    far = MIDDLE + 5 * np.sign(np.sin(9 * T)) * (T < 0.5)
    near = MIDDLE + 1.9 * np.ones_like(T)
    for curve, size in ((far, 2.0), (near, 1.9)):
        estimate = release(Frl(n_functions=40), data_of(np.tile(curve, (30, 1))), (NON_PRIVATE,))
        values = estimate.on_grid(estimate.unprotected, T)[0, 0] - MIDDLE
        assert np.sqrt((values**2).mean()) == pytest.approx(size, rel=1e-9)
        ratio = size / np.sqrt(((curve - MIDDLE) ** 2).mean())
        np.testing.assert_allclose(values, ratio * (curve - MIDDLE), atol=1e-9)


def test_lattice_values_are_held_to_root_mean_square_one_and_not_those_between():
    spike = MIDDLE + 5.0 * (np.abs(T - 0.51) < 0.02)  # between the places of a lattice of 5
    mechanism = Bernstein(degree=4)
    estimate = release(mechanism, data_of(np.tile(spike, (30, 1))), (NON_PRIVATE,))
    assert np.sqrt((estimate.unprotected**2).mean()) <= 2.0 * (1 + 1e-9)


@every_kind
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_curves_that_are_no_numbers_count_and_leave_the_rest_as_it_is(mechanism, bad):
    values = curves().copy()
    values[0, 3:6] = bad
    known = np.where(np.isnan(values), MIDDLE, np.clip(values, -4, 6))
    one, other = (release(mechanism, data_of(v)).coefficients for v in (values, known))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_curve_without_a_reading_counts_as_the_middle():
    data, values = data_of(curves()), curves().copy()
    counts = data.counts.copy()
    counts[-1] = 0
    values[0, -1] = MIDDLE
    short = replace(data, times=data.times[:, :-40], values=data.values[:, :-40], counts=counts)
    np.testing.assert_allclose(
        release(Iclp(), short).coefficients,
        release(Iclp(), data_of(values)).coefficients,
        atol=1e-12,
    )


@every_kind
def test_noise_of_means_has_the_energy_of_the_closed_form(mechanism):
    """4000 draws, five standard errors."""
    data = data_of(curves())
    privacy = integrated_squared_errors(release(mechanism, data, draws=4000), None).privacy.ravel()
    expected = mechanism.expected_error(data.sizes, BUDGET, FACTS)
    assert abs(privacy.mean() - expected) < Z * privacy.std() / np.sqrt(4000)
    assert expected > 0


@pytest.mark.parametrize("m", [1, 4, 10])
def test_noise_by_norm_has_the_energy_m_times_m_plus_one(m):
    energies = (by_norm((40_000, m), np.random.default_rng(m)) ** 2).sum(axis=1)
    assert abs(energies.mean() - m * (m + 1)) < Z * energies.std() / 200
    added = Frl(n_functions=m, noise="norm").expected_error(Sizes((50,), 50, 1), BUDGET, FACTS)
    assert added == pytest.approx(2.0**2 * m * (m + 1) * (2 / 50) ** 2, rel=1e-8)
    less = Frl(n_functions=m).expected_error(Sizes((50,), 50, 1), BUDGET, FACTS)
    assert added / less == pytest.approx((m + 1) / (2 * m), rel=1e-8)


def test_noise_by_norm_has_no_preferred_direction():
    draws = by_norm((40_000, 3), np.random.default_rng(5))
    unit = draws / np.linalg.norm(draws, axis=1, keepdims=True)
    np.testing.assert_allclose(unit.T @ unit / 40_000, np.eye(3) / 3, atol=Z * 0.3 / 200)
    np.testing.assert_allclose(unit.mean(axis=0), 0, atol=Z * 0.58 / 200)


# -- what is printed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [Frl(), Iclp(), Iclp(penalty="absolute")],
    ids=lambda one: f"{one.key} {one.changed()}",
)
def test_printed_constants_of_means_spend_far_less_than_was_asked(mechanism):
    published = with_task(mechanism, constants="published")
    sizes = Sizes((1000,), 1000, 1)
    spends = published.plan(Public(sizes, FACTS), (Budget(1.0),)).spends
    assert accounting.keeps_promise(spends)
    assert accounting.guarantees(spends)[0].epsilon < 0.35
    assert published.expected_error(sizes, BUDGET, FACTS) > 9 * mechanism.expected_error(
        sizes, BUDGET, FACTS
    )


def test_the_printed_noise_of_a_gaussian_process_has_a_smaller_mu_than_is_allowed():
    spend = (
        GaussianProcess(constants="published")
        .plan(Public(Sizes((50,), 50, 1), FACTS), (Budget(1.0, 0.01),))
        .spends[0]
    )
    assert spend.mu == pytest.approx(1 / np.sqrt(2 * np.log(200)), rel=1e-8)
    assert spend.mu < accounting.exact_mu(1.0, 0.01)
    assert spend.epsilon is None


@pytest.mark.parametrize("constants", ["published", "tight", "optimal"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_two_steps_with_gaussian_noise_are_together_what_one_would_be(constants, share):
    """Shares of μ²: a private mean, then the covariance about it."""
    one, two = (
        GaussianProcess(constants=constants, task="covariance", share=share, centre=centre)
        .plan(Public(Sizes((50,), 50, 1), FACTS), (Budget(1.0, 0.01),))
        .spends
        for centre in ("nothing", "private_mean")
    )
    assert [line.mu**2 for line in two] == pytest.approx(
        [share * one[0].mu ** 2, (1 - share) * one[0].mu ** 2], rel=1e-9
    )
    for line in two:
        assert line.noise_scale[0] == pytest.approx(line.sensitivity[0] / line.mu, rel=1e-9)
    assert accounting.keeps_promise(two)


def test_the_printed_noise_of_a_gaussian_process_breaks_its_promise_at_a_large_epsilon():
    """It is proved for ε ≤ 1; the ledger says what the noise is worth."""
    spends = (
        GaussianProcess(constants="published")
        .plan(Public(Sizes((50,), 50, 1), FACTS), (Budget(30.0, 0.3),))
        .spends
    )
    assert not accounting.keeps_promise(spends)


@pytest.mark.parametrize(("excess", "holds"), [(1.0, True), (THEOREM_8_EXCESS, False)])
def test_the_scale_of_theorem_8_spends_root_two_epsilon_and_ours_epsilon(excess, holds):
    """Log-ratios of 20 000 releases from the worst neighbours; the largest is the closed form."""
    n, epsilon = 60, 0.7
    plan = Iclp(eta=1.5).plan(Public(Sizes((n,), n, 1), FACTS), (Budget(epsilon),))
    scales, shrink = plan.noise[0][0][0].scales / excess, plan.smoothings[0].shrink
    worst = shrink / scales
    move = 2 / n * shrink * worst / np.linalg.norm(worst)
    assert np.abs(move / scales).sum() == pytest.approx(excess * epsilon, rel=1e-8)
    sent = scales * np.random.default_rng(8).laplace(size=(20_000, len(scales)))
    sent[0] = -10 * scales
    ratios = (laplace_law.logpdf(sent, scale=scales) - laplace_law.logpdf(sent, move, scales)).sum(
        axis=1
    )
    assert ratios.max() == pytest.approx(excess * epsilon, rel=1e-8)
    assert (ratios.max() <= epsilon * (1 + 1e-9)) == holds


def test_a_printed_constant_is_not_offered_where_there_is_none():
    with pytest.raises(InputError, match="Nothing is published"):
        Frl(noise="norm", constants="published")


def test_combinations_that_have_no_meaning_are_refused():
    for chosen, words in (
        ({"penalty": "absolute", "task": "covariance"}, "mean of curves"),
        ({"penalty": "absolute", "eta": 0.9}, "at least 1"),
        (
            {"selection_rule": "paid", "task": "covariance", "centre": "sample_mean"},
            "no choice of the smoothing is proved",
        ),
        (
            {"selection_rule": "paid", "task": "risk_minimisation"},
            "means, densities and covariances only",
        ),
    ):
        with pytest.raises(InputError, match=words):
            Iclp(**chosen)
    with pytest.raises(InputError, match="no covariates"):
        release(Iclp(task="varying_coefficients"), data_of(curves()))


# -- smoothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "epsilon", "weight"), [(100, 1.0, 1 / 100), (100, 4.0, 1 / 100), (100, 0.5, 4 / 100)]
)
def test_the_usual_weight_is_one_over_n_and_at_least_one_over_n_epsilon_squared(n, epsilon, weight):
    assert Iclp().weight(n, n * epsilon) == pytest.approx(weight)
    assert Iclp(rule="one_over_n").weight(n, n * epsilon) == 1 / n
    assert Iclp(penalty="absolute").weight(n, n * epsilon) == 1 / n
    assert Iclp(penalty_weight=0.3).weight(n, n * epsilon) == 0.3


def test_the_usual_powers_follow_the_decay_of_the_kernel():
    assert Iclp().power == 1.5 and Iclp(penalty="absolute").power == 3.0
    assert Iclp(kernel="exponential").power == 2.0
    assert Iclp(smoothness=2.5).power == pytest.approx(1 + 2 / 6)
    assert Iclp(kernel="gaussian").power == 1.5 and Iclp(eta=0.8).power == 0.8


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 1), (8, 2), (999, 9), (1000, 10), (1331, 11)])
def test_the_usual_number_of_functions_is_a_whole_cube_root(n, m):
    assert Frl().default(n) == m


@pytest.mark.parametrize(
    ("chosen", "n", "first", "last"),
    [
        ({}, 50, 1, 6),
        ({}, 1000, 1, 13),
        ({}, 5000, 2, 20),
        ({}, 10**6, 7, 103),
        ({"smoothness": 2.5}, 10**6, 3, 103),
        ({"kernel": "gaussian"}, 1000, 1, 13),
        ({"n_functions": 2}, 10**6, 1, 5),
    ],
)
def test_numbers_of_functions_to_choose_from_are_the_admitted_ones_and_three_more(
    chosen, n, first, last
):
    """From n^(1/(β + 2)), β = 4 or 6, to n^(1/3); every choice has noise of its own."""
    assert Frl(**chosen, selection_rule="paid").counts(n) == tuple(range(first, last + 1))


RULES = [Iclp, Frl]


@pytest.mark.parametrize("cls", RULES)
def test_a_paid_choice_is_a_line_of_the_ledger_and_all_lines_add_up_to_the_budget(cls):
    spends = release(cls(selection_rule="paid", selection_share=0.3), data_of(curves())).spends[0]
    assert [spend.epsilon for spend in spends] == pytest.approx([0.3, 0.7])
    wording.found("choice smoothing", spends[0].step.key, alone=True)
    assert accounting.keeps_promise(spends)
    assert accounting.guarantees(spends)[0].epsilon == 1.0


@pytest.mark.parametrize("cls", RULES)
def test_a_choice_by_cross_validation_has_no_guarantee_and_its_ledger_says_so(cls):
    spends = release(cls(selection_rule="cross_validated"), data_of(curves())).spends[0]
    assert not accounting.keeps_promise(spends)
    assert accounting.guarantees(spends)[0].epsilon == np.inf


@pytest.mark.parametrize("cls", RULES)
def test_with_a_large_budget_a_paid_choice_is_the_best_score_and_with_a_tiny_share_any(cls):
    """The scale of the noise on scores is 2 · (8/30) over its part of ε, for halves of 60 curves."""
    data = data_of(curves())
    for epsilon, share in ((1e6, 0.5), (1.0, 0.01)):
        mechanism = cls(selection_rule="paid", selection_share=share)
        plan = mechanism.plan(Public(data.sizes, FACTS), (Budget(epsilon),))
        summary = mechanism.summary(data.sizes, FACTS)
        records = [summary.records(data)]
        best = scores_of(summary, plan, records[0], 2, 1.0)[0, 0, 0].argmin()
        chosen = choose(mechanism, summary, plan, records, 400, generator(1, 2, 0))
        found = {best} if share == 0.5 else set(range(len(plan.smoothings)))
        assert set(chosen.ravel()) == found


@pytest.mark.parametrize("rule", ["paid", "cross_validated"])
@pytest.mark.parametrize(
    "mechanism",
    [
        Iclp(task="covariance", grid_size=12),
        Frl(task="covariance", grid_size=12),
        Iclp(task="density"),
        Iclp(task="density", clean=False),
        Frl(task="density"),
    ],
    ids=lambda one: f"{one.key} {one.changed()}",
)
def test_covariances_and_densities_choose_too_and_a_paid_choice_is_within_the_budget(
    mechanism, rule
):
    """At a budget that hides nothing, what is released is near what is without protection."""
    mechanism = with_task(mechanism, selection_rule=rule)
    data = (
        data_of(curves(400))
        if mechanism.task == "covariance"
        else DensityPoints(n_curves=2000).draw(1, generator(2, 0, 0))
    )
    estimate = release(mechanism, data, (Budget(1e6),), draws=3)
    where = midpoints(30, 2 if mechanism.task == "covariance" else 1).points
    where = where if mechanism.task == "covariance" else where[:, 0]
    exact, released = (one.values(where) for one in (mechanism.without_protection(data), estimate))
    assert np.abs(released - exact).mean() < 0.3 * np.abs(exact).mean()
    assert accounting.keeps_promise(estimate.spends[0]) == (rule == "paid")
    assert (accounting.guarantees(estimate.spends[0])[0].epsilon <= 1e6) == (rule == "paid")


@pytest.mark.parametrize("cls", RULES)
def test_what_is_sent_after_a_choice_is_the_chosen_smoothing_with_its_own_noise(cls):
    mechanism, data = cls(selection_rule="cross_validated"), data_of(curves())
    plan = mechanism.plan(Public(data.sizes, FACTS), BUDGET)
    summary = mechanism.summary(data.sizes, FACTS)
    records = summary.records(data)
    best = choose(mechanism, summary, plan, [records], 1, generator(0, 0, 0))[0, 0]
    with transcript.recorded() as messages:
        estimate = release(mechanism, data)
    assert best > 0 and len(messages) == 1
    expected = plan.noise[best][0][0].scales
    assert not np.allclose(expected, plan.noise[0][0][0].scales)
    np.testing.assert_allclose(messages[0].noise, np.sqrt(2) * expected)
    np.testing.assert_allclose(
        estimate.unprotected[0, 0], 2.0 * plan.smoothings[best](records.mean)[0]
    )


def test_choosing_needs_one_site_and_some_curves():
    with pytest.raises(InputError, match="one site only"):
        release(Iclp(selection_rule="paid"), data_of(curves(), server=np.arange(60) // 30))
    with pytest.raises(InputError, match="at least 20 records"):
        release(Iclp(selection_rule="paid"), data_of(curves(12)))


@pytest.mark.parametrize("cls", RULES)
def test_cross_validation_is_never_much_better_than_the_formula(cls):
    """S-4: 25 rough coefficients; total errors of 10 data sets of 400 curves."""
    rng = np.random.default_rng(4)
    system = eigensystem(Kernel(), GRID)
    mean = rng.uniform(-1, 1, 25) @ system.functions[:25]
    smooth = eigensystem(Kernel("gaussian", length=0.2), GRID).paths
    noise = np.random.default_rng(6).standard_normal((10, 400, len(smooth))) @ smooth
    facts = replace(FACTS, value_low=-30, value_high=30, norm_bound=5.0)
    data = data_of(mean + noise, facts)

    def total(rule):
        estimate = release(cls(selection_rule=rule), data, draws=20)
        return ((estimate.values(T) - mean) ** 2).mean()

    formula, chosen = total("formula"), total("cross_validated")
    assert 0.6 * formula < chosen < 1.05 * formula


# -- sites ---------------------------------------------------------------------------------------


def test_weights_of_sites_add_up_to_one_and_follow_their_size_and_budget():
    facts, sizes = FACTS, Sizes((20, 40, 40), 100, 1)
    plan = Iclp().plan(Public(sizes, facts), (Budget(1.0), Budget(1.0), Budget(3.0)))
    assert plan.weights.sum() == pytest.approx(1)
    assert plan.weights[0, 0] < plan.weights[0, 1] < plan.weights[0, 2]


@every_kind
def test_equal_sites_without_noise_give_the_estimate_of_all_curves_together(mechanism):
    """But for thresholds, which every site applies to a mean of its own."""
    mechanism = with_task(
        mechanism, **({"penalty_weight": 0.01} if "penalty_weight" in mechanism.values() else {})
    )
    sites, one = (
        release(mechanism, data_of(curves(), server=server), (NON_PRIVATE,)).unprotected
        for server in (np.arange(60) // 20, None)
    )
    if mechanism.values().get("penalty") == "absolute":
        assert np.abs(sites - one).max() < 0.1
    else:
        np.testing.assert_allclose(sites, one, atol=1e-12)


def test_every_site_spends_its_own_budget_and_their_noise_averages():
    """Three equal sites: each has three times the noise of all, and the average a third of that."""
    budgets, sizes = (Budget(1.0), Budget(1.0), Budget(1.0)), Sizes((20,) * 3, 60, 1)
    fixed = Iclp(penalty_weight=0.01)
    spends = fixed.plan(Public(sizes, FACTS), budgets).spends
    assert [spend.server for spend in spends] == [0, 1, 2]
    assert [g.epsilon for g in accounting.guarantees(spends)] == [1.0] * 3
    assert fixed.expected_error(sizes, budgets, FACTS) == pytest.approx(
        3 * fixed.expected_error(Sizes((60,), 60, 1), budgets[:1], FACTS), rel=1e-9
    )


def test_a_site_without_records_is_refused():
    with pytest.raises(InputError, match="at least one record"):
        Iclp().plan(Public(Sizes((10, 0), 10, 1), FACTS), BUDGET)


# -- covariances ---------------------------------------------------------------------------------


def pairs_of_times(step=1):
    one, other = np.meshgrid(T[::step], T[::step], indexing="ij")
    return np.stack([one, other], axis=-1)


def moments(estimate):
    """A covariance without noise at all pairs of grid points."""
    return np.einsum("...r,str->...st", estimate.unprotected, estimate.basis(pairs_of_times()))[
        0, 0
    ]


@pytest.mark.parametrize("centre", ["nothing", "sample_mean"])
def test_without_smoothing_and_clipping_covariances_are_second_moments_of_curves(centre):
    facts = replace(FACTS, norm_bound=50.0)
    mechanism = Frl(task="covariance", centre=centre, n_functions=40, positive=False)
    estimate = moments(release(mechanism, data_of(curves(), facts), (NON_PRIVATE,)))
    shifted = curves()[0] - (MIDDLE if centre == "nothing" else curves()[0].mean(axis=0))
    np.testing.assert_allclose(estimate, shifted.T @ shifted / 60, atol=1e-10)


@of_covariances
@pytest.mark.parametrize("centre", ["nothing", "private_mean", "sample_mean"])
def test_noise_of_covariances_has_the_energy_of_the_closed_form(mechanism, centre):
    """600 draws, five standard errors; at a budget where a private mean is as good as the mean."""
    mechanism = with_task(
        mechanism,
        task="covariance",
        centre=centre,
        positive=False,
        **({"degree": 5} if mechanism.key == "bernstein" else {}),
    )
    facts, budgets = replace(FACTS, norm_bound=20.0), (Budget(50.0, 1e-3),)
    data = data_of(curves(400), facts)
    estimate = release(mechanism, data, budgets, 600)
    privacy = integrated_squared_errors(estimate, None).privacy.ravel()
    expected = mechanism.expected_error(data.sizes, budgets, facts)
    assert abs(privacy.mean() - expected) < Z * privacy.std() / np.sqrt(600) + 0.02 * expected


def test_curves_are_held_again_about_a_released_mean():
    rng = np.random.default_rng(3)
    own, about = rng.normal(size=(1, 30, 6)), rng.normal(size=(1, 2, 6)) * 3
    result = second_moments(own, about, 1.0)
    for d in range(2):
        off = own[0] - about[0, d]
        off /= np.maximum(1, np.linalg.norm(off, axis=1, keepdims=True))
        np.testing.assert_allclose(result[0, d], off.T @ off / 30, atol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 50])
def test_centred_covariances_move_by_up_to_four_times_n_minus_one_over_n_squared(n):
    """All others are a, and the curve is −a or a: exactly the bound; random neighbours stay below."""
    rng = np.random.default_rng(n)

    def covariance(x):
        centred = x - x.mean(axis=0)
        return centred.T @ centred / n

    bound, worst = 4 * (n - 1) / n**2, 0.0
    for k in range(300):
        x = rng.normal(size=(n, 4)) if k else np.tile(np.eye(4)[0], (n, 1))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y = x.copy()
        y[0] = -x[0] if k % 2 == 0 else rng.normal(size=4) / 4
        y[0] /= max(1, np.linalg.norm(y[0]))
        moved = np.linalg.norm(covariance(x) - covariance(y))
        assert moved <= bound * (1 + 1e-12)
        worst = max(worst, moved)
    assert worst == pytest.approx(bound, rel=1e-12)


def test_second_moments_about_nothing_move_by_up_to_root_two_over_n():
    x, y = np.eye(3)[0], np.eye(3)[1]
    assert np.linalg.norm(np.outer(x, x) - np.outer(y, y)) == pytest.approx(np.sqrt(2))


def test_the_covariance_of_a_single_curve_about_its_own_mean_has_noise_all_the_same():
    """It is zero but for rounding errors, which must not leave the site as they are."""
    mechanism = Iclp(task="covariance", centre="sample_mean")
    plan = mechanism.plan(Public(Sizes((1,), 40, 40), FACTS), BUDGET)
    assert (plan.noise[0][0][0].scales > 0).all()


@of_covariances
def test_a_positive_part_is_nearer_to_every_covariance_and_changes_no_ledger(mechanism):
    mechanism = with_task(
        mechanism, task="covariance", **({"degree": 5} if mechanism.key == "bernstein" else {})
    )
    data = data_of(curves(200))
    whole, cut = (
        release(with_task(mechanism, positive=positive), data, draws=3)
        for positive in (False, True)
    )
    assert whole.spends == cut.spends
    values = cut.basis.on_grid(cut.coefficients[0, 0])
    assert np.linalg.eigvalsh(values).min() > -1e-9 * np.abs(values).max()
    truth = cut.basis.coordinates(np.eye(cut.basis.basis.size))
    assert (
        cut.squared_distance(cut.coefficients - truth)
        <= whole.squared_distance(whole.coefficients - truth)
    ).all()


# -- coefficients --------------------------------------------------------------------------------

EXPLAINED = replace(FACTS, covariates=(Covariate("dose", 0.0, 10.0),))


def explained(n=400, seed=0):
    """Curves 1 + sin 6t + z cos 3t for z uniform on [−1, 1], and noise."""
    rng = np.random.default_rng(seed)
    dose = rng.uniform(0, 10, (1, n, 1))
    values = MIDDLE + np.sin(6 * T) / 2 + (dose / 5 - 1) * np.cos(3 * T) / 2
    return data_of(values + 0.05 * rng.standard_normal((1, n, len(T))), EXPLAINED, covariates=dose)


def coefficients_of(mechanism):
    return with_task(mechanism, task="varying_coefficients")


def test_coefficients_without_smoothing_are_those_of_least_squares():
    data = explained()
    estimate = release(coefficients_of(Frl(n_functions=40)), data, (NON_PRIVATE,))
    default = Frl(task="varying_coefficients").without_protection(data)
    assert estimate.functions == default.functions == (INTERCEPT, "dose")
    np.testing.assert_allclose(
        estimate.on_grid(estimate.unprotected, T),
        default.on_grid(default.unprotected, T),
        atol=1e-9,
    )
    expected = np.stack([MIDDLE + np.sin(6 * T) / 2, np.cos(3 * T) / 2])
    assert np.abs(default.on_grid(default.unprotected, T)[0, 0] - expected).max() < 0.05


def test_both_steps_of_coefficients_share_the_budget():
    for share in (0.2, 0.5):
        for cls in (Iclp, Frl):
            mechanism = cls(task="varying_coefficients", share=share)
            spends = release(mechanism, explained()).spends[0]
            assert [spend.epsilon for spend in spends] == pytest.approx([share, 1 - share])
        spends = release(
            GaussianProcess(task="varying_coefficients", share=share), explained()
        ).spends[0]
        mu = accounting.exact_mu(1.0, 1e-3)
        assert [spend.mu**2 for spend in spends] == pytest.approx(
            [share * mu**2, (1 - share) * mu**2]
        )
        assert accounting.guarantees(spends)[0].epsilon == 1.0


@pytest.mark.parametrize("floor", [0.05, 0.5])
def test_released_second_moments_have_no_eigenvalue_below_the_floor(floor):
    """Whatever the noise: here ten times as much as the moments themselves."""
    mechanism = Iclp(task="varying_coefficients", floor=floor)
    summary = mechanism.summary(explained().sizes, EXPLAINED)
    noisy = np.random.default_rng(1).normal(size=(500, 1, 2)) * 10
    values = np.linalg.eigvalsh(summary._gram(noisy))
    assert values.min() == pytest.approx(floor)
    exact = summary._gram(np.array([0.0, 0.9]))
    np.testing.assert_allclose(exact, np.diag([1.0, 0.9]), atol=1e-12)


def test_with_little_budget_coefficients_stay_finite_and_within_what_the_floor_allows():
    estimate = release(Iclp(task="varying_coefficients"), explained(), (Budget(0.01),), 50)
    assert np.isfinite(estimate.coefficients).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_covariates_that_are_no_numbers_stand_in_the_middle_or_at_the_end_of_their_range(bad):
    data = explained()
    known = data.covariates.copy()
    known[0, 5] = bad
    expected = known.copy()
    expected[0, 5] = 5.0 if not np.isfinite(bad) else 10.0
    one, other = (
        release(Iclp(task="varying_coefficients"), replace(data, covariates=z)).coefficients
        for z in (known, expected)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


# -- references and post-processing --------------------------------------------------------------


@every_kind
def test_without_protection_every_mechanism_gives_the_sample_mean_and_covariance(mechanism):
    """Neither smoothed nor clipped, with a sampling range of the mean."""
    data = data_of(curves())
    mean = mechanism.without_protection(data)
    np.testing.assert_allclose(mean.values(T)[0, 0, 0], curves()[0].mean(axis=0), atol=1e-12)
    assert (mean.lower < mean.upper).all() and mean.spends == ((),)
    if mechanism.values().get("penalty") == "absolute":
        return
    reference = with_task(mechanism, task="covariance").without_protection(data)
    result = reference.coefficients.reshape(40, 40)
    np.testing.assert_allclose(result, np.cov(curves()[0].T, bias=True), atol=1e-12)


def test_iterating_bernsteins_operator_changes_what_is_made_of_the_values_and_nothing_before():
    data, seen = data_of(curves()), []
    for iterations in (1, 3):
        with transcript.recorded() as messages:
            estimate = release(Bernstein(degree=8, iterations=iterations), data)
        seen.append((messages[0].values, messages[0].noise, estimate.spends))
    assert (seen[0][0] == seen[1][0]).all() and (seen[0][1] == seen[1][1]).all()
    assert seen[0][2] == seen[1][2]


def test_noise_is_public_and_does_not_follow_the_curves():
    for mechanism in KINDS:
        noises = []
        for seed in (0, 1):
            with transcript.recorded() as messages:
                release(mechanism, data_of(curves(seed=seed)))
            noises.append(messages[0].noise)
        assert (noises[0] == noises[1]).all()


def test_coordinates_that_are_always_zero_have_no_noise():
    estimate = release(Iclp(penalty="absolute"), data_of(curves()), draws=5)
    plan = Iclp(penalty="absolute").plan(Public(data_of(curves()).sizes, FACTS), BUDGET)
    moving = plan.smoothings[0].thresholds < 1
    assert 0 < moving.sum() < 40
    assert (estimate.coefficients[..., ~moving] == 0).all()
    assert (estimate.coefficients[..., moving] != 0).all()
