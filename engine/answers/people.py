"""Prediction interval for a new person at one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.reply import Verdict, refused, when, with_unit, written
from engine.answers.spread import NORMAL_PEOPLE, PERSON_FROM, next_person, refusal_of_spread
from engine.core.registry import param

_POINTS = 41  # at which whole curves are looked at
_WHOLE = (
    "The next person: 95 of 100 new people have their whole curve within {factor:.2f} times "
    "the half-width of this range, around the mean curve."
)


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class NextPersonAt(CurveQuestion):
    """The range in which about 95 of 100 new people would lie at one time."""

    key, label, order = "next_person", "The next person", 160

    time: float | None = param(
        None, "Time", "In the unit of times. Empty: the middle.", low=-1e12, high=1e12
    )
    about: str = param(
        "curve",
        "Of",
        "Their curve, or one observation with its error.",
        choices=("curve", "observation"),
    )

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        reason = refusal_of_spread(curve, PERSON_FROM)
        if reason:
            return refused(reason)
        facts = curve.facts
        times = np.append(np.linspace(0.0, 1.0, _POINTS), t)
        band = next_person(curve, times, self.about == "observation")
        limits = band.limits(-1)
        low, high = written([*limits], limits[1] - limits[0])
        lie = "observations of new " if self.about == "observation" else "new "
        text = (
            f"At {when(facts, curve.time(t))}, about 95 of 100 {lie}{facts.people} would lie "
            f"between {low} and {with_unit(high, facts.value_unit)}."
        )
        whole = (_WHOLE.format(factor=band.widening),) * (self.about == "curve")
        return Answer(
            Verdict.TOLD,
            text,
            sum(limits) / 2,
            (limits,),
            facts.value_unit,
            notes=(*curve.notes, *whole, NORMAL_PEOPLE),
        )
