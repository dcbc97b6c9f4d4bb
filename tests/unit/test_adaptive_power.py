"""What a release would not show: told by a check, or said, or shown with power."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Budget, Caution
from engine.mechanisms import adaptive_coefficients
from engine.mechanisms.adaptive_coefficients import AdaptiveCoefficients
from engine.mechanisms.adaptive_mean import FEATURES, AdaptiveMean
from engine.mechanisms.families.adaptive import power
from engine.mechanisms.families.adaptive.power import EMPTY_ENDS, LONG_TAILS, NARROW_FEATURES
from engine.release.uncertainty import band_of
from engine.sources.coefficient_curves import CoefficientCurves
from engine.sources.sparse_curves import SparseCurves
from engine.topics.coverage import table as coverage_table
from tests.heavy import few


def released(source, epsilon, repeats, **chosen):
    data = source.draw(repeats, generator(3, 0, 0))
    budget = Budget(epsilon, source.n_curves**-2.0)
    return AdaptiveMean(**chosen).release_many(data, [(budget,)], 1, generator(3, 1, 0))


def told_of_narrow_features(estimate):
    told = np.zeros(estimate.coefficients.shape[:3], dtype=bool)
    for caution in estimate.cautions:
        told |= caution.applies & (caution.text == FEATURES)
    return told


@pytest.mark.parametrize(("mean", "n", "epsilon"), few([
    ("drop", 250, 1.0), ("peak", 250, 0.5), ("drop", 250, 0.5), ("peak", 250, 1.0),
    ("drop", 1000, 1.0), ("peak", 1000, 1.0), ("drop", 2000, 1.0), ("drop", 4000, 4.0)], 2))
def test_a_release_tells_of_a_narrow_feature_or_says_that_it_would_not(mean, n, epsilon):
    """Bands hold none of these curves."""
    estimate = released(SparseCurves(mean=mean, n_curves=n, n_observations_per_curve=8), epsilon,
                        40 if n > 250 else 20)
    told, says = told_of_narrow_features(estimate), estimate.lacks_power_for(NARROW_FEATURES)
    assert (told ^ says).all()  # one of both


def test_a_release_of_many_people_with_much_budget_has_nothing_to_say():
    estimate = released(SparseCurves(n_curves=4000, n_observations_per_curve=8), 4.0, 1)
    assert not any(caution.low_power_for for caution in estimate.cautions)


@pytest.mark.parametrize(("n", "epsilon", "observations", "is_said"), few([
    (2000, 2.0, 3, True), (2000, 2.0, 8, False), (1000, 1.0, 8, True)], 2))
def test_whether_times_are_even_as_stated_is_said_to_be_hidden_where_it_is(
        n, epsilon, observations, is_said):
    curves = SparseCurves(n_curves=n, n_observations_per_curve=observations)
    assert (released(curves, epsilon, 2).lacks_power_for(EMPTY_ENDS) == is_said).all()
    uneven = replace(curves, times="density", time_density="1, 2")
    assert not released(uneven, epsilon, 1).lacks_power_for(EMPTY_ENDS).any()


def test_one_sentence_names_all_that_a_release_would_not_show():
    applies = np.array([[[True, True, False]], [[False, True, False]]])
    cautions = list(power.cautions((
        power.Unshown("peaks", ("peaks of 1", "peaks of 2"), applies),
        power.Unshown("ends", ("ends", "ends"), np.array([[[False, True, True]]] * 2)))))
    sentences = sum(caution.applies.astype(int) for caution in cautions)
    assert sentences.tolist() == [[[1, 1, 1]], [[0, 1, 1]]]
    for caution in cautions:
        assert ("peaks" in caution.text) == ("peaks" in caution.low_power_for)
        assert not (caution.applies[1].any() and "peaks of 1" in caution.text)


def test_what_a_release_would_not_show_is_no_doubt_about_it():
    estimate = released(SparseCurves(n_curves=250), 1.0, 1)
    says = Caution("…", np.ones((1, 1, 1), dtype=bool), low_power_for=("peaks",))
    silent, doubted = (replace(estimate, cautions=(caution,))
                       for caution in (says, replace(says, low_power_for=())))
    assert not silent.is_doubted.any() and not silent.warnings and silent.not_shown == "…"
    assert doubted.is_doubted.all() and doubted.warnings and not doubted.not_shown
    assert silent.usually_not_shown(0) == "…" and not doubted.usually_not_shown(0)


def test_what_a_release_would_not_show_stands_with_its_band_where_it_is_published():
    estimate = released(SparseCurves(n_curves=250), 1.0, 1)
    ends = [(np.zeros(101), np.ones(101))]
    band = band_of(estimate, ends, drawing_grid(), "It relies on symmetry.")
    assert band.limit.startswith("It relies") and band.limit.endswith(estimate.not_shown)


def test_coverage_counts_a_release_apart_only_for_what_its_data_have():
    setting = coverage_table.CurveSetting(
        "drop", SparseCurves(mean="drop", n_observations_per_curve=8), AdaptiveMean(), 0.5)
    counted = coverage_table.measured(setting, 4, seed=1)
    apart = coverage_table.measured(replace(setting, hard_to_see=NARROW_FEATURES), 4, seed=1)
    assert counted.not_shown == apart.not_shown == 1 - counted.warned
    assert not counted.holds and apart.holds


@pytest.mark.parametrize(("n", "is_said"), [(300, True), (2000, False)])
def test_long_tails_are_said_to_be_hidden_unless_people_are_stated_to_be_symmetric(n, is_said):
    skewed = SparseCurves(n_curves=n, n_observations_per_curve=8, deviation_tails="skewed")
    assert (released(skewed, 2.0, 1).lacks_power_for(LONG_TAILS) == is_said).all()
    symmetric = replace(skewed, deviation_tails="normal")
    assert not released(symmetric, 2.0, 1).lacks_power_for(LONG_TAILS).any()


@pytest.mark.parametrize(("n", "epsilon", "repeats"), few([(600, 4.0, 3), (2000, 3.0, 20)], 1))
def test_an_effect_that_falls_at_once_is_told_of_or_said_to_be_hidden(n, epsilon, repeats):
    curves = CoefficientCurves(n_curves=n, n_covariates=1, n_observations_per_curve=8)
    data, budget = curves.draw(repeats, generator(3, 0, 0)), Budget(epsilon, n**-2.0)
    of_effect = np.repeat(data.covariates[..., 0], data.counts, axis=1)
    falling = replace(data, values=data.values + 8 / 3 * np.exp(-data.times / 0.02) * of_effect)
    estimate = AdaptiveCoefficients(basis="cosine").release_many(
        falling, [(budget,)], 1, generator(3, 1, 0))
    told = sum(caution.applies for caution in estimate.cautions if caution.text == adaptive_coefficients.FEATURES)
    assert (told + estimate.lacks_power_for(NARROW_FEATURES) == 1).all()
