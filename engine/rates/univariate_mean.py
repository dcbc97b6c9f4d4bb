"""Rates of univariate means: S people or sites that hold n numbers each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import lambertw

from engine.core.enumerations import Enumeration
from engine.core.registry import param
from engine.core.tasks import UNIVARIATE_MEAN
from engine.core.types import Array, Data
from engine.mechanisms.base import Mechanism
from engine.mechanisms.univariate_mean import Setting, UnivariateMean
from engine.rates import Boundary, Condition, Rate, Symbol, Term, border, rates
from engine.rates.functional_mean import DENSE, EPSILON, PRIVATE_DENSE
from engine.rates.powers import Point, Powers, symbols
from engine.rates.trusted import ByTrust, Trust, TrustedRate
from engine.sources import Source
from engine.sources.numbers import Numbers

LOST = "Failing to locate"
S = Symbol("S", "People or sites", 1, 1e5, 200)
N = Symbol("n", "Numbers each", 1, 1e6, 50)


class RateSetting(Enumeration):
    """The setting of a mechanism, and for people who trust nobody whether each holds many numbers.

    The words are those of links and files.
    """

    mechanism: Setting
    label: str

    CENTRAL_ITEM = "central_item", Setting.CENTRAL_ITEM, "centre, single numbers protected"
    CENTRAL_USER = "central_user", Setting.CENTRAL_USER, "centre, people protected"
    SITE = "site", Setting.SITE, "each site, single numbers protected"
    LOCAL_ITEM = "local_item", Setting.LOCAL_ITEM, "nobody trusted, single numbers protected"
    LOCAL_USER_SMALL_N = (
        "local_user_small_n",
        Setting.LOCAL_USER,
        "nobody trusted, people protected, few numbers each",
    )
    LOCAL_USER_LARGE_N = (
        "local_user_large_n",
        Setting.LOCAL_USER,
        "nobody trusted, people protected, many numbers each",
    )
    NONE = "none", Setting.NONE, "no privacy"


people, n, epsilon = symbols("S", "n", "epsilon")
# The inverse of what privacy costs.
_SIZES: dict[RateSetting, Powers] = {
    RateSetting.LOCAL_ITEM: people * n * epsilon**2,
    RateSetting.LOCAL_USER_SMALL_N: people * n * epsilon**2,
    RateSetting.CENTRAL_ITEM: people**2 * n**2 * epsilon**2,
    RateSetting.CENTRAL_USER: people**2 * n * epsilon**2,
    RateSetting.SITE: people * n**2 * epsilon**2,
}
_LINES = {
    RateSetting.CENTRAL_ITEM: r"\varepsilon = (Sn)^{-1/2}",
    RateSetting.CENTRAL_USER: r"\varepsilon = S^{-1/2}",
    RateSetting.SITE: r"\varepsilon = n^{-1/2}",
}


@rates.register
@dataclass(frozen=True, kw_only=True)
class UnivariateMeanRate(Rate):
    """The squared error of a private mean of Sn numbers in a range of length one.

    Without privacy 1/(Sn). Privacy adds 1/(S²n²ε²) with one trusted centre and single numbers
    protected, 1/(S²nε²) when all numbers of a person are, and 1/(Sn²ε²) when each of S sites
    protects single numbers of its own. When nobody is trusted privacy outweighs the rest:
    1/(Snε²), or e^{−Sε²} when all numbers of a person are protected and n is large.

    Notes
    -----
    The slides hold for δ = 0 and ε ≤ 1, and give the rate of persons at one centre for small n
    only. Three things are readings of ours: "∨" is written as a sum, which is at most twice as
    large; the constant in e^{−Sε²} is one; and e^{−Sε²} is the chance that S votes do not find
    where the mean is, so that more numbers for each person cannot help. From that reading
    follows where "small n" ends: at n = e^{Sε²}/(Sε²), where the two rates are equal.
    """

    key = "univariate_mean"
    label = "Average number"
    order = 20
    tasks = frozenset({UNIVARIATE_MEAN.key})
    reference = (
        "Yi Yu, lecture slides on rates of univariate means under privacy; sums for "
        "maxima, the constant in the exponent and the border between small and "
        "large n as we understand them"
    )
    symbols = (S, N, EPSILON)
    dials: ClassVar[Mapping[str, str]] = {"S": "sites", "n": "readings", "epsilon": "epsilon"}

    setting: RateSetting = param(
        RateSetting.CENTRAL_ITEM,
        "Who is trusted with what",
        "Central: one centre. Site: each site. Local: nobody. Item: a single number is protected. "
        "User: all numbers of a person are. None: no privacy.",
    )

    def in_practice(self) -> tuple[Source[Data], Mechanism]:
        """Numbers of equal spread in [0, 1], and the algorithm of the same kind of trust."""
        return Numbers(), UnivariateMean.independent(self.setting.mechanism)

    def by_trust(self) -> ByTrust:
        """Single numbers protected, as in the slides: people are where they are under any trust."""
        settings = {
            Trust.CENTRAL: RateSetting.CENTRAL_ITEM,
            Trust.FEDERATED: RateSetting.SITE,
            Trust.LOCAL: RateSetting.LOCAL_ITEM,
            Trust.NONE: RateSetting.NONE,
        }
        kinds = tuple(
            TrustedRate(
                trust,
                UnivariateMeanRate(setting=setting),
                UnivariateMean.independent(setting.mechanism),
            )
            for trust, setting in settings.items()
        )
        return ByTrust(kinds, Numbers(n_servers=50, n_items=50), 0.2, 0.01, 0.0)

    @property
    def terms(self) -> tuple[Term, ...]:
        if self.setting is RateSetting.LOCAL_USER_LARGE_N:
            return (
                Term(
                    LOST,
                    lambda p: np.exp(-p["S"] * p["epsilon"] ** 2),
                    formula=r"e^{-S\varepsilon^2}",
                ),
            )
        free = Term(DENSE, (people * n) ** -1)
        if self.setting is RateSetting.NONE:
            return (free,)
        private = Term(PRIVATE_DENSE, _SIZES[self.setting] ** -1, is_private=True)
        return (free, private) if self.setting in _LINES else (private,)

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The ε below which privacy outweighs the number of people; none if it always does."""
        if self.setting not in _LINES:
            return ()
        free, private = self.terms
        return (border("D", "epsilon", private, free, _LINES[self.setting]),)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        if self.setting is RateSetting.NONE:
            return ()
        low = Condition(
            "range of the table", r"\varepsilon \le 1", "epsilon", lambda p: np.ones(())
        )
        if self.setting is RateSetting.LOCAL_USER_SMALL_N:
            return (
                low,
                Condition(
                    "small n, as we understand it",
                    r"n \le e^{S\varepsilon^2}/(S\varepsilon^2)",
                    "n",
                    _largest_n,
                ),
            )
        if self.setting is RateSetting.LOCAL_USER_LARGE_N:
            return (
                low,
                Condition(
                    "large n, as we understand it",
                    r"S\varepsilon^2 \le "
                    "-W_{-1}(-1/n)",
                    "epsilon",
                    lambda p: np.asarray(np.sqrt(largest_exponent(p["n"]) / p["S"])),
                ),
            )
        return (low,)


def _largest_n(p: Point) -> Array:
    """Find the n = e^x/x, with x = Sε², at which 1/(Snε²) falls to e^{−Sε²}."""
    x = p["S"] * p["epsilon"] ** 2
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(x) / x)


def largest_exponent(n: Array) -> Array:
    """Find x = Sε² up to which e^{−x} is at least 1/(nx): e^x/x = n, x = −W₋₁(−1/n).

    It is at least 1, and 0 for n < e, where 1/(nx) is always larger.
    """
    return np.where(n >= math.e, -lambertw(-1 / np.maximum(n, math.e), -1).real, 0.0)
