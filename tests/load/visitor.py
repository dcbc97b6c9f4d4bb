"""One visitor: a websocket, the page as the server described it, and what was chosen on it.

The messages are those of the front end. A rerun is timed from sending the request to the message
that the script has finished; drawing in a browser is not part of it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import uuid
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.AutoRerun_pb2 import AutoRerun
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from tests.waiting import PATIENCE

OWN_CERTIFICATE = ssl._create_unverified_context()  # of a proxy that a test started
_KEPT_RUNS = 20  # for so many runs the front end, too, keeps messages that it need not get again
_FIELD = {bool: "bool_value", float: "double_value", int: "int_value", str: "string_value"}


class Visitor:
    """A visitor on one page; ``async with Visitor(url) as visitor``.

    `page` is the part of the address behind the slash, `link` the settings in it. What the page
    holds is in `elements`, by place, and `pages` maps addresses to scripts; `received` counts bytes,
    themselves where `listens` is true.
    """

    def __init__(self, url: str, page: str = "", link: str = "", listens: bool = False) -> None:
        self.url, self.page, self.link, self.listens = url, page, link, listens
        self.elements: dict[tuple[int, ...], Any] = {}
        self.session = ""
        self.received = 0
        self.heard: list[bytes] = []
        self.pages: dict[str, str] = {}
        self._states: dict[str, WidgetState] = {}
        self._kept: dict[str, tuple[ForwardMsg, int]] = {}  # hash to message and last run
        self._runs = 0
        self._to_come: list[AutoRerun] = []
        self._socket: ClientConnection | None = None

    async def __aenter__(self) -> Visitor:
        address = "ws" + self.url.removeprefix("http") + "/_stcore/stream"
        self._socket = await connect(
            address,
            subprotocols=["streamlit"],
            max_size=None,
            ssl=OWN_CERTIFICATE if self.url.startswith("https:") else None,
            open_timeout=PATIENCE,
            compression=None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def leave(self) -> None:
        if self._socket is not None:
            await self._socket.close()

    # -- acting -----------------------------------------------------------------------------

    async def run(self, **chosen: Any) -> float:
        """Change widgets by their keys and rerun the page; the seconds until it has finished."""
        start = time.perf_counter()
        await self.ask(**chosen)
        await self.finished()
        return time.perf_counter() - start

    async def ask(self, **chosen: Any) -> None:
        """Send the request alone: the answer may still come when the next one is sent."""
        for key, value in chosen.items():
            self._set(self.widget(key), value)
        await self._send(BackMsg(rerun_script=self._state()))

    async def press(self, key: str) -> float:
        """Press a button; it is pressed for one run only."""
        pressed = self.widget(key)
        self._states[pressed] = WidgetState(id=pressed, trigger_value=True)
        try:
            return await self.run()
        finally:
            del self._states[pressed]

    @property
    def waits_for_more(self) -> bool:
        """Whether a part of the page asked to be run again by itself."""
        return bool(self._to_come)

    async def stay(self) -> float:
        """Do what the front end does when nobody acts; the seconds until that part has come."""
        asked = self._to_come[0]
        await asyncio.sleep(asked.interval)
        start, state = time.perf_counter(), self._state()
        state.fragment_id, state.is_auto_rerun = asked.fragment_id, True
        await self._send(BackMsg(rerun_script=state))
        await self.finished()
        return time.perf_counter() - start

    async def go(self, page: str) -> float:
        """Follow a link of the menu."""
        self.page, self.link = page, ""
        return await self.run()

    async def follow(self, link: str) -> float:
        """Open settings that somebody sent."""
        self.link = link
        return await self.run()

    async def upload(self, key: str, name: str, content: bytes) -> float:
        """Give a file to an uploader, as the front end does: address, file, rerun."""
        start = time.perf_counter()
        urls = await self.upload_address(name)
        status = await asyncio.to_thread(put_file, self.url, urls.upload_url, name, content)
        if status != 204:
            raise ConnectionError(f"the upload was answered with {status}")
        uploader = self.widget(key)
        state = WidgetState(id=uploader)
        state.file_uploader_state_value.uploaded_file_info.add(
            name=name, size=len(content), file_id=urls.file_id, file_urls=urls
        )
        self._states[uploader] = state
        try:
            await self.run()
        finally:
            del self._states[uploader]  # what reads the file takes the place of the uploader
        return time.perf_counter() - start

    async def upload_address(self, name: str) -> Any:
        """Ask where a file of that name may be put."""
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self.session
        await self._send(message)
        while (answer := await self._next()).WhichOneof("type") != "file_urls_response":
            pass
        return answer.file_urls_response.file_urls[0]

    # -- looking ----------------------------------------------------------------------------

    def widget(self, key: str) -> str:
        """The id of the widget of that key; it stands at the end of the id."""
        for found in self._ids():
            if found.endswith(f"-{key}"):
                return found
        raise KeyError(f"no widget “{key}” on {self.page or 'the front page'}")

    def has(self, key: str) -> bool:
        return any(found.endswith(f"-{key}") for found in self._ids())

    def choices(self, key: str) -> list[str]:
        """The options of a selectbox."""
        wanted = self.widget(key)
        return next(
            [*proto.options] for proto in self._protos() if getattr(proto, "id", "") == wanted
        )

    @property
    def words(self) -> str:
        """All text on the page: headings, sentences, boxes."""
        texts = [
            getattr(proto, "body", "") or getattr(proto, "label", "") for proto in self._protos()
        ]
        return "\n".join(text for text in texts if text)

    @property
    def faults(self) -> list[str]:
        """What should never be seen: exceptions, and errors that are ours."""
        return [
            str(proto)[:2000]
            for proto in self._protos()
            if type(proto).__name__ == "Exception"
            or "on our side" in str(getattr(proto, "body", ""))
        ]

    def _protos(self) -> Iterator[Any]:
        for delta in self.elements.values():
            kind = delta.WhichOneof("type")
            if kind == "new_element":
                yield getattr(delta.new_element, delta.new_element.WhichOneof("type"))
            elif kind == "add_block":
                block = delta.add_block
                yield getattr(block, block.WhichOneof("type") or "vertical")

    def _ids(self) -> Iterator[str]:
        for proto in self._protos():
            if getattr(proto, "id", ""):
                yield proto.id

    # -- the protocol -----------------------------------------------------------------------

    def _set(self, widget: str, value: Any) -> None:
        state = WidgetState(id=widget)
        if isinstance(value, dict):
            state.json_value = json.dumps(value)
        elif isinstance(value, list):
            state.string_array_value.data.extend(value)
        else:
            setattr(state, _FIELD[type(value)], value)
        self._states[widget] = state

    def _state(self) -> ClientState:
        state = ClientState(
            query_string=f"s={self.link}" if self.link else "",
            page_script_hash=self.pages.get(self.page, ""),
            page_name="" if self.pages else self.page,
        )
        state.widget_states.widgets.extend(self._states.values())
        self._kept = {
            key: kept for key, kept in self._kept.items() if self._runs - kept[1] <= _KEPT_RUNS
        }
        state.cached_message_hashes.extend(self._kept)
        state.context_info.url = f"{self.url}/{self.page}"
        state.context_info.locale, state.context_info.timezone = "en", "UTC"
        return state

    async def _send(self, message: BackMsg) -> None:
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def finished(self) -> None:
        """Take in messages until a run has come to its own end, not to that of another."""
        seen: set[tuple[int, ...]] = set()
        while True:
            message = await self._next()
            kind = message.WhichOneof("type")
            if kind == "new_session":
                seen = set()
            elif kind == "delta":
                seen.add(tuple(message.metadata.delta_path))
            elif (
                kind == "script_finished"
                and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                self.elements = {place: self.elements[place] for place in sorted(seen)}
                self._runs += 1
                return

    async def _next(self) -> ForwardMsg:
        assert self._socket is not None
        async with asyncio.timeout(PATIENCE):
            frame = await self._socket.recv()
        assert isinstance(frame, bytes)
        self.received += len(frame)
        if self.listens:
            self.heard.append(frame)
        message = ForwardMsg.FromString(frame)
        if message.WhichOneof("type") == "ref_hash":
            place = message.metadata
            message = ForwardMsg()
            message.CopyFrom(self._kept[_ref(frame)][0])
            message.metadata.CopyFrom(place)
        self._take(message)
        return message

    def _take(self, message: ForwardMsg) -> None:
        if message.metadata.cacheable and message.hash:
            self._kept[message.hash] = (message, self._runs)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
            self._to_come = []
        elif kind == "auto_rerun":
            self._to_come.append(message.auto_rerun)
        elif kind == "navigation":
            self.pages = {
                page.url_pathname: page.page_script_hash for page in message.navigation.app_pages
            }
        elif kind == "page_info_changed":
            self.link = message.page_info_changed.query_string.removeprefix("s=")
        elif kind == "delta":
            self.elements[tuple(message.metadata.delta_path)] = message.delta


def _ref(frame: bytes) -> str:
    return ForwardMsg.FromString(frame).ref_hash


def put_file(url: str, path: str, name: str, content: bytes, token: bool = True) -> int:
    """Send a file to an address that the server gave; the status of the answer."""
    boundary = uuid.uuid4().hex
    body = (
        (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{name}"\r\n\r\n'
        ).encode()
        + content
        + f"\r\n--{boundary}--\r\n".encode()
    )
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    if token:
        headers |= _token(url)
    return request(url, "PUT", path, body, headers)[0]


def _token(url: str) -> dict[str, str]:
    """The cookie against forged requests and the header that repeats it."""
    _, headers, _ = request(url, "GET", "/_stcore/health")
    cookie = headers["Set-Cookie"].split(";")[0]
    return {"Cookie": cookie, "X-Xsrftoken": cookie.partition("=")[2]}


def request(
    url: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any, bytes]:
    """One request for a path below that of the address; its status, headers and body."""
    address = urlsplit(url)
    host = address.hostname or ""
    connection = (
        HTTPSConnection(host, address.port, timeout=PATIENCE, context=OWN_CERTIFICATE)
        if address.scheme == "https"
        else HTTPConnection(host, address.port or 80, timeout=PATIENCE)
    )
    try:
        connection.request(method, address.path + path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()
