"""Wavelet bases: published constants, exact tables, edges, and sums that equal naive loops."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid, quadrature
from engine.core.types import Truth
from engine.numerics import wavelet_sums
from engine.numerics.point_values import PointValues
from engine.numerics.wavelet_bases import WaveletBasis, allowed_levels
from engine.numerics.wavelets import (
    STEPS,
    BoundaryCorrection,
    high_pass,
    low_pass,
    printed_point_constant,
    printed_sensitivity_constant,
    scaling_table,
    shift_gram,
    sup_norms,
)
from tests.heavy import few

# A: κ periodic, κ corrected, ‖φ‖, ‖ψ‖, printed c_ψ.
CONSTANTS = {
    1: (1, None, 1, 1, 2.82843),
    2: (2.00000, 3.89358, 1.36603, 1.73205, 8.48528),
    3: (1.81262, 6.64371, 1.28634, 1.70112, 10.75880),
    4: (1.36253, 7.63347, 1.12180, 1.35918, 10.17115),
    5: (1.26129, 8.77117, 1.06905, 1.19309, 10.12369),
    6: (1.25172, 12.06467, 1.03780, 1.12635, 10.56605),
    8: (1.25093, 14.55279, 1.01048, 1.10919, 12.15054),
}
BASES = [
    (1, "periodic"),
    (2, "periodic"),
    (4, "periodic"),
    (8, "periodic"),
    (2, "corrected"),
    (3, "corrected"),
    (4, "corrected"),
]
every_basis = pytest.mark.parametrize(("moments", "edges"), BASES)
ORTHONORMAL = 1e-6  # what the broken line loses


def fine_basis(moments, edges, above=2):
    return WaveletBasis(2 ** (allowed_levels(moments, edges)[0] + above), moments, edges)


@pytest.mark.parametrize("moments", CONSTANTS)
def test_constants_are_the_published_ones_to_five_digits(moments):
    periodic, corrected, phi, psi, printed = CONSTANTS[moments]
    assert fine_basis(moments, "periodic").kappa == pytest.approx(periodic, abs=6e-6)
    if corrected is not None:
        assert fine_basis(moments, "corrected").kappa == pytest.approx(corrected, abs=6e-6)
    assert sup_norms(moments) == pytest.approx((phi, psi), abs=1.2e-5)
    assert printed_sensitivity_constant(moments) == pytest.approx(printed, abs=6e-6)


@pytest.mark.parametrize("moments", CONSTANTS)
def test_filters_are_orthonormal_and_the_table_solves_the_two_scale_relation_exactly(moments):
    h, g = low_pass(moments), high_pass(moments)
    for k in range(moments):
        shifted = slice(2 * k, None), slice(None, len(h) - 2 * k)
        assert h[shifted[0]] @ h[shifted[1]] == pytest.approx(float(k == 0), abs=1e-12)
        assert h[shifted[0]] @ g[shifted[1]] == pytest.approx(0, abs=1e-12)
    if moments == 1:
        return
    table = scaling_table(moments)
    flat = np.append(table[:, :-1].ravel(), 0.0)
    places = np.arange(0, len(flat), 37)
    doubled = 2 * places[:, None] - np.arange(2 * moments) * STEPS
    inside = (doubled >= 0) & (doubled < len(flat))
    again = np.sqrt(2) * (h * np.where(inside, flat[np.clip(doubled, 0, len(flat) - 1)], 0)).sum(1)
    assert np.allclose(again, flat[places], atol=1e-13)
    assert np.allclose(table.sum(axis=0), 1, atol=1e-13)  # shifts add up to one everywhere


@every_basis
def test_functions_are_orthonormal_and_curves_keep_their_size(moments, edges):
    """Gram matrix by 2^17 midpoints: wavelets and scaling functions alike."""
    basis = fine_basis(moments, edges)
    nodes, weights = quadrature("midpoints")
    rows = basis.scaling(nodes)
    atol = 5e-6 if moments == 2 else ORTHONORMAL  # the quadrature of a rough function adds to it
    assert np.allclose(rows.T @ (weights[:, None] * rows), np.eye(basis.size), atol=atol)
    coefficients = np.random.default_rng(1).standard_normal(basis.size)
    values = basis.curve(basis.from_levels(coefficients), nodes)
    assert weights @ values**2 == pytest.approx(coefficients @ coefficients, rel=1e-5)


@pytest.mark.parametrize("moments", range(2, 9))
def test_corrected_edges_are_orthonormal_and_keep_polynomials(moments):
    rule, level = BoundaryCorrection(moments), BoundaryCorrection(moments).lowest_level + 1
    gram = rule.fold(rule.fold(shift_gram(moments, level)).T)
    assert np.allclose(gram, np.eye(2**level), atol=1e-8)
    basis, (nodes, weights) = WaveletBasis(2**level, moments, "corrected"), quadrature("midpoints")
    for degree in range(moments):
        values = nodes**degree
        fitted = basis.curve(basis.inner_products(nodes, (weights * values)[None])[0], nodes)
        assert np.allclose(fitted, values, atol=2e-5)


def test_periodic_wavelets_do_not_keep_a_slope_and_corrected_ones_do():
    line = Truth.of(lambda t: t, "midpoints")
    left_out = [
        float(WaveletBasis(32, 4, edges).project(line)[1]) for edges in ("periodic", "corrected")
    ]
    assert left_out[0] > 1e-3
    assert left_out[1] < 1e-8


@every_basis
def test_the_filter_bank_is_orthogonal_and_puts_coarse_functions_first(moments, edges):
    basis = fine_basis(moments, edges)
    every = basis.to_levels(np.eye(basis.size))
    assert np.allclose(every @ every.T, np.eye(basis.size), atol=1e-9)
    assert np.allclose(basis.from_levels(every), np.eye(basis.size), atol=1e-9)
    coarse = basis.first(basis.size // 2)
    grid = drawing_grid()
    # the broken line satisfies the two-scale relation up to its error between nodes
    assert np.allclose(
        basis(grid)[:, : coarse.size], coarse(grid), atol=2e-2 if moments == 2 else 1e-4
    )
    assert [level for level, _ in basis.levels] == [
        basis.rule.lowest_level,
        *range(basis.rule.lowest_level, basis.level),
    ]


@every_basis
def test_wavelets_of_fine_levels_have_no_part_in_constants(moments, edges):
    basis = fine_basis(moments, edges)
    best, tail = basis.project(Truth.of(np.ones_like, "midpoints"))
    assert np.allclose(best, basis.constant(1.0), atol=2e-6)
    assert np.allclose(best[basis.size // 4 :], 0, atol=1e-6)
    assert tail == pytest.approx(0, abs=1e-6)


@every_basis
def test_sums_over_readings_equal_a_naive_loop_on_both_ways(moments, edges):
    rng, basis = np.random.default_rng(3), fine_basis(moments, edges, 1)
    per_site = (40, 7, 153)
    times, weights = rng.random((2, 200)), rng.standard_normal((2, 200))
    times[0, :3] = 0.0, 1.0, 0.5
    naive, ends = np.zeros((2, 3, basis.size)), np.cumsum(per_site)
    for r in range(2):
        for i in range(200):
            naive[r, np.searchsorted(ends, i, side="right")] += (
                weights[r, i] * basis.scaling(times[r, i : i + 1])[0]
            )
    assert np.allclose(basis.sums(times, weights, per_site), naive, atol=1e-11)
    crowded = wavelet_sums._crowded_sums(times, weights, per_site, basis.level, moments)
    assert np.allclose(2 ** (basis.level / 2) * basis.rule.fold(crowded), naive, atol=1e-11)


@pytest.mark.parametrize(("readings", "cells"), [(37, 2**16), (10**6, 16), (37, 32), (1, 1)])
def test_blocks_of_readings_do_not_show_at_their_borders(readings, cells):
    rng, basis = np.random.default_rng(4), WaveletBasis(16)
    times, weights = rng.random((3, 500)), rng.standard_normal((3, 500))
    per_site = (100, 0, 1, 2, 397)
    given = (times, weights, per_site, basis.level, basis.moments)
    whole, cut = (wavelet_sums.shift_sums(*given, *most) for most in ((), (readings, cells)))
    assert np.allclose(cut, whole, atol=1e-12)


@every_basis
def test_a_curve_and_the_diagonal_of_the_kernel_equal_their_matrices(moments, edges):
    rng, basis = np.random.default_rng(5), fine_basis(moments, edges)
    times = np.concatenate([[0.0, 1.0, 0.5, 1e-12, 1 - 1e-12], rng.random(200)])
    rows, coefficients = basis.scaling(times), rng.standard_normal(basis.size)
    assert np.allclose(basis.curve(coefficients, times), rows @ coefficients, atol=1e-11)
    assert np.allclose(basis.diagonal(times), (rows**2).sum(axis=1), rtol=1e-12)
    assert np.allclose(basis(times) @ basis.to_levels(coefficients), rows @ coefficients, atol=1e-9)


def test_the_largest_kernel_values_are_the_published_ones():
    basis = WaveletBasis(64)
    rows = [basis.largest_kernel(point) / 64 for point in (0.37, 0.5, 0.05)]
    assert rows == pytest.approx([0.823, 1.145, 1.362], abs=6e-4)
    assert rows == pytest.approx([0.82312, 1.14461, 1.36252], abs=6e-6)


@every_basis
def test_suprema_are_attained_on_a_fine_grid_and_never_exceeded(moments, edges):
    basis = fine_basis(moments, edges)
    grid = np.linspace(0, 1, 20_011)
    rows = basis.scaling(grid)
    largest = np.sqrt((rows**2).sum(axis=1)).max()
    assert 0.99 * basis.sup_norm < largest <= basis.sup_norm * (1 + 1e-12)
    shape = np.sqrt(basis.noise_shape(basis.edge_share))
    weighted = np.sqrt(((rows / shape) ** 2).sum(axis=1)).max()
    assert 0.99 * basis.weighted_sup_norm < weighted <= basis.weighted_sup_norm * (1 + 1e-12)
    for point in (0.0, 0.003, 0.37, 0.5, 0.999):
        kernel = np.abs(rows @ basis.scaling(np.array([point]))[0]).max()
        assert (
            0.98 * basis.largest_kernel(point) < kernel <= basis.largest_kernel(point) * (1 + 1e-12)
        )


def test_haar_sensitivities_are_the_exact_ones_over_all_pairs():
    """(2τ/n) 2^{J/2} for the curve and 4τ 2^L/n at a point, J = L + 1; one reading in each cell."""
    basis, times = WaveletBasis(8, 1), (np.arange(8) + 0.3) / 8
    rows = basis.scaling(times)
    signed = np.concatenate([rows, -rows])
    apart = np.sqrt(((signed[:, None] - signed) ** 2).sum(axis=-1)).max()
    assert apart == pytest.approx(2 * basis.sup_norm) == pytest.approx(2 * 8**0.5)
    kernel = signed @ basis.scaling(np.array([0.4]))[0]
    assert np.ptp(kernel) == pytest.approx(2 * basis.largest_kernel(0.4)) == pytest.approx(4 * 4)
    assert printed_point_constant(1) * 4 == pytest.approx(
        np.ptp(kernel) / 2
    )  # half of it is printed


@pytest.mark.parametrize(
    ("moments", "ratio"), few([(1, 1.0), (2, 1.25), (3, 1.294), (4, 1.216), (6, 1.218)])
)
def test_readings_and_their_density_together_move_little_more_than_readings(moments, ratio):
    basis = WaveletBasis(64, moments)
    joint = max(2 * basis.sup_norm, np.sqrt(2) * basis.widest_pair())
    assert (joint / (2 * basis.sup_norm)) ** 2 == pytest.approx(ratio, abs=6e-4)


def test_edge_weighted_noise_costs_what_was_worked_out():
    """Total noise in units of (2τr/n)²: level 6 and 10 of corrected db4."""
    for level, share, total, equal in ((6, 5.47, 139.2, 488.5), (10, 7.27, 1464, 7817)):
        basis = WaveletBasis(2**level, 4, "corrected")
        assert basis.edge_share == pytest.approx(share, abs=0.006)
        found = basis.noise_shape(basis.edge_share).sum() * basis.weighted_sup_norm**2
        assert found / basis.size == pytest.approx(total, rel=5e-4)
        assert basis.sup_norm**2 == pytest.approx(equal, rel=2e-4)


@pytest.mark.parametrize("size", [24, 4, 0])
def test_sizes_that_are_no_space_of_the_basis_are_refused(size):
    with pytest.raises(InputError, match="2\\^J functions"):
        WaveletBasis(size)


def test_values_at_points_are_a_basis_of_their_own():
    points = PointValues.stated("0.7, 0.2, 0.7", "points")
    assert points.points == (0.2, 0.7)
    best, tail = points.project(Truth.of(lambda t: t**2, "midpoints"))
    assert best == pytest.approx([0.04, 0.49], abs=1e-5)
    assert tail == 0
    assert np.allclose(points(np.array([0.0, 0.45, 1.0])), [[1, 0], [0.5, 0.5], [0, 1]])
    assert points.squared_distance(np.array([1.0, 3.0])) == 5
    assert PointValues.stated("1, 0", "points").points == (0.0, 1.0)
    for wrong in ("", "0.2, x", "-0.1", "1.2", "nan"):
        with pytest.raises(InputError, match="points"):
            PointValues.stated(wrong, "points")


@pytest.mark.parametrize("moments", range(2, 9))
def test_at_both_ends_corrected_kernels_reproduce_a_line_within_their_stated_sensitivity(moments):
    """K(0, ·) and K(1, ·) against a line, and their largest values, which one observation adds."""
    basis = fine_basis(moments, "corrected", above=1)
    nodes, weights = quadrature("midpoints")
    ends = np.array([0.0, 1.0])
    values = basis.curve(basis.inner_products(nodes, (weights * (1 + nodes))[None])[0], ends)
    assert np.allclose(values, [1, 2], atol=2e-5)
    seen = basis.scaling(np.append(np.linspace(0, 1, 4097), ends)) @ basis.scaling(ends).T
    for k, point in enumerate(ends):
        assert 0.99 <= np.abs(seen[:, k]).max() / basis.largest_kernel(float(point)) <= 1 + 1e-9
