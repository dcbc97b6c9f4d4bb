"""How often something comes true in simulations, and what that says of how often it does."""

import numpy as np
import pytest
from scipy.stats import binom

from engine.numerics.proportions import Proportion, wilson


@pytest.mark.parametrize(("chance", "n"), [(0.95, 100), (0.95, 20), (0.5, 40), (0.8, 400)])
def test_the_interval_contains_the_chance_about_as_often_as_it_says(chance, n):
    counts = np.arange(n + 1)
    low, high = wilson(counts / n, n)
    covered = binom.pmf(counts, n, chance)[(low <= chance) & (chance <= high)].sum()
    assert 0.92 < covered <= 1


def test_releases_that_are_alike_within_a_data_set_count_once():
    apart = np.arange(100.0).reshape(10, 10, order="F")
    alike = np.repeat(np.arange(10.0)[:, None], 10, axis=1)
    few, many = Proportion.within(alike, 8), Proportion.within(apart, 89)
    assert (few.count, few.n) == (many.count, many.n) == (90, 100)
    assert few.high - few.low > 2 * (many.high - many.low)
    assert (few.low, few.high) == pytest.approx(wilson(0.9, 10))


def test_all_releases_within_are_no_proof_that_all_there_could_be_are():
    every = Proportion.within(np.zeros((4, 5)), 1.0)
    assert every.count == every.n == 20 and every.low < 0.9 and every.high == 1.0
