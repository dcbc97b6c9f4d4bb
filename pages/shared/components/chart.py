"""Plotly as a component that keeps its zoom; the script comes from this server, once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_JS = (Path(__file__).parent / "chart.js").read_text("utf-8")


def chart(spec: dict[str, Any], alt: str, key: str, height: int = 320,
          phone_height: int | None = None) -> None:
    """Draw a Plotly specification in a space of fixed height.

    `alt` is one sentence with the main number. Colours written in the figure win; what it leaves
    open follows the theme. `height` is in pixels, `phone_height` replaces it on narrow screens.
    """
    _component(height, phone_height or height)(
        key=key, data={"figure": json.dumps(spec), "alt": alt})


@cache
def _component(height: int, phone: int) -> Any:
    """One component per height: the space stands in its style sheet, so nothing jumps."""
    name = f"privacy_curves_chart_{height}_{phone}"
    css = (f".{name} {{ height: {height}px; width: 100%; }}\n"
           f"@media (max-width: 640px) {{ .{name} {{ height: {phone}px; }} }}")
    return st.components.v2.component(name, html=f'<div class="{name}" data-chart></div>', css=css,
                                      js=_JS, isolate_styles=False)
