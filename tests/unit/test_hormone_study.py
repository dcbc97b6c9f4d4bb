"""The synthetic hormone study: its truth, its visits, and what knowing of them does for the fit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Design, PublicFacts
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive.constants import Constants
from engine.numerics.bases import Basis
from engine.numerics.deviations import mean_slopes_inverse, weighted_within_curves
from engine.numerics.moments import curve_moments
from engine.numerics.observation_times import draw_times, visit_times
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.sources import sources
from engine.sources.hormone_study import HormoneStudy, mean_reading
from tests.heavy import few

pytestmark = pytest.mark.usefixtures("few_data_sets")

STUDY = HormoneStudy()


def drawn(repeats=1, seed=1, **chosen):
    return HormoneStudy(**chosen).draw(repeats, np.random.default_rng(seed))


def test_it_stands_between_the_simulated_and_the_bundled_curves():
    order = [cls.key for cls in sources.for_task("mean_function")]
    mine = order.index("hormone_study")
    assert order[mine - 1 : mine + 2] == ["grouped_curves", "hormone_study", "airport_temperature"]
    assert STUDY.is_random and STUDY.facts.kind == "simulated"
    assert "synthetic" in STUDY.facts.name and "synthetic" in (HormoneStudy.__doc__ or "").lower()


@pytest.mark.slow
def test_the_mean_of_readings_at_each_age_is_the_truth():
    """1.2 million women in 34 bins of half a year; 5 standard errors, over women, in each."""
    repeats, bins = 1800, 34
    totals, squares, sizes = np.zeros(bins), np.zeros(bins), np.zeros(bins)
    for seed in range(3):
        data = drawn(repeats // 3, seed)
        age = data.facts.from_unit_time(data.times.ravel())
        off = data.values.ravel() - np.interp(age, *_truth_lines())
        place = ((age - 46) * 2).astype(int)
        totals += np.bincount(place, off, bins)
        squares += np.bincount(place, off**2, bins)
        sizes += np.bincount(place, minlength=bins)
    # a bin holds at most one reading of a woman, so readings in it are independent
    error = np.sqrt(squares / sizes / sizes)
    assert sizes.sum() == 678 * 6 * repeats and sizes.min() > 30_000
    assert (np.abs(totals / sizes) < 5 * error).all()


def _truth_lines():
    ages = np.linspace(46, 63, 3401)
    return ages, mean_reading(ages)


def test_the_truth_falls_after_fifty_and_lies_inside_the_bounds():
    truth = STUDY.truth.grid_values
    assert (np.diff(truth) < 0).all()
    assert truth[0] > 3 * truth[-1] and truth[-1] > 0 and truth[0] < 500


def test_readings_are_skewed_to_the_right_inside_the_bounds():
    values = drawn(20).values
    assert values.min() > 0 and values.max() <= 500
    standard = (values - values.mean()) / values.std()
    assert (standard**3).mean() > 1


def test_six_visits_about_a_year_apart_lie_inside_the_ages():
    data = drawn(20)
    ages = data.facts.from_unit_time(data.times).reshape(-1, 6)
    assert ages.min() >= 46 and ages.max() <= 63
    assert (np.abs(np.diff(ages, axis=1) - 1) <= 0.2 + 1e-9).all()
    assert (data.counts == 6).all() and data.n_curves == 678


def test_many_visits_come_closer_together_and_too_many_at_one_distance_are_refused():
    data = drawn(n_visits=40, n_curves=50)
    assert data.times.min() >= 0 and data.times.max() <= 1
    assert data.facts.visit_gap < STUDY.facts.visit_gap
    with pytest.raises(InputError, match="do not fit"):
        visit_times(10, 40, STUDY.facts.visit_gap, np.random.default_rng(1))


def test_the_same_seed_gives_the_same_women_and_another_gives_others():
    one, again, other = drawn(2), drawn(2), drawn(2, seed=2)
    assert (one.values == again.values).all() and (one.times == again.times).all()
    assert (one.values != other.values).all()
    assert (one.values[0] != one.values[1]).all()


@pytest.mark.parametrize("n_servers", [1, 4])
def test_sizes_are_known_before_a_draw(n_servers):
    study = HormoneStudy(n_servers=n_servers)
    assert study.sizes == drawn(n_servers=n_servers).sizes
    assert study.sizes.n_curves == 678
    resized = study.resized(100, 8, 3)
    assert resized.sizes.n_curves_per_server == (100, 100, 100)
    assert resized.sizes.n_observations == 2400


def test_more_sites_than_women_are_refused():
    with pytest.raises(InputError, match="Take fewer sites") as refused:
        HormoneStudy(n_curves=3, n_servers=4)
    assert refused.value.field == "n_servers"


# -- the law of the times -------------------------------------------------------------------


def test_without_a_gap_simulated_times_are_what_they_were():
    expected = np.random.default_rng(3).random((20, 6))
    assert (draw_times(Design(), 20, 6, np.random.default_rng(3)) == expected).all()
    assert PublicFacts().visit_gap == 0


def test_curves_are_the_identity_on_average_over_fresh_visits():
    """E T_i = I within 5 standard errors: of 60 000 women, and of the 4000 designs behind A."""
    basis, gap, women, designs = Basis(8, family="cosine"), STUDY.facts.visit_gap, 60_000, 4000
    times = visit_times(women, 6, gap, np.random.default_rng(5)).reshape(1, -1)
    counts = np.full(women, 6)
    moments = curve_moments(times, np.zeros_like(times), counts, basis)
    ((_, found),) = weighted_within_curves(moments, counts, {8}, Design.visits(gap))
    slopes = found.slopes[0].swapaxes(0, 1)
    error = slopes.std(axis=2) * np.sqrt(1 / women + 1 / designs)
    assert (np.abs(slopes.mean(axis=2) - np.eye(8)) < 5 * error).all()


def test_the_declared_gap_reaches_the_fit():
    gap = STUDY.facts.visit_gap
    assert AdaptiveMean().law_of_times(STUDY.facts) == Design.visits(gap)
    basis = Basis(4, family="cosine")
    assert not np.allclose(
        mean_slopes_inverse(basis, 6, Design.visits(gap)),
        mean_slopes_inverse(basis, 6, Design()),
        rtol=0.1,
    )


@pytest.mark.parametrize("epsilon", few([1.0, 3.0, 8.0]))
def test_declared_visits_err_less_than_times_taken_for_independent(epsilon):
    """On the same 40 data sets with the same noise, by more than 5 standard errors."""
    data, budget = drawn(40), (Budget(epsilon, 1 / 678**2),)
    blind = replace(data, facts=replace(data.facts, design=Design()))
    errors = [
        integrated_squared_errors(
            AdaptiveMean().release_many(one, [budget], 1, np.random.default_rng(2)), data.truth
        ).total[0, :, 0]
        for one in (data, blind)
    ]
    gain = errors[1] - errors[0]
    assert gain.mean() > 5 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_stated_visits_cost_nothing_and_unknown_ones_are_paid_for():
    data, budget = drawn(), (Budget(3.0, 1 / 678**2),)
    stated, unknown = (
        AdaptiveMean(design=design).release(data, budget, np.random.default_rng(2))
        for design in ("checked", "unknown")
    )
    assert len(unknown.spends[0]) == len(stated.spends[0]) + 1


# -- clipping on such visits ----------------------------------------------------------------


def test_the_last_step_clips_tightly_only_where_people_are_stated_to_be_symmetric():
    sizes, mechanism = STUDY.sizes, AdaptiveMean()
    symmetric = replace(STUDY.facts, design=Design(), symmetric=True)
    assert mechanism.clipping_constants(sizes, 1000, symmetric, False) == Constants()
    assert mechanism.clipping_constants(sizes, 1000, symmetric, True).final_width == 2
    for is_joint in (False, True):
        for facts in (
            STUDY.facts,
            replace(symmetric, design=Design.visits(0.1)),
            replace(symmetric, design=Design(law="windows", window=0.2)),
        ):
            assert mechanism.clipping_constants(sizes, 1000, facts, is_joint).final_width > 12
        assert (
            AdaptiveMean(design="unknown")
            .clipping_constants(sizes, 1000, symmetric, is_joint)
            .final_width
            > 12
        )
        skewed = replace(symmetric, symmetric=False)
        moderate, wide = (
            mechanism.clipping_constants(sizes, 1000, facts, is_joint).final_width
            for facts in (skewed, STUDY.facts)
        )
        assert 6 < moderate < wide / 2
        once = replace(sizes, fewest_per_curve=1)
        assert mechanism.clipping_constants(once, 1000, skewed, is_joint).final_width == wide
    assert (
        AdaptiveMean(clipping="tight").clipping_constants(sizes, 1000, STUDY.facts, False)
        == Constants()
    )


def test_the_last_step_of_joint_releases_clips_wider_the_more_people_there_are():
    symmetric = replace(STUDY.facts, design=Design(), symmetric=True)
    widths = [
        AdaptiveMean().clipping_constants(STUDY.sizes, n, symmetric, True).final_width
        for n in (10, 99, 200, 400, 1000, math.inf)
    ]
    assert widths[:2] == [1, 1] and widths == sorted(widths) and widths[-2:] == [2, 2]
    assert widths[2] == pytest.approx(2**0.4, rel=0.1)


def test_releases_are_joint_unless_tight_clipping_was_chosen_for_people_who_may_be_skewed():
    symmetric, budget = replace(STUDY.facts, symmetric=True), (Budget(1.0, 1e-6),)
    assert AdaptiveMean().is_joint(STUDY.facts, budget)
    assert AdaptiveMean().is_joint(symmetric, budget)
    assert not AdaptiveMean(clipping="tight").is_joint(STUDY.facts, budget)
    assert AdaptiveMean(clipping="tight").is_joint(symmetric, budget)
    assert not AdaptiveMean().is_joint(symmetric, (Budget(1.0, 1e-6), Budget(1.0)))


@pytest.mark.parametrize(("clipping", "least"), [("moderate", 6.0), ("wide", 12.0)])
def test_clipping_for_skewed_people_is_wider_for_larger_studies(clipping, least):
    widths = [
        AdaptiveMean(clipping=clipping)
        .clipping_constants(STUDY.sizes, n, STUDY.facts, True)
        .final_width
        for n in (10, 170, 1000, 4000, math.inf)
    ]
    assert widths[:2] == [least, least] and widths == sorted(widths) and widths[-1] == least * 64


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", few([3.0, 8.0]))
def test_wide_clipping_errs_less_on_skewed_visits_than_tight_clipping(epsilon):
    data, budget = drawn(40), (Budget(epsilon, 1 / 678**2),)
    errors = [
        integrated_squared_errors(
            AdaptiveMean(clipping=clipping).release_many(
                data, [budget], 1, np.random.default_rng(2)
            ),
            data.truth,
        ).total[0, :, 0]
        for clipping in ("wide", "tight")
    ]
    gain = errors[1] - errors[0]
    assert gain.mean() > 5 * gain.std(ddof=1) / np.sqrt(len(gain))


@pytest.mark.slow
def test_the_band_holds_the_best_curve_with_the_kept_waves_where_it_used_to_miss_it():
    """Pointwise, over 100 data sets: at least .9 at each budget; .60 at ε = 8 if clipped tightly, unchecked."""
    data = drawn(100)
    budgets = [(Budget(e, 1 / 678**2),) for e in (1.0, 3.0, 8.0)]

    def covered(**chosen):
        estimate = AdaptiveMean(band="pointwise", **chosen).release_many(
            data, budgets, 1, np.random.default_rng(2)
        )
        return coverage(estimate, data.truth).of_kept.mean(axis=(1, 2))

    assert (covered() > 0.9).all()
    assert covered(clipping="tight", design="stated")[-1] < 0.7


def test_women_at_listed_sites_do_not_depend_on_the_other_sites():
    one = HormoneStudy(site_sizes="97, 96, 50").draw(1, generator(1, 0, 0))
    other = HormoneStudy(site_sizes="97, 10").draw(1, generator(1, 0, 0))
    assert one.sizes.n_curves_per_server == (97, 96, 50)
    assert (one.of_servers([0]).values == other.of_servers([0]).values).all()
    with pytest.raises(InputError, match="as many visits"):
        HormoneStudy().with_sites([10, 10], [6, 5])
    assert HormoneStudy().with_sites([10, 20], [6, 6]).sizes.n_curves == 30
