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
