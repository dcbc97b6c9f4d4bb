"""The parts of the page on survival and other counts."""

from __future__ import annotations

import numpy as np
import streamlit as st

from engine.core.tasks import COUNTED, TASKS
from engine.core.types import Budget, EventFacts
from engine.language import error_words, glossary
from engine.questions import Question, ask
from engine.simulation.metrics import totals
from engine.simulation.studies import BUDGET_STEPS, errors_over_budgets, with_present
from engine.topics.brief import Brief, largest_part
from engine.topics.counting import answer as counting_topic
from engine.topics.counting import charts, words
from engine.topics.counting.answer import CountingAnswer
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.frame.live import LiveView
from pages.shared.state import run, session
from pages.shared.state.settings import Settings
from pages.shared.uploads import panel


class Counts(LiveView):
    """The curve on screen; strip and ledger are those of its table of counts."""

    page, fold_prefix, chart_prefix = "counting", "counting_", "counting_"
    facts: EventFacts

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        self.task = self.settings.counted_task
        self.source = self.source_of(self.task)
        self.mechanism = self.settings.mechanism_of(self.task)
        self.budget = Budget(self.settings.epsilon)
        self.answer: CountingAnswer = run.answer(counting_topic.counting_answer, *self.arguments)
        self.follow(
            counting_topic.counting_over_budgets, self.source, self.mechanism, self.settings.seed
        )
        self.facts, self.sizes = self.answer.facts, self.source.sizes
        self.spends, self.tuning = self.answer.spends, self.answer.tuning

    def brief(self) -> Brief:
        method = f"{self.mechanism.label}: {TASKS[self.task].result}"
        return self.brief_with(
            self.answer.error,
            self.answer.within,
            method=method,
            largest_part=largest_part(error_words.PARTS[:2], words.parts_of_error(self.answer)),
        )

    def formula(self) -> None:
        super().formula()
        st.markdown(words.PURE)

    def question(self) -> Question:
        return ask(counting_topic.counting_answer, *self.arguments)


def task() -> str:
    """Return the task of the counts."""
    return session.current().counted_task


# -- controls -------------------------------------------------------------------------------


def choices() -> None:
    """Choose the result and its people."""
    current = session.current()
    controls.bound(
        st.selectbox,
        "Curve",
        current.counted_task,
        lambda key: session.change(counted_task=key),
        "counted",
        options=COUNTED,
        format_func=lambda key: TASKS[key].label,
        help="All come from one table of noised counts.",
    )
    controls.source_choice(task())


def budget() -> None:
    """Draw the slider of this page, with the same steps as on Explore."""
    controls.live_epsilon_slider(
        "counting_epsilon",
        "Lower ε: everybody is better "
        "protected and the counts are noisier. Higher ε: the opposite.",
    )


def own_people() -> None:
    """Show the dialog for own people, and count the times outside the stated range."""
    panel.draw("Show the protected curve", task())


# -- what is shown --------------------------------------------------------------------------


def curve(view: Counts) -> None:
    """Show the released curve with its band, numbers at risk below it, and its reading in words."""
    if view.answer.is_refused:
        heading, why = words.refused(view.answer)
        st.error(f"**{heading}** {why}", icon=":material/block:")
    tallest = max(map(charts.height, [view.answer, *view.pictures]))
    shortest = max(charts.height(answer, 300) for answer in [view.answer, *view.pictures])
    view.draw_steps("Released curve", "curve", tallest, shortest, "", charts.curve)
    view.say_steps("curve", _below)
    view.complete()


def _below(answer: CountingAnswer) -> list[components.Said]:
    """Explain a curve, its meaning, its band and the numbers below it."""
    notes = " ".join(filter(None, (words.band(answer), words.at_risk(answer))))
    return [
        components.Said(text, kind)
        for text, kind in (
            (words.read_off(answer), ""),
            (words.MEANING[answer.task], ""),
            (notes, "small"),
        )
        if text
    ]


def error(view: Counts) -> None:
    """Show the error of releases, and the noise's share of it."""
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    answer = view.answer
    if answer.is_refused:
        st.markdown("Nothing would be published at this ε, so there is no error to state.")
        return
    st.markdown(words.off(answer))
    st.markdown(words.noise_share(answer))


def comparison(view: Counts) -> None:
    """Compare two groups: the test, and the difference of their curves with its band."""
    answer = view.answer
    if not answer.has_groups:
        return
    st.header("Comparison of two groups", anchor=False)
    st.markdown(words.test(answer))
    if answer.difference is not None and answer.difference.drawn.any():
        view.draw("Difference of the groups", charts.difference(answer), "difference", 300)


def agreement(view: Counts) -> None:
    """Show, for scores, how often people of each bin have the label."""
    if view.answer.calibration is None or not view.answer.calibration.drawn.any():
        return
    st.header("Calibration", anchor=False)
    view.draw("Calibration", charts.calibration(view.answer), "calibration", 320)
    st.markdown(":small[Bars: 95 % confidence intervals. Dashed: a score that is right.]")


def over_budgets(view: Counts) -> None:
    """Show the error at other budgets."""
    st.header("What each budget would buy", anchor=False)
    by_function = view.awaited(
        "Errors at other budgets are being simulated.",
        errors_over_budgets,
        view.source,
        view.mechanism,
        view.budget.delta,
        view.settings.seed,
    )
    if by_function is None:
        return
    steps, errors = with_present(
        BUDGET_STEPS, totals(by_function), view.budget.epsilon, view.answer.error
    )
    view.draw(
        "Error over ε", charts.over_budgets(steps, errors, view.budget.epsilon), "over_budgets", 300
    )
    if not np.isfinite(errors).all():
        st.markdown(":small[No point: nothing would be published.]")


# -- in the drawer --------------------------------------------------------------------------


def table(view: Counts) -> None:
    """Show the released counts with noise, from which everybody can compute the rest."""
    if view.answer.table is None:
        st.markdown("Nothing would be released at this ε.")
        return
    st.markdown(words.counted(view.answer))
    layout.table(words.table(view.answer), view.is_own, 420)
    if entered := words.entries(view.answer):
        st.markdown("By entry:")
        layout.table(entered, view.is_own, 300)


def coverage(view: Counts) -> None:
    """Show the coverage of the band and the rejection rate of tests in simulated data sets."""
    answer = view.answer
    if not (view.source.is_random and answer.estimand.has_bands) or answer.is_refused:
        st.markdown(
            "Coverage is counted on simulated times and values, where something is released."
        )
        return
    study = run.answer(counting_topic.counting_study, view.study)
    st.markdown(words.study(study))


def planner(view: Counts) -> None:
    """Show how many people a log-rank test needs, with and without noise."""
    facts, is_tested = view.facts, view.answer.estimand.is_tested and bool(view.facts.groups)
    if not is_tested or facts.group_weights or facts.late_entry or facts.at_visits:
        st.markdown(
            "Choose survival of two groups: then it is simulated how many people a test needs."
        )
        return
    power = run.answer(counting_topic.power_of_test, view.study)
    view.draw("Power", charts.power(power), "power", 320)
    st.markdown(words.power(power, view.budget))
