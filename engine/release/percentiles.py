"""Published results of percentile curves: the curves with their bands, and the time in ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.bands import ROUNDED_NORMAL
from engine.core.grids import drawing_grid
from engine.core.types import Array, Data, Estimate
from engine.language.ranges import interval, names_of_ranges, shares_in_words
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.release.certified import ReleaseCost
from engine.release.functions import Axes, ReleasedFunctions, Table
from engine.release.sentences import budget_words
from engine.release.uncertainty import Uncertainty, band_of, facts_of

TIME_IN_RANGE = "time_in_range"  # the table of average shares in ranges


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasedPercentiles(ReleasedFunctions):
    """The published numbers of percentile curves, with the time in ranges where some are stated."""

    # (T,): shares of observations below each curve, rising, in the order of `columns`
    levels: Array
    limits: tuple[float, ...]  # stated cut-offs of ranges, rising; empty where there are none
    target: tuple[float, ...]  # the two cut-offs of the range in the middle; empty where none is
    # average, error, each (L + 1,): the share of observations in each range over the whole time,
    # from low to high, with standard errors
    average: Array
    error: Array

    def names(self, unit: str) -> list[str]:
        """Name the ranges from low to high; none without cut-offs."""
        return names_of_ranges(self.limits, unit) if self.limits else []


def released_percentiles(
    estimate: Estimate, mechanism: PercentileCurves, data: Data, cost: ReleaseCost, axes: Axes
) -> ReleasedPercentiles:
    """Compute the curves of one release with everything that follows from them."""
    x = axes.x
    facts, names = data.facts, estimate.functions
    rows = estimate.values(drawing_grid())[0, 0, 0]
    assert estimate.limits is not None
    ends = [end[0, 0, 0] for end in estimate.limits]
    ranges = dict(zip(names, zip(*ends, strict=True), strict=True))
    band = band_of(estimate, list(ranges.values()), x, mechanism.limit_of_band(facts))
    if band is not None:
        has_ends = mechanism.family_of_waves(facts) != "fourier"
        band = replace(
            band,
            basis_size=0,
            has_bars=True,
            covered=band.covered if has_ends else (float(x[0]), float(x[-1])),
        )
    shares: TimeInRanges | None = estimate.released[0]
    average, error = (
        (np.empty((0,)),) * 2 if shares is None else (shares.average[0, 0], shares.error[0, 0])
    )
    limits = () if shares is None else shares.limits
    findings = (
        [
            f"Share of observations {line}.".replace("**", "")
            for line in shares_in_words(limits, facts.value_unit, average.tolist(), error.tolist())
        ]
        if limits
        else []
    )
    uncertainty = Uncertainty(
        band,
        mechanism.feasibility(data.sizes, cost.inner_budgets),
        estimate.warnings,
        wide=0.0 if band is None else band.half_width / facts.value_half_width,
        findings=tuple(findings),
        **facts_of(estimate),
    )
    about = (
        f"share of observations in each range, averaged over {axes.across}; "
        f"{budget_words(cost.certified)}, certified"
    )
    tables = (
        {
            TIME_IN_RANGE: Table(
                about, _averages(names_of_ranges(limits, facts.value_unit), average, error)
            )
        }
        if limits
        else {}
    )
    return ReleasedPercentiles(
        x=x,
        columns=dict(zip(names, rows, strict=True)),
        ranges=ranges,
        uncertainty=uncertainty,
        tables=tables,
        by_place=_by_time(shares, facts.value_unit),
        levels=mechanism.levels,
        limits=limits,
        target=mechanism.target(facts),
        average=average,
        error=error,
    )


def _averages(names: list[str], average: Array, error: Array) -> dict[str, list[Any]]:
    """Tabulate the average share in each range with its interval, in columns."""
    ends = [interval(float(share), float(wide)) for share, wide in zip(average, error, strict=True)]
    return {
        "range": names,
        "share": average.tolist(),
        "95 % confidence from": [low for low, _ in ends],
        "95 % confidence to": [high for _, high in ends],
    }


def _by_time(shares: TimeInRanges | None, unit: str) -> dict[str, Array]:
    """Columns of shares at every time."""
    columns: dict[str, Array] = {}
    if shares is None:
        return columns
    names = names_of_ranges(shares.limits, unit)
    for name, share, error in zip(names, shares.shares[0, 0], shares.errors[0, 0], strict=True):
        low, high = (np.clip(share + sign * ROUNDED_NORMAL * error, 0.0, 1.0) for sign in (-1, 1))
        columns |= {
            f"share {name}": share,
            f"share {name}, 95 % confidence from": low,
            f"share {name}, 95 % confidence to": high,
        }
    return columns
