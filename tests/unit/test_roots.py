"""Roots to the last digit of SciPy's, without the moment that it takes to import."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from engine.numerics.gaussian_privacy import log_delta
from engine.numerics.roots import root
from tests.heavy import few


@pytest.mark.parametrize("seed", few(range(20), 3))
def test_roots_are_those_of_scipy_to_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        at, bend = rng.uniform(-3, 3), 10 ** rng.uniform(-2, 2)
        for function in (
            lambda x, at=at, bend=bend: math.tanh(bend * (x - at)) + 0.01 * (x - at) ** 3,
            lambda x, at=at, bend=bend: math.exp(min(bend * (at - x), 300.0)) - 1,
            lambda x, at=at, bend=bend: (x - at) ** 5 + (x - at) / bend,
        ):
            low, high = at - rng.uniform(0.1, 9), at + rng.uniform(0.1, 9)
            assert root(function, low, high, 1e-12) == brentq(function, low, high, xtol=1e-12)
        epsilon, target = 10 ** rng.uniform(-2, 1), -rng.uniform(1, 100)
        if log_delta(1e-3, epsilon) > target > log_delta(1e4, epsilon):
            function = lambda sigma: log_delta(sigma, epsilon) - target  # noqa: E731, B023
            assert root(function, 1e-3, 1e4, 1e-12) == brentq(function, 1e-3, 1e4, xtol=1e-12)


def test_a_root_at_an_end_is_found():
    assert root(lambda x: x - 1, 1.0, 2.0, 1e-12) == 1.0
    assert root(lambda x: x - 2, 1.0, 2.0, 1e-12) == 2.0
