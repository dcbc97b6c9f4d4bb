"""The attack, repetitions or releases on screen, and the jobs of this visitor for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVarTuple

import streamlit as st

from engine.audit import broken
from engine.core.errors import InputError
from engine.core.types import Budget, DataKind, Unit
from engine.mechanisms import Mechanism
from engine.questions import Question, ask
from engine.sources import Source
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import words
from engine.topics.audit.answer import Attack, AuditedMethod
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from engine.topics.reuse import answer as reuse_topic
from engine.topics.reuse import words as reuse_words
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import limits as limit_cards
from pages.shared.frame import controls, strips
from pages.shared.frame.page import View
from pages.shared.frame.timed import visitor
from pages.shared.server.jobs import Job, jobs
from pages.shared.state import settings
from pages.shared.state.lab_tasks import LAB_TASKS

Ts = TypeVarTuple("Ts")
_RECORD = (
    "One record",
    "Neighbouring data differ in one record: a curve, observation or row, "
    "whichever the method protects.",
)
_METHODS = {"attack": words.METHOD, "coverage": coverage_words.METHOD, "reuse": reuse_words.METHOD}
_CODE_NOTE = (
    "It ends with exit code 0 if the claim holds, or if a planted fault is caught. "
    "Without a scenario, *python -m engine audit* attacks every method."
)
_JOBS = "audit_jobs"  # session key of the started jobs, by digest of the question


class Audited(View):
    """The mechanism or band under attack, as set on its own page, at the present ε.

    Never an upload.

    Attributes
    ----------
    asks_for_budget : bool
        True if ε is asked for here, as no scenario on screen has it.
    """

    asks_for_budget = False
    page, fold_prefix, chart_prefix, task = "audit", "audit_", "audit_", ""

    def __init__(self) -> None:
        super().__init__()
        self.audited = _audited_method(self.settings)
        self.mechanism, self.source = _as_on_its_page(self.audited, self.settings)
        self.code_note = _CODE_NOTE if self.settings.audit_part == "attack" else ""

    @property
    def budget(self) -> Budget:
        return self.settings.budget_on(self.source, self.mechanism)

    @cached_property
    def variants(self) -> tuple[broken.Bug, ...]:
        return audit_topic.variants_of(self.mechanism)

    @property
    def variant(self) -> str:
        """The planted fault, where it is one of this mechanism."""
        names = {variant.name for variant in self.variants}
        return self.settings.planted_fault if self.settings.planted_fault in names else ""

    def make_attack(self, variant: str = "") -> Attack:
        """Make an attack on the method as it is set, or on one of its broken variants."""
        source = self.source if self.settings.audited_data == "screen" else None
        return Attack(self.mechanism, self.budget, source, variant, self.settings.seed)

    def strip(self) -> None:
        """Show what is simulated and what is claimed."""
        current = self.settings
        if current.audit_part == "reuse":
            budget = reuse_words.two_budgets(current.epsilon, current.second_epsilon)
            odds = reuse_words.odds_of_two(
                current.epsilon,
                current.second_epsilon,
                reuse_topic.DELTA,
                current.second_noise == "fresh",
            )
            strips.fixed(reuse_topic.SOURCE.facts, budget, "audit_strip", odds, pins_here=False)
            return
        claim = coverage_experiment(self) if current.audit_part == "coverage" else self
        is_curve, facts = claim.source.holds_curves, claim.source.facts
        if current.audit_part == "attack" and current.audited_data == "small":
            # not the data of other pages
            facts = replace(facts, kind=DataKind.SIMULATED, name="Small data for the attack")
        strips.fixed(
            facts,
            words.claim(claim.budget),
            "audit_strip",
            strips.by_method(claim.mechanism, claim.source, claim.budget),
            highest=claim.budget.epsilon,
            pins_here=False,
            unit=Unit.CURVE if is_curve else Unit.RECORD,
            protected=None if is_curve else _RECORD,
        )

    def formula(self) -> None:
        """Show how the audit works, and what it attacks."""
        st.markdown(_METHODS[self.settings.audit_part])
        if self.settings.audit_part == "reuse":
            st.latex(reuse_topic.FORMULA)
        else:
            method = coverage_experiment(self) if self.settings.audit_part == "coverage" else self
            guarantee_cards.formula(method.mechanism, {})

    def question(self) -> Question:
        """Ask for attacks, repetitions, or two releases of one average."""
        current = self.settings
        if current.audit_part == "attack":
            attacks = [self.make_attack()]
            if self.variant:
                attacks.append(self.make_attack(self.variant))
            return ask(audit_topic.audit_answer, attacks)
        if current.audit_part == "coverage":
            return ask(coverage_topic.coverage_answer, coverage_experiment(self))
        return ask(
            reuse_topic.reuse_answer,
            current.epsilon,
            current.second_epsilon,
            reuse_topic.DELTA,
            current.seed,
            current.second_noise == "fresh",
        )


def _audited_method(current: settings.Settings) -> AuditedMethod:
    """Return the chosen method, or that of the estimand."""
    task, known = current.estimated, audit_topic.names()
    method = current.mechanism_of(task).key
    like = [key for key in known if key.startswith(f"{method}.")]
    key = current.audited_method or f"{method}.{task}"
    return audit_topic.audited_method(key if key in known or not like else like[0])


def _as_on_its_page(method: AuditedMethod, current: settings.Settings) -> tuple[Mechanism, Source]:
    """Return the method and simulated data set on its page, or usual ones if it has no page."""
    mechanism, source, task = method.default(), None, method.task
    if task in LAB_TASKS and isinstance(current.mechanism_of(task), method.cls):
        mechanism = current.mechanism_of(task)
    if task in LAB_TASKS and current.source_of(task).is_random:
        source = current.studied(task)
    return mechanism, source or method.usual_source()


def slider(label: str) -> None:
    controls.epsilon_slider(
        "audit_epsilon",
        "Lower ε: the claim is stronger and the noise larger. Higher ε: the opposite.",
        label,
    )


def started_job(key: str) -> Job | None:
    return st.session_state.setdefault(_JOBS, {}).get(key)


def start(key: str, function: Callable[[*Ts], Any], *arguments: *Ts, total: int) -> None:
    """Begin a job from a button and keep it; a busy server says so beside the button."""
    try:
        job = jobs().start(key, function, *arguments, total=total, visitor=visitor())
    except InputError as problem:
        st.session_state.problem = ("audit", problem)
        return
    st.session_state.setdefault(_JOBS, {})[key] = job


def coverage_experiment(view: Audited) -> coverage_topic.Experiment:
    """Describe the band or interval to repeat, by the method and the data of its estimand."""
    return limit_cards.question(kind_of_limits(view.settings), view.settings)


def kind_of_limits(current: settings.Settings) -> str:
    """Return the chosen kind of band or interval, or that of the estimand's method."""
    task = current.estimated
    if coverage_topic.KINDS[current.coverage_limits].task == task:
        return current.coverage_limits
    return coverage_topic.usual_kind(task, current.mechanism_of(task)) or current.coverage_limits
