"""Sentences of the page on survival and other counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.bands import ROUNDED_NORMAL
from engine.core.tasks import DISTRIBUTION, INCIDENCE, ROC, SURVIVAL
from engine.core.types import Budget
from engine.language import counts
from engine.language.grammar import capital, uncapital
from engine.language.numbers import in_unit, number, percent, two_digits_up, whole
from engine.mechanisms.noisy_counts import WEAK_LABELS
from engine.topics.counting.answer import CountingAnswer, CountingStudy, Power

PURE = "This method needs no δ: the guarantee is the stronger one with δ = 0."
MEANING = {
    SURVIVAL.key: "The share of people to whom nothing has happened yet. People whose observation "
    "ends earlier are **censored**: until then they count among those at risk.",
    INCIDENCE.key: "The share of people to whom each cause has happened first. Together with those "
    "to whom nothing has happened they are everybody.",
    DISTRIBUTION.key: "The share of people whose value is at most so large.",
    ROC.key: "Each point is a threshold of the score: how many with the label are above it, "
    "against how many without.",
}


def refused(answer: CountingAnswer) -> tuple[str, str]:
    """Write heading and sentence for a refused release, with what would change it."""
    verdict, people = answer.verdict, answer.facts.people
    needed = whole(two_digits_up(verdict.curves_needed(answer.people)))
    epsilon = number(two_digits_up(verdict.epsilon_needed(answer.budget)))
    return (
        f"Too few {people} for ε = {answer.budget.epsilon:g}: nothing would be published.",
        f"Noise alone would move the curve by {number(verdict.noise)}, so no budget is spent. "
        f"It takes about {needed} {people}, or ε = {epsilon}.",
    )


def finding(answer: CountingAnswer) -> str:
    """Say what the first release shows, as the title of its picture."""
    unit, people = answer.facts.time_unit, answer.facts.people
    if answer.roc is not None:
        half = float(answer.roc.half_width)
        return f"Area under the curve {number(float(answer.roc.area))} ± {number(half)}"
    curve, of_first = answer.curves[0], f" in {answer.names[0]}" if answer.has_groups else ""
    if curve.median is not None and math.isfinite(float(curve.median.time)):
        return f"Half are event-free after {in_unit(float(curve.median.time), unit)}{of_first}"
    if not answer.estimand.is_followed:
        value = float(np.interp(0.5, answer.releases[0, 0], answer.times))
        return f"Half of the {people} are below {in_unit(value, unit)}"
    last = float(curve.last)
    if last <= curve.edges[0]:
        return (
            "Too many are censored at once to show a curve"
            if curve.is_ended_by_censoring
            else f"Too few {people} are left to show a curve"
        )
    share = percent(float(np.interp(last, answer.times, answer.releases[0, 0])))
    what = "event-free" if answer.estimand.falls else f"with {uncapital(answer.names[0])}"
    return f"{share} {what} by {counts.at_edge(last, curve, unit)}{of_first}"


def band(answer: CountingAnswer) -> str:
    """Explain the band, and say where it ends."""
    if not answer.curves:
        return ""
    text = (
        "Shaded steps: 95 % confidence band, which covers the whole true curve in 95 % of studies."
    )
    if answer.estimand.is_followed:
        text += " " + counts.independence(answer.curves, answer.facts)
    return " ".join(
        filter(
            None,
            (
                text,
                counts.begins_late(answer.curves, answer.facts),
                counts.too_few(answer.curves, answer.facts),
                counts.censoring(answer.curves, answer.facts),
            ),
        )
    )


def parts_of_error(answer: CountingAnswer) -> tuple[float, float] | None:
    """Split the squared error into noise and sampling variability; None without a known truth."""
    if answer.is_refused or answer.baseline is None or answer.error <= 0:
        return None
    noise = max(0.0, 1 - (answer.baseline / answer.error) ** 2)
    return noise, 1 - noise


def noise_share(answer: CountingAnswer) -> str:
    """State the noise's share of the squared error, from the two errors beside it.

    For real people there is no known truth, and so no error without privacy. There it is the
    noise's share of the variance in the release itself, on average over its edges.
    """
    known = parts_of_error(answer)
    if known is not None:
        return f"**{percent(known[0])} of the squared error is noise**, the rest is sampling variability."
    of_curves = [curve.noise_share[curve.drawn] for curve in answer.curves]
    shares = np.concatenate(of_curves) if of_curves else np.empty(0)
    if answer.roc is not None:
        shares = np.array([float(answer.roc.noise_share)])
    if not len(shares):
        return ""
    return (
        f"By this release **{percent(float(shares.mean()))} of its variance is noise**, the "
        "rest is sampling variability."
    )


def counted(answer: CountingAnswer) -> str:
    """Describe the released counts in one sentence."""
    table = answer.table
    if table is None:
        return ""
    cells = table.cells.size * table.cells.n_groups
    noise = number(ROUNDED_NORMAL * math.sqrt(table.noise_variance))
    if table.entries is not None:
        entered = table.entries.cells.size * table.cells.n_groups
        more = number(ROUNDED_NORMAL * math.sqrt(table.entries.noise_variance))
        return (
            f"Each person is in one of {cells} cells by exit and in one of {entered} by entry. "
            f"Each count gets random noise: about ± {noise} people by exit and ± {more} by entry "
            "(95 %). All else follows from the noised counts."
        )
    if table.is_of_visits:
        return (
            f"Each person is in one of {cells} cells: the last visit without the event, and the "
            f"first with it. Each count gets random noise of about ± {noise} people (95 %). All "
            "else follows from the noised counts."
        )
    return (
        f"Each person is in one of {cells} cells: when, and how. Each count gets random noise "
        f"of about ± {noise} people (95 %). All else follows from the noised counts."
    )


def read_off(answer: CountingAnswer) -> str:
    """Read off median and restricted mean of survival curves, or the area under an ROC curve."""
    unit = answer.facts.time_unit
    rows = [
        (name, " ".join(filter(None, (counts.median(curve, unit), counts.mean(curve, unit)))))
        for name, curve in zip(answer.names, answer.curves, strict=bool(answer.curves))
    ]
    readings = [f"{name}: {text}" if name else text for name, text in rows if text]
    return "  \n".join(filter(None, [*readings, _area(answer)]))


def at_risk(answer: CountingAnswer) -> str:
    """State the uncertainty of the numbers at risk."""
    widths = [
        float(curve.at_risk_width.max()) for curve in answer.curves if len(curve.at_risk_width)
    ]
    if not widths:
        return ""
    return (
        f"Numbers at risk are estimates from noised counts, within ± {whole(max(widths))} (95 %)."
    )


def test(answer: CountingAnswer) -> str:
    if answer.test is None:
        return _contrasts(answer)
    p, share = float(answer.test.p_value), float(answer.test.noise_share)
    text = (
        f"Private log-rank test: **p {_p(p)}** (z = {number(float(answer.test.statistic))}). "
        f"{capital(percent(share))} of the variance of this test is noise. "
        f"{counts.allowed(answer.test, answer.facts)}"
    ).rstrip()
    if answer.hazard_ratio is not None:
        text += " " + counts.hazard_ratio(answer.hazard_ratio, *answer.facts.groups)
    text = f"{text} {_contrasts(answer)}".rstrip()
    if answer.ordinary_test is not None:
        text += (
            f" The ordinary test of the same {answer.facts.people}: p "
            f"{_p(answer.ordinary_test[1])}."
        )
    return text


def _contrasts(answer: CountingAnswer) -> str:
    if answer.contrasts is None:
        return ""
    return counts.contrasts(answer.contrasts, answer.curves[0], answer.names, answer.facts)


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {number(p, 2)}"


def _area(answer: CountingAnswer) -> str:
    if answer.roc is None:
        return ""
    text = (
        f"Area under the curve: **{number(float(answer.roc.area))}** ± "
        f"{number(float(answer.roc.half_width))}. {counts.order_in_bins(answer.roc)}"
    )
    if bool(answer.roc.is_weak):
        text += f" **{WEAK_LABELS}**"
    return text.rstrip()


def study(coverage: CountingStudy) -> str:
    """State the coverage of bands and the rejection rate of tests."""
    text = (
        f"In {coverage.repeats} simulated data sets the band covers the whole true curve in "
        f"**{percent(coverage.simultaneous)}**, and the interval of a single time in "
        f"{percent(coverage.pointwise)} (standard error {percent(coverage.error)})."
    )
    if math.isfinite(coverage.rejected):
        text += (
            f" The private log-rank test rejects in **{percent(coverage.rejected)}**, the "
            f"ordinary one in {percent(coverage.rejected_without)}."
        )
    return text


def power(planned: Power, budget: Budget) -> str:
    """Say how many people a test needs, with and without noise."""
    private, ordinary = planned.needed(), planned.needed(is_private=False)
    target = percent(planned.target)
    if not math.isfinite(private):
        return (
            f"At ε = {budget.epsilon:g} even {whole(planned.people[-1])} people do not give "
            f"the private test a power of {target}."
        )
    return (
        f"For a power of {target} the private test needs about "
        f"**{whole(two_digits_up(private))} people** at ε = {budget.epsilon:g}, the ordinary "
        f"one {whole(two_digits_up(ordinary))}."
    )


def people_for(planned: Power) -> str:
    """Say how many people the private test needs, as the title of a picture."""
    needed = planned.needed()
    if not np.isfinite(needed):
        return f"{percent(planned.target)} power takes over {whole(planned.people[-1])} people"
    return f"{percent(planned.target)} power takes {whole(two_digits_up(needed))} people"


def off(answer: CountingAnswer) -> str:
    """State the error of releases, beside that of the ordinary curve."""
    target = "true" if answer.truth is not None else "non-private"
    curves = "curve" if len(answer.names) == 1 else f"curves, all {len(answer.names)} together"
    text = (
        f"The error is **{number(answer.error)}** as a share of people: root mean squared "
        f"distance from the {target} {curves}. In 95 % of releases the distance is at most "
        f"{number(answer.within)}."
    )
    if answer.baseline is not None:
        text += f" Without privacy the error is {number(answer.baseline)}."
    return text


def table(answer: CountingAnswer) -> dict[str, list[Any]]:
    """Tabulate the released counts: interval, kind, and the count with its noise."""
    noised = answer.table
    assert noised is not None
    return counts.count_columns(noised, answer.facts)


def entries(answer: CountingAnswer) -> dict[str, list[Any]]:
    """Tabulate the released entries; empty where nobody enters late."""
    noised = answer.table
    if noised is None or noised.entries is None:
        return {}
    return counts.entry_columns(noised.entries, answer.facts)
