"""Files and tables of one's own: how they may be read, and a look at them for their holder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from engine.core.entrance import bytes_of
from engine.core.tasks import DataType
from engine.core.typed import checked
from engine.exports.looking import Look, looked_at
from engine.numerics.counts.cells import Counted
from engine.uploads.bounded import read_people
from engine.uploads.files import TableFile, files_of
from engine.uploads.limits import MAX_BYTES, FileLimits
from engine.uploads.lines import check_frame
from engine.uploads.people import People, read_frame
from engine.uploads.proposal import Proposal, propose_within
from engine.uploads.proposal import propose as _propose
from engine.uploads.proposing.roles import FileKind
from engine.uploads.reading_of_files import Reading

Table = str | Path | pd.DataFrame
_OF_FRAMES = FileLimits(bytes=2**31, cells=10**9)  # which are in memory already


@checked
def propose(
    data: Table,
    *,
    kind: FileKind | str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoding: str = "",
    sheet: str = "",
) -> Proposal:
    r"""Propose how to read a file or a table, and what only a person can say of it.

    The proposal follows from all of the data, so that nothing is certified by it: check its
    `reading`, fill its `gaps`, and give the reading to `read_curves` or to a request.

    Parameters
    ----------
    data : path or pandas.DataFrame
        CSV, TSV, XLSX, an export of a device or a .zip of these, or a table.
    kind : str, optional
        What it holds of each person: "curves", "single observations", "records", "times with
        events", "single values" or "scores with labels". Told by its columns unless given.
    columns : mapping, optional
        Names of columns by their roles, such as "id", "time", "value", "status", "start", "server"
        (the site) and "covariates"; what is named is not guessed.
    encoding, sheet : str, optional
        Of the file; found unless given.

    Returns
    -------
    Proposal
        With its `reading`, which `to_plain` gives as JSON; `gaps`, each with a question, answers
        and counts; `people`, one line on who one person is; and `likely`, the reading with every
        gap filled by the likeliest answer, for looking alone.

    Raises
    ------
    InputError
        If the data are no table, or cells of a column can be read in no way.

    Examples
    --------
    >>> heights = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6],
    ...                         "height": [86, 115, 84, 112]})
    >>> propose(heights).people
    '4 lines, 2 different “child”: one id is one person'
    """
    stated = {} if columns is None else {"columns": columns}
    return proposed(data, kind, stated, encoding, sheet)


@checked
def look(
    data: Table,
    *,
    kind: FileKind | str | None = None,
    columns: Mapping[str, Any] | None = None,
    encoding: str = "",
    sheet: str = "",
) -> Look:
    """A picture of a file or a table as it is, and how it was read: for its holder alone.

    Nothing of it is private. It needs no confirmation, and nothing can be published by it.

    Parameters
    ----------
    data, kind, columns, encoding, sheet
        As for `propose`.

    Returns
    -------
    Look
        With its `lines`, and its picture as `svg()` and `html()`; a notebook shows it.

    Raises
    ------
    InputError
        If the data cannot be read in the likeliest way.

    Examples
    --------
    >>> heights = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6],
    ...                         "height": [86, 115, 84, 112]})
    >>> look(heights).lines[0]
    'People: “child”, 2; time: “age” (number); value: “height” (number); observations: 4.'
    """
    proposal = propose(data, kind=kind, columns=columns, encoding=encoding, sheet=sheet)
    return looked_at(people_of(data, proposal.likely), proposal)


def proposed(
    data: Table,
    kind: FileKind | DataType | Counted | str | None,
    stated: Mapping[str, Any],
    encoding: str = "",
    sheet: str = "",
) -> Proposal:
    """Propose how data are read; a file within bounds of time and memory."""
    if isinstance(data, pd.DataFrame):
        check_frame(data)
        numbers = data.astype(dict.fromkeys(data.select_dtypes(bool).columns, "int8"))
        return _propose(
            numbers.to_csv(index=False).encode(), data=kind, stated=stated, limits=_OF_FRAMES
        )
    return propose_within(_bytes(data), data=kind, stated=stated, encoding=encoding, sheet=sheet)


def people_of(data: Table, reading: Reading) -> People:
    """Read data by a complete reading: a table by the types of its columns, a file by its bytes."""
    if isinstance(data, pd.DataFrame):
        return read_frame(data, reading)
    return read_people(_bytes(data), reading)


def _bytes(data: str | Path) -> bytes:
    return bytes_of(str(data), MAX_BYTES)


def files_in(data: Table | Sequence[str | Path]) -> tuple[TableFile, ...]:
    """Find the files that are read in batches: a folder, a pattern, a list or a large file."""
    if isinstance(data, pd.DataFrame):
        return ()
    files = files_of(str(data) if isinstance(data, str | Path) else list(map(str, data)))
    is_small = len(files) == 1 and files[0].size <= MAX_BYTES and not files[0].partition
    return () if is_small else files
