"""Simulated dense curves: the four means, the law of the errors, sizes and public facts."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.types import PublicFacts
from engine.numerics.eigensystems import Kernel, eigensystem, midpoints
from engine.sources.dense_curves import DenseCurves

DESIGNS = [chosen for _, chosen in DenseCurves.presets()]
T_ERRORS = DenseCurves(errors="t", n_curves=2000)


def curves(source, n_repeats=1):
    data = source.draw(n_repeats, generator(5, 0, 0))
    return data.values.reshape(n_repeats * source.n_curves, -1)


def errors(source):
    return curves(source) - source.truth.at(np.array(source.grid.times))


def density(t, mean, sd):
    return np.exp(-((t - mean) ** 2) / (2 * sd**2)) / np.sqrt(2 * np.pi * sd**2)


def test_the_first_three_means_are_the_stated_ones():
    t = drawing_grid()
    stated = {
        "rise": 10 * t * np.exp(-t),
        "two_peaks": 0.3 * density(t, 0.3, 0.05) + 0.7 * density(t, 0.8, 0.05),
        "five_peaks": 0.2
        * (
            density(t, 0, 0.03)
            + density(t, 0.2, 0.05)
            + density(t, 0.5, 0.05)
            - density(t, 0.75, 0.03)
            + density(t, 1, 0.03)
        ),
    }
    for mean, values in stated.items():
        assert np.allclose(DenseCurves(mean=mean).truth.grid_values, values, atol=1e-12)


def test_the_mixture_is_one_fixed_draw_of_the_first_eigenfunctions():
    grid = midpoints(100)
    functions = eigensystem(Kernel("matern", 1.5, 0.1), grid).functions[:25]
    weights = np.random.default_rng(4).uniform(-1, 1, 25)
    source = DenseCurves(mean="mixture", n_curves=2, error_variance=0.0)
    assert np.allclose(curves(source), weights @ functions, atol=1e-12)
    # the polynomial behind the truth follows the spline to about 2e-3
    assert np.allclose(source.truth.at(grid.points[:, 0]), weights @ functions, atol=3e-3)
    assert source.truth.energy == pytest.approx(weights @ weights, rel=2e-3)


def test_the_mixture_does_not_depend_on_where_curves_are_read():
    coarse, fine = (
        DenseCurves(mean="mixture", n_observations_per_curve=readings) for readings in (30, 300)
    )
    assert coarse.truth is fine.truth


@pytest.mark.parametrize("chosen", DESIGNS, ids=str)
def test_curves_without_errors_are_the_mean_at_the_common_times(chosen):
    source = DenseCurves(**chosen, n_curves=3, error_variance=0.0, n_observations_per_curve=40)
    data = source.draw(2, generator(1, 0, 0))
    times = np.array(source.facts.common_times)
    assert np.allclose(times, (np.arange(40) + 0.5) / 40)
    assert np.array_equal(data.times, np.tile(times, (2, 3)))
    assert np.allclose(data.values, np.tile(source.truth.at(times), (2, 3)), atol=3e-3)
    assert data.truth is source.truth


def test_gaussian_errors_have_the_stated_covariance():
    """20 000 curves: 5 s.e. of a covariance of variance-2 Gaussians is at most 0.1."""
    found = errors(
        DenseCurves(
            error_variance=2.0, error_length=0.3, n_curves=20_000, n_observations_per_curve=12
        )
    )
    t = (np.arange(12) + 0.5) / 12
    exact = 2 * np.exp(-((t[:, None] - t) ** 2) / (2 * 0.3**2))
    standard_error = np.sqrt((exact**2 + 4) / 20_000)
    assert (np.abs(found.T @ found / 20_000 - exact) < 5 * standard_error).all()
    assert (np.abs(found.mean(axis=0)) < 5 * np.sqrt(2 / 20_000)).all()


def test_t_errors_have_independent_coordinates_with_the_stated_energy():
    """E‖e‖² = 100 · 5/3; Var U² = 25 − 25/9 for the t law with 5 degrees of freedom."""
    found = errors(T_ERRORS)
    energy = (found**2).mean(axis=1)
    standard_error = np.sqrt(100 * (25 - 25 / 9) / 2000)
    assert abs(energy.mean() - 100 * 5 / 3) < 5 * standard_error
    functions = eigensystem(T_ERRORS.kernel, T_ERRORS.grid).functions
    coordinates = found @ functions.T / 100
    spread = (coordinates**2).mean(axis=0)
    assert (np.abs(spread - 5 / 3) < 5 * np.sqrt((25 - 25 / 9) / 2000)).all()
    off = np.abs(coordinates[:, 0] @ coordinates[:, 1:] / 2000)
    assert (off < 5 * (5 / 3) / np.sqrt(2000)).all()


def test_fewer_terms_give_smaller_t_errors_and_a_coarse_grid_has_fewer():
    assert (errors(DenseCurves(errors="t", n_terms=7)) ** 2).mean() < 20
    coarse = DenseCurves(errors="t", n_observations_per_curve=20)
    assert np.linalg.matrix_rank(errors(coarse)) == 20


def test_repeats_and_people_are_all_different():
    rows = curves(DenseCurves(n_curves=5), n_repeats=4)
    assert len(np.unique(rows[:, 0])) == 20


@pytest.mark.parametrize("source", [DenseCurves(n_curves=7, n_servers=3), T_ERRORS])
def test_sizes_are_known_before_anything_is_drawn(source):
    data = source.draw(2, generator(1, 0, 0))
    assert data.sizes == source.sizes
    assert data.facts == source.facts


def test_plans_can_change_the_sizes():
    other = DenseCurves(mean="two_peaks").resized(people=50, readings=20, sites=2)
    assert other.sizes.n_curves_per_server == (50, 50)
    assert (other.mean, len(other.facts.common_times)) == ("two_peaks", 20)


@pytest.mark.parametrize(
    ("chosen", "bound"),
    list(zip([*DESIGNS, {"errors": "t", "mean": "two_peaks"}], [4.5, 4, 3, 5, 16], strict=True)),
)
def test_stated_bounds_are_those_of_the_design_and_hold_for_nearly_all_curves(chosen, bound):
    source = DenseCurves(**chosen)
    assert source.facts.norm_bound == source.facts.largest_norm == bound
    rows = curves(source, 5)
    assert (np.abs(rows) < source.value_bound).all()
    assert (np.sqrt((rows**2).mean(axis=1)) > bound).mean() < 0.1


def test_where_no_size_is_stated_half_the_range_of_values_bounds_a_curve():
    assert PublicFacts(value_low=2, value_high=8).largest_norm == 3
    assert PublicFacts(value_low=2, value_high=8, norm_bound=1.5).largest_norm == 1.5
    for wrong in (-1.0, float("inf"), float("nan")):
        with pytest.raises(InputError) as refused:
            PublicFacts(norm_bound=wrong)
        assert refused.value.field == "norm_bound"


def test_more_sites_than_curves_are_refused():
    with pytest.raises(InputError, match="at least as many curves"):
        DenseCurves(n_curves=3, n_servers=4)


def test_every_choice_has_a_key_of_its_own():
    different = [
        DenseCurves(**chosen)
        for chosen in (
            *DESIGNS,
            {"errors": "t"},
            {"mixture_seed": 5},
            {"error_length": 0.3},
            {"n_terms": 5},
            {"kernel_smoothness": 2.5},
            {"kernel_length": 0.2},
            {"norm_bound": 9.0},
        )
    ]
    assert len({digest(source) for source in different}) == len(different)
