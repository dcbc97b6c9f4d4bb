"""Questions that a released curve answers at no further cost, one in each file.

A `ReleasedCurve` is a release as far as questions need it: coefficients with their covariance and
public facts, from an `Estimate` or from a guarantee card. A `CurveQuestion` computes an `Answer`
from it and from nothing else. That is post-processing: nothing is charged, and any number of
questions may be put. Every interval says which coverage was measured, or the question is refused
with the reason. Derived in this project; the measured coverage is in `docs/methods`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.answers.released_curve import ReleasedCurve as ReleasedCurve
from engine.answers.released_curve import can_be_asked as can_be_asked
from engine.answers.reply import Answer as Answer
from engine.core.registry import Parameterised, Registry

curve_questions = Registry("engine.answers", "question")


@dataclass(frozen=True, kw_only=True)
class CurveQuestion(Parameterised):
    """A question about one released curve.

    `order` sorts questions; `label` is what people read. Times and levels are in the data's own
    units.
    """

    registry: ClassVar[Registry] = curve_questions
    order: ClassVar[int] = 50

    def answer(self, curve: ReleasedCurve) -> Answer:
        """The answer with its 95 % interval or set, or why there is none."""
        raise NotImplementedError
