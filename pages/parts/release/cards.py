"""The parts of Publish that choose what is released: result, data, budget and method."""

from __future__ import annotations

import streamlit as st

from engine.core.tasks import PERCENTILE_CURVES, PUBLISHED, TASKS
from engine.core.types import Budget
from engine.language import odds_words, tags
from engine.language.grammar import capital
from engine.mechanisms import mechanisms
from engine.release.certified import ReleaseCost
from engine.release.guarantee_card import unit_of
from engine.sources import Source, sources
from pages.parts.release import public_sample
from pages.parts.release.choice import Choice, cost_of, error_in_words
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls, parameters, strips
from pages.shared.state import session
from pages.shared.uploads import groups

_OF_PERCENTILES = ("percentiles", "limits", "point_mass")  # settings of a release of them


# -- what -------------------------------------------------------------------------------------


def strip(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show what is protected, and what this release would achieve, if it can be made."""
    source = choice.chosen
    unit = unit_of(source, choice.mechanism)
    odds = error = ""
    if cost is not None and not controls.is_refused():
        odds = odds_words.odds_short(odds_card.of(cost.certified_spends))
        error = error_in_words(choice, cost)
    strips.fixed(
        source.facts,
        tags.budget_chip(choice.budget),
        "release_strip",
        odds,
        error,
        TASKS[choice.task].unit,
        choice.budget.epsilon,
        stated=session.delta(choice.file or source, choice.task),
        is_forecast=True,
        n_curves=source.sizes.n_curves,
        protected=(
            capital(unit),
            "What is protected: exchanging all of it changes what is published only a little.",
        ),
        data=_about_data(choice),
    )
    strips.ledger_lines(choice.file or source)


def _about_data(choice: Choice) -> tuple[str, str] | None:
    """Describe the visitor's own data on this page, before and after a release of them."""
    source = choice.chosen
    if not source.facts.is_upload:
        return None
    on_screen = {release.release_id for release in st.session_state.get("released", ())}
    is_released = choice.settings.publish_step == "release" and any(
        entry.release_id in on_screen
        for part in choice.parts
        for entry in strips.standing(part).entries
    )
    return tags.published_chip(source.facts, source.sizes.n_curves, is_released)


def what(choice: Choice) -> None:
    """Choose the summary to publish."""
    controls.bound(
        st.selectbox,
        "What to publish",
        choice.what,
        _choose_what,
        "release_what",
        options=PUBLISHED,
        format_func=lambda key: TASKS[key].result,
    )


def budget_and_method(choice: Choice) -> None:
    """Choose ε and the method."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        current = session.current()
        controls.number(
            controls.PRIVACY_BUDGET,
            current.epsilon,
            session.set_epsilon,
            "release_epsilon",
            refused_here=False,
            help="Smaller ε: everybody is protected more, and the noise is larger.",
        )
        if choice.has_methods:
            controls.mechanism_choice(choice.task)
        groups.choice(choice.file)
        groups.look(choice.parts)
    controls.show_problem("w_release_epsilon")
    public_sample.show(choice)
    if choice.what == PERCENTILE_CURVES.key:
        parameters.parameter_form(
            choice.mechanism,
            f"m_{choice.mechanism.key}",
            lambda member: session.change_mechanism(choice.task, member),
            leave_out=[
                parameter.name
                for parameter in choice.mechanism.parameters()
                if parameter.name not in _OF_PERCENTILES
            ],
        )


def _choose_what(key: str) -> None:
    session.change(published_task=key, publish_step="data")
    st.session_state.pop("publish_file", None)


def data_choice(choice: Choice) -> bool:
    """Choose public data or an own file; True if a file is asked for."""
    task, state = choice.task, st.session_state
    public = {
        label: (cls, parameters)
        for cls in sources.for_task(task)
        if not cls.is_random
        for label, parameters in cls.presets_for(task)
    }
    mine = "A file of my own"
    is_public = choice.file is not None and not session.uploaded(task)
    wants_file = state.get("publish_file", not is_public)
    current = mine if wants_file or choice.file is None else choice.file.nearest_preset()[0]

    def write(label: str) -> None:
        state.publish_file = label == mine
        session.change(publish_step="data")
        session.show_own(task, label == mine)
        if label != mine:
            cls, parameters = public[label]
            session.change_source(task, cls(**parameters))

    controls.bound(
        st.selectbox,
        "Data",
        current,
        write,
        f"release_source_{task}",
        options=[mine, *public],
        help="Public data to try it, or your own file. "
        "Simulated curves are nobody’s: there is nothing to publish.",
    )
    return bool(current == mine)


def release_cost(choice: Choice) -> ReleaseCost | None:
    """Compute the cost; None, with the reason shown, if data or a group cannot be published."""
    with controls.refusals(":material/block:"):
        for part in choice.parts:
            cost_of(choice, part)
        return cost_of(choice, choice.chosen)
    _published_instead(choice, choice.chosen)
    return None


def _published_instead(choice: Choice, source: Source) -> None:
    """Name the methods with a hardened path for this task and budget."""
    if not choice.has_methods or not choice.mechanism.why_not_published(choice.budget):
        return
    budget = Budget(choice.budget.epsilon, choice.settings.delta_on(source).value)
    labels = [
        label
        for cls in mechanisms.for_task(choice.task)
        for label, parameters in cls.presets_for(choice.task)
        if not cls(**parameters).why_not_published(budget)
    ]
    st.markdown(f":small[Methods that can be published: {', '.join(labels)}.]")
