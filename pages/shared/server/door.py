"""The door: checks path, method, origin and size of requests before any other code sees them.

The framework answers many invalid requests with a traceback, a line in the log, or a question to an
outside host for the server's own address, while everybody waits. Anybody can send such requests, so
they end here, silently.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

UPLOADS = "/_stcore/upload_file/"
_STREAM = "/_stcore/stream"
_READING, _WRITING = ("GET", "HEAD", "OPTIONS"), ("PUT", "DELETE")
_REASONS = {
    403: "Only pages of this server may do this.",
    404: "Nothing is here.",
    405: "Files alone can be sent here.",
}
_PROTOCOL, _NO_BYTES, _POLICY, _TOO_LARGE = 1002, 1003, 1008, 1009  # RFC 6455
# Messages that our pages never send: they would empty shared caches or write to the log.
_NOT_OURS = ("clear_cache", "debug_disconnect_websocket", "debug_shutdown_runtime", None)
_EVERYWHERE = (None, "", "0.0.0.0", "::")
# Loggers of incoming requests.
_LOGGERS = (
    "uvicorn.error",
    "websockets.server",
    "streamlit.runtime.app_session",
    "streamlit.web.server.starlette.starlette_routes",
    "streamlit.web.server.starlette.starlette_websocket",
)


def base_path() -> str:
    """Return the path below which the dashboard runs: "" or one that begins with a slash."""
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def place(scope: Scope) -> str | None:
    """Return the path of a request below the base path; None outside it."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    below = path.removeprefix(base_path())
    return below if path == base_path() + below and below[:1] in ("", "/") else None


def address() -> str:
    """Return the address of the front page, as somebody at this machine types it."""
    host = st.get_option("server.address")
    host = "localhost" if host in _EVERYWHERE else f"[{host}]" if ":" in host else host
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}:{st.get_option('server.port')}{base_path()}/"


class Door:
    """Lets in what pages send: reading, files, and messages on the connection of a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        elif scope["type"] == "http" and (status := _refusal(scope)):
            await refuse(send, status, _REASONS[status])
        else:
            await self._app(scope, receive, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        if place(scope) == _STREAM and _is_of_our_pages(scope):
            without = [header for header in scope["headers"] if header[0] != b"origin"]
            messages = _GuardedConnection(receive, send)
            await self._app({**scope, "headers": without}, messages.receive, messages.send)
        else:
            await send({"type": "websocket.close", "code": _POLICY})


def _refusal(scope: Scope) -> int:
    """Return the status that refuses a request; 0 if it is let in."""
    below = place(scope)
    if below is None:
        return 404
    if scope["method"] in _READING:
        return 0
    if scope["method"] not in _WRITING or not below.startswith(UPLOADS):
        return 405
    return 0 if _is_of_our_pages(scope) else 403


async def refuse(send: Send, status: int, reason: str) -> None:
    """Answer a request with a status and a sentence."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")],
        }
    )
    await send({"type": "http.response.body", "body": reason.encode()})


def _is_of_our_pages(scope: Scope) -> bool:
    """True unless a browser says that a page of somebody else asks."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return True
    try:
        host = urlsplit(origin).netloc
    except ValueError:
        return False
    return bool(host) and (
        host == headers.get("host") or origin in {*st.get_option("server.corsAllowedOrigins")}
    )


class _GuardedConnection:
    """A connection that is closed at the first thing that no page of ours sends."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._is_closed = False

    async def receive(self) -> Message:
        event = await self._receive()
        code = _close_code(event)
        if not code:
            return event
        if not self._is_closed:
            self._is_closed = True
            await self._send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}

    async def send(self, event: Message) -> None:
        if not self._is_closed:  # the page may still be at work
            await self._send(event)


def _close_code(event: Message) -> int:
    """Return the code with which to close after this event; 0 if all is well."""
    if event["type"] != "websocket.receive":
        return 0
    content = event.get("bytes")
    if content is None:
        return _NO_BYTES
    if len(content) > st.get_option("server.maxWidgetStateSize") * 10**6:
        return _TOO_LARGE
    try:
        order = BackMsg.FromString(content).WhichOneof("type")
    except DecodeError:
        return _PROTOCOL
    return _PROTOCOL if order in _NOT_OURS else 0


class OneLineASecond(logging.Filter):
    """Warnings at most once a second, with the number of those left out, and no addresses."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._last, self._left_out = clock, float("-inf"), 0

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return "WebSocket" not in str(record.msg)  # a line with two addresses each
        if self._clock() - self._last < 1:
            self._left_out += 1
            return False
        if self._left_out:
            record.msg = f"{record.msg} ({self._left_out} lines before this one were left out)"
        self._last, self._left_out = self._clock(), 0
        return True


def spare_the_log() -> None:
    """Let nobody fill the log with what the web server says of bad requests."""
    sparing = OneLineASecond()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(sparing)
