"""The command `ledger`: whether it can be believed, and a new one from what is left of it."""

from __future__ import annotations

import argparse
from typing import Any

from engine.release import ledger, repair
from engine.release.ledger import Ledger
from engine.topics.release import words


def add(commands: Any) -> None:
    """The command with its two parts."""
    parser = commands.add_parser("ledger", help="check the ledger of releases, or repair it")
    parts = parser.add_subparsers(required=True, metavar="WHAT")
    for name, function, help_text in (
            ("verify", _verify, "check it, and show the budget spent"),
            ("repair", _repair, "make a new one from what is left; never lowers what was spent")):
        part = parts.add_parser(name, help=help_text)
        part.add_argument("--ledger", metavar="PATH", help="the ledger (default: what the variable "
                          f"{ledger.VARIABLE} names, else one in your data folder)")
        part.add_argument("--witness", metavar="PATH", help="its witness (default: what the "
                          f"variable {ledger.WITNESS_VARIABLE} names, else one beside the ledger)")
        part.set_defaults(command=function)


def _verify(options: argparse.Namespace) -> int:
    """The exit code: 1 if the check finds a problem."""
    state = repair.verify(Ledger(options.ledger, options.witness))
    print("\n".join(words.verified(state)))
    return 0 if state.problem is None else 1


def _repair(options: argparse.Namespace) -> int:
    done = repair.repair(Ledger(options.ledger, options.witness))
    print("\n".join(words.repaired(done)))
    return 0
