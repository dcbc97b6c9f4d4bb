"""The data hash of earlier ledgers: a hash of all observations, never published.

This version knows single people (`Source.traces` and `engine.release.people`).
"""

from __future__ import annotations

import hashlib

from engine.core.errors import InputError
from engine.core.types import Data
from engine.sources import Source


def content_of(source: Source[Data]) -> bytes:
    """Hash all observations (SHA-256), whatever the order, names, sites and stated bounds.

    Records are hashed one by one, and their hashes are sorted. The hash is as private as the data:
    whoever has it can check a guess of all observations.
    """
    one_by_one = sorted(hashlib.sha256(record).digest() for record in source.contents())
    if not one_by_one:
        raise InputError(
            "There is no ledger of simulated data.",
            field="source",
            hint="Choose public data, or use your own.",
        )
    return hashlib.sha256(b"".join(one_by_one)).digest()
