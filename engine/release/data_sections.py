"""What a request says of a file: the "data" of curves, of records, and of people with one time.

`engine.release.request` describes them. A section makes records of people that a file was read to,
with what is stated of them, and writes the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.core.tasks import DataType, Task
from engine.core.types import Data, EventFacts, PublicFacts
from engine.numerics.counts.cells import Counted
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.events import UploadEvents, counted_for, declare_events
from engine.uploads.facts import StatedCovariate, declare, declare_rows
from engine.uploads.misfits import check_named_units
from engine.uploads.people import People
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of, event_columns, events_of, rows_of
from engine.uploads.rows import UploadRows
from engine.uploads.source import UploadedData

ENDS = ("value_low", "value_high", "time_low", "time_high")
WORDS = ("value_name", "value_unit", "time_name", "time_unit", "person", "people", "curve")
_DESIGN = ("law", "times", "gap", "window", "heights")
FACTS = (*ENDS, *WORDS, "origin", "covariates", "periodic", "design", "observations_per_curve",
          "symmetric", "guessed_spread", "reading_sd", "two_classes")
LOOKING = ("columns", "several", "day_first", "since", "from_first", "of_day", "elapsed", "events",
           "groups")  # keys by which a file is proposed to be read, and not published
_EVENT_FACTS = ("time_low", "time_high", "time_name", "time_unit", "person", "people", "origin")
_UNSTATED = PublicFacts()


class DataSection:
    """The "data" of a request, for one kind of data."""

    keys: ClassVar[tuple[str, ...]]  # what can be said of such data, besides file and reading
    has_groups: ClassVar[bool] = False  # True where groups of a file can be published one by one

    def upload(self, people: People, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadedData[Data]:
        """Return the data of people, with facts that hold in place of those in `data` if given.

        Raises
        ------
        InputError
            If the lines of somebody do not make such a record, or a fact is missing.
        """
        raise NotImplementedError

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        """Return what is stated of data, before any file is looked at.

        Raises
        ------
        InputError
            If a fact is missing or makes no sense.
        """
        raise NotImplementedError

    def of_facts(self, facts: Any, task: Task) -> dict[str, Any]:
        """Write what was stated of a file; nothing of how it was read."""
        raise NotImplementedError


class CurveSection(DataSection):
    """Curves, or single observations around one curve."""

    keys = ("facts",)
    has_groups = True

    def upload(self, people: People, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> Upload:
        curves = curves_of(people, single=task.data is DataType.READINGS)
        stated = facts or _curve_facts(data, task.data, curves.header_times)
        check_named_units([(curves.time_column, stated.time_unit),
                           (curves.value_column, stated.value_unit)])
        return Upload(curves=curves, declared=stated, reading=people.reading)

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        _refuse_groups(reading)
        return _curve_facts(data, task.data, tuple(time for _, time in reading.at))

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        group = {} if facts.group is None else {"group": facts.group.name}
        return {**group, "facts": facts_to_plain(facts)}


class RecordSection(DataSection):
    """Rows of numbers, and what is predicted of them where it is."""

    keys = ("features", "facts")

    def upload(self, people: People, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadRows:
        if "group" in people.reading.columns:
            raise InputError(f"A {task.label.lower()} of each group is not published.",
                             field="group", hint="Make a file of each group.")
        return UploadRows(rows=rows_of(people), reading=people.reading, declared=facts or
                          _record_facts(data, task, _response(people.reading, task)))

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        _refuse_groups(reading)
        return _record_facts(data, task, _response(reading, task))

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        return {"features": _listed_covariates(facts), "facts": _record_facts_to_plain(facts, task)}


class EventSection(DataSection):
    """People with one time each, values, or scores with a label."""

    keys = ("group_sizes", "edges", "facts")

    def upload(self, people: People, data: Mapping[str, Any], task: Task,
               facts: PublicFacts | None = None) -> UploadEvents:
        events = events_of(people, counted_for(task.key))
        return UploadEvents(events=events, reading=people.reading, declared=(
            facts if isinstance(facts, EventFacts) else _event_facts(data, people.reading, task)))

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        return _event_facts(data, reading, task)

    def of_facts(self, facts: EventFacts, task: Task) -> dict[str, Any]:
        lists = {"group_sizes": facts.group_sizes, "edges": facts.edges}
        return {**{name: list(value) for name, value in lists.items() if value},
                "facts": {name: getattr(facts, name) for name in _EVENT_FACTS}}


_CURVES = CurveSection()
SECTIONS: Mapping[DataType, DataSection] = {
    DataType.CURVES: _CURVES, DataType.READINGS: _CURVES, DataType.RECORDS: RecordSection(),
    DataType.EVENTS: EventSection()}


def _refuse_groups(reading: Reading) -> None:
    if "group" in reading.columns:
        raise InputError("Everybody in the files is published together; a column of groups is not "
                         "read.", field="group", hint="Make a plan for each group.")


# -- what is read ---------------------------------------------------------------------------------


def reading_in(data: Mapping[str, Any]) -> Reading:
    """Return the complete reading that a request states.

    Raises
    ------
    InputError
        If there is none, asking for it, or for its first gap.
    """
    if "reading" not in data:
        stated = [key for key in LOOKING if key in data]
        raise InputError(
            f"“{stated[0]}” is for looking at a file; what is published needs the “reading”, which "
            "says of every cell how it is read." if stated else
            "The request does not say how its file is read.", field="reading",
            hint="“python -m engine propose FILE -o reading.json” writes what is likely: check it, "
            "fill its gaps, and state it as “reading” in “data”.")
    return Reading.of(data["reading"]).complete()


def _curve_facts(data: Mapping[str, Any], kind: DataType, times: Sequence[float]) -> PublicFacts:
    facts = checked_object(data.get("facts", {}), "facts", FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in WORDS if key in facts}
    low, high, first, last = (number_in(facts, name) for name in ENDS)
    return declare(
        low, high, first, last, str(facts.get("origin", "")), features_of(facts, "covariates"),
        periodic=facts.get("periodic") is True, design=design_of(facts, times),
        observations=number_in(facts, "observations_per_curve"),
        symmetric=facts.get("symmetric") is True, single=kind is DataType.READINGS,
        guessed_spread=number_in(facts, "guessed_spread"),
        reading_sd=number_in(facts, "reading_sd"), **words)


def _response(reading: Reading, task: Task) -> str | None:
    """Return the column of what is predicted, if anything is."""
    if "value" not in task.roles or "value" not in reading.columns:
        return None
    return reading.columns["value"].name


def _record_facts(data: Mapping[str, Any], task: Task, response: str | None) -> PublicFacts:
    """Return what is stated of records, and of what is predicted."""
    facts = checked_object(data.get("facts", {}), "facts", FACTS)
    words: dict[str, Any] = {key: str(facts[key]) for key in ("person", "people") if key in facts}
    predicted = None if response is None else StatedCovariate(
        response, number_in(facts, "value_low"), number_in(facts, "value_high"),
        str(facts.get("value_unit", "")))
    return declare_rows(task.key, features_of(data, "features"), str(facts.get("origin", "")),
                        predicted, two_classes=facts.get("two_classes") is True, **words)


def _event_facts(data: Mapping[str, Any], reading: Reading, task: Task) -> EventFacts:
    counted = counted_for(task.key)
    facts = checked_object(data.get("facts", {}), "facts", _EVENT_FACTS)
    words = {name: str(facts[name]) for name in _EVENT_FACTS[2:-1] if name in facts}
    low = number_in(facts, "time_low")
    return declare_events(0.0 if low is None and counted is Counted.OUTCOMES else low,
                          number_in(facts, "time_high"), str(facts.get("origin", "")),
                          event_columns(reading, counted),
                          listed_in(data, "edges", (int, float)),
                          listed_in(data, "group_sizes", int), **words)


def design_of(facts: Mapping[str, Any], times: Sequence[float]) -> StatedDesign:
    """The stated design; `times` of a header only where the request says that they are public."""
    stated = dict(checked_object(facts.get("design", {}), "design", _DESIGN))
    if stated.get("times") == "header":
        if not times:
            raise InputError("The reading has no times of a header, so common times must be "
                             "listed.", field="times", hint="For example [2, 6, 10, 14].")
        stated["times"] = [*times]
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
            **{name: number for name in ("reading_sd", "guessed_spread")
               if (number := getattr(facts, name))}}


def _record_facts_to_plain(facts: PublicFacts, task: Task) -> dict[str, Any]:
    """What is stated of records, and of what is predicted, which is called as its column."""
    if "value" in task.roles:
        response = {"value_low": facts.value_low, "value_high": facts.value_high,
                    "two_classes": facts.two_classes}
        return {**_words_of(facts), **response, "origin": facts.origin}
    words = {name: text for name, text in _words_of(facts).items() if name != "value_name"}
    return {**words, "origin": facts.origin}


def _words_of(facts: PublicFacts) -> dict[str, Any]:
    return {name: value for name in WORDS if (value := getattr(facts, name)) !=
            getattr(_UNSTATED, name)}


def _listed_covariates(facts: PublicFacts) -> list[dict[str, Any]]:
    return [{"name": c.name, "low": c.low, "high": c.high, "unit": c.unit}
            for c in facts.covariates]
