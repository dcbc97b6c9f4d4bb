"""Decrease of exact errors along nine paths, beside the rates of the theory.

Errors are exact risks of the tuned plan, so slopes are numbers without chance. They differ from the
rates because the clip grows like √log, the data term does not vanish at the ends, and levels are
whole numbers. All sites are alike and δ = 1e-8.

References
----------
Rates: Cai, Chakraborty and Vuursteen (2024), arXiv 2406.06755, Theorem 2.1, Corollaries 1 and 2.
Whole curve: α = 1, a curve of exactly that roughness. Single point: ν = 3/4, a cusp at 1/3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core.types import Array, Budget, PublicFacts, Sizes
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.signals import SELF_SIMILAR_RADIUS
from engine.sources.regression_points import RegressionPoints

DELTA = 1e-8
_CUSP_AT = 1 / 3
_FACTS = PublicFacts(value_low=-2.0, value_high=2.0, reading_sd=1.0, unit_scale=True)


@dataclass(frozen=True)
class Path:
    """Sizes and budgets along one way through the plane: `at(x)` is (n, ε, sites)."""

    key: str
    what: str  # what x is, and what stays the same
    x: tuple[float, ...]
    at: Callable[[float], tuple[float, float, int]]
    theory: float

    @property
    def is_pointwise(self) -> bool:
        return self.key.startswith("P")

    def risks(self) -> Array:
        """Compute exact mean squared errors along the path: like `x`."""
        return np.array([_risk(self.is_pointwise, *self.at(x)) for x in self.x])

    def slope(self) -> float:
        """Fit log error on log x by least squares."""
        return float(np.polyfit(np.log(self.x), np.log(self.risks()), 1)[0])


def _powers(first: float, last: float, step: float = 1.0) -> tuple[float, ...]:
    return tuple((2.0 ** np.arange(first, last + step / 2, step)).tolist())


PATHS = (
    Path(
        "G1", "N, no privacy, 16 sites", _powers(10, 24), lambda x: (x / 16, math.inf, 16), -2 / 3
    ),
    Path("G2", "n, ε = 4/√n, 16 sites", _powers(16, 32), lambda x: (x, 4 / x**0.5, 16), -1 / 2),
    Path("G3", "ε, n = 2^24, 16 sites", _powers(-11, -2, 0.5), lambda x: (2.0**24, x, 16), -1),
    Path(
        "G4",
        "sites, N = 2^26, ε = 0.01",
        _powers(0, 8),
        lambda x: (2.0**26 / x, 0.01, int(x)),
        1 / 2,
    ),
    Path(
        "G5", "sites, n = 2^18, ε = 0.01", _powers(2, 8), lambda x: (2.0**18, 0.01, int(x)), -1 / 2
    ),
    Path(
        "P1", "N, no privacy, 16 sites", _powers(10, 24), lambda x: (x / 16, math.inf, 16), -3 / 5
    ),
    Path("P2", "n, ε = 2/√n, 16 sites", _powers(14, 28), lambda x: (x, 2 / x**0.5, 16), -3 / 7),
    Path("P3", "ε, n = 2^22, 16 sites", _powers(-11, -3, 0.5), lambda x: (2.0**22, x, 16), -6 / 7),
    Path(
        "P4",
        "sites, N = 2^24, ε = 0.004",
        _powers(0, 8),
        lambda x: (2.0**24 / x, 0.004, int(x)),
        3 / 7,
    ),
)


def compared() -> dict[str, list[str]]:
    """Tabulate all paths: the slope of the theory beside that of the exact errors."""
    return {
        "error of": ["one point" if path.is_pointwise else "whole curve" for path in PATHS],
        "against": [path.what for path in PATHS],
        "over": [f"2^{math.log2(min(path.x)):g} to 2^{math.log2(max(path.x)):g}" for path in PATHS],
        "slope in theory": [f"{path.theory:+.3f}" for path in PATHS],
        "slope of exact errors": [f"{path.slope():+.3f}" for path in PATHS],
    }


def _risk(pointwise: bool, n: float, epsilon: float, sites: int) -> float:
    sizes = Sizes((int(n),) * sites, int(n) * sites, 1)
    budgets = (Budget(epsilon, DELTA),) * sites
    if pointwise:
        mechanism = WaveletPointwise(points=repr(_CUSP_AT), noise="laplace")
        return mechanism.risk_of(_cusp, sizes, budgets, _FACTS).total
    truth = RegressionPoints(signal="self_similar").truth
    return WaveletGlobal(radius=SELF_SIMILAR_RADIUS).risk_of(truth, sizes, budgets, _FACTS).total


def _cusp(times: Array) -> Array:
    return np.asarray(2 - 4 * (np.abs(times - _CUSP_AT) / (2 / 3)) ** 0.75)
