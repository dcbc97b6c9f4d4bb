"""Rates with constants: chosen, or fitted to the errors of a simulated study.

A minimax rate leaves constants out. Beside errors it can be drawn with two that are fitted, one of
the terms with privacy and one of the others, which lower and upper bounds share. What is fitted to
is a study of simulated data, so that a fitted rate says nothing about anybody's own data that
public sizes and stated facts do not say. A fit is no proof: it says how far it is from what was
measured, and over which values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.types import Array, Budget
from engine.numerics.roots import root
from engine.rates import Rate, rates
from engine.sources import Source

FEWEST_POINTS = 3  # one more than constants
_VARIES = 0.01  # a rate that moves by less over a study says nothing about it
_MAX = 60.0  # log of constants, and minus the log of those that nothing shows
_STARTS = ((0.0, 0.0), (0.0, -4.0), (-4.0, 0.0))  # logs of both constants, beside the level
_ROUNDING = 1e-9
_CLOSE = 2e-12  # of the log of a constant


@dataclass(frozen=True)
class Weighted:
    """A rate with a constant of the terms without and one of the terms with privacy."""

    rate: Rate
    # statistical, private: above 0; one where a rate is left as it is
    statistical: float = 1.0
    private: float = 1.0

    @classmethod
    def plain(cls, rate: Rate) -> Weighted:
        """Weigh a rate with all constants one."""
        return cls(rate)

    @classmethod
    def with_privacy_share(cls, rate: Rate, share: float, **point: float) -> Weighted:
        """Weigh privacy terms so that they make up `share` of the rate at a point.

        A rate whose terms are all or none of privacy here, or a share of 0 or 1, is left as it is.
        Where constants stand within sums over sites the share may jump; it then is the next one.
        """
        plain = cls(rate)
        of_privacy, other = plain.parts(**point)
        if not 0 < share < 1 or not of_privacy or not other:  # no factor gives the share
            return plain

        def beside(log_factor: float) -> float:
            weighted = replace(plain, private=math.exp(log_factor))
            private, rest = weighted.parts(**point)
            return math.log(max(private, 1e-300)) - math.log(max(rest, 1e-300))

        target = math.log(share / (1 - share))
        factor = target - math.log(of_privacy / other)
        if abs(beside(factor) - target) > _ROUNDING and beside(-_MAX) < target < beside(_MAX):
            factor = root(lambda factor: beside(factor) - target, -_MAX, _MAX, _CLOSE)
        return replace(plain, private=math.exp(factor))

    @property
    def is_plain(self) -> bool:
        """True if constants are one, as in the theorem."""
        return self.statistical == self.private == 1

    def over(self, other: Rate) -> Weighted:
        """Another rate with the same constants."""
        return replace(self, rate=other)

    def evaluate(self, **point: float | Array) -> Array:
        """Evaluate every term: (terms, *shape of the broadcast point)."""
        return self.rate.weighed(self.statistical, self.private, **point)

    def parts(self, **point: float | Array) -> Array:
        """Split into privacy terms and the rest: (2, *shape of the broadcast point)."""
        sizes, is_private = self.evaluate(**point), [t.is_private for t in self.rate.terms]
        private = np.array(is_private)
        return np.stack([sizes[private].sum(axis=0), sizes[~private].sum(axis=0)])

    def total(self, **point: float | Array) -> Array:
        """Add up the terms, at most to one where the rate is capped and has no constants."""
        summed = np.asarray(self.evaluate(**point).sum(axis=0))
        return np.minimum(summed, 1.0) if self.rate.capped else summed

    def dominant(self, **point: float | Array) -> Array:
        """Find the largest term at every point, by its index; of equal ones the first."""
        sizes = self.evaluate(**point)
        return np.asarray((sizes >= sizes.max(axis=0) * (1 - _ROUNDING)).argmax(axis=0))

    def shares(self, **point: float | Array) -> Array:
        """Divide every term by the sum of all: (terms, *shape of the broadcast point)."""
        sizes = self.evaluate(**point)
        return np.asarray(sizes / sizes.sum(axis=0))

    def if_doubled(self, symbol: str, **point: float | Array) -> float:
        """Compute the rate's factor at a point when one symbol doubles."""
        here = self.rate.at(**point)
        return float(self.total(**{**here, symbol: 2 * here[symbol]}) / self.total(**here))


# -- fitted to a study --------------------------------------------------------------------------


@dataclass(frozen=True)
class FittedRate:
    """A rate with both constants fitted to measured squared errors."""

    weighted: Weighted
    # mapping of str to (float, float): the least and the largest value of each symbol that varied
    # in the study
    ranges: Mapping[str, tuple[float, float]]
    off: Array  # (points,): measured errors, as distances, over those of the fit

    @property
    def largest_deviation(self) -> float:
        """Largest deviation of a measured distance from the fit, up or down, as a share of it."""
        return float(np.exp(np.abs(np.log(self.off)).max()) - 1)

    @property
    def is_two_constants(self) -> bool:
        """True if the rate has terms of both kinds."""
        return len({term.is_private for term in self.weighted.rate.terms}) == 2

    def squares(self, **point: float | Array) -> Array:
        """Forecast squared errors by the fit.

        The cap of a rate is the size of its class, of which nothing was fitted; it is left out.
        """
        return np.asarray(self.weighted.evaluate(**point).sum(axis=0))

    def bound(self, other: Rate, **point: float | Array) -> Array:
        """Squared errors by another bound of the same theory, with the same constants."""
        return np.asarray(self.weighted.over(other).evaluate(**point).sum(axis=0))


def fit(rate: Rate, point: Mapping[str, float | Array], squares: Array) -> FittedRate | None:
    """Fit both constants by least squares of the logarithms; squares are NaN if unpublished.

    None with fewer than three points, or if the rate hardly moves over them.

    Examples
    --------
    >>> from engine.rates.univariate_mean import UnivariateMeanRate
    >>> rate, here = UnivariateMeanRate(), {"S": 50.0, "n": 20.0, "epsilon": np.array([.01, .1, 1])}
    >>> fitted = fit(rate, here, 3 * rate.total(**here))
    >>> round(fitted.weighted.statistical, 6), round(fitted.weighted.private, 6)
    (3.0, 3.0)
    """
    from scipy.optimize import least_squares  # on first use: the first page does not wait for it

    squares = np.asarray(squares, dtype=float)
    full = {name: np.broadcast_to(value, squares.shape) for name, value in point.items()}
    plain = rate.evaluate(**full).sum(axis=0)
    is_known = np.isfinite(squares) & (squares > 0) & np.isfinite(plain) & (plain > 0)
    if is_known.sum() < FEWEST_POINTS or np.ptp(np.log(plain[is_known])) < _VARIES:
        return None
    known, measured = {name: value[is_known] for name, value in full.items()}, squares[is_known]
    level = float(np.log(measured / plain[is_known]).mean())
    has = [any(term.is_private is kind for term in rate.terms) for kind in (False, True)]

    def left(logs: Array) -> Array:
        constants = np.zeros(2)
        constants[has] = logs
        sizes = rate.weighed(*np.exp(constants), **known).sum(axis=0)
        return np.asarray(np.log(np.maximum(sizes, 1e-300) / measured))

    starts = dict.fromkeys(tuple(np.array(start)[has] + level) for start in _STARTS)
    best = min(
        (
            least_squares(
                left,
                np.clip(start, -_MAX, _MAX),
                bounds=(-_MAX, _MAX),
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
            )
            for start in starts
        ),
        key=lambda solved: solved.cost,
    )
    constants = np.ones(2)
    constants[has] = np.exp(best.x)
    return beside(Weighted(rate, *map(float, constants)), known, measured)


def beside(weighted: Weighted, point: Mapping[str, float | Array], squares: Array) -> FittedRate:
    """Compare measured errors with the fitted constants."""
    sizes = weighted.evaluate(**point).sum(axis=0)
    ranges = {
        name: (float(np.min(value)), float(np.max(value)))
        for name, value in point.items()
        if np.ptp(value) > 0
    }
    return FittedRate(weighted, ranges, np.sqrt(squares / sizes))


# -- of a scenario ------------------------------------------------------------------------------


def public_point(rate: Rate, source: Source[Any], budget: Budget) -> dict[str, float] | None:
    """Read the symbols of a rate from a source's public sizes and a budget; None if not enough.

    The sizes include how many coefficients are stated to be other than 0.
    """
    sizes = source.sizes
    of_site: Any = np.mean if rate.has_differing_sites else min
    known: dict[str, float] = {
        "n": float(of_site(sizes.n_curves_per_server)),
        "S": float(sizes.n_servers),
        "T": 1.0,
        "m": float(sizes.n_observations_per_curve),
        "epsilon": budget.epsilon,
        "d": float(sizes.n_covariates),
    }
    if budget.delta > 0:
        known["delta"] = budget.delta
    shared = source.values().get("n_shared")
    if shared:
        known["s"] = float(shared)
    names = {symbol.name for symbol in rate.symbols}
    if names - set(known) - {"delta"}:
        return None
    point = {name: known[name] for name in sorted(names & set(known))}
    return point if min(point.values()) > 0 else None


def of_problem(task: str, source: Source[Any], **tuning: Any) -> Rate | None:
    """The upper bound that stands beside the errors of a problem; None without such a rate.

    Where sites differ in size it is that for sites that differ.
    """
    budget = Budget(1.0, 1e-6)
    members = [
        cls
        for cls in rates.for_task(task)
        if not cls.has_constants and public_point(cls(), source, budget) is not None
    ]
    differ = len({*source.sizes.n_curves_per_server}) > 1
    members.sort(key=lambda cls: cls.has_differing_sites is not differ)
    if not members:
        return None
    known = {name for name in tuning if name in {p.name for p in members[0].parameters()}}
    of_sites: Rate = members[0]().of_scenario(source)
    return replace(of_sites, **{name: tuning[name] for name in known}) if known else of_sites
