"""The laws of noise as the audit meets them: what a shift loses, and which data set is likelier.

Where a law and the size of the noise are known, the loss of a shift stands in closed form:

    Gaussian noise          μ = ‖shift/σ‖₂
    Laplace noise           ε = Σ |shift|/b, of continuous and of whole numbers
    density ∝ exp(−‖z‖/s)   ε = ‖shift‖₂/s
    bits turned round       ε = log((1 − p)/p) for each bit that differs

A new law is a class here, and its place in `AUDITED`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array


class LargestLosses(NamedTuple):
    """The largest losses of the parts of a message, in ε."""

    # numbers, bits, each (k,): of single ones
    numbers: Array = np.zeros(0)
    bits: Array = np.zeros(0)
    vectors: Array = np.zeros((0, 2))  # (k, 2): those of vectors, with how many numbers each has


class AuditedLaw(ABC):
    """A law of noise whose losses and log-likelihood ratios are known."""

    law: ClassVar[NoiseLaw]
    # whether the loss of a shift grows with its Euclidean length; else with the sum of its sizes
    is_euclidean: ClassVar[bool] = False

    @abstractmethod
    def loss(self, units: Array, spread: Array) -> Array:
        """Losses of shifts (pairs, ways, numbers) in standard deviations: (pairs, ways).

        The spread, those deviations, matters for bits and counts alone.
        """

    def score(self, shift: Array, rest: Array) -> Array:
        """Compute log-likelihood ratios of moved noise; by log-density −Σ √2 |z_j| unless stated.

        `shift` and `rest` (draws or 1, numbers) are in standard deviations: by how much the other
        data set moves what was sent, and the noise that was heard if it was not moved.
        """
        return np.asarray(math.sqrt(2) * (np.abs(rest) - np.abs(rest - shift)).sum(axis=1))

    def largest(self, shift: Array, spread: Array) -> LargestLosses:
        """The largest losses of the parts of a message, by which they add to those of others."""
        raise ValueError(f"nothing tells how losses of {self.law!r} noise add")


class _Gaussian(AuditedLaw):
    law, is_euclidean = NoiseLaw.GAUSSIAN, True

    def loss(self, units: Array, spread: Array) -> Array:
        return np.asarray(np.linalg.norm(units, axis=-1))

    def score(self, shift: Array, rest: Array) -> Array:
        return np.asarray((rest * shift).sum(axis=1) - (shift**2).sum(axis=1) / 2)


class _Norm(AuditedLaw):
    """Density ∝ exp(−‖z‖) of r numbers, with E‖z‖² = r(r + 1)."""

    law, is_euclidean = NoiseLaw.NORM, True

    def loss(self, units: Array, spread: Array) -> Array:
        return np.asarray(np.linalg.norm(units, axis=-1) * math.sqrt(units.shape[-1] + 1))

    def score(self, shift: Array, rest: Array) -> Array:
        size = math.sqrt(rest.shape[1] + 1)
        return np.asarray(
            size * (np.linalg.norm(rest, axis=1) - np.linalg.norm(rest - shift, axis=1))
        )

    def largest(self, shift: Array, spread: Array) -> LargestLosses:
        largest_loss = self.loss(shift[:, None], spread).max()
        return LargestLosses(vectors=np.array([[largest_loss, shift.shape[1]]]))


class _Laplace(AuditedLaw):
    law = NoiseLaw.LAPLACE

    def loss(self, units: Array, spread: Array) -> Array:
        return np.asarray(np.abs(units).sum(axis=-1) * math.sqrt(2))

    def largest(self, shift: Array, spread: Array) -> LargestLosses:
        return LargestLosses(numbers=math.sqrt(2) * np.abs(shift).max(axis=0))


class _DiscreteLaplace(AuditedLaw):
    """Law of scale b, variance 1/(2 sinh²(1/2b)); scored up to one factor, as it has one scale.

    A count that moves by one step is told apart like a bit of the same loss: its ratio of chances
    has two values. One that moves further is told apart no better than such a bit.
    """

    law = NoiseLaw.DISCRETE_LAPLACE

    def loss(self, units: Array, spread: Array) -> Array:
        return np.asarray(self._each(units, spread).sum(axis=-1))

    def largest(self, shift: Array, spread: Array) -> LargestLosses:
        return LargestLosses(bits=self._each(shift, spread).max(axis=0))

    def _each(self, units: Array, spread: Array) -> Array:
        """Losses of single counts."""
        rate = 2 * np.arcsinh(1 / (math.sqrt(2) * np.maximum(spread, 1e-300)))
        return np.asarray(np.abs(units) * spread * rate)


class _Bits(AuditedLaw):
    """A bit that differs is 2 apart, its deviation 2√(p(1 − p)).

    Scored up to a factor for each: a bit is where it was, or two apart.
    """

    law = NoiseLaw.BITS

    def loss(self, units: Array, spread: Array) -> Array:
        chance = (1 - np.sqrt(np.maximum(1 - spread**2, 0.0))) / 2
        return np.asarray((np.abs(units) * spread / 2 * np.log((1 - chance) / chance)).sum(axis=-1))

    def largest(self, shift: Array, spread: Array) -> LargestLosses:
        each = [
            self.loss(shift[:, None, k : k + 1], spread[:, k : k + 1])[:, 0].max()
            for k in range(shift.shape[1])
        ]
        return LargestLosses(bits=np.array(each))


AUDITED: dict[NoiseLaw, AuditedLaw] = {
    each.law: each for each in (_Gaussian(), _Norm(), _Laplace(), _DiscreteLaplace(), _Bits())
}


def audited(law: NoiseLaw) -> AuditedLaw:
    """A law whose loss is known; no other may be taken for it.

    Examples
    --------
    >>> audited(NoiseLaw.GAUSSIAN).loss(np.array([[[3.0, 4.0]]]), np.ones((1, 1, 2)))
    array([[5.]])
    """
    if law not in AUDITED:
        raise ValueError(f"no loss is known of {law!r} noise")
    return AUDITED[law]
