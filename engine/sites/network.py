"""A release by several sites as a job of NVFlare 2.9, in place of a folder for their messages.

The job in `deploy/nvflare` brings no code and says nothing of anybody's files: it names the two
classes below, of the program that each site has installed. Each client finds its own part in a file
of its own, which the variable PRIVACY_CURVES_SITE names, and the server in that of
PRIVACY_CURVES_CENTRE; {client} in a name stands for the client's. The client's file holds what the
command `site` is told, and the server's what `centre` is told, with names relative to it:

{"plan": "plan.json", "name": "north", "file": "heights.csv", "key": "north.key",
 "partners": "partners.json", "ledger": "ledger.sqlite3", "honest_at_least": 2}
{"plan": "plan.json", "partners": "partners.json", "out": "release"}

Offers are made and the plan is signed off beforehand, by people, with the commands `offer` and
`sign-off`; the job carries sign-offs and messages. Where all share one secret, "key" names it in
every file, the server's too, and "partners" is left out.

A site refuses what it would refuse in a folder, whatever the server sends it. What goes wrong there
is written to its own log, and others hear only that it did.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nvflare.apis.controller_spec import Task
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable, make_reply

from engine.core.entrance import bytes_of, text_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.release import folder
from engine.release.ledger import Ledger
from engine.sites import agreement, centre, messages, partners
from engine.sites.agreement import Party, SignedPlan
from engine.sites.centre import SiteRun
from engine.sites.messages import SignedMessage
from engine.sites.plan import MAX_BYTES as MAX_PLAN
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Keyring, key_of
from engine.sites.site import Site, source_of
from engine.sites.statements import SignOff
from engine.sources import Source
from engine.uploads.limits import MAX_BYTES

_SECONDS = 24 * 3600  # that a round may take
_TASK = "answer"
_OF_A_SITE = ("plan", "name", "file", "key", "partners", "ledger", "honest_at_least")
_OF_THE_CENTRE = ("plan", "key", "partners", "out")


class Hospital(Executor):
    """A client: it answers what it was told with its own sign-off and messages."""

    party: Party | None = None
    site: Site | None = None

    def execute(self, task_name: str, shareable: Any, fl_ctx: Any, abort_signal: Any) -> Any:
        """Answer all that was said so far, which `shareable` holds; at the end, make the release.

        The answer holds this site's sign-off, and its messages that can be drawn now or were drawn
        before, once all sites have signed off.
        """
        try:
            if self.party is None:
                self.party, self._source, self._ledger = _opened(fl_ctx.get_identity_name())
            own = self.party.signed_off()
            if own is None:
                raise InputError(
                    "This site has not signed off.",
                    field="sign-off",
                    hint="Do so with “python -m engine sign-off”.",
                )
            received = _messages(shareable, "A message of the server")
            sign_offs = {own.site: own, **_sign_offs(shareable)}
            if agreement.missing(self.party.plan, [*sign_offs.values()]):
                return _told([own], [])
            if self.site is None:
                self.site = Site(
                    SignedPlan(self.party, tuple(sign_offs.values())), self._source, self._ledger
                )
            answers = self.site.answers(received)
            self.site.finished(received)
        except (InputError, OSError, KeyError, ValueError, TypeError) as problem:
            self.log_error(fl_ctx, f"This site does not answer: {problem}", fire_event=False)
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        return _told([own], [content.decode() for content in answers.values()])


class Centre(Controller):
    """The server: it tells everybody what all have said, and makes the release."""

    def start_controller(self, fl_ctx: Any) -> None:
        """Read the plan."""
        self._place, self._settings = _settings("PRIVACY_CURVES_CENTRE", _OF_THE_CENTRE)
        self._ring = _ring(self._place, self._settings)
        self._plan = _plan(self._place, self._settings)
        self._signed: dict[str, SignOff] = {}
        self._heard: dict[int, SignedMessage] = {}

    def control_flow(self, abort_signal: Any, fl_ctx: Any) -> None:
        """Let all sites sign off and answer, round by round, and write the files of the release."""
        rounds = Protocol(self._plan).n_rounds
        for _ in range(rounds + 2):  # sign-offs in the first; in the last, sites make the release
            task = Task(
                _TASK,
                _told(
                    self._signed.values(), [message.to_text() for message in self._heard.values()]
                ),
                timeout=_SECONDS,
                result_received_cb=self._received,
            )
            self.broadcast_and_wait(
                task, fl_ctx, abort_signal=abort_signal, min_responses=len(self._plan.study.members)
            )
            if abort_signal.triggered:
                return
        try:
            run = SiteRun(self._plan, tuple(self._signed.values()), tuple(self._heard.values()))
            release = centre.released(run, run.checked(self._ring))
            folder.write(str(self._place / self._settings["out"]), centre.all_files(run, release))
        except InputError as problem:
            self.system_panic(f"The release was not made: {problem}", fl_ctx)

    def _received(self, client_task: Any, fl_ctx: Any) -> None:
        """Keep what a client said that is signed, and as the plan has it."""
        told = client_task.result or {}
        try:
            received = _messages(told, f"A message of {client_task.client.name}")
            messages.checked(Protocol(self._plan), received, self._ring)
            signed = _sign_offs(told)
            for name, sign_off in signed.items():
                if sign_off.plan != self._plan.digest or not sign_off.is_signed(self._ring):
                    raise InputError(
                        f"The sign-off of {name} is not one of this plan.", field="sign-off"
                    )
        except (InputError, TypeError) as problem:
            self.log_error(fl_ctx, str(problem), fire_event=False)
            return
        for name, sign_off in signed.items():
            self._signed.setdefault(name, sign_off)
        for message in received:
            self._heard.setdefault(message.position, message)

    def stop_controller(self, fl_ctx: Any) -> None:
        """Do nothing: nothing is left to stop."""


def _opened(client: str) -> tuple[Party, Source[Any], Ledger]:
    """Open the site of a client with its keys and offers, its records and its ledger."""
    place, settings = _settings("PRIVACY_CURVES_SITE", _OF_A_SITE, client)
    plan, ledger = _plan(place, settings), Ledger(place / settings["ledger"])
    index = plan.study.index_of(settings["name"])
    party = Party(
        plan,
        index,
        key_of(text_of(str(place / settings["key"]))),
        _ring(place, settings),
        SecretStore.beside(ledger),
        settings.get("honest_at_least", 1),
    )
    content = bytes_of(str(place / settings["file"]), MAX_BYTES)
    return party, source_of(plan.study, index, content), ledger


def _settings(
    variable: str, keys: tuple[str, ...], client: str = ""
) -> tuple[Path, Mapping[str, Any]]:
    """Read the settings of one party, with the folder that its names are relative to."""
    path = Path(os.environ[variable].replace("{client}", client))
    return path.parent, checked_object(json.loads(path.read_text("utf-8")), variable, keys)


def _plan(place: Path, settings: Mapping[str, Any]) -> SitePlan:
    return SitePlan.read(bytes_of(str(place / settings["plan"]), MAX_PLAN))


def _ring(place: Path, settings: Mapping[str, Any]) -> Keyring:
    """Read the keys that signatures of others are checked with."""
    if "partners" in settings:
        return partners.read(text_of(str(place / settings["partners"])))
    return Keyring({}, key_of(text_of(str(place / settings["key"]))))


def _messages(told: Mapping[str, Any], origin: str) -> list[SignedMessage]:
    return [messages.read(str(text).encode(), origin) for text in told.get("messages") or []]


def _sign_offs(told: Mapping[str, Any]) -> dict[str, SignOff]:
    signed = [
        SignOff.read(str(text).encode(), "A sign-off") for text in told.get("sign_offs") or []
    ]
    return {sign_off.site: sign_off for sign_off in signed}


def _told(sign_offs: Iterable[SignOff], texts: list[str]) -> Any:
    shareable = Shareable()
    shareable["sign_offs"] = [sign_off.to_bytes().decode() for sign_off in sign_offs]
    shareable["messages"] = texts
    return shareable
