"""The five steps of Publish: one on screen, those before it as one line each with a way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.language import odds_words, tags
from engine.language.grammar import capital, escape
from engine.language.numbers import number
from engine.release.certified import Quote
from engine.release.functions import places
from engine.topics.release import preview_charts, words
from engine.topics.release.preview import release_preview
from engine.uploads import stated
from pages.parts.release import cards
from pages.parts.release.cards import Choice
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls, drawer, layout
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors
from pages.shared.state import run, session
from pages.shared.state.settings import WIZARD
from pages.shared.uploads import columns, draft, facts, flow, panel

_TITLES = {"file": "File", "bounds": "Public bounds", "trust": "Who is trusted",
           "preview": "Preview on the twin", "release": "Release"}
_OF_FILE = {step.key: step for step in flow.STEPS}


def is_past_data(choice: Choice) -> bool:
    """Whether the step on screen comes after the data: only then a release is worked out."""
    return WIZARD.index(_step(choice)) >= WIZARD.index("preview")


def show(choice: Choice, quoted: Quote | None, details: Sequence[Detail]) -> None:
    """The steps that are decided, and the one that is on.

    Parameters
    ----------
    choice : Choice
        What is to be published.
    quoted : Quote or None
        What it would cost, where that can be said.
    details : sequence of Detail
        What the drawer can hold.
    """
    step = _step(choice)
    at = WIZARD.index(step)
    if is_past_data(choice):
        cards.strip(choice, quoted)
    for place, earlier in enumerate(WIZARD[:at], 1):
        _decided(place, earlier, choice, quoted)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(f"{at + 1} {_TITLES[step]}", anchor=False, width="stretch",
                  help=f"Step {at + 1} of {len(WIZARD)}")
        if is_past_data(choice):  # before, the ledger is the first of the details
            drawer.button(details, "Ledger", "wizard_ledger", ":material/receipt_long:",
                          "release_ledger", "tertiary")
        drawer.button(details, "Details", "details", ":material/right_panel_open:")
    if step == "file":
        _file(choice)
    elif step in _OF_FILE:
        _of_file(choice)
    elif step == "preview":
        _preview(choice, quoted)
    else:
        _release(choice, quoted)


# -- which step ----------------------------------------------------------------------------------


def _step(choice: Choice) -> str:
    """The step that was asked for, or the last one for which all before it is decided."""
    reached = {"file": True, "bounds": draft.of(choice.task) is not None,
               "trust": bool(flow.BOUNDS.line(choice.task)),
               "preview": choice.source is not None, "release": choice.source is not None}
    asked = session.current().step
    return next(step for step in reversed(WIZARD[:WIZARD.index(asked) + 1]) if reached[step])


def _go(step: str) -> None:
    draft.hold_answers()
    session.change(step=step)


def _next(step: str, is_whole: bool, then: Callable[[], None] = lambda: None) -> None:
    """The button to the next step; what it has to do first is done once it is pressed."""
    def go() -> None:
        then()
        _go(step)

    st.button(f"Next: {_TITLES[step].lower()}", key="wizard_next", icon=":material/arrow_forward:",
              disabled=not is_whole, on_click=go)


def _decided(place: int, step: str, choice: Choice, quoted: Quote | None) -> None:
    """One line of a step before; what comes with public data cannot be changed."""
    line = _line(step, choice, quoted)
    if choice.source is not None and not choice.source.facts.is_upload and step in (
            "bounds", "trust"):
        st.markdown(f"{place} **{_TITLES[step]}** · {line}")
    else:
        flow.decided(place, _TITLES[step], line, lambda: _go(_target(step, choice)))


def _target(step: str, choice: Choice) -> str:
    """Where a change of a step begins: at the file if nothing of it is held any more."""
    is_held = step not in _OF_FILE or draft.of(choice.task) is not None
    return step if is_held else "file"


def _line(step: str, choice: Choice, quoted: Quote | None) -> str:
    """What was decided in a step, in a line."""
    if step == "preview":
        error = cards.error_in_words(choice, quoted) if quoted is not None else ""
        risk = f"attacker’s accuracy {odds_words.odds_short(odds_card.of(quoted.charged))}" \
            if quoted is not None else ""
        return " · ".join(filter(None, (tags.budget_chip(choice.budget),
                                        escape(choice.mechanism.label), risk,
                                        f"error {error}" * bool(error))))
    source = choice.source
    if source is None or not is_past_data(choice):
        return _OF_FILE[step].line(choice.task)
    if step == "file":
        return (f"{TASKS[choice.what].result}: "
                f"{escape(tags.data_chip(source.facts, source.sizes.n_curves))}")
    if step == "bounds":
        return facts.in_short(source.facts)
    held = "curve" if getattr(source, "holds_curves", True) else "record"
    return stated.trust_tag(source.sizes, held)[0]


# -- the steps -----------------------------------------------------------------------------------


def _file(choice: Choice) -> None:
    """What to publish, of public data or of a file."""
    cards.what(choice)
    if cards.data_choice(choice):
        if not visitors.may_bring_files():
            st.info(panel.DEMONSTRATION, icon=":material/lock:")
        elif flow.draw(flow.FILE, choice.task):
            _next("bounds", True)
        return
    if choice.source is not None:
        _next("preview", True)


def _of_file(choice: Choice) -> None:
    """Public bounds, or who is trusted; after the last of them the data are on screen."""
    step = _step(choice)
    is_whole = flow.draw(_OF_FILE[step], choice.task)
    if step == "bounds":
        _next("trust", is_whole)
        return
    upload = flow.own_data(choice.task) if is_whole else None
    if upload is not None:
        st.markdown(f"{capital(columns.trust_line(choice.task))}.")
        _next("preview", True, lambda: facts.show(upload, choice.task))


def _preview(choice: Choice, quoted: Quote | None) -> None:
    """Budget and method, and what of a curve survives; nothing is spent."""
    cards.budget_and_method(choice)
    if quoted is None:
        return
    left, right = st.columns([7, 4], gap="medium")
    with left, layout.user_errors():
        preview(choice, quoted)
    with right, layout.user_errors():
        cards.odds(choice, quoted)
    _next("release", True)


def _release(choice: Choice, quoted: Quote | None) -> None:
    """What was released; and ticks, a name and the button of the next release."""
    with layout.user_errors():
        cards.result()
    with layout.user_errors():
        cards.before(choice, quoted)


def preview(choice: Choice, quoted: Quote | None) -> None:
    """A simulated release with its band, how far off it is, and what of a shape survives."""
    if choice.source is None or quoted is None:
        return
    with st.container(border=True):
        st.subheader(words.TITLE, anchor=False)
        facts = choice.source.facts
        st.markdown(words.about(facts))
        try:
            simulated = run.at_once(release_preview, facts, choice.source.sizes, choice.mechanism,
                                    quoted.inner, session.current().seed)
        except InputError as problem:
            st.info(controls.message(problem), icon=":material/info:")
            return
        _, across, up, _ = places(choice.mechanism, facts)
        if across:
            chart = preview_charts.chart(simulated, across, up, layout.theme())
            layout.draw(chart, "release_preview", 300, 260)
            st.markdown(f":small[{words.band(simulated)}]")
            if (ranges := preview_charts.ranges(simulated, layout.theme())) is not None:
                layout.draw(ranges, "preview_ranges", 170, 150)
        else:
            st.metric(f"{up}, simulated", number(float(simulated.curves[0].released[0]), 4))
        st.markdown(words.error(simulated, choice.what))
        if survives := words.survives(simulated, choice.what):
            st.markdown(survives)
        for warning in simulated.warnings:
            st.warning(warning, icon=":material/warning:")
