"""The command `privacy-curves`: the dashboard, and the commands of the engine."""

from __future__ import annotations

import sys

from privacy_curves import dashboard
from privacy_curves.engine import __main__ as engine_commands


def main(arguments: list[str] | None = None) -> int:
    """Run a command, or without any word open the dashboard; returns the exit code.

    Parameters
    ----------
    arguments : list of str, optional
        The words of the command; without them those that the program was started with.
    """
    words = sys.argv[1:] if arguments is None else arguments
    return engine_commands.main(words or ["dashboard"], further=(dashboard,))
