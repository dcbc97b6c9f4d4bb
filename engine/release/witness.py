"""The witness of a ledger: a text file with a line for everything that is final.

A line names an entry of the log and its seal, and says what a release cost and by which digest the
ledger keeps its people, so that the ledger can be rebuilt from it (`engine.release.repair`). It
says nothing about anybody. It ends with a digest of itself, so that a line that was cut or hit is
known and not believed. Lines are only ever added.

Lines of ledgers of earlier versions say what all people of a label had spent; those of the first
ones have fewer digits and no digest of themselves.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.core import entrance
from engine.release.folder import to_disk

_MAX = 1 << 28  # bytes of a witness; a release takes about 700
_SEALED = re.compile(r"(\d{1,15}) ([0-9a-f]{64}) ")
_EARLY = re.compile(
    r"\d+ [0-9a-f]{64} \S+ (?P<label>\S+) "
    r"total epsilon (?P<epsilon>[0-9.e+-]+) delta (?P<delta>[0-9.e+-]+)"
)
_BY_LABEL = re.compile(
    r"\d+ [0-9a-f]{64} \S+ [a-z]+ (?P<label>\S+) total epsilon (?P<epsilon>\d+\.\d{9}) "
    r"delta (?P<delta>\S+) of \d+\.\d{9} \S+ people \S+ data \S* id (?P<id>[0-9a-f]{16}) check \S+"
)
_LINE = re.compile(
    r"\d+ [0-9a-f]{64} (?P<at>\S+) (?P<kind>[a-z]+) epsilon (?P<epsilon>\d+) delta (?P<delta>\d+) "
    r"mu2 (?P<mu>\d+|none) sets (?P<sets>[0-9a-f,]*) total (?P<total>\d+) (?P<total_delta>\S+) "
    r"id (?P<id>[0-9a-f]{16}|-) check [0-9a-f]{16}"
)


@dataclass(frozen=True)
class WitnessedRelease:
    """A witness line about a release or a lowered total; costs in whole units."""

    at: str
    kind: str
    epsilon: int
    delta: int
    mu_squared: int | None
    sets: tuple[str, ...]  # digests; none: everybody
    total: int  # ε in the units of costs
    total_delta: float
    release_id: str = ""


@dataclass(frozen=True)
class SpentByLabel:
    """The total spent by the people of one label, from a witness line of an earlier version."""

    label: str
    epsilon: float
    delta: float
    release_id: str = ""


@dataclass(frozen=True)
class WitnessLine:
    """One whole line of the witness."""

    number: int  # of the entry that it names
    seal: str  # of that entry, in hexadecimal digits
    says: WitnessedRelease | SpentByLabel


@dataclass(frozen=True)
class Witness:
    """All lines of a witness, in their order."""

    lines: tuple[WitnessLine, ...] = ()
    damaged: tuple[int, ...] = ()  # places in the file, one of which a power cut may have left

    @property
    def names(self) -> set[tuple[int, str]]:
        """Number and seal of every entry that is named."""
        return {(line.number, line.seal) for line in self.lines}

    def __bool__(self) -> bool:
        return bool(self.lines or self.damaged)


def read(path: Path) -> Witness:
    """Read the witness as it stands; empty where there is none."""
    if not os.path.lexists(path):
        return Witness()
    text = entrance.bytes_of(path, _MAX, "witness").decode("utf-8", errors="replace")
    lines, damaged = [], []
    for number, row in enumerate(text.split("\n"), start=1):
        line = _read(row.rstrip("\r"))
        if line is not None:
            lines.append(line)
        elif row:
            damaged.append(number)
    return Witness(tuple(lines), tuple(damaged))


def append(path: Path, rows: Sequence[str]) -> None:
    """Add lines durably, after one that a power cut left unfinished if need be.

    The folder is made, for its owner alone, if it is not there. Of what cannot be written whole,
    what was written is unfinished, and written again later.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    handle = os.open(path, flags, 0o600)
    try:
        size = os.fstat(handle).st_size
        unfinished = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        text = ("\n" * unfinished + "".join(f"{row}\n" for row in rows)).encode()
        while text:
            text = text[os.write(handle, text) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    if not size:
        to_disk(path.parent)


def line(number: int, seal: bytes, stated: WitnessedRelease) -> str:
    """Write the line for one entry."""
    mu = "none" if stated.mu_squared is None else stated.mu_squared
    text = (
        f"{number} {seal.hex()} {stated.at} {stated.kind} epsilon {stated.epsilon} "
        f"delta {stated.delta} mu2 {mu} sets {','.join(stated.sets)} "
        f"total {stated.total} {stated.total_delta!r} id {stated.release_id or '-'}"
    )
    return f"{text} check {_check(text)}"


def _check(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache(maxsize=8192)
def _read(row: str) -> WitnessLine | None:
    sealed = _SEALED.match(row)
    if sealed is None:
        return None
    says: WitnessedRelease | SpentByLabel | None = None
    text, _, check = row.rpartition(" check ")
    if text and check == _check(text):
        if (full := _LINE.fullmatch(row)) is not None:
            says = _stated(full)
        elif (by_label := _BY_LABEL.fullmatch(row)) is not None:
            says = SpentByLabel(
                by_label["label"],
                float(by_label["epsilon"]),
                float(by_label["delta"]),
                by_label["id"],
            )
    elif (early := _EARLY.fullmatch(row)) is not None:
        try:
            says = SpentByLabel(early["label"], _up(early["epsilon"]), _up(early["delta"]))
        except ValueError:
            return None
    return None if says is None else WitnessLine(int(sealed[1]), sealed[2], says)


def _stated(row: re.Match[str]) -> WitnessedRelease:
    return WitnessedRelease(
        row["at"],
        row["kind"],
        int(row["epsilon"]),
        int(row["delta"]),
        None if row["mu"] == "none" else int(row["mu"]),
        tuple(filter(None, row["sets"].split(","))),
        int(row["total"]),
        float(row["total_delta"]),
        "" if row["id"] == "-" else row["id"],
    )


def _up(text: str) -> float:
    """Read a number that was printed with up to nine digits, or six, rounded up if it fills six."""
    value = float(text)
    digits = len(text.partition("e")[0].replace(".", "").lstrip("0"))
    is_exact = digits < 6
    return value if is_exact or not value else value + 10.0 ** (math.floor(math.log10(value)) - 5)
