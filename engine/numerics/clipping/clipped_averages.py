"""Averages over curves of deviations that are first clipped to an ellipsoid.

ψ(h) = h · min(1, c/‖h/d‖₂) with a shape d (p entries) and a radius c: whatever a curve holds, its
ψ lies in {x : ‖x/d‖₂ ≤ c}. That is all the privacy of the releases built on these averages needs.
The sums are those of whole numbers (`engine.numerics.exact_sums`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.numerics.curve_deviations import StreamedDeviations
from engine.numerics.deviations import Deviations
from engine.numerics.exact_sums import (
    LARGEST_BLOCK,
    ExactSum,
    Statistic,
    mean_of,
    merged,
    whole_sums,
)

_BLOCK = 120_000  # entries of curves, or of deviations, worked on at once, to stay in cache
_MAX = 400_000  # entries of deviations, where a few curves have more than that in all columns
_FEW = 16  # curves at least: fewer are mostly calls


def averages(
    deviations: Deviations,
    centres: Array,
    shape: Array,
    radius: Array,
    *kinds: Statistic,
    moments_radius: Array | None = None,
    block: int = _BLOCK,
    few: int = _FEW,
) -> list[Array]:
    """Average clipped deviations ψ(h_i(a)) in one pass over the curves.

    Replacing one of n curves moves a location by δ with ‖δ/d‖₂ ≤ 2c/n, sizes by √2 c/n, both
    together by 2c/n, and second moments for a radius m by √2 m²/n in Frobenius norm; for a location
    with second moments see `engine.numerics.exact_sums`. Each curve adds (0, 0), (1, 0) or (0, 1)
    to the shares beyond, two of which are at most √2 apart. Centres a and shapes d > 0 are
    (repeats, columns, p), radii c > 0 in units of the shape. Results are (repeats, columns, p) of a
    location or of sizes, (…, p, p) of moments in units of the shape, (…, 2) of the shares beyond,
    (…, 1) of sides. `block` entries are worked on at once, but `few` curves at least.
    """
    narrow = radius if moments_radius is None else moments_radius
    columns, arguments = centres.shape[1], [centres, shape, radius, narrow]
    if deviations.is_common and all((each == each[:, :1]).all() for each in arguments):
        arguments = [each[:, :1] for each in arguments]  # one answer for all columns
    most = _most_curves(deviations, arguments[0], block, few)
    if isinstance(deviations, StreamedDeviations):
        parts = deviations.of_parts(ClippedSums(tuple(arguments), kinds, most))
        pieces = [[merged(of_kind) for of_kind in zip(*filter(None, parts), strict=True)]]
    else:
        pieces = [
            ClippedSums(tuple(each[repeats] for each in arguments), kinds, most)(
                [deviations], repeats
            )
            for repeats in _repeats(deviations, arguments[0], block)
        ]
    means = []
    for k, kind in enumerate(kinds):
        total = ExactSum.joined([piece[k] for piece in pieces])
        own = arguments[3] if kind is Statistic.MOMENTS else arguments[2]
        mean = mean_of(total, deviations.n_curves, kind, arguments[1], own)
        means.append(np.broadcast_to(mean, (len(mean), columns, *mean.shape[2:])))
    return means


@dataclass(frozen=True)
class ClippedSums:
    """Sums of clipped deviations over curves, of each kind; empty without curves."""

    arguments: tuple[Array, ...]  # centres, shape, radius and radius of moments
    kinds: tuple[Statistic, ...]
    most: int  # curves worked on at once, where blocks have no size of their own

    def __call__(
        self, curves: Iterable[Deviations], repeats: slice = slice(0, 1)
    ) -> list[ExactSum]:
        centres, shape, radius, narrow = self.arguments
        totals: list[ExactSum] = []
        for some in curves:
            for block in some.blocks(self.most):
                h = block.from_centres(centres, repeats)
                sums = whole_sums(h, shape, radius, self.kinds, narrow)
                for total, part in zip(totals, sums, strict=False):
                    total.merge(part)
                totals = totals or sums
        return totals


def _repeats(deviations: Deviations, centres: Array, block: int) -> Iterator[slice]:
    """Cut repeats into blocks that stay in cache."""
    repeats, columns, size = centres.shape
    tall = max(1, block // (size * columns * max(deviations.n_curves, 1)))
    for first in range(0, repeats, tall):
        yield slice(first, first + tall)


def _most_curves(deviations: Deviations, centres: Array, block: int, few: int) -> int:
    """Count the curves that stay in cache, where one repeat has many.

    All columns share one pass over the curves, whose entries are the largest array.
    """
    entries = centres.shape[1] * centres.shape[2]
    return int(max(few, min(block // deviations.entries, _MAX // entries, LARGEST_BLOCK)))
