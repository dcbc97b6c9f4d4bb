"""Whose the lines of a file are, as far as names and repeated ids say it; nobody else decides.

No column is taken because it is the only one left: it might hold visits, row numbers, labels or
devices, and would then protect one of those in place of a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.ids import ROUNDED, IdForm, canonical_texts, lost_digits, n_alike
from engine.uploads.limits import have
from engine.uploads.proposing.content import Content
from engine.uploads.proposing.names import (
    DEVICES,
    is_id,
    is_of_no_person,
    names_people,
    plain_name,
    rank_of_people,
)
from engine.uploads.proposing.questions import Question, ReadingOption
from engine.uploads.reading_of_files import Kind, LineOwner
from engine.uploads.units import known_unit

_TOTALS = frozenset(
    (
        "total",
        "totals",
        "subtotal",
        "grand_total",
        "sum",
        "mean",
        "average",
        "avg",
        "median",
        "overall",
        "sd",
        "std",
        "std_dev",
        "standard_deviation",
        "variance",
        "count",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "mittelwert",
        "durchschnitt",
        "total_general",
        "somme",
        "moyenne",
        "totaux",
        "suma",
        "promedio",
        "totale",
        "somma",
        "totaal",
        "gemiddelde",
    )
)
_ENDS = ("min", "max")
_SIZE = r"^n\s*=\s*[0-9]+$"
_MANY = 10  # different texts, from which a column may name people
_OFFERED = 8  # columns
_WORDS = (
    '"person": {"column": "…"}; or, if every line is another person, '
    '"person": {"rows": true}; or, if the whole file is one person’s, '
    '"person": {"file": true}'
)


@dataclass(frozen=True, eq=False)
class Ids:
    """A column looked at as ids of people: counts for the holder alone."""

    content: Content

    @property
    def form(self) -> IdForm:
        """Numbers if all are whole: then leading zeros and .0 make no difference."""
        return IdForm.NUMBER if self.content.are_whole else IdForm.TEXT

    @cached_property
    def n_people(self) -> int:
        """Different ids in their normal form."""
        texts = pc.unique(canonical_texts(self.content.texts, self.form))
        return len(texts) - int(pc.any(pc.equal(texts, "")).as_py())

    @property
    def n_merged(self) -> int:
        """Spellings that are another id in its normal form."""
        written = self.content.texts
        return len(written) - int(pc.any(pc.equal(written, "")).as_py()) - self.n_people

    def n_without(self, missing: Sequence[str]) -> int:
        """Return the lines in which nothing visible or a text of missing cells stands."""
        own = canonical_texts(self.content.texts)
        is_none = pc.or_(
            pc.equal(own, ""),
            pc.is_in(pc.utf8_lower(self.content.texts), value_set=pa.array(missing, pa.string())),
        )
        return int(self.content.lines[np.asarray(is_none)].sum())

    @property
    def repeats(self) -> bool:
        """True if some id has several lines."""
        return self.n_people < self.content.n_known

    @property
    def counts(self) -> str:
        """Lines and ids in words."""
        merged = (
            f" with {counted(self.n_merged, 'other spelling')} of them" if self.n_merged > 0 else ""
        )
        return (
            f"{len(self.content.text):,} lines, {self.n_people:,} different "
            f"“{shortened(self.content.name)}”{merged}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A doubt if ids differ only by the alphabet of some letters."""
        number = n_alike(canonical_texts(self.content.texts, self.form))
        if not number:
            return ()
        return (
            f"{number:,} different “{shortened(self.content.name)}” differ only by letters that "
            "look alike, such as a Latin and a Cyrillic a: each counts as a person. If they are "
            "the same people, write their ids in one alphabet and save the file again",
        )

    @property
    def person(self) -> LineOwner:
        """The reading of these people."""
        return LineOwner(column=self.content.name, form=self.form)

    @property
    def option(self) -> ReadingOption:
        """The answer that these are the people."""
        return ReadingOption(
            f"Each “{shortened(self.content.name)}” is one person: {self.n_people:,}",
            {"person": _plain(self.person)},
        )


def _plain(person: LineOwner) -> dict[str, Any]:
    return {
        "column": person.column,
        **({"form": person.form.value} if person.form is not IdForm.TEXT else {}),
    }


ROWS = ReadingOption("Every line is another person", {"person": {"rows": True}})
FILE = ReadingOption("The whole file is one person’s", {"person": {"file": True}})


def proposed_ids(columns: Sequence[Content]) -> Ids | None:
    """Return the column whose name is usual for people, the likeliest first; None without."""
    for content in sorted(columns, key=lambda content: rank_of_people(content.name)):
        if names_people(content.name, content.n_different < content.n_known) and not (
            plain_name(content.name) == "unit" and all(map(known_unit, content.known))
        ):
            return Ids(content)
    return None


def possible_ids(columns: Sequence[Content]) -> list[Ids]:
    """Return the columns that a person may name, those called as visits or devices are last."""
    able = [
        content
        for content in columns
        if content.n_different > 1 and (content.are_whole or content.kind() is Kind.WORD)
    ]
    return [
        Ids(content)
        for content in sorted(
            able, key=lambda content: (is_of_no_person(content.name), rank_of_people(content.name))
        )
    ][:_OFFERED]


def is_total(text: str) -> bool:
    """True if a text is called like a total or an average: “Total:”, “Mean (n = 40)”."""
    return plain_name(text) in _TOTALS


def refuse_totals(ids: pa.Array, column: str) -> None:
    """Refuse lines, or columns, that are called like a total or an average: they are no people."""
    texts = pc.utf8_lower(ids)
    words = texts.filter(pc.match_substring_regex(texts, r"^\W*\pL"))
    ends = pc.is_in(pa.array(_ENDS), value_set=texts)  # both: one may be somebody called Max
    if (
        any(map(is_total, words.to_pylist()))
        or pc.all(ends).as_py()
        or pc.any(pc.match_substring_regex(texts, _SIZE)).as_py()
    ):
        where = f"Some lines of column “{shortened(column)}”" if column else "Some columns"
        raise InputError(
            f"{where} are called like a total or an average.",
            field=column or "header",
            hint="Leave them out: they would count as people. Rename a person who is called so.",
        )


def refuse_rounded(ids: Ids) -> None:
    """Refuse ids that a spreadsheet program rounded, as the strict reader does."""
    own = canonical_texts(ids.content.texts, ids.form)
    number = int(ids.content.lines[lost_digits(own)].sum())
    if number:
        raise InputError(
            f"{counted(number, 'line')} of column “{shortened(ids.content.name)}” "
            f"{have(number)} an id such as 1.2E+11, which has lost digits.",
            field=ids.content.name,
            hint=ROUNDED,
        )


def question_on_people(
    left: Sequence[Content],
    is_series: bool,
    are_lines: bool,
    of_columns: ReadingOption | None = None,
) -> Question:
    """Return the question who one person is; `left` are the columns without another role.

    Where a line is all that a person has, `are_lines`, no repeated text is likely to be one.
    `of_columns` is the answer that each column is a person, where that may be.
    """
    able = possible_ids(left)
    likely = [
        ids
        for ids in able
        if not are_lines
        and ids.repeats
        and ids.n_people >= _MANY
        and (plain_name(ids.content.name) in DEVICES or not is_of_no_person(ids.content.name))
    ]
    if is_series:
        first, evidence = (
            FILE,
            (
                "People are not named in this file: times increase from line to "
                "line, as in one person’s series."
            ),
        )
    elif likely:
        first, evidence = likely[0].option, f"{likely[0].counts}."
    else:
        first, evidence = ROWS, "People are not named in this file."
        shown = next((ids for ids in able if not ids.repeats or is_id(ids.content.name)), None)
        if shown is not None:
            how = "" if shown.repeats else ": it differs in every line, as row numbers do"
            evidence = f"{shown.counts}{how}."
    others = (*(ids.option for ids in able), ROWS, FILE, *((of_columns,) if of_columns else ()))
    rest = [option for option in others if option != first]
    return Question(
        field="person",
        question="No column names people yet.",
        options=(first, *rest),
        evidence=evidence,
        words=_WORDS,
    )
