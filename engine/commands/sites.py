"""The commands of several sites: `site-key`, `plan-sites`, `site` and `centre`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Protocol as TypeProtocol

from engine.commands.release import add_ledger, total_of
from engine.core import entrance
from engine.core.errors import InputError
from engine.language.grammar import plain_text
from engine.release import folder as release_folder
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.release.published import Published
from engine.sites import centre, messages, pads, signing, words
from engine.sites.folder import Folder
from engine.sites.messages import Message
from engine.sites.pipes import Pipes
from engine.sites.plan import SitePlan, shared_by_all, study_of
from engine.sites.protocol import Protocol, Turn
from engine.sites.signing import Key, Scheme
from engine.sites.site import People, Site, check_key, check_signed_off, source_of
from engine.uploads.limits import MAX_BYTES

_WAIT = 3600.0  # seconds between two lines that say who is waited for
_THROUGH = "a folder that all can read and write, or - for standard input and output"
_NOT_YET = 1


class Transport(TypeProtocol):
    """How messages travel; see `engine.sites.folder`."""

    def received(self) -> list[Message]: ...

    def send(self, turn: Turn, content: bytes) -> None: ...

    def wait(self, seconds: float) -> bool: ...


def add(commands: Any) -> None:
    """The four commands with their options."""
    key = commands.add_parser("site-key", help="make the key with which a site signs its messages")
    key.add_argument("name", help="the site, such as north")
    key.add_argument("--shared", action="store_true", help="make one secret for all sites instead: "
                     "it needs no library, and keeps out only those who do not have it")
    key.add_argument("--out", metavar="FILE", help="where it is written (default: NAME.key)")
    key.set_defaults(command=_site_key)

    plan = commands.add_parser("plan-sites", help="plan a release to which several sites "
                               "contribute, each with its own file")
    plan.add_argument("study", help="what is to be released, by whom (see docs), or -")
    plan.add_argument("--key", metavar="FILE", help="the secret that all sites share, from "
                      "site-key --shared: fills in what the study does not say of keys")
    plan.add_argument("--out", metavar="FILE", default="plan.json",
                      help="the plan, to be given to all (default: plan.json)")
    plan.set_defaults(command=_plan)

    site = commands.add_parser("site", help="contribute to such a release with one's own file")
    site.add_argument("file", help="a table of this site's people; it stays here")
    _add_run(site)
    site.add_argument("--name", required=True, help="this site, as the plan calls it")
    site.add_argument("--sign-off", metavar="FINGERPRINT", help="the fingerprint of the plan: "
                      "agree to it; without it the plan is shown, and no row is read")
    add_ledger(site)
    site.add_argument("--out", metavar="DIR", help="folder for the files of the release, once all "
                      "messages are there (default: none are written)")
    site.set_defaults(command=_site)

    middle = commands.add_parser("centre", help="make the release of several sites from their "
                                 "messages; needs no data")
    _add_run(middle)
    middle.add_argument("--out", metavar="DIR", default="release",
                        help="folder for the files (default: release)")
    middle.set_defaults(command=_centre)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", metavar="FILE", default="plan.json",
                        help="what all agreed on (default: plan.json)")
    parser.add_argument("--through", metavar="FOLDER", required=True, help=_THROUGH)
    parser.add_argument("--key", metavar="FILE", help="from site-key; the centre needs one only "
                        "where all share a secret")
    parser.add_argument("--once", action="store_true", help="do what can be done now, and end "
                        "instead of waiting for others")


# -- before a run ----------------------------------------------------------------------------------


def _site_key(options: argparse.Namespace) -> int:
    key = signing.new_key(Scheme.HMAC if options.shared else Scheme.ED25519)
    path = entrance.file_to_keep(options.out or f"{options.name}.key", "out")
    signing.write_key(path, key)
    print(f"wrote {path}: " + ("give it to all sites and the centre, by a way that nobody else "
                               "reads" if options.shared else "it never leaves this site"))
    print(f'for the study: "key": "{key.public}"')
    if key.pads:
        print(f'and with "sums": "pads": "{pads.public_half(key.pads)}"')
    return 0


def _plan(options: argparse.Namespace) -> int:
    study = study_of(entrance.text_of(options.study))
    key = _key_of(options)
    plan = SitePlan.planned(study if key is None else shared_by_all(study, key))
    path = entrance.file_to_keep(options.out, "out")
    if path.exists():
        raise InputError(f"{entrance.called(path)} is there already.", field="out",
                         hint="Sites may have signed it off. Name another file with --out.")
    entrance.write_whole(path, plan.to_bytes())
    _say(words.summary(plan))
    print(f"wrote {path}: give it to all sites and to the centre.")
    return 0


# -- a run -----------------------------------------------------------------------------------------


def _site(options: argparse.Namespace) -> int:
    """2 without a sign-off: what it would cost is shown, and no row is read."""
    plan = SitePlan.read(entrance.text_of(options.plan, "plan"))
    index = plan.index_of(options.name)
    if options.sign_off is None:
        _say(words.sign_off(plan, index))
        print(f"No row was read. To take part, add --sign-off {plan.fingerprint} after comparing "
              "it with the other sites.", file=sys.stderr)
        return 2
    check_signed_off(plan, options.sign_off)
    key = _key_of(options)
    if key is None:
        raise InputError("A site signs its messages.", field="key",
                         hint=f"Add --key {options.name}.key; “site-key” makes it.")
    check_key(plan, index, key)
    site = _opened(options, plan, index, key)
    transport = _transport(options.through, plan)
    print(plain_text(f"{site.member.name}: {site.member.people} {plan.facts.people}; "
                      f"ledger {site.ledger.path}"), file=_words_to(options), flush=True)

    def advance(received: Sequence[Message]) -> Published | None:
        there = {message.position for message in received}
        for turn, content in site.answers(received).items():
            transport.send(turn, content)
            if turn.position not in there:
                print(words.sent(site.protocol, turn), file=_words_to(options), flush=True)
        return site.finished(received)
    release = _followed(options, site.protocol, transport, advance, key, index)
    if release is None:
        return _NOT_YET
    print(f"The release is in the ledger, with id {release.release_id}.", file=_words_to(options))
    if options.out is not None:
        _write(options, site.protocol, release, transport.received())
    return 0


def _centre(options: argparse.Namespace) -> int:
    plan = SitePlan.read(entrance.text_of(options.plan, "plan"))
    key, protocol = _key_of(options), Protocol(plan)
    transport = _transport(options.through, plan)

    def advance(received: Sequence[Message]) -> Published | None:
        transcript = messages.checked(protocol, received, key)
        return centre.released(protocol,
                               transcript) if len(transcript) == len(protocol.turns) else None
    release = _followed(options, protocol, transport, advance, key)
    if release is None:
        return _NOT_YET
    _write(options, protocol, release, transport.received())
    return 0


def _opened(options: argparse.Namespace, plan: SitePlan, index: int, key: Key) -> Site:
    """The site with its file and its ledger."""
    source = source_of(plan, index, entrance.bytes_of(options.file, MAX_BYTES))
    ledger = Ledger(options.ledger, options.witness)
    same = None if options.people is None else options.people == "same"
    before, known = ledger.odometer(content_of(source)), ledger.known(
        content_of(source), source.traces())
    if known is not None and same:
        before = known.odometer
    total = total_of(options, plan.members[index].people, before)
    return Site(plan, index, source, key, ledger, People(total, same))


def _followed(options: argparse.Namespace, protocol: Protocol, transport: Transport, advance: Any,
              key: Key | None, index: int | None = None) -> Published | None:
    """Go on whenever something comes, until the release is there or nothing more is to be done.

    What a party sends itself comes as well, so nothing that came meanwhile is overlooked.
    """
    previous = ""
    while True:
        received = transport.received()
        release: Published | None = advance(received)
        current = words.turn_of(protocol, messages.checked(protocol, received, key), index)
        if current != previous:
            print(current, file=_words_to(options), flush=True)
            previous = current
        is_stream = options.through == "-"
        if release is not None or (options.once and (is_stream or not transport.wait(0))):
            return release
        if not options.once and not transport.wait(_WAIT) and is_stream:
            return None


def _transport(through: str, plan: SitePlan) -> Transport:
    if through == "-":
        return Pipes(sys.stdin.buffer, sys.stdout.buffer)
    path = Path(through)
    if not path.is_dir():
        raise InputError(f"There is no folder {entrance.called(through)}.", field="through",
                         hint="All sites and the centre need the same one. Make it first.")
    return Folder(path, plan)


def _key_of(options: argparse.Namespace) -> Key | None:
    return None if options.key is None else signing.key_of(entrance.text_of(options.key, "key"))


def _words_to(options: argparse.Namespace) -> Any:
    """Where words go: not between the messages."""
    return sys.stderr if options.through == "-" else sys.stdout


def _write(options: argparse.Namespace, protocol: Protocol, release: Published,
           received: Sequence[Message]) -> None:
    for path in release_folder.write(options.out, centre.all_files(protocol, release, received)):
        print(f"wrote {path}", file=_words_to(options))


def _say(lines: Sequence[str]) -> None:
    print("\n".join(map(plain_text, lines)))
