"""An answer of a released curve, and how its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.enumerations import Enumeration
from engine.core.names import uncapital
from engine.core.types import PublicFacts

_MAX_PIECES = 4  # of a set, in a sentence
_MAX_DECIMALS = 6

Interval = tuple[float, float]

DRAWN_OTHERWISE = (
    "Answers come from the released coefficients before they are shrunk, as the band does, and "
    "with slopes at both ends. The drawn curve is shrunk and flat at its ends, so its height can "
    "differ from an answer; quote the interval. Like the band it does not count what the kept "
    "basis functions smooth away."
)


class Verdict(Enumeration):
    """Outcome of a question."""

    TOLD = "told"
    OPEN = "open"
    NEVER = "never"
    ALWAYS = "always"
    REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    """A number with its 95 % interval, or a set of times, in the units of the data."""

    verdict: Verdict
    text: str  # the answer as a sentence, or why there is none
    value: float | None = None
    # the interval; several where the release leaves several stretches open
    pieces: tuple[Interval, ...] = ()
    unit: str = ""
    values: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()  # what is to be said beside it
    # limits that hold whenever the simultaneous band does, where they are known as well
    outer: Interval | None = None

    @property
    def interval(self) -> Interval | None:
        """Interval from the first to the last possible value; None if there is no answer."""
        return (self.pieces[0][0], self.pieces[-1][1]) if self.pieces else None

    def holds(self, truth: float) -> bool:
        """True if a number lies in one of the pieces."""
        return any(low <= truth <= high for low, high in self.pieces)

    def plain(self) -> dict[str, Any]:
        """The answer as plain values, for JSON; an end of an interval without a limit is null."""
        return {
            "verdict": str(self.verdict),
            "text": self.text,
            "value": self.value,
            "pieces": [
                [end if math.isfinite(end) else None for end in piece] for piece in self.pieces
            ],
            "unit": self.unit,
            "values": list(self.values),
            "notes": list(self.notes),
            "outer": None if self.outer is None else list(self.outer),
        }


def refused(reason: str) -> Answer:
    """No answer."""
    return Answer(Verdict.REFUSED, reason)


def measured(
    what: str, value: float, limits: Interval, unit: str, notes: tuple[str, ...]
) -> Answer:
    """Write a number with its interval, “Height at age 13: 152.3 cm (95 %: 151.2 to 153.4)”."""
    number, low, high = written([value, *limits], limits[1] - limits[0])
    return Answer(
        Verdict.TOLD,
        f"{what}: {with_unit(number, unit)} (95 %: {low} to {high}).",
        value,
        (limits,),
        unit,
        notes=notes,
    )


def within(low: float, high: float, value: float, limits: Interval) -> tuple[float, Interval]:
    """Hold a number and its interval to what is publicly possible, as the drawn curve is.

    The truth lies between `low` and `high` whatever the data are.

    Examples
    --------
    >>> within(60, 210, 206.0, (190.0, 222.0))
    (206.0, (190.0, 210))
    """
    value, *ends = (min(max(number, low), high) for number in (value, *limits))
    return value, (ends[0], ends[1])


def written(values: Sequence[float], width: float) -> list[str]:
    """Write numbers of one unit with as many decimals as the width of an interval supports.

    Examples
    --------
    >>> written([13.12, 12.63, 13.5], 0.87)
    ['13.1', '12.6', '13.5']
    """
    step = width / 4 if width > 0 else max(map(abs, values), default=1.0) / 100
    decimals = max(0, min(_MAX_DECIMALS, -math.floor(math.log10(step)))) if step > 0 else 0
    rounded = [round(value, decimals) + 0.0 for value in values]  # no −0.0
    return [f"{value:.{decimals}f}".replace("-", "−") for value in rounded]


def stretches(pieces: Sequence[Interval], joint: str = "or") -> str:
    """Pieces of a set in words, four at most: "12.6 to 13.5 or 15.0 to 15.2"."""
    widths = [high - low for low, high in pieces]
    width = max(min(widths), max(widths) / 10)
    words = [" to ".join(written(piece, width)) for piece in pieces[:_MAX_PIECES]]
    if len(pieces) > _MAX_PIECES:
        return ", ".join(words) + " and others"
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def with_unit(number: str, unit: str) -> str:
    """A written number with its unit, if there is one."""
    return f"{number} {unit}" if unit else number


def rate_unit(facts: PublicFacts, order: int) -> str:
    """Name the unit of a derivative in time: "cm per year", "cm per year²"."""
    unit = facts.time_unit or "unit of time"
    single = unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit
    return f"{facts.value_unit} per {single}{'²' if order == 2 else ''}".strip()


def when(facts: PublicFacts, time: float) -> str:
    """A time with its name and unit: "age 13 years"."""
    return with_unit(f"{uncapital(facts.time_name)} {_stated(time)}", facts.time_unit)


def span(facts: PublicFacts, first: float, last: float) -> str:
    """A stretch of time: "age 2 to 18 years"."""
    return with_unit(
        f"{uncapital(facts.time_name)} {_stated(first)} to {_stated(last)}", facts.time_unit
    )


def _stated(time: float) -> str:
    return f"{time:.4g}".replace("-", "−")
