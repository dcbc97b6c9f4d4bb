"""The mechanism reproduces an independent implementation, by the stated match rule."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.noisy_gradient_mean import NoisyGradientMean
from engine.running import executors
from engine.simulation import scenario
from engine.simulation.experiments import mean_and_se, run_cells
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.sparse_curves import SparseCurves

GOLDEN = json.loads((Path(__file__).parent / "functional_mean.json").read_text())


def outcomes(entries, epsilons):
    """One outcome for each entry; budgets of equal settings are run together."""
    cells, run = [], None
    for entry, epsilon in zip(entries, epsilons, strict=True):
        chosen = scenario.from_plain(
            {
                "source": {"key": "sparse_curves", "parameters": entry["source"]},
                "mechanism": {"key": "noisy_gradient_mean", "parameters": entry["mechanism"]},
                "budgets": [{"epsilon": epsilon, "delta": GOLDEN["delta"]}],
                "repeats": GOLDEN["repeats"],
                "seed": 11,
            }
        )
        cells += chosen.cells()
        run = chosen.run
    with executors.make("serial") as executor:
        return run_cells(cells, run, executor)


def distances(kind, entries, epsilons):
    """How many joint standard errors each mean is from its golden number."""
    rows = [outcome.summary(kind) for outcome in outcomes(entries, epsilons)]
    return np.array(
        [
            (got["mean"] - entry["mean"]) / math.hypot(got["se"], entry["se"])
            for got, entry in zip(rows, entries, strict=True)
        ]
    )


@pytest.mark.slow
def test_total_errors_match_the_independent_runs():
    """200 repeats of each of the cells; at least 95 % within 3 standard errors, none beyond 5."""
    entries = GOLDEN["total"]
    z = distances("total_error", entries, [entry["epsilon"] for entry in entries])
    print(f"{len(z)} cells, largest {np.abs(z).max():.2f}, mean square {np.mean(z**2):.2f}")
    assert np.mean(np.abs(z) <= 3) >= 0.95
    assert np.abs(z).max() <= 5


def test_errors_without_noise_match_the_independent_runs():
    """200 repeats of clipped split rounds, plain gradient descent and least squares."""
    z = distances("estimation_error", GOLDEN["estimation"], [1.0] * len(GOLDEN["estimation"]))
    assert np.abs(z).max() <= 4


# Three sites of 400, 250 and 100 curves with ε = 4, 1 and 0.5: weights, mean and standard error.
THREE_SITES = {
    "rate": ((0.533, 0.333, 0.133), 0.6294, 0.039),
    "size": ((0.533, 0.333, 0.133), 0.6294, 0.039),
    "uniform": ((1 / 3,) * 3, 5.501, 0.4),
    "inverse_variance": ((0.958, 0.040, 0.001), 0.02384, 0.0014),
}


def test_weights_of_unequal_sites_match_the_independent_runs():
    """200 data sets, published noise; the published weights cost a factor of about 26."""
    drawn = SparseCurves(n_curves=750).draw(200, generator(11, 0, 0))
    data = replace(drawn, server=np.repeat(np.arange(3), (400, 250, 100)))
    budgets, found = tuple(Budget(epsilon, 1e-3) for epsilon in (4.0, 1.0, 0.5)), {}
    for weights, (shares, mean, se) in THREE_SITES.items():
        method = NoisyGradientMean(
            scheme="split", constants="published", truncation=3, weights=weights
        )
        estimate = method.release_many(data, [budgets], 1, generator(12, 1, 0))
        got = mean_and_se(integrated_squared_errors(estimate, data.truth).total[0])
        found[weights] = got["mean"]
        assert abs(got["mean"] - mean) <= 3 * math.hypot(got["se"], se)
        assert np.allclose(estimate.parts.weight[0], shares, atol=1e-3)
    assert 18 < found["rate"] / found["inverse_variance"] < 38
