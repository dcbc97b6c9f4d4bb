"""Sentences of the page on sparse regression."""

from __future__ import annotations

import numpy as np

from engine.core.lists import counted
from engine.core.types import Budget, PublicFacts
from engine.language import numbers, tags
from engine.language.grammar import capital
from engine.language.numbers import named
from engine.simulation.agreement import Agreement, AgreementVerdict
from engine.topics.sparse.answer import Calculation, ErrorsByBudget, Reported, SparseAnswer
from engine.topics.sparse.intervals import FITS, CoverageStudy, IntervalsAnswer, Machines
from engine.topics.sparse.means import BIT, PRINTED, ROW, TRUSTED

_LIGHTS = {
    "green": "Noise is far below the coefficients: the right features are found.",
    "amber": "Noise is close to the coefficients: some features will be missed or made up.",
    "red": "Noise is above the coefficients: what is published says little about the features.",
}


def accuracy(answer: SparseAnswer) -> str:
    """State the error of a release, beside that of a method without protection."""
    target = "the true ones" if answer.truth is not None else "those without privacy"
    errors = [answer.error]
    if answer.baseline is not None and answer.lasso is not None:
        errors += [answer.baseline, answer.distance(answer.lasso)]
    typical, *rest = numbers.together(errors)
    text = (
        f"The error of all {answer.sizes.n_covariates} published coefficients together is "
        f"**{typical}**: root mean squared distance from {target}. In 95 % of releases the "
        f"distance is at most {numbers.number(answer.within)}."
    )
    if rest:
        text += f" Without privacy: {rest[0]}; the lasso: {rest[1]}."
    return text


def legend(answer: SparseAnswer) -> str:
    """Explain the dots, and say which features are shown."""
    first = "those that matter" if answer.truth is not None else "those chosen without privacy"
    return (
        "Dots: 20 equally likely releases of the same rows; a feature that is not chosen has "
        f"no dot. Shown are {first}, then others that a release chose."
    )


def distance(answer: SparseAnswer) -> str:
    """Name the reference of errors."""
    target = "the true coefficients" if answer.truth is not None else "those without privacy"
    return f"Euclidean distance from {target}, the same rows at every budget."


def units(facts: PublicFacts, has_centre: bool) -> str:
    """Explain a coefficient of one's own rows, and its reference."""
    centre = (
        "their means, which a part of the budget tells, so that no constant is missing"
        if has_centre
        else "the middle of their stated ranges; there is no constant beside them"
    )
    response = named(f"“{facts.value_name}”", facts.value_unit)
    return (
        f"A coefficient is what {response} gains when a feature rises by one "
        "standard deviation, as you stated it. Features and response are measured from "
        f"{centre}."
    )


def support(answer: SparseAnswer) -> str:
    """Say which features are found."""
    sure = int((answer.selection_rates > 0.99).sum())
    number = numbers.number(answer.false, 2)
    description, none, others = ("that matter", "one that does not", f"{number} are made up")
    if answer.truth is None:
        description, none, others = (
            "chosen without privacy",
            "another",
            f"{number} others are chosen",
        )
    text = f"**{sure} of {len(answer.support)}** features {description} are in every release"
    return (
        f"{text}, and hardly ever {none}."
        if answer.false < 0.05
        else (f"{text}; on average {others}.")
    )


def held_back(answer: SparseAnswer) -> str:
    """Say how many rows are clipped; empty if none is or that is unknown."""
    if not answer.held_back:
        return ""
    return (
        f"{numbers.number(100 * answer.held_back, 2)} % of these simulated rows lie beyond a "
        "clip and are drawn back to it. A wider clip changes fewer, and needs more noise."
    )


def warned(text: str, share: float) -> str:
    """Write a warning with the share of drawn releases that carry it; 1 for all."""
    return text if share == 1 else f"{text} ({100 * share:.0f} % of the releases drawn here.)"


def light(calculation: Calculation) -> str:
    """State the verdict before any row is looked at: from sizes, budget and constants alone."""
    return (
        f"{_LIGHTS[calculation.light]} The largest of all noises is about "
        f"**{numbers.number(calculation.ratio, 2)} times** the smallest coefficient that "
        "matters."
    )


def noise(calculation: Calculation) -> str:
    """Explain the noise from sizes, budget and constants alone."""
    published = (
        " and in every published value"
        if calculation.values == calculation.choice
        else f", and of size {numbers.number(calculation.values)} in every published value"
    )
    return (
        f"One row moves what is averaged by at most {numbers.number(calculation.sensitivity)}. "
        f"Noise of size {numbers.number(calculation.choice)} hides this where features are "
        f"chosen{published}."
    )


def over_budgets(lines: ErrorsByBudget) -> str:
    """Say what a larger budget gains, and where it stops.

    The first method of `lines` is the one on screen.
    """
    first = next(iter(lines.private))
    private, best = lines.private[first], min(lines.ordinary.values(), default=0.0)
    half = numbers.times(float(private[1] / private[2]))
    text = f"From ε = 0.5 to 1 the error falls {half}."
    close = [e for e, error in zip(lines.epsilons, private, strict=True) if error < 1.5 * best]
    if close:
        text += f" From ε = {close[0]:g} on, privacy costs less than half of the error."
    return text


def intervals(answer: IntervalsAnswer) -> str:
    """State width and coverage of the intervals."""
    if answer.is_refused:
        return ""
    kind = (
        "95 % confidence intervals, each for its own coefficient."
        if answer.kind == "pointwise"
        else "A simultaneous 95 % confidence band: it covers all coefficients together."
    )
    text = (
        f"{kind} On average they are **{numbers.number(answer.length)}** wide, "
        f"{numbers.times(answer.length / answer.without_length)} as wide as without "
        "protection."
    )
    if answer.missed is None:
        return text
    count = int(np.isfinite(answer.low).sum())
    return f"{text} Here **{answer.missed} of {count}** miss the true coefficient."


def tests_of_zero(answer: IntervalsAnswer) -> str:
    """Explain how intervals and p-values test coefficients for zero, and what is not corrected."""
    if answer.is_refused:
        return ""
    count = int(np.isfinite(answer.low).sum())
    drawn = "" if answer.truth is None else ", drawn as they are,"
    if answer.p_values is None:
        return (
            f"Intervals that{drawn} exclude zero say that their coefficient is not zero. At "
            "most 5 % of releases are wrong in any of them, privacy noise included."
        )
    text = (
        "Is a coefficient zero? Its p-value is in *Details*, under *Numbers*. It "
        "includes privacy noise as well as sampling variability, and is below 0.05 where "
        f"intervals{drawn} exclude zero."
    )
    return (
        text
        if count == 1
        else (
            f"{text} It does not correct for looking at {count} features: if none mattered, 5 % "
            "would still be below 0.05. For one answer about all, choose *All of them together*."
        )
    )


def coverage(study: CoverageStudy, kind: str) -> str:
    """State the coverage, and that of naive intervals."""
    if study.refused == 1:
        return f"In all of {study.repeats} fresh data sets confidence intervals were refused."
    if study.refused:
        return (
            f"In {100 * study.refused:.0f} % of {study.repeats} fresh data sets confidence "
            f"intervals were refused. {_covered(study, kind)}"
        )
    return _covered(study, kind)


def _covered(study: CoverageStudy, kind: str) -> str:
    """Compare coverage of intervals or of the band with 95 % and with that of naive ones."""
    stated, naive = study.beside(kind)
    family = "intervals" if kind == "pointwise" else "the band for all coefficients"
    of_nonzero = (
        f", of coefficients that matter {100 * study.of_nonzero:.1f} %"
        if kind == "pointwise"
        else ""
    )
    at_once = (
        f" All of them at once: {100 * study.joint:.0f} %, which is not what they are for."
        if kind == "pointwise"
        else ""
    )
    return (
        f"Over {study.repeats} fresh data sets, coverage of {family} is {_coverage(stated)}"
        f"{of_nonzero}; nominal 95 %. {_JUDGED[stated.verdict]}{at_once} Without counting the "
        f"privacy noise it would be {_coverage(naive)}."
    )


_JUDGED = {
    AgreementVerdict.AGREES: "That agrees.",
    AgreementVerdict.BELOW: "**That is too low.**",
    AgreementVerdict.ABOVE: "That is more than needed.",
    AgreementVerdict.IMPRECISE: "That is too imprecise to tell.",
}


def _coverage(beside: Agreement) -> str:
    """Write a coverage: **94.8 %** (± 0.9, 95 %)."""
    return f"**{100 * beside.estimate:.1f} %** (± {100 * beside.half_width:.1f}, 95 %)"


def machines(comparison: Machines) -> str:
    """State the gain of a shared part if machines differ."""
    two, local, pooled = (comparison.typical[FITS[fit]] for fit in ("two_stage", "local", "pooled"))
    text = f"Two stages are off by **{numbers.number(two)}**."
    for label, other in (("each machine alone", local), ("taking machines for alike", pooled)):
        text += (
            f" {capital(label)} has {numbers.times(other / two)} the error."
            if other > two
            else f" {capital(label)} has a smaller one: {numbers.number(other)}."
        )
    return text


def trust(errors: dict[str, float], rates: dict[str, float]) -> str:
    """State the value of a trusted server at the middle sizes, and which of `rates` is no bound."""
    gain = numbers.times(errors[ROW] / errors[TRUSTED])
    text = (
        f"A trusted server has a **{gain} smaller** error than noisy averages that hide a row, "
        f"and those {numbers.times(errors[BIT] / errors[ROW])} smaller one than one bit that "
        "hides a whole machine."
    )
    text += (
        " **Approximate and pure DP differ:** with the trusted server ε may be exceeded with "
        "probability δ, without trust never. At equal ε, compare the attacker’s accuracy."
    )
    if errors[ROW] < rates[PRINTED]:
        text += (
            " The bound printed for hiding a row lies above what is achieved here: it holds "
            "for hiding a machine."
        )
    return text


def paper(rows: list[Reported]) -> str:
    """Explain why the published tables are no targets."""
    base = next(row for row in rows if (row.row["n"], row.row["m"]) == (4000, 15))
    return (
        f"**The stated noise cannot have produced these numbers.** At the base point, ε = "
        f"{base.row['eps']:g}, the printed constants mean noise of size "
        f"{numbers.number(base.published.choice)} beside coefficients of "
        f"{numbers.number(base.row['s_star'] ** -0.5)}; reported is a squared error of "
        f"{base.row['err']:g}. What they would spend is ε = "
        f"{numbers.number(base.published.epsilon)}. Our constants need "
        f"{numbers.times(base.published.choice / base.tight.choice)} less noise and still come "
        f"out {base.tight.light} at these sizes."
    )


PAPER_BANDS = (
    "Bands around all coefficients, as published. At ε = 0.8 their lengths are those of bands "
    "without privacy, .079 at the base point, and they jump at smaller ε in a way that noise in "
    "proportion to 1/ε does not. The reported coverage is an average over coefficients, not the "
    "chance that the whole band holds."
)


def budget_line(budget: Budget, machines: int) -> str:
    """Write the budget line of the strip."""
    return f"{counted(machines, 'machine')}, {tags.budget_chip(budget)}"
