"""The live figure of a decision: a slider of ε, and whether each step meets the target.

Its releases are those of the simulated study. A decision about numbers or several functions has no
curve to draw, and no figure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.types import Array, PublicFacts
from engine.language import odds_words
from engine.language.grammar import capital, plain_text
from engine.language.numbers import in_unit, percent_up, stated
from engine.topics.decision import words
from engine.topics.decision.answer import SHARES, Bands, Decision
from engine.topics.mean import live
from engine.topics.mean.answer import EPSILON_STEPS


def figure_payload(answer: Decision, bands: Bands) -> dict[str, Any]:
    """Collect everything the browser needs to draw all steps, as plain values."""
    profile = answer.profile
    distance = profile.distance(SHARES[answer.confidence])
    records = max((option.odds.group for _, option in answer.options), default=1)
    options = [profile.option(step, records) for step in range(len(EPSILON_STEPS))]
    shares = [percent_up(option.odds.right).replace("more than", ">") for option in options]
    facts, is_told = _axes(answer, bands), np.isfinite(distance)
    within = [in_unit(far, profile.unit) if np.isfinite(far) else "" for far in distance]
    low, high = (_drawn(bands.limits[:, end], bands.truth, is_told) for end in (0, 1))
    releases = _drawn(bands.printed[:, 1], bands.truth, is_told)[:, None]
    target = stated(answer.target, profile.unit)
    return live.tagged(
        {
            "title": plain_text(words.memo_title(profile)),
            "epsilons": [f"{epsilon:g}" for epsilon in EPSILON_STEPS],
            "n": profile.n_people,
            "attacker": [share if share[0] == ">" else f"≤ {share}" for share in shares],
            "bound": [option.odds.right for option in options],
            "weak": [epsilon >= odds_words.WEAK_FROM for epsilon in EPSILON_STEPS],
            "notes": [
                _note(epsilon, far <= answer.target, said, target, answer.confidence)
                for epsilon, far, said in zip(EPSILON_STEPS, distance, within, strict=True)
            ],
            "errors": [
                [
                    said or "–",
                    f"(target: {target})",
                    f"within {said}" if said else "nothing published",
                ]
                for said in within
            ],
            "refused": [
                None if told else ["Nothing would be published.", "Move the slider to the right."]
                for told in is_told
            ],
            **live.axes(facts),
            **live.lines(facts, bands.times, bands.truth, releases, (low, high)),
            "words": live.figure_words(facts, profile.n_people)
            | live.words_without_people("true curve", "one release")
            | {
                "error": f"{words.CONFIDENCES[answer.confidence]} releases within",
                "panel": "Difference from the true curve. Shaded: 95 % of releases. The axis "
                "reaches {limit}.",
            },
            "colours": live.COLOURS,
            "source": "Simulated: a plan, not a guarantee",
            "downloads": True,
        }
    )


def _axes(answer: Decision, bands: Bands) -> PublicFacts:
    """Return names and ranges of both axes; values without the unit of the data have their own."""
    profile = answer.profile
    facts, drawn = profile.facts, bands.truth
    low, high = facts.value_low, facts.value_high
    if not profile.task.has_value_unit:
        low, high = float(min(0.0, drawn.min())), float(1.5 * drawn.max())
    return PublicFacts(
        name=facts.name,
        person=facts.person,
        people=facts.people,
        value_name=capital(facts.value_name) if profile.unit else profile.task.label,
        value_unit=profile.unit,
        value_low=low,
        value_high=high,
        time_name=facts.time_name,
        time_unit=facts.time_unit,
        time_low=float(bands.times[0]),
        time_high=float(bands.times[-1]),
    )


def _drawn(values: Array, truth: Array, is_told: Array) -> Array:
    """Return curves (steps, points); where nothing would be published, what the noise would do.

    Noise grows as 1/ε from the lowest step that publishes.
    """
    if not is_told.any():
        return np.broadcast_to(truth, values.shape)
    lowest = int(np.argmax(is_told))
    growth = EPSILON_STEPS[lowest] / np.array(EPSILON_STEPS)[:, None]
    would_be = truth + growth * (values[lowest] - truth)
    return np.where(is_told[:, None], values, would_be)


def _note(epsilon: float, is_met: bool, within: str, target: str, confidence: str) -> str:
    if not within:
        return ""
    verb = "meets" if is_met else "misses"
    return (
        f"ε = {epsilon:g} {verb} the target of {target}: {words.CONFIDENCES[confidence]} simulated "
        f"releases are within {within} of the truth."
    )
