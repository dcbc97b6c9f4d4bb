"""Admission of visitors, and removal of everything of those who have left.

A visitor is one open page. Beyond the limit a page says that the server is busy and tries again. An
upload belongs to one visitor, who may hold one file at a time. Once visitors have left, or their
page in the background has been silent for a while, the server drops their data and returns the
memory.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pyarrow
import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.running.bounded import return_large_blocks
from pages.shared.frame import timed
from pages.shared.server.door import UPLOADS, place, refuse, spare_the_log

LIMIT_NAME = "PRIVACY_CURVES_MOST_VISITORS"
UPLOADS_NAME = "PRIVACY_CURVES_UPLOADS"
_DEFAULT_LIMIT = 40
_OWN_MACHINE = ("127.0.0.1", "::1", "localhost")
_KEPT_SECONDS = 60.0  # a lost connection may return to its data for so long
_LOOK_SECONDS = 5.0
_TIDY_EVERY = 6  # looks: collections are long, and nobody waits for the memory
_RETRY_SECONDS = 10


class Visitors:
    """Sessions with a place, and the times at which others left.

    `is_here` says whether a session is connected.
    """

    def __init__(self, limit: int, is_here: Callable[[str], bool]) -> None:
        self.limit, self._is_here = limit, is_here
        self._places: set[str] = set()
        self._gone_since: dict[str, float | None] = {}
        self._lock = threading.Lock()

    def let_in(self, session: str) -> bool:
        """Give a session a place if one is free; it keeps the place while it is connected.

        A session without connection loses its place to a newcomer.
        """
        with self._lock:
            if session not in self._places:
                self._places = {other for other in self._places if self._is_here(other)}
                if len(self._places) >= self.limit:
                    return False
            self._places.add(session)
            self._gone_since[session] = None
            return True

    def are_in(self, session: str) -> bool:
        """True if a session has a place and is connected."""
        return session in self._places and self._is_here(session)

    def gone(self, now: float, seconds: float = _KEPT_SECONDS) -> list[str]:
        """Forget those who left so long ago, and return their sessions."""
        with self._lock:
            for session in self._gone_since:
                here, since = self._is_here(session), self._gone_since[session]
                self._gone_since[session] = None if here else now if since is None else since
            left = [
                session
                for session, since in self._gone_since.items()
                if since is not None and now - since >= seconds
            ]
            for session in left:
                del self._gone_since[session]
                self._places.discard(session)
            return left


def limit() -> int:
    """Return the limit of visitors at once: from the environment, or the default."""
    setting = os.environ.get(LIMIT_NAME, str(_DEFAULT_LIMIT))
    if not setting.isdecimal() or int(setting) < 1:
        raise ValueError(f"{LIMIT_NAME} must be a whole number above 0; got {setting!r}.")
    return int(setting)


def takes_files(host: str | None, listens_at: str | None) -> bool:
    """True if visitors may bring files: on one's own machine, or if the environment says so.

    `host` is the name that the browser asked for, None if unknown, and `listens_at` the address of
    the server, None for every one. Behind a proxy the first is a public name.
    """
    setting = os.environ.get(UPLOADS_NAME)
    if setting not in (None, "on", "off"):
        raise ValueError(f"{UPLOADS_NAME} must be on or off; got {setting!r}.")
    if setting is not None:
        return setting == "on"
    asked_for = urlsplit(f"//{host}").hostname if host else listens_at
    return listens_at in _OWN_MACHINE and asked_for in _OWN_MACHINE


def _is_connected(session: str) -> bool:
    return Runtime.exists() and Runtime.instance().is_active_session(session)


_VISITORS = Visitors(limit(), _is_connected)  # one per process


# -- on the page ----------------------------------------------------------------------------


def admit() -> None:
    """Go on if there is room; otherwise show a notice, and try again automatically."""
    context = get_script_run_ctx()
    if context is None or not Runtime.exists() or _VISITORS.let_in(context.session_id):
        return
    st.title("The server is busy", anchor=False)
    st.info(
        f"**All {_VISITORS.limit} sessions are in use.** Your page opens by itself as soon as "
        "one ends. The address keeps your settings.",
        icon=":material/hourglass_top:",
    )
    timed.run(lambda: _retry(context.session_id), _RETRY_SECONDS)
    st.stop()


def _retry(session: str) -> None:
    if _VISITORS.let_in(session):
        st.rerun()
    st.caption(f"Looks again every {_RETRY_SECONDS} seconds.")


def may_bring_files() -> bool:
    """True if this visitor may upload, and publish: both are for the holder of the data alone."""
    return takes_files(st.context.headers.get("Host"), _address())


# -- around the server ----------------------------------------------------------------------


class OneFileEach:
    """Uploads of admitted visitors; the latest file replaces earlier ones.

    The framework would keep every file until its visitor leaves.
    """

    def __init__(self, app: ASGIApp, admitted: Visitors = _VISITORS) -> None:
        self._app, self._admitted = app, admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_sent = scope["type"] == "http" and scope["method"] == "PUT"
        below = (place(scope) if is_sent else None) or ""
        if not below.startswith(UPLOADS):
            await self._app(scope, receive, send)
            return
        session, _, file = below.removeprefix(UPLOADS).partition("/")
        if not self._admitted.are_in(session) or not takes_files(_host(scope), _address()):
            await refuse(send, 403, "No page is open for this upload.")
            return
        await self._app(scope, receive, send)
        drop_files(session, but=file)


def _host(scope: Scope) -> str | None:
    return next(
        (value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"),
        None,
    )


def _address() -> str | None:
    """Return the address at which the server listens; None means everywhere."""
    return st.get_option("server.address")


def drop_files(session: str, but: str = "") -> None:
    """Forget the files of a session, except one."""
    if not Runtime.exists():
        return
    files: Any = Runtime.instance().uploaded_file_mgr
    for file in [*files.file_storage.get(session, ())]:
        if file != but:
            files.remove_file(session, file)


def drop_own_file(file: str) -> None:
    """Forget a file of this visitor whose content is kept elsewhere.

    A newer file stays: it may have arrived before the page hears of the deletion.
    """
    context = get_script_run_ctx()
    if context is not None and Runtime.exists():
        files: Any = Runtime.instance().uploaded_file_mgr
        files.remove_file(context.session_id, file)


@asynccontextmanager
async def housekeeping(_: Any) -> AsyncIterator[None]:
    """Close the sessions of those who have left and give memory back, while the server runs."""
    takes_files(None, _address())  # refuses to start in an invalid environment
    spare_the_log()
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # returns freed memory
    return_large_blocks()
    task = asyncio.create_task(keep_house())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def keep_house(
    look_seconds: float = _LOOK_SECONDS, give_back: Callable[[], None] | None = None
) -> None:
    """Close the sessions of those who have left, and give memory back then and every half minute.

    The framework would collect garbage after every run of a page, several times as long as the run
    itself; `.streamlit/config.toml` prevents it.
    """
    for look in itertools.count(1):
        await asyncio.sleep(look_seconds)
        left = _VISITORS.gone(time.monotonic())
        for session in left:
            Runtime.instance().close_session(session)
        if left or look % _TIDY_EVERY == 0:
            await asyncio.to_thread(give_back or give_memory_back)


def give_memory_back() -> None:
    """Collect what refers to itself, as sessions do, and return free pages to the system."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
