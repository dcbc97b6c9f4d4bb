"""Sentences about a run of several sites: the sign-off, whose turn it is, and what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.tasks import DataType
from engine.language import quality
from engine.language.grammar import plain_text
from engine.language.numbers import number, small
from engine.language.odds_words import odds_main
from engine.language.tags import budget_chip
from engine.privacy import risk
from engine.release import sentences
from engine.release.stated import lines_before
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Turn, Whole


def summary(plan: SitePlan) -> list[str]:
    """What is planned, of whom, and how good it would be; from public facts alone.

    Parameters
    ----------
    plan : SitePlan
        What all are to agree on.
    """
    facts, cost, mechanism = plan.facts, plan.release.cost, plan.mechanism
    verdict = mechanism.feasibility(plan.sizes, cost.inner_budgets)
    lines = [f"“{plan.release.name}”: {mechanism.main_task.label.lower()} of "
             f"{number(plan.sizes.n_curves, 9)} {facts.people} at {len(plan.members)} sites, by "
             f"{mechanism.label}."]
    lines += [f"  {member.name}: {number(member.people, 9)} {facts.people}, charged "
              f"{plain_text(budget_chip(cost.certified))}"
              for member, cost in zip(plan.members, map(plan.cost, range(len(plan.members))),
                                      strict=True)]
    if concern := sentences.large_delta(cost, plan.sizes.n_curves):
        lines.append(plain_text(concern))
    if verdict is not None:
        lines.append(quality.noise_forecast(verdict))
    protocol = Protocol(plan)
    if plan.shares is not None:
        lines.append(sentences.relied_on(plan.shares))
    return [*lines, f"{len(protocol.turns)} messages in {protocol.n_rounds} rounds. Sites of one "
            "round do not wait for each other.",
            f"Fingerprint of the plan: {plan.fingerprint}. All sites must see the same."]


def sign_off(plan: SitePlan, site: int) -> list[str]:
    """What a site is to sign off before it reads a row.

    Parameters
    ----------
    plan : SitePlan
        What all are to agree on.
    site : int
        Which of its sites.
    """
    member, facts, cost, lines = (plan.members[site], plan.facts, plan.cost(site),
                                  plan.certified_spends(site))
    turns = Protocol(plan).of_site(site)
    numbers = sum(turn.noise.size for turn in turns)
    by = ("a key of its own" if plan.scheme == "ed25519" else "the secret that all sites share")
    return [
        *summary(plan),
        f"You are {member.name}. What leaves this site: {len(turns)} messages with {numbers} "
        f"{'masked' if plan.shares else 'noised'} numbers in all, signed by {by}. The file stays "
        "here.",
        f"Your {facts.people} would be charged {plain_text(budget_chip(cost.certified))}: "
        "certified, that is, proved for the noise that is really drawn. " + (
            f"That holds as long as {plan.shares.honest} of the sites, yours among them, keep to "
            "the protocol and to themselves." if plan.shares else
            "Nothing that others send or do changes that."),
        plain_text(odds_main(risk.of_ledger(lines), facts.person, lines[0].unit.noun)),
        f"Protected: {plan.release.plain['unit']}. Bounds come from: {facts.origin}.",
        *lines_before(facts, plan.sizes, plan.mechanism.main_task.data is DataType.CURVES)]


def turn_of(protocol: Protocol, transcript: Mapping[int, Whole], site: int | None = None) -> str:
    """How far a run is, and who is next.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    transcript : mapping of int to tuple of int
        What is there, by position.
    site : int, optional
        Whoever reads it.
    """
    left = [turn for turn in protocol.turns if turn.position not in transcript]
    total = len(protocol.turns)
    if not left:
        return f"All {total} messages are there."
    now = [turn for turn in left if turn.round == left[0].round]
    names = ["this site" if turn.site == site else protocol.plan.members[turn.site].name
             for turn in now]
    return (f"{total - len(left)} of {total} messages are there. Round {left[0].round + 1} of "
            f"{protocol.n_rounds}, {protocol.label(left[0])}: waiting for {_listed(names)}.")


def sent(protocol: Protocol, turn: Turn) -> str:
    """That a message has left.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    turn : Turn
        Which message.
    """
    return (f"Sent message {turn.position + 1} of {len(protocol.turns)}: {protocol.label(turn)}, "
            f"{turn.noise.size} {'masked' if protocol.plan.shares else 'noised'} numbers.")


def messages_table(protocol: Protocol, transcript: Mapping[int, Whole]) -> dict[str, list[Any]]:
    """What everybody saw: a row for each message.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    transcript : mapping of int to tuple of int
        What is there, by position.

    Returns
    -------
    dict of str to list
        Columns by their title.
    """
    turns = [turn for turn in protocol.turns if turn.position in transcript]
    return {"message": [turn.position + 1 for turn in turns],
            "round": [turn.round + 1 for turn in turns],
            "from": [protocol.plan.members[turn.site].name for turn in turns],
            "what": [protocol.label(turn) for turn in turns],
            "numbers": [turn.noise.size for turn in turns],
            **({"masked: uniform": [_first_masked(transcript[turn.position]) for turn in turns]}
               if protocol.plan.shares else
               {"in units of their noise": [_first(transcript[turn.position],
                                                   turn) for turn in turns]})}


def budgets_table(plan: SitePlan) -> dict[str, list[Any]]:
    """What each site's people are charged, and what an attacker gains.

    Parameters
    ----------
    plan : SitePlan
        What all agreed on.
    """
    costs = [plan.cost(site).certified for site in range(len(plan.members))]
    return {"site": [member.name for member in plan.members],
            plan.facts.people: [member.people for member in plan.members],
            "ε": [cost.epsilon for cost in costs],
            "δ": [small(cost.delta) if cost.delta else "0" for cost in costs],
            "attacker’s accuracy": [
                f"{100 * risk.of_ledger(plan.certified_spends(site)).right:.1f} %"
                for site in range(len(plan.members))]}


def _first(whole: Whole, turn: Turn) -> str:
    """The first numbers of a message."""
    numbers = [f"{value * 2.0**-turn.noise.bits:.3g}" for value in whole[:4]]
    return ", ".join(numbers) + ", …" * (len(whole) > 4)


def _first_masked(whole: Whole) -> str:
    """The first numbers of a masked message, as they travel."""
    return ", ".join(f"{number % 2**64:016x}" for number in whole[:2]) + ", …" * (len(whole) > 2)


def _listed(names: Sequence[str]) -> str:
    """Names in a row.

    >>> _listed(["north", "south", "east"])
    'north, south and east'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def commands(plan: SitePlan) -> str:
    """What each site installs and types, and the centre.

    Parameters
    ----------
    plan : SitePlan
        What all are to agree on.
    """
    has_key_pairs = plan.scheme == "ed25519"
    extra = '".[sites]"' if has_key_pairs else "."
    lines = ["# at each site, once", f"pip install {extra}"]
    for member in plan.members:
        key = f"{member.name}.key" if has_key_pairs else "shared.key"
        common = (f"python -m engine site FILE.csv --plan plan.json --name {member.name} "
                  f"--through FOLDER --key {key}")
        lines += ["", f"# {member.name}: look, compare the fingerprint, then sign off", common,
                  f"{common} --sign-off {plan.fingerprint}"]
    key = "" if has_key_pairs else " --key shared.key"
    return "\n".join([*lines, "", "# the centre: anybody with the plan",
                      f"python -m engine centre --plan plan.json --through FOLDER{key} "
                      "--out release"])
