"""The study: what is released and by whom, agreed on before any site reads a row.

{"version": 1, "name": "growth-2026",
 "data": {"reading": {"frame": {"encoding": "utf-8", "separator": ",",
                                "header": ["child_id", "age", "height"]},
                      "person": {"column": "child_id"},
                      "columns": {"time": {"name": "age"}, "value": {"name": "height"}}},
          "facts": {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18,
                    "origin": "national growth chart, 2019", "design": {"law": "even"},
                    "observations_per_curve": 4}},
 "mechanism": {"key": "adaptive_mean", "parameters": {}},
 "authentication": "ed25519",
 "sites": [{"name": "north", "people": 120, "epsilon": 1.0}, …]}

"data" is that of a release without its "file" (see `engine.release.request`); δ of a site is the
square of one over its people unless it is stated. Keys are in nobody's study: each site has those
of its partners in its own address book (`engine.sites.partners`). Where all share one secret,
"authentication" is "hmac-sha256".

With "sums": {"honest": S′} only the sum of all messages of a round can be read, and the sites add
its noise in shares (`engine.noise.shares`): nearly as little of it as at one trusted centre.
Everybody is then protected as long as S′ sites keep to the protocol and to themselves. All have the
smallest ε and δ that one states.

A study is read into a record, and its digest is that of the record as this program writes it: with
all that was left out, in one order. So nothing in it is unread, and people may write it as they
like.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from engine.core.entrance import json_of
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError, brief
from engine.core.plain import checked_object
from engine.core.tasks import DENSITY, DataType
from engine.core.types import Budget, Data, EventFacts, PublicFacts, Sizes, Spend, kind_of
from engine.mechanisms import Mechanism, parsing
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.noise.shares import Shares
from engine.privacy import accounting
from engine.privacy.failure import usual_delta
from engine.privacy.transcript import CENTRE
from engine.release import request
from engine.release.certified import SiteCost, check_finite
from engine.release.data_sections import reading_in
from engine.release.guarantee_card import unit_code_of, unit_in_words
from engine.release.ledger import LONGEST_NAME, checked_name
from engine.release.plan import ReleasePlan
from engine.sites.signing import Scheme
from engine.sites.statements import is_site

_KEYS = ("version", "name", "data", "mechanism", "authentication", "sites", "sums")
_SITE = ("name", "people", "epsilon", "delta")
MAX_SITES = 100
_MAX_PEOPLE = 10**7


@dataclass(frozen=True)
class Member:
    """One of the sites."""

    name: str  # lower-case letters, digits and hyphens
    people: int  # in its file, as declared
    budget: Budget  # the most that they may be charged


@dataclass(frozen=True)
class SiteStudy:
    """All that people decide about a release to which several sites contribute."""

    name: str
    mechanism: Mechanism
    reading: Mapping[str, Any]  # how a site's file is read, and what is stated of it
    scheme: Scheme
    members: tuple[Member, ...]
    shares: Shares | None = None  # who adds noise; None where each site adds all of its own

    @classmethod
    def read(cls, text: str) -> SiteStudy:
        """Read a study from JSON, as the module describes it; refuse what cannot be released."""
        return cls.of(json_of(text, "study"))

    @classmethod
    def of(cls, plain: Any) -> SiteStudy:
        """Read a study from plain values; see `read`."""
        stated = checked_object(plain, "study", _KEYS)
        parsing.check_version(stated)
        mechanism = parsing.mechanism_of(stated)
        if not isinstance(stated.get("name"), str):
            raise InputError("“name” must be text.", field="name", hint="For example growth-2026.")
        members = _members(stated.get("sites"), mechanism.guarantee.is_pure)
        shares, scheme = _shares(stated, len(members)), _scheme(stated)
        if shares is not None and scheme is Scheme.HMAC:
            raise InputError(
                "Nobody can sign in one’s own name with a secret that all share, so "
                "it does not go with masked sums.",
                field="authentication",
                hint="Use keys of one’s own, “ed25519”, or leave “sums” out.",
            )
        reading = checked_object(stated.get("data"), "data", request.keys_of(mechanism))
        study = cls(
            checked_name(stated["name"]),
            mechanism,
            json.loads(json.dumps(reading)),
            scheme,
            members,
            shares,
        )
        _ = study.draft  # which refuses what cannot be released
        return study

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The study as JSON has it, with all that was left out."""
        return {
            "version": parsing.VERSION,
            "name": self.name,
            "data": self.reading,
            "mechanism": {"key": self.mechanism.key, "parameters": self.mechanism.changed()},
            "authentication": self.scheme.value,
            "sites": [
                {"name": member.name, "people": member.people, **asdict(member.budget)}
                for member in self.members
            ],
            **({} if self.shares is None else {"sums": {"honest": self.shares.honest}}),
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the study as it is written, in hex."""
        return hashlib.sha256(written(self.plain)).hexdigest()

    @cached_property
    def facts(self) -> PublicFacts:
        """The facts that are stated of everybody's data."""
        return request.stated_facts(self.reading, self.mechanism)

    def index_of(self, name: str) -> int:
        """Find the place of the site with this name, from 0."""
        names = [member.name for member in self.members]
        if name not in names:
            raise InputError(
                f"The study has no site {brief(name)}.",
                field="name",
                hint=f"It has {', '.join(names)}.",
            )
        return names.index(name)

    @property
    def stand_in(self) -> Data:
        """Data of the public sizes that hold nobody's numbers, each at its site."""
        return self.draft.stand_in if self.shares is None else self._empty.stand_in()

    @property
    def sizes(self) -> Sizes:
        """The numbers of people at the sites."""
        return self._empty.sizes

    @cached_property
    def _empty(self) -> Data:
        return kind_of(self.mechanism.main_task.data).of_sizes(
            self.facts, [member.people for member in self.members]
        )

    def cost(self, site: int) -> SiteCost:
        """Give what the release costs the people of a site."""
        return self.draft.cost.costs[0 if self.shares else site]

    def certified_spends(self, site: int) -> tuple[Spend, ...]:
        """List what the messages about the people of a site cost, for its ledger."""
        by_server = accounting.by_server(self.draft.cost.certified_spends)
        return tuple(by_server[0 if self.shares else site])

    @cached_property
    def draft(self) -> ReleasePlan:
        """The study as the plan of a release with its certified noise, before any offer."""
        task = self.mechanism.main_task
        if task.data is DataType.RECORDS and task is not DENSITY:  # before facts are looked at
            raise InputError(
                f"{self.mechanism.label} cannot be released by sites that keep their "
                "files: only a density is released of records.",
                field="mechanism",
            )
        _check_facts(self.mechanism, self.facts)
        data, budgets = self._empty, [member.budget for member in self.members]
        if self.shares is not None:
            self.mechanism.noised_by(NoisePlace.SUMS)  # which refuses what sends anything else
            data, budgets = (
                data.pooled(),
                [
                    Budget(
                        min(budget.epsilon for budget in budgets),
                        min(budget.delta for budget in budgets),
                    )
                ],
            )
        again = {**self.plain, "name": f"{self.name} again"[:LONGEST_NAME]}
        reading = reading_in(self.reading)
        draft = ReleasePlan.of_sites(
            data,
            self.mechanism,
            budgets,
            self.name,
            unit_in_words(self.facts, self.mechanism, reading.unit != "person"),
            again,
            [member.name for member in self.members],
            self.shares,
            unit_code_of(reading, self.mechanism),
        )
        _check_messages(draft)
        return draft


def written(plain: Mapping[str, Any]) -> bytes:
    """Write plain values in one way, to be read by people as well."""
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"


def checked_site(name: Any) -> str:
    """Give back the name of a site; refuse anything else."""
    if not is_site(name):
        raise InputError(
            f"A site's name is 1 to 30 lower-case letters, digits or hyphens; got {brief(name)}.",
            field="name",
            hint="For example north.",
        )
    return str(name)


def _scheme(stated: Mapping[str, Any]) -> Scheme:
    scheme = stated.get("authentication", Scheme.ED25519.value)
    if scheme not in [*Scheme]:
        raise InputError(
            f"“authentication” must be one of {', '.join(Scheme)}; got {brief(scheme)}.",
            field="authentication",
        )
    return Scheme(scheme)


def _shares(stated: Mapping[str, Any], n_sites: int) -> Shares | None:
    if "sums" not in stated:
        return None
    sums = checked_object(stated["sums"], "sums", ("honest",))
    honest = sums.get("honest", n_sites - 1)
    if isinstance(honest, bool) or not isinstance(honest, int):
        raise InputError("“honest” must be a whole number of sites.", field="honest")
    return Shares(n_sites, honest)


def _members(listed: Any, is_pure: bool) -> tuple[Member, ...]:
    if not isinstance(listed, list) or not 2 <= len(listed) <= MAX_SITES:
        raise InputError(
            f"“sites” must be a list of 2 to {MAX_SITES}.",
            field="sites",
            hint="One site alone publishes with “python -m engine release”.",
        )
    members = tuple(_member(site, is_pure) for site in listed)
    if len({member.name for member in members}) < len(members):
        raise InputError(
            "Two sites have the same name.", field="sites", hint="Give each one of its own."
        )
    return members


def _member(site: Any, is_pure: bool) -> Member:
    plain = checked_object(site, "sites", _SITE)
    name, people = checked_site(plain.get("name")), plain.get("people")
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= _MAX_PEOPLE:
        raise InputError(
            f"“people” of {name} must be a whole number from 1 to {_MAX_PEOPLE}.", field="people"
        )
    usual = 0.0 if is_pure else usual_delta(people)
    budget = {"epsilon": plain.get("epsilon"), "delta": plain.get("delta", usual)}
    member = Member(name, people, parsing.budgets_of({"budgets": [budget]}, 1, usual)[0])
    check_finite(member.budget)
    return member


def _check_facts(mechanism: Mechanism, facts: PublicFacts) -> None:
    """Refuse what is not stated well enough for a site alone, before anything is rehearsed."""
    if mechanism.main_task.data is DataType.CURVES and not facts.observations_per_curve:
        raise InputError(
            "State how many observations each curve was planned to have.",
            field="observations_per_curve",
            hint="How many single curves have is private.",
        )
    if isinstance(facts, EventFacts) and facts.group_sizes:
        raise InputError(
            "Sizes of groups cannot be public here: each site would have to state its own.",
            field="group_sizes",
            hint="Leave them private: one curve can be adjusted for groups without them.",
        )
    if isinstance(mechanism, UnivariateMean) and not mechanism.setting.is_by_site:
        raise InputError(
            f"{mechanism.label} with a trusted centre needs everybody's numbers in one place.",
            field="mechanism",
            hint="Choose the setting in which each site adds its own noise.",
        )


def _check_messages(draft: ReleasePlan) -> None:
    """Refuse messages that no single site could send."""
    if any(server == CENTRE for server, _ in draft.cost.messages):
        raise InputError(
            f"{draft.mechanism.label} sends sums over all people, which only a trusted centre has.",
            field="mechanism",
            hint="Choose a method in which each site adds its own noise.",
        )
