"""Records as plain values: what JSON can hold of them; `engine.core.typed` reads them back.

A source, a mechanism or a rate is written by its key and parameters, any other record field by
field; what is left out has its usual value. Data of one's own are never written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from typing import Any

from engine.core.errors import InputError, brief
from engine.core.registry import Parameterised


def is_registered(value: Any) -> bool:
    """True if a key can name a source, mechanism or rate; own data have none."""
    return isinstance(value, Parameterised) and type(value) in value.registry.all()


def to_plain(value: Any) -> Any:
    """Convert a record, its members and containers of them to JSON's types; infinity is "inf"."""
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
    return [
        f
        for f in fields(record)
        if f.init and (f.default is MISSING or getattr(record, f.name) != f.default)
    ]


def checked_object(value: Any, name: str, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The same dictionary, if it has known keys only; `name` is its place in errors."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(
            f"“{name}” must be an object in braces, with text as its keys.", field=name
        )
    unknown = [key for key in value if known is not None and key not in known]
    if unknown and known is not None:
        raise InputError(
            f"“{name}” has no key {brief(unknown[0])}.",
            field=str(unknown[0]),
            hint=f"It has {', '.join(known) or 'none'}.",
        )
    return value if isinstance(value, dict) else dict(value)
