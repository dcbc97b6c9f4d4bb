"""Bernstein bases: published constants, the iterated operator, and best approximations."""

from math import comb

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.identity import digest
from engine.core.types import Truth
from engine.numerics.bernstein import BernsteinBasis, bernstein
from engine.numerics.eigensystems import midpoints
from tests.heavy import few

GRID = drawing_grid()


def wave(t):
    return np.exp(-t) * np.sin(5 * t)


def noise_energy(basis):
    """What noise of variance one on every lattice value adds to the squared norm of a function."""
    return basis.squared_distance(np.eye(basis.size)).sum()


def hill(points):
    return np.exp(-((points - [0.4, 0.6]) ** 2).sum(axis=-1) / (2 * 0.3**2))


@pytest.mark.parametrize(
    ("iterations", "degree", "constant"),
    [
        (1, 5, 0.36941),
        (1, 10, 0.27026),
        (1, 20, 0.19455),
        (2, 5, 0.4615),
        (2, 10, 0.3512),
        (2, 20, 0.2602),
        (3, 5, 0.5298),
        (3, 10, 0.4056),
        (3, 20, 0.3018),
    ],
)
def test_noise_energies_are_those_of_the_reference(iterations, degree, constant):
    digits = 5e-6 if iterations == 1 else 5e-5
    assert noise_energy(BernsteinBasis(degree, iterations)) == pytest.approx(constant, abs=digits)


@pytest.mark.parametrize("degree", [1, 5, 20, 50])
def test_plain_functions_have_the_binomial_gram_matrix(degree):
    exact = [
        [
            comb(degree, u) * comb(degree, v) / ((2 * degree + 1) * comb(2 * degree, u + v))
            for v in range(degree + 1)
        ]
        for u in range(degree + 1)
    ]
    basis = BernsteinBasis(degree)
    assert np.allclose(basis.gram, exact, rtol=1e-9, atol=1e-15)
    assert noise_energy(basis) == pytest.approx(np.trace(exact), rel=1e-12)


@pytest.mark.parametrize("degree", [1, 7, 60])
def test_plain_functions_are_binomial_chances_and_add_up_to_one(degree):
    values = bernstein(degree, GRID)
    v = np.arange(degree + 1)
    direct = (
        np.array([comb(degree, int(k)) for k in v], float)
        * GRID[:, None] ** v
        * (1 - GRID[:, None]) ** (degree - v)
    )
    assert np.allclose(values, direct, atol=1e-12)
    assert np.allclose(values.sum(axis=1), 1, atol=1e-12)
    assert (values >= 0).all()


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_iterating_is_one_minus_the_power_of_one_minus_the_operator(iterations, dimension):
    """(I − (I − B)^h) f by smoothing what is left, h times."""
    basis, plain = BernsteinBasis(8, iterations, dimension), BernsteinBasis(8, 1, dimension)
    left = np.random.default_rng(1).standard_normal(basis.size)
    points = np.random.default_rng(2).random((50, 2) if dimension == 2 else 50)
    on_points, on_lattice, found = plain(points), plain(basis.lattice), 0
    coefficients = left
    for _ in range(iterations):
        found = found + on_points @ left
        left = left - on_lattice @ left
    assert np.allclose(basis(points) @ coefficients, found, atol=1e-11)


def test_the_matrix_of_the_iterated_operator_is_the_alternating_sum():
    plain, basis = BernsteinBasis(6), BernsteinBasis(6, 4)
    once = plain(plain.lattice)
    stated = sum(
        (-1) ** (i - 1) * comb(4, i) * np.linalg.matrix_power(once, i - 1) for i in range(1, 5)
    )
    assert np.allclose(basis.iterated, stated, atol=1e-12)
    assert (plain.iterated == np.eye(7)).all()


def test_more_iterations_bring_a_smooth_curve_nearer():
    """Bias of order k^(−h): k = 20 to 40 divides it by about 2^h."""

    def bias(degree, iterations):
        basis = BernsteinBasis(degree, iterations)
        return np.abs(basis(GRID) @ wave(basis.lattice) - wave(GRID)).max()

    for iterations, ratio in ((1, 2), (2, 4)):
        assert bias(20, iterations) / bias(40, iterations) == pytest.approx(ratio, rel=0.25)


def test_on_a_square_functions_are_products_and_the_last_axis_is_fastest():
    basis, axis = BernsteinBasis(4, 1, 2), BernsteinBasis(4)
    points = np.random.default_rng(3).random((3, 7, 2))
    products = axis(points[..., 0])[..., :, None] * axis(points[..., 1])[..., None, :]
    assert np.allclose(basis(points), products.reshape(3, 7, 25))
    assert basis.lattice[:3].tolist() == [[0, 0], [0, 0.25], [0, 0.5]]
    assert np.allclose(basis.gram, np.kron(axis.gram, axis.gram))
    assert noise_energy(basis) == pytest.approx(noise_energy(axis) ** 2)


@pytest.mark.parametrize(
    "basis",
    [BernsteinBasis(9), BernsteinBasis(9, 3), BernsteinBasis(4, 1, 2), BernsteinBasis(4, 2, 2)],
)
def test_distances_are_integrals(basis):
    nodes, weights = np.polynomial.legendre.leggauss(40)
    nodes, weights = (nodes + 1) / 2, weights / 2
    if basis.dimension == 2:
        nodes = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
        weights = np.kron(weights, weights)
    differences = np.random.default_rng(4).standard_normal((2, 3, basis.size))
    exact = (differences @ basis(nodes).T) ** 2 @ weights
    assert np.allclose(basis.squared_distance(differences), exact, rtol=1e-11)
    assert np.allclose(((differences @ basis.gram) * differences).sum(axis=-1), exact, rtol=1e-10)


@pytest.mark.parametrize(
    "basis",
    few([BernsteinBasis(20, 2), BernsteinBasis(5), BernsteinBasis(50), BernsteinBasis(40, 10)], 2),
)
@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (wave, "gauss"),
        (lambda t: np.exp(-((t - 0.3) ** 2) / 0.005), "gauss"),
        (lambda t: np.abs(t - 0.37), "midpoints"),
    ],
)
def test_nothing_comes_nearer_than_the_best_approximation(basis, function, rule):
    """Against polynomials of Legendre, which are orthogonal; distance and energy add up."""
    truth = Truth.of(function, rule)
    nodes, weights = truth.quadrature
    rows = np.polynomial.legendre.legvander(2 * nodes - 1, basis.degree) * np.sqrt(weights)[:, None]
    fit = np.linalg.lstsq(rows, np.sqrt(weights) * truth.node_values, rcond=None)[0]
    left = ((rows @ fit - np.sqrt(weights) * truth.node_values) ** 2).sum()
    best, tail = basis.project(truth)
    assert tail == pytest.approx(left, abs=1e-10)
    off = best - function(basis.lattice)
    direct = ((basis(nodes) @ function(basis.lattice) - truth.node_values) ** 2) @ weights
    assert basis.squared_distance(off) + tail == pytest.approx(direct, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("iterations", [1, 3])
def test_the_best_approximation_on_a_square_is_that_of_least_squares(iterations):
    basis, truth = BernsteinBasis(6, iterations, 2), Truth.of(hill, "square")
    nodes, weights = truth.quadrature
    fit = np.linalg.lstsq(basis(nodes), truth.node_values, rcond=None)[0]
    best, tail = basis.project(truth)
    assert np.allclose(best, fit, atol=1e-8)
    assert tail == pytest.approx(weights @ (basis(nodes) @ fit - truth.node_values) ** 2, abs=1e-12)


def test_several_truths_are_projected_at_once_and_polynomials_leave_nothing():
    both = Truth.of(lambda t: np.stack([wave(t), t**3 - t]))
    best, tail = BernsteinBasis(5).project(both)
    assert best.shape == (2, 6)
    assert tail.shape == (2,)
    assert tail[1] == pytest.approx(0, abs=1e-12)
    assert np.allclose(BernsteinBasis(5)(GRID) @ best[1], GRID**3 - GRID, atol=1e-10)


def test_curves_on_a_grid_reach_the_lattice_by_broken_lines():
    basis, grid = BernsteinBasis(20), midpoints(100)
    curve = np.sin(7 * grid.points[:, 0])
    assert np.allclose(
        basis.on_lattice(grid) @ curve,
        np.interp(basis.lattice, grid.points[:, 0], curve),
        atol=1e-13,
    )
    square = BernsteinBasis(3, 1, 2).on_lattice(midpoints(6, 2))
    assert square.shape == (16, 36)
    assert np.allclose(square.sum(axis=1), 1)
    assert square[0, 0] == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ((0,), "degree"),
        ((51,), "degree"),
        ((31, 1, 2), "degree"),
        ((5, 0), "iterations"),
        ((5, 11), "iterations"),
        ((5, 1, 3), "dimension"),
    ],
)
def test_bases_out_of_range_are_refused(wrong, field):
    with pytest.raises(InputError) as caught:
        BernsteinBasis(*wrong)
    assert caught.value.field == field


def test_the_functions_belong_together():
    basis = BernsteinBasis(5, 2)
    assert basis.first(6) is basis
    with pytest.raises(ValueError, match="belong together"):
        basis.first(5)
    assert digest(basis) != digest(BernsteinBasis(5, 3))
