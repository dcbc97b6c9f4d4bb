"""Which of many alike cases are in every run, and which are left to `make test-all`."""

import pytest


def few(values, fast=1):
    """The values of a parameter, of which only the first `fast` are in the default run."""
    usual = [value for value in values if not is_slow(value)][:fast]
    return [value if any(value is one for one in usual) else slow(value) for value in values]


def all_but(heavy, values):
    """The values of a parameter; those in `heavy` take long and are not in the default run."""
    return [slow(value) if value in heavy else value for value in values]


def slow(value):
    """One value, one tuple of values, or one set with its marks that is not in the default run."""
    if is_slow(value):
        return value
    if isinstance(value, type(pytest.param())):
        return value._replace(marks=[*value.marks, pytest.mark.slow])
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)


def is_slow(value):
    return any(mark.name == "slow" for mark in getattr(value, "marks", ()))
