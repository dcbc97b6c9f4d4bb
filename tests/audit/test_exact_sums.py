"""Sums of whole numbers keep their bounds exactly, whatever one person's deviation holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.numerics import exact_sums
from engine.numerics.exact_sums import ExactSum, Statistic, whole_sums

MOST = 2**40
ONE = np.ones((1, 1))


def whole(sums):
    """The exact totals as Python's whole numbers."""
    numbers = (sums.high[0, 0].astype(object) << 20) + sums.low[0, 0]
    if numbers.ndim == 1:
        return numbers
    high, cross, low = numbers
    return (high << 40) + ((cross + cross.T) << 20) + low


def sums_of(h, *kinds, moments_radius=ONE):
    """Totals of people (people, p) in units of the shape and the radius."""
    deviations = np.array(h, dtype=float).T[None, None].copy()
    shape = np.ones((1, 1, deviations.shape[2]))
    found = whole_sums(deviations, shape, ONE, kinds, moments_radius)
    return [whole(each) for each in found]


def squared(x):
    return sum(int(each) ** 2 for each in np.ravel(x))


def largest_norm(tries=4000, seed=1):
    """The largest ‖u‖²/2⁸⁰ over deviations of sizes 10⁻¹⁸ to 10¹⁸, and whether none is above 1."""
    rng, largest, is_within = np.random.default_rng(seed), 0.0, True
    for p in (1, 2, 3, 5, 9, 21, 33):
        for h in rng.standard_normal((tries // 7, p)) * 10 ** rng.uniform(-18, 18, (tries // 7, 1)):
            u, q = sums_of([h], Statistic.LOCATION, Statistic.MOMENTS)
            assert (q == np.outer(u, u)).all()
            largest = max(largest, squared(u) / MOST**2)
            is_within &= squared(u) <= MOST**2
    return largest, is_within


def test_no_deviation_is_longer_than_its_bound_and_some_attain_it():
    largest, is_within = largest_norm()
    assert is_within and largest > 1 - 1e-9


def rounding_to_nearest(patch):
    """Entries are rounded, so that some vectors become longer."""
    honest = np.trunc
    patch.setattr(exact_sums.np, "trunc", lambda x, **out: honest(np.rint(x, **out), **out))


def clipping_in_single_precision(patch):
    """Norms are computed in single precision."""
    honest = exact_sums.truncated
    patch.setattr(
        exact_sums, "truncated", lambda z, norms: honest(z, norms.astype(np.float32).astype(float))
    )


@pytest.mark.parametrize("broken", [rounding_to_nearest, clipping_in_single_precision])
def test_a_planted_fault_is_caught(broken):
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        _, is_within = largest_norm()
    assert not is_within


anything = st.floats(width=64, allow_nan=True, allow_infinity=True)
person = st.integers(1, 8).flatmap(
    lambda p: st.tuples(*[st.lists(anything, min_size=p, max_size=p)] * 2)
)


@settings(max_examples=300, deadline=None)
@given(person, st.integers(0, 5))
def test_replacing_a_person_by_any_bytes_moves_no_sum_by_more_than_its_bound(people, others):
    one, other = people
    rest = np.random.default_rng(others).standard_normal((others, len(one))).tolist()
    before = sums_of([one, *rest], Statistic.LOCATION, Statistic.SIZE)
    after = sums_of([other, *rest], Statistic.LOCATION, Statistic.SIZE)
    of_location, of_size = (squared(x - y) for x, y in zip(before, after, strict=True))
    assert of_location + of_size <= (2 * MOST) ** 2
    assert of_size <= 2 * MOST**2
    (before,), (after,) = sums_of([one], Statistic.MOMENTS), sums_of([other], Statistic.MOMENTS)
    assert squared(before - after) <= 2 * MOST**4


@pytest.mark.parametrize(("narrow", "room"), [(1.0, 0), (0.4, 1)])
def test_a_location_with_moments_moves_by_two_at_most_and_nearly_attains_it(narrow, room):
    """10 000 pairs, most of them nearly mirrored; with radii of their own truncation has room."""
    rng, worst = np.random.default_rng(4), 0.0
    most = 4 * 2 * MOST**4 + room * (MOST**4 >> 35)
    for _ in range(200):
        p = int(rng.integers(1, 22))
        one = rng.standard_normal((50, p))
        other = -one + rng.standard_normal((50, p)) * 10 ** rng.uniform(-8, 1, (50, 1))
        for pair in zip(one, other, strict=True):
            (location, moments), (after, moments_after) = (
                sums_of([h], Statistic.LOCATION, Statistic.MOMENTS, moments_radius=narrow * ONE)
                for h in pair
            )
            moved = 2 * MOST**2 * squared(location - after) + squared(moments - moments_after)
            assert moved <= most
            worst = max(worst, moved / most)
    assert worst > 1 - 1e-9


def test_totals_beyond_sixty_four_bits_are_exact():
    total = ExactSum.of(np.array([2.0**53 - 1, -(2.0**53) + 1, 7.0]))
    for _ in range(5000):
        total.merge(ExactSum.of(np.array([2.0**53 - 1, -(2.0**53) + 1, -3.0])))
    numbers = (total.high.astype(object) << 20) + total.low
    assert numbers.tolist() == [5001 * (2**53 - 1), -5001 * (2**53 - 1), 7 - 15_000]
    assert (total.low >= 0).all() and (total.low < 2**20).all()


def test_averages_of_numbers_do_not_depend_on_blocks_or_order():
    rng = np.random.default_rng(6)
    numbers = rng.uniform(-1, 1, (2, 3, 20_000))
    numbers[0, 0, 17] = np.nan
    whole = exact_sums.mean_of_numbers([numbers])
    parts = np.split(numbers[..., rng.permutation(20_000)], [1, 700, 9000, 19_999], axis=-1)
    assert np.array_equal(exact_sums.mean_of_numbers(parts), whole)
    assert np.allclose(whole, np.nanmean(numbers, axis=-1), atol=1e-4)
    assert np.allclose(whole[1], numbers[1].mean(axis=-1), rtol=0, atol=1e-11)


def test_averages_of_products_are_second_moments():
    x = np.random.default_rng(7).uniform(-1, 1, (2, 1, 3, 500))
    found = exact_sums.mean_of_products(x, x, 1.0)
    assert np.allclose(found, x @ x.swapaxes(-1, -2) / 500, rtol=0, atol=1e-11)
