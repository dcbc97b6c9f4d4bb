"""What a visitor may vary in a sweep, its usual values, and the scenario that comes of it.

Any number of the curves or the method, or ε, can be an axis. The scenario is the one that the
command line runs, so the numbers are the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import Parameter
from engine.core.types import Budget, Data
from engine.mechanisms import Mechanism
from engine.simulation.experiments import Run
from engine.simulation.scenario import Scenario, from_plain, to_plain
from engine.sources import Source

EPSILON = "budgets.epsilon"
MAX_VALUES = 12  # on one axis
MAX_RUNS = 20_000  # cells × repeats: what a browser session and a shared store can hold
_DEFAULT_COUNT = 7  # odd, so that the present value is one of them
_SPAN = 4.0  # usual values reach from a quarter of the present one to four times
_MIN_EPSILON, _MAX_EPSILON = 0.01, 100.0


@dataclass(frozen=True)
class Axis:
    """Something that can be varied: its path in a scenario, its name and its present value."""

    path: str
    parameter: Parameter
    present: float | None

    @property
    def label(self) -> str:
        symbol = f" ({self.parameter.symbol})" if self.parameter.symbol else ""
        return f"{self.parameter.label}{symbol}"

    def default(self) -> tuple[float, ...]:
        """Values around the present one, as far as the parameter reaches."""
        low, high = self._reach()
        span = np.geomspace(low, high, _DEFAULT_COUNT) if low > 0 else \
            np.linspace(low, high, _DEFAULT_COUNT)
        rounded = {self._rounded(float(value)) for value in span}
        return tuple(sorted(value for value in rounded if self._allows(value)))

    def _reach(self) -> tuple[float, float]:
        low = -math.inf if self.parameter.low is None else self.parameter.low
        high = math.inf if self.parameter.high is None else self.parameter.high
        here = self.present
        if here is None:  # found by a rule: from the least on
            here = max(low, 1.0 if self.parameter.kind is int else 0.1) * _SPAN
        if here <= 0:
            return max(low, here - 1.0), min(high, here + 1.0)
        return max(low, here / _SPAN), min(high, here * _SPAN)

    def _rounded(self, value: float) -> float:
        return float(round(float(f"{value:.2g}")) if self.parameter.kind is int
                     else float(f"{value:.2g}"))

    def _allows(self, value: float) -> bool:
        try:
            self.parameter.check(value)
        except InputError:
            return False
        return True

    def read(self, text: str) -> tuple[float, ...]:
        """The values of a text such as `50, 100, 200`, in rising order.

        Raises
        ------
        InputError
            If one is no number or not allowed; if there are none or too many.
        """
        words = text.replace(";", " ").replace(",", " ").split()
        values = tuple(sorted({self._read_one(word) for word in words}))
        if not 1 <= len(values) <= MAX_VALUES:
            raise InputError(f"Give 1 to {MAX_VALUES} values; got {len(values)}.",
                             field=self.path, hint="Put spaces or commas between them.")
        return values

    def _read_one(self, word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            raise InputError(f"“{word[:20]}” is not a number.", field=self.path,
                             hint="Write values as 50, 100, 200.") from None
        return float(self.parameter.check(value))

    def plain(self, values: Sequence[float]) -> list[float | int]:
        """Values as a scenario writes them: whole numbers where only they are allowed."""
        return [int(v) if self.parameter.kind is int else v for v in values]


def axes(source: Source[Data], mechanism: Mechanism, epsilon: float) -> dict[str, Axis]:
    """Everything that can be varied, ε first; of one's own data only the budget and the method."""
    listed = [Axis(EPSILON, _EPSILON, epsilon)]
    groups: list[tuple[str, Source[Data] | Mechanism]] = [("mechanism", mechanism)]
    if not source.facts.is_upload:
        groups.insert(0, ("source", source))
    listed += [Axis(f"{group}.{p.name}", p, getattr(member, p.name)) for group, member in groups
              for p in member.relevant_parameters() if p.kind in (int, float) and not p.choices]
    return {axis.path: axis for axis in listed}


_EPSILON = Parameter("epsilon", float, False, 1.0, "Privacy budget", "The limit on what one "
                     "person’s taking part can change.", "ε",
                     low=_MIN_EPSILON, high=_MAX_EPSILON)


def design(source: Source[Data], mechanism: Mechanism, budget: Budget, repeats: int, seed: int,
           chosen: Sequence[tuple[Axis, tuple[float, ...]]]) -> Scenario:
    """The scenario over one or two axes.

    Real curves are the same in every repeat, so that of them as many releases are drawn instead.

    Raises
    ------
    InputError
        For a cell that cannot be, such as a size out of range; for more runs than can be held.
    """
    run = Run(repeats, 1, seed) if source.is_random else Run(1, repeats, seed)
    n_runs = repeats * math.prod(len(values) for _, values in chosen)
    if n_runs > MAX_RUNS:
        raise InputError(f"This asks for {n_runs:,} runs; a sweep here has at most {MAX_RUNS:,}.",
                         field="repeats", hint="Take fewer repeats or values, or run the scenario "
                         "on the command line.")
    moved = {axis.path: axis.plain(values) for axis, values in chosen}
    plain = to_plain(source, mechanism, (budget,), run)
    if source.facts.is_upload:  # its curves cannot be written down, so it is not read back
        along = {path: tuple(values) for path, values in moved.items()}
        scenario = Scenario(source, mechanism, (budget,), run, along, plain)
        scenario.cells()  # checks them
        return scenario
    return from_plain({**plain, "axes": moved})
