"""Whether two data sets are about the same people, from short keyed hashes of each person.

A data set is described by up to three kinds of traces, one text for each person or curve:

* *ids*, as the file has them, without spaces around and without case;
* *values*: the observations of a curve in order of time, or the numbers of a record in order of
size,
  each with six digits;
* *shapes*: the same observations less the smallest, divided by their range, to a
hundred-thousandth;
  for three observations or more that are not all equal.

Times are in none of them, so months for years change nothing; units of values are not in shapes.
Values and shapes count only where nine in ten differ within the file: whole numbers that many
people share say nothing about who they are.

Half of the people of two files cannot have equal values or shapes by chance: as many would then be
equal within each file, where nine in ten differ. So such people are the same, whatever is said of
them. Equal ids alone may be other people's: many files count from 1.

Of every kind the ledger keeps the `SIZE` smallest of the hashes under its own key, a sketch. For
smaller files that is everybody. For larger ones the share of the two sketches' smallest `SIZE`
hashes that both have estimates |A ∩ B|/|A ∪ B| with a standard error of at most .5/√SIZE = .011,
and the share of the smaller data set follows from it. Two data sets count as overlapping where that
is at least `MAJORITY` by any kind.

References
----------
Broder (1997), "On the resemblance and containment of documents": estimates from smallest hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.uploads.traces import TELLING

SIZE = 2048
MAJORITY = 0.5
KINDS = ("ids", "values", "shapes")
MEASURED = KINDS[1:]  # equal in half of the people: they are the same

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of one kind, and how many different ones there were.

    Parameters
    ----------
    n : int
        Different traces.
    hashes : (min(n, SIZE),)
        Unsigned, of 64 bits, ascending.
    """

    n: int
    hashes: Hashes

    def to_bytes(self) -> bytes:
        """The hashes, eight bytes each, for the ledger."""
        return self.hashes.astype(">u8").tobytes()

    @classmethod
    def from_bytes(cls, n: int, content: bytes) -> Sketch:
        """The sketch that `to_bytes` wrote.

        Parameters
        ----------
        n : int
            Different traces; not in the bytes.
        content : bytes
            Eight for each hash.
        """
        return cls(n, np.frombuffer(content, dtype=">u8").astype(np.uint64))


def sketches(traces: Mapping[str, Iterable[bytes]], key: bytes) -> dict[str, Sketch]:
    """Sketches of the kinds of traces that tell people apart, under a key.

    Parameters
    ----------
    traces : mapping of str to iterable of bytes
        By kind (see `KINDS`), the texts of all people.
    key : bytes
        32 of them; under another key the same people have unrelated hashes.

    Returns
    -------
    dict of str to Sketch
        Without kinds, other than ids, of which fewer than nine in ten differ.

    Examples
    --------
    >>> people = {"ids": [b"anna", b"bela"], "values": [b"1", b"1"]}
    >>> list(sketches(people, key=bytes(32)))
    ['ids']
    """
    out = {}
    for kind, texts in traces.items():
        each = list(texts)
        different = set(each)
        if different and (kind == "ids" or len(different) >= TELLING * len(each)):
            out[kind] = _sketch(kind, different, key)
    return out


def _sketch(kind: str, different: Iterable[bytes], key: bytes) -> Sketch:
    person = kind.encode()
    digests = b"".join(hashlib.blake2b(text, key=key, digest_size=8, person=person).digest()
                       for text in different)
    hashes = np.unique(np.frombuffer(digests, dtype=">u8").astype(np.uint64))
    return Sketch(len(hashes), hashes[:SIZE])


def share(first: Sketch, second: Sketch) -> float:
    """Which share of the smaller data set's people is in the other as well, estimated.

    Parameters
    ----------
    first, second : Sketch
        Of one kind, under one key.

    Returns
    -------
    float
        From 0 to 1; exact where neither has more than `SIZE` people.

    References
    ----------
    Broder (1997), "On the resemblance and containment of documents".
    """
    if not (first.n and second.n):
        return 0.0
    union = np.union1d(first.hashes, second.hashes)
    if max(first.n, second.n) > SIZE:
        union = union[:SIZE]
    both = np.isin(union, first.hashes) & np.isin(union, second.hashes)
    alike = float(both.mean())
    common = alike / (1 + alike) * (first.n + second.n)
    return min(common / min(first.n, second.n), 1.0)


def largest_share(some: Mapping[str, Sketch], others: Mapping[str, Sketch]) -> tuple[float, str]:
    """The largest share of any kind that both have, and the kind; 0 where they have none.

    What was measured goes before ids, which other people may have as well.

    Parameters
    ----------
    some, others : mapping of str to Sketch
        By kind, under one key.
    """
    shares = [(share(some[kind], others[kind]), kind) for kind in KINDS
              if kind in some and kind in others]
    measured = [pair for pair in shares if pair[1] in MEASURED and pair[0] >= MAJORITY]
    return max(measured or shares, default=(0.0, ""), key=lambda pair: pair[0])
