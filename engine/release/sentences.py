"""Sentences about a release: what it costs, what is left, and what cannot be taken back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from engine.core.names import uncapital
from engine.core.types import Budget, Data, EventFacts, PublicFacts
from engine.language import quality
from engine.language.grammar import capital, escape
from engine.language.numbers import (
    at_most_percent,
    error,
    exactly,
    in_unit,
    percent,
    small,
    whole,
    with_unit,
)
from engine.language.odds_words import delta_concern, odds_at_few_alarms, odds_main, odds_why
from engine.language.tags import budget_chip, credited
from engine.mechanisms import Mechanism
from engine.noise.shares import Shares
from engine.privacy import risk
from engine.privacy.failure import Delta
from engine.release.books import Charge, Entry
from engine.release.certified import ReleaseCost
from engine.release.ledger import DEFAULT_TOTAL, Receipt
from engine.release.plan import Forecast
from engine.release.standing import Standing
from engine.release.uncertainty import STAIRCASE, ReleasedBand, Uncertainty
from engine.sources import Source
from engine.uploads.stated import facts_in_words

_HOUSEHOLD = 3  # people who share what is in the data
TITLE = "Publish with differential privacy"


def budget_words(budget: Budget) -> str:
    """ε and δ in words; "ε = 1, δ = 2.5×10⁻⁵"."""
    return f"ε = {budget.epsilon:g}" + ("" if budget.is_pure else f", δ = {small(budget.delta)}")


def before(
    source: Source[Data], mechanism: Mechanism, cost: ReleaseCost, standing: Standing
) -> list[str]:
    """Say what a release would cost, before anything is charged."""
    facts, n = source.facts, source.sizes.n_curves
    return [
        f"{mechanism.label} of {whole(n)} {facts.people}: {facts.name}.",
        *(escape(sentence) for sentence in credited(facts)),
        certified(cost),
        *filter(None, [large_delta(cost, n)]),
        odds(facts, cost),
        odds_why(risk.of_ledger(cost.certified_spends)),
        household(facts, cost),
        left(facts, standing),
        *filter(None, [by_curve(facts, standing)]),
        f"Bounds come from: {facts.origin}.",
    ]


def certified(cost: ReleaseCost) -> str:
    """State the certified charge, and the ideal one."""
    words = (
        f"Certified: **{budget_chip(cost.certified)}**. This is what is spent: it is proved "
        "for the noise that is really drawn, rounding included."
    )
    ideal = f"{cost.ideal.epsilon:.3g}"
    if ideal == f"{cost.certified.epsilon:.3g}":
        return words
    return (
        f"{words} Textbook noise of the same size, with endless digits, would cost "
        f"ε = {ideal}; no computer draws it, so that figure is for comparison only."
    )


def large_delta(cost: ReleaseCost, n: int) -> str:
    """Warn about δ if it is large for `n` people at all sites; else return an empty text."""
    return delta_concern(Delta.of(cost.certified.delta, n))


def odds(facts: PublicFacts, cost: ReleaseCost) -> str:
    """Say what an attacker could find out about one person, by the charged budget."""
    found = risk.of_ledger(cost.certified_spends)
    return " ".join(
        (
            odds_main(found, facts.person, cost.certified_spends[0].unit.noun),
            odds_at_few_alarms(found),
        )
    )


def household(facts: PublicFacts, cost: ReleaseCost) -> str:
    """Say what an attacker could find out about three people who share what is in the data."""
    found = risk.of_ledger(cost.certified_spends, group=_HOUSEHOLD)
    return (
        f"If {_HOUSEHOLD} {escape(facts.people)} are alike in what is in the data, such as "
        f"relatives, the attacker’s accuracy about them together is "
        f"{at_most_percent(found.right)}."
    )


def left(facts: PublicFacts, standing: Standing) -> str:
    """Say what people have left: all of them, where they differ, and the person with least."""
    new = _under_a_new_list(facts, standing)
    if not standing.is_known:
        return f"{new}Nobody in this file is known to this ledger."
    total = max(share.total.epsilon for share in standing.shares)
    rows = standing.rows()
    least = (
        f"Left for the person with least: **ε = {_epsilon(standing.least.left)} of "
        f"{_epsilon(standing.least.total.epsilon)}**."
    )
    if len(rows) == 1:
        return new + least
    each = "; ".join(
        f"{whole(people)} have "
        + (
            f"all of ε = {_epsilon(total)} left"
            if remains == total
            else f"ε = {_epsilon(remains)} left"
        )
        for people, _, remains in rows
    )
    return f"{new}{whole(standing.people)} {escape(facts.people)}: {each}. {least}"


def _under_a_new_list(facts: PublicFacts, standing: Standing) -> str:
    """Warn of people who are new by the name of their list alone; for the holder alone."""
    if not standing.n_unlisted:
        return ""
    return (
        f"**{whole(standing.n_unlisted)} {escape(facts.people)} have the id of somebody "
        "released before, where no list of ids was stated.** By the “list” of this reading "
        "they count as new people, and lose again. If they are the same people, leave “list” "
        "out. "
    )


def by_curve(facts: PublicFacts, standing: Standing) -> str:
    """Say how many people are known by their curve alone; else empty. For the holder alone."""
    if not standing.n_by_content:
        return ""
    return (
        f"**{whole(standing.n_by_content)} {escape(facts.people)} have the curve of somebody "
        "released before under other ids.** They count as the same people, unless you state "
        "that they are others, which the ledger records."
    )


def after(facts: PublicFacts, standing: Standing | None) -> str:
    """Say what has been spent in all, and what is left."""
    if standing is None or not standing.shares:
        return ""
    share = standing.least
    return (
        f"Spent by one {escape(facts.person)}, at most: **ε = {_up(share.spent)}**, at a total "
        f"δ of {small(share.total.delta)}. {left(facts, standing)}"
    )


def asked_before(receipt: Receipt) -> str:
    """Say that this very release is in the ledger, and what a repeated request does."""
    when, known_as = receipt.at[:10], f"id {receipt.release_id}"
    if receipt.state == "charged":
        return (
            f"This release was charged on {when} ({known_as}) and never drawn: its process was "
            "ended. It can be drawn now, under the same charge."
        )
    if receipt.state == "drawn":
        return (
            f"This release was drawn on {when} ({known_as}). It is made again from the ledger "
            "as it was, at no charge."
        )
    return (
        f"This release was charged on {when} ({known_as}), but drawing it failed. It counts; "
        "publish under another name."
    )


def never_drawn(entry: Entry) -> str:
    """Say what to do about a charge without drawn noise."""
    return (
        f"**“{escape(entry.name)}” was charged on {entry.at[:10]} and never drawn:** the "
        "server stopped in between. Choose the same data and settings, and it can be drawn "
        "under that charge. It counts in any case."
    )


def became(entry: Entry) -> str:
    """Say what became of a charge, unless it was simply published."""
    return {
        "charged": "charged, never drawn: ask for it with the same settings and name, and it "
        "is drawn under this charge",
        "under way": "charged, under way",
        "unfinished": "charged, not finished",
        "closed": "charged, lost",
    }.get(entry.state, "")


def each_group(facts: PublicFacts, names: Sequence[str]) -> str:
    """Say that groups are released separately, and their total cost."""
    return (
        f"One release for each of {len(names)} groups: {', '.join(map(escape, names))}. No "
        f"{escape(facts.person)} is in two, so together they cost one {escape(facts.person)} "
        f"no more than one of them. {escape(capital(facts.people))} in no group are left out."
    )


LEFT_OUT_HELP = (
    "The release is then about the others, and its card says that people without "
    "budget were left out. Who they are follows from ids; what is shown here is of "
    "everybody."
)
LARGER_TABLE = (
    "For a table above 20 MB, of which this file has some rows. Nothing is charged. Write the name of "
    "the table, or of a folder, as “file” into the settings, and type on this machine: "
    "python -m engine release settings.json"
)
CONFIRMED = "By publishing you confirm:"
NAME_MISSING = "To publish: name the release."


def confirmations(facts: PublicFacts, cost: ReleaseCost, of_rows: bool = False) -> tuple[str, ...]:
    """List the confirmations required before publication.

    `of_rows`: somebody may have several rows, each of which is protected on its own.
    """
    once = (
        f"Each {escape(facts.person)} is one row of the file, and people with several rows are "
        "protected less."
        if of_rows
        else f"Each {escape(facts.person)} is in the file once: under one id, or in one row where "
        "there are no ids."
    )
    return (
        "The bounds come from a public source, not from these data.",
        once,
        f"This spends {budget_chip(cost.certified)} and cannot be taken back.",
    )


def total_help(facts: PublicFacts) -> str:
    """Explain the total budget, as help of its field."""
    return (
        f"All releases about one of these {facts.people} may cost this much together. The "
        "first release of a ledger fixes its total; later it can only be lowered. Default: "
        f"{DEFAULT_TOTAL:g}."
    )


def _epsilon(value: float) -> str:
    return f"{value:.6g}"


def _up(value: float) -> str:
    """Three digits, rounded up: an "at most" number stays true."""
    if not 0 < value < math.inf:
        return _epsilon(value)
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return _epsilon(math.ceil(value / step - 1e-6) * step)


NEIGHBOURS = {
    "person": "data of the same people, of whom the data of one differ",
    "row": "files of equally many rows, of which one differs",
    "observation": "data of the same people, in which one observation differs",
}  # by card["unit"]


def choices(looked: bool, changed: Sequence[str] | None) -> str:
    """Say what of a release its holder may have chosen after looking at the file."""
    before = (
        "The holder may have looked at the file before stating how it is read and which facts hold."
        if looked
        else "As its holder or this program states, no picture "
        "of the file had been drawn when the reading and the facts were frozen."
    )
    if changed is None:
        after = "They were not frozen, so later changes are not recorded."
    elif changed:
        after = f"Changed after looking: {', '.join(facts_in_words(changed))}."
    else:
        after = "None was changed after they were frozen."
    return f"{before} {after}"


LIMITS = """
* **A release is not a preview.** Its noise comes from the operating system through OpenDP’s exact
  samplers, on a lattice of powers of two. There is no seed, so nobody can draw it again.
* **Charged first, and never lost.** The ledger is charged before anything is drawn, and keeps
  what was drawn before anybody sees it. If the server stops in between, the same release under the
  same name is made again, or drawn under its charge; nothing is charged twice.
* **No person known to this ledger can lose more than its total.** The ledger keeps the set of
  people of each release, by keyed hashes of their ids and of telling curves, and adds up what each
  person lost. Not noticed: other files with ids of another list and no telling curves; rounded or
  shortened curves with new ids.
* **Two ways of adding up.** The ε’s and δ’s of many releases add, or squares of μ add. A release is
  permitted while either sum is within the total, at half of its δ each.
* **The ledger is sealed.** Its key is in a file of its own: a copy of the ledger alone says nothing
  about anybody. Edits are noticed, and a witness file tells when it was emptied, deleted or set
  back. Then nothing is published until it is put back or rebuilt, which never lowers what was
  spent.
* **Choices after looking.** What you state, change or publish after you looked at the file can say
  something about it, and no noise covers that. Facts and reading are frozen before the file is
  compared with them; the card names every fact that was changed afterwards.
* **Not covered:** how many people and observations there are, which file or public group they are
  in, what is true of people in general, how the data were collected, choices after looking, and how
  long the computation took. What each one’s data say, and who of two it is, is covered.
* **OpenDP** marks the constructors used here “contrib”: not all of their proofs are reviewed.
"""


DEMONSTRATION = (
    "**Nothing is published here:** others may reach this dashboard, and a release "
    "is for the holder of the data alone. Start a copy on a machine of your own."
)


def with_next(standing: Standing, charge: Charge) -> str:
    """Say what the person with least would have left after one more release."""
    least = min(replace(share, loss=share.loss + charge.loss).left for share in standing.shares)
    return (
        f"After one more like this, the person with least has ε = {_epsilon(least)} of "
        f"{_epsilon(standing.least.total.epsilon)} left."
    )


def why(cost: ReleaseCost) -> str:
    """Explain how the charge follows from the messages, in all three ways of counting."""
    if cost.certified.is_pure:
        return (
            "Each charge is what OpenDP’s own map says of its noise, rounding to the lattice "
            f"included. They add to **ε = {cost.certified.epsilon:g}** with δ = 0."
        )
    proved = f"**ε = {cost.certified.epsilon:g}** at δ = {small(cost.certified.delta)}"
    if cost.certified.epsilon < cost.by_rho.epsilon:
        return (
            "Squares of μ of discrete Gaussian noise add, rounding to the lattice included, "
            f"and the Gaussian privacy curve proves {proved}. The ρ’s (zero-concentrated "
            "privacy) of OpenDP’s own maps alone would prove ε = "
            f"{_up(cost.by_rho.epsilon)}."
        )
    return (
        "Each ρ (zero-concentrated privacy) is what OpenDP’s own map says of its noise, "
        f"rounding to the lattice included. They add, and prove {proved}. Continuous noise of "
        f"the same size would be ε = {cost.ideal.epsilon:.3g}; that is not what is "
        "certified, so a release has slightly more noise than its preview."
    )


def leave_out(facts: PublicFacts, n: int) -> str:
    """Offer to leave out people without budget."""
    return (
        f"Leave out {whole(n)} {escape(facts.person if n == 1 else facts.people)} with less "
        "left than this costs"
    )


# -- how far off a release may be, in plain text ---------------------------------------------------


def headline(uncertainty: Uncertainty, facts: PublicFacts, budget: Budget, n: int) -> str:
    """Write the first line of everything published: the readable detail, and the error."""
    band, verdict = uncertainty.band, uncertainty.feasibility
    is_doubtful = uncertainty.verdict == "doubtful"
    parts = []
    if is_doubtful:
        parts.append(quality.DOUBTFUL)
    elif verdict is not None and verdict.verdict == "coarse":
        parts.append(quality.coarse(facts, verdict, budget, n))
    elif uncertainty.is_coarse:
        at_times = 0.0 if band is None else band.at_times / facts.value_half_width
        parts.append(quality.level_only(uncertainty.wide, uncertainty.is_flat, at_times))
    if band is not None:
        half = in_unit(band.half_width, facts.value_unit)
        parts.append(
            f"{_level(uncertainty)} confidence band: {half} to either side on average"
            f"{quality.at_common_times(facts, band.at_times)}."
        )
    if verdict is not None and not uncertainty.is_coarse and not is_doubtful:
        parts.append(quality.noise_forecast(verdict, not isinstance(facts, EventFacts)))
    if band is None and not uncertainty.findings:
        parts.append(
            "This method states no confidence band: how far the release is from the truth "
            "is not known from it."
        )
    return " ".join(parts)


FOR_SMOOTH_CURVES = (
    "Sharp steps, narrow peaks or a curve far from the middle of the stated range can make the "
    "error several times larger."
)


def forecast(expected: Forecast, is_over_time: bool = False) -> str:
    """Say which error was forecast before any spending, and for which curves."""
    return (
        "Forecast before the release, from simulated data with the same public facts: error "
        f"{error(expected.error, expected.unit, expected.within)}, the root mean squared "
        "distance from the "
        f"truth.{' ' + FOR_SMOOTH_CURVES if is_over_time else ''}"
    )


def band_explained(uncertainty: Uncertainty, facts: PublicFacts) -> list[str]:
    """Explain what the band means, includes and leaves out; empty without a band.

    Time has the name and unit of `facts`.
    """
    band, findings = uncertainty.band, list(uncertainty.findings)
    if band is None:
        return findings
    time = uncapital(facts.time_name)
    stated = facts.time_low, facts.time_high
    low, high = (
        (exactly(end) if end in stated else f"{end:.4g}").replace("-", "−") for end in band.covered
    )
    span = with_unit(f"from {low} to {high}", facts.time_unit)
    if band.kind == STAIRCASE:
        return [
            f"Shaded: {_level(uncertainty)} confidence band, drawn as steps; "
            f"{_level(uncertainty)} of such bands contain the true curve at all times {span} "
            "together. It includes privacy noise and sampling variability.",
            *findings,
            "Everything follows from the noised counts in counts.csv.",
        ]
    if band.has_bars:
        return [*_bars_explained(band, facts, span), *findings]
    return [
        f"Shaded: {_level(uncertainty)} {band.kind} confidence band; "
        f"{_meaning(band, time, span, _as_far_as_drawn(band))}.",
        _what_is_counted(band),
        *[
            "The curve may lie off the middle of its band, because it is shrunk where noise "
            "dominates."
        ]
        * band.is_of_unshrunk,
        *[band.limit] * bool(band.limit),
        *[
            f"Dashed: outside the range {span} the band is not meant to hold, because steep "
            "starts and ends are smoothed away."
        ]
        * (not band.counts_ends),
        *[
            "Dotted: the common times. The curve is drawn between them, and the band holds "
            "smooth and straight ways to do so."
        ]
        * bool(band.at_times),
    ]


def _as_far_as_drawn(band: ReleasedBand) -> str:
    """Say how much of the true function the band covers; empty if it covers all."""
    if band.counts_bias or not band.basis_size:
        return ""
    if band.counts_ends:
        return f", apart from details finer than {band.basis_size} basis functions can represent,"
    return f", as far as {band.basis_size} basis functions can represent it,"


def _what_is_counted(band: ReleasedBand) -> str:
    included = "The band includes privacy noise"
    if band.counts_bias:
        return f"{included}, sampling variability and the largest bias over the stated class of curves."
    if band.is_periodic:
        return (
            f"{included} and sampling variability. It assumes that the curve ends where it began, "
            "as you said, and excludes fine detail."
        )
    if band.counts_ends:
        return (
            f"{included}, sampling variability and steep ends. It excludes fine detail and the "
            "first and last 5 % of the range."
        )
    basis = (
        f"bias from keeping {band.basis_size} basis functions"
        if band.basis_size
        else "bias from smoothing"
    )
    return (
        f"{included} and sampling variability. It excludes {basis}: finer details are "
        "smoothed away."
    )


def _meaning(band: ReleasedBand, time: str, span: str, part: str = "") -> str:
    """Say how often a band contains its target; `part` says how much of the truth that is."""
    level = percent(band.level)
    if band.kind == "simultaneous":
        return f"{level} of such bands contain the true function{part} at all times {span} together"
    return (
        f"at any one {time if ' ' not in time else 'place'} {span}, {level} of such bands "
        f"contain the true function{part or ' there'}; all of it is inside less often"
    )


def _bars_explained(band: ReleasedBand, facts: PublicFacts, span: str) -> list[str]:
    """Explain shades and bars of percentile curves."""
    meant = _meaning(band, uncapital(facts.time_name), span).replace("function", "curve")
    ends = (
        []
        if band.covered == (facts.time_low, facts.time_high)
        else [
            f"Outside the range {span} bands are not meant to hold, because steep starts and ends are "
            "smoothed away."
        ]
    )
    return [
        f"Shaded: the ranges between pairs of percentile curves; every {facts.person} counts "
        "the same, however many observations there are.",
        f"Bars: {percent(band.level)} {band.kind} confidence band of each curve; {meant}.",
        band.limit,
        *ends,
    ]


def _level(uncertainty: Uncertainty) -> str:
    assert uncertainty.band is not None
    return percent(uncertainty.band.level)


def warnings(uncertainty: Uncertainty) -> list[str]:
    """List the warnings of a release, from its own numbers and stated facts."""
    sentences, band = list(uncertainty.warnings), uncertainty.band
    if band is not None and not band.counts_bias:
        sentences += filter(None, [quality.few_functions(band.basis_size)])
    if uncertainty.moved:
        sentences.append(moved(uncertainty.moved))
    return sentences


def moved(share: float) -> str:
    """Say that some noisy values were beyond the stated bounds."""
    return (
        f"At {percent(max(share, 0.01))} of the times the noisy value lay beyond the stated "
        "bounds and was moved to the nearest one."
    )


def same_or_others(facts: PublicFacts) -> dict[bool, str]:
    """List the holder's answers about people who are known by their curve alone."""
    return {
        True: f"The same {escape(facts.people)}: they are charged together",
        False: f"Other {escape(facts.people)}: the ledger records that you said so",
    }


def relied_on(shares: Shares) -> str:
    """Name the parties to rely on if sites add noise in shares."""
    other = shares.sites - shares.honest
    return (
        f"Only sums over all {shares.sites} sites can be read. Everybody is protected from the "
        f"centre together with up to {other} {'site' if other == 1 else 'sites'}, as long as "
        f"{shares.honest} keep to the protocol and each site checked its partners’ keys once. "
        f"It ends if {other + 1} sites work together with it or leave out their noise. If a "
        "site drops out, nothing is released."
    )
