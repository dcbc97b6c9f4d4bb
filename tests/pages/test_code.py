"""Code for this view: what is offered on a page gives the numbers that stand on it."""

import contextlib
import dataclasses
import io
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reproductions
from engine.__main__ import main
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.registry import Parameterised
from engine.core.tasks import COVARIANCE, DataType
from engine.core.types import Budget
from engine.exports import code_for, outcome_rows
from engine.language import error_words
from engine.language.grammar import capital
from engine.language.numbers import at_most_percent
from engine.mechanisms import mechanisms
from engine.questions import ask, kinds
from engine.simulation.experiments import blocks, gather, run_block
from engine.simulation.scenario import from_json
from engine.sources import sources
from engine.topics.mean.answer import mean_answer
from engine.topics.regression.answer import Network, regression_answer
from engine.topics.sites.site_table import PRESETS
from engine.topics.sparse.answer import sparse_answer
from engine.topics.summaries.answer import summaries_answer
from engine.uploads.own_file import OwnFile
from engine.uploads.proposal import propose
from pages.shared.components import Budgeted
from pages.shared.frame import code_fold
from pages.shared.state import settings
from pages.shared.state.lab_tasks import LAB_TASKS
from reproductions import words as exhibit_words
from tests import files
from tests.few import VERY_FEW_DATA_SETS
from tests.pages.opening import open_page, own_curves, visit
from tests.pages.reading import components, strip, words
from tests.pages.test_upload_readings import own as own_readings
from tests.sentences import of_topic
from tests.unit.test_upload_readings import frame as reading_frame
from tests.unit.test_upload_rows import NAMES, SPARSE
from tests.unit.test_upload_rows import frame as row_frame
from tests.unit.test_upload_rows import own as own_rows

AT_MOST = "attacker’s accuracy, at most"  # name of a number of every answer
wording = of_topic("code")

ROOT = Path(__file__).parents[2]
DEFAULT = settings.Settings()
_SMALL = "c.n_curves-60~c.n_observations_per_curve-6"
CHANGED = {
    "explore": f"c-sparse_curves~{_SMALL}~m-noisy_gradient_mean~epsilon-0.7~seed-4",
    "decide": f"c-sparse_curves~{_SMALL}~noise-centre~target-1~confidence-10~delta-0.001",
    "rates": "r-univariate_mean~along-n",
    "coefficients": "epsilon-3~seed-2",
    "regression": "network-4x4000x0.3_2x1000x2~seed-5",
    "summaries": "summary-density~epsilon-2",
    "sparse": "x-sparse_rows~x.n_curves-4000~epsilon-2",
    "compare": f"c-sparse_curves~{_SMALL}~methods-frl.adaptive_mean.bernstein~budgets-0.1_4~group-2",
    "sweeps": f"c-sparse_curves~{_SMALL}~sweep.values-0.5_2~sweep.repeats-5",
    "reproduce": "exhibit-functional_mean/table-1",
}
DRIVER = """
import contextlib, io, json, sys
from tests.few import set_for_this_process
programs, data_sets = json.load(sys.stdin)
set_for_this_process(data_sets)  # as few as here
said = []
for text in programs:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(text, {})
    said.append(out.getvalue())
json.dump(said, sys.stdout)
"""


def run(*programs, where=None):
    """What programs print, run by another Python one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        text=True,
        capture_output=True,
        cwd=where,
        input=json.dumps([programs, VERY_FEW_DATA_SETS]),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def look(monkeypatch):
    """The codes of a page, its notebook and the strip above them: ``look(page, token)``."""

    def look(page, token="", **state):
        notebooks = []
        monkeypatch.setattr(
            code_fold, "notebook", lambda code: notebooks.append(code_for.notebook(code)) or b"{}"
        )
        state[f"fold_{page}_code"] = True
        detail = {
            "explore": "code",
            "decide": "decide_code",
            "teach": "learn_code",
            "release": "publish_code",
        }.get(page)
        if detail:
            token = "~".join(filter(None, [token, f"open-{detail}"]))
        at = visit(page, token, **state)
        assert not at.error
        codes = [code.value for code in at.code if code.language in ("python", "bash")][:2]
        is_above = any("chips" in one for one in components(at, ""))
        above = strip(at) if is_above else Budgeted("")  # Explore has its numbers in the figure
        return codes, json.loads(notebooks[-1]), above, words(at)

    return look


def numbers(text):
    return {
        name: float(value)
        for name, value in (line.rsplit(": ", 1) for line in text.strip().splitlines())
    }


def on_the_strip(text):
    """The first number of words such as "3.85 cm" or "at most 56 in 100"."""
    return float(re.search(r"[\d\u202f.]+", text)[0].replace("\u202f", ""))


def agrees(said, strip):
    """Whether printed numbers, rounded as the strip has them, are those of the strip."""
    result = {
        name.rpartition("meets the target: ")[2]: value  # of a decision, what it recommends
        for name, value in numbers(said).items()
    }
    if strip.odds:
        assert 100 * result[AT_MOST] <= on_the_strip(strip.odds) + 1e-9
        assert 100 * result[AT_MOST] > on_the_strip(strip.odds) - 1 - 1e-9
    if strip.error:
        error = next(value for name, value in result.items() if name.startswith("error"))
        shown_error = on_the_strip(strip.error)
        assert shown_error == pytest.approx(error, rel=6e-3)


def is_written(text, value):
    """Whether words begin with a number that is this one, with the decimals it has there."""
    decimals = re.match(r"[\d\u202f]+\.?(\d*)", text)[1]
    return abs(on_the_strip(text) - value) <= 0.5001 * 10 ** -len(decimals)


def in_short(chance):
    """The largest chance as strips and tables write it, such as "≤ 56 %"."""
    return at_most_percent(chance).replace("at most", "≤").replace("more than", ">")


def spans(said, strip, error="error"):
    """Whether the strip of Methods has the ends of what is printed of the error, and the weakest odds."""
    result = numbers(said)
    errors = [
        value for name, value in result.items() if re.search(rf"ε = .*: {error}( \(|$)", name)
    ]
    low, high = strip.error.split(" to ")
    assert is_written(low, np.nanmin(errors)) and is_written(high, np.nanmax(errors))
    weakest = max(value for name, value in result.items() if "attacker’s accuracy, at most" in name)
    assert in_short(weakest).removeprefix("≤ ") in strip.odds  # the end of a range


def assert_the_same(look, page, token):
    """Python, notebook and command line of a page say the same, and what the strip says."""
    (python, command), notebook, strip, said = look(page, token)
    cells = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"
    )
    by_script, by_notebook = run(python, cells)
    assert by_script == by_notebook and by_script.strip()
    assert by_script.strip() == by_command(command)
    if page == "rates":
        share = max(value for name, value in numbers(by_script).items() if "share" in name)
        assert f"{100 * share:.0f} % of it" in said
    elif page == "compare":
        spans(by_script, strip)
    elif page not in ("sweeps", "reproduce"):
        agrees(by_script, strip)


def by_command(command):
    """What the command line prints: its parts are called here, without another process."""
    if command.startswith(("python -m engine audit", "python -m engine release")):
        return "\n".join(map(by_main, re.split(r"\n\n(?=python )", command)))
    if "exhibit" in command:
        key = command.split()[4]
        paper, exhibit = reproductions.find(key)
        steps = reproductions.quick(key)
        table = code_result(steps).table
        return "\n".join(
            exhibit_words.claim(*pair)
            for pair in zip(exhibit.claims, exhibit.findings(table), strict=True)
        )
    view = command.split("<<'END'\n")[1].removesuffix("\nEND")
    if command.startswith("python -m engine ask - <<"):
        question = kinds.from_json(view)
        return question.text(question.answer())
    wording.found("python engine run", command)
    chosen = from_json(view)
    cells = chosen.cells()
    outcomes = gather(cells, [run_block(block) for block in blocks(cells, chosen.run)])
    return outcome_rows.as_csv(outcomes, outcome_rows.provenance(chosen, "serial")).strip()


def by_main(command):
    """What one command with its own input prints."""
    words, _, text = command.partition(" <<'END'\n")
    with (
        pytest.MonkeyPatch.context() as changed,
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        changed.setattr(sys, "stdin", io.StringIO(text.removesuffix("\nEND")))
        main(words.split()[3:])
    return out.getvalue().strip()


def code_result(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


@pytest.mark.slow
def test_code_of_a_changed_view_gives_its_numbers(look):
    assert_the_same(look, "explore", CHANGED["explore"])


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in CHANGED if page != "explore"])
def test_code_of_any_changed_view_gives_its_numbers(look, page):
    assert_the_same(look, page, CHANGED[page])


def assert_the_table(at, said):
    """Every cell of the table of Methods is the printed number, as a table writes it."""
    found, table = numbers(said), at.dataframe[0].value
    for row in table.to_dict("records"):
        start = f"ε = {row['ε']}, {row['Method']}: "
        printed = {
            name.removeprefix(start): value
            for name, value in found.items()
            if name.startswith(start)
        }
        error = next(value for name, value in printed.items() if "error" in name)
        if math.isnan(error):
            assert (row["Error"], row["Privacy noise"]) == ("nothing published", "–")
            continue
        assert is_written(row["Error"], error)
        for part in error_words.PARTS:
            share = printed[f"share of the squared error: {part}"]
            assert row[capital(part)] == f"{100 * share:.0f} %"
        for column, name in (("Accuracy", "attacker’s accuracy"), ("Power", "power")):
            assert row[column].startswith(in_short(printed[f"{name}, at most"]))
    assert len(table) * 6 < len(found)  # and the errors at equal protection


@pytest.mark.slow
@pytest.mark.parametrize("token", [CHANGED["compare"], pytest.param("", marks=pytest.mark.slow)])
def test_code_of_methods_prints_the_table_of_the_page(token):
    at = visit("compare", token, fold_compare_code=True)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(at.code[0].value, {})
    assert_the_table(at, out.getvalue())
    assert out.getvalue().strip() == by_command(at.code[1].value)


@pytest.mark.slow
def test_code_of_methods_measures_real_curves_from_one_aim(look):
    (python, command), _, strip, said = look(
        "compare", "c-sea_temperature~methods-adaptive_mean.bernstein~budgets-1"
    )
    wording.found("one non private", said)
    (by_script,) = run(python)
    assert by_script.strip() == by_command(command)
    spans(by_script, strip, "forecast error")


SEVERAL = "group-3~population-5000000"  # three curves of one person, and a declared sample


@pytest.mark.slow
def test_code_gives_the_odds_of_the_card_for_several_curves_and_a_declared_sample(look):
    token = f"{CHANGED['explore']}~{SEVERAL}"
    (python, command), _, strip, _ = look("explore", token)
    said = words(visit("explore", f"{token}~open-several", fold_several=True))
    (by_script,) = run(python)
    assert by_script.strip() == by_command(command)
    agrees(by_script, strip)
    result = numbers(by_script)
    assert result[AT_MOST] > result["attacker’s accuracy in the larger group, at most"]
    drawn = at_most_percent(result["attacker’s accuracy in the larger group, at most"])
    wording.found("attacker’s accuracy instead", said, drawn)
    assert result["ε of 3 together"] > result["proved ε"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in CHANGED if page not in ("explore", "rates", "sweeps", "reproduce")]
)
def test_code_of_any_page_gives_the_odds_of_its_strip_for_several_records(look, page):
    assert_the_same(look, page, f"{CHANGED[page]}~{SEVERAL}")


@pytest.mark.slow
@pytest.mark.parametrize("page", CHANGED)
def test_code_of_every_page_as_it_opens_gives_its_numbers(look, page):
    # two take long in full, and a link to summaries always names its function
    token = CHANGED[page] if page in ("summaries", "sweeps", "reproduce") else ""
    assert_the_same(look, page, token)


@pytest.mark.parametrize("task", LAB_TASKS)
def test_whatever_can_be_plugged_in_is_written_so_that_it_comes_back(task):
    for shelf in (sources, mechanisms):
        for cls in shelf.for_task(task):
            for _, chosen in cls.presets_for(task):
                member = cls(**chosen)
                script = code_for._Script()
                script.assign("member", member)
                made = {}
                exec(script.text, made)
                assert isinstance(member, Parameterised) and made["member"] == member


def test_a_notebook_is_valid_without_outputs_and_with_cells_that_are_named():
    code = code_for.code_for(
        ask(mean_answer, DEFAULT.source, DEFAULT.mechanism, Budget(1.0, 2.5e-5), 1)
    )
    book = json.loads(code_for.notebook(code))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert set(book) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    names = [cell["id"] for cell in book["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[\w-]{1,64}", n) for n in names)
    for cell in book["cells"]:
        needed = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            needed |= {"execution_count", "outputs"}
            assert cell["outputs"] == [] and cell["execution_count"] is None
        assert set(cell) == needed and all(isinstance(line, str) for line in cell["source"])


@pytest.mark.slow
def test_code_for_ones_own_file_reads_it_by_name_and_holds_none_of_its_values(look, tmp_path):
    frame = files.growth_frame(80, 8)
    (tmp_path / "my heights.csv").write_bytes(files.csv(frame))
    result = OwnFile("my heights.csv", own_curves().reading)
    (python,), _, strip, _ = look(
        "explore", upload=own_curves(), show_upload=True, upload_how=result
    )
    assert (
        all(
            str(value) not in python for value in frame["height"].unique() if value not in (60, 210)
        )
        and "c000" not in python
    )
    assert '"growth chart"' in python and "value_low=60.0" in python
    (said,) = run(python, where=tmp_path)
    agrees(said, strip)


@pytest.mark.slow
def test_without_the_file_there_is_no_code_and_nothing_fails():
    at = open_page("open-code", upload=own_curves(), show_upload=True, fold_explore_code=True)
    assert not at.code and not at.error
    wording.found("code first look", [word.value for word in at.markdown])


def test_a_file_with_quotes_in_its_name_is_no_code():
    name = '"); import os; ("'
    result = OwnFile(name, own_curves().reading)
    code = code_for.code_for(
        ask(mean_answer, own_curves(), DEFAULT.mechanism, Budget(1.0, 1e-4), 1), result
    )
    assert f"FILE = {json.dumps(name)}" in code.python
    compile(code.python, "code", "exec")
    assert code.command == ""


def test_rows_and_groups_are_written_by_what_differs():
    row = dataclasses.replace(PRESETS["equal"].rows[0], epsilon=2.0)
    script = code_for._Script()
    wording.found("row of site", script.written(row), 250, 10, 2.0, alone=True)


def own_of(kind, folder):
    """A source of one's own of some kind and how its file, put into the folder, was read."""
    if kind == "rows":
        content, source = files.csv(row_frame(400)), own_rows(SPARSE, NAMES, row_frame(400))
        reading = propose(
            content,
            data=DataType.RECORDS,
            stated={"features": NAMES, "columns": {"id": None, "value": "y", "server": "site"}},
        ).reading
        source = dataclasses.replace(source, reading=reading)
    elif kind == "readings":
        content, source = files.csv(reading_frame(3000)), own_readings()
    else:
        content, source = files.csv(files.growth_frame(80, 8)), own_curves()
    (folder / "own.csv").write_bytes(content)
    return source, OwnFile("own.csv", source.reading)


BUDGET = Budget(2.0, 1e-4)
OWN = {
    "rows": lambda source: ask(
        sparse_answer, source, DEFAULT.mechanism_of("sparse_regression"), BUDGET, 1
    ),
    "readings": lambda source: ask(
        regression_answer,
        source,
        DEFAULT.mechanism_of("wavelet_regression"),
        Network.of_upload(source, (1.0, 2.0), 1e-6),
        1,
    ),
    "curves": lambda source: ask(
        summaries_answer, source, DEFAULT.mechanism_of(COVARIANCE.key), COVARIANCE.key, BUDGET, 1
    ),
}


@pytest.mark.parametrize("kind", OWN)
def test_a_file_of_ones_own_is_read_again_as_it_was_on_the_page(kind, tmp_path, monkeypatch):
    source, own = own_of(kind, tmp_path)
    code = code_for.code_for(OWN[kind](source), own)
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(code.run, made)
    assert made["source"].declared == source.declared
    first, again = (one.draw(1, generator(0, 0, 0)) for one in (source, made["source"]))
    assert digest(first) == digest(again)
    assert code.command == "" and "own.csv" in code.python


def test_sites_of_ones_own_are_sized_by_the_file_alone(tmp_path, monkeypatch):
    source, own = own_of("readings", tmp_path)
    code = code_for.code_for(OWN["readings"](source), own)
    assert "1000" not in code.python and "2000" not in code.python
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(code.run, made)
    assert made["question"]["network"] == Network.of_upload(source, (1.0, 2.0), 1e-6)
