"""What is published of noised counts: the table itself, and the curves that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.tasks import ROC, SURVIVAL
from engine.core.types import Array, Estimate, EventData
from engine.language.counts import count_columns
from engine.mechanisms import Mechanism
from engine.numerics.counts.comparisons import log_rank
from engine.numerics.counts.curves import CountedCurve, curves_of
from engine.numerics.counts.distributions import roc
from engine.numerics.counts.tables import CountTable
from engine.release.certified import Quote
from engine.release.uncertainty import STAIRCASE, ReleasedBand, Uncertainty

_FEWEST_PLACES = 2


@dataclass(frozen=True, eq=False)
class ReleasedCounts:
    """The published numbers of a table of counts.

    Parameters
    ----------
    x : (k,)
        Where curves are given: as far as enough people are left.
    columns : dict of str to (k,)
        The curves.
    ranges : dict of str to pair of (k,)
        Their bands.
    uncertainty : Uncertainty
    table : dict of str to list
        Every cell with its noised and its estimated count.
    """

    x: Array
    columns: dict[str, Array]
    ranges: dict[str, tuple[Array, Array]]
    uncertainty: Uncertainty
    table: dict[str, list[Any]]


def released_counts(estimate: Estimate, mechanism: Mechanism, data: EventData, quoted: Quote,
                    x: Array) -> ReleasedCounts:
    """The table of one release, and its curves with their bands as far as they are shown.

    Parameters
    ----------
    estimate : Estimate
        Of one budget, with the released table.
    mechanism : Mechanism
        Noised counts.
    data : EventData
        Of which sizes and facts alone are looked at.
    quoted : Quote
        With the budget of the plan.
    x : (k,)
        All places where curves can be given.
    """
    released: CountTable = estimate.released[0]
    table = CountTable(released.cells, released.noisy[0, 0], released.totals, released.scales,
                       released.weights, released.spread)
    task = mechanism.main_task
    names = estimate.functions or ("True-positive share" if task is ROC else data.facts.value_name,)
    rows = np.atleast_2d(estimate.values(drawing_grid())[0, 0, 0])
    curves = [] if task is ROC else list(curves_of(
        table, task is SURVIVAL, mechanism.values()["least_at_risk"]))
    count = _shown(curves, x)
    ranges = {name: curve.staircase(x[:count])
              for name, curve in zip(names, curves, strict=bool(curves))}
    warnings = [*estimate.warnings, *_said(table, curves, task is ROC)]
    band = None
    if ranges:
        half = float(np.mean([(high - low).mean() / 2 for low, high in ranges.values()]))
        band = ReleasedBand(STAIRCASE, 0, (float(x[0]), float(x[count - 1])), half)
    uncertainty = Uncertainty(band, mechanism.feasibility(data.sizes, (quoted.inner,)),
                              tuple(warnings))
    return ReleasedCounts(
        x[:count], {name: row[:count] for name, row in zip(names, rows, strict=True)}, ranges,
        uncertainty, count_columns(table, data.facts))


def _shown(curves: list[CountedCurve], x: Array) -> int:
    """How many places are given: as far as enough people of every group are left, at least two."""
    last = min((float(curve.last) for curve in curves), default=float(x[-1]))
    return max(_FEWEST_PLACES, int((x <= last * (1 + 1e-12)).sum()))


def _said(table: CountTable, curves: list[CountedCurve], is_roc: bool) -> list[str]:
    """What follows from the counts beside the curves, as sentences of the report."""
    if is_roc:
        found = roc(table)
        return [f"Area under the curve: {float(found.area):.3f} ± "
                f"{1.96 * float(found.error):.3f} (95 %)."]
    said = []
    if any(float(curve.last) < curve.edges[-1] for curve in curves):
        last = min(float(curve.last) for curve in curves)
        said.append(f"Beyond {last:g}, too few people are left to say, by the noised counts.")
    if table.cells.n_groups > 1:
        test = log_rank(table)
        said.append(f"Log-rank test of the two groups: z = {float(test.statistic):.2f}, "
                    f"p = {float(test.p_value):.3f}; {float(test.noise_share):.0%} of its variance "
                    "is noise.")
    return said
