"""The part of a guarantee card that holds released counts: all that survival questions need."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from engine.answers.survival import ReleasedSurvival
from engine.core.errors import InputError, brief
from engine.core.types import Array, EventFacts
from engine.core.types.facts import MAX_GROUPS
from engine.numerics.counts.cells import Cells, EntryCells, VisitCells
from engine.numerics.counts.tables import CountTable

KEY = "counts"  # of the card's entry
VERSION = 1
_OF_VISITS = 2  # of counts by visits, which version 1 would take for counts by interval
_MAX_EDGES, _MAX_SITES, _LONGEST_NAME = 1000, 1000, 200
_AGAIN = "Write the files of the release again with this version, at no charge."
_WORDS = ("person", "people", "time_name", "time_unit")


def written(released: ReleasedSurvival) -> dict[str, Any]:
    """Released counts as plain values; every number is released or public."""
    table, facts = released.table, released.facts
    entries = table.entries
    return {
        "version": _OF_VISITS if table.is_of_visits else VERSION,
        "edges": list(table.cells.edges),
        "time_step": table.cells.time_step,
        "groups": list(facts.groups) if table.cells.n_groups > 1 else [],
        "group_sizes": list(facts.group_sizes) if table.cells.n_groups > 1 else [],
        "group_weights": list(table.group_weights),
        "exits": table.noisy.ravel().tolist(),
        "exit_scales": list(table.scales),
        "entries": None if entries is None else entries.noisy.ravel().tolist(),
        "entry_scales": [] if entries is None else list(entries.scales),
        "totals": list(table.totals),
        "site_weights": list(table.weights),
        "spread": table.spread,
        "least_at_risk": released.min_at_risk,
        "words": {name: getattr(facts, name) for name in _WORDS},
    }


def is_of_counts(card: Any) -> bool:
    """True if a guarantee card holds released counts."""
    return isinstance(card, Mapping) and KEY in card


def read(card: Mapping[str, Any]) -> ReleasedSurvival:
    """The released survival of a guarantee card."""
    entry = card[KEY]
    if not isinstance(entry, Mapping) or entry.get("version") not in (VERSION, _OF_VISITS):
        raise InputError(
            f"This version reads counts of versions {VERSION} and {_OF_VISITS}.",
            field=KEY,
            hint=_AGAIN,
        )
    is_of_visits, edges = entry["version"] == _OF_VISITS, _numbers(entry, "edges")
    if not 1 < len(edges) <= _MAX_EDGES or any(b <= a for a, b in pairwise(edges.tolist())):
        raise _wrong("edges", "rising numbers, two or more")
    groups = _names(entry)
    n_groups, step = max(1, len(groups)), float(_number(entry, "time_step"))
    sizes, weights = (_numbers(entry, name) for name in ("group_sizes", "group_weights"))
    words = _words(entry)
    facts = EventFacts(
        time_low=float(edges[0]),
        time_high=float(edges[-1]),
        groups=groups,
        group_sizes=tuple(int(size) for size in sizes),
        group_weights=tuple(weights.tolist()),
        late_entry=entry.get("entries") is not None,
        edges=tuple(edges.tolist()) if is_of_visits else (),
        at_visits=is_of_visits,
        time_step=step,
        **words,
    )
    totals, site_weights = (_numbers(entry, name) for name in ("totals", "site_weights"))
    if len(totals) not in (1, n_groups) or (totals <= 0).any():
        raise _wrong("totals", "positive numbers, one or one for each group")
    if not 1 <= len(site_weights) <= _MAX_SITES or (site_weights <= 0).any():
        raise _wrong("site_weights", "positive numbers, one for each site")
    kind = VisitCells if facts.at_visits else Cells
    cells = kind(tuple(edges.tolist()), n_groups=n_groups, time_step=step)
    public = (tuple(totals.tolist()), tuple(site_weights.tolist()), float(_number(entry, "spread")))
    table = _table(entry, ("exits", "exit_scales"), cells, public)
    entries = None
    if facts.late_entry:
        of_entries = EntryCells(cells.edges, n_groups=n_groups)
        entries = _table(entry, ("entries", "entry_scales"), of_entries, public)
    return ReleasedSurvival(
        replace(table, group_weights=facts.group_weights, entries=entries),
        facts,
        float(_number(entry, "least_at_risk")),
    )


def _table(
    entry: Mapping[str, Any],
    names: tuple[str, str],
    cells: Cells,
    public: tuple[tuple[float, ...], tuple[float, ...], float],
) -> CountTable:
    """A table of counts, with the scale of the noise of every site; `names` are of both."""
    counts_name, scales_name = names
    counts, scales = _numbers(entry, counts_name), _numbers(entry, scales_name)
    totals, weights, spread = public
    if len(counts) != cells.n_groups * cells.size:
        raise _wrong(counts_name, f"{cells.n_groups * cells.size} numbers")
    if len(scales) != len(weights) or (scales < 0).any():
        raise _wrong(scales_name, "a number for each site, 0 or more")
    noisy = counts.reshape(cells.n_groups, cells.size)
    return CountTable(cells, noisy, totals, tuple(scales.tolist()), weights, spread)


def _wrong(name: str, what: str) -> InputError:
    return InputError(f"“{name}” of the card must be {what}.", field=name, hint=_AGAIN)


def _number(entry: Mapping[str, Any], name: str) -> float:
    value = entry.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise _wrong(name, f"a number, 0 or more; got {brief(value)}")
    return float(value)


def _numbers(entry: Mapping[str, Any], name: str) -> Array:
    values = entry.get(name)
    fits = isinstance(values, list) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
        for value in values
    )
    if not fits or not isinstance(values, list):
        raise _wrong(name, "a list of numbers")
    return np.array(values, dtype=float)


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = entry.get("groups")
    if not isinstance(names, list) or len(names) > MAX_GROUPS or not _are_texts(names):
        raise _wrong("groups", "a list of names")
    return tuple(names)


def _words(entry: Mapping[str, Any]) -> dict[str, Any]:
    words = entry.get("words")
    if not isinstance(words, Mapping) or not _are_texts([words.get(name) for name in _WORDS]):
        raise _wrong("words", "an object of texts")
    return {name: words[name] for name in _WORDS}


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) and len(value) <= _LONGEST_NAME for value in values)
