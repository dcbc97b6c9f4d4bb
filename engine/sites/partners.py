"""The address book of a site: the public keys of its partners, each compared once by telephone.

A plan names sites and never their keys, so a signature is checked with what the site itself wrote
down. {"kind": "partners", "version": 1, "keys": {"south": "…", "east": "…"}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from engine.core import entrance
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.sites.signing import Keyring, is_hex
from engine.sites.study import checked_site

_KIND, _VERSION = "partners", 1


def read(text: str) -> Keyring:
    """Read an address book."""
    plain = checked_object(
        entrance.json_of(text, "address book"), "partners", ("kind", "version", "keys")
    )
    if (plain.get("kind"), plain.get("version")) != (_KIND, _VERSION):
        raise InputError(
            "This file is no address book.",
            field="partners",
            hint="“python -m engine partners add” writes one.",
        )
    keys = checked_object(plain.get("keys"), "keys")
    return Keyring({checked_site(name): checked_key(key) for name, key in keys.items()})


def to_text(keys: Mapping[str, str]) -> str:
    """Write an address book as `read` reads it."""
    return (
        json.dumps(
            {"kind": _KIND, "version": _VERSION, "keys": dict(sorted(keys.items()))}, indent=1
        )
        + "\n"
    )


def add(path: Path, name: str, key: str) -> None:
    """Add a partner to the address book in a file, which is made if it is not there."""
    keys = dict(read(entrance.text_of(str(path), "partners")).keys) if path.exists() else {}
    if keys.get(checked_site(name), key) != checked_key(key):
        raise InputError(
            f"The address book has another key for {name}.",
            field="key",
            hint="Call them. If the new key is theirs, take the old one out of the "
            "file and add the new one.",
        )
    if any(held == key and other != name for other, held in keys.items()):
        raise InputError(
            "Another partner has this key already.",
            field="key",
            hint="Each site makes its own with “python -m engine site-key”.",
        )
    entrance.write_whole(path, to_text({**keys, name: key}).encode(), "partners")


def checked_key(key: object) -> str:
    """Give back a public key in hex; refuse anything else."""
    if not isinstance(key, str) or not is_hex(key):
        raise InputError(
            "A public key is 64 hexadecimal digits.",
            field="key",
            hint="“python -m engine site-key” prints it.",
        )
    return key
