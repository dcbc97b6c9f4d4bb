"""Simulated rows of normal numbers, few of whose means are not zero, on many machines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import SPARSE_MEAN
from engine.core.types import Array, Covariate, PublicFacts, SampleData, Truth
from engine.numerics.coordinates import POSITIONS, SIGNS, sparse_vector
from engine.sources import DealtRecords, sources

_MAX_NUMBERS = 200_000_000  # in one data set: 1.6 GB


@sources.register
@dataclass(frozen=True, kw_only=True)
class SparseMeans(DealtRecords[SampleData]):
    """x ~ N(μ, I) of d numbers on each row; s entries of μ are ± `size`, the others are zero.

    Stated are that |μ_j| ≤ 1 and that numbers scatter around μ_j with standard deviation 1; single
    numbers may lie beyond. `pattern` numbers the draw of places and signs: μ belongs to the recipe.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, section 3.
    """

    key = "sparse_means"
    label = "Rows with few means that are not zero"
    order = 10
    tasks = frozenset({SPARSE_MEAN.key})
    records, sites = "rows", "machines"

    n_curves: int = param(
        40_000, "Rows", "How many there are, over all machines.", low=2, high=10_000_000, symbol="N"
    )
    n_servers: int = param(
        2000,
        "Machines",
        "Each keeps its own rows and trusts nobody.",
        low=1,
        high=10_000,
        symbol="m",
    )
    n_features: int = param(
        50, "Numbers in a row", "Means to be found.", low=2, high=2000, symbol="d"
    )
    n_nonzero: int = param(
        5, "Means that are not zero", "All others are.", low=1, high=500, symbol="s"
    )
    size: float = param(0.5, "Their size", "Without sign.", low=0.0, high=1.0, symbol="μ")
    positions: str = param("random", "Their positions", "First, or anywhere.", choices=POSITIONS)
    signs: str = param("random", "Their signs", "Equal: all are positive.", choices=SIGNS)
    pattern: int = param(
        1, "Draw of positions and signs", "Numbers one draw of them.", low=0, high=1_000_000
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_nonzero > self.n_features:
            raise InputError(
                f"{self.n_nonzero} of {self.n_features} means cannot differ from zero.",
                field="n_nonzero",
                hint="Take fewer.",
            )
        if self.n_curves * self.n_features > _MAX_NUMBERS:
            raise InputError(
                f"Rows times numbers in a row may be at most {_MAX_NUMBERS}; got "
                f"{self.n_curves * self.n_features}.",
                field="n_curves",
                hint="Take fewer rows or shorter ones.",
            )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Many machines with 20 rows each", {}),
            ("Phones with one row each", {"n_curves": 10_000, "n_servers": 10_000, "size": 1.0}),
            (
                "200 machines with 500 rows each",
                {"n_curves": 100_000, "n_servers": 200, "size": 0.1},
            ),
        )

    @property
    def facts(self) -> PublicFacts:
        half_range = 1 + math.sqrt(2 * math.log(2 * self.n_curves))
        return PublicFacts(
            name=self.label,
            person="row",
            people="rows",
            value_name="Mean",
            value_low=-1.0,
            value_high=1.0,
            reading_sd=1.0,
            unit_scale=True,
            covariates=self.n_features * (Covariate("Number", -half_range, half_range),),
        )

    @property
    def n_numbers(self) -> int:
        return self.n_features

    @property
    def truth(self) -> Truth:
        return _truth(
            self.n_features, self.n_nonzero, self.size, self.positions, self.signs, self.pattern
        )

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        x = rng.standard_normal((n_repeats, self.n_curves, self.n_features))
        x += self.truth.node_values
        return SampleData(x, None, self.server, self.facts, self.truth)


def machine_means(
    mean: Array, rows: int, coordinates: NDArray[np.int64], n_repeats: int, rng: np.random.Generator
) -> Array:
    """Means over rows of what machines are asked for: (n_repeats, machines, k) of N(μ_j, 1/rows).

    The law of what `draw` gives, for sizes at which rows would not fit into memory.
    """
    means = rng.standard_normal((n_repeats, *coordinates.shape))
    means /= math.sqrt(rows)
    means += mean[coordinates]
    return means


@lru_cache(maxsize=16)
def _truth(
    size: int, n_nonzero: int, height: float, positions: str, signs: str, pattern: int
) -> Truth:
    rng = np.random.default_rng(pattern)
    return Truth.of_vector(height * sparse_vector(size, n_nonzero, positions, signs, rng))
