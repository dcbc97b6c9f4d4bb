"""Without noise equal to independent survival libraries: Kaplan–Meier, Greenwood, log-rank, Aalen–Johansen."""

import json
from pathlib import Path

import numpy as np
import pytest

from engine.core.types import Budget, EventData, EventFacts
from engine.mechanisms.noisy_counts import NoisyCounts
from engine.numerics import product_limit
from engine.numerics.counts.cells import equal_edges
from engine.numerics.counts.life_tables import life_tables
from engine.sources.heart_failure import HeartFailure

ORACLE = json.loads((Path(__file__).parent / "survival_oracle.json").read_text())
CLOSE = {"rtol": 0, "atol": 1e-10}
GROUPED = {name: np.array(values) for name, values in ORACLE["grouped"].items() if name != "test"}


def people(name):
    if name == "grouped":
        return GROUPED["time"], (GROUPED["status"] > 0).astype(np.int64), GROUPED["group"]
    data = HeartFailure(by_pressure=True).draw(1, np.random.default_rng(0))
    days = data.time[0]
    return (np.ceil(days / 30) * 30 if name == "by month" else days), data.status[0], data.group[0]


@pytest.mark.parametrize("name", ["grouped", "by day", "by month"])
def test_the_ordinary_curve_its_error_and_the_test_are_those_of_the_libraries(name):
    oracle, (time, status, group) = ORACLE[name], people(name)
    survival, error = product_limit.kaplan_meier(time, status, np.array(oracle["points"]))
    np.testing.assert_allclose(survival, oracle["survival"], **CLOSE)
    np.testing.assert_allclose(error, oracle["greenwood"], **CLOSE)
    z, p = product_limit.log_rank(time, status, group)
    np.testing.assert_allclose(
        [z**2, p], [oracle["test"]["chi2"], oracle["test"]["p"]], rtol=1e-10, atol=1e-10
    )


def test_ordinary_incidences_are_those_of_the_library():
    result = product_limit.aalen_johansen(GROUPED["time"], GROUPED["status"], GROUPED["points"], 2)
    np.testing.assert_allclose(result, GROUPED["incidence"], **CLOSE)


def released(task, **stated):
    facts = EventFacts(time_high=10.0, edges=equal_edges(0.0, 10.0, 10), **stated)
    data = EventData(
        GROUPED["time"][None],
        GROUPED["status"][None],
        np.zeros(len(GROUPED["time"]), dtype=np.int64),
        facts,
    )
    table = (
        NoisyCounts(task=task).release(data, (Budget(1e6),), np.random.default_rng(1)).released[0]
    )
    assert (table.noisy == table.estimated).all()
    return life_tables(table)[0]


@pytest.mark.parametrize("causes", [("Event",), ("Relapse", "Death")])
def test_a_table_of_counts_without_noise_gives_the_curve_of_the_libraries(causes):
    life = released(
        "cumulative_incidence" if len(causes) > 1 else "survival", causes=("Relapse", "Death")
    )
    np.testing.assert_allclose(life.survival.ravel(), GROUPED["survival"], **CLOSE)
    if len(causes) > 1:
        np.testing.assert_allclose(life.incidence.reshape(2, -1), GROUPED["incidence"], **CLOSE)


def test_the_sampling_variance_of_a_table_is_that_of_greenwood():
    life = released("survival", causes=("Relapse", "Death"))
    gradient, counts = life.survival_gradient.reshape(10, -1), life.counts.ravel()
    share = counts / counts.sum()
    centred = gradient - (gradient @ share)[:, None]
    variance = (centred**2 * counts).sum(axis=1)  # n J (diag p − p pᵀ) Jᵀ at p = x/n
    np.testing.assert_allclose(np.sqrt(variance), GROUPED["greenwood"], **CLOSE)
