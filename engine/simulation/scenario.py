"""One what-if as data: the page, its link, its export and the command line share it.

{"version": 1, "source": {"key": …, "parameters": {…}}, "mechanism": {"key": …, "parameters": {…}},
 "budgets": [{"epsilon": 1.0, "delta": 0.001}], "repeats": 100, "draws": 1, "seed": 1,
 "axes": {"budgets.epsilon": [0.5, 1, 4], "source.n_curves": [100, 250]}}

A budget without delta has that of all pages: 1/n² for n people in all, which follows an axis of n,
and 0 where the method needs none. Without repeats and draws it is the study of the pages, which
gives the numbers on screen.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.core.entrance import json_of, text_of
from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.core.typed import Repeats, read
from engine.core.types import Budget, Data
from engine.mechanisms import Mechanism, parsing
from engine.simulation.experiments import Cell, Run
from engine.sources import Source

MAX_CELLS = 10_000
__all__ = ["Scenario", "from_json", "from_plain", "text_of", "to_plain"]
_NUMBERS = {"repeats": Repeats, "draws": Repeats, "seed": int}
_KEYS = ("version", "source", "mechanism", "budgets", "repeats", "draws", "seed", "axes")


@dataclass(frozen=True)
class Scenario:
    """A checked scenario; `plain` is the JSON object it came from, with defaults filled in."""

    source: Source[Data]
    mechanism: Mechanism
    budgets: tuple[Budget, ...]
    run: Run = field(default_factory=Run)
    axes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def cells(self) -> list[Cell]:
        """Make the full grid over the axes, in their order; one cell without axes."""
        if math.prod(len(values) for values in self.axes.values()) > MAX_CELLS:
            raise InputError(
                f"The axes make more than {MAX_CELLS} cells.",
                field="axes",
                hint="Take fewer values.",
            )
        return [
            self._cell(dict(zip(self.axes, values, strict=True)))
            for values in itertools.product(*self.axes.values())
        ]

    @property
    def states_delta(self) -> bool:
        """True if the scenario states δ; else it follows from the number of people, as on pages."""
        return "budgets.delta" in self.axes or any(
            "delta" in budget for budget in self.plain["budgets"]
        )

    def _cell(self, at: dict[str, Any]) -> Cell:
        plain = _deep_copy(self.plain)
        for path, value in at.items():
            _put(plain, path, value)
        is_moved = any(path.startswith("source.") for path in at)
        return Cell(at, *parsing.parsed(plain, None if is_moved else self.source))


def from_json(text: str, instead: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario from JSON text; values in `instead` replace those at its top level."""
    plain = json_of(text, "scenario")
    return from_plain({**plain, **(instead or {})} if isinstance(plain, dict) else plain)


def from_plain(plain: Any) -> Scenario:
    """Read and check a scenario from plain dictionaries and lists; see `from_json`."""
    if isinstance(plain, dict) and "data" in plain:
        raise InputError(
            "This is a request about a file of your own; scenarios take no file.",
            field="data",
            hint="“release” publishes it, and “look” draws its file. To "
            "try a method, name a “source” of simulated or public data.",
        )
    plain = _deep_copy(checked_object(plain, "scenario", _KEYS))
    parsing.check_version(plain)
    plain["version"] = parsing.VERSION
    is_study = not {"repeats", "draws"} & set(plain)
    for name in ("seed",) if is_study else ("repeats", "draws", "seed"):
        plain[name] = read(_NUMBERS[name], plain.get(name, 1), name)
    axes = {
        path: _axis(path, values)
        for path, values in checked_object(plain.get("axes", {}), "axes").items()
    }
    source, mechanism, budgets = parsing.parsed(plain)
    run = (
        Run(seed=plain["seed"], is_study=True)
        if is_study
        else Run(plain["repeats"], plain["draws"], plain["seed"])
    )
    scenario = Scenario(source, mechanism, budgets, run, axes, plain)
    scenario.cells()  # every cell is checked before anything runs
    return scenario


def to_plain(
    source: Source[Data], mechanism: Mechanism, budgets: tuple[Budget, ...], run: Run
) -> dict[str, Any]:
    """Write the scenario of given objects, with every parameter written out."""
    how_often = {} if run.is_study else {"repeats": run.repeats, "draws": run.draws}
    return {
        "version": parsing.VERSION,
        "source": {"key": source.key, "parameters": source.values()},
        "mechanism": {"key": mechanism.key, "parameters": mechanism.values()},
        "budgets": [
            {"epsilon": b.epsilon if b.is_private else "inf", "delta": b.delta} for b in budgets
        ],
        **how_often,
        "seed": run.seed,
    }


def _axis(path: str, values: Any) -> tuple[Any, ...]:
    group, _, name = path.partition(".")
    if group not in ("source", "mechanism", "budgets") or not name:
        raise InputError(
            f"There is no axis {brief(path)}.",
            field="axes",
            hint="Use source.NAME, mechanism.NAME, budgets.epsilon or budgets.delta.",
        )
    if not isinstance(values, list) or not values:
        raise InputError(
            f"The axis {brief(path)} must be a list with at least one value.", field=path
        )
    return tuple(values)


def _put(plain: dict[str, Any], path: str, value: Any) -> None:
    """Set one axis value in a plain scenario; a budget value goes to every budget."""
    group, _, name = path.partition(".")
    if group == "budgets":
        for budget in plain["budgets"]:
            budget[name] = value
    elif name == "key":
        plain[group]["key"] = value
    else:
        plain[group].setdefault("parameters", {})[name] = value


def _deep_copy(plain: Any) -> Any:
    return json.loads(json.dumps(plain))
