"""Which of many alike cases are in every run, and which are left to `make test-all`."""

import pytest


def few(values, fast=1):
    """The values of a parameter, of which only the first `fast` are in the default run."""
    return [value if k < fast else slow(value) for k, value in enumerate(values)]


def all_but(heavy, values):
    """The values of a parameter; those in `heavy` take long and are not in the default run."""
    return [slow(value) if value in heavy else value for value in values]


def slow(value):
    """One value, or one tuple of values, that is not in the default run."""
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
