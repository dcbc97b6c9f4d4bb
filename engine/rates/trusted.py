"""Rates of one problem under central, federated and local privacy and under none, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.core.enumerations import Enumeration, NoisePlace
from engine.mechanisms.base import Mechanism
from engine.sources import Source

if TYPE_CHECKING:
    from engine.rates import Rate

NO_COST = 1e9  # an ε at which no term of privacy counts


class Trust(Enumeration):
    """Party trusted with curves, in the words of links and files; NONE protects nothing."""

    place: NoisePlace | None
    label: str
    short: str

    FEDERATED = "federated", NoisePlace.SITES, "each site trusted (FDP)", "FDP"
    CENTRAL = "central", NoisePlace.CENTRE, "one trusted centre (CDP)", "CDP"
    LOCAL = "local", NoisePlace.PERSON, "nobody trusted (LDP)", "LDP"
    NONE = "none", None, "no privacy", "none"


class Custody(Enumeration):
    """Custody of the same people: by one centre, by the sites, or by everybody alone.

    It moves the symbols n and S of a rate, and people and sites of a simulated study, alike.
    """

    POOLED = "pooled"
    SITES = "sites"
    DEVICES = "devices"

    def sizes(self, people: Any, sites: Any) -> tuple[Any, Any]:
        """Return people on each site, and sites."""
        if self is Custody.SITES:
            return people, sites
        return (people * sites, 1) if self is Custody.POOLED else (1, people * sites)

    def point(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Arrange the people of a point, n on each of S sites."""
        people, sites = self.sizes(point["n"], point["S"])
        return {**point, "n": people, "S": sites}


@dataclass(frozen=True)
class TrustedRate:
    """A rate of a problem under one kind of trust, and the method that is measured beside it."""

    trust: Trust
    rate: Rate
    mechanism: Mechanism | None  # None where no method is known
    custody: Custody = Custody.SITES
    missing: str = ""  # why nothing is measured

    def point(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return the symbols of the rate, from those of the problem; without privacy ε is large."""
        arranged = self.custody.point(point)
        return {**arranged, "epsilon": NO_COST} if self.trust is Trust.NONE else arranged


@dataclass(frozen=True)
class ByTrust:
    """All kinds of trust for one problem, and simulated data on which they are measured."""

    kinds: tuple[TrustedRate, ...]
    source: Source[Any]
    epsilon: float  # at which errors are measured over people
    lowest_epsilon: float = 0.1  # from which on errors are measured over ε
    delta: float | None = None  # None: by the rule of all pages


def arranged(rate: Rate, mechanism: Mechanism) -> tuple[TrustedRate, ...]:
    """List the kinds of trust of a rate in n and S that follow from who holds the people."""
    return tuple(
        TrustedRate(trust, rate, mechanism, custody)
        for trust, custody in (
            (Trust.CENTRAL, Custody.POOLED),
            (Trust.FEDERATED, Custody.SITES),
            (Trust.LOCAL, Custody.DEVICES),
            (Trust.NONE, Custody.POOLED),
        )
    )
