"""Colours: seen on their grounds, and told apart by people who see colours differently."""

import itertools
import tomllib
from pathlib import Path

import numpy as np
import pytest

from engine.core import palette
from engine.core.tasks import TASKS
from engine.figures import theme
from engine.mechanisms import mechanisms

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
THEMES = ("light", "dark")
MARKS = ("raw", "truth", "without", "bias", "gradient", "functional", "wavelet", "sparse")
FAMILIES = ("gradient", "functional", "wavelet", "sparse")
ALONE = {"counting"}  # the only one of its tasks, so never beside another
ON_SHARED_AXES = (*FAMILIES, "bias", "without")
SURFACES = ("gray", "blue", "green", "yellow", "orange", "red", "violet")

# Simulated dichromacy on linear RGB, full severity: Machado, Oliveira and Fernandes (2009), table 1.
UNAFFECTED = np.eye(3)
DICHROMATS = {
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# OKLab: Ottosson (2020).
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(code):
    """Linear RGB of `#RRGGBB`."""
    share = np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The ratio of WCAG 2.2."""
    bright = sorted(float(linear(code) @ [0.2126, 0.7152, 0.0722]) for code in (one, other))
    return (bright[1] + 0.05) / (bright[0] + 0.05)


def distance(one, other, seen):
    """A hundred times the distance in OKLab, as somebody with such eyes sees the two."""
    labs = [
        TO_LAB @ np.cbrt(TO_CONES @ np.clip(seen @ linear(code), 0, 1)) for code in (one, other)
    ]
    return 100 * float(np.linalg.norm(labs[0] - labs[1]))


def test_the_measures_are_right_where_they_are_known():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert distance("#000000", "#FFFFFF", UNAFFECTED) == pytest.approx(100, abs=0.01)
    for seen in DICHROMATS.values():
        assert distance("#000000", "#FFFFFF", seen) == pytest.approx(100, abs=0.1)
    assert (
        distance("#FF0000", "#00B000", DICHROMATS["deutan"])
        < distance("#FF0000", "#00B000", UNAFFECTED) / 2
    )


@pytest.mark.parametrize("name", THEMES)
def test_marks_stand_out_from_the_page_and_from_fields(name):
    field = CONFIG[name]["secondaryBackgroundColor"]
    for role in MARKS:
        shade = palette.colour(role, name)
        assert contrast(shade, palette.colour("page", name)) >= 3, role
        if role != "raw":  # a texture on purpose, on the page alone
            assert contrast(shade, field) >= 3, role


@pytest.mark.parametrize("name", THEMES)
def test_words_can_be_read_on_the_page_on_fields_and_on_every_surface(name):
    config = CONFIG[name]
    grounds = (config["backgroundColor"], config["secondaryBackgroundColor"])
    for text, ground in itertools.product(("text", "quiet"), grounds):
        assert contrast(palette.colour(text, name), ground) >= 4.5
    for text in ("textColor", "linkColor"):
        assert all(contrast(config[text], ground) >= 4.5 for ground in grounds), text
    for surface in SURFACES:
        pair = config[f"{surface}TextColor"], config[f"{surface}BackgroundColor"]
        assert contrast(*pair) >= 4.5, surface


@pytest.mark.parametrize("name", THEMES)
def test_the_page_of_the_charts_is_that_of_the_application(name):
    assert palette.colour("page", name) == CONFIG[name]["backgroundColor"]
    assert palette.colour("text", name) == CONFIG[name]["textColor"]
    assert palette.colour("gradient", name) == CONFIG[name]["primaryColor"]


@pytest.mark.parametrize("name", THEMES)
def test_roles_on_shared_axes_are_told_apart_with_any_eyes(name):
    for one, other in itertools.combinations(ON_SHARED_AXES, 2):
        pair = palette.colour(one, name), palette.colour(other, name)
        assert distance(*pair, UNAFFECTED) >= 14, (one, other)
        for eyes, seen in DICHROMATS.items():
            assert distance(*pair, seen) >= 8, (one, other, eyes)


def test_every_mechanism_has_the_colour_of_its_family():
    for cls, name in itertools.product(mechanisms.all(), THEMES):
        shade, _, _ = theme.method_style(cls.key, cls.family)
        assert palette.colour(shade, name) == palette.colour(cls.family, name), cls.key
    assert {cls.family for cls in mechanisms.all()} <= {*FAMILIES, *ALONE}
    assert not any(
        cls.family in ALONE and len(mechanisms.for_task(task)) > 1
        for task in TASKS
        for cls in mechanisms.for_task(task)
    )


@pytest.mark.parametrize("task", TASKS)
def test_methods_of_one_problem_differ_by_more_than_colour(task):
    members = mechanisms.for_task(task)
    styles = [theme.method_style(cls.key, cls.family) for cls in members]
    assert len(set(styles)) == len(styles)
    of_family = [(shade, dash) for shade, dash, _ in styles]
    assert len(set(of_family)) == len(of_family)


@pytest.mark.parametrize("name", THEMES)
def test_regions_where_privacy_is_free_are_gray_and_the_others_are_not(name):
    def chroma(code):
        return float(np.linalg.norm((TO_LAB @ np.cbrt(TO_CONES @ linear(code)))[1:]))

    free, bound, freer, bounder = (
        palette.colour(shade, name) for shade in theme.regime_shades([False, True, False, True])
    )
    assert max(chroma(free), chroma(freer)) < 0.5 * min(chroma(bound), chroma(bounder))
    assert len({free, bound, freer, bounder}) == 4
    for shade in (free, bound, freer, bounder):  # their names are written on them
        assert contrast(palette.colour("text", name), shade) >= 4.5
