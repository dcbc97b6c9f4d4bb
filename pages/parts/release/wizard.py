"""The three steps of Publish: one on screen, those before it as one line each with a way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.language import odds_words, tags
from engine.language.grammar import escape
from engine.language.numbers import number, whole
from engine.release.certified import ReleaseCost
from engine.release.functions import axes_of
from engine.topics.release import better as of_releases
from engine.topics.release import charts, words
from engine.topics.release.preview import ReleasePreview, release_preview
from engine.uploads import stated
from pages.parts.release import cards
from pages.parts.release.cards import Choice
from pages.shared.cards import better
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, drawer, layout
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors
from pages.shared.state import session
from pages.shared.state.settings import WIZARD
from pages.shared.uploads import draft, frozen, groups, panel

_TITLES = {"data": "Data", "preview": "Preview on simulated data", "release": "Release"}


def is_past_data(choice: Choice) -> bool:
    """True if the step on screen comes after the data: only then a release is worked out."""
    return _step(choice) != "data"


def show(choice: Choice, cost: ReleaseCost | None, details: Sequence[Detail]) -> None:
    """Show the decided steps, and the present one; `cost` is None if it is unknown."""
    step = _step(choice)
    at = WIZARD.index(step)
    if is_past_data(choice):
        cards.strip(choice, cost)
    for k, earlier in enumerate(WIZARD[:at], 1):
        _decided(k, earlier, choice, cost)
    with st.container(horizontal=True, vertical_alignment="center"):
        is_out = step == "release" and "released" in st.session_state
        title = "Released" if is_out else _TITLES[step]
        st.header(
            f"{at + 1} {title}",
            anchor=False,
            width="stretch",
            help=f"Step {at + 1} of {len(WIZARD)}",
        )
        drawer.button(
            details,
            "Ledger",
            "wizard_ledger",
            ":material/receipt_long:",
            "release_ledger",
            "tertiary",
        )
        drawer.button(details, "Details", "details", ":material/right_panel_open:")
    {"data": _data, "preview": _preview, "release": _release}[step](choice, cost)


# -- which step ----------------------------------------------------------------------------------


def _step(choice: Choice) -> str:
    """Return *data* until data are chosen, then the step asked for, or else the preview.

    A visitor with a file from another page has stated everything there.
    """
    return (session.current().publish_step or "preview") if choice.source is not None else "data"


def _go(step: str) -> None:
    draft.hold_answers()
    session.change(publish_step=step)


def _next(step: str, then: Callable[[], bool] = lambda: True, is_open: bool = True) -> None:
    """Draw the button to the next step; pressed, it first calls `then`, which may fail.

    The button stays disabled until all is stated and while a control holds a refused value; a press
    checks for the latter again.
    """

    def go() -> None:
        if not controls.is_refused() and then():
            _go(step)

    st.button(
        f"Next: {_TITLES[step].lower()}",
        key="wizard_next",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=go,
        disabled=not is_open or controls.is_refused(),
    )


def _decided(number: int, step: str, choice: Choice, cost: ReleaseCost | None) -> None:
    """Show one line for a finished step, with the way back to it."""
    line = _data_line(choice) if step == "data" else _preview_line(choice, cost)
    with st.container(horizontal=True, vertical_alignment="center", key=f"decided_{number}"):
        st.markdown(f"{number} **{_TITLES[step]}** · {line}", width="stretch")
        st.button(
            "Change",
            key=f"change_step_{number}",
            type="tertiary",
            on_click=_go,
            args=(step,),
            help=f"Back to {_TITLES[step].lower()}; nothing is lost.",
        )


def _data_line(choice: Choice) -> str:
    """Name the result and data to publish, their bounds, and who is trusted."""
    source = choice.file
    assert source is not None
    file, n_curves = code_fold.own_file(choice.task), source.sizes.n_curves
    data = (
        tags.data_chip(source.facts, n_curves)
        if file is None
        else f"{whole(n_curves)} {source.facts.people}, {file.name}"
    )
    held = "curve" if getattr(source, "holds_curves", True) else "record"
    return " · ".join(
        filter(
            None,
            (
                f"{TASKS[choice.what].result}: {escape(data)}",
                escape(groups.in_short(source)),
                controls.plain(tags.bounds_tag(source.facts)),
                stated.trust_tag(source.sizes, held)[0],
            ),
        )
    )


def _preview_line(choice: Choice, cost: ReleaseCost | None) -> str:
    """Write budget and method, the attacker's accuracy, and the error expected from the twin."""
    risk = error = about = ""
    if choice.source is not None and (group := groups.name(choice.source)):
        about = f" for {escape(group)}"
    if cost is not None:
        risk = f"attacker’s accuracy {odds_words.odds_short(odds_card.of(cost.certified_spends))}"
        error = cards.error_in_words(choice, cost)
    forecast = f"forecast error{about} {error}" if error else ""
    return " · ".join(
        filter(
            None, (tags.budget_chip(choice.budget), escape(choice.mechanism.label), risk, forecast)
        )
    )


# -- the steps -----------------------------------------------------------------------------------


def _data(choice: Choice, _: ReleaseCost | None) -> None:
    """Choose the result, from public data or from a file with its stated facts.

    An earlier release, reopened from the ledger, appears above, as there are no data.
    """
    if choice.source is None:
        cards.result()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cards.what(choice)
        wants_file = cards.data_choice(choice)
    if not wants_file:
        if choice.source is not None:
            _next("preview")
    elif not visitors.may_bring_files():
        st.info(panel.DEMONSTRATION, icon=":material/lock:")
    else:
        is_whole = panel.form(choice.task)
        _next("preview", partial(_frozen, choice.task), is_whole)
    if not is_past_data(choice):
        then = f"Then: {' · '.join(_TITLES[later].lower() for later in WIZARD[1:])}."
        earlier = (
            (
                " Nothing is published until then. Earlier releases of this machine, and "
                "their files, are in the *Ledger*."
            )
            if choice.source is None
            else ""
        )
        st.markdown(f":small[{then}{earlier}]")


def _frozen(task: str) -> bool:
    """Freeze the stated facts, and show the data; False if the file refutes them."""
    draft.hold_answers()
    return frozen.freeze(task)


def _preview(choice: Choice, cost: ReleaseCost | None) -> None:
    """Compare file and stated facts, choose budget and method, and preview the curve."""
    if choice.file is not None and choice.file.facts.is_upload:
        frozen.say_answer()
        frozen.say_changed(frozen.declaration(choice.task).changed or ())
    cards.budget_and_method(choice)
    if cost is None:
        return
    if controls.is_refused():
        st.info("The preview is back once this is put right.", icon=":material/info:")
        _next("release")
        return
    cards.leave_out(choice)
    if (no_room := cards.no_room_for(choice)) is not None:
        st.error(controls.message(no_room), icon=":material/block:")
    left, right = st.columns([7, 4], gap="medium")
    with left, layout.user_errors():
        preview(choice, cost)
    with right, layout.user_errors():
        cards.odds(choice, cost)
    is_blocked = no_room is not None and "released" not in st.session_state
    _next("release", is_open=not is_blocked)


def _release(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show the release; and ticks, a name and the button of the next release."""
    with layout.user_errors():
        cards.result()
    with layout.user_errors():
        cards.before(choice, cost)


def preview(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show a simulated release with its band, its error, and how much of a shape survives."""
    if choice.source is None or cost is None:
        return
    with st.container(border=True):
        st.subheader(words.TITLE, anchor=False)
        facts = choice.source.facts
        st.markdown(words.about(facts))
        try:
            simulated = cards.previewed(choice, choice.source, cost)
        except InputError as problem:
            st.info(controls.message(problem), icon=":material/info:")
            return
        _, across, up, _ = axes_of(choice.mechanism, facts)
        if across:
            chart = charts.preview_chart(simulated, across, up)
            layout.draw(chart, "release_preview", 300, 260)
            st.markdown(f":small[{words.band(simulated)}]")
            if (ranges := charts.preview_ranges(simulated)) is not None:
                layout.draw(ranges, "preview_ranges", 170, 150)
        else:
            st.metric(f"{up}, simulated", number(float(simulated.curves[0].released[0]), 4))
        st.markdown(words.error(simulated, choice.what))
        if survives := words.survives(simulated, choice.what):
            st.markdown(survives)
        if unused := words.not_used(choice.mechanism, facts):
            st.info(unused, icon=":material/info:")
        _better(choice, simulated)


def _better(choice: Choice, simulated: ReleasePreview) -> None:
    """List what would narrow the band of the release."""
    source, budget = choice.source, choice.budget
    assert source is not None
    arguments = {
        "facts": source.facts,
        "sizes": source.sizes,
        "mechanism": choice.mechanism,
        "budget": budget,
        "seed": session.current().seed,
    }
    unit = source.facts.value_unit if TASKS[choice.what].has_value_unit else ""
    measured = better.Measurement(
        release_preview,
        arguments,
        of_releases.quantity(simulated),
        of_releases.value(simulated),
        unit,
        of_releases.value,
    )
    changes = of_releases.changes(
        source.facts, source.sizes.n_curves, choice.mechanism, budget, choice.settings.delta
    )
    better.show(changes, measured, choice.task)
