"""Data and methods: a table with stated facts, simulated curves, and the registered mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from engine.core.entrance import bytes_of
from engine.core.plain import record
from engine.core.random_streams import DATA_STREAM, generator
from engine.core.registry import Registry
from engine.core.types import Covariate, Data
from engine.mechanisms import Mechanism
from engine.mechanisms import mechanisms as _mechanisms
from engine.sources import Source
from engine.sources import sources as _sources
from engine.uploads import curves as uploaded
from engine.uploads.bounded import read_file
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.layout import suggest_layout
from engine.uploads.limits import MAX_BYTES
from engine.uploads.misfits import check_named_units

Ends = tuple[float, float]


def read_curves(data: str | Path | pd.DataFrame, columns: Mapping[str, Any] | None = None, *,
                values: Ends, times: Ends, origin: str, design: Mapping[str, Any] | StatedDesign,
                observations: int | None = None, symmetric: bool = False,
                several: str | None = None, covariates: Sequence[Covariate] = (), **words: Any
                ) -> Source[Any]:
    r"""Curves of one's own, with the facts that are stated about them.

    Bounds and the design come from outside the data: what is taken from the data is not public, and
    nothing that is computed with it is protected.

    Parameters
    ----------
    data : path or pandas.DataFrame
        CSV, TSV or XLSX, or a table: a row for each observation, or a row or a column for each
        curve.
    columns : mapping, optional
        Names of columns by their roles: "id", "time", "value", "server" (the site), "covariates".
        What is left out is recognised by its name.
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
    several : "average" or "keep", optional
        Whether several rows of one person, where a row is a curve, are averaged to one curve (as
        usual), or protected one by one; see `engine.uploads.curves.read_curves`.
    covariates : sequence of Covariate
        Names and ranges of columns that may explain the curves.
    words
        Names and units: `value_name`, `value_unit`, `time_name`, `time_unit`, `person`, `people`,
        and `periodic`.

    Returns
    -------
    Source
        With its public `facts` and `sizes`; `simulate` gives its data, `release` publishes it.

    Raises
    ------
    InputError
        If the file cannot be read, or a fact is missing or cannot be.

    Examples
    --------
    >>> heights = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6],
    ...                         "height": [86, 115, 84, 112]})
    >>> curves = read_curves(heights, {"id": "child", "time": "age", "value": "height"},
    ...                      values=(60, 210), times=(2, 18), origin="growth chart",
    ...                      design={"law": "common", "times": [2, 6]}, value_unit="cm")
    >>> curves.sizes.n_curves, curves.facts.value_half_width
    (2, 75.0)
    """
    content = (data.to_csv(index=False).encode() if isinstance(data, pd.DataFrame)
               else bytes_of(str(data), MAX_BYTES))
    table = read_file(content)
    curves = uploaded.read_curves(table, suggest_layout(table, columns), several)
    stated = design if isinstance(design, StatedDesign) else record(StatedDesign, design, "design")
    facts = declare(*values, *times, origin, covariates, design=stated, observations=observations,
                    symmetric=symmetric, **words)
    check_named_units([(curves.time_column, facts.time_unit),
                       (curves.value_column, facts.value_unit)])
    return uploaded.Upload(curves=curves, declared=facts)


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


def simulate(source: Source[Data], repeats: int = 1, seed: int = 1) -> Any:
    """Data of a source: drawn anew for each repeat, or the same where they are real.

    Parameters
    ----------
    source : Source
        From `source` or `read_curves`.
    repeats : int
        Data sets of equal sizes.
    seed : int
        The same seed gives the same data, as on the pages.

    Returns
    -------
    CurveData
        Or what else the source has: `SampleData` or `EventData`.

    Examples
    --------
    >>> simulate(source("sparse_curves", n_curves=500), repeats=3).n_repeats
    3
    """
    return source.draw(repeats, generator(seed, DATA_STREAM, 0))


def _shelf(shelf: Registry) -> pd.DataFrame:
    rows = [{"key": cls.key, "label": cls.label, "tasks": ", ".join(sorted(cls.tasks)),
             "parameters": ", ".join(each.name for each in cls.parameters())}
            for cls in shelf.all()]
    return pd.DataFrame(rows).set_index("key")
