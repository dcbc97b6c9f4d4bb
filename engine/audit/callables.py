"""A lower bound on ε for any mechanism that can be called: nothing is known of it but its outputs.

Many releases of two neighbouring data sets are told apart by a test that is fitted to a fifth of
them. On the others its hits and false alarms are counted, and

    ε ≥ log((hits − δ)/false alarms)

holds with lower Clopper–Pearson limits of hits and upper ones of false alarms, whatever the test. A
mechanism is caught where the bound that is wrong once in five thousand times exceeds what it
claims. A bound below the claim proves nothing: other data, or more releases, may show more.

References
----------
Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning; Nasr and
others (2023), Tight auditing of differentially private machine learning.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from engine.audit.black_box import CERTAIN, CERTAINTY, CONFIDENCE, SHOWN, bound_of_outputs
from engine.core.errors import InputError
from engine.core.typed import Within, checked
from engine.core.types import Array


@dataclass(frozen=True)
class Attack:
    """Evidence from releases of two neighbouring data sets."""

    epsilon: float
    delta: float
    bound: float  # ε is at least this with 95 % confidence
    certain: float  # and at least this with 99.98 % confidence
    runs: int

    @property
    def is_broken(self) -> bool:
        """True if the claim is refuted beyond doubt."""
        return self.certain > self.epsilon * (1 + 1e-6)

    def __str__(self) -> str:
        """One sentence for a person, as a failing test shows it."""
        level, bound = (CERTAINTY, self.certain) if self.is_broken else (CONFIDENCE, self.bound)
        verdict = "broken" if self.is_broken else "not broken"
        return (
            f"{verdict}: claims ε = {self.epsilon:g} at δ = {self.delta:g}; {self.runs:,} "
            f"releases of each data set show ε ≥ {bound:.3g} with {100 * level:g} % confidence"
        )


@checked
def attack(
    mechanism: Callable[..., Any],
    data: Any,
    neighbour: Any,
    epsilon: Annotated[float, Within(0, math.inf)],
    delta: Annotated[float, Within(0, 1 - 2**-53)] = 0.0,
    *,
    runs: Annotated[int, Within(100, 10_000_000)] = 10_000,
    seed: int = 1,
    at_once: bool = False,
) -> Attack:
    """Try to refute that a mechanism is (ε, δ)-differentially private on two data sets.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data, rng)` releases once: a number or an array, always of the same shape. A
        mechanism with noise of its own may ignore the generator.
    data, neighbour : object
        Two data sets that differ in one record, as the mechanism takes them. The further apart
        their results, the more is found.
    runs : int
        Releases of each data set: bounds beyond log(runs) cannot be shown.
    at_once : bool
        Whether the mechanism is `mechanism(data, rng, runs)` and returns (runs, …).

    Returns
    -------
    Attack
        Its `bound`, and whether the claim `is_broken`.

    Raises
    ------
    InputError
        If the claim or the number of releases is out of range, or releases differ in shape.

    Examples
    --------
    >>> def mean(ages, rng):  # noise for one of 100 people, who are said to be one of 1000
    ...     return np.mean(ages) + rng.laplace(scale=100 / 1000)
    >>> found = attack(mean, [0.0] * 100, [0.0] * 99 + [100.0], epsilon=1.0, runs=2000)
    >>> found.is_broken, found.bound > 3
    (True, True)
    """
    streams = np.random.default_rng(seed).spawn(2)
    first, second = (
        _released(mechanism, each, runs, rng, at_once)
        for each, rng in zip((data, neighbour), streams, strict=True)
    )
    if first.shape != second.shape:
        raise InputError(
            "The mechanism releases different numbers of values for the two data sets.",
            field="mechanism",
            hint="Release the same number of values always: how many there are gives data away.",
        )
    bound, certain = (bound_of_outputs(first, second, delta, level) for level in (SHOWN, CERTAIN))
    return Attack(epsilon, delta, bound, certain, runs)


def _released(
    mechanism: Callable[..., Any], data: Any, runs: int, rng: np.random.Generator, at_once: bool
) -> Array:
    """Outputs (runs, numbers)."""
    released = (
        mechanism(data, rng, runs) if at_once else [mechanism(data, rng) for _ in range(runs)]
    )
    try:
        outputs = np.asarray(released, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "Releases of one data set differ in shape, or are no numbers.",
            field="mechanism",
            hint="Release an array of numbers of one shape.",
        ) from None
    if outputs.shape[:1] != (runs,):
        raise InputError(
            f"With “at_once” the mechanism must return {runs} releases.", field="at_once"
        )
    return outputs.reshape(runs, -1)
