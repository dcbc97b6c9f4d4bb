"""Numerics against closed forms and direct evaluation."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import quadrature
from engine.core.types import Truth
from engine.numerics.bases import Basis
from engine.numerics.gradients import mean_clipped_gradient, project_on_ellipsoid
from engine.numerics.kernels import matern, path_polynomials
from engine.numerics.moments import curve_moments
from engine.numerics.public_curves import PublicCurve
from engine.numerics.tables import cos_sin, horner
from engine.sources.sparse_curves import growth, mu1, mu2

RNG = np.random.default_rng(5)


def test_table_cosines_and_sines_are_exact_to_rounding():
    x = np.concatenate([[0, 0.25, 0.5, 1.0], RNG.random(20_000)])
    cosine, sine = cos_sin(x)
    assert np.abs(cosine - np.cos(2 * np.pi * x)).max() < 1e-15
    assert np.abs(sine - np.sin(2 * np.pi * x)).max() < 1e-15


def test_a_missing_time_stays_missing_in_the_table():
    assert np.isnan(cos_sin(np.array([np.nan]))).all()


def test_horner_is_the_polynomial():
    coefficients, z = RNG.normal(size=(6, 3)), RNG.uniform(-1, 1, (4, 3))
    direct = sum(c * z**k for k, c in enumerate(coefficients))
    assert np.allclose(horner(coefficients, z), direct, rtol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 9])
def test_the_plain_fourier_basis_is_orthonormal(size):
    nodes, weights = quadrature()
    values = Basis(size, family="fourier")(nodes)
    assert np.allclose(values.T @ (weights[:, None] * values), np.eye(size), atol=1e-13)


@pytest.mark.parametrize("extension", [0.0, 0.25])
def test_basis_functions_never_exceed_the_root_of_two(extension):
    assert (
        np.abs(Basis(9, extension, family="fourier")(np.linspace(0, 1, 2001))).max()
        <= np.sqrt(2) + 1e-15
    )


def test_coefficients_of_the_first_mean_are_the_printed_ones():
    best, tail = Basis(3, family="fourier").project(Truth.of(mu1))
    assert np.allclose(best, [0.8, 0.6 / np.sqrt(2), (2 / 3) / np.sqrt(2)], atol=1e-13)
    assert tail < 1e-13
    assert Truth.of(mu1).energy == pytest.approx(1.042222, abs=1e-6)


@pytest.mark.parametrize(("size", "tail"), [(3, 0.016674), (5, 0.010208), (7, 0.007336)])
def test_the_second_mean_leaves_the_stated_energy_outside_the_basis(size, tail):
    assert Basis(size, family="fourier").project(Truth.of(mu2))[1] == pytest.approx(tail, abs=1e-6)


def test_distance_in_an_extended_basis_agrees_with_quadrature():
    basis, (nodes, weights) = Basis(7, 0.25, family="fourier"), quadrature()
    a, truth = RNG.normal(size=7), Truth.of(growth)
    best, tail = basis.project(truth)
    direct = weights @ (basis(nodes) @ a - truth.node_values) ** 2
    assert basis.squared_distance(a - best) + tail == pytest.approx(direct, rel=1e-9)


def test_the_growth_curve_rises_at_every_age():
    heights = growth(np.linspace(0, 1, 1001))
    assert np.diff(heights).min() > 0
    assert 80 < heights[0] < 95
    assert 165 < heights[-1] < 175


def test_matern_values_are_the_tabulated_ones():
    expected = [0.25, 0.249350, 0.247416, 0.234474, 0.195322, 0.102883]
    assert np.allclose(
        matern(np.array([0, 0.05, 0.1, 0.25, 0.5, 1]), 4, 0.8, 0.5), expected, atol=1e-6
    )


@pytest.mark.parametrize(
    ("smoothness", "length"), [(4.0, 0.8), (3.0, 0.3), (10.0, 0.3), (6.0, 5.0)]
)
def test_simulated_paths_have_the_matern_covariance_to_a_millionth(smoothness, length):
    polynomials = path_polynomials(smoothness, length, 0.5)
    grid = np.linspace(0, 1, 101)
    values = np.polynomial.polynomial.polyvander(2 * grid - 1, len(polynomials) - 1) @ polynomials
    exact = matern(grid[:, None] - grid, smoothness, length, 0.5)
    assert np.abs(values @ values.T - exact).max() < 1e-6


def _direct_gradients(times, values, counts, basis, a):
    """Gradients curve by curve, straight from the definition."""
    out, start = [], 0
    for count in counts:
        t, y = times[start : start + count], values[start : start + count]
        start += count
        phi = basis(t)
        out.append(phi.T @ (phi @ a - y) / count if count else np.zeros(basis.size))
    return np.array(out)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize(
    "kind",
    [{"family": "fourier"}, {"family": "fourier", "extension": 0.25}, {"family": "cosine"}],
    ids=str,
)
def test_gradients_from_moments_equal_gradients_from_the_readings(size, kind):
    counts = np.array([4, 3, 0, 4, 3, 5])
    times, values = RNG.random((2, 19)), RNG.normal(size=(2, 19))
    basis, iterates = Basis(size, **kind), RNG.normal(size=(2, 3, size))
    gradients = curve_moments(times, values, counts, basis).gradients(iterates)(slice(None))
    for repeat in range(2):
        for column in range(3):
            direct = _direct_gradients(
                times[repeat], values[repeat], counts, basis, iterates[repeat, column]
            )
            assert np.allclose(gradients[repeat, column].T, direct, atol=1e-12)


@pytest.mark.parametrize("family", ["fourier", "cosine"])
def test_moments_of_a_smaller_basis_are_part_of_those_of_a_larger_one(family):
    counts = np.array([4, 3])
    times, values = RNG.random((1, 7)), RNG.normal(size=(1, 7))
    large = curve_moments(times, values, counts, Basis(8, family=family))
    for size in range(1, 9):
        small = curve_moments(times, values, counts, Basis(size, family=family))
        assert np.allclose(large.first(size).features, small.features, atol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("where", ["times", "values"])
def test_a_curve_with_a_non_finite_number_contributes_nothing_and_is_counted(bad, where):
    counts = np.array([3, 3])
    arrays = {"times": RNG.random((1, 6)), "values": RNG.normal(size=(1, 6))}
    arrays[where][0, :3] = bad
    moments = curve_moments(arrays["times"], arrays["values"], counts, Basis(3, family="fourier"))
    gradient = mean_clipped_gradient(moments, np.ones((1, 1, 3)), np.full((1, 3), 0.5))
    assert np.isfinite(gradient).all()
    if where == "values" or np.isnan(bad):
        assert (moments.features[0, :, 0] == 0).all()
    assert moments.n_curves == 2


def test_clipping_by_curve_uses_each_curves_own_radius():
    counts = np.array([2, 2])
    moments = curve_moments(
        np.full((1, 4), 0.1), np.full((1, 4), -1e6), counts, Basis(3, family="fourier")
    )
    radii = np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    gradient = mean_clipped_gradient(moments, np.zeros((1, 1, 3)), radii)
    assert np.allclose(gradient[0, 0], radii.mean(axis=0))


@pytest.mark.parametrize("bound", [0.01, 1.0, 50.0])
def test_the_ellipsoid_projection_is_feasible_idempotent_and_leaves_inner_points(bound):
    weights, points = np.arange(1, 6.0) ** 6, RNG.normal(size=(200, 5)) * 3
    projected = project_on_ellipsoid(points, weights, bound)
    energy = (weights * projected**2).sum(axis=1)
    inside = (weights * points**2).sum(axis=1) <= bound
    assert energy.max() <= bound * (1 + 1e-10)
    assert np.allclose(project_on_ellipsoid(projected, weights, bound), projected, atol=1e-12)
    assert (projected[inside] == points[inside]).all()
    assert np.allclose(project_on_ellipsoid(-points, weights, bound), -projected)


def test_the_ellipsoid_projection_never_moves_points_apart():
    weights = np.arange(1, 5.0) ** 4
    x, y = RNG.normal(size=(500, 4)) * 4, RNG.normal(size=(500, 4)) * 4
    after = project_on_ellipsoid(x, weights, 2.0) - project_on_ellipsoid(y, weights, 2.0)
    before = np.linalg.norm(x - y, axis=1)
    assert (np.linalg.norm(after, axis=1) <= before * (1 + 1e-9)).all()


def test_heights_of_a_density_that_cannot_be_added_are_refused():
    with pytest.raises(InputError, match="too large to add up"):
        PublicCurve.stated("1e308, 1e308", "density").as_density("density")
    assert PublicCurve.stated("1e307, 1e307", "density").as_density("density").heights == (1, 1)
