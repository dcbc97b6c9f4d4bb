"""Signatures: by a site's own key, or codes by a secret that all sites share.

With Ed25519 every site has a long-term key of its own. It signs with it, and whoever has its public
half in the own address book (`engine.sites.partners`) can check a signature and cannot make one.
That needs the library `cryptography`, which comes with the extra `sites`.

With HMAC-SHA-256 all sites share one secret of 256 bits. That keeps strangers out, and needs
nothing but Python. A site could write in another's name; the other then finds in the transcript a
message that its ledger does not have, and refuses to go on. So a shared secret serves sites that
add all of their own noise, and never masked sums (`engine.sites.pads`).

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
from collections.abc import Mapping
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
_SIGNATURE = re.compile(r"[0-9a-f]{64}|[0-9a-f]{128}")


class Scheme(StrEnum):
    """Ways to authenticate statements."""

    ED25519 = "ed25519"
    HMAC = "hmac-sha256"


@dataclass(frozen=True)
class Key:
    """A key with which a site signs; it never leaves the site.

    Examples
    --------
    >>> key = Key(Scheme.HMAC, bytes(32))
    >>> ring = Keyring({}, shared=key)
    >>> ring.has_signed("north", b"words", key.sign(b"words"))
    True
    >>> ring.has_signed("north", b"other words", key.sign(b"words"))
    False
    """

    scheme: Scheme  # a key of the site's own, or a secret that all sites share
    secret: bytes  # 32 of them

    def __repr__(self) -> str:
        return f"Key({self.scheme.value}, public={self.public})"

    @property
    def public(self) -> str:
        """The public half, or the SHA-256 of a shared secret, in hex."""
        if self.scheme is Scheme.HMAC:
            return hashlib.sha256(self.secret).hexdigest()
        public: bytes = (
            _ed25519()
            .Ed25519PrivateKey.from_private_bytes(self.secret)
            .public_key()
            .public_bytes_raw()
        )
        return public.hex()

    def sign(self, content: bytes) -> str:
        """Sign these bytes, in hex."""
        if self.scheme is Scheme.HMAC:
            return hmac.new(self.secret, content, hashlib.sha256).hexdigest()
        signature: bytes = (
            _ed25519().Ed25519PrivateKey.from_private_bytes(self.secret).sign(content)
        )
        return signature.hex()

    def to_text(self) -> str:
        """Write the key as `key_of` reads it."""
        return json.dumps({"kind": self.scheme.value, "secret": self.secret.hex()}) + "\n"


@dataclass(frozen=True)
class Keyring:
    """Keys with which a party checks signatures: those that it holds itself, never a plan's."""

    keys: Mapping[str, str]  # public halves in hex, by the name of the site
    shared: Key | None = None  # the secret of all sites, in place of keys

    @property
    def scheme(self) -> Scheme:
        """The scheme of the signatures that it checks."""
        return Scheme.ED25519 if self.shared is None else Scheme.HMAC

    def with_own(self, name: str, key: Key) -> Keyring:
        """Add a site's own key, which it need not look up."""
        if key.scheme is Scheme.HMAC:
            return Keyring({}, key)
        return Keyring({**self.keys, name: key.public})

    def has_signed(self, name: str, content: bytes, signature: str) -> bool:
        """True if the site of this name signed these bytes."""
        if not _SIGNATURE.fullmatch(signature):
            return False
        if self.shared is not None:
            return hmac.compare_digest(self.shared.sign(content), signature)
        if name not in self.keys:
            raise InputError(
                f"No key is held for {name}.",
                field="partners",
                hint=f"Ask {name} for the key that “site-key” printed, add it with "
                "“partners add”, and compare its words on the telephone.",
            )
        ed25519 = _ed25519()
        with suppress(ValueError, ed25519.InvalidSignature):
            ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.keys[name])).verify(
                bytes.fromhex(signature), content
            )
            return True
        return False


def new_key(scheme: Scheme) -> Key:
    """Make a fresh key from the operating system's entropy."""
    if scheme is Scheme.ED25519:
        _ed25519()
    return Key(scheme, secrets.token_bytes(_BYTES))


def key_of(text: str) -> Key:
    """Read the key in the text of its file."""
    plain = checked_object(entrance.json_of(text, "key"), "key", ("kind", "secret", "pads"))
    if "pads" in plain:
        raise InputError(
            "This key was made by an earlier version of this program.",
            field="key",
            hint="Make a new one with “python -m engine site-key”.",
        )
    if plain.get("kind") not in [*Scheme] or not is_hex(plain.get("secret")):
        raise InputError(
            "This file is no key.", field="key", hint="“python -m engine site-key” makes one."
        )
    return Key(Scheme(plain["kind"]), bytes.fromhex(plain["secret"]))


def write_key(path: Path, key: Key) -> None:
    """Write a key where there is no file yet, for its owner alone to read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(
            f"{entrance.called(path)} is there already.",
            field="out",
            hint="Keep it: partners know this site by it. Or name another file.",
        ) from None
    except OSError as problem:
        raise entrance.unwritable(path.parent, problem, "out") from None
    with os.fdopen(handle, "w") as file:
        file.write(key.to_text())
        file.flush()
        os.fsync(file.fileno())


def is_hex(text: Any) -> bool:
    """True for 32 bytes in hex."""
    return isinstance(text, str) and _HEX.fullmatch(text) is not None


class _Ed25519:
    """The three names of `cryptography` that are used."""

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519

        self.InvalidSignature: Any = InvalidSignature
        self.Ed25519PrivateKey: Any = ed25519.Ed25519PrivateKey
        self.Ed25519PublicKey: Any = ed25519.Ed25519PublicKey


def _ed25519() -> _Ed25519:
    try:
        return _Ed25519()
    except ImportError:
        raise InputError(
            "Keys of one’s own need the library “cryptography”.",
            field="key",
            hint='Install the extra: pip install ".[sites]". Or share one secret: '
            "“python -m engine site-key --shared”.",
        ) from None
