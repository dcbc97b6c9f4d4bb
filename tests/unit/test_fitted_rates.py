"""Rates with fitted constants: what a fit recovers, what it says of itself, and what it never does.

Properties hold for every registered rate whose constants are left out.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.rates import rates
from engine.rates.differing_sites import DifferingCoefficientsRate, DifferingMeanRate
from engine.rates.fitted import Weighted, fit, of_problem, public_point
from engine.rates.functional_mean import FunctionalMeanRate
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import Twin
from engine.topics.rates import words
from engine.topics.rates.beside import FITTED, LOWER, beside_errors, simulated_errors
from tests.heavy import few

EPSILONS = np.geomspace(0.01, 10.0, 9)
BARE = [cls for cls in rates.all() if not cls.has_constants]
SEPARABLE = [cls for cls in BARE if not cls.has_differing_sites]
DIFFERING = (DifferingMeanRate, DifferingCoefficientsRate)


def points(rate):
    """Every ε, at a place where privacy and all else both show."""
    here = {name: value for name, value in rate.at().items() if name != "epsilon"}
    return {**{name: float(value) for name, value in here.items()}, "epsilon": EPSILONS}


@pytest.mark.parametrize("cls", BARE, ids=lambda cls: cls.key)
def test_constants_of_one_leave_a_rate_as_it_is_and_larger_ones_never_make_it_smaller(cls):
    rate = cls()
    here, plain = points(rate), rate.evaluate(**points(rate))
    np.testing.assert_allclose(rate.weighed(1.0, 1.0, **here), plain, rtol=1e-12)
    whole = plain.sum(axis=0)
    for constants in ((3.0, 1.0), (1.0, 3.0), (2.0, 5.0)):
        assert (rate.weighed(*constants, **here).sum(axis=0) >= whole * (1 - 1e-12)).all()


@pytest.mark.parametrize("cls", few(BARE, 6), ids=lambda cls: cls.key)
def test_a_fit_runs_through_errors_that_are_the_rate_with_two_constants(cls):
    rate = cls()
    here = points(rate)
    sizes = rate.weighed(0.3, 40.0, **here).sum(axis=0)
    fitted = fit(rate, here, sizes)
    if np.ptp(np.log(rate.evaluate(**here).sum(axis=0))) < 0.01:
        assert fitted is None  # ε does not move it
        return
    np.testing.assert_allclose(fitted.squares(**here), sizes, rtol=1e-3)
    assert fitted.largest_deviation < 1e-3
    assert fitted.ranges == {"epsilon": (EPSILONS[0], EPSILONS[-1])}


@pytest.mark.parametrize("cls", few(SEPARABLE, 5), ids=lambda cls: cls.key)
def test_errors_in_another_unit_have_the_same_fit_in_that_unit(cls):
    rate, rng = cls(), np.random.default_rng(5)
    here = points(rate)
    errors = rate.weighed(2.0, 7.0, **here).sum(axis=0) * rng.uniform(0.7, 1.4, len(EPSILONS))
    fitted, in_mm = fit(rate, here, errors), fit(rate, here, 100 * errors)
    if fitted is None:
        assert in_mm is None
        return
    np.testing.assert_allclose(in_mm.squares(**here), 100 * fitted.squares(**here), rtol=1e-4)
    assert in_mm.largest_deviation == pytest.approx(fitted.largest_deviation, rel=1e-3)


def test_privacy_and_all_else_get_constants_of_their_own():
    rate = FunctionalMeanRate()
    here = points(rate)
    fitted = fit(rate, here, rate.weighed(0.5, 60.0, **here).sum(axis=0))
    assert fitted.weighted.statistical == pytest.approx(0.5, rel=1e-4)
    assert fitted.weighted.private == pytest.approx(60.0, rel=1e-4)
    free = FunctionalMeanRate(privacy="none")
    people = {**here, "epsilon": 1.0, "n": np.array([50.0, 100.0, 900.0])}
    alone = fit(free, people, 4 * free.total(**people))
    assert alone.weighted.statistical == pytest.approx(4) and alone.weighted.private == 1
    assert not alone.is_two_constants and fitted.is_two_constants


def test_a_fit_says_how_far_its_farthest_error_is():
    rate = FunctionalMeanRate()
    here = points(rate)
    errors = 3 * rate.total(**here)
    errors[4] *= 4  # twice the distance
    fitted = fit(rate, here, errors)
    off = np.sqrt(errors / fitted.squares(**here))
    np.testing.assert_allclose(fitted.off, off)
    assert 1 + fitted.largest_deviation == pytest.approx(max(off.max(), 1 / off.min()))
    assert 1.4 < 1 + fitted.largest_deviation < 2.1


def test_nothing_is_fitted_to_too_few_errors_or_where_the_rate_does_not_move():
    rate = FunctionalMeanRate()
    here = points(rate)
    errors = rate.total(**here)
    errors[2:] = np.nan  # nothing published
    assert fit(rate, here, errors) is None
    assert fit(rate, {**here, "epsilon": np.ones(5)}, np.arange(1.0, 6.0)) is None


# -- bounds that share their constants ------------------------------------------------------------


@pytest.mark.parametrize("cls", few(DIFFERING), ids=lambda cls: cls.key)
def test_the_lower_bound_with_the_fitted_constants_is_below_the_fit_at_any_rounds(cls):
    rng = np.random.default_rng(3)
    for _ in range(3):
        rate = cls(people_ratio=10 ** rng.uniform(0, 3), budget_ratio=10 ** rng.uniform(0, 3))
        below = replace(rate, bound="lower")
        here = {**points(rate), "T": 10 ** rng.uniform(0, 3), "m": 10 ** rng.uniform(0, 3)}
        errors = 10 ** rng.uniform(-3, 1) * EPSILONS ** -rng.uniform(0.2, 2.5) + rng.uniform(0, 0.1)
        fitted = fit(rate, here, errors)
        assert (fitted.bound(below, **here) <= fitted.squares(**here) * (1 + 1e-9)).all()
        for constants in ((1e-3, 1e3), (1e3, 1e-3)):
            over, under = (which.weighed(*constants, **here).sum(axis=0) for which in (rate, below))
            assert (under <= over * (1 + 1e-9)).all()


@pytest.mark.parametrize("cls", DIFFERING, ids=lambda cls: cls.key)
def test_a_share_of_privacy_is_met_where_constants_stand_within_sums(cls):
    rate = cls(people_ratio=1.0, budget_ratio=1.0)
    weighted = Weighted.with_privacy_share(rate, 0.4, n=200.0, m=10.0, S=4.0, epsilon=0.05, T=1.0)
    assert weighted.private > 0 and weighted.statistical == 1


def test_constants_are_found_where_a_large_one_leaves_nothing_without_privacy():
    rate = DifferingMeanRate(people_ratio=1.0, budget_ratio=10.0)
    point = {"n": 50.0, "m": 5.0, "S": 100.0, "epsilon": 1.0, "T": 4.0}
    assert Weighted(rate, private=math.exp(60)).parts(**point)[1] == 0
    weighted = Weighted.with_privacy_share(rate, 0.5, **point)
    assert weighted.shares(**point).sum() == pytest.approx(1) and 0 < weighted.private < math.exp(
        60
    )


# -- beside a study -------------------------------------------------------------------------------


CURVES = SparseCurves(n_curves=300, n_observations_per_curve=10)


def test_sites_of_different_sizes_have_their_own_rate_and_others_that_of_alike_sites():
    assert isinstance(of_problem(MEAN_FUNCTION.key, CURVES), FunctionalMeanRate)
    twin = Twin.of(CURVES.facts, replace(CURVES.sizes, n_curves_per_server=(200, 60, 40)))
    rate = of_problem(MEAN_FUNCTION.key, twin)
    assert isinstance(rate, DifferingMeanRate) and rate.people_ratio == 5.0
    point = public_point(rate, twin, Budget(1.0, 1e-6))
    assert point["n"] == 100.0 and point["S"] == 3.0


def test_both_bounds_stand_beside_the_errors_of_sites_that_differ():
    twin = Twin.of(CURVES.facts, replace(CURVES.sizes, n_curves_per_server=(200, 60, 40)))
    errors = np.sqrt(0.01 + 0.05 / EPSILONS)
    shown = beside_errors(MEAN_FUNCTION.key, twin, AdaptiveMean(), 1e-6, EPSILONS, errors)
    assert set(shown.lines) == {FITTED, LOWER}
    assert (shown.lines[LOWER] <= shown.lines[FITTED] * (1 + 1e-9)).all()


def test_a_rate_is_drawn_over_what_it_was_fitted_to_and_nowhere_else():
    errors = np.where(EPSILONS < 0.1, np.nan, np.sqrt(0.01 + 0.05 / EPSILONS))
    shown = beside_errors(MEAN_FUNCTION.key, CURVES, AdaptiveMean(), 1e-6, EPSILONS, errors)
    assert (np.isfinite(shown.lines[FITTED]) == np.isfinite(errors)).all()
    result = words.fitted(shown.fitted)
    low, high = shown.fitted.ranges["epsilon"]
    assert f"{low:g}" in result and f"{high:g}" in result


@pytest.mark.slow
def test_the_rate_follows_the_errors_of_a_twin_that_was_made_of_sizes_and_facts():
    twin = Twin.of(CURVES.facts, CURVES.sizes)
    epsilons, errors = simulated_errors(twin, AdaptiveMean(), 1e-5, 1)
    shown = beside_errors(MEAN_FUNCTION.key, twin, AdaptiveMean(), 1e-5, epsilons, errors)
    assert shown.fitted.largest_deviation < 0.5
    assert simulated_errors(Twin.of(CURVES.facts, CURVES.sizes), AdaptiveMean(), 1e-5, 1)[
        1
    ] == pytest.approx(errors, nan_ok=True)
