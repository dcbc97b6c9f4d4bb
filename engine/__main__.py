"""The command line: what there is, scenarios, plans, audits, exhibits and real releases."""

from __future__ import annotations

import argparse
import sys

from engine.commands import audit, coverage, exhibit, ledger, listing, plan, release, run, show
from engine.errors import InputError

_COMMANDS = (listing, run, plan, audit, coverage, exhibit, show, release, ledger)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 if all is well, 1 if an audit or the ledger is not as it should be, 2 for what the person can
    put right.
    """
    options = _parser().parse_args(arguments)
    try:
        code: int | None = options.command(options)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        sys.stderr.close()
        return 0
    return code or 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m engine", description="Privacy Curves on the command line.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for one in _COMMANDS:
        one.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
