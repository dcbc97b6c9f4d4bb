"""Errors of methods side by side: all on one logarithmic axis, the smallest first."""

import numpy as np
import pytest

from engine.sources import sources
from engine.topics.compare import charts
from engine.topics.compare.charts import MethodErrors
from tests.sentences import of_topic

wording = of_topic("mean")

EPSILONS = [0.5, 1.0]


def line(label, errors, key="adaptive_mean", family="gradient"):
    errors = np.array(errors, dtype=float)
    within = np.stack([0.8 * errors, 1.3 * errors], axis=1)
    return MethodErrors(label, key, family, 0, errors, np.full(len(errors), 0.6), within)


def names(chart):
    """Words of the picture from top to bottom, without those beside the points."""
    notes = sorted(chart.spec["layout"]["annotations"], key=lambda note: -note["y"])
    return [note["text"] for note in notes if note["xref"] == "paper"]


def test_methods_stand_from_the_smallest_error_to_the_largest_above_the_floor():
    rough, fine = line("Rough", [40.0, 20.0]), line("Fine", [2.0, 1.0])
    floor = MethodErrors("Floor", "", "", 0, np.array([0.5, 0.3]), np.array([0.6, 0.6]))
    chart = charts.sizes([rough, fine], [0, 1], EPSILONS, "cm", floor)
    assert names(chart) == ["Fine", "Rough", "Floor"]
    wording.found("fine smallest error", chart.spec["layout"]["title"]["text"], 0.5, 1, alone=True)
    assert chart.table["error at ε = 1"] == [1.0, 20.0, 0.3]


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_equal_ratios_are_equally_far_apart_and_every_range_is_in_view(factor):
    lines = [line("A", [factor, 0.5 * factor]), line("B", [100 * factor, 50 * factor])]
    axis = charts.sizes(lines, [0, 1], EPSILONS, "").spec["layout"]["xaxis"]
    low, high = axis["range"]
    assert axis["type"] == "log"
    assert low < np.log10(0.5 * 0.8 * factor) and high > np.log10(100 * 1.3 * factor)
    assert high - low < 3.5  # no more than the errors need


def test_a_budget_at_which_nothing_is_published_says_so_and_has_no_point():
    chart = charts.sizes([line("A", [np.nan, 1.0])], [0, 1], EPSILONS, "cm")
    wording.found("none at budget", names(chart), 0.5)
    assert sum(trace["mode"] == "markers" for trace in chart.spec["data"]) == 1
    empty = charts.sizes([line("A", [np.nan, np.nan])], [0, 1], EPSILONS, "cm")
    wording.found("nothing at all", empty.spec["layout"]["title"]["text"], alone=True)


def test_the_small_pictures_of_the_best_method_are_not_flattened_by_the_worst():
    growth = sources.build("growth_curves", {}).facts
    fine, rough = np.ones((20, 50)), 40 * np.ones((20, 50))
    assert charts.edge_of([fine], growth) < 2 < charts.edge_of([fine, rough], growth)
