"""Exhibits of the papers: the same table however they run, sound metadata, and files read back."""

import json
import math
import re
from dataclasses import replace
from functools import cache

import pytest

import reproductions
from engine import __version__
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.palette import THEMES, colour
from engine.core.types import Budget
from engine.exhibits import FORMS
from engine.figures.theme import Chart, in_theme
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.running.executors import ProcessExecutor, SerialExecutor
from engine.simulation.effort import NO_LIMITS, EffortLimits
from engine.simulation.experiments import Cell, Run, blocks
from engine.sources.numbers import Numbers
from reproductions import claims
from reproductions import files as exhibit_files
from reproductions import words as exhibit_words
from reproductions.drawing import Scale, Series, heat, lines, styles
from reproductions.exhibits import (
    Call,
    Claim,
    ClaimVerdict,
    Exhibit,
    Finding,
    Panel,
    Paper,
    Reason,
    RowFiles,
    Work,
    run,
)
from scripts import write_claims


@cache
def stored(key, form="quick"):
    """What is stored of an exhibit: several tests look at each."""
    return exhibit_files.stored(*reproductions.find(key), form)


@cache
def work(key, form):
    return reproductions.find(key)[1].work(form)


KEYS = reproductions.names()
FULL = [key for key in KEYS if stored(key, "full")]
STORED = [key for key in KEYS if stored(key)]


def rows_of(first, count):
    """A calculation that another process can find by its name."""
    return [{"part": "call", "value": first + k} for k in range(count)]


def settles(claim, finding):
    """A check passes exactly where no reason says why it does not; other data decide nothing."""
    assert bool(claim.because) is (claim.reason is not None), claim.says
    return claim.reason == Reason.DATA or finding.holds is (claim.reason is None)


def small_work(form):
    repeats = {"quick": 3, "full": 6}[form]
    source = Numbers(n_servers=4, n_items=5)
    cells = [
        Cell({"epsilon": epsilon}, source, UnivariateMean(), (Budget(epsilon),))
        for epsilon in (0.5, 1.0)
    ]
    return Work(
        tuple(cells), Run(repeats=repeats, seed=3), (Call(rows_of, (10, 2)), Call(rows_of, (20, 1)))
    )


def small_exhibit(**changes):
    def draw(table):
        return (Panel("Nothing", Chart({"data": [], "layout": {}}, "Nothing is drawn.")),)

    claim = Claim(
        "There are five rows.", lambda table: Finding(len(table) == 5, f"{len(table)} rows.")
    )
    return Exhibit("small", "A small exhibit", "For tests.", small_work, draw, (claim,), **changes)


def finished(exhibit, form="quick", executor=None):
    """The result, and the progress on the way."""
    steps, running = [], run(exhibit, form, executor or SerialExecutor())
    while True:
        try:
            steps.append(next(running))
        except StopIteration as end:
            return end.value, steps


# -- how they run -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_on_processes_equals_a_serial_one_to_the_last_bit():
    with ProcessExecutor(2) as executor:
        elsewhere, _ = finished(small_exhibit(), executor=executor)
    here, _ = finished(small_exhibit())
    assert elsewhere.table == here.table
    assert elsewhere.digest == here.digest


def test_rows_of_cells_come_first_and_those_of_calls_follow_in_order():
    result, _ = finished(small_exhibit())
    assert [row.get("epsilon") for row in result.table] == [0.5, 1.0, None, None, None]
    assert [row["value"] for row in result.table[2:]] == [10, 11, 20]


def test_progress_counts_every_piece_once():
    _, steps = finished(small_exhibit())
    pieces = len(blocks(small_work("quick").cells, small_work("quick").run)) + 2
    assert [step.done for step in steps] == list(range(1, pieces + 1))
    assert {step.total for step in steps} == {pieces}


def test_the_forms_differ_in_their_work_and_hence_in_their_digest():
    quick, full = (finished(small_exhibit(), form)[0] for form in FORMS)
    assert quick.digest != full.digest
    assert [quick.table[0]["repeats"], full.table[0]["repeats"]] == [3, 6]


def test_a_cell_that_fails_says_why_in_its_row_and_the_others_go_on():
    def work(form):
        cells = small_work(form).cells
        source = Numbers(n_servers=4, n_items=5)
        wrong = Cell({"epsilon": 9.0}, source, UnivariateMean(), (Budget(1.0),) * 3)
        return Work((*cells, wrong), Run(repeats=3, seed=3))

    result, _ = finished(Exhibit("small", "Small", "For tests.", work, lambda *_: ()))
    assert "failure" in result.table[2]
    assert result.table[:2] == finished(small_exhibit())[0].table[:2]


def test_results_are_read_back_as_they_were_written():
    exhibit, paper = small_exhibit(), Paper("tests", "Tests", "None", (small_exhibit(),))
    result, _ = finished(exhibit)
    text = exhibit_files.as_json(paper, exhibit, result)
    assert exhibit_files.from_json(text) == result
    assert json.loads(text)["claims"][0] == {
        "says": "There are five rows.",
        "place": "A small exhibit",
        "verdict": "holds",
        "measured": "5 rows.",
        "because": "",
    }


def test_a_spreadsheet_of_a_result_has_a_line_for_each_row_under_its_columns():
    exhibit, paper = small_exhibit(), Paper("tests", "Tests", "None", (small_exhibit(),))
    result, _ = finished(exhibit)
    written = [
        line
        for line in exhibit_files.as_csv(paper, exhibit, result).splitlines()
        if not line.startswith("#")
    ]
    assert len(written) == 1 + len(result.table)
    assert written[0].split(",")[-2:] == ["part", "value"]


def test_an_exhibit_that_does_not_exist_is_refused_with_the_names_of_those_that_do():
    with pytest.raises(InputError) as refused:
        reproductions.find("functional_mean/figure-99")
    assert refused.value.field == "exhibit"
    assert "functional_mean/figure-2" in refused.value.hint


# -- every registered exhibit -------------------------------------------------------------------


def test_names_of_exhibits_are_unique():
    assert len(set(KEYS)) == len(KEYS)
    assert len({paper.key for paper in reproductions.papers()}) == len(reproductions.papers())


@pytest.mark.parametrize("key", KEYS)
def test_both_forms_give_work(key):
    _, exhibit = reproductions.find(key)
    for form in FORMS:
        assert work(key, form).cells or work(key, form).calls
        assert all(digest(call) for call in work(key, form).calls)  # by which rows are found again
    assert exhibit.title and exhibit.about.endswith(".")


@pytest.mark.parametrize("key", KEYS)
def test_the_full_form_is_no_smaller_than_the_quick_one(key):
    quick, full = (work(key, form) for form in FORMS)
    assert len(full.cells) >= len(quick.cells)
    assert len(full.calls) >= len(quick.calls)


@pytest.mark.parametrize("key", STORED)
def test_a_stored_result_holds_plain_rows_that_are_numbers(key):
    result = stored(key)
    assert result.form == "quick" and result.table
    for row in result.table:
        assert "failure" not in row
        assert all(
            value is None or isinstance(value, bool | int | float | str) for value in row.values()
        )
        assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))


@pytest.mark.parametrize("key", STORED)
def test_a_stored_result_is_a_small_file_and_that_of_the_present_work(key):
    paper, exhibit = reproductions.find(key)
    path = exhibit_files.STORED / f"{exhibit_files.name(paper, exhibit)}.json"
    assert path.stat().st_size < 60_000
    if stored(key).versions["engine"] == __version__:  # a digest names the version as well
        assert stored(key).digest == digest(work(key, "quick"))


@pytest.mark.parametrize("key", FULL)
def test_a_stored_full_result_is_that_of_the_present_work_and_says_how_long_it_took(key):
    _, exhibit = reproductions.find(key)
    result = stored(key, "full")
    assert result.form == "full" and result.table and result.seconds > 0
    if result.versions["engine"] == __version__:
        assert result.digest == digest(work(key, "full"))
    for claim, finding in zip(exhibit.claims, exhibit.findings(result.table), strict=True):
        assert settles(claim, finding), f"{claim.says} {finding.measured}"
        assert not re.search(r"\b(nan|inf|None)\b", finding.measured)


@pytest.mark.parametrize("key", STORED)
def test_claims_hold_in_the_stored_table_unless_a_reason_says_why_not(key):
    _, exhibit = reproductions.find(key)
    result = exhibit.findings(stored(key).table)
    for claim, finding in zip(exhibit.claims, result, strict=True):
        assert settles(claim, finding), f"{claim.says} {finding.measured}"
        told = exhibit_words.claim(claim, finding)
        assert told.endswith(".") and ".." not in told and finding.measured in told
        assert not re.search(r"\b(nan|inf|None)\b", told)


@pytest.mark.parametrize("key", KEYS)
def test_every_claim_of_a_document_names_its_place_and_range(key):
    _, exhibit = reproductions.find(key)
    for claim in exhibit.claims:
        place = exhibit.place(claim)
        assert bool(place) is not claim.is_ours, claim.says
        assert claim.is_ours or claim.extent or exhibit.extent, claim.says
        assert not place.startswith("Experiment"), claim.says


@pytest.mark.parametrize(
    ("reason", "passes", "verdict"),
    [
        (None, True, ClaimVerdict.HOLDS),
        (Reason.PROOF, False, ClaimVerdict.FAILS),
        (Reason.CONDITION, False, ClaimVerdict.NOT_COMPARABLE),
        (Reason.CRITERION, False, ClaimVerdict.NOT_COMPARABLE),
        (Reason.DATA, False, ClaimVerdict.NOT_COMPARABLE),
        (Reason.DATA, True, ClaimVerdict.NOT_COMPARABLE),
        (None, False, ClaimVerdict.FAILS),
    ],
)
def test_only_a_check_on_the_documents_terms_can_contradict_it(reason, passes, verdict):
    claim = Claim("So it is.", lambda table: None, "" if reason is None else "Why.", reason)
    assert claim.verdict(Finding(passes, "1")) is verdict


def test_the_table_of_claims_is_made_of_the_stored_results():
    assert write_claims.FILE.read_text("utf-8") == claims.as_tsv()


@pytest.mark.parametrize("key", STORED)
def test_a_stored_result_has_the_present_claims(key):
    paper, exhibit = reproductions.find(key)
    for form in FORMS:
        result = stored(key, form)
        if result is not None:
            path = exhibit_files.path_of(paper, exhibit, form)
            assert path.read_text("utf-8") == exhibit_files.as_json(paper, exhibit, result)


@pytest.mark.parametrize("key", STORED)
def test_every_drawing_of_a_stored_table_is_plain_json_with_words_and_numbers_beside_it(key):
    _, exhibit = reproductions.find(key)
    panels = exhibit.draw(stored(key).table)
    assert panels
    for panel in panels:
        for theme in THEMES:
            json.dumps(in_theme(panel.chart.spec, theme), allow_nan=False)
        assert panel.title and re.search(r"\d.*\.$", panel.chart.alt)
        assert len({len(column) for column in panel.chart.table.values()}) == 1


# -- work that is taken up again ----------------------------------------------------------------


def calculated_by_calls(executor, calculated, limits=NO_LIMITS):
    """The steps of an exhibit of calls alone, and its result."""
    exhibit = replace(small_exhibit(), work=lambda form: Work(calls=small_work(form).calls))
    running, steps = run(exhibit, "quick", executor, limits=limits, calculated=calculated), []
    while True:
        try:
            steps.append(next(running))
        except StopIteration as end:
            return steps, end.value


class Counting(SerialExecutor):
    """Counts what it is given."""

    def __init__(self):
        self.submitted = 0

    def submit(self, fn, /, *args, **kwargs):
        self.submitted += 1
        return super().submit(fn, *args, **kwargs)


def test_calls_that_are_there_are_not_made_again_and_the_table_is_the_same(tmp_path):
    first, again = Counting(), Counting()
    _, made = calculated_by_calls(first, RowFiles(tmp_path))
    _, taken_up = calculated_by_calls(again, RowFiles(tmp_path))
    assert (first.submitted, again.submitted) == (2, 0)
    assert taken_up.table == made.table


def test_rows_that_were_cut_short_count_as_missing(tmp_path):
    _, made = calculated_by_calls(SerialExecutor(), RowFiles(tmp_path))
    for path in tmp_path.glob("*.rows"):
        path.write_text(path.read_text("utf-8")[:-5], "utf-8")
    again = Counting()
    assert calculated_by_calls(again, RowFiles(tmp_path))[1].table == made.table
    assert again.submitted == 2


def test_no_call_begins_when_the_time_is_up(tmp_path):
    executor = Counting()
    with pytest.raises(InputError) as refused:
        calculated_by_calls(executor, RowFiles(tmp_path), EffortLimits(minutes=1e-9))
    assert refused.value.field == "limit-minutes" and "--resume" in refused.value.hint
    assert executor.submitted == 0


def test_the_rows_of_a_call_that_is_done_stay_when_the_run_ends(tmp_path):
    exhibit = replace(small_exhibit(), work=lambda form: Work(calls=small_work(form).calls))
    running = run(exhibit, "quick", SerialExecutor(), calculated=RowFiles(tmp_path))
    next(running)
    running.close()
    assert len(list(tmp_path.glob("*.rows"))) == 1


# -- drawings they share ------------------------------------------------------------------------


def test_bars_are_two_standard_errors_and_lines_out_of_the_legend_say_so():
    series = [
        Series("a", [1, 10], [2.0, 4.0], "gradient", se=[0.5, None]),
        Series("b", [1, 10], [2.0, 4.0], "gradient", in_legend=False),
    ]
    spec = lines(series, Scale("x", log=True), Scale("y"), "Two lines.").spec
    assert spec["data"][0]["error_y"]["array"] == [1.0, 0.0]
    assert [trace["showlegend"] for trace in spec["data"]] == [True, False]


def test_a_log_axis_leaves_out_what_is_not_positive():
    series = [Series("a", [1, 2, 3], [0.0, 1.0, 10.0], "gradient")]
    axis = lines(series, Scale("x"), Scale("y", log=True), "One line.").spec["layout"]["yaxis"]
    assert axis["range"][0] == pytest.approx(-0.04)


def test_a_family_of_lines_goes_from_pale_to_strong_and_each_member_looks_its_own():
    result = styles(6)
    assert [colour(result[k][0], "light") for k in (0, -1)] == ["#A3B3EE", "#24358A"]
    assert len(set(result)) == 6


def test_the_table_of_a_map_has_a_row_for_each_cell():
    chart = heat([1, 2], [3, 4, 5], [[1, 2], [3, 4], [5, None]], ("x", "y", "z"), "A map.")
    assert chart.table == {
        "x": [1, 2, 1, 2, 1, 2],
        "y": [3, 3, 4, 4, 5, 5],
        "z": [1, 2, 3, 4, 5, None],
    }


def test_exponents_of_a_claim_are_raised_on_the_page():
    of = Claim("Few readings, m ≤ n^(1/(2α)): (nm)^−1", lambda table: None)
    page = exhibit_words.claim_markdown(small_exhibit(), of, Finding(True, "up to n^0.5"))
    assert [*re.findall(r"\$(.*?)\$", page)] == [  # each with its base: no line breaks between them
        r"\mathrm{n}^{1/(2α)}",
        r"\mathrm{(nm)}^{−1}",
        r"\mathrm{n}^{0.5}",
    ]
