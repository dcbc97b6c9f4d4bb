"""Published results of noised counts: the table itself, and the curves computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.types import Array, Estimate, EventData, EventFacts
from engine.language.counts import (
    allowed,
    begins_late,
    censoring,
    contrasts,
    count_columns,
    entry_columns,
    hazard_ratio,
    independence,
    mean,
    median,
    order_in_bins,
    too_few,
)
from engine.language.numbers import named
from engine.mechanisms import Mechanism
from engine.numerics.counts.comparisons import hazard_ratio as hazard_ratios
from engine.numerics.counts.comparisons import log_rank
from engine.numerics.counts.contrasts import Contrasts
from engine.numerics.counts.curves import CountedCurve
from engine.numerics.counts.distributions import Roc
from engine.numerics.counts.estimands import ESTIMANDS
from engine.numerics.counts.tables import CountTable
from engine.release.certified import ReleaseCost
from engine.release.functions import Axes, ReleasedFunctions, Table
from engine.release.sentences import budget_words
from engine.release.uncertainty import STAIRCASE, ReleasedBand, Uncertainty

AT_RISK = "at_risk"  # the table of times and of numbers at risk then in each group
_FEWEST_PLACES = 2


def released_counts(
    estimate: Estimate, mechanism: Mechanism, data: EventData, cost: ReleaseCost, axes: Axes
) -> ReleasedFunctions:
    """Return one release's table, and its curves with bands as far as enough people remain."""
    x = axes.x
    table, estimand = first_table(estimate), ESTIMANDS[mechanism.main_task.key]
    names = estimate.functions or (estimand.quantity,)
    rows = np.atleast_2d(estimate.values(drawing_grid())[0, 0, 0])
    curves = curves_in(table, mechanism)
    count = _last_drawn(curves, x)
    begin = min(int((x < _first(curves, x)).sum()), count - _FEWEST_PLACES)
    ranges = {
        name: curve.staircase(x[begin:count])
        for name, curve in zip(names, curves, strict=bool(curves))
    }
    findings = _findings(table, curves, names, data.facts, estimand.roc(table))
    band = None
    if ranges:
        half = float(np.mean([(high - low).mean() / 2 for low, high in ranges.values()]))
        band = ReleasedBand(STAIRCASE, 0, (float(x[begin]), float(x[count - 1])), half)
    uncertainty = Uncertainty(
        band,
        mechanism.feasibility(data.sizes, cost.inner_budgets),
        estimate.warnings,
        findings=tuple(findings),
    )
    counts = Table(
        f"counts of {data.sizes.n_curves} people with discrete Laplace noise of scale "
        f"2/ε on each; {budget_words(cost.certified)}, certified"
        if table.entries is None
        else f"counts of {data.sizes.n_curves} people by exit with discrete Laplace noise of scale "
        f"{table.scales[0]:.4g} on each; {budget_words(cost.certified)} with the counts of "
        "entries.csv, certified",
        count_columns(table, data.facts),
    )
    at_risk = _at_risk(curves, data.facts)
    return ReleasedFunctions(
        x=x[begin:count],
        columns={name: row[begin:count] for name, row in zip(names, rows, strict=True)},
        ranges=ranges,
        uncertainty=uncertainty,
        tables={
            "counts": counts,
            **(
                {}
                if table.entries is None
                else {
                    "entries": Table(
                        "counts of the same people by entry with discrete Laplace noise of scale "
                        f"{table.entries.scales[0]:.4g} on each",
                        entry_columns(table.entries, data.facts),
                    )
                }
            ),
            **(
                {
                    AT_RISK: Table(
                        "numbers at risk, estimated from the noised counts in counts.csv", at_risk
                    )
                }
                if at_risk
                else {}
            ),
        },
    )


def first_table(estimate: Estimate) -> CountTable:
    """Return the table of the first release of an estimate of one budget."""
    released: CountTable = estimate.released[0]
    return released.picked(0, 0)


def curves_in(table: CountTable, mechanism: Mechanism) -> Sequence[CountedCurve]:
    """Compute the curves of a released table; none of scores, whose ROC curve has no band."""
    return ESTIMANDS[mechanism.main_task.key].bands(table, mechanism.values()["least_at_risk"])


def _at_risk(curves: Sequence[CountedCurve], facts: EventFacts) -> dict[str, list[Any]]:
    """Numbers at risk at the edges that are shown in every group, and how far off they may be."""
    counted = [curve for curve in curves if len(curve.at_risk)]
    if not counted:
        return {}
    groups = ("at risk",) if facts.group_weights or not facts.groups else facts.groups
    of_groups = counted[:: max(1, len(counted) // len(groups))]  # all causes have the same people
    last = max(int(curve.drawn.sum()) for curve in of_groups)
    table: dict[str, list[Any]] = {
        named(facts.time_name, facts.time_unit): list(of_groups[0].edges[: last + 1])
    }
    for name, curve in zip(groups, of_groups, strict=False):
        table[name] = [round(float(number)) for number in curve.at_risk[: last + 1]]
        table[f"{name}, ± (95 %)"] = [
            round(float(width), 1) for width in curve.at_risk_width[: last + 1]
        ]
    return table


def _first(curves: Sequence[CountedCurve], x: Array) -> float:
    """Return the time at which all curves have begun."""
    return max((float(curve.first) for curve in curves), default=float(x[0]))


def _last_drawn(curves: Sequence[CountedCurve], x: Array) -> int:
    """Count the places shown: as far as enough people of every group remain, at least two."""
    last = min((float(curve.last) for curve in curves), default=float(x[-1]))
    return max(_FEWEST_PLACES, int((x <= last * (1 + 1e-12)).sum()))


def _findings(
    table: CountTable,
    curves: Sequence[CountedCurve],
    names: Sequence[str],
    facts: EventFacts,
    roc: Roc | None,
) -> list[str]:
    """Write report sentences about results from the counts other than the curves."""
    if roc is not None:
        return [
            f"Area under the ROC curve: {float(roc.area):.3f} ± {float(roc.half_width):.3f} "
            f"(95 %). {order_in_bins(roc)}".rstrip()
        ]
    sentences, unit, several = list[str](), facts.time_unit, len(names) > 1
    sentences += filter(
        None,
        (
            begins_late(curves, facts),
            too_few(curves, facts, ", by the noised counts"),
            censoring(curves, facts),
        ),
    )
    if any(len(curve.at_risk) for curve in curves):
        sentences.append(independence(curves, facts))
    for name, curve in zip(names, curves, strict=True):
        text = " ".join(filter(None, (median(curve, unit), mean(curve, unit))))
        if text:
            sentences.append(f"{name}: {text}" if several else text)
    if table.is_tested:
        test = log_rank(table)
        sentences += [
            f"Log-rank test of the two groups: z = {float(test.statistic):.2f}, "
            f"p = {float(test.p_value):.3f}; {float(test.noise_share):.0%} of its variance "
            f"is noise. {allowed(test, facts)}".rstrip(),
            hazard_ratio(hazard_ratios(table), *facts.groups),
        ]
    if table.is_compared and all(curve.falls for curve in curves):
        sentences += filter(None, [contrasts(Contrasts.of(curves), curves[0], names, facts)])
    return sentences
