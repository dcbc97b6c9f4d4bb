"""Sentences about rates: what limits the error, what doubling buys, when privacy is free."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from engine.core.types import PublicFacts
from engine.language.grammar import capital, uncapital
from engine.language.numbers import change, in_unit, number, small, whole
from engine.mechanisms import Mechanism
from engine.rates import Rate
from engine.rates.differing_sites import DifferingSites, Weights
from engine.rates.fitted import FittedRate, Weighted
from engine.rates.univariate_mean import LOST, largest_exponent
from engine.simulation.agreement import AgreementVerdict
from engine.topics.rates.answer import Comparison, MeasuredError
from engine.topics.rates.by_trust import TrustCheck, TrustLine

_TUNED = {
    "truncation": "basis functions kept",
    "resolution": "basis functions kept",
    "level": "level L",
    "coordinates": "numbers that each machine sends",
    "h": "bandwidth h",
    "eta": "η",
    "psi": "ψ",
    "psi_low": "ψ at least",
    "psi_high": "ψ at most",
    "M_low": "M at least",
    "M_high": "M at most",
}
_EQUAL = 1e-6  # terms whose shares differ by less are the same
_NO_GAP = 1.01  # factors closer to one are none
UNKNOWN_SHARE = (
    "Up to which ε privacy weighs is not in a rate, whose constants are dropped: it "
    "follows from a measured error."
)

UNKNOWN_CONSTANTS = (
    "Which term is largest, and what doubling a size would buy, depends on constants that theory "
    "drops and that nothing fits to these data. *Estimate* shows what was measured."
)


def ruling(weighted: Weighted, point: Mapping[str, float]) -> str:
    """Name the largest term, and its lead."""
    shares = weighted.shares(**point)
    largest_share = float(shares.max())
    names = [
        term.name.lower()
        for term, share in zip(weighted.rate.terms, shares, strict=True)
        if share >= largest_share * (1 - _EQUAL)
    ]
    if len(names) > 1:
        return (
            f"Largest terms of the rate: **{' and '.join(names)}**, "
            f"{100 * largest_share:.0f} % each."
        )
    return f"Largest term of the rate: **{names[0]}**, {100 * largest_share:.0f} % of it."


def value(weighted: Weighted, point: Mapping[str, float], facts: PublicFacts) -> str:
    """State the error itself, for a rate whose constants are known."""
    error = math.sqrt(float(weighted.total(**point)))
    return (
        f"Root mean squared error of these coefficients: at least "
        f"**{in_unit(error, facts.value_unit)}**."
    )


def doubled_lines(weighted: Weighted, point: Mapping[str, float]) -> str:
    """List by how much the rate of the error changes if each size is doubled."""
    lines = ["By theory, doubled sizes change the error:", ""]
    for symbol in weighted.rate.symbols:
        if symbol.name != "delta" and symbol.name in point:
            by_rate = change(math.sqrt(weighted.if_doubled(symbol.name, **point)) - 1)
            lines.append(f"- {symbol.label} ({symbol.written}): {by_rate}")
    return "\n".join(lines)


def conditions(
    weighted: Weighted, point: Mapping[str, float], people: Sequence[int] = ()
) -> list[str]:
    """State what the theorems ask for, and whether it holds here with constant one.

    `people` are those on each site of a scenario, where the rate is about sites that differ.
    """
    full = weighted.rate.at(**point)
    if people:
        full["people"] = np.array(people, dtype=float)
    lines = []
    for condition in weighted.rate.conditions:
        limit = float(condition.limit(full))
        holds = "holds" if bool(condition.holds(full)) else "does not hold"
        written = next(
            (s.written for s in weighted.rate.symbols if s.name == condition.symbol),
            condition.symbol,
        )
        if limit > 0 and np.isfinite(limit):
            most = "from" if condition.is_floor else "up to"
            is_ours = condition.value is not None
            here = f" ({_size(float(condition.asked(full)))} here)" if is_ours else ""
            ends = " on" if condition.is_floor else ""
            lines.append(
                f"{capital(condition.name)}: asks for {written} {most} {_size(limit)}{ends}{here}; "
                f"with constants one it **{holds}** here."
            )
        else:  # it hangs on the parameters alone
            lines.append(
                f"{capital(condition.name)}: with these parameters it **{holds}**, "
                f"whatever {written} is."
            )
    return lines


def tuning(weighted: Weighted, point: Mapping[str, float]) -> str:
    """State the tuning that attains the rate, constants dropped."""
    parameters = weighted.rate.tuning(**point)
    return " · ".join(
        f"{_TUNED.get(name, name.replace('_', ' '))} ≈ {float(value):.3g}"
        for name, value in parameters.items()
    )


def fitted(fit: FittedRate, is_twin: bool = False) -> str:
    """Describe a fitted rate beside errors: its method, the data and range of the fit, its misfit.

    `is_twin`: fitted to curves simulated from stated facts, beside one's own.
    """
    return (
        f"{_fit(fit, is_twin)} These errors are within a factor of "
        f"{number(1 + fit.largest_deviation)} of it.{_lower_bound(fit)}"
    )


def fitted_to_squares(fits: Mapping[str, FittedRate]) -> str:
    """State fits of one rate to squared errors; factors are the squares of those of errors."""
    first, *others = fits.values()
    factors = {name: number((1 + fit.largest_deviation) ** 2) for name, fit in fits.items()}
    of_each = [f"{factor} ({uncapital(name)})" for name, factor in factors.items()]
    off = " and ".join(of_each if others else factors.values())
    return (
        f"{_fit(first)} These squared errors are within a factor of {off} of it."
        f"{_lower_bound(first)}"
    )


def _fit(fit: FittedRate, is_twin: bool = False) -> str:
    constants = (
        "Two constants, of privacy and of all else, were"
        if fit.is_two_constants
        else "One constant was"
    )
    to = (
        "errors of curves simulated from your sizes and stated facts"
        if is_twin
        else "simulated errors"
    )
    over = ", ".join(
        f"{_written(fit.weighted.rate, name)} = {low:g} to {high:g}"
        for name, (low, high) in fit.ranges.items()
    )
    return (
        f"Dotted: the rate of {_theorem(fit.weighted.rate)}. {constants} fitted to "
        f"{to} over {over}: a fit, not a bound."
    )


def _lower_bound(fit: FittedRate) -> str:
    """Explain the fainter line, if there is one."""
    if not fit.weighted.rate.has_differing_sites:
        return ""
    return " Fainter: the lower bound for sites that differ, with the same constants."


def limits_by_fit(fit: FittedRate, point: Mapping[str, float], epsilon: float) -> str:
    """State the regime at the budget on screen, and the gap between the bounds if sites differ."""
    here = {**point, "epsilon": epsilon}
    ruling_term = fit.weighted.rate.terms[int(fit.weighted.dominant(**here))]
    text = f"Regime by the fitted rate at ε = {epsilon:g}: **{ruling_term.name.lower()}**."
    between = gap(fit.weighted.rate, here)
    return f"{text} {between}" if between else text


def gap(rate: Rate, point: Mapping[str, float]) -> str:
    """State the gap between upper and lower bound, and its reason; empty if they match."""
    both = rate.gap(**point)
    if both is None:
        return ""
    here, largest = (float(factor) for factor in both)
    if here < _NO_GAP:
        return (
            "Upper and lower bound match here up to constants: observations are sparse for "
            "every site, or dense for every site."
        )
    return (
        f"Upper and lower bound differ by a factor of **{number(here, 2)}** here (with these "
        f"basis functions at most {number(largest, 2)}). For sites limited by people the "
        "observations are dense, for those limited by privacy still sparse, and the lower "
        "bound takes all for one or the other. Which one is sharp is open; the authors expect "
        "the upper one."
    )


_TOGETHER = {
    Weights.BEST: "Together the sites have the harmonic mean of their errors alone, over the number "
    "of sites: **one good site is enough, and no site makes it worse**.",
    Weights.ALIKE: "With equal weights the sites have the mean of their errors alone, over the "
    "number of sites: **one bad site is enough to spoil it**.",
    Weights.PEOPLE: "Weights by people leave out budgets: **a large site with little budget spoils "
    "it**.",
}


def together(sites: DifferingSites) -> str:
    """State what the sites attain together, beside the best and the worst of them alone."""
    alone = sites.alone().max(axis=0)
    size = sites.size()
    whole = float(sites.d**2 * size**2 / sites.by_term(size).sum(axis=0))
    return (
        f"{_TOGETHER[sites.weights]} Variances here: {number(whole, 2)} together, "
        f"{number(float(alone.min()), 2)} at the best site alone and "
        f"{number(float(alone.max()), 2)} at the worst."
    )


def lost(rate: Rate, point: Mapping[str, float]) -> str:
    """Explain S in e^(−Sε²) for people who trust nobody; empty for other rates."""
    if [term.name for term in rate.terms] != [LOST]:
        return ""
    s, epsilon, n = (point[name] for name in ("S", "epsilon", "n"))
    enough = float(largest_exponent(np.asarray(n))) / epsilon**2
    text = (
        f"e^(−Sε²) is {number(math.exp(-s * epsilon**2), 2)} here: the chance that the votes "
        "of S people do not show where the mean is. Twice as many people square it; more "
        "numbers for each person do not change it."
    )
    if not enough:
        return text
    return (
        f"{text} From about S = {number(enough, 2)} on it is below 1/(Snε²), and noise limits "
        "the error instead."
    )


def _written(rate: Rate, name: str) -> str:
    return next(symbol.written for symbol in rate.symbols if symbol.name == name)


def _theorem(rate: Rate) -> str:
    """Name authors, year and theorem, without the number of the paper."""
    return ", ".join(part for part in rate.reference.split(", ") if not part.startswith("arXiv"))


PROVED = "the method that the rate is proved for"
YOURS = "your method"


def whose(mechanism: Mechanism, of: Rate) -> str:
    """Say how a method relates to a rate; empty if that is clear."""
    proved = of.attained_by()
    return "" if proved is None else PROVED if mechanism == proved else YOURS


def verdict(comparison: Comparison | None, symbol: str, is_proved: bool = True) -> str:
    """State the measured slope with its 95 % interval, that of the rate, and the conclusion."""
    if comparison is None:
        return "Too few points to draw a line through."
    beside = comparison.agreement
    text = (
        f"Measured slope in {symbol}: **{_signed(beside.estimate)} ± {beside.half_width:.2f}** "
        f"(95 %); the rate’s is **{_signed(beside.target)}**. "
    )
    if beside.verdict == AgreementVerdict.AGREES:
        return text + "They agree: the error behaves as the theory says."
    if beside.verdict == AgreementVerdict.IMPRECISE:
        return text + (
            f"**Too imprecise to tell:** the interval from {_signed(beside.low)} to "
            f"{_signed(beside.high)} contains the rate’s slope and others far from it."
        )
    if beside.verdict == AgreementVerdict.ABOVE:
        return text + (
            "The error falls more slowly than the rate: something else, such as a floor "
            "of smoothing or chance, still weighs at these sizes."
        )
    if is_proved:
        return text + (
            "The error falls faster than the rate: at these sizes lower-order terms still weigh."
        )
    return text + (
        "The error falls faster. That contradicts nothing: a rate is about large sizes "
        "and the hardest curves, and what a method loses at small sizes shrinks, too."
    )


def smaller(
    errors: Sequence[MeasuredError], others: Sequence[MeasuredError], here: float, symbol: str
) -> str:
    """State the ratio of two methods' squared errors, at the nearest value."""
    pairs = [
        (first, second)
        for first, second in zip(errors, others, strict=False)
        if min(first.mean, second.mean) > 0
    ]
    if not pairs:
        return ""
    first, second = min(pairs, key=lambda pair: abs(math.log(pair[0].value / here)))
    ratio = second.mean / first.mean
    size, word = (ratio, "smaller") if ratio >= 1 else (1 / ratio, "larger")
    return (
        f"At {symbol} = {number(first.value)} its squared error is {number(size, 2)} times "
        f"{word} than that of the other."
    )


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _size(value: float) -> str:
    return small(value) if value < 0.001 else number(value, 2)


def trust_sizes(check: TrustCheck) -> str:
    """State the simulated data and the methods of a measurement under every kind of trust."""
    facts, sizes, source = check.facts, check.sizes, check.example.source
    people = source.sizes.n_curves
    methods = " and ".join(
        dict.fromkeys(
            f"*{uncapital(kind.mechanism.nearest_preset()[0])}*"
            for kind in check.kinds
            if kind.mechanism is not None
        )
    )
    at = "" if check.symbol == "epsilon" else f", at ε = {check.example.epsilon:g}"
    held = (
        "people stay where they are"
        if check.moves_observations
        else ("CDP pools them, FDP leaves them at their sites, and LDP gives everybody a device")
    )
    return (
        f"Simulated: *{facts.name}*, {whole(people)} {facts.people} at {sizes['S']:.0f} sites{at}, "
        f"by {methods}; {held}."
    )


def trust_reading(lines: Sequence[TrustLine]) -> str:
    """Explain points, lines and marks, and the kinds of trust without points."""
    missing = dict.fromkeys(line.kind.missing for line in lines if line.kind.missing)
    return " ".join(
        (
            "Bars: 95 % intervals. Lines: rates with constants fitted to the points of each; solid "
            "where privacy is the largest term, dotted where it is not. ◇: the largest term "
            "changes. No point: nothing would be published, or more devices than are simulated. "
            "Local slopes, at both ends, stand where terms or logarithms bend a rate.",
            *missing,
        )
    )


def trust_slopes(lines: Sequence[TrustLine], symbol: str) -> dict[str, list[str]]:
    """List slopes in a symbol, measured and of the rate; local ones where the rate bends."""
    rows = [
        (
            capital(line.kind.trust.label),
            f"{_signed(line.slope[0])} ± {line.slope[1]:.2f}",
            _signed(line.theory),
            _from_to(line.ends) if line.is_bent else "",
            _from_to(line.local) if line.is_bent else "",
        )
        for line in lines
        if line.slope is not None
    ]
    names = (
        "Who is trusted",
        f"Slope in {symbol}, measured (95 %)",
        "Slope of the rate",
        "Local slopes, measured",
        "Local slopes of the rate",
    )
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _from_to(ends: tuple[float, float]) -> str:
    first, last = map(_signed, ends)
    return f"from {first} to {last}"
