"""Questions about the shape of the curve: what is asked, and how often a release agrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.answers import ReleasedCurve
from engine.answers.spread import NORMAL_PEOPLE
from engine.core.errors import InputError
from engine.core.types import Array, Budget, PublicFacts
from engine.language.grammar import escape
from engine.language.numbers import named
from engine.sources import Source
from engine.topics.compare import charts
from engine.topics.mean import answer as mean_topic
from engine.topics.mean import shape, words
from engine.topics.mean.answer import Draws
from engine.topics.mean.asked import GroupedReleases, asked, asked_groups, asked_next, first_release
from engine.topics.mean.shape import Agreeing, ShapeQuery
from engine.topics.planning.power import DEFAULT_POWER, PowerPlan, people_for_difference, verdict
from pages.parts.explore.scene import Scene
from pages.shared.cards import answers as answer_cards
from pages.shared.frame import controls, layout, parameters
from pages.shared.state import allowed, run, session, settings


def question(facts: PublicFacts) -> ShapeQuery | None:
    """Return the visitor's question, with usual numbers for unstated ones; None without one."""
    current = session.current()
    if current.shape_question not in shape.KINDS:
        return None
    default = shape.default(current.shape_question, facts)
    stated = {
        name.removeprefix("shape_"): getattr(current, name) for name in settings.SHAPE_NUMBERS
    }
    return shape.checked(
        replace(default, **{name: value for name, value in stated.items() if value is not None}),
        facts,
    )


def compares_groups(source: Source) -> bool:
    """True if the question is how two groups differ, for data with groups."""
    return session.current().shape_question == settings.GROUPS and len(source.group_names) > 1


def ask(facts: PublicFacts, has_groups: bool = False) -> ShapeQuery | None:
    """Choose a question and its numbers; show refused values beside them."""
    current = session.current()
    kinds = (*shape.KINDS, settings.NEXT, *((settings.GROUPS,) if has_groups else ()))
    controls.bound(
        st.segmented_control,
        "Question",
        current.shape_question if current.shape_question in kinds else None,
        lambda kind: session.change(shape_question=kind or ""),
        "shape",
        options=kinds,
        format_func=words.LABELS.get,
        help=words.HELP,
    )
    if current.shape_question not in shape.KINDS:
        return None
    _numbers(facts)
    with controls.refusals():
        return question(facts)
    return None


def _numbers(facts: PublicFacts) -> None:
    """Ask for the numbers of a question: public facts that the visitor states."""
    current = session.current()
    default = shape.default(current.shape_question, facts)
    within = (
        "tolerance",
        named("Within", facts.time_unit),
        "How far off a time may be and still be of use.",
    )
    level = (
        "level",
        named("Level", facts.value_unit),
        "A value from outside the data, such as a limit in a guideline.",
    )
    span = [
        ("first", named("From", facts.time_unit), "The first time."),
        ("second", named("To", facts.time_unit), "The second time."),
    ]
    numbers = {
        "peak": [within],
        "crossing": [level, within],
        "above": [level, within],
        "sign": span,
        "fastest": [*span, within],
    }[current.shape_question]
    with st.container(horizontal=True):
        for name, label, help in numbers:
            field = f"shape_{name}"
            stated = getattr(current, field)
            controls.number(
                label,
                getattr(default, name) if stated is None else stated,
                partial(_state, field),
                field,
                is_optional=True,
                help=help,
                width=180,
            )


def _state(field: str, value: float | None) -> None:
    """State a number; an emptied box returns to the default."""
    session.change(**{field: None if value is None else allowed.number(value, field)})


# -- the answer -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShapeAgreement:
    """Agreement of one method's releases at every budget, and averages without protection.

    `reference` is the answer of the curve they are compared with; `known` (budgets,) marks budgets
    with an answer.
    """

    reference: float
    agreeing: Agreeing
    ordinary: Agreeing | None
    known: NDArray[np.bool_]
    is_truth: bool

    def at(self, budget: int) -> Agreeing:
        return Agreeing(self.agreeing.counts[budget], self.agreeing.draws)


def answer(asked: ShapeQuery, draws: Draws, typical: Array, facts: PublicFacts) -> ShapeAgreement:
    """`typical` (budgets,) are errors, NaN where nothing would be published."""
    reference, times = draws.reference, draws.times
    ordinary = shape.how_often(asked, draws.ordinary, reference, times) if draws.is_truth else None
    return ShapeAgreement(
        float(shape.answers(asked, reference, times)),
        shape.how_often(asked, draws.curves, reference, times),
        ordinary,
        ~shape.is_drowned(typical, facts),
        draws.is_truth,
    )


def sentences(
    asked: ShapeQuery, kept_answer: ShapeAgreement, step: int, budget: Budget, facts: PublicFacts
) -> None:
    """Write the answer of the average, and how often a release gives it, too."""
    st.markdown(words.reference(asked, kept_answer.reference, facts, kept_answer.is_truth))
    if not kept_answer.known[step]:
        st.warning(words.refused(budget), icon=":material/block:")
        return
    st.markdown(
        words.agreement(
            asked,
            kept_answer.at(step),
            kept_answer.ordinary,
            facts,
            bool(np.isnan(kept_answer.reference)),
        )
    )


def _groups(scene: Scene) -> None:
    """Show the answers of releases about two groups, and how often they tell them apart."""
    groups: GroupedReleases = scene.asked(asked_groups)
    _list(groups.texts[scene.step])
    st.markdown(f":small[{words.groups_asked(*groups.names, scene.budget)}]")
    st.subheader(words.HOW_OFTEN, anchor=False)
    st.markdown(
        words.groups_told(
            groups.detected(scene.step), len(groups.texts[scene.step]), groups.void(scene.step)
        )
    )


def _next_person(scene: Scene) -> None:
    """Show the range for the next person, and how often simulated new people lie there."""
    people = scene.asked(asked_next)
    _list([mark.text for mark in people.marks[scene.step]])
    st.markdown(f":small[{escape(NORMAL_PEOPLE)} {words.ASKING}]")
    assert people.right is not None
    right = [share for share in people.right[scene.step].tolist() if np.isfinite(share)]
    if right:
        st.subheader(words.HOW_OFTEN, anchor=False)
        st.markdown(words.new_people(right, scene.facts))


def _list(texts: Sequence[str]) -> None:
    """List the answer of each release; one sentence if all agree."""
    if len(set(texts)) == 1:
        st.markdown(escape(texts[0]))
        return
    st.markdown(
        words.RELEASES + "\n" + "\n".join(f"{k}. {escape(text)}" for k, text in enumerate(texts, 1))
    )


def section(scene: Scene) -> None:
    """Show one question, its answers at the chosen budget, and how often releases give them."""
    st.subheader("Ask the curve", anchor=False)
    question = ask(scene.facts, len(scene.source.group_names) > 1)
    if not scene.is_refused:
        _answers(scene, question)
    layout.folded(
        "People needed to see a difference between two groups",
        "power",
        partial(people_needed, scene),
    )
    if question is not None:
        st.subheader(words.HOW_OFTEN, anchor=False)
        _how_often(scene, question)


def _answers(scene: Scene, question: ShapeQuery | None) -> None:
    """Show the answers of releases to the question, all answers of one, and synthetic people."""
    with layout.user_errors():
        if compares_groups(scene.source):
            _groups(scene)
        if session.current().shape_question == settings.NEXT:
            _next_person(scene)
        if question is not None:
            _list([mark.text for mark in scene.asked(asked, question).marks[scene.step]])
            st.markdown(f":small[{words.ASKING}]")
    layout.folded(
        "All answers of one release", "all_answers", lambda: answer_cards.table(first_curve(scene))
    )
    layout.folded(
        "Synthetic people drawn from one release",
        "synthetic",
        lambda: answer_cards.synthetic_section(
            first_curve(scene),
            scene.facts.name,
            scene.budget,
            session.current().seed,
            "synthetic",
            scene.is_own,
        ),
    )


def first_curve(scene: Scene) -> ReleasedCurve:
    """Return the first release on screen, as far as questions need it."""
    return run.answer(first_release, scene.study)


def _how_often(scene: Scene, asked: ShapeQuery) -> None:
    facts = scene.facts
    mechanism = session.current().mechanism
    draws = scene.asked(mean_topic.drawn)
    kept_answer = answer(asked, draws, scene.error, facts)
    sentences(asked, kept_answer, scene.step, scene.budget, facts)
    label, variant = parameters.named(mechanism)
    line = charts.MethodErrors(
        label,
        mechanism.key,
        mechanism.family,
        variant,
        np.where(kept_answer.known, scene.error, np.nan),
        np.array([]),
    )
    chart = charts.agreeing_share(
        scene.epsilons, [(line, kept_answer.agreeing)], scene.budget.epsilon
    )
    layout.draw(chart, "shape", 280, 260)
    st.markdown(f":small[{words.KEY}]")
    layout.folded(
        "Numbers behind this question",
        "shape_numbers",
        lambda: layout.table(chart.table, scene.is_own, 220),
    )


# -- how many people two groups need to show a difference at one time ------------------------------


_DEFAULT_SHARE = 1 / 50  # first difference to look for, as a share of the values' range


def people_needed(scene: Scene) -> None:
    """Ask for a difference and its time, and show how many people reveal it.

    The plan uses the scene's data, or the twin of own data, its method and budget.
    """
    source = scene.source if scene.source.is_random else session.twin_of(scene.source)
    difference, time = _planned_difference(scene.facts)
    with layout.user_errors():
        plan = run.answer(
            people_for_difference,
            source,
            scene.mechanism,
            scene.budget,
            difference,
            time,
            DEFAULT_POWER,
            session.current().seed,
        )
        st.markdown(escape(verdict(plan, scene.facts, scene.budget)))
        layout.table(_sizes(plan, scene.facts), scene.is_own, "content")


def _planned_difference(facts: PublicFacts) -> tuple[float, float]:
    current = session.current()
    width = facts.value_high - facts.value_low
    default = {
        "power_difference": float(f"{_DEFAULT_SHARE * width:.1g}"),
        "power_at": float(f"{(facts.time_low + facts.time_high) / 2:.3g}"),
    }
    labels = {
        "power_difference": (
            named("Difference", facts.value_unit),
            "The smallest that would matter.",
        ),
        "power_at": (named("At", facts.time_unit), "The time of that difference."),
    }
    stated = {
        name: default[name] if getattr(current, name) is None else getattr(current, name)
        for name in settings.POWER_NUMBERS
    }
    with st.container(horizontal=True):
        for name, (label, help) in labels.items():
            controls.number(
                label,
                stated[name],
                partial(_state_difference, name),
                name,
                is_optional=True,
                help=help,
                width=180,
            )
    return stated["power_difference"], stated["power_at"]


def _state_difference(field: str, value: float | None) -> None:
    """State a number of the plan."""
    if field == "power_difference" and value == 0:
        raise InputError(
            "The difference must be a number other than 0.",
            field=field,
            hint="State the smallest difference that would matter.",
        )
    _state(field, value)


def _sizes(plan: PowerPlan, facts: PublicFacts) -> list[dict[str, float | int | None]]:
    error = named("standard error", facts.value_unit)
    return [
        {
            f"{facts.people} in each group": size.people,
            error: round(size.error, 4) if math.isfinite(size.error) else None,
            "power (%)": round(100 * size.power),
        }
        for size in plan.sizes
    ]
