"""Data and methods: a table with stated facts, simulated curves, and the registered mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from engine.api.files import Table, files_in, people_of, proposed
from engine.core.errors import InputError
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.registry import Registry
from engine.core.tasks import DataType
from engine.core.typed import Repeats, checked, record
from engine.core.types import Covariate, Data, PublicFacts
from engine.mechanisms import Mechanism
from engine.mechanisms import mechanisms as _mechanisms
from engine.numerics.counts.cells import Counted
from engine.sources import Source
from engine.sources import sources as _sources
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.design import StatedDesign
from engine.uploads.events import UploadEvents, declare_events
from engine.uploads.facts import declare
from engine.uploads.files import TableFile
from engine.uploads.misfits import check_named_units
from engine.uploads.partitioned_table import table_of_files
from engine.uploads.people import People
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of, event_columns, events_of
from engine.uploads.scratch import Resources
from engine.uploads.stored_curves import StoredCurves
from engine.uploads.stored_events import StoredEvents, read_events

Ends = tuple[float, float]
_MAX_NUMBERS = 200_000_000  # drawn at once: 1.6 GB


@checked
def read_curves(
    data: Table | Sequence[str],
    columns: Mapping[str, Any] | None = None,
    *,
    reading: Mapping[str, Any] | Reading | None = None,
    values: Ends,
    times: Ends,
    origin: str,
    design: Mapping[str, Any] | StatedDesign,
    observations: int | None = None,
    symmetric: bool = False,
    guessed_spread: float | None = None,
    several: Literal["average", "keep"] | None = None,
    covariates: Sequence[Covariate] = (),
    value_name: str = "",
    value_unit: str = "",
    time_name: str = "",
    time_unit: str = "",
    person: str = "",
    people: str = "",
    periodic: bool = False,
) -> Source[Any]:
    r"""Curves of one's own, with the facts that are stated about them.

    Bounds and the design come from outside the data: what is taken from the data is not public, and
    nothing that is computed with it is protected. The same holds for how each cell is read: with
    `reading` it is stated, and the curves may be published; without it is guessed by looking at all
    of the data, and they may be looked at alone.

    Parameters
    ----------
    data : path, list of paths or pandas.DataFrame
        CSV, TSV, XLSX, Parquet or Arrow, or a table: a row for each observation, or a row or a
        column for each curve. A folder, a pattern such as ``meters/*.parquet``, a list, or a file
        above 20 MB is read in batches, by its `reading`: a block of people at a time is in memory,
        also when it is published. Numbers and moments of a data frame are taken as they are,
        whatever the reading says of their kind; all other columns need their entry in it.
    columns : mapping, optional
        For looking: names of columns by their roles, "id", "time", "value", "server" (the site),
        "covariates". What is left out is recognised by its name.
    reading : Reading or mapping, optional
        How the data are read, as `propose` writes it and a person has checked it.
    values, times : (low, high)
        Bounds of the observations and of their times, in the units of the data. Observations
        outside are moved to the nearer end.
    origin : str
        The public source of the bounds.
    design : mapping or StatedDesign
        How observation times come about: {"law": "common", "times": [...]}, {"law": "visits",
        "gap": …}, {"law": "windows", "window": …}, {"law": "even"} or {"law": "unknown"}.
    observations : int, optional
        How many were planned for each curve; of common times as many as there are.
    symmetric : bool
        Whether people are spread about their mean without skew.
    guessed_spread : float, optional
        A guess, not from the data, how far most people are from the average at most. Only the
        forecast of the error uses it.
    several : "average" or "keep", optional
        For looking: what becomes of several observations of one person at one time.
    covariates : sequence of Covariate
        Names and ranges of columns that may explain the curves.
    value_name, value_unit, time_name, time_unit, person, people : str, optional
        Names and units, as they stand in tables and pictures.
    periodic : bool
        Whether a curve ends where it began.

    Returns
    -------
    Source
        With its public `facts` and `sizes`; `simulate` gives its data, `release` publishes it.

    Raises
    ------
    InputError
        If the data cannot be read so, or a fact is missing or cannot be.

    Examples
    --------
    >>> heights = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6],
    ...                         "height": [86, 115, 84, 112]})
    >>> curves = read_curves(heights, reading={
    ...     "frame": {"header": ["child", "age", "height"]}, "person": {"column": "child"},
    ...     "columns": {"time": {"name": "age"}, "value": {"name": "height"}}},
    ...     values=(60, 210), times=(2, 18), origin="growth chart",
    ...     design={"law": "common", "times": [2, 6]}, value_unit="cm")
    >>> curves.sizes.n_curves, curves.facts.value_half_width
    (2, 75.0)
    """
    files = files_in(data)
    stated = design if isinstance(design, StatedDesign) else record(StatedDesign, design, "design")
    facts = declare(
        *values,
        *times,
        origin,
        covariates,
        design=stated,
        observations=observations,
        symmetric=symmetric,
        guessed_spread=guessed_spread,
        periodic=periodic,
        value_name=value_name,
        value_unit=value_unit,
        time_name=time_name,
        time_unit=time_unit,
        person=person,
        people=people,
    )
    if files:
        return _stored(files, _of_any_size(reading), facts)
    asked = {"columns": columns, "several": several}
    found = _people(_single(data), reading, DataType.CURVES, asked)
    curves = curves_of(found)
    _check_units(curves, facts)
    return Upload(curves=curves, declared=facts, reading=None if reading is None else found.reading)


def _of_any_size(reading: Mapping[str, Any] | Reading | None) -> Reading:
    """Return the reading of files of any size, which is not proposed."""
    if reading is None:
        raise InputError(
            "Files of this size are read by a stated reading alone.",
            field="reading",
            hint="“propose” finds one for a part of the rows in a file of its own.",
        )
    return reading if isinstance(reading, Reading) else Reading.of(reading)


def _stored(files: Sequence[TableFile], reading: Reading, facts: PublicFacts) -> Source[Any]:
    """Curves of files of any size."""
    stored = table_of_files(files, reading, Resources.usual())
    _check_units(stored.sample, facts)
    return StoredCurves(table=stored, declared=facts, reading=reading)


def _check_units(curves: CurveTable, facts: PublicFacts) -> None:
    check_named_units(
        [(curves.time_column, facts.time_unit), (curves.value_column, facts.value_unit)]
    )


@checked
def read_survival(
    data: Table | Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    reading: Mapping[str, Any] | Reading | None = None,
    follow_up: float,
    origin: str,
    events: Sequence[str] = (),
    groups: Sequence[str] = (),
    edges: Sequence[float] = (),
    group_sizes: Sequence[int] = (),
    group_weights: Sequence[float] = (),
    time_step: float | None = None,
    time_name: str = "",
    time_unit: str = "",
    person: str = "",
    people: str = "",
) -> Source[Any]:
    r"""Times of one's own until an event, with the facts that are stated about them.

    Parameters
    ----------
    data : path, list of paths or pandas.DataFrame
        CSV, TSV, XLSX, Parquet or Arrow, or a table, with a row for each person or intervals one
        after the other; files of any size by their `reading`, as for `read_curves`.
    columns : mapping, optional
        For looking: names of columns by their roles, "id", "start", "entry" (late entry), "time",
        "status", "group", "server" (the site); "without" in place of the status is the last visit
        without the event, and "time" the first with it.
    reading : Reading or mapping, optional
        How the data are read, as for `read_curves`; the words of its status say which texts are
        events. What it lacks, `release` refuses.
    follow_up : float
        The planned follow-up, in the unit of the times: longer times count as event-free until
        then.
    origin : str
        The public source of the follow-up, such as the protocol.
    events, groups : sequence of str, optional
        For looking: the texts of the status that are events, and the groups.
    edges : sequence of float, optional
        Those of intervals that are not equally wide, or the start and the public times of visits.
    group_sizes : sequence of int, optional
        Numbers of people in all groups, where they are public.
    group_weights : sequence of float, optional
        Shares of the groups in a standard population, which sum to 1: there is one survival curve,
        adjusted to these shares.
    time_step : float, optional
        In which times are recorded, in their unit, such as 1 for whole days. Without it the limits
        of a median go outward to the edges of intervals.
    time_name, time_unit, person, people : str, optional
        Names and units, as they stand in tables and pictures.

    Returns
    -------
    Source
        With its public `facts` and `sizes`.

    Raises
    ------
    InputError
        If the data cannot be read so, or a fact is missing or cannot be.

    Examples
    --------
    >>> patients = pd.DataFrame({"days": [12, 30], "end": ["death", "alive"]})
    >>> survival = read_survival(patients, reading={
    ...     "frame": {"header": ["days", "end"]}, "person": {"rows": True},
    ...     "columns": {"time": {"name": "days"}, "status": {
    ...         "name": "end", "kind": "word", "words": {"death": "death"}, "other": "censored"}}},
    ...     follow_up=365, origin="the protocol", time_unit="days")
    >>> survival.sizes.n_curves, survival.facts.causes
    (2, ('death',))
    """
    asked = {"columns": columns, "events": [*events], "groups": [*groups]}
    kind, files = Counted.OUTCOMES, files_in(data)
    found = None if files else _people(_single(data), reading, kind, asked)
    by = _of_any_size(reading) if found is None else found.reading
    facts = declare_events(
        0.0,
        follow_up,
        origin,
        event_columns(by, kind),
        edges,
        group_sizes,
        time_step,
        group_weights,
        time_name=time_name,
        time_unit=time_unit,
        person=person,
        people=people,
    )
    if found is None:
        table, ids = read_events(files, by, kind, Resources.usual())
        return StoredEvents(events=table, stored_ids=ids, declared=facts, reading=by)
    return UploadEvents(
        events=events_of(found, kind), declared=facts, reading=None if reading is None else by
    )


def _single(data: Table | Sequence[str | Path]) -> Table:
    """Return a table, or the one file of a list."""
    return data if isinstance(data, str | Path | pd.DataFrame) else data[0]


def _people(
    data: Table,
    reading: Mapping[str, Any] | Reading | None,
    kind: DataType | Counted,
    asked: Mapping[str, Any],
) -> People:
    """Read data by a stated reading; or, for looking, by what all of them make likely."""
    stated = {name: value for name, value in asked.items() if value}
    if reading is not None:
        if stated:
            raise InputError(
                f"“{next(iter(stated))}” is for looking; the reading says it.",
                field=next(iter(stated)),
                hint="Leave it out.",
            )
        return people_of(data, reading if isinstance(reading, Reading) else Reading.of(reading))
    return people_of(data, proposed(data, kind, stated).likely)


@checked
def source(key: str, **parameters: Any) -> Source[Any]:
    """Data that come with the engine: simulated, or public and real.

    Parameters
    ----------
    key : str
        One of `sources()`.
    parameters
        Those that differ from the usual ones.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If there is none of that name, or a parameter is unknown or out of range.

    Examples
    --------
    >>> source("sparse_curves", n_curves=500).sizes.n_curves
    500
    """
    built: Source[Any] = _sources.build(key, parameters)
    return built


@checked
def mechanism(key: str, **parameters: Any) -> Mechanism:
    """A method with its tuning parameters; None is what its paper prescribes.

    Parameters
    ----------
    key : str
        One of `mechanisms()`.
    parameters
        Those that differ from the usual ones.

    Returns
    -------
    Mechanism

    Raises
    ------
    InputError
        If there is none of that name, or a parameter is unknown or out of range.

    Examples
    --------
    >>> mechanism("adaptive_mean", truncation=5).truncation
    5
    """
    built: Mechanism = _mechanisms.build(key, parameters)
    return built


@checked
def sources() -> pd.DataFrame:
    """All sources of data, by their keys.

    Returns
    -------
    pandas.DataFrame
        Columns `label`, `tasks` and `parameters`, with the keys as its index.

    Examples
    --------
    >>> "sparse_curves" in sources().index
    True
    """
    return _shelf(_sources)


@checked
def mechanisms() -> pd.DataFrame:
    """All methods, by their keys.

    Returns
    -------
    pandas.DataFrame
        Columns `label`, `tasks` and `parameters`, with the keys as its index.

    Examples
    --------
    >>> mechanisms().loc["adaptive_mean", "label"]
    'Adaptive mean'
    """
    return _shelf(_mechanisms)


@checked
def simulate(source: Source[Data], repeats: Repeats = 1, seed: int = 1) -> Any:
    """Data of a source: drawn anew for each repeat, or the same where they are real.

    Parameters
    ----------
    source : Source
        From `source` or `read_curves`.
    repeats : int
        Data sets of equal sizes, from 1 to 100,000.
    seed : int
        The same seed gives the same data, as on the pages; at least 0.

    Returns
    -------
    CurveData
        Or what else the source has: `SampleData` or `EventData`.

    Raises
    ------
    InputError
        If the data sets together are too large, or there is only one.

    Examples
    --------
    >>> simulate(source("sparse_curves", n_curves=500), repeats=3).n_repeats
    3
    """
    if repeats * source.sizes.n_observations > _MAX_NUMBERS:
        raise InputError(
            f"All data sets together may have {_MAX_NUMBERS:,} observations.",
            field="repeats",
            hint="Take fewer of them, or smaller ones.",
        )
    return source.draw(repeats, generator(seed, DATA_STREAM, 0))


def _shelf(shelf: Registry) -> pd.DataFrame:
    rows = [
        {
            "key": cls.key,
            "label": cls.label,
            "tasks": ", ".join(sorted(cls.tasks)),
            "parameters": ", ".join(each.name for each in cls.parameters()),
        }
        for cls in shelf.all()
    ]
    return pd.DataFrame(rows).set_index("key")
