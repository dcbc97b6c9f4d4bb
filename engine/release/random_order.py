"""Records in a fresh random order before they are published, so that order can prove nothing false.

The place of a record decides who shares a round, a half or, where records are dealt to sites in
turn, a site. Files are often sorted by a number: replacing one person then moves many others, and a
proof that looks at places no longer speaks of neighbouring data.

*Proof.* Let M be a release whose guarantee is proved for data that differ in one place, and σ an
order drawn without looking at the data. Let D and D′ be neighbours as sets: one record of a site is
replaced, and the files may be sorted anyhow. Some fixed order τ, which may depend on both, puts D′
beside D such that they differ in one place only. Then σD and στD′ differ in one place for every σ,
and στ has the same law as σ, so (σ, M(σD)) and (στ, M(στD′)) are as close as the guarantee of M
says, for any of its kinds. Leaving out the order is post-processing: M(σD) and M(σD′) are as close.

No order is drawn for methods of which every message has the same bits in any order: deviations that
follow from one record alone (`engine.numerics.curve_deviations`) are added as whole numbers
(`engine.numerics.exact_sums`), and people are counted by cells of one row alone. Then M(D) = M(σD)
for every σ, so M(D) and M(D′) = M(τD′) are as close as the guarantee of M says for data that differ
in one place.

The order comes from 128 random bits of the operating system for each record; that two of a million
records have the same ones, and stay as they were, has a probability below 2⁻⁸⁸.
"""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Data
from engine.mechanisms import Mechanism

_BYTES = 16


def in_published_order(data: Data, mechanism: Mechanism, across_sites: bool) -> Data:
    """Put records in a random order, unless no release by this method depends on it."""
    if not across_sites and mechanism.ignores_order(data.facts):
        return data
    return reordered(data, across_sites)


def reordered(data: Data, across_sites: bool = False) -> Data:
    """Put the records of one data set in a random order within each site.

    With `across_sites`, rows are dealt to sites by their place, so that the order of all of them is
    drawn anew; sites keep their sizes.
    """
    server = np.zeros_like(data.server) if across_sites else data.server
    return data.in_order(_random_order(server))


def _random_order(server: NDArray[np.int64]) -> NDArray[np.int64]:
    # (n, 2): 128 bits a record; records are sorted by server, then by their bits.
    keys = np.frombuffer(secrets.token_bytes(_BYTES * len(server)), dtype=np.uint64).reshape(-1, 2)
    if (server == server[0]).all():  # a million in a third of the time
        order = np.argsort(keys[:, 0])
        if (np.diff(keys[order, 0]) != 0).all():  # the other 64 bits would change nothing
            return order
    return np.lexsort((keys[:, 1], keys[:, 0], server))
