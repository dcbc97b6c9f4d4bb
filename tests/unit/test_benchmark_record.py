"""What the benchmark keeps and flags; no time is measured here."""

import json
import sys

import numpy as np
import pytest
import pywt

from engine.numerics.wavelet_bases import WaveletBasis
from tests.benchmark import __main__ as bench
from tests.benchmark import floors, record
from tests.benchmark.record import Row, regressions

MACHINE = {
    "version": "1",
    "processor": "A processor",
    "cores": 2,
    "python": "3",
    "numpy": "2",
    "scipy": "1",
    "load": [0.5, 0.25, 0.1],
}


@pytest.mark.parametrize(
    "more, before, now, is_flagged",
    [
        (False, 2.0, 2.39, False),
        (False, 2.0, 2.41, True),
        (False, 2.0, 1.0, False),
        (True, 3.0, 2.51, False),
        (True, 3.0, 2.49, True),
        (True, 3.0, 9.0, False),
        (False, 0.0, 0.0, False),
        (False, 0.0, 1.0, True),
    ],
)
def test_a_ratio_that_became_worse_by_more_than_a_fifth_is_flagged(more, before, now, is_flagged):
    result = regressions([Row("a", now, None, more)], [Row("a", before, None, more)])
    assert [(row.name, old) for row, old in result] == [("a", before)] * is_flagged


def test_a_new_row_is_no_regression_and_one_that_is_gone_is_none_either():
    assert regressions([Row("new", 9.0)], [Row("gone", 1.0)]) == []


def test_what_differs_between_machines_is_not_flagged():
    assert regressions([Row("a", 9.0, is_compared=False)], [Row("a", 1.0)]) == []


def test_only_what_is_worse_in_two_runs_ends_with_an_error(capsys):
    runs = iter([[Row("noisy", 1.5), Row("slow", 1.5)], [Row("noisy", 1.1), Row("slow", 1.4)]])
    assert bench.main([], lambda: next(runs), [Row("noisy", 1.0), Row("slow", 1.0)]) == 1
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert "WORSE" in lines["slow"] and "WORSE" not in lines["noisy"]


@pytest.mark.parametrize(
    "row, reached",
    [
        (Row("a", 1.6, 1.6), True),
        (Row("a", 1.7, 1.6), False),
        (Row("a", 1.7), None),
        (Row("a", 1.7, 1.6, more_is_better=True), True),
        (Row("a", 1.5, 1.6, more_is_better=True), False),
    ],
)
def test_a_goal_is_a_limit_or_a_least(row, reached):
    assert row.reaches_goal is reached


def test_the_table_shows_what_was_kept_what_is_missed_and_what_became_worse():
    lines = record.table(
        [Row("fine", 1.0, 2.0), Row("slow", 3.0, 2.0), Row("new", 1.0)],
        [Row("fine", 1.1), Row("slow", 1.0)],
    ).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["fine", "1.00", "≤", "2", "1.10"],
        ["slow", "3.00", "≤", "2", "1.00", "missed", "WORSE"],
        ["new", "1.00"],
    ]


def test_a_run_that_is_kept_comes_back_and_can_be_read(tmp_path):
    file, document = tmp_path / "results.json", tmp_path / "benchmarks.md"
    rows = [Row("a / b", 1.5, 2.0), Row("c", 2.0, 3.0, True)]
    assert record.load(file) == []
    record.save(rows, MACHINE, (), file, document)
    assert record.load(file) == rows
    page = document.read_text()
    assert "| study |" in page
    assert "| a / b | 1.50 | ≤ 2 | yes |" in page and "| c | 2.00 | ≥ 3 | **no** |" in page
    assert "A processor, 2 cores" in page and "0.5, 0.25, 0.1" in page


@pytest.mark.parametrize("ratio, code", [(1.0, 0), (1.3, 1)])
def test_the_exit_code_says_whether_anything_became_worse(capsys, ratio, code):
    assert bench.main(["--json"], lambda: [Row("a", ratio)], [Row("a", 1.0)]) == code
    printed = capsys.readouterr().out
    assert ("WORSE" in printed) == bool(code)
    assert json.loads(printed.splitlines()[-1])["rows"][0]["ratio"] == ratio


def test_the_machine_is_told_in_general_terms():
    result = record.here()
    assert set(result) == {"version", "processor", "cores", "python", "numpy", "scipy", "load"}
    assert "/" not in str(result["processor"])


def test_a_peer_that_is_absent_is_left_out_politely(monkeypatch, capsys):
    from tests.benchmark import peers

    for package in ("diffprivlib.tools", "opendp", "sklearn", "pywt"):
        monkeypatch.setitem(sys.modules, package, None)
    assert list(peers.rows()) == []
    assert capsys.readouterr().out.count("left out") == 4


def test_the_filter_bank_is_that_of_the_peer_up_to_where_it_begins():
    signals = np.random.default_rng(1).standard_normal((3, 1024))
    ours = WaveletBasis(1024, 4).to_levels(signals)[:, 512:]
    theirs = pywt.wavedec(np.roll(signals, 1, axis=1), "db4", "periodization", level=1)[1]
    assert np.allclose(np.sort(np.abs(ours)), np.sort(np.abs(theirs)), atol=1e-12)


@pytest.mark.parametrize("size", [16, 128, 256, 512])
def test_short_and_long_vectors_are_filtered_alike(size):
    signals = np.random.default_rng(2).standard_normal((2, 3, size))
    rule = WaveletBasis(size, 4).rule
    as_short, as_long = (rule.analysis(signals, short) for short in (size, 0))
    assert np.allclose(as_short, as_long, rtol=0, atol=1e-13)


def test_a_floor_is_the_work_at_the_rates_that_were_measured():
    half, whole = (
        floors.measured(lambda: None, floors.Work(normals=count, operations=count), 1, 1)
        for count in (0.0, 1e6)
    )
    assert half.floor == 0 and whole.random > 0 and whole.products > 0 and whole.passes == 0
    assert whole.floor == whole.random + whole.passes + whole.products
    assert whole.ratio == whole.study / whole.floor


def test_work_adds_up():
    reading = floors.Work(uniforms=1, cached=24)
    assert reading.times(3) + floors.Work(normals=2) == floors.Work(3, 2, 0, 72)


def test_the_page_shows_floors_beside_the_ratio_that_was_kept():
    parts = {"random numbers": 1.0, "passes": 2.0, "products": 0.5, "measured": 7.0}
    table = record.floors(
        [Row("a study / its floor", 2.0, milliseconds=parts), Row("b", 1.0)],
        [Row("a study / its floor", 3.0)],
    )
    assert table.splitlines()[2:] == ["| a study | 1.0 | 2.0 | 0.5 | 3.5 | 7.0 | 2.00 | 3.00 |"]


def test_figures_of_several_sites_stay_when_ratios_are_written_anew(tmp_path):
    file, document = tmp_path / "results.json", tmp_path / "benchmarks.md"
    section = f"{record.SITES_HEADING}\n\n| sites |\n|---|\n| 3 |\n"
    record.save([Row("a", 1.0)], MACHINE, (), file, document)
    plain = document.read_text("utf-8")
    document.write_text(record.with_sites(plain, section), "utf-8")
    record.save([Row("b", 2.0)], MACHINE, (), file, document)
    text = document.read_text("utf-8")
    assert text.count(section) == 1 and "| b | 2.00 |" in text and "| a |" not in text
    assert record.with_sites(text, section.replace("3", "20")).count("| 20 |") == 1
