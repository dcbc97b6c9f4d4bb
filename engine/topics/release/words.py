"""Sentences beside the preview of a release: what it was simulated from, and what survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.lists import listed
from engine.core.names import uncapital
from engine.core.tasks import TASKS, Argument, DataType
from engine.core.types import Budget, PublicFacts
from engine.language.grammar import capital, escape, plain_text
from engine.language.numbers import in_unit, percent, small
from engine.language.quality import at_common_times, level_only, smallest_change
from engine.mechanisms import Mechanism
from engine.release.books import Entry
from engine.release.repair import LedgerState, Rebuilt
from engine.release.sentences import FOR_SMOOTH_CURVES, became, left
from engine.release.standing import Standing
from engine.topics.release.preview import PEAKS, ReleasePreview

TITLE = "What survives at this budget"
_WORDS = ("no", "one", "two", "three")
_VERDICTS = {
    "doubtful": "**Doubtful:** most simulated releases warn against their own band.",
    "coarse": "**Coarse:** only the level and the trend are reliable.",
    "usable": "**Usable:** the main shape survives.",
    "good": "**Good:** noise is small beside the stated range.",
    "nearly free": "**Good:** noise is small beside the stated range.",
}
_LOST = "Details are lost:"  # where a release does not show all peaks
_BROAD = {
    "usable": f"**Usable for the broad shape.** {_LOST}",
    "good": f"**Good for the broad shape.** {_LOST}",
    "nearly free": f"**Good for the broad shape.** {_LOST}",
}
_STATED = {
    "symmetric": "that people are symmetric about their mean",
    "periodic": "that the curve ends where it began",
}
_TOLD = {"usable": "Usable", "good": "Good", "nearly free": "Good"}


def about(preview: ReleasePreview) -> str:
    """Describe the preview, and say that it costs nothing."""
    people = escape(preview.facts.people)
    shape = preview.typical or ("" if preview.peaks is None else "an invented curve")
    like_yours = f"{capital(shape)}, released as yours would be. " if shape else ""
    return f"{like_yours}Simulated from what you stated, without your {people}. It costs no budget."


def band(preview: ReleasePreview) -> str:
    """Explain the shaded range, or say that there is no band."""
    where = {
        "simultaneous": "for the whole curve at once",
        "staircase": "for the whole curve at once, as steps",
        "pointwise": f"at each {uncapital(preview.facts.time_name)} on its own",
    }
    if not preview.band:
        return "This method states no confidence band. Dashed: the true curve of the twin."
    if preview.percentiles is not None:
        return (
            "Shaded: ranges between pairs of percentile curves. Bars: the 95 % confidence band "
            f"of each curve that is published with it, {where[preview.band]}. Dashed: the true "
            "curves of the twin."
        )
    return (
        "Shaded: the 95 % confidence band that is published with the curve, "
        f"{where[preview.band]}, up to the stated bounds. Dashed: the true curve of the twin."
        + (" Dotted: the common times." if preview.at_times else "")
    )


def error(preview: ReleasePreview, task: str) -> str:
    """State the distance of such releases from the truth.

    Results of some tasks are not in the unit of values.
    """
    unit = escape(preview.facts.value_unit) if TASKS[task].has_value_unit else ""
    typical, within = (in_unit(value, unit) for value in (preview.error, preview.within))
    together = ", all curves together" if preview.percentiles is not None else ""
    half = preview.half_width
    wide = (
        ""
        if half is None
        else (
            f" Their 95 % confidence bands reach **{in_unit(half, unit)}** to either side on "
            f"average{at_common_times(preview.facts, preview.at_times, '**')}."
        )
    )
    guess = (
        ""
        if preview.error_range is None
        else (
            f" It assumes that most {escape(preview.facts.people)} are within "
            f"{in_unit(preview.spread, unit, 2)} of the average. Within half of that, the error would "
            f"be {in_unit(preview.error_range[0], unit)}; within twice that, "
            f"{in_unit(preview.error_range[1], unit)}."
        )
    )
    is_over_time = TASKS[task].argument is Argument.TIME and TASKS[task].data is DataType.CURVES
    return (
        f"Releases of the twin have an error of **{typical}** (root mean squared distance from "
        f"the truth{together}), 95 % of them below {within}.{guess}{wide} For your data this "
        f"is a forecast.{' ' + FOR_SMOOTH_CURVES if is_over_time else ''}"
    )


def not_used(mechanism: Mechanism, facts: PublicFacts) -> str:
    """Name what is stated of curves and changes nothing of this release; "" if all does."""
    unused = [_STATED[name] for name in mechanism.unused_facts(facts)]
    return f"Stated, but not used by this method here: {listed(unused)}." if unused else ""


def in_lines(preview: ReleasePreview, task: str) -> list[str]:
    """Write all that a preview says, for where nothing can be drawn."""
    return [
        each
        for each in (
            about(preview),
            error(preview, task),
            survives(preview, task),
            *carried(preview),
        )
        if each
    ]


def survives(preview: ReleasePreview, task: str) -> str:
    """Say which features of a shape can be seen at this ε."""
    is_smoothed, grade = preview.peaks is not None and preview.peaks < PEAKS, preview.grade
    verdicts = _VERDICTS | (_BROAD if is_smoothed else {})
    parts = [] if grade is None else [_judged(preview, grade, verdicts)]
    if preview.peaks is not None:
        unit = escape(preview.facts.value_unit) if TASKS[task].has_value_unit else ""
        height = in_unit(preview.peak_height, unit, 2)
        peaks = (
            f"{_WORDS[PEAKS]} peaks {height} high: **{_how_many(preview.peaks)}** would survive."
        )
        parts.append(peaks if parts and parts[-1].endswith(":") else capital(peaks))
    return " ".join(parts)


def _judged(preview: ReleasePreview, grade: str, verdicts: Mapping[str, str]) -> str:
    """State the verdict, with the size of visible changes if there is a band over time."""
    if grade == "coarse" and preview.is_flat and preview.change:
        return (
            "**No shape survives:** a flat line fits in the band, so only the level would be "
            f"published. Rises above {escape(smallest_change(preview.facts, preview.change))} "
            "would show."
        )
    is_of_band = preview.verdict is None or preview.verdict.verdict != "coarse"
    if grade == "coarse" and is_of_band:
        return _in_bold(
            level_only(
                preview.wide, preview.is_flat, preview.at_times / preview.facts.value_half_width
            )
        )
    if not preview.change or grade not in _TOLD:
        return verdicts[grade]
    is_smoothed = verdicts[grade].endswith(_LOST)
    also = "broad shape only; " if is_smoothed else ""
    verdict = (
        f"**{_TOLD[grade]}:** {also}shows rises and falls above "
        f"{escape(smallest_change(preview.facts, preview.change))}."
    )
    return f"{verdict} {_LOST}" if is_smoothed else verdict


def _in_bold(sentence: str) -> str:
    """Set the verdict of a sentence, up to the colon, in bold."""
    word, _, rest = sentence.partition(":")
    return f"**{word}:**{rest}"


def carried(preview: ReleasePreview) -> list[str]:
    """List the warnings of simulated releases, with how many carry each."""
    return [
        f"{'Every' if share == 1 else percent(share) + ' of'} simulated "
        f"{'release carries' if share == 1 else 'releases carry'} this warning: “{escape(text)}”"
        for text, share in preview.warnings
    ]


def _how_many(n_visible: int) -> str:
    if not n_visible:
        return "none"
    many = _WORDS[n_visible] if n_visible < len(_WORDS) else str(n_visible)
    return f"all {many}" if n_visible == PEAKS else f"only {many}" if n_visible < PEAKS else many


# -- the ledger, checked and rebuilt -------------------------------------------------------------


_FEW = 6  # significant digits


def verified(state: LedgerState) -> list[str]:
    """Say whether the ledger can be believed, and list its releases."""
    if state.problem is not None:
        lines = "" if state.exists else f" The witness has {state.n_lines} lines."
        return [f"{'Not known' if state.holds is None else 'Wrong'}: {state.problem}{lines}"]
    if not state.exists:
        return ["Not known: there is no ledger yet, and no witness of one."]
    out = [
        f"Right: all {state.n_entries} entries have their seals, and the witness lists every "
        "charge."
        if state.is_witnessed
        else f"Right: all {state.n_entries} entries have their seals. The last line of the witness "
        "is missing, because a process was ended there; it is written before anything else."
    ]
    if state.n_unread:
        out.append(
            f"{state.n_unread} sets of people cannot be read: their releases count for "
            "everybody. Put back a copy of the ledger that has them."
        )
    if state.n_damaged:
        out.append(
            f"{state.n_damaged} lines of the witness are unfinished or damaged, and are "
            "written again."
        )
    return out + shown(state.entries, state.total)


def shown(entries: Sequence[Entry], total: Budget | None) -> list[str]:
    """List all releases of a ledger under its total."""
    if total is None:
        return ["Nothing was released yet."]
    lines = [f"No person known to this ledger can lose more than ε = {total.epsilon:.{_FEW}g}."]
    for entry in entries:
        note = became(entry)
        lines.append(
            f"  {entry.at[:10]} {entry.release_id} ε = "
            f"{entry.budget.epsilon:.{_FEW}g} δ = {small(entry.budget.delta)} "
            f"{entry.name or entry.what}" + (f" ({note})" if note else "")
        )
    return lines


def standing_lines(facts: PublicFacts, standing: Standing) -> list[str]:
    """Say what the people of a data set have lost and have left, in at most five rows."""
    lines = [plain_text(left(facts, standing))]
    if standing.is_known:
        lines += ["   people      spent       left"]
        lines += [
            f"{people:9d} {spent:10.4g} {remains:10.4g}"
            for people, spent, remains in standing.rows()
        ]
        names = ", ".join(f"“{entry.name or entry.what}”" for entry in standing.entries[:5])
        more = len(standing.entries) - 5
        lines.append(f"In {names}" + (f" and {more} more." if more > 0 else "."))
    return lines


def rebuilt(done: Rebuilt | None) -> list[str]:
    """Say what making a ledger from its witness did."""
    if done is None:
        return ["Nothing to rebuild: the ledger can be believed."]
    if done.added:
        return [
            f"The ledger is sound. Its witness lacked {done.added} lines, which were written "
            "again from the ledger. If the ledger was set back as well, nobody can know."
        ]
    out = [
        f"A new ledger was made from the witness: {done.n_releases} releases, of which "
        f"{done.n_for_everybody} count for everybody. None of them can be made again."
    ]
    if done.is_incomplete:
        out.append(
            "Releases are missing in the witness as well, so nothing is left for anybody in "
            "this ledger."
        )
    if done.damaged_file:
        out.append(f"The damaged one is kept beside it as {done.damaged_file}.")
    return out
