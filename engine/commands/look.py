"""The commands `look`, which draws a file for its holder, and `propose`, which writes a reading."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from engine.core.entrance import bytes_of, called, file_to_keep, json_of, text_of, write_whole
from engine.core.errors import InputError
from engine.core.lists import counted
from engine.core.plain import checked_object
from engine.core.tasks import DataType, Task
from engine.exports.looking import MARK, looked_at
from engine.mechanisms import parsing
from engine.numerics.counts.cells import Counted
from engine.uploads.batches import beginning_of, is_in_batches
from engine.uploads.bounded import read_people
from engine.uploads.events import counted_for
from engine.uploads.files import files_of
from engine.uploads.limits import MAX_BYTES
from engine.uploads.proposal import Proposal, propose_within
from engine.uploads.proposing.roles import FileKind
from engine.uploads.text import ENCODINGS

_ENDINGS = (".html", ".svg")


def add(commands: Any) -> None:
    """Add both commands with their options."""
    parser = commands.add_parser("look", help="draw a file of your own, for your eyes alone")
    _add_file(parser)
    parser.add_argument(
        "-o",
        "--out",
        metavar="PICTURE",
        default="look.html",
        help="where to: .html or .svg (default: look.html)",
    )
    parser.set_defaults(command=look)
    parser = commands.add_parser(
        "propose", help="propose how a file of your own is read, with what you have to say"
    )
    _add_file(parser)
    parser.add_argument(
        "-o",
        "--out",
        metavar="READING",
        default="-",
        help="where to write the reading, as JSON (default: standard output)",
    )
    parser.set_defaults(command=propose)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        help="CSV, TSV, XLSX, an export of a device, or a .zip of these; "
        "a folder or a pattern of large ones, for “propose”; "
        "or a request that names one, whose columns and dates are taken as stated",
    )
    parser.add_argument(
        "--data",
        choices=[kind.value for kind in FileKind],
        help="what the file holds of each person (default: told by its columns)",
    )
    parser.add_argument(
        "--encoding", choices=ENCODINGS, default="", help="of its text (default: found)"
    )
    parser.add_argument("--sheet", default="", help="of a workbook (default: the first)")


def look(options: argparse.Namespace) -> None:
    """Draw the file by its likeliest reading, and print what is to be known of it."""
    if not options.out.endswith(_ENDINGS):
        raise InputError(
            "A look is written as .html or .svg.", field="out", hint="For example -o look.html."
        )
    content, proposal = _proposed(options)
    looked = looked_at(read_people(content, proposal.likely), proposal)
    for line in looked.lines:
        print(line)
    text = looked.svg() if options.out.endswith(".svg") else looked.html()
    write_whole(file_to_keep(options.out, "out"), text.encode())
    print(
        f"{MARK}: {called(options.out)} and these lines hold what stands in the file.",
        file=sys.stderr,
    )


def propose(options: argparse.Namespace) -> None:
    """Write the reading with its gaps, and print what is to be asked."""
    proposal = _proposed_of_many(options) or _proposed(options)[1]
    text = json.dumps(proposal.to_plain(), ensure_ascii=False, indent=1)
    if options.out == "-":
        print(text)
        return
    write_whole(file_to_keep(options.out, "out"), f"{text}\n".encode())
    print(*proposal.lines, sep="\n")
    print(
        f"{called(options.out)} is the “reading” of a request."
        if not proposal.gaps
        else f"{called(options.out)} has gaps: fill them before you publish."
    )


def _proposed_of_many(options: argparse.Namespace) -> Proposal | None:
    """Propose how large files are read, from the first lines of one; None for a small file."""
    if options.file == "-":
        return None
    files = files_of(options.file)
    if len(files) == 1 and (files[0].size <= MAX_BYTES or not is_in_batches(files[0])):
        return None
    print(
        f"Proposed from the first lines of one of {counted(len(files), 'file')}: check that it "
        "holds for all.",
        file=sys.stderr,
    )
    return propose_within(
        beginning_of(files[0]), data=options.data, encoding=options.encoding, sheet=options.sheet
    )


def _proposed(options: argparse.Namespace) -> tuple[bytes, Proposal]:
    """Return a file, or the one that a request names, with what is proposed of it."""
    content = bytes_of(options.file, MAX_BYTES)
    kind, stated = options.data, None
    if options.file.endswith(".json") and content.lstrip()[:1] == b"{":
        request = json_of(text_of(options.file), "request")
        stated = checked_object(request.get("data", {}), "data")
        if not isinstance(stated.get("file"), str):
            raise InputError(
                "The request names no file.", field="file", hint="Name it as “file” in its “data”."
            )
        kind = kind or _kind_of(parsing.mechanism_of(request).main_task)
        content = bytes_of(Path(options.file).parent / stated["file"], MAX_BYTES)
    return content, propose_within(
        content, data=kind, stated=stated, encoding=options.encoding, sheet=options.sheet
    )


def _kind_of(task: Task) -> DataType | Counted:
    return counted_for(task.key) if task.data is DataType.EVENTS else task.data
