"""Over several sites: the adaptive mean with joint releases beside separate ones, and its bands.

Both release the same people of the same sites with the same standard noise, so that the ratio of
their errors is known better than either error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.coverage.table import POINTWISE, SIMULTANEOUS, notes_table
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.sources.sparse_curves import SparseCurves

DELTA = 1e-3
_AT_ONCE = 10  # repeats
_DRAWS = 3  # of the noise, for each data set


@dataclass(frozen=True)
class SiteNetwork:
    """Sites by how many people they have, and the ε of each; δ is 10⁻³ at every site."""

    label: str
    people: str
    epsilons: tuple[float, ...]
    mean: str = "mu1"

    @property
    def source(self) -> SparseCurves:
        return SparseCurves(mean=self.mean, site_sizes=self.people)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        return tuple(Budget(epsilon, DELTA) for epsilon in self.epsilons)


@dataclass(frozen=True)
class SitesRow:
    """Measurements of one network."""

    network: SiteNetwork
    effective_size: float  # N, the root of the sum of (n_s μ_s)²
    error: float  # mean integrated squared error of joint releases, in squared response units
    # ratio, ratio_error: that over the one of separate releases, with its standard error over data
    # sets
    ratio: float
    ratio_error: float
    # pointwise, simultaneous: coverage of the true curve by 95 % bands of joint releases
    pointwise: float
    simultaneous: float

    @property
    def holds(self) -> bool:
        """True if bands have the required coverage."""
        low, high = POINTWISE
        return low <= self.pointwise <= high and self.simultaneous >= SIMULTANEOUS


def networks() -> Iterator[SiteNetwork]:
    """List alike and unlike sites, few and many, on two curves."""
    for mean in ("mu1", "growth"):
        yield SiteNetwork("4 of 250", "250, 250, 250, 250", (1.0,) * 4, mean)
        yield SiteNetwork("4 of 250", "250, 250, 250, 250", (4.0,) * 4, mean)
        yield SiteNetwork("400, 250, 100", "400, 250, 100", (4.0, 1.0, 0.5), mean)
        yield SiteNetwork("20 of 50", ", ".join(["50"] * 20), (1.0,) * 20, mean)


def measured(network: SiteNetwork, repeats: int, seed: int) -> SitesRow:
    """Measure a network, repeated so often in blocks with random streams of their own."""
    parts = [
        _block(network, min(_AT_ONCE, repeats - first), seed, first)
        for first in range(0, repeats, _AT_ONCE)
    ]
    joint, separate, pointwise, simultaneous = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    ratio = joint.mean() / separate.mean()
    apart = joint - ratio * separate  # its mean is 0: the delta method for a ratio of means
    effective = AdaptiveMean().feasibility(network.source.sizes, network.budgets).effective_size
    return SitesRow(
        network,
        effective,
        float(joint.mean()),
        float(ratio),
        float(apart.std(ddof=1) / np.sqrt(len(joint)) / separate.mean())
        if len(joint) > 1
        else float("nan"),
        float(pointwise.mean()),
        float(simultaneous.mean()),
    )


def _block(network: SiteNetwork, repeats: int, seed: int, first: int) -> tuple[Array, ...]:
    """Measure errors of joint and separate releases, coverage of both bands: (repeats,) each."""
    data = network.source.draw(repeats, generator(seed, DATA_STREAM, first))
    joint, separate = (
        AdaptiveMean(releases=releases).release_many(
            data, [network.budgets], _DRAWS, generator(seed, NOISE_STREAM, first)
        )
        for releases in ("joint", "separate")
    )
    assert joint.band is not None
    errors, shares = [], []
    for estimate in (joint, separate):
        total = integrated_squared_errors(estimate, data.truth).total
        assert total is not None
        errors.append(total[0].mean(axis=-1))
    for kind in ("pointwise", "simultaneous"):
        inside = coverage(replace(joint, band=replace(joint.band, kind=kind)), data.truth)
        assert inside is not None
        shares.append(inside.of_curve[0].mean(axis=-1))
    return *errors, *shares


def as_markdown(rows: list[SitesRow]) -> str:
    """Write the table for the notes on the methods."""
    names = (
        "Sites",
        "Curve",
        "ε",
        "N",
        "Squared error",
        "Joint over separate",
        "Pointwise",
        "Simultaneous",
    )
    return notes_table(names, map(_cells, rows), n_texts=2)


def _cells(row: SitesRow) -> Sequence[str]:
    network = row.network
    epsilons = sorted(set(network.epsilons), reverse=True)
    return (
        network.label,
        network.mean,
        ", ".join(f"{epsilon:g}" for epsilon in epsilons),
        f"{row.effective_size:.0f}",
        f"{row.error:.3g}",
        f"{row.ratio:.2f} ± {row.ratio_error:.2f}",
        f"{row.pointwise:.2f}",
        f"{row.simultaneous:.2f}",
    )
