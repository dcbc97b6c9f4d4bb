"""Columns of an uploaded table as people, sites and numbers, and the order of people by their ids.

For curves and for records. No message holds a reading, a row number or an id: column names and
counts only.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.sources.table_words import counted, listed, shortened
from engine.sources.tables import MISSING, Numbers, Table
from engine.sources.upload_layout import site_like
from engine.types import Array

Integers = NDArray[np.int64]
Check = Callable[[int], None]
_KEYED = hashlib.blake2b(key=b"order of curves", digest_size=8)  # any text that everybody knows
_ZERO_ONE = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "m"), ("female", "male"),
             ("control", "treated"))  # words for 0 and 1, the same whatever a file holds


def people_of(table: Table, id_column: str | None, site_column: str | None, notes: list[str],
              check: Check | None = None) -> tuple[Integers, Integers, tuple[str, ...]]:
    """Person of each row (rows,), server and id of each person, in order of appearance.

    Without a column of ids every row is another person; without one of sites there is one site.
    Sites number their people independently: the same id at two sites is two people. `check` is told
    the number of ids and may refuse it.
    """
    if id_column is None:
        person = np.arange(table.n_rows)
        ids = tuple(f"row {place}" for place in range(1, table.n_rows + 1))
        notes.append("no column names the people: every row is taken for another person")
    else:
        person, ids = named(table, id_column, check)
    if site_column is None:
        if id_column is not None:
            notes += _ids_at_several_sites(table, person)
        return person, np.zeros(len(ids), dtype=np.int64), ids
    site, sites = named(table, site_column)
    site = np.argsort(np.argsort(sites))[site]  # by name, whatever the order of rows
    keys, first, person = np.unique(person * len(sites) + site, return_index=True,
                                    return_inverse=True)
    order = np.argsort(first)
    at_sites = keys[order] // len(sites)
    if len(keys) > len(ids):
        notes.append(f"{counted(len(keys) - len(ids), 'id')} at more than one site: taken for "
                     "different people")
    return (np.argsort(order)[person], keys[order] % len(sites), tuple(ids[k] for k in at_sites))


def _ids_at_several_sites(table: Table, person: Integers) -> list[str]:
    """What to look at where a column that looks like one of sites is not used as one."""
    column = site_like(table)
    if column is None:
        return []
    pairs = np.unique(np.stack([person, table.codes(column)[0]]), axis=1)
    several = int((np.bincount(pairs[0]) > 1).sum())
    return [f"{counted(several, 'id')} with more than one “{shortened(column)}”: taken for one "
            "person each. If every site numbers its people on its own, make the ids differ"
            ] if several else []


def named(table: Table, column: str, check: Check | None = None
          ) -> tuple[Integers, tuple[str, ...]]:
    """Codes and texts of a column in which no cell may be blank."""
    codes, texts = table.codes(table.find(column), check)
    if "" in texts:
        blank = int((codes == texts.index("")).sum())
        raise InputError(f"{counted(blank, 'row')} of column “{shortened(column)}” "
                         f"{'is' if blank == 1 else 'are'} blank.", field=column,
                         hint="Fill them in or leave those rows out: rows that cannot be told "
                         "apart cannot be protected.")
    return codes, texts


def column_numbers(table: Table, names: list[str]) -> dict[str, Numbers]:
    """Columns of numbers; other cells are refused with their count."""
    columns = {name: table.numbers(table.find(name)) for name in names}
    bad = {name: column.unreadable for name, column in columns.items() if column.unreadable}
    if bad:
        raise no_number(bad, columns[next(iter(bad))].advice)
    return columns


def numbers_or_words(table: Table, name: str, notes: list[str], what: str = "the covariate"
                     ) -> Array:
    """A column (rows,): its numbers, or 0 and 1 for a known pair of words, which is noted.

    Raises
    ------
    InputError
        If it holds other text; `what` says there what the column is.
    """
    column = table.numbers(table.find(name))
    if not column.unreadable:
        return column.values
    codes, texts = table.codes(table.find(name))
    words = [text.casefold() for text in texts]
    pair = next((pair for pair in _ZERO_ONE if {*words} <= {*pair, *MISSING}), None)
    if pair is None:
        raise InputError(
            f"{counted(column.unreadable, 'row')} of {what} “{shortened(name)}” "
            f"{'holds' if column.unreadable == 1 else 'hold'} text.", field="covariates",
            hint=f"{column.advice} For kinds, make a column of 0 and 1 for each kind but one.")
    notes.append(f"“{shortened(name)}”: “{pair[0]}” is read as 0 and “{pair[1]}” as 1")
    numbers = dict(zip(pair, (0.0, 1.0), strict=True))
    return np.array([numbers.get(word, np.nan) for word in words])[codes]


def no_number(bad: Mapping[str, int], hint: str) -> InputError:
    """What refuses columns with `bad` cells, which are counted by column."""
    total, names = sum(bad.values()), list(bad)
    verb = "holds" if total == 1 else "hold"
    if len(names) == 1:
        message = f"{counted(total, 'row')} of column “{shortened(names[0])}” {verb} no number."
    else:
        message = f"{counted(total, 'cell')} of columns {listed(names)} {verb} no number."
    return InputError(message, field=names[0], hint=hint)


def order_by_person(server: Integers, ids: Sequence[str]) -> Integers:
    """The curves server by server, ordered within each by a hash of their ids that all can compute.

    The order decides who shares a round, a half or a fold. Order in the file may follow the data
    (sorted by age, say): then rounds would see different kinds of people, and replacing one person
    in a sorted file would move many others. Here the place of a curve follows from the ids alone.

    *Neighbours.* If a person's numbers are replaced and the ids stay, nobody moves, wherever their
    row stands in the file afterwards. That is all that a fixed order can give: no rule by which the
    people of a set get places can keep everybody's place whenever one person gives way to another
    with another id (three sets of two people show it), and without a column of ids the place in the
    file stands in for one. So this order is for looking: the same file gives the same picture. What
    is published is put in a fresh random order first, which proves the guarantee whatever the ids
    and the file's order are (`engine.release.certified.reordered`), also for ids that somebody
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
    seen: Counter[tuple[int, str]] = Counter()
    for person in zip(server.tolist(), ids, strict=True):
        seen[person] += 1
        yield f"{seen[person]} {person[1]}"
