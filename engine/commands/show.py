"""`python -m engine show`: the numbers of a page of the dashboard, from a view written as data.

{"view": "curves", "scenario": {…}} with a scenario as for `run`, and where the view has them
`task`, `unknown` and `target`, `sites`, the `others` and `epsilons` beside one method, or a `rate`
with its `point`, and the `person` whose odds are wanted; a `lesson`, `limits` and the pair of
releases of Audit have their own words. Only what the page has is simulated, with its seed, so that
the numbers are those on screen.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from engine import lessons, scenario
from engine.entrance import json_of, text_of
from engine.errors import InputError, brief
from engine.experiments import Cell
from engine.privacy.amplification import Person, SecretSample
from engine.rates import Rate, rates
from engine.running.steps import result_of
from engine.sources.regression_points import RegressionPoints
from engine.views import coverage_lab, rate_check, shown
from engine.views.coefficients import coefficient_view
from engine.views.planner import DIALS, Setting
from engine.views.planner import plan as planned
from engine.views.preview import at_budget
from engine.views.regimes import Weighted
from engine.views.regression import Group, Network, regression_view
from engine.views.reuse import reuse
from engine.views.shown import Numbers
from engine.views.side_by_side import side_by_side
from engine.views.site_table import SiteRow
from engine.views.sites import federation
from engine.views.sparse import sparse_view
from engine.views.summaries import summary_view

View = Mapping[str, Any]


def add(commands: Any) -> None:
    """The command with its options."""
    showing = commands.add_parser("show", help="print the numbers of a page of the dashboard")
    showing.add_argument("file", help="view file, or - for standard input")
    showing.add_argument("--json", action="store_true", help="print one JSON object")
    showing.set_defaults(command=command)


def command(options: argparse.Namespace) -> None:
    found = numbers(text_of(options.file))
    print(json.dumps(found, ensure_ascii=False) if options.json else shown.lines(found))


def numbers(text: str) -> Numbers:
    """The numbers of a view given as JSON text.

    Raises
    ------
    InputError
        For text that is no view, and whatever sources and mechanisms refuse.
    """
    view = json_of(text, "view")
    if not isinstance(view, dict) or not isinstance(view.get("view"), str) or (
            view["view"] not in _VIEWS):
        raise InputError("This is no view.", field="view", hint='It needs a "view", one of '
                         f"{', '.join(_VIEWS)}; the dashboard writes it under *Code for this "
                         "view*.")
    try:
        return _VIEWS[view["view"]](view)
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as problem:
        what = f" ({brief(problem.args[0])})" if isinstance(problem, KeyError) else ""
        raise InputError(f"The view lacks something, or holds what no page can show{what}.",
                         field="view", hint="Write it again under *Code for this view*.") from None


def _cell(view: View) -> tuple[Cell, int]:
    """The source, the mechanism, the budgets and the seed of the view's scenario."""
    chosen = scenario.from_plain(view["scenario"])
    return chosen.cells()[0], chosen.run.seed


def _who(view: View) -> Person:
    """Whose odds are wanted: usually those of somebody with one protected unit."""
    plain = view.get("person", {})
    sample = plain.get("sample")
    return Person(plain.get("units", 1), None if sample is None else SecretSample(**sample))


def _curves(view: View) -> Numbers:
    cell, seed = _cell(view)
    budget = cell.budgets[0]
    return shown.curves(at_budget(cell.source, cell.mechanism, budget, seed), budget,
                        _who(view))


def _coefficients(view: View) -> Numbers:
    cell, seed = _cell(view)
    return shown.coefficients(coefficient_view(cell.source, cell.mechanism, cell.budgets[0], seed),
                              _who(view))


def _summary(view: View) -> Numbers:
    cell, seed = _cell(view)
    return shown.summary(summary_view(cell.source, cell.mechanism, view["task"], cell.budgets[0],
                                      seed), _who(view))


def _sparse(view: View) -> Numbers:
    cell, seed = _cell(view)
    mechanism: Any = cell.mechanism
    return shown.sparse(sparse_view(cell.source, mechanism, cell.budgets[0], seed), _who(view))


def _regression(view: View) -> Numbers:
    cell, seed = _cell(view)
    mechanism: Any = cell.mechanism
    if not isinstance(cell.source, RegressionPoints):
        raise InputError("This view needs single readings.", field="source")
    network = Network(tuple(Group(**group) for group in view["sites"]), cell.budgets[0].delta)
    return shown.regression(regression_view(cell.source, mechanism, network, seed), _who(view))


def _sites(view: View) -> Numbers:
    cell, seed = _cell(view)
    rows = [SiteRow(**row) for row in view["sites"]]
    return shown.sites(federation(cell.source, cell.mechanism, rows, seed), _who(view))


def _plan(view: View) -> Numbers:
    cell, seed = _cell(view)
    if view["unknown"] not in DIALS:
        raise InputError(f"There is no dial {brief(view['unknown'])}.", field="unknown",
                         hint=f"Choose one of {', '.join(DIALS)}.")
    setting = Setting.of(cell.source, cell.mechanism, cell.budgets[0].epsilon, view.get("delta"))
    answer = result_of(planned(setting, view["unknown"], view["target"], seed))
    return shown.plan(answer, cell.source.facts.value_unit, _who(view))


def _rate(view: View) -> Numbers:
    rate = rates.build(view["rate"]["key"], view["rate"]["parameters"])
    share = view.get("privacy_share")
    weighted = (Weighted.plain(rate) if share is None else
                Weighted.with_privacy_share(rate, share, **view["point"]))
    numbers = shown.rate(weighted, view["point"])
    if "check" in view:
        asked = _check(view["check"], rate, view["point"])
        numbers |= shown.rate_check(asked, rate_check.found(asked, list(rate_check.check(asked))))
    return numbers


def _check(plain: View, rate: Rate, point: Mapping[str, float]) -> rate_check.Check:
    """What is measured of a rate: slopes by some methods, and limits."""
    cells = [_cell(one) for one in plain["settings"]]
    settings = tuple(
        Setting(cell.source, cell.mechanism, cell.budgets[0].epsilon, one["people"],
                one["readings"], one["sites"], one["delta"])
        for (cell, _), one in zip(cells, plain["settings"], strict=True))
    limits = None if plain["limits"] is None else _question(plain["limits"])
    seed = cells[0][1] if cells else 1 if limits is None else limits.seed
    return rate_check.Check(rate, point, plain["symbol"], settings, tuple(plain["values"]), limits,
                            seed)


def _methods(view: View) -> Numbers:
    cell, seed = _cell(view)
    others = [scenario.from_plain({**view["scenario"], "mechanism": other}).mechanism
              for other in view["others"]]
    ways = side_by_side(cell.source, [cell.mechanism, *others], cell.budgets[0].delta, seed,
                        view["units"])
    return shown.methods(ways, view["epsilons"])


def _coverage(view: View) -> Numbers:
    asked = _question(view)
    return shown.coverage(coverage_lab.Batch.joined(list(coverage_lab.repetitions(asked))))


def _question(view: View) -> coverage_lab.Experiment:
    cell, seed = _cell(view)
    if view["limits"] not in coverage_lab.KINDS:
        raise InputError(f"There are no limits {brief(view['limits'])}.", field="limits",
                         hint=f"Choose one of {', '.join(coverage_lab.KINDS)}.")
    return coverage_lab.Experiment(view["limits"], cell.source, cell.mechanism, cell.budgets[0],
                                 seed, view["where"])


def _reused(view: View) -> Numbers:
    return shown.reused(reuse(view["first"], view["second"], view["delta"], view["seed"],
                              view["fresh"]))


def _lesson(view: View) -> Numbers:
    return shown.lesson(lessons.work(view["lesson"], view["seed"]))


_VIEWS: dict[str, Callable[[View], Numbers]] = {
    "curves": _curves, "plan": _plan, "sites": _sites, "rate": _rate,
    "coefficients": _coefficients, "regression": _regression, "summary": _summary,
    "sparse": _sparse, "methods": _methods, "coverage": _coverage, "reuse": _reused,
    "lesson": _lesson}
