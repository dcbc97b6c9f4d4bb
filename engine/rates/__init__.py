"""Minimax rates: bounds as sums of named terms, up to constants and logarithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from engine.core.registry import Parameterised, Registry
from engine.core.types import Array, Data
from engine.mechanisms.base import Mechanism
from engine.rates.powers import Point, Powers
from engine.rates.trusted import ByTrust
from engine.sources import Source

rates = Registry("engine.rates", "rate")

_STEP = 1e-4  # of log size, for numerical slopes


@dataclass(frozen=True)
class Symbol:
    """A public size or budget on which a rate depends, with its usual range on log axes."""

    name: str
    label: str
    low: float
    high: float
    default: float
    sign: str = ""  # how formulas write it; the name if empty

    @property
    def written(self) -> str:
        return self.sign or self.name


@dataclass(frozen=True)
class Term:
    """One named term of a rate."""

    name: str  # what people read; nothing follows from it
    # powers of the symbols, from which formula, slopes and borders follow; or what maps the symbols
    # of a point to the size, vectorised, where it is no product of powers
    size: Powers | Callable[[Point], Array]
    is_private: bool = False  # whether it is a cost of privacy, which vanishes as ε grows
    formula: str = ""  # LaTeX; that of the powers if empty

    def __post_init__(self) -> None:
        if isinstance(self.size, Powers) and not self.formula:
            object.__setattr__(self, "formula", self.size.formula)

    def value(self, point: Point) -> Array:
        """The size of the term."""
        return self.size.at(point) if isinstance(self.size, Powers) else self.size(point)


@dataclass(frozen=True)
class Boundary:
    """Boundary of two regimes: the value of `symbol` at which two terms are equal.

    `between` names the two terms, the one that rules below the boundary first; `value` gives the
    boundary from the other symbols of the point.
    """

    key: str
    symbol: str
    between: tuple[str, str]
    formula: str
    value: Callable[[Point], Array]


def border(key: str, symbol: str, below: Term, above: Term, formula: str) -> Boundary:
    """The boundary that follows from the exponents of two powers; LaTeX as the paper has it."""
    assert isinstance(below.size, Powers) and isinstance(above.size, Powers)
    return Boundary(
        key, symbol, (below.name, above.name), formula, below.size.equals(above.size, symbol).at
    )


@dataclass(frozen=True)
class Condition:
    """Something a theorem asks for: δ must stay below `limit` of the point, say.

    Its constant is not known, so it is checked with the constant one and reported as such.
    """

    name: str
    formula: str
    symbol: str
    limit: Callable[[Point], Array]
    value: Callable[[Point], Array] | None = None  # of what no point holds, such as the best r
    is_floor: bool = False  # True if the limit is the least and not the most

    def asked(self, point: Point) -> Array:
        """The value that is held against the limit."""
        return np.asarray(point[self.symbol] if self.value is None else self.value(point))

    def holds(self, point: Point) -> Array:
        asked, limit = self.asked(point), self.limit(point)
        return np.asarray(asked >= limit if self.is_floor else asked <= limit)


@dataclass(frozen=True, kw_only=True)
class Rate(Parameterised):
    """A bound on the squared error as a sum of terms in the public sizes and the budget.

    Class facts: the `tasks` it belongs to, the `reference` (paper and theorem), and the `symbols`
    it depends on; `dials` say which dial of a simulation moves a symbol. Points are given by the
    names of symbols, as scalars or arrays that broadcast; symbols left out take their usual values.
    All bounds hold up to constants and logarithms, but for those that say `has_constants`.
    """

    registry = rates
    tasks: ClassVar[frozenset[str]]
    reference: ClassVar[str]
    symbols: ClassVar[tuple[Symbol, ...]]
    dials: ClassVar[Mapping[str, str]] = {
        "n": "people",
        "m": "readings",
        "S": "sites",
        "epsilon": "epsilon",
    }
    capped: ClassVar[bool] = False  # whether the error never exceeds the size of the class, one
    has_differing_sites: ClassVar[bool] = False  # whether it is about sites of different sizes
    has_constants: ClassVar[bool] = False  # whether it is a number, so that none is to be fitted
    assumptions: ClassVar[tuple[str, ...]] = ()  # sentences: of whom and of which methods it holds

    @property
    def terms(self) -> tuple[Term, ...]:
        raise NotImplementedError

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The borders between regimes, as the paper names them."""
        return ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Check what the theorems ask of the point beyond positive sizes."""
        return ()

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """The tuning that attains the rate, by its name in the mechanism; constants are one."""
        return {}

    def in_practice(self) -> tuple[Source[Data], Mechanism] | None:
        """Simulated data and a mechanism with this rate, where the scenario does not give them."""
        return None

    def attained_by(self) -> Mechanism | None:
        """The mechanism of the theorem, where it is another than one would use: its errors are
        what the rate bounds from above.
        """
        return None

    def by_trust(self) -> ByTrust | None:
        """The same problem under every kind of trust, with data to measure; None without any."""
        return None

    def of_scenario(self, source: Source[Any]) -> Rate:
        """The rate for these people, where it depends on them and nothing else was chosen.

        Parameters
        ----------
        source : Source
            Of the scenario.
        """
        return self

    # -- evaluation -------------------------------------------------------------------------

    def at(self, **point: float | Array) -> dict[str, Array]:
        """The full point: usual values for symbols that are left out, broadcast together."""
        full = {symbol.name: symbol.default for symbol in self.symbols} | point
        return dict(zip(full, np.broadcast_arrays(*map(np.asarray, full.values())), strict=True))

    def evaluate(self, **point: float | Array) -> Array:
        """Size of every term: (terms, *shape of the broadcast point)."""
        return self.weighed(1.0, 1.0, **point)

    def weighed(self, statistical: float, private: float, **point: float | Array) -> Array:
        """Size of every term with constants: (terms, *shape of the broadcast point).

        Parameters
        ----------
        statistical, private : float
            Constants of the terms without and with privacy.
        **point : float or array
            Symbols; see the class.
        """
        arrays = self.at(**point)
        with np.errstate(over="ignore", divide="ignore"):
            return np.stack(
                [
                    (private if term.is_private else statistical)
                    * np.asarray(term.value(arrays), dtype=float)
                    for term in self.terms
                ]
            )

    def total(self, **point: float | Array) -> Array:
        """The rate itself: the sum of its terms, at most one where it is capped."""
        summed = self.evaluate(**point).sum(axis=0)
        return np.minimum(summed, 1.0) if self.capped else np.asarray(summed)

    def gap(self, **point: float | Array) -> tuple[Array, Array] | None:
        """Factor between upper and lower bounds beyond constants, and the most it could be.

        Parameters
        ----------
        **point : float or array
            Symbols; see the class.

        Returns
        -------
        tuple of array, or None
            None where they match.
        """
        return None

    def dominant(self, **point: float | Array) -> Array:
        """Index of the largest term at every point."""
        return np.asarray(self.evaluate(**point).argmax(axis=0))

    def slopes(self, symbol: str, **point: float | Array) -> Array:
        """Exponents, ∂ log term / ∂ log symbol, of every term.

        Those of powers are exact; others follow from a small step.

        Parameters
        ----------
        symbol : str
        **point : float or array
            Other symbols; see the class.

        Returns
        -------
        Array, (terms, *shape of the broadcast point)
        """
        here = self.at(**point)
        return np.stack([_slope(term, symbol, here) for term in self.terms])

    def if_doubled(self, symbol: str, **point: float | Array) -> Array:
        """Compute what doubling a symbol does to the rate, as a factor.

        Parameters
        ----------
        symbol : str
        **point : float or array
            Other symbols; see the class.
        """
        here = self.at(**point)
        return self.total(**{**here, symbol: 2 * here[symbol]}) / self.total(**here)


def _slope(term: Term, symbol: str, point: Point) -> Array:
    if isinstance(term.size, Powers) and symbol not in term.size.logs:
        return np.full(np.shape(point[symbol]), term.size.exponent(symbol))
    up, down = (
        term.value({**point, symbol: point[symbol] * np.exp(sign * _STEP)}) for sign in (1, -1)
    )
    is_there = (up > 0) & (down > 0)  # a term that is 0 stays 0
    ratio = np.divide(up, down, out=np.ones(np.shape(is_there)), where=is_there)
    return np.asarray(np.log(ratio) / (2 * _STEP))
