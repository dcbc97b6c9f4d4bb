"""Variants of the mechanisms with one privacy bug each, which the audit must catch.

They are not registered and refuse to release anything outside `engine.audit`. Each says in one
sentence what is wrong: the first line of its docstring. Most are bugs that were really published or
shipped somewhere. Adding one is adding a class: every module of this package is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

from engine.audit import replay
from engine.audit.cases import Case
from engine.core.discovery import modules_in
from engine.core.errors import InputError, brief
from engine.core.types import Budget, Data, Estimate
from engine.mechanisms import Mechanism

Variant = TypeVar("Variant", bound=type[Mechanism])
_bugs: dict[str, Bug] = {}


class Broken(Mechanism):
    """Comes first among the bases of a broken variant and keeps it inside the audit."""

    def release_many(
        self, data: Data, budgets: Any, draws: int, rng: np.random.Generator
    ) -> Estimate:
        """Release as the broken variant does, inside the audit."""
        if not replay.is_granted():
            raise InputError(
                "This variant is broken on purpose and releases nothing outside the audit.",
                field="mechanism",
                hint="Choose the mechanism itself.",
            )
        return super().release_many(data, budgets, draws, rng)


@dataclass(frozen=True)
class Bug:
    """A broken variant as it is audited."""

    name: str
    case: Case  # the variant with its settings, its budget, and how many pairs are tried at a time
    what: str  # one sentence on what is wrong with it
    family: str


def bug(budget: Budget, chunk: int = 200, **settings: Any) -> Callable[[Variant], Variant]:
    """Note a variant that is broken on purpose; the first line of its docstring says what is wrong.

    `chunk` pairs of neighbours are tried at a time.
    """

    def note(cls: Variant) -> Variant:
        family = cls.__module__.rpartition(".")[2]
        fault = str(cls.__doc__).strip().partition("\n")[0]
        case = Case(cls(**settings), budget, chunk=chunk)
        if cls.__name__ in _bugs:
            raise ValueError(f"two bugs have the name {cls.__name__!r}")
        _bugs[cls.__name__] = Bug(cls.__name__, case, fault, family)
        return cls

    return note


@cache
def bugs() -> tuple[Bug, ...]:
    """All bugs, by family and name."""
    modules_in(__name__)
    return tuple(sorted(_bugs.values(), key=lambda variant: (variant.family, variant.name)))


def get(name: str) -> Bug:
    """The bug of this name.

    Examples
    --------
    >>> get("NoClipping").family
    'gradient'
    """
    by_name = {variant.name: variant for variant in bugs()}
    if name not in by_name:
        raise InputError(
            f"There is no broken variant {brief(name)}.",
            field="broken",
            hint=f"Choose one of {', '.join(sorted(by_name))}.",
        )
    return by_name[name]
