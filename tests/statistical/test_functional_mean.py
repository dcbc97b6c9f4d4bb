"""The closed forms of the specification, met within Monte-Carlo error."""

import math

import numpy as np
import pytest

from engine.core.types import Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.running import executors
from engine.simulation.experiments import Cell, Run, run_cells
from engine.sources.sparse_curves import SparseCurves

PUBLISHED = NoisyGradientMean(scheme="split", constants="published", truncation=3)


def run(cells, repeats, seed=5):
    with executors.make("serial") as executor:
        return run_cells(cells, Run(repeats, 1, seed), executor)


def cell(n, m, epsilon, mechanism=PUBLISHED):
    return Cell(
        {},
        SparseCurves(n_curves=n, n_observations_per_curve=m),
        mechanism,
        (Budget(epsilon, 1e-3),),
    )


def noise_part(n, m, epsilon, power):
    """Σ σ_l² ρ² (1 − q^T) / (1 − q) with q = (1 − ρ)² + ρ² (r − 1) / (b m), for uniform points."""
    rounds = math.ceil(4 * math.log(n))
    b, rho = n // rounds, 0.1
    radii = 0.75 * (math.sqrt(math.log(n / 0.05) ** power / m) + np.arange(1, 4.0) ** -3)
    variance = 16 * math.log(2 / 1e-3) * radii.sum() ** 2 / (b * epsilon) ** 2
    q = (1 - rho) ** 2 + rho**2 * 2 / (b * m)
    return variance * rho**2 * (1 - q**rounds) / (1 - q)


@pytest.mark.parametrize(
    ("n", "power", "printed"),
    [(250, 2, 3.05), (250, 1, 0.552), (1000, 2, 0.327), (1000, 1, 0.0504)],
)
def test_the_closed_form_of_the_noise_has_the_tabulated_size(n, power, printed):
    assert noise_part(n, 10, 1.0, power) == pytest.approx(printed, rel=0.01)


@pytest.mark.parametrize("n", [250, 1000])
def test_the_privacy_error_is_the_closed_form_where_clipping_is_rare(n):
    """400 repeats at ε = 8, five standard errors; clipping may add a little, never take away."""
    (outcome,) = run([cell(n, 10, 8.0)], 400)
    result = outcome.summary("privacy_error")
    expected = noise_part(n, 10, 8.0, 1)
    print(f"n = {n}: {result['mean']:.5f} ± {result['se']:.5f}, closed form {expected:.5f}")
    assert abs(result["mean"] - expected) < 5 * result["se"] + 0.05 * expected


def test_simulated_readings_have_the_stated_mean_and_spread():
    """2000 curves of 20 readings: mean and variance around μ within five standard errors."""
    source = SparseCurves(n_curves=2000, n_observations_per_curve=20)
    data = source.draw(1, np.random.default_rng(1))
    t = data.times[0]
    rest = data.values[0] - (0.8 + 0.6 * np.cos(2 * np.pi * t) + 2 / 3 * np.sin(2 * np.pi * t))
    of_curve = rest.reshape(2000, 20).mean(axis=1)
    assert abs(of_curve.mean()) < 5 * of_curve.std() / math.sqrt(2000)
    squares = (rest**2).reshape(2000, 20).mean(axis=1)
    assert abs(squares.mean() - 0.5) < 5 * squares.std() / math.sqrt(2000)
    assert abs(t.mean() - 0.5) < 5 * math.sqrt(1 / 12 / len(t))


@pytest.mark.slow
def test_errors_fall_with_the_number_of_curves_at_the_reproduced_slopes():
    """Slopes of log error on log n over n = 200 … 3600, 200 repeats; Monte-Carlo error .05."""
    sizes = np.arange(200, 3601, 200)
    for epsilon, slope in ((1.0, -1.89), (3.0, -1.53), (8.0, -1.11)):
        cells = [cell(int(n), math.floor(round(n ** (1 / 3), 9)), epsilon) for n in sizes]
        means = [outcome.summary("total_error")["mean"] for outcome in run(cells, 200)]
        found = np.polyfit(np.log(sizes), np.log(means), 1)[0]
        print(f"ε = {epsilon}: slope {found:.3f}, expected {slope}")
        assert found == pytest.approx(slope, abs=0.15)


@pytest.mark.parametrize("m", [1, 2])
def test_few_readings_per_curve_keep_their_times_and_scatter_around_the_mean(m):
    """4000 curves: times stay uniform on [0, 1]; readings within five standard errors of μ."""
    data = SparseCurves(n_curves=4000, n_observations_per_curve=m).draw(1, np.random.default_rng(2))
    t, rest = data.times[0], data.values[0]
    assert 0 <= t.min() < 0.01 < 0.99 < t.max() <= 1
    rest = rest - (0.8 + 0.6 * np.cos(2 * np.pi * t) + 2 / 3 * np.sin(2 * np.pi * t))
    of_curve = rest.reshape(4000, m).mean(axis=1)
    assert abs(of_curve.mean()) < 5 * of_curve.std() / math.sqrt(4000)
