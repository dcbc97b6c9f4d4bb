"""Examples in docstrings give what they say."""

import doctest
import importlib

import pytest

MODULES = ("engine.mechanism", "engine.families.adaptive")


@pytest.mark.parametrize("name", MODULES)
def test_an_example_in_a_docstring_gives_what_it_says(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted and not results.failed
