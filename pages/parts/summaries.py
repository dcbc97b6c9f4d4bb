"""The parts of the page on whole functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from engine.errors import InputError
from engine.families.functional_release import FunctionalRelease
from engine.language import chances, numbers, tags
from engine.mechanisms import Mechanism
from engine.questions import ask
from engine.summaries.risk import loss_of
from engine.tasks import (
    COVARIANCE,
    DENSITY,
    FUNCTIONAL_SUMMARY,
    RISK_MINIMISATION,
    SUMMARIES,
    TASKS,
)
from engine.theme import Chart
from engine.topics.summaries import answer as summaries_topic
from engine.topics.summaries import charts as figures
from engine.topics.summaries import feasible_smoothness, words
from engine.topics.summaries.answer import SummariesAnswer, Way
from engine.types import Array, Budget
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, layout, odometer, strips
from pages.shared.state import run, session
from pages.shared.uploads import panel

_IN_A_ROW = 3
_TRUTH, _WITHOUT = "The truth", "Without protection"


class View:
    """The function on screen in all ways, and the charts that are drawn."""

    def __init__(self, shown: SummariesAnswer) -> None:
        self.shown, self.now, self.task = shown, session.current(), task()
        self.source, self.facts = session.source(self.task), shown.facts
        self.mechanism, self.chosen = self.now.mechanism_of(self.task), shown.ways[0]
        self.own = self.facts.is_upload
        self.charts: dict[str, Chart] = {}

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        layout.draw(chart, f"summaries_{key}", height, phone)

    def panel(self, way: Way, k: int) -> Chart:
        """Function k in one way; thousands of numbers, so made once."""
        return run.made_once(self.shown, ("panel", way.label, k, layout.theme()), lambda:
                             figures.panel(self.shown, way, k, layout.theme()))

    def surface(self, title: str, values: Array) -> Chart:
        """A function of two numbers; so is this."""
        return run.made_once(self.shown, ("surface", title, layout.theme()), lambda:
                             figures.surface(self.shown, values, title, layout.theme()))


def task() -> str:
    """The summary that is shown."""
    return session.current().summary


def look() -> View | None:
    """What is on screen; None with the reason where it cannot be had."""
    now, source = session.current(), session.source(task())
    try:
        budget = Budget(now.epsilon, session.chosen_delta(source))
        return View(run.answer(summaries_topic.summaries_answer, source, now.mechanism_of(task()),
                               task(), budget, now.seed))
    except InputError as problem:  # the controls below stay usable
        st.error(controls.message(problem), icon=":material/block:")
        return None


def strip(view: View) -> None:
    odds = odds_card.of(view.chosen.spends) if view.chosen.spends else None
    error = numbers.error(view.chosen.error, words.unit_of(view.shown), view.chosen.within)
    strips.fixed(view.facts, tags.budget_chip(view.chosen.budget), "summaries_strip",
                 "" if odds is None else chances.odds_short(odds), error,
                 TASKS[view.task].unit, view.chosen.budget.epsilon,
                 stated=session.stated_delta(view.source, view.task))
    odometer.line(view.source)


# -- controls -------------------------------------------------------------------------------


def choices() -> None:
    """What is summarised, of which records, and the way that is looked at closely."""
    now = session.current()
    controls.bound(st.segmented_control, "What to publish", now.summary,
                   lambda key: session.change(summary=key or now.summary), "summary",
                   options=SUMMARIES,
                   format_func=lambda key: TASKS[key].result)
    st.markdown(TASKS[now.summary].meaning)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.source_choice(task())
        controls.mechanism_choice(task())
        panel.button(task())


def budget() -> None:
    controls.epsilon_slider("summaries_epsilon", "Lower ε: everybody is better protected and the "
                            "function is noisier. Higher ε: the opposite.")


def split() -> None:
    """How the budget is divided, for summaries that are released in two steps."""
    mechanism = session.current().mechanism_of(task())
    if not isinstance(mechanism, FunctionalRelease) or not mechanism.first_step:
        return
    controls.bound(st.slider, f"Share of ε for {mechanism.first_step}", mechanism.share,
                   lambda share: session.change_mechanism(task(), replace(mechanism, share=share)),
                   "summaries_share", min_value=0.05, max_value=0.95, step=0.05,
                   help="Both steps use the same people, so their costs add up to ε.")


def own() -> None:
    """The visitor's own curves or records: the panel, and what was moved into stated ranges."""
    panel.draw("Show the protected functions", task())


# -- what is shown --------------------------------------------------------------------------


def promises(view: View) -> None:
    """What is wrong with a promise, or with putting them side by side."""
    if view.chosen.spends:
        guarantee_cards.promise(view.chosen.spends, view.chosen.budget)
    if view.chosen.refusal:
        st.error(view.chosen.refusal, icon=":material/block:")
    mixed = words.not_comparable(view.shown.ways)
    if mixed:
        st.info(mixed, icon=":material/info:")
    if view.task == RISK_MINIMISATION.key and isinstance(view.mechanism, FunctionalRelease):
        aim = words.aim(loss_of(view.mechanism, view.facts), view.facts.two_classes)
        if aim:
            st.info(aim, icon=":material/info:")
    if not feasible_smoothness.is_feasible(view.mechanism, _dimension(view)):
        st.warning("**Only the grid makes this release possible.** The summary is less smooth than "
                   "the noise needs; see *What finer grids would change*.",
                   icon=":material/warning:")
    caution = view.mechanism.caution(view.facts)
    if caution:
        st.warning(caution, icon=":material/warning:")


def ways(view: View) -> None:
    """Small multiples: every way on the same records, budget and axes."""
    k = _function(view)
    if view.shown.is_surface:
        _surfaces(view)
        return
    said = words.off(view.shown.ways)
    for row in _rows(list(view.shown.ways)):
        for column, way in zip(st.columns(_IN_A_ROW, gap="medium"), row, strict=False):
            with column:
                st.subheader(way.label, anchor=False)
                st.markdown(_caption(way, said))
                if way.releases is not None:
                    view.draw(way.label, view.panel(way, k), f"way_{way.label}", 250, 220)
    solid = " Solid: the truth." if view.shown.truth is not None else ""
    st.markdown(":small[Each coloured line: one of 20 equally likely releases. Dashed: without "
                f"protection.{solid}]")


def _function(view: View) -> int:
    """Which of several functions is shown."""
    names = view.shown.names
    if len(names) == 1:
        return 0
    return names.index(controls.look("Function", names, "summaries_function"))


def _surfaces(view: View) -> None:
    """The truth or the estimate without protection, then one release of each way."""
    said = words.off(view.shown.ways)
    pictures = _references(view.shown) + [
        (way.label, _caption(way, said), None if way.releases is None else way.releases[0, 0])
        for way in view.shown.ways]
    for row in _rows(pictures):
        for column, (title, caption, values) in zip(st.columns(_IN_A_ROW, gap="medium"), row,
                                                    strict=False):
            with column:
                st.subheader(title, anchor=False)
                st.markdown(caption)
                if values is not None:
                    view.draw(title, view.surface(title, values), f"surface_{title}", 280, 260)
    st.markdown(":small[One release of each way; all pictures share their colours.]")


def _references(shown: SummariesAnswer) -> list[tuple[str, str, Array | None]]:
    """What releases are compared with, which nobody may see of real records."""
    without = (_WITHOUT, ":small[Not private]", shown.without[0])
    if shown.truth is None:
        return [without]
    return [(_TRUTH, ":small[Known because the records are simulated]", shown.truth[0]), without]


def _caption(way: Way, said: Mapping[str, str]) -> str:
    """The promise of a way and how far off it is, as said of all; or why it is refused."""
    return way.refusal or f":small[{words.guarantee(way)} · typically {said[way.label]} off]"


def _rows(items: list) -> list[list]:
    return [items[k:k + _IN_A_ROW] for k in range(0, len(items), _IN_A_ROW)]


def accuracy(view: View) -> None:
    """How far off every way is, and why."""
    st.header("How far off each way is", anchor=False)
    known = [way for way in view.shown.ways if way.errors is not None]
    if not known:
        return
    height = 80 + 42 * len(known)
    view.draw("Errors", figures.errors(view.shown, layout.theme()), "errors", height)
    dashed = " Dashed: without protection." if view.shown.baseline else ""
    st.markdown(f":small[Line: 8 in 10 releases.{dashed}]")
    st.markdown(words.compared(view.shown))
    view.draw("Parts of the error", figures.split(view.shown, layout.theme()), "split", height + 30)
    st.markdown(words.largest(view.chosen))
    st.markdown(words.shortened(view.shown))


def odds(view: View) -> None:
    if view.chosen.spends:
        view.charts |= odds_card.card(view.facts, view.chosen.spends, view.source.sizes)


def components(view: View) -> None:
    """The directions in which curves vary most, from the released covariance alone."""
    if view.task != COVARIANCE.key or view.chosen.releases is None:
        return
    found = summaries_topic.components(view.shown, view.source, view.now.seed)
    if found is None:
        return
    st.header("Principal components from what is released", anchor=False)
    for k, column in enumerate(st.columns(2, gap="medium")):
        with column:
            view.draw(f"Component {k + 1}", figures.component(found, k, layout.theme()),
                      f"component_{k}", 240, 220)
            st.markdown(f":small[{words.components(found, k)}]")
    st.markdown(words.removed(found))


def noise(view: View) -> None:
    """Why one shape of noise is better than another, for the chosen way."""
    mechanism = view.mechanism
    if view.chosen.refusal:
        return
    found = summaries_topic.spectrum(mechanism, view.source, view.chosen.budget)
    if found is None:
        return
    st.header("Where the noise goes", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Noise by coefficient", figures.spectrum(found, layout.theme()), "spectrum", 340,
                  340)
        st.markdown(":small[Published: the bound as printed. Optimal: the least noise in total. "
                    "Switch under *More options*.]")
    with right:
        st.markdown(words.spectrum(found))
        if printed := words.printed(mechanism, view.chosen.budget):
            st.markdown(f":small[{printed}]")
            if view.task == DENSITY.key and isinstance(mechanism, feasible_smoothness.Release):
                st.markdown(words.printed_density(feasible_smoothness.printed_density(
                    mechanism, view.shown.n, _dimension(view)), view.chosen.budget))
    _closer(view, mechanism)


def _closer(view: View, mechanism: Mechanism) -> None:
    """Folds about what makes the noise as large as it is."""
    if feasible_smoothness.has_least_power(mechanism):
        with layout.fold("What finer grids would change", "summaries_grid") as is_open:
            if is_open:
                _by_grid(view, mechanism)
    if view.task == FUNCTIONAL_SUMMARY.key:
        with layout.fold("The exchange of curves that shows most", "summaries_worst") as is_open:
            if is_open:
                _worst(view, mechanism)


def _dimension(view: View) -> int:
    return 2 if view.task == DENSITY.key and view.shown.is_surface else 1


def _by_grid(view: View, mechanism: feasible_smoothness.Release) -> None:
    """The sensitivity for finer grids, and a warning where it has no end."""
    found = run.answer(feasible_smoothness.sensitivity_by_grid, mechanism, view.shown.n,
                       _dimension(view))
    view.draw("Sensitivity by grid", figures.by_grid(found, layout.theme()), "by_grid", 300)
    (st.markdown if found.is_finite else st.warning)(words.by_grid(found))


def _worst(view: View, mechanism: Mechanism) -> None:
    found = summaries_topic.worst_pair(mechanism, view.source, view.chosen.budget)
    if found is None:
        st.markdown("Drawn for means of curves with a linear filter and Laplace noise.")
        return
    view.draw("The worst pair", figures.worst(found, view.facts, layout.theme()), "worst", 280)
    st.markdown(words.worst(found, view.chosen.budget))


def consequences(view: View) -> None:
    if view.chosen.spends:
        guarantee_cards.consequences(view.chosen.spends, view.facts, "summaries")


def ledger(view: View) -> None:
    if view.chosen.spends:
        guarantee_cards.ledger(view.chosen.spends, view.chosen.budget)


def formula(view: View) -> None:
    guarantee_cards.formula(view.mechanism, {})


def code(view: View) -> None:
    budget = Budget(view.now.epsilon, session.chosen_delta(view.source))
    code_fold.show("summaries", lambda: ask(
        summaries_topic.summaries_answer, view.source, view.mechanism, view.task, budget,
        view.now.seed).about(odds_card.person(view.facts, view.source.sizes)), view.task)
