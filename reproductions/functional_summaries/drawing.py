"""The look of the mechanisms in drawings: their colour, dash and marker in the whole project."""

from __future__ import annotations

from engine.figures.theme import method_style
from reproductions.drawing import Look

_STYLES = {
    "FRL": ("frl", 0),
    "ICLP-AR": ("iclp", 1),
    "ICLP-QR": ("iclp", 0),
    "Bernstein": ("bernstein", 0),
    "GP": ("gaussian_process", 0),
}


def style(method: str) -> Look:
    """Colour, dash and marker of a mechanism by its name in the paper."""
    key, variant = _STYLES[method]
    return method_style(key, "functional", variant)
