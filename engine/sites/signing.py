"""Who wrote a message: a signature by a site's own key, or a code by a secret that all sites share.

With Ed25519 every site has a key of its own. It signs with it, and anybody who has the plan, which
holds the public half, can check a signature and nobody can make one. That needs the library
`cryptography`, which comes with the extra `sites`.

With HMAC-SHA-256 all sites share one secret of 256 bits. That keeps strangers out, and needs
nothing but Python. A site could write in another's name; the other then finds in the transcript a
message that its ledger does not have, and refuses to go on. The plan holds the SHA-256 of the
secret, by which a wrong one is noticed.

No guarantee of privacy rests on either: a site's noise is its own, whatever it is told.

References
----------
Josefsson and Liusvaara (2017), RFC 8032, for Ed25519; Krawczyk, Bellare and Canetti (1997), RFC
2104, for HMAC.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.core import entrance
from engine.core.errors import InputError
from engine.core.plain import checked_object

_BYTES = 32
_HEX = re.compile(r"[0-9a-f]{64}")


class Scheme(StrEnum):
    """How messages are authenticated."""

    ED25519 = "ed25519"
    HMAC = "hmac-sha256"


@dataclass(frozen=True)
class Key:
    """What a site signs with; never leaves it.

    Parameters
    ----------
    scheme : Scheme
        Of its own, or shared by all sites.
    secret : bytes
        32 of them.
    pads : bytes
        32 more, from which pads are agreed on (`engine.sites.pads`); empty in a shared secret.

    Examples
    --------
    >>> key = Key(Scheme.HMAC, bytes(32))
    >>> is_signed_by(key.scheme, key.public, b"words", key.sign(b"words"), key)
    True
    >>> is_signed_by(key.scheme, key.public, b"other words", key.sign(b"words"), key)
    False
    """

    scheme: Scheme
    secret: bytes
    pads: bytes = b""

    def __repr__(self) -> str:
        return f"Key({self.scheme.value}, public={self.public})"

    @property
    def public(self) -> str:
        """What the plan holds: the public half, or the SHA-256 of a shared secret, in hex."""
        if self.scheme is Scheme.HMAC:
            return hashlib.sha256(self.secret).hexdigest()
        public: bytes = _ed25519().Ed25519PrivateKey.from_private_bytes(
            self.secret).public_key().public_bytes_raw()
        return public.hex()

    def sign(self, content: bytes) -> str:
        """A signature of these bytes, in hex.

        Parameters
        ----------
        content : bytes
            All that is signed.
        """
        if self.scheme is Scheme.HMAC:
            return hmac.new(self.secret, content, hashlib.sha256).hexdigest()
        signature: bytes = _ed25519().Ed25519PrivateKey.from_private_bytes(
            self.secret).sign(content)
        return signature.hex()

    def to_text(self) -> str:
        """As `key_of` reads it."""
        pads = {"pads": self.pads.hex()} if self.pads else {}
        return json.dumps({"kind": self.scheme.value, "secret": self.secret.hex(), **pads}) + "\n"


def new_key(scheme: Scheme) -> Key:
    """A fresh key, from the operating system's entropy.

    Parameters
    ----------
    scheme : Scheme
        Ed25519 for a key of one's own, HMAC for a secret to be shared.

    Raises
    ------
    InputError
        If the library for it is not installed.
    """
    if scheme is Scheme.HMAC:
        return Key(scheme, secrets.token_bytes(_BYTES))
    _ed25519()
    return Key(scheme, secrets.token_bytes(_BYTES), secrets.token_bytes(_BYTES))


def key_of(text: str) -> Key:
    """The key in the text of its file.

    Parameters
    ----------
    text : str
        From `Key.to_text`.

    Raises
    ------
    InputError
        If it is none.
    """
    plain = checked_object(entrance.json_of(text, "key"), "key", ("kind", "secret", "pads"))
    parts = [plain.get("secret"), *([plain["pads"]] if "pads" in plain else [])]
    if plain.get("kind") not in [*Scheme] or not all(
            isinstance(part, str) and _HEX.fullmatch(part) for part in parts):
        raise InputError("This file is no key.", field="key",
                         hint="“python -m engine site-key” makes one.")
    return Key(Scheme(plain["kind"]), *map(bytes.fromhex, parts))


def write_key(path: Path, key: Key) -> None:
    """Write a key where there is no file yet, for its owner alone to read.

    Parameters
    ----------
    path : Path
        Of the new file.
    key : Key
        From `new_key`.

    Raises
    ------
    InputError
        If there is one, or it cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{entrance.called(path)} is there already.", field="out",
                         hint="Keep it: messages that were signed with it count. Or name another "
                         "file.") from None
    except OSError as problem:
        raise entrance.unwritable(path.parent, problem, "out") from None
    with os.fdopen(handle, "w") as file:
        file.write(key.to_text())
        file.flush()
        os.fsync(file.fileno())


def check_public(scheme: Scheme, public: Any, field: str) -> str:
    """The public half of a key as a plan states it.

    Parameters
    ----------
    scheme : Scheme
        Of all keys of the plan.
    public : object
        What stands there.
    field : str
        Named in the error.

    Raises
    ------
    InputError
        If it cannot be one.
    """
    if not isinstance(public, str) or not _HEX.fullmatch(public):
        what = ("key for pads" if field == "pads" else "public key"
                if scheme is Scheme.ED25519 else "check of the shared secret")
        raise InputError(f"The {what} must be 64 hexadecimal digits.", field=field,
                         hint="“python -m engine site-key” prints it.")
    return public


def is_signed_by(scheme: Scheme, public: str, content: bytes, signature: str,
                 key: Key | None = None) -> bool:
    """Whether a signature of these bytes was made by the owner of a key.

    Parameters
    ----------
    scheme : Scheme
        Of the plan.
    public : str
        What the plan says of the key.
    content : bytes
        All that was signed.
    signature : str
        In hex.
    key : Key, optional
        The shared secret; needed for HMAC alone.

    Raises
    ------
    InputError
        If the library is not installed, or the shared secret is missing.
    """
    if scheme is Scheme.HMAC:
        if key is None:
            raise InputError("The shared secret is needed to check messages.", field="key",
                             hint="Name its file with --key.")
        return hmac.compare_digest(key.sign(content).encode(), signature.encode())
    ed25519 = _ed25519()
    with suppress(ValueError, ed25519.InvalidSignature):
        ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
            bytes.fromhex(signature), content)
        return True
    return False


class _Library:
    """The three names of `cryptography` that are used."""

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519

        self.InvalidSignature: Any = InvalidSignature
        self.Ed25519PrivateKey: Any = ed25519.Ed25519PrivateKey
        self.Ed25519PublicKey: Any = ed25519.Ed25519PublicKey


def _ed25519() -> _Library:
    try:
        return _Library()
    except ImportError:
        raise InputError("Keys of one’s own need the library “cryptography”.", field="key",
                         hint="Install the extra: pip install \".[sites]\". Or share one secret: "
                         "“python -m engine site-key --shared”.") from None
