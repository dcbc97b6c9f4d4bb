"""The adaptive mean reproduces an independent implementation, by the stated match rule."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.coverage import sites
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.mechanisms.families.adaptive.rules import effective_size
from engine.running import executors
from engine.simulation import scenario
from engine.simulation.experiments import mean_and_se, run_cells
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

GOLDEN = json.loads((Path(__file__).parent / "adaptive_mean.json").read_text())
REPEATS = {4000: 8, 1000: 24, 250: 60}  # as in the independent runs; 80 for fewer curves


def differences(row):
    """How many joint standard errors each mean is from its golden number."""
    n = row["source"]["n_curves"]
    chosen = scenario.from_plain(
        {
            "source": {"key": "sparse_curves", "parameters": row["source"]},
            "mechanism": {
                "key": "adaptive_mean",
                "parameters": row["mechanism"] | {"edition": "0.6"},
            },
            "budgets": [{"epsilon": 1.0, "delta": row["delta"]}],
            "axes": {"budgets.epsilon": row["epsilon"]},
            "repeats": REPEATS.get(n, 80),
            "draws": 3,
            "seed": 11,
        }
    )
    with executors.make("serial") as executor:
        outcomes = run_cells(chosen.cells(), chosen.run, executor)
    rows = [outcome.summary("total_error") for outcome in outcomes]
    return [
        (got["mean"] - mean) / np.hypot(got["se"], se)
        for got, mean, se in zip(rows, row["mean"], row["se"], strict=True)
    ]


def match(rows):
    """Whether at least 95 % of cells lie within 3 joint standard errors, and none beyond 5."""
    z = np.concatenate([differences(row) for row in rows])
    print(f"{len(z)} cells, largest {np.abs(z).max():.2f}, mean square {np.mean(z**2):.2f}")
    return np.mean(np.abs(z) <= 3) >= 0.95 and np.abs(z).max() <= 5


def of(*tables, most=4000):
    return [row for row in GOLDEN if row["table"] in tables and row["source"]["n_curves"] <= most]


@pytest.mark.slow
def test_errors_with_a_known_basis_match_the_independent_runs():
    """30 cells: three sizes at five ε, raw and shrunk."""
    assert match(of("13.3"))


@pytest.mark.slow
def test_errors_at_the_edge_and_without_delta_match_the_independent_runs():
    """30 cells: bounds that are loose, tight or nearly reached, few curves, and δ = 0."""
    assert match(of("13.6", "10"))


@pytest.mark.slow
def test_errors_with_the_usual_basis_match_the_independent_runs():
    """The 100-curve half of the large table: 120 cells."""
    assert match(of("13.2", most=100))


@pytest.mark.slow
def test_all_errors_match_the_independent_runs():
    """480 cells: four curves, two bases, 100 to 4000 curves, five ε."""
    assert match(of("13.2"))


@pytest.mark.slow
def test_joint_releases_match_the_independent_runs():
    """Cells of 250 and 1000 curves with 3, 10 and 30 observations, at five ε and two δ."""
    assert match(of("joint", most=1000)[::5])


@pytest.mark.slow
def test_all_joint_releases_match_the_independent_runs():
    assert match(of("joint"))


# Sites: curves on each, ε of each, r, and means ± standard errors raw and shrunk over 30 data sets.
SITES = [
    ((250,) * 4, (1.0,) * 4, 14, (0.00257, 0.00015), (0.00230, 0.00019)),
    ((250,) * 4, (4.0,) * 4, 16, (0.00105, 0.00009), (0.00096, 0.00009)),
    ((400, 250, 100), (4.0, 1.0, 0.5), 15, (0.00181, 0.00017), (0.00167, 0.00019)),
    ((50,) * 20, (1.0,) * 20, 9, (0.00640, 0.00060), (0.00664, 0.00082)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "epsilons", "size", "raw", "shrunk"), few(SITES))
def test_errors_over_several_sites_match_the_independent_runs(sizes, epsilons, size, raw, shrunk):
    """30 data sets with three releases each, at δ = 10⁻³ on every site."""
    drawn = SparseCurves(n_curves=sum(sizes)).draw(30, generator(11, 0, 0))
    data = replace(drawn, server=np.repeat(np.arange(len(sizes)), sizes))
    budgets = tuple(Budget(epsilon, 1e-3) for epsilon in epsilons)
    for how, (mean, se) in (("never", raw), ("always", shrunk)):
        method = AdaptiveMean(shrink=how, releases="separate", edition="0.6")
        estimate = method.release_many(data, [budgets], 3, generator(11, 1, 0))
        got = mean_and_se(integrated_squared_errors(estimate, data.truth).total[0])
        z = (got["mean"] - mean) / np.hypot(got["se"], se)
        print(sizes[0], epsilons[0], how, f"{got['mean']:.5f} against {mean:.5f}, {z:.2f}")
        assert estimate.basis_sizes == (size,)
        assert abs(z) <= 3


# Joint releases at sites: curve, sites, ε of the first one, and the squared error over that of
# separate releases, ± its standard error over 100 data sets of seed 1 (the table in docs/methods.md).
JOINT_SITES = [
    ("mu1", "4 of 250", 1.0, 0.77, 0.01),
    ("mu1", "4 of 250", 4.0, 0.96, 0.01),
    ("mu1", "400, 250, 100", 4.0, 0.97, 0.01),
    ("mu1", "20 of 50", 1.0, 0.68, 0.01),
    ("growth", "4 of 250", 1.0, 1.06, 0.01),
    ("growth", "4 of 250", 4.0, 1.01, 0.01),
    ("growth", "400, 250, 100", 4.0, 1.01, 0.01),
    ("growth", "20 of 50", 1.0, 0.73, 0.01),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "label", "epsilon", "ratio", "se"), JOINT_SITES)
def test_joint_releases_over_several_sites_keep_their_errors_and_bands(
    mean, label, epsilon, ratio, se
):
    """100 other data sets: the ratio to separate releases, and coverage of both bands."""
    (network,) = (
        each
        for each in sites.networks()
        if (each.mean, each.label, each.epsilons[0]) == (mean, label, epsilon)
    )
    row = sites.measured(network, 100, seed=2)
    print(f"{row.ratio:.3f} against {ratio}, {row.pointwise:.3f}, {row.simultaneous:.3f}")
    assert abs(row.ratio - ratio) <= 5 * np.hypot(row.ratio_error, se)
    assert row.holds


def test_the_rules_from_public_sizes_are_those_of_the_golden_runs():
    rows = [row for row in GOLDEN if row["size"]]
    assert rows
    for row in rows:
        source = SparseCurves(**row["source"])
        method = AdaptiveMean(**row["mechanism"])
        for epsilon, size in zip(row["epsilon"], row["size"], strict=True):
            budgets = (Budget(epsilon, row["delta"]),)
            effective = effective_size(source.sizes, budgets)
            assert method.size(source.sizes, effective, source.facts, row["delta"] == 0) == size
