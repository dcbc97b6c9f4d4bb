"""The mechanism against the paper's formulas and an independent line-by-line version."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, CurveData, PublicFacts
from engine.mechanisms.families.descent import NOT_ARRIVED, _of_those
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.mechanisms.summaries.smoothing_cautions import BEND_OR_STEP
from engine.privacy import accounting
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import bends
from tests.benchmark.naive import algorithm_1
from tests.heavy import few
from tests.unit.test_smoothing_errors import SMOOTH, curves

SOURCE = SparseCurves(n_curves=120, n_observations_per_curve=5)
PUBLISHED = NoisyGradientMean(scheme="split", constants="published", truncation=3)
BUDGET = Budget(1.0, 1e-3)


def draw(source=SOURCE, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


def release(mechanism, data, *budgets, draws=1, seed=1):
    return mechanism.release_many(data, [(b,) for b in budgets], draws, generator(seed, 1, 0))


@pytest.mark.parametrize(
    ("power", "radii"), [(2, [2.77003, 2.11378, 2.04781]), (1, [1.44216, 0.78591, 0.71994])]
)
def test_radii_are_the_tabulated_ones(power, radii):
    mechanism = NoisyGradientMean(log_power=power)
    assert np.allclose(mechanism._radii(np.full(250, 10), 250, 3), [radii], atol=1e-5)


def test_the_fast_kernels_repeat_algorithm_one_line_by_line():
    data = draw()
    fast = release(PUBLISHED, data, BUDGET)
    rounds = fast.tuning[0]["n_iterations"]
    normals = generator(1, 1, 0).spawn(1)[0].standard_normal((rounds, 1, 1, 3))[:, 0, 0]
    slow = algorithm_1(data.curves(120), 3, PUBLISHED, BUDGET, normals)
    # the paper's curves come in storage order; sorting in time changes no average
    assert np.allclose(fast.coefficients[0, 0, 0], slow, atol=1e-12)


def test_a_level_far_from_the_middle_of_wide_bounds_is_said_not_to_be_reached():
    """1000 people whose mean is 70: with bounds 0 to 600 descent ends about 29 away from it."""
    rng = np.random.default_rng(1)
    times = rng.random((1, 8000))
    values = 70 + np.repeat(rng.normal(0, 8, 1000), 8) + rng.normal(0, 5, times.shape)

    def told(high):
        data = CurveData(
            times,
            values,
            np.full(1000, 8),
            np.zeros(1000, int),
            PublicFacts(value_low=0, value_high=high),
        )
        estimate = release(
            NoisyGradientMean(value_scale="bounds"), data, Budget(5.0, 1e-6), draws=4
        )
        away = np.abs(estimate.values(np.linspace(0.1, 0.9, 9))[0, 0] - 70).mean()
        return [
            caution.applies.all() for caution in estimate.cautions if caution.text == NOT_ARRIVED
        ], away

    (wide, far), (narrow, near) = told(600), told(140)
    assert (wide, narrow) == ([True], []) and far > 10 > 3 > near


def test_without_noise_a_curve_near_the_middle_is_not_said_to_be_pulled_there():
    flat = curves(lambda t: 51 + 0 * t, n=500)
    estimate = release(NoisyGradientMean(), flat, NON_PRIVATE)
    assert NOT_ARRIVED not in [caution.text for caution in estimate.cautions]


@pytest.mark.parametrize(
    "mechanism",
    few([NoisyGradientMean(), NoisyGradientMean(functions="cosine")]),
    ids=lambda one: one.functions,
)
def test_a_bend_that_may_be_a_step_is_told_and_simple_curves_are_not(mechanism):
    """Of a jump by a third of the range, errors are four times the forecast and more."""

    def share_with_caution(mean):
        data = curves(mean, n=2000)
        estimate = release(mechanism, data, Budget(2.0, 1e-6), draws=100)
        return sum(
            (
                caution.applies.mean()
                for caution in estimate.cautions
                if caution.text == BEND_OR_STEP
            ),
            0.0,
        )

    sudden = {
        "step": lambda t: 33 + 33 * (t > 0.5),
        "early step": lambda t: 33 + 33 * (t > 0.3),
        "peak": lambda t: 45 + 40 * np.exp(-(((t - 0.5) / 0.05) ** 2)),
    }
    assert all(share_with_caution(mean) > 0.9 for mean in sudden.values())
    flat = curves(SMOOTH["flat"])
    simple = {
        **SMOOTH,
        "steep rise": lambda t: 30 + 40 * t,
        "rise with bends": lambda t: 50 + 50 * bends(flat.facts, t),
    }
    assert all(share_with_caution(mean) == 0 for mean in simple.values())


def test_of_the_papers_own_curves_no_bend_is_told():
    for mean in ("mu1", "mu2"):
        for mechanism in (NoisyGradientMean(), PUBLISHED):
            estimate = release(
                mechanism, draw(SparseCurves(n_curves=250, mean=mean)), Budget(5.0, 1e-3), draws=100
            )
            assert BEND_OR_STEP not in [caution.text for caution in estimate.cautions]


def test_rounds_and_basis_size_follow_the_papers_rules():
    sizes = draw(SparseCurves(n_curves=250, mean="mu2")).sizes
    rule = NoisyGradientMean(scheme="split", constants="published")
    assert rule._rounds(sizes) == 23
    assert rule._size(sizes, (BUDGET,), SOURCE.facts) == 4
    assert rule._size(draw(SparseCurves(n_curves=100)).sizes, (BUDGET,), SOURCE.facts) == 3


def test_full_batch_keeps_an_odd_number_of_basis_functions():
    sizes = draw(SparseCurves(n_curves=250)).sizes
    assert NoisyGradientMean()._size(sizes, (BUDGET,), SOURCE.facts) == 5


def test_one_server_federated_equals_central_bit_for_bit():
    data = draw(SparseCurves(n_curves=120, n_observations_per_curve=5, n_servers=1))
    federated = release(PUBLISHED, data, BUDGET).coefficients
    assert (federated == release(PUBLISHED, data.pooled(), BUDGET).coefficients).all()


def test_pooling_servers_gives_central_privacy():
    data = draw(SparseCurves(n_curves=120, n_observations_per_curve=5, n_servers=3))
    assert len(release(NoisyGradientMean(), data, BUDGET).spends[0]) == 3
    assert len(release(NoisyGradientMean(), data.pooled(), BUDGET).spends[0]) == 1


def test_budgets_released_together_equal_budgets_released_alone():
    data, budgets = draw(repeats=3), [Budget(e, 1e-3) for e in (0.05, 1.0, 8.0)]
    mechanism = NoisyGradientMean(smoothness=1.5)  # the rule keeps more functions at larger ε
    together = release(mechanism, data, *budgets, draws=4)
    assert len({t["truncation"] for t in together.tuning}) > 1
    for k, budget in enumerate(budgets):
        alone = release(mechanism, data, budget, draws=4)
        size = alone.basis.size
        if size == together.basis.size:
            assert np.allclose(together.coefficients[k], alone.coefficients[0], atol=1e-12)
        assert (together.coefficients[k, ..., size:] == 0).all()
        assert np.allclose(together.unprotected[k, :, :size], alone.unprotected[0], atol=1e-12)


def test_no_limit_means_no_noise_at_all():
    estimate = release(NoisyGradientMean(), draw(), NON_PRIVATE, draws=3)
    assert np.allclose(estimate.coefficients[0], estimate.unprotected[0][:, None], atol=1e-14)


def test_many_unclipped_rounds_converge_to_least_squares():
    data = draw()
    far = NoisyGradientMean(truncation=3, n_iterations=600, radius_constant=100.0)
    least = NoisyGradientMean(truncation=3, baseline="least_squares")
    assert np.allclose(
        release(far, data, NON_PRIVATE).unprotected,
        release(least, data, NON_PRIVATE).unprotected,
        atol=1e-10,
    )


def test_gradient_descent_baseline_has_the_stated_distance_from_least_squares():
    """After T steps from zero the gap is (I − ρ M̄)^T a_LS."""
    data = draw()
    least = release(NoisyGradientMean(truncation=3, baseline="least_squares"), data, BUDGET)
    steps = release(NoisyGradientMean(truncation=3, baseline="gradient_descent"), data, BUDGET)
    basis = least.basis(data.times[0])
    weights = np.repeat(1 / data.counts, data.counts) / data.n_curves
    shrink = np.linalg.matrix_power(np.eye(3) - 0.3 * basis.T @ (weights[:, None] * basis), 10)
    gap = least.unprotected[0, 0] - steps.unprotected[0, 0]
    assert np.allclose(gap, shrink @ least.unprotected[0, 0], atol=1e-12)


def test_bounds_scale_equals_raw_scale_on_mapped_readings():
    data = draw()
    facts = data.facts
    mapped = CurveData(
        data.times, (data.values.clip(-2, 4) - 1) / 3, data.counts, data.server, facts
    )
    raw = release(NoisyGradientMean(truncation=3, value_scale="raw"), mapped, BUDGET).coefficients
    bounds = release(
        NoisyGradientMean(truncation=3, value_scale="bounds"), data, BUDGET
    ).coefficients
    assert np.allclose(bounds, 3 * raw + np.array([1.0, 0, 0]), atol=1e-12)


def test_uploads_are_always_mapped_by_their_stated_bounds():
    facts = PublicFacts(kind="upload", unit_scale=True)
    assert NoisyGradientMean(value_scale="raw")._value_scale(facts) == "bounds"


def test_curves_that_do_not_close_are_expanded_over_a_longer_period():
    assert NoisyGradientMean().basis(5, PublicFacts(kind="upload")).extension == 0.25
    assert NoisyGradientMean().basis(5, PublicFacts(periodic=True)).extension == 0.0
    assert NoisyGradientMean(extension=0.1).basis(5, PublicFacts()).extension == 0.1


def test_too_few_curves_for_the_rounds_are_refused_with_both_numbers():
    data = draw(SparseCurves(n_curves=12))
    with pytest.raises(InputError, match=r"each of 22 rounds.*there are 12") as caught:
        release(NoisyGradientMean(scheme="split", n_iterations=22), data, BUDGET)
    assert caught.value.field == "n_iterations"


def test_split_spends_one_round_and_full_batch_divides_by_the_root_of_the_rounds():
    data = draw()
    (split,) = release(NoisyGradientMean(scheme="split"), data, BUDGET).spends[0]
    (full,) = release(NoisyGradientMean(), data, BUDGET).spends[0]
    total = accounting.exact_mu(1.0, 1e-3)
    assert (split.mu, split.composition) == (total, "parallel")
    assert full.mu == pytest.approx(total / np.sqrt(10))
    assert full.composition == "sequential"
    assert accounting.total_mu([full]) == pytest.approx(total)


def test_published_noise_is_the_printed_formula():
    (spend,) = release(PUBLISHED, draw(), BUDGET).spends[0]
    b, radii = 120 // spend.count, PUBLISHED._radii(np.full(120, 5), 120, 3)[0]
    printed = np.sqrt(16 * np.log(2 / 1e-3) * radii * radii.sum() / (b * 1.0) ** 2)
    assert np.allclose(spend.noise_scale, printed)


def test_curves_of_unequal_length_pay_for_the_shortest():
    data = CurveData(
        np.random.default_rng(0).random((1, 60)),
        np.zeros((1, 60)),
        np.array([2] * 10 + [4] * 10),
        np.zeros(20, int),
    )
    mechanism = NoisyGradientMean(truncation=3)
    (spend,) = release(mechanism, data, BUDGET).spends[0]
    shortest = mechanism._radii(np.array([2]), 20, 3)[0]
    assert np.allclose(spend.sensitivity, 2 * shortest / 20)


@pytest.mark.parametrize("weights", ["inverse_variance", "rate", "size", "uniform"])
def test_weights_of_equal_servers_are_equal(weights):
    data = draw(SparseCurves(n_curves=120, n_observations_per_curve=5, n_servers=4))
    plan = NoisyGradientMean(weights=weights).plan(data.public, (BUDGET,) * 4)
    assert np.allclose(plan.weights, 0.25)


def test_rate_and_variance_weights_are_those_of_the_example_with_three_sites():
    """Specification, erratum 13: n = (400, 250, 100), ε = (4, 1, .5), m = 10, r = 3."""
    counts, server = np.full(750, 10), np.repeat([0, 1, 2], [400, 250, 100])
    data = CurveData(
        np.zeros((1, 7500)), np.zeros((1, 7500)), counts, server, PublicFacts(unit_scale=True)
    )
    budgets = tuple(Budget(e, 1e-3) for e in (4.0, 1.0, 0.5))

    def shares(weights):
        mechanism = NoisyGradientMean(
            scheme="split", constants="published", truncation=3, weights=weights
        )
        return mechanism.plan(data.public, budgets).weights

    assert np.allclose(shares("rate"), [0.533, 0.333, 0.133], atol=5e-4)
    assert np.allclose(shares("inverse_variance"), [0.958, 0.040, 0.001], atol=1e-3)


# -- servers that are smaller than the number of rounds --------------------------------------


def local(n=600, rounds=20, **chosen):
    """Every curve is a server of its own."""
    data = replace(SparseCurves(n_curves=n).draw(1, generator(1, 0, 0)), server=np.arange(n))
    return data, NoisyGradientMean(scheme="split", truncation=3, n_iterations=rounds, **chosen)


def test_small_servers_take_turns_so_that_every_round_has_as_many_and_no_curve_serves_twice():
    data, mechanism = local()
    schedule = mechanism.plan(data.public, (Budget(1.0, 1e-3),) * 600).schedule
    assert ((schedule >= 0).sum(axis=0) == 1).all()
    assert ((schedule >= 0).sum(axis=1) == 30).all()


def test_a_server_with_a_few_curves_joins_that_many_rounds_each_with_another_curve():
    data = SparseCurves(n_curves=63, n_servers=1).draw(1, generator(1, 0, 0))
    server = np.repeat([0, 1, 2], [50, 10, 3])
    mixed = CurveData(data.times, data.values, data.counts, server, data.facts)
    mechanism = NoisyGradientMean(scheme="split", n_iterations=20, truncation=3)
    plan = mechanism.plan(mixed.public, (Budget(1.0, 1e-3),) * 3)
    assert plan.batch_sizes == (2, 1, 1)
    for s, n in ((1, 10), (2, 3)):
        assert sorted(plan.schedule[:, s][plan.schedule[:, s] >= 0]) == list(range(n))
        assert plan.spends[s].count == n and plan.spends[s].composition == "parallel"
    assert (plan.schedule[:, 0] == np.arange(20)).all()


def test_shares_of_a_round_sum_to_one_over_the_servers_that_take_part():
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    assert np.allclose(_of_those(shares, np.array([0, 2])).sum(axis=1), 1)
    assert _of_those(shares, np.arange(3)) is shares


@pytest.mark.slow
def test_local_privacy_runs_and_its_noise_is_that_of_the_formula():
    """20 000 people at ε = 8, one release: the sum of variances over those of a round."""
    data, mechanism = local(n=20_000, rounds=40)
    budget = Budget(8.0, 1e-3)
    estimate = mechanism.release(data, (budget,), generator(2, 1, 0))
    spend = estimate.spends[0][0]
    rho, each = 0.1, 500
    q = (1 - rho) ** 2
    variance = sum(s**2 for s in spend.noise_scale) / each * rho**2 / (1 - q)
    error = integrated_squared_errors(estimate, data.truth).total[0, 0, 0]
    print(f"error {error:.5f}, noise {variance:.5f}")
    assert error < 0.0005 + 6 * variance
    assert accounting.guarantee(estimate.spends[0], 7) == budget


# -- what privacy is expected to add ----------------------------------------------------------


@pytest.mark.parametrize(
    ("power", "n", "expected"),
    [(2, 250, 3.05), (1, 250, 0.552), (2, 1000, 0.327), (1, 1000, 0.0504)],
)
def test_the_published_noise_that_is_left_is_the_tabulated_one(power, n, expected):
    """Three functions, ten readings, δ = 10⁻³ and ε = 1."""
    mechanism = replace(PUBLISHED, log_power=power, n_iterations=None, step_size=0.1)
    sizes = SparseCurves(n_curves=n).sizes
    for epsilon in (1.0, 4.0):
        planned = mechanism.expected_error(sizes, (Budget(epsilon, 1e-3),), SOURCE.facts)
        assert planned * epsilon**2 == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("chosen", "mean", "epsilon"),
    [
        ({}, "mu1", 1.0),
        ({}, "mu1", 8.0),
        ({"functions": "cosine"}, "growth", 1.0),
        ({"scheme": "split", "truncation": 3}, "mu1", 3.0),
    ],
)
def test_the_planned_error_is_near_what_privacy_really_adds(chosen, mean, epsilon):
    """Within a factor of 1.5, on 40 data sets of 500 curves at two sites."""
    source = SparseCurves(mean=mean, n_curves=500, n_servers=2)
    mechanism, budgets = NoisyGradientMean(**chosen), (Budget(epsilon, 1e-3),) * 2
    data = draw(source, 40)
    estimate = mechanism.release(data, budgets, generator(3, 1, 0))
    added = integrated_squared_errors(estimate, data.truth).privacy.mean()
    planned = mechanism.expected_error(source.sizes, budgets, source.facts)
    print(f"{chosen} {mean} ε = {epsilon}: planned {planned:.3g}, added {added:.3g}")
    assert 1 / 1.5 < planned / added < 1.5
    assert planned == pytest.approx(estimate.parts.noise.sum())


def test_where_everybody_is_a_site_only_those_of_a_round_average_its_noise():
    """40 rounds of 50 people: each round's noise is that of 50, not of 2000."""
    data, mechanism = local(n=2000, rounds=40)
    budgets = (Budget(8.0, 1e-3),) * 2000
    each = sum(s**2 for s in mechanism.plan(data.public, budgets).spends[0].noise_scale)
    q = (1 - mechanism.step_size) ** 2
    left = each / 50 * mechanism.step_size**2 * (1 - q**40) / (1 - q)
    assert mechanism.expected_error(data.sizes, budgets, data.facts) == pytest.approx(left)


def test_rounds_without_a_curve_are_refused_with_the_sizes():
    data, mechanism = local(n=30, rounds=40)
    with pytest.raises(
        InputError,
        match="need at least 40 curves, and one for each round; there are 30 on 30 servers",
    ):
        mechanism.plan(data.public, (Budget(1.0, 1e-3),) * 30)


@pytest.mark.parametrize(("n", "fewest"), [(250, 10), (200, 9), (400, 16), (23, 1)])
def test_the_smallest_round_is_counted_from_public_sizes_alone(n, fewest):
    source = SparseCurves(n_curves=n, n_observations_per_curve=5)
    chosen = {"n_iterations": 23} if n == 23 else {}
    assert NoisyGradientMean(scheme="split", **chosen).fewest_in_a_round(source.sizes) == fewest
    assert NoisyGradientMean().fewest_in_a_round(source.sizes) is None


def test_where_everybody_is_a_site_a_round_has_the_curves_of_all_who_take_part():
    data, mechanism = local()
    takes_part = mechanism.plan(data.public, (BUDGET,) * 600).schedule >= 0
    assert mechanism.fewest_in_a_round(data.sizes) == takes_part.sum(axis=1).min() == 600 // 20
