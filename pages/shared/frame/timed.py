"""Parts of a page that run again by themselves, what is computed later, and long jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVarTuple

import streamlit as st

from engine.core.errors import InputError
from pages.shared.frame.controls import message
from pages.shared.frame.layout import small, user_errors
from pages.shared.server.computing import uses_workers
from pages.shared.server.jobs import Job, jobs
from pages.shared.state import run as results
from pages.shared.state.waiting import duration

_STAYS_SECONDS = 1.0  # a visitor must rest so long before further results are computed


def run(part: Callable[[], None], seconds: float | None) -> None:
    """Draw a part of the page, and again every so many seconds unless there are none.

    A slow browser may ask for the part again before it got the rest of the page. The framework then
    sends the rest without the part, at a place that does not exist yet, and the page turns white.
    The part therefore has a place of its own, which is always sent.
    """
    with st.container():
        st.fragment(part, run_every=seconds)()


def afterwards(words: str, compute: Callable[[], object]) -> None:
    """Compute slow results once the page is drawn, and draw the page again.

    It begins only if its visitor stays; `words` say so far what is to come.
    """
    has_begun = False

    def wait() -> None:
        nonlocal has_begun
        small(words)
        if has_begun:
            with user_errors():  # a busy server is asked again
                compute()
                st.rerun()
        has_begun = True

    run(wait, _STAYS_SECONDS)


def row_by_row(
    words: str,
    compute: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    draw: Callable[[list[Any]], None],
) -> None:
    """Compute several results of one function, and draw those available; a bar counts them.

    The first comes before anything is sent, so that the last drawing stays until then; the others
    follow once the page is drawn.
    """
    has_begun = False
    results.answer(compute, *calls[0])

    def wait() -> None:
        nonlocal has_begun
        known = [call for call in calls if results.knows(compute, *call)]
        st.progress(len(known) / len(calls), text=f"{words}: {len(known)} of {len(calls)} rows")
        draw([results.answer(compute, *call) for call in known])
        if has_begun:
            with user_errors():  # a busy server is asked again
                results.answer(compute, *calls[len(known)])
                st.rerun(scope="app" if len(known) + 1 == len(calls) else "fragment")
        has_begun = True

    run(wait, _STAYS_SECONDS)


def one_by_one(
    compute: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    draw: Callable[[dict[int, Any], bool], None],
) -> None:
    """Draw the results that are known, by their places; compute the others once the page stands.

    `draw` also hears whether more are to come. What is known at once has the same blocks about it:
    a block keeps the children of the one it replaces until the page is drawn, so that a list in
    other blocks would stand beside the next one meanwhile.
    """
    has_begun, refused = False, set[int]()

    def known() -> dict[int, Any]:
        if not uses_workers():
            return {k: results.answer(compute, *call) for k, call in enumerate(calls)}
        found = {}
        for k, call in enumerate(calls):
            with suppress(KeyError):
                found[k] = results.kept(compute, *call)
        return found

    def wait() -> None:
        nonlocal has_begun
        drawn = known()
        missing = [k for k in range(len(calls)) if k not in drawn and k not in refused]
        draw(drawn, bool(missing))
        if has_begun and missing:
            try:
                results.answer(compute, *calls[missing[0]])
            except InputError:  # too large, or too many visitors: it is left out
                refused.add(missing[0])
            is_last = len(missing) == 1 and not refused
            st.rerun(scope="app" if is_last else "fragment")
        has_begun = True

    run(wait, None if len(known()) == len(calls) else _STAYS_SECONDS)


# -- how a long job is shown -----------------------------------------------------------------------


Ts = TypeVarTuple("Ts")

_POLL_SECONDS = 0.5
_STOP_SECONDS = 0.5  # a stop takes a fifth of a second: shown at once, not at the next poll
_MAX_LEFT = 4


def begin(
    key: str,
    function: Callable[[*Ts], Any],
    *arguments: *Ts,
    total: int | None = None,
    is_shared: bool = True,
) -> Job:
    """Start a job for this visitor, or join the one that is there; see `jobs.Jobs.start`.

    A job that is not shared is found by this visitor alone.
    """
    if not is_shared:
        key = f"{key} {visitor()}"
    _left().pop(key, None)
    while True:
        job = jobs().start(
            key, function, *arguments, total=total, is_kept=is_shared, visitor=visitor()
        )
        if job.watch(visitor()):  # else its last watcher has just left
            return job


def warm_up() -> None:
    """Let every worker import what a sweep needs, so that the first points come at once."""
    with suppress(InputError):  # a busy server is warm already
        jobs().warm_up()


def visitor() -> str:
    """Return a meaningless name for this browser session."""
    return st.session_state.setdefault("visitor", uuid.uuid4().hex)


def _left() -> dict[str, Job]:
    """Return jobs that this visitor stopped while others went on watching."""
    return st.session_state.setdefault("left_jobs", {})


def progress(
    job: Job, draw: Callable[[Job], None], noun: str = "Runs", is_timed: bool = True
) -> None:
    """Show a job while it lives and how it ended; `draw` draws the parts that are there.

    `noun` names the counted parts. `is_timed` is true if the pace predicts the rest, unlike
    for a job that ends at a stated time. The page runs once more when the job has ended.
    """
    job = _left().get(job.key, job)
    live = job.live

    def panel() -> None:
        if live:
            job.watch(visitor())
        if live and not job.live:
            st.rerun()
        with user_errors():
            _bar(job, noun, is_timed) if live else _ending(job)
            draw(job)

    run(panel, _POLL_SECONDS if live else None)


def _bar(job: Job, noun: str, is_timed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(job.fraction, text=_text(job, noun, is_timed))
        if st.button("Stop", icon=":material/stop:", key=f"stop_{job.key}"):
            _leave(job)
            st.rerun()


def _leave(job: Job) -> None:
    """Stop for this visitor; a job that nobody else watches is over before the page is drawn."""
    last = job.leave(visitor())
    if last is job:
        job.wait(_STOP_SECONDS)
        return
    jobs_left = _left()
    jobs_left[job.key] = last
    for key in list(jobs_left)[:-_MAX_LEFT]:
        del jobs_left[key]


def _ending(job: Job) -> None:
    if job.problem is not None:
        st.error(message(job.problem), icon=":material/error:")
    elif job.state == "failed":
        st.error(
            "**Something went wrong on our side.** Nothing was published. Quote this when "
            f"you report it: {job.key}.",
            icon=":material/error:",
        )
    elif job.state == "stopped" and not job.parts:
        st.markdown(":small[Stopped before the first result.]")
    elif job.state == "stopped":
        st.markdown(f":small[Stopped after {_count(job)}. The numbers are rougher.]")


def _text(job: Job, noun: str, is_timed: bool) -> str:
    if job.state == "waiting":
        return f"{noun}: waiting for the work of other visitors to end"
    left = job.seconds_left if is_timed else None
    return f"{noun}: {_count(job)}" + (f", about {duration(left)} left" if left else "")


def _count(job: Job) -> str:
    return f"{len(job.parts)} of {job.total}" if job.total else str(len(job.parts))
