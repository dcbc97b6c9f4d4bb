"""A document as it will be printed, beside what it is made of, with a button that prints it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "privacy_curves_memo",
    html=(_HERE / "memo.html").read_text("utf-8"),
    css=(_HERE / "memo.css").read_text("utf-8"),
    js=(_HERE / "memo.js").read_text("utf-8"),
)


def memo(html: str, key: str) -> None:
    """Show and print a document that stands alone, without a script."""
    _component(key=key, data={"html": html})
