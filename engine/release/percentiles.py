"""What is published of percentile curves: the curves with their bands, and the time in ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.bands import ROUNDED_NORMAL
from engine.core.grids import drawing_grid
from engine.core.types import Array, CurveData, Estimate
from engine.language.ranges import interval, names_of_ranges, shares_in_words
from engine.mechanisms.percentile_curves import PercentileCurves, TimeInRanges
from engine.release.certified import Quote
from engine.release.uncertainty import Uncertainty, band_of


@dataclass(frozen=True, eq=False)
class ReleasedPercentiles:
    """The published numbers of percentile curves.

    Parameters
    ----------
    levels : (T,)
        Shares of observations below each curve, rising.
    columns : dict of str to (k,)
        The curves by their names, in the order of `levels`.
    ranges : dict of str to pair of (k,)
        Their bands.
    uncertainty : Uncertainty
    limits : tuple of float
        Stated cut-offs of ranges, rising; empty where there are none.
    target : tuple of float
        The two cut-offs of the range in the middle; empty where none is.
    average, error : (L + 1,)
        The share of observations in each range over the whole time, from low to high, with
        standard errors.
    by_time : dict of str to (k,)
        The share in each range at every time, with the ends of its interval.
    """

    levels: Array
    columns: dict[str, Array]
    ranges: dict[str, tuple[Array, Array]]
    uncertainty: Uncertainty
    limits: tuple[float, ...]
    target: tuple[float, ...]
    average: Array
    error: Array
    by_time: dict[str, Array]

    def names(self, unit: str) -> list[str]:
        """Of the ranges, from low to high; none without cut-offs.

        Parameters
        ----------
        unit : str
            Of observations.
        """
        return names_of_ranges(self.limits, unit) if self.limits else []

    def table(self, unit: str) -> dict[str, list[Any]]:
        """The average share in each range with its interval, in columns.

        Parameters
        ----------
        unit : str
            Of observations.
        """
        ends = [interval(float(share), float(error))
                for share, error in zip(self.average, self.error, strict=True)]
        return {"range": self.names(unit), "share": self.average.tolist(),
                "95 % confidence from": [low for low, _ in ends],
                "95 % confidence to": [high for _, high in ends]}


def released_percentiles(estimate: Estimate, mechanism: PercentileCurves, data: CurveData,
                         quoted: Quote, x: Array) -> ReleasedPercentiles:
    """The curves of one release with all that follows from them.

    Parameters
    ----------
    estimate : Estimate
        Of one budget.
    mechanism : PercentileCurves
    data : CurveData
        Of which sizes and facts alone are looked at.
    quoted : Quote
        With the budget of the plan.
    x : (k,)
        Times in their own unit.
    """
    facts, names = data.facts, estimate.functions
    rows = estimate.values(drawing_grid())[0, 0, 0]
    assert estimate.limits is not None
    ends = [end[0, 0, 0] for end in estimate.limits]
    ranges = dict(zip(names, zip(*ends, strict=True), strict=True))
    band = band_of(estimate, list(ranges.values()), x, mechanism.limit_of_band(facts))
    if band is not None:
        has_ends = mechanism.family_of_waves(facts) != "fourier"
        band = replace(band, basis_size=0, has_bars=True, covered=band.covered if has_ends else (
            float(x[0]), float(x[-1])))
    shares: TimeInRanges | None = estimate.released[0]
    average, error = (np.empty((0,)),) * 2 if shares is None else (
        shares.average[0, 0], shares.error[0, 0])
    limits = () if shares is None else shares.limits
    findings = [f"Share of observations {line}.".replace("**", "") for line in shares_in_words(
        limits, facts.value_unit, average.tolist(), error.tolist())] if limits else []
    uncertainty = Uncertainty(
        band, mechanism.feasibility(data.sizes, quoted.inner_budgets), estimate.warnings,
        wide=0.0 if band is None else band.half_width / facts.value_half_width,
        findings=tuple(findings))
    return ReleasedPercentiles(
        mechanism.levels, dict(zip(names, rows, strict=True)), ranges, uncertainty, limits,
        mechanism.target(facts), average, error, _by_time(shares, facts.value_unit))


def _by_time(shares: TimeInRanges | None, unit: str) -> dict[str, Array]:
    """Columns of shares at every time."""
    columns: dict[str, Array] = {}
    if shares is None:
        return columns
    names = names_of_ranges(shares.limits, unit)
    for name, share, error in zip(names, shares.shares[0, 0], shares.errors[0, 0], strict=True):
        low, high = (np.clip(share + sign * ROUNDED_NORMAL * error, 0.0, 1.0) for sign in (-1, 1))
        columns |= {f"share {name}": share, f"share {name}, 95 % confidence from": low,
                    f"share {name}, 95 % confidence to": high}
    return columns
