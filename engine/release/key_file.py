"""The key under which ledgers know people and seal their entries: in a file of its own.

A copy of a ledger alone says when, what and how much was released, and about nobody. The key is
made once on each machine, and once for all ledgers of one agency that may be joined. It is the
first line of its file, 64 hexadecimal digits; further lines are keys of ledgers of earlier
versions, which held a key each. Whoever has lost it knows nobody again: every release of such a
ledger counts for everybody (`engine.release.repair.rebuild`).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from engine.core import entrance
from engine.core.errors import InputError
from engine.release import witness

VARIABLE = "PRIVACY_CURVES_KEY"  # names the file, or is the key itself in hexadecimal digits
_KEY = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1 << 16  # bytes of the file


def path_of() -> Path | None:
    """Return the file of the key; None if the variable is the key itself."""
    stated = os.environ.get(VARIABLE, "")
    if _KEY.fullmatch(stated):
        return None
    if stated:
        return entrance.lasting_file(stated, "key", VARIABLE)
    return entrance.users_file("XDG_CONFIG_HOME", "~/.config", "key", "key")


def keys() -> list[bytes]:
    """Return all keys of this machine, that of new ledgers first; empty before there is one."""
    path = path_of()
    if path is None:
        return [bytes.fromhex(os.environ[VARIABLE])]
    if not os.path.lexists(path):
        return []
    lines = entrance.bytes_of(path, _LARGEST, "key").decode("ascii", "replace").split("\n")
    return [bytes.fromhex(line) for line in lines[:-1] if _KEY.fullmatch(line)]


def own_key() -> bytes:
    """Return the key of new ledgers; make it if there is none.

    Of two processes that make one at once both write a line, and both take the first.
    """
    if not keys():
        _append(secrets.token_bytes(32))
    return keys()[0]


def add(key: bytes) -> None:
    """Keep the key of a ledger of an earlier version."""
    if key not in keys():
        _append(key)


def _append(key: bytes) -> None:
    path = path_of()
    if path is None:
        raise InputError(
            "The ledger of an earlier version has a key of its own, which cannot be "
            "kept in a variable.",
            field="key",
            hint=f"Name a file in {VARIABLE}, and ask again.",
        )
    witness.append(path, [key.hex()])


def check_value(key: bytes) -> str:
    """Compute the value that identifies a key in a ledger and cannot replace it."""
    return hmac.digest(key, b"privacy curves: which key", "sha256").hex()


def key_for(check: str) -> bytes | None:
    """Return the key with that check value, if this machine has it."""
    return next((key for key in keys() if hmac.compare_digest(check_value(key), check)), None)


def keyed(key: bytes, content: bytes) -> str:
    """Compute a digest that nobody can compute who lacks the key."""
    return hashlib.blake2b(content, key=key, digest_size=32, person=b"content").hexdigest()
