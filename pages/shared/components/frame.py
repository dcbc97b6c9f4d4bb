"""Corrections of the framework's frame around every page, for keyboards and screen readers."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from engine.core.palette import THEMES
from pages.shared.server.modules import file

_LOGOS = "img:is([data-testid=stHeaderLogo], [data-testid=stSidebarLogo], [data-testid=stLogo])"

# The place of the logo: the rules of the frame draw it, from one file for each theme.
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" width="232" height="40" viewBox="0 0 232 40"/>'


def _logo(theme: str) -> str:
    """Return the logo of the theme the page opened with; the server hears of changes only later."""
    return f":root[data-pc-theme={theme}] {_LOGOS} {{ content: url(vendor/logo_{theme}.svg) }}"


_component = st.components.v2.component(
    "privacy_curves_frame",
    html="<span hidden></span>",
    css=file("frame.css") + "\n".join(map(_logo, THEMES)),
    js=file("frame.js"),
    isolate_styles=False,
)  # its rules style its surroundings

# Style rules of the frame while the page holds this element.
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
# Keys press the buttons of a slide without a dialog; a focused element keeps its own keys.
_SLIDE_KEYS = file("slide_keys.js")
_around = {
    name: st.components.v2.component(
        f"privacy_curves_around_{name}",
        html="<span hidden></span>",
        css=css,
        js=_SLIDE_KEYS if name == "slide" else None,
        isolate_styles=False,
    )
    for name, css in _AROUND.items()
}


def around(name: Literal["drawer", "slide"]) -> None:
    """Make room for the drawer, or hide the menu behind a slide, while what calls this is drawn."""
    _around[name](key=f"around_{name}", data={})


def frame() -> None:
    """Draw rings around the focus, and repair lists and scrolling frames."""
    _component(key="frame", data={}, on_went_back_change=lambda: None)
