"""Sentences of the page on sparse regression."""

from __future__ import annotations

import numpy as np

from engine.agreement import Agreement, Verdict
from engine.language import numbers, tags
from engine.language.grammar import capital
from engine.sources.table_words import counted
from engine.types import Budget, PublicFacts
from engine.views.sparse import Calculation, Lines, Reported, SparseView
from engine.views.sparse_intervals import FITS, CoverageStudy, IntervalView, Machines
from engine.views.sparse_means import BIT, PRINTED, ROW, TRUSTED

TITLE = "Which few features matter, and what does protecting every row cost?"
LEAD = ("Of many features a few matter for an outcome. Which ones, and by how much, is published "
        "with noise that protects every row.")
_LIGHTS = {
    "green": "Noise is far below the coefficients: the right features are found.",
    "amber": "Noise is close to the coefficients: some features will be missed or made up.",
    "red": "Noise is above the coefficients: what is published says little about the features."}


def accuracy(view: SparseView) -> str:
    """How far off a release is, beside what needs no protection."""
    target = "the true ones" if view.truth is not None else "those without protection"
    others = () if view.lasso is None else (view.without, view.lasso)
    typical, *rest = numbers.together([view.error, *(view.distance(one) for one in others)])
    text = (f"The published coefficients are **± {typical}** from {target}, all "
            f"{view.sizes.n_covariates} together (root mean squared distance; in 95 % of releases "
            f"below {numbers.number(view.within)}).")
    if rest:
        text += f" Without protection: {rest[0]}; the lasso: {rest[1]}."
    return text


def legend(view: SparseView) -> str:
    """What the dots are, and which features are shown."""
    first = ("those that matter" if view.truth is not None else
             "those chosen without protection")
    return ("Dots: 20 equally likely releases of the same rows; a feature that is not chosen has "
            f"no dot. Shown are {first}, then others that a release chose.")


def distance(view: SparseView) -> str:
    """What errors are distances from."""
    target = "the true coefficients" if view.truth is not None else "those without protection"
    return f"Euclidean distance from {target}, the same rows at every budget."


def units(facts: PublicFacts) -> str:
    """What a coefficient of one's own rows means, and what it is measured from."""
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    return (f"A coefficient is what “{facts.value_name}”{unit} gains when a feature rises by one "
            "standard deviation, as you stated it. Features and response are measured from the "
            "middle of their stated ranges; there is no constant beside them.")


def support(view: SparseView) -> str:
    """Which features are found."""
    sure = int((view.found > 0.99).sum())
    number = numbers.number(view.false, 2)
    which, none, others = ("that matter", "one that does not", f"{number} are made up")
    if view.truth is None:
        which, none, others = "chosen without protection", "another", f"{number} others are chosen"
    text = f"**{sure} of {len(view.support)}** features {which} are in every release"
    return f"{text}, and hardly ever {none}." if view.false < 0.05 else (
        f"{text}; on average {others}.")


def held_back(view: SparseView) -> str:
    """How many rows are clipped; empty where it is not known, or none is."""
    if not view.held_back:
        return ""
    return (f"{numbers.number(100 * view.held_back, 2)} % of these simulated rows lie beyond a "
            "clip and are drawn back to it. A wider clip changes fewer, and needs more noise.")


def warned(text: str, share: float) -> str:
    """A warning that goes with releases, and how many of those that are drawn have it."""
    return text if share == 1 else f"{text} ({100 * share:.0f} % of the releases drawn here.)"


def light(found: Calculation) -> str:
    """The verdict before any row is looked at."""
    return (f"{_LIGHTS[found.light]} The largest of all noises is about "
            f"**{numbers.number(found.ratio, 2)} times** the smallest coefficient that matters.")


def noise(found: Calculation) -> str:
    """Where the noise comes from."""
    return (f"One row moves what is averaged by at most {numbers.number(found.sensitivity)}. "
            f"Noise of size {numbers.number(found.choice)} hides this where features are chosen"
            + (" and in every published value." if found.values == found.choice else
               f", and of size {numbers.number(found.values)} in every published value."))


def over_budgets(lines: Lines) -> str:
    """What a larger budget buys, and where it stops."""
    first = next(iter(lines.private))
    own, best = lines.private[first], min(lines.without.values(), default=0.0)
    half = numbers.times(float(own[1] / own[2]))
    text = f"From ε = 0.5 to 1 the error falls {half}."
    close = [e for e, error in zip(lines.epsilons, own, strict=True) if error < 1.5 * best]
    if close:
        text += f" From ε = {close[0]:g} on, privacy costs less than half of the error."
    return text


def intervals(view: IntervalView) -> str:
    """How wide the limits are, and what they promise."""
    if view.is_refused:
        return ""
    what = ("95 % confidence intervals, each for its own coefficient." if view.kind == "pointwise"
            else "A simultaneous 95 % confidence band: it covers all coefficients together.")
    text = (f"{what} On average they are **{numbers.number(view.length)}** wide, "
            f"{numbers.times(view.length / view.without_length)} as wide as without protection.")
    if view.missed is None:
        return text
    count = int(np.isfinite(view.low).sum())
    return f"{text} Here **{view.missed} of {count}** miss the truth."


def tests_of_zero(view: IntervalView) -> str:
    """How limits and p-values say whether coefficients are zero, and what they do not correct."""
    if view.is_refused:
        return ""
    count = int(np.isfinite(view.low).sum())
    drawn = "" if view.truth is None else ", drawn as they are,"
    if view.p_values is None:
        return (f"Limits that{drawn} leave out zero say that their coefficient is not zero. In at "
                "most 5 of 100 cases any of them is wrong in this; privacy noise is counted.")
    text = ("Is a coefficient zero? Its p-value stands with the numbers at the end of the page. It "
            "counts privacy noise as well as chance in the rows, and is below 0.05 where limits"
            f"{drawn} leave out zero.")
    return text if count == 1 else (
        f"{text} It does not correct for looking at {count} features: if none mattered, 5 in 100 "
        "would still be below 0.05. For one answer about all, choose *All of them together*.")


def coverage(found: CoverageStudy, kind: str) -> str:
    """How often limits held what they should, and how often naive ones would have."""
    if found.refused == 1:
        return f"In all of {found.repeats} fresh data sets confidence intervals were refused."
    if found.refused:
        return (f"In {100 * found.refused:.0f} % of {found.repeats} fresh data sets confidence "
                f"intervals were refused. {_covered(found, kind)}")
    return _covered(found, kind)


def _covered(found: CoverageStudy, kind: str) -> str:
    """Coverage of intervals or of the band, beside 95 % and beside that of naive ones."""
    stated, naive = found.beside(kind)
    what = "intervals" if kind == "pointwise" else "the band for all coefficients"
    of_nonzero = (f", of coefficients that matter {100 * found.of_nonzero:.1f} %"
                  if kind == "pointwise" else "")
    at_once = (f" All of them at once: {100 * found.joint:.0f} %, which is not what they are for."
               if kind == "pointwise" else "")
    return (f"Over {found.repeats} fresh data sets, coverage of {what} is {_coverage(stated)}"
            f"{of_nonzero}; nominal 95 %. {_JUDGED[stated.verdict]}{at_once} Without counting the "
            f"privacy noise it would be {_coverage(naive)}.")


_JUDGED = {Verdict.AGREES: "That agrees.", Verdict.BELOW: "**That is too low.**",
           Verdict.ABOVE: "That is more than needed.",
           Verdict.IMPRECISE: "That is too imprecise to tell."}


def _coverage(beside: Agreement) -> str:
    """**94.8 %** (± 0.9, 95 %)."""
    return f"**{100 * beside.estimate:.1f} %** (± {100 * beside.half_width:.1f}, 95 %)"


def machines(found: Machines) -> str:
    """What sharing a part buys when machines differ."""
    typical = {label: float(np.sqrt((errors**2).mean())) for label, errors in found.errors.items()}
    two, local, pooled = (typical[FITS[fit]] for fit in ("two_stage", "local", "pooled"))
    text = f"Two stages are off by **{numbers.number(two)}**."
    for label, other in (("each machine alone", local), ("taking machines for alike", pooled)):
        text += (f" {capital(label)} errs {numbers.times(other / two)} as much."
                 if other > two else f" {capital(label)} errs less: "
                 f"{numbers.number(other)}.")
    return text


def trust(at: dict[str, float], rates: dict[str, float]) -> str:
    """What a trusted server is worth at the sizes in the middle, and which bound is none."""
    gain = numbers.times(at[ROW] / at[TRUSTED])
    text = (f"A trusted server errs **{gain} less** than noisy averages that hide a row, and those "
            f"{numbers.times(at[BIT] / at[ROW])} less than one bit that hides a whole machine.")
    text += (" **Two kinds of promise:** with the trusted server the limit may fail with chance δ, "
             "without trust it never fails, so equal ε is not equal protection.")
    if at[ROW] < rates[PRINTED]:
        text += (" The bound printed for hiding a row lies above what is achieved here: it holds "
                 "for hiding a machine.")
    return text


def paper(rows: list[Reported]) -> str:
    """Why the published tables are no targets."""
    base = next(row for row in rows if (row.row["n"], row.row["m"]) == (4000, 15))
    return (f"**The stated noise cannot have produced these numbers.** At the base point, ε = "
            f"{base.row['eps']:g}, the printed constants mean noise of size "
            f"{numbers.number(base.published.choice)} beside coefficients of "
            f"{numbers.number(base.row['s_star'] ** -0.5)}; reported is a squared error of "
            f"{base.row['err']:g}. What they would spend is ε = "
            f"{numbers.number(base.published.epsilon)}. Our constants need "
            f"{numbers.times(base.published.choice / base.tight.choice)} less noise and still come "
            f"out {base.tight.light} at these sizes.")


PAPER_BANDS = (
    "Bands around all coefficients, as published. At ε = 0.8 their lengths are those of bands "
    "without protection, .079 at the base point, and they jump at smaller ε in a way that noise in "
    "proportion to 1/ε does not. The reported coverage is an average over coefficients, not the "
    "chance that the whole band holds.")


def budget_line(budget: Budget, machines: int) -> str:
    """What stands in the strip."""
    return f"{counted(machines, 'machine')}, {tags.budget_chip(budget)}"
