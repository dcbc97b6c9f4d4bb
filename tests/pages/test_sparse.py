"""The page on sparse regression: it draws, warns before looking, links, and agrees with the engine."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms.sparse_inference import SparseInference
from engine.mechanisms.sparse_newton import SparseNewton
from engine.mechanisms.sparse_regression import SparseRegression
from engine.mechanisms.study import Study
from engine.sources.sparse_rows import SparseRows
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse import charts
from engine.topics.sparse import intervals as sparse_intervals
from engine.topics.sparse import words as sparse_words
from engine.topics.sparse.published import table_2, table_5
from pages.shared.state import links, settings
from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.reading import words
from tests.sentences import of_topic
from tests.unit.test_chart_axes import axes_without_quantity

wording = of_topic("sparse")

SMALL = SparseRows(n_curves=4000, n_features=20, n_servers=4)
ROOMY = SparseRows(n_curves=40_000, n_features=20, n_servers=4)  # enough for intervals
BUDGET = Budget(1.0, 1e-6)


def test_it_opens_and_says_what_the_engine_says():
    at = visit("sparse")
    assert not at.error and at.session_state.settings.estimand == "sparse"
    usual = settings.FRONT_PAGE.studies["sparse_regression"]
    budget = Budget(1.0, 1 / usual.source.n_curves**2)
    view = sparse_topic.sparse_answer(usual.source, usual.mechanism, budget, 1)
    assert sparse_words.accuracy(view) in words(at)
    assert sparse_words.support(view) in words(at)
    assert len(at.success) == 1  # far more signal than noise


def test_the_light_turns_red_before_any_row_is_looked_at():
    token = "x-sparse_rows~x.n_curves-2000~x.n_features-50~epsilon-0.1"
    at = visit("sparse", token)
    assert not at.exception
    assert any("above the coefficients" in error.value for error in at.error)


def test_a_link_brings_back_rows_method_and_budget():
    token = "x-sparse_rows~x.n_curves-4000~x.n_features-20~y-sparse_regression~y.selection-peeling"
    now = visit("sparse", token).session_state.settings
    study = now.studies["sparse_regression"]
    assert study.source.n_features == 20 and study.mechanism.selection == "peeling"
    assert links.decode(links.encode(now)) == (now, [])


def test_rows_of_machines_that_differ_and_rows_that_are_too_many_are_refused_kindly():
    at = visit("sparse", "x-sparse_rows~x.n_curves-1000000")
    assert not at.exception
    wording.found("picture drawn most", [error.value for error in at.error])
    with pytest.raises(InputError, match="coefficients of their own"):
        sparse_topic.sparse_answer(SparseRows(n_curves=500, n_own=1), SparseRegression(), BUDGET, 1)


def test_the_paper_is_shown_beside_its_own_noise():
    at = visit("sparse", "open-sparse_paper")
    wording.found("produced these numbers", words(at))
    result = sparse_topic.reported(table_2())
    assert all(one.published.light == "red" for one in result)
    base = next(
        one for one in result if (one.row["n"], one.row["m"], one.row["eps"]) == (4000, 15, 0.8)
    )
    assert base.published.choice > 10 * base.row["s_star"] ** -0.5
    assert base.published.choice > 500 * base.tight.choice
    assert len(table_2()) == len(table_5()) == 13


def test_found_and_false_features_are_counted_from_the_releases():
    view = sparse_topic.sparse_answer(SMALL, SparseRegression(), Budget(0.3, 1e-6), 3)
    assert view.truth is not None
    chosen = view.releases != 0
    assert chosen.sum(axis=1).max() <= 5
    wrong = chosen[:, view.truth == 0].sum(axis=1).mean()
    assert view.false == pytest.approx(wrong)
    np.testing.assert_allclose(view.selection_rates, chosen[:, view.truth != 0].mean(axis=0))
    np.testing.assert_allclose(view.errors[0], np.linalg.norm(view.releases - view.truth, axis=1))


def test_the_share_of_clipped_rows_is_counted_and_shown_of_simulated_rows_alone():
    def view(**clips):
        return sparse_topic.sparse_answer(SMALL, SparseRegression(**clips), BUDGET, 3)

    usual, tight = view(), view(residual_clip=SMALL.noise_sd)
    assert usual.held_back == pytest.approx(20 * 2 * norm.sf(4), abs=5 * np.sqrt(0.0013 / 4000))
    assert tight.held_back == pytest.approx(2 * norm.sf(1), abs=5 * np.sqrt(0.22 / 4000))
    assert view(feature_clip=100.0, residual_clip=100.0).held_back == 0
    wording.found("these simulated rows", sparse_words.held_back(tight), 33)
    assert sparse_words.held_back(replace(tight, held_back=None)) == ""


def test_more_budget_and_a_better_choice_never_err_much_more():
    lines = sparse_topic.over_budgets(
        SparseRows(n_curves=20_000, n_features=30), SparseRegression(), 1e-6, 1
    )
    for errors in lines.private.values():
        assert (np.diff(errors) < 0.05 * errors[:-1]).all()
    of = dict(lines.private)
    assert (of["Private hard thresholding"] < of["Private hard thresholding, peeling"]).mean() > 0.8
    assert max(lines.ordinary.values()) < errors[0]


def test_the_default_has_the_smallest_error_of_all_ways():
    source = SparseRows(n_curves=20_000, n_features=30)
    lines = sparse_topic.over_budgets(source, SparseNewton(), 1e-6, 1)
    assert next(iter(sparse_topic.presets())) == SparseNewton.label
    own, *others = lines.private.values()
    for errors in others:
        assert (own < 0.7 * errors)[1:4].all()  # ε = .5 to 2; beyond, chance in the rows is left


@pytest.mark.parametrize(
    "way",
    [
        SparseNewton(
            sparsity=3,
            noise_sd=0.7,
            radius=2.0,
            rounds=9,
            step_size=0.3,
            feature_clip=3.0,
            residual_clip=2.2,
        ),
        SparseRegression(
            sparsity=3,
            noise_sd=0.7,
            radius=2.0,
            rounds=9,
            step_size=0.3,
            feature_clip=3.0,
            residual_clip=2.2,
        ),
    ],
)
def test_intervals_carry_every_option_of_the_estimate(way):
    result = sparse_intervals.interval_mechanism(way, "band").values()
    shared = {
        name: value
        for name, value in way.values().items()
        if name in result and name not in ("pilot", "features")
    }
    assert {name: result[name] for name in shared} == shared and len(shared) == 9
    assert result["target"] == "band"


def test_refused_intervals_are_said_on_the_page_and_drawn_nowhere():
    at = visit("sparse", "x-sparse_rows~x.n_curves-4000~x.n_features-20", fold_sparse_coverage=True)
    assert not at.exception
    assert any("No confidence intervals" in text.value for text in at.markdown)
    wording.missing("confidence intervals", words(at))
    assert "were refused" in words(at)


def test_every_chart_has_words_and_a_table():
    view = sparse_topic.sparse_answer(SMALL, SparseRegression(), BUDGET, 1)
    lines = sparse_topic.over_budgets(SMALL, SparseRegression(), 1e-6, 1)
    for chart in (charts.coefficients(view), charts.over_budgets(lines, 1.0)):
        assert chart.alt and chart.table and chart.spec["data"]
        assert not axes_without_quantity(chart.spec) and chart.spec["layout"]["hovermode"]
        assert len({len(column) for column in chart.table.values()}) == 1
    drawn = {trace["name"] for trace in chart.spec["data"]} - {"You are here"}
    assert drawn == {*chart.table} - {"ε"}


@pytest.mark.slow
@pytest.mark.parametrize("along", ["machines", "rows", "size"])
def test_trust_can_be_looked_at_along_every_size(along):
    at = visit("sparse")
    at.segmented_control(key="w_sparse_along").set_value(along).run()
    assert not at.exception
    wording.found("trusted server", words(at))


# -- limits, and machines that differ ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "kind"), few([("band", "simultaneous"), ("coordinates", "pointwise")])
)
def test_limits_hold_what_they_promise_over_two_hundred_data_sets(target, kind):
    """Within 4 standard errors of 95 in 100."""
    mechanism = SparseInference(target=target)
    coverage = sparse_intervals.coverage_study(
        Study(source=SparseRows(), mechanism=mechanism, budgets=(BUDGET,))
    )
    held, se = (
        (coverage.average, coverage.average_se)
        if kind == "pointwise"
        else (coverage.joint, coverage.joint_se)
    )
    assert abs(held - 0.95) < max(4 * se, 0.01)
    assert coverage.of_nonzero > 0.9
    assert f"{100 * held:.1f} %" in sparse_words.coverage(coverage, kind)


@pytest.mark.slow
def test_limits_on_screen_are_those_of_one_release_within_the_budget():
    view = sparse_intervals.intervals_answer(
        Study(source=ROOMY, mechanism=SparseInference(), budgets=(BUDGET,))
    )
    assert view.guarantee.epsilon <= 1.0 and view.length > view.without_length
    assert view.missed == ((view.truth < view.low) | (view.truth > view.high)).sum()
    at = visit(
        "sparse", "x-sparse_rows~x.n_curves-40000~x.n_features-20", fold_sparse_coverage=True
    )
    assert not at.exception and not any("our side" in e.value for e in at.error)
    assert "fresh data sets" in words(at)
    at.segmented_control(key="w_sparse_target").set_value("band").run()
    wording.found("covers coefficients together", words(at))


@pytest.mark.parametrize("conservative", [False, True])
def test_a_p_value_is_below_5_in_100_exactly_where_limits_leave_out_zero(conservative):
    mechanism = SparseInference(conservative=conservative)
    view = sparse_intervals.intervals_answer(
        Study(source=ROOMY, mechanism=mechanism, budgets=(BUDGET,), seed=2)
    )
    apart = (view.low > 0) | (view.high < 0)
    assert ((view.p_values < 0.05) == apart).all()
    assert ((view.p_values >= 0) & (view.p_values <= 1)).all()
    if not conservative:
        assert 3 <= apart.sum() < 20
        np.testing.assert_allclose(view.p_values, 2 * norm.sf(np.abs(view.centre) / view.error))
        np.testing.assert_allclose(
            charts.intervals(view).table["p-value of zero"], view.p_values, rtol=1e-4
        )


def test_p_values_say_what_they_count_and_a_band_tests_all_at_once():
    of = {
        target: sparse_intervals.intervals_answer(
            Study(source=ROOMY, mechanism=SparseInference(target=target), budgets=(BUDGET,))
        )
        for target in ("coordinates", "band")
    }
    each = sparse_words.tests_of_zero(of["coordinates"])
    assert "privacy noise" in each
    wording.found("correct looking features", each, 20)
    assert of["band"].p_values is None
    assert "p-value of zero" not in charts.intervals(of["band"]).table
    wording.found("them wrong", sparse_words.tests_of_zero(of["band"]))
    alone = sparse_intervals.intervals_answer(
        Study(source=ROOMY, mechanism=SparseInference(features="3"), budgets=(BUDGET,))
    )
    assert "correct" not in sparse_words.tests_of_zero(alone)


@pytest.mark.slow
def test_two_stages_beat_machines_alone_and_machines_taken_for_alike():
    source = SparseRows(n_curves=80_000, n_servers=8, n_own=2)
    result = sparse_intervals.machines(source, BUDGET, 1)
    two, alone, alike = (np.median(errors) for errors in result.errors.values())
    assert two < 0.7 * alone and two < 0.7 * alike
    assert result.guarantee.epsilon <= 1.0
    wording.found("two stages off", sparse_words.machines(result))


def test_machines_that_differ_are_shown_instead_of_one_set_of_coefficients():
    at = visit("sparse", "x-sparse_rows~x.n_own-2~x.n_curves-20000")
    assert not at.exception and not at.error
    assert "Two stages" in words(at) and any("Machines differ" in i.value for i in at.info)


def test_limits_and_machines_stand_beside_the_method_and_never_in_its_place():
    for key in ("sparse_inference", "sparse_heterogeneous"):
        assert links.decode(f"y-{key}") == (settings.Settings(), [key])
