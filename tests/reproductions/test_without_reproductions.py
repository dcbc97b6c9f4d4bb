"""An installation without `reproductions`: it says so where papers are asked for, and all else works."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT
from tests.waiting import PATIENCE

WITHOUT = """
import contextlib, io, json, os, sys
sys.modules["reproductions"] = None  # as if it were not there
from engine import exhibits, handbook
from engine import api as pc
from engine.__main__ import main
from engine.core.errors import InputError
from engine.questions.kinds import kinds
from streamlit.testing.v1 import AppTest

def ended(*words):
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        return main([*words]), said.getvalue()

def refused(function, *arguments):
    try:
        function(*arguments)
    except InputError as refusal:
        return str(refusal)

def opened(token):
    at = AppTest.from_file(os.path.abspath("pages/shared/shell.py"), default_timeout=600)
    at.query_params["s"] = token
    at.run()
    at.switch_page("../lab.py").run()
    assert not at.exception, at.exception
    assert not at.error, at.error
    return [text.value for text in at.markdown], [bool(text.value) for text in at.warning]

print(json.dumps({
    "installed": exhibits.is_installed(),
    "commands": [ended("exhibit"), ended("exhibit", "all"), ended("exhibit", "some/figure-1")],
    "listed": ended("list"),
    "calls": [refused(pc.exhibits), refused(pc.exhibit, "some/figure-1")],
    "kinds": sorted(kinds()),
    "papers": opened("tab-papers"),
    "linked": opened("tab-papers~exhibit-functional_mean/figure-1"),
    "notes": opened("tab-theory~theory-notes~about-adaptive_mean"),
    "sentence": f"{exhibits.MISSING} {exhibits.HINT}",
}))
"""


@pytest.fixture(scope="module")
def without():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_ends_as_on_any_wrong_input(without):
    assert not without["installed"]
    for code, said in without["commands"]:
        assert code == 2 and without["sentence"] in said
    assert without["listed"][0] == 0


def test_the_interface_refuses(without):
    assert without["calls"] == [without["sentence"]] * 2


def test_all_other_questions_can_be_asked(without):
    assert "exhibit" not in without["kinds"] and len(without["kinds"]) > 15


def test_the_tab_of_papers_says_so_and_other_tabs_open(without):
    (papers, _), (linked, warned), (notes, _) = (
        without[name] for name in ("papers", "linked", "notes")
    )
    assert without["sentence"] in papers and without["sentence"] in linked
    assert warned and without["sentence"] not in notes
