"""The column that says which group a person is in: nobody may be in two."""

from __future__ import annotations

import numpy as np

from engine.core.errors import InputError
from engine.core.lists import shortened
from engine.uploads.columns import Integers
from engine.uploads.tables import Table


def groups_of_curves(table: Table, column: str, row_curve: Integers, person: Integers
                     ) -> tuple[Integers, tuple[str, ...]]:
    """The group of each curve.

    To replace a person changes every group that they are in, so all their rows must agree.

    Parameters
    ----------
    column : str
        Of the texts that name groups; a blank one is a group of people of whom nothing is said.
    row_curve : (rows,)
        The curve of each row.
    person : (n_curves,)
        The person of each curve, from 0.

    Returns
    -------
    group : (n_curves,)
        Places among the names.
    names : tuple of str
        Sorted, so that they do not depend on the order of rows.

    Raises
    ------
    InputError
        If somebody is in several groups, with their number.
    """
    codes, texts = table.codes(table.find(column))
    code = np.argsort(np.argsort(texts))[codes]
    n_people = int(person.max(initial=-1)) + 1
    low, high = np.full(n_people, len(texts)), np.full(n_people, -1)
    np.minimum.at(low, person[row_curve], code)
    np.maximum.at(high, person[row_curve], code)
    several = int((low < high).sum())
    if several:
        raise InputError(
            f"{several:,} of {n_people:,} people are in several groups of the column "
            f"“{shortened(column)}”.", field="group",
            hint="Only groups of which nobody is in two can be compared: whoever is in two pays "
            "for both releases, and these are not independent.")
    return low[person], tuple(sorted(texts))
