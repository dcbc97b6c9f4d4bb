"""Noise for a real release: whole numbers on a power-of-two lattice, drawn by OpenDP.

Floating-point noise is porous: its low bits tell which query it was added to (Mironov 2012). Here
what is to be sent is first written in units of its own noise, then rounded to whole multiples of
γ = 2^-k, and discrete Gaussian or Laplace noise of scale 2^k, drawn from the operating system's
entropy by OpenDP's exact samplers, is added to the whole numbers. Multiplying back is a function of
the sum and of public numbers alone, so nothing of the low bits is left. There is no seed.

Privacy
-------
Let one record move the numbers by at most c in units of their noise: μ = c in Euclidean norm for
Gaussian noise, ε = c in the sum of sizes for Laplace noise. Rounding p numbers moves each by at
most γ/2 on both sides, and what floating point rounds before by far less than another γ: sums of
whole numbers (`engine.numerics.exact_sums`) have no rounding but that of one division, whatever n
is. So the whole numbers move by at most c/γ + 2√p, or c/γ + 2p. The lattice is taken so fine that
this is no more than c(1 + η)/γ with η = 2^-12, and what a release costs is what OpenDP's own map
says of that: ρ of zCDP for Gaussian noise and ε with δ = 0 for Laplace noise, both rounded up by
OpenDP.

The exact curve of discrete Gaussian noise
------------------------------------------
OpenDP's map knows zCDP alone for Gaussian noise, and (ε, δ) that follows from zCDP asks for 10 to
21 % more noise variance than the Gaussian curve. That curve holds for discrete noise, too, with a
slightly larger μ:

    p whole numbers that move by at most Δ in Euclidean norm, with independent discrete Gaussian
    noise of scale σ ≥ 1 on each, are μ-Gaussian-DP with μ = (Δ + 4√p)/σ.

*Proof.* (1) *A number.* Let Z be discrete Gaussian of scale σ, f(z) = exp(−z²/2σ²) and S = Σ f(z)
over the whole numbers; Poisson's formula gives S = √(2π) σ (1 + θ), 0 < θ < 3 exp(−2π²σ²). As f
falls on z ≥ 0, sums are between integrals, and for whole z ≥ 0
Q((z + 1)/σ)/(1 + θ) ≤ P(Z > z) ≤ Q(z/σ), Q the normal tail. By symmetry, for z ≤ −1,
Q((z + 1)/σ) ≤ P(Z > z) ≤ 1 − Q(−z/σ)/(1 + θ). The hazard of the normal law is at least √(2/π) at
and above 0, so Q(a + 1/σ) ≤ Q(a) exp(−√(2/π)/σ) ≤ Q(a)/(1 + θ) for a ≥ 0; with that
Q((z + 2)/σ) ≤ P(Z > z) ≤ Q((z − 1)/σ) for every whole z, and Q((t + 2)/σ) ≤ P(Z > t) ≤
Q((t − 2)/σ) for every real t. So Z and a normal X of standard deviation σ, drawn as the same
quantile of their laws, differ by at most 2.
(2) *A direction.* For numbers that move by d, ‖d‖ ≤ Δ, let T(t) = P(⟨Z, d⟩ > t). Coupling each
coordinate, |⟨Z, d⟩ − ⟨X, d⟩| ≤ 2 Σ|d_i| ≤ 2√p ‖d‖, where ⟨X, d⟩ is normal with standard deviation
σ‖d‖. Hence Q(t/(σ‖d‖) + r) ≤ T(t) ≤ Q(t/(σ‖d‖) − r), r = 2√p/σ.
(3) *The curve.* Normalisers of both laws are equal, because d is whole. The loss is
(⟨Z, d⟩ + ‖d‖²/2)/σ² under one and (⟨Z, d⟩ − ‖d‖²/2)/σ² under the other, so for every real ε and
m = ‖d‖/σ the smallest δ is (Canonne, Kamath and Steinke 2020, Theorem 7, in p dimensions)
T(εσ² − ‖d‖²/2) − e^ε T(εσ² + ‖d‖²/2) ≤ Q(ε/m − m/2 − r) − e^ε Q(ε/m + m/2 + r).
With μ = m + 2r the right side is P(N(μ/2, 1) > v) − e^ε P(N(−μ/2, 1) > v) at v = ε/m: the
advantage of one test between two normal laws at distance μ, so no more than that of the best one,
which is the Gaussian curve of μ. It rises with μ, and noise is symmetric, so it holds for both
directions and every ‖d‖ ≤ Δ. ∎

Messages that are chosen after seeing earlier ones then compose as Gaussian ones do: squares of μ
add (Dong, Roth and Su 2022, Theorem 3.2 and Corollary 3.3). Here Δ = c(1 + η)σ, and the lattice is
so fine that 4√p/σ ≤ 2ηc: what is proved is that of continuous noise but for 3η in μ.

Whole numbers
-------------
Counts need no lattice: they are whole numbers as they are, and OpenDP adds discrete Laplace noise
of scale b = 2/ε to them. One record moves them by at most 2 in sum of sizes, and what that costs is
again what OpenDP's map says, which rounding may put one unit in the last place above ε; b is then
raised until it does not.

OpenDP's constructors carry its "contrib" flag: not all of their proofs have been reviewed. The
library is imported on first use.

References
----------
Canonne, Kamath and Steinke (2020) for discrete Gaussian noise; Dong, Roth and Su (2022), Gaussian
differential privacy, Journal of the Royal Statistical Society B 84, 3–37; Ghosh, Roughgarden and
Sundararajan (2012) for discrete Laplace noise; Mironov (2012); Haney and others (2022),
arXiv 2207.13793.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from engine.core.arrays import Array
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError

ROOM = 2.0**-12  # η: what rounding may add to a sensitivity, as a share of it
_COARSEST, _FINEST = 20, 50  # k of the lattice 2^-k, in units of the noise
_ROUND_UP = 1 + 1e-14  # above the rounding of the few operations behind a μ
_MOVED = 2  # by how much one record moves all counts together
_MAX = 2.0**62  # whole numbers beyond which sums could overflow 64 bits


class ZeroGenerator:
    """Stands for a generator where a mechanism must add nothing: its noise comes from OpenDP.

    It knows the laws for which there is a hardened sampler, and answers with zeros. Whatever else
    is asked of it is refused, so that no release can mix in noise that is not hardened.
    """

    def spawn(self, n_children: int) -> list[ZeroGenerator]:
        """Children that give zeros, too."""
        return [ZeroGenerator() for _ in range(n_children)]

    def standard_normal(self, size: Any = None) -> Array:
        """Zeros: the normal noise is added by OpenDP afterwards."""
        return np.zeros(() if size is None else size)

    def laplace(self, size: Any = None) -> Array:
        """Zeros: the Laplace noise is added by OpenDP afterwards."""
        return np.zeros(() if size is None else size)

    def __getattr__(self, law: str) -> Any:
        if law.startswith("__"):
            raise AttributeError(law)
        raise InputError(
            f"This method draws “{law.replace('_', ' ')}” noise, for which there is "
            "no hardened sampler.",
            field="mechanism",
            hint="It can be looked at, not published. Choose another method.",
        )


@dataclass(frozen=True)
class LatticeNoise:
    """Discrete noise on numbers that one record moves by a stated distance at most.

    Call it with the numbers, in units of their noise, to draw; every call is a release of its own.

    Raises
    ------
    InputError
        If the noise is so large that no lattice of 64-bit numbers is fine enough.

    Examples
    --------
    >>> release = LatticeNoise("gaussian", sensitivity=0.5, size=3)
    >>> round(release.mu, 3), release(np.zeros(3)).shape
    (0.5, (3,))
    """

    law: NoiseLaw
    # how far one record moves the numbers, in units of the noise: its standard deviation and the
    # Euclidean norm, or its scale and the sum of sizes
    sensitivity: float
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", NoiseLaw.named(self.law, "law"))
        if not (0 < self.sensitivity < math.inf and self.bits <= _FINEST):
            raise InputError(
                "Noise of this size cannot be drawn on a lattice.",
                field="epsilon",
                hint="Choose an ε between 0.05 and 10.",
            )

    @property
    def name(self) -> str:
        """Name for people to read."""
        return f"discrete {self.law.capitalize()}"

    @property
    def is_pure(self) -> bool:
        """True if `cost` is an ε that holds with δ = 0; else it is a ρ."""
        return self.law is NoiseLaw.LAPLACE

    def unit(self, deviation: Array) -> Array:
        """The unit of the noise, of numbers whose noise has these standard deviations."""
        return deviation / math.sqrt(2) if self.law is NoiseLaw.LAPLACE else deviation

    @property
    def bits(self) -> int:
        """k: the lattice is 2^-k, in units of the noise."""
        added = 2 * (math.sqrt(self.size) if self.law is NoiseLaw.GAUSSIAN else self.size) + 1
        return max(_COARSEST, math.ceil(math.log2(added / (ROOM * self.sensitivity))))

    @cached_property
    def cost(self) -> float:
        """Charge of OpenDP's map: ρ for Gaussian noise, ε for Laplace noise."""
        shift = self.sensitivity * (1 + ROOM) * 2.0**self.bits
        noise = _discrete_noise(self.law, self.bits)
        return float(noise.map(shift if self.law is NoiseLaw.GAUSSIAN else math.ceil(shift)))

    @property
    def mu(self) -> float:
        """μ of Gaussian differential privacy, as proved above, rounded up; Gaussian noise only."""
        if self.law is not NoiseLaw.GAUSSIAN:
            raise InputError("Laplace noise has an ε of its own, and no μ.", field="noise")
        coupled = 4 * math.sqrt(self.size) * 2.0**-self.bits
        return (self.sensitivity * (1 + ROOM) + coupled) * _ROUND_UP

    def whole(self, values: Array) -> list[int]:
        """Numbers in units of their noise as whole multiples of the lattice, in row order.

        An `ArithmeticError` if one is missing or so large that sums could overflow 64 bits.
        """
        scaled = np.rint(np.ravel(values) * 2.0**self.bits)
        if not (np.abs(scaled) < _MAX).all():  # NaN, too
            raise ArithmeticError("what is to be sent is not a number of moderate size")
        return [int(multiple) for multiple in scaled]

    def __call__(self, values: Array) -> Array:
        """The numbers with noise, multiples of 2^-k, in their shape."""
        noisy = _discrete_noise(self.law, self.bits)(self.whole(values))
        return np.array(noisy, dtype=float).reshape(np.shape(values)) * 2.0**-self.bits


@dataclass(frozen=True)
class CountNoise:
    """Discrete Laplace noise on whole numbers that one record moves by 2 at most, in sum of sizes.

    Call it with the numbers to draw; every call is a release of its own.

    Raises
    ------
    InputError
        If ε is not positive and finite.

    Examples
    --------
    >>> noise = CountNoise(1.0, 3)
    >>> noise.cost, noise.scale, (noise(np.array([4.0, 0.0, 7.0])) % 1).tolist()
    (1.0, 2.0, [0.0, 0.0, 0.0])
    """

    epsilon: float  # ε: twice the inverse of the scale
    size: int
    law = NoiseLaw.DISCRETE_LAPLACE
    name = "discrete Laplace"
    is_pure = True
    bits = 0

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise InputError(
                "Noise of this size cannot be drawn.",
                field="epsilon",
                hint="Choose an ε between 0.05 and 10.",
            )

    def unit(self, deviation: Array) -> Array:
        """1 where there is noise: whole numbers stay as they are."""
        return np.sign(deviation)

    @cached_property
    def scale(self) -> float:
        """b, as small as OpenDP's map allows at this ε."""
        scale = _MOVED / self.epsilon
        while float(count_noise(scale).map(_MOVED)) > self.epsilon:
            scale = math.nextafter(scale, math.inf)
        return scale

    @property
    def sensitivity(self) -> float:
        """Largest move of the numbers by one record, in units of the scale 2/ε: ε."""
        return self.epsilon

    @property
    def cost(self) -> float:
        """ε by OpenDP's map."""
        return float(count_noise(self.scale).map(_MOVED))

    @property
    def mu(self) -> float:
        """Refuse: there is none, as the noise is not Gaussian."""
        raise InputError("Laplace noise has an ε of its own, and no μ.", field="noise")

    def __call__(self, values: Array) -> Array:
        """The numbers with noise, whole again, in their shape; see `whole`."""
        noisy = count_noise(self.scale)(self.whole(values))
        return np.array(noisy, dtype=float).reshape(np.shape(values))

    def whole(self, values: Array) -> list[int]:
        """Counts as whole numbers; an `ArithmeticError` if not whole or too large to sum."""
        whole = np.rint(np.ravel(values))
        if not ((np.abs(whole) < _MAX) & (whole == np.ravel(values))).all():
            raise ArithmeticError("what is to be sent is not a whole number of moderate size")
        return [int(number) for number in whole]


@lru_cache(maxsize=64)
def count_noise(scale: float) -> Any:
    """OpenDP's measurement: discrete Laplace noise of this scale on a vector of whole numbers."""
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)


HardenedNoise = LatticeNoise | CountNoise


@lru_cache(maxsize=64)
def _discrete_noise(law: NoiseLaw, bits: int) -> Any:
    """OpenDP's measurement: discrete noise of scale 2^bits on a vector of whole numbers."""
    if law is NoiseLaw.GAUSSIAN:
        return discrete_gaussian(2.0**bits)
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=2.0**bits)


@lru_cache(maxsize=64)
def discrete_gaussian(scale: float) -> Any:
    """OpenDP's measurement: discrete Gaussian noise of this scale on a vector of whole numbers."""
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)


def library() -> str:
    """Name and version of the library that draws."""
    return f"OpenDP {version('opendp')}"


@lru_cache(maxsize=1)
def opendp() -> Any:
    """OpenDP with its contributed parts, loaded on first use: it takes a moment."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp
