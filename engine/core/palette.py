"""Colours by what they stand for: charts name roles, and a theme has a colour for each.

A shade is a text that names a role, such as "gradient"; a role that lets through what is below it,
"gradient / 0.2"; or what lies between two roles, "page to gradient at 0.3". Nothing else is a
colour until it is drawn: `colour` then gives the one that a theme has for it.
"""

from __future__ import annotations

import math
from typing import Literal

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")

# Each family of mechanisms has a role of its name; the one that counts never shares axes with
# another, so it has the colour of the first. Terms of a rate are gray where privacy is free, indigo
# where it binds; an ordered family of lines goes from pale to strong; a visitor draws and pulls.
_ROLES: dict[Theme, dict[str, str]] = {
    "light": {
        "text": "#182033",
        "quiet": "#4A5468",
        "raw": "#8790A3",
        "truth": "#182033",
        "without": "#3F4654",
        "bias": "#E0532B",
        "page": "#FFFFFF",
        "gradient": "#3D57D6",
        "functional": "#2A8F7D",
        "wavelet": "#AD128E",
        "sparse": "#7D4F03",
        "counting": "#3D57D6",
        "above_target": "#FCB848",
        "visitor": "#B4480F",
        "free": "#E3E7EE",
        "free_strong": "#C6CDD9",
        "bound": "#B9C4F5",
        "bound_strong": "#7E91E8",
        "pale": "#A3B3EE",
        "strong": "#24358A",
        "transparent": "rgba(0,0,0,0)",
    },
    "dark": {
        "text": "#E9ECF3",
        "quiet": "#B4BCCB",
        "raw": "#78839A",
        "truth": "#FFFFFF",
        "without": "#D9DFEA",
        "bias": "#EE5A4C",
        "page": "#10141E",
        "gradient": "#7A92FF",
        "functional": "#6CC5B1",
        "wavelet": "#D065AF",
        "sparse": "#FCB848",
        "counting": "#7A92FF",
        "above_target": "#FCB848",
        "visitor": "#FFA45C",
        "free": "#2A3242",
        "free_strong": "#3D475B",
        "bound": "#33407F",
        "bound_strong": "#4F63C4",
        "pale": "#C2CDFF",
        "strong": "#4B66C1",
        "transparent": "rgba(0,0,0,0)",
    },
}

# The page around a drawing, by the framework's names, as in `.streamlit/config.toml`.
_PAGE: dict[Theme, dict[str, str]] = {
    "light": {
        "text-color": "#182033",
        "background-color": "#FFFFFF",
        "primary-color": "#3D57D6",
        "border-color": "#D3D9E4",
        "link-color": "#2F45B0",
        "orange-text-color": "#7A4B00",
        "red-text-color": "#A3212B",
    },
    "dark": {
        "text-color": "#E9ECF3",
        "background-color": "#10141E",
        "primary-color": "#7A92FF",
        "border-color": "#39435A",
        "link-color": "#A9B8FF",
        "orange-text-color": "#F5C462",
        "red-text-color": "#FFA8A3",
    },
}
_RADII = {"base-radius": "6px", "button-radius": "6px"}

_FAINTEST, _SPAN = 0.15, 0.4  # opacity of the lowest range, and how much more the highest has
_OUTER, _INNER = 0.14, 0.32  # of the outer and the inner pair of percentile curves
_NEAR_LOW, _NEAR_HIGH, _STEP = 0.75, 0.9, 0.2  # of ranges around a target


def colour(shade: str, theme: Theme) -> str:
    """The colour that a theme has for a shade, as "#RRGGBB", or "rgba(…)" where it is translucent.

    Examples
    --------
    >>> colour("page", "light"), colour("page / 0.5", "light")
    ('#FFFFFF', 'rgba(255,255,255,0.5)')
    """
    solid, _, opacity = shade.partition(" / ")
    base = _ROLES[theme].get(solid) or _between(solid, theme)
    if not opacity:
        return base
    red, green, blue = _parts(base)
    return f"rgba({red},{green},{blue},{opacity})"


def page_variables(theme: Theme, font: str) -> dict[str, str]:
    """Return the variables of a page that drawings in a browser read, by name without dashes."""
    return {"font": font, **_RADII, **_PAGE[theme]}


def _between(shade: str, theme: Theme) -> str:
    """The colour of "… to … at …"."""
    ends, _, share = shade.partition(" at ")
    start, _, end = ends.partition(" to ")
    pairs = zip(_parts(_ROLES[theme][start]), _parts(_ROLES[theme][end]), strict=True)
    return "#" + "".join(f"{math.floor(a + (b - a) * float(share) + 0.5):02X}" for a, b in pairs)


def _parts(base: str) -> tuple[int, int, int]:
    """Red, green and blue of "#RRGGBB"."""
    red, green, blue = (int(base[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def translucent(shade: str, opacity: float) -> str:
    """A shade that lets through what is below it; opacity is from 0, invisible, to 1.

    Examples
    --------
    >>> translucent("gradient", 0.5)
    'gradient / 0.5'
    """
    return f"{shade} / {opacity}"


def between(start: str, end: str, share: float) -> str:
    """The shade at some share of the way from one role to another.

    Examples
    --------
    >>> between("pale", "strong", 0.25)
    'pale to strong at 0.25'
    """
    return f"{start} to {end} at {share}"


def shades_of_pairs(count: int) -> list[str]:
    """A shade for the range between each pair of percentile curves, outer pairs first.

    They are drawn over each other, so that the range in the middle is the darkest.

    Examples
    --------
    >>> shades_of_pairs(2)
    ['gradient / 0.14', 'gradient / 0.32']
    """
    step = (_INNER - _OUTER) / max(count - 1, 1)
    return [translucent("gradient", round(_OUTER + step * k, 3)) for k in range(count)]


def shades_of_ranges(count: int, target: int | None) -> list[str]:
    """Choose a shade for each range of values, from low to high; `target` is the place of one.

    Around a target, the farther a range is from it the stronger its shade; without one all have the
    hue of the curves.

    Examples
    --------
    >>> shades_of_ranges(3, 1)
    ['bias / 0.75', 'functional / 0.75', 'above_target / 0.9']
    """
    if target is None:
        step = _SPAN / max(count - 1, 1)
        return [translucent("gradient", round(_FAINTEST + step * k, 3)) for k in range(count)]
    below = [translucent("bias", round(_NEAR_LOW + _STEP * k, 3)) for k in range(target)]
    above = [
        translucent("above_target", round(_NEAR_HIGH - _STEP * k, 3))
        for k in range(count - target - 1)
    ]
    return [*below[::-1], translucent("functional", _NEAR_LOW), *above[::-1]]
