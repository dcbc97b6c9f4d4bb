"""The walk-throughs do what they say, in a copy of the project: mechanism, source, rate, task, page."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
WALK_THROUGHS = ("docs/adding_a_mechanism.md", "docs/adding_a_task.md")
PROPERTIES = ("tests/property/test_every_mechanism.py", "tests/property/test_every_task.py")
# A block of code, below the file that it is or goes into.
BLOCK = re.compile(
    r"^`(?P<path>[^`]+)`(?:, (?P<side>before|after) `(?P<line>[^`]+)`)?[^`\n]*:\n\n"
    r"```\w+\n(?P<text>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)
MECHANISM = """
import contextlib, io, json, os
from streamlit.testing.v1 import AppTest
from engine import __main__ as command_line, audit, exhibits
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources
from engine.core.random_streams import generator
from engine.core.types import Budget

seen, out = {}, io.StringIO()
with contextlib.redirect_stdout(out):
    command_line.main(["list"])
seen["listed"] = out.getvalue()
at = AppTest.from_file(os.path.abspath("pages/shared/shell.py"), default_timeout=600)
at.query_params["s"] = "m-averaged_coefficients~c-straight_lines~open-more"
at.run()
assert not at.exception, at.exception
choices = {box.label: box for box in at.selectbox}
seen["methods"] = list(choices["Method"].options)
seen["method"] = choices["Method"].value
seen["errors"] = [error.value for error in at.error]
at.query_params["s"] = "tab-theory~theory-notes~about-averaged_coefficients"
at.switch_page("../lab.py").run()
seen["notes"] = [header.value for header in at.header]
case = audit.cases_of(mechanisms.get("averaged_coefficients"))[0]
report = audit.audit_case(case, tries=400, runs=0, seconds=3600)
seen["verdict"], seen["ratio"], seen["reason"] = report.verdict, report.ratio, report.reason
source = sources.get("straight_lines")()
line = mechanisms.get("averaged_coefficients")().release(
    source.draw(1, generator(1, 0, 0)), (Budget(1.0, 1e-4),), generator(1, 1, 0))
seen["drawn"] = line.coefficients.shape
seen["rate"] = float(rates.get("example_rate")().total(n=100, epsilon=1.0))
paper, exhibit = exhibits.find("example/figure-1")
steps = exhibits.quick("example/figure-1")
try:
    while True:
        next(steps)
except StopIteration as end:
    table = end.value.table
seen["claims"] = [finding.holds for finding in exhibit.findings(table)]
seen["panels"] = len(exhibit.draw(table))
print(json.dumps(seen))
"""
TASK = """
import contextlib, io, json, os
from streamlit.testing.v1 import AppTest
from engine import __main__ as command_line, audit
from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.sources import sources
from engine.topics.share_above import question as topic
from engine.topics.share_above.answer import share_answer

seen, out = {}, io.StringIO()
task = TASKS["share_above"]
seen["usual"] = sources.default(task.source, task.key).key, mechanisms.default(task.mechanism, task.key).key
report = audit.audit_case(audit.cases_of(mechanisms.get("noisy_share"))[0], tries=400, runs=0, seconds=3600)
seen["verdict"], seen["ratio"] = report.verdict, report.ratio
with contextlib.redirect_stdout(out):
    command_line.main("ask share_above --source levels --mechanism noisy_share --budget.epsilon 1 --seed 1".split())
seen["asked"] = dict(line.rsplit(": ", 1) for line in out.getvalue().splitlines())
answer = share_answer(sources.get("levels")(), mechanisms.get("noisy_share")(), Budget(1.0, 0.0), 1)
seen["points"] = len(topic.KIND.chart(answer, None).spec["data"])
at = AppTest.from_file(os.path.abspath("pages/shared/shell.py"), default_timeout=600)
at.query_params["s"] = "epsilon-1~open-shares_code"
at.switch_page("../shares.py").run()
assert not at.exception, at.exception
seen["title"] = [title.value for title in at.title]
seen["page"] = [text.value for text in at.markdown]
seen["code"] = [code.value for code in at.code]
seen["errors"] = [error.value for error in at.error]
print(json.dumps(seen))
"""


def followed(folder):
    """A copy of the project after the walk-throughs: each block of the documents in its place."""
    for document in WALK_THROUGHS:
        blocks = list(BLOCK.finditer((ROOT / document).read_text("utf-8")))
        assert len(blocks) == (ROOT / document).read_text("utf-8").count("\n```") / 2
        for block in blocks:
            path = folder / block["path"]
            if not block["side"]:
                assert not path.exists(), path
                path.parent.mkdir(exist_ok=True)
                path.write_text(block["text"], "utf-8")
                continue
            before, line, after = path.read_text("utf-8").partition(f"\n{block['line']}")
            rest, newline, further = after.partition("\n")
            assert line, (path, block["line"])
            parts = (
                (before, "\n", block["text"], line[1:], after)
                if block["side"] == "before"
                else (before, line, rest, newline, block["text"], further)
            )
            path.write_text("".join(parts), "utf-8")
    return folder


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The parts of the project that are needed, with the files of the documents in place."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("engine", "reproductions", "benchmarks", "docs", "pages", "data"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.png")
        )
    for name in ("tests/__init__.py", "tests/property/__init__.py", "tests/heavy.py", *PROPERTIES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return followed(folder)


def python(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=4 * PATIENCE,
    )


def reported(folder, script):
    done = python(folder, "-c", script)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def mechanism(copy):
    return reported(copy, MECHANISM)


@pytest.fixture(scope="module")
def task(copy):
    return reported(copy, TASK)


# -- a mechanism, a source, a rate, an exhibit ----------------------------------------------------


@pytest.mark.slow
def test_a_mechanism_is_listed_with_its_parameters(mechanism):
    assert "averaged_coefficients  Averaged coefficients" in mechanism["listed"]
    assert "Where half the stated range of values is 1." in mechanism["listed"]


@pytest.mark.slow
def test_explore_offers_it_and_a_link_chooses_it(mechanism):
    assert "Averaged coefficients" in mechanism["methods"]
    assert mechanism["method"] == "Averaged coefficients"
    assert not mechanism["errors"]


@pytest.mark.slow
def test_its_notes_are_on_the_page_of_methods(mechanism):
    assert mechanism["notes"] == ["Averaged coefficients"]


@pytest.mark.slow
def test_the_audit_attacks_it_and_it_loses_what_it_claims_and_no_more(mechanism):
    assert mechanism["verdict"] == "holds", mechanism
    assert 0.95 <= mechanism["ratio"] <= 1 + 1e-9
    assert not mechanism["reason"]


@pytest.mark.slow
def test_the_source_the_rate_and_the_exhibit_of_the_recipes_work(mechanism):
    assert mechanism["drawn"] == [1, 1, 1, 7]
    assert mechanism["rate"] == pytest.approx(1 / 100 + 1 / 100**2)
    assert mechanism["claims"] == [True]
    assert mechanism["panels"] == 1


# -- a task with its topic and its page -----------------------------------------------------------


@pytest.mark.slow
def test_a_task_begins_with_its_source_and_its_mechanism_and_the_audit_attacks_it(task):
    assert task["usual"] == ["levels", "noisy_share"]
    assert task["verdict"] == "holds", task
    assert 0.95 <= task["ratio"] <= 1 + 1e-9


def test_its_question_is_asked_on_the_command_line_and_gives_a_share_with_its_error(task):
    assert abs(float(task["asked"]["share"]) - 0.5) < 0.15
    assert float(task["asked"]["error"]) == pytest.approx(2**0.5 / 400, rel=0.2)
    assert float(task["asked"]["proved ε"]) == pytest.approx(1.0)


def test_a_notebook_gets_its_chart(task):
    assert task["points"] == 2


def test_its_page_shows_the_same_number_and_the_code_that_gives_it(task):
    assert task["title"] == ["Shares"] and not task["errors"]
    assert any(f"{100 * float(task['asked']['share']):.1f} %" in text for text in task["page"])
    assert any("share_answer" in code for code in task["code"])


# -- all of it ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_new_members_have_every_property_that_all_have(copy):
    done = python(
        copy,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *PROPERTIES,
        "-k",
        "AveragedCoefficients or NoisyShare or share_above",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) >= 35


def test_the_code_is_written_as_all_code_is(copy):
    written = {
        block["path"]
        for document in WALK_THROUGHS
        for block in BLOCK.finditer((ROOT / document).read_text("utf-8"))
    }
    done = python(
        copy,
        "-m",
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
        *sorted(path for path in written if path.endswith(".py")),
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_its_types_are_checked_as_all_are(copy):
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copy(ROOT / "app.py", copy)
    done = python(copy, "-m", "mypy", "--cache-dir", os.devnull)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_the_whole_default_suite_passes_with_them(tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(
        ROOT, folder, ignore=shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*.egg-info")
    )
    stored = python(followed(folder), "-m", "engine", "exhibit", "example/figure-1", "--store")
    assert stored.returncode == 0, stored.stderr[-3000:]
    for script in ("scripts.write_claims", "scripts.write_coverage"):
        written = python(folder, "-m", script)
        assert written.returncode == 0, written.stderr[-3000:]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--ignore", "tests/processes/test_walkthrough.py"],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
