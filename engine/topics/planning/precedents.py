"""Budgets that others have published with, and what a rule of one's own says of a budget.

A precedent is no advice: units, attackers, data and repetition differ, and each says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.types import Budget
from engine.language.tags import budget_chip


@dataclass(frozen=True)
class Precedent:
    """One publication: what, by whom, its budget, what that protects, and where it says so."""

    name: str
    by: str
    budget: Budget
    unit: str
    source: str


_REGISTRY = "OpenDP’s registry of deployments"
PRECEDENTS: Sequence[Precedent] = (
    Precedent(
        "Search trends for symptoms, Google, 2020",
        "Google",
        Budget(1.68),
        "one user’s searches of one day",
        "arXiv 2009.01265",
    ),
    Precedent(
        "Searches about vaccination, Google, 2021",
        "Google",
        Budget(2.19, 1e-5),
        "one user’s searches of one day",
        "arXiv 2107.01179",
    ),
    Precedent(
        "Community mobility reports, Google, 2020",
        "Google",
        Budget(2.64),
        "one user’s places of one day",
        "arXiv 2004.04145",
    ),
    Precedent(
        "Popular emojis, Apple, 2017",
        "Apple",
        Budget(4.0),
        "one device and day; noise is added on the device",
        _REGISTRY,
    ),
    Precedent(
        "Registry of live births of 2014, Israel, 2024",
        "Israel’s births",
        Budget(9.98),
        "one birth",
        _REGISTRY,
    ),
    Precedent(
        "Census redistricting data, United States, 2021",
        "United States",
        Budget(17.14, 1e-10),
        "one person’s answers; households were charged besides",
        "U.S. Census Bureau, 2021",
    ),
)
CAUTION = (
    "Not comparable as they stand: a budget of one day adds up over days, and none of these "
    "protects a whole curve. That others spent so much does not make it right here."
)


def table(precedents: Sequence[Precedent] = PRECEDENTS) -> dict[str, list[str]]:
    """Tabulate precedents as they are read on screen."""
    return {
        "what": [precedent.name for precedent in precedents],
        "budget": [budget_chip(precedent.budget) for precedent in precedents],
        "protects": [precedent.unit for precedent in precedents],
        "source": [precedent.source for precedent in precedents],
    }


def nearest(epsilon: float, count: int = 3) -> list[Precedent]:
    """List the precedents whose ε lies nearest by ratio, in order of ε."""

    def away(precedent: Precedent) -> float:
        return max(precedent.budget.epsilon / epsilon, epsilon / precedent.budget.epsilon)

    return sorted(
        sorted(PRECEDENTS, key=away)[:count], key=lambda precedent: precedent.budget.epsilon
    )


def beyond_rule(epsilon: float, rule: float | None) -> str:
    """Say that a budget is above an own rule; empty if it is not."""
    if rule is None or epsilon <= rule:
        return ""
    return f"**ε = {epsilon:g} is above your own rule**, at most {rule:g}."
