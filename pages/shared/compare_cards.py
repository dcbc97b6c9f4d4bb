"""The parts of Compare: small pictures, what errors are made of, risk, and questions of shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st

from engine.errors import InputError
from engine.figures import compare as figures
from engine.figures.theme import Chart
from engine.mechanisms import Mechanism
from engine.privacy import risk
from engine.sources import Source
from engine.types import Array
from engine.views.preview import EPSILON_STEPS, Preview, Study
from engine.views.shape import Question
from engine.words import chances, error_parts, quality
from engine.words import compare as words
from engine.words import shape as shapes
from engine.words.grammar import escape
from engine.words.numbers import in_hundred, small
from pages.shared import (
    controls,
    guarantee_cards,
    layout,
    odds_card,
    run,
    session,
    settings,
    shape_cards,
    strips,
)

_USUAL = ("adaptive_mean", "noisy_gradient_mean", "frl")
_HEIGHT, _PHONE = 200, 180
_EQUAL = (0.55, 0.6, 0.65, 0.7)  # right guesses at which errors may be read off


@dataclass(frozen=True)
class Way:
    """One method on the curves of the page; without a picture the reason stands in `refusal`."""

    label: str
    mechanism: Mechanism
    variant: int
    shown: Preview | None = None
    study: Study | None = None
    refusal: str = ""

    @cached_property
    def odds(self) -> list[risk.Odds]:
        return [] if self.shown is None else [odds_card.of(s) for s in self.shown.spends]

    @cached_property
    def typical(self) -> Array:
        """Typical errors at all steps; NaN where nothing is published."""
        assert self.shown is not None and self.study is not None
        return np.where(self.shown.published, self.study.typical, np.nan)

    @cached_property
    def written(self) -> list[str]:
        """Those in words; empty where nothing is published."""
        assert self.shown is not None and self.study is not None
        within, floor = self.study.quantile(0.95), self.study.floor
        return [quality.typical_error(x, y, floor, self.shown.data.facts.value_unit)
                for x, y in zip(self.typical, within, strict=True)]

    def line(self, errors: Array | None = None) -> figures.Line:
        return figures.Line(self.label, self.mechanism.key, self.mechanism.family, self.variant,
                            self.typical if errors is None else errors,
                            np.array([odds.right for odds in self.odds]))


class View:
    """What stands side by side."""

    def __init__(self) -> None:
        self.now, self.source = session.current(), session.source()
        self.facts, self.words = self.source.facts, chosen_methods()
        self.own = self.facts.kind == "upload"
        self.at = [EPSILON_STEPS.index(epsilon) for epsilon in self.now.budgets]
        self.charts: dict[str, Chart] = {}
        self.asked: Question | None = None

    @cached_property
    def ways(self) -> list[Way]:
        drawn = [self._drawn(_member(word, self.source)) for word in self.words]
        first = next((way.mechanism for way in drawn if way.shown is not None), None)
        return [way if first is None or way.shown is None else replace(way, study=run.study(
            self.source, way.mechanism, first, way.shown, self.now.seed)) for way in drawn]

    @property
    def known(self) -> list[Way]:
        return [way for way in self.ways if way.shown is not None]

    def _drawn(self, mechanism: Mechanism) -> Way:
        label, variant = controls.named(mechanism)
        delta = 0.0 if mechanism.guarantee == "pure" else session.chosen_delta(self.source)
        try:
            shown = run.picture(self.source, mechanism, delta, self.now.seed, EPSILON_STEPS)
        except InputError as problem:
            return Way(label, mechanism, variant, refusal=controls.message(problem))
        return Way(label, mechanism, variant, shown)

    def difference(self, way: Way, k: int) -> Array:
        """Releases less the same average without protection in every picture: (draws, points)."""
        assert way.shown is not None and self.known[0].shown is not None
        return way.shown.releases[k] - self.known[0].shown.without

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        layout.draw(chart, f"compare_{key}", height, phone)


def chosen_methods() -> tuple[str, ...]:
    """Words of the methods side by side: chosen ones, or that of Explore and usual others."""
    now = session.current()
    if now.methods:
        return now.methods
    own = _word_of(now.mechanism)
    return (own, *[word for word in _USUAL if word != own][:len(_USUAL) - 1])


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
    errors = [way.typical[k] for way in view.known for k in view.at]
    weakest = max(odds, key=lambda one: one.right, default=None)
    strips.fixed(view.facts, words.budgets(view.now.budgets), "compare_strip",
                 "" if weakest is None else chances.odds_short(weakest),
                 words.span(errors, view.facts.value_unit),
                 highest=max(view.now.budgets), pins_here=False)


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
    notice = chances.two_kinds({way.label: way.shown.budgets[0].delta for way in view.known
                                if way.shown is not None})
    if notice:
        st.info(notice, icon=":material/info:")


# -- the pictures -----------------------------------------------------------------------------


def pictures(view: View) -> None:
    """Rows are methods, columns budgets, on the same axes; one column on phones."""
    differences = [view.difference(way, k) for way in view.known for k in view.at
                   if way.shown is not None and not way.shown.is_refused(k)]
    edge = figures.edge_of(differences, view.facts)
    said: dict[str, str] = {}  # what was said of which method first
    for way in view.ways:
        st.subheader(way.label, anchor=False)
        _caution(way, view, said)
        if way.shown is None:
            continue
        st.markdown(f":small[{words.promise(way.shown.budgets[0].delta)}]")
        for column, k in zip(st.columns(len(view.at), gap="small"), view.at, strict=True):
            with column:
                _cell(view, way, k, edge)
    st.markdown(f":small[{words.DIFFERENCE}]")


def _caution(way: Way, view: View, said: dict[str, str]) -> None:
    """Why a method refuses, or what does not suit these curves; the same words once only."""
    caution = way.mechanism.caution(view.facts) or ""
    if way.refusal:
        st.markdown(way.refusal)
    elif caution in said:
        st.markdown(f":small[:material/warning: As for {said[caution]}.]")
    elif caution:
        said[caution] = way.label
        st.markdown(f":small[:material/warning: {caution}]")


def _cell(view: View, way: Way, k: int, edge: float) -> None:
    assert way.shown is not None
    epsilon, error = EPSILON_STEPS[k], way.written[k]
    if not error:
        st.markdown(f":small[**ε = {epsilon:g}** · Nothing would be published: the noise would be "
                    "larger than the curve.]")
        return
    st.markdown(f":small[{words.cell(epsilon, escape(error), way.odds[k])}]")
    chart = figures.difference(way.line(), way.shown.times, view.difference(way, k), view.facts,
                               edge, f"ε = {epsilon:g}, typical error {error}", layout.theme())
    view.draw(f"{way.label}, ε = {epsilon:g}", chart,
              f"{way.mechanism.key}_{way.variant}_{epsilon:g}", _HEIGHT, _PHONE)


# -- errors and risk --------------------------------------------------------------------------


def verdict(view: View) -> None:
    """Which method errs least at each budget."""
    lines = [words.least(EPSILON_STEPS[k], {way.label: float(way.typical[k]) for way in view.known},
                         {way.label: way.written[k] for way in view.known}) for k in view.at]
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
    assert way.shown is not None and way.study is not None
    budget, odds = way.shown.budgets[k], way.odds[k]
    row: dict[str, object] = {"method": way.label, "ε": f"{budget.epsilon:g}",
                              "δ": small(budget.delta)}
    published = bool(way.written[k])
    row["typical error"] = way.written[k] or "nothing published"
    for part, share in zip(error_parts.parts(view.facts), way.study.shares[k], strict=True):
        row[part] = f"{100 * share:.0f} %" if published else "–"
    row["right guess"] = in_hundred(odds.right).replace(" times in", " in")
    row["careful attacker"] = in_hundred(odds.detected).replace(" times in", " in")
    return row


def equal_protection(view: View) -> None:
    """Errors against the chance of a right guess, which means the same for every method."""
    st.header("Error at equal protection", anchor=False)
    lines = [way.line() for way in view.known]
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Error against right guesses", figures.against_risk(
            lines, view.at, view.facts.value_unit, layout.theme(),
            2 * view.facts.value_half_width), "risk", 340, 300)
        st.markdown(f":small[{words.RISK}]")
    with right:
        st.markdown(_at_equal_risk(view, lines))


def _at_equal_risk(view: View, lines: Sequence[figures.Line]) -> str:
    """The sentence at the round risk that most methods reach, and the smallest of those."""
    found = {chance: {line.label: _error_at(line, chance) for line in lines} for chance in _EQUAL}
    best = max(_EQUAL, key=lambda chance: (np.isfinite([*found[chance].values()]).sum(), -chance))
    return words.equal_risk(best, found[best], view.facts)


def _error_at(line: figures.Line, chance: float) -> float:
    """The typical error where the right guess is this, between steps on a log scale."""
    known = np.isfinite(line.errors)
    right, errors = line.right[known], line.errors[known]
    if not len(right) or not right.min() <= chance <= right.max():
        return float("nan")
    return float(np.exp(np.interp(chance, right, np.log(errors))))


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
            (way.line(np.where(answer.known, way.typical, np.nan)), answer.kept)
            for way, answer in found], None, layout.theme())
        view.draw(shapes.short(asked, view.facts), chart, "shape", 320, 300)
        st.markdown(f":small[{shapes.KEY.replace(' ◇ you are here.', '')}]")
    with right:
        first = found[0][1]
        st.markdown(shapes.said(asked, first.said, view.facts, first.is_truth))
        for way, answer in found:
            _kept_at(view, way, answer)


def _answer(view: View, way: Way, asked: Question) -> shape_cards.Answer:
    assert way.shown is not None
    draws = run.drawn(view.source, way.mechanism, view.known[0].mechanism, way.shown.budgets,
                      view.now.seed)
    return shape_cards.answer(asked, draws, way.typical, view.facts)


def _kept_at(view: View, way: Way, answer: shape_cards.Answer) -> None:
    """How often one method keeps the answer at the chosen budgets."""
    each = [f"**{shapes.in_draws(answer.at(k))}** ({shapes.chance_range(answer.at(k))}) at ε = "
            f"{EPSILON_STEPS[k]:g}" if answer.known[k] else
            f"not answered at ε = {EPSILON_STEPS[k]:g}" for k in view.at]
    st.markdown(f"{way.label}: {', '.join(each)}")


def options() -> None:
    controls.more_options(epsilon=False)


def formulas(view: View) -> None:
    """What each method computes."""
    for way in view.ways:
        guarantee_cards.formula(way.mechanism, {})
