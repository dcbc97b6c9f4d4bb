"""Points of known densities, points with labels, and ages at death: laws, truths and counts."""

import csv

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from engine.core.errors import InputError
from engine.core.grids import drawing_grid, quadrature
from engine.sources import sources
from engine.sources.ages_at_death import OLDEST, REGIONS, AgesAtDeath
from engine.sources.bundled import DATA
from engine.sources.density_points import DensityPoints
from engine.sources.labelled_points import LabelledPoints

ONE_DIMENSION = ("two_modes", "skewed", "uniform")
SHAPES = ("wave", "two_bumps", "step", "line")


def rng(seed=7):
    return np.random.default_rng(seed)


def within_five_errors(counts, chances):
    """Each count, and so each cell, of a multinomial draw is within five standard errors."""
    n = counts.sum()
    return (np.abs(counts - n * chances) <= 5 * np.sqrt(n * chances * (1 - chances)) + 1e-9).all()


# --- densities ---


@pytest.mark.parametrize("design", ONE_DIMENSION)
def test_a_density_on_the_line_integrates_to_one(design):
    truth = DensityPoints(design=design).truth
    assert truth.node_values @ quadrature()[1] == pytest.approx(1, abs=1e-12)


def test_the_density_in_the_plane_integrates_to_one_and_has_the_known_energy():
    truth = DensityPoints(design="two_modes_2d").truth
    assert truth.rule == "square"
    assert truth.node_values.shape == (96 * 96,) and truth.grid_values.shape == (101 * 101,)
    # the midpoint rule is off by 1e-4, since the density is not flat at the border
    assert truth.node_values.mean() == pytest.approx(1, abs=2e-4)
    assert (truth.node_values**2).mean() == pytest.approx(5.10, abs=0.005)


def test_two_modes_are_the_truncated_mixture():
    x = drawing_grid()
    mixture = sum(w * norm.pdf(x, m, 0.1) for w, m in ((0.6, 0.3), (0.4, 0.7)))
    mass = sum(w * (norm.cdf(1, m, 0.1) - norm.cdf(0, m, 0.1)) for w, m in ((0.6, 0.3), (0.4, 0.7)))
    assert DensityPoints().truth.grid_values == pytest.approx(mixture / mass, abs=1e-12)


def test_the_plane_is_laid_out_row_after_row_with_the_first_coordinate_outside():
    values = DensityPoints(design="two_modes_2d").truth.node_values.reshape(96, 96)
    first, second = np.unravel_index(np.argmax(values), values.shape)
    assert (first + 0.5) / 96 == pytest.approx(0.2, abs=0.01)  # the higher mode is at (−3, −3)
    assert (second + 0.5) / 96 == pytest.approx(0.2, abs=0.01)
    lower = values * (np.add.outer(np.arange(96), np.arange(96)) > 96)
    assert np.array(np.unravel_index(np.argmax(lower), values.shape)) == pytest.approx(
        [0.8 * 96, 0.7 * 96], abs=1.5
    )  # the other at (3, 2)


@pytest.mark.parametrize("design", ONE_DIMENSION)
def test_points_on_the_line_fall_into_cells_as_the_density_says(design):
    """200 000 points, 20 cells, five standard errors each."""
    source = DensityPoints(design=design, n_curves=100_000)
    counts = np.histogram(source.draw(2, rng()).unit_x, bins=20, range=(0, 1))[0]
    fine = (np.arange(20_000) + 0.5) / 20_000
    density = np.interp(fine, drawing_grid(), source.truth.grid_values)
    chances = density.reshape(20, -1).mean(axis=1)  # off by 1e-3 of a cell: straight between points
    assert within_five_errors(counts, chances / chances.sum())


def test_points_in_the_plane_fall_into_cells_as_the_density_says():
    """100 000 points, 8 × 8 cells of 12 × 12 midpoints, five standard errors each."""
    source = DensityPoints(design="two_modes_2d", n_curves=100_000)
    x = source.draw(1, rng()).unit_x[0]
    counts = np.histogram2d(x[:, 0], x[:, 1], bins=8, range=[(0, 1), (0, 1)])[0]
    chances = source.truth.node_values.reshape(8, 12, 8, 12).mean(axis=(1, 3)) / 64
    assert within_five_errors(counts, chances)


def test_there_are_more_points_in_the_plane_unless_said_otherwise():
    assert DensityPoints().n_curves == 1000
    assert DensityPoints(design="two_modes_2d").n_curves == 5000
    assert DensityPoints(design="two_modes_2d", n_curves=70).draw(2, rng()).x.shape == (2, 70, 2)


# --- labels ---


@pytest.mark.parametrize("function", SHAPES)
def test_functions_are_of_size_one(function):
    assert 0.8 < np.abs(LabelledPoints(function=function).truth.grid_values).max() < 1.01


@pytest.mark.parametrize("bound", [2.0, 0.5])
def test_numbers_average_to_the_truth_even_where_the_bound_cuts_them(bound):
    """400 000 numbers in 40 cells, against the truth at each point, five standard errors."""
    source = LabelledPoints(n_curves=400_000, bound=bound)
    data = source.draw(1, rng())
    x, y = data.x[0, :, 0], data.y[0]
    off, cell = y - source.target(x), (40 * x).astype(int)
    n = np.bincount(cell)
    assert (np.abs(np.bincount(cell, off) / n) < 5 * 0.3 / np.sqrt(n)).all()
    assert np.abs(y).max() <= bound


def test_classes_are_drawn_with_the_stated_log_odds():
    """400 000 classes in 40 cells, five standard errors of at most ½ each."""
    source = LabelledPoints(response="classes", function="two_bumps", n_curves=400_000)
    data = source.draw(1, rng())
    x, y = data.x[0, :, 0], data.y[0]
    log_odds = np.interp(x, drawing_grid(), source.truth.grid_values)
    off, cell = (y + 1) / 2 - expit(log_odds), (40 * x).astype(int)
    n = np.bincount(cell)
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert (np.abs(np.bincount(cell, off) / n) < 5 * 0.5 / np.sqrt(n)).all()


def test_log_odds_are_the_function_times_their_strength():
    weak = LabelledPoints(response="classes", function="line", strength=0.5).truth
    assert weak.grid_values == pytest.approx(0.5 * (2 * drawing_grid() - 1))


def test_rising_points_have_the_density_one_half_plus_x():
    """200 000 points, 10 cells, five standard errors each."""
    x = LabelledPoints(n_curves=200_000, points="rising").draw(1, rng()).x
    edges = np.linspace(0, 1, 11)
    assert within_five_errors(np.histogram(x, bins=edges)[0], np.diff((edges + edges**2) / 2))


# --- ages at death ---


def rows():
    with (DATA / AgesAtDeath.file).open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))[1:]


def test_the_regions_offered_are_those_of_the_file_in_its_order():
    assert tuple(row[0] for row in rows()) == REGIONS


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_region_has_a_record_for_each_thousand_deaths(row):
    data = AgesAtDeath(region=row[0]).draw(1, rng())
    assert data.n_curves == round(sum(map(float, row[1:])))


@pytest.mark.parametrize("region", ["Eastern Africa", "Australia/New Zealand"])
def test_each_year_of_age_is_less_than_one_record_off_its_share_of_the_group(region):
    deaths = np.array(next(row for row in rows() if row[0] == region)[1:], dtype=float)
    years = np.array([1, 4, *[5] * 20])
    ages = AgesAtDeath(region=region).draw(1, rng()).x[0, :, 0]
    counts = np.bincount(ages.astype(int), minlength=OLDEST)
    assert np.abs(counts - np.repeat(deaths / years, years)).max() < 1
    assert (ages % 1 == 0.5).all()


def test_ages_are_the_same_in_every_draw_and_cannot_be_repeated():
    source = AgesAtDeath()
    assert (source.draw(1, rng(1)).x == source.draw(1, rng(2)).x).all()
    with pytest.raises(InputError, match="same in every repeat"):
        source.draw(2, rng())


def test_a_record_of_deaths_is_never_called_a_person():
    source = AgesAtDeath()
    assert not source.is_random
    assert (source.facts.kind, source.facts.person) == ("public", "record of 1000 deaths")
    assert source.draw(1, rng()).truth is None


def test_densities_are_served_by_simulated_and_real_points():
    assert [cls.key for cls in sources.for_task("density")] == ["density_points", "ages_at_death"]
