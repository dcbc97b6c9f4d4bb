"""A small server of its own for the phones of a class, while the dashboard stays at home.

It listens at one address of this machine, which the teacher is shown before it opens, and ends with
the last class. It answers three questions about a class whose code is asked for, and nothing else:
its page, what the teacher shows now, and a guess or an answer. It never sees a setting or a file.
"""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from engine.core.errors import InputError
from engine.exports.class_page import class_page
from engine.lessons import Lesson, Worked
from engine.lessons.live import guess_payload
from pages.shared.server.classroom import CLASSROOMS, Classroom, Classrooms, Poll, Stage

ADDRESSES_NAME = "PRIVACY_CURVES_CLASS_ADDRESS"  # one address, or "off"
_NOWHERE = "192.0.2.1"  # of documentation: nothing is sent there
_LARGEST = 4096  # bytes of a guess
_NAME = 80  # letters of the name that a browser gives itself


def addresses() -> tuple[str, ...]:
    """List the addresses of this machine at which others in its network may reach it."""
    stated = os.environ.get(ADDRESSES_NAME, "")
    if stated:
        return () if stated == "off" else (stated,)
    return tuple(dict.fromkeys(each for each in _interfaces() if _is_open(each)))


def _interfaces() -> Iterator[str]:
    try:  # the address from which this machine would speak to others
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((_NOWHERE, 9))
            yield str(probe.getsockname()[0])
    except OSError:
        pass
    try:
        for *_, place in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
            yield str(place[0])
    except OSError:
        pass


def _is_open(address: str) -> bool:
    number = ipaddress.ip_address(address)
    return not (number.is_loopback or number.is_unspecified or number.is_link_local)


@dataclass(frozen=True)
class _Shown:
    """Drawing and words of a lesson, for phones."""

    drawing: dict[str, Any]
    story: list[str]
    shows: str
    question: str
    options: list[dict[str, Any]]


class ClassDoor:
    """The server of all classes of this process, at one address."""

    def __init__(self, classrooms: Classrooms) -> None:
        self._classrooms = classrooms
        self._shown: dict[Poll, _Shown] = {}
        self._server: uvicorn.Server | None = None
        self._lock = threading.Lock()
        self.url = ""  # without a slash at its end; "" while it is closed

    def open(self, address: str) -> str:
        """Listen at an address of this machine, on a free port; return where phones go."""
        with self._lock:
            if self._server is not None and not self._server.should_exit:
                return self.url
            try:
                listener = socket.create_server((address, 0))
            except OSError:
                raise InputError(
                    "Phones cannot reach this computer at that address.",
                    field="address",
                    hint="Choose another address, or count a show of hands.",
                ) from None
            self.url = f"http://{address}:{listener.getsockname()[1]}"
            config = uvicorn.Config(
                self.app(),
                log_level="critical",
                access_log=False,
                lifespan="off",
                server_header=False,
            )
            self._server = uvicorn.Server(config)
            threading.Thread(
                target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
            ).start()
            return self.url

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            if self._server is not None:
                self._server.should_exit = True
            self._server, self.url = None, ""
            self._shown.clear()

    def tell(self, poll: Poll, lesson: type[Lesson], worked: Worked) -> None:
        """Prepare what phones are shown of a lesson."""
        if not self.url or poll in self._shown:
            return
        filled = worked.filled
        self._shown[poll] = _Shown(
            guess_payload(lesson.key, worked.picture, worked.guess, filled(lesson.ask), "pupil"),
            list(map(filled, lesson.story)),
            filled(lesson.shows),
            filled(lesson.question.ask),
            [
                {"text": filled(option.text), "why": filled(option.why), "right": option.is_right}
                for option in lesson.question.options
            ],
        )

    # -- what it answers --

    def app(self) -> Starlette:
        """Return the application; three routes and no more."""
        return Starlette(
            routes=[
                Route("/{code}", self._page, methods=["GET"]),
                Route("/{code}/now", self._now, methods=["GET"]),
                Route("/{code}/{what:path}", self._take, methods=["POST"]),
            ]
        )

    def _class(self, request: Request) -> Classroom | None:
        if (
            f"http://{request.headers.get('host', '')}" != self.url
        ):  # no name that leads here by a trick
            return None
        return self._classrooms.find(request.path_params["code"].upper())

    async def _page(self, request: Request) -> Response:
        document = class_page()
        is_known = self._class(request) is not None
        return HTMLResponse(
            document.html if is_known else "This class has ended.",
            200 if is_known else 404,
            {"Content-Security-Policy": document.policy, **_HEADERS},
        )

    async def _now(self, request: Request) -> Response:
        room = self._class(request)
        if room is None:
            return _refused("This class has ended.", 404)
        try:
            return JSONResponse(self._state(room, request.query_params), headers=_HEADERS)
        except InputError as problem:
            return _refused(f"{problem.message} {problem.hint}", 409)
        except ValueError:
            return _refused("There is nothing here.", 400)

    def _state(self, room: Classroom, asked: Any) -> dict[str, Any]:
        shown, stage = self._shown.get(room.poll), room.stage
        if shown is None:
            return {"tag": "", "stage": -1}
        seat = room.seat(_name(asked.get("seat")))
        state: dict[str, Any] = {
            "tag": shown.drawing["tag"],
            "stage": int(stage),
            "is_sent": room.has(seat),
            "guesses": room.guesses if stage > Stage.GUESS else [],
        }
        if asked.get("tag") != shown.drawing["tag"]:
            state |= {"drawing": shown.drawing, "story": shown.story}
        if stage > Stage.GUESS:
            state["shows"] = shown.shows
        if stage >= Stage.QUESTION:
            known = ("text", "why", "right") if stage is Stage.ANSWER else ("text",)
            options = [{name: option[name] for name in known} for option in shown.options]
            state |= {
                "question": shown.question,
                "options": options,
                "answered": room.answered(seat),
            }
        return state

    async def _take(self, request: Request) -> Response:
        room, what = self._class(request), request.path_params["what"]
        if room is None or what not in ("guess", "answer"):
            return _refused("There is nothing here.", 404)
        if not request.headers.get("content-type", "").startswith("application/json"):
            return _refused("This is no guess.", 415)  # no page of another site can send this type
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST:
                return _refused("This is no guess.", 413)
        try:
            sent = json.loads(body)
            seat = room.seat(_name(sent["seat"]))
            if what == "guess":
                room.guess(seat, room.poll, sent["value"])
            else:
                room.answer(seat, room.poll, sent["value"])
        except InputError as problem:
            return _refused(f"{problem.message} {problem.hint}", 409)
        except (ValueError, KeyError, TypeError, RecursionError):
            return _refused("This is no guess.", 400)
        return JSONResponse({}, headers=_HEADERS)


_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


def _refused(words: str, status: int) -> Response:
    return JSONResponse({"problem": words}, status, _HEADERS)


def _name(seat: object) -> str:
    if not isinstance(seat, str) or not 0 < len(seat) <= _NAME:
        raise ValueError("no name")
    return seat


DOOR = ClassDoor(CLASSROOMS)
