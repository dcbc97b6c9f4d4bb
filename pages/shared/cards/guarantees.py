"""Promises of a release: from whom it protects, what it spends, how it is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from engine.core.types import Budget, PublicFacts, Spend
from engine.language import spending, tags
from engine.language.numbers import small
from engine.mechanisms import Mechanism
from engine.privacy import accounting
from engine.topics.mean import live
from engine.topics.planning import precedents
from engine.topics.planning.consequences import label
from pages.shared.frame import controls, layout
from pages.shared.state import allowed, session


def promise(spends: Sequence[Spend], budget: Budget) -> None:
    """Say at once when printed constants do not give the budget that stands above."""
    if not accounting.keeps_promise(spends):
        epsilon = max(budget.epsilon for budget in accounting.guarantees(spends))
        st.error(spending.broken_promise(budget, epsilon), icon=":material/error:")


def consequences(spends: Sequence[Spend], facts: PublicFacts, page: str, trusted: str = "") -> None:
    """Show what is protected from whom, what is not, and why; `trusted` as in `label`."""

    def draw() -> None:
        for heading, text in label(spends, facts, trusted).items():
            st.markdown(f"**{heading}.** {text}")

    layout.folded("Protected from whom, and what is not", f"{page}_label", draw)


def ledger(spends: Sequence[Spend], budget: Budget) -> None:
    """Show what one release would spend, line by line, and the reason for the total."""
    layout.table([_line(spend) for spend in spends])
    st.markdown(spends[0].why)
    st.markdown(spending.how_added(accounting.by_server(spends).values()))
    proved = accounting.guarantees(spends)
    if len(proved) == 1:
        st.markdown(spending.total(proved[0], accounting.total_mu(spends)))
    else:
        layout.table(
            [
                {
                    "site": s + 1,
                    "all of it gives ε": round(budget.epsilon, 4),
                    "at δ": small(budget.delta),
                }
                for s, budget in enumerate(proved)
            ]
        )
    _of_several(spends)
    promise(spends, budget)
    epsilon = max(budget.epsilon for budget in proved)
    if accounting.keeps_promise(spends) and 1e-9 < epsilon < 0.999 * budget.epsilon:
        st.markdown(spending.more_noise_than_needed(budget, epsilon))


def _line(spend: Spend) -> dict[str, object]:
    """Return one line of the ledger; without a μ it has a ρ, or a pure ε.

    Neighbours, norm and law of the noise are as in `Spend`.
    """
    costs = {"μ": spend.mu, "ρ": spend.rho, "ε": spend.epsilon}
    sign, cost = next((sign, cost) for sign, cost in costs.items() if cost is not None)
    return {
        "site": spend.server + 1,
        "what leaves it": spend.what,
        "how often": spend.count,
        f"{sign} of each": float(f"{cost:.4g}"),
        "adds up": spend.composition,
        "neighbours": f"replace one {spend.unit.noun}".strip(),
        "moved at most by": f"{spend.sensitivity[0]:.4g}",
        "in the norm": spend.norm,
        "noise": f"{spend.noise_scale[0]:.4g}",
        "law": spending.LAWS.get(spend.noise, ""),
    }


def _of_several(spends: Sequence[Spend]) -> None:
    """Show the cost of the same lines for a person with several protected units."""
    count = session.current().group_size
    if count > 1:
        several = accounting.guarantees(accounting.for_group(spends, count))
        st.markdown(spending.ledger_of_several(count, spends[0].unit.noun, several))


def formula(mechanism: Mechanism, tuning: Mapping[str, object]) -> None:
    """Show what the method computes, its tuning on this page, and the source."""
    st.markdown(f"{mechanism.label}: {mechanism.reference}.")
    if mechanism.formula:
        st.latex(mechanism.formula)
    st.markdown(spending.tuning(tuning))


# -- a rule of one’s own for ε, and what others have published with --------------------------------


def anchors(rule: float | None) -> list[live.Anchor]:
    """List the marks under the slider: budgets of others, and the visitor's own rule."""
    marks = [
        live.Anchor(
            precedent.budget.epsilon,
            f"{precedent.name}: {tags.budget_chip(precedent.budget)}, protects {precedent.unit}",
            precedent.by,
        )
        for precedent in precedents.PRECEDENTS
    ]
    if rule is not None:
        marks.append(
            live.Anchor(rule, f"Your own rule: at most ε = {rule:g}", "your rule", is_own=True)
        )
    return marks


def rule_fold() -> None:
    """Draw the rule in a fold, for Explore and Lab."""
    layout.folded("Your own rule, and budgets of others", "rule", rule_and_precedents)


def rule_and_precedents() -> None:
    """Show the largest ε by the visitor's own policy, and what others have spent."""
    controls.number(
        "Our rule: ε at most",
        session.current().epsilon_limit,
        lambda rule: session.change(epsilon_limit=allowed.rule(rule)),
        "rule",
        is_optional=True,
        placeholder="none",
        width=220,
        help="From your own policy, for one whole release. It is marked under the "
        "slider, and a budget above it is pointed out.",
    )
    layout.table(precedents.table())
    st.markdown(precedents.CAUTION)


def beyond_rule(epsilon: float) -> None:
    """Point out a budget above the visitor's own rule."""
    words = precedents.beyond_rule(epsilon, session.current().epsilon_limit)
    if words:
        st.warning(words, icon=":material/gavel:")
