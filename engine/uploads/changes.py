"""Changes of the same people between two periods, from a file that holds both.

A person's change at a time is their value in the second period less that in the first, at times
that the person has in both; several observations of one period and time are averaged first. All of
it is a function of that person's lines alone, so that Lemma 1 of `engine.uploads.records` holds:
files that differ in the lines of one person, in one period or in both, differ in one curve of
changes. A mean of changes is then an ordinary release, with the sensitivities of any mean curve.
Somebody without a pair of observations keeps their place in the public number of people, with an
empty curve, so the guarantee does not rest on the statement that everybody is in both periods.
What is estimated does.

A clipped value does not pass through the periods: the stated bounds are those of a change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from engine.core.errors import InputError
from engine.core.names import uncapital
from engine.core.types import Array, PublicFacts
from engine.uploads.columns import Integers
from engine.uploads.reading_of_files import Reading

F = TypeVar("F", bound=PublicFacts)
_CHANGE = "Change in "


def changes_of(
    record: Integers, period: Integers, times: Array, values: Array, is_refused: bool
) -> tuple[Integers, Array, Array]:
    """Subtract the first period (0) from the second (1) at each time of a person.

    Returns record, time and change of each pair. Lines of another period or with a part missing are
    left out. `is_refused` refuses several observations of a person at one time of a period.

    Examples
    --------
    >>> person, wave = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    >>> changes_of(person, wave, np.array([6.0, 6, 7, 6]), np.array([3.0, 5, 9, 4]), False)
    (array([0]), array([6.]), array([2.]))
    """
    known = np.flatnonzero(np.isfinite(times) & np.isfinite(values) & (period >= 0))
    keys = (values[known], period[known], times[known], record[known])
    order = known[np.lexsort(keys)]
    record, period = record[order], period[order]
    times, values = times[order], values[order]
    is_new = np.append(
        True, (record[1:] != record[:-1]) | (times[1:] != times[:-1]) | (period[1:] != period[:-1])
    )[: len(record)]
    if is_refused and not is_new.all():
        number, n = len(np.unique(record[~is_new])), len(np.unique(record))
        raise InputError(
            f"{number:,} of {n:,} people have several observations at one time of a period.",
            field="several",
            hint="State “average” to use their average.",
        )
    starts = np.flatnonzero(is_new)
    if not len(starts):
        return record, times, values
    sizes = np.diff(np.append(starts, len(record)))
    # each part is divided first: a sum of large values could overflow
    means = np.add.reduceat(values / np.repeat(sizes, sizes), starts)
    record, times, period = record[starts], times[starts], period[starts]
    is_pair = (
        (record[1:] == record[:-1])
        & (times[1:] == times[:-1])
        & (period[:-1] == 0)
        & (period[1:] == 1)
    )
    second = np.flatnonzero(is_pair) + 1
    return record[second], times[second], means[second] - means[second - 1]


def of_changes(facts: F, reading: Reading | None) -> F:
    """Name the values of a reading with two periods as changes; other facts stay as they are."""
    if reading is None or not reading.is_of_changes:
        return facts
    if not facts.value_low < 0 < facts.value_high:
        raise InputError(
            "The bounds of a change must lie on both sides of 0.",
            field="value_low",
            hint="State how far one person can fall and rise between the periods, such as −5 and 5.",
        )
    if facts.value_name.startswith(_CHANGE):
        return facts
    return replace(facts, value_name=f"{_CHANGE}{uncapital(facts.value_name)}")
