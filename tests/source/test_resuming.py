"""A run of all tests that was stopped goes on where it was."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
from pathlib import Path

def test_first(): pass

def test_second(): assert (Path(__file__).parents[1] / "is_mended").exists()

def test_third(): pass
"""


def ran(folder, *more):
    """How many tests a run passed, failed and, in one process, left out."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.resuming", "--rootdir", ".", *more],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    words = ("passed", "failed", "deselected")
    return [
        int(found[1]) if (found := re.search(rf"(\d+) {word}", done.stdout)) else 0
        for word in words
    ]


def test_what_passed_is_left_out_until_all_has_or_a_file_changes(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_three.py").write_text(TESTS, "utf-8")
    assert ran(project, "-x") == [1, 1, 0]  # stopped by the failure, before the third
    assert ran(project) == [1, 1, 1]
    (tmp_path / "is_mended").touch()  # outside: no file of the project has changed
    assert ran(project, "-n", "2")[:2] == [1, 0]
    assert ran(project) == [3, 0, 0]
    (tmp_path / "is_mended").unlink()
    assert ran(project) == [2, 1, 0]
    (project / "notes.txt").write_text("changed", "utf-8")
    assert ran(project) == [2, 1, 0]
