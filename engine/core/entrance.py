"""The one entrance: what people bring in files, links and text is bounded here before it is read.

A path leads to a regular file or folder, never to a device, a pipe or what the kernel shows as
files: some of these never end, some never begin, and some act when they are opened. Text has a
size, JSON a depth, and a number in it is one that can be computed with. What is refused is refused
by an `InputError` that names the last part of a path at most, and nothing of what a file holds.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from engine.core.errors import InputError

MAX_TEXT = 1_000_000  # bytes of a scenario, a view or a request
MAX_DEPTH = 32  # objects and lists within each other
_MAX_DIGITS = 400  # of one number; 309 fill the range of floating point
_KERNEL = ("/proc", "/sys")  # their files look regular and are none
_STEP = 1 << 20
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# What SQLite or a library takes for more than a path; one letter before a colon is a drive.
_ADDRESS = re.compile(r":|[A-Za-z][A-Za-z0-9+.-]+:")
# A string, also one without end, so that every quotation mark is looked at once; or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)


# -- paths ----------------------------------------------------------------------------------------


def called(name: str | os.PathLike[str]) -> str:
    """The last part of a path in quotation marks, on one line and no longer than fits a message.

    Examples
    --------
    >>> called("/home/somebody/curves.csv")
    '“curves.csv”'
    """
    last = os.path.basename(os.fspath(name).rstrip("/")) or os.fspath(name)
    line = "".join(c if c.isprintable() else "?" for c in last[:1000])
    return f"“{line if len(line) <= 60 else line[:59] + '…'}”"


def existing_file(name: str | os.PathLike[str], field: str = "file") -> Path:
    """The path of a regular file that is there, not resolved."""
    path, status = _looked_at(name, field, "read")
    if status is None:
        raise InputError(
            f"Cannot read {called(name)}: No such file.", field=field, hint="Check its name."
        )
    _check_regular(name, status, field)
    return path


def file_to_keep(name: str | os.PathLike[str], field: str = "file") -> Path:
    """The path of a regular file, or of none yet, such as a ledger; see `existing_file`."""
    path, status = _looked_at(name, field)
    if status is not None:
        _check_regular(name, status, field)
    elif os.path.islink(path):
        raise InputError(
            f"{called(name)} is a link that leads nowhere.", field=field, hint="Name a file."
        )
    return path


def lasting_file(name: str | os.PathLike[str], field: str, variable: str = "") -> Path:
    """The absolute path of a file that is kept for good, such as a ledger, or of none yet.

    “~” is a home, and a relative name is in the working folder. From an environment variable it is
    refused: it would be another file in every folder, and what was kept in the first forgotten.
    """
    text, subject = os.fspath(name), variable or f"The name of the {field}"
    hint = f"Name a file by its absolute path, such as /data/{field}."
    if not text:
        raise InputError(
            f"{subject} is empty.",
            field=field,
            hint="Name a file, or leave the option or variable out.",
        )
    if _ADDRESS.match(text):
        raise InputError(
            f"{subject} is an address or a word of a database, not a path.", field=field, hint=hint
        )
    try:
        path, home = Path(text).expanduser(), text.replace(os.sep, "/").partition("/")[0]
        if home.startswith("~") and home != "~" and not Path(home).expanduser().is_dir():
            raise RuntimeError  # as that of nobody
        if (variable or text.startswith("~")) and not path.is_absolute():
            raise InputError(f"{subject} does not hold an absolute path.", field=field, hint=hint)
        path = Path(os.path.abspath(path))
    except RuntimeError:
        raise InputError(
            f"{subject} begins with the home of somebody who has none here.", field=field, hint=hint
        ) from None
    except FileNotFoundError:
        raise InputError(
            f"{subject} is relative, and the working folder is gone.", field=field, hint=hint
        ) from None
    return file_to_keep(path, field)


def users_file(variable: str, default: str, name: str, field: str) -> Path:
    """The absolute path of a file of this program in a folder of the user; see `lasting_file`."""
    folder = os.environ.get(variable)
    return lasting_file(
        f"{folder or default}/privacy-curves/{name}", field, variable if folder else ""
    )


def folder_to_fill(name: str | os.PathLike[str], field: str = "out") -> Path:
    """The path of a folder to write into, made with its parents if it is not there."""
    path, status = _looked_at(name, field, "write into")
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise InputError(
            f"Cannot write into {called(name)}: it is {_kind(status)}, no folder.",
            field=field,
            hint="Name a folder.",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unwritable(name, problem, field) from None
    return path


def unwritable(name: str | os.PathLike[str], problem: OSError, field: str) -> InputError:
    """The error to raise if something cannot be written; it names the last part of the path."""
    return InputError(
        f"Cannot write into {called(name)}: {problem.strerror or 'it failed'}.",
        field=field,
        hint="Choose another folder or make room.",
    )


def _looked_at(
    name: str | os.PathLike[str], field: str, verb: str = "use"
) -> tuple[Path, os.stat_result | None]:
    """The path and what is there, if anything, without opening it."""
    text = os.fspath(name)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(
            "This cannot be the name of a file.",
            field=field,
            hint="Names are text without zero characters, and not empty.",
        )
    try:
        where = os.path.realpath(text)
        status = os.stat(text)
    except FileNotFoundError:
        status = None
    except (OSError, UnicodeError) as problem:  # too long, a loop of links, not allowed
        reason = getattr(problem, "strerror", None) or "no possible name"
        raise InputError(
            f"Cannot {verb} {called(name)}: {reason}.",
            field=field,
            hint="Check its name and who may read it.",
        ) from None
    if any(where == root or where.startswith(f"{root}/") for root in _KERNEL):
        raise InputError(
            f"{called(name)} is no file that is kept on a disk.",
            field=field,
            hint="Name a regular file.",
        )
    return Path(text), status


def _check_regular(name: str | os.PathLike[str], status: os.stat_result, field: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"{called(name)} is {_kind(status)}, not a regular file.",
            field=field,
            hint="Name a regular file; a command that reads “-” takes a pipe.",
        )


def _kind(status: os.stat_result) -> str:
    return next((kind for has_kind, kind in _KINDS if has_kind(status.st_mode)), "a regular file")


# -- contents -------------------------------------------------------------------------------------


def bytes_of(name: str | os.PathLike[str], limit: int, field: str = "file") -> bytes:
    """Read a regular file of at most `limit` bytes; see `existing_file`.

    It never holds more than one byte beyond the limit.
    """
    path = existing_file(name, field)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            _check_regular(name, os.fstat(handle), field)  # it may have been replaced
            content = _bounded(file, limit)
    except OSError as problem:
        raise InputError(
            f"Cannot read {called(name)}: {problem.strerror or 'it failed'}.", field=field
        ) from None
    if content is None:
        raise InputError(
            f"{called(name)} is larger than {limit / 1e6:g} MB.",
            field=field,
            hint="Leave out what is not needed.",
        )
    return content


def text_of(name: str, field: str = "file") -> str:
    """Read the UTF-8 text of a file, or of standard input for “-”, of at most `MAX_TEXT` bytes."""
    content = _standard_input(field) if name == "-" else bytes_of(name, MAX_TEXT, field)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        where = "Standard input" if name == "-" else called(name)
        raise InputError(f"{where} is not UTF-8 text.", field=field) from None


def _standard_input(field: str) -> bytes:
    source = getattr(sys.stdin, "buffer", None)  # what stands in for it in a notebook has none
    try:
        if source is not None:
            content = _bounded(source, MAX_TEXT)
        else:
            content = sys.stdin.read(MAX_TEXT + 1).encode() if sys.stdin else b""
    except (OSError, UnicodeError):
        raise InputError("Standard input cannot be read as text.", field=field) from None
    if content is None or len(content) > MAX_TEXT:
        raise InputError(
            f"Standard input is longer than {MAX_TEXT / 1e6:g} MB.",
            field=field,
            hint="Leave out what is not needed.",
        )
    return content


def _bounded(file: Any, limit: int) -> bytes | None:
    """All that a file holds, or None if that is more than the limit."""
    steps, left = [], limit + 1
    while left and (step := file.read(min(left, _STEP))):
        steps.append(step)
        left -= len(step)
    return b"".join(steps) if left else None


def write_whole(path: Path, content: bytes, field: str = "out", sync: bool = True) -> None:
    """Write a file whole or not at all, also on a full disk; `sync` outlasts a loss of power."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        aside.unlink(missing_ok=True)
        with aside.open("xb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        aside.replace(path)
    except OSError as problem:
        with suppress(OSError):
            aside.unlink()
        raise unwritable(path.parent, problem, field) from None


# -- JSON -----------------------------------------------------------------------------------------


def json_of(text: str, noun: str) -> Any:
    """The plain value of JSON text that a person brought; `noun` names it in errors.

    At most `MAX_TEXT` characters, `MAX_DEPTH` levels deep. Every number is finite, and no key
    stands twice in one object.

    Examples
    --------
    >>> json_of('{"epsilon": 1e400}', "scenario")
    Traceback (most recent call last):
    engine.core.errors.InputError: The scenario holds a number that is too large ...
    """
    if len(text) > MAX_TEXT:
        raise InputError(
            f"The {noun} is longer than {MAX_TEXT / 1e6:g} million characters.",
            field=noun,
            hint="Leave out what is not needed.",
        )
    if _depth(text) > MAX_DEPTH:
        raise InputError(
            f"The {noun} is nested more than {MAX_DEPTH} levels deep.",
            field=noun,
            hint="Objects and lists need not stand so deep within each other.",
        )

    try:
        plain = json.loads(text, **_hooks(noun))
        json.dumps(plain, ensure_ascii=False).encode()  # half of a pair of surrogates is no text
    except InputError:
        raise
    except UnicodeError:
        raise InputError(
            f"The {noun} holds text that is no Unicode.",
            field=noun,
            hint="Check escapes that begin with \\u.",
        ) from None
    except ValueError as problem:
        raise InputError(
            f"The {noun} is not valid JSON (line {getattr(problem, 'lineno', 1)}).",
            field=noun,
            hint="Check commas, quotes and brackets there.",
        ) from None
    return plain


def _hooks(noun: str) -> dict[str, Any]:
    """Return hooks of `json.loads` for numbers and objects that refuse what cannot be held."""

    def too_large(_: str = "") -> NoReturn:
        raise InputError(
            f"The {noun} holds a number that is too large to compute with.",
            field=noun,
            hint="Write a smaller one.",
        )

    def whole(digits: str) -> int:
        if len(digits) > _MAX_DIGITS or abs(number := int(digits)) > sys.float_info.max:
            too_large()
        return number

    def broken(digits: str) -> float:
        number = float(digits)
        return number if abs(number) <= sys.float_info.max else too_large()

    def not_a_number(_: str) -> NoReturn:
        raise InputError(
            f"The {noun} holds NaN or Infinity, which is no number.",
            field=noun,
            hint='No privacy is written as "inf", with quotation marks.',
        )

    def object_of(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, value in pairs:
            if key in plain:
                raise InputError(
                    f"The {noun} has the key {called(key)} twice in one object.",
                    field=noun,
                    hint="Leave one of them out.",
                )
            plain[key] = value
        return plain

    return {
        "parse_int": whole,
        "parse_float": broken,
        "parse_constant": not_a_number,
        "object_pairs_hook": object_of,
    }


def _depth(text: str) -> int:
    """Measure the nesting depth of brackets outside strings, in one pass."""
    steps = (1 if match[1] else -1 for match in _TOKEN.finditer(text) if match[1] or match[2])
    return max(accumulate(steps), default=0)
