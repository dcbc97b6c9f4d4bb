"""Controls of the parameters of a source, mechanism or rate, and differences from defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from engine.core.registry import Parameter
from engine.language import glossary
from engine.language.numbers import whole
from engine.mechanisms import Mechanism
from pages.shared.frame.controls import PRIVACY_BUDGET, bound, noun, number
from pages.shared.state import session, settings
from pages.shared.state.lab_tasks import LAB_TASKS


def preset_of(member: Any) -> Any:
    """Return the preset that a source or mechanism started from."""
    return type(member)(**member.nearest_preset()[1])


_DEFAULT = "default"
# Parameters of curves that a table of sites replaces.
SIZES_OF_TABLE = (
    "n_curves",
    "n_observations_per_curve",
    "more_observations",
    "n_servers",
    "site_sizes",
    "site_readings",
    "n_visits",
)


def parameter_form(
    member: Any,
    prefix: str,
    write: Callable[[Any], None],
    leave_out: Sequence[str] = (),
    n_columns: int = 3,
) -> None:
    """Draw one widget for each parameter that a source or mechanism declares."""
    columns = st.columns(n_columns)
    parameters = [p for p in member.relevant_parameters() if p.name not in leave_out]
    for k, parameter in enumerate(parameters):
        with columns[k % n_columns]:
            _parameter_widget(member, parameter, prefix, write)


def _parameter_widget(
    member: Any, parameter: Parameter, prefix: str, write: Callable[[Any], None]
) -> None:
    def set_to(value: Any) -> None:
        write(with_value(member, parameter.name, value))

    symbol = f" ({parameter.symbol})" if parameter.symbol else ""
    label, key = f"{parameter.label}{symbol}", f"{prefix}_{parameter.name}"
    value = getattr(member, parameter.name)
    if parameter.choices:
        options = list(parameter.choices)
        if parameter.optional:
            options.insert(0, _DEFAULT)
        bound(
            st.selectbox,
            label,
            value or _DEFAULT,
            lambda chosen: set_to(None if chosen == _DEFAULT else chosen),
            key,
            options=options,
            help=parameter.help,
            format_func=_in_words,
        )
    elif parameter.kind is bool:
        bound(st.toggle, label, value, set_to, key, help=parameter.help)
    elif parameter.kind is str:
        bound(
            st.text_input,
            label,
            value or "",
            lambda text: set_to(text.strip() or None),
            key,
            help=parameter.help,
            placeholder=_DEFAULT,
            max_chars=settings.LONGEST_TEXT,
        )
    else:
        number(
            label,
            value,
            set_to,
            key,
            parameter.kind is int,
            parameter.optional,
            help=parameter.help,
            placeholder=_DEFAULT if parameter.optional else "",
        )


def with_value(member: Any, name: str, value: Any) -> Any:
    """Return the member with one parameter changed; defaults that depend on it follow."""
    return type(member)(**{**member.changed(), name: value})


def changed_chips(member: Any, leave_out: Sequence[str] = ()) -> list[str]:
    """Write `Basis functions 8 (default 12)` for every value that differs from its preset.

    `leave_out` are symbols of parameters that something else decides.
    """
    preset = preset_of(member).values()
    return [
        f"{p.label} {_in_words(getattr(member, p.name))} (default {_in_words(preset[p.name])})"
        for p in member.relevant_parameters()
        if getattr(member, p.name) != preset[p.name] and p.symbol not in leave_out
    ]


def _in_words(value: Any) -> str:
    if value == "":
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return whole(value)
    if value == "usual":  # a rule's key in links
        return _DEFAULT
    return "from the sizes" if value is None else str(value).replace("_", " ")


_OF_TABLE = ("n", "m", "S")  # symbols of sizes that a table of sites replaces


def all_changed(task: str = settings.TASK) -> list[str]:
    """Write all differences from the default settings of a task, in words."""
    current = session.current()
    has_table = current.has_table(task) and not session.uploaded(task)
    out = (
        []
        if session.uploaded(task)
        else changed_chips(current.source_of(task), _OF_TABLE if has_table else ())
    )
    if has_table:
        n = len(current.sites)
        out.append(f"Table of {n} site{'s' * (n != 1)}")
    out += changed_chips(current.mechanism_of(task))
    if current.delta is not None:
        out.append(f"δ {current.delta:g} (default by n)")
    if current.seed != settings.FRONT_PAGE.seed:
        out.append(f"Seed {current.seed}")
    if current.epsilon_limit is not None:
        out.append(f"Rule of your own: ε at most {current.epsilon_limit:g}")
    if current.group_size > 1:
        out.append(f"Attacker’s accuracy for {current.group_size} together (default 1)")
    if current.population is not None and not session.uploaded(task):
        out.append(f"Secret sample of {current.population:,}, as declared")
    return out


def more_options(
    task: str = settings.TASK,
    epsilon: bool = True,
    delta: bool = True,
    leave_out: Sequence[str] = (),
) -> None:
    """Draw every parameter of the curves and the method, δ and the seed.

    `epsilon` and `delta` are true if the page has one budget, asked for here; `leave_out` are
    parameters of the curves chosen elsewhere.
    """
    current, source = session.current(), session.source(task)
    mechanism = current.mechanism_of(task)
    if not session.uploaded(task):
        st.subheader(noun(task), anchor=False)
        recipe = current.source_of(task)
        if current.has_table(task):
            st.markdown(":small[Sizes are those of the table of sites on *Decide*.]")
            leave_out = (*leave_out, *SIZES_OF_TABLE)
        parameter_form(
            recipe,
            f"c_{recipe.key}",
            lambda member: session.change_source(task, member),
            leave_out=("mean", *leave_out),
            n_columns=1,
        )
    if task in LAB_TASKS:  # otherwise the method is not chosen
        st.subheader("Method", anchor=False)
        parameter_form(
            mechanism,
            f"m_{mechanism.key}",
            lambda member: session.change_mechanism(task, member),
            n_columns=1,
        )
    st.subheader("Privacy budget and seed", anchor=False)
    if epsilon:
        number(
            PRIVACY_BUDGET,
            current.epsilon,
            session.set_epsilon,
            "epsilon",
            help=glossary.explain("privacy budget", "Any value in the slider’s range."),
        )
    if delta:
        number(
            "Slack of the guarantee (δ)",
            current.delta_on(source).value,
            lambda chosen: session.set_delta(chosen, task),
            "delta",
            is_optional=True,
            n_digits=2,
            help=glossary.explain(
                "δ",
                "With δ = 1/n a mechanism may publish one whole curve. Some methods allow δ = 0.",
            ),
        )
    number(
        "Seed", current.seed, session.set_seed, "seed", is_whole=True, help=glossary.explain("seed")
    )


def named(mechanism: Mechanism) -> tuple[str, int]:
    """Return a method's name on screen, and the position of its named setting."""
    label = mechanism.nearest_preset()[0]
    return label, variant(mechanism, label)


def variant(mechanism: Mechanism, label: str) -> int:
    """Return the index of a method's named settings."""
    return [name for name, _ in mechanism.offered()].index(label)
