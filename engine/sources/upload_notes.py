"""What the holder of a file is told about how its curves were read: words and counts, no values.

The counts are of private data, so they are for the holder of the file alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.sources.table_words import counted, listed
from engine.sources.tables import Numbers, Table
from engine.sources.upload_columns import Integers
from engine.sources.upload_layout import FEW_TIMES, KINDS, Layout
from engine.types import Array

_RAGGED = 10  # longest over median number of readings from which a note is made


def read_as(table: Table, layout: Layout) -> list[str]:
    """How the table was taken, and which columns were not used."""
    notes = [KINDS["wide" if layout.is_wide else "long"]]
    if layout.is_wide:
        notes.append(f"times are the numbers in the names of {len(layout.times)} columns such as "
                     f"{listed([layout.times[0][0]])}")
        if len(layout.times) <= FEW_TIMES and not layout.times[0][0][:1].isalpha():
            notes.append("few times: if the first line is a row of data, put one of names above it")
    unused = [column for column in table.columns if column not in layout.columns]
    return notes + ([f"not used: {listed(unused)}"] if unused else [])


def several_rows(rows: Integers, several: str) -> str:
    """Who is protected where people have several `rows` each (people,)."""
    start = f"{(rows > 1).sum():,} of {len(rows):,} people have several rows"
    if several == "average":
        return f"{start}: they were averaged, so that one person is protected"
    return f"{start}: one row is protected, not one person"


def left_out(columns: Mapping[str, Numbers], n_left_out: int, single: bool) -> list[str]:
    """What was missing; how many observations are left is private, single ones stay counted."""
    if not n_left_out:
        return []
    where = [name for name, column in columns.items() if column.missing + column.infinite]
    infinite = sum(column.infinite for column in columns.values())
    what, then = "left out", "how many a curve has left stays private"
    if single:
        what, then = "missing", "their people count, with the middle of the stated bounds"
    return [f"{counted(n_left_out, 'reading')} {what}, because cells of {listed(where)} hold no "
            "number" + (f" ({infinite:,} infinite)" if infinite else "") + f"; {then}"]


def seen(times: Array, values: Array, counts: Integers, covariates: Array, repeated: int
         ) -> list[str]:
    """What a person should know before they believe a picture; counts only."""
    used = counts[counts > 0]
    without = int(np.isnan(covariates).any(axis=1).sum())
    applies = {
        f"{counted(len(counts) - len(used), 'curve')} without a reading, still counted as people":
            len(used) < len(counts),
        f"{counted(repeated, 'reading')} at the same time as another of the same curve": repeated,
        f"{counted(without, 'curve')} without a value of a covariate: still counted, left out of "
        "coefficients": without,
        "only one curve: nothing can be averaged": len(counts) == 1,
        "one reading per curve: the average can be estimated, spread within a curve cannot":
            used.max() == 1,
        "all readings at the same time: only that point can be estimated": times.min() ==
            times.max(),
        "all readings are equal: the curves show no variation": values.min() == values.max(),
        "some curves have over ten times as many readings as the median curve; each curve counts "
        "the same": used.max() > _RAGGED * np.median(used),
    }
    return [note for note, holds in applies.items() if holds]


def seen_in_single(times: Array, values: Array) -> list[str]:
    """The same of single readings."""
    applies = {
        "only one reading": len(values) == 1,
        "all readings at the same time: only that point can be estimated": times.min() ==
            times.max(),
        "all readings are equal": values.min() == values.max()}
    return [note for note, holds in applies.items() if holds]
