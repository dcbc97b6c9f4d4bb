"""How long a run may take and what memory it may need, as options of a command."""

from __future__ import annotations

import argparse

from engine.simulation.effort import Limits

_MINUTES, _GIGABYTES = 60, 8  # unless it is told otherwise


def add(parser: argparse.ArgumentParser) -> None:
    """The two options of commands that may run long."""
    parser.add_argument("--limit-minutes", type=float, default=_MINUTES, metavar="M",
                        help=f"refuse what would take longer (default: {_MINUTES})")
    parser.add_argument("--limit-gigabytes", type=float, default=_GIGABYTES, metavar="G",
                        help=f"refuse what needs more memory (default: {_GIGABYTES})")


def chosen(options: argparse.Namespace) -> Limits:
    """The limits that were given."""
    return Limits(options.limit_minutes, options.limit_gigabytes)
