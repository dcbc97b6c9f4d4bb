"""Numbers on the command line within bounds, and the limits of commands that may run long."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

from engine.simulation.effort import EffortLimits

MAX_SEED = 2**63 - 1
_MINUTES, _GIGABYTES = 60, 8  # unless it is told otherwise


def whole(low: int, high: int) -> Callable[[str], int]:
    """A type of `argparse`: whole numbers from `low` to `high`."""

    def read(text: str) -> int:
        digits = text.strip()
        if not re.fullmatch("[+-]?[0-9]{1,20}", digits) or not low <= int(digits) <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}")
        return int(digits)

    return read


def number(low: float, high: float) -> Callable[[str], float]:
    """A type of `argparse`: numbers from `low` to `high`."""

    def read(text: str) -> float:
        try:
            value = float(text[:100])
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a number from {low:g} to {high:g}")
        return value

    return read


seed = whole(0, MAX_SEED)


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The two options of commands that may run long."""
    parser.add_argument(
        "--limit-minutes",
        type=float,
        default=_MINUTES,
        metavar="M",
        help=f"refuse what would take longer (default: {_MINUTES})",
    )
    parser.add_argument(
        "--limit-gigabytes",
        type=float,
        default=_GIGABYTES,
        metavar="G",
        help=f"refuse what needs more memory (default: {_GIGABYTES})",
    )


def limits(options: argparse.Namespace) -> EffortLimits:
    """The limits that were given."""
    return EffortLimits(options.limit_minutes, options.limit_gigabytes)
