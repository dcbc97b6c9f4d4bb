"""The rate on screen, and where the present scenario is on it."""

from __future__ import annotations

from functools import cached_property

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION, TASKS, VARYING_COEFFICIENTS
from engine.core.types import Budget, PublicFacts
from engine.language import odds_words, tags
from engine.privacy import risk
from engine.questions import Question, ask
from engine.rates import Rate, rates
from engine.rates.differing_sites import DifferingSitesRate
from engine.rates.fitted import Weighted
from engine.sources import sources
from engine.topics.rates.answer import PRESETS
from engine.topics.rates.check import terms
from pages.parts.explore.scene import Scene
from pages.parts.rates import practice as practice_cards
from pages.shared.frame import strips
from pages.shared.frame.page import View
from pages.shared.state import run, session, settings
from pages.shared.state.lab_tasks import LAB_TASKS

# Problems whose scenario gives a rate its sizes; others have default sizes.
_WITH_SCENARIO = (MEAN_FUNCTION.key, VARYING_COEFFICIENTS.key)


class RateAtPoint(View):
    """The chosen rate at the sizes of the present scenario, or of a paper's figure or table."""

    page, fold_prefix = "rates", "rate_"

    def __init__(self) -> None:
        super().__init__()
        self.rate = rate_on_screen(self.settings) or self.settings.rate
        self.problem = (
            self.settings.estimated
            if self.settings.estimated in self.rate.tasks
            else settings.TASK
            if self.serves_curves
            else min(self.rate.tasks)
        )
        self.source = session.source(self.problem if self.has_scenario else settings.TASK)
        if self.has_scenario and not self.settings.rate_preset:
            self.rate = self.rate.of_scenario(self.source)
        names = [s.name for s in self.rate.symbols if s.name != "delta"]
        self.along = self.settings.rate_axis if self.settings.rate_axis in names else "epsilon"
        others = [name for name in names if name != self.along]
        second = self.settings.rate_second_axis
        self.across = second if second in others else others[0]

    @property
    def serves_curves(self) -> bool:
        """True if the rate is about the average curve on Explore."""
        return settings.TASK in self.rate.tasks

    @property
    def has_scenario(self) -> bool:
        """True if a page of this problem has people, observations and sites to take over.

        A single site gives no sizes to a rate for sites that differ.
        """
        if self.problem not in _WITH_SCENARIO:
            return False
        sites = session.source(self.problem).sizes.n_servers
        return not self.rate.has_differing_sites or sites > 1

    @cached_property
    def point(self) -> dict[str, float]:
        """All symbols: the scenario's sizes where there is one, else usual ones."""
        sizes, default = self.source.sizes, {s.name: float(s.default) for s in self.rate.symbols}
        here = {"epsilon": self.settings.epsilon, "delta": self.delta}
        if self.has_scenario:
            people = sizes.n_curves_per_server
            differ = self.rate.has_differing_sites
            here |= {
                "n": sum(people) / len(people) if differ else float(min(people)),
                "S": float(sizes.n_servers),
                "m": float(sizes.n_observations_per_curve),
                "d": float(sizes.n_covariates),
            }
        if self.settings.rate_preset:
            here |= PRESETS[self.settings.rate_preset].point
        return default | {name: value for name, value in here.items() if name in default}

    @property
    def people_on_sites(self) -> tuple[int, ...]:
        """People on each site of the scenario, where the rate looks at sites one by one."""
        stated = rate_on_screen(self.settings) or self.settings.rate
        is_own = (
            isinstance(stated, DifferingSitesRate)
            and self.has_scenario
            and not self.settings.rate_preset
            and not stated.has_own_ratios
        )
        return self.source.sizes.n_curves_per_server if is_own else ()

    @property
    def delta(self) -> float:
        """The δ of the scenario's method."""
        task = self.problem if self.has_scenario else settings.TASK
        return session.delta(self.source, task).value

    @cached_property
    def weighted(self) -> Weighted:
        """Constants as chosen: all one, or so that privacy has its measured share here."""
        share = self.measured_share
        if self.rate.has_constants or self.settings.rate_constants == "one" or share is None:
            return Weighted.plain(self.rate)
        return Weighted.with_privacy_share(self.rate, share, **self.point)

    @cached_property
    def measured_share(self) -> float | None:
        """The share of privacy noise in the error that Explore shows; None where there is none.

        A rate for sites that differ names the term that limits each site, of which none is a share.
        """
        scene = self.scene
        return (
            None
            if scene is None or scene.is_refused or self.rate.has_differing_sites
            else float(scene.answer.study.shares[scene.step, 0])
        )

    @cached_property
    def scene(self) -> Scene | None:
        """The scene of Explore if the rate is about it."""
        is_about = self.serves_curves and self.has_scenario and not self.settings.rate_preset
        if not is_about or not self.source.is_random:
            return None
        try:
            preview = run.mean_at_every_step(
                self.source,
                self.settings.mechanism,
                session.delta(self.source).value,
                self.settings.seed,
                session.steps(self.settings.epsilon),
            )
        except InputError:
            return None
        return Scene(preview, self.source, self.settings)

    @property
    def facts(self) -> PublicFacts:
        """The facts of the simulated data that the rate is about."""
        if self.has_scenario:
            return self.source.facts
        practice, key = self.rate.in_practice(), TASKS[self.problem].source
        return practice[0].facts if practice else sources.get(key)().facts

    @property
    def has_shares(self) -> bool:
        """True if shares of the terms can be stated: not for data whose constants nothing fits."""
        return bool(
            self.rate.has_constants
            or not self.has_scenario
            or self.settings.rate_preset
            or self.measured_share is not None
        )

    @property
    def mark(self) -> str:
        """The meaning of the mark in the map."""
        return "◇ you are here." if self.has_scenario else "◇ the sizes above."

    @property
    def own_sizes(self) -> str:
        """The sizes if no figure or table is chosen."""
        return "Your scenario" if self.has_scenario else "Default sizes of this problem"

    def symbol(self, name: str) -> str:
        symbol = next(s for s in self.rate.symbols if s.name == name)
        return f"{symbol.label} ({symbol.written})"

    def strip(self) -> None:
        """Show the facts of Explore, with the budget of the present point.

        Measurements of Explore appear, too, if the rate is about its problem.
        """
        budget = Budget(self.point.get("epsilon", 1.0), self.point.get("delta", 0.0))
        scene, error = self.scene, ""
        if scene is not None:
            odds = odds_words.odds_short(scene.odds[scene.step])
            error = scene.brief().error_in_words
        else:
            odds = self._odds(budget)
        strips.fixed(
            self.facts,
            tags.budget_chip(budget),
            "rates_strip",
            odds,
            error,
            TASKS[self.problem].unit,
            budget.epsilon,
            self.serves_curves and not self.settings.rate_preset,
            None if scene is None else scene.stated_delta,
        )

    def _odds(self, budget: Budget) -> str:
        """Return the odds of this problem's method; of the budget alone if it has none."""
        if self.settings.rate_preset or self.problem not in LAB_TASKS:
            return odds_words.odds_alone(risk.odds(None, budget))
        source = session.source(self.problem)
        return strips.by_method(
            self.settings.mechanism_of(self.problem),
            source,
            Budget(budget.epsilon, session.delta(source, self.problem).value),
        )

    def formula(self) -> None:
        """Show the terms, their names, and where they are proved."""
        st.markdown(f"{self.rate.label}: {self.rate.reference}.")
        for term in self.rate.terms:
            st.markdown(f"**{term.name}**")
            st.latex(term.formula)
        for boundary in self.rate.boundaries:
            first, second = (name.lower() for name in boundary.between)
            st.markdown(f"{boundary.key}: between *{first}* and *{second}*")
            st.latex(boundary.formula)

    def question(self) -> Question:
        """Ask for the rate at the present point, with measured slopes and limits."""
        is_fitted = self.settings.rate_constants == "fitted" and not self.rate.has_constants
        share = self.measured_share if is_fitted else None
        measured = practice_cards.request_of(self)
        if measured is None:
            return ask(terms, self.rate, self.point, share, self.along)
        return ask(
            terms,
            self.rate,
            self.point,
            share,
            self.along,
            measured.settings,
            measured.values,
            measured.limits,
            measured.seed,
        )


def rate_on_screen(current: settings.Settings) -> Rate | None:
    """Return the chosen rate, or else the first about the estimand, if any."""
    if current.rate != settings.FRONT_PAGE.rate or current.rate_preset:
        return current.rate
    members = rates.for_task(current.estimated)
    return members[0]() if members else None
