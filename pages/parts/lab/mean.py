"""The mean curve as an estimand of Lab."""

from __future__ import annotations

import streamlit as st

from engine.figures import small_charts
from engine.language import error_words, glossary, quality
from engine.simulation import studies
from engine.sources.twin import studied
from engine.topics.mean.charts import Shows, curve
from pages.parts import summaries
from pages.parts.explore.scene import Scene
from pages.shared.cards import better
from pages.shared.frame import controls
from pages.shared.frame.drawer import Detail
from pages.shared.state import run, session
from pages.shared.state.settings import TASK, Settings, steps_of
from pages.shared.uploads import panel

_SHOWS: dict[Shows, str] = {
    "release": "One release",
    "releases": "Equally likely releases",
    "difference": "Difference",
}
_CURVE = 520  # pixels: with the panel beside it, the first screen


class MeanCurve(Scene):
    """The mean curve at the chosen budget."""

    page, fold_prefix, chart_prefix = "lab", "mean_", "mean_"

    def __init__(self, chosen: Settings | None = None) -> None:
        now = session.current() if chosen is None else chosen
        source = session.source() if chosen is None else now.studied(TASK)
        answer = run.mean_at_every_step(
            source,
            now.mechanism,
            now.delta_on(source, now.mechanism).value,
            now.seed,
            session.steps(now.epsilon) if chosen is None else steps_of(now.epsilon),
        )
        super().__init__(answer, source, chosen)

    def details(self) -> list[Detail]:
        return [*super().details(), *summaries.of_a_mean(self)]

    @property
    def cautions(self) -> list[str]:
        return [summaries.of_the_grid(self.mechanism, 1), *super().cautions]


# -- the scenario ---------------------------------------------------------------------------


def budget() -> None:
    """Draw the budget, by the steps of Explore."""
    controls.epsilon_slider(
        "mean_epsilon",
        "Smaller: everybody is better protected, and the curve is noisier. Larger: the opposite.",
    )


def own_data() -> None:
    """Show the visitor's own curves."""
    panel.draw()


# -- the blocks -----------------------------------------------------------------------------


def estimate(view: MeanCurve) -> None:
    """Show the private and non-private mean, with the confidence band of the release."""
    if view.is_refused:
        title, why = view.at_budgets[view.step].refused or ("", "")
        st.error(f"**{title}** {why}", icon=":material/block:")
        return
    shows = controls.look(
        "Show", list(_SHOWS), "mean_show", label_visibility="collapsed", format_func=_SHOWS.get
    )
    chart = view.made_once(
        f"curve {view.step} {shows}", lambda: curve(view.answer, view.step, shows)
    )
    view.draw("Mean curve", chart, "curve", _CURVE, 320)


def error(view: MeanCurve) -> None:
    """Show the error of a release, and its parts."""
    if view.is_refused:
        return
    study, facts = view.answer.study, view.facts
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    st.markdown(
        quality.accuracy(
            facts, float(view.error[view.step]), float(study.within[view.step]), study.baseline
        )
    )
    simulated = study.simulated(view.step, studies.data_sets(studied(view.source)))
    st.markdown(quality.rests_on("95 % of releases", simulated))
    if view.answer.from_own_mean is not None:
        own = quality.from_own_mean(facts, float(view.answer.from_own_mean[view.step]))
        st.markdown(f":small[{own}]")
    if limit := view.limit_of_band(view.step):
        st.markdown(f":small[{limit}]")
    view.draw(
        "Twenty equally likely releases",
        small_charts.error_dots(
            study.errors[view.step], study.baseline, facts.value_unit, float(view.floor[view.step])
        ),
        "dots",
        118,
    )
    floor = quality.floor(facts, float(view.floor[view.step]), float(view.error[view.step]))
    if floor:
        st.markdown(floor, help=glossary.explain("Floor"))
    shares = study.shares[view.step]
    view.draw("Parts of the error", small_charts.split_bar(shares, error_words.PARTS), "split", 44)
    st.markdown(f":small[{error_words.shares_key(shares)}]")
    better.of_a_mean(view, float(view.error[view.step]))
