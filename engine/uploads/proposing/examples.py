"""Invented cells with what a reading makes of them: for a screen, and never cells of a file."""

from __future__ import annotations

from engine.core.lists import counted, shortened
from engine.uploads.cells import unit_of
from engine.uploads.people import unit_of_spans
from engine.uploads.reading_of_files import DAY, Column, Kind, Offset, Order, Reading

_DATES = {
    Order.YMD: ("2024-04-03", "3 April 2024"),
    Order.DMY: ("03/04/2024", "3 April 2024"),
    Order.MDY: ("03/04/2024", "4 March 2024"),
    Order.UNIX: ("1712102400", "3 April 2024"),
    Order.UNIX_MILLISECONDS: ("1712102400000", "3 April 2024"),
    Order.UNSTATED: ("03/04/2024", "3 April or 4 March 2024"),
}
_AT_HALF_PAST_ONE = {Order.UNIX: "1712151000", Order.UNIX_MILLISECONDS: "1712151000000"}
_OF_DAY = {"hours": "13.5", "minutes": "810", "seconds": "48600"}
_MOST_WORDS = 3
_KINDS = {
    Kind.NUMBER: "number",
    Kind.DATE: "date",
    Kind.CLOCK: "time of day",
    Kind.ELAPSED: "elapsed time",
    Kind.PERCENTAGE: "percentage",
    Kind.WORD: "words",
}
_ORDERS = {
    Order.YMD: "year-month-day",
    Order.DMY: "day / month / year",
    Order.MDY: "month / day / year",
    Order.UNIX: "seconds since 1970",
    Order.UNIX_MILLISECONDS: "milliseconds since 1970",
}


def examples_of(reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return invented cells of each column that is read, as “03/04/2024 → 3 April 2024”."""
    examples = {
        column.name: tuple(_of_column(column, reading))
        for column in (*reading.columns.values(), *reading.covariates, *reading.features)
    }
    if reading.values is not None:
        examples["values"] = tuple(_of_column(reading.values, reading))
    return examples


_OF_VISITS = {"without": "last visit without", "time": "first visit with"}  # roles in words


def rows_of(reading: Reading) -> list[tuple[str, str, str, str]]:
    """Return name, role, kind and invented cells of each column that is read."""
    examples, person = examples_of(reading), reading.person
    rows = [] if person is None or not person.column else [(person.column, "person", "id", "")]
    each = [
        *((column, role) for role, column in reading.columns.items()),
        *((column, "feature") for column in reading.features),
        *((column, "covariate") for column in reading.covariates),
    ]
    named = _OF_VISITS if "without" in reading.columns else {}
    rows += [
        (
            column.name,
            named.get(role, role),
            _kind_of(column, reading),
            " · ".join(examples[column.name]),
        )
        for column, role in each
    ]
    if reading.values is not None:
        names = [name for name, _ in reading.at]
        rows.append(
            (
                f"{names[0]} … {names[-1]}" if names else "all other columns",
                "values",
                _kind_of(reading.values, reading),
                " · ".join(examples["values"]),
            )
        )
    return rows


def _kind_of(column: Column, reading: Reading) -> str:
    kind = _KINDS[column.kind]
    if column.kind is Kind.NUMBER and reading.decimal == ",":
        kind = "number with decimal comma"
    return ", ".join(
        filter(None, (kind, _ORDERS.get(column.order, ""), column.counted, column.unit))
    )


def _of_column(column: Column, reading: Reading) -> list[str]:
    """Return the examples of one column, and what an empty cell is."""
    missing = ["empty → missing"] if "" in reading.missing else []
    marks = [f"{text.upper()} → missing" for text in reading.missing if text][:1]
    if column.kind is Kind.WORD:
        words = [
            f"{shortened(text)} → {shortened(str(meaning))}"
            for text, meaning in [*column.words.items()][:_MOST_WORDS]
        ]
        return [*words, f"other texts → {column.other.value}"] if column.other else words
    return [*_CELLS[column.kind](column, reading.decimal), *missing, *marks]


def _of_number(column: Column, decimal: str) -> list[str]:
    return [f"12{decimal}5 → 12.5 {column.unit}".rstrip()]


def _of_percentage(column: Column, decimal: str) -> list[str]:
    return [f"12{decimal}5 % → 12.5"]


def _of_clock(column: Column, decimal: str) -> list[str]:
    unit = unit_of(column)
    return [f"13:30 → {_OF_DAY[unit]} {unit}"] if unit in _OF_DAY else ["13:30"]


def _of_elapsed(column: Column, decimal: str) -> list[str]:
    unit = unit_of(column)
    return [f"1:30:00 → { ({'minutes': '90', 'seconds': '5400'}.get(unit, '1.5')) } {unit}"]


def _of_date(column: Column, decimal: str) -> list[str]:
    cell, day = _DATES[column.order]
    first, _, beginning = column.counted.partition(" ")
    if column.counted.endswith(DAY):
        stamp = _AT_HALF_PAST_ONE.get(column.order, f"{cell} 13:30")
        return [f"{stamp} → {_OF_DAY[first]} {first}"]
    zone = (
        [
            f"{cell} 13:30+02:00 → 13:30"
            if column.offset is Offset.KEPT
            else f"{cell} 13:30+02:00 → 11:30 UTC"
        ]
        if column.offset is not Offset.NONE
        else []
    )
    counting = f", in {column.counted}" if beginning and beginning != "years" else ""
    return [f"{cell} → {day}{counting}", *zone]


_CELLS = {
    Kind.NUMBER: _of_number,
    Kind.PERCENTAGE: _of_percentage,
    Kind.CLOCK: _of_clock,
    Kind.ELAPSED: _of_elapsed,
    Kind.DATE: _of_date,
}


def summary_of(reading: Reading, n_people: int | None, n_observations: int) -> list[str]:
    """Return people, time, value and observations of a file, each in a few words."""
    person = reading.person
    number = "" if n_people is None else f", {n_people:,}"
    people = (
        "not named"
        if person is None
        else f"“{shortened(person.column)}”{number}"
        if person.column
        else f"each line{number}"
        if person.rows
        else f"each column{number}"
        if person.header
        else f"each file{number}"
    )
    columns = {"time": "time", "value": "value", "status": "status"}
    of_spans = unit_of_spans(reading) if {"start", "entry"} & reading.columns.keys() else ""
    said = [
        f"{label}: {_called(reading.columns[role], of_spans if role == 'time' else '')}"
        for role, label in columns.items()
        if role in reading.columns
    ]
    if reading.at:
        said.append(f"times: {counted(len(reading.at), 'column')}")
    if reading.features:
        said.append(f"numbers: {counted(len(reading.features), 'column')}")
    return [f"people: {people}", *said, f"observations: {n_observations:,}"]


def _called(column: Column, of_spans: str) -> str:
    unit = column.unit or of_spans or (unit_of(column) if column.counted else "")
    kind = f" ({column.kind}{f', {unit}' if unit else ''})"
    return f"“{shortened(column.name)}”{kind}"
