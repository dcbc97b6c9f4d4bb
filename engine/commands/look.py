"""The commands `look`, which draws a file for its holder, and `propose`, which writes a reading."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from engine.core.entrance import bytes_of, called, file_to_keep, write_whole
from engine.core.errors import InputError
from engine.exports.looking import MARK, looked_at
from engine.uploads.bounded import read_people
from engine.uploads.limits import MAX_BYTES
from engine.uploads.proposal import Proposal, propose_within
from engine.uploads.proposing.roles import FileKind
from engine.uploads.text import ENCODINGS

_ENDINGS = (".html", ".svg")


def add(commands: Any) -> None:
    """Add both commands with their options."""
    parser = commands.add_parser("look", help="draw a file of your own, for your eyes alone")
    _add_file(parser)
    parser.add_argument("-o", "--out", metavar="PICTURE", default="look.html",
                        help="where to: .html or .svg (default: look.html)")
    parser.set_defaults(command=look)
    parser = commands.add_parser(
        "propose", help="propose how a file of your own is read, with what you have to say")
    _add_file(parser)
    parser.add_argument("-o", "--out", metavar="READING", default="-",
                        help="where to write the reading, as JSON (default: standard output)")
    parser.set_defaults(command=propose)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="CSV, TSV, XLSX, an export of a device, or a .zip of these")
    parser.add_argument("--data", choices=[kind.value for kind in FileKind],
                        help="what the file holds of each person (default: told by its columns)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="",
                        help="of its text (default: found)")
    parser.add_argument("--sheet", default="", help="of a workbook (default: the first)")


def look(options: argparse.Namespace) -> None:
    """Draw the file by its likeliest reading, and print what is to be known of it."""
    if not options.out.endswith(_ENDINGS):
        raise InputError("A look is written as .html or .svg.", field="out",
                         hint="For example -o look.html.")
    content = bytes_of(options.file, MAX_BYTES)
    proposal = _proposed(options, content)
    looked = looked_at(read_people(content, proposal.likely), proposal)
    for line in looked.lines:
        print(line)
    text = looked.svg() if options.out.endswith(".svg") else looked.html()
    write_whole(file_to_keep(options.out, "out"), text.encode())
    print(f"{MARK}: {called(options.out)} and these lines hold what stands in the file.",
          file=sys.stderr)


def propose(options: argparse.Namespace) -> None:
    """Write the reading with its gaps, and print what is to be asked."""
    proposal = _proposed(options, bytes_of(options.file, MAX_BYTES))
    text = json.dumps(proposal.to_plain(), ensure_ascii=False, indent=1)
    if options.out == "-":
        print(text)
        return
    write_whole(file_to_keep(options.out, "out"), f"{text}\n".encode())
    print(*proposal.lines, sep="\n")
    print(f"{called(options.out)} is the “reading” of a request." if not proposal.gaps else
          f"{called(options.out)} has gaps: fill them before you publish.")


def _proposed(options: argparse.Namespace, content: bytes) -> Proposal:
    return propose_within(content, data=options.data, encoding=options.encoding,
                          sheet=options.sheet)
