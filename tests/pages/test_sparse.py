"""The page on sparse regression: it draws, warns before looking, links, and agrees with the engine."""

import numpy as np
import pytest

from engine import sparse_view, sparse_words
from engine.figures import sparse as figures
from engine.mechanisms.sparse_regression import SparseRegression
from engine.papers.sparse_federated import table_2, table_5
from engine.sources.sparse_rows import SparseRows
from engine.types import Budget
from pages.shared import settings
from tests.pages.test_explore import words
from tests.pages.test_plan_and_rates import visit

SMALL = SparseRows(n_curves=4000, n_features=20, n_servers=4)
BUDGET = Budget(1.0, 1e-6)


def test_it_opens_and_says_what_the_engine_says():
    at = visit("sparse")
    assert not at.error and at.title[0].value == sparse_words.TITLE
    usual = settings.Settings()
    budget = Budget(1.0, 1 / usual.rows_source.n_curves**2)
    view = sparse_view.sparse_view(usual.rows_source, usual.rows_mechanism, budget, 1)
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
    assert now.rows_source.n_features == 20 and now.rows_mechanism.selection == "peeling"
    assert settings.decode(settings.encode(now)) == (now, [])


def test_machines_that_differ_and_rows_that_are_too_many_are_refused_kindly():
    for token, said in (("x-sparse_rows~x.n_own-2", "coefficients of their own"),
                        ("x-sparse_rows~x.n_curves-1000000", "a picture is drawn of at most")):
        at = visit("sparse", token)
        assert not at.exception and any(said in error.value for error in at.error)


def test_the_paper_is_shown_beside_its_own_noise():
    at = visit("sparse", fold_sparse_paper=True)
    assert "cannot have produced these numbers" in words(at)
    found = sparse_view.reported(table_2())
    assert all(one.published.light == "red" for one in found)
    base = next(one for one in found if (one.row["n"], one.row["m"], one.row["eps"]) == (4000, 15, 0.8))
    assert base.published.choice > 10 * base.row["s_star"] ** -0.5
    assert base.published.choice > 500 * base.tight.choice
    assert len(table_2()) == len(table_5()) == 13


def test_found_and_false_features_are_counted_from_the_releases():
    view = sparse_view.sparse_view(SMALL, SparseRegression(), Budget(0.3, 1e-6), 3)
    assert view.truth is not None
    chosen = view.releases != 0
    assert chosen.sum(axis=1).max() <= 5
    wrong = chosen[:, view.truth == 0].sum(axis=1).mean()
    assert view.false == pytest.approx(wrong)
    np.testing.assert_allclose(view.found, chosen[:, view.truth != 0].mean(axis=0))
    np.testing.assert_allclose(view.errors, np.linalg.norm(view.releases - view.truth, axis=1))


def test_more_budget_and_a_better_choice_never_err_much_more():
    lines = sparse_view.over_budgets(SparseRows(n_curves=20_000, n_features=30), SparseRegression(),
                                     1e-6, 1)
    for errors in lines.private.values():
        assert (np.diff(errors) < 0.05 * errors[:-1]).all()
    gumbel, peeling = lines.private.values()
    assert (gumbel < peeling).mean() > 0.8
    assert max(lines.without.values()) < errors[0]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_has_words_and_a_table(theme):
    view = sparse_view.sparse_view(SMALL, SparseRegression(), BUDGET, 1)
    lines = sparse_view.over_budgets(SMALL, SparseRegression(), 1e-6, 1)
    for chart in (figures.coefficients(view, theme), figures.over_budgets(lines, 1.0, theme)):
        assert chart.alt and chart.table and chart.spec["data"]


@pytest.mark.parametrize("along", ["machines", "rows", "size"])
def test_trust_can_be_looked_at_along_every_size(along):
    at = visit("sparse")
    at.segmented_control(key="sparse_along").set_value(along).run()
    assert not at.exception and "A trusted server errs" in words(at)
