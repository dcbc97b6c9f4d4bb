"""The look of the mechanisms in drawings: their colour, dash and marker in the whole project."""

from __future__ import annotations

from collections.abc import Sequence

from engine.figures.exhibits import Series
from engine.theme import Theme, method_style

_STYLES = {"FRL": ("frl", 0), "ICLP-AR": ("iclp", 1), "ICLP-QR": ("iclp", 0),
           "Bernstein": ("bernstein", 0), "GP": ("gaussian_process", 0)}


def line(way: str, x: Sequence[float], y: Sequence[float], theme: Theme,
         se: Sequence[float] | None = None) -> Series:
    """A mechanism's line with markers."""
    shade, dash, marker = style(way, theme)
    return Series(way, x, y, shade, dash, marker, se)


def style(way: str, theme: Theme) -> tuple[str, str, str]:
    """Colour, dash and marker."""
    key, variant = _STYLES[way]
    return method_style(key, "functional", theme, variant)
