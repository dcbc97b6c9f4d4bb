"""The parts of Compare: small pictures, what errors are made of, risk, and questions of shape."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine.language import chances, error_parts, numbers, quality
from engine.language.grammar import escape
from engine.language.numbers import in_hundred, small
from engine.mechanisms import Mechanism
from engine.privacy.failure import delta_rule
from engine.questions import ask
from engine.sources import Source
from engine.tasks import MEAN_FUNCTION
from engine.theme import Chart
from engine.topics.compare import charts as figures
from engine.topics.compare import words
from engine.topics.compare.answer import (
    Refused,
    Way,
    at_budgets,
    at_equal_risk,
    published,
    side_by_side,
)
from engine.topics.mean import shape_words as shapes
from engine.topics.mean.answer import EPSILON_STEPS, drawn
from engine.topics.mean.shape import Question
from engine.types import Array
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import code_fold, controls, layout, strips
from pages.shared.state import run, session, settings

_HEIGHT, _PHONE = 200, 180


class View:
    """What stands side by side: `ways` that draw something or refuse, `known` those that draw."""

    def __init__(self) -> None:
        self.now, self.source = session.current(), session.source()
        self.facts, self.words = self.source.facts, chosen_methods()
        self.own = self.facts.is_upload
        self.methods = [_member(word, self.source) for word in self.words]
        self.delta = session.chosen_delta(self.source)
        self.at = [EPSILON_STEPS.index(epsilon) for epsilon in self.now.budgets]
        self.charts: dict[str, Chart] = {}
        self.ways = side_by_side(self.source, self.methods, self.delta, self.now.seed,
                                 self.now.group, run.picture, run.study)
        self.known = published(self.ways)

    def difference(self, way: Way, k: int) -> Array:
        """Releases less the same average without protection in every picture: (draws, points)."""
        return way.shown.releases[k] - self.known[0].shown.without

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        layout.draw(chart, f"compare_{key}", height, phone)


def _written(way: Way, k: int) -> str:
    """An error in words; empty where nothing is published."""
    return numbers.error(way.error[k], way.shown.data.facts.value_unit, way.study.within[k])


def _line(way: Way, errors: Array | None = None) -> figures.Line:
    """What charts know of a method, with its errors or others."""
    return figures.Line(way.label, way.mechanism.key, way.mechanism.family,
                        controls.variant(way.mechanism, way.label),
                        way.error if errors is None else errors, way.right)


def chosen_methods() -> tuple[str, ...]:
    """Words of the methods side by side: chosen ones, or that of Explore and usual others."""
    now = session.current()
    if now.methods:
        return now.methods
    own, usual = _word_of(now.mechanism), MEAN_FUNCTION.compared
    return (own, *[word for word in usual if word != own][:len(usual) - 1])


def _word_of(mechanism: Mechanism) -> str:
    variant = controls.named(mechanism)[1]
    return f"{mechanism.key}:{variant}" if variant else mechanism.key


def _member(word: str, source: Source) -> Mechanism:
    """The method of a word: as it is set on Explore where it is that one, else a named setting."""
    now = session.current()
    if word == _word_of(now.mechanism):
        return now.mechanism
    _, cls, chosen = settings.METHODS[word]
    return cls(**chosen).comparable(source.facts)


# -- above the pictures -----------------------------------------------------------------------


def strip(view: View) -> None:
    """The facts, with the span of errors and the weakest odds of all pictures below."""
    odds = [way.odds[k] for way in view.known for k in view.at]
    errors = [way.error[k] for way in view.known for k in view.at]
    weakest = max(odds, key=lambda one: one.right, default=None)
    strips.fixed(view.facts, words.budgets(view.now.budgets), "compare_strip",
                 "" if weakest is None else chances.odds_short(weakest),
                 words.span(errors, view.facts.value_unit),
                 highest=max(view.now.budgets), pins_here=False,
                 stated=delta_rule(view.source.sizes.n_curves, view.now.delta))


def choices(view: View) -> None:
    """Which curves, methods and budgets."""
    left, right = st.columns([7, 3], gap="medium")
    with left:
        controls.bound(
            st.multiselect, "Methods", list(view.words),
            lambda chosen: session.change(methods=settings.checked_methods(chosen)),
            "compare_methods", options=list(settings.METHODS),
            format_func=lambda word: settings.METHODS[word][0],
            help="Ways to add the noise. The one chosen on Explore keeps its settings there.")
    with right:
        controls.bound(
            st.multiselect, "Budgets (ε)", list(view.now.budgets),
            lambda chosen: session.change(budgets=settings.checked_budgets(chosen)),
            "compare_budgets", options=list(EPSILON_STEPS), format_func=lambda e: f"{e:g}",
            max_selections=settings.MOST_BUDGETS, help="Steps of the slider, side by side.")


def promises(view: View) -> None:
    """Where promises of two kinds stand side by side under one ε."""
    notice = chances.two_kinds({way.label: way.shown.budgets[0].delta for way in view.known})
    if notice:
        st.info(notice, icon=":material/info:")


# -- the pictures -----------------------------------------------------------------------------


def pictures(view: View) -> None:
    """Rows are methods, columns budgets, on the same axes; one column on phones."""
    differences = [view.difference(way, k) for way in view.known for k in view.at
                   if not way.shown.is_refused(k)]
    edge = figures.edge_of(differences, view.facts)
    said: dict[str, str] = {}  # what was said of which method first
    for way in view.ways:
        st.subheader(way.label, anchor=False)
        if isinstance(way, Refused):
            st.markdown(controls.message(way.problem))
            continue
        _caution(way, view, said)
        st.markdown(f":small[{words.promise(way.shown.budgets[0].delta)}]")
        for column, k in zip(st.columns(len(view.at), gap="small"), view.at, strict=True):
            with column:
                _cell(view, way, k, edge)
    st.markdown(f":small[{words.DIFFERENCE}]")


def _caution(way: Way, view: View, said: dict[str, str]) -> None:
    """What does not suit these curves, or so few of them; the same words once only."""
    released = dict.fromkeys(text for k in view.at for text in way.shown.warnings[k])
    for caution in (way.mechanism.caution(view.facts), quality.few_in_a_round(
            way.mechanism.fewest_in_a_round(way.shown.data.sizes)), *released):
        if caution in said:
            st.markdown(f":small[:material/warning: As for {said[caution]}.]")
        elif caution:
            said[caution] = way.label
            st.markdown(f":small[:material/warning: {caution}]")


def _cell(view: View, way: Way, k: int, edge: float) -> None:
    epsilon, error = EPSILON_STEPS[k], _written(way, k)
    if not error:
        st.markdown(f":small[**ε = {epsilon:g}** · Nothing would be published: the noise would be "
                    "larger than the curve.]")
        return
    st.markdown(f":small[{words.cell(epsilon, escape(error), way.odds[k])}]")
    line = _line(way)
    chart = figures.difference(line, way.shown.times, view.difference(way, k), view.facts, edge,
                               f"ε = {epsilon:g}, error {error}", layout.theme())
    view.draw(f"{way.label}, ε = {epsilon:g}", chart, f"{line.key}_{line.variant}_{epsilon:g}",
              _HEIGHT, _PHONE)


# -- errors and risk --------------------------------------------------------------------------


def verdict(view: View) -> None:
    """Which method errs least at each budget."""
    lines = [words.least(EPSILON_STEPS[k], {way.label: float(way.error[k]) for way in view.known},
                         {way.label: _written(way, k) for way in view.known}) for k in view.at]
    is_truth = view.source.is_random
    st.markdown("  \n".join(lines) + "  \n" + words.aim(view.known[0].label, is_truth))


def table(view: View) -> None:
    """What errors are made of, and the risk, a row for each method and budget."""
    st.header("What the error is made of, and the risk", anchor=False)
    data = pd.DataFrame([_row(view, way, k) for k in view.at for way in view.known])
    layout.table(data, view.own, "content")
    st.markdown(":small[Parts are shares of the squared error. Right guess: between two curves "
                "(50: a coin toss). Careful attacker: catches the right curve with 5 false alarms "
                "in 100 (5: no information). Both are at most.]")


def _row(view: View, way: Way, k: int) -> dict[str, object]:
    budget, odds, error = way.shown.budgets[k], way.odds[k], _written(way, k)
    row: dict[str, object] = {"method": way.label, "ε": f"{budget.epsilon:g}",
                              "δ": small(budget.delta),
                              "error": error or "nothing published"}
    for part, share in zip(error_parts.parts(view.facts), way.study.shares[k], strict=True):
        row[part] = f"{100 * share:.0f} %" if error else "–"
    row["right guess"] = in_hundred(odds.right).replace(" times in", " in")
    row["careful attacker"] = in_hundred(odds.detected).replace(" times in", " in")
    return row


def equal_protection(view: View) -> None:
    """Errors against the chance of a right guess, which means the same for every method."""
    st.header("Error at equal protection", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Error against right guesses", figures.against_risk(
            [_line(way) for way in view.known], view.at, view.facts.value_unit, layout.theme(),
            2 * view.facts.value_half_width), "risk", 340, 300)
        st.markdown(f":small[{words.RISK}]")
    with right:
        st.markdown(words.equal_risk(*at_equal_risk(view.known), view.facts))


# -- shape ------------------------------------------------------------------------------------


def shapes_kept(view: View) -> None:
    """One question of shape to all methods at all budgets."""
    st.header("What would still be true of its shape?", anchor=False)
    asked = shape_cards.ask(view.facts)
    if asked is None:
        return
    found = [(way, _answer(view, way, asked)) for way in view.known]
    left, right = st.columns([7, 3], gap="medium")
    with left:
        chart = figures.kept(EPSILON_STEPS, [
            (_line(way, np.where(answer.known, way.error, np.nan)), answer.kept)
            for way, answer in found], None, layout.theme())
        view.draw(shapes.short(asked, view.facts), chart, "shape", 320, 300)
        st.markdown(f":small[{shapes.KEY.replace(' ◇ you are here.', '')}]")
    with right:
        first = found[0][1]
        st.markdown(shapes.reference(asked, first.said, view.facts, first.is_truth))
        st.markdown("Releases that say so, too; in brackets, what simulating so few leaves open:")
        for way, answer in found:
            _kept_at(view, way, answer)


def _answer(view: View, way: Way, asked: Question) -> shape_cards.Answer:
    draws = run.answer(drawn, view.source, way.mechanism, view.known[0].mechanism,
                       way.shown.budgets, view.now.seed)
    return shape_cards.answer(asked, draws, way.error, view.facts)


def _kept_at(view: View, way: Way, answer: shape_cards.Answer) -> None:
    """How often one method keeps the answer at the chosen budgets."""
    each = [f"**{shapes.in_draws(answer.at(k))}** ({shapes.chance_range(answer.at(k))}) at ε = "
            f"{EPSILON_STEPS[k]:g}" if answer.known[k] else
            f"not answered at ε = {EPSILON_STEPS[k]:g}" for k in view.at]
    st.markdown(f"{way.label}: {', '.join(each)}.")


def options() -> None:
    controls.more_options(epsilon=False)


def formulas(view: View) -> None:
    """What each method computes."""
    for way in view.ways:
        guarantee_cards.formula(way.mechanism, {})


def code(view: View) -> None:
    """Code for the table and the errors at equal protection."""
    if view.known:
        code_fold.show("compare", lambda: ask(
            at_budgets, view.source, view.methods, view.now.budgets, view.delta, view.now.seed,
            view.now.group), scope=words.CODE)
