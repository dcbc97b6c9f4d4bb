"""The walk-through on adding a mechanism does what it says, in a copy of the project."""

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
TEXT = (ROOT / "docs" / "adding_a_mechanism.md").read_text("utf-8")
PROPERTIES = "tests/property/test_every_mechanism.py"
# Where each block of the document goes, in their order.
PLACES = ("engine/mechanisms/averaged_coefficients.py", "docs/methods/averaged_coefficients.md",
          "engine/sources/straight_lines.py", "engine/rates/example_rate.py",
          "engine/papers/example.py")
CHECKS = """
import contextlib, io, json, os
from streamlit.testing.v1 import AppTest
from engine import __main__ as command_line, audit, papers
from engine.mechanisms import mechanisms
from engine.rates import rates
from engine.sources import sources
from engine.simulation.experiments import generator
from engine.core.types import Budget

found, out = {}, io.StringIO()
with contextlib.redirect_stdout(out):
    command_line.main(["list"])
found["listed"] = out.getvalue()
at = AppTest.from_file(os.path.abspath("pages/shared/shell.py"), default_timeout=600)
at.query_params["s"] = "m-averaged_coefficients~c-straight_lines~open-more"
at.run()
assert not at.exception, at.exception
choices = {box.label: box for box in at.selectbox}
found["methods"] = list(choices["Method"].options)
found["chosen"] = choices["Method"].value
found["errors"] = [error.value for error in at.error]
at.query_params["s"] = "tab-theory~theory-notes~about-averaged_coefficients"
at.switch_page("../lab.py").run()
found["notes"] = [header.value for header in at.header]
case = audit.cases_of(mechanisms.get("averaged_coefficients"))[0]
report = audit.audit_case(case, tries=400, runs=0, seconds=3600)
found["verdict"], found["ratio"], found["reason"] = report.verdict, report.ratio, report.reason
source = sources.get("straight_lines")()
line = mechanisms.get("averaged_coefficients")().release(
    source.draw(1, generator(1, 0, 0)), (Budget(1.0, 1e-4),), generator(1, 1, 0))
found["drawn"] = line.coefficients.shape
found["rate"] = float(rates.get("example_rate")().total(n=100, epsilon=1.0))
paper, exhibit = papers.find("example/figure-1")
steps = papers.quick("example/figure-1")
try:
    while True:
        next(steps)
except StopIteration as end:
    table = end.value.table
found["claims"] = [one.holds for one in exhibit.findings(table)]
found["panels"] = len(exhibit.draw(table, "light"))
print(json.dumps(found))
"""


def blocks():
    return re.findall(r"^```(?:python|markdown)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


def followed(folder):
    """A copy of the project after the walk-through: each block of the document in its place."""
    for place, text in zip(PLACES, blocks(), strict=True):
        (folder / place).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The parts of the project that are needed, with the files of the document in place."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("engine", "docs", "pages", "data"):
        shutil.copytree(ROOT / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__", "*.png"))
    for name in ("tests/__init__.py", "tests/property/__init__.py", "tests/heavy.py", PROPERTIES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return followed(folder)


def python(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=4 * PATIENCE)


@pytest.fixture(scope="module")
def found(copy):
    done = python(copy, "-c", CHECKS)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_it_is_listed_with_its_parameters(found):
    assert "averaged_coefficients  Averaged coefficients" in found["listed"]
    assert "Where half the stated range of values is 1." in found["listed"]


def test_explore_offers_it_and_a_link_chooses_it(found):
    assert "Averaged coefficients" in found["methods"]
    assert found["chosen"] == "Averaged coefficients"
    assert not found["errors"]


def test_its_notes_are_on_the_page_of_methods(found):
    assert found["notes"] == ["Averaged coefficients"]


def test_the_audit_attacks_it_and_it_loses_what_it_claims_and_no_more(found):
    assert found["verdict"] == "holds", found
    assert 0.95 <= found["ratio"] <= 1 + 1e-9
    assert not found["reason"]


def test_the_source_the_rate_and_the_exhibit_of_the_recipes_work(found):
    assert found["drawn"] == [1, 1, 1, 7]
    assert found["rate"] == pytest.approx(1 / 100 + 1 / 100**2)
    assert found["claims"] == [True]
    assert found["panels"] == 1


@pytest.mark.slow
def test_it_has_every_property_that_all_mechanisms_have(copy):
    done = python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
                  PROPERTIES, "-k", "AveragedCoefficients")
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout).group(1)) >= 15


def test_the_code_is_written_as_all_code_is(copy):
    done = python(copy, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"),
                  *(place for place in PLACES if place.endswith(".py")))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_the_whole_default_suite_passes_with_it(tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(
        ".git", ".venv*", "__pycache__", "*.egg-info"))
    stored = python(followed(folder), "-m", "engine", "exhibit", "example/figure-1", "--store")
    assert stored.returncode == 0, stored.stderr[-3000:]
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--ignore", "tests/processes/test_walkthrough.py"],
        cwd=folder, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
