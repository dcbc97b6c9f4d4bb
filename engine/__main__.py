"""The command line: what there is, scenarios, plans, audits, exhibits and real releases."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine import __version__
from engine.commands import (
    ask,
    audit,
    cards,
    exhibit,
    listing,
    look,
    plan,
    release,
    run,
    share,
    show,
    sites,
)
from engine.commands.exit_codes import Exit
from engine.core.errors import InputError
from engine.core.faults import placed

_LONGEST = 1000  # characters of a complaint about the words of a command
_COMMANDS = (listing, run, plan, audit, exhibit, ask, cards, share, show, look, release, sites)


def main(arguments: list[str] | None = None, further: Sequence[Any] = ()) -> int:
    """Run one command, that of the program by default; returns its exit code.

    What a fault of the program says is not shown, because it may quote a reading.
    """
    options = _parser(further).parse_args(arguments)
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


def _parser(further: Sequence[Any] = ()) -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m engine", description="Privacy Curves on the command line.")
    parser.add_argument("--version", action="version", version=f"Privacy Curves {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (*further, *_COMMANDS):
        module.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
