"""Results of a scenario: one JSON object, a CSV file or a table, with their origin."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine import __version__
from engine.core.bands import NORMAL
from engine.core.identity import digest
from engine.core.types import Budget
from engine.language.grammar import plain_text, safe_cell
from engine.language.numbers import at_most_percent, number
from engine.language.odds_words import delta_concern
from engine.privacy import accounting, risk
from engine.privacy.failure import Delta
from engine.simulation.experiments import KINDS, Outcome
from engine.simulation.scenario import Scenario

_NOTHING = "nothing is published"


def provenance(chosen: Scenario, executor: str) -> dict[str, Any]:
    """State the origin of the numbers, enough to make them again, and the digest that names them.

    The executor does not change them, nor does a run that was resumed.
    """
    question = (chosen.source, chosen.mechanism, chosen.budgets, chosen.run, dict(chosen.axes))
    return {
        "engine": __version__,
        "digest": digest(question),
        "seed": chosen.run.seed,
        "executor": executor,
        "scenario": chosen.plain,
    }


def as_json(outcomes: Sequence[Outcome], origin: Mapping[str, Any], seconds: float) -> str:
    """Write every cell with its place on the axes, its errors and the guarantee of every server.

    Where nothing would be published they are null, but for the error without privacy.

    `origin` is that of `provenance`.
    """
    return json.dumps(
        {"provenance": origin, "cells": [_row(o) for o in outcomes], "seconds": seconds},
        ensure_ascii=False,
    )


def _row(outcome: Outcome) -> dict[str, Any]:
    if outcome.failure:
        return {"at": outcome.cell.at, "error": outcome.failure}
    guarantee = (
        [
            {"server": s, "epsilon": b.epsilon if b.is_private else None, "delta": b.delta}
            for s, b in enumerate(outcome.guarantee)
        ]
        if outcome.is_published
        else None
    )
    return {
        "at": outcome.cell.at,
        "published": outcome.is_published,
        **_figures(outcome),
        **{_named(kind): _summary(outcome, kind) for kind in KINDS},
        "guarantee": guarantee,
        "repeats": outcome.repeats,
    }


def _summary(outcome: Outcome, kind: str) -> dict[str, float | None] | None:
    """A measure of releases; None where it is unknown, or there are none."""
    return outcome.summary(kind) if outcome.is_published else None


def _figures(outcome: Outcome) -> dict[str, float | None]:
    """Return the figures of every page: the error and what goes with it; None where unknown."""
    figures = outcome.accuracy
    right = risk.of_ledger(outcome.spends).right if outcome.is_published else None
    error, within, log_se = (
        (math.nan,) * 3 if figures is None else (figures.error, figures.within, figures.log_se)
    )
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in {
            "rms_error": error,
            "rms_error_se": error * log_se,
            "within_95": within,
            "rms_error_without_privacy": outcome.baseline,
            "attacker_accuracy": right,
        }.items()
    }


_SITES_SHOWN = 8  # whose guarantees are written; JSON has all
_FIGURES = (
    "rms_error",
    "rms_error_se",
    "within_95",
    "rms_error_without_privacy",
    "attacker_accuracy",
)


def _named(kind: str) -> str:
    """Squared errors, which theory is about, say that they are."""
    return f"squared_{kind}" if kind.endswith("error") else kind


def as_csv(outcomes: Sequence[Outcome], origin: Mapping[str, Any]) -> str:
    """Write a line for each cell; lines that begin with # give the origin, from `provenance`.

    Columns are the axes, the error as pages show it, mean and standard error of each measure, the
    budget proved for everybody, whichever the server, the repeats, and why a cell has no numbers.
    """
    out = io.StringIO()
    for name, value in origin.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        out.write(f"# {name} {text}\n")
    axes = list(outcomes[0].cell.at)
    measures = [
        *_FIGURES,
        *(f"{_named(kind)}_{figure}" for kind in KINDS for figure in ("mean", "se")),
    ]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*axes, *measures, "epsilon", "delta", "repeats", "error"])
    writer.writerows(_csv_row(outcome, axes, len(measures)) for outcome in outcomes)
    return out.getvalue()


def _csv_row(outcome: Outcome, axes: Sequence[str], n_measures: int) -> list[Any]:
    values = [outcome.cell.at[name] for name in axes]
    at = [safe_cell(value) if isinstance(value, str) else value for value in values]
    if outcome.failure:
        return [*at, *[""] * (n_measures + 3), safe_cell(outcome.failure)]
    figures = [
        *_figures(outcome).values(),
        *(
            (_summary(outcome, kind) or {}).get(figure)
            for kind in KINDS
            for figure in ("mean", "se")
        ),
    ]
    if not outcome.is_published:
        return [*at, *figures, "", "", outcome.repeats, _NOTHING]
    proved = accounting.least_guarantee(outcome.spends)
    return [*at, *figures, proved.epsilon, proved.delta, outcome.repeats, ""]


def as_table(outcomes: Sequence[Outcome], seconds: float, is_study: bool) -> str:
    """Write aligned columns for a person to read; ± is half a 95 % confidence interval.

    `is_study` if the pages show the same numbers; else the table says that they have other data
    sets.
    """
    axes = list(outcomes[0].cell.at)
    kinds = [
        kind
        for kind in KINDS
        if not kind.endswith("error") and any(_summary(outcome, kind) for outcome in outcomes)
    ]
    has_baseline = any(outcome.baseline is not None for outcome in outcomes)
    rows = [
        [
            *axes,
            "error",
            "95 % within",
            *["without privacy"] * has_baseline,
            "attacker's accuracy",
            *(kind.replace("_", " ") for kind in kinds),
            "guarantee",
        ]
    ]
    for outcome in outcomes:
        at = [f"{outcome.cell.at[name]}" for name in axes]
        rows.append(
            at
            + (
                [outcome.failure]
                if outcome.failure
                else [
                    *_written(outcome, has_baseline),
                    *(_figure(outcome, kind) for kind in kinds),
                    _guarantee_text(outcome),
                ]
            )
        )
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(len(rows[0]))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False))
        for row in rows
    ]
    repeats = max(outcome.repeats for outcome in outcomes)
    about = [f"{repeats} repeats, {seconds:.1f} s; ± is half a 95 % confidence interval"]
    if not is_study:
        about.append(
            "Data sets of this run alone; without “repeats” and “draws” it has those of "
            "the pages, and their numbers"
        )
    return "\n".join([*(line.rstrip() for line in lines), *about, *_large_delta(outcomes)])


def _large_delta(outcomes: Sequence[Outcome]) -> list[str]:
    """Warn about δ if it is large anywhere, at the cell with the largest δn."""
    proved = [
        (accounting.least_guarantee(outcome.spends), outcome.cell.source.sizes.n_curves)
        for outcome in outcomes
        if outcome.is_published
    ]
    deltas = [Delta.of(budget.delta, n) for budget, n in proved if budget.is_private]
    large = sorted(
        (delta for delta in deltas if delta.is_large),
        key=lambda delta: delta.value * delta.n_people,
    )
    if not large:
        return []
    where = f"In {len(large)} of {len(outcomes)} cells, here that with the largest δn: "
    return [where * (len(outcomes) > 1) + plain_text(delta_concern(large[-1]))]


def _written(outcome: Outcome, has_baseline: bool) -> list[str]:
    """The error with its standard error, its 95 % value, and so on, as a person reads them."""
    figures, unknown = _figures(outcome), _unknown(outcome)
    error, se, right = figures["rms_error"], figures["rms_error_se"], figures["attacker_accuracy"]
    bar = f" ± {se:.2g}" if se else ""
    within, baseline = figures["within_95"], figures["rms_error_without_privacy"]
    return [
        unknown if error is None else f"{number(error)}{bar}",
        unknown if within is None else number(within),
        *["unknown" if baseline is None else number(baseline)] * has_baseline,
        unknown if right is None else at_most_percent(right),
    ]


def _unknown(outcome: Outcome) -> str:
    """Return the text in place of a number; a dash if there is no release that it could be of."""
    return "unknown" if outcome.is_published else "–"


def _figure(outcome: Outcome, kind: str) -> str:
    summary = _summary(outcome, kind)
    if summary is None:
        return _unknown(outcome)
    se = summary["se"]
    return f"{summary['mean']:.4g}" + ("" if se is None else f" ± {NORMAL * se:.2g}")


def _guarantee_text(outcome: Outcome) -> str:
    if not outcome.is_published:
        return f"none: {_NOTHING}"
    every = outcome.guarantee
    if len(set(every)) == 1 or not all(budget.is_private for budget in every):
        return _budget_text(accounting.least_guarantee(outcome.spends))
    shown = "; ".join(_budget_text(budget) for budget in every[:_SITES_SHOWN])
    return f"by site: {shown}" + ("; …" if len(every) > _SITES_SHOWN else "")


def _budget_text(budget: Budget) -> str:
    return "none" if not budget.is_private else f"ε = {budget.epsilon:.4g}, δ = {budget.delta:g}"
