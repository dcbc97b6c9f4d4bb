"""Texts that are the same but for how they are written: “yes” and “Yes”, “St Mary” and “St. Mary”.

A stated text, the name of a site or of a group counts as it stands. Another spelling of it would be
somebody else without a word: a death that counts as none, a site of a single person. So it is
refused, with the number of spellings and without any of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.tables import MISSING, NUMBER, Table, column_key
from engine.uploads.units import known_unit

_TOTALS = frozenset({"total", "totals", "subtotal", "grand total", "sum", "mean", "average",
                     "median", "overall", "summe", "gesamt", "mittelwert", "moyenne", "sd",
                     "std", "std dev", "standard deviation", "variance", "count"})
_ENDS = frozenset({"min", "max"})  # together they are no people called Max
_SIZE = re.compile(r"n\s*=\s*[0-9]+")
_INITIALS = frozenset(letter for word in (*_TOTALS, *_ENDS, *MISSING) for each in
                      (word, word.upper()) for letter in each[:1])
_LONGEST = max(map(len, (*_TOTALS, *MISSING)))
OF_UNITS = ("unit", "units", "uom", "value_unit", "result_unit", "unit_of_measure")
OF_KINDS = ("test", "test_name", "test_code", "lab_test", "analyte", "parameter", "param",
             "paramcd", "component", "lbtest", "lbtestcd", "vstest", "vstestcd", "loinc")
_ROUNDED = re.compile(r"[+-]?[0-9](\.[0-9]+)?[Ee]\+[0-9]{2,3}")  # as spreadsheets keep long numbers


def plain_spelling(text: str) -> str:
    """What texts are compared by: without case, dots, commas and quotes, and 1.0 as 1.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> plain_spelling("St. Mary"), plain_spelling(" st  mary"), plain_spelling("1.0")
    ('st mary', 'st mary', '1')
    """
    text = text.strip()[:200]
    if re.fullmatch(NUMBER, text):
        return f"{float(text):.15g}"
    words = re.sub(r"[.,;:_'’\"]", " ", text.casefold()).split()
    return " ".join(words) or text


def check_spellings(texts: Iterable[str], stated: Sequence[str], field: str) -> None:
    """Refuse texts of a column that are stated ones in another spelling.

    Parameters
    ----------
    texts : iterable of str
        Those of the column.
    stated : sequence of str
        The texts that mean something.
    field : str
        What is stated: events or groups.

    Raises
    ------
    InputError
        With the number of other spellings.
    """
    known = {plain_spelling(text) for text in stated}
    others = sum(plain_spelling(text) in known for text in texts if text not in stated)
    if others:
        raise InputError(
            f"The file holds {counted(others, 'other spelling')} of the {field} that are stated, "
            "such as Yes for yes or 1.0 for 1.", field=field,
            hint="Write them alike in the file, or state each spelling: one that is not stated "
            "would count as something else.")


def check_kinds(table: Table, columns: Iterable[str], value: str) -> None:
    """Refuse a column of values of several kinds, or in several units, as another column says.

    Parameters
    ----------
    columns : iterable of str
        Those without a role.
    value : str
        The column of values; empty where there is none.

    Raises
    ------
    InputError
        Naming both.
    """
    for column in columns if value else ():
        name = _plain_name(column).removeprefix(f"{_plain_name(value)}_")
        of_units = name in OF_UNITS
        if not of_units and name not in OF_KINDS:
            continue
        blank = MISSING if of_units else ("",)  # Na is sodium
        texts = {known_unit(text) * of_units or plain_spelling(text)
                 for text in table.codes(column)[1] if text.casefold() not in blank}
        if len(texts) > 1:
            kinds = "units" if of_units else "kinds of measurement"
            raise InputError(
                f"The column “{shortened(column)}” names {len(texts):,} {kinds}, and “"
                f"{shortened(value)}” holds the values of all.", field=column,
                hint="Bring all values to one unit, or keep the rows of one." if of_units else
                "Keep the rows of one, or leave the column out if it names something else.")


def _plain_name(column: str) -> str:
    return re.sub(r"[\W_]+", "_", column_key(column)).strip("_")


def check_sites(names: Sequence[str], column: str) -> None:
    """Refuse sites that are one site in several spellings.

    Parameters
    ----------
    names : sequence of str
        Texts of the column of sites.
    column : str
        That column.

    Raises
    ------
    InputError
        With the number of sites that are written in several ways.
    """
    several = sum(number > 1 for number in Counter(map(plain_spelling, names)).values())
    if several:
        raise InputError(
            f"{counted(several, 'site')} of the column “{shortened(column)}” "
            f"{'is' if several == 1 else 'are'} spelled in several ways.", field=column,
            hint="Write each site in one way, capitals and dots included: every spelling would be "
            "a site of its own, with its own noise and a public number of people.")


def check_ids(ids: Sequence[str], rows: NDArray[np.int64], column: str) -> None:
    """Refuse ids that are none: marks for missing ones, totals, and numbers that lost digits.

    One row whose id is NA may be a person who is called so, and is one person in any case.

    Parameters
    ----------
    ids : sequence of str
        Texts of the column of people.
    rows : (n,)
        How many rows each of them has.
    column : str
        That column.

    Raises
    ------
    InputError
        Saying which of these they are, with their number.
    """
    name = shortened(column)
    # of a million ids few are looked at: those that begin as one of these words does
    strange = {text.casefold(): int(rows[k]) for k, text in enumerate(ids)
               if text[:1] in _INITIALS and len(text) <= _LONGEST}
    missing = max(strange.get(mark, 0) for mark in MISSING)
    if missing > 1:
        raise InputError(
            f"{missing:,} rows of column “{name}” hold a mark for a missing id, such as NA.",
            field=column, hint="Fill in their ids or leave those rows out: as one id, all of them "
            "would count as one person.")
    if not _TOTALS.isdisjoint(strange) or {*strange} >= _ENDS or any(
            map(_SIZE.fullmatch, strange)):
        raise InputError(
            f"Some rows of column “{name}” are called like a total or an average.", field=column,
            hint="Leave those rows out: they would count as people. Rename a person who is called "
            "so.")
    rounded = sum(_ROUNDED.fullmatch(text) is not None for text in ids if "+" in text)
    if rounded:
        raise InputError(
            f"{counted(rounded, 'id')} of column “{name}” {'is' if rounded == 1 else 'are'} "
            "rounded, as spreadsheet programs do to long numbers (1.23E+11).", field=column,
            hint="Write all of their digits, as text: people whose ids are rounded alike would "
            "count as one.")
