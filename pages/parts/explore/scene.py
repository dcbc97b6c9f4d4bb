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
from engine.rates.floor import least_errors
from engine.simulation import scenario
from engine.simulation.experiments import Run
from engine.sources import Source
from engine.topics.brief import Brief, largest_part
from engine.topics.mean import live
from engine.topics.mean.answer import MeanAnswer, mean_answer
from pages.shared.cards import guarantees
from pages.shared.cards import odds as odds_card
from pages.shared.frame.page import ReleaseView
from pages.shared.state import run, session, settings
from pages.shared.state.settings import FRONT_PAGE, steps_of

Made = TypeVar("Made")


class Scene(ReleaseView):
    """One preview at the budget that the slider stands at."""

    page = "explore"
    asks = mean_answer

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

    def asked(self, function: Callable[..., Any], *more: Any) -> Any:
        """Ask the releases on screen, at every budget."""
        budgets, seed = self.answer.budgets, session.current().seed
        return run.answer(function, self.source, self.mechanism, budgets, seed, *more)

    def limit_of_band(self, step: int) -> str:
        """Name the assumption of the confidence band that releases do not show; empty if none."""
        if self.answer.band is None:
            return ""
        few = quality.few_functions(self.answer.band.n_functions[step])
        always = self.mechanism.limit_of_band(self.facts)
        return " ".join(filter(None, (few, always, self.answer.not_shown[step])))

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
