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
most γ/2 on both sides, and sums in floating point by far less than another γ; so the whole numbers
move by at most c/γ + 2√p, or c/γ + 2p. The lattice is taken so fine that this is no more than
c(1 + η)/γ with η = 2^-12, and what a release costs is what OpenDP's own map says of that: ρ of zCDP
for Gaussian noise and ε with δ = 0 for Laplace noise, both rounded up by OpenDP.

OpenDP's constructors carry its "contrib" flag: not all of their proofs have been reviewed. The
library is imported on first use.

References
----------
Canonne, Kamath and Steinke (2020) for discrete Gaussian noise; Ghosh, Roughgarden and Sundararajan
(2012) for discrete Laplace noise; Mironov (2012); Haney and others (2022), arXiv 2207.13793.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.types import Array

ROOM = 2.0**-12  # η: what rounding may add to a sensitivity, as a share of it
_COARSEST, _FINEST = 20, 50  # k of the lattice 2^-k, in units of the noise
_MOST = 2.0**62  # whole numbers beyond which sums could overflow 64 bits


class Quiet:
    """Stands for a generator where a mechanism must add nothing: its noise comes from OpenDP.

    It knows the laws for which there is a hardened sampler, and answers with zeros. Whatever else
    is asked of it is refused, so that no release can mix in noise that is not hardened.
    """

    def spawn(self, n_children: int) -> list[Quiet]:
        return [Quiet() for _ in range(n_children)]

    def standard_normal(self, size: Any = None) -> Array:
        return np.zeros(() if size is None else size)

    def laplace(self, size: Any = None) -> Array:
        return np.zeros(() if size is None else size)

    def __getattr__(self, law: str) -> Any:
        if law.startswith("__"):
            raise AttributeError(law)
        raise InputError(f"This method draws “{law.replace('_', ' ')}” noise, for which there is "
                         "no hardened sampler.", field="mechanism",
                         hint="It can be looked at, not published. Choose another method.")


@dataclass(frozen=True)
class Measurement:
    """Discrete noise on `size` numbers that one record moves by at most `most`.

    `law` is "gaussian" or "laplace"; `most` is in units of the noise: its standard deviation and
    the Euclidean norm, or its scale and the sum of sizes.

    Raises
    ------
    InputError
        If the noise is so large that no lattice of 64-bit numbers is fine enough.
    """

    law: str
    most: float
    size: int

    def __post_init__(self) -> None:
        if not (0 < self.most < math.inf and self.bits <= _FINEST):
            raise InputError("Noise of this size cannot be drawn on a lattice.", field="epsilon",
                             hint="Choose an ε between 0.05 and 10.")

    @property
    def bits(self) -> int:
        """k: the lattice is 2^-k, in units of the noise."""
        added = 2 * (math.sqrt(self.size) if self.law == "gaussian" else self.size) + 1
        return max(_COARSEST, math.ceil(math.log2(added / (ROOM * self.most))))

    @cached_property
    def cost(self) -> float:
        """What OpenDP's map charges: ρ for Gaussian noise, ε for Laplace noise."""
        shift = self.most * (1 + ROOM) * 2.0**self.bits
        made = _made(self.law, self.bits)
        return float(made.map(shift if self.law == "gaussian" else math.ceil(shift)))

    def whole(self, values: Array) -> list[int]:
        """Numbers in units of their noise as whole multiples of the lattice."""
        scaled = np.rint(np.ravel(values) * 2.0**self.bits)
        if not (np.abs(scaled) < _MOST).all():  # NaN, too
            raise ArithmeticError("what is to be sent is not a number of moderate size")
        return [int(one) for one in scaled]

    def __call__(self, values: Array) -> Array:
        """The numbers with noise, multiples of 2^-k, in their shape."""
        noisy = _made(self.law, self.bits)(self.whole(values))
        return np.array(noisy, dtype=float).reshape(np.shape(values)) * 2.0**-self.bits


@lru_cache(maxsize=64)
def _made(law: str, bits: int) -> Any:
    """OpenDP's measurement: discrete noise of scale 2^bits on a vector of whole numbers."""
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=2.0**bits)
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=2.0**bits)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """ε at δ of ρ-zCDP, by OpenDP: that of one discrete Gaussian with this ρ, rounded up."""
    converted = _opendp().c.make_zCDP_to_approxDP(_made("gaussian", _COARSEST))
    shift = math.sqrt(2 * rho) * 2.0**_COARSEST * (1 + 1e-12)
    return float(converted.map(shift).epsilon(delta=delta)) * (1 + 1e-12)


def library() -> str:
    """Name and version of the library that draws."""
    return f"OpenDP {version('opendp')}"


@lru_cache(maxsize=1)
def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp
