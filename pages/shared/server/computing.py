"""Computations of pages: in worker processes, ended as soon as nobody waits for them.

The web process only waits, so it stays free for everybody else; a visitor who moves on or leaves
ends computations that only they asked for. Without a server, as in tests of pages, the calling
process computes.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.core.faults import WorkerFault
from engine.running import bounded
from engine.running.bounded import Bounds
from pages.shared.server.jobs import Job, Jobs

_SLOTS, _PAUSED, _WAITING = 2, 4, 30
_MAX_MINUTES = 3.0  # longest computation, while a visitor looks at an empty place
_TURN_SECONDS = 0.05  # between looks whether the page is still wanted
_GRACE_SECONDS = 0.4  # an abandoned job may still finish, which spares a worker
_REST_SECONDS = 0.4  # without a move, after which a visitor counts as at rest
_MOVING_SECONDS = 1.0  # since a run was given up

_POOL = Jobs(_SLOTS, _WAITING, _MAX_MINUTES, _PAUSED)
_watched: Counter[Job] = Counter()
_lock = threading.Lock()
_in_workers = False


class _Pace:
    """Detection of visitors who are still moving a control, and will not see what is on its way."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.running = 0  # runs of the page that wait for a result now
        self.given_up = -_MOVING_SECONDS

    @property
    def is_moving(self) -> bool:
        return self.running > 0 or self._clock() - self.given_up < _MOVING_SECONDS

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Note how a run ends: streamlit stops one that has been superseded by an exception."""
        self.running += 1
        try:
            yield
        except BaseException as end:
            if not isinstance(end, Exception) or type(end).__module__.startswith("streamlit"):
                self.given_up = self._clock()
            raise
        finally:
            self.running -= 1


def use_workers() -> None:
    """Compute in workers from now on; both are started at once, which takes seconds."""
    global _in_workers
    _in_workers = True
    _POOL.warm_up()


def uses_workers() -> bool:
    """True if a page waits for its computations, so that slow ones should come last."""
    return _in_workers


def computed(
    key: str,
    function: Callable[..., Any],
    *arguments: Any,
    progress: Callable[[int], None] = lambda done: None,
    bounds: Bounds | None = None,
) -> Any:
    """Return the result of an engine function; `progress` often gets the number of steps done.

    Visitors who ask with the same key at once share one computation, so a key for an upload must
    name its session. With `bounds` the worker ends when it takes more.
    """
    if not _in_workers:
        return (
            _here(function(*arguments), progress)
            if inspect.isgeneratorfunction(function)
            else function(*arguments)
        )
    if bounds is not None:
        function, arguments = bounded.within, (bounds, function, *arguments)
    pace = st.session_state.setdefault("pace", _Pace()) if _of_a_page() else _Pace()
    is_moving = pace.is_moving
    with pace.followed():
        if is_moving:
            _rest()
        return _outcome(_waited_for(key, function, arguments, progress), bounds)


def _here(steps: Generator[Any, None, Any], progress: Callable[[int], None]) -> Any:
    done = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        done += 1
        progress(done)


def _rest() -> None:
    """Wait for a moment without a further move; a move ends this run of the page."""
    end = time.monotonic() + _REST_SECONDS
    while time.monotonic() < end:
        time.sleep(_TURN_SECONDS)
        _make_way()


def _waited_for(
    key: str,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    progress: Callable[[int], None],
) -> Job:
    while True:
        # The pool keeps no result: pages have stores, and an upload's leaves with its visitor.
        job = _POOL.start(
            key, function, *arguments, is_kept=False, visitor=_visitor(), is_later=_is_later()
        )
        with _watching(job):
            _follow(job, progress)
        if job.state != "stopped":  # else others gave it up just before
            return job


def _follow(job: Job, progress: Callable[[int], None]) -> None:
    while not job.wait(_TURN_SECONDS):
        _make_way()
        progress(len(job.parts))


def _make_way() -> None:
    """Let streamlit end this run if the visitor has asked for another, or has left.

    It does so whenever a page looks at its state.
    """
    if _of_a_page():
        _ = "pace" in st.session_state


def _visitor() -> str:
    """Return the session of the page that asks; "" outside a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def _is_later() -> bool:
    """True if no page waits for it to stand: it asks for itself, or a part of it runs again."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is None or bool(context.fragment_ids_this_run)


def _of_a_page() -> bool:
    return get_script_run_ctx(suppress_warning=True) is not None


@contextmanager
def _watching(job: Job) -> Iterator[None]:
    """Keep the job from being given up inside this context."""
    with _lock:
        _watched[job] += 1
    try:
        yield
    finally:
        with _lock:
            _watched[job] -= 1
            is_left = not _watched[job]
            if is_left:
                del _watched[job]
        if is_left and job.live:
            _POOL.disown(job)
            threading.Timer(_GRACE_SECONDS, _give_up, [job]).start()


def _give_up(job: Job) -> None:
    """Stop a job that nobody has come back to."""
    with _lock:
        if job not in _watched:
            job.stop()


def _outcome(job: Job, bounds: Bounds | None) -> Any:
    if job.problem is not None:
        raise job.problem
    is_ended = job.fault == bounded.Ended.__name__ or job.is_ended_by_the_system
    if bounds is not None and job.fault and is_ended:
        raise bounded.Ended(job.fault)
    if job.fault:
        raise WorkerFault(f"{job.fault} in job {job.key}")
    return job.result
