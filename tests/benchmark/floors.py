"""The floor of a study: its random numbers and its passes over memory, at this machine's rates.

A study in NumPy draws numbers, passes over arrays and multiplies matrices. How much of each it must
do follows from its sizes; how long one of each takes is measured in the same process, in turn with
the study. Their sum is what the study would take if calls, copies, planning and small arrays cost
nothing. Arithmetic within a pass costs nothing beside reading and writing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from statistics import median

import numpy as np

# Bytes of a pass over numbers of eight bytes.
READ = 8  # a sum
PRODUCT = 16  # a sum of products
CHANGE = 16  # by a constant, or by numbers that stay in cache
PASS = 24  # two arrays into a third

_BLOCK, _LARGE = 50_000, 1_000_000  # numbers of an array
_PASSES = 200  # so that the first, which brings arrays into the cache, counts for little
_SIDE = 500  # of a matrix
_RUNS, _ROUNDS = 5, 7


@dataclass(frozen=True)
class Work:
    """What a study cannot do without.

    Parameters
    ----------
    uniforms, normals, gumbels : float
        Random numbers of each kind.
    cached : float
        Bytes read and written in blocks that stay in cache.
    large : float
        Bytes read of arrays of 16 MB.
    operations : float
        Multiplications and additions in products of matrices.
    """

    uniforms: float = 0.0
    normals: float = 0.0
    gumbels: float = 0.0
    cached: float = 0.0
    large: float = 0.0
    operations: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            *(getattr(self, part.name) + getattr(other, part.name) for part in fields(self))
        )

    def times(self, count: float) -> Work:
        """As often as that."""
        return Work(*(count * getattr(self, part.name) for part in fields(self)))


def units() -> dict[str, tuple[Callable[[], object], float]]:
    """What measures each kind of work, and how much of it that does."""
    rng = np.random.Generator(np.random.SFC64(1))
    first, second, third = (rng.random(_BLOCK) for _ in range(3))
    left, right = rng.random(_LARGE), rng.random(_LARGE)
    square = rng.random((_SIDE, _SIDE))

    def passes() -> None:
        for _ in range(_PASSES):
            np.multiply(first, second, out=third)

    return {
        "uniforms": (lambda: rng.random(200_000), 200_000),
        "normals": (lambda: rng.standard_normal(200_000), 200_000),
        "gumbels": (lambda: rng.gumbel(size=20_000), 20_000),
        "cached": (passes, _PASSES * PASS * _BLOCK),
        "large": (lambda: left @ right, 2 * READ * _LARGE),
        "operations": (lambda: square @ square, 2 * _SIDE**3),
    }


@dataclass(frozen=True)
class Measured:
    """Processor milliseconds of a study, and of the parts of its floor.

    Parameters
    ----------
    study, random, passes, products : float
        The study; its random numbers, its reading and writing, its products of matrices.
    """

    study: float
    random: float
    passes: float
    products: float

    @property
    def floor(self) -> float:
        return self.random + self.passes + self.products

    @property
    def ratio(self) -> float:
        return self.study / self.floor if self.floor else float("inf")


def measured(
    study: Callable[[], object], work: Work, runs: int = _RUNS, rounds: int = _ROUNDS
) -> Measured:
    """A study and its floor, the run with the middle ratio of several.

    In each, study and units take turns for some rounds, and the least processor time of each counts.
    """
    study()  # what is made once
    every = sorted((_once(study, work, rounds) for _ in range(runs)), key=lambda run: run.ratio)
    middle = median(run.ratio for run in every)
    return next(run for run in every if run.ratio == middle)


def _once(study: Callable[[], object], work: Work, rounds: int) -> Measured:
    kernels = units()
    best = dict.fromkeys(["study", *kernels], float("inf"))
    for _ in range(rounds):
        for name, run in [("study", study), *((name, run) for name, (run, _) in kernels.items())]:
            start = time.thread_time()
            run()
            best[name] = min(best[name], time.thread_time() - start)
    spent = {
        name: 1000 * getattr(work, name) * best[name] / amount
        for name, (_, amount) in kernels.items()
    }
    return Measured(
        1000 * best["study"],
        spent["uniforms"] + spent["normals"] + spent["gumbels"],
        spent["cached"] + spent["large"],
        spent["operations"],
    )


# -- what several studies do -----------------------------------------------------------------------


def horner(degree: int) -> Work:
    """A polynomial of each curve at one of its points: a product and a sum for each degree."""
    return Work(cached=degree * (PASS + CHANGE))


def waves_of_a_time() -> Work:
    """Cosine and sine of a time by a table, as `engine.numerics.tables` has them.

    Held to [0, 1]; place in the table, and what is left; two numbers looked up; 1 − cos and sin of
    what is left; four products, and four sums.
    """
    place = 3 * CHANGE + PASS + 2 * 12
    rest = CHANGE + 4 * CHANGE + PASS
    return Work(cached=place + 2 * PASS + rest + 8 * PASS)


def moments_of_a_reading(size: int, is_fourier: bool) -> Work:
    """All that one reading adds to the moments of its curve, for a basis of `size` functions.

    Time and value are put where curves run along the fast axis; higher waves come by their
    recurrence; then sums of waves, of their products, and of their products with values.
    """
    highest = size // 2 if is_fourier else size - 1
    families = 2 if is_fourier else 1
    recurrence = CHANGE + families * (highest - 1) * 2 * PASS - (PASS if is_fourier else 0)
    sums = (families * highest + 1) * READ + 2 * families * highest * PRODUCT
    return waves_of_a_time() + Work(cached=2 * CHANGE + recurrence * (highest > 1) + sums)
