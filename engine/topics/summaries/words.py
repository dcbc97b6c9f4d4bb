"""Sentences of the page on whole functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.tasks import TASKS
from engine.core.types import Budget
from engine.language.grammar import conjunction, uncapital
from engine.language.numbers import in_unit, number, small, times
from engine.mechanisms import Mechanism
from engine.mechanisms.iclp import THEOREM_8_EXCESS, Iclp
from engine.topics.summaries.answer import (
    Components,
    MethodResult,
    Spectrum,
    SummariesAnswer,
    WorstCurves,
)
from engine.topics.summaries.feasible_smoothness import GridSweep, PrintedDensity

PARTS = ("privacy noise", "sampling variability", "smoothing and clipping")


def guarantee(result: MethodResult) -> str:
    """State the guarantee of one method in a line."""
    budget = result.guarantee
    if math.isinf(budget.epsilon):
        return "no protection: chosen on the data"
    failing = "δ = 0" if budget.is_pure else f"δ = {small(budget.delta)}"
    return f"ε = {budget.epsilon:.3g}, {failing}"


def off(results: Sequence[MethodResult]) -> dict[str, str]:
    """State by label the error of each method that can publish anything."""
    known = {result.label: result.error for result in results if result.errors is not None}
    return {label: number(error) for label, error in known.items()}


def compared(answer: SummariesAnswer) -> str:
    """Say which method comes closest, and how far behind the next one is."""
    known = sorted(
        (result for result in answer.results if result.errors is not None),
        key=lambda result: result.error,
    )
    if not known:
        return "None of the ways can publish anything at this budget."
    unit = unit_of(answer)
    target = "the true function" if answer.baseline is not None else "the non-private estimate"
    best = known[0]
    text = (
        f"**{best.label}** comes closest: error **"
        f"{in_unit(best.error, unit)}** from {target}, 95 % of releases within "
        f"{number(best.within)}."
    )
    if len(known) > 1:
        ratio = known[1].error / best.error
        behind = "practically as close" if ratio < 1.05 else f"{times(ratio)} as far"
        text += f" Next is {uncapital(known[1].label)}, {behind}."
    if answer.baseline:
        ordinary = in_unit(answer.baseline, unit)
        text += f" Without privacy it would be {ordinary}."
    return text


def unit_of(answer: SummariesAnswer) -> str:
    """Name the unit of an error, if it has one."""
    has_unit = TASKS[answer.task].has_value_unit and not answer.is_surface
    return answer.facts.value_unit if has_unit else ""


def not_comparable(results: Sequence[MethodResult]) -> str:
    """Warn if guarantees of different kinds stand side by side."""
    approximate = [
        result.label for result in results if result.spends and not result.guarantee.is_pure
    ]
    if not approximate or len(approximate) == len(results):
        return ""
    return (
        f"**Pure and approximate DP differ.** With {conjunction(approximate)}, ε may be "
        "exceeded with probability δ. At equal ε, compare the attacker’s accuracy."
    )


def largest(result: MethodResult) -> str:
    """Name the largest part of one method's squared error; empty if unknown."""
    if result.parts is None:
        return ""
    k = int(result.parts.argmax())
    return f"{result.label}: {100 * result.parts[k]:.0f} % of the squared error is {PARTS[k]}."


def clipped_share(answer: SummariesAnswer) -> str:
    """Say how many simulated curves change before averaging; empty if none."""
    if not answer.clipped_share:
        return ""
    return (
        f"{max(100 * answer.clipped_share, 1):.0f} % of these simulated curves exceed the "
        "largest size (τ) and are clipped to it. A larger size changes fewer, and needs more "
        "noise."
    )


def components(variances: Components, k: int) -> str:
    """State a component's share of the variance, in releases and without privacy.

    `k` counts components from 0.
    """
    middle = float(np.median(variances.shares[:, k]))
    return (
        f"{100 * middle:.0f} % of the released variance; {100 * variances.share[k]:.0f} % "
        "without privacy"
    )


def removed(variances: Components) -> str:
    """State the effect of setting negative eigenvalues to zero."""
    if variances.removed < 0.005:
        return "Almost nothing of the release was negative: it is a covariance nearly as it stands."
    return (
        f"**{100 * variances.removed:.0f} %** of what noise left, by size, was negative and "
        "has been set to zero: a covariance has no negative part. It costs no budget."
    )


ICLP_PAPER = "Lin and Reimherr (2023)"
# Noise of every kind of constants: in the legend, and what it is.
NOISES = {
    "tight": ("Tight", "the exact sensitivity"),
    "published": ("Published", "the bound as printed"),
    "optimal": ("Optimal", "the exact sensitivity, and the shape with the least noise in total"),
}


def noises(spectra: Spectrum) -> str:
    """Explain the lines that are drawn."""
    return (
        " ".join(
            f"{name}: {what}." for kind, (name, what) in NOISES.items() if kind in spectra.scales
        )
        + " Switch under *All settings*."
    )


def spectrum(spectra: Spectrum) -> str:
    """State the cost of the noise's shape."""
    tight, best = spectra.energy.get("tight"), spectra.energy.get("optimal")
    text = (
        "The same protection can be had with noise of different shapes."
        if np.ptp(spectra.filter) == 0
        else "Noise costs most where it falls on coefficients that the filter keeps in full, and is "
        "wasted where the filter keeps little."
    )
    if tight and best and best < 0.995 * tight:
        text += (
            f" With the best shape the typical noise is **{number(best)}** instead of "
            f"{number(tight)}, at the same protection."
        )
    elif tight and best:
        text += f" Here the shape in use is as good as the best: {number(tight)}."
    published = spectra.energy.get("published")
    if published and tight and published > 1.005 * tight:
        text += (
            f" The published bound would ask for {number(published)}: "
            f"{times(published / tight)} the noise for nothing."
        )
    return text


def worst(pair: WorstCurves, budget: Budget) -> str:
    """Say which exchange of curves shows most, and its cost."""
    return (
        "If one person’s curve were this one, and were exchanged for its mirror image, the "
        f"release would change most. It costs **ε = {number(pair.epsilon, 4)}** of "
        f"the {budget.epsilon:g} that are stated; no other pair costs more."
    )


def aim(loss: str, two_classes: bool) -> str:
    """Name the target of a loss if it is not the known function."""
    if loss == "hinge":
        return (
            "**The hinge aims at the sign only**: above zero is one class, below zero the "
            "other. Heights are compared with the estimate without privacy."
        )
    if (loss == "logistic") == two_classes:
        return ""
    return "**This loss does not suit these values.** " + (
        "They tell two classes apart: choose logistic or hinge."
        if two_classes
        else "They are numbers: choose Huber or square, unless only above or below the middle counts."
    )


def by_grid(sweep: GridSweep) -> str:
    """Say whether the sensitivity settles on finer grids."""
    if sweep.is_finite:
        return (
            "The sensitivity settles as the grid gets finer: the release exists without a "
            f"grid, because η is above {number(sweep.min_power)}."
        )
    grown = sweep.sensitivity[-1] / sweep.sensitivity[0]
    return (
        f"**The sensitivity grows without end as the grid gets finer** ({times(grown)} "
        f"from {sweep.sizes[0]} to {sweep.sizes[-1]} points): only the grid makes a release "
        f"possible. Take η above {number(sweep.min_power)}, or a smoother kernel."
    )


def printed_density(density: PrintedDensity, budget: Budget) -> str:
    """State the budget that the printed bound for densities would spend."""
    spent = number(density.ratio * budget.epsilon)
    if density.ratio <= 1:
        return (
            f"The bound printed in Theorem 16 of {ICLP_PAPER} holds here: it would spend ε = "
            f"{spent}."
        )
    return (
        f"The bound printed in Theorem 16 of {ICLP_PAPER} is **smaller than what two records "
        f"can change**: it would spend ε = {spent} where {budget.epsilon:g} is stated. It is "
        "refused."
    )


def printed(mechanism: Mechanism, budget: Budget) -> str:
    """State the budget that the printed scale of Theorem 8 would spend; empty for other noise."""
    if not isinstance(mechanism, Iclp):
        return ""
    return (
        f"The scale printed in Theorem 8 of {ICLP_PAPER} is smaller by √2: it would spend "
        f"ε = {number(THEOREM_8_EXCESS * budget.epsilon)} where {budget.epsilon:g} is "
        "stated. It is never used here."
    )
