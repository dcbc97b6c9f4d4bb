"""Signed statements of sites before and after a run: offers, sign-offs and withdrawals.

Each is one line of JSON with a kind, known keys and a signature of all the rest. It is parsed into
a record and written again, and the bytes must be equal: nothing stands in it that nobody reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.sites.signing import Key, Keyring, is_hex

MAX_BYTES = 2000  # of one statement
_VERSION = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,29}")
_NONCE = re.compile(r"[0-9a-f]{32}")
_SIGNATURE = re.compile(r"[0-9a-f]{64}|[0-9a-f]{128}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
_MOST_ROUNDS = 10**6
Forms = Mapping[str, Callable[[Any], bool]]


def is_site(name: Any) -> bool:
    """True for 1 to 30 lower-case letters, digits and hyphens."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def now() -> str:
    """Give the time in UTC as statements have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def signed_bytes(body: Mapping[str, Any]) -> bytes:
    """Write what is signed: the same bytes for equal statements; kinds keep them apart."""
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement that one site signs."""

    kind: ClassVar[str]
    forms: ClassVar[Forms]  # by field, but for those of all statements

    site: str
    signature: str = ""  # in hex; empty until it is signed

    @property
    def body(self) -> dict[str, Any]:
        """All that is signed."""
        return {
            "kind": self.kind,
            "version": _VERSION,
            **{
                field.name: getattr(self, field.name)
                for field in fields(self)
                if field.name != "signature"
            },
        }

    @property
    def plain(self) -> dict[str, Any]:
        """The statement as JSON has it."""
        return {**self.body, "signature": self.signature}

    def to_bytes(self) -> bytes:
        """Write the statement as `read` reads it."""
        return json.dumps(self.plain, sort_keys=True).encode() + b"\n"

    def signed(self, key: Key) -> Self:
        """Sign it."""
        return replace(self, signature=key.sign(signed_bytes(self.body)))

    def is_signed(self, ring: Keyring) -> bool:
        """True if the site that it names signed it."""
        return ring.has_signed(self.site, signed_bytes(self.body), self.signature)

    @classmethod
    def of(cls, plain: Any, origin: str) -> Self:
        """Read a statement from its plain form; the signature is not looked at."""
        names = {"kind", "version", "site", "signature", *cls.forms}
        if not (
            isinstance(plain, dict)
            and set(plain) == names
            and plain["kind"] == cls.kind
            and type(plain["version"]) is int
            and plain["version"] == _VERSION
            and is_site(plain["site"])
            and isinstance(plain["signature"], str)
            and _SIGNATURE.fullmatch(plain["signature"])
            and all(has_form(plain[name]) for name, has_form in cls.forms.items())
        ):
            raise InputError(
                f"{origin} is no {cls.kind} of this program.",
                field=cls.kind,
                hint="Ask its site to send it again.",
            )
        return cls(**{name: plain[name] for name in ("site", "signature", *cls.forms)})

    @classmethod
    def read(cls, content: bytes, origin: str) -> Self:
        """Read a statement from its bytes, which must be those that it is written as."""
        try:
            plain = json_of(content[: MAX_BYTES + 1].decode(), cls.kind)
        except (InputError, UnicodeDecodeError):
            plain = None
        statement = cls.of(plain, origin)
        if statement.to_bytes() != content:
            raise InputError(
                f"{origin} is not written as this program writes it.",
                field=cls.kind,
                hint="Ask its site to send it again.",
            )
        return statement


def _is_nonce(text: Any) -> bool:
    return isinstance(text, str) and _NONCE.fullmatch(text) is not None


def _is_time(text: Any) -> bool:
    try:
        return (
            isinstance(text, str)
            and _TIME.fullmatch(text) is not None
            and bool(datetime.fromisoformat(text))
        )
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class Offer(Statement):
    """A site's readiness to take part in one study, with what makes every plan of it fresh."""

    kind: ClassVar[str] = "offer"
    forms: ClassVar[Forms] = {
        "study": is_hex,
        "nonce": _is_nonce,
        "pads": lambda text: text == "" or is_hex(text),
    }

    study: str  # SHA-256 of the study, in hex
    nonce: str  # 128 random bits, in hex
    pads: str = ""  # public half of a key for this study alone; empty unless sums are masked


@dataclass(frozen=True, kw_only=True)
class SignOff(Statement):
    """A site's consent to one plan: to all of its digest, never to a part."""

    kind: ClassVar[str] = "sign-off"
    forms: ClassVar[Forms] = {"plan": is_hex, "at": _is_time}

    plan: str  # SHA-256 of the plan, in hex
    at: str  # ISO 8601 in UTC


@dataclass(frozen=True, kw_only=True)
class Withdrawal(Statement):
    """A site's word that its secret is erased and that it draws nothing from a round on."""

    kind: ClassVar[str] = "withdrawal"
    forms: ClassVar[Forms] = {
        "plan": is_hex,
        "round": lambda number: type(number) is int and 0 <= number <= _MOST_ROUNDS,
    }

    plan: str  # SHA-256 of the plan, in hex
    round: int  # the first that was not drawn, from 0
