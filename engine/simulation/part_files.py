"""Finished parts of sweeps in a folder: one file for each block, whole or not there at all.

A file is two lines of JSON. The first says under which versions it was made and holds the checksum
of the second, which is the part. Files are text and numbers only: reading one runs nothing.
"""

from __future__ import annotations

import base64
import json
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import scipy

from engine import __version__
from engine.core.entrance import bytes_of, called, folder_to_fill, write_whole
from engine.core.errors import InputError
from engine.core.typed import record
from engine.core.types import Array, Spend
from engine.simulation.experiments import BlockResult

T = TypeVar("T")
_log = logging.getLogger("privacy_curves")
# Another version may give other last bits, so its files are as good as not there.
VERSIONS = {
    "format": "1",
    "engine": __version__,
    "numpy": np.__version__,
    "scipy": scipy.__version__,
}


class ResultFiles(ABC, Generic[T]):
    """A folder of results by the digest of what was run.

    A file is written under another name and then renamed, so a kill at any instant leaves the old
    state or the new one. What is damaged, or made by other versions, counts as missing.
    """

    ending: ClassVar[str]  # of the names of files
    max_bytes: ClassVar[int]  # of one result

    def __init__(self, folder: str | Path) -> None:
        self.folder = folder_to_fill(folder, "resume")

    def get(self, key: str) -> T | None:
        """Return the result of a digest; None if missing, damaged (logged), or outdated."""
        path = self._path(key)
        if not os.path.lexists(path):
            return None
        try:
            content = bytes_of(path, self.max_bytes, "resume")
        except InputError as problem:
            raise InputError(
                problem.message, field="resume", hint="Move it away, or name another folder."
            ) from None
        try:
            first, second = content.decode().splitlines()
            stated = json.loads(first)
            if {**stated, **VERSIONS} != stated:
                return None
            if stated == header(key, second):
                return self._from_plain(json.loads(second))
        except (
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ):
            pass
        _log.warning("%s is damaged: what it held is computed again.", called(path))
        return None

    def __setitem__(self, key: str, result: T) -> None:
        text = self._as_text(result)
        write_whole(
            self._path(key),
            f"{json.dumps(header(key, text))}\n{text}\n".encode(),
            "resume",
            sync=False,
        )

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.{self.ending}"

    @abstractmethod
    def _as_text(self, result: T) -> str:
        """Write the result as one line of JSON."""

    @abstractmethod
    def _from_plain(self, plain: Any) -> T:
        """Read the result from the content of such a line."""


class PartFiles(ResultFiles[BlockResult]):
    """A folder of parts by the digest of their block; see `ResultFiles`."""

    ending, max_bytes = "part", 2_000_000_000

    def _as_text(self, result: BlockResult) -> str:
        return json.dumps(
            {
                "index": result.index,
                "errors": {
                    k: {kind: _array_text(a) for kind, a in by_kind.items()}
                    for k, by_kind in result.errors.items()
                },
                "spends": {
                    k: [_plain_line(spend) for spend in spends]
                    for k, spends in result.spends.items()
                },
                "failures": result.failures,
            }
        )

    def _from_plain(self, plain: Any) -> BlockResult:
        return BlockResult(
            plain["index"],
            {
                int(k): {kind: _array(a) for kind, a in by_kind.items()}
                for k, by_kind in plain["errors"].items()
            },
            {int(k): tuple(map(_spend, spends)) for k, spends in plain["spends"].items()},
            {int(k): message for k, message in plain["failures"].items()},
        )


def header(key: str, text: str) -> dict[str, str]:
    """Return the header of a stored text: its maker, its subject and its checksum."""
    checksum = blake2b(text.encode(), digest_size=16).hexdigest()
    return {**VERSIONS, "block": key, "checksum": checksum}


def _plain_line(spend: Spend) -> dict[str, Any]:
    """Write a line of the ledger; in files its budget is called "asked"."""
    plain = asdict(spend)
    plain["asked"] = plain.pop("budget")
    return plain


def _array_text(array: Array | None) -> dict[str, Any] | None:
    """Write an array to the last bit."""
    if array is None:
        return None
    return {
        "dtype": array.dtype.str,
        "shape": array.shape,
        "bytes": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode(),
    }


def _array(plain: Mapping[str, Any] | None) -> Array | None:
    if plain is None:
        return None
    flat = np.frombuffer(base64.b64decode(plain["bytes"], validate=True), plain["dtype"])
    return flat.reshape(plain["shape"])


def _spend(plain: Mapping[str, Any]) -> Spend:
    """Read a line of the ledger.

    Earlier files name a step by its text alone, and say of every line how neighbours differ.
    """
    values = {
        name: value for name, value in plain.items() if name not in ("what", "asked", "relation")
    }
    values["budget"] = plain["asked"]
    if "what" in plain:
        values["step"] = {"key": plain["what"]}
    return record(Spend, values, "resume")
