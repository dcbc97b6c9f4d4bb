"""Sentences about noised counts: the table in columns, medians, means and ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.names import uncapital
from engine.core.types import Array, EventFacts
from engine.language.numbers import in_unit, number, percent, stated
from engine.numerics.counts.cells import Cells, Counted, VisitCells
from engine.numerics.counts.comparisons import HazardRatio, LogRank
from engine.numerics.counts.contrasts import Contrasts
from engine.numerics.counts.curves import CountedCurve
from engine.numerics.counts.distributions import Roc
from engine.numerics.counts.tables import CountTable

_FEW_DIGITS = 6  # of an edge that somebody may have stated; one that is computed mostly has more
_NOTICED = 0.25  # of a half-width, by which censoring widens a band before it is told
CENSORED, BEYOND, WITHOUT = "censored", "still under observation", "without the label"


def entry_columns(table: CountTable, facts: EventFacts) -> dict[str, list[Any]]:
    """Tabulate every cell of the released entries, with its noised and its estimated count."""
    edges = table.cells.edges
    starts, ends = (-math.inf, *edges), (*edges, math.inf)
    groups = facts.groups if table.cells.n_groups > 1 else ("",)
    columns: dict[str, list[Any]] = {}
    if table.cells.n_groups > 1:
        columns["group"] = [name for name in groups for _ in starts]
    columns["from"] = [*starts] * len(groups)
    columns["to"] = [*ends] * len(groups)
    return columns | _counts(table)


def count_columns(table: CountTable, facts: EventFacts) -> dict[str, list[Any]]:
    """Tabulate every cell of a released table, with its noised and its estimated count."""
    cells, columns = table.cells, dict[str, list[Any]]()
    if cells.n_groups > 1:
        columns["group"] = [name for name in facts.groups for _ in range(cells.size)]
    if isinstance(cells, VisitCells):
        times = np.array([*cells.edges, math.inf])
        for name, places in zip(("last without", "first with"), cells.visits.T, strict=True):
            columns[name] = times[places].tolist() * cells.n_groups
        return columns | _counts(table)
    kinds = _kinds(cells, facts)
    last = cells.edges[-1]
    rows = [
        (start, end, kind)
        for kind in kinds
        for start, end in zip(cells.edges[:-1], cells.edges[1:], strict=True)
    ]
    if cells.counted is Counted.OUTCOMES:
        rows.append((last, float("inf"), BEYOND))
    columns["from"] = [row[0] for row in rows] * cells.n_groups
    columns["to"] = [row[1] for row in rows] * cells.n_groups
    columns["what"] = [row[2] for row in rows] * cells.n_groups
    return columns | _counts(table)


def _counts(table: CountTable) -> dict[str, list[Any]]:
    """Return the noised and the estimated count of every cell."""
    return {
        "noised count": table.noisy.ravel().tolist(),
        "estimated count": table.estimated.ravel().round(6).tolist(),
    }


def _kinds(cells: Cells, facts: EventFacts) -> list[str]:
    """Name the counts of each interval, in the order of the cells."""
    if cells.counted is Counted.VALUES:
        return ["value"]
    if cells.counted is Counted.LABELS:
        return [uncapital(facts.causes[0]), WITHOUT]
    events = list(facts.causes) if cells.n_causes > 1 else ["event"]
    return [*(uncapital(event) for event in events), CENSORED]


def at_edge(value: float, curve: CountedCurve, unit: str) -> str:
    """Write an edge of an interval with its unit: rounded if computed, and never if stated.

    Edges of `curve` end at the stated follow-up, or at the end of the stated range.
    """
    is_stated = value == curve.edges[-1] or value == float(f"{value:.{_FEW_DIGITS}g}")
    return stated(value, unit) if is_stated else in_unit(value, unit)


def median(curve: CountedCurve, unit: str) -> str:
    """State the median with its interval, or that it is not reached; empty for other curves."""
    if curve.median is None or not bool(curve.drawn.any()):
        return ""
    low, high = float(curve.median.low), float(curve.median.high)
    last = at_edge(float(curve.last), curve, unit)
    if not math.isfinite(float(curve.median.time)):
        return f"Median: not reached within {last}."
    until = f"to {in_unit(high, unit)}" if math.isfinite(high) else f"to beyond {last}"
    middle = in_unit(float(curve.median.time), unit)
    return f"Median: {middle} (95 % confidence interval {number(low)} {until})."


def censoring(curves: Sequence[CountedCurve], facts: EventFacts) -> str:
    """Explain what censoring within an interval does to limits, and where curves end for it.

    The text is empty if it makes no difference.
    """
    why = (
        f"so many {facts.people} are censored within one interval, and the counts do not tell when"
    )
    remedy = "A shorter follow-up or narrower intervals, stated beforehand, would help."
    ended = [float(curve.last) for curve in curves if bool(curve.is_ended_by_censoring)]
    if ended:
        last = min(ended)
        where = (
            "Nothing of the curve is"
            if last <= curves[0].edges[0]
            else f"Beyond {at_edge(last, curves[0], facts.time_unit)}, no curve is"
        )
        return f"{where} shown: {why}. {remedy}"
    if any(float(curve.limits.widening) > _NOTICED for curve in curves):
        return f"The band is wider because {why}. {remedy}"
    return ""


def independence(curves: Sequence[CountedCurve], facts: EventFacts) -> str:
    """State the assumption of curves about censored people, and the effect of its failure.

    No release shows it, so every release states it; survival curves with the size, where that is
    largest.
    """
    if facts.at_visits:
        return (
            "Curve and band assume that missed visits and ends of observation are independent of "
            "events, which no count shows."
        )
    assumed = (
        "Curve and band assume that late entry and censoring are independent of events, which no "
        "count shows."
        if facts.late_entry
        else "Curve and band assume that censoring is independent of events, which no count shows."
    )
    moved = [
        (float(curve.dependent[1][..., last] - curve.dependent[0][..., last]), curve, last)
        for curve in curves
        if curve.dependent is not None and (last := int(curve.drawn.sum()) - 1) >= 0
    ]
    if not moved:
        return assumed
    _, curve, last = max(moved, key=lambda each: each[0])
    assert curve.dependent is not None
    twice, half = (percent(float(values[..., last])) for values in curve.dependent)
    return (
        f"{assumed} If {facts.people} who were censored had twice the hazard of the others, "
        f"{percent(float(curve.values[..., last]))} at "
        f"{at_edge(float(curve.last), curve, facts.time_unit)} would be {twice}; with half of "
        f"it, {half}."
    )


def order_in_bins(roc: Roc) -> str:
    """State the effect of scores in one bin on the interval of the area; empty if it is none."""
    if float(roc.allowance) <= _NOTICED * float(roc.half_width):
        return ""
    return (
        "The interval is wider because the counts do not tell how scores within one bin are "
        "ordered. A range stated closely around the scores, or more intervals, would help."
    )


def begins_late(curves: Sequence[CountedCurve], facts: EventFacts) -> str:
    """Say where curves begin if too few people are there before; empty if they begin at once."""
    first = max((float(curve.first) for curve in curves), default=0.0)
    if not curves or first <= curves[0].edges[0]:
        return ""
    return (
        f"The curve begins at {at_edge(first, curves[0], facts.time_unit)}: earlier too few "
        f"{facts.people} were under observation. It is about {facts.people} without an event "
        "until then."
    )


def too_few(curves: Sequence[CountedCurve], facts: EventFacts, why: str = "") -> str:
    """Say where curves end because too few people are left; empty if they do not.

    An adjusted curve ends with its first group, which is named.
    """
    short = [
        curve
        for curve in curves
        if not bool(curve.enough.all()) and not bool(curve.is_ended_by_censoring)
    ]
    ended = [float(curve.last) for curve in short]
    if not ended:
        return ""
    if facts.group_weights and short[0].ended_by is not None:
        counting = [
            name for name, weight in zip(facts.groups, facts.group_weights, strict=True) if weight
        ]
        why = f" of {counting[int(short[0].ended_by)]}, which ends the curve{why}"
        if min(ended) > curves[0].edges[0]:
            until = at_edge(min(ended), curves[0], facts.time_unit)
            return f"Beyond {until}, too few {facts.people} are left{why}."
    if min(ended) <= curves[0].edges[0]:
        return (
            f"Nothing of {'a' if len(curves) > 1 else 'the'} curve is shown: too few "
            f"{facts.people} are left after the first interval{why}."
        )
    until = at_edge(min(ended), curves[0], facts.time_unit)
    return f"Beyond {until}, too few {facts.people} are left to say{why}."


def mean(curve: CountedCurve, unit: str) -> str:
    """State the restricted mean, if it is given."""
    if curve.mean is None or not math.isfinite(float(curve.mean.mean)):
        return ""
    until = at_edge(float(curve.mean.until), curve, unit)
    middle = in_unit(float(curve.mean.mean), unit)
    return (
        f"Mean time without an event, within {until}: {middle} "
        f"± {number(float(curve.mean.half_width))}."
    )


def contrasts(
    compared: Contrasts, curve: CountedCurve, names: Sequence[str], facts: EventFacts
) -> str:
    """State how two groups differ in survival and in restricted means; empty if neither is told."""
    until = at_edge(compared.mean.until, curve, facts.time_unit)
    who = f"{names[0]} minus {names[1]}"
    survival, time = compared.milestone, compared.mean
    parts = []
    if math.isfinite(float(survival.difference)):
        points = _interval(survival.difference, survival.half_width, 100.0)
        parts.append(f"Without an event at {until}, {who}: {points.format(' percentage points')}.")
    if math.isfinite(float(time.difference)):
        unit = f" {facts.time_unit}" if facts.time_unit else ""
        text = _interval(time.difference, time.half_width).format(unit)
        ratio = (
            f", {number(float(time.ratio))} times (95 %: {number(float(time.low))} to "
            f"{number(float(time.high))})"
            if math.isfinite(float(time.ratio))
            else ""
        )
        parts.append(f"Mean time without an event within {until}, {who}: {text}{ratio}.")
    return " ".join(parts)


def _interval(value: Array, half_width: Array, times: float = 1.0) -> str:
    """Write a number with a gap for its unit, and its 95 % interval."""
    middle, half = times * float(value), times * float(half_width)
    return f"{number(middle)}{{}} (95 %: {number(middle - half)} to {number(middle + half)})"


def allowed(test: LogRank, facts: EventFacts) -> str:
    """Say how much censoring takes off a log-rank test; empty if that is little."""
    less = float(test.allowance)
    return (
        ""
        if less <= _NOTICED
        else (
            f"Its z is {number(less)} nearer to 0, and the interval of the hazard ratio wider, because "
            f"the counts do not tell when within an interval {facts.people} were censored."
        )
    )


def hazard_ratio(hazards: HazardRatio, first: str, second: str) -> str:
    """State the ratio of hazards with its interval, or that the noised counts give none."""
    ratio, low, high = (float(each) for each in (hazards.ratio, hazards.low, hazards.high))
    name = f"Hazard ratio, {first} over {second}"
    if not math.isfinite(ratio) or math.isnan(low) or math.isnan(high):
        return f"{name}: the noised counts give none."
    if low == 0 and math.isinf(high):
        return f"{name}: {number(ratio)}; no ratio can be excluded."
    ends = (
        f"at most {number(high)}"
        if low == 0
        else f"at least {number(low)}"
        if math.isinf(high)
        else f"{number(low)} to {number(high)}"
    )
    return f"{name}: {number(ratio)} (95 % confidence interval {ends})."
