"""Joint accuracy of a wavelet regression over sites that are not alike.

Up to constants and logarithms; the one number that has no unknown constant is
`WaveletSites.pure_dp_lower_bound`.

References
----------
Cai, Chakraborty and Vuursteen, arXiv 2406.06755.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from engine.core.errors import InputError
from engine.core.types import Array
from engine.numerics.roots import root

_TIE = 1e-9  # relative: quantities this close count as equal
_LEVELS = np.arange(121.0)  # far beyond any level that data could reach


@dataclass(frozen=True)
class WaveletSites:
    """Readings and budgets of sites that need not be alike.

    ε = ∞ stands for a site without protection and ε = 0 for one that may say nothing. γ is the
    smoothness of the task, as in `WaveletRate.gamma`.

    Examples
    --------
    >>> round(WaveletSites([1000, 1000], [1.0, 0.1]).resolution(1.0), 2)
    12.21
    """

    # n, epsilon, each (sites,)):
    n: Array
    epsilon: Array

    def __post_init__(self) -> None:
        for name in ("n", "epsilon"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        if self.n.ndim != 1 or self.n.shape != self.epsilon.shape or not len(self.n):
            raise InputError(
                f"There must be one n and one ε for each site; got {self.n.shape} "
                f"and {self.epsilon.shape}.",
                field="epsilon",
            )
        if not ((self.n >= 1) & np.isfinite(self.n)).all():
            raise InputError("Every site must have at least one observation.", field="n")
        if not (self.epsilon >= 0).all():
            raise InputError("ε must not be negative.", field="epsilon")

    def resolution(self, gamma: float) -> float:
        """D with D^{2γ+2} = Σ min(n²ε², nD), equations (14) and (17); 0 where every ε is 0.

        In t = log D the difference of the logarithms of both sides rises with a slope between 2γ+1
        and 2γ+2, so its value at t = 0 brackets the only root.
        """
        if not self.epsilon.any():
            return 0.0
        with np.errstate(divide="ignore"):
            private, n = 2 * (np.log(self.n) + np.log(self.epsilon)), np.log(self.n)

        def gap(t: float) -> float:
            return float((2 * gamma + 2) * t - logsumexp(np.minimum(private, n + t)))

        ends = [-gap(0.0) / (2 * gamma + 1), -gap(0.0) / (2 * gamma + 2)]
        # where only one kind of site is left the root is an end: room for rounding
        return float(np.exp(root(gap, min(ends) - 1, max(ends) + 1, 1e-15)))

    def privacy_limited(self, gamma: float) -> NDArray[np.bool_]:
        """True for sites that privacy holds back, nε² ≤ D; equality counts."""
        return np.asarray(self.n * self.epsilon**2 <= self.resolution(gamma) * (1 + _TIE))

    def regime(self, gamma: float) -> str:
        """Regime of the rate: "regime 9" if one site is enough, "regime 8" if privacy limits all.

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
        """Bound from below, constants included, the global error of every method with δ = 0.

        The largest over levels L of 2^{2L} / (σ^{−2} Σ min{n²(e^ε − 1)²/4, n 2^L}
        + π² R^{−2} 2^{L(2α+2)}): the van Trees inequality of Theorem 4.1 with the information of
        one release bounded through e^ε. Readings at uniform times, noise of standard deviation
        σ and curves of the wavelet ball of radius R; in squared units of σ and R. It
        says nothing about releases with δ > 0, which may do better.

        `smoothness` and `radius` are α and R of the ball.
        """
        with np.errstate(over="ignore"):
            private = (self.n * np.expm1(self.epsilon)) ** 2 / 4
        information = np.minimum(private, self.n * 2 ** _LEVELS[:, None]).sum(axis=1) / sigma**2
        with np.errstate(over="ignore"):
            prior = np.pi**2 / radius**2 * 2 ** (_LEVELS * (2 * smoothness + 2))
        return float((4**_LEVELS / (information + prior)).max())

    def _one_is_enough(self, gamma: float) -> bool:
        """Equation (9): n*²ε*² ∧ n*D* outweighs n²ε² of all others together.

        Only a site with the largest n²ε² can do so; among equals the one with the largest n*D*.
        """
        private = (self.n * self.epsilon) ** 2
        alone = np.minimum(private ** (1 / (2 * gamma + 2)), self.n ** (1 / (2 * gamma + 1)))
        alone = np.minimum(private, self.n * alone)
        best = int(np.argmax(np.where(private == private.max(), alone, -1.0)))
        return bool(alone[best] >= np.delete(private, best).sum() * (1 - _TIE))
