"""What finished runs of exhibits leave in a folder, so that a long one can be taken up again.

Beside the parts of sweeps (see `engine.simulation.part_files`) lie the rows of calls, a file for
each, and the seconds that all runs of an exhibit took so far.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.core.entrance import bytes_of, folder_to_fill, write_whole
from engine.papers.exhibits import Row
from engine.simulation.part_files import header

_MAX_BYTES = 50_000_000  # of the rows of one call


class RowFiles:
    """A folder of the rows of calls by their digest; what is broken, or of other versions, is not
    there.

    Parameters
    ----------
    folder : path
        It is made if it is not there.

    Raises
    ------
    InputError
        If the folder cannot be made or written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = folder_to_fill(folder, "resume")

    def get(self, key: str) -> list[Row] | None:
        """The rows of a call.

        Returns
        -------
        list of rows or None
            None if they are missing, broken, or of other versions.
        """
        try:
            content = bytes_of(self._path(key), _MAX_BYTES, "resume")
            first, second = content.decode().splitlines()
            if json.loads(first) == header(key, second):
                rows: list[Row] = json.loads(second)
                return rows
        except (ValueError, LookupError, TypeError, RecursionError):
            pass  # missing, half-written or not ours
        return None

    def __setitem__(self, key: str, rows: list[Row]) -> None:
        text = json.dumps(rows, default=lambda number: number.item())  # numpy's own
        write_whole(self._path(key), f"{json.dumps(header(key, text))}\n{text}\n".encode(),
                    "resume", sync=False)

    def seconds(self, key: str) -> float:
        """How long all runs of an exhibit have taken so far."""
        try:
            return float(bytes_of(self._clock(key), 100, "resume"))
        except ValueError:
            return 0.0

    def add_seconds(self, key: str, seconds: float) -> None:
        """Count a step of a run, whether it came to its end or not."""
        write_whole(self._clock(key), f"{self.seconds(key) + seconds:.3f}".encode(), "resume",
                    sync=False)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.rows"

    def _clock(self, key: str) -> Path:
        return self.folder / f"{key}.seconds"
