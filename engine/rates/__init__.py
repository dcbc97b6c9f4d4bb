"""Minimax rates: bounds as sums of named terms, up to constants and logarithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.registry import Parameterised, Registry
from engine.types import Array

rates = Registry("engine.rates", "rate")


@dataclass(frozen=True)
class Term:
    """One named term of a rate; `value` maps the public sizes to its size, vectorised."""

    name: str
    formula: str
    value: Callable[[Mapping[str, Array]], Array]


@dataclass(frozen=True, kw_only=True)
class Rate(Parameterised):
    """A bound on the error as a sum of terms in the public sizes and the budget.

    `evaluate` takes n (per site), m, S and epsilon, scalars or arrays that broadcast.
    """

    tasks: ClassVar[frozenset[str]]
    reference: ClassVar[str]

    @property
    def terms(self) -> tuple[Term, ...]:
        raise NotImplementedError

    def evaluate(self, **point: float | Array) -> Array:
        """Size of every term: (terms, *shape of the broadcast point)."""
        arrays = dict(zip(point, np.broadcast_arrays(*point.values()), strict=True))
        return np.stack([np.asarray(term.value(arrays), dtype=float) for term in self.terms])

    def dominant(self, **point: float | Array) -> Array:
        """Index of the largest term at every point."""
        return np.asarray(self.evaluate(**point).argmax(axis=0))
