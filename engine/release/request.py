"""The request of the command line to publish, as data.

{"version": 1, "name": "growth-2026",
 "data": {"file": "heights.csv",
          "reading": {"frame": {"encoding": "utf-8", "separator": ",",
                                "header": ["child_id", "age", "height"]},
                      "person": {"column": "child_id"},
                      "columns": {"time": {"name": "age"}, "value": {"name": "height"}}},
          "facts": {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18,
                    "origin": "national growth chart, 2019", "value_name": "Height",
                    "value_unit": "cm", "person": "child", "people": "children",
                    "design": {"law": "common", "times": [2, 6, 10, 14]},
                    "observations_per_curve": 4, "symmetric": false}},
 "mechanism": {"key": "adaptive_mean", "parameters": {}},
 "budgets": [{"epsilon": 1.0, "delta": 1e-6}]}

"reading" says how each line of the file is read, by itself (`engine.uploads.reading_of_files` has
all of it); `python -m engine propose` writes one to be checked. It is complete, or the request is
refused with the words that it lacks.

"design" has a "law" with what belongs to it, in the unit of the file: "common" with "times", or
with "times": "header" to confirm that those of a table with a curve in each row or column are
public; "visits" with "gap"; "windows" with "window"; "density" with "heights"; "even"; "unknown".
Without a "site" in the reading one trusted centre holds all curves; with it each site adds its own
noise.

"file" may be a folder, a pattern such as "meters/*.parquet", or a list of these: together one
table, of any size for methods that read blocks. Text (also gzip, bzip2 or zstd), Parquet and Arrow
are told by their content; folders such as "site=north" state a column behind those of the file.

A budget without "delta" has that of all pages: 1/n² for n people in the file, and 0 where the
method needs none.

Where people have less budget left than a release costs, it is refused; with "exhausted": "leave
out" it is published about the others, and its card says so.

A scenario file with a "source" in place of "data" will do, too; its seed, its axes and its numbers
of repeats and draws are not looked at, and the budget is that of "budgets".

"public" may name a public sample in the same units, of other people: {"source": {"key": …,
"parameters": …}}, or {"file": …, "reading": …, "facts": …} as for "data". Whatever it can set of
the method and is not among its "parameters" is set by it (`engine.release.public_tuning`): no
budget is spent, and the card names it.

"guessed_spread" may say how far most people are from the average at most, as a guess from earlier
studies: the forecast of the error uses it, and nothing that is released.

For a density or a prediction the reading has "features", and "data" their ranges:
{"file": …, "reading": …, "features": [{"name": "age", "low": 0, "high": 105}],
 "facts": {"origin": …}}. What is predicted is the "value" of the reading, and "facts" has its range
as "value_low" and "value_high", with "two_classes": true where it only tells two classes apart.

For a regression curve by wavelets everybody has one observation, and "facts" has "reading_sd", how
far a single observation typically lies from the curve; the bounds are those of the curve.

Groups of curves are published one by one, where everybody may know who is in which: the reading
names their column as "group", the meanings of its "words" are the groups, and the "name" of the
request is needed. All are published in turn, or one with "group": "girls" in "data". Nobody may be
in two, so that budgets of groups do not add; whoever is in none of them is left out.

For noised counts (survival, incidence, distribution, ROC) the "words" of the "status" say which
texts are events, in their order, and "other" what all others are:
{"file": …, "reading": {…, "columns": {
    "time": {"name": "days"}, "status": {"name": "end", "kind": "word", "other": "censored",
                                         "words": {"relapse": "relapse", "death": "death"}}}},
 "group_sizes": [120, 118],
 "facts": {"time_high": 1095, "time_unit": "days", "origin": "the protocol"}}.
"group_sizes" are stated where they are public, "edges" where intervals are not equally wide;
"group_weights", which sum to 1, ask for one survival curve that is adjusted for the groups. With
a "start" both it and "time" are dates, and times are days between them. An "entry" states late
entry, and numbers of a "start" need "from": "each start". A "without" in place of the status is the
last visit without the event, "time" the first with it, and "edges" are the start and the public
times of all visits. "time_step" among the facts
is in what step times are recorded, such as 1 for whole days; without it the limits of a median go
outward to the edges of intervals, since times may be heaped. "time" is the value for a
distribution, and the score for an ROC curve, whose label is the status; both need "time_low".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from engine.core.entrance import bytes_of, json_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.core.tasks import DataType
from engine.core.types import Budget, Data, PublicFacts
from engine.mechanisms import Mechanism, parsing
from engine.privacy.failure import usual_delta
from engine.release import data_sections, groups
from engine.release.public_tuning import tuned_on
from engine.sources import Source, sources
from engine.uploads.batches import is_in_batches
from engine.uploads.bounded import read_people
from engine.uploads.curves import MAX_CURVES, Upload
from engine.uploads.design import StatedDesign
from engine.uploads.events import counted_for
from engine.uploads.facts import StatedCovariate
from engine.uploads.files import TableFile, files_of
from engine.uploads.limits import MAX_BYTES
from engine.uploads.misfits import check_named_units
from engine.uploads.own_file import OwnFile
from engine.uploads.partitioned_table import table_of_files
from engine.uploads.scratch import Resources
from engine.uploads.source import UploadedData
from engine.uploads.stored_curves import StoredCurves
from engine.uploads.stored_events import StoredEvents, read_events

_LIKELY_MANY = 16 * MAX_CURVES  # bytes of a table with more people than are in memory
_KEYS = (
    "version",
    "name",
    "source",
    "data",
    "mechanism",
    "budgets",
    "repeats",
    "draws",
    "seed",
    "axes",
    "exhausted",
    "public",
)


@dataclass(frozen=True)
class Request:
    """A request to publish."""

    source: Source[Data]
    mechanism: Mechanism
    budget: Budget
    name: str = ""  # of the release; may be empty, and is then asked for
    # true to publish about the others where people have too little budget left
    leave_out: bool = False
    tuned_on: str = ""  # the public sample that set parameters of the method, and which


def checked(text: str) -> tuple[dict[str, Any], str]:
    """Check a request as far as possible without its file, and return it with its name."""
    from engine.release import certified  # on first use: pages that read no request need no ledger

    plain = checked_object(json_of(text, "request"), "request", _KEYS)
    parsing.check_version(plain)
    name = plain.get("name", "")
    if not isinstance(name, str):
        raise InputError("“name” must be text.", field="name")
    if "data" not in plain:
        return plain, name
    if "axes" in plain:
        raise InputError(
            "One release has one budget; it has no “axes”.",
            field="axes",
            hint="Leave them out, or state a budget in “budgets”.",
        )
    if "source" in plain:
        raise InputError("Give “data” or “source”, not both.", field="data")
    mechanism = parsing.mechanism_of(plain)
    certified.check_published(mechanism)
    certified.check_finite(_single_budget(parsing.budgets_of(plain, 1, usual_delta(1))))
    return plain, name


def from_json(text: str, folder: Path, resources: Resources | None = None) -> tuple[Request, ...]:
    """Read a request for one release, or for one of each of several groups unless one is named.

    Tables of any size are read with these resources, or the usual ones.
    """
    plain, name = checked(text)
    leave_out = _leaves_out(plain)
    if "data" not in plain:
        source, mechanism, budgets = parsing.parsed(
            {key: value for key, value in plain.items() if key not in ("exhausted", "public")}
        )
        budget = _single_budget(budgets)
        mechanism, tuned_on = _tuned(plain, mechanism, source, budget, folder)
        return (Request(source, mechanism, budget, name, leave_out, tuned_on),)
    mechanism = parsing.mechanism_of(plain)
    files, data = _files(plain["data"], mechanism, folder)
    source = (
        stored(files, data, mechanism, resources)
        if _are_stored(files, data, mechanism, resources)
        else uploaded(_content(files), data, mechanism)
    )
    usual = mechanism.delta(source.sizes.n_curves).value  # of groups, too: it goes by all people
    budget = _single_budget(parsing.budgets_of(plain, 1, usual))
    mechanism, tuned_on = _tuned(plain, mechanism, source, budget, folder)
    if not isinstance(source, Upload) or source.reading is None:
        return (Request(source, mechanism, budget, name, leave_out, tuned_on),)
    stated, names = groups.in_request(data, source.reading, name)
    if stated is None:
        return (Request(source, mechanism, budget, name, leave_out, tuned_on),)
    return tuple(
        Request(
            stated.people(source, group),
            mechanism,
            budget,
            stated.release_name(group),
            leave_out,
            tuned_on,
        )
        for group in names
    )


def _tuned(
    plain: Mapping[str, Any],
    mechanism: Mechanism,
    source: Source[Any],
    budget: Budget,
    folder: Path,
) -> tuple[Mechanism, str]:
    """Set what the public sample of a request can set, and name it; nothing without one."""
    if "public" not in plain:
        return mechanism, ""
    public = checked_object(
        plain["public"], "public", ("source", "file", *keys_of(mechanism), *data_sections.LOOKING)
    )
    if ("source" in public) == ("file" in public):
        raise InputError(
            "A public sample is a “source” or a “file”.", field="public", hint="Name one of them."
        )
    sample: Source[Any]
    called = ""
    if "source" in public:
        member = checked_object(public["source"], "public", ("key", "parameters"))
        sample = sources.build(str(member.get("key", "")), dict(member.get("parameters", {})))
    else:
        files, data = _files(public, mechanism, folder)
        sample, called = uploaded(_content(files), data, mechanism), files[0].path.name
    tuned = tuned_on(mechanism, sample, source, budget, name=called)
    return tuned.mechanism, tuned.in_words


def _leaves_out(plain: Mapping[str, Any]) -> bool:
    """True if people with too little budget are left out; by default the release is refused."""
    if plain.get("exhausted", "leave out") != "leave out":
        raise InputError(
            "“exhausted” can only be “leave out”.",
            field="exhausted",
            hint="Without it a release is refused where people have too little left.",
        )
    return "exhausted" in plain


def to_plain(
    source: Source[Data], mechanism: Mechanism, budget: Budget, own_file: OwnFile | None = None
) -> dict[str, Any] | None:
    """Write the request that `from_json` reads back; it names an own file and holds none of it.

    `own_file` says how an uploaded file was read; gaps of its reading are asked for when it is read
    back. The result is None if nobody knows how an uploaded file was read.
    """
    source.facts.check_stated()
    if not isinstance(source, UploadedData):
        data: dict[str, Any] | None = {"source": {"key": source.key, "parameters": source.values()}}
    else:
        data = None if own_file is None else _of_file(source.facts, mechanism, own_file)
    return (
        None
        if data is None
        else {
            "version": 1,
            **data,
            "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
            "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}],
        }
    )


def _of_file(facts: PublicFacts, mechanism: Mechanism, own_file: OwnFile) -> dict[str, Any]:
    """Write the reading of a file and the facts stated about it."""
    named = {} if facts.group is None else {"name": facts.group.set}
    return {
        **named,
        "data": {
            "file": own_file.name,
            "reading": own_file.reading.to_plain(),
            **stated_of(facts, mechanism),
        },
    }


def stated_of(facts: PublicFacts, mechanism: Mechanism) -> dict[str, Any]:
    """Write the stated facts of a file for the "data" of a request, without its reading.

    The data that the mechanism takes decide how facts are stated.

    Column names are no public facts, but for those of covariates and of what is predicted.
    """
    facts.check_stated()
    return _section(mechanism).of_facts(facts, mechanism.main_task)


class StatedFacts(NamedTuple):
    """Stated facts of a file in a request, part by part, before they are checked as a whole."""

    numbers: Mapping[str, float]
    words: Mapping[str, str]
    flags: Mapping[str, bool]
    design: StatedDesign
    # covariates, features: columns with their ranges: all of them, with what is predicted, and
    # those of records
    covariates: Sequence[StatedCovariate]
    features: Sequence[StatedCovariate]
    edges: tuple[float, ...]  # of intervals; empty without


def stated_in(text: str) -> StatedFacts:
    """Read the public facts of a request, such as the settings that are saved with a release."""
    plain = checked_object(json_of(text, "settings"), "settings", _KEYS)
    parsing.check_version(plain)
    data = checked_object(plain.get("data", {}), "data")
    if "facts" not in data:
        raise InputError(
            "These settings state no bounds.",
            field="facts",
            hint="The settings saved with a release of an own file do.",
        )
    facts = data_sections.RequestFacts.of(data, data_sections.EVERY_FACT)
    features = data_sections.features_of(data)
    response = _response_in(data, facts) if features else None
    predicted = (
        [StatedCovariate(response, facts.value_low, facts.value_high, facts.value_unit)]
        if response
        else []
    )
    return StatedFacts(
        {
            name: number
            for name in data_sections.NUMBERS
            if (number := getattr(facts, name)) is not None
        },
        facts.words(*data_sections.WORDS, "origin"),
        {name: getattr(facts, name) for name in data_sections.FLAGS if name in data["facts"]},
        data_sections.design_of(facts, ()),
        [*facts.covariates, *features, *predicted],
        features,
        data_sections.edges_of(data),
    )


def _response_in(data: Mapping[str, Any], facts: data_sections.RequestFacts) -> str | None:
    """Return the column name of the response; settings of earlier versions have "columns"."""
    columns = checked_object(data.get("columns", {}), "columns")
    name = facts.value_name or columns.get("value")
    return str(name) if name and facts.value_low is not None else None


def _single_budget(budgets: tuple[Budget, ...]) -> Budget:
    if len(set(budgets)) != 1:
        raise InputError(
            "A release has one budget for all sites.",
            field="budgets",
            hint="Give the same ε and δ to all of them.",
        )
    return budgets[0]


def _files(
    data: Any, mechanism: Mechanism, folder: Path
) -> tuple[tuple[TableFile, ...], Mapping[str, Any]]:
    """Return the files that a request names, and its "data", which is checked."""
    of_groups = (groups.KEY,) if _section(mechanism).has_groups else ()
    stated = checked_object(
        data, "data", ("file", *keys_of(mechanism), *of_groups, *data_sections.LOOKING)
    )
    data_sections.reading_in(stated)  # before the file is opened
    for key in data_sections.LOOKING:
        if key in stated:
            raise InputError(
                f"“{key}” is for looking at a file; the “reading” says how it is read.",
                field=key,
                hint="Leave it out of “data”.",
            )
    return files_of(stated.get("file", ""), folder), stated


def _are_stored(
    files: Sequence[TableFile],
    data: Mapping[str, Any],
    mechanism: Mechanism,
    resources: Resources | None,
) -> bool:
    """True if a table is read in batches, and its method can.

    It is if it is large, in several files, or read by workers.
    """
    is_one = len(files) == 1 and not files[0].partition
    can = mechanism.reads_any_size and (
        mechanism.main_task.data is DataType.EVENTS
        or "group" not in data_sections.reading_in(data).columns
    )
    has_workers = resources is not None and resources.executor is not None
    is_large = not is_one or files[0].size > MAX_BYTES or has_workers
    if is_large and not mechanism.reads_any_size:
        from engine.release import certified

        raise certified.in_memory_alone(mechanism)
    return is_large or (can and files[0].size > _LIKELY_MANY and is_in_batches(files[0]))


def _content(files: Sequence[TableFile]) -> bytes:
    """Return the content of a small file."""
    return bytes_of(files[0].path, MAX_BYTES)


def stored(
    files: Sequence[TableFile],
    data: Mapping[str, Any],
    mechanism: Mechanism,
    resources: Resources | None = None,
) -> UploadedData[Data]:
    """Return the data of files of any size: curves in blocks, or one time of each person."""
    reading = data_sections.reading_in(data)
    resources, task = resources or Resources.usual(), mechanism.main_task
    if task.data is DataType.EVENTS:
        declared = data_sections.event_facts(data, reading, task)
        events, ids = read_events(files, reading, counted_for(task.key), resources)
        return StoredEvents(events=events, stored_ids=ids, declared=declared, reading=reading)
    table = table_of_files(files, reading, resources)
    facts = _section(mechanism).facts(data, reading, task)
    check_named_units(
        [(table.sample.time_column, facts.time_unit), (table.sample.value_column, facts.value_unit)]
    )
    return StoredCurves(table=table, declared=facts, reading=reading)


def keys_of(mechanism: Mechanism) -> tuple[str, ...]:
    """Return what can be said of data for this method, besides their file."""
    return ("reading", *_section(mechanism).keys)


def _section(mechanism: Mechanism) -> data_sections.DataSection:
    return data_sections.SECTIONS[mechanism.main_task.data]


def uploaded(
    content: bytes, data: Mapping[str, Any], mechanism: Mechanism, facts: PublicFacts | None = None
) -> UploadedData[Data]:
    """Return the curves, people with times or records of a file, as the method takes them.

    `data` has the complete reading and what is stated, with keys as `keys_of` lists; `facts` hold
    in place of those.
    """
    people = read_people(content, data_sections.reading_in(data))
    return _section(mechanism).upload(people, data, mechanism.main_task, facts)


def public_sample(
    content: bytes, source: UploadedData[Any], mechanism: Mechanism
) -> UploadedData[Any]:
    """Read a public sample as the protected file was read, with the facts stated of that file."""
    if source.reading is None:
        raise InputError(
            "Nobody knows how the protected file was read.",
            field="public",
            hint="Say first how it is read.",
        )
    data = {"reading": source.reading.to_plain(), **stated_of(source.facts, mechanism)}
    return uploaded(content, data, mechanism, source.facts)


def stated_facts(data: Mapping[str, Any], mechanism: Mechanism) -> PublicFacts:
    """Return what is stated of data, before any file is looked at; keys as `keys_of` lists."""
    reading = data_sections.reading_in(data)
    checked_object(data, "data", keys_of(mechanism))
    return _section(mechanism).facts(data, reading, mechanism.main_task)
