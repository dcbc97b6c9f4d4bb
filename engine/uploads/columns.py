"""Shared parts of curves, records and times of people, and their order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Array

Integers = NDArray[np.int64]
_KEYED = hashlib.blake2b(key=b"order of curves", digest_size=8)  # any text that everybody knows


@dataclass(frozen=True, eq=False, kw_only=True)
class Observations:
    """Everybody's values in a file, in its own units, by site and then by a hash of ids."""

    server: Integers  # (n,): the site of each curve or record, from 0
    covariates: Array  # (n, d): in the units of the file; NaN where a cell holds no number
    covariate_names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()  # of the n people; empty where no column names them
    # other spellings of ids, by which ledgers of version 0.5.0 may know people; joined by NUL
    spellings: str = ""
    server_names: tuple[str, ...] = ()  # of the sites; empty where no column names them
    # time_column, value_column: names of the columns of times, where these are numbers, and values;
    # empty where there is none, or there are several
    time_column: str = ""
    value_column: str = ""
    # how the file was read and what to look at. They hold counts of private data: for the holder of
    # the file alone.
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(values := getattr(self, field.name), np.ndarray):
                values.flags.writeable = False

    def only(self, members: NDArray[np.bool_]) -> Self:
        """Keep these people (n,); sites without any go."""
        sites, server = np.unique(self.server[members], return_inverse=True)
        arrays: dict[str, Any] = {
            field.name: values[members]
            for field in fields(self)
            if isinstance(values := getattr(self, field.name), np.ndarray)
            and len(values) == len(members)
        }
        kept = np.flatnonzero(members).tolist()
        return replace(
            self,
            **arrays
            | {
                "server": server.astype(np.int64),
                "ids": tuple(self.ids[k] for k in kept) if self.ids else (),
                "server_names": tuple(self.server_names[k] for k in sites)
                if self.server_names
                else (),
            },
        )


def order_by_person(server: Integers, ids: Sequence[str]) -> Integers:
    """Order curves by server, and within each by a hash of ids that all can compute.

    The order decides who shares a round, a half or a fold. Order in the file may follow the data
    (sorted by age, say): then rounds would see different kinds of people, and replacing one person
    in a sorted file would move many others. Here the place of a curve follows from the ids alone.

    *Neighbours.* If a person's numbers are replaced and the ids stay, nobody moves, wherever their
    row stands in the file afterwards. That is all that a fixed order can give: no rule by which the
    people of a set get places can keep everybody's place whenever one person gives way to another
    with another id (three sets of two people show it), and without a column of ids the place in the
    file stands in for one. So this order is for looking: the same file gives the same picture. What
    is published is put in a fresh random order first, which proves the guarantee whatever the ids
    and the file's order are (`engine.release.random_order.reordered`), also for ids that somebody
    chose so that they share a round.
    """
    places = b"".join(map(_place, _numbered(server, ids)))
    return np.lexsort((np.frombuffer(places, ">u8").astype(np.uint64), server))


def _place(name: str) -> bytes:
    hashed = _KEYED.copy()  # half the time of making one
    hashed.update(name.encode())
    return hashed.digest()


def _numbered(server: Integers, ids: Sequence[str]) -> Iterator[str]:
    """The ids, numbered where one comes again at its server: rows of one person, each a curve."""
    if len({*ids}) == len(ids):  # nearly always, and a million pairs would take 100 MB
        yield from (f"1 {name}" for name in ids)
        return
    numbers: Counter[tuple[int, str]] = Counter()
    for person in zip(server.tolist(), ids, strict=True):
        numbers[person] += 1
        yield f"{numbers[person]} {person[1]}"
