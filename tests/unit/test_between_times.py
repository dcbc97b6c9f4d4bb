"""Between few common times a curve is drawn through its values, and the band holds all ways to."""

import numpy as np
import pytest

from engine.core.bands import Band, limits
from engine.core.grids import drawing_grid, quadrature
from engine.core.types import Design, Estimate, Fit, Truth
from engine.numerics.bases import Basis
from engine.numerics.between_times import BetweenTimes, are_few, drawn_past, interpolants

AGES = tuple(np.linspace(0, 1, 9).tolist())
INSIDE = (0.1, 0.25, 0.3, 0.6, 0.9)
GRID = drawing_grid()


@pytest.mark.parametrize("times", [AGES, INSIDE, (0.0, 0.4, 1.0), (0.2, 0.7)], ids=len)
def test_every_way_keeps_the_values_at_the_times_and_draws_straight_lines_straight(times):
    for rows in interpolants(times, np.array(times)):
        np.testing.assert_allclose(rows, np.eye(len(times)), atol=1e-12)
    for rows in interpolants(times, GRID):
        np.testing.assert_allclose(rows @ (2 - 3 * np.array(times)), 2 - 3 * GRID, atol=1e-12)


def test_a_cubic_is_drawn_as_it_is_and_lines_differ_by_an_eighth_of_curvature_and_squared_gap():
    drawn, lines, natural = interpolants(AGES, GRID)
    at = np.array(AGES)
    np.testing.assert_allclose(drawn @ (at**3 - at), GRID**3 - GRID, atol=1e-12)
    middle = np.array([1 / 16])
    assert (interpolants(AGES, middle)[1] @ at**2 - middle**2).item() == pytest.approx(
        2 / 8 * (1 / 8) ** 2
    )
    assert np.abs((natural - drawn) @ at**2).max() < np.abs((lines - drawn) @ at**2).max()


def test_outside_the_times_the_drawn_curve_goes_on_along_its_tangent():
    rows = interpolants(INSIDE, np.array([0.9, 0.95, 1.0]))[0] @ np.array(INSIDE) ** 2
    np.testing.assert_allclose(np.diff(rows), [0.05 * 1.8] * 2)


def test_one_time_gives_a_constant():
    np.testing.assert_allclose(interpolants((0.3,), GRID)[0] @ [4.0], 4.0)


@pytest.mark.parametrize("times", [(0.0, 0.25, 0.5, 0.75), (0.0, 0.25, 0.5, 0.75, 1.0)], ids=len)
def test_curves_of_a_period_end_where_they_began_and_as_steep(times):
    values = np.array([0.0, 1.0, 0.0, -1.0, 0.0])[: len(times)]
    places = np.array([0.0, 1e-4, 1 - 1e-4, 1.0])
    for rows in interpolants(times, places, is_periodic=True):
        at = rows @ values
        assert at[0] == pytest.approx(at[3])
        assert at[1] - at[0] == pytest.approx(at[3] - at[2], rel=1e-3)


def test_times_are_few_for_more_functions_than_they_tell_apart():
    assert are_few(Basis(21, family="cosine"), Design.common(AGES))
    assert not are_few(Basis(21, family="cosine"), Design.common(np.linspace(0, 1, 24).tolist()))
    assert not are_few(Basis(21, family="cosine"), Design())


def test_a_distance_of_coefficients_is_that_of_the_drawn_curves():
    basis, (nodes, weights) = BetweenTimes(15, family="cosine", times=AGES), quadrature()
    difference = np.random.default_rng(1).standard_normal(15)
    assert basis.squared_distance(difference) == pytest.approx(
        weights @ (basis(nodes) @ difference) ** 2
    )


def test_what_is_left_of_a_curve_is_its_distance_from_the_nearest_drawn_one():
    basis, truth = BetweenTimes(15, family="cosine", times=AGES), Truth.of(lambda t: np.exp(3 * t))
    best, left = basis.project(truth)
    nodes, weights = truth.quadrature
    assert left == pytest.approx(weights @ (np.exp(3 * nodes) - basis(nodes) @ best) ** 2, rel=1e-3)
    closer = truth.node_values - basis(nodes) @ (best + 0.01 * np.eye(15)[3])
    assert weights @ closer**2 > left


def band_of(curve, error, times=AGES, size=15):
    """Limits of a release that has the values of a curve at the times, each with this error."""
    basis = BetweenTimes(size, family="cosine", times=times)
    to_coefficients = np.linalg.pinv(basis.at_times)
    centre = (to_coefficients @ curve(np.array(times)))[None, None, None]
    covariance = error**2 * (to_coefficients @ to_coefficients.T)[None, None, None]
    band = Band(centre, covariance)
    fit = Fit(basis=basis, coefficients=centre, unprotected=centre[0], band=band)
    low, high = limits(Estimate.of("mean_function", fit, ((),)), band)
    return low[0, 0, 0], high[0, 0, 0]


@pytest.mark.parametrize(
    "curve",
    [lambda t: np.sin(2 * np.pi * t), lambda t: 1 / (1 + np.exp(-12 * (t - 0.6))), lambda t: t**4],
    ids=["wave", "rise", "power"],
)
@pytest.mark.parametrize("times", [AGES, (0.0, 0.1, 0.3, 0.4, 0.55, 0.7, 0.8, 0.95, 1.0)], ids=str)
def test_a_curve_with_turns_no_shorter_than_the_gaps_is_held_even_with_little_noise(curve, times):
    low, high = band_of(curve, 0.003, times)
    assert ((low <= curve(GRID)) & (curve(GRID) <= high)).all()


def test_a_band_is_as_narrow_at_all_times_and_grows_with_the_error_alone():
    widths = [np.diff(band_of(lambda t: 1 - t, error), axis=0)[0] for error in (0.1, 0.2)]
    np.testing.assert_allclose(2 * widths[0], widths[1])
    at = np.interp(AGES, GRID, widths[0])
    assert np.ptp(at) < 0.05 * at.mean()
    assert 0.1 * 2 * 2.3 < at.mean() < 0.1 * 2 * 3.2


def test_a_curve_is_drawn_past_times_that_were_left_out_with_doubt_at_them_alone():
    basis, at = BetweenTimes(15, family="cosine", times=AGES), np.array(AGES)
    left_out = np.isin(np.arange(9), [3, 6])
    others = np.linalg.pinv(basis.at_times[~left_out])  # says nothing of the times left out
    centre, covariance = drawn_past(
        basis.kept, AGES, left_out, others @ at[~left_out] ** 3, 1e-12 * others @ others.T
    )
    np.testing.assert_allclose(basis(GRID) @ centre, GRID**3, atol=1e-6)
    errors = np.sqrt(np.diag(basis.at_times @ covariance @ basis.at_times.T))
    assert (errors[~left_out] < 1e-5).all() and (errors[left_out] > 1e-3).all()


def test_functions_that_the_other_times_tell_apart_are_left_as_they_are():
    basis, centre, left_out = Basis(5, family="cosine"), np.arange(5.0), np.arange(9) == 4
    kept = drawn_past(basis, AGES, left_out, centre, np.eye(5))
    assert kept[0] is centre
