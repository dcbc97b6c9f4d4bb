"""`python -m engine show`: `ask` for view files, as earlier versions of the dashboard wrote them.

{"view": "curves", "scenario": {…}} with a scenario as for `run`, and where the view has them
`task`, `unknown` and `target`, `sites`, the `others` and `epsilons` beside one method, or a `rate`
with its `point`, and the `person` whose odds are wanted; a `lesson`, `limits` and the pair of
releases of Audit have their own words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from engine.commands import ask
from engine.core import plain
from engine.core.entrance import json_of
from engine.core.errors import InputError, brief
from engine.questions import Question, kinds
from engine.simulation import scenario

View = Mapping[str, Any]


def add(commands: Any) -> None:
    """The command with its options."""
    ask.add_as(commands, "show", "the same as ask, for view files of earlier versions", from_json)


def from_json(text: str) -> Question:
    """The question of a view given as JSON text."""
    view = json_of(text, "view")
    if not isinstance(view, dict) or view.get("view") not in tuple(_VIEWS):
        raise InputError(
            "This is no view.", field="view", hint=f'It needs a "view", one of {", ".join(_VIEWS)}.'
        )
    name = view["view"]
    try:
        arguments = {**view, **_flat(view)}
        arguments |= _VIEWS[name](arguments)
    except (KeyError, TypeError, AttributeError) as problem:
        missing = f" ({brief(problem.args[0])})" if isinstance(problem, KeyError) else ""
        raise InputError(
            f"The view is incomplete, or holds settings that no page has{missing}.",
            field="view",
            hint="Write it again under *Code for this view*.",
        ) from None
    known = ("person", *inspect.signature(kinds.kinds()[name].function).parameters)
    return kinds.from_plain(
        {"question": name, **{key: value for key, value in arguments.items() if key in known}}
    )


def _flat(view: View) -> dict[str, Any]:
    """Source, mechanism, budget and seed of the scenario of a view, at the start of its axes."""
    if "scenario" not in view:
        return {}
    stated = scenario.from_plain(view["scenario"])
    cell = stated.cells()[0]
    budget = cell.budgets[0]
    return {
        "source": plain.to_plain(cell.source),
        "mechanism": plain.to_plain(cell.mechanism),
        "budget": {"epsilon": plain.to_plain(budget.epsilon), "delta": budget.delta},
        "seed": stated.run.seed,
    }


def _coverage(view: View) -> dict[str, Any]:
    names = ("source", "mechanism", "budget", "seed", "where")
    return {"experiment": {"kind": view["limits"], **{name: view[name] for name in names}}}


def _rate(view: View) -> dict[str, Any]:
    """Show a rate with the check of its slopes and limits, whose words stand within a "check"."""
    if "check" not in view:
        return {}
    check = view["check"]
    flat = [{**setting, **_flat(setting)} for setting in check["settings"]]
    names = ("source", "mechanism", "people", "readings", "sites", "delta")
    limits = check["limits"] and _coverage({**check["limits"], **_flat(check["limits"])})
    seeds = [setting["seed"] for setting in flat] + [limits["experiment"]["seed"]] * bool(limits)
    return {
        "symbol": check["symbol"],
        "values": check["values"],
        "limits": limits and limits["experiment"],
        "seed": [*seeds, 1][0],
        "settings": [
            {**{name: setting[name] for name in names}, "epsilon": setting["budget"]["epsilon"]}
            for setting in flat
        ],
    }


# What a view says in other words than the question of this name.
_VIEWS: dict[str, Callable[[View], dict[str, Any]]] = {
    **dict.fromkeys(("curves", "coefficients", "summary", "sparse"), lambda view: {}),
    "plan": lambda view: {"epsilon": view["budget"]["epsilon"], "delta": view.get("delta")},
    "sites": lambda view: {"rows": view["sites"]},
    "regression": lambda view: {
        "network": {"groups": view["sites"], "delta": view["budget"]["delta"]}
    },
    "methods": lambda view: {
        "methods": [view["mechanism"], *view["others"]],
        "delta": view["budget"]["delta"],
    },
    "coverage": _coverage,
    "rate": _rate,
    "lesson": lambda view: {"key": view["lesson"]},
    "reuse": lambda view: {"is_fresh": view["fresh"]},
}
