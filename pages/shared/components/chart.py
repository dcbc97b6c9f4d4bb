"""Plotly as a component that keeps its zoom; its scripts come from this server, once.

If there is room, names at the ends of a few lines replace their legend. A button saves a chart that
may leave the page, with its title and origin.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import streamlit as st

from engine.figures.theme import in_both_themes
from pages.shared.server.modules import by_name, file

_JS = by_name("chart.js")
_CSS = file("chart.css")
_SAVE = "".join(
    f'<button type="button" data-kind="{kind.lower()}" title="Save this picture as '
    f'{kind}" aria-label="Save this picture as {kind}">{kind}</button>'
    for kind in ("SVG", "PNG")
)


def as_json(spec: dict[str, Any]) -> str:
    """Serialise a Plotly specification for the browser, in the colours of both themes."""
    return json.dumps(in_both_themes(spec), separators=(",", ":"))


def chart(
    spec: dict[str, Any],
    alt: str,
    key: str,
    height: int = 320,
    phone_height: int | None = None,
    picked: Callable[[float], None] | None = None,
    leaving: dict[str, Any] | None = None,
) -> None:
    """Draw a Plotly specification in a space of fixed height.

    `alt` is one sentence with the main number. `height` is in pixels, `phone_height` replaces it
    on narrow screens. `picked` gets the place on the x axis of a click or a tap in the plot.
    `leaving` is a saved picture's text beside the chart (`engine.figures.labels.leaving`); without
    it there is no button to save one.
    """

    def report() -> None:
        x = st.session_state[key].get("picked")
        if picked is not None and isinstance(x, int | float) and math.isfinite(x):
            picked(float(x))

    _component(height, phone_height or height)(
        key=key,
        data={
            "figures": [as_json(spec)],
            "alts": [alt],
            "picks": picked is not None,
            "leaving": as_json(leaving) if leaving else "",
        },
        on_picked_change=report,
    )


def chart_by_step(
    figures: Sequence[str],
    alts: Sequence[str],
    key: str,
    height: int,
    rev: int,
    phone_height: int | None = None,
    leaving: dict[str, Any] | None = None,
) -> None:
    """Draw one figure, each by `as_json`, for every step of the slider; the browser follows it.

    The server sends each figure once and leaves out empty ones. `rev` is that of the strip; the
    other arguments are those of `chart`.
    """
    _component(height, phone_height or height)(
        key=key,
        data={
            "figures": list(figures),
            "alts": list(alts),
            "picks": False,
            "rev": rev,
            "leaving": as_json(leaving) if leaving else "",
        },
        on_picked_change=lambda: None,
    )


@cache
def _component(height: int, phone: int) -> Any:
    """Make one component per height: its style sheet reserves the space, so nothing jumps."""
    name = f"privacy_curves_chart_{height}_{phone}"
    css = (
        f"{_CSS}.{name} {{ height: {height}px; width: 100%; }}\n"
        f"@media (max-width: 640px) {{ .{name} {{ height: {phone}px; }} }}"
    )
    html = (
        f'<div class="pc-chart"><div class="{name}" data-chart></div>'
        f'<div class="pc-save" hidden>{_SAVE}</div></div>'
    )
    return st.components.v2.component(name, html=html, css=css, js=_JS, isolate_styles=False)
