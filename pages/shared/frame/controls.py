"""Widgets that read and write the settings; they hold engine objects, never raw values.

The value lives in the settings. Every run sets the widget from it, and the widget's callback writes
it back before the next run of the page. So values survive page changes, and a link moves every
widget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.registry import Registry
from engine.core.tasks import TASKS, DataType
from engine.language import glossary, typed
from engine.mechanisms import mechanisms
from engine.sources import sources
from pages.shared import components
from pages.shared.state import session, settings

Option = TypeVar("Option")
PRIVACY_BUDGET = "Privacy budget ε (smaller = more private)"
_DIGITS = 9  # digits of a number in a field


def bound(
    widget: Callable[..., Any],
    label: str,
    value: Any,
    write: Callable[[Any], None],
    key: str,
    refused_here: bool = True,
    **options: Any,
) -> None:
    """Draw a widget that shows `value` and calls `write` with the visitor's change.

    The widget shows a refusal below itself, unless `refused_here` says that the page does so
    elsewhere (`show_problem`), and the settings stay unchanged. The refused value stays in the
    widget until it is corrected (`is_refused`), so that it never looks accepted. The glossary
    explains a label that is one of its terms, unless there is other `help`.
    """
    key = f"w_{key}"

    def changed() -> None:
        chosen = st.session_state[key]
        is_choice = "format_func" in options and isinstance(chosen, str)
        if is_choice and chosen not in options["options"]:
            return  # an option's earlier label, since reworded
        try:
            write(chosen)
        except InputError as problem:
            st.session_state.problem = (key, problem)

    # a widget with an enumeration value needs all its members as options; ours are text
    wanted = str(value) if isinstance(value, Enumeration) else value
    # a value written here replaces the browser's, including text being typed
    if key not in st.session_state and _refused()[0] == key:  # the typed text left with its widget
        st.session_state.pop("problem")
    if (
        _has_new_labels(key, options) | session.is_first_drawn(key)
        or key not in st.session_state
        or (st.session_state[key] != wanted and _refused()[0] != key)
    ):
        st.session_state[key] = wanted
    options.setdefault("help", glossary.of_label(label))
    widget(label, key=key, on_change=changed, **options)
    if refused_here:
        show_problem(key)


def number(
    label: str,
    value: float | None,
    write: Callable[[Any], None],
    key: str,
    is_whole: bool = False,
    is_optional: bool = False,
    n_digits: int = _DIGITS,
    **options: Any,
) -> None:
    """Draw a field for a number as people type it: with a comma or a point; counts with marks too.

    A text that is no number, or that `write` refuses, stays in the field; the message quotes it and
    states the number in use. An optional number is None if the field is empty.
    """
    displayed = "" if value is None else str(value) if is_whole else f"{value:.{n_digits}g}"
    until = f"Until then {displayed} counts." if displayed else ""

    def read(text: str) -> None:
        try:
            write(None if is_optional and not text.strip() else number_in(text, is_whole))
        except InputError as problem:
            raise InputError(
                problem.message, problem.field, f"{problem.hint} {until}".strip()
            ) from None

    if not options.get("refused_here", True):
        bound(st.text_input, label, displayed, read, key, **options)
        return
    with st.container(width=options.pop("width", "stretch")):  # shows a refusal below its field
        bound(st.text_input, label, displayed, read, key, **options)


def entered(label: str, key: str, is_whole: bool = False, **options: Any) -> float | None:
    """Return the number in a field that belongs to no setting, as people type it.

    None while the field is empty; NaN, with a message below, if its text is refused.
    """
    with st.container():
        text: str = st.text_input(label, key=key, **options)
        if not text.strip():
            return None
        try:
            return number_in(text, is_whole)
        except InputError as problem:
            st.error(message(problem), icon=":material/error:")
            return math.nan


def written(value: float) -> str:
    """Write a number as the field of `entered` shows it, with all its digits."""
    return f"{value:.15g}"


def number_in(text: str, is_whole: bool = False) -> float:
    """Return the number that a text says, as people type it."""
    return typed.count(text) if is_whole else typed.number(text)


def _has_new_labels(key: str, options: dict[str, Any]) -> bool:
    """True if the labels of a choice changed since it was last drawn.

    The browser knows an option by its label, so the server must then send the choice again.
    """
    if "format_func" not in options:
        return False
    labels = [options["format_func"](option) for option in options["options"]]
    before = st.session_state.get(f"labels_{key}", labels)
    st.session_state[f"labels_{key}"] = labels
    return bool(before != labels)


def look(
    label: str, options: Sequence[Option], key: str, default: Option | None = None, **more: Any
) -> Option:
    """Draw a choice that changes only a picture or its words; a link keeps it.

    `key` is one of `settings.LOOKS`; without a choice it is `default`, or else the first option.
    """
    options = list(options)
    value = session.looked_at(key, options, default)

    def write(choice: Option) -> None:
        session.look_at(key, options.index(choice))

    bound(st.segmented_control, label, value, write, key, options=options, required=True, **more)
    return value


def show_problem(key: str) -> None:
    """Show the message of the last refused change, under its own control."""
    where, problem = _refused()
    show_refusal(problem if where == key else None)


def is_refused() -> bool:
    """True if a control on screen holds a refused value that is not yet corrected."""
    key = _refused()[0]
    return bool(key) and key in st.session_state


def _refused() -> tuple[str, InputError | None]:
    """Return the control whose value was refused last, and the reason."""
    return st.session_state.get("problem", ("", None))


def message(problem: InputError) -> str:
    """Write the fault in bold, then its remedy; text of the visitor cannot become markup."""
    escaped = [part.translate(_MARKUP) for part in (problem.message, problem.hint)]
    return f"**{escaped[0]}** {escaped[1]}".strip()


@contextmanager
def refusals(icon: str = ":material/error:") -> Iterator[None]:
    """Show a refusal in a red box, in place of what is left of the block."""
    try:
        yield
    except InputError as problem:
        show_refusal(problem, icon)


def show_refusal(problem: InputError | None, icon: str = ":material/error:") -> None:
    """Show a refusal in a red box, if there is one."""
    if problem is not None:
        st.error(message(problem), icon=icon)


@contextmanager
def kept(key: str) -> Iterator[None]:
    """Keep a refusal in the session, for `show_kept` where the next run of the page draws it."""
    try:
        yield
    except InputError as problem:
        st.session_state[key] = problem


def show_kept(key: str) -> None:
    """Show a kept refusal once."""
    show_refusal(st.session_state.pop(key, None))


_MARKUP = {ord(c): f"\\{c}" for c in "\\`*_{}[]<>#$|~:"}


def plain(text: str) -> str:
    """Escape the markup in words of a file."""
    return text.translate({ord(c): f"\\{c}" for c in "\\`*_[]<>#$|~:"})


# -- what is shown --------------------------------------------------------------------------


def source_choice(task: str = settings.TASK, key: str = "", **more: Any) -> None:
    """Choose the source of the curves: simulated, public data, or the visitor's own.

    `key` distinguishes two of them on screen at once; `more` are options of the widget.
    """
    presets, kind = _presets(sources, task), noun(task)
    mine = f"Your {kind.lower()}"
    labels = [
        *(label for label, _, _ in presets),
        *([mine] if session.upload_of(task) is not None else []),
    ]
    current = (
        mine if session.uploaded(task) else session.current().source_of(task).nearest_preset()[0]
    )

    def write(label: str) -> None:
        session.show_own(task, label == mine)
        if label != mine:
            cls, parameters = next((c, v) for name, c, v in presets if name == label)
            session.change_source(task, cls(**parameters))

    bound(
        st.selectbox,
        kind,
        current,
        write,
        key or _key("source", task),
        options=labels,
        help=f"Where the {kind.lower()} come from: simulation, public data, or your file.",
        **more,
    )


def noun(task: str) -> str:
    """Name the data above a choice of them."""
    return {DataType.RECORDS: "Records", DataType.EVENTS: "People"}.get(TASKS[task].data, "Curves")


def mechanism_choice(
    task: str = settings.TASK,
    beyond: tuple[str, Callable[[], None]] | None = None,
    is_beyond: bool = False,
    chosen: Callable[[], None] = lambda: None,
    **more: Any,
) -> None:
    """Choose the method, which is the way of adding noise; those with δ = 0 stand together.

    `beyond` is a last entry that is no method, with what it does, and `is_beyond` says that it is
    on screen; `chosen` follows the choice of a method; `more` are options of the widget.
    """
    presets = _presets(mechanisms, task)
    labels = [label for label, _, _ in presets]
    pure = [label for label, cls, _ in presets if cls.guarantee.is_pure]
    if pure and len(pure) < len(labels):
        others = [label for label in labels if label not in pure]
        labels = [*pure, *others] if labels[0] in pure else [*others, *pure]
    else:
        pure = []

    def write(label: str) -> None:
        if beyond is not None and label == beyond[0]:
            return beyond[1]()
        cls, parameters = next((c, v) for name, c, v in presets if name == label)
        session.change_mechanism(task, cls(**parameters))
        chosen()

    if beyond is not None:
        labels.append(beyond[0])
    bound(
        st.selectbox,
        "Method",
        beyond[0]
        if beyond is not None and is_beyond
        else session.current().mechanism_of(task).nearest_preset()[0],
        write,
        _key("mechanism", task),
        options=labels,
        format_func=lambda label: f"{label} · δ = 0" if label in pure else label,
        help=glossary.explain("method", "Its settings are among all settings."),
        **more,
    )


def epsilon_slider(key: str, help: str, label: str = PRIVACY_BUDGET) -> None:
    """Draw the ε of a page, with the steps of Explore.

    `help` adds this page's particulars to the meaning of the term.
    """
    current = session.current()
    bound(
        st.select_slider,
        label,
        current.epsilon,
        session.set_epsilon,
        key,
        options=session.steps(current.epsilon),
        format_func="ε = {:g}".format,
        help=glossary.explain("privacy budget", help),
    )


def live_epsilon_slider(key: str, help: str) -> None:
    """Draw the same slider, which pictures follow while it moves.

    `key` and `help` as of `epsilon_slider`.
    """
    current = session.current()
    steps = session.steps(current.epsilon)
    with st.container(gap=None):
        st.markdown(f":small[{PRIVACY_BUDGET}]", help=glossary.explain("privacy budget", help))
        components.slider(
            PRIVACY_BUDGET,
            [f"ε = {step:g}" for step in steps],
            steps.index(current.epsilon),
            key,
            lambda step: session.change(epsilon=steps[step]),
        )


def _key(name: str, task: str) -> str:
    return name if task == settings.TASK else f"{name}_{task}"


def _presets(shelf: Registry, task: str) -> list[tuple[str, Any, dict[str, Any]]]:
    return [
        (label, cls, parameters)
        for cls in shelf.for_task(task)
        for label, parameters in cls.presets_for(task)
    ]
