"""Sentences on a card that follow the slider: those of every budget are sent once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from engine.language.numbers import unbroken
from pages.shared.server.modules import file

_component = st.components.v2.component(
    "privacy_curves_said", html='<div id="said"></div>', css=file("said.css"), js=file("said.js")
)

_SIGNS = {ord("■"): ":blue[■]", ord("●"): ":gray[●]", ord("○"): ":gray[○]"}  # dot colours


@dataclass(frozen=True)
class Said:
    """A paragraph; `kind` is "" (as text), "small" or "warning". Bold is the only markup.

    The signs ● ■ ○ of a key have the colours of the picture above it.
    """

    text: str
    kind: str = ""


def said(steps: Sequence[Sequence[Said]], key: str, rev: int = 0) -> None:
    """Show the paragraphs of the budget on screen.

    `steps` holds the paragraphs of every step of the slider, which the browser follows; a page
    without a slider gives one step. `rev` is that of the strip.
    """
    if len(steps) > 1:
        sent = [[[p.kind, unbroken(p.text)] for p in step] for step in steps]
        _component(key=key, data={"steps": sent, "rev": rev})
        return
    for paragraph in steps[0]:
        if paragraph.kind == "warning":
            st.warning(paragraph.text, icon=":material/warning:")
        else:
            small = paragraph.kind == "small"
            text = paragraph.text.translate(_SIGNS)
            st.markdown(f":small[{text}]" if small else text)
