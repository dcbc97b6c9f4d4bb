"""Deviations made anew in each pass: those of the formula, with the same bits in any block."""

import tracemalloc

import numpy as np
import pytest

from engine.core.types import Design
from engine.numerics.bases import Basis
from engine.numerics.clipping.clipped_averages import averages
from engine.numerics.curve_deviations import (
    CurveDeviations,
    KernelBlock,
    RegressionCurves,
    SharedBlock,
    SumBlock,
    solve_along,
)
from engine.numerics.deviations import mean_slopes_inverse, weighted_within_curves
from engine.numerics.exact_sums import Statistic
from engine.numerics.moments import curve_moments
from engine.numerics.regression_moments import RegressionDeviations
from engine.numerics.regressor_maps import RegressorMap
from tests.heavy import few

GRID = (0.05, 0.2, 0.4, 0.55, 0.7, 0.95)
KINDS = (Statistic.LOCATION, Statistic.SIZE, Statistic.MOMENTS)


def people(seed=0, n=150, design=None, size=7):
    """Curves of unlike lengths: numbers that are none, times far outside, and a curve of none."""
    rng = np.random.default_rng(seed)
    curves = []
    for _ in range(n):
        m = int(rng.choice([1, 3, len(GRID), 9, 25]))
        is_at = design is not None and m == len(GRID)
        times = np.array(GRID) if is_at else rng.random(m)
        curves.append((times, rng.normal(size=m)))
    for first in range(3, 60, 10):
        curves[first][1][0] = np.nan
        curves[first + 1][0][0] = np.nan
        curves[first + 2][0][0] = np.inf
        curves[first + 3][0][0] = -0.2
    curves[7] = (np.empty(0), np.empty(0))
    return curves


def flat(curves):
    times, values = (np.concatenate(each) for each in zip(*curves, strict=True))
    return times, values, np.array([len(times) for times, _ in curves])


def sums_of(curves, basis, design, centre=0.3, **blocks):
    """Averages over people, which are functions of the totals of whole numbers."""
    own = CurveDeviations.of(*flat(curves), basis, design, **blocks)
    centres = np.full((1, 2, basis.size), centre) * np.array([1.0, -0.5])[:, None]
    shape = np.broadcast_to(np.arange(1.0, basis.size + 1) ** -0.5, centres.shape)
    radius = np.full((1, 2), 1.5)
    return averages(own, centres, shape, radius, *KINDS, moments_radius=0.8 * radius)


@pytest.mark.parametrize("family", ["cosine", "fourier"])
@pytest.mark.parametrize("design", [Design(), Design.common(GRID)], ids=["even", "common"])
def test_deviations_are_those_that_keep_a_matrix_of_every_curve(family, design):
    curves, basis = people(design=design), Basis(7, family=family)
    times, values, counts = flat(curves)
    moments = curve_moments(times[None], values[None], counts, basis)
    ((_, kept),) = weighted_within_curves(moments, counts, {7}, design)
    centres = np.random.default_rng(1).normal(size=(1, 2, 7))
    seen = kept.from_centres(centres, slice(None))[0]
    for k, curve in enumerate(curves):
        own = CurveDeviations.of(*flat([curve]), basis, design)
        found = own.from_centres(centres, slice(None))[0] if own.parts else np.zeros((2, 7, 64))
        assert np.allclose(found[..., 0], seen[..., k], rtol=1e-9, atol=1e-11)
        assert (found[..., 1:] == 0).all()  # lanes that fill up a block


def test_each_curve_is_read_in_the_way_that_its_own_observations_ask_for():
    curves, design = people(design=Design.common(GRID)), Design.common(GRID)
    kinds = {
        (
            times.size,
            type(
                CurveDeviations.of(*flat([(times, y)]), Basis(7, family="fourier"), design).parts[0]
            ),
        )
        for times, y in curves
        if len(times)
    }
    assert kinds == {
        (1, KernelBlock),
        (3, KernelBlock),
        (6, SharedBlock),
        (6, KernelBlock),  # with a time that is not the stated one
        (9, KernelBlock),
        (25, SumBlock),
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(100), 3))
def test_any_order_and_any_blocks_give_the_same_sums_to_the_last_bit(seed):
    """1000 random splits: ten orders and block sizes of each of a hundred data sets."""
    rng = np.random.default_rng(seed)
    design = Design.common(GRID) if seed % 2 else Design()
    curves, basis = people(seed, 1000, design), Basis(7, family="cosine")
    is_single = seed % 4 > 1
    whole = sums_of(curves, basis, design, is_single=is_single)
    for _ in range(10):
        block = int(rng.choice([64, 128, 320, 512]))
        mixed = [curves[k] for k in rng.permutation(len(curves))]
        for one, other in zip(
            whole, sums_of(mixed, basis, design, block=block, is_single=is_single), strict=True
        ):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("is_single", [False, True])
def test_an_order_changes_no_bit_of_the_sums(is_single):
    curves, basis = people(4, 200), Basis(5, family="cosine")
    whole, turned = (
        sums_of(each, basis, Design(), is_single=is_single) for each in (curves, curves[::-1])
    )
    for one, other in zip(whole, turned, strict=True):
        assert np.array_equal(one, other)


def test_long_curves_are_read_in_parts_with_the_same_bits_wherever_they_stand():
    rng, basis = np.random.default_rng(8), Basis(5, family="cosine")
    curves = [(rng.random(2500), rng.normal(size=2500)) for _ in range(3)]
    curves.append((rng.random(2500), np.append(rng.normal(size=2499), np.nan)))
    times, values, counts = flat(curves)
    moments = curve_moments(times[None], values[None], counts, basis)
    ((_, kept),) = weighted_within_curves(moments, counts, {5}, Design())
    centres = rng.normal(size=(1, 2, 5))
    own = CurveDeviations.of(times, values, counts, basis, Design()).from_centres(
        centres, slice(None)
    )
    assert np.allclose(own[..., :4], kept.from_centres(centres, slice(None)), atol=1e-12)
    alone = CurveDeviations.of(*flat(curves[2:3]), basis, Design())
    assert np.array_equal(alone.from_centres(centres, slice(None))[..., 0], own[..., 2])


@pytest.mark.parametrize("law", [Design(), None])
def test_pieces_of_a_long_curve_have_the_same_bits_with_few_and_with_many_others(law):
    rng, basis = np.random.default_rng(9), Basis(5, family="fourier")
    curves = [(rng.random(5300), rng.normal(size=5300)) for _ in range(64)]
    curves[1][1][1700] = np.nan
    centres = rng.normal(size=(1, 2, 5))
    for others in (1, 2, 10, 40):
        many, few_of_them = (
            CurveDeviations.of(*flat(each), basis, law).from_centres(centres, slice(None))
            for each in (curves, curves[:others])
        )
        assert np.array_equal(few_of_them[..., :others], many[..., :others])
        assert not few_of_them[..., others:].any()
    assert not many[..., 1].any() and many[..., 2].all()


def test_systems_of_all_lanes_are_solved_together():
    rng = np.random.default_rng(2)
    roots = rng.normal(size=(64, 5, 5))
    matrices = np.eye(5) + roots @ roots.swapaxes(1, 2)
    rest = rng.normal(size=(2, 5, 64))
    expected = np.linalg.solve(matrices, rest.transpose(2, 1, 0)).transpose(2, 1, 0)
    solve_along(matrices.transpose(1, 2, 0).copy(), rest)
    assert np.allclose(rest, expected)


def test_coefficients_deviate_as_with_a_matrix_of_every_curve():
    curves, basis = people(6), Basis(5, family="cosine")
    times, values, counts = flat(curves)
    rng = np.random.default_rng(3)
    regressors = np.concatenate([np.ones((1, 1, 150)), rng.uniform(-1, 1, (1, 2, 150))], axis=1)
    to_covariates = RegressorMap(*(np.eye(3) + 0.1 * rng.normal(size=(1, 2, 3, 3)) for _ in "ab"))
    moments = curve_moments(times[None], values[None], counts, basis)
    ((_, kept),) = weighted_within_curves(moments, counts, {5}, Design())
    asked = (rng.normal(size=(1, 2, 15)), np.ones((1, 2, 15)), np.ones((1, 2)))
    own = CurveDeviations.of(times, values, counts, basis, Design())
    one, other = (
        averages(each, *asked, *KINDS)
        for each in (
            RegressionDeviations(kept, regressors, to_covariates),
            RegressionCurves(own, regressors[0], to_covariates),
        )
    )
    for before, after in zip(one, other, strict=True):
        assert np.allclose(before, after, rtol=0, atol=1e-10)


def test_a_curve_of_very_many_readings_takes_a_few_times_its_own_memory():
    rng, basis = np.random.default_rng(2), Basis(7, family="cosine")
    times, values = rng.random((2, 200_000))
    ends = np.array([5]), basis, Design()
    CurveDeviations.of(times[:5], values[:5], *ends)  # what is kept for all curves
    tracemalloc.start()
    try:
        CurveDeviations.of(times, values, np.array([200_000]), basis, Design())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80_000_000  # of 64 lanes at once it would be 200 MB


def test_the_mean_slope_of_very_long_curves_goes_on_towards_the_identity():
    basis = Basis(21, family="cosine")
    last = [
        1 / mean_slopes_inverse(basis, m, Design())[-1, -1] for m in (5000, 10_000, 20_000, 200_000)
    ]
    assert last == sorted(last) and last[-1] == pytest.approx(1 / (1 + 21**3 / 200_000), abs=0.002)
