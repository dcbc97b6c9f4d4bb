"""The records of one site, in an order that stays.

A site answers several times, with hours between. Every time its records must be in the same random
order, or one person could take part in two rounds that are charged as one. So the order is drawn
once and kept in the ledger. As rows of a file may come in another order tomorrow, records are first
sorted by what they hold; equal ones cannot be told apart. An order that is drawn uniformly and
without looking at them puts sorted records in a uniformly random order, which is what the proof in
`engine.release.random_order` asks for.
"""

from __future__ import annotations

import secrets

import numpy as np

from engine.core.types import Data


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
