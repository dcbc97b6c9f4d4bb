"""The chart of every registered question: title, axes, values beside the pointer and foot."""

from __future__ import annotations

import ast
from pathlib import Path

import plotly.graph_objects as go
import pytest

import engine.topics
from engine import __version__
from engine.core.palette import THEMES, colour
from engine.core.types import Budget
from engine.figures import labels
from engine.figures.theme import Spec, in_theme
from engine.sources import sources
from tests.heavy import all_but, few
from tests.sentences import of_topic
from tests.unit.test_questions import ASKED, HEAVY

wording = of_topic("mean")

pytestmark = pytest.mark.usefixtures("few_data_sets")
WITHOUT_TITLE = {"lesson", "exhibit"}  # of their pages
NO_QUANTITY = {"", "value", "position", "x", "y", "x₁", "x₂"}


def axes_without_quantity(spec: Spec) -> list[str]:
    """Axes in sight whose title says nothing; those of categories are named by these."""
    layout = go.Figure(in_theme(spec, "light")).to_dict()["layout"]
    return [
        name
        for name, axis in layout.items()
        if name[1:].startswith("axis")
        and axis.get("visible", True)
        and axis.get("type") != "category"
        and axis.get("title", {}).get("text", "").split(" (")[0].lower() in NO_QUANTITY
        and axis.get("showticklabels", True)
        and "ticktext" not in axis
    ]


@pytest.mark.parametrize("name", few(all_but(HEAVY, list(ASKED)), 3))
def test_the_chart_of_a_question_says_what_it_shows_and_where_it_is_from(name):
    chart = ASKED[name].chart(ASKED[name].answer())
    for theme in THEMES:  # refuses whatever is no colour
        layout = go.Figure(in_theme(chart.spec, theme)).layout
        assert layout.font.color == colour("text", theme)
    assert axes_without_quantity(chart.spec) == []
    if name not in WITHOUT_TITLE:
        assert 2 <= len(layout.title.text.split()) <= 12 and not layout.title.text.endswith(".")
    values = [trace for trace in chart.spec["data"] if trace.get("hoverinfo") != "skip"]
    assert all(trace.get("hovertemplate") for trace in values if trace.get("mode") != "markers")
    (foot,) = [note.text for note in layout.annotations if note.name == "foot"]
    source, *middle, version = foot.split(" · ")
    assert source and version == f"Privacy Curves {__version__}" and foot in chart.alt
    assert any(part.startswith("ε = ") or part == "not released" for part in middle)


def test_a_foot_gives_source_people_and_budget():
    answer = ASKED["curves"].answer()
    chart = ASKED["curves"].chart(answer)
    foot = chart.spec["layout"]["annotations"][-1]["text"]
    assert foot.startswith("Smooth wave, simulated")
    assert "n = 60" in foot
    wording.found("budget", foot, 0.7, "1×10⁻⁴")
    wording.found("budgets to", labels.spent([Budget(0.5), Budget(4.0)]), 0.5, 4, alone=True)


def charts_without_title(text: str) -> list[int]:
    """Lines of calls of `layout` that give no title."""
    return [
        call.lineno
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", "") == "layout"
        and "title" not in {given.arg for given in call.keywords}
    ]


@pytest.mark.parametrize(
    "path",
    sorted(Path(engine.topics.__file__).parent.glob("*/*charts.py")),
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_every_chart_of_a_topic_has_a_title(path):
    small = {"coefficients/charts": 1, "decision/charts": 2}  # each under a heading of its own
    expected = small.get(f"{path.parent.name}/{path.stem}", 0)
    assert len(charts_without_title(path.read_text("utf-8"))) <= expected


def test_a_chart_without_a_title_is_noticed():
    assert charts_without_title("layout(legend=True)") == [1]
    assert not charts_without_title("layout(title=finding)")


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
