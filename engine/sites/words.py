"""Sentences about a run of several sites: offers, the sign-off, whose turn it is, what was sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from engine.core.tasks import DataType
from engine.language import quality
from engine.language.grammar import conjunction, plain_text
from engine.language.numbers import number, small
from engine.language.odds_words import odds_main
from engine.language.tags import budget_chip
from engine.privacy import risk
from engine.release import sentences
from engine.release.stated import lines_before
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Turn, Whole
from engine.sites.signing import Scheme
from engine.sites.statements import SignOff, Withdrawal
from engine.sites.study import SiteStudy

EXTRA = '".[sites]"'
TO_COMPARE = "Compare these words with the owner of the key on the telephone, all eight of them"


def summary(study: SiteStudy) -> list[str]:
    """Say what is planned, of whom, and how good it would be; from public facts alone."""
    facts, cost, mechanism = study.facts, study.draft.cost, study.mechanism
    verdict = mechanism.feasibility(study.sizes, cost.inner_budgets)
    lines = [
        f"“{study.name}”: {mechanism.main_task.label.lower()} of "
        f"{number(study.sizes.n_curves, 9)} {facts.people} at {len(study.members)} sites, by "
        f"{mechanism.label}."
    ]
    lines += [
        f"  {member.name}: {number(member.people, 9)} {facts.people}, charged "
        f"{plain_text(budget_chip(cost.certified))}"
        for member, cost in zip(
            study.members, map(study.cost, range(len(study.members))), strict=True
        )
    ]
    if concern := sentences.large_delta(cost, study.sizes.n_curves):
        lines.append(plain_text(concern))
    if verdict is not None:
        lines.append(quality.noise_forecast(verdict))
    if study.shares is not None:
        lines.append(sentences.relied_on(study.shares))
    return lines


def of_plan(plan: SitePlan) -> list[str]:
    """Say what a plan holds, and the words of its digest."""
    protocol = Protocol(plan)
    return [
        *summary(plan.study),
        f"{len(protocol.turns)} messages in {protocol.n_rounds} rounds. "
        "Sites of one round do not wait for each other.",
        *digest_lines(plan),
    ]


def digest_lines(plan: SitePlan) -> list[str]:
    """Spell the digest of a plan, a group on each line."""
    return [
        "Words of the plan, which are the same at all sites:",
        *(f"  {group}" for group in plan.words),
    ]


def sign_off(plan: SitePlan, site: int) -> list[str]:
    """Say what a site is to sign off before it reads a row."""
    study = plan.study
    member, facts, cost, lines = (
        study.members[site],
        study.facts,
        study.cost(site),
        study.certified_spends(site),
    )
    stated = lines_before(facts, study.sizes, study.mechanism.main_task.data is DataType.CURVES)
    turns = Protocol(plan).of_site(site)
    numbers = sum(turn.noise.size for turn in turns)
    by = "a key of its own" if study.scheme is Scheme.ED25519 else "the secret that all sites share"
    return [
        *of_plan(plan),
        f"You are {member.name}. What leaves this site: {len(turns)} messages with {numbers} "
        f"{'masked' if study.shares else 'noised'} numbers in all, signed by {by}. The file stays "
        "here.",
        f"Your {facts.people} would be charged {plain_text(budget_chip(cost.certified))}: "
        "certified, that is, proved for the noise that is really drawn. "
        + (
            f"That holds as long as {study.shares.honest} of the sites, yours among them, keep to "
            "the protocol and to themselves, and each site checked its partners’ keys once."
            if study.shares
            else "Nothing that others send or do changes that."
        ),
        plain_text(odds_main(risk.of_ledger(lines), facts.person, lines[0].unit.noun)),
        f"Protected: {plan.release.plain['unit']}. Bounds come from: {facts.origin}.",
        *stated[1 if study.shares else 0 :],
    ]  # the first says whose noise it is; so does the summary


def checklist(
    study: SiteStudy, offers: Collection[str], sign_offs: Collection[SignOff], plan: SitePlan | None
) -> dict[str, list[str]]:
    """List who has made an offer and who has signed off this plan: columns by their title."""
    names = [member.name for member in study.members]
    signed = {
        stated.site: "✓" if plan is not None and stated.plan == plan.digest else "of another plan"
        for stated in sign_offs
    }
    return {
        "site": names,
        "offer": ["✓" if name in offers else "waited for" for name in names],
        "sign-off": [signed.get(name, "waited for") for name in names],
    }


def waiting_for(names: Sequence[str]) -> str:
    """Say who has not signed off."""
    have = "has" if len(names) == 1 else "have"
    return (
        f"{conjunction(names)} {have} not signed off. Nothing is charged or drawn before all have."
    )


def unfinished(names: Sequence[str]) -> str:
    """Name files that are waited for; empty where none is."""
    return f"Not whole yet, or not to be read: {', '.join(names)}." if names else ""


def withdrawn(protocol: Protocol, withdrawal: Withdrawal) -> list[str]:
    """Say what a withdrawal ends, and what stays charged."""
    drawn, is_masked = withdrawal.round, protocol.plan.study.shares is not None
    return [
        f"{withdrawal.site} has withdrawn: from round {drawn + 1} of {protocol.n_rounds} on it "
        "never draws."
        if drawn < protocol.n_rounds
        else f"{withdrawal.site} had drawn all {protocol.n_rounds} rounds; nothing more is drawn.",
        *(["The secret of its pads is erased."] if is_masked else []),
        f"It drew {drawn} of {protocol.n_rounds} rounds, which stay charged; its ledger has "
        "returned the others.",
    ]


def unreadable(rounds: Sequence[int]) -> str:
    """Say which rounds are lost for ever; empty where none is known to be."""
    if not rounds:
        return ""
    numbers = conjunction([str(number + 1) for number in rounds])
    return (
        f"Round {numbers} can never be read: more sites have withdrawn than are not relied on, "
        "so an honest one has."
    )


def turn_of(protocol: Protocol, transcript: Mapping[int, Whole], site: int | None = None) -> str:
    """Say how far a run is and who is next, to the site that reads it."""
    left = [turn for turn in protocol.turns if turn.position not in transcript]
    total = len(protocol.turns)
    if not left:
        return f"All {total} messages are there."
    now = [turn for turn in left if turn.round == left[0].round]
    names = [
        "this site" if turn.site == site else protocol.plan.study.members[turn.site].name
        for turn in now
    ]
    return (
        f"{total - len(left)} of {total} messages are there. Round {left[0].round + 1} of "
        f"{protocol.n_rounds}, {protocol.label(left[0])}: waiting for {conjunction(names)}."
    )


def sent(protocol: Protocol, turn: Turn) -> str:
    """Say that a message has left."""
    return (
        f"Sent message {turn.position + 1} of {len(protocol.turns)}: {protocol.label(turn)}, "
        f"{turn.noise.size} {'masked' if protocol.plan.study.shares else 'noised'} numbers."
    )


def messages_table(protocol: Protocol, transcript: Mapping[int, Whole]) -> dict[str, list[Any]]:
    """List what everybody saw, a row for each message: columns by their title."""
    turns = [turn for turn in protocol.turns if turn.position in transcript]
    return {
        "message": [turn.position + 1 for turn in turns],
        "round": [turn.round + 1 for turn in turns],
        "from": [protocol.plan.study.members[turn.site].name for turn in turns],
        "what": [protocol.label(turn) for turn in turns],
        "numbers": [turn.noise.size for turn in turns],
        **(
            {"masked: uniform": [_first_masked(transcript[turn.position]) for turn in turns]}
            if protocol.plan.study.shares
            else {
                "in units of their noise": [
                    _first(transcript[turn.position], turn) for turn in turns
                ]
            }
        ),
    }


def budgets_table(study: SiteStudy) -> dict[str, list[Any]]:
    """List what each site’s people are charged, and what an attacker gains."""
    costs = [study.cost(site).certified for site in range(len(study.members))]
    return {
        "site": [member.name for member in study.members],
        study.facts.people: [member.people for member in study.members],
        "ε": [cost.epsilon for cost in costs],
        "δ": [small(cost.delta) if cost.delta else "0" for cost in costs],
        "attacker’s accuracy": [
            f"{100 * risk.of_ledger(study.certified_spends(site)).right:.1f} %"
            for site in range(len(study.members))
        ],
    }


def _first(whole: Whole, turn: Turn) -> str:
    """Show the first numbers of a message."""
    numbers = [f"{value * 2.0**-turn.noise.bits:.3g}" for value in whole[:4]]
    return ", ".join(numbers) + ", …" * (len(whole) > 4)


def _first_masked(whole: Whole) -> str:
    """Show the first numbers of a masked message, as they travel."""
    return ", ".join(f"{number % 2**64:016x}" for number in whole[:2]) + ", …" * (len(whole) > 2)


def commands(study: SiteStudy) -> str:
    """List what each site installs and types, and the centre."""
    names = [member.name for member in study.members]
    is_shared = study.scheme is Scheme.HMAC
    lines = ["# everybody, once", f"pip install {'.' if is_shared else EXTRA}"]
    if is_shared:
        lines += [
            "# one of them; give the file to all in a way that nobody else can read",
            "python -m engine site-key shared --shared",
        ]
    for name in names:
        own = f"--name {name} --key {'shared' if is_shared else name}.key"
        keys = (
            []
            if is_shared
            else [
                f"python -m engine site-key {name}",
                "# its partners, each compared by telephone",
                *(f"python -m engine partners add {other} KEY" for other in names if other != name),
            ]
        )
        lines += [
            "",
            f"# {name}",
            *keys,
            f"python -m engine offer study.json {own} --through FOLDER",
            "# when the plan is there: look, then sign off with its first words",
            f"python -m engine sign-off plan.json {own} --through FOLDER",
            f"python -m engine sign-off plan.json {own} --through FOLDER --words WORDS",
            f"python -m engine site FILE.csv {own} --through FOLDER",
        ]
    offers = " ".join(f"FOLDER/offer-{name}.json" for name in names)
    ring = "--key shared.key" if is_shared else "--partners partners.json"
    return "\n".join(
        [
            *lines,
            "",
            "# anybody, when all offers are there",
            f"python -m engine plan-sites study.json {offers}",
            "",
            "# the centre: anybody with the plan and the keys",
            f"python -m engine centre --through FOLDER {ring} --out release",
        ]
    )
