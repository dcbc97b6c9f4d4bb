"""What is on screen on Decide: a study with its sites, and the budgets that it could be given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from engine.core.errors import InputError
from engine.language import chances, tags
from engine.language.grammar import capital
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.sources import Source
from engine.topics.decision import answer as decisions
from engine.topics.decision import words
from engine.topics.decision.answer import Decision, Profile
from engine.topics.planning.answer import usual_target
from engine.topics.sites.site_table import SiteRow
from pages.parts.sites import editor
from pages.shared.cards import guarantees
from pages.shared.frame import strips
from pages.shared.frame.page import View
from pages.shared.state import run, session


class Study(View):
    """The sentence on screen; `answer` is None until it was simulated, or where it is refused."""

    page, chart_prefix = "decide", "decide_"

    def __init__(self) -> None:
        super().__init__()
        self.problem: InputError | None = None
        try:
            editor.take_edits()
        except InputError as problem:  # the last table that can be stays
            self.problem = problem
        self.now = session.current()
        self.shown: Source = session.source()
        self.source: Source = (self.shown if self.shown.is_random
                               else session.twin_of(self.shown))
        self.task = ""
        self.facts = self.source.facts
        self.answer: Decision | None = None

    @cached_property
    def rows(self) -> tuple[SiteRow, ...]:
        """The table of the settings, or the sites of the curves."""
        if self.shown.has_free_sites and self.now.sites:
            return self.now.sites
        return decisions.alike(self.source, capital(self.site))

    @property
    def included(self) -> list[SiteRow]:
        return [row for row in self.rows if row.included]

    @property
    def site(self) -> str:
        return words.site_noun(self.facts)[0]

    @property
    def target(self) -> float:
        return usual_target(self.facts) if self.now.target is None else self.now.target

    @property
    def asked(self) -> tuple[Source, Any, tuple[SiteRow, ...], float | None, str, int]:
        """All that the simulation depends on."""
        return (self.source, self.now.mechanism, decisions.at_one_budget(self.rows),
                self.now.delta, self.now.noise, self.now.seed)

    def decide(self, profile: Profile) -> None:
        self.answer = decisions.decision(profile, self.target, self.now.confidence,
                                         self.now.group)

    def strip(self) -> None:
        """The facts of the recommendation."""
        chosen = None if self.answer is None else self.answer.chosen
        if chosen is None or self.answer is None:
            strips.fixed(self.facts, "ε to be found", "decide_strip")
            return
        strips.fixed(self.facts, tags.budget_chip(chosen.budget), "decide_strip",
                     chances.odds_short(chosen.odds), words.error(chosen, self.facts),
                     highest=chosen.budget.epsilon, stated=self.answer.profile.delta)

    def formula(self) -> None:
        guarantees.formula(self.now.mechanism, {})

    def question(self) -> Question:
        source, mechanism, rows, delta, noise, _ = self.asked
        return ask(decisions.decision_of, source, mechanism, rows, delta, noise, self.target,
                   self.now.confidence, self.now.seed).about(Person(self.now.group))

    def simulated(self, tell: Callable[[int], None]) -> Profile:
        """The study at every budget, as it was kept or else computed."""
        return run.answer(decisions.profile_of, *self.asked, shown=tell)
