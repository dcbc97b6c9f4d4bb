"""Errors of the adaptive mean over those of plain column means, on days of activity.

    .venv/bin/python -m tests.benchmark.plain_means [LARGEST_N]

Plain: observations are moved into their bounds and averaged at each of q common times; all q averages
are one Gaussian message of sensitivity (high − low)√q/n, and straight lines join them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import Array, Budget, CurveData
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting
from engine.sources.activity_days import ActivityDays
from tests.benchmark.record import Row

GOAL = 1.05
CELLS = (
    (1000, 0.5),
    (1000, 1),
    (1000, 8),
    (3000, 3),
    (10_000, 1),
    (10_000, 3),
    (30_000, 1),
    (30_000, 3),
    (100_000, 0.5),
    (100_000, 1),
)
_PEOPLE_AT_ONCE = 100_000  # in all data sets together


class Compared(NamedTuple):
    """Root mean squared errors of both, and the coverage of the simultaneous band."""

    adaptive: float
    plain: float
    coverage: float

    @property
    def ratio(self) -> float:
        return self.adaptive / self.plain


def plain_means(data: CurveData, budget: Budget, rng: np.random.Generator) -> Array:
    """Release column means of every data set with noise: (repeats, GRID_SIZE)."""
    facts, q = data.facts, len(data.facts.common_times)
    means = facts.value_middle + data.on_grid(facts.common_times).mean(axis=1)  # inside the bounds
    noise = (
        (facts.value_high - facts.value_low)
        * math.sqrt(q)
        / data.n_curves
        / (accounting.exact_mu(budget.epsilon, budget.delta))
    )
    released = means + noise * rng.standard_normal((data.n_repeats, q))
    return np.array([np.interp(drawing_grid(), facts.common_times, row) for row in released])


def compared(
    n: int, epsilon: float, data_sets: int = 10, draws: int = 4, seed: int = 5
) -> Compared:
    """Release both ways, `draws` times for each data set, at δ = n⁻²."""
    source, budget, grid = ActivityDays(n_curves=n), Budget(epsilon, n**-2.0), drawing_grid()
    truth, adaptive, plain, covered = source.truth.grid_values, [], [], []
    together = max(1, min(data_sets, _PEOPLE_AT_ONCE // n))
    for first in range(0, data_sets, together):
        data = source.draw(min(together, data_sets - first), generator(seed, 0, first))
        estimate = AdaptiveMean().release_many(data, [(budget,)], draws, generator(seed, 1, first))
        low, high = estimate.limits
        adaptive.append(((estimate.values(grid) - truth) ** 2).mean(axis=-1).ravel())
        covered.append(((low <= truth) & (truth <= high)).all(axis=-1).ravel())
        rng = generator(seed, 2, first)
        plain += [
            ((plain_means(data, budget, rng) - truth) ** 2).mean(axis=-1) for _ in range(draws)
        ]
    return Compared(
        *(math.sqrt(np.concatenate(squared).mean()) for squared in (adaptive, plain)),
        float(np.concatenate(covered).mean()),
    )


def rows() -> Iterator[Row]:
    """A row where plain means are hardest to beat: many people, enough budget."""
    yield Row(
        "error of the adaptive mean / of plain column means, 10 000 days of activity",
        compared(10_000, 3, data_sets=3).ratio,
        GOAL,
    )


def main(largest: int) -> None:
    print("| People | ε | N | Adaptive | Plain | Ratio | Covers |\n" + "| --- " * 7 + "|")
    for n, epsilon in CELLS:
        if n <= largest:
            of_both = compared(n, epsilon)
            effective = n * accounting.exact_mu(epsilon, n**-2.0)
            print(
                f"| {n} | {epsilon:g} | {effective:.0f} | {of_both.adaptive:.3f} | "
                f"{of_both.plain:.3f} | {of_both.ratio:.2f} | {of_both.coverage:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CELLS[-1][0])
