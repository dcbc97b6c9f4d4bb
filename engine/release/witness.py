"""The witness of a ledger: a text file with a line for everything that is final.

A line names an entry of the log and its seal, and says in words what had been spent when it was
written, so that the ledger can be rebuilt from it (`engine.release.repair`). It ends with a digest
of itself, so that a line that was cut or hit is known and not believed. Lines are only ever added.

Lines of earlier versions end with the running total, in fewer digits and without a digest; they are
read as they are. Totals of six digits or more are rounded up by one in the sixth, because they may
have been rounded down; those of fewer are taken for exact.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.core import entrance
from engine.release.folder import to_disk

BILLION = 10**9  # ε is kept in whole billionths
_MAX = 1 << 28  # bytes of a witness; a release takes about 500
_SEALED = re.compile(r"(\d{1,15}) ([0-9a-f]{64}) ")
_EARLY = re.compile(r"\d+ [0-9a-f]{64} \S+ (?P<label>\S+) "
                    r"total epsilon (?P<epsilon>[0-9.e+-]+) delta (?P<delta>[0-9.e+-]+)")
_LINE = re.compile(
    r"\d+ [0-9a-f]{64} (?P<at>\S+) (?P<kind>[a-z]+) (?P<label>\S+) total epsilon "
    r"(?P<epsilon>\d+\.\d{9}) delta (?P<delta>\S+) of (?P<most>\d+\.\d{9}) (?P<most_delta>\S+) "
    r"people (?P<joined>\S+) data (?P<data>\S*) id (?P<id>[0-9a-f]{16}) check [0-9a-f]{16}")


@dataclass(frozen=True)
class Spent:
    """What the people of one label had spent, by a line of the witness.

    Parameters
    ----------
    label : str
        Of the people in the ledger.
    epsilon : int
        In billionths.
    delta : float
        The sum of all δ.
    total_epsilon, total_delta : int and float, or None
        Their total, ε in billionths; None in lines of earlier versions.
    joined : tuple of str
        All labels of the same people.
    data : str
        The salted hash of the data.
    """

    label: str
    epsilon: int
    delta: float
    total_epsilon: int | None = None
    total_delta: float | None = None
    joined: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True)
class Line:
    """One line of the witness.

    Parameters
    ----------
    number : int
        Of the entry that it names.
    seal : str
        Of that entry, in hexadecimal digits.
    spent : Spent or None
        What it says was spent, if it is whole.
    is_early : bool
        Whether an earlier version wrote it, with fewer digits.
    """

    number: int
    seal: str
    spent: Spent | None
    is_early: bool = False


@dataclass(frozen=True)
class Witness:
    """All lines of a witness.

    Parameters
    ----------
    lines : tuple of Line
        In their order.
    damaged : tuple of int
        Places in the file of those that are not whole. The line at the end that a power cut left
        unfinished is damaged, too, and harmless.
    """

    lines: tuple[Line, ...] = ()
    damaged: tuple[int, ...] = ()

    @property
    def names(self) -> set[tuple[int, str]]:
        """Number and seal of every entry that is named."""
        return {(line.number, line.seal) for line in self.lines}

    @property
    def last(self) -> int:
        """The largest number of an entry that is named; 0 without any."""
        return max((line.number for line in self.lines), default=0)

    def __bool__(self) -> bool:
        return bool(self.lines or self.damaged)


def read(path: Path) -> Witness:
    """The witness as it stands; empty where there is none.

    Parameters
    ----------
    path : Path
        Of the witness.

    Raises
    ------
    InputError, OSError
        If it is something else than a file, or cannot be read.
    """
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

    Parameters
    ----------
    path : Path
        Of the witness; its folder is made, for its owner alone, if it is not there.
    rows : sequence of str
        Without ends of lines.

    Raises
    ------
    OSError
        If they cannot be written. What was written of them is unfinished, and written again later.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    handle = os.open(path, flags, 0o600)
    try:
        size = os.fstat(handle).st_size
        unfinished = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        text = ("\n" * unfinished + "".join(f"{row}\n" for row in rows)).encode()
        while text:
            text = text[os.write(handle, text):]
        os.fsync(handle)
    finally:
        os.close(handle)
    if not size:
        to_disk(path.parent)


def line(number: int, seal: bytes, timestamp: str, kind: str, spent: Spent, release_id: str) -> str:
    """The line for one entry.

    Parameters
    ----------
    number : int
        Of the entry.
    seal : bytes
        Of the entry.
    timestamp, kind, release_id : str
        When it was written, what it is, and of which release.
    spent : Spent
        What its people have spent with it, and of which total.
    """
    assert spent.total_epsilon is not None
    assert spent.total_delta is not None
    text = (f"{number} {seal.hex()} {timestamp} {kind} {spent.label} total epsilon "
            f"{_nine(spent.epsilon)} "
            f"delta {spent.delta!r} of {_nine(spent.total_epsilon)} {spent.total_delta!r} "
            f"people {'+'.join(spent.joined or (spent.label,))} data {spent.data} id {release_id}")
    return f"{text} check {_check(text)}"


def _nine(billionths: int) -> str:
    return f"{billionths // BILLION}.{billionths % BILLION:09d}"


def _check(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache(maxsize=8192)
def _read(row: str) -> Line | None:
    sealed = _SEALED.match(row)
    if sealed is None:
        return None
    number, seal = int(sealed[1]), sealed[2]
    text, _, check = row.rpartition(" check ")
    if text and check == _check(text):
        full = _LINE.fullmatch(row)
        return None if full is None else Line(number, seal, _spent(full.groupdict()))
    early = _EARLY.fullmatch(row)
    if early is None:
        return None
    try:
        spent = Spent(early["label"], math.ceil(_up(early["epsilon"]) * BILLION),
                      _up(early["delta"]))
    except ValueError:
        return None
    return Line(number, seal, spent, is_early=True)


def _spent(stated: dict[str, str]) -> Spent:
    return Spent(stated["label"], _billionths(stated["epsilon"]), float(stated["delta"]),
                 _billionths(stated["most"]), float(stated["most_delta"]),
                 tuple(stated["joined"].split("+")), stated["data"])


def _billionths(text: str) -> int:
    return int(text.replace(".", ""))


def _up(text: str) -> float:
    """A number that was printed with up to nine digits, or six, rounded up if it fills six."""
    value = float(text)
    digits = len(text.partition("e")[0].replace(".", "").lstrip("0"))
    is_exact = digits < 6
    return value if is_exact or not value else value + 10.0 ** (math.floor(math.log10(value)) - 5)


def largest(lines: Iterable[Spent]) -> dict[str, tuple[int, float]]:
    """The largest total that is stated for each label.

    Parameters
    ----------
    lines : iterable of Spent
        Of any labels.

    Returns
    -------
    dict of str to tuple of int and float
        ε in billionths and δ, each the largest on its own.
    """
    totals: dict[str, tuple[int, float]] = {}
    for spent in lines:
        epsilon, delta = totals.get(spent.label, (0, 0.0))
        totals[spent.label] = max(epsilon, spent.epsilon), max(delta, spent.delta)
    return totals
