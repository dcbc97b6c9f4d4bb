"""One site: it reads its file, charges its ledger, draws its messages once, and sends them.

Privacy
-------
The people of the site lose what its own messages cost and nothing else, whatever other sites or the
centre say or do: each message has the noise of the rehearsal, which the site derives itself from
the plan, and the proofs of mechanisms hold for messages that are chosen after seeing any earlier
ones. For that to hold a message must be drawn once, of the same records in the same order, and must
follow one transcript:

* the ledger is charged before the first message is drawn, for this plan and these data;
* the order of the records is drawn once and kept (`new_order`, `ordered`);
* a message is in the ledger, with the digest of what was heard before it, before anybody else can
  see it; from then on it is sent as it is kept (`engine.release.partial`);
* a transcript that differs from what was heard before is refused, and so is one that holds a
  message in the site's name that its ledger does not have: another copy may have drawn it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Array, Budget, Data
from engine.noise.shares import CountShares, LatticeShares
from engine.privacy import accounting
from engine.release import certified, partial, published
from engine.release.certified import SiteCost
from engine.release.ledger import Ledger, Receipt
from engine.release.plan import messages_to_bytes
from engine.release.published import Published
from engine.release.request import uploaded
from engine.sites import messages, pads
from engine.sites.messages import Message
from engine.sites.plan import Member, SitePlan
from engine.sites.protocol import Protocol, Turn, Whole, from_bytes, to_bytes, wholes
from engine.sites.signing import Key
from engine.sources import Source

_DIGEST = 32  # bytes before the numbers of a message that is kept


@dataclass(frozen=True)
class People:
    """What the holder of a site's data says of its people.

    Parameters
    ----------
    total : Budget, optional
        The most that all releases about them may cost, where this is the first.
    same_people : bool, optional
        Whether they are those whom the ledger seems to know already; see `Ledger.charge`.
    """

    total: Budget | None = None
    same_people: bool | None = None


def source_of(plan: SitePlan, site: int, content: bytes) -> Source[Data]:
    """The records of a site's file, as the plan says that it is read.

    Parameters
    ----------
    plan : SitePlan
        That was signed off.
    site : int
        Which of its sites.
    content : bytes
        The file.

    Raises
    ------
    InputError
        If it cannot be read so, or holds others than the plan declares.
    """
    source = uploaded(content, plan.reading, plan.mechanism, plan.facts)
    data = certified.publishable_data(source)
    member = plan.members[site]
    if data.sizes.n_servers > 1:
        raise InputError("This file holds several sites.", field="file",
                         hint="Each site reads a file of its own people.")
    if source.is_of_rows:
        raise InputError(f"Rows would be protected, and {plan.facts.people} with several of them "
                         "less than the plan says.", field="several",
                         hint="State in the plan’s reading which column names people.")
    if data.n_curves != member.people:
        raise InputError(f"The plan declares {member.people} {plan.facts.people} at {member.name}, "
                         f"and this file has {data.n_curves}.", field="people",
                         hint="Nothing was charged or sent. Make a new plan together.")
    return source


@dataclass(frozen=True, eq=False)
class Site:
    """One site of a run.

    Parameters
    ----------
    plan : SitePlan
        That its people signed off.
    index : int
        Which of the sites it is, from 0.
    source : Source
        Its records, from `source_of`.
    key : Key
        It signs with it.
    ledger : Ledger
        Its own.
    people : People
        What their holder says of them.

    Raises
    ------
    InputError
        If the key is not the one of the plan.
    """

    plan: SitePlan
    index: int
    source: Source[Data]
    key: Key
    ledger: Ledger
    people: People = People()

    def __post_init__(self) -> None:
        check_key(self.plan, self.index, self.key)

    @property
    def member(self) -> Member:
        """Its name, people and budget."""
        return self.plan.members[self.index]

    @property
    def cost(self) -> SiteCost:
        """What the release costs its people."""
        return self.plan.cost(self.index)

    @cached_property
    def protocol(self) -> Protocol:
        """The messages of the run."""
        return Protocol(self.plan)

    @cached_property
    def _records(self) -> Data:
        """Its records, in the order of the file."""
        return certified.publishable_data(self.source)

    @cached_property
    def receipt(self) -> Receipt:
        """Its charge, which is written when it is first looked at, if it was not before.

        Raises
        ------
        InputError
            If the total would be overrun, or its people seem to be known and nobody said whether
            they are the same.
        """
        mechanism = self.plan.mechanism
        rho = accounting.total_rho(self.plan.certified_spends(self.index))
        description = f"{mechanism.main_task.label} by {mechanism.label}, with other sites"
        return published.charge(self.plan.release, self.source, self.cost.certified, rho,
                                self.ledger, description, self.people.total,
                                self.people.same_people)

    def answers(self, received: Sequence[Message]) -> dict[Turn, bytes]:
        """All messages of this site that can be drawn now or were drawn before.

        Parameters
        ----------
        received : sequence of Message
            Of all sites, in any order.

        Returns
        -------
        dict of Turn to bytes
            Each is in the ledger.

        Raises
        ------
        InputError
            If a message is refused, or the transcript is not the one that was answered before;
            then nothing is drawn.
        """
        transcript = messages.checked(self.protocol, received, self.key)
        receipt = self.receipt
        stored = partial.stored(self.ledger, receipt)
        self._check_transcript(transcript, stored)
        answers: dict[Turn, bytes] = {}
        for turn in self.protocol.of_site(self.index):
            content = stored.get(turn.position)
            if content is None:
                digest = self.protocol.digest_before(turn.round, transcript)
                if digest is None:
                    break
                content = self._new_message(turn, transcript, digest, receipt)
            transcript[turn.position] = _numbers(content)
            answers[turn] = messages.write(self.plan, turn, _numbers(content),
                                           content[:_DIGEST].hex(), self.key)
        return answers

    def finished(self, received: Sequence[Message]) -> Published | None:
        """The release, once all messages are there; None before.

        Parameters
        ----------
        received : sequence of Message
            Of all sites.
        """
        transcript = messages.checked(self.protocol, received, self.key)
        if len(transcript) < len(self.protocol.turns):
            return None
        receipt = self.receipt
        self._check_transcript(transcript, partial.stored(self.ledger, receipt))
        self.ledger.store(receipt, messages_to_bytes(self.protocol.messages(transcript)))
        return published.again(self.ledger, receipt.release_id)

    def _check_transcript(self, transcript: Mapping[int, Whole],
                          stored: Mapping[int, bytes]) -> None:
        """Refuse to go on where others were told, or tell, something else than before."""
        for turn in self.protocol.of_site(self.index):
            content, present = stored.get(turn.position), transcript.get(turn.position)
            what = self.protocol.label(turn)
            if present is not None and content is None:
                raise InputError(
                    f"“{what}” of {self.member.name} was sent before, and this ledger does not "
                    "have it: another copy of this site drew it, or somebody wrote in its name.",
                    field="ledger", hint="Use the ledger that drew it. Nothing more is drawn.")
            if content is None:
                continue
            if present not in (None, _numbers(content)):
                raise InputError(
                    f"“{what}” of {self.member.name} stands in the transcript with other numbers "
                    "than its ledger has: somebody wrote in its name.", field="message",
                    hint="Nothing more is drawn in this run. Find out who wrote it.")
            digest = self.protocol.digest_before(turn.round, transcript)
            if digest not in (None, content[:_DIGEST].hex()):
                raise InputError(
                    f"The transcript before “{what}” is not the one that {self.member.name} "
                    "answered: a message was exchanged.", field="message",
                    hint="Nothing more is drawn in this run. Compare it with the others.")

    def _new_message(self, turn: Turn, transcript: Mapping[int, Whole], digest: str,
                     receipt: Receipt
               ) -> bytes:
        """Draw a message and keep it.

        A failure closes the charge, because numbers of the site may have caused it.
        """
        data = self._in_order(receipt)
        try:
            exact = self.protocol.exact(turn, data, transcript)
            numbers = self._noised(turn, exact, digest)
        except Exception:
            self.ledger.close(receipt)
            raise
        return partial.store(self.ledger, receipt, turn.position,
                             bytes.fromhex(digest) + to_bytes(numbers))

    def _noised(self, turn: Turn, exact: Array, digest: str) -> Whole:
        """A message with its noise; where only sums are read, with a share of it and masked."""
        if not isinstance(turn.noise, LatticeShares | CountShares):
            return wholes(turn.noise(exact), turn.noise)
        publics = [member.pads for member in self.plan.members]
        context = f"{self.plan.run} {self.plan.digest} {turn.round} {digest}".encode()
        return pads.added(turn.noise.share(exact), pads.mask(
            self.key.pads, publics, self.index, context, turn.noise.size))

    def _in_order(self, receipt: Receipt) -> Data:
        """The records of this site, always in the same random order, among stand-ins."""
        index = len(self.protocol.turns)  # of the order, behind all messages
        order = partial.stored(self.ledger, receipt).get(index)
        if order is None:
            order = partial.store(self.ledger, receipt, index, new_order(self.member.people))
        return self.plan.stand_in.with_site(self.index, ordered(self._records, order))


def check_signed_off(plan: SitePlan, fingerprint: str) -> None:
    """Refuse to take part in a plan that nobody signed off.

    Parameters
    ----------
    plan : SitePlan
        What all are to agree on.
    fingerprint : str
        As a person typed it.

    Raises
    ------
    InputError
        If it is of another plan.
    """
    if fingerprint != plan.fingerprint:
        raise InputError("This is not the fingerprint of the plan.", field="sign-off",
                         hint="Read it off without --sign-off, and compare it with the others.")


def check_key(plan: SitePlan, site: int, key: Key) -> None:
    """Refuse a key that the plan does not name for this site.

    Parameters
    ----------
    plan : SitePlan
        What all agreed on.
    site : int
        Which of its sites.
    key : Key
        Of its file.

    Raises
    ------
    InputError
        If it is another.
    """
    if key.scheme is not plan.scheme or key.public != plan.members[site].key:
        raise InputError(f"This is not the key that the plan names for {plan.members[site].name}.",
                         field="key", hint="Name the file that “site-key” wrote for it.")
    if plan.shares and not (key.pads and pads.public_half(key.pads) == plan.members[site].pads):
        raise InputError(f"This is not the key for pads that the plan names for "
                         f"{plan.members[site].name}.", field="key",
                         hint="Name the file that “site-key” wrote for it.")


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
    """A uniformly random order of n records, from the operating system's entropy.

    Parameters
    ----------
    n : int
        How many.

    Returns
    -------
    bytes
        Eight for each.
    """
    keys = np.frombuffer(secrets.token_bytes(16 * n), dtype=np.uint64).reshape(-1, 2)
    return np.lexsort((keys[:, 1], keys[:, 0])).astype("<i8").tobytes()


def ordered(data: Data, order: bytes) -> Data:
    """The records of one site, sorted by what they hold and then put in a stored order.

    Parameters
    ----------
    data : Data
        Of one site, in the order of its file.
    order : bytes
        From `new_order`.
    """
    contents = data.record_bytes()
    by_content = np.array(sorted(range(len(contents)), key=contents.__getitem__), dtype=np.int64)
    return data.in_order(by_content[np.frombuffer(order, dtype="<i8")])
