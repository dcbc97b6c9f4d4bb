"""The files of a table: one, a folder, a glob or a list, in an order that names alone decide."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.core.entrance import called, existing_file
from engine.core.errors import InputError
from engine.core.lists import counted
from engine.uploads.packed import (
    HEAD,
    EndsEarlyError,
    Packing,
    TypedTable,
    noticing_ends,
    packing_of,
)

MAX_FILES = 100_000
_ASKED, _PIECE = "*?[", 1 << 20
_UNPACKED = 8  # times the size of compressed text, where nothing is known
_BYTES_OF_ROW = 16  # of a text, at least


@dataclass(frozen=True)
class TableFile:
    """A file on the disk as it was when it was found."""

    path: Path
    size: int
    modified: int  # nanoseconds
    # columns that the names of its folders state, as site=north/
    partition: Mapping[str, str] = field(default_factory=dict)

    @property
    def packing(self) -> Packing:
        with noticing_ends(), self.path.open("rb") as file:
            return packing_of(file.read(HEAD))

    @property
    def most_rows(self) -> int:
        """The number of rows, or one that is hardly exceeded where the file does not say it."""
        packing = self.packing
        if packing is Packing.PARQUET:
            try:
                return TypedTable(self.path, packing).n_rows or 0
            except EndsEarlyError:  # which is told with others, once all were read
                return 0
        return self.size * (_UNPACKED if packing.is_text else 1) // _BYTES_OF_ROW + 1


def files_of(stated: str | Sequence[str], folder: Path = Path()) -> tuple[TableFile, ...]:
    """Find the files that a text names, or several texts; relative ones are in the folder.

    Hidden files, and those whose names begin with “_”, are no part of a folder.
    """
    files = [file for text in _texts(stated) for file in _named(text, folder)]
    if not files:
        raise InputError("No file has such a name.", field="file", hint="Check the name.")
    if len(files) > MAX_FILES:
        raise InputError(
            f"There are {len(files):,} files; at most {MAX_FILES:,} are read.",
            field="file",
            hint="Write fewer and larger ones.",
        )
    paths = {os.path.realpath(file.path) for file in files}
    if len(paths) < len(files):
        raise InputError(
            f"{counted(len(files) - len(paths), 'file')} would be read twice.",
            field="file",
            hint="Name each file once.",
        )
    columns = {tuple(file.partition) for file in files}
    if len(columns) > 1:
        raise InputError(
            "The folders of these files state different columns.",
            field="file",
            hint="Give all of them folders such as site=north.",
        )
    return tuple(files)


def content_of(files: Sequence[TableFile]) -> Iterator[bytes]:
    """Yield the bytes of all files in pieces."""
    for file in files:
        with noticing_ends(), file.path.open("rb") as raw:
            while piece := raw.read(_PIECE):
                yield piece


def changed(files: Sequence[TableFile]) -> int:
    """Count the files that have another size or time than when they were found, or are gone."""
    return sum(not _is_as_found(file) for file in files)


def check_unchanged(files: Sequence[TableFile]) -> None:
    """Refuse files that changed since they were found.

    Raises
    ------
    InputError
        If one did.
    """
    if number := changed(files):
        raise InputError(
            f"{counted(number, 'file')} changed while {'it was' if number == 1 else 'they were'} "
            "read; nothing was published.",
            field="file",
            hint="Release from files that nobody writes to.",
        )


def _is_as_found(file: TableFile) -> bool:
    try:
        status = file.path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (file.size, file.modified)


def _texts(stated: object) -> list[str]:
    texts = [stated] if isinstance(stated, str) else stated
    if not isinstance(texts, list | tuple) or not all(
        isinstance(text, str) and text for text in texts
    ):
        raise InputError(
            "“file” must be the name of a file.",
            field="file",
            hint="A folder, a pattern such as meters/*.parquet, or a list of these will do, too.",
        )
    return [*texts]


def _named(text: str, folder: Path) -> list[TableFile]:
    path = folder / text
    if os.path.isdir(path):
        within = [each for each in path.rglob("*") if not _is_hidden(each.relative_to(path))]
        # links to folders are not followed
        inside = sorted(each for each in within if each.is_symlink() or not each.is_dir())
        if not inside:
            raise InputError(
                f"The folder {called(text)} has no files.", field="file", hint="Check its name."
            )
        _check_files(inside)
        return [_found(each, _partition(each.relative_to(path))) for each in inside]
    if any(mark in text for mark in _ASKED) and not os.path.exists(path):
        names = sorted(glob.glob(str(path), recursive=True))
        inside = [Path(name) for name in names if not os.path.isdir(name)]
        if not inside:
            raise InputError(
                f"No file is called as {called(text)} says.",
                field="file",
                hint="Check the pattern.",
            )
        _check_files(inside)
        return [_found(each, _partition(each)) for each in inside]
    return [_found(path, {})]


def _check_files(paths: Sequence[Path]) -> None:
    """Refuse what is no file, without its name, which may be a person's."""
    if others := sum(not path.is_file() for path in paths):
        raise InputError(
            f"{others:,} of {counted(len(paths), 'file')} cannot be read: a link that leads "
            "nowhere or to a folder, or no regular file.",
            field="file",
            hint="Mend or remove it, so that nobody is left out unseen.",
        )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _partition(path: Path) -> dict[str, str]:
    """Return the columns that folders state."""
    pairs = (part.partition("=") for part in path.parts[:-1])
    return {name: value for name, mark, value in pairs if name and mark}


def _found(path: Path, partition: Mapping[str, str]) -> TableFile:
    status = existing_file(path).stat()
    return TableFile(path, status.st_size, status.st_mtime_ns, partition)
