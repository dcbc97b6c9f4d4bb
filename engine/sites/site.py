"""One site: it reads its file, charges its ledger, draws its messages once, and sends them.

Privacy
-------
The people of the site lose what its own messages cost and nothing else, whatever other sites or the
centre say or do: each message has the noise of the rehearsal, which the site derives itself from
the plan, and the proofs of mechanisms hold for messages that are chosen after seeing any earlier
ones. For that to hold a message must be drawn once, of the same records in the same order, and must
follow one transcript:

* nothing is charged or drawn but under a `SignedPlan`: all sites signed the whole digest of the
  plan, by keys that this site holds itself;
* the ledger is charged before the first message is drawn, for this plan and these data;
* the order of the records is drawn once and kept (`new_order`, `ordered`);
* a message is in the ledger, with the digest of what was heard before it, before anybody else can
  see it; from then on it is sent as it is kept (`engine.release.partial`);
* a transcript that differs from what was heard before is refused, and so is one that holds a
  message in the site's name that its ledger does not have: another copy may have drawn it;
* a site that withdrew, or finished, has erased the secret of its pads and draws nothing more.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, Data
from engine.noise.shares import CountShares, LatticeShares
from engine.release import certified
from engine.release.ledger import Ledger
from engine.release.published import Published
from engine.release.request import uploaded
from engine.sites import messages, pads
from engine.sites.agreement import Party, SignedPlan
from engine.sites.charges import SiteCharge, SitePeople
from engine.sites.messages import SignedMessage
from engine.sites.protocol import Protocol, Turn, Whole, from_bytes, to_bytes, wholes
from engine.sites.secret_store import KeptOffer
from engine.sites.statements import Withdrawal
from engine.sites.study import SiteStudy
from engine.sources import Source

_DIGEST = 32  # bytes before the numbers of a message that is kept
_UNSTATED = SitePeople()


def source_of(study: SiteStudy, site: int, content: bytes) -> Source[Data]:
    """Read the records of a site's file as the study says; refuse others than it declares."""
    source = uploaded(content, study.reading, study.mechanism, study.facts)
    data = certified.publishable_data(source)
    member = study.members[site]
    if data.sizes.n_servers > 1:
        raise InputError(
            "This file holds several sites.",
            field="file",
            hint="Each site reads a file of its own people.",
        )
    if data.n_curves != member.people:
        raise InputError(
            f"The study declares {member.people} {study.facts.people} at "
            f"{member.name}, and this file has {data.n_curves}.",
            field="people",
            hint="Nothing was charged or sent. Write a new study together.",
        )
    return source


@dataclass(frozen=True, eq=False)
class Site:
    """One site of a run that all sites have signed off."""

    agreement: SignedPlan
    source: Source[Data]  # its records, from `source_of`
    ledger: Ledger  # its own
    people: SitePeople = _UNSTATED

    @property
    def party(self) -> Party:
        """The site with its keys and secrets."""
        return self.agreement.party

    @property
    def study(self) -> SiteStudy:
        """The study that all agreed on."""
        return self.agreement.plan.study

    @cached_property
    def protocol(self) -> Protocol:
        """The messages of the run."""
        return Protocol(self.agreement.plan)

    @cached_property
    def _records(self) -> Data:
        """Its records, in the order of the file."""
        return certified.publishable_data(self.source)

    @cached_property
    def charge(self) -> SiteCharge:
        """Its charge, which is written when it is first looked at, if it was not before."""
        return SiteCharge.made(
            self.ledger, self.protocol, self.party.index, self.source, self.people
        )

    def answers(self, received: Sequence[SignedMessage]) -> dict[Turn, bytes]:
        """Give all messages of this site that can be drawn now or were drawn before.

        Each is in the ledger.
        """
        transcript = messages.checked(self.protocol, received, self.party.ring)
        with self.party.entry() as entry:
            self._check_ledger(entry)
            entry.charge = self.charge.receipt.release_id
            stored = self.charge.stored()
            self._check_transcript(transcript, stored)
            answers: dict[Turn, bytes] = {}
            for turn in self.protocol.of_site(self.party.index):
                content = stored.get(turn.position)
                if content is None:
                    digest = self.protocol.digest_before(turn.round, transcript)
                    if digest is None:
                        break
                    entry.check_open()
                    content = self._new_message(turn, transcript, digest, entry)
                transcript[turn.position] = _numbers(content)
                answers[turn] = messages.write(
                    self.agreement.plan,
                    turn,
                    _numbers(content),
                    content[:_DIGEST].hex(),
                    self.party.key,
                )
        return answers

    def finished(self, received: Sequence[SignedMessage]) -> Published | None:
        """Make the release once all messages are there, and erase the secret of the pads."""
        transcript = messages.checked(self.protocol, received, self.party.ring)
        if len(transcript) < len(self.protocol.turns):
            return None
        self._check_transcript(transcript, self.charge.stored())
        release = self.charge.finish(self.protocol.messages(transcript))
        with self.party.entry() as entry:
            entry.secret, entry.is_ended = b"", True
        return release

    def _check_ledger(self, entry: KeptOffer) -> None:
        """Refuse to charge where this site has ended its part, or charged another ledger."""
        if not entry.charge:
            entry.check_open()
        elif SiteCharge.found(self.ledger, entry.charge) is None:
            raise InputError(
                f"{self.party.name} charged this plan in another ledger than this.",
                field="ledger",
                hint="Use the ledger that it charged.",
            )

    def _check_transcript(
        self, transcript: Mapping[int, Whole], stored: Mapping[int, bytes]
    ) -> None:
        """Refuse to go on where others were told, or tell, something else than before."""
        name = self.party.name
        for turn in self.protocol.of_site(self.party.index):
            content, present = stored.get(turn.position), transcript.get(turn.position)
            what = self.protocol.label(turn)
            if present is not None and content is None:
                raise InputError(
                    f"“{what}” of {name} was sent before, and this ledger does not "
                    "have it: another copy of this site drew it, or somebody wrote in its name.",
                    field="ledger",
                    hint="Use the ledger that drew it. Nothing more is drawn.",
                )
            if content is None:
                continue
            if present not in (None, _numbers(content)):
                raise InputError(
                    f"“{what}” of {name} stands in the transcript with other numbers "
                    "than its ledger has: somebody wrote in its name.",
                    field="message",
                    hint="Nothing more is drawn in this run. Find out who wrote it.",
                )
            digest = self.protocol.digest_before(turn.round, transcript)
            if digest not in (None, content[:_DIGEST].hex()):
                raise InputError(
                    f"The transcript before “{what}” is not the one that {name} "
                    "answered: a message was exchanged.",
                    field="message",
                    hint="Nothing more is drawn in this run. Compare it with the others.",
                )

    def _new_message(
        self, turn: Turn, transcript: Mapping[int, Whole], digest: str, entry: KeptOffer
    ) -> bytes:
        """Draw a message and keep it.

        A failure closes the charge, because numbers of the site may have caused it.
        """
        data = self._in_order()
        try:
            exact = self.protocol.exact(turn, data, transcript)
            numbers = self._noised(turn, exact, digest, entry)
        except Exception:
            self.charge.close(drawing=turn.round)
            raise
        return self.charge.store(
            turn.position, bytes.fromhex(digest) + to_bytes(numbers), turn.round
        )

    def _noised(self, turn: Turn, exact: Array, digest: str, entry: KeptOffer) -> Whole:
        """Noise a message; where only sums are read, with a share of the noise and masked."""
        if not isinstance(turn.noise, LatticeShares | CountShares):
            return wholes(turn.noise(exact), turn.noise)
        plan = self.agreement.plan
        context = f"{plan.digest} {turn.round} {digest}".encode()
        return pads.added(
            turn.noise.share(exact),
            pads.mask(
                entry.secret,
                [offer.pads for offer in plan.offers],
                self.party.index,
                context,
                turn.noise.size,
            ),
        )

    def _in_order(self) -> Data:
        """Put the records of this site, always in the same random order, among stand-ins."""
        index = len(self.protocol.turns)  # of the order, behind all messages
        order = self.charge.stored().get(index)
        if order is None:
            order = self.charge.store(index, new_order(self.party.member.people))
        return self.study.stand_in.with_site(self.party.index, ordered(self._records, order))


def withdrawn(party: Party, ledger: Ledger) -> Withdrawal:
    """End a site's part in a plan for good, and sign from which round on it never draws.

    The secret of its pads is erased and its charge closed first; both are final. What it drew
    before stays charged.
    """
    with party.entry() as entry:
        charge = SiteCharge.found(ledger, entry.charge)
        if charge is not None and charge.is_finished:
            raise InputError(
                "This release is finished: there is nothing to withdraw.",
                field="plan",
                hint="It is in the ledger.",
            )
        entry.secret, entry.is_ended = b"", True
        if entry.withdrawal is None:
            drawn: dict[int, bytes] = {}
            if charge is not None:
                charge.close()
                drawn = charge.stored()
            protocol = Protocol(party.plan)
            first = next(
                (
                    turn.round
                    for turn in protocol.of_site(party.index)
                    if turn.position not in drawn
                ),
                protocol.n_rounds,
            )
            entry.withdrawal = Withdrawal(
                site=party.name, plan=party.plan.digest, round=first
            ).signed(party.key)
        return entry.withdrawal


def unreadable_rounds(protocol: Protocol, withdrawals: Sequence[Withdrawal]) -> list[int]:
    """List the rounds whose sum nobody can ever read, by checked withdrawals of other sites.

    A round is lost for ever if an honest site never draws it and has erased its secret: its pads
    with all other honest sites stay. At most S − S′ sites are dishonest, and a dishonest one may
    sign a withdrawal and keep its secret. So more than S − S′ withdrawals are needed, of which one
    at least is honest. Without masked sums every message is read by itself.
    """
    shares = protocol.plan.study.shares
    if shares is None:
        return []
    first = {withdrawal.site: withdrawal.round for withdrawal in withdrawals}
    return [
        number
        for number in range(protocol.n_rounds)
        if sum(number >= start for start in first.values()) > shares.sites - shares.honest
    ]


def _numbers(content: bytes) -> Whole:
    return from_bytes(content[_DIGEST:])


# -- the records of a site, in an order that stays -------------------------------------------------
# A site answers several times, with hours between. Every time its records must be in the same
# random order, or one person could take part in two rounds that are charged as one. So the order is
# drawn once and kept in the ledger. As rows of a file may come in another order tomorrow, records
# are first sorted by what they hold; equal ones cannot be told apart. An order that is drawn
# uniformly and without looking at them puts sorted records in a uniformly random order, which is
# what the proof in `engine.release.random_order` asks for.


def new_order(n: int) -> bytes:
    """Draw a uniformly random order of n records from the operating system: eight bytes each."""
    keys = np.frombuffer(secrets.token_bytes(16 * n), dtype=np.uint64).reshape(-1, 2)
    return np.lexsort((keys[:, 1], keys[:, 0])).astype("<i8").tobytes()


def ordered(data: Data, order: bytes) -> Data:
    """Sort the records of one site by what they hold, and put them in a stored order."""
    contents = data.record_bytes()
    by_content = np.array(sorted(range(len(contents)), key=contents.__getitem__), dtype=np.int64)
    return data.in_order(by_content[np.frombuffer(order, dtype="<i8")])
