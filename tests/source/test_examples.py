"""Every example in a docstring of the engine is run, and gives what stands below it."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    file
    for folder in ("engine", "reproductions", "benchmarks")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if ">>> " in file.read_text("utf-8")
]
MODULES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in FILES
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_their_docstrings_say(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0
