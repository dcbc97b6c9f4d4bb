"""The one bar of a page: what is computed for it, and how long that still takes.

The framework keeps the elements of the last run on screen, pale, until this run reaches them. So a
page sends nothing into the place of an answer until it is there, and this bar says whose it is.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.language.numbers import whole
from engine.mechanisms import Mechanism
from engine.sources import Source

_SHOWN_AFTER = 0.15  # seconds; a quicker answer needs no bar
_MOST = 0.95  # of the bar, until the answer is there
_MAX_PACES = 500
_MINUTES_FROM = 90  # seconds

T = TypeVar("T")

_BAR: ContextVar[DeltaGenerator | None] = ContextVar("bar", default=None)
_PACES: OrderedDict[tuple[Any, ...], float] = OrderedDict()  # seconds that a kind took last


def place() -> None:
    """Reserve the bar's place: always, so that the page below keeps its own."""
    with st.container(key="waiting"):
        _BAR.set(st.empty())


@contextmanager
def shown(
    function: Callable[..., Any], arguments: Sequence[Any], steps: int
) -> Iterator[Callable[[int], None]]:
    """Show the bar while a page waits for the engine; what it yields takes the steps done.

    Parts of a page that run again by themselves have words of their own.
    """
    kind, began, sent = _kind(function, arguments), time.monotonic(), ("", -1.0)
    bar = _BAR.get() if _is_whole_run() else None

    def tell(done: int) -> None:
        nonlocal sent
        elapsed = time.monotonic() - began
        if bar is None or elapsed < _SHOWN_AFTER:
            return
        left = seconds_left(elapsed, done, steps, _PACES.get(kind))
        share = min(_MOST, elapsed / (elapsed + left) if left else done / (done + 2))
        now = words(arguments, elapsed, left), round(share, 2)
        if now != sent:
            bar.progress(share, text=now[0])
            sent = now

    try:
        yield tell
        _PACES.pop(kind, None)  # the latest comes last
        _PACES[kind] = time.monotonic() - began
        while len(_PACES) > _MAX_PACES:
            _PACES.popitem(last=False)
    finally:
        if bar is not None and sent[0]:
            bar.empty()


def seconds_left(elapsed: float, done: int, steps: int, last: float | None) -> float | None:
    """Predict the rest from the last such computation, or the pace of two or more steps.

    None without either. Steps differ in length, so the last computation predicts better.
    """
    if last is not None and last > elapsed:
        return last - elapsed
    if steps > done > 1:
        return elapsed / done * (steps - done)
    return None


def words(arguments: Sequence[Any], elapsed: float, left: float | None) -> str:
    """Say what is computed, and how long it still takes or has taken."""
    about = next(_within(arguments, Source), None)
    what = "Computing"
    if about is not None:
        people = f"{whole(about.sizes.n_curves)} {about.facts.people}"
        what = f"Simulating {people}" if about.is_random else f"Computing releases of {people}"
    if left is not None:
        return f"{what} · about {duration(left)} left"
    return f"{what} · {duration(elapsed)} so far"


def duration(seconds: float) -> str:
    """Write a time in seconds, or minutes from a minute and a half on."""
    if seconds >= _MINUTES_FROM:
        return f"{round(seconds / 60)} minutes"
    rounded = max(1, round(seconds))
    return f"{rounded} second{'s' * (rounded > 1)}"


def _kind(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Name computations that take about the same time: by function, method and size."""
    methods = tuple(method.key for method in _within(arguments, Mechanism))
    sizes = tuple(
        round(math.log2(1 + source.sizes.n_curves)) for source in _within(arguments, Source)
    )
    return function.__qualname__, methods, sizes


def _within(values: Iterable[Any], kind: type[T]) -> Iterator[T]:
    """Find arguments of a kind, also in records such as a study."""
    for value in values:
        if isinstance(value, kind):
            yield value
        elif is_dataclass(value) and not isinstance(value, Source | Mechanism):
            yield from _within((getattr(value, each.name) for each in fields(value)), kind)


def _is_whole_run() -> bool:
    """True if the page runs from its top, rather than a part of it."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and not context.fragment_ids_this_run
