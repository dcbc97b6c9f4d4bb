"""Columns of a table as people, sites and numbers: what curves and records have in common.

No message holds an observation, a row number or an id: column names and counts only.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.core.types import Array
from engine.uploads.conversions import ZERO_ONE
from engine.uploads.layout import Layout, site_like
from engine.uploads.spellings import check_ids, check_sites
from engine.uploads.tables import MISSING, Numbers, Table

Integers = NDArray[np.int64]
Check = Callable[[int], None]
_FEW_PEOPLE = 10  # at a site, below which hospitals usually keep a number to themselves
_KEYED = hashlib.blake2b(key=b"order of curves", digest_size=8)  # any text that everybody knows


@dataclass(frozen=True, eq=False, kw_only=True)
class Observations:
    """What was read of everybody in a file, in its own units, by site and then by a hash of ids.

    Parameters
    ----------
    server : (n,)
        The site of each curve or record, from 0.
    covariates : (n, d)
        In the units of the file; NaN where a cell holds no number.
    covariate_names : tuple of str
        Of the d columns.
    ids : tuple of str
        Of the n people; empty where no column names them.
    server_names : tuple of str
        Of the sites; empty where no column names them.
    time_column, value_column : str
        Names of the columns of times, where these are numbers, and values; empty where there is
        none, or there are several.
    notes : tuple of str
        How the file was read and what to look at. They hold counts of private data: for the holder
        of the file alone.
    """

    server: Integers
    covariates: Array
    covariate_names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    server_names: tuple[str, ...] = ()
    time_column: str = ""
    value_column: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(values := getattr(self, field.name), np.ndarray):
                values.flags.writeable = False

    def only(self, members: NDArray[np.bool_]) -> Self:
        """Keep these people (n,); sites without any go."""
        sites, server = np.unique(self.server[members], return_inverse=True)
        arrays: dict[str, Any] = {field.name: values[members] for field in fields(self)
                                  if isinstance(values := getattr(self, field.name), np.ndarray)
                                  and len(values) == len(members)}
        kept = np.flatnonzero(members).tolist()
        return replace(self, **arrays | {
            "server": server.astype(np.int64),
            "ids": tuple(self.ids[k] for k in kept) if self.ids else (),
            "server_names": tuple(self.server_names[k] for k in sites)
            if self.server_names else ()})


class People(NamedTuple):
    """Whose the rows of a table are: the person of each row, and server and id of each person."""

    person: Integers  # (rows,)
    server: Integers  # (n,)
    ids: tuple[str, ...]

    @property
    def rows(self) -> Integers:
        """How many rows each person has (n,)."""
        return np.bincount(self.person)


def people_of(table: Table, layout: Layout, notes: list[str], check: Check | None = None) -> People:
    """Tell apart the people of a table, in order of appearance.

    Without a column of ids every row is another person; without one of sites there is one site.
    Sites number their people independently: the same id at two sites is two people.

    Parameters
    ----------
    layout : Layout
        With the columns of ids and sites, if there are any.
    notes : list of str
        Gets what the holder should look at.
    check : callable
        Is told the number of ids before any is made, and may refuse it.

    Raises
    ------
    InputError
        If a row has no id or no site, an id is none, or a site is spelled in several ways.
    """
    if layout.id is None:
        person = np.arange(table.n_rows)
        ids = tuple(f"row {number}" for number in range(1, table.n_rows + 1))
        notes.append("no column names the people: every row is taken for another person")
    else:
        person, ids = _named(table, layout.id, check)
        check_ids(ids, np.bincount(person), layout.id)
    if layout.server is None:
        if layout.id is not None:
            notes += _ids_at_several_sites(table, person)
        return People(person, np.zeros(len(ids), dtype=np.int64), ids)
    site, sites = _named(table, layout.server)
    check_sites(sites, layout.server)
    site = np.argsort(np.argsort(sites))[site]  # by name, whatever the order of rows
    keys, first, person = np.unique(person * len(sites) + site, return_index=True,
                                    return_inverse=True)
    order = np.argsort(first)
    person_ids = keys[order] // len(sites)
    few = int((np.bincount(keys % len(sites)) < _FEW_PEOPLE).sum())
    if few:
        notes.append(f"{counted(few, 'site')} with fewer than {_FEW_PEOPLE} people: how many each "
                     "site has is published, so that who is there may be no secret")
    if len(keys) > len(ids):
        notes.append(f"{counted(len(keys) - len(ids), 'id')} at more than one site: taken for "
                     "different people")
    return People(np.argsort(order)[person], keys[order] % len(sites),
                  tuple(ids[k] for k in person_ids))


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


def _named(table: Table, column: str, check: Check | None = None
           ) -> tuple[Integers, tuple[str, ...]]:
    """The number of each row's text (rows,), and the texts; no cell may be blank."""
    codes, texts = table.codes(table.find(column), check)
    if "" in texts:
        blank = int((codes == texts.index("")).sum())
        raise InputError(f"{counted(blank, 'row')} of column “{shortened(column)}” "
                         f"{'is' if blank == 1 else 'are'} blank.", field=column,
                         hint="Fill them in or leave those rows out: rows that cannot be told "
                         "apart cannot be protected.")
    return codes, texts


def averaged_at_times(person: Integers, times: Array, values: Array
                      ) -> tuple[Integers, Array, Array]:
    """One observation of each person at each time: the average of those that there are.

    Parameters
    ----------
    person : (N,)
        Whose each observation is.
    times, values : (N,)
        NaN where missing; such observations are left as they are.

    Returns
    -------
    tuple
        The same three, with fewer observations.
    """
    known = np.isfinite(times) & np.isfinite(values)
    moments, moment = np.unique(times[known], return_inverse=True)
    keys, index = np.unique(person[known] * len(moments) + moment, return_inverse=True)
    number = np.bincount(index)
    means = np.bincount(index, weights=values[known] / number[index])  # a sum could overflow
    return (np.concatenate([keys // len(moments), person[~known]]),
            np.concatenate([moments[keys % len(moments)], times[~known]]),
            np.concatenate([means, values[~known]]))


def in_order(table: Table, layout: Layout, order: Integers, server: Integers, ids: Sequence[str],
             covariates: Array) -> dict[str, Any]:
    """What curves and records say of everybody, in the order of `order_by_person`.

    Parameters
    ----------
    order : (n,)
        From `order_by_person`.
    server, ids : (n,)
        In order of appearance.
    covariates : (n, d)
        In order of appearance.

    Returns
    -------
    dict
        Fields of `Observations`, all but the notes.
    """
    return {"server": server[order], "covariates": covariates[order],
            "covariate_names": layout.covariates,
            "time_column": layout.time or "", "value_column": layout.value or "",
            "ids": tuple(ids[k] for k in order.tolist()) if layout.id else (),
            "server_names": tuple(sorted(_named(table, layout.server)[1])) if layout.server else ()}


def column_numbers(table: Table, names: Sequence[str], notes: list[str], time: str | None = None
                   ) -> dict[str, Numbers]:
    """Read columns of numbers, dates, clock times or percentages.

    Parameters
    ----------
    names : sequence of str
    notes : list of str
        Gets how cells became numbers.
    time : str or None
        Which of them says when an observation was made: its dates alone may be read as time from a
        first observation, as times of day or as elapsed times.

    Raises
    ------
    InputError
        If cells hold anything else, with their count.
    """
    columns = {name: (table if name == time else _of_other_columns(table)).numbers(table.find(name))
               for name in names}
    bad = [name for name, column in columns.items() if column.unreadable]
    if not bad:
        notes += _conversions(columns)
        return columns
    _ask_for_dates(columns)
    total = sum(columns[name].unreadable for name in bad)
    cells = (f"{counted(total, 'row')} of column “{shortened(bad[0])}”" if len(bad) == 1 else
             f"{counted(total, 'cell')} of columns {listed(bad)}")
    is_header = all(table.holds(table.find(name), table.find(name)) for name in bad)
    raise InputError(f"{cells} {'holds' if total == 1 else 'hold'} no number.", field=bad[0],
                     hint="The names of columns stand in rows below as well: leave those lines out."
                     if is_header else columns[bad[0]].advice)


def _of_other_columns(table: Table) -> Table:
    """The table with its dates as in columns that do not say when an observation was made."""
    return replace(table, dates=table.dates.of_other_columns)


def _conversions(columns: Mapping[str, Numbers]) -> list[str]:
    """How columns became numbers, one line for each way."""
    ways: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.conversion:
            ways.setdefault(column.conversion, []).append(name)
    return [f"{listed(names)}: {words}" for words, names in ways.items()]


def _ask_for_dates(columns: Mapping[str, Numbers]) -> None:
    """Refuse dates that can be read in two ways until somebody has said which."""
    for name, column in columns.items():
        if column.is_ambiguous:
            raise InputError(f"The dates of column “{shortened(name)}” can be read in two ways.",
                             field="dates", hint=column.advice)


def numbers_or_words(table: Table, name: str, notes: list[str], role: str = "the covariate"
                     ) -> Array:
    """Read a column (rows,): its numbers, or 0 and 1 for a known pair of words, which is noted.

    Parameters
    ----------
    name : str
        Of the column.
    notes : list of str
        Gets which word is 0 and which 1.
    role : str
        What a message calls the column.

    Raises
    ------
    InputError
        If it holds other text.
    """
    column = _of_other_columns(table).numbers(table.find(name))
    if not column.unreadable:
        notes += _conversions({name: column})
        return column.values
    _ask_for_dates({name: column})
    codes, texts = table.codes(table.find(name))
    words = [text.casefold() for text in texts]
    pair = next((pair for pair in ZERO_ONE if {*words} <= {*pair, *MISSING}), None)
    if pair is None:
        raise InputError(
            f"{counted(column.unreadable, 'row')} of {role} “{shortened(name)}” "
            f"{'holds' if column.unreadable == 1 else 'hold'} text.", field="covariates",
            hint=f"{column.advice} For kinds, make a column of 0 and 1 for each kind but one.")
    notes.append(f"“{shortened(name)}”: “{pair[0]}” is read as 0 and “{pair[1]}” as 1")
    numbers = dict(zip(pair, (0.0, 1.0), strict=True))
    return np.array([numbers.get(word, np.nan) for word in words])[codes]


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
    and the file's order are (`engine.release.random_order.reordered`), also for ids that somebody
    chose so that they share a round.

    Parameters
    ----------
    server, ids : (n,)
        Of each curve or record.

    Returns
    -------
    (n,)
        Their places, from first to last.
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
