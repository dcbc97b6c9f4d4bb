"""The frame of every page: the common parts, in one order, around the page's own cards.

    page.begin("Lab")
    view = page.look(estimand.see)
    page.cards(view, *estimand.cards)
    drawer.show(page.details(view))

Title, unknown or invalid settings of a link, strip and promise are above the cards. Numbers,
attackers, ledger, formula and code are details, in the drawer. A `View` defines their
content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.tasks import TASKS
from engine.core.types import Budget, PublicFacts, Sizes, Spend
from engine.figures.theme import Chart
from engine.language import error_words, numbers, odds_words, tags
from engine.language.grammar import capital
from engine.mechanisms import Mechanism
from engine.mechanisms.study import Study
from engine.privacy.failure import Delta
from engine.questions import Question, ask
from engine.sources import Source
from engine.sources.twin import Twin
from engine.topics.brief import Brief
from pages.shared import components
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, layout, strips
from pages.shared.frame.drawer import Detail
from pages.shared.state import run, session, settings, waiting
from pages.shared.uploads import panel


class View:
    """The content on screen, and its description in the frame.

    Attributes
    ----------
    charts : dict of str to Chart
        Those on screen by title, for the tables of their numbers.
    """

    page: ClassVar[str]
    # fold_prefix, chart_prefix: start of the keys of its folds, which links hold, and charts
    fold_prefix: ClassVar[str] = ""
    chart_prefix: ClassVar[str] = ""
    formula_label: ClassVar[str] = "Formula and source"
    # code_note, code_scope: text under the command line, and numbers of the page absent from code
    code_note: str = ""
    code_scope: ClassVar[str] = ""
    task: str = settings.TASK  # task of the data on screen; "" if they are never the visitor's own

    def __init__(self, chosen: settings.Settings | None = None) -> None:
        """Take the settings of a pin, or without them what is on screen."""
        self.is_on_screen = chosen is None
        self.settings = session.current() if chosen is None else chosen
        self.charts: dict[str, Chart] = {}

    def source_of(self, task: str) -> Source:
        """Return the data of a task: on screen the visitor's own, if they are shown."""
        return session.source(task) if self.is_on_screen else self.settings.studied(task)

    def twin_of(self, real: Source) -> Twin:
        """Return the twin of real data: on screen with sizes and spread as last chosen."""
        return session.twin_of(real) if self.is_on_screen else Twin.of(real.facts, real.sizes)

    def brief(self) -> Brief:
        """Return the facts by which a pin compares the view with others."""
        raise NotImplementedError

    @property
    def finding(self) -> str:
        """A heading that states what the view shows; "" where the page has a title of its own."""
        return ""

    @property
    def is_own(self) -> bool:
        """True for the visitor's own data, which only they may see."""
        return False

    def draw(
        self,
        title: str,
        chart: Chart,
        key: str,
        height: int,
        phone: int | None = None,
        picked: Callable[[float], None] | None = None,
        budgets: Sequence[Budget] = (),
        below: str = "",
    ) -> None:
        """Draw a chart, and keep it for the table of its numbers.

        Parameters
        ----------
        key : str
            Tells the charts of a page apart.
        height, phone : int
            In pixels, on a wide screen and on a phone.
        picked : callable, optional
            Hears the place along the horizontal axis that was clicked.
        budgets : sequence of Budget
            Of all releases in it, where they are more than those of `question`.
        below : str
            Small print under the chart, such as what its lines mean; "" for none.
        """
        self.charts[title] = chart
        layout.draw(
            chart, f"{self.chart_prefix}{key}", height, phone, picked, title, self.foot(budgets)
        )
        layout.small(below)

    def foot(self, budgets: Sequence[Budget] = ()) -> str:
        """Return the line below a saved picture; "" if none may leave the page.

        It is that of pictures which code and notebooks make of the same question. Charts of a
        visitor's own data show these data, and stay.
        """
        return "" if self.is_own else self.question().foot(budgets)

    # -- above the cards --

    def strip(self) -> None:
        """Show data, unit of protection, budget, odds and error in one line."""

    def promise(self) -> None:
        """Warn of faults in the promise of the strip."""

    # -- below the cards --

    def formula(self) -> None:
        """Show what is computed, and where it is proved."""
        raise NotImplementedError

    def question(self) -> Question:
        """Return the question behind the numbers on screen, for *Code for this view*."""
        raise NotImplementedError

    def code(self) -> None:
        """Show the fold *Code for this view*."""
        code_fold.show(self.page, self.question, self.task, self.code_note, self.code_scope)

    # -- beside the cards --

    def details(self) -> list[Detail]:
        """List the contents of the drawer; each opens at the keys of folds in earlier links."""
        return [
            Detail("numbers", "Numbers", self.tables),
            Detail("formula", self.formula_label, self.formula, (f"{self.fold_prefix}formula",)),
            Detail("code", "Code", self.code, (f"{self.page}_code",), is_fold=True),
        ]

    def tables(self) -> None:
        """Show the tables behind the charts."""
        for title, chart in self.charts.items():
            layout.in_words(title, chart, self.is_own)


class ReleaseView(View):
    """One release on screen: its strip, promise, odds, ledger and formula follow from its
    ledger.
    """

    # source, facts, sizes: the data on screen, their public facts, and their sizes
    source: Source
    facts: PublicFacts
    sizes: Sizes
    # mechanism, budget, spends: the method, the requested budget, and the spend of each step;
    # () if the method is refused
    mechanism: Mechanism
    budget: Budget
    spends: Sequence[Spend]
    tuning: Mapping[str, object] = {}  # the method's choices on this page, by name
    error_awaited: str = ""  # words for the strip in place of an error that is being simulated
    has_numbers_in_strip: ClassVar[bool] = True  # odds and error
    asks: ClassVar[Callable[..., Any]]  # the function of the engine that `question` asks

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    def brief_with(self, error: float, within: float, unit: str = "", **others: Any) -> Brief:
        """Write the brief of a release with its error.

        Unless `others` say otherwise, its preset names the method, and all sites have one budget.
        """
        usual = {
            "method": self.mechanism.nearest_preset()[0],
            "budgets": tags.budget_chip(self.budget),
        }
        return Brief(
            facts=self.facts,
            people=self.sizes.n_curves,
            protects=tags.unit_tag(self.facts, TASKS[self.task].unit)[0],
            budget=self.budget,
            spends=self.spends,
            error=error,
            within=within,
            error_unit=unit,
            **usual | others,
        )

    @property
    def study(self) -> Study[Any]:
        return Study(
            source=self.source,
            mechanism=self.mechanism,
            budgets=(self.budget,),
            seed=self.settings.seed,
        )

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The study as questions ask for it: source, mechanism, budget and seed."""
        return self.source, self.mechanism, self.budget, self.settings.seed

    def question(self) -> Question:
        return ask(type(self).asks, *self.arguments)

    @property
    def finding(self) -> str:
        brief = self.brief()
        if not self.spends or not brief.error_in_words:
            return ""
        if brief.cause_in_words:
            return brief.cause_in_words
        error = numbers.with_unit(numbers.number(brief.error), brief.error_unit)
        name = capital(error_words.distance(self.facts))
        return f"{name} {error} at {brief.budgets.partition(' · ')[0]}"

    # -- the strip --

    @property
    def highest_epsilon(self) -> float:
        """The largest ε of anybody, by which a budget is called weak."""
        return self.budget.epsilon

    @property
    def stated_delta(self) -> Delta | None:
        """δ, which is marked where it is large; None where no single δ is asked for."""
        return session.delta(self.source, self.task)

    @property
    def cautions(self) -> list[str]:
        """Cautions about this release, worst first; a page says one of them."""
        return [self.mechanism.unsuited_because(self.facts)]

    # -- what the frame draws --

    def budgeted(self, present: components.Budgeted) -> tuple[Sequence[components.Budgeted], int]:
        """Return the words of the strip at every step of a slider it follows, and the present step.

        `present` is all there is without such a slider.
        """
        return [present], 0

    def strip(self) -> None:
        odds = odds_words.odds_short(odds_card.of(self.spends)) if self.spends else ""
        brief = self.brief()
        present = components.Budgeted(
            brief.budgets,
            odds,
            self.error_awaited or brief.error_in_words,
            self.highest_epsilon >= odds_words.WEAK_FROM,
        )
        if not self.has_numbers_in_strip:
            present = replace(present, odds="", error="")
        strips.by_step(
            self.facts,
            *self.budgeted(present),
            f"{self.page}_strip",
            TASKS[self.task].unit,
            stated=self.stated_delta,
        )
        strips.ledger_lines(self.source)

    def promise(self) -> None:
        if self.spends:
            guarantee_cards.promise(self.spends, self.budget)
        layout.caution(self.cautions)

    def formula(self) -> None:
        guarantee_cards.formula(self.mechanism, self.tuning)

    def details(self) -> list[Detail]:
        if not self.spends:
            return super().details()
        return [
            Detail("attacker", "Attacker", self._attacker, ("why", "trade_off", "several")),
            Detail(
                "label",
                "Protected from whom",
                lambda: guarantee_cards.consequences(self.spends, self.facts, self.page),
                (f"{self.page}_label",),
                is_fold=True,
            ),
            Detail(
                "ledger",
                "Privacy ledger",
                lambda: guarantee_cards.ledger(self.spends, self.budget),
                (f"{self.fold_prefix}ledger",),
            ),
            *self._cautions(),
            *super().details(),
        ]

    def _cautions(self) -> list[Detail]:
        """List all cautions if there are several."""
        several = [*filter(None, self.cautions)]
        if len(several) < 2:
            return []
        listed = "\n".join(f"* {text}" for text in several)
        return [Detail("cautions", "Cautions", lambda: st.markdown(listed))]

    def _attacker(self) -> None:
        self.charts |= odds_card.card(self.facts, self.spends, self.sizes)

    def code(self) -> None:
        code_fold.show(
            self.page,
            lambda: self.question().about(odds_card.person(self.facts, self.sizes)),
            self.task,
        )


class AnsweredView(ReleaseView):
    """A release whose data, method and answer are those of its task."""

    answer: Any

    def __init__(self, chosen: settings.Settings | None = None) -> None:
        super().__init__(chosen)
        self.source = self.source_of(self.task)
        self.mechanism = self.settings.mechanism_of(self.task)
        self.budget = self.settings.budget_on(self.source, self.mechanism)
        self.answer = run.answer(type(self).asks, *self.arguments)
        self.facts, self.sizes = self.answer.facts, self.source.sizes
        self.spends, self.tuning = self.answer.spends, self.answer.tuning

    def brief(self) -> Brief:
        return self.brief_with(self.answer.error, self.answer.within, self.facts.value_unit)


V = TypeVar("V")
AnyView = TypeVar("AnyView", bound=View)
Card = Callable[[V], None]


def begin(title: str) -> None:
    """Show the title, the notice of a first look at a file, and invalid settings of a link.

    An empty title is that of a page which shows it by itself.
    """
    if title:
        st.title(title, anchor=False)
    waiting.place()
    if session.shows_own_data():
        panel.first_look(session.task_on_screen())
    layout.link_problems()


def look(see: Callable[[], AnyView | None], height: int = 430, data: str = "") -> AnyView | None:
    """Compute what is on screen; draw its strip and its promise.

    `see` returns the view, or None after showing why there is none. The result is None if there is
    no view; the reason is then on the page, whose controls stay usable.
    """
    view = compute(see, height, data)
    if view is not None:
        view.strip()
        with messages():
            view.promise()
    return view


def compute(make: Callable[[], V | None], height: int = 430, data: str = "") -> V | None:
    """Return a function's result; None, with the reason on the page, if it refuses.

    `height` is that of the first picture in pixels, gray until the page was drawn once; `data`
    names its data if no picture of others may stay meanwhile.
    """
    with layout.loading(height, data), controls.refusals(":material/block:"):
        return make()
    return None


def messages() -> DeltaGenerator:
    """Reserve one place for messages that come and go, so that what follows keeps its own."""
    return st.container()


def cards(view: V | None, *cards: Card[V] | tuple[Card[V], Card[V]]) -> None:
    """Draw cards one below the other, two of a pair side by side; none without a view.

    An error replaces only the card in which it occurs.
    """
    if view is None:
        return
    for card in cards:
        if isinstance(card, tuple):
            for slot, half in zip(st.columns([7, 3], gap="medium"), card, strict=True):
                with slot, layout.user_errors():
                    half(view)
        else:
            with layout.user_errors():
                card(view)


def details(view: View | None) -> list[Detail]:
    """List the drawer's details of a view; none without one."""
    return [] if view is None else view.details()
