"""The centre: it hears all messages and makes the release; it has no data and need not be trusted.

Anybody who has the plan and the messages can be one, now or in ten years.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.privacy import accounting, risk
from engine.release import files, published
from engine.release.ledger import Receipt
from engine.release.published import Published
from engine.release.standing import Standing
from engine.sites import messages
from engine.sites.messages import Message
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Whole

_LEFT_OUT = ("accuracy", "answers")  # of the card: they are about the release, not about one site
TRANSCRIPT = "transcript.json"


def released(protocol: Protocol, transcript: Mapping[int, Whole]) -> Published:
    """The release, from all messages.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    transcript : mapping of int to tuple of int
        From `messages.checked`.

    Raises
    ------
    InputError
        If some are missing.
    """
    missing = [turn for turn in protocol.turns if turn.position not in transcript]
    if missing:
        names = dict.fromkeys(protocol.plan.members[turn.site].name for turn in missing)
        raise InputError(f"{len(missing)} of {len(protocol.turns)} messages are missing: of "
                         f"{', '.join(names)}.", field="messages", hint="Wait for them.")
    plan = protocol.plan
    budget = plan.release.cost.certified
    receipt = Receipt(0, plan.made, plan.run[:16], budget, Standing(()), "drawn")  # no ledger
    return published.assemble(plan.release, protocol.messages(transcript), receipt)


def all_files(protocol: Protocol, release: Published, received: Sequence[Message]
              ) -> dict[str, bytes]:
    """The files of a release, the guarantee of every site, and the transcript.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    release : Published
        From `released`, or a site's own copy of it.
    received : sequence of Message
        All that were sent.

    Returns
    -------
    dict of str to bytes
        By the name of the file.
    """
    cards = {f"guarantee-{member.name}.json": _dumped(site_card(protocol, release, site))
             for site, member in enumerate(protocol.plan.members)}
    return {**files.all_files(release), **cards, TRANSCRIPT: transcript(protocol.plan, received)}


def site_card(protocol: Protocol, release: Published, site: int) -> dict[str, Any]:
    """What the release guarantees the people of one site, as plain values.

    Parameters
    ----------
    protocol : Protocol
        Of the plan.
    release : Published
        Made in it.
    site : int
        From 0.
    """
    plan = protocol.plan
    member, lines = plan.members[site], plan.certified_spends(site)
    budget = plan.cost(site).certified
    card = {key: value for key, value in release.card.items() if key not in _LEFT_OUT}
    whole = card["accounting"]
    return {**card, "kind": "differential privacy guarantee of one site",
            "site": {"name": member.name, "people": member.people},
            "run": {"id": plan.run, "plan": plan.digest},
            "guarantee": {"epsilon": budget.epsilon, "delta": budget.delta},
            "odds": {**card["odds"], "right_guess_at_most": risk.of_ledger(lines).right},
            "accounting": {**whole, "rho": accounting.total_rho(lines), "messages": [
                message for message in whole["messages"]
                if plan.shares or message["from"] == member.name],
                "sites": "each person is at one site; " + (
                    "only sums over all sites are read" if plan.shares else
                    "what other sites send says nothing of them")}}


def transcript(plan: SitePlan, received: Sequence[Message]) -> bytes:
    """The plan and all messages, signatures included: what the centre saw.

    Parameters
    ----------
    plan : SitePlan
        What all agreed on.
    received : sequence of Message
        In any order.
    """
    once = {message.position: message for message in received}
    return _dumped({"kind": "transcript of a release by several sites", "version": 1,
                    "plan": plan.plain, "messages": [
                        once[index].plain for index in sorted(once)]})


def from_transcript(text: str) -> tuple[Protocol, list[Message]]:
    """A run that was finished or is under way, from the file that `transcript` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Raises
    ------
    InputError
        If it is none, or one of its messages is refused.
    """
    plain = checked_object(json_of(text, "transcript"), "transcript",
                           ("kind", "version", "plan", "messages"))
    if plain.get("kind") != "transcript of a release by several sites" or not isinstance(
            plain.get("messages"), list):
        raise InputError("This file is no transcript.", field="transcript",
                         hint="“python -m engine centre” writes one.")
    plan = SitePlan.read(json.dumps(plain.get("plan"), ensure_ascii=False))
    received = [messages.read(json.dumps(message, ensure_ascii=False).encode(),
                              f"Entry {k + 1} of the transcript")
                for k, message in enumerate(plain["messages"])]
    return Protocol(plan), received


def _dumped(plain: Mapping[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"
