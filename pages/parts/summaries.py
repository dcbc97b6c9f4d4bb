"""The parts of the page on whole functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from engine.core import tasks
from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.core.types import Array, Budget
from engine.figures.theme import Chart
from engine.language import glossary
from engine.mechanisms import Mechanism
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.summaries.risk import loss_of
from engine.questions import Question, ask
from engine.topics.brief import Brief, largest_part
from engine.topics.components.words import FOR_COMPONENTS
from engine.topics.summaries import answer as summaries_topic
from engine.topics.summaries import charts, feasible_smoothness, words
from engine.topics.summaries.answer import MethodResult, SummariesAnswer
from pages.shared.frame import controls, layout
from pages.shared.frame.drawer import Detail
from pages.shared.frame.page import ReleaseView
from pages.shared.state import run, session
from pages.shared.state.settings import Settings

_IN_A_ROW = 3
_TRUTH, _WITHOUT = "True function", "Non-private"


class Summary(ReleaseView):
    """The function on screen by all methods; strip and ledger are those of the chosen one."""

    page, fold_prefix, chart_prefix = "summaries", "summaries_", "summaries_"

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.task = self.settings.summary_task
        self.source = self.source_of(self.task)
        self.mechanism = self.settings.mechanism_of(self.task)
        budget = self.settings.budget_on(self.source)
        self.asked = self.source, self.mechanism, self.task, budget, self.settings.seed
        self.answer: SummariesAnswer = run.answer(summaries_topic.summaries_answer, *self.asked)
        self.chosen, self.facts = self.answer.results[0], self.answer.facts
        self.budget, self.spends = self.chosen.budget, self.chosen.spends
        self.sizes = self.source.sizes

    def brief(self) -> Brief:
        chosen = self.chosen
        if not self.is_on_screen and chosen.refusal:
            raise InputError(chosen.refusal)
        return self.brief_with(
            chosen.error,
            chosen.within,
            words.unit_of(self.answer),
            method=f"{chosen.label}: {TASKS[self.task].result}",
            largest_part=largest_part(words.PARTS, chosen.parts),
        )

    @property
    def cautions(self) -> list[str]:
        return [of_the_grid(self.mechanism, self.dimension), *super().cautions]

    def promise(self) -> None:
        super().promise()
        if self.chosen.refusal:
            st.error(self.chosen.refusal, icon=":material/block:")
        layout.note(words.not_comparable(self.answer.results))
        is_of_risk = self.task == tasks.RISK_MINIMISATION.key
        if is_of_risk and isinstance(self.mechanism, FunctionalRelease):
            layout.note(words.aim(loss_of(self.mechanism, self.facts), self.facts.two_classes))

    def question(self) -> Question:
        return ask(summaries_topic.summaries_answer, *self.asked)

    def details(self) -> list[Detail]:
        return [*finer_grids(self, self.dimension), *super().details()]

    @property
    def dimension(self) -> int:
        """The number of arguments of the summary."""
        return 2 if self.task == tasks.DENSITY.key and self.answer.is_surface else 1

    def panel(self, result: MethodResult, k: int) -> Chart:
        """Draw function k by one method once: it holds thousands of numbers."""
        return run.made_once(
            self.answer, ("panel", result.label, k), lambda: charts.panel(self.answer, result, k)
        )

    def surface(self, title: str, values: Array) -> Chart:
        """Draw a function of two numbers, as this summary is."""
        return run.made_once(
            self.answer, ("surface", title), lambda: charts.surface(self.answer, values, title)
        )


def task() -> str:
    """Return the task of the summary on screen."""
    return session.current().summary_task


# -- controls -------------------------------------------------------------------------------


def choices() -> None:
    """Choose the summary, its records, and the method to examine."""
    current = session.current()
    controls.bound(
        st.selectbox,
        "What to publish",
        current.summary_task,
        lambda key: session.change(summary_task=key),
        "summary",
        options=tasks.SUMMARIES,
        format_func=lambda key: TASKS[key].result,
        help=TASKS[current.summary_task].meaning,
    )
    controls.source_choice(task())
    controls.mechanism_choice(task())


def budget() -> None:
    """Ask for ε, and its division by summaries released in two steps."""
    controls.epsilon_slider(
        "summaries_epsilon",
        "Lower ε: everybody is better protected and the "
        "function is noisier. Higher ε: the opposite.",
    )
    mechanism = session.current().mechanism_of(task())
    if isinstance(mechanism, FunctionalRelease) and mechanism.first_step:
        controls.bound(
            st.slider,
            f"Share of ε for {mechanism.first_step}",
            mechanism.share,
            lambda share: session.change_mechanism(task(), replace(mechanism, share=share)),
            "summaries_share",
            min_value=0.05,
            max_value=0.95,
            step=0.05,
            help="Both steps use the same people, so their costs add up to ε.",
        )


# -- what is shown --------------------------------------------------------------------------


def methods_side_by_side(view: Summary) -> None:
    """Draw small multiples: every method on the same records, budget and axes."""
    k = _function(view)
    if view.answer.is_surface:
        _surfaces(view)
        return
    errors_in_words = words.off(view.answer.results)
    for row in _rows(list(view.answer.results)):
        for column, result in zip(st.columns(_IN_A_ROW, gap="medium"), row, strict=False):
            with column:
                st.subheader(result.label, anchor=False)
                st.markdown(_caption(result, errors_in_words))
                if result.releases is not None:
                    view.draw(result.label, view.panel(result, k), f"way_{result.label}", 250, 220)
    solid = " Solid: the true function." if view.answer.truth is not None else ""
    st.markdown(
        ":small[Each coloured line: one of 20 equally likely releases. Dashed: without "
        f"privacy.{solid}]"
    )


def _function(view: Summary) -> int:
    """Choose one of several functions."""
    names = view.answer.names
    if len(names) == 1:
        return 0
    return names.index(controls.look("Function", names, "summaries_function"))


def _surfaces(view: Summary) -> None:
    """Draw the truth or the estimate without privacy, then one release of each method."""
    errors_in_words = words.off(view.answer.results)
    pictures = _references(view.answer) + [
        (
            result.label,
            _caption(result, errors_in_words),
            None if result.releases is None else result.releases[0, 0],
        )
        for result in view.answer.results
    ]
    for row in _rows(pictures):
        for column, (title, caption, values) in zip(
            st.columns(_IN_A_ROW, gap="medium"), row, strict=False
        ):
            with column:
                st.subheader(title, anchor=False)
                st.markdown(caption)
                if values is not None:
                    view.draw(title, view.surface(title, values), f"surface_{title}", 280, 260)
    st.markdown(":small[One release of each way; all pictures share their colours.]")


def _references(answer: SummariesAnswer) -> list[tuple[str, str, Array | None]]:
    """List the references of releases, which nobody may see of real records."""
    ordinary = (_WITHOUT, ":small[Not private]", answer.ordinary[0])
    if answer.truth is None:
        return [ordinary]
    return [(_TRUTH, ":small[Known because the records are simulated]", answer.truth[0]), ordinary]


def _caption(result: MethodResult, errors_in_words: Mapping[str, str]) -> str:
    """Write the guarantee of a method and its error, alike for all, or why it is refused."""
    return result.refusal or (
        f":small[{words.guarantee(result)} · error {errors_in_words[result.label]}]"
    )


def _rows(items: list) -> list[list]:
    return [items[k : k + _IN_A_ROW] for k in range(0, len(items), _IN_A_ROW)]


def accuracy(view: Summary) -> None:
    """Show the error of every method, and its parts."""
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    known = [result for result in view.answer.results if result.errors is not None]
    if not known:
        return
    height = 80 + 42 * len(known)
    view.draw("Errors", charts.errors(view.answer), "errors", height)
    dashed = " Dashed: without privacy." if view.answer.baseline else ""
    st.markdown(f":small[Line: 95 % of releases.{dashed}]")
    st.markdown(words.compared(view.answer))
    view.draw("Parts of the error", charts.split(view.answer), "split", height + 30)
    st.markdown(words.largest(view.chosen))
    st.markdown(words.clipped_share(view.answer))


def components(view: Summary) -> None:
    """Show the directions in which curves vary most, from the released covariance alone."""
    if view.task != tasks.COVARIANCE.key or view.chosen.releases is None:
        return
    directions = summaries_topic.components(view.answer, view.source, view.settings.seed)
    if directions is None:
        return
    st.header("Principal components", anchor=False)
    for k, column in enumerate(st.columns(2, gap="medium")):
        with column:
            view.draw(
                f"Component {k + 1}",
                charts.component(directions, k, view.facts),
                f"component_{k}",
                240,
                220,
                below=words.components(directions, k),
            )
    st.markdown(words.removed(directions))
    st.markdown(f":small[{FOR_COMPONENTS}]")


def noise(view: Summary) -> None:
    """Show why one shape of noise is better than another, for the chosen method."""
    if view.chosen.refusal:
        return
    by_coefficient = summaries_topic.spectrum(view.mechanism, view.source, view.budget)
    if by_coefficient is None:
        return
    st.header("Noise by coefficient", anchor=False)
    _spectrum(view, by_coefficient)
    mechanism = view.mechanism
    if view.task == tasks.DENSITY.key and isinstance(mechanism, feasible_smoothness.Release):
        printed = feasible_smoothness.printed_density(mechanism, view.answer.people, view.dimension)
        st.markdown(words.printed_density(printed, view.budget))


def _spectrum(view: ReleaseView, by_coefficient: summaries_topic.Spectrum) -> None:
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw(
            "Noise by coefficient",
            charts.spectrum(by_coefficient),
            "spectrum",
            340,
            340,
            below=words.noises(by_coefficient),
        )
    with right:
        st.markdown(words.spectrum(by_coefficient))
        layout.small(words.printed(view.mechanism, view.mechanism.suited(view.budget)))


def of_the_grid(mechanism: Mechanism, dimension: int) -> str:
    """Warn of a release whose sensitivity grows without end on finer grids; else empty."""
    if feasible_smoothness.is_feasible(mechanism, dimension):
        return ""
    return (
        "**Only the grid makes this release possible.** The summary is less smooth "
        "than the noise needs; see *Finer grids* under *All settings and details*."
    )


def finer_grids(view: ReleaseView, dimension: int) -> list[Detail]:
    """List the sensitivity for finer grids for the drawer, if the method has one."""
    mechanism = view.mechanism
    if not view.spends or not feasible_smoothness.has_least_power(mechanism):
        return []

    def draw() -> None:
        sensitivities = run.answer(
            feasible_smoothness.sensitivity_by_grid, mechanism, view.sizes.n_curves, dimension
        )
        view.draw("Sensitivity by grid", charts.by_grid(sensitivities), "by_grid", 300)
        (st.markdown if sensitivities.is_finite else st.warning)(words.by_grid(sensitivities))

    return [Detail("grid", "Finer grids", draw, ("summaries_grid",))]


def of_a_mean(view: ReleaseView) -> list[Detail]:
    """List for the drawer what the noise of a mean that is released whole follows from."""
    mechanism, source, budget = view.mechanism, view.source, view.mechanism.suited(view.budget)
    if not view.spends or not isinstance(mechanism, FunctionalRelease):
        return []
    details = finer_grids(view, 1)
    by_coefficient = summaries_topic.spectrum(mechanism, source, budget)
    if by_coefficient is not None:
        details.append(
            Detail("spectrum", "Noise by coefficient", lambda: _spectrum(view, by_coefficient))
        )
    pair = summaries_topic.worst_pair(mechanism, source, budget)
    if pair is not None:
        details.append(
            Detail(
                "worst",
                "Worst-case neighbouring data sets",
                lambda: _worst(view, pair, budget),
                ("summaries_worst",),
            )
        )
    return details


def _worst(view: ReleaseView, pair: summaries_topic.WorstCurves, budget: Budget) -> None:
    view.draw("The worst pair", charts.worst(pair, view.facts), "worst", 280)
    st.markdown(words.worst(pair, budget))
