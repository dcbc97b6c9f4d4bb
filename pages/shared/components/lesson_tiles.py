"""Lessons as tiles with their pictures; the browser ticks those with a guess of its visitor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from engine.core.palette import THEMES, colour
from engine.figures import drawn
from pages.shared.server.modules import file

_component = st.components.v2.component(
    "privacy_curves_tiles",
    html='<div id="tiles"></div>',
    css=file("lesson_tiles.css"),
    js=file("lesson_tiles.js"),
)


@dataclass(frozen=True)
class LessonTile:
    """A lesson on the path."""

    key: str
    title: str
    minutes: int
    picture: str  # SVG with colours `var(--pc-role)`


def tiles(every: Sequence[LessonTile], key: str) -> str:
    """Draw them; return the key of the one that was pressed, in one run only, or ""."""
    result = _component(
        key=key,
        on_opened_change=lambda: None,
        data={
            "tiles": [asdict(tile) for tile in every],
            "colours": {
                theme: {**drawn.palette(theme), "room": colour("visitor", theme)}
                for theme in THEMES
            },
        },
    )
    chosen = result.get("opened")
    return str(chosen) if chosen in {tile.key for tile in every} else ""
