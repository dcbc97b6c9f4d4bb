"""The command line: what there is, scenarios, plans, audits, exhibits and real releases."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine import __version__
from engine import commands as commands_package
from engine.commands.exit_codes import Exit
from engine.core.discovery import member
from engine.core.errors import InputError
from engine.core.faults import placed

_LONGEST = 1000  # characters of a complaint about the words of a command
# The words of each module, in the order of `--help`: a command loads its own module alone.
WORDS = {
    "listing": "list schema",
    "run": "run",
    "plan": "plan",
    "audit": "audit",
    "exhibit": "exhibit",
    "ask": "ask",
    "cards": "ask-card check-files compare-cards record synthetic",
    "share": "share",
    "show": "show",
    "look": "look propose",
    "release": "release state ledger",
    "sites": "site-key partners offer plan-sites sign-off site withdraw centre",
}


def main(arguments: list[str] | None = None, further: Sequence[Any] = ()) -> int:
    """Run one command, that of the program by default; returns its exit code.

    What a fault of the program says is not shown, because it may quote a reading.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = _parser(further, words[:1]).parse_args(words)
    try:
        code: Exit | None = options.command(options)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return Exit.REFUSED
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return Exit.STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return Exit.DONE
    except MemoryError:
        print("error: There is not enough memory. Ask for less at once.", file=sys.stderr)
        return Exit.REFUSED
    except Exception as fault:
        print(f"error: Something went wrong on our side: {placed(fault)}.", file=sys.stderr)
        return Exit.FAULT
    return code or Exit.DONE


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint about thousands of words can still be read."""

    def error(self, message: str) -> NoReturn:
        super().error(message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…")


def _parser(further: Sequence[Any] = (), first: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Parse all commands, or that of the `first` word alone."""
    parser = _Parser(prog="python -m engine", description="Privacy Curves on the command line.")
    parser.add_argument("--version", action="version", version=f"Privacy Curves {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in further:
        module.add(commands)
    if commands.choices.keys() & set(first):
        return parser
    known = [name for name, words in WORDS.items() if set(first) & set(words.split())]
    for name in known or WORDS:
        member(f"{commands_package.__name__}.{name}", "add")(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
