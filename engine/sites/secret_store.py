"""Secrets of a site: of each study its offer, the secret of its pads, and what it signed.

It is one SQLite file beside the site's ledger. A key for pads serves one study and one plan of it:
the offer is made once, one digest is signed, and at the end, or when the site withdraws, the secret
is overwritten. (Storage that remaps its blocks, and copies of the file, are beyond a program.)

Whoever changes an entry holds it alone meanwhile, also against other processes: so nothing is drawn
while a withdrawal says that it never will be.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine.core import entrance
from engine.core.errors import InputError
from engine.release.ledger import Ledger
from engine.sites.statements import Offer, SignOff, Withdrawal

_PATIENCE = 600.0  # seconds that another process of the same site may draw
_TABLE = """CREATE TABLE IF NOT EXISTS offers (
    study TEXT NOT NULL, site TEXT NOT NULL, offer BLOB NOT NULL, secret BLOB NOT NULL,
    sign_off BLOB NOT NULL, charge TEXT NOT NULL, is_ended INTEGER NOT NULL,
    withdrawal BLOB NOT NULL, PRIMARY KEY (study, site))"""


@dataclass
class KeptOffer:
    """Records of one study at one site; an offer that was not made is None."""

    offer: Offer | None = None
    secret: bytes = field(default=b"", repr=False)  # of the pads; empty where there is none left
    sign_off: SignOff | None = None
    charge: str = ""  # id of the release in the ledger; empty before it is charged
    is_ended: bool = False  # nothing more is drawn
    withdrawal: Withdrawal | None = None

    def check_open(self) -> None:
        """Refuse to draw where this site's part has ended."""
        if self.is_ended:
            raise InputError(
                "This site’s part in this study has ended: nothing more is drawn.",
                field="study",
                hint="Write a new study, under another name.",
            )


@dataclass(frozen=True)
class SecretStore:
    """The entries of all studies of a site."""

    path: Path

    @classmethod
    def beside(cls, ledger: Ledger) -> SecretStore:
        """Name the store of a site by its ledger."""
        return cls(entrance.file_to_keep(f"{ledger.path}.offers", "ledger"))

    @contextmanager
    def entry(self, study: str, site: str) -> Iterator[KeptOffer]:
        """Hold the entry of a study, by its digest, alone; what was changed is kept afterwards."""
        with closing(self._held()) as file:
            entry = _read(file, study, site)
            try:
                yield entry
            finally:
                self._keep(file, study, site, entry)

    def _held(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
            file = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            file.execute("PRAGMA secure_delete = ON")
            file.execute("PRAGMA synchronous = FULL")
            file.execute("BEGIN IMMEDIATE")
            file.execute(_TABLE)
        except (sqlite3.Error, OSError):
            raise self._unusable() from None
        return file

    def _keep(self, file: sqlite3.Connection, study: str, site: str, entry: KeptOffer) -> None:
        try:
            if entry.offer is not None:
                file.execute(
                    "INSERT OR REPLACE INTO offers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (study, site, *_row(entry)),
                )
            file.commit()
        except sqlite3.Error:
            raise self._unusable() from None

    def _unusable(self) -> InputError:
        return InputError(
            f"Cannot use {entrance.called(self.path)}, in which this site keeps its offers.",
            field="ledger",
            hint="It lies beside the ledger. Check its disk, and who may write it.",
        )


def _read(file: sqlite3.Connection, study: str, site: str) -> KeptOffer:
    row = file.execute(
        "SELECT offer, secret, sign_off, charge, is_ended, withdrawal FROM offers "
        "WHERE study = ? AND site = ?",
        (study, site),
    ).fetchone()
    if row is None:
        return KeptOffer()
    offer, secret, sign_off, charge, is_ended, withdrawal = row
    origin = "An entry of this site"
    return KeptOffer(
        Offer.read(offer, origin),
        secret,
        SignOff.read(sign_off, origin) if sign_off else None,
        charge,
        bool(is_ended),
        Withdrawal.read(withdrawal, origin) if withdrawal else None,
    )


def _row(entry: KeptOffer) -> tuple[bytes, bytes, bytes, str, int, bytes]:
    offer, sign_off, withdrawal = (
        b"" if statement is None else statement.to_bytes()
        for statement in (entry.offer, entry.sign_off, entry.withdrawal)
    )
    return offer, entry.secret, sign_off, entry.charge, int(entry.is_ended), withdrawal
