"""What all sites agree on before any of them reads a row: the plan of one release.

A *study* is what people write: a name, how a site's file is read and what is stated of it, the
method, and the sites with their people and budgets.

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
 "sites": [{"name": "north", "people": 120, "epsilon": 1.0, "key": "…"}, …]}

"data" is that of a release without its "file" (see `engine.release.request`); δ of a site is the
square of one over its people unless it is stated. "key" is what `python -m engine site-key` printed
at the site; where the sites share one secret ("authentication": "hmac-sha256"), all have the same.

With "sums": {"honest": S′} in the study only the sum of all messages of a round can be read, and
the sites add its noise in shares (`engine.noise.shares`): nearly as little of it as at one trusted
centre. Everybody is then protected as long as S′ sites keep to the protocol and to themselves, and
each site states its public half for pads as "pads". All have the smallest ε and δ that one states.

A *plan* is a study with a random number for the run, and with the noise that follows from it. Its
SHA-256 is in every message. Whoever reads a plan derives the noise anew, and refuses a plan in
which it stands otherwise: so what a site is charged follows from its own program.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
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
from engine.release.certified import SiteCost
from engine.release.guarantee_card import unit_of_person
from engine.release.ledger import checked_name
from engine.release.plan import ReleasePlan
from engine.sites.signing import Key, Scheme, check_public

_KIND, _VERSION = "plan of a release by several sites", 1
_STUDY = ("version", "name", "data", "mechanism", "authentication", "sites", "sums")
_SITE = ("name", "people", "epsilon", "delta", "key", "pads")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,29}")
_RUN = re.compile(r"[0-9a-f]{32}")
MAX_SITES = 100
_MAX_PEOPLE = 10**7
_SHOWN = 12  # digits of the digest that people compare


@dataclass(frozen=True)
class Member:
    """One of the sites.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens.
    people : int
        How many are in its file, as declared.
    budget : Budget
        The most that they may be charged.
    key : str
        What its messages are checked with, in hex.
    pads : str
        The public half of its key for pads, in hex; empty where messages are not masked.
    """

    name: str
    people: int
    budget: Budget
    key: str
    pads: str = ""


@dataclass(frozen=True)
class SitePlan:
    """All that is public of a release to which several sites contribute.

    Parameters
    ----------
    plain : mapping
        As JSON has it; from `planned` or `SitePlan.read`.
    """

    plain: Mapping[str, Any]

    @classmethod
    def planned(cls, study: Mapping[str, Any]) -> SitePlan:
        """The plan of a study.

        Parameters
        ----------
        study : mapping
            As the module describes it.

        Raises
        ------
        InputError
            Naming the key that is unknown, missing or out of range; or why this cannot be released
            by sites that keep their files.
        """
        plan = cls({"kind": _KIND, "version": _VERSION, "run": secrets.token_hex(16),
                    "made": datetime.now(UTC).isoformat(timespec="seconds"), "study": study})
        made = plan.release.plain
        return cls({**plan.plain, "noise": made["noise"], "versions": made["versions"]})

    @classmethod
    def read(cls, text: str) -> SitePlan:
        """The plan that `to_bytes` wrote.

        Parameters
        ----------
        text : str
            JSON.

        Raises
        ------
        InputError
            If it is none, or the noise that follows from it is not that which it states.
        """
        plain = checked_object(json_of(text, "plan"), "plan")
        run, made = plain.get("run"), plain.get("made")
        if plain.get("kind") != _KIND or not isinstance(run, str) or not _RUN.fullmatch(run) or (
                not isinstance(made, str)):
            raise InputError("This file is no plan.", field="plan",
                             hint="“python -m engine plan-sites” writes one.")
        if plain.get("version") != _VERSION:
            raise InputError("This plan was made by a newer version of this program.",
                             field="plan", hint="Use that version at every site.")
        plan = cls(plain)
        if not plan.release.has_noise(plain.get("noise")):
            raise InputError("The noise that this plan states is not the noise that follows from "
                             "it with this version of the program.", field="plan",
                             hint="Use the same version at every site, or make the plan anew.")
        return plan

    def to_bytes(self) -> bytes:
        """Bytes that are equal for equal plans, to be read by people as well."""
        return json.dumps(self.plain, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all of it, in hex."""
        canonical = json.dumps(self.plain, ensure_ascii=False, sort_keys=True,
                               separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """The digits of the digest that people compare, and type to sign off."""
        return self.digest[:_SHOWN]

    @property
    def run(self) -> str:
        """Random: no two plans have the same."""
        return str(self.plain["run"])

    @property
    def made(self) -> str:
        """When it was made, ISO 8601 in UTC."""
        return str(self.plain["made"])

    @cached_property
    def study(self) -> dict[str, Any]:
        """What people wrote, with known keys."""
        study = checked_object(self.plain.get("study"), "study", _STUDY)
        parsing.check_version(study)
        return study

    @cached_property
    def mechanism(self) -> Mechanism:
        """The method with its settings."""
        return parsing.mechanism_of(self.study)

    @property
    def reading(self) -> Mapping[str, Any]:
        """How a site's file is read, and what is stated of it."""
        return checked_object(self.study.get("data"), "data", request.keys_of(self.mechanism))

    @cached_property
    def facts(self) -> PublicFacts:
        """What is stated of everybody's data."""
        return request.stated_facts(self.reading, self.mechanism)

    @cached_property
    def scheme(self) -> Scheme:
        """How messages are authenticated."""
        stated = self.study.get("authentication", Scheme.ED25519.value)
        if stated not in [*Scheme]:
            raise InputError(f"“authentication” must be one of {', '.join(Scheme)}; got "
                             f"{brief(stated)}.", field="authentication")
        return Scheme(stated)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The sites, in the order of the study."""
        listed = self.study.get("sites")
        if not isinstance(listed, list) or not 2 <= len(listed) <= MAX_SITES:
            raise InputError(f"“sites” must be a list of 2 to {MAX_SITES}.", field="sites",
                             hint="One site alone publishes with “python -m engine release”.")
        is_pure, masked = self.mechanism.guarantee.is_pure, "sums" in self.study
        members = tuple(_member(site, self.scheme, is_pure, masked) for site in listed)
        names = [member.name for member in members]
        if len(set(names)) < len(names):
            raise InputError("Two sites have the same name.", field="sites",
                             hint="Give each one of its own.")
        if self.scheme is Scheme.HMAC and len({member.key for member in members}) > 1:
            raise InputError("All sites share one secret, so “key” must be the same for all.",
                             field="key", hint="Or choose “ed25519”.")
        if masked and len({member.pads for member in members}) < len(members):
            raise InputError("Two sites have the same key for pads.", field="pads",
                             hint="Each site makes its own with “python -m engine site-key”.")
        return members

    @cached_property
    def shares(self) -> Shares | None:
        """Who adds noise in shares; None where each site adds all of its own."""
        if "sums" not in self.study:
            return None
        sums = checked_object(self.study["sums"], "sums", ("honest",))
        honest = sums.get("honest", len(self.members) - 1)
        if isinstance(honest, bool) or not isinstance(honest, int):
            raise InputError("“honest” must be a whole number of sites.", field="honest")
        return Shares(len(self.members), honest)

    def index_of(self, name: str) -> int:
        """Which site has this name, from 0.

        Parameters
        ----------
        name : str
            As a person gave it.

        Raises
        ------
        InputError
            If none has.
        """
        names = [member.name for member in self.members]
        if name not in names:
            raise InputError(f"The plan has no site {brief(name)}.", field="name",
                             hint=f"It has {', '.join(names)}.")
        return names.index(name)

    @property
    def stand_in(self) -> Data:
        """Data of the public sizes that hold nobody's numbers, each at its site."""
        if self.shares is None:
            return self.release.stand_in
        return self._empty.stand_in()

    @property
    def sizes(self) -> Sizes:
        """How many people are at each site."""
        return self._empty.sizes

    @cached_property
    def _empty(self) -> Data:
        return kind_of(self.mechanism.main_task.data).of_sizes(
            self.facts, [member.people for member in self.members])

    def cost(self, site: int) -> SiteCost:
        """What the release costs the people of a site.

        Parameters
        ----------
        site : int
            From 0.
        """
        costs = self.release.cost.costs
        return costs[0 if self.shares else site]

    def certified_spends(self, site: int) -> tuple[Spend, ...]:
        """The lines of the ledger of a site: what the messages about its people cost.

        Parameters
        ----------
        site : int
            From 0.
        """
        by_server = accounting.by_server(self.release.cost.certified_spends)
        return tuple(by_server[0 if self.shares else site])

    @cached_property
    def release(self) -> ReleasePlan:
        """The same as the plan of a release, with its certified noise.

        Raises
        ------
        InputError
            If anything of the study cannot be, or its method does not fit.
        """
        task = self.mechanism.main_task
        if task.data is DataType.RECORDS and task is not DENSITY:  # before facts are looked at
            raise InputError(f"{self.mechanism.label} cannot be released by sites that keep their "
                             "files: only a density is released of records.", field="mechanism")
        _check_facts(self.mechanism, self.facts)
        data, budgets = self._empty, [member.budget for member in self.members]
        if self.shares is not None:
            self.mechanism.noised_by(NoisePlace.SUMS)  # which refuses what sends anything else
            data, budgets = data.pooled(), [Budget(min(budget.epsilon for budget in budgets),
                                                   min(budget.delta for budget in budgets))]
        plan = ReleasePlan.of_sites(
            data, self.mechanism, budgets, checked_name(str(self.study.get("name"))),
            unit_of_person(self.facts, self.mechanism), self._request(),
            [member.name for member in self.members], self.run, self.shares)
        _check_messages(plan)
        return plan

    def _request(self) -> dict[str, Any]:
        """The study once more, without keys: to be given away with the release."""
        sites = [{"name": member.name, "people": member.people, **asdict(member.budget)}
                 for member in self.members]
        return {"version": _VERSION, "name": f"{self.study.get('name')} again"[:80],
                "data": dict(self.reading), "mechanism": {
                    "key": self.mechanism.key, "parameters": self.mechanism.changed()},
                "sites": sites, **({"sums": asdict(self.shares)} if self.shares else {})}


def study_of(text: str) -> dict[str, Any]:
    """A study from JSON.

    Parameters
    ----------
    text : str
        As the module describes it.

    Raises
    ------
    InputError
        If it is no object with known keys.
    """
    return checked_object(json_of(text, "study"), "study", _STUDY)


def shared_by_all(study: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """A study in which all sites share one secret.

    Parameters
    ----------
    study : mapping
        That says nothing of keys.
    key : Key
        From `site-key --shared`.

    Raises
    ------
    InputError
        If the key is one site's own.
    """
    if key.scheme is not Scheme.HMAC:
        raise InputError("This key is one site’s own.", field="key",
                         hint="Write what site-key printed for each site into the study.")
    sites = study.get("sites")
    return {**study, "authentication": key.scheme.value, "sites": [
        {**site, "key": key.public} if isinstance(site, dict) else site
        for site in sites] if isinstance(sites, list) else sites}


def _member(site: Any, scheme: Scheme, is_pure: bool, masked: bool) -> Member:
    plain = checked_object(site, "sites", _SITE)
    name, people = plain.get("name"), plain.get("people")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"A site's name is 1 to 30 lower-case letters, digits or hyphens; got "
                         f"{brief(name)}.", field="name", hint="For example north.")
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= _MAX_PEOPLE:
        raise InputError(f"“people” of {name} must be a whole number from 1 to {_MAX_PEOPLE}.",
                         field="people")
    usual = 0.0 if is_pure else usual_delta(people)
    budget = {"epsilon": plain.get("epsilon"), "delta": plain.get("delta", usual)}
    return Member(name, people, parsing.budgets_of({"budgets": [budget]}, 1, usual)[0],
                  check_public(scheme, plain.get("key"), "key"),
                  check_public(scheme, plain.get("pads"), "pads") if masked else "")


def _check_facts(mechanism: Mechanism, facts: PublicFacts) -> None:
    """Refuse what is not stated well enough for a site alone, before anything is rehearsed."""
    if mechanism.main_task.data is DataType.CURVES and not facts.observations_per_curve:
        raise InputError("State how many observations each curve was planned to have.",
                         field="observations_per_curve",
                         hint="How many single curves have is private.")
    if isinstance(facts, EventFacts) and facts.group_sizes:
        raise InputError("Sizes of groups cannot be public here: each site would have to state its "
                         "own.", field="group_sizes", hint="Leave them private.")
    if isinstance(mechanism, UnivariateMean) and not mechanism.setting.is_by_site:
        raise InputError(f"{mechanism.label} with a trusted centre needs everybody's numbers in "
                         "one place.", field="mechanism",
                         hint="Choose the setting in which each site adds its own noise.")


def _check_messages(plan: ReleasePlan) -> None:
    """Refuse messages that no single site could send."""
    if any(server == CENTRE for server, _ in plan.cost.messages):
        raise InputError(f"{plan.mechanism.label} sends sums over all people, which only a trusted "
                         "centre has.", field="mechanism",
                         hint="Choose a method in which each site adds its own noise.")
