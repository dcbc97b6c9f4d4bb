"""What keyboards and screen readers miss in the framework's own frame around every page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "privacy_curves_frame", html="<span hidden></span>",
    css=(_HERE / "frame.css").read_text("utf-8"), js=(_HERE / "frame.js").read_text("utf-8"),
    isolate_styles=False)  # its rules are about what stands around it


def frame() -> None:
    """Rings around what has the focus, and repairs of lists and of frames that scroll."""
    _component(key="frame", data={})
