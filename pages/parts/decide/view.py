"""What is on screen on Decide: a study with its sites, and the budgets that it could be given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.language import odds_words, tags
from engine.language.grammar import capital
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.sources import Source
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words
from engine.topics.decision.answer import Decision, Profile
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts.decide import estimands
from pages.parts.sites import editor
from pages.shared.cards import guarantees
from pages.shared.frame import strips
from pages.shared.frame.page import View
from pages.shared.state import run, session


class Study(View):
    """The sentence on screen; `answer` is None until it was simulated, or where it is refused.

    `problem` says why the last table was not taken over, `refusal` why there is no study at all.
    """

    page, chart_prefix = "decide", "decide_"

    def __init__(self) -> None:
        super().__init__()
        self.problem: InputError | None = None
        try:
            editor.take_edits()
        except InputError as problem:  # the last table that can be stays
            self.problem = problem
        self.settings = session.current()
        self.decided = TASKS[self.settings.decided]
        studied = estimands.on_screen()
        self.on_screen: Source = studied.on_screen
        self.source: Source = studied.simulated
        self.refusal = studied.refusal
        self.mechanism = self.settings.mechanism_of(self.decided.key)
        self.task = ""
        self.facts = self.source.facts
        self.answer: Decision | None = None

    @cached_property
    def rows(self) -> tuple[SiteRow, ...]:
        """The table of the settings, or the sites of the curves."""
        if self.on_screen.has_free_sites and self.settings.sites:
            return self.settings.sites
        return decision_topic.equal_sites(self.source, capital(self.site))

    @property
    def included(self) -> list[SiteRow]:
        return [row for row in self.rows if row.included]

    @property
    def site(self) -> str:
        return words.site_noun(self.facts)[0]

    @property
    def target(self) -> float:
        if self.settings.target is not None:
            return self.settings.target
        return decision_topic.usual_target(self.decided, self.facts)

    @property
    def unit(self) -> str:
        """Of the target; may be empty."""
        return self.facts.value_unit if self.decided.has_value_unit else ""

    @property
    def is_known(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.refusal is not None or run.knows(decision_topic.profile_of, *self.arguments)

    @property
    def arguments(self) -> tuple[Source, Any, tuple[SiteRow, ...], float | None, str, int]:
        """All that the simulation depends on."""
        return self.with_rows(decision_topic.at_one_budget(self.rows))

    def with_rows(self, rows: tuple[SiteRow, ...]
                  ) -> tuple[Source, Any, tuple[SiteRow, ...], float | None, str, int]:
        """The same for another table of sites."""
        return (self.source, self.mechanism, rows, estimands.delta_of(self.settings),
                self.settings.noise, self.settings.seed)

    def decide(self, profile: Profile) -> None:
        self.answer = decision_topic.decision(profile, self.target, self.settings.confidence,
                                              self.settings.group)

    def shared(self) -> Decision | None:
        """The same study where sites add shares of the noise; None where it is refused."""
        source, mechanism, rows, delta, _, seed = self.arguments
        try:
            profile = run.answer(decision_topic.profile_of, source, mechanism, rows, delta,
                                 str(NoisePlace.SUMS), seed)
        except InputError:
            return None
        return decision_topic.decision(profile, self.target, self.settings.confidence,
                                       self.settings.group)

    def strip(self) -> None:
        """The facts of the recommendation."""
        chosen = None if self.answer is None else self.answer.chosen
        protected = words.unit_tag(self.decided, self.facts)
        if chosen is None or self.answer is None:
            strips.fixed(self.facts, "ε to be found", "decide_strip", protected=protected,
                         n_curves=site_table.people(self.rows))
            return
        strips.fixed(self.facts, tags.budget_chip(chosen.budget), "decide_strip",
                     odds_words.odds_short(chosen.odds), words.error(chosen, self.answer.profile),
                     unit=self.decided.unit, highest=chosen.budget.epsilon,
                     stated=self.answer.profile.delta, protected=protected,
                     n_curves=self.answer.profile.n_people)

    def formula(self) -> None:
        guarantees.formula(self.mechanism, {})

    def question(self) -> Question:
        source, mechanism, rows, delta, noise, _ = self.arguments
        return ask(decision_topic.decision_of, source, mechanism, rows, delta, noise, self.target,
                   self.settings.confidence, self.settings.seed).about(Person(self.settings.group))

    def simulated(self, tell: Callable[[int], None]) -> Profile:
        """The study at every budget, as it was kept or else computed."""
        return run.answer(decision_topic.profile_of, *self.arguments, progress=tell)
