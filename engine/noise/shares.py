"""Noise in shares: every site adds a part, and only the sum of all their messages can be read.

The sum has about as much noise as one trusted centre would add, and no site and no centre sees a
number with less. S sites take part; the people of each are protected as long as S′ of them add
their share and keep it to themselves. What the others and the centre know together is the sum less
their own shares: it has the noise of S′ shares, and that is what is charged.

Gaussian noise
--------------
A share is discrete Gaussian of scale s on the lattice (`engine.noise.hardened`), s = 2^k/√S
rounded up. Sums of discrete Gaussians are not discrete Gaussian, but so close that it cannot be
seen:

    for whole z, P(Z₁ + … + Z_n = z) and P(Z = z), Z discrete Gaussian of scale √n s, have a ratio
    between e^{−τ} and e^{τ}, τ = 10 Σ_{k=1}^{n−1} exp(−2π² s² k/(k + 1)).

*Proof.* Let X, Y be discrete Gaussian of scales a, b ≥ 1 and 1/c² = 1/a² + 1/b². Completing the
square, P(X + Y = z) = exp(−z²/2(a² + b²)) Σ_x exp(−(x − v)²/2c²)/(N_a N_b), v = z a²/(a² + b²).
By Poisson's formula the sum is √(2π) c (1 + θ), |θ| ≤ 3 exp(−2π²c²), for every real v, and each
normaliser N is that of the continuous law times 1 + θ′ with 0 < θ′ < 3 exp(−2π²c²), as a, b ≥ c.
The ratio to a discrete Gaussian of scale √(a² + b²) is (1 + θ)(1 + θ″)/((1 + θ′)(1 + θ‴)), so its
logarithm is at most 10 exp(−2π²c²) in size where that is at most ½. Adding one share after another,
the k-th has c² = s² k/(k + 1), and convolution keeps ratios. ∎ (Kairouz, Liu and Steinke 2021 have
a bound of the same form, and what follows for zero-concentrated differential privacy: sums of n
shares of p numbers that move by at most Δ in norm have ρ = ½(Δ/(√n s) + τ√p)².)

A whole run differs from one with discrete Gaussian noise of scale √S′ s by e^{±t} in the
probability of anything, t the sum of τp over messages. If that run is (ε, δ)-private, this one is
(ε + 2t, e^t δ)-private. The lattice is so fine that s > 2¹⁰, so t < 2^{−10⁶}: δ is lowered by
2⁻⁴⁰ and ε raised by a unit in the last place, which is more.

Counts
------
Discrete Laplace noise is the difference of two geometric variables, and a geometric variable is the
sum of n independent negative binomial ones of shape 1/n. So S′ shares, each the difference of two
negative binomial variables of shape 1/S′, sum to discrete Laplace noise *exactly*, and ε is as of
one centre with that noise; the further shares are independent of it and change nothing. δ = 0. They
are drawn exactly: a geometric variable k, which is OpenDP's discrete Laplace noise where that is
not negative, is taken with probability Π_{j=1}^{k} (j − 1 + r)/j, r = 1/S′, in whole numbers from
the operating system.

References
----------
Kairouz, Liu and Steinke (2021), The distributed discrete Gaussian mechanism for federated learning
with secure aggregation, ICML, Theorem 1 and Section 3. Goryczka and Xiong (2017), IEEE Transactions
on Dependable and Secure Computing 14, 463–477, for negative binomial shares.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.arrays import Array
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.noise.hardened import (
    ROOM,
    CountNoise,
    HardenedNoise,
    LatticeNoise,
    count_noise,
    discrete_gaussian,
)

LOWER_DELTA = 1 - 2.0**-40  # what is left of δ for the distance of a sum from discrete Gaussian
_ROUND_UP = 1 + 1e-13
_MOVED = 2  # by how much one record moves all counts together
_BATCH = 4096  # geometric variables drawn at once


@dataclass(frozen=True)
class Shares:
    """Parties that add noise, and how many of them are relied on.

    Raises
    ------
    InputError
        Unless 1 ≤ S′ < S: a site knows its own share, so of all S none is protected from it.
    """

    sites: int  # S: all that take part
    # S′: as many shares protect everybody, whatever the other sites and the centre know
    honest: int

    def __post_init__(self) -> None:
        if not 1 <= self.honest < self.sites:
            raise InputError(
                f"Of {self.sites} sites 1 to {self.sites - 1} can be relied on; got {self.honest}.",
                field="honest",
                hint="A site knows its own share of the noise, so one of them at "
                "least must not be counted.",
            )

    @property
    def more_noise(self) -> float:
        """S/S′: by how much the variance of noise is larger than at a trusted centre."""
        return self.sites / self.honest

    def of(self, noise: HardenedNoise) -> HardenedNoise:
        """The same noise in shares."""
        if isinstance(noise, CountNoise):
            return CountShares(noise.epsilon, noise.size, self)
        if noise.law is not NoiseLaw.GAUSSIAN:
            raise InputError(
                "Laplace noise on numbers that are no counts is not drawn in shares.",
                field="mechanism",
                hint="State a δ above 0 for every site.",
            )
        return LatticeShares(noise.law, noise.sensitivity, noise.size, self)


@dataclass(frozen=True)
class LatticeShares(LatticeNoise):
    """Discrete Gaussian noise that S sites add; `sensitivity` in units of the noise of their sum.

    Call it to draw the noise of all at once, as a simulation does.

    Examples
    --------
    >>> noise = LatticeShares("gaussian", 0.5, 3, Shares(20, 19))
    >>> round(noise.mu / 0.5, 3), len(noise.share(np.zeros(3)))
    (1.026, 3)
    """

    shares: Shares

    @property
    def share_scale(self) -> int:
        """s, in steps of the lattice."""
        return math.ceil(2.0**self.bits / math.sqrt(self.shares.sites))

    @property
    def _left(self) -> float:
        """√S′ s: the scale of what protects from all others together."""
        return math.sqrt(self.shares.honest) * self.share_scale

    @cached_property
    def cost(self) -> float:
        """ρ of what S′ shares leave, by the bound of Kairouz, Liu and Steinke."""
        tau = 10 * (self.shares.honest - 1) * math.exp(-((math.pi * self.share_scale) ** 2))
        shift = self.sensitivity * (1 + ROOM) * 2.0**self.bits
        moved = shift / self._left + tau * math.sqrt(self.size)
        return moved**2 / 2 * _ROUND_UP

    @property
    def mu(self) -> float:
        """μ of discrete Gaussian noise of scale √S′ s; see the module for how far it is from it."""
        return super().mu * 2.0**self.bits / self._left * _ROUND_UP

    def share(self, values: Array) -> list[int]:
        """Numbers of one site with its share of the noise, as whole multiples of the lattice."""
        return self._added(self.whole(values))

    def _added(self, whole: list[int]) -> list[int]:
        return [int(number) for number in discrete_gaussian(float(self.share_scale))(whole)]

    def __call__(self, values: Array) -> Array:
        """The numbers with all shares, multiples of 2^-k, in their shape."""
        whole = self.whole(values)
        for _ in range(self.shares.sites):
            whole = self._added(whole)
        return np.array(whole, dtype=float).reshape(np.shape(values)) * 2.0**-self.bits


@dataclass(frozen=True)
class CountShares(CountNoise):
    """Noise on counts that S sites add; `epsilon` is that of one centre with as much noise as all.

    Call it to draw the noise of all at once, as a simulation does.

    Examples
    --------
    >>> noise = CountShares(1.0, 3, Shares(20, 19))
    >>> 1.0 < noise.cost < 1.03, len(noise.share(np.zeros(3)))
    (True, 3)
    """

    shares: Shares

    @cached_property
    def scale(self) -> float:
        """The b of the discrete Laplace noise that S′ shares sum to.

        S shares have the variance of discrete Laplace noise of scale 2/`epsilon`: ½ sinh⁻²(1/2b) is
        the variance of scale b, and n shares have n/S′ of it.
        """
        ratio = math.sqrt(self.shares.more_noise)
        return 0.5 / math.asinh(math.sinh(self.epsilon / (2 * _MOVED)) * ratio)

    @property
    def cost(self) -> float:
        """ε of what S′ shares leave, by OpenDP's map of that noise."""
        return float(count_noise(self.scale).map(_MOVED))

    def share(self, values: Array) -> list[int]:
        """Counts of one site with its share of the noise."""
        up, down = (
            _negative_binomials(self.scale, self.shares.honest, self.size) for _ in range(2)
        )
        return [
            count + more - less
            for count, more, less in zip(self.whole(values), up, down, strict=True)
        ]

    def __call__(self, values: Array) -> Array:
        """The counts with all shares, in their shape."""
        whole = np.ravel(values)
        for _ in range(self.shares.sites):
            whole = np.array(self.share(whole), dtype=float)
        return whole.reshape(np.shape(values))


def _negative_binomials(scale: float, honest: int, n: int) -> list[int]:
    """Exact draws with P(k) ∝ e^{−k/b} Π_{j=1}^{k} (j − 1 + 1/S′)/j."""
    accepted: list[int] = []
    while len(accepted) < n:
        drawn = count_noise(scale)([0] * _BATCH)
        accepted += [
            k
            for k in drawn
            if k >= 0
            and all(secrets.randbelow(j * honest) < (j - 1) * honest + 1 for j in range(1, k + 1))
        ]
    return accepted[:n]
