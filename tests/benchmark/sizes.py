"""How releases grow with the number of people: time, memory, and what is imported."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np

from engine.core.random_streams import DATA_STREAM, generator
from engine.core.types import Array, Budget, CurveData, DataKind, Design, PublicFacts, Sizes
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.bases import Basis
from engine.numerics.clipping.clipped_averages import averages
from engine.numerics.curve_deviations import CurveDeviations
from engine.numerics.exact_sums import Statistic
from engine.release import certified
from engine.release.certified import ReleaseCost
from engine.sources.twin import Twin
from engine.topics.release.preview import release_preview
from tests.benchmark.kernels import interleaved
from tests.benchmark.record import Row

FACTS = PublicFacts(
    kind=DataKind.UPLOAD,
    value_low=60.0,
    value_high=180.0,
    origin="a manual",
    observations_per_curve=10,
)
MEAN, BUDGET = AdaptiveMean(), Budget(1.0, 1e-9)
_COMMON, _FUNCTIONS = 24, 21
_BLOCK = 512  # people of the floor at common times
_FIRST_RELEASE = """
import sys
import numpy as np
from engine.core.types import Budget, CurveData, DataKind, PublicFacts
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.release import certified
facts = PublicFacts(kind=DataKind.UPLOAD, origin="a manual", observations_per_curve=10)
times = np.random.default_rng(1).random((1, 10_000))
server = np.zeros(1000, dtype=np.int64)
data = CurveData(times, times, np.full(1000, 10), server, facts)
cost = certified.release_cost(data, AdaptiveMean(), Budget(1.0, 1e-9))
certified.hardened(data, AdaptiveMean(), cost)
print(sum(name.startswith("scipy.optimize") for name in sys.modules))
"""


def rows() -> list[Row]:
    """Ratios that stay as they are for any number of people."""
    release = interleaved(
        {n: lambda n=n: released(drawn(int(n))) for n in ("10000", "100000")}, rounds=3
    )
    costs = interleaved(
        {
            "few": lambda: cost(1000),
            "many": lambda: cost(1_000_000),
            "again": lambda: certified.replayed(few(10_000), MEAN, cost(10_000), messages(10_000)),
            "once": lambda: cost(10_000),
        }
    )
    previews = interleaved({n: lambda n=n: previewed(int(n)) for n in ("1000", "100000")}, rounds=1)
    return [
        Row("release of 100,000 people / of 10,000", release["100000"] / release["10000"], 11.0),
        Row("cost of 1,000,000 people / of 1000", costs["many"] / costs["few"], 2.0),
        Row("a release made again / its cost", costs["again"] / costs["once"], 3.0),
        Row("preview of 100,000 people / of 1000", previews["100000"] / previews["1000"], 3.0),
        Row("four averages at 24 common times / their floor", _common_over_floor(), 2.0),
        Row("peak memory of a release / its data", _memory_over_data(100_000), 1.5),
        Row("modules of scipy.optimize in a first release", _modules_of_optimize(), 0.0),
    ]


@cache
def drawn(n: int) -> CurveData:
    twin = Twin.of(FACTS, Sizes((n,), 10 * n, 10))
    return twin.draw(1, generator(1, DATA_STREAM, 0))


def few(n: int) -> CurveData:
    """Two people who count as all."""
    return CurveData.few_of_sizes(FACTS, (n,))


def cost(n: int) -> ReleaseCost:
    return certified.release_cost(few(n), MEAN, replace(BUDGET, delta=min(1e-9, 0.1 / n)))


kept_cost = cache(cost)


@cache
def messages(n: int) -> dict[certified.Key, Array]:
    return certified.hardened(drawn(n), MEAN, kept_cost(n))[1]


def released(data: CurveData) -> None:
    certified.hardened(data, MEAN, kept_cost(data.n_curves))


def previewed(n: int) -> None:
    release_preview(FACTS, Sizes((n,), 10 * n, 10), MEAN, BUDGET, 1)


def _common_over_floor(n: int = 10_000) -> float:
    """Four rounds of averages; the floor is one product, four clipped sums and one matrix."""
    rng, times = np.random.default_rng(1), (np.arange(_COMMON) + 0.5) / _COMMON
    values = rng.standard_normal(n * _COMMON)
    basis, design = Basis(_FUNCTIONS, family="cosine"), Design.common(times.tolist())
    counts, at = np.full(n, _COMMON), np.tile(times, n)
    centre = np.zeros((1, 1, _FUNCTIONS))
    shape, radius = np.ones_like(centre), np.full((1, 1), 2.0)
    weights, by_time = basis(times).T / _COMMON, values.reshape(n, _COMMON).T

    def study() -> None:
        curves = CurveDeviations.of(at, values, counts, basis, design)
        for kinds in [(Statistic.LOCATION,)] * 3 + [(Statistic.LOCATION, Statistic.MOMENTS)]:
            averages(curves, centre, shape, radius, *kinds)

    def floor() -> None:
        for first in range(0, n, _BLOCK):
            targets = np.einsum("lm,mb->lb", weights, by_time[:, first : first + _BLOCK])
            for _ in range(4):
                norms = np.sqrt(np.einsum("lb,lb->b", targets, targets))
                clipped = np.trunc(targets * (2.0**40 / np.maximum(norms, 2.0)))
                clipped.sum(axis=-1)
            _ = clipped @ clipped.T

    found = interleaved({"study": study, "floor": floor})
    return found["study"] / found["floor"]


def _memory_over_data(n: int) -> float:
    """The most that a release holds beside its data, over these."""
    data = drawn(n)
    kept_cost(n)
    size = data.times.nbytes + data.values.nbytes + data.counts.nbytes + data.server.nbytes
    tracemalloc.start()
    released(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / size


def _modules_of_optimize() -> float:
    """In a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", _FIRST_RELEASE], capture_output=True, text=True, check=True
    )
    return float(ran.stdout)
