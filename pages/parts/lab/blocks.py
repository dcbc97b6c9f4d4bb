"""Blocks of *Estimate* that are the same for every estimand."""

from __future__ import annotations

import streamlit as st

from engine.language import glossary
from pages.shared.cards import odds as odds_card
from pages.shared.frame.page import ReleaseView


def attacker(view: ReleaseView) -> None:
    """How well an attacker can tell who is in the data; what stands behind it is in the drawer."""
    if view.spends:
        st.header("Attacker", anchor=False, help=glossary.explain("Odds"))
        view.charts["Attacker"] = odds_card.face(view.facts, view.spends, "attacker_face")
