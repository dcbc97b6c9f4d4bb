"""The fold *Glossary* under every page: terms of the field that stand on it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from engine.language import glossary
from engine.language.glossary import GlossaryTerm
from pages.shared.frame import layout
from pages.shared.state import pins, session

_LEARN = Path(__file__).parents[2] / "learn.py"
_GUARANTEE = ("Privacy budget", "δ", "Unit of protection", "Attacker’s accuracy")
_STRIP = (*_GUARANTEE, "Error")
# Terms of `engine.language.glossary` by page, from top to bottom.
TERMS: dict[str, tuple[str, ...]] = {
    "decide": (*_STRIP, "Simulated", "Curve", "Central", "Mechanism", "Seed"),
    "publish": (*_STRIP, "Public", "Release", "Mechanism", "Bounds", "Trade-off curve", "Ledger"),
    "lab": (*_STRIP, "Simulated", "Mechanism", "Release", "Privacy noise", "Trade-off curve"),
}
# Terms of the other tabs of Lab, and further ones on *Estimate* by estimand.
OF_TABS: dict[str, tuple[str, ...]] = {
    "compare": (*_STRIP, "Simulated", "Release", "Mechanism", "Seed"),
    "theory": (
        *_STRIP,
        "Simulated",
        "Sparse observations",
        "Central",
        "Smoothness",
        "Clipping",
        "Approximate",
        "Composition",
        "μ",
    ),
    "verify": (
        *_GUARANTEE,
        "Simulated",
        "Audit",
        "Neighbouring data sets",
        "Mechanism",
        "Coverage",
        "Release",
    ),
    "papers": ("Privacy budget", "δ", "Unit of protection", "Simulated", "Public"),
}
OF_ESTIMANDS: dict[str, tuple[str, ...]] = {
    "components": ("Component", "Covariance"),
    "coefficients": ("Covariate",),
    "regression": ("Wavelets", "Laplace noise", "Bounds"),
    "summaries": ("Density", "Covariance", "Penalty"),
    "survival": ("Confidence band", "Laplace noise", "Sensitivity"),
}


def show() -> None:
    """Show the fold, if the page has words to explain."""
    terms = _on_screen()
    if terms:
        layout.folded("Glossary", "words", partial(_explained, terms))


def _explained(terms: Sequence[str]) -> None:
    formulas = st.toggle("With formulas", key="words_formulas")
    st.markdown("\n\n".join(entry(glossary.find(name), formulas) for name in terms))
    st.page_link(
        _LEARN,
        label="Full glossary in the guide",
        icon=":material/menu_book:",
        query_params={"s": "learn-guide~chapter-glossary"},
    )


def _on_screen() -> tuple[str, ...]:
    """List the terms of the page; in Lab those of its open tab."""
    current = session.current()
    if pins.page() != session.LAB:
        return TERMS.get(pins.page(), ())
    return OF_TABS.get(current.lab_tab, TERMS["lab"] + OF_ESTIMANDS.get(current.estimand, ()))


def entry(term: GlossaryTerm, formula: bool, where: bool = False) -> str:
    """Explain a term, on request with its formula and the pages that use it."""
    lines = [f"**{term.title}**  ", f"{term.meaning}  "]
    if formula and term.formula:
        lines.append(f"${term.formula}$  ")
    if where:
        lines.append(f":small[Where: {term.used}]")
    return "\n".join(lines)
