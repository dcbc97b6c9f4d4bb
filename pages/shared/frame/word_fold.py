"""The fold *What do these words mean?* under every page: words of the field that stand on it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.language import glossary
from engine.language.glossary import Term
from pages.shared.frame import layout
from pages.shared.state import pins, session

_GUIDE = Path(__file__).parents[2] / "guide.py"
_STRIP = ("ε", "δ", "Unit of protection", "Odds", "Error")
# Terms of `engine.language.glossary` by page, as they are met from top to bottom.
TERMS: dict[str, tuple[str, ...]] = {
    "explore": (*_STRIP, "Simulated", "Release", "Band", "Privacy noise", "Clipping", "Method",
                "Trade-off curve", "Ledger", "Seed"),
    "decide": (*_STRIP, "Simulated", "Curve", "Central", "Method", "Seed"),
    "learn": ("ε", "δ", "Unit of protection", "Odds", "Simulated", "Release", "Seed"),
    "compare": (*_STRIP, "Simulated", "Release", "Method", "Seed"),
    "sweeps": ("ε", "δ", "Unit of protection", "Odds", "Simulated", "Method", "Seed"),
    "coefficients": (*_STRIP, "Simulated", "Covariate", "Release", "Method", "Trade-off curve",
                     "Ledger", "Seed"),
    "regression": (*_STRIP, "Simulated", "Method", "Wavelets", "Laplace noise", "Privacy noise",
                   "Bounds", "Trade-off curve", "Ledger", "Seed"),
    "summaries": (*_STRIP, "Simulated", "Density", "Covariance", "Method", "Release",
                  "Privacy noise", "Penalty", "Trade-off curve", "Ledger", "Seed"),
    "sparse": (*_STRIP, "Simulated", "Method", "Release", "Trade-off curve", "Ledger", "Seed"),
    "rates": (*_STRIP, "Simulated", "Sparse readings", "Central", "Smoothness"),
    "audit": ("ε", "δ", "Unit of protection", "Odds", "Simulated", "Audit", "Neighbours",
              "Mechanism", "Coverage", "Release"),
    "reproduce": ("ε", "δ", "Unit of protection", "Simulated", "Public"),
    "publish": (*_STRIP, "Public", "Release", "Method", "Bounds", "Trade-off curve", "Ledger"),
    "methods": ("ε", "δ", "Method", "Clipping", "Approximate", "Composition", "μ"),
}


def show() -> None:
    """The fold, where the page has words to explain; not in front of a class."""
    terms = TERMS.get(pins.page(), ())
    if not terms or (pins.page() == "learn" and session.current().presenter == "on"):
        return
    with layout.fold("What do these words mean?", "words") as is_open:
        if is_open:
            formulas = st.toggle("With formulas", key="words_formulas")
            st.markdown("\n\n".join(entry(glossary.find(name), formulas) for name in terms))
            st.page_link(_GUIDE, label="All words, in the Guide", icon=":material/menu_book:",
                         query_params={"s": "chapter-glossary"})


def entry(term: Term, formula: bool, where: bool = False) -> str:
    """A term with its meaning, and if wanted its formula and where it is met."""
    lines = [f"**{term.title}**  ", f"{term.meaning}  "]
    if formula and term.formula:
        lines.append(f"${term.formula}$  ")
    if where:
        lines.append(f":small[Where: {term.used}]")
    return "\n".join(lines)
