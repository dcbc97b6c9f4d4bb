"""Wavelets that are centred first: what wide bounds cost, what one message may hold, what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, DataKind
from engine.mechanisms.families.wavelets import checked
from engine.mechanisms.families.wavelets.regression import EVEN_TIMES
from engine.mechanisms.wavelet_adaptive import SPREAD_LARGER, StagedPlan, WaveletAdaptive
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.clipping.normal_readings import (
    clipped_size,
    clipped_square,
    clipped_variance,
    share_within,
    spread_of_clipped,
)
from engine.numerics.wavelet_bases import WaveletBasis
from engine.privacy import accounting
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.regression_points import RegressionPoints

BUDGET = (Budget(1.0, 1e-5),)
THREE = WaveletAdaptive(messages="three")


def error(mechanism, source, budget=BUDGET, repeats=8):
    data = source.draw(repeats, generator(5, 0, 0))
    estimate = mechanism.release_many(data, [budget], 3, generator(5, 1, 0))
    return float(integrated_squared_errors(estimate, data.truth).total.mean())


@pytest.mark.parametrize(("n", "factor"), [(2000, 0.1), (16_000, 0.1)])
def test_with_bounds_ten_times_too_wide_three_messages_have_a_tenth_of_the_error_of_one(n, factor):
    wide = RegressionPoints(n_curves=n, n_servers=2, bound=20.0)
    once = WaveletGlobal().exact_risk(wide, BUDGET)
    assert error(WaveletAdaptive(), wide) < factor * once


@pytest.mark.slow
@pytest.mark.parametrize("signal", ["smooth", "heavisine"])
def test_with_tight_bounds_the_method_of_smaller_planned_error_is_no_worse(signal):
    for n, epsilon in ((2000, 0.25), (2000, 4.0), (16_000, 1.0)):
        tight, budget = (
            RegressionPoints(signal=signal, n_curves=n, n_servers=1),
            (Budget(epsilon, 1e-5),),
        )
        assert error(WaveletAdaptive(), tight, budget) < 1.1 * WaveletGlobal().exact_risk(
            tight, budget
        )


def test_few_observations_with_tight_bounds_are_told_in_one_message_as_ever():
    source = RegressionPoints(n_curves=2000, n_servers=16)
    data, rng = source.draw(1, generator(1, 0, 0)), generator
    chosen, once = (
        method.release(data, BUDGET, rng(1, 1, 0))
        for method in (WaveletAdaptive(), WaveletGlobal())
    )
    assert (chosen.coefficients == once.coefficients).all()
    assert chosen.spends == once.spends
    assert WaveletAdaptive().exact_risk(source, BUDGET) == WaveletGlobal().exact_risk(
        source, BUDGET
    )


def test_budgets_of_both_kinds_stand_side_by_side_in_their_order():
    source = RegressionPoints(n_curves=2000, n_servers=16)
    data = source.draw(2, generator(1, 0, 0))
    budgets = [(Budget(epsilon, 1e-5),) for epsilon in (0.5, 4.0, 1.0)]
    estimate = WaveletAdaptive().release_many(data, budgets, 2, generator(1, 1, 0))
    assert ["messages" in tuning for tuning in estimate.tuning] == [False, True, False]
    once = WaveletGlobal().release_many(data, [budgets[0], budgets[2]], 2, generator(1, 1, 0))
    size = once.coefficients.shape[-1]
    assert estimate.coefficients.shape[:3] == (3, 2, 2)
    assert not estimate.coefficients[[0, 2], ..., size:].any()


def test_a_location_and_sizes_move_together_no_further_than_the_location_alone():
    """Random and mirrored pairs: at most (2τS)², which the flip of a label at the maximiser attains."""
    rng, basis = np.random.default_rng(3), WaveletBasis(16)
    times = np.concatenate([rng.random((4000, 2)), np.repeat(rng.random((4000, 1)), 2, axis=1)])
    residuals = rng.uniform(-1, 1, times.shape)
    residuals[::2] = np.sign(residuals[::2])
    functions = basis.scaling(times.ravel()).reshape(*times.shape, basis.size)
    moved = residuals[..., None] * functions
    squared = ((moved[:, 0] - moved[:, 1]) ** 2).sum(axis=1)
    squared += basis.sup_norm**2 * (np.abs(residuals[:, 0]) - np.abs(residuals[:, 1])) ** 2
    assert squared.max() <= (2 * basis.sup_norm) ** 2 * (1 + 1e-12)
    assert squared.max() >= 0.98 * (2 * basis.sup_norm) ** 2
    beyond = (
        squared
        + 0.21 * basis.sup_norm**2 * (np.abs(residuals[:, 0]) - np.abs(residuals[:, 1])) ** 2
    )
    assert beyond.max() <= (2.1 * basis.sup_norm) ** 2


def test_three_messages_cost_what_was_asked_and_shares_add_up():
    source = RegressionPoints(n_curves=20_000, n_servers=2, bound=20.0)
    spends = THREE.plan(source.public, BUDGET).spends
    assert len(spends) == 6
    for server in (0, 1):
        total = np.sqrt(sum(line.mu**2 for line in spends if line.server == server))
        assert total == pytest.approx(accounting.exact_mu(1.0, 1e-5))
    assert accounting.keeps_promise(spends)


def test_without_noise_the_curve_is_followed_whatever_the_bounds():
    narrow, wide = (
        RegressionPoints(n_curves=20_000, n_servers=2, bound=bound) for bound in (2.0, 200.0)
    )
    assert error(THREE, wide, (NON_PRIVATE,), 2) == pytest.approx(
        error(THREE, narrow, (NON_PRIVATE,), 2), rel=0.5
    )


def test_a_shift_of_values_and_bounds_shifts_the_curve():
    source = RegressionPoints(n_curves=4000, n_servers=1, bound=6.0)
    data = source.draw(1, generator(2, 0, 0))
    facts = replace(data.facts, value_low=94.0, value_high=106.0)
    moved = replace(data, values=data.values + 100.0, facts=facts)
    times = np.linspace(0, 1, 50, endpoint=False)
    here, there = (
        THREE.release(each, BUDGET, generator(2, 1, 0)).values(times) for each in (data, moved)
    )
    assert np.allclose(there - here, 100.0, atol=1e-3)


def test_observations_that_are_no_numbers_change_little_and_break_nothing():
    source = RegressionPoints(n_curves=4000, n_servers=2, bound=6.0)
    data = source.draw(1, generator(2, 0, 0))
    values = np.array(data.values)
    values[0, :3] = np.nan, np.inf, 1e300
    spoilt = THREE.release(replace(data, values=values), BUDGET, generator(2, 1, 0))
    usual = THREE.release(data, BUDGET, generator(2, 1, 0))
    assert np.isfinite(spoilt.coefficients).all()
    assert np.abs(spoilt.coefficients - usual.coefficients).max() < 0.1


def of_real_data(values, n=4000, seed=3):
    """One number each, at even times, of which σ = 1 is stated about a curve in [−6, 6]."""
    rng, source = np.random.default_rng(seed), RegressionPoints(n_curves=n, n_servers=1, bound=6.0)
    facts = replace(source.facts, kind=DataKind.UPLOAD)
    return replace(
        source.draw(1, generator(2, 0, 0)),
        times=rng.random((1, n)),
        values=values(rng, n)[None],
        facts=facts,
        truth=None,
    )


def texts(data, mechanism=THREE, budgets=(BUDGET,)):
    """The cautions of every budget."""
    estimate = mechanism.release_many(data, budgets, 1, generator(2, 1, 0))
    return [
        [caution.text for caution in estimate.cautions if caution.applies[k].all()]
        for k in range(len(budgets))
    ]


def test_residuals_that_are_larger_than_stated_are_told():
    assert SPREAD_LARGER not in texts(of_real_data(lambda rng, n: rng.normal(0, 1, n)))[0]
    assert SPREAD_LARGER in texts(of_real_data(lambda rng, n: rng.choice([-4.0, 4.0], n)))[0]


def test_values_at_single_points_say_what_they_do_not_show_of_times():
    estimate = WaveletPointwise().release(
        of_real_data(lambda rng, n: rng.normal(0, 1, n), n=2000), BUDGET, generator(2, 1, 0)
    )
    assert EVEN_TIMES in estimate.warnings and not estimate.is_doubted.any()


# -- checks of stated facts -----------------------------------------------------------------------


def shares_told(
    mechanism,
    times,
    errors=lambda rng, shape: rng.standard_normal(shape),
    n=4000,
    repeats=60,
    **settings,
):
    """Real data sets of a curve within its bounds, and for each kind of warning the share that carry it."""
    source = RegressionPoints(n_curves=n, **{"n_servers": 1, "bound": 4.0, **settings})
    data, rng = source.draw(repeats, generator(1, 0, 0)), generator(2, 0, 0)
    at = times(data.times, rng)
    data = replace(
        data,
        times=at,
        values=source.curve(at) + errors(rng, at.shape),
        facts=replace(data.facts, kind=DataKind.PUBLIC, symmetric=False),
    )
    estimate = mechanism.release_many(data, [(Budget(1.0, 1e-6),)], 1, generator(3, 1, 0))
    kinds = dict.fromkeys(caution.kind for caution in estimate.cautions)
    return {
        kind: float(np.any([c.applies for c in estimate.cautions if c.kind == kind], axis=0).mean())
        for kind in kinds
    }


def even(times, rng):
    return times


@pytest.mark.parametrize("mechanism", [WaveletGlobal(), THREE], ids=["at once", "in steps"])
def test_releases_of_real_data_are_silent_where_facts_are_true_and_tell_where_they_are_not(
    mechanism,
):
    most = 0.05 + 5 * np.sqrt(0.05 * 0.95 / 60)
    assert sum(shares_told(mechanism, even).values()) < most
    assert sum(shares_told(mechanism, even, n_servers=4, n=8000).values()) < most
    for times in (
        lambda t, rng: rng.beta(2.5, 1, t.shape),
        lambda t, rng: np.where(t < 0.5, 0.8 * t, 0.8 * t + 0.2),
    ):
        told = shares_told(mechanism, times)
        assert told[checked.UNTRUE_TIMES] + told.get(checked.CLUSTERED_TIMES, 0.0) > 0.9
    assert (
        shares_told(mechanism, lambda t, rng: np.floor(12 * t) / 12)[checked.CLUSTERED_TIMES] > 0.9
    )


def test_times_of_a_stated_density_are_checked_against_it():
    ranked = replace(THREE, design="ranked", density="0.5, 1.5")
    told = {
        times: shares_told(
            ranked,
            lambda t, rng, rises=times == "rising": (np.sqrt(1 + 8 * t) - 1) / 2 if rises else t,
        )
        for times in ("rising", "even")
    }
    assert (
        told["rising"].get(checked.UNTRUE_TIMES, 0.0) < 0.2
        and told["even"][checked.UNTRUE_TIMES] > 0.9
    )


def test_observations_that_are_skewed_about_the_curve_are_told_and_even_ones_are_not():
    skewed = lambda rng, shape: (np.exp(0.8 * rng.standard_normal(shape)) - np.exp(0.32)) / 1.3  # noqa: E731
    heavy = lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3)  # noqa: E731
    assert shares_told(THREE, even, skewed)[checked.ONE_SIDED] > 0.9
    assert shares_told(THREE, even, heavy).get(checked.ONE_SIDED, 0.0) < 0.05 + 5 * np.sqrt(
        0.05 * 0.95 / 60
    )


def test_observations_far_beyond_the_bounds_of_the_curve_are_told():
    far = lambda rng, shape: np.where(rng.random(shape) < 0.05, 10.0, rng.standard_normal(shape))  # noqa: E731
    assert shares_told(WaveletGlobal(), even, far, n=16_000, repeats=20)[checked.FAR_BEYOND] > 0.9


def of_facts(values, times):
    """What is averaged of these observations of three people, by part, by fine part and beyond bounds."""
    data = RegressionPoints(n_curves=3, n_servers=1, bound=1.0).draw(1, generator(1, 0, 0))
    return checked.averages(replace(data, values=np.array([values]), times=np.array([times])), 3.0)[
        0, 0
    ]


def test_one_person_moves_the_message_about_facts_by_its_sensitivity_and_no_more():
    weights = checked.MESSAGE.weights
    people = [(v, t) for v in (0.0, -9.0, 9.0, np.nan) for t in (0.0, 0.1, 0.5, 1.0, 7.0, np.nan)]
    sent = [of_facts([0.0, 0.0, v], [0.3, 0.6, t]) * weights for v, t in people]
    largest = max(np.linalg.norm(a - b) for a in sent for b in sent)
    assert 0.999 * np.sqrt(2) / 3 <= largest <= np.sqrt(2) / 3 * (1 + 1e-12)
    absent = [each for each, (v, t) in zip(sent, people, strict=True) if not np.isfinite(v + t)]
    assert all(np.array_equal(each, absent[0]) for each in absent)


@pytest.mark.parametrize("mechanism", [WaveletGlobal(), THREE], ids=["at once", "in steps"])
def test_squares_of_a_ledger_with_checks_add_up_to_the_budget_at_every_site(mechanism):
    source = RegressionPoints(n_curves=4000, n_servers=4)
    data = source.draw(1, generator(1, 0, 0))
    plan = mechanism.plan(
        replace(data, facts=replace(data.facts, kind=DataKind.UPLOAD)).public, BUDGET
    )
    for site in range(4):
        total = sum(line.mu**2 for line in plan.spends if line.server == site)
        assert total == pytest.approx(accounting.exact_mu(BUDGET[0].epsilon, BUDGET[0].delta) ** 2)
    assert len(plan.spends) == 4 * (5 if mechanism is THREE else 2)


def test_simulated_data_and_printed_constants_pay_for_no_check():
    data = RegressionPoints(n_curves=4000).draw(1, generator(1, 0, 0))
    assert len(WaveletGlobal().plan(data.public, BUDGET).spends) == data.sizes.n_servers
    real = replace(data, facts=replace(data.facts, kind=DataKind.PUBLIC))
    assert (
        len(WaveletGlobal(plan_rule="literal").plan(real.public, BUDGET).spends)
        == data.sizes.n_servers
    )
    with pytest.raises(InputError, match="tight"):
        WaveletGlobal(plan_rule="literal", checks="paid")


def test_a_release_of_real_data_can_be_made_without_checks_as_earlier_ones_were():
    data = of_real_data(lambda rng, n: rng.normal(0, 1, n), n=2000)
    simulated = replace(data, facts=replace(data.facts, kind=DataKind.SIMULATED))
    without = replace(THREE, checks="none").release(data, BUDGET, generator(2, 1, 0))
    assert np.array_equal(
        without.coefficients, THREE.release(simulated, BUDGET, generator(2, 1, 0)).coefficients
    )
    assert not without.checks


@pytest.mark.parametrize(
    "chosen",
    [
        {"plan_rule": "literal"},
        {"constants": "published"},
        {"clip": 3.0},
        {"invert_clip": True},
        {"design": "released"},
        {"design": "weighted", "density": "1, 2"},
    ],
    ids=str,
)
def test_what_one_message_alone_can_do_is_refused(chosen):
    with pytest.raises(InputError, match="centred"):
        WaveletAdaptive(**chosen)


def test_ranked_times_are_followed():
    source = RegressionPoints(n_curves=16_000, n_servers=1, times="rising", bound=6.0)
    ranked = replace(THREE, design="ranked", density="0.5, 1.5")
    assert error(ranked, source, BUDGET, 3) < 0.3 * error(THREE, source, BUDGET, 3)


def test_moments_of_clipped_normals_are_those_of_numerical_integration():
    nodes = np.linspace(-9, 9, 200_001)
    density = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi) * (nodes[1] - nodes[0])
    for width in (0.5, 1.0, 2.5):
        clipped = np.clip(nodes, -width, width)
        assert clipped_variance(width) == pytest.approx(density @ clipped**2, rel=1e-6)
        assert clipped_variance(width) == pytest.approx(clipped_square(np.zeros(1), width, 1.0)[0])
        assert share_within(width) == pytest.approx(density @ (np.abs(nodes) < width), rel=1e-3)
        size = clipped_size(1 / width)
        assert size == pytest.approx(density @ np.abs(clipped) / width, rel=1e-6)
        assert spread_of_clipped(size) == pytest.approx(1 / width, rel=1e-4)


@pytest.mark.parametrize("signal", ["smooth", "bumps", "blocks"])
def test_a_first_spread_that_is_mostly_noise_does_not_rule_out_three_messages(signal):
    """Few observations, wide bounds, many sites: three are planned as well, and are far better."""
    source = RegressionPoints(signal=signal, n_curves=4000, n_servers=30, bound=20.0)
    budget = (Budget(0.35, 1e-5),)
    assert isinstance(WaveletAdaptive().plan(source.public, budget), StagedPlan)
    assert error(WaveletAdaptive(), source, budget) < 0.5 * WaveletGlobal().exact_risk(
        source, budget
    )
