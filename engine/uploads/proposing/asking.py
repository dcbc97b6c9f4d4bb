"""Questions about a file: gaps of its reading, and doubts about it, with evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.lists import counted, listed, shortened
from engine.uploads.misfits import LEAST_OF_TIMES, lonely_codes
from engine.uploads.proposing import names as usual
from engine.uploads.proposing.content import ORDERS
from engine.uploads.proposing.names import is_id, is_of_time, plain_name, says_censored, usual_names
from engine.uploads.proposing.people import question_on_people
from engine.uploads.proposing.questions import Question, ReadingOption
from engine.uploads.proposing.roles import (
    EVENTS,
    FileKind,
    Inspection,
    Roles,
    are_one_series,
    meaning_of,
    words_for_missing,
)
from engine.uploads.reading_of_files import (
    DAY,
    EACH_START,
    FIRST,
    Column,
    Kind,
    LineOwner,
    Order,
    Reading,
)

_OFFERED = 8  # columns, or texts
_KNOWN_PARTS = {"interval", "slot", "period", "hour", "minute", "hh", "clock"}  # of a day
_ORDERS = {
    Order.DMY: "Day first: 03/04/2024 is 3 April",
    Order.MDY: "Month first: 03/04/2024 is 4 March",
    Order.YMD: "Year first: 2024-03-04 is 4 March",
}
_WRITTEN = {Order.DMY: "day/month/year", Order.MDY: "month/day/year", Order.YMD: "year-month-day"}
_NEEDED = {
    FileKind.RECORDS: (),
    FileKind.OUTCOMES: ("time", "status"),
    FileKind.VALUES: ("time",),
    FileKind.SCORES: ("time", "status"),
}
_MEANT = {
    "time": "when an observation was made",
    "value": "what was measured",
    "status": "how a time ended",
    "start": "when each person’s own time begins",
}
_HELD = {
    FileKind.OUTCOMES: "how long somebody was followed",
    FileKind.VALUES: "the values",
    FileKind.SCORES: "the scores",
}


def gaps_of(look: Inspection, roles: Roles, reading: Reading, beginning: str) -> Iterator[Question]:
    """Yield what has to be said before anything is published."""
    if reading.person is None:
        yield question_on_people(
            _left(look, roles),
            are_one_series(look, roles),
            bool(roles.at) or roles.kind is not FileKind.CURVES,
            _of_columns(look) if roles.may_have_people_in_columns else None,
        )
    if roles.kind is FileKind.RECORDS and not roles.features:
        yield Question(
            field="columns.features",
            question="No column holds numbers.",
            options=(),
            words='"features": [{"name": "…", "kind": "number"}] in “columns”',
        )
    if not reading.is_wide:
        for role in _NEEDED.get(roles.kind, ("time", "value")):
            is_said = role == "status" and "without" in reading.columns
            if role not in reading.columns and not is_said:
                yield _on_role(look, roles, role, reading.person)
    time = reading.columns.get("time")
    if (
        roles.kind is FileKind.OUTCOMES
        and time is not None
        and time.kind is Kind.DATE
        and ("start" not in reading.columns)
    ):
        yield _on_role(look, roles, "start", reading.person)
    start = reading.columns.get("start")
    if start is not None and start.kind is not Kind.DATE and start.counted != EACH_START:
        yield _on_starts(look, roles, start)
    for role, column in reading.columns.items():
        if column.kind is Kind.DATE and column.order is Order.UNSTATED:
            yield _on_order(look, roles, role, column)
        if column.kind is Kind.WORD and not column.words:
            yield _on_words(look, roles, role, column)
    if time is not None and any(gap.field == "columns.time.from" for gap in reading.gaps):
        content = look.columns[roles.single["time"][0]]
        kind = "stamps with a time of day" if content.have_clock or len(time.names) > 1 else "dates"
        yield replace(
            _on_beginning(time, beginning or "calendar years"),
            is_gap=True,
            evidence=f"{content.n_known:,} {kind}.",
        )
    yield from _on_missing(look, roles, reading)


def doubts_of(look: Inspection, roles: Roles, reading: Reading) -> Iterator[Question]:
    """Yield what should be looked at in a reading that is complete without."""
    time = reading.columns.get("time")
    if (
        time is not None
        and time.kind in (Kind.DATE, Kind.CLOCK)
        and roles.kind not in EVENTS
        and (time.counted)
    ):
        yield _on_beginning(time, time.counted)
    for role, names in roles.single.items():
        if (
            role in reading.columns
            and reading.columns[role].kind is Kind.DATE
            and (len(names) == 1)
        ):
            yield from _on_offset(look, names[0], role)
    yield from _on_several(look, roles, reading)
    yield from _on_periods(look, roles, reading)
    site = look.by_name.get("server")
    if site is not None and "site" not in reading.columns and site not in roles.used:
        yield _on_sites(look, site)
    yield from _on_codes(look, roles, reading)


# -- gaps ------------------------------------------------------------------------------------------


def _left(look: Inspection, roles: Roles) -> list[Any]:
    """Return the columns that may name people: in no use, and neither times nor dates."""
    values = [name for name in roles.candidates if not is_id(name)]
    return [
        look.columns[name]
        for name in look.free((*roles.used, *values))
        if look.kind(name) in (Kind.WORD, Kind.NUMBER)
        and plain_name(name) not in {*usual_names("time")} - {*usual.VISITS}
        and not is_of_time(plain_name(name))
    ]


def _of_columns(look: Inspection) -> ReadingOption:
    """Return the answer that each column beside the first is a person, with their times there."""
    first, *others = look.columns
    time = _plain(look, first, "time")
    return ReadingOption(
        f"Each column beside “{shortened(first)}”{_in_words(time)} is one person: {len(others):,}",
        {
            "frame": {"people": "columns", "header": [look.raw(first)]},
            "person": {"header": True},
            "columns": {
                "time": time,
                "value": None,
                "values": {"kind": look.kind(others[0]).value, "at": None},
            },
            "several": "average",
        },
    )


def _on_role(look: Inspection, roles: Roles, role: str, person: LineOwner | None) -> Question:
    """Return the question which column plays a role that no name speaks of."""
    used = (*roles.used, *((person.column,) if person else ()))
    kinds = {
        "time": (Kind.NUMBER, Kind.DATE, Kind.CLOCK, Kind.ELAPSED),
        "status": (Kind.WORD,),
        "start": (Kind.DATE,),
    }.get(role, (Kind.NUMBER, Kind.PERCENTAGE))
    able = [
        name
        for name in (roles.candidates if role == "value" else ()) or look.free(used)
        if look.kind(name) in kinds or role == "status"
    ][:_OFFERED]
    what = _HELD.get(roles.kind, _MEANT[role]) if role == "time" else _MEANT[role]
    entries = {name: _plain(look, name, role) for name in able}
    options = tuple(
        ReadingOption(f"“{shortened(name)}”{_in_words(entry)}", {"columns": {role: entry}})
        for name, entry in entries.items()
    )
    if role == "status" and roles.kind is FileKind.OUTCOMES:
        options += tuple(_of_visits(look, able))
    return Question(
        field=f"columns.{role}",
        question=f"By their names, no column says {what}.",
        options=options,
        evidence=f"There are {listed(list(look.columns), _OFFERED)}.",
        words=f'"{role}": {{"name": "…", "kind": "number"}} in “columns”',
    )


def _of_visits(look: Inspection, names: Sequence[str]) -> Iterator[ReadingOption]:
    """Yield the answers that two visits say how a time ended, one of which is in a column."""
    for name in names:
        if look.kind(name) in (Kind.NUMBER, Kind.DATE):
            yield ReadingOption(
                f"No status: “{shortened(name)}” is the last visit without the event, and the time "
                "is the first visit with it",
                {"columns": {"without": _plain(look, name, "without")}},
            )


def _plain(look: Inspection, name: str, role: str) -> dict[str, Any]:
    """Return the entry of a column as it would most likely be read."""
    raw, kind = look.raw(name), look.kind(name)
    if role == "status":
        return {"name": raw, "kind": "word", **_meanings(look, name)}
    if kind is Kind.DATE:
        content = look.columns[name]
        offset = {"offset": "kept"} if content.n_with_offset else {}
        counted_from = (
            {"from": "hours of day" if content.have_clock else "calendar years"}
            if (role == "time")
            else {}
        )
        return {
            "name": raw,
            "kind": "date",
            "order": content.likely_order.value,
            **counted_from,
            **offset,
        }
    usual = {Kind.CLOCK: {"from": "hours of day"}, Kind.ELAPSED: {"from": "hours"}}.get(kind, {})
    return {"name": raw, "kind": kind.value, **usual}


def _in_words(entry: Mapping[str, Any]) -> str:
    """Return what the dates of an entry count, in brackets."""
    return f" ({entry['from']})" if entry["kind"] == "date" and "from" in entry else ""


def _meanings(look: Inspection, name: str) -> dict[str, Any]:
    """Return the likeliest meaning of the texts of a status: the last but for those without."""
    texts = sorted(look.columns[name].known)
    event = next((text for text in texts if _is_event(name, text)), texts[-1] if texts else "")
    return {"words": {event: meaning_of(event)}, "other": "censored"}


def _is_event(name: str, text: str) -> bool:
    """True if a text of a status likely means an event; its yes may say who is censored."""
    is_of_censoring = says_censored(name, "yes")
    words = {*plain_name(text).split("_")}
    is_event = not words.isdisjoint(usual.EVENTS) and (words - {"0", "1"}).isdisjoint(
        usual.NO_EVENTS
    )
    return not says_censored(name, text) and (is_of_censoring or is_event)


def _on_starts(look: Inspection, roles: Roles, start: Column) -> Question:
    """Return the question what numbers of starts are, which only the holder can know."""
    numbers = np.nan_to_num(look.columns[roles.single["start"][0]].numbers(look.decimal))
    later = int((numbers != 0).sum())
    entry: dict[str, Any] = {"name": look.raw(roles.single["start"][0]), "kind": start.kind.value}
    if start.counted:
        entry["from"] = start.counted
    options = [
        ReadingOption(
            "Late entry: when observation began, while time counts from 0",
            {"columns": {"start": None, "entry": entry}},
        ),
        ReadingOption(
            "Time since start: each person’s time counts from their first start",
            {"columns": {"start": {"from": EACH_START}}},
        ),
    ]
    return Question(
        field="columns.start.from",
        question=f"What are the numbers of “{shortened(start.name)}”?",
        options=tuple(options if later else reversed(options))
        if start.kind is Kind.NUMBER
        else tuple(options[:1]),
        evidence=f"{counted(later, 'cell')} of {len(numbers):,} differ from 0.",
        words=f'"entry" in place of "start", or "from": "{EACH_START}" of “start”',
    )


def _on_order(look: Inspection, roles: Roles, role: str, column: Column) -> Question:
    content = look.columns[roles.single[role][0]]
    fitting = {order: content.n_in(order) for order in ORDERS}
    total, likely = content.n(Kind.DATE), content.likely_order
    orders = (
        [likely, *({Order.DMY, Order.MDY} - {likely})]
        if likely is not Order.YMD
        else [Order.DMY, Order.MDY]
    )
    name = shortened(column.name)
    both = fitting[Order.DMY] == fitting[Order.MDY] == total
    evidence = (
        f"{total:,} of {total:,} cells are dates by either order."
        if both
        else "; ".join(
            f"{number:,} of {total:,} cells are {_WRITTEN[order]}"
            for order, number in fitting.items()
            if number
        )
        + "."
    )
    return Question(
        field=f"columns.{role}.order",
        question=f"The dates of “{name}” can be day/month or month/day.",
        options=tuple(
            ReadingOption(_ORDERS[order], {"columns": {role: {"order": order.value}}})
            for order in orders
        ),
        evidence=evidence,
        words='"order": "dmy" or "order": "mdy"',
    )


def _on_words(look: Inspection, roles: Roles, role: str, column: Column) -> Question:
    name = roles.single[role][0]
    content, shown = look.columns[name], shortened(column.name)
    options: tuple[ReadingOption, ...]
    if role == "group":
        texts = sorted(content.known)
        options = (
            ReadingOption(
                "Each text is a group",
                {
                    "columns": {
                        role: {
                            "words": {text: text for text in texts},
                            "other": "missing" if roles.kind in EVENTS else "left out",
                        }
                    }
                },
            ),
        )
        question = f"Which texts of “{shown}” are groups?"
    else:
        texts = sorted(content.known, key=lambda text: (not _is_event(name, text), text))
        what = "the label" if roles.kind is FileKind.SCORES else "an event"
        options = tuple(
            ReadingOption(
                f"“{shortened(text)}” is {what}",
                {"columns": {role: {"words": {text: meaning_of(text)}, "other": "censored"}}},
            )
            for text in texts[:_OFFERED]
        )
        question = f"Which texts of “{shown}” mean {what}?"
    return Question(
        field=f"columns.{role}.words",
        question=question,
        options=options,
        evidence=f"{counted(content.n_different, 'different text')} in {content.n_known:,} cells.",
        words='"words": {"text": "meaning"}, "other": "censored"',
        takes_several=role == "status",
    )


def _on_periods(look: Inspection, roles: Roles, reading: Reading) -> Iterator[Question]:
    """Ask whether a column with two texts tells two periods, between which changes are wanted."""
    if roles.kind is not FileKind.CURVES or reading.is_of_changes:
        return
    for name in look.free(roles.used):
        content = look.columns[name]
        if plain_name(name) not in usual.PERIODS or content.n_different != 2:
            continue
        first, second = sorted(content.known)
        yield Question(
            field="columns.period",
            question=f"Does “{shortened(look.raw(name))}” tell two periods of the same people?",
            options=(
                ReadingOption("Not used: all observations of a person are one curve", {}),
                *(_of_pair(look.raw(name), *pair) for pair in ((first, second), (second, first))),
            ),
            evidence=f"2 different texts in {content.n_known:,} cells.",
            words='"period": {"name": "…", "kind": "word", "words": {"1": "before", "2": "after"}} '
            'in “columns”, and "paired": true',
            is_gap=False,
        )
        return


def _of_pair(name: str, first: str, second: str) -> ReadingOption:
    """Return the answer that a person's curve is the change from one text to the other."""
    column = {
        "name": name,
        "kind": "word",
        "words": {first: first, second: second},
        "other": "missing",
    }
    return ReadingOption(
        f"The change from “{shortened(first)}” to “{shortened(second)}” of each person: it is "
        "public that everybody is in both, and bounds are those of a change",
        {"columns": {"period": column}, "paired": True},
    )


def _on_missing(look: Inspection, roles: Roles, reading: Reading) -> Iterator[Question]:
    """Ask about the few words beside numbers."""
    words = Counter[str]()
    names = [name for name in _of_numbers(look, roles) if words_for_missing(look, name)]
    for name in names:
        words.update(look.columns[name].others_than(look.kind(name), look.decimal))
    if words:
        texts = sorted({text.casefold() for text in words})
        verb = "Does" if len(texts) == 1 else "Do"
        yield Question(
            field="missing",
            question=f"{verb} {listed(texts, 6)} in {listed(names)} mean that a number is missing?",
            options=(
                ReadingOption(
                    "Yes: it is missing; if not, correct those cells",
                    {"missing": [*reading.missing, *texts]},
                ),
            ),
            evidence=f"{counted(words.total(), 'cell')} of a text among numbers.",
            words='"missing": ["", "…"]',
        )


def _of_numbers(look: Inspection, roles: Roles) -> list[str]:
    """Return the columns whose cells may be missing: values, covariates and features."""
    return [
        *roles.single.get("value", ()),
        *(name for name, _ in roles.at),
        *roles.covariates,
        *roles.features,
        *([*look.columns][1:] if roles.people_in_columns else ()),
    ]


def notes_on(look: Inspection, roles: Roles, reading: Reading) -> Iterator[str]:
    """Yield what cannot be answered, and may still be wrong."""
    if roles.at and len(roles.at) == len(look.columns):
        yield (
            "all names of columns are numbers: if the first line is one of data, put one of "
            "names above it"
        )
    for name in _numeric(look, roles, reading):
        content, mark = look.columns[name], look.decimal
        if content.could_be_thousands(mark) and 2 * content.n_with(mark) >= content.n_known:
            yield (
                f"every number of “{shortened(name)}” with a mark has three digits behind it: "
                f"1{mark}234 is read as a number between 1 and 2. If the mark stands between "
                "thousands, leave it out of the file"
            )


# -- doubts ----------------------------------------------------------------------------------------


def _on_beginning(time: Column, chosen: str) -> Question:
    """Return the question what dates or clock times count, with the likeliest first."""
    able = {
        f"hours {DAY}": "The time of day, in hours",
        f"hours since {FIRST}": "Hours since each person’s first observation",
    }
    if time.kind is Kind.DATE:
        able |= {
            "calendar years": "Years of the calendar",
            f"days since {FIRST}": "Days since each person’s first observation",
        }
    able.setdefault(chosen, chosen[0].upper() + chosen[1:])
    options = tuple(
        ReadingOption(label, {"columns": {"time": {"from": counted_from}}})
        for counted_from, label in sorted(able.items(), key=lambda each: each[0] != chosen)
    )
    return Question(
        field="columns.time.from",
        is_gap=False,
        options=options,
        question=f"What is the time of “{shortened(time.name)}” counted from?",
        words='"from": "hours of day", "days since 2024-01-31", …',
    )


def _on_offset(look: Inspection, name: str, role: str) -> Iterator[Question]:
    """Ask about time zones that differ, or stand behind some stamps alone."""
    content = look.columns[name]
    number, total = content.n_with_offset, content.n_known
    if number and (content.n_offsets > 1 or number < total):
        yield Question(
            field=f"columns.{role}.offset",
            is_gap=False,
            question=f"What becomes of the time zones behind the stamps of “{shortened(name)}”?",
            options=(
                ReadingOption(
                    "The clock on the wall counts: they are dropped",
                    {"columns": {role: {"offset": "kept"}}},
                ),
                ReadingOption(
                    "They are applied: all stamps move to UTC",
                    {"columns": {role: {"offset": "to UTC"}}},
                ),
            ),
            evidence=f"{number:,} of {total:,} stamps have one; {content.n_offsets:,} differ.",
            words='"offset": "kept" or "offset": "to UTC"',
        )


def _on_several(look: Inspection, roles: Roles, reading: Reading) -> Iterator[Question]:
    """Ask if most lines are repeated measurements, or another column says when they were made."""
    person, times = reading.person, roles.single.get("time", ())
    if (
        roles.kind is not FileKind.CURVES
        or reading.is_wide
        or look.framed.frame.export
        or (look.stated.several or person is None or not person.column or not times)
    ):
        return
    moment = np.zeros(look.framed.n_lines, dtype=np.int64)
    for name in (*_named(look, person.column), *times):
        codes = look.columns[name].codes
        moment = np.unique(moment * (codes.max() + 1) + codes, return_inverse=True)[1]
    alone = int((np.bincount(moment) == 1).sum())
    if 2 * alone >= look.framed.n_lines:
        return
    when = [
        look.columns[name].name
        for name in look.free(roles.used)
        if is_of_time(plain_name(name)) or _KNOWN_PARTS & {*plain_name(name).split("_")}
    ]
    also = f" Does {listed(when)} say when in it? Then put both into one column." if when else ""
    yield Question(
        field="several",
        is_gap=False,
        question=f"Were several values of a person at one {listed(times)} measured at the same "
        f"moment?{also}",
        options=(
            ReadingOption("Yes: all are kept", {"several": "keep"}),
            ReadingOption("Yes: they are averaged", {"several": "average"}),
        ),
        evidence=f"{look.framed.n_lines - alone:,} of {look.framed.n_lines:,} lines share person "
        "and time with another.",
        words='"several": "keep" or "several": "average"',
    )


def _named(look: Inspection, raw: str) -> list[str]:
    return [name for name in look.columns if look.raw(name) == raw]


def _on_sites(look: Inspection, name: str) -> Question:
    content, shown = look.columns[name], shortened(name)
    sites = {
        "name": look.raw(name),
        "kind": "word",
        "words": {text: text for text in sorted(content.known)},
    }
    return Question(
        field="columns.site",
        is_gap=False,
        question=f"Who is trusted with the data? “{shown}” may name sites.",
        options=(
            ReadingOption("One trusted centre adds noise once", {}),
            ReadingOption(f"Each “{shown}” adds its own noise", {"columns": {"site": sites}}),
        ),
        evidence=f"{counted(content.n_different, 'different text')}.",
        words=f'"site": {{"name": "{shown}", "kind": "word", "words": {{…}}}} in “columns”',
    )


def _on_codes(look: Inspection, roles: Roles, reading: Reading) -> Iterator[Question]:
    """Ask about numbers that may stand for a missing one: far from all others, several times."""
    for name in _numeric(look, roles, reading):
        content = look.columns[name]
        numbers = content.numbers(look.decimal)
        is_time = (name,) == roles.single.get("time") and roles.kind not in EVENTS
        codes = [
            code for code in lonely_codes(numbers) if not is_time or abs(code) >= LEAST_OF_TIMES
        ]
        if not codes:
            continue
        texts = sorted({text for text in content.known if _number(text, look.decimal) in codes})
        if texts:
            number = int(sum((numbers == code).sum() for code in codes))
            yield Question(
                field="missing",
                is_gap=False,
                question=f"Do {listed(texts, 6)} in "
                f"“{shortened(name)}” mean that a number is missing?",
                options=(
                    ReadingOption("They were observed", {}),
                    ReadingOption(
                        "They mean that it is missing", {"missing": [*reading.missing, *texts]}
                    ),
                ),
                evidence=f"{counted(number, 'cell')}, far from all other numbers.",
                words='"missing": ["", "…"]',
            )


def _numeric(look: Inspection, roles: Roles, reading: Reading) -> Sequence[str]:
    single = [
        names[0]
        for role, names in roles.single.items()
        if role in reading.columns and reading.columns[role].kind is Kind.NUMBER
    ]
    return [
        *single,
        *(name for name in (*roles.covariates, *roles.features) if look.kind(name) is Kind.NUMBER),
    ]


def _number(text: str, decimal: str) -> float | None:
    try:
        return float(text.replace(decimal, "."))
    except ValueError:
        return None
