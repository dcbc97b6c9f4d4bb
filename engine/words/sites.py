"""Sentences about sites: what they reach together, who must be trusted, and what the centre saw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.agreement import STANDARD_ERRORS
from engine.language import numbers
from engine.language.chances import odds_main, odds_short
from engine.language.grammar import a, escape, of
from engine.language.numbers import in_hundred, number, small, times, with_unit
from engine.types import PublicFacts
from engine.views.site_table import SiteRow
from engine.views.sites import Arrangement, Federation, Member, Sent, WhatIf

WAYS = {"sites": "Each site adds its noise", "centre": "A trusted centre"}
_SAME = 0.01  # relative change of an error that is called none
_ROUGH = 0.05  # relative standard error from which a sentence states it


def title() -> str:
    return "What does each site cost and add?"


LEAD = ("Several places publish one average together, and each adds noise of its own. Change the "
        "table: all below follows.")


def unit_tag(facts: PublicFacts) -> tuple[str, str]:
    """What is protected, and where; with its tooltip."""
    return (f"One {of(facts.person)} whole curve, at its own site",
            f"What is protected: exchanging every reading of any one {facts.person} changes what "
            "leaves the site only a little, whoever reads it.")


def budgets(rows: Sequence[SiteRow]) -> str:
    """The ε of the sites that take part: "ε = 1" or "ε from 0.5 to 4"."""
    known = [row.epsilon for row in rows if row.included]
    if min(known) == max(known):
        return f"ε = {known[0]:g}"
    return f"ε from {min(known):g} to {max(known):g}"


def weakest(found: Federation) -> str:
    """For the strip: the odds at the site whose people are protected least."""
    chance = odds_short(found.weakest.odds)
    if len({member.odds.right for member in found.members}) == 1:
        return chance
    return f"{chance} (weakest site: {found.weakest.row.name})"


def error(found: Federation) -> str:
    """For the strip: the error of all sites together; empty where nothing would be published."""
    one = found.together.accuracy
    return numbers.error(one.error, found.facts.value_unit, one.within)


# -- how accurate -------------------------------------------------------------------------------


def compared(found: Federation) -> str:
    """The errors of the three ways, and without privacy."""
    unit = escape(found.facts.value_unit)

    def said(arrangement: Arrangement) -> str:
        return numbers.error(arrangement.error, unit) or "nothing can be published"

    together, smallest = found.together, found.pooled.budgets[0].epsilon
    within = "" if together.is_refused else (
        f" (95 % of releases within {number(together.accuracy.within)})")
    text = (f"Error together: **{said(together)}**{within}. At one trusted centre, with ε = "
            f"{smallest:g} for everybody: **{said(found.pooled)}**. "
            f"{found.members[found.best].row.name}, the best site, alone: "
            f"**{said(found.alone)}**.")
    text += (" Measured from the average without protection." if found.baseline is None else
             f" Without privacy: {with_unit(number(found.baseline), unit)}.")
    return " ".join(filter(None, (text, _verdict(found), _rough(found))))


def _verdict(found: Federation) -> str:
    """What taking part buys, in one sentence."""
    mine, pooled, alone = (way.error for way in (found.together, found.pooled, found.alone))
    if math.isnan(mine):
        return "Too few people for these budgets, even together."
    if len(found.members) == 1:
        return ""
    if math.isnan(alone):
        return "Alone, even the best site can publish nothing."
    if alone < mine * (1 - _ROUGH):
        return "The best site alone is closer: here the others add more noise than knowledge."
    better = "" if alone < mine * (1 + _ROUGH) else (
        f"Together the error is {times(alone / mine)} smaller than alone"
        if alone >= 1.95 * mine else
        f"Together the error is {100 * (1 - mine / alone):.0f} % smaller than alone")
    if not better:
        return "Together is about as good as the best site alone."
    if pooled > mine * (1 + _ROUGH):
        return f"{better}, and smaller than at a centre that must keep the strictest promise."
    return f"{better}."


def _rough(found: Federation) -> str:
    """How far chance in the simulation moves the first number, where that is much."""
    error = found.together.standard_error
    if found.together.is_refused or error < _ROUGH * found.together.error:
        return ""
    said = with_unit(number(STANDARD_ERRORS * error, 2), escape(found.facts.value_unit))
    return f"(Simulation: ± {said} (95 %) on the first number.)"


def refused(facts: PublicFacts) -> str:
    """Instead of the pictures, where all sites together can publish nothing."""
    return (f"**Too few {facts.people} for these budgets: together nothing would be published.** "
            f"Ask more {facts.people}, raise ε at some sites, or let further sites take part.")


def change(before: float, after: float, unit: str, since: str) -> str:
    """What the last edit, or the difference from a preset, did to the error.

    `since` begins the sentence: "Since your change".
    """
    unit = escape(unit)
    if math.isnan(before) and math.isnan(after):
        return f"{since}: still nothing can be published."
    if math.isnan(after):
        return f"{since}: **nothing can be published** any more."
    if math.isnan(before):
        return f"{since}: a curve can be published, error **{_one(after, unit)}**."
    if abs(after / before - 1) < _SAME:
        return f"{since}: error **{_one(after, unit)}**, no change."
    first, second = number(before), number(after)
    sign = "+" if after > before else "−"
    return (f"{since}: error **{first} → {with_unit(second, unit)}** "
            f"({sign}{abs(100 * (after / before - 1)):.0f} %).")


def _one(value: float, unit: str) -> str:
    return with_unit(number(value), unit)


def lines(found: Federation, difference: bool) -> str:
    """What is drawn in the three panels."""
    less = ", less the average without protection" if difference else ""
    truth = " Solid and thin: the true average." if found.truth is not None else ""
    return (f"Each line: one of {len(found.together.releases)} equally likely releases{less}. "
            f"Dashed: without protection.{truth} Same axes in all three.")


def largest_share(found: Federation) -> str:
    """Who adds most to the error, and of what."""
    if found.together.is_refused:
        return "Nothing would be published, so there is no error to share out."
    if len(found.members) == 1:
        return "One site takes part, so all of the error is its own."
    noise = sum(member.noise for member in found.members)
    most = max(found.members, key=lambda member: member.share)
    heaviest = max(found.members, key=lambda member: member.weight)
    text = (f"Privacy noise makes up **{100 * noise:.0f} %** of this squared error, chance in who "
            f"takes part the rest.")
    if most.share - min(member.share for member in found.members) < 0.02:
        return f"{text} All sites add about the same."
    joined = " and has" if heaviest is most else f"; {heaviest.row.name} has"
    return (f"{text} {most.row.name} adds most ({100 * most.share:.0f} %){joined} the largest "
            f"weight ({100 * heaviest.weight:.0f} %).")


LINES = {"difference": "Difference", "curve": "The curve itself"}
SHARES_KEY = ("■ privacy noise · ▨ chance in who takes part. Smoothing and clipping concern all "
              "sites alike and are not in the bars.")


# -- who is protected from whom -----------------------------------------------------------------


def trust(way: str, facts: PublicFacts) -> str:
    """Who must be trusted if each site adds its noise ("sites") or the centre does ("centre")."""
    if way == "centre":
        return ("All sites trust the centre: it sees every curve and adds the noise once. Every "
                f"{facts.person} gets the smallest ε of all sites.")
    return ("Each site trusts only itself: noise is added before anything leaves. The centre and "
            "the other sites see noisy numbers only.")


def uncovered(facts: PublicFacts) -> str:
    return (f"**Not covered:** that {a(facts.person)} belongs to a site, and how many "
            f"{facts.people} it has.")


def odds(found: Federation, way: str) -> str:
    """The chance of an attacker about one person, at the site that is protected least."""
    person = found.facts.person
    if way == "centre":
        return f"{odds_main(found.pooled_odds, person)} The centre sees the curves; it is trusted."
    other = f"every other {of(person)} curve"
    text = odds_main(found.weakest.odds, person).replace(
        other, f"{other} **and sits at another site or at the centre**")
    if len({member.odds.right for member in found.members}) == 1:
        return text
    return f"At {found.weakest.row.name}, where protection is weakest: {text[0].lower()}{text[1:]}"


def table(found: Federation) -> dict[str, list[str]]:
    """What the people of each site get, and what it could do alone, column by column."""
    unit = f" ({found.facts.value_unit})" if found.facts.value_unit else ""
    members = found.members
    return {"site": [member.row.name for member in members],
            "guarantee": [guarantee(member) for member in members],
            "right guess": [in_hundred(m.odds.right).replace(" times", "") for m in members],
            f"error alone{unit}": _column([member.alone for member in members])}


EACH_ITS_OWN = ("Each site holds other people, so its guarantee is what its own messages cost. "
                "What other sites send adds nothing to it.")


def guarantee(member: Member) -> str:
    """The (ε, δ) that is proved for one site's people."""
    budget = member.guarantee
    if budget.epsilon <= 1e-9:
        return "nothing is sent"
    return f"ε = {budget.epsilon:.3g}" + ("" if budget.is_pure else f" · δ = "
                                              f"{small(budget.delta)}")


def _column(values: Sequence[float]) -> list[str]:
    return ["nothing" if math.isnan(value) else number(value) for value in values]


def percent(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.0f} %"


# -- if a site leaves, and what the centre saw --------------------------------------------------


def costliest(cases: Sequence[WhatIf], facts: PublicFacts) -> str:
    """Which site would be missed most, and where a halved ε would hurt most."""
    unit = escape(facts.value_unit)
    left = [case for case in cases if not math.isnan(case.leaves)]
    held = [case for case in cases if not math.isnan(case.tightens)]
    if not left or not held:
        return "Some of these changes would leave too little to publish anything."
    missed, tight = max(left, key=_leaves), max(held, key=_tightens)
    now, gone, halved = (with_unit(number(value), unit) for value in
                         (missed.now, missed.leaves, tight.tightens))
    return (f"Now: {now}. Without {missed.name} it would be **{gone}**, the largest change of this "
            f"kind. With half the ε at {tight.name}: **{halved}**.")


def _leaves(case: WhatIf) -> float:
    return case.leaves


def _tightens(case: WhatIf) -> float:
    return case.tightens


def seen(messages: Sequence[Sent]) -> str:
    """What the transcript shows, and why it says little about any one person."""
    if not messages:
        return "Nothing left any site: with these budgets nothing useful could be sent."
    sites = len({message.site for message in messages})
    each, total = len(messages) / sites, sum(message.numbers for message in messages)
    return (f"**{len(messages)} messages** from {sites} {'site' if sites == 1 else 'sites'}, "
            f"{each:.3g} each, {total} numbers in all. Noise was in every "
            "number before it left, and the centre has nothing else: the published curve is "
            "computed from this table. Values are on the method’s own scale.")


def messages_table(messages: Sequence[Sent], shown: int = 4) -> dict[str, list[object]]:
    """The transcript, a row for each message, with the first few of its numbers."""
    def some(values: Sequence[float]) -> str:
        first = "  ".join(f"{value:.3g}" for value in values[:shown])
        return f"{first} …" if len(values) > shown else first

    return {"step": [message.step for message in messages],
            "site": [message.site for message in messages],
            "numbers": [message.numbers for message in messages],
            "first values, with noise": [some(m.values.tolist()) for m in messages],
            "size of the noise": [some(m.noise.tolist()) for m in messages]}

