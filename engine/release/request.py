"""What the command line is asked to publish, as data.

{"version": 1, "name": "growth-2026",
 "data": {"file": "heights.csv", "columns": {"id": "child_id", "time": "age", "value": "height"},
          "several": "keep",
          "facts": {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18,
                    "origin": "national growth chart, 2019", "value_name": "Height",
                    "value_unit": "cm", "person": "child", "people": "children",
                    "design": {"law": "common", "times": [2, 6, 10, 14]},
                    "observations_per_curve": 4, "symmetric": false}},
 "mechanism": {"key": "adaptive_mean", "parameters": {}},
 "budgets": [{"epsilon": 1.0, "delta": 1e-6}]}

"design" has a "law" with what belongs to it, in the unit of the file: "common" with "times", or
with "times": "header" to confirm that those in the header of a wide table are public; "visits" with
"gap"; "windows" with "window"; "density" with "heights"; "even"; "unknown". Without a column
"server" one trusted centre holds all curves; with it each site adds its own noise.

A scenario file with a "source" in place of "data" will do, too; its seed, its axes and its numbers
of repeats and draws are not looked at, and the budget is that of "budgets". For a density "data"
has "features" in place of "columns":
{"file": …, "features": [{"name": "age", "low": 0, "high": 105}], "facts": {"origin": …}}.
For a prediction from one number "columns" has the "value" that is predicted, and "facts" its range
as "value_low" and "value_high", with "two_classes": true where it only tells two classes apart.

Dates are calendar years; with "since": "2024-01-31" they are days since that day, and with
"from_first": "hours", "days", … time is counted from each person's first observation. With
"of_day": "hours", "minutes" or "seconds" they are times of day, whatever the date. Clock times are
hours since midnight; "of_day" gives another unit, and with "elapsed": "minutes" cells such as
1:40:00 are elapsed times. "day_first" says how 3/4/2024 is meant.

For a regression curve by wavelets everybody has one observation, and "facts" has "reading_sd", how
far a single observation typically lies from the curve; the bounds are those of the curve.

Groups of curves are published one by one, where everybody may know who is in which: "data" names
their column and their texts, "columns": {…, "group": "sex"}, "groups": ["girls", "boys"], and
"name" is needed. All are published in turn, or one with "group": "girls". Nobody may be in two, so
that budgets of groups do not add; whoever is in none of them is left out.

For noised counts (survival, incidence, distribution, ROC) it says what the texts of a column mean:
{"file": …, "columns": {"time": "days", "status": "end", "group": "arm", "id": "patient"},
 "events": ["relapse", "death"], "groups": ["A", "B"], "group_sizes": [120, 118],
 "facts": {"time_high": 1095, "time_unit": "days", "origin": "the protocol"}}.
All other texts of the status are censored. "group_sizes" are stated where they are public, "edges"
where intervals are not equally wide. With a column "start" both it and "time" are dates, and times
are days between them. "time" is the value for a distribution, and the score for an ROC curve, whose
label is the status; both need "time_low".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.core.entrance import bytes_of, json_of
from engine.core.errors import InputError, brief
from engine.core.lists import listed
from engine.core.plain import checked_object
from engine.core.tasks import DataType, Task
from engine.core.types import Budget, Data, EventFacts, PublicFacts
from engine.mechanisms import Mechanism, parsing
from engine.numerics.counts.cells import Counted
from engine.release import groups
from engine.sources import Source
from engine.uploads.conversions import Dates
from engine.uploads.curves import Upload, read_curves
from engine.uploads.design import StatedDesign
from engine.uploads.events import (
    EventColumns,
    UploadEvents,
    counted_for,
    declare_events,
    read_events,
)
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.layout import Layout, suggest_layout
from engine.uploads.limits import MOST_BYTES
from engine.uploads.reading import read_file
from engine.uploads.rows import UploadRows, read_rows
from engine.uploads.tables import Table

if TYPE_CHECKING:
    from engine.exports.code_for import OwnFile

_ENDS = ("value_low", "value_high", "time_low", "time_high")
_WORDS = ("value_name", "value_unit", "time_name", "time_unit", "person", "people", "curve")
_DESIGN = ("law", "times", "gap", "window", "heights")
_FACTS = (*_ENDS, *_WORDS, "origin", "covariates", "periodic", "design", "observations_per_curve",
          "symmetric", "reading_sd", "two_classes")
_ROLES = ("id", "time", "value", "server", "covariates", "group")
_OF_EVENTS = ("time", "start", "status", "group", "id", "server")
_EVENT_KEYS = ("columns", "events", "groups", "group_sizes", "edges", "day_first",
               "facts")
_EVENT_FACTS = ("time_low", "time_high", "time_name", "time_unit", "person", "people", "origin")
_UNSTATED = PublicFacts()
_OF_DATES = ("day_first", "since", "from_first", "of_day", "elapsed")
_KEYS = ("version", "name", "source", "data", "mechanism", "budgets", "repeats", "draws", "seed",
         "axes")


@dataclass(frozen=True)
class Request:
    """What to publish.

    Parameters
    ----------
    source : Source
        Public data, or an upload.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        For all sites.
    name : str
        Of the release; may be empty, and is then asked for.
    """

    source: Source[Data]
    mechanism: Mechanism
    budget: Budget
    name: str = ""


def from_json(text: str, folder: Path) -> Request:
    """Read a request for one release; file names in it are relative to `folder`.

    Parameters
    ----------
    text : str
        JSON, as the module describes it.
    folder : Path
        That of the request.

    Raises
    ------
    InputError
        Naming the key that is unknown, missing or out of range, or what is wrong with the file; or
        if it asks for several releases.
    """
    requests = all_from_json(text, folder)
    if len(requests) > 1:
        raise InputError("This asks for a release of each group.", field="group",
                         hint='Name one of them as "group".')
    return requests[0]


def all_from_json(text: str, folder: Path) -> tuple[Request, ...]:
    """Read a request for one release, or for one of each of several groups.

    Parameters
    ----------
    text : str
        JSON, as the module describes it.
    folder : Path
        That of the request.

    Returns
    -------
    tuple of Request
        Several where "groups" are stated and none of them is named.

    Raises
    ------
    InputError
        Naming the key that is unknown, missing or out of range, or what is wrong with the file.
    """
    plain = checked_object(json_of(text, "request"), "request", _KEYS)
    parsing.check_version(plain)
    name = plain.get("name", "")
    if not isinstance(name, str):
        raise InputError("“name” must be text.", field="name")
    if "data" not in plain:
        source, mechanism, budgets = parsing.parsed(plain)
        return (Request(source, mechanism, _single_budget(budgets), name),)
    if "axes" in plain:
        raise InputError("One release has one budget; it has no “axes”.", field="axes",
                         hint="Leave them out, or state a budget in “budgets”.")
    if "source" in plain:
        raise InputError("Give “data” or “source”, not both.", field="data")
    mechanism, budget = parsing.mechanism_of(plain), _single_budget(parsing.budgets_of(plain, 1))
    source = _uploaded(plain["data"], mechanism, folder)
    if not isinstance(source, Upload):
        return (Request(source, mechanism, budget, name),)
    stated, names = groups.in_request(plain["data"], name)
    if stated is None:
        return (Request(source, mechanism, budget, name),)
    return tuple(Request(stated.people(source, group), mechanism, budget,
                         stated.release_name(group)) for group in names)


def to_plain(source: Source[Data], mechanism: Mechanism, budget: Budget,
             own_file: OwnFile | None = None) -> dict[str, Any] | None:
    """The request that `from_json` reads back; it names a file of one's own, and holds none of it.

    Parameters
    ----------
    source : Source
        Public data, or an upload.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        For all sites.
    own_file : OwnFile, optional
        How an uploaded file was read.

    Returns
    -------
    dict or None
        None where a request cannot say how that file was read.
    """
    if not isinstance(source, Upload | UploadRows | UploadEvents):
        data: dict[str, Any] | None = {"source": {"key": source.key, "parameters":
                                                  source.values()}}
    else:
        data = None if own_file is None else _of_file(source, own_file)
    return None if data is None else {
        "version": 1, **data, "mechanism": {"key": mechanism.key, "parameters":
                                            mechanism.changed()},
        "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}]}


def _of_file(source: Upload | UploadRows | UploadEvents, own_file: OwnFile
             ) -> dict[str, Any] | None:
    """How a file was read, and what was stated of it."""
    facts, layout = source.facts, own_file.layout
    if own_file.sheet or own_file.encoding != "utf-8":
        return None
    if isinstance(layout, EventColumns):
        return _of_event_file(source.facts, layout, own_file.name)
    roles = ("id", "server", "value") if layout.data == DataType.RECORDS else _ROLES
    columns = {name: value for name in roles if (value := getattr(layout, name))}
    if facts.group is None:
        columns.pop("group", None)
    if isinstance(source, UploadRows):
        return {"data": {"file": own_file.name, "features": _listed_covariates(facts),
                         "columns": columns, "facts": _record_facts_to_plain(facts, layout)}}
    group = facts.group
    named = {} if group is None else {"name": group.set}
    stated = {} if group is None else {"groups": [group.name, *group.others], "group": group.name}
    return {**named, "data": {"file": own_file.name, "columns": columns,
                              "several": own_file.several,
                              **_dates_to_plain(layout.dates), **stated,
                              "facts": facts_to_plain(facts)}}


def _dates_to_plain(dates: Dates) -> dict[str, Any]:
    """How dates are read, where that was said."""
    return {name: value for name in _OF_DATES if (value := getattr(dates, name)) not in (None, "")}


def stated_of(facts: PublicFacts, mechanism: Mechanism) -> dict[str, Any]:
    """What was stated of a file, for the "data" of a request; nothing of how it was read.

    Column names are no public facts, but for those of covariates and of what is predicted.

    Parameters
    ----------
    facts : PublicFacts
        As stated.
    mechanism : Mechanism
        Which data it takes says how they are stated.
    """
    data = mechanism.main_task.data
    if isinstance(facts, EventFacts):
        has_events = counted_for(mechanism.main_task.key) is not Counted.VALUES
        return {**({"events": list(facts.causes)} if has_events else {}),
                **_event_facts_to_plain(facts, facts.groups)}
    if data is DataType.RECORDS:
        response = facts.value_name if "value" in mechanism.main_task.roles else None
        return {"features": _listed_covariates(facts),
                **({"columns": {"value": response}} if response else {}),
                "facts": _record_facts_to_plain(facts, Layout(value=response))}
    group = facts.group
    return {**({} if group is None else {"groups": [group.name, *group.others],
                                         "group": group.name}), "facts": facts_to_plain(facts)}


class StatedFacts(NamedTuple):
    """What a request states of a file, part by part, before it is checked as a whole.

    Parameters
    ----------
    numbers, words, flags : mapping
        By the name of the fact.
    design : StatedDesign
    covariates, features : sequence of StatedCovariate
        Columns with their ranges: all of them, with what is predicted, and those of records.
    edges : tuple of float
        Of intervals; empty without.
    """

    numbers: Mapping[str, float]
    words: Mapping[str, str]
    flags: Mapping[str, bool]
    design: StatedDesign
    covariates: Sequence[StatedCovariate]
    features: Sequence[StatedCovariate]
    edges: tuple[float, ...]


def stated_in(text: str) -> StatedFacts:
    """The public facts of a request, such as the settings that are saved with a release.

    Parameters
    ----------
    text : str
        JSON, as the module describes it.

    Raises
    ------
    InputError
        If it is no such file, or states nothing of one: public data bring their facts along.
    """
    plain = checked_object(json_of(text, "settings"), "settings", _KEYS)
    parsing.check_version(plain)
    data = checked_object(plain.get("data", {}), "data")
    if "facts" not in data:
        raise InputError("These settings state no bounds.", field="facts",
                         hint="The settings saved with a release of an own file do.")
    facts = checked_object(data["facts"], "facts", _FACTS)
    numbers = {name: _number(facts, name)
               for name in (*_ENDS, "reading_sd", "observations_per_curve")}
    features = _features(data, "features")
    response = _columns(data.get("columns", {})).get("value") if features else None
    predicted = [StatedCovariate(response, numbers["value_low"], numbers["value_high"],
                                 str(facts.get("value_unit", "")))] if response else []
    return StatedFacts(
        {name: number for name, number in numbers.items() if number is not None},
        {name: str(facts[name]) for name in (*_WORDS, "origin") if name in facts},
        {name: facts[name] is True for name in ("periodic", "symmetric", "two_classes")
         if name in facts}, _design(facts, Layout()),
        [*_features(facts, "covariates"), *features, *predicted], features,
        _listed(data, "edges", (int, float)))


def facts_to_plain(facts: PublicFacts) -> dict[str, Any]:
    """What is stated of curves, as `stated_facts` reads it.

    Parameters
    ----------
    facts : PublicFacts
        Of curves.
    """
    return {**{name: getattr(facts, name) for name in _ENDS}, **_words_of(facts),
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


def _words_of(facts: PublicFacts) -> dict[str, Any]:
    return {name: value for name in _WORDS if (value := getattr(facts, name)) !=
            getattr(_UNSTATED, name)}


def _listed_covariates(facts: PublicFacts) -> list[dict[str, Any]]:
    return [{"name": c.name, "low": c.low, "high": c.high, "unit": c.unit}
            for c in facts.covariates]


def _of_event_file(facts: Any, columns: EventColumns, name: str) -> dict[str, Any]:
    """A file of times, and what was stated of it."""
    roles = {role: value for role in _OF_EVENTS if (value := getattr(columns, role))}
    events = {"events": list(columns.events)} if columns.events else {}
    order = {} if columns.dates.day_first is None else {"day_first": columns.dates.day_first}
    return {"data": {"file": name, "columns": roles, **events, **order,
                     **_event_facts_to_plain(facts, columns.groups)}}


def _event_facts_to_plain(facts: EventFacts, groups: Sequence[str]) -> dict[str, Any]:
    """What is stated of people with one time each: groups, sizes, edges, and the facts."""
    lists = {"groups": groups, "group_sizes": facts.group_sizes, "edges": facts.edges}
    return {**{name: list(value) for name, value in lists.items() if value},
            "facts": {name: getattr(facts, name) for name in _EVENT_FACTS}}


def _single_budget(budgets: tuple[Budget, ...]) -> Budget:
    if len(set(budgets)) != 1:
        raise InputError("A release has one budget for all sites.", field="budgets",
                         hint="Give the same ε and δ to all of them.")
    return budgets[0]


def _uploaded(data: Any, mechanism: Mechanism, folder: Path) -> Source[Data]:
    """A file that a request names, with the facts that it states."""
    keys = keys_of(mechanism)
    of_groups = groups.KEYS if "several" in keys else ()
    stated = checked_object(data, "data", ("file", *keys, *of_groups))
    table = read_file(bytes_of(_beside(folder, stated.get("file")), MOST_BYTES))
    return uploaded(table, stated, mechanism)


def keys_of(mechanism: Mechanism) -> tuple[str, ...]:
    """What can be said of data for this method, besides their file.

    Parameters
    ----------
    mechanism : Mechanism
        Curves, people with times or records, as the method takes them.
    """
    if mechanism.main_task.data is DataType.EVENTS:
        return _EVENT_KEYS
    return ("features", "columns", "facts") if mechanism.main_task.data is DataType.RECORDS else (
        "columns", "several", *_OF_DATES, "facts")


def uploaded(table: Table, data: Mapping[str, Any], mechanism: Mechanism,
             facts: PublicFacts | None = None) -> Source[Data]:
    """Curves, people with times or records of a table, as the method takes them.

    Parameters
    ----------
    table : Table
        That was read.
    data : mapping
        How its columns are read, and what is stated of them; keys as `keys_of` lists.
    facts : PublicFacts, optional
        Facts that hold in place of those in `data`.

    Raises
    ------
    InputError
        If the table cannot be read so, or a fact is missing.
    """
    if mechanism.main_task.data is DataType.EVENTS:
        columns = _event_columns(data, mechanism)
        stated = facts if isinstance(facts, EventFacts) else _event_facts(data, columns)
        return UploadEvents(events=read_events(table, columns), declared=stated)
    named = _columns(data.get("columns", {}))
    task = mechanism.main_task
    if task.data is DataType.RECORDS:
        if "group" in named:
            raise InputError(f"A {task.label.lower()} of each group is not published.",
                             field="group", hint="Make a file of each group.")
        return _records(table, _features(data, "features"), named, data, facts, task)
    layout = suggest_layout(replace(table, dates=_dates(data)), named, data=task.data)
    curves = read_curves(table, layout, data.get("several"))
    return Upload(curves=curves, declared=facts or _curve_facts(data, task.data, layout))


def stated_facts(data: Mapping[str, Any], mechanism: Mechanism) -> PublicFacts:
    """What is stated of data, before any file is looked at.

    Parameters
    ----------
    data : mapping
        Keys as `keys_of` lists.

    Raises
    ------
    InputError
        If a fact is missing or makes no sense.
    """
    checked_object(data, "data", keys_of(mechanism))
    if mechanism.main_task.data is DataType.EVENTS:
        return _event_facts(data, _event_columns(data, mechanism))
    if "group" in _columns(data.get("columns", {})):
        raise InputError("Everybody in the files is published together; a column of groups is not "
                         "read.", field="group", hint="Make a plan for each group.")
    task = mechanism.main_task
    if task.data is DataType.RECORDS:
        named = _columns(data.get("columns", {}))
        return _record_facts(_features(data, "features"), data, task, named.get("value"))
    return _curve_facts(data, task.data)


def _curve_facts(data: Mapping[str, Any], kind: DataType, layout: Layout | None = None
                 ) -> PublicFacts:
    facts = checked_object(data.get("facts", {}), "facts", _FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in _WORDS if key in facts}
    low, high, first, last = (_number(facts, name) for name in _ENDS)
    return declare(
        low, high, first, last, str(facts.get("origin", "")), _features(facts, "covariates"),
        periodic=facts.get("periodic") is True, design=_design(facts, layout),
        observations=_number(facts, "observations_per_curve"),
        symmetric=facts.get("symmetric") is True, single=kind is DataType.READINGS,
        reading_sd=_number(facts, "reading_sd"), **words)


def _event_columns(data: Mapping[str, Any], mechanism: Mechanism) -> EventColumns:
    """Which columns hold people with one time each, and what their texts mean."""
    stated = checked_object(data.get("columns", {}), "columns", _OF_EVENTS)
    if not all(isinstance(name, str) for name in stated.values()) or "time" not in stated:
        raise InputError("“columns” must name the column of times.", field="columns",
                         hint='For example {"time": "days", "status": "end"}.')
    texts: dict[str, Any] = {name: _listed(data, name, str) for name in ("events", "groups")}
    return EventColumns(**stated, **texts, counted=counted_for(mechanism.main_task.key),
                        dates=_dates(data))


def _event_facts(data: Mapping[str, Any], columns: EventColumns) -> EventFacts:
    facts = checked_object(data.get("facts", {}), "facts", _EVENT_FACTS)
    words = {name: str(facts[name]) for name in _EVENT_FACTS[2:-1] if name in facts}
    low = _number(facts, "time_low")
    return declare_events(0.0 if low is None and columns.counted is Counted.OUTCOMES else low,
                          _number(facts, "time_high"), str(facts.get("origin", "")), columns,
                          _listed(data, "edges", (int, float)),
                          _listed(data, "group_sizes", int), **words)


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


def _listed(plain: Mapping[str, Any], name: str, kinds: Any) -> tuple[Any, ...]:
    """A list of texts or numbers; empty where there is none."""
    listed = plain.get(name, [])
    if not isinstance(listed, list) or not all(
            isinstance(each, kinds) and not isinstance(each, bool) for each in listed):
        raise InputError(f"“{name}” must be a list; got {brief(listed)}.", field=name)
    return tuple(listed)


def _columns(stated: Any) -> Mapping[str, Any]:
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


def _beside(folder: Path, name: Any) -> Path:
    """The path of a file that a request names."""
    if not isinstance(name, str) or not name:
        raise InputError("“file” must be the name of a file.", field="file",
                         hint="It is relative to the request.")
    return folder / name


def _design(facts: Mapping[str, Any], layout: Layout | None) -> StatedDesign:
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
        _number(stated, name)
    return StatedDesign.from_plain(stated)


def _records(table: Table, features: list[StatedCovariate], columns: Mapping[str, Any],
             data: Mapping[str, Any], facts: PublicFacts | None, task: Task) -> UploadRows:
    """Records with the columns that are stated, and what is predicted of them where it is."""
    stated = [feature._replace(name=table.find(feature.name)) for feature in features]
    has_response = "value" in task.roles
    name = table.find(columns["value"]) if has_response and columns.get("value") else None
    layout = Layout(columns.get("id"), server=columns.get("server"), data=DataType.RECORDS,
                    covariates=tuple(feature.name for feature in stated), value=name)
    return UploadRows(rows=read_rows(table, layout),
                      declared=facts or _record_facts(stated, data, task, name))


def _record_facts(features: list[StatedCovariate], data: Mapping[str, Any], task: Task,
                  response: str | None) -> PublicFacts:
    """What is stated of records; `response` is the column of what is predicted, if any is."""
    facts = checked_object(data.get("facts", {}), "facts", _FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in ("person", "people") if key in facts}
    predicted = None if response is None else StatedCovariate(
        response, _number(facts, "value_low"), _number(facts, "value_high"),
        str(facts.get("value_unit", "")))
    return declare_rows(task.key, features, str(facts.get("origin", "")), predicted,
                        two_classes=facts.get("two_classes") is True, **words)


def _features(plain: Mapping[str, Any], name: str) -> list[StatedCovariate]:
    """Columns with their ranges."""
    listed = plain.get(name, [])
    if not isinstance(listed, list):
        raise InputError(f"“{name}” must be a list of columns with their ranges.", field=name,
                         hint='For example [{"name": "age", "low": 0, "high": 105}].')
    each = [checked_object(column, name, ("name", "low", "high", "unit"))
            for column in listed]
    return [StatedCovariate(str(column.get("name", "")), _number(column, "low"),
                            _number(column, "high"),
                            str(column.get("unit", ""))) for column in each]


def _number(plain: Mapping[str, Any], name: str) -> float | None:
    value = plain.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InputError(f"“{name}” must be a number.", field=name)
    return value
