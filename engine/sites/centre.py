"""The centre: it hears all messages and makes the release; it has no data and need not be trusted.

Anybody who has the plan, the sign-offs and the messages can be one, now or in ten years.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.core.entrance import json_of
from engine.core.errors import InputError
from engine.core.plain import checked_object
from engine.privacy import accounting
from engine.release import files, published
from engine.release.guarantee_card import told_apart
from engine.release.ledger import Receipt
from engine.release.published import Published
from engine.release.standing import Standing
from engine.sites import agreement, messages
from engine.sites.messages import SignedMessage
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol, Whole
from engine.sites.signing import Keyring
from engine.sites.statements import SignOff
from engine.sites.study import written

_LEFT_OUT = ("accuracy", "answers")  # of the card: they are about the release, not about one site
_KIND, _VERSION = "transcript of a release by several sites", 2
TRANSCRIPT = "transcript.json"


@dataclass(frozen=True)
class SiteRun:
    """A plan with all that was signed for it: what the centre sees."""

    plan: SitePlan
    sign_offs: tuple[SignOff, ...]
    messages: tuple[SignedMessage, ...]  # in any order

    @cached_property
    def protocol(self) -> Protocol:
        """The messages of the plan."""
        return Protocol(self.plan)

    def checked(self, ring: Keyring | None) -> dict[int, Whole]:
        """Check all that was signed, or its form without keys, and give messages by position."""
        if ring is not None:
            agreement.check_offers(self.plan, ring)
        agreement.check_sign_offs(self.plan, self.sign_offs, ring)
        return messages.checked(self.protocol, self.messages, ring)


def released(run: SiteRun, transcript: Mapping[int, Whole]) -> Published:
    """Make the release from all messages; `transcript` is from `SiteRun.checked`."""
    protocol = run.protocol
    missing = [turn for turn in protocol.turns if turn.position not in transcript]
    if missing:
        names = dict.fromkeys(run.plan.study.members[turn.site].name for turn in missing)
        raise InputError(
            f"{len(missing)} of {len(protocol.turns)} messages are missing: of {', '.join(names)}.",
            field="messages",
            hint="Wait for them.",
        )
    budget = run.plan.study.draft.cost.certified
    agreed = max(sign_off.at for sign_off in run.sign_offs)
    receipt = Receipt(0, agreed, run.plan.digest[:16], budget, Standing(()), "drawn")  # no ledger
    return published.assemble(run.plan.release, protocol.messages(transcript), receipt)


def all_files(run: SiteRun, release: Published) -> dict[str, bytes]:
    """Write the files of a release, by name: the guarantee of every site, and the transcript."""
    cards = {
        f"guarantee-{member.name}.json": _dumped(site_card(run.plan, release, site))
        for site, member in enumerate(run.plan.study.members)
    }
    return {**files.all_files(release), **cards, TRANSCRIPT: transcript(run)}


def site_card(plan: SitePlan, release: Published, site: int) -> dict[str, Any]:
    """Say what the release guarantees the people of one site, as plain values."""
    member, lines = plan.study.members[site], plan.study.certified_spends(site)
    budget = plan.study.cost(site).certified
    card = {key: value for key, value in release.card.items() if key not in _LEFT_OUT}
    whole = card["accounting"]
    return {
        **card,
        "kind": "differential privacy guarantee of one site",
        "site": {"name": member.name, "people": member.people},
        "run": {"plan": plan.digest},
        "guarantee": {"epsilon": budget.epsilon, "delta": budget.delta},
        **told_apart(lines),
        "accounting": {
            **whole,
            "rho": accounting.total_rho(lines),
            "messages": [
                message
                for message in whole["messages"]
                if plan.study.shares or message["from"] == member.name
            ],
            "sites": "each person is at one site; "
            + (
                "only sums over all sites are read"
                if plan.study.shares
                else "what other sites send says nothing of them"
            ),
        },
    }


def transcript(run: SiteRun) -> bytes:
    """Write the plan, the sign-offs and all messages: what the centre saw."""
    once = {message.position: message for message in run.messages}
    return _dumped(
        {
            "kind": _KIND,
            "version": _VERSION,
            "plan": run.plan.plain,
            "sign_offs": [sign_off.plain for sign_off in run.sign_offs],
            "messages": [once[index].plain for index in sorted(once)],
        }
    )


def from_transcript(text: str) -> SiteRun:
    """Read a run, finished or under way, from the file that `transcript` wrote."""
    plain = checked_object(
        json_of(text, "transcript"),
        "transcript",
        ("kind", "version", "plan", "sign_offs", "messages"),
    )
    if plain.get("kind") != _KIND or not all(
        isinstance(plain.get(name), list) for name in ("sign_offs", "messages")
    ):
        raise InputError(
            "This file is no transcript.",
            field="transcript",
            hint="“python -m engine centre” writes one.",
        )
    if plain.get("version") != _VERSION:
        raise InputError(
            "This transcript was written by another version of this program.",
            field="transcript",
            hint="Open it with that version.",
        )
    plan = SitePlan.read(written(checked_object(plain.get("plan"), "plan")))
    return SiteRun(
        plan,
        tuple(
            SignOff.of(stated, f"Sign-off {k} of the transcript")
            for k, stated in enumerate(plain["sign_offs"], start=1)
        ),
        tuple(
            messages.read(
                json.dumps(message, ensure_ascii=False).encode(), f"KeptOffer {k} of the transcript"
            )
            for k, message in enumerate(plain["messages"], start=1)
        ),
    )


def _dumped(plain: Mapping[str, Any]) -> bytes:
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"
