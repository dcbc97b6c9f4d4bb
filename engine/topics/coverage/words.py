"""Sentences about coverage: how often confidence bands contain the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

from engine.core.bands import NORMAL
from engine.language import numbers
from engine.simulation.agreement import COVERAGE_TOLERANCE, Agreement, AgreementVerdict
from engine.topics.coverage.answer import KINDS, REPEATS, CoverageAnswer, Limits

METHOD = (
    "Data are drawn anew in every repetition and released once. The number of bands that "
    "contain the truth is binomial, so coverage has a 95 % Clopper–Pearson interval. If "
    "it leaves out 95 %, coverage is not 95 %; if it also lies within "
    f"{100 * COVERAGE_TOLERANCE:g} points of 95 %, they agree; else there are too few "
    "repetitions to tell. Naive bands are as wide as sampling alone makes them, for the "
    "same basis functions."
)
INTRO = (
    "A 95 % confidence band must contain the truth in 95 % of all repetitions. Here the "
    "truth is known: data are drawn, released and compared with it "
    f"{REPEATS} times."
)
_DRAWN = {"point": "mean", "curve": "mean", "effect": "effect", "effects": "effects"}


def noun(kind: str) -> str:
    """Name the repeated limit: "band" if it must hold everywhere at once, else "interval"."""
    return "band" if KINDS[kind].is_joint else "interval"


def target(kind: str) -> str:
    """Name the covered quantity in a few words."""
    return f"true {_DRAWN[kind]}" if kind in _DRAWN else "true value"


def heading(kind: str) -> str:
    """Write the heading above the number of misses."""
    return f"Coverage of the {target(kind)}"


def titles(kind: str) -> tuple[str, str]:
    """Write headings above what a method publishes, and above bands as wide as sampling alone."""
    return (
        f"Published {noun(kind)}: privacy noise counted",
        f"Naive {noun(kind)}: privacy noise ignored",
    )


def what_is_covered(kind: str) -> str:
    """Say what a band of kept basis functions includes and omits; empty for other limits."""
    if kind not in _DRAWN:
        return ""
    return (
        f"The {noun(kind)} includes privacy noise, sampling variability and steep ends. It excludes "
        "**truncation bias**: details finer than the kept basis functions can draw."
    )


def legend(kind: str) -> str:
    """Explain one line of the chart."""
    lines = (
        "Each line: one repetition, at the place where its band fails or comes closest to it."
        if KINDS[kind].is_joint
        else "Each line: the interval of one repetition."
    )
    return f"{lines} Zero is the {target(kind)}; a line that does not cross it misses it."


def misses(limits: Limits, kind: str, naive: bool = False) -> str:
    """Say how many bands missed their target, the coverage with its interval, and its meaning."""
    count, n, beside = int(limits.missed.sum()), len(limits.missed), limits.coverage
    many = f"{noun(kind)}s"
    name = f"Naive {many}, which ignore privacy noise," if naive else f"The published {many}"
    low, high = _percentage(beside.low, math.floor), _percentage(beside.high, math.ceil)
    return (
        f"{name} missed the {target(kind)} in **{count} of {n}** repetitions: coverage "
        f"**{_percentage(beside.estimate, round)} %**, 95 % confidence interval {low} to "
        f"{high} %; nominal 95 %. {_judged(beside, n, naive, many)}"
    )


def _judged(beside: Agreement, n: int, naive: bool, many: str) -> str:
    if beside.verdict == AgreementVerdict.BELOW:
        return "**Coverage is too low.**"
    if beside.verdict == AgreementVerdict.ABOVE:
        return f"Coverage is above 95 %: the {many} are wider than they need to be."
    if naive:
        return (
            f"**Here {n} repetitions cannot tell them from correct {many}.** At a smaller ε, "
            "where privacy noise weighs more, they fail."
        )
    if beside.verdict == AgreementVerdict.IMPRECISE:
        return f"**Too imprecise to tell** from {n} repetitions."
    return "That agrees with the nominal 95 %."


def _percentage(share: float, rounding: Callable[[float], float]) -> str:
    return f"{rounding(round(1000 * share, 6)) / 10:g}"


def widths(answer: CoverageAnswer, kind: str) -> str:
    """Compare the cost in width of counting privacy noise with the coverage lost without it."""
    many = f"{noun(kind)}s"
    ratio = answer.times_as_wide
    if ratio < 1.005:
        return f"Here privacy noise is so small that leaving it out does not narrow the {many}."
    wider = f"{100 * (ratio - 1):.0f} % wider" if ratio < 2 else f"{numbers.times(ratio)} as wide"
    left = math.erf(NORMAL / ratio / math.sqrt(2))
    return (
        f"Counting privacy noise makes the {many} {wider}. A single 95 % interval of a normal "
        f"estimate, narrowed as much, covers the truth in **{_percentage(left, round)} %** of "
        "repetitions; many at once do so less often."
    )
