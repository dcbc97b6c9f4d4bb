"""The button that makes one file of what is on screen."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from engine.exports.one_file import SharedPage


def button(key: str, make: Callable[[], SharedPage], stem: str, note: str = "") -> None:
    """Offer a page as one file; `stem` begins its name, and `note` says what else is in it."""
    if st.button("Share as one file", icon=":material/ios_share:", key=f"share_{key}"):
        _dialog(key, make, stem, note)


@st.dialog("Share as one file")
def _dialog(key: str, make: Callable[[], SharedPage], stem: str, note: str) -> None:
    page, file = make(), f"{stem}.html"
    st.markdown(
        "One file that anybody can open, without this program and without a server. It makes no "
        "request."
    )
    if note:
        st.markdown(note)
    st.download_button(
        f"Save as one file ({len(page.html) / 1000:.0f} kB)",
        page.html,
        file,
        "text/html",
        on_click="ignore",
        icon=":material/html:",
        type="primary",
        key=f"share_file_{key}",
    )
    st.markdown("**On a page of your own.** Put the file beside it, and this where it is to stand:")
    st.code(page.frame(file), language="html", wrap_lines=True)
