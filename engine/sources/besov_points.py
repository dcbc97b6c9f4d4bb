"""Simulated single observations of a curve that is as rough as a Besov class allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.types import Array, Truth
from engine.numerics.signals import Function
from engine.numerics.wavelet_bases import WaveletBasis
from engine.sources import sources
from engine.sources.regression_points import PointsOfCurve, truth_of

LARGEST_SMOOTHNESS = 1.6  # of the wavelets
_LEVEL = 14
_MIDPOINTS = (np.arange(2**15) + 0.5) / 2**15


@sources.register
@dataclass(frozen=True, kw_only=True)
class BesovPoints(PointsOfCurve):
    """Observations of a curve on the sphere of radius R in the Besov space B^α_{p,∞}.

    With coefficients θ_l of level l in periodic Daubechies wavelets with four vanishing moments,
    2^{l(α + 1/2 − 1/p)} ‖θ_l‖_p = R at every level l = 3, …, 13, and nothing else. At a level a
    stated share of the wavelets has coefficients of one size with random signs, at random places,
    and all others are 0. By Hölder's inequality ‖θ_l‖₂ ≤ R 2^{−lα} as p ≥ 2, so that the curve
    belongs to the class of the methods for whole curves with the same α and R. It attains their
    bound at every level where all wavelets take part. Few of them make the curve smooth but for
    single places, where its smoothness is that of a point, α − 1/p.

    The wavelets have smoothness 1.6: up to that α these norms are equivalent to the others of the
    space. `pattern` numbers the draw of places and signs: the curve belongs to the recipe.
    """

    key = "besov_points"
    label = "One observation each, of a Besov curve"
    order = 16

    smoothness: float = param(
        1.0, "Smoothness", "How smooth the curve is.", low=0.51, high=LARGEST_SMOOTHNESS, symbol="α"
    )
    integrability: float = param(
        2.0,
        "Evenness of the smoothness",
        "The Besov index p: how much rougher it may be at single points.",
        low=2.0,
        high=1e6,
        symbol="p",
    )
    share: float = param(
        1.0,
        "Share of wavelets",
        "The rest of every level is 0. 1: as rough everywhere; small: at a few points.",
        low=0.0,
        high=1.0,
    )
    radius: float = param(
        2.0, "Radius", "The Besov norm of the curve.", low=1e-3, high=1e6, symbol="R"
    )
    pattern: int = param(
        1, "Draw of positions and signs", "Numbers one draw of them.", low=0, high=1_000_000
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        height = self.radius * _Shape.of(self).height
        if height > self.bound:
            raise InputError(
                f"This curve reaches {height:.3g}, beyond the stated bound of {self.bound:g}.",
                field="radius",
                hint="Take a smaller radius, or state a larger bound.",
            )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("A curve as rough everywhere", {}),
            ("A curve rough at few points", {"integrability": 4.0, "share": 0.02}),
        )

    @property
    def curve(self) -> Function:
        shape, radius = _Shape.of(self), self.radius
        return lambda times: radius * shape.basis.curve(shape.scaling, times)

    @property
    def is_periodic(self) -> bool:
        return True

    @property
    def truth(self) -> Truth:
        return _truth(_Shape.of(self), self.radius)


@dataclass(frozen=True, eq=False)
class _Shape:
    """A curve with Besov norm 1, by its scaling coordinates."""

    basis: WaveletBasis
    scaling: Array  # (2^14,)
    height: float  # the largest of its absolute values

    @classmethod
    def of(cls, source: BesovPoints) -> _Shape:
        return _shape(source.smoothness, source.integrability, source.share, source.pattern)


@lru_cache(maxsize=16)
def _shape(smoothness: float, integrability: float, share: float, pattern: int) -> _Shape:
    """Draw places and signs level by level; those of coarse levels do not depend on finer ones."""
    basis, rng = WaveletBasis(2**_LEVEL), np.random.default_rng(pattern)
    coefficients = np.zeros(basis.size)
    for level, index in basis.levels[1:]:
        size = 2**level
        count = max(1, round(share * size))
        each = 2 ** -(level * (smoothness + 1 / 2)) * (size / count) ** (1 / integrability)
        places = rng.permutation(size)[:count]
        signs = rng.choice([-1.0, 1.0], size)[:count]
        coefficients[np.arange(basis.size)[index][places]] = each * signs
    scaling = basis.from_levels(coefficients)
    return _Shape(basis, scaling, float(np.abs(basis.curve(scaling, _MIDPOINTS)).max()))


@lru_cache(maxsize=16)
def _truth(shape: _Shape, radius: float) -> Truth:
    return truth_of(lambda times: radius * shape.basis.curve(shape.scaling, times))
