"""The steps of Publish: data, one question a screen, a preview, the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from engine.core.errors import InputError
from engine.core.tasks import DISTRIBUTION, MEAN_FUNCTION, ROC, SURVIVAL, TASKS
from engine.language import odds_words, tags
from engine.language.grammar import escape
from engine.language.numbers import in_unit, number, whole
from engine.release import sentences
from engine.release.certified import ReleaseCost
from engine.release.functions import axes_of
from engine.sources.twin import Twin
from engine.topics.release import better as of_releases
from engine.topics.release import charts, words
from engine.topics.release.preview import ReleasePreview, release_preview
from engine.topics.release.prices import Price
from engine.uploads import stated
from pages.parts.release import book, cards, confirm, result
from pages.parts.release import choice as choices
from pages.parts.release.choice import Choice
from pages.shared.cards import better
from pages.shared.cards import odds as odds_card
from pages.shared.frame import code_fold, controls, drawer, layout, strips
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors
from pages.shared.state import session
from pages.shared.state.settings import QUESTIONS
from pages.shared.uploads import columns, files, frozen, groups, panel, questions, reading
from pages.shared.uploads.questions import Alternative, AnswerRows

_TITLES = {"data": "Data", "preview": "Preview on simulated data", "release": "Release"}
_STEPS = ("data", "preview", "release")  # numbered; questions are part of the first
_EPSILONS = (0.5, 1.0, 2.0)  # offered as budgets


def is_past_data(choice: Choice) -> bool:
    """True if the step on screen comes after the data: only then a release is worked out."""
    return _step(choice) in ("budget", "preview", "release")


def show(choice: Choice, cost: ReleaseCost | None, details: Sequence[Detail]) -> None:
    """Show the decided steps, and the present one; `cost` is None if it is unknown."""
    step = _step(choice)
    if step in QUESTIONS:
        with layout.user_errors():
            _question(choice, step, cost, details)
        return
    at = _STEPS.index(step)
    if at:
        cards.strip(choice, cost)
    for k, earlier in enumerate(_STEPS[:at], 1):
        _decided(k, earlier, choice, cost)
    with st.container(horizontal=True, vertical_alignment="center"):
        is_out = step == "release" and "released" in st.session_state
        title = "Released" if is_out else _TITLES[step]
        st.header(
            f"{at + 1} {title}",
            anchor=False,
            width="stretch",
            help=f"Step {at + 1} of {len(_STEPS)}",
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
    """Return the step asked for, as far as there are data; with a file alone its first question.

    A visitor with a file from another page has stated everything there.
    """
    step = session.current().publish_step
    asked = panel.asked(choice.task)
    if choice.source is None:
        is_own = st.session_state.get("publish_file", True) and visitors.may_bring_files()
        if not (is_own and files.has_file()):
            return "data"
        return step if step in ("data", *asked) else asked[0]
    if step in asked and not _has_file(choice):
        return "data"
    return step or "preview"


def _go(step: str) -> None:
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
        f"Next: {_TITLES[step].lower()}" if step in _TITLES else "Next",
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
            args=(_first(step, choice),),
            help=f"Back to {_TITLES[step].lower()}; nothing is lost.",
        )


def _first(step: str, choice: Choice) -> str:
    """Return the step to go back to: for the data of a file its first question."""
    return panel.asked(choice.task)[0] if step == "data" and _has_file(choice) else step


def _has_file(choice: Choice) -> bool:
    """True if the data on screen are those of a file that is still here."""
    return session.uploaded(choice.task) and files.has_file()


def _data_line(choice: Choice) -> str:
    """Name the result and data to publish, their bounds, and who is trusted."""
    source = choice.file or choice.chosen
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
        error = choices.error_in_words(choice, cost)
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
        result.show()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cards.what(choice)
        wants_file = cards.data_choice(choice)
    if not wants_file:
        if choice.source is not None:
            _next("preview")
    elif not visitors.may_bring_files():
        st.info(panel.DEMONSTRATION, icon=":material/lock:")
    else:
        if files.uploaded(*columns.file_of(choice.task)) and files.is_new():
            _go(panel.asked(choice.task)[0])
            st.rerun()
        _next("who", is_open=files.has_file())
    if not is_past_data(choice):
        then = "Then: five questions · preview on simulated data · release."
        earlier = (
            (
                " Nothing is published until then. Earlier releases of this machine, and "
                "their files, are in the *Ledger*."
            )
            if choice.source is None
            else ""
        )
        st.markdown(f":small[{then}{earlier}]")


# -- questions ------------------------------------------------------------------------------------


def _question(
    choice: Choice, step: str, cost: ReleaseCost | None, details: Sequence[Detail]
) -> None:
    """Show one question, with the way to other data."""
    asked = panel.asked(choice.task)
    with st.container(key="publish_question"):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = files.name_of_file()
            about = f"{TASKS[choice.what].result}{f' · {escape(name)}' if name else ''}"
            st.markdown(f":small[{about}]", width="stretch")
            st.button("Other data", key="other_data", type="tertiary", on_click=_go, args=("data",))
            drawer.button(details, "Details", "details", ":material/right_panel_open:")
        if files.is_new() and (likely := reading.likely_task(choice.task)):
            _kind(choice, likely)
        elif step == "budget":
            _budget(choice, cost, len(asked))
        else:
            panel.ask(choice.task, step, _go, "Next", partial(_frozen, choice.task), len(asked) + 1)


_KINDS = {
    SURVIVAL.key: "A survival curve: a time and a status of each person",
    MEAN_FUNCTION.key: "An average curve: values of each person over time",
    DISTRIBUTION.key: "A distribution: one number of each person",
    ROC.key: "An ROC curve: a score and a label of each person",
}
_MOST_KINDS = 4
_KIND = "question_of_kind"  # key of the choice


def _kind(choice: Choice, likely: str) -> None:
    """Ask what is published of a file that suits another result than the one chosen."""
    kinds = [likely, *(key for key in (choice.what, *_KINDS) if key != likely)]
    labels = {key: _KINDS.get(key, TASKS[key].result) for key in dict.fromkeys(kinds)}
    offered = dict([*labels.items()][:_MOST_KINDS])
    chosen = questions.question(
        "kind", "Proposed from the columns of the file.", AnswerRows(_KIND, offered, likely), {}
    )

    def onward() -> None:
        files.ask_about()
        session.change(published_task=chosen, publish_step="who")

    questions.buttons(0, 0, "Next", onward, None, chosen is not None)


def _frozen(task: str) -> None:
    """Freeze the stated facts, and go on unless the file refutes them."""
    if frozen.freeze(task):
        _go("budget")


def _budget(choice: Choice, cost: ReleaseCost | None, n_before: int) -> None:
    """Ask for ε, with what each shows and what an attacker gets to know."""
    source = choice.chosen
    epsilons = {f"{epsilon:g}": epsilon for epsilon in sorted({*_EPSILONS, choice.budget.epsilon})}
    labels = {text: f"ε = {text}{_attacker(choice, epsilon)}" for text, epsilon in epsilons.items()}
    is_rehearsed = Twin.tasks & choice.mechanism.tasks
    known, wait = questions.priced(
        choice.task,
        {
            text: Alternative(source.facts, source.sizes, epsilon)
            for text, epsilon in epsilons.items()
            if is_rehearsed
        },
    )
    prices = {text: _shown(choice, found) for text, found in known.items()}
    st.session_state[_BUDGET] = f"{choice.budget.epsilon:g}"
    questions.question(
        "budget",
        f"Proposed: ε = {choice.budget.epsilon:g}.",
        AnswerRows(_BUDGET, labels),
        {text: questions.UNKNOWN_YET for text in labels if is_rehearsed} | prices,
        lambda: session.set_epsilon(float(st.session_state[_BUDGET])),
    )
    st.markdown(":small[This question is answered without the file.]")
    if cost is not None:
        st.markdown(f":small[{sentences.left(source.facts, strips.standing(source))}]")
    wait()
    asked = panel.asked(choice.task)
    questions.buttons(
        n_before + 1,
        n_before + 1,
        "Preview",
        partial(_go, "preview"),
        partial(_go, asked[-1] if _has_file(choice) else "data"),
        not controls.is_refused(),
    )


_BUDGET = "question_epsilon"  # key of the choice


def _attacker(choice: Choice, epsilon: float) -> str:
    """Write the attacker's accuracy at an ε; "" if such a release cannot be made."""
    try:
        cost = choices.cost_of(choice, choice.chosen, replace(choice.budget, epsilon=epsilon))
    except InputError:
        return ""
    return f" · attacker’s accuracy {odds_words.odds_short(odds_card.of(cost.certified_spends))}"


def _shown(choice: Choice, found: Price | None) -> str:
    if found is None:
        return "nothing released"
    if found.is_flat:
        return "no shape left"
    unit = escape(choice.chosen.facts.value_unit)
    return f"shows rises of {in_unit(found.change, unit, 2)}" if found.change > 0 else ""


# -- preview and release --------------------------------------------------------------------------


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
    confirm.leave_out(choice)
    no_room = choices.no_room_for(choice)
    controls.show_refusal(no_room, ":material/block:")
    left, right = st.columns([7, 4], gap="medium")
    with left, layout.user_errors():
        preview(choice, cost)
    with right, layout.user_errors():
        book.odds(choice, cost)
    is_blocked = no_room is not None and "released" not in st.session_state
    _next("release", is_open=not is_blocked)


def _release(choice: Choice, cost: ReleaseCost | None) -> None:
    """Show the release; and ticks, a name and the button of the next release."""
    with layout.user_errors():
        result.show()
    with layout.user_errors():
        confirm.before(choice, cost)


def preview(choice: Choice, cost: ReleaseCost) -> None:
    """Show a simulated release with its band, its error, and how much of a shape survives."""
    with layout.card(words.TITLE):
        facts = choice.chosen.facts
        try:
            simulated = choices.previewed(choice, choice.chosen, cost)
        except InputError as problem:
            st.info(controls.message(problem), icon=":material/info:")
            return
        if survives := words.survives(simulated, choice.what):
            st.markdown(survives)
        st.markdown(f":small[{words.about(simulated)}]")
        _, across, up, _ = axes_of(choice.mechanism, facts)
        if across:
            layout.draw(charts.preview_chart(simulated, across, up), "release_preview", 300, 260)
            st.markdown(f":small[{words.band(simulated)}]")
            if (ranges := charts.preview_ranges(simulated)) is not None:
                layout.draw(ranges, "preview_ranges", 170, 150)
        else:
            st.metric(f"{up}, simulated", number(float(simulated.curves[0].released[0]), 4))
        st.markdown(words.error(simulated, choice.what))
        layout.note(words.not_used(choice.mechanism, facts))
        _better(choice, simulated)


def _better(choice: Choice, simulated: ReleasePreview) -> None:
    """List what would narrow the band of the release."""
    source, budget = choice.chosen, choice.budget
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
