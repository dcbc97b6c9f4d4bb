"""The plan of a release by several sites: their study with an offer of each, and nothing else.

Whoever has the study and all offers computes the same plan to the last byte, so the planner has
nothing left to choose. The noise of every message, which follows from the study, and the versions
of the program stand in it to be compared. Its SHA-256 is the run: it is signed whole by every site
(`engine.sites.agreement`) and stands in every message. The nonces of the offers make it fresh.

A plan is read strictly: it is parsed into its record, written again, and must be the same bytes,
with the noise that the reader derives itself. So what a site is charged follows from its own
program, and a key that nobody reads cannot exist. Noise stands in ten digits, so that the last bit
of another processor makes no other plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.core.entrance import json_of
from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.release.plan import ReleasePlan, versions
from engine.sites import spoken
from engine.sites.statements import Offer
from engine.sites.study import SiteStudy, written

_KIND, _VERSION = "plan of a release by several sites", 2
_KEYS = ("kind", "version", "study", "offers", "noise", "versions")
MAX_BYTES = 10**6


@dataclass(frozen=True)
class SitePlan:
    """All that is public of a release to which several sites contribute."""

    study: SiteStudy
    offers: tuple[Offer, ...]  # in the order of the sites

    @classmethod
    def of(cls, study: SiteStudy, offers: Sequence[Offer]) -> SitePlan:
        """Make the plan of a study from the offers of all its sites, in any order."""
        names = [member.name for member in study.members]
        for offer in offers:
            if offer.site not in names:
                raise InputError(
                    f"The study has no site {brief(offer.site)}, which made an offer.",
                    field="offers",
                    hint="Take its offer away.",
                )
            if offer.study != study.digest:
                raise InputError(
                    f"The offer of {offer.site} is for another study.",
                    field="offers",
                    hint="Give everybody the same study, and ask for a new offer.",
                )
            if bool(offer.pads) != bool(study.shares):
                raise InputError(
                    f"The offer of {offer.site} has {'no' if study.shares else 'a'} key for pads.",
                    field="offers",
                    hint="Ask for a new offer.",
                )
        by_name = {offer.site: offer for offer in offers}
        if missing := [name for name in names if name not in by_name]:
            raise InputError(
                f"No offer of {', '.join(missing)} is there.",
                field="offers",
                hint="Each site makes one with “python -m engine offer”.",
            )
        for what in ("nonce", *(["pads"] if study.shares else [])):
            if len({getattr(offer, what) for offer in offers}) < len(names) or len(offers) > len(
                names
            ):
                raise InputError(
                    "An offer was given twice, or two sites made the same.",
                    field="offers",
                    hint="Give one offer of each site.",
                )
        return cls(study, tuple(by_name[name] for name in names))

    @classmethod
    def read(cls, content: bytes) -> SitePlan:
        """Read the plan that `to_bytes` wrote, and no other bytes."""
        try:
            plain = checked_object(json_of(content.decode(), "plan"), "plan", _KEYS)
        except UnicodeDecodeError:
            raise _no_plan() from None
        if plain.get("kind") != _KIND or not isinstance(plain.get("offers"), list):
            raise _no_plan()
        if plain.get("version") != _VERSION:
            raise InputError(
                "This plan was made by another version of this program.",
                field="plan",
                hint="Use the same version at every site.",
            )
        _check_versions(plain.get("versions"))
        plan = cls.of(
            SiteStudy.of(plain.get("study")),
            [
                Offer.of(offer, f"Offer {k} of the plan")
                for k, offer in enumerate(plain["offers"], start=1)
            ],
        )
        if plain.get("noise") != plan.plain["noise"]:
            raise InputError(
                "The noise that this plan states is not the noise that follows from "
                "it with this program.",
                field="plan",
                hint="Use the same version at every site, and make the plan anew.",
            )
        if plan.to_bytes() != content:
            raise InputError(
                "This plan is not written as this program writes it.",
                field="plan",
                hint="Make it anew from the study and the offers: “plan-sites”.",
            )
        return plan

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        return {
            "kind": _KIND,
            "version": _VERSION,
            "study": self.study.plain,
            "offers": [offer.plain for offer in self.offers],
            "noise": _in_ten_digits(self.study.draft.plain["noise"]),
            "versions": versions(),
        }

    def to_bytes(self) -> bytes:
        """Write the plan; its bytes are its identity."""
        return written(self.plain)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its bytes, in hex: what sites sign, and the name of the run."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @property
    def words(self) -> list[str]:
        """The digest in four groups of four words; whoever signs off types the first."""
        return spoken.groups(self.digest)

    @cached_property
    def release(self) -> ReleasePlan:
        """The plan of the release, with its certified noise."""
        return ReleasePlan({**self.study.draft.plain, "run": self.digest})


def _no_plan() -> InputError:
    return InputError(
        "This file is no plan.", field="plan", hint="“python -m engine plan-sites” writes one."
    )


def _check_versions(stated: Any) -> None:
    own = versions()
    if not isinstance(stated, dict):
        raise _no_plan()
    if stated != own:
        names = sorted(name for name in {*stated, *own} if stated.get(name) != own.get(name))
        raise InputError(
            "The versions of this plan are not those of this program: "
            f"{', '.join(map(_named, names[:5]))}.",
            field="versions",
            hint="Install the same versions at every site, and make a new plan.",
        )


def _named(name: str) -> str:
    return name if name.isidentifier() and len(name) <= 30 else brief(name)


def _in_ten_digits(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, Mapping):
        return {name: _in_ten_digits(part) for name, part in value.items()}
    return [_in_ten_digits(part) for part in value] if isinstance(value, list) else value
