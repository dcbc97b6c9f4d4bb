"""Rates of wavelet regression (Cai, Chakraborty and Vuursteen, arXiv 2406.06755).

All hold up to constants and logarithms, for sites that are alike; for those that differ see
`engine.mechanisms.families.wavelets.sites`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import WAVELET_REGRESSION
from engine.core.types import Array
from engine.mechanisms.base import Mechanism
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.rates import Boundary, Condition, Rate, Symbol, Term, border, rates
from engine.rates.powers import Exponent, constant, symbols
from engine.rates.trusted import ByTrust, arranged
from engine.sources.besov_points import LARGEST_SMOOTHNESS, BesovPoints

READINGS, PRIVACY = "Number of observations", "Privacy"
NOTHING = "Nothing can be learnt"  # not a term: the size of the class, where the rate is capped

N = Symbol("n", "Observations on each site", 10, 1e8, 4000)
S = Symbol("S", "Sites", 1, 1000, 16)
EPSILON = Symbol("epsilon", "Privacy budget", 1e-3, 10, 1, "ε")
DELTA = Symbol("delta", "Slack of the guarantee", 1e-12, 1e-3, 1e-5, "δ")

n, sites, epsilon = symbols("n", "S", "epsilon")
_INFORMATION = sites * n**2 * epsilon**2
_POINTS = "0.07, 0.23, 0.37, 0.61, 0.83"  # over which errors at a point are averaged
_TIE = 1e-9  # relative: quantities this close count as equal


# -- sites that are alike -------------------------------------------------------------------


@rates.register
@dataclass(frozen=True, kw_only=True)
class WaveletRate(Rate):
    """Two terms, (Sn)^{−2γ/(2γ+1)} + (Sn²ε²)^{−2γ/(2γ+2)}, at most one.

    γ = α for the whole curve and γ = ν = α − 1/p for its value at one point. S sites hold n
    readings each, and each protects its own.
    """

    key = "wavelet_regression"
    label = "Regression curve by wavelets"
    order = 30
    tasks = frozenset({WAVELET_REGRESSION.key})
    reference = (
        "Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, Theorem 2.1, Corollaries 1 and 2"
    )
    symbols = (N, S, EPSILON, DELTA)
    capped = True

    error: str = param(
        "global",
        "Error",
        "Global: the squared error of the whole curve. Pointwise: of its value at one point.",
        choices=("global", "pointwise"),
    )
    smoothness: float = param(
        1.0, "Smoothness", "How smooth the curve is.", low=0.51, high=10.0, symbol="α"
    )
    integrability: float | None = param(
        None,
        "Evenness of the smoothness",
        "How evenly the curve is smooth: the Besov index p. Empty: ∞, equally smooth everywhere.",
        low=2.0,
        high=1e6,
        symbol="p",
        when={"error=pointwise": 4.0},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothness - self._lost <= 0.5:
            raise InputError(
                f"α − 1/p must exceed 1/2; got {self.smoothness - self._lost:g}.",
                field="smoothness",
                hint="Choose a larger α or p.",
            )

    @property
    def _lost(self) -> float:
        return 0.0 if self.integrability is None else 1 / self.integrability

    @property
    def gamma(self) -> float:
        """γ: α for the whole curve, ν = α − 1/p at one point."""
        return self.smoothness - (self._lost if self.error == "pointwise" else 0.0)

    @property
    def terms(self) -> tuple[Term, ...]:
        g = Exponent(self.gamma, r"\alpha" if self.error == "global" else r"\nu")
        return (
            Term(READINGS, (sites * n) ** (-(2 * g) / (2 * g + 1))),
            Term(PRIVACY, _INFORMATION ** (-(2 * g) / (2 * g + 2)), is_private=True),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Elbow 1: privacy starts to cost. Elbow 2: the privacy term reaches one, the cap."""
        readings, private = self.terms
        sign = r"\alpha" if self.error == "global" else r"\nu"
        return (
            border(
                "elbow 1",
                "epsilon",
                private,
                readings,
                rf"\varepsilon = n^{{-1/2}}(Sn)^{{1/(4{sign}+2)}}",
            ),
            border(
                "elbow 2",
                "epsilon",
                Term(NOTHING, constant(1.0)),
                private,
                r"\varepsilon = n^{-1}S^{-1/2}",
            ),
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Any power just above one of the first limit is asked for; the power one is checked."""
        bounded = Condition(
            "both corollaries",
            r"\varepsilon \le 1",
            "epsilon",
            lambda p: np.ones_like(p["epsilon"], dtype=float),
        )
        if self.error == "global":
            return (
                Condition(
                    "Corollary 1",
                    r"\delta < \varepsilon^2/\sqrt{S}",
                    "delta",
                    lambda p: p["epsilon"] ** 2 / np.sqrt(p["S"]),
                ),
                bounded,
            )
        return (
            Condition(
                "Corollary 2", r"\delta \ll 1/(Sn)", "delta", lambda p: 1 / (p["S"] * p["n"])
            ),
            bounded,
        )

    def by_trust(self) -> ByTrust:
        """A curve of the class itself, so that errors are those of the roughest that is allowed."""
        source = BesovPoints(
            n_curves=64_000, n_servers=16, smoothness=min(self.gamma, LARGEST_SMOOTHNESS)
        )
        method: Mechanism = (
            WaveletGlobal(smoothness=self.gamma)
            if self.error == "global"
            else WaveletPointwise(smoothness=self.gamma, points=_POINTS, noise="gaussian")
        )
        return ByTrust(arranged(self, method), source, 5.0, delta=1e-6)

    def cost_of_privacy(self, **point: float | Array) -> Array:
        """Divide the error by that without privacy; one above elbow 1.

        Below it (S^{1/(2γ+1)} n^{−2γ/(2γ+1)} ε^{−2})^{2γ/(2γ+2)}, until nothing can be learnt.
        The larger term stands for the rate, so that the factor is exactly one where privacy is
        free; the sum of the terms is at most twice that.
        """
        free, private = self.evaluate(**point)
        return np.asarray(np.minimum(np.maximum(free, private), 1.0) / np.minimum(free, 1.0))

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """D, and the level L = ⌈log₂ D⌉; where D ≤ 1 the best estimate is zero."""
        p, g = self.at(**point), self.gamma
        resolution = np.minimum(
            ((sites * n) ** (1 / (2 * g + 1))).at(p), (_INFORMATION ** (1 / (2 * g + 2))).at(p)
        )
        level = np.ceil(np.log2(np.maximum(resolution, 1.0)) - _TIE)  # D = 32 has the level 5
        return {"resolution": resolution, "level": level}
