"""Question of how people differ: the directions of their curves, and what share each has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.components import PrincipalComponents
from engine.answers.reply import Verdict, refused
from engine.answers.spread import NUMBERS_FROM, PERSON_FROM, refusal_of_spread
from engine.core.types import PublicFacts

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_NAMES = ("level", "trend (early against late)", "bend (the middle against both ends)")
_IS_ONE = 0.9  # cosine of the angle to a level, trend or bend from which a direction is called so
_STEP = 5  # degrees to which an angle is rounded up
FINER = (
    "People also differ in finer detail than {functions} basis functions can draw. Shares are of "
    "what these functions draw."
)
ALIKE = (
    "The {first} and {second} direction have nearly equal shares and turn into each other: look "
    "at both together."
)
OF_CURVES = "Shares are of the variance between curves, without errors of observation."


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class Modes(CurveQuestion):
    """Principal components of people's curves, as far as the release tells them."""

    key, label, order = "modes", "How people differ", 155

    def answer(self, curve: ReleasedCurve) -> Answer:
        reason = refusal_of_spread(curve, PERSON_FROM)
        if reason:
            return refused(reason)
        components = curve.components()
        if not components.n_shown:
            return Answer(Verdict.OPEN, _none_told(curve), notes=curve.notes)
        return Answer(
            Verdict.TOLD,
            " ".join(_sentences(components, curve.facts)),
            float(components.shares[0]),
            (components.limits[0],),
            values=tuple(components.shares.tolist()),
            notes=(*curve.notes, *_notes(components)),
        )


def direction_name(components: PrincipalComponents, index: int) -> str:
    """Name a direction that is nearly a level, a trend or a bend: or ""."""
    weights = np.abs(components.directions[: len(_NAMES), index])
    return _NAMES[int(weights.argmax())] if weights.max() >= _IS_ONE else ""


def _sentences(components: PrincipalComponents, facts: PublicFacts) -> Iterator[str]:
    """Say each direction's share with its interval, and how certain the direction is."""
    for index, (low, high) in enumerate(components.limits):
        name = direction_name(components, index)
        share = (
            f"{100 * components.shares[index]:.0f} % (95 %: {100 * low:.0f} to {100 * high:.0f} %)"
        )
        angle = _STEP * math.ceil(components.angles[index] / _STEP)
        if index == 0:
            what = f"mostly in {name}" if name else "mostly in one direction"
            yield f"{facts.people.capitalize()} differ {what}: {share} of how their curves vary."
        else:
            what = f"The {_ORDINALS[index]} direction{f', a {name},' if name else ''}"
            yield f"{what} has {share}."
        yield f"This direction is right to about {angle} degrees."


def _notes(components: PrincipalComponents) -> Iterator[str]:
    yield OF_CURVES
    for first, second in components.alike:
        yield ALIKE.format(first=_ORDINALS[first], second=_ORDINALS[second])
    if components.has_finer_detail:
        yield FINER.format(functions=len(components.directions))


def _none_told(curve: ReleasedCurve) -> str:
    """Say that no direction stands out, and what would help if the release is small."""
    if curve.effective_size >= NUMBERS_FROM:
        return "No direction in which people differ stands out from the noise."
    assert curve.spread is not None
    times = NUMBERS_FROM / curve.effective_size
    needed = float(f"{curve.spread.n_people * times:.2g}")
    return (
        f"This budget shows no direction in which {curve.facts.people} differ. About {needed:,.0f} "
        f"{curve.facts.people}, or a budget {times:.1f} times as large, would be needed."
    )
