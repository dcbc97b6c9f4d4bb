"""One idea for everything that can be plugged in: a frozen dataclass that describes itself.

Sources, mechanisms and rates are classes whose fields are their parameters. `param` attaches what
a form, a command line or an export needs to know, and `Registry` imports every module of a package
the first time it is asked, so that adding a file is the whole change.
"""

from __future__ import annotations

import math
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar

from engine.core.arrays import unboxed
from engine.core.discovery import modules_in
from engine.core.enumerations import Enumeration
from engine.core.errors import InputError, brief

T = TypeVar("T", bound="type[Parameterised]")


class _Unset:
    """Stands for "not chosen"; replaced by the usual value of the chosen variant."""

    def __repr__(self) -> str:
        return "usual"


UNSET: Any = _Unset()


@dataclass(frozen=True)
class Parameter:
    """Field of a parameterised class, as a form needs it."""

    name: str
    kind: type
    optional: bool  # whether None is a value
    default: Any  # the usual value where no other applies
    label: str
    help: str
    # symbol, unit: how it is written in formulas, and what it is in
    symbol: str = ""
    unit: str = ""
    # low, high: the range, both ends included; None where it is open
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()  # the values of a text that is one of several
    # keys of the tasks it matters for, of a member that serves several; empty for all
    only_for: tuple[str, ...] = ()
    usual_when: Mapping[str, Any] = field(default_factory=dict)
    # of which the value is one; forms and links have its text
    names: type[Enumeration] | None = None
    # the value that stored settings without this parameter stand for; `UNSET`: the usual one
    earlier: Any = UNSET

    def check(self, value: Any) -> Any:
        """The value in its own type; whole floats pass for whole numbers, and these for floats.

        Examples
        --------
        >>> size = Parameter("size", int, False, 3, "Size", "How many.", low=1, high=9)
        >>> size.check(4.0)
        4
        """
        value = unboxed(value)
        if value is None:
            if self.optional:
                return None
            raise self._error("is needed")
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            if abs(value) > sys.float_info.max:
                raise self._error("is too large a number")
            value = float(value)
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise self._error(f"must be {_WORDS[self.kind]}; got {brief(value)}")
        checked = self._within(self.kind(value))  # and of no other type that counts as such
        return checked if self.names is None else self.names(checked)

    def _within(self, value: Any) -> Any:
        if self.choices and value not in self.choices:
            raise self._error(f"must be one of {', '.join(self.choices)}; got {brief(value)}")
        if self.kind is float and not math.isfinite(value):
            raise self._error("must be a finite number")
        if self.kind is int and abs(value) > _MAX_WHOLE:
            raise self._error("is too large a number")
        below = self.low is not None and value < self.low
        above = self.high is not None and value > self.high
        if below or above:
            raise self._error(f"must {self._range()}; got {brief(value)}")
        return value

    def _range(self) -> str:
        if self.low is None or self.high is None:
            return f"be at least {self.low:g}" if self.high is None else f"be at most {self.high:g}"
        return f"lie between {self.low:g} and {self.high:g}"

    def _error(self, problem: str) -> InputError:
        return InputError(f"“{self.name}” {problem}.", field=self.name)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `python -m engine list --json`."""
        out = {
            name: getattr(self, name)
            for name in ("name", "label", "help", "symbol", "unit", "default", "optional")
        }
        out["type"] = self.kind.__name__
        if self.choices:
            out["choices"] = list(self.choices)
        if self.low is not None or self.high is not None:
            out["range"] = [self.low, self.high]
        if self.usual_when:
            out["default_when"] = dict(self.usual_when)
        return out


_MAX_WHOLE = 2**63 - 1  # what arrays can hold
_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def param(
    default: Any,
    label: str,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    symbol: str = "",
    unit: str = "",
    when: Mapping[str, Any] | None = None,
    only_for: tuple[str, ...] = (),
    earlier: Any = UNSET,
) -> Any:
    """Declare a parameter: a dataclass field with its range, symbol and help.

    A field that was not chosen takes its usual value when the object is made.

    Parameters
    ----------
    label, help : str
        What people read beside the control, and when they ask.
    choices : tuple of str
        The values of a text; of an enumeration all members, unless some are named here.
    symbol, unit : str
        How it is written in formulas, and what it is in.
    when : mapping, optional
        The usual value in variants, as ``{"scheme=split": 0.1}``; the first that applies wins over
        `default`.
    only_for : tuple of str
        Keys of the tasks that it matters for; empty for all.
    earlier : object, optional
        What settings that were stored in full before there was this parameter stand for.

    Returns
    -------
    Field
        For the body of a frozen dataclass that derives from `Parameterised`.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Smoother(Parameterised):
    ...     key, label = "smoother", "Smoother"
    ...     width: float = param(0.1, "Width", "Of the window.", low=0.01, high=1.0, symbol="h")
    >>> Smoother().width, Smoother(width=1).values()
    (0.1, {'width': 1.0})
    """
    facts = {
        "label": label,
        "help": help,
        "low": low,
        "high": high,
        "choices": choices,
        "symbol": symbol,
        "unit": unit,
        "usual_when": dict(when or {}),
        "default": default,
        "only_for": only_for,
        "earlier": earlier,
    }
    return field(default=UNSET, metadata={"parameter": facts})


@dataclass(frozen=True, kw_only=True)
class Parameterised:
    """Base of everything registered: fills in usual values and checks each parameter."""

    registry: typing.ClassVar[Registry]
    key: typing.ClassVar[str]
    label: typing.ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if value is UNSET:
                value = self._usual(parameter)
            object.__setattr__(self, parameter.name, parameter.check(value))

    def _usual(self, parameter: Parameter) -> Any:
        for condition, value in parameter.usual_when.items():
            name, _, required = condition.partition("=")
            if getattr(self, name) == required:
                return value
        return parameter.default

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """All declared parameters, in declared order; see `parameters`."""
        registered: Any = cls  # the type checker does not hash classes
        return parameters(registered)

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Choices to offer by name: (label, parameters that differ from the usual ones)."""
        return ((cls.label, {}),)

    @classmethod
    def presets_for(cls, task: str) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The presets that serve a task, for members that serve several."""
        return cls.presets()

    def offered(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The presets that this member may have come from."""
        return self.presets()

    def nearest_preset(self) -> tuple[str, dict[str, Any]]:
        """The preset this came from: the one that shares most of its values."""
        values = self.values()
        return max(
            self.offered(),
            key=lambda preset: sum(
                1 if values[name] == value else -1 for name, value in preset[1].items()
            ),
        )

    def relevant_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that matter for the task of this member, if it serves several."""
        task = getattr(self, "task", None)
        return tuple(
            p
            for p in self.parameters()
            if p.name != "task" and (not p.only_for or task in p.only_for)
        )

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """All settings of a member that was stored in full, maybe before some parameters existed.

        Those newer parameters stand for what was done then.
        """
        earlier = {p.name: p.earlier for p in cls.parameters() if p.earlier is not UNSET}
        return {**earlier, **values}

    def values(self) -> dict[str, Any]:
        """Every parameter with its value, in declared order."""
        return {p.name: getattr(self, p.name) for p in self.parameters()}

    def changed(self) -> dict[str, Any]:
        """The parameters that differ from the usual ones of this variant."""
        return {
            p.name: getattr(self, p.name)
            for p in self.parameters()
            if getattr(self, p.name) != self._usual(p)
        }


@cache
def parameters(cls: Any) -> tuple[Parameter, ...]:
    """All declared parameters of a registered class, in declared order.

    Choices come first wherever a `when` refers to them, because fields are resolved in order.
    """
    hints = typing.get_type_hints(cls)
    declared = [f for f in fields(cls) if "parameter" in f.metadata]
    return tuple(_parameter(f, hints[f.name]) for f in declared)


def _parameter(declared: Field[Any], hint: Any) -> Parameter:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kinds = [option for option in options if option is not type(None)]
    facts, is_optional = dict(declared.metadata["parameter"]), type(None) in options
    if issubclass(kinds[0], Enumeration):
        choices = tuple(str(member) for member in facts["choices"] or kinds[0])
        return Parameter(
            name=declared.name,
            kind=str,
            optional=is_optional,
            names=kinds[0],
            **{**facts, "choices": choices},
        )
    return Parameter(name=declared.name, kind=kinds[0], optional=is_optional, **facts)


class Registry:
    """The members of one package, found by importing its modules once; a noun for messages."""

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun
        self._members: dict[str, Any] = {}
        self._loaded = False

    def register(self, cls: T) -> T:
        """Add a class; used as its decorator."""
        if cls.key in self._members:
            raise ValueError(f"two {self.noun}s have the key {cls.key!r}")
        self._members[cls.key] = cls
        return cls

    def all(self) -> tuple[Any, ...]:
        """Every member, sorted by its `order` (the recommended one first) and key."""
        self._load()
        return tuple(sorted(self._members.values(), key=lambda c: (getattr(c, "order", 50), c.key)))

    def get(self, key: Any) -> Any:
        """The member with this key, which may be whatever a file or a link holds."""
        self._load()
        if not isinstance(key, str) or key not in self._members:
            raise InputError(
                f"There is no {self.noun} {brief(key)}.",
                field=self.noun,
                hint=f"Choose one of {', '.join(sorted(self._members))}.",
            )
        return self._members[key]

    def for_task(self, task: str) -> tuple[Any, ...]:
        """The members that serve one task, the recommended one first."""
        return tuple(c for c in self.all() if task in c.tasks)

    def default(self, key: str, task: str) -> Any:
        """The member of this key as its first preset for a task is set."""
        cls = self.get(key)
        return cls(**cls.presets_for(task)[0][1])

    def build(self, key: Any, values: Mapping[str, Any]) -> Any:
        """Make a member from plain values by name; those left out take their usual values."""
        cls = self.get(key)
        known = [p.name for p in parameters(cls)]
        unknown = [name for name in values if name not in known]
        if unknown:
            raise InputError(
                f"The {self.noun} {brief(key)} has no parameter {brief(unknown[0])}.",
                field=str(unknown[0]),
                hint=f"It has {', '.join(known)}.",
            )
        return cls(**values)

    def _load(self) -> None:
        if self._loaded:
            return
        modules_in(self.package)
        self._loaded = True
