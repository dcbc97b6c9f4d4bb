"""The parts of Compare: small pictures, what errors are made of, risk, and questions of shape."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine import questions
from engine.core.types import Array
from engine.figures.traces import FLOOR
from engine.language import error_words, numbers, odds_words, quality
from engine.language.grammar import escape
from engine.language.numbers import at_most_percent
from engine.mechanisms import Mechanism
from engine.sources import Source
from engine.topics.compare import answer as compare_topic
from engine.topics.compare import charts, words
from engine.topics.compare.answer import MethodAnswer, RefusedMethod
from engine.topics.mean import words as mean_words
from engine.topics.mean.answer import EPSILON_STEPS, drawn
from engine.topics.mean.shape import ShapeQuery
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import shape as shape_cards
from pages.shared.frame import controls, layout, parameters, strips
from pages.shared.frame.page import View
from pages.shared.state import allowed, run, session, settings

_DEFAULT_METHODS = ("adaptive_mean", "noisy_gradient_mean", "frl")
_HEIGHT, _PHONE = 200, 180


class SideBySide(View):
    """Methods side by side: `answers` of all of them, `known` of those that refuse nothing."""

    page, fold_prefix, chart_prefix = "compare", "compare_", "compare_"
    formula_label, code_scope = "Formulas and sources", words.CODE

    def __init__(self) -> None:
        super().__init__()
        self.source = session.source()
        self.facts, self.words = self.source.facts, chosen_methods()
        self.methods = [_member(word, self.source) for word in self.words]
        self.delta = self.settings.delta_on(self.source).value
        self.steps = [EPSILON_STEPS.index(epsilon) for epsilon in self.settings.compared_budgets]
        self.answers = compare_topic.side_by_side(
            self.source,
            self.methods,
            self.delta,
            self.settings.seed,
            self.settings.group_size,
            run.mean_at_every_step,
        )
        self.known = compare_topic.not_refused(self.answers)
        self.floor = (
            run.answer(compare_topic.floor, self.source, self.delta, self.settings.group_size)
            if self.facts.is_simulated
            else None
        )

    def difference(self, method: MethodAnswer, k: int) -> Array:
        """Subtract the average without protection from each picture's releases: (draws, points)."""
        return method.picture.releases[k] - self.known[0].picture.ordinary

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    def strip(self) -> None:
        """Show the facts, with the spans of errors and odds of all pictures below."""
        odds = [method.odds[k] for method in self.known for k in self.steps]
        errors = [method.error[k] for method in self.known for k in self.steps]
        strips.fixed(
            self.facts,
            words.budgets(self.settings.compared_budgets),
            "compare_strip",
            odds_words.odds_span(odds) if odds else "",
            words.span(errors, self.facts.value_unit),
            highest=max(self.settings.compared_budgets),
            pins_here=False,
            stated=self.settings.delta_on(self.source),
        )

    def formula(self) -> None:
        """Show what each method computes."""
        for method in self.answers:
            guarantee_cards.formula(method.mechanism, {})

    def question(self) -> questions.Question:
        """Ask for the table and the errors at equal protection."""
        return questions.ask(
            compare_topic.at_budgets,
            self.source,
            self.methods,
            self.settings.compared_budgets,
            self.delta,
            self.settings.seed,
            self.settings.group_size,
        )

    def code(self) -> None:
        if self.known:
            super().code()


def _written(method: MethodAnswer, k: int) -> str:
    """Write an error in words; empty if nothing is published."""
    return numbers.error(
        method.error[k], method.picture.data.facts.value_unit, method.study.within[k]
    )


def _line(method: MethodAnswer, errors: Array | None = None) -> charts.MethodErrors:
    """Prepare a method for charts, with its errors or others."""
    within = np.quantile(method.study.errors, (0.05, 0.95), axis=1).T
    return charts.MethodErrors(
        method.label,
        method.mechanism.key,
        method.mechanism.family,
        parameters.variant(method.mechanism, method.label),
        method.error if errors is None else errors,
        method.attacker_accuracy,
        within,
    )


def _floor_line(view: SideBySide) -> charts.MethodErrors | None:
    """Return the floor as a line under those of the methods."""
    if view.floor is None:
        return None
    return charts.MethodErrors(FLOOR, "", "", 0, view.floor.errors, view.floor.attacker_accuracy)


def chosen_methods() -> tuple[str, ...]:
    """Return the words of the methods to compare: the chosen ones, or Explore's and defaults."""
    current = session.current()
    if current.compared_methods:
        return current.compared_methods
    chosen_word = _word_of(current.mechanism)
    others = [word for word in _DEFAULT_METHODS if word != chosen_word]
    return (chosen_word, *others[: len(_DEFAULT_METHODS) - 1])


def _word_of(mechanism: Mechanism) -> str:
    variant = parameters.named(mechanism)[1]
    return f"{mechanism.key}:{variant}" if variant else mechanism.key


def _member(word: str, source: Source) -> Mechanism:
    """Return the method of a word: as set on Explore if chosen there, else a named setting."""
    current = session.current()
    if word == _word_of(current.mechanism):
        return current.mechanism
    _, cls, parameters = settings.METHODS[word]
    return cls(**parameters).comparable(source.facts)


# -- above the pictures -----------------------------------------------------------------------


def choices(view: SideBySide) -> None:
    """Choose curves, methods and budgets."""
    left, right = st.columns([7, 3], gap="medium")
    with left:
        controls.bound(
            st.multiselect,
            "Methods",
            list(view.words),
            lambda chosen: session.change(compared_methods=allowed.methods(chosen)),
            "compare_methods",
            options=list(settings.METHODS),
            format_func=lambda word: settings.METHODS[word][0],
            help="Ways to add the noise. The one chosen on Explore keeps its settings there.",
        )
    with right:
        controls.bound(
            st.multiselect,
            "Budgets (ε)",
            list(view.settings.compared_budgets),
            lambda chosen: session.change(compared_budgets=allowed.budgets(chosen)),
            "compare_budgets",
            options=list(EPSILON_STEPS),
            format_func=lambda e: f"{e:g}",
            max_selections=settings.MAX_BUDGETS,
            help="Steps of the slider, side by side.",
        )


def promises(view: SideBySide) -> None:
    """Point out promises of two kinds under one ε."""
    layout.note(
        odds_words.two_kinds(
            {method.label: method.picture.budgets[0].delta for method in view.known}
        )
    )


# -- the pictures -----------------------------------------------------------------------------


def sizes(view: SideBySide) -> None:
    """Show the errors of all methods at the chosen budgets, on one axis."""
    if not view.known:
        return
    verdict(view)
    epsilons, floor = [EPSILON_STEPS[k] for k in view.steps], _floor_line(view)
    rows = len(view.known) + (floor is not None)
    view.draw(
        "Errors side by side",
        charts.sizes(
            [_line(method) for method in view.known],
            view.steps,
            epsilons,
            view.facts.value_unit,
            floor,
        ),
        "sizes",
        90 + rows * (30 + 18 * len(epsilons)),
        below=words.SIZES,
    )


def pictures(view: SideBySide) -> None:
    """Draw methods as rows, budgets as columns, each row on its own axes; one column on phones."""
    promises(view)
    first_said: dict[str, str] = {}  # the first sentence on each method
    for method in view.answers:
        st.subheader(method.label, anchor=False)
        if isinstance(method, RefusedMethod):
            st.markdown(controls.message(method.problem))
            continue
        _caution(method, view, first_said)
        st.markdown(f":small[{words.promise(method.picture.budgets[0].delta)}]")
        edge = charts.edge_of(
            [view.difference(method, k) for k in view.steps if not method.picture.is_refused(k)],
            view.facts,
        )
        for column, k in zip(st.columns(len(view.steps), gap="small"), view.steps, strict=True):
            with column:
                _cell(view, method, k, edge)
    st.markdown(f":small[{words.DIFFERENCE}]")


def _caution(method: MethodAnswer, view: SideBySide, first_said: dict[str, str]) -> None:
    """Warn of a method's limits for these curves, or so few of them; the same words once only."""
    picture = method.picture
    released = dict.fromkeys(text for k in view.steps for text in picture.warnings[k])
    for caution in (
        method.mechanism.unsuited_because(view.facts),
        quality.few_in_a_round(method.mechanism.fewest_in_a_round(picture.data.sizes)),
        *released,
    ):
        if caution in first_said:
            st.markdown(f":small[:material/warning: As for {first_said[caution]}.]")
        elif caution:
            first_said[caution] = method.label
            st.markdown(f":small[:material/warning: {caution}]")


def _cell(view: SideBySide, method: MethodAnswer, k: int, edge: float) -> None:
    epsilon, error = EPSILON_STEPS[k], _written(method, k)
    if not error:
        st.markdown(
            f":small[**ε = {epsilon:g}** · {quality.too_few(view.facts)}: nothing would "
            "be published.]"
        )
        return
    st.markdown(f":small[{words.cell(epsilon, escape(error), method.odds[k])}]")
    line = _line(method)
    chart = charts.difference(
        line,
        method.picture.times,
        view.difference(method, k),
        view.facts,
        edge,
        f"ε = {epsilon:g}, error {error}",
    )
    view.draw(
        f"{method.label}, ε = {epsilon:g}",
        chart,
        f"{line.key}_{line.variant}_{epsilon:g}",
        _HEIGHT,
        _PHONE,
    )
    if method.picture.not_shown[k]:
        st.markdown(f":small[{method.picture.not_shown[k]}]")


# -- errors and risk --------------------------------------------------------------------------


def verdict(view: SideBySide) -> None:
    """Show which method errs least at each budget."""
    lines = [
        words.smallest_error(
            EPSILON_STEPS[k],
            {method.label: float(method.error[k]) for method in view.known},
            {method.label: _written(method, k) for method in view.known},
        )
        for k in view.steps
    ]
    is_truth = view.source.is_random
    if view.floor is not None:
        least_errors = {EPSILON_STEPS[k]: float(view.floor.errors[k]) for k in view.steps}
        lines.append(words.floor(least_errors, view.facts))
    st.markdown("  \n".join(lines) + "  \n" + words.aim(is_truth))


def table(view: SideBySide) -> None:
    """Show the parts of errors, and the risk, a row for each method and budget."""
    st.header("Error components and attacker", anchor=False)
    data = pd.DataFrame([_row(view, method, k) for k in view.steps for method in view.known])
    layout.table(data, view.is_own, "content")
    st.markdown(
        ":small[Parts are shares of the squared error. The attacker’s accuracy: between "
        "two curves (guessing: 50 %). Power: at a 5 % false-positive rate (no "
        "information: 5 %).]"
    )


def _row(view: SideBySide, method: MethodAnswer, k: int) -> dict[str, object]:
    budget, odds, error = method.picture.budgets[k], method.odds[k], _written(method, k)
    row: dict[str, object] = {
        "method": method.label,
        "ε": f"{budget.epsilon:g}",
        "error": error or "nothing published",
    }
    for part, share in zip(error_words.PARTS, method.study.shares[k], strict=True):
        row[part] = f"{100 * share:.0f} %" if error else "–"
    row["accuracy"] = odds_words.odds_short(odds)
    row["power"] = at_most_percent(odds.power).replace("at most", "≤").replace("more than", ">")
    return row


def equal_protection(view: SideBySide) -> None:
    """Draw errors against the chance of a right guess, which means the same for every method."""
    st.header("Error at equal protection", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw(
            "Error against the attacker’s accuracy",
            charts.against_risk(
                [_line(method) for method in view.known],
                view.steps,
                view.facts.value_unit,
                2 * view.facts.value_half_width,
                _floor_line(view),
            ),
            "risk",
            340,
            300,
        )
        below = "" if view.floor is None else words.BELOW
        st.markdown(f":small[{words.RISK}{below}]")
    with right:
        st.markdown(words.equal_risk(*compare_topic.at_equal_risk(view.known), view.facts))


# -- shape ------------------------------------------------------------------------------------


def shapes_kept(view: SideBySide) -> None:
    """Ask all methods one question of shape at all budgets."""
    st.header("What would still be true of its shape?", anchor=False)
    question = shape_cards.ask(view.facts)
    if question is None:
        return
    answers = [(method, _answer(view, method, question)) for method in view.known]
    left, right = st.columns([7, 3], gap="medium")
    with left:
        chart = charts.agreeing_share(
            EPSILON_STEPS,
            [
                (_line(method, np.where(answer.known, method.error, np.nan)), answer.agreeing)
                for method, answer in answers
            ],
            None,
        )
        view.draw(
            mean_words.short(question, view.facts),
            chart,
            "shape",
            320,
            300,
            below=mean_words.KEY.replace(" ◇ you are here.", ""),
        )
    with right:
        first = answers[0][1]
        st.markdown(mean_words.reference(question, first.reference, view.facts, first.is_truth))
        st.markdown("Releases that say so, too; in brackets, what simulating so few leaves open:")
        for method, answer in answers:
            _kept_at(view, method, answer)


def _answer(
    view: SideBySide, method: MethodAnswer, question: ShapeQuery
) -> shape_cards.ShapeAgreement:
    draws = run.answer(
        drawn, view.source, method.mechanism, method.picture.budgets, view.settings.seed
    )
    return shape_cards.answer(question, draws, method.error, view.facts)


def _kept_at(view: SideBySide, method: MethodAnswer, answer: shape_cards.ShapeAgreement) -> None:
    """Show how often one method keeps the answer at the chosen budgets."""
    each = [
        f"**{mean_words.in_draws(answer.at(k))}** ({mean_words.chance_range(answer.at(k))}) "
        f"at ε = {EPSILON_STEPS[k]:g}"
        if answer.known[k]
        else f"not answered at ε = {EPSILON_STEPS[k]:g}"
        for k in view.steps
    ]
    st.markdown(f"{method.label}: {', '.join(each)}.")
