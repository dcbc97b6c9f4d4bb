"""The "data" section of a request: for files of curves, of records, and of one time per person.

`engine.release.request` describes them. A section makes records of people that a file was read to,
with what is stated of them, and writes the same again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.core.tasks import DataType, Task
from engine.core.typed import hints_of, read, record
from engine.core.types import Data, EventFacts, PublicFacts
from engine.numerics.counts.cells import Counted
from engine.uploads.changes import of_changes
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
LOOKING = (
    "columns",
    "several",
    "day_first",
    "since",
    "from_first",
    "of_day",
    "elapsed",
    "events",
    "groups",
)  # keys by which a file is proposed to be read, and not published
_EVENT_WORDS = ("time_name", "time_unit", "person", "people")
_EVENT_FACTS = ("time_low", "time_high", *_EVENT_WORDS, "origin", "time_step")
_UNSTATED = PublicFacts()


@dataclass(frozen=True, kw_only=True)
class RequestFacts:
    """The "facts" of a request: those of `EventFacts` that a person states, as far as stated."""

    value_low: float | None = None
    value_high: float | None = None
    time_low: float | None = None
    time_high: float | None = None
    value_name: str = ""
    value_unit: str = ""
    time_name: str = ""
    time_unit: str = ""
    person: str = ""
    people: str = ""
    curve: str = ""
    origin: str = ""
    covariates: tuple[StatedCovariate, ...] = ()
    periodic: bool = False
    design: Mapping[str, Any] | None = None  # see `design_of`
    observations_per_curve: float | None = None
    symmetric: bool = False
    guessed_spread: float | None = None
    reading_sd: float | None = None
    two_classes: bool = False
    time_step: float | None = None  # of events alone

    @classmethod
    def of(cls, data: Mapping[str, Any], known: tuple[str, ...] | None = None) -> RequestFacts:
        """Read the facts in the "data" of a request, which may state those in `known` alone.

        Without `known`: all but those of events.
        """
        known = EVERY_FACT[:-1] if known is None else known
        return record(cls, checked_object(data.get("facts", {}), "facts", known), "facts")

    def words(self, *names: str) -> dict[str, Any]:
        """Those of some words that are stated."""
        return {name: word for name in names if (word := getattr(self, name))}


EVERY_FACT = tuple(each.name for each in fields(RequestFacts))


def _facts_that_are(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, hint in hints_of(RequestFacts).items() if hint == kind)


NUMBERS, FLAGS = _facts_that_are(float | None), _facts_that_are(bool)
WORDS = tuple(name for name in _facts_that_are(str) if name != "origin")


class DataSection:
    """The "data" of a request, for one kind of data."""

    keys: ClassVar[tuple[str, ...]]  # what can be said of such data, besides file and reading
    has_groups: ClassVar[bool] = False  # True where groups of a file can be published one by one

    def upload(
        self, people: People, data: Mapping[str, Any], task: Task, facts: PublicFacts | None = None
    ) -> UploadedData[Data]:
        """Return the data of people, with facts that hold in place of those in `data` if given."""
        raise NotImplementedError

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        """Return what is stated of data, before any file is looked at."""
        raise NotImplementedError

    def of_facts(self, facts: Any, task: Task) -> dict[str, Any]:
        """Write what was stated of a file; nothing of how it was read."""
        raise NotImplementedError


class CurveSection(DataSection):
    """Curves, or single observations around one curve."""

    keys = ("facts",)
    has_groups = True

    def upload(
        self, people: People, data: Mapping[str, Any], task: Task, facts: PublicFacts | None = None
    ) -> Upload:
        curves = curves_of(people, single=task.data is DataType.READINGS)
        stated = facts or _curve_facts(data, task.data, curves.header_times)
        check_named_units(
            [(curves.time_column, stated.time_unit), (curves.value_column, stated.value_unit)]
        )
        return Upload(curves=curves, declared=stated, reading=people.reading)

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        _refuse_groups(reading)
        stated = _curve_facts(data, task.data, tuple(time for _, time in reading.at))
        return of_changes(stated, reading)

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        group = {} if facts.group is None else {"group": facts.group.name}
        return {**group, "facts": facts_to_plain(facts)}


class RecordSection(DataSection):
    """Rows of numbers, and what is predicted of them where it is."""

    keys = ("features", "facts")

    def upload(
        self, people: People, data: Mapping[str, Any], task: Task, facts: PublicFacts | None = None
    ) -> UploadRows:
        if "group" in people.reading.columns:
            raise InputError(
                f"A {task.label.lower()} of each group is not published.",
                field="group",
                hint="Make a file of each group.",
            )
        return UploadRows(
            rows=rows_of(people),
            reading=people.reading,
            declared=facts or _record_facts(data, task, _response(people.reading, task)),
        )

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        _refuse_groups(reading)
        return _record_facts(data, task, _response(reading, task))

    def of_facts(self, facts: PublicFacts, task: Task) -> dict[str, Any]:
        return {"features": _listed_covariates(facts), "facts": _record_facts_to_plain(facts, task)}


class EventSection(DataSection):
    """People with one time each, values, or scores with a label."""

    keys = ("group_sizes", "group_weights", "edges", "facts")

    def upload(
        self, people: People, data: Mapping[str, Any], task: Task, facts: PublicFacts | None = None
    ) -> UploadEvents:
        events = events_of(people, counted_for(task.key))
        return UploadEvents(
            events=events,
            reading=people.reading,
            declared=(
                facts if isinstance(facts, EventFacts) else event_facts(data, people.reading, task)
            ),
        )

    def facts(self, data: Mapping[str, Any], reading: Reading, task: Task) -> PublicFacts:
        return event_facts(data, reading, task)

    def of_facts(self, facts: EventFacts, task: Task) -> dict[str, Any]:
        lists = {name: getattr(facts, name) for name in self.keys[:-1]}
        return {
            **{name: list(value) for name, value in lists.items() if value},
            "facts": {
                name: getattr(facts, name)
                for name in _EVENT_FACTS
                if name != "time_step" or facts.time_step
            },
        }


_CURVES = CurveSection()
SECTIONS: Mapping[DataType, DataSection] = {
    DataType.CURVES: _CURVES,
    DataType.READINGS: _CURVES,
    DataType.RECORDS: RecordSection(),
    DataType.EVENTS: EventSection(),
}


def _refuse_groups(reading: Reading) -> None:
    if "group" in reading.columns:
        raise InputError(
            "Everybody in the files is published together; a column of groups is not read.",
            field="group",
            hint="Make a plan for each group.",
        )


# -- what is read ---------------------------------------------------------------------------------


def reading_in(data: Mapping[str, Any]) -> Reading:
    """Return the complete reading that a request states."""
    if "reading" not in data:
        stated = [key for key in LOOKING if key in data]
        raise InputError(
            f"“{stated[0]}” is for looking at a file; what is published needs the “reading”, which "
            "says of every cell how it is read."
            if stated
            else "The request does not say how its file is read.",
            field="reading",
            hint="“python -m engine propose FILE -o reading.json” writes what is likely: check it, "
            "fill its gaps, and state it as “reading” in “data”.",
        )
    return Reading.of(data["reading"]).complete()


def _curve_facts(data: Mapping[str, Any], kind: DataType, times: Sequence[float]) -> PublicFacts:
    facts = RequestFacts.of(data)
    return declare(
        facts.value_low,
        facts.value_high,
        facts.time_low,
        facts.time_high,
        facts.origin,
        facts.covariates,
        periodic=facts.periodic,
        design=design_of(facts, times),
        observations=facts.observations_per_curve,
        symmetric=facts.symmetric,
        single=kind is DataType.READINGS,
        guessed_spread=facts.guessed_spread,
        reading_sd=facts.reading_sd,
        **facts.words(*WORDS),
    )


def _response(reading: Reading, task: Task) -> str | None:
    """Return the column of what is predicted, if anything is."""
    if "value" not in task.roles or "value" not in reading.columns:
        return None
    return reading.columns["value"].name


def _record_facts(data: Mapping[str, Any], task: Task, response: str | None) -> PublicFacts:
    """Return what is stated of records, and of what is predicted."""
    facts = RequestFacts.of(data)
    predicted = (
        None
        if response is None
        else StatedCovariate(response, facts.value_low, facts.value_high, facts.value_unit)
    )
    return declare_rows(
        task.key,
        features_of(data),
        facts.origin,
        predicted,
        two_classes=facts.two_classes,
        **facts.words("person", "people"),
    )


def event_facts(data: Mapping[str, Any], reading: Reading, task: Task) -> EventFacts:
    """Return what is stated of times, values or scores."""
    counted = counted_for(task.key)
    facts = RequestFacts.of(data, _EVENT_FACTS)
    is_from_start = facts.time_low is None and counted is Counted.OUTCOMES
    sizes = read(tuple[int, ...], data.get("group_sizes", ()), "group_sizes")
    weights = read(tuple[float, ...], data.get("group_weights", ()), "group_weights")
    return declare_events(
        0.0 if is_from_start else facts.time_low,
        facts.time_high,
        facts.origin,
        event_columns(reading, counted),
        edges_of(data),
        sizes,
        facts.time_step,
        weights,
        **facts.words(*_EVENT_WORDS),
    )


def design_of(facts: RequestFacts, times: Sequence[float]) -> StatedDesign:
    """The stated design; `times` of a header only where the request says that they are public."""
    stated = dict(facts.design or {})
    if times and stated.get("law") == "common" and not stated.get("times"):
        raise InputError(
            "State the times at which everybody is observed.",
            field="times",
            hint='List them; or "times": "header" confirms that those of the header are public.',
        )
    if stated.get("times") == "header":
        if not times:
            raise InputError(
                "The reading has no times of a header, so common times must be listed.",
                field="times",
                hint="For example [2, 6, 10, 14].",
            )
        stated["times"] = [*times]
    return record(StatedDesign, stated, "design")


def features_of(data: Mapping[str, Any]) -> tuple[StatedCovariate, ...]:
    """Columns of features with their ranges."""
    features: tuple[StatedCovariate, ...] = read(
        tuple[StatedCovariate, ...], data.get("features", ()), "features"
    )
    return features


def edges_of(data: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the stated edges of intervals; none for equally wide ones."""
    edges: tuple[float, ...] = read(tuple[float, ...], data.get("edges", ()), "edges")
    return edges


# -- what is written ------------------------------------------------------------------------------


def facts_to_plain(facts: PublicFacts) -> dict[str, Any]:
    """Write the stated facts of curves in the form that `stated_facts` reads."""
    return {
        **{name: getattr(facts, name) for name in ENDS},
        **_words_of(facts),
        "origin": facts.origin,
        "periodic": facts.periodic,
        "design": StatedDesign.of(facts).to_plain(),
        "observations_per_curve": facts.observations_per_curve,
        "symmetric": facts.symmetric,
        "covariates": _listed_covariates(facts),
        **{
            name: number
            for name in ("reading_sd", "guessed_spread")
            if (number := getattr(facts, name))
        },
    }


def _record_facts_to_plain(facts: PublicFacts, task: Task) -> dict[str, Any]:
    """Write the stated facts of records, and those of the response under its column name."""
    if "value" in task.roles:
        response = {
            "value_low": facts.value_low,
            "value_high": facts.value_high,
            "two_classes": facts.two_classes,
        }
        return {**_words_of(facts), **response, "origin": facts.origin}
    words = {name: text for name, text in _words_of(facts).items() if name != "value_name"}
    return {**words, "origin": facts.origin}


def _words_of(facts: PublicFacts) -> dict[str, Any]:
    return {
        name: value for name in WORDS if (value := getattr(facts, name)) != getattr(_UNSTATED, name)
    }


def _listed_covariates(facts: PublicFacts) -> list[dict[str, Any]]:
    return [
        {"name": c.name, "low": c.low, "high": c.high, "unit": c.unit} for c in facts.covariates
    ]
