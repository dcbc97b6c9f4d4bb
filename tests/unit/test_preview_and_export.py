"""What a picture shows, and what may be taken away from it."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import Budget
from engine.exports import files as export
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.privacy import accounting
from engine.rates.functional_mean import FunctionalMeanRate
from engine.simulation import scenario
from engine.simulation.experiments import Run
from engine.sources.bundled import SeaTemperature
from engine.sources.sparse_curves import SparseCurves
from engine.sources.twin import studied
from engine.topics.mean.answer import (
    EPSILON_STEPS,
    mean_over_budgets,
    other_methods,
    simulated_study,
    with_budget,
)
from engine.topics.mean.charts import curve
from engine.uploads.proposing.content import Content
from engine.uploads.proposing.framing import framed

pytestmark = pytest.mark.usefixtures("few_data_sets")

SOURCE = SparseCurves(n_curves=100, n_observations_per_curve=8)
METHOD = NoisyGradientMean()
DELTA = 1e-4
SHOWN = mean_over_budgets(SOURCE, METHOD, DELTA, seed=3)


def test_every_step_of_the_slider_is_there_at_once():
    steps = len(EPSILON_STEPS)
    assert SHOWN.releases.shape == (steps, 20, 101)
    assert SHOWN.noise_low.shape == SHOWN.noise_high.shape == (steps, 101)
    assert SHOWN.study.errors.shape == (steps, 100)
    assert (SHOWN.noise_low <= SHOWN.noise_high).all()


def test_the_typical_error_falls_with_the_budget():
    assert SHOWN.study.error[0] > 5 * SHOWN.study.error[-1]
    assert SHOWN.study.error[-1] > SHOWN.study.baseline


def test_shares_of_the_error_add_up_and_noise_gives_way():
    assert np.allclose(SHOWN.study.shares.sum(axis=1), 1)
    assert SHOWN.study.shares[0, 0] > 0.9
    assert (np.diff(SHOWN.study.shares[:, 0]) < 0.05).all()


def test_the_risk_of_the_picture_is_that_of_its_noise():
    for budget, spends in zip(SHOWN.budgets, SHOWN.spends, strict=True):
        assert accounting.total_mu(spends) == pytest.approx(
            accounting.exact_mu(budget.epsilon, DELTA), rel=1e-9
        )


def test_the_sampling_range_covers_the_truth_nineteen_times_in_twenty():
    """400 data sets, at the middle of the curve; five standard errors are 5.4 points."""
    data = SOURCE.draw(400, np.random.default_rng(0))
    estimate = METHOD.without_protection(data)
    truth = data.truth.grid_values[50]
    low, high = (bound[0, :, 0, 50] for bound in (estimate.lower, estimate.upper))
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.054)


def test_errors_of_real_curves_are_those_of_their_twin_and_no_distances_from_their_mean():
    result = mean_over_budgets(SeaTemperature(), METHOD, DELTA, 1, [1.0, 10.0])
    budgets = [Budget(epsilon, DELTA) for epsilon in (1.0, 10.0)]
    twin = simulated_study(studied(SeaTemperature()), METHOD, budgets, 1)
    np.testing.assert_array_equal(result.study.errors, twin.errors)
    assert result.truth is None
    assert result.from_own_mean.shape == (2,)
    assert not np.isclose(result.from_own_mean, result.study.error, rtol=0.01).any()
    assert mean_over_budgets(SOURCE, METHOD, DELTA, 1, [1.0, 10.0]).from_own_mean is None


def test_sizes_beyond_a_picture_are_refused_with_their_limit():
    with pytest.raises(InputError, match="at most 2,000,000"):
        mean_over_budgets(
            SparseCurves(n_curves=100_000, n_observations_per_curve=30), METHOD, DELTA, 1
        )


def test_large_data_sets_are_released_more_often_instead_of_drawn_again():
    big = SparseCurves(n_curves=2000, n_observations_per_curve=100)
    study = simulated_study(big, METHOD, [Budget(1.0, DELTA)], 1)
    assert study.errors.shape == (1, 20)


@pytest.mark.parametrize("method", [METHOD, AdaptiveMean()], ids=lambda m: m.key)
def test_a_budget_put_in_later_is_the_one_that_would_have_been_computed_at_once(method):
    steps = mean_over_budgets(SOURCE, method, DELTA, 3, (0.3, 1.0, 10.0))
    later = with_budget(steps, SOURCE, method, 3, 2.2)
    at_once = mean_over_budgets(SOURCE, method, DELTA, 3, (0.3, 1.0, 2.2, 10.0))
    assert later.budgets == at_once.budgets and later.spends == at_once.spends
    assert later.tuning == at_once.tuning and later.verdicts == at_once.verdicts
    for name in ("releases", "noise_low", "noise_high", "planned"):
        assert np.allclose(getattr(later, name), getattr(at_once, name), equal_nan=True), name
    for name in ("errors", "shares"):
        assert np.allclose(getattr(later.study, name), getattr(at_once.study, name)), name
    if later.band is not None:
        assert np.allclose(later.band.low, at_once.band.low, equal_nan=True)
        assert later.band.n_functions == at_once.band.n_functions


@pytest.mark.parametrize("shows", ["release", "releases", "difference"])
def test_the_title_of_the_mean_curve_holds_for_every_line_that_is_drawn(shows):
    result = mean_over_budgets(SOURCE, METHOD, DELTA, 3, (0.5, 4.0))
    title = curve(result, 0, shows).spec["layout"]["title"]["text"]
    most = float(re.findall(r"[\d.]+", title)[-1])
    drawn = result.releases[0, :1] if shows == "release" else result.releases[0]
    farthest = np.abs(drawn - result.ordinary).max()
    assert farthest <= most < 1.02 * farthest


def test_the_picture_of_the_adaptive_mean_has_a_band_where_something_is_published():
    result = mean_over_budgets(SOURCE, AdaptiveMean(), DELTA, 3, (0.05, 0.5, 4.0))
    assert result.published.tolist() == [False, True, True]
    assert np.isnan(result.band.low[0]).all() and np.isfinite(result.band.low[1:]).all()
    assert (result.band.low[1:] < result.band.high[1:]).all()
    assert math.isnan(result.planned[0]) and result.planned[1] > result.planned[2] > 0
    width = (result.band.high - result.band.low).mean(axis=(1, 2))
    assert width[1] > width[2] > 2 * result.band.ordinary.mean()


def test_without_delta_there_is_no_mu_and_the_epsilon_is_kept():
    result = mean_over_budgets(SOURCE, AdaptiveMean(), 0.0, 3, (1.0, 4.0))
    assert np.isnan([accounting.total_mu(spends) for spends in result.spends]).all()
    assert accounting.guarantees(result.spends[1]) == (Budget(4.0),)


def test_other_methods_are_compared_on_the_same_curves_and_the_adaptive_mean_wins():
    budgets = [Budget(1.0, DELTA), Budget(4.0, DELTA)]
    ours = simulated_study(SOURCE, AdaptiveMean(), budgets, 3).error
    others = other_methods("mean_function", SOURCE, AdaptiveMean(), budgets, 3)
    assert {"Noisy gradient descent", "Laplace-like process (ICLP)"} < set(others)
    assert {cls.key for cls in mechanisms.for_task("mean_function")} == {
        AdaptiveMean.key,
        *(other.key for other, _ in others.values()),
    }
    for _, typical in others.values():
        assert typical[0] > 1.1 * ours[0]
    growth = SparseCurves(mean="growth")
    result = other_methods("mean_function", growth, METHOD, budgets, 3)
    assert METHOD.label not in result and len(result) == len(others)
    assert result["Noisy gradient descent, as published"][0].functions == "cosine"


def test_a_method_that_publishes_nothing_or_refuses_has_no_error_to_compare():
    budgets = [Budget(0.05, DELTA), Budget(4.0, DELTA)]
    _, typical = other_methods("mean_function", SOURCE, METHOD, budgets, 3)["Adaptive mean"]
    assert np.isnan(typical[0]) and np.isfinite(typical[1])
    pure = other_methods("mean_function", SOURCE, AdaptiveMean(), [Budget(1.0)], 3)
    assert pure and {other.guarantee for other, _ in pure.values()} == {"pure"}


def test_real_curves_are_compared_by_their_distance_from_one_average():
    budget = other_methods(
        "mean_function", SeaTemperature(), AdaptiveMean(), [Budget(2.0, 1e-4)], 3
    )
    assert all(typical > 0 for _, typical in budget.values()) and len(budget) > 2


# -- rates ----------------------------------------------------------------------------------


def test_the_rate_takes_the_four_published_terms():
    rate = FunctionalMeanRate(smoothness=2.0)
    point = {"n": 100.0, "m": 16.0, "S": 4.0, "epsilon": 0.5}
    expected = [(6400) ** (-4 / 5), (4 * 2500 * 16) ** (-2 / 3), 1 / 400, 1 / (4 * 2500)]
    assert np.allclose(rate.evaluate(**point), expected)
    assert rate.terms[int(rate.dominant(**point))].name == "Number of people"


def test_a_trusted_centre_gains_a_factor_of_the_sites():
    point = {"n": 100.0, "m": 16.0, "S": 4.0, "epsilon": np.array([0.1, 0.5])}
    central = FunctionalMeanRate(privacy="central").evaluate(**point)[3]
    federated = FunctionalMeanRate(privacy="federated").evaluate(**point)[3]
    assert np.allclose(federated / central, 4)


# -- to take away ---------------------------------------------------------------------------


def test_the_numbers_file_holds_the_picture_and_how_to_make_it_again():
    plain = scenario.to_plain(SOURCE, METHOD, (Budget(1.0, DELTA),), Run(5, 1, 3))
    text = export.numbers_csv(SHOWN, 13, plain).decode()
    comments = [line for line in text.splitlines() if line.startswith("#")]
    again = scenario.from_plain(json.loads(comments[2].removeprefix("# scenario ")))
    assert again.source == SOURCE
    rows = list(
        csv.DictReader(
            io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("#")))
        )
    )
    assert len(rows) == 101
    assert float(rows[7]["release 3"]) == pytest.approx(SHOWN.releases[13, 2, 7], rel=1e-5)
    assert float(rows[7]["true mean"]) == pytest.approx(SHOWN.truth[7], rel=1e-5)


@pytest.mark.parametrize("name", ["Age", '=HYPERLINK("x","y")', "+1", "a,b", "@SUM(A1)"])
def test_the_numbers_file_is_read_again_by_the_reader_of_uploads(name):
    facts = replace(SHOWN.data.facts, time_name=name, time_unit="")
    result = replace(SHOWN, data=replace(SHOWN.data, facts=facts))
    table = framed(export.numbers_csv(result, 13, {"person": "a\n# b"}))
    assert table.n_lines == 101
    assert table.names[:2] == (export.safe_cell(name), "non-private mean")
    found = Content("true mean", table.columns[table.names.index("true mean")]).numbers()
    assert found == pytest.approx(SHOWN.truth, rel=1e-5)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_of_text_can_be_taken_for_a_formula(text):
    assert export.safe_cell(text) == f"'{text}"
    assert export.safe_cell("Height (cm)") == "Height (cm)"


# -- names ----------------------------------------------------------------------------------


def test_names_tell_apart_what_the_frameworks_own_hash_would_confuse():
    large = np.zeros(600_000)
    changed = large.copy()
    changed[123_456] = 1.0
    assert digest(large) != digest(changed)
    assert digest(Budget(1.0, 0.0)) != digest(Run(1, 0))
    assert digest((1, 2)) != digest((12,))
    assert digest(1) != digest(1.0) != digest("1.0")
    assert digest(METHOD) == digest(NoisyGradientMean())


def test_what_cannot_be_named_is_refused():
    with pytest.raises(TypeError, match="set"):
        digest({1, 2})
