"""The numbers that stand on a page, by name: its code, its notebook and the command line give them.

Every function takes what the page draws. Errors are in response units, which their names say; NaN
where nothing would be published or nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.privacy import accounting, risk
from engine.types import Budget, Spend
from engine.views.coefficients import CoefficientView
from engine.views.planner import Answer
from engine.views.preview import Preview
from engine.views.regimes import Weighted
from engine.views.regression import RegressionView
from engine.views.sites import Arrangement, Federation
from engine.views.sparse import SparseView
from engine.views.summaries import SummaryView
from engine.words.coefficients import total

Numbers = dict[str, float]


def lines(numbers: Numbers) -> str:
    """One line for each number, with six digits."""
    return "\n".join(f"{name}: {value:.6g}" for name, value in numbers.items())


def curves(view: Preview, budget: Budget) -> Numbers:
    """Explore: one budget of the slider."""
    at = view.budgets.index(budget)
    study, unit = view.study, _unit(view.data.facts.value_unit)
    refused = view.is_refused(at)
    found = {f"typical error{unit}": study.typical[at],
             f"19 in 20 releases within{unit}": study.quantile(0.95)[at]}
    if refused:
        found = dict.fromkeys(found, math.nan)
    if study.floor is not None:
        found[f"typical error without protection{unit}"] = study.floor
    shares = dict(zip(("privacy noise", "chance in who took part", "smoothing and clipping"),
                      study.shares[at], strict=True))
    found |= {f"share of the squared error: {name}": math.nan if refused else share
              for name, share in shares.items()}
    return _plain(found) | _protection(view.spends[at])


def coefficients(view: CoefficientView) -> Numbers:
    """Varying coefficients: all functions together, and each."""
    unit = _unit(view.data.facts.value_unit)
    typical = [math.nan if view.is_refused else error for error in view.typical]
    found = {f"typical error, all functions{unit}":
             math.nan if view.is_refused else total(view.typical)}
    found |= {f"typical error, {name}{unit}": error
              for name, error in zip(view.names, typical, strict=True)}
    return _plain(found) | _protection(view.spends)


def summary(view: SummaryView) -> Numbers:
    """Summaries: every way, and the protection of the chosen one, which is the first."""
    found = _plain({f"typical error, {way.label}": way.typical for way in view.ways})
    chosen = view.ways[0]
    if chosen.spends:
        found |= _protection(chosen.spends)
    return found


def regression(view: RegressionView) -> Numbers:
    """Regression: the exact error where there is a truth, and the privacy noise alone."""
    unit = _unit(view.facts.value_unit)
    found = {f"typical error{unit}": math.nan if view.is_refused else view.typical,
             f"privacy noise{unit}": view.known.noise}
    return _plain(found) | _protection(view.spends)


def sparse(view: SparseView) -> Numbers:
    """Sparse regression: the distance, and which features are found."""
    found = {"typical error": view.typical,
             "features that matter": float(len(view.support)),
             "of these found, on average": float(view.found.sum()),
             "chosen in vain, on average": view.false}
    return _plain(found) | _protection(view.spends)


def sites(found: Federation) -> Numbers:
    """Sites: the three ways to use the curves, and the odds where protection is weakest."""
    unit = _unit(found.facts.value_unit)
    ways = {"together": found.together, "at one trusted centre": found.pooled,
            "best site alone": found.alone}
    out = {f"typical error {name}{unit}": _typical(way) for name, way in ways.items()}
    if found.floor is not None:
        out[f"typical error without protection{unit}"] = found.floor
    out["right guess, at most"] = found.weakest.odds.right
    out["proved ε"] = found.weakest.guarantee.epsilon
    out["proved δ"] = found.weakest.guarantee.delta
    return _plain(out)


def plan(answer: Answer, unit: str = "") -> Numbers:
    """Plan: the answer, what it lies between 99 times in 100, and the error there."""
    ends = {"answer": answer.value, "between": answer.low, "and": answer.high}
    found = {f"{name} ({answer.unknown})": math.nan if value is None else value
             for name, value in ends.items()}
    found[f"typical error there{_unit(unit)}"] = answer.reached.error
    given = answer.protection
    if given is not None:
        found |= {"right guess, at most": given.odds.right, "proved ε": given.proved.epsilon,
                  "proved δ": given.proved.delta}
    return _plain(found)


def rate(weighted: Weighted, point: Mapping[str, float]) -> Numbers:
    """Rates: the share of every term, and what doubling each symbol does."""
    shares = weighted.shares(**point)
    found = {f"share of the rate: {term.name.lower()}": share
             for term, share in zip(weighted.rate.terms, shares, strict=True)}
    found |= {f"squared error times, if {symbol.written} doubles":
              weighted.if_doubled(symbol.name, **point)
              for symbol in weighted.rate.symbols if symbol.name != "delta"}
    return _plain(found)


def _typical(way: Arrangement) -> float:
    return math.nan if way.is_refused else way.typical


def _protection(spends: Sequence[Spend]) -> Numbers:
    """What is proved for the least protected site, and the odds for one protected unit."""
    proved = max(accounting.guarantees(spends), key=lambda one: one.epsilon)
    return {"right guess, at most": risk.of_ledger(spends).right, "proved ε": proved.epsilon,
            "proved δ": proved.delta}


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""


def _plain(found: Mapping[str, float]) -> Numbers:
    return {name: float(value) for name, value in found.items()}
