"""A release by several sites as a job of NVFlare 2.9, in place of a folder for their messages.

The job in `deploy/nvflare` brings no code and says nothing of anybody's files: it names the two
classes below, of the program that each site has installed. Each client finds its own part in a file
of its own, which the variable PRIVACY_CURVES_SITE names, and the server in that of
PRIVACY_CURVES_CENTRE; {client} in a name stands for the client's. The client's file holds what the
command `site` is told, and the server's what `centre` is told, with names relative to it:

{"plan": "plan.json", "name": "north", "file": "heights.csv", "key": "hospitals.key",
 "ledger": "ledger.sqlite3", "sign_off": "1c558591b487"}
{"plan": "plan.json", "key": "hospitals.key", "out": "release"}

A site refuses what it would refuse in a folder, whatever the server sends it. What goes wrong there
is written to its own log, and others hear only that it did.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nvflare.apis.controller_spec import Task
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable, make_reply

from engine.core.entrance import bytes_of, text_of
from engine.core.errors import InputError
from engine.release import folder
from engine.release.ledger import Ledger
from engine.sites import centre, messages
from engine.sites.messages import Message
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.signing import Key, key_of
from engine.sites.site import Site, check_signed_off, source_of
from engine.uploads.limits import MAX_BYTES

_SECONDS = 24 * 3600  # that a round may take
_TASK = "answer"


class Hospital(Executor):
    """A client: it answers what it was told with its own messages."""

    site: Site | None = None

    def execute(self, task_name: str, shareable: Any, fl_ctx: Any, abort_signal: Any) -> Any:
        """Answer all messages so far, which `shareable` holds; with all of them, make the release.

        The answer holds the messages of this site that can be drawn now or were drawn before.
        """
        try:
            if self.site is None:
                self.site = _opened(fl_ctx.get_identity_name())
            received = _read(shareable, "A message of the server")
            answers = self.site.answers(received)
            self.site.finished(received)
        except (InputError, OSError, KeyError, ValueError, TypeError) as problem:
            self.log_error(fl_ctx, f"This site does not answer: {problem}", fire_event=False)
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        return _with_messages([content.decode() for content in answers.values()])


class Centre(Controller):
    """The server: it tells everybody what all have said, and makes the release."""

    def start_controller(self, fl_ctx: Any) -> None:
        """Read the plan."""
        self._place, self._settings = _settings("PRIVACY_CURVES_CENTRE")
        self._key = _key(self._place, self._settings)
        self._protocol = Protocol(_plan(self._place, self._settings))
        self._heard: dict[int, str] = {}

    def control_flow(self, abort_signal: Any, fl_ctx: Any) -> None:
        """Let all sites answer, round by round, and write the files of the release."""
        for _ in range(self._protocol.n_rounds + 1):  # in the last one, sites make the release
            task = Task(_TASK, _with_messages(list(self._heard.values())), timeout=_SECONDS,
                        result_received_cb=self._received)
            self.broadcast_and_wait(task, fl_ctx, abort_signal=abort_signal,
                                    min_responses=len(self._protocol.plan.members))
            if abort_signal.triggered:
                return
        try:
            received = _read({"messages": list(self._heard.values())}, "A message")
            transcript = messages.checked(self._protocol, received, self._key)
            release = centre.released(self._protocol, transcript)
            folder.write(str(self._place / self._settings["out"]),
                         centre.all_files(self._protocol, release, received))
        except InputError as problem:
            self.system_panic(f"The release was not made: {problem}", fl_ctx)

    def _received(self, client_task: Any, fl_ctx: Any) -> None:
        """Keep the messages of a client that are signed, and as the plan has them."""
        try:
            received = _read(client_task.result or {}, f"A message of {client_task.client.name}")
            messages.checked(self._protocol, received, self._key)
        except (InputError, TypeError) as problem:
            self.log_error(fl_ctx, str(problem), fire_event=False)
            return
        for message in received:
            self._heard.setdefault(message.position, message.to_text())

    def stop_controller(self, fl_ctx: Any) -> None:
        """Nothing is left to be done."""


def _opened(client: str) -> Site:
    """The site of a client, with its file and its ledger, if its people signed off the plan."""
    folder, settings = _settings("PRIVACY_CURVES_SITE", client)
    plan = _plan(folder, settings)
    check_signed_off(plan, settings["sign_off"])
    index, key = plan.index_of(settings["name"]), _key(folder, settings)
    if key is None:
        raise InputError("A site signs its messages.", field="key",
                         hint="State the file of its key in its settings.")
    content = bytes_of(str(folder / settings["file"]), MAX_BYTES)
    return Site(plan, index, source_of(plan, index, content), key,
                Ledger(folder / settings["ledger"]))


def _settings(variable: str, client: str = "") -> tuple[Path, Mapping[str, Any]]:
    """Where the file of one party is, and what it says."""
    path = Path(os.environ[variable].replace("{client}", client))
    return path.parent, json.loads(path.read_text("utf-8"))


def _plan(folder: Path, settings: Mapping[str, Any]) -> SitePlan:
    return SitePlan.read(text_of(str(folder / settings["plan"])))


def _key(folder: Path, settings: Mapping[str, Any]) -> Key | None:
    return key_of(text_of(str(folder / settings["key"]))) if "key" in settings else None


def _read(shareable: Mapping[str, Any], origin: str) -> list[Message]:
    return [messages.read(str(text).encode(), origin) for text in shareable.get("messages") or []]


def _with_messages(texts: list[str]) -> Any:
    shareable = Shareable()
    shareable["messages"] = texts
    return shareable
