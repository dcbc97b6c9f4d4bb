"""The drawing of a federated study: its parties, what they send, and who is trusted."""

import json
from itertools import pairwise

import pytest

from engine.core.palette import THEMES
from engine.figures.theme import in_theme
from engine.topics.sites import diagram_charts
from engine.topics.sites.site_table import SiteRow

ROWS = tuple(SiteRow(f"Site {k}", 100 * (k + 1), 10, 0.5 + k) for k in range(8))


def drawn(chart):
    """The words of a drawing, and the fills of its boxes."""
    layout = in_theme(chart.spec, "light")["layout"]
    return (
        [note["text"] for note in layout["annotations"] if note["text"]],
        [shape["fillcolor"] for shape in layout["shapes"]],
    )


def test_a_drawing_has_the_sizes_and_budgets_of_the_sites_that_take_part():
    left_out = (SiteRow("Elsewhere", 7, 10, included=False),)
    texts, _ = drawn(diagram_charts.federation(ROWS[:3] + left_out, "sites", 4))
    for row in ROWS[:3]:
        assert f"{row.n_curves} people" in texts
        assert f"{row.name}, ε = {row.epsilon:g}" in texts
    assert "4 noisy messages" in texts and not any("Elsewhere" in text for text in texts)


def test_more_sites_than_fit_are_counted():
    chart = diagram_charts.federation(ROWS, "sites", 4)
    texts, _ = drawn(chart)
    assert "and 2 more" in texts and len(chart.table["site"]) == 8


@pytest.mark.parametrize(("way", "trusted"), [("sites", 4), ("sums", 4), ("centre", 5)])
def test_only_a_centre_that_adds_the_noise_is_trusted(way, trusted):
    """Two groups of people and their sites are trusted by themselves, the centre by all or none."""
    _, fills = drawn(diagram_charts.federation(ROWS[:2], way, 4))
    assert max(fills.count(fill) for fill in fills) == trusted and len(fills) == 5


def test_levels_of_protection_lie_inside_each_other():
    shapes = diagram_charts.hierarchy().spec["layout"]["shapes"]
    for inner, outer in pairwise(shapes):
        assert outer["x0"] < inner["x0"] and inner["x1"] < outer["x1"]
        assert outer["y0"] < inner["y0"] and inner["y1"] < outer["y1"]


@pytest.mark.parametrize(
    "chart", [diagram_charts.federation(ROWS, "sums", 4), diagram_charts.hierarchy()]
)
def test_drawings_are_plain_in_both_themes_and_have_words_beside_them(chart):
    for theme in THEMES:
        json.dumps(in_theme(chart.spec, theme), allow_nan=False)
    assert chart.alt.endswith(".") and len({len(column) for column in chart.table.values()}) == 1
