"""Nameless files for what does not fit into memory; they are gone with the process."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError

MOST_MEMORY = 2_000_000_000
LEAST_MEMORY = 100_000_000
_SHARE = 0.5  # of the free memory


@dataclass(frozen=True)
class Resources:
    """The memory that reading may take, the folder for what is larger, and the workers."""

    memory: int  # bytes beyond what a process has at its start
    folder: Path
    executor: Executor | None = None  # of the workers that read; None: this process

    @classmethod
    def usual(
        cls, memory: int | None = None, folder: str | None = None, executor: Executor | None = None
    ) -> Resources:
        """Half of the free memory, at most 2 GB, and the folder of the system, unless stated."""
        usual = int(min(MOST_MEMORY, max(LEAST_MEMORY, _SHARE * _free_memory())))
        stated = usual if memory is None else memory
        if stated < LEAST_MEMORY:
            raise InputError(
                f"At least {LEAST_MEMORY // 10**6} MB of memory are needed.", field="memory"
            )
        path = Path(tempfile.gettempdir() if folder is None else folder)
        if not path.is_dir() or not os.access(path, os.W_OK):
            raise InputError(
                "The scratch folder cannot be written.",
                field="scratch",
                hint="Name a folder on this machine.",
            )
        return cls(stated, path, executor)

    def check_room(self, needed: int) -> None:
        """Refuse what has no room on the disk."""
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise InputError(
                f"This needs about {needed / 1e9:.1f} GB on disk in the scratch folder, where "
                f"{free / 1e9:.1f} GB are free.",
                field="scratch",
                hint="Choose another folder with --scratch.",
            )

    def file(self, memory: int) -> IO[bytes]:
        """Open a nameless file, of which so many bytes at most are in memory."""
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(max_size=memory, dir=str(self.folder)))


@contextmanager
def noticing_full_disks() -> Iterator[None]:
    """Refuse to go on where the disk of the scratch folder is full."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise InputError(
            "The disk of the scratch folder is full. Nothing was charged.",
            field="scratch",
            hint="Choose another folder with --scratch.",
        ) from None


def _free_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return MOST_MEMORY


class StoredArray(NamedTuple):
    """The place of an array in a file."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


class Arrays:
    """Arrays one after the other in a nameless file."""

    def __init__(self, resources: Resources, memory: int) -> None:
        self._file, self._end = resources.file(memory), 0
        weakref.finalize(self, self._file.close)

    def put(self, array: NDArray[Any]) -> StoredArray:
        """Write an array, and return its place."""
        flat = np.ascontiguousarray(array)
        with noticing_full_disks():
            self._file.seek(self._end)
            self._file.write(flat.data.cast("B") if flat.size else b"")
            self._file.flush()
        place = StoredArray(self._end, flat.dtype.str, flat.shape)
        self._end += flat.nbytes
        return place

    def get(self, place: StoredArray) -> NDArray[Any]:
        """Read an array again."""
        array = np.empty(place.shape, place.dtype)
        self._file.seek(place.offset)
        content = self._file.read(array.nbytes)
        return np.frombuffer(content, place.dtype).reshape(place.shape)
