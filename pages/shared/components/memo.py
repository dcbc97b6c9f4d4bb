"""A document as it will be printed, beside what it is made of, with a button that prints it."""

from __future__ import annotations

import streamlit as st

from pages.shared.server.modules import file

_component = st.components.v2.component(
    "privacy_curves_memo", html=file("memo.html"), css=file("memo.css"), js=file("memo.js")
)


def memo(html: str, key: str) -> None:
    """Show and print a document that stands alone, without a script."""
    _component(key=key, data={"html": html})
