"""Largest possible noise, after a test has distinguished two data sets so often.

The shape of the noise is taken as it is stated, its size is not: were all of it t times weaker, a
test could at best do so well, and the least t that allows what was seen is a lower bound. For
Gaussian noise that is μ = Φ⁻¹(hits) − Φ⁻¹(false alarms), or 2 Φ⁻¹(p) where guesses between the two
data sets are right with chance p, whatever the number of messages. For Laplace noise and bits the
losses of all numbers are added here, on a grid and rounded up, so that t is never too large.

References
----------
Dong, Roth and Su (2022); Koskela, Jälkö and Honkela (2020) for the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaincinv, gammaincinv

from engine.core.types import Array

_STEPS = 16384  # of the grid over half the range of the summed loss
_MAX_PARTS, _MAX_GROUPS = 48, 16  # small ones are put together, which a test can only gain from
_LENGTHS, _ANGLES = 300, 200  # of a grid over vectors
_HALVINGS, _FACTOR = 11, 4.0  # of t between 1/4 and 4, the latter in fine steps


@dataclass(frozen=True, eq=False)
class LossParts:
    """Losses of one pair, in ε."""

    moved: Array  # (k,): of each number with Laplace noise
    bits: Array  # (k,): of each bit
    # tuple of (float, int): of those with density exp(−‖z‖), with how many numbers
    vectors: tuple[tuple[float, int], ...] = ()

    def power(self, alarms: float, weaker: float = 1.0) -> float:
        """The most hits of any test with these false alarms."""
        law, step = self._law(weaker)
        return _power(law, step, alarms)

    def right(self, weaker: float = 1.0) -> float:
        """Compute the share of right best guesses if a coin decides between the data sets."""
        law, step = self._law(weaker)
        losses = step * np.maximum(_around_zero(len(law)), 0.0)
        return float((1 - (law * np.expm1(-losses)).sum()) / 2)

    def weakest(self, is_explained: Callable[[float], bool]) -> float:
        """Find the largest t at which what was seen is not explained; 0 if any noise explains it.

        `is_explained` says if noise that is t times weaker explains it.
        """
        low, high = 1 / _FACTOR, _FACTOR
        if is_explained(low):
            return 0.0
        for _ in range(_HALVINGS):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if is_explained(middle) else (middle, high)
        return low

    def _law(self, weaker: float) -> tuple[Array, float]:
        """Chances of the summed loss on a grid around 0, and the step of the grid."""
        moved, bits = (weaker * _few(sizes) for sizes in (self.moved, self.bits))
        vectors = [(weaker * size, numbers) for size, numbers in self.vectors if size > 0]
        total = moved.sum() + bits.sum() + sum(size for size, _ in vectors)
        if total == 0:
            return np.ones(1), 0.0
        step = total / _STEPS
        laws = [
            (make(size, step), count)
            for make, sizes in ((_of_laplace, moved), (_of_bit, bits))
            for size, count in zip(*np.unique(sizes, return_counts=True), strict=True)
        ]
        laws += [(_of_vector(size, numbers, step), 1) for size, numbers in vectors]
        return _added(laws), step


def _few(sizes: Array) -> Array:
    """The largest sizes, and what is left in sums: numbers that move together lose no less."""
    ordered = np.sort(sizes[sizes > 0])[::-1]
    if len(ordered) <= _MAX_PARTS:
        return ordered
    largest, left = ordered[:_MAX_PARTS], ordered[_MAX_PARTS:]
    groups = np.array_split(left, min(_MAX_GROUPS, len(left)))
    return np.concatenate([largest, [group.sum() for group in groups]])


def _of_laplace(size: float, step: float) -> Array:
    """Chances of losses −K … K in steps, rounded up; P(loss ≤ l) = e^{(l − size)/2}/2 within."""
    n_steps = int(np.ceil(size / step))
    ends = np.arange(-n_steps - 1, n_steps + 1) * step
    below = np.where(ends < -size, 0.0, np.exp((np.minimum(ends, size) - size) / 2) / 2)
    below[-1] = 1.0
    return np.diff(below)


def _of_bit(size: float, step: float) -> Array:
    n_steps = int(np.ceil(size / step))
    chances = np.zeros(2 * n_steps + 1)
    chances[-1] = 1 / (1 + np.exp(-size))
    chances[n_steps - int(size / step)] += 1 - chances[-1]
    return chances


def _of_vector(size: float, numbers: int, step: float) -> Array:
    """‖z − θ‖ − ‖z‖ on a grid of quantiles of ‖z‖, a Gamma variable, and of the angle."""
    if numbers == 1:
        return _of_laplace(size, step)
    length = gammaincinv(numbers, (np.arange(_LENGTHS)[:, None] + 0.5) / _LENGTHS)
    cosine = 2 * _middles((numbers - 1) / 2) - 1
    loss = np.sqrt(length**2 - 2 * length * size * cosine + size**2) - length
    n_steps = int(np.ceil(size / step))
    places = np.clip(np.ceil(loss / step).astype(int), -n_steps, n_steps) + n_steps
    return np.asarray(np.bincount(places.ravel(), minlength=2 * n_steps + 1) / places.size)


@lru_cache(maxsize=64)
def _middles(shape: float) -> Array:
    """Quantiles of a symmetric Beta variable."""
    return np.asarray(betaincinv(shape, shape, (np.arange(_ANGLES) + 0.5) / _ANGLES))


def _added(laws: list[tuple[Array, int]]) -> Array:
    """The law of the sum of independent losses, each there so many times."""
    size = sum(count * (len(law) - 1) for law, count in laws) + 1
    fast = next_fast_len(size, real=True)
    product = np.ones(fast // 2 + 1, dtype=complex)
    for law, count in laws:
        product *= rfft(law, fast) ** count
    return np.asarray(np.maximum(irfft(product, fast)[:size], 0.0))


def _power(chances: Array, step: float, alarms: float) -> float:
    """Hits of the best test with these false alarms, which come with odds e^−loss."""
    losses = step * _around_zero(len(chances))[::-1]
    hits = np.concatenate([[0.0], np.cumsum(chances[::-1])])
    wrong = np.concatenate([[0.0], np.cumsum(chances[::-1] * np.exp(-losses))])
    return float(np.interp(alarms, wrong, hits, right=1.0))


def _around_zero(count: int) -> Array:
    return np.arange(float(count)) - (count - 1) / 2
