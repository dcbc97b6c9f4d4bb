"""One message as it travels: JSON that a person can read, signed by its site.

A message says of which plan it is, its position, site and step, what its site had heard, the
lattice, and the noised numbers as whole multiples of it. Whoever reads one checks all of that
before a number is used. What is wrong is said with the name of the site whose message it is or
claims to be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Turn, Whole
from engine.sites.signing import Key, Keyring
from engine.sites.statements import signed_bytes

MAX_BYTES = 10**7  # of one message
_KIND, _VERSION = "noised message", 2
_BODY = (
    "kind",
    "version",
    "plan",
    "position",
    "round",
    "site",
    "step",
    "heard",
    "lattice",
    "numbers",
)
_SIGNATURE = re.compile(r"[0-9a-f]{64,128}")
_MAX = 2**62


@dataclass(frozen=True)
class SignedMessage:
    """A message that was read, and not yet checked."""

    body: Mapping[str, Any]  # all that is signed
    signature: str  # in hex

    @property
    def position(self) -> int:
        """Its place in the run, from 0; −1 where it states none."""
        stated = self.body.get("position")
        return stated if type(stated) is int else -1

    @property
    def numbers(self) -> Whole:
        """The noised numbers, whole multiples of the lattice."""
        return tuple(self.body["numbers"])

    @property
    def plain(self) -> dict[str, Any]:
        """The message as JSON has it."""
        return {"body": self.body, "signature": self.signature}

    def to_text(self) -> str:
        """Write the message as `read` reads it."""
        return json.dumps(self.plain, ensure_ascii=False) + "\n"


def write(plan: SitePlan, turn: Turn, numbers: Whole, heard: str, key: Key) -> bytes:
    """Write and sign a message of noised numbers, with the digest of all earlier rounds."""
    body = {
        "kind": _KIND,
        "version": _VERSION,
        "plan": plan.digest,
        "position": turn.position,
        "round": turn.round,
        "site": plan.study.members[turn.site].name,
        "step": turn.step,
        "heard": heard,
        "lattice": turn.noise.bits,
        "numbers": list(numbers),
    }
    return SignedMessage(body, key.sign(signed_bytes(body))).to_text().encode()


def read(content: bytes, origin: str) -> SignedMessage:
    """Read a message from its bytes; `checked` looks at what it says."""
    problem = InputError(
        f"{origin} is no message of this program.",
        field="message",
        hint="Ask its site to send the file again.",
    )
    try:
        plain = checked_object(
            json_of(content.decode(), "message"), "message", ("body", "signature")
        )
        body = checked_object(plain.get("body"), "body", _BODY)
    except (InputError, UnicodeDecodeError):
        raise problem from None
    signature = plain.get("signature")
    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        raise problem
    return SignedMessage(body, signature)


def checked(
    protocol: Protocol, messages: Sequence[SignedMessage], ring: Keyring | None
) -> dict[int, Whole]:
    """Give the numbers of all messages that can be used, by position: each is as the plan says.

    A message whose earlier rounds are not all there waits until they are. Without keys signatures
    are left unchecked, to look at a transcript.
    """
    by_position: dict[int, SignedMessage] = {}
    for message in messages:
        turn = _turn(protocol, message)
        _check_form(protocol.plan, turn, message)
        if ring is not None and not ring.has_signed(
            protocol.plan.study.members[turn.site].name,
            signed_bytes(message.body),
            message.signature,
        ):
            raise _refused(
                protocol.plan,
                turn,
                "has a wrong signature",
                "It was changed on the way, or somebody else wrote it.",
            )
        other = by_position.setdefault(turn.position, message)
        if other.numbers != message.numbers or other.body != message.body:
            raise _refused(
                protocol.plan,
                turn,
                "was sent twice, with other numbers",
                "A site draws a message once. Ask what happened there.",
            )
    transcript: dict[int, Whole] = {}
    for turn in protocol.turns:
        present = by_position.get(turn.position)
        digest = protocol.digest_before(turn.round, transcript)
        if present is None or digest is None:
            continue
        if present.body.get("heard") != digest:
            raise _refused(
                protocol.plan,
                turn,
                "follows other messages than those that are here",
                "Somebody got another message. Compare the transcripts.",
            )
        transcript[turn.position] = present.numbers
    return transcript


def _turn(protocol: Protocol, message: SignedMessage) -> Turn:
    name = message.body.get("site")
    if not 0 <= message.position < len(protocol.turns):
        raise InputError(
            f"A message {_of(name)} states a position that this run does not have.",
            field="message",
            hint="It is of another run. Take it away.",
        )
    return protocol.turns[message.position]


def _check_form(plan: SitePlan, turn: Turn, message: SignedMessage) -> None:
    body = message.body
    if (body.get("kind"), body.get("version")) != (_KIND, _VERSION):
        raise _refused(
            plan,
            turn,
            "was written by another version of this program",
            "Use the same version at every site.",
        )
    if body.get("plan") != plan.digest:
        raise _refused(
            plan, turn, "is of another plan", "Take it away, and compare the words of the plans."
        )
    stated = [body.get(name) for name in ("site", "step", "round")]
    if stated != [plan.study.members[turn.site].name, turn.step, turn.round]:
        raise _refused(
            plan,
            turn,
            "is not the one that the plan has at this position",
            "Messages may not be renamed or moved.",
        )
    numbers = body.get("numbers")
    if not isinstance(numbers, list) or len(numbers) != turn.noise.size:
        raise _refused(
            plan,
            turn,
            f"has not the {turn.noise.size} numbers that it must have",
            "Ask the site to send it again.",
        )
    is_number = _is_whole if plan.study.shares is None else _is_masked
    if body.get("lattice") != turn.noise.bits or not all(map(is_number, numbers)):
        raise _refused(
            plan,
            turn,
            "is not on the lattice of its noise",
            "Whole numbers are sent; anything else was changed on the way or made up.",
        )


def _is_whole(number: Any) -> bool:
    """True for a whole number that floating point holds exactly."""
    return type(number) is int and abs(number) <= _MAX and int(float(number)) == number


def _is_masked(number: Any) -> bool:
    """True for a whole number of 64 bits: masked ones are uniform."""
    return type(number) is int and -(2**63) <= number < 2**63


def _of(name: Any) -> str:
    return (
        f"of {name}"
        if isinstance(name, str) and name.isprintable() and len(name) <= 30
        else ("of nobody in the plan")
    )


def _refused(plan: SitePlan, turn: Turn, what: str, hint: str) -> InputError:
    name = plan.study.members[turn.site].name
    return InputError(f"Message {turn.position + 1} of {name} {what}.", field="message", hint=hint)
