"""Sentences about sites: what they reach together, who must be trusted, and what the centre saw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from engine.core.bands import NORMAL
from engine.core.types import PublicFacts
from engine.language import numbers, quality
from engine.language.grammar import a, escape, of
from engine.language.numbers import at_most_percent, in_unit, named, number, small, times, with_unit
from engine.language.odds_words import odds_main
from engine.topics.sites.answer import Arrangement, SentMessage, SiteMember, SitesAnswer, WhatIf
from engine.topics.sites.site_table import SiteRow

WAYS = {
    "sites": "Each site adds its noise (FDP)",
    "centre": "A trusted centre (CDP)",
    "sums": "Masked sums",
}
_SAME = 0.01  # relative change of an error that is called none
_ROUGH = 0.05  # relative standard error from which a sentence states it


def unit_tag(facts: PublicFacts) -> tuple[str, str]:
    """Name the protected unit and its place, with a tooltip."""
    return (
        f"One {of(facts.person)} whole curve, at its own site",
        f"What is protected: exchanging every observation of any one {facts.person} changes "
        "what leaves the site only a little, whoever reads it.",
    )


def budgets(rows: Sequence[SiteRow]) -> str:
    """State the ε of the sites that take part, at least one: "ε = 1" or "ε from 0.5 to 4"."""
    known = [row.epsilon for row in rows if row.included]
    if min(known) == max(known):
        return f"ε = {known[0]:g}"
    return f"ε from {min(known):g} to {max(known):g}"


# -- how accurate -------------------------------------------------------------------------------


def compared(federation: SitesAnswer) -> str:
    """Compare the errors together, summed, pooled, of the best site, and without privacy."""
    unit = escape(federation.facts.value_unit)

    def written(arrangement: Arrangement) -> str:
        return numbers.error(arrangement.error, unit) or "nothing can be published"

    together, smallest = federation.together, federation.pooled.budgets[0].epsilon
    within = (
        ""
        if together.is_refused
        else (
            f" ({numbers.most_releases(unit)} within "
            f"{in_unit(together.accuracy.within, unit if unit == '%' else '')})"
        )
    )
    budget = f"with ε = {smallest:g} for everybody"
    pooled = f"At one trusted centre, {budget}: **{written(federation.pooled)}**."
    if federation.summed is not None:
        pooled = (
            f"With masked sums, {budget}: **{written(federation.summed)}**; at one trusted "
            f"centre: **{written(federation.pooled)}**."
        )
    text = (
        f"Error together: **{written(together)}**{within}. {pooled} "
        f"{federation.members[federation.best].row.name}, the best site, alone: "
        f"**{written(federation.alone)}**."
    )
    if federation.truth is None:
        text += " Measured from the non-private mean."
    elif federation.baseline is not None:  # it may be computed later
        text += f" Without privacy: {in_unit(federation.baseline, unit)}."
    return " ".join(filter(None, (text, _verdict(federation), _rough(federation))))


def _verdict(federation: SitesAnswer) -> str:
    """Say what participation gains, in one sentence."""
    mine, pooled, alone = (
        arrangement.error
        for arrangement in (federation.together, federation.pooled, federation.alone)
    )
    if math.isnan(mine):
        return "Too few people for these budgets, even together."
    if len(federation.members) == 1:
        return ""
    if math.isnan(alone):
        return "Alone, even the best site can publish nothing."
    if alone < mine * (1 - _ROUGH):
        return "The best site alone is closer: here the others add more noise than knowledge."
    better = (
        ""
        if alone < mine * (1 + _ROUGH)
        else (
            f"Together the error is {times(alone / mine)} smaller than alone"
            if alone >= 1.95 * mine
            else f"Together the error is {100 * (1 - mine / alone):.0f} % smaller than alone"
        )
    )
    if not better:
        return "Together is about as good as the best site alone."
    if pooled > mine * (1 + _ROUGH):
        return f"{better}, and smaller than at a centre that must keep the strictest guarantee."
    return f"{better}."


def _rough(federation: SitesAnswer) -> str:
    """State the simulation error of the first number if it is large."""
    error = federation.together.standard_error
    if federation.together.is_refused or error < _ROUGH * federation.together.error:
        return ""
    margin = in_unit(NORMAL * error, escape(federation.facts.value_unit), 2)
    return f"(Simulation: ± {margin} (95 %) on the first number.)"


def refused(facts: PublicFacts) -> str:
    """Say instead of the pictures that all sites together can publish nothing."""
    return (
        f"**Too few {facts.people} for these budgets: together nothing would be published.** "
        f"Ask more {facts.people}, raise ε at some sites, or let further sites take part."
    )


def change(before: float, after: float, unit: str, since: str) -> str:
    """Say how the last edit, or the difference from a preset, changed the error in `unit`.

    Errors are NaN if nothing can be published.
    """
    unit = escape(unit)
    if math.isnan(before) and math.isnan(after):
        return f"{since}: still nothing can be published."
    if math.isnan(after):
        return f"{since}: **nothing can be published** any more."
    if math.isnan(before):
        return f"{since}: a curve can be published, error **{in_unit(after, unit)}**."
    if abs(after / before - 1) < _SAME:
        return f"{since}: error **{in_unit(after, unit)}**, no change."
    first, second = number(before), number(after)
    sign = "+" if after > before else "−"
    return (
        f"{since}: error **{first} → {with_unit(second, unit)}** "
        f"({sign}{abs(100 * (after / before - 1)):.0f} %)."
    )


def lines(federation: SitesAnswer, difference: bool) -> str:
    """Explain the lines of the three panels, with or without the non-private mean taken off."""
    less = ", minus the non-private mean" if difference else ""
    truth = " Solid and thin: the true mean." if federation.truth is not None else ""
    return (
        f"Each line: one of {len(federation.together.releases)} equally likely releases{less}. "
        f"Dashed: without privacy.{truth} Same axes in all three."
    )


def largest_share(federation: SitesAnswer) -> str:
    """Name the site with the largest share of the squared error, and its cause."""
    if federation.together.is_refused:
        return "Nothing would be published, so there is no error to share out."
    if len(federation.members) == 1:
        return "One site takes part, so all of the error is its own."
    noise = sum(member.noise for member in federation.members)
    largest = max(federation.members, key=lambda member: member.share)
    heaviest = max(federation.members, key=lambda member: member.weight)
    text = (
        f"Privacy noise makes up **{100 * noise:.0f} %** of this squared error, sampling "
        "variability the rest."
    )
    unlike = quality.by_precision(
        np.array([member.weight for member in federation.members]),
        [member.row.n_curves for member in federation.members],
        federation.facts,
        "sites",
    )
    if largest.share - min(member.share for member in federation.members) < 0.02:
        return f"{text} All sites add about the same. {unlike}".rstrip()
    joined = " and has" if heaviest is largest else f"; {heaviest.row.name} has"
    return (
        f"{text} {largest.row.name} adds most ({100 * largest.share:.0f} %){joined} the "
        "largest "
        f"weight ({100 * heaviest.weight:.0f} %). {unlike}"
    ).rstrip()


LINES = {"difference": "Difference", "curve": "The curve itself"}
SHARES_KEY = (
    "■ privacy noise · ▨ sampling variability. Smoothing and clipping concern all "
    "sites alike and are not in the bars."
)


# -- who is protected from whom -----------------------------------------------------------------


def trust(arrangement: str, facts: PublicFacts) -> str:
    """Say who must be trusted."""
    if arrangement == "sums":
        return (
            "Each site adds a share of the noise and masks its message, so that only the sum "
            "of all can be read. That protects even if one site works with the centre; all "
            "others must add their share and keep it to themselves. Every "
            f"{facts.person} gets the smallest ε of all sites."
        )
    if arrangement == "centre":
        return (
            "All sites trust the centre: it sees every curve and adds the noise once. Every "
            f"{facts.person} gets the smallest ε of all sites."
        )
    return (
        "Each site trusts only itself: noise is added before anything leaves. The centre and "
        "the other sites see noisy numbers only."
    )


def uncovered(facts: PublicFacts) -> str:
    """Say what this promise does not hide about sites."""
    return (
        f"**Not covered:** that {a(facts.person)} belongs to a site, and how many "
        f"{facts.people} it has."
    )


def odds(federation: SitesAnswer, arrangement: str) -> str:
    """State an attacker's chance about one person, at the site that is protected least."""
    person = federation.facts.person
    if arrangement == "centre":
        return (
            f"{odds_main(federation.pooled_odds, person)} The centre sees the curves; it is "
            "trusted."
        )
    if arrangement == "sums":
        if federation.summed is None:
            return federation.why_not_summed
        return odds_main(federation.pooled_odds, person, sits_at="one other site or at the centre")
    text = odds_main(federation.weakest.odds, person, sits_at="another site or at the centre")
    if len({member.odds.right for member in federation.members}) == 1:
        return text
    return (
        f"At {federation.weakest.row.name}, where protection is weakest: "
        f"{text[0].lower()}{text[1:]}"
    )


def table(federation: SitesAnswer) -> dict[str, list[str]]:
    """Tabulate what the people of each site get, and what it could do alone, column by column."""
    members = federation.members
    return {
        "site": [member.row.name for member in members],
        "guarantee": [guarantee(member) for member in members],
        "attacker’s accuracy": [at_most_percent(m.odds.right) for m in members],
        named("error alone", federation.facts.value_unit): [
            "nothing" if math.isnan(member.alone) else number(member.alone) for member in members
        ],
    }


EACH_ITS_OWN = (
    "Each site holds other people, so its guarantee is what its own messages cost. "
    "What other sites send adds nothing to it."
)


def guarantee(member: SiteMember) -> str:
    """State the (ε, δ) that is proved for one site's people."""
    budget = member.guarantee
    if budget.epsilon <= 1e-9:
        return "nothing is sent"
    return f"ε = {budget.epsilon:.3g}" + ("" if budget.is_pure else f" · δ = {small(budget.delta)}")


def percent(share: float) -> str:
    """Write a share from 0 to 1 in whole percent; "none" for NaN: nothing would be published."""
    return "none" if math.isnan(share) else f"{100 * share:.0f} %"


# -- if a site leaves, and what the centre saw --------------------------------------------------


def costliest(cases: Sequence[WhatIf], facts: PublicFacts) -> str:
    """Say which site would be missed most, and where a halved ε would hurt most."""
    unit = escape(facts.value_unit)
    left = [case for case in cases if not math.isnan(case.leaves)]
    known = [case for case in cases if not math.isnan(case.tightens)]
    if not left or not known:
        return "Some of these changes would leave too little to publish anything."
    missed, tight = max(left, key=attrgetter("leaves")), max(known, key=attrgetter("tightens"))
    current, gone, halved = (
        in_unit(value, unit) for value in (missed.now, missed.leaves, tight.tightens)
    )
    return (
        f"Now: {current}. Without {missed.name} it would be **{gone}**, the largest change of "
        f"this kind. With half the ε at {tight.name}: **{halved}**."
    )


_BYTES = 8  # of one number that is sent


def size(count: int) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> size(640), size(12_800)
    ('640 bytes', '12.8 kB')
    """
    return f"{count} bytes" if count < 1000 else f"{number(count / 1000)} kB"


def seen(messages: Sequence[SentMessage]) -> str:
    """Describe the transcript, and say why it shows little about any one person."""
    if not messages:
        return "Nothing left any site: with these budgets nothing useful could be sent."
    sites = len({message.site for message in messages})
    each, total = len(messages) / sites, sum(message.numbers for message in messages)
    by_step = Counter[str]()
    for message in messages:
        by_step[message.step] += _BYTES * message.numbers
    return (
        f"**{len(messages)} messages** from {sites} {'site' if sites == 1 else 'sites'}, "
        f"{each:.3g} each, {total} numbers in all. With {_BYTES} bytes for each number the sites "
        f"send at most **{size(max(by_step.values()))}** together in one round and "
        f"{size(_BYTES * total)} over all rounds. Noise was in every "
        "number before it left, and the centre has nothing else: the published curve is "
        "computed from this table. Values are on the method’s own scale."
    )


def messages_table(messages: Sequence[SentMessage], n_values: int = 4) -> dict[str, list[object]]:
    """Tabulate the transcript by column title: a row per message, with up to `n_values` numbers."""

    def some(values: Sequence[float]) -> str:
        first = "  ".join(f"{value:.3g}" for value in values[:n_values])
        return f"{first} …" if len(values) > n_values else first

    return {
        "step": [message.step for message in messages],
        "site": [message.site for message in messages],
        "numbers": [message.numbers for message in messages],
        "bytes": [_BYTES * message.numbers for message in messages],
        "first values, with noise": [some(m.values.tolist()) for m in messages],
        "size of the noise": [some(m.noise.tolist()) for m in messages],
    }
