"""Words and marks stand out from what is behind them, in both themes (WCAG 2.2, 1.4.3 and 1.4.11)."""

import tomllib
from pathlib import Path

import pytest

from engine.core import palette
from engine.topics.mean.live import COLOURS

THEMES = ("light", "dark")
CONFIG = tomllib.loads(
    (Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text("utf-8")
)
HUES = ("gray", "blue", "green", "yellow", "orange", "red", "violet")


def luminance(shade: str) -> float:
    parts = [int(shade[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_guideline():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.478, abs=1e-3)


@pytest.mark.parametrize("name", THEMES)
def test_words_have_four_and_a_half_to_one(name):
    tokens = CONFIG["theme"][name]
    page, field = tokens["backgroundColor"], tokens["secondaryBackgroundColor"]
    for word in ("textColor", "linkColor", "primaryColor"):
        assert contrast(tokens[word], page) >= 4.5 and contrast(tokens[word], field) >= 4.5, word
    for hue in HUES:
        assert contrast(tokens[f"{hue}TextColor"], tokens[f"{hue}BackgroundColor"]) >= 4.5, hue
    for role in ("text", "quiet"):
        assert contrast(palette.colour(role, name), page) >= 4.5, role


@pytest.mark.parametrize("name", THEMES)
def test_marks_have_three_to_one(name):
    page = CONFIG["theme"][name]["backgroundColor"]
    assert palette.colour("page", name) == page
    for role in ("raw", "truth", "without", "bias", "gradient", "functional", "wavelet", "sparse"):
        assert contrast(palette.colour(role, name), page) >= 3, role
    for colour in COLOURS[name].values():
        assert contrast(colour, page) >= 3
