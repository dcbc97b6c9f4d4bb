"""Conditions under which a site draws: offers and sign-offs of all, by keys that it holds itself.

A site makes one offer for a study, signs one plan of it, and draws only under a `SignedPlan`, which
cannot be made unless

* its plan has, for every site, an offer signed by the key that this site holds for it, and for the
  site itself the offer that it made;
* every site has signed the whole digest of this very plan;
* a sum that can be read has at least as many honest sites in it as this site accepts.

What follows from that for masked sums is proved in docs/security.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

from engine.core.errors import InputError
from engine.language.grammar import conjunction
from engine.sites import pads
from engine.sites.plan import SitePlan
from engine.sites.secret_store import KeptOffer, SecretStore
from engine.sites.signing import Key, Keyring
from engine.sites.statements import Offer, SignOff, Withdrawal, now
from engine.sites.study import Member, SiteStudy

_SECRET, _NONCE = 32, 16  # bytes


@dataclass(frozen=True)
class Party:
    """One site with its keys and secrets, and the plan that it looks at."""

    plan: SitePlan
    index: int  # which of the sites it is, from 0
    key: Key
    partners: Keyring
    store: SecretStore
    honest_at_least: int = 1  # fewest honest sites whose sum may be read

    def __post_init__(self) -> None:
        check_scheme(self.plan.study, self.key)
        with self.entry() as entry:
            own = self.plan.offers[self.index]
            if entry.offer != own:
                raise InputError(
                    f"The plan does not have the offer that {self.name} made.",
                    field="offers",
                    hint="Make the plan anew with the offer that "
                    "“python -m engine offer” writes, and the same ledger.",
                )
            secret = entry.secret
        check_offers(self.plan, self.ring)
        if secret:  # a key with which no pad can be agreed on is refused before a charge
            for offer in self.plan.offers:
                pads.agreed(secret, offer.pads)
        shares = self.plan.study.shares
        if shares is not None and shares.honest < self.honest_at_least:
            raise InputError(
                f"The plan relies on {shares.honest} honest sites, and {self.name} "
                f"accepts no fewer than {self.honest_at_least}.",
                field="honest_at_least",
                hint="Nothing was charged. Agree on a study with more, or lower --honest-at-least.",
            )

    @property
    def member(self) -> Member:
        """Its name, people and budget."""
        return self.plan.study.members[self.index]

    @property
    def name(self) -> str:
        """The name of the site in the study."""
        return self.member.name

    @cached_property
    def ring(self) -> Keyring:
        """The keys of its partners and its own."""
        return self.partners.with_own(self.name, self.key)

    def entry(self) -> AbstractContextManager[KeptOffer]:
        """Hold what it keeps of the study alone."""
        return self.store.entry(self.plan.study.digest, self.name)

    def signed_off(self) -> SignOff | None:
        """Give its sign-off of this plan, if it signed it."""
        with self.entry() as entry:
            stated = entry.sign_off
        return stated if stated is not None and stated.plan == self.plan.digest else None

    def sign_off(self, typed: str) -> SignOff:
        """Sign the whole digest for each offer; what a person typed shows that they read it."""
        if typed.strip().casefold() != self.plan.words[0]:
            raise InputError(
                "These are not the first words of the plan.",
                field="words",
                hint="Read what it says and costs without --words, and type the first group.",
            )
        with self.entry() as entry:
            entry.check_open()
            if entry.sign_off is None:
                entry.sign_off = SignOff(site=self.name, plan=self.plan.digest, at=now()).signed(
                    self.key
                )
            if entry.sign_off.plan != self.plan.digest:
                raise InputError(
                    f"{self.name} has signed another plan of this study.",
                    field="plan",
                    hint="A site signs one plan for each offer. Use "
                    "that one, or write a new study under another name.",
                )
            return entry.sign_off


@dataclass(frozen=True)
class SignedPlan:
    """A plan that all sites have signed off, as one of them has checked."""

    party: Party
    sign_offs: tuple[SignOff, ...]

    def __post_init__(self) -> None:
        check_sign_offs(self.plan, self.sign_offs, self.party.ring)
        if self.party.signed_off() not in self.sign_offs:
            raise InputError(
                f"{self.party.name} has not signed off this plan itself.",
                field="sign-off",
                hint="Do so with “python -m engine sign-off”, "
                "beside the ledger with which the offer was made.",
            )

    @property
    def plan(self) -> SitePlan:
        """The plan that all agreed on."""
        return self.party.plan


def offered(study: SiteStudy, name: str, key: Key, store: SecretStore) -> Offer:
    """Make a site's offer for a study, or give the one that it made before."""
    index = study.index_of(name)
    check_scheme(study, key)
    with store.entry(study.digest, study.members[index].name) as entry:
        entry.check_open()
        if entry.offer is None:
            entry.secret = secrets.token_bytes(_SECRET) if study.shares else b""
            entry.offer = Offer(
                site=name,
                study=study.digest,
                nonce=secrets.token_hex(_NONCE),
                pads=pads.public_half(entry.secret) if study.shares else "",
            ).signed(key)
        return entry.offer


def taken_back(study: SiteStudy, name: str, store: SecretStore) -> Offer:
    """Take back the offer of a study that never became a plan: its secret is erased for good."""
    with store.entry(study.digest, study.members[study.index_of(name)].name) as entry:
        if entry.offer is None:
            raise InputError(
                f"{name} has made no offer for this study.",
                field="study",
                hint="Name the study and the ledger with which it was made.",
            )
        if entry.sign_off is not None:
            raise InputError(
                f"{name} has signed off a plan of this study.",
                field="study",
                hint="End its part in that with “python -m engine withdraw”.",
            )
        entry.secret, entry.is_ended = b"", True
        return entry.offer


def check_scheme(study: SiteStudy, key: Key) -> None:
    """Refuse a key of another kind than the study says."""
    if key.scheme is not study.scheme:
        raise InputError(
            f"The study says {study.scheme.value}, and this key is for {key.scheme.value}.",
            field="key",
            hint="“site-key” makes a key of one’s own, “site-key --shared” a secret.",
        )


def check_offers(plan: SitePlan, ring: Keyring) -> None:
    """Refuse a plan with an offer that is not signed by the key that is held for its site."""
    for offer in plan.offers:
        if not offer.is_signed(ring):
            raise InputError(
                f"The offer of {offer.site} is not signed by {_held(ring, offer.site)}.",
                field="offers",
                hint="Nothing was charged. Ask them on the telephone whether they made it.",
            )


def check_sign_offs(plan: SitePlan, sign_offs: Sequence[SignOff], ring: Keyring | None) -> None:
    """Refuse to go on unless all sites have signed the whole digest of this plan.

    Without keys signatures are left unchecked, to look at a transcript.
    """
    for sign_off in sign_offs:
        plan.study.index_of(sign_off.site)
        if ring is not None and not sign_off.is_signed(ring):
            raise InputError(
                f"The sign-off of {sign_off.site} is not signed by {_held(ring, sign_off.site)}.",
                field="sign-off",
                hint="Nothing is drawn. Ask them on the telephone.",
            )
        if sign_off.plan != plan.digest:
            raise InputError(
                f"{sign_off.site} has signed off another plan.",
                field="sign-off",
                hint="Nothing is drawn. Compare the words of the plans.",
            )
    if waited_for := missing(plan, sign_offs):
        have = "has" if len(waited_for) == 1 else "have"
        raise InputError(
            f"{conjunction(waited_for)} {have} not signed off.",
            field="sign-off",
            hint="Nothing is drawn before all have.",
        )


def missing(plan: SitePlan, sign_offs: Sequence[SignOff]) -> list[str]:
    """Name the sites that have not signed off."""
    there = {sign_off.site for sign_off in sign_offs}
    return [member.name for member in plan.study.members if member.name not in there]


def check_withdrawals(plan: SitePlan, withdrawals: Sequence[Withdrawal], ring: Keyring) -> None:
    """Refuse a withdrawal that is not of this plan, or not signed by the key held for its site."""
    for withdrawal in withdrawals:
        plan.study.index_of(withdrawal.site)
        if withdrawal.plan != plan.digest or not withdrawal.is_signed(ring):
            raise InputError(
                f"The withdrawal of {withdrawal.site} is of another plan, or not "
                f"signed by {_held(ring, withdrawal.site)}.",
                field="withdrawal",
                hint="Ask them on the telephone.",
            )


def _held(ring: Keyring, name: str) -> str:
    return (
        "the secret that all sites share" if ring.shared else f"the key this site holds for {name}"
    )
