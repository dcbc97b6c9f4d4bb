"""The tables in a .zip archive, each one person's."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from engine.uploads.limits import FileLimits, refused
from engine.uploads.workbooks import is_workbook

MAX_FILES = 5000
_TABLES = (".csv", ".tsv", ".txt", ".json")
_OF_WORKBOOKS = ("[Content_Types].xml", "content.xml", "xl/workbook.xml", "xl/workbook.bin")


def is_archive_of_tables(content: bytes) -> bool:
    """Return True if a file is an archive with text tables and no workbook."""
    if not is_workbook(content):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {member.filename for member in archive.infolist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return not names & set(_OF_WORKBOOKS) and any(map(_is_table, names))


def files_of(content: bytes, limits: FileLimits) -> dict[str, bytes]:
    """Return the tables of an archive by their names without folder and ending; sizes come first.

    Where two files in different folders have one name, the folder tells their people apart. A file
    that is no archive is the only one of its own.
    """
    if not is_archive_of_tables(content):
        return {"file": content}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if _is_table(member.filename)]
            _check(members, len(content), limits)
            paths = [PurePosixPath(member.filename) for member in members]
            are_unique = len({path.stem for path in paths}) == len(paths)
            names = [path.stem if are_unique else str(path.with_suffix("")) for path in paths]
            if len({*names}) < len(names):
                raise refused(
                    "Files of this archive have the same name.",
                    "Give the file of each person a name of its own.",
                )
            return {name: archive.read(member) for name, member in zip(names, members, strict=True)}
    except (zipfile.BadZipFile, EOFError, NotImplementedError):
        raise refused(
            "This archive is damaged and cannot be read.", "Pack the files again."
        ) from None


def _check(members: list[zipfile.ZipInfo], packed: int, limits: FileLimits) -> None:
    size = sum(member.file_size for member in members)
    if any(member.flag_bits & 1 for member in members):
        raise refused("This archive is protected by a password.", "Pack it without one.")
    if len(members) > MAX_FILES:
        raise refused(
            f"The archive has {len(members):,} files; at most {MAX_FILES:,} are read.",
            "Take fewer people.",
        )
    if size > min(limits.unpacked_bytes, limits.unpacked_ratio * packed):
        raise refused(
            f"The archive holds {size / 1e6:,.0f} MB of text; at most "
            f"{limits.unpacked_bytes / 1e6:g} MB are read, and at most "
            f"{limits.unpacked_ratio:g} times what it takes.",
            "Take fewer days or fewer people.",
        )


def _is_table(name: str) -> bool:
    """Return True for a table, and not for the shadows that some systems put beside files."""
    path = PurePosixPath(name)
    return (
        name.lower().endswith(_TABLES)
        and "__MACOSX" not in path.parts
        and not path.name.startswith(".")
    )
