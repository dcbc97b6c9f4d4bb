"""What the first page and the first calibration load: each asks a fresh interpreter."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from engine import __main__ as command_line

ROOT = Path(__file__).parents[2]
PAGE = "import pages.parts.explore.cards, pages.shared.state.run"
LIBRARIES = {
    "scipy.optimize",
    "scipy.stats",
    "scipy.interpolate",
    "scipy.spatial",
    "scipy.sparse",
    "dp_accounting",
    "pywt",
    "python_calamine",
    "opendp",
    "distributed",
}
OF_OTHER_PAGES = {
    f"engine.{name}"
    for name in (
        "audit.broken",
        "audit",
        "exports.memo",
        "simulation.sweeps",
        "release.certified",
        "release.published",
        "release.ledger",
        "release.sentences",
        "topics.coverage.answer",
        "topics.coefficients.answer",
        "topics.summaries.answer",
        "topics.sparse.answer",
        "topics.sparse.intervals",
        "topics.regression.slopes",
        "topics.reuse.answer",
        "topics.audit.charts",
        "topics.rates.charts",
        "topics.sparse.charts",
        "topics.summaries.charts",
        "questions.kinds",
    )
} | {"reproductions", "reproductions.exhibits", "reproductions.drawing"}


@cache
def loaded(code):
    """The modules that are there after `code`, run in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return {*done.stdout.split()}


@pytest.mark.slow
def test_no_page_waits_for_a_library_that_it_does_not_need_at_once():
    pages = ("decide.details", "lab.tabs", "learn.lesson", "release.wizard")
    every = f"{PAGE}, {', '.join(f'pages.parts.{page}' for page in pages)}"
    assert "engine.topics.decision.theory" in loaded(every) and not loaded(every) & LIBRARIES


def test_the_first_page_imports_no_part_of_the_engine_that_only_other_pages_show():
    assert all(map(importlib.util.find_spec, OF_OTHER_PAGES))
    assert not loaded(PAGE) & OF_OTHER_PAGES


@pytest.mark.slow
def test_calibrating_gaussian_noise_imports_neither_statistics_nor_a_package_of_accountants():
    after = loaded(
        "from engine.privacy import accounting; accounting.exact_mu(1.0, 1e-5); "
        "accounting.exact_epsilon(0.2, 1e-5)"
    )
    assert "numpy" in after and not after & {"dp_accounting", "scipy.stats", "scipy.signal"}


def test_a_command_loads_no_other_command():
    after = loaded("from engine.__main__ import main; main(['schema', 'guarantee'])")
    others = {name for name in after if name.startswith("engine.commands.")}
    assert others == {"engine.commands.listing", "engine.commands.exit_codes"}


@pytest.mark.parametrize("module", sorted(command_line.WORDS))
def test_every_command_is_found_by_its_word(module):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    importlib.import_module(f"engine.commands.{module}").add(commands)
    assert list(commands.choices) == command_line.WORDS[module].split()
