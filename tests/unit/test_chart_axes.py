"""The chart of every registered question names quantities on its axes."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from engine.figures.theme import Spec
from engine.sources import sources
from tests.heavy import all_but
from tests.unit.test_questions import ASKED, HEAVY

pytestmark = pytest.mark.usefixtures("few_data_sets")
NO_QUANTITY = {"", "value", "position", "x", "y", "x₁", "x₂"}


def axes_without_quantity(spec: Spec) -> list[str]:
    """Axes in sight whose title says nothing; those of categories are named by these."""
    layout = go.Figure(spec).to_dict()["layout"]
    return [name for name, axis in layout.items() if name[1:].startswith("axis")
            and axis.get("visible", True) and axis.get("type") != "category"
            and axis.get("title", {}).get("text", "").split(" (")[0].lower() in NO_QUANTITY
            and axis.get("showticklabels", True) and "ticktext" not in axis]


@pytest.mark.parametrize("name", all_but(HEAVY, list(ASKED)))
def test_the_chart_of_a_question_names_quantities(name):
    answer = ASKED[name].answer()
    assert axes_without_quantity(ASKED[name].chart(answer).spec) == []


@pytest.mark.parametrize("title", ["Value", "Position", "x", "", "Value (cm)"])
def test_an_axis_that_says_nothing_is_noticed(title):
    assert axes_without_quantity({"data": [], "layout": {"xaxis": {"title": {"text": title}}}})


@pytest.mark.parametrize("cls", sources.all(), ids=lambda cls: cls.key)
def test_simulated_and_bundled_data_name_what_is_measured(cls):
    for task in cls.tasks:
        for _, chosen in cls.presets_for(task):
            facts = cls(**chosen).facts
            assert facts.time_name.lower() not in NO_QUANTITY
            assert facts.value_name.lower() not in NO_QUANTITY
            assert not {stated.name for stated in facts.covariates} & NO_QUANTITY
