"""Identity of people: short keyed hashes of ids and of curves, and sets of people.

A record has up to two hashes of eight bytes under the key of the ledger: *id*, of the canonical id
with the name of its list, and *content*, of the shape of its curve (`engine.uploads.traces`), where
that has at least `TELLING_BITS` nominal bits. A new record is a known person if either hash is
known, the id first; else it is a new person, named by the first of its hashes. So old ids with new
values and new ids with old values both count.

A record whose id is one known person's and whose content is another's makes the two one. The pair
is kept, and from then on both have lost what all releases cost that hold either: `Same` joins pairs
into people by connected components, so that chains are followed to their end. People of one data
set with one id, whom only its reading tells apart, have each lost what all of them lost.

Not noticed: other files with ids of another list and no telling content; rounded or shortened
curves with new ids. Without the key no hash can be computed, so a ledger alone tells nobody whether
a guessed id or curve is in it. Two of 10⁶ and 10⁶ people share a hash by chance with 5×10⁻⁸.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.identity import Traces

TELLING_BITS = 48.0
_BATCH = 1 << 12  # texts that are hashed at once
_BLOCK = 1 << 16  # people who are written at once
_WIDEST = 12  # digits of an id with zeros before it
_NONE = np.uint64(0)
Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


def hashes_of(kind: str, texts: Sequence[bytes], key: bytes) -> Hashes:
    """Hash texts under a key; an empty text has no hash, which is 0."""
    begun = hashlib.blake2b(key=key, digest_size=8, person=kind.encode())
    digests, is_there = [], _lengths(texts) > 0
    for part in _batches(texts if is_there.all() else [text for text in texts if text]):
        states = [*map(hashlib.blake2b.copy, repeat(begun, len(part)))]
        deque(map(hashlib.blake2b.update, states, part), 0)
        digests.append(b"".join(map(hashlib.blake2b.digest, states)))
    hashes = np.zeros(len(texts), np.uint64)
    hashes[is_there] = np.frombuffer(b"".join(digests), dtype=">u8")
    return hashes


def _batches(texts: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (texts[first : first + _BATCH] for first in range(0, len(texts), _BATCH))


def _lengths(texts: Sequence[bytes]) -> NDArray[np.uint32]:
    return np.fromiter(map(len, texts), "<u4", len(texts))


def file_digest(traces: Traces, key: bytes) -> str:
    """Hash all that people of a data set are known by at once, in the order of the data.

    Equal digests are equal `RecordHashes`, so that a file that was charged before is known without
    a hash for each of its people. `RecordHashes.digest` knows the same people in another order.
    """
    begun = hashlib.blake2b(key=key, digest_size=32, person=b"data set")
    begun.update(repr((traces.kind, traces.ids_from, traces.n)).encode())
    for texts in (traces.ids, traces.content, traces.records):
        begun.update(len(texts).to_bytes(8, "little") + _lengths(texts).tobytes())
        for part in _batches(texts):
            begun.update(b"".join(part))
    begun.update((traces.bits >= TELLING_BITS).tobytes())
    return begun.hexdigest()


def _order(first: Hashes, *more: Hashes) -> Integers:
    """Sort by hashes, and by more of them where the first are equal."""
    order = np.argsort(first)
    ordered = first[order]
    return np.lexsort((*more[::-1], first)) if (ordered[1:] == ordered[:-1]).any() else order


def _blocks(order: Integers) -> Iterator[Integers]:
    return (order[first : first + _BLOCK] for first in range(0, len(order), _BLOCK))


def _rows(*columns: Hashes) -> NDArray[Any]:
    return np.column_stack(columns).astype("<u8", copy=False)


@dataclass(frozen=True, eq=False)
class RecordHashes:
    """Hashes of the records of a data set (n,), in the order of the data; 0 where there is none."""

    ids: Hashes
    contents: Hashes
    # Other spellings of ids, as earlier versions may have had them: places (k,) and hashes (k,).
    earlier: tuple[Integers, Hashes] = (np.zeros(0, np.int64), np.zeros(0, np.uint64))
    unlisted: Hashes | None = None  # the same ids without the list that was stated

    @classmethod
    def of(cls, traces: Traces, key: bytes, is_taken_over: bool = False) -> RecordHashes:
        """Hash what people are known by.

        Equal records without an id are told apart by their number, so that the same data have the
        same people whatever the order. Ledgers of earlier versions told 7 from 007 and “a 1” from
        “a1”; in those that were taken over people are found under all of them.
        """
        parts = traces.of_parts(_Hashing(key, is_taken_over))
        return cls._joined(list(chain.from_iterable(parts)))

    @classmethod
    def _joined(cls, parts: Sequence[RecordHashes]) -> RecordHashes:
        """Put the hashes of some people after those of others."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.ids) for part in parts[:-1])])
        unlisted = [part.unlisted for part in parts if part.unlisted is not None]
        places = [
            part.earlier[0] + start for part, start in zip(parts, starts.tolist(), strict=True)
        ]
        return cls(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.contents for part in parts]),
            (np.concatenate(places), np.concatenate([part.earlier[1] for part in parts])),
            np.concatenate(unlisted) if unlisted else None,
        )

    @classmethod
    def of_some(
        cls, traces: Traces, key: bytes, is_taken_over: bool, seen: Counter[bytes]
    ) -> RecordHashes:
        """Hash some of the people; `seen` counts records without an id."""
        contents = np.zeros(traces.n, np.uint64)
        if len(traces.content):
            is_telling = (traces.bits >= TELLING_BITS).tolist()
            contents = hashes_of(
                traces.kind,
                [
                    text if tells else b""
                    for text, tells in zip(traces.content, is_telling, strict=True)
                ],
                key,
            )
        if traces.ids:
            of = b"\0" + traces.ids_from.encode() if traces.ids_from else b""
            earlier = _earlier(traces, key) if is_taken_over else cls.earlier
            unlisted = hashes_of("ids", traces.ids, key) if of and traces.is_list_stated else None
            return cls(
                hashes_of("ids", [text + of for text in traces.ids], key),
                contents,
                earlier,
                unlisted,
            )
        numbered = []
        for text in traces.records:
            numbered.append(text + seen[text].to_bytes(4, "big"))
            seen[text] += 1
        ids = hashes_of("records", numbered, key) if numbered else np.zeros(traces.n, np.uint64)
        return cls(np.where(contents > 0, _NONE, ids), contents)

    @property
    def digest(self) -> str:
        """A digest of the records in any order."""
        hashed, order = hashlib.sha256(), _order(self.ids, self.contents)
        for some in _blocks(order):
            hashed.update(_rows(self.ids[some], self.contents[some]).tobytes())
        return hashed.hexdigest()


@dataclass(frozen=True)
class _Hashing:
    """Hashes what people of a part are known by."""

    key: bytes
    is_taken_over: bool

    def __call__(self, traces: Iterator[Traces]) -> list[RecordHashes]:
        seen = Counter[bytes]()
        return [RecordHashes.of_some(each, self.key, self.is_taken_over, seen) for each in traces]


def _earlier(traces: Traces, key: bytes) -> tuple[Integers, Hashes]:
    """Hash ids as they are written, and numbers with zeros before them or .0 behind them."""
    numbers = [(place, text) for place, text in enumerate(traces.ids) if text.isdigit()]
    forms = [
        *traces.spellings,
        *((place, text + b".0") for place, text in numbers),
        *(
            (place, text.zfill(width))
            for width in range(2, _WIDEST + 1)
            for place, text in numbers
            if len(text) < width
        ),
    ]
    return (
        np.array([place for place, _ in forms], np.int64),
        hashes_of("ids", [text for _, text in forms], key),
    )


@dataclass(frozen=True, eq=False)
class PeopleSet:
    """The records of a data set and whose they are, sorted by person; as the ledger keeps them."""

    ids: Hashes
    contents: Hashes
    persons: Hashes

    def to_bytes(self) -> bytes:
        """Write 24 bytes for each record."""
        order = _order(self.persons, self.ids, self.contents)
        columns = (self.ids, self.contents, self.persons)
        return b"".join(
            _rows(*(column[some] for column in columns)).tobytes() for some in _blocks(order)
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> PeopleSet:
        """Read the set that `to_bytes` wrote."""
        table = np.frombuffer(content, dtype="<u8").reshape(-1, 3)
        return cls(*(np.ascontiguousarray(column, np.uint64) for column in table.T))


@dataclass(frozen=True, eq=False)
class Same:
    """Pairs of people who are one."""

    pairs: Hashes = field(default_factory=lambda: np.zeros((0, 2), np.uint64))

    def __post_init__(self) -> None:
        people, names = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        if len(self.pairs):
            from scipy.sparse import coo_array  # on first use: pairs are rare
            from scipy.sparse.csgraph import connected_components

            people, places = np.unique(self.pairs, return_inverse=True)
            edges = places.reshape(-1, 2).T
            links = coo_array((np.ones(edges.shape[1], np.int8), edges), (len(people),) * 2)
            component = connected_components(links, directed=False)[1]
            _, first = np.unique(component, return_index=True)
            names = people[first][component]  # people are sorted: the least of each component
        object.__setattr__(self, "_people", people)
        object.__setattr__(self, "_names", names)

    def names(self, persons: Hashes) -> Hashes:
        """Give all people who are one the same name."""
        people, names = self.__dict__["_people"], self.__dict__["_names"]
        if not len(people):
            return persons
        place = np.minimum(np.searchsorted(people, persons), len(people) - 1)
        return np.where(people[place] == persons, names[place], persons)

    def with_pairs(self, first: Hashes, second: Hashes) -> Same:
        """Add pairs; those of one person already are left out."""
        one, other = self.names(first), self.names(second)
        new = np.unique(np.column_stack([one, other])[one != other], axis=0)
        return Same(np.concatenate([self.pairs, new])) if len(new) else self


@dataclass(frozen=True, eq=False)
class KnownRecords:
    """Whose the records of a data set are, by the sets of a ledger."""

    records: RecordHashes
    persons: Hashes  # (n,), of every record, known or new
    is_known: NDArray[np.bool_]  # (n,)
    same: Same  # with the pairs that these records make
    new_pairs: Hashes  # (k, 2)
    n_by_content: int  # records of people known by their curve alone
    n_twice: int  # records of people who have several in these data, under different ids
    n_unlisted: int = 0  # new people whose id is known where no list was stated

    @classmethod
    def of_sets(cls, sets: Sequence[PeopleSet], same: Same) -> KnownRecords:
        """Give the people of sets that a ledger has."""
        ids, contents, persons = (
            np.concatenate([getattr(each, part) for each in sets])
            for part in ("ids", "contents", "persons")
        )
        return cls(
            RecordHashes(ids, contents),
            persons,
            np.ones(len(persons), bool),
            same,
            np.zeros((0, 2), np.uint64),
            0,
            0,
        )

    def people_set(self) -> PeopleSet:
        """The set as it is kept."""
        return PeopleSet(self.records.ids, self.records.contents, self.persons)


def found(
    records: RecordHashes, sets: Iterable[PeopleSet], same: Same, are_others: bool = False
) -> KnownRecords:
    """Find the people of records among sets, in the order of the ledger.

    `are_others` is the holder's statement that nobody is known by the curve alone, and that equal
    curves in these data are different people's: then such contents do not count.
    """
    ids, contents, before = records.ids, records.contents, same
    by_id, by_content = np.zeros_like(ids), np.zeros_like(ids)
    everybody, (places, earlier) = np.arange(len(ids)), records.earlier
    ways = [(by_id, everybody, ids), (by_id, places, earlier), (by_content, everybody, contents)]
    ways = [way for way in ways if way[2].any()]
    by_unlisted = np.zeros(len(ids), bool)
    orders: list[Integers] = []
    for each in sets:
        if records.unlisted is not None:
            by_unlisted |= np.isin(records.unlisted, each.ids[each.ids > 0])
        orders = orders or [np.argsort(keys) for _, _, keys in ways]
        for (owners, whose, keys), order in zip(ways, orders, strict=True):
            theirs = each.contents if owners is by_content else each.ids
            owner = _looked_up(keys, order, theirs, each.persons)
            whose, owner = whose[owner > 0], owner[owner > 0]
            is_new = owners[whose] == 0
            owners[whose[is_new]] = owner[is_new]
            if not (are_others and owners is by_content):
                same = same.with_pairs(owners[whose], owner)
    by_id, by_content = same.names(by_id), same.names(by_content)
    alone = (by_id == 0) & (by_content > 0)
    if are_others:
        is_twice = _repeated(contents)
        other = is_twice | alone | ((by_content > 0) & (by_id != by_content))
        fresh = _fresh(contents, other & (ids == 0), same)
        ids = np.where(other & (ids == 0), fresh, ids)
        contents, by_content = np.where(other, _NONE, contents), np.where(other, _NONE, by_content)
        alone &= False
    both = (by_id > 0) & (by_content > 0)
    same = same.with_pairs(by_id[both], by_content[both])
    is_known = (by_id > 0) | (by_content > 0)
    persons = np.where(ids > 0, ids, contents)
    for owner in (by_content, by_id):
        np.copyto(persons, owner, where=owner > 0)
    names = same.names(persons)
    new = same.pairs[len(before.pairs) :]
    n_twice = int(_repeated(names[_first_of_id(ids)]).sum())
    if not n_twice:  # new people with equal curves have different ids
        n_twice = int(_repeated(contents).sum())
    return KnownRecords(
        RecordHashes(ids, contents),
        persons,
        is_known,
        same,
        new,
        int(alone.sum()),
        n_twice,
        int((by_unlisted & ~is_known).sum()),
    )


def same_among(sets: Sequence[PeopleSet], same: Same) -> Same:
    """Join people of several sets who share a hash, such as those of two ledgers."""
    for part in ("ids", "contents"):
        hashes = np.concatenate([getattr(people, part) for people in sets] or [same.pairs[:, 0]])
        persons = np.concatenate([people.persons for people in sets] or [same.pairs[:, 0]])
        order = np.argsort(hashes, kind="stable")
        hashes, persons = hashes[order], persons[order]
        is_equal = (hashes[1:] == hashes[:-1]) & (hashes[1:] > 0)
        same = same.with_pairs(persons[:-1][is_equal], persons[1:][is_equal])
    return same


def _looked_up(keys: Hashes, order: Integers, theirs: Hashes, persons: Hashes) -> Hashes:
    """The person of each key among others' hashes; 0 for none. `order` sorts the keys."""
    if not len(keys) or not theirs.any():
        return np.zeros_like(keys)
    by_hash = np.argsort(theirs)
    known = theirs[by_hash]
    sorted_keys = keys[order]
    place = np.minimum(np.searchsorted(known, sorted_keys), len(known) - 1)
    out = np.zeros_like(keys)
    out[order] = np.where(
        (known[place] == sorted_keys) & (sorted_keys > 0), persons[by_hash][place], _NONE
    )
    return out


def _repeated(hashes: Hashes) -> NDArray[np.bool_]:
    """True for every hash that occurs several times; 0 is none."""
    ordered = np.sort(hashes)
    if not ((ordered[1:] == ordered[:-1]) & (ordered[1:] > 0)).any():
        return np.zeros(len(hashes), bool)
    order = np.argsort(hashes)
    is_equal = np.zeros(len(hashes), bool)
    pairs = (ordered[1:] == ordered[:-1]) & (ordered[1:] > 0)
    is_equal[1:] |= pairs
    is_equal[:-1] |= pairs
    out = np.zeros(len(hashes), bool)
    out[order] = is_equal
    return out


def _first_of_id(ids: Hashes) -> NDArray[np.bool_]:
    """True for one record of each id, and for every record without one."""
    if not _repeated(ids).any():
        return np.ones(len(ids), bool)
    out: NDArray[np.bool_] = ids == 0
    out[np.unique(ids, return_index=True)[1]] = True
    return out


def _fresh(contents: Hashes, chosen: NDArray[np.bool_], same: Same) -> Hashes:
    """Names of people without an id who are stated to be others, each another."""
    seen, out = Counter[int](), np.zeros_like(contents)
    for k in np.flatnonzero(chosen).tolist():
        content = int(contents[k])
        text = content.to_bytes(8, "big") + seen[content].to_bytes(4, "big")
        seen[content] += 1
        out[k] = int.from_bytes(hashlib.sha256(b"others" + text).digest()[:8], "big")
    return out


def classes_of(names: Hashes, members: Sequence[Hashes]) -> tuple[Integers, list[list[bool]]]:
    """Sort people (n,) into classes by which sets hold them.

    Returns the class of everybody, and for each class which of the sets hold it.
    """
    classes, patterns = np.zeros(len(names), np.int64), [list[bool]()]
    order = np.argsort(names) if len(members) else np.zeros(0, np.int64)
    ordered = names[order]
    for held in members:
        known = np.sort(held)
        place = np.minimum(np.searchsorted(known, ordered), max(len(known) - 1, 0))
        is_in = np.zeros(len(names), bool)
        if len(known):
            is_in[order] = known[place] == ordered
        pattern = classes * 2 + is_in
        counts = np.bincount(pattern, minlength=2 * len(patterns))
        number = np.cumsum(counts > 0) - 1
        classes = number[pattern]
        patterns = [[*patterns[code // 2], bool(code % 2)] for code in np.flatnonzero(counts)]
    return classes, patterns
