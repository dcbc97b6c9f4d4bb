"""The mean curve as an estimand of Lab."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from engine.figures import small_charts
from engine.language import error_words, glossary, odds_words, quality
from engine.language.grammar import capital
from engine.language.numbers import in_unit
from engine.simulation import studies
from engine.sources.twin import studied
from engine.topics.mean import methods as methods_topic
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.charts import Shows, curve
from engine.topics.mean.notes import Note, finding, methods_table, notes
from pages.parts import summaries
from pages.parts.explore.scene import Scene
from pages.shared.cards import better
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls, layout, timed
from pages.shared.frame.drawer import Detail
from pages.shared.state import run, session
from pages.shared.state.settings import TASK, Settings, steps_of

_SHOWS: dict[Shows, str] = {
    "release": "One release",
    "releases": "Equally likely releases",
    "difference": "Difference",
}
_CURVE = 400  # pixels: the first screen with the line above it
_METHODS = (
    "The same curves by every method. Noise: the share of privacy noise in the squared error. Last "
    "column: error at every ε of the slider, on a logarithmic scale."
)


class MeanCurve(Scene):
    """The mean curve at the chosen budget."""

    page, fold_prefix, chart_prefix = "lab", "mean_", "mean_"
    has_numbers_in_strip = False  # they stand beside the figure

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
    def finding(self) -> str:
        """The largest part of the error, with what would make it smaller."""
        return finding(self.brief(), better.best_of_a_mean(self, float(self.error[self.step])))

    @property
    def notes(self) -> list[Note]:
        """The numbered notes on the figure."""
        return self.made_once(f"notes {self.step}", lambda: notes(self.answer, self.step))

    @property
    def cautions(self) -> list[str]:
        return [summaries.of_the_grid(self.mechanism, 1), *super().cautions]


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
    notes = view.notes if shows == "release" else []
    chart = view.made_once(
        f"curve {view.step} {shows}", lambda: curve(view.answer, view.step, shows, notes)
    )
    view.draw("Mean curve", chart, "curve", _CURVE, 320)


def beside(view: MeanCurve) -> None:
    """Show four numbers, the notes on the figure, and what would make the error smaller."""
    if view.is_refused:
        return
    unit, error = view.facts.value_unit, float(view.error[view.step])
    baseline, floor = view.answer.study.baseline, float(view.floor[view.step])
    written, bracket, within = view.brief().error_in_words.partition(" (")
    with st.container(horizontal=True, key="lab_numbers"):
        if written:
            st.metric(f"{capital(error_words.error_name(view.facts))}{bracket}{within}", written)
        for label, value in (
            ("Without privacy", math.nan if baseline is None else float(baseline)),
            ("Floor", floor),
        ):
            if math.isfinite(value):
                st.metric(label, in_unit(value, unit))
        st.metric("Attacker", odds_words.odds_short(odds_card.of(view.spends)))
    with st.container(key="lab_notes"):
        for k, note in enumerate(view.notes, start=1):
            st.markdown(f":small[**{k}** {note.text}]")
    better.of_a_mean(view, error)


def methods(view: MeanCurve) -> None:
    """Show every method on the same curves as a table that sorts; numbers come row by row."""
    every = methods_topic.tiles(
        view.source, view.mechanism, view.settings.delta_on(view.source).value
    )
    chosen = view.mechanism.nearest_preset()[0]
    others = [tile for tile in every if tile.label != chosen]
    st.subheader("Methods", anchor=False, help=_METHODS)

    def draw(known: Mapping[int, MeanAnswer | str], _: bool) -> None:
        found: dict[methods_topic.Tile, MeanAnswer | str]
        found = {tile: view.answer if tile.label == chosen else "" for tile in every}  # "": to come
        found |= {others[k]: answer for k, answer in known.items()}
        table = methods_table(found, view.budget.epsilon, view.facts, view.settings.group_size)
        columns = {
            name: st.column_config.NumberColumn(format=f"{sign}%d %%")
            for name, sign in (("Noise", ""), ("Attacker, at most", "≤ "))
        }
        columns["ε up to 10"] = st.column_config.LineChartColumn()
        if view.is_own:
            layout.table({name: table[name] for name in table if name not in columns}, True)
        else:
            st.dataframe(
                table, hide_index=True, column_config=columns, height="content", placeholder="–"
            )

    timed.one_by_one(
        methods_topic.released,
        [
            (view.source, tile.mechanism, tile.delta, view.settings.seed, tuple(view.epsilons))
            for tile in others
        ],
        draw,
    )


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
        own = float(view.answer.from_own_mean[view.step])
        layout.small(quality.from_own_mean(facts, own))
    layout.small(view.limit_of_band(view.step))
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
    view.draw(
        "Parts of the error",
        small_charts.split_bar(shares, error_words.PARTS),
        "split",
        44,
        below=error_words.shares_key(shares),
    )
