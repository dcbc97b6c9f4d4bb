"""Errors and coverage of percentile curves, against an independent implementation's numbers."""

import numpy as np
import pytest

from engine.core.grids import drawing_grid
from engine.core.types import Budget
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.simulation.experiments import generator
from engine.sources.population_readings import PopulationReadings

TIMES = (np.arange(24) + 0.5) / 24
SETTINGS = {
    "growth": {"percentiles": "3, 10, 25, 50, 75, 90, 97"},
    "glucose": {"limits": "70, 180"}}
# population, people, readings, sites, ε: error and its standard error of the other implementation,
# percentile by percentile; δ = 1/n² of every site
CELLS = {
    ("growth", 2000, 4, 1, 1.0): ([.74, .59, .50, .43, .48, .76, 1.12],
                                  [.04, .04, .03, .02, .03, .04, .06]),
    ("growth", 500, 4, 1, 3.0): ([.95, .81, .66, .60, .72, 1.10, 1.56],
                                 [.07, .05, .05, .04, .05, .08, .11]),
    ("growth", 2000, 1, 1, 1.0): ([2.22, 1.83, 1.56, 1.39, 1.61, 2.00, 2.58],
                                  [.15, .11, .12, .11, .12, .15, .20]),
    ("growth", 2000, 4, 4, 1.0): ([1.30, .97, .71, .63, .81, 1.30, 1.77],
                                  [.11, .06, .04, .05, .05, .10, .13]),
    ("glucose", 2000, 30, 1, 1.0): ([1.47, 1.67, 1.94, 2.62, 4.25], [.12, .09, .11, .17, .39]),
    ("glucose", 500, 30, 1, 1.0): ([3.83, 3.57, 4.21, 5.89, 10.40], [.26, .12, .18, .26, .48]),
    ("glucose", 2000, 100, 1, 1.0): ([1.09, 1.06, 1.26, 1.94, 4.67], [.18, .12, .08, .20, 1.01])}


def simulated(population, people, readings, sites, epsilon, repeats):
    """Errors (repeats, percentiles) and coverage, at the middles of 24 parts of the time range."""
    source = PopulationReadings(population=population, n_curves=people, n_servers=sites,
                                n_observations_per_curve=readings)
    mechanism = PercentileCurves(**SETTINGS[population])
    truth = source.known_percentiles(tuple(mechanism.levels.tolist()), tuple(TIMES.tolist()))
    budget = (Budget(epsilon, float(people / sites) ** -2),)
    errors, covered = [], []
    for k in range(repeats):
        estimate = mechanism.release(source.draw(1, generator(7, k, 0)), budget,
                                     generator(7, k, 1))
        curves = estimate.values(TIMES)[0, 0, 0]
        ends = [[np.interp(TIMES, drawing_grid(), row) for row in end[0, 0, 0]]
                for end in estimate.limits]
        errors.append(((curves - truth) ** 2).mean(axis=-1))
        covered.append(((ends[0] <= truth) & (truth <= ends[1])).mean(axis=-1))
    return np.array(errors), np.array(covered)


@pytest.mark.parametrize(("cell", "repeats"), [
    (("growth", 2000, 4, 1, 1.0), 12), (("glucose", 500, 30, 1, 1.0), 6),
    *(pytest.param(cell, 40, marks=pytest.mark.slow) for cell in CELLS)])
def test_errors_are_those_of_an_independent_implementation(cell, repeats):
    """Within three standard errors of both, or 15 %."""
    errors, _ = simulated(*cell, repeats)
    error = np.sqrt(errors.mean(axis=0))
    uncertainty = errors.std(axis=0, ddof=1) / np.sqrt(repeats) / (2 * error)
    expected, of_expected = map(np.array, CELLS[cell])
    allowed = np.maximum(3 * np.hypot(uncertainty, of_expected), 0.15 * expected)
    assert (error <= expected + allowed).all(), (error, expected)


@pytest.mark.slow
def test_bands_hold_where_people_are_many():
    _, covered = simulated("growth", 2000, 4, 1, 1.0, 60)
    assert ((covered.mean(axis=0) > 0.84) & (covered.mean(axis=0) < 0.99)).all(), covered.mean(axis=0)
    assert covered[:, 1:6].mean() > 0.90
