"""A folder of published files: all of them whole, or none, and none ever written over.

All files are first written under other names and are on disk before the first gets its own; so a
full disk leaves none, and a process that is killed in between leaves some, each of them whole. To
write them again adds those that are missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.core import entrance
from engine.core.errors import InputError

_UNFINISHED = ".unfinished"


def empty(name: str) -> Path:
    """Return a writable folder that holds nothing, made if it is not there."""
    folder = entrance.folder_to_fill(name)
    tried = folder / f".tried.{os.getpid()}{_UNFINISHED}"
    try:
        if any(not _is_ours(path) for path in folder.iterdir()):
            raise _not_empty(name)
        tried.write_bytes(b"")
        tried.unlink()
    except OSError as problem:
        raise entrance.unwritable(name, problem, "out") from None
    return folder


def write(name: str, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder that holds nothing else, and return paths in the order of `files`.

    Existing files stay as they are.
    """
    folder = entrance.folder_to_fill(name)
    try:
        for path in folder.iterdir():
            if _is_ours(path):
                path.unlink(missing_ok=True)
            elif path.name not in files or path.read_bytes() != files[path.name]:
                raise _not_empty(name)
        missing = {file: content for file, content in files.items() if not (folder / file).exists()}
        _write_all(folder, missing)
    except OSError as problem:
        raise entrance.unwritable(name, problem, "out") from None
    return [folder / file for file in files]


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    aside = {folder / f".{file}.{os.getpid()}{_UNFINISHED}": folder / file for file in files}
    try:
        for path, content in zip(aside, files.values(), strict=True):
            with path.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        for path, final in aside.items():
            path.replace(final)
        to_disk(folder)
    finally:
        _remove(aside)


def to_disk(folder: Path) -> None:
    """Wait until the names of the files of a folder are on disk, as their contents are."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    """True for a file left by a killed process of this program."""
    return path.name.startswith(".") and path.name.endswith(_UNFINISHED)


def _not_empty(name: str) -> InputError:
    return InputError(
        f"The folder {entrance.called(name)} is not empty.",
        field="out",
        hint="Name another with --out.",
    )
