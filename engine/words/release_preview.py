"""Sentences beside the preview of a release: what it was simulated from, and what survives."""

from __future__ import annotations

from engine.language.grammar import capital, escape
from engine.language.numbers import number, with_unit
from engine.tasks import TASKS
from engine.types import PublicFacts
from engine.views.release_preview import PEAKS, ReleasePreview

TITLE = "Preview on a simulated twin"
_WORDS = ("no", "one", "two", "three")
_VERDICTS = {"coarse": "**Coarse:** only the level and the trend can be trusted.",
             "usable": "**Usable:** the main shape survives.",
             "good": "**Good:** noise is small beside the curve.",
             "nearly free": "**Good:** privacy is nearly free at these sizes."}


def about(facts: PublicFacts) -> str:
    """What is seen, and that it costs nothing."""
    return (f"Simulated from stated facts and sizes alone, with the noise of this release. Nothing "
            f"of the {escape(facts.people)} in the data is in it, and it costs nothing.")


def band(found: ReleasePreview) -> str:
    """What the shaded range is, or that there is none."""
    where = {"simultaneous": "for the whole curve at once",
             "pointwise": f"at each {found.facts.time_name.lower()} on its own"}
    if not found.band:
        return "This method states no confidence band. Dashed: the true curve of the twin."
    return ("Shaded: the 95 % confidence band that is published with the curve, "
            f"{where[found.band]}. Dashed: the true curve of the twin.")


def error(found: ReleasePreview, task: str) -> str:
    """How far such releases are from the truth."""
    unit = escape(found.facts.value_unit) if TASKS[task].has_value_unit else ""
    typical, most = (with_unit(number(value), unit) for value in (found.error, found.within))
    return (f"Such releases are **± {typical}** from the truth (root mean squared distance; in "
            f"95 % of them below {most}).")


def survives(found: ReleasePreview, task: str) -> str:
    """What of a shape can be seen at this ε."""
    parts = [] if found.verdict is None else [_VERDICTS[found.verdict.verdict]]
    if found.peaks is not None:
        unit = escape(found.facts.value_unit) if TASKS[task].has_value_unit else ""
        height = with_unit(number(found.peak_height, 2), unit)
        parts.append(f"{capital(_WORDS[PEAKS])} peaks of {height} **{_become(found.peaks)}**.")
    return " ".join(parts)


def _become(shown: int) -> str:
    if shown == PEAKS:
        return f"stay {_WORDS[PEAKS]}"
    if not shown:
        return "cannot be seen"
    return f"become {_WORDS[shown] if shown < len(_WORDS) else shown}"
