"""What a request says of a file: the "data" of curves, of records, and of people with one time.

`engine.release.request` describes them. A section reads a file with what is stated of it, and
writes the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from engine.core.errors import InputError, brief
from engine.core.lists import listed
from engine.core.plain import checked_object
from engine.core.tasks import DataType, Task
from engine.core.types import Data, EventFacts, PublicFacts
from engine.numerics.counts.cells import Counted
from engine.uploads.columns import refuse_unused_ids
from engine.uploads.conversions import Dates
from engine.uploads.curves import Upload, read_curves
from engine.uploads.design import StatedDesign
from engine.uploads.events import (
    OR,
    EventColumns,
    UploadEvents,
    counted_for,
    declare_events,
    read_events,
    suggest_columns,
)
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.layout import Layout, suggest_layout
from engine.uploads.misfits import check_named_units
from engine.uploads.own_file import OwnFile
from engine.uploads.rows import UploadRows, read_rows
from engine.uploads.source import UploadedData
from engine.uploads.tables import Table

ENDS = ("value_low", "value_high", "time_low", "time_high")
WORDS = ("value_name", "value_unit", "time_name", "time_unit", "person", "people", "curve")
_DESIGN = ("law", "times", "gap", "window", "heights")
FACTS = (*ENDS, *WORDS, "origin", "covariates", "periodic", "design", "observations_per_curve",
          "symmetric", "reading_sd", "two_classes")
_ROLES = ("id", "time", "value", "server", "covariates", "group")
_OF_EVENTS = ("time", "start", "status", "group", "id", "server")
_OF_DATES = ("day_first", "since", "from_first", "of_day", "elapsed")
_EVENT_FACTS = ("time_low", "time_high", "time_name", "time_unit", "person", "people", "origin")
_UNSTATED = PublicFacts()


class DataSection:
    """The "data" of a request, for one kind of data.

    Attributes
    ----------
    keys : tuple of str
        What can be said of such data, besides their file.
    has_groups : bool
        Whether groups of the file can be published one by one.
    """

    keys: ClassVar[tuple[str, ...]]
    has_groups: ClassVar[bool] = False

    def upload(self, table: Table, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadedData[Data]:
        """The data of a table.

        Parameters
        ----------
        table : Table
            That was read.
        data : mapping
            How its columns are read, and what is stated of them.
        task : Task
            That the data are for.
        facts : PublicFacts, optional
            Facts that hold in place of those in `data`.

        Raises
        ------
        InputError
            If the table cannot be read so, or a fact is missing.
        """
        raise NotImplementedError

    def facts(self, data: Mapping[str, Any], task: Task) -> PublicFacts:
        """What is stated of data, before any file is looked at.

        Raises
        ------
        InputError
            If a fact is missing or makes no sense.
        """
        raise NotImplementedError

    def of_facts(self, facts: Any, task: Task) -> dict[str, Any]:
        """What was stated of a file; nothing of how it was read."""
        raise NotImplementedError

    def of_file(self, facts: Any, file: OwnFile) -> dict[str, Any]:
        """What was stated of a file, and how it was read."""
        raise NotImplementedError


class CurveSection(DataSection):
    """Curves, or single observations around one curve."""

    keys = ("columns", "several", *_OF_DATES, "facts")
    has_groups = True

    def upload(self, table: Table, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> Upload:
        layout = suggest_layout(replace(table, dates=_dates(data)),
                                columns_of(data.get("columns", {})), data=task.data)
        curves = read_curves(table, layout, data.get("several"))
        stated = facts or _curve_facts(data, task.data, layout)
        check_named_units([(curves.time_column, stated.time_unit),
                           (curves.value_column, stated.value_unit)])
        return Upload(curves=curves, declared=stated)

    def facts(self, data: Mapping[str, Any], task: Task) -> PublicFacts:
        _refuse_groups(data)
        return _curve_facts(data, task.data)

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        return {**_group_to_plain(facts), "facts": facts_to_plain(facts)}

    def of_file(self, facts: PublicFacts, file: OwnFile) -> dict[str, Any]:
        layout = file.layout
        roles = _ROLES if facts.group is not None else _ROLES[:-1]
        columns = {name: value for name in roles if (value := getattr(layout, name))}
        return {"file": file.name, "columns": columns, "several": file.several,
                **_dates_to_plain(layout.dates), **_group_to_plain(facts),
                "facts": facts_to_plain(facts)}


class RecordSection(DataSection):
    """Rows of numbers, and what is predicted of them where it is."""

    keys = ("features", "columns", "facts")

    def upload(self, table: Table, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadRows:
        columns = columns_of(data.get("columns", {}))
        if "group" in columns:
            raise InputError(f"A {task.label.lower()} of each group is not published.",
                             field="group", hint="Make a file of each group.")
        stated = [feature._replace(name=table.find(feature.name))
                  for feature in features_of(data, "features")]
        has_response = "value" in task.roles
        name = table.find(columns["value"]) if has_response and columns.get("value") else None
        layout = Layout(columns.get("id"), server=columns.get("server"), data=DataType.RECORDS,
                        covariates=tuple(feature.name for feature in stated), value=name)
        rows = read_rows(table, layout)
        if not layout.id:
            refuse_unused_ids(table, layout.unused(table))
        return UploadRows(rows=rows, declared=facts or _record_facts(stated, data, task, name))

    def facts(self, data: Mapping[str, Any], task: Task) -> PublicFacts:
        _refuse_groups(data)
        return _record_facts(features_of(data, "features"), data, task,
                             columns_of(data.get("columns", {})).get("value"))

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        response = facts.value_name if "value" in task.roles else None
        return {"features": _listed_covariates(facts),
                **({"columns": {"value": response}} if response else {}),
                "facts": _record_facts_to_plain(facts, Layout(value=response))}

    def of_file(self, facts: PublicFacts, file: OwnFile) -> dict[str, Any]:
        layout = file.layout
        assert isinstance(layout, Layout)
        columns = {name: value for name in ("id", "server", "value")
                   if (value := getattr(layout, name))}
        return {"file": file.name, "features": _listed_covariates(facts), "columns": columns,
                "facts": _record_facts_to_plain(facts, layout)}


class EventSection(DataSection):
    """People with one time each, values, or scores with a label."""

    keys = ("columns", "events", "groups", "group_sizes", "edges", "day_first", "facts")

    def upload(self, table: Table, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadEvents:
        columns = _event_columns(data, task, table)
        events = read_events(table, columns)
        if not columns.id:
            refuse_unused_ids(table, columns.unused(table))
        return UploadEvents(
            events=events,
            declared=facts if isinstance(facts, EventFacts) else _event_facts(data, columns))

    def facts(self, data: Mapping[str, Any], task: Task) -> PublicFacts:
        return _event_facts(data, _event_columns(data, task))

    def of_facts(self, facts: EventFacts, task: Task) -> dict[str, Any]:
        counted = counted_for(task.key)
        texts = facts.causes[0].split(OR) if counted is Counted.LABELS else facts.causes
        return {**({} if counted is Counted.VALUES else {"events": list(texts)}),
                **_event_facts_to_plain(facts, facts.groups)}

    def of_file(self, facts: EventFacts, file: OwnFile) -> dict[str, Any]:
        columns = file.layout
        assert isinstance(columns, EventColumns)
        roles = {role: value for role in _OF_EVENTS if (value := getattr(columns, role))}
        events = {"events": list(columns.events)} if columns.events else {}
        order = {} if columns.dates.day_first is None else {"day_first": columns.dates.day_first}
        return {"file": file.name, "columns": roles, **events, **order,
                **_event_facts_to_plain(facts, columns.groups)}


_CURVES = CurveSection()
SECTIONS: Mapping[DataType, DataSection] = {
    DataType.CURVES: _CURVES, DataType.READINGS: _CURVES, DataType.RECORDS: RecordSection(),
    DataType.EVENTS: EventSection()}


def _refuse_groups(data: Mapping[str, Any]) -> None:
    if "group" in columns_of(data.get("columns", {})):
        raise InputError("Everybody in the files is published together; a column of groups is not "
                         "read.", field="group", hint="Make a plan for each group.")


# -- what is read ---------------------------------------------------------------------------------


def _curve_facts(data: Mapping[str, Any], kind: DataType, layout: Layout | None = None
                 ) -> PublicFacts:
    facts = checked_object(data.get("facts", {}), "facts", FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in WORDS if key in facts}
    low, high, first, last = (number_in(facts, name) for name in ENDS)
    return declare(
        low, high, first, last, str(facts.get("origin", "")), features_of(facts, "covariates"),
        periodic=facts.get("periodic") is True, design=design_of(facts, layout),
        observations=number_in(facts, "observations_per_curve"),
        symmetric=facts.get("symmetric") is True, single=kind is DataType.READINGS,
        reading_sd=number_in(facts, "reading_sd"), **words)


def _record_facts(features: list[StatedCovariate], data: Mapping[str, Any], task: Task,
                  response: str | None) -> PublicFacts:
    """What is stated of records; `response` is the column of what is predicted, if any is."""
    facts = checked_object(data.get("facts", {}), "facts", FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in ("person", "people") if key in facts}
    predicted = None if response is None else StatedCovariate(
        response, number_in(facts, "value_low"), number_in(facts, "value_high"),
        str(facts.get("value_unit", "")))
    return declare_rows(task.key, features, str(facts.get("origin", "")), predicted,
                        two_classes=facts.get("two_classes") is True, **words)


def _event_columns(data: Mapping[str, Any], task: Task, table: Table | None = None
                   ) -> EventColumns:
    """Which columns hold people with one time each, and what their texts mean.

    Where the request names none, as one that was saved with a release, those of a table that have
    usual names.
    """
    counted = counted_for(task.key)
    usual = {} if table is None else suggest_columns(table, counted)
    stated = checked_object(data.get("columns", usual), "columns", _OF_EVENTS)
    if not all(isinstance(name, str) for name in stated.values()) or "time" not in stated:
        raise InputError("“columns” must name the column of times.", field="columns",
                         hint='For example {"time": "days", "status": "end"}.')
    texts: dict[str, Any] = {name: listed_in(data, name, str) for name in ("events", "groups")}
    return EventColumns(**stated, **texts, counted=counted, dates=_dates(data))


def _event_facts(data: Mapping[str, Any], columns: EventColumns) -> EventFacts:
    facts = checked_object(data.get("facts", {}), "facts", _EVENT_FACTS)
    words = {name: str(facts[name]) for name in _EVENT_FACTS[2:-1] if name in facts}
    low = number_in(facts, "time_low")
    return declare_events(0.0 if low is None and columns.counted is Counted.OUTCOMES else low,
                          number_in(facts, "time_high"), str(facts.get("origin", "")), columns,
                          listed_in(data, "edges", (int, float)),
                          listed_in(data, "group_sizes", int), **words)


def _dates(data: Mapping[str, Any]) -> Dates:
    """How dates are read, where the request says so."""
    day_first = data.get("day_first")
    if day_first is not None and not isinstance(day_first, bool):
        raise InputError("“day_first” must be true or false.", field="day_first")
    beginnings = {name: data[name] for name in _OF_DATES[1:] if name in data}
    if not all(isinstance(text, str) for text in beginnings.values()):
        raise InputError(f"{listed(list(beginnings))} must be texts.", field="since",
                         hint="Such as 2024-01-31, and weeks.")
    return Dates(day_first, **beginnings)


def columns_of(stated: Any) -> Mapping[str, Any]:
    """Which column plays which role: names, never places."""
    columns = checked_object(stated, "columns", _ROLES)
    for role, name in columns.items():
        names = name if role == "covariates" and isinstance(name, list) else [name]
        is_list = names is name
        if name is not None and (is_list != (role == "covariates")
                                 or not all(isinstance(column, str) for column in names)):
            raise InputError(f"“columns” must give {role} as "
                             f"{'a list of names' if role == 'covariates' else 'a name'}; got "
                             f"{brief(name)}.", field="columns",
                             hint="Columns are called by their names in the header.")
    return columns


def design_of(facts: Mapping[str, Any], layout: Layout | None) -> StatedDesign:
    """The stated design; the times of a header only where the request says that they are public."""
    stated = dict(checked_object(facts.get("design", {}), "design", _DESIGN))
    if stated.get("times") == "header":
        if layout is None:
            raise InputError("Every site reads its own file, so common times must be listed.",
                             field="times", hint="For example [2, 6, 10, 14].")
        stated["times"] = [time for _, time in layout.times]
    for name in ("times", "heights"):
        if not isinstance(stated.get(name, []), list):
            raise InputError(f"“{name}” must be a list of numbers.", field=name,
                             hint="For example [2, 6, 10, 14].")
    for name in ("gap", "window"):
        number_in(stated, name)
    return StatedDesign.from_plain(stated)


def features_of(plain: Mapping[str, Any], name: str) -> list[StatedCovariate]:
    """Columns with their ranges."""
    listed = plain.get(name, [])
    if not isinstance(listed, list):
        raise InputError(f"“{name}” must be a list of columns with their ranges.", field=name,
                         hint='For example [{"name": "age", "low": 0, "high": 105}].')
    each = [checked_object(column, name, ("name", "low", "high", "unit")) for column in listed]
    return [StatedCovariate(str(column.get("name", "")), number_in(column, "low"),
                            number_in(column, "high"),
                            str(column.get("unit", ""))) for column in each]


def listed_in(plain: Mapping[str, Any], name: str, kinds: Any) -> tuple[Any, ...]:
    """A list of texts or numbers; empty where there is none."""
    listed = plain.get(name, [])
    if not isinstance(listed, list) or not all(
            isinstance(each, kinds) and not isinstance(each, bool) for each in listed):
        raise InputError(f"“{name}” must be a list; got {brief(listed)}.", field=name)
    return tuple(listed)


def number_in(plain: Mapping[str, Any], name: str) -> float | None:
    """A number that is stated; None where it is not."""
    value = plain.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InputError(f"“{name}” must be a number.", field=name,
                         hint="Such as 60.5: with a point, and without quotation marks.")
    return value


# -- what is written ------------------------------------------------------------------------------


def facts_to_plain(facts: PublicFacts) -> dict[str, Any]:
    """What is stated of curves, as `stated_facts` reads it.

    Parameters
    ----------
    facts : PublicFacts
        Of curves.
    """
    return {**{name: getattr(facts, name) for name in ENDS}, **_words_of(facts),
            "origin": facts.origin, "periodic": facts.periodic,
            "design": StatedDesign.of(facts).to_plain(),
            "observations_per_curve": facts.observations_per_curve,
            "symmetric": facts.symmetric, "covariates": _listed_covariates(facts),
            **({"reading_sd": facts.reading_sd} if facts.reading_sd else {})}


def _record_facts_to_plain(facts: PublicFacts, layout: Layout) -> dict[str, Any]:
    """What is stated of records; the response is called as its column."""
    words = {name: text for name, text in _words_of(facts).items() if name != "value_name"}
    response = {"value_low": facts.value_low, "value_high": facts.value_high,
                "two_classes": facts.two_classes} if layout.value else {}
    return {**words, **response, "origin": facts.origin}


def _event_facts_to_plain(facts: EventFacts, groups: Sequence[str]) -> dict[str, Any]:
    """What is stated of people with one time each: groups, sizes, edges, and the facts."""
    lists = {"groups": groups, "group_sizes": facts.group_sizes, "edges": facts.edges}
    return {**{name: list(value) for name, value in lists.items() if value},
            "facts": {name: getattr(facts, name) for name in _EVENT_FACTS}}


def _dates_to_plain(dates: Dates) -> dict[str, Any]:
    """How dates are read, where that was said."""
    return {name: value for name in _OF_DATES if (value := getattr(dates, name)) not in (None, "")}


def _group_to_plain(facts: PublicFacts) -> dict[str, Any]:
    """The group whose people these are, and its set's others; nothing where they are none."""
    group = facts.group
    return {} if group is None else {"groups": [group.name, *group.others], "group": group.name}


def _words_of(facts: PublicFacts) -> dict[str, Any]:
    return {name: value for name in WORDS if (value := getattr(facts, name)) !=
            getattr(_UNSTATED, name)}


def _listed_covariates(facts: PublicFacts) -> list[dict[str, Any]]:
    return [{"name": c.name, "low": c.low, "high": c.high, "unit": c.unit}
            for c in facts.covariates]
