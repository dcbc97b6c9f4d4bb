"""Sentences about the checked facts of a release, from its two messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from engine.core.checks import CheckOutcome
from engine.core.types import Array, Caution, PublicFacts, SaidIn
from engine.mechanisms.families.adaptive.checked_facts import (
    MOST_FAR,
    FactsDecision,
    Window,
    decide,
    smallest_far,
)
from engine.mechanisms.families.adaptive.fits import Heard
from engine.mechanisms.families.adaptive.scales import ObservationScale

UNTRUE = (
    "Observation times are not spread as stated: about {share} of them lie between {start} "
    "and {end}, where {expected} should. The band is not valid."
)
UNEVEN = (
    "Observation times are not spread evenly: about {share} of them lie between {start} and "
    "{end}, where {expected} would. The band is not valid."
)
LEARNED = (
    "Observation times are not spread evenly: about {share} of them lie between {start} and "
    "{end}, where {expected} would. The curve allows for that."
)
PART_EMPTY = (
    "A part of the time range may have almost no observations: state when people were "
    "observed. The band is not valid."
)
CLUSTERED = "Observation times lie at a few common times: state these times. The band is not valid."
FOLLOWS = (
    "Observation times follow covariates: people who differ in these were observed at other "
    "times. The bands are not valid."
)
MOVED = (
    "About {share} of the observations lie beyond {bound}. They were moved to it: this is the "
    "mean of the moved values."
)
LEFT_OUT = (
    "At {times} only about {share} of people were observed. Observations there were left out."
)
FEW_PRESENT = "At {times} only about {share} of people were observed."
ABSENT = "At {times} only about {share} of people were observed. The band is not valid."
MOVED_PERCENTILES = (
    "About {share} of the observations lie beyond {bound}. They count as {bound}, "
    "and so does any percentile beyond it."
)
FAR_AWAY = (
    "About {share} of people are far from the others. The curve may lie too close to most "
    "people; the band is not valid."
)
UNEVEN_PEOPLE = (
    "People are not spread evenly about their mean, as stated: about {share} of those near the "
    "curve lie {side} it. The band is not valid."
)
NOT_VISIBLE = "Not visible here: {}."
FEWER_FAR = "fewer than {share} of people far from the others (beyond {distance})"
ANY_FAR = "people far from the others (beyond {distance}), however many"
SHORTER_GAP = "a gap in observation times shorter than {length} of the time range"
FAR_PEOPLE, SHORT_GAPS = "far people", "gaps"  # what a release would not show
TIMES_AND_LEVELS = "The band relies on observation times that do not depend on how high people are."


Where = tuple[int, ...]
Words = tuple[str, dict[str, str]]  # a sentence with gaps, and what fills them
Said = tuple[NDArray[np.bool_], bool, Callable[[Where], Words]]  # by which, whether it voids, how


def cautions(facts: PublicFacts, scale: ObservationScale, heard: Heard) -> Iterator[Caution]:
    """The sentences of all releases, those by which a band is not valid first."""
    releases: dict[tuple[bool, str, str], NDArray[np.bool_]] = {}
    for k in range(len(heard.questions)):
        for applies, voids, words in _said(facts, scale, heard, k):
            for repeat, draw in zip(*np.nonzero(applies), strict=True):
                kind, gaps = words((repeat, draw))
                of_text = releases.setdefault(
                    (not voids, kind, kind.format(**gaps)), np.zeros(heard.reach.shape, dtype=bool)
                )
                of_text[k, repeat, draw] = True
    for (is_valid, kind, text), applies in sorted(releases.items(), key=lambda item: item[0][0]):
        said = SaidIn.LINE if is_valid else SaidIn.HEADING
        yield Caution(text, applies, said, kind=kind)
    yield from _not_visible(facts, scale, heard)


def _said(facts: PublicFacts, scale: ObservationScale, heard: Heard, k: int) -> Iterator[Said]:
    """Yield what the messages of one plan say."""
    question = heard.questions[k]
    if question is not None:
        decision = decide(question, heard.facts[k], heard.facts_noise[k])
        if decision.window is not None:
            yield from _of_spread_times(facts, decision, decision.window, question.learns_times)
        yield from _of_common_times(facts, decision)
        yield decision.follows_covariates, True, lambda where: (FOLLOWS, {})
        yield from _of_bounds(facts, scale, decision, question.is_of_mean)
    yield heard.may_be_empty(k), True, lambda where: (PART_EMPTY, {})
    check, _ = heard.far_people(k)
    yield (
        check.has(CheckOutcome.VOID),
        True,
        lambda where: (FAR_AWAY, {"share": _share(check.measured[where])}),
    )
    yield heard.sides(k).has(CheckOutcome.VOID), True, lambda where: _of_sides(heard.side[k][where])


def _of_spread_times(
    facts: PublicFacts, decision: FactsDecision, window: Window, learns: bool
) -> Iterator[Said]:
    def departs(where: Where) -> Words:
        start, end, share, expected = (
            each[where] for each in (window.start, window.end, window.share, window.expected)
        )
        return LEARNED if learns else UNTRUE if facts.design.is_known else UNEVEN, {
            "share": _share(share),
            "expected": _share(expected),
            "start": _time(facts, start),
            "end": _time(facts, end),
        }

    yield np.asarray(decision.departs & ~decision.is_clustered), not learns, departs
    yield decision.is_clustered, True, lambda where: (CLUSTERED, {})


def _of_common_times(facts: PublicFacts, decision: FactsDecision) -> Iterator[Said]:
    times, present = facts.design.times, decision.present

    def at(marks: NDArray[np.bool_], text: str) -> Callable[[Where], Words]:
        def words(where: Where) -> Words:
            few = np.flatnonzero(marks[where])
            named = [_time(facts, times[j]) for j in few]
            listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
            return text, {"times": listed, "share": _share(float(present[where][few].max()))}

        return words

    is_read = decision.thin & ~decision.left_out & ~decision.absent
    yield np.asarray(decision.left_out.any(axis=-1)), False, at(decision.left_out, LEFT_OUT)
    yield np.asarray(decision.absent.any(axis=-1)), True, at(decision.absent, ABSENT)
    yield np.asarray(is_read.any(axis=-1)), False, at(is_read, FEW_PRESENT)


def _of_sides(excess: float) -> Words:
    return UNEVEN_PEOPLE, {
        "share": _share((1 + abs(excess)) / 2),
        "side": "above" if excess > 0 else "below",
    }


def _of_bounds(
    facts: PublicFacts, scale: ObservationScale, decision: FactsDecision, is_of_mean: bool
) -> Iterator[Said]:
    def moved(where: Where) -> Words:
        side = int(np.argmax(np.where(decision.is_moved[where], decision.beyond[where], -1.0)))
        bound = "the stated distance from the prior curve"
        if scale.is_flat:
            value = scale.middle.heights[0] + (scale.half if side else -scale.half)
            bound = f"the stated bound {_number(value)} {facts.value_unit}".rstrip()
        return MOVED if is_of_mean else MOVED_PERCENTILES, {
            "share": _share(decision.beyond[where][side]),
            "bound": bound,
        }

    yield np.asarray(decision.is_moved.any(axis=-1)), is_of_mean, moved


def _not_visible(facts: PublicFacts, scale: ObservationScale, heard: Heard) -> Iterator[Caution]:
    """Yield what messages with this noise could not show, with its size."""
    releases: dict[tuple[str, tuple[str, ...]], NDArray[np.bool_]] = {}
    for k, question in enumerate(heard.questions):
        gap = ""
        if question is not None and question.message.has_parts:
            check = decide(question, heard.facts[k], heard.facts_noise[k]).checks[0]
            gap = SHORTER_GAP.format(length=_share(check.smallest.flat[0]))
        for where in np.ndindex(heard.reach.shape[1:]):
            noise, reach = heard.far_noise[k][where], heard.reach[k][where]
            smallest = smallest_far(noise)
            sentence = FEWER_FAR if smallest < MOST_FAR else ANY_FAR
            far = (
                ""
                if not np.isfinite(noise) or not reach
                else sentence.format(
                    share=_share(smallest),
                    distance=f"{_number(2 * scale.half * reach, 2)} {facts.value_unit}".rstrip(),
                )
            )
            hidden = [(text, what) for text, what in ((far, FAR_PEOPLE), (gap, SHORT_GAPS)) if text]
            if hidden:
                texts, named = zip(*hidden, strict=True)
                releases.setdefault(
                    (NOT_VISIBLE.format("; ".join(texts)), named),
                    np.zeros(heard.reach.shape, dtype=bool),
                )[k][where] = True
    for (text, named), applies in releases.items():
        yield Caution(text, applies, SaidIn.STATED, low_power_for=named, kind=NOT_VISIBLE)


def _share(share: float | Array) -> str:
    share = min(max(float(share), 0.0), 1.0)
    return f"{100 * share:.0f} %" if share > 0.0995 else f"{100 * share:.1f} %"


def _time(facts: PublicFacts, time: float) -> str:
    return _number(float(facts.from_unit_time(np.array(time))))


def _number(value: float, digits: int = 4) -> str:
    """Written without powers of ten."""
    rounded = float(f"{value:.{digits}g}")
    return np.format_float_positional(rounded, trim="-").replace("-", "−")
