"""A proposal how a file may be read, made by looking at all of it: for its holder alone.

    bytes ── propose ──→ Proposal: a reading with gaps, what is likely, what to ask, with evidence

One person's cells can change a proposal about everybody's. So it is no part of anything certified:
a person confirms it, fills its gaps, and from then on the reading stands
(`engine.uploads.reading_of_files`). Two things are never proposed as settled: who a person is,
where no usual name says it, and whether the day or the month comes first, where dates allow both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.errors import InputError
from engine.core.lists import counted, listed, shortened
from engine.core.tasks import DataType
from engine.numerics.counts.cells import Counted
from engine.uploads.bounded import within_bounds
from engine.uploads.limits import LIMITS, FileLimits, have
from engine.uploads.proposing.asking import doubts_of, gaps_of, notes_on
from engine.uploads.proposing.content import MISSING
from engine.uploads.proposing.examples import examples_of, summary_of
from engine.uploads.proposing.framing import framed
from engine.uploads.proposing.moments import beginning_of, kind_of_name, refuse_compact
from engine.uploads.proposing.names import plain_name
from engine.uploads.proposing.people import (
    Ids,
    is_total,
    proposed_ids,
    refuse_rounded,
    refuse_totals,
)
from engine.uploads.proposing.questions import Question, likely
from engine.uploads.proposing.roles import (
    EVENTS,
    FileKind,
    Inspection,
    Roles,
    column_of,
    hours_of,
    roles_of,
)
from engine.uploads.proposing.series import is_family_of_people
from engine.uploads.proposing.stated import Stated
from engine.uploads.reading_of_files import CODED, Column, Kind, LineOwner, Reading
from engine.uploads.spellings import OF_KINDS, OF_UNITS, plain_spelling
from engine.uploads.units import known_unit

_OF_DATA = {
    DataType.CURVES: FileKind.CURVES,
    DataType.READINGS: FileKind.SINGLE,
    DataType.RECORDS: FileKind.RECORDS,
    Counted.OUTCOMES: FileKind.OUTCOMES,
    Counted.VALUES: FileKind.VALUES,
    Counted.LABELS: FileKind.SCORES,
}
_MOST_KINDS = 100  # of measurement, or units; more texts are ids
_SENTENCE = r"\pL\S*\s+\S|:"  # a word with another behind it, or a colon
_SEVERAL = {FileKind.CURVES: "keep", FileKind.OUTCOMES: "join"}


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A proposed reading of a file: a reading with gaps, and notes for its holder."""

    kind: FileKind
    reading: Reading  # complete where `gaps` is empty
    likely: Reading  # every gap filled with the likeliest answer: for looking alone
    ask: tuple[Question, ...]  # gaps first, then doubts
    people: str  # one line on who one person is, in counts
    n_lines: int
    n_observations: int
    n_people: int | None  # None until somebody says who one person is
    examples: Mapping[str, tuple[str, ...]]  # column → invented cells with what they become
    notes: tuple[str, ...] = ()  # how the file is cut

    @property
    def gaps(self) -> tuple[Question, ...]:
        """Questions to answer before publication."""
        return tuple(question for question in self.ask if question.is_gap)

    @property
    def summary(self) -> str:
        """One line: people, time, value and observations."""
        return "; ".join(summary_of(self.reading, self.n_people, self.n_observations))

    @property
    def lines(self) -> tuple[str, ...]:
        """Notes for the holder: who counts as a person, what to state, and what to look at."""
        asked = (
            line
            for question in self.ask
            for line in (
                f"{'To be said' if question.is_gap else 'To be looked at'}: {question.question} "
                f"{question.evidence}".rstrip(),
                *((f"  State {question.words}.",) if question.is_gap else ()),
            )
        )
        return (f"{self.people.removesuffix('.')}.", *asked)

    def to_plain(self) -> dict[str, Any]:
        """Return the reading as JSON holds it, with all that is to be asked."""
        asked = {"ask": [question.to_plain() for question in self.ask]} if self.ask else {}
        return {
            **{key: value for key, value in self.reading.to_plain().items() if key != "ask"},
            **asked,
        }


def propose(
    content: bytes,
    *,
    data: FileKind | DataType | Counted | str | None = None,
    stated: Mapping[str, Any] | None = None,
    encoding: str = "",
    sheet: str = "",
    limits: FileLimits = LIMITS,
) -> Proposal:
    r"""Propose how a file may be read, with gaps where nobody but a person can say it.

    The content is a text table, a workbook, an export of a device, or an archive of these. What is
    stated, with keys such as `columns`, `day_first` and `events`, is not guessed.

    Examples
    --------
    >>> proposal = propose(b"child_id,age,height\nann,2,86\nann,6,115\nbob,2,84\n")
    >>> proposal.people, proposal.gaps
    ('3 lines, 2 different “child_id”: one id is one person', ())
    """
    look = Inspection(framed(content, encoding, sheet, limits), Stated.of(stated))
    _refuse_totals_of_lines(look)
    roles = roles_of(look, _kind(data))
    ids = _ids(look, roles)
    reading = _reading(look, roles, ids)
    ask = (
        *gaps_of(look, roles, reading, _beginning(look, roles, reading, ids)),
        *doubts_of(look, roles, reading),
    )
    return Proposal(
        kind=roles.kind,
        reading=reading,
        likely=likely(reading, ask),
        ask=ask,
        people=_people(look, reading, ids, ask),
        n_lines=look.framed.n_lines,
        n_observations=look.framed.n_lines
        * (len(look.columns) - 1 if roles.people_in_columns else max(len(roles.at), 1)),
        n_people=_n_people(look, reading, ids),
        examples=examples_of(reading),
        notes=(
            *look.framed.notes,
            *notes_on(look, roles, reading),
            *([] if ids is None else ids.notes),
        ),
    )


def _refuse_totals_of_lines(look: Inspection) -> None:
    """Refuse totals among lines, by the first column, and among columns of people."""
    first, *others = look.columns.values()
    refuse_totals(first.texts, first.name)
    if is_family_of_people([each.name for each in others if not is_total(each.name)], look.named):
        refuse_totals(pa.array([each.name for each in others]), "")


def propose_within(
    content: bytes,
    *,
    data: FileKind | DataType | Counted | str | None = None,
    stated: Mapping[str, Any] | None = None,
    encoding: str = "",
    sheet: str = "",
) -> Proposal:
    """Propose how a file may be read, within bounds of time and memory whatever the file is."""
    return within_bounds(
        partial(propose, data=data, stated=stated, encoding=encoding, sheet=sheet), content
    )


def _kind(data: FileKind | DataType | Counted | str | None) -> FileKind | None:
    """Return what the file is said to hold."""
    if data is None or isinstance(data, FileKind):
        return data
    known = {kind.value: kind for kind in FileKind} | {
        key.value: kind for key, kind in _OF_DATA.items()
    }
    if str(data) not in known:
        raise InputError(f"“data” must be one of {', '.join(FileKind)}.", field="data")
    return known[str(data)]


# -- the reading -----------------------------------------------------------------------------------


def _reading(look: Inspection, roles: Roles, ids: Ids | None) -> Reading:
    """Return the reading with all that is proposed as settled."""
    of_curves = roles.kind not in EVENTS
    columns = {
        role: column_of(look, names, role, of_curves) for role, names in roles.single.items()
    }
    for role in ("start", "entry"):  # a name may speak of a start, and its cells of something else
        if (
            role in columns
            and role not in look.choices
            and (columns[role].kind is not columns["time"].kind)
        ):
            del columns[role]
    _refuse_compact(look, roles, columns)
    frame, person = look.framed.frame, _person(look, roles, ids)
    values = None
    if roles.people_in_columns:
        values = _of_values(look, list(look.columns)[1:])
        frame = replace(frame, header=frame.header[:1], people="columns")
    elif roles.at:
        values = _of_values(look, [name for name, _ in roles.at])
    listed = {
        name: tuple(column_of(look, [column], name) for column in getattr(roles, name))
        for name in ("covariates", "features")
    }
    missing = _missing(look, roles)
    _refuse_kinds(look, roles, ids)
    if ids is not None:
        _refuse_lines_without_id(ids, missing)
        refuse_rounded(ids)
        refuse_totals(ids.content.texts, ids.content.name)
        _refuse_footers(look, ids)
    elif roles.people_in_columns:
        refuse_totals(pa.array([*look.columns][1:]), "")
    return Reading(
        frame=frame,
        person=person,
        columns=columns,
        values=values,
        at=tuple((look.raw(name), time) for name, time in roles.at),
        decimal=look.decimal,
        missing=missing,
        several=_several(look, roles),
        covariates=listed.get("covariates", ()),
        features=listed.get("features", ()),
    )


def _refuse_compact(look: Inspection, roles: Roles, columns: Mapping[str, Column]) -> None:
    """Refuse times, in cells or in names of columns, that are dates or clock times unmarked."""
    if roles.kind in (FileKind.VALUES, FileKind.SCORES):
        return
    for role in ("time", "start", "entry", "without"):
        if role in columns and columns[role].kind is Kind.NUMBER:
            refuse_compact(
                look.columns[roles.single[role][0]].numbers(look.decimal), columns[role].name
            )
    if roles.at and kind_of_name(roles.at[0][0]) is None:
        refuse_compact(np.array([time for _, time in roles.at]), roles.at[0][0])


def _of_values(look: Inspection, names: Sequence[str]) -> Column:
    """Return how the cells of curves in rows or columns are read: all of one kind."""
    columns = [column_of(look, [name], "values") for name in names]
    kinds = {column.kind for column in columns}
    if len(kinds) > 1 or not kinds <= {Kind.NUMBER, Kind.PERCENTAGE}:
        others = [column.names[0] for column in columns if column.kind is not Kind.NUMBER]
        raise InputError(
            f"The columns of observations such as {listed(others[:1])} do not hold numbers alone.",
            field="columns",
            hint="Write one kind of number in all of them.",
        )
    units = {column.unit for column in columns}
    return Column(names=(), kind=kinds.pop(), unit=units.pop() if len(units) == 1 else "")


def _missing(look: Inspection, roles: Roles) -> tuple[str, ...]:
    """Return the usual texts of missing cells that occur where numbers and dates may stand.

    Among words, such as of a status, “none” may mean something.
    """
    names = (
        *(name for role, names in roles.single.items() if role not in CODED for name in names),
        *roles.covariates,
        *roles.features,
        *(name for name, _ in roles.at),
        *roles.candidates,
        *([*look.columns][1:] if roles.people_in_columns else ()),
    )
    occurring = {text.casefold() for name in names for text in look.columns[name].missing}
    return ("", *sorted(occurring))


def _refuse_kinds(look: Inspection, roles: Roles, ids: Ids | None) -> None:
    """Refuse a column of values of several kinds, or in several units, as another column says."""
    role = "time" if roles.kind is FileKind.VALUES else "value"
    for value in roles.single.get(role, ()):
        for column in look.free(roles.used):
            name = plain_name(column).removeprefix(f"{plain_name(value)}_")
            of_units, content = name in OF_UNITS, look.columns[column]
            known = content.known if of_units else [*filter(None, content.texts.to_pylist())]
            is_id = ids is not None and ids.content is content
            if is_id or (not of_units and name not in OF_KINDS) or len(known) > _MOST_KINDS:
                continue
            number = len(
                {
                    known_unit(text) or plain_spelling(text) if of_units else plain_spelling(text)
                    for text in known
                }
            )
            if number > 1:
                kinds = "units" if of_units else "kinds of measurement"
                raise InputError(
                    f"The column “{shortened(column)}” names {number:,} {kinds}, and “"
                    f"{shortened(value)}” holds the values of all.",
                    field=column,
                    hint="Bring all values to one unit, or keep the lines of one."
                    if of_units
                    else "Keep the lines of one, or leave the column out if it names something else.",
                )


def _refuse_lines_without_id(ids: Ids, missing: Sequence[str]) -> None:
    marked = ids.n_without(MISSING)  # one may be somebody who is called so
    number = marked if marked > 1 else ids.n_without(missing)
    if number:
        raise InputError(
            f"{counted(number, 'line')} of column “{shortened(ids.content.name)}” "
            f"{have(number)} no id.",
            field=ids.content.name,
            hint="Fill it in or leave those lines out: lines that nobody is named in "
            "cannot be protected.",
        )


def _refuse_footers(look: Inspection, ids: Ids) -> None:
    """Refuse lines with nothing beside an id of several words, where others have one: footnotes."""
    is_sentence = np.asarray(pc.match_substring_regex(ids.content.texts, _SENTENCE))
    of_lines = is_sentence[ids.content.codes]
    if not of_lines.any() or 2 * of_lines.sum() > len(of_lines):
        return
    others = [content for content in look.columns.values() if content is not ids.content]
    alone = of_lines & np.all(
        [np.asarray(pc.equal(pc.utf8_trim_whitespace(content.text), "")) for content in others],
        axis=0,
    )
    if alone.any():
        number = int(alone.sum())
        raise InputError(
            f"{counted(number, 'line')} {have(number)} a text in “{shortened(ids.content.name)}” "
            "and nothing else, as notes below a table do.",
            field=ids.content.name,
            hint="Leave notes out: they would count as people.",
        )


def _several(look: Inspection, roles: Roles) -> str:
    """Return what becomes of several lines of one person."""
    if look.stated.several:
        return look.stated.several
    if look.framed.frame.export or roles.at:
        return "average"
    return _SEVERAL.get(roles.kind, "refuse")


def _beginning(look: Inspection, roles: Roles, reading: Reading, ids: Ids | None) -> str:
    """Return what the dates of observations most likely count."""
    time = reading.columns.get("time")
    if time is None or time.kind is not Kind.DATE or roles.kind in EVENTS:
        return ""
    hours = hours_of(look, roles.single["time"], time.order)
    person = (
        np.zeros(len(hours), dtype=np.int64)
        if roles.people_in_columns or ids is None
        else ids.content.codes
    )
    return beginning_of(hours, person)


# -- people ----------------------------------------------------------------------------------------


def _ids(look: Inspection, roles: Roles) -> Ids | None:
    """Return the column of people that was stated, or that has a usual name."""
    if roles.people_in_columns or look.framed.frame.export:
        return None
    if "id" in look.choices:
        named = look.choices["id"]
        return Ids(look.columns[named]) if named else None
    return proposed_ids([look.columns[name] for name in look.free(roles.used)])


def _person(look: Inspection, roles: Roles, ids: Ids | None) -> LineOwner | None:
    if roles.people_in_columns:
        return LineOwner(header=True)
    if look.framed.frame.export:
        return LineOwner(column="id") if look.framed.names_people else LineOwner(file=True)
    if "id" in look.choices and look.choices["id"] is None:
        return LineOwner(rows=True)
    return None if ids is None else ids.person


def _people(look: Inspection, reading: Reading, ids: Ids | None, ask: tuple[Question, ...]) -> str:
    """Return the line on people, in counts."""
    person, n = reading.person, f"{look.framed.n_lines:,}"
    if person is None:
        return next(question.evidence for question in ask if question.field == "person")
    if person.header:
        number = len(look.framed.columns) - 1
        return f"{n} lines, and {number:,} columns beside the first: each column is one person"
    if person.rows:
        return f"{n} lines: every line is another person"
    if look.framed.frame.export:
        number = look.columns["id"].n_different
        whose = "one id" if person.column else "one file"
        return f"{n} observations of {counted(number, 'person').replace('persons', 'people')}: " + (
            f"{whose} is one person"
        )
    if person.file or ids is None:
        return f"{n} lines: the whole file is one person’s"
    return f"{ids.counts}: one id is one person"


def _n_people(look: Inspection, reading: Reading, ids: Ids | None) -> int | None:
    person = reading.person
    if person is None:
        return None
    if person.header:
        return len(look.framed.columns) - 1
    if look.framed.frame.export:
        return look.columns["id"].n_different
    return look.framed.n_lines if person.rows else 1 if ids is None else ids.n_people
