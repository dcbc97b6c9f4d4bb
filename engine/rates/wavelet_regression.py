"""Rates of wavelet regression (Cai, Chakraborty and Vuursteen, arXiv 2406.06755).

All hold up to constants and logarithms; the one number that has no unknown constant is
`WaveletSites.pure_dp_lower_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from engine.errors import InputError
from engine.rates import Boundary, Condition, Point, Rate, Symbol, Term, rates
from engine.registry import param
from engine.tasks import WAVELET_REGRESSION
from engine.types import Array

READINGS, PRIVACY = "Number of readings", "Privacy"
NOTHING = "Nothing can be learnt"  # not a term: the size of the class, where the rate is capped
PURE_DP_ONLY = "pure DP only: releases with δ > 0 may do better"

N = Symbol("n", "Readings on each site", 10, 1e8, 4000)
S = Symbol("S", "Sites", 1, 1000, 16)
EPSILON = Symbol("epsilon", "Protection", 1e-3, 10, 1, "ε")
DELTA = Symbol("delta", "Chance the limit fails", 1e-12, 1e-3, 1e-5, "δ")

_TIE = 1e-9  # relative: quantities this close count as equal
_LEVELS = np.arange(121.0)  # far beyond any level that data could reach


# -- sites that are alike -------------------------------------------------------------------


@rates.register
@dataclass(frozen=True, kw_only=True)
class WaveletRate(Rate):
    """Two terms, (Sn)^{−2γ/(2γ+1)} + (Sn²ε²)^{−2γ/(2γ+2)}, at most one.

    γ = α for the whole curve and γ = ν = α − 1/p for its value at one point. S sites hold n
    readings each, and each protects its own.

    Raises
    ------
    InputError
        If ν ≤ 1/2: the class then holds curves that no method here can follow.
    """

    key = "wavelet_regression"
    label = "Regression curve by wavelets"
    order = 30
    tasks = frozenset({WAVELET_REGRESSION.key})
    reference = ("Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, Theorem 2.1, "
                 "Corollaries 1 and 2")
    symbols = (N, S, EPSILON, DELTA)
    capped = True

    error: str = param("global", "Error", "Global: the squared error of the whole curve. "
                       "Pointwise: of its value at one point.", choices=("global", "pointwise"))
    smoothness: float = param(1.0, "Smoothness", "How smooth the curve is.", low=0.51, high=10.0,
                              symbol="α")
    integrability: float | None = param(
        None, "Evenness of the smoothness", "How evenly the curve is smooth: the Besov index p. "
        "Empty: ∞, equally smooth everywhere.", low=2.0, high=1e6, symbol="p",
        when={"error=pointwise": 4.0})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothness - self._lost <= 0.5:
            raise InputError(f"α − 1/p must exceed 1/2; got {self.smoothness - self._lost:g}.",
                             field="smoothness", hint="Choose a larger α or p.")

    @property
    def _lost(self) -> float:
        return 0.0 if self.integrability is None else 1 / self.integrability

    @property
    def gamma(self) -> float:
        """γ: α for the whole curve, ν = α − 1/p at one point."""
        return self.smoothness - (self._lost if self.error == "pointwise" else 0.0)

    @property
    def terms(self) -> tuple[Term, ...]:
        g, sign = self.gamma, self._sign
        return (
            Term(READINGS, rf"(Sn)^{{-2{sign}/(2{sign}+1)}}",
                 lambda p: (p["S"] * p["n"]) ** (-2 * g / (2 * g + 1))),
            Term(PRIVACY, rf"(Sn^2\varepsilon^2)^{{-2{sign}/(2{sign}+2)}}",
                 lambda p: _information(p) ** (-2 * g / (2 * g + 2)), is_private=True))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Elbow 1: privacy starts to cost. Elbow 2: the privacy term reaches one, the cap."""
        g, sign = self.gamma, self._sign
        return (
            Boundary("elbow 1", "epsilon", (PRIVACY, READINGS),
                     rf"\varepsilon = n^{{-1/2}}(Sn)^{{1/(4{sign}+2)}}",
                     lambda p: p["n"] ** -0.5 * (p["S"] * p["n"]) ** (1 / (4 * g + 2))),
            Boundary("elbow 2", "epsilon", (NOTHING, PRIVACY), r"\varepsilon = n^{-1}S^{-1/2}",
                     lambda p: p["n"] ** -1.0 * p["S"] ** -0.5))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Any power just above one of the first limit is asked for; the power one is checked."""
        bounded = Condition("both corollaries", r"\varepsilon \le 1", "epsilon",
                            lambda p: np.ones_like(p["epsilon"], dtype=float))
        if self.error == "global":
            return (Condition("Corollary 1", r"\delta < \varepsilon^2/\sqrt{S}", "delta",
                              lambda p: p["epsilon"] ** 2 / np.sqrt(p["S"])), bounded)
        return (Condition("Corollary 2", r"\delta \ll 1/(Sn)", "delta",
                          lambda p: 1 / (p["S"] * p["n"])), bounded)

    def cost_of_privacy(self, **point: float | Array) -> Array:
        """How many times larger the error is than without privacy; one above elbow 1.

        Below it (S^{1/(2γ+1)} n^{−2γ/(2γ+1)} ε^{−2})^{2γ/(2γ+2)}, until nothing can be learnt.
        The larger term stands for the rate, so that the factor is exactly one where privacy is
        free; the sum of the terms is at most twice that.
        """
        free, private = self.evaluate(**point)
        return np.asarray(np.minimum(np.maximum(free, private), 1.0) / np.minimum(free, 1.0))

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """D, and the level L = ⌈log₂ D⌉; where D ≤ 1 the best estimate is zero."""
        p, g = self.at(**point), self.gamma
        resolution = np.minimum((p["S"] * p["n"]) ** (1 / (2 * g + 1)),
                                _information(p) ** (1 / (2 * g + 2)))
        level = np.ceil(np.log2(np.maximum(resolution, 1.0)) - _TIE)  # D = 32 has the level 5
        return {"resolution": resolution, "level": level}

    @property
    def _sign(self) -> str:
        return r"\alpha" if self.error == "global" else r"\nu"


def _information(p: Point) -> Array:
    """Sn²ε²."""
    return np.asarray(p["S"] * (p["n"] * p["epsilon"]) ** 2.0)


# -- sites that differ ----------------------------------------------------------------------


@dataclass(frozen=True)
class WaveletSites:
    """Readings and budgets of sites that need not be alike, each (sites,).

    ε = ∞ stands for a site without protection and ε = 0 for one that may say nothing. γ is the
    smoothness of the task, as in `WaveletRate.gamma`.

    Raises
    ------
    InputError
        If the arrays differ in shape, n < 1 or ε < 0.
    """

    n: Array
    epsilon: Array

    def __post_init__(self) -> None:
        for name in ("n", "epsilon"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        if self.n.ndim != 1 or self.n.shape != self.epsilon.shape or not len(self.n):
            raise InputError(f"There must be one n and one ε for each site; got {self.n.shape} "
                             f"and {self.epsilon.shape}.", field="epsilon")
        if not ((self.n >= 1) & np.isfinite(self.n)).all():
            raise InputError("Every site must have at least one reading.", field="n")
        if not (self.epsilon >= 0).all():
            raise InputError("ε must not be negative.", field="epsilon")

    def resolution(self, gamma: float) -> float:
        """D: D^{2γ+2} = Σ min(n²ε², nD), equations (14) and (17); 0 where every ε is 0.

        In t = log D the difference of the logarithms of both sides rises with a slope between
        2γ+1 and 2γ+2, so its value at t = 0 brackets the only root.
        """
        from scipy.optimize import brentq  # on first use: it takes a moment

        if not self.epsilon.any():
            return 0.0
        with np.errstate(divide="ignore"):
            private, n = 2 * (np.log(self.n) + np.log(self.epsilon)), np.log(self.n)

        def gap(t: float) -> float:
            return float((2 * gamma + 2) * t - logsumexp(np.minimum(private, n + t)))

        ends = [-gap(0.0) / (2 * gamma + 1), -gap(0.0) / (2 * gamma + 2)]
        # where only one kind of site is left the root is an end: room for rounding
        return float(np.exp(brentq(gap, min(ends) - 1, max(ends) + 1, xtol=1e-15, rtol=1e-15)))

    def privacy_limited(self, gamma: float) -> NDArray[np.bool_]:
        """Which sites privacy holds back, nε² ≤ D: (sites,); equality counts."""
        return np.asarray(self.n * self.epsilon**2 <= self.resolution(gamma) * (1 + _TIE))

    def regime(self, gamma: float) -> str:
        """"regime 9" where one site is enough, "regime 8" where privacy holds back all of them.

        The two leave gaps, which are "neither", and overlap, for a single site that privacy holds
        back, say: the rates then agree and "regime 9" is reported.
        """
        if not self.epsilon.any():
            return "neither"
        if self._one_is_enough(gamma):
            return "regime 9"
        return "regime 8" if self.privacy_limited(gamma).all() else "neither"

    def rate(self, gamma: float) -> float:
        """D^{−2γ}, at most one (Theorem 2.1)."""
        resolution = self.resolution(gamma)
        return 1.0 if resolution <= 1 else float(resolution ** (-2 * gamma))

    def pure_dp_lower_bound(self, smoothness: float, radius: float, sigma: float = 1.0) -> float:
        """A bound, constants included, below the global error of every method with δ = 0.

        The largest over levels L of 2^{2L} / (σ^{−2} Σ min{n²(e^ε − 1)²/4, n 2^L}
        + π² R^{−2} 2^{L(2α+2)}): the van Trees inequality of Theorem 4.1 with the information of
        one release bounded through e^ε. Readings at uniform times, noise of standard deviation
        σ and curves of the wavelet ball of radius R; in squared units of σ and R. See
        `PURE_DP_ONLY`: it says nothing about Gaussian noise.
        """
        with np.errstate(over="ignore"):
            private = (self.n * np.expm1(self.epsilon)) ** 2 / 4
        told = np.minimum(private, self.n * 2 ** _LEVELS[:, None]).sum(axis=1) / sigma**2
        with np.errstate(over="ignore"):
            prior = np.pi**2 / radius**2 * 2 ** (_LEVELS * (2 * smoothness + 2))
        return float((4**_LEVELS / (told + prior)).max())

    def _one_is_enough(self, gamma: float) -> bool:
        """Equation (9): n*²ε*² ∧ n*D* outweighs n²ε² of all others together.

        Only a site with the largest n²ε² can do so; among equals the one with the largest n*D*.
        """
        private = (self.n * self.epsilon) ** 2
        alone = np.minimum(private ** (1 / (2 * gamma + 2)), self.n ** (1 / (2 * gamma + 1)))
        alone = np.minimum(private, self.n * alone)
        best = int(np.argmax(np.where(private == private.max(), alone, -1.0)))
        return bool(alone[best] >= np.delete(private, best).sum() * (1 - _TIE))
