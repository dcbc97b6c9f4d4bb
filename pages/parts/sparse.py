"""The parts of the page on sparse regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from engine.errors import InputError
from engine.families import sparse_printed
from engine.language import chances, numbers
from engine.language.numbers import number
from engine.papers import sparse_federated
from engine.questions import ask
from engine.tasks import SPARSE_REGRESSION
from engine.theme import Chart
from engine.topics.sparse import answer as sparse_topic
from engine.topics.sparse import charts as figures
from engine.topics.sparse import words
from engine.topics.sparse.answer import Rows, SparseAnswer, Way
from engine.topics.sparse.intervals import coverage_study, interval_mechanism, intervals_answer
from engine.topics.sparse.intervals import machines as sparse_machines
from engine.topics.sparse.means import trust as sparse_trust
from engine.types import Budget
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, layout, odometer, strips
from pages.shared.state import run, session
from pages.shared.uploads import panel

TASK = SPARSE_REGRESSION.key
_AS_THEY_ARE, _DIFFERENCE = "Coefficients", "Difference"
_LIGHTS = {"green": st.success, "amber": st.warning, "red": st.error}
_ICONS = {"green": ":material/check_circle:", "amber": ":material/warning:",
          "red": ":material/block:"}


_TARGETS = {"coordinates": "Each coefficient on its own", "band": "All of them together"}
_ALONG = {"epsilon": ("Protection ε", (0.1, 0.3, 1.0, 3.0, 10.0)),
          "machines": ("Machines", (500, 1000, 2000, 8000, 32_000)),
          "rows": ("Rows on each machine", (100, 1000, 10_000, 100_000)),
          "size": ("Numbers in a row", (20, 50, 200, 800, 2000))}


class View:
    """The coefficients on screen, and the charts that are drawn."""

    def __init__(self, shown: SparseAnswer) -> None:
        self.shown, self.now, self.facts = shown, session.current(), shown.facts
        self.source, self.mechanism = session.source(TASK), _mechanism()
        self.own = self.facts.is_upload
        self.charts: dict[str, Chart] = {}

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        layout.draw(chart, f"sparse_{key}", height, phone)


def _mechanism() -> Way:
    mechanism = session.current().mechanism_of(TASK)
    assert isinstance(mechanism, Way)
    return mechanism


def look() -> View | None:
    """What is on screen; None with the reason where it cannot be had."""
    now, source = session.current(), session.source(TASK)
    if isinstance(source, Rows) and source.n_own:
        st.info("Machines differ here; see *When machines differ* below. Choose alike machines to "
                "see one set of coefficients.", icon=":material/info:")
        return None
    try:
        budget = Budget(now.epsilon, session.delta(source, TASK))
        return View(run.answer(sparse_topic.sparse_answer, source, _mechanism(), budget, now.seed))
    except InputError as problem:  # the controls below stay usable
        st.error(controls.message(problem), icon=":material/block:")
        return None


def strip(view: View) -> None:
    shown = view.shown
    strips.fixed(view.facts, words.budget_line(shown.budget, shown.sizes.n_servers),
                 "sparse_strip", chances.odds_short(odds_card.of(shown.spends)),
                 numbers.error(shown.error, "", shown.within), SPARSE_REGRESSION.unit,
                 shown.budget.epsilon)
    odometer.line(session.source(TASK))


def choices() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.source_choice(TASK)
        presets = sparse_topic.presets()
        controls.bound(st.selectbox, "Method", _mechanism().nearest_preset()[0],
                       lambda label: session.change_mechanism(TASK, presets[label]),
                       "sparse_method", options=[*presets],
                       help="How features are chosen and coefficients estimated.")
        panel.button(TASK)


def own() -> None:
    """The visitor's own rows: the panel, and what was moved into the stated ranges."""
    panel.draw("Show the protected coefficients", TASK)


def budget() -> None:
    controls.epsilon_slider("sparse_epsilon", "Lower ε: every row is better protected and "
                            "coefficients are noisier. Higher ε: the opposite.")


def promise(view: View) -> None:
    guarantee_cards.promise(view.shown.spends, view.shown.budget)
    caution = view.mechanism.caution(view.facts)
    for text in [*([caution] if caution else []),
                 *(words.warned(*one) for one in view.shown.warnings)]:
        st.warning(text, icon=":material/warning:")


def coefficients(view: View) -> None:
    way = controls.look("Show", (_AS_THEY_ARE, _DIFFERENCE), "sparse_show",
                        label_visibility="collapsed",
                        help="Difference: coefficients less the true ones.")
    view.draw("Coefficients", figures.coefficients(view.shown, layout.theme(), way == _DIFFERENCE),
              "coefficients", 360, 320)
    st.markdown(f":small[{words.legend(view.shown)}]")
    st.markdown(words.accuracy(view.shown))
    st.markdown(words.support(view.shown))
    if words.held_back(view.shown):
        st.markdown(f":small[{words.held_back(view.shown)}]")
    if view.own:
        st.markdown(f":small[{controls.plain(words.units(view.facts))}]")


def odds(view: View) -> None:
    view.charts |= odds_card.card(view.facts, view.shown.spends, view.shown.sizes)


def calculator(view: View) -> None:
    """The noise beside the signal, from public numbers alone."""
    st.header("Will the right features be found?", anchor=False)
    shown, smallest = view.shown, _smallest(view)
    found = sparse_topic.feasibility(view.mechanism, shown.sizes, view.facts, shown.budget,
                                     smallest)
    _LIGHTS[found.light](words.light(found), icon=_ICONS[found.light])
    st.markdown(f":small[{words.noise(found)} Known before any row is looked at.]")


def _smallest(view: View) -> float:
    """The smallest coefficient that matters: known of simulated rows, stated of one's own."""
    if not view.own:
        return float(np.abs(view.shown.target[view.shown.support]).min())
    unit = controls.plain(view.facts.value_unit or "response units")
    chosen = st.number_input(
        f"The smallest coefficient that would matter ({unit})", value=None, step=None, format="%g",
        placeholder="σ", key="sparse_smallest", help="For one standard deviation of a feature. "
        "Yours to say, never read off the rows; σ unless you say.")
    return chosen if chosen is not None and chosen > 0 else view.facts.reading_sd


def over_budgets(view: View) -> None:
    st.header("What each budget would buy", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    lines = run.answer(sparse_topic.over_budgets, view.source, view.mechanism,
                       view.shown.budget.delta, view.now.seed)
    with left:
        view.draw("Typical errors over ε", figures.over_budgets(
            lines, view.shown.budget.epsilon, layout.theme()), "over_budgets", 340, 340)
        st.markdown(f":small[{words.distance(view.shown)}]")
    with right:
        st.markdown(words.over_budgets(lines))


def intervals(view: View) -> None:
    """Limits around coefficients, with everything in them paid for."""
    st.header("How sure can one be of a coefficient?", anchor=False)
    target = controls.look("Limits", list(_TARGETS), "sparse_target",
                           format_func=_TARGETS.__getitem__)
    mechanism = interval_mechanism(view.mechanism, target)
    found = run.answer(intervals_answer, view.source, mechanism, view.shown.budget, view.now.seed)
    for text in found.warnings:
        st.warning(text, icon=":material/warning:")
    if not found.is_refused:
        less = found.truth is not None and controls.look(
            "Draw", (True, False), "sparse_less", label_visibility="collapsed",
            format_func={True: "Error", False: "Estimate"}.get)
        chart = figures.intervals(found, layout.theme(), less)
        view.draw("Confidence intervals", chart, "intervals", 360, 320)
        st.markdown(words.intervals(found))
        st.markdown(f":small[{words.tests_of_zero(found)}]")
    source = view.source
    if isinstance(source, Rows):
        with layout.fold("How often do they hold? 200 repetitions", "sparse_coverage") as is_open:
            if is_open:
                st.markdown(words.coverage(run.answer(
                    coverage_study, source, mechanism, view.shown.budget, view.now.seed),
                    found.kind))
    with layout.fold("What the intervals spend", "sparse_interval_ledger") as is_open:
        if is_open:
            guarantee_cards.ledger(found.spends, view.shown.budget)


def machines(view: View | None) -> None:
    """Machines that differ: a shared part and parts of their own."""
    source = session.source(TASK)
    if not isinstance(source, Rows) or source.n_servers == 1:
        return
    st.header("When machines differ", anchor=False)
    own = controls.look("Features that matter on one machine only", range(1, 6), "sparse_own",
                        max(source.n_own, 2))
    budget = Budget(session.current().epsilon, session.delta(source, TASK))
    found = run.answer(sparse_machines, replace(source, n_own=own), budget, session.current().seed)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        chart = figures.machines(found, layout.theme())
        layout.draw(chart, "sparse_machines", 320, 340)
        if view is not None:
            view.charts["Errors on every machine"] = chart
    with right:
        st.markdown(words.machines(found))
        st.markdown(":small[Besides those that matter everywhere. Every row is protected with the "
                    "same budget in all three ways.]")


def trust(view: View) -> None:
    """Trusted against untrusted servers, for sparse means of any size."""
    st.header("What trusting the server is worth", anchor=False)
    layout.prose("A mean with few entries that are not zero: 5 of 200, on 2\u2009000 machines with "
                 "10\u2009000 rows each, at ε = 1, but for what is moved.")
    name = controls.look("Move", list(_ALONG), "sparse_along",
                         format_func=lambda key: _ALONG[key][0])
    label, values = _ALONG[name]
    found, at, rates = run.answer(sparse_trust, name, values)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Errors by who is trusted", figures.trust(found, values, label, layout.theme()),
                  "trust", 380, 420)
    with right:
        st.markdown(words.trust(at, rates))
        st.markdown(":small[One bit for a machine cannot tell means apart that are many standard "
                    "errors from zero, as here: its error stays near that of answering zero.]")


def paper(view: View) -> None:
    """The printed table with the printed noise beside ours, at the same sizes."""
    rows = sparse_topic.reported(sparse_federated.table_2())
    st.markdown(words.paper(rows))
    layout.table([{
        "rows each": int(one.row["n"]), "machines": int(one.row["m"]), "d": int(one.row["d"]),
        "s": int(one.row["s_star"]), "ε": one.row["eps"],
        "squared error, as published": one.row["err"],
        "noise/signal, printed constants": number(one.published.ratio),
        "noise/signal, ours": number(one.tight.ratio)} for one in rows])
    st.markdown(words.PAPER_BANDS)
    layout.table([{
        "rows each": int(row["n"]), "machines": int(row["m"]), "d": int(row["d"]),
        "s": int(row["s_star"]), "ε": row["eps"], "length, as published": row["len"],
        "coverage, as published": row["cov"]} for row in sparse_federated.table_5()])
    st.markdown("What the printed pipelines would spend at the base point, each of their releases "
                "taken at ε = 0.8, as it stands there:")
    layout.table([{
        "task": cost.task, "releases": f"{cost.releases:,}", "ε added up": f"{cost.added:,.1f}",
        "ε, tightly": number(cost.total)}
                  for cost in sparse_printed.published_costs(0.8, 15, 4000, 800, 10, 500)])


def consequences(view: View) -> None:
    guarantee_cards.consequences(view.shown.spends, view.facts, "sparse")


def ledger(view: View) -> None:
    guarantee_cards.ledger(view.shown.spends, view.shown.budget)


def formula(view: View) -> None:
    guarantee_cards.formula(view.mechanism, {})


def code(view: View) -> None:
    code_fold.show("sparse", lambda: ask(
        sparse_topic.sparse_answer, view.source, view.mechanism, view.shown.budget,
        view.now.seed).about(odds_card.person(view.facts, view.shown.sizes)), TASK)
