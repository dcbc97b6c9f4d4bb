"""Numbers on the command line: of a kind, and within bounds that are named when they are passed."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

MOST_SEED = 2**63 - 1


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


seed = whole(0, MOST_SEED)
