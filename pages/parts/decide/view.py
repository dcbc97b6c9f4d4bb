"""The state of Decide on screen: data, their sites, their resizing, and the study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.tasks import TASKS, WAVELET_REGRESSION, DataType, Task
from engine.core.units import converted
from engine.language import odds_words, tags
from engine.language.grammar import capital
from engine.privacy.amplification import Person
from engine.questions import Question, ask
from engine.sources import Source, sources
from engine.sources.twin import Twin
from engine.topics.brief import Brief
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import trust, words
from engine.topics.decision.answer import DECIDED, Decision, Option, Profile
from engine.topics.decision.trust import TrustPrice
from engine.topics.regression.answer import NETWORKS, Group, Network, SimulatedReadings
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts import regression_sites, site_editor
from pages.shared.cards import guarantees
from pages.shared.frame import controls, strips
from pages.shared.frame.page import View
from pages.shared.state import run, session
from pages.shared.state.settings import Settings

# Networks whose sites differ in more than budgets; here all sites are equal.
_NETWORKS = {
    name: groups
    for name, groups in NETWORKS.items()
    if name
    == next(
        first
        for first, others in NETWORKS.items()
        if Network(others).sizes == Network(groups).sizes
    )
}


def data_choice(task: Task, **more: Any) -> None:
    """Choose the data: those of a task, or for a regression the network of its sites."""
    data = session.data_task(task.key)
    if isinstance(session.source(data), SimulatedReadings):
        regression_sites.network_choice(_NETWORKS, **more)
    else:
        controls.source_choice(data, **more)


def delta_of(scenario: Settings) -> float | None:
    """Return the δ chosen for a study; None for the rule of all pages."""
    is_network = scenario.decided_task == WAVELET_REGRESSION.key
    return scenario.network.delta if is_network else scenario.delta


def choose(key: str) -> None:
    """Change the estimand; forget a target in the unit of other data."""
    current = session.current()
    same_data = session.data_task(key) == session.data_task(current.decided_task)
    session.change(
        decided_task=key,
        target_distance=current.target_distance if same_data else None,
        typical_error=current.typical_error if same_data else None,
    )


def change_unit(task: Task, target: float, unit: str) -> None:
    """Convert values and target to another unit, without changing their meaning."""
    data = session.data_task(task.key)
    source: Any = session.current().source_of(data)
    typical = session.current().typical_error
    session.change_source(data, replace(source, unit=unit))
    session.change(
        target_distance=converted(target, source.units, source.unit, unit),
        typical_error=None
        if typical is None
        else converted(typical, source.units, source.unit, unit),
    )


def use_simulated(task: Task) -> None:
    """Replace data that allow no study by the usual simulated ones."""
    data = session.data_task(task.key)
    session.show_own(data, False)
    if not session.current().source_of(data).is_random:
        session.change_source(data, sources.default(TASKS[data].source, data))
    session.change()


def resize(task: Task, source: Source, resized: Source[Any]) -> None:
    """Take over other sizes of a study, whichever settings hold them."""
    if isinstance(resized, Twin):
        session.change_twin(source, resized)
    elif isinstance(resized, SimulatedReadings):
        (people,) = {*resized.sizes.n_curves_per_server}
        before = session.current().network
        session.change_study(task.key, resized)
        session.change(
            network=Network(
                (Group(resized.sizes.n_servers, people, before.groups[0].epsilon),), before.delta
            )
        )
    else:
        session.change_source(session.data_task(task.key), resized)
        session.change(sites=())


class DecideView(View):
    """The sentence on screen; `answer` is None until simulated, or if refused.

    `problem` explains why the last table was refused, `refusal` why there is no study at all.
    """

    page, chart_prefix = "decide", "decide_"

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.problem: InputError | None = None
        if self.is_on_screen:
            self.problem = site_editor.taken_edits()
            self.settings = session.current()
        self.decided = TASKS[self.settings.decided_task]
        data = session.data_task(self.decided.key)
        self.on_screen: Source = (
            session.source(data) if self.is_on_screen else self.settings.source_of(data)
        )
        self.source, self.refusal = self._studied()
        self.mechanism = self.settings.mechanism_of(self.decided.key)
        self.task = ""
        self.facts = self.source.facts
        self.answer: Decision | None = None

    def _studied(self) -> tuple[Source, InputError | None]:
        """Return the data at the chosen sites, or their twin; and the reason against a study."""
        source, task = self.on_screen, self.decided
        if isinstance(source, SimulatedReadings):
            return self.settings.network.source(source), None
        if source.is_random:
            return source, None
        if task.data is DataType.CURVES and task.key in (twin := self.twin_of(source)).served:
            return twin, None
        return source, InputError(
            f"A study of the {DECIDED[task.key]} simulates its data, and nothing stands in for "
            f"{'your own' if source.facts.is_upload else 'these real ones'}.",
            field="source",
            hint="Choose simulated data with sizes like theirs.",
        )

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
    def place(self) -> NoisePlace:
        """The kind of trust that is marked: one site alone is its own centre."""
        chosen = NoisePlace(self.settings.noise_place)
        is_central = chosen is NoisePlace.SITES and self.has_one_site
        return NoisePlace.CENTRE if is_central else chosen

    @property
    def has_one_site(self) -> bool:
        return len(self.included) == 1

    @property
    def site(self) -> str:
        return words.site_noun(self.facts)[0]

    @property
    def target(self) -> float:
        if self.settings.target_distance is not None:
            return self.settings.target_distance
        return decision_topic.usual_target(self.decided, self.facts)

    @property
    def unit(self) -> str:
        """The unit of the target; may be empty."""
        return self.facts.value_unit if self.decided.has_value_unit else ""

    @property
    def data(self) -> str:
        """Name the data apart from their sizes: no answer about others may stay on the page."""
        return digest((self.decided.key, self.source.facts))

    @property
    def arguments(self) -> tuple[Source, Any, tuple[SiteRow, ...], float | None, str, int]:
        """All that the simulation depends on."""
        return self.with_rows(self.rows)

    def with_rows(
        self, rows: Sequence[SiteRow], place: NoisePlace | None = None
    ) -> tuple[Source, Any, tuple[SiteRow, ...], float | None, str, int]:
        """Return the arguments for another table of sites, and perhaps another kind of trust.

        Names of sites are left out. One site alone is its own centre.
        """
        rows = decision_topic.at_one_budget(rows)
        noise = place or NoisePlace(self.settings.noise_place)
        if noise is NoisePlace.CENTRE and len(rows) == 1:
            noise = NoisePlace.SITES
        return (
            self.source,
            self.mechanism,
            decision_topic.by_number(rows),
            delta_of(self.settings),
            str(noise),
            self.settings.seed,
        )

    def prices(self) -> tuple[TrustPrice, ...]:
        """The budget under each kind of trust, as far as they are simulated."""
        found = {
            place: run.answer(decision_topic.tried, *arguments)
            for place in trust.KINDS
            if run.knows(decision_topic.tried, *(arguments := self.with_rows(self.rows, place)))
        }
        settings = self.settings
        return trust.prices(found, self.target, settings.confidence, settings.group_size)

    @property
    def recommended(self) -> Option | None:
        """The budget for the target; None where there is no answer, or no budget that would do."""
        return None if self.answer is None else self.answer.chosen

    def decide(self, profile: Profile) -> None:
        named = replace(
            profile,
            rows=decision_topic.at_one_budget(self.rows),
            noise=NoisePlace(self.settings.noise_place),
        )
        self.answer = decision_topic.decision(
            named, self.target, self.settings.confidence, self.settings.group_size
        )

    def brief(self) -> Brief:
        if self.refusal is not None:
            raise self.refusal
        if self.answer is None:
            self.decide(self.simulated())
        recommended = self.recommended
        if recommended is None or self.answer is None:
            raise InputError(
                "No budget reaches the target, so there is nothing to compare.",
                hint="Open it and allow a larger distance.",
            )
        profile = self.answer.profile
        return Brief(
            facts=self.on_screen.facts,
            people=profile.n_people,
            protects=words.unit_tag(self.decided, self.facts)[0],
            method=profile.study.mechanism.nearest_preset()[0],
            budget=recommended.budget,
            budgets=tags.budget_chip(recommended.budget),
            spends=recommended.spends,
            error=recommended.accuracy.error,
            within=recommended.accuracy.within,
            error_unit=profile.unit,
        )

    def strip(self) -> None:
        """Show the facts of the recommendation."""
        recommended = self.recommended
        protected = words.unit_tag(self.decided, self.facts)
        if recommended is None or self.answer is None:
            strips.fixed(
                self.facts,
                "ε to be found",
                "decide_strip",
                protected=protected,
                n_curves=site_table.people(self.rows),
            )
            return
        brief = self.brief()
        strips.fixed(
            self.facts,
            brief.budgets,
            "decide_strip",
            odds_words.odds_short(recommended.odds),
            brief.error_in_words,
            unit=self.decided.unit,
            highest=recommended.budget.epsilon,
            stated=self.answer.profile.delta,
            protected=protected,
            n_curves=brief.people,
        )

    def formula(self) -> None:
        guarantees.formula(self.mechanism, {})

    def question(self) -> Question:
        source, mechanism, _, delta, _, _ = self.arguments
        rows = decision_topic.at_one_budget(self.rows)
        return ask(
            decision_topic.decision_of,
            source,
            mechanism,
            rows,
            delta,
            self.settings.noise_place,
            self.target,
            self.settings.confidence,
            self.settings.seed,
        ).about(Person(self.settings.group_size))

    def simulated(self) -> Profile:
        """Return the study at every budget, kept or computed."""
        decision_topic.sized(self.source, self.rows)  # says which site is refused, by its name
        found = run.answer(decision_topic.tried, *self.arguments)
        if isinstance(found, InputError):
            raise found
        return found
