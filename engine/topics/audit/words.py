"""Sentences of the Audit page: attacks, coverage, and noise that was used twice."""

from __future__ import annotations

import math

from engine.audit import Progress, Report
from engine.core.types import Budget
from engine.language import numbers, tags
from engine.topics.audit.answer import SECONDS, Attack

HOLDS, BROKEN = "No contradiction found", "Claim broken"
METHOD = (
    "**Worked out.** Pairs of neighbours are run with everything random held fixed; what is "
    "left of the difference, in units of the noise, is a loss in closed form. **From "
    "releases.** Many releases of the worst pair are scored by how much more likely every "
    "message is with one data set than with the other. A threshold is chosen on a fifth of "
    "them; its accuracy among the others, with a Clopper–Pearson limit, "
    "bounds μ of Gaussian noise, or how much weaker other noise is than stated, and so ε "
    "from below at 95 % confidence, as in Dong, Roth and Su (2022) and Nasr and others "
    "(2023). By hits and false alarms, each with a limit of its own, a claim is "
    "called broken at 99.98 % only. Choices are accounted by ρ; beside their ε stands the "
    "exact one of Gaussian noise with the same ρ. Beside numbers: the same calls "
    "must be made for both, noise must have its stated size and be drawn anew, and nothing "
    "but messages may reach the release."
)
INTRO = (
    "An attacker who knows everything but one record looks at what is published and says "
    "which of two data sets it came from. How often they are right gives a lower bound on "
    "the ε of the method."
)
SIMULATED = "Simulated data only: an upload is never attacked here."
LEGEND = (
    "Left: the most that any pair of neighbours loses, worked out from the noise. Right: "
    "what can be shown from releases alone, of the worst pair. Dashed: the claim."
)
STATISTIC = (
    "Two data sets that differ in one record. Above the dashed threshold the attacker names the "
    "neighbour. The outermost bars include all beyond them."
)
NO_VARIANT = "None: the mechanism as it is"
_COSTS = {"mu": "μ", "epsilon": "ε", "rho": "√(2ρ)"}


def data(attack: Attack, small: str) -> str:
    """Name the data around which neighbours are built, which may be made for the attack."""
    if attack.source is None:
        return f"Neighbours of small simulated data ({small}) that are made for the attack."
    sizes = attack.source.sizes
    people = numbers.whole(sizes.n_curves)
    return f"Neighbours of simulated data: {attack.source.label}, {people} records."


def attacked(progress: Progress) -> str:
    """Compare what the attack shows with the claim: the sentence of the card."""
    if progress.is_broken:
        return _fault(progress)
    claim = _claimed(progress)
    if not progress.bound:
        return (
            f"The worst pair loses **ε = {down(progress.worst_epsilon)}**, no more than the "
            f"claim of {claim}; releases alone show nothing here. This does not prove the "
            "claim; it failed to break it."
        )
    return (
        f"The attack shows at least **ε = {down(progress.bound)}**, no more than the claim of "
        f"{claim}. This does not prove the claim; it failed to break it."
    )


def _claimed(progress: Progress) -> str:
    """Write ε, and for a cautious ε that of Gaussian noise with the same ρ."""
    claim = _epsilon(progress.claimed_epsilon)
    if progress.unit != "rho":
        return claim
    exact = _epsilon(progress.exact_epsilon)
    return f"{claim} (with Gaussian noise of the same ρ it would be {exact})"


def _fault(progress: Progress) -> str:
    claim = _epsilon(progress.claimed_epsilon)
    if progress.bound > progress.claimed_epsilon and not progress.reason:
        return (
            f"The attack shows at least **ε = {down(progress.bound)}**, above the claim of "
            f"{claim}. The claim is false, with {100 * progress.confidence:.2f} % confidence."
        )
    if math.isfinite(progress.worst_epsilon) and progress.worst_epsilon > progress.claimed_epsilon:
        return (
            f"One pair of neighbours loses **ε = {down(progress.worst_epsilon)}**, above the "
            f"claim of {claim}. The claim is false: this is worked out, not estimated."
        )
    return f"The claim of ε = {claim} is false: {progress.reason}."


def worked_out(progress: Progress) -> str:
    """Say what is known of the worst pair with everything random held fixed."""
    pairs = numbers.whole(progress.tried)
    if progress.reason:
        return f"After {pairs} pairs: {progress.reason}."
    if math.isinf(progress.ratio):
        return f"The worst of {pairs} pairs is given away for certain."
    share = _percent(progress.ratio)
    return f"Worked out from the noise, the worst of {pairs} pairs loses **{share}** of the claim."


def tightness(report: Report) -> str:
    """Say whether the noise exceeds what the claim needs; empty if that is unknown."""
    if report.is_broken:
        return ""
    if report.ratio >= 0.95:
        return "So the noise is hardly larger than the claim needs."
    if report.ratio < 0.9:
        return "So there is more noise than these pairs ask for; the claim may be cautious."
    return ""


def shortfall(report: Report) -> str:
    """Explain why releases show much less than the claim; empty if they do not."""
    text = report.shortfall
    return f"Releases show less: {text[:1].lower()}{text[1:]}" if text else ""


def running(progress: Progress) -> str:
    """Describe the attack under its chart while it goes on."""
    pairs = numbers.whole(progress.tried)
    if not progress.runs:
        return f"{pairs} pairs of neighbours tried"
    return (
        f"{pairs} pairs tried; {numbers.whole(progress.runs)} releases of each of two data "
        "sets looked at"
    )


def caught(report: Report) -> str:
    """Say whether a planted fault was found."""
    if report.is_broken:
        return "The planted fault is caught."
    return (
        f"The attack did not catch this fault within {SECONDS:g} seconds. Try the other data "
        "or another ε: that nothing is found proves nothing."
    )


def _epsilon(value: float) -> str:
    return f"{value:.4g}"


def down(value: float) -> str:
    """Round a lower bound of ε down to three digits, so that it stays true; ∞ is "unlimited"."""
    if not 0 < value < math.inf:
        return numbers.number(value)
    return _epsilon(numbers.digits_down(value, 3))


def _percent(ratio: float) -> str:
    """Round a ratio down: a claim that is not reached is never said to be."""
    if ratio >= 10:
        return numbers.times(ratio)
    return f"{math.floor(1000 * ratio + 1e-6) / 10:g} %"


def in_lines(name: str, fault: str, report: Report) -> str:
    """Write an audit as a few plain lines for the command line.

    `fault` says what is wrong with a broken variant; empty for the mechanism as it is.
    """
    unit = _COSTS[report.unit]
    settings = f" ({report.settings})" if report.settings else ""
    lines = [
        f"{name}{settings}: {report.verdict}",
        *([f"  bug: {fault}"] if fault else []),
        f"  claim {unit} = {report.claim:.5g}, worst found {report.worst:.5g}, ratio "
        f"{report.ratio:.4f}, after {report.tried} pairs of {report.neighbours}",
    ]
    if report.runs:
        exact = (
            f" (Gaussian noise of this ρ: {report.exact_epsilon:.3g})"
            if report.unit == "rho"
            else ""
        )
        lines.append(
            f"  from releases: ε ≥ {down(report.bound)} of {report.claimed_epsilon:.3g} "
            f"claimed{exact} at δ = {report.delta:g}, with confidence "
            f"{report.confidence:.4g} ({report.runs} releases of each)"
        )
    lines += [
        f"  {text}" for text in dict.fromkeys((report.reason, report.why, report.shortfall)) if text
    ]
    return "\n".join(lines)


def claim(budget: Budget) -> str:
    """Write the claim of an attacked method, for the strip."""
    return f"Claim: {tags.budget_chip(budget)}"
