"""The tables of the panels, and what is accepted of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tests.panels.cells import Measured
from tests.panels.others import no_band

Line = tuple[str, float, str, bool]  # a measure, its value, what is accepted, and whether it is


def ordinary_table(found: Sequence[Measured]) -> str:
    rows = [
        (
            _named(each),
            f"{each.cell.effective_size:.0f}",
            share(each.covers.mean()),
            share(each.warned.mean()),
            f"{each.half_width:.3g}",
            f"{each.error:.3g}",
            f"{each.half_width / each.error:.1f}",
            share(each.error / each.forecast),
            share(each.error / each.forecast_unasked),
            share(each.error / each.plain),
        )
        for each in found
    ]
    return table(
        (
            "Setting",
            "N",
            "Covers",
            "Warned",
            "Half-width",
            "Error",
            "Half-width/error",
            "Error/forecast",
            "Without a guess",
            "Error/plain",
        ),
        rows,
    )


def failures_table(found: Sequence[Measured]) -> str:
    rows = [
        (
            _named(each),
            f"{each.cell.effective_size:.0f}",
            each.cell.told_by or "below all thresholds",
            share(each.covers.mean()),
            share(each.told),
            share(each.void.mean()),
            share(each.names_size.mean()),
        )
        for each in found
    ]
    return table(
        (
            "Setting",
            "N",
            "Told from",
            "Covers",
            "Missed and told",
            "Void",
            "Names what is not visible",
        ),
        rows,
    )


def _named(each: Measured) -> str:
    mark = "*" * each.cell.is_held_back
    return f"{mark}{each.cell.name}{mark}"


def others_table(found: Sequence[Measured]) -> str:
    rows = [
        (
            each.cell.name,
            each.cell.told_by or "–",
            "–" if each.cell.holds is no_band else share(each.covers.mean()),
            share(each.warned.mean()),
        )
        for each in found
    ]
    return table(("Setting", "Untrue", "Covers", "Warned"), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def of_ordinary(found: Sequence[Measured]) -> list[Line]:
    """What is accepted of ordinary releases."""
    warned, covers = (
        [float(getattr(each, name).mean()) for each in found] for name in ("warned", "covers")
    )
    ratios = [each.error / each.forecast for each in found]
    near = sum(0.8 <= ratio <= 1.25 for ratio in ratios)
    growth = next(
        (each for each in found if each.cell.name.startswith("growth, 9 ages, n = 1,000")), None
    )
    plain = [each.error / each.plain for each in found if each.cell.name.startswith("activity")]
    lines = [
        (
            "ordinary releases with a warning",
            np.mean(warned),
            "at most .05",
            np.mean(warned) <= 0.05,
        ),
        ("the same, worst setting", max(warned), "at most .10", max(warned) <= 0.10 + 1e-9),
        ("ordinary coverage", np.mean(covers), ".93 to .985", 0.93 <= np.mean(covers) <= 0.985),
        ("the same, worst setting", min(covers), "at least .88", min(covers) >= 0.88 - 1e-9),
        (
            "settings with error/forecast in .8 to 1.25",
            near,
            f"at least {math.ceil(len(found) * 15 / 18)}",
            near >= math.ceil(len(found) * 15 / 18),
        ),
        (
            "error/plain of activity, worst",
            max(plain, default=0.0),
            "at most 1.15",
            max(plain, default=0.0) <= 1.15,
        ),
    ]
    if growth is not None:
        lines.append(
            (
                "half-width of growth, n = 1,000, ε = 1",
                growth.half_width,
                "at most 1.5, covers ≥ .90",
                growth.half_width <= 1.5 and growth.covers.mean() >= 0.9,
            )
        )
    return [(name, float(value), accept, bool(holds)) for name, value, accept, holds in lines]


def of_failures(found: Sequence[Measured]) -> list[Line]:
    """What is accepted of releases of failing data: of those that miss, above the limits and below."""
    above, below = (
        [each for each in found if bool(each.cell.told_by) is is_above]
        for is_above in (True, False)
    )
    missed = np.concatenate([~each.covers for each in above])
    told = np.concatenate([each.warned | each.void for each in above])[missed]
    named = np.concatenate([each.names_size for each in below] or [np.ones(1)])
    return [
        (
            "missed releases above the thresholds that are told",
            float(told.mean()) if len(told) else 1.0,
            "at least .90",
            not len(told) or bool(told.mean() >= 0.9),
        ),
        (
            "releases below the thresholds that name the size",
            float(named.mean()),
            "all",
            bool(named.all()),
        ),
    ]


def of_others(alike: Sequence[Measured], failing: Sequence[Measured]) -> list[Line]:
    """What is accepted of other methods."""
    warned = float(np.mean([each.warned.mean() for each in alike]))
    untrue = [each for each in failing if each.cell.told_by]
    told = float(np.mean([each.warned.mean() for each in untrue])) if untrue else 1.0
    covers = [
        float(each.covers.mean()) for each in (*alike, *failing) if each.cell.holds is not no_band
    ]
    return [
        ("other methods: ordinary releases with a warning", warned, "at most .05", warned <= 0.05),
        (
            "other methods: releases of untrue facts that are told",
            told,
            "at least .90",
            told >= 0.9,
        ),
        (
            "other methods: coverage, worst setting",
            min(covers, default=1.0),
            "at least .88",
            min(covers, default=1.0) >= 0.88,
        ),
    ]


def accepted_table(lines: Sequence[Line]) -> str:
    return table(
        ("Measure", "Found", "Accepted", ""),
        [
            (name, f"{value:.3g}", accept, "" if holds else "**missed**")
            for name, value, accept, holds in lines
        ],
    )
