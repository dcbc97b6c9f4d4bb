"""What the command line is asked to publish, as data.

{"version": 1, "name": "growth-2026",
 "data": {"file": "heights.csv", "columns": {"id": "child_id", "time": "age", "value": "height"},
          "facts": {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18,
                    "origin": "national growth chart, 2019", "value_name": "Height",
                    "value_unit": "cm", "person": "child", "people": "children",
                    "design": {"law": "common", "times": [2, 6, 10, 14]},
                    "observations_per_curve": 4, "symmetric": false}},
 "mechanism": {"key": "adaptive_mean", "parameters": {}},
 "budgets": [{"epsilon": 1.0, "delta": 1e-6}]}

Where a row is a curve, several rows of one person are averaged; with "several": "keep" each row is
protected on its own.

"design" has a "law" with what belongs to it, in the unit of the file: "common" with "times", or
with "times": "header" to confirm that those in the header of a wide table are public; "visits" with
"gap"; "windows" with "window"; "density" with "heights"; "even"; "unknown". Without a column
"server" one trusted centre holds all curves; with it each site adds its own noise.

A budget without "delta" has that of all pages: 1/n² for n people in the file, and 0 where the
method needs none.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from engine.core.entrance import bytes_of, json_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.core.tasks import DataType
from engine.core.types import Budget, Data, PublicFacts
from engine.mechanisms import Mechanism, parsing
from engine.release import data_sections, groups
from engine.sources import Source
from engine.uploads.bounded import read_file
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import StatedCovariate
from engine.uploads.layout import Layout, site_like
from engine.uploads.limits import MAX_BYTES
from engine.uploads.own_file import OwnFile
from engine.uploads.source import UploadedData
from engine.uploads.tables import Table

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
    site_like : str
        A column of the file that may name sites and has no role; else empty.
    """

    source: Source[Data]
    mechanism: Mechanism
    budget: Budget
    name: str = ""
    site_like: str = ""


def from_json(text: str, folder: Path) -> tuple[Request, ...]:
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
    from engine.release import certified  # on first use: pages that read no request need no ledger

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
    mechanism = parsing.mechanism_of(plain)
    certified.check_published(mechanism)
    table = _table(plain["data"], mechanism, folder)
    source = uploaded(table, plain["data"], mechanism)
    sites = _site_like(table, plain["data"])
    usual = mechanism.delta(source.sizes.n_curves).value  # of groups, too: it goes by all people
    budget = _single_budget(parsing.budgets_of(plain, 1, usual))
    if not isinstance(source, Upload):
        return (Request(source, mechanism, budget, name, sites),)
    stated, names = groups.in_request(plain["data"], name)
    if stated is None:
        return (Request(source, mechanism, budget, name, sites),)
    return tuple(Request(stated.people(source, group), mechanism, budget,
                         stated.release_name(group), sites) for group in names)


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
    source.facts.check_stated()
    if not isinstance(source, UploadedData):
        data: dict[str, Any] | None = {"source": {"key": source.key, "parameters": source.values()}}
    else:
        data = None if own_file is None else _of_file(source.facts, own_file)
    return None if data is None else {
        "version": 1, **data, "mechanism": {"key": mechanism.key, "parameters":
                                            mechanism.changed()},
        "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}]}


def _of_file(facts: PublicFacts, own_file: OwnFile) -> dict[str, Any] | None:
    """How a file was read, and what was stated of it."""
    if own_file.sheet or own_file.encoding != "utf-8":
        return None
    named = {} if facts.group is None else {"name": facts.group.set}
    section = data_sections.SECTIONS[DataType(own_file.layout.data)]
    return {**named, "data": section.of_file(facts, own_file)}


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
    facts.check_stated()
    return _section(mechanism).of_facts(facts, mechanism.main_task)


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
    facts = checked_object(data["facts"], "facts", data_sections.FACTS)
    numbers = {name: data_sections.number_in(facts, name)
               for name in (*data_sections.ENDS, "reading_sd", "observations_per_curve")}
    features = data_sections.features_of(data, "features")
    response = data_sections.columns_of(data.get("columns", {})).get("value") if features else None
    predicted = [StatedCovariate(response, numbers["value_low"], numbers["value_high"],
                                 str(facts.get("value_unit", "")))] if response else []
    return StatedFacts(
        {name: number for name, number in numbers.items() if number is not None},
        {name: str(facts[name]) for name in (*data_sections.WORDS, "origin") if name in facts},
        {name: facts[name] is True for name in ("periodic", "symmetric", "two_classes")
         if name in facts}, data_sections.design_of(facts, Layout()),
        [*data_sections.features_of(facts, "covariates"), *features, *predicted], features,
        data_sections.listed_in(data, "edges", (int, float)))


def _single_budget(budgets: tuple[Budget, ...]) -> Budget:
    if len(set(budgets)) != 1:
        raise InputError("A release has one budget for all sites.", field="budgets",
                         hint="Give the same ε and δ to all of them.")
    return budgets[0]


def _table(data: Any, mechanism: Mechanism, folder: Path) -> Table:
    """The file that a request names, whose "data" is checked."""
    keys = keys_of(mechanism)
    of_groups = groups.KEYS if _section(mechanism).has_groups else ()
    stated = checked_object(data, "data", ("file", *keys, *of_groups))
    return read_file(bytes_of(_beside(folder, stated.get("file")), MAX_BYTES))


def _site_like(table: Table, data: Mapping[str, Any]) -> str:
    """A column that may name sites and has no role in a request; else empty."""
    features = [feature.name for feature in data_sections.features_of(data, "features")]
    return site_like(table, {**data.get("columns", {}), "features": features}) or ""


def keys_of(mechanism: Mechanism) -> tuple[str, ...]:
    """What can be said of data for this method, besides their file.

    Parameters
    ----------
    mechanism : Mechanism
        Curves, people with times or records, as the method takes them.
    """
    return _section(mechanism).keys


def _section(mechanism: Mechanism) -> data_sections.DataSection:
    return data_sections.SECTIONS[mechanism.main_task.data]


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
    return _section(mechanism).upload(table, data, mechanism.main_task, facts)


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
    return _section(mechanism).facts(data, mechanism.main_task)


def _beside(folder: Path, name: Any) -> Path:
    """The path of a file that a request names."""
    if not isinstance(name, str) or not name:
        raise InputError("“file” must be the name of a file.", field="file",
                         hint="It is relative to the request.")
    return folder / name
