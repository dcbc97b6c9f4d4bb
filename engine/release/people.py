"""Who is the same person: short keyed hashes of ids and of curves, and sets of people.

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
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.core.identity import Traces

TELLING_BITS = 48.0
_WIDEST = 12  # digits of an id with zeros before it
_NONE = np.uint64(0)
Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]


def hashes_of(kind: str, texts: Iterable[bytes], key: bytes) -> Hashes:
    """Hash texts under a key; an empty text has no hash, which is 0."""
    begun = hashlib.blake2b(key=key, digest_size=8, person=kind.encode()).copy

    def hashed(text: bytes) -> bytes:
        state = begun()
        state.update(text)
        return state.digest()

    content = b"".join([hashed(text) if text else bytes(8) for text in texts])
    return np.frombuffer(content, dtype=">u8").astype(np.uint64)


def _order(first: Hashes, *more: Hashes) -> Integers:
    """Sort by hashes, and by more of them where the first are equal."""
    order = np.argsort(first)
    ordered = first[order]
    return np.lexsort((*more[::-1], first)) if (ordered[1:] == ordered[:-1]).any() else order


@dataclass(frozen=True, eq=False)
class Records:
    """Hashes of the records of a data set (n,), in the order of the data; 0 where there is none."""

    ids: Hashes
    contents: Hashes
    padded: tuple[Hashes, ...] = ()  # ids that are numbers, as earlier versions may have had them
    unlisted: Hashes | None = None  # the same ids without the list that was stated

    @classmethod
    def of(cls, traces: Traces, key: bytes, is_taken_over: bool = False) -> Records:
        """Hash what people are known by.

        Equal records without an id are told apart by their number, so that the same data have the
        same people whatever the order. Ledgers of earlier versions told 7 from 007; in those that
        were taken over people are found under both.
        """
        contents = np.zeros(traces.n, np.uint64)
        if len(traces.content):
            is_telling = (traces.bits >= TELLING_BITS).tolist()
            contents = hashes_of(traces.kind, (text if tells else b"" for text, tells in zip(
                traces.content, is_telling, strict=True)), key)
        if traces.ids:
            of = b"\0" + traces.ids_from.encode() if traces.ids_from else b""
            unlisted = (hashes_of("ids", traces.ids, key)
                        if of and traces.is_list_stated else None)
            return cls(hashes_of("ids", (text + of for text in traces.ids), key), contents,
                       _padded(traces.ids, key) if is_taken_over else (), unlisted)
        seen, numbered = Counter[bytes](), []
        for text in traces.records:
            numbered.append(text + seen[text].to_bytes(4, "big"))
            seen[text] += 1
        ids = hashes_of("records", numbered, key) if numbered else np.zeros(traces.n, np.uint64)
        return cls(np.where(contents > 0, _NONE, ids), contents)

    @property
    def digest(self) -> str:
        """A digest of the records in any order."""
        order = _order(self.ids, self.contents)
        return hashlib.sha256(np.column_stack([self.ids[order], self.contents[order]])
                              .astype("<u8").tobytes()).hexdigest()


def _padded(ids: Sequence[bytes], key: bytes) -> tuple[Hashes, ...]:
    """Hash ids that are whole numbers with zeros before them, and with .0 behind them."""
    is_number = [text.isdigit() for text in ids]
    if not any(is_number):
        return ()
    forms = [tuple(text.zfill(width) if number and len(text) < width else b""
                   for text, number in zip(ids, is_number, strict=True))
             for width in range(2, _WIDEST + 1)]
    forms.append(tuple(text + b".0" if number else b""
                       for text, number in zip(ids, is_number, strict=True)))
    return tuple(hashes_of("ids", texts, key) for texts in forms if any(texts))


@dataclass(frozen=True, eq=False)
class PeopleSet:
    """The records of a data set and whose they are, sorted by person; as the ledger keeps them."""

    ids: Hashes
    contents: Hashes
    persons: Hashes

    def to_bytes(self) -> bytes:
        """Write 24 bytes for each record."""
        order = _order(self.persons, self.ids, self.contents)
        return np.column_stack([self.ids[order], self.contents[order], self.persons[order]]
                               ).astype("<u8").tobytes()

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
class Known:
    """Whose the records of a data set are, by the sets of a ledger."""

    records: Records
    persons: Hashes  # (n,), of every record, known or new
    is_known: NDArray[np.bool_]  # (n,)
    same: Same  # with the pairs that these records make
    new_pairs: Hashes  # (k, 2)
    n_by_content: int  # records of people known by their curve alone
    n_twice: int  # records of people who have several in these data, under different ids
    n_unlisted: int = 0  # new people whose id is known where no list was stated

    def people_set(self) -> PeopleSet:
        """The set as it is kept."""
        return PeopleSet(self.records.ids, self.records.contents, self.persons)


def found(records: Records, sets: Iterable[PeopleSet], same: Same, are_others: bool = False
          ) -> Known:
    """Find the people of records among sets, in the order of the ledger.

    `are_others` is the holder's statement that nobody is known by the curve alone, and that equal
    curves in these data are different people's: then such contents do not count.
    """
    ids, contents, before = records.ids, records.contents, same
    by_id, by_content = np.zeros_like(ids), np.zeros_like(ids)
    by_unlisted = np.zeros(len(ids), bool)
    orders: list[tuple[Hashes, Integers]] = []
    for each in sets:
        if records.unlisted is not None:
            by_unlisted |= np.isin(records.unlisted, each.ids[each.ids > 0])
        orders = orders or [(keys, np.argsort(keys)) for keys in (contents, ids, *records.padded)]
        of_contents, *of_ids = orders
        for (keys, order), theirs, owners in (
                *((keys, each.ids, by_id) for keys in of_ids),
                (of_contents, each.contents, by_content)):
            owner = _looked_up(keys, order, theirs, each.persons)
            is_new = (owners == 0) & (owner > 0)
            if not (are_others and owners is by_content):
                same = same.with_pairs(owners[(owners > 0) & (owner > 0)],
                                       owner[(owners > 0) & (owner > 0)])
            owners[is_new] = owner[is_new]
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
    persons = np.select([by_id > 0, by_content > 0, ids > 0], [by_id, by_content, ids], contents)
    names = same.names(persons)
    new = same.pairs[len(before.pairs):]
    n_twice = int(_repeated(names[_first_of_id(ids)]).sum())
    if not n_twice:  # new people with equal curves have different ids
        n_twice = int(_repeated(contents).sum())
    return Known(Records(ids, contents), persons, is_known, same, new, int(alone.sum()), n_twice,
                 int((by_unlisted & ~is_known).sum()))


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
    by_hash = np.argsort(theirs)
    known = theirs[by_hash]
    if not len(known) or not known[-1]:
        return np.zeros_like(keys)
    sorted_keys = keys[order]
    place = np.minimum(np.searchsorted(known, sorted_keys), len(known) - 1)
    out = np.zeros_like(keys)
    out[order] = np.where((known[place] == sorted_keys) & (sorted_keys > 0),
                          persons[by_hash][place], _NONE)
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
