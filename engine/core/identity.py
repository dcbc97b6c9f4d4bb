"""A stable key for any engine object: equal objects, equal keys, in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from types import FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine import __version__
from engine.core.arrays import Array

T = TypeVar("T")
# What stands before the names of all modules: nothing in the project's folder, `privacy_curves.`
# where it is installed. Keys leave it out: results stored in one are found again in the other.
INSTALLED_IN = __name__.partition("engine.")[0]
_NAMED_ONCE: set[type] = set()
_NAMES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def digest(obj: Any) -> str:
    """Sixteen hexadecimal digits that name an object and the engine version, in every process.

    Walked through are dataclasses with their class names, numbers, strings, arrays and containers;
    a member of a `StrEnum` counts as its text, a function of a module as "module:function".
    Mappings count with their order. A large object whose class is `named_once` is walked once. A
    parameter counts only if it differs from what its `earlier` says, so that results stored before
    there was one keep their names. Anything else raises, never a guess: a wrong key would serve one
    person's result to another.

    Examples
    --------
    >>> digest((1, "a")) == digest([1, "a"]), digest(1) == digest(1.0)
    (True, False)
    """
    return _hash(_pieces(obj), 8)


def lasting_name(name: str) -> str:
    """Name an installed module, or something in it, as it is named in the project's folder.

    Examples
    --------
    >>> lasting_name(digest.__module__).partition(".")[0]
    'engine'
    """
    return name.removeprefix(INSTALLED_IN)


def named_once(kind: type[T]) -> type[T]:
    """Mark a frozen class, compared by identity, whose objects hold much and never change."""
    _NAMED_ONCE.add(kind)
    return kind


def _hash(pieces: Iterator[bytes], size: int) -> str:
    hashed = hashlib.blake2b(__version__.encode(), digest_size=size)
    for piece in pieces:
        hashed.update(len(piece).to_bytes(8, "little"))
        hashed.update(piece)
    return hashed.hexdigest()


def _name(obj: Any) -> str:
    """The name of a large object: made at first, and forgotten with it."""
    name = _NAMES.get(obj)
    if name is None:
        name = _NAMES[obj] = _hash(_fields(obj), 32)
    return name


def _fields(obj: Any) -> Iterator[bytes]:
    yield f"{lasting_name(type(obj).__module__)}.{type(obj).__qualname__}".encode()
    for f in fields(obj):
        value = getattr(obj, f.name)
        if "parameter" in f.metadata and value == f.metadata["parameter"]["earlier"]:
            continue
        yield f.name.encode()
        yield from _pieces(value)


def _pieces(obj: Any) -> Iterator[bytes]:
    if isinstance(obj, np.ndarray):
        yield f"array {obj.dtype.str} {obj.shape}".encode()
        yield np.ascontiguousarray(obj).tobytes()
    elif type(obj) in _NAMED_ONCE:
        yield f"name {_name(obj)}".encode()
    elif is_dataclass(obj):
        yield from _fields(obj)
    elif isinstance(obj, Mapping):
        yield f"mapping {len(obj)}".encode()
        for key, value in obj.items():
            yield from _pieces(key)
            yield from _pieces(value)
    elif isinstance(obj, tuple | list):
        yield f"sequence {len(obj)}".encode()
        for item in obj:
            yield from _pieces(item)
    elif isinstance(obj, StrEnum):
        yield from _pieces(obj.value)
    elif isinstance(obj, FunctionType) and obj.__qualname__.isidentifier():  # in no other function
        yield from _pieces(lasting_name(f"{obj.__module__}:{obj.__name__}"))
    elif obj is None or isinstance(obj, bool | int | float | str):
        yield f"{type(obj).__name__} {obj!r}".encode()
    else:
        raise TypeError(f"cannot name an object of type {type(obj).__name__}")


# -- records, whose bytes are the same whatever order people come in -------------------------------

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Traces:
    """Texts by which the people of a data set are known again; as private as the data.

    Each field is empty, or has one text for each of the n people, in the order of the data.
    """

    n: int
    ids: tuple[bytes, ...] = ()  # canonical, one for each person
    content: tuple[bytes, ...] = ()  # b"" for people whose content has no trace
    bits: Array = field(default_factory=lambda: np.zeros(0))  # how much each content tells apart
    records: tuple[bytes, ...] = ()  # all of each record, for people without an id
    kind: str = "shapes"  # of content
    ids_from: str = ""  # the list of ids, such as "hospital MRN"; empty for that of the ledger
    # Other spellings of ids, by which version 0.5.0 may have known people: each with a place.
    spellings: tuple[tuple[int, bytes], ...] = ()
    is_list_stated: bool = True  # by a person, who may mean the same list by another name
    # of data that are read anew: applies a function to the traces of each part, some at a time
    stored: Callable[[Callable[[Iterator[Traces]], Any]], Sequence[Any]] | None = None

    def of_parts(self, function: Callable[[Iterator[Traces]], T]) -> Sequence[T]:
        """Apply a function to the traces of all people, or of each part of them where it is."""
        return [function(iter((self,)))] if self.stored is None else self.stored(function)


def people_in_order(time: Array, *labels: Integers | None, earlier: Array | None = None) -> bytes:
    """Times and labels of people as bytes, in an order that tells nothing.

    `earlier` are times of those who have two: of their entry, or of a visit.

    People with the same labels stand together, from the lowest time to the highest: a million are
    sorted in a tenth of a second, which whole rows are not.
    """
    times = np.where(np.isnan(time), np.nan, time + 0.0)  # −0 is 0, and there is one kind of NaN
    known, code = [label for label in labels if label is not None], np.zeros(len(time), np.int64)
    if earlier is not None:
        second = np.where(np.isnan(earlier), np.nan, earlier + 0.0)
        order = np.lexsort((second, times, *reversed(known)))
        return np.column_stack([times, second, *known])[order].astype("<f8").tobytes()
    for label in known:
        code = code * (label.max() - label.min() + 1) + label - label.min()
    order = np.argsort(code, kind="stable")
    ends = np.flatnonzero(np.diff(code[order])) + 1
    times = np.concatenate([np.sort(alike) for alike in np.split(times[order], ends)])
    return np.column_stack([times, *(label[order] for label in known)]).astype("<f8").tobytes()
