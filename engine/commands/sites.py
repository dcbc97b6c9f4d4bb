"""The commands of several sites, from their keys to the release; docs/guide/real_sites.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Protocol as TypeProtocol

from engine.commands.arguments import whole
from engine.commands.exit_codes import Exit
from engine.commands.release import add_paths, add_people, total_of
from engine.core import entrance
from engine.core.errors import InputError
from engine.language.grammar import plain_text
from engine.release import folder as release_folder
from engine.release.ledger import Ledger
from engine.release.published import Published
from engine.sites import agreement, centre, partners, signing, spoken, words
from engine.sites.agreement import Party, SignedPlan
from engine.sites.centre import SiteRun
from engine.sites.charges import SitePeople
from engine.sites.folder import Folder
from engine.sites.messages import SignedMessage
from engine.sites.pipes import Pipes
from engine.sites.plan import MAX_BYTES as MAX_PLAN
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Turn
from engine.sites.secret_store import SecretStore
from engine.sites.signing import Key, Keyring, Scheme
from engine.sites.site import Site, source_of, unreadable_rounds, withdrawn
from engine.sites.statements import MAX_BYTES as MAX_STATEMENT
from engine.sites.statements import Offer, SignOff, Statement
from engine.sites.study import MAX_SITES, SiteStudy
from engine.uploads.limits import MAX_BYTES

_WAIT = 3600.0  # seconds between two lines that say who is waited for


class Transport(TypeProtocol):
    """Transport of statements and messages; see `engine.sites.folder`."""

    @property
    def unfinished(self) -> Sequence[str]: ...

    def received(self) -> list[SignedMessage]: ...

    def sign_offs(self) -> list[SignOff]: ...

    def send(self, turn: Turn, content: bytes) -> None: ...

    def say(self, statement: Statement) -> Any: ...

    def wait(self, seconds: float) -> bool: ...


def add(commands: Any) -> None:
    """Add the commands with their options."""
    key = commands.add_parser("site-key", help="make the key with which a site signs")
    key.add_argument("name", help="the site, such as north")
    key.add_argument(
        "--shared",
        action="store_true",
        help="make one secret for all sites instead: "
        "it needs no library, keeps out only those who do not have it, and does not "
        "go with masked sums",
    )
    key.add_argument("--out", metavar="FILE", help="where it is written (default: NAME.key)")
    key.set_defaults(command=_site_key)

    book = commands.add_parser("partners", help="the address book: the keys of other sites")
    acts = book.add_subparsers(required=True, metavar="add | list")
    more = acts.add_parser("add", help="add the key that a partner’s site-key printed")
    more.add_argument("name", help="the site, as studies call it")
    more.add_argument("key_of_partner", metavar="KEY", help="64 hexadecimal digits")
    _add_partners(more)
    more.set_defaults(command=_partners_add)
    shown = acts.add_parser("list", help="list all partners with the words of their keys")
    _add_partners(shown)
    shown.set_defaults(command=_partners_list)

    offer = commands.add_parser(
        "offer",
        help="offer to take part in a study: a signed line with "
        "a fresh key for pads, which makes every plan of it new",
    )
    _add_study(offer)
    _add_own(offer)
    _add_folder(offer)
    offer.add_argument(
        "--take-back",
        action="store_true",
        help="instead: erase the secret of an "
        "offer that never became a plan; no plan with it is signed from then on",
    )
    offer.set_defaults(command=_offer)

    plan = commands.add_parser(
        "plan-sites",
        help="make the plan of a study from the offers of all "
        "its sites: the same for whoever makes it",
    )
    _add_study(plan)
    plan.add_argument(
        "offers",
        nargs="*",
        help="the offer of each site; without any, what the study says and costs is shown",
    )
    plan.add_argument(
        "--out",
        metavar="FILE",
        default="plan.json",
        help="the plan, to be given to all (default: plan.json)",
    )
    plan.set_defaults(command=_plan)

    consent = commands.add_parser(
        "sign-off", help="look at a plan and sign all of it; no row is read"
    )
    _add_plan(consent)
    _add_own(consent)
    _add_partners(consent)
    _add_honest(consent)
    _add_folder(consent)
    consent.add_argument(
        "--words",
        metavar="WORDS",
        help="the first words of the plan: sign it; without them it is shown",
    )
    consent.set_defaults(command=_sign_off)

    site = commands.add_parser(
        "site", help="contribute to a release that all sites have signed off, with one's own file"
    )
    site.add_argument("file", help="a table of this site's people; it stays here")
    _add_run(site)
    _add_own(site)
    _add_honest(site)
    add_people(site)
    site.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the files of the release, once all "
        "messages are there (default: none are written)",
    )
    site.set_defaults(command=_site)

    back = commands.add_parser(
        "withdraw",
        help="end this site's part in a plan for good: its "
        "secret is erased, and nothing more is drawn or charged",
    )
    _add_plan(back)
    _add_own(back)
    _add_partners(back)
    _add_folder(back)
    back.set_defaults(command=_withdraw)

    middle = commands.add_parser(
        "centre", help="make the release of several sites from their messages; needs no data"
    )
    _add_run(middle)
    middle.add_argument("--key", metavar="FILE", help="the secret, where all sites share one")
    middle.add_argument(
        "--out", metavar="DIR", default="release", help="folder for the files (default: release)"
    )
    middle.set_defaults(command=_centre)


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", help="what is to be released, by whom (see docs), or -")


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", help="from plan-sites")


def _add_own(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="this site, as the study calls it")
    parser.add_argument("--key", metavar="FILE", required=True, help="from site-key")
    add_paths(parser)


def _add_partners(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--partners",
        metavar="FILE",
        default="partners.json",
        help="the address book; not read where all share one secret (default: partners.json)",
    )


def _add_honest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--honest-at-least",
        metavar="N",
        type=whole(1, MAX_SITES),
        default=1,
        help="with masked sums: refuse a plan under which the sum of fewer honest "
        "sites could be read (default: 1)",
    )


def _add_folder(parser: argparse.ArgumentParser, others: str = "") -> None:
    parser.add_argument(
        "--through",
        metavar="FOLDER",
        required=True,
        help=f"a folder that all can read and write{others}",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plan",
        metavar="FILE",
        default="plan.json",
        help="what all signed off (default: plan.json)",
    )
    _add_folder(parser, ", or - for standard input and output")
    _add_partners(parser)
    parser.add_argument(
        "--once",
        action="store_true",
        help="do what can be done now, and end instead of waiting for others",
    )


# -- keys ------------------------------------------------------------------------------------------


def _site_key(options: argparse.Namespace) -> Exit:
    key = signing.new_key(Scheme.HMAC if options.shared else Scheme.ED25519)
    path = entrance.file_to_keep(options.out or f"{options.name}.key", "out")
    signing.write_key(path, key)
    if options.shared:
        print(f"wrote {path}: give it to all sites and the centre, by a way that nobody else reads")
        return Exit.DONE
    print(f"wrote {path}: it never leaves this site")
    print(f"for partners: python -m engine partners add {options.name} {key.public}")
    print(f"in words, to read to them on the telephone: {spoken.of_key(key.public)}")
    return Exit.DONE


def _partners_add(options: argparse.Namespace) -> Exit:
    path = entrance.file_to_keep(options.partners, "partners")
    partners.add(path, options.name, options.key_of_partner)
    print(f"{options.name}: {spoken.of_key(options.key_of_partner)}")
    print(f"{words.TO_COMPARE}. If they differ, take {options.name} out of {path}.")
    return Exit.DONE


def _partners_list(options: argparse.Namespace) -> Exit:
    for name, key in partners.read(entrance.text_of(options.partners, "partners")).keys.items():
        print(f"{name}: {spoken.of_key(key)}")
    return Exit.DONE


# -- before a run ----------------------------------------------------------------------------------


def _offer(options: argparse.Namespace) -> Exit:
    study = SiteStudy.read(entrance.text_of(options.study, "study"))
    store = SecretStore.beside(Ledger(options.ledger, options.witness))
    folder = _folder(options.through)
    if options.take_back:
        folder.take_away(agreement.taken_back(study, options.name, store))
        print(f"The offer of {options.name} is taken back, and its secret is erased.")
        return Exit.DONE
    _say(words.summary(study))
    print(f"wrote {folder.say(agreement.offered(study, options.name, _key_of(options), store))}")
    return Exit.DONE


def _plan(options: argparse.Namespace) -> Exit:
    study = SiteStudy.read(entrance.text_of(options.study, "study"))
    if not options.offers:
        _say(words.summary(study))
        print("Each site now makes its offer with “python -m engine offer”.", file=sys.stderr)
        return Exit.DONE
    plan = SitePlan.of(
        study,
        [
            Offer.read(entrance.bytes_of(name, MAX_STATEMENT, "offers"), entrance.called(name))
            for name in options.offers
        ],
    )
    path = entrance.file_to_keep(options.out, "out")
    if path.exists():
        raise InputError(
            f"{entrance.called(path)} is there already.",
            field="out",
            hint="Sites may have signed it off. Name another file with --out.",
        )
    entrance.write_whole(path, plan.to_bytes())
    _say(words.of_plan(plan))
    print(f"wrote {path}: give it to all sites and to the centre.")
    return Exit.DONE


def _sign_off(options: argparse.Namespace) -> Exit:
    """Sign; without words show what it would cost, and sign nothing."""
    party = _party(options, Ledger(options.ledger, options.witness))
    if options.words is None:
        _say(words.sign_off(party.plan, party.index))
        print(
            "Nothing was signed. To take part, add --words and the first words of the plan.",
            file=sys.stderr,
        )
        return Exit.DONE
    folder = _folder(options.through)
    print(f"wrote {folder.say(party.sign_off(options.words))}")
    return Exit.DONE


def _withdraw(options: argparse.Namespace) -> Exit:
    ledger = Ledger(options.ledger, options.witness)
    party, folder = _party(options, ledger), _folder(options.through)
    withdrawal = withdrawn(party, ledger)
    print(f"wrote {folder.say(withdrawal)}")
    protocol, others = Protocol(party.plan), folder.withdrawals()
    agreement.check_withdrawals(party.plan, others, party.ring)
    _say(
        [
            *words.withdrawn(protocol, withdrawal),
            *filter(None, [words.unreadable(unreadable_rounds(protocol, others))]),
        ]
    )
    return Exit.DONE


# -- a run -----------------------------------------------------------------------------------------


def _site(options: argparse.Namespace) -> Exit:
    ledger = Ledger(options.ledger, options.witness)
    party = _party(options, ledger)
    own = party.signed_off()
    if own is None:
        raise InputError(
            f"{party.name} has not signed off this plan.",
            field="sign-off",
            hint="Look at it with “python -m engine sign-off”. No row was read.",
        )
    transport = _transport(options.through)
    transport.say(own)
    study = party.plan.study
    source = source_of(study, party.index, entrance.bytes_of(options.file, MAX_BYTES))
    print(
        plain_text(
            f"{party.name}: {party.member.people} {study.facts.people}; ledger {ledger.path}"
        ),
        file=_words_to(options),
        flush=True,
    )
    sign_offs = _awaited(options, party.plan, transport)
    if sign_offs is None:
        return Exit.UNKNOWN
    agreed = SignedPlan(party, sign_offs)
    site = Site(agreed, source, ledger, _people(options, ledger, source, party.member.people))

    def advance(run: SiteRun) -> Published | None:
        there = {message.position for message in run.messages}
        for turn, content in site.answers(run.messages).items():
            transport.send(turn, content)
            if turn.position not in there:
                print(words.sent(site.protocol, turn), file=_words_to(options), flush=True)
        return site.finished(run.messages)

    run, release = _followed(
        options, SiteRun(party.plan, sign_offs, ()), party.ring, transport, advance, party.index
    )
    if release is None:
        return Exit.UNKNOWN
    print(f"The release is in the ledger, with id {release.release_id}.", file=_words_to(options))
    if options.out is not None:
        _write(options, run, release)
    return Exit.DONE


def _centre(options: argparse.Namespace) -> Exit:
    plan, transport = _read_plan(options), _transport(options.through)
    ring = _ring(options, plan)
    agreement.check_offers(plan, ring)
    sign_offs = _awaited(options, plan, transport)
    if sign_offs is None:
        return Exit.UNKNOWN

    def advance(run: SiteRun) -> Published | None:
        transcript = run.checked(ring)
        is_whole = len(transcript) == len(run.protocol.turns)
        return centre.released(run, transcript) if is_whole else None

    run, release = _followed(options, SiteRun(plan, sign_offs, ()), ring, transport, advance)
    if release is None:
        return Exit.UNKNOWN
    _write(options, run, release)
    return Exit.DONE


def _awaited(
    options: argparse.Namespace, plan: SitePlan, transport: Transport
) -> tuple[SignOff, ...] | None:
    """Wait for all sign-offs, which are checked afterwards; None where they do not come."""
    previous: list[str] = []
    while True:
        transport.received()  # first, so that waiting is for what came after this look
        sign_offs = transport.sign_offs()
        left = agreement.missing(plan, sign_offs)
        if not left:
            return tuple(sign_offs)
        previous = _said(
            options, [words.waiting_for(left), words.unfinished(transport.unfinished)], previous
        )
        is_stream = options.through == "-"
        if options.once and (is_stream or not transport.wait(0)):
            return None
        if not options.once and not transport.wait(_WAIT) and is_stream:
            return None


def _followed(
    options: argparse.Namespace,
    run: SiteRun,
    ring: Keyring,
    transport: Transport,
    advance: Any,
    index: int | None = None,
) -> tuple[SiteRun, Published | None]:
    """Go on whenever something comes, until the release is there or nothing more is to be done.

    What a party sends itself comes as well, so nothing that came meanwhile is overlooked. The run
    holds the messages of the release: a service may have a file gone again a moment later.
    """
    previous: list[str] = []
    while True:
        now = SiteRun(run.plan, run.sign_offs, tuple(transport.received()))
        release: Published | None = advance(now)
        previous = _said(
            options,
            [
                words.turn_of(now.protocol, now.checked(ring), index),
                words.unfinished(transport.unfinished),
            ],
            previous,
        )
        is_stream = options.through == "-"
        if release is not None or (options.once and (is_stream or not transport.wait(0))):
            return now, release
        if not options.once and not transport.wait(_WAIT) and is_stream:
            return now, None


def _said(options: argparse.Namespace, current: list[str], previous: list[str]) -> list[str]:
    """Say what was not said at the look before."""
    for line in current:
        if line and line not in previous:
            print(line, file=_words_to(options), flush=True)
    return current


# -- what options name -----------------------------------------------------------------------------


def _party(options: argparse.Namespace, ledger: Ledger) -> Party:
    """The site of the options, whose plan and offers are checked."""
    plan, key = _read_plan(options), _key_of(options)
    index = plan.study.index_of(options.name)
    agreement.check_scheme(plan.study, key)
    return Party(
        plan,
        index,
        key,
        _ring(options, plan),
        SecretStore.beside(ledger),
        getattr(options, "honest_at_least", 1),
    )


def _ring(options: argparse.Namespace, plan: SitePlan) -> Keyring:
    """Collect keys that check signatures: the own address book, or the secret that all share."""
    if plan.study.scheme is Scheme.ED25519:
        return partners.read(entrance.text_of(options.partners, "partners"))
    if options.key is None:
        raise InputError(
            "The shared secret is needed to check what was signed.",
            field="key",
            hint="Name its file with --key.",
        )
    return Keyring({}, _key_of(options))


def _people(options: argparse.Namespace, ledger: Ledger, source: Any, n: int) -> SitePeople:
    """Read the holder's statement of the people, and the total that the options ask for."""
    same = None if options.people is None else options.people == "same"
    return SitePeople(total_of(options, n, ledger), same)


def _read_plan(options: argparse.Namespace) -> SitePlan:
    return SitePlan.read(entrance.bytes_of(options.plan, MAX_PLAN, "plan"))


def _key_of(options: argparse.Namespace) -> Key:
    return signing.key_of(entrance.text_of(options.key, "key"))


def _transport(through: str) -> Transport:
    return Pipes(sys.stdin.buffer, sys.stdout.buffer) if through == "-" else _folder(through)


def _folder(through: str) -> Folder:
    path = Path(through)
    if not path.is_dir():
        raise InputError(
            f"There is no folder {entrance.called(through)}.",
            field="through",
            hint="All sites and the centre need the same one. Make it first.",
        )
    return Folder(path)


def _words_to(options: argparse.Namespace) -> Any:
    """Stream for words: not between the messages."""
    return sys.stderr if options.through == "-" else sys.stdout


def _write(options: argparse.Namespace, run: SiteRun, release: Published) -> None:
    for path in release_folder.write(options.out, centre.all_files(run, release)):
        print(f"wrote {path}", file=_words_to(options))


def _say(lines: Sequence[str]) -> None:
    print("\n".join(map(plain_text, lines)))
