"""Size limits of an uploaded table, and the refusal of files that are no tables.

Every limit is named in the message that refuses a file; no message holds a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.errors import InputError

MAX_BYTES = 20_000_000
SAMPLE = 65_536  # bytes from which separators are recognised
SAVE = "Save the table as .xlsx or .csv, and take that file."


@dataclass(frozen=True)
class FileLimits:
    """Size limits of a file."""

    bytes: int = MAX_BYTES
    cells: int = 4_000_000
    columns: int = 2000
    unpacked_bytes: int = 100_000_000  # of a workbook as an archive
    unpacked_ratio: int = 100  # of what it is unpacked to what it is packed
    members: int = 200
    sheet_cells: int = 2_000_000  # of the sheet that is read; its reader needs 80 bytes for each
    sheet_text_bytes: int = 40_000_000


LIMITS = FileLimits()


def refused(message: str, hint: str, field: str = "file") -> InputError:
    """Return the refusal of a file that cannot be read."""
    return InputError(message, field=field, hint=hint)


def have(number: int) -> str:
    """Return “has” for one, “have” for others."""
    return "has" if number == 1 else "have"


def check_columns(n_columns: int, limits: FileLimits) -> None:
    """Refuse a table that is too wide."""
    if n_columns > limits.columns:
        raise refused(
            f"The table has {n_columns:,} columns; at most {limits.columns:,} are read.",
            "Leave out columns that are not needed, or take one line per observation.",
        )


def check_cells(n_rows: int, n_columns: int, limits: FileLimits) -> None:
    """Refuse a table that is too large."""
    if n_rows * n_columns > limits.cells:
        raise refused(
            f"The table has {n_rows * n_columns:,} cells ({n_rows:,} rows of "
            f"{n_columns:,}); at most {limits.cells:,} are read.",
            "Leave out columns that are not needed, or fewer observations per curve.",
        )


def check_bytes(content: bytes, limits: FileLimits) -> None:
    """Refuse a file that is empty or too large."""
    if not content:
        raise refused("The file is empty.", "Take a table with a header and lines below it.")
    if len(content) > limits.bytes:
        raise refused(
            f"The file is larger than {limits.bytes / 1e6:g} MB ({len(content) / 1e6:.1f} MB).",
            "Leave out columns that are not needed, or fewer observations per curve.",
        )
