"""Texts that are the same but for how they are written: “yes” and “Yes”, “St Mary” and “St. Mary”.

A stated text, the name of a site or of a group counts as it stands. Another spelling of it would be
somebody else without a word: a death that counts as none, a site of a single person. So it is
refused, with the number of spellings and without any of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.core.errors import InputError
from engine.core.lists import counted
from engine.uploads.cells import NUMBER

OF_UNITS = ("unit", "units", "uom", "value_unit", "result_unit", "unit_of_measure")
OF_KINDS = (
    "test",
    "test_name",
    "test_code",
    "lab_test",
    "analyte",
    "parameter",
    "param",
    "paramcd",
    "component",
    "lbtest",
    "lbtestcd",
    "vstest",
    "vstestcd",
    "loinc",
    "itemid",
    "item_id",
    "analyt",
    "messgrosse",
)


def plain_spelling(text: str) -> str:
    """Return what texts are compared by: without case, dots, commas and quotes, and 1.0 as 1.

    Examples
    --------
    >>> plain_spelling("St. Mary"), plain_spelling(" st  mary"), plain_spelling("1.0")
    ('st mary', 'st mary', '1')
    """
    text = text.strip()[:200]
    if re.fullmatch(NUMBER, text.lower()):
        return f"{float(text):.15g}"
    words = re.sub(r"[.,;:_'’\"]", " ", text.casefold()).split()
    return " ".join(words) or text


def check_spellings(texts: Iterable[str], stated: Sequence[str], field: str) -> None:
    """Refuse texts of a column that are stated ones in another spelling."""
    known = {plain_spelling(text) for text in stated}
    others = sum(plain_spelling(text) in known for text in texts if text not in stated)
    if others:
        raise InputError(
            f"The file holds {counted(others, 'other spelling')} of the {field} that are stated, "
            "such as Yes for yes or 1.0 for 1.",
            field=field,
            hint="Write them alike in the file, or state each spelling: any other "
            "would count as something else.",
        )


def check_sites(names: Sequence[str]) -> None:
    """Refuse stated sites that are one site in several spellings, with their number."""
    several = sum(number > 1 for number in Counter(map(plain_spelling, names)).values())
    if several:
        raise InputError(
            f"{counted(several, 'site')} {'is' if several == 1 else 'are'} spelled in several "
            "ways.",
            field="site",
            hint="Give all spellings of a site one meaning in the “words” "
            "of “site”: otherwise each is a site of its own, with its own noise.",
        )
