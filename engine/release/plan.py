"""All that a release is made from but the noised messages: what is public, as plain values.

A plan is fixed before anything is charged and kept in the ledger with the charge. It holds what was
stated of the data and how many people they are, the method with its settings, the budget, the name
and the versions, and never a number of anybody. With it and the noised messages everything that is
published is made, the first time and every time again (`engine.release.published.assemble`), on a
machine that need not have the data. So nothing published can depend on them in any other way.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine import __version__
from engine.core.errors import InputError
from engine.core.registry import UNSET
from engine.core.types import Array, Budget, Data, from_public_facts
from engine.mechanisms import Mechanism, mechanisms
from engine.noise import hardened
from engine.noise.shares import Shares
from engine.release import certified
from engine.release.certified import Key, ReleaseCost
from engine.release.proofs import proofs_of
from engine.sources import Source, sources
from engine.uploads.source import UploadedData

_VERSION = 1
_NUMBER = np.dtype("<f8")
_LONGEST_CONTACT = 200
_NOT_REQUESTED = ("versions", "noise", "forecast", "protected", "proofs", "declaration")
_ALIKE = 1e-9  # relative difference of two sizes of noise that is rounding


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a value to the form that JSON reads back."""
    plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    return plain


def _canonical(value: Mapping[str, Any]) -> str:
    """The same text for equal plans, made or read: what is kept under it is found again."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class Forecast(NamedTuple):
    """The error of simulated releases with the same public facts.

    What the holder was told before anything was spent: the root mean squared distance, and what
    95 % of releases stay within, in a unit that may be empty.
    """

    error: float
    within: float
    unit: str = ""


@dataclass(frozen=True)
class Declaration:
    """The holder's declaration beside the facts: it appears on the card and changes no number."""

    changed: tuple[str, ...] | None = None  # facts changed since they were frozen; None: not frozen
    looked: bool = True  # somebody may have looked at the file before they were stated
    contact: str = ""  # who answers questions about the data
    tuned_on: str = ""  # the public sample that set parameters of the method, and which

    def __post_init__(self) -> None:
        if len(self.contact) > _LONGEST_CONTACT or not self.contact.isprintable():
            raise InputError(
                f"A contact has at most {_LONGEST_CONTACT} printable characters.",
                field="contact",
                hint="Such as an e-mail address.",
            )

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON holds of it; `of` reads it back."""
        return {**asdict(self), "changed": None if self.changed is None else list(self.changed)}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Declaration:
        """Return the declaration that a plan keeps."""
        changed = plain["changed"]
        return cls(**{**plain, "changed": None if changed is None else tuple(changed)})


UNDECLARED = Declaration()


def public_reading(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a reading without the texts of people.

    Where people stand in columns the header holds their ids, from its second cell on.
    """
    frame = plain["frame"]
    if frame.get("people") != "columns":
        return {**plain}
    return {**plain, "frame": {**frame, "header": frame["header"][:1]}}


@dataclass(frozen=True)
class ReleasePlan:
    """The public side of one release."""

    plain: Mapping[str, Any]  # all of it, as JSON has it

    @classmethod
    def of(
        cls,
        source: Source[Data],
        mechanism: Mechanism,
        budget: Budget,
        name: str,
        unit: str,
        request: Mapping[str, Any],
        forecast: Forecast | None = None,
        protected: str = "person",
        declaration: Declaration = UNDECLARED,
        is_without_exhausted: bool = False,
    ) -> ReleasePlan:
        """Make the plan of publishing these data, keeping only their public sizes and facts."""
        reading = source.reading if isinstance(source, UploadedData) else None
        return cls._with_noise(
            {
                "name": name,
                "unit": unit,
                "protected": protected,
                "request": request,
                "data": _public_data(source),
                "declaration": declaration.to_plain(),
                "proofs": proofs_of(mechanism),
                **({} if reading is None else {"reading": public_reading(reading.to_plain())}),
                "mechanism": {"key": mechanism.key, "parameters": mechanism.values()},
                "asked": asdict(budget),
                **({} if forecast is None else {"forecast": forecast._asdict()}),
                **({"exhausted": "left out"} if is_without_exhausted else {}),
            }
        )

    @classmethod
    def of_sites(
        cls,
        data: Data,
        mechanism: Mechanism,
        budgets: Sequence[Budget],
        name: str,
        unit: str,
        request: Mapping[str, Any],
        sites: Sequence[str],
        shares: Shares | None = None,
        protected: str = "person",
    ) -> ReleasePlan:
        """Make the plan of a release to which several sites contribute, each with its own file.

        With `shares`, noise is added to sums over all sites: all people are at one site, with one
        budget.
        """
        requested = [asdict(budget) for budget in budgets]
        return cls._with_noise(
            {
                "name": name,
                "unit": unit,
                "protected": protected,
                "request": request,
                "data": data.public_facts(),
                "mechanism": {"key": mechanism.key, "parameters": mechanism.values()},
                **(
                    {"asked": requested}
                    if shares is None
                    else {"asked": requested[0], "shares": asdict(shares)}
                ),
                "sites": list(sites),
            }
        )

    @classmethod
    def _with_noise(cls, plain: Mapping[str, Any]) -> ReleasePlan:
        plan = cls(_plain({"version": _VERSION, **plain, "versions": versions()}))
        return cls({**plan.plain, "noise": _plain(_noise(plan.cost))})

    @classmethod
    def read(cls, content: bytes) -> ReleasePlan:
        """Read the plan that `to_bytes` wrote."""
        plain = json.loads(content)
        if plain.get("version") != _VERSION:
            raise InputError(
                "This release was made by a newer version of this program.",
                field="release",
                hint="Use that version to make it again.",
            )
        return cls(plain)

    def to_bytes(self) -> bytes:
        """Bytes that are equal for equal plans."""
        return _canonical(self.plain).encode()

    def requests_of(self, data: Data) -> tuple[bytes, ...]:
        """Digests (SHA-256) of all that was asked for, of these data, whoever is at which site.

        Versions, the forecast and what is declared are left out, so that a release is not charged
        again after an update, or because somebody looked in between. The second, if there is one,
        is that of versions in which some parameters did not exist. They are as private as the data.
        """
        asked = {key: value for key, value in self.plain.items() if key not in _NOT_REQUESTED}
        method, values = mechanisms.get(asked["mechanism"]["key"]), asked["mechanism"]["parameters"]
        earlier = {p.name: p.earlier for p in method.parameters() if p.earlier is not UNSET}
        before = {
            name: value
            for name, value in values.items()
            if name not in earlier or value != earlier[name]
        }
        content = data.content()
        return tuple(
            hashlib.sha256(
                _canonical(
                    {**asked, "mechanism": {**asked["mechanism"], "parameters": parameters}}
                ).encode()
                + b"\0"
                + content
            ).digest()
            for parameters in ((values,) if before == values else (values, before))
        )

    @property
    def name(self) -> str:
        return str(self.plain["name"])

    @property
    def forecast(self) -> Forecast | None:
        """The forecast of the error made before the release; None without one."""
        stored = self.plain.get("forecast")
        return None if stored is None else Forecast(**stored)

    @property
    def declaration(self) -> Declaration:
        """The holder's declaration; a plan of sites is signed before any of them looks."""
        stored = self.plain.get("declaration")
        if stored is not None:
            return Declaration.of(stored)
        return Declaration(changed=()) if self.sites else UNDECLARED

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budget that was asked for, or that of each site."""
        requested = self.plain["asked"]
        each = requested if isinstance(requested, list) else [requested]
        return tuple(Budget(**budget) for budget in each)

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites that contribute, each with its own file; else none."""
        return tuple(self.plain.get("sites", ()))

    @property
    def senders(self) -> tuple[str, ...]:
        """The sender of each message, by server number; empty if servers have numbers only."""
        return (f"all {len(self.sites)} sites together",) if "shares" in self.plain else self.sites

    @cached_property
    def mechanism(self) -> Mechanism:
        """The method with its settings."""
        return _mechanism(self.plain["mechanism"])

    @property
    def stand_in(self) -> Data:
        """Data of the same public sizes and facts that hold nobody's numbers."""
        return _stand_in(_canonical(self.plain["data"]))

    @property
    def rehearsal_data(self) -> Data:
        """The data by which the release is rehearsed and replayed; see `certified`."""
        return _rehearsal_data(_canonical(self.plain["data"]), self.mechanism.averages_all)

    @property
    def cost(self) -> ReleaseCost:
        """The cost of the release, and the noise of each message."""
        return _cost(
            _canonical(
                {
                    key: self.plain[key]
                    for key in ("data", "mechanism", "asked", "shares")
                    if key in self.plain
                }
            )
        )

    def check_noise(self) -> None:
        """Refuse to read messages that this version would have noised, or reads, otherwise."""
        drawn_by = self.plain["versions"]["privacy_curves"]
        if _comparable(drawn_by) < _comparable(self.mechanism.read_since) or not self.has_noise(
            self.plain["noise"]
        ):
            raise InputError(
                f"This release was drawn by version {drawn_by} of this program, and "
                "this one makes other numbers of it.",
                field="release",
                hint="Use that version to make it again.",
            )

    def has_noise(self, stated: Any) -> bool:
        """True if `stated` noise follows from this plan up to rounding.

        It is the "noise" of a plan that was read.
        """
        return _are_alike(stated, _plain(_noise(self.cost)))


def _noise(cost: ReleaseCost) -> dict[str, Any]:
    """Describe the noise of messages in enough detail to tell whether two plans add the same."""
    inner = [budget.epsilon for budget in cost.inner_budgets]
    return {
        "inner": inner if cost.is_by_site else inner[0],
        "messages": [
            [server, step, measurement.law, measurement.sensitivity, measurement.size]
            for (server, step), measurement in sorted(cost.messages.items())
        ],
    }


def _are_alike(stated: Any, derived: Mapping[str, Any]) -> bool:
    """True if two descriptions of noise differ only by rounding of their sizes."""
    try:
        return _differ_by_rounding(stated, derived)
    except (TypeError, ValueError, LookupError):  # no noise is stated at all
        return False


def _differ_by_rounding(stated: Mapping[str, Any], derived: Mapping[str, Any]) -> bool:
    theirs, ours = stated["messages"], derived["messages"]
    inner = [np.atleast_1d(noise["inner"]) for noise in (stated, derived)]
    sizes = [np.array([message[3] for message in messages]) for messages in (theirs, ours)]
    return (
        [message[:3] + message[4:] for message in theirs]
        == [message[:3] + message[4:] for message in ours]
        and inner[0].shape == inner[1].shape
        and all(np.allclose(left, right, rtol=_ALIKE, atol=0) for left, right in (inner, sizes))
    )


@lru_cache(maxsize=8)
def _cost(public: str) -> ReleaseCost:
    plan = ReleasePlan(json.loads(public))
    if isinstance(plan.plain["asked"], list):
        return certified.release_cost_by_site(plan.rehearsal_data, plan.mechanism, plan.budgets)
    shares = plan.plain.get("shares")
    return certified.release_cost(
        plan.rehearsal_data,
        plan.mechanism,
        plan.budgets[0],
        None if shares is None else Shares(**shares),
    )


def _mechanism(stated: Mapping[str, Any]) -> Mechanism:
    """Rebuild the method from stored settings, which may predate some parameters."""
    settings = mechanisms.get(stated["key"]).stored(stated["parameters"])
    mechanism: Mechanism = mechanisms.build(stated["key"], settings)
    return mechanism


@lru_cache(maxsize=8)
def _stand_in(public: str) -> Data:
    return _data_of(json.loads(public)).stand_in()


@lru_cache(maxsize=8)
def _rehearsal_data(public: str, is_few: bool) -> Data:
    return _data_of(json.loads(public), is_few).few() if is_few else _stand_in(public)


def _comparable(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def versions() -> dict[str, str]:
    """Return the software versions of a release."""
    return {
        "privacy_curves": __version__,
        "opendp": hardened.library().split()[-1],
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


# -- messages -------------------------------------------------------------------------------------


def messages_to_bytes(messages: Mapping[Key, Array]) -> bytes:
    """Noised messages, in an order and of a size that do not depend on their numbers.

    A line of JSON names the messages; their numbers follow as little-endian doubles.
    """
    keys = sorted(messages)
    head = json.dumps([[server, step, len(messages[server, step])] for server, step in keys])
    return head.encode() + b"\n" + b"".join(messages[key].astype(_NUMBER).tobytes() for key in keys)


def messages_from_bytes(content: bytes) -> dict[Key, Array]:
    """Read the messages that `messages_to_bytes` wrote."""
    head, _, body = content.partition(b"\n")
    listed = json.loads(head)
    numbers = np.frombuffer(body, _NUMBER)
    ends = np.cumsum([size for _, _, size in listed], dtype=int)[:-1]
    return {
        (server, step): np.array(values, dtype=float)
        for (server, step, _), values in zip(listed, np.split(numbers, ends), strict=True)
    }


# -- public data as plain values ------------------------------------------------------------------


def _public_data(source: Source[Data]) -> dict[str, Any]:
    """Collect the public facts of the data: all of already published data, else those stated."""
    if not source.facts.is_upload:
        return {"source": source.key, "parameters": source.values()}
    return certified.publishable_data(source).public_facts()


def _data_of(plain: Mapping[str, Any], is_few: bool = False) -> Data:
    """Data with these public facts, and no number of anybody where they were stated."""
    if "source" in plain:
        return certified.publishable_data(sources.build(plain["source"], plain["parameters"]))
    return from_public_facts(plain, is_few)
