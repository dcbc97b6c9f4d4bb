"""A release by several sites as a job of NVFlare 2.9, in place of a folder for their messages.

The job says nothing of anybody's files. Each client finds its own part in a file of its own, which
the variable PRIVACY_CURVES_SITE names, and the server in that of PRIVACY_CURVES_CENTRE; {client} in
a name stands for the client's. The client's file holds what the command `site` is told, and the
server's what `centre` is told:

{"plan": "plan.json", "name": "north", "file": "heights.csv", "key": "hospitals.key",
 "ledger": "ledger.sqlite3", "sign_off": "1c558591b487"}
{"plan": "plan.json", "key": "hospitals.key", "out": "release"}

What goes wrong at a site is written to its own log, and others hear only that it did.
"""

import json
import os
from pathlib import Path

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
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.signing import key_of
from engine.sites.site import Site, check_signed_off, source_of
from engine.uploads.limits import MOST_BYTES
from engine.uploads.reading import read_file

_SECONDS = 24 * 3600  # that a round may take


def _settings(variable, client=""):
    """The file of one party, and what is in it; names of files are relative to it."""
    path = Path(os.environ[variable].replace("{client}", client))
    return path.parent, json.loads(path.read_text("utf-8"))


def _key(place, settings):
    return key_of(text_of(str(place / settings["key"]))) if "key" in settings else None


class Hospital(Executor):
    """A client: it answers what it was told with its own messages."""

    site = None

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        try:
            if self.site is None:
                self.site = self._opened(fl_ctx.get_identity_name())
            received = [messages.read(text.encode(), "A message of the server")
                        for text in shareable["messages"]]
            answers = self.site.answers(received)
            if len(shareable["messages"]) == len(self.site.protocol.turns):
                self.site.finished(received)
        except (InputError, OSError, KeyError, ValueError) as problem:
            self.log_error(fl_ctx, f"This site does not answer: {problem}", fire_event=False)
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        reply = Shareable()
        reply["messages"] = [content.decode() for content in answers.values()]
        return reply

    @staticmethod
    def _opened(client):
        place, settings = _settings("PRIVACY_CURVES_SITE", client)
        plan = SitePlan.read(text_of(str(place / settings["plan"])))
        check_signed_off(plan, settings["sign_off"])
        number = plan.place(settings["name"])
        table = read_file(bytes_of(place / settings["file"], MOST_BYTES))
        return Site(plan, number, source_of(plan, number, table), _key(place, settings),
                    Ledger(place / settings["ledger"]))


class Centre(Controller):
    """The server: it tells everybody what all have said, and makes the release."""

    def start_controller(self, fl_ctx):
        self._place, self._settings = _settings("PRIVACY_CURVES_CENTRE")
        plan = SitePlan.read(text_of(str(self._place / self._settings["plan"])))
        self._protocol, self._heard = Protocol(plan), {}

    def control_flow(self, abort_signal, fl_ctx):
        members = len(self._protocol.plan.members)
        for _ in range(self._protocol.n_rounds + 1):  # the last: all have the release
            told = Shareable()
            told["messages"] = list(self._heard.values())
            self.broadcast_and_wait(Task("answer", told, timeout=_SECONDS,
                                         result_received_cb=self._received),
                                    fl_ctx, min_responses=members, abort_signal=abort_signal)
            if abort_signal.triggered:
                return
        try:
            key = _key(self._place, self._settings)
            received = [messages.read(text.encode(), "A message") for text in self._heard.values()]
            heard = messages.checked(self._protocol, received, key)
            release = centre.released(self._protocol, heard)
            folder.write(str(self._place / self._settings["out"]),
                         centre.all_files(self._protocol, release, received))
        except InputError as problem:
            self.system_panic(f"The release was not made: {problem}", fl_ctx)

    def _received(self, client_task, fl_ctx):
        for text in (client_task.result or {}).get("messages", []):
            message = messages.read(text.encode(), f"A message of {client_task.client.name}")
            self._heard.setdefault(message.position, text)

    def stop_controller(self, fl_ctx):
        pass

    def process_result_of_unknown_task(self, client, task_name, client_task_id, result, fl_ctx):
        pass
