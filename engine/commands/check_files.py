"""`python -m engine check-files FILE …`: whether published files are what was released."""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import Any

from engine.core.entrance import bytes_of
from engine.release.checked_files import MAX_BYTES, check, unpacked
from engine.release.ledger import Ledger

_WORDS = {True: "right", False: "WRONG", None: "not known"}


def add(commands: Any) -> None:
    """The command with its options."""
    parser = commands.add_parser(
        "check-files", help="check published files against each other and the ledger",
        description="Compares the files of a release with what the ledger makes again, byte for "
        "byte, and with each other. Ends with 1 if something is wrong.")
    parser.add_argument("files", nargs="+", metavar="FILE",
                        help="the .zip of a release, or its files with guarantee.json among them")
    parser.add_argument("--ledger", metavar="PATH", help="the ledger (default: that of releases)")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print what can be told; the exit code is 1 if something is wrong.

    Raises
    ------
    InputError
        If a file cannot be read, or there is no guarantee card among them.
    """
    folders = unpacked({PurePath(path).name: bytes_of(path, MAX_BYTES) for path in options.files})
    wrong = False
    for folder, files in folders.items():
        for finding in check(files, Ledger(options.ledger)):
            wrong |= finding.holds is False
            print(": ".join(filter(None, (folder, _WORDS[finding.holds], finding.text))))
    return int(wrong)
