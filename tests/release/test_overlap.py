"""How many people two data sets share, from sketches: exact for small ones, estimated for large."""

import math

import pytest

from engine.release.overlap import SIZE, Sketch, largest_share, share, sketches

KEY = bytes(range(32))


def people(*numbers, key=KEY, kind="ids"):
    return sketches({kind: [f"person {k}".encode() for k in range(*numbers)]}, key)[kind]


@pytest.mark.parametrize(("other", "expected"), [
    ((0, 100), 1.0), ((0, 99), 1.0), ((50, 150), 0.5), ((100, 200), 0.0), ((0, 1000), 1.0),
    ((90, 110), 0.5)])
def test_the_share_of_the_smaller_of_two_small_data_sets_is_exact(other, expected):
    assert share(people(100), people(*other)) == pytest.approx(expected)
    assert share(people(*other), people(100)) == pytest.approx(expected)


@pytest.mark.parametrize(("one", "other"), [
    ((0, 20_000), (0, 19_999)), ((0, 20_000), (10_000, 30_000)), ((0, 20_000), (0, 1000)),
    ((0, 3000), (1500, 4500)), ((0, 5000), (5000, 10_000))])
def test_of_large_data_sets_it_is_estimated_within_five_standard_errors(one, other):
    sizes, common = (one[1] - one[0], other[1] - other[0]), max(one[1] - other[0], 0)
    common = min(common, *sizes)
    alike = common / (sum(sizes) - common)
    error = math.sqrt(alike * (1 - alike) / SIZE) * sum(sizes) / (1 + alike) ** 2 / min(sizes)
    result = share(people(*one), people(*other))
    assert abs(result - common / min(sizes)) <= 5 * error + 1e-12


def test_a_sketch_is_bounded_and_comes_back_from_bytes():
    large = people(10_000)
    again = Sketch.from_bytes(large.n, large.to_bytes())
    assert len(large.to_bytes()) == 8 * SIZE and large.n == 10_000
    assert share(large, again) == 1.0


def test_under_another_key_or_of_another_kind_nobody_is_known():
    assert share(people(100), people(100, key=bytes(32))) == 0.0
    assert share(people(100), people(100, kind="values")) == 0.0
    assert largest_share({"ids": people(100)}, {"values": people(100)}) == (0.0, "")


def test_values_that_many_share_are_left_out_and_ids_never():
    many = {"values": [b"45", b"46"] * 50, "ids": [b"a", b"a", b"b"]}
    assert set(sketches(many, KEY)) == {"ids"}
