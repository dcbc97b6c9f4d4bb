"""A table of noised counts as columns that people can read and compute with."""

from __future__ import annotations

from typing import Any

from engine.core.types import EventFacts
from engine.numerics.counts.cells import Cells, Counted
from engine.numerics.counts.tables import CountTable

CENSORED, BEYOND, WITHOUT = "censored", "still under observation", "without the label"


def count_columns(table: CountTable, facts: EventFacts) -> dict[str, list[Any]]:
    """Every cell of a released table, with its noised and its estimated count.

    Parameters
    ----------
    table : CountTable
        Of one release, (groups, m).
    facts : EventFacts
        Names of causes and groups.

    Returns
    -------
    dict of str to list
        Columns of equal length.
    """
    cells, columns = table.cells, dict[str, list[Any]]()
    if cells.n_groups > 1:
        columns["group"] = [name for name in facts.groups for _ in range(cells.size)]
    kinds = _kinds(cells, facts)
    last = cells.edges[-1]
    rows = [(start, end, kind) for kind in kinds
            for start, end in zip(cells.edges[:-1], cells.edges[1:], strict=True)]
    if cells.counted is Counted.OUTCOMES:
        rows.append((last, float("inf"), BEYOND))
    columns["from"] = [row[0] for row in rows] * cells.n_groups
    columns["to"] = [row[1] for row in rows] * cells.n_groups
    columns["what"] = [row[2] for row in rows] * cells.n_groups
    columns["noised count"] = table.noisy.ravel().tolist()
    columns["estimated count"] = table.estimated.ravel().round(6).tolist()
    return columns


def _kinds(cells: Cells, facts: EventFacts) -> list[str]:
    """What is counted in each interval, in the order of the cells."""
    if cells.counted is Counted.VALUES:
        return ["value"]
    if cells.counted is Counted.LABELS:
        return [facts.causes[0].lower(), WITHOUT]
    events = list(facts.causes) if cells.n_causes > 1 else ["event"]
    return [*(event.lower() for event in events), CENSORED]
