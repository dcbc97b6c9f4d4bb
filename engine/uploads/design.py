"""The law of the observation times, as the holder states it in the file's own unit.

A design is a public fact: it comes from the plan of the study and is never read off the times. The
times in the header of a wide table are in the file, so that they count as public only once the
holder has confirmed that they are: a file that was spread out by another program has a column for
every visit of every person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.enumerations import Enumeration
from engine.core.errors import InputError
from engine.core.types import Array, Design, PublicFacts, TimeLaw
from engine.numerics.observation_times import stated_density, visits_span


class StatedLaw(Enumeration):
    """A statement about the observation times, in words, and its consequences.

    `suits_one` says that one observation of each person can follow it, and `design` makes the
    design on [0, 1] of what was stated.
    """

    label: str
    suits_one: bool
    design: Callable[[StatedDesign, PublicFacts], Design]

    COMMON = (
        "common",
        "Everybody at the same times",
        True,
        lambda stated, facts: Design.common(_common(stated.times, facts)),
    )
    VISITS = (
        "visits",
        "At a fixed interval, from a start that differs",
        False,
        lambda stated, facts: Design.visits(_visits(stated.gap, facts)),
    )
    WINDOWS = (
        "windows",
        "A short stretch of the range for each person",
        False,
        lambda stated, facts: Design(
            law=TimeLaw.WINDOWS, window=_share(stated.window, "window", facts)
        ),
    )
    EVEN = (
        "even",
        "Each on its own, spread evenly over the range",
        True,
        lambda stated, facts: Design(),
    )
    DENSITY = (
        "density",
        "Each on its own, more often at some times",
        True,
        lambda stated, facts: _density(stated.heights),
    )
    UNKNOWN = ("unknown", "Not known", True, lambda stated, facts: Design(law=TimeLaw.UNKNOWN))


def laws_for(is_single: bool) -> list[StatedLaw]:
    """Return the laws that can be stated, with one observation or more for each person."""
    return [law for law in StatedLaw if law.suits_one or not is_single]


MAX_TIMES = 10_000
_DIGITS = 12  # to which a time is written back in the unit of the file
_SEQUENCE = re.compile(r"\s*(\S+)\s+to\s+(\S+)\s+by\s+(\S+)\s*")


@dataclass(frozen=True, kw_only=True)
class StatedDesign:
    """A person's statements about the observation times, in the unit of the file."""

    law: str | None = None  # that of a `StatedLaw`; None while nothing is stated
    times: tuple[float, ...] = ()
    gap: float | None = None  # interval between the observations of a person, for "visits"
    # length of the stretch in which a person is observed, for "windows"
    window: float | None = None
    # how often times occur relative to each other, at equally spaced times of the range from first
    # to last, for "density"
    heights: tuple[float, ...] = ()

    @classmethod
    def of(cls, facts: PublicFacts) -> StatedDesign:
        """Convert the design on [0, 1] to statements in the unit of time of `facts`.

        `on_unit_time` gives that design again.
        """
        design, length = facts.design, facts.time_high - facts.time_low
        if design.law is TimeLaw.INDEPENDENT:
            return cls(
                law=StatedLaw.DENSITY if design.density else StatedLaw.EVEN, heights=design.density
            )
        times = facts.from_unit_time(np.array(design.times)).tolist()
        return cls(
            law=StatedLaw(design.law),
            times=tuple(map(_rounded, times)),
            gap=_rounded(design.gap * length) if design.gap else None,
            window=_rounded(design.window * length) if design.window else None,
        )

    def to_plain(self) -> dict[str, Any]:
        """The fields that say something, as they stand in a request file."""
        fields = {
            "law": self.law,
            "times": list(self.times),
            "gap": self.gap,
            "window": self.window,
            "heights": list(self.heights),
        }
        return {name: value for name, value in fields.items() if value}

    def on_unit_time(self, facts: PublicFacts, single: bool = False) -> Design:
        """Make the design on [0, 1], from the stated range of times and observations per curve."""
        laws = laws_for(single)
        if self.law not in laws:
            raise InputError(
                "State how the observation times come about.",
                field="design",
                hint=f"One of {', '.join(laws)}. From how the study was planned, "
                "never from the file. “Unknown” is always possible, at some cost in "
                "accuracy.",
            )
        return StatedLaw(self.law).design(self, facts)


def _in_unit(facts: PublicFacts) -> str:
    return f"In {facts.time_unit}" if facts.time_unit else "In the unit of the file"


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def _common(times: Sequence[float], facts: PublicFacts) -> list[float]:
    if not times:
        raise InputError(
            "State the times at which everybody is observed.",
            field="times",
            hint=f"{_in_unit(facts)}, such as 2, 6, 10, 14.",
        )
    if len(times) > MAX_TIMES:
        raise InputError(
            f"At most {MAX_TIMES:,} common times can be stated; got {len(times):,}.", field="times"
        )
    numbers = _numbers(times, "times")
    outside = int(((numbers < facts.time_low) | (numbers > facts.time_high)).sum())
    if outside:
        raise InputError(
            f"{outside:,} of {len(numbers):,} stated times lie outside the range from "
            f"{facts.time_low:g} to {facts.time_high:g}.",
            field="times",
            hint="State a wider range of times, or leave those out.",
        )
    common = np.unique(facts.to_unit_time(numbers))
    if facts.observations_per_curve > len(common):
        raise InputError(
            f"At {len(common)} common times a curve has at most as many observations; "
            f"got {facts.observations_per_curve}.",
            field="observations_per_curve",
            hint="State fewer observations, or all of the common times.",
        )
    return list(common.tolist())


def _visits(gap: float | None, facts: PublicFacts) -> float:
    share, visits = _share(gap, "gap", facts), facts.observations_per_curve
    if visits_span(visits, share) > 1:
        raise InputError(
            f"{visits} observations {gap:g} apart do not fit between "
            f"{facts.time_low:g} and {facts.time_high:g}.",
            field="gap",
            hint="State a shorter interval, fewer observations or a wider range.",
        )
    return share


def _share(length: float | None, name: str, facts: PublicFacts) -> float:
    """Convert a length in the unit of the file to a share of the range of times."""
    distance = {
        "gap": "the interval between observations",
        "window": "how long the stretch of one person is",
    }[name]
    if length is None:
        raise InputError(
            f"State {distance}.",
            field=name,
            hint=f"{_in_unit(facts)}, from how the study was planned.",
        )
    whole = facts.time_high - facts.time_low
    if not 0 < length <= whole:
        raise InputError(
            f"State {distance}: above 0 and at most {whole:g}, the length of the range.", field=name
        )
    return float(length) / whole


def _density(heights: Sequence[float]) -> Design:
    if not heights:
        raise InputError(
            "State how often times occur.",
            field="heights",
            hint="Relative heights at equally spaced times, such as 1, 2, 1.",
        )
    design = Design(density=tuple(_numbers(heights, "heights").tolist()))
    stated_density(design)
    return design


def _numbers(values: Sequence[float], field: str) -> Array:
    if not all(map(math.isfinite, values)):
        raise InputError(
            f"“{field}” must be finite numbers.", field=field, hint="For example 2, 6, 10, 14."
        )
    return np.array(values, dtype=float)


def numbers_in(text: str, field: str) -> tuple[float, ...]:
    """Read the numbers of a typed text; none if it is empty.

    Commas, semicolons or blanks separate numbers; "first to last by step" is a sequence.

    Examples
    --------
    >>> numbers_in("2; 6, 10", "times"), numbers_in("0 to 1 by 0.25", "times")
    ((2.0, 6.0, 10.0), (0.0, 0.25, 0.5, 0.75, 1.0))
    """
    steps = _SEQUENCE.fullmatch(text)
    parts = steps.groups() if steps else [part for part in re.split(r"[,;\s]+", text) if part]
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers, steps = [math.nan], None
    is_sequence = steps is None or (numbers[0] <= numbers[1] and numbers[2] > 0)
    if not all(map(math.isfinite, numbers)) or not is_sequence:
        raise InputError(
            "These are no numbers with commas between them.",
            field=field,
            hint="For example 2, 6, 10, or 0 to 24 by 0.5.",
        )
    if steps:
        first, last, step = numbers
        many = (last - first) / step
        numbers = [first + k * step for k in range(int(min(many + 1e-9, MAX_TIMES)) + 1)]
    if len(numbers) > MAX_TIMES:
        raise InputError(f"At most {MAX_TIMES:,} numbers can be stated.", field=field)
    return tuple(map(_rounded, numbers))


def moved_to_common(times: Array, design: Design) -> Array:
    """Times on [0, 1], each moved to the nearest of the common times where those are stated.

    Where an observation goes depends on its own time and on public numbers alone, the earlier time
    where two are as near. So replacing one person changes the observations of that person and no
    other: neighbouring files stay neighbouring data, and no time of anybody's own is left.
    """
    if design.law is not TimeLaw.COMMON:
        return times
    stated = np.array(design.times)
    index = np.searchsorted((stated[1:] + stated[:-1]) / 2, times)
    return np.asarray(stated[index])
