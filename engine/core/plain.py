"""Records as plain values, and back: what JSON can hold, checked by the types of the fields.

A source, a mechanism or a rate is written by its key and parameters, any other record field by
field; what is left out has its usual value. Data of one's own are never written.
"""

from __future__ import annotations

import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from typing import Any, TypeVar

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError, brief
from engine.core.registry import Parameterised, Registry

T = TypeVar("T")
_MAX_WHOLE = 2**63 - 1  # what arrays can hold


def is_registered(value: Any) -> bool:
    """Whether a source, mechanism or rate can be named by a key; data of one's own cannot."""
    return isinstance(value, Parameterised) and type(value) in value.registry.all()


def to_plain(value: Any) -> Any:
    """What JSON can hold of a record, of registered members in it, and of containers of them.

    Parameters
    ----------
    value : object
        A record, a registered member, a mapping, a sequence or a number.

    Returns
    -------
    object
        As `json` writes it; infinity is "inf".

    Raises
    ------
    InputError
        For data of one's own, and a twin of them: these are in no file.
    """
    if isinstance(value, Parameterised):
        if not is_registered(value):
            raise InputError("Data of one's own are in no file but their own.", field=value.key)
        return {"key": value.key, "parameters": value.values()}
    if is_dataclass(value):
        return {f.name: to_plain(getattr(value, f.name)) for f in stated(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    if isinstance(value, StrEnum):
        return value.value
    return "inf" if value == math.inf else value


def stated(record: Any) -> list[Field[Any]]:
    """The fields of a record that differ from their defaults, or have none."""
    return [f for f in fields(record) if f.init and (
        f.default is MISSING or getattr(record, f.name) != f.default)]


def read(hint: Any, value: Any, field: str) -> Any:
    """A value of a type from its plain form.

    Parameters
    ----------
    hint : the type: a number, text, a record, something registered, a sequence or mapping of such,
        or None beside such; `bool | int | float | str` leaves a value as it was written.
    value : what a person wrote, as `engine.core.entrance.json_of` reads it.
    field : where it stands, for messages.

    Raises
    ------
    InputError
        That says which part is missing, unknown or of another type, and whatever the record
        refuses.
    """
    kinds = typing.get_args(hint) if is_union(hint) else (hint,)
    if value is None and type(None) in kinds:
        return None
    kind = typing.get_origin(kinds[0]) or kinds[0]
    parts = typing.get_args(kinds[0])
    if kind in (tuple, Sequence):
        return tuple(read(parts[0], part, field) for part in _listed(value, field))
    if issubclass(kind, Mapping):
        return {name: read(parts[1], part, field)
                for name, part in checked_object(value, field).items()}
    if issubclass(kind, Parameterised):
        return _member_of(kinds, value, field, kind.registry)
    if isinstance(kind, type) and is_dataclass(kind):
        return record(kind, value, field)
    if issubclass(kind, Enumeration):
        return kind.named(value, field)
    if kinds[0] is float:
        return _number(value, field)
    return _scalar(value, field, tuple(kind for kind in kinds if kind in _WORDS))


def record(cls: type[T], value: Any, field: str) -> T:
    """A record from an object with its fields; see `read` for what is refused.

    Parameters
    ----------
    cls : type
        A dataclass.
    value : object
        What was read of JSON.
    field : str
        Where it stands, for errors.
    """
    return cls(**arguments(cls, value, field))


def arguments(function: Callable[..., Any], values: Any, field: str) -> dict[str, Any]:
    """What a function or class is called with, from an object; see `read` for what is refused.

    Parameters
    ----------
    function : callable
        With type hints.
    values : object
        What was read of JSON.
    field : str
        Where it stands, for errors.
    """
    known = writable(function)
    values, hints = checked_object(values, field, tuple(known)), typing.get_type_hints(function)
    missing = [name for name, default in known.items()
               if name not in values and default is inspect.Parameter.empty]
    if missing:
        raise InputError(f"“{field}” lacks “{missing[0]}”.", field=missing[0],
                         hint=f"It has {', '.join(known)}.")
    return {name: read(hints[name], part, name) for name, part in values.items()}


def writable(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters that can be written, with their defaults: those with a plain one, or none."""
    signature = inspect.signature(function).parameters.items()
    return {name: parameter.default for name, parameter in signature
            if parameter.default is parameter.empty or isinstance(parameter.default, _PLAIN)}


def is_union(hint: Any) -> bool:
    """Whether a type is one of several."""
    return typing.get_origin(hint) in _UNIONS


def _member_of(kinds: tuple[Any, ...], value: Any, field: str, shelf: Registry) -> Any:
    registered = member(value, field, shelf)
    if not isinstance(registered, tuple(typing.get_origin(kind) or kind for kind in kinds)):
        raise InputError(f"The {shelf.noun} {brief(registered.key)} cannot be used here.",
                         field=field, hint="Choose another one.")
    return registered


def member(description: Any, field: str, shelf: Registry) -> Any:
    """A registered member from `{"key": …, "parameters": {…}}`; see `read`.

    Parameters
    ----------
    description : object
        What was read of JSON.
    field : str
        Where it stands, for errors.
    shelf : Registry
        Where its key is looked up.

    Returns
    -------
    Source, Mechanism or Rate
    """
    parts = checked_object(description, field, ("key", "parameters"))
    return shelf.build(parts.get("key"), checked_object(parts.get("parameters", {}),
                                                        f"{field}.parameters"))


def _number(value: Any, field: str) -> float:
    """A number as a float, refused if none can compute with it; "inf" stands for no bound."""
    if value == "inf":
        return math.inf
    if (isinstance(value, bool) or not isinstance(value, int | float) or value != value
            or sys.float_info.max < abs(value) < math.inf):
        raise InputError(f"“{field}” must be a number; got {brief(value)}.", field=field)
    return float(value)


def _scalar(value: Any, field: str, kinds: tuple[type[Any], ...]) -> Any:
    """A value of one of these types, as it was written; truth values are no numbers."""
    low = 0 if field == "seed" else -_MAX_WHOLE
    if type(value) not in kinds or (type(value) is int and not low <= value <= _MAX_WHOLE):
        words = " or ".join(_WORDS[kind] for kind in kinds)
        raise InputError(f"“{field}” must be {words}; got {brief(value)}.", field=field)
    return value


def _listed(value: Any, field: str) -> list[Any]:
    """The same list, if it is one."""
    if not isinstance(value, list):
        raise InputError(f"“{field}” must be a list in brackets.", field=field)
    return value


def checked_object(value: Any, name: str, known: tuple[str, ...] = ()) -> dict[str, Any]:
    """The same dictionary, if it has known keys only.

    Parameters
    ----------
    value : object
        What was read of JSON.
    name : str
        Where it stands, for errors.
    known : tuple of str
        The keys that it may have; empty: any.

    Raises
    ------
    InputError
        If it is no dictionary, or has another key.
    """
    if not isinstance(value, dict):
        raise InputError(f"“{name}” must be an object in braces.", field=name)
    unknown = [key for key in value if known and key not in known]
    if unknown:
        raise InputError(f"“{name}” has no key {brief(unknown[0])}.", field=str(unknown[0]),
                         hint=f"It has {', '.join(known)}.")
    return value


_PLAIN = (bool, int, float, str, tuple, type(None))
_UNIONS = (typing.Union, types.UnionType)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
