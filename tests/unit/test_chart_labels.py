"""Words in charts: names at line ends, values beside the pointer, titles, and pictures that leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import __version__
from engine.core.types import Budget
from engine.figures import labels, theme
from engine.language import tags
from engine.sources import sources
from tests.sentences import of_topic

wording = of_topic("mean")


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=12), st.floats(0.1, 30))
def test_labels_are_apart_inside_the_axis_and_in_the_order_of_their_lines(positions, gap):
    moved = np.array(labels.apart(positions, gap, 0.0, 100.0))
    least = min(gap, 100 / max(len(positions) - 1, 1))
    order = np.argsort(positions, kind="stable")
    assert (np.diff(moved[order]) > least - 1e-6).all()
    assert moved.min() > -1e-6 and moved.max() < 100 + 1e-6


def test_labels_that_do_not_meet_stay_where_their_lines_end():
    assert labels.apart([10.0, 90.0, 50.0], 5.0, 0.0, 100.0) == [10.0, 90.0, 50.0]


def test_line_ends_are_named_in_their_colours_and_many_lines_need_a_legend():
    ends = [labels.LineEnd(name, 1.0, "gradient") for name in ("Release", "Mean")]
    first, second = labels.at_ends(ends, 0.0, 2.0, 300)
    assert (first["text"], first["font"]["color"]) == ("Release", "gradient")
    assert abs(first["y"] - second["y"]) * 300 / 2 >= 16  # pixels
    go.Figure(theme.in_theme({"layout": {"annotations": [first, second]}}, "light"))
    with pytest.raises(ValueError, match="6 lines"):
        labels.at_ends(ends * 3, 0.0, 2.0, 300)


def test_values_beside_the_pointer_have_their_unit():
    assert labels.hover("cm", 1) == "%{y:.1f}\u00a0cm" and labels.hover() == "%{y:.3~r}"


def test_a_title_has_room_above_the_legend():
    bare, titled = (
        theme.layout(legend=True, title=text)["margin"]["t"]
        for text in ("", "Privacy costs most below ε = 1")
    )
    assert titled >= bare + 20


@pytest.mark.parametrize("budget", [Budget(0.5, 1e-6), Budget(2.0), None])
def test_a_picture_that_leaves_says_what_it_is_and_where_it_is_from(budget):
    foot = labels.foot("Growth, simulated", [budget] if budget else [], 1200)
    figure = go.Figure(
        {"layout": theme.in_theme(labels.leaving("The mean rises until 17", foot), "light")}
    )
    words = " ".join([figure.layout.title.text, *(a.text for a in figure.layout.annotations)])
    for part in ("The mean rises until 17", "Growth, simulated", "n = 1\u202f200", __version__):
        assert part in words
    assert (f"ε = {budget.epsilon:g}" if budget else "not released") in words
    assert figure.layout.paper_bgcolor == "#FFFFFF"


def test_a_picture_of_public_data_credits_who_measured_them():
    facts = replace(
        sources.build("sea_temperature", {}).facts, credit="measured by the sea watch, CC BY 4.0."
    )
    wording.found("measured sea watch", tags.origin(facts), facts.name, 4.0, alone=True)
    assert tags.origin(replace(facts, credit="")) == facts.name
