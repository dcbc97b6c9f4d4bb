"""Sentences on how people differ, as releases of simulated people tell it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.answers.modes import Modes, direction_name
from engine.core.types import Array
from engine.language.grammar import capital, conjunction, escape
from engine.language.numbers import percent
from engine.topics.components.answer import COMPARED, ComponentsAnswer

COSTS_NOTHING = (
    "Directions and shares are computed from the release of the mean curve. They cost nothing more, "
    "and nothing more is sent."
)
_ORDINALS = ("First", "Second", "Third")
FOR_COMPONENTS = "For how people differ, ask the mean curve: its release tells it more closely."


def finding(answer: ComponentsAnswer) -> str:
    """State in what the people of the first release differ most; "" if nothing is released."""
    components = answer.components
    if components is None:
        return ""
    if not components.n_shown:
        return f"This budget does not tell how {answer.facts.people} differ"
    name = direction_name(components, 0).split(" (")[0] or "one direction"
    people = capital(answer.facts.people)
    return f"{people} differ mostly in {name}: {percent(float(components.shares[0]))}"


def told(answer: ComponentsAnswer) -> str:
    """Say what the first release tells, as the answer on *Publish* does."""
    if answer.curve is None:
        return "Nothing would be published at this ε, so no direction can be seen."
    return escape(Modes().answer(answer.curve).text)


def notes(answer: ComponentsAnswer) -> tuple[str, ...]:
    """List the notes on what the first release tells."""
    of_release = () if answer.curve is None else Modes().answer(answer.curve).notes
    return (*map(escape, of_release), COSTS_NOTHING)


def how_often(answer: ComponentsAnswer) -> str:
    """Say how many of the possible releases tell each direction."""
    shares = [percent(answer.share_told(k)) for k in range(COMPARED)]
    counts = [f"{share} tell the {_ORDINALS[k].lower()}" for k, share in enumerate(shares)]
    return f"Among {len(answer.told)} equally likely releases, {conjunction(counts)} direction."


def beside(answer: ComponentsAnswer) -> str:
    """Compare angles with those of a covariance that takes the whole budget."""
    ours, theirs = answer.angles(answer.found), answer.angles(answer.covariance)
    if theirs is None or ours is None:
        return escape(answer.covariance_refusal)
    method, first = answer.covariance_method, medians(ours)[0]
    return (
        f"A covariance alone ({escape(method)}) at the same ε turns the first direction by "
        f"**{medians(theirs)[0]:.0f}°**; the release of the mean turns it by **{first:.0f}°**."
    )


def table(answer: ComponentsAnswer) -> list[dict[str, Any]]:
    """List each direction with its shares and its angles to the truth; None where unknown."""
    ours, theirs = answer.angles(answer.found), answer.angles(answer.covariance)
    rows = []
    for k, ordinal in enumerate(_ORDINALS):
        row: dict[str, Any] = {"Direction": ordinal}
        if answer.known is not None:
            row["True share"] = percent(float(answer.known.shares[0, k]))
        for label, found in (
            ("share (mean)", answer.found),
            ("share (covariance)", answer.covariance),
        ):
            if found is not None:
                row[capital(label)] = percent(float(np.median(found.shares[:, k])))
        for label, angles in (("degrees off (mean)", ours), ("degrees off (covariance)", theirs)):
            if angles is not None:
                row[capital(label)] = round(medians(angles)[k])
        row["Releases that tell"] = percent(answer.share_told(k))
        rows.append(row)
    return rows


def medians(angles: Array | None) -> list[float]:
    """Take the median of each direction's angles, in degrees; NaN where unknown."""
    return [math.nan] * COMPARED if angles is None else np.median(angles, axis=0).tolist()
