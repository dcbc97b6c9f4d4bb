r"""Powers of public sizes and budgets: of a product, value, formula, exponents and borders follow.

Written with the signs of arithmetic, as the formulas are:

>>> n, epsilon = symbols("n", "epsilon")
>>> alpha = Exponent(2.0, r"\alpha")
>>> term = (n**2 * epsilon**2) ** (-alpha / (alpha + 1))
>>> term.formula
'(n^2\\varepsilon^2)^{-\\alpha/(\\alpha+1)}'
>>> round(term.exponent("n"), 6)
-1.333333
>>> float((n * epsilon).equals(n**2, "epsilon").at({"n": np.array(5.0)}))
5.0
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.core.types import Array

Point = Mapping[str, Array]
_SIGNS = {"epsilon": r"\varepsilon", "delta": r"\delta"}


@dataclass(frozen=True)
class Exponent:
    """A number that formulas write with the sign of a parameter, such as −α/(α + 1)."""

    value: float
    formula: str

    def __add__(self, other: float) -> Exponent:
        return Exponent(self.value + other, f"{self.formula}+{other:g}")

    def __rmul__(self, factor: float) -> Exponent:
        return Exponent(factor * self.value, f"{factor:g}{self.formula}")

    def __neg__(self) -> Exponent:
        return Exponent(-self.value, f"-{self._factor}")

    def __truediv__(self, other: Exponent) -> Exponent:
        return Exponent(self.value / other.value, f"{self._factor}/{other._factor}")

    @property
    def _factor(self) -> str:
        return f"({self.formula})" if "+" in self.formula else self.formula


@dataclass(frozen=True)
class Powers:
    """A constant times powers of symbols and of logarithms."""

    at: Callable[[Point], Array]
    formula: str
    # of every symbol; those of a symbol within a logarithm are not counted
    exponents: Mapping[str, float] = field(default_factory=dict)
    logs: frozenset[str] = frozenset()

    def __mul__(self, other: Powers) -> Powers:
        apart = " " if re.search(r"\\[a-z]+$", self.formula) and other.formula[:1].isalpha() else ""
        return Powers(
            lambda p: self.at(p) * other.at(p),
            self.formula + apart + other.formula,
            {
                symbol: self.exponent(symbol) + other.exponent(symbol)
                for symbol in {**self.exponents, **other.exponents}
            },
            self.logs | other.logs,
        )

    def __truediv__(self, other: Powers) -> Powers:
        inverse = other**-1
        product = self * inverse
        return Powers(
            lambda p: self.at(p) / other.at(p), product.formula, product.exponents, product.logs
        )

    def __pow__(self, power: Exponent | float) -> Powers:
        value, sign = (
            (power.value, power.formula)
            if isinstance(power, Exponent)
            else (float(power), f"{power:g}")
        )
        return Powers(
            lambda p: np.asarray(self.at(p) ** value),
            self._raised(sign),
            {symbol: value * each for symbol, each in self.exponents.items()},
            self.logs,
        )

    def _raised(self, sign: str) -> str:
        """The formula of a power; what formulas leave out stays out."""
        if not self.formula:
            return ""
        is_one_sign = re.fullmatch(r"\w|\\[a-z]+|\w_\w", self.formula)
        base = self.formula if is_one_sign else f"({self.formula})"
        return base + (f"^{sign}" if len(sign) == 1 else f"^{{{sign}}}")

    def exponent(self, symbol: str) -> float:
        """The power of a symbol: ∂ log value / ∂ log symbol, where no logarithm holds it."""
        return self.exponents.get(symbol, 0.0)

    def equals(self, other: Powers, symbol: str) -> Powers:
        """The value of a symbol at which two products are equal, from all other symbols."""
        steeper = self.exponent(symbol) - other.exponent(symbol)
        if steeper == 0 or symbol in self.logs | other.logs:
            raise ValueError(f"No power of {symbol} makes these terms equal.")

        def without(product: Powers, p: Point) -> Array:
            return product.at({**p, symbol: np.ones(())})

        ratio = other / self
        return Powers(
            lambda p: np.asarray((without(other, p) / without(self, p)) ** (1 / steeper)),
            f"({ratio.formula})^{{1/{steeper:g}}}",
            {name: each / steeper for name, each in ratio.exponents.items() if name != symbol},
            ratio.logs,
        )

    def called(self, formula: str) -> Powers:
        """The same product by another name, such as h for a bandwidth."""
        return Powers(self.at, formula, self.exponents, self.logs)


def symbols(*names: str) -> tuple[Powers, ...]:
    """Make a product for each symbol of a point; one that a point does not have counts as one."""
    return tuple(
        Powers(
            lambda p, name=name: np.asarray(p.get(name, 1.0)),  # type: ignore[misc]
            _SIGNS.get(name, re.sub(r"(\w)(\d)", r"\1_\2", name)),
            {name: 1.0},
        )
        for name in names
    )


def constant(value: float) -> Powers:
    """A number, which formulas leave out."""
    return Powers(lambda p: np.asarray(value), "")


def log(product: Powers) -> Powers:
    """The logarithm of a product, whose powers may be part of another."""
    return Powers(
        lambda p: np.log(product.at(p)),
        rf"\log({product.formula})",
        {},
        product.logs | frozenset(product.exponents),
    )
