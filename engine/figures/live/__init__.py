"""Drawings that live in the browser: the page mounts them, and one file carries them elsewhere."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
# Parts of the figure's one script; the last exports what mounts it.
_FIGURE = (
    "axes.js",
    "data.js",
    "slider.js",
    "views/curves.js",
    "views/game.js",
    "views/methods.js",
    "views/theory.js",
    "saving.js",
    "ending.js",
    "figure.js",
)


def part(name: str) -> str:
    """Return one of the browser's files, such as "figure.css"."""
    return (_HERE / name).read_text("utf-8")


def figure_script() -> str:
    """Join the parts of the live figure into one script."""
    return "\n".join(map(part, _FIGURE))
