"""What browsers send on the connection of a page: messages of the front end, and nothing else."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

_NO_MESSAGE, _NO_BYTES = 1002, 1003  # protocol error, unsupported data (RFC 6455)


class OnlyMessages:
    """Closes a connection on which anything else arrives, before the framework sees it.

    The framework would close it too, but with a traceback, with which anybody could fill the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        is_closed = False

        async def receive_message() -> Message:
            nonlocal is_closed
            event = await receive()
            code = _close_code(event)
            if not code:
                return event
            if not is_closed:
                is_closed = True
                await send({"type": "websocket.close", "code": code})
            return {"type": "websocket.disconnect", "code": code}

        async def send_while_open(event: Message) -> None:
            if not is_closed:  # the page may still be at work
                await send(event)

        await self._app(scope, receive_message, send_while_open)


def _close_code(event: Message) -> int:
    """The code with which to close after this event; 0 if all is well."""
    if event["type"] != "websocket.receive":
        return 0
    if event.get("bytes") is None:
        return _NO_BYTES
    try:
        BackMsg.FromString(event["bytes"])
    except DecodeError:
        return _NO_MESSAGE
    return 0
