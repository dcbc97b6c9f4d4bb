"""What keyboards and screen readers miss in the framework's own frame around every page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "privacy_curves_frame", html="<span hidden></span>",
    css=(_HERE / "frame.css").read_text("utf-8"), js=(_HERE / "frame.js").read_text("utf-8"),
    isolate_styles=False)  # its rules are about what stands around it

# Rules about the frame, for as long as something stands on the page.
_AROUND = {
    "drawer": """
@media (min-width: 1100px) {
  [data-testid=stMainBlockContainer] { padding-right: 31rem !important } }
@media (max-width: 1099px) {
  [data-testid=stMainBlockContainer] { padding-bottom: 65vh !important } }
""",
    "slide": """
[data-testid=stApp] header {
  visibility: hidden }
""",
}
# Keys of a slide that is no dialog press its buttons; what has the focus keeps its own keys.
_SLIDE_KEYS = (_HERE / "slide_keys.js").read_text("utf-8")
_around = {name: st.components.v2.component(
    f"privacy_curves_around_{name}", html="<span hidden></span>", css=css,
    js=_SLIDE_KEYS if name == "slide" else None, isolate_styles=False)
    for name, css in _AROUND.items()}


def around(name: Literal["drawer", "slide"]) -> None:
    """Make room for the drawer, or hide the menu behind a slide, while what calls this is drawn."""
    _around[name](key=f"around_{name}", data={})


def frame() -> None:
    """Rings around what has the focus, and repairs of lists and of frames that scroll."""
    _component(key="frame", data={}, on_went_back_change=lambda: None)
