"""Values read by their types: the one entrance for JSON, and for what programs pass.

The annotation of an argument or of a field says what is taken: its kind, its shape (`tuple[float,
float]` are two numbers), and with `Annotated` the range of a number or of a length (`Within`). JSON
and programs write the same values; a program may also pass members and records as they are, numpy
scalars where numbers are meant, and arrays where sequences are.
"""

from __future__ import annotations

import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache, wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, cast

import numpy as np

from engine.core.arrays import unboxed
from engine.core.entrance import MAX_DEPTH
from engine.core.enumerations import Enumeration
from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.core.registry import Parameterised, Registry

P = ParamSpec("P")
T = TypeVar("T")
MAX_ENTRIES = 1_000_000  # of one list
_MAX_WHOLE = 2**63 - 1  # what arrays can hold


@dataclass(frozen=True)
class Within:
    """The range of a number, or of the length of a list, both ends included; of others none."""

    low: float
    high: float

    def check(self, value: Any, field: str) -> None:
        """Refuse a number or a length outside the range."""
        is_list = isinstance(value, tuple)
        number = len(value) if is_list else value
        if isinstance(number, int | float) and not self.low <= number <= self.high:
            raise InputError(
                f"“{field}” must {'have' if is_list else 'lie between'} {self.low:,} "
                f"{'to' if is_list else 'and'} {self.high:,}{' entries' * is_list}; "
                f"got {brief(number)}.",
                field=field,
            )


Repeats = Annotated[int, Within(1, 100_000)]
"""How often data or noise are drawn."""


# -- one value -------------------------------------------------------------------------------------


def read(hint: Any, value: Any, field: str, is_entry: bool = False) -> Any:
    """Read a value as a type: one of JSON's, a record, a registered member, or several of them.

    `bool | int | float | str` leaves a value as it was written, and a mapping to `Any` holds
    whatever JSON can hold.
    """
    hint, *notes = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    options = options_of(hint)
    if Any in options or any(_is_passed(kind_of(option), value) for option in options):
        return value
    if value is None and type(None) in options:
        return None
    made = _made(options, value, field)
    if made is _MISFIT:
        raise _misfit(options, value, field, is_entry)
    for note in notes:
        note.check(made, field)
    return made


def _misfit(options: tuple[Any, ...], value: Any, field: str, is_entry: bool) -> InputError:
    """Report which types are taken and what was given; numbers are shown only if some are taken."""
    words = " or ".join(_in_words(option) for option in options if option is not type(None))
    if is_entry:
        return InputError(f"Each entry of “{field}” must be {words}.", field=field)
    value = unboxed(value)
    is_shown = not isinstance(value, int | float) or {int, float, bool} & {*options}
    return InputError(
        f"“{field}” must be {words}; got {brief(value) if is_shown else 'a number'}.", field=field
    )


def options_of(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type."""
    return typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else (hint,)


def kind_of(hint: Any) -> Any:
    """The class of a type: `Source` for `Source[CurveData]`."""
    return typing.get_origin(hint) or hint


def _is_passed(kind: Any, value: Any) -> bool:
    """True for what no JSON holds: a member, a record, a table, a path, a function."""
    return (
        isinstance(kind, type)
        and kind not in _SCALARS
        and not issubclass(kind, _CONTAINERS)
        and isinstance(value, kind)
    )


def _made(options: tuple[Any, ...], value: Any, field: str) -> Any:
    """Read a value as the first of several types that fits; `_MISFIT` if none does."""
    arrays = [option for option in options if kind_of(option) is np.ndarray]
    if arrays:
        return _array(arrays[0], value)
    if hasattr(value, "__array__") and any(hasattr(option, "iloc") for option in options):
        raise InputError(  # not read as names of files, which a refusal repeats
            f"“{field}” is a column or an array, and no table.",
            field=field,
            hint="Give the whole table, with a column that names people.",
        )
    value = unboxed(value)
    if isinstance(value, Mapping):
        return _of_object(options, value, field)
    if is_listed(value):
        lists = [option for option in options if kind_of(option) in (tuple, Sequence)]
        return _entries(lists[0], value, field) if lists else _MISFIT
    return _scalar(options, value, field)


def _scalar(options: tuple[Any, ...], value: Any, field: str) -> Any:
    """A number, a truth value, text or a name; truth values are no numbers."""
    names = [
        option for option in options if isinstance(option, type) and issubclass(option, Enumeration)
    ]
    if isinstance(value, str) and names:
        return names[0].named(value, field)
    if type(value) in options:
        made = value
    elif float in options and (value == "inf" or type(value) is int):
        made = float(value) if value == "inf" or abs(value) <= sys.float_info.max else math.nan
    elif isinstance(value, str) and (
        str in options
        or any(
            kind_of(option) is Literal and value in typing.get_args(option) for option in options
        )
    ):
        made = value
    else:
        return _MISFIT
    if field == "seed" and type(made) is int:
        Within(0, _MAX_WHOLE).check(made, field)
    return made if _is_storable(made) else _MISFIT


def _is_storable(value: Any) -> bool:
    """True for text of Unicode, and for numbers that arrays can hold and compute with."""
    if type(value) is int:
        return abs(value) <= _MAX_WHOLE
    try:
        return bool((str(value).encode() and value == value) or value == "")
    except UnicodeError:
        return False


def _array(option: Any, value: Any) -> Any:
    """An array of the numbers that a type names, of which none loses a digit."""
    if is_listed(value) and len(value) > MAX_ENTRIES:
        return _MISFIT
    try:
        return np.asarray(value).astype(_numbers_of(option), casting="same_kind", copy=False)
    except (TypeError, ValueError, OverflowError):
        return _MISFIT


def _numbers_of(option: Any) -> Any:
    """The class of numbers in an array: `np.float64` of `NDArray[np.float64]`."""
    return typing.get_args(typing.get_args(option)[1])[0]


def is_listed(value: Any) -> bool:
    """True for a sequence that is no text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _entries(option: Any, value: Sequence[Any], field: str) -> tuple[Any, ...]:
    """The entries of a list by their types: as many as a `tuple` names, if it names them."""
    parts = typing.get_args(option)
    is_fixed = typing.get_origin(option) is tuple and parts[1:] != (...,)
    if (is_fixed and len(value) != len(parts)) or len(value) > MAX_ENTRIES:
        raise InputError(
            f"“{field}” must have {len(parts)} entries; got {len(value):,}."
            if is_fixed
            else f"“{field}” can have at most {MAX_ENTRIES:,} entries.",
            field=field,
        )
    return tuple(
        read(parts[k if is_fixed else 0], part, field, True) for k, part in enumerate(value)
    )


def _of_object(options: tuple[Any, ...], value: Mapping[Any, Any], field: str) -> Any:
    """A mapping, a member by its key, or a record by its fields."""
    for option in options:
        kind = kind_of(option)
        if not isinstance(kind, type):
            continue
        if issubclass(kind, Mapping):
            part, entries = typing.get_args(option)[1], checked_object(value, field)
            return {
                name: _held(each, field) if part is Any else read(part, each, field, True)
                for name, each in entries.items()
            }
        if issubclass(kind, Parameterised):
            return _member_of(options, value, field, kind.registry)
        if is_dataclass(kind) and is_written(kind):
            return record(kind, value, field)
    return _MISFIT


def _held(value: Any, field: str, depth: int = 1) -> Any:
    """A value as JSON holds it, whatever it is."""
    value = unboxed(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return {
            name: _held(part, field, depth + 1)
            for name, part in checked_object(value, field).items()
        }
    if depth < MAX_DEPTH and is_listed(value) and len(value) <= MAX_ENTRIES:
        return [_held(part, field, depth + 1) for part in value]
    raise InputError(
        f"“{field}” holds something else than numbers, texts, lists and objects.",
        field=field,
        hint="Give what JSON can hold.",
    )


def _in_words(option: Any) -> str:
    """Name the values that a type takes, as a message does."""
    kind = kind_of(option)
    if kind is Literal:
        return f"one of {', '.join(typing.get_args(option))}"
    if kind in (tuple, Sequence):
        return "a list in brackets"
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return "an object in braces"
    if isinstance(kind, type) and issubclass(kind, Enumeration):
        return f"one of {', '.join(member for member in kind if member)}"
    if isinstance(kind, type) and issubclass(kind, Parameterised):
        return f"a {kind.registry.noun} (or an object in braces with its key)"
    name = getattr(kind, "__name__", str(kind))
    words = _WORDS.get(kind) or f"a{'n' * (name[0] in 'AEIO')} {name}"
    return words + " (or an object in braces)" * (is_dataclass(kind) and is_written(option))


@cache
def is_written(hint: Any) -> bool:
    """True for a type whose values JSON can hold; tables, arrays and values of any type are not."""
    kind = kind_of(hint)
    if kind in _SCALARS or kind is Literal:
        return True
    if kind is Annotated:
        return is_written(typing.get_args(hint)[0])
    if kind in _UNIONS or kind in (tuple, Sequence, Mapping):
        return all(is_written(part) for part in typing.get_args(hint) if part is not ...)
    return isinstance(kind, type) and (
        issubclass(kind, Parameterised | Enumeration)
        or (is_dataclass(kind) and all(map(is_written, hints_of(kind).values())))
    )


# -- all that a function takes ---------------------------------------------------------------------


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function read its arguments by their types, as those of a question in JSON are read.

    A wrong argument, one too many and one that is missing are an `InputError`.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    noun = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> T:
        read_by_type = arguments(function, _by_name(noun, names, args, kwargs), noun)
        return cast("Callable[..., T]", function)(**read_by_type)

    return entered


def _by_name(
    noun: str, names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by their names; refused if there are too many, or one comes twice."""
    placed = dict(zip(names, args, strict=False))
    twice = [name for name in placed if name in kwargs]
    if twice or len(args) > len(names):
        raise InputError(
            f"“{noun}” is given “{twice[0]}” twice."
            if twice
            else f"“{noun}” takes {len(names)} arguments by their place; got {len(args)}.",
            field=twice[0] if twice else noun,
            hint="Give each once, and those after “*” by their names.",
        )
    return placed | kwargs


def checked_record(cls: type[T]) -> type[T]:
    """Let a record of the public interface refuse a missing or unknown argument by an `InputError`.

    The types of its fields are checked by `check_fields`, in its `__post_init__`.
    """
    made, signature = cls.__init__, inspect.signature(cls)
    names = [*signature.parameters]

    @wraps(made)
    def entered(self: Any, /, *args: Any, **kwargs: Any) -> None:
        try:
            made(self, *args, **kwargs)
        except TypeError:
            given = _by_name(cls.__name__, names, args, kwargs)
            try:
                signature.bind(**given)
            except TypeError as problem:
                raise InputError(
                    f"“{cls.__name__}”: {problem}.",
                    field=cls.__name__,
                    hint=f"It has {', '.join(names)}.",
                ) from None
            raise

    cls.__init__ = entered  # type: ignore[method-assign, assignment]
    return cls


def record(cls: type[T], value: Any, field: str) -> T:
    """A record from an object with its fields; see `read` for what is refused."""
    return cls(**arguments(cls, value, field))


def arguments(function: Callable[..., Any], values: Any, field: str) -> dict[str, Any]:
    """Read the arguments of a function or class from an object; see `read` for what is refused."""
    known, hints = writable(function), hints_of(function)
    is_open = any(
        each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values()
    )
    values = checked_object(values, field, None if is_open else tuple(known))
    missing = [
        name
        for name, default in known.items()
        if name not in values and default is inspect.Parameter.empty
    ]
    if missing:
        raise InputError(
            f"“{field}” lacks “{missing[0]}”.", field=missing[0], hint=f"It has {', '.join(known)}."
        )
    return {name: read(hints.get(name, Any), part, name) for name, part in values.items()}


def writable(function: Callable[..., Any]) -> dict[str, Any]:
    """The parameters that can be written, with their defaults: those with a plain one, or none."""
    signature = inspect.signature(function).parameters.items()
    return {
        name: parameter.default
        for name, parameter in signature
        if parameter.kind is not parameter.VAR_KEYWORD
        and (parameter.default is parameter.empty or isinstance(parameter.default, _PLAIN))
    }


def check_fields(record: Any) -> None:
    """Read each field of a frozen record by its type.

    A whole number stays whole where a number is meant: digests of earlier versions hold it so.
    """
    cls: Any = type(record)  # the type checker does not hash classes
    for name, (hint, kinds) in _fields(cls).items():
        value = getattr(record, name)
        if _is_usual(kinds, value):
            continue
        made = read(hint, value, name)
        if made is not value and not (type(value) is int and type(made) is float):
            object.__setattr__(record, name, made)


@cache
def _fields(cls: Any) -> dict[str, tuple[Any, frozenset[Any]]]:
    """The type of each field, and the classes of values that fit it as they are."""
    return {
        name: (hint, frozenset(_class_of(option) for option in options_of(hint)))
        for name, hint in hints_of(cls).items()
    }


def _class_of(option: Any) -> Any:
    """The class of values that fit as they are; of arrays that of their numbers."""
    parts = typing.get_args(option)
    return (
        _numbers_of(option)
        if kind_of(option) is np.ndarray
        else (tuple if parts[1:] == (...,) else option)
    )


def _is_usual(kinds: frozenset[Any], value: Any) -> bool:
    """True for most values of most fields, at once: records are made by the thousand."""
    kind = type(value)
    if kind is float:
        return float in kinds and value == value
    if kind is str:
        return str in kinds and value.isascii()
    if kind is int:
        return (float in kinds or int in kinds) and 0 <= value <= _MAX_WHOLE
    if kind is np.ndarray:
        return value.dtype.type in kinds
    return kind in kinds and (kind is not tuple or not value)


@cache
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of what a function or a class takes."""
    hints = typing.get_type_hints(function, include_extras=True)
    return {name: hints.get(name, Any) for name in inspect.signature(function).parameters}


# -- what is registered ----------------------------------------------------------------------------


def member(description: Any, field: str, shelf: Registry) -> Any:
    """A source, mechanism or rate from `{"key": …, "parameters": {…}}`; see `read`."""
    parts = checked_object(description, field, ("key", "parameters"))
    return shelf.build(
        parts.get("key"), checked_object(parts.get("parameters", {}), f"{field}.parameters")
    )


def _member_of(kinds: tuple[Any, ...], value: Any, field: str, shelf: Registry) -> Any:
    registered = member(value, field, shelf)
    if not isinstance(registered, tuple(map(kind_of, kinds))):
        raise InputError(
            f"The {shelf.noun} {brief(registered.key)} cannot be used here.",
            field=field,
            hint="Choose another one.",
        )
    return registered


_MISFIT = object()
_PLAIN = (bool, int, float, str, tuple, type(None))
_SCALARS = (bool, int, float, str, type(None))
_CONTAINERS = (Enumeration, Mapping, Sequence, np.ndarray)  # an instance is read as well
_UNIONS = (typing.Union, types.UnionType)
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    np.ndarray: "an array of numbers",
    Callable: "a function",
}
