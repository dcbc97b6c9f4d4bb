"""Drawings that live in the browser: the page mounts them, and one file carries them elsewhere."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def part(name: str) -> str:
    """Return one of the browser's files, such as "figure.js"."""
    return (_HERE / name).read_text("utf-8")
