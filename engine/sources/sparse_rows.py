"""Simulated rows of one regression with many features, of which few matter, on several machines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import SPARSE_REGRESSION
from engine.core.types import Array, Covariate, PublicFacts, SampleData, Truth
from engine.numerics.coordinates import POSITIONS, SIGNS, sparse_vector
from engine.numerics.correlated import (
    CORRELATIONS,
    correlate,
    covariance,
    largest_variance,
    n_blocks,
)
from engine.sources import DealtRecords, dealt, sources

RANGE = 4.0  # standard deviations; one number in 16 000 lies beyond
_MAX_NUMBERS = 200_000_000  # in one data set: 1.6 GB


@sources.register
@dataclass(frozen=True, kw_only=True)
class SparseRows(DealtRecords[SampleData]):
    """y = x'β + σw on m machines, with x ~ N(0, Σ) of d features, w ~ N(0, 1) and sparse β.

    Protected is one row, (x, y), of one machine. Σ has unit variances: ½^|j−k|, the identity, ½
    within fives of neighbours, .8^|j−k|, or ½ between all. β = u + v_i on machine i: u has
    `n_shared` entries that are the same everywhere and v_i `n_own` further ones, at random places
    that differ between machines. All entries are ±1/√(n_shared + n_own), so that ‖β‖ = 1
    everywhere. `pattern` numbers the draw of places and signs: β belongs to the recipe and is the
    same in every repeat.

    `truth` is β (d,), or (m, d) where machines have parts of their own.

    Stated are the features' scale, 1, and range, ±4: one number in 16 000 lies beyond, and
    mechanisms move it to the end of the range. Responses are stated within ±4√(μ + σ²), because
    Var(y) ≤ μ‖β‖² + σ², where μ is at least the variance of v'x over unit vectors v with as many
    entries as β: 3 for ½^|j−k|.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, section 6: Σ_jk = ½^|j−k|, σ = ½, the first
    s₀ of s entries shared, all 1/√s; its base point has 15 machines, 4000 rows each and d = 800,
    where noise that keeps ε of about 1 hides everything. The other presets have sizes at which it
    does not.
    """

    most_data_sets = 1
    key = "sparse_rows"
    label = "Rows with few features that matter"
    order = 10
    tasks = frozenset({SPARSE_REGRESSION.key})
    records, sites = "rows", "machines"

    n_curves: int = param(
        50_000, "Rows", "How many there are, over all machines.", low=2, high=10_000_000, symbol="N"
    )
    n_servers: int = param(
        10, "Machines", "Sites that keep their own rows.", low=1, high=1000, symbol="m"
    )
    n_features: int = param(
        50, "Features", "Numbers in each row besides the response.", low=2, high=2000, symbol="d"
    )
    n_shared: int = param(
        5,
        "Features that matter everywhere",
        "Same coefficient on each machine.",
        low=1,
        high=500,
        symbol="s_0",
    )
    n_own: int = param(
        0,
        "Features that matter on one machine",
        "At positions that differ between machines. 0: all machines are alike.",
        low=0,
        high=500,
        symbol="s_1",
    )
    noise_sd: float = param(
        0.5,
        "Spread of the noise",
        "Standard deviation of a response around what its features say.",
        low=1e-3,
        high=1e3,
        symbol="σ",
    )
    design: str = param(
        "ar1",
        "Correlation of features",
        "Ar1: ½ between neighbours, a quarter "
        "over two steps, and so on. Block: ½ within fives. Identity: none. Ar1 "
        "strong: 0.8 between neighbours. Equicorrelated: ½ between all.",
        choices=CORRELATIONS,
    )
    positions: str = param(
        "random",
        "Positions of the shared ones",
        "First: neighbours, so that features that matter are correlated. Random: anywhere.",
        choices=POSITIONS,
    )
    signs: str = param("random", "Signs", "Equal: all coefficients are positive.", choices=SIGNS)
    pattern: int = param(
        1, "Draw of positions and signs", "Numbers one draw of them.", low=0, high=1_000_000
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_nonzero > self.n_features:
            raise InputError(
                f"{self.n_nonzero} features cannot matter among {self.n_features}.",
                field="n_shared",
                hint="Take fewer that matter, or more features.",
            )
        if self.n_curves * self.n_features > _MAX_NUMBERS:
            raise InputError(
                f"Rows times features may be at most {_MAX_NUMBERS}; got "
                f"{self.n_curves * self.n_features}.",
                field="n_curves",
                hint="Take fewer rows or fewer features.",
            )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        paper = {"positions": "first", "signs": "equal"}
        return (
            ("Ten machines, 50 features", {}),
            ("Ten machines, 100 features, 200 000 rows", {"n_curves": 200_000, "n_features": 100}),
            ("Machines that differ", {"n_curves": 80_000, "n_servers": 8, "n_own": 2, **paper}),
            (
                "The paper's base point",
                {
                    "n_curves": 60_000,
                    "n_servers": 15,
                    "n_features": 800,
                    "n_shared": 8,
                    "n_own": 7,
                    **paper,
                },
            ),
        )

    @property
    def n_nonzero(self) -> int:
        """s: how many coefficients of one machine are not zero."""
        return self.n_shared + self.n_own

    @property
    def facts(self) -> PublicFacts:
        variance = largest_variance(self.design, self.n_nonzero) + self.noise_sd**2
        half_range = RANGE * math.sqrt(variance)
        return PublicFacts(
            name=self.label,
            value_name="Response",
            value_low=-half_range,
            value_high=half_range,
            reading_sd=self.noise_sd,
            unit_scale=True,
            covariates=(Covariate("Feature", -RANGE, RANGE),) * self.n_features,
        )

    @property
    def n_numbers(self) -> int:
        return self.n_features

    @property
    def truth(self) -> Truth:
        return _truth(
            self.n_features,
            self.n_shared,
            self.n_own,
            self.n_servers,
            self.positions,
            self.signs,
            self.pattern,
        )

    @property
    def covariance(self) -> Array:
        """Σ of the features: (d, d)."""
        return covariance(self.design, self.n_features)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        """Draw data sets: features, then noise."""
        x = rng.standard_normal((n_repeats, self.n_curves, self.n_features))
        rows = x.reshape(-1, self.n_features)
        blocks = n_blocks(self.design, self.n_features)
        correlate(rows, self.design, rng.standard_normal((len(rows), blocks)) if blocks else None)
        y = rng.standard_normal(x.shape[:2])
        y *= self.noise_sd
        self._add_signal(y, x)
        return SampleData(x, y, self.server, self.facts, self.truth)

    def _add_signal(self, y: Array, x: Array) -> None:
        """Add x'β to y, machine by machine, from the features that matter there."""
        stops = np.cumsum(dealt(self.n_curves, self.n_servers))
        vectors = np.broadcast_to(self.truth.node_values, (self.n_servers, self.n_features))
        for start, stop, beta in zip(np.append(0, stops), stops, vectors, strict=False):
            where = np.flatnonzero(beta)
            y[:, start:stop] += x[:, start:stop, where] @ beta[where]


@lru_cache(maxsize=16)
def _truth(
    size: int, n_shared: int, n_own: int, machines: int, positions: str, signs: str, pattern: int
) -> Truth:
    """The shared part and then the own parts; those of a machine do not depend on later ones."""
    rng = np.random.default_rng(pattern)
    shared = sparse_vector(size, n_shared, positions, signs, rng)
    scale = 1 / math.sqrt(n_shared + n_own)
    if n_own == 0:
        return Truth.of_vector(scale * shared)
    free, vectors = np.flatnonzero(shared == 0), np.tile(shared, (machines, 1))
    for vector in vectors:
        vector[free] = sparse_vector(len(free), n_own, "random", signs, rng)
    return Truth.of_vector(scale * vectors)
