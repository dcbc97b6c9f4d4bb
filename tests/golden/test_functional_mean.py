"""The mechanism reproduces an independent implementation, by the stated match rule."""

import json
import math
from pathlib import Path

import numpy as np

from engine import executors, scenario
from engine.experiments import run_cells

GOLDEN = json.loads((Path(__file__).parent / "functional_mean.json").read_text())


def outcomes(entries, epsilons):
    """One outcome for each entry; budgets of equal settings are run together."""
    cells, run = [], None
    for entry, epsilon in zip(entries, epsilons, strict=True):
        chosen = scenario.from_plain({
            "source": {"key": "sparse_curves", "parameters": entry["source"]},
            "mechanism": {"key": "noisy_gradient_mean", "parameters": entry["mechanism"]},
            "budgets": [{"epsilon": epsilon, "delta": GOLDEN["delta"]}],
            "repeats": GOLDEN["repeats"], "seed": 11})
        cells += chosen.cells()
        run = chosen.run
    with executors.make("serial") as executor:
        return run_cells(cells, run, executor)


def distances(kind, entries, epsilons):
    """How many joint standard errors each mean is from its golden number."""
    found = [outcome.summary(kind) for outcome in outcomes(entries, epsilons)]
    return np.array([(got["mean"] - entry["mean"]) / math.hypot(got["se"], entry["se"])
                     for got, entry in zip(found, entries, strict=True)])


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
