"""The state of Explore on screen: one preview at the budget of the slider."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from engine.core.types import Array
from engine.language import error_words, odds_words, quality
from engine.privacy import risk
from engine.questions import Question, ask
from engine.rates.floor import least_errors
from engine.simulation import scenario
from engine.simulation.experiments import Run
from engine.sources import Source
from engine.topics.brief import Brief, largest_part
from engine.topics.mean import live
from engine.topics.mean.answer import MeanAnswer, if_doubled, mean_answer
from pages.shared.cards import guarantees
from pages.shared.cards import odds as odds_card
from pages.shared.frame.page import ReleaseView
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session, settings
from pages.shared.state.settings import FRONT_PAGE, steps_of

Made = TypeVar("Made")
_QUICK_READINGS = 100_000  # up to here, doubled sizes are simulated without a request


class Scene(ReleaseView):
    """One preview at the budget that the slider stands at."""

    page = "explore"

    def __init__(
        self, preview: MeanAnswer, source: Source, chosen: settings.Settings | None = None
    ) -> None:
        super().__init__(chosen)
        self.answer, self.source, self.facts = preview, source, source.facts
        self.mechanism, self.sizes = self.settings.mechanism, preview.data.sizes
        self.epsilons = [budget.epsilon for budget in preview.budgets]
        self.rev = st.session_state.get("rev", 0)
        self.step = self.epsilons.index(self.settings.epsilon)
        self.budget = preview.budgets[self.step]
        self.spends, self.tuning = preview.spends[self.step], preview.tuning[self.step]

    def brief(self) -> Brief:
        study, step = self.answer.study, self.step
        return self.brief_with(
            float(self.error[step]),
            float(study.within[step]),
            self.facts.value_unit,
            largest_part=None
            if self.is_refused
            else largest_part(error_words.PARTS, study.shares[step]),
        )

    def made_once(self, name: str, make: Callable[[], Made]) -> Made:
        """Make a value shared by all steps of the slider once, and keep it beside the picture."""
        return run.made_once(self.answer, (name, session.current().group_size), make)

    def steps(self, make: Callable[[int], Made]) -> list[Made]:
        """Make one chart, text or number for every budget."""
        return [make(k) for k in range(len(self.epsilons))]

    @property
    def cautions(self) -> list[str]:
        few = quality.few_in_a_round(self.mechanism.fewest_in_a_round(self.sizes))
        stated = session.delta(self.source)
        is_large = session.current().delta is not None and odds_words.delta_tag(stated)
        large = odds_words.delta_stated(stated) if is_large else ""
        return [*super().cautions, large, few, *self.answer.warnings[self.step]]

    def question(self) -> Question:
        """Ask for the picture at the chosen budget."""
        return ask(mean_answer, *self.arguments)

    def limit_of_band(self, step: int) -> str:
        """Name the assumption of the confidence band that releases do not show; empty if none."""
        if self.answer.band is None:
            return ""
        always = self.mechanism.limit_of_band(self.facts)
        return f"{always} {self.answer.not_shown[step]}".strip()

    @property
    def start(self) -> live.Picked:
        """The state of the figure that the server knows."""
        return live.Picked(self.step, session.current().explore_view)

    @property
    def is_refused(self) -> bool:
        """True if nothing would be published at the chosen budget."""
        return self.answer.is_refused(self.step)

    @cached_property
    def plain(self) -> dict[str, object] | None:
        """The same run for the command line; None for the visitor's own curves."""
        if self.source.facts.is_upload:
            return None
        current = session.current()
        return scenario.to_plain(
            self.source, current.mechanism, (self.budget,), Run(seed=current.seed, is_study=True)
        )

    @cached_property
    def error(self) -> Array:
        """The error at every budget; NaN where nothing is published."""
        return self.where_published(self.answer.study.error)

    def where_published(self, values: Array) -> Array:
        return np.where(self.answer.published, values, np.nan)

    @property
    def private_shares(self) -> Array:
        """Share of privacy noise in the squared error at every budget; none of unknown truths."""
        if not self.source.is_random:
            return np.empty(0)
        return self.where_published(self.answer.study.shares[:, 0])

    @property
    def odds(self) -> list[risk.Odds]:
        return self.made_once("odds", lambda: [odds_card.of(s) for s in self.answer.spends])

    @cached_property
    def floor(self) -> Array:
        """The lower bound of unbiased methods with Gaussian noise, at each budget; NaN: unknown."""
        floor = (
            run.answer(least_errors, self.source, tuple((b,) for b in self.answer.budgets))
            if self.facts.is_simulated
            else None
        )
        return np.full(len(self.epsilons), math.nan) if floor is None else floor.errors

    @property
    def _doubling(self) -> tuple[Any, ...] | None:
        """The simulation with doubled sizes; None if it would take too long."""
        source, current = self.source, session.current()
        if not self.facts.is_simulated or source.sizes.n_observations > _QUICK_READINGS:
            return None
        return source, current.mechanism, self.answer.budgets, current.seed

    @property
    def knows_changes(self) -> bool:
        """True if `changes` are ready."""
        return (
            self._doubling is None or not uses_workers() or run.knows(if_doubled, *self._doubling)
        )

    @cached_property
    def changes(self) -> dict[str, Array]:
        """The effect of doubling each size at every budget; empty unless simulated."""
        return {} if self._doubling is None else run.answer(if_doubled, *self._doubling)

    def what_limits(self, k: int) -> str:
        """Say what limits the error at a step of the slider: the sentence of every page."""
        if self.answer.is_refused(k):
            return "Nothing would be published at this ε."
        return error_words.what_limits(self.answer.study.shares[k])

    def if_doubled(self, k: int) -> str:
        """Say what doubling gains at a step; empty if not simulated, or nothing is published."""
        here = self.changes_at(k)
        if not here:
            return ""
        return "If you doubled…  \n" + "  \n".join(error_words.if_doubled(self.facts, here))

    def changes_at(self, k: int) -> dict[str, float]:
        """Return relative changes of the error at a step when a size is doubled; empty as above."""
        if self.answer.is_refused(k) or not self.changes:
            return {}
        here = {size: float(relative[k]) for size, relative in self.changes.items()}
        doubled = self.answer.error_at(2 * self.epsilons[k])
        if doubled is not None:  # the error that stands beside the chart of budgets
            here["epsilon"] = doubled / float(self.error[k]) - 1
        return here

    @property
    def at_budgets(self) -> list[live.AtBudget]:
        """The texts at every budget."""
        return live.at_budgets(self.facts, self.answer, self.odds)


def first_figure() -> dict[str, Any]:
    """Return the message of the figure on anybody's first visit."""
    front, answer = FRONT_PAGE, run.front_picture()
    facts, step = front.source.facts, steps_of(front.epsilon).index(front.epsilon)
    odds = [risk.of_ledger(spends, front.group_size) for spends in answer.spends]
    payload = live.figure_payload(facts, answer, live.at_budgets(facts, answer, odds))
    return live.figure_message(
        payload,
        live.Picked(step, front.explore_view),
        rev=1,
        new_noise=facts.is_simulated,
        on_page=True,
        with_truth="truth" in front.further_lines,
        anchors=guarantees.anchors(front.epsilon_limit),
    )
