"""Sentences beside the preview of a release: what it was simulated from, and what survives."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.names import uncapital
from engine.core.tasks import TASKS, Argument, DataType
from engine.core.types import PublicFacts
from engine.language.grammar import capital, escape
from engine.language.numbers import in_unit, percent, small
from engine.language.quality import at_common_times, level_only, smallest_change
from engine.release.books import Odometer
from engine.release.repair import Repaired, State
from engine.release.sentences import FOR_SMOOTH_CURVES, became
from engine.topics.release.preview import PEAKS, ReleasePreview

TITLE = "What survives at this budget"
_WORDS = ("no", "one", "two", "three")
_VERDICTS = {"doubtful": "**Doubtful:** such releases warn that their band cannot be relied on.",
             "coarse": "**Coarse:** only the level and the trend can be trusted.",
             "usable": "**Usable:** the main shape survives.",
             "good": "**Good:** noise is small beside the stated range.",
             "nearly free": "**Good:** noise is small beside the stated range."}
_LOST = "Details are lost:"  # where a release does not show all peaks
_BROAD = {"usable": f"**Usable for the broad shape.** {_LOST}",
          "good": f"**Good for the broad shape.** {_LOST}",
          "nearly free": f"**Good for the broad shape.** {_LOST}"}
_TOLD = {"usable": "Usable", "good": "Good", "nearly free": "Good"}


def about(facts: PublicFacts) -> str:
    """What is seen, and that it costs nothing.

    Parameters
    ----------
    facts : PublicFacts
        The noun for several persons.
    """
    return (f"The twin is simulated from stated facts and sizes alone, with the noise of this "
            "release; its true curve is invented. Nothing of the "
            f"{escape(facts.people)} in the data is in it, and it costs nothing.")


def band(preview: ReleasePreview) -> str:
    """What the shaded range is, or that there is none.

    Parameters
    ----------
    preview : ReleasePreview
        Of one method at one budget.
    """
    where = {"simultaneous": "for the whole curve at once",
             "staircase": "for the whole curve at once, as steps",
             "pointwise": f"at each {uncapital(preview.facts.time_name)} on its own"}
    if not preview.band:
        return "This method states no confidence band. Dashed: the true curve of the twin."
    if preview.percentiles is not None:
        return ("Shaded: ranges between pairs of percentile curves. Bars: the 95 % confidence band "
                f"of each curve that is published with it, {where[preview.band]}. Dashed: the true "
                "curves of the twin.")
    return ("Shaded: the 95 % confidence band that is published with the curve, "
            f"{where[preview.band]}, up to the stated bounds. Dashed: the true curve of the twin."
            + (" Dotted: the common times." if preview.at_times else ""))


def error(preview: ReleasePreview, task: str) -> str:
    """How far such releases are from the truth.

    Parameters
    ----------
    preview : ReleasePreview
        Of one method at one budget.
    task : str
        Its key; results of some tasks are not in the unit of values.
    """
    unit = escape(preview.facts.value_unit) if TASKS[task].has_value_unit else ""
    typical, within = (in_unit(value, unit) for value in (preview.error, preview.within))
    together = ", all curves together" if preview.percentiles is not None else ""
    half = preview.half_width
    wide = "" if half is None else (
        f" Their 95 % confidence bands reach **{in_unit(half, unit)}** to either side on "
        f"average{at_common_times(preview.facts, preview.at_times, '**')}.")
    is_over_time = TASKS[task].argument is Argument.TIME and TASKS[task].data is DataType.CURVES
    return (f"Releases of the twin have an error of **{typical}** (root mean squared distance from "
            f"the truth{together}), 95 % of them below {within}.{wide} Of your data this is a "
            f"forecast.{' ' + FOR_SMOOTH_CURVES if is_over_time else ''}")


def in_lines(preview: ReleasePreview, task: str) -> list[str]:
    """All that a preview says, for where nothing can be drawn.

    Parameters
    ----------
    preview, task
        As for `error`.
    """
    return [each for each in (about(preview.facts), error(preview, task),
                              survives(preview, task), *certain(preview),
                              *possible(preview)) if each]


def survives(preview: ReleasePreview, task: str) -> str:
    """What of a shape can be seen at this ε.

    Parameters
    ----------
    preview, task
        As for `error`.
    """
    is_smoothed, grade = preview.peaks is not None and preview.peaks < PEAKS, preview.grade
    verdicts = _VERDICTS | (_BROAD if is_smoothed else {})
    parts = [] if grade is None else [_judged(preview, grade, verdicts)]
    if preview.peaks is not None:
        unit = escape(preview.facts.value_unit) if TASKS[task].has_value_unit else ""
        height = in_unit(preview.peak_height, unit, 2)
        peaks = (f"of a curve with {_WORDS[PEAKS]} peaks of {height}, a release mostly shows "
                 f"**{_how_many(preview.peaks)}**.")
        parts.append(peaks if parts and parts[-1].endswith(":") else capital(peaks))
    return " ".join(parts)


def _judged(preview: ReleasePreview, grade: str, verdicts: Mapping[str, str]) -> str:
    """The verdict, with the size of changes that can be told where there is a band over time."""
    is_of_band = preview.verdict is None or preview.verdict.verdict != "coarse"
    if grade == "coarse" and is_of_band:
        return _in_bold(level_only(preview.wide, preview.is_flat,
                                   preview.at_times / preview.facts.value_half_width))
    if not preview.change or grade not in _TOLD:
        return verdicts[grade]
    is_smoothed = verdicts[grade].endswith(_LOST)
    also = "the broad shape, and for " if is_smoothed else ""
    verdict = (f"**{_TOLD[grade]} for {also}changes over "
               f"{uncapital(preview.facts.time_name)} of "
               f"{escape(smallest_change(preview.facts, preview.change))}:** of a curve that "
               "changes less, "
               "no change can be told.")
    return f"{verdict} {_LOST}" if is_smoothed else verdict


def _in_bold(sentence: str) -> str:
    """With its verdict, up to the colon, in bold."""
    word, _, rest = sentence.partition(":")
    return f"**{word}:**{rest}"


def certain(preview: ReleasePreview) -> list[str]:
    """What every release says against itself, because it follows from what was stated.

    Parameters
    ----------
    preview : ReleasePreview
        Of one method at one budget.
    """
    return [escape(text) for text, share in preview.warnings if share == 1]


def possible(preview: ReleasePreview) -> list[str]:
    """What a release may say against itself: it depends on the times and noise of that release.

    Parameters
    ----------
    preview : ReleasePreview
        Of one method at one budget.
    """
    return [f"A release may carry a warning, as {percent(share)} of the twin’s releases do: "
            f"“{escape(text)}”"
            for text, share in preview.warnings if share < 1]


def _how_many(n_visible: int) -> str:
    if not n_visible:
        return "none"
    many = _WORDS[n_visible] if n_visible < len(_WORDS) else str(n_visible)
    return f"all {many}" if n_visible == PEAKS else f"only {many}" if n_visible < PEAKS else many


# -- the ledger, checked and repaired --------------------------------------------------------------


_FEW = 6  # significant digits


def verified(state: State) -> list[str]:
    """Whether the ledger can be believed, and what was spent by it.

    Parameters
    ----------
    state : State
        From `engine.release.repair.verify`.

    Returns
    -------
    list of str
        Lines.
    """
    if state.problem is not None:
        return [f"Wrong: {state.problem}", _counts(state)]
    if not state.exists:
        return ["There is no ledger yet, and no witness of one: nothing was ever charged here."]
    out = [f"Right: all {state.n_rows} entries have their seals, and the witness lists every "
           "charge." if state.is_witnessed else
           f"Right: all {state.n_rows} entries have their seals. The last line of the witness is "
           "missing, because a process was ended there; it is written before anything else."]
    if state.n_damaged:
        out.append(f"{state.n_damaged} lines of the witness are unfinished or damaged, and are "
                   "written again.")
    for odometer in state.odometers:
        out += _spent(odometer)
    return out


def _counts(state: State) -> str:
    if not state.exists:
        return f"There is no ledger; the witness has {state.n_lines} lines."
    damaged = f", {state.n_damaged} more are damaged" if state.n_damaged else ""
    return (f"{state.n_rows} of its entries can be read, {state.n_intact} with a good seal; the "
            f"witness has {state.n_lines} lines{damaged}.")


def _spent(odometer: Odometer) -> list[str]:
    """What was spent on one group of people, and all of their releases."""
    lines = [f"{odometer.label}: ε = {odometer.spent_epsilon:.{_FEW}g} of "
             f"{odometer.total.epsilon:.{_FEW}g}, "
             f"δ = {small(odometer.spent_delta)} of {small(odometer.total.delta)} spent."]
    for entry in odometer.entries:
        note = became(entry)
        lines.append(f"  {entry.at[:10]} {entry.release_id or 16 * '-'} ε = "
                     f"{entry.budget.epsilon:.{_FEW}g} {entry.name or entry.what}"
                     + (f" ({note})" if note else ""))
    return lines


def repaired(done: Repaired | None) -> list[str]:
    """What a repair did.

    Parameters
    ----------
    done : Repaired or None
        From `engine.release.repair.repair`.
    """
    if done is None:
        return ["Nothing to repair: the ledger can be believed."]
    if done.added:
        return [f"The ledger is sound. Its witness lacked {done.added} lines, which were written "
                "again from the ledger. Should the ledger have been set back as well, nobody can "
                "know."]
    out = ["A new ledger was made from what can still be read and from the witness."]
    if done.damaged_file:
        out.append(f"The damaged one is kept beside it as {done.damaged_file}.")
    for label, more in done.more.items():
        out.append(f"{label}: ε = {more / 1e9:.9g} was charged beyond the entries that can be "
                   "read, because the witness says so.")
    if done.closed:
        out.append("Too little is known of what is gone, so nothing is left for anybody in it.")
    if done.unknown:
        out.append("Of some people it is no longer known who they were. Whoever publishes new data "
                   "is asked whether they are the same.")
    for odometer in done.odometers:
        out += _spent(odometer)
    return out
