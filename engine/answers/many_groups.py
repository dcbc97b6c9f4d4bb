"""Question of many groups: the curve of each site, drawn towards the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.answers import Answer, CurveQuestion, ReleasedCurve, curve_questions
from engine.answers.group_curves import ON_AVERAGE, GroupCurves, refusal_of_groups
from engine.answers.reply import Verdict, refused, when, with_unit, written
from engine.core.lists import shortened
from engine.core.registry import param

SHRUNK, SENT = "towards all", "as sent"
_AS_SENT = "Curves are as each group sent them: noise is not drawn towards what groups share."


@curve_questions.register
@dataclass(frozen=True, kw_only=True)
class ManyGroups(CurveQuestion):
    """The mean curve of each group that was a site of the release, at one time."""

    key, label, order = "groups", "Many groups", 170

    time: float | None = param(
        None, "Time", "In the unit of times. Empty: the middle.", low=-1e12, high=1e12
    )
    drawn: str = param(
        SHRUNK,
        "Each group",
        "Drawn towards all groups as far as noise asks for it, or as it sent its curve.",
        choices=(SHRUNK, SENT),
    )

    def answer(self, curve: ReleasedCurve) -> Answer:
        t = curve.unit_time(self.time, "time", 0.5)
        is_shrunk = self.drawn == SHRUNK
        reason = refusal_of_groups(curve, is_shrunk)
        if reason:
            return refused(reason)
        groups = curve.groups(is_shrunk)
        values = groups.curves(np.array([t]))[:, 0]
        limits = tuple(groups.interval(k, t) for k in range(len(values)))
        return Answer(
            Verdict.TOLD,
            " ".join(_sentences(groups, t, values.tolist(), limits)),
            unit=curve.facts.value_unit,
            values=tuple(values.tolist()),
            pieces=limits,
            notes=(*curve.notes, ON_AVERAGE if is_shrunk else _AS_SENT),
        )


def _sentences(
    groups: GroupCurves, t: float, values: list[float], limits: tuple[tuple[float, float], ...]
) -> list[str]:
    """Say which groups are highest and lowest, and how far groups differ."""
    facts = groups.curve.facts
    width = min(high - low for low, high in limits)
    ends = []
    for what, k in (("highest", int(np.argmax(values))), ("lowest", int(np.argmin(values)))):
        number, low, high = written([values[k], *limits[k]], width)
        name = shortened(groups.names[k])
        of_unit = with_unit(number, facts.value_unit)
        ends.append(f"{what} in {name}, {of_unit} (95 %: {low} to {high})")
    texts = [
        f"At {when(facts, groups.curve.time(t))}, of {len(values)} groups the curve is "
        f"{' and '.join(ends)}."
    ]
    if groups.between is not None:
        (spread,) = written([groups.deviation(t)], width)
        texts.append(
            "Groups differ there with a standard deviation of about "
            f"{with_unit(spread, facts.value_unit)}."
        )
    return texts
