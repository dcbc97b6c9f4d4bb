"""A release whose picture follows the slider of ε in the browser, as on Explore.

The picture of the present budget is drawn first. Those of all steps are computed once the page
stands and its visitor stays; from then on the browser has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from engine.core.types import Budget, Spend
from engine.figures import labels
from engine.figures.theme import Chart
from engine.language import odds_words, tags
from pages.shared import components
from pages.shared.cards import odds as odds_card
from pages.shared.frame import timed
from pages.shared.frame.page import ReleaseView
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session

_NOTHING = "Nothing would be published at this ε."


class LiveView(ReleaseView):
    """One release on screen, and those of the other steps as soon as they are known."""

    answer: Any
    # answers without errors, one for each step of the slider; () until they are computed
    pictures: Sequence[Any] = ()
    _compute: tuple[Any, ...]
    _later: tuple[Any, ...] = ()

    def follow(self, function: Callable[..., Sequence[Any]], *arguments: Any) -> None:
        """Take over the pictures of all steps on screen if they are known.

        `function` is called with the arguments and the ε of all steps.
        """
        if not self.is_on_screen:
            return
        self._compute = function, *arguments, session.steps(self.settings.epsilon)
        if run.knows(*self._compute):
            self.pictures = run.answer(*self._compute)

    def later(self, *call: Any) -> Any:
        """Return a slow answer, or the present picture without errors until it is known.

        `call` is a function of the engine with its arguments.
        """
        if not self.is_on_screen or run.knows(*call) or not uses_workers():
            return run.answer(*call)
        self._later = call
        if self.pictures:
            return self.pictures[self.step]
        present: tuple[Any, ...] = (*self._compute[:-1], (self.settings.epsilon,))
        return run.answer(*present)[0]

    def complete(self) -> None:
        """Compute the pictures of all steps, and what takes long, when the page stands."""
        calls = [call for call in (self._compute, self._later) if call and not run.knows(*call)]
        if calls:
            words = (
                "Errors are being simulated."
                if self.pictures
                else ("Other budgets are being computed; then the picture follows the slider.")
            )
            timed.afterwards(words, lambda: run.answer(*calls[0]))

    def awaited(self, words: str, *call: Any) -> Any:
        """Return an answer that its card can wait for: None, and words, until it is computed.

        It is computed once the page stands, after the pictures of all steps. `call` is a function
        of the engine and its arguments.
        """
        if run.knows(*call) or not uses_workers():
            return run.answer(*call)
        if self.pictures:
            timed.afterwards(words, lambda: run.answer(*call))
        else:
            st.markdown(f":small[{words}]")
        return None

    @property
    def step(self) -> int:
        """The step of the slider at which the page stands."""
        return session.steps(self.settings.epsilon).index(self.settings.epsilon)

    def budgeted(self, present: components.Budgeted) -> tuple[Sequence[components.Budgeted], int]:
        if not self.pictures:
            return super().budgeted(present)
        # errors of other budgets are not simulated before the slider comes to rest there
        error = f"{present.error} at ε = {self.settings.epsilon:g}" if present.error else ""
        words = [
            self._words(picture.budget, picture.spends, picture.is_refused, error)
            for picture in self.pictures
        ]
        words[self.step] = present
        return words, self.step

    def _words(
        self, budget: Budget, spends: Sequence[Spend], refused: bool, error: str
    ) -> components.Budgeted:
        odds = "" if refused else odds_words.odds_short(odds_card.of(spends))
        return components.Budgeted(
            tags.budget_chip(budget),
            odds,
            "" if refused else error,
            weak=budget.epsilon >= odds_words.WEAK_FROM,
        )

    def draw_steps(
        self,
        title: str,
        key: str,
        height: int,
        phone: int,
        look: object,
        make: Callable[[Any], Chart],
    ) -> None:
        """Draw a chart that follows the slider; `make` draws an answer.

        The chart hangs on `look` beside the answer; `key` tells the charts of a page apart.
        """
        if not self.pictures:
            if not self.answer.is_refused:
                self.draw(title, make(self.answer), key, height, phone)
            return

        def drawn() -> tuple[list[str], list[str]]:
            charts = [None if each.is_refused else make(each) for each in self.pictures]
            return (
                ["" if chart is None else components.as_json(chart.spec) for chart in charts],
                [_NOTHING if chart is None else chart.alt for chart in charts],
            )

        if not self.answer.is_refused:
            self.charts[title] = make(self.answer)
        figures, alts = run.made_once(self.pictures[0], (key, look), drawn)
        foot = self.foot()
        components.chart_by_step(
            figures,
            alts,
            f"chart_{self.chart_prefix}{key}",
            height,
            st.session_state.get("rev", 0),
            phone,
            labels.leaving(title, foot) if foot else None,
        )

    def say_steps(self, key: str, make: Callable[[Any], list[components.Said]]) -> None:
        """Say what follows the slider; at budgets that are refused that nothing is published."""
        pictures = self.pictures or (self.answer,)
        lines = [
            [components.Said(_NOTHING, "warning")] if each.is_refused else make(each)
            for each in pictures
        ]
        components.said(lines, f"said_{self.page}_{key}", st.session_state.get("rev", 0))
