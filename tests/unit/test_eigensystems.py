"""Eigensystems of kernels on grids: reference values, orthonormality, and curves off the grid."""

import pickle

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.identity import digest
from engine.core.types import Truth
from engine.numerics.eigensystems import Eigenbasis, Grid, Kernel, eigensystem, midpoints, of_times

MATERN = Kernel("matern", 1.5, 0.1)
UNEVEN = of_times((0.0, 0.1, 0.15, 0.4, 0.7, 0.95))
KERNELS = [
    MATERN,
    Kernel("matern", 0.8, 0.3),
    Kernel("exponential"),
    Kernel("gaussian", length=0.2),
]
SOBOLEV = Kernel("sobolev", length=0.2)
GRIDS = [midpoints(60), of_times(tuple(np.linspace(0, 1, 48))), UNEVEN, midpoints(9, 2)]
every_kernel_and_grid = pytest.mark.parametrize(
    ("kernel", "grid"), [(kernel, grid) for kernel in [*KERNELS, SOBOLEV] for grid in GRIDS]
)


def covariance(kernel, grid):
    if kernel.name == "sobolev":
        low, high = (bound(grid.points[:, None], grid.points) for bound in (np.minimum, np.maximum))
        values = np.cosh(low / 0.2) * np.cosh((1 - high) / 0.2) / np.sinh(1 / 0.2)
        return (values / (0.1 + 0.5 / np.tanh(1 / 0.2))).prod(axis=-1)
    apart = grid.points[:, None] - grid.points
    return kernel(np.sqrt((apart**2).sum(axis=-1)))


def peaks(t):
    """S-2 of the reference simulations: two narrow peaks."""

    def density(mean):
        return np.exp(-((t - mean) ** 2) / (2 * 0.05**2)) / (0.05 * np.sqrt(2 * np.pi))

    return 0.3 * density(0.3) + 0.7 * density(0.8)


def hill(points):
    return np.exp(-((points - [0.4, 0.6]) ** 2).sum(axis=-1) / (2 * 0.2**2))


# -- grids ---------------------------------------------------------------------------------------


def test_midpoints_and_equally_spaced_times_have_equal_weights():
    assert np.allclose(midpoints(4).points[:, 0], [0.125, 0.375, 0.625, 0.875])
    assert (midpoints(4).weights == 1 / 4).all()
    assert (of_times(tuple(np.linspace(0, 1, 48))).weights == 1 / 48).all()
    assert midpoints(4) is midpoints(4)


def test_unevenly_spaced_times_have_the_lengths_of_their_cells():
    assert np.allclose(UNEVEN.weights, [0.05, 0.075, 0.15, 0.275, 0.275, 0.175])


def test_a_square_grid_runs_along_its_second_coordinate_first():
    grid = Grid(UNEVEN.times, 2)
    assert grid.points[:3].tolist() == [[0, 0], [0, 0.1], [0, 0.15]]
    assert np.allclose(grid.weights, np.kron(UNEVEN.weights, UNEVEN.weights))


@pytest.mark.parametrize(
    "times", [(), (0.5,), (0.2, 0.2), (0.3, 0.1), (0.0, 1.1), (0.1, float("nan"))]
)
def test_times_that_do_not_rise_within_the_unit_interval_are_refused(times):
    with pytest.raises(InputError, match="rise from 0 to 1"):
        of_times(times)


def test_three_dimensions_are_refused():
    with pytest.raises(InputError, match="1 or 2 dimensions"):
        midpoints(4, 3)


# -- kernels -------------------------------------------------------------------------------------


def test_kernels_have_their_closed_forms():
    r = np.array([0.0, 0.01, 0.1, 0.7])
    s = np.sqrt(3) * r / 0.1
    assert np.allclose(MATERN(r), (1 + s) * np.exp(-s), atol=1e-14)
    s = np.sqrt(5) * r / 0.1
    assert np.allclose(Kernel("matern", 2.5, 0.1)(r), (1 + s + s**2 / 3) * np.exp(-s), atol=1e-14)
    assert np.allclose(Kernel("exponential", 1.5, 0.2)(r), np.exp(-r / 0.2), atol=1e-14)
    assert np.allclose(Kernel("gaussian", 1.5, 0.2)(r), np.exp(-(r**2) / 0.08), atol=1e-14)


def test_eigenvalues_fall_off_with_the_stated_exponent():
    assert [MATERN.decay(1), MATERN.decay(2)] == [4, 2.5]
    assert [Kernel("exponential").decay(1), Kernel("exponential").decay(2)] == [2, 1.5]
    assert Kernel("matern", 2.5).decay() == 6
    assert Kernel("gaussian").decay() == np.inf
    values = eigensystem(MATERN, midpoints(500)).values
    slope = np.log(values[19] / values[59]) / np.log(60 / 20)
    assert slope == pytest.approx(MATERN.decay(), abs=0.2)


@pytest.mark.parametrize(
    "wrong", [("cosine",), ("matern", 0.0), ("matern", 1.5, -1.0), ("gaussian", 1.5, float("inf"))]
)
def test_kernels_that_do_not_exist_are_refused(wrong):
    with pytest.raises(InputError):
        Kernel(*wrong)


# -- eigensystems --------------------------------------------------------------------------------


def test_matern_eigenvalues_are_those_of_the_reference():
    values = eigensystem(MATERN, midpoints(100)).values
    assert values[:5] == pytest.approx([0.21984, 0.19075, 0.15326, 0.11640, 0.08528], abs=5e-6)
    assert values[9] == pytest.approx(0.016612, abs=5e-7)
    assert values[24] == pytest.approx(6.002e-4, abs=5e-8)


@pytest.mark.parametrize(
    ("size", "first", "late"),
    [
        (50, 0.21985, 6.027e-4),
        (100, 0.21984, 6.002e-4),
        (200, 0.21983, 6.011e-4),
        (500, 0.21983, 6.014e-4),
    ],
)
def test_a_finer_grid_changes_eigenvalues_little(size, first, late):
    values = eigensystem(MATERN, midpoints(size)).values
    assert values[0] == pytest.approx(first, abs=5e-6)
    assert values[24] == pytest.approx(late, abs=5e-8)


def test_powers_of_the_trace_are_those_of_the_reference():
    """Eigenvalues of 1e-13 vary with the rounding of a machine, hence the wider first number."""
    rough = [
        (eigensystem(Kernel("exponential"), midpoints(size)).values ** 0.01).sum()
        for size in (50, 100, 200, 500)
    ]
    assert rough == pytest.approx([47.6, 93.9, 185, 455], abs=0.5)
    smooth = [
        (eigensystem(Kernel("gaussian", length=0.05), midpoints(100), rtol).values ** 0.01).sum()
        for rtol in (1e-16, 1e-12, 1e-8)
    ]
    assert smooth[0] == pytest.approx(53, abs=4)
    assert smooth[1:] == pytest.approx([46.5, 38.7], abs=0.06)


def test_constants_of_classification_are_those_of_the_reference():
    system = eigensystem(MATERN, midpoints(100))
    diagonal = (system.values[:, None] ** 1.5 * system.functions**2).sum(axis=0)
    assert diagonal.max() == pytest.approx(0.36042, abs=5e-6)
    assert np.sqrt(system.values).sum() == pytest.approx(4.11138, abs=5e-6)


@every_kernel_and_grid
def test_functions_are_orthonormal_and_give_the_kernel_back(kernel, grid):
    system = eigensystem(kernel, grid)
    assert np.allclose(
        (system.functions * grid.weights) @ system.functions.T, np.eye(system.size), atol=1e-10
    )
    assert np.allclose(system.paths.T @ system.paths, covariance(kernel, grid), atol=1e-9)
    trace = grid.weights @ covariance(kernel, grid).diagonal()
    assert kernel.name == "sobolev" or trace == pytest.approx(1, abs=1e-12)
    assert system.trace == pytest.approx(trace, abs=1e-12)
    assert system.values.sum() == pytest.approx(trace, abs=1e-9)
    assert (np.diff(system.values) <= 0).all()
    assert (system.values > 1e-12 * system.values[0]).all()


@every_kernel_and_grid
def test_every_function_is_positive_where_it_first_differs_from_zero(kernel, grid):
    for function in eigensystem(kernel, grid).functions:
        assert function[np.abs(function) > 1e-8 * np.abs(function).max()][0] > 0


def test_an_odd_function_that_starts_at_zero_still_has_a_sign():
    """On times that are symmetric, (0, …) can be a zero of a function up to rounding."""
    from engine.numerics.eigensystems import _signed

    functions = np.array([[-1e-12, -2.0, 2.0], [1e-12, 2.0, -2.0], [0.5, -2.0, 1.0]])
    assert (_signed(functions)[:, 1] == [2, 2, -2]).all()


def test_a_square_has_the_products_of_its_axes_where_the_kernel_is_one():
    kernel, grid = Kernel("gaussian", length=0.3), Grid(UNEVEN.times, 2)
    root = np.sqrt(grid.weights)
    dense = np.linalg.eigvalsh(root[:, None] * covariance(kernel, grid) * root)[::-1]
    system = eigensystem(kernel, grid)
    assert np.allclose(system.values, dense[: system.size], atol=1e-14)
    whole = (system.functions * system.values[:, None]).T @ system.functions
    assert np.allclose(whole, covariance(kernel, grid), atol=1e-10)


def test_the_sobolev_kernel_has_cosines_and_the_eigenvalues_of_its_norm():
    """∫f² + ρ²∫f′² of √2 cos(πkt) is 1 + (ρπk)²; their inverses are scaled to sum to one."""
    system, grid = eigensystem(SOBOLEV, midpoints(500)), midpoints(500)
    expected = 1 / (1 + (0.2 * np.pi * np.arange(1_000_000)) ** 2)
    assert np.allclose(system.values[:8], expected[:8] / expected.sum(), atol=1e-5)
    for k in range(1, 8):
        cosine = np.sqrt(2) * np.cos(np.pi * k * grid.points[:, 0])
        assert abs((grid.weights * cosine) @ system.functions[k]) == pytest.approx(1, abs=1e-4)
    assert SOBOLEV.decay() == 2 and SOBOLEV.is_separable


def test_of_the_kernels_of_a_distance_only_the_gaussian_is_a_product_of_those_of_the_axes():
    step = np.array([0.1, 0.2])
    for kernel in KERNELS:
        together, apart = kernel(np.hypot(*step)), kernel(step[0]) * kernel(step[1])
        assert kernel.is_separable == bool(np.isclose(together, apart))


# -- bases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", GRIDS)
def test_all_coefficients_of_a_curve_keep_its_size_and_a_few_never_exceed_it(grid):
    curves = np.random.default_rng(1).standard_normal((3, 7, grid.size))
    size = curves**2 @ grid.weights
    basis = Eigenbasis.whole(MATERN, grid)
    assert basis.size == grid.size
    assert np.allclose(basis.squared_distance(basis.analyse(curves)), size, rtol=1e-10)
    few = basis.first(5)
    assert (few.squared_distance(few.analyse(curves)) < size).all()
    assert np.allclose(few.analyse(curves), basis.analyse(curves)[..., :5])
    assert np.allclose(basis.analyse(curves) @ basis.functions, curves, atol=1e-9)


def test_functions_are_broken_lines_between_the_points_and_constant_beyond():
    basis = Eigenbasis(MATERN, UNEVEN, 4)
    times = np.array([0.0, 0.1, 0.125, 0.95, 0.97, 1.0])
    values = basis(times)
    assert np.allclose(values[:2], basis.functions.T[:2])
    assert np.allclose(values[2], basis.functions.T[1:3].mean(axis=0))
    assert np.allclose(values[3:], basis.functions.T[-1])
    assert basis(times.reshape(2, 3)).shape == (2, 3, 4)


def test_functions_on_a_square_are_bilinear_between_the_points():
    basis = Eigenbasis(MATERN, midpoints(5, 2), 6)
    assert np.allclose(basis(basis.grid.points), basis.functions.T)
    centre = basis(np.array([[0.2, 0.4]]))
    assert np.allclose(centre, basis.functions.reshape(6, 5, 5)[:, :2, 1:3].mean(axis=(1, 2)))
    assert np.allclose(basis(np.array([1.0, 0.0])), basis.functions.reshape(6, 5, 5)[:, 4, 0])


@pytest.mark.parametrize(
    ("grid", "function", "rule"),
    [
        (midpoints(100), peaks, "gauss"),
        (UNEVEN, peaks, "midpoints"),
        (midpoints(20, 2), hill, "square"),
    ],
)
def test_a_truth_is_projected_on_the_grid_and_loses_no_energy(grid, function, rule):
    truth, basis = Truth.of(function, rule), Eigenbasis(MATERN, grid, 3)
    values = function(grid.points[:, 0] if grid.dimension == 1 else grid.points)
    best, left = basis.project(truth)
    assert np.allclose(best, basis.analyse(values), atol=1e-5)
    rest = values - best @ basis.functions
    assert left == pytest.approx(rest**2 @ grid.weights, abs=1e-5)
    assert left > 1e-3
    assert Eigenbasis.whole(MATERN, grid).project(truth)[1] == pytest.approx(0, abs=1e-9)


def test_several_truths_are_projected_at_once():
    both = Truth.of(lambda t: np.stack([peaks(t), t]))
    basis = Eigenbasis(MATERN, midpoints(50), 7)
    best, left = basis.project(both)
    assert best.shape == (2, 7)
    one, rest = basis.project(Truth.of(lambda t: t))
    assert np.allclose(best[1], one)
    assert left[1] == pytest.approx(float(rest))


def test_more_functions_than_the_kernel_has_are_refused():
    with pytest.raises(InputError, match="1 to 100 functions"):
        Eigenbasis(MATERN, midpoints(100), 101)
    with pytest.raises(InputError, match="got 0"):
        Eigenbasis(MATERN, midpoints(100), 0)


def test_a_basis_travels_by_its_parameters_alone():
    basis = Eigenbasis(MATERN, midpoints(100), 12)
    basis(drawing_grid())
    again = pickle.loads(pickle.dumps(basis))
    assert again == basis
    assert hash(again) == hash(basis)
    assert digest(again) == digest(basis)
    assert digest(basis.first(11)) != digest(basis)
    assert len(pickle.dumps(basis)) < 5000
    assert basis.eigenvalues.shape == (12,)


# -- truths off their nodes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "rule", "error"),
    [
        (peaks, "gauss", 1e-9),
        (peaks, "midpoints", 1e-5),
        (lambda t: np.abs(t - 0.37), "midpoints", 5e-5),
        (lambda t: np.sign(t - 0.3), "midpoints", 1e-12),
    ],
)
def test_a_truth_is_known_between_its_nodes(function, rule, error):
    times = np.concatenate([[0.0, 1.0], np.random.default_rng(2).random(998)]).reshape(10, 100)
    assert np.allclose(Truth.of(function, rule).at(times), function(times), atol=error)


def test_a_truth_on_the_square_is_known_between_its_nodes():
    points = np.random.default_rng(3).random((4, 50, 2))
    points[0, :4] = [[0, 0], [0, 1], [1, 0], [1, 1]]
    truth = Truth.of(lambda x: np.stack([hill(x), x[..., 0]]), "square")
    values = truth.at(points)
    assert values.shape == (2, 4, 50)
    assert np.allclose(values[0], hill(points), atol=1e-6)
    assert np.allclose(values[1], points[..., 0], atol=1e-12)
    assert truth.energy == pytest.approx([np.pi * 0.2**2, 1 / 3], rel=0.03)
    assert np.allclose(truth.less(lambda x: np.stack([hill(x), 0 * x[..., 0]])).at(points)[0], 0)


def test_several_truths_keep_their_axis_at_a_single_time():
    both = Truth.of(lambda t: np.stack([peaks(t), t]))
    assert both.at(np.array(0.5)).shape == (2,)
    assert both.at(np.array([0.25, 0.5]))[1] == pytest.approx([0.25, 0.5])
