"""The colours of roles, in both themes: a role looks the same in charts and in published files."""

from __future__ import annotations

from typing import Literal

Theme = Literal["light", "dark"]

# Counts never share axes with another family, so they have the colour of the first.
_ROLES: dict[str, dict[str, str]] = {
    "light": {"text": "#182033", "quiet": "#4A5468", "raw": "#8790A3", "truth": "#182033",
              "without": "#3F4654", "bias": "#E0532B", "page": "#FFFFFF", "gradient": "#3D57D6",
              "functional": "#2A8F7D", "wavelet": "#AD128E", "sparse": "#7D4F03",
              "counting": "#3D57D6"},
    "dark": {"text": "#E9ECF3", "quiet": "#B4BCCB", "raw": "#78839A", "truth": "#FFFFFF",
             "without": "#D9DFEA", "bias": "#EE5A4C", "page": "#10141E", "gradient": "#7A92FF",
             "functional": "#6CC5B1", "wavelet": "#D065AF", "sparse": "#FCB848",
             "counting": "#7A92FF"},
}

_FAINTEST, _SPAN = 0.15, 0.4  # opacity of the lowest range, and how much more the highest has
_OUTER, _INNER = 0.14, 0.32  # of the outer and the inner pair of percentile curves
_NEAR_LOW, _NEAR_HIGH, _STEP = 0.75, 0.9, 0.2  # of ranges around a target


def colour(role: str, theme: Theme) -> str:
    """The colour of a role, as "#RRGGBB".

    Parameters
    ----------
    role : str
        Such as "truth", "raw", "without", or a family of mechanisms.
    theme : {"light", "dark"}
        Of the page.

    Examples
    --------
    >>> colour("page", "light")
    '#FFFFFF'
    """
    return _ROLES[theme][role]


def translucent(colour: str, opacity: float) -> str:
    """A colour that lets through what is below it.

    Parameters
    ----------
    colour : str
        As "#RRGGBB".
    opacity : float
        From 0, invisible, to 1.

    Examples
    --------
    >>> translucent("#FF0000", 0.5)
    'rgba(255,0,0,0.5)'
    """
    red, green, blue = (int(colour[k:k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def shades_of_pairs(count: int, theme: Theme) -> list[str]:
    """A shade for the range between each pair of percentile curves, outer pairs first.

    They are drawn over each other, so that the range in the middle is the darkest.

    Parameters
    ----------
    count : int
        How many pairs.
    theme : {"light", "dark"}
        Of the page.

    Examples
    --------
    >>> shades_of_pairs(2, "light")
    ['rgba(61,87,214,0.14)', 'rgba(61,87,214,0.32)']
    """
    step = (_INNER - _OUTER) / max(count - 1, 1)
    return [translucent(colour("gradient", theme), round(_OUTER + step * k, 3))
            for k in range(count)]


def shades_of_ranges(count: int, target: int | None, theme: Theme) -> list[str]:
    """A shade for each range of values, from low to high.

    Around a target, the farther a range is from it the stronger its shade; without one all have the
    hue of the curves.

    Parameters
    ----------
    count : int
        How many ranges.
    target : int or None
        Place of the range that is aimed at.
    theme : {"light", "dark"}
        Of the page.

    Examples
    --------
    >>> shades_of_ranges(3, 1, "light")
    ['rgba(224,83,43,0.75)', 'rgba(42,143,125,0.75)', 'rgba(252,184,72,0.9)']
    """
    if target is None:
        step = _SPAN / max(count - 1, 1)
        return [translucent(colour("gradient", theme), round(_FAINTEST + step * k, 3))
                for k in range(count)]
    below = [translucent(colour("bias", theme), round(_NEAR_LOW + _STEP * k, 3))
             for k in range(target)]
    above = [translucent(_ROLES["dark"]["sparse"], round(_NEAR_HIGH - _STEP * k, 3))
             for k in range(count - target - 1)]
    return [*below[::-1], translucent(colour("functional", theme), _NEAR_LOW), *above[::-1]]
