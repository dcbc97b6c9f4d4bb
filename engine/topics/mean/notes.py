"""A mean curve in words: its finding, numbered notes on its figure, and its methods as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.types import Array, PublicFacts
from engine.language import quality
from engine.language.grammar import escape, uncapital
from engine.language.numbers import in_unit, together, with_unit
from engine.language.numbers import number as written
from engine.privacy import risk
from engine.topics.better import Better
from engine.topics.brief import Brief
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.methods import Tile

_WIDE = 1.3  # width of a band at an end, in widths at its middle, that is worth a note
_FEW = 16  # basis functions beyond which what they leave out is too short to be seen


@dataclass(frozen=True)
class Note:
    """A sentence about one place of the figure."""

    x: float
    y: float
    text: str  # Markdown


def finding(brief: Brief, best: Better | None = None) -> str:
    """State the largest part of the error, or the error itself, and the change that helps most."""
    if not math.isfinite(brief.error):
        return f"Nothing would be released at ε = {brief.budget.epsilon:g}"
    error = with_unit(written(brief.error), brief.error_unit)
    said = brief.cause_in_words or f"The forecast error is {error} at ε = {brief.budget.epsilon:g}"
    if best is None:
        return said
    to = with_unit(together((best.gain.now, best.gain.then))[1], brief.error_unit)
    return f"{said}: {uncapital(best.do)} to reach {to}"


def notes(answer: MeanAnswer, budget: int) -> list[Note]:
    """Write what a reader of one release and its band should know, each at its place."""
    band, facts, times = answer.band, answer.facts, answer.times
    if band is None or answer.is_refused(budget):
        return []
    low, high = band.low[budget, 0], band.high[budget, 0]
    width, last = high - low, len(times) - 1
    found = []
    end = 0 if width[0] >= width[last] else last
    if width[end] > _WIDE * np.median(width):
        near = round(0.97 * last) if end else round(0.03 * last)
        half = in_unit(float(width[end]) / 2, facts.value_unit)
        ends = f"{uncapital(facts.time_name)} {float(times[end]):g}"
        found.append(_note(answer, near, high, f"The band is widest at {ends}: ± {half}."))
    every = (
        "the whole true curve"
        if band.kind == "simultaneous"
        else f"the true value at each {uncapital(facts.time_name)} taken alone"
    )
    condition = f" if {facts.people} vary symmetrically" if facts.symmetric else ""
    found.append(
        _note(
            answer,
            round(0.45 * last),
            low,
            f"The band should include {every} in 95 % of releases{condition}.",
        )
    )
    functions = band.n_functions[budget]
    if 0 < functions <= _FEW:
        found.append(
            _note(
                answer,
                round(0.8 * last),
                high,
                quality.few_functions(functions)
                or f"{functions} basis functions smooth finer detail away.",
            )
        )
    return found


def _note(answer: MeanAnswer, at: int, edge: Array, text: str) -> Note:
    x, y = (float(f"{value:.5g}") for value in (answer.times[at], edge[at]))
    return Note(x, y, escape(text))


def methods_table(
    found: Mapping[Tile, MeanAnswer | str], epsilon: float, facts: PublicFacts, group: int = 1
) -> dict[str, list[Any]]:
    """Put errors, noise and the attacker's accuracy of methods side by side, least error first.

    A method that refuses, or would publish nothing at this ε, comes last and has no numbers.
    """
    rows = sorted(
        (_row(tile, answer, epsilon, group) for tile, answer in found.items()),
        key=lambda row: math.inf if row[1] is None else row[1],
    )
    unit = f" ({facts.value_unit})" if facts.value_unit else ""
    heads = ("Method", f"Error{unit}", "95 % within", "Noise", "Attacker, at most", "ε up to 10")
    return {head: list(column) for head, column in zip(heads, zip(*rows, strict=True), strict=True)}


def _row(tile: Tile, answer: MeanAnswer | str, epsilon: float, group: int) -> tuple[Any, ...]:
    if isinstance(answer, str):
        return (tile.label, None, None, None, None, [])
    here = [budget.epsilon for budget in answer.budgets].index(epsilon)
    errors = np.where(answer.published, answer.study.error, np.nan).tolist()
    drawn = [math.log10(error) for error in errors if math.isfinite(error) and error > 0]
    if not answer.published[here]:
        return (tile.label, None, None, None, None, drawn)
    study = answer.study
    return (
        tile.label,
        float(f"{errors[here]:.3g}"),
        float(f"{float(study.within[here]):.3g}"),
        round(100 * float(study.shares[here][0])),
        math.ceil(round(100 * risk.of_ledger(answer.spends[here], group).right, 6)),
        drawn,
    )
