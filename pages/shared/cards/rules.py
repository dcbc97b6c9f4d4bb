"""A rule of one's own for ε, and what others have published with."""

from __future__ import annotations

import streamlit as st

from engine.language import tags
from engine.topics.planning import precedents
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.state import session, settings


def anchors(rule: float | None) -> list[components.Anchor]:
    """What is marked under the slider: budgets of others, and the visitor's own rule."""
    marks = [components.Anchor(
        precedent.budget.epsilon,
        f"{precedent.name}: {tags.budget_chip(precedent.budget)}, protects {precedent.unit}",
        precedent.by) for precedent in precedents.PRECEDENTS]
    if rule is not None:
        marks.append(components.Anchor(rule, f"Your own rule: at most ε = {rule:g}", "your rule",
                                       is_own=True))
    return marks


def rule_and_precedents() -> None:
    """A rule of one's own, and what others have spent; for the slider of Explore and for Plan."""
    with layout.fold("Your own rule, and budgets of others", "rule") as is_open:
        if not is_open:
            return
        own_rule()
        layout.table(precedents.table())
        st.markdown(precedents.CAUTION)


def own_rule() -> None:
    """The most ε by the visitor's own policy."""
    controls.number("Our rule: ε at most", session.current().rule,
                    lambda rule: session.change(rule=settings.checked_rule(rule)), "rule",
                    is_optional=True, placeholder="none", width=220,
                    help="From your own policy, for one whole release. It is marked under the "
                    "slider, and a budget above it is pointed out.")


def beyond_rule(epsilon: float) -> None:
    """Point out a budget above the visitor's own rule."""
    words = precedents.beyond_rule(epsilon, session.current().rule)
    if words:
        st.warning(words, icon=":material/gavel:")
