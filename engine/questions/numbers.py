"""The numbers that stand on a page, by name: its code, its notebook and the command line give them.

Every function takes what the page draws, and what was asked. Errors are in response units, which
their names say; NaN where nothing would be published or nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from engine import papers
from engine.audit import Progress, Report
from engine.exhibits import Claim, Finding, Result
from engine.language import error_parts
from engine.lessons import Worked
from engine.privacy import accounting, risk
from engine.privacy.amplification import Person
from engine.questions import Numbers, Question
from engine.release.certified import Quote
from engine.types import Spend
from engine.views.coefficients import CoefficientView, total
from engine.views.coverage_lab import Batch
from engine.views.planner import Answer
from engine.views.preview import Preview, Study
from engine.views.rate_check import Check, Found, Terms
from engine.views.regression import RegressionView
from engine.views.reuse import Reuse
from engine.views.side_by_side import Refused, Way, at_equal_risk, published, step
from engine.views.sites import Federation
from engine.views.sparse import SparseView
from engine.views.summaries import SummaryView
from engine.words import audit as audit_words
from engine.words import exhibits as exhibit_words

WITHIN = "95 % of releases within"


def curves(view: Preview, asked: Question) -> Numbers:
    """Explore: one budget of the slider."""
    at = view.budgets.index(asked["budget"])
    study, unit = view.study, _unit(view.data.facts.value_unit)
    refused = view.is_refused(at)
    found = _errors(math.nan if refused else study.error[at],
                    math.nan if refused else study.within[at], unit, study.baseline)
    found |= _shares(view, study, at)
    return _plain(found) | _protection(view.spends[at], asked.person)


def _shares(view: Preview, study: Study, at: int) -> Numbers:
    """What the squared error at one budget is made of."""
    parts = zip(error_parts.parts(view.data.facts), study.shares[at], strict=True)
    return {f"share of the squared error: {name}": math.nan if view.is_refused(at) else share
            for name, share in parts}


def methods(ways: Sequence[Way | Refused], asked: Question) -> Numbers:
    """Methods: the table, by budget and method, and the errors at equal protection."""
    known = published(ways)
    found: Numbers = {}
    for epsilon in asked["epsilons"]:
        for way in known:
            found |= {f"ε = {epsilon:g}, {way.label}: {name}": value
                      for name, value in _of_way(way, step(epsilon)).items()}
    chance, errors = at_equal_risk(known)
    found |= {f"{label}: error where right guesses are {100 * chance:.0f} in 100": error
              for label, error in errors.items()}
    return _plain(found)


def _of_way(way: Way, at: int) -> Numbers:
    """One row of the table."""
    unit = _unit(way.shown.data.facts.value_unit)
    within = way.study.within[at] if math.isfinite(way.error[at]) else math.nan
    found = _errors(way.error[at], within, unit, way.study.baseline)
    return found | _shares(way.shown, way.study, at) | {
        "proved δ": way.odds[at].budget.delta, "right guess, at most": way.odds[at].right,
        "careful attacker, at most": way.odds[at].detected}


def coefficients(view: CoefficientView, asked: Question) -> Numbers:
    """Varying coefficients: all functions together, and each."""
    unit = _unit(view.data.facts.value_unit)
    errors = [math.nan if view.is_refused else error for error in view.error]
    found = {f"error, all functions{unit}": math.nan if view.is_refused else total(view.error),
             f"{WITHIN}, all functions{unit}": math.nan if view.is_refused else view.within}
    found |= {f"error, {name}{unit}": error
              for name, error in zip(view.names, errors, strict=True)}
    return _plain(found) | _protection(view.spends, asked.person)


def summary(view: SummaryView, asked: Question) -> Numbers:
    """Summaries: every way, and the protection of the chosen one, which is the first."""
    found = _plain({f"{name}, {way.label}": value for way in view.ways
                    for name, value in (("error", way.error), (WITHIN, way.within))})
    chosen = view.ways[0]
    if chosen.spends:
        found |= _protection(chosen.spends, asked.person)
    return found


def regression(view: RegressionView, asked: Question) -> Numbers:
    """Regression: the exact error where there is a truth, the privacy noise alone, and the band.

    The half-width of the confidence band is NaN where none is given.
    """
    unit = _unit(view.facts.value_unit)
    half = math.nan if view.band is None else float((view.band[1] - view.band[0]).mean() / 2)
    found = {f"error{unit}": math.nan if view.is_refused else view.error,
             f"{WITHIN}{unit}": math.nan if view.is_refused else view.within,
             f"privacy noise{unit}": view.known.noise,
             f"half-width of the 95 % confidence band, on average{unit}": half}
    return _plain(found) | _protection(view.spends, asked.person)


def sparse(view: SparseView, asked: Question) -> Numbers:
    """Sparse regression: the distance, and which features are found."""
    found = {"error": view.error, WITHIN: view.within,
             "features that matter": float(len(view.support)),
             "of these found, on average": float(view.found.sum()),
             "chosen in vain, on average": view.false,
             "releases with a warning, at most": max((share for _, share in view.warnings),
                                                     default=0.0)}
    return _plain(found) | _protection(view.spends, asked.person)


def sites(found: Federation, asked: Question) -> Numbers:
    """Sites: the three ways to use the curves, and the odds where protection is weakest."""
    unit, weakest = _unit(found.facts.value_unit), found.for_group(asked.person.units).weakest
    one = found.together.accuracy
    out = _errors(one.error, one.within, unit, found.baseline)
    out |= {f"error at one trusted centre{unit}": found.pooled.error,
            f"error of the best site alone{unit}": found.alone.error}
    out["right guess, at most"] = weakest.odds.right
    out["proved ε"] = weakest.guarantee.epsilon
    out["proved δ"] = weakest.guarantee.delta
    return _plain(out)


def plan(answer: Answer, asked: Question) -> Numbers:
    """Plan: the answer, what it lies between 99 times in 100, and the error there."""
    ends = {"answer": answer.value, "between": answer.low, "and": answer.high}
    found = {f"{name} ({answer.unknown})": math.nan if value is None else value
             for name, value in ends.items()}
    there = answer.reached
    error, within = (value if math.isfinite(value) else math.nan
                     for value in (there.error, there.within))
    found |= _errors(error, within, _unit(asked["source"].facts.value_unit), answer.baseline)
    given = answer.protection
    if given is not None:
        found |= {"right guess, at most": given.for_group(asked.person.units).odds.right,
                  "proved ε": given.proved.epsilon, "proved δ": given.proved.delta}
    return _plain(found)


def rate(terms: Terms, _: Question) -> Numbers:
    """Rates: the share of every term, what doubling each symbol does, and what was measured."""
    weighted, point = terms.weighted, terms.point
    shares = weighted.shares(**point)
    found = {f"share of the rate: {term.name.lower()}": share
             for term, share in zip(weighted.rate.terms, shares, strict=True)}
    found |= {f"squared error times, if {symbol.written} doubles":
              weighted.if_doubled(symbol.name, **point)
              for symbol in weighted.rate.symbols if symbol.name != "delta"}
    measured = {} if terms.measured is None else rate_check(terms.asked, terms.measured)
    return _plain(found) | measured


def rate_check(asked: Check, found: Found) -> Numbers:
    """Measured slopes beside those of the rate, and how many bands miss the truth."""
    out: dict[str, float] = {}
    for setting, one in zip(asked.settings, found.compared(asked), strict=True):
        if one is not None:
            name = f"{setting.mechanism.nearest_preset()[0]}, along {asked.symbol}"
            out |= {f"measured slope, {name}": one.slope, f"± (95 %), {name}": one.half_width,
                    f"slope of the rate, {name}": one.theory}
    return _plain(out) | (limits(found.limits) if found.limits is not None else {})


def coverage(found: Batch, _: Question) -> Numbers:
    """Audit: how often limits miss the truth."""
    return limits(found)


def limits(found: Batch) -> Numbers:
    """How many bands miss the truth, their coverage, and what it costs in width."""
    out: dict[str, float] = {}
    for name, bands in (("bands", found.given), ("naive bands", found.naive)):
        beside = bands.coverage
        out |= {f"{name} that miss, of {len(bands.off)}": bands.missed.sum(),
                f"coverage of {name}": beside.estimate,
                f"coverage of {name}, 95 % interval from": beside.low,
                f"coverage of {name}, 95 % interval to": beside.high}
    return _plain(out | {"as wide as naive bands, times":
                         found.given.half.mean() / found.naive.half.mean()})


def reused(found: Reuse, _: Question) -> Numbers:
    """Audit: two releases of one average, and what the formula makes of them."""
    first, second = (budget.epsilon for budget in found.budgets)
    one, other = found.noise
    return _plain({f"first release (ε = {first:g}), typically off by": one,
                   f"second release (ε = {second:g}), typically off by": other,
                   "what the formula gives, off by at most": found.largest_error})


def release(quoted: Quote, asked: Question) -> Numbers:
    """Release: what would be charged, and the odds that this allows."""
    return {"certified ε": quoted.certified.epsilon, "certified δ": quoted.certified.delta,
            "ideal ε": quoted.ideal.epsilon, "noisy numbers": float(quoted.numbers),
            **_odds(quoted.charged, asked.person)}


def lesson(worked: Worked, _: Question) -> Numbers:
    """Teach: what was to be guessed, and the table behind the picture; NaN for words."""
    unit, table = _unit(worked.guess.unit), dict(worked.picture.table)
    found = {f"{name}{unit}": value for name, value in
             zip(worked.guess.names, worked.guess.truth, strict=True)}
    across, *columns = table
    for column in columns:
        found |= {f"{column}, {across} {place}": _number(value) for place, value in
                  zip(table[across], table[column], strict=True)}
    return found


def attacks(found: Sequence[Sequence[Progress]], asked: Question) -> Numbers:
    """Audit: what was found of each claim."""
    return {f"{name}, {attack.name}": value
            for attack, steps in zip(asked["asked"], found, strict=True)
            for name, value in (("claim", steps[-1].claim), ("worst found", steps[-1].worst),
                                ("ε at least", steps[-1].bound))}


def attacks_in_lines(found: Sequence[Sequence[Progress]], asked: Question) -> str:
    """The same in words."""
    return "\n".join(audit_words.in_lines(attack.name, attack.fault, cast(Report, steps[-1]))
                     for attack, steps in zip(asked["asked"], found, strict=True))


def exhibit(result: Result, asked: Question) -> Numbers:
    """Reproduce: 1 for each claim that holds, else 0."""
    return {claim.says: float(finding.holds) for claim, finding in _findings(result, asked)}


def claims(result: Result, asked: Question) -> str:
    """The same in words."""
    return "\n".join(exhibit_words.claim(*pair) for pair in _findings(result, asked))


def _findings(result: Result, asked: Question) -> list[tuple[Claim, Finding]]:
    of = papers.find(asked["key"])[1]
    return list(zip(of.claims, of.findings(result.table), strict=True))


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return math.nan


def _errors(error: float, within: float, unit: str, baseline: float | None) -> Numbers:
    """The error, its 95 % value and the error without privacy, under the same names everywhere."""
    found = {f"error{unit}": error, f"{WITHIN}{unit}": within}
    return found if baseline is None else found | {f"error without privacy{unit}": baseline}


def _protection(spends: Sequence[Spend], who: Person) -> Numbers:
    """What is proved for the least protected site, and the odds for one person."""
    proved = max(accounting.guarantees(spends), key=lambda one: one.epsilon)
    return {"proved ε": proved.epsilon, "proved δ": proved.delta, **_odds(spends, who)}


def _odds(spends: Sequence[Spend], who: Person) -> Numbers:
    """At most how often an attacker is right about one person."""
    odds = risk.of_ledger(spends, who.units)
    found = {"right guess, at most": odds.right}
    if who.units > 1:
        found |= {f"ε of {who.units} together": odds.budget.epsilon,
                  f"δ of {who.units} together": odds.budget.delta}
    if who.sample is not None:
        found["right guess about the larger group, at most"] = who.sample.odds(
            spends, who.units).right
    return found


def _unit(unit: str) -> str:
    return f" ({unit})" if unit else ""


def _plain(found: Mapping[str, float]) -> Numbers:
    return {name: float(value) for name, value in found.items()}
