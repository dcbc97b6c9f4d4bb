"""The list of what would make a result better: each entry with its gain and its button."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.core.types import Budget, PublicFacts
from engine.mechanisms import Mechanism
from engine.sources import Source
from engine.sources.twin import Twin, studied
from engine.topics.better import MOST, TITLE, Better, Change, Quantity, best
from engine.topics.mean import better as of_mean
from pages.shared.frame import layout, timed
from pages.shared.frame.page import ReleaseView
from pages.shared.server.computing import uses_workers
from pages.shared.state import run, session
from pages.shared.state.settings import TASK
from pages.shared.uploads import frozen


@dataclass(frozen=True)
class Measurement:
    """A measurement of a result: an answer of the engine, and its value."""

    compute: Callable[..., Any]
    arguments: Mapping[str, object]  # of the result on screen, in the order of `compute`
    quantity: Quantity
    now: float
    unit: str
    value: Callable[[Any], float] = float

    def call(self, change: Change) -> tuple[object, ...]:
        """Return the arguments after a change."""
        return tuple({**self.arguments, **change.apply}.values())


def show(
    changes: Sequence[Change], measured: Measurement, task: str, at_once: Sequence[Better] = ()
) -> None:
    """Draw the entries that are known; the others follow one by one once the page stands.

    `at_once` are concessions whose gain needs no further answer: they come last.
    """
    calls = [measured.call(change) for change in changes]

    def draw(known: Mapping[int, Any], more_come: bool) -> None:
        answers = ((changes[k], measured.value(answer)) for k, answer in known.items())
        found = best(answers, measured.quantity, measured.now, measured.unit)
        entries = [*found, *at_once][:MOST]
        n_before = st.session_state.get("better_entries", MOST)
        st.session_state.better_entries = n_before if more_come else len(entries)
        _entries(entries, task, n_before - len(entries) if more_come else 0)

    timed.one_by_one(measured.compute, calls, draw)


def of_a_mean(view: ReleaseView, error: float) -> None:
    """Draw the list for a mean curve on screen with this error; nothing if nothing is released."""
    if error > 0:
        show(*_of_a_mean(view, error), TASK)


def best_of_a_mean(view: ReleaseView, error: float) -> Better | None:
    """Return the entry with the largest gain; None if there is none, or not all are known yet."""
    if not error > 0:
        return None
    changes, measured = _of_a_mean(view, error)
    calls = [measured.call(change) for change in changes]
    if uses_workers() and not all(run.knows(measured.compute, *call) for call in calls):
        return None
    answers = (
        (change, measured.value(run.answer(measured.compute, *call)))
        for change, call in zip(changes, calls, strict=True)
    )
    return next(iter(best(answers, measured.quantity, measured.now, measured.unit)), None)


def _of_a_mean(view: ReleaseView, error: float) -> tuple[Sequence[Change], Measurement]:
    arguments = {
        "source": studied(view.source),
        "mechanism": view.mechanism,
        "budget": view.budget,
        "seed": view.settings.seed,
    }
    unit = view.facts.value_unit
    return (
        of_mean.changes(view.source, view.mechanism, view.budget, view.settings.delta),
        Measurement(of_mean.error_after, arguments, Quantity.ERROR, error, unit),
    )


_ROW = 62  # pixels


def _entries(found: Sequence[Better], task: str, n_to_come: int) -> None:
    """Draw the entries, and below them the places of those to come."""
    if not found and n_to_come <= 0:
        return
    with st.container(key="better"):
        st.markdown(f"**{TITLE}**")
        for k, entry in enumerate(found):
            with st.container(horizontal=True, vertical_alignment="center", key=f"better_row_{k}"):
                is_pressed = st.button(entry.do, key=f"better_{k}", help=entry.only_if or None)
                st.markdown(str(entry.gain), width="content")
            if is_pressed:  # no callback: a part of the page that runs by itself draws no other
                with layout.user_errors():
                    apply(entry, task)
                    st.rerun()
        for _ in range(n_to_come):
            st.skeleton(height=_ROW)


_SETTINGS = {"target": "target_distance", "confidence": "confidence", "noise": "noise_place"}


def apply(entry: Better, task: str) -> None:
    """Put the changed arguments of an answer into the settings on screen."""
    changed = dict(entry.apply)
    source, method = changed.pop("source", None), changed.pop("mechanism", None)
    budget, facts = changed.pop("budget", None), changed.pop("facts", None)
    if isinstance(source, Twin) and session.uploaded(task):
        frozen.restate(task, source.stated)
    elif isinstance(source, Source):
        session.change_source(task, source)
    if isinstance(method, Mechanism):
        session.change_mechanism(task, method)
    if isinstance(budget, Budget):
        session.set_epsilon(budget.epsilon)
    if isinstance(facts, PublicFacts):
        frozen.restate(task, facts)
    session.change(**{_SETTINGS.get(name, name): value for name, value in changed.items()})
