"""Exhibits on sparse regression: structure of the printed tables, closed forms, small studies."""

from dataclasses import replace

import numpy as np
import pytest

from engine.mechanisms.sparse_inference import SparseInference
from engine.sources.sparse_rows import SparseRows
from engine.topics.sparse import published
from reproductions.exhibits import Reason, frame
from reproductions.sparse_federated import PAPER, figures, statements, studies, tables
from reproductions.sparse_federated.studies import FederationSetting
from tests.sentences import of_topic

wording = of_topic("learn")

SMALL = FederationSetting(n=20_000, m=2, d=12, s=3, s0=2)


def test_printed_lengths_of_intervals_follow_one_formula(monkeypatch):
    check = tables.TABLE_2.claims[-1].check
    assert check([]).holds
    rows = [
        {**row, "length": row["length"] * (1.1 if row["eps"] == 0.5 else 1.0)}
        for row in published.table_2()
    ]
    monkeypatch.setattr(tables, "table_2", lambda: rows)
    assert not check([]).holds


def test_the_formula_has_the_rows_of_a_machine_in_it_and_not_those_of_all():
    base, all_rows, more = tables._lengths(
        frame([tables.BASE, {**tables.BASE, "m": 1500.0}, {**tables.BASE, "n": 16_000.0}])
    )
    assert all_rows == pytest.approx(base, rel=0.1) and more < 0.45 * base
    exact = (
        2
        * 1.959964
        * 0.5
        / 4000**0.5
        * (1.25 + 0.72 * 225 * np.log(120_000) / (4000 * 0.64)) ** 0.5
    )
    assert base == pytest.approx(exact, rel=1e-6)


def test_printed_coverage_is_a_mean_over_coefficients_even_of_bands():
    assert tables.weighted_rows(published.table_2())["close"] == 13
    assert tables.weighted_rows(published.table_5())["close"] == 10


def test_the_printed_error_falls_with_shared_features_where_the_text_says_it_grows():
    claim = next(one for one in tables.TABLE_2.claims if "shared features" in one.says)
    result = claim.check([])
    assert not result.holds and claim.reason is Reason.MISPRINT
    wording.found("printed", result.measured, 0.0188, "0.0170", 0.0137)


def test_the_noise_of_a_machine_alone_hides_every_coefficient_at_the_base_point():
    """And the noise of one round falls like 1/n, up to δ = 1/(2mn) in the conversion."""
    base = FederationSetting()
    assert studies.least_noise(base, 0.8) > 4
    more = studies.least_noise(replace(base, n=8000, d=400), 0.8)
    assert more == pytest.approx(studies.least_noise(replace(base, d=400), 0.8) / 2, rel=0.05)


def test_errors_at_an_enormous_budget_are_those_without_noise():
    errors = studies.errors(SMALL, (0.1, 1e4), 3)
    assert errors.released.shape == (3, 2)
    assert errors.released[:, 1] == pytest.approx(errors.noise_free, rel=0.02)
    assert (errors.released[:, 0] > 1.3 * errors.noise_free).all()


def test_limits_are_shorter_at_larger_budgets_and_lie_around_the_truth():
    result = studies.limits(SMALL, (1.0, 8.0), 4, (0, 1, 11))
    assert result.length.shape == (2, 3) and (result.length[0] > 1.3 * result.length[1]).all()
    assert (np.abs(result.centre - result.truth) < result.length).all()
    assert (result.n_intervals == 4).all()
    assert result.truth[:2] == pytest.approx([3**-0.5] * 2)


def test_ways_of_making_intervals_agree_where_there_is_no_noise_to_speak_of():
    source = SparseRows(n_curves=20_000, n_servers=2, n_features=10, n_shared=2)
    result = studies.corrections(
        SparseInference(features="10", sparsity=2), source, (0.7, 1e5), 1e-6, 200
    )
    coverage = result.coverage()
    assert coverage["proper"][1] == coverage["scaled"][1] == coverage["naive"][1]
    assert coverage["naive"][0] < coverage["scaled"][0] < coverage["proper"][0]


@pytest.mark.slow
def test_bands_without_privacy_have_the_printed_lengths_at_the_largest_budget():
    (row,) = tables.band_rows(600)
    assert [row[name] for name in ("len", "len_S", "len_Sc")] == pytest.approx(
        [0.077, 0.057, 0.077], abs=0.002
    )


def test_costs_of_releases_add_up_as_counted_by_hand():
    """ε = 0.8 in 1, 7, 2404, 2102 and 8 releases."""
    rows = statements.cost_rows()
    assert [row["releases"] for row in rows] == [1, 7, 2404, 2102, 8]
    assert [row["added"] for row in rows] == pytest.approx([0.8, 5.6, 1923.2, 1681.6, 6.4])
    assert statements.COSTS.claims[1].check(rows).holds
    assert not statements.COSTS.claims[0].check(rows).holds
    assert [row["spent"] for row in rows] == pytest.approx([0.16, 1.2, 53, 44, 1.2], rel=0.05)


def test_every_setting_of_the_table_is_run_with_all_its_budgets():
    settings = tables._settings()
    assert len(settings) == 11 and sum(map(len, settings.values())) == 13
    assert settings[(4000, 15, 800, 15, 8)] == (0.8, 0.5, 0.3)


INTERVAL = {
    "where": figures.FEASIBLE,
    "feature": 1,
    "held": 0.95,
    "repeats": 20,
    "intervals": 20,
    "length": 0.5,
    "true": 0.0,
    "centre": 0.0,
    "features run": 100,
}


def test_intervals_that_hold_too_rarely_are_told():
    check = figures.FIGURE_3.claims[1].check
    assert check([INTERVAL] * 60).holds
    assert check([{**INTERVAL, "held": 1.0}] * 60).holds
    assert not check([{**INTERVAL, "held": 0.9}] * 60).holds


def test_where_no_interval_is_given_the_claim_on_lengths_says_so_and_no_bar_is_drawn():
    refused = {**INTERVAL, "where": figures.PAPER, "length": None, "held": None, "intervals": 0}
    rows = [refused] * 2 + [INTERVAL] * 2
    finding = figures.FIGURE_3.claims[0].check(rows)
    assert not finding.holds
    wording.found("none intervals given", finding.measured, 40)
    some = figures.FIGURE_3.claims[0].check([refused, {**INTERVAL, "where": figures.PAPER}])
    assert not some.holds
    wording.found("intervals given length", some.measured, 20, 40, "0.50")
    at_paper, _ = figures.FIGURE_3.draw(rows)
    estimates = at_paper.chart.spec["data"][0]
    assert "without" in estimates["name"] and "error_y" not in estimates


def test_refused_intervals_have_no_length_and_count_for_none():
    refused = studies.limits(FederationSetting(n=500, m=2, d=12, s=3, s0=2), (0.5,), 2, (0, 11))
    assert refused.n_intervals.tolist() == [[0, 0]]
    assert np.isnan(refused.length).all() and np.isnan(refused.coverage).all()
    assert np.isfinite(refused.centre).all()


def test_quick_forms_have_at_most_125_features_and_full_ones_those_of_the_paper():
    def most(form):
        return max(
            call.arguments[2] // call.arguments[-1] for call in tables.TABLE_2.work(form).calls
        )

    assert (most("quick"), most("full")) == (125, 1000)
    assert {one.key for one in PAPER.exhibits} >= {"table-2", "table-5", "figure-3", "figure-4"}
