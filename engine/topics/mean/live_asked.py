"""The messages that let the live figure draw answers of releases to a question."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.answers.reply import rate_unit
from engine.core.types import Array, PublicFacts
from engine.language.numbers import named, unbroken
from engine.topics.mean.answer import MeanAnswer
from engine.topics.mean.asked import AnswerMark, AskedReleases, GroupedReleases
from engine.topics.mean.live import FURTHEST, by_budget, scales_of, tagged


def asked_payload(facts: PublicFacts, view: MeanAnswer, asked: AskedReleases) -> dict[str, Any]:
    """Collect what the browser needs to draw answers of releases at all budgets, as plain values.

    Curves are differences from the mean without protection; a release without an answer stays as it
    is.
    """
    n_draws = len(asked.marks[0])
    drawn = view.releases[:, :n_draws] - view.ordinary
    curves = np.where(np.isfinite(asked.curves), asked.curves - view.ordinary, drawn)
    payload = {
        "draws": n_draws,
        "marks": [[_mark(mark) for mark in row] for row in asked.marks],
        "curves": _three(facts.value_high - facts.value_low, *curves),
        "speed": None,
        "panel": "",
        "title": "",
    }
    if asked.speeds is not None:
        furthest = (facts.value_high - facts.value_low) / (facts.time_high - facts.time_low)
        payload |= {
            "speed": _three(furthest, *map(np.nan_to_num, asked.speeds)),
            "told": np.isfinite(asked.speeds[0]).all(axis=-1).tolist(),
            "most": FURTHEST * furthest,
            "panel": named("Velocity", rate_unit(facts, 1)),
            "title": "Velocity of the release with its 95 % confidence band.",
        }
    if asked.people is not None:
        low, high = asked.people - view.ordinary
        is_told = np.isfinite(low).all(axis=-1)
        payload |= {
            "people": _three(
                facts.value_high - facts.value_low, *map(np.nan_to_num, (low, low, high))
            ),
            "told": is_told.tolist(),
            "person": f"About 95 of 100 new {facts.people}",
        }
    return tagged(payload)


def groups_payload(facts: PublicFacts, view: MeanAnswer, groups: GroupedReleases) -> dict[str, Any]:
    """Collect what the browser needs to draw two groups and their difference; see `asked_payload`.

    The first group is in place of the release, the second beside it, the difference below.
    """
    n_draws = len(groups.texts[0])
    drawn = view.releases[:, :n_draws] - view.ordinary
    first = np.where(np.isfinite(groups.first), groups.first - view.ordinary, drawn)
    second = np.nan_to_num(groups.second - view.ordinary)
    height = facts.value_high - facts.value_low
    group, other_group = groups.names
    payload = {
        "draws": n_draws,
        "marks": [[_mark(AnswerMark(text)) for text in row] for row in groups.texts],
        "curves": _three(height, *first),
        "other": _three(height, *second),
        "names": [
            f"{name} ({size})" for name, size in zip(groups.names, groups.sizes, strict=True)
        ],
        "speed": _three(height, *map(np.nan_to_num, groups.difference)),
        "told": np.isfinite(groups.p).tolist(),
        "most": FURTHEST * height,
        "signed": True,
        "panel": named(f"{group} − {other_group}", facts.value_unit),
        "title": f"{group} less {other_group}, with its 95 % confidence band.",
    }
    return tagged(payload)


def _three(height: float, middle: Array, low: Array, high: Array) -> dict[str, Any]:
    """Encode a line with its band for every budget and release."""
    scales = scales_of(height, middle, low, high)
    return {
        "scales": scales,
        "middle": by_budget(middle, scales),
        "low": by_budget(low, scales),
        "high": by_budget(high, scales),
    }


def _mark(mark: AnswerMark) -> dict[str, Any]:
    return {
        "text": unbroken(mark.text),
        "dots": mark.dots,
        "bars": mark.bars,
        "whisker": mark.whisker,
        "level": mark.level,
        "filled": mark.is_filled,
    }
