"""The adaptive mean: rules from public facts, invariances, refusals, several sites, δ = 0."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.answers.released_curve import BETWEEN_TIMES, ReleasedCurve
from engine.core.bands import limits, simultaneous_factor, standard_errors
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Band, Budget, CurveData, Design, Estimate, PublicFacts, Sizes, Truth
from engine.mechanisms.adaptive_mean import FEATURES, AdaptiveMean
from engine.mechanisms.families.adaptive.checked_facts import FACTS, FAR, FAR_SHARE, first_share
from engine.mechanisms.families.adaptive.location import (
    FINAL_CENTRE,
    FIRST_CENTRE,
    JOINT,
    SECOND_CENTRE,
)
from engine.mechanisms.families.adaptive.mean_fit import TIMES
from engine.mechanisms.families.adaptive.release import STEPS_DISAGREE
from engine.mechanisms.families.adaptive.rules import effective_size, public_scale
from engine.numerics.bases import Basis
from engine.numerics.deviations import are_told_apart
from engine.privacy import accounting
from engine.privacy.feasibility import Feasibility
from engine.simulation.metrics import best_kept, coverage, integrated_squared_errors
from engine.sources.bundled import SeaTemperature
from engine.sources.glucose_days import GlucoseDays
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few
from tests.sentences import of_topic

wording = of_topic("mean")

CURVES = SparseCurves(n_curves=250)
BUDGET = (Budget(1.0, 1e-3),)


def draw(source=CURVES, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


def release(data, budgets=BUDGET, seed=1, **chosen):
    return AdaptiveMean(**chosen).release(data, budgets, generator(seed, 1, 0))


# -- before any data are read ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("effective", "verdict"),
    [
        (11.9, "not feasible"),
        (12, "coarse"),
        (34.9, "coarse"),
        (35, "usable"),
        (99, "usable"),
        (100, "good"),
        (300, "nearly free"),
    ],
)
def test_the_verdict_follows_the_effective_size(effective, verdict):
    assert Feasibility(effective).verdict == verdict


def test_what_would_change_a_verdict_is_just_enough():
    sizes = Sizes((100,), 1000, 10)
    found = AdaptiveMean().feasibility(sizes, (Budget(0.3, 1e-4),))
    assert found.verdict == "not feasible"
    more = found.curves_needed(100)
    assert effective_size(Sizes((more,), 10 * more, 10), (Budget(0.3, 1e-4),)) >= 12
    assert effective_size(Sizes((more - 1,), 10, 10), (Budget(0.3, 1e-4),)) < 12
    budget = Budget(found.epsilon_needed(Budget(0.3, 1e-4)), 1e-4)
    assert effective_size(sizes, (budget,)) == pytest.approx(12, rel=1e-6)


def test_without_delta_the_verdict_uses_a_quarter_of_epsilon():
    sizes = Sizes((100,), 1000, 10)
    assert effective_size(sizes, (Budget(2.0),)) == pytest.approx(50)
    assert AdaptiveMean().feasibility(sizes, (Budget(0.4),)).epsilon_needed(
        Budget(0.4)
    ) == pytest.approx(0.48)


def test_sites_add_up_in_squares():
    sizes = Sizes((100, 200), 3000, 10)
    budgets = (Budget(1.0, 1e-3), Budget(0.5, 1e-4))
    mus = [accounting.exact_mu(b.epsilon, b.delta) for b in budgets]
    assert effective_size(sizes, budgets) == pytest.approx(math.hypot(100 * mus[0], 200 * mus[1]))


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "size"),
    [(100, 10, 0.25, 3), (250, 3, 3, 10), (4000, 30, 8, 21), (1000, 30, 0.5, 19)],
)
def test_the_number_of_waves_follows_public_sizes(n, m, epsilon, size):
    data = draw(SparseCurves(n_curves=n, n_observations_per_curve=m))
    plan = AdaptiveMean().plan(data.public, (Budget(epsilon, 1e-3),))
    assert plan.size == size


def test_a_common_grid_limits_the_number_of_waves_to_its_points():
    data = draw(SeaTemperature())
    assert AdaptiveMean().plan(data.public, (Budget(100.0, 1e-3),)).size <= 12


def test_the_public_scale_is_that_of_sampling_and_smoothness():
    assert np.allclose(
        public_scale(3, Sizes((9,), 90, 10)), np.sqrt(0.1 + np.array([1, 1 / 8, 1 / 27]))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon"), few([(250, 1.0), (1000, 0.5), (1000, 1.0), (1000, 3.0)], 2)
)
def test_the_planned_error_is_near_what_privacy_really_adds(n, epsilon):
    """Within a factor of two, on 60 data sets; the rule was made for such curves."""
    source, method = SparseCurves(n_curves=n), AdaptiveMean(shrink="never")
    data, budgets = draw(source, 60), (Budget(epsilon, 1e-3),)
    estimate = method.release(data, budgets, generator(1, 1, 0))
    added = integrated_squared_errors(estimate, data.truth).privacy.mean()
    planned = method.expected_error(source.sizes, budgets, source.facts)
    print(f"n = {n}, ε = {epsilon}: planned {planned:.5f}, added {added:.5f}")
    assert 0.5 < planned / added < 2


def test_a_guessed_spread_scales_the_planned_error():
    facts, sizes = CURVES.facts, CURVES.sizes
    usual = AdaptiveMean().expected_error(sizes, BUDGET, facts)
    typical = 0.24 * facts.value_half_width
    guessed = AdaptiveMean(guessed_spread=2 * typical).expected_error(sizes, BUDGET, facts)
    assert guessed == pytest.approx(4 * usual)


def test_fourier_waves_for_curves_that_do_not_close_are_warned_of_in_words():
    wording.found(
        "fourier basis periodic",
        AdaptiveMean(basis="fourier").unsuited_because(SparseCurves(mean="growth").facts),
    )
    assert AdaptiveMean(basis="fourier").unsuited_because(SparseCurves(mean="mu1").facts) == ""
    assert AdaptiveMean().unsuited_because(SparseCurves(mean="growth").facts) == ""


# -- invariances ----------------------------------------------------------------------------


def test_a_constant_added_to_readings_and_bounds_is_added_to_the_estimate():
    data = draw()
    facts = PublicFacts(
        **{
            **data.facts.__dict__,
            "value_low": data.facts.value_low + 7,
            "value_high": data.facts.value_high + 7,
        }
    )
    moved = CurveData(data.times, data.values + 7, data.counts, data.server, facts)
    here, there = release(data), release(moved)
    grid = drawing_grid()
    assert np.allclose(there.values(grid), here.values(grid) + 7, atol=1e-9)
    assert np.allclose(there.lower, here.lower + 7, atol=1e-9)


def test_stretching_readings_and_bounds_stretches_the_estimate_and_its_band():
    data = draw()
    facts = PublicFacts(
        **{
            **data.facts.__dict__,
            "value_low": 10 * data.facts.value_low,
            "value_high": 10 * data.facts.value_high,
        }
    )
    wide = CurveData(data.times, 10 * data.values, data.counts, data.server, facts)
    assert np.allclose(
        release(wide).values(drawing_grid()), 10 * release(data).values(drawing_grid()), atol=1e-9
    )
    assert np.allclose(release(wide).upper, 10 * release(data).upper, atol=1e-9)


def test_the_order_of_curves_does_not_matter():
    data = draw()
    order = np.random.default_rng(1).permutation(250)
    times, values = (a.reshape(250, 10)[order].reshape(1, -1) for a in (data.times, data.values))
    mixed = CurveData(times, values, data.counts, data.server, data.facts)
    assert np.allclose(release(mixed).coefficients, release(data).coefficients, atol=1e-9)


def test_a_public_curve_near_the_truth_helps_most_where_there_is_little_budget():
    """20 data sets at N = 14, where a coarse curve is all that can be learned."""
    grid = np.linspace(0, 1, 41)
    data = draw(repeats=20)
    truth = ", ".join(
        f"{v:.6f}" for v in 0.8 + 0.6 * np.cos(2 * np.pi * grid) + 2 / 3 * np.sin(2 * np.pi * grid)
    )
    error = {
        name: integrated_squared_errors(
            release(data, (Budget(0.1, 1e-3),), **chosen), data.truth
        ).total.mean()
        for name, chosen in (("usual", {}), ("known", {"prior": truth, "prior_room": 1.5}))
    }
    assert error["known"] < 0.4 * error["usual"]


# -- refusals and what is not feasible ------------------------------------------------------


def test_where_nothing_useful_can_be_released_the_prior_is_the_estimate_and_nothing_is_spent():
    data = draw(SparseCurves(n_curves=20))
    estimate = release(data, (Budget(0.5, 1e-3),))
    assert np.allclose(estimate.values(drawing_grid()), data.facts.value_middle)
    assert [spend.step.key for spend in estimate.spends[0]] == ["nothing"]
    assert accounting.guarantee(estimate.spends[0], 0).epsilon < 1e-9
    assert np.isnan(estimate.lower).all()
    curve = release(data, (Budget(0.5, 1e-3),), prior="1, 2")
    assert np.allclose(curve.values(drawing_grid())[0, 0, 0], 1 + drawing_grid())
    planned = AdaptiveMean().expected_error(data.sizes, (Budget(0.5, 1e-3),), data.facts)
    assert math.isnan(planned)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"split": "1, 2"}, "positive shares that sum to 1"),
        ({"split": "0.5, 0.5"}, "must have 6 shares"),
        ({"split": "1"}, "must have 6 shares"),
        ({"split": "0.2, 0.2, 0.2, 0.1, 0.2, 0.1", "band": "none"}, "must have 5 shares"),
        ({"split": "-0.2, 0.4, 0.2, 0.2, 0.2, 0.2"}, "positive shares"),
        ({"prior": "tall"}, "numbers with commas"),
        ({"basis": "wavelet"}, "must be one of"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_at_once(chosen, words):
    with pytest.raises(InputError, match=words):
        AdaptiveMean(**chosen)


def test_four_shares_are_refused_where_one_site_has_no_delta():
    """There each number is released on its own, and four shares would leave some without noise."""
    method = AdaptiveMean(releases="joint", split="0.2, 0.1, 0.1, 0.6")
    public = draw().public
    method.plan(public, (Budget(6.0, 1e-3),))
    with pytest.raises(InputError, match="must have 6 shares"):
        method.plan(public, (Budget(6.0),))


# -- the ledger -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("few", "shares"), [(True, [0.15, 0.10, 0.12, 0.63]), (False, [0.12, 0.07, 0.11, 0.70])]
)
def test_joint_releases_have_four_lines_that_add_up_in_squares(few, shares):
    """Below and above N = 100, each at the sensitivity of a location alone."""
    budget = Budget(1.0 if few else 6.0, 1e-3)
    spends = release(draw(), (budget,)).spends[0]
    first, *steps, last = spends
    assert (first.step, last.step) == (FACTS, FAR) and [each.step for each in steps] == list(JOINT)
    result = accounting.exact_mu(budget.epsilon, budget.delta)
    assert (250 * result < 100) == few
    for_facts = first_share(250 * result, pure=False)
    assert [first.mu**2 / result**2, last.mu**2 / result**2] == pytest.approx(
        [for_facts, FAR_SHARE]
    )
    assert [spend.mu**2 / result**2 for spend in steps] == pytest.approx(
        [share * (1 - for_facts - FAR_SHARE) for share in shares]
    )
    assert all(spend.sensitivity == (pytest.approx(2 / 250),) for spend in steps)
    assert sum(spend.mu**2 for spend in spends) == pytest.approx(result**2)
    assert accounting.guarantee(spends, 0) == budget


def test_joint_releases_cost_the_same_with_a_band_and_without():
    with_band, without = (release(draw(), band=band).spends[0] for band in ("pointwise", "none"))
    assert with_band == without


def test_the_ledger_of_separate_releases_has_six_lines_that_add_up_in_squares():
    spends = release(draw(), releases="separate", design="stated").spends[0]
    assert [spend.step.key for spend in spends] == [
        "first centre",
        "first spread",
        "second centre",
        "second spread",
        "final centre",
        "second moments",
    ]
    result = accounting.exact_mu(1.0, 1e-3)
    assert [spend.mu**2 / result**2 for spend in spends] == pytest.approx(
        [0.15, 0.05, 0.10, 0.05, 0.60, 0.05]
    )
    for spend in spends:
        most = 2 if spend.step in (FIRST_CENTRE, SECOND_CENTRE, FINAL_CENTRE) else math.sqrt(2)
        assert spend.sensitivity == (pytest.approx(most / 250),)
        assert spend.noise_scale == (pytest.approx(most / 250 / spend.mu),)
    assert accounting.guarantee(spends, 0) == BUDGET[0]


def test_without_delta_the_epsilons_add_and_there_is_no_sixth_release():
    facts, *spends = release(draw(), (Budget(2.0),)).spends[0]
    assert (facts.norm, facts.epsilon) == ("ℓ1", pytest.approx(0.05 * 2))
    assert [spend.epsilon for spend in spends] == pytest.approx(
        [0.95 * each for each in (0.4, 0.16, 0.28, 0.16, 1.0)]
    )
    spends = facts, *spends
    assert accounting.total_epsilon(spends) == pytest.approx(2.0)
    assert accounting.guarantee(spends, 0) == Budget(2.0)


@pytest.mark.parametrize("stated", [Design(), Design(law="unknown")])
def test_where_times_may_be_learned_a_tenth_of_the_rest_goes_to_how_they_are_spread(stated):
    data, budget = draw(), Budget(4.0, 1e-3)
    data = replace(data, facts=replace(data.facts, design=stated))
    method = {} if stated.law == "unknown" else {"design": "unknown"}
    spends = release(data, (budget,), **method).spends[0]
    assert len(spends) == 7
    assert spends[1].step is TIMES
    result = accounting.exact_mu(4.0, 1e-3)
    left = 1 - first_share(250 * result, pure=False) - FAR_SHARE
    assert spends[1].mu ** 2 == pytest.approx(0.1 * left * result**2)
    assert spends[1].sensitivity == (pytest.approx(math.sqrt(2) / 250),)
    assert accounting.guarantee(spends, 0) == budget


def test_small_studies_pay_for_no_distribution_of_times_that_would_void_their_bands():
    data = draw()
    unknown = replace(data, facts=replace(data.facts, design=Design(law="unknown")))
    assert [line.step for line in release(unknown).spends[0]] == [
        line.step for line in release(data).spends[0]
    ]


def test_one_site_is_the_central_mechanism_bit_for_bit():
    data = draw()
    assert (release(data).coefficients == release(data.pooled()).coefficients).all()


@pytest.mark.slow
def test_four_sites_are_worse_than_one_centre_and_far_better_than_one_site():
    """40 data sets of 4 × 250 curves at ε = 1, beside one trusted centre and one site alone."""

    def error(data):
        return integrated_squared_errors(release(data, basis="cosine"), data.truth).total.mean()

    federated = draw(SparseCurves(n_curves=1000, n_servers=4), 40)
    alone = draw(SparseCurves(n_curves=250), 40)
    print(error(federated.pooled()), error(federated), error(alone))
    assert error(federated.pooled()) < error(federated) < 0.5 * error(alone)


def test_sites_may_have_budgets_of_their_own_even_without_delta():
    data = draw(SparseCurves(n_curves=600, n_servers=3))
    budgets = (Budget(1.0, 1e-3), Budget(3.0, 1e-5), Budget(4.0))
    estimate = release(data, budgets)
    assert np.isfinite(estimate.coefficients).all()
    assert accounting.guarantees(estimate.spends[0]) == budgets


def test_curves_of_different_lengths_and_without_readings_are_used_and_counted():
    rng, counts = np.random.default_rng(3), np.tile([2, 5, 0, 9], 100)
    times = rng.random((1, counts.sum()))
    values = 0.5 + 0.3 * np.cos(np.pi * times) + 0.1 * rng.normal(size=times.shape)
    data = CurveData(times, values, counts, np.zeros(400, int), PublicFacts())
    estimate = release(data, (Budget(5.0, 1e-3),))
    middle = slice(10, 91)
    expected = 0.5 + 0.3 * np.cos(np.pi * drawing_grid())
    seen = estimate.values(drawing_grid())[0, 0, 0]
    assert np.abs(seen - expected * 0.75)[middle].max() < 0.25  # a quarter say "no deviation"


def test_times_that_are_not_spread_as_stated_are_told_from_steps_that_disagree():
    """2000 people with ten observations each, whose mean rises along a line."""
    rng = np.random.default_rng(6)
    even = rng.random((2000, 10))

    def warned(times):
        values = 80 + 40 * times + rng.normal(0, 8, (2000, 1)) + rng.normal(0, 3, times.shape)
        data = CurveData(
            times.reshape(1, -1),
            values.reshape(1, -1),
            np.full(2000, 10),
            np.zeros(2000, int),
            PublicFacts(value_low=20, value_high=180),
        )
        estimate = AdaptiveMean().release_many(data, [(Budget(1.0, 1e-6),)], 4, generator(1, 1, 0))
        return sum(
            caution.applies.sum() for caution in estimate.cautions if caution.text == STEPS_DISAGREE
        )

    assert [warned(even), warned(even**3)] == [0, 4]


def test_uneven_visits_of_a_trial_are_met_by_the_curve_and_the_band():
    """2000 people seen at months 0, 1, 3, 6, 12 and 24 whose mean falls from 100 to 71.2."""
    visits = np.array([0, 1, 3, 6, 12, 24]) / 24
    rng, truth = np.random.default_rng(4), 100 - 28.8 * visits
    values = truth + rng.normal(0, 5, (2000, 1)) + rng.normal(0, 1.5, (2000, 6))
    facts = PublicFacts(
        value_low=20, value_high=180, design=Design(law="common", times=tuple(visits))
    )
    data = CurveData(
        np.tile(visits, 2000)[None],
        values.reshape(1, -1),
        np.full(2000, 6),
        np.zeros(2000, int),
        facts,
    )
    estimate = AdaptiveMean().release_many(data, [(Budget(1.0, 1e-6),)], 3, generator(1, 1, 0))
    low, high = (
        np.array([np.interp(visits, drawing_grid(), limit) for limit in of_draws])
        for of_draws in (each[0, 0] for each in limits(estimate, estimate.band))
    )
    released = estimate.values(visits)[0, 0]
    assert (np.abs(released - truth) < 5 * 5 / np.sqrt(2000) + 1).all()
    assert ((low < released) & (released < high) & (low < truth) & (truth < high)).all()
    widths = high - low  # everybody was seen at the first and the last visit as at the others
    assert (widths[:, [0, -1]] < 2 * widths[:, [3, 4]].max()).all()
    for draw in range(3):
        curve = ReleasedCurve.of(estimate, facts, draw=draw)
        for visit, mean, below, above in zip(visits, truth, low[draw], high[draw], strict=True):
            value, (least, most) = curve.linear(lambda f, at=visit: f(at))
            assert least < mean + 1 and most > mean - 1  # of one visit alone, 95 %
            assert below <= least + 1e-9 and most <= above + 1e-9
            assert value == pytest.approx(
                float(estimate.on_grid(estimate.band.centre[0, 0, draw], np.array([visit]))[0]),
                abs=1e-6,
            )


def test_settings_of_version_06_are_made_again_with_its_factor_and_its_shrinking():
    """But not where common times do not tell functions apart: that version drew otherwise there."""
    earlier = {name: value for name, value in AdaptiveMean().values().items() if name != "edition"}
    mechanism = AdaptiveMean(**AdaptiveMean.stored(earlier | {"releases": "joint"}))
    data, budget = draw(SparseCurves(n_curves=1000)), (Budget(1.0, 1e-6),)
    now, then = (
        each.release(data, budget, generator(1, 1, 0)) for each in (AdaptiveMean(), mechanism)
    )
    assert then.band.wider == 1.1 and now.band.wider == 1.05
    assert np.array_equal(then.band.centre, now.band.centre)
    assert (then.coefficients == 0).any() and not np.array_equal(
        then.coefficients, now.coefficients
    )
    seldom = SparseCurves(n_curves=1000, times="common", n_observations_per_curve=6)
    with pytest.raises(InputError, match=r"version 0\.6"):
        mechanism.release(draw(seldom), budget, generator(1, 1, 0))


def test_shrinking_helps_a_flat_curve_and_costs_a_steep_one_little():
    """Root mean squared errors, of the same releases as they are and shrunk, over 40 data sets."""
    ratios = {}
    for mean in ("flat", "mu2", "growth", "wiggly"):
        data = draw(SparseCurves(mean=mean, n_curves=500), repeats=40)
        estimate = AdaptiveMean().release(data, (Budget(1.0, 500**-2),), generator(1, 1, 0))
        errors = [
            ((estimate.on_grid(each, drawing_grid()) - data.truth.grid_values) ** 2).mean()
            for each in (estimate.coefficients, estimate.band.centre)
        ]
        ratios[mean] = np.sqrt(errors[0] / errors[1])
    assert ratios["flat"] < 0.6 and ratios["mu2"] < 0.95
    assert max(ratios.values()) < 1.06


def test_a_curve_asked_between_few_common_times_comes_with_a_note_and_tells_no_speed():
    visits = (0.0, 0.1, 0.3, 1.0)
    facts = PublicFacts(design=Design(law="common", times=visits))
    rng = np.random.default_rng(2)
    values = 0.2 + 0.2 * rng.normal(size=(1000, 1)) + 0.05 * rng.normal(size=(1000, 4))
    data = CurveData(
        np.tile(visits, 1000)[None],
        values.reshape(1, -1),
        np.full(1000, 4),
        np.zeros(1000, int),
        facts,
    )
    curve = ReleasedCurve.of(release(data), facts)
    assert BETWEEN_TIMES in curve.notes
    assert curve.refusal_of_derivative(1, 4)


def _people_at_bounds(chance, n=1500, m=30):
    """Yes or no answers at even times, with a chance for each answer."""
    rng = np.random.default_rng(8)
    times = rng.random((1, n * m))
    values = (rng.random((1, n * m)) < chance(times)).astype(float)
    return CurveData(
        times, values, np.full(n, m), np.zeros(n, int), PublicFacts(value_low=0, value_high=1)
    )


def test_answers_at_both_ends_of_their_bounds_are_covered_by_the_band():
    """Nearly every curve is clipped at first, so that released sizes alone tell too little."""
    data = _people_at_bounds(lambda t: 0.5 + 0.1 * np.sin(5 * t))
    estimate = AdaptiveMean().release_many(data, [(Budget(5.0, 1e-6),)], 6, generator(3, 1, 0))
    truth = 0.5 + 0.1 * np.sin(5 * drawing_grid())
    low, high = limits(estimate, estimate.band)
    assert (((low < truth) & (truth < high)).all(axis=-1).sum()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("design", [Design(density=(0.4, 1.6)), Design(law="unknown")])
def test_times_that_are_not_spread_evenly_are_accounted_for(design):
    """40 data sets of 1000 curves with times of density 0.4 + 1.2t; the true curve is 0.5 + t."""
    rng = np.random.default_rng(2)
    u = rng.random((40, 10_000))
    times = (-0.4 + np.sqrt(0.16 + 2.4 * u)) / 1.2
    values = 0.2 + 0.5 * times + 0.2 * rng.normal(size=times.shape)
    truth = Truth.of(lambda t: 0.2 + 0.5 * t)
    data = CurveData(
        times,
        values,
        np.full(1000, 10),
        np.zeros(1000, int),
        PublicFacts(design=design),
        truth=truth,
    )
    error = integrated_squared_errors(release(data, (Budget(2.0, 1e-4),)), truth)
    assert error.total.mean() < 0.002


# -- bands ----------------------------------------------------------------------------------


def test_pointwise_limits_are_196_standard_errors_and_a_single_wave_needs_no_more():
    basis = Basis(1, family="cosine")
    estimate = Estimate(
        "mean_function", basis, np.full((1, 1, 1, 1), 2.0), ((),), np.full((1, 1, 1), 2.0)
    )
    covariance = np.full((1, 1, 1, 1, 1), 0.25)
    low, high = limits(estimate, Band(estimate.coefficients, covariance, "pointwise"))
    assert np.allclose(high, 2 + 1.959964 * 0.5) and np.allclose(low + high, 4)
    factor = simultaneous_factor(covariance, basis(drawing_grid()))
    assert factor == pytest.approx(1.1 * 1.96, rel=0.06)  # 1000 fixed normals


def test_standard_errors_are_those_of_the_quadratic_form():
    rng, waves = np.random.default_rng(1), Basis(4, family="cosine")(drawing_grid())
    root = rng.normal(size=(3, 4, 4))
    covariance = root @ root.swapaxes(1, 2)
    expected = np.sqrt(np.einsum("tp,bpq,tq->bt", waves, covariance, waves))
    assert np.allclose(standard_errors(covariance, waves), expected)


def test_the_same_release_has_the_same_band_and_a_simultaneous_one_is_wider():
    data = draw()
    one, again = release(data), release(data)
    assert (one.lower == again.lower).all()
    pointwise = release(data, band="pointwise")
    assert (pointwise.coefficients == one.coefficients).all()
    assert (one.upper - one.lower > pointwise.upper - pointwise.lower).all()
    assert release(data, band="none").band is None


def test_the_band_is_around_what_was_released_before_it_was_shrunk():
    data = draw(SparseCurves(n_curves=1000))
    plain, shrunk = (release(data, shrink=how) for how in ("never", "always"))
    assert (plain.lower == shrunk.lower).all()
    assert (plain.coefficients != shrunk.coefficients).any()
    values = plain.values(drawing_grid())
    assert (plain.lower < values).all() and (values < plain.upper).all()
    assert (plain.band.centre == plain.coefficients).all()


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_bands_reach_a_curve_that_starts_and_ends_steeply(kind):
    """Cosines are flat at both ends: the best curve with those that are kept is far off there."""
    source = SparseCurves(mean="growth", n_curves=2000)
    data, budgets = draw(source, repeats=10), [(Budget(epsilon, 1e-6),) for epsilon in (1.0, 3.0)]
    estimate = AdaptiveMean(band=kind).release_many(data, budgets, 1, generator(1, 1, 0))
    covered = coverage(estimate, data.truth).of_curve
    assert (covered.mean(axis=(1, 2)) > 0.9).all()
    start, kept = data.truth.grid_values[0], best_kept(estimate, data.truth)[..., 0]
    assert (kept > start + 1.5).all()  # cm
    assert ((estimate.lower[..., 0] < start) & (start < estimate.upper[..., 0])).mean() > 0.9


def test_a_curve_with_more_turns_than_few_functions_draw_comes_with_a_warning():
    """The band misses it; curves that the functions do draw are told apart by the release itself."""
    for mean, is_told in (("wiggly", True), ("line", False)):
        data = draw(SparseCurves(mean=mean, n_curves=250), repeats=20)
        estimate = AdaptiveMean().release(data, (Budget(1.0, 250**-2),), generator(1, 1, 0))
        assert estimate.basis_sizes == (8,)
        told = [caution.applies for caution in estimate.cautions if caution.text == FEATURES]
        assert (np.any(told or [np.zeros(20)], axis=0) == is_told).all()
        assert (coverage(estimate, data.truth).of_curve.mean() < 0.9) == is_told


def test_the_band_without_protection_holds_the_curve_as_often_as_it_says():
    """400 data sets, the whole curve of three known waves; five standard errors are 5.4 points."""
    data = draw(repeats=400)
    estimate = AdaptiveMean(basis="fourier", truncation=3).without_protection(data)
    held = coverage(estimate, data.truth).of_kept.mean()
    print(f"held {held:.3f}")
    assert 0.95 - 0.054 < held < 1


def test_what_a_band_relies_on_follows_from_what_is_stated_of_people():
    symmetric, skewed = (SparseCurves(deviation_tails=law).facts for law in ("normal", "groups"))
    stated, unstated = (AdaptiveMean().limit_of_band(facts) for facts in (symmetric, skewed))
    assert unstated and stated.startswith(unstated) and stated != unstated
    for clipping, facts in (("tight", skewed), ("moderate", symmetric)):
        assert AdaptiveMean(clipping=clipping).limit_of_band(facts) == unstated


# -- curves that end where they began ---------------------------------------------------------


def real_day(n_curves=200, seed=1, **stated):
    """Curves of a simulated day as if they were real, and their true mean."""
    data = draw(
        GlucoseDays(n_curves=n_curves, times="even", n_observations_per_curve=24), seed=seed
    )
    facts = replace(data.facts, kind="upload", **stated)
    return replace(data, facts=facts, truth=None), data.truth


def test_a_stated_period_gives_both_ends_of_the_day_one_value_and_a_narrower_band():
    data, truth = real_day()
    periodic, other = (
        release(replace(data, facts=replace(data.facts, periodic=stated)))
        for stated in (True, False)
    )
    start, end = (float(each) for each in periodic.values(np.array([0.0, 1.0])).ravel())
    assert start == pytest.approx(end) and not np.allclose(
        *other.values(np.array([0.0, 1.0])).ravel()
    )
    (low, high), (wide_low, wide_high) = (
        [each[0, 0, 0] for each in limits(estimate, estimate.band)]
        for estimate in (periodic, other)
    )
    assert (high - low)[0] < 0.6 * (wide_high - wide_low)[0]
    assert ((low <= truth.grid_values) & (truth.grid_values <= high)).all()


def test_a_stated_period_is_used_whatever_is_known_of_observation_times():
    data, _ = real_day(design=Design(law="unknown"))
    assert release(data).basis.family == "fourier"
    learned = release(real_day()[0], design="unknown")
    assert learned.basis.family == "cosine" and np.isfinite(learned.coefficients).all()


def test_a_basis_that_was_chosen_stays_whatever_is_stated():
    assert release(real_day()[0], basis="cosine").basis.family == "cosine"


def test_simulated_and_public_curves_keep_the_basis_of_all_stored_results():
    for source in (CURVES, SeaTemperature()):
        assert source.facts.periodic and release(draw(source)).basis.family == "cosine"


def test_settings_that_were_stored_before_the_rule_stand_for_cosines():
    earlier = {name: value for name, value in AdaptiveMean().values().items() if name != "basis"}
    assert AdaptiveMean(**AdaptiveMean.stored(earlier)).basis == "cosine"


def test_common_times_at_both_ends_of_a_period_tell_as_much_as_one():
    stated = Design.common((0.0, 0.25, 0.5, 0.75, 1.0))
    assert are_told_apart(Basis(3, family="fourier"), stated) and not are_told_apart(
        Basis(5, family="fourier"), stated
    )
    assert are_told_apart(Basis(5, family="cosine"), stated)
    data, _ = real_day(design=stated)
    times = np.resize(stated.times, data.times.shape)
    found = release(replace(data, times=times), truncation=5)
    assert np.isfinite(found.coefficients).all()
    assert np.ptp(found.values(np.array([0.0, 1.0]))) < 1e-9  # a period ends where it began
