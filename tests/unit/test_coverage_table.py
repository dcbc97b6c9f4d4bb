"""When a row of the table of coverage counts as one whose band does not hold."""

import math

import pytest

from benchmarks.coverage import counts, covariates, sites, sparse, wavelets
from benchmarks.coverage import table as coverage_table
from benchmarks.coverage.__main__ import main

SETTING = next(coverage_table.settings())


@pytest.mark.parametrize(
    ("pointwise", "simultaneous", "holds"),
    [
        ((0.95, 0.01), (0.96, 0.03), True),
        ((0.995, 0.004), (1.0, 0.0), True),  # by chance
        ((0.995, 0.001), (1.0, 0.0), False),  # too wide
        ((0.89, 0.004), (0.95, 0.02), False),  # too narrow
        ((0.93, 0.004), (0.86, 0.03), True),
        ((0.93, 0.004), (0.86, 0.01), False),
        ((math.nan, math.inf), (math.nan, math.inf), True),
    ],
)  # always warned of
def test_a_band_fails_where_it_misses_what_is_asked_beyond_chance(pointwise, simultaneous, holds):
    row = coverage_table.Row(
        SETTING, 100.0, 0.1, 0.1, pointwise[0], simultaneous[0], 0.0, pointwise[1], simultaneous[1]
    )
    assert row.holds is holds


def test_a_row_measures_its_own_chance():
    row = coverage_table.measured(SETTING, 3, seed=1)
    assert 0 < row.pointwise_error < 0.5 and row.holds
    assert coverage_table.measured(SETTING, 1, seed=1).pointwise_error == math.inf


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (counts, counts.settings),
        (covariates, covariates.settings),
        (sites, sites.networks),
        (sparse, sparse.settings),
        (wavelets, wavelets.settings),
    ],
    ids=lambda each: each.__name__,
)
def test_every_table_measures_a_row_judges_it_and_has_a_cell_below_each_head(kind, settings):
    row = kind.measured(next(settings()), 4, 1)
    heads, _, cells = kind.as_markdown([row]).splitlines()
    assert heads.count("|") == cells.count("|")
    assert row.holds in (True, False)


def test_a_row_of_effects_does_not_hold_where_bands_without_a_warning_miss():
    setting = next(covariates.settings())
    missing = {
        "pointwise_unwarned": 0.7,
        "simultaneous_unwarned": 0.95,
        "pointwise_error": 0.02,
        "simultaneous_error": 0.02,
    }
    assert not covariates.CovariateCoverage(setting, **missing).holds
    assert covariates.CovariateCoverage(setting, **missing | {"pointwise_unwarned": 0.94}).holds
    assert covariates.CovariateCoverage(setting, refused=True).holds


def test_a_row_of_sparse_limits_does_not_hold_where_many_features_seem_to_matter():
    row = {
        "error": 0.01,
        "least_squares": 0.01,
        "warned": 0.0,
        "refused": 0.0,
        "on": 0.95,
        "off": 0.95,
        "joint": 0.95,
        "on_uncertainty": 0.01,
        "off_uncertainty": 0.01,
        "joint_uncertainty": 0.02,
    }
    setting = next(sparse.settings())
    assert sparse.SparseCoverage(setting, below=0.05, **row).holds
    assert not sparse.SparseCoverage(setting, below=0.5, **row).holds
    assert not sparse.SparseCoverage(setting, below=0.05, **row | {"joint": 0.5}).holds


def test_a_table_is_not_written_with_some_of_its_rows(tmp_path, capsys):
    notes = tmp_path / "notes.md"
    notes.write_text("<!-- coverage of sparse: start -->\nrows\n<!-- coverage of sparse: end -->\n")
    before = notes.read_text()
    assert main(["--of", "sparse", "--only", "ind", "--write", str(notes)]) != 0
    assert main(["--of", "sparse", "--write", str(notes.with_name("none.md"))]) != 0
    assert main(["--of", "sites", "--write", str(notes)]) != 0
    assert notes.read_text() == before
