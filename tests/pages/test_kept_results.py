"""Results that pages keep: the latest ones, up to a size."""

import numpy as np

from pages.shared.state.run import Store


def numbers(megabytes):
    """A result of that size, inside other records as those of the engine."""
    return {"errors": (np.zeros(125_000 * megabytes), "cm")}


def test_what_was_used_longest_ago_is_forgotten_once_results_take_too_many_bytes():
    store = Store(3_500_000)
    for key in "abc":
        store[key] = numbers(1)
    assert store["a"] is not None  # used again
    store["d"] = numbers(1)
    assert [key for key in "abcd" if key in store] == ["a", "c", "d"]


def test_one_large_result_stays_alone():
    store = Store(3_500_000)
    store["small"] = numbers(1)
    store["large"] = numbers(9)
    assert "large" in store and "small" not in store


def test_a_result_that_is_computed_again_counts_once():
    store = Store(3_500_000)
    for _ in range(5):
        store["a"] = numbers(1)
    store["b"] = numbers(1)
    store["c"] = numbers(1)
    assert all(key in store for key in "abc")
