"""Changes that make a smaller budget enough, or a target reachable at all."""

from __future__ import annotations

import math

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import PublicFacts
from engine.language.grammar import escape
from engine.language.numbers import with_unit
from engine.sources.twin import Twin
from engine.topics.better import Better, Change, Gain, Quantity, statements
from engine.topics.decision.answer import Decision, Profile, decision, reachable
from engine.topics.decision.words import CONFIDENCES, WHO, site_noun


def changes(profile: Profile, stated: PublicFacts) -> list[Change]:
    """List what could be stated, and who could add the noise.

    `stated` are the facts of the data on screen, whose twin is studied.
    """
    return [*_shares(profile), *_statements(profile, stated)]


def epsilon_after(profile: Profile | InputError, answer: Decision) -> float:
    """Find the smallest ε that reaches the target of an answer in another study; NaN if none."""
    if isinstance(profile, InputError):
        return math.nan
    chosen = decision(profile, answer.target, answer.confidence).chosen
    return math.nan if chosen is None else chosen.budget.epsilon


def less(answer: Decision) -> tuple[Better, ...]:
    """List the smallest concessions that make a missed target reachable."""
    if answer.chosen is not None:
        return ()
    return tuple(
        Better(
            f"Ask for {CONFIDENCES[confidence]} releases"
            if confidence != answer.confidence
            else f"Allow {with_unit(f'{target:g}', escape(answer.profile.unit))}",
            Gain(Quantity.BUDGET, math.nan, epsilon),
            {"target": target, "confidence": confidence},
        )
        for target, confidence, epsilon in reachable(
            answer.profile, answer.target, answer.confidence
        )
    )


def _shares(profile: Profile) -> list[Change]:
    """Let sites add shares of the noise, if they add all of theirs."""
    can_share = (
        profile.noise is NoisePlace.SITES
        and len(profile.rows) > 2
        and profile.study.mechanism.sends_sums
    )
    if not can_share:
        return []
    label = WHO[NoisePlace.SUMS].format(site=site_noun(profile.facts)[0])
    return [Change(label.replace(" adds ", " should add "), {"noise": str(NoisePlace.SUMS)})]


def _statements(profile: Profile, stated: PublicFacts) -> list[Change]:
    """State more of a file whose mean is studied: a twin of the facts after it."""
    if profile.task is not MEAN_FUNCTION:
        return []
    sizes = profile.study.source.sizes
    return [
        Change(change.do, {"source": Twin.of(facts, sizes)}, change.only_if)
        for change in statements(stated)
        if isinstance(facts := change.apply["facts"], PublicFacts)
    ]
